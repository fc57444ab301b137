/* SPDX-License-Identifier: ISC */
/*
 * The output of `waza gate`: text, JSON, Markdown, GitHub workflow commands.
 */
#include "report/compare.h"

#include <string.h>

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
	size_t start = b->n, room = 0, model = 0;

	buf_fmt(b, "  %s  %5.1f%% of %zu task%s passed  ", k == WAS ?
	    "baseline" : "current ", report_rate(g->rate[k]), g->tasks[k],
	    g->tasks[k] == 1 ? "" : "s");
	if (o->width > 0) {
		room = o->width > b->n - start + 12 ? o->width -
		    (b->n - start) : 12;
		model = report_cols(f->model, room / 2 - 1);
		room -= f->model.n > 0 ? model + 2 : 0;
	}
	report_line(b, str_of(f->path), room, o->ascii);
	report_part(b, "  ", f->model, model, o->ascii, "");
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
			report_line(b, r->name, o->width > 30 ? o->width -
			    20 : 0, o->ascii);
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
	struct buf s = { 0 };
	size_t i;

	for (i = 0; i < g->nissues; i++) {
		if (g->issues[i].fatal != fatal || !list_item(&l))
			continue;
		if (o != NULL) {
			s.n = 0;
			report_line(&s, g->issues[i].text, 0, o->ascii);
			compare_wrapped(b, buf_str(&s), 2, o->width);
		} else
			report_inline(b, g->issues[i].text, 300);
		buf_putc(b, '\n');
	}
	list_end(&l);
	buf_free(&s);
}

static size_t
count_fatal(const struct compare_gate *g)
{
	size_t i, n = 0;

	for (i = 0; i < g->nissues; i++)
		n += g->issues[i].fatal;
	return n;
}

static void
put_changes(struct buf *b, const struct compare_gate *g,
    const struct report_opts *o)
{
	if (count_fatal(g) > 1 || o == NULL)
		put_issues(b, g, true, o);
	put_flipped(b, g, false, o);
	put_flipped(b, g, true, o);
	put_issues(b, g, false, o);
}

/* "gate failed: the first reason, and 2 more" */
static void
put_verdict(struct buf *b, const struct compare_gate *g)
{
	size_t i, n = 0, first = 0, broke = 0;

	for (i = g->nissues; i-- > 0; )
		if (g->issues[i].fatal) {
			first = i;
			n++;
		}
	for (i = 0; i < g->of->nrows; i++)
		broke += is_in(BROKEN, g, &g->of->rows[i]);
	if (n > 0) {
		buf_puts(b, "gate failed: ");
		report_line(b, g->issues[first].text, 0, false);
		if (n > 1)
			buf_fmt(b, ", and %zu more reason%s", n - 1,
			    n == 2 ? "" : "s");
		return;
	}
	buf_fmt(b, "gate passed: %.1f%% of the tasks passed, %.1f%% in the "
	    "baseline", report_rate(g->rate[IS]), report_rate(g->rate[WAS]));
	if (broke > 0)
		buf_fmt(b, "; %zu task%s broke, which the rules allow", broke,
		    broke == 1 ? "" : "s");
}

/* A sentence with a capital letter, wrapped on a terminal. */
static void
put_wrapped(struct buf *b, struct buf *s, size_t indent, const char *sgr,
    const struct report_opts *o)
{
	if (s->n > 0 && s->p[0] >= 'a' && s->p[0] <= 'z')
		s->p[0] = (char)(s->p[0] - 'a' + 'A');
	report_color(b, sgr, o);
	compare_wrapped(b, buf_str(s), indent, o->width);
	report_plain(b, o);
	buf_putc(b, '\n');
	s->n = 0;
}

