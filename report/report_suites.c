/* SPDX-License-Identifier: ISC */
/*
 * The report of many suites.
 *
 * A pass is one suite with one model: a row of the table.  The sums of several
 * passes are computed here from the numbers in memory; only the reasons of
 * tasks that did not pass are read from the journals.
 */
#include "report/report_suites.h"

#include "json.h"
#include "report/report_internal.h"
#include "results/result.h"
#include "suite/spec.h"

enum {
	NAME_COLS = 40,		/* columns of a suite's name */
	TASKS_MAX = 50,		/* tasks that are listed, */
	TASKS_EACH = 5		/* of each pass */
};

struct totals {
	size_t suites, tasks, passed, failed, errors, skipped;
	size_t bad, not_run;	/* suites */
	size_t ungraded;	/* suites */
};

static bool
is_ok(const struct result_run *r)
{
	if (result_only_answers(r))
		return true;
	return result_ok(r) && (r->baseline == NULL ||
	    r->sum.rate >= r->baseline->sum.rate);
}

bool
report_suite_passed(const struct report_suite *s)
{
	const struct result_run *r;
	size_t i;

	for (i = 0; i < s->n; i++) {
		r = s->runs[i];
		if (r == NULL || !is_ok(r))
			return false;
	}
	return s->n > 0 && !s->failed && !s->planned;
}

static bool
has_run(const struct report_suite *s)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		if (s->runs[i] != NULL)
			return true;
	return false;
}

static void
add_up(struct totals *t, const struct report_suites *all)
{
	const struct result_totals *sum;
	size_t i, k;

	*t = (struct totals){ .suites = all->n };
	for (i = 0; i < all->n; i++) {
		for (k = 0; k < all->v[i].n; k++) {
			if (all->v[i].runs[k] == NULL)
				continue;
			sum = &all->v[i].runs[k]->sum;
			t->tasks += all->v[i].runs[k]->ntasks;
			t->passed += sum->passed;
			t->failed += sum->failed;
			t->errors += sum->errors;
			t->skipped += sum->skipped;
		}
		if (!has_run(&all->v[i]))
			t->not_run++;
		else if (!report_suite_passed(&all->v[i]))
			t->bad++;
		else if (result_only_answers(all->v[i].runs[0]))
			t->ungraded++;
	}
}

/*
 * Tasks that did not pass.
 */

/* The reason: the error, or the first verdict that failed. */
static void
put_reason(struct buf *b, const struct report_opts *o,
    const struct result_run *r, const struct result_task *k)
{
	struct arena a = { 0 };
	struct report_detail d;
	struct str why = k->error;
	size_t i;

	report_detail(&a, o, r, k, report_trial(k), &d);
	if (d.error.n > 0)
		why = d.error;
	for (i = 0; why.n == 0 && i < d.n; i++)
		if (d.v[i].status == RESULT_FAILED)
			why = d.v[i].feedback;
	if (why.n > 0) {
		buf_puts(b, "  ");
		report_line(b, why, 100, o->ascii);
	}
	arena_free(&a);
}

static void
put_task(struct buf *b, const struct report_opts *o, struct str suite,
    const struct result_run *r, const struct result_task *k)
{
	buf_puts(b, "  ");
	report_mark(b, k->status, o);
	report_line(b, suite, NAME_COLS, o->ascii);
	buf_puts(b, ": ");
	report_line(b, k->spec->name, NAME_COLS, o->ascii);
	put_reason(b, o, r, k);
	buf_putc(b, '\n');
}

static size_t
put_tasks(struct buf *b, const struct report_opts *o,
    const struct report_suite *s, const struct result_run *r, size_t room)
{
	size_t i, n = 0, most = room < TASKS_EACH ? room : TASKS_EACH;

	for (i = 0; i < r->ntasks; i++)
		if (r->tasks[i].status > RESULT_PASSED && n++ < most)
			put_task(b, o, s->name, r, &r->tasks[i]);
	if (n > most && most > 0)
		buf_fmt(b, "    and %zu more of this suite\n", n - most);
	return n < most ? n : most;
}

static void
put_failures(struct buf *b, const struct report_suites *all,
    const struct report_opts *o)
{
	struct buf list = { 0 };
	size_t i, k, room = TASKS_MAX;

	for (i = 0; i < all->n; i++)
		for (k = 0; k < all->v[i].n; k++)
			if (all->v[i].runs[k] != NULL)
				room -= put_tasks(&list, o, &all->v[i],
				    all->v[i].runs[k], room);
	if (list.n > 0)
		buf_fmt(b, "did not pass:\n%.*s\n", STRF(buf_str(&list)));
	buf_free(&list);
}

