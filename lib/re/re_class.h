/* SPDX-License-Identifier: ISC */
/*
 * re_class.h: re_set_ re_names_ re_fold_.  Sets of code points while a pattern
 * is being read, and simple case folding.
 */
#ifndef WAZA_RE_CLASS_H
#define WAZA_RE_CLASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

#define RE_RUNE_MAX 0x10FFFFu
#define RE_RUNE_BAD 0xFFFDu	/* what a malformed byte counts as */

struct re_range {
	uint32_t lo, hi;
};

/*
 * Classes with a name, as they were made for the first time.  The zero value
 * is valid; re_names_free ends it.  Adding one twice to a set does nothing,
 * so whoever ends a set says re_names_next.
 */
struct re_names {
	struct arena arena;
	struct re_named *first;
	unsigned set;		/* the number of the set being made */
};

/*
 * The zero value but for .arena and .names is the empty set; .names may be
 * NULL where none are added.  Clean: sorted, merged.
 */
struct re_set {
	struct arena *arena;
	struct re_names *names;
	struct re_range *v;
	size_t n, cap;
	size_t cleaned;		/* n when it was last clean */
};

void re_names_next(struct re_names *);
void re_names_free(struct re_names *);

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
