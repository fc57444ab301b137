/* SPDX-License-Identifier: ISC */
/*
 * Replies and notifications, written straight into the buffer that is sent:
 * that of the connection or of a batch, or a buffer that is discarded.  Errors
 * and their numbers.
 */
#include "rpc/rpc_internal.h"

#include <stdarg.h>
#include <stdio.h>

enum { MESSAGE_BYTES = 400 };	/* of an error's message */

struct rpc_datum {
	struct rpc_datum *next;
	const char *key;
	struct str value;
	bool json;		/* JSON text, not a string */
};

/*
 * The kinds of errors.  The protocol documents use some numbers twice; a
 * client knows which family it called, so each family keeps its own numbers.
 * A kind that a document does not define has a number that no document uses.
 */
#define SAME(n) { n, n, n }

static const struct kind {
	const char *name, *text;
	int number[RPC_FAMILY__MAX];
} kinds[] = {
	[RPC_PARSE_ERROR] = { "parse_error", "Parse error", SAME(-32700) },
	[RPC_INVALID_REQUEST] = { "invalid_request", "Invalid request", SAME(-32600) },
	[RPC_METHOD_NOT_FOUND] = { "method_not_found", "Method not found", SAME(-32601) },
	[RPC_INVALID_PARAMS] = { "invalid_params", "Invalid params", SAME(-32602) },
	[RPC_INTERNAL] = { "internal", "Internal error", SAME(-32603) },
	[RPC_EVAL_NOT_FOUND] = { "eval_not_found", "Eval not found", { -32000, -32020, -32020 } },
	[RPC_VALIDATION_FAILED] = { "validation_failed", "Validation failed",
	    { -32001, -32021, -32602 } },
	[RPC_RUN_FAILED] = { "run_failed", "Run failed", { -32002, -32000, -32010 } },
	[RPC_TOOL_FAILED] = { "tool_failed", "Tool failed", { -32002, -32000, -32010 } },
	[RPC_AUTH_FAILED] = { "auth_failed", "Authentication failed: invalid or missing token",
	    { -32024, -32001, -32024 } },
	[RPC_PATH_DENIED] = { "path_denied", "Path access denied", { -32025, -32002, -32011 } },
	[RPC_TIMEOUT] = { "timeout", "Timeout", { -32002, -32000, -32010 } },
	[RPC_RATE_LIMITED] = { "rate_limited", "Rate limit exceeded", { -32027, -32027, -32015 } },
	[RPC_TOOL_UNKNOWN] = { "tool_unknown", "Unknown tool", { -32028, -32602, -32028 } },
	[RPC_RESOURCE] = { "resource", "Resource error", { -32029, -32029, -32015 } },
	[RPC_SESSION_NOT_FOUND] = { "session_not_found", "Session not found", SAME(-32003) },
	[RPC_AGENT_INIT] = { "agent_init", "Agent initialization failed", SAME(-32012) },
	[RPC_SESSION_BUSY] = { "session_busy", "Session in use", SAME(-32013) },
	[RPC_CONFIG] = { "config", "Configuration error", SAME(-32014) },
	[RPC_IO] = { "io", "I/O error", SAME(-32016) },
	[RPC_SERIALIZATION] = { "serialization", "Serialization error", SAME(-32017) },
	[RPC_TRANSPORT] = { "transport", "Transport error", { -32030, -32030, -32001 } },
	[RPC_CANCELLED] = { "cancelled", "Cancelled", SAME(-32031) },
	[RPC_RUN_NOT_FOUND] = { "run_not_found", "Run not found", SAME(-32602) },
	[RPC_WORKSPACE] = { "workspace", "Workspace error", SAME(-32011) },
	[RPC_NO_RESULT] = { "no_result", "No results", SAME(-32032) },
	[RPC_FORBIDDEN] = { "forbidden", "Access denied", SAME(-32034) },
	[RPC_RUN_OVER] = { "run_over", "The run is over", SAME(-32033) },
	[RPC_TASK_NOT_FOUND] = { "task_not_found", "Task not found", SAME(-32602) },
};

/* Fails to compile if a kind has no row. */
typedef char rows_are_complete[COUNTOF(kinds) == RPC_KIND__MAX ? 1 : -1];

int
rpc_number(enum rpc_kind kind, enum rpc_family family)
{
	return kinds[kind].number[family];
}

const char *
rpc_kind_name(enum rpc_kind kind)
{
	return kinds[kind].name;
}

