/* SPDX-License-Identifier: ISC */
/*
 * The trigger tests of a run in the reports for people: how often the skill
 * triggered as it should, and the prompts for which it did not.
 */
#include "report/report_internal.h"

#include "json.h"

enum {
	WRONG_MAX = 25,		/* listed without -v */
	ROW_ROOM = 2 << 10	/* bytes of one, at most */
};

bool
report_trigger(struct arena *a, const struct result_run *run, size_t i,
    struct report_trigger *t)
{
	const struct result_trial *kept = &run->triggers.v[i];
	const struct json *v;
	struct err e;

	*t = (struct report_trigger){ .spec = &run->suite->triggers->v[i],
	    .status = kept->status, .duration_ms = kept->duration_ms };
	if (kept->status == RESULT_NONE)
		return false;
	t->words = t->spec->should ? "should trigger" : "should not trigger";
	if (kept->status == RESULT_FAILED)
		t->words = t->spec->should ? "should trigger, did not" :
		    "should not trigger, did";
	v = kept->off < 0 || kept->status == RESULT_PASSED ? NULL :
	    result_read(a, run, kept, &e);
	t->error = json_str(v, "error_msg");
	t->output = json_str(v, "final_output");
	if (result_is_error(kept->status) && t->error.n == 0)
		t->error = str_of(report_status(kept->status));
	return true;
}

bool
report_triggers_missed(const struct result_run *run)
{
	const struct spec_metric *m = run->suite->metrics.v;
	size_t i;

	for (i = 0; i < run->suite->metrics.n; i++)
		if (str_is(m[i].name, "trigger_accuracy") &&
		    result_misses(run, &m[i]))
			return true;
	return false;
}

void
report_triggers_sum(struct buf *b, const struct result_run *run)
{
	const struct result_triggers *t = &run->triggers;
	struct result_accuracy a;
	size_t i, right = 0;

	for (i = 0; i < t->n; i++)
		right += t->v[i].status == RESULT_PASSED;
	result_accuracy(run, &a);
	if (a.skipped > 0 && a.skipped == t->done) {
		buf_fmt(b, "all %zu prompts skipped: the agent does not report "
		    "the skills that it used", a.skipped);
		return;
	}
	buf_fmt(b, "accuracy %.1f%%, precision %.1f%%, recall %.1f%%, F1 %.2f; "
	    "%zu of %zu prompts correct", report_rate(a.accuracy),
	    report_rate(a.precision), report_rate(a.recall), a.f1, right, t->n);
	if (a.skipped > 0)
		buf_fmt(b, ", %zu skipped", a.skipped);
	if (a.errors > 0)
		buf_fmt(b, ", %zu error%s", a.errors,
		    a.errors == 1 ? "" : "s");
	if (t->done < t->n)
		buf_fmt(b, ", %zu not run", t->n - t->done);
	if (t->simulated)
		buf_puts(b, "; simulated by mock");
}

static void
put_text(struct buf *b, const struct report_trigger *t, size_t width,
    const struct report_opts *o)
{
	buf_puts(b, "  ");
	report_mark(b, t->status, o);
	buf_fmt(b, "%s: ", t->words);
	report_line(b, t->spec->task.inputs.prompt, width / 2, o->ascii);
	buf_puts(b, "  ");
	report_color(b, "36", o);
	report_where(b, t->spec->task.at);
	report_plain(b, o);
	buf_putc(b, '\n');
	report_reason(b, t->error, "      ", o);
}

void
report_triggers_text(struct buf *b, const struct result_run *run,
    size_t width, const struct report_opts *o)
{
	struct report_trigger t;
	struct arena a = { 0 };
	size_t i, n = 0;

	if (run->triggers.done == 0)
		return;
	buf_putc(b, '\n');
	report_color(b, "1", o);
	buf_puts(b, "Triggers of ");
	report_line(b, run->suite->triggers->skill, 40, o->ascii);
	report_plain(b, o);
	buf_puts(b, "\n  ");
	report_triggers_sum(b, run);
	buf_putc(b, '\n');
	report_confusion_text(b, run, o);
	for (i = 0; i < run->triggers.n; i++) {
		if (report_trigger(&a, run, i, &t) &&
		    (t.status > RESULT_PASSED || o->verbose) &&
		    (n++ < WRONG_MAX || o->verbose))
			put_text(b, &t, width, o);
		arena_free(&a);
	}
	if (n > WRONG_MAX && !o->verbose)
		buf_fmt(b, "  and %zu more; use -v to show them\n",
		    n - WRONG_MAX);
}

void
report_triggers_markdown(struct report_out *o, const struct result_run *run)
{
	struct report_trigger t;
	size_t i;

	if (run->triggers.done == 0)
		return;
	buf_puts(&o->b, "\n### Triggers of ");
	report_inline(&o->b, run->suite->triggers->skill, 100);
	buf_puts(&o->b, "\n\n");
	report_triggers_sum(&o->b, run);
	buf_puts(&o->b, ".\n\n");
	report_confusion_markdown(&o->b, run);
	for (i = 0; i < run->triggers.n && report_room(o, ROW_ROOM); i++) {
		if (report_trigger(&o->arena, run, i, &t) &&
		    t.status != RESULT_PASSED) {
			buf_fmt(&o->b, "- %s %s: ", t.status == RESULT_FAILED ?
			    "❌" : t.status == RESULT_SKIPPED ? "➖" : "⚠️",
			    t.words);
			report_inline(&o->b, t.spec->task.inputs.prompt, 200);
			buf_puts(&o->b, t.error.n > 0 ? " – " : "");
			report_inline(&o->b, t.error, 200);
			buf_putc(&o->b, '\n');
		}
		report_flush(o);
	}
}
