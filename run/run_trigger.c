/* SPDX-License-Identifier: ISC */
/*
 * Trigger tests: prompts that are asked after the tasks of a run, to see
 * whether a skill comes into play.  Nothing is graded.  Each prompt has a
 * slot while it is asked:
 *
 *	free -> [asking] -> free
 *
 * An answer that comes at once never gets to the state in brackets.
 */
#include "run/run_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/os.h"
#include "results/event.h"

enum { SLICE_MS = 20 };		/* of starting, before the loop has its turn */

struct run_trigger {
	struct run *run;
	bool busy, asking;		/* asking: the executor has it */
	size_t i;			/* which prompt */
	struct arena arena;
	char *dir;			/* the workspace, or NULL */
	struct tmpl_vars vars;
	struct agent_request req;
	struct agent_job job;
	struct timer deadline, first;	/* as those of a trial */
	bool timed_out, silent, cancelled;
	int64_t started, duration_ms;
	int64_t wall_ns;
	struct run_record record;
	enum result_status status;
	struct str error;
};

struct run_triggers {
	struct run_trigger *slots;	/* run->nslots */
	size_t next, busy;		/* prompt to ask; slots in use */
};

/* Part of a whole run by somebody who has the skill and tells of it. */
void
run_select_triggers(struct run *run)
{
	const struct run_opts *o = &run->opts;
	const struct agent_kind *k = agent_find(run->results.executor);
	enum agent_skills how;

	if (run->suite->triggers == NULL || k == NULL || o->no_triggers ||
	    o->no_skills || o->ntasks > 0 || o->ntags > 0 ||
	    (o->shards > 0 && o->shard != 1) || o->stored != NULL)
		return;
	how = agent_skills(k, run->suite, NULL);
	if (how == AGENT_SKILLS_REPORTED || how == AGENT_SKILLS_SIMULATED)
		result_want_triggers(&run->results,
		    how == AGENT_SKILLS_SIMULATED);
}

void
run_triggers_init(struct run *run)
{
	struct run_triggers *ts;
	size_t i;

	if (run->results.triggers.n == 0)
		return;
	ts = NEW(&run->arena, struct run_triggers);
	ts->slots = NEW_N(&run->arena, struct run_trigger, run->nslots);
	for (i = 0; i < run->nslots; i++)
		ts->slots[i].run = run;
	run->triggers = ts;
}

static const struct spec_trigger *
spec_of(const struct run_trigger *t)
{
	return &t->run->suite->triggers->v[t->i];
}

static void
tell(struct run_trigger *t)
{
	struct run *run = t->run;
	struct event ev = { .type = EVENT_TRIGGER_COMPLETE,
		.run_id = str_of(run->results.run_id), .idx = (int64_t)t->i,
		.total = (int64_t)run->results.triggers.n,
		.prompt = spec_of(t)->task.inputs.prompt,
		.should_trigger = spec_of(t)->should,
		.did_trigger = result_did_trigger(&run->results, t->i),
		.status = str_of(result_word(t->status)),
		.error_class = str_of(result_class(t->status)),
		.error = t->error, .took_ms = t->duration_ms,
		.source.run = &run->results };

	event_emit(run->bus, &ev);
}

/* Kept first, told afterwards; what was cancelled is neither. */
static void
finish(struct run_trigger *t)
{
	struct run *run = t->run;
	struct result_record r = { .task = t->i, .status = t->status,
		.attempts = 1, .duration_ms = t->duration_ms,
		.started_ns = t->wall_ns, .error = t->error };
	struct err e = { 0 };

	if (t->job.req != NULL)
		r.answer = &t->job.ans;
	if (t->job.req != NULL && t->status != RESULT_CANCELLED)
		run_record_end(&t->record, &t->req, r.answer, t->duration_ms,
		    t->timed_out);
	run_record_drop(&t->record);
	if (t->status != RESULT_CANCELLED) {
		if (result_add_trigger(&run->results, &r, &e) == -1)
			run_abort(run, &e);
		else
			tell(t);
	}
	run_remove_home(run, &t->req);
	if (t->dir != NULL && !run->opts.keep_workspace &&
	    workspace_give(&run->pool, t->dir, &e) == -1)
		run_warn(run, "workspace_left", e.msg);
	arena_free(&t->arena);
	t->busy = false;
	run->triggers->busy--;
	run->dirty = true;
}

static void PRINTF(3, 4)
fail(struct run_trigger *t, enum result_status status, const char *fmt, ...)
{
	struct err e;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(e.msg, sizeof(e.msg), fmt, ap);
	va_end(ap);
	t->status = status;
	t->error = arena_str(&t->arena, str_of(e.msg));
	finish(t);
}

static bool
has_skill(const struct field_strs *skills, struct str name)
{
	size_t i;

	for (i = 0; i < skills->n; i++)
		if (str_eq(skills->v[i], name))
			return true;
	return false;
}

static void
answered(struct run_trigger *t)
{
	struct run *run = t->run;
	const struct answer *ans = &t->job.ans;

	timer_stop(run->loop, &t->deadline);
	timer_stop(run->loop, &t->first);
	t->duration_ms = loop_clock(run->loop) - t->started;
	run_replayed(run, ans, &t->duration_ms, &t->timed_out);
	if (t->cancelled)
		fail(t, RESULT_CANCELLED, "cancelled");
	else if (t->silent)
		fail(t, RESULT_TIMEOUT, "no sign of life within %lld s",
		    (long long)run->suite->config.first_event_timeout_seconds);
	else if (t->timed_out)
		fail(t, RESULT_TIMEOUT, "no answer within %lld s", (long long)
		    run_trial_timeout_ms(run, &spec_of(t)->task) / 1000);
	else if (ans->fault != ANSWER_OK) {
		t->status = ans->fault == ANSWER_INFRA ? RESULT_INFRA :
		    RESULT_AGENT_ERROR;
		t->error = ans->error;
		finish(t);
	} else {
		t->status = has_skill(&ans->skills,
		    run->suite->triggers->skill) == spec_of(t)->should ?
		    RESULT_PASSED : RESULT_FAILED;
		finish(t);
	}
}

