/* SPDX-License-Identifier: ISC */
/*
 * MCP servers of a suite, in the forms that agents take.
 *
 *	mcp_servers:
 *	  NAME: {command: node, args: [server.mjs], env: {A: b}, cwd: dir}
 *	  NAME: {url: "http://...", headers: {A: b}}
 *
 * A command with a slash, and cwd, are relative to the suite; the agent gets
 * absolute paths.  Few protocols have cwd: a shell changes to it first.
 */
#include "agent/agent_internal.h"

#include <string.h>

#include "base/os.h"
#include "base/os_path.h"
#include "base/os_spawn.h"
#include "json.h"
#include "mock/mock.h"
#include "suite/spec.h"

enum type { STDIO, HTTP, SSE };

static const char *const types[] = { "stdio", "http", "sse", "local", NULL };

struct server {
	int type;			/* enum type; -1: not given */
	struct str command, url, cwd;
	struct field_strs args;
	const struct json *env, *headers, *tools, *timeout;
};
static const struct field rows[] = {
	FIELD(server, type, FIELD_ENUM, .words = types,
	    .help = "transport, if it does not follow from command and url"),
	FIELD(server, command, FIELD_STR,
	    .help = "program of the server"),
	FIELD(server, args, FIELD_STRS,
	    .help = "its arguments"),
	FIELD(server, env, FIELD_TREE,
	    .help = "its environment variables"),
	FIELD(server, cwd, FIELD_STR,
	    .help = "its working directory"),
	FIELD(server, url, FIELD_STR,
	    .help = "address of a running server"),
	FIELD(server, headers, FIELD_TREE,
	    .help = "headers of requests to it"),
	FIELD(server, tools, FIELD_TREE,
	    .help = "tools that are allowed"),
	FIELD(server, timeout, FIELD_TREE,
	    .help = "milliseconds per call"),
};
const struct field_table agent_server_table = FIELD_TABLE(server, rows);

static int
read_server(const struct field_ctx *ctx, const struct json *v, struct server *s)
{
	*s = (struct server){ .type = -1 };
	if (v->type != JSON_OBJECT ||
	    field_decode(ctx, &agent_server_table, v, s) > 0)
		return -1;
	if (s->type == -1)
		s->type = s->url.n > 0 ? HTTP : STDIO;
	else if (s->type > SSE)
		s->type = STDIO;	/* Copilot's "local" */
	return 0;
}

static void
check_server(const struct json *v, const char *file, struct spec_notes *notes)
{
	struct spec_source src = { notes, file };
	struct field_ctx ctx = { .arena = notes->arena, .flags = FIELD_LAX |
		(notes->strict ? (unsigned)FIELD_STRICT : 0),
		.report = spec_report, .ctx = &src, .path = "mcp_servers" };
	struct server s;
	size_t errors = notes->errors;

	if (v->type != JSON_OBJECT)
		spec_note(notes, FIELD_ERROR, spec_at(file, v),
		    "an MCP server must be a mapping, not %s",
		    json_type_name((enum json_type)v->type));
	if (read_server(&ctx, v, &s) == -1 || notes->errors > errors)
		return;
	agent_check_map(s.env, "env", file, notes);
	agent_check_map(s.headers, "headers", file, notes);
	if (s.type == STDIO ? s.command.n == 0 : s.url.n == 0)
		spec_note(notes, FIELD_ERROR, spec_at(file, v), "the MCP "
		    "server needs a \"%s\"", s.type == STDIO ? "command" :
		    "url");
}

/* A mock with passthrough needs the program of a real server. */
static void
check_passthrough(const struct spec_suite *s, struct spec_notes *notes)
{
	struct field_ctx ctx = { .arena = notes->arena, .flags = FIELD_LAX };
	const struct json *v, *real;
	struct server server;

	for (v = json_first(s->mcp_mocks); v != NULL; v = v->next) {
		if (!mock_true(v, "passthrough"))
			continue;
		real = json_get(s->config.mcp_servers, json_str(v, "name"));
		if (real == NULL || read_server(&ctx, real, &server) == -1 ||
		    server.type != STDIO)
			spec_note(notes, FIELD_ERROR, spec_at(s->path,
			    s->mcp_mocks), "\"passthrough\" of the mock "
			    "\"%.*s\" needs a server of that name with a "
			    "command in config.mcp_servers",
			    STRF(utf8_cut(json_str(v, "name"), 80)));
	}
}

