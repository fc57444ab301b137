/* SPDX-License-Identifier: ISC */
/*
 * A confidence sequence for a pass rate: intervals that all contain the rate,
 * at once for every number of trials, with a probability of 95 %.
 *
 * With q uniform from 0 to 1, the mean over q of the likelihood of k passes in
 * n trials, divided by their likelihood for the true rate p, is a martingale
 * that begins at 1.  It ever reaches 20 with a probability of at most 1/20
 * (Ville's inequality).  The mean is 1 / ((n + 1) C(n, k)), so the interval
 * after n trials consists of the p for which
 *
 *	(n + 1) C(n, k) p^k (1 - p)^(n - k) > 1/20
 *
 * (Robbins 1970).  The left side grows up to p = k / n, where it is at least 1,
 * and falls after it: each end is bisected.
 */
#include "lib/stats.h"

#include <stdbool.h>

#include "base/num.h"

enum { STEPS = 60 };

struct likelihood {
	size_t k, n;
	struct num factor;	/* 20 (n + 1) C(n, k) */
};

static bool
contains(const struct likelihood *l, struct num p)
{
	struct num q = num_sub(num_int(1), p);
	struct num x = num_mul(num_power(p, l->k), num_power(q, l->n - l->k));

	return num_cmp(num_mul(l->factor, x), num_int(1)) > 0;
}

/* The end between a rate outside of the interval and one inside. */
static double
find_end(const struct likelihood *l, struct num outside, struct num inside)
{
	struct num mid;
	int i;

	for (i = 0; i < STEPS; i++) {
		mid = num_add(outside, inside);
		mid.e--;		/* half of it */
		if (contains(l, mid))
			inside = mid;
		else
			outside = mid;
	}
	return num_double(outside);
}

void
stats_sequence(size_t k, size_t n, double *lo, double *hi)
{
	struct likelihood l = { .k = k < n ? k : n, .n = n };
	struct num rate, above, below;
	size_t i, few;

	*lo = 0;
	*hi = 1;
	if (n == 0)
		return;
	few = l.k < n - l.k ? l.k : n - l.k;
	above = num_int(20);
	below = num_int(1);
	for (i = 0; i < few; i++) {
		above = num_mul(above, num_int(n - i));
		below = num_mul(below, num_int(i + 1));
	}
	l.factor = num_div(num_mul(above, num_int(n + 1)), below);
	rate = num_div(num_int(l.k), num_int(n));
	if (l.k > 0)
		*lo = find_end(&l, num_int(0), rate);
	if (l.k < n)
		*hi = find_end(&l, num_int(1), rate);
}
