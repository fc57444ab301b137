/* SPDX-License-Identifier: ISC */
/*
 * HTTP messages, whole and split at every byte; refused messages and their
 * status; bodies, URLs, dates, events.
 */
#include "lib/http.h"

#include <stdlib.h>
#include <string.h>

#include "test/tool/tap.h"

static struct err e;

/* Parses the head in a separate block, to detect overruns. */
static int
read_all(struct http_head *h, enum http_side side, const char *text,
    size_t *used)
{
	size_t n = strlen(text), seen = 0;

	return http_head_read(h, side, (struct str){ text, n }, &seen, used,
	    &e);
}

/* Byte by byte: 0 until the end, then the same result as at once. */
static bool
same_in_parts(enum http_side side, const char *text)
{
	struct http_head whole, h;
	size_t n = strlen(text), used, k, seen = 0, part;
	int want = read_all(&whole, side, text, &used), r = 0;
	char *copy = malloc(n + 1);

	if (copy == NULL)
		abort();
	for (k = 1; k <= n && r == 0; k++) {
		memcpy(copy, text, k);
		r = http_head_read(&h, side, (struct str){ copy, k }, &seen,
		    &part, &e);
	}
	free(copy);
	if (want != 1)
		return r == want && h.status == whole.status;
	return r == 1 && part == used && h.length == whole.length &&
	    h.size == whole.size && h.nfields == whole.nfields &&
	    h.keep == whole.keep && h.status == whole.status;
}

struct request {
	const char *text;
	int status;		/* 0: accepted */
	enum http_length length;
	uint64_t size;
	bool keep;
};

