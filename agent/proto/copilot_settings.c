/* SPDX-License-Identifier: ISC */
/*
 * Settings of copilot-sdk: in the suite's config, its `copilot:` or
 * `copilot-sdk:`, its `executors:` under either name, or the `executors:` of
 * the user's settings.  The more specific place takes precedence.
 */
#include "agent/proto/copilot.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/os_path.h"
#include "base/os_spawn.h"
#include "json.h"
#include "suite/spec.h"

struct provider {
	int type, wire_api;		/* -1: not given */
	struct str base_url, api_key_env, model;
	const struct json *headers;
};

static const char *const types[] = { "openai", "azure", "anthropic", NULL };
static const char *const wires[] = { "completions", "responses", NULL };

static const struct field provider_rows[] = {
	FIELD(provider, type, FIELD_ENUM, .words = types),
	FIELD(provider, wire_api, FIELD_ENUM, .words = wires),
	FIELD(provider, base_url, FIELD_STR, .flags = FIELD_REQUIRED),
	FIELD(provider, api_key_env, FIELD_STR),
	FIELD(provider, model, FIELD_STR),
	FIELD(provider, headers, FIELD_TREE),
};
static const struct field_table provider_table =
    FIELD_TABLE(provider, provider_rows);
static const struct provider provider_init = { .type = -1, .wire_api = -1 };

struct block {				/* as it is written */
	struct str cli_path, system, github_token_env;
	const struct json *permissions, *provider, *env, *home;
};

static const struct field block_rows[] = {
	FIELD(block, cli_path, FIELD_STR, .help = AGENT_CLI_HELP),
	FIELD(block, system, FIELD_STR, .help = "system message"),
	FIELD(block, github_token_env, FIELD_STR,
	    .help = "environment variable that contains the GitHub token"),
	FIELD(block, permissions, FIELD_TREE, .help = AGENT_PERMISSIONS_HELP),
	FIELD(block, provider, FIELD_TREE, .sub = &provider_table,
	    .help = "model server that Copilot uses instead of its own"),
	FIELD(block, env, FIELD_TREE, .help = AGENT_ENV_HELP),
	FIELD(block, home, FIELD_TREE, .help = AGENT_HOME_HELP),
	{ .key = "cache_home", .type = FIELD_TREE,
	    .off = offsetof(struct block, home), .help = AGENT_CACHE_HELP },
	{ .key = "confine", .type = FIELD_TREE,
	    .off = offsetof(struct block, home), .help = AGENT_CONFINE_HELP },
};
static const struct field_table block_table = FIELD_TABLE(block, block_rows);
const struct field_table *const copilot_table = &block_table;

static const char *const kinds[] = { "custom-tool", "hook", "mcp", "memory",
    "path", "read", "shell", "url", "write" };

static void
check_kind(const struct json *v, const char *file, struct spec_notes *notes)
{
	struct str_nearest near = { .distance = 0 };
	char hint[STR_HINT];
	size_t i;

	if (v->type != JSON_STRING) {
		spec_note(notes, FIELD_ERROR, spec_at(file, v), "each of "
		    "\"permissions\" must be a string, not %s",
		    json_type_name((enum json_type)v->type));
		return;
	}
	near.word = json_text(v);
	for (i = 0; i < COUNTOF(kinds); i++) {
		if (str_is(near.word, kinds[i]))
			return;
		str_nearest(&near, str_of(kinds[i]));
	}
	spec_note(notes, FIELD_WARNING, spec_at(file, v), "unknown kind of "
	    "permission%s", str_hint(hint, "", near.best));
}

static void
check_permissions(const struct json *p, const char *file,
    struct spec_notes *notes)
{
	const struct json *v;

	if (!json_is_set(p))
		return;
	if (p->type == JSON_ARRAY) {
		for (v = json_first(p); v != NULL; v = v->next)
			check_kind(v, file, notes);
		return;
	}
	if (p->type != JSON_STRING || (!str_is(json_text(p), "approve") &&
	    !str_is(json_text(p), "deny")))
		spec_note(notes, FIELD_ERROR, spec_at(file, p),
		    "\"permissions\" must be approve, deny, or a list of "
		    "kinds");
}

