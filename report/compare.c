/* SPDX-License-Identifier: ISC */
/*
 * compare.c: joins the tasks of several files, and tests pairs of files.
 *
 * All tasks of all files are sorted by id, so that those of one row are
 * adjacent; the rows are then sorted by their first occurrence.  This takes
 * n log n steps for any input.
 */
#include "report/compare.h"

#include <assert.h>
#include <stdlib.h>

#include "json.h"
#include "lib/stats.h"
#include "results/outcome.h"

enum { SEED = 1 };
#define ALIKE 1e-9		/* equal means may differ by rounding */

struct ref {
	struct str id;
	size_t file, task;
};

static int
by_place(const void *a, const void *b)
{
	const struct ref *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return x->task < y->task ? -1 : x->task > y->task;
}

static int
by_id(const void *a, const void *b)
{
	const struct ref *x = a, *y = b;
	int c = str_cmp(x->id, y->id);

	return c != 0 ? c : by_place(a, b);
}

static void
make_rows(struct arena *a, struct compare *c)
{
	size_t i, k, n = 0, total = 0;
	struct ref *refs;

	for (i = 0; i < c->nfiles; i++)
		total += c->files[i]->ntasks;
	refs = NEW_N(a, struct ref, total);
	for (i = 0; i < c->nfiles; i++)
		for (k = 0; k < c->files[i]->ntasks; k++)
			refs[n++] = (struct ref){ c->files[i]->tasks[k].id,
			    i, k };
	if (n > 0)
		qsort(refs, n, sizeof(refs[0]), by_id);
	for (i = k = 0; i < n; i++)
		if (i == 0 || !str_eq(refs[i].id, refs[i - 1].id))
			refs[k++] = refs[i];
	if (k > 0)
		qsort(refs, k, sizeof(refs[0]), by_place);
	c->nrows = k;
	c->rows = NEW_N(a, struct compare_row, k);
	for (i = 0; i < k; i++) {
		struct compare_row *r = &c->rows[i];

		r->id = refs[i].id;
		r->name = c->files[refs[i].file]->tasks[refs[i].task].name;
		r->in = NEW_N(a, const struct outcome_task *, c->nfiles);
		for (n = 0; n < c->nfiles; n++)
			r->in[n] = outcome_find(c->files[n], r->id);
	}
}

static bool
is_done(const struct outcome_task *t)
{
	return t != NULL && outcome_is_graded(t);
}

/* The difference from a to b; 0 if it is only rounding. */
static double
difference(double a, double b)
{
	return b > a + ALIKE || b + ALIKE < a ? b - a : 0;
}

enum compare_verdict
compare_judge(const struct compare_pair *p)
{
	bool clear = p->lo > 0 || p->hi < 0, sure = p->p < 0.05;

	if (p->tasks == 0)
		return COMPARE_NOTHING;
	if (p->tests == 0)
		return COMPARE_UNTESTED;
	if (p->tests == COMPARE_FLIPS)
		return p->p_flips >= 0.05 ? COMPARE_SAME :
		    p->fixed > p->broken ? COMPARE_BETTER : COMPARE_WORSE;
	if (p->better + p->worse == 0)
		return COMPARE_SAME;
	if (p->tasks < p->needed)
		return COMPARE_FEW;
	if (clear != sure)
		return COMPARE_UNCLEAR;
	if (!clear)
		return COMPARE_SAME;
	/* A few large changes may outweigh many small ones. */
	if ((p->mean > 0) != (p->better > p->worse))
		return COMPARE_UNCLEAR;
	return p->mean > 0 ? COMPARE_BETTER : COMPARE_WORSE;
}

/* x and y are scratch space for all rows. */
static void
make_pair(struct arena *arena, const struct compare *c,
    struct compare_pair *p, double *x, double *y)
{
	const struct outcome_task *a, *b;
	struct stats_change change;
	size_t i, passed = 0;
	double score[2];

	for (i = 0; i < c->nrows; i++) {
		a = c->rows[i].in[0];
		b = c->rows[i].in[p->file];
		if (!is_done(a) || !is_done(b))
			continue;
		passed += a->status == RESULT_PASSED;
		compare_scores(arena, p, a, b, score);
		x[p->tasks] = score[0];
		y[p->tasks++] = score[1];
		p->better += difference(score[0], score[1]) > 0;
		p->worse += difference(score[0], score[1]) < 0;
		p->fixed += b->status == RESULT_PASSED &&
		    a->status != RESULT_PASSED;
		p->broken += b->status != RESULT_PASSED &&
		    a->status == RESULT_PASSED;
	}
	p->same = p->tasks - p->better - p->worse;
	p->passed[0] = passed;
	p->passed[1] = passed + p->fixed - p->broken;
	stats_paired_rates(passed - p->broken, p->broken, p->fixed,
	    p->tasks - passed - p->fixed, &p->rate_lo, &p->rate_hi);
	p->score[0] = stats_mean(x, p->tasks);
	p->score[1] = stats_mean(y, p->tasks);
	stats_paired(x, y, p->tasks, SEED, &change);
	p->mean = change.mean;
	p->lo = change.lo;
	p->hi = change.hi;
	if (!(p->tests & COMPARE_SCORES))
		p->lo = p->hi = p->mean;
	if (!(p->tests & COMPARE_FLIPS))
		p->rate_lo = p->rate_hi = 0;
	p->resampled = p->tasks > 1 && p->tasks <= STATS_BOOTSTRAP_MAX;
	p->p = stats_sign_test(p->better, p->worse);
	p->p_flips = stats_sign_test(p->fixed, p->broken);
	p->needed = stats_sign_needed(0);
	p->verdict = compare_judge(p);
}

