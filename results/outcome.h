/* SPDX-License-Identifier: ISC */
/*
 * outcome.h: outcome_.  A results file that is read back, written by this
 * program or by microsoft/waza, which calls it the outcome of an evaluation.
 *
 * Everything lives in the arena.  Numbers that the file lacks are computed
 * from its other contents, or are zero.
 */
#ifndef WAZA_OUTCOME_H
#define WAZA_OUTCOME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "results/result.h"

struct answer;
struct json;
struct spec_suite;
struct spec_task;

enum { OUTCOME_MAX = 1 << 30 };	/* bytes of a file */

struct outcome_trial {
	enum result_status status;	/* RESULT_NONE: unknown word */
	double score, weighted;
	int64_t duration_ms;
	struct json *node;		/* the element of "runs" */
};

struct outcome_task {
	struct str id, name, group;
	enum result_status status;
	double score, weighted, pass_rate;
	int64_t duration_ms;		/* average of its trials */
	bool golden;
	struct str quarantine, quarantine_until;	/* or empty */
	bool finished;			/* false: "running", "cancelled" ... */
	const char *skipped;		/* why trials were not started, or
					 * NULL; with a spent budget it is not
					 * finished */
	const char *file;		/* its place in the suite, or NULL */
	unsigned line;			/* 0: unknown */
	struct outcome_trial *trials;
	size_t ntrials;
	struct json *node;		/* the element of "tasks" */
};

struct outcome {
	const char *path;
	const char *suite;		/* its eval.yaml, or NULL */
	struct str name, skill, model, executor, run_id, timestamp;
	const char *skipped;		/* why trials were not started, or
					 * NULL */
	const char *stop;		/* rule that ended trials early, or
					 * NULL */
	size_t trials;			/* planned for each task; 0: unknown */
	double rate;			/* share of tasks that passed */
	double score, weighted;
	int64_t duration_ms;
	struct outcome_task *tasks;
	size_t ntasks, passed;
	size_t unlisted;		/* tasks that fail_fast or the like left
					 * out: they are not in the file */
	struct json *root;
	struct outcome_task **by_id;	/* private: tasks, sorted by id */
};

/*
 * Reads a results file; NULL and *e when it cannot be read (the message names
 * the file), is not JSON or is not a results file (with line and column).  Two
 * tasks with the same id and other major versions of the format are refused.
 */
struct outcome *outcome_read(struct arena *, const char *path, struct err *);

/*
 * The same for a text that lives as long as the arena, and for a parsed tree:
 * "baseline_outcome" has the format of a whole file.
 */
struct outcome *outcome_parse(struct arena *, struct str text,
    const char *path, struct err *);
struct outcome *outcome_of(struct arena *, struct json *root,
    const char *path, struct err *);

/*
 * The results of a run in memory, without its trials, for a comparison; the
 * run must live as long.
 */
struct outcome *outcome_from_run(struct arena *, const struct result_run *,
    const char *path);
/* The results of the same tasks without the skill; NULL and *e: none. */
struct outcome *outcome_baseline(struct arena *, const struct outcome *,
    struct err *);

/* The task with that id, or NULL. */
const struct outcome_task *outcome_find(const struct outcome *, struct str id);

/* Reads an element of "runs"; the arena is for scratch. */
void outcome_read_trial(struct arena *, struct json *,
    struct outcome_trial *);
/*
 * Reads an element of "trigger_results": what it asked and how it ended, which
 * borrow from it; adds its usage to the run.
 */
struct spec_trigger;
void outcome_read_trigger(struct result_run *, struct spec_trigger *,
    struct result_trial *, struct json *);

/*
 * Whether the task has a result that counts: it is finished, was not skipped,
 * and is not in quarantine.
 */
bool outcome_is_graded(const struct outcome_task *);
/* Whether a rule of --stop ended the suite before the task had started. */
bool outcome_is_left_out(const struct outcome_task *);
/*
 * Why the run is not complete, for example "status: cancelled"; NULL if the
 * file does not tell that.
 */
const char *outcome_incomplete(struct arena *, const struct outcome *);

/* A spec for a task that only the file has; it borrows the names. */
struct spec_task *outcome_task_spec(struct arena *,
    const struct outcome_task *);

/* What all trials of the task used; the arena is for scratch. */
struct result_used outcome_used(struct arena *, const struct outcome_task *);

/* The agent's answer in a trial, as far as the file contains it. */
void outcome_answer(struct arena *, const struct outcome_trial *,
    struct answer *);

/*
 * The run that produced the file, for reports: the suite's tasks, then those
 * that only the file has.  The outcome and the suite must live as long.  Call
 * result_close() before the arena is freed.
 */
struct result_run *outcome_run(struct arena *, const struct outcome *,
    const struct spec_suite *);

#endif
