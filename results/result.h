/* SPDX-License-Identifier: ISC */
/*
 * result.h: result_.  The results of a run: trials, tasks, statistics, the
 * results file, and the journal behind it.
 *
 * In memory a trial is a few numbers.  Everything else about it (answer,
 * verdicts, transcript) is one line of the journal, an append-only file that
 * is written before the trial is reported.  The results file is made from the
 * journal, and a resumed run reads it.
 *
 * Each line is written by one write(2) and survives the death of this process.
 * It is not synced, which would take longer than the trial: after a power
 * failure the last lines may be lost, and their trials run again.
 * result_close() syncs.
 */
#ifndef WAZA_RESULT_H
#define WAZA_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "lib/sha256.h"
#include "results/answer.h"

struct verdict;
struct json;
struct outcome;
struct outcome_task;
struct outcome_trial;
struct spec_metric;
struct spec_suite;
struct spec_task;
struct spec_where;
struct stats_memo;

enum {
	RESULT_LINE_MAX = 256 << 20,	/* bytes of a line of the journal */
	RESULT_TIME_MAX = 48
};

/*
 * Those before RESULT_PASSED have no score.  Only RESULT_FAILED is a verdict on
 * the agent; those after it are errors.
 */
enum result_status {
	RESULT_NONE,		/* not run, or not yet */
	RESULT_SKIPPED,		/* run, but all its graders were skipped */
	RESULT_PASSED,
	RESULT_FAILED,
	RESULT_AGENT_ERROR,	/* it crashed or reported an error */
	RESULT_TIMEOUT,
	RESULT_GRADER_ERROR,
	RESULT_JUDGE_ERROR,
	RESULT_TAINTED,		/* the agent has seen what grades it */
	RESULT_INFRA,		/* workspace, hook, executor not found */
	RESULT_CANCELLED,
	RESULT__MAX
};

/* "passed", "failed", "skipped" or "error"; "skipped" for RESULT_NONE. */
const char *result_word(enum result_status);
/* "agent_error", "timeout" and so on; "" if it is not an error. */
const char *result_class(enum result_status);
/* The error with that class, or RESULT_NONE. */
enum result_status result_of_class(struct str class);
bool result_is_error(enum result_status);
/* Whether a trial's score counts: not if it is skipped or cancelled. */
bool result_is_scored(enum result_status);

/* What the agent of a trial used; reports show what is not known as such. */
struct result_used {
	int64_t input_tokens, output_tokens;
	double cost;		/* US dollars */
	int64_t judge_tokens;	/* of its judges, who are not in the above */
	double judge_cost;
	uint32_t calls;		/* of tools */
	bool tokens_known:1, cost_known:1, calls_known:1;
	bool judge_tokens_known:1, judge_cost_known:1;	/* or none was asked */
	bool refused:1;		/* the model declined to answer */
	bool free:1;		/* the answer is cached or replayed: an
				 * earlier run paid for it */
};

struct result_trial {
	enum result_status status;
	unsigned attempts;
	double score, weighted;
	int64_t duration_ms;
	struct result_used used;
	int64_t off;		/* of its object in the journal; -1: none */
	uint32_t len;		/* up to RESULT_LINE_MAX */
	uint32_t head;		/* bytes of the line before it, in the sum */
	uint64_t sum;		/* of its line */
	struct json *imported;	/* its object, instead of off and len */
};

struct result_stats {
	/* the interval is Wilson's; with a rule that stops trials early that of
	 * stats_sequence(), and then the bootstrap is not used; 95 % */
	double pass_rate, pass_lo, pass_hi;
	double avg, weighted, min, max, std_dev;	/* of trial scores */
	double ci_lo, ci_hi;	/* bootstrap over weighted scores */
	double pass_at_k, pass_hat_k;	/* k = trials */
	bool flaky;
	int64_t avg_ms;
};

