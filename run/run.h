/* SPDX-License-Identifier: ISC */
/*
 * run.h: run_.  A run: the tasks of a suite, so many trials of each, by an
 * executor, graded, told to an event bus, kept in results.
 *
 * A run lives on the loop.  It ends once, by a call of done(): when all is
 * finished, when it was cancelled and its children are gone, or when a hook
 * or the disk failed (run_error says so).  It can be freed from then on.
 */
#ifndef WAZA_RUN_H
#define WAZA_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

struct agent;
struct agent_request;
struct agent_talk;
struct event_bus;
struct loop;
struct outcome;
struct procs;
struct hub;
struct result_run;
struct spec_notes;
struct spec_suite;

/* Zero members mean: as the suite says. */
struct run_opts {
	struct str executor, model;
	int64_t trials, workers, timeout_seconds;
	const char *const *tasks, *const *tags;	/* globs, each may be NULL */
	size_t ntasks, ntags;
	int64_t shard, shards;	/* 1 to n, of n; 0: all */
	const char *context_dir;	/* instead of fixtures/ */
	const char *run_id;	/* NULL: it is made */
	const char *output;	/* results file, or NULL */
	const char *journal;	/* its path; NULL: made from output or name */
	bool resume;		/* trials in the journal are not run again */
	bool retry_errors;	/* but those that were errors are */
	bool rerun_failed;	/* and those that failed */
	bool fail_fast, keep_workspace, no_skills;
	bool verbose;
	bool update_snapshots;	/* diff graders write what they find */
	bool no_triggers;	/* leave the trigger tests out */
	struct str judge_model;	/* instead of the suite's */
	const struct outcome *stored;	/* grade its answers; run no agent */
	const char *workspace;	/* the agent's files, for stored answers */
	struct result_run *against;	/* the baseline's, already run */
	const char *record;	/* directory for recordings, or NULL */
	const char *replay;	/* of executor replay, or NULL: settings */
	const char *cache;	/* directory of cached trials, or NULL */
	bool cache_all;		/* also what `prompt`, `behavior` grade */
	const char *place;	/* the workspace of all trials: it is there,
				 * and stays as they leave it; or NULL */
	bool ungraded;		/* an answer passes, where nothing grades it */
	/*
	 * An agent that is open and stays so, whatever executor is named; what
	 * it goes on with; and its home, tmp and cache.  Each may be NULL.
	 */
	struct agent *agent;
	struct agent_talk *talk;
	const struct agent_request *lodging;
	struct hub *remote;	/* clients of executor remote, or NULL */
};

struct run;

/*
 * -1 when no results file can be written there (NULL: none is wanted), which
 * would otherwise be found out only when all has been paid for.
 */
int run_check_output(struct arena *, const char *path, struct err *);

/* One that no other run has: "run-SECONDS-NOISE". */
const char *run_make_id(struct arena *);

/* NULL and *e when nothing can be run: no task selected, no journal. */
struct run *run_new(struct loop *, struct procs *, const struct spec_suite *,
    const struct run_opts *, struct event_bus *, struct err *);
void run_start(struct run *, void (*done)(void *arg), void *arg);
void run_cancel(struct run *);
void run_hold(struct run *, bool);	/* start nothing new meanwhile */
void run_free(struct run *);		/* only before start or after done */

struct result_run *run_results(struct run *);
const struct err *run_error(const struct run *);	/* ERR_NONE: none */
bool run_cancelled(const struct run *);

#endif
