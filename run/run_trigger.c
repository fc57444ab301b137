/* SPDX-License-Identifier: ISC */
/*
 * Trigger tests: prompts that are asked after the tasks of a run, to see
 * whether the agent uses a skill.  Nothing is graded.  Each prompt has a slot
 * while it is asked:
 *
 *	free -> [asking] -> [doubted] -> free
 *
 * An immediate answer skips the first state in brackets, most answers skip the
 * second one (run_ask_doubts).
 */
#include "run/run_internal.h"

#include <sys/stat.h>

#include "results/event.h"

struct run_trigger {
	struct run *run;
	bool busy, asking;		/* asking: waits for the executor */
	bool doubted;			/* waits or has waited for a signal */
	struct timer pause;
	size_t i;			/* index of the prompt */
	struct run_ask ask;
	struct run_wait wait;		/* while asking: see run_must_wait() */
};

struct run_triggers {
	struct run_trigger *slots;	/* queue.nslots of them */
	size_t next, busy;		/* next prompt; slots in use */
};

/* They belong to a whole run by an agent that has the skill. */
size_t
run_count_triggers(const struct spec_suite *s, const struct run_opts *o)
{
	const struct agent_kind *k = agent_find(o->executor.n > 0 ?
	    o->executor : s->config.executor);

	if (s->triggers == NULL || k == NULL || o->no_triggers ||
	    o->no_skills || o->ntasks > 0 || o->ntags > 0 ||
	    o->nwords > 0 || o->limit > 0 ||
	    (o->shards > 0 && o->shard != 1) || o->stored != NULL)
		return 0;
	return s->triggers->n;
}

void
run_triggers_select(struct run *run)
{
	enum agent_skills how;

	if (run_count_triggers(run->suite, &run->opts) == 0)
		return;
	how = agent_skills(agent_find(run->results.executor), run->suite,
	    NULL);
	result_want_triggers(&run->results, how == AGENT_SKILLS_SIMULATED);
}

/* Without evidence of use, a test would show nothing. */
static bool
has_evidence(const struct run *run)
{
	return agent_skills(run->agent->kind, run->suite, NULL) ==
	    AGENT_SKILLS_REPORTED;
}

void
run_triggers_init(struct run *run)
{
	struct run_triggers *ts;
	size_t i, n = run->queue.nslots;

	if (run->results.triggers.n == 0)
		return;
	ts = NEW(&run->live, struct run_triggers);
	ts->slots = NEW_N(&run->live, struct run_trigger, n);
	for (i = 0; i < n; i++)
		ts->slots[i].run = run;
	run->triggers = ts;
}

static const struct spec_trigger *
spec_of(const struct run_trigger *t)
{
	return &t->run->suite->triggers->v[t->i];
}

static void
emit(struct run_trigger *t)
{
	struct result_run *r = &t->run->results;
	struct event ev = { .type = EVENT_TRIGGER_COMPLETE,
		.run_id = str_of(r->run_id), .idx = (int64_t)t->i,
		.total = (int64_t)r->triggers.n,
		.prompt = spec_of(t)->task.prompt,
		.should_trigger = spec_of(t)->should,
		.did_trigger = result_did_trigger(r, t->i),
		.status = str_of(result_word(t->ask.status)),
		.error_class = str_of(result_class(t->ask.status)),
		.error = t->ask.error, .took_ms = t->ask.duration_ms,
		.source.run = r };

	event_emit(t->run->bus, &ev);
}

static void on_doubt(void *);

