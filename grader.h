/* SPDX-License-Identifier: ISC */
/*
 * grader.h: grader_.  Graders: verdicts on an answer.
 *
 * A kind of grader checks its settings before the run (grader_check) and
 * grades an answer later (grader_start).  A kind that only computes returns
 * GRADER_DONE; a kind that waits for a child or a judge returns GRADER_LATER,
 * and done() follows from the loop.  Each grading ends in a verdict or in an
 * error; an error never counts as a pass.  The verdict lives in the grading's
 * arena.
 *
 * To add a kind, see the table in grader.c.
 */
#ifndef WAZA_GRADER_H
#define WAZA_GRADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "results/verdict.h"

struct answer;
struct judges;
struct procs;
struct spec_grader;
struct spec_notes;
struct spec_suite;
struct spec_task;
struct tmpl_vars;

/* The input of a grading; the same for all graders of a trial. */
struct grader_input {
	const struct spec_suite *suite;
	const struct spec_task *task;
	const struct answer *answer;
	const char *workspace;		/* the agent's files, or NULL */
	const char *empty_dir;		/* where a judge starts if there is no
					 * workspace, or NULL */
	const char *scratch;		/* prefix of temporary paths, or NULL */
	const struct tmpl_vars *vars;	/* values for templates */
	int64_t duration_ms;		/* time that the agent took */
	struct procs *procs;
	struct judges *judges;		/* for `prompt` graders, or NULL */
	struct str baseline;		/* the answer without skills, */
	bool has_baseline;		/* if there is one */
	bool no_skills;			/* this trial is the baseline */
	bool update_snapshots;		/* write files as new snapshots */
	bool grader_failed;		/* an earlier grader had an error */
	unsigned trial, attempt;	/* from 1 */
};

/* One grader applied to one answer.  Set all but out and state. */
struct grading {
	const struct grader_input *in;
	const struct spec_grader *spec;
	struct arena *arena;		/* holds the verdict */
	void (*done)(void *arg);	/* called after GRADER_LATER, once */
	void *arg;
	struct verdict out;
	void *state;			/* private to the kind */
};

enum grader_status { GRADER_DONE, GRADER_LATER };

/* Properties of a kind. */
enum {
	GRADER_WORKSPACE = 1,	/* reads the agent's files */
	GRADER_NEEDS_DIR = 2,	/* needs a working directory for a judge, who
				 * may read the agent's files there */
	GRADER_VARIES = 4	/* the verdict on the same answer can vary */
};

/* Notes all problems in the suite's graders and `expected:` blocks. */
void grader_check(const struct spec_suite *, struct spec_notes *);

/* The properties of all kinds that grade the task (the suite's too), or'ed. */
unsigned grader_flags(const struct spec_suite *, const struct spec_task *);

/* The properties of one grader's kind; 0 if the kind is unknown. */
unsigned grader_flags_of(const struct spec_grader *);

/*
 * The first grader of the suite or of a task that compares the answer with
 * the baseline (spec_grader_compares()), or NULL.
 */
const struct spec_grader *grader_comparing(const struct spec_suite *);

/* Starts a grading.  GRADER_DONE: g->out is set and done() is not called. */
enum grader_status grader_start(struct grading *);

/* Cancels a grading that is GRADER_LATER; done() may be called at once. */
void grader_cancel(struct grading *);

/*
 * Grades the task's `expected:` block, after its graders.  Returns an array of
 * *n verdicts in the arena, or NULL without such a block.  If the answer is
 * only an echo of the prompt (the mock's) and the task has graders, the
 * verdicts are advisory.
 */
struct verdict *grader_expected(struct arena *,
    const struct grader_input *, size_t *n);

#endif