/*
 * The table.
 */
static void
put_row(struct buf *b, const struct report_suite *s, size_t i, size_t name,
    const struct report_opts *o)
{
	const struct result_run *r = s->runs[i];
	struct buf label = { 0 };
	bool ok;

	buf_put(&label, s->name);
	if (s->n > 1)
		buf_fmt(&label, " (%s)", s->models[i]);
	report_cell(b, buf_str(&label), name, o->ascii);
	buf_free(&label);
	if (r == NULL) {
		buf_puts(b, s->failed ? "  not completed\n" : "  not run\n");
		return;
	}
	buf_fmt(b, "  %5zu  %6zu  %6zu  %6zu  %6.1f%%  %5.2f  ", r->ntasks,
	    r->sum.passed, r->sum.failed, r->sum.errors,
	    report_rate(r->sum.rate), r->sum.score);
	report_took(b, r->duration_ms, 8);
	ok = is_ok(r);
	buf_puts(b, "  ");
	report_colored(b, ok ? "32" : "31", result_only_answers(r) ?
	    "not graded" : ok ? "passed" :
	    result_interrupted(r) ? "interrupted" : "failed", o);
	buf_putc(b, '\n');
}

static size_t
name_cols(const struct report_suites *all)
{
	size_t i, k, cols, most = 5;

	for (i = 0; i < all->n; i++)
		for (k = 0; k < all->v[i].n; k++) {
			cols = report_cols(all->v[i].name, NAME_COLS);
			if (all->v[i].n > 1)
				cols += 3 + report_cols(str_of(
				    all->v[i].models[k]), NAME_COLS);
			most = cols > most ? cols : most;
		}
	return most < NAME_COLS ? most : NAME_COLS;
}

void
report_suites_text(struct buf *b, const struct report_suites *all,
    const struct report_opts *o)
{
	size_t i, k, name = name_cols(all);
	struct totals t;
	bool ok;

	put_failures(b, all, o);
	report_cell(b, STR("suite"), name, true);
	buf_puts(b, "  tasks  passed  failed  errors     rate  score      "
	    "time\n");
	for (i = 0; i < all->n; i++)
		for (k = 0; k < all->v[i].n; k++)
			put_row(b, &all->v[i], k, name, o);
	add_up(&t, all);
	ok = t.bad == 0 && t.not_run == 0;
	buf_fmt(b, "\n%zu suites: %zu passed", t.suites,
	    t.suites - t.bad - t.not_run - t.ungraded);
	if (t.bad > 0)
		buf_fmt(b, ", %zu failed", t.bad);
	if (t.ungraded > 0)
		buf_fmt(b, ", %zu not graded", t.ungraded);
	if (t.not_run > 0)
		buf_fmt(b, ", %zu not run", t.not_run);
	buf_fmt(b, "; %zu tasks: %zu passed, %zu failed, %zu errors",
	    t.tasks, t.passed, t.failed, t.errors);
	if (t.skipped > 0)
		buf_fmt(b, ", %zu skipped", t.skipped);
	buf_puts(b, ", ");
	report_took(b, all->duration_ms, 0);
	buf_putc(b, '\n');
	if (all->skipped > 0)
		buf_fmt(b, "%zu skill%s without a suite\n", all->skipped,
		    all->skipped == 1 ? "" : "s");
	report_colored(b, ok ? "1;32" : "1;31", !ok ? "FAILED" :
	    t.ungraded > 0 ? "NOT GRADED" : "PASSED", o);
	buf_putc(b, '\n');
}

/*
 * The summary.
 */

/* Passed tests of all tests over the models, and the mean of their scores. */
static void
rate_suite(const struct report_suite *s, double *rate, double *score)
{
	size_t i, passed = 0, all = 0, n = 0;

	*score = 0;
	for (i = 0; i < s->n; i++) {
		if (s->runs[i] == NULL)
			continue;
		passed += s->runs[i]->sum.passed;
		all += s->runs[i]->ntasks;
		*score += s->runs[i]->sum.score;
		n++;
	}
	*rate = all > 0 ? (double)passed / (double)all : 0;
	*score = n > 0 ? *score / (double)n : 0;
}

