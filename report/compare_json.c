/* SPDX-License-Identifier: ISC */
/*
 * A comparison as JSON: the keys of the original first, then those that this
 * program adds.  Missing values are null; the original wrote NaN, which is not
 * JSON.
 */
#include "report/compare.h"

#include "json.h"
#include "lib/stats.h"
#include "report/explain/explain.h"
#include "results/outcome.h"

void
compare_put_number(struct json_out *o, const char *key, bool known, double d)
{
	if (known)
		json_put_member_double(o, key, d);
	else
		json_put_member_null(o, key);
}

/* One number per file; null if the task is missing or has no result. */
static void
put_column(struct json_out *o, const char *key, const struct compare *c,
    const struct compare_row *r, bool pass_rate)
{
	size_t i;

	json_open_member(o, key, '[');
	for (i = 0; i < c->nfiles; i++)
		if (r->in[i] == NULL || !outcome_is_graded(r->in[i]))
			json_put_null(o);
		else
			json_put_double(o, pass_rate ? r->in[i]->pass_rate :
			    r->in[i]->score);
	json_close(o, ']');
}

static bool
is_everywhere(const struct compare *c, const struct compare_row *r)
{
	size_t i;

	for (i = 0; i < c->nfiles; i++)
		if (r->in[i] == NULL)
			return false;
	return true;
}

static void
put_missing(struct json_out *o, const char *key, const struct compare *c,
    const struct compare_row *r)
{
	size_t i;

	json_open_member(o, key, '[');
	for (i = 0; i < c->nfiles; i++)
		if (r->in[i] == NULL)
			json_put_int(o, (int64_t)i);
	json_close(o, ']');
}

/* What changed in the calls of a task that got worse, per trial. */
static void
put_calls(struct json_out *o, const struct outcome_task *from,
    const struct outcome_task *to)
{
	struct arena a = { 0 };
	struct explain e;

	explain_calls(&a, from, to, &e);
	if (e.n > 0) {
		json_put_key(o, STR("call_changes"));
		explain_json(o, &e);
	}
	arena_free(&a);
}

static void
put_row(struct json_out *o, const struct compare *c,
    const struct compare_row *r)
{
	const char *flip = compare_flip(r, 0, c->nfiles - 1);
	double score, rate;
	size_t i;
	bool both = compare_delta(c, r, &score, &rate);

	json_open(o, '{');
	json_put_member_str(o, "task_id", r->id);
	json_put_member_str(o, "display_name", r->name);
	put_column(o, "scores", c, r, false);
	put_column(o, "pass_rates", c, r, true);
	json_open_member(o, "statuses", '[');
	for (i = 0; i < c->nfiles; i++)
		json_put_str(o, compare_task_status(r->in[i]));
	json_close(o, ']');
	compare_put_number(o, "score_delta", both, score);
	compare_put_number(o, "pass_rate_delta", both, rate);
	if (flip != NULL)
		json_put_member_str(o, "flip", str_of(flip));
	if (!is_everywhere(c, r))
		put_missing(o, "missing_in", c, r);
	if (both && score < 0)
		put_calls(o, r->in[0], r->in[c->nfiles - 1]);
	json_close(o, '}');
}

/* The ids of tasks that were fixed (to_pass) or broke. */
static void
put_flipped(struct json_out *o, const char *key, const struct compare *c,
    size_t file, bool to_pass)
{
	const char *flip;
	size_t i;

	json_open_member(o, key, '[');
	for (i = 0; i < c->nrows; i++) {
		flip = compare_flip(&c->rows[i], 0, file);
		if (flip != NULL && to_pass == (flip[0] != 'p'))
			json_put_str(o, c->rows[i].id);
	}
	json_close(o, ']');
}

/* Of the first file and the other; null if a trial does not report it. */
static void
put_used(struct json_out *o, const struct compare_pair *p)
{
	static const char *const keys[] = { [COMPARE_MS] = "duration_ms",
		[COMPARE_TOKENS] = "tokens", [COMPARE_COST] = "cost" };
	size_t i, k;

	json_open_member(o, "per_trial", '{');
	for (i = 0; i < COMPARE__USED; i++) {
		json_open_member(o, keys[i], '[');
		for (k = 0; k < 2; k++)
			if (p->used[i][k].known)
				json_put_double(o, p->used[i][k].mean);
			else
				json_put_null(o);
		json_close(o, ']');
	}
	json_close(o, '}');
}

/* The pass rates over the tasks in both, as shares. */
static void
put_rates(struct json_out *o, const struct compare_pair *p)
{
	double n = (double)p->tasks, needed;

	json_open_member(o, "pass_rates", '[');
	json_put_double(o, (double)p->passed[0] / n);
	json_put_double(o, (double)p->passed[1] / n);
	json_close(o, ']');
	json_put_member_double(o, "pass_rate_delta", ((double)p->fixed -
	    (double)p->broken) / n);
	if (p->tests & COMPARE_FLIPS) {
		json_open_member(o, "pass_rate_interval", '{');
		json_put_member_double(o, "lower", p->rate_lo);
		json_put_member_double(o, "upper", p->rate_hi);
		json_put_member_double(o, "confidence_level", 0.95);
		json_close(o, '}');
	} else
		json_put_member_null(o, "pass_rate_interval");
	needed = compare_tasks_needed(p);
	compare_put_number(o, "tasks_needed", needed > 0, needed);
	put_used(o, p);
}

