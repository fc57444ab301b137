/* SPDX-License-Identifier: ISC */
/*
 * A comparison for people: the files, the tasks, and whether the changes are
 * significant.
 *
 * If there are many tasks, only those are listed that changed or are not in
 * all files.  If not all files fit the width, only the first and the last have
 * a column.
 */
#include "report/compare.h"

#include <string.h>

#include "report/report_internal.h"
#include "results/outcome.h"

enum {
	LIST_MAX = 200,		/* tasks listed whether they changed or not */
	SCORE = 6, DELTA = 8, NOTE = 16,	/* columns */
	NAME_MIN = 12,
	NAMED = 3		/* files that a task is not in */
};

struct text {
	struct buf *b;
	const struct compare *c;
	const struct report_opts *o;
	size_t width, name;
	bool ends;		/* only the first and the last file */
};

/* Drops leading directories until the path fits. */
static struct str
tail(const char *path, size_t cols)
{
	struct str s = str_of(path);
	const char *p;

	while (report_cols(s, cols + 1) > cols &&
	    (p = memchr(s.p, '/', s.n)) != NULL)
		s = (struct str){ p + 1, s.n - (size_t)(p + 1 - s.p) };
	return s;
}

/* A number in its columns: green, red, or plain where nothing changed. */
static void
put_change(struct text *t, double d, int decimals, const char *after, int cols)
{
	struct buf s = { 0 };

	compare_signed(&s, d, decimals, true);
	buf_puts(&s, after);
	if (d != 0)
		report_color(t->b, d > 0 ? "32" : "31", t->o);
	buf_fmt(t->b, "%*.*s", cols, STRF(buf_str(&s)));
	if (d != 0)
		report_plain(t->b, t->o);
	buf_free(&s);
}

static void
put_took(struct text *t, int64_t ms, const char *sign)
{
	struct buf s = { 0 };

	buf_puts(&s, sign);
	report_took(&s, ms, 0);
	buf_fmt(t->b, "%10.*s", STRF(buf_str(&s)));
	buf_free(&s);
}

static void
put_files(struct text *t)
{
	const struct compare *c = t->c;
	const struct outcome *first = c->files[0];
	const struct outcome *last = c->files[c->nfiles - 1];
	size_t i, room = t->width > 60 ? t->width - 36 : 24;
	size_t file = 4, model = 5;
	int64_t ms = last->duration_ms - first->duration_ms;

	for (i = 0; i < c->nfiles; i++) {
		size_t m = report_cols(c->files[i]->model, room / 2);

		model = m > model ? m : model;
	}
	for (i = 0; i < c->nfiles; i++) {
		size_t f = report_cols(tail(c->files[i]->path, room - model),
		    room - model);

		file = f > file ? f : file;
	}
	report_color(t->b, "1", t->o);
	buf_puts(t->b, "    ");
	report_cell(t->b, STR("file"), file, true);
	buf_puts(t->b, "  ");
	report_cell(t->b, STR("model"), model, true);
	buf_puts(t->b, "   success   score  duration");
	report_plain(t->b, t->o);
	buf_putc(t->b, '\n');
	for (i = 0; i < c->nfiles; i++) {
		const struct outcome *f = c->files[i];

		buf_fmt(t->b, "%3zu ", i + 1);
		report_cell(t->b, tail(f->path, file), file, t->o->ascii);
		buf_puts(t->b, "  ");
		report_cell(t->b, f->model, model, t->o->ascii);
		buf_fmt(t->b, "  %7.1f%%  %6.3f", report_rate(f->rate),
		    f->score);
		put_took(t, f->duration_ms, "");
		buf_putc(t->b, '\n');
	}
	buf_puts(t->b, "    ");
	report_cell(t->b, STR("change"), file + 2 + model, true);
	put_change(t, (last->rate - first->rate) * 100, 1, "%", 10);
	put_change(t, last->score - first->score, 3, "", 8);
	put_took(t, ms < 0 ? -ms : ms, ms < 0 ? "-" : "+");
	buf_puts(t->b, "\n\n");
}

/* Whether this file has a column. */
static bool
has_column(const struct text *t, size_t file)
{
	return !t->ends || file == 0 || file == t->c->nfiles - 1;
}

static bool
is_listed(const struct text *t, const struct compare_row *r)
{
	return t->o->verbose || t->c->nrows <= LIST_MAX ||
	    compare_changed(t->c, r);
}

/* Why a row has no difference: "not in 1, 3", "not finished in 2". */
enum absence { MISSING, UNFINISHED, SKIPPED, PRESENT };

static enum absence
absence(const struct outcome_task *t)
{
	return t == NULL ? MISSING : !t->finished ? UNFINISHED :
	    t->status == RESULT_SKIPPED ? SKIPPED : PRESENT;
}

static void
put_absent(struct buf *b, const struct compare *c,
    const struct compare_row *r, enum absence why)
{
	static const char *const words[] = { [MISSING] = "  not in ",
		[UNFINISHED] = "  not finished in ",
		[SKIPPED] = "  skipped in " };
	size_t i, n = 0;

	for (i = 0; i < c->nfiles; i++)
		if (absence(r->in[i]) == why && n++ < NAMED)
			buf_fmt(b, "%s%zu", n > 1 ? ", " : words[why], i + 1);
	if (n > NAMED)
		buf_fmt(b, " and %zu more", n - NAMED);
}

