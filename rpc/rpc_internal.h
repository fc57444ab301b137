/* SPDX-License-Identifier: ISC */
/*
 * rpc_internal.h: rpc_.  The parts of a server, of its peers and of its runs,
 * and what the modules of rpc/ share.
 */
#ifndef WAZA_RPC_INTERNAL_H
#define WAZA_RPC_INTERNAL_H

#include "io/loop.h"
#include "results/event.h"
#include "results/store.h"
#include "rpc.h"
#include "rpc/rpc_stream.h"
#include "rpc/rpc_view.h"
#include "suite/spec.h"

struct run;
struct run_opts;
struct spec_notes;
struct spec_suite;

enum {
	RPC_MODULES_MAX = 8,
	RPC_METHODS_MAX = 64,
	RPC_LISTENERS_MAX = 64,		/* of a run, besides its owner */
	RPC_RESULT_MAX = 8 << 20	/* bytes kept of one run's results */
};

struct rpc_peer {
	struct rpc *rpc;
	struct conn *conn;	/* NULL: disconnected */
	enum rpc_via via;
	bool spoken;		/* it has sent a message */
	bool hello;		/* it has identified itself */
	bool authed;		/* it has shown the token */
	bool mcp;		/* it has called initialize of MCP */
	bool structured;	/* its MCP has structuredContent */
	bool shut;		/* it has called shutdown */
	bool inside;		/* the server itself: see rpc_inside() */
	unsigned refused;	/* wrong tokens so far */
	struct str name, version, agent;	/* from hello */
	struct arena arena;	/* holds the peer itself */
	struct rpc_call *calls;	/* to be answered later */
	size_t ncalls;
	struct rpc_run *runs;	/* that it started, not over */
	size_t nruns;		/* those, and its subscriptions */
	struct rpc_peer *next, **prev;
};

/* A registered method. */
struct rpc_row {
	struct str name;
	const struct rpc_method *method;
	void *arg;
};

struct rpc_table {
	struct rpc_row row[RPC_METHODS_MAX];	/* sorted by name */
	size_t nrows;
	size_t last;		/* the row found last: calls repeat */
	struct {
		const struct rpc_module *module;
		void *arg;
	} module[RPC_MODULES_MAX];
	size_t nmodules;
};

/* The runs of a server, oldest first. */
struct rpc_runs {
	struct rpc_run *head, **tail;
	size_t n;
	size_t unfinished;	/* queued or started, not over */
	size_t queued, queued_bytes;	/* waiting runs; their memory */
	size_t active;		/* started, not over */
	struct timer start;
	int64_t swept;		/* when files of killed runs were removed */
};

/* The last path that the roots allowed, and the read that brought it. */
struct rpc_allowed {
	struct buf path;
	uint64_t read;
};

struct rpc_state {
	struct arena own;	/* holds the state itself */
	struct conns conns;
	struct rpc_peer *peers;
	size_t npeers;
	struct rpc_peer inside;	/* the caller of rpc_inside() */
	size_t orphans;		/* pending calls of disconnected peers */
	struct rpc_table table;
	struct rpc_runs runs;
	struct rpc_cache *cache;	/* of eval.get; NULL: empty */
	struct rpc_allowed allowed;
	struct arena scratch;	/* of the message being handled */
	struct buf discarded;	/* replies to disconnected peers */
	struct json_out note;	/* the notification being written */
	struct timer trim;
};

/* A batch is answered as a whole, after its last call. */
struct rpc_batch {
	struct arena arena;	/* holds the batch itself */
	struct rpc_peer *peer;	/* NULL: disconnected */
	struct buf buf;		/* the replies, separated by commas */
	size_t waiting;		/* unanswered calls, plus one while reading */
};

/*
 * A reply up to the member after the id; its end; the whole of it removed
 * again; or an error reply with what rpc_fail() has set.
 */
void rpc_open_answer(struct rpc_call *);
void rpc_close_answer(struct rpc_call *);
void rpc_undo_answer(struct rpc_call *);
void rpc_answer_error(struct rpc_call *);

/* Writes what rpc_data() has added, as members. */
void rpc_put_data(struct json_out *, const struct rpc_call *);

/*
 * An HTTP request line: a page in a browser can send one to any port and may
 * have chosen the lines that follow.
 */
bool rpc_is_http(struct str line);

/* The method of that name; NULL: there is none. */
const struct rpc_row *rpc_find_row(const struct rpc *, struct str name);

