/* SPDX-License-Identifier: ISC */
/*
 * The decision of `waza gate`.  Every rule adds its findings to one list; the
 * exit status follows from the list, and every format prints the same list.
 */
#include "report/compare.h"

#include "lib/stats.h"
#include "report/report_internal.h"
#include "results/outcome.h"

enum { WAS, IS, TITLE_MAX = 400 };

static bool
passes(const struct outcome_task *t)
{
	return t != NULL && t->finished && t->status == RESULT_PASSED;
}

bool
compare_gate_marked(const struct compare_row *r)
{
	return (r->in[WAS] != NULL && r->in[WAS]->golden) ||
	    (r->in[IS] != NULL && r->in[IS]->golden);
}

/* A task that is in quarantine now counts in neither file. */
static bool
is_set_aside(const struct compare_row *r)
{
	const struct outcome_task *t = r->in[IS] != NULL ? r->in[IS] :
	    r->in[WAS];

	return t->quarantine.n > 0;
}

bool
compare_gate_golden(const struct compare_row *r)
{
	return compare_gate_marked(r) && !passes(r->in[IS]) &&
	    !is_set_aside(r);
}

const char *
compare_policy(enum compare_policy p)
{
	static const char *const words[] = {
		[COMPARE_ALLOW] = "allow", [COMPARE_WARN] = "warn",
		[COMPARE_FAIL] = "fail",
	};

	return words[p];
}

static void
add(struct compare_gate *g, const char *kind, bool fatal, struct str text,
    const struct compare_row *row)
{
	g->issues[g->nissues++] = (struct compare_issue){ kind, fatal, text,
	    row };
}

/* "name" [id], shortened. */
static struct str
title(struct arena *a, const struct compare_row *r)
{
	struct buf b = { 0 };
	struct str s;

	buf_putc(&b, '"');
	report_line(&b, r->name, TITLE_MAX, false);
	buf_putc(&b, '"');
	if (!str_eq(r->id, r->name)) {
		buf_puts(&b, " [");
		report_line(&b, r->id, TITLE_MAX, false);
		buf_putc(&b, ']');
	}
	s = arena_str(a, buf_str(&b));
	buf_free(&b);
	return s;
}

/*
 * A rule of --stop or fail_fast ended the suite before this task: it is not
 * removed, and whether it still passes is unknown.
 */
static bool
is_left_out(const struct compare_gate *g, const struct compare_row *r)
{
	return r->in[IS] != NULL ? outcome_is_left_out(r->in[IS]) :
	    g->of->files[IS]->unlisted > 0;
}

/* A skipped task has no result: it counts as if it were absent. */
static bool
is_absent(const struct compare_row *r, size_t k)
{
	return r->in[k] == NULL || r->in[k]->status == RESULT_SKIPPED;
}

static void
keep_others(struct compare_gate *g)
{
	size_t i;

	for (i = 0; i < g->of->nrows; i++) {
		struct compare_row *r = &g->of->rows[i];

		if (r->in[WAS] == NULL ||
		    (r->in[IS] != NULL && !is_left_out(g, r)))
			continue;
		r->in[IS] = r->in[WAS];
		g->nkept++;
	}
}

static void
count(struct compare_gate *g)
{
	size_t i, k, fixed = 0, broken = 0;

	for (i = 0; i < g->of->nrows; i++) {
		const struct compare_row *r = &g->of->rows[i];
		bool both = !is_absent(r, WAS) && !is_absent(r, IS);
		bool left = r->in[WAS] != NULL && is_left_out(g, r);

		if (is_set_aside(r)) {
			g->nquarantined++;
			continue;
		}
		for (k = WAS; k <= IS; k++) {
			g->tasks[k] += !is_absent(r, k);
			g->passed[k] += passes(r->in[k]);
			g->common_passed[k] += both && passes(r->in[k]);
		}
		fixed += both && passes(r->in[IS]) && !passes(r->in[WAS]);
		broken += both && passes(r->in[WAS]) && !passes(r->in[IS]);
		g->common += both;
		g->nnew += r->in[WAS] == NULL;
		g->nleft += left;
		g->left_common += left && !is_absent(r, WAS);
		g->left_passed += left && passes(r->in[WAS]);
		g->nremoved += is_absent(r, IS) && !is_left_out(g, r);
		g->ngolden += g->rules->golden && compare_gate_golden(r);
	}
	g->p = stats_sign_test(fixed, broken);
	g->tested = (g->of->pairs[0].tests & COMPARE_FLIPS) != 0;
}

/* In percentage points.  Counts are far below 2^25, so it rounds only once. */
static double
drop(size_t was, size_t of_was, size_t is, size_t of_is)
{
	double a = (double)was * (double)of_is * 100;
	double b = (double)is * (double)of_was * 100;

	if (of_was == 0 || of_is == 0 || a <= b)
		return 0;
	return (a - b) / ((double)of_was * (double)of_is);
}

