/* SPDX-License-Identifier: ISC */
/*
 * ws_echo: a WebSocket server that echoes text and binary messages, built with
 * waza's ws.c, conn.c and web.c.
 *
 *	ws_echo [HOST:PORT]
 *
 * prints its address (default: port 0, any free port) and serves until it is
 * killed.  Conformance is tested with test/tool/ws_cases, or with the
 * fuzzing client of Autobahn:
 *
 *	wstest -m fuzzingclient -s spec.json
 *	{"servers": [{"url": "ws://127.0.0.1:PORT"}],
 *	 "cases": ["*"], "exclude-cases": ["12.*", "13.*"]}
 *
 * A WebSocket at /talk?first=TEXT&then=TEXT sends the first text at once and the
 * other in answer to the first message.
 *
 * For tests of HTTP it also has GET /big?n=BYTES, POST /echo, and a stream at
 * /ticks?n=EVENTS that ends by itself (with &keep=1: does not).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/os.h"
#include "io/conn.h"
#include "io/loop.h"
#include "web/server.h"
#include "web/web.h"

enum {
	MESSAGE_MAX = 32 << 20,
	TICK_MS = 1,
	TICK_BYTES = 1000
};

struct echo {
	struct conn *conn;
	struct str then;	/* the answer of /talk, until it is sent */
	struct arena arena;
};

static void
on_message(void *arg, struct str s)
{
	struct echo *x = arg;

	if (conn_ws_binary(x->conn))
		conn_ws_send(x->conn, WS_BINARY, s);
	else
		conn_send(x->conn, s);
}

static void
on_gone(void *arg)
{
	struct echo *x = arg;
	struct arena arena = x->arena;

	arena_free(&arena);
}

static void
echo(struct web_req *r)
{
	struct conn_opts o = { .message = on_message, .gone = on_gone };
	struct arena arena = { 0 };
	struct echo *x = NEW(&arena, struct echo);

	x->arena = arena;
	x->conn = web_upgrade(r);
	o.arg = x;
	conn_hand_over(x->conn, &conn_ws, &o);
}

static void
on_talk(void *arg, struct str s)
{
	struct echo *x = arg;

	(void)s;
	if (x->then.n > 0)
		conn_send(x->conn, x->then);
	x->then.n = 0;
}

static void
talk(struct web_req *r)
{
	struct conn_opts o = { .message = on_talk, .gone = on_gone };
	struct arena arena = { 0 };
	struct echo *x = NEW(&arena, struct echo);
	struct str first = { 0 }, then = { 0 };

	web_query(r, "first", &first);
	web_query(r, "then", &then);
	x->then = arena_str(&arena, then);
	first = arena_str(&arena, first);
	x->arena = arena;
	x->conn = web_upgrade(r);
	o.arg = x;
	conn_hand_over(x->conn, &conn_ws, &o);
	conn_send(x->conn, first);
}

/*
 * HTTP.
 */
static long
number(struct web_req *r, const char *name)
{
	struct str s;

	return web_query(r, name, &s) ? atol(arena_cstr(r->arena, s)) : 0;
}

static void
big(struct web_req *r)
{
	struct buf *b = web_begin(r);
	long i, n = number(r, "n");

	for (i = 0; i < n; i++)
		buf_putc(b, (char)('a' + i % 26));
	web_end(r, 200, "text/plain");
}

static void
back(struct web_req *r)
{
	web_answer(r, 200, "application/octet-stream", r->body);
}

struct ticks {
	struct web_req *req;
	struct timer t;
	long at, n;
	bool keep;
	struct arena arena;
};

static void
forget(void *arg)
{
	struct ticks *x = arg;
	struct arena arena = x->arena;

	timer_stop(x->req->web->rpc->loop, &x->t);
	arena_free(&arena);
}

static void
tick(void *arg)
{
	struct ticks *x = arg;
	char text[TICK_BYTES + 64], *p;

	p = text + snprintf(text, 64, "id: %ld\ndata: ", ++x->at);
	memset(p, 'x', TICK_BYTES);
	memcpy(p + TICK_BYTES, "\n\n", 2);
	if (!web_stream_put(x->req, (struct str){ text,
	    (size_t)(p - text) + TICK_BYTES + 2 }))
		return;
	if (x->at < x->n || x->keep) {
		timer_start(x->req->web->rpc->loop, &x->t, TICK_MS);
		return;
	}
	web_stream_end(x->req);
	forget(x);
}

static void
ticks(struct web_req *r)
{
	struct arena arena = { 0 };
	struct ticks *x = NEW(&arena, struct ticks);
	struct web_stream s = { .gone = forget, .arg = x };

	x->arena = arena;
	x->req = r;
	x->n = number(r, "n");
	x->keep = number(r, "keep") != 0;
	x->t = (struct timer){ .fn = tick, .arg = x };
	if (web_stream_begin(r, "text/event-stream", &s))
		timer_start(r->web->rpc->loop, &x->t, 0);
	else {
		arena = x->arena;
		arena_free(&arena);
	}
}

/* Answered with the loop's next turn. */
static void
on_late(void *arg)
{
	struct ticks *x = arg;

	web_answer(x->req, 200, "text/plain", x->req->query);
	forget(x);
}

static void
late(struct web_req *r)
{
	struct arena arena = { 0 };
	struct ticks *x = NEW(&arena, struct ticks);

	x->arena = arena;
	x->req = r;
	x->t = (struct timer){ .fn = on_late, .arg = x };
	timer_start(r->web->rpc->loop, &x->t, number(r, "ms"));
	web_later(r, forget, x);
}

static const struct web_route rows[] = {
	{ WEB_WS, "/", 0, .fn = echo },
	{ WEB_WS, "/talk", 0, .fn = talk },
	{ WEB_GET, "/big", 0, .fn = big },
	{ WEB_POST | WEB_PUT, "/echo", 0, .fn = back },
	{ WEB_GET, "/ticks", 0, .fn = ticks },
	{ WEB_GET, "/late", 0, .fn = late },
};

int
main(int argc, char **argv)
{
	static struct server s;
	static struct web w;
	struct arena arena = { 0 };
	struct err e = { 0 };

	os_init(&e);
	s.arena = &arena;
	s.rpc.version = "echo";
	s.rpc.limits.conns.message_max = MESSAGE_MAX;
	s.rpc.loop = loop_new(NULL, &e);
	s.web = &w;
	w.rpc = &s.rpc;
	if (s.rpc.loop == NULL) {
		fprintf(stderr, "ws_echo: %s\n", e.msg);
		return 2;
	}
	server_init(&s);
	web_init(&w);
	web_add(&w, rows, COUNTOF(rows), NULL);
	if (server_http(&s, argc > 1 ? argv[1] : "127.0.0.1:0", &e) == -1) {
		fprintf(stderr, "ws_echo: %s\n", e.msg);
		return 2;
	}
	fprintf(stderr, "ws_echo: listening on http://%s\n",
	    s.ports[0].at.name);
	server_run(&s, &e);
	return 2;
}
