/* SPDX-License-Identifier: ISC */
/*
 * From the events of runs to spans.
 *
 * Spans are made when they end, since only then their times and attributes are
 * known; so a parent follows its children, as OTLP allows.  What must be
 * remembered until then is the start of each run, task and running trial.
 *
 * An interrupted run does not send its own span: the run that resumes it does.
 */
#include "otlp/otlp_internal.h"

#include <string.h>

#include "base/os.h"
#include "base/os_spawn.h"
#include "io/loop.h"
#include "lib/sha256.h"
#include "results/result.h"
#include "run/run.h"
#include "suite/spec.h"

/*
 * Runs.
 */
static struct otlp_run *
find_run(struct otlp *o, struct str run_id)
{
	struct otlp_run *r;

	for (r = o->runs; r != NULL && !str_eq(r->run_id, run_id);
	    r = r->next)
		;
	return r;
}

static void
run_begin(struct otlp *o, const struct event *e)
{
	const struct result_run *run = e->source.run;
	struct arena a = { 0 };
	struct otlp_run *r;
	char hex[SHA256_HEX];

	if (run == NULL || find_run(o, e->run_id) != NULL)
		return;
	r = NEW(&a, struct otlp_run);
	r->run_id = arena_str(&a, e->run_id);
	r->seed = run->first_id != NULL ? arena_str(&a,
	    str_of(run->first_id)) : r->run_id;
	r->start_ns = run->first_ns > 0 ? run->first_ns : run->started_ns;
	r->start_ns -= r->start_ns % 1000000;	/* as precise as events */
	r->ntasks = run->ntasks;
	r->tasks = NEW_N(&a, struct otlp_task, r->ntasks);
	sha256_hex(r->seed, hex);
	memcpy(r->trace, hex, OTLP_TRACE_ID - 1);
	otlp_id(r->root, r, "run", STR(""), 0);
	if (o->opts.payloads)
		run_add_secrets(o->arena, &o->secrets, run->suite);
	r->arena = a;
	LIST_PUSH(&o->runs, r);
}

/* "success" and so on, the values of test.suite.run.status. */
static const char *
suite_status(const struct event *e)
{
	return str_is(e->status, "passed") ? "success" :
	    str_is(e->status, "skipped") ? "skipped" :
	    str_is(e->status, "cancelled") ? "aborted" : "failure";
}

static void
put_run(struct otlp *o, const struct otlp_run *r, const struct event *e)
{
	const struct result_run *run = e->source.run;
	struct otlp_span s = { .trace = r->trace, .id = r->root, .parent = "",
		.kind = OTLP_INTERNAL, .name = arena_fmt(&o->tmp, "run %.*s",
		STRF(e->eval)), .start_ns = r->start_ns,
		.end_ns = e->time_ms * 1000000, .error = run->aborted };
	struct otlp_item i;

	otlp_span_begin(&i, o, &s);
	otlp_str(&i, "test.suite.name", e->eval);
	otlp_str(&i, "test.suite.run.status", str_of(suite_status(e)));
	otlp_str(&i, "waza.run.id", e->run_id);
	otlp_str(&i, "waza.skill", e->skill);
	otlp_str(&i, "waza.executor", e->executor);
	otlp_str(&i, "gen_ai.request.model", e->model);
	otlp_int(&i, "waza.tasks", e->total);
	otlp_int(&i, "waza.trials", (int64_t)run->trials);
	otlp_int(&i, "waza.tasks.passed", e->totals.passed);
	otlp_int(&i, "waza.tasks.failed", e->totals.failed - e->totals.errors);
	otlp_int(&i, "waza.tasks.errors", e->totals.errors);
	otlp_int(&i, "waza.tasks.skipped", e->totals.skipped);
	otlp_num(&i, "waza.pass_rate", e->totals.rate);
	otlp_num(&i, "waza.score", e->score);
	if (run->shard.n > 0)
		otlp_str(&i, "waza.shard", arena_fmt(&o->tmp, "%lld/%lld",
		    (long long)run->shard.k, (long long)run->shard.n));
	if (run->no_skills)
		otlp_bool(&i, "waza.no_skills", true);
	otlp_item_end(&i);
}