/* As for a trial: recorded first, then reported, unless cancelled. */
static void
finish(struct run_trigger *t)
{
	struct run_ask *q = &t->ask;
	struct run *run = t->run;
	struct result_record r = { .task = t->i, .status = q->status,
		.attempts = 1, .duration_ms = q->duration_ms,
		.started_ns = q->started_ns, .error = q->error,
		.answer = q->job.req != NULL ? &q->job.ans : NULL,
		.skills_way = str_of(run_skills_word(q)),
		.note = q->skills.note };
	struct err e = { 0 };

	if (!t->doubted && run_ask_doubts(q)) {
		t->doubted = true;
		timer_once(run->loop, &t->pause, RUN_DOUBT_MS, on_doubt, t);
		return;
	}
	if (t->doubted && q->cancelled)
		q->status = RESULT_CANCELLED;
	run_skills_remove(q);
	run_ask_record(q);
	if (q->status != RESULT_CANCELLED) {
		if (result_add_trigger(&run->results, &r, &e) == -1)
			run_abort(run, &e);
		else {
			run_budget_charge(run, run->results.ntasks,
			    &run->results.triggers.v[t->i], q->duration_ms);
			emit(t);
		}
	}
	run_ask_free(q);
	t->busy = false;
	run->triggers->busy--;
	run_release_slot(run);
	run_budget_take(run, run->results.ntasks, -1);
	run->dirty = true;
}

static void
on_doubt(void *arg)
{
	struct run_trigger *t = arg;
	struct run *run = t->run;

	finish(t);
	run_pump(run);
}

/* Whether the skill was used that should be, or should not be. */
static bool
was_used(const struct run_trigger *t)
{
	const struct field_strs *used = &t->ask.job.ans.skills;
	struct str skill = t->run->suite->triggers->skill;

	if (spec_of(t)->should)
		skill = result_expected_skill(&t->run->results, t->i);
	return skill.n > 0 ? run_has_skill(used, skill) : used->n > 0;
}