void
agent_mcp_check(const struct spec_suite *s, struct spec_notes *notes)
{
	const struct json *v = s->config.mcp_servers;

	check_passthrough(s, notes);

	if (json_is_set(v) && v->type != JSON_OBJECT)
		spec_note(notes, FIELD_ERROR, spec_at(s->path, v),
		    "\"mcp_servers\" must be a mapping of names to servers");
	else
		for (v = json_first(v); v != NULL; v = v->next)
			check_server(v, s->path, notes);
}

static const char *
find_program(struct arena *a, const struct spec_suite *s, struct str name)
{
	char *p = arena_cstr(a, name), *found;

	if (p == NULL)
		return "";
	if (strchr(p, '/') != NULL)
		return os_absolute(a, spec_path(a, s->dir, name));
	found = os_find(a, p);
	return found != NULL ? os_absolute(a, found) : p;
}

/* The words before the arguments; returns their number, at most 5. */
static size_t
start_words(struct arena *a, const struct spec_suite *s,
    const struct server *v, const char **word)
{
	const char *program = find_program(a, s, v->command);
	size_t n = 0;

	if (v->cwd.n > 0) {
		word[n++] = "/bin/sh";
		word[n++] = "-c";
		word[n++] = "cd \"$0\" && exec \"$@\"";
		word[n++] = os_absolute(a, spec_path(a, s->dir, v->cwd));
	}
	word[n++] = program;
	return n;
}

/* {NAME: value}, or [{name, value}] as ACP has it. */
static void
put_pairs(struct json_out *o, const char *key, const struct json *map,
    bool list)
{
	const struct json *v;

	json_open_member(o, key, list ? '[' : '{');
	for (v = json_first(map); v != NULL; v = v->next)
		if (list) {
			json_open(o, '{');
			json_put_member_str(o, "name", json_key(v));
			json_put_member_str(o, "value", agent_scalar(v));
			json_close(o, '}');
		} else {
			json_put_key(o, json_key(v));
			json_put_str(o, agent_scalar(v));
		}
	json_close(o, list ? ']' : '}');
}

/* A server to be written: of the suite, or a mock before it or alone. */
struct entry {
	struct arena *arena;
	const struct spec_suite *suite;
	const struct agent_request *req;
	enum agent_mcp_form form;
	struct str name;
	struct server server;
	const char *mock;		/* file of its mock; NULL: none */
	bool real;			/* the server is used */
};

/* waza mcp-mock --name=NAME --calls=FILE FILE [-- COMMAND] */
static void
put_mock_words(struct json_out *o, const struct entry *x)
{
	struct arena *a = x->arena;

	json_put_cstr(o, "mcp-mock");
	json_put_str(o, arena_fmt(a, "--name=%.*s", STRF(x->name)));
	json_put_str(o, arena_fmt(a, "--calls=%s/" MOCK_LOG, x->req->mocks));
	json_put_cstr(o, x->mock);
	if (x->real)
		json_put_cstr(o, "--");
}

static void
put_args(struct json_out *o, const struct entry *x, const char **word,
    size_t n)
{
	size_t i;

	if (x->mock != NULL)
		put_mock_words(o, x);
	for (i = x->mock != NULL ? 0 : 1; i < n; i++)
		json_put_cstr(o, word[i]);
	for (i = 0; i < x->server.args.n && x->real; i++)
		json_put_str(o, x->server.args.v[i]);
}

