/* SPDX-License-Identifier: ISC */
/*
 * cmd/client.h: client_.  A server that is asked by JSON-RPC over a socket: the
 * other side of rpc.h.
 *
 * A client connects, says hello, and then asks what it was given meanwhile.
 * Each question ends once, by a call of its function: with the server's
 * answer, or with the reason why there will be none.  What the server tells
 * unasked goes to notify(), what it asks itself is refused.  Nothing that it
 * sends can do more harm than to end the connection.
 *
 * A client lives inside its owner, and may not be freed or started again from
 * one of its own calls.  All of them come from the loop, and none comes after
 * client_fini().
 */
#ifndef WAZA_CMD_CLIENT_H
#define WAZA_CMD_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "io/conn.h"
#include "io/loop.h"

struct json;
struct json_out;

/*
 * Where a server is.  A text is a unix socket when it has a slash or begins
 * with "unix:", else HOST:PORT, [IPv6]:PORT, :PORT or PORT (of this machine),
 * also with "tcp:", "tcp://" or "http://" before it; a word without a colon is
 * a file.
 */
struct client_target {
	const char *path;	/* of a unix socket, absolute; or NULL: */
	const char *host, *port;
	const char *name;	/* as it can be given again */
};

int client_target(struct arena *, const char *text, struct client_target *,
    struct err *);

/*
 * The connection that is remembered, in DIR/connection: a line with its name,
 * and lines of a word and its value.  What is there is replaced whole; the
 * file is for its owner only.
 */
struct client_stored {
	const char *name;
	const char *framing;	/* "line", "lsp", or NULL: the usual */
	const char *token_file;	/* absolute, or NULL */
};

const char *client_home(struct arena *, struct err *);	/* DIR */
int client_store(struct arena *, const struct client_stored *, struct err *);
/* 1; 0 when nothing is remembered; -1 when that cannot be known. */
int client_load(struct arena *, struct client_stored *, struct err *);
int client_forget(struct arena *, struct err *);	/* the same */

/* How an answer came out: one of the three. */
struct client_answer {
	const struct json *result;
	const struct json *error;	/* an object, as the server sent it */
	const struct err *lost;		/* why there is none */
	const struct json *message;	/* all of it; NULL: lost */
};

typedef void client_answer_fn(void *arg, const struct client_answer *);

/* A zero timeout is none. */
struct client_opts {
	struct loop *loop;
	struct client_target target;
	const struct conn_framer *framer;	/* NULL: lsp on unix sockets,
						 * lines on others */
	const char *version;	/* ours */
	struct str token;	/* empty: none */
	int64_t timeout_ms;	/* to connect in; of silence, later on */
	struct conn_limits limits;
	void (*notify)(void *arg, const struct json *message,
	    struct str method, const struct json *params);
	/* it is connected, or connected no more: err says why */
	void (*changed)(void *arg);
	void *arg;
};

enum client_state {
	CLIENT_IDLE, CLIENT_CONNECTING, CLIENT_GREETING, CLIENT_READY,
	CLIENT_OVER
};

struct client {
	enum client_state state;	/* read-only, as are these: */
	struct err err;		/* CLIENT_OVER: why */
	bool refused;		/* because of the token */
	struct str server;	/* "waza 1.2.3", as it says, printable */
	struct client_opts o;	/* private from here */
	struct arena arena;
	struct conns conns;
	struct conn *conn;
	struct conn_framer framer;
	struct fd_watch w;	/* while it connects */
	struct timer timer, retry;
	size_t nth;		/* of the host's addresses */
	struct client_question *open, **last, *spare;
	int64_t seq;
	bool asked;		/* whether it is still there */
};

/* Always begins; what is wrong is heard of later. */
void client_start(struct client *, const struct client_opts *);

/*
 * params is one JSON value, or empty.  The id of the question; the answer is
 * only for the call of the function.
 */
int64_t client_ask(struct client *, const char *method, struct str params,
    client_answer_fn *, void *arg);

/* Says that the answer is wanted no more; it may come nevertheless. */
void client_cancel(struct client *, int64_t id);

/* Hands on nothing for a while: what is told cannot be dealt with. */
void client_hold(struct client *, bool);

/* Bytes that are still to be sent. */
size_t client_pending(const struct client *);

/* Closes it at once, without a word to anybody. */
void client_fini(struct client *);

/*
 * What the server says, for people; never with what moves a cursor.  A
 * notification is a line:
 *
 *	[kaiak/generateFix/progress] stage=started progress=0%
 *	[METHOD] key=value key="a text" ...
 *
 * A value is JSON, with an indent or on one line.  An error is its words, its
 * number, and lines of what else it says.
 */
void client_put_note(struct buf *, struct str method, const struct json *);
void client_put_json(struct buf *, const struct json *, unsigned indent);
void client_put_error(struct buf *, const struct json *error);

/* Whether the error is of that kind, by its data or its number. */
bool client_is_kind(const struct json *error, const char *kind, int number);

#endif
