/* SPDX-License-Identifier: ISC */
/*
 * JUnit XML, as described by the schema of Jenkins.
 *
 * A task that ran once is a testcase; otherwise each of its trials is one.
 * Readers count failures, which must agree with the exit status.  Therefore
 * these are shown as skipped, with the reason: a failed trial of a task that
 * passed (task_pass_threshold), failures of the baseline, and wrong trigger
 * tests that do not make the run fail.  An interrupted run adds an error.
 */
#include "report/report_internal.h"

#include "report/matrix/matrix.h"

enum { OUT_MAX = 4096, TEXT_MAX = 16 << 10 };

struct counts {
	size_t tests, failures, errors, skipped;
};

/* The status that is shown for a trial, or for the task if t is NULL. */
static enum result_status
shown(const struct result_task *k, const struct result_trial *t, bool base)
{
	enum result_status st = t != NULL ? t->status : k->status;

	return (base || k->spec->def->quarantined ||
	    k->status == RESULT_PASSED) && st > RESULT_PASSED ?
	    RESULT_NONE : st;
}

/* Whether the task has no trials, or an error of its own. */
static bool
has_own_case(const struct result_task *k)
{
	return k->done == 0 || k->more->error.n > 0;
}

/* Whether the trial has run, or its task has a reason why it was left out. */
static bool
has_case(const struct result_task *k, const struct result_trial *t)
{
	return t->status != RESULT_NONE || (k->more->skipped != NULL &&
	    !has_own_case(k));
}

static void
count(struct counts *c, enum result_status st)
{
	c->tests++;
	c->failures += st == RESULT_FAILED;
	c->errors += result_is_error(st);
	c->skipped += st < RESULT_PASSED;
}

/* The status that is shown for the ith trigger test. */
static enum result_status
shown_trigger(const struct result_run *run, size_t i, bool fails)
{
	enum result_status st = run->triggers.v[i].status;

	return st > RESULT_PASSED && !fails ? RESULT_NONE : st;
}

static void
count_run(struct counts *c, const struct result_run *run, bool base)
{
	size_t i, j;
	bool fails = report_triggers_missed(run);

	if (result_interrupted(run))
		count(c, RESULT_INFRA);
	for (i = 0; i < run->triggers.n; i++)
		count(c, shown_trigger(run, i, fails));
	for (i = 0; i < run->ntasks; i++) {
		const struct result_task *k = &run->tasks[i];

		if (has_own_case(k))
			count(c, shown(k, NULL, base));
		for (j = 0; j < k->ntrials; j++)
			if (has_case(k, &k->trials[j]))
				count(c, shown(k, &k->trials[j], base));
	}
}

static void
put_attr(struct buf *b, const char *name, struct str value)
{
	buf_fmt(b, " %s=\"", name);
	report_escape(b, value);
	buf_putc(b, '"');
}

static void
put_seconds(struct buf *b, int64_t ms)
{
	buf_fmt(b, " time=\"%.3f\"", (double)ms / 1000);
}

static void
put_counts(struct buf *b, const struct counts *c, bool suite)
{
	buf_fmt(b, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\"", c->tests,
	    c->failures, c->errors);
	if (suite)
		buf_fmt(b, " skipped=\"%zu\"", c->skipped);
}

static void
put_property(struct buf *b, const char *name, struct str value)
{
	if (value.n == 0)
		return;		/* some readers reject empty values */
	buf_puts(b, "      <property");
	put_attr(b, "name", str_of(name));
	put_attr(b, "value", value);
	buf_puts(b, "/>\n");
}

