/* SPDX-License-Identifier: ISC */
/*
 * diff.h: diff_.  Two texts, line by line, as a unified diff.
 *
 * The diff is a shortest one for texts of usual size; where finding that
 * would take too long it is a correct one that is longer.  Time is bounded
 * by the length of the texts and DIFF_WORK_MAX, memory is linear in the
 * number of lines that are looked at, which DIFF_LINES_MAX bounds.
 */
#ifndef WAZA_DIFF_H
#define WAZA_DIFF_H

#include <stddef.h>

#include "base/base.h"

enum {
	DIFF_CONTEXT   = 3,		/* lines around a change */
	DIFF_WORK_MAX  = 1 << 24,	/* lines compared, and places tried */
	DIFF_LINES_MAX = 1 << 20	/* from the first to the last change,
					 * in both; more are one change */
};

struct diff_opts {
	struct str from, to;	/* names for the head, of one line each; both
				 * empty: no head */
	size_t context;		/* lines around a change */
	size_t max;		/* bytes appended, about; 0: all of it.  A diff
				 * that is longer ends with a line saying so */
};

/*
 * Appends what makes `to` out of `from`; patch(1) takes it, unless it was
 * cut.  The number of lines that were removed or added; 0: they are equal,
 * and nothing was appended.
 */
size_t diff_unified(struct buf *, struct str from, struct str to,
    const struct diff_opts *);

#endif
