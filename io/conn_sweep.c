/* SPDX-License-Identifier: ISC */
/*
 * Connections over time: finds those whose peer has disconnected, is idle or
 * too slow.
 */
#include "io/conn_internal.h"

#include <poll.h>

#include "base/os.h"
#include "base/os_peer.h"

enum {
	PART_MS = 1000,		/* for the peer to close; see part() */
	START_MS = 20000,	/* from the first byte to the fourth */
	YIELD_MS = 2000,	/* without a message: may be replaced */
	END_MS = 60000		/* for the peer to read the last output */
};

static bool
is_owed(const struct conn *c)
{
	return c->held || (c->o.owed != NULL && c->o.owed(c->o.arg));
}

void
conn_make_room(struct conns *s)
{
	struct conn *c, *oldest = NULL;

	for (c = s->head; c != NULL; c = c->next)
		if (c->same && (c->framer == NULL || c->framer->idle_ms > 0) &&
		    (oldest == NULL || c->whole < oldest->whole) &&
		    conn_pending(c) == 0 && !is_owed(c))
			oldest = c;
	if (oldest != NULL && loop_now(s->loop) - oldest->whole >= YIELD_MS)
		conn_drop(oldest);
}

/* Drops a half-closed connection whose peer has disconnected. */
static void
check_peer(struct conn *c)
{
	struct pollfd p = { .fd = c->o.out };

	if ((poll(&p, 1, 0) == 1 &&
	    p.revents & (POLLERR | POLLHUP | POLLNVAL)) ||
	    (c->same && os_peer_closed(c->o.out)))
		conn_drop(c);
}

/* Whether a message takes too long to arrive. */
static bool
is_late(const struct conn *c, int64_t now)
{
	int64_t most = c->framer != NULL ? c->framer->slow_ms : START_MS;

	return c->begun > 0 && most > 0 &&
	    now - c->begun > most + (int64_t)c->got;
}

/* Whether the peer does not read its output, or is silent and owed nothing. */
static bool
is_idle(const struct conn *c, int64_t silent)
{
	int64_t most = c->set->limits.idle_ms, own = c->framer != NULL ?
	    c->framer->idle_ms : 0;

	if (!c->same)
		return false;
	if (conn_pending(c) > 0 && ((own > 0 && silent > own) ||
	    (c->last && silent > END_MS)))
		return true;
	if (own > 0 && (most == 0 || most > own))
		most = own;
	return most > 0 && silent > most && !is_owed(c);
}

static void
check(struct conn *c, int64_t now)
{
	struct err e = { 0 };
	int64_t silent = now - c->active;

	if ((c->parting && silent >= PART_MS) || is_idle(c, silent) ||
	    (c->framer == NULL && is_late(c, now)))
		conn_drop(c);
	else if (c->half)
		check_peer(c);
	else if (!c->last && is_late(c, now)) {
		err_set(&e, ERR_TIMEOUT, "the message took too long");
		conn_fail(c, &e);
	}
}

void
conn_sweep(void *arg)
{
	struct conns *s = arg;
	struct conn *c, *next;

	for (c = s->head; c != NULL; c = next) {
		next = c->next;
		check(c, loop_now(s->loop));
	}
	if (s->n > 0)
		timer_start(s->loop, &s->sweep, CONN_SWEEP_MS);
}
