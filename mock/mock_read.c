/* SPDX-License-Identifier: ISC */
/*
 * Entries of `mcp_mocks` and `command_mocks`, decoded and checked.  Patterns
 * and schemas are compiled once here, to report them with their place, and
 * again when a call needs them.
 */
#include "mock/mock.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "json.h"
#include "lib/re/re.h"
#include "lib/schema/schema.h"

#define DELAY .min = 0, .max = MOCK_DELAY_MAX, \
	.help = "milliseconds before the response"
#define CALLS .min = 0, .max = MOCK_CALLS_MAX, \
	.help = "number of calls that a trial must make"

static const struct field reply_rows[] = {
	FIELD(mock_reply, match, FIELD_TREE,
	    .help = "arguments that are equal to those of the call"),
	FIELD(mock_reply, match_schema, FIELD_TREE,
	    .help = "JSON Schema that the arguments satisfy"),
	FIELD(mock_reply, match_regex, FIELD_TREE,
	    .schema = "\"type\":[\"object\",\"null\"],"
	    "\"additionalProperties\":{\"type\":\"string\"}",
	    .help = "names of arguments and patterns found in them"),
	{ .key = "return", .type = FIELD_TREE,
	    .off = offsetof(struct mock_reply, value),
	    .help = "value that the tool returns, as JSON text" },
	FIELD(mock_reply, result, FIELD_TREE,
	    .help = "whole MCP result, instead of return"),
	FIELD(mock_reply, error, FIELD_STR,
	    .help = "message of a failure, instead of return"),
	FIELD(mock_reply, delay_ms, FIELD_INT, DELAY),
};
static const struct field_table reply_table =
    FIELD_TABLE(mock_reply, reply_rows);

static const struct field tool_rows[] = {
	FIELD(mock_tool, description, FIELD_STR,
	    .help = "description of the tool for the model"),
	FIELD(mock_tool, input_schema, FIELD_TREE, .alias = "inputSchema",
	    .help = "JSON Schema of its arguments (default: any object)"),
	FIELD(mock_tool, responses, FIELD_OBJECTS, .sub = &reply_table,
	    .help = "responses; the first one that fits a call is used"),
	FIELD(mock_tool, expect_calls, FIELD_INT, CALLS),
};
const struct field_table mock_tool_table = FIELD_TABLE(mock_tool, tool_rows);

static const struct field server_rows[] = {
	FIELD(mock_server, name, FIELD_STR, .flags = FIELD_REQUIRED,
	    .help = "name of the MCP server; replaces the one in mcp_servers"),
	FIELD(mock_server, fixtures, FIELD_STR, .values = FIELD_FILES,
	    .flags = FIELD_PATH,
	    .help = "directory of JSON files with tools, or one such file"),
	FIELD(mock_server, tools, FIELD_TREE,
	    .sub = &mock_tool_table, .shape = FIELD_AS_MAP,
	    .help = "tools by name; they replace those of fixtures"),
	FIELD(mock_server, passthrough, FIELD_BOOL,
	    .help = "give calls without a response to the server in mcp_servers"),
	FIELD(mock_server, expect_calls, FIELD_INT, CALLS),
};
const struct field_table mock_server_table =
    FIELD_TABLE(mock_server, server_rows);

#define WORDS "\"type\":[\"array\",\"null\"]," \
	"\"items\":{\"type\":[\"string\",\"number\",\"boolean\"]}"
static const struct field output_rows[] = {
	FIELD(mock_output, args, FIELD_TREE, .schema = WORDS,
	    .help = "arguments that are equal to those of the call"),
	FIELD(mock_output, args_regex, FIELD_TREE, .schema = WORDS,
	    .help = "patterns that match the whole arguments, one for each"),
	FIELD(mock_output, environment, FIELD_TREE,
	    .help = "variables and values that the call must have"),
	FIELD(mock_output, workdir, FIELD_STR,
	    .help = "working directory in the workspace that it must have"),
	{ .key = "stdout", .type = FIELD_TREE,
	    .off = offsetof(struct mock_output, output),
	    .help = "text to print, or a value to print as JSON" },
	FIELD(mock_output, fixture, FIELD_STR, .values = FIELD_FILES,
	    .flags = FIELD_PATH,
	    .help = "file to print, instead of stdout"),
	{ .key = "stderr", .type = FIELD_STR,
	    .off = offsetof(struct mock_output, errors),
	    .help = "text to print to standard error" },
	FIELD(mock_output, exit_code, FIELD_INT, .min = 0, .max = 255,
	    .help = "exit status (default: 0)"),
	FIELD(mock_output, delay_ms, FIELD_INT, DELAY),
};
static const struct field_table output_table =
    FIELD_TABLE(mock_output, output_rows);

