/* SPDX-License-Identifier: ISC */
/*
 * Requests to a server on the same loop, which answers with given bytes.  No
 * watch, descriptor or memory may be left.
 */
#include "io/fetch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/os.h"
#include "base/os_net.h"
#include "io/loop.h"
#include "test/tool/tap.h"

#if defined(OS_SHORT)
enum { BIG = 100 * 1000 };		/* one-byte mode */
#else
enum { BIG = 20 << 20 };
#endif

static struct loop *l;
static struct procs ps;
static struct err e;

/*
 * The server: one connection, one answer.
 */
enum manner {
	AFTER,			/* the request is read first */
	EARLY,			/* answers without reading the rest */
	RESET,			/* resets after the answer */
	OPEN			/* does not close after the answer */
};

static struct server {
	struct os_listener at;
	struct fd_watch accept, conn;
	struct str answer;
	enum manner manner;
	size_t piece;		/* bytes at a time; 0: all */
	struct buf got;		/* the request */
	size_t want;		/* bytes of its body */
} server;

static void
hang_up(void)
{
	struct linger now = { 1, 0 };

	if (server.conn.fd == -1)
		return;
	if (server.manner == RESET)
		setsockopt(server.conn.fd, SOL_SOCKET, SO_LINGER, &now,
		    sizeof(now));
	fd_stop(l, &server.conn);
	os_close(&server.conn.fd);
}

/* Closing a socket with unread input resets the connection. */
static bool
has_all(const struct server *s)
{
	size_t i, n = s->got.n;

	for (i = 0; i + 4 <= n; i++)
		if (memcmp(s->got.p + i, "\r\n\r\n", 4) == 0)
			return n >= i + 4 + s->want;
	return false;
}

static void
on_conn(void *arg, int ready)
{
	struct server *s = arg;
	char chunk[65536];
	ssize_t n;
	size_t k;

	if (ready & LOOP_READ) {
		n = os_read(s->conn.fd, chunk, s->manner == EARLY ? 10 :
		    sizeof(chunk));
		if (n > 0)
			buf_put(&s->got, (struct str){ chunk, (size_t)n });
		if (n == 0 || (n == -1 && errno != EAGAIN)) {
			hang_up();
			if (s->got.n == 0)	/* the client stopped */
				fd_start(l, &s->accept, LOOP_READ);
			return;
		}
		if (s->manner != EARLY && !has_all(s))
			return;
		fd_want(l, &s->conn, LOOP_WRITE);
		return;
	}
	k = s->piece > 0 && s->piece < s->answer.n ? s->piece : s->answer.n;
	n = k > 0 ? os_write(s->conn.fd, s->answer.p, k) : 0;
	if (n == -1 && errno == EAGAIN)
		return;
	if (n > 0) {
		s->answer.p += n;
		s->answer.n -= (size_t)n;
	}
	if (n >= 0 && s->answer.n > 0)
		return;
	if (s->manner == OPEN)
		fd_want(l, &s->conn, LOOP_READ);
	else
		hang_up();
}

static void
on_accept(void *arg, int ready)
{
	struct server *s = arg;

	(void)ready;
	s->conn.fd = os_accept(s->at.fd);
	if (s->conn.fd == -1)
		return;
	s->conn.fn = on_conn;
	s->conn.arg = s;
	fd_start(l, &s->conn, LOOP_READ);
	fd_stop(l, &s->accept);
}

/*
 * The client.
 */
static struct client {
	struct fetch f;
	struct buf data;
	int status, done, heads;
	size_t enough;		/* bytes of data; 0: never */
	char type[40];
} client;

static void
on_head(void *arg, const struct http_head *h)
{
	struct client *c = arg;
	struct str type = http_get(h, "content-type");

	c->heads++;
	c->status = h->status;
	snprintf(c->type, sizeof(c->type), "%.*s", STRF(type));
}

