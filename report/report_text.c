/* SPDX-License-Identifier: ISC */
/*
 * The report at the end of a run, for people: a table of the tasks, what did
 * not pass and why, what is flaky, and the sum (report_sum.c).
 *
 * It stays short: for a large suite only tasks that did not pass are listed,
 * and only the first failures are shown in full, unless --verbose is given.
 */
#include "report/report_internal.h"

#include <stdlib.h>
#include <string.h>

enum {
	LIST_MAX = 200,		/* tasks up to which all are listed */
	FULL_MAX = 25,		/* failures shown in full */
	SLOW_MAX = 3, SLOW_MS = 1000, SLOW_TIMES = 3,	/* of the median */
	GROUPS_MAX = 50,
	ANSWER_LINES = 8,
	CALL_LINES = 50, PATCH_LINES = 200,	/* of a trial, with -v */
	STDERR_LINES = 5,
	DEEP = 30		/* columns of a patch's indentation */
};

struct text {
	struct buf *b;
	const struct result_run *run;
	const struct report_opts *o;
	struct arena arena;	/* details of one trial */
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
	struct report_flow f = { .b = t->b, .o = t->o, .indent = 2 };

	report_flow(&f, "1", r->suite->name);
	report_flow_part(&f, NULL, "  skill ", r->suite->skill);
	report_flow_part(&f, NULL, "  executor ", r->executor);
	report_flow_part(&f, NULL, "  model ", r->model);
	if (r->trials > 1)
		report_flow_fmt(&f, NULL, "  %s%zu trials each",
		    r->stop != NULL ? "up to " : "", r->trials);
	if (r->stop != NULL)
		report_flow_part(&f, NULL, "  stop ",
		    report_word(r->stop));
	report_flow_end(&f);
}

/* There is nothing to do: a shard may have no task. */
static void
put_nothing(struct text *t)
{
	struct str why = STR("no task is selected");

	if (t->run->shard.n > 0)
		why = arena_fmt(&t->arena, "shard %lld of %lld has no task",
		    (long long)t->run->shard.k, (long long)t->run->shard.n);
	report_verdict(t->b, "NOTHING TO DO", why, t->o);
}

/*
 * The table.
 */
enum { TASK, TRIALS, SCORE, TIME, CALLS, TOKENS, COST, TASK_COLUMNS };

static bool
is_listed(const struct text *t, const struct result_task *k)
{
	return t->o->verbose || t->run->ntasks <= LIST_MAX ||
	    report_is_partial(k) ||
	    (k->status != RESULT_PASSED && k->status != RESULT_NONE);
}

/* Whether a task used tokens, paid, called a tool: else no such column. */
static struct result_used
what_was_used(const struct result_run *r)
{
	struct result_used any = { 0 }, u;
	size_t i;

	for (i = 0; i < r->ntasks; i++) {
		u = result_task_used(&r->tasks[i]);
		any.calls_known |= u.calls > 0;
		any.tokens_known |= u.input_tokens > 0 || u.output_tokens > 0;
		any.cost_known |= u.cost > 0;
	}
	return any;
}

static struct str
number(struct arena *a, void (*put)(struct buf *, const struct result_used *,
    int, bool), const struct result_used *u, bool ascii)
{
	struct buf b = { 0 };

	put(&b, u, 0, ascii);
	return arena_take(a, &b);
}

/* What a row adds to its numbers. */
static struct str
note_of(struct text *t, const struct result_task *k,
    const struct result_used *used)
{
	const struct result_trial *first = report_trial(k);
	struct buf b = { 0 };

	if (report_is_partial(k))
		report_put_status(&b, k);
	else if (k->more->skipped != NULL)
		buf_fmt(&b, "skipped: %.*s",
		    STRF(report_word(k->more->skipped)));
	else if (k->status < RESULT_PASSED)
		buf_puts(&b, k->status == RESULT_NONE ? "not run" : "skipped");
	if (result_is_error(k->status))
		buf_fmt(&b, "  %s", result_class(k->status));
	if (k->spec->def->quarantined)
		buf_fmt(&b, "  in quarantine until %.*s",
		    STRF(k->spec->def->quarantine_until));
	if (t->run->stop != NULL && k->status >= RESULT_PASSED)
		buf_fmt(&b, "  pass rate %.0f%s%.0f%%", k->stats->pass_lo * 100,
		    t->dash, k->stats->pass_hi * 100);
	if (used->refused)
		buf_puts(&b, "  refused");
	if (used->free && used->cost > 0)
		buf_fmt(&b, "  had cost $%.4f", used->cost);
	if (first != NULL && k->ntrials == 1 && first->attempts > 1)
		buf_fmt(&b, "  %u attempts", first->attempts);
	return str_trim(arena_take(&t->arena, &b));
}

