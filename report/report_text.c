/* SPDX-License-Identifier: ISC */
/*
 * The report at the end of a run, for people: the tasks, what did not pass and
 * why, what is flaky, and the numbers that determine the exit status.
 *
 * It stays short: for a large suite only tasks that did not pass are listed,
 * and only the first failures are shown in full, unless --verbose is given.
 */
#include "report/report_internal.h"

#include <string.h>

enum {
	LIST_MAX = 200,		/* tasks up to which all are listed */
	FULL_MAX = 25,		/* failures shown in full */
	SLOW_MAX = 3,
	GROUPS_MAX = 50,
	ANSWER_LINES = 8,
	CALL_LINES = 50, PATCH_LINES = 200,	/* of a trial, with -v */
	CALLS_COLS = 7, TOKENS_COLS = 9, COST_COLS = 10,
	STDERR_LINES = 5
};

struct text {
	struct buf *b;
	const struct result_run *run;
	const struct report_opts *o;
	struct arena arena;	/* details of one trial */
	size_t width, name;	/* columns: of a line, of the names */
	bool calls, tokens, cost;	/* columns of the table */
	const char *dash, *pm;	/* "–" and "±", or in ASCII */
};

static void
put_section(struct text *t, const char *words)
{
	buf_putc(t->b, '\n');
	report_colored(t->b, "1", words, t->o);
	buf_putc(t->b, '\n');
}

static void
put_heading(struct text *t)
{
	const struct result_run *r = t->run;

	report_color(t->b, "1", t->o);
	report_line(t->b, r->suite->name, t->width, t->o->ascii);
	report_plain(t->b, t->o);
	report_part(t->b, "  skill ", r->suite->skill, 40, t->o->ascii, "");
	report_part(t->b, "  executor ", r->executor, 40, t->o->ascii, "");
	report_part(t->b, "  model ", r->model, 40, t->o->ascii, "");
	if (r->trials > 1)
		buf_fmt(t->b, "  %zu trials each", r->trials);
	buf_puts(t->b, "\n\n");
}

static bool
is_listed(const struct text *t, const struct result_task *k)
{
	return t->o->verbose || t->run->ntasks <= LIST_MAX ||
	    report_is_partial(k) ||
	    (k->status != RESULT_PASSED && k->status != RESULT_NONE);
}

/* Chooses the columns: those with a number, as far as the width allows. */
static void
choose_columns(struct text *t)
{
	size_t used = t->name + 19 + (t->run->trials > 1 ? 14 : 0), i;

	for (i = 0; i < t->run->ntasks; i++) {
		struct result_used u = result_task_used(&t->run->tasks[i]);

		t->calls |= u.calls > 0;
		t->tokens |= u.input_tokens > 0 || u.output_tokens > 0;
		t->cost |= u.cost > 0;
	}
	t->cost = t->cost && used + COST_COLS <= t->width;
	used += t->cost ? COST_COLS : 0;
	t->tokens = t->tokens && used + TOKENS_COLS <= t->width;
	used += t->tokens ? TOKENS_COLS : 0;
	t->calls = t->calls && used + CALLS_COLS <= t->width;
}

static void
put_columns(struct text *t)
{
	if (!t->calls && !t->tokens && !t->cost && t->run->trials < 2)
		return;
	report_color(t->b, "2", t->o);
	buf_puts(t->b, "    ");
	report_cell(t->b, STR("task"), t->name, true);
	buf_puts(t->b, t->run->trials > 1 ? " score avg time" :
	    " score duration");
	if (t->calls)
		buf_fmt(t->b, "%*s", CALLS_COLS, "calls");
	if (t->tokens)
		buf_fmt(t->b, "%*s", TOKENS_COLS, "tokens");
	if (t->cost)
		buf_fmt(t->b, "%*s", COST_COLS, "cost");
	report_plain(t->b, t->o);
	buf_putc(t->b, '\n');
}

static void
put_used(struct text *t, const struct result_used *u)
{
	if (t->calls)
		report_count(t->b, u, CALLS_COLS, t->o->ascii);
	if (t->tokens)
		report_tokens(t->b, u, TOKENS_COLS, t->o->ascii);
	if (t->cost)
		report_cost(t->b, u, COST_COLS, t->o->ascii);
}

