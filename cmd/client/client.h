/* SPDX-License-Identifier: ISC */
/*
 * cmd/client.h: client_.  A JSON-RPC client over a socket, the counterpart of
 * rpc.h.
 *
 * A client connects, sends hello, and then sends the requests that it was given
 * meanwhile.  The function of each request is called once, with the server's
 * answer or with the reason why there is none.  Notifications go to notify();
 * requests of the server are refused.  The worst that a server can do is to end
 * the connection.
 *
 * A client is embedded in its owner.  It must not be freed or restarted from
 * one of its own callbacks.  All callbacks are called from the loop, none after
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
 * The address of a server.  Text with a slash, or after "unix:", is the path
 * of a unix socket.  Otherwise it is HOST:PORT, [IPv6]:PORT, :PORT or PORT (of
 * this machine), optionally after "tcp:", "tcp://" or "http://".  Any other
 * word without a colon is a path.
 */
struct client_target {
	const char *path;	/* of a unix socket, absolute; or NULL: */
	const char *host, *port;
	const char *name;	/* the same, in canonical form */
};

/* Parses an address into the arena.  -1 with a message. */
int client_target(struct arena *, const char *text, struct client_target *,
    struct err *);

/*
 * The stored connection, in DIR/connection: a line with its name, then lines
 * with a key and its value.  The file is replaced as a whole, and only its
 * owner can read it.
 */
struct client_stored {
	const char *name;
	const char *framing;	/* "line", "lsp", or NULL: the default */
	const char *token_file;	/* absolute, or NULL */
};

/* DIR: WAZA_HOME or ~/.waza.  NULL with a message if neither is known. */
const char *client_home(struct arena *, struct err *);
/* Stores a connection; relative paths become absolute.  -1 with a message. */
int client_store(struct arena *, const struct client_stored *, struct err *);
/* Load or remove it: 1; 0 if none is stored; -1 with a message. */
int client_load(struct arena *, struct client_stored *, struct err *);
int client_forget(struct arena *, struct err *);

/* An answer: one of result, error and lost is set.  Valid during the call. */
struct client_answer {
	const struct json *result;
	const struct json *error;	/* an object, as the server sent it */
	const struct err *lost;		/* why there is no answer */
	const struct json *message;	/* the whole message, or NULL */
};

typedef void client_answer_fn(void *arg, const struct client_answer *);

struct client_opts {
	struct loop *loop;
	struct client_target target;
	const struct conn_framer *framer;	/* NULL: lsp on unix sockets,
						 * lines on others */
	const char *version;	/* of this program */
	struct str token;	/* empty: none */
	int64_t timeout_ms;	/* to connect, then of silence; 0: none */
	struct conn_limits limits;
	void (*notify)(void *arg, const struct json *message,
	    struct str method, const struct json *params);
	/* the state is READY, or OVER with err */
	void (*changed)(void *arg);
	void *arg;
};

enum client_state {
	CLIENT_IDLE, CLIENT_CONNECTING, CLIENT_GREETING, CLIENT_READY,
	CLIENT_OVER
};

struct client {
	enum client_state state;	/* read-only, as are these: */
	struct err err;		/* the reason of CLIENT_OVER */
	bool refused;		/* because of the token */
	struct str server;	/* "waza 1.2.3", printable */
	struct client_opts o;	/* private from here */
	struct arena arena;
	struct conns conns;
	struct conn *conn;
	struct conn_framer framer;
	struct fd_watch w;	/* while connecting */
	struct timer timer, retry;
	size_t nth;		/* of the host's addresses */
	struct client_request *open, **last, *spare;
	int64_t seq;
	bool pinged;		/* after half of the timeout */
};

/* Starts to connect.  Errors are reported later, by changed(). */
void client_start(struct client *, const struct client_opts *);

/*
 * Sends a request, once connected; params is one JSON value, or empty.  The
 * function may be NULL.  Returns the id.
 */
int64_t client_ask(struct client *, const char *method, struct str params,
    client_answer_fn *, void *arg);

/* Asks the server to cancel a request; its answer may still arrive. */
void client_cancel(struct client *, int64_t id);

/* Stops reading messages, or resumes. */
void client_hold(struct client *, bool);

/* Bytes that are still to be sent. */
size_t client_pending(const struct client *);

/* Closes the connection; no callback is called. */
void client_fini(struct client *);

/*
 * Messages of the server for people, without control characters.  A
 * notification is a line:
 *
 *	[kaiak/generateFix/progress] stage=started progress=0%
 *	[METHOD] key=value key="a text" ...
 *
 * A value is JSON, indented or on one line.  An error is its message, its code,
 * and a line for each member of its data.
 */
void client_put_note(struct buf *, struct str method, const struct json *);
void client_put_json(struct buf *, const struct json *, unsigned indent);
void client_put_error(struct buf *, const struct json *error);

/* Whether the error has this kind in its data, or else this code. */
bool client_is_kind(const struct json *error, const char *kind, int number);

#endif
