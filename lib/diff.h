/* SPDX-License-Identifier: ISC */
/*
 * diff.h: diff_.  Unified diffs of two texts, line by line.
 *
 * The diff is as short as possible, unless that would take too long; then it
 * is correct, but may be longer.  Time is bounded by the length of the texts
 * and DIFF_WORK_MAX, memory by the number of compared lines, at most
 * DIFF_LINES_MAX.
 */
#ifndef WAZA_DIFF_H
#define WAZA_DIFF_H

#include <stddef.h>

#include "base/base.h"

enum {
	DIFF_CONTEXT   = 3,		/* lines around a change */
	DIFF_WORK_MAX  = 1 << 24,	/* steps of the search */
	DIFF_LINES_MAX = 1 << 20	/* from the first to the last change of
					 * both texts; more are one change */
};

struct diff_opts {
	struct str from, to;	/* file names for the header; both empty: no
				 * header */
	size_t context;		/* lines around a change */
	size_t max;		/* approximate limit in bytes, 0: none; a
				 * truncated diff ends with a note */
};

/*
 * Appends the diff that turns `from` into `to`; unless truncated, patch(1) can
 * apply it.  Returns the number of lines removed or added; 0 if the texts are
 * equal: then nothing is appended.
 */
size_t diff_unified(struct buf *, struct str from, struct str to,
    const struct diff_opts *);

#endif
