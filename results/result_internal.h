/* SPDX-License-Identifier: ISC */
/*
 * result_internal.h: result_.  What the result_*.c files share.
 */
#ifndef WAZA_RESULT_INTERNAL_H
#define WAZA_RESULT_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "results/answer.h"

struct json;
struct json_out;
struct result_record;
struct suspect_about;
struct result_run;
struct result_stats;
struct result_task;
struct result_trial;

/* The destination of a results file: a buffer or a descriptor. */
struct result_sink {
	int fd;
	const char *path;		/* for messages */
	struct buf *buf;		/* used instead of fd unless NULL */
	bool log;			/* fd may be the log of a CI system */
	/* used instead of both unless NULL */
	void (*put)(void *ctx, struct str);
	void *ctx;
};

/* Writes the run as a results file.  -1 and *e when writing failed. */
int result_put_file(struct result_run *, const struct result_sink *,
    struct err *);

/* Appends an element of a task's "runs"; the arena is for scratch. */
void result_put_trial(struct buf *, struct arena *,
    const struct result_record *, const struct result_trial *,
    const struct suspect_about *);

/* result_used.c: the usage of all attempts; no answers: there were none. */
struct answer_usage result_spent(const struct result_record *);

/* result_trigger.c: an element of "trigger_results", and "trigger_metrics". */
void result_put_trigger(struct buf *, struct arena *,
    const struct result_run *, const struct result_record *);
void result_put_accuracy(struct buf *, const struct result_run *);
/* Sets triggers.used[i] from the skills of the test's object. */
void result_take_used(struct result_run *, size_t i, const struct json *item);
/*
 * Takes over a trigger test from a line of the journal; `t` holds the numbers
 * of that line.  Lines about another prompt or skill are ignored.
 */
void result_take_trigger(struct result_run *, const struct json *line,
    const struct result_trial *t);

/*
 * Takes over a test from a results file: writes its line and advances *next to
 * the test after it.  Other tests are ignored.  -1 and *e when writing failed.
 */
int result_reuse_trigger(struct result_run *, size_t *next,
    const struct json *item, struct err *);

/* result_import.c: writes parts of an earlier results file unchanged. */
void result_put_on_one_line(struct json_out *, const struct json *);
void result_put_imported_task(struct json_out *, const struct json *task);
void result_put_imported_file(struct json_out *, const struct json *root);
/* Members of the earlier file or task that this program does not write. */
void result_put_other_members(struct json_out *, const struct result_run *);
void result_put_other_task_members(struct json_out *,
    const struct result_task *);

/*
 * result_shard.c.  shard: the member "shard" of "config".  plan: lines of the
 * journal about the tasks of a shard; -1 and *e.  check: whether the journal
 * with this first line, or the results file, is of the same part of the run;
 * -1 and *e.
 */
enum { RESULT_SHARD_VERSION = 1 };
void result_put_shard(struct json_out *, const struct result_run *);
int result_put_plan(struct result_run *, struct err *);
int result_check_shard(const struct result_run *, const struct json *header,
    const char *path, struct err *);

/* result_group.c: the member "groups", if there are any. */
void result_put_groups(struct json_out *, struct arena *,
    const struct result_run *);

/* result_file.c: the member "config". */
void result_put_config(struct json_out *, const struct result_run *);

/* The members of an object except those in a list that ends with NULL. */
void result_put_others(struct json_out *, const struct json *obj,
    const char *const *names);

/*
 * result_pairwise.c: the members "skill_impact" and "ref_impact" of a task, if
 * the run has these baselines.
 */
void result_put_impact(struct json_out *, const struct result_run *,
    size_t task);
/* Whether a grader of the suite or of a task of the run compares. */
bool result_any_compares(const struct result_run *);

/*
 * result_journal.c: a line of the journal.  begin: empties journal.line and
 * opens the object; members without a comma before the first follow.  name:
 * appends the task and the number of a trial.  numbers:
 * appends status and scores and starts the "run" member.  end: ends the line,
 * writes it to the journal and sets where the trial (NULL: none) is; -1 and *e.
 */
struct buf *result_line_begin(struct result_run *);
void result_line_name(struct buf *, const struct result_run *, size_t task,
    size_t trial);
void result_line_numbers(struct buf *, struct result_trial *);
int result_line_end(struct result_run *, struct result_trial *, struct err *);
/* result_reuse.c: numbers and end, with this object as the "run" member. */
int result_line_copy(struct result_run *, struct result_trial *,
    const struct json *, struct err *);

