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

#include "base/base.h"
#include "io/loop.h"
#include "lib/ws.h"

struct conn;
struct http_head;

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
 * left off is in conn_seen(), which starts at 0 for each message and is not 0
 * in the middle of one.  At the end of input `last` is set.  wrap() makes a
 * message of what was appended to the buffer from `from` on.
 */
struct conn_framer {
	const char *name;
	int (*next)(struct conn *, struct str in, bool last, size_t *used,
	    struct str *msg, struct err *e);
	void (*wrap)(struct buf *, size_t from);
	void (*bye)(struct conn *);	/* we end it; or NULL */
	void (*free)(struct conn *);	/* what conn_state() has; or NULL */
	/*
	 * A message has so long to come, and a millisecond more for each of
	 * its bytes; then it is broken with ERR_TIMEOUT.  0: as long as it
	 * likes.
	 */
	int64_t slow_ms;
	/*
	 * Of silence while nothing is owed, or of not reading what is sent;
	 * then it ends.  It may also end when another needs its place.
	 */
	int64_t idle_ms;
};

extern const struct conn_framer conn_line;	/* a message a line */
extern const struct conn_framer conn_lsp;	/* Content-Length blocks */

/*
 * Requests of HTTP: a message is the body, the head is conn_request(), for
 * the length of the call; when it is broken, conn_request() has the status to
 * refuse it with.  What is sent are bytes as they are.
 */
extern const struct conn_framer conn_http;
const struct http_head *conn_request(const struct conn *);

/*
 * Messages of a WebSocket after its handshake, as the server or the client of
 * it.  Pings are answered, a close is echoed and ends the connection.  What
 * is sent is text; conn_finish() says goodbye with WS_NORMAL.
 */
extern const struct conn_framer conn_ws, conn_ws_client;
void conn_ws_send(struct conn *, enum ws_op, struct str);
void conn_ws_close(struct conn *, int code, struct str reason);
bool conn_ws_binary(struct conn *);	/* the message that is handed on is */
/* Of the close that came, for as long as the connection; 0: none did. */
int conn_ws_code(struct conn *, struct str *why);

/*
 * By the first four bytes; NULL: it takes more to tell.  HTTP only where it
 * is wanted.
 */
const struct conn_framer *conn_sniff(struct str head, bool last, bool http);
size_t conn_blank(struct str);	/* ends of lines before that: skip them */

struct conn_opts {
	int in, out;		/* owned from now on, but for 0 to 2 */
	const struct conn_framer *framer;	/* NULL: by the first bytes */
	void (*message)(void *arg, struct str);	/* NULL: see chosen() */
	/* malformed input: the owner may send a reply, then the connection
	 * closes; or NULL */
	void (*broken)(void *arg, const struct err *);
	void (*ended)(void *arg);	/* end of input; NULL: conn_finish() */
	bool (*owed)(void *arg);	/* it waits for us: it is not idle */
	void (*drained)(void *arg);	/* all that was sent has left; or NULL.
					 * From the loop */
	void (*gone)(void *arg);	/* the last call; or NULL */
	/*
	 * The framer was found by the first bytes, HTTP included; without
	 * this, HTTP is not looked for.
	 */
	void (*chosen)(void *arg, struct conn *, const struct conn_framer *);
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
	struct http_head *request;	/* that is handed on */
	struct buf spare;	/* an output buffer that nobody uses */
	int quiet;		/* the set of those that sleep, or -1 */
	struct fd_watch quiet_w;
	struct timer sweep, reap;
	bool ending;		/* all of them go */
};

void conns_init(struct conns *);
void conns_fini(struct conns *);	/* drops them all */

/* NULL when there are too many; then the descriptors are closed. */
struct conn *conn_new(struct conns *, const struct conn_opts *);

/*
 * Gives a live connection another framer and another owner: callbacks and
 * arg; the descriptors stay.  The old owner hears no more of it, not even
 * gone().  Only from within chosen() and message(); what is unread goes to
 * the new one.
 */
void conn_hand_over(struct conn *, const struct conn_framer *,
    const struct conn_opts *);

/*
 * Hands on no message while it is on: what comes waits, and soon the peer
 * does.
 */
void conn_hold(struct conn *, bool on);

void conn_send(struct conn *, struct str);

/*
 * The same without a copy: append the message to the buffer between the two
 * calls.  conn_abort() takes back what was appended.
 */
struct buf *conn_begin(struct conn *);
void conn_end(struct conn *);
void conn_end_raw(struct conn *);	/* the bytes as they are, */
void conn_end_soon(struct conn *);	/* and with the loop's next turn, */
void conn_flush(struct conn *);		/* or now, as far as they go */
void conn_abort(struct conn *);

size_t conn_pending(const struct conn *);	/* bytes not sent yet */
void conn_finish(struct conn *);	/* send what is left, then end; what
					 * still comes is nobody's business */
void conn_drop(struct conn *);		/* end now */
bool conn_half(const struct conn *);	/* its input has ended */
int64_t conn_heard(const struct conn *);	/* when something last came */
const struct conn_limits *conn_limits(const struct conn *);

/*
 * For framers.  What conn_state() gives is zeroed at first, always of the
 * same size, and the framer's until it is replaced or the connection goes;
 * with 0 it is NULL where there is none yet.
 */
size_t *conn_seen(struct conn *);
void *conn_state(struct conn *, size_t);
struct conns *conn_set(const struct conn *);
const struct conn_framer *conn_framing(const struct conn *);

#endif