static struct report_row
row_of(struct text *t, const struct result_task *k,
    const struct result_used *any)
{
	struct result_used used = result_task_used(k);
	struct arena *a = &t->arena;
	bool ascii = t->o->ascii;
	struct report_row r = { .mark = k->status, .cell = {
		[TASK] = k->spec->name } };
	struct buf b = { 0 };

	r.note = note_of(t, k, &used);
	if (k->status < RESULT_PASSED)
		return r;
	if (k->ntrials > 1)
		r.cell[TRIALS] = arena_fmt(a, "%zu/%u", report_passes(k),
		    k->ntrials);
	r.cell[SCORE] = arena_fmt(a, "%.2f", report_task_score(k));
	report_took(&b, k->stats->avg_ms, 0);
	r.cell[TIME] = arena_take(a, &b);
	if (any->calls_known)
		r.cell[CALLS] = number(a, report_count, &used, ascii);
	if (any->tokens_known)
		r.cell[TOKENS] = number(a, report_tokens, &used, ascii);
	if (any->cost_known)
		r.cell[COST] = number(a, report_cost, &used, ascii);
	return r;
}

static void
put_tasks(struct text *t)
{
	const struct report_column cols[TASK_COLUMNS] = {
		[TASK] = { "task", 0 }, [TRIALS] = { "trials", 5 },
		[SCORE] = { "score", 6 },
		[TIME] = { t->run->trials > 1 ? "avg time" : "time", 4 },
		[CALLS] = { "calls", 1 }, [TOKENS] = { "tokens", 2 },
		[COST] = { "cost", 3 } };
	const struct result_run *r = t->run;
	struct arena_mark mark = arena_save(&t->arena);
	struct report_row *rows;
	struct report_table table = { .cols = cols, .ncols = TASK_COLUMNS,
		.marks = true };
	struct result_used any = what_was_used(r);
	struct report_flow f = { .b = t->b, .o = t->o, .indent = 2 };
	size_t i, n = 0;

	for (i = 0; i < r->ntasks; i++)
		n += is_listed(t, &r->tasks[i]);
	table.rows = rows = NEW_N(&t->arena, struct report_row, n);
	for (i = 0; i < r->ntasks; i++)
		if (is_listed(t, &r->tasks[i]))
			rows[table.n++] = row_of(t, &r->tasks[i], &any);
	report_table(t->b, &table, t->o);
	if (table.n < r->ntasks + r->left_out) {
		report_flow_fmt(&f, "2", "  %zu tasks that passed or did not "
		    "run are not listed; use -v to list them",
		    r->ntasks + r->left_out - table.n);
		report_flow_end(&f);
	}
	arena_restore(&t->arena, mark);
}

/*
 * Failures.
 */

/* Checks of `expected:` have the name of their key with an underscore. */
static struct str
check_name(const struct report_verdict *v)
{
	return v->name.n > 1 && v->name.p[0] == '_' ?
	    (struct str){ v->name.p + 1, v->name.n - 1 } : v->name;
}

static bool
is_same_place(struct spec_where a, struct spec_where b)
{
	return a.file != NULL && b.file != NULL && a.line == b.line &&
	    strcmp(a.file, b.file) == 0;
}

/*
 * One line: the name, the place unless it is that of the task, and what was
 * found.  Further lines of the feedback follow it.
 */
static void
put_verdict(struct text *t, const struct report_verdict *v,
    struct spec_where task)
{
	struct report_flow f = { .b = t->b, .o = t->o, .at = 6, .indent = 6 };
	struct str text = str_trim(v->feedback), line = { "", 0 };
	struct buf where = { 0 };