/* Reports a problem once, though agent and judge share settings. */
static void
report(void *source, const struct field_finding *f)
{
	const struct spec_source *src = source;
	const struct spec_note *n;

	for (n = src->notes->head; n != NULL; n = n->next)
		if (n->at.line == f->line && n->at.col == f->col &&
		    n->at.file == src->file && str_eq(n->key, f->key))
			return;
	spec_report(source, f);
}

/* Checks one of the places of settings. */
static void
check_block(const char *file, const struct json *v, unsigned flags,
    struct spec_notes *notes)
{
	struct spec_source src = { notes, file };
	struct field_ctx ctx = { notes->arena, FIELD_LAX | flags, report,
		&src, flags & FIELD_OPEN ? NULL : "copilot" };
	struct provider p = provider_init;
	struct block b = { 0 };

	if (!json_is_set(v))
		return;
	if (notes->strict && !(flags & FIELD_OPEN))
		ctx.flags |= FIELD_STRICT;
	field_decode(&ctx, &block_table, v, &b);
	check_permissions(b.permissions, file, notes);
	agent_check_map(b.env, "env", file, notes);
	if (!json_is_set(b.provider))
		return;
	ctx.path = "provider";
	ctx.flags &= ~(unsigned)FIELD_OPEN;
	field_decode(&ctx, &provider_table, b.provider, &p);
	agent_check_map(p.headers, "headers", file, notes);
}

/* The places of settings, under both names, in the order of agent_blocks(). */
static size_t
find_blocks(const struct spec_suite *s, struct agent_block *out, size_t *own)
{
	struct agent_block a[AGENT_BLOCKS], b[AGENT_BLOCKS];
	size_t i, n = 0, all = agent_blocks(s, "copilot", a);

	agent_blocks(s, "copilot-sdk", b);
	for (i = 0; i < all; i++) {
		if (i == AGENT_OWN_BLOCKS)
			*own = n;
		out[n++] = a[i];
		if (!a[i].open)
			out[n++] = b[i];
	}
	return n;
}

void
copilot_check(const struct spec_suite *s, struct spec_notes *notes)
{
	struct agent_block block[2 * AGENT_BLOCKS];
	const struct json *env;
	size_t i, own = 0, n = find_blocks(s, block, &own);

	for (i = 0; i < n; i++)
		if (block[i].file != NULL)
			check_block(block[i].file, block[i].v, block[i].open ?
			    (unsigned)FIELD_OPEN : 0, notes);
	for (i = 0; i < s->ntasks; i++) {
		env = s->tasks[i].def->inputs.environment;
		if (json_is_set(env) && json_count(env) > 0)
			spec_note(notes, FIELD_WARNING,
			    spec_at(s->tasks[i].at.file, env),
			    "\"environment\" has no effect with copilot-sdk: "
			    "one process serves all tasks");
	}
}

/* Judges do not get the agents' system message; they may have their own. */
static int
read_block(struct arena *a, const struct spec_suite *s, struct block *b,
    struct str *judge_system, struct err *e)
{
	struct field_ctx ctx = { .arena = a, .flags = FIELD_LAX | FIELD_OPEN };
	struct agent_block block[2 * AGENT_BLOCKS];
	struct str system = STR("");
	size_t i, own = 0, errors = 0, n = find_blocks(s, block, &own);

	for (i = 0; i < n; i++) {
		if (i == own) {
			system = b->system;
			b->system = STR("");
		}
		if (json_is_set(block[i].v))
			errors += field_decode(&ctx, &block_table, block[i].v,
			    b);
	}
	*judge_system = b->system;
	b->system = system;
	return errors == 0 ? 0 : err_set(e, ERR_SCHEMA, "settings of "
	    "copilot-sdk: a value has the wrong type");
}

