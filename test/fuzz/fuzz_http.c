/* SPDX-License-Identifier: ISC */
/*
 * Input: an HTTP message; the first byte selects the side and how the message
 * is split.  It parses the same whole and in parts.  A head that is accepted
 * is the same after it is written and parsed again.
 */
#include <assert.h>
#include <string.h>

#include "base/base.h"
#include "lib/http.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

struct outcome {
	int head, body;
	size_t used;
	struct buf text;
};

static void
put_head(struct buf *b, const struct http_head *h)
{
	size_t i;

	if (h->side == HTTP_REQUEST)
		buf_fmt(b, "%.*s %.*s HTTP/1.%d\r\n", STRF(h->method),
		    STRF(h->target), h->minor);
	else
		buf_fmt(b, "HTTP/1.%d %d %.*s\r\n", h->minor, h->status,
		    STRF(h->reason));
	for (i = 0; i < h->nfields; i++) {
		buf_put(b, h->field[i].name);
		buf_puts(b, ": ");
		buf_put(b, h->field[i].value);
		buf_puts(b, "\r\n");
	}
	buf_puts(b, "\r\n");
}

static void
check_again(const struct http_head *h)
{
	struct buf b = { 0 };
	struct http_head again;
	size_t i, seen = 0, used;
	struct err e;

	put_head(&b, h);
	if (b.n <= HTTP_HEAD_MAX) {
		assert(http_head_read(&again, h->side, buf_str(&b), &seen,
		    &used, &e) == 1);
		assert(used == b.n && again.nfields == h->nfields);
		assert(again.length == h->length && again.size == h->size);
		assert(again.keep == h->keep && again.status == h->status);
		for (i = 0; i < h->nfields; i++)
			assert(str_eq(again.field[i].value,
			    h->field[i].value));
	}
	buf_free(&b);
}

static void
read_body(struct outcome *o, const struct http_head *h, struct str in,
    size_t piece)
{
	struct http_body b;
	size_t at = 0, end, used;
	struct str data;
	struct err e = { 0 };

	http_body_init(&b, h, 100000);
	while (o->body == 0) {
		end = at + piece < in.n ? at + piece : in.n;
		do {
			o->body = http_body_next(&b, (struct str){ in.p + at,
			    end - at }, end == in.n, &used, &data, &e);
			assert(used <= end - at && data.n <= used);
			at += used;
			if (o->body != -1)
				buf_put(&o->text, data);
			else
				assert(e.msg[0] != '\0');
		} while (o->body == 0 && at < end);
	}
	o->used += o->body == 1 ? at : 0;
}

static void
read_message(struct outcome *o, enum http_side side, struct str in,
    size_t piece)
{
	struct http_head h;
	size_t n = 0, seen = 0;
	struct err e = { 0 };

	while (o->head == 0 && n < in.n) {
		n = n + piece < in.n ? n + piece : in.n;
		o->head = http_head_read(&h, side, (struct str){ in.p, n },
		    &seen, &o->used, &e);
	}
	if (o->head == -1)
		assert(e.msg[0] != '\0' && (side == HTTP_RESPONSE ||
		    h.status >= 400));
	if (o->head != 1)
		return;
	check_again(&h);
	read_body(o, &h, (struct str){ in.p + o->used, in.n - o->used },
	    piece);
}

static void
on_event(void *arg, struct str data)
{
	buf_put(arg, data);
	buf_putc(arg, '\0');
}

static void
read_events(struct buf *out, struct str in, size_t piece)
{
	struct http_events s = { .event = on_event, .arg = out };
	size_t at;

	for (at = 0; at < in.n; at += piece)
		http_events_put(&s, (struct str){ in.p + at,
		    in.n - at < piece ? in.n - at : piece });
	http_events_end(&s);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct outcome a = { 0 }, b = { 0 };
	struct buf x = { 0 }, y = { 0 };
	struct http_url u;
	struct str in;
	int64_t at;
	struct err e;
	size_t piece;

	if (size == 0)
		return 0;
	in = (struct str){ (const char *)data + 1, size - 1 };
	piece = (size_t)(data[0] >> 1) + 1;
	read_message(&a, data[0] & 1 ? HTTP_RESPONSE : HTTP_REQUEST, in,
	    size);
	read_message(&b, data[0] & 1 ? HTTP_RESPONSE : HTTP_REQUEST, in,
	    piece);
	/* a limit may be passed sooner or later; otherwise all is the same */
	assert(a.head == b.head || in.n > HTTP_HEAD_MAX || a.head == -1 ||
	    b.head == -1);
	if (a.head == 1 && b.head == 1)
		assert(a.used == b.used && a.body == b.body &&
		    (a.body == -1 || str_eq(buf_str(&a.text),
		    buf_str(&b.text))));
	read_events(&x, in, size);
	read_events(&y, in, piece);
	assert(str_eq(buf_str(&x), buf_str(&y)));
	if (http_url_read(in, &u, &e) == 0)
		assert(u.host.n > 0 && u.path.n > 0 && u.path.p[0] == '/');
	http_date(in, &at);
	buf_free(&a.text);
	buf_free(&b.text);
	buf_free(&x);
	buf_free(&y);
	return 0;
}