static void
put_summary(struct json_out *o, const struct compare_pair *p)
{
	struct buf b = { 0 };

	json_put_member_str(o, "verdict", str_of(compare_word(p->verdict)));
	compare_sentence(&b, p);
	json_put_member_str(o, "summary", buf_str(&b));
	buf_free(&b);
}

static void
put_pair(struct json_out *o, const struct compare *c,
    const struct compare_pair *p)
{
	json_open(o, '{');
	json_put_member_int(o, "from", 0);
	json_put_member_int(o, "to", (int64_t)(p->file));
	json_put_member_int(o, "tasks", (int64_t)(p->tasks));
	json_put_member_int(o, "improved", (int64_t)(p->better));
	json_put_member_int(o, "worsened", (int64_t)(p->worse));
	json_put_member_int(o, "unchanged", (int64_t)(p->same));
	put_flipped(o, "fail_to_pass", c, p->file, true);
	put_flipped(o, "pass_to_fail", c, p->file, false);
	compare_put_number(o, "mean_delta", p->tasks > 0, p->mean);
	if (p->tasks > 0 && p->tests & COMPARE_SCORES) {
		json_open_member(o, "interval", '{');
		json_put_member_double(o, "lower", p->lo);
		json_put_member_double(o, "upper", p->hi);
		json_put_member_double(o, "confidence_level", 0.95);
		json_put_member_int(o, "num_bootstraps",
		    p->resampled ? STATS_BOOTSTRAPS : 0);
		json_close(o, '}');
	} else
		json_put_member_null(o, "interval");
	compare_put_number(o, "sign_test_p", p->tests & COMPARE_SCORES, p->p);
	compare_put_number(o, "mcnemar_p", p->tests & COMPARE_FLIPS,
	    p->p_flips);
	put_summary(o, p);
	if (p->tasks > 0)
		put_rates(o, p);
	json_close(o, '}');
}

/* A member with one value per file: put(o, files[i]->value). */
#define PUT_EACH(o, c, key, put, value) do { \
	size_t i_; \
	json_open_member(o, key, '['); \
	for (i_ = 0; i_ < (c)->nfiles; i_++) \
		put(o, (c)->files[i_]->value); \
	json_close(o, ']'); \
} while (0)

/* The columns that the original writes. */
static void
put_files(struct json_out *o, const struct compare *c)
{
	const struct outcome *const *f = c->files, *last = f[c->nfiles - 1];

	PUT_EACH(o, c, "files", json_put_cstr, path);
	PUT_EACH(o, c, "models", json_put_str, model);
	PUT_EACH(o, c, "aggregate_scores", json_put_double, score);
	PUT_EACH(o, c, "success_rates", json_put_double, rate);
	json_put_member_double(o, "aggregate_score_delta",
	    last->score - f[0]->score);
	json_put_member_double(o, "success_rate_delta",
	    last->rate - f[0]->rate);
}

static void
put_totals(struct json_out *o, const struct compare *c)
{
	const struct outcome *const *f = c->files, *last = f[c->nfiles - 1];
	size_t i;

	json_open_member(o, "total_tests", '[');
	for (i = 0; i < c->nfiles; i++)
		json_put_int(o, (int64_t)f[i]->ntasks);
	json_close(o, ']');
	PUT_EACH(o, c, "durations_ms", json_put_int, duration_ms);
	json_put_member_int(o, "duration_delta_ms",
	    last->duration_ms - f[0]->duration_ms);
	PUT_EACH(o, c, "eval_names", json_put_str, name);
}

void
compare_json(struct buf *b, const struct compare *c)
{
	struct json_out o = { .put = buf_sink, .ctx = b, .indent = 2 };
	size_t i;

	json_open(&o, '{');
	put_files(&o, c);
	json_open_member(&o, "task_deltas", '[');
	for (i = 0; i < c->nrows; i++)
		put_row(&o, c, &c->rows[i]);
	json_close(&o, ']');
	put_totals(&o, c);
	if (c->stop != NULL)
		json_put_member_cstr(&o, "stop", c->stop);
	json_open_member(&o, "comparisons", '[');
	for (i = 0; i < c->nfiles - 1; i++)
		put_pair(&o, c, &c->pairs[i]);
	json_close(&o, ']');
	json_open_member(&o, "missing", '[');
	for (i = 0; i < c->nrows; i++) {
		if (is_everywhere(c, &c->rows[i]))
			continue;
		json_open(&o, '{');
		json_put_member_str(&o, "task_id", c->rows[i].id);
		put_missing(&o, "files", c, &c->rows[i]);
		json_close(&o, '}');
	}
	json_close(&o, ']');
	json_open_member(&o, "warnings", '[');
	for (i = 0; i < c->nwarnings; i++)
		json_put_str(&o, c->warnings[i]);
	json_close(&o, ']');
	put_summary(&o, &c->pairs[c->nfiles - 2]);
	json_close(&o, '}');
	buf_putc(b, '\n');
}