void
compare_gate_text(struct buf *b, const struct compare_gate *g,
    const struct report_opts *o)
{
	struct buf s = { 0 };

	put_verdict(&s, g);
	put_wrapped(b, &s, 0, g->status == COMPARE_OK ? "32" : "31", o);
	put_changes(b, g, o);
	buf_putc(b, '\n');
	put_side(b, g, WAS, o);
	put_side(b, g, IS, o);
	buf_fmt(b, "  %zu task%s in both, %zu new, %zu removed", g->common,
	    g->common == 1 ? "" : "s", g->nnew, g->nremoved);
	if (g->nleft > 0)
		buf_fmt(b, ", %zu not run", g->nleft);
	if (g->nquarantined > 0)
		buf_fmt(b, "; %zu in quarantine, not counted",
		    g->nquarantined);
	if (g->nkept > 0)
		buf_fmt(b, "; %zu not run, counted as in the baseline",
		    g->nkept);
	buf_puts(b, "\n  ");
	compare_sentence(&s, &g->of->pairs[0]);
	if (g->of->stop != NULL)
		buf_fmt(&s, "; both ended trials by the rule %.*s",
		    STRF(report_word(g->of->stop)));
	put_wrapped(b, &s, 2, "0", o);
	if (g->update.n > 0) {
		buf_puts(b, "  ");
		buf_put(&s, g->update);
		put_wrapped(b, &s, 2, "0", o);
	}
	buf_free(&s);
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
	if (g->nquarantined > 0)
		json_put_member_int(o, "quarantined_task_count",
		    (int64_t)g->nquarantined);
	if (g->nkept > 0)
		json_put_member_int(o, "kept_task_count", (int64_t)g->nkept);
	json_put_member_double(o, "min_pass_pct", g->rules->min_pass);
	json_open_member(o, "significance", '{');
	json_put_member_double(o, "mean_delta", p->mean);
	compare_put_number(o, "lower", p->tests & COMPARE_SCORES, p->lo);
	compare_put_number(o, "upper", p->tests & COMPARE_SCORES, p->hi);
	compare_put_number(o, "sign_test_p", p->tests & COMPARE_SCORES, p->p);
	compare_put_number(o, "mcnemar_p", g->tested, g->p);
	if (g->of->stop != NULL)
		json_put_member_cstr(o, "stop", g->of->stop);
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
	if (g->update.n > 0) {
		json_put_member_bool(&o, "baseline_updated", g->updated);
		json_put_member_str(&o, "baseline_update", g->update);
	}
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
	buf_puts(b, "- Drop of the pass rate: ");
	compare_points(b, g->drop, false);
	buf_puts(b, " percentage points (allowed: ");
	compare_points(b, g->rules->max_drop, false);
	buf_fmt(b, ")\n- %zu in both, %zu new, %zu removed",
	    g->common, g->nnew, g->nremoved);
	if (g->nleft > 0)
		buf_fmt(b, ", %zu not run", g->nleft);
	buf_puts(b, "\n- ");
	if (g->nkept > 0)
		buf_fmt(b, "%zu not run, counted as in the baseline\n- ",
		    g->nkept);
	compare_sentence(b, &g->of->pairs[0]);
	buf_putc(b, '\n');
	if (g->of->stop != NULL)
		buf_fmt(b, "- both ended trials by the rule %.*s\n",
		    STRF(report_word(g->of->stop)));
	if (g->update.n > 0) {
		buf_puts(b, "- ");
		report_inline(b, g->update, 0);
		buf_putc(b, '\n');
	}
	put_changes(b, g, NULL);
}

/*
 * A workflow command, which is one line, at the task in its suite; without a
 * task, at the suite.  Results of other programs do not name their suite: then
 * the annotation has no place.
 */
static void
put_command(struct buf *b, const struct compare_gate *g,
    const struct compare_row *r, const char *level, const char *title)
{
	const struct outcome_task *t = r == NULL ? NULL : r->in[IS];
	const char *file = t != NULL ? t->file : g->of->files[IS]->suite;

	while (file != NULL && strncmp(file, "./", 2) == 0)
		file += 2;
	buf_fmt(b, "::%s ", level);
	if (file != NULL) {
		buf_puts(b, "file=");
		report_annotation(b, str_of(file), true);
		if (t != NULL && t->line > 0)
			buf_fmt(b, ",line=%u", t->line);
		buf_putc(b, ',');
	}
	buf_puts(b, "title=");
	report_annotation(b, str_of(title), true);
	buf_puts(b, "::");
}

void
compare_gate_github(struct buf *b, const struct compare_gate *g)
{
	const struct compare_row *r;
	struct buf s = { 0 };
	size_t i;

	for (i = 0; i < g->nissues; i++) {
		put_command(b, g, g->issues[i].row, g->issues[i].fatal ?
		    "error" : "warning", g->issues[i].kind);
		report_annotation(b, g->issues[i].text, false);
		buf_putc(b, '\n');
	}
	for (i = 0; i < g->of->nrows; i++, s.n = 0) {
		r = &g->of->rows[i];
		if (!is_in(BROKEN, g, r))
			continue;
		report_line(&s, r->name, 100, false);
		buf_fmt(&s, ": %s", compare_flip(r, WAS, IS));
		put_command(b, g, r, g->status == COMPARE_OK ? "warning" :
		    "error", "broke");
		report_annotation(b, buf_str(&s), false);
		buf_putc(b, '\n');
	}
	put_verdict(&s, g);
	buf_puts(&s, "; ");
	compare_sentence(&s, &g->of->pairs[0]);
	put_command(b, g, NULL, "notice", "waza gate");
	report_annotation(b, buf_str(&s), false);
	buf_putc(b, '\n');
	buf_free(&s);
}