static void
forget_run(struct otlp_run *r)
{
	struct arena a = r->arena;

	LIST_REMOVE(r);
	arena_free(&a);
}

/*
 * Running trials.
 */
static struct otlp_live *
find_live(struct otlp *o, const struct otlp_run *r, const struct event *e)
{
	struct otlp_live *l;

	for (l = o->live; l != NULL; l = l->next)
		if (l->run == r && l->task == e->idx && l->trial == e->trial)
			return l;
	return NULL;
}

static void
live_begin(struct otlp *o, const struct otlp_run *r, const struct event *e)
{
	struct otlp_live *l = o->unused;

	if (l != NULL)
		o->unused = l->next;
	else
		l = NEW(o->arena, struct otlp_live);
	*l = (struct otlp_live){ .run = r, .task = e->idx, .trial = e->trial,
		.start_ms = e->time_ms };
	LIST_PUSH(&o->live, l);
}

static void
live_end(struct otlp *o, struct otlp_live *l)
{
	if (l == NULL)
		return;
	LIST_REMOVE(l);
	l->next = o->unused;
	o->unused = l;
}

static void
note_tool(struct otlp_live *l, const struct event *e)
{
	if (l == NULL || !str_is(e->step, "tool"))
		return;
	if (l->ntools < OTLP_TOOLS_MAX)
		l->tool_ms[l->ntools] = e->time_ms;
	l->ntools++;
}

/* Ends a run, with its cancelled trials. */
static void
run_end(struct otlp *o, struct otlp_run *r, const struct event *e)
{
	struct otlp_live *l, *next;

	for (l = o->live; l != NULL; l = next) {
		next = l->next;
		if (l->run == r)
			live_end(o, l);
	}
	if (e->source.run != NULL && !result_interrupted(e->source.run))
		put_run(o, r, e);
	forget_run(r);
}

/*
 * Tasks and trigger tests.
 */
static struct otlp_task *
find_task(struct otlp_run *r, const struct event *e)
{
	return e->idx >= 0 && (uint64_t)e->idx < r->ntasks ?
	    &r->tasks[e->idx] : NULL;
}

/* A task whose trials were all resumed was sent by the run that ran them. */
static void
put_task(struct otlp *o, struct otlp_run *r, const struct event *e)
{
	const struct result_task *k = e->source.task;
	const struct otlp_task *task = find_task(r, e);
	char id[OTLP_SPAN_ID];
	struct otlp_span s = { .trace = r->trace, .id = id, .parent = r->root,
		.kind = OTLP_INTERNAL, .name = arena_fmt(&o->tmp, "task %.*s",
		STRF(e->task)), .error = e->error_class.n > 0 };
	struct otlp_item i;

	if (task == NULL || (!task->ran && k != NULL && k->done > 0))
		return;
	s.end_ns = e->time_ms * 1000000;
	s.start_ns = task->start_ms > 0 ? task->start_ms * 1000000 : s.end_ns;
	otlp_id(id, r, "task", e->task, 0);
	otlp_span_begin(&i, o, &s);
	otlp_str(&i, "test.case.name", e->task);
	otlp_str(&i, "test.case.result.status", otlp_verdict(e->status));
	otlp_str(&i, "waza.status", e->status);
	otlp_num(&i, "waza.score", e->score);
	otlp_str(&i, "error.type", e->error_class);
	if (k != NULL) {
		otlp_int(&i, "waza.trials", (int64_t)k->done);
		otlp_num(&i, "waza.pass_rate", k->stats->pass_rate);
	}
	otlp_payload(&i, "waza.error", e->error);
	otlp_item_end(&i);
}

