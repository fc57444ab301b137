/* SPDX-License-Identifier: ISC */
/*
 * compare.h: compare_.  Compares two or more results files: what changed, and
 * whether the change is significant.
 *
 * Tasks are joined by their id.  A task that is missing in a file is n/a there,
 * never a number.  Everything lives in the arena and borrows from the outcomes.
 */
#ifndef WAZA_COMPARE_H
#define WAZA_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"

struct outcome;
struct outcome_task;
struct report_opts;

enum { COMPARE_FILES = 64 };	/* limit of one comparison */

/*
 * A change is significant if the 95 % interval of the mean difference excludes
 * 0 and the p-value of the sign test is below 0.05.  The bootstrap alone is too
 * optimistic when few tasks changed; the test alone ignores the size.
 */
enum compare_verdict {
	COMPARE_NOTHING,	/* no task in common */
	COMPARE_FEW,		/* too few tasks for any conclusion */
	COMPARE_SAME,		/* no significant change */
	COMPARE_UNCLEAR,	/* interval and test do not agree */
	COMPARE_BETTER,
	COMPARE_WORSE,
	COMPARE__MAX
};

/* The verdict in JSON: "too_few", "better" and so on. */
const char *compare_word(enum compare_verdict);

/* A task, in the order of the files. */
struct compare_row {
	struct str id, name;
	const struct outcome_task **in;	/* one per file; NULL: missing */
};

/* A file compared with the first, over the tasks finished in both. */
struct compare_pair {
	size_t file;
	size_t tasks;
	size_t better, worse, same;	/* by score */
	size_t fixed, broken;		/* passes now; passed before */
	double mean, lo, hi;	/* score difference; 95 % interval */
	bool resampled;		/* bootstrap, not an approximation */
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

/* Compares 2 to COMPARE_FILES files; the same one twice is fine. */
void compare_make(struct arena *, struct compare *,
    const struct outcome *const *files, size_t n);

/* Appends "no significant change: +0.02 (95 % interval ...), p = 0.55". */
void compare_sentence(struct buf *, const struct compare_pair *);
/* Appends "1 task broke; not significant (p = 1; ...)". */
void compare_flips(struct buf *, const struct compare_pair *);

/* Wraps text at width; later lines are indented by indent + 2. */
void compare_wrapped(struct buf *, struct str, size_t indent, size_t width);

/* Each appends the whole comparison in its format. */
void compare_text(struct buf *, const struct compare *,
    const struct report_opts *);
void compare_json(struct buf *, const struct compare *);
void compare_markdown(struct buf *, const struct compare *);

/* Appends a rounded number; a negative one has a sign, others if plus. */
void compare_signed(struct buf *, double, int decimals, bool plus);
/* The status as the file spells it; "n/a" for NULL. */
struct str compare_task_status(const struct outcome_task *);
/* "pass -> fail" and the like; NULL: no flip, or not finished in both. */
const char *compare_flip(const struct compare_row *, size_t from, size_t to);
/*
 * Last minus first file; differences below 1e-9 are 0.  false: the task is
 * not finished in both.
 */
bool compare_delta(const struct compare *, const struct compare_row *,
    double *score, double *pass_rate);
/* Whether score or status differs, or the task is not in all files. */
bool compare_changed(const struct compare *, const struct compare_row *);

/*
 * The gate decides whether the second of two results may replace the first.
 * The drop is that of the pass rate in percentage points, over all tasks of
 * each file or over those in both, whichever is larger.  So neither new tasks
 * that fail nor the removal of tasks that failed hides a regression.  A task
 * that is not finished has not passed.
 */
enum compare_policy { COMPARE_ALLOW, COMPARE_WARN, COMPARE_FAIL };

struct compare_rules {
	double max_drop;	/* percentage points */
	double min_pass;	/* percent */
	bool golden;		/* golden tasks must pass */
	bool significant;	/* an insignificant drop only warns */
	enum compare_policy on_new, on_removed;
};

enum compare_status {		/* also the exit status */
	COMPARE_OK,
	COMPARE_REGRESSED,	/* or against a policy */
	COMPARE_GOLDEN,
	COMPARE_CONFIG		/* usage, configuration or file error */
};

struct compare_issue {
	const char *kind;	/* regression golden_failure new_task ... */
	bool fatal;
	struct str text;
	const struct compare_row *row;	/* NULL: about all tasks */
};

struct compare_gate {
	const struct compare *of;
	const struct compare_rules *rules;
	size_t tasks[2], passed[2];	/* of each file */
	size_t common, common_passed[2];
	size_t nnew, nremoved, ngolden;	/* golden: not passed */
	double rate[2];
	double drop;		/* percentage points, at least 0 */
	double p;		/* McNemar; unfinished counts as failed */
	struct compare_issue *issues;
	size_t nissues;
	enum compare_status status;
};

/* Applies the rules to a comparison of two files; .status is the result. */
void compare_gate(struct arena *, struct compare_gate *,
    const struct compare *, const struct compare_rules *);
/* Whether the task is golden in either file; whether it also did not pass. */
bool compare_gate_marked(const struct compare_row *);
bool compare_gate_golden(const struct compare_row *);
/* "allow", "warn" or "fail". */
const char *compare_policy(enum compare_policy);

/* Each appends the result of the gate in its format. */
void compare_gate_text(struct buf *, const struct compare_gate *,
    const struct report_opts *);
void compare_gate_json(struct buf *, const struct compare_gate *);
void compare_gate_markdown(struct buf *, const struct compare_gate *);
void compare_gate_github(struct buf *, const struct compare_gate *);

#endif
