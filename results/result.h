/* SPDX-License-Identifier: ISC */
/*
 * result.h: result_.  What came out of a run: trials, tasks, statistics, the
 * results file, and the journal behind it.
 *
 * In memory a trial is a few numbers.  All else that is to be known of it
 * (answer, verdicts, transcript) is one line of the journal, an append-only
 * file that is written before anybody hears of the trial; the results file
 * is made from it, and so is a resumed run.
 *
 * A line is written by one write(2) and is then safe from the death of this
 * process.  It is not synced, which would cost more than the trial: when the
 * machine loses power, the last lines may be lost, and their trials are run
 * again.  result_close() syncs.
 */
#ifndef WAZA_RESULT_H
#define WAZA_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

struct answer;
struct verdict;
struct json;
struct outcome;
struct outcome_task;
struct outcome_trial;
struct spec_metric;
struct spec_suite;
struct spec_task;
struct stats_memo;

enum {
	RESULT_LINE_MAX = 256 << 20,	/* bytes of a line of the journal */
	RESULT_TIME_MAX = 48
};

/* Only RESULT_FAILED is a verdict on the agent; those after it are errors. */
enum result_status {
	RESULT_NONE,		/* not run, or not yet */
	RESULT_PASSED,
	RESULT_FAILED,
	RESULT_AGENT_ERROR,	/* it crashed, or said that it failed */
	RESULT_TIMEOUT,
	RESULT_GRADER_ERROR,
	RESULT_JUDGE_ERROR,
	RESULT_INFRA,		/* workspace, hook, executor not found */
	RESULT_CANCELLED,
	RESULT__MAX
};

/* passed failed error, or skipped for RESULT_NONE */
const char *result_word(enum result_status);
/* agent_error timeout grader_error ..., or "" for no error */
const char *result_class(enum result_status);
bool result_is_error(enum result_status);

struct result_trial {
	enum result_status status;
	unsigned attempts;
	double score, weighted;
	int64_t duration_ms;
	int64_t off;		/* of its object in the journal; -1: none */
	size_t len;
	struct json *imported;	/* its object, instead of off and len */
};

struct result_stats {
	double pass_rate, pass_lo, pass_hi;	/* Wilson, 95 % */
	double avg, weighted, min, max, std_dev;	/* of trial scores */
	double ci_lo, ci_hi;	/* bootstrap over weighted scores */
	double pass_at_k, pass_hat_k;	/* k = trials */
	bool flaky;
	int64_t avg_ms;
};

struct result_task {
	const struct spec_task *spec;
	enum result_status status;	/* RESULT_NONE until it is finished */
	struct result_trial *trials;
	size_t ntrials, done;	/* wanted, finished */
	struct str error;	/* why no trial ran: a hook's words */
	bool partial;		/* it has never had all of its trials */
	const struct json *previous;	/* graded again: the old task */
	const struct json *imported;	/* written unchanged, or NULL */
	struct result_stats stats;	/* once there is a status */
};

/*
 * The trigger tests, as in suite->triggers.  One passed when the skill did as
 * it should, and failed when it did the opposite; an error counts as that.
 */
struct result_triggers {
	struct result_trial *v;	/* their scores are not used */
	size_t n, done;		/* n 0: they are no part of this run */
	bool simulated;		/* there was no agent: all is as wished */
};

struct result_usage {		/* of all trials together */
	int64_t turns, input_tokens, output_tokens;
	int64_t cache_read_tokens, cache_write_tokens;
	double premium_requests, cost;
};

/* The numbers of the whole run, computed by result_sum(). */
struct result_totals {
	size_t passed, failed, errors, skipped;	/* tasks */
	double rate;		/* passed / tasks that have a status */
	double rate_lo, rate_hi;	/* its Wilson interval */
	double score, weighted, min, max, std_dev;	/* of task averages */
	double ci_lo, ci_hi;	/* bootstrap of the tasks' weighted scores */
};

