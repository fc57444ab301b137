/* SPDX-License-Identifier: ISC */
/*
 * conn_internal.h: conn_.  The parts of a connection; only for conn*.c.
 */
#ifndef WAZA_CONN_INTERNAL_H
#define WAZA_CONN_INTERNAL_H

#include "io/conn.h"

enum {
	CONN_BLOCK = 64 << 10,	/* bytes read at a time */
	CONN_ROOM = 256 << 10,	/* bytes read before they are handled */
	CONN_SWEEP_MS = 500
};

struct conn_pace;

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
	struct conn_pace *pace;		/* NULL: output is not paced */
	int64_t active;			/* time of the last input or output */
	int64_t heard;			/* time of the last input */
	int64_t whole;			/* time of the last whole message */
	int64_t begun;			/* when the next began; 0: not yet */
	size_t got;			/* bytes of it */
	bool unmarked;			/* skip_mark() is done */
	bool started;			/* conn_check_start() has succeeded */
	bool same;			/* one descriptor for both */
	bool reading;			/* output waits for the end of it */
	bool pipelines;			/* see note_pipelining() */
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
void conn_update(struct conn *);	/* sets the events to poll for */

/*
 * conn_write.c: writes at most so many bytes now; ends the connection if all
 * output is written and it is to end.
 */
void conn_write(struct conn *, size_t most);

/*
 * Whether the connection's first bytes begin a message: 1 yes, 0 they are only
 * white space, -1 no.
 */
int conn_check_start(const struct conn *, struct str in, struct err *);

/*
 * conn_pace.c: see conn_opts.paced.  start does nothing where the system cannot
 * tell what the peer has read; end writes nothing and has no effect twice.
 * add: a message was appended to `out`; sent: bytes of it were written.
 * room: how many bytes to write now, not more than a blocking descriptor that
 * polls writable takes; 0: the loop will ask again, after a pause if rests.
 */
void conn_pace_start(struct conn *);
void conn_pace_end(struct conn *);
void conn_pace_add(struct conn *);
void conn_pace_sent(struct conn *);
size_t conn_pace_room(struct conn *);
bool conn_pace_rests(const struct conn *);

/* conn_sweep.c: looks at all connections every CONN_SWEEP_MS. */
void conn_sweep(void *conns);

/* Drops the longest idle connection that may be dropped, if there is one. */
void conn_make_room(struct conns *);

#endif
