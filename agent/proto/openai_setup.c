/* SPDX-License-Identifier: ISC */
/*
 * Settings of the executor `openai`: address, headers, keys.
 *
 * Settings never contain keys, but the names of variables that do.  Values from
 * the environment are masked in everything that the server returns.
 */
#include "agent/proto/openai.h"

#include <stdlib.h>
#include <string.h>

#include "agent/agent_internal.h"
#include "base/os_path.h"
#include "base/os_spawn.h"
#include "json.h"
#include "lib/field.h"
#include "suite/spec.h"

#define NAME "openai"

const struct openai_kind openai_kinds[] = {
	[OPENAI_CHAT] = { .name = "chat", .base = "https://api.openai.com/v1",
	    .base_env = "OPENAI_BASE_URL", .path = "/chat/completions",
	    .key_env = "OPENAI_API_KEY", .key_field = "Authorization",
	    .key_prefix = "Bearer " },
	[OPENAI_RESPONSES] = { .name = "responses",
	    .base = "https://api.openai.com/v1",
	    .base_env = "OPENAI_BASE_URL", .path = "/responses",
	    .key_env = "OPENAI_API_KEY", .key_field = "Authorization",
	    .key_prefix = "Bearer " },
	[OPENAI_ANTHROPIC] = { .name = "anthropic",
	    .base = "https://api.anthropic.com",
	    .base_env = "ANTHROPIC_BASE_URL", .path = "/messages",
	    .version = "/v1", .key_env = "ANTHROPIC_API_KEY",
	    .key_field = "x-api-key", .key_prefix = "", .max_tokens = 4096 },
	[OPENAI_OLLAMA] = { .name = "ollama", .base = "http://127.0.0.1:11434",
	    .path = "/chat", .version = "/api",
	    .key_field = "Authorization", .key_prefix = "Bearer " },
};

static const char *const apis[] = { "chat", "responses", "anthropic", "ollama",
	NULL };

static const struct field rows[] = {
	FIELD(openai_settings, base_url, FIELD_STR,
	    .help = "address of the model server"),
	FIELD(openai_settings, api, FIELD_ENUM, .words = apis,
	    .help = "API of the model server"),
	FIELD(openai_settings, api_key_env, FIELD_STR,
	    .help = "environment variable that contains the key of the model server"),
	FIELD(openai_settings, headers, FIELD_TREE,
	    .help = "further headers of requests to the model server"),
	FIELD(openai_settings, body, FIELD_TREE,
	    .help = "further members of the body of requests"),
	FIELD(openai_settings, model, FIELD_STR,
	    .help = "model, if neither the suite nor --model names one"),
	FIELD(openai_settings, system, FIELD_STR, .help = "system message"),
	FIELD(openai_settings, temperature, FIELD_NUM, .min = 0, .max = 2,
	    .help = "temperature of the model"),
	FIELD(openai_settings, max_tokens, FIELD_INT,
	    .min = 1, .max = 100000000, .help = "tokens of an answer at most"),
	FIELD(openai_settings, max_tokens_total, FIELD_INT,
	    .min = 0, .max = INT64_MAX, .help = "limit of the run's tokens"),
	FIELD(openai_settings, max_cost, FIELD_NUM,
	    .min = 0, .max = 1000000000, .help = "limit of the run's cost in dollars"),
	FIELD(openai_settings, retries, FIELD_INT, .min = 0, .max = 100,
	    .help = "further tries after a failed request to the model server"),
	FIELD(openai_settings, stream, FIELD_BOOL,
	    .help = "receive answers piece by piece"),
};
static const struct field_table table = FIELD_TABLE(openai_settings, rows);
const struct field_table *const openai_table = &table;
static const struct openai_settings init = { .api = OPENAI_CHAT,
	.base_url = { "", 0 }, .api_key_env = { NULL, 0 },
	.system = { "", 0 }, .model = { "", 0 }, .temperature = -1,
	.retries = 4, .stream = true };

static void
read_settings(struct arena *a, const struct spec_suite *s,
    struct openai_settings *out)
{
	struct field_ctx ctx = { .arena = a, .flags = FIELD_LAX | FIELD_OPEN };

	*out = init;
	field_decode(&ctx, &table, agent_settings(a, s, NAME), out);
}

/*
 * The address: the API's path goes after the base, before its query.
 */
