/* SPDX-License-Identifier: ISC */
/*
 * A mocked MCP server over stdio (MCP, Transports: a message per line).
 *
 * Without a real server it answers initialize, ping, tools/list and tools/call.
 * With one it is a proxy: it answers the calls that have a response, adds its
 * tools to the list, and forwards everything else unchanged, in both
 * directions.
 */
#include "mock/mock_internal.h"

#include <string.h>
#include <unistd.h>

#include "base/os.h"

enum {
	PARSE_ERROR = -32700, INVALID_REQUEST = -32600, NO_METHOD = -32601,
	INVALID_PARAMS = -32602
};

static const char *const versions[] = {	/* of MCP, the newest first */
	"2025-06-18", "2025-03-26", "2024-11-05"
};

void
mock_send(struct mock_link *l, struct str message)
{
	if (l->conn != NULL)
		conn_send(l->conn, message);
}

/* {"jsonrpc":"2.0","id":ID,"result": or "error": open for its value. */
static struct json_out
begin(struct buf *b, const struct json *id, const char *key)
{
	struct json_out o = { .put = buf_sink, .ctx = b };

	json_open(&o, '{');
	json_put_member_cstr(&o, "jsonrpc", "2.0");
	json_put_member(&o, "id", id);
	json_put_key(&o, str_of(key));
	return o;
}

static void
send_buf(struct mock_link *l, struct buf *b)
{
	mock_send(l, buf_str(b));
	buf_free(b);
}

static void
refuse(struct mock_link *l, const struct json *id, int code, const char *msg)
{
	struct buf b = { 0 };
	struct json_out o = begin(&b, id, "error");

	json_open(&o, '{');
	json_put_member_int(&o, "code", code);
	json_put_member_cstr(&o, "message", msg);
	json_close(&o, '}');
	json_close(&o, '}');
	send_buf(l, &b);
}

static const char *
agree(struct str wanted)
{
	size_t i;

	for (i = 0; i < COUNTOF(versions); i++)
		if (str_is(wanted, versions[i]))
			return versions[i];
	return versions[0];
}

static void
initialize(struct mock_link *l, struct arena *a, const struct json *id,
    const struct json *params)
{
	struct buf b = { 0 };
	struct json_out o = begin(&b, id, "result");

	(void)a;
	json_open(&o, '{');
	json_put_member_cstr(&o, "protocolVersion", agree(json_str(params,
	    "protocolVersion")));
	json_put_member_raw(&o, "capabilities", STR("{\"tools\":{}}"));
	json_open_member(&o, "serverInfo", '{');
	json_put_member_str(&o, "name", l->o->name);
	json_put_member_cstr(&o, "version", "0.0.0-mock");
	json_close(&o, '}');
	json_close(&o, '}');
	json_close(&o, '}');
	send_buf(l, &b);
}

static void
ping(struct mock_link *l, struct arena *a, const struct json *id,
    const struct json *params)
{
	struct buf b = { 0 };
	struct json_out o = begin(&b, id, "result");

	(void)a;
	(void)params;
	json_put_raw(&o, STR("{}"));
	json_close(&o, '}');
	send_buf(l, &b);
}

void
mock_put_list(struct json_out *o, const struct mock_tools *t)
{
	const struct json *schema;
	size_t i;

	for (i = 0; i < t->n; i++) {
		schema = json_getc(t->v[i].tree, "input_schema");
		if (schema == NULL)
			schema = json_getc(t->v[i].tree, "inputSchema");
		json_open(o, '{');
		json_put_member_str(o, "name", t->v[i].name);
		json_put_member_nonempty(o, "description",
		    json_str(t->v[i].tree, "description"));
		if (schema != NULL && schema->type == JSON_OBJECT)
			json_put_member(o, "inputSchema", schema);
		else
			json_put_member_raw(o, "inputSchema",
			    STR("{\"type\":\"object\"}"));
		json_close(o, '}');
	}
}

static void
list(struct mock_link *l, struct arena *a, const struct json *id,
    const struct json *params)
{
	struct buf b = { 0 };
	struct json_out o = begin(&b, id, "result");

	(void)a;
	(void)params;
	json_open(&o, '{');
	json_open_member(&o, "tools", '[');
	mock_put_list(&o, l->o->tools);
	json_close(&o, ']');
	json_close(&o, '}');
	json_close(&o, '}');
	send_buf(l, &b);
}

int
mock_log_call(struct mock_link *l, struct str tool, struct str arguments,
    struct str result, bool is_error, int response)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };
	struct err e = { 0 };
	int rc = 0;

	json_open(&o, '{');
	json_put_member_str(&o, "server", l->o->name);
	json_put_member_str(&o, "tool", tool);
	json_put_member_raw(&o, "arguments", arguments.n > 0 ? arguments :
	    STR("{}"));
	json_put_member_raw(&o, "result", result.n > 0 ? result :
	    STR("null"));
	json_put_member_bool(&o, "is_error", is_error);
	json_put_member_int(&o, "response_index", response);
	if (response == -1 && l->o->real != NULL)
		json_put_member_bool(&o, "passthrough", true);
	json_close(&o, '}');
	if (l->o->calls != NULL)
		rc = mock_log(l->o->calls, buf_str(&b), &e);
	buf_free(&b);
	if (rc == -1 && l->err.code == ERR_NONE)
		l->err = e;
	return rc;
}

