/* SPDX-License-Identifier: ISC */
/*
 * Markdown for GitHub: a comment on a pull request, the summary of a job, or a
 * file.
 *
 * Text from suites and agents must not become markup, mentions or references:
 * markup is escaped, and an empty comment follows @ and #.  Longer texts are
 * code blocks, with a fence of more backticks than any sequence inside.
 */
#include "report/report_internal.h"

#include <stdio.h>
#include <string.h>

#include "report/matrix/matrix.h"

enum {
	LINE_COLS = 300,
	ANSWER_MAX = 2000,
	TRIALS_MAX = 5,		/* of a task, in full */
	WORK_TASKS = 50,	/* in which passed ones show the work */
	TASK_ROOM = 16 << 10,	/* bytes of one task, at most */
	ROW_ROOM = 4 << 10
};

void
report_inline(struct buf *b, struct str s, size_t cols)
{
	struct buf line = { 0 };
	size_t i;

	report_line(&line, s, cols, false);
	for (i = 0; i < line.n; i++) {
		char c = line.p[i];

		if (c == '<')
			buf_puts(b, "&lt;");
		else if (c == '>')
			buf_puts(b, "&gt;");
		else if (c == '&')
			buf_puts(b, "&amp;");
		else if (c == '@' || c == '#')
			buf_fmt(b, "%c<!-- -->", c);
		else {
			if (strchr("\\`*_[]|~!$:", c) != NULL)
				buf_putc(b, '\\');
			buf_putc(b, c);
		}
	}
	buf_free(&line);
}

/* One line between two texts; nothing at all if it is empty. */
static void
put_inline(struct buf *b, const char *before, struct str s, const char *after)
{
	if (s.n == 0)
		return;
	buf_puts(b, before);
	report_inline(b, s, LINE_COLS);
	buf_puts(b, after);
}

/* The same for a reason; only its start if the room is limited. */
static void
put_reason(struct report_out *o, const char *before, struct str s,
    const char *after)
{
	bool cut;

	if (s.n == 0)
		return;
	buf_puts(&o->b, before);
	report_inline(&o->b, report_cut(s, REPORT_REASON, &cut),
	    o->room > 0 ? LINE_COLS : 0);
	if (cut && o->room == 0)
		buf_fmt(&o->b, " (%zu more bytes)", s.n - REPORT_REASON);
	buf_puts(&o->b, after);
}

/* One more than the longest sequence of backticks; at least three. */
static size_t
fence(struct str s)
{
	size_t i, run = 0, max = 2;

	for (i = 0; i < s.n; i++) {
		run = s.p[i] == '`' ? run + 1 : 0;
		max = run > max ? run : max;
	}
	return max + 1;
}

static void
put_code(struct buf *b, const char *what, const char *language, struct str s)
{
	size_t i, n;
	bool cut;

	while (s.n > 0 && s.p[s.n - 1] == '\n')
		s.n--;
	if (s.n == 0)
		return;
	s = report_cut(s, ANSWER_MAX, &cut);
	n = fence(s);
	buf_fmt(b, "<details><summary>%s</summary>\n\n", what);
	for (i = 0; i < n; i++)
		buf_putc(b, '`');
	buf_fmt(b, "%s\n", language);
	report_clean(b, s);
	buf_puts(b, cut ? "...\n" : "\n");
	for (i = 0; i < n; i++)
		buf_putc(b, '`');
	buf_puts(b, "\n\n</details>\n\n");
}

const char *
report_sign(enum result_status st)
{
	if (st < RESULT_PASSED)
		return "➖";
	if (st == RESULT_PASSED)
		return "✅";
	return st == RESULT_FAILED ? "❌" : "⚠️";
}

static void
put_usage(struct buf *b, const char *what, const struct answer_usage *u)
{
	struct buf words = { 0 };

	if (report_usage(&words, u))
		put_inline(b, what, buf_str(&words), "\n");
	buf_free(&words);
}