static const struct field command_rows[] = {
	FIELD(mock_command, name, FIELD_STR, .flags = FIELD_REQUIRED,
	    .help = "name of the command"),
	FIELD(mock_command, responses, FIELD_OBJECTS, .sub = &output_table,
	    .help = "responses; the first one that fits a call is used"),
	FIELD(mock_command, fixtures, FIELD_STR, .values = FIELD_FILES,
	    .flags = FIELD_PATH,
	    .help = "file with further responses, as command-record writes it"),
	FIELD(mock_command, passthrough, FIELD_BOOL,
	    .help = "run the real command for calls without a response"),
	FIELD(mock_command, expect_calls, FIELD_INT, CALLS),
};
const struct field_table mock_command_table =
    FIELD_TABLE(mock_command, command_rows);

static size_t PRINTF(4, 5)
wrong(const struct field_ctx *ctx, const struct json *v, const char *key,
    const char *fmt, ...)
{
	struct field_finding f = { .level = FIELD_ERROR, .line = v->line,
		.col = v->col, .path = str_of(ctx->path != NULL ? ctx->path :
		""), .key = str_of(key) };
	char msg[sizeof(((struct err *)0)->msg)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	f.msg = msg;
	if (ctx->report != NULL)
		ctx->report(ctx->ctx, &f);
	return 1;
}

static size_t
check_regex(const struct field_ctx *ctx, const struct json *v, const char *key)
{
	struct arena tmp = { 0 };
	struct err e = { 0 };
	size_t bad = 0;

	if (v->type == JSON_OBJECT || v->type == JSON_ARRAY)
		bad = wrong(ctx, v, key, "each pattern of \"%s\" must be a "
		    "string", key);
	else if (re_compile(&tmp, json_source(v), &e) == NULL)
		bad = wrong(ctx, v, key, "\"%s\": %s", key, e.msg);
	arena_free(&tmp);
	return bad;
}

static size_t
check_schema(const struct field_ctx *ctx, const struct json *v, const char *key)
{
	struct arena tmp = { 0 };
	struct err e = { 0 };
	size_t bad = 0;

	if (json_is_set(v) && schema_compile(&tmp, v, NULL, &e) == NULL)
		bad = wrong(ctx, v, key, "\"%s\": %s", key, e.msg);
	arena_free(&tmp);
	return bad;
}

/* A mapping, if it is given. */
static size_t
check_map(const struct field_ctx *ctx, const struct json *v, const char *key)
{
	return !json_is_set(v) || v->type == JSON_OBJECT ? 0 : wrong(ctx, v,
	    key, "\"%s\" must be a mapping, not %s", key,
	    json_type_name((enum json_type)v->type));
}

static size_t
check_reply(const struct field_ctx *ctx, const struct json *v,
    const struct mock_reply *r)
{
	int given = (json_getc(v, "return") != NULL) + (r->result != NULL) +
	    (r->error.p != NULL);
	const struct json *m;
	size_t bad = check_map(ctx, r->match, "match") +
	    check_map(ctx, r->match_regex, "match_regex") +
	    check_map(ctx, r->result, "result") +
	    check_schema(ctx, r->match_schema, "match_schema");

	if (given != 1)
		bad += wrong(ctx, v, "return", "a response needs \"return\" or "
		    "\"error\"%s", given > 1 ? ", only one of them" : "");
	for (m = json_first(r->match_regex); m != NULL; m = m->next)
		bad += check_regex(ctx, m, "match_regex");
	return bad;
}

size_t
mock_read_tool(const struct field_ctx *ctx, const struct json *v,
    struct str name, struct mock_tool *t)
{
	const struct json *r = json_first(json_getc(v, "responses"));
	const struct mock_reply *list;
	size_t i, bad;

	*t = (struct mock_tool){ .expect_calls = -1 };
	bad = v->type != JSON_OBJECT ? wrong(ctx, v, "tools", "a tool must be "
	    "a mapping, not %s", json_type_name((enum json_type)v->type)) :
	    field_decode(ctx, &mock_tool_table, v, t);
	t->name = name;
	if (bad > 0)
		return bad;
	bad += check_map(ctx, t->input_schema, "input_schema") +
	    check_schema(ctx, t->input_schema, "input_schema");
	list = t->responses.v;
	for (i = 0; i < t->responses.n && r != NULL; i++, r = r->next)
		bad += check_reply(ctx, r, &list[i]);
	return bad;
}

size_t
mock_read_server(const struct field_ctx *ctx, const struct json *v,
    struct mock_server *s)
{
	size_t bad;

	*s = (struct mock_server){ .expect_calls = -1 };
	bad = field_decode(ctx, &mock_server_table, v, s);
	if (bad == 0 && str_trim(s->name).n == 0)
		bad = wrong(ctx, v, "name", "\"name\" is empty: name the MCP "
		    "server");
	return bad + check_map(ctx, s->tools, "tools");
}

/* Relative and without "..": it cannot leave its directory. */
static bool
is_below(struct str s)
{
	size_t i, from = 0;

	if (s.n == 0 || s.p[0] == '/' || memchr(s.p, '\0', s.n) != NULL)
		return false;
	for (i = 0; i <= s.n; i++)
		if (i == s.n || s.p[i] == '/') {
			if (i - from == 2 && memcmp(s.p + from, "..", 2) == 0)
				return false;
			from = i + 1;
		}
	return true;
}

static size_t
check_words(const struct field_ctx *ctx, const struct json *list,
    const char *key)
{
	const struct json *v;
	size_t bad = 0;

	if (list->type != JSON_ARRAY)
		return wrong(ctx, list, key, "\"%s\" must be a list, not %s",
		    key, json_type_name((enum json_type)list->type));
	for (v = json_first(list); v != NULL; v = v->next)
		if (strcmp(key, "args_regex") == 0)
			bad += check_regex(ctx, v, key);
		else if (v->type == JSON_OBJECT || v->type == JSON_ARRAY ||
		    v->type == JSON_NULL)
			bad += wrong(ctx, v, key, "each word of \"args\" must "
			    "be a string, not %s",
			    json_type_name((enum json_type)v->type));
	return bad;
}

static size_t
check_environment(const struct field_ctx *ctx, const struct json *map)
{
	const struct json *v;
	size_t bad = check_map(ctx, map, "environment");

	for (v = bad > 0 ? NULL : json_first(map); v != NULL; v = v->next)
		if (str_trim(json_key(v)).n == 0 || v->type == JSON_OBJECT ||
		    v->type == JSON_ARRAY ||
		    memchr(json_key(v).p, '=', json_key(v).n) != NULL ||
		    memchr(json_key(v).p, '\0', json_key(v).n) != NULL)
			bad += wrong(ctx, v, "environment", "\"environment\" "
			    "must be a mapping of names of variables to "
			    "strings");
	return bad;
}

static size_t
check_output(const struct field_ctx *ctx, const struct json *v,
    const struct mock_output *o)
{
	size_t bad = check_environment(ctx, o->environment);

	if ((o->args != NULL) == (o->args_regex != NULL))
		bad += wrong(ctx, v, "args", "a response needs \"args\" or "
		    "\"args_regex\"%s", o->args != NULL ?
		    ", only one of them" : " (args: [] fits a call without "
		    "arguments)");
	if (o->args != NULL)
		bad += check_words(ctx, o->args, "args");
	if (o->args_regex != NULL)
		bad += check_words(ctx, o->args_regex, "args_regex");
	if (o->output != NULL && o->fixture.p != NULL)
		bad += wrong(ctx, v, "fixture", "\"stdout\" and \"fixture\" "
		    "exclude each other");
	if (o->fixture.p != NULL && !is_below(o->fixture))
		bad += wrong(ctx, json_getc(v, "fixture"), "fixture",
		    "\"fixture\" must be a path below the suite, without "
		    "\"..\"");
	if (o->workdir.p != NULL && !is_below(o->workdir))
		bad += wrong(ctx, json_getc(v, "workdir"), "workdir",
		    "\"workdir\" must be a path in the workspace, without "
		    "\"..\"");
	return bad;
}

bool
mock_is_command_name(struct str s)
{
	size_t i;
	char c;

	for (i = 0; i < s.n; i++) {
		c = s.p[i];
		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		    (c >= '0' && c <= '9') || (i > 0 && (c == '.' ||
		    c == '_' || c == '-'))))
			return false;
	}
	return s.n > 0 && s.n <= 100;
}

