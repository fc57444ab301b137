/* SPDX-License-Identifier: ISC */
/*
 * Identification of a peer (hello, initialize) and its tools.
 */
#include "rpc/tool.h"

#include <string.h>

#include "rpc/rpc_internal.h"

enum {
	REFUSED_MAX = 3,	/* wrong tokens before disconnecting */
	NAME_MAX_BYTES = 200,	/* of the name in hello */
	COMMANDS_MAX = 64,	/* at the same time */
	TWICE_MAX = 16 << 10,	/* bytes of a result that is sent twice */
	ERROR_BYTES = 300
};

static void
put_server(struct rpc_call *c, const char *key)
{
	json_open_member(&c->out, key, '{');
	json_put_member_str(&c->out, "name", STR("waza"));
	json_put_member_str(&c->out, "version", str_of(c->rpc->version));
	json_close(&c->out, '}');
}

/*
 * hello
 */
struct hello_params {
	struct str name, version, agent, token;
	const struct json *pid;
};
static const struct field hello_rows[] = {
	FIELD(hello_params, name, FIELD_STR, .help = "of the client"),
	FIELD(hello_params, version, FIELD_STR, .help = "of the client"),
	FIELD(hello_params, agent, FIELD_STR, .help = "the agent it works for"),
	FIELD(hello_params, pid, FIELD_TREE, .help = "of its process"),
	FIELD(hello_params, token, FIELD_STR,
	    .help = "if the server requires one"),
};
static const struct field_table hello_table =
    FIELD_TABLE(hello_params, hello_rows);

static enum rpc_status
refuse(struct rpc_call *c)
{
	struct rpc_peer *p = c->peer;

	if (++p->refused >= REFUSED_MAX)
		conn_finish(p->conn);
	return rpc_fail(c, RPC_AUTH_FAILED, NULL);
}

static bool
is_pid(const struct json *v)
{
	return v != NULL && (v->type == JSON_NUMBER || v->type == JSON_STRING);
}

static enum rpc_status
missing(struct rpc_call *c, const struct hello_params *p)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	json_open(&o, '[');
	if (p->name.n == 0)
		json_put_cstr(&o, "name");
	if (p->version.n == 0)
		json_put_cstr(&o, "version");
	if (p->agent.n == 0)
		json_put_cstr(&o, "agent");
	if (!is_pid(p->pid))
		json_put_cstr(&o, "pid");
	json_close(&o, ']');
	rpc_data_json(c, "fields", buf_str(&b));
	buf_free(&b);
	return rpc_fail(c, RPC_INVALID_REQUEST, "Missing required fields");
}

static struct str
keep_name(struct rpc_peer *p, struct str s)
{
	return arena_str(&p->arena, utf8_cut(s, NAME_MAX_BYTES));
}

static enum rpc_status
hello(struct rpc_call *c, void *params)
{
	const struct hello_params *h = params;
	struct rpc_peer *p = c->peer;

	if (rpc_needs_token(c->rpc, p->via) &&
	    (!p->authed || h->token.n > 0) &&
	    !rpc_same_secret(h->token, c->rpc->access.token))
		return refuse(c);
	if (h->name.n == 0 || h->version.n == 0 || h->agent.n == 0 ||
	    !is_pid(h->pid))
		return missing(c, h);
	if (!p->hello) {
		p->name = keep_name(p, h->name);
		p->version = keep_name(p, h->version);
		p->agent = keep_name(p, h->agent);
	}
	p->hello = p->authed = true;
	p->refused = 0;
	json_open(&c->out, '{');
	json_put_member_bool(&c->out, "success", true);
	json_put_member_str(&c->out, "message", STR("Client identified"));
	put_server(c, "server");
	json_close(&c->out, '}');
	return RPC_DONE;
}

/*
 * Small methods.
 */
static enum rpc_status
nothing(struct rpc_call *c, void *params)
{
	(void)params;
	json_open(&c->out, '{');
	json_close(&c->out, '}');
	return RPC_DONE;
}

/* MCP clients refuse a result that is not empty. */
static enum rpc_status
ping(struct rpc_call *c, void *params)
{
	if (c->peer->mcp)
		return nothing(c, params);
	buf_put(c->buf, STR("{\"status\":\"ok\"}"));
	return RPC_DONE;
}

