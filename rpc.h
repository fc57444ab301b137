/* SPDX-License-Identifier: ISC */
/*
 * rpc.h: rpc_.  JSON-RPC 2.0: envelopes, batches, a table of methods, and the
 * peers that call them over any stream and framing.
 *
 * A method is a row: name, family, parameters as a field table, function.
 * Modules register their rows with rpc_add(); rpc.c knows none of them.  A
 * call passes these checks, in this order, before its function runs: envelope,
 * method, hello and token, parameters, path roots.  The function answers at
 * once (RPC_DONE, RPC_FAIL), or keeps the call and answers later (RPC_LATER,
 * only with RPC_SLOW).
 *
 * An error has a kind.  Its number depends on the family of the method, as the
 * protocol documents define it; `data.kind` is the same in all families.
 */
#ifndef WAZA_RPC_H
#define WAZA_RPC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "io/conn.h"
#include "json.h"
#include "lib/field.h"

struct config;
struct hub;
struct loop;
struct procs;
struct rpc;
struct rpc_peer;
struct rpc_run;

enum rpc_family { RPC_EVAL, RPC_TOOL, RPC_SESSION, RPC_FAMILY__MAX };

enum rpc_kind {
	RPC_PARSE_ERROR, RPC_INVALID_REQUEST, RPC_METHOD_NOT_FOUND,
	RPC_INVALID_PARAMS, RPC_INTERNAL, RPC_EVAL_NOT_FOUND,
	RPC_VALIDATION_FAILED, RPC_RUN_FAILED, RPC_TOOL_FAILED,
	RPC_AUTH_FAILED, RPC_PATH_DENIED, RPC_TIMEOUT, RPC_RATE_LIMITED,
	RPC_TOOL_UNKNOWN, RPC_RESOURCE, RPC_SESSION_NOT_FOUND,
	RPC_AGENT_INIT, RPC_SESSION_BUSY, RPC_CONFIG, RPC_IO,
	RPC_SERIALIZATION, RPC_TRANSPORT, RPC_CANCELLED, RPC_RUN_NOT_FOUND,
	RPC_TASK_NOT_FOUND, RPC_WORKSPACE, RPC_NO_RESULT, RPC_RUN_OVER,
	RPC_FORBIDDEN,
	RPC_KIND__MAX
};

/* The number, the name and the default message of a kind; never fail. */
int rpc_number(enum rpc_kind, enum rpc_family);
const char *rpc_kind_name(enum rpc_kind);	/* "eval_not_found" */
const char *rpc_kind_text(enum rpc_kind);	/* "Eval not found" */

/* How a peer is connected. */
enum rpc_via { RPC_STDIO, RPC_TCP, RPC_UNIX, RPC_WS };

enum rpc_status { RPC_DONE, RPC_FAIL, RPC_LATER };

struct rpc_call {
	struct rpc_peer *peer;	/* NULL: disconnected; the reply is discarded */
	struct rpc *rpc;
	const struct rpc_method *method;
	void *arg;		/* of the method's module: see rpc_add() */
	const struct json *id;	/* NULL: a notification */
	const struct json *params;	/* NULL: none */
	struct arena *arena;	/* lives as long as the call */
	struct json_out out;	/* one value, before RPC_DONE or rpc_done() */
	/* set by a function that returns RPC_LATER: the peer has disconnected
	 * or cancelled the call, which still must be answered, soon */
	void (*stop)(struct rpc_call *);
	void *state;		/* for the function's own use */
	/* private from here */
	struct arena own;
	struct rpc_batch *batch;
	struct buf *buf;	/* where `out` writes */
	size_t from;		/* where the reply begins in it */
	enum rpc_kind kind;
	struct str message;
	struct rpc_datum *data, **tail;
	struct rpc_call *next, **prev;
};

