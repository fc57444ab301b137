/* SPDX-License-Identifier: ISC */
/*
 * conn.h: conn_ conns_.  A connection to a peer, message by message, and the
 * set of all connections.
 *
 * A framer cuts the stream into messages; it is chosen by the first bytes or
 * by the caller.  Each message is valid during the call that delivers it.
 * Output that is sent while input is being handled leaves in one write
 * afterwards (on stdio in one write per message, until the peer has sent two
 * messages at once); later output is written at once, unless it is paced.
 * Nothing here blocks.
 *
 * A connection ends once, with gone(), for any reason, and must not be used
 * after that.  gone() is called from the loop, never from within another
 * call; output sent in between is lost.
 *
 *	OPEN -> (end of input, ended()) -> HALF -> (conn_finish, all output
 *	is written) -> gone(); and from any state to gone() when the peer has
 *	disconnected or is too slow, or after conn_drop().
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

/* The defaults of struct conn_limits, used for members that are 0. */
enum {
	CONN_MESSAGE_MAX = 10 << 20,	/* bytes */
	CONN_QUEUE_MAX = 64 << 20,	/* bytes of unsent output */
	CONN_MAX = 1024,		/* connections at a time */
	CONN_HEAD_MAX = 8 << 10		/* bytes before a message's body */
};

struct conn_limits {
	size_t message_max, queue_max, conn_max;
	int64_t idle_ms;	/* then a silent peer is dropped; 0: never */
};

/*
 * A framer.  next() finds the next message in `in`: 1 and *msg, 0 if more
 * bytes are needed, -1 and *e if the stream is malformed.  *used is the number
 * of bytes that it need not see again, also when it returns 0.  conn_seen()
 * keeps its position; it is 0 at the start of each message and not 0 within
 * one.  `last` is set at the end of input.  wrap() turns the bytes that were
 * appended to the buffer from `from` on into a message; NULL: they are one.
 */
struct conn_framer {
	const char *name;
	int (*next)(struct conn *, struct str in, bool last, size_t *used,
	    struct str *msg, struct err *e);
	void (*wrap)(struct buf *, size_t from);
	void (*bye)(struct conn *);	/* before we close; or NULL */
	void (*free)(struct conn *);	/* frees conn_state(); or NULL */
	/*
	 * The time for receiving a message, plus 1 ms for each of its bytes;
	 * then broken() is called with ERR_TIMEOUT.  0: unlimited.
	 */
	int64_t slow_ms;
	/*
	 * The time without input while no answer is owed, or without progress
	 * of output; then the connection is dropped.  Such a connection may
	 * also be dropped to make room for a new one.  0: unlimited.
	 */
	int64_t idle_ms;
};

extern const struct conn_framer conn_line;	/* a message per line */
extern const struct conn_framer conn_lsp;	/* Content-Length blocks */

/*
 * HTTP requests: the message is the body.  conn_request() is the head during
 * message(), and in broken() it has the status to refuse the request with.
 * Output is sent unchanged.
 */
extern const struct conn_framer conn_http;
const struct http_head *conn_request(const struct conn *);

/*
 * WebSocket messages after the handshake, as server or as client.  Pings are
 * answered; a close is echoed and ends the connection.  conn_send() sends
 * text, conn_ws_send() any frame; conn_finish() closes with WS_NORMAL,
 * conn_ws_close() with another code.
 */
extern const struct conn_framer conn_ws, conn_ws_client;
void conn_ws_send(struct conn *, enum ws_op, struct str);
void conn_ws_close(struct conn *, int code, struct str reason);
bool conn_ws_binary(struct conn *);	/* the current message is binary */
/* The code of the received close, or 0; *why lives as long as the conn. */
int conn_ws_code(struct conn *, struct str *why);

/*
 * Chooses a framer by the first four bytes; NULL: more bytes are needed.
 * HTTP is considered only if `http` is set.
 */
const struct conn_framer *conn_sniff(struct str head, bool last, bool http);
size_t conn_blank(struct str);	/* leading line ends, which are skipped */