/* The value of a variable, added to the secrets; -1 if it is not set. */
static int
take_secret(struct arena *a, struct str name, const char *what,
    struct mask *k, struct str *value, struct err *e)
{
	const char *cname = arena_cstr(a, name);
	const char *v = cname == NULL ? NULL : getenv(cname);

	if (v == NULL || *v == '\0')
		return err_set(e, ERR_SCHEMA, "copilot-sdk: the variable "
		    "\"%.*s\" (%s) is not set", STRF(utf8_cut(name, 60)), what);
	*value = arena_str(a, str_of(v));
	mask_add(a, k, *value);
	return 0;
}

static void
put_headers(struct json_out *o, const struct json *headers)
{
	const struct json *v;

	if (json_first(headers) == NULL)
		return;
	json_open_member(o, "headers", '{');
	for (v = json_first(headers); v != NULL; v = v->next) {
		json_put_key(o, json_key(v));
		json_put_str(o, agent_scalar(v));
	}
	json_close(o, '}');
}

/* The provider as session.create takes it. */
static void
make_provider(struct arena *a, const struct provider *p, struct str key,
    struct copilot_settings *out)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	json_open(&o, '{');
	json_put_member_cstr(&o, "type", types[p->type >= 0 ? p->type : 0]);
	if (p->wire_api >= 0)
		json_put_member_cstr(&o, "wireApi", wires[p->wire_api]);
	json_put_member_nonempty(&o, "baseUrl", p->base_url);
	json_put_member_nonempty(&o, "apiKey", key);
	json_put_member_nonempty(&o, "wireModel", p->model);
	put_headers(&o, p->headers);
	json_close(&o, '}');
	out->provider = arena_take(a, &b);
	out->model = arena_str(a, p->model);
}

static int
read_provider(struct arena *a, const struct json *v, struct provider *p,
    struct copilot_settings *out, struct err *e)
{
	struct field_ctx ctx = { .arena = a, .flags = FIELD_LAX };
	struct str key = STR("");

	if (!json_is_set(v))
		return 0;
	if (field_decode(&ctx, &provider_table, v, p) != 0 ||
	    p->base_url.n == 0 ||
	    !agent_check_map(p->headers, "headers", NULL, NULL))
		return err_set(e, ERR_SCHEMA, "copilot-sdk: \"provider\" must "
		    "have a base_url; type is openai, azure or anthropic, "
		    "wire_api completions or responses");
	if (p->api_key_env.n > 0 && take_secret(a, p->api_key_env,
	    "api_key_env of the provider", &out->secrets, &key, e) == -1)
		return -1;
	make_provider(a, p, key, out);
	return 0;
}

/*
 * The CLI accepts directories with a SKILL.md and directories that contain such
 * directories, so ours can be passed on unchanged.
 */
static void
add_skills(struct arena *a, const struct spec_suite *s,
    const struct field_strs *dirs, struct field_strs *out)
{
	size_t i;

	for (i = 0; i < dirs->n; i++)
		out->v[out->n++] = str_of(os_absolute(a, spec_path(a,
		    s->dir, dirs->v[i])));
}

struct field_strs
copilot_skills(struct arena *a, const struct spec_suite *s,
    const struct spec_task *t)
{
	const struct field_strs *all = &s->config.skill_directories;
	struct field_strs out = { NEW_N(a, struct str, all->n +
	    t->def->skill_directories.n), 0 };

	add_skills(a, s, all, &out);
	add_skills(a, s, &t->def->skill_directories, &out);
	return out;
}

static void
read_disabled(const struct spec_suite *s, struct copilot_settings *out)
{
	size_t i;

	out->disabled = s->config.disabled_skills;
	for (i = 0; i < out->disabled.n; i++)
		if (str_is(out->disabled.v[i], "*"))
			out->no_skills = true;
}

static int
make_argv(struct arena *a, const struct spec_suite *s, const struct block *b,
    struct copilot_settings *out, struct err *e)
{
	const char *path = getenv("COPILOT_CLI_PATH");
	size_t n = 0;