enum {
	RPC_OPEN = 1,		/* needs neither hello nor token */
	RPC_HELLO = 2,		/* needs hello */
	RPC_SLOW = 4,		/* may be answered later */
	RPC_AS_TOOL = 8		/* can also be called as a tool */
};

struct rpc_method {
	const char *name;
	enum rpc_family family;
	unsigned flags;
	const struct field_table *params;	/* NULL: not decoded */
	const struct field_table *tool_params;	/* as a tool; NULL: the same */
	enum rpc_status (*fn)(struct rpc_call *, void *params);
	const char *help;
};

/*
 * A group of methods and the state behind them.  Every hook may be NULL and
 * gets the argument of rpc_add().  gone: the peer has disconnected.  cancel:
 * end all work soon; called once or more, before close.  busy: some work is
 * still going on.  close: free the state; no peer is connected then, and no
 * other hook follows.
 */
struct rpc_module {
	const struct rpc_method *methods;
	size_t nmethods;
	void (*gone)(void *arg, struct rpc_peer *);
	void (*cancel)(void *arg);
	bool (*busy)(const void *arg);
	void (*close)(void *arg);
};

/*
 * Registers a module, after rpc_init(): its methods can be called, with `arg`
 * as call->arg.  Module and argument must live until rpc_fini(), which closes
 * the modules in reverse order.  At most 8 modules and 64 methods.
 */
void rpc_add(struct rpc *, const struct rpc_module *, void *arg);

/* The i-th of all methods, sorted by name; NULL after the last. */
const struct rpc_method *rpc_method(const struct rpc *, size_t i);

/*
 * Sets kind and message of an error (fmt NULL: the kind's default message) and
 * returns RPC_FAIL.  rpc_data() adds a member of `data`, as a string or as
 * JSON text; the key must be a literal.  Everything else is copied.
 */
enum rpc_status rpc_fail(struct rpc_call *, enum rpc_kind, const char *fmt,
    ...) PRINTF(3, 4);
void rpc_data(struct rpc_call *, const char *key, struct str text);
void rpc_data_json(struct rpc_call *, const char *key, struct str json);

/*
 * Decodes parameters (NULL: none) by a table (NULL: *decoded is NULL) into the
 * call's arena and checks its paths against the roots.  RPC_DONE, or RPC_FAIL
 * with the reason set.
 */
enum rpc_status rpc_decode(struct rpc_call *, const struct field_table *,
    const struct json *params, void **decoded);

/*
 * Decodes one value of the parameters into *out, without checking paths;
 * `path` is its name in messages.
 */
enum rpc_status rpc_decode_part(struct rpc_call *, const struct field_table *,
    const struct json *, const char *path, void *out);

/*
 * Lets another method, which must not be RPC_SLOW, answer with these
 * parameters; they are checked as usual.  Appends its value to the buffer, or
 * copies its error to this call and returns RPC_FAIL.
 */
enum rpc_status rpc_forward(struct rpc_call *, const struct rpc_method *,
    const struct json *params, struct buf *value);

/*
 * Stops the peer's unanswered call with that id; no effect if there is none.
 * Without `answer` no reply is sent.
 */
void rpc_stop(struct rpc_peer *, const struct json *id, bool answer);

/*
 * Answers a call that returned RPC_LATER: write the value to call->out between
 * begin and done; or set an error with rpc_fail() and call failed; or drop it
 * without a reply.  done, failed and drop free the call.
 */
void rpc_begin(struct rpc_call *);
void rpc_done(struct rpc_call *);
void rpc_failed(struct rpc_call *);
void rpc_drop(struct rpc_call *);

/*
 * Sends a notification: write the value of `params` to the returned output,
 * then call end.  Discarded if the peer has disconnected.
 */
struct json_out *rpc_notify(struct rpc_peer *, const char *method);
void rpc_notify_end(struct rpc_peer *);

