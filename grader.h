/* SPDX-License-Identifier: ISC */
/*
 * grader.h: grader_.  Verdicts on an answer.
 *
 * A kind checks its settings before anything runs, and grades later: at once
 * (GRADER_DONE, and done() is not called) or, when it needs a child, by and
 * by (GRADER_LATER, done() follows from the loop).  A grading ends in a
 * verdict or in an error, and an error is never a pass.  What it returns is
 * in the grading's arena.
 */
#ifndef WAZA_GRADER_H
#define WAZA_GRADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base.h"

struct agent_answer;
struct json_out;
struct procs;
struct spec_grader;
struct spec_notes;
struct spec_suite;
struct spec_task;
struct tmpl_vars;

struct grader_verdict {
	struct str name, type;
	double score;			/* 0 to 1 */
	double weight;
	bool passed;
	struct str feedback;		/* what was expected, what was found */
	struct str details;		/* a JSON object, or empty */
	struct str error;		/* not empty: there is no verdict */
	bool judge;			/* the error is the judge's */
	const struct spec_grader *spec;	/* NULL: one of `expected:` */
	int64_t duration_ms;
};

/* What there is to grade; the same for all graders of a trial. */
struct grader_input {
	const struct spec_suite *suite;
	const struct spec_task *task;
	const struct agent_answer *answer;
	const char *workspace;		/* or NULL */
	const struct tmpl_vars *vars;
	int64_t duration_ms;		/* of the agent */
	struct procs *procs;
};

struct grading {
	const struct grader_input *in;
	const struct spec_grader *spec;
	struct arena *arena;
	void (*done)(void *arg);
	void *arg;
	struct grader_verdict out;
	void *state;			/* private to the kind */
};

enum grader_status { GRADER_DONE, GRADER_LATER };
enum { GRADER_WORKSPACE = 1 };	/* looks at the agent's files */

/* Notes what is wrong with every grader and `expected:` of the suite. */
void grader_check(const struct spec_suite *, struct spec_notes *);

/* Flags of the kinds that this task's graders (the suite's too) are of. */
unsigned grader_flags(const struct spec_suite *, const struct spec_task *);

enum grader_status grader_start(struct grading *);
void grader_cancel(struct grading *);	/* of one that is LATER: done() comes */

/*
 * The verdicts of a task's `expected:` block, after the graders': an array
 * in the arena, *n of them.
 */
struct grader_verdict *grader_expected(struct arena *,
    const struct grader_input *, size_t *n);

#endif
