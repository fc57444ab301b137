/* SPDX-License-Identifier: ISC */
/*
 * The details of a trial, from its line in the journal.
 *
 * The journal may be missing or damaged by the time of the report.  Then the
 * numbers are still right, and .error contains the reason.
 */
#include "report/report_internal.h"

#include <string.h>

#include "json.h"

static const struct spec_grader *
find_in(const struct spec_graders *list, struct str name)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		if (str_eq(list->v[i].name, name))
			return &list->v[i];
	return NULL;
}

/* The place of the grader; for a check of `expected:`, that of the task. */
static struct spec_where
find_grader(const struct result_run *run, const struct spec_task *task,
    struct str name)
{
	const struct spec_grader *g = find_in(&task->def->graders, name);

	if (g == NULL)
		g = find_in(&run->suite->graders, name);
	return g != NULL ? g->at : task->at;
}

static bool
is_true(const struct json *v)
{
	return v != NULL && json_bool(v);
}

static void
read_verdicts(struct arena *a, struct report_detail *d)
{
	const struct json *list = json_getc(d->json, "validations"), *m;
	const struct json *score;
	struct report_verdict *v;

	if (list == NULL || list->type != JSON_OBJECT)
		return;
	d->v = NEW_N(a, struct report_verdict, json_count(list) + 1);
	for (m = json_first(list); m != NULL; m = m->next) {
		if (json_getc(m, "advisory") != NULL)
			continue;
		v = &d->v[d->n++];
		v->name = json_key(m);
		v->type = json_str(m, "type");
		v->feedback = json_str(m, "feedback");
		if (v->feedback.n == 0)
			v->feedback = json_str(m, "error");
		v->status = is_true(json_getc(m, "skipped")) ? RESULT_SKIPPED :
		    is_true(json_getc(m, "passed")) ? RESULT_PASSED :
		    RESULT_FAILED;
		score = json_getc(m, "score");
		if (score != NULL)
			json_double(score, &v->score);
	}
}

void
report_read_detail(struct arena *a, const struct json *trial,
    struct report_detail *d)
{
	d->json = trial;
	d->prompt = json_str(trial, "prompt");
	d->output = json_str(trial, "final_output");
	d->error = json_str(trial, "error_msg");
	d->stderr_tail = json_str(trial, "stderr_tail");
	d->patch = json_str(trial, "patch");
	report_read_calls(a, d);
	read_verdicts(a, d);
}

void
report_detail(struct arena *a, const struct report_opts *o,
    const struct result_run *run, const struct result_task *task,
    const struct result_trial *t, struct report_detail *d)
{
	const struct json *json;
	struct err e = { 0 };
	size_t i;

	*d = (struct report_detail){ .error = { "", 0 } };
	if (t == NULL || (o->read == NULL && t->off < 0))
		return;
	json = o->read != NULL ? o->read(a, run, t, &e) :
	    result_read(a, run, t, &e);
	if (json == NULL) {
		d->error = arena_fmt(a, "no details: %s", e.msg);
		return;
	}
	report_read_detail(a, json, d);
	for (i = 0; i < d->n; i++)
		d->v[i].at = find_grader(run, task->spec, d->v[i].name);
}

struct str
report_why(struct arena *a, const struct report_opts *o,
    const struct result_run *run, const struct result_task *task)
{
	struct str why = task->more->error;
	struct report_detail d;
	size_t i;

	report_detail(a, o, run, task, report_trial(task), &d);
	if (d.error.n > 0)
		why = d.error;
	for (i = 0; why.n == 0 && i < d.n; i++)
		if (d.v[i].status == RESULT_FAILED)
			why = d.v[i].feedback;
	return why;
}

const struct result_trial *
report_trial(const struct result_task *t)
{
	const struct result_trial *first = NULL;
	size_t i;

	for (i = 0; i < t->ntrials; i++) {
		if (t->trials[i].status > RESULT_PASSED)
			return &t->trials[i];
		if (t->trials[i].status != RESULT_NONE && (first == NULL ||
		    first->status < t->trials[i].status))
			first = &t->trials[i];
	}
	return first;
}

