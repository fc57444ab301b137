/* SPDX-License-Identifier: ISC */
/*
 * HTTP: requests in arbitrary pieces, refusals, access checks, routes, the
 * order of answers, streams, clients that read or write slowly.
 */
#include "web/web.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/base.h"
#include "base/os.h"
#include "io/conn.h"
#include "io/loop.h"
#include "lib/http.h"
#include "rpc/rpc_internal.h"
#include "test/tool/help.h"
#include "test/tool/tap.h"

#if defined(OS_SHORT)		/* short reads and writes */
enum { EACH = 1500 };
#else
enum { EACH = 1 };
#endif

static struct loop *l;
static struct err e;
static struct rpc rpc;
static struct web web;

struct end {
	int fd;
	struct buf got;
	bool eof;
};

static void
hear(struct end *x)
{
	x->eof |= read_available(x->fd, &x->got);
}

/* One-byte writes soon fill a socket: read from it. */
static struct end *ear;

static void
turn(void)
{
	if (EACH > 1 && ear != NULL)
		hear(ear);
	turn_loop(l);
}

static void
turns(int n)
{
	int i;

	for (i = 0; i < n * EACH; i++)
		turn();
}

/* Advances the clock. */
static void
later(int64_t ms)
{
	int64_t step;

	while (ms > 0) {
		step = ms < 500 ? ms : 500;
		fake_now += step;
		ms -= step;
		turn();
		turn();
	}
	turns(1);
}

/*
 * Routes.
 */
static struct web_req *kept;	/* that will be answered later */
static int gone, drained;

static void
on_gone(void *arg)
{
	(void)arg;
	gone++;
	kept = NULL;
}

static void
on_drained(void *arg)
{
	(void)arg;
	drained++;
}

static void
say(struct web_req *r)
{
	struct buf *b = web_begin(r);
	struct str q = STR("-");

	buf_put(b, r->method);
	buf_putc(b, ' ');
	buf_put(b, r->path);
	buf_fmt(b, " [%.*s][%.*s]", STRF(r->param[0]), STRF(r->param[1]));
	web_query(r, "q", &q);
	buf_fmt(b, " %.*s ", STRF(q));
	buf_put(b, r->body);
	web_end(r, 200, "text/plain");
}

static void
wait_a_while(struct web_req *r)
{
	web_later(r, on_gone, NULL);
	kept = r;
}

/* A long answer in pieces, each after the last was sent. */
static long lots;

static void
on_room(void *arg)
{
	static char text[60000];

	(void)arg;
	memset(text, 'x', sizeof(text));
	if (lots > 0) {
		web_stream_put(kept, (struct str){ text, sizeof(text) });
		if (lots % 3 == 1)
			web_stream_flush(kept);
		if (--lots == 0)
			web_stream_end(kept);
	}
}

static void
pour(struct web_req *r)
{
	static const struct web_stream s = { .gone = on_gone,
		.drained = on_room };

	if (web_stream_begin(r, "text/plain", &s)) {
		kept = r;
		on_room(NULL);
	}
}

static void
flow(struct web_req *r)
{
	static const struct web_stream s = { .gone = on_gone,
		.drained = on_drained };

	if (web_stream_begin(r, "text/event-stream", &s))
		kept = r;
}

static void
fields(struct web_req *r)
{
	web_field(r, "X-One", STR("1"));
	web_field(r, "X-Evil", STR("a\r\nSet-Cookie: b"));
	web_field(r, "Cache-Control", STR("max-age=5"));
	web_answer(r, 201, "text/plain", STR("made"));
}

static void
empty(struct web_req *r)
{
	web_answer(r, 204, "text/plain", STR("nothing of this"));
}

static void
big(struct web_req *r)
{
	struct buf *b = web_begin(r);
	size_t i;

	for (i = 0; i < 3 << 20; i++)
		buf_putc(b, (char)('a' + i % 26));
	web_end(r, 200, "text/plain");
}

static const struct web_route rows[] = {
	{ WEB_GET | WEB_POST | WEB_DELETE, "/say", WEB_OPEN, .fn = say },
	{ WEB_GET, "/say/:a", WEB_OPEN, .fn = say },
	{ WEB_GET, "/say/:a/to/:b", WEB_OPEN, .fn = say },
	{ WEB_GET, "/", WEB_OPEN, .fn = say },
	{ WEB_WS, "/", 0, .fn = wait_a_while },
	{ WEB_GET, "/wait", WEB_OPEN, .fn = wait_a_while },
	{ WEB_GET, "/flow", WEB_OPEN, .fn = flow },
	{ WEB_GET, "/pour", WEB_OPEN, .fn = pour },
	{ WEB_GET, "/fields", WEB_OPEN, .fn = fields },
	{ WEB_PUT, "/empty", WEB_OPEN, .fn = empty },
	{ WEB_GET, "/big", WEB_OPEN, .fn = big },
	{ WEB_GET | WEB_POST, "/secret", 0, .fn = say },
	{ WEB_GET, "/events", WEB_QUERY_TOKEN, .fn = say },
};

/*
 * Connections.
 */
static enum rpc_via via = RPC_TCP;

static void
on_chosen(void *arg, struct conn *c, const struct conn_framer *f)
{
	(void)arg;
	if (f == &conn_http)
		web_adopt(&web, c, via, false);
	else
		rpc_adopt(&rpc, via, c, f, false);
}

static void
no_message(void *arg, struct str s)
{
	(void)arg;
	(void)s;
}

static void
no_sense(void *arg, const struct err *why)
{
	(void)arg;
	(void)why;
}

static struct conn *
begin(struct end *x)
{
	struct conn_opts door = { .message = no_message, .broken = no_sense,
		.ended = no_op, .gone = no_op, .chosen = on_chosen };
	int fd[2];

	*x = (struct end){ .fd = -1 };
	if (!open_pair(SOCK_STREAM, fd))
		return NULL;
	x->fd = fd[1];
	door.in = door.out = fd[0];
	return conn_new(rpc_conns(&rpc), &door);
}

