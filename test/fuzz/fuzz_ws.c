/* SPDX-License-Identifier: ISC */
/*
 * Input: WebSocket frames.  The first byte selects which side reads and the
 * maximum length of a message, the second how the frames are split.  Messages
 * and end are the same for every split.  A message that is accepted is the
 * same after it is written and read again; text is UTF-8; and the handshakes
 * of both sides accept any head without a crash.
 */
#include <assert.h>
#include <string.h>

#include "base/base.h"
#include "lib/http.h"
#include "lib/ws.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static const unsigned char mask[WS_MASK] = { 0x12, 0, 0xFF, 0x80 };

/* The other side reads a written message unchanged. */
static void
check_again(const struct ws_event *ev)
{
	struct ws w = { .client = true };
	struct ws_event again;
	struct buf b = { 0 };
	struct err e;
	size_t used;
	int side;

	for (side = 0; side < 2; side++) {
		w = (struct ws){ .client = side };
		b.n = 0;
		if (ev->op == WS_CLOSE)
			ws_put_close(&b, ev->code, ev->data,
			    side ? NULL : mask);
		else
			ws_put(&b, ev->op, ev->data, side ? NULL : mask);
		assert(ws_next(&w, buf_str(&b), &used, &again, &e) == 1);
		assert(used == b.n && again.op == ev->op);
		assert(again.code == ev->code);
		assert(str_eq(again.data, ev->data));
		ws_free(&w);
	}
	buf_free(&b);
}

static void
check_event(const struct ws *w, const struct ws_event *ev)
{
	switch (ev->op) {
	case WS_TEXT:
		assert(utf8_valid(ev->data));
		/* fall through */
	case WS_BINARY:
		assert(w->max == 0 || ev->data.n <= w->max);
		break;
	case WS_CLOSE:
		assert(ev->code == WS_NO_CODE || ws_code_ok(ev->code));
		assert(utf8_valid(ev->data));
		/* fall through */
	case WS_PING:
	case WS_PONG:
		assert(ev->data.n <= WS_CONTROL_MAX);
		break;
	case WS_MORE:
		assert(0);
	}
	check_again(ev);
}

static size_t
cut(unsigned *state)
{
	*state = *state * 1103515245 + 12345;
	return *state & 0x10000 ? 1 : (*state >> 20) % 40 + 1;
}

static void
play(struct buf *log, bool client, size_t max, struct str in, unsigned cuts)
{
	struct ws w = { .client = client, .max = max };
	struct ws_event ev;
	struct err e = { 0 };
	struct str part;
	size_t used;
	int rc = 0;

	while (in.n > 0 && rc != -1) {
		part = in;
		if (cuts > 0) {
			used = cut(&cuts);
			part.n = used < part.n ? used : part.n;
		}
		in.p += part.n;
		in.n -= part.n;
		do {
			rc = ws_next(&w, part, &used, &ev, &e);
			assert(used <= part.n);
			part.p += used;
			part.n -= used;
			if (rc == 1) {
				check_event(&w, &ev);
				buf_fmt(log, "%d %d %zu:", (int)ev.op,
				    ev.code, ev.data.n);
				buf_put(log, ev.data);
			}
		} while (rc == 1);
		assert(rc == -1 || part.n == 0);
	}
	if (rc == -1) {
		assert(w.code == WS_PROTOCOL || w.code == WS_NOT_UTF8 ||
		    w.code == WS_TOO_BIG);
		buf_fmt(log, "!%d %s", w.code, e.msg);
		assert(ws_next(&w, in, &used, &ev, &e) == -1);
	}
	ws_free(&w);
}

static void
shake_hands(struct str in)
{
	char accept[WS_ACCEPT];
	struct http_head h;
	struct http_url u;
	struct buf b = { 0 };
	const char *why;
	struct err e;
	size_t seen = 0, used;

	if (http_head_read(&h, HTTP_REQUEST, in, &seen, &used, &e) == 1 &&
	    ws_wanted(&h) && ws_refusal(&h, &why) == 0) {
		ws_put_accept(&b, &h);
		ws_accept(http_get(&h, "sec-websocket-key"), accept);
		seen = 0;
		assert(http_head_read(&h, HTTP_RESPONSE, buf_str(&b), &seen,
		    &used, &e) == 1);
		assert(ws_check_answer(&h, accept, &e) == 0);
	}
	if (ws_url_read(in, &u, &e) == 0) {
		b.n = seen = 0;
		ws_put_request(&b, &u, STR(""),
		    (const unsigned char *)"0123456789abcdef", accept);
		if (u.path.n <= HTTP_TARGET_MAX && b.n <= HTTP_HEAD_MAX)
			assert(http_head_read(&h, HTTP_REQUEST, buf_str(&b),
			    &seen, &used, &e) == 1 &&
			    ws_refusal(&h, &why) == 0);
	}
	buf_free(&b);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf whole = { 0 }, cuts = { 0 };
	struct str in;
	size_t max;

	if (size < 2)
		return 0;
	in = (struct str){ (const char *)data + 2, size - 2 };
	max = data[0] & 2 ? data[0] >> 2 : 0;
	play(&whole, data[0] & 1, max, in, 0);
	play(&cuts, data[0] & 1, max, in, data[1] + 1u);
	assert(str_eq(buf_str(&whole), buf_str(&cuts)));
	shake_hands(in);
	buf_free(&whole);
	buf_free(&cuts);
	return 0;
}
