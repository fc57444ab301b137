/* SPDX-License-Identifier: ISC */
/*
 * Input: requests to an HTTP server.  The first byte selects the settings, the
 * second how the stream is split.  The answers are the same for every split,
 * each is a complete HTTP response, and no memory is left allocated.
 */
#include <assert.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/base.h"
#include "base/os.h"
#include "io/conn.h"
#include "io/loop.h"
#include "lib/http.h"
#include "rpc.h"
#include "test/tool/help.h"
#include "web/web.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

enum { ROOM = 12000 };		/* bytes: their answers fit in a socket */

struct server {
	struct rpc rpc;
	struct web web;
	struct web_req *kept;
	struct buf out;
};

static void
say(struct web_req *r)
{
	struct buf *b = web_begin(r);
	struct str q;

	if (web_query(r, "q", &q))
		buf_fmt(b, "q=%zu ", q.n);
	buf_fmt(b, "[%.*s][%.*s] %zu", STRF(r->param[0]), STRF(r->param[1]),
	    r->body.n);
	web_end(r, 200, "text/plain");
}

static void
on_gone(void *arg)
{
	struct server *s = arg;

	s->kept = NULL;
}

static void
wait_a_turn(struct web_req *r)
{
	struct server *s = r->arg;

	web_later(r, on_gone, s);
	s->kept = r;
}

static void
flow(struct web_req *r)
{
	struct server *s = r->arg;
	struct web_stream st = { .gone = on_gone, .arg = s };

	if (web_stream_begin(r, "text/event-stream", &st)) {
		web_stream_put(r, STR("data: 1\n\n"));
		s->kept = r;
	}
}

static void
go_on(struct server *s)
{
	struct web_req *r = s->kept;

	if (r == NULL)
		return;
	s->kept = NULL;
	if (str_is(r->path, "/wait"))
		web_answer(r, 200, "text/plain", r->query);
	else
		web_stream_end(r);
}

static const struct web_route rows[] = {
	{ WEB_GET | WEB_POST, "/say", WEB_OPEN, .fn = say },
	{ WEB_GET, "/say/:a/to/:b", 0, .fn = say },
	{ WEB_GET | WEB_DELETE, "/wait", WEB_OPEN, .fn = wait_a_turn },
	{ WEB_GET, "/flow", WEB_QUERY_TOKEN, .fn = flow },
};

static void
on_chosen(void *arg, struct conn *c, const struct conn_framer *f)
{
	struct server *s = arg;

	if (f == &conn_http)
		web_adopt(&s->web, c, RPC_TCP, false);
	else
		rpc_adopt(&s->rpc, RPC_TCP, c, f, false);
}

static void
turn(struct server *s, int fd)
{
	int i;

	for (i = 0; i < 3; i++)
		turn_loop(s->rpc.loop);
	read_available(fd, &s->out);
}

static size_t
cut(unsigned *state)
{
	*state = *state * 1103515245 + 12345;
	return *state & 0x10000 ? 1 : (*state >> 20) % 60 + 1;
}

/* The output without Date headers; it begins with an HTTP head. */
static void
sum_up(struct server *s, struct buf *log)
{
	static const struct str date = { "\r\nDate: ", 8 };
	struct str in = buf_str(&s->out);
	struct http_head h;
	struct err e;
	size_t seen = 0, used;

	if (str_starts(in, STR("HTTP/")))
		assert(http_head_read(&h, HTTP_RESPONSE, in, &seen, &used,
		    &e) == 1);
	for (; in.n > 0; in.p++, in.n--) {
		if (str_starts(in, date) && in.n > date.n + HTTP_DATE) {
			in.p += date.n + HTTP_DATE;
			in.n -= date.n + HTTP_DATE;
		}
		buf_putc(log, in.p[0]);
	}
}

static void
play(struct buf *log, unsigned how, struct str in, unsigned cuts)
{
	static const char *const hosts[] = { "ours.example" };
	struct server s = { 0 };
	struct conn_opts door = { .chosen = on_chosen, .arg = &s };
	struct err e;
	size_t n;
	int fd[2];

	os_init(&e);
	s.rpc.loop = loop_new(NULL, &e);
	s.rpc.version = "1";
	s.rpc.access.token = how & 1 ? STR("s3cret") : STR("");
	s.rpc.limits.conns.message_max = how & 2 ? 20 : 1 << 16;
	rpc_init(&s.rpc);
	s.web = (struct web){ .rpc = &s.rpc, .remote = how & 4,
		.hosts = hosts, .nhosts = 1 };
	web_init(&s.web);
	web_add(&s.web, rows, COUNTOF(rows), &s);
	if (s.rpc.loop == NULL || socketpair(AF_UNIX, SOCK_STREAM, 0, fd) == -1)
		return;
	os_nonblock(fd[0]);
	os_nonblock(fd[1]);
	door.in = door.out = fd[0];
	assert(conn_new(rpc_conns(&s.rpc), &door) != NULL);
	while (in.n > 0) {
		n = cuts == 0 ? in.n : cut(&cuts);
		n = n < in.n ? n : in.n;
		if (write(fd[1], in.p, n) != (ssize_t)n)
			break;
		in.p += n;
		in.n -= n;
		turn(&s, fd[1]);
		go_on(&s);
	}
	shutdown(fd[1], SHUT_WR);
	for (n = 0; n < ROOM && rpc_conns(&s.rpc)->n > 0; n++) {
		turn(&s, fd[1]);
		go_on(&s);
	}
	assert(rpc_conns(&s.rpc)->n == 0 && s.kept == NULL);
	turn(&s, fd[1]);
	close(fd[1]);
	sum_up(&s, log);
	rpc_fini(&s.rpc);
	web_fini(&s.web);
	loop_free(s.rpc.loop);
	buf_free(&s.out);
}

static bool
expects(struct str in)
{
	size_t i;

	for (i = 0; i + 6 <= in.n; i++)
		if (http_same((struct str){ in.p + i, 6 }, "expect"))
			return true;
	return false;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf whole = { 0 }, cuts = { 0 };
	struct str in;

	if (size < 2 || size > ROOM)
		return 0;
	in = (struct str){ (const char *)data + 2, size - 2 };
	play(&whole, data[0], in, 0);
	play(&cuts, data[0], in, data[1] + 1u);
	/* an interim response depends on the bytes received so far */
	assert(expects(in) || str_eq(buf_str(&whole), buf_str(&cuts)));
	buf_free(&whole);
	buf_free(&cuts);
	return 0;
}
