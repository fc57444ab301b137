/* SPDX-License-Identifier: ISC */
/*
 * A comparison for a comment on a pull request: the verdict first, then the
 * files, then the tasks that changed.  The list ends before the limit of a
 * comment, 64 KiB.
 */
#include "report/compare.h"

#include "report/report_internal.h"
#include "results/outcome.h"

enum { ROOM = 48 << 10, NAME_COLS = 100 };

static void
put_files(struct buf *b, const struct compare *c)
{
	size_t i;

	buf_puts(b, "| | File | Model | Pass rate | Score | Duration |\n"
	    "|---:|---|---|---:|---:|---:|\n");
	for (i = 0; i < c->nfiles; i++) {
		const struct outcome *f = c->files[i];

		buf_fmt(b, "| %zu | ", i + 1);
		report_inline(b, str_of(f->path), NAME_COLS);
		buf_puts(b, " | ");
		report_inline(b, f->model, NAME_COLS);
		buf_fmt(b, " | %.1f%% | %.3f | ", report_rate(f->rate),
		    f->score);
		report_took(b, f->duration_ms, 0);
		buf_puts(b, " |\n");
	}
}

static void
put_row(struct buf *b, const struct compare *c, const struct compare_row *r)
{
	const char *flip = compare_flip(r, 0, c->nfiles - 1);
	double d, p;
	size_t i;

	buf_puts(b, "| ");
	report_inline(b, r->name, NAME_COLS);
	for (i = 0; i < c->nfiles; i++)
		if (r->in[i] == NULL)
			buf_puts(b, " | n/a");
		else if (!r->in[i]->finished)
			buf_puts(b, " | not finished");
		else if (r->in[i]->status == RESULT_SKIPPED)
			buf_puts(b, " | skipped");
		else
			buf_fmt(b, " | %.2f", r->in[i]->score);
	buf_puts(b, " | ");
	if (compare_delta(c, r, &d, &p))
		compare_signed(b, d, 2, true);
	else
		buf_puts(b, "n/a");
	if (flip != NULL)
		buf_fmt(b, " | %s %s |\n", flip[0] == 'p' ? "❌" : "✅",
		    flip);
	else
		buf_puts(b, " | |\n");
}

static void
put_rows(struct buf *b, const struct compare *c)
{
	size_t i, n = 0, more = 0;

	for (i = 0; i < c->nrows; i++) {
		if (!compare_changed(c, &c->rows[i]))
			continue;
		if (b->n > ROOM) {
			more++;
			continue;
		}
		if (n++ == 0) {
			size_t k;

			buf_puts(b, "\n| Task |");
			for (k = 0; k < c->nfiles; k++)
				buf_fmt(b, " %zu |", k + 1);
			buf_puts(b, " Change | |\n|---|");
			for (k = 0; k <= c->nfiles; k++)
				buf_puts(b, "---:|");
			buf_puts(b, "---|\n");
		}
		put_row(b, c, &c->rows[i]);
	}
	if (more > 0)
		buf_fmt(b, "\n%zu more changed.\n", more);
	if (n + more < c->nrows)
		buf_fmt(b, "\n%zu task%s unchanged.\n", c->nrows - n -
		    more, c->nrows - n - more == 1 ? "" : "s");
}

/* The difference of the pass rates, and what would be needed to tell it. */
static void
put_numbers(struct buf *b, const struct compare_pair *p)
{
	double n = (double)p->tasks;
	struct buf s = { 0 };

	buf_fmt(b, "<br>%zu task%s in both: pass rate %.1f%% → %.1f%% (",
	    p->tasks, p->tasks == 1 ? "" : "s",
	    report_rate((double)p->passed[0] / n),
	    report_rate((double)p->passed[1] / n));
	compare_points(b, ((double)p->fixed - (double)p->broken) * 100 / n,
	    true);
	buf_puts(b, " percentage points");
	if (p->tests & COMPARE_FLIPS) {
		buf_puts(b, ", 95 % interval ");
		compare_range(b, p->rate_lo * 100, p->rate_hi * 100, 1);
	}
	buf_fmt(b, "); %zu scored higher, %zu lower, %zu the same",
	    p->better, p->worse, p->same);
	compare_flips(&s, p);
	if (s.n > 0)
		buf_fmt(b, "<br>%.*s", STRF(buf_str(&s)));
	s.n = 0;
	compare_needed(&s, p);
	if (s.n > 0)
		buf_fmt(b, "<br>%.*s", STRF(buf_str(&s)));
	buf_free(&s);
}

void
compare_markdown(struct buf *b, const struct compare *c)
{
	size_t i;

	buf_puts(b, "## Comparison\n\n");
	for (i = c->nfiles - 1; i-- > 0; ) {
		const struct compare_pair *p = &c->pairs[i];

		buf_fmt(b, "- %zu vs 1: **", p->file + 1);
		compare_sentence(b, p);
		buf_puts(b, "**");
		if (p->tasks > 0) {
			put_numbers(b, p);
		}
		buf_putc(b, '\n');
	}
	if (c->stop != NULL)
		buf_fmt(b, "- trials ended by the rule %.*s in all files\n",
		    STRF(report_word(c->stop)));
	for (i = 0; i < c->nwarnings; i++) {
		buf_puts(b, "- warning: ");
		report_inline(b, c->warnings[i], 0);
		buf_putc(b, '\n');
	}
	buf_putc(b, '\n');
	put_files(b, c);
	put_rows(b, c);
}
