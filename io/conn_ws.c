/* SPDX-License-Identifier: ISC */
/*
 * WebSocket messages.  All input is consumed at once; only an incomplete
 * message is kept.
 *
 * Closing (RFC 6455, section 7): exactly one close frame is sent, no matter
 * which side began, and nothing after it.
 */
#include "io/conn_internal.h"

#include <string.h>

#include "base/os.h"

enum { WHY_MAX = 100 };

struct ws_state {
	struct ws ws;
	bool binary;		/* the last message was binary */
	bool closed;		/* our close has been sent */
	int code;		/* of our close; 0: by the reason */
	char why[WHY_MAX];
	int peer_code;		/* of the received close, or 0 */
	char peer_why[WS_CONTROL_MAX];
	size_t npeer_why;
};

static struct ws_state *
state_of(struct conn *c)
{
	struct ws_state *f = conn_state(c, sizeof(*f));

	f->ws.client = c->framer == &conn_ws_client;
	return f;
}

/* A mask for what a client sends (section 5.3). */
static const unsigned char *
mask_of(const struct ws_state *f, unsigned char mask[WS_MASK])
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
	struct ws_state *f = state_of(c);
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
	const struct ws_state *f = state_of(c);
	int code = f->code != 0 ? f->code : f->ws.code != 0 ? f->ws.code :
	    c->set->ending ? WS_GOING_AWAY : WS_NORMAL;

	put_close(c, code, str_of(f->why));
}

void
conn_ws_close(struct conn *c, int code, struct str why)
{
	struct ws_state *f = state_of(c);

	f->code = code;
	why.n = why.n < sizeof(f->why) ? why.n : sizeof(f->why) - 1;
	memcpy(f->why, why.p, why.n);
	f->why[why.n] = '\0';
	conn_finish(c);
}

void
conn_ws_send(struct conn *c, enum ws_op op, struct str s)
{
	const struct ws_state *f = state_of(c);
	unsigned char mask[WS_MASK];

	if (f->closed)
		return;
	ws_put(conn_begin(c), op, s, mask_of(f, mask));
	conn_end_raw(c);
}

bool
conn_ws_binary(struct conn *c)
{
	return state_of(c)->binary;
}

int
conn_ws_code(struct conn *c, struct str *why)
{
	const struct ws_state *f = state_of(c);

	*why = (struct str){ f->peer_why, f->npeer_why };
	return f->peer_code;
}

static int
next(struct conn *c, struct str in, bool last, size_t *used, struct str *msg,
    struct err *e)
{
	struct ws_state *f = state_of(c);
	struct ws_event ev;
	size_t n;
	int rc;

	(void)last;
	*used = 0;
	f->ws.max = c->set->limits.message_max;
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
			f->peer_code = ev.code;
			f->npeer_why = ev.data.n < sizeof(f->peer_why) ?
			    ev.data.n : sizeof(f->peer_why);
			if (f->npeer_why > 0)
				memcpy(f->peer_why, ev.data.p, f->npeer_why);
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
	static const struct ws_state client = { .ws = { .client = true } };
	unsigned char mask[WS_MASK];

	ws_wrap(b, from, WS_TEXT, mask_of(&client, mask));
}

static void
ws_forget(struct conn *c)
{
	ws_free(&state_of(c)->ws);
}

const struct conn_framer conn_ws = {
	.name = "websocket", .next = next, .wrap = server_wrap,
	.bye = bye, .free = ws_forget,
};

const struct conn_framer conn_ws_client = {
	.name = "websocket client", .next = next, .wrap = client_wrap,
	.bye = bye, .free = ws_forget,
};
