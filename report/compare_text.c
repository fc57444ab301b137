/* SPDX-License-Identifier: ISC */
/*
 * A comparison for people.  The first line answers whether it got better; the
 * tasks that broke, were fixed or changed follow by name; then the numbers.
 *
 * If not all files fit the width, only the first and the last have a column.
 * A pipe has no width: there nothing is cut or wrapped.
 */
#include "report/compare.h"

#include <string.h>

#include "report/explain/explain.h"
#include "report/report_internal.h"
#include "results/outcome.h"

enum {
	LIST_MAX = 50,		/* tasks of a group, without -v */
	SCORE = 6, DELTA = 8, NOTE = 20,	/* columns */
	NAME_MIN = 12, NAME_MAX = 60,
	LABEL = 16, POINTS = 24,	/* columns of the numbers */
	NAMED = 3		/* files that a task is not in */
};

struct text {
	struct buf *b;
	const struct compare *c;
	const struct report_opts *o;
	size_t width, name;	/* width 0: unlimited */
	bool ends;		/* only the first and the last file */
};

/* Drops leading directories until the path fits. */
static struct str
tail(const char *path, size_t cols)
{
	struct str s = str_of(path);
	const char *p;

	while (cols > 0 && report_cols(s, cols + 1) > cols &&
	    (p = memchr(s.p, '/', s.n)) != NULL)
		s = (struct str){ p + 1, s.n - (size_t)(p + 1 - s.p) };
	return s;
}

/* A cell that is cut only on a terminal. */
static void
put_cell(struct text *t, struct str s, size_t cols)
{
	size_t used;

	if (t->width > 0) {
		report_cell(t->b, s, cols, t->o->ascii);
		return;
	}
	for (used = report_line(t->b, s, 0, t->o->ascii); used < cols; used++)
		buf_putc(t->b, ' ');
}

/* Text in a color, right-aligned if cols is positive. */
static void
put_colored(struct text *t, double sign, int cols, const struct buf *s)
{
	if (sign < 0 || sign > 0)
		report_color(t->b, sign > 0 ? "32" : "31", t->o);
	buf_fmt(t->b, "%*.*s", cols, STRF(buf_str(s)));
	if (sign < 0 || sign > 0)
		report_plain(t->b, t->o);
}

/* A sentence, wrapped, with a capital letter. */
static void
put_sentence(struct text *t, struct buf *s, size_t indent, const char *sgr)
{
	if (s->n > 0 && s->p[0] >= 'a' && s->p[0] <= 'z')
		s->p[0] = (char)(s->p[0] - 'a' + 'A');
	if (s->n == 0)
		return;
	buf_fmt(t->b, "%*s", (int)indent, "");
	report_color(t->b, sgr, t->o);
	compare_wrapped(t->b, buf_str(s), indent, t->width);
	report_plain(t->b, t->o);
	buf_putc(t->b, '\n');
	s->n = 0;
}

/*
 * The tasks.
 */
/* Whether this file has a column. */
static bool
has_column(const struct text *t, size_t file)
{
	return !t->ends || file == 0 || file == t->c->nfiles - 1;
}

enum group { BROKE, FIXED, LOWER, HIGHER, BETWEEN, PARTLY, SAME, GROUPS };

static const char *const titles[] = {
	[BROKE] = "Broke", [FIXED] = "Fixed", [LOWER] = "Scored lower",
	[HIGHER] = "Scored higher", [BETWEEN] = "Changed in between",
	[PARTLY] = "Not in all results, or not finished",
	[SAME] = "Same score and result"
};

static enum group
group_of(const struct compare *c, const struct compare_row *r)
{
	const char *flip = compare_flip(r, 0, c->nfiles - 1);
	double d, p;

	if (!compare_delta(c, r, &d, &p))
		return PARTLY;
	if (flip != NULL)
		return flip[0] == 'p' ? BROKE : FIXED;
	if (d < 0 || d > 0)
		return d < 0 ? LOWER : HIGHER;
	return compare_changed(c, r) ? BETWEEN : SAME;
}

