/* SPDX-License-Identifier: ISC */
/*
 * One self-contained HTML file, without scripts, fonts or links.
 *
 * Text from suites and agents is escaped.  In case an escape is missing, a
 * policy in the head forbids the page to load or run anything.
 */
#include "report/report_internal.h"

#include <string.h>

enum {
	BARS_MAX = 60,		/* tasks with a bar; more: a histogram */
	ROW = 20, LABEL = 220, BAR = 400,
	BUCKETS = 10,
	GOOD_MAX = 4 << 10,	/* bytes of a text if the trial passed */
	BAD_MAX = 64 << 10,
	PATCH_MAX = 16 << 10	/* of a patch if the trial passed */
};

static const char head[] =
	"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" "
	"content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	"<title>Waza results</title>\n<style>\n"
	":root{color-scheme:light dark;--bg:#fff;--fg:#1c1e21;--dim:#656d76;"
	"--line:#d5d9de;--card:#f6f7f9;--good:#1a7f37;--bad:#cf222e;--err:#9a6700}\n"
	"@media(prefers-color-scheme:dark){:root{--bg:#0f1216;--fg:#e4e7eb;"
	"--dim:#98a1ac;--line:#30363d;--card:#181c22;--good:#3fb950;--bad:#f85149;"
	"--err:#d29922}}\n"
	"body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;"
	"padding:0 1rem;background:var(--bg);color:var(--fg)}\n"
	"h1{font-size:1.5rem;margin:0 0 .25rem}h2{font-size:1.15rem;margin:2rem 0 .5rem}\n"
	"h3{font-size:1rem;margin:1rem 0 .3rem}\n"
	"table{border-collapse:collapse;width:100%}"
	"th,td{text-align:left;padding:.3rem .6rem;border-bottom:1px solid var(--line);"
	"overflow-wrap:anywhere}\n"
	"th,td.n{overflow-wrap:normal;white-space:nowrap}"
	"td:last-child{min-width:5rem}"
	"@media(max-width:40rem){th,td{padding:.3rem .3rem}}\n"
	"td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}\n"
	"pre{background:var(--card);border:1px solid var(--line);border-radius:4px;"
	"padding:.6rem;overflow:auto;max-height:24rem;white-space:pre-wrap;"
	"overflow-wrap:anywhere;margin:.3rem 0 .8rem}\n"
	"details{border:1px solid var(--line);border-radius:4px;margin:.4rem 0;"
	"padding:.4rem .8rem}summary{cursor:pointer;overflow-wrap:anywhere}\n"
	".dim{color:var(--dim)}.passed{color:var(--good)}.failed{color:var(--bad)}"
	".error{color:var(--err)}.skipped{color:var(--dim)}\n"
	".big{font-size:1.2rem;font-weight:600}svg{max-width:100%;height:auto}"
	"svg text{fill:var(--fg);font-size:12px}\n"
	"rect.passed{fill:var(--good)}rect.failed{fill:var(--bad)}"
	"rect.error{fill:var(--err)}rect.back{fill:var(--card)}"
	"rect.skipped{fill:var(--dim)}\n"
	".diff{font-size:13px}.diff i{font-style:normal}.diff .add{color:var(--good)}"
	".diff .del{color:var(--bad)}.diff .at{color:var(--dim)}\n"
	"td code{font-size:13px;overflow-wrap:anywhere}\n"
	"</style>\n</head>\n<body>\n";

static const char *
class_of(enum result_status st)
{
	return result_is_error(st) ? "error" : result_word(st);
}

static const char *
sign(enum result_status st)
{
	if (st < RESULT_PASSED)
		return "–";
	return st == RESULT_PASSED ? "✓" : st == RESULT_FAILED ? "✗" : "!";
}

static void
put_setting(struct buf *b, const char *name, struct str value)
{
	if (value.n == 0)
		return;
	buf_fmt(b, " · %s ", name);
	report_escape(b, value);
}

static void
put_usage(struct buf *b, const char *what, const struct answer_usage *u)
{
	struct buf words = { 0 };

	if (report_usage(&words, u))
		buf_fmt(b, "<p class=\"dim\">%s: %.*s.</p>\n", what,
		    STRF(buf_str(&words)));
	buf_free(&words);
}

