/* SPDX-License-Identifier: ISC */
/*
 * rpc_run.h: rpc_.  A run that a peer asked for, and who hears of it.  For
 * the rpc_*.c files, and for whoever lets peers run what is no suite.
 */
#ifndef WAZA_RPC_RUN_H
#define WAZA_RPC_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "io/loop.h"
#include "results/event.h"
#include "results/store.h"
#include "rpc.h"
#include "rpc/rpc_stream.h"
#include "rpc/rpc_view.h"

struct run;
struct run_opts;
struct spec_suite;

enum rpc_run_state {		/* those from COMPLETED on are the end */
	RPC_STATE_PENDING, RPC_STATE_RUNNING, RPC_STATE_COMPLETED,
	RPC_STATE_FAILED, RPC_STATE_CANCELLED
};

enum {
	RPC_LISTENERS_MAX = 64,		/* of a run, beside its owner */
	RPC_RESULT_MAX = 8 << 20	/* bytes kept of one run's results */
};

struct rpc_task {		/* what its results do not tell */
	bool begun;
	struct str error;
};

struct rpc_run {
	struct arena arena;	/* the record is in it */
	struct rpc *rpc;
	const char *id;
	enum rpc_run_state state;
	bool cancelling, begun, detach, verbose;
	bool silent;		/* nobody is told of it */
	bool events;		/* its owner hears eval.event, of all */
	struct rpc_call *waiter;	/* that is answered at its end */
	void (*answer)(struct rpc_call *, enum rpc_kind, struct str);
	void (*over)(void *arg);	/* its spec is not needed any more */
	void *arg;
	struct str path, name, output;
	int64_t started_ns;
	/* while it goes on: */
	struct arena suite;
	struct spec_suite *spec;
	struct run *run;
	struct event_bus bus;
	struct event_sink sink;
	struct timer timer;	/* its cancellation, and its burial */
	struct rpc_peer *owner;	/* NULL: it has gone */
	struct rpc_peer *listeners[RPC_LISTENERS_MAX];
	size_t nlisteners;
	/* so far: */
	int64_t began;		/* on the loop's clock */
	int64_t total, done;	/* tasks */
	struct rpc_task *tasks;
	size_t ntasks;
	struct rpc_stream stream;
	/* when it is over: */
	struct buf summary;	/* one JSON object */
	struct str counts;	/* the same without the tasks, */
	struct str task_list;	/* and only the tasks */
	struct store_run brief;	/* what of it does not change, or not now */
	struct buf result;	/* the results file; empty: it was too large */
	struct buf page;	/* these two are others', see rpc_view.h */
	struct rpc_mark mark;
	struct str error;
	struct rpc_run *next, **prev, *next_own, **prev_own;
};

/*
 * A run is new; its spec is set, in its arena `suite` if it is to go with it;
 * then it is launched, or discarded where that fails.  NULL: there are too
 * many, and the call has failed.  With a waiter, answer() is called at the
 * end, while all of the run is still there: the kind of error and its text,
 * or RPC_KIND__MAX and a summary.
 */
struct rpc_run *rpc_run_new(struct rpc_call *, struct str path);
int rpc_run_launch(struct rpc_run *, struct rpc_peer *owner,
    struct run_opts *, struct err *);
void rpc_run_discard(struct rpc_run *);

bool rpc_run_over(const struct rpc_run *);
void rpc_run_end(struct rpc_run *);	/* cancels it, if it goes on */
const char *rpc_run_word(const struct rpc_run *);	/* its state */
void rpc_run_listen(struct rpc_run *);	/* to its events, for its peers */
int rpc_run_add_listener(struct rpc_run *, struct rpc_peer *);
void rpc_run_drop_listener(struct rpc_run *, struct rpc_peer *);
void rpc_run_tell_end(struct rpc_run *);	/* eval.complete */
/* Once it can be run; for each event; and when it is over. */
void rpc_run_describe(struct rpc_run *);
void rpc_run_note(struct rpc_run *, const struct event *);
void rpc_run_keep(struct rpc_run *);
void rpc_run_put_progress(struct json_out *, const struct rpc_run *);

#endif
