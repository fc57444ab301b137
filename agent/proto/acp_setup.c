/* SPDX-License-Identifier: ISC */
/*
 * Settings of the executor `acp`, and the known agents.
 *
 * If both a name and a command are given, waza runs the command and assumes the
 * features of the named agent.
 */
#include "agent/proto/acp.h"

#include <string.h>
#include <unistd.h>

#include "agent/agent_internal.h"
#include "base/os_path.h"
#include "base/os_spawn.h"
#include "json.h"
#include "lib/field.h"
#include "suite/spec.h"

static const struct acp_agent agents[] = {	/* sorted by name */
	{ .name = "claude", .argv = { "claude-agent-acp" }, .instead = "claude-code-acp",
	    .model_env = "ANTHROPIC_MODEL", .hide_meta = true,
	    .env = { "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1" } },
	{ .name = "cline", .argv = { "cline", "--acp" } },
	{ .name = "codex", .argv = { "codex-acp" }, .ignores_eof = true,
	    .hide_env = "CODEX_CONFIG" },
	{ .name = "copilot", .argv = { "copilot", "--acp", "--no-auto-update" },
	    .model_flag = "--model=", .effort_flag = "--reasoning-effort=",
	    .mcp_flag = "--additional-mcp-config=@" },
	{ .name = "gemini", .argv = { "gemini", "--acp" }, .model_flag = "--model=",
	    .env = { "GEMINI_CLI_TRUST_WORKSPACE=true" } },
	{ .name = "goose", .argv = { "goose", "acp" }, .model_env = "GOOSE_MODEL" },
	{ .name = "opencode", .argv = { "opencode", "acp" },
	    .env = { "OPENCODE_DISABLE_AUTOUPDATE=1" }, .permit_env = "OPENCODE_PERMISSION" },
	{ .name = "qwen", .argv = { "qwen", "--acp" }, .model_flag = "--model=" },
};

static const struct field rows[] = {
	FIELD(acp_settings, agent, FIELD_STR,
	    .help = "agent that waza knows by name"),
	FIELD(acp_settings, command, FIELD_TREE,
	    .schema = "\"type\":[\"string\",\"array\",\"null\"]",
	    .help = "program of the agent, as words or for /bin/sh"),
	FIELD(acp_settings, auth_method, FIELD_STR,
	    .help = "login method of the agent, by its own name"),
	FIELD(acp_settings, mode, FIELD_STR,
	    .help = "mode of the agent's session, by id or name"),
	FIELD(acp_settings, permissions, FIELD_TREE,
	    .help = AGENT_PERMISSIONS_HELP),
	FIELD(acp_settings, env, FIELD_TREE, .help = AGENT_ENV_HELP),
	FIELD(acp_settings, home, FIELD_TREE, .help = AGENT_HOME_HELP),
	{ .key = "cache_home", .type = FIELD_TREE,
	    .off = offsetof(struct acp_settings, home), .help = AGENT_CACHE_HELP },
	{ .key = "confine", .type = FIELD_TREE,
	    .off = offsetof(struct acp_settings, home), .help = AGENT_CONFINE_HELP },
};
static const struct field_table table = FIELD_TABLE(acp_settings, rows);
const struct field_table *const acp_table = &table;

const struct acp_agent *
acp_agent(struct str name)
{
	size_t i;

	for (i = 0; i < COUNTOF(agents); i++)
		if (str_is(name, agents[i].name))
			return &agents[i];
	return NULL;
}

const struct acp_agent *
acp_agent_nth(size_t i)
{
	return i < COUNTOF(agents) ? &agents[i] : NULL;
}

void
acp_read(struct arena *a, const struct spec_suite *s, struct acp_settings *out)
{
	struct field_ctx ctx = { .arena = a, .flags = FIELD_LAX | FIELD_OPEN };

	field_decode(&ctx, &table, agent_settings(a, s, "acp"), out);
}

/*
 * Checks of the settings.  Problems in the user's settings are reported at the
 * place that names the executor.
 */
struct checking {
	const struct spec_suite *suite;
	struct spec_notes *notes;
	bool own;			/* the suite's settings */
};

static struct spec_where
place(const struct checking *c, const struct json *v)
{
	return c->own && v != NULL ? spec_at(c->suite->path, v) :
	    c->suite->config.executor_at;
}

static void
report(void *ctx, const struct field_finding *f)
{
	struct checking *c = ctx;
	struct spec_source src = { c->notes, c->suite->path };

	if (c->own)
		spec_report(&src, f);
	else
		spec_note(c->notes, f->level, c->suite->config.executor_at,
		    "executors.acp: %s", f->msg);
}

