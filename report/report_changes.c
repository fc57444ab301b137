/* SPDX-License-Identifier: ISC */
/*
 * The changes after `waza grade`.  The tasks of such a run are those of the
 * results file, in its order.
 */
#include "report/report_internal.h"

#include "results/outcome.h"

enum {
	CHANGE_COLS = 40, CHANGE_MIN = 8,	/* of a task id */
	CHANGES_MAX = 100	/* lines of changes without -v */
};

#define EPSILON 1e-9		/* scores may differ by rounding */

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
	buf_fmt(b, "  %s %s %s  %.2f %s %.2f\n", was, to, is, old->score, to,
	    new->stats.avg);
}

void
report_changes(struct buf *b, const struct result_run *run,
    const struct report_opts *o)
{
	const struct outcome *old = run->stored;
	size_t i, n = 0, again = 0, wide = CHANGE_MIN, w;

	for (i = 0; i < run->ntasks; i++) {
		again += run->tasks[i].imported == NULL;
		if (!changed(&old->tasks[i], &run->tasks[i]))
			continue;
		n++;
		w = report_cols(old->tasks[i].id, CHANGE_COLS);
		wide = w > wide ? w : wide;
	}
	buf_fmt(b, "\nGraded again: %zu of %zu task%s", again, run->ntasks,
	    run->ntasks == 1 ? "" : "s");
	if (n == 0) {
		buf_puts(b, "; no changes\n");
		return;
	}
	buf_fmt(b, ", %zu changed\n", n);
	for (i = w = 0; i < run->ntasks && (w < CHANGES_MAX || o->verbose); i++)
		if (changed(&old->tasks[i], &run->tasks[i])) {
			put_change(b, &old->tasks[i], &run->tasks[i], wide, o);
			w++;
		}
	if (w < n)
		buf_fmt(b, "  and %zu more; use -v to list them\n", n - w);
}