static const struct request requests[] = {
	{ "GET / HTTP/1.1\r\nHost: a\r\n\r\n", 0, HTTP_NONE, 0, true },
	{ "GET / HTTP/1.1\nHost: a\n\n", 0, HTTP_NONE, 0, true },
	{ "\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", 0, HTTP_NONE, 0, true },
	{ "GET / HTTP/1.0\r\n\r\n", 0, HTTP_NONE, 0, false },
	{ "GET / HTTP/1.0\r\nConnection: x, Keep-Alive\r\n\r\n", 0, HTTP_NONE, 0, true },
	{ "GET / HTTP/1.1\r\nHost: a\r\nConnection: Close\r\n\r\n", 0, HTTP_NONE, 0, false },
	{ "POST /x?y HTTP/1.1\r\nhost:a\r\ncontent-length:  12 \r\n\r\n", 0, HTTP_FIXED, 12, true },
	{ "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n",
	    0, HTTP_FIXED, 5, true },
	{ "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5, 5\r\n\r\n", 0, HTTP_FIXED, 5, true },
	{ "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n",
	    0, HTTP_CHUNKED, 0, true },
	{ "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", 400, 0, 0, 0 },
	{ "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5, 6\r\n\r\n", 400, 0, 0, 0 },
	{ "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +5\r\n\r\n", 400, 0, 0, 0 },
	{ "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x5\r\n\r\n", 400, 0, 0, 0 },
	{ "POST / HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\n", 400, 0, 0, 0 },
	{ "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n", 413, 0, 0, 0 },
	{ "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
	    400, 0, 0, 0 },
	{ "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501, 0, 0, 0 },
	{ "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, chunked\r\n\r\n", 400, 0, 0, 0 },
	{ "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: ,\r\n\r\n", 400, 0, 0, 0 },
	{ "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400, 0, 0, 0 },
	{ "GET / HTTP/1.1\r\n\r\n", 400, 0, 0, 0 },
	{ "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400, 0, 0, 0 },
	{ "GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400, 0, 0, 0 },
	{ "GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n", 400, 0, 0, 0 },
	{ "GET / HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n", 400, 0, 0, 0 },
	{ "GET / HTTP/1.1\r\nHost: a\r\n: x\r\n\r\n", 400, 0, 0, 0 },
	{ "GET / HTTP/1.1\r\nHost: a\x01\r\n\r\n", 400, 0, 0, 0 },
	{ "GET / HTTP/1.1\r\nHost: a\rb\r\n\r\n", 400, 0, 0, 0 },
	{ "GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505, 0, 0, 0 },
	{ "GET / HTTP/0.9\r\nHost: a\r\n\r\n", 505, 0, 0, 0 },
	{ "GET / http/1.1\r\nHost: a\r\n\r\n", 400, 0, 0, 0 },
	{ "GET /\r\n\r\n", 400, 0, 0, 0 },
	{ "GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400, 0, 0, 0 },
	{ "GET / x HTTP/1.1\r\nHost: a\r\n\r\n", 400, 0, 0, 0 },
	{ "G\x80T / HTTP/1.1\r\nHost: a\r\n\r\n", 400, 0, 0, 0 },
	{ "{\"jsonrpc\": \"2.0\"}\r\n\r\n", 400, 0, 0, 0 },
};

/* Prints the text of a row that fails. */
static bool
noted(bool ok, const char *text)
{
	if (!ok)
		printf("# %s", text);
	return ok;
}

static void
test_requests(void)
{
	const struct request *t;
	struct http_head h;
	size_t used;
	int r;

	for (t = requests; t < requests + COUNTOF(requests); t++) {
		r = read_all(&h, HTTP_REQUEST, t->text, &used);
		OK(noted(t->status == 0 ? r == 1 && h.length == t->length &&
		    h.size == t->size && h.keep == t->keep && used ==
		    strlen(t->text) : r == -1 && h.status == t->status,
		    t->text));
		OK(same_in_parts(HTTP_REQUEST, t->text));
	}
	read_all(&h, HTTP_REQUEST, "PUT /a%20b?c=d HTTP/1.1\r\nHost: h:1\r\n"
	    "X-One:\t a b \t\r\nx-one: second\r\nExpect: 100-Continue\r\n"
	    "Empty:\r\n\r\nbody", &used);
	OK(str_is(h.method, "PUT") && str_is(h.target, "/a%20b?c=d"));
	OK(str_is(http_get(&h, "X-ONE"), "a b"));
	OK(http_get(&h, "empty").p != NULL && http_get(&h, "empty").n == 0);
	OK(http_get(&h, "none").p == NULL);
	OK(h.expects && h.minor == 1);
}

struct response {
	const char *text;
	int status;		/* -1: refused */
	enum http_length length;
	uint64_t size;
};

static const struct response responses[] = {
	{ "HTTP/1.1 200 OK\r\n\r\n", 200, HTTP_TO_END, 0 },
	{ "HTTP/1.1 200\r\nContent-Length: 3\r\n\r\n", 200, HTTP_FIXED, 3 },
	{ "HTTP/1.0 404 \r\nContent-Length : 3\r\n\r\n", 404, HTTP_FIXED, 3 },
	{ "HTTP/1.1 204 No\r\nContent-Length: 3\r\n\r\n", 204, HTTP_NONE, 3 },
	{ "HTTP/1.1 100 Continue\r\n\r\n", 100, HTTP_NONE, 0 },
	{ "HTTP/1.1 304 x\r\nTransfer-Encoding: chunked\r\n\r\n", 304, HTTP_NONE, 0 },
	{ "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n",
	    200, HTTP_CHUNKED, 3 },
	{ "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", -1, 0, 0 },
	{ "HTTP/1.1 20 OK\r\n\r\n", -1, 0, 0 },
	{ "HTTP/1.1 2000 OK\r\n\r\n", -1, 0, 0 },
	{ "HTTP/1.1 099 OK\r\n\r\n", -1, 0, 0 },
	{ "HTTP/2 200 OK\r\n\r\n", -1, 0, 0 },
	{ "HTTP/1.\r\n\r\n", -1, 0, 0 },
	{ "ICY 200 OK\r\n\r\n", -1, 0, 0 },
	{ "\r\nHTTP/1.1 200 OK\r\n\r\n", -1, 0, 0 },
	{ "SSH-2.0-OpenSSH_9.2\r\n", -1, 0, 0 },
};

static void
test_responses(void)
{
	const struct response *t;
	struct http_head h;
	size_t used;
	int r;

	for (t = responses; t < responses + COUNTOF(responses); t++) {
		r = read_all(&h, HTTP_RESPONSE, t->text, &used);
		OK(noted(t->status > 0 ? r == 1 && h.status == t->status &&
		    h.length == t->length && h.size == t->size : r == -1,
		    t->text));
		OK(same_in_parts(HTTP_RESPONSE, t->text) || t->status == -1);
	}
	read_all(&h, HTTP_RESPONSE, "HTTP/1.1 429 Too Many\r\n\r\n", &used);
	OK(str_is(h.reason, "Too Many"));
}

static void
test_limits(void)
{
	struct http_head h;
	struct buf b = { 0 };
	size_t used, seen = 0;
	int i, r = 0;

	buf_puts(&b, "GET / HTTP/1.1\r\nHost: a\r\n");
	for (i = 0; r == 0 && i < 100000; i++) {
		buf_fmt(&b, "X-%d: y\r\n", i);
		r = http_head_read(&h, HTTP_REQUEST, buf_str(&b), &seen,
		    &used, &e);
	}
	OK(r == -1 && h.status == 431 && b.n < HTTP_HEAD_MAX + 100);
	b.n = seen = 0;
	buf_puts(&b, "GET / HTTP/1.1\r\nHost: a\r\n");
	for (i = 0; i < HTTP_FIELDS_MAX; i++)
		buf_puts(&b, "X: y\r\n");
	buf_puts(&b, "\r\n");
	OK(http_head_read(&h, HTTP_REQUEST, buf_str(&b), &seen, &used, &e) ==
	    -1 && h.status == 431);
	b.n = seen = 0;
	buf_puts(&b, "GET /");
	for (i = 0; i < HTTP_HEAD_MAX; i++)
		buf_putc(&b, 'a');
	OK(http_head_read(&h, HTTP_REQUEST, buf_str(&b), &seen, &used, &e) ==
	    -1 && h.status == 414);
	seen = 0;
	buf_puts(&b, " HTTP/1.1\r\nHost: a\r\n\r\n");	/* all at once */
	OK(http_head_read(&h, HTTP_REQUEST, buf_str(&b), &seen, &used, &e) ==
	    -1 && h.status == 414);
	b.n = seen = 0;
	buf_puts(&b, "GET /");
	for (i = 0; i < HTTP_TARGET_MAX; i++)
		buf_putc(&b, 'a');
	buf_puts(&b, " HTTP/1.1\r\nHost: a\r\n\r\n");
	OK(http_head_read(&h, HTTP_REQUEST, buf_str(&b), &seen, &used, &e) ==
	    -1 && h.status == 414);
	b.n = seen = 0;
	for (i = 0; i <= HTTP_HEAD_MAX; i++)
		buf_putc(&b, '\n');
	OK(http_head_read(&h, HTTP_REQUEST, buf_str(&b), &seen, &used, &e) ==
	    -1 && h.status == 400);
	buf_free(&b);
}

/* Reads the body in pieces of k bytes; its result, and the rest. */
static int
drain(const struct http_head *h, const char *text, size_t k, uint64_t max,
    bool ends, struct buf *out, size_t *rest)
{
	struct http_body b;
	size_t n = strlen(text), at = 0, used, end;
	struct str data;
	int r = 0;

	http_body_init(&b, h, max);
	out->n = 0;
	while (r == 0 && at < n) {
		end = at + k < n ? at + k : n;
		while (r == 0 && at < end) {
			r = http_body_next(&b, (struct str){ text + at,
			    end - at }, false, &used, &data, &e);
			buf_put(out, r == -1 ? STR("") : data);
			at += used;
		}
	}
	if (r == 0 && ends)
		r = http_body_next(&b, STR(""), true, &used, &data, &e);
	*rest = n - at;
	return r;
}

struct body {
	enum http_length length;
	uint64_t size;
	const char *text, *want;	/* NULL: refused or truncated */
	size_t rest;
};

static const struct body bodies[] = {
	{ HTTP_FIXED, 5, "hellonext", "hello", 4 },
	{ HTTP_FIXED, 0, "next", "", 4 },
	{ HTTP_NONE, 0, "next", "", 4 },
	{ HTTP_FIXED, 50, "hello", NULL, 0 },
	{ HTTP_TO_END, 0, "hello", "hello", 0 },
	{ HTTP_CHUNKED, 0, "5\r\nhello\r\n0\r\n\r\nnext", "hello", 4 },
	{ HTTP_CHUNKED, 0, "005;a=\"b\"\r\nhello\r\nA \r\n0123456789\r\n0\r\nX: y\r\nZ: \r\n\r\n",
	    "hello0123456789", 0 },
	{ HTTP_CHUNKED, 0, "0\r\n\r\n", "", 0 },
	{ HTTP_CHUNKED, 0, "5\r\nhello\r\n", NULL, 0 },
	{ HTTP_CHUNKED, 0, "5\r\nhel", NULL, 0 },
	{ HTTP_CHUNKED, 0, "5\nhello\r\n0\r\n\r\n", NULL, 0 },
	{ HTTP_CHUNKED, 0, "5\r\nhelloo\r\n0\r\n\r\n", NULL, 0 },
	{ HTTP_CHUNKED, 0, "5\r\nhello\n0\r\n\r\n", NULL, 0 },
	{ HTTP_CHUNKED, 0, "-5\r\nhello\r\n0\r\n\r\n", NULL, 0 },
	{ HTTP_CHUNKED, 0, "0x5\r\nhello\r\n0\r\n\r\n", NULL, 0 },
	{ HTTP_CHUNKED, 0, "\r\nhello\r\n0\r\n\r\n", NULL, 0 },
	{ HTTP_CHUNKED, 0, "ffffffffffffffff\r\nhello", NULL, 0 },
	{ HTTP_CHUNKED, 0, "{\"error\":1}", NULL, 0 },
};

static void
test_bodies(void)
{
	const struct body *t;
	struct http_head h = { 0 };
	struct buf out = { 0 };
	size_t k, rest;
	bool ok;
	int r;

	for (t = bodies; t < bodies + COUNTOF(bodies); t++) {
		h.length = t->length;
		h.size = t->size;
		for (ok = true, k = 1; k <= strlen(t->text); k++) {
			r = drain(&h, t->text, k, 0, true, &out, &rest);
			ok &= t->want == NULL ? r == -1 : r == 1 &&
			    str_is(buf_str(&out), t->want) &&
			    rest == t->rest;
		}
		if (!ok)
			printf("# %s\n", t->text);
		OK(ok);
	}
	h.length = HTTP_CHUNKED;
	OK(drain(&h, "5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n", 3, 5, true, &out,
	    &rest) == -1 && e.code == ERR_LIMIT);
	OK(drain(&h, "fffffffffff\r\n", 3, 5, true, &out, &rest) == -1);
	h.length = HTTP_FIXED;
	h.size = 6;
	OK(drain(&h, "h", 1, 5, false, &out, &rest) == -1 &&
	    e.code == ERR_LIMIT);
	h.length = HTTP_TO_END;
	OK(drain(&h, "hello!", 4, 5, true, &out, &rest) == -1 &&
	    e.code == ERR_LIMIT);
	buf_free(&out);
}

struct address {
	const char *text, *host, *port, *path, *authority;
	bool tls;
};

static const struct address addresses[] = {
	{ "http://a", "a", "80", "/", "a", false },
	{ "HTTPS://A.b:8443/v1?x#frag", "A.b", "8443", "/v1?x", "A.b:8443", true },
	{ "http://127.0.0.1:0080/", "127.0.0.1", "0080", "/", "127.0.0.1:0080", false },
	{ "http://[::1]:8080/x", "::1", "8080", "/x", "[::1]:8080", false },
	{ "http://[fe80::1%25lo]", "fe80::1%25lo", "80", "/", "[fe80::1%25lo]", false },
	{ "http://a:/x", "a", "80", "/x", "a:", false },
	{ "ftp://a", NULL, NULL, NULL, NULL, false },
	{ "a/b", NULL, NULL, NULL, NULL, false },
	{ "", NULL, NULL, NULL, NULL, false },
	{ "http://", NULL, NULL, NULL, NULL, false },
	{ "http:///x", NULL, NULL, NULL, NULL, false },
	{ "http://u:p@a/", NULL, NULL, NULL, NULL, false },
	{ "http://a b/", NULL, NULL, NULL, NULL, false },
	{ "http://a/b c", NULL, NULL, NULL, NULL, false },
	{ "http://a:0/", NULL, NULL, NULL, NULL, false },
	{ "http://a:65536/", NULL, NULL, NULL, NULL, false },
	{ "http://a:1x/", NULL, NULL, NULL, NULL, false },
	{ "http://[::1/", NULL, NULL, NULL, NULL, false },
	{ "http://[::1]x/", NULL, NULL, NULL, NULL, false },
	{ "http://[]/", NULL, NULL, NULL, NULL, false },
	{ "http://a?x", NULL, NULL, NULL, NULL, false },
	{ "http://a\r\nHost: b/", NULL, NULL, NULL, NULL, false },
};

static void
test_urls(void)
{
	const struct address *t;
	struct http_url u;
	bool ok;
	int r;

	for (t = addresses; t < addresses + COUNTOF(addresses); t++) {
		r = http_url_read(str_of(t->text), &u, &e);
		ok = t->host == NULL ? r == -1 && e.msg[0] != '\0' :
		    r == 0 && str_is(u.host, t->host) &&
		    str_is(u.port, t->port) && str_is(u.path, t->path) &&
		    str_is(u.authority, t->authority) && u.tls == t->tls;
		if (!ok)
			printf("# %s\n", t->text);
		OK(ok);
	}
}

static void
test_dates(void)
{
	int64_t at = 0;

	OK(http_date(STR("Sun, 06 Nov 1994 08:49:37 GMT"), &at) &&
	    at == 784111777);
	OK(http_date(STR("Sunday, 06-Nov-94 08:49:37 GMT"), &at) &&
	    at == 784111777);
	OK(http_date(STR("Sun Nov  6 08:49:37 1994"), &at) &&
	    at == 784111777);
	OK(http_date(STR("Thu, 01 Jan 1970 00:00:00 GMT"), &at) && at == 0);
	OK(http_date(STR("Tue, 29 Feb 2028 23:59:59 GMT"), &at) &&
	    at == INT64_C(1835481599));
	OK(!http_date(STR(""), &at));
	OK(!http_date(STR("Sun, 06 Nov 1994 08:49:37"), &at));
	OK(!http_date(STR("Sun, 06 Now 1994 08:49:37 GMT"), &at));
	OK(!http_date(STR("Sun, 00 Nov 1994 08:49:37 GMT"), &at));
	OK(!http_date(STR("Sun, 06 Nov 1994 24:49:37 GMT"), &at));
	OK(!http_date(STR("Sun, 06 Nov 1994 08:49:37 GMT and more"), &at));
	OK(!http_date(STR("Sun,"), &at) && !http_date(STR("Sun "), &at));
}

static void
on_event(void *arg, struct str data)
{
	buf_put(arg, data);
	buf_putc(arg, '|');
}

static void
test_events(void)
{
	static const char text[] = "data: one\n\n: comment\ndata:two\r\n"
	    "data:  lines\r\nevent: x\r\n\r\ndata\r\rid: 5\n\ndatax: no\n\n"
	    "data: {\"a\":1}\n\ndata: cut";
	struct buf out = { 0 };
	struct http_events s = { .event = on_event, .arg = &out };
	size_t k, i;
	bool ok = true;

	for (k = 1; k <= sizeof(text); k++) {
		out.n = 0;
		for (i = 0; i < sizeof(text) - 1; i += k)
			http_events_put(&s, (struct str){ text + i,
			    i + k < sizeof(text) - 1 ? k :
			    sizeof(text) - 1 - i });
		http_events_end(&s);
		ok &= str_is(buf_str(&out), "one|two\n lines||{\"a\":1}|");
	}
	OK(ok);
	out.n = 0;
	http_events_put(&s, STR("data: last\n"));
	http_events_end(&s);
	OK(str_is(buf_str(&out), "last|"));
	http_events_put(&s, STR("data: never\n"));
	http_events_free(&s);
	http_events_end(&s);
	OK(str_is(buf_str(&out), "last|"));
	buf_free(&out);
}

/* Dates survive a round trip. */
static void
test_dates_put(void)
{
	static const int64_t days[] = { 0, 1, 58, 59, 365, 789, 11016, 11017,
		16860, 19782, 20454, 47540, 2932896 };
	char text[HTTP_DATE];
	int64_t at, back;
	size_t i;
	bool all = true;

	http_date_put(784111777, text);
	OK(str_is((struct str){ text, HTTP_DATE },
	    "Sun, 06 Nov 1994 08:49:37 GMT"));
	for (i = 0; i < COUNTOF(days); i++)
		for (at = days[i] * 86400; at < (days[i] + 1) * 86400;
		    at += 7919) {
			http_date_put(at, text);
			all &= http_date((struct str){ text, HTTP_DATE },
			    &back) && back == at;
		}
	OK(all);
}

int
main(void)
{
	RUN(test_requests, test_responses, test_limits, test_bodies, test_urls,
	    test_dates, test_events);
	OK(http_name_ok(STR("x-a")) && !http_name_ok(STR("x a")) &&
	    !http_name_ok(STR("")));
	OK(http_value_ok(STR("a\tb \xC3\xA4")) && !http_value_ok(STR("a\nb")));
	OK(http_same(STR("aBc"), "AbC") && !http_same(STR("ab"), "abc"));
	test_dates_put();
	return tap_done();
}