static void
put_task(struct text *t, const struct result_task *k)
{
	const struct result_trial *first = report_trial(k);
	struct result_used used = result_task_used(k);

	buf_puts(t->b, "  ");
	report_mark(t->b, k->status, t->o);
	report_cell(t->b, k->spec->name, t->name, t->o->ascii);
	if (k->status < RESULT_PASSED) {
		buf_puts(t->b, "  ");
		report_put_status(t->b, k);
	} else {
		buf_fmt(t->b, "  %.2f  ", report_task_score(k));
		report_took(t->b, k->stats.avg_ms, 7);
		put_used(t, &used);
		if (k->ntrials > 1)
			buf_fmt(t->b, "  %zu/%zu trials", report_passes(k),
			    k->ntrials);
	}
	if (used.refused)
		buf_puts(t->b, "  refused");
	if (used.free && used.cost > 0)
		buf_fmt(t->b, "  had cost $%.4f", used.cost);
	if (first != NULL && k->ntrials == 1 && first->attempts > 1)
		buf_fmt(t->b, "  %u attempts", first->attempts);
	if (result_is_error(k->status))
		buf_fmt(t->b, "  %s", result_class(k->status));
	buf_putc(t->b, '\n');
}

static void
put_tasks(struct text *t)
{
	const struct result_run *r = t->run;
	size_t i, hidden = 0, cols;

	t->name = sizeof("task") - 1;
	for (i = 0; i < r->ntasks; i++) {
		cols = report_cols(r->tasks[i].spec->name, t->width / 2);
		if (is_listed(t, &r->tasks[i]) && cols > t->name)
			t->name = cols;
	}
	choose_columns(t);
	put_columns(t);
	for (i = 0; i < r->ntasks; i++)
		if (is_listed(t, &r->tasks[i]))
			put_task(t, &r->tasks[i]);
		else
			hidden++;
	if (hidden > 0)
		buf_fmt(t->b, "  (%zu tasks that passed or did not run are "
		    "not listed; use -v to list them)\n", hidden);
}

static void
put_verdict(struct text *t, const struct report_verdict *v)
{
	buf_puts(t->b, "    ");
	report_mark(t->b, v->status, t->o);
	report_line(t->b, v->name, t->width / 2, t->o->ascii);
	if (!str_eq(v->type, v->name))
		report_part(t->b, " (", v->type, 20, t->o->ascii, ")");
	buf_fmt(t->b, " %.2f", v->score);
	if (v->status == RESULT_FAILED && v->at.file != NULL) {
		buf_puts(t->b, "  ");
		report_color(t->b, "36", t->o);
		report_where(t->b, v->at);
		report_plain(t->b, t->o);
	}
	buf_putc(t->b, '\n');
	if (v->status != RESULT_PASSED)
		report_reason(t->b, v->feedback, "        ", t->o);
}

static void
put_quoted(struct text *t, const char *what, struct str s, size_t lines)
{
	if (s.n == 0)
		return;
	buf_fmt(t->b, "    %s:\n", what);
	report_block(t->b, utf8_cut(s, 64 << 10),
	    t->o->ascii ? "      | " : "      │ ", lines, t->o);
}

/* Takes the first line, without its end. */
static struct str
take_line(struct str *s)
{
	const char *nl = memchr(s->p, '\n', s->n);
	struct str line = { s->p, nl != NULL ? (size_t)(nl - s->p) : s->n };
	size_t n = line.n + (nl != NULL);

	s->p += n;
	s->n -= n;
	return line;
}

/* A patch in color; indentation stays, as far as it is not deep. */
static void
put_patch(struct text *t, struct str s)
{
	size_t lines, in, at;
	struct str line;

	if (s.n > 0)
		buf_puts(t->b, "    patch:\n");
	for (lines = 0; s.n > 0 && lines < PATCH_LINES; lines++) {
		line = take_line(&s);
		buf_puts(t->b, t->o->ascii ? "      | " : "      │ ");
		report_color(t->b, line.n == 0 || line.p[0] == ' ' ? "0" :
		    line.p[0] == '+' ? "32" : line.p[0] == '-' ? "31" : "2",
		    t->o);
		for (at = in = 0; at < line.n && in < t->width / 2; at++) {
			if (at > 0 && line.p[at] != ' ' && line.p[at] != '\t')
				break;
			buf_putc(t->b, line.p[at] == '\t' ? ' ' : line.p[at]);
			for (in++; line.p[at] == '\t' && in % 4 != 1; in++)
				buf_putc(t->b, ' ');
		}
		report_line(t->b, (struct str){ line.p + at, line.n - at },
		    t->width - 8 - in, t->o->ascii);
		report_plain(t->b, t->o);
		buf_putc(t->b, '\n');
	}
	if (s.n > 0)
		buf_fmt(t->b, "      (%zu more bytes)\n", s.n);
}