	buf_puts(t->b, "    ");
	report_mark(t->b, v->status, t->o);
	report_flow(&f, NULL, check_name(v));
	if (!str_eq(v->type, v->name) && v->type.n > 0) {
		report_flow_part(&f, NULL, " (", v->type);
		report_flow(&f, NULL, STR(")"));
	}
	if (v->status != RESULT_FAILED || v->score > 0)
		report_flow_fmt(&f, NULL, " %.2f", v->score);
	if (v->status == RESULT_FAILED && !is_same_place(v->at, task)) {
		report_where(&where, v->at);
		report_flow_part(&f, "36", " ", buf_str(&where));
	}
	if (v->status != RESULT_PASSED && str_line(&text, &line))
		report_flow_reason(&f, ": ", line);
	report_flow_end(&f);
	if (v->status != RESULT_PASSED)
		report_reason(t->b, text, "        ", t->o);
	buf_free(&where);
}

static void
put_quoted(struct text *t, const char *what, struct str s, size_t lines)
{
	if (s.n == 0)
		return;
	buf_fmt(t->b, "    %s:\n", what);
	report_block(t->b, s,
	    t->o->ascii ? "      | " : "      │ ", lines, t->o);
}

/* A patch in color; indentation stays, as far as it is not deep. */
static void
put_patch(struct text *t, struct str s)
{
	size_t lines, in, at;
	struct str line;

	if (s.n > 0)
		buf_puts(t->b, "    patch:\n");
	for (lines = 0; lines < PATCH_LINES && str_line(&s, &line); lines++) {
		buf_puts(t->b, t->o->ascii ? "      | " : "      │ ");
		report_color(t->b, line.n == 0 || line.p[0] == ' ' ? "0" :
		    line.p[0] == '+' ? "32" : line.p[0] == '-' ? "31" : "2",
		    t->o);
		for (at = in = 0; at < line.n && in < DEEP; at++) {
			if (at > 0 && line.p[at] != ' ' && line.p[at] != '\t')
				break;
			buf_putc(t->b, line.p[at] == '\t' ? ' ' : line.p[at]);
			for (in++; line.p[at] == '\t' && in % 4 != 1; in++)
				buf_putc(t->b, ' ');
		}
		report_line(t->b, (struct str){ line.p + at, line.n - at },
		    report_limit(t->o, report_width(t->o) > in + 18 ?
		    report_width(t->o) - 8 - in : 10), t->o->ascii);
		report_plain(t->b, t->o);
		buf_putc(t->b, '\n');
	}
	if (s.n > 0)
		buf_fmt(t->b, "      (%zu more bytes)\n", s.n);
}

static void
put_calls(struct text *t, const char *what, const struct report_call *c,
    size_t n)
{
	size_t i;

	if (n > 0)
		buf_fmt(t->b, "    %s (%zu):\n", what, n);
	for (i = 0; i < n && i < CALL_LINES; i++) {
		buf_puts(t->b, "      ");
		report_mark(t->b, c[i].failed || c[i].denied ? RESULT_FAILED :
		    RESULT_PASSED, t->o);
		report_call(t->b, &c[i], report_limit(t->o,
		    report_width(t->o) - 8), t->o->ascii);
		buf_putc(t->b, '\n');
	}
	if (i < n)
		buf_fmt(t->b, "      (%zu more calls)\n", n - i);
}

/* What the agent did, with -v. */
static void
put_work(struct text *t, const struct report_detail *d)
{
	put_calls(t, "tool calls", d->calls, d->ncalls);
	put_calls(t, "mocked commands", d->mocked, d->nmocked);
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
	struct report_flow f = { .b = t->b, .o = t->o, .indent = 6 };
	size_t i, n = 0, bad = 0;

	for (i = 0; i < k->ntrials; i++)
		bad += k->trials[i].status > RESULT_PASSED;
	if (k->ntrials < 2 || bad == 0)	/* 0: none was started */
		return;
	if (bad == k->ntrials) {
		report_flow_fmt(&f, NULL, "    none of %u trials passed; "
		    "the first one:", k->ntrials);
		report_flow_end(&f);
		return;
	}
	report_flow(&f, NULL, bad > 1 ? STR("    trials") : STR("    trial"));
	for (i = 0; i < k->ntrials && n < 12; i++)
		if (k->trials[i].status > RESULT_PASSED)
			report_flow_fmt(&f, NULL, "%s %zu", n++ > 0 ? "," : "",
			    i + 1);
	report_flow_fmt(&f, NULL, "%s of %u did not pass%s", bad > n ?
	    " and more" : "", k->ntrials, bad > 1 ? "; the first of them:" :
	    ":");
	report_flow_end(&f);
}

