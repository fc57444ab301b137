/* SPDX-License-Identifier: ISC */
/*
 * WebSocket frames (RFC 6455, section 5).
 *
 * The reader collects the head of a frame byte by byte and checks it as early
 * as possible.  It unmasks the payload into the message or, as control frames
 * may come between the fragments of a message, into a separate buffer.
 * Memory grows with the bytes received, not with the length in the head.
 */
#include "lib/ws.h"

#include <string.h>

enum {
	FIN = 0x80, RSV = 0x70, OP = 0x0F, MASKED = 0x80, LENGTH = 0x7F,
	KEEP_MAX = 4 << 10	/* larger message buffers are freed */
};

static int
refuse(struct ws *w, int code, struct err *e, const char *why)
{
	w->code = code;
	return err_set(e, code == WS_TOO_BIG ? ERR_LIMIT : ERR_SYNTAX, "%s",
	    why);
}

static int
bad(struct ws *w, struct err *e, const char *why)
{
	return refuse(w, WS_PROTOCOL, e, why);
}

/* Applies a mask, from its byte `at` on; out may be in. */
static void
xor_mask(char *out, const char *in, size_t n,
    const unsigned char mask[WS_MASK], size_t at)
{
	unsigned char key[8];
	uint64_t k, v;
	size_t i;

	for (i = 0; i < sizeof(key); i++)
		key[i] = mask[(at + i) % WS_MASK];
	memcpy(&k, key, sizeof(k));
	for (i = 0; n - i >= sizeof(v); i += sizeof(v)) {
		memcpy(&v, in + i, sizeof(v));
		v ^= k;
		memcpy(out + i, &v, sizeof(v));
	}
	for (; i < n; i++)
		out[i] = (char)((unsigned char)in[i] ^ key[i % WS_MASK]);
}

static bool
is_control(enum ws_op op)
{
	return op >= WS_CLOSE;
}

/*
 * Incremental UTF-8 (RFC 3629): the number of bytes that the character still
 * needs, and the range of the next one.
 */
static bool
lead(struct ws_text *t, unsigned char c)
{
	t->low = c == 0xE0 ? 0xA0 : c == 0xF0 ? 0x90 : 0x80;
	t->high = c == 0xED ? 0x9F : c == 0xF4 ? 0x8F : 0xBF;
	t->need = c < 0xE0 ? 1 : c < 0xF0 ? 2 : 3;
	return c >= 0xC2 && c <= 0xF4;
}

static bool
is_ascii8(const char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return (v & UINT64_C(0x8080808080808080)) == 0;
}

static bool
is_text(struct ws_text *t, struct str s)
{
	size_t i = 0;
	unsigned char c;

	while (i < s.n) {
		if (t->need == 0 && s.n - i >= 8 && is_ascii8(s.p + i)) {
			i += 8;
			continue;
		}
		c = (unsigned char)s.p[i++];
		if (t->need == 0) {
			if (c >= 0x80 && !lead(t, c))
				return false;
			continue;
		}
		if (c < t->low || c > t->high)
			return false;
		t->need--;
		t->low = 0x80;
		t->high = 0xBF;
	}
	return true;
}

/* Checks the first two bytes of a head. */
static int
check_head(struct ws *w, struct err *e)
{
	unsigned op = w->head[0] & OP, n = w->head[1] & LENGTH;
	bool masked = w->head[1] & MASKED;

	w->fin = w->head[0] & FIN;
	w->op = (enum ws_op)op;
	if (w->head[0] & RSV)
		return bad(w, e, "a reserved bit is set");
	if ((op > WS_BINARY && op < WS_CLOSE) || op > WS_PONG)
		return bad(w, e, "unknown opcode");
	if (masked == w->client)
		return bad(w, e, w->client ? "the server masked a frame" :
		    "the client did not mask a frame");
	if (is_control(w->op) && (!w->fin || n > WS_CONTROL_MAX))
		return bad(w, e, w->fin ? "control frame is too long" :
		    "control frame is fragmented");
	if (w->op == WS_MORE && w->whole == WS_MORE)
		return bad(w, e, "continuation without a message");
	if (w->op != WS_MORE && !is_control(w->op) && w->whole != WS_MORE)
		return bad(w, e, "new message before the last one ended");
	return 0;
}

