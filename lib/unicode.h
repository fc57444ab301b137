/* SPDX-License-Identifier: ISC */
/*
 * unicode.h: unicode_.  Properties of code points in Unicode 15.0: general
 * categories, scripts, simple case mappings and simple case folding.
 *
 * Every function accepts any uint32_t; a value above U+10FFFF is unassigned
 * and has no case.  Nothing is allocated except by unicode_put_lower().
 */
#ifndef WAZA_UNICODE_H
#define WAZA_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

/* The two letters of the general category, such as "Lu"; "Cn": unassigned. */
const char *unicode_category(uint32_t);

/*
 * True if the category or a case mapping of the code point differs between
 * the Unicode versions 13.0 to 15.1, which Python 3.9 to 3.13 implement.
 */
bool unicode_changed(uint32_t);

/* A callback that receives the ranges of a set of code points. */
typedef void unicode_add(void *ctx, uint32_t lo, uint32_t hi);

/*
 * The number of a class of code points: a category ("Lu"), all categories
 * with a first letter ("L"), or a script ("Greek"); 0 if the name is unknown.
 */
uint32_t unicode_class(struct str name);

/* Reports the ranges of such a class in ascending order. */
void unicode_each(uint32_t class, unicode_add *, void *ctx);

/* Simple mappings: one code point, regardless of language and context. */
uint32_t unicode_lower(uint32_t);
uint32_t unicode_upper(uint32_t);

/*
 * Case folding joins code points into orbits of at most four: k, K and the
 * Kelvin sign match each other.  unicode_fold_next() returns the next member
 * in a cycle through the orbit, ascending and then the smallest again, and
 * unicode_fold_min() the smallest; the code point itself if it is alone.
 */
uint32_t unicode_fold_next(uint32_t);
uint32_t unicode_fold_min(uint32_t);

/*
 * Reports ranges that contain, for every code point from lo to hi, the other
 * members of its orbit, and nothing outside of these orbits.
 */
void unicode_fold_range(uint32_t lo, uint32_t hi, unicode_add *, void *ctx);

/*
 * Copies [p, p + n) to out with ASCII letters in lower (or upper) case, up to
 * the first byte that is not ASCII; returns the number of bytes copied.
 */
size_t unicode_ascii_case(char *out, const char *p, size_t n, bool upper);

/*
 * Appends the text in lower case, letter by letter; a byte that is not part
 * of valid UTF-8 becomes U+FFFD.  The result can be longer or shorter than
 * the text.
 */
void unicode_put_lower(struct buf *, struct str);

#endif
