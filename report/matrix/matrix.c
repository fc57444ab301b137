/* SPDX-License-Identifier: ISC */
/*
 * The comparison of all cells of a matrix, and its JSON.
 *
 * Each pair has one test: that of the scores; that of changes of status if only
 * it is valid, or if no score differs.  Without a real difference each task's
 * two results could be exchanged, whichever test is chosen, so that its p value
 * is valid; Holm's correction keeps the chance of any false claim at 5 %.
 */
#include "report/matrix/matrix.h"

#include <assert.h>

#include "json.h"
#include "lib/stats.h"
#include "results/outcome.h"
#include "results/result.h"
#include "suite/spec.h"

struct str
matrix_name(const struct result_run *r)
{
	return r->cell_name.n > 0 ? r->cell_name : r->model;
}

static double
p_of(const struct compare_pair *p)
{
	if (p->tasks == 0 || p->tests == 0)
		return 1;
	if (p->tests == COMPARE_FLIPS || (p->better + p->worse == 0 &&
	    p->tests & COMPARE_FLIPS))
		return p->p_flips;
	return p->p;
}

/* The least number of changes, all in one direction, that is significant. */
static size_t
changes_needed(size_t pairs)
{
	size_t n = stats_sign_needed(0);

	while (stats_sign_test(n, 0) * (double)pairs >= 0.05)
		n++;
	return n;
}

static void
correct(struct arena *a, struct matrix *m)
{
	double *p = NEW_N(a, double, m->npairs);
	double *out = NEW_N(a, double, m->npairs);
	size_t i, needed = changes_needed(m->npairs);
	struct matrix_pair *x;

	for (i = 0; i < m->npairs; i++)
		p[i] = m->pairs[i].p = p_of(&m->pairs[i].of);
	stats_holm(p, m->npairs, out);
	for (i = 0; i < m->npairs; i++) {
		x = &m->pairs[i];
		x->of.p = x->of.p_flips = out[i];
		x->of.needed = needed;
		x->of.verdict = compare_judge(&x->of);
	}
}

/* An error of the infrastructure, a grader or a judge: not the agent's. */
static bool
is_foreign(enum result_status s)
{
	return s == RESULT_INFRA || s == RESULT_GRADER_ERROR ||
	    s == RESULT_JUDGE_ERROR;
}

static bool
is_unknown(const struct result_task *t)
{
	size_t i;

	for (i = 0; i < t->ntrials && t->trials != NULL; i++)
		if (is_foreign(t->trials[i].status))
			return true;
	return is_foreign(t->status);
}

/* The results of a cell; without a verdict on the agent, not finished. */
static const struct outcome *
read_cell(struct arena *a, const struct result_run *r)
{
	struct outcome *o = outcome_from_run(a, r, arena_str(a,
	    matrix_name(r)).p);
	size_t i;

	for (i = 0; i < o->ntasks; i++)
		if (is_unknown(&r->tasks[i]))
			o->tasks[i].finished = false;
	return o;
}

static void
count_left_out(struct matrix *m)
{
	const struct outcome_task *t;
	size_t i, k;

	for (i = 0; i < m->nrows; i++)
		for (k = 0; k < m->n; k++) {
			t = m->rows[i].in[k];
			if (t == NULL || t->finished ||
			    t->status == RESULT_NONE ||
			    t->status == RESULT_CANCELLED)
				continue;
			m->left_out++;
			break;
		}
}

struct matrix *
matrix_make(struct arena *a, struct result_run *const *runs, size_t n)
{
	const struct outcome **files = NEW_N(a, const struct outcome *, n);
	struct matrix *m = NEW(a, struct matrix);
	struct compare from;
	size_t i, k;

	assert(n >= 2 && n <= COMPARE_FILES);
	*m = (struct matrix){ .runs = runs, .n = n };
	m->pairs = NEW_N(a, struct matrix_pair, n * (n - 1) / 2);
	for (i = 0; i < n; i++)
		files[i] = read_cell(a, runs[i]);
	for (i = 0; i + 1 < n; i++) {
		compare_make(a, &from, files + i, n - i);
		if (i == 0) {
			m->rows = from.rows;
			m->nrows = from.nrows;
		}
		for (k = 0; k < n - i - 1; k++)
			m->pairs[m->npairs++] = (struct matrix_pair){
				.cell = { i, i + k + 1 }, .of = from.pairs[k] };
	}
	correct(a, m);
	count_left_out(m);
	return m;
}

