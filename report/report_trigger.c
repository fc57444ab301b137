/* SPDX-License-Identifier: ISC */
/*
 * The trigger tests of a run in the reports for people: how often the skill
 * triggered as it should, which skill was used instead, and the prompts for
 * which it did not.
 */
#include "report/report_internal.h"

#include <stdint.h>

#include "json.h"

enum {
	WRONG_MAX = 25,		/* listed without -v */
	ROW_ROOM = 2 << 10	/* bytes of one, at most */
};

bool
report_trigger(struct arena *a, const struct result_run *run, size_t i,
    struct report_trigger *t)
{
	const struct result_trial *kept = &run->triggers.v[i];
	const struct json *v;
	struct err e;

	*t = (struct report_trigger){ .spec = &run->suite->triggers->v[i],
	    .status = kept->status, .duration_ms = kept->duration_ms };
	if (kept->status == RESULT_NONE)
		return false;
	t->words = t->spec->should ? "should trigger" : "should not trigger";
	if (kept->status == RESULT_FAILED)
		t->words = t->spec->should ? "should trigger, did not" :
		    "should not trigger, did";
	v = kept->off < 0 || kept->status == RESULT_PASSED ? NULL :
	    result_read(a, run, kept, &e);
	t->error = json_str(v, "error_msg");
	t->output = json_str(v, "final_output");
	if (result_is_error(kept->status) && t->error.n == 0)
		t->error = str_of(report_status(kept->status));
	return true;
}

bool
report_triggers_missed(const struct result_run *run)
{
	const struct spec_metric *m = run->suite->metrics.v;
	size_t i;

	for (i = 0; i < run->suite->metrics.n; i++)
		if (str_is(m[i].name, "trigger_accuracy") &&
		    result_misses(run, &m[i]))
			return true;
	return false;
}

void
report_triggers_sum(struct buf *b, const struct result_run *run)
{
	const struct result_triggers *t = &run->triggers;
	struct result_accuracy a;
	size_t i, right = 0;

	for (i = 0; i < t->n; i++)
		right += t->v[i].status == RESULT_PASSED;
	result_accuracy(run, &a);
	if (a.skipped > 0 && a.skipped == t->done) {
		buf_fmt(b, "all %zu prompts skipped: the agent does not report "
		    "the skills that it used", a.skipped);
		return;
	}
	buf_fmt(b, "accuracy %.1f%%, precision %.1f%%, recall %.1f%%, F1 %.2f; "
	    "%zu of %zu prompts correct", report_rate(a.accuracy),
	    report_rate(a.precision), report_rate(a.recall), a.f1, right, t->n);
	if (a.skipped > 0)
		buf_fmt(b, ", %zu skipped", a.skipped);
	if (a.errors > 0)
		buf_fmt(b, ", %zu error%s", a.errors,
		    a.errors == 1 ? "" : "s");
	if (t->done < t->n)
		buf_fmt(b, ", %zu not run", t->n - t->done);
	if (t->simulated)
		buf_puts(b, "; simulated by mock");
}

/*
 * The confusion matrix: how often which skill was used where which one was
 * expected.  Only tests with a verdict are in it.
 */
enum {
	TEXT_MAX = 7,		/* names in a table on a terminal */
	TABLE_MAX = 50		/* in other tables */
};

struct grid {
	struct str *names;	/* of skills; empty: none */
	size_t n;
	size_t *count;		/* of row r and column c: [r * n + c] */
};

static size_t
find(struct grid *g, struct str name)
{
	size_t i;

	for (i = 0; i < g->n && !str_eq(g->names[i], name); i++)
		;
	if (i == g->n)
		g->names[g->n++] = name;
	return i;
}

