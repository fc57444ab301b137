/* SPDX-License-Identifier: ISC */
/*
 * Rules that end trials early.
 *
 * The interval takes time linear in the number of trials, and a rule can look
 * after each of them.  Wilson's interval is narrower and takes constant time:
 * while it is too wide, the other one need not be computed.
 */
#include "run/stop.h"

#include "lib/stats.h"

#define EPSILON 1e-9		/* as in results/result.c */

/*
 * Skipped ones are left out of the share.  If others are skipped later, that
 * does not change a verdict that holds for all their other outcomes: without
 * one of them both sides fall, by at most 1.
 */
enum stop_verdict
stop_verdict(const struct stop_counts *c, double threshold)
{
	double need = threshold * (double)(c->planned - c->skipped) - EPSILON;
	size_t left = c->planned - c->known;

	if (c->known == c->skipped)
		return STOP_OPEN;
	if ((double)c->passed >= need)
		return STOP_PASSES;
	return (double)(c->passed + left) < need ? STOP_FAILS : STOP_OPEN;
}

static bool
is_narrow(const struct stop_counts *c, double width)
{
	size_t n = c->known - c->skipped;
	double lo, hi;

	stats_wilson(c->passed, n, &lo, &hi);
	if (hi - lo > 2 * width)
		return false;
	stats_sequence(c->passed, n, &lo, &hi);
	return hi - lo <= 2 * width + EPSILON;
}

bool
stop_task(const struct stop_rule *r, const struct stop_counts *c,
    double threshold)
{
	if (r->kind == STOP_NEVER || c->known == c->skipped)
		return false;
	return r->kind == STOP_CI ? is_narrow(c, r->width) :
	    stop_verdict(c, threshold) != STOP_OPEN;
}