/* What few tasks have. */
struct result_more {
	const uint32_t *numbers;	/* of its trials; NULL: 1 to ntrials */
	struct str error;	/* message of the hook that failed, or empty */
	struct str selected;	/* why --changed selected it, or empty */
	struct str wrong_test;	/* of `tests`, which its graders contradict;
				 * or empty */
	const struct spec_where *wrong_at;	/* its place */
	const char *skipped;	/* why trials were not started, or NULL */
	struct str controls;	/* findings of controls as a JSON list, or
				 * empty: see result_control.c */
	const struct json *previous;	/* graded again: the old task */
	const struct json *imported;	/* written unchanged, or NULL */
	bool partial;		/* imported before all its trials had run */
};

/*
 * A run may have a million: tasks with equal statistics share them, and so do
 * those that have nothing more.  Neither pointer is NULL.
 */
struct result_task {
	const struct spec_task *spec;
	struct result_trial *trials;
	const struct result_stats *stats;	/* valid if it has a status */
	const struct result_more *more;	/* to change it: result_own_more() */
	uint32_t ntrials, done;	/* to run, finished */
	uint32_t index;		/* among the tasks of all shards */
	enum result_status status;	/* RESULT_NONE until it is finished */
};

/* Statistics and more of a task that has none. */
extern const struct result_stats result_no_stats;
extern const struct result_more result_no_more;

/* Gives the task its own copy of what more it has, to be changed. */
struct result_more *result_own_more(struct arena *, struct result_task *);

/*
 * The trigger tests, in the order of suite->triggers.  A test passes when the
 * skill was used exactly if it should be.
 */
struct result_triggers {
	struct result_trial *v;	/* their scores are not used */
	struct str *used;	/* the skill that counts; empty: none */
	size_t n;		/* 0: not part of this run */
	uint32_t done;
	bool simulated;		/* no agent ran: all tests pass */
};

/* The numbers of the whole run, computed by result_sum(). */
struct result_totals {
	size_t passed, failed, errors, skipped;	/* tasks */
	size_t not_run;		/* of the skipped ones: never run, cancelled */
	size_t quarantined;	/* tasks that ended and do not count: they are
				 * in none of these numbers but the next */
	size_t finished;	/* tasks that have a status */
	double rate;		/* passed / (passed + failed + errors) */
	double rate_lo, rate_hi;	/* its interval, see result_stats */
	bool decided;		/* tasks were skipped: it cannot change */
	double score, weighted, min, max, std_dev;	/* of task averages */
	double ci_lo, ci_hi;	/* bootstrap of the tasks' weighted scores */
};

/* The part of a run that one of several shards does. */
struct result_shard {
	int64_t k, n;		/* 1 to n of n; n 0: the run is not a shard */
	size_t tasks;		/* selected in all shards */
	char plan[SHA256_HEX];	/* of the division: equal for all shards */
	bool has_baseline;	/* a second pass without skills belongs to it */
	bool is_baseline;	/* this is that pass */
};

/* Trials that were not run, because their results are known. */
struct result_reuse {
	bool resumes, caches;	/* whether that was asked for */
	size_t resumed, cached;	/* from the journal; from the cache */
	size_t trials;		/* of all */
};

/*
 * The tasks of a run that are not in memory, in order.  get: the task, valid
 * until the next call; its spec has strings only with `names`.
 */
struct result_source {
	const struct result_task *(*get)(void *ctx, size_t i, bool names);
	void *ctx;
	bool grouped;		/* a task has a group */
};

/* The open journal; private to results/. */
struct result_journal {
	int fd;			/* -1: none is open */
	const char *path;
	int64_t end;		/* offset where the next line is written */
	bool torn;		/* a failed write left bytes after `end` */
	unsigned char key[16];	/* of the lines' sums */
	/* public: what others have done to the file */
	bool foreign;		/* appended to it, or cut it off */
	size_t lost;		/* trials whose lines they have changed */
	size_t bad;		/* lines that waza did not write, when */
	unsigned first_bad;	/* it was resumed; the first of them */
	struct buf line;	/* the line being made */
	bool resting;		/* closed, and opened for each read */
	bool spent;		/* public: the results file has all trials;
				 * closing removes the journal */
};