static void
put_command(struct json_out *o, const struct entry *x)
{
	const char *word[5], *program;
	size_t n = !x->real ? 0 : start_words(x->arena, x->suite, &x->server,
	    word);

	program = x->mock != NULL ? os_self(x->arena) : word[0];
	program = program != NULL ? program : "waza";
	if (x->form == AGENT_MCP_OPENCODE) {
		json_open_member(o, "command", '[');
		json_put_cstr(o, program);
	} else {
		json_put_member_cstr(o, "command", program);
		json_open_member(o, "args", '[');
	}
	put_args(o, x, word, n);
	json_close(o, ']');
	put_pairs(o, x->form == AGENT_MCP_OPENCODE ? "environment" : "env",
	    x->server.env, x->form == AGENT_MCP_LIST);
}

static void
put_url(struct json_out *o, const struct entry *x)
{
	json_put_member_str(o, x->form == AGENT_MCP_GEMINI &&
	    x->server.type == HTTP ? "httpUrl" : "url", x->server.url);
	put_pairs(o, x->form == AGENT_MCP_TOML ? "http_headers" : "headers",
	    x->server.headers, x->form == AGENT_MCP_LIST);
}

static void
put_type(struct json_out *o, const struct entry *x)
{
	bool stdio = x->server.type == STDIO;

	if (x->form == AGENT_MCP_OPENCODE)
		json_put_member_cstr(o, "type", stdio ? "local" : "remote");
	else if (x->form == AGENT_MCP_MAP || (x->form == AGENT_MCP_LIST &&
	    !stdio))			/* ACP: stdio has no type */
		json_put_member_cstr(o, "type", types[x->server.type]);
}

static void
put_entry(struct json_out *o, const struct entry *x)
{
	if (x->form != AGENT_MCP_LIST)
		json_put_key(o, x->name);
	json_open(o, '{');
	if (x->form == AGENT_MCP_LIST)
		json_put_member_str(o, "name", x->name);
	put_type(o, x);
	if (x->server.type == STDIO)
		put_command(o, x);
	else
		put_url(o, x);
	if (x->form == AGENT_MCP_GEMINI && x->mock != NULL)
		json_put_member_bool(o, "trust", true);
	if (x->form == AGENT_MCP_TOML && x->mock != NULL)	/* never ask */
		json_put_member_cstr(o, "default_tools_approval_mode",
		    "approve");
	if (x->form == AGENT_MCP_OPENCODE)
		json_put_member_bool(o, "enabled", true);
	if (x->form == AGENT_MCP_MAP && x->server.tools != NULL)
		json_put_member(o, "tools", x->server.tools);
	else if (x->form == AGENT_MCP_MAP)	/* Copilot needs it */
		json_put_member_raw(o, "tools", STR("[\"*\"]"));
	if (x->form == AGENT_MCP_MAP && x->server.timeout != NULL)
		json_put_member(o, "timeout", x->server.timeout);
	json_close(o, '}');
}

/* The mock of that name for the request, or NULL; its number is *i. */
static const struct json *
mock_of(const struct spec_suite *s, const struct agent_request *r,
    struct str name, size_t *i)
{
	const struct json *v;

	*i = 0;
	if (r == NULL || r->mocks == NULL)
		return NULL;
	for (v = json_first(s->mcp_mocks); v != NULL; v = v->next, ++*i)
		if (str_eq(json_str(v, "name"), name))
			return v;
	return NULL;
}

bool
agent_mcp_any(const struct spec_suite *s, const struct agent_request *r)
{
	return r->sample == 0 && (json_first(s->config.mcp_servers) != NULL ||
	    (r->mocks != NULL && json_first(s->mcp_mocks) != NULL));
}

/* The mocks of a request; the real server only where it is used. */
static void
put_mocks(struct json_out *o, struct entry *x)
{
	struct field_ctx ctx = { .arena = x->arena, .flags = FIELD_LAX };
	const struct spec_suite *s = x->suite;
	const struct json *v, *real;
	size_t i = 0;

	for (v = json_first(s->mcp_mocks); v != NULL; v = v->next, i++) {
		x->name = json_str(v, "name");
		real = json_get(s->config.mcp_servers, x->name);
		x->mock = agent_mock_file(x->arena, x->req->mocks, i);
		x->real = mock_true(v, "passthrough") &&
		    real != NULL && read_server(&ctx, real, &x->server) == 0;
		if (!x->real)
			x->server = (struct server){ .type = STDIO };
		x->server.tools = NULL;
		put_entry(o, x);
	}
}

