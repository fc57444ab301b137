/* SPDX-License-Identifier: ISC */
/*
 * The confusion matrix of the trigger tests: how often which skill was used
 * where which one was expected.  Only tests with a verdict are in it.
 */
#include "report/report_internal.h"

enum {
	TEXT_MAX = 7,		/* names in a table on a terminal */
	TABLE_MAX = 50,		/* in other tables */
	CELL = 14		/* columns of a cell */
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

void
report_confusion_text(struct buf *b, const struct result_run *run,
    const struct report_opts *o)
{
	struct arena tmp = { 0 };
	struct grid g;
	size_t r, c;

	if (make_grid(&tmp, run, &g, TEXT_MAX)) {
		buf_fmt(b, "  %-*s", CELL, "expected");
		for (c = 0; c < g.n; c++) {
			buf_puts(b, c == 0 ? "  used: " : "  ");
			if (c + 1 < g.n)
				report_cell(b, name_of(&g, c), CELL, o->ascii);
		}
		buf_puts(b, "none");	/* the last name */
		buf_putc(b, '\n');
		for (r = 0; r < g.n; r++) {
			if (!has_row(&g, r))
				continue;
			buf_puts(b, "  ");
			report_cell(b, name_of(&g, r), CELL, o->ascii);
			for (c = 0; c < g.n; c++)
				buf_fmt(b, "%s%-*zu", c == 0 ? "        " :
				    "  ", c + 1 < g.n ? CELL : 1,
				    g.count[r * g.n + c]);
			buf_putc(b, '\n');
		}
	}
	arena_free(&tmp);
}

void
report_confusion_markdown(struct buf *b, const struct result_run *run)
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