struct result_run {
	struct arena *arena;	/* lives as long as the run */
	const struct spec_suite *suite;
	const char *run_id;
	const char *first_id;	/* of the run that began the resumed journal, */
	int64_t first_ns;	/* and its start; NULL, 0: this run did */
	struct str executor, model;
	struct str cell;	/* of a matrix: its values as a JSON object, */
	struct str cell_name;	/* and for people; or empty */
	struct str judge_model;	/* empty: the suite's */
	int64_t timeout_seconds;	/* 0: the suite's */
	int64_t seed;		/* of resampling; 0: the default */
	int64_t started_ns;	/* wall clock */
	int64_t duration_ms;
	struct result_task *tasks;	/* those selected, in suite order */
	const struct result_source *source;	/* instead of tasks, or NULL */
	size_t ntasks;
	size_t left_out;	/* tasks that passed or did not run, of a
				 * merged run, and are not among them */
	size_t trials;		/* per task; with a rule at most */
	const char *stop;	/* rule that ends trials early, or NULL */
	struct result_shard shard;
	char fingerprint[SHA256_HEX];	/* of the suite; empty: unknown */
	struct result_triggers triggers;
	bool complete;		/* all selected trials have run */
	bool ended;		/* complete, or nothing more will be run */
	bool cancelled;		/* it was stopped from outside */
	bool aborted;		/* it could not continue: hook or disk failed */
	const char *skipped;	/* why trials were not started ("budget: ..."),
				 * or NULL; then it is not complete */
	struct answer_usage usage;	/* of all agents, spent by this run */
	struct answer_usage saved;	/* of answers that were cached or
					 * replayed: not spent again */
	struct answer_usage judge_usage;	/* of judges and responders */
	struct result_totals sum;
	struct result_reuse reuse;
	struct result_journal journal;
	bool regraded;		/* the results file was graded again later */
	bool kept_grades;	/* ... and its trials are resumed from it */
	bool unwritten;		/* the last results could not be written */
	bool no_skills;		/* the caller's: trials run without skills */
	bool changed;		/* the suite differs from the resumed one */
	struct result_run *baseline;	/* the pass without skills, or NULL */
	struct result_run *ref;	/* the pass with those of a revision, or NULL */
	struct str ref_name, ref_commit;	/* of that pass; or empty */
	struct str ref_effect;	/* of the skills compared with it, as JSON */
	const struct outcome *stored;	/* results that are graded again */
	const struct json *whole;	/* results file to write unchanged */
	bool strict;		/* others named the files: no links, no pipes */
	bool hasty;		/* do not wait for a locked journal */
	bool ungraded;		/* no grader was to be run */
	size_t vacuous;		/* tasks that accept a control, if that fails
				 * the run */
	struct str matrix;	/* all cells and comparisons, as JSON, or
				 * empty */
	struct str recommendation;	/* of a model, as JSON, or empty */
	struct str suggestion;	/* report of --suggest, or empty */
	struct arena scratch;	/* private */
	const struct result_stats *shared[64];	/* private, by hash */
	struct stats_memo *memo;	/* private */
};

/* The verdicts after a turn of a conversation. */
struct result_checkpoint {
	int64_t after_turn;
	const struct verdict *verdicts;
	size_t nverdicts;
	bool failed, error;
	bool stopped;		/* the conversation ended here */
};

