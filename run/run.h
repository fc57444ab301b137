/* SPDX-License-Identifier: ISC */
/*
 * run.h: run_.  A run: an executor answers each task of a suite in one or more
 * trials, graders judge the answers, an event bus reports progress, and the
 * results go into a journal and a results file.
 *
 * A run lives on the loop.  It ends once, by calling done(): when all trials
 * are finished, when it was cancelled and its children have exited, or when a
 * hook or the disk failed (see run_error).  It can be freed from then on.
 */
#ifndef WAZA_RUN_H
#define WAZA_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

struct agent;
struct agent_request;
struct agent_conversation;
struct event_bus;
struct loop;
struct outcome;
struct procs;
struct hub;
struct result_run;
struct spec_notes;
struct spec_suite;

/*
 * Slots that several runs share: together they have at most so many trials at
 * a time, each at most as many as it may have alone.  The runs that started
 * earlier get free slots first.  Set the first part and zero the rest; it must
 * live as long as the runs.
 */
struct run_share {
	size_t slots;
	/* called when a slot is free that no run wants; must not start or free
	 * a run */
	void (*spare)(void *arg);
	void *arg;
	/* private */
	size_t busy;
	struct run *first, *last;	/* from start to end of the run */
};

/* Whether a slot is free. */
bool run_has_slot(const struct run_share *);

/* Zero members mean: use the suite's value. */
struct run_opts {
	struct str executor, model;
	int64_t trials, workers, timeout_seconds;
	const char *const *tasks, *const *tags;	/* globs; NULL: all */
	size_t ntasks, ntags;
	int64_t shard, shards;		/* shard 1 to n of n; 0: all tasks */
	const char *context_dir;	/* instead of fixtures/ */
	const char *run_id;		/* NULL: generated */
	const char *output;		/* results file, or NULL */
	bool strict;			/* a peer named the output: it must be
					 * new, or an earlier results file */
	const char *journal;		/* NULL: derived from output or suite */
	bool unnamed;			/* a journal without a name instead */
	bool resume;			/* skip trials that the journal has */
	bool retry_errors;		/* resume, but repeat errors */
	bool rerun_failed;		/* resume, but repeat all but passes */
	bool fail_fast, keep_workspace, no_skills;
	bool sweep;			/* remove files of killed runs */
	bool verbose;
	bool update_snapshots;		/* diff graders write snapshots */
	bool no_triggers;		/* skip the trigger tests */
	struct str judge_model;
	const struct outcome *stored;	/* grade these answers; run no agent */
	const char *workspace;		/* the agent's files, with `stored` */
	struct result_run *baseline;	/* finished run without skills */
	const char *record;		/* directory for recordings, or NULL */
	const char *replay;		/* directory for executor replay */
	const char *cache;		/* directory of the cache, or NULL */
	bool cache_all;			/* also trials that a model judges */
	const char *shared_workspace;	/* existing directory that all trials
					 * use; never cleaned; or NULL */
	bool allow_ungraded;		/* a trial without a grader passes */
	bool skip_graders;		/* all trials are skipped */
	/*
	 * An agent that is open already and stays open; it takes precedence
	 * over the executor.  Its conversation to continue; its HOME, TMPDIR
	 * and cache.  Each may be NULL.
	 */
	struct agent *agent;
	struct agent_conversation *conversation;
	const struct agent_request *agent_dirs;
	struct hub *hub;		/* for executor remote, or NULL */
	struct run_share *share;	/* with other runs, or NULL */
};

struct run;

/*
 * The journal of a run with that results file, in the arena; NULL if the file
 * is a pipe or a device, beside which nothing can be kept.
 */
const char *run_journal_of(struct arena *, const char *output,
    const char *ending);

/*
 * Checks that a results file can be written at path (NULL: none is wanted), so
 * that a run does not fail after all its trials are paid for, and that it does
 * not replace another file (result_check_name).  0, or -1 and *e.
 */
int run_check_output(struct arena *, const char *path, bool strict,
    struct err *);

/* Returns a new unique run id, "run-SECONDS-RANDOM", in the arena. */
const char *run_make_id(struct arena *);

/*
 * Prepares a run, which holds no descriptor yet.  The suite, and everything
 * that the options point to, must live as long as the run.  NULL and *e when
 * no task is selected or the results file cannot be written.
 */
struct run *run_new(struct loop *, struct procs *, const struct spec_suite *,
    const struct run_opts *, struct event_bus *, struct err *);

/*
 * Opens the journal and the executor.  0, or -1 and *e: then the run can be
 * opened again later, refused, or freed.
 */
int run_open(struct run *, struct err *);

/* Bytes of memory that the run takes. */
size_t run_bytes(const struct run *);

/*
 * Starts a run that is open; done(arg) is called once, possibly before this
 * returns.
 */
void run_start(struct run *, void (*done)(void *arg), void *arg);

/*
 * Ends a run that is not open, with an error or (NULL) as cancelled: the same
 * events as of any run, then done(arg).
 */
void run_refuse(struct run *, const struct err *, void (*done)(void *arg),
    void *arg);

/* Cancels what is running; after_run hooks still run, unless called again. */
void run_cancel(struct run *);

/* While held, a run starts no new trial; running trials continue. */
void run_hold(struct run *, bool hold);

/*
 * After done() has returned: frees what only a running run needs, and closes
 * the journal; results and reports can still be read.  For one of many runs.
 */
void run_rest(struct run *);

/* How many of the suite's tasks the options select. */
size_t run_count_tasks(const struct spec_suite *, const struct run_opts *);

/* The number of trials that a run of the suite may have at the same time. */
size_t run_count_workers(const struct spec_suite *, const struct run_opts *);

/*
 * Closes the journal and frees the run: before run_start, after done(), or
 * after the loop has failed and procs_fini() has ended all children.
 */
void run_free(struct run *);

/* Read-only views; they live as long as the run. */
struct result_run *run_results(struct run *);
const struct err *run_error(const struct run *);	/* ERR_NONE: none */
bool run_cancelled(const struct run *);

#endif