static bool
on_data(void *arg, struct str s)
{
	struct client *c = arg;

	buf_put(&c->data, s);
	return c->enough == 0 || c->data.n < c->enough;
}

static void
on_done(void *arg)
{
	struct client *c = arg;

	c->done++;
}

static const struct http_field fields[] = {
	{ { "X-Key", 5 }, { "canary", 6 } },
};

static int
start(struct str body, const char *url)
{
	struct fetch_opts o = { .procs = &ps, .method = "POST", .body = body,
		.field = fields, .nfields = COUNTOF(fields), .head = on_head,
		.data = on_data, .done = on_done, .arg = &client,
		.max = 1000000 };

	buf_free(&client.data);
	client.done = client.heads = client.status = 0;
	client.type[0] = '\0';
	if (http_url_read(str_of(url), &o.url, &e) == -1)
		abort();
	return fetch_start(&client.f, &o);
}

/* Makes one request; the response arrives in pieces of any size. */
static enum fetch_end
ask(const char *answer, enum manner manner, size_t piece, struct str body)
{
	char url[100];

	snprintf(url, sizeof(url), "http://%s/x?y", server.at.name);
	server.answer = str_of(answer);
	server.manner = manner;
	server.piece = piece;
	server.got.n = 0;
	server.want = body.n;
	server.accept = (struct fd_watch){ .fd = server.at.fd,
		.fn = on_accept, .arg = &server };
	fd_start(l, &server.accept, LOOP_READ);
	if (start(body, url) == -1)
		return client.f.end;
	while (!client.done && loop_turn(l, &e) == 1)
		;
	hang_up();
	return client.f.end;
}

static void
test_answers(void)
{
	static const char fixed[] = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n"
	    "Content-Type: text/x\r\n\r\nhello";
	static const char chunked[] = "HTTP/1.1 200 OK\r\n"
	    "Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n"
	    "\r\n";
	static const char interim[] = "HTTP/1.1 100 Continue\r\n\r\n"
	    "HTTP/1.1 103 Hints\r\nLink: x\r\n\r\nHTTP/1.1 429 No\r\n"
	    "Connection: close\r\n\r\nhello";
	const char *text[3];
	size_t i, piece;
	bool ok;

	text[0] = fixed;
	text[1] = chunked;
	text[2] = interim;
	for (i = 0; i < COUNTOF(text); i++)
		for (ok = true, piece = 0; piece < 9; piece++) {
			ok &= ask(text[i], AFTER, piece, STR("{}")) ==
			    FETCH_OK && client.done == 1 &&
			    client.heads == 1 &&
			    client.status == (i == 2 ? 429 : 200) &&
			    str_is(buf_str(&client.data), "hello");
			if (piece == 8)
				OK(ok);
		}
	OK(ask(fixed, OPEN, 0, STR("{}")) == FETCH_OK);	/* by length */
	OK(strcmp(client.type, "text/x") == 0);
	OK(str_starts(buf_str(&server.got), STR("POST /x?y HTTP/1.1\r\n"
	    "Host: 127.0.0.1:")));
	OK(str_ends(buf_str(&server.got), STR("X-Key: canary\r\n"
	    "Content-Length: 2\r\nConnection: close\r\n\r\n{}")));
}

static void
test_failures(void)
{
	OK(ask("", AFTER, 0, STR("{}")) == FETCH_LOST);
	OK(strstr(client.f.err.msg, "without a response") != NULL);
	OK(ask("HTTP/1.1 200 O", AFTER, 0, STR("{}")) == FETCH_LOST);
	OK(ask("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello", AFTER, 0,
	    STR("{}")) == FETCH_LOST && client.data.n == 5);
	OK(strstr(client.f.err.msg, "cut off") != NULL);
	OK(ask("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
	    AFTER, 0, STR("{}")) == FETCH_LOST);
	OK(ask("HTTP/1.1 200 OK\r\n\r\nhello", RESET, 0, STR("{}")) !=
	    FETCH_BAD);
	OK(ask("SSH-2.0-x\r\n", AFTER, 0, STR("{}")) == FETCH_BAD);
	OK(ask("HTTP/1.1 101 Switching\r\n\r\n", AFTER, 0, STR("{}")) ==
	    FETCH_BAD);
	OK(ask("HTTP/1.1 200 OK\r\nContent-Length: 1000001\r\n\r\nhello",
	    OPEN, 0, STR("{}")) == FETCH_BAD);
	OK(client.f.err.code == ERR_LIMIT);
	OK(ask("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz",
	    OPEN, 0, STR("{}")) == FETCH_BAD);
}