/* What the agent did, with -v. */
static void
put_work(struct text *t, const struct report_detail *d)
{
	size_t i;

	if (d->ncalls > 0)
		buf_fmt(t->b, "    tool calls (%zu):\n", d->ncalls);
	for (i = 0; i < d->ncalls && i < CALL_LINES; i++) {
		const struct report_call *c = &d->calls[i];

		buf_puts(t->b, "      ");
		report_mark(t->b, c->failed || c->denied ? RESULT_FAILED :
		    RESULT_PASSED, t->o);
		report_call(t->b, c, t->width - 8, t->o->ascii);
		buf_putc(t->b, '\n');
	}
	if (i < d->ncalls)
		buf_fmt(t->b, "      (%zu more calls)\n", d->ncalls - i);
	put_patch(t, d->patch);
}

/* The last lines of a text. */
static struct str
last_lines(struct str s, size_t lines)
{
	size_t i = s.n;

	if (i == 0)
		return s;
	while (i > 0 && s.p[i - 1] == '\n')
		s.n = --i;
	for (; i > 0; i--)
		if (s.p[i - 1] == '\n' && --lines == 0)
			break;
	return (struct str){ s.p + i, s.n - i };
}

/* "trials 1, 3 and 4 of 5" that did not pass. */
static void
put_trials(struct text *t, const struct result_task *k)
{
	size_t i, n = 0, bad = 0;

	for (i = 0; i < k->ntrials; i++)
		bad += k->trials[i].status > RESULT_PASSED;
	if (k->ntrials < 2)
		return;
	if (bad == k->ntrials) {
		buf_fmt(t->b, "    none of %zu trials passed; the first one:\n",
		    k->ntrials);
		return;
	}
	buf_fmt(t->b, "    %s", bad > 1 ? "trials" : "trial");
	for (i = 0; i < k->ntrials && n < 12; i++)
		if (k->trials[i].status > RESULT_PASSED)
			buf_fmt(t->b, "%s %zu", n++ > 0 ? "," : "", i + 1);
	buf_fmt(t->b, "%s of %zu did not pass%s\n", bad > n ? " and more" : "",
	    k->ntrials, bad > 1 ? "; the first of them:" : ":");
}

static void
put_failure(struct text *t, const struct result_task *k)
{
	const struct result_trial *first = report_trial(k);
	struct report_detail d;
	size_t i;

	buf_puts(t->b, "\n  ");
	report_mark(t->b, k->status, t->o);
	report_line(t->b, k->spec->name, t->width / 2, t->o->ascii);
	if (!str_eq(k->spec->id, k->spec->name))
		report_part(t->b, " [", k->spec->id, t->width / 3,
		    t->o->ascii, "]");
	if (k->spec->at.file != NULL)
		buf_puts(t->b, "  ");
	report_where(t->b, k->spec->at);
	buf_putc(t->b, '\n');
	put_trials(t, k);
	report_detail(&t->arena, t->o, t->run, k, first, &d);
	report_reason(t->b, k->error, "    ", t->o);
	if (first != NULL && result_is_error(first->status))
		buf_fmt(t->b, "    %s%s\n", result_class(first->status),
		    d.error.n > 0 ? ":" : "");
	report_reason(t->b, d.error, "      ", t->o);
	for (i = 0; i < d.n; i++)
		if (d.v[i].status == RESULT_FAILED || t->o->verbose)
			put_verdict(t, &d.v[i]);
	if (t->o->verbose)
		put_quoted(t, "prompt", d.prompt, ANSWER_LINES);
	put_quoted(t, first != NULL && first->used.refused ?
	    "answer (refused)" : "answer", d.output, ANSWER_LINES);
	if (t->o->verbose)
		put_work(t, &d);
	if (first != NULL && result_is_error(first->status))
		put_quoted(t, "stderr", last_lines(d.stderr_tail, STDERR_LINES),
		    STDERR_LINES);
}

