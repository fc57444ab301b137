/* SPDX-License-Identifier: ISC */
/*
 * The comparison of many cells: Holm's correction by hand, and simulations with
 * a known truth.  Among cells that do not differ, any difference must be found
 * in at most 5 % of the runs, also if other cells do differ.  How often a real
 * one is found is printed.
 */
#include "report/matrix/matrix.h"

#include <stdio.h>
#include <string.h>

#include "lib/stats.h"
#include "report/report.h"
#include "results/result.h"
#include "suite/spec.h"
#include "test/tool/help.h"
#include "test/tool/tap.h"

enum { CELLS = 4, TASKS = 40, TRIALS = 3 };

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

static void
holm(void)
{
	static const double p[] = { 0.01, 0.04, 0.03, 0.005, 1, 0.03 };
	static const double want[] = { 0.05, 0.12, 0.12, 0.03, 1, 0.12 };
	double out[COUNTOF(p)], none = 0, tiny[] = { 1e-200, 0.9 };
	size_t i;

	stats_holm(p, COUNTOF(p), out);
	for (i = 0; i < COUNTOF(p); i++)
		OK(is_near(out[i], want[i]));
	stats_holm(&none, 1, &none);
	OK(none == 0);
	stats_holm(tiny, 2, out);
	OK(is_near(out[0] / 2e-200, 1) && is_near(out[1], 0.9));
}

/*
 * Cells.
 */
static struct spec_suite suite = { .name = { "s", 1 } };
static const struct spec_def def;
static struct spec_task specs[TASKS];
static struct result_task tasks[CELLS][TASKS];
static struct result_stats stats[CELLS][TASKS];
static struct result_run cells[CELLS];
static struct result_run *runs[CELLS];
static char ids[TASKS][32];

static void
set_up(void)
{
	static const char names[CELLS][2] = { "a", "b", "c", "d" };
	size_t i, k;

	for (i = 0; i < TASKS; i++) {
		snprintf(ids[i], sizeof(ids[i]), "a-task-with-a-name-%02zu",
		    i);
		specs[i].def = &def;
		specs[i].id = specs[i].name = str_of(ids[i]);
	}
	for (i = 0; i < CELLS; i++) {
		cells[i] = (struct result_run){ .suite = &suite,
			.cell_name = str_of(names[i]), .tasks = tasks[i],
			.ntasks = TASKS, .trials = TRIALS, .complete = true };
		runs[i] = &cells[i];
		for (k = 0; k < TASKS; k++)
			tasks[i][k] = (struct result_task){
				.spec = &specs[k], .stats = &stats[i][k],
				.more = &result_no_more };
	}
}

static void
set_score(size_t cell, size_t task, double score)
{
	struct result_task *t = &tasks[cell][task];

	stats[cell][task].avg = stats[cell][task].pass_rate = score;
	t->status = score >= 1 ? RESULT_PASSED : RESULT_FAILED;
}

/* Trials of all cells; a task has its own pass rate, a cell adds to it. */
static void
draw(const double *add)
{
	size_t i, k, t, passed;
	double rate;

	for (k = 0; k < TASKS; k++) {
		rate = 0.1 + 0.6 * chance();
		for (i = 0; i < CELLS; i++) {
			for (t = passed = 0; t < TRIALS; t++)
				passed += chance() < rate + add[i];
			set_score(i, k, (double)passed / TRIALS);
		}
	}
}

/* Runs in which a pair is called different: of equal cells, of others. */
static void
simulate(size_t n, const double *add, size_t *wrong, size_t *found)
{
	size_t i, k;

	*wrong = *found = 0;
	for (i = 0; i < n; i++) {
		struct arena a = { 0 };
		bool bad = false, good = false, equal;
		struct matrix *m;

		draw(add);
		m = matrix_make(&a, runs, CELLS);
		for (k = 0; k < m->npairs; k++) {
			const struct matrix_pair *p = &m->pairs[k];

			if (p->of.verdict != COMPARE_BETTER &&
			    p->of.verdict != COMPARE_WORSE)
				continue;
			equal = is_near(add[p->cell[0]], add[p->cell[1]]);
			bad |= equal;
			good |= !equal;
		}
		*wrong += bad;
		*found += good;
		arena_free(&a);
	}
}

static void
simulations(void)
{
	static const struct {
		const char *what;
		double add[CELLS];
	} rows[] = {
		{ "no cell differs", { 0 } },
		{ "one cell is better by 15 points", { 0, 0, 0, 0.15 } },
		{ "one cell is better by 30 points", { 0, 0, 0, 0.3 } },
		{ "two of four are worse by 30 points",
		    { 0, 0, -0.3, -0.3 } },
	};
	size_t i, wrong, found, n = (size_t)tap_some(400);

	for (i = 0; i < COUNTOF(rows); i++) {
		simulate(n, rows[i].add, &wrong, &found);
		printf("# %s: false claims in %.1f%% of %zu runs, differences "
		    "found in %.1f%%\n", rows[i].what, 100.0 * (double)wrong /
		    (double)n, n, 100.0 * (double)found / (double)n);
		OK(wrong * 20 <= n);
		OK(i < 2 || found * 10 >= 8 * n);
	}
}

