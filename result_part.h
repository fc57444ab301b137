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

struct json;
struct json_out;
struct result_record;
struct result_run;
struct result_trial;
struct result_usage;

/* A `put` for json.h's writer, into a struct buf. */
void result_put_buf(void *buf, const char *p, size_t n);

/* One element of a task's "runs"; the arena is for scratch. */
void result_put_trial(struct json_out *, struct arena *,
    const struct result_record *, const struct result_trial *);
void result_put_usage(struct json_out *, const struct result_usage *);

/* Adds the line that is in run->line, with its newline. */
int result_append(struct result_run *, struct err *);

/* Takes the trial's usage out of the sum; it is to be replaced. */
void result_unuse(struct result_run *, const struct result_trial *);

/* Adds what the object of a trial has of usage, so many times. */
void result_use(struct result_usage *, const struct json *trial, int times);

/* A member that is there, and such a number. */
bool result_int(const struct json *obj, const char *key, int64_t *);
bool result_num(const struct json *obj, const char *key, double *);

/* "path: what: the system's words", from errno; -1. */
int result_fail(struct err *, const char *path, const char *what);

#endif
