/* SPDX-License-Identifier: ISC */
/*
 * Rules that end trials early: exact values of the interval, and simulations
 * with a known truth.  The interval must contain the pass rate in 95 % of the
 * runs although the rule looks after every trial; compare and gate must not
 * find a difference in more than 5 % of pairs that have none.  How often they
 * find a real one is printed.
 */
#include "run/stop.h"

#include <string.h>

#include "base/base.h"
#include "lib/stats.h"
#include "report/compare.h"
#include "results/outcome.h"
#include "test/tool/tap.h"

enum { MOST = 120, RUNS = 10000, TASKS = 24, PLANNED = 5 };

static uint64_t state = 1;

/* From 0 to below 1: splitmix64. */
static double
chance(void)
{
	uint64_t z = state += UINT64_C(0x9E3779B97F4A7C15);

	z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
	return (double)((z ^ z >> 31) >> 11) / 9007199254740992.0;
}

static bool
is_near(double a, double b)
{
	return a - b < 1e-12 && b - a < 1e-12;
}

/* Values from a calculation with 40 digits. */
static void
exact(void)
{
	static const struct {
		size_t k, n;
		double lo, hi;
	} rows[] = {
		{ 0, 0, 0, 1 }, { 1, 1, 0.025, 1 }, { 0, 1, 0, 0.975 },
		{ 1, 2, 0.008403959874912, 0.991596040125088 },
		{ 5, 5, 0.383851949637378, 1 },
		{ 3, 5, 0.101028096984697, 0.969772328395882 },
		{ 0, 10, 0, 0.416880275656536 },
		{ 13, 20, 0.327165631421244, 0.896517303625469 },
		{ 69, 69, 0.900334602159291, 1 },
		{ 50, 100, 0.344590269277879, 0.655409730722121 },
		{ 500, 1000, 0.444385329742516, 0.555614670257484 },
		{ 997, 1000, 0.983581694506811, 0.999931468768303 },
		{ 1234, 5000, 0.224197545841892, 0.270370734822813 },
	};
	double lo, hi, l, h;
	size_t i, k, wider = 0;

	for (i = 0; i < COUNTOF(rows); i++) {
		stats_sequence(rows[i].k, rows[i].n, &lo, &hi);
		OK(is_near(lo, rows[i].lo) && is_near(hi, rows[i].hi));
	}
	/* stop.c relies on it */
	for (i = 1; i <= 60; i++)
		for (k = 0; k <= i; k++) {
			stats_sequence(k, i, &lo, &hi);
			stats_wilson(k, i, &l, &h);
			wider += hi - lo >= h - l;
		}
	OK(wider == 60 * 61 / 2 + 60);
}

static bool
decides(size_t planned, size_t known, size_t passed, size_t skipped,
    double threshold, enum stop_verdict want)
{
	struct stop_counts c = { planned, known, passed, skipped };
	struct stop_rule r = { STOP_DECIDED, 0 }, never = { STOP_NEVER, 0 };

	return stop_verdict(&c, threshold) == want &&
	    stop_task(&r, &c, threshold) == (want != STOP_OPEN) &&
	    !stop_task(&never, &c, threshold);
}

static void
verdicts(void)
{
	struct stop_counts c = { 200, 68, 68, 0 };
	struct stop_rule r = { STOP_CI, 0.05 };

	OK(decides(5, 1, 0, 0, 1, STOP_FAILS));
	OK(decides(5, 4, 4, 0, 1, STOP_OPEN));
	OK(decides(5, 3, 3, 0, 0.6, STOP_PASSES));
	OK(decides(5, 3, 2, 0, 0.6, STOP_OPEN));
	OK(decides(5, 3, 0, 0, 0.6, STOP_FAILS));
	OK(decides(5, 0, 0, 0, 0, STOP_OPEN));	/* nothing was graded */
	OK(decides(5, 1, 0, 0, 0, STOP_PASSES));
	OK(decides(5, 2, 0, 2, 1, STOP_OPEN));
	OK(decides(5, 4, 2, 2, 0.6, STOP_PASSES));
	OK(decides(10, 8, 8, 0, 0.8, STOP_PASSES));	/* rounding */
	OK(!stop_task(&r, &c, 1));
	c.known = c.passed = 69;
	OK(stop_task(&r, &c, 1));
	c.known++;
	c.skipped++;
	OK(stop_task(&r, &c, 1));
	c = (struct stop_counts){ 200, 3, 0, 3 };
	OK(!stop_task(&r, &c, 1));
}