/* One finished trial, to be added to the journal. */
struct result_record {
	size_t task, trial;	/* indices from 0 */
	uint32_t number;	/* of the trial in its task; 0: trial + 1 */
	enum result_status status;	/* not RESULT_NONE */
	unsigned attempts;
	int64_t duration_ms;
	int64_t started_ns;	/* wall clock; 0: unknown */
	const struct answer *answer;	/* NULL: none */
	const struct verdict *verdicts;	/* NULL: not graded */
	size_t nverdicts;
	const struct result_checkpoint *checks;
	size_t nchecks;
	struct str prompt;
	struct str error;	/* message, or empty */
	struct str note;	/* shown with the trial, or empty */
	struct str workspace;	/* path of a kept workspace, or empty */
	struct str skills_way;	/* how the agent got skills; empty: unknown */
	struct str skill_at;	/* place of the description of the suite's
				 * skill, if the agent had it; or empty */
	bool replayed;		/* the answer is from a recording */
	struct answer_usage judge_usage;	/* of all its judges */
	struct answer_usage earlier;	/* of the attempts before the last */
	const struct json *previous;	/* graded again: the old trial */
};

/*
 * Sets all tasks and trials to RESULT_NONE.  The caller has set the fields up
 * to `trials`, and of each task its spec (of a shard also index, and numbers
 * with ntrials); tasks NULL means the whole suite.
 */
void result_init(struct result_run *);

/*
 * Checks what is at the name of a results file or of a journal.  It may be
 * replaced if it is an empty regular file or begins as waza's own files do;
 * also if there is nothing.  A results file may also be a pipe or a device,
 * and links are followed, but not if `strict`: then a peer chose the name.
 * 0, or -1 and *e.  Closing a file drops this process's locks on it: do not
 * call it with the journal of a run that is open here.
 */
int result_check_name(const char *path, bool journal, bool strict,
    struct err *);

/*
 * Opens the journal.  Without resume an old one is replaced.  With resume its
 * trials are taken over and an incomplete last line is dropped; the last line
 * about a trial counts; cancelled trials, tasks that the suite does not have
 * and lines that waza did not write (journal.bad) are ignored.  Tasks get no
 * status.  -1 and *e when the file is not a journal, cannot be written,
 * belongs to another suite, executor or model, has trials that this run lacks,
 * or is in use by another process.
 */
int result_open(struct result_run *, const char *path, bool resume,
    struct err *);

/* Sets the cell of a run to that of a results file, if it has one. */
void result_take_cell(struct result_run *, const struct outcome *);
/* Whether the trials of a results file ran without skills. */
bool result_ran_bare(const struct outcome *);

/* The passes of a run with a baseline. */
enum result_arm {
	RESULT_ARM_SKILLS,	/* with the skills of the working tree */
	RESULT_ARM_NONE,	/* without skills */
	RESULT_ARM_REF,		/* with the skills of a git revision */
	RESULT_ARM__MAX
};
/* The member of a results file that has the pass; NULL: the file itself. */
const char *result_arm_key(enum result_arm);

/* A results file whose trials a run takes over. */
struct result_from {
	const char *path;
	enum result_arm arm;	/* those of this pass, if the file has it */
	bool replaced;		/* the run writes this file: nothing in it may
				 * get lost */
	bool joins[RESULT_ARM__MAX];	/* these passes are added later */
};

/*
 * Takes the finished trials and trigger tests over, after result_open() of a
 * new journal.  -1 and *e when the file cannot be read, belongs to another
 * suite, executor or model, or when this run lacks trials of a file that it
 * replaces.
 */
int result_reuse(struct result_run *, const struct result_from *,
    struct err *);

/* The same with a new file that has no name and ends with the process. */
int result_open_unnamed(struct result_run *, struct err *);

/*
 * Syncs and closes the journal and frees scratch memory.  Reports and results
 * must be written before, since they are read from the journal.  A journal that
 * is spent is removed.
 */
void result_close(struct result_run *);

/*
 * Syncs and closes the journal of a run that has ended, which can still be
 * read: each reading opens it for a moment.  For one of many runs.  A journal
 * without a name stays open.
 */
void result_rest(struct result_run *);

/*
 * The descriptor of the journal, for pread(), and the bytes of whole lines; -1:
 * it is not open.  Valid until the run continues.
 */