size_t
mock_read_command(const struct field_ctx *ctx, const struct json *v,
    struct mock_command *c)
{
	const struct json *r = json_first(json_getc(v, "responses"));
	const struct mock_output *list;
	size_t i, bad;

	*c = (struct mock_command){ .expect_calls = -1 };
	bad = field_decode(ctx, &mock_command_table, v, c);
	if (bad > 0)
		return bad;
	if (!mock_is_command_name(c->name))
		bad += wrong(ctx, json_getc(v, "name"), "name", "\"%.*s\" is "
		    "not the name of a command: use letters, digits, \".\", "
		    "\"_\" and \"-\"", STRF(utf8_cut(c->name, 80)));
	list = c->responses.v;
	for (i = 0; i < c->responses.n && r != NULL; i++, r = r->next)
		bad += check_output(ctx, r, &list[i]);
	return bad;
}

int
mock_find_command(struct arena *a, const struct json *list, struct str name,
    struct mock_command *c)
{
	struct field_ctx ctx = { .arena = a, .flags = FIELD_LAX };
	const struct json *v;

	*c = (struct mock_command){ .expect_calls = -1 };
	for (v = json_first(list); v != NULL; v = v->next)
		if (str_eq(json_str(v, "name"), name))
			return field_decode(&ctx, &mock_command_table, v,
			    c) > 0 ? -1 : 1;
	return 0;
}

bool
mock_true(const struct json *obj, const char *key)
{
	const struct json *v = json_getc(obj, key);

	return v != NULL && v->type == JSON_BOOL && json_bool(v);
}
