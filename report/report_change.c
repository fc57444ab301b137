/* SPDX-License-Identifier: ISC */
/*
 * report_change.c: the changes after `waza grade`, one line per task.  The
 * tasks of such a run are those of the results file, in its order.
 */
#include "report/report.h"

#include "report/report_internal.h"
#include "results/outcome.h"
#include "results/result.h"
#include "suite/spec.h"

#define EPSILON 1e-9		/* scores may differ by rounding */

enum { NAME_COLS = 40, NAME_MIN = 8, LINES = 100 };

static bool
changed(const struct outcome_task *old, const struct result_task *new)
{
	double d = new->stats.avg - old->score;

	return new->imported == NULL &&
	    (new->status != old->status || d > EPSILON || d < -EPSILON);
}

static const char *
word(enum result_status s, bool finished)
{
	return finished ? report_status(s) : "unfinished";
}

static void
put_change(struct buf *b, const struct outcome_task *old,
    const struct result_task *new, size_t cols, const struct report_opts *o)
{
	const char *to = o->ascii ? "->" : "\xE2\x86\x92";
	const char *was = word(old->status, old->finished);
	const char *is = word(new->status, new->status != RESULT_NONE &&
	    new->status != RESULT_CANCELLED);

	buf_puts(b, "  ");
	report_cell(b, old->id, cols, o->ascii);
	buf_fmt(b, "  %s %s %s", was, to, is);
	buf_fmt(b, "  %.2f %s %.2f\n", old->score, to, new->stats.avg);
}

void
report_changes(struct buf *b, const struct result_run *run,
    const struct report_opts *o)
{
	const struct outcome *old = run->stored;
	size_t i, n = 0, again = 0, wide = NAME_MIN, w;

	for (i = 0; i < run->ntasks; i++) {
		again += run->tasks[i].imported == NULL;
		if (!changed(&old->tasks[i], &run->tasks[i]))
			continue;
		n++;
		w = report_cols(old->tasks[i].id, NAME_COLS);
		wide = w > wide ? w : wide;
	}
	buf_fmt(b, "\nGraded again: %zu of %zu task%s", again, run->ntasks,
	    run->ntasks == 1 ? "" : "s");
	if (n == 0) {
		buf_puts(b, "; no changes\n");
		return;
	}
	buf_fmt(b, ", %zu changed\n", n);
	for (i = w = 0; i < run->ntasks && (w < LINES || o->verbose); i++)
		if (changed(&old->tasks[i], &run->tasks[i])) {
			put_change(b, &old->tasks[i], &run->tasks[i], wide, o);
			w++;
		}
	if (w < n)
		buf_fmt(b, "  and %zu more; use -v to list them\n", n - w);
}