static void
put_note(struct text *t, const struct compare_row *r)
{
	const char *flip = compare_flip(r, 0, t->c->nfiles - 1);

	if (flip != NULL) {
		report_color(t->b, flip[0] == 'p' ? "31" : "32", t->o);
		buf_fmt(t->b, "  %s", flip);
		report_plain(t->b, t->o);
	}
	report_color(t->b, "33", t->o);
	put_absent(t->b, t->c, r, MISSING);
	put_absent(t->b, t->c, r, UNFINISHED);
	put_absent(t->b, t->c, r, SKIPPED);
	report_plain(t->b, t->o);
}

static void
put_row(struct text *t, const struct compare_row *r)
{
	const struct outcome_task *last = r->in[t->c->nfiles - 1];
	double d, p;
	size_t i;

	buf_puts(t->b, "  ");
	report_mark(t->b, last == NULL || !last->finished ? RESULT_NONE :
	    last->status, t->o);
	report_cell(t->b, r->name, t->name, t->o->ascii);
	for (i = 0; i < t->c->nfiles; i++) {
		if (!has_column(t, i))
			continue;
		if (absence(r->in[i]) != PRESENT)
			buf_fmt(t->b, "%*s", (int)SCORE, "n/a");
		else
			buf_fmt(t->b, "%*.2f", (int)SCORE, r->in[i]->score);
	}
	if (compare_delta(t->c, r, &d, &p))
		put_change(t, d, 2, "", DELTA);
	else
		buf_fmt(t->b, "%*s", (int)DELTA, "n/a");
	put_note(t, r);
	buf_putc(t->b, '\n');
}

static void
put_rows(struct text *t)
{
	const struct compare *c = t->c;
	size_t i, cols, most, hidden = 0;

	cols = 4 + c->nfiles * SCORE + DELTA + NOTE;
	t->ends = c->nfiles > 2 && cols + NAME_MIN > t->width;
	if (t->ends)
		cols = 4 + 2 * SCORE + DELTA + NOTE;
	most = cols + NAME_MIN < t->width ? t->width - cols : NAME_MIN;
	t->name = 4;
	for (i = 0; i < c->nrows; i++) {
		size_t n = report_cols(c->rows[i].name, most);

		if (is_listed(t, &c->rows[i]) && n > t->name)
			t->name = n;
	}
	report_color(t->b, "1", t->o);
	buf_puts(t->b, "    ");
	report_cell(t->b, STR("task"), t->name, true);
	for (i = 0; i < c->nfiles; i++)
		if (has_column(t, i))
			buf_fmt(t->b, "%*zu", (int)SCORE, i + 1);
	buf_fmt(t->b, "%*s", (int)DELTA, "delta");
	report_plain(t->b, t->o);
	buf_putc(t->b, '\n');
	for (i = 0; i < c->nrows; i++)
		if (is_listed(t, &c->rows[i]))
			put_row(t, &c->rows[i]);
		else
			hidden++;
	if (hidden > 0)
		buf_fmt(t->b, "  (%zu unchanged tasks are not listed; use "
		    "-v to list them)\n", hidden);
	if (t->ends)
		buf_puts(t->b, "  (--format json includes the files in "
		    "between)\n");
}

static void
put_pair(struct text *t, const struct compare_pair *p)
{
	static const char *const sgr[] = {
		[COMPARE_NOTHING] = "33", [COMPARE_FEW] = "33",
		[COMPARE_SAME] = "1", [COMPARE_UNCLEAR] = "33",
		[COMPARE_BETTER] = "32", [COMPARE_WORSE] = "31",
	};
	struct buf s = { 0 };

	buf_putc(t->b, '\n');
	report_line(t->b, tail(t->c->files[p->file]->path, 30), 30,
	    t->o->ascii);
	buf_puts(t->b, " vs ");
	report_line(t->b, tail(t->c->files[0]->path, 30), 30, t->o->ascii);
	buf_puts(t->b, ": ");
	if (p->better + p->worse + p->fixed + p->broken > 0) {
		buf_fmt(t->b, "%zu task%s in both, %zu better, %zu worse, "
		    "%zu unchanged\n  ", p->tasks, p->tasks == 1 ? "" : "s",
		    p->better, p->worse, p->same);
		compare_flips(&s, p);
		compare_wrapped(t->b, buf_str(&s), 2, t->width);
		buf_puts(t->b, "\n  ");
		s.n = 0;
	}
	report_color(t->b, sgr[p->verdict], t->o);
	compare_sentence(&s, p);
	compare_wrapped(t->b, buf_str(&s), 2, t->width);
	report_plain(t->b, t->o);
	buf_putc(t->b, '\n');
	buf_free(&s);
}

void
compare_text(struct buf *b, const struct compare *c,
    const struct report_opts *o)
{
	struct text t = { .b = b, .c = c, .o = o,
		.width = o->width > 0 ? o->width : 80 };
	size_t i;

	put_files(&t);
	put_rows(&t);
	for (i = 0; i < c->nfiles - 1; i++)
		put_pair(&t, &c->pairs[i]);
	for (i = 0; i < c->nwarnings; i++) {
		buf_puts(b, i == 0 ? "\n" : "");
		report_colored(b, "1", "warning: ", o);
		report_line(b, c->warnings[i], 0, o->ascii);
		buf_putc(b, '\n');
	}
}
