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

#include "base/base.h"
#include "results/verdict.h"

struct answer;
struct json_out;
struct judges;
struct procs;
struct spec_grader;
struct spec_notes;
struct spec_suite;
struct spec_task;
struct tmpl_vars;

/* What there is to grade; the same for all graders of a trial. */
struct grader_input {
	const struct spec_suite *suite;
	const struct spec_task *task;
	const struct answer *answer;
	const char *workspace;		/* or NULL */
	const char *room;		/* in its stead, and empty; or NULL */
	const char *scratch;		/* begins names of files; or NULL */
	const struct tmpl_vars *vars;
	int64_t duration_ms;		/* of the agent */
	struct procs *procs;
	struct judges *judges;		/* for `prompt` graders */
	struct str baseline;		/* the answer without skills, if any */
	bool has_baseline;
	bool no_skills;			/* this is the baseline */
	bool update_snapshots;		/* write what is there as expected */
	bool erred;			/* a grader before had no verdict */
	unsigned trial, attempt;	/* from 1 */
};

struct grading {
	const struct grader_input *in;
	const struct spec_grader *spec;
	struct arena *arena;
	void (*done)(void *arg);
	void *arg;
	struct verdict out;
	void *state;			/* private to the kind */
};

enum grader_status { GRADER_DONE, GRADER_LATER };
enum {
	GRADER_WORKSPACE = 1,	/* looks at the agent's files */
	GRADER_ROAMS = 2	/* needs a directory; may look at them there */
};

/* Notes what is wrong with every grader and `expected:` of the suite. */
void grader_check(const struct spec_suite *, struct spec_notes *);

/* Flags of the kinds that this task's graders (the suite's too) are of. */
unsigned grader_flags(const struct spec_suite *, const struct spec_task *);
unsigned grader_flags_of(const struct spec_grader *);	/* of its kind */

/*
 * The first grader of the suite or of a task that compares the answer with the
 * baseline's (spec_grader_compares()), or NULL.
 */
const struct spec_grader *grader_comparing(const struct spec_suite *);

enum grader_status grader_start(struct grading *);
void grader_cancel(struct grading *);	/* of one that is LATER: done() comes */

/*
 * The verdicts of a task's `expected:` block, after the graders': an array
 * in the arena, *n of them.  Of an answer that is none (the mock has
 * given the prompt back) they are advisory where graders decide.
 */
struct verdict *grader_expected(struct arena *,
    const struct grader_input *, size_t *n);

#endif
