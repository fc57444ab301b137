/* SPDX-License-Identifier: ISC */
/*
 * HTTP/1.1 requests as messages (RFC 9112).
 *
 * A request with a body of known length stays in the input buffer until it is
 * complete: c->seen, with BODY set, is then the number of bytes of head and
 * body.  Chunks are assembled in a separate buffer after a copy of their head.
 * In both cases the head is parsed again when the request is complete, so that
 * one struct http_head serves all connections.
 */
#include "io/conn_internal.h"

#include "lib/http.h"

enum {
	SLOW_MS = 20000,	/* for a request to arrive */
	IDLE_MS = 75000		/* between requests */
};

static const size_t BODY = SIZE_MAX ^ SIZE_MAX >> 1;

struct chunks {
	struct http_body body;
	struct buf msg;		/* the head and the body so far */
	size_t head;		/* bytes of the head; 0: no request */
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
send_continue(struct conn *c)
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

/* Appends chunks until the body is complete; adds to *used. */
static int
gather(struct conn *c, struct chunks *x, struct str in, size_t *used,
    struct str *msg, struct err *e)
{
	struct http_head *h = c->set->request;
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
	c->seen = 1;		/* within a message */
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
	const struct http_head *h = c->set->request;
	struct chunks *x = conn_state(c, sizeof(*x));

	http_body_init(&x->body, h, c->set->limits.message_max);
	x->msg.n = 0;
	x->head = *used;
	buf_put(&x->msg, (struct str){ in.p, *used });
	if (h->expects && *used == in.n)
		send_continue(c);
	return gather(c, x, in, used, msg, e);
}

static int
http_next(struct conn *c, struct str in, bool last, size_t *used,
    struct str *msg, struct err *e)
{
	size_t *seen = &c->seen, bytes = 0;
	struct http_head *h = c->set->request;
	struct chunks *x = conn_state(c, 0);
	int rc;

	(void)last;		/* an incomplete request is ignored */
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
	if (h->size > c->set->limits.message_max)
		return refuse(h, 413, e);
	*msg = (struct str){ in.p + bytes, (size_t)h->size };
	*used = bytes + (size_t)h->size;
	if (in.n >= *used)
		return 1;
	if (h->expects && in.n == bytes && !(*seen & BODY))
		send_continue(c);
	*seen = BODY | *used;
	*used = 0;
	return 0;
}

static void
http_free(struct conn *c)
{
	struct chunks *x = conn_state(c, 0);

	buf_free(&x->msg);
}

const struct conn_framer conn_http = {
	.name = "http", .next = http_next, .free = http_free,
	.slow_ms = SLOW_MS, .idle_ms = IDLE_MS,
};