size_t
report_passes(const struct result_task *t)
{
	size_t i, n = 0;

	for (i = 0; i < t->ntrials; i++)
		n += t->trials[i].status == RESULT_PASSED;
	return n;
}

bool
report_is_partial(const struct result_task *t)
{
	return t->status == RESULT_NONE && t->done > 0;
}

struct str
report_word(const char *s)
{
	return (struct str){ s, strspn(s, "abcdefghijklmnopqrstuvwxyz"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789=.-") };
}

void
report_put_status(struct buf *b, const struct result_task *t)
{
	size_t i, n = 0;

	for (i = 0; i < t->ntrials; i++)
		n += t->trials[i].status != RESULT_NONE &&
		    t->trials[i].status != RESULT_CANCELLED;
	if (report_is_partial(t) && t->more->skipped != NULL) {
		buf_fmt(b, "%zu/%u trials, others skipped: ", n, t->ntrials);
		buf_put(b, report_word(t->more->skipped));
	} else if (report_is_partial(t))
		buf_fmt(b, "%zu/%u trials, not finished", n, t->ntrials);
	else if (t->more->skipped != NULL) {
		buf_puts(b, "skipped: ");
		buf_put(b, report_word(t->more->skipped));
	} else
		buf_puts(b, report_status(t->status));
}

struct str
report_pass(struct arena *a, const struct result_run *run, bool base)
{
	if (!base)
		return STR("");
	return run->ref_name.n == 0 ? STR("baseline") :
	    arena_fmt(a, "baseline, skills of %.*s", STRF(run->ref_name));
}

const char *
report_end(const struct result_run *run, bool *broken)
{
	*broken = result_interrupted(run);
	if (result_is_skipped(run))
		return run->skipped != NULL ? run->skipped :
		    run->baseline != NULL && run->baseline->skipped != NULL ?
		    run->baseline->skipped : run->ref->skipped;
	if (*broken)
		return run->cancelled ? "the run was interrupted" :
		    "the run did not finish";
	return run->complete ? NULL :
	    "the run ended after a task that did not pass";
}

const char *
report_graded_nothing(const struct result_run *run)
{
	size_t n = run->ntasks + run->left_out;

	if (!run->complete || n == 0 ||
	    run->sum.skipped + run->sum.quarantined < n)
		return NULL;
	return run->sum.quarantined == 0 ? "all tasks were skipped" :
	    run->sum.skipped == 0 ? "all tasks are in quarantine" :
	    "all tasks were skipped or are in quarantine";
}

bool
report_missed(struct buf *b, const struct result_run *run)
{
	const struct spec_metric *m = result_missed(run);
	double value;
	int decimals = 1;

	if (!run->complete || result_only_answers(run) || m == NULL ||
	    !result_metric(run, m, &value))
		return false;
	if (m->threshold - value < 0.001)
		decimals = 4;		/* or both would look equal */
	report_line(b, m->name, 40, false);
	buf_fmt(b, " is %.*f%%, required %.*f%%", decimals, value * 100,
	    decimals, m->threshold * 100);
	return true;
}

double
report_task_score(const struct result_task *t)
{
	return t->status == RESULT_NONE ? 0 : t->stats->avg;
}

int64_t
report_task_ms(const struct result_task *t)
{
	int64_t ms = 0, n = 0;
	size_t i;

	if (t->status != RESULT_NONE)
		return t->stats->avg_ms;
	for (i = 0; i < t->ntrials; i++) {
		ms += t->trials[i].duration_ms;
		n += t->trials[i].status != RESULT_NONE;
	}
	return n > 0 ? ms / n : 0;
}

void
report_where(struct buf *b, struct spec_where at)
{
	if (at.file == NULL)
		return;
	report_clean(b, str_of(at.file));
	if (at.line > 0)
		buf_fmt(b, ":%u", at.line);
}