/* The whole result of a call with one text. */
static struct str
text_result(struct arena *a, struct str text, bool is_error)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	json_open(&o, '{');
	json_open_member(&o, "content", '[');
	json_open(&o, '{');
	json_put_member_cstr(&o, "type", "text");
	json_put_member_str(&o, "text", text);
	json_close(&o, '}');
	json_close(&o, ']');
	json_put_member_bool(&o, "isError", is_error);
	json_close(&o, '}');
	return arena_take(a, &b);
}

static struct str
json_of(struct arena *a, const struct json *v)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	json_put(&o, v);
	return arena_take(a, &b);
}

static struct str
quoted(struct arena *a, struct str s)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	json_put_str(&o, s);
	return arena_take(a, &b);
}

static void
drop_delayed(struct mock_delayed *d)
{
	timer_stop(d->link->loop, &d->timer);
	LIST_REMOVE(d);
	arena_free(&d->arena);
}

static void
on_delay(void *arg)
{
	struct mock_delayed *d = arg;
	struct mock_link *l = d->link;

	mock_send(l, d->message);
	drop_delayed(d);
	mock_check_end(l);
}

static void
send_later(struct mock_link *l, const struct json *id, struct str message,
    int64_t ms)
{
	struct arena own = { 0 };
	struct mock_delayed *d = NEW(&own, struct mock_delayed);

	d->link = l;
	d->id = json_of(&own, id);
	d->message = arena_str(&own, message);
	d->arena = own;
	LIST_PUSH(&l->delayed, d);
	timer_once(l->loop, &d->timer, ms, on_delay, d);
}

struct call {
	struct mock_link *link;
	struct arena *arena;
	const struct json *id, *arguments;
	struct str tool;
};

/* Sends and records the result of a call. */
static void
reply(struct call *c, struct str result, struct str value, bool is_error,
    const struct mock_reply *r, int index)
{
	struct buf b = { 0 };
	struct json_out o = begin(&b, c->id, "result");

	if (mock_log_call(c->link, c->tool, c->arguments != NULL ?
	    json_of(c->arena, c->arguments) : STR(""), value, is_error,
	    index) == -1)
		result = text_result(c->arena, STR("the mock cannot record "
		    "the call"), true);
	json_put_raw(&o, result);
	json_close(&o, '}');
	if (r != NULL && r->delay_ms > 0)
		send_later(c->link, c->id, buf_str(&b), r->delay_ms);
	else
		mock_send(c->link, buf_str(&b));
	buf_free(&b);
}

static void
fail(struct call *c, struct str why, const struct mock_reply *r, int index)
{
	struct str text = arena_fmt(c->arena, "mock server \"%.*s\", tool "
	    "\"%.*s\": %.*s", STRF(c->link->o->name), STRF(c->tool),
	    STRF(why));

	reply(c, text_result(c->arena, text, true), quoted(c->arena, text),
	    true, r, index);
}

static void
succeed(struct call *c, const struct mock_reply *r, int index)
{
	struct str value = json_of(c->arena, r->value);

	if (r->error.p != NULL)
		fail(c, r->error, r, index);
	else if (r->result != NULL)
		reply(c, json_of(c->arena, r->result), json_of(c->arena,
		    r->result), mock_true(r->result, "isError"),
		    r, index);
	else
		reply(c, text_result(c->arena, value, false), value, false, r,
		    index);
}

/* Whether the mock answers the call; otherwise the real server does. */
static bool
answer(struct call *c)
{
	const struct mock_entry *entry = mock_find_entry(c->link->o->tools,
	    c->tool);
	struct field_ctx ctx = { .arena = c->arena, .flags = FIELD_LAX };
	bool last = c->link->o->real == NULL;
	const struct mock_reply *r;
	struct mock_tool t;
	struct err e = { 0 };
	int i = -1;

	if (entry != NULL && mock_read_tool(&ctx, entry->tree, entry->name,
	    &t) > 0) {
		fail(c, STR("its fixture is not valid"), NULL, -1);
		return true;
	}
	if (entry != NULL)
		i = mock_match_tool(c->arena, &t, c->arguments, &e);
	r = i >= 0 ? t.responses.v : NULL;
	if (i >= 0)
		succeed(c, &r[i], i);
	else if (i == -2)
		fail(c, str_of(e.msg), NULL, -1);
	else if (last)
		fail(c, entry == NULL ? STR("unknown tool") :
		    STR("no response fits these arguments"), NULL, -1);
	return i != -1 || last;
}