static void
put_title(struct report_out *o, const struct result_run *r, bool base)
{
	struct buf *b = &o->b, missed = { 0 };
	bool ok = result_ok(r), broken;
	const char *end = report_end(r, &broken);
	double need = r->suite->config.pass_threshold;

	buf_puts(b, "<section>\n<h1>");
	report_escape(b, r->suite->name);
	buf_fmt(b, "%s</h1>\n<p class=\"dim\">", base ? " (baseline)" : "");
	report_stamp(b, r->started_ns, REPORT_ISO);
	buf_putc(b, 'Z');
	put_setting(b, "skill", r->suite->skill);
	put_setting(b, "executor", r->executor);
	put_setting(b, "model", r->model);
	buf_fmt(b, "</p>\n<p class=\"big %s\">%s</p>\n",
	    ok ? "passed" : "failed", result_only_answers(r) ? "not graded" :
	    ok ? "✓ passed" : "✗ failed");
	buf_fmt(b, "<p>%zu task%s: %zu passed, %zu failed, %zu error%s, "
	    "%zu skipped. Pass rate %.1f%% (95%% interval: %.0f–%.0f%%)",
	    r->ntasks, r->ntasks == 1 ? "" : "s", r->sum.passed, r->sum.failed,
	    r->sum.errors, r->sum.errors == 1 ? "" : "s", r->sum.skipped,
	    report_rate(r->sum.rate), r->sum.rate_lo * 100,
	    r->sum.rate_hi * 100);
	if (need < 1)
		buf_fmt(b, ", required %.1f%%", report_rate(need));
	buf_fmt(b, ". Score %.2f. Duration ", r->sum.score);
	report_took(b, r->duration_ms, 0);
	buf_puts(b, ".</p>\n");
	put_usage(b, "Usage", &r->usage);
	put_usage(b, "Usage of judges", &r->judge_usage);
	put_usage(b, "Saved (cached or replayed)", &r->saved);
	if (report_graded_nothing(r))
		buf_puts(b, "<p class=\"failed\">Nothing was graded: all tasks "
		    "were skipped.</p>\n");
	else if (report_missed(&missed, r)) {
		buf_puts(b, "<p class=\"failed\">Metric missed: ");
		report_escape(b, buf_str(&missed));
		buf_puts(b, ".</p>\n");
	}
	buf_free(&missed);
	if (end != NULL)
		buf_fmt(b, "<p class=\"%s\">Incomplete: %s.</p>\n",
		    broken ? "big error" : "dim", end);
}

static void
open_chart(struct buf *b, size_t rows, const char *what)
{
	buf_fmt(b, "<h2>Scores</h2>\n<svg role=\"img\" viewBox=\"0 0 %d %zu\" "
	    "width=\"%d\" height=\"%zu\">\n<title>%s</title>\n<desc>",
	    LABEL + BAR + 60, rows * ROW, LABEL + BAR + 60, rows * ROW, what);
}

static void
put_bar(struct buf *b, size_t row, double share, const char *class)
{
	int w = (int)(share * BAR + 0.5);

	w = w < 0 ? 0 : w > BAR ? BAR : w;
	buf_fmt(b, "<rect class=\"back\" x=\"%d\" y=\"%zu\" width=\"%d\" "
	    "height=\"%d\"/><rect class=\"%s\" x=\"%d\" y=\"%zu\" "
	    "width=\"%d\" height=\"%d\"/>", LABEL, row * ROW + 3, BAR,
	    ROW - 6, class, LABEL, row * ROW + 3, w > 0 ? w : 1, ROW - 6);
}

static void
put_bars(struct buf *b, const struct result_run *r)
{
	size_t i;

	open_chart(b, r->ntasks, "Score of each task");
	for (i = 0; i < r->ntasks; i++) {
		report_escape_line(b, r->tasks[i].spec->name, 60);
		buf_fmt(b, ": %.2f; ", report_task_score(&r->tasks[i]));
	}
	buf_puts(b, "</desc>\n");
	for (i = 0; i < r->ntasks; i++) {
		const struct result_task *k = &r->tasks[i];

		buf_fmt(b, "<text x=\"%d\" y=\"%zu\" text-anchor=\"end\">",
		    LABEL - 8, i * ROW + 14);
		report_escape_line(b, k->spec->name, 30);
		buf_puts(b, "</text>");
		put_bar(b, i, report_task_score(k), class_of(k->status));
		buf_fmt(b, "<text x=\"%d\" y=\"%zu\">%.2f</text>\n",
		    LABEL + BAR + 8, i * ROW + 14, report_task_score(k));
	}
	buf_puts(b, "</svg>\n");
}