/* The open journal; private to results/. */
struct result_journal {
	int fd;			/* -1: none is open */
	const char *path;
	int64_t end;		/* offset where the next line is written */
	bool torn;		/* a failed write left bytes after `end` */
	struct buf line;	/* the line being made */
};

struct result_run {
	struct arena *arena;	/* lives as long as the run */
	const struct spec_suite *suite;
	const char *run_id;
	struct str executor, model;
	struct str judge_model;	/* empty: the suite's */
	int64_t timeout_seconds;	/* 0: the suite's */
	int64_t started_ns;	/* wall clock */
	int64_t duration_ms;
	struct result_task *tasks;	/* those selected, in suite order */
	size_t ntasks;
	size_t trials;		/* per task */
	struct result_triggers triggers;
	bool complete;		/* all selected trials have run */
	bool ended;		/* complete, or nothing more will be run */
	bool cancelled;		/* it was stopped from outside */
	bool aborted;		/* it could not continue: hook or disk failed */
	struct result_usage usage;	/* of all trials in the journal */
	struct result_totals sum;
	struct result_journal journal;
	bool regraded;		/* the results file was graded again later */
	struct result_run *baseline;	/* the pass without skills, or NULL */
	const struct outcome *stored;	/* results that are graded again */
	const struct json *whole;	/* results file to write unchanged */
	struct arena scratch;	/* private */
	struct stats_memo *memo;	/* private */
};

/* One finished trial, as it goes into the journal. */
struct result_record {
	size_t task, trial;	/* indices from 0 */
	enum result_status status;	/* not RESULT_NONE */
	unsigned attempts;
	int64_t duration_ms;
	int64_t started_ns;	/* wall clock; 0: unknown */
	const struct answer *answer;	/* NULL: none came */
	const struct verdict *verdicts;	/* NULL: not graded */
	size_t nverdicts;
	struct str prompt;
	struct str error;	/* in words, for an error */
	struct str note;	/* "skills given in the prompt", or empty */
	struct str workspace;	/* that was kept, or empty */
	const struct json *previous;	/* graded again: the old trial */
};

/*
 * Tasks and trials all RESULT_NONE.  The public fields up to `cancelled` are
 * set, of each task only its spec; tasks NULL means all of the suite.
 */
void result_init(struct result_run *);

/*
 * Opens the journal, new (an old one is replaced) or, with resume, to go on:
 * the trials in it are taken over, a last line that was cut off is dropped.
 * Of several lines about a trial the last counts; cancelled trials, tasks
 * that are not in this run, and lines that cannot be read are passed over.
 * Tasks get no status by it.  -1 when it cannot be written, belongs to
 * another suite, executor or model, or is another process's at this time.
 */
int result_open(struct result_run *, const char *path, bool resume,
    struct err *);

/*
 * Syncs and closes the journal and frees what the others needed.  Reports
 * and results are written before: they are read from the journal.
 */
void result_close(struct result_run *);

/*
 * Scores and keeps a trial: the journal has it when this returns 0.  It
 * replaces what there was on that trial.  On failure the trial is as it was,
 * and so is the journal.
 */
int result_add(struct result_run *, const struct result_record *,
    struct err *);

/*
 * The same of a trial that another run has kept: an object with "status",
 * "score", "weighted" and "run", as in a journal.  1: it is added, marked as
 * "cached"; 0: it makes no sense, and nothing is done.
 */
int result_add_cached(struct result_run *, size_t task, size_t trial,
    const struct json *entry, struct err *);

/* Makes a trial RESULT_NONE again, to be run once more. */
void result_forget(struct result_run *, size_t task, size_t trial);

/* Before result_open: the suite's trigger tests are part of the run. */
void result_want_triggers(struct result_run *, bool simulated);

/* The same as above for trigger tests, whose index is the record's task. */
int result_add_trigger(struct result_run *, const struct result_record *,
    struct err *);
void result_forget_trigger(struct result_run *, size_t);

