/* SPDX-License-Identifier: ISC */
/*
 * Input: a stream of messages, including HTTP and WebSocket.  The first byte
 * selects the framing and the limit, the second how the stream is split.  The
 * messages, the error and the end are the same for every split.
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
#include "test/tool/help.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

enum {
	ROOM = 100000,		/* bytes that a socket takes for certain */
	TURNS = 10 * ROOM	/* for all of them, a byte at a time at worst */
};

struct seen {
	struct conn *c;
	const struct conn_framer *f;
	struct buf log;
	int ended, gone;
	bool http;		/* is looked for */
};

static void
on_message(void *arg, struct str s)
{
	struct seen *x = arg;
	const struct http_head *h = conn_request(x->c);

	if (x->f == &conn_http)
		buf_fmt(&x->log, "%.*s %.*s %zu %d ", STRF(h->method),
		    STRF(h->target), h->nfields, h->keep);
	buf_fmt(&x->log, "%zu:", s.n);
	buf_put(&x->log, s);
}

static void
on_broken(void *arg, const struct err *e)
{
	struct seen *x = arg;

	buf_fmt(&x->log, "broken: %d %s", (int)e->code, e->msg);
	if (x->f == &conn_http)
		assert(conn_request(x->c)->status >= 400);
}

static void
on_ended(void *arg)
{
	struct seen *x = arg;

	x->ended++;
	conn_finish(x->c);
}

static void
on_gone(void *arg)
{
	struct seen *x = arg;

	x->gone++;
}

static void
on_chosen(void *arg, struct conn *c, const struct conn_framer *f)
{
	struct seen *x = arg;

	(void)c;
	x->f = f;
}

/* The size of the next part; 0: all the rest. */
static size_t
cut(unsigned *state, size_t left)
{
	*state = *state * 1103515245 + 12345;
	switch (*state >> 16 & 7) {
	case 0:
	case 1:
	case 2:
		return 1;
	case 3:
		return 2;
	case 7:
		return left;
	default:
		return (*state >> 20) % 40 + 1;
	}
}

static void
play(struct loop *l, struct seen *x, const struct conn_framer *f,
    size_t max, struct str s, unsigned cuts)
{
	struct conns set = { .loop = l, .limits = { .message_max = max } };
	struct conn_opts o = { .framer = f, .message = on_message,
		.broken = on_broken, .ended = on_ended, .gone = on_gone,
		.arg = x };
	size_t n;
	int fd[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd) == -1)
		return;
	os_nonblock(fd[0]);
	conns_init(&set);
	o.in = o.out = fd[0];
	x->f = f;
	if (x->http)
		o.chosen = on_chosen;
	x->c = conn_new(&set, &o);
	assert(x->c != NULL);
	while (s.n > 0 && x->gone == 0) {
		n = cuts == 0 ? s.n : cut(&cuts, s.n);
		n = n < s.n ? n : s.n;
		if (write(fd[1], s.p, n) != (ssize_t)n)
			break;
		s.p += n;
		s.n -= n;
		turn_loop(l);
	}
	shutdown(fd[1], SHUT_WR);
	for (n = 0; n < TURNS && x->gone == 0; n++)
		turn_loop(l);
	assert(x->gone == 1 && x->ended <= 1);
	close(fd[1]);
	conns_fini(&set);
	assert(x->gone == 1);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct conn_framer *const framers[] = { NULL, NULL,
		&conn_line, &conn_lsp, &conn_http, &conn_http, &conn_ws,
		&conn_ws_client };
	struct seen whole = { 0 }, cuts = { 0 };
	const struct conn_framer *f;
	struct str s;
	struct loop *l;
	struct err e;
	size_t max;
	bool http;

	if (size < 2 || size > ROOM)
		return 0;
	os_init(&e);
	l = loop_new(NULL, &e);
	assert(l != NULL);
	f = framers[(data[0] & 3) | (data[0] & 8) >> 1];
	max = data[0] & 4 ? 20 : 1 << 16;
	http = whole.http = cuts.http = data[0] & 16;
	s = (struct str){ (const char *)data + 2, size - 2 };
	/* which limit is passed first depends on how it is cut */
	if ((http || f == &conn_http) && s.n > HTTP_HEAD_MAX)
		s.n = HTTP_HEAD_MAX;
	play(l, &whole, f, max, s, 0);
	play(l, &cuts, f, max, s, data[1] + 1u);
	assert(whole.ended == cuts.ended);
	assert(str_eq(buf_str(&whole.log), buf_str(&cuts.log)));
	buf_free(&whole.log);
	buf_free(&cuts.log);
	loop_free(l);
	return 0;
}
