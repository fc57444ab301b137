/* SPDX-License-Identifier: ISC */
/*
 * grader.h: grader_.  Graders: verdicts on an answer.
 *
 * A kind of grader checks its settings before the run (grader_check) and
 * grades an answer later (grader_start).  A kind that only computes returns
 * GRADER_DONE, unless that takes longer than a few milliseconds: then a copy of
 * this process computes the same verdict (grade/grader_offload.c).  A grading
 * that waits for that copy, a child or a judge returns GRADER_LATER, and done()
 * follows from the loop.  Each grading ends in a verdict or in an error; an
 * error never counts as a pass.  The verdict lives in the grading's arena.
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
struct answer_usage;
struct field_table;
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
	struct str agent;		/* its name, for messages */
	const char *workspace;		/* the agent's files, or NULL */
	const char *empty_dir;		/* where a judge starts if there is no
					 * workspace, or NULL */
	const char *scratch;		/* prefix of temporary paths, or NULL */
	const struct tmpl_vars *vars;	/* values for templates */
	int64_t duration_ms;		/* time that the agent took */
	bool no_duration;		/* which is not known */
	struct procs *procs;		/* NULL: graders only compute, for as
					 * long as it takes */
	uint64_t budget;		/* of the computation in this process;
					 * 0: a few milliseconds */
	struct judges *judges;		/* for `prompt` graders, or NULL */
	struct str baseline;		/* the answer without skills, */
	bool has_baseline;		/* if there is one */
	bool no_skills;			/* this trial is the baseline */
	bool skills_pasted;		/* the prompt contains the skills */
	bool update_snapshots;		/* write files as new snapshots */
	bool grader_failed;		/* an earlier grader had an error */
	bool no_judges, no_programs;	/* graders that need them are skipped */
	unsigned trial, attempt;	/* from 1 */
	struct answer_usage *judged;	/* usage of judges is added to it; may
					 * be NULL */
};

/* One grader applied to one answer.  Set all down to arg. */
struct grading {
	const struct grader_input *in;
	const struct spec_grader *spec;	/* NULL: the `expected:` block */
	struct arena *arena;		/* holds the verdict */
	void (*done)(void *arg);	/* called after GRADER_LATER, once */
	void *arg;
	struct verdict out;
	struct verdict *expected;	/* instead, of the `expected:` block, */
	size_t nexpected;		/* in the arena */
	void *state;			/* private to the kind */
	struct grader_away *away;	/* private: in a copy of the process */
	struct budget *budget;		/* private: NULL if it has no limit */
	bool copied;			/* private: this is the copy */
	struct str carry;		/* private: results of a copy */
};

enum grader_status { GRADER_DONE, GRADER_LATER };

/* Properties of a kind. */
enum {
	GRADER_WORKSPACE = 1,	/* reads the agent's files */
	GRADER_NEEDS_DIR = 2,	/* needs a working directory for a judge, who
				 * may read the agent's files there */
	GRADER_VARIES = 4	/* the verdict on the same answer can vary */
};

/*
 * The name of the i-th kind, sorted by name, and the keys of its settings;
 * NULL after the last.
 */
const char *grader_nth(size_t i, const struct field_table **settings);

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

/* Opens the judges that graders of the task need, and its responder. */
void grader_expect_judges(struct judges *, const struct spec_suite *,
    const struct spec_task *);

/*
 * Starts a grading.  GRADER_DONE: g->out is set and done() is not called.
 *
 * The `expected:` block is graded after the task's graders.  It leads to
 * several verdicts, or to none if the task has no such block.  If the answer
 * is only an echo of the prompt (the mock's) and the task has graders, these
 * verdicts are advisory.
 */
enum grader_status grader_start(struct grading *);

/* Cancels a grading that is GRADER_LATER; done() may be called at once. */
void grader_cancel(struct grading *);

/* Forgets a grading that is GRADER_LATER, after procs_fini(). */
void grader_drop(struct grading *);

#endif
