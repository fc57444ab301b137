/* SPDX-License-Identifier: ISC */
/*
 * A comparison as JSON, in the original's keys, ours after them.  What is
 * not there is null, where the original had NaN and no JSON.
 */
#include "report/compare.h"

#include "json.h"
#include "lib/stats.h"
#include "results/outcome.h"

static void
key_open(struct json_out *o, struct str key, char bracket)
{
	json_put_key(o, key);
	json_open(o, bracket);
}

static void
key_num(struct json_out *o, struct str key, double d)
{
	json_put_key(o, key);
	json_put_double(o, d);
}

static void
key_count(struct json_out *o, struct str key, size_t n)
{
	json_put_key(o, key);
	json_put_int(o, (int64_t)n);
}

static void
key_str(struct json_out *o, struct str key, struct str s)
{
	json_put_key(o, key);
	json_put_str(o, s);
}

/* One number a file, null for a task that is not there. */
static void
put_column(struct json_out *o, struct str key, const struct compare *c,
    const struct compare_row *r, bool pass_rate)
{
	size_t i;

	key_open(o, key, '[');
	for (i = 0; i < c->nfiles; i++)
		if (r->in[i] == NULL || !r->in[i]->finished)
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
put_missing(struct json_out *o, struct str key, const struct compare *c,
    const struct compare_row *r)
{
	size_t i;

	key_open(o, key, '[');
	for (i = 0; i < c->nfiles; i++)
		if (r->in[i] == NULL)
			json_put_int(o, (int64_t)i);
	json_close(o, ']');
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
	key_str(o, STR("task_id"), r->id);
	key_str(o, STR("display_name"), r->name);
	put_column(o, STR("scores"), c, r, false);
	put_column(o, STR("pass_rates"), c, r, true);
	key_open(o, STR("statuses"), '[');
	for (i = 0; i < c->nfiles; i++)
		json_put_str(o, compare_task_status(r->in[i]));
	json_close(o, ']');
	json_put_key(o, STR("score_delta"));
	if (both)
		json_put_double(o, score);
	else
		json_put_null(o);
	json_put_key(o, STR("pass_rate_delta"));
	if (both)
		json_put_double(o, rate);
	else
		json_put_null(o);
	if (flip != NULL)
		key_str(o, STR("flip"), str_of(flip));
	if (!is_everywhere(c, r))
		put_missing(o, STR("missing_in"), c, r);
	json_close(o, '}');
}

/* The ids of tasks that flipped, to pass or from it. */
static void
put_flipped(struct json_out *o, struct str key, const struct compare *c,
    size_t file, bool to_pass)
{
	const char *flip;
	size_t i;

	key_open(o, key, '[');
	for (i = 0; i < c->nrows; i++) {
		flip = compare_flip(&c->rows[i], 0, file);
		if (flip != NULL && to_pass == (flip[0] != 'p'))
			json_put_str(o, c->rows[i].id);
	}
	json_close(o, ']');
}

static void
put_summary(struct json_out *o, const struct compare_pair *p)
{
	struct buf b = { 0 };

	key_str(o, STR("verdict"), str_of(compare_word(p->verdict)));
	compare_sentence(&b, p);
	key_str(o, STR("summary"), buf_str(&b));
	buf_free(&b);
}

static void
put_pair(struct json_out *o, const struct compare *c,
    const struct compare_pair *p)
{
	json_open(o, '{');
	key_count(o, STR("from"), 0);
	key_count(o, STR("to"), p->file);
	key_count(o, STR("tasks"), p->tasks);
	key_count(o, STR("improved"), p->better);
	key_count(o, STR("worsened"), p->worse);
	key_count(o, STR("unchanged"), p->same);
	put_flipped(o, STR("fail_to_pass"), c, p->file, true);
	put_flipped(o, STR("pass_to_fail"), c, p->file, false);
	json_put_key(o, STR("mean_delta"));
	if (p->tasks > 0)
		json_put_double(o, p->mean);
	else
		json_put_null(o);
	json_put_key(o, STR("interval"));
	if (p->tasks > 0) {
		json_open(o, '{');
		key_num(o, STR("lower"), p->lo);
		key_num(o, STR("upper"), p->hi);
		key_num(o, STR("confidence_level"), 0.95);
		key_count(o, STR("num_bootstraps"),
		    p->resampled ? STATS_BOOTSTRAPS : 0);
		json_close(o, '}');
	} else
		json_put_null(o);
	key_num(o, STR("sign_test_p"), p->p);
	key_num(o, STR("mcnemar_p"), p->p_flips);
	put_summary(o, p);
	json_close(o, '}');
}

/* What the original has of each file. */
static void
put_files(struct json_out *o, const struct compare *c)
{
	const struct outcome *const *f = c->files, *last = f[c->nfiles - 1];
	size_t i;

	key_open(o, STR("files"), '[');
	for (i = 0; i < c->nfiles; i++)
		json_put_cstr(o, f[i]->path);
	json_close(o, ']');
	key_open(o, STR("models"), '[');
	for (i = 0; i < c->nfiles; i++)
		json_put_str(o, f[i]->model);
	json_close(o, ']');
	key_open(o, STR("aggregate_scores"), '[');
	for (i = 0; i < c->nfiles; i++)
		json_put_double(o, f[i]->score);
	json_close(o, ']');
	key_open(o, STR("success_rates"), '[');
	for (i = 0; i < c->nfiles; i++)
		json_put_double(o, f[i]->rate);
	json_close(o, ']');
	key_num(o, STR("aggregate_score_delta"), last->score - f[0]->score);
	key_num(o, STR("success_rate_delta"), last->rate - f[0]->rate);
}

static void
put_totals(struct json_out *o, const struct compare *c)
{
	const struct outcome *const *f = c->files, *last = f[c->nfiles - 1];
	size_t i;

	key_open(o, STR("total_tests"), '[');
	for (i = 0; i < c->nfiles; i++)
		json_put_int(o, (int64_t)f[i]->ntasks);
	json_close(o, ']');
	key_open(o, STR("durations_ms"), '[');
	for (i = 0; i < c->nfiles; i++)
		json_put_int(o, f[i]->duration_ms);
	json_close(o, ']');
	json_put_member_int(o, "duration_delta_ms",
	    last->duration_ms - f[0]->duration_ms);
	key_open(o, STR("eval_names"), '[');
	for (i = 0; i < c->nfiles; i++)
		json_put_str(o, f[i]->name);
	json_close(o, ']');
}

void
compare_json(struct buf *b, const struct compare *c)
{
	struct json_out o = { .put = buf_sink, .ctx = b, .indent = 2 };
	size_t i;

	json_open(&o, '{');
	put_files(&o, c);
	key_open(&o, STR("task_deltas"), '[');
	for (i = 0; i < c->nrows; i++)
		put_row(&o, c, &c->rows[i]);
	json_close(&o, ']');
	put_totals(&o, c);
	key_open(&o, STR("comparisons"), '[');
	for (i = 0; i < c->nfiles - 1; i++)
		put_pair(&o, c, &c->pairs[i]);
	json_close(&o, ']');
	key_open(&o, STR("missing"), '[');
	for (i = 0; i < c->nrows; i++) {
		if (is_everywhere(c, &c->rows[i]))
			continue;
		json_open(&o, '{');
		key_str(&o, STR("task_id"), c->rows[i].id);
		put_missing(&o, STR("files"), c, &c->rows[i]);
		json_close(&o, '}');
	}
	json_close(&o, ']');
	key_open(&o, STR("warnings"), '[');
	for (i = 0; i < c->nwarnings; i++)
		json_put_str(&o, c->warnings[i]);
	json_close(&o, ']');
	put_summary(&o, &c->pairs[c->nfiles - 2]);
	json_close(&o, '}');
	buf_putc(b, '\n');
}
