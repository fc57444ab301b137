/* SPDX-License-Identifier: ISC */
/*
 * Unit tests of stats.c.  Values are compared to the last bit: gcc for 64 and
 * 32 bits (x87), clang, tcc and musl all produce them.
 */
#include "lib/stats.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "test/tool/tap.h"

/* The shortest %.*g that reads back as the double. */
static bool
is(double got, const char *want)
{
	double d = strtod(want, NULL);

	if (memcmp(&d, &got, sizeof(d)) == 0)
		return true;
	printf("# got %.17g, want %s\n", got, want);
	return false;
}

static bool
near(double a, double b)
{
	return a - b < 1e-9 && b - a < 1e-9;
}

/* Pseudo-random scores, the same everywhere. */
static void
fill(double *x, size_t n)
{
	uint32_t s = 12345;
	size_t i;

	for (i = 0; i < n; i++) {
		s = s * UINT32_C(1664525) + UINT32_C(1013904223);
		x[i] = (double)(s >> 8) / 16777216;
	}
}

static void
means(void)
{
	const double v[] = { 1, 0, 1 }, w[] = { 3, 0.5, 1 };
	const double u[] = { 0.1, 0.2, 0.3 }, same[] = { 0.1, 0.1, 0.1 };
	const double bad[] = { -1, 1, 0.5 }, no[] = { 0, 1, 1 };
	double x[1000];

	OK(stats_mean(v, 0) == 0 && stats_std_dev(v, 0) == 0);
	OK(is(stats_mean(u, 1), "0.1") && stats_std_dev(u, 1) == 0);
	OK(is(stats_mean(v, 3), "0.66666666666666663"));
	OK(is(stats_weighted(v, w, 3), "0.88888888888888884"));
	OK(is(stats_weighted(v, v + 1, 0), "0"));
	OK(is(stats_std_dev(v, 3), "0.47140452079103168"));
	OK(is(stats_mean(same, 3), "0.1") && stats_std_dev(same, 3) == 0);
	OK(is(stats_mean(u, 3), "0.2"));
	OK(is(stats_std_dev(u, 3), "0.081649658092772595"));
	OK(is(stats_mean(bad, 3), "0.5"));
	OK(is(stats_weighted(v, no, 3), "0.66666666666666663"));
	OK(is(stats_weighted(u, same, 3), "0.2"));
	fill(x, 1000);
	OK(near(stats_mean(x, 1000), 0.5072594857));
	OK(is(stats_mean(x, 1000), "0.50725948566198353"));
	OK(is(stats_std_dev(x, 1000), "0.28589863921460473"));
	OK(is(stats_weighted(x, x + 500, 500), "0.50419934673280764"));
}

/* Close together and far from 0: a single pass would lose precision. */
static void
stable(void)
{
	const double x[] = { 1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16 };

	OK(is(stats_mean(x, 4), "1000000010"));
	OK(near(stats_std_dev(x, 4), 4.743416490252569));
}

static void
bootstrap(void)
{
	const double v[] = { 1, 0, 1 }, r[] = { 0, 1, 1 };
	const double u[] = { 0.1, 0.25, 0.5, 0.9, 1 }, over[] = { 7, 0, 1 };
	double x[1500], lo, hi, lo2, hi2;

	stats_bootstrap(v, 0, 1, &lo, &hi);
	OK(lo == 0 && hi == 0);
	stats_bootstrap(u, 1, 1, &lo, &hi);
	OK(is(lo, "0.1") && is(hi, "0.1"));
	stats_bootstrap(v, 3, 1, &lo, &hi);
	OK(lo == 0 && hi == 1);
	stats_bootstrap(r, 3, 1, &lo2, &hi2);
	OK(lo == lo2 && hi == hi2);
	stats_bootstrap(over, 3, 1, &lo2, &hi2);
	OK(lo == lo2 && hi == hi2);
	stats_bootstrap(u, 5, 1, &lo, &hi);
	OK(is(lo, "0.23999999999999999") && is(hi, "0.85999999999999999"));
	fill(x, 1500);
	stats_bootstrap(x, 50, 1, &lo, &hi);
	OK(is(lo, "0.43693339467048647") && is(hi, "0.60220817804336546"));
	stats_bootstrap(x, 50, 2, &lo2, &hi2);
	OK(lo2 != lo && lo2 - lo < 0.02 && lo - lo2 < 0.02);
	stats_bootstrap(x, 1000, 1, &lo, &hi);
	OK(is(lo, "0.48934113460779188") && is(hi, "0.52472378093004224"));
	/* one more value switches the method, but hardly the interval */
	stats_bootstrap(x, 1001, 1, &lo2, &hi2);
	OK(is(lo2, "0.48947956790659014") && is(hi2, "0.52488580409857144"));
	OK(lo2 - lo < 0.003 && lo - lo2 < 0.003 && hi2 - hi < 0.003);
}

