/* SPDX-License-Identifier: ISC */
/*
 * wire.h: wire_.  A JSON-RPC 2.0 client over the pipes of a child: our
 * requests with their responses, and the child's notifications and requests.
 *
 * Messages are lines or Content-Length blocks.  Input that is not JSON is
 * skipped, because agents print other things too.  A wire lives inside its
 * owner and must not move while it runs.  It ends once, with ended(), after
 * the child has been reaped; every pending request is answered with neither
 * result nor error before that.  Messages sent after the child's end are
 * dropped.  A child that closes its output and stays is terminated.
 *
 * Values passed to a callback are valid during the call.  A callback may use
 * and end the wire, but must not free it.
 */
#ifndef WAZA_WIRE_H
#define WAZA_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "io/loop.h"
#include "io/proc.h"

struct json;

enum {
	WIRE_MESSAGE_MAX = 64 << 20,	/* bytes of a message from the child */
	WIRE_GRACE_MS = 3000,		/* from the end of stdin to SIGTERM */
	WIRE_CLOSED_MS = 200,		/* from the end of stdout: it may be
					 * exiting */
	WIRE_NO_METHOD = -32601		/* JSON-RPC: method not found */
};

/*
 * Exactly one of result and error is not NULL, or both are NULL: the child has
 * ended.  A response without a result has the result null.
 */
typedef void wire_answer_fn(void *ctx, const struct json *result,
    const struct json *error);

struct wire_opts {
	const char *const *argv, *const *env;	/* as in os_spawn.h */
	const char *cwd;
	const struct os_bounds *bounds;	/* as in os_spawn.h */
	bool blocks;			/* Content-Length; else lines */
	void (*notify)(void *arg, struct str method,
	    const struct json *params);
	/* to be answered with wire_reply or wire_refuse, now or later; copy
	 * the id if it is needed later.  NULL: all requests are refused */
	void (*request)(void *arg, const struct json *id, struct str method,
	    const struct json *params);
	/* read .proc.res; the last call, which may free the wire */
	void (*ended)(void *arg);
	/* every message, '>' to and '<' from the child; or NULL */
	void (*record)(void *arg, char way, struct str message);
	void *arg;
};

struct wire {
	struct proc proc;
	struct proc_tail tail;	/* of its stderr */
	bool broken;		/* it sent an oversized message or does not
				 * read; it is being terminated */
	bool closed;		/* it closed its output before its end */
	struct wire_opts o;	/* private from here */
	struct arena arena;	/* of the requests */
	struct wire_request *pending, *spare;
	struct buf in;		/* an incomplete message */
	size_t seen;		/* bytes of it searched, or needed */
	int64_t seq;
	struct timer grace;
	bool ending, ended;
};

/* -1: the child could not be started, and no callback will be called. */
int wire_start(struct procs *, struct wire *, const struct wire_opts *,
    struct err *);

/*
 * Send a request, a notification, the response to a request of the child, or
 * an error response.  params and result are one JSON value on one line; empty
 * means none, or null.
 */
void wire_ask(struct wire *, const char *method, struct str params,
    wire_answer_fn *, void *ctx);
void wire_notify(struct wire *, const char *method, struct str params);
void wire_reply(struct wire *, const struct json *id, struct str result);
void wire_refuse(struct wire *, const struct json *id, int code,
    const char *msg);

/* Responses to requests with this ctx are ignored from now on. */
void wire_forget(struct wire *, void *ctx);

/*
 * Closes its stdin; SIGTERM and SIGKILL follow if it does not exit.  After
 * SIGTERM .proc.res.cancelled is set.
 */
void wire_end(struct wire *);
void wire_kill(struct wire *);		/* SIGTERM at once */

/*
 * SIGKILL at once; no callback is called any more, and the wire may be freed.
 * Not from a callback of the wire.  Harmless on a zero wire and after the end.
 */
void wire_fini(struct wire *);

/* Reads bytes as if the child had written them: for tests. */
void wire_feed(struct wire *, struct str);

/*
 * Append a JSON-RPC request (with id 0: a notification) or an error response
 * to a buffer, without a line end.
 */
void wire_put_call(struct buf *, int64_t id, const char *method,
    struct str params);
void wire_put_error(struct buf *, const struct json *id, int code,
    const char *msg);

#endif