/* Whether the skill came into play, by what became of the ith test. */
bool result_did_trigger(const struct result_run *, size_t);

/* What the finished ones say: sums of weights, and shares of those. */
struct result_accuracy {
	double tp, fp, tn, fn;	/* true, false; positive, negative */
	size_t errors;
	double precision, recall, f1, accuracy;	/* to four decimals */
};
void result_accuracy(const struct result_run *, struct result_accuracy *);

/*
 * What the journal has on a trial or trigger test: its object in the results
 * file.
 */
struct json *result_read(struct arena *, const struct result_run *,
    const struct result_trial *, struct err *);

/*
 * The task's status and statistics, from its trials.  It passes when the
 * share of passed trials reaches the suite's task_pass_threshold; otherwise
 * it failed if a trial did, or has the first error's class.  With nothing
 * run it is RESULT_INFRA if there is an error in words, else it has none.
 */
void result_end_task(struct result_run *, size_t task);

/*
 * From a results file, which has to live as long: a trial that is not run
 * again, or all of a task, which has to have that many trials.  The task gets
 * its status by that, and is written as it was.
 */
void result_import_trial(struct result_run *, size_t task, size_t trial,
    const struct outcome_trial *);
void result_import_task(struct result_run *, size_t task,
    const struct outcome_task *);

/* The numbers of the whole, from the tasks that have a status. */
void result_sum(struct result_run *);

/*
 * Whether it ended before its time: it was cancelled or could not go on.  A
 * run that fail_fast ended has done what it was asked to.
 */
bool result_interrupted(const struct result_run *);

/*
 * Whether the metric is one that counts and that a run has a value of: then
 * *value is that.  It is missed when the value is below its threshold.
 */
bool result_metric(const struct result_run *, const struct spec_metric *,
    double *value);
bool result_misses(const struct result_run *, const struct spec_metric *);
/* The first of the suite's metrics that is missed, or NULL. */
const struct spec_metric *result_missed(const struct result_run *);

/* What config.group_by makes of a task; empty: it is in no group. */
struct str result_group(const struct result_run *, const struct spec_task *);

/* Whether the printed numbers mean success: exit status 0. */
bool result_ok(const struct result_run *);

/*
 * The results file, whole or not at all: written beside, synced, renamed.
 * While the run goes on it is not synced, which may take longer than the
 * trials in between: the journal has all that is in it.
 * A task that is not finished is there with the trials it has, without
 * statistics, as "running" or, when nothing more will be run, "cancelled":
 * the summary counts it as skipped, like the tasks without a trial, which are
 * left out.  What is no regular file (a pipe, a device) is written to as it
 * is.  The sums are those of the last result_sum().
 */
int result_write(struct result_run *, const char *path, struct err *);

/*
 * Notes in the journal of a results file, if there is one, that the file's
 * verdicts are newer.  What was noted is forgotten when a run goes on.
 */
int result_note_regraded(const char *output, struct err *);

/*
 * The same into memory, on one line; .full when it is larger than the buffer
 * may be, or cannot be made.
 */
void result_write_buf(struct result_run *, struct buf *);

/*
 * Appends a member of a JSON object: the key as given, with its quotes and
 * punctuation (`,"name":`), then the value.
 */
void result_put_str(struct buf *, struct str key, struct str);
void result_put_int(struct buf *, struct str key, int64_t);
void result_put_num(struct buf *, struct str key, double);
void result_put_bool(struct buf *, struct str key, bool);
/* An answer as members of an object; the arena is for scratch. */
void result_put_answer(struct buf *, struct arena *, const struct answer *);

/* Formats a time as RFC 3339, in local time, without trailing zeros. */
void result_time(char out[RESULT_TIME_MAX], int64_t wall_ns);

/*
 * Parses an RFC 3339 time into nanoseconds since 1970; 0 if it is malformed
 * or not between 1970 and 2200.  Without a zone the time is universal; the
 * colon in a zone may be missing.
 */
int64_t result_parse_time(struct str);

#endif