static struct str
join(struct arena *a, struct str base, const struct openai_kind *k)
{
	const char *q = memchr(base.p, '?', base.n);
	struct str query = STR(""), version = STR("");

	if (q != NULL) {
		query = (struct str){ q, base.n - (size_t)(q - base.p) };
		base.n -= query.n;
	}
	while (base.n > 0 && base.p[base.n - 1] == '/')
		base.n--;
	if (str_ends(base, str_of(k->path)))
		return arena_fmt(a, "%.*s%.*s", STRF(base), STRF(query));
	if (k->version != NULL && !str_ends(base, str_of(k->version)))
		version = str_of(k->version);
	return arena_fmt(a, "%.*s%.*s%s%.*s", STRF(base), STRF(version),
	    k->path, STRF(query));
}

static struct str
base_of(const struct openai_settings *set, bool *vendor)
{
	const struct openai_kind *k = &openai_kinds[set->api];
	const char *env;

	*vendor = false;
	if (set->base_url.n > 0)
		return set->base_url;
	env = k->base_env != NULL ? getenv(k->base_env) : NULL;
	if (env != NULL && env[0] != '\0')
		return str_of(env);
	*vendor = set->api != OPENAI_OLLAMA;
	return str_of(k->base);
}

/* The name of the key's variable; empty: no key. */
static struct str
key_env(const struct openai_settings *set)
{
	const struct openai_kind *k = &openai_kinds[set->api];

	if (set->api_key_env.p != NULL)
		return set->api_key_env;
	return k->key_env != NULL ? str_of(k->key_env) : STR("");
}

/* The value of a variable; empty if it is not set. */
static struct str
variable(struct arena *a, struct str name)
{
	char *cstr = arena_cstr(a, name);
	const char *v = cstr != NULL && cstr[0] != '\0' ? getenv(cstr) : NULL;

	return v != NULL ? arena_str(a, str_of(v)) : STR("");
}

struct setting_up {
	struct arena *arena;
	struct openai *o;
	const char **unset;		/* variables hidden from curl */
	size_t nunset;
	struct err *err;
};

static void
add_secret(struct setting_up *u, struct str name, struct str value)
{
	mask_add(u->arena, &u->o->secrets, value);
	u->unset[u->nunset++] = arena_cstr(u->arena, name);
}

static int
set_field(struct setting_up *u, struct str name, struct str value)
{
	struct openai *o = u->o;
	size_t i;

	for (i = 0; i < o->nfields; i++)
		if (http_same(name, arena_cstr(u->arena, o->field[i].name)))
			break;
	if (i == OPENAI_FIELDS_MAX)
		return err_set(u->err, ERR_LIMIT, "more than %d headers",
		    OPENAI_FIELDS_MAX);
	o->field[i] = (struct http_field){ name, value };
	o->nfields += i == o->nfields;
	return 0;
}

static int
set_key(struct setting_up *u)
{
	struct openai *o = u->o;
	struct str env = key_env(&o->set), key = variable(u->arena, env);

	o->key_env = env;
	o->keyed = key.n > 0;
	if (env.n == 0)
		return 0;
	if (key.n == 0 && (o->vendor || o->set.api_key_env.p != NULL))
		return err_set(u->err, ERR_SCHEMA, "%.*s is not set: executor "
		    "\"" NAME "\" needs it as its key",
		    STRF(utf8_cut(env, 80)));
	if (key.n == 0)
		return 0;
	if (!http_value_ok(key))
		return err_set(u->err, ERR_SCHEMA, "%.*s contains characters "
		    "that a key cannot have", STRF(utf8_cut(env, 80)));
	add_secret(u, env, key);
	return set_field(u, str_of(o->kind->key_field), arena_fmt(u->arena,
	    "%s%.*s", o->kind->key_prefix, STRF(key)));
}

struct str
openai_key_hint(struct arena *a, const struct openai *o, int status)
{
	struct str env = utf8_cut(o->key_env, 80);

	if (status != 401 && status != 403)
		return STR("");
	if (env.n == 0)
		return STR(" (no key was sent: name its variable in "
		    "api_key_env)");
	return arena_fmt(a, o->keyed ? " (the key is from %.*s)" :
	    " (no key was sent: %.*s is not set)", STRF(env));
}

/* ${NAME} becomes the variable's value; one that is not set is an error. */
static int
expand(struct setting_up *u, struct str s, struct str *out)
{
	struct buf b = { 0 };
	const char *end;
	struct str name, value;
	int r = 0;

	while (s.n > 0 && r == 0) {
		end = s.n > 2 && s.p[0] == '$' && s.p[1] == '{' ?
		    memchr(s.p, '}', s.n) : NULL;
		if (end == NULL) {
			buf_putc(&b, *s.p++);
			s.n--;
			continue;
		}
		name = (struct str){ s.p + 2, (size_t)(end - s.p) - 2 };
		value = variable(u->arena, name);
		if (value.n == 0 || u->nunset >= OPENAI_FIELDS_MAX)
			r = err_set(u->err, ERR_SCHEMA, "%.*s is not set: a "
			    "header needs it", STRF(utf8_cut(name, 80)));
		else
			add_secret(u, name, value);
		buf_put(&b, value);
		s.n -= (size_t)(end + 1 - s.p);
		s.p = end + 1;
	}
	*out = arena_take(u->arena, &b);
	return r;
}