static size_t
length_bytes(const struct ws *w)
{
	unsigned n = w->head[1] & LENGTH;

	return n < 126 ? 0 : n == 126 ? 2 : 8;
}

/* The length of the head, as far as it is known. */
static size_t
head_bytes(const struct ws *w)
{
	return w->nhead < 2 ? 2 : 2 + length_bytes(w) +
	    (w->client ? 0 : WS_MASK);
}

/* Evaluates a complete head. */
static int
finish_head(struct ws *w, struct err *e)
{
	size_t i, n = length_bytes(w);

	w->left = n == 0 ? w->head[1] & LENGTH : 0;
	for (i = 0; i < n; i++)
		w->left = w->left << 8 | w->head[2 + i];
	if (w->left >> 63)
		return bad(w, e, "length is 2^63 or more");
	if (!w->client)
		memcpy(w->mask, w->head + 2 + n, WS_MASK);
	w->at = 0;
	w->nhead = 0;
	w->body = true;
	if (is_control(w->op)) {
		w->ncontrol = 0;
		return 0;
	}
	if (w->left >= SIZE_MAX / 2 || (w->max > 0 &&
	    (size_t)w->left > w->max - w->msg.n))
		return refuse(w, WS_TOO_BIG, e,
		    "Message exceeds maximum size");
	if (w->op != WS_MORE)
		w->whole = w->op;
	return 0;
}

/* 1 if the head is complete. */
static int
take_head(struct ws *w, struct str in, size_t *used, struct err *e)
{
	while (w->nhead < head_bytes(w)) {
		if (*used == in.n)
			return 0;
		w->head[w->nhead++] = (unsigned char)in.p[(*used)++];
		if (w->nhead == 2 && check_head(w, e) == -1)
			return -1;
	}
	return finish_head(w, e) == -1 ? -1 : 1;
}

static void
unmask(struct ws *w, char *out, struct str in)
{
	xor_mask(out, in.p, in.n, w->mask, w->at);
	w->at = (w->at + in.n) % WS_MASK;
}

static int
take_data(struct ws *w, struct str in, struct err *e)
{
	char *to;

	if (in.n == 0)
		return 0;
	to = buf_room(&w->msg, in.n);
	if (w->client)
		memcpy(to, in.p, in.n);
	else
		unmask(w, to, in);
	w->msg.n += in.n;
	if (w->whole == WS_TEXT &&
	    !is_text(&w->text, (struct str){ to, in.n }))
		return refuse(w, WS_NOT_UTF8, e, "text is not valid UTF-8");
	return 0;
}

static void
take_control(struct ws *w, struct str in)
{
	if (w->client && in.n > 0)
		memcpy(w->control + w->ncontrol, in.p, in.n);
	else if (in.n > 0)
		unmask(w, w->control + w->ncontrol, in);
	w->ncontrol += in.n;
}

bool
ws_code_ok(int code)
{
	return (code >= 1000 && code <= 1003) ||
	    (code >= 1007 && code <= 1014) || (code >= 3000 && code <= 4999);
}

/* Section 5.5.1. */
static int
read_close(struct ws *w, struct ws_event *ev, struct err *e)
{
	struct ws_text t = { 0, 0, 0 };

	ev->code = WS_NO_CODE;
	if (w->ncontrol == 0)
		return 1;
	if (w->ncontrol == 1)
		return bad(w, e, "close frame with an incomplete code");
	ev->code = (unsigned char)w->control[0] << 8 |
	    (unsigned char)w->control[1];
	ev->data = (struct str){ w->control + 2, w->ncontrol - 2 };
	if (!ws_code_ok(ev->code))
		return bad(w, e, "close frame with an invalid code");
	if (!is_text(&t, ev->data) || t.need > 0)
		return refuse(w, WS_NOT_UTF8, e, "reason is not valid UTF-8");
	return 1;
}

