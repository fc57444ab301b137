/* SPDX-License-Identifier: ISC */
/*
 * explain.h: explain_.  What changed in the tool calls of a task between two
 * results: tools that were called more or less often, calls that failed or were
 * denied, skills that were used.  A hint for the reader why a task broke.
 */
#ifndef WAZA_EXPLAIN_H
#define WAZA_EXPLAIN_H

#include <stdbool.h>

#include "base/base.h"

struct json_out;
struct outcome_task;

enum { EXPLAIN_MAX = 6 };	/* changes that are kept, the largest first */

/* A number per trial, before and after. */
struct explain_change {
	const char *what;	/* "calls of", "failed calls", "denied calls",
				 * "uses of the skill" */
	struct str name;	/* of the tool or skill; empty: all */
	double from, to;
};

struct explain {
	struct explain_change v[EXPLAIN_MAX];
	size_t n;
};

/* Compares the calls; n is 0 if they are equal or not known in both. */
void explain_calls(struct arena *, const struct outcome_task *from,
    const struct outcome_task *to, struct explain *);

/* Appends "calls of bash 3 -> 0, uses of the skill greet 1 -> 0". */
void explain_put(struct buf *, const struct explain *, bool ascii);
/* Writes a list of {"what","name","from","to"}. */
void explain_json(struct json_out *, const struct explain *);

#endif
