/* SPDX-License-Identifier: ISC */
/*
 * --stop: ends tasks and suites early, by the rules of stop.c.
 *
 * A rule sees the trials of a task only if none before the last known one is
 * missing: trials that have started are completed and count, so that their
 * number depends on nothing but the trials before it.
 */
#include "run/run_internal.h"

#include "results/event.h"

void
run_stop_count(struct run *run, size_t i, size_t k)
{
	struct stop_known *t;
	enum result_status s;

	if (run->queue.known == NULL)
		return;
	s = run->results.tasks[i].trials[k].status;
	if (s == RESULT_NONE)
		return;
	t = &run->queue.known[i];
	t->n++;
	t->passed += s == RESULT_PASSED;
	t->skipped += s == RESULT_SKIPPED;
	t->last = k > t->last ? (uint32_t)k : t->last;
}

bool
run_stop_task(struct run *run, size_t i)
{
	struct result_task *r = &run->results.tasks[i];
	const struct stop_known *t;
	struct stop_counts c;

	if (run->queue.known == NULL)
		return false;
	t = &run->queue.known[i];
	c = (struct stop_counts){ .planned = r->ntrials, .known = t->n,
		.passed = t->passed, .skipped = t->skipped };
	if (t->n == 0 || t->n != t->last + 1 || !stop_task(&run->opts.stop, &c,
	    run->suite->config.task_pass_threshold))
		return false;
	if (run->queue.tasks[i].running == 0)
		r->ntrials = run->queue.tasks[i].next = t->n;
	return true;
}

/* Whether the tasks so far decide about all of the suite's thresholds. */
static enum stop_verdict
verdict_of(const struct run *run)
{
	const struct spec_metric *m = run->suite->metrics.v;
	struct stop_counts c = { .planned = run->results.ntasks };
	enum stop_verdict all, one;
	size_t i;

	for (i = 0; i < run->results.ntasks; i++) {
		enum result_status s = run->results.tasks[i].status;

		if (run->results.tasks[i].spec->def->quarantined) {
			c.planned--;	/* it does not count */
			continue;
		}
		c.known += s != RESULT_NONE;
		c.passed += s == RESULT_PASSED;
		c.skipped += s != RESULT_NONE && !result_is_scored(s);
	}
	all = stop_verdict(&c, run->suite->config.pass_threshold);
	for (i = 0; i < run->suite->metrics.n && all != STOP_FAILS; i++) {
		if (!m[i].enabled || !str_is(m[i].name, "task_completion"))
			continue;
		one = stop_verdict(&c, m[i].threshold);
		all = one == STOP_FAILS || one == STOP_OPEN ? one : all;
	}
	return all;
}

/* A shard, or one pass of two, does not decide about the whole. */
const char *
run_stop_suite(const struct run *run)
{
	const struct run_opts *o = &run->opts;

	if (o->stop.kind != STOP_DECIDED || o->shards > 0 ||
	    o->has_baseline || o->is_baseline || o->has_ref ||
	    o->ref != NULL || o->stored != NULL)
		return NULL;
	switch (verdict_of(run)) {
	case STOP_PASSES:
		return "decided: the suite passes, whatever other tasks do";
	case STOP_FAILS:
		return "decided: the suite fails, whatever other tasks do";
	case STOP_OPEN:
		break;
	}
	return NULL;
}
