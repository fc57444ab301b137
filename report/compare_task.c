/* SPDX-License-Identifier: ISC */
/*
 * One task of two results: verdicts, answers, tool calls and patches.
 *
 * Each pair of texts is compared line by line.  On a terminal of at least WIDE
 * columns they are side by side, with | between lines that differ, < and >
 * beside those that only one has.  Otherwise they are one below the other, with
 * - and + before the lines.  Lines are wrapped on a terminal, and whole in a
 * pipe.  Equal lines far from a difference are left out, unless --verbose.
 */
#include "report/compare.h"

#include <string.h>

#include "lib/diff.h"
#include "report/report_internal.h"
#include "results/outcome.h"

enum {
	WIDE = 100,		/* columns */
	EQUAL_LINES = 8,	/* of a text that is the same in both */
	TEXT_MAX = 1 << 20,	/* bytes of a text that are compared */
	TAB = 4
};

struct task {
	struct buf *b;
	const struct report_opts *o;
	size_t cols;		/* of a text; 0: unlimited */
	bool beside;
};

/*
 * Lines of texts.
 */

/* The width of the blanks at the start, at most `most`; *n: their bytes. */
static size_t
indentation(struct str s, size_t most, size_t *n)
{
	size_t w = 0;

	for (*n = 0; *n < s.n && w < most; ++*n)
		if (s.p[*n] == ' ')
			w++;
		else if (s.p[*n] == '\t')
			w += TAB - w % TAB;
		else
			break;
	return w < most ? w : most;
}

/* Takes the next piece of a line and appends it; returns its columns. */
static size_t
put_piece(struct task *t, struct str *s, bool first)
{
	size_t in = 0, n = 0, i, fit, used;

	if (first) {
		in = indentation(*s, t->cols > 0 ? t->cols / 2 : 40, &n);
		*s = (struct str){ s->p + n, s->n - n };
	}
	for (i = 0; i < in; i++)
		buf_putc(t->b, ' ');
	fit = t->cols > 0 ? report_fit(*s, t->cols - in, t->o->ascii) : s->n;
	used = report_line(t->b, (struct str){ s->p, fit }, 0, t->o->ascii);
	*s = (struct str){ s->p + fit, s->n - fit };
	return in + used;
}

/* A color for a mark, and its end; equal lines have none. */
static void
begin(struct task *t, char mark)
{
	if (mark != ' ')
		report_color(t->b, strchr("-<", mark) != NULL ? "31" :
		    strchr("+>", mark) != NULL ? "32" : "33", t->o);
}

static void
end(struct task *t, char mark)
{
	if (mark != ' ')
		report_plain(t->b, t->o);
}

/* Two lines side by side; a missing one has p == NULL. */
static void
put_beside(struct task *t, struct str left, struct str right, char mark)
{
	bool first = true;
	size_t used;

	do {
		used = 0;
		if (left.n > 0) {
			begin(t, mark == '|' ? '<' : mark);
			used = put_piece(t, &left, first);
			end(t, mark);
		}
		for (; used <= t->cols; used++)
			buf_putc(t->b, ' ');
		begin(t, mark);
		buf_putc(t->b, first ? mark : ' ');
		end(t, mark);
		if (right.n > 0) {
			buf_putc(t->b, ' ');
			begin(t, mark == '|' ? '>' : mark);
			put_piece(t, &right, first);
			end(t, mark);
		}
		while (t->b->n > 0 && t->b->p[t->b->n - 1] == ' ')
			t->b->n--;
		buf_putc(t->b, '\n');
		first = false;
	} while (left.n > 0 || right.n > 0);
}

/* A line after its sign; further lines of it are indented. */
static void
put_below(struct task *t, struct str line, char sign)
{
	bool first = true;

	begin(t, sign);
	do {
		buf_putc(t->b, first ? sign : ' ');
		if (line.n > 0) {
			buf_putc(t->b, ' ');
			put_piece(t, &line, first);
		}
		if (line.n > 0)
			buf_putc(t->b, '\n');
		first = false;
	} while (line.n > 0);
	end(t, sign);
	buf_putc(t->b, '\n');
}

