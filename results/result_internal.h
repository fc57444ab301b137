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
struct result_run;
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
    const struct result_record *, const struct result_trial *);

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

/* result_import.c: writes parts of an earlier results file unchanged. */
void result_put_on_one_line(struct json_out *, const struct json *);
void result_put_imported_task(struct json_out *, const struct json *task);
void result_put_imported_file(struct json_out *, const struct json *root);
/* Members of the earlier file or task that this program does not write. */
void result_put_other_members(struct json_out *, const struct result_run *);
void result_put_other_task_members(struct json_out *,
    const struct result_task *);

/* The members of an object except those in a list that ends with NULL. */
void result_put_others(struct json_out *, const struct json *obj,
    const char *const *names);

/* result_pairwise.c: the member "pairwise", if its trials were compared. */
void result_put_pairwise(struct json_out *, const struct result_run *,
    size_t task);

/*
 * result_journal.c: a line of the journal.  begin: empties journal.line and
 * opens the object; members without a comma before the first follow.  numbers:
 * appends status and scores and starts the "run" member.  end: ends the line,
 * writes it to the journal and sets where the trial (NULL: none) is; -1 and *e.
 */
struct buf *result_line_begin(struct result_run *);
void result_line_numbers(struct buf *, struct result_trial *);
int result_line_end(struct result_run *, struct result_trial *, struct err *);

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
/* Writes the first line with a new key; -1 and *e. */
int result_put_header(struct result_run *, struct err *);
int result_cannot_write(const struct result_run *, struct err *);

/* result_resume.c: reads the open journal; -1 and *e. */
int result_resume(struct result_run *, struct err *);

/*
 * Replaces the trial or trigger test in *slot, and the usage that is known of
 * it.  *done counts the slots that are in use.
 */
void result_replace(struct result_run *, struct result_trial *slot,
    const struct result_trial *, size_t *done);

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

#endif
