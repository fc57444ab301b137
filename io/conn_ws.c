/* SPDX-License-Identifier: ISC */
/*
 * Messages of a WebSocket.  All that comes is taken at once, so that nothing
 * of it stays with the connection but the message that is not whole.
 *
 * The end (RFC 6455, section 7): one close goes out, whoever was first, and
 * nothing after it.
 */
#include "io/conn.h"

#include <string.h>

#include "base/os.h"

enum { WHY_MAX = 100 };

struct face {
	struct ws ws;
	bool binary;		/* the last message was */
	bool closed;		/* a close has gone out */
	int code;		/* that it is to have; 0: the usual */
	char why[WHY_MAX];
	int said;		/* the code of the close that came, or 0 */
	char reason[WS_CONTROL_MAX];	/* and its reason */
	size_t nreason;
};

static struct face *
face_of(struct conn *c)
{
	struct face *f = conn_state(c, sizeof(*f));

	f->ws.client = conn_framing(c) == &conn_ws_client;
	return f;
}

/* A mask for what a client sends (section 5.3). */
static const unsigned char *
mask_of(const struct face *f, unsigned char mask[WS_MASK])
{
	struct err e;

	if (!f->ws.client)
		return NULL;
	memset(mask, 0, WS_MASK);
	os_random(mask, WS_MASK, &e);
	return mask;
}

static void
put_close(struct conn *c, int code, struct str why)
{
	struct face *f = face_of(c);
	unsigned char mask[WS_MASK];

	if (f->closed)
		return;
	f->closed = true;
	ws_put_close(conn_begin(c), code, why, mask_of(f, mask));
	conn_end_raw(c);
}

static void
bye(struct conn *c)
{
	const struct face *f = face_of(c);
	int code = f->code != 0 ? f->code : f->ws.code != 0 ? f->ws.code :
	    conn_set(c)->ending ? WS_GOING_AWAY : WS_NORMAL;

	put_close(c, code, str_of(f->why));
}

void
conn_ws_close(struct conn *c, int code, struct str why)
{
	struct face *f = face_of(c);

	f->code = code;
	why.n = why.n < sizeof(f->why) ? why.n : sizeof(f->why) - 1;
	memcpy(f->why, why.p, why.n);
	f->why[why.n] = '\0';
	conn_finish(c);
}

void
conn_ws_send(struct conn *c, enum ws_op op, struct str s)
{
	const struct face *f = face_of(c);
	unsigned char mask[WS_MASK];

	if (f->closed)
		return;
	ws_put(conn_begin(c), op, s, mask_of(f, mask));
	conn_end_raw(c);
}

bool
conn_ws_binary(struct conn *c)
{
	return face_of(c)->binary;
}

int
conn_ws_code(struct conn *c, struct str *why)
{
	const struct face *f = face_of(c);

	*why = (struct str){ f->reason, f->nreason };
	return f->said;
}

static int
next(struct conn *c, struct str in, bool last, size_t *used, struct str *msg,
    struct err *e)
{
	struct face *f = face_of(c);
	struct ws_event ev;
	size_t n;
	int rc;

	(void)last;
	*used = 0;
	f->ws.max = conn_limits(c)->message_max;
	for (;;) {
		rc = ws_next(&f->ws, (struct str){ in.p + *used,
		    in.n - *used }, &n, &ev, e);
		*used += n;
		if (rc == -1)
			memcpy(f->why, e->msg, sizeof(f->why) - 1);
		if (rc != 1)
			return rc;
		switch (ev.op) {
		case WS_TEXT:
		case WS_BINARY:
			f->binary = ev.op == WS_BINARY;
			*msg = ev.data;
			return 1;
		case WS_PING:
			conn_ws_send(c, WS_PONG, ev.data);
			break;
		case WS_CLOSE:
			f->said = ev.code;
			f->nreason = ev.data.n < sizeof(f->reason) ?
			    ev.data.n : sizeof(f->reason);
			if (f->nreason > 0)
				memcpy(f->reason, ev.data.p, f->nreason);
			put_close(c, ev.code, STR(""));
			conn_finish(c);
			*used = in.n;
			return 0;
		case WS_PONG:
		case WS_MORE:
			break;
		}
	}
}

static void
server_wrap(struct buf *b, size_t from)
{
	ws_wrap(b, from, WS_TEXT, NULL);
}

static void
client_wrap(struct buf *b, size_t from)
{
	static const struct face client = { .ws = { .client = true } };
	unsigned char mask[WS_MASK];

	ws_wrap(b, from, WS_TEXT, mask_of(&client, mask));
}

static void
ws_forget(struct conn *c)
{
	ws_free(&face_of(c)->ws);
}

const struct conn_framer conn_ws = {
	.name = "websocket", .next = next, .wrap = server_wrap,
	.bye = bye, .free = ws_forget,
};

const struct conn_framer conn_ws_client = {
	.name = "websocket client", .next = next, .wrap = client_wrap,
	.bye = bye, .free = ws_forget,
};
