/* SPDX-License-Identifier: ISC */
/*
 * The WebSocket handshake (RFC 6455, section 4), with the SHA-1 (RFC 3174)
 * that it requires.  It only proves that both sides speak WebSocket; it
 * protects no secret.
 */
#include "lib/ws.h"

#include <string.h>

#include "lib/base64.h"
#include "lib/http.h"

enum { BLOCK = 64, DIGEST = 20 };

static uint32_t
rol(uint32_t v, unsigned n)
{
	return v << n | v >> (32 - n);
}

static uint32_t
mix(unsigned t, uint32_t b, uint32_t c, uint32_t d)
{
	if (t < 20)
		return ((b & c) | (~b & d)) + 0x5A827999;
	if (t < 40)
		return (b ^ c ^ d) + 0x6ED9EBA1;
	if (t < 60)
		return ((b & c) | (b & d) | (c & d)) + 0x8F1BBCDC;
	return (b ^ c ^ d) + 0xCA62C1D6;
}

static void
sha1_block(uint32_t h[5], const unsigned char *p)
{
	uint32_t w[80], a = h[0], b = h[1], c = h[2], d = h[3], e = h[4], v;
	unsigned t;

	for (t = 0; t < 16; t++, p += 4)
		w[t] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
		    (uint32_t)p[2] << 8 | p[3];
	for (; t < 80; t++)
		w[t] = rol(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
	for (t = 0; t < 80; t++) {
		v = rol(a, 5) + mix(t, b, c, d) + e + w[t];
		e = d;
		d = c;
		c = rol(b, 30);
		b = a;
		a = v;
	}
	h[0] += a;
	h[1] += b;
	h[2] += c;
	h[3] += d;
	h[4] += e;
}

/* For texts that fit in two blocks. */
static void
sha1(struct str s, unsigned char out[DIGEST])
{
	uint32_t h[5] = { 0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476,
		0xC3D2E1F0 };
	unsigned char text[2 * BLOCK] = { 0 };
	size_t n = s.n < BLOCK - 8 ? BLOCK : 2 * BLOCK, i;

	memcpy(text, s.p, s.n);
	text[s.n] = 0x80;
	text[n - 2] = (unsigned char)(s.n * 8 >> 8);
	text[n - 1] = (unsigned char)(s.n * 8);
	for (i = 0; i < n; i += BLOCK)
		sha1_block(h, text + i);
	for (i = 0; i < DIGEST; i++)
		out[i] = (unsigned char)(h[i / 4] >> (24 - i % 4 * 8));
}

void
ws_accept(struct str key, char out[WS_ACCEPT])
{
	static const struct str salt = {
		"258EAFA5-E914-47DA-95CA-C5AB0DC85B11", 36 };
	unsigned char digest[DIGEST];
	char text[WS_KEY + 36];

	key.n = key.n < WS_KEY ? key.n : WS_KEY;
	memcpy(text, key.p, key.n);
	memcpy(text + key.n, salt.p, salt.n);
	sha1((struct str){ text, key.n + salt.n }, digest);
	base64_put(digest, sizeof(digest), out);
}

/*
 * The server's side, section 4.2.1.
 */
bool
ws_wanted(const struct http_head *h)
{
	return http_has(h, "upgrade", "websocket");
}

/* 16 bytes in base64. */
static bool
is_key(struct str s)
{
	size_t i;

	for (i = 0; i + 2 < s.n; i++)
		if (!base64_has(s.p[i]))
			return false;
	return s.n == WS_KEY && s.p[22] == '=' && s.p[23] == '=';
}

int
ws_refusal(const struct http_head *h, const char **why)
{
	if (!str_is(h->method, "GET")) {
		*why = "a WebSocket request must use GET";
		return 405;
	}
	if (h->minor < 1 || !http_has(h, "connection", "upgrade")) {
		*why = "a WebSocket needs HTTP/1.1 and Connection: Upgrade";
		return 400;
	}
	if (h->length != HTTP_NONE && h->size > 0) {
		*why = "a WebSocket request must not have a body";
		return 400;
	}
	if (!str_is(http_get(h, "sec-websocket-version"), "13")) {
		*why = "Sec-WebSocket-Version must be 13";
		return http_get(h, "sec-websocket-version").p == NULL ? 400 :
		    426;
	}
	if (!is_key(http_get(h, "sec-websocket-key"))) {
		*why = "Sec-WebSocket-Key must be 16 bytes in base64";
		return 400;
	}
	return 0;
}

void
ws_put_accept(struct buf *b, const struct http_head *h)
{
	char accept[WS_ACCEPT];

	ws_accept(http_get(h, "sec-websocket-key"), accept);
	buf_puts(b, "HTTP/1.1 101 Switching Protocols\r\n"
	    "Upgrade: websocket\r\nConnection: Upgrade\r\n"
	    "Sec-WebSocket-Accept: ");
	buf_put(b, (struct str){ accept, sizeof(accept) });
	buf_puts(b, "\r\n\r\n");
}

/*
 * The client's side, section 4.1.
 */
void
ws_put_request(struct buf *b, const struct http_url *u, struct str fields,
    const unsigned char nonce[WS_NONCE], char accept[WS_ACCEPT])
{
	char key[WS_KEY];

	base64_put(nonce, WS_NONCE, key);
	ws_accept((struct str){ key, sizeof(key) }, accept);
	buf_puts(b, "GET ");
	buf_put(b, u->path);
	buf_puts(b, " HTTP/1.1\r\nHost: ");
	buf_put(b, u->authority);
	buf_puts(b, "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
	    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ");
	buf_put(b, (struct str){ key, sizeof(key) });
	buf_puts(b, "\r\n");
	buf_put(b, fields);
	buf_puts(b, "\r\n");
}

int
ws_check_answer(const struct http_head *h, const char accept[WS_ACCEPT],
    struct err *e)
{
	struct str got = http_get(h, "sec-websocket-accept");

	if (h->status != 101)
		return err_set(e, ERR_SCHEMA, "the server refused a WebSocket: "
		    "%d %.*s", h->status, STRF(utf8_cut(h->reason, 80)));
	if (!ws_wanted(h) || !http_has(h, "connection", "upgrade"))
		return err_set(e, ERR_SYNTAX, "the server switched to another "
		    "protocol than WebSocket");
	if (!str_eq(got, (struct str){ accept, WS_ACCEPT }))
		return err_set(e, ERR_SYNTAX, "the server's "
		    "Sec-WebSocket-Accept is wrong");
	if (http_get(h, "sec-websocket-extensions").n > 0 ||
	    http_get(h, "sec-websocket-protocol").n > 0)
		return err_set(e, ERR_SYNTAX, "the server selected an "
		    "extension or protocol that was not offered");
	return 0;
}

int
ws_url_read(struct str s, struct http_url *u, struct err *e)
{
	static const char *const schemes[] = { "ws://", "http://", "wss://",
		"https://" };
	size_t i, n;

	for (i = 0; i < COUNTOF(schemes); i++) {
		n = strlen(schemes[i]);
		if (s.n >= n && http_same((struct str){ s.p, n }, schemes[i]))
			return http_url_rest((struct str){ s.p + n, s.n - n },
			    i >= 2, u, e);
	}
	return err_set(e, ERR_SYNTAX, "the URL must begin with ws:// or "
	    "wss://, not \"%.*s\"", STRF(utf8_cut(s, 60)));
}
