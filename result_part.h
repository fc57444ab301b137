/* SPDX-License-Identifier: ISC */
/*
 * result_part.h: result_.  What the files of results share among themselves.
 */
#ifndef WAZA_RESULT_PART_H
#define WAZA_RESULT_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base.h"

struct agent_answer;
struct json;
struct result_record;
struct result_run;
struct result_trial;
struct result_usage;

/* The key as it stands, punctuation and all, and the value after it. */
void result_put_str(struct buf *, struct str key, struct str);
void result_put_int(struct buf *, struct str key, int64_t);
void result_put_num(struct buf *, struct str key, double);
void result_put_bool(struct buf *, struct str key, bool);

/* One element of a task's "runs"; the arena is for scratch. */
void result_put_trial(struct buf *, struct arena *,
    const struct result_record *, const struct result_trial *);
void result_put_usage(struct buf *, const struct result_usage *);

/* Adds the line that is in run->line, with its newline. */
int result_append(struct result_run *, struct err *);

/* Takes the trial's usage out of the sum; it is to be replaced. */
void result_unuse(struct result_run *, const struct result_trial *);

/* Adds what an answer, or the object of a trial so many times, has used. */
void result_use_answer(struct result_usage *, const struct agent_answer *);
void result_use(struct result_usage *, const struct json *trial, int times);

/* A member that is there, and such a number. */
bool result_int(const struct json *obj, const char *key, int64_t *);
bool result_num(const struct json *obj, const char *key, double *);

/* "path: what: the system's words", from errno; -1. */
int result_fail(struct err *, const char *path, const char *what);

#endif