struct conn_opts {
	int in, out;		/* owned by the conn, except 0 to 2 */
	const struct conn_framer *framer;	/* NULL: by the first bytes */
	/*
	 * The peer may treat each read as one message: write a message when
	 * the one before was read, or after 20 ms.  Until the peer pipelines
	 * or ends its input, and where the system supports it (Linux).
	 */
	bool paced;
	void (*message)(void *arg, struct str);	/* NULL: see chosen() */
	/* malformed input: the owner may send a reply, then the connection
	 * closes; or NULL */
	void (*broken)(void *arg, const struct err *);
	void (*ended)(void *arg);	/* end of input; NULL: conn_finish() */
	bool (*owed)(void *arg);	/* it awaits an answer: not idle */
	void (*drained)(void *arg);	/* all output is written; or NULL.
					 * Called from the loop */
	void (*gone)(void *arg);	/* the last call; or NULL */
	/*
	 * Fail as soon as the first bytes cannot begin a message, instead of
	 * delivering a malformed one.  For peers that may speak another
	 * protocol: browsers, TLS.
	 */
	bool strict;
	/*
	 * The framer was chosen by the first bytes.  Without this callback
	 * HTTP is not considered.
	 */
	void (*chosen)(void *arg, struct conn *, const struct conn_framer *);
	void *arg;
};

enum { CONN_GATHER = 64 };	/* reads that are handled together */

struct conn_read {
	struct conn *conn;
	size_t at, n;		/* in the block */
	bool end;		/* end of input */
};

/* Set loop and limits and zero the rest. */
struct conns {
	struct loop *loop;
	struct conn_limits limits;
	size_t n;		/* connections, read-only */
	uint64_t reads;		/* read-only: all messages that are handled
				 * before it changes were sent before the
				 * first of them was handled */
	struct conn *head;	/* private from here */
	struct conn *dead;	/* gone() is still to be called */
	char *block;		/* input is read into this */
	size_t filled;		/* bytes of it, in this turn */
	struct conn_read gathered[CONN_GATHER];
	size_t ngathered;
	struct loop_after after;	/* handles them */
	struct http_head *request;	/* see conn_request() */
	struct buf spare;	/* an unused output buffer */
	struct timer sweep, reap;
	bool handling;		/* in handle_reads() */
	bool ending;		/* in conns_fini() */
};

void conns_init(struct conns *);	/* sets defaults of the limits */
void conns_fini(struct conns *);	/* drops all connections */

/* NULL if there are too many connections; the descriptors are closed then. */
struct conn *conn_new(struct conns *, const struct conn_opts *);

/*
 * Gives a connection another framer and another owner: callbacks and arg.  The
 * old owner gets no more calls, not even gone(); unread input goes to the new
 * one.  Only from within chosen() and message().
 */
void conn_hand_over(struct conn *, const struct conn_framer *,
    const struct conn_opts *);

/* While on, no message is delivered; the peer soon has to wait. */
void conn_hold(struct conn *, bool on);

/* Sends one message. */
void conn_send(struct conn *, struct str);

/*
 * The same without a copy: append the message to the buffer of conn_begin(),
 * then call one of the others.  conn_end() wraps it, conn_end_raw() sends it
 * as it is, conn_end_soon() does so in the loop's next turn, conn_abort()
 * discards it.  conn_flush() writes now as much as the peer accepts.
 */
struct buf *conn_begin(struct conn *);
void conn_end(struct conn *);
void conn_end_raw(struct conn *);
void conn_end_soon(struct conn *);
void conn_abort(struct conn *);
void conn_flush(struct conn *);

size_t conn_pending(const struct conn *);	/* bytes not sent yet */
void conn_finish(struct conn *);	/* send the rest, then end; further
					 * input is ignored */
void conn_drop(struct conn *);		/* end now */
bool conn_half(const struct conn *);	/* its input has ended */
int64_t conn_last_input(const struct conn *);	/* time of the last input */

/* For framers: the position within the message; see struct conn_framer. */
size_t *conn_seen(struct conn *);

#endif
