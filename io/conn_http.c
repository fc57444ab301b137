/* SPDX-License-Identifier: ISC */
/*
 * Requests of HTTP/1.1 as messages (RFC 9112).
 *
 * A head is looked for where it came.  A body of a known length is waited for
 * in the same place: conn_seen() then says, with BODY set, how many bytes head
 * and body have.  Chunks are put together elsewhere, behind a copy of their
 * head.  In each case the head is read once more when all is there, so that
 * it need not be kept, and one place for it does for all connections.
 */
#include "io/conn.h"

#include "lib/http.h"

enum {
	SLOW_MS = 20000,	/* then a request is too slow */
	IDLE_MS = 75000		/* between requests */
};

static const size_t BODY = SIZE_MAX ^ SIZE_MAX >> 1;

struct chunks {
	struct http_body body;
	struct buf msg;		/* the head, and what there is of the body */
	size_t head;		/* bytes of the head; 0: none is under way */
};

static int
refuse(struct http_head *h, int status, struct err *e)
{
	h->status = status;
	h->keep = false;
	return e->code != ERR_NONE ? -1 : err_set(e, ERR_LIMIT,
	    "the body is too long");
}

static void
say_continue(struct conn *c)
{
	buf_puts(conn_begin(c), "HTTP/1.1 100 Continue\r\n\r\n");
	conn_end_raw(c);
}

static int
read_again(struct http_head *h, struct str in, size_t *used, struct err *e)
{
	size_t seen = 0;

	return http_head_read(h, HTTP_REQUEST, in, &seen, used, e);
}

/* Takes chunks until the body is whole; *used counts on. */
static int
gather(struct conn *c, struct chunks *x, struct str in, size_t *used,
    struct str *msg, struct err *e)
{
	struct http_head *h = conn_set(c)->request;
	struct str data;
	size_t n;
	int rc = 0;

	while (rc == 0 && *used < in.n) {
		rc = http_body_next(&x->body, (struct str){ in.p + *used,
		    in.n - *used }, false, &n, &data, e);
		*used += n;
		if (rc != -1)
			buf_put(&x->msg, data);
	}
	*conn_seen(c) = 1;	/* in the middle of it */
	if (rc == -1)
		return refuse(h, e->code == ERR_LIMIT ? 413 : 400, e);
	if (rc == 1) {
		read_again(h, buf_str(&x->msg), &n, e);
		*msg = (struct str){ x->msg.p + x->head, x->msg.n - x->head };
		x->head = 0;
	}
	return rc;
}

static int
begin_chunks(struct conn *c, struct str in, size_t *used, struct str *msg,
    struct err *e)
{
	const struct http_head *h = conn_request(c);
	struct chunks *x = conn_state(c, sizeof(*x));

	http_body_init(&x->body, h, conn_limits(c)->message_max);
	x->msg.n = 0;
	x->head = *used;
	buf_put(&x->msg, (struct str){ in.p, *used });
	if (h->expects && *used == in.n)
		say_continue(c);
	return gather(c, x, in, used, msg, e);
}

static int
http_next(struct conn *c, struct str in, bool last, size_t *used,
    struct str *msg, struct err *e)
{
	size_t *seen = conn_seen(c), bytes = 0;
	struct http_head *h = conn_set(c)->request;
	struct chunks *x = conn_state(c, 0);
	int rc;

	(void)last;		/* half a request is none */
	*used = 0;
	if (x != NULL && x->head > 0)
		return gather(c, x, in, used, msg, e);
	if (x != NULL && x->msg.p != NULL)
		buf_free(&x->msg);
	if (*seen & BODY) {
		if (in.n < (*seen & ~BODY))
			return 0;
		rc = read_again(h, in, &bytes, e);
	} else
		rc = http_head_read(h, HTTP_REQUEST, in, seen, &bytes, e);
	if (rc != 1)
		return rc;
	if (h->length == HTTP_CHUNKED) {
		*used = bytes;
		return begin_chunks(c, in, used, msg, e);
	}
	if (h->size > conn_limits(c)->message_max)
		return refuse(h, 413, e);
	*msg = (struct str){ in.p + bytes, (size_t)h->size };
	*used = bytes + (size_t)h->size;
	if (in.n >= *used)
		return 1;
	if (h->expects && in.n == bytes && !(*seen & BODY))
		say_continue(c);
	*seen = BODY | *used;
	*used = 0;
	return 0;
}

static void
http_wrap(struct buf *b, size_t from)
{
	(void)b;
	(void)from;
}

static void
http_free(struct conn *c)
{
	struct chunks *x = conn_state(c, 0);

	buf_free(&x->msg);
}

const struct conn_framer conn_http = {
	.name = "http", .next = http_next, .wrap = http_wrap,
	.free = http_free, .slow_ms = SLOW_MS, .idle_ms = IDLE_MS,
};
