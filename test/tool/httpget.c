/* SPDX-License-Identifier: ISC */
/*
 * httpget: an HTTP client for tests without curl.
 *
 *	httpget [-i] [-s] [-X METHOD] [-H FIELD]... [-d BODY] [-e N] [-q]
 *	    [-t SECONDS] ADDRESS TARGET
 *
 * sends one request and prints the body of the answer, decoded, while it is
 * received.  ADDRESS is a port of this machine, HOST:PORT, or the path of a
 * unix socket.
 *
 *	-i	print the head of the answer first
 *	-s	print its status first, on its own line
 *	-X	the method; default: GET, or POST with a body
 *	-H	"Name: value"; a Host or Content-Type replaces the default one
 *	-d	the body, as application/json; - is stdin
 *	-e	stop after N events of a stream (empty lines)
 *	-q	read the head, then nothing more, until it is killed
 *	-t	the time limit; default: 60
 *
 * Exit status: 0 if the answer is 2xx or 3xx and complete, or -e is reached; 1
 * for other answers; 2 without an answer, or after the time limit.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "base/os.h"
#include "base/os_net.h"
#include "lib/http.h"
#include "test/tool/oracle.h"

struct get {
	bool head, status, quiet;
	const char *method, *address, *target;
	struct buf fields;
	struct str body;
	bool has_body, has_host, has_type;
	long events, seconds;
	int fd;
	int64_t until;
	bool newline;		/* the last byte printed was one */
	struct oracle oracle;
};

static struct arena arena;

static void
die(const char *what)
{
	fprintf(stderr, "httpget: %s\n", what);
	exit(2);
}

static void
await(const struct get *g, short events)
{
	struct pollfd p = { .fd = g->fd, .events = events };
	int64_t left = g->until - os_now_ms();

	if (left <= 0 || poll(&p, 1, (int)left) == 0)
		die("time is over");
}

static void
dial(struct get *g)
{
	const char *colon = strrchr(g->address, ':');
	const char *host = "127.0.0.1", *port = g->address;
	struct err e;

	if (strspn(g->address, "0123456789") != strlen(g->address)) {
		if (colon == NULL || strchr(g->address, '/') != NULL) {
			g->fd = os_connect_unix(g->address, &e);
			if (g->fd == -1)
				die(e.msg);
			return;
		}
		port = colon + 1;
		host = arena_str(&arena, (struct str){ g->address,
		    (size_t)(colon - g->address) }).p;
	}
	g->fd = os_connect_tcp(host, port, 0, &e);
	if (g->fd == -1)
		die(e.msg);
	await(g, POLLOUT);
	if (os_connected(g->fd) != 0)
		die("no connection");
}

static void
ask(struct get *g)
{
	struct buf b = { 0 };
	size_t sent = 0;
	ssize_t n;

	buf_fmt(&b, "%s %s HTTP/1.1\r\n", g->method != NULL ? g->method :
	    g->has_body ? "POST" : "GET", g->target);
	if (!g->has_host)
		buf_put(&b, STR("Host: localhost\r\n"));
	buf_put(&b, buf_str(&g->fields));
	if (g->has_body && !g->has_type)
		buf_put(&b, STR("Content-Type: application/json\r\n"));
	if (g->has_body)
		buf_fmt(&b, "Content-Length: %zu\r\n", g->body.n);
	buf_put(&b, STR("Connection: close\r\n\r\n"));
	buf_put(&b, g->body);
	while (sent < b.n) {
		n = os_write(g->fd, b.p + sent, b.n - sent);
		if (n == -1 && errno != EAGAIN)
			break;		/* it may have answered already */
		if (n == -1)
			await(g, POLLOUT);
		else
			sent += (size_t)n;
	}
	buf_free(&b);
}

static bool
take(struct get *g, struct buf *in)
{
	char *p = buf_room(in, 65536);
	ssize_t n;

	while ((n = os_read(g->fd, p, 65536)) == -1 && errno == EAGAIN)
		await(g, POLLIN);
	if (n > 0) {
		oracle_put(&g->oracle, (struct str){ p, (size_t)n });
		in->n += (size_t)n;
	} else
		oracle_end(&g->oracle);
	return n > 0;
}