static bool
is_listed(const struct text *t, enum group g, size_t n)
{
	return t->o->verbose || (g != SAME && n < LIST_MAX);
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

/* After the numbers, or on the next line where that is too narrow. */
static void
put_note(struct text *t, const struct compare_row *r)
{
	const char *flip = compare_flip(r, 0, t->c->nfiles - 1);
	size_t used = 4 + t->name + DELTA + SCORE * (t->ends ? 2 :
	    t->c->nfiles);
	struct buf s = { 0 };

	if (flip != NULL)
		buf_fmt(&s, "  %s", flip);
	put_absent(&s, t->c, r, MISSING);
	put_absent(&s, t->c, r, UNFINISHED);
	put_absent(&s, t->c, r, SKIPPED);
	if (t->width > 0 && used + s.n > t->width)
		buf_puts(t->b, "\n    ");
	if (s.n > 0) {
		report_color(t->b, flip == NULL ? "33" : flip[0] == 'p' ?
		    "31" : "32", t->o);
		buf_put(t->b, buf_str(&s));
		report_plain(t->b, t->o);
	}
	buf_free(&s);
}

static void
put_row(struct text *t, const struct compare_row *r)
{
	const struct outcome_task *last = r->in[t->c->nfiles - 1];
	struct buf s = { 0 };
	double d, p;
	size_t i;

	buf_puts(t->b, "  ");
	report_mark(t->b, last == NULL || !last->finished ? RESULT_NONE :
	    last->status, t->o);
	put_cell(t, r->name, t->name);
	for (i = 0; i < t->c->nfiles; i++) {
		if (!has_column(t, i))
			continue;
		if (absence(r->in[i]) != PRESENT)
			buf_fmt(t->b, "%*s", (int)SCORE, "n/a");
		else
			buf_fmt(t->b, "%*.2f", (int)SCORE, r->in[i]->score);
	}
	if (compare_delta(t->c, r, &d, &p))
		compare_signed(&s, d, 2, true);
	else
		buf_puts(&s, "n/a");
	put_colored(t, d, DELTA, &s);
	put_note(t, r);
	buf_putc(t->b, '\n');
	buf_free(&s);
}

/* What changed in the calls of a task that broke or scored lower. */
static void
put_calls(struct text *t, const struct compare_row *r)
{
	struct arena a = { 0 };
	struct buf s = { 0 };
	struct explain e;

	explain_calls(&a, r->in[0], r->in[t->c->nfiles - 1], &e);
	if (e.n > 0) {
		buf_puts(&s, "per trial: ");
		explain_put(&s, &e, t->o->ascii);
		buf_puts(t->b, "    ");
		report_color(t->b, "2", t->o);
		compare_wrapped(t->b, buf_str(&s), 4, t->width);
		report_plain(t->b, t->o);
		buf_putc(t->b, '\n');
	}
	buf_free(&s);
	arena_free(&a);
}

static void
put_group(struct text *t, enum group g)
{
	const struct compare *c = t->c;
	size_t i, n = 0, all = 0;

	for (i = 0; i < c->nrows; i++)
		all += group_of(c, &c->rows[i]) == g;
	if (all == 0)
		return;
	report_colored(t->b, "1", titles[g], t->o);
	buf_fmt(t->b, " (%zu)%s\n", all, is_listed(t, g, 0) ? "" :
	    "; use -v to list them");
	for (i = 0; i < c->nrows; i++)
		if (group_of(c, &c->rows[i]) == g && is_listed(t, g, n)) {
			put_row(t, &c->rows[i]);
			if (g == BROKE || g == LOWER)
				put_calls(t, &c->rows[i]);
			n++;
		}
	if (n > 0 && n < all)
		buf_fmt(t->b, "    and %zu more; use -v to list them\n",
		    all - n);
}

/* Chooses the columns; false if no task will be listed. */
static bool
fit_rows(struct text *t)
{
	const struct compare *c = t->c;
	size_t i, cols, most, count[GROUPS] = { 0 };
	bool any = false;

	cols = 4 + c->nfiles * SCORE + DELTA + NOTE;
	t->ends = t->width > 0 && c->nfiles > 2 && cols + NAME_MIN > t->width;
	if (t->ends)
		cols = 4 + 2 * SCORE + DELTA + NOTE;
	most = t->width == 0 ? NAME_MAX : cols + NAME_MIN < t->width ?
	    t->width - cols : NAME_MIN;
	t->name = 4;
	for (i = 0; i < c->nrows; i++) {
		enum group g = group_of(c, &c->rows[i]);
		size_t n = report_cols(c->rows[i].name, most);

		if (!is_listed(t, g, count[g]++))
			continue;
		any = true;
		t->name = n > t->name ? n : t->name;
	}
	return any;
}

static void
put_heading(struct text *t)
{
	const struct compare *c = t->c;
	size_t i;

	report_color(t->b, "2", t->o);
	buf_puts(t->b, "    ");
	report_cell(t->b, STR("task"), t->name, true);
	for (i = 0; i < c->nfiles; i++)
		if (has_column(t, i))
			buf_fmt(t->b, "%*zu", (int)SCORE, i + 1);
	buf_fmt(t->b, "%*s", (int)DELTA, "change");
	report_plain(t->b, t->o);
	buf_putc(t->b, '\n');
}

static void
put_rows(struct text *t)
{
	int g;

	if (fit_rows(t))
		put_heading(t);
	for (g = 0; g < GROUPS; g++)
		put_group(t, (enum group)g);
	if (t->ends)
		buf_puts(t->b, "  (--format json includes the files in "
		    "between)\n");
}

/*
 * The numbers.
 */

/* The tasks that the pass rate of the file is of. */
static size_t
counted(const struct outcome *o)
{
	size_t i, n = 0;

	for (i = 0; i < o->ntasks; i++)
		n += o->tasks[i].status >= RESULT_PASSED &&
		    o->tasks[i].quarantine.n == 0;
	return n;
}

static void
put_files(struct text *t)
{
	const struct compare *c = t->c;
	size_t i, n, room, file = 4, model = 0, rest = 0;

	/* the columns besides those of file and model */
	for (i = 0; i < c->nfiles; i++) {
		size_t cols = 33;

		for (n = c->files[i]->ntasks; n >= 10; n /= 10)
			cols++;
		rest = cols > rest ? cols : rest;
	}
	room = t->width == 0 ? NAME_MAX : t->width > rest + 12 ?
	    t->width - rest : 12;
	for (i = 0; i < c->nfiles; i++) {
		size_t m = report_cols(c->files[i]->model, room / 2);

		model = m > model ? m : model;
	}
	for (i = 0; i < c->nfiles; i++) {
		size_t f = report_cols(tail(c->files[i]->path, room - model),
		    room - model);

		file = f > file ? f : file;
	}
	for (i = 0; i < c->nfiles; i++) {
		const struct outcome *f = c->files[i];

		buf_fmt(t->b, "%3zu  ", i + 1);
		put_cell(t, tail(f->path, t->width > 0 ? file : 0), file);
		if (model > 0) {
			buf_puts(t->b, "  ");
			put_cell(t, f->model, model);
		}
		n = counted(f);
		buf_fmt(t->b, "%7.1f%% of %zu task%s passed\n",
		    report_rate(f->rate), n, n == 1 ? "" : "s");
	}
	if (c->stop != NULL)
		buf_fmt(t->b, "     trials ended by the rule %.*s in all "
		    "files\n", STRF(report_word(c->stop)));
}

static bool
is_narrow(const struct text *t)
{
	return t->width > 0 && t->width < 80;
}

/* The columns of a value. */
static int
value_cols(const struct text *t)
{
	return is_narrow(t) ? 8 : 9;
}

/* A difference; padded if the interval follows on the same line. */
static void
put_difference(struct text *t, double d, const struct buf *s)
{
	put_colored(t, d, is_narrow(t) ? 0 : -(int)POINTS, s);
}

/* A row: its label, the value of each file, the difference. */
static void
put_label(struct text *t, const char *label)
{
	buf_fmt(t->b, "  %-*s", (int)LABEL, label);
}

/*
 * The interval, on a line of its own if the width is small.  If all tasks
 * changed alike, resampling cannot estimate it.
 */
static void
put_interval(struct text *t, double lo, double hi, int decimals)
{
	if (!(lo < hi)) {
		buf_puts(t->b, is_narrow(t) ? "\n" : "  n/a\n");
		return;
	}
	if (is_narrow(t))
		buf_fmt(t->b, "\n  %*s", (int)LABEL + 2 * value_cols(t), "");
	buf_puts(t->b, is_narrow(t) ? "  95 %: " : "  ");
	compare_range(t->b, lo, hi, decimals);
	buf_putc(t->b, '\n');
}

static void
put_rates(struct text *t, const struct compare_pair *p)
{
	double n = (double)p->tasks;
	double d = ((double)p->passed[1] - (double)p->passed[0]) * 100 / n;
	int cols = value_cols(t);
	struct buf s = { 0 };

	put_label(t, "pass rate");
	buf_fmt(t->b, "%*.1f%%%*.1f%%  ", cols - 1,
	    report_rate((double)p->passed[0] / n), cols - 1,
	    report_rate((double)p->passed[1] / n));
	compare_points(&s, d, true);
	buf_puts(&s, " percentage points");
	put_difference(t, d, &s);
	put_interval(t, p->rate_lo * 100, p->rate_hi * 100, 1);
	s.n = 0;
	put_label(t, "score");
	buf_fmt(t->b, "%*.3f%*.3f  ", cols, p->score[0], cols, p->score[1]);
	compare_signed(&s, p->mean, 3, true);
	put_difference(t, p->mean, &s);
	put_interval(t, p->lo, p->hi, 3);
	buf_free(&s);
}

static void
put_value(struct buf *b, enum compare_number what, double v, int cols)
{
	struct result_used u = { .tokens_known = true, .cost_known = true,
		.input_tokens = (int64_t)(v + 0.5), .cost = v };

	switch (what) {
	case COMPARE_MS:
		report_took(b, (int64_t)(v + 0.5), cols);
		break;
	case COMPARE_TOKENS:
		report_tokens(b, &u, cols, true);
		break;
	case COMPARE_COST:
		report_cost(b, &u, cols, true);
		break;
	case COMPARE__USED:
		break;
	}
}

static void
put_used(struct text *t, const struct compare_pair *p, int what,
    const char *label)
{
	const struct compare_used *u = p->used[what];

	if (!u[0].known || !u[1].known || !(u[0].mean > 0 || u[1].mean > 0))
		return;
	put_label(t, label);
	put_value(t->b, (enum compare_number)what, u[0].mean, value_cols(t));
	put_value(t->b, (enum compare_number)what, u[1].mean, value_cols(t));
	if (u[0].mean > 0) {
		buf_puts(t->b, "  ");
		compare_signed(t->b, (u[1].mean / u[0].mean - 1) * 100, 1,
		    true);
		buf_putc(t->b, '%');
	}
	buf_putc(t->b, '\n');
}

/* The numbers over the tasks in both files. */
static void
put_numbers(struct text *t, const struct compare_pair *p)
{
	static const char *const labels[] = { [COMPARE_MS] = "time per trial",
		[COMPARE_TOKENS] = "tokens per trial",
		[COMPARE_COST] = "cost per trial" };
	struct buf s = { 0 };
	int i;

	if (p->tasks == 0)
		return;
	buf_fmt(&s, "%zu task%s%s", p->tasks, p->tasks == 1 ? "" : "s",
	    p->tasks < 100 ? " in both" : "");
	report_color(t->b, "2", t->o);
	buf_fmt(t->b, "\n  %-*.*s%*d%*zu  ", (int)LABEL, STRF(buf_str(&s)),
	    value_cols(t), 1, value_cols(t), p->file + 1);
	if (is_narrow(t))
		buf_puts(t->b, "difference");
	else
		buf_fmt(t->b, "%-*s  95 %% interval", (int)POINTS,
		    "difference");
	report_plain(t->b, t->o);
	buf_putc(t->b, '\n');
	put_rates(t, p);
	for (i = 0; i < COMPARE__USED; i++)
		put_used(t, p, i, labels[i]);
	s.n = 0;
	compare_flips(&s, p);
	put_sentence(t, &s, 2, "0");
	compare_needed(&s, p);
	put_sentence(t, &s, 2, "0");
	buf_free(&s);
}

/* The answer. */
static void
put_verdict(struct text *t, const struct compare_pair *p)
{
	static const char *const sgr[] = {
		[COMPARE_NOTHING] = "33", [COMPARE_FEW] = "33",
		[COMPARE_SAME] = "1", [COMPARE_UNCLEAR] = "33",
		[COMPARE_BETTER] = "32", [COMPARE_WORSE] = "31",
		[COMPARE_UNTESTED] = "33",
	};
	struct buf s = { 0 };

	if (t->c->skill)
		buf_puts(&s, "effect of the skill: ");
	if (t->c->nfiles > 2) {
		report_line(&s, tail(t->c->files[p->file]->path, 30), 0,
		    t->o->ascii);
		buf_fmt(&s, " (%zu) against 1: ", p->file + 1);
	}
	compare_sentence(&s, p);
	if (t->c->nfiles > 2) {
		buf_puts(t->b, "- ");
		report_color(t->b, sgr[p->verdict], t->o);
		compare_wrapped(t->b, buf_str(&s), 2, t->width);
		report_plain(t->b, t->o);
		buf_putc(t->b, '\n');
	} else
		put_sentence(t, &s, 0, sgr[p->verdict]);
	buf_free(&s);
}

void
compare_text(struct buf *b, const struct compare *c,
    const struct report_opts *o)
{
	struct text t = { .b = b, .c = c, .o = o, .width = o->width };
	struct buf s = { 0 };
	size_t i;

	for (i = 0; i < c->nfiles - 1; i++)
		put_verdict(&t, &c->pairs[i]);
	for (i = 0; i < c->nwarnings; i++) {
		buf_puts(&s, "warning: ");
		report_line(&s, c->warnings[i], 0, o->ascii);
		put_sentence(&t, &s, 0, "33");
	}
	buf_putc(b, '\n');
	put_rows(&t);
	buf_putc(b, '\n');
	put_files(&t);
	for (i = 0; i < c->nfiles - 1 && c->nfiles <= 4; i++)
		put_numbers(&t, &c->pairs[i]);
	buf_free(&s);
}
