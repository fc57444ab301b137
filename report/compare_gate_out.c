/* SPDX-License-Identifier: ISC */
/*
 * The output of `waza gate`: text, JSON, Markdown, GitHub workflow commands.
 */
#include "report/compare.h"

#include "json.h"
#include "report/report_internal.h"
#include "results/outcome.h"

enum { WAS, IS, LIST_MAX = 50 };

static const char *const verdicts[] = {
	[COMPARE_OK] = "pass", [COMPARE_REGRESSED] = "fail",
	[COMPARE_GOLDEN] = "golden-failure",
};

/* The lists of the original, in its order; a task may be in several. */
enum list_kind { GOLDEN, NEW_TASK, REMOVED, BROKEN, FIXED };
static const char *const list_keys[] = {
	[GOLDEN] = "golden_failures", [NEW_TASK] = "new_tasks",
	[REMOVED] = "removed_tasks", [BROKEN] = "regressions",
	[FIXED] = "improvements",
};

static bool
is_in(enum list_kind list, const struct compare_gate *g,
    const struct compare_row *r)
{
	const char *flip = compare_flip(r, WAS, IS);

	switch (list) {
	case GOLDEN:
		return g->rules->golden && compare_gate_golden(r);
	case NEW_TASK:
		return r->in[WAS] == NULL;
	case REMOVED:
		return r->in[IS] == NULL;
	case BROKEN:
		return flip != NULL && flip[0] == 'p';
	case FIXED:
		break;
	}
	return flip != NULL && flip[0] != 'p';
}

static void
put_side(struct buf *b, const struct compare_gate *g, size_t k,
    const struct report_opts *o)
{
	const struct outcome *f = g->of->files[k];

	buf_fmt(b, "  %s  %5.1f%% of %zu task%s passed  score %.3f  ",
	    k == WAS ? "baseline" : "current ", report_rate(g->rate[k]),
	    g->tasks[k], g->tasks[k] == 1 ? "" : "s", f->score);
	report_line(b, str_of(f->path), 60, o->ascii);
	report_part(b, "  ", f->model, 40, o->ascii, "");
	buf_putc(b, '\n');
}

/* A list with a title, for people; o is NULL in Markdown. */
struct list {
	struct buf *b;
	const struct report_opts *o;
	const char *title;
	size_t n;
};

static bool
is_full(const struct list *l)
{
	return l->n > LIST_MAX && (l->o == NULL || !l->o->verbose);
}

/* Starts an item; false if it is not listed. */
static bool
list_item(struct list *l)
{
	if (l->n++ == 0)
		buf_fmt(l->b, l->o != NULL ? "\n%s:\n" : "\n### %s\n\n",
		    l->title);
	if (is_full(l))
		return false;
	buf_puts(l->b, l->o != NULL ? "  " : "- ");
	return true;
}

static void
list_end(struct list *l)
{
	if (is_full(l))
		buf_fmt(l->b, l->o != NULL ?
		    "  and %zu more; use -v to list them\n" :
		    "- and %zu more\n", l->n - LIST_MAX);
}

static void
put_flipped(struct buf *b, const struct compare_gate *g, bool to_pass,
    const struct report_opts *o)
{
	struct list l = { b, o, to_pass ? "Fixed" : "Broke", 0 };
	const struct compare_row *r;
	size_t i;

	for (i = 0; i < g->of->nrows; i++) {
		r = &g->of->rows[i];
		if (!is_in(to_pass ? FIXED : BROKEN, g, r) || !list_item(&l))
			continue;
		if (o != NULL) {
			report_mark(b, r->in[IS]->status, o);
			report_line(b, r->name, 80, o->ascii);
		} else {
			buf_puts(b, to_pass ? "✅ " : "❌ ");
			report_inline(b, r->name, 100);
		}
		buf_fmt(b, o != NULL ? "  %s\n" : " (%s)\n",
		    compare_flip(r, WAS, IS));
	}
	list_end(&l);
}

static void
put_issues(struct buf *b, const struct compare_gate *g, bool fatal,
    const struct report_opts *o)
{
	struct list l = { b, o, fatal ? "Failures" : "Warnings", 0 };
	size_t i;

	for (i = 0; i < g->nissues; i++) {
		if (g->issues[i].fatal != fatal || !list_item(&l))
			continue;
		if (o != NULL)
			report_line(b, g->issues[i].text, 0, o->ascii);
		else
			report_inline(b, g->issues[i].text, 300);
		buf_putc(b, '\n');
	}
	list_end(&l);
}

