/* SPDX-License-Identifier: ISC */
/*
 * compare.h: compare_.  Two or more results side by side: what changed, and
 * whether the change is more than chance.
 *
 * Tasks are joined by their id.  What is not in a file is n/a, and never a
 * number.  All of it is in the arena, and borrows from the outcomes.
 */
#ifndef WAZA_COMPARE_H
#define WAZA_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"

struct outcome;
struct outcome_task;
struct report_opts;

enum { COMPARE_FILES = 64 };	/* that can be compared at once */

/*
 * A change is real when the interval of the mean difference does not touch
 * 0 and the sign test says less than 5 %.  The bootstrap alone is too sure
 * of itself where few tasks changed; the test alone does not see how much.
 */
enum compare_verdict {
	COMPARE_NOTHING,	/* no task is in both */
	COMPARE_FEW,		/* so few that nothing can be told */
	COMPARE_SAME,
	COMPARE_UNCLEAR,	/* the two do not agree */
	COMPARE_BETTER,
	COMPARE_WORSE,
	COMPARE__MAX
};

const char *compare_word(enum compare_verdict);	/* too_few, better, ... */

/* A task, in the order of the files. */
struct compare_row {
	struct str id, name;
	const struct outcome_task **in;	/* one a file; NULL: it is not there */
};

/* A file against the first, over the tasks that are finished in both. */
struct compare_pair {
	size_t file;
	size_t tasks;
	size_t better, worse, same;	/* by score */
	size_t fixed, broken;		/* passes now, did; and the reverse */
	double mean, lo, hi;	/* of the differences of scores; 95 % */
	bool resampled;		/* from resamples, not approximated */
	double p;		/* sign test, better against worse */
	double p_flips;		/* McNemar, fixed against broken */
	enum compare_verdict verdict;
};

struct compare {
	const struct outcome *const *files;
	size_t nfiles;
	struct compare_row *rows;
	size_t nrows;
	struct compare_pair *pairs;	/* nfiles - 1 */
	struct str *warnings;
	size_t nwarnings;
};

/* From 2 to COMPARE_FILES files; the same one twice is fine. */
void compare_make(struct arena *, struct compare *,
    const struct outcome *const *files, size_t n);

/* "no real change: +0.02 (95 % interval -0.03 to 0.07), p = 0.55" */
void compare_sentence(struct buf *, const struct compare_pair *);
/* "2 from fail to pass, 1 from pass to fail, p = 1" */
void compare_flips(struct buf *, const struct compare_pair *);

/* Either, in lines; the cursor is at the indent, later lines 2 further. */
void compare_wrapped(struct buf *, struct str, size_t indent, size_t width);

void compare_text(struct buf *, const struct compare *,
    const struct report_opts *);
void compare_json(struct buf *, const struct compare *);
void compare_markdown(struct buf *, const struct compare *);

/* Parts of these. */
void compare_signed(struct buf *, double, int decimals, bool plus);
/* "passed", as the file has it; NULL: "n/a" */
struct str compare_task_status(const struct outcome_task *);
/* "pass -> fail", or NULL: no flip, or not in both files */
const char *compare_flip(const struct compare_row *, size_t from, size_t to);
/* Last minus first, 0 if it is less than 1e-9; false: one is not there. */
bool compare_delta(const struct compare *, const struct compare_row *,
    double *score, double *pass_rate);

/* Or it flipped in between, or is not in all files. */
bool compare_changed(const struct compare *, const struct compare_row *);

/*
 * The gate: whether the second of two results may take the place of the
 * first.  The drop is that of the share of tasks that passed, in percentage
 * points: over all tasks of each file, or over those in both, whichever is
 * larger.  So neither a new task that fails nor the removal of tasks that
 * failed hides one that got worse.  A task that is not finished has not
 * passed.
 */
enum compare_policy { COMPARE_ALLOW, COMPARE_WARN, COMPARE_FAIL };

struct compare_rules {
	double max_drop;	/* percentage points */
	double min_pass;	/* percent */
	bool golden;		/* tasks marked so have to pass */
	bool significant;	/* a drop that may be chance is a warning */
	enum compare_policy on_new, on_removed;
};

enum compare_status {		/* also the exit status */
	COMPARE_OK,
	COMPARE_REGRESSED,	/* or against a policy */
	COMPARE_GOLDEN,
	COMPARE_CONFIG		/* it could not be told */
};

struct compare_issue {
	const char *kind;	/* regression golden_failure new_task ... */
	bool fatal;
	struct str text;
	const struct compare_row *row;	/* NULL: it is about the whole */
};

struct compare_gate {
	const struct compare *of;
	const struct compare_rules *rules;
	size_t tasks[2], passed[2];	/* of each file */
	size_t common, common_passed[2];
	size_t nnew, nremoved, ngolden;	/* golden: those that did not pass */
	double rate[2];
	double drop;		/* percentage points, at least 0 */
	double p;		/* McNemar; what is not finished failed */
	struct compare_issue *issues;
	size_t nissues;
	enum compare_status status;
};

void compare_gate(struct arena *, struct compare_gate *,
    const struct compare *, const struct compare_rules *);
bool compare_gate_marked(const struct compare_row *);	/* in either file */
bool compare_gate_golden(const struct compare_row *);	/* did not pass */
const char *compare_policy(enum compare_policy);	/* allow warn fail */

void compare_gate_text(struct buf *, const struct compare_gate *,
    const struct report_opts *);
void compare_gate_json(struct buf *, const struct compare_gate *);
void compare_gate_markdown(struct buf *, const struct compare_gate *);
void compare_gate_github(struct buf *, const struct compare_gate *);

#endif
