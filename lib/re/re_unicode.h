/* SPDX-License-Identifier: ISC */
/*
 * re_unicode.h: re_uni_.  What re_class.c needs of Unicode: general
 * categories, scripts and simple case folding, as constant tables.
 *
 * Both run tables cover U+0000 to U+10FFFF in order, each run being the
 * number of a name, counted from 1 (0: none), and a length.  A category run
 * is one byte, the number in the low 5 bits and the length in the high 3;
 * where that is 0, and always for scripts, the length follows in groups of 7
 * bits, the lowest first, all but the last with the top bit set.
 */
#ifndef WAZA_RE_UNICODE_H
#define WAZA_RE_UNICODE_H

#include <stddef.h>
#include <stdint.h>

extern const char re_uni_cat_names[];		/* "Cc Zs ... " */
extern const char re_uni_script_names[];
extern const uint8_t re_uni_cats[];
extern const size_t re_uni_cats_size;
extern const uint8_t re_uni_scripts[];
extern const size_t re_uni_scripts_size;

/*
 * For lo <= r <= hi the next in the orbit of r is r + step; where step is 0,
 * neighbours make pairs beginning at lo.  Sorted; a rune in no row folds to
 * itself only.
 */
struct re_uni_fold {
	uint32_t lo, hi;
	int32_t step;
};
extern const struct re_uni_fold re_uni_folds[];
extern const size_t re_uni_nfolds;

#endif
