/* SPDX-License-Identifier: ISC */
/*
 * What stats.c promises.  The values are compared to the last bit: they were
 * the same with gcc for 64 and 32 bits (x87), clang, tcc and musl.
 */
#include "stats.h"

#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "tap.h"

/* The shortest spelling that reads back as the double, as %.17g has it. */
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

/* Scores that look like chance, and are the same everywhere. */
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

/* Close together, far from 0: what a single pass gets wrong. */
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
	/* one more value, another method, much the same interval */
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

int
main(void)
{
	means();
	stable();
	bootstrap();
	memo();
	rates();
	return tap_done();
}