/* Who may call, and which files they may name. */
struct rpc_access {
	struct str token;	/* empty: not required */
	bool unix_token;	/* also required on unix sockets */
	bool require_hello;	/* of every peer on a socket */
	const char *const *roots;	/* real paths; nroots 0: anywhere */
	size_t nroots;
	bool stdio_roots;	/* the roots also apply on stdio */
};

struct rpc_limits {		/* zero: the default */
	struct conn_limits conns;
	unsigned depth;		/* nesting of messages; JSON_DEPTH */
	size_t runs;		/* that execute at the same time; 128 */
	size_t kept_runs;	/* that are over and remembered; 100 */
	size_t stream_bytes;	/* of events kept for each run; none */
};

/* What runs and sessions start with.  Everything may be NULL. */
struct rpc_setup {
	const char *executor, *model;	/* if a call names none */
	const struct config *settings;
	struct hub *hub;	/* evaluation clients, for executor remote */
	const char *results_dir;	/* for runs without an output file */
	/* called when a run was added, has made progress, or is over */
	void (*changed)(void *arg, struct rpc_run *);
	void *changed_arg;
	/* writes the run whose shards meet here and that has this id, as
	 * run.status answers; id empty: all of them, as in run.list.  False:
	 * there is none.  With changed_arg. */
	bool (*put_met)(void *arg, struct json_out *, struct str id);
};

/* The work of a server since its start; by status where that is an index. */
enum rpc_tally_status { RPC_PASSED, RPC_FAILED, RPC_ERROR, RPC_SKIPPED,
	RPC_TALLIES };
struct rpc_tally {
	uint64_t runs[RPC_TALLIES], tasks[RPC_TALLIES], trials[RPC_TALLIES];
	uint64_t input_tokens, output_tokens;	/* as far as reported */
	double cost;		/* US dollars, the same */
};

/* A server.  Set the public part, zero the rest. */
struct rpc {
	struct loop *loop;
	struct procs *procs;
	const char *version;	/* of this program */
	struct rpc_access access;
	struct rpc_limits limits;
	struct rpc_setup setup;
	void (*idle)(void *arg);	/* the last peer has disconnected */
	void *idle_arg;
	bool exit_failed;	/* set when a peer on stdio has called exit
				 * without shutdown */
	struct rpc_tally tally;	/* read-only */
	struct rpc_state *state;	/* private; from init to fini */
};

/*
 * init needs loop, version and limits; the other public members can be set
 * until the first peer is accepted.  cancel ends runs and calls soon; busy is
 * false once all have ended.  fini disconnects all peers and frees all; no
 * effect without init.
 */
void rpc_init(struct rpc *);
void rpc_cancel(struct rpc *);
bool rpc_busy(const struct rpc *);
void rpc_fini(struct rpc *);

/* The set that connections for this server must be in. */
struct conns *rpc_conns(struct rpc *);

/*
 * A peer on these descriptors, which it owns from now on (framer NULL: chosen
 * by the first bytes).  authed: it has shown the token, or is trusted without.
 * NULL: too many connections, the descriptors are closed.
 */
struct rpc_peer *rpc_accept(struct rpc *, enum rpc_via, int in, int out,
    const struct conn_framer *, bool authed);

/*
 * Takes over a live connection of rpc_conns() with that framing, from within
 * chosen() or message() (conn.h).  authed: as for rpc_accept().
 */
struct rpc_peer *rpc_adopt(struct rpc *, enum rpc_via, struct conn *,
    const struct conn_framer *, bool authed);

/* Handles one message from the peer: the message() of conn.h. */
void rpc_message(void *peer, struct str);

/* Whether peers that are connected this way must show the token. */
bool rpc_needs_token(const struct rpc *, enum rpc_via);

/* Compares in a time that does not depend on where the two differ. */
bool rpc_same_secret(struct str shown, struct str secret);

/* Returns freed memory to the system soon: at most once a second. */
void rpc_trim_soon(struct rpc *);

#endif
