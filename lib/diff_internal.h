/* SPDX-License-Identifier: ISC */
/*
 * diff_internal.h: diff_.  The difference of two sequences of numbers.
 */
#ifndef WAZA_DIFF_INTERNAL_H
#define WAZA_DIFF_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

struct diff_seq {
	const uint32_t *id;
	unsigned char *changed;	/* set to 1 where it differs */
	int n;
};

/*
 * Marks the elements to remove from a and to insert from b, as few as possible;
 * maybe more if the search exceeds `steps`.  Scratch memory is linear and comes
 * from the arena.
 */
void diff_search(struct arena *, struct diff_seq a, struct diff_seq b,
    size_t steps);

#endif