static void
answered(struct run_trigger *t)
{
	struct run_ask *q = &t->ask;

	if (run_ask_ended(q) && run_skills_find(q))
		run_mocks_check(q, false);
	if (q->status == RESULT_NONE && q->job.ans.skills_lost && !was_used(t))
		run_ask_fail(q, RESULT_GRADER_ERROR, "cannot be checked: "
		    "events of the agent were lost, and with them perhaps the "
		    "use of the skill");
	if (q->status == RESULT_NONE)
		q->status = was_used(t) == spec_of(t)->should ?
		    RESULT_PASSED : RESULT_FAILED;
	finish(t);
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

/* Copies the suite's fixtures, so that the prompt has something to act on. */
static int
make_workspace(struct run_trigger *t, struct err *e)
{
	struct run_ask *q = &t->ask;
	struct run *run = t->run;
	const char *from = run->opts.context_dir;
	struct stat st;

	if (run_make_workspace(q, arena_fmt(&q->arena, "trigger-%zu",
	    t->i + 1), (size_t)(t - run->triggers->slots), e) == -1)
		return -1;
	q->req.workspace = q->dir;
	if (from == NULL)
		from = arena_fmt(&q->arena, "%s/fixtures", run->suite->dir).p;
	if (stat(from, &st) == -1 || !S_ISDIR(st.st_mode))
		return 0;
	return workspace_copy(&q->arena, q->dir, from, STR(""), e);
}

static int
prepare(struct run_trigger *t, struct err *e)
{
	struct run_ask *q = &t->ask;
	struct run *run = t->run;

	q->req.prompt = q->task->prompt;
	run_record_start(run, &q->record, &q->req);
	run_skills_choose(q);
	if ((agent_needs_workspace(run->agent, q->task) ||
	    run->opts.keep_workspace) && make_workspace(t, e) == -1)
		return -1;
	return run_make_home(q, e) == -1 || run_mocks_place(q, e) == -1 ? -1 :
	    run_skills_place(q, e);
}

static void on_room(void *);

static void
ask(struct run_trigger *t)
{
	uint64_t before = t->run->procs->shortages;

	t->asking = !run_ask_start(&t->ask, NULL, on_answer, t) ||
	    (t->ask.job.ans.fault != ANSWER_OK && !t->ask.cancelled &&
	    run_must_wait(t->run, &t->wait, before, t->ask.task, on_room, t));
	if (!t->asking)
		answered(t);
}

static void
on_room(void *arg)
{
	struct run_trigger *t = arg;
	struct run *run = t->run;

	t->ask.started += run_waited(run, &t->wait);
	if (t->ask.cancelled)
		on_answer(t);
	else {
		ask(t);
		run_pump(run);
	}
}

static void
start(struct run *run, size_t i)
{
	struct run_trigger *t = run->triggers->slots;
	struct err e = { 0 };

	while (t->busy)
		t++;			/* the caller knows that one is free */
	*t = (struct run_trigger){ .run = run, .busy = true, .i = i };
	run->triggers->busy++;
	run_take_slot(run);
	run_budget_take(run, run->results.ntasks, 1);
	run_ask_init(&t->ask, run, &spec_of(t)->task, 1, 1);
	if (run->results.triggers.simulated) {
		t->ask.status = RESULT_PASSED;
		finish(t);
	} else if (!has_evidence(run)) {
		run_ask_fail(&t->ask, RESULT_SKIPPED, "executor \"%s\" does "
		    "not report which skills it used", run->agent->kind->name);
		finish(t);
	} else if (prepare(t, &e) == -1) {
		run_ask_fail(&t->ask, RESULT_INFRA, "%s", e.msg);
		finish(t);
	} else
		ask(t);
}

/* Skips the tests of an earlier run; n: none is left. */
static size_t
next_prompt(struct run *run)
{
	const struct result_triggers *r = &run->results.triggers;
	struct run_triggers *ts = run->triggers;

	while (ts->next < r->n && r->v[ts->next].status != RESULT_NONE)
		ts->next++;
	return ts->next;
}

/* The budget is spent, and tests are left. */
static bool
skips_tests(struct run *run)
{
	if (run->results.triggers.simulated || !run_budget_ended(run))
		return false;
	if (run->results.skipped == NULL)
		run->results.skipped = run->broke;
	return true;
}

bool
run_triggers_pump(struct run *run)
{
	int64_t until = loop_clock(run->loop) + RUN_SLICE_MS;
	struct run_triggers *ts = run->triggers;
	struct run_queue *queue = &run->queue;

	if (ts == NULL)
		return true;
	while (!run->cancelled && !run->unusable && !run_is_stopped(run) &&
	    !queue->held && next_prompt(run) < run->results.triggers.n &&
	    !skips_tests(run) && ts->busy < run_slots(run)) {
		start(run, ts->next++);
		if (loop_clock(run->loop) >= until) {
			timer_start(run->loop, &queue->again, 0);
			return false;
		}
	}
	return ts->busy == 0 && (run->cancelled || run->unusable ||
	    run_is_stopped(run) || run->broke != NULL ||
	    next_prompt(run) == run->results.triggers.n);
}

size_t
run_triggers_busy(const struct run *run)
{
	return run->triggers != NULL ? run->triggers->busy : 0;
}

void
run_triggers_cancel(struct run *run)
{
	struct run_trigger *t;
	size_t i;

	for (i = 0; run->triggers != NULL && i < run->queue.nslots; i++) {
		t = &run->triggers->slots[i];
		if (t->busy && t->doubted)
			t->ask.cancelled = true;
		if (!t->asking || t->ask.cancelled)
			continue;
		if (t->wait.room.prev == NULL)
			run_ask_cancel(&t->ask);
		else {
			t->ask.cancelled = true;
			procs_wake(run->procs);
		}
	}
}

void
run_triggers_drop(struct run *run)
{
	struct run_triggers *ts = run->triggers;
	size_t i;

	for (i = 0; ts != NULL && i < run->queue.nslots; i++)
		if (ts->slots[i].asking) {
			procs_wait_stop(&ts->slots[i].wait.room);
			run_ask_drop(&ts->slots[i].ask);
		} else if (ts->slots[i].busy) {
			timer_stop(run->loop, &ts->slots[i].pause);
			run_ask_free(&ts->slots[i].ask);
		}
}