int result_journal_fd(const struct result_run *, int64_t *end);

/*
 * Scores a trial and appends it to the journal; replaces an earlier result of
 * the same trial.  On failure, -1 and *e, trial and journal are unchanged.
 */
int result_add(struct result_run *, const struct result_record *,
    struct err *);

/*
 * Adds a trial from the cache, marked "cached": entry is an object with
 * "status", "score", "weighted" and "run", as in a journal.  1 when added; 0
 * when the entry is malformed or not a verdict; -1 and *e as result_add().
 */
int result_add_cached(struct result_run *, size_t task, size_t trial,
    const struct json *entry, struct err *);

/*
 * The sum of what the trials of a task used, of the trials that have run; a
 * number that is unknown for one of them is unknown.  `free` if all are.
 */
struct result_used result_task_used(const struct result_task *);

/* The number of a task's trial in the whole run, from 1. */
uint32_t result_number(const struct result_task *, size_t trial);

/* Resets a trial to RESULT_NONE, so that it runs again. */
void result_forget(struct result_run *, size_t task, size_t trial);

/* Makes the suite's trigger tests part of the run; before result_open(). */
void result_want_triggers(struct result_run *, bool simulated);

/* As result_add and result_forget; a test's index is the record's task. */
int result_add_trigger(struct result_run *, const struct result_record *,
    struct err *);
void result_forget_trigger(struct result_run *, size_t);

/* Whether the skill was used in test i, derived from the test's status. */
bool result_did_trigger(const struct result_run *, size_t i);

/* Accuracy of the finished trigger tests, each counted by its weight. */
struct result_accuracy {
	double tp, fp, tn, fn;	/* true, false; positive, negative */
	size_t errors, skipped;	/* they are not in the four above, but errors
				 * are wrong in the accuracy */
	double precision, recall, f1, accuracy;	/* to four decimals */
};
/* Computes it; all zero if no test has finished. */
void result_accuracy(const struct result_run *, struct result_accuracy *);

/* Cells of the confusion matrix: tests that expected and used these skills. */
struct result_confusion {
	struct str expected, used;	/* empty: none */
	size_t n;			/* not 0 */
};
/* The cells in the order of the tests, in the arena; *n is their number. */
struct result_confusion *result_confusion(struct arena *,
    const struct result_run *, size_t *n);
/* The skill that a test expects; empty: none. */
struct str result_expected_skill(const struct result_run *, size_t i);

/* Controls: made-up answers, tried on the tasks of a run. */
enum { RESULT_CONTROLS_MAX = 32 };
struct result_control {
	struct str name;	/* "null", "echo", "mutate", or a file */
	size_t tasks, passed, failed, unknown;
};
struct result_controls {
	struct arena *arena;
	struct result_control v[RESULT_CONTROLS_MAX];
	size_t n;
};
/* Their numbers, in the order in which they were tried. */
void result_controls(struct arena *, const struct result_run *,
    struct result_controls *);
/* How many tasks accept the answer of a control, of all controls. */
size_t result_control_passes(const struct result_run *);
/* Calls fn for each finding, task by task; it lives until fn returns. */
void result_each_control(const struct result_run *,
    void (*fn)(void *ctx, const struct result_task *, const struct json *),
    void *ctx);

/*
 * Returns the object of a trial or trigger test, as in the results file, in
 * the arena.  NULL and *e when the journal has none or cannot be read.
 */
struct json *result_read(struct arena *, const struct result_run *,
    const struct result_trial *, struct err *);

/*
 * Sets a task's status and statistics from its trials.  It passes when the
 * share of passed trials reaches the suite's task_pass_threshold.  Otherwise
 * it failed if a trial failed, or has the class of its first error.  Skipped
 * trials are left out; if all are skipped, so is the task.  With no trial run
 * it is RESULT_INFRA if it has an error message, else RESULT_NONE.
 */
void result_end_task(struct result_run *, size_t task);

