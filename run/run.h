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
#include "lib/sha256.h"
#include "results/result.h"
#include "run/shard.h"
#include "run/stop.h"

struct agent;
struct agent_control;
struct agent_request;
struct agent_conversation;
struct event_bus;
struct loop;
struct mask;
struct outcome;
struct procs;
struct hub;
struct result_run;
struct spec_notes;
struct spec_suite;
struct spec_task;

/*
 * Slots that several runs share: together they have at most so many trials at
 * a time, each at most as many as it may have alone.  The runs that started
 * earlier get free slots first.  Set the first part and zero the rest; it must
 * live as long as the runs.
 */
struct run_share {
	size_t slots;
	bool alternate;			/* start trials in turn */
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

/*
 * Tasks that were selected one by one (--changed).  Without tasks a run has
 * its trigger tests alone.
 */
struct run_only {
	struct str *ids;		/* sorted by str_cmp() */
	const char **why;		/* the reason for each */
	size_t n;
};
/* The reason for a task; NULL: it is not selected. */
const char *run_why(const struct run_only *, struct str id);

/*
 * A budget that trials share, of one run or of several, and what they have
 * spent of it.  Set the limits and zero the rest; it must live as long as the
 * runs.
 */
enum run_budget_kind { RUN_USD, RUN_TOKENS, RUN_SECONDS, RUN_BUDGET__MAX };

struct run_budget {
	const char *of;		/* "run", "suite" or "task", for messages */
	struct run_purse {
		double limit;		/* 0: none */
		bool lax;		/* unknown amounts are not an error */
		double spent;		/* of seconds: not used */
		double known;		/* sum of the n known amounts */
		size_t n, unknown;	/* trials */
	} v[RUN_BUDGET__MAX];
	size_t running;		/* trials now */
	bool began;
	int64_t since;		/* loop clock, once it began */
};

/* A revision of the skills, instead of that of the working tree. */
struct run_ref {
	struct str name, commit;
};

/* Zero members mean: use the suite's value. */
struct run_opts {
	struct str executor, model;
	struct str cell, cell_name;	/* of a matrix; see result_run */
	int64_t trials, workers, timeout_seconds;
	const char *const *tasks, *const *tags;	/* globs; NULL: all */
	const char *const *words;	/* parts of ids, names and tags, or
					 * globs; case-insensitive */
	size_t ntasks, ntags, nwords;
	const struct run_only *only;	/* these tasks, or NULL */
	int64_t limit;			/* the first of them only; 0: all */
	int64_t shard, shards;		/* shard 1 to n of n; 0: all tasks */
	enum shard_by shard_by;		/* how tasks are divided */
	bool has_baseline;		/* another pass is its baseline, */
	bool has_ref;			/* or has skills of a revision */
	bool is_baseline;		/* this pass is one */
	const struct run_ref *ref;	/* this pass has skills of a revision,
					 * which its suite names; or NULL */
	bool shard_trials;		/* divide the trials of each task */
	const struct outcome *shard_times;	/* for SHARD_TIME, or NULL */
	bool fingerprint;		/* the results have one of the suite */
	const char *context_dir;	/* instead of fixtures/ */
	const char *run_id;		/* NULL: generated */
	const char *output;		/* results file, or NULL */
	bool strict;			/* others named the output: it must be
					 * new, or an earlier results file */
	bool hasty;			/* do not wait for a locked journal */
	/*
	 * Nobody named output and journal.  They are not links; the results
	 * are written once, at the end; without a journal that can be locked
	 * and written, the run continues but cannot be resumed.
	 */
	bool by_default;
	const char *journal;		/* NULL: derived from output or suite */
	bool unnamed;			/* a journal without a name instead */
	bool resume;			/* skip trials that the journal has, or
					 * without one the results file: */
	const char *resume_from;	/* NULL: output */
	bool starts_new;		/* which the run does not replace */
	enum result_arm resume_arm;	/* the pass of it */
	bool retry_errors;		/* resume, but repeat errors */
	bool rerun_failed;		/* resume, but repeat all but passes */
	bool fail_fast, keep_workspace, no_skills;
	int64_t max_failures;		/* start no more tasks after so many
					 * that did not pass; 0: no limit */
	size_t *failures;		/* their number in all runs of a call,
					 * or NULL */
	/*
	 * Budgets that the run shares: with all runs of a call, and with those
	 * of the same suite, whose limits the run adds.  NULL: none, its own.
	 */
	struct run_budget *budget, *suite_budget;
	bool allow_unmetered;		/* unknown cost is not an error */
	struct stop_rule stop;		/* with STOP_CI, trials is a maximum */
	int64_t seed;			/* of statistics; 0: the default */
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
	/* a made-up answer, or NULL; then each trial has one
	 * attempt, and nobody answers in the user's place */
	struct agent_control *control;
	bool control_mutates;		/* it alters recordings */
	bool no_judges, no_programs;	/* see grader.h; without programs hooks
					 * and repositories are left out */
	bool no_hooks;
	bool no_controls;		/* do not try config.controls */
	bool strict_controls;		/* a task that accepts one fails the
					 * run */
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
	bool held;			/* as after run_hold() */
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

/* Whether --task, --tags and -k select the task. */
bool run_selects(const struct run_opts *, const struct spec_task *);

/* How many of the suite's tasks the options select. */
size_t run_count_tasks(const struct spec_suite *, const struct run_opts *);

/* A selected task, and how many of its trials this shard has. */
struct run_planned {
	const struct spec_task *task;
	size_t trials;
};
/* The tasks that the options select, in the arena; returns their number. */
size_t run_list_tasks(struct arena *, const struct spec_suite *,
    const struct run_opts *, struct run_planned **);

/*
 * run_digest.c: SHA-256 of the parts that all tasks of a suite share, and of
 * each task, for a comparison with another version of the suite's files.
 * Files that a part names are not read: naming->fn gets their paths, those of
 * missing files and of places where they might be included.  A task is the
 * part RUN_PART_TASK; the task that the other parts get means nothing.
 */
enum run_part {
	RUN_PART_NAMES, RUN_PART_VARIABLES, RUN_PART_SETTINGS, RUN_PART_MOCKS,
	RUN_PART_SKILLS, RUN_PART_INSTRUCTIONS, RUN_PART_HOOKS,
	RUN_PART_GRADERS, RUN_PART_TRIGGERS, RUN_PART_TASK, RUN_PART__MAX
};
struct run_naming {
	/* tree: a directory counts with all below it */
	void (*fn)(void *arg, enum run_part, const struct spec_task *,
	    const char *path, bool tree);
	void *arg;
};
struct run_digest {
	char part[RUN_PART_TASK][SHA256_HEX];
	char (*task)[SHA256_HEX];	/* in the order of the suite */
};
void run_digest(struct arena *, const struct spec_suite *,
    const char *context_dir, const struct run_naming *, struct run_digest *);

/* How many trigger tests a run has. */
size_t run_count_triggers(const struct spec_suite *, const struct run_opts *);
/* -1 and *e, with similar names, if the options select no task. */
int run_explain_selection(struct arena *, const struct spec_suite *,
    const struct run_opts *, struct err *);

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

/*
 * run_record.c: adds the secrets that a suite names, as by api_key_env, to
 * those that are masked.
 */
void run_add_secrets(struct arena *, struct mask *, const struct spec_suite *);

#endif
