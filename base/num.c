/* SPDX-License-Identifier: ISC */
#include "base/num.h"

#include <string.h>

enum { BITS = NUM_BITS, SMALL = -8192 };	/* smaller exponents become 0 */
#define TOP (UINT64_C(1) << (BITS - 1))

struct num
num_of(uint64_t m, int e)
{
	if (m == 0)
		return (struct num){ 0, 0 };
	for (; m >= 2 * TOP; e++)
		m >>= 1;
	for (; m < TOP >> 15; e -= 16)
		m <<= 16;
	for (; m < TOP; e--)
		m <<= 1;
	return (struct num){ m, e };
}

struct num
num_get(double d)
{
	uint64_t b;
	int e;

	memcpy(&b, &d, sizeof(b));
	e = (int)(b >> 52 & 0x7FF);
	if (b >> 63 != 0 || e == 0 || e == 0x7FF)
		return (struct num){ 0, 0 };
	b = (b & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
	return (struct num){ b << 7, e - 1075 - 7 };
}

double
num_double(struct num a)
{
	uint64_t m = a.m >> 7, rest = a.m & 127;
	int e = a.e + 7 + 1075;
	double d;

	if (a.m == 0 || e <= 0)
		return 0;
	if (rest > 64 || (rest == 64 && (m & 1) != 0))
		m++;
	if (m >> 53 != 0) {
		m >>= 1;
		e++;
	}
	if (e >= 0x7FF)
		return 0;
	m = (m & ((UINT64_C(1) << 52) - 1)) | (uint64_t)e << 52;
	memcpy(&d, &m, sizeof(d));
	return d;
}

int
num_cmp(struct num a, struct num b)
{
	if (a.m == 0 || b.m == 0 || a.e == b.e)
		return a.m < b.m ? -1 : a.m > b.m;
	return a.e < b.e ? -1 : 1;
}

struct num
num_add(struct num a, struct num b)
{
	int by;

	if (num_cmp(a, b) < 0)
		return num_add(b, a);
	if (b.m == 0 || (by = a.e - b.e) >= BITS)
		return a;
	/* round: truncation would bias long sums */
	if (by > 0)
		b.m = (b.m + (UINT64_C(1) << (by - 1))) >> by;
	return num_of(a.m + b.m, a.e);
}

struct num
num_sub(struct num a, struct num b)
{
	int by;

	if (num_cmp(a, b) < 0)
		return num_sub(b, a);
	if (b.m == 0 || (by = a.e - b.e) >= BITS)
		return a;
	/* use the three spare bits above the mantissa, to truncate less */
	if (by >= 3)
		return num_of((a.m << 3) - (b.m >> (by - 3)), a.e - 3);
	return num_of((a.m << by) - b.m, b.e);
}

struct num
num_mul(struct num a, struct num b)
{
	const uint64_t low = (UINT64_C(1) << 30) - 1;
	uint64_t a1 = a.m >> 30, a0 = a.m & low, b1 = b.m >> 30;
	uint64_t b0 = b.m & low, mid = a1 * b0 + a0 * b1 + (a0 * b0 >> 30);

	if (a.m == 0 || b.m == 0 || a.e + b.e < SMALL)
		return (struct num){ 0, 0 };
	/* 119 or 120 bits; keep one more than num_of() may drop */
	return num_of(((a1 * b1) << 1) + (mid >> 29), a.e + b.e + BITS - 1);
}

/* Long division, bit by bit; b is not 0. */
struct num
num_div(struct num a, struct num b)
{
	uint64_t q = 0, r = a.m;
	int i;

	for (i = 0; i <= BITS + 1; i++, r <<= 1) {
		q <<= 1;
		if (r >= b.m) {
			r -= b.m;
			q |= 1;
		}
	}
	return num_of(q, a.e - b.e - (BITS + 1));
}

/* Digit by digit: two bits of the radicand for one of the root. */
struct num
num_sqrt(struct num a)
{
	uint64_t root = 0, rem = 0;
	int at, odd = (a.e & 1) != 0;
	uint64_t m = a.m << odd;	/* below 2^61, with an even exponent */

	/* the radicand is m * 2^BITS: 2 * BITS + 1 bits, from the top */
	for (at = 2 * BITS; at >= 0; at -= 2) {
		rem = rem << 2 | (at >= BITS ? m >> (at - BITS) & 3 : 0);
		root <<= 1;
		if (rem >= 2 * root + 1) {
			rem -= 2 * root + 1;
			root++;
		}
	}
	return num_of(root, (a.e - odd - BITS) / 2);
}

struct num
num_int(size_t n)
{
	return num_of((uint64_t)n & (UINT64_MAX >> 1), 0);
}

struct num
num_power(struct num p, size_t k)
{
	struct num all = num_int(1);

	for (; k > 0; k /= 2, p = num_mul(p, p))
		if (k % 2 != 0)
			all = num_mul(all, p);
	return all;
}
