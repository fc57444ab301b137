/* SPDX-License-Identifier: ISC */
/*
 * rpc.h: rpc_.  JSON-RPC 2.0: envelopes, batches, the table of methods, and
 * the peers that call them, whatever stream and framing they come by.
 *
 * A method is a row: name, family, parameters as a field table, function.
 * What a call has to pass before its function sees it is in one place, in
 * this order: envelope, method, hello and token, parameters, path roots.  A
 * function answers at once (RPC_DONE, RPC_FAIL), or keeps the call and
 * answers later (RPC_LATER, only with RPC_SLOW).
 *
 * Errors have a kind.  Its number depends on the family of the method, as the
 * documents have it; `data.kind` is the same everywhere.
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
struct loop;
struct procs;
struct hub;
struct rpc_run;
struct sessions;

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
	RPC_KIND__MAX
};

int rpc_number(enum rpc_kind, enum rpc_family);
const char *rpc_kind_name(enum rpc_kind);	/* "eval_not_found" */
const char *rpc_kind_text(enum rpc_kind);	/* "Eval not found" */

/* How a peer came here. */
enum rpc_via { RPC_STDIO, RPC_TCP, RPC_UNIX, RPC_WS };

struct rpc_peer {
	struct rpc *rpc;
	struct conn *conn;
	enum rpc_via via;
	bool spoken;		/* it has said something */
	bool hello;		/* it has said who it is */
	bool authed;		/* it has shown the token */
	bool mcp;		/* it has said initialize */
	bool house;		/* the server itself: see rpc_inside() */
	unsigned refused;	/* wrong tokens so far */
	struct str name, version, agent;	/* as it says */
	struct arena arena;
	struct rpc_call *calls;	/* that are answered later */
	size_t ncalls;
	struct rpc_run *runs;	/* that it started and that go on */
	size_t nruns;
	size_t nheard;		/* of others, to which it listens */
	struct rpc_peer *next, **prev;
};

enum rpc_status { RPC_DONE, RPC_FAIL, RPC_LATER };

struct rpc_call {
	struct rpc_peer *peer;	/* NULL: it has gone; nobody hears the answer */
	struct rpc *rpc;
	const struct rpc_method *method;
	const struct json *id;	/* NULL: a notification */
	const struct json *params;	/* NULL: none */
	struct arena *arena;	/* lives as long as the call */
	struct json_out out;	/* one value, before RPC_DONE or rpc_done */
	/* of a LATER one, set by its function: the peer has gone, or wants it
	 * no more; both only hasten the answer */
	void (*stop)(struct rpc_call *);
	void *state;		/* the function's own */
	/* private from here */
	struct arena own;
	struct rpc_batch *batch;
	struct buf *buf;
	size_t from;
	enum rpc_kind kind;
	struct str message;
	struct rpc_datum *data, **tail;
	struct rpc_call *next, **prev;
	bool later;
};

enum {
	RPC_OPEN = 1,		/* needs neither hello nor token */
	RPC_HELLO = 2,		/* needs hello */
	RPC_SLOW = 4		/* may be answered later */
};

struct rpc_method {
	const char *name;
	enum rpc_family family;
	unsigned flags;
	const struct field_table *params;	/* NULL: it looks itself */
	enum rpc_status (*fn)(struct rpc_call *, void *params);
	const char *help;
};

/*
 * For RPC_FAIL: kind and message (NULL: the kind's own), and members of
 * `data` beside `kind`.  All is copied.  Returns RPC_FAIL.
 */
enum rpc_status rpc_fail(struct rpc_call *, enum rpc_kind, const char *fmt,
    ...) PRINTF(3, 4);
void rpc_data(struct rpc_call *, const char *key, struct str text);
void rpc_data_json(struct rpc_call *, const char *key, struct str json);

/*
 * Parameters for a method, decoded, their paths checked, in the call's arena.
 */
enum rpc_status rpc_decode(struct rpc_call *, const struct rpc_method *,
    const struct json *params, void **decoded);

/* The same of one value in them, which is called `path` in messages. */
enum rpc_status rpc_decode_part(struct rpc_call *, const struct field_table *,
    const struct json *, const char *path, void *out);

/*
 * Has another method answer this call's question, with these parameters and
 * the same gates.  Its value is appended to the buffer.  Of RPC_FAIL the
 * reasons are this call's.
 */
enum rpc_status rpc_ask(struct rpc_call *, const struct rpc_method *,
    const struct json *params, struct buf *value);

/* Stops the peer's call of that id, if it is not answered yet. */
void rpc_stop(struct rpc_peer *, const struct json *id, bool answer);

/*
 * Answers a call that is LATER: write the value to call->out between begin
 * and done; or fail it; or drop it without an answer.  Then the call is no
 * more.
 */
void rpc_begin(struct rpc_call *);
void rpc_done(struct rpc_call *);
void rpc_failed(struct rpc_call *);	/* after rpc_fail() */
void rpc_drop(struct rpc_call *);

/* A notification: write `params` between the two. */
struct json_out *rpc_notify(struct rpc_peer *, const char *method);
void rpc_notify_end(struct rpc_peer *);

