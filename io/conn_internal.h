/* SPDX-License-Identifier: ISC */
/*
 * conn_internal.h: conn_.  What a connection is made of.  Only for conn.c and
 * conn_sweep.c; framers see no more of it than conn.h has.
 */
#ifndef WAZA_CONN_INTERNAL_H
#define WAZA_CONN_INTERNAL_H

#include "io/conn.h"

enum {
	CONN_BLOCK = 64 << 10,	/* bytes read at a time */
	CONN_SWEEP_MS = 500
};

struct conn {
	struct conns *set;
	struct conn *next, **prev;
	struct conn_opts o;
	const struct conn_framer *framer;
	struct fd_watch in_w, out_w;	/* of a socket only in_w */
	struct buf in;			/* the start of a message */
	struct buf out;
	size_t sent;			/* bytes of out */
	size_t from;			/* of the message that is appended */
	size_t seen;			/* the framer's */
	struct buf state;		/* too */
	int64_t active;			/* when something last came or went */
	int64_t heard;			/* when something last came */
	int64_t whole;			/* when the last message did */
	int64_t begun;			/* when the next began to; 0: not yet */
	size_t got;			/* bytes of it */
	bool same;			/* one descriptor for both */
	bool reading;			/* what is sent waits for its end */
	bool stalled, held;		/* `in` may hold whole messages */
	bool bade;			/* farewell was said */
	bool emptied;			/* drained() is to tell of it */
	bool half, last, parting, asleep, dead;
};

/* So much waits for the owner that no more is read. */
bool conn_full(const struct conn *);

void conn_wake(struct conn *);	/* if it sleeps */
void conn_read(struct conn *);	/* something has come */
void conn_fail(struct conn *, const struct err *);	/* broken() */
void conn_sweep(void *conns);	/* once in CONN_SWEEP_MS */

/*
 * Makes one go whose place may be taken, if there is one.
 */
void conn_make_room(struct conns *);

#endif