struct initialize_params {
	struct str protocolVersion;
	const struct json *capabilities, *clientInfo;
};
static const struct field initialize_rows[] = {
	FIELD(initialize_params, protocolVersion, FIELD_STR,
	    .help = "of MCP, a date; missing: a client of LSP"),
	FIELD(initialize_params, capabilities, FIELD_TREE,
	    .help = "of the client"),
	FIELD(initialize_params, clientInfo, FIELD_TREE,
	    .help = "its name and version"),
};
static const struct field_table initialize_table =
    FIELD_TABLE(initialize_params, initialize_rows);

static const char *const versions[] = {	/* of MCP, the newest first */
	"2025-06-18", "2025-03-26", "2024-11-05"
};
enum { STRUCTURED = 0 };	/* the oldest that has structuredContent */

/* The client's version if it is supported, else the newest one. */
static size_t
agree(struct str wanted)
{
	size_t i;

	for (i = 0; i < COUNTOF(versions); i++)
		if (str_is(wanted, versions[i]))
			return i;
	return 0;
}

/* MCP and LSP begin with the same method; only MCP has a protocolVersion. */
static enum rpc_status
initialize(struct rpc_call *c, void *params)
{
	const struct initialize_params *p = params;
	const struct json *name = json_getc(p->clientInfo, "name");
	struct json_out *o = &c->out;
	size_t version = agree(p->protocolVersion);

	if (p->protocolVersion.p == NULL) {
		json_open(o, '{');
		json_put_member_raw(o, "capabilities", STR("{}"));
		put_server(c, "serverInfo");
		json_close(o, '}');
		return RPC_DONE;
	}
	c->peer->mcp = true;
	c->peer->structured = version <= STRUCTURED;
	if (c->peer->name.n == 0 && name != NULL && name->type == JSON_STRING)
		c->peer->name = keep_name(c->peer, json_text(name));
	json_open(o, '{');
	json_put_member_cstr(o, "protocolVersion", versions[version]);
	json_put_member_raw(o, "capabilities",
	    STR("{\"tools\":{\"listChanged\":false}}"));
	put_server(c, "serverInfo");
	json_put_member_cstr(o, "instructions", "Evaluates AI agents: find "
	    "suites with eval_list, check them with eval_validate, run them "
	    "with eval_run.");
	json_close(o, '}');
	return RPC_DONE;
}

struct cancelled_params {
	const struct json *requestId;
};
static const struct field cancelled_rows[] = {
	FIELD(cancelled_params, requestId, FIELD_TREE,
	    .help = "of the request to cancel"),
};
static const struct field_table cancelled_table =
    FIELD_TABLE(cancelled_params, cancelled_rows);

/* MCP, Cancellation: no response is sent for the request. */
static enum rpc_status
cancelled(struct rpc_call *c, void *params)
{
	const struct cancelled_params *p = params;

	rpc_stop(c->peer, p->requestId, false);
	return nothing(c, NULL);
}

static enum rpc_status
resources(struct rpc_call *c, void *params)
{
	(void)params;
	buf_put(c->buf, STR("{\"resources\":[],\"success\":true}"));
	return RPC_DONE;
}

/*
 * Methods as tools.
 */
/* eval_list, waza_eval_list, or eval.list itself. */
static bool
is_named(const struct rpc_method *m, struct str s)
{
	struct str name = str_of(m->name), prefix = STR("waza_");
	size_t i;

	if (str_starts(s, prefix)) {
		s.p += prefix.n;
		s.n -= prefix.n;
	}
	for (i = 0; i < name.n && i < s.n; i++)
		if (s.p[i] != name.p[i] && !(name.p[i] == '.' && s.p[i] == '_'))
			return false;
	return s.n == name.n;
}

static const struct rpc_method *
find_method(const struct rpc *r, struct str name)
{
	const struct rpc_method *m;
	size_t i;

	for (i = 0; (m = rpc_method(r, i)) != NULL; i++)
		if (m->flags & RPC_AS_TOOL && is_named(m, name))
			return m;
	return NULL;
}

static void
put_method_tool(struct json_out *o, struct arena *a, const struct rpc_method *m)
{
	char *name = arena_cstr(a, str_of(m->name)), *dot;

	while ((dot = strchr(name, '.')) != NULL)
		*dot = '_';
	json_open(o, '{');
	json_put_member_cstr(o, "name", name);
	json_put_member_cstr(o, "description", m->help);
	json_put_key(o, STR("inputSchema"));
	rpc_put_schema(o, m->tool_params != NULL ? m->tool_params :
	    m->params);
	json_close(o, '}');
}

