/* SPDX-License-Identifier: ISC */
/*
 * The end of the report on a run: how many tasks passed, the pass rate, what
 * was used and reused, and the verdict with the places of the files.
 *
 * A pass rate is printed only if all tasks have run: of a part of them it
 * would claim more than is known.
 */
#include "report/report_internal.h"

#include <stdint.h>
#include <string.h>

#include "report/compare.h"
#include "results/outcome.h"
#include "results/suspect/suspect.h"

enum { SUSPECTS_MAX = 10 };	/* tasks of an interpretation */

struct sum {
	const struct result_run *run;
	const struct report_opts *o;
	struct report_flow f;
};

static void
put_classes(struct sum *s)
{
	size_t n[RESULT__MAX] = { 0 }, i;
	const char *sep = " (";
	int st;

	for (i = 0; i < s->run->ntasks; i++)
		n[s->run->tasks[i].status] +=
		    !s->run->tasks[i].spec->def->quarantined;
	for (st = RESULT_AGENT_ERROR; st < RESULT__MAX; st++) {
		if (n[st] == 0)
			continue;
		report_flow_fmt(&s->f, NULL, "%s%zu %s", sep, n[st],
		    result_class((enum result_status)st));
		sep = ", ";
	}
	if (*sep == ',')
		report_flow(&s->f, NULL, STR(")"));
}

/* ", 2 failed" in its color, if there are any. */
static void
put_count(struct sum *s, const char *sgr, size_t n, const char *words)
{
	report_flow(&s->f, NULL, STR(","));
	report_flow_fmt(&s->f, n > 0 ? sgr : NULL, " %zu %s", n, words);
}

static void
put_counts(struct sum *s)
{
	const struct result_run *r = s->run;
	const struct result_totals *t = &r->sum;
	size_t i, part = 0, skipped = 0, n = r->ntasks + r->left_out;

	for (i = 0; i < r->ntasks; i++)
		if (report_is_partial(&r->tasks[i]))
			part++;
		else
			skipped += r->tasks[i].status == RESULT_SKIPPED &&
			    !r->tasks[i].spec->def->quarantined;
	if (r->complete)
		report_flow_fmt(&s->f, NULL, "%zu task%s:", n,
		    n == 1 ? "" : "s");
	else
		report_flow_fmt(&s->f, NULL, "%zu of %zu task%s done:",
		    t->finished, n, n == 1 ? "" : "s");
	report_flow_fmt(&s->f, t->passed > 0 ? "32" : NULL, " %zu passed",
	    t->passed);
	put_count(s, "31", t->failed, "failed");
	if (t->errors > 0) {
		put_count(s, "33", t->errors, t->errors == 1 ? "error" :
		    "errors");
		put_classes(s);
	}
	if (skipped > 0)
		put_count(s, NULL, skipped, "skipped");
	if (t->quarantined > 0)
		put_count(s, NULL, t->quarantined, "in quarantine");
	if (part > 0)
		report_flow_fmt(&s->f, NULL, "; %zu done in part", part);
	if (n - t->finished > part)
		report_flow_fmt(&s->f, NULL, "%s %zu not run", part > 0 ? "," :
		    ";", n - t->finished - part);
	report_flow_end(&s->f);
}

static void
put_rate(struct sum *s)
{
	const struct result_totals *t = &s->run->sum;
	struct buf b = { 0 };

	if (s->run->complete) {
		report_flow_fmt(&s->f, NULL, "pass rate %.1f%%",
		    report_rate(t->rate));
		if (t->rate_hi > 0)	/* 0: nothing was graded */
			report_flow_fmt(&s->f, NULL, " (95%% interval: "
			    "%.0f%s%.0f%%),", t->rate_lo * 100,
			    s->o->ascii ? "-" : "–", t->rate_hi * 100);
		else
			report_flow(&s->f, NULL, STR(","));
		report_flow_fmt(&s->f, NULL, " score %.2f", t->score);
		if (t->weighted > t->score + 0.005 ||
		    t->weighted < t->score - 0.005)
			report_flow_fmt(&s->f, NULL, " (weighted %.2f)",
			    t->weighted);
		report_flow(&s->f, NULL, STR(", "));
	}
	report_took(&b, s->run->duration_ms, 0);
	report_flow_part(&s->f, NULL, s->run->complete ? " " : "time ",
	    buf_str(&b));
	report_flow_end(&s->f);
	buf_free(&b);
}