static void
put_histogram(struct buf *b, const struct result_run *r)
{
	size_t n[BUCKETS + 1] = { 0 }, max = 1, i;

	for (i = 0; i < r->ntasks; i++) {
		int at = (int)(report_task_score(&r->tasks[i]) * BUCKETS);

		if (r->tasks[i].status >= RESULT_PASSED)
			n[at < 0 ? 0 : at > BUCKETS ? BUCKETS : at]++;
	}
	open_chart(b, BUCKETS + 1, "Number of tasks by score");
	for (i = 0; i <= BUCKETS; i++) {
		max = n[i] > max ? n[i] : max;
		buf_fmt(b, "%.1f: %zu; ", (double)i / BUCKETS, n[i]);
	}
	buf_puts(b, "</desc>\n");
	for (i = 0; i <= BUCKETS; i++) {
		buf_fmt(b, "<text x=\"%d\" y=\"%zu\" text-anchor=\"end\">%s%.1f"
		    "</text>", LABEL - 8, i * ROW + 14,
		    i < BUCKETS ? "from " : "", (double)i / BUCKETS);
		put_bar(b, i, (double)n[i] / (double)max,
		    i == BUCKETS ? "passed" : "failed");
		buf_fmt(b, "<text x=\"%d\" y=\"%zu\">%zu</text>\n",
		    LABEL + BAR + 8, i * ROW + 14, n[i]);
	}
	buf_puts(b, "</svg>\n");
}

static void
put_pre(struct buf *b, const char *what, struct str s, size_t max)
{
	bool cut;

	if (s.n == 0)
		return;
	buf_fmt(b, "<div class=\"dim\">%s</div>\n<pre>", what);
	report_escape(b, report_cut(s, max, &cut));
	if (cut)
		buf_fmt(b, "\n(%zu more bytes)", s.n - max);
	buf_puts(b, "</pre>\n");
}

static void
put_verdicts(struct buf *b, const struct report_detail *d)
{
	struct buf at = { 0 };
	bool cut;
	size_t i;

	if (d->n == 0)
		return;
	buf_puts(b, "<table>\n<tr><th>grader</th><th>type</th>"
	    "<th class=\"n\">score</th><th>feedback</th></tr>\n");
	for (i = 0; i < d->n; i++) {
		const struct report_verdict *v = &d->v[i];

		buf_fmt(b, "<tr><td class=\"%s\">%s ", class_of(v->status),
		    sign(v->status));
		report_escape(b, v->name);
		buf_puts(b, "</td><td>");
		report_escape(b, v->type);
		buf_fmt(b, "</td><td class=\"n\">%.2f</td><td>", v->score);
		report_escape(b, report_cut(v->feedback, BAD_MAX, &cut));
		if (cut)
			buf_fmt(b, " (%zu more bytes)", v->feedback.n -
			    BAD_MAX);
		if (v->status == RESULT_FAILED) {
			at.n = 0;
			report_where(&at, v->at);
			buf_puts(b, " <span class=\"dim\">");
			report_escape(b, buf_str(&at));
			buf_puts(b, "</span>");
		}
		buf_puts(b, "</td></tr>\n");
	}
	buf_puts(b, "</table>\n");
	buf_free(&at);
}

static void
put_calls(struct buf *b, const struct report_detail *d)
{
	size_t i;

	if (d->ncalls == 0)
		return;
	buf_fmt(b, "<details>\n<summary>Tool calls (%zu)</summary>\n<table>\n"
	    "<tr><th>tool</th><th>call</th><th>result</th></tr>\n",
	    d->ncalls);
	for (i = 0; i < d->ncalls && i < REPORT_CALLS; i++) {
		const struct report_call *c = &d->calls[i];
		bool bad = c->failed || c->denied;

		buf_fmt(b, "<tr><td class=\"%s\">%s ", bad ? "failed" :
		    "passed", bad ? "✗" : "✓");
		report_escape_line(b, c->name, 60);
		if (c->tool.n > 0) {
			buf_puts(b, " <span class=\"dim\">");
			report_escape_line(b, c->tool, 20);
			buf_puts(b, "</span>");
		}
		buf_puts(b, "</td><td><code>");
		report_escape_line(b, c->about, 300);
		buf_fmt(b, "</code></td><td>%s", c->denied ? "denied: " : "");
		report_escape_line(b, c->result, 300);
		buf_puts(b, "</td></tr>\n");
	}
	buf_puts(b, "</table>\n");
	if (i < d->ncalls)
		buf_fmt(b, "<p class=\"dim\">%zu more calls</p>\n",
		    d->ncalls - i);
	buf_puts(b, "</details>\n");
}

static const char *
diff_class(struct str line)
{
	if (line.n == 0 || str_starts(line, STR("+++ ")) ||
	    str_starts(line, STR("--- ")))
		return "at";
	return line.p[0] == '+' ? "add" : line.p[0] == '-' ? "del" :
	    line.p[0] == ' ' ? NULL : "at";
}