/*
 * The bytes of a trial's line after RESULT_CHECK, head + len + 1 of them: read
 * them, or take them from the caller.  Returns the trial's object; its p is
 * NULL if somebody has changed the line (and *e is set).
 */
enum { RESULT_CHECK = 28 };	/* bytes of the member "check" and before */
struct str result_line_read(struct arena *, const struct result_run *,
    const struct result_trial *, struct err *);
struct str result_line_text(const struct result_run *,
    const struct result_trial *, struct str body);

/*
 * Opens the journal of a resting run for reading; the caller closes it.  False
 * if it is open already, does not rest or cannot be opened.
 */
bool result_wake(struct result_run *);

/*
 * The sum of a line at that offset.  seal: sets it; the line has its newline.
 * sealed: whether it is right; the line has no newline.
 */
uint64_t result_seal(const unsigned char *key, int64_t at, struct buf *line);
bool result_sealed(const unsigned char *key, int64_t at, struct str line,
    uint64_t *sum);

enum { RESULT_VERSION = 2 };	/* of the journal */
/* Reads the key of a journal's first line; false if it is malformed. */
bool result_read_key(unsigned char *key, struct str hex);
/* Writes the first line with a new key; -1 and *e. */
int result_put_header(struct result_run *, struct err *);
int result_cannot_write(const struct result_run *, struct err *);

/* Turns the number of a trial into its index; false if it is not in the run. */
bool result_find_trial(const struct result_task *, int64_t *);

/*
 * result_same.c.  Results that a run continues: those of a journal, with its
 * first line as root, or of a results file.
 */
struct result_stored {
	const char *path;
	const struct json *root;
	struct str suite, executor, model;
	bool baseline;		/* the pass without skills of a file */
	const char *source;	/* path of the suite, or NULL */
};

/*
 * -1 and *e unless the run has the same suite, executor, model, shard and
 * skills.  Sets run->changed.
 */
int result_check_same(struct result_run *, const struct result_stored *,
    struct err *);

/* The tasks of the run by id, in its scratch arena. */
struct result_task **result_sort_tasks(struct result_run *);

/* The task with that id, or NULL, and its trial of that number, or NULL. */
struct result_trial *result_find_place(const struct result_run *,
    struct result_task **sorted, struct str id, int64_t number,
    struct result_task **);

/*
 * A stored trial has no place in the run, which has its task or not (NULL): -1
 * and *e, but 0 if the suite has no such task any more.
 */
int result_lacks(const struct result_run *, const struct result_task *,
    struct str id, const struct result_stored *, struct err *);

/* result_resume.c: reads the open journal; -1 and *e. */
int result_resume(struct result_run *, struct err *);

/*
 * Replaces the trial or trigger test in *slot, and the usage that is known of
 * it.  *done counts the slots that are in use.
 */
void result_replace(struct result_run *, struct result_trial *slot,
    const struct result_trial *, uint32_t *done);

/*
 * result_used.c.  read: sets what a trial used from its object in results;
 * set: from the answer of its record.  count: adds its usage to the sums of
 * the run, `times` times.
 */
void result_read_used(struct result_trial *, const struct json *);
void result_set_used(struct result_trial *, const struct result_record *);
void result_count(struct result_run *, const struct json *trial, int times);
/* The same for an entry of the cache, which is not marked as such. */
void result_count_cached(struct result_run *, const struct json *trial);

/* A task of the run, valid until the next call. */
const struct result_task *result_at(const struct result_run *, size_t i,
    bool names);
/*
 * result_end_task() for a task that is not in run->tasks; its statistics are
 * written to `stats`.
 */
void result_finish_task(struct result_run *, struct result_task *,
    struct result_stats *stats);

/* Reads a member as a number; false if it is missing or not such a number. */
bool result_int(const struct json *obj, const char *key, int64_t *);
bool result_num(const struct json *obj, const char *key, double *);
/* Whether the member is true. */
bool result_true(const struct json *obj, const char *key);
/* The member "attempts" of a trial; 1 if it is missing or out of range. */
unsigned result_attempts(const struct json *trial);

/* Whether a file that begins so is a journal (a results file) of waza. */
bool result_is_ours(struct str head, bool journal);

/* Sets *e to "path: what: system message" from errno; returns -1. */
int result_fail(struct err *, const char *path, const char *what);

/* result_control.c: the member "controls" of a results file, if any. */
void result_put_controls(struct json_out *, const struct result_run *);

#endif
