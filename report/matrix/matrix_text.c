/* SPDX-License-Identifier: ISC */
/*
 * A matrix for people: a row for each cell, a table of tasks with a column for
 * each cell, and the comparisons.
 *
 * The table of tasks has the widest form that fits the terminal: columns named
 * by the cells; by their numbers in the first table; without scores.  If none
 * fits, it is left out.
 */
#include "report/matrix/matrix.h"

#include "report/report_internal.h"
#include "results/outcome.h"
#include "results/result.h"

enum {
	GAP = 2,		/* between columns */
	SCORED = 6,		/* columns of a mark and a score */
	NAME_MIN = 16,		/* columns of a task */
	TASKS_MAX = 50,		/* more than that: those that differ only */
	PAIRS_MAX = 6		/* more than that: significant ones only */
};

enum form { NAMES, NUMBERS, MARKS, NONE };

struct text {
	struct buf *b;
	const struct matrix *m;
	const struct report_opts *o;
	struct arena arena;
	enum form form;
	size_t name;		/* columns of the tasks' names */
};

/*
 * Widths.
 */
static size_t
cell_cols(const struct text *t, enum form form, size_t i)
{
	size_t n = form == MARKS ? 1 : SCORED, head = i + 1 > 9 ? 2 : 1;

	if (form == NAMES)
		head = report_cols(matrix_name(t->m->runs[i]), SIZE_MAX);
	return head > n ? head : n;
}

static void
choose_form(struct text *t)
{
	size_t i, room, used, width = report_width(t->o), w;

	for (i = 0; i < t->m->nrows; i++) {
		w = report_cols(t->m->rows[i].id, SIZE_MAX);
		t->name = w > t->name ? w : t->name;
	}
	if (t->name < 4)
		t->name = 4;		/* of the heading */
	for (t->form = NAMES; t->form < NONE; t->form++) {
		for (i = used = 0; i < t->m->n; i++)
			used += GAP + cell_cols(t, t->form, i);
		room = width > 2 + used ? width - 2 - used : 0;
		if (t->name <= room)
			return;
		if (room >= NAME_MIN) {
			t->name = room;
			return;
		}
	}
}

/*
 * Cells.
 */
static void
put_cells(struct text *t)
{
	static const struct report_column cols[] = { { "", 0 },
		{ "passed", 4 }, { "pass rate", 3 }, { "score", 2 },
		{ "time", 1 } };
	struct report_row *rows = NEW_N(&t->arena, struct report_row, t->m->n);
	struct report_table table = { .cols = cols, .ncols = COUNTOF(cols),
		.rows = rows, .n = t->m->n };
	const struct result_run *r;
	struct buf took = { 0 };
	size_t i;

	for (i = 0; i < t->m->n; i++) {
		r = t->m->runs[i];
		report_took(&took, r->duration_ms, 0);
		rows[i].cell[0] = t->form == NAMES ? matrix_name(r) :
		    arena_fmt(&t->arena, "%zu %.*s", i + 1,
		    STRF(matrix_name(r)));
		rows[i].cell[1] = arena_fmt(&t->arena, "%zu/%zu",
		    r->sum.passed, r->ntasks + r->left_out);
		rows[i].cell[3] = arena_fmt(&t->arena, "%.2f", r->sum.score);
		rows[i].cell[4] = arena_take(&t->arena, &took);
		if (r->complete)
			rows[i].cell[2] = arena_fmt(&t->arena, "%.1f%%",
			    report_rate(r->sum.rate));
		else
			rows[i].note = STR("not finished");
	}
	report_table(t->b, &table, t->o);
}

/*
 * Tasks.
 */
static bool
differs(const struct matrix *m, const struct compare_row *r)
{
	double d, first = 0;
	size_t i;

	for (i = 0; i < m->n; i++) {
		if (r->in[i] == NULL || r->in[0] == NULL ||
		    r->in[i]->status != r->in[0]->status)
			return true;
		if (i == 0)
			first = r->in[i]->score;
		d = r->in[i]->score - first;
		if (d > 1e-9 || d < -1e-9)
			return true;
	}
	return false;
}

static void
put_result(struct text *t, const struct outcome_task *k, size_t cols)
{
	size_t w = t->form == MARKS || k == NULL || !outcome_is_graded(k) ?
	    1 : SCORED;

	report_spaces(t->b, GAP + cols - w);
	report_mark(t->b, k != NULL ? k->status : RESULT_NONE, t->o);
	if (w == 1)
		t->b->n--;		/* the space after the mark */
	else
		buf_fmt(t->b, "%.2f", k->score);
}