/* Prints it, up to the end of the last requested event. */
static void
show(struct get *g, struct str s)
{
	size_t i;

	for (i = 0; g->events > 0 && i < s.n; i++) {
		if (s.p[i] == '\n' && g->newline && --g->events == 0) {
			fwrite(s.p, 1, i + 1, stdout);
			fflush(stdout);
			exit(0);
		}
		g->newline = s.p[i] == '\n';
	}
	fwrite(s.p, 1, s.n, stdout);
	fflush(stdout);
}

static int
answer(struct get *g)
{
	struct http_head *h = NEW(&arena, struct http_head);
	struct http_body body;
	struct buf in = { 0 };
	size_t seen = 0, used = 0;
	struct str data;
	struct err e;
	bool more = true;
	int rc;

	do
		rc = http_head_read(h, HTTP_RESPONSE, buf_str(&in), &seen,
		    &used, &e);
	while (rc == 0 && take(g, &in));
	if (rc != 1)
		die(rc == 0 ? "no answer" : e.msg);
	if (g->head)
		fwrite(in.p, 1, used, stdout);
	if (g->status)
		printf("%d\n", h->status);
	fflush(stdout);
	if (g->quiet)
		for (;;)
			pause();
	if (g->method != NULL && strcmp(g->method, "HEAD") == 0)
		h->length = HTTP_NONE;
	buf_eat(&in, used);
	http_body_init(&body, h, 0);
	for (rc = 0; rc == 0; ) {
		rc = http_body_next(&body, buf_str(&in), !more, &used, &data,
		    &e);
		if (rc != -1)
			show(g, data);
		buf_eat(&in, rc == -1 ? 0 : used);
		if (rc == 0 && in.n == 0 && more)
			more = take(g, &in);
	}
	if (rc == -1 || g->events > 0)
		die(rc == -1 ? e.msg : "it ended before");
	buf_free(&in);
	return h->status >= 200 && h->status < 400 ? 0 : 1;
}

static void
add_field(struct get *g, const char *text)
{
	g->has_host = g->has_host || strncmp(text, "Host:", 5) == 0;
	g->has_type = g->has_type || strncmp(text, "Content-Type:", 13) == 0;
	buf_puts(&g->fields, text);
	buf_put(&g->fields, STR("\r\n"));
}

static void
set_body(struct get *g, const char *text)
{
	struct err e;

	g->has_body = true;
	g->body = str_of(text);
	if (strcmp(text, "-") == 0 && os_read_fd(&arena, 0, "stdin",
	    64 << 20, &g->body, &e) == -1)
		die(e.msg);
}

int
main(int argc, char **argv)
{
	struct get g = { .seconds = 60 };
	struct err e;
	int c, status;

	if (os_init(&e) == -1)
		return 2;
	while ((c = getopt(argc, argv, "isqX:H:d:e:t:")) != -1)
		switch (c) {
		case 'i': g.head = true; break;
		case 's': g.status = true; break;
		case 'q': g.quiet = true; break;
		case 'X':
			g.method = optarg;
			g.oracle.no_bodies = strcmp(optarg, "HEAD") == 0;
			break;
		case 'H': add_field(&g, optarg); break;
		case 'd': set_body(&g, optarg); break;
		case 'e': g.events = strtol(optarg, NULL, 10); break;
		case 't': g.seconds = strtol(optarg, NULL, 10); break;
		default: return 2;
		}
	if (argc - optind != 2)
		die("usage: httpget [OPTION...] ADDRESS TARGET");
	g.address = argv[optind];
	g.target = argv[optind + 1];
	g.until = os_now_ms() + g.seconds * 1000;
	dial(&g);
	ask(&g);
	status = answer(&g);
	oracle_end(&g.oracle);
	buf_free(&g.fields);
	return status;
}