static void
feed(struct end *x, struct str s)
{
	ssize_t n;

	ear = x;
	while (s.n > 0 && !x->eof) {
		n = write(x->fd, s.p, s.n);
		if (n > 0) {
			s.p += n;
			s.n -= (size_t)n;
		} else
			hear(x);
		turn();
		for (; EACH > 1 && n > 0; n--) {
			turn();
			turn();
			turn();
		}
	}
	turns(EACH > 1 && s.n < 2 ? 1 : 2);
	hear(x);
}

static void
end(struct end *x)
{
	ear = NULL;
	os_close(&x->fd);
	turns(3);
	buf_free(&x->got);
}

/*
 * The answers in short: "status body|" for each, and "." at the end of the
 * stream.  100 Continue is "100 |".
 */
static void
sum_up(struct end *x, bool heads, struct buf *out)
{
	struct str in = buf_str(&x->got), data;
	struct http_head h;
	struct http_body b;
	size_t used, seen;

	while (in.n > 0) {
		seen = 0;
		if (http_head_read(&h, HTTP_RESPONSE, in, &seen, &used, &e) !=
		    1)
			break;
		in.p += used;
		in.n -= used;
		buf_fmt(out, "%d ", h.status);
		if (h.status == 101)
			break;
		http_body_init(&b, &h, 0);
		while (!heads && http_body_next(&b, in, x->eof, &used, &data,
		    &e) == 0 && used > 0) {
			buf_put(out, data);
			in.p += used;
			in.n -= used;
			data.n = 0;
		}
		if (!heads) {
			buf_put(out, data);
			in.p += used;
			in.n -= used;
		}
		buf_putc(out, '|');
	}
	if (x->eof)
		buf_putc(out, '.');
}

static bool
is_answer(struct end *x, const char *want)
{
	struct buf b = { 0 };
	bool same;

	sum_up(x, false, &b);
	same = str_is(buf_str(&b), want);
	if (!same)
		printf("# want %s\n# got  %.*s\n# all  %.*s\n", want,
		    (int)(b.n < 500 ? b.n : 500), b.p,
		    (int)(x->got.n < 1000 ? x->got.n : 1000), x->got.p);
	buf_free(&b);
	return same;
}

/* One connection: its input and the answers. */
static bool
answers(const char *text, const char *want)
{
	struct end x;
	bool same;

	begin(&x);
	feed(&x, str_of(text));
	same = is_answer(&x, want);
	if (!same)
		printf("# to %s\n", text);
	end(&x);
	return same;
}

/* The first status, and whether the connection stays open. */
static bool
refuses(struct str text, int status, bool goes_on)
{
	struct end x;
	struct http_head h = { 0 };
	size_t seen = 0, used;
	bool same;

	begin(&x);
	feed(&x, text);
	same = http_head_read(&h, HTTP_RESPONSE, buf_str(&x.got), &seen,
	    &used, &e) == 1 && h.status == status && h.keep == goes_on;
	if (!goes_on)
		same &= x.eof;
	if (!same)
		printf("# %.*s: %.*s%s\n", (int)(text.n < 80 ? text.n : 80),
		    text.p, (int)(x.got.n < 200 ? x.got.n : 200), x.got.p,
		    x.eof ? "." : "");
	end(&x);
	return same;
}

#define HOST "Host: localhost\r\n"
#define GET(p) "GET " p " HTTP/1.1\r\n" HOST "\r\n"
#define POST(p, n, body) \
	"POST " p " HTTP/1.1\r\n" HOST "Content-Length: " #n "\r\n\r\n" body

static void
requests(void)
{
	OK(answers(GET("/say"), "200 GET /say [][] - |"));
	OK(answers(GET("/say?x=1&q=a%20b+c&q=d"), "200 GET /say [][] a b c |"));
	OK(answers(GET("/say?q"), "200 GET /say [][]  |"));
	OK(answers(GET("/say?q=%zz"), "200 GET /say [][] - |"));
	OK(answers(GET("/say?%71=x"), "200 GET /say [][] x |"));
	OK(answers(GET("/say/a%2Fb"), "200 GET /say/a%2Fb [a/b][] - |"));
	OK(answers(GET("/say/x/to/y"), "200 GET /say/x/to/y [x][y] - |"));
	OK(answers(GET("/say/+/to/%C3%A4"), "200 GET /say/+/to/%C3%A4 [+][\xc3\xa4] - |"));
	OK(answers(GET("/"), "200 GET / [][] - |"));
	OK(answers(POST("/say", 5, "hello"), "200 POST /say [][] - hello|"));
	OK(answers(POST("/say", 0, ""), "200 POST /say [][] - |"));
	OK(answers("DELETE /say HTTP/1.1\r\n" HOST "\r\n", "200 DELETE /say [][] - |"));
	OK(answers("POST /say HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"
	    "5\r\nhello\r\n6;x=y\r\n world\r\n0\r\nT: x\r\n\r\n",
	    "200 POST /say [][] - hello world|"));
	/* one after the other, some with bodies, blank lines between */
	OK(answers(GET("/say?q=1") "\r\n" POST("/say?q=2", 2, "{}") "\n"
	    "POST /say?q=3 HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"
	    "1\r\nx\r\n0\r\n\r\n" GET("/say?q=4"),
	    "200 GET /say [][] 1 |200 POST /say [][] 2 {}|200 POST /say [][] 3 x|"
	    "200 GET /say [][] 4 |"));
	/* a whole URL, whose host counts */
	OK(answers("GET http://127.0.0.1:3000/say?q=1 HTTP/1.1\r\nHost: elsewhere\r\n\r\n",
	    "200 GET /say [][] 1 |"));
	OK(refuses(STR("GET http://elsewhere/say HTTP/1.1\r\n" HOST "\r\n"), 403, true));
	/* Connection: close, and HTTP/1.0 */
	OK(answers("GET /say HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n" GET("/say"),
	    "200 GET /say [][] - |."));
	OK(answers("GET /say HTTP/1.0\r\n\r\n" GET("/say"), "200 GET /say [][] - |."));
	OK(answers("GET /say HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" GET("/say?q=2"),
	    "200 GET /say [][] - |200 GET /say [][] 2 |"));
	/* LF without CR is accepted */
	OK(answers("GET /say HTTP/1.1\nHost: localhost\n\n", "200 GET /say [][] - |"));
}

