/* SPDX-License-Identifier: ISC */
/*
 * wire.h: wire_.  JSON-RPC 2.0 with a child, as its client: questions of ours
 * with their answers, its notifications, and questions of its own.
 *
 * Messages are lines or Content-Length blocks.  What is no JSON is passed
 * over (agents print things).  A wire lives inside its owner and may not move
 * while it runs; it ends once, by ended(), when the child has been reaped.
 * Every question that is open then is answered with nothing before that.
 * What is asked or said after the child's end is dropped.
 *
 * Values handed to a callback live for the call.  A callback may use and end
 * the wire, but not free it.
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
	WIRE_GRACE_MS = 3000		/* from the end of stdin to SIGTERM */
};

/*
 * Exactly one of result and error is there, or neither: the child has ended.
 * A result that is missing is null.
 */
typedef void wire_answer_fn(void *ctx, const struct json *result,
    const struct json *error);

struct wire_opts {
	const char *const *argv, *const *env;	/* as in os_spawn.h */
	const char *cwd;
	bool blocks;			/* Content-Length; else lines */
	void (*notify)(void *arg, struct str method,
	    const struct json *params);
	/* to be answered by wire_reply or wire_refuse, now or later; an id
	 * that is needed later has to be copied.  NULL: all are refused */
	void (*request)(void *arg, const struct json *id, struct str method,
	    const struct json *params);
	/* read .proc.res; the last call, after which the wire may go */
	void (*ended)(void *arg);
	/* each message as it is, '>' to and '<' from the child; or NULL */
	void (*record)(void *arg, char way, struct str message);
	void *arg;
};

struct wire {
	struct proc proc;
	struct proc_tail tail;	/* of its stderr */
	bool broken;		/* it said what cannot be read, or reads not
				 * what it is told; it is being ended */
	struct wire_opts o;	/* private from here */
	struct arena arena;	/* of the questions */
	struct wire_question *open, *spare;
	struct buf in;		/* the message that is not all here */
	size_t seen;		/* bytes of it looked at, or needed */
	int64_t seq;
	struct timer grace;
	bool ending, over;
};

/* -1: the child could not be started; nothing will be called. */
int wire_start(struct procs *, struct wire *, const struct wire_opts *,
    struct err *);

/*
 * params is one JSON value on one line, or empty.  .proc.res of a child that
 * had SIGTERM says cancelled, whoever wanted it gone.
 */
void wire_ask(struct wire *, const char *method, struct str params,
    wire_answer_fn *, void *ctx);
void wire_tell(struct wire *, const char *method, struct str params);
void wire_reply(struct wire *, const struct json *id, struct str result);
void wire_refuse(struct wire *, const struct json *id, int code,
    const char *msg);

/* Answers to questions of this ctx are wanted no more. */
void wire_forget(struct wire *, void *ctx);

/* Closes its stdin; SIGTERM and SIGKILL follow if it does not go. */
void wire_end(struct wire *);
void wire_kill(struct wire *);		/* SIGTERM at once */

/*
 * SIGKILL at once; nothing is called any more, and the wire may go.  Not from
 * a callback of the wire.  Harmless on a zero wire, and after the end.
 */
void wire_fini(struct wire *);

/* Reads bytes as if the child had written them: for tests. */
void wire_feed(struct wire *, struct str);

#endif