static int
set_headers(struct setting_up *u)
{
	const struct json *v;
	struct str value;

	for (v = json_first(u->o->set.headers); v != NULL; v = v->next) {
		if (expand(u, json_source(v), &value) == -1 ||
		    set_field(u, json_key(v), value) == -1)
			return -1;
		if (!http_value_ok(value))
			return err_set(u->err, ERR_SCHEMA, "header \"%.*s\" "
			    "contains characters that it cannot have",
			    STRF(utf8_cut(json_key(v), 80)));
	}
	return 0;
}

/* Of the API, or (list) of its list of models. */
static int
set_url(struct arena *a, struct openai *o, bool list, struct err *e)
{
	struct str base = base_of(&o->set, &o->vendor);
	struct openai_kind k = *o->kind;

	if (list) {
		if (str_ends(base, str_of(k.path)))
			base.n -= strlen(k.path);
		k.path = o->set.api == OPENAI_OLLAMA ? "/tags" : "/models";
	}
	return http_url_read(join(a, base, &k), &o->url, e);
}

static int
set_up(struct arena *a, const struct spec_suite *s, struct openai *o,
    bool list, struct err *e)
{
	struct setting_up u = { .arena = a, .o = o, .err = e };

	*o = (struct openai){ 0 };
	read_settings(a, s, &o->set);
	o->kind = &openai_kinds[o->set.api];
	o->effort = s->config.reasoning_effort;
	u.unset = NEW_N(a, const char *, OPENAI_FIELDS_MAX + 2);
	if (set_url(a, o, list, e) == -1)
		return -1;
	set_field(&u, STR("User-Agent"), STR("waza"));
	set_field(&u, STR("Content-Type"), STR("application/json"));
	set_field(&u, STR("Accept"), STR("application/json, "
	    "text/event-stream"));
	if (o->set.api == OPENAI_ANTHROPIC)
		set_field(&u, STR("anthropic-version"), STR("2023-06-01"));
	if (set_key(&u) == -1 || set_headers(&u) == -1)
		return -1;
	o->env = os_env(a, u.unset, u.nunset);
	return 0;
}

int
openai_set_up(struct arena *a, const struct spec_suite *s, struct openai *o,
    struct err *e)
{
	return set_up(a, s, o, false, e);
}

int
openai_set_up_list(struct arena *a, const struct spec_suite *s,
    struct openai *o, struct err *e)
{
	return set_up(a, s, o, true, e);
}

/*
 * Checks of the settings.
 */
struct check {
	const struct spec_suite *suite;
	struct spec_notes *notes;
	struct openai_settings set;
};

/* The place of a setting in the suite, else that of the executor. */
static struct spec_where
place_of(const struct check *c, const char *key)
{
	const struct spec_config *g = &c->suite->config;
	const struct json *v = json_getc(json_getc(g->tree, NAME), key);

	if (v == NULL)
		v = json_getc(json_getc(g->executors, NAME), key);
	if (v == NULL)
		v = json_getc(g->tree, key);
	return v != NULL ? spec_at(c->suite->path, v) : g->executor_at;
}

static void
check_block(struct check *c, const struct agent_block *b)
{
	struct spec_source src = { c->notes, b->file != NULL ? b->file :
		"executors." NAME };
	struct field_ctx ctx = { .arena = c->notes->arena, .flags = FIELD_LAX |
		(b->open ? (unsigned)FIELD_OPEN : 0) |
		(c->notes->strict ? (unsigned)FIELD_STRICT : 0),
		.report = spec_report, .ctx = &src,
		.path = b->open ? NULL : NAME };
	struct openai_settings tmp = init;

	if (json_is_set(b->v))
		field_decode(&ctx, &table, b->v, &tmp);
}

static bool
is_ours(struct str name)
{
	static const char *const ours[] = { "host", "content-length",
		"transfer-encoding", "connection", "expect" };
	size_t i;

	for (i = 0; i < COUNTOF(ours); i++)
		if (http_same(name, ours[i]))
			return true;
	return false;
}

