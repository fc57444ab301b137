/* SPDX-License-Identifier: ISC */
/*
 * Answers and notifications, written where they will be sent from: into the
 * connection's buffer, a batch's, or nowhere when nobody hears them.
 */
#include "rpc/rpc_internal.h"

#include <stdarg.h>
#include <stdio.h>

enum { MESSAGE_BYTES = 400 };	/* of an error's message */

struct rpc_datum {
	struct rpc_datum *next;
	const char *key;
	struct str value;
	bool json;		/* as it is; else it is a text */
};

static bool
is_heard(const struct rpc_call *c)
{
	return c->id != NULL && (c->batch != NULL ? c->batch->peer != NULL :
	    c->peer != NULL);
}

void
rpc_open_answer(struct rpc_call *c)
{
	if (!is_heard(c)) {
		c->buf = &c->rpc->trash;
		c->buf->n = 0;
	} else
		c->buf = c->batch != NULL ? &c->batch->buf :
		    conn_begin(c->peer->conn);
	c->from = c->buf->n;
	c->out = (struct json_out){ .put = buf_sink, .ctx = c->buf };
	if (c->batch != NULL && c->from > 0)
		buf_putc(c->buf, ',');
	buf_put(c->buf, STR("{\"jsonrpc\":\"2.0\",\"id\":"));
	if (c->id != NULL) {
		struct json_out id = c->out;

		json_put(&id, c->id);
	} else
		buf_put(c->buf, STR("null"));
}

void
rpc_close_answer(struct rpc_call *c)
{
	buf_putc(c->buf, '}');
	if (is_heard(c) && c->batch == NULL)
		conn_end(c->peer->conn);
}

void
rpc_take_back(struct rpc_call *c)
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
	struct rpc *r = p->rpc;
	struct buf *b = p->conn != NULL ? conn_begin(p->conn) : &r->trash;

	if (p->conn == NULL)
		b->n = 0;
	buf_put(b, STR("{\"jsonrpc\":\"2.0\",\"method\":\""));
	buf_puts(b, method);
	buf_put(b, STR("\",\"params\":"));
	r->note = (struct json_out){ .put = buf_sink, .ctx = b };
	return &r->note;
}

void
rpc_notify_end(struct rpc_peer *p)
{
	buf_putc(p->rpc->note.ctx, '}');
	if (p->conn != NULL)
		conn_end(p->conn);
}

void
rpc_put_text(struct json_out *o, const char *key, struct str s)
{
	json_put_member_str(o, key, s);
}

void
rpc_put_int(struct json_out *o, const char *key, int64_t n)
{
	json_put_member_int(o, key, n);
}