/*
 * Imports a trial, or a whole task with all its trials, from a results file
 * that must live as long as the run.  An imported task gets its status from
 * the file and is written unchanged; it must have as many trials.
 */
void result_import_trial(struct result_run *, size_t task, size_t trial,
    const struct outcome_trial *);
void result_import_task(struct result_run *, size_t task,
    const struct outcome_task *);

/* Computes run->sum from the tasks that have a status. */
void result_sum(struct result_run *);

/*
 * Whether the run ended early because it was cancelled or could not continue.
 * A run that fail_fast stopped is not interrupted.
 */
bool result_interrupted(const struct result_run *);

/*
 * Whether the metric is enabled and the run has a value for it, stored in
 * *value.  A metric is missed when its value is below its threshold.
 */
bool result_metric(const struct result_run *, const struct spec_metric *,
    double *value);
bool result_misses(const struct result_run *, const struct spec_metric *);
/* The first of the suite's metrics that is missed, or NULL. */
const struct spec_metric *result_missed(const struct result_run *);

/* The task's group according to config.group_by; empty: none. */
struct str result_group(struct arena *, const struct result_run *,
    const struct spec_task *);

/*
 * Whether the run is a success: exit status 0.  Skipped tasks do not make it
 * fail, but a run that graded nothing is not a success.
 */
bool result_ok(const struct result_run *);
/* Whether trials of it, or of its baselines, were not started: see skipped. */
bool result_is_skipped(const struct result_run *);
/* Whether it was not to grade, and all answers are there without an error. */
bool result_only_answers(const struct result_run *);

/*
 * Writes the results file: a temporary file beside it, renamed over it when
 * complete, so that readers see the old file or the new one.  It is synced
 * only after the run has ended; until then the journal holds everything.
 * Pipes and devices are written directly, and symbolic links are followed,
 * unless the run is strict: then they are an error.
 * A task that is not finished is written with the trials it has, without
 * statistics, as "running" or "cancelled"; the summary counts it as skipped,
 * like tasks without trials, which are left out.  The totals are those of the
 * last result_sum().  -1 and *e when writing failed.
 */
int result_write(struct result_run *, const char *path, struct err *);

/*
 * Removes temporary files that result_write() to path has left because its
 * process was killed: they are not locked any more.
 */
void result_sweep(const char *path);

/* Writes it to memory, on one line; sets .full if it does not fit. */
void result_write_buf(struct result_run *, struct buf *);
/* Passes it to put in pieces, on one line.  -1 and *e as result_write(). */
int result_write_pieces(struct result_run *, void (*put)(void *, struct str),
    void *ctx, struct err *);

/*
 * Notes in the journal of a results file, if it has one, that the file was
 * graded again, so that a resumed run can warn.  0, or -1 and *e.
 */
int result_note_regraded(const char *output, struct err *);

/*
 * Each appends a member of a JSON object: the key as given, with its quotes
 * and punctuation (`,"name":`), then the value.
 */
void result_put_str(struct buf *, struct str key, struct str);
void result_put_int(struct buf *, struct str key, int64_t);
void result_put_num(struct buf *, struct str key, double);
void result_put_bool(struct buf *, struct str key, bool);
/* Appends an answer as members of an object; the arena is for scratch. */
void result_put_answer(struct buf *, struct arena *, const struct answer *);

/* The value as JSON text in the arena; empty for NULL. */
struct str result_json(struct arena *, const struct json *);

/* Formats a time as RFC 3339, in local time, without trailing zeros. */
void result_time(char out[RESULT_TIME_MAX], int64_t wall_ns);

/*
 * Parses an RFC 3339 time into nanoseconds since 1970; 0 if it is malformed
 * or not between 1970 and 2200.  Without a zone the time is universal; the
 * colon in a zone may be missing.
 */
int64_t result_parse_time(struct str);

/* Appends usage as a JSON object. */
void result_put_usage(struct buf *, const struct answer_usage *);

#endif