static void
put_title(struct text *t, const struct result_task *k)
{
	struct report_flow f = { .b = t->b, .o = t->o, .at = 4, .indent = 4 };
	struct buf b = { 0 };

	buf_puts(t->b, "\n  ");
	report_mark(t->b, k->status, t->o);
	report_flow(&f, "1", k->spec->name);
	if (!str_eq(k->spec->id, k->spec->name)) {
		report_flow_part(&f, NULL, " [", k->spec->id);
		report_flow(&f, NULL, STR("]"));
	}
	report_where(&b, k->spec->at);
	report_flow_part(&f, "36", "  ", buf_str(&b));
	report_flow_end(&f);
	buf_free(&b);
}

/* "timeout: no answer in 5 s" */
static void
put_error(struct text *t, enum result_status st, struct str message)
{
	struct report_flow f = { .b = t->b, .o = t->o, .at = 4, .indent = 6 };
	struct str line = { "", 0 };

	if (!result_is_error(st)) {
		report_reason(t->b, message, "    ", t->o);
		return;
	}
	message = str_trim(message);
	buf_puts(t->b, "    ");
	report_flow(&f, NULL, str_of(result_class(st)));
	if (str_line(&message, &line))
		report_flow_reason(&f, ": ", line);
	report_flow_end(&f);
	report_reason(t->b, message, "      ", t->o);
}

static void
put_failure(struct text *t, const struct result_task *k)
{
	const struct result_trial *first = report_trial(k);
	bool error = first != NULL && result_is_error(first->status);
	struct report_detail d;
	size_t i;

	put_title(t, k);
	put_trials(t, k);
	report_detail(&t->arena, t->o, t->run, k, first, &d);
	report_reason(t->b, k->more->error, "    ", t->o);
	if (error || d.error.n > 0)
		put_error(t, first->status, d.error);
	for (i = 0; i < d.n; i++)
		if (d.v[i].status == RESULT_FAILED || t->o->verbose)
			put_verdict(t, &d.v[i], k->spec->at);
	if (t->o->verbose)
		put_quoted(t, "prompt", d.prompt, ANSWER_LINES);
	put_quoted(t, first != NULL && first->used.refused ?
	    "answer (refused)" : "answer", d.output, ANSWER_LINES);
	if (t->o->verbose)
		put_work(t, &d);
	if (error)
		put_quoted(t, "stderr", last_lines(d.stderr_tail, STDERR_LINES),
		    STDERR_LINES);
}

/* A task's name and the end of its line; at: the column reached. */
static void
put_name(struct text *t, const struct result_task *k, size_t at)
{
	struct report_flow f = { .b = t->b, .o = t->o, .at = at,
		.indent = at };

	report_flow(&f, NULL, k->spec->name);
	report_flow_end(&f);
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
		if (d.ncalls + d.nmocked > 0 || d.patch.n > 0) {
			if (n++ == 0)
				put_section(t, "Passed");
			buf_puts(t->b, "\n  ");
			report_mark(t->b, k->status, t->o);
			put_name(t, k, 4);
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
			put_section(t, "Failures");
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
		put_name(t, k, 4);
		report_detail(&t->arena, t->o, t->run, k, report_trial(k), &d);
		report_reason(t->b, k->more->skipped != NULL ?
		    str_of(k->more->skipped) :
		    d.error, "      ", t->o);
		arena_restore(&t->arena, mark);
	}
	if (n > FULL_MAX && !t->o->verbose)
		buf_fmt(t->b, "  and %zu more; use -v to show them\n",
		    n - FULL_MAX);
}

static void
put_flaky(struct text *t)
{
	struct report_flow f = { .b = t->b, .o = t->o, .indent = 4 };
	size_t i, n = 0;

	for (i = 0; i < t->run->ntasks; i++) {
		const struct result_task *k = &t->run->tasks[i];
		const struct result_stats *s = k->stats;

		if (k->status == RESULT_NONE || !s->flaky)
			continue;
		if (n++ == 0)
			put_section(t, "Flaky");
		buf_puts(t->b, "  ~ ");
		f.at = 4;
		report_flow(&f, NULL, k->spec->name);
		report_flow_fmt(&f, NULL, "  passed %.1f%% (95%% interval: "
		    "%.0f%s%.0f%%)", report_rate(s->pass_rate),
		    s->pass_lo * 100, t->dash, s->pass_hi * 100);
		report_flow_fmt(&f, NULL, "  score %.2f %s %.2f", s->avg,
		    t->pm, s->std_dev);
		report_flow_end(&f);
	}
}