static void
on_answer(void *arg)
{
	struct run_trigger *t = arg;
	struct run *run = t->run;

	t->asking = false;
	answered(t);
	run_pump(run);
}

static void
on_event(void *arg, enum agent_event type, struct str detail)
{
	struct run_trigger *t = arg;

	(void)type;
	(void)detail;
	timer_stop(t->run->loop, &t->first);
}

static void
on_deadline(void *arg)
{
	struct run_trigger *t = arg;

	t->timed_out = true;
	agent_cancel(t->run->agent, &t->job);
}

static void
on_silence(void *arg)
{
	struct run_trigger *t = arg;

	t->silent = true;
	on_deadline(t);
}

/* With the suite's fixtures, so that there is something to talk about. */
static int
make_workspace(struct run_trigger *t, struct err *e)
{
	struct run *run = t->run;
	const char *from = run->opts.context_dir;
	struct stat st;

	t->dir = workspace_take(&run->pool, &t->arena,
	    arena_fmt(&t->arena, "trigger-%zu", t->i + 1), e);
	if (t->dir == NULL)
		return -1;
	t->req.workspace = t->dir;
	t->req.scratch = arena_fmt(&t->arena, "%s/slot-%zu-", run->pool.dir,
	    (size_t)(t - run->triggers->slots)).p;
	if (from == NULL)
		from = arena_fmt(&t->arena, "%s/fixtures",
		    run->suite->dir).p;
	if (stat(from, &st) == -1 || !S_ISDIR(st.st_mode))
		return 0;
	return workspace_copy(&t->arena, t->dir, from, STR(""), e);
}

static int
prepare(struct run_trigger *t, struct err *e)
{
	struct run *run = t->run;
	const struct spec_task *task = &spec_of(t)->task;

	t->vars = (struct tmpl_vars){ .job_id = str_of(run->results.run_id),
		.task_name = task->name, .timestamp = str_of(run->timestamp),
		.iteration = 1, .attempt = 1,
		.vars = { run->suite->inputs, NULL } };
	t->req = (struct agent_request){ .task = task,
		.prompt = task->inputs.prompt, .model = run->results.model,
		.run_id = run->results.run_id, .trial = 1, .attempt = 1,
		.vars = &t->vars };
	run_record_start(run, &t->record, &t->req);
	if ((agent_needs_workspace(run->agent, task) ||
	    run->opts.keep_workspace) &&
	    make_workspace(t, e) == -1)
		return -1;
	return run_make_home(run, &t->arena, &t->req, e);
}

static void
ask(struct run_trigger *t)
{
	struct run *run = t->run;
	int64_t first = run->suite->config.first_event_timeout_seconds;

	t->deadline = (struct timer){ .fn = on_deadline, .arg = t };
	t->first = (struct timer){ .fn = on_silence, .arg = t };
	t->job = (struct agent_job){ .req = &t->req, .arena = &t->arena,
		.event = on_event, .done = on_answer, .arg = t };
	if (agent_start(run->agent, &t->job) == AGENT_DONE) {
		answered(t);
		return;
	}
	t->asking = true;
	timer_start(run->loop, &t->deadline,
	    run_trial_timeout_ms(run, &spec_of(t)->task));
	if (first > 0)
		timer_start(run->loop, &t->first, first * 1000);
}

static void
start(struct run *run, size_t i)
{
	struct run_trigger *t = run->triggers->slots;
	struct err e = { 0 };

	while (t->busy)
		t++;			/* one is free, or we were not here */
	*t = (struct run_trigger){ .run = run, .busy = true, .i = i };
	run->triggers->busy++;
	t->started = loop_clock(run->loop);
	t->wall_ns = os_wall_ns();
	if (run->results.triggers.simulated) {
		t->status = RESULT_PASSED;
		finish(t);
	} else if (prepare(t, &e) == -1)
		fail(t, RESULT_INFRA, "%s", e.msg);
	else
		ask(t);
}

/* Passes over what an earlier run has done; n: there is none. */
static size_t
next_prompt(struct run *run)
{
	const struct result_triggers *r = &run->results.triggers;
	struct run_triggers *ts = run->triggers;

	while (ts->next < r->n && r->v[ts->next].status != RESULT_NONE)
		ts->next++;
	return ts->next;
}

bool
run_triggers_pump(struct run *run)
{
	int64_t until = loop_clock(run->loop) + SLICE_MS;
	struct run_triggers *ts = run->triggers;

	if (ts == NULL)
		return true;
	while (!run->cancelled && !run->stopped && !run->held &&
	    ts->busy < run->nslots &&
	    next_prompt(run) < run->results.triggers.n) {
		start(run, ts->next++);
		if (loop_clock(run->loop) >= until) {
			timer_start(run->loop, &run->again, 0);
			return false;
		}
	}
	return ts->busy == 0 && (run->cancelled || run->stopped ||
	    next_prompt(run) == run->results.triggers.n);
}

void
run_triggers_cancel(struct run *run)
{
	struct run_trigger *t;
	size_t i;

	for (i = 0; run->triggers != NULL && i < run->nslots; i++) {
		t = &run->triggers->slots[i];
		if (!t->asking || t->cancelled)
			continue;
		t->cancelled = true;
		agent_cancel(run->agent, &t->job);
	}
}
