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
struct result_run;

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
	COMPARE_UNTESTED,	/* no test is valid: see .tests of the pair */
	COMPARE__MAX
};

/* The tests that are valid for two files: compare/compare_stop.c. */
enum { COMPARE_SCORES = 1, COMPARE_FLIPS = 2 };

/* The verdict in JSON: "too_few", "better" and so on. */
const char *compare_word(enum compare_verdict);

/* A task, in the order of the files. */
struct compare_row {
	struct str id, name;
	const struct outcome_task **in;	/* one per file; NULL: missing */
};

enum compare_number { COMPARE_MS, COMPARE_TOKENS, COMPARE_COST, COMPARE__USED };

/* A file compared with the first, over the tasks finished in both. */
struct compare_pair {
	size_t file;
	unsigned tests;		/* COMPARE_SCORES, COMPARE_FLIPS; numbers of
				 * other tests mean nothing */
	bool left_out;		/* by a rule: not all tasks have started */
	size_t tasks;
	size_t better, worse, same;	/* by score */
	size_t fixed, broken;		/* passes now; passed before */
	double mean, lo, hi;	/* score difference; 95 % interval */
	bool resampled;		/* bootstrap, not an approximation */
	double p;		/* sign test, better against worse */
	double p_flips;		/* McNemar, fixed against broken */
	size_t needed;		/* changes in one direction before chance is
				 * unlikely */
	enum compare_verdict verdict;
	/* of the first file and of this one, over the tasks in both */
	size_t passed[2];	/* tasks */
	double score[2];
	double rate_lo, rate_hi;	/* 95 % interval of the pass rate's
				 * difference, as a share */
	struct compare_used {
		double mean;	/* per trial */
		bool known;	/* all trials report it */
	} used[COMPARE__USED][2];
};

struct compare {
	const struct outcome *const *files;
	size_t nfiles;
	struct compare_row *rows;
	size_t nrows;
	struct compare_pair *pairs;	/* nfiles - 1 */
	struct str *warnings;
	size_t nwarnings;
	bool skill;		/* of one run: without and with the skill */
	const char *stop;	/* rule of all files that ended trials early,
				 * or NULL */
};

/*
 * compare/compare_stop.c.  stop: sets the valid tests of a pair; returns a
 * warning if not all are, else "".  scores: those of a task that are compared.
 */
struct str compare_stop(struct arena *, const struct compare *,
    struct compare_pair *);
void compare_scores(struct arena *, const struct compare_pair *,
    const struct outcome_task *was, const struct outcome_task *is,
    double score[2]);

/* The verdict that follows from the numbers of a pair. */
enum compare_verdict compare_judge(const struct compare_pair *);

/* Compares 2 to COMPARE_FILES files; the same one twice is fine. */
void compare_make(struct arena *, struct compare *,
    const struct outcome *const *files, size_t n);

/*
 * compare_words.c.  sentence: appends the answer to "is it better?", for
 * example "worse: 7 of 9 tasks scored lower, none higher; this is unlikely to
 * be chance (p = 0.016)".  flips: "1 task broke, none was fixed (p = 1 ...)";
 * nothing if neither.  needed: how many tasks would tell the difference;
 * nothing if it is known or cannot be estimated.
 */
void compare_sentence(struct buf *, const struct compare_pair *);
void compare_flips(struct buf *, const struct compare_pair *);
void compare_needed(struct buf *, const struct compare_pair *);
/* That number of tasks; 0 where compare_needed() appends nothing. */
double compare_tasks_needed(const struct compare_pair *);
/* Appends "-25.0", or more decimals if that would be 0. */
void compare_points(struct buf *, double points, bool plus);
/* Appends "-0.5 to +1.2", or more decimals for a narrow interval. */
void compare_range(struct buf *, double lo, double hi, int decimals);

/* Appends the effect of the skill in a run with a baseline, as a line. */
void compare_skill(struct buf *, const struct result_run *,
    const struct report_opts *);

/*
 * The same for a run with a pass of another revision of the skill; as a JSON
 * object for the results.
 */
void compare_ref(struct buf *, const struct result_run *,
    const struct report_opts *);
void compare_ref_json(struct buf *, const struct result_run *,
    bool interleaved);

/* Wraps text at width (0: never); later lines are indented by indent + 2. */
void compare_wrapped(struct buf *, struct str, size_t indent, size_t width);

/*
 * compare_task.c: appends what the agents did in a task of two files: verdicts,
 * answers, tool calls and patches, side by side if the terminal is wide enough.
 * The row is one of .rows.
 */
void compare_task(struct buf *, const struct compare *,
    const struct compare_row *, const struct report_opts *);

/* Each appends the whole comparison in its format. */
void compare_text(struct buf *, const struct compare *,
    const struct report_opts *);
void compare_json(struct buf *, const struct compare *);
void compare_markdown(struct buf *, const struct compare *);

/* A member, null if it is not known or its test is not valid. */
struct json_out;
void compare_put_number(struct json_out *, const char *key, bool known,
    double);

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
	bool partial;		/* the second run had only some of the tasks:
				 * others count with their old results */
	enum compare_policy on_new, on_removed;
};

enum compare_status {		/* also the exit status */
	COMPARE_OK,
	COMPARE_REGRESSED,	/* or against a policy */
	COMPARE_GOLDEN,
	COMPARE_CONFIG		/* usage, configuration or file error, or it
				 * cannot be decided */
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
	size_t nleft;		/* of the baseline, not run because of --stop or
				 * fail_fast: without a failure, .status is
				 * COMPARE_CONFIG because of them */
	size_t left_common, left_passed;	/* with a result, or passed, in
						 * the baseline */
	size_t nquarantined;	/* tasks that do not count */
	size_t nkept;		/* tasks that did not run, if partial */
	double rate[2];
	double drop;		/* percentage points, at least 0; if all of
				 * nleft would pass */
	double p;		/* McNemar; unfinished counts as failed */
	bool tested;		/* that test is valid */
	struct compare_issue *issues;
	size_t nissues;
	enum compare_status status;
	struct str update;	/* of --update-baseline, or empty */
	bool updated;		/* the baseline was written */
};

/*
 * Applies the rules to a comparison of two files; .status is the result.  If
 * partial, rows of tasks that did not run get their old results.
 */
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
