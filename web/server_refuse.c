/* SPDX-License-Identifier: ISC */
/*
 * Connections that are refused.  There are few at a time and they do not last,
 * so that they cannot take the place of others.
 */
#include "web/server_internal.h"

#include "base/os.h"
#include "lib/http.h"

enum {
	REFUSING_MAX = 16,	/* at a time; more are closed at once */
	SPEAK_MS = 5000		/* for the peer to send a message */
};

struct refusal {
	struct arena own;	/* holds the refusal itself */
	struct server *server;
	struct conn *conn;
	const char *why;
	bool http;
	struct timer timer;
};

static void
answer_http(struct refusal *r, bool only_head)
{
	struct buf body = { 0 }, *b = conn_begin(r->conn);
	struct json_out o = { .put = buf_sink, .ctx = &body };
	char date[HTTP_DATE];

	json_open(&o, '{');
	json_open_member(&o, "error", '{');
	json_put_member_int(&o, "code", 403);
	json_put_member_cstr(&o, "kind", rpc_kind_name(RPC_FORBIDDEN));
	json_put_member_cstr(&o, "message", r->why);
	json_close(&o, '}');
	json_close(&o, '}');
	http_date_put(os_wall_ns() / 1000000000, date);
	buf_fmt(b, "HTTP/1.1 403 Forbidden\r\nDate: %.*s\r\n"
	    "Content-Type: application/json\r\nContent-Length: %zu\r\n"
	    "Cache-Control: no-store\r\nConnection: close\r\n\r\n",
	    HTTP_DATE, date, body.n);
	if (!only_head)
		buf_put(b, buf_str(&body));
	conn_end_raw(r->conn);
	buf_free(&body);
}

/* The error has the id of the request, if the message is one. */
static void
answer_rpc(struct refusal *r, struct str text)
{
	struct arena a = { 0 };
	struct json_mem mem = { arena_hook, &a };
	struct json_error je;
	const struct json *v = json_read(&mem, text, JSON_DEPTH, &je), *id;
	struct json_out o = { .put = buf_sink, .ctx = conn_begin(r->conn) };

	id = v != NULL && v->type == JSON_OBJECT ? json_getc(v, "id") : NULL;
	if (id != NULL && id->type != JSON_STRING && id->type != JSON_NUMBER)
		id = NULL;
	json_open(&o, '{');
	json_put_member_cstr(&o, "jsonrpc", "2.0");
	json_put_member(&o, "id", id);
	json_open_member(&o, "error", '{');
	json_put_member_int(&o, "code", rpc_number(RPC_FORBIDDEN, RPC_EVAL));
	json_put_member_cstr(&o, "message", r->why);
	json_open_member(&o, "data", '{');
	json_put_member_cstr(&o, "kind", rpc_kind_name(RPC_FORBIDDEN));
	json_close(&o, '}');
	json_close(&o, '}');
	json_close(&o, '}');
	conn_end(r->conn);
	arena_free(&a);
}

static void
on_message(void *arg, struct str text)
{
	struct refusal *r = arg;

	if (r->http)
		answer_http(r, str_is(conn_request(r->conn)->method, "HEAD"));
	else
		answer_rpc(r, text);
	conn_finish(r->conn);
}

/* Malformed input; afterwards the connection closes. */
static void
on_broken(void *arg, const struct err *e)
{
	struct refusal *r = arg;

	(void)e;
	if (r->http)
		answer_http(r, false);
	else
		answer_rpc(r, STR(""));
}

static void
on_late(void *arg)
{
	struct refusal *r = arg;

	on_broken(r, NULL);
	conn_finish(r->conn);
}

static void
on_chosen(void *arg, struct conn *c, const struct conn_framer *f)
{
	struct refusal *r = arg;

	(void)c;
	r->http = f == &conn_http;
}

static void
on_gone(void *arg)
{
	struct refusal *r = arg;

	timer_stop(r->server->rpc.loop, &r->timer);
	r->server->refusing--;
	arena_free(&r->own);
}

void
server_refuse(struct server_port *p, int fd, const char *why)
{
	struct server *s = p->server;
	struct arena own = { 0 };
	struct refusal *r;
	struct conn_opts o = { .in = fd, .out = fd, .strict = true,
		.framer = p->http && s->framer != NULL ? &conn_http : s->framer,
		.message = on_message, .broken = on_broken, .gone = on_gone,
		.chosen = s->web != NULL ? on_chosen : NULL };

	if (s->refusing >= REFUSING_MAX) {
		os_close(&fd);
		return;
	}
	r = NEW(&own, struct refusal);
	*r = (struct refusal){ .own = own, .server = s, .why = why,
		.http = o.framer == &conn_http,
		.timer = { .fn = on_late, .arg = r } };
	o.arg = r;
	r->conn = conn_new(rpc_conns(&s->rpc), &o);
	if (r->conn == NULL) {
		arena_free(&r->own);
		return;
	}
	s->refusing++;
	timer_start(s->rpc.loop, &r->timer, SPEAK_MS);
}