static void
put_strings(struct json_out *o, const char *key, const char *const *v,
    size_t n)
{
	size_t i;

	json_open_member(o, key, '[');
	for (i = 0; i < n; i++)
		if (v[i] != NULL && *v[i] != '\0')
			json_put_cstr(o, v[i]);
	json_close(o, ']');
}

static void
put_counts(struct json_out *o, const struct totals *t)
{
	json_put_member_int(o, "tasks", (int64_t)t->tasks);
	json_put_member_int(o, "passed", (int64_t)t->passed);
	json_put_member_int(o, "failed", (int64_t)t->failed);
	json_put_member_int(o, "errors", (int64_t)t->errors);
	json_put_member_int(o, "skipped", (int64_t)t->skipped);
}

static void
put_skill(struct json_out *o, const struct report_suite *s)
{
	struct report_suites one = { .v = s, .n = 1 };
	struct totals t;
	double rate, score;

	rate_suite(s, &rate, &score);
	add_up(&t, &one);
	json_open(o, '{');
	json_put_member_str(o, "skill_name", s->skill.n > 0 ? s->skill :
	    s->name);
	put_strings(o, "models", s->models, s->n);
	json_put_member_double(o, "pass_rate", rate);
	json_put_member_double(o, "aggregate_score", score);
	put_strings(o, "output_files", s->files, s->n);
	json_put_member_str(o, "suite", s->name);
	json_put_member_cstr(o, "eval", s->path);
	json_put_member_cstr(o, "status", !has_run(s) ? "not_run" :
	    s->failed ? "error" : s->planned ? "incomplete" :
	    !report_suite_passed(s) ? "failed" : t.ungraded > 0 ? "skipped" :
	    "passed");
	put_counts(o, &t);
	json_close(o, '}');
}

static bool
is_first_model(const struct report_suites *all, size_t i, size_t k)
{
	struct str m = str_of(all->v[i].models[k]);
	size_t x, y;

	if (m.n == 0)
		return false;
	for (x = 0; x <= i; x++)
		for (y = 0; y < (x < i ? all->v[x].n : k); y++)
			if (str_eq(str_of(all->v[x].models[y]), m))
				return false;
	return true;
}

static void
put_overall(struct json_out *o, const struct report_suites *all)
{
	double rate, score, rates = 0, scores = 0;
	size_t i, k, n = 0, models = 0;
	struct totals t;

	for (i = 0; i < all->n; i++) {
		for (k = 0; k < all->v[i].n && models < 1000; k++)
			models += is_first_model(all, i, k);
		if (!has_run(&all->v[i]))
			continue;
		rate_suite(&all->v[i], &rate, &score);
		rates += rate;
		scores += score;
		n++;
	}
	add_up(&t, all);
	json_open_member(o, "overall", '{');
	json_put_member_int(o, "total_skills", (int64_t)all->n);
	json_put_member_int(o, "total_models", (int64_t)models);
	json_put_member_double(o, "avg_pass_rate", n > 0 ? rates / (double)n :
	    0);
	json_put_member_double(o, "avg_aggregate_score", n > 0 ?
	    scores / (double)n : 0);
	put_counts(o, &t);
	json_put_member_int(o, "suites_passed", (int64_t)(t.suites - t.bad -
	    t.not_run - t.ungraded));
	json_put_member_int(o, "suites_failed", (int64_t)t.bad);
	json_put_member_int(o, "suites_not_run", (int64_t)t.not_run);
	json_put_member_int(o, "skills_without_suite", (int64_t)all->skipped);
	json_put_member_int(o, "duration_ms", all->duration_ms);
	json_put_member_bool(o, "complete", all->complete);
	json_close(o, '}');
}

void
report_suites_json(struct buf *b, const struct report_suites *all)
{
	struct json_out o = { .put = buf_sink, .ctx = b, .indent = 2 };
	char when[RESULT_TIME_MAX];
	size_t i;

	result_time(when, all->ended_ns);
	json_open(&o, '{');
	json_put_member_cstr(&o, "timestamp", when);
	json_open_member(&o, "skills", '[');
	for (i = 0; i < all->n; i++)
		put_skill(&o, &all->v[i]);
	json_close(&o, ']');
	put_overall(&o, all);
	json_close(&o, '}');
	buf_putc(b, '\n');
}