static void
put_command_tool(struct json_out *o, const struct tool_command *t)
{
	json_open(o, '{');
	json_put_member_str(o, "name", t->name);
	json_put_member_str(o, "description", t->description);
	if (t->input_schema != NULL)
		json_put_member(o, "inputSchema", t->input_schema);
	else
		json_put_member_raw(o, "inputSchema",
		    STR("{\"type\":\"object\"}"));
	json_close(o, '}');
}

static enum rpc_status
list(struct rpc_call *c, void *params)
{
	const struct tools *tools = c->arg;
	const struct rpc_method *m;
	const struct json *v;
	struct tool_command t;
	size_t i;

	(void)params;
	json_open(&c->out, '{');
	json_open_member(&c->out, "tools", '[');
	for (i = 0; (m = rpc_method(c->rpc, i)) != NULL; i++)
		if (m->flags & RPC_AS_TOOL)
			put_method_tool(&c->out, c->arena, m);
	for (v = json_first(tools->commands); v != NULL; v = v->next)
		if (tool_find(c->arena, tools->commands, json_key(v), &t))
			put_command_tool(&c->out, &t);
	json_close(&c->out, ']');
	json_close(&c->out, '}');
	return RPC_DONE;
}

/*
 * tools/call
 */
struct call_params {
	struct str name;
	const struct json *arguments, *meta;
};
static const struct field call_rows[] = {
	FIELD(call_params, name, FIELD_STR, .flags = FIELD_REQUIRED,
	    .help = "of the tool"),
	FIELD(call_params, arguments, FIELD_TREE, .help = "an object"),
	{ .key = "_meta", .type = FIELD_TREE,
	    .off = offsetof(struct call_params, meta),
	    .help = "an object with a progressToken (MCP)" },
};
static const struct field_table call_table =
    FIELD_TABLE(call_params, call_rows);

static bool
is_mcp(const struct rpc_call *c)
{
	return c->peer != NULL && c->peer->mcp;
}

/*
 * Hosts show models the text and ignore structuredContent, so all data is in
 * the text; small results are in both, as MCP recommends.
 */
static void
put_content(struct rpc_call *c, struct str text, const struct json *v,
    bool failed)
{
	struct json_out *o = &c->out;

	json_open_member(o, "content", '[');
	json_open(o, '{');
	json_put_member_cstr(o, "type", "text");
	json_put_member_str(o, "text", text);
	json_close(o, '}');
	json_close(o, ']');
	if (v != NULL && v->type == JSON_OBJECT && c->peer->structured &&
	    text.n <= TWICE_MAX)
		json_put_member(o, "structuredContent", v);
	json_put_member_bool(o, "isError", failed);
}

void
tool_put(struct rpc_call *c, struct str text, bool failed)
{
	struct json_out *o = &c->out;
	const struct json *v = failed ? NULL :
	    arena_json(c->arena, text, NULL);

	if (text.n > 0 && text.p[text.n - 1] == '\n')
		text.n--;
	json_open(o, '{');
	if (is_mcp(c))
		put_content(c, text, v, failed);
	else {
		json_put_member_bool(o, "success", !failed);
		json_put_member_str(o, "result", text);
		if (v != NULL && (v->type == JSON_OBJECT ||
		    v->type == JSON_ARRAY))
			json_put_member(o, "structured", v);
	}
	json_close(o, '}');
}

void
tool_answer(struct rpc_call *c, struct str text)
{
	rpc_begin(c);
	tool_put(c, text, false);
	rpc_done(c);
}

void
tool_fail(struct rpc_call *c, enum rpc_kind kind, struct str text)
{
	if (is_mcp(c)) {
		rpc_begin(c);
		tool_put(c, text, true);
		rpc_done(c);
		return;
	}
	rpc_fail(c, kind, "%.*s", STRF(utf8_cut(text, ERROR_BYTES)));
	rpc_failed(c);
}

/*
 * For MCP the failure of a tool is a result, whose text is all that a model
 * sees: it includes the errors of a suite, one on each line.
 */