static void
put_patch(struct buf *b, struct str all, size_t max)
{
	bool cut;
	struct str s = report_cut(all, max, &cut), line;
	const char *nl, *class;

	if (all.n == 0)
		return;
	buf_fmt(b, "<details>\n<summary>Patch (%zu bytes)</summary>\n"
	    "<pre class=\"diff\">", all.n);
	while (s.n > 0) {
		nl = memchr(s.p, '\n', s.n);
		line = (struct str){ s.p, nl != NULL ? (size_t)(nl - s.p) + 1 :
		    s.n };
		class = diff_class(line);
		if (class != NULL)
			buf_fmt(b, "<i class=\"%s\">", class);
		report_escape(b, line);
		buf_puts(b, class != NULL ? "</i>" : "");
		s.p += line.n;
		s.n -= line.n;
	}
	if (cut)
		buf_fmt(b, "(%zu more bytes)", all.n - max);
	buf_puts(b, "</pre>\n</details>\n");
}

static void
put_trial(struct report_out *o, const struct result_run *r,
    const struct result_task *k, const struct result_trial *t)
{
	size_t max = t->status == RESULT_PASSED ? GOOD_MAX : BAD_MAX;
	struct report_detail d;

	report_detail(&o->arena, o->opts, r, k, t, &d);
	if (k->ntrials > 1) {
		buf_fmt(&o->b, "<h3>Trial %d: <span class=\"%s\">%s %s</span> "
		    "%.2f ", (int)(t - k->trials) + 1, class_of(t->status),
		    sign(t->status), report_status(t->status), t->score);
		report_took(&o->b, t->duration_ms, 0);
		buf_puts(&o->b, "<span class=\"dim\">");
		report_used(&o->b, &t->used, " · ");
		buf_puts(&o->b, "</span></h3>\n");
	}
	put_pre(&o->b, "error", d.error, max);
	put_verdicts(&o->b, &d);
	put_pre(&o->b, "prompt", d.prompt, max);
	put_pre(&o->b, t->used.refused ? "answer (refused)" : "answer",
	    d.output, max);
	put_calls(&o->b, &d);
	put_patch(&o->b, d.patch, max > PATCH_MAX ? max : PATCH_MAX);
	put_pre(&o->b, "stderr", d.stderr_tail, max);
}

static void
put_task(struct report_out *o, const struct result_run *r,
    const struct result_task *k)
{
	struct result_used used;
	size_t i;

	buf_fmt(&o->b, "<details%s>\n<summary><span class=\"%s\">%s ",
	    k->status > RESULT_PASSED && r->ntasks <= BARS_MAX ? " open" : "",
	    class_of(k->status), sign(k->status));
	report_put_status(&o->b, k);
	buf_puts(&o->b, "</span> <b>");
	report_escape(&o->b, utf8_cut(k->spec->name, 200));
	buf_fmt(&o->b, "</b> <span class=\"dim\">%.2f · ",
	    report_task_score(k));
	report_took(&o->b, report_task_ms(k), 0);
	if (k->ntrials > 1)
		buf_puts(&o->b, " per trial");
	used = result_task_used(k);
	report_used(&o->b, &used, " · ");
	if (k->ntrials > 1)
		buf_fmt(&o->b, " · %zu/%zu passed%s", report_passes(k),
		    k->ntrials, k->stats.flaky ? " · flaky" : "");
	buf_puts(&o->b, "</span></summary>\n");
	put_pre(&o->b, "error", k->error, BAD_MAX);
	for (i = 0; i < k->ntrials; i++)
		if (k->trials[i].status != RESULT_NONE) {
			put_trial(o, r, k, &k->trials[i]);
			report_flush(o);
		}
	buf_puts(&o->b, "</details>\n");
}

static void
put_run(struct report_out *o, const struct result_run *r, bool base)
{
	size_t i;

	put_title(o, r, base);
	if (r->ntasks > BARS_MAX)
		put_histogram(&o->b, r);
	else
		put_bars(&o->b, r);
	buf_puts(&o->b, "<h2>Tasks</h2>\n");
	for (i = 0; i < r->ntasks; i++)
		put_task(o, r, &r->tasks[i]);
	report_triggers_html(o, r);
	buf_puts(&o->b, "</section>\n");
}

const struct report_kind report_html = {
	.name = "html:PATH", .path = true, .form = GUARD_XML,
	.flags = REPORT_STDOUT | REPORT_ALONE,
	.head = head, .run = put_run, .tail = "</body>\n</html>\n"
};
