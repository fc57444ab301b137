/* SPDX-License-Identifier: ISC */
/*
 * Bodies of HTTP/1.1 messages.
 *
 * A state machine reads chunks (RFC 9112, section 7.1) byte by byte, except
 * for their data:
 *
 *   SIZE      hexadecimal digits, then SIZE_LF, or EXT after ';' or a space
 *   EXT       until CR, then SIZE_LF
 *   SIZE_LF   LF; then DATA, or TRAILER after a chunk of 0
 *   DATA      the bytes of the chunk, then DATA_CR
 *   DATA_CR   CR, DATA_LF  LF, then SIZE
 *   TRAILER   at the beginning of a line: END_LF after CR, else FIELD
 *   FIELD     until LF, then TRAILER
 *   END_LF    LF, then OVER: the body is complete
 */
#include "lib/http.h"

enum state {
	SIZE, EXT, SIZE_LF, DATA, DATA_CR, DATA_LF, TRAILER, FIELD, END_LF,
	OVER
};

void
http_body_init(struct http_body *b, const struct http_head *h, uint64_t max)
{
	*b = (struct http_body){ .length = h->length, .max = max };
	b->left = h->length == HTTP_FIXED ? h->size : 0;
	b->state = SIZE;
}

static int
too_long(const struct http_body *b, struct err *e)
{
	return err_set(e, ERR_LIMIT, "the body is larger than %llu bytes",
	    (unsigned long long)b->max);
}

static int
bad(struct err *e)
{
	return err_set(e, ERR_SYNTAX, "malformed chunk in the body");
}

/* A byte of the line before a chunk. */
static int
size_byte(struct http_body *b, char c, struct err *e)
{
	int digit = hex_digit(c);

	if (digit >= 0) {
		if (b->line++ >= 15)
			return bad(e);
		b->left = b->left << 4 | (uint64_t)digit;
		return 0;
	}
	if (b->line == 0)
		return bad(e);
	if (c == '\r')
		b->state = SIZE_LF;
	else if (c == ';' || c == ' ' || c == '\t')
		b->state = EXT;
	else
		return bad(e);
	return 0;
}

/* Advances the state by one byte that is not data. */
static int
step(struct http_body *b, char c, struct err *e)
{
	switch ((enum state)b->state) {
	case SIZE:
		return size_byte(b, c, e);
	case EXT:
		if (c == '\r')
			b->state = SIZE_LF;
		return ++b->line > HTTP_CHUNK_LINE_MAX || c == '\n' ?
		    bad(e) : 0;
	case SIZE_LF:
		b->state = b->left > 0 ? DATA : TRAILER;
		b->line = 0;
		return c == '\n' ? 0 : bad(e);
	case DATA_CR:
		b->state = DATA_LF;
		return c == '\r' ? 0 : bad(e);
	case DATA_LF:
		b->state = SIZE;
		b->line = 0;
		return c == '\n' ? 0 : bad(e);
	case TRAILER:
		b->state = c == '\r' ? END_LF : FIELD;
		return ++b->line > HTTP_HEAD_MAX || c == '\n' ? bad(e) : 0;
	case FIELD:
		if (c == '\n')
			b->state = TRAILER;
		return ++b->line > HTTP_HEAD_MAX ? bad(e) : 0;
	case END_LF:
		b->state = OVER;
		return c == '\n' ? 0 : bad(e);
	case DATA:
	case OVER:
		break;
	}
	return 0;
}

static int
hand_out(struct http_body *b, struct str in, uint64_t most, size_t *used,
    struct str *data, struct err *e)
{
	*data = in;
	if (data->n > most)
		data->n = (size_t)most;
	*used += data->n;
	b->total += data->n;
	if (b->max > 0 && b->total > b->max)
		return too_long(b, e);
	return 0;
}

static int
next_chunked(struct http_body *b, struct str in, size_t *used,
    struct str *data, struct err *e)
{
	while (*used < in.n && b->state != OVER) {
		if (b->state != DATA) {
			if (step(b, in.p[(*used)++], e) == -1)
				return -1;
			if (b->state == DATA && b->max > 0 &&
			    b->left > b->max - b->total)
				return too_long(b, e);
			continue;
		}
		if (hand_out(b, (struct str){ in.p + *used, in.n - *used },
		    b->left, used, data, e) == -1)
			return -1;
		b->left -= data->n;
		if (b->left == 0)
			b->state = DATA_CR;
		return 0;
	}
	return b->state == OVER;
}

int
http_body_next(struct http_body *b, struct str in, bool last, size_t *used,
    struct str *data, struct err *e)
{
	int r = 0;

	*used = 0;
	*data = (struct str){ in.p, 0 };
	switch (b->length) {
	case HTTP_NONE:
		return 1;
	case HTTP_FIXED:
		if (b->max > 0 && b->left > b->max - b->total)
			return too_long(b, e);
		if (hand_out(b, in, b->left, used, data, e) == -1)
			return -1;
		b->left -= data->n;
		r = b->left == 0;
		break;
	case HTTP_CHUNKED:
		r = next_chunked(b, in, used, data, e);
		break;
	case HTTP_TO_END:
		r = hand_out(b, in, UINT64_MAX, used, data, e) == -1 ? -1 :
		    last;
		break;
	}
	if (r == 0 && last && *used == in.n)
		return err_set(e, ERR_SYNTAX, "the body was cut off after "
		    "%llu bytes", (unsigned long long)b->total);
	return r;
}
