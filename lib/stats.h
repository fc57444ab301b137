/* SPDX-License-Identifier: ISC */
/*
 * stats.h: stats_.  The statistics of a report.  Results are identical to the
 * last bit on every machine: arithmetic uses integers, and the bootstrap a
 * generator with a given seed.
 *
 * Values are scores from 0 to 1.  Means and deviations also accept larger
 * values; negative values, infinities and NaN count as 0.  The bootstrap
 * treats values above 1 as 1.
 */
#ifndef WAZA_STATS_H
#define WAZA_STATS_H

#include <stddef.h>
#include <stdint.h>

enum {
	STATS_BOOTSTRAPS = 10000,	/* resamples */
	STATS_BOOTSTRAP_MAX = 1000,	/* values; see stats_bootstrap() */
	STATS_MEMO_VALUES = 8,
	STATS_MEMO_SLOTS = 32
};

double stats_mean(const double *x, size_t n);		/* 0 for none */
double stats_std_dev(const double *x, size_t n);	/* of the population */

double stats_square(double x);		/* x * x, rounded once */

/* The weighted mean; weights that are not above 0 count as 1. */
double stats_weighted(const double *x, const double *w, size_t n);

/*
 * The 95 % confidence interval of the mean from STATS_BOOTSTRAPS resamples:
 * elements 250 and 9750 of the sorted means.  With fewer than two values, or
 * equal values, both ends are the mean.  The order of the values does not
 * matter.  With more than STATS_BOOTSTRAP_MAX values the normal approximation
 * is used, which is as good and keeps the cost linear: the mean -/+ 1.96
 * standard errors, clipped to 0..1.
 */
void stats_bootstrap(const double *x, size_t n, uint64_t seed, double *lo,
    double *hi);

/*
 * A cache of stats_bootstrap() for few values and one seed: thousands of tasks
 * with three trials each have few distinct sets of scores.  The zero value is
 * empty.
 */
struct stats_memo {
	struct stats_known {
		size_t n;
		double x[STATS_MEMO_VALUES];	/* sorted */
		double lo, hi;
	} slots[STATS_MEMO_SLOTS];
};

/* stats_bootstrap() through a cache; all calls must have the same seed. */
void stats_bootstrap_memo(struct stats_memo *, const double *x, size_t n,
    uint64_t seed, double *lo, double *hi);

struct stats_change {
	double mean, lo, hi;	/* of the difference; 95 % interval */
};

/*
 * Paired comparison of n values before and after: the mean difference and its
 * 95 % confidence interval from STATS_BOOTSTRAPS resamples of the pairs, with
 * the special cases of stats_bootstrap().  Values above 1 count as 1, so
 * differences are from -1 to 1.
 */
void stats_paired(const double *before, const double *after, size_t n,
    uint64_t seed, struct stats_change *);

/*
 * The two-sided p value of the exact sign test (for tasks that pass or fail,
 * McNemar's exact test) with a changes in one direction and b in the other;
 * 1 if a equals b.  Time is linear in the smaller number; a + b must be below
 * 2^30.  Values below 1e-307 are returned as 0.
 */
double stats_sign_test(size_t a, size_t b);

/* The least a for which stats_sign_test(a, b) is below 0.05. */
size_t stats_sign_needed(size_t b);

/*
 * Corrects n p values for many comparisons (Holm 1979): the chance that any
 * true hypothesis has a corrected value below 0.05 is at most 5 %.  Time is
 * quadratic in n.
 */
void stats_holm(const double *p, size_t n, double *out);

/*
 * The 95 % interval of the difference of two pass rates of the same tasks
 * (Newcombe 1998, method 10).  Tasks: passed in both, only before, only after,
 * in neither; their sum must be below 2^30.
 */
void stats_paired_rates(size_t both, size_t lost, size_t gained,
    size_t neither, double *lo, double *hi);

/*
 * About how many tasks the sign test needs to find a difference as large as
 * that of a against b changes among n tasks: in four of five comparisons p is
 * then below 0.05.  0: it cannot be estimated, because a equals b.
 */
double stats_pairs_needed(size_t a, size_t b, size_t n);

/*
 * If none of n tasks changed: the share of tasks that could change without
 * being noticed (the chance to see no change at all is 5 %).
 */
double stats_unseen(size_t n);

/* Wilson's 95 % score interval of k successes in n trials. */
void stats_wilson(size_t k, size_t n, double *lo, double *hi);

/*
 * The interval of k successes in n trials in a 95 % confidence sequence: the
 * probability that the rate is ever outside, for any n, is at most 5 %.  It
 * stays valid if the number of trials depends on their outcomes.  Time is
 * linear in the smaller of k and n - k.
 */
void stats_sequence(size_t k, size_t n, double *lo, double *hi);

/*
 * If c of n trials passed: the probability that at least one of k trials drawn
 * without replacement passed (pass@k), and that k independent trials all pass
 * (pass^k, (c/n)^k).  k is limited to n.
 */
double stats_pass_at(size_t n, size_t c, size_t k);
double stats_pass_hat(size_t n, size_t c, size_t k);

#endif