static void
put_head(struct report_out *o, const struct result_run *r, bool base)
{
	bool ok = result_ok(r), broken;
	const char *end = report_end(r, &broken);
	struct buf missed = { 0 };
	double need = r->suite->config.pass_threshold;

	buf_puts(&o->b, "## Waza results: ");
	report_inline(&o->b, r->suite->name, LINE_COLS);
	put_inline(&o->b, " (", report_pass(&o->arena, r, base), ")");
	buf_puts(&o->b, "\n\n");
	buf_fmt(&o->b, "**%s** · **Score** %.2f · **Duration** ",
	    result_only_answers(r) ? "➖ Not graded" : ok ? "✅ Passed" :
	    "❌ Failed", r->sum.score);
	report_took(&o->b, r->duration_ms, 0);
	buf_fmt(&o->b, "\n\n- Tasks: %zu (%zu passed, %zu failed, %zu error%s, "
	    "%zu skipped)\n- Pass rate: %.1f%%", r->ntasks, r->sum.passed,
	    r->sum.failed, r->sum.errors, r->sum.errors == 1 ? "" : "s",
	    r->sum.skipped, report_rate(r->sum.rate));
	if (need < 1)
		buf_fmt(&o->b, " (required: %.1f%%)", report_rate(need));
	if (r->sum.quarantined > 0)
		buf_fmt(&o->b, "\n- In quarantine, not counted: %zu",
		    r->sum.quarantined);
	buf_fmt(&o->b, "\n- Score range: %.2f – %.2f (σ = %.4f)\n",
	    r->sum.min, r->sum.max, r->sum.std_dev);
	put_usage(&o->b, "- Usage: ", &r->usage);
	put_usage(&o->b, "- Usage of judges: ", &r->judge_usage);
	put_usage(&o->b, "- Saved (cached or replayed): ", &r->saved);
	if (report_graded_nothing(r) != NULL)
		buf_fmt(&o->b, "- Nothing was graded: %s.\n",
		    report_graded_nothing(r));
	else if (report_missed(&missed, r))
		put_inline(&o->b, "- Metric missed: ", buf_str(&missed), "\n");
	buf_free(&missed);
	if (end == NULL)
		return;
	buf_puts(&o->b, broken ? "\n> ⚠️ **Incomplete**: " :
	    "- Incomplete: ");
	report_inline(&o->b, str_of(end), 0);
	buf_puts(&o->b, ".\n");
}

static void
put_row(struct report_out *o, const struct result_run *r,
    const struct result_task *k)
{
	struct report_detail d;
	size_t i;

	report_detail(&o->arena, o->opts, r, k, report_trial(k), &d);
	buf_puts(&o->b, "| ");
	report_inline(&o->b, k->spec->name, 100);
	buf_fmt(&o->b, " | %.2f | %s ", report_task_score(k),
	    report_sign(k->status));
	report_put_status(&o->b, k);
	if (k->ntrials > 1 && k->status != RESULT_NONE)
		buf_fmt(&o->b, " (%zu/%u)", report_passes(k), k->ntrials);
	if (k->spec->def->quarantined)
		buf_puts(&o->b, " (in quarantine)");
	buf_puts(&o->b, " | ");
	for (i = 0; i < d.n && i < 20; i++) {
		buf_puts(&o->b, i > 0 ? ", " : "");
		report_inline(&o->b, d.v[i].name, 60);
	}
	buf_puts(&o->b, d.n == 0 ? "- |\n" : d.n > 20 ? ", … |\n" : " |\n");
}

static void
put_table(struct report_out *o, const struct result_run *r)
{
	size_t i;

	buf_puts(&o->b, "\n| Task | Score | Status | Graders |\n"
	    "| --- | ---: | --- | --- |\n");
	for (i = 0; i < r->ntasks; i++) {
		/* Half of the space is reserved for failures. */
		if (!report_room(o, o->room / 2 + ROW_ROOM))
			break;
		put_row(o, r, &r->tasks[i]);
		report_flush(o);
	}
	if (i < r->ntasks)
		buf_fmt(&o->b, "\n%zu more tasks are not listed here.\n",
		    r->ntasks - i);
}

static void
put_flaky(struct report_out *o, const struct result_run *r)
{
	size_t i, n = 0;

	for (i = 0; i < r->ntasks; i++) {
		const struct result_task *k = &r->tasks[i];

		if (k->status == RESULT_NONE || !k->stats->flaky ||
		    !report_room(o, ROW_ROOM))
			continue;
		if (n++ == 0)
			buf_puts(&o->b, "\n### Flaky tasks\n\n");
		buf_puts(&o->b, "- ");
		report_inline(&o->b, k->spec->name, 100);
		buf_fmt(&o->b, ": passed %.1f%% (95%% interval: "
		    "%.0f–%.0f%%), score %.2f ± %.2f\n", report_rate(k->stats->pass_rate),
		    k->stats->pass_lo * 100, k->stats->pass_hi * 100,
		    k->stats->avg, k->stats->std_dev);
		report_flush(o);
	}
}

