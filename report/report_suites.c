/* SPDX-License-Identifier: ISC */
/*
 * The report of many suites.
 *
 * A pass is one suite with one cell of its matrix: a row of the table.  The
 * sums of several passes are computed here from the numbers in memory; only the
 * reasons of tasks that did not pass are read from the journals.
 */
#include "report/report_suites.h"

#include "json.h"
#include "report/matrix/matrix.h"
#include "report/report_internal.h"
#include "results/result.h"
#include "suite/spec.h"

enum {
	TASKS_MAX = 50,		/* tasks that are listed, */
	TASKS_EACH = 5		/* of each pass */
};

struct totals {
	size_t suites, tasks, passed, failed, errors, skipped, quarantined;
	size_t bad, not_run, ungraded, interrupted;	/* suites */
};

static bool
is_ok(const struct result_run *r)
{
	if (result_only_answers(r))
		return true;
	return result_ok(r) && (r->baseline == NULL || r->ref != NULL ||
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

/* Whether an interruption is the only reason why a suite did not pass. */
static bool
was_interrupted(const struct report_suite *s)
{
	bool some = false;
	size_t i;

	for (i = 0; i < s->n; i++) {
		if (s->runs[i] == NULL || is_ok(s->runs[i]))
			continue;
		if (!result_interrupted(s->runs[i]) ||
		    s->runs[i]->sum.failed + s->runs[i]->sum.errors > 0)
			return false;
		some = true;
	}
	return some && !s->failed;
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
			t->tasks += all->v[i].runs[k]->ntasks +
			    all->v[i].runs[k]->left_out;
			t->passed += sum->passed;
			t->failed += sum->failed;
			t->errors += sum->errors;
			t->skipped += sum->skipped;
			t->quarantined += sum->quarantined;
		}
		if (!has_run(&all->v[i]))
			t->not_run++;
		else if (was_interrupted(&all->v[i]))
			t->interrupted++;
		else if (!report_suite_passed(&all->v[i]))
			t->bad++;
		else if (result_only_answers(all->v[i].runs[0]))
			t->ungraded++;
	}
}

/*
 * Tasks that did not pass.
 */

static void
put_task(struct buf *b, const struct report_opts *o, struct str suite,
    const struct result_run *r, const struct result_task *k)
{
	struct report_flow f = { .b = b, .o = o, .at = 4, .indent = 6 };
	struct arena a = { 0 };

	buf_puts(b, "  ");
	report_mark(b, k->status, o);
	report_flow(&f, NULL, suite);
	report_flow_part(&f, NULL, ": ", k->spec->name);
	report_flow_reason(&f, "  ", report_why(&a, o, r, k));
	report_flow_end(&f);
	arena_free(&a);
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
	if (list.n > 0) {
		report_colored(b, "1", "Failures", o);
		buf_putc(b, '\n');
		buf_fmt(b, "%.*s\n", STRF(buf_str(&list)));
	}
	buf_free(&list);
}

/*
 * The table.
 */
enum { SUITE, TASKS, PASSED, FAILED, ERRORS, RATE, SCORE, TIME, COLUMNS };

static struct str
count(struct arena *a, size_t n)
{
	return arena_fmt(a, "%zu", n);
}

/* The verdict of a pass is the mark of its row; others have a note. */
static void
fill_row(struct arena *a, struct report_row *row, const struct result_run *r)
{
	struct buf took = { 0 };

	row->mark = result_only_answers(r) ? RESULT_SKIPPED : is_ok(r) ?
	    RESULT_PASSED : result_interrupted(r) ? RESULT_NONE :
	    RESULT_FAILED;
	if (row->mark != RESULT_PASSED && row->mark != RESULT_FAILED)
		row->note = r->skipped != NULL ? STR("out of budget") :
		    row->mark == RESULT_NONE ? STR("interrupted") :
		    STR("not graded");
	row->cell[TASKS] = count(a, r->ntasks + r->left_out);
	row->cell[PASSED] = count(a, r->sum.passed);
	row->cell[FAILED] = count(a, r->sum.failed);
	row->cell[ERRORS] = count(a, r->sum.errors);
	row->cell[SCORE] = arena_fmt(a, "%.2f", r->sum.score);
	if (r->complete)
		row->cell[RATE] = arena_fmt(a, "%.1f%%",
		    report_rate(r->sum.rate));
	report_took(&took, r->duration_ms, 0);
	row->cell[TIME] = arena_take(a, &took);
}

static void
put_table(struct buf *b, const struct report_suites *all,
    const struct report_opts *o)
{
	static const struct report_column cols[COLUMNS] = {
		[SUITE] = { "suite", 0 }, [TASKS] = { "tasks", 6 },
		[PASSED] = { "passed", 7 }, [FAILED] = { "failed", 5 },
		[ERRORS] = { "errors", 4 }, [RATE] = { "pass rate", 3 },
		[SCORE] = { "score", 2 }, [TIME] = { "time", 1 } };
	struct arena a = { 0 };
	struct report_table table = { .cols = cols, .ncols = COLUMNS,
		.marks = true };
	const struct report_suite *s;
	struct report_row *rows, *row;
	size_t i, k, n = 0;

	for (i = 0; i < all->n; i++)
		n += all->v[i].n;
	table.rows = rows = NEW_N(&a, struct report_row, n);
	for (i = 0; i < all->n; i++)
		for (s = &all->v[i], k = 0; k < s->n; k++) {
			row = &rows[table.n++];
			*row = (struct report_row){ .cell = { s->n > 1 ?
				arena_fmt(&a, "%.*s (%.*s)", STRF(s->name),
				    STRF(s->cells[k])) : s->name } };
			if (s->runs[k] != NULL)
				fill_row(&a, row, s->runs[k]);
			else
				row->note = s->failed ? STR("not completed") :
				    STR("not run");
		}
	report_table(b, &table, o);
	arena_free(&a);
}