static void
put_both(struct task *t, struct str line)
{
	if (t->beside)
		put_beside(t, line, line, ' ');
	else
		put_below(t, line, ' ');
}

/* Takes the next line if it has this sign. */
static bool
take(struct str *s, char sign, struct str *line)
{
	if (s->n == 0 || s->p[0] != sign || !str_line(s, line))
		return false;
	*line = (struct str){ line->p + 1, line->n - 1 };
	return true;
}

/* Removed lines beside those that were added in their place. */
static void
put_change(struct task *t, struct str *diff)
{
	struct str del = *diff, add, line, other;

	while (take(diff, '-', &line))
		if (!t->beside)
			put_below(t, line, '-');
	add = *diff;
	while (take(diff, '+', &line))
		if (!t->beside)
			put_below(t, line, '+');
	if (!t->beside)
		return;
	while (take(&del, '-', &line))
		if (take(&add, '+', &other))
			put_beside(t, line, other, '|');
		else
			put_beside(t, line, STR(""), '<');
	while (take(&add, '+', &other))
		put_beside(t, STR(""), other, '>');
}

/* A note, or "@@ -12,3 +12,4 @@", which becomes "... line 12". */
static void
put_note(struct task *t, struct str line)
{
	struct str at = STR("@@ -");
	size_t n = at.n;

	if (str_starts(line, at)) {
		while (n < line.n && line.p[n] >= '0' && line.p[n] <= '9')
			n++;
		line = (struct str){ line.p + at.n, n - at.n };
		if (str_is(line, "0") || str_is(line, "1"))
			return;
		buf_puts(t->b, "... line ");
	}
	report_line(t->b, line, 0, t->o->ascii);
	buf_putc(t->b, '\n');
}

static void
put_diff(struct task *t, struct str diff)
{
	struct str line;

	while (diff.n > 0)
		if (diff.p[0] == '-' || diff.p[0] == '+')
			put_change(t, &diff);
		else if (take(&diff, ' ', &line))
			put_both(t, line);
		else if (str_line(&diff, &line))
			put_note(t, line);
}

static void
put_equal(struct task *t, struct str s)
{
	struct str line;
	size_t n = 0;

	while (str_line(&s, &line))
		if (n++ < EQUAL_LINES || t->o->verbose)
			put_both(t, line);
	if (n > EQUAL_LINES && !t->o->verbose)
		buf_fmt(t->b, "  (%zu more lines; use -v to print them)\n",
		    n - EQUAL_LINES);
}

/* A text that ends with a newline. */
static struct str
whole_lines(struct arena *a, struct str s)
{
	bool cut;

	s = str_trim(report_cut(s, TEXT_MAX, &cut));
	return s.n == 0 ? STR("") : arena_fmt(a, "%.*s\n%s", STRF(s), cut ?
	    "(the rest is not compared)\n" : "");
}

static void
put_section(struct task *t, struct arena *a, const char *title,
    struct str left, struct str right)
{
	struct diff_opts how = { .context = t->o->verbose ? DIFF_LINES_MAX :
	    DIFF_CONTEXT };
	struct buf diff = { 0 };
	size_t n;

	left = whole_lines(a, left);
	right = whole_lines(a, right);
	if (left.n + right.n == 0)
		return;
	n = diff_unified(&diff, left, right, &how);
	buf_putc(t->b, '\n');
	report_colored(t->b, "1", title, t->o);
	if (n == 0)
		buf_puts(t->b, ": the same in both\n");
	else
		buf_fmt(t->b, "%s\n", left.n == 0 ? ": only in 2" :
		    right.n == 0 ? ": only in 1" : "");
	if (n == 0)
		put_equal(t, left);
	else
		put_diff(t, buf_str(&diff));
	buf_free(&diff);
}

/*
 * The trials.
 */