static void
put_changes(struct buf *b, const struct compare_gate *g,
    const struct report_opts *o)
{
	put_flipped(b, g, false, o);
	put_flipped(b, g, true, o);
	put_issues(b, g, true, o);
	put_issues(b, g, false, o);
}

void
compare_gate_text(struct buf *b, const struct compare_gate *g,
    const struct report_opts *o)
{
	const char *const words[] = { "passed", "failed",
		"failed: golden tasks" };
	struct buf s = { 0 };

	buf_puts(b, "gate ");
	report_colored(b, g->status == COMPARE_OK ? "32" : "31",
	    words[g->status], o);
	buf_putc(b, '\n');
	put_side(b, g, WAS, o);
	put_side(b, g, IS, o);
	buf_fmt(b, "  drop of the pass rate: %.2f percentage points (allowed: "
	    "%.2f)\n  %zu task%s in both, %zu new, %zu removed\n  ",
	    g->drop, g->rules->max_drop, g->common,
	    g->common == 1 ? "" : "s", g->nnew, g->nremoved);
	compare_sentence(&s, &g->of->pairs[0]);
	compare_wrapped(b, buf_str(&s), 2, o->width > 0 ? o->width : 80);
	buf_putc(b, '\n');
	buf_free(&s);
	put_changes(b, g, o);
}

static void
put_task(struct json_out *o, const struct compare_row *r)
{
	const struct outcome_task *t = r->in[IS] != NULL ? r->in[IS] :
	    r->in[WAS];

	json_open(o, '{');
	json_put_member_str(o, "task_id", r->id);
	json_put_member_str(o, "display_name", r->name);
	if (compare_gate_marked(r))
		json_put_member_bool(o, "golden", true);
	json_put_member_str(o, "status", compare_task_status(t));
	json_put_member_double(o, "pass_rate", t->pass_rate);
	json_close(o, '}');
}

static void
put_lists(struct json_out *o, const struct compare_gate *g)
{
	size_t i, k;

	for (i = 0; i < COUNTOF(list_keys); i++) {
		json_open_member(o, list_keys[i], '[');
		for (k = 0; k < g->of->nrows; k++)
			if (is_in((enum list_kind)i, g, &g->of->rows[k]))
				put_task(o, &g->of->rows[k]);
		json_close(o, ']');
	}
}

static void
put_issue_list(struct json_out *o, const struct compare_gate *g, bool fatal)
{
	size_t i;

	json_open_member(o, fatal ? "failures" : "warnings", '[');
	for (i = 0; i < g->nissues; i++) {
		const struct compare_issue *is = &g->issues[i];

		if (is->fatal != fatal)
			continue;
		json_open(o, '{');
		json_put_member_str(o, "kind", str_of(is->kind));
		json_put_member_str(o, "severity", fatal ? STR("error") :
		    STR("warning"));
		json_put_member_str(o, "message", is->text);
		if (is->row != NULL) {
			json_put_member_str(o, "task_id", is->row->id);
			json_put_member_str(o, "task_name", is->row->name);
		}
		json_close(o, '}');
	}
	json_close(o, ']');
}

static void
put_sides(struct json_out *o, const struct compare_gate *g)
{
	const struct outcome *const *f = g->of->files;

	json_put_member_int(o, "baseline_task_count", (int64_t)(g->tasks[WAS]));
	json_put_member_int(o, "current_task_count", (int64_t)(g->tasks[IS]));
	json_put_member_str(o, "new_task_policy",
	    str_of(compare_policy(g->rules->on_new)));
	json_put_member_str(o, "removed_task_policy",
	    str_of(compare_policy(g->rules->on_removed)));
	if (f[WAS]->model.n > 0)
		json_put_member_str(o, "baseline_model", f[WAS]->model);
	if (f[IS]->model.n > 0)
		json_put_member_str(o, "current_model", f[IS]->model);
	json_put_member_double(o, "baseline_aggregate_score", f[WAS]->score);
	json_put_member_double(o, "current_aggregate_score", f[IS]->score);
}