/* What a server is made of.  Set the public part, zero the rest. */
struct rpc {
	struct loop *loop;
	struct procs *procs;
	const char *version;	/* ours */
	struct str token;	/* empty: none is needed */
	bool unix_token;	/* unix sockets need it as well */
	bool require_hello;	/* of every peer on a socket */
	const char *const *roots;	/* where files may be, real paths */
	size_t nroots;		/* 0: anywhere */
	bool stdio_roots;	/* they hold on stdio as well */
	struct conn_limits limits;
	unsigned depth;		/* nesting of messages; 0: JSON_DEPTH */
	size_t runs_max;	/* at the same time; 0: 128 */
	size_t kept_max;	/* ended ones that are remembered; 0: 100 */
	size_t tools_max;	/* commands at the same time; 0: 64 */
	const char *executor, *model;	/* where a call names none; or NULL */
	const struct json *tools;	/* commands, by name; or NULL */
	const struct config *settings;	/* for suites; or NULL */
	struct hub *hub;	/* clients of executor remote; or NULL */
	struct str template;	/* of sessions' prompts; empty: as usual */
	void (*quiet)(void *arg);	/* the last peer has gone */
	void *arg;
	size_t stream_max;	/* bytes of events kept of a run; 0: none */
	const char *results_dir;	/* of runs that name no file; or NULL */
	/* a run has come, has gone on, or is over; or NULL */
	void (*changed)(void *arg, struct rpc_run *);
	void *changed_arg;
	/* private */
	struct conns conns;
	struct rpc_peer *peers;
	size_t npeers;
	struct rpc_peer house;	/* what is asked for from within */
	size_t lost;		/* calls whose peer has gone */
	size_t commands;	/* of tools, that run */
	struct arena arena;	/* of the call that is being answered */
	struct buf trash;	/* where answers go that nobody wants */
	struct json_out note;
	struct rpc_run *runs, **last_run;
	size_t nruns;		/* that are known, */
	size_t running;		/* not over, */
	size_t active;		/* begun */
	struct rpc_cache *cache;
	struct sessions *sessions;	/* NULL: there were none yet */
	struct buf allowed;	/* the last path that was, */
	uint64_t allowed_read;	/* and when */
	struct timer start, tidy;
	bool starting, tidying;	/* these timers run */
};

void rpc_init(struct rpc *);
void rpc_fini(struct rpc *);		/* peers are dropped, runs are over */
void rpc_cancel(struct rpc *);		/* runs and calls: before fini */
bool rpc_busy(const struct rpc *);	/* a run or call goes on */

/* Takes the descriptors; NULL when there are too many peers. */
struct rpc_peer *rpc_accept(struct rpc *, enum rpc_via, int in, int out,
    const struct conn_framer *);

/*
 * Takes over a live connection, of r->conns, with that framing from now on:
 * from within chosen() or message() (conn.h).  Set authed when it has shown
 * the token already.
 */
struct rpc_peer *rpc_adopt(struct rpc *, enum rpc_via, struct conn *,
    const struct conn_framer *);

/* One message from the peer; what conn.h calls with each. */
void rpc_message(void *peer, struct str);

const struct rpc_method *rpc_method(size_t i);	/* of all; NULL at the end */

bool rpc_needs_token(const struct rpc_peer *);
bool rpc_token_via(const struct rpc *, enum rpc_via);	/* the same */

/* Takes the same time wherever they differ. */
bool rpc_same_secret(struct str shown, struct str secret);

/* Whether a path, resolved, is one that this peer may name. */
bool rpc_allows(const struct rpc_peer *, const char *path);

/*
 * A run that a tool asked for: nobody is told of it.  Either the value that
 * eval.run would answer is appended to the buffer, or the call is answered
 * when it is over.
 */
enum rpc_status rpc_run_begin(struct rpc_call *, const struct json *params,
    struct buf *value);
enum rpc_status rpc_run_wait(struct rpc_call *, const struct json *params,
    void (*answer)(struct rpc_call *, enum rpc_kind, struct str text));
	/* RPC_KIND__MAX: it is over, and the text is its summary */

/* The other parts, in rpc_*.c and tool.c */
extern const struct rpc_method rpc_eval_get, rpc_eval_list, rpc_eval_run,
    rpc_eval_validate, rpc_task_get, rpc_task_list, rpc_run_cancel,
    rpc_run_list, rpc_run_result, rpc_run_status, rpc_run_subscribe,
    rpc_discover;
extern const struct rpc_method rpc_cancel_request;
extern const struct rpc_method tool_hello, tool_ping, tool_call, tool_list,
    tool_initialize, tool_initialized, tool_cancelled, tool_resources;

extern const struct rpc_method session_generate_fix, session_delete,
    session_message, session_waza_fix, session_waza_delete,
    session_waza_message;

/* Something large was freed, or may have been. */
void rpc_tidy(struct rpc *);

/* Sends a peer away that has all its answers and will ask no more. */
void rpc_settle(struct rpc_peer *);

/* A peer goes: its runs are cancelled, their events go nowhere. */
void rpc_runs_orphan(struct rpc_peer *);
void rpc_runs_cancel(struct rpc *);
void rpc_runs_fini(struct rpc *);
void rpc_cache_fini(struct rpc *);

#endif