struct matrix *
matrix_of(struct arena *a, struct result_run *const *runs, size_t n)
{
	struct result_run **v = NEW_N(a, struct result_run *, n);
	size_t i, k = 0;

	for (i = 0; i < n; i++)
		if (runs[i] != NULL)
			v[k++] = runs[i];
	return k < 2 || k > COMPARE_FILES ? NULL : matrix_make(a, v, k);
}

/*
 * JSON.
 */
static void
put_cell(struct json_out *o, const struct result_run *r)
{
	json_open(o, '{');
	json_put_member_str(o, "name", matrix_name(r));
	json_put_member_cstr(o, "eval_id", r->run_id != NULL ? r->run_id : "");
	json_put_member_str(o, "executor", r->executor);
	json_put_member_str(o, "model", r->model);
	if (r->no_skills)
		json_put_member_bool(o, "no_skills", true);
	else
		json_put_member_str(o, "skill", r->suite->skill);
	json_put_member_int(o, "tasks", (int64_t)r->ntasks);
	json_put_member_int(o, "passed", (int64_t)r->sum.passed);
	json_put_member_double(o, "pass_rate", r->sum.rate);
	json_put_member_double(o, "score", r->sum.score);
	json_put_member_int(o, "duration_ms", r->duration_ms);
	json_put_member_bool(o, "complete", r->complete);
	json_close(o, '}');
}

static void
put_pair(struct json_out *o, const struct matrix *m,
    const struct matrix_pair *x)
{
	const struct compare_pair *p = &x->of;
	bool scores = p->tasks > 0 && p->tests & COMPARE_SCORES;
	struct buf b = { 0 };

	compare_sentence(&b, p);
	json_open(o, '{');
	json_put_member_str(o, "cell", matrix_name(m->runs[x->cell[1]]));
	json_put_member_str(o, "than", matrix_name(m->runs[x->cell[0]]));
	json_put_member_cstr(o, "verdict", compare_word(p->verdict));
	json_put_member_str(o, "summary", buf_str(&b));
	json_put_member_int(o, "tasks", (int64_t)p->tasks);
	json_put_member_int(o, "better", (int64_t)p->better);
	json_put_member_int(o, "worse", (int64_t)p->worse);
	json_put_member_int(o, "fixed", (int64_t)p->fixed);
	json_put_member_int(o, "broken", (int64_t)p->broken);
	compare_put_number(o, "mean_difference", p->tasks > 0, p->mean);
	compare_put_number(o, "ci95_lo", scores, p->lo);
	compare_put_number(o, "ci95_hi", scores, p->hi);
	compare_put_number(o, "p_value", p->tests != 0, x->p);
	compare_put_number(o, "p_corrected", p->tests != 0, p->p);
	json_close(o, '}');
	buf_free(&b);
}

static void
put_task(struct json_out *o, const struct matrix *m,
    const struct compare_row *r)
{
	size_t i;

	json_open(o, '{');
	json_put_member_str(o, "id", r->id);
	json_open_member(o, "status", '[');
	for (i = 0; i < m->n; i++)
		json_put_cstr(o, r->in[i] == NULL ||
		    r->in[i]->status == RESULT_NONE ? "n/a" :
		    result_word(r->in[i]->status));
	json_close(o, ']');
	json_open_member(o, "score", '[');
	for (i = 0; i < m->n; i++)
		if (r->in[i] != NULL && outcome_is_graded(r->in[i]))
			json_put_double(o, r->in[i]->score);
		else
			json_put_null(o);
	json_close(o, ']');
	json_close(o, '}');
}

void
matrix_json(struct buf *b, const struct matrix *m, bool tasks)
{
	struct json_out o = { .put = buf_sink, .ctx = b };
	size_t i;

	json_open(&o, '{');
	json_open_member(&o, "cells", '[');
	for (i = 0; i < m->n; i++)
		put_cell(&o, m->runs[i]);
	json_close(&o, ']');
	json_put_member_cstr(&o, "correction", "holm");
	json_put_member_int(&o, "tasks_left_out", (int64_t)m->left_out);
	json_open_member(&o, "comparisons", '[');
	for (i = 0; i < m->npairs; i++)
		put_pair(&o, m, &m->pairs[i]);
	json_close(&o, ']');
	if (tasks) {
		json_open_member(&o, "tasks", '[');
		for (i = 0; i < m->nrows; i++)
			put_task(&o, m, &m->rows[i]);
		json_close(&o, ']');
	}
	json_close(&o, '}');
}