void
agent_mcp_put(struct json_out *o, const struct spec_suite *s,
    const struct agent_request *r, enum agent_mcp_form form)
{
	struct arena a = { 0 };
	struct field_ctx ctx = { .arena = &a, .flags = FIELD_LAX };
	struct entry x = { .arena = &a, .suite = s, .req = r, .form = form,
		.real = true };
	const struct json *v;
	size_t i;

	json_open(o, form == AGENT_MCP_LIST ? '[' : '{');
	for (v = json_first(s->config.mcp_servers); v != NULL; v = v->next) {
		x.name = json_key(v);
		if (mock_of(s, r, x.name, &i) == NULL &&
		    read_server(&ctx, v, &x.server) == 0)
			put_entry(o, &x);
	}
	if (r->mocks != NULL)
		put_mocks(o, &x);
	json_close(o, form == AGENT_MCP_LIST ? ']' : '}');
	arena_free(&a);
}

/* JSON as an inline table of TOML; strings are spelt alike. */
static void
put_toml(struct buf *b, const struct json *v)
{
	struct json_out o = { .put = buf_sink, .ctx = b };
	const struct json *m;

	if (v->type != JSON_OBJECT && v->type != JSON_ARRAY) {
		json_put(&o, v);
		return;
	}
	buf_putc(b, v->type == JSON_OBJECT ? '{' : '[');
	for (m = json_first(v); m != NULL; m = m->next) {
		if (m != json_first(v))
			buf_putc(b, ',');
		if (v->type == JSON_OBJECT) {
			json_put_str(&o, json_key(m));
			o = (struct json_out){ .put = buf_sink, .ctx = b };
			buf_putc(b, '=');
		}
		put_toml(b, m);
	}
	buf_putc(b, v->type == JSON_OBJECT ? '}' : ']');
}

struct str
agent_mcp_toml(struct arena *a, const struct spec_suite *s,
    const struct agent_request *r)
{
	struct buf b = { 0 }, toml = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	agent_mcp_put(&o, s, r, AGENT_MCP_TOML);
	put_toml(&toml, arena_json(a, arena_take(a, &b), NULL));
	return arena_take(a, &toml);
}

const char *
agent_mcp_variable(struct arena *a, const char *name,
    const struct spec_suite *s, const struct agent_request *r,
    const char *const *env)
{
	const char *given = os_env_value(env, name);
	const struct json *old = given == NULL ? NULL : arena_json(a,
	    str_of(given), NULL), *v;
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };
	struct str text;

	json_open(&o, '{');
	for (v = json_first(old); v != NULL; v = v->next)
		if (!str_is(json_key(v), "mcp")) {
			json_put_key(&o, json_key(v));
			json_put(&o, v);
		}
	json_put_key(&o, STR("mcp"));
	agent_mcp_put(&o, s, r, AGENT_MCP_OPENCODE);
	json_close(&o, '}');
	text = arena_take(a, &b);
	return arena_fmt(a, "%s=%.*s", name, STRF(text)).p;
}

const char *
agent_mcp_file(struct arena *a, const struct spec_suite *s,
    const struct agent_request *r, struct err *e)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };
	const char *path = r->scratch == NULL ? NULL :
	    os_absolute(a, arena_fmt(a, "%smcp.json", r->scratch).p);
	int rc = -1;

	json_open(&o, '{');
	json_put_key(&o, STR("mcpServers"));
	agent_mcp_put(&o, s, r, AGENT_MCP_MAP);
	json_close(&o, '}');
	if (path == NULL)
		err_set(e, ERR_SCHEMA, "mcp_servers needs a workspace");
	else
		rc = os_write_file(path, buf_str(&b), e);
	buf_free(&b);
	return rc == 0 ? path : NULL;
}
