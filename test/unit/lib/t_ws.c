/* SPDX-License-Identifier: ISC */
/*
 * WebSocket: the handshake of both sides; frames in pieces of any size; refused
 * input and its code.  The cases of Autobahn are in ws_cases.c.
 */
#include "lib/ws.h"

#include <string.h>

#include "base/base.h"
#include "lib/http.h"
#include "test/tool/help.h"
#include "test/tool/tap.h"

static const unsigned char mask[WS_MASK] = { 0x37, 0xFA, 0x21, 0x3D };

/*
 * The handshake.
 */
static int
read_head(struct http_head *h, enum http_side side, const char *text)
{
	size_t seen = 0, used;
	struct err e;

	return http_head_read(h, side, str_of(text), &seen, &used, &e);
}

#define ASK "GET /chat HTTP/1.1\r\nHost: x\r\n"
#define UP "Upgrade: websocket\r\nConnection: Upgrade\r\n"
#define V13 "Sec-WebSocket-Version: 13\r\n"
#define KEY "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"

static const struct {
	int status;
	const char *text;
} asked[] = {
	{ 0, ASK UP V13 KEY },
	{ 0, ASK "upgrade: h2c, WebSocket\r\nconnection: keep-alive, upgrade\r\n" V13 KEY },
	{ 0, ASK UP V13 KEY "Sec-WebSocket-Extensions: permessage-deflate\r\n"
	    "Sec-WebSocket-Protocol: a, b\r\n" },
	{ 0, ASK UP V13 KEY "Content-Length: 0\r\n" },
	{ 405, "POST /chat HTTP/1.1\r\nHost: x\r\n" UP V13 KEY },
	{ 400, "GET /chat HTTP/1.0\r\nHost: x\r\n" UP V13 KEY },
	{ 400, ASK "Upgrade: websocket\r\n" V13 KEY },
	{ 400, ASK "Upgrade: websocket\r\nConnection: close\r\n" V13 KEY },
	{ 400, ASK UP V13 KEY "Content-Length: 3\r\n" },
	{ 400, ASK UP KEY },
	{ 426, ASK UP "Sec-WebSocket-Version: 8\r\n" KEY },
	{ 426, ASK UP "Sec-WebSocket-Version: 13, 8\r\n" KEY },
	{ 400, ASK UP V13 },
	{ 400, ASK UP V13 "Sec-WebSocket-Key:\r\n" },
	{ 400, ASK UP V13 "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ\r\n" },
	{ 400, ASK UP V13 "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ===\r\n" },
	{ 400, ASK UP V13 "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=x\r\n" },
	{ 400, ASK UP V13 "Sec-WebSocket-Key: dGhlIHNhbXB!ZSBub25jZQ==\r\n" },
};