/* The answers do not depend on how the input is split. */
static void
pieces(void)
{
	static const char text[] = GET("/say?q=1") POST("/say?q=2", 2, "{}")
	    "POST /say?q=3 HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n"
	    "\r\n1\r\nx\r\n2\r\nyz\r\n0\r\n\r\n" GET("/no") GET("/say?q=4");
	struct buf whole = { 0 }, cut = { 0 };
	struct end x;
	size_t i, differ = 0;

	begin(&x);
	feed(&x, STR(GET("/say?q=1") POST("/say?q=2", 2, "{}")));
	OK(is_answer(&x, "200 GET /say [][] 1 |200 POST /say [][] 2 {}|"));
	end(&x);
	begin(&x);
	feed(&x, str_of(text));
	sum_up(&x, false, &whole);
	end(&x);
	for (i = 1; i < sizeof(text) - 1; i += EACH > 1 ? 41 : 1) {
		begin(&x);
		feed(&x, (struct str){ text, i });
		feed(&x, str_of(text + i));
		cut.n = 0;
		sum_up(&x, false, &cut);
		differ += !str_eq(buf_str(&whole), buf_str(&cut));
		end(&x);
	}
	OK(differ == 0);
	begin(&x);
	for (i = 0; i < sizeof(text) - 1; i++)
		feed(&x, (struct str){ text + i, 1 });
	cut.n = 0;
	sum_up(&x, false, &cut);
	OK(str_eq(buf_str(&whole), buf_str(&cut)));
	end(&x);
	buf_free(&whole);
	buf_free(&cut);
}

static void
long_ones(void)
{
	struct buf b = { 0 };
	size_t i;

	buf_puts(&b, "GET /");
	for (i = 0; i < 9000; i++)
		buf_putc(&b, 'a');
	buf_puts(&b, " HTTP/1.1\r\n" HOST "\r\n");
	OK(refuses(buf_str(&b), 414, false));
	b.n = 0;
	buf_puts(&b, "GET /say HTTP/1.1\r\n" HOST);
	for (i = 0; i < 101; i++)
		buf_puts(&b, "X: y\r\n");
	buf_puts(&b, "\r\n");
	OK(refuses(buf_str(&b), 431, false));
	b.n = 0;
	buf_puts(&b, "GET /say HTTP/1.1\r\n" HOST "X: ");
	for (i = 0; i < 20000; i++)
		buf_putc(&b, 'x');
	OK(refuses(buf_str(&b), 431, false));
	b.n = 0;
	buf_puts(&b, "POST /say HTTP/1.1\r\n" HOST
	    "Transfer-Encoding: chunked\r\n\r\nfffff\r\n");
	OK(refuses(buf_str(&b), 413, false));
	b.n = 0;
	buf_puts(&b, "POST /say HTTP/1.1\r\n" HOST
	    "Transfer-Encoding: chunked\r\n\r\n");
	for (i = 0; i < 20; i++)
		buf_puts(&b, "a\r\n0123456789\r\n");
	OK(refuses(buf_str(&b), 413, false));
	buf_free(&b);
}

