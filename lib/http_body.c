/* SPDX-License-Identifier: ISC */
/*
 * Bodies of HTTP/1.1 messages, and event streams in them.
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

/*
 * Server-sent events, read as browsers do: lines end in LF, CR or CRLF, a line
 * that begins with a colon is a comment, data lines are joined by LF, and a
 * blank line ends an event.
 */
static void
end_event(struct http_events *s)
{
	if (s->some)
		s->event(s->arg, buf_str(&s->data));
	s->some = false;
	s->data.n = 0;
}

static void
take_line(struct http_events *s)
{
	struct str line = buf_str(&s->line);

	if (line.n == 0) {
		end_event(s);
		return;
	}
	if (!str_starts(line, STR("data")) ||
	    (line.n > 4 && line.p[4] != ':'))
		return;
	line.p += line.n > 4 ? 5 : 4;
	line.n -= line.n > 4 ? 5 : 4;
	if (line.n > 0 && line.p[0] == ' ') {
		line.p++;
		line.n--;
	}
	if (s->some)
		buf_putc(&s->data, '\n');
	s->some = true;
	buf_put(&s->data, line);
}

void
http_events_put(struct http_events *s, struct str in)
{
	size_t i;

	while (in.n > 0) {
		if (s->cr && in.p[0] == '\n') {
			s->cr = false;
			in.p++;
			in.n--;
			continue;
		}
		s->cr = false;
		for (i = 0; i < in.n && in.p[i] != '\n' && in.p[i] != '\r'; )
			i++;
		buf_put(&s->line, (struct str){ in.p, i });
		if (i == in.n)
			return;
		s->cr = in.p[i] == '\r';
		take_line(s);
		s->line.n = 0;
		in.p += i + 1;
		in.n -= i + 1;
	}
}

/* Some servers omit the last blank line; an incomplete line is dropped. */
void
http_events_end(struct http_events *s)
{
	if (s->line.n == 0)
		end_event(s);
	http_events_free(s);
}

void
http_events_free(struct http_events *s)
{
	buf_free(&s->line);
	buf_free(&s->data);
	s->some = s->cr = false;
}