/* What the agents did in tasks that passed, with -v. */
static void
put_passed(struct text *t)
{
	struct arena_mark mark = arena_save(&t->arena);
	struct report_detail d;
	size_t i, n = 0;

	for (i = 0; i < t->run->ntasks && t->o->verbose; i++) {
		const struct result_task *k = &t->run->tasks[i];

		if (k->status != RESULT_PASSED)
			continue;
		report_detail(&t->arena, t->o, t->run, k, report_trial(k), &d);
		if (d.ncalls > 0 || d.patch.n > 0) {
			if (n++ == 0)
				put_section(t, "Passed");
			buf_puts(t->b, "\n  ");
			report_mark(t->b, k->status, t->o);
			report_line(t->b, k->spec->name, t->width - 4,
			    t->o->ascii);
			buf_putc(t->b, '\n');
			put_work(t, &d);
		}
		arena_restore(&t->arena, mark);
	}
}

static void
put_failures(struct text *t)
{
	struct arena_mark mark = arena_save(&t->arena);
	size_t i, n = 0;

	for (i = 0; i < t->run->ntasks; i++) {
		const struct result_task *k = &t->run->tasks[i];

		if (k->status <= RESULT_PASSED)
			continue;
		if (n++ == 0)
			put_section(t, "Not passed");
		if (n > FULL_MAX && !t->o->verbose)
			continue;
		put_failure(t, k);
		arena_restore(&t->arena, mark);
	}
	if (n > FULL_MAX && !t->o->verbose)
		buf_fmt(t->b, "\n  and %zu more; use -v to show them\n",
		    n - FULL_MAX);
}

/* The tasks whose graders were all skipped, and why. */
static void
put_skipped(struct text *t)
{
	struct arena_mark mark = arena_save(&t->arena);
	struct report_detail d;
	size_t i, n = 0;

	for (i = 0; i < t->run->ntasks; i++) {
		const struct result_task *k = &t->run->tasks[i];

		if (k->status != RESULT_SKIPPED)
			continue;
		if (n++ == 0)
			put_section(t, "Skipped");
		if (n > FULL_MAX && !t->o->verbose)
			continue;
		buf_puts(t->b, "  ");
		report_mark(t->b, k->status, t->o);
		report_line(t->b, k->spec->name, t->width / 2, t->o->ascii);
		buf_putc(t->b, '\n');
		report_detail(&t->arena, t->o, t->run, k, report_trial(k), &d);
		report_reason(t->b, d.error, "      ", t->o);
		arena_restore(&t->arena, mark);
	}
	if (n > FULL_MAX && !t->o->verbose)
		buf_fmt(t->b, "  and %zu more; use -v to show them\n",
		    n - FULL_MAX);
}

static void
put_flaky(struct text *t)
{
	size_t i, n = 0;

	for (i = 0; i < t->run->ntasks; i++) {
		const struct result_task *k = &t->run->tasks[i];
		const struct result_stats *s = &k->stats;

		if (k->status == RESULT_NONE || !s->flaky)
			continue;
		if (n++ == 0)
			put_section(t, "Flaky");
		buf_puts(t->b, "  ~ ");
		report_cell(t->b, k->spec->name, t->name, t->o->ascii);
		buf_fmt(t->b, "  passed %.1f%% (95%% interval: "
		    "%.0f%s%.0f%%)  score %.2f %s %.2f\n", report_rate(s->pass_rate),
		    s->pass_lo * 100, t->dash, s->pass_hi * 100, s->avg, t->pm,
		    s->std_dev);
	}
}

/* The slowest few; not shown if there are no more tasks than that. */
static void
put_slowest(struct text *t)
{
	const struct result_task *slow[SLOW_MAX] = { NULL }, *k, *swap;
	size_t i, j;

	if (t->run->ntasks <= SLOW_MAX)
		return;
	for (i = 0; i < t->run->ntasks; i++) {
		k = &t->run->tasks[i];
		for (j = 0; j < SLOW_MAX && k != NULL &&
		    k->status != RESULT_NONE; j++)
			if (slow[j] == NULL ||
			    k->stats.avg_ms > slow[j]->stats.avg_ms) {
				swap = slow[j];
				slow[j] = k;
				k = swap;
			}
	}
	if (slow[0] == NULL || slow[0]->stats.avg_ms < 100)
		return;
	put_section(t, "Slowest");
	for (j = 0; j < SLOW_MAX && slow[j] != NULL; j++) {
		buf_puts(t->b, "  ");
		report_took(t->b, slow[j]->stats.avg_ms, 7);
		buf_puts(t->b, "  ");
		report_line(t->b, slow[j]->spec->name, t->width - 12,
		    t->o->ascii);
		buf_putc(t->b, '\n');
	}
}

