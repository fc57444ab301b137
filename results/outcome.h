/* SPDX-License-Identifier: ISC */
/*
 * outcome.h: outcome_.  A results file read back: one of ours, or one that
 * microsoft/waza wrote.
 *
 * All of it is in the arena.  What a file does not say is computed from what
 * it does, or is zero.
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
	int64_t duration_ms;		/* of its trials, on average */
	bool golden;
	bool finished;			/* false: "running", "cancelled" ... */
	struct outcome_trial *trials;
	size_t ntrials;
	struct json *node;		/* the element of "tasks" */
};

struct outcome {
	const char *path;
	struct str name, skill, model, executor, run_id, timestamp;
	double rate;			/* of tasks that passed */
	double score, weighted;
	int64_t duration_ms;
	struct outcome_task *tasks;
	size_t ntasks, passed;
	struct json *root;
	size_t *index;			/* private: tasks by id */
};

/*
 * NULL and *e when the file cannot be read (the message names it), is no JSON
 * or no results file (what is wrong, with line and column).  Two tasks with
 * one id are refused, other major versions of the shape as well.
 */
struct outcome *outcome_read(struct arena *, const char *path, struct err *);

/* The same of a tree: a "baseline_outcome" has the shape of a whole file. */
struct outcome *outcome_of(struct arena *, struct json *root,
    const char *path, struct err *);

/* The task of that id, or NULL. */
const struct outcome_task *outcome_find(const struct outcome *, struct str id);

/* A trial's answer as the agent gave it, as far as the file has kept it. */
void outcome_answer(struct arena *, const struct outcome_trial *,
    struct answer *);

/*
 * The run that the file is of, for reports; its tasks are the suite's, and
 * those that the suite does not have.  result_close() it before the arena
 * goes.  The outcome and the suite have to live as long.
 */
struct result_run *outcome_run(struct arena *, const struct outcome *,
    const struct spec_suite *);

#endif