static void
refusals(void)
{
	OK(refuses(STR("GET /say\r\n\r\n"), 400, false));
	OK(refuses(STR("GET /say HTTP/1.1\r\n\r\n"), 400, false));
	OK(refuses(STR("GET /say HTTP/1.1\r\n" HOST HOST "\r\n"), 400, false));
	OK(refuses(STR("GET /say HTTP/1.1\r\n" HOST "X : y\r\n\r\n"), 400, false));
	OK(refuses(STR("GET /say HTTP/1.1\r\n" HOST " folded\r\n\r\n"), 400, false));
	OK(refuses(STR("GET /say HTTP/1.1\r\n" HOST "X: a\0b\r\n\r\n"), 400, false));
	OK(refuses(STR("GET nonsense HTTP/1.1\r\n" HOST "\r\n"), 400, true));
	OK(refuses(STR("GET /say HTTP/2.0\r\n" HOST "\r\n"), 505, false));
	OK(refuses(STR("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 505, false));
	OK(refuses(STR("POST /say HTTP/1.1\r\n" HOST "Content-Length: 101\r\n\r\n"), 413, false));
	OK(refuses(STR("POST /say HTTP/1.1\r\n" HOST "Content-Length: 1\r\nContent-Length: 2\r\n\r\n"),
	    400, false));
	OK(refuses(STR("POST /say HTTP/1.1\r\n" HOST "Content-Length: 3\r\n"
	    "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), 400, false));
	OK(refuses(STR("POST /say HTTP/1.1\r\n" HOST "Transfer-Encoding: gzip\r\n\r\n"), 501, false));
	OK(refuses(STR("POST /say HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\nxyz"), 400,
	    false));
	OK(refuses(STR("CONNECT localhost:80 HTTP/1.1\r\n" HOST "\r\n"), 501, true));
	OK(refuses(STR("TRACE /say HTTP/1.1\r\n" HOST "\r\n"), 501, true));
	OK(refuses(STR("BREW /say HTTP/1.1\r\n" HOST "\r\n"), 501, true));
	OK(refuses(STR("PUT /say HTTP/1.1\r\n" HOST "\r\n"), 405, true));
	OK(refuses(STR("POST /say/a HTTP/1.1\r\n" HOST "\r\n"), 405, true));
	OK(refuses(STR(GET("/nothing")), 404, true));
	OK(refuses(STR(GET("/say/")), 404, true));
	OK(refuses(STR(GET("//say")), 404, true));
	OK(refuses(STR(GET("/say/../say")), 404, true));
	OK(refuses(STR(GET("/say/%zz")), 404, true));
	OK(refuses(STR(GET("/rpc")), 426, true));
	OK(refuses(STR("GET * HTTP/1.1\r\n" HOST "\r\n"), 400, true));
	long_ones();
}

static void
details(void)
{
	struct end x;

	begin(&x);
	feed(&x, STR("PUT /say HTTP/1.1\r\n" HOST "\r\n"));
	OK(has(buf_str(&x.got), "\r\nAllow: OPTIONS, GET, HEAD, POST, DELETE\r\n"));
	OK(has(buf_str(&x.got), "{\"error\":{\"code\":405,\"kind\":\"method_not_allowed\","));
	end(&x);
	begin(&x);
	feed(&x, STR("OPTIONS /say HTTP/1.1\r\n" HOST "\r\n"
	    "OPTIONS * HTTP/1.1\r\n" HOST "\r\n" GET("/say")));
	OK(is_answer(&x, "204 |204 |200 GET /say [][] - |"));
	OK(has(buf_str(&x.got), "\r\nAllow: OPTIONS, GET, HEAD, POST, DELETE\r\n"));
	OK(lacks(buf_str(&x.got), "Access-Control"));
	end(&x);
	begin(&x);
	feed(&x, STR("HEAD /say HTTP/1.1\r\n" HOST "\r\n"
	    "HEAD /flow HTTP/1.1\r\n" HOST "\r\n"
	    "HEAD /nothing HTTP/1.1\r\n" HOST "\r\n" GET("/say?q=last")));
	OK(has(buf_str(&x.got), "HTTP/1.1 200 OK\r\n") && has(buf_str(&x.got), "Content-Length: 17\r\n"));
	OK(has(buf_str(&x.got), "HTTP/1.1 404 ") && lacks(buf_str(&x.got), "not_found"));
	OK(has(buf_str(&x.got), "GET /say [][] last ") && lacks(buf_str(&x.got), "HEAD /say"));
	OK(kept == NULL && gone == 0);
	end(&x);
	begin(&x);
	feed(&x, STR(GET("/fields")));
	OK(is_answer(&x, "201 made|") && has(buf_str(&x.got), "\r\nX-One: 1\r\n") &&
	    lacks(buf_str(&x.got), "Evil") && lacks(buf_str(&x.got), "Set-Cookie"));
	OK(has(buf_str(&x.got), "Cache-Control: max-age=5\r\n") && lacks(buf_str(&x.got), "no-store"));
	OK(has(buf_str(&x.got), "X-Content-Type-Options: nosniff\r\n") &&
	    has(buf_str(&x.got), "Referrer-Policy: no-referrer\r\n"));
	x.got.n = 0;
	feed(&x, STR(GET("/say")));
	OK(has(buf_str(&x.got), "Cache-Control: no-store\r\n") && lacks(buf_str(&x.got), "X-One") &&
	    has(buf_str(&x.got), "\r\nDate: ") && has(buf_str(&x.got), " GMT\r\n"));
	end(&x);
	begin(&x);
	feed(&x, STR("PUT /empty HTTP/1.1\r\n" HOST "\r\n" GET("/say")));
	OK(is_answer(&x, "204 |200 GET /say [][] - |"));
	end(&x);
	/* Expect: 100-continue */
	begin(&x);
	feed(&x, STR("POST /say HTTP/1.1\r\n" HOST "Expect: 100-continue\r\n"
	    "Content-Length: 5\r\n\r\n"));
	OK(is_answer(&x, "100 |"));
	feed(&x, STR("he"));
	feed(&x, STR("llo"));
	OK(is_answer(&x, "100 |200 POST /say [][] - hello|"));
	x.got.n = 0;
	feed(&x, STR("POST /say HTTP/1.1\r\n" HOST "Expect: 100-continue\r\n"
	    "Transfer-Encoding: chunked\r\n\r\n"));
	OK(is_answer(&x, "100 |"));
	feed(&x, STR("1\r\nx\r\n0\r\n\r\n"));
	OK(is_answer(&x, "100 |200 POST /say [][] - x|"));
	end(&x);
	OK(refuses(STR("POST /say HTTP/1.1\r\n" HOST "Expect: 100-continue\r\n"
	    "Content-Length: 500\r\n\r\n"), 413, false));
	/* everything but HTTP is JSON-RPC */
	begin(&x);
	feed(&x, STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"nope\"}\n"));
	OK(has(buf_str(&x.got), "-32601"));
	end(&x);
	begin(&x);
	feed(&x, STR("Content-Length: 40\r\n\r\n"
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"nope\"}"));
	OK(has(buf_str(&x.got), "Content-Length: ") && has(buf_str(&x.got), "-32601"));
	end(&x);
}

/*
 * Gates.
 */
static const struct {
	const char *host, *origin;
	bool in, remote;
} sources[] = {
	{ "localhost", NULL, true, true },
	{ "LocalHost:3000", NULL, true, true },
	{ "localhost.:3000", NULL, true, true },
	{ "x.localhost", NULL, true, true },
	{ "127.0.0.1", NULL, true, true },
	{ "127.0.0.1:9999", NULL, true, true },
	{ "127.255.1.2", NULL, true, true },
	{ "[::1]", NULL, true, true },
	{ "[::1]:3000", NULL, true, true },
	{ "ours.example", NULL, true, true },
	{ "OURS.example:81", NULL, true, true },
	{ "", NULL, false, false },
	{ "evil.example", NULL, false, false },
	{ "localhost.evil.example", NULL, false, false },
	{ "evillocalhost", NULL, false, false },
	{ "127.0.0.1.evil.example", NULL, false, false },
	{ "127.0.0.256", NULL, false, false },
	{ "127.0.0.1:80:80", NULL, false, false },
	{ "127.1", NULL, false, false },
	{ "192.168.1.5:3000", NULL, false, true },
	{ "[fe80::1]:3000", NULL, false, true },
	{ "[::1", NULL, false, false },
	{ "localhost:3000", "http://localhost:3000", true, true },
	{ "localhost:3000", "https://localhost:3000", true, true },
	{ "localhost:3000", "http://LOCALHOST:3000", true, true },
	{ "localhost:3000", "http://localhost:3001", false, false },
	{ "localhost:3000", "http://127.0.0.1:3000", false, false },
	{ "localhost:3000", "http://evil.example", false, false },
	{ "localhost:3000", "null", false, false },
	{ "localhost:3000", "", false, false },
	{ "localhost:3000", "file://localhost:3000", false, false },
	{ "localhost:3000", "chrome-extension://abc", true, true },
	{ "localhost:3000", "chrome-extension://abcd", false, false },
};

static void
source_gate(void)
{
	char text[300];
	size_t i;
	int remote;
	bool all = true, one;

	for (remote = 0; remote < 2; remote++)
		for (i = 0; i < COUNTOF(sources); i++) {
			web.remote = remote;
			snprintf(text, sizeof(text), "GET /say HTTP/1.1\r\n"
			    "Host: %s\r\n%s%s%s\r\n", sources[i].host,
			    sources[i].origin != NULL ? "Origin: " : "",
			    sources[i].origin != NULL ? sources[i].origin : "",
			    sources[i].origin != NULL ? "\r\n" : "");
			one = refuses(str_of(text), (remote ?
			    sources[i].remote : sources[i].in) ? 200 : 403,
			    true);
			all &= one;
		}
	web.remote = false;
	OK(all);
	via = RPC_UNIX;
	OK(answers("GET /say HTTP/1.1\r\nHost: whatever\r\n\r\n", "200 GET /say [][] - |"));
	via = RPC_TCP;
}

#define WITH(p, f) "GET " p " HTTP/1.1\r\n" HOST f "\r\n\r\n"

static void
token_gate(void)
{
	struct end x;

	OK(answers(GET("/secret"), "200 GET /secret [][] - |"));
	rpc.access.token = STR("s3cret");
	OK(refuses(STR(GET("/secret")), 401, true));
	OK(refuses(STR(WITH("/secret", "Authorization: Bearer s3cre")), 401, true));
	OK(refuses(STR(WITH("/secret", "Authorization: Bearer s3cretx")), 401, true));
	OK(refuses(STR(WITH("/secret", "Authorization: Bearer")), 401, true));
	OK(refuses(STR(WITH("/secret", "Authorization: Bearer ")), 401, true));
	OK(refuses(STR(WITH("/secret", "Authorization: Basic s3cret")), 401, true));
	OK(refuses(STR(WITH("/secret", "Authorization: s3cret")), 401, true));
	OK(refuses(STR(GET("/secret?access_token=s3cret")), 401, true));
	OK(refuses(STR(WITH("/secret", "Authorization: Bearer s3cret")), 200, true));
	OK(refuses(STR(WITH("/secret", "authorization: bearer   s3cret")), 200, true));
	OK(refuses(STR("DELETE /secret HTTP/1.1\r\n" HOST "\r\n"), 401, true));
	OK(refuses(STR("DELETE /secret HTTP/1.1\r\n" HOST "Authorization: Bearer s3cret\r\n\r\n"),
	    405, true));
	OK(refuses(STR(GET("/events")), 401, true));
	OK(refuses(STR(GET("/events?access_token=wrong")), 401, true));
	OK(refuses(STR(GET("/events?access_token=s3cret")), 200, true));
	OK(refuses(STR(GET("/events?x=1&access_token=s3%63ret")), 200, true));
	OK(refuses(STR(WITH("/events?access_token=s3cret", "Authorization: Bearer no")), 401, true));
	OK(refuses(STR(GET("/say")), 200, true));
	OK(refuses(STR(GET("/health")), 200, true));
	OK(refuses(STR(GET("/api/v1/health")), 200, true));
	begin(&x);
	feed(&x, STR(GET("/secret")));
	OK(has(buf_str(&x.got), "\r\nWWW-Authenticate: Bearer\r\n") &&
	    has(buf_str(&x.got), "\"kind\":\"auth_failed\""));
	end(&x);
	/* three guesses */
	begin(&x);
	feed(&x, STR(WITH("/secret", "Authorization: Bearer 1")
	    WITH("/secret", "Authorization: Bearer 2")));
	OK(!x.eof);
	feed(&x, STR(WITH("/secret", "Authorization: Bearer 3")));
	OK(x.eof);
	end(&x);
	via = RPC_UNIX;
	OK(refuses(STR(GET("/secret")), 200, true));
	rpc.access.unix_token = true;
	OK(refuses(STR(GET("/secret")), 401, true));
	rpc.access.unix_token = false;
	via = RPC_TCP;
	rpc.access.token = STR("");
}

/*
 * Answers that are sent later.
 */
static void
order(void)
{
	struct end x;

	begin(&x);
	feed(&x, STR(GET("/wait?q=1") GET("/say?q=2") POST("/say?q=3", 1, "x")));
	OK(is_answer(&x, "") && kept != NULL);
	OK(str_is(kept->query, "q=1") && str_is(kept->path, "/wait") &&
	    kept->head == NULL);
	feed(&x, STR(GET("/say?q=4")));
	OK(is_answer(&x, ""));
	web_answer(kept, 200, "text/plain", STR("at last"));
	turns(4);
	hear(&x);
	OK(is_answer(&x, "200 at last|200 GET /say [][] 2 |200 POST /say [][] 3 x|"
	    "200 GET /say [][] 4 |"));
	x.got.n = 0;
	feed(&x, STR(GET("/wait") GET("/wait?2") GET("/say")));
	web_answer(kept, 200, "text/plain", STR("a"));
	turns(4);
	OK(str_is(kept->query, "2"));
	web_fail(kept, 503, "resource", STR("no"), STR("{\"x\":1}"));
	turns(4);
	hear(&x);
	OK(is_answer(&x, "200 a|503 {\"error\":{\"code\":503,\"kind\":\"resource\",\"message\":\"no\","
	    "\"data\":{\"x\":1}}}\n|200 GET /say [][] - |"));
	/* half-closed; the answers are still sent */
	x.got.n = 0;
	feed(&x, STR(GET("/wait") GET("/say?q=1") GET("/wait?3") GET("/say?q=2")));
	shutdown(x.fd, SHUT_WR);
	turns(3);
	web_answer(kept, 200, "text/plain", STR("b"));
	turns(4);
	OK(str_is(kept->query, "3"));
	web_answer(kept, 200, "text/plain", STR("c"));
	turns(4);
	hear(&x);
	OK(is_answer(&x, "200 b|200 GET /say [][] 1 |200 c|200 GET /say [][] 2 |."));
	end(&x);
	OK(gone == 0);
	/* the client disconnects */
	begin(&x);
	feed(&x, STR(GET("/wait")));
	OK(kept != NULL);
	end(&x);
	later(1000);
	OK(gone == 1 && kept == NULL);
	gone = 0;
}

static void
streams(void)
{
	struct end x;
	long more;
	int i;

	begin(&x);
	feed(&x, STR(GET("/flow") GET("/say?q=1")));
	OK(has(buf_str(&x.got), "Content-Type: text/event-stream\r\n") &&
	    has(buf_str(&x.got), "Transfer-Encoding: chunked\r\n\r\n"));
	OK(web_stream_put(kept, STR("data: 1\n\n")));
	OK(web_stream_put(kept, STR("")));
	OK(web_stream_put(kept, STR("data: 2\n\n")));
	OK(web_stream_room(kept) < WEB_STREAM_MAX);
	turns(3);
	hear(&x);
	OK(drained >= 1 && web_stream_room(kept) == WEB_STREAM_MAX);
	OK(has(buf_str(&x.got), "\r\n9\r\ndata: 1\n\n\r\n9\r\ndata: 2\n\n\r\n"));
	web_stream_end(kept);
	turns(4);
	hear(&x);
	OK(is_answer(&x, "200 data: 1\n\ndata: 2\n\n|200 GET /say [][] 1 |"));
	OK(gone == 0);
	end(&x);
	/* more than fits at once, from within the call and from drained() */
	for (more = 1; more < 200; more *= 3) {
		lots = more;
		begin(&x);
		feed(&x, STR(GET("/pour")));
		for (i = 0; i < 300 && lacks(buf_str(&x.got), "\r\n0\r\n\r\n"); i++) {
			turns(1);
			hear(&x);
		}
		OK(x.got.n > (size_t)more * 60000 && has(buf_str(&x.got), "\r\n0\r\n\r\n"));
		end(&x);
		if (EACH > 1)
			break;
	}
	/* HTTP/1.0 has no chunks */
	begin(&x);
	feed(&x, STR("GET /flow HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
	OK(web_stream_put(kept, STR("data: 1\n\n")));
	web_stream_end(kept);
	turns(4);
	hear(&x);
	OK(x.eof && has(buf_str(&x.got), "\r\n\r\ndata: 1\n\n") && lacks(buf_str(&x.got), "chunked"));
	end(&x);
	OK(gone == 0);
	/* a reader that disconnects */
	begin(&x);
	feed(&x, STR(GET("/flow")));
	end(&x);
	turns(3);
	if (kept != NULL)
		web_stream_put(kept, STR("data: 1\n\n"));
	later(1000);
	OK(gone == 1 && kept == NULL);
	gone = drained = 0;
}

/* A reader that does not read is disconnected, the others are not. */
static void
slow_readers(void)
{
	static char text[100000];
	struct end x, y;
	struct web_req *slow, *other;
	int i;

	memset(text, 'x', sizeof(text));
	begin(&x);
	begin(&y);
	feed(&x, STR(GET("/flow")));
	slow = kept;
	feed(&y, STR(GET("/flow")));
	other = kept;
	ear = &y;
	for (i = 0; i < 1000 && web_stream_put(slow, (struct str){ text,
	    sizeof(text) }); i++) {
		web_stream_put(other, (struct str){ text, sizeof(text) });
		turns(EACH > 1 ? 100 : 5);
		hear(&y);
		y.got.n = 0;
	}
	OK(i > 5 && i < 100);
	turns(2);
	OK(gone == 1);
	web_stream_end(other);
	for (i = 0; i < 20; i++) {
		turns(1);
		hear(&y);
	}
	OK(has(buf_str(&y.got), "0\r\n\r\n") && !y.eof);
	end(&x);
	end(&y);
	gone = 0;
	/* a reader that reads nothing for a minute */
	begin(&x);
	feed(&x, STR(GET("/flow")));
	ear = NULL;
	for (i = 0; i < 9; i++)
		web_stream_put(kept, (struct str){ text, sizeof(text) });
	turns(1);
	later(70000);
	OK(gone == 0);
	later(10000);
	OK(gone == 1);
	end(&x);
	gone = 0;
	/* of an answer that is long */
	begin(&x);
	if (write(x.fd, GET("/big"), strlen(GET("/big"))) > 0)
		turns(3);
	later(70000);
	OK(rpc_conns(&rpc)->n == 1);
	later(10000);
	OK(rpc_conns(&rpc)->n == 0);
	end(&x);
}

static void
slow_writers(void)
{
	struct end x, y;
	int i;

	/* byte by byte is accepted for a while */
	begin(&x);
	feed(&x, STR("GET /say HTTP/1.1\r\n"));
	later(15000);
	feed(&x, STR(HOST "\r\n"));
	OK(is_answer(&x, "200 GET /say [][] - |"));
	/* silence between requests is accepted */
	later(70000);
	feed(&x, STR(GET("/say?q=2")));
	OK(is_answer(&x, "200 GET /say [][] - |200 GET /say [][] 2 |"));
	later(80000);
	hear(&x);
	OK(x.eof && rpc_conns(&rpc)->n == 0);
	end(&x);
	/* endless headers, a line now and then */
	begin(&x);
	feed(&x, STR("GET /say HTTP/1.1\r\n" HOST));
	for (i = 0; i < 30 && !x.eof; i++) {
		later(1000);
		feed(&x, STR("X: y\r\n"));
	}
	OK(i >= 19 && i < 25 && x.eof && has(buf_str(&x.got), "HTTP/1.1 408 "));
	end(&x);
	/* endless bodies, in both ways */
	begin(&x);
	begin(&y);
	feed(&x, STR("POST /say HTTP/1.1\r\n" HOST "Content-Length: 100\r\n\r\n"));
	feed(&y, STR("POST /say HTTP/1.1\r\n" HOST
	    "Transfer-Encoding: chunked\r\n\r\n"));
	for (i = 0; i < 30 && !(x.eof && y.eof); i++) {
		later(1000);
		feed(&x, STR("x"));
		feed(&y, STR("1\r\nx\r\n"));
	}
	OK(i >= 19 && i < 25 && has(buf_str(&x.got), "HTTP/1.1 408 ") &&
	    has(buf_str(&y.got), "HTTP/1.1 408 "));
	end(&x);
	end(&y);
	/* not even four bytes */
	begin(&x);
	feed(&x, STR("GE"));
	later(15000);
	OK(rpc_conns(&rpc)->n == 1);
	later(10000);
	OK(rpc_conns(&rpc)->n == 0);
	end(&x);
	/* nothing: accepted, but another connection can take its place */
	begin(&x);
	later(100000);
	OK(rpc_conns(&rpc)->n == 1);
	end(&x);
	later(1000);
}

/* When all places are taken, idle connections are closed. */
static void
places(void)
{
	size_t most = rpc_conns(&rpc)->limits.conn_max, i;
	struct end x[4], y, z;

	rpc_conns(&rpc)->limits.conn_max = 4;
	begin(&x[0]);				/* sends nothing */
	later(100);
	begin(&x[1]);
	feed(&x[1], STR(GET("/wait")));		/* waits for an answer */
	later(100);
	begin(&x[2]);
	feed(&x[2], STR("GET /say HT"));	/* is slow */
	later(100);
	begin(&x[3]);				/* JSON-RPC: may be silent */
	feed(&x[3], STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\"}\n"));
	OK(rpc_conns(&rpc)->n == 4);
	OK(begin(&y) == NULL);			/* no connection is free yet */
	end(&y);
	later(3000);
	OK(begin(&y) != NULL && begin(&z) != NULL);
	turns(2);
	hear(&x[0]);
	hear(&x[2]);
	OK(x[0].eof && x[2].eof);
	ear = &x[1];
	web_answer(kept, 200, "text/plain", STR("still here"));
	turns(3);
	hear(&x[1]);
	OK(is_answer(&x[1], "200 still here|"));
	feed(&x[3], STR("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"x\"}\n"));
	OK(has(buf_str(&x[3].got), "\"id\":2"));
	for (i = 0; i < 4; i++)
		end(&x[i]);
	end(&y);
	end(&z);
	rpc_conns(&rpc)->limits.conn_max = most;
	later(1000);
	OK(rpc_conns(&rpc)->n == 0);
}

/*
 * WebSockets.
 */
#define UP "Upgrade: websocket\r\nConnection: Upgrade\r\n"
#define V13 "Sec-WebSocket-Version: 13\r\n"
#define KEY "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"

static void
upgrades(void)
{
	static const char ask[] = "\x81\xa9\0\0\0\0"
	    "{\"jsonrpc\":\"2.0\",\"id\":71,\"method\":\"nope\"}";
	static const char bin[] = "\x82\xa9\0\0\0\0"
	    "{\"jsonrpc\":\"2.0\",\"id\":72,\"method\":\"nope\"}";
	struct end x;

	/* with the first message in the same write */
	begin(&x);
	feed(&x, STR("GET /rpc HTTP/1.1\r\n" HOST UP V13 KEY "\r\n\x89\x81\0\0\0\0p"));
	OK(has(buf_str(&x.got), "HTTP/1.1 101 ") &&
	    has(buf_str(&x.got), "\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"));
	OK(has(buf_str(&x.got), "\r\n\r\n\x8a\x01p"));
	feed(&x, (struct str){ ask, sizeof(ask) - 1 });
	OK(has(buf_str(&x.got), "\"id\":71"));
	feed(&x, (struct str){ bin, sizeof(bin) - 1 });
	OK(has(buf_str(&x.got), "\"id\":72"));
	OK(rpc.state->npeers == 1);
	feed(&x, STR("\x88\x82\0\0\0\0\x03\xe8"));
	OK(has(buf_str(&x.got), "\x88\x02\x03\xe8") && x.eof);
	end(&x);
	turns(3);
	OK(rpc.state->npeers == 0);
	/* an error closes it with a code and a reason only */
	begin(&x);
	feed(&x, STR("GET /rpc HTTP/1.1\r\n" HOST UP V13 KEY "\r\n"));
	x.got.n = 0;
	feed(&x, STR("\x82\xff\x80\0\0\0\0\0\0\0\0\0\0\0"));
	OK(x.eof && x.got.n > 4 && memcmp(x.got.p, "\x88", 1) == 0 &&
	    memcmp(x.got.p + 2, "\x03\xea", 2) == 0);
	end(&x);
	begin(&x);
	feed(&x, STR("GET /rpc HTTP/1.1\r\n" HOST UP V13 KEY "\r\n"));
	x.got.n = 0;
	feed(&x, STR("\x81\xfe\x00\xff\0\0\0\0"));
	OK(x.eof && x.got.n > 4 && memcmp(x.got.p + 2, "\x03\xf1", 2) == 0);
	end(&x);
	/* refused */
	OK(refuses(STR("GET /rpc HTTP/1.1\r\n" HOST UP "Sec-WebSocket-Version: 8\r\n" KEY "\r\n"),
	    426, true));
	begin(&x);
	feed(&x, STR("GET /rpc HTTP/1.1\r\n" HOST UP "Sec-WebSocket-Version: 8\r\n" KEY "\r\n"));
	OK(has(buf_str(&x.got), "\r\nSec-WebSocket-Version: 13\r\n"));
	end(&x);
	OK(refuses(STR("GET /rpc HTTP/1.1\r\n" HOST UP V13 "\r\n"), 400, true));
	OK(refuses(STR("POST /rpc HTTP/1.1\r\n" HOST UP V13 KEY "\r\n"), 405, true));
	OK(refuses(STR("GET /nothing HTTP/1.1\r\n" HOST UP V13 KEY "\r\n"), 404, true));
	OK(refuses(STR("GET /rpc HTTP/1.1\r\n" HOST "Origin: http://evil.example\r\n" UP V13 KEY "\r\n"),
	    403, true));
	/* without a WebSocket route it is a plain request */
	OK(refuses(STR("GET /say HTTP/1.1\r\n" HOST UP V13 KEY "\r\n"), 200, true));
	OK(answers(GET("/"), "200 GET / [][] - |"));
	/* the token: header field, query or hello; a wrong one is refused */
	rpc.access.token = STR("s3cret");
	OK(refuses(STR("GET /rpc HTTP/1.1\r\n" HOST UP V13 KEY "Authorization: Bearer x\r\n\r\n"),
	    401, true));
	OK(refuses(STR("GET / HTTP/1.1\r\n" HOST UP V13 KEY "\r\n"), 401, true));
	begin(&x);
	feed(&x, STR("GET /rpc HTTP/1.1\r\n" HOST UP V13 KEY "Authorization: Bearer s3cret\r\n\r\n"));
	OK(has(buf_str(&x.got), " 101 ") && rpc.state->peers->authed);
	end(&x);
	begin(&x);
	feed(&x, STR("GET /rpc?access_token=s3cret HTTP/1.1\r\n" HOST UP V13 KEY "\r\n"));
	OK(has(buf_str(&x.got), " 101 ") && rpc.state->peers->authed);
	end(&x);
	begin(&x);
	feed(&x, STR("GET /rpc HTTP/1.1\r\n" HOST UP V13 KEY "\r\n"));
	OK(has(buf_str(&x.got), " 101 ") && !rpc.state->peers->authed);
	end(&x);
	rpc.access.token = STR("");
	turns(3);
}

/* While pongs are not read, pings are not read either. */
static void
ping_flood(void)
{
	static char pings[60000];
	struct end x;
	size_t i, sent = 0;
	ssize_t n;

	for (i = 0; i < sizeof(pings); i += 6)
		memcpy(pings + i, "\x89\x80\0\0\0\0", 6);
	begin(&x);
	feed(&x, STR("GET /rpc HTTP/1.1\r\n" HOST UP V13 KEY "\r\n"));
	ear = NULL;
	for (i = 0; i < 2000; i++) {
		n = write(x.fd, pings, sizeof(pings) - sent % 6);
		sent += n > 0 ? (size_t)n : 0;
		turn();
	}
	OK(rpc.state->peers != NULL && conn_pending(rpc.state->peers->conn) < 2 << 20);
	OK(sent < 50 << 20);
	if (EACH == 1) {	/* when it reads, it gets them all */
		for (i = 0, x.got.n = 0; i < 1000; i++) {
			turns(1);
			hear(&x);
		}
		OK(x.got.n == sent / 6 * 2);
	}
	end(&x);
	turns(3);
}

static void
health(void)
{
	OK(answers(GET("/health"), "200 {\"status\":\"ok\",\"version\":\"1.2\",\"runs\":0,"
	    "\"clients\":0}\n|"));
	OK(answers(GET("/api/v1/health"), "200 {\"status\":\"ok\",\"version\":\"1.2\",\"runs\":0,"
	    "\"clients\":0}\n|"));
	OK(web_status(RPC_EVAL_NOT_FOUND) == 404 &&
	    web_status(RPC_VALIDATION_FAILED) == 422 &&
	    web_status(RPC_INTERNAL) == 500);
}

int
main(void)
{
	static const char *const hosts[] = { "ours.example" };
	static const char *const origins[] = { "chrome-extension://abc" };
	int fds = tap_fd_count();
	struct end last;

	os_init(&e);
	l = loop_new(fake_clock, &e);
	rpc.loop = l;
	rpc.version = "1.2";
	rpc.limits.conns.message_max = 100;
	rpc_init(&rpc);
	web.rpc = &rpc;
	web.hosts = hosts;
	web.nhosts = 1;
	web.origins = origins;
	web.norigins = 1;
	web_init(&web);
	web_add(&web, rows, COUNTOF(rows), NULL);
	RUN(requests, pieces, refusals, details, source_gate, token_gate, order,
	    streams, slow_readers, slow_writers, places, upgrades, ping_flood,
	    health);
	begin(&last);
	feed(&last, STR("GET /rpc HTTP/1.1\r\n" HOST UP V13 KEY "\r\n"));
	last.got.n = 0;
	rpc_fini(&rpc);
	hear(&last);
	OK(last.eof && (EACH > 1 || (last.got.n == 4 &&
	    memcmp(last.got.p, "\x88\x02\x03\xe9", 4) == 0)));
	os_close(&last.fd);
	buf_free(&last.got);
	web_fini(&web);
	loop_free(l);
	OK(tap_fd_count() == fds);
	return tap_done();
}
