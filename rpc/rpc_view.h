/* SPDX-License-Identifier: ISC */
/*
 * rpc_view.h: rpc_view rpc_inside rpc_add_evals.  The runs of a server and
 * its methods, for the HTTP API and the page.
 *
 * The server remembers a run from eval.run until too many later ones are over;
 * a pointer to a run is valid until the loop turns.
 */
#ifndef WAZA_RPC_VIEW_H
#define WAZA_RPC_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "rpc.h"

struct json_out;
struct rpc_stream;
struct store_run;

/* Registers the methods eval.*, task.*, run.*, rpc.* and $/cancelRequest. */
void rpc_add_evals(struct rpc *);
/* Only shutdown, exit, $/cancelRequest and rpc.discover, which it includes. */
void rpc_add_about(struct rpc *);

/*
 * Calls a method, by name, for a request that arrived in another way.
 * Parameters and paths are checked as on sockets; the caller
 * checks the token.  A run that it starts has no owner.  RPC_DONE: the value
 * is appended; RPC_FAIL: *why has the reason, in the arena.
 */
struct rpc_why {
	enum rpc_kind kind;
	struct str message;
	struct str data;	/* an object as JSON, without the kind */
};
enum rpc_status rpc_inside(struct rpc *, struct arena *, const char *method,
    const struct json *params, struct buf *value, struct rpc_why *why);

/* Writes the JSON Schema of a method's parameters. */
void rpc_view_params(struct rpc *, const char *method, struct json_out *);

struct rpc_view_counts {
	size_t known;		/* runs that are remembered */
	size_t unfinished;	/* of them: not over */
	size_t active;		/* of them: executing */
};
/* The numbers of runs. */
struct rpc_view_counts rpc_view_counts(const struct rpc *);

/* The run with that id, or NULL; the run after this one (NULL: the oldest). */
struct rpc_run *rpc_view_find(struct rpc *, struct str id);
struct rpc_run *rpc_view_next(struct rpc *, struct rpc_run *);

/* Data that the API keeps with a run while it is remembered. */
struct rpc_shown {
	bool changed;		/* since it was last sent */
	int state;		/* enum store_state, as last sent */
	int64_t sent_ms;	/* on the loop's clock */
	struct buf page;	/* its description as JSON; freed with it */
};

struct rpc_view {
	struct str error;	/* or empty */
	struct str output;	/* the path of its results file, or empty */
	struct str results;	/* that file, if it is over; empty: too large */
	const struct store_stamp *stamp;	/* of the file at its end */
	struct rpc_stream *stream;
	struct rpc_shown *shown;
};
/* The view of a run, in its memory; its summary for lists; its end. */
struct rpc_view rpc_view(struct rpc_run *);
void rpc_view_brief(const struct rpc_run *, struct store_run *);
bool rpc_view_over(const struct rpc_run *);

/* Writes the member "tasks": each with the numbers known so far. */
void rpc_view_tasks(struct json_out *, const struct rpc_run *);

/*
 * Appends the results of one task of a run that is not over, an object as in
 * the results file; false: no such task.
 */
bool rpc_view_task(const struct rpc_run *, struct str id, struct buf *);

#endif