struct group {
	struct str name;
	size_t passed, total;
	double score;
};

static void
put_groups(struct text *t)
{
	struct group g[GROUPS_MAX];
	size_t i, j, n = 0;

	for (i = 0; i < t->run->ntasks; i++) {
		const struct result_task *k = &t->run->tasks[i];
		struct str name = result_group(t->run, k->spec);

		if (k->status < RESULT_PASSED || name.n == 0)
			continue;
		for (j = 0; j < n && !str_eq(g[j].name, name); j++)
			;
		if (j == GROUPS_MAX)
			return;		/* too many for a summary */
		if (j == n)
			g[n++] = (struct group){ .name = name };
		g[j].total++;
		g[j].passed += k->status == RESULT_PASSED;
		g[j].score += report_task_score(k);
	}
	if (n > 0)
		put_section(t, "Groups");
	for (j = 0; j < n; j++) {
		buf_puts(t->b, "  ");
		report_cell(t->b, g[j].name, 30, t->o->ascii);
		buf_fmt(t->b, "  %zu/%zu passed  score %.2f\n", g[j].passed,
		    g[j].total, g[j].score / (double)g[j].total);
	}
}

static void
put_classes(struct text *t)
{
	size_t n[RESULT__MAX] = { 0 }, i;
	const char *sep = " (";
	int st;

	for (i = 0; i < t->run->ntasks; i++)
		n[t->run->tasks[i].status]++;
	for (st = RESULT_AGENT_ERROR; st < RESULT__MAX; st++) {
		if (n[st] == 0)
			continue;
		buf_fmt(t->b, "%s%zu %s", sep, n[st],
		    result_class((enum result_status)st));
		sep = ", ";
	}
	if (*sep == ',')
		buf_putc(t->b, ')');
}

static void
put_counts(struct text *t)
{
	const struct result_run *r = t->run;
	size_t i, partial = 0;

	buf_fmt(t->b, "\n%zu task%s: %zu passed, %zu failed", r->ntasks,
	    r->ntasks == 1 ? "" : "s", r->sum.passed, r->sum.failed);
	if (r->sum.errors > 0) {
		buf_fmt(t->b, ", %zu error%s", r->sum.errors,
		    r->sum.errors == 1 ? "" : "s");
		put_classes(t);
	}
	if (r->sum.skipped > 0)
		buf_fmt(t->b, ", %zu skipped", r->sum.skipped);
	for (i = 0; i < r->ntasks; i++)
		partial += report_is_partial(&r->tasks[i]);
	if (partial > 0)
		buf_fmt(t->b, " (%zu not finished)", partial);
	buf_fmt(t->b, "\npass rate %.1f%% (95%% interval: %.0f%s%.0f%%), "
	    "score %.2f",
	    report_rate(r->sum.rate), r->sum.rate_lo * 100, t->dash,
	    r->sum.rate_hi * 100, r->sum.score);
	if (r->sum.weighted > r->sum.score + 0.005 ||
	    r->sum.weighted < r->sum.score - 0.005)
		buf_fmt(t->b, " (weighted %.2f)", r->sum.weighted);
	buf_puts(t->b, ", ");
	report_took(t->b, r->duration_ms, 0);
	buf_putc(t->b, '\n');
}

static void
put_usage(struct text *t, const char *what, const struct answer_usage *u)
{
	struct buf b = { 0 };

	if (report_usage(&b, u))
		buf_fmt(t->b, "%s: %.*s\n", what, STRF(buf_str(&b)));
	buf_free(&b);
}

static void
put_baseline(struct text *t)
{
	const struct result_run *base = t->run->baseline;

	if (base != NULL)
		buf_fmt(t->b, "without the skill %.1f%%, score %.2f; effect of "
		    "the skill: %+.1f points\n", report_rate(base->sum.rate),
		    base->sum.score,
		    (t->run->sum.rate - base->sum.rate) * 100);
}