static void
memo(void)
{
	static struct stats_memo m;
	double x[400], lo, hi, lo2, hi2;
	size_t i, n, bad = 0;

	fill(x, COUNTOF(x));
	for (i = 0; i < COUNTOF(x); i++)
		x[i] = x[i] < 0.5 ? 0 : x[i] < 0.8 ? 0.5 : 1;
	for (n = 1; n <= STATS_MEMO_VALUES + 1; n++)
		for (i = 0; i + n <= 60; i++) {
			stats_bootstrap(x + i, n, 7, &lo, &hi);
			stats_bootstrap_memo(&m, x + i, n, 7, &lo2, &hi2);
			bad += lo != lo2 || hi != hi2;
		}
	OK(bad == 0);
}

static void
rates(void)
{
	double lo, hi;

	stats_wilson(0, 0, &lo, &hi);
	OK(lo == 0 && hi == 0);
	stats_wilson(8, 10, &lo, &hi);
	OK(is(lo, "0.49016247153664172") && is(hi, "0.94331784854562473"));
	stats_wilson(0, 1, &lo, &hi);
	OK(lo == 0 && is(hi, "0.79345068562276255"));
	stats_wilson(3, 3, &lo, &hi);
	OK(is(lo, "0.43850296824495449") && hi == 1);
	stats_wilson(5, 3, &lo, &hi);
	OK(is(lo, "0.43850296824495449") && hi == 1);
	stats_wilson(1000000000, 2000000000, &lo, &hi);
	OK(near(lo, 0.499978087) && near(hi, 0.500021913));
	OK(stats_pass_at(0, 0, 1) == 0 && stats_pass_at(3, 0, 3) == 0);
	OK(stats_pass_at(3, 1, 3) == 1 && stats_pass_at(3, 3, 1) == 1);
	OK(is(stats_pass_at(10, 3, 2), "0.53333333333333333"));
	OK(is(stats_pass_at(3, 2, 1), "0.66666666666666663"));
	OK(stats_pass_at(3, 2, 9) == 1);
	OK(stats_pass_hat(0, 0, 1) == 0 && stats_pass_hat(5, 5, 5) == 1);
	OK(is(stats_pass_hat(10, 3, 2), "0.089999999999999997"));
	OK(is(stats_pass_hat(3, 2, 3), "0.29629629629629628"));
	OK(stats_pass_hat(3, 2, 9) == stats_pass_hat(3, 2, 3));
	OK(stats_pass_hat(2000000000, 1, 2000000000) == 0);
}

/* Paired comparison. */
static void
paired(void)
{
	const double a[] = { 0, 0.5, 1, 0.2, 1, 0.9 };
	const double b[] = { 1, 0.75, 1, 0.1, 0, 1 };
	const double up[] = { 0.25, 0.75, 1 }, down[] = { 0, 0.5, 0.75 };
	const double over[] = { 7, -3, 1 }, cut[] = { 1, 0, 1 };
	double x[2000], none[2000] = { 0 }, lo, hi;
	struct stats_change c, d;

	stats_paired(a, b, 0, 1, &c);
	OK(c.mean == 0 && c.lo == 0 && c.hi == 0);
	stats_paired(a, b, 1, 1, &c);
	OK(c.mean == 1 && c.lo == 1 && c.hi == 1);
	stats_paired(down, up, 3, 1, &c);
	OK(c.mean == 0.25 && c.lo == 0.25 && c.hi == 0.25);
	stats_paired(a, a, 6, 1, &c);
	OK(c.mean == 0 && c.lo == 0 && c.hi == 0);
	stats_paired(a, b, 6, 1, &c);
	OK(is(c.mean, "0.041666666666666664"));
	OK(is(c.lo, "-0.45833333333333331") && is(c.hi, "0.5083333333333333"));
	stats_paired(b, a, 6, 1, &d);
	OK(d.mean == -c.mean && d.lo < 0 && d.hi > 0);
	stats_paired(cut, down, 3, 1, &c);
	stats_paired(over, down, 3, 1, &d);
	OK(c.mean == d.mean && c.lo == d.lo && c.hi == d.hi);
	/* compared with zeros, it is the bootstrap of one sample */
	fill(x, 2000);
	stats_bootstrap(x, 50, 1, &lo, &hi);
	stats_paired(none, x, 50, 1, &c);
	OK(near(c.lo, lo) && near(c.hi, hi));
	OK(near(c.mean, stats_mean(x, 50)));
	stats_bootstrap(x, 1500, 1, &lo, &hi);
	stats_paired(none, x, 1500, 1, &c);
	OK(near(c.lo, lo) && near(c.hi, hi));
	OK(near(c.mean, stats_mean(x, 1500)));
	stats_paired(x, none, 1500, 1, &d);
	OK(d.mean == -c.mean && d.lo == -c.hi && d.hi == -c.lo);
	stats_paired(x, x + 500, 1500, 1, &c);
	OK(is(c.mean, "-0.00464699113368988"));
	OK(is(c.lo, "-0.02517688811521962") && is(c.hi, "0.015882905847839857"));
	stats_paired(x, x + 500, 900, 1, &c);
	OK(is(c.lo, "-0.046142463485399882") && is(c.hi, "0.0077093072070015803"));
	stats_paired(none, none, 2000, 1, &c);
	OK(c.mean == 0 && c.lo == 0 && c.hi == 0);
}