/*
 * The interval after each number of passes and trials; whether the rule stops.
 */
static struct {
	double lo, hi;
	bool stop;
} table[MOST + 1][MOST + 1];

static void
fill_table(double width)
{
	struct stop_rule r = { STOP_CI, width };
	struct stop_counts c = { .planned = MOST };

	for (c.known = 0; c.known <= MOST; c.known++)
		for (c.passed = 0; c.passed <= c.known; c.passed++) {
			stats_sequence(c.passed, c.known,
			    &table[c.known][c.passed].lo,
			    &table[c.known][c.passed].hi);
			table[c.known][c.passed].stop = stop_task(&r, &c, 1);
		}
}

static bool
covers(double p, size_t n, size_t k)
{
	return table[n][k].lo <= p && p <= table[n][k].hi;
}

static void
coverage(void)
{
	static const double rates[] = { 0.01, 0.05, 0.2, 0.35, 0.5, 0.65, 0.8,
		0.9, 0.95, 0.99 };
	size_t i, run, n, k, end, always, trials;

	fill_table(0.1);
	for (i = 0; i < COUNTOF(rates); i++) {
		end = always = trials = 0;
		for (run = 0; run < RUNS; run++) {
			bool all = true, done = false;

			for (n = k = 0; n < MOST; ) {
				k += chance() < rates[i];
				n++;
				all = all && covers(rates[i], n, k);
				if (done || !(table[n][k].stop || n == MOST))
					continue;
				done = true;
				trials += n;
				end += covers(rates[i], n, k);
			}
			always += all;
		}
		printf("# rate %.2f: the interval contains it in %.2f%% of %d "
		    "runs, always in %.2f%%; %.1f trials\n", rates[i],
		    100.0 * (double)end / RUNS, RUNS, 100.0 *
		    (double)always / RUNS, (double)trials / RUNS);
		OK(end >= RUNS * 95 / 100 && always >= RUNS * 95 / 100);
	}
}

/*
 * Two runs of a suite.
 */
struct plan {
	struct stop_rule rule;
	size_t planned;
	double threshold, suite;	/* thresholds; suite 0: all tasks run */
};

struct results {
	struct outcome o;
	struct outcome_task t[TASKS];
	struct outcome_task *by_id[TASKS];
	struct outcome_trial trials[TASKS][MOST];
	char id[TASKS][8], stop[16];
};

static struct results was, is;
static double rate[TASKS];	/* of the tasks */
static size_t wrong;		/* verdicts that all trials would change */

static void
run_task(struct results *r, const struct plan *p, size_t i, double shift)
{
	struct stop_counts c = { .planned = p->planned };
	struct outcome_task *t = &r->t[i];
	size_t n = 0, all = 0, passed = 0;
	bool pass;

	*t = (struct outcome_task){ .trials = r->trials[i],
		.id = str_of(r->id[i]), .finished = true };
	t->name = t->id;
	for (; n < p->planned; n++) {
		pass = chance() < rate[i] + shift;
		all += pass;
		if (c.known < n)
			continue;	/* it was stopped */
		passed += pass;
		c.passed = passed;
		c.known = t->ntrials = n + 1;
		t->trials[n] = (struct outcome_trial){ .score = pass,
			.status = pass ? RESULT_PASSED : RESULT_FAILED };
		if (p->rule.kind == STOP_CI ? table[c.known][c.passed].stop :
		    stop_task(&p->rule, &c, p->threshold))
			c.known--;	/* skip the others */
	}
	t->score = t->weighted = t->pass_rate = (double)passed /
	    (double)t->ntrials;
	pass = (double)passed >= p->threshold * (double)t->ntrials - 1e-9;
	t->status = pass ? RESULT_PASSED : RESULT_FAILED;
	wrong += p->rule.kind == STOP_DECIDED && pass != ((double)all >=
	    p->threshold * (double)p->planned - 1e-9);
}