static void
put_outcome(struct text *t)
{
	const struct result_run *r = t->run;
	double need = r->suite->config.pass_threshold;
	struct buf missed = { 0 };
	bool ok = result_ok(r), broken;
	const char *end = report_end(r, &broken);

	if (result_only_answers(r)) {
		buf_puts(t->b, "NOT GRADED: grade the answers with waza grade "
		    "--results FILE\n");
		return;
	}
	report_colored(t->b, ok ? "1;32" : "1;31", ok ? "PASSED" : "FAILED",
	    t->o);
	if (need < 1)
		buf_fmt(t->b, ": required pass rate %.1f%%", report_rate(need));
	if (end != NULL)
		buf_fmt(t->b, "; %s", end);
	if (report_graded_nothing(r))
		buf_puts(t->b, "; nothing was graded: all tasks were skipped");
	else if (report_missed(&missed, r))
		buf_fmt(t->b, "; metric %.*s", STRF(buf_str(&missed)));
	buf_free(&missed);
	buf_putc(t->b, '\n');
}

static void
put_interpretation(struct text *t)
{
	const struct result_run *r = t->run;
	double score = r->sum.score * 100, rate = r->sum.rate * 100;
	size_t i, flaky = 0;

	for (i = 0; i < r->ntasks; i++)
		flaky += r->tasks[i].stats.flaky;
	put_section(t, "Interpretation");
	buf_fmt(t->b, "  Score: %.0f/100, %s.\n", score,
	    score > 90 ? "excellent" : score >= 70 ? "good" :
	    score >= 50 ? "below the target" : "poor");
	buf_fmt(t->b, "  %s of the tasks passed.\n", rate >= 100 ? "All" :
	    rate >= 80 ? "Most" : rate > 50 ? "More than half" :
	    rate >= 50 ? "Half" : rate > 0 ? "Less than half" : "None");
	if (r->sum.errors > 0)
		buf_fmt(t->b, "  %zu task%s ended in an error, which is not a "
		    "verdict on the answer.\n", r->sum.errors,
		    r->sum.errors == 1 ? "" : "s");
	if (r->trials > 1 && flaky == 0)
		buf_puts(t->b, "  Every task had the same result in all "
		    "trials.\n");
	else if (flaky > 0)
		buf_fmt(t->b, "  %zu task%s passed only in some trials; run "
		    "more trials to measure how often.\n", flaky,
		    flaky == 1 ? "" : "s");
	else
		buf_puts(t->b, "  Each task ran once, so its consistency is "
		    "unknown.\n");
}

void
report_text(struct buf *b, const struct result_run *run,
    const struct report_opts *o)
{
	struct text t = { .b = b, .run = run, .o = o,
		.dash = o->ascii ? "-" : "–", .pm = o->ascii ? "+-" : "±" };

	t.width = o->width > 40 ? o->width : o->width > 0 ? 40 : 80;
	put_heading(&t);
	put_tasks(&t);
	put_passed(&t);
	put_failures(&t);
	put_skipped(&t);
	put_flaky(&t);
	put_groups(&t);
	put_slowest(&t);
	report_triggers_text(b, run, t.width, o);
	if (o->interpret)
		put_interpretation(&t);
	put_counts(&t);
	put_usage(&t, "usage", &run->usage);
	put_usage(&t, "usage of judges", &run->judge_usage);
	put_usage(&t, "saved (cached or replayed)", &run->saved);
	put_baseline(&t);
	put_outcome(&t);
	arena_free(&t.arena);
}

void
report_models(struct buf *b, struct result_run *const *runs, size_t n,
    const struct report_opts *o)
{
	size_t i, name = 5;

	for (i = 0; i < n; i++) {
		size_t cols = report_cols(runs[i]->model, 40);

		name = cols > name ? cols : name;
	}
	report_cell(b, STR("model"), name, true);
	buf_puts(b, "  pass rate  score  duration\n");
	for (i = 0; i < n; i++) {
		report_cell(b, runs[i]->model, name, o->ascii);
		buf_fmt(b, "  %8.1f%%  %5.2f  ", report_rate(runs[i]->sum.rate),
		    runs[i]->sum.score);
		report_took(b, runs[i]->duration_ms, 0);
		buf_putc(b, '\n');
	}
}