/* Checked against fractions: twice the tail of the binomial, at most 1. */
static void
signs(void)
{
	double p;

	OK(stats_sign_test(0, 0) == 1 && stats_sign_test(7, 7) == 1);
	OK(stats_sign_test(1, 0) == 1 && stats_sign_test(0, 1) == 1);
	OK(stats_sign_test(5, 0) == 0.0625 && stats_sign_test(0, 6) == 0.03125);
	OK(stats_sign_test(8, 1) == 0.0390625);
	OK(stats_sign_test(10, 2) == 0.03857421875);
	OK(stats_sign_test(4, 3) == 1 && stats_sign_test(2, 1) == 1);
	OK(near(stats_sign_test(25, 10), 0.01667384780012071));
	OK(near(stats_sign_test(10, 25), 0.01667384780012071));
	p = stats_sign_test(50000, 49000);
	OK(p > 0.00149 && p < 0.0015);
	OK(near(p, 0.0014980826229749737));
	p = stats_sign_test(0, 1000);
	OK(p > 1.8e-301 && p < 1.9e-301);
	OK(stats_sign_test(100000, 0) == 0);
	OK(stats_sign_needed(0) == 6 && stats_sign_needed(1) == 8);
	OK(stats_sign_needed(2) == 10 && stats_sign_needed(10) == 23);
}

static bool
near4(double d, double want)
{
	return d > want - 6e-5 && d < want + 6e-5;
}

/* The first interval is in table III of Newcombe's paper. */
static void
paired_rates(void)
{
	double lo, hi;

	stats_paired_rates(0, 0, 0, 0, &lo, &hi);
	OK(lo == 0 && hi == 0);
	stats_paired_rates(36, 12, 2, 0, &lo, &hi);
	OK(near4(-hi, 0.0569) && near4(-lo, 0.3404));
	stats_paired_rates(53, 0, 1, 0, &lo, &hi);
	OK(near4(lo, -0.0496) && near4(hi, 0.0977));
	stats_paired_rates(10, 0, 0, 0, &lo, &hi);
	OK(near4(lo, -0.2775) && near4(hi, 0.2775));
	stats_paired_rates(0, 30, 0, 0, &lo, &hi);
	OK(near4(lo, -1) && near4(hi, -0.8395));
	stats_paired_rates(5, 0, 0, 5, &lo, &hi);
	OK(near4(lo, -0.1666) && near4(hi, 0.1666));
	OK(stats_pairs_needed(3, 3, 10) == 0 && stats_pairs_needed(0, 0, 9) == 0);
	OK(near4(stats_pairs_needed(4, 0, 10), 17.0548));
	OK(stats_pairs_needed(4, 0, 10) == stats_pairs_needed(0, 4, 10));
	OK(stats_unseen(0) == 1 && near4(stats_unseen(1), 0.95));
	OK(near4(stats_unseen(10), 0.2589) && near4(stats_unseen(100000), 0));
}

int
main(void)
{
	RUN(means, stable, bootstrap, memo, rates, paired, signs, paired_rates);
	return tap_done();
}