const char *
rpc_kind_text(enum rpc_kind kind)
{
	return kinds[kind].text;
}

/*
 * Replies.
 */
static bool
is_wanted(const struct rpc_call *c)
{
	return c->id != NULL && (c->batch != NULL ? c->batch->peer != NULL :
	    c->peer != NULL);
}

void
rpc_open_answer(struct rpc_call *c)
{
	if (!is_wanted(c)) {
		c->buf = &c->rpc->state->discarded;
		c->buf->n = 0;
	} else
		c->buf = c->batch != NULL ? &c->batch->buf :
		    conn_begin(c->peer->conn);
	c->from = c->buf->n;
	c->out = (struct json_out){ .put = buf_sink, .ctx = c->buf };
	if (c->batch != NULL && c->from > 0)
		buf_putc(c->buf, ',');
	buf_put(c->buf, STR("{\"jsonrpc\":\"2.0\",\"id\":"));
	if (c->id != NULL && c->id->type == JSON_NUMBER)
		buf_put(c->buf, json_text(c->id));	/* as it came */
	else if (c->id != NULL) {
		struct json_out id = c->out;

		json_put(&id, c->id);
	} else
		buf_put(c->buf, STR("null"));
}

void
rpc_close_answer(struct rpc_call *c)
{
	buf_putc(c->buf, '}');
	if (is_wanted(c) && c->batch == NULL)
		conn_end(c->peer->conn);
}

void
rpc_undo_answer(struct rpc_call *c)
{
	c->buf->n = c->from;
}

void
rpc_put_data(struct json_out *o, const struct rpc_call *c)
{
	const struct rpc_datum *d;

	for (d = c->data; d != NULL; d = d->next) {
		json_put_key(o, str_of(d->key));
		if (d->json)
			json_put_raw(o, d->value);
		else
			json_put_str(o, d->value);
	}
}

static void
put_error(struct rpc_call *c)
{
	struct json_out *o = &c->out;

	json_open(o, '{');
	json_put_member_int(o, "code",
	    rpc_number(c->kind, c->method != NULL ? c->method->family :
	    RPC_EVAL));
	json_put_member_str(o, "message", c->message);
	json_open_member(o, "data", '{');
	json_put_member_cstr(o, "kind", rpc_kind_name(c->kind));
	rpc_put_data(o, c);
	json_close(o, '}');
	json_close(o, '}');
}

void
rpc_answer_error(struct rpc_call *c)
{
	rpc_open_answer(c);
	buf_put(c->buf, STR(",\"error\":"));
	put_error(c);
	rpc_close_answer(c);
}

enum rpc_status
rpc_fail(struct rpc_call *c, enum rpc_kind kind, const char *fmt, ...)
{
	char text[MESSAGE_BYTES];
	va_list ap;

	c->kind = kind;
	if (fmt == NULL) {
		c->message = str_of(rpc_kind_text(kind));
		return RPC_FAIL;
	}
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	c->message = arena_str(c->arena, str_of(text));
	return RPC_FAIL;
}

static void
add_datum(struct rpc_call *c, const char *key, struct str s, bool json)
{
	struct rpc_datum *d = NEW(c->arena, struct rpc_datum);

	d->key = key;
	d->value = arena_str(c->arena, s);
	d->json = json;
	if (c->data == NULL)
		c->tail = &c->data;
	*c->tail = d;
	c->tail = &d->next;
}

void
rpc_data(struct rpc_call *c, const char *key, struct str s)
{
	add_datum(c, key, s, false);
}

void
rpc_data_json(struct rpc_call *c, const char *key, struct str s)
{
	add_datum(c, key, s, true);
}

struct json_out *
rpc_notify(struct rpc_peer *p, const char *method)
{
	struct rpc_state *s = p->rpc->state;
	struct buf *b = p->conn != NULL ? conn_begin(p->conn) : &s->discarded;

	if (p->conn == NULL)
		b->n = 0;
	buf_put(b, STR("{\"jsonrpc\":\"2.0\",\"method\":\""));
	buf_puts(b, method);
	buf_put(b, STR("\",\"params\":"));
	s->note = (struct json_out){ .put = buf_sink, .ctx = b };
	return &s->note;
}

void
rpc_notify_end(struct rpc_peer *p)
{
	buf_putc(p->rpc->state->note.ctx, '}');
	if (p->conn != NULL)
		conn_end(p->conn);
}
