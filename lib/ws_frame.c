/* SPDX-License-Identifier: ISC */
/* What goes over a WebSocket (RFC 6455, section 5). */
#include "lib/ws.h"

#include <string.h>

static size_t
make_head(unsigned char out[WS_HEAD_MAX], unsigned first, size_t n,
    const unsigned char *mask)
{
	size_t bytes = n < 126 ? 0 : n <= 0xFFFF ? 2 : 8, i;
	uint64_t left = n;

	out[0] = (unsigned char)first;
	out[1] = (unsigned char)((bytes == 0 ? n : bytes == 2 ? 126 : 127) |
	    (mask != NULL ? 0x80u : 0));
	for (i = bytes; i > 0; i--, left >>= 8)
		out[1 + i] = (unsigned char)left;
	if (mask != NULL)
		memcpy(out + 2 + bytes, mask, WS_MASK);
	return 2 + bytes + (mask != NULL ? WS_MASK : 0);
}

static void
apply(char *p, size_t n, const unsigned char *mask)
{
	unsigned char twice[2 * WS_MASK];
	uint64_t k, v;
	size_t i;

	memcpy(twice, mask, WS_MASK);
	memcpy(twice + WS_MASK, mask, WS_MASK);
	memcpy(&k, twice, sizeof(k));
	for (i = 0; n - i >= sizeof(v); i += sizeof(v)) {
		memcpy(&v, p + i, sizeof(v));
		v ^= k;
		memcpy(p + i, &v, sizeof(v));
	}
	for (; i < n; i++)
		p[i] = (char)((unsigned char)p[i] ^ mask[i % WS_MASK]);
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
			apply(b->p + from + room, n, mask);
	}
	memcpy(b->p + from, head, room);
	b->n += room;
}

void
ws_wrap(struct buf *b, size_t from, enum ws_op op, const unsigned char *mask)
{
	wrap(b, from, 0x80u | (unsigned)op, mask);
}

void
ws_put_part(struct buf *b, enum ws_op op, bool fin, struct str payload,
    const unsigned char *mask)
{
	size_t from = b->n;

	if (op >= WS_CLOSE && payload.n > WS_CONTROL_MAX)
		payload.n = WS_CONTROL_MAX;
	buf_put(b, payload);
	wrap(b, from, (fin ? 0x80u : 0) | (unsigned)op, mask);
}

void
ws_put(struct buf *b, enum ws_op op, struct str payload,
    const unsigned char *mask)
{
	ws_put_part(b, op, true, payload, mask);
}

/* The beginning of a text that fits; no character is cut. */
static struct str
shorten(struct str s, size_t max)
{
	if (s.n <= max)
		return s;
	s.n = max;
	while (s.n > 0 && ((unsigned char)s.p[s.n] & 0xC0) == 0x80)
		s.n--;
	return s;
}

void
ws_put_close(struct buf *b, int code, struct str reason,
    const unsigned char *mask)
{
	size_t from = b->n;

	if (code != WS_NO_CODE) {
		buf_putc(b, (char)(code >> 8));
		buf_putc(b, (char)(code & 0xFF));
		buf_put(b, shorten(reason, WS_CONTROL_MAX - 2));
	}
	wrap(b, from, 0x80u | WS_CLOSE, mask);
}