/* Ends a frame; 1 if it completes a message or is a control frame. */
static int
end_frame(struct ws *w, struct ws_event *ev, struct err *e)
{
	w->body = false;
	if (is_control(w->op)) {
		*ev = (struct ws_event){ .op = w->op,
			.data = { w->control, w->ncontrol } };
		return w->op == WS_CLOSE ? read_close(w, ev, e) : 1;
	}
	if (!w->fin)
		return 0;
	if (w->whole == WS_TEXT && w->text.need > 0)
		return refuse(w, WS_NOT_UTF8, e, "text ends in the middle of "
		    "a character");
	*ev = (struct ws_event){ .op = w->whole, .data = buf_str(&w->msg) };
	if (ev->data.p == NULL)
		ev->data = STR("");
	w->whole = WS_MORE;
	w->done = true;
	return 1;
}

static void
forget(struct ws *w)
{
	w->done = false;
	w->msg.n = 0;
	if (w->msg.cap > KEEP_MAX)
		buf_free(&w->msg);
}

int
ws_next(struct ws *w, struct str in, size_t *used, struct ws_event *ev,
    struct err *e)
{
	struct str part;
	int rc;

	*used = 0;
	if (w->code != 0)
		return err_set(e, ERR_SYNTAX, "the connection has failed");
	if (w->done)
		forget(w);
	for (;;) {
		if (!w->body) {
			rc = take_head(w, in, used, e);
			if (rc != 1)
				return rc;
		}
		part = (struct str){ in.p + *used, in.n - *used };
		if (part.n > w->left)
			part.n = (size_t)w->left;
		w->left -= part.n;
		*used += part.n;
		if (is_control(w->op))
			take_control(w, part);
		else if (take_data(w, part, e) == -1)
			return -1;
		if (w->left > 0)
			return 0;
		rc = end_frame(w, ev, e);
		if (rc != 0)
			return rc;
	}
}

void
ws_free(struct ws *w)
{
	buf_free(&w->msg);
}

/*
 * Writing.
 */
static size_t
make_head(unsigned char out[WS_HEAD_MAX], unsigned first, size_t n,
    const unsigned char *mask)
{
	size_t bytes = n < 126 ? 0 : n <= 0xFFFF ? 2 : 8, i;
	uint64_t left = n;

	out[0] = (unsigned char)first;
	out[1] = (unsigned char)((bytes == 0 ? n : bytes == 2 ? 126 : 127) |
	    (mask != NULL ? (unsigned)MASKED : 0));
	for (i = bytes; i > 0; i--, left >>= 8)
		out[1 + i] = (unsigned char)left;
	if (mask != NULL)
		memcpy(out + 2 + bytes, mask, WS_MASK);
	return 2 + bytes + (mask != NULL ? WS_MASK : 0);
}

static void
wrap(struct buf *b, size_t from, unsigned first, const unsigned char *mask)
{
	unsigned char head[WS_HEAD_MAX];
	size_t n = b->n - from, room;

	room = make_head(head, first, n, mask);
	if (buf_room(b, room) == NULL)
		return;
	if (n > 0) {
		memmove(b->p + from + room, b->p + from, n);
		if (mask != NULL)
			xor_mask(b->p + from + room, b->p + from + room, n,
			    mask, 0);
	}
	memcpy(b->p + from, head, room);
	b->n += room;
}

void
ws_wrap(struct buf *b, size_t from, enum ws_op op, const unsigned char *mask)
{
	wrap(b, from, (unsigned)FIN | (unsigned)op, mask);
}

void
ws_put_part(struct buf *b, enum ws_op op, bool fin, struct str payload,
    const unsigned char *mask)
{
	size_t from = b->n;

	if (op >= WS_CLOSE && payload.n > WS_CONTROL_MAX)
		payload.n = WS_CONTROL_MAX;
	buf_put(b, payload);
	wrap(b, from, (fin ? (unsigned)FIN : 0) | (unsigned)op, mask);
}

void
ws_put(struct buf *b, enum ws_op op, struct str payload,
    const unsigned char *mask)
{
	ws_put_part(b, op, true, payload, mask);
}

void
ws_put_close(struct buf *b, int code, struct str reason,
    const unsigned char *mask)
{
	size_t from = b->n;

	if (code != WS_NO_CODE) {
		buf_putc(b, (char)(code >> 8));
		buf_putc(b, (char)(code & 0xFF));
		buf_put(b, utf8_cut(reason, WS_CONTROL_MAX - 2));
	}
	wrap(b, from, (unsigned)FIN | WS_CLOSE, mask);
}
