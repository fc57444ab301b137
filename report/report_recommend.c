/* SPDX-License-Identifier: ISC */
/*
 * Recommends one of several models, or cells of a matrix: each number is scaled
 * to 0 to 10 over them (5 if all are equal), and the weighted sum decides.
 * Weights, scale and keys are those of the original.
 */
#include "report/report.h"

#include <stdlib.h>

#include "json.h"
#include "report/matrix/matrix.h"
#include "report/report_internal.h"

enum { SCORE, RATE, SPREAD, TIME, NUMBERS };

static const struct {
	double weight;
	bool low;		/* a low number is good */
	const char *key, *normalized;
} numbers[NUMBERS] = {
	[SCORE] = { 0.40, false, "aggregate_score",
	    "aggregate_score_normalized" },
	[RATE] = { 0.30, false, "pass_rate", "pass_rate_normalized" },
	[SPREAD] = { 0.20, true, "consistency", "consistency_normalized" },
	[TIME] = { 0.10, true, "speed", "speed_normalized" },
};

struct standing {
	const struct result_run *run;
	size_t i;			/* order of the models */
	double x[NUMBERS], scaled[NUMBERS], sum;
};

static void
scale(struct standing *v, size_t n, size_t k)
{
	double lo = v[0].x[k], hi = lo;
	size_t i;

	for (i = 1; i < n; i++) {
		lo = v[i].x[k] < lo ? v[i].x[k] : lo;
		hi = v[i].x[k] > hi ? v[i].x[k] : hi;
	}
	for (i = 0; i < n; i++) {
		v[i].scaled[k] = hi > lo ? (v[i].x[k] - lo) / (hi - lo) * 10 :
		    5;
		if (hi > lo && numbers[k].low)
			v[i].scaled[k] = 10 - v[i].scaled[k];
	}
}

/* To one decimal; the values are between 0 and 1000. */
static double
tenths(double x)
{
	return (double)(int64_t)(x * 10 + 0.5) / 10;
}

static int
by_sum(const void *a, const void *b)
{
	const struct standing *x = a, *y = b;

	if (x->sum != y->sum)
		return x->sum > y->sum ? -1 : 1;
	return x->i < y->i ? -1 : 1;
}

static struct standing *
rank(struct arena *a, struct result_run *const *runs, size_t n)
{
	struct standing *v = NEW_N(a, struct standing, n);
	size_t i, k;

	for (i = 0; i < n; i++) {
		v[i].run = runs[i];
		v[i].i = i;
		v[i].x[SCORE] = runs[i]->sum.score;
		v[i].x[RATE] = runs[i]->sum.rate;
		v[i].x[SPREAD] = runs[i]->sum.std_dev;
		v[i].x[TIME] = (double)runs[i]->duration_ms;
	}
	for (k = 0; k < NUMBERS; k++)
		scale(v, n, k);
	for (i = 0; i < n; i++) {
		for (k = 0; k < NUMBERS; k++)
			v[i].sum += v[i].scaled[k] * numbers[k].weight;
		v[i].sum = tenths(v[i].sum);
	}
	qsort(v, n, sizeof(*v), by_sum);
	return v;
}

/* How far the first is before the second, in percent of the second. */
static double
margin(const struct standing *v)
{
	return v[1].sum > 0 ? tenths((v[0].sum - v[1].sum) / v[1].sum * 100) :
	    0;
}

/* Whether the runs differ by nothing but their models. */
static bool
by_model(const struct result_run *r)
{
	return r->cell_name.n == 0 || str_eq(r->cell_name, r->model);
}

static struct str
reason(struct arena *a, const struct standing *v, size_t n)
{
	const struct result_totals *s = &v[0].run->sum;

	return arena_fmt(a, "best of %zu %s: score %.2f, pass rate %.1f%%, "
	    "standard deviation %.4f%s", n, by_model(v[0].run) ? "models" :
	    "combinations", s->score, report_rate(s->rate),
	    s->std_dev, v[0].sum == v[1].sum ? "; the next one has the same "
	    "sum" : "");
}

static void
put_model(struct json_out *o, const struct standing *v, size_t nth)
{
	size_t k;

	json_open(o, '{');
	json_put_member_str(o, "model_id", v->run->model);
	if (!by_model(v->run))
		json_put_member_str(o, "cell", v->run->cell_name);
	json_put_member_double(o, "heuristic_score", v->sum);
	json_put_member_int(o, "rank", (int64_t)nth + 1);
	json_open_member(o, "component_scores", '{');
	for (k = 0; k < NUMBERS; k++)
		json_put_member_double(o, numbers[k].normalized, v->scaled[k]);
	json_close(o, '}');
	json_close(o, '}');
}

struct str
report_recommend(struct arena *a, struct result_run *const *runs, size_t n,
    struct buf *text)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };
	const struct standing *v;
	struct buf name = { 0 };
	size_t i;

	if (n < 2)
		return STR("");
	v = rank(a, runs, n);
	json_open(&o, '{');
	json_put_member_str(&o, "recommended_model", v[0].run->model);
	if (!by_model(v[0].run))
		json_put_member_str(&o, "recommended_cell",
		    v[0].run->cell_name);
	json_put_member_double(&o, "heuristic_score", v[0].sum);
	json_put_member_str(&o, "reason", reason(a, v, n));
	json_put_member_double(&o, "winner_margin_pct", margin(v));
	json_open_member(&o, "weights", '{');
	for (i = 0; i < NUMBERS; i++)
		json_put_member_double(&o, numbers[i].key, numbers[i].weight);
	json_close(&o, '}');
	json_open_member(&o, "all_models", '[');
	for (i = 0; i < n; i++)
		put_model(&o, &v[i], i);
	json_close(&o, ']');
	json_close(&o, '}');
	report_line(&name, matrix_name(v[0].run), 80, true);
	buf_fmt(text, "recommended%s: %.*s (%.1f of 10, %.1f%% before the "
	    "next; %.*s)\n", by_model(v[0].run) ? " model" : "",
	    STRF(buf_str(&name)), v[0].sum, margin(v),
	    STRF(reason(a, v, n)));
	buf_free(&name);
	return arena_take(a, &b);
}