static int
by_time(const void *a, const void *b)
{
	const struct result_task *const *x = a, *const *y = b;

	if ((*x)->stats->avg_ms != (*y)->stats->avg_ms)
		return (*x)->stats->avg_ms > (*y)->stats->avg_ms ? -1 : 1;
	return *x < *y ? -1 : *x > *y;
}

/* The slowest few, if they take several times the median. */
static void
put_slowest(struct text *t)
{
	const struct result_run *r = t->run;
	struct report_flow f = { .b = t->b, .o = t->o, .indent = 11 };
	const struct result_task **v;
	int64_t median;
	size_t i, n = 0;

	for (i = 0; i < r->ntasks && r->tasks[i].stats->avg_ms < SLOW_MS; i++)
		continue;
	if (i == r->ntasks || r->left_out > 0)
		return;			/* do not sort a million */
	v = NEW_N(&t->arena, const struct result_task *, r->ntasks);
	for (i = 0; i < r->ntasks; i++)
		if (r->tasks[i].status != RESULT_NONE)
			v[n++] = &r->tasks[i];
	if (n <= SLOW_MAX)
		return;
	qsort(v, n, sizeof(v[0]), by_time);
	median = v[n / 2]->stats->avg_ms;
	for (i = 0; i < SLOW_MAX && v[i]->stats->avg_ms >= SLOW_MS &&
	    v[i]->stats->avg_ms >= SLOW_TIMES * median; i++) {
		if (i == 0) {
			buf_putc(t->b, '\n');
			report_colored(t->b, "1", "Slowest", t->o);
			buf_puts(t->b, " (median ");
			report_took(t->b, median, 0);
			buf_puts(t->b, ")\n");
		}
		buf_puts(t->b, "  ");
		report_took(t->b, v[i]->stats->avg_ms, 7);
		buf_puts(t->b, "  ");
		f.at = 11;
		report_flow(&f, NULL, v[i]->spec->name);
		report_flow_end(&f);
	}
}

struct group {
	struct str name;
	size_t passed, total;
	double score;
};

static void
put_group_rows(struct text *t, const struct group *g, size_t n)
{
	static const struct report_column cols[] = { { "group", 0 },
		{ "passed", 2 }, { "score", 1 } };
	struct report_row *rows = NEW_N(&t->arena, struct report_row, n);
	struct report_table table = { .cols = cols, .ncols = COUNTOF(cols),
		.rows = rows, .n = n };
	size_t i;

	for (i = 0; i < n; i++)
		rows[i] = (struct report_row){ .cell = { g[i].name,
			arena_fmt(&t->arena, "%zu/%zu", g[i].passed,
			    g[i].total), arena_fmt(&t->arena, "%.2f",
			    g[i].score / (double)g[i].total) } };
	if (n > 0)
		put_section(t, "Groups");
	report_table(t->b, &table, t->o);
}

static void
put_groups(struct text *t)
{
	struct group g[GROUPS_MAX];
	size_t i, j, n = 0;

	if (t->run->left_out > 0)	/* the results file has them */
		return;
	for (i = 0; i < t->run->ntasks; i++) {
		const struct result_task *k = &t->run->tasks[i];
		struct str name = result_group(&t->arena, t->run, k->spec);

		if (k->status < RESULT_PASSED || name.n == 0 ||
		    k->spec->def->quarantined)
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
	put_group_rows(t, g, n);
}

void
report_text(struct buf *b, const struct result_run *run,
    const struct report_opts *o)
{
	struct text t = { .b = b, .run = run, .o = o,
		.dash = o->ascii ? "-" : "–", .pm = o->ascii ? "+-" : "±" };

	put_heading(&t);
	if (run->ntasks + run->left_out == 0 && run->triggers.n == 0) {
		put_nothing(&t);
		arena_free(&t.arena);
		return;
	}
	buf_putc(b, '\n');
	put_tasks(&t);
	put_passed(&t);
	put_failures(&t);
	put_skipped(&t);
	put_flaky(&t);
	put_groups(&t);
	put_slowest(&t);
	report_triggers_text(b, run, o);
	report_controls_text(b, run, false, o);
	if (o->interpret && run->complete)
		report_interpret(b, run, o);
	if (run->stored != NULL)
		report_changes(b, run, o);
	report_sum(b, run, o);
	arena_free(&t.arena);
}
