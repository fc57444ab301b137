/* SPDX-License-Identifier: ISC */
/*
 * What comes over a WebSocket (RFC 6455, section 5).
 *
 * A frame is its head, gathered byte by byte and judged as soon as there is
 * enough of it, and its payload, which goes through the mask into the message
 * (or, of a control frame, into a place of its own, since it may come between
 * the fragments of a message).  Memory follows what has come, not what a head
 * promises.
 */
#include "lib/ws.h"

#include <string.h>

enum {
	FIN = 0x80, RSV = 0x70, OP = 0x0F, MASKED = 0x80, LENGTH = 0x7F,
	KEEP_MAX = 4 << 10	/* bytes of a buffer that is kept */
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

static bool
is_control(enum ws_op op)
{
	return op >= WS_CLOSE;
}

/*
 * UTF-8 as it comes (RFC 3629): how many bytes a character still needs, and
 * between what the next of them lies.
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

/*
 * Heads.
 */
static int
judge(struct ws *w, struct err *e)
{
	unsigned op = w->head[0] & OP, n = w->head[1] & LENGTH;
	bool masked = w->head[1] & MASKED;

	w->fin = w->head[0] & FIN;
	w->op = (enum ws_op)op;
	if (w->head[0] & RSV)
		return bad(w, e, "a reserved bit is set");
	if ((op > WS_BINARY && op < WS_CLOSE) || op > WS_PONG)
		return bad(w, e, "a frame of an unknown kind");
	if (masked == w->client)
		return bad(w, e, w->client ? "a frame of the server is masked" :
		    "a frame of the client is not masked");
	if (is_control(w->op) && (!w->fin || n > WS_CONTROL_MAX))
		return bad(w, e, w->fin ? "a control frame is too long" :
		    "a control frame is in fragments");
	if (w->op == WS_MORE && w->whole == WS_MORE)
		return bad(w, e, "a fragment of nothing");
	if (w->op != WS_MORE && !is_control(w->op) && w->whole != WS_MORE)
		return bad(w, e, "a message within another");
	return 0;
}

static size_t
length_bytes(const struct ws *w)
{
	unsigned n = w->head[1] & LENGTH;

	return n < 126 ? 0 : n == 126 ? 2 : 8;
}

/* The bytes that the head has in all, as far as can be told. */
static size_t
head_bytes(const struct ws *w)
{
	return w->nhead < 2 ? 2 : 2 + length_bytes(w) +
	    (w->client ? 0 : WS_MASK);
}

static int
settle(struct ws *w, struct err *e)
{
	size_t i, n = length_bytes(w);

	w->left = n == 0 ? w->head[1] & LENGTH : 0;
	for (i = 0; i < n; i++)
		w->left = w->left << 8 | w->head[2 + i];
	if (w->left >> 63)
		return bad(w, e, "a length of 2^63 or more");
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

/* 1: it is all there. */
static int
take_head(struct ws *w, struct str in, size_t *used, struct err *e)
{
	while (w->nhead < head_bytes(w)) {
		if (*used == in.n)
			return 0;
		w->head[w->nhead++] = (unsigned char)in.p[(*used)++];
		if (w->nhead == 2 && judge(w, e) == -1)
			return -1;
	}
	return settle(w, e) == -1 ? -1 : 1;
}

/*
 * Payloads.
 */
static void
unmask(struct ws *w, char *out, struct str in)
{
	unsigned char key[8];
	uint64_t k, v;
	size_t i;

	for (i = 0; i < sizeof(key); i++)
		key[i] = w->mask[(w->at + i) % WS_MASK];
	memcpy(&k, key, sizeof(k));
	for (i = 0; in.n - i >= sizeof(v); i += sizeof(v)) {
		memcpy(&v, in.p + i, sizeof(v));
		v ^= k;
		memcpy(out + i, &v, sizeof(v));
	}
	for (; i < in.n; i++)
		out[i] = (char)((unsigned char)in.p[i] ^ key[i % WS_MASK]);
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
		return refuse(w, WS_NOT_UTF8, e, "a text is not UTF-8");
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
		return bad(w, e, "a close with half a code");
	ev->code = (unsigned char)w->control[0] << 8 |
	    (unsigned char)w->control[1];
	ev->data = (struct str){ w->control + 2, w->ncontrol - 2 };
	if (!ws_code_ok(ev->code))
		return bad(w, e, "a close with a code that there is not");
	if (!is_text(&t, ev->data) || t.need > 0)
		return refuse(w, WS_NOT_UTF8, e, "a reason is not UTF-8");
	return 1;
}

/* The frame is whole: 1 when it ends something that is to be told. */
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
		return refuse(w, WS_NOT_UTF8, e, "a text ends in the middle "
		    "of a character");
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
		return err_set(e, ERR_SYNTAX, "the stream is broken");
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
