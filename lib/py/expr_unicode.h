/* SPDX-License-Identifier: ISC */
/*
 * expr_unicode.h: expr_case_ expr_uni_.  Internal: what Python knows about
 * code points, as constant tables, where its versions 3.9 to 3.13 agree.
 */
#ifndef WAZA_EXPR_UNICODE_H
#define WAZA_EXPR_UNICODE_H

#include <stddef.h>
#include <stdint.h>

/*
 * A code point from lo to hi, every stride-th, becomes itself + step.  Rows
 * are sorted.  title has only what differs from upper, fold what differs
 * from lower.
 */
#define EXPR_CASE_UNSURE INT32_MAX
struct expr_case_row {
	uint32_t lo, hi;
	int32_t step;
	uint32_t stride;
};
extern const struct expr_case_row expr_case_lower[], expr_case_upper[];
extern const struct expr_case_row expr_case_title[], expr_case_fold[];
extern const size_t expr_case_nlower, expr_case_nupper;
extern const size_t expr_case_ntitle, expr_case_nfold;

/* What becomes several code points: sorted by mapping, then code point. */
struct expr_case_long {
	uint32_t map;		/* 0 lower, 1 upper, 2 title, 3 fold */
	uint32_t cp;
	const char *to;		/* UTF-8 */
};
extern const struct expr_case_long expr_case_longs[];
extern const size_t expr_case_nlongs;

enum {
	EXPR_UNI_ALPHA   = 1 << 0,
	EXPR_UNI_DECIMAL = 1 << 1,
	EXPR_UNI_DIGIT   = 1 << 2,
	EXPR_UNI_NUMERIC = 1 << 3,
	EXPR_UNI_LOWER   = 1 << 4,
	EXPR_UNI_UPPER   = 1 << 5,
	EXPR_UNI_TITLE   = 1 << 6,
	EXPR_UNI_PRINT   = 1 << 7,
	EXPR_UNI_CASED   = 1 << 8,
	EXPR_UNI_IGNORED = 1 << 9,	/* when looking for a cased neighbour */
	EXPR_UNI_UNSURE  = 1 << 10	/* nothing is known */
};
#define EXPR_UNI_WORD (EXPR_UNI_ALPHA | EXPR_UNI_DECIMAL | EXPR_UNI_DIGIT | \
	EXPR_UNI_NUMERIC)

/*
 * All code points in order: a run is a byte, the number of its kind, and its
 * length in groups of 7 bits, the lowest first, all but the last with the
 * top bit set.  Within a run the two masks of the kind take turns.
 */
struct expr_uni_kind {
	uint16_t mask[2];
};
extern const struct expr_uni_kind expr_uni_kinds[];
extern const size_t expr_uni_nruns;
extern const uint8_t expr_uni_runs[];

#endif