/* The known agents, for messages. */
static struct str
names(struct arena *a)
{
	struct buf b = { 0 };
	size_t i;

	for (i = 0; i < COUNTOF(agents); i++)
		buf_fmt(&b, "%s%s", i > 0 ? ", " : "", agents[i].name);
	return arena_take(a, &b);
}

static void
check_agent(struct checking *c, const struct json *v)
{
	struct str name = v->type == JSON_STRING ? json_text(v) : STR("");
	struct str_nearest near = { .word = name };
	char hint[STR_HINT];
	size_t i;

	if (v->type != JSON_STRING || acp_agent(name) != NULL)
		return;			/* a wrong type is reported already */
	for (i = 0; i < COUNTOF(agents); i++)
		str_nearest(&near, str_of(agents[i].name));
	if (near.best.p != NULL)
		spec_note(c->notes, FIELD_ERROR, place(c, v),
		    "unknown agent \"%.*s\"%s", STRF(utf8_cut(name, 60)),
		    str_hint(hint, "", near.best));
	else
		spec_note(c->notes, FIELD_ERROR, place(c, v),
		    "unknown agent \"%.*s\": use one of %.*s, or set "
		    "\"command\"", STRF(utf8_cut(name, 60)),
		    STRF(names(c->notes->arena)));
}

static bool
is_kind(struct str word)
{
	size_t i;

	for (i = 0; acp_kinds[i] != NULL; i++)
		if (str_is(word, acp_kinds[i]))
			return true;
	return false;
}

static void
check_permissions(struct checking *c, const struct json *p)
{
	const struct json *v;

	if (p->type == JSON_STRING && (str_is(json_text(p), "approve") ||
	    str_is(json_text(p), "deny")))
		return;
	if (p->type != JSON_ARRAY) {
		spec_note(c->notes, FIELD_ERROR, place(c, p),
		    "\"permissions\" must be approve, deny, or a list of "
		    "kinds that are approved");
		return;
	}
	for (v = json_first(p); v != NULL; v = v->next)
		if (v->type != JSON_STRING || !is_kind(json_text(v)))
			spec_note(c->notes, FIELD_ERROR, place(c, v),
			    "a kind in \"permissions\" must be read, edit, "
			    "delete, move, search, execute, think, fetch, "
			    "switch_mode, other or path");
}

static void
check_env(struct checking *c, const struct json *env)
{
	const struct json *v;

	if (env->type != JSON_OBJECT)
		spec_note(c->notes, FIELD_ERROR, place(c, env),
		    "\"env\" must be a mapping of names to values");
	for (v = json_first(env); v != NULL; v = v->next)
		if (env->type == JSON_OBJECT && (json_key(v).n == 0 ||
		    memchr(v->key, '=', v->nkey) != NULL ||
		    v->type == JSON_ARRAY || v->type == JSON_OBJECT))
			spec_note(c->notes, FIELD_ERROR, place(c, v),
			    "\"env\" must be a mapping of names to values");
}

/* Checks one of the places of settings. */
static void
check_one(struct checking *c, const struct json *obj, unsigned flags)
{
	struct field_ctx ctx = { .arena = c->notes->arena,
		.flags = FIELD_LAX | flags, .report = report, .ctx = c,
		.path = "acp" };
	struct acp_settings s = { .agent = { NULL, 0 } };
	const struct json *v;

	if (!json_is_set(obj))
		return;
	if (obj->type != JSON_OBJECT) {
		spec_note(c->notes, FIELD_ERROR, place(c, obj),
		    "\"acp\" must be a mapping, not %s",
		    json_type_name((enum json_type)obj->type));
		return;
	}
	field_decode(&ctx, &table, obj, &s);
	if ((v = json_getc(obj, "agent")) != NULL)
		check_agent(c, v);
	if (s.command != NULL)
		agent_check_command(c->suite, s.command, c->own ? NULL :
		    &c->suite->config.executor_at, c->notes);
	if (s.permissions != NULL)
		check_permissions(c, s.permissions);
	if (s.env != NULL)
		check_env(c, s.env);
}