static void
put_heads(struct text *t)
{
	struct str head;
	size_t i, w;

	report_color(t->b, "2", t->o);
	report_spaces(t->b, 2);
	report_cell(t->b, STR("task"), t->name, true);
	for (i = 0; i < t->m->n; i++) {
		head = t->form == NAMES ? matrix_name(t->m->runs[i]) :
		    arena_fmt(&t->arena, "%zu", i + 1);
		w = report_cols(head, SIZE_MAX);
		report_spaces(t->b, GAP + cell_cols(t, t->form, i) - w);
		report_line(t->b, head, 0, t->o->ascii);
	}
	report_plain(t->b, t->o);
	buf_putc(t->b, '\n');
}

static void
put_tasks(struct text *t)
{
	const struct matrix *m = t->m;
	bool all = m->nrows <= TASKS_MAX || t->o->verbose;
	size_t i, k, shown = 0;

	if (t->form == NONE || m->nrows == 0)
		return;
	buf_putc(t->b, '\n');
	put_heads(t);
	for (i = 0; i < m->nrows; i++) {
		if (!all && (shown == TASKS_MAX || !differs(m, &m->rows[i])))
			continue;
		shown++;
		report_spaces(t->b, 2);
		report_cell(t->b, m->rows[i].id, t->name, t->o->ascii);
		for (k = 0; k < m->n; k++)
			put_result(t, m->rows[i].in[k], cell_cols(t, t->form,
			    k));
		buf_putc(t->b, '\n');
	}
	if (shown < m->nrows)
		buf_fmt(t->b, "  (%zu more task%s; -v prints all)\n",
		    m->nrows - shown, m->nrows - shown == 1 ? "" : "s");
}

/*
 * Comparisons.
 */
static bool
is_found(const struct matrix_pair *p)
{
	return p->of.verdict == COMPARE_BETTER ||
	    p->of.verdict == COMPARE_WORSE;
}

static void
put_pair(struct text *t, const struct matrix_pair *p)
{
	struct buf b = { 0 };

	report_line(&b, matrix_name(t->m->runs[p->cell[1]]), 0, t->o->ascii);
	buf_puts(&b, " vs ");
	report_line(&b, matrix_name(t->m->runs[p->cell[0]]), 0, t->o->ascii);
	buf_puts(&b, ": ");
	compare_sentence(&b, &p->of);
	report_spaces(t->b, 2);
	compare_wrapped(t->b, buf_str(&b), 2, t->o->width);
	buf_putc(t->b, '\n');
	buf_free(&b);
}

static void
put_note(struct text *t, struct str note)
{
	report_spaces(t->b, 2);
	compare_wrapped(t->b, note, 2, t->o->width);
	buf_putc(t->b, '\n');
}

static void
put_pairs(struct text *t)
{
	const struct matrix *m = t->m;
	bool all = m->npairs <= PAIRS_MAX || t->o->verbose;
	size_t i, shown = 0;

	buf_putc(t->b, '\n');
	for (i = 0; i < m->npairs; i++)
		if (all || is_found(&m->pairs[i])) {
			put_pair(t, &m->pairs[i]);
			shown++;
		}
	if (shown < m->npairs)
		put_note(t, arena_fmt(&t->arena, "no significant difference in "
		    "%zu %spair%s", m->npairs - shown, shown > 0 ? "other " :
		    "", m->npairs - shown == 1 ? "" : "s"));
	if (m->left_out > 0)
		put_note(t, arena_fmt(&t->arena, "%zu task%s with errors of "
		    "the infrastructure, a grader or a judge %s not compared "
		    "there", m->left_out, m->left_out == 1 ? "" : "s",
		    m->left_out == 1 ? "is" : "are"));
	if (m->npairs > 1)
		put_note(t, arena_fmt(&t->arena, "p values are corrected for "
		    "%zu comparisons (Holm)", m->npairs));
}

void
matrix_text(struct buf *b, const struct matrix *m,
    const struct report_opts *o)
{
	struct text t = { .b = b, .m = m, .o = o };

	choose_form(&t);
	buf_putc(b, '\n');
	put_cells(&t);
	put_tasks(&t);
	put_pairs(&t);
	arena_free(&t.arena);
}
