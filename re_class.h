/* SPDX-License-Identifier: ISC */
/*
 * re_class.h: re_set_ re_fold_.  Sets of code points while a pattern is
 * being read, and simple case folding.
 */
#ifndef WAZA_RE_CLASS_H
#define WAZA_RE_CLASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base.h"

#define RE_RUNE_MAX 0x10FFFFu
#define RE_RUNE_BAD 0xFFFDu	/* what a malformed byte counts as */

struct re_range {
	uint32_t lo, hi;
};

/* The zero value but for .arena is the empty set.  Clean: sorted, merged. */
struct re_set {
	struct arena *arena;
	struct re_range *v;
	size_t n, cap;
	size_t cleaned;		/* n when it was last clean */
};

void re_set_add(struct re_set *, uint32_t lo, uint32_t hi, bool fold);
void re_set_clean(struct re_set *);
void re_set_negate(struct re_set *);		/* of a clean set */

/* Each adds a class by name, or is false when there is none of that name. */
bool re_set_perl(struct re_set *, char letter, bool fold);
bool re_set_posix(struct re_set *, struct str name, bool negate, bool fold);
bool re_set_unicode(struct re_set *, struct str name, bool negate, bool fold);

/* Folding joins code points into orbits: k, K and the Kelvin sign are one. */
uint32_t re_fold_next(uint32_t);	/* around the orbit; itself if alone */
uint32_t re_fold_min(uint32_t);		/* the orbit's smallest */

#endif