/* Adds a number that all trials of the task must report. */
static void
add_used(struct compare_used *sum, double value, bool known)
{
	sum->mean += value;
	sum->known = sum->known && known;
}

/* The means per trial of each side, over the tasks of the pair. */
static void
make_used(struct arena *arena, const struct compare *c,
    struct compare_pair *p)
{
	const struct outcome_task *t;
	struct result_used u;
	size_t i, k;

	for (k = 0; k < 2; k++) {
		struct compare_used *ms = &p->used[COMPARE_MS][k];
		struct compare_used *tokens = &p->used[COMPARE_TOKENS][k];
		struct compare_used *cost = &p->used[COMPARE_COST][k];

		ms->known = tokens->known = cost->known = p->tasks > 0;
		for (i = 0; i < c->nrows; i++) {
			double n;

			t = c->rows[i].in[k * p->file];
			if (!is_done(t) || !is_done(c->rows[i].in[(1 - k) *
			    p->file]))
				continue;
			u = outcome_used(arena, t);
			n = (double)(t->ntrials > 0 ? t->ntrials : 1) *
			    (double)p->tasks;
			add_used(ms, (double)t->duration_ms /
			    (double)p->tasks, true);
			add_used(tokens, ((double)u.input_tokens +
			    (double)u.output_tokens) / n, u.tokens_known);
			add_used(cost, u.cost / n, u.cost_known);
		}
	}
}

static void
make_warnings(struct arena *a, struct compare *c)
{
	const char *why;
	size_t i, k, n, skipped;

	for (i = 1; i < c->nfiles; i++)
		if (!str_eq(c->files[i]->name, c->files[0]->name))
			c->warnings[c->nwarnings++] = arena_fmt(a, "these are "
			    "different suites: \"%.*s\" in 1, \"%.*s\" in %zu",
			    STRF(utf8_cut(c->files[0]->name, 100)),
			    STRF(utf8_cut(c->files[i]->name, 100)), i + 1);
	for (i = 0; i < c->nfiles; i++) {
		why = outcome_incomplete(a, c->files[i]);
		if (why != NULL)
			c->warnings[c->nwarnings++] = arena_fmt(a, "the run of "
			    "%zu is not complete (%.200s)", i + 1, why);
		for (k = n = skipped = 0; k < c->files[i]->ntasks; k++) {
			n += !c->files[i]->tasks[k].finished;
			skipped += c->files[i]->tasks[k].status ==
			    RESULT_SKIPPED;
		}
		if (n > 0)
			c->warnings[c->nwarnings++] = arena_fmt(a, "%zu task%s "
			    "not finished in %zu", n, n == 1 ? " is" : "s are",
			    i + 1);
		if (skipped > 0)
			c->warnings[c->nwarnings++] = arena_fmt(a, "%zu task%s "
			    "skipped in %zu", skipped, skipped == 1 ? " was" :
			    "s were", i + 1);
	}
}

void
compare_make(struct arena *a, struct compare *c,
    const struct outcome *const *files, size_t n)
{
	struct str why;
	double *x, *y;
	size_t i;

	assert(n >= 2 && n <= COMPARE_FILES);
	*c = (struct compare){ .files = files, .nfiles = n };
	make_rows(a, c);
	x = NEW_N(a, double, c->nrows);
	y = NEW_N(a, double, c->nrows);
	c->pairs = NEW_N(a, struct compare_pair, n - 1);
	c->warnings = NEW_N(a, struct str, 5 * n);
	c->stop = files[0]->stop;
	for (i = 1; i < n; i++) {
		c->pairs[i - 1].file = i;
		why = compare_stop(a, c, &c->pairs[i - 1]);
		if (why.n > 0) {
			c->warnings[c->nwarnings++] = why;
			c->stop = NULL;
		}
		make_pair(a, c, &c->pairs[i - 1], x, y);
		make_used(a, c, &c->pairs[i - 1]);
	}
	make_warnings(a, c);
}

struct str
compare_task_status(const struct outcome_task *t)
{
	const struct json *v = t != NULL ? json_getc(t->node, "status") : NULL;

	if (t == NULL)
		return STR("n/a");
	return v != NULL && v->type == JSON_STRING ? json_text(v) :
	    str_of(result_word(t->status));
}

const char *
compare_flip(const struct compare_row *r, size_t from, size_t to)
{
	const struct outcome_task *a = r->in[from], *b = r->in[to];

	if (!is_done(a) || !is_done(b) ||
	    (a->status == RESULT_PASSED) == (b->status == RESULT_PASSED))
		return NULL;
	if (b->status == RESULT_PASSED)
		return result_is_error(a->status) ? "error -> pass" :
		    "fail -> pass";
	return result_is_error(b->status) ? "pass -> error" : "pass -> fail";
}

bool
compare_delta(const struct compare *c, const struct compare_row *r,
    double *score, double *pass_rate)
{
	const struct outcome_task *a = r->in[0], *b = r->in[c->nfiles - 1];

	*score = *pass_rate = 0;
	if (!is_done(a) || !is_done(b))
		return false;
	*score = difference(a->score, b->score);
	*pass_rate = difference(a->pass_rate, b->pass_rate);
	return true;
}

bool
compare_changed(const struct compare *c, const struct compare_row *r)
{
	double d, p;
	size_t i;

	for (i = 0; i < c->nfiles; i++)
		if (!is_done(r->in[i]) || compare_flip(r, 0, i) != NULL)
			return true;
	return !compare_delta(c, r, &d, &p) || d != 0;
}
