/* SPDX-License-Identifier: ISC */
/*
 * stats.h: stats_.  The numbers behind a report.  Pure, and the same to the
 * last bit on every machine, whatever its floating point does in between:
 * the arithmetic is in integers, and the bootstrap draws from a generator
 * with a fixed seed.
 *
 * Values are scores, 0 to 1.  Of other values means and deviations are right
 * too as long as they are not negative; negative ones, infinities and NaN
 * count as 0.  The bootstrap takes what is above 1 as 1.
 */
#ifndef WAZA_STATS_H
#define WAZA_STATS_H

#include <stddef.h>
#include <stdint.h>

enum {
	STATS_BOOTSTRAPS = 10000,
	STATS_BOOTSTRAP_MAX = 1000,	/* values; beyond, see below */
	STATS_MEMO_VALUES = 8,
	STATS_MEMO_SLOTS = 32
};

double stats_mean(const double *x, size_t n);		/* 0 for none */
double stats_std_dev(const double *x, size_t n);	/* of the population */

double stats_square(double x);

/* The mean with weights, all above 0 (others count as 1). */
double stats_weighted(const double *x, const double *w, size_t n);

/*
 * 95 % interval of the mean from STATS_BOOTSTRAPS resamples: elements 250
 * and 9750 of the sorted means.  Fewer than two values, or all the same:
 * both are the mean.  The order of the values does not matter.  More than
 * STATS_BOOTSTRAP_MAX values: the normal approximation, mean -/+ 1.96
 * standard deviations of the mean, cut to 0..1, which is as good there and
 * keeps the cost linear.
 */
void stats_bootstrap(const double *x, size_t n, uint64_t seed, double *lo,
    double *hi);

/*
 * Answers of the bootstrap over few values, for one seed: thousands of tasks
 * with three trials each have few different sets of scores.  The zero value
 * is empty.  The answers are those of stats_bootstrap().
 */
struct stats_memo {
	struct stats_known {
		size_t n;
		double x[STATS_MEMO_VALUES];	/* sorted */
		double lo, hi;
	} slots[STATS_MEMO_SLOTS];
};

void stats_bootstrap_memo(struct stats_memo *, const double *x, size_t n,
    uint64_t seed, double *lo, double *hi);

/*
 * The same two measurements of n things, before and after: the mean of the
 * differences, and its 95 % interval from STATS_BOOTSTRAPS resamples of the
 * pairs, as above.  Fewer than two pairs, or all differences the same: all
 * three are the mean.  Values above 1 count as 1, so that the difference of
 * two is from -1 to 1.  More than STATS_BOOTSTRAP_MAX pairs: the normal
 * approximation.
 */
struct stats_change {
	double mean, lo, hi;
};

void stats_paired(const double *before, const double *after, size_t n,
    uint64_t seed, struct stats_change *);

/*
 * The exact sign test, which on tasks that pass or fail is McNemar's: the
 * chance that of a + b changes, each as likely one way as the other, as many
 * or more go the same way (two-sided).  1 for no changes.  Time is linear in
 * the smaller number; together they are below 2^30.  What is below 1e-307
 * is 0.
 */
double stats_sign_test(size_t a, size_t b);

/* How many must go one way, against b that do not, for it to be below 5 %. */
size_t stats_sign_needed(size_t b);

/* Wilson's score interval of k successes in n trials; 95 %. */
void stats_wilson(size_t k, size_t n, double *lo, double *hi);

/*
 * With c of n trials passed: the chance that at least one of k drawn without
 * replacement passed (pass@k), and that all would in independent tries
 * (pass^k, (c/n)^k).  k is cut down to n.
 */
double stats_pass_at(size_t n, size_t c, size_t k);
double stats_pass_hat(size_t n, size_t c, size_t k);

#endif
