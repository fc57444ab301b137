/* SPDX-License-Identifier: ISC */
/*
 * conn_internal.h: conn_.  The parts of a connection; only for conn*.c.
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
	struct fd_watch in_w, out_w;	/* a socket uses only in_w */
	struct buf in;			/* input not handled yet */
	struct buf out;
	size_t sent;			/* bytes of out */
	size_t from;			/* where the new message begins */
	size_t seen;			/* see conn_seen() */
	struct buf state;		/* see conn_state() */
	int64_t active;			/* time of the last input or output */
	int64_t heard;			/* time of the last input */
	int64_t whole;			/* time of the last whole message */
	int64_t begun;			/* when the next began; 0: not yet */
	size_t got;			/* bytes of it */
	bool same;			/* one descriptor for both */
	bool reading;			/* output waits for the end of it */
	bool stalled, held;		/* see conn.c */
	bool said_bye;			/* framer->bye was called */
	bool emptied;			/* drained() is due */
	bool half;			/* end of input */
	bool last;			/* close when all output is written */
	bool parting;			/* written and shut down; see part() */
	bool dead;
};

/*
 * The framer's own state, zeroed, of the size that the first call gives.  It
 * lasts until the framer is replaced or the connection ends.  With 0: NULL if
 * there is none yet.
 */
void *conn_state(struct conn *, size_t);

void conn_fail(struct conn *, const struct err *);	/* broken(), finish */

/* conn_sweep.c: looks at all connections every CONN_SWEEP_MS. */
void conn_sweep(void *conns);

/* Drops the longest idle connection that may be dropped, if there is one. */
void conn_make_room(struct conns *);

#endif
