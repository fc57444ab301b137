/* SPDX-License-Identifier: ISC */
/*
 * The details of a trial, from its line in the journal.
 *
 * The journal may be missing or damaged by the time of the report.  Then the
 * numbers are still right, and .error contains the reason.
 */
#include "report/report_internal.h"

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
	const struct spec_grader *g = find_in(&task->graders, name);

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
read_verdicts(struct arena *a, const struct result_run *run,
    const struct spec_task *task, struct report_detail *d)
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
		v->at = find_grader(run, task, v->name);
	}
}

void
report_detail(struct arena *a, const struct report_opts *o,
    const struct result_run *run, const struct result_task *task,
    const struct result_trial *t, struct report_detail *d)
{
	struct err e = { 0 };

	*d = (struct report_detail){ .error = { "", 0 } };
	if (t == NULL || (o->read == NULL && t->off < 0))
		return;
	d->json = o->read != NULL ? o->read(a, run, t, &e) :
	    result_read(a, run, t, &e);
	if (d->json == NULL) {
		d->error = arena_fmt(a, "no details: %s", e.msg);
		return;
	}
	d->prompt = json_str(d->json, "prompt");
	d->output = json_str(d->json, "final_output");
	d->error = json_str(d->json, "error_msg");
	d->stderr_tail = json_str(d->json, "stderr_tail");
	d->patch = json_str(d->json, "patch");
	report_read_calls(a, d);
	read_verdicts(a, run, task->spec, d);
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

void
report_put_status(struct buf *b, const struct result_task *t)
{
	size_t i, n = 0;

	for (i = 0; i < t->ntrials; i++)
		n += t->trials[i].status != RESULT_NONE &&
		    t->trials[i].status != RESULT_CANCELLED;
	if (report_is_partial(t))
		buf_fmt(b, "%zu/%zu trials, not finished", n, t->ntrials);
	else
		buf_puts(b, report_status(t->status));
}

const char *
report_end(const struct result_run *run, bool *broken)
{
	*broken = result_interrupted(run);
	if (*broken)
		return run->cancelled ? "the run was interrupted" :
		    "the run did not finish";
	return run->complete ? NULL :
	    "the run ended after a task that did not pass";
}

bool
report_graded_nothing(const struct result_run *run)
{
	return run->complete && run->ntasks > 0 &&
	    run->sum.skipped == run->ntasks;
}

bool
report_missed(struct buf *b, const struct result_run *run)
{
	const struct spec_metric *m = result_missed(run);
	double value;
	int decimals = 1;

	if (!run->complete || m == NULL || !result_metric(run, m, &value))
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
	return t->status == RESULT_NONE ? 0 : t->stats.avg;
}

int64_t
report_task_ms(const struct result_task *t)
{
	int64_t ms = 0, n = 0;
	size_t i;

	if (t->status != RESULT_NONE)
		return t->stats.avg_ms;
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