/* False if there is nothing to show, or too much. */
static bool
make_grid(struct arena *a, const struct result_run *run, struct grid *g,
    size_t max)
{
	const struct result_confusion *v;
	size_t i, n;

	if (run->triggers.simulated)
		return false;
	v = result_confusion(a, run, &n);
	*g = (struct grid){ .names = NEW_N(a, struct str, 2 * n + 1) };
	for (i = 0; i < n; i++) {
		if (v[i].expected.n > 0)
			find(g, v[i].expected);
		if (v[i].used.n > 0)
			find(g, v[i].used);
	}
	find(g, STR(""));		/* last */
	if (n == 0 || g->n > max)
		return false;
	g->count = NEW_N(a, size_t, g->n * g->n);
	for (i = 0; i < n; i++)
		g->count[find(g, v[i].expected) * g->n +
		    find(g, v[i].used)] += v[i].n;
	return true;
}

static struct str
name_of(const struct grid *g, size_t i)
{
	return g->names[i].n > 0 ? g->names[i] : STR("none");
}

/* Whether a test expected the skill of that row. */
static bool
has_row(const struct grid *g, size_t row)
{
	size_t c;

	for (c = 0; c < g->n; c++)
		if (g->count[row * g->n + c] > 0)
			return true;
	return false;
}

/* The columns of the longest name. */
static size_t
widest_name(const struct grid *g)
{
	size_t i, w, most = sizeof("expected") - 1;

	for (i = 0; i < g->n; i++) {
		w = report_cols(name_of(g, i), SIZE_MAX);
		most = w > most ? w : most;
	}
	return most;
}

static void
put_grid_rows(struct buf *b, const struct grid *g, size_t cell, bool ascii)
{
	size_t r, c;

	buf_puts(b, "  ");
	report_cell(b, STR("expected"), cell, true);
	buf_puts(b, "  used:");
	for (c = 0; c < g->n; c++) {
		buf_puts(b, c == 0 ? " " : "  ");
		if (c + 1 < g->n)
			report_cell(b, name_of(g, c), cell, ascii);
		else
			report_line(b, name_of(g, c), 0, ascii);
	}
	buf_putc(b, '\n');
	for (r = 0; r < g->n; r++) {
		if (!has_row(g, r))
			continue;
		buf_puts(b, "  ");
		report_cell(b, name_of(g, r), cell, ascii);
		buf_puts(b, "        ");
		for (c = 0; c < g->n; c++)
			buf_fmt(b, "%s%-*zu", c == 0 ? "" : "  ",
			    c + 1 < g->n ? (int)cell : 1,
			    g->count[r * g->n + c]);
		buf_putc(b, '\n');
	}
}

/* As a list, where the terminal is too narrow for the matrix. */
static void
put_grid_list(struct buf *b, const struct grid *g, const struct report_opts *o)
{
	struct report_flow f = { .b = b, .o = o, .indent = 4 };
	size_t r, c;

	for (r = 0; r < g->n; r++)
		for (c = 0; c < g->n; c++) {
			if (g->count[r * g->n + c] == 0)
				continue;
			report_flow_part(&f, NULL, "  expected ",
			    name_of(g, r));
			report_flow_part(&f, NULL, ", used ", name_of(g, c));
			report_flow_fmt(&f, NULL, ": %zu",
			    g->count[r * g->n + c]);
			report_flow_end(&f);
		}
}

static void
put_grid_text(struct buf *b, const struct result_run *run,
    const struct report_opts *o)
{
	struct arena tmp = { 0 };
	struct grid g;
	size_t cell;

	if (make_grid(&tmp, run, &g, TEXT_MAX)) {
		cell = widest_name(&g);
		if (g.n * (cell + 2) + cell + 8 <= report_width(o))
			put_grid_rows(b, &g, cell, o->ascii);
		else
			put_grid_list(b, &g, o);
	}
	arena_free(&tmp);
}