static void
put_properties(struct report_out *o, const struct result_run *run, bool base)
{
	buf_puts(&o->b, "    <properties>\n");
	put_property(&o->b, "skill", run->suite->skill);
	put_property(&o->b, "model", run->model);
	put_property(&o->b, "engine", run->executor);
	put_property(&o->b, "score",
	    arena_fmt(&o->arena, "%.4f", run->sum.score));
	put_property(&o->b, "success_rate",
	    arena_fmt(&o->arena, "%.4f", run->sum.rate));
	put_property(&o->b, "trials",
	    arena_fmt(&o->arena, "%zu", run->trials));
	if (run->triggers.done > 0) {
		struct result_accuracy a;

		result_accuracy(run, &a);
		put_property(&o->b, "trigger_accuracy",
		    arena_fmt(&o->arena, "%.4f", a.accuracy));
		if (run->triggers.simulated)
			put_property(&o->b, "triggers_simulated", STR("true"));
	}
	if (run->run_id != NULL)
		put_property(&o->b, "run_id", str_of(run->run_id));
	if (base)
		put_property(&o->b, "baseline", STR("true"));
	put_property(&o->b, "skills_ref", run->ref_name);
	buf_puts(&o->b, "    </properties>\n");
	report_flush(o);
}

/* A paragraph for each verdict that did not pass, then the error. */
static void
put_reasons(struct buf *b, const struct report_detail *d)
{
	struct buf at = { 0 };
	size_t i;
	bool cut;

	for (i = 0; i < d->n; i++) {
		const struct report_verdict *v = &d->v[i];

		if (v->status != RESULT_FAILED)
			continue;
		report_escape(b, v->name);
		buf_puts(b, " (");
		report_escape(b, v->type);
		buf_fmt(b, ") %.2f ", v->score);
		at.n = 0;
		report_where(&at, v->at);
		report_escape(b, buf_str(&at));
		buf_puts(b, "\n");
		report_escape(b, report_cut(v->feedback, TEXT_MAX, &cut));
		buf_puts(b, cut ? "...\n" : "\n");
	}
	buf_free(&at);
	report_escape(b, report_cut(d->error, TEXT_MAX, &cut));
}

/* A one-line reason: the error, or the feedback of the first failure. */
static struct str
reason(const struct report_detail *d)
{
	size_t i;

	if (d->error.n > 0)
		return d->error;
	for (i = 0; i < d->n; i++)
		if (d->v[i].status == RESULT_FAILED)
			return d->v[i].feedback.n > 0 ? d->v[i].feedback :
			    d->v[i].name;
	return STR("did not pass");
}

static void
put_problem(struct report_out *o, enum result_status st,
    const struct report_detail *d)
{
	const char *tag = st == RESULT_FAILED ? "failure" : "error";

	buf_fmt(&o->b, "      <%s message=\"", tag);
	report_escape_line(&o->b, reason(d), 200);
	buf_putc(&o->b, '"');
	put_attr(&o->b, "type", st == RESULT_FAILED ? STR("GraderFailure") :
	    str_of(result_class(st)));
	buf_putc(&o->b, '>');
	put_reasons(&o->b, d);
	buf_fmt(&o->b, "</%s>\n", tag);
}

static void
put_skip(struct report_out *o, const struct result_run *run,
    const struct result_task *k, const struct result_trial *t,
    const struct report_detail *d)
{
	enum result_status st = t != NULL ? t->status : k->status;

	buf_puts(&o->b, "      <skipped message=\"");
	if ((t == NULL || st == RESULT_NONE) && k->more->skipped != NULL)
		report_escape_line(&o->b, str_of(k->more->skipped), 200);
	else if (st == RESULT_NONE)
		buf_puts(&o->b, "not run");
	else if (st == RESULT_SKIPPED)
		report_escape_line(&o->b, reason(d), 200);
	else if (t != NULL && k->status == RESULT_PASSED)
		buf_fmt(&o->b, "%s, but its task passed with %zu of %u trials",
		    report_status(st), report_passes(k), k->ntrials);
	else {
		buf_fmt(&o->b, "%s %s: ", report_status(st),
		    k->spec->def->quarantined ? "in quarantine" :
		    run->ref_name.n > 0 ? "in the baseline, with the skills of "
		    "a revision" : "in the baseline, without the skill");
		report_escape_line(&o->b, k->spec->def->quarantined ?
		    k->spec->def->quarantine : reason(d), 200);
	}
	buf_puts(&o->b, "\"/>\n");
}