/* RPC_DONE: the peer has shown what the method needs (hello, token). */
enum rpc_status rpc_check_peer(struct rpc_call *);

/* Whether the peer may name this path, after resolving links. */
bool rpc_allows(const struct rpc_peer *, const char *path);
bool rpc_has_roots(const struct rpc_peer *);	/* not every path */
/* RPC_DONE: the peer may name the path, which is the value of the key. */
enum rpc_status rpc_check_path(struct rpc_call *, const char *key,
    struct str path);
/* Notes for a suite that the caller loads: its files must be in the roots. */
struct spec_notes rpc_notes(const struct rpc_call *, struct arena *);

/* Closes a half-closed connection once all its replies are sent. */
void rpc_close_if_done(void *peer);

/*
 * The file of a suite, given that file or its directory; in the call's arena.
 * RPC_FAIL with the reason set if there is none.
 */
enum rpc_status rpc_find_suite(struct rpc_call *, struct str path,
    const char **out);

/* Whether the server was started with --trust. */
bool rpc_trusts(const struct rpc *);

/* Adds the errors of an executor (empty: all of the suite) and of graders. */
void rpc_check_suite(const struct spec_suite *, struct str executor,
    struct spec_notes *);

/* Sets the error of a suite that cannot be used; always RPC_FAIL. */
enum rpc_status rpc_refuse_suite(struct rpc_call *, struct str path,
    const struct spec_notes *);

/*
 * Methods about suites, runs, skills and executors, and eval.run; the argument
 * is the rpc.
 */
extern const struct rpc_module rpc_eval_module, rpc_runs_module,
    rpc_run_module, rpc_skill_module, rpc_executor_module;

/* Writes a table of parameters as a JSON Schema (NULL: no parameters). */
void rpc_put_schema(struct json_out *, const struct field_table *);

/*
 * Answers of eval.get by path, valid while the suite's file and the project's
 * settings are unchanged.  cached: appends the answer to the reply; false if
 * there is none that the peer may have.  keep: the peer may name the path.
 */
bool rpc_cached(struct rpc_call *, struct str path);
void rpc_cache_keep(struct rpc_call *, struct str path, const char *file,
    struct str answer);
void rpc_cache_free(void *rpc);

/*
 * Runs.
 */
enum rpc_run_state {		/* from COMPLETED on: over */
	RPC_STATE_PENDING, RPC_STATE_RUNNING, RPC_STATE_COMPLETED,
	RPC_STATE_FAILED, RPC_STATE_CANCELLED
};

/* A call that is answered with the end of a run; set before launch. */
struct rpc_run_waiter {
	struct rpc_call *call;	/* NULL: none */
	/* called while the run's results are still there: the kind of error
	 * and its text, or RPC_KIND__MAX and a summary as JSON */
	void (*answer)(struct rpc_call *, enum rpc_kind, struct str);
	void (*released)(void *arg);	/* the suite is unused from now on */
	void *arg;
};

/* The engine of a run; freed when the run is over. */
struct rpc_run_engine {
	struct arena arena;	/* suite and options */
	struct spec_suite *suite;
	struct run *run;	/* NULL: freed */
	bool open;		/* holds descriptors and can be started */
	struct err refused;	/* why it could not be opened */
	struct event_bus bus;
	struct event_sink sink;
	struct timer timer;	/* to cancel it, then to free it */
	int64_t started_ms;	/* on the loop's clock */
};

/* The peers that are notified of a run. */
struct rpc_run_audience {
	struct rpc_peer *owner;	/* NULL: disconnected, or the server */
	struct rpc_run *next, **prev;	/* of the owner's runs */
	struct rpc_peer *listeners[RPC_LISTENERS_MAX];
	size_t n;
	bool silent;		/* no peer is notified */
	bool events;		/* the owner gets eval.event, nothing else */
	bool verbose;		/* more eval.log */
	bool detach;		/* not cancelled when the owner disconnects */
};

struct rpc_run_task {		/* not contained in the results */
	bool started;
	struct str error;
};

struct rpc_run_progress {
	int64_t total, done;	/* tasks */
	struct rpc_run_task *tasks;
	size_t ntasks;
};