/* The first trial that did not pass, else the first; NULL: none. */
static const struct outcome_trial *
trial_of(const struct outcome_task *task)
{
	size_t i;

	if (task == NULL || task->ntrials == 0)
		return NULL;
	for (i = 0; i < task->ntrials; i++)
		if (task->trials[i].status > RESULT_PASSED)
			return &task->trials[i];
	return &task->trials[0];
}

/* A line for each verdict, with its reason if it failed. */
static struct str
verdicts(struct arena *a, const struct report_detail *d)
{
	struct buf b = { 0 };
	struct str s;
	size_t i;

	for (i = 0; i < d->n; i++) {
		const struct report_verdict *v = &d->v[i];

		buf_fmt(&b, "%s  %.*s %.2f", result_word(v->status),
		    STRF(v->name), v->score);
		if (v->status != RESULT_PASSED && v->feedback.n > 0)
			buf_fmt(&b, ": %.*s", STRF(v->feedback));
		buf_putc(&b, '\n');
	}
	s = arena_str(a, buf_str(&b));
	buf_free(&b);
	return s;
}

static struct str
calls(struct arena *a, const struct report_detail *d)
{
	struct buf b = { 0 };
	struct str s;
	size_t i;

	for (i = 0; i < d->ncalls; i++) {
		report_call(&b, &d->calls[i], 0, false);
		buf_putc(&b, '\n');
	}
	s = arena_str(a, buf_str(&b));
	buf_free(&b);
	return s;
}

/* "1  a.json  gpt-4o: passed, score 0.90, trial 1 of 2" */
static void
put_side(struct task *t, const struct outcome *file, size_t number,
    const struct outcome_task *task)
{
	const struct outcome_trial *trial = trial_of(task);
	struct buf s = { 0 };

	buf_fmt(&s, "%zu  ", number);
	report_line(&s, str_of(file->path), 0, t->o->ascii);
	report_part(&s, "  ", file->model, 0, t->o->ascii, "");
	buf_puts(&s, ": ");
	if (task == NULL)
		buf_puts(&s, "the task is missing");
	else {
		report_line(&s, compare_task_status(task), 40, t->o->ascii);
		buf_fmt(&s, ", score %.2f", task->score);
	}
	if (trial != NULL && task->ntrials > 1)
		buf_fmt(&s, ", trial %zu of %zu", (size_t)(trial -
		    task->trials) + 1, task->ntrials);
	compare_wrapped(t->b, buf_str(&s), 1, t->o->width);
	buf_putc(t->b, '\n');
	buf_free(&s);
}

void
compare_task(struct buf *b, const struct compare *c,
    const struct compare_row *r, const struct report_opts *o)
{
	struct task t = { .b = b, .o = o, .beside = o->width >= WIDE };
	struct report_detail d[2] = { { .json = NULL }, { .json = NULL } };
	const struct outcome_trial *trial;
	struct arena a = { 0 };
	size_t k;

	t.cols = o->width == 0 ? 0 : t.beside ? (o->width - 3) / 2 :
	    o->width > 22 ? o->width - 2 : 20;
	report_color(b, "1", o);
	report_line(b, r->name, o->width, o->ascii);
	report_plain(b, o);
	buf_putc(b, '\n');
	for (k = 0; k < 2; k++) {
		trial = trial_of(r->in[k]);
		if (trial != NULL)
			report_read_detail(&a, trial->node, &d[k]);
		put_side(&t, c->files[k], k + 1, r->in[k]);
	}
	if (!str_eq(d[0].prompt, d[1].prompt))
		put_section(&t, &a, "Prompt", d[0].prompt, d[1].prompt);
	put_section(&t, &a, "Error", d[0].error, d[1].error);
	put_section(&t, &a, "Verdicts", verdicts(&a, &d[0]),
	    verdicts(&a, &d[1]));
	put_section(&t, &a, "Answer", d[0].output, d[1].output);
	put_section(&t, &a, "Tool calls", calls(&a, &d[0]), calls(&a, &d[1]));
	put_section(&t, &a, "Patch", d[0].patch, d[1].patch);
	arena_free(&a);
}
