/* SPDX-License-Identifier: ISC */
/*
 * num.h: num_.  Numbers for statistics that are identical to the last bit
 * on every machine.  Doubles are not: some machines round intermediate results
 * differently, compilers fuse multiplication and addition, and sqrt() is in a
 * library that may not be linked.
 *
 * A struct num has 60 bits of mantissa, seven more than a double.  Operations
 * truncate, which keeps each a few lines long; only sums and the final
 * conversion to double round.  Numbers are not negative.
 *
 * Invariant: 2^59 <= m < 2^60, or m == 0.  The value is m * 2^e.
 */
#ifndef WAZA_NUM_H
#define WAZA_NUM_H

#include <stddef.h>
#include <stdint.h>

enum { NUM_BITS = 60 };

struct num {
	uint64_t m;
	int e;
};

/* Normalizes m * 2^e, for any m below 2^63. */
struct num num_of(uint64_t m, int e);
/* Decodes an IEEE 754 binary64; subnormal and negative numbers become 0. */
struct num num_get(double);
struct num num_int(size_t);
/* Rounds to nearest, ties to even. */
double num_double(struct num);

int num_cmp(struct num, struct num);
struct num num_add(struct num, struct num);
struct num num_sub(struct num, struct num);	/* absolute difference */
struct num num_mul(struct num, struct num);
struct num num_div(struct num, struct num);	/* the second is not 0 */
struct num num_sqrt(struct num);
struct num num_power(struct num, size_t);

#endif