static void
put_trigger(struct otlp *o, const struct otlp_run *r, const struct event *e)
{
	char id[OTLP_SPAN_ID];
	struct otlp_span s = { .trace = r->trace, .id = id, .parent = r->root,
		.kind = OTLP_INTERNAL, .name = STR("trigger"),
		.start_ns = (e->time_ms - e->took_ms) * 1000000,
		.end_ns = e->time_ms * 1000000,
		.error = e->error_class.n > 0 };
	struct otlp_item i;

	otlp_id(id, r, "trigger", STR(""), e->idx);
	otlp_span_begin(&i, o, &s);
	otlp_str(&i, "test.case.result.status", otlp_verdict(e->status));
	otlp_int(&i, "waza.trigger", e->idx + 1);
	otlp_bool(&i, "waza.should_trigger", e->should_trigger);
	otlp_bool(&i, "waza.did_trigger", e->did_trigger);
	otlp_str(&i, "error.type", e->error_class);
	otlp_message(&i, "gen_ai.input.messages", "user", e->prompt);
	otlp_item_end(&i);
}

static void
trial_end(struct otlp *o, struct otlp_run *r, const struct event *e)
{
	struct otlp_live *l = find_live(o, r, e);
	struct otlp_task *task = find_task(r, e);

	if (task != NULL)
		task->ran = true;
	if (e->source.run != NULL && e->source.task != NULL)
		otlp_trial(o, r, e, l);
	live_end(o, l);
}

static void
on_run_event(struct otlp *o, struct otlp_run *r, const struct event *e)
{
	struct otlp_task *task;

	switch (e->type) {
	case EVENT_TASK_START:
		task = find_task(r, e);
		if (task != NULL)
			task->start_ms = e->time_ms;
		break;
	case EVENT_TRIAL_START:
		live_begin(o, r, e);
		break;
	case EVENT_TASK_PROGRESS:
		note_tool(find_live(o, r, e), e);
		break;
	case EVENT_TRIAL_COMPLETE:
		trial_end(o, r, e);
		break;
	case EVENT_TASK_COMPLETE:
		put_task(o, r, e);
		break;
	case EVENT_TRIGGER_COMPLETE:
		put_trigger(o, r, e);
		break;
	case EVENT_EVAL_COMPLETE:
		run_end(o, r, e);
		break;
	case EVENT_EVAL_START:
	case EVENT_ERROR:
	case EVENT__MAX:
		break;
	}
}

static void
on_event(void *arg, const struct event *e)
{
	struct otlp *o = arg;
	struct otlp_run *r;

	if (e->type == EVENT_EVAL_START)
		run_begin(o, e);
	r = find_run(o, e->run_id);
	if (r != NULL)
		on_run_event(o, r, e);
	arena_free(&o->tmp);
}

int
otlp_check(const struct otlp_opts *opts, struct err *e)
{
	return otlp_send_check(opts, e);
}

struct otlp *
otlp_start(struct arena *a, const struct otlp_opts *opts, struct procs *procs,
    struct event_bus *bus, struct err *e)
{
	struct otlp *o = NEW(a, struct otlp);

	*o = (struct otlp){ .arena = a, .opts = *opts, .procs = procs,
		.fd = -1 };
	if (otlp_send_open(o, e) == -1)
		return NULL;
	o->secrets.forms = true;
	if (opts->payloads)
		mask_add_env(a, &o->secrets, os_env(a, NULL, 0));
	o->sink = (struct event_sink){ .fn = on_event, .arg = o };
	event_listen(bus, &o->sink);
	return o;
}

struct otlp_loss
otlp_loss(const struct otlp *o)
{
	return (struct otlp_loss){ .dropped = o->dropped, .all = o->all,
		.why = o->why };
}

void
otlp_end(struct otlp *o)
{
	if (o == NULL)
		return;
	otlp_send_close(o);
	while (o->runs != NULL)
		forget_run(o->runs);
	arena_free(&o->tmp);
}