/*
 * Verdicts and words.
 */
static void
fill(size_t cell, size_t passed)
{
	size_t k;

	for (k = 0; k < TASKS; k++)
		set_score(cell, k, k < passed);
	cells[cell].sum.passed = passed;
	cells[cell].sum.rate = cells[cell].sum.score = (double)passed / TASKS;
}

static void
verdicts(void)
{
	struct arena a = { 0 };
	struct matrix *m;
	size_t k;

	/* 7 changes: p = 0.016, and 0.047 times 3 pairs is not enough */
	fill(0, 20);
	fill(1, 20);
	fill(2, 27);
	m = matrix_make(&a, runs, 2);
	OK(m->npairs == 1 && m->pairs[0].of.verdict == COMPARE_SAME);
	m = matrix_make(&a, runs + 1, 2);
	OK(m->pairs[0].of.verdict == COMPARE_BETTER);
	OK(is_near(m->pairs[0].p, m->pairs[0].of.p));
	m = matrix_make(&a, runs, 3);
	OK(m->npairs == 3 && m->nrows == TASKS);
	OK(m->pairs[1].cell[0] == 0 && m->pairs[1].cell[1] == 2);
	OK(is_near(m->pairs[1].p, 0.015625));
	OK(is_near(m->pairs[1].of.p, 3 * 0.015625));
	OK(m->pairs[1].of.verdict == COMPARE_BETTER);
	OK(m->pairs[1].of.needed == 7);
	fill(3, 20);
	m = matrix_make(&a, runs, 4);
	OK(m->npairs == 6 && m->pairs[1].of.verdict == COMPARE_UNCLEAR);
	OK(m->pairs[1].of.needed == 8);
	/* tasks with an error that is not the agent's are left out */
	for (k = 20; k < 27; k++)
		tasks[2][k].status = k % 2 ? RESULT_INFRA : RESULT_JUDGE_ERROR;
	m = matrix_make(&a, runs, 3);
	OK(m->left_out == 7 && m->pairs[1].of.tasks == TASKS - 7);
	OK(m->pairs[1].of.verdict == COMPARE_SAME);
	fill(2, 27);
	tasks[2][0].status = RESULT_AGENT_ERROR;
	m = matrix_make(&a, runs, 3);
	OK(m->left_out == 0 && m->pairs[1].of.tasks == TASKS);
	fill(2, 27);
	/* so are cells without results */
	runs[1] = NULL;
	OK(matrix_of(&a, runs, 2) == NULL);
	m = matrix_of(&a, runs, 3);
	OK(m != NULL && m->n == 2 && m->runs[1] == &cells[2]);
	runs[1] = &cells[1];
	arena_free(&a);
}

/* The widest line of a report for a terminal. */
static size_t
widest(struct str text)
{
	size_t i, w = 0, most = 0;

	for (i = 0; i < text.n; i++) {
		w = text.p[i] == '\n' ? 0 : w + 1;
		most = w > most ? w : most;
	}
	return most;
}

/* The columns of the heading of the tasks; 0: there is none. */
static size_t
widest_task(struct str text)
{
	struct str line;

	while (str_line(&text, &line))
		if (str_starts(line, STR("  task")))
			return line.n;
	return 0;
}

static void
widths(void)
{
	static const char *const names[CELLS] = { "claude, opus-4-5, skill x",
		"claude, opus-4-5, no skill", "copilot, gpt-5, skill x",
		"copilot, gpt-5, no skill" };
	static const unsigned cols[] = { 20, 30, 60, 80, 120, 200 };
	struct arena a = { 0 };
	struct matrix *m;
	size_t i;

	for (i = 0; i < CELLS; i++) {
		cells[i].cell_name = str_of(names[i]);
		fill(i, 20 + 4 * i);
	}
	m = matrix_make(&a, runs, CELLS);
	for (i = 0; i < COUNTOF(cols); i++) {
		struct report_opts o = { .ascii = true, .wrap = true,
			.width = cols[i] };
		struct buf b = { 0 };

		matrix_text(&b, m, &o);
		printf("# %u columns: widest line %zu\n", cols[i],
		    widest(buf_str(&b)));
		OK(widest(buf_str(&b)) <= cols[i]);
		OK((widest_task(buf_str(&b)) > 0) == (cols[i] > 20));
		OK(cols[i] < 60 || has(buf_str(&b), "opus-4-5, skill x"));
		buf_free(&b);
	}
	arena_free(&a);
}

int
main(void)
{
	holm();
	set_up();
	verdicts();
	widths();
	RUN_LARGE(simulations);
	return tap_done();
}