static void
handshake(void)
{
	char accept[WS_ACCEPT];
	struct http_head h;
	struct buf b = { 0 };
	const char *why;
	size_t i;

	ws_accept(STR("dGhlIHNhbXBsZSBub25jZQ=="), accept);
	OK(memcmp(accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", WS_ACCEPT) == 0);
	ws_accept(STR("x3JJHMbDL1EzLkh9GBhXDw=="), accept);
	OK(memcmp(accept, "HSmrc0sMlYUkAGmm5OPpG2HaGWk=", WS_ACCEPT) == 0);
	for (i = 0; i < COUNTOF(asked); i++) {
		b.n = 0;
		buf_puts(&b, asked[i].text);
		buf_put(&b, STR("\r\n\0"));
		why = NULL;
		OK(read_head(&h, HTTP_REQUEST, b.p) == 1 && ws_wanted(&h));
		if (ws_refusal(&h, &why) != asked[i].status)
			printf("# %s", asked[i].text);
		OK(ws_refusal(&h, &why) == asked[i].status &&
		    (why != NULL) == (asked[i].status != 0));
	}
	OK(read_head(&h, HTTP_REQUEST, ASK "\r\n") == 1 && !ws_wanted(&h));
	OK(read_head(&h, HTTP_REQUEST, ASK "Upgrade: h2c\r\n\r\n") == 1 &&
	    !ws_wanted(&h));
	buf_free(&b);
}

#define YES "HTTP/1.1 101 Switching Protocols\r\n"
#define ACCEPT "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"

static const struct {
	const char *text, *why;
} answered[] = {
	{ YES UP ACCEPT "\r\n", NULL },
	{ YES "connection: upgrade\r\nupgrade: WebSocket\r\n" ACCEPT "\r\n", NULL },
	{ "HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n", "the server refused a WebSocket: 401 No" },
	{ "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", "the server refused a WebSocket: 200" },
	{ YES "Upgrade: h2c\r\nConnection: Upgrade\r\n" ACCEPT "\r\n", "another protocol than WebSocket" },
	{ YES "Upgrade: websocket\r\n" ACCEPT "\r\n", "another protocol than WebSocket" },
	{ YES UP "\r\n", "Sec-WebSocket-Accept is wrong" },
	{ YES UP "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xO0=\r\n\r\n", "is wrong" },
	{ YES UP ACCEPT "Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n", "an extension" },
	{ YES UP ACCEPT "Sec-WebSocket-Protocol: x\r\n\r\n", "protocol that was not" },
};

static void
client(void)
{
	static const unsigned char nonce[WS_NONCE] = "the sample nonce";
	char accept[WS_ACCEPT];
	struct http_head h;
	struct http_url u;
	struct buf b = { 0 };
	struct err e;
	const char *why;
	size_t i;
	bool same;

	OK(ws_url_read(STR("ws://example.com:81/chat?x=1#y"), &u, &e) == 0);
	OK(!u.tls && str_is(u.host, "example.com") && str_is(u.port, "81") &&
	    str_is(u.path, "/chat?x=1"));
	ws_put_request(&b, &u, STR("X: y\r\n"), nonce, accept);
	buf_putc(&b, '\0');
	OK(memcmp(accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", WS_ACCEPT) == 0);
	OK(read_head(&h, HTTP_REQUEST, b.p) == 1 && ws_wanted(&h) &&
	    ws_refusal(&h, &why) == 0 && h.nfields == 6);
	OK(str_is(h.target, "/chat?x=1") &&
	    str_is(http_get(&h, "host"), "example.com:81") &&
	    str_is(http_get(&h, "x"), "y"));
	b.n = 0;
	ws_put_accept(&b, &h);
	buf_putc(&b, '\0');
	OK(read_head(&h, HTTP_RESPONSE, b.p) == 1 &&
	    ws_check_answer(&h, accept, &e) == 0);
	for (i = 0; i < COUNTOF(answered); i++) {
		same = read_head(&h, HTTP_RESPONSE, answered[i].text) == 1 &&
		    (ws_check_answer(&h, accept, &e) == 0) ==
		    (answered[i].why == NULL) && (answered[i].why == NULL ||
		    strstr(e.msg, answered[i].why) != NULL);
		if (!same)
			printf("# %s# %s\n", answered[i].text, e.msg);
		OK(same);
	}
	OK(ws_url_read(STR("wss://[::1]/"), &u, &e) == 0 && u.tls &&
	    str_is(u.host, "::1") && str_is(u.port, "443"));
	OK(ws_url_read(STR("http://h:1"), &u, &e) == 0 && !u.tls &&
	    str_is(u.path, "/"));
	OK(ws_url_read(STR("HTTPS://h"), &u, &e) == 0 && u.tls);
	OK(ws_url_read(STR("ftp://h"), &u, &e) == -1);
	OK(ws_url_read(STR("ws://"), &u, &e) == -1);
	OK(ws_url_read(STR("ws://u:p@h/"), &u, &e) == -1);
	OK(ws_url_read(STR(""), &u, &e) == -1);
	buf_free(&b);
}

/*
 * Frames.
 */
struct seen {
	struct ws ws;
	struct buf log;
	int rc;
};

static void
feed(struct seen *x, struct str in)
{
	struct ws_event ev;
	struct err e = { 0 };
	size_t used;

	while (x->rc != -1) {
		x->rc = ws_next(&x->ws, in, &used, &ev, &e);
		in.p += used;
		in.n -= used;
		if (x->rc == 0)
			break;
		if (x->rc == -1)
			buf_fmt(&x->log, "!%d", x->ws.code);
		else if (ev.op == WS_CLOSE)
			buf_fmt(&x->log, "close %d %.*s|", ev.code,
			    STRF(ev.data));
		else
			buf_fmt(&x->log, "%d:%.*s|", (int)ev.op,
			    STRF(ev.data));
	}
	if (x->rc == 0 && in.n > 0)
		buf_puts(&x->log, "(bytes are left)");
}

static bool
same_log(struct seen *x, const char *want)
{
	ws_free(&x->ws);
	return is_buf(&x->log, want);
}

/* Whole, in two pieces at every place, and byte by byte. */
static bool
reads(bool as_client, size_t max, struct str in, const char *want)
{
	struct seen x = { .ws = { .client = as_client, .max = max } };
	size_t i;

	feed(&x, in);
	if (!same_log(&x, want))
		return false;
	for (i = 0; i <= in.n; i++) {
		x = (struct seen){ .ws = { .client = as_client, .max = max } };
		feed(&x, (struct str){ in.p, i });
		feed(&x, (struct str){ in.p + i, in.n - i });
		if (!same_log(&x, want)) {
			printf("# cut at %zu\n", i);
			return false;
		}
	}
	x = (struct seen){ .ws = { .client = as_client, .max = max } };
	for (i = 0; i < in.n; i++)
		feed(&x, (struct str){ in.p + i, 1 });
	return same_log(&x, want);
}

#define SERVER(bytes, want) OK(reads(false, 0, STR(bytes), want))
#define CLIENT(bytes, want) OK(reads(true, 0, STR(bytes), want))

/* RFC 6455, section 5.7, and around it. */
static void
frames(void)
{
	CLIENT("\x81\x05Hello", "1:Hello|");
	SERVER("\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58", "1:Hello|");
	CLIENT("\x01\x03Hel\x80\x02lo", "1:Hello|");
	CLIENT("\x89\x05Hello", "9:Hello|");
	SERVER("\x8a\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58", "10:Hello|");
	CLIENT("\x01\x03Hel\x89\x01p\x00\x00\x8a\x00\x80\x02lo\x82\x00", "9:p|10:|1:Hello|2:|");
	CLIENT("", "");
	CLIENT("\x88\x00", "close 1005 |");
	CLIENT("\x88\x02\x03\xe8", "close 1000 |");
	CLIENT("\x88\x05\x0f\xa0" "bye", "close 4000 bye|");
	/* masked by a server, not masked by a client */
	SERVER("\x81\x05Hello", "!1002");
	CLIENT("\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58", "!1002");
	/* a length in more bytes than needed is valid */
	CLIENT("\x81\x7e\x00\x02hi\x81\x7f\0\0\0\0\0\0\0\x02ho", "1:hi|1:ho|");
	/* errors in the head are found at its second byte */
	SERVER("\xc1\x80", "!1002");
	SERVER("\x83\x80", "!1002");
	SERVER("\x09\x80", "!1002");
	SERVER("\x89\xfe", "!1002");
	SERVER("\x80\x80", "!1002");
	SERVER("\x01\x80\0\0\0\0\x01\x80", "!1002");
	/* 2^63 is not a valid length; less exceeds the limit */
	SERVER("\x82\xff\x80\0\0\0\0\0\0\0\0\0\0\0", "!1002");
	SERVER("\x82\xff\xff\xff\xff\xff\xff\xff\xff\xff\0\0\0\0", "!1002");
	SERVER("\x82\xff\x7f\xff\xff\xff\xff\xff\xff\xff\0\0\0\0", "!1009");
	/* the caller decides about input after a close */
	CLIENT("\x88\x00\x81\x01x", "close 1005 |1:x|");
	CLIENT("\x88\x01x", "!1002");
	CLIENT("\x88\x02\x03\xed", "!1002");
	CLIENT("\x88\x03\x03\xe8\xff", "!1007");
	CLIENT("\x88\x04\x03\xe8\xc3\xa4", "close 1000 \xc3\xa4|");
	CLIENT("\x88\x03\x03\xe8\xc3", "!1007");
}

static void
limits(void)
{
	OK(reads(true, 5, STR("\x81\x05Hello\x81\x05World"),
	    "1:Hello|1:World|"));
	OK(reads(true, 4, STR("\x81\x05Hello"), "!1009"));
	OK(reads(true, 4, STR("\x81\x05"), "!1009"));
	OK(reads(true, 5, STR("\x01\x03Hel\x89\x06secret\x80\x02lo"),
	    "9:secret|1:Hello|"));
	OK(reads(true, 4, STR("\x01\x03Hel\x80\x02"), "!1009"));
	OK(reads(true, 3, STR("\x01\x03Hel\x00\x00\x00\x01"), "!1009"));
	OK(reads(false, 100, STR("\x82\xff\x7f\xff\xff\xff\xff\xff\xff\xff"
	    "\0\0\0\0"), "!1009"));
}

static void
codes(void)
{
	static const int good[] = { 1000, 1001, 1002, 1003, 1007, 1008, 1009,
		1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000, 4999 };
	static const int bad[] = { -1, 0, 1, 999, 1004, 1005, 1006, 1015,
		1016, 1100, 2000, 2999, 5000, 65535 };
	size_t i;
	bool all = true;

	for (i = 0; i < COUNTOF(good); i++)
		all &= ws_code_ok(good[i]);
	for (i = 0; i < COUNTOF(bad); i++)
		all &= !ws_code_ok(bad[i]);
	OK(all);
}

/* In pieces of any size, text is valid exactly if the whole is. */
static void
text(void)
{
	static const char pool[] = "a\x7f\x80\x8f\x90\x9f\xa0\xbf\xc0\xc1\xc2"
	    "\xdf\xe0\xe1\xec\xed\xee\xef\xf0\xf1\xf3\xf4\xf5\xff";
	unsigned char in[16] = { 0x81 };
	unsigned noise = 1;
	size_t i, k, n, differ = 0, good = 0;
	bool valid;

	for (i = 0; i < 300000; i++) {
		struct seen x = { .ws = { .client = true } };

		n = i % 9;
		in[1] = (unsigned char)n;
		for (k = 0; k < n; k++) {
			noise = noise * 1103515245 + 12345;
			in[2 + k] = (unsigned char)pool[(noise >> 16) %
			    (sizeof(pool) - 1)];
		}
		valid = utf8_valid((struct str){ (char *)in + 2, n });
		for (k = 0; k < n + 2; k++)
			feed(&x, (struct str){ (char *)in + k, 1 });
		good += valid;
		differ += valid != (x.rc == 0) || (!valid &&
		    x.ws.code != WS_NOT_UTF8);
		ws_free(&x.ws);
		buf_free(&x.log);
	}
	OK(differ == 0);
	OK(good > 1000);
	/* every code point, and every surrogate */
	for (i = 0, differ = 0; i <= 0x110000; i++) {
		struct seen x = { .ws = { .client = true } };
		char c[4];

		n = i == 0x110000 ? 4 : utf8_put(c, (uint32_t)i);
		if (i == 0x110000)
			memcpy(c, "\xf4\x90\x80\x80", 4);
		in[1] = (unsigned char)n;
		memcpy(in + 2, c, n);
		feed(&x, (struct str){ (char *)in, n + 2 });
		differ += (x.rc == 0) != utf8_valid((struct str){ c, n });
		ws_free(&x.ws);
		buf_free(&x.log);
	}
	OK(differ == 0);
	SERVER("\x81\x87\0\0\0\0\xce\xba\xe1\xbd\xb9x\xc0", "!1007");
	CLIENT("\x01\x01\xce\x89\x01\xff\x80\x01\xba", "9:\xff|1:\xce\xba|");
	CLIENT("\x02\x01\xce\x80\x01x", "2:\xcex|");
	CLIENT("\x81\x02\xce\xba\x81\x01\xba", "1:\xce\xba|!1007");
	CLIENT("\x81\x01\xce\x81\x01x", "!1007");
}

/* Round trips of all lengths around the sizes of the head. */
static void
round_trip(void)
{
	static const size_t sizes[] = { 0, 1, 7, 8, 9, 125, 126, 127, 65535,
		65536, 65537, 1 << 20 };
	static const size_t heads[] = { 2, 2, 2, 2, 2, 2, 4, 4, 4, 10, 10,
		10 };
	struct buf payload = { 0 }, b = { 0 };
	size_t i, k, used;
	int side;
	bool all = true;

	for (i = 0; i < COUNTOF(sizes); i++)
		for (side = 0; side < 2; side++) {
			struct ws w = { .client = side };
			struct ws_event ev = { .op = WS_MORE };
			struct err e;

			payload.n = b.n = 0;
			for (k = 0; k < sizes[i]; k++)
				buf_putc(&payload, (char)(k * 31));
			buf_puts(&b, "before");
			buf_put(&b, buf_str(&payload));
			ws_wrap(&b, 6, WS_BINARY, side ? NULL : mask);
			all &= memcmp(b.p, "before", 6) == 0;
			all &= b.n == 6 + heads[i] + sizes[i] +
			    (side ? 0 : WS_MASK);
			all &= ws_next(&w, (struct str){ b.p + 6, b.n - 6 },
			    &used, &ev, &e) == 1 && used == b.n - 6;
			all &= ev.op == WS_BINARY &&
			    ev.data.n == payload.n && (payload.n == 0 ||
			    memcmp(ev.data.p, payload.p, payload.n) == 0);
			all &= ws_next(&w, STR(""), &used, &ev, &e) == 0;
			all &= w.msg.cap <= 8192;	/* freed */
			ws_free(&w);
		}
	OK(all);
	b.n = 0;
	ws_put(&b, WS_TEXT, STR("Hello"), mask);
	OK(str_eq(buf_str(&b), STR("\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58")));
	b.n = 0;
	ws_put_part(&b, WS_TEXT, false, STR("Hel"), NULL);
	ws_put_part(&b, WS_MORE, true, STR("lo"), NULL);
	OK(str_eq(buf_str(&b), STR("\x01\x03Hel\x80\x02lo")));
	b.n = 0;
	ws_put_close(&b, WS_NO_CODE, STR("no reason"), NULL);
	ws_put_close(&b, WS_NORMAL, STR("x"), NULL);
	OK(str_eq(buf_str(&b), STR("\x88\x00\x88\x03\x03\xe8x")));
	/* a reason is truncated between characters, a ping anywhere */
	payload.n = b.n = 0;
	for (k = 0; k < 100; k++)
		buf_puts(&payload, "\xe2\x82\xac");
	ws_put_close(&b, WS_POLICY, buf_str(&payload), NULL);
	OK(b.n == 2 + 2 + 123 && b.p[1] == 125);
	b.n = 0;
	ws_put_close(&b, WS_POLICY, (struct str){ payload.p + 1,
	    payload.n - 1 }, NULL);
	OK(b.n == 2 + 2 + 122);
	b.n = 0;
	ws_put(&b, WS_PING, buf_str(&payload), NULL);
	OK(b.n == 2 + 125);
	buf_free(&payload);
	buf_free(&b);
}

int
main(void)
{
	RUN(handshake, client, frames, limits, codes, text, round_trip);
	return tap_done();
}
