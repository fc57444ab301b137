/* SPDX-License-Identifier: ISC */
/*
 * TAP version 14: a test point per task, and a YAML block after one that did
 * not pass or is flaky.  The plan comes last, when the number is known.
 */
#include "report/report_internal.h"

#include "json.h"
#include "report/matrix/matrix.h"

enum { TEXT_MAX = REPORT_REASON };

/* Escapes #, which begins a directive, and the escape character. */
static void
put_name(struct buf *b, struct str name)
{
	struct buf line = { 0 };
	size_t i;

	report_line(&line, name, 0, false);
	for (i = 0; i < line.n; i++) {
		if (line.p[i] == '#' || line.p[i] == '\\')
			buf_putc(b, '\\');
		buf_putc(b, line.p[i]);
	}
	buf_free(&line);
}

/* A test point up to its name. */
static void
put_point(struct report_out *o, const struct result_run *run, bool good,
    const char *kind, struct str name)
{
	buf_fmt(&o->b, "%s %zu - %s", good ? "ok" : "not ok", ++o->count, kind);
	put_name(&o->b, name);
	if (o->nruns > 1) {
		buf_puts(&o->b, " - ");
		put_name(&o->b, matrix_name(run));
	}
}

/* A JSON string is valid YAML, except for the C1 controls. */
static void
put_string(struct json_out *w, struct str s)
{
	struct buf clean = { 0 };

	report_clean(&clean, utf8_cut(s, TEXT_MAX));
	json_put_str(w, buf_str(&clean));
	buf_free(&clean);
}

static void
put_text(struct report_out *o, const char *key, struct str s)
{
	struct json_out w = { .put = buf_sink, .ctx = &o->b };

	if (s.n == 0)
		return;
	buf_fmt(&o->b, "  %s: ", key);
	put_string(&w, s);
	buf_putc(&o->b, '\n');
}

static void
put_verdicts(struct report_out *o, const struct report_detail *d)
{
	struct json_out w = { .put = buf_sink, .ctx = &o->b };
	size_t i;
	bool any = false;

	for (i = 0; i < d->n; i++) {
		const struct report_verdict *v = &d->v[i];

		if (v->status != RESULT_FAILED)
			continue;
		if (!any)
			buf_puts(&o->b, "  failed:\n");
		any = true;
		buf_puts(&o->b, "    - ");
		w.more = false;
		json_open(&w, '{');
		json_put_key(&w, STR("grader"));
		put_string(&w, v->name);
		json_put_member_double(&w, "score", v->score);
		json_put_key(&w, STR("feedback"));
		put_string(&w, v->feedback);
		if (v->at.file != NULL) {
			json_put_key(&w, STR("file"));
			put_string(&w, str_of(v->at.file));
			json_put_member_int(&w, "line", v->at.line);
		}
		json_close(&w, '}');
		buf_putc(&o->b, '\n');
	}
}

static void
put_block(struct report_out *o, const struct result_run *run,
    const struct result_task *k)
{
	struct report_detail d;

	report_detail(&o->arena, o->opts, run, k, report_trial(k), &d);
	buf_fmt(&o->b, "  ---\n  status: %s\n  score: %.4g\n"
	    "  duration_ms: %lld\n", report_status(k->status),
	    report_task_score(k), (long long)report_task_ms(k));
	if (k->ntrials > 1)
		buf_fmt(&o->b, "  trials: %u\n  trials_passed: %zu\n",
		    k->ntrials, report_passes(k));
	put_text(o, "error", k->more->error.n > 0 ? k->more->error : d.error);
	put_verdicts(o, &d);
	put_text(o, "output", d.output);
	buf_puts(&o->b, "  ...\n");
}