static void
put_usage(struct sum *s, const char *what, const struct answer_usage *u)
{
	struct buf b = { 0 };

	if (report_usage(&b, u)) {
		report_flow_part(&s->f, NULL, what, buf_str(&b));
		report_flow_end(&s->f);
	}
	buf_free(&b);
}

void
report_reused(struct report_flow *f, const struct result_reuse *u)
{
	const char *sep = "reused";

	if (!u->resumes && !u->caches)
		return;
	if (u->resumes) {
		report_flow_fmt(f, NULL, "%s %zu of %zu trials from the "
		    "earlier run", sep, u->resumed, u->trials);
		sep = " and";
	}
	if (u->caches && u->resumes)
		report_flow_fmt(f, NULL, "%s %zu from the cache", sep,
		    u->cached);
	else if (u->caches)
		report_flow_fmt(f, NULL, "%s %zu of %zu trials from the cache",
		    sep, u->cached, u->trials);
	report_flow_end(f);
}

/* The command, in lines that a shell joins again. */
static void
put_resume(struct buf *b, const struct report_opts *o)
{
	size_t width = report_width(o), at = 0, i, n;
	const char *const *words = o->resume;

	if (words == NULL)
		return;
	buf_fmt(b, "\nresume with%s:\n", o->larger ? " a larger budget" : "");
	for (i = 0; words[i] != NULL; i++) {
		n = report_cols(str_of(words[i]), SIZE_MAX);
		if (at > 0 && at + n + 3 > width) {
			buf_puts(b, " \\\n");
			at = 0;
		}
		buf_puts(b, at > 0 ? " " : i > 0 ? "        " : "    ");
		at += n + (at > 0 ? 1 : i > 0 ? 8 : 4);
		buf_puts(b, words[i]);
	}
	buf_putc(b, '\n');
}

static const char *
verdict_of(const struct result_run *r)
{
	if (result_only_answers(r))
		return "NOT GRADED";
	if (result_is_skipped(r) && !r->aborted)
		return "OUT OF BUDGET";
	if (result_interrupted(r))
		return r->cancelled ? "INTERRUPTED" : "NOT FINISHED";
	return result_ok(r) ? "PASSED" : "FAILED";
}

void
report_verdict(struct buf *b, const char *word, struct str why,
    const struct report_opts *o)
{
	struct report_flow f = { .b = b, .o = o, .indent = 2 };
	bool good = strcmp(word, "PASSED") == 0;
	bool bad = strcmp(word, "FAILED") == 0;
	size_t i;

	put_resume(b, o);
	buf_putc(b, '\n');
	report_flow(&f, good ? "1;32" : bad ? "1;31" : "1;33", str_of(word));
	report_flow_part(&f, NULL, ": ", why);
	for (i = 0; i < o->nplaces; i++)
		report_flow_path(&f, o->places[i].what,
		    str_of(o->places[i].path));
	report_flow_end(&f);
}

static void
put_verdict(struct sum *s)
{
	const struct result_run *r = s->run;
	double need = r->suite->config.pass_threshold;
	const char *word = verdict_of(r), *end;
	struct buf b = { 0 }, missed = { 0 };
	bool broken;

	end = report_end(r, &broken);
	if (result_only_answers(r))
		buf_puts(&b, "; grade the answers with waza grade --results "
		    "FILE");
	else if (need < 1 && r->complete)
		buf_fmt(&b, "; required pass rate %.1f%%", report_rate(need));
	if (end != NULL && (strcmp(word, "FAILED") == 0 ||
	    result_is_skipped(r)))
		buf_fmt(&b, "; %s", strncmp(end, "budget: ", 8) == 0 ?
		    end + 8 : end);
	if (r->vacuous > 0)
		buf_fmt(&b, "; tasks that accept a control: %zu", r->vacuous);
	if (report_graded_nothing(r) != NULL && !result_only_answers(r))
		buf_fmt(&b, "; nothing was graded: %s",
		    report_graded_nothing(r));
	else if (report_missed(&missed, r))
		buf_fmt(&b, "; metric %.*s", STRF(buf_str(&missed)));
	report_verdict(s->f.b, word, b.n > 2 ? (struct str){ b.p + 2,
	    b.n - 2 } : buf_str(&b), s->o);
	buf_free(&missed);
	buf_free(&b);
}

