/* SPDX-License-Identifier: ISC */
/*
 * conn.h: conn_ conns_.  A peer on a stream, message by message, and the set
 * of all peers.
 *
 * How a stream is cut into messages is a framer's business, chosen by its
 * first bytes or by the caller; nothing above cares.  Messages come one after
 * the other, each for the length of the call.  What is sent while a read is
 * being worked off goes out in one write after it (on stdio, where clients
 * take a chunk for a message, each message is its own write); what is sent
 * later goes out at once.  Nothing here blocks.
 *
 * A connection ends once, with gone(), whatever the reason, and is not to be
 * used after that.  gone() comes from the loop, never from within another
 * call; what is sent to a connection that is about to go is lost.
 *
 *	OPEN -> (end of input, ended()) -> HALF -> (conn_finish, all is
 *	written) -> gone(); and from all of them to gone() when the peer has
 *	vanished or is too slow, or when conn_drop() is called.
 */
#ifndef WAZA_CONN_H
#define WAZA_CONN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base.h"
#include "loop.h"

struct conn;

/* Of each connection; zero members mean these. */
enum {
	CONN_MESSAGE_MAX = 10 << 20,	/* bytes */
	CONN_QUEUE_MAX = 64 << 20,	/* bytes that wait to be sent */
	CONN_MAX = 1024,		/* connections at a time */
	CONN_HEAD_MAX = 8 << 10		/* bytes before a message's body */
};

struct conn_limits {
	size_t message_max, queue_max, conn_max;
	int64_t idle_ms;	/* of silence, then it is dropped; 0: never */
};

/*
 * A framer finds the next message in `in`: 1 and *msg, with *used bytes done
 * (also when there is no message yet, for those it need not see again); 0 for
 * more bytes; -1 and *e when the stream makes no sense any more.  Where it
 * left off is in conn_seen(), which starts at 0 for each message.  At the end
 * of input `last` is set.  wrap() makes a message of what was appended to the
 * buffer from `from` on.
 */
struct conn_framer {
	const char *name;
	int (*next)(struct conn *, struct str in, bool last, size_t *used,
	    struct str *msg, struct err *e);
	void (*wrap)(struct buf *, size_t from);
};

extern const struct conn_framer conn_line;	/* a message a line */
extern const struct conn_framer conn_lsp;	/* Content-Length blocks */

/* By the first bytes; NULL: it takes more to tell. */
const struct conn_framer *conn_sniff(struct str head, bool last);
size_t conn_blank(struct str);	/* ends of lines before that: skip them */

struct conn_opts {
	int in, out;		/* owned from now on, but for 0 to 2 */
	const struct conn_framer *framer;	/* NULL: by the first bytes */
	void (*message)(void *arg, struct str);
	/* the stream makes no sense: something may be sent, then it ends */
	void (*broken)(void *arg, const struct err *);
	void (*ended)(void *arg);	/* nothing more will come */
	bool (*owed)(void *arg);	/* it waits for us: it is not idle */
	void (*gone)(void *arg);	/* the last call */
	void *arg;
};

/* Set loop and limits, zero the rest. */
struct conns {
	struct loop *loop;
	struct conn_limits limits;
	size_t n;		/* connections, read-only */
	uint64_t reads;		/* so far, read-only: what one read brought
				 * was all sent before it */
	struct conn *head;	/* private from here */
	struct conn *dead;	/* to be told and freed */
	char *block;		/* what is read goes here first */
	struct buf spare;	/* an output buffer that nobody uses */
	int quiet;		/* the set of those that sleep, or -1 */
	struct fd_watch quiet_w;
	struct timer sweep, reap;
};

void conns_init(struct conns *);
void conns_fini(struct conns *);	/* drops them all */

/* NULL when there are too many; then the descriptors are closed. */
struct conn *conn_new(struct conns *, const struct conn_opts *);

void conn_send(struct conn *, struct str);

/*
 * The same without a copy: append the message to the buffer between the two
 * calls.  conn_abort() takes back what was appended.
 */
struct buf *conn_begin(struct conn *);
void conn_end(struct conn *);
void conn_abort(struct conn *);

size_t conn_pending(const struct conn *);	/* bytes not sent yet */
void conn_finish(struct conn *);	/* send what is left, then end; what
					 * still comes is nobody's business */
void conn_drop(struct conn *);		/* end now */
void conn_hold(struct conn *, bool);	/* hand on nothing meanwhile */
bool conn_half(const struct conn *);	/* its input has ended */
size_t *conn_seen(struct conn *);	/* for framers */
const struct conn_limits *conn_limits(const struct conn *);

#endif