static void
put_grid_markdown(struct buf *b, const struct result_run *run)
{
	struct arena tmp = { 0 };
	struct grid g;
	size_t r, c;

	if (make_grid(&tmp, run, &g, TABLE_MAX)) {
		buf_puts(b, "| expected \\\\ used |");
		for (c = 0; c < g.n; c++) {
			buf_putc(b, ' ');
			report_inline(b, name_of(&g, c), 60);
			buf_puts(b, " |");
		}
		buf_puts(b, "\n| --- |");
		for (c = 0; c < g.n; c++)
			buf_puts(b, " ---: |");
		buf_putc(b, '\n');
		for (r = 0; r < g.n; r++) {
			if (!has_row(&g, r))
				continue;
			buf_puts(b, "| ");
			report_inline(b, name_of(&g, r), 60);
			buf_puts(b, " |");
			for (c = 0; c < g.n; c++)
				buf_fmt(b, " %zu |", g.count[r * g.n + c]);
			buf_putc(b, '\n');
		}
		buf_putc(b, '\n');
	}
	arena_free(&tmp);
}

/*
 * The sections of reports.
 */
static void
put_text(struct buf *b, const struct report_trigger *t,
    const struct report_opts *o)
{
	struct report_flow f = { .b = b, .o = o, .at = 4, .indent = 6 };
	struct buf where = { 0 };

	buf_puts(b, "  ");
	report_mark(b, t->status, o);
	report_flow_fmt(&f, NULL, "%s:", t->words);
	report_flow_reason(&f, " ", t->spec->task.prompt);
	report_where(&where, t->spec->task.at);
	report_flow_part(&f, "36", "  ", buf_str(&where));
	report_flow_end(&f);
	buf_free(&where);
	report_reason(b, t->error, "      ", o);
}

void
report_triggers_text(struct buf *b, const struct result_run *run,
    const struct report_opts *o)
{
	struct report_flow f = { .b = b, .o = o, .indent = 2 };
	struct report_trigger t;
	struct buf sum = { 0 };
	struct arena a = { 0 };
	size_t i, n = 0;

	if (run->triggers.done == 0)
		return;
	buf_putc(b, '\n');
	report_flow_part(&f, "1", "Triggers of ", run->suite->triggers->skill);
	report_flow_end(&f);
	report_triggers_sum(&sum, run);
	report_flow_part(&f, NULL, "  ", buf_str(&sum));
	report_flow_end(&f);
	buf_free(&sum);
	put_grid_text(b, run, o);
	for (i = 0; i < run->triggers.n; i++) {
		if (report_trigger(&a, run, i, &t) &&
		    (t.status > RESULT_PASSED || o->verbose) &&
		    (n++ < WRONG_MAX || o->verbose))
			put_text(b, &t, o);
		arena_free(&a);
	}
	if (n > WRONG_MAX && !o->verbose)
		buf_fmt(b, "  and %zu more; use -v to show them\n",
		    n - WRONG_MAX);
}

void
report_triggers_markdown(struct report_out *o, const struct result_run *run)
{
	struct report_trigger t;
	size_t i;

	if (run->triggers.done == 0)
		return;
	buf_puts(&o->b, "\n### Triggers of ");
	report_inline(&o->b, run->suite->triggers->skill, 100);
	buf_puts(&o->b, "\n\n");
	report_triggers_sum(&o->b, run);
	buf_puts(&o->b, ".\n\n");
	put_grid_markdown(&o->b, run);
	for (i = 0; i < run->triggers.n && report_room(o, ROW_ROOM); i++) {
		if (report_trigger(&o->arena, run, i, &t) &&
		    t.status != RESULT_PASSED) {
			buf_fmt(&o->b, "- %s %s: ", t.status == RESULT_FAILED ?
			    "❌" : t.status == RESULT_SKIPPED ? "➖" : "⚠️",
			    t.words);
			report_inline(&o->b, t.spec->task.prompt, 200);
			buf_puts(&o->b, t.error.n > 0 ? " – " : "");
			report_inline(&o->b, t.error, 200);
			buf_putc(&o->b, '\n');
		}
		report_flush(o);
	}
}