static void
put_stream(struct buf *b, const char *tag, struct str s)
{
	bool cut;

	if (s.n == 0)
		return;
	buf_fmt(b, "      <%s>", tag);
	report_escape(b, report_cut(s, OUT_MAX, &cut));
	if (cut)
		buf_fmt(b, "\n(%zu more bytes)", s.n - OUT_MAX);
	buf_fmt(b, "</%s>\n", tag);
}

static void
put_limited(struct buf *b, const char *what, struct str s, size_t max)
{
	bool cut;

	while (s.n > 0 && s.p[s.n - 1] == '\n')
		s.n--;
	if (s.n == 0)
		return;
	buf_puts(b, what);
	report_escape(b, report_cut(s, max, &cut));
	if (cut)
		buf_fmt(b, "\n(%zu more bytes)", s.n - max);
}

/* The answer, the tool calls and the patch. */
static void
put_out(struct buf *b, const struct report_detail *d)
{
	struct buf calls = { 0 };

	if (d->output.n == 0 && d->ncalls + d->nmocked == 0 && d->patch.n == 0)
		return;
	report_call_lines(&calls, d);
	buf_puts(b, "      <system-out>");
	put_limited(b, "", d->output, OUT_MAX);
	put_limited(b, "\n\ntool calls:\n", buf_str(&calls), OUT_MAX);
	put_limited(b, "\n\npatch:\n", d->patch, TEXT_MAX);
	buf_puts(b, "</system-out>\n");
	buf_free(&calls);
}

static void
put_class(struct report_out *o, const struct result_run *run)
{
	put_attr(&o->b, "classname", run->suite->skill.n > 0 ?
	    run->suite->skill : run->suite->name);
}

static void
put_case(struct report_out *o, const struct result_run *run, bool base,
    const struct result_task *k, const struct result_trial *t)
{
	enum result_status st = shown(k, t, base);
	struct report_detail d = { .error = k->more->error };

	buf_puts(&o->b, "    <testcase name=\"");
	report_escape(&o->b, k->spec->name);
	if (t != NULL && k->ntrials > 1)
		buf_fmt(&o->b, " [trial %d of %u]", (int)(t - k->trials) + 1,
		    k->ntrials);
	buf_putc(&o->b, '"');
	put_class(o, run);
	put_seconds(&o->b, t != NULL ? t->duration_ms : 0);
	buf_puts(&o->b, ">\n");
	if (t != NULL)
		report_detail(&o->arena, o->opts, run, k, t, &d);
	if (st < RESULT_PASSED)
		put_skip(o, run, k, t, &d);
	else if (st != RESULT_PASSED)
		put_problem(o, st, &d);
	put_out(&o->b, &d);
	put_stream(&o->b, "system-err", d.stderr_tail);
	buf_puts(&o->b, "    </testcase>\n");
}

static void
put_trigger(struct report_out *o, const struct result_run *run, size_t i,
    bool fails)
{
	enum result_status st = shown_trigger(run, i, fails);
	struct report_trigger t;
	struct buf line = { 0 };

	if (!report_trigger(&o->arena, run, i, &t))
		t.words = "not run";
	buf_puts(&o->b, "    <testcase name=\"trigger: ");
	report_escape_line(&o->b, t.spec->task.prompt, 100);
	buf_fmt(&o->b, " [%zu of %zu]\"", i + 1, run->triggers.n);
	put_attr(&o->b, "classname", run->suite->triggers->skill);
	put_seconds(&o->b, t.duration_ms);
	buf_puts(&o->b, ">\n");
	if (st != RESULT_PASSED) {
		buf_fmt(&line, "%s%s", t.words, t.error.n > 0 ? ": " : "");
		report_line(&line, t.error, 200, false);
		buf_puts(&o->b, st < RESULT_PASSED ? "      <skipped" :
		    st == RESULT_FAILED ? "      <failure" : "      <error");
		put_attr(&o->b, "message", buf_str(&line));
		if (st > RESULT_PASSED)
			put_attr(&o->b, "type", st == RESULT_FAILED ?
			    STR("TriggerFailure") : str_of(result_class(st)));
		buf_puts(&o->b, "/>\n");
	}
	put_stream(&o->b, "system-out", t.output);
	buf_puts(&o->b, "    </testcase>\n");
	buf_free(&line);
}

