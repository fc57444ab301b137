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
#include "json.h"
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

void
agent_mcp_check(const struct spec_suite *s, struct spec_notes *notes)
{
	const struct json *v = s->config.mcp_servers;

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

static void
put_command(struct json_out *o, struct arena *a, const struct spec_suite *s,
    const struct server *v, bool list)
{
	const char *word[5];
	size_t i, n = start_words(a, s, v, word);

	json_put_member_cstr(o, "command", word[0]);
	json_open_member(o, "args", '[');
	for (i = 1; i < n; i++)
		json_put_cstr(o, word[i]);
	for (i = 0; i < v->args.n; i++)
		json_put_str(o, v->args.v[i]);
	json_close(o, ']');
	put_pairs(o, "env", v->env, list);
}

static void
put_server(struct json_out *o, struct arena *a, const struct spec_suite *s,
    const struct server *v, bool list)
{
	if (v->type != STDIO || !list)		/* ACP: stdio has no type */
		json_put_member_cstr(o, "type", types[v->type]);
	if (v->type == STDIO)
		put_command(o, a, s, v, list);
	else {
		json_put_member_str(o, "url", v->url);
		put_pairs(o, "headers", v->headers, list);
	}
}

void
agent_mcp_put(struct json_out *o, const struct spec_suite *s, bool list)
{
	struct arena a = { 0 };
	struct field_ctx ctx = { .arena = &a, .flags = FIELD_LAX };
	const struct json *v;
	struct server m;

	json_open(o, list ? '[' : '{');
	for (v = json_first(s->config.mcp_servers); v != NULL; v = v->next) {
		if (read_server(&ctx, v, &m) == -1)
			continue;
		if (!list)
			json_put_key(o, json_key(v));
		json_open(o, '{');
		if (list)
			json_put_member_str(o, "name", json_key(v));
		put_server(o, &a, s, &m, list);
		if (!list && m.tools != NULL)
			json_put_member(o, "tools", m.tools);
		else if (!list)		/* Copilot needs it */
			json_put_member_raw(o, "tools", STR("[\"*\"]"));
		if (!list && m.timeout != NULL)
			json_put_member(o, "timeout", m.timeout);
		json_close(o, '}');
	}
	json_close(o, list ? ']' : '}');
	arena_free(&a);
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
	agent_mcp_put(&o, s, false);
	json_close(&o, '}');
	if (path == NULL)
		err_set(e, ERR_SCHEMA, "mcp_servers needs a workspace");
	else
		rc = os_write_file(path, buf_str(&b), e);
	buf_free(&b);
	return rc == 0 ? path : NULL;
}