static void
put_change(struct json_out *o, const struct compare_gate *g)
{
	const struct compare_pair *p = &g->of->pairs[0];
	struct buf b = { 0 };

	json_put_member_int(o, "common_task_count", (int64_t)g->common);
	json_put_member_double(o, "min_pass_pct", g->rules->min_pass);
	json_open_member(o, "significance", '{');
	json_put_member_double(o, "mean_delta", p->mean);
	json_put_member_double(o, "lower", p->lo);
	json_put_member_double(o, "upper", p->hi);
	json_put_member_double(o, "sign_test_p", p->p);
	json_put_member_double(o, "mcnemar_p", g->p);
	json_put_member_str(o, "verdict", str_of(compare_word(p->verdict)));
	compare_sentence(&b, p);
	json_put_member_str(o, "summary", buf_str(&b));
	json_close(o, '}');
	buf_free(&b);
}

void
compare_gate_json(struct buf *b, const struct compare_gate *g)
{
	struct json_out o = { .put = buf_sink, .ctx = b, .indent = 2 };

	json_open(&o, '{');
	json_put_member_bool(&o, "passed", g->status == COMPARE_OK);
	json_put_member_int(&o, "exit_code", g->status);
	json_put_member_cstr(&o, "verdict", verdicts[g->status]);
	json_put_member_cstr(&o, "baseline_file", g->of->files[WAS]->path);
	json_put_member_cstr(&o, "current_file", g->of->files[IS]->path);
	json_put_member_double(&o, "baseline_success_rate", g->rate[WAS]);
	json_put_member_double(&o, "current_success_rate", g->rate[IS]);
	json_put_member_double(&o, "regression_pct", g->drop);
	json_put_member_double(&o, "max_regression_pct", g->rules->max_drop);
	json_put_member_bool(&o, "golden_must_pass", g->rules->golden);
	put_lists(&o, g);
	put_issue_list(&o, g, false);
	put_issue_list(&o, g, true);
	put_sides(&o, g);
	put_change(&o, g);
	json_close(&o, '}');
	buf_putc(b, '\n');
}

void
compare_gate_markdown(struct buf *b, const struct compare_gate *g)
{
	const struct outcome *const *f = g->of->files;

	buf_fmt(b, "## Gate: %s\n\n| | Baseline | Current |\n"
	    "|---|---:|---:|\n| Pass rate | %.1f%% | %.1f%% |\n",
	    g->status == COMPARE_OK ? "✅ passed" : "❌ failed",
	    report_rate(g->rate[WAS]), report_rate(g->rate[IS]));
	buf_fmt(b, "| Score | %.3f | %.3f |\n| Tasks | %zu | %zu |\n\n",
	    f[WAS]->score, f[IS]->score, g->tasks[WAS], g->tasks[IS]);
	buf_fmt(b, "- Drop of the pass rate: %.2f percentage points (allowed: "
	    "%.2f)\n- %zu in both, %zu new, %zu removed\n- ", g->drop,
	    g->rules->max_drop, g->common, g->nnew, g->nremoved);
	compare_sentence(b, &g->of->pairs[0]);
	buf_putc(b, '\n');
	put_changes(b, g, NULL);
}

/* A workflow command, which is one line. */
static void
put_command(struct buf *b, const struct compare_gate *g, const char *level,
    const char *title, struct str text)
{
	buf_fmt(b, "::%s file=", level);
	report_annotation(b, str_of(g->of->files[IS]->path), true);
	buf_puts(b, ",title=");
	report_annotation(b, str_of(title), true);
	buf_puts(b, "::");
	report_annotation(b, text, false);
	buf_putc(b, '\n');
}

void
compare_gate_github(struct buf *b, const struct compare_gate *g)
{
	const struct compare_row *r;
	struct buf s = { 0 };
	size_t i;

	for (i = 0; i < g->nissues; i++)
		put_command(b, g, g->issues[i].fatal ? "error" : "warning",
		    g->issues[i].kind, g->issues[i].text);
	for (i = 0; i < g->of->nrows; i++, s.n = 0) {
		r = &g->of->rows[i];
		if (!is_in(BROKEN, g, r))
			continue;
		report_line(&s, r->name, 100, false);
		buf_fmt(&s, ": %s", compare_flip(r, WAS, IS));
		put_command(b, g, g->status == COMPARE_OK ? "warning" :
		    "error", "broke", buf_str(&s));
	}
	buf_fmt(&s, "gate %s: %.1f%% passed, %.1f%% before; ",
	    g->status == COMPARE_OK ? "passed" : "failed",
	    report_rate(g->rate[IS]), report_rate(g->rate[WAS]));
	compare_sentence(&s, &g->of->pairs[0]);
	put_command(b, g, "notice", "waza gate", buf_str(&s));
	buf_free(&s);
}