/* Failures of the baseline are expected: TODO does not fail the tests. */
static void
put_directive(struct report_out *o, const struct result_run *run,
    const struct result_task *k, bool base)
{
	struct buf *b = &o->b;
	struct report_detail d;

	if (report_is_partial(k)) {
		buf_puts(b, " # SKIP ");
		report_put_status(b, k);
	} else if (k->more->skipped != NULL) {
		buf_puts(b, " # SKIP ");
		report_line(b, str_of(k->more->skipped), 200, false);
	} else if (k->status == RESULT_NONE)
		buf_puts(b, " # SKIP not run");
	else if (k->status == RESULT_SKIPPED) {
		report_detail(&o->arena, o->opts, run, k, report_trial(k), &d);
		buf_puts(b, " # SKIP ");
		report_line(b, d.error, 200, false);
	} else if (base && k->status > RESULT_PASSED)
		buf_puts(b, run->ref_name.n > 0 ? " # TODO baseline, with the "
		    "skills of a revision" :
		    " # TODO baseline, without the skill");
	else if (k->spec->def->quarantined && k->status > RESULT_PASSED) {
		buf_puts(b, " # TODO in quarantine: ");
		report_line(b, k->spec->def->quarantine, 200, false);
	}
}

/* A wrong result is TODO, unless it makes the run fail. */
static void
put_trigger(struct report_out *o, const struct result_run *run, size_t i,
    bool fails)
{
	struct report_trigger t;
	bool asked = report_trigger(&o->arena, run, i, &t);
	bool good = t.status <= RESULT_PASSED;

	put_point(o, run, good, "trigger: ", t.spec->task.prompt);
	if (!asked)
		buf_puts(&o->b, " # SKIP not run");
	else if (t.status == RESULT_SKIPPED) {
		buf_puts(&o->b, " # SKIP ");
		report_line(&o->b, t.error, 200, false);
	} else if (!good && !fails)
		buf_fmt(&o->b, " # TODO %s", t.words);
	buf_putc(&o->b, '\n');
	if (good)
		return;
	buf_fmt(&o->b, "  ---\n  status: %s\n", report_status(t.status));
	put_text(o, "expected", str_of(t.spec->should ? "should trigger" :
	    "should not trigger"));
	put_text(o, "error", t.error);
	put_text(o, "output", t.output);
	buf_puts(&o->b, "  ...\n");
}

static void
put_run(struct report_out *o, const struct result_run *run, bool base)
{
	bool fails = report_triggers_missed(run);
	size_t i;

	for (i = 0; i < run->ntasks; i++) {
		const struct result_task *k = &run->tasks[i];
		bool good = k->status <= RESULT_PASSED;

		put_point(o, run, good, "", k->spec->name);
		if (base) {
			buf_puts(&o->b, " (");
			put_name(&o->b, report_pass(&o->arena, run, base));
			buf_putc(&o->b, ')');
		}
		put_directive(o, run, k, base);
		buf_putc(&o->b, '\n');
		if (!good || (k->status != RESULT_NONE && k->stats->flaky))
			put_block(o, run, k);
		report_flush(o);
	}
	if (run->triggers.simulated)
		buf_puts(&o->b, "# the trigger tests are simulated by mock\n");
	for (i = 0; i < run->triggers.n; i++) {
		put_trigger(o, run, i, fails);
		report_flush(o);
	}
}

/* The run is incomplete: a harness must not count it as passed. */
static void
bail_out(struct report_out *o, const struct result_run *run)
{
	bool broken;
	const char *why = report_end(run, &broken);

	if (!broken)
		return;
	buf_puts(&o->b, "Bail out! ");
	report_line(&o->b, str_of(why), 0, false);
	buf_putc(&o->b, '\n');
}

static void
end(struct report_out *o)
{
	size_t i;

	for (i = 0; i < o->nruns; i++) {
		bail_out(o, o->runs[i]);
		if (o->runs[i]->baseline != NULL)
			bail_out(o, o->runs[i]->baseline);
		if (o->runs[i]->ref != NULL)
			bail_out(o, o->runs[i]->ref);
	}
	if (o->count == 0)
		buf_puts(&o->b, "1..0 # SKIP no tasks\n");
	else
		buf_fmt(&o->b, "1..%zu\n", o->count);
}

const struct report_kind report_tap = {
	.name = "tap[:PATH]", .form = GUARD_JSON,
	.flags = REPORT_STDOUT | REPORT_ALONE,
	.head = "TAP version 14\n", .run = put_run, .end = end
};