static void
call_tool(struct mock_link *l, struct arena *a, const struct json *message,
    struct str text)
{
	const struct json *params = json_getc(message, "params");
	const struct json *name = json_getc(params, "name");
	struct call c = { .link = l, .arena = a,
		.id = json_getc(message, "id"),
		.arguments = json_getc(params, "arguments") };

	if (name == NULL || name->type != JSON_STRING)
		refuse(l, c.id, INVALID_PARAMS, "\"name\" must be a string");
	else if (json_is_set(c.arguments) && c.arguments->type != JSON_OBJECT)
		refuse(l, c.id, INVALID_PARAMS,
		    "\"arguments\" must be an object");
	else {
		c.tool = json_text(name);
		if (!answer(&c))
			mock_expect(l, message, text, false);
	}
}

static void
cancel_delayed(struct mock_link *l, struct arena *a, const struct json *params)
{
	const struct json *id = json_getc(params, "requestId");
	struct mock_delayed *d, *next;

	for (d = id != NULL ? l->delayed : NULL; d != NULL; d = next) {
		next = d->next;
		if (str_eq(d->id, json_of(a, id)))
			drop_delayed(d);
	}
}

static void
handle(struct mock_link *l, struct arena *a, const struct json *m,
    struct str text)
{
	static const struct {
		const char *name;
		void (*fn)(struct mock_link *, struct arena *,
		    const struct json *id, const struct json *params);
	} methods[] = {
		{ "initialize", initialize }, { "ping", ping },
		{ "tools/list", list },
	};
	const struct json *id = json_getc(m, "id");
	const struct json *params = json_getc(m, "params");
	struct str method = json_str(m, "method");
	size_t i;

	if (id == NULL && str_is(method, "notifications/cancelled"))
		cancel_delayed(l, a, params);
	if (id != NULL && str_is(method, "tools/call"))
		call_tool(l, a, m, text);
	else if (l->o->real != NULL && id != NULL &&
	    str_is(method, "tools/list"))
		mock_expect(l, m, text, true);
	else if (l->o->real != NULL)
		mock_forward(l, text);
	else if (id != NULL && method.n > 0) {
		for (i = 0; i < COUNTOF(methods); i++)
			if (str_is(method, methods[i].name)) {
				methods[i].fn(l, a, id, params);
				return;
			}
		refuse(l, id, NO_METHOD, "method not found");
	}
}

static void
on_message(void *arg, struct str text)
{
	struct mock_link *l = arg;
	struct arena a = { 0 };
	const struct json *m = arena_json(&a, text, NULL);

	if (m == NULL)
		refuse(l, NULL, PARSE_ERROR, "message is not JSON");
	else if (m->type != JSON_OBJECT)
		refuse(l, NULL, INVALID_REQUEST, "message is not an object");
	else
		handle(l, &a, m, text);
	arena_free(&a);
}

/* A message that is too long: the connection ends after the reply. */
static void
on_broken(void *arg, const struct err *e)
{
	struct mock_link *l = arg;

	if (l->err.code == ERR_NONE)
		l->err = *e;
	refuse(l, NULL, PARSE_ERROR, e->msg);
}

void
mock_check_end(struct mock_link *l)
{
	if (l->conn != NULL && !l->running && ((l->ended &&
	    l->delayed == NULL) || l->o->real != NULL))
		conn_finish(l->conn);
}

static void
on_ended(void *arg)
{
	struct mock_link *l = arg;

	l->ended = true;
	mock_real_end(l);
	mock_check_end(l);
}

static void
on_gone(void *arg)
{
	struct mock_link *l = arg;

	l->conn = NULL;
	mock_real_end(l);
}

static int
serve(struct mock_link *l, struct err *e)
{
	struct conn_opts o = { .in = STDIN_FILENO, .out = STDOUT_FILENO,
		.framer = &conn_line, .message = on_message,
		.broken = on_broken, .ended = on_ended, .gone = on_gone,
		.arg = l };
	int rc = 1;

	if (l->o->real != NULL && mock_real_start(l, e) == -1)
		return -1;
	l->conn = conn_new(&l->conns, &o);
	while (rc == 1 && (l->conn != NULL || l->running))
		rc = loop_turn(l->loop, e);
	if (rc != -1 && l->err.code != ERR_NONE) {
		*e = l->err;
		rc = -1;
	}
	return rc == -1 ? -1 : 0;
}

int
mock_serve(const struct mock_serve *o, struct err *e)
{
	struct mock_link l = { .o = o };
	int rc;

	l.loop = loop_new(NULL, e);
	if (l.loop == NULL)
		return -1;
	l.conns = (struct conns){ .loop = l.loop,
		.limits = { .message_max = MOCK_MESSAGE_MAX } };
	conns_init(&l.conns);
	rc = serve(&l, e);
	while (l.delayed != NULL)
		drop_delayed(l.delayed);
	mock_real_fini(&l);
	conns_fini(&l.conns);
	loop_free(l.loop);
	return rc;
}