static enum rpc_status
failed(struct rpc_call *c)
{
	struct buf b = { 0 }, data = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &data };
	const struct json *v;

	if (!is_mcp(c))
		return RPC_FAIL;
	json_open(&o, '{');
	rpc_put_data(&o, c);
	json_close(&o, '}');
	v = json_getc(arena_json(c->arena, buf_str(&data), NULL), "errors");
	buf_put(&b, c->message);
	for (v = v != NULL ? json_first(v) : NULL; v != NULL; v = v->next)
		buf_fmt(&b, "\n%.*s", STRF(json_text(v)));
	tool_put(c, buf_str(&b), true);
	buf_free(&data);
	buf_free(&b);
	return RPC_DONE;
}

/* Answers with the summary of the run, which is an object, and its id. */
static void
run_over(struct rpc_call *c, enum rpc_kind kind, struct str text)
{
	const struct rpc_run *r = c->state;
	struct buf b = { 0 };

	if (kind == RPC_KIND__MAX) {
		buf_fmt(&b, "{\"runId\":\"%s\",", r->id);
		buf_put(&b, (struct str){ text.p + 1, text.n - 1 });
		tool_answer(c, buf_str(&b));
		buf_free(&b);
		return;
	}
	rpc_data(c, "runId", str_of(r->id));
	tool_fail(c, kind, text);
}

static enum rpc_status
call_method(struct rpc_call *c, const struct rpc_method *m,
    const struct call_params *p, const struct json *arguments)
{
	bool run = strcmp(m->name, "eval.run") == 0;
	struct buf b = { 0 };
	enum rpc_status status = run ?
	    rpc_run_tool(c, arguments, &b, run_over) :
	    rpc_forward(c, m, arguments, &b);

	if (status == RPC_LATER)
		tool_progress(c->state, json_getc(p->meta, "progressToken"));
	if (status == RPC_DONE)
		tool_put(c, buf_str(&b), false);
	buf_free(&b);
	return status == RPC_FAIL ? failed(c) : status;
}

static enum rpc_status
call(struct rpc_call *c, void *params)
{
	const struct call_params *p = params;
	const struct json *args = p->arguments;
	const struct rpc_method *m = find_method(c->rpc, p->name);
	const struct tools *tools = c->arg;
	struct tool_command t;

	if (args != NULL && args->type == JSON_NULL)
		args = NULL;
	if (args != NULL && args->type != JSON_OBJECT) {
		rpc_data(c, "field", STR("arguments"));
		return rpc_fail(c, RPC_INVALID_PARAMS,
		    "Invalid params: \"arguments\" must be an object");
	}
	if (tool_find(c->arena, tools->commands, p->name, &t)) {
		enum rpc_status status = tool_run(c, &t, args);

		return status == RPC_FAIL ? failed(c) : status;
	}
	if (m != NULL)
		return call_method(c, m, p, args);
	if (str_is(p->name, "ping")) {
		tool_put(c, STR("{\"status\":\"ok\"}"), false);
		return RPC_DONE;
	}
	rpc_data(c, "tool", p->name);
	return rpc_fail(c, RPC_TOOL_UNKNOWN, "Unknown tool: %.*s",
	    STRF(utf8_cut(p->name, 100)));
}

#define ROW(n, gate, table, function, text) { .name = n, .family = RPC_TOOL, \
	.flags = gate, .params = table, .fn = function, .help = text }
static const struct rpc_method methods[] = {
	ROW("hello", RPC_OPEN, &hello_table, hello,
	    "identify the client and show the token"),
	ROW("initialize", 0, &initialize_table, initialize,
	    "begin a session of the Model Context Protocol"),
	ROW("notifications/cancelled", 0, &cancelled_table, cancelled,
	    "cancel a request (MCP)"),
	ROW("notifications/initialized", 0, NULL, nothing,
	    "the client is ready (MCP)"),
	ROW("ping", 0, NULL, ping, "check that the server responds"),
	ROW("resources/list", RPC_HELLO, NULL, resources,
	    "list resources; there are none"),
	ROW("tools/call", RPC_HELLO | RPC_SLOW, &call_table, call,
	    "call a tool"),
	ROW("tools/list", RPC_HELLO, NULL, list, "list the tools"),
};
static const struct rpc_module tool_module = { .methods = methods,
	.nmethods = COUNTOF(methods) };

void
tool_add(struct rpc *r, struct tools *t)
{
	if (t->max == 0)
		t->max = COMMANDS_MAX;
	rpc_add(r, &tool_module, t);
}
