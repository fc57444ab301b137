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

static enum compare_verdict
judge(const struct compare_pair *p)
{
	bool clear = p->lo > 0 || p->hi < 0, sure = p->p < 0.05;

	if (p->tasks == 0)
		return COMPARE_NOTHING;
	if (p->better + p->worse == 0)
		return COMPARE_SAME;
	if (p->tasks < stats_sign_needed(0))
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
make_pair(const struct compare *c, struct compare_pair *p, double *x,
    double *y)
{
	const struct outcome_task *a, *b;
	struct stats_change change;
	size_t i;

	for (i = 0; i < c->nrows; i++) {
		a = c->rows[i].in[0];
		b = c->rows[i].in[p->file];
		if (!is_done(a) || !is_done(b))
			continue;
		x[p->tasks] = a->score;
		y[p->tasks++] = b->score;
		p->better += difference(a->score, b->score) > 0;
		p->worse += difference(a->score, b->score) < 0;
		p->fixed += b->status == RESULT_PASSED &&
		    a->status != RESULT_PASSED;
		p->broken += b->status != RESULT_PASSED &&
		    a->status == RESULT_PASSED;
	}
	p->same = p->tasks - p->better - p->worse;
	stats_paired(x, y, p->tasks, SEED, &change);
	p->mean = change.mean;
	p->lo = change.lo;
	p->hi = change.hi;
	p->resampled = p->tasks > 1 && p->tasks <= STATS_BOOTSTRAP_MAX;
	p->p = stats_sign_test(p->better, p->worse);
	p->p_flips = stats_sign_test(p->fixed, p->broken);
	p->verdict = judge(p);
}

static void
make_warnings(struct arena *a, struct compare *c)
{
	size_t i, k, n, skipped;

	c->warnings = NEW_N(a, struct str, 3 * c->nfiles);
	for (i = 1; i < c->nfiles; i++)
		if (!str_eq(c->files[i]->name, c->files[0]->name))
			c->warnings[c->nwarnings++] = arena_fmt(a, "these are "
			    "different suites: \"%.*s\" in 1, \"%.*s\" in %zu",
			    STRF(utf8_cut(c->files[0]->name, 100)),
			    STRF(utf8_cut(c->files[i]->name, 100)), i + 1);
	for (i = 0; i < c->nfiles; i++) {
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
	double *x, *y;
	size_t i;

	assert(n >= 2 && n <= COMPARE_FILES);
	*c = (struct compare){ .files = files, .nfiles = n };
	make_rows(a, c);
	x = NEW_N(a, double, c->nrows);
	y = NEW_N(a, double, c->nrows);
	c->pairs = NEW_N(a, struct compare_pair, n - 1);
	for (i = 1; i < n; i++) {
		c->pairs[i - 1].file = i;
		make_pair(c, &c->pairs[i - 1], x, y);
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

/*
 * The comparison of two files in sentences.
 */
const char *
compare_word(enum compare_verdict v)
{
	static const char *const words[] = {
		[COMPARE_NOTHING] = "nothing_to_compare",
		[COMPARE_FEW] = "too_few",
		[COMPARE_SAME] = "no_real_change",
		[COMPARE_UNCLEAR] = "unclear",
		[COMPARE_BETTER] = "better",
		[COMPARE_WORSE] = "worse",
	};

	return words[v];
}

/*
 * A value that rounds to 0 has no sign; d is below 10^9.  Halves are rounded
 * up, also those missed by a rounding error, which differs between machines.
 */
void
compare_signed(struct buf *b, double d, int decimals, bool plus)
{
	int64_t unit = 1, n;
	int i;

	for (i = 0; i < decimals; i++)
		unit *= 10;
	n = (int64_t)((d < 0 ? -d : d) * (double)unit + 0.5 + 1e-7);
	if (n > 0 && d < 0)
		buf_putc(b, '-');
	else if (plus)
		buf_putc(b, '+');
	buf_fmt(b, "%lld", (long long)(n / unit));
	if (decimals > 0)
		buf_fmt(b, ".%0*lld", decimals, (long long)(n % unit));
}

static void
put_size(struct buf *b, const struct compare_pair *p)
{
	int k = p->mean > -0.0995 && p->mean < 0.0995 ? 3 : 2;

	compare_signed(b, p->mean, k, true);
	buf_puts(b, " (95 % interval ");
	compare_signed(b, p->lo, k, false);
	buf_puts(b, " to ");
	compare_signed(b, p->hi, k, false);
	buf_puts(b, ")");
}

/* How many changes would be significant, where they are not. */
static void
put_needed(struct buf *b, size_t x, size_t y)
{
	size_t fewer = x < y ? x : y;

	buf_fmt(b, "at least %zu changes in one direction",
	    stats_sign_needed(fewer));
	if (fewer > 0)
		buf_fmt(b, " against %zu", fewer);
	buf_puts(b, " are needed");
}

/* The p-value of x against y changes, and what is missing to significance. */
static void
put_p(struct buf *b, double p, size_t x, size_t y)
{
	if (p < 0.001)
		buf_puts(b, "p < 0.001");
	else if (p > 0.995)
		buf_puts(b, "p = 1");
	else
		buf_fmt(b, "p = %.*f", p < 0.0995 ? 3 : 2, p);
	if (p >= 0.05) {
		buf_puts(b, "; ");
		put_needed(b, x, y);
	}
}

void
compare_sentence(struct buf *b, const struct compare_pair *p)
{
	static const char *const begin[] = {
		[COMPARE_NOTHING] = "nothing to compare: no task in common",
		[COMPARE_FEW] = "too few tasks to tell: ",
		[COMPARE_SAME] = "no significant change: ",
		[COMPARE_UNCLEAR] = "unclear: ",
		[COMPARE_BETTER] = "better: ",
		[COMPARE_WORSE] = "worse: ",
	};

	if (p->verdict == COMPARE_SAME && p->better + p->worse == 0) {
		buf_fmt(b, "no change: %s%zu task%s scored the same",
		    p->tasks > 1 ? "all " : "", p->tasks,
		    p->tasks > 1 ? "s" : "");
		return;
	}
	buf_puts(b, begin[p->verdict]);
	if (p->verdict == COMPARE_NOTHING)
		return;
	if (p->verdict == COMPARE_FEW) {
		compare_signed(b, p->mean, 2, true);
		buf_fmt(b, " over %zu; ", p->tasks);
		put_needed(b, 0, 0);
		return;
	}
	put_size(b, p);
	buf_puts(b, p->verdict == COMPARE_UNCLEAR ? ", but " : ", ");
	put_p(b, p->p, p->better, p->worse);
}

void
compare_flips(struct buf *b, const struct compare_pair *p)
{
	if (p->fixed + p->broken == 0) {
		buf_puts(b, "no task was fixed or broke");
		return;
	}
	if (p->fixed > 0)
		buf_fmt(b, "%zu task%s fixed", p->fixed,
		    p->fixed == 1 ? "" : "s");
	if (p->broken > 0)
		buf_fmt(b, "%s%zu task%s broke", p->fixed > 0 ? ", " : "",
		    p->broken, p->broken == 1 ? "" : "s");
	buf_puts(b, p->p_flips < 0.05 ? "; significant (" :
	    "; not significant (");
	put_p(b, p->p_flips, p->fixed, p->broken);
	buf_putc(b, ')');
}

void
compare_wrapped(struct buf *b, struct str s, size_t indent, size_t width)
{
	size_t at = indent, i, k, j;

	for (i = 0; i < s.n; i = k + 1) {
		for (k = i; k < s.n && s.p[k] != ' '; k++)
			;
		if (i > 0 && at + 1 + (k - i) > width) {
			buf_putc(b, '\n');
			for (j = 0; j < indent + 2; j++)
				buf_putc(b, ' ');
			at = indent + 2;
		} else if (i > 0) {
			buf_putc(b, ' ');
			at++;
		}
		buf_put(b, (struct str){ s.p + i, k - i });
		at += k - i;
	}
}
