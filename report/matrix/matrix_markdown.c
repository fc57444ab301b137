/* SPDX-License-Identifier: ISC */
/*
 * The cells of a matrix in Markdown: their numbers, a table of tasks and cells,
 * and the comparisons, which the results have as JSON.
 */
#include "report/matrix/matrix.h"

#include "json.h"
#include "report/report_internal.h"

enum { NAME_COLS = 100, ROW_ROOM = 8 << 10, PAIRS_MAX = 50 };

/* Cells of a suite have the same comparisons. */
static bool
is_cell_of(const struct result_run *r, const struct result_run *first)
{
	return r->matrix.n > 0 && r->matrix.p == first->matrix.p;
}

static void
put_cells(struct report_out *o, const struct result_run *first)
{
	const struct result_run *r;
	size_t i;

	buf_puts(&o->b, "| Cell | Passed | Pass rate | Score | Duration |\n"
	    "| --- | ---: | ---: | ---: | ---: |\n");
	for (i = 0; i < o->nruns; i++) {
		r = o->runs[i];
		if (!is_cell_of(r, first))
			continue;
		buf_puts(&o->b, "| ");
		report_inline(&o->b, matrix_name(r), NAME_COLS);
		buf_fmt(&o->b, " | %zu/%zu | %.1f%%%s | %.2f | ", r->sum.passed,
		    r->ntasks, report_rate(r->sum.rate), r->complete ? "" :
		    " (not finished)", r->sum.score);
		report_took(&o->b, r->duration_ms, 0);
		buf_puts(&o->b, " |\n");
	}
}

/* The task of another cell, mostly at the same place; or NULL. */
static const struct result_task *
find_task(const struct result_run *r, struct str id, size_t at)
{
	size_t i;

	if (at < r->ntasks && str_eq(r->tasks[at].spec->id, id))
		return &r->tasks[at];
	for (i = 0; i < r->ntasks; i++)
		if (str_eq(r->tasks[i].spec->id, id))
			return &r->tasks[i];
	return NULL;
}

static void
put_task(struct report_out *o, const struct result_run *first, size_t at)
{
	const struct result_task *k;
	size_t i;

	buf_puts(&o->b, "| ");
	report_inline(&o->b, first->tasks[at].spec->id, NAME_COLS);
	for (i = 0; i < o->nruns; i++) {
		if (!is_cell_of(o->runs[i], first))
			continue;
		k = find_task(o->runs[i], first->tasks[at].spec->id, at);
		if (k == NULL || k->status == RESULT_NONE)
			buf_puts(&o->b, " | –");
		else if (k->status == RESULT_PASSED ||
		    k->status == RESULT_FAILED)
			buf_fmt(&o->b, " | %s %.2f", report_sign(k->status),
			    report_task_score(k));
		else
			buf_fmt(&o->b, " | %s", report_sign(k->status));
	}
	buf_puts(&o->b, " |\n");
}

static void
put_tasks(struct report_out *o, const struct result_run *first)
{
	size_t i;

	buf_puts(&o->b, "\n| Task");
	for (i = 0; i < o->nruns; i++)
		if (is_cell_of(o->runs[i], first)) {
			buf_puts(&o->b, " | ");
			report_inline(&o->b, matrix_name(o->runs[i]),
			    NAME_COLS);
		}
	buf_puts(&o->b, " |\n| ---");
	for (i = 0; i < o->nruns; i++)
		if (is_cell_of(o->runs[i], first))
			buf_puts(&o->b, " | ---");
	buf_puts(&o->b, " |\n");
	for (i = 0; i < first->ntasks; i++) {
		/* Half of the space is reserved for the cells. */
		if (!report_room(o, o->room / 2 + ROW_ROOM))
			break;
		put_task(o, first, i);
		report_flush(o);
	}
	if (i < first->ntasks)
		buf_fmt(&o->b, "\n%zu more tasks are not listed here.\n",
		    first->ntasks - i);
}

static void
put_pairs(struct report_out *o, const struct result_run *first)
{
	const struct json *m = arena_json(&o->arena, first->matrix, NULL);
	const struct json *v = json_first(json_getc(m, "comparisons"));
	int64_t left_out;
	size_t n = 0;

	buf_putc(&o->b, '\n');
	for (; v != NULL; v = v->next) {
		if (n++ >= PAIRS_MAX)
			continue;
		buf_puts(&o->b, "- **");
		report_inline(&o->b, json_str(v, "cell"), NAME_COLS);
		buf_puts(&o->b, "** vs **");
		report_inline(&o->b, json_str(v, "than"), NAME_COLS);
		buf_puts(&o->b, "**: ");
		report_inline(&o->b, json_str(v, "summary"), 0);
		buf_putc(&o->b, '\n');
	}
	if (n > PAIRS_MAX)
		buf_fmt(&o->b, "- %zu more pairs are not listed here.\n",
		    n - PAIRS_MAX);
	if (json_int(json_getc(m, "tasks_left_out"), &left_out) &&
	    left_out > 0)
		buf_fmt(&o->b, "\n%lld task%s with errors of the "
		    "infrastructure, a grader or a judge: not compared "
		    "there.\n", (long long)left_out, left_out == 1 ? "" : "s");
	if (n > 1)
		buf_fmt(&o->b, "\np values are corrected for %zu comparisons "
		    "(Holm).\n", n);
}

void
matrix_markdown(struct report_out *o, const struct result_run *r)
{
	size_t i, n = 0;

	for (i = 0; i < o->nruns && r->matrix.n > 0; i++) {
		if (n == 0 && is_cell_of(o->runs[i], r) && o->runs[i] != r)
			return;		/* the first cell has it */
		n += is_cell_of(o->runs[i], r);
	}
	if (n < 2)
		return;
	buf_puts(&o->b, "## Waza matrix: ");
	report_inline(&o->b, r->suite->name, NAME_COLS);
	buf_puts(&o->b, "\n\n");
	put_cells(o, r);
	put_tasks(o, r);
	put_pairs(o, r);
	buf_putc(&o->b, '\n');
	report_flush(o);
}
