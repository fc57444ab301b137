/* SPDX-License-Identifier: ISC */
/*
 * rpc_view.h: rpc_view_ rpc_inside.  The runs of a server and its methods,
 * for those within it: HTTP, the page.
 *
 * A run belongs to the server from when it was asked for until it is one of
 * too many that are over; pointers to one are good until the loop turns.
 */
#ifndef WAZA_RPC_VIEW_H
#define WAZA_RPC_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "rpc.h"

struct json_out;
struct rpc_run;
struct rpc_stream;
struct store_run;

/*
 * Has a method answer a question that came in some other way, with the gates
 * that hold on sockets, but for hello and token: those are the caller's.  A
 * run that it starts goes on whoever leaves.  RPC_FAIL says why in *why, all
 * in the arena.
 */
struct rpc_why {
	enum rpc_kind kind;
	struct str message;
	struct str data;	/* an object as JSON, without the kind */
};
enum rpc_status rpc_inside(struct rpc *, struct arena *,
    const struct rpc_method *, const struct json *params, struct buf *value,
    struct rpc_why *why);

struct rpc_run *rpc_view_find(struct rpc *, struct str id);	/* or NULL */
/* All of them, the oldest first; NULL: the first. */
struct rpc_run *rpc_view_next(struct rpc *, struct rpc_run *);

void rpc_view_brief(const struct rpc_run *, struct store_run *);
bool rpc_view_over(const struct rpc_run *);
struct str rpc_view_error(const struct rpc_run *);	/* in words, or empty */
struct str rpc_view_output(const struct rpc_run *);	/* file, or empty */
struct rpc_stream *rpc_view_stream(struct rpc_run *);

/* A member "tasks", each in a few numbers, as far as they are known. */
void rpc_view_tasks(struct json_out *, const struct rpc_run *);

/*
 * The results, as they are kept of a run that is over; empty: they are not.
 * The results of one task of a run that goes on, an object in the file's
 * shape; false: there is none of that id.
 */
struct str rpc_view_results(const struct rpc_run *);
bool rpc_view_task(const struct rpc_run *, struct str id, struct buf *);

/* What was last told of it by those who tell. */
struct rpc_mark {
	bool changed;		/* since */
	int state;		/* enum store_state */
	int64_t told;		/* on the loop's clock */
};
struct rpc_mark *rpc_view_mark(struct rpc_run *);

/* Bytes that somebody made of it, for as long as it is remembered. */
struct buf *rpc_view_page(struct rpc_run *);

#endif