static void
check_headers(struct check *c)
{
	struct spec_where at = place_of(c, "headers");
	const struct json *v = c->set.headers;

	if (v != NULL && v->type != JSON_OBJECT) {
		spec_note(c->notes, FIELD_ERROR, at, "\"headers\" must be a "
		    "mapping of names to values");
		return;
	}
	for (v = json_first(v); v != NULL; v = v->next) {
		struct str key = json_key(v);

		key.n = key.n < 80 ? key.n : 80;
		if (v->type == JSON_OBJECT || v->type == JSON_ARRAY ||
		    v->type == JSON_NULL)
			spec_note(c->notes, FIELD_ERROR, at, "header "
			    "\"%.*s\" must be a string", STRF(key));
		else if (!http_name_ok(json_key(v)) || is_ours(json_key(v)))
			spec_note(c->notes, FIELD_ERROR, at, "header "
			    "\"%.*s\" cannot be set", STRF(key));
	}
	v = c->set.body;
	if (v != NULL && v->type != JSON_OBJECT)
		spec_note(c->notes, FIELD_ERROR, place_of(c, "body"),
		    "\"body\" must be a mapping");
}

static bool
is_local(struct str host)
{
	return http_same(host, "localhost") || str_is(host, "::1") ||
	    str_starts(host, STR("127."));
}

static void
check_address(struct check *c)
{
	struct arena *a = c->notes->arena;
	struct str env = key_env(&c->set), key = variable(a, env);
	struct spec_where at = place_of(c, "base_url");
	struct http_url u;
	struct err e;
	bool vendor;
	struct str base = base_of(&c->set, &vendor);

	if (http_url_read(join(a, base, &openai_kinds[c->set.api]), &u, &e) ==
	    -1) {
		spec_note(c->notes, FIELD_ERROR, at, "base_url: %s", e.msg);
		return;
	}
	if (u.authority.n > 100)
		spec_note(c->notes, FIELD_ERROR, at, "base_url: the host name "
		    "is too long");
	if (u.tls && os_find(a, "curl") == NULL)
		spec_note(c->notes, FIELD_WARNING, at, "executor \"" NAME "\" "
		    "needs `curl` for https, which is not installed (not "
		    "found in PATH)");
	if (key.n > 0 && !u.tls && !is_local(u.host))
		spec_note(c->notes, FIELD_WARNING, at, "the key is sent to "
		    "%.*s unencrypted", STRF(utf8_cut(u.host, 80)));
	if (env.n > 0 && key.n == 0 && (vendor || c->set.api_key_env.p != NULL))
		spec_note(c->notes, FIELD_WARNING, place_of(c, "api_key_env"),
		    "executor \"" NAME "\" takes its key from %.*s, which is "
		    "not set", STRF(utf8_cut(env, 80)));
}

/* A judge's model may be given with the request. */
static void
check_model(struct check *c)
{
	const struct spec_suite *s = c->suite;
	struct str model = s->config.model.n > 0 ? s->config.model :
	    c->set.model;

	if (model.n == 0 && s->ntasks > 0)
		spec_note(c->notes, FIELD_ERROR, s->config.executor_at,
		    "executor \"" NAME "\" needs a model: set config.model, "
		    "or use --model");
	if (model.n > 0 && c->set.max_cost > 0 &&
	    json_get(s->prices, model) == NULL)
		spec_note(c->notes, FIELD_ERROR, place_of(c, "max_cost"),
		    "max_cost needs the price of model \"%.*s\" in the "
		    "settings' prices", STRF(utf8_cut(model, 80)));
}

void
openai_check(const struct spec_suite *s, struct spec_notes *notes)
{
	struct check c = { .suite = s, .notes = notes };
	struct agent_block block[AGENT_BLOCKS];
	size_t i, n = agent_blocks(s, NAME, block), errors = notes->errors;

	for (i = 0; i < n; i++)
		check_block(&c, &block[i]);
	if (notes->errors > errors)
		return;
	read_settings(notes->arena, s, &c.set);
	if (s->config.reasoning_effort.n > 0 &&
	    c.set.api != OPENAI_CHAT && c.set.api != OPENAI_RESPONSES)
		spec_note(notes, FIELD_WARNING, s->config.executor_at,
		    "\"reasoning_effort\" has no effect with api \"%s\": put "
		    "the API's own setting into \"body\"",
		    openai_kinds[c.set.api].name);
	check_headers(&c);
	check_address(&c);
	check_model(&c);
	for (i = 0; i < s->ntasks; i++)
		if (s->tasks[i].def->inputs.files.n > 0) {
			spec_note(notes, FIELD_WARNING, s->tasks[i].at,
			    "executor \"" NAME "\" sends only the "
			    "prompt: the model does not see input files");
			break;
		}
}