/* The tool calls and the patch, as far as there is room. */
static void
put_work(struct report_out *o, const struct report_detail *d)
{
	struct buf calls = { 0 };
	char what[60];

	if (!report_room(o, TASK_ROOM))
		return;
	report_call_lines(&calls, d);
	snprintf(what, sizeof(what), "tool calls (%zu)", d->ncalls);
	put_code(&o->b, what, "text", buf_str(&calls));
	put_code(&o->b, "patch", "diff", d->patch);
	buf_free(&calls);
}

static void
put_trial(struct report_out *o, const struct result_run *r,
    const struct result_task *k, const struct result_trial *t)
{
	struct report_detail d;
	size_t i;

	report_detail(&o->arena, o->opts, r, k, t, &d);
	if (k->ntrials > 1)
		buf_fmt(&o->b, "Trial %d of %u: %s\n\n",
		    (int)(t - k->trials) + 1, k->ntrials,
		    report_status(t->status));
	put_reason(o, "- ⚠️ ", d.error, "\n");
	for (i = 0; i < d.n && i < 20; i++) {
		const struct report_verdict *v = &d.v[i];

		buf_fmt(&o->b, "- %s **", report_sign(v->status));
		report_inline(&o->b, v->name, 60);
		buf_fmt(&o->b, "** (%.2f)", v->score);
		put_reason(o, ": ", v->feedback, "");
		buf_putc(&o->b, '\n');
	}
	buf_putc(&o->b, '\n');
	put_code(&o->b, "answer", "text", d.output);
	put_work(o, &d);
}

static void
put_failed(struct report_out *o, const struct result_run *r,
    const struct result_task *k)
{
	size_t i, n = 0;

	buf_fmt(&o->b, "#### %s ", report_sign(k->status));
	report_inline(&o->b, k->spec->name, 100);
	buf_puts(&o->b, "\n\n");
	if (k->spec->def->quarantined)
		put_reason(o, "In quarantine: ", k->spec->def->quarantine,
		    "\n\n");
	put_reason(o, "", k->more->error, "\n\n");
	for (i = 0; i < k->ntrials && n < TRIALS_MAX; i++)
		if (k->trials[i].status > RESULT_PASSED) {
			put_trial(o, r, k, &k->trials[i]);
			report_flush(o);
			n++;
		}
}

/* What the agents did in tasks that passed, in short runs. */
static void
put_passed(struct report_out *o, const struct result_run *r)
{
	struct report_detail d;
	size_t i, n = 0;

	for (i = 0; i < r->ntasks && r->ntasks <= WORK_TASKS; i++) {
		const struct result_task *k = &r->tasks[i];

		if (k->status != RESULT_PASSED || !report_room(o, TASK_ROOM))
			continue;
		report_detail(&o->arena, o->opts, r, k, report_trial(k), &d);
		if (d.ncalls == 0 && d.patch.n == 0)
			continue;
		if (n++ == 0)
			buf_puts(&o->b, "\n### Passed\n\n");
		buf_fmt(&o->b, "#### %s ", report_sign(k->status));
		report_inline(&o->b, k->spec->name, 100);
		buf_puts(&o->b, "\n\n");
		put_work(o, &d);
		report_flush(o);
	}
}

static void
put_run(struct report_out *o, const struct result_run *r, bool base)
{
	size_t i, n = 0, more = 0;

	if (!base)
		matrix_markdown(o, r);
	put_head(o, r, base);
	put_table(o, r);
	put_flaky(o, r);
	for (i = 0; i < r->ntasks; i++) {
		if (r->tasks[i].status <= RESULT_PASSED)
			continue;
		if (!report_room(o, TASK_ROOM)) {
			more++;
			continue;
		}
		if (n++ == 0)
			buf_puts(&o->b, "\n### Not passed\n\n");
		put_failed(o, r, &r->tasks[i]);
	}
	if (more > 0)
		buf_fmt(&o->b, "%zu more did not pass.\n", more);
	put_passed(o, r);
	report_triggers_markdown(o, r);
	report_controls_markdown(o, r);
	buf_puts(&o->b, "\n---\n\nBenchmark: ");
	report_inline(&o->b, r->suite->name, LINE_COLS);
	put_inline(&o->b, " · Skill: ", r->suite->skill, "");
	if (r->cell_name.n > 0)
		put_inline(&o->b, " · ", r->cell_name, "");
	else
		put_inline(&o->b, " · Model: ", r->model, "");
	buf_puts(&o->b, "\n\n");
}

const struct report_kind report_markdown = {
	.name = "markdown:PATH", .path = true, .form = GUARD_TEXT,
	.flags = REPORT_STDOUT | REPORT_ALONE, .run = put_run
};