/* The reason; rates as the drop was computed. */
static struct str
drop_text(struct arena *a, const struct compare_gate *g, double was,
    double is, const char *over)
{
	struct buf b = { 0 };
	struct str s;

	buf_fmt(&b, "the pass rate fell by %s",
	    g->nleft > 0 ? "at least " : "");
	compare_points(&b, g->drop, false);
	buf_fmt(&b, " percentage points%s, from %.1f%% to %s%.1f%% (allowed: ",
	    over, report_rate(was), g->nleft > 0 ? "at most " : "",
	    report_rate(is));
	compare_points(&b, g->rules->max_drop, false);
	buf_putc(&b, ')');
	if (g->rules->significant && !g->tested)
		buf_puts(&b, ", and whether by chance cannot be tested");
	else if (g->rules->significant && !(g->p < 0.05))
		buf_puts(&b, ", but chance alone can explain this");
	s = arena_str(a, buf_str(&b));
	buf_free(&b);
	return s;
}

static double
share(size_t n, size_t of)
{
	return of == 0 ? 0 : (double)n / (double)of;
}

/* A failure must be sure: tasks that were left out count as passed here. */
static void
check_rate(struct arena *a, struct compare_gate *g)
{
	size_t passed = g->passed[IS] + g->nleft;
	size_t tasks = g->tasks[IS] + g->nleft;
	size_t common = g->common + g->left_common;
	size_t was = g->common_passed[WAS] + g->left_passed;
	size_t is = g->common_passed[IS] + g->left_common;
	double all = drop(g->passed[WAS], g->tasks[WAS], passed, tasks);
	double both = drop(was, common, is, common);
	bool chance = g->rules->significant && g->tested && !(g->p < 0.05);

	g->rate[WAS] = share(g->passed[WAS], g->tasks[WAS]);
	g->rate[IS] = share(g->passed[IS], g->tasks[IS]);
	g->drop = all > both ? all : both;
	if (g->drop > g->rules->max_drop + 1e-9)
		add(g, "regression", !chance, both > all ?
		    drop_text(a, g, share(was, common), share(is, common),
		    " over the tasks in both") :
		    drop_text(a, g, g->rate[WAS], share(passed, tasks), ""),
		    NULL);
	if (share(passed, tasks) * 100 < g->rules->min_pass - 1e-9)
		add(g, "pass_rate", true, arena_fmt(a, "%s%.1f%% of the tasks "
		    "passed, less than the required %g%%", g->nleft > 0 ?
		    "at most " : "", report_rate(share(passed, tasks)),
		    g->rules->min_pass), NULL);
}

static void
check_policy(struct arena *a, struct compare_gate *g,
    enum compare_policy policy, size_t absent)
{
	static const char *const kinds[] = { "new_task", "removed_task" };
	static const char *const words[] = {
		"is new", "was removed"
	};
	size_t i;

	if (policy == COMPARE_ALLOW)
		return;
	for (i = 0; i < g->of->nrows; i++) {
		const struct compare_row *r = &g->of->rows[i];
		struct str s;

		if (is_set_aside(r) || is_left_out(g, r) || (absent == IS ?
		    !is_absent(r, IS) : r->in[WAS] != NULL))
			continue;
		s = title(a, r);
		add(g, kinds[absent], policy == COMPARE_FAIL,
		    arena_fmt(a, "task %.*s %s", STRF(s),
		    r->in[absent] != NULL ? "was skipped" : words[absent]), r);
	}
}

/* No failure: the decision is open if there is no other. */
static void
check_left_out(struct arena *a, struct compare_gate *g)
{
	size_t i;

	for (i = 0; i < g->of->nrows; i++) {
		const struct compare_row *r = &g->of->rows[i];

		if (!is_left_out(g, r) || r->in[WAS] == NULL ||
		    is_set_aside(r))
			continue;
		add(g, "task_not_run", false, arena_fmt(a, "task %.*s was not "
		    "run: %.100s", STRF(title(a, r)), r->in[IS] != NULL ?
		    r->in[IS]->skipped : "the run had ended"), r);
	}
}

static void
check_golden(struct arena *a, struct compare_gate *g)
{
	size_t i;

	for (i = 0; i < g->of->nrows; i++) {
		const struct compare_row *r = &g->of->rows[i];
		struct str s, status;

		if (!compare_gate_golden(r))
			continue;
		s = title(a, r);
		status = utf8_cut(compare_task_status(r->in[IS]), 40);
		add(g, "golden_failure", true, r->in[IS] == NULL ?
		    arena_fmt(a, "golden task %.*s was removed",
		    STRF(s)) : arena_fmt(a, "golden task %.*s did not pass: "
		    "%.*s", STRF(s), STRF(status)), r);
	}
}

void
compare_gate(struct arena *a, struct compare_gate *g,
    const struct compare *c, const struct compare_rules *rules)
{
	size_t i;

	*g = (struct compare_gate){ .of = c, .rules = rules };
	if (rules->partial)
		keep_others(g);
	count(g);
	g->issues = NEW_N(a, struct compare_issue, 2 + c->nwarnings +
	    g->nnew + g->nremoved + g->nleft + g->ngolden);
	check_rate(a, g);
	if (rules->golden)
		check_golden(a, g);
	check_policy(a, g, rules->on_new, WAS);
	check_policy(a, g, rules->on_removed, IS);
	check_left_out(a, g);
	for (i = 0; i < c->nwarnings; i++)
		add(g, "warning", false, c->warnings[i], NULL);
	for (i = 0; i < g->nissues; i++)
		if (g->issues[i].fatal)
			g->status = COMPARE_REGRESSED;
	if (g->ngolden > 0)
		g->status = COMPARE_GOLDEN;
	if (g->status == COMPARE_OK && g->nleft > 0)
		g->status = COMPARE_CONFIG;
}