	if (b->cli_path.n > 0) {
		path = arena_cstr(a, b->cli_path);
		if (path == NULL)
			return err_set(e, ERR_SCHEMA,
			    "\"cli_path\" contains a NUL");
		if (strchr(path, '/') != NULL)
			path = os_absolute(a, spec_path(a, s->dir,
			    b->cli_path));
	} else if (path == NULL || *path == '\0')
		path = "copilot";
	else if (strchr(path, '/') != NULL)
		path = os_absolute(a, path);
	out->argv = NEW_N(a, const char *, 12);
	if (str_ends(str_of(path), STR(".js")))
		out->argv[n++] = "node";
	out->argv[n++] = path;
	out->argv[n++] = "--headless";
	out->argv[n++] = "--no-auto-update";
	out->argv[n++] = "--log-level";
	out->argv[n++] = "error";
	out->argv[n++] = "--stdio";
	if (b->github_token_env.n > 0) {
		out->argv[n++] = "--auth-token-env";
		out->argv[n++] = "COPILOT_SDK_AUTH_TOKEN";
	}
	if (out->provider.n > 0)
		out->argv[n++] = "--no-auto-login";
	return 0;
}

static void
add_env(struct arena *a, const char **set, size_t *n, const char *name,
    struct str value)
{
	set[(*n)++] = arena_fmt(a, "%s=%.*s", name, STRF(value)).p;
}

static bool
is_offline(const struct block *b)
{
	return getenv("COPILOT_OFFLINE") != NULL ||
	    json_getc(b->env, "COPILOT_OFFLINE") != NULL;
}

/*
 * The provider's key is sent by the protocol, so that no command of the agent
 * finds it in its environment.  Offline, the CLI requires a provider and a
 * model in the environment before it accepts ours.
 */
static int
make_env(struct arena *a, const struct block *b, const struct provider *p,
    struct copilot_settings *out, struct err *e)
{
	const struct json *v;
	const char **set;
	struct str token;
	size_t n = 0;

	if (!agent_check_map(b->env, "env", NULL, NULL))
		return err_set(e, ERR_SCHEMA, "copilot-sdk: \"env\" must be a "
		    "mapping of names to values");
	set = NEW_N(a, const char *, 6 + (json_is_set(b->env) ?
	    json_count(b->env) : 0));
	set[n++] = "NODE_DEBUG";
	if (p->api_key_env.n > 0)
		set[n++] = arena_cstr(a, p->api_key_env);
	if (p->base_url.n > 0 && is_offline(b)) {
		add_env(a, set, &n, "COPILOT_PROVIDER_BASE_URL", p->base_url);
		add_env(a, set, &n, "COPILOT_MODEL", p->model.n > 0 ?
		    p->model : STR("default"));
	}
	if (b->github_token_env.n > 0) {
		if (take_secret(a, b->github_token_env, "github_token_env",
		    &out->secrets, &token, e) == -1)
			return -1;
		add_env(a, set, &n, "COPILOT_SDK_AUTH_TOKEN", token);
	}
	for (v = json_first(b->env); v != NULL; v = v->next)
		if (agent_env_add(a, v, set, &n, e) == -1)
			return -1;
	out->env = os_env(a, set, n);
	mask_add_env(a, &out->secrets, out->env);
	mask_add_env(a, &out->secrets, os_env(a, NULL, 0));
	return 0;
}

int
copilot_read_settings(struct arena *a, const struct spec_suite *s,
    struct copilot_settings *out, struct err *e)
{
	struct provider p = provider_init;
	struct block b = { 0 };

	if (read_block(a, s, &b, &out->judge_system, e) == -1 ||
	    read_provider(a, b.provider, &p, out, e) == -1 ||
	    make_argv(a, s, &b, out, e) == -1)
		return -1;
	out->system = b.system;
	out->permissions = b.permissions;
	read_disabled(s, out);
	return make_env(a, &b, &p, out, e);
}