static void
run_suite(struct results *r, const struct plan *p, double shift)
{
	struct stop_counts c = { .planned = TASKS };
	size_t i;

	snprintf(r->stop, sizeof(r->stop), p->rule.kind == STOP_CI ?
	    "ci=%g" : "decided", p->rule.width);
	r->o = (struct outcome){ .path = "r.json", .tasks = r->t,
		.by_id = r->by_id, .trials = p->planned,
		.stop = p->rule.kind == STOP_NEVER ? NULL : r->stop };
	for (i = 0; i < TASKS; i++) {
		snprintf(r->id[i], sizeof(r->id[i]), "t%02zu", i);
		r->by_id[i] = &r->t[i];
		run_task(r, p, i, shift);
		if (p->suite > 0 && c.known > 0 && stop_verdict(&c,
		    p->suite) != STOP_OPEN) {
			r->t[i].status = RESULT_SKIPPED;
			r->t[i].ntrials = 0;
			continue;
		}
		c.known++;
		c.passed += r->t[i].status == RESULT_PASSED;
	}
	r->o.ntasks = TASKS;
}

struct found {
	size_t compare, gate, untested;
};

/* How often a difference is found; of the gate, only that it got worse. */
static struct found
simulate(const struct plan *a, const struct plan *b, double shift, size_t n)
{
	static const struct compare_rules rules = { .golden = false,
		.significant = true };
	const struct outcome *files[2] = { &was.o, &is.o };
	struct found f = { 0 };
	struct compare_gate g;
	struct compare c;
	size_t i, k;

	for (i = 0; i < n; i++) {
		struct arena arena = { 0 };

		for (k = 0; k < TASKS; k++)
			rate[k] = 0.2 + 0.8 * chance();
		run_suite(&was, a, 0);
		run_suite(&is, b, shift);
		compare_make(&arena, &c, files, 2);
		compare_gate(&arena, &g, &c, &rules);
		f.compare += c.pairs[0].verdict == COMPARE_BETTER ||
		    c.pairs[0].verdict == COMPARE_WORSE;
		f.untested += c.pairs[0].verdict == COMPARE_UNTESTED;
		f.gate += g.tested && g.status != COMPARE_OK;
		arena_free(&arena);
	}
	return f;
}

static const struct plan fixed = { { STOP_NEVER, 0 }, PLANNED, 0.6, 0 },
    one = { { STOP_NEVER, 0 }, 1, 0.6, 0 },
    decided = { { STOP_DECIDED, 0 }, PLANNED, 0.6, 0 },
    strict = { { STOP_DECIDED, 0 }, PLANNED, 1, 0.7 },
    narrow = { { STOP_CI, 0.2 }, 40, 0.6, 0 };

static void
pairs(void)
{
	static const struct {
		const char *name;
		const struct plan *a, *b;
	} rows[] = {
		{ "5 trials", &fixed, &fixed },
		{ "decided", &decided, &decided },
		{ "decided, and the suite", &strict, &strict },
		{ "ci=0.2", &narrow, &narrow },
		{ "5 trials against decided", &fixed, &decided },
		{ "1 trial against 5", &one, &fixed },
	};
	struct found none, real;
	size_t i, n = (size_t)tap_some(1000);

	wrong = 0;
	fill_table(narrow.rule.width);
	for (i = 0; i < COUNTOF(rows); i++) {
		none = simulate(rows[i].a, rows[i].b, 0, n);
		real = simulate(rows[i].a, rows[i].b, -0.25, n / 5);
		printf("# %s: false differences: compare %.1f%%, gate %.1f%%; "
		    "25 points less are found: compare %.1f%%, gate %.1f%%\n",
		    rows[i].name, 100.0 * (double)none.compare / (double)n,
		    100.0 * (double)none.gate / (double)n,
		    500.0 * (double)real.compare / (double)n,
		    500.0 * (double)real.gate / (double)n);
		OK(none.compare <= n / 20 && none.gate <= n / 20);
		OK(none.untested == 0);
	}
	OK(wrong == 0);
	none = simulate(&fixed, &narrow, 0, 20);
	OK(none.untested == 20 && none.compare == 0 && none.gate == 0);
	none = simulate(&narrow, &decided, 0, 20);
	OK(none.untested == 20 && none.compare == 0 && none.gate == 0);
}

int
main(void)
{
	RUN(exact, verdicts);
	RUN_LARGE(coverage, pairs);
	return tap_done();
}
