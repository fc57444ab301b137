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

struct answer;
struct json;
struct json_out;
struct result_record;
struct result_run;
struct result_task;
struct result_trial;
struct result_usage;

/* The destination of a results file: a buffer or a descriptor. */
struct result_sink {
	int fd;
	const char *path;		/* for messages */
	struct buf *buf;		/* used instead of fd unless NULL */
};

/* Writes the run as a results file.  -1 and *e when writing failed. */
int result_put_file(struct result_run *, const struct result_sink *,
    struct err *);

/* Appends an element of a task's "runs"; the arena is for scratch. */
void result_put_trial(struct buf *, struct arena *,
    const struct result_record *, const struct result_trial *);
void result_put_usage(struct buf *, const struct result_usage *);

/* result_trigger.c: an element of "trigger_results", and "trigger_metrics". */
void result_put_trigger(struct buf *, struct arena *,
    const struct result_run *, const struct result_record *);
void result_put_accuracy(struct buf *, const struct result_run *);
/*
 * Takes over a trigger test from a line of the journal; `t` holds the numbers
 * of that line.  Lines about another prompt or skill are ignored.
 */
void result_take_trigger(struct result_run *, const struct json *line,
    const struct result_trial *t);

/* result_import.c: parts of an earlier results file, unchanged. */
void result_put_on_one_line(struct json_out *, const struct json *);
void result_put_imported_task(struct json_out *, const struct json *task);
void result_put_imported_file(struct json_out *, const struct json *root);
/* Members of the earlier file or task that this program does not write. */
void result_put_other_members(struct json_out *, const struct result_run *);
void result_put_other_task_members(struct json_out *,
    const struct result_task *);

/* result_pairwise.c: the member "pairwise", if its trials were compared. */
void result_put_pairwise(struct json_out *, const struct result_run *,
    size_t task);

/* Appends journal.line, with its newline, to the journal; -1 and *e. */
int result_append(struct result_run *, struct err *);

/* Subtracts the usage of a trial that is about to be replaced. */
void result_subtract_usage(struct result_run *, const struct result_trial *);

/* Adds the usage of an answer, or `times` that of a trial's object. */
void result_add_answer_usage(struct result_usage *, const struct answer *);
void result_add_usage(struct result_usage *, const struct json *trial,
    int times);

/* Reads a member as a number; false if it is missing or not such a number. */
bool result_int(const struct json *obj, const char *key, int64_t *);
bool result_num(const struct json *obj, const char *key, double *);

/* Sets *e to "path: what: system message" from errno; returns -1. */
int result_fail(struct err *, const char *path, const char *what);

#endif