static void
put_triggers(struct report_out *o, const struct result_run *run)
{
	bool fails = report_triggers_missed(run);
	size_t i;

	for (i = 0; i < run->triggers.n; i++) {
		put_trigger(o, run, i, fails);
		report_flush(o);
	}
}

/* An interrupted run has an error, so that it does not count as passed. */
static void
put_end(struct report_out *o, const struct result_run *run)
{
	bool broken;
	const char *why = report_end(run, &broken);

	if (!broken)
		return;
	buf_puts(&o->b, "    <testcase name=\"all tasks were run\"");
	put_class(o, run);
	put_seconds(&o->b, 0);
	buf_puts(&o->b, ">\n      <error message=\"");
	report_escape_line(&o->b, str_of(why), 300);
	buf_puts(&o->b, "\" type=\"incomplete\"/>\n    </testcase>\n");
}

static void
put_task(struct report_out *o, const struct result_run *run, bool base,
    const struct result_task *k)
{
	size_t j;

	if (has_own_case(k))
		put_case(o, run, base, k, NULL);
	for (j = 0; j < k->ntrials; j++)
		if (has_case(k, &k->trials[j])) {
			put_case(o, run, base, k, &k->trials[j]);
			report_flush(o);
		}
}

static void
begin(struct report_out *o)
{
	struct counts c = { 0 };
	int64_t ms = 0;
	size_t i;

	for (i = 0; i < o->nruns; i++) {
		count_run(&c, o->runs[i], false);
		ms += o->runs[i]->duration_ms;
		if (o->runs[i]->baseline != NULL) {
			count_run(&c, o->runs[i]->baseline, true);
			ms += o->runs[i]->baseline->duration_ms;
		}
		if (o->runs[i]->ref != NULL) {
			count_run(&c, o->runs[i]->ref, true);
			ms += o->runs[i]->ref->duration_ms;
		}
	}
	put_counts(&o->b, &c, false);
	put_seconds(&o->b, ms);
	buf_puts(&o->b, ">\n");
}

static void
put_run(struct report_out *o, const struct result_run *run, bool base)
{
	struct counts c = { 0 };
	size_t i;

	count_run(&c, run, base);
	buf_puts(&o->b, "  <testsuite name=\"");
	report_escape(&o->b, run->suite->name);
	if (o->nruns > 1 && matrix_name(run).n > 0) {
		buf_puts(&o->b, " - ");
		report_escape(&o->b, matrix_name(run));
	}
	if (base) {
		buf_puts(&o->b, " (");
		report_escape(&o->b, report_pass(&o->arena, run, base));
		buf_putc(&o->b, ')');
	}
	buf_putc(&o->b, '"');
	put_counts(&o->b, &c, true);
	put_seconds(&o->b, run->duration_ms);
	buf_puts(&o->b, " timestamp=\"");
	report_stamp(&o->b, run->started_ns, REPORT_ISO);
	buf_puts(&o->b, "\">\n");
	put_properties(o, run, base);
	for (i = 0; i < run->ntasks; i++)
		put_task(o, run, base, &run->tasks[i]);
	put_triggers(o, run);
	put_end(o, run);
	buf_puts(&o->b, "  </testsuite>\n");
}

const struct report_kind report_junit = {
	.name = "junit:PATH", .path = true, .form = GUARD_XML,
	.flags = REPORT_STDOUT | REPORT_ALONE,
	.head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites",
	.begin = begin, .run = put_run, .tail = "</testsuites>\n"
};