/* A body larger than any buffer, and a server that does not read it. */
static void
test_early(void)
{
	struct buf big = { 0 };
	enum fetch_end end;

	memset(buf_room(&big, BIG), 'a', BIG);
	big.n = BIG;
	end = ask("HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno",
	    OPEN, 0, STR("x"));
	OK(end == FETCH_OK && client.status == 413);
	end = ask("HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno",
	    EARLY, 0, buf_str(&big));
	/* the system may discard the response with the reset */
	OK(end == FETCH_LOST || (end == FETCH_OK && client.status == 413));
	end = ask("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno", AFTER, 0,
	    buf_str(&big));
	OK(end == FETCH_OK && client.status == 200);
	buf_free(&big);
}

static void
test_stops(void)
{
	char url[100];
	int i;

	client.enough = 3;
	OK(ask("HTTP/1.1 200 OK\r\n\r\nhello", OPEN, 1, STR("{}")) ==
	    FETCH_OK && client.data.n == 3);
	client.enough = 0;
	snprintf(url, sizeof(url), "http://%s/", server.at.name);
	for (i = 0; i < 5; i++) {
		server.answer = STR("HTTP/1.1 200 OK\r\n\r\nhello");
		server.manner = OPEN;
		server.piece = 0;
		server.want = 2;
		server.got.n = 0;
		fd_start(l, &server.accept, LOOP_READ);
		OK(start(STR("{}"), url) == 0);
		while (i > 0 && client.data.n < 5 && loop_turn(l, &e) == 1)
			;
		fetch_stop(&client.f);
		fetch_stop(&client.f);
		OK(client.done == 0 && !client.f.running);
		hang_up();
		fd_stop(l, &server.accept);
	}
}

static void
test_nobody(void)
{
	struct os_listener gone;
	char url[100];

	OK(os_listen_tcp("127.0.0.1", "0", false, &gone, 1, &e) == 1);
	os_close(&gone.fd);
	snprintf(url, sizeof(url), "http://%s/", gone.name);
	if (start(STR("{}"), url) == 0)
		while (!client.done && loop_turn(l, &e) == 1)
			;
	OK(client.f.end == FETCH_LOST);
	OK(strstr(client.f.err.msg, "cannot connect to") != NULL);
	OK(strstr(client.f.err.msg, strerror(ECONNREFUSED)) != NULL);
}

static void
test_https(void)
{
	setenv("PATH", "/nonexistent", 1);
	OK(start(STR("{}"), "https://127.0.0.1:1/") == -1 &&
	    client.f.end == FETCH_UNABLE);
	OK(strstr(client.f.err.msg, "curl") != NULL);
}

int
main(void)
{
	int fds;

	os_init(&e);
	l = loop_new(NULL, &e);
	procs_init(&ps, l, false);
	server.conn.fd = -1;
	fds = tap_fd_count();
	OK(os_listen_tcp("127.0.0.1", "0", false, &server.at, 1, &e) == 1);
	RUN(test_answers, test_failures, test_early, test_stops, test_nobody,
	    test_https);
	fd_stop(l, &server.accept);
	os_close(&server.at.fd);
	OK(tap_fd_count() == fds);
	OK(loop_turn(l, &e) == 0);
	buf_free(&client.data);
	buf_free(&server.got);
	procs_fini(&ps);
	loop_free(l);
	return tap_done();
}
