/* SPDX-License-Identifier: ISC */
/*
 * Paced output: a message is written when the peer has read the one before, so
 * that each of its reads returns one message.
 *
 * The system does not report when a reader has emptied a pipe.  So we look: for
 * SPINS turns of the loop without a pause, since a reader that waits for us
 * needs some microseconds, then every LOOK_MS.  After LOOKS_MAX such pauses the
 * message is written in any case.  Looks are counted, not time: on a busy
 * machine the reader gets its share between two looks.
 *
 * That nothing is unread does not mean that the read has returned: it also
 * returns bytes that arrive on a socket while it copies.  So a look asks
 * LOOK_TIMES.
 *
 * Pacing ends for good when it is of no use: the peer has sent two messages at
 * once, so it can also read two at once; it has ended its input; it was late
 * LATE_MAX times, so it has read several messages at once; it reads in long
 * intervals, so that pauses add up; or too much output waits.
 */
#include "io/conn_internal.h"

#include <limits.h>

#include "base/os.h"

enum {
	SPINS = 50,
	LOOK_TIMES = 20,
	LOOK_MS = 1,
	LOOKS_MAX = 19,		/* pauses for a message: 20 ms in all */
	LATE_MAX = 25,
	LOOKS_FREE = 4,		/* for a message, on the average */
	LOOKS_OVER = 2000,	/* in all, beyond these: pacing ends */
	QUEUE_SHARE = 16	/* part of the queue's limit that may wait */
};

struct conn_pace {
	struct arena arena;	/* holds this struct itself */
	struct timer timer;
	struct buf ends;	/* size_t: the end of each message in `out` */
	size_t next;		/* of them: of the message to be written */
	size_t from;		/* where that message begins */
	unsigned spins, looks;	/* since it could have been written */
	bool resting;		/* until the timer fires */
	unsigned late;		/* messages that were not read in time */
	unsigned over;		/* looks so far, beyond LOOKS_FREE for each */
};

void
conn_pace_start(struct conn *c)
{
	struct arena arena = { 0 };
	size_t unread, fits;

	if (!os_unread(c->o.out, &unread, &fits))
		return;
	c->pace = NEW(&arena, struct conn_pace);
	c->pace->arena = arena;
}

void
conn_pace_end(struct conn *c)
{
	struct conn_pace *p = c->pace;
	struct arena arena;

	if (p == NULL)
		return;
	c->pace = NULL;
	timer_stop(c->set->loop, &p->timer);
	buf_free(&p->ends);
	arena = p->arena;
	arena_free(&arena);
}

void
conn_pace_add(struct conn *c)
{
	struct conn_pace *p = c->pace;

	if (p == NULL)
		return;
	buf_put(&p->ends, (struct str){ (const char *)&c->out.n,
		sizeof(c->out.n) });
	if (conn_pending(c) > c->set->limits.queue_max / QUEUE_SHARE)
		conn_pace_end(c);
}

void
conn_pace_sent(struct conn *c)
{
	struct conn_pace *p = c->pace;
	const size_t *ends;

	if (p == NULL)
		return;
	ends = (const void *)p->ends.p;
	if (c->sent == c->out.n)
		p->ends.n = p->next = p->from = 0;
	else if (c->sent == ends[p->next]) {
		p->from = c->sent;
		p->next++;
	}
}

bool
conn_pace_rests(const struct conn *c)
{
	return c->pace != NULL && c->pace->resting;
}

static void
on_look(void *arg)
{
	struct conn *c = arg;

	c->pace->looks++;
	conn_flush(c);
}

static void
look_later(struct conn *c)
{
	struct conn_pace *p = c->pace;

	p->resting = p->spins == SPINS;
	if (p->resting)
		timer_once(c->set->loop, &p->timer, LOOK_MS, on_look, c);
	else
		p->spins++;	/* the loop calls again at once */
}

/* The message is written now: counts what it took to get here. */
static void
count_looks(struct conn *c)
{
	struct conn_pace *p = c->pace;

	timer_stop(c->set->loop, &p->timer);
	p->late += p->looks == LOOKS_MAX;
	p->over += p->looks;
	p->over -= p->over < LOOKS_FREE ? p->over : LOOKS_FREE;
	p->spins = p->looks = 0;
	p->resting = false;
}

/* False: the system cannot tell. */
static bool
look(const struct conn *c, size_t *unread, size_t *fits)
{
	unsigned i;

	*unread = 0;
	for (i = 0; i < LOOK_TIMES && *unread == 0; i++)
		if (!os_unread(c->o.out, unread, fits))
			return false;
	return true;
}

size_t
conn_pace_room(struct conn *c)
{
	struct conn_pace *p = c->pace;
	size_t left = ((const size_t *)(const void *)p->ends.p)[p->next] -
	    c->sent;
	size_t unread = 0, fits = PIPE_BUF;

	if (c->sent == p->from) {
		if (p->late > LATE_MAX || p->over > LOOKS_OVER ||
		    !look(c, &unread, &fits)) {
			conn_pace_end(c);
			return PIPE_BUF;
		}
		if (unread > 0 && p->looks < LOOKS_MAX) {
			look_later(c);
			return 0;
		}
		count_looks(c);
	}
	if (unread > 0 || fits < PIPE_BUF)
		fits = PIPE_BUF;
	return fits < left ? fits : left;
}