void
acp_check(const struct spec_suite *s, struct spec_notes *notes)
{
	struct agent_block block[AGENT_BLOCKS];
	struct checking c = { .suite = s, .notes = notes };
	struct acp_settings set = { .agent = { NULL, 0 } };
	size_t i;

	agent_blocks(s, "acp", block);
	for (i = 0; i < AGENT_OWN_BLOCKS; i++) {
		c.own = block[i].file != NULL;
		check_one(&c, block[i].v, block[i].open ?
		    (unsigned)FIELD_OPEN : notes->strict ?
		    (unsigned)FIELD_STRICT : 0);
	}
	acp_read(notes->arena, s, &set);
	if (set.command == NULL && set.agent.n == 0)
		spec_note(notes, FIELD_ERROR, s->config.executor_at,
		    "executor \"acp\" needs config.acp.agent (%.*s) or "
		    "config.acp.command", STRF(names(notes->arena)));
}

bool
acp_names_model(const struct acp_settings *set)
{
	const struct acp_agent *known = acp_agent(set->agent);

	return known != NULL && (known->model_env != NULL ||
	    (known->model_flag != NULL && set->command == NULL));
}

const char *
acp_effort_flag(const struct acp_settings *set)
{
	const struct acp_agent *known = acp_agent(set->agent);

	return known != NULL && set->command == NULL ? known->effort_flag :
	    NULL;
}

const char *
acp_mcp_flag(const struct acp_settings *set)
{
	const struct acp_agent *known = acp_agent(set->agent);

	return known != NULL && set->command == NULL ? known->mcp_flag : NULL;
}

const char **
acp_argv(struct arena *a, const struct spec_suite *s,
    const struct acp_settings *set, const struct agent_request *r,
    struct err *e)
{
	const struct acp_agent *known = acp_agent(set->agent);
	const char **argv, *file;
	size_t n = 0;

	if (set->command != NULL)
		return agent_argv(a, s, set->command, r->vars, e);
	if (known == NULL) {
		err_set(e, ERR_SCHEMA, "%s \"%.*s\": use one of "
		    "%.*s, or set \"command\"", set->agent.n > 0 ?
		    "unknown agent" : "no agent is set", STRF(utf8_cut(
		    set->agent, 60)), STRF(names(a)));
		return NULL;
	}
	argv = NEW_N(a, const char *, COUNTOF(known->argv) + 5);
	for (; n < COUNTOF(known->argv) && known->argv[n] != NULL; n++)
		argv[n] = known->argv[n];
	if (known->instead != NULL && os_find(a, argv[0]) == NULL &&
	    os_find(a, known->instead) != NULL)
		argv[0] = known->instead;
	if (known->model_flag != NULL && r->model.n > 0) {
		argv[n] = agent_word(a, known->model_flag, r->model);
		if (argv[n++] == NULL) {
			err_set(e, ERR_SCHEMA, "the model contains a NUL");
			return NULL;
		}
	}
	if (known->effort_flag != NULL && s->config.reasoning_effort.n > 0)
		argv[n++] = arena_fmt(a, "%s%.*s", known->effort_flag,
		    STRF(s->config.reasoning_effort)).p;
	if (known->mcp_flag != NULL && agent_mcp_any(s, r)) {
		file = agent_mcp_file(a, s, r, e);
		if (file == NULL)
			return NULL;
		argv[n++] = arena_fmt(a, "%s%s", known->mcp_flag, file).p;
	}
	return argv;
}

const char **
acp_env(struct arena *a, const struct spec_suite *s,
    const struct acp_settings *set, const struct agent_request *r,
    struct err *e)
{
	const struct acp_agent *known = acp_agent(set->agent);
	const char **env = agent_env(a, s, r, true, e), **change;
	const struct json *v;
	size_t n = 0;

	if (env == NULL)
		return NULL;
	change = NEW_N(a, const char *, (set->env != NULL ?
	    json_count(set->env) : 0) + 8);
	for (; known != NULL && n < COUNTOF(known->env) &&
	    known->env[n] != NULL; n++)
		change[n] = known->env[n];
	if (known != NULL && known->permit_env != NULL) {
		change[n] = agent_permit_variable(a, known->permit_env,
		    set->permissions, r);
		n += change[n] != NULL;
	}
	if (known != NULL && known->hide_env != NULL && r->nhidden > 0)
		change[n++] = arena_fmt(a, "%s=%.*s", known->hide_env,
		    STRF(agent_hide_json(a, AGENT_HIDE_CODEX, r))).p;
	for (v = json_first(set->env); v != NULL; v = v->next)
		if (json_get(r->task->def->inputs.environment, json_key(v)) ==
		    NULL && agent_env_add(a, v, change, &n, e) == -1)
			return NULL;
	if (known != NULL && known->model_env != NULL && r->model.n > 0)
		change[n++] = arena_fmt(a, "%s=%.*s", known->model_env,
		    STRF(r->model)).p;
	return os_env_change(a, env, change, n);
}
