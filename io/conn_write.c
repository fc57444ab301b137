/* SPDX-License-Identifier: ISC */
/*
 * The output of a connection.  Buffers are shared: see conn.c.
 */
#include "io/conn_internal.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>

#include "base/os.h"

enum { SPARE_MAX = 256 << 10 };	/* bytes of a buffer that is kept */

/* Keeps the empty output buffer for other connections, or frees it. */
static void
release_out(struct conn *c)
{
	struct buf *spare = &c->set->spare;

	c->out.n = c->sent = 0;
	if (spare->p == NULL && c->out.cap <= SPARE_MAX) {
		*spare = c->out;
		c->out = (struct buf){ 0 };
	} else
		buf_free(&c->out);
}

/*
 * Descriptors 0 to 2 block, so they get only bytes that are certain to fit:
 * PIPE_BUF bytes if poll reports room, or the capacity of an empty pipe.
 */
static size_t
blocking_room(const struct conn *c, size_t n)
{
	struct pollfd p = { .fd = c->o.out, .events = POLLOUT };
	size_t unread, fits;

	if (c->pace == NULL && n > PIPE_BUF &&
	    os_unread(c->o.out, &unread, &fits) && unread == 0 &&
	    fits > PIPE_BUF)
		return fits;
	return poll(&p, 1, 0) != 1 ? 0 : c->pace != NULL ? n : PIPE_BUF;
}

/* How much of n bytes to write now; 0: the loop will ask again. */
static size_t
room_for(struct conn *c, size_t n)
{
	size_t room = n;

	if (c->pace != NULL)
		room = conn_pace_room(c);
	if (c->o.out <= 2 && room > 0) {
		n = n < room ? n : room;
		room = blocking_room(c, n);
	}
	return n < room ? n : room;
}

static ssize_t
write_some(struct conn *c, size_t most)
{
	size_t n = conn_pending(c) < most ? conn_pending(c) : most;

	n = room_for(c, n);
	if (n == 0) {
		errno = EAGAIN;
		return -1;
	}
	return os_write(c->o.out, c->out.p + c->sent, n);
}

/*
 * Closes after all output is written.  Closing a TCP socket with unread input
 * discards sent data (RFC 9112, 9.6), so input is read and ignored for a
 * moment.
 */
static void
part(struct conn *c)
{
	if (c->dead || c->parting)
		return;
	if (!c->same || c->half || shutdown(c->o.out, SHUT_WR) == -1) {
		conn_drop(c);
		return;
	}
	c->parting = true;
	c->stalled = false;
	c->active = loop_now(c->set->loop);
	buf_free(&c->in);
}

void
conn_write(struct conn *c, size_t most)
{
	ssize_t n;

	if (c->last && !c->said_bye && !c->dead && c->framer != NULL &&
	    c->framer->bye != NULL) {
		c->said_bye = true;
		c->framer->bye(c);
	}
	while (!c->dead && conn_pending(c) > 0 && most > 0) {
		n = write_some(c, most);
		if (n == -1 && errno == EAGAIN)
			break;
		if (n == -1) {
			conn_drop(c);
			return;
		}
		c->sent += (size_t)n;
		most -= (size_t)n;
		conn_pace_sent(c);
		c->active = loop_now(c->set->loop);
	}
	if (conn_pending(c) == 0 && c->out.p != NULL)
		release_out(c);
	if (c->last && conn_pending(c) == 0)
		part(c);
	conn_update(c);
}

struct buf *
conn_begin(struct conn *c)
{
	struct conns *s = c->set;

	if (c->out.p == NULL && s->spare.p != NULL) {
		c->out = s->spare;
		s->spare = (struct buf){ 0 };
	}
	c->from = c->out.n;
	return &c->out;
}

void
conn_abort(struct conn *c)
{
	c->out.n = c->from;
}

/* False: the connection is closing, and the message is discarded. */
static bool
accept_message(struct conn *c)
{
	if (c->dead || c->parting) {
		c->out.n = c->sent = 0;
		return false;
	}
	if (conn_pending(c) > c->set->limits.queue_max) {
		conn_drop(c);
		return false;
	}
	return true;
}

void
conn_end_raw(struct conn *c)
{
	if (!accept_message(c))
		return;
	conn_pace_add(c);
	if (!c->reading || (c->o.out <= 2 && !c->pipelines))
		conn_write(c, SIZE_MAX);
}

void
conn_end_soon(struct conn *c)
{
	if (accept_message(c))
		conn_update(c);
}

void
conn_flush(struct conn *c)
{
	bool some = conn_pending(c) > 0;

	if (c->reading || c->dead)
		return;
	conn_write(c, SIZE_MAX);
	if (some && conn_pending(c) == 0 && c->o.drained != NULL) {
		c->emptied = true;
		conn_update(c);
	}
}

void
conn_end(struct conn *c)
{
	const struct conn_framer *f = c->framer != NULL ? c->framer :
	    &conn_line;

	if (c->said_bye)
		conn_abort(c);	/* nothing may follow a close */
	else if (f->wrap != NULL && !c->dead && !c->parting)
		f->wrap(&c->out, c->from);
	conn_end_raw(c);
}

void
conn_send(struct conn *c, struct str msg)
{
	buf_put(conn_begin(c), msg);
	conn_end(c);
}

void
conn_finish(struct conn *c)
{
	c->last = true;
	conn_pace_end(c);
	if (!c->reading)
		conn_write(c, SIZE_MAX);
}