void
report_sum(struct buf *b, const struct result_run *run,
    const struct report_opts *o)
{
	struct sum s = { .run = run, .o = o, .f = { .b = b, .o = o,
		.indent = 2 } };

	buf_putc(b, '\n');
	put_counts(&s);
	put_rate(&s);
	put_usage(&s, "usage: ", &run->usage);
	put_usage(&s, "usage of judges: ", &run->judge_usage);
	put_usage(&s, "saved (cached or replayed): ", &run->saved);
	report_reused(&s.f, &run->reuse);
	if (run->baseline != NULL && run->complete && run->baseline->complete)
		compare_skill(b, run, o);
	if (run->ref != NULL && run->complete && run->ref->complete)
		compare_ref(b, run, o);
	put_verdict(&s);
}

/*
 * The changes after `waza grade`.  The tasks of such a run are those of the
 * results file, in its order.
 */
enum { CHANGES_MAX = 100 };	/* lines of changes without -v */

#define EPSILON 1e-9		/* scores may differ by rounding */

static bool
changed(const struct outcome_task *old, const struct result_task *new)
{
	double d = new->stats->avg - old->score;

	return new->more->imported == NULL &&
	    (new->status != old->status || d > EPSILON || d < -EPSILON);
}

static const char *
word(enum result_status s, bool finished)
{
	return finished ? report_status(s) : "unfinished";
}

static void
put_change(struct buf *b, const struct outcome_task *old,
    const struct result_task *new, const struct report_opts *o)
{
	const char *to = o->ascii ? "->" : "\xE2\x86\x92";
	const char *was = word(old->status, old->finished);
	const char *is = word(new->status, new->status != RESULT_NONE &&
	    new->status != RESULT_CANCELLED);
	struct report_flow f = { .b = b, .o = o, .at = 4, .indent = 6 };

	buf_puts(b, "  ");
	report_mark(b, new->status, o);
	report_flow(&f, NULL, new->spec->name);
	report_flow_fmt(&f, NULL, "  %s %s %s", was, to, is);
	report_flow_fmt(&f, NULL, "  %.2f %s %.2f", old->score, to,
	    new->stats->avg);
	report_flow_end(&f);
}

void
report_changes(struct buf *b, const struct result_run *run,
    const struct report_opts *o)
{
	const struct outcome *old = run->stored;
	size_t i, n = 0, again = 0, shown = 0;

	for (i = 0; i < run->ntasks; i++) {
		again += run->tasks[i].more->imported == NULL;
		n += changed(&old->tasks[i], &run->tasks[i]);
	}
	buf_putc(b, '\n');
	report_colored(b, "1", "Graded again", o);
	buf_fmt(b, ": %zu of %zu task%s", again, run->ntasks,
	    run->ntasks == 1 ? "" : "s");
	if (n == 0) {
		buf_puts(b, "; no changes\n");
		return;
	}
	buf_fmt(b, ", %zu changed\n", n);
	for (i = 0; i < run->ntasks && (shown < CHANGES_MAX || o->verbose); i++)
		if (changed(&old->tasks[i], &run->tasks[i])) {
			put_change(b, &old->tasks[i], &run->tasks[i], o);
			shown++;
		}
	if (shown < n)
		buf_fmt(b, "  and %zu more; use -v to list them\n", n - shown);
}

/*
 * Interpretation, models.
 */

/* A sentence on a line of its own. */
static void
put_sentence(struct report_flow *f, const char *text)
{
	report_flow_part(f, NULL, "  ", str_of(text));
	report_flow_end(f);
}

/* "a: the skill was not used: ... (look at skills/a/SKILL.md:3)" */
static void
put_suspect(struct report_flow *f, struct str task, const struct suspect *s)
{
	f->indent = 4;
	report_flow_part(f, NULL, "  ", task);
	report_flow_fmt(f, "33", ": %s", suspect_words(s->kind));
	report_flow_part(f, NULL, ": ", s->evidence);
	if (s->grader.n > 0)
		report_flow_part(f, NULL, "; grader ", s->grader);
	if (s->at.n > 0)
		report_flow_path(f, "look at", s->at);
	report_flow_end(f);
	f->indent = 2;
}

