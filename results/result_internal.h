/* SPDX-License-Identifier: ISC */
/*
 * result_internal.h: result_.  Shared by the files of results.
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

/* Where a results file is written to: a buffer, or a descriptor. */
struct result_sink {
	int fd;
	const char *path;		/* for messages */
	struct buf *buf;		/* or NULL */
};
int result_put_file(struct result_run *, const struct result_sink *,
    struct err *);

/* One element of a task's "runs"; the arena is for scratch. */
void result_put_trial(struct buf *, struct arena *,
    const struct result_record *, const struct result_trial *);
void result_put_usage(struct buf *, const struct result_usage *);

/* result_trigger.c: an element of "trigger_results", and "trigger_metrics". */
void result_put_trigger(struct buf *, struct arena *,
    const struct result_run *, const struct result_record *);
void result_put_accuracy(struct buf *, const struct result_run *);
/* A line of the journal; t has what it says, as far as trials have it too. */
void result_take_trigger(struct result_run *, const struct json *line,
    const struct result_trial *t);

/* result_keep.c: a trial on one line, and a task with such trials. */
void result_put_flat(struct json_out *, const struct json *trial);
void result_put_as_it_was(struct json_out *, const struct json *task);
/* A whole file, as it was. */
void result_put_whole(struct json_out *, const struct json *root);
/* The members of an earlier file that are nobody's here. */
void result_put_kept(struct json_out *, const struct result_run *);
void result_put_kept_task(struct json_out *, const struct result_task *);

/* result_pair.c: a member "pairwise", if its trials were compared. */
void result_put_pairs(struct json_out *, const struct result_run *,
    size_t task);

/* Adds the line that is in run->line, with its newline. */
int result_append(struct result_run *, struct err *);

/* Takes the trial's usage out of the sum; it is to be replaced. */
void result_unuse(struct result_run *, const struct result_trial *);

/* Adds what an answer, or the object of a trial so many times, has used. */
void result_use_answer(struct result_usage *, const struct answer *);
void result_use(struct result_usage *, const struct json *trial, int times);

/* A member that is there, and such a number. */
bool result_int(const struct json *obj, const char *key, int64_t *);
bool result_num(const struct json *obj, const char *key, double *);

/* "path: what: the system's words", from errno; -1. */
int result_fail(struct err *, const char *path, const char *what);

#endif
