/* SPDX-License-Identifier: ISC */
/*
 * twice.h: grades again in a copy of the process, which must lead to the same
 * verdict.
 */
#ifndef WAZA_TEST_TWICE_H
#define WAZA_TEST_TWICE_H

#include <stdio.h>

#include "base/base.h"
#include "grader.h"
#include "io/loop.h"
#include "io/proc.h"

static void
twice_done(void *arg)
{
	*(bool *)arg = true;
}

/* The grading g has ended with GRADER_DONE. */
static bool
twice_same(const struct grading *g, struct grader_input in, struct loop *loop,
    struct procs *procs)
{
	const struct verdict *a = &g->out, *b;
	bool ended = false;
	struct grading again = { .in = &in, .spec = g->spec,
		.arena = g->arena, .done = twice_done, .arg = &ended };
	struct err e = { 0 };

	in.procs = procs;
	in.budget = 1;
	if (grader_start(&again) != GRADER_LATER)
		return false;
	while (!ended && loop_turn(loop, &e) == 1)
		;
	b = &again.out;
	if (ended && a->score == b->score && a->passed == b->passed &&
	    a->weight == b->weight && a->judge == b->judge &&
	    a->skipped == b->skipped &&
	    a->spec == b->spec && str_eq(a->name, b->name) &&
	    str_eq(a->type, b->type) && str_eq(a->feedback, b->feedback) &&
	    str_eq(a->details, b->details) && str_eq(a->error, b->error))
		return true;
	printf("# %.*s: %.*s%.*s / %.*s%.*s\n", STRF(a->type),
	    STRF(a->feedback), STRF(a->error), STRF(b->feedback),
	    STRF(b->error));
	return false;
}

#endif