/* The suspects of the tasks that did not pass, by their first such trial. */
static void
put_suspects(struct report_flow *f, const struct result_run *r)
{
	struct arena a = { 0 };
	struct report_detail d;
	struct suspect s;
	size_t i, n = 0;

	for (i = 0; i < r->ntasks; i++) {
		struct arena_mark mark = arena_save(&a);

		if (r->tasks[i].status > RESULT_PASSED) {
			report_detail(&a, f->o, r, &r->tasks[i],
			    report_trial(&r->tasks[i]), &d);
			if (suspect_read(d.json, &s) && (n++ < SUSPECTS_MAX ||
			    f->o->verbose)) {
				if (n == 1)
					put_sentence(f, "Suspects, which may "
					    "not be the agent's fault:");
				put_suspect(f, r->tasks[i].spec->id, &s);
			}
		}
		arena_restore(&a, mark);
	}
	if (n > SUSPECTS_MAX && !f->o->verbose) {
		report_flow_fmt(f, NULL, "  and %zu more; use -v to list them",
		    n - SUSPECTS_MAX);
		report_flow_end(f);
	}
	arena_free(&a);
}

void
report_interpret(struct buf *b, const struct result_run *r,
    const struct report_opts *o)
{
	struct report_flow f = { .b = b, .o = o, .indent = 2 };
	double score = r->sum.score * 100, rate = r->sum.rate * 100;
	size_t i, flaky = 0;

	for (i = 0; i < r->ntasks; i++)
		flaky += r->tasks[i].stats->flaky;
	buf_putc(b, '\n');
	report_colored(b, "1", "Interpretation", o);
	buf_putc(b, '\n');
	report_flow_fmt(&f, NULL, "  Score: %.0f/100, %s.", score,
	    score > 90 ? "excellent" : score >= 70 ? "good" :
	    score >= 50 ? "below the target" : "poor");
	report_flow_end(&f);
	report_flow_fmt(&f, NULL, "  %s of the tasks passed.", rate >= 100 ?
	    "All" : rate >= 80 ? "Most" : rate > 50 ? "More than half" :
	    rate >= 50 ? "Half" : rate > 0 ? "Less than half" : "None");
	report_flow_end(&f);
	if (r->sum.errors > 0) {
		report_flow_fmt(&f, NULL, "  %zu task%s ended in an error, "
		    "which is not a verdict on the answer.", r->sum.errors,
		    r->sum.errors == 1 ? "" : "s");
		report_flow_end(&f);
	}
	if (flaky > 0) {
		report_flow_fmt(&f, NULL, "  %zu task%s passed only in some "
		    "trials; run more trials to measure how often.", flaky,
		    flaky == 1 ? "" : "s");
		report_flow_end(&f);
	} else
		put_sentence(&f, r->trials > 1 ? "Every task had the same "
		    "result in all trials." : "Each task ran once, so its "
		    "consistency is unknown.");
	put_suspects(&f, r);
}

void
report_models(struct buf *b, struct result_run *const *runs, size_t n,
    const struct report_opts *o)
{
	static const struct report_column cols[] = { { "model", 0 },
		{ "pass rate", 3 }, { "score", 2 }, { "time", 1 } };
	struct arena a = { 0 };
	struct report_row *rows = NEW_N(&a, struct report_row, n);
	struct report_table table = { .cols = cols, .ncols = COUNTOF(cols),
		.rows = rows, .n = n };
	struct buf took = { 0 };
	size_t i;

	for (i = 0; i < n; i++) {
		report_took(&took, runs[i]->duration_ms, 0);
		rows[i] = (struct report_row){ .cell = { runs[i]->model,
			STR(""), arena_fmt(&a, "%.2f", runs[i]->sum.score),
			arena_take(&a, &took) } };
		if (runs[i]->complete)
			rows[i].cell[1] = arena_fmt(&a, "%.1f%%",
			    report_rate(runs[i]->sum.rate));
		else
			rows[i].note = STR("not finished");
	}
	buf_putc(b, '\n');
	report_table(b, &table, o);
	arena_free(&a);
}