/*
 * The end.
 */
static void
add_reuse(struct result_reuse *sum, const struct report_suites *all)
{
	const struct result_reuse *u;
	size_t i, k;

	*sum = (struct result_reuse){ 0 };
	for (i = 0; i < all->n; i++)
		for (k = 0; k < all->v[i].n; k++) {
			if (all->v[i].runs[k] == NULL)
				continue;
			u = &all->v[i].runs[k]->reuse;
			sum->resumes |= u->resumes;
			sum->caches |= u->caches;
			sum->resumed += u->resumed;
			sum->cached += u->cached;
			sum->trials += u->trials;
		}
}

static void
put_totals(struct buf *b, const struct report_suites *all,
    const struct totals *t, const struct report_opts *o)
{
	struct report_flow f = { .b = b, .o = o, .indent = 2 };
	struct result_reuse reuse;
	struct buf took = { 0 };

	report_flow_fmt(&f, NULL, "%zu suites: %zu passed", t->suites,
	    t->suites - t->bad - t->interrupted - t->not_run - t->ungraded);
	if (t->bad > 0)
		report_flow_fmt(&f, NULL, ", %zu failed", t->bad);
	if (t->interrupted > 0)
		report_flow_fmt(&f, NULL, ", %zu interrupted", t->interrupted);
	if (t->ungraded > 0)
		report_flow_fmt(&f, NULL, ", %zu not graded", t->ungraded);
	if (t->not_run > 0)
		report_flow_fmt(&f, NULL, ", %zu not run", t->not_run);
	report_flow_fmt(&f, NULL, "; %zu tasks: %zu passed, %zu failed, %zu "
	    "errors", t->tasks, t->passed, t->failed, t->errors);
	if (t->skipped > 0)
		report_flow_fmt(&f, NULL, ", %zu skipped", t->skipped);
	if (t->quarantined > 0)
		report_flow_fmt(&f, NULL, ", %zu in quarantine",
		    t->quarantined);
	report_took(&took, all->duration_ms, 0);
	report_flow(&f, NULL, STR(","));
	report_flow_part(&f, NULL, " ", buf_str(&took));
	report_flow_end(&f);
	buf_free(&took);
	if (all->skipped > 0)
		buf_fmt(b, "%zu skill%s without a suite\n", all->skipped,
		    all->skipped == 1 ? "" : "s");
	add_reuse(&reuse, all);
	report_reused(&f, &reuse);
}

static bool
was_cancelled(const struct report_suites *all)
{
	size_t i, k;

	for (i = 0; i < all->n; i++)
		for (k = 0; k < all->v[i].n; k++)
			if (all->v[i].runs[k] != NULL &&
			    all->v[i].runs[k]->cancelled)
				return true;
	return false;
}

static void
put_controls(struct buf *b, const struct report_suites *all,
    const struct report_opts *o)
{
	size_t i, k;

	for (i = 0; i < all->n; i++)
		for (k = 0; k < all->v[i].n; k++)
			if (all->v[i].runs[k] != NULL)
				report_controls_text(b, all->v[i].runs[k],
				    true, o);
}

static void
put_matrices(struct buf *b, const struct report_suites *all,
    const struct report_opts *o)
{
	struct report_flow f = { .b = b, .o = o };
	size_t i;

	for (i = 0; i < all->n; i++)
		if (all->v[i].matrix != NULL) {
			buf_putc(b, '\n');
			report_flow(&f, "1", all->v[i].name);
			report_flow_end(&f);
			matrix_text(b, all->v[i].matrix, o);
		}
}

void
report_suites_text(struct buf *b, const struct report_suites *all,
    const struct report_opts *o)
{
	struct totals t;
	bool ok;

	put_failures(b, all, o);
	put_table(b, all, o);
	put_matrices(b, all, o);
	put_controls(b, all, o);
	add_up(&t, all);
	ok = t.bad == 0 && t.interrupted == 0 && t.not_run == 0;
	buf_putc(b, '\n');
	put_totals(b, all, &t, o);
	report_verdict(b, was_cancelled(all) ? "INTERRUPTED" : o->larger ?
	    "OUT OF BUDGET" : !ok ? "FAILED" :
	    t.ungraded > 0 ? "NOT GRADED" : "PASSED", STR(""), o);
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
		all += s->runs[i]->ntasks + s->runs[i]->left_out;
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
	struct buf matrix = { 0 };
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
	    s->failed ? "error" : s->planned || t.interrupted > 0 ?
	    "incomplete" : !report_suite_passed(s) ? "failed" :
	    t.ungraded > 0 ? "skipped" : "passed");
	put_counts(o, &t);
	if (s->matrix != NULL) {
		matrix_json(&matrix, s->matrix, true);
		json_put_member_raw(o, "matrix", buf_str(&matrix));
		buf_free(&matrix);
	}
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
	    t.interrupted - t.not_run - t.ungraded));
	json_put_member_int(o, "suites_failed", (int64_t)t.bad);
	json_put_member_int(o, "suites_interrupted", (int64_t)t.interrupted);
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
