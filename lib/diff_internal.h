/* SPDX-License-Identifier: ISC */
/*
 * diff_internal.h: diff_.  What two sequences of numbers do not share.
 */
#ifndef WAZA_DIFF_INTERNAL_H
#define WAZA_DIFF_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

struct diff_seq {
	const uint32_t *id;
	unsigned char *changed;	/* set to 1 where it has to go, or is new */
	int n;
};

/*
 * Marks what has to be changed so that the sequences are the same: as little
 * as possible, or after so many steps a little more.  Scratch memory is
 * linear.
 */
void diff_search(struct arena *, struct diff_seq a, struct diff_seq b,
    size_t steps);

#endif