/* The record of a run: `brief` from its start, the rest from its end. */
struct rpc_run_record {
	struct store_run brief;
	struct buf summary;	/* one JSON object */
	struct str counts;	/* the same without the tasks, */
	struct str tasks;	/* and the list of tasks alone */
	struct buf result;	/* the results file; empty: too large */
	struct store_stamp stamp;	/* of the file; zero: none */
	struct str error;
	struct rpc_shown shown;	/* of the caller of rpc_view.h */
};

/* The results file of a run and its journal, while it is unfinished. */
enum { RPC_RUN_FILES = 2 };
struct rpc_run_file {
	const char *path;	/* in the engine's arena; NULL: none */
	bool exists;
	uint64_t dev, ino;
};

struct rpc_run {
	struct arena arena;	/* holds the run itself */
	struct rpc *rpc;
	const char *id;
	struct str path, name, output;
	int64_t created_ns;	/* wall clock */
	enum rpc_run_state state;
	bool queued;		/* waits for its turn: not in `active` yet */
	size_t bytes;		/* of memory while it is queued */
	struct rpc_run_file files[RPC_RUN_FILES];
	bool cancelling;
	struct rpc_run_waiter waiter;
	struct rpc_run_engine engine;
	struct rpc_run_audience audience;
	struct rpc_run_progress progress;
	struct rpc_run_record record;
	struct rpc_stream stream;
	struct rpc_run *next, **prev;
};

/*
 * Makes a run.  Set its suite (in engine.arena, if it is to be freed with the
 * run), waiter and audience, then launch it: it starts from the loop, or waits
 * for its turn.  If launch fails (-1, *e is set; ERR_LIMIT: the queue is full),
 * discard it.
 */
struct rpc_run *rpc_run_new(struct rpc_call *, struct str path);
int rpc_run_launch(struct rpc_run *, struct rpc_peer *owner,
    struct run_opts *, struct err *);
void rpc_run_discard(struct rpc_run *);

/* Cancels a run from the loop; no effect if it is over. */
void rpc_run_cancel(struct rpc_run *);

const char *rpc_run_word(const struct rpc_run *);	/* its state */
/* Members of its state: runId, status; queued, if it waits for its turn. */
void rpc_run_put_state(struct json_out *, const struct rpc_run *);

/*
 * rpc_queue.c.  admit: opens the run or, if as many are active as may be or
 * too few descriptors are left, queues it; -1 and *e if it cannot be opened, or
 * (ERR_LIMIT) the queue is full.  activate: starts a linked run from the loop.
 * leave: a queued run starts now.  next: a run has ended, so others can start,
 * in the order of their calls.
 */
int rpc_queue_admit(struct rpc_run *, struct err *);
void rpc_queue_activate(struct rpc_run *);
void rpc_queue_leave(struct rpc_run *);
void rpc_queue_next(struct rpc *);
/* The done() of every engine. */
void rpc_run_ended(void *run);

/*
 * rpc_output.c.  claim: sets the output of the options and checks it: RPC_DONE,
 * or RPC_FAIL if another unfinished run of this server writes it, or something
 * is there that is not a results file.  writer: the other run, or NULL.
 */
enum rpc_status rpc_output_claim(struct rpc_call *, struct rpc_run *,
    struct run_opts *);
const struct rpc_run *rpc_output_writer(struct rpc_run *);

/*
 * Starts a run for a tool; no peer is notified of it.  With the argument
 * `wait`, which is the default, it returns RPC_LATER with the run in c->state,
 * and calls answer() at its end, as a waiter.  Without, RPC_DONE: the value
 * that eval.run returns is appended.
 */
enum rpc_status rpc_run_tool(struct rpc_call *, const struct json *arguments,
    struct buf *value,
    void (*answer)(struct rpc_call *, enum rpc_kind, struct str text));

/* rpc_listener.c: listen attaches the audience to the run's events. */
void rpc_run_listen(struct rpc_run *);
int rpc_run_add_listener(struct rpc_run *, struct rpc_peer *);	/* -1: full */
void rpc_run_drop_listener(struct rpc_run *, struct rpc_peer *);
void rpc_run_notify_end(struct rpc_run *);	/* eval.complete */

/*
 * rpc_view.c: fills the record when the run is launched, with each event and
 * at its end; writes the member "progress".
 */
void rpc_run_describe(struct rpc_run *);
void rpc_run_note(struct rpc_run *, const struct event *);
void rpc_run_keep(struct rpc_run *);
void rpc_run_put_progress(struct json_out *, const struct rpc_run *);

#endif
