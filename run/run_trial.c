/* SPDX-License-Identifier: ISC */
/*
 * One trial: a workspace, an answer, verdicts, a record.
 *
 * A trial is a state machine in a slot of the run.  Each state that does not
 * wait has a function, which returns the next state:
 *
 *	state     does                            next state
 *	IDLE      the slot is free                PREPARE (run_trial_start)
 *	PREPARE   expand the prompt, look into    JUDGED, PAUSED; FINISH
 *	          the cache, make a workspace     (cached)
 *	JUDGED    the judges can be used          FETCH, FILL; ASK (stored
 *	                                          answer)
 *	FETCH     start git                       FETCHING, FILL
 *	FETCHING  waits for git                   FILL
 *	FILL      copy files, prepare the dialog  SCAN
 *	SCAN      scan the workspace, add skills  ASK, PAUSED
 *	ASK       ask the agent                   ASKING, ANSWERED
 *	ASKING    waits for agent or responder    ANSWERED
 *	ANSWERED  classify                        CHECK, TURN, PATCH
 *	CHECK     start the next grader of a      CHECK, GRADING, TURN
 *	          checkpoint
 *	TURN      choose the next turn            ASK, ASKING, PATCH
 *	PATCH     make the agent's patch          GRADE, PAUSED; FINISH (error)
 *	GRADE     start the next grader           GRADE, GRADING, PAUSED, GRADED
 *	GRADING   waits for a grader              GRADE, GRADED, CHECK
 *	PAUSED    waits for the next turn         JUDGED, SCAN, PATCH, GRADE,
 *	                                          FINISH
 *	GRADED    decide                          FINISH; PREPARE (next attempt)
 *	FINISH    record, report, clean up        IDLE, PAUSED
 *	WAITING   waits for descriptors or        FETCH, ASK, GRADE: the state
 *	          processes (run_must_wait)       that could start no child
 *
 * Any state but IDLE can also fail, which leads to FINISH with ask.status and
 * ask.error set.
 */
#include "run/run_internal.h"

#include <string.h>

#include "json.h"
#include "results/event.h"
#include "results/outcome.h"

/* The trial ends with what run_ask_fail() or run_ask_ended() has set. */
#define FAIL(t, ...) \
	(run_ask_fail(&(t)->ask, __VA_ARGS__), RUN_TRIAL_FINISH)

static void
on_pause(void *arg)
{
	struct run_trial *t = arg;

	run_trial_resume(t, t->retry);
}

/* The trials resume from the loop: one of them may end the run. */
static void
on_judges(void *arg)
{
	struct run *run = arg;
	struct run_trial *t;
	size_t i;

	run->judged = RUN_JUDGES_KNOWN;
	for (i = 0; i < run->queue.nslots; i++) {
		t = &run->queue.slots[i];
		if (t->state == RUN_TRIAL_PAUSED && t->awaits_judges)
			timer_once(run->loop, &t->pause, 0, on_pause, t);
	}
}

/*
 * Before the first trial that runs: a judge that cannot be used would be an
 * error of each trial, after the agent has done its work.
 */
static enum run_trial_state
await_judges(struct run_trial *t)
{
	struct run *run = t->run;
	size_t i;

	if (run->opts.no_judges)
		return RUN_TRIAL_JUDGED;
	if (run->judged == RUN_JUDGES_NEW) {
		for (i = 0; i < run->results.ntasks; i++)
			grader_expect_judges(&run->judges, run->suite,
			    run->results.tasks[i].spec);
		run_budget_judges(run);
		run->judged = judges_examine(&run->judges, on_judges, run) ?
		    RUN_JUDGES_KNOWN : RUN_JUDGES_ASKED;
	}
	t->retry = RUN_TRIAL_JUDGED;
	t->awaits_judges = run->judged == RUN_JUDGES_ASKED;
	return t->awaits_judges ? RUN_TRIAL_PAUSED : RUN_TRIAL_JUDGED;
}

static enum run_trial_state
prepare(struct run_trial *t)
{
	struct run_ask *q = &t->ask;
	struct run *run = t->run;
	struct err e = { 0 };
	struct str name, prompt;

	prompt = tmpl_render(&q->arena, q->task->prompt, &q->vars, &e);
	if (prompt.p == NULL)
		return FAIL(t, RESULT_INFRA, "prompt: %s", e.msg);
	q->req.prompt = prompt;
	if (run->opts.no_programs && q->task->def->inputs.repos.n > 0)
		return FAIL(t, RESULT_SKIPPED, "not run: its repositories are "
		    "not cloned");
	q->req.workspace = run->opts.shared_workspace;
	name = arena_fmt(&q->arena, "%zu-%zu-%u", t->task + 1, t->trial + 1,
	    q->req.attempt);
	if (run->opts.stored != NULL) {
		/* no agent runs: only graders may need a directory */
		run_stored_prepare(t);
		if (grader_flags(run->suite, q->task) & GRADER_NEEDS_DIR &&
		    run_make_workspace(q, name, (size_t)(t - run->queue.slots),
		    &e) == -1)
			return FAIL(t, RESULT_INFRA, "%s", e.msg);
		return await_judges(t);
	}
	if (q->req.attempt == 1 && run_cache_take(t))
		return RUN_TRIAL_FINISH;
	if (run_needs_workspace(t)) {
		if (run_make_workspace(q, name, (size_t)(t - run->queue.slots),
		    &e) == -1)
			return FAIL(t, RESULT_INFRA, "%s", e.msg);
		/* a shared workspace is used although the trial has its own */
		if (run->opts.shared_workspace == NULL)
			q->req.workspace = q->dir;
	}
	return await_judges(t);
}

/* The judges are known: continues, or ends the run. */
static enum run_trial_state
judged(struct run_trial *t)
{
	const struct run *run = t->run;

	if (t->ask.cancelled)
		return FAIL(t, RESULT_CANCELLED, "cancelled");
	if (run->judges.missing.n > 0) {
		run_stop(t->run, run->judges.missing);
		return FAIL(t, RESULT_INFRA, "%.*s",
		    STRF(run->judges.missing));
	}
	return run->opts.stored != NULL ? RUN_TRIAL_ASK :
	    run_needs_workspace(t) ? RUN_TRIAL_FETCH : RUN_TRIAL_FILL;
}

/* The agent's time does not run meanwhile. */
static void
on_room(void *arg)
{
	struct run_trial *t = arg;

	t->ask.started += run_waited(t->run, &t->wait);
	run_trial_resume(t, t->retry);
}

/* Whether to try again later, in that state. */
bool
run_wait_again(struct run_trial *t, uint64_t shortages,
    enum run_trial_state state)
{
	t->retry = state;
	return !t->ask.cancelled && run_must_wait(t->run, &t->wait, shortages,
	    t->ask.task, on_room, t);
}

static enum run_trial_state
fetch(struct run_trial *t)
{
	uint64_t before = t->run->procs->shortages;

	t->ask.error = STR("");
	if (t->ask.cancelled)
		return FAIL(t, RESULT_CANCELLED, "cancelled");
	if (run_fetch(t))
		return RUN_TRIAL_FETCHING;
	return run_wait_again(t, before, RUN_TRIAL_FETCH) ? RUN_TRIAL_WAITING :
	    RUN_TRIAL_FILL;
}

static enum run_trial_state
fill(struct run_trial *t)
{
	struct run_ask *q = &t->ask;
	struct err e = { 0 };

	if (q->cancelled)
		return FAIL(t, RESULT_CANCELLED, "cancelled");
	if (q->error.n > 0)
		return FAIL(t, RESULT_INFRA, "%.*s", STRF(q->error));
	run_skills_choose(q);
	run_agent_choose(q);
	if ((q->dir != NULL && run_fill_workspace(t, &e) == -1) ||
	    run_make_home(q, &e) == -1 || run_mocks_place(q, &e) == -1 ||
	    run_turn_first(t, &e) == -1)
		return FAIL(t, RESULT_INFRA, "%s", e.msg);
	return RUN_TRIAL_SCAN;
}

/* Continues in that state in the next turn of the loop. */
enum run_trial_state
run_pause_until(struct run_trial *t, enum run_trial_state next)
{
	t->retry = next;
	t->awaits_judges = false;
	timer_once(t->run->loop, &t->pause, 0, on_pause, t);
	return RUN_TRIAL_PAUSED;
}

static enum run_trial_state
scan(struct run_trial *t)
{
	struct run_ask *q = &t->ask;
	struct err e = { 0 };

	if (q->cancelled)
		return FAIL(t, RESULT_CANCELLED, "cancelled");
	if (!run_patch_scan(t))
		return run_pause_until(t, RUN_TRIAL_SCAN);
	if (run_skills_place(q, &e) == -1)	/* not part of the patch */
		return FAIL(t, RESULT_INFRA, "%s", e.msg);
	/* the time limit is the agent's: it excludes the preparation */
	q->started = loop_clock(t->run->loop);
	run_record_start(t->run, &q->record, &q->req);
	return RUN_TRIAL_ASK;
}

static void
on_answer(void *arg)
{
	run_trial_resume(arg, RUN_TRIAL_ANSWERED);
}

static void
on_progress(void *arg, enum agent_event type, struct str detail)
{
	static const char *const steps[] = {
		[AGENT_STEP] = "executing", [AGENT_TEXT] = "answering",
		[AGENT_TOOL] = "tool"
	};
	struct run_trial *t = arg;
	struct event ev = { .type = EVENT_TASK_PROGRESS,
		.run_id = str_of(t->run->results.run_id),
		.idx = (int64_t)t->task, .task = t->ask.task->id,
		.name = t->ask.task->name, .trial = t->ask.req.trial,
		.step = str_of(steps[type]), .detail = detail };

	event_emit(t->run->bus, &ev);
}

static enum run_trial_state
ask(struct run_trial *t)
{
	uint64_t before = t->run->procs->shortages;

	if (t->ask.cancelled)
		return FAIL(t, RESULT_CANCELLED, "cancelled");
	if (!run_ask_start(&t->ask, on_progress, on_answer, t))
		return RUN_TRIAL_ASKING;
	return t->ask.job.ans.fault != ANSWER_OK &&
	    run_wait_again(t, before, RUN_TRIAL_ASK) ? RUN_TRIAL_WAITING :
	    RUN_TRIAL_ANSWERED;
}

/*
 * Whether an empty list of skills in the answer means that none was used: the
 * executor reports skills, and they were not given to it in the prompt.
 */
static bool
reports_skills(const struct run_trial *t)
{
	const struct run *run = t->run;
	const struct agent_kind *k = run->agent->kind;

	return !run->opts.no_skills && run->opts.stored == NULL &&
	    !k->all_turns && t->ask.skills.way != AGENT_SKILLS_PROMPT &&
	    agent_skills(k, run->suite, t->ask.task) == AGENT_SKILLS_REPORTED;
}

/* After the last turn or an error: what has the agent changed? */
static enum run_trial_state
make_patch(struct run_trial *t)
{
	struct run_ask *q = &t->ask;

	if (q->cancelled)
		return FAIL(t, RESULT_CANCELLED, "cancelled");
	run_skills_remove(q);
	if (!run_patch_make(t))
		return run_pause_until(t, RUN_TRIAL_PATCH);
	run_mocks_check(q, true);
	if (q->status != RESULT_NONE)
		return RUN_TRIAL_FINISH;
	run_mocks_add(q);
	run_ask_record(q);	/* before graders can change the files */
	run_grader_input(t, &q->job.ans);
	return RUN_TRIAL_GRADE;
}

/* Whether the turns that its checkpoints need happen elsewhere. */
static bool
skips_turns(const struct run_trial *t)
{
	const struct spec_inputs *in = &t->ask.task->def->inputs;

	return t->ask.task->def->checkpoints.n > 0 &&
	    t->run->opts.stored == NULL &&
	    t->run->agent->kind->all_turns && !t->run->opts.skip_graders &&
	    (in->follow_up_prompts.n > 0 || in->responder != NULL);
}

static enum run_trial_state
answered(struct run_trial *t)
{
	struct run_ask *q = &t->ask;
	struct run *run = t->run;
	bool ok = run_ask_ended(q);

	if (run->opts.stored != NULL)
		q->duration_ms = run_stored_trial(t)->duration_ms;
	if (!ok) {
		/* events and reports repeat it: do not trust its length */
		q->error = arena_head(&q->arena, q->error, REASON_MAX);
		/* an agent that cannot run has changed nothing */
		return run->unusable ? RUN_TRIAL_FINISH : RUN_TRIAL_PATCH;
	}
	if (q->responder == NULL && skips_turns(t))
		return FAIL(t, RESULT_GRADER_ERROR, "checkpoints cannot be "
		    "graded: the executor answers all turns at once");
	return q->responder == NULL && run_check_begin(t) ? RUN_TRIAL_CHECK :
	    RUN_TRIAL_TURN;
}

/* After the answer to a prompt and its checkpoint: the next prompt. */
static enum run_trial_state
turn(struct run_trial *t)
{
	struct run_ask *q = &t->ask;

	if (t->stopped)
		run_turn_stop(t);
	switch (run_turn_next(t)) {
	case RUN_TURN_ASK:
		return RUN_TRIAL_ASK;
	case RUN_TURN_WAIT:
		run_ask_arm(q);
		return RUN_TRIAL_ASKING;
	case RUN_TURN_BAD:
		return FAIL(t, RESULT_INFRA, "%.*s", STRF(q->error));
	case RUN_TURN_LAST:
		break;
	}
	/* a call that was lost may have used one */
	agent_policy_note(&q->job);
	if (run_skills_find(q) && !q->job.ans.no_calls)
		q->job.ans.skills_known |= reports_skills(t);
	return RUN_TRIAL_PATCH;
}

/* A replay can only repeat attempts that were recorded. */
static bool
may_retry(const struct run_trial *t)
{
	const struct run *run = t->run;
	struct agent_request next = t->ask.req;

	next.attempt++;
	return t->ask.req.attempt < run->suite->config.max_attempts &&
	    !t->ask.cancelled && !run->cancelled &&
	    run->opts.stored == NULL && agent_has_answer(run->agent, &next);
}

/* Only a failure is worth another attempt. */
static enum run_trial_state
graded(struct run_trial *t)
{
	struct run_ask *q = &t->ask;

	if (!run_decide(t))
		return RUN_TRIAL_FINISH;
	if (q->status != RESULT_FAILED || !may_retry(t))
		return RUN_TRIAL_FINISH;
	answer_add_usage(&t->earlier, &q->job.ans.usage);
	run_turn_end(t);
	run_ask_free(q);
	run_ask_init(q, t->run, q->task, q->req.trial, q->req.attempt + 1);
	t->verdicts = NULL;
	t->nverdicts = t->grader = t->nchecks = 0;
	t->checks = NULL;
	t->stopped = false;
	t->fetch = (struct run_fetch){ 0 };
	t->dialog = (struct run_dialog){ 0 };
	return RUN_TRIAL_PREPARE;
}

/* Why the trial failed, as far as an event reports it; or empty. */
static struct str
feedback_of(const struct run_trial *t)
{
	const struct verdict *v;
	size_t i;

	for (i = 0; t->ask.status == RESULT_FAILED && i < t->nverdicts; i++) {
		v = &t->verdicts[i];
		if (!v->passed && !v->skipped && !v->advisory)
			return utf8_cut(v->feedback, EVENT_FEEDBACK_MAX);
	}
	return STR("");
}

static void
emit(struct run_trial *t, enum event_type type)
{
	struct result_run *r = &t->run->results;
	struct result_task *task = &r->tasks[t->task];
	struct result_trial *trial = &task->trials[t->trial];
	struct event ev = { .type = type, .run_id = str_of(r->run_id),
		.idx = (int64_t)t->task, .total = (int64_t)r->ntasks,
		.task = task->spec->id, .name = task->spec->name,
		.trial = t->ask.req.trial, .attempt = t->ask.req.attempt,
		.trials = (int64_t)r->trials, .source.run = r };

	if (type == EVENT_TRIAL_COMPLETE) {
		ev.status = str_of(result_word(t->ask.status));
		ev.error_class = str_of(result_class(t->ask.status));
		ev.error = t->ask.error;
		ev.feedback = feedback_of(t);
		ev.score = trial->score;
		ev.took_ms = t->ask.duration_ms;
		ev.cached = t->cached;
		ev.source = (struct event_source){ trial, task, r };
	}
	event_emit(t->run->bus, &ev);
}

static void
add_note(struct run_trial *t, struct result_record *r, struct str note)
{
	if (note.n > 0)
		r->note = arena_fmt(&t->ask.arena, "%.*s%s%.*s",
		    STRF(r->note), r->note.n > 0 ? "; " : "", STRF(note));
}

/* The place of the description of the suite's skill, or empty. */
static struct str
skill_place(struct run_trial *t)
{
	struct run_ask *q = &t->ask;
	const struct run_skill *s = run_find_skill(&q->skills,
	    t->run->suite->skill);

	if (s == NULL)
		return STR("");
	return s->spec->line == 0 ? str_of(s->spec->file) :
	    arena_fmt(&q->arena, "%s:%u", s->spec->file, s->spec->line);
}

/* The note and, if it is kept, the workspace. */
static void
describe(struct run_trial *t, struct result_record *r)
{
	const struct run_ask *q = &t->ask;

	r->note = t->dialog.note;
	r->skills_way = str_of(run_skills_word(q));
	r->skill_at = skill_place(t);
	add_note(t, r, q->skills.note);
	if (q->job.req != NULL && agent_is_loose(t->run->agent))
		add_note(t, r, STR("not confined: the agent could write "
		    "outside of the workspace"));
	if (q->job.ans.refused)
		add_note(t, r, STR("the agent refused to answer"));
	if (t->run->opts.keep_workspace && q->dir != NULL) {
		r->workspace = str_of(q->req.workspace);
		add_note(t, r, arena_fmt(&t->ask.arena, "workspace kept at %s",
		    q->req.workspace));
	}
	if (t->run->opts.stored != NULL) {
		r->previous = run_stored_trial(t)->node;
		r->note = t->old_verdicts ? STR("verdicts on the agent's files "
		    "are those of the run") : STR("");
	}
}

static enum run_trial_state
doubt(struct run_trial *t)
{
	t->doubted = true;
	t->retry = RUN_TRIAL_FINISH;
	timer_once(t->run->loop, &t->pause, RUN_DOUBT_MS, on_pause, t);
	return RUN_TRIAL_PAUSED;
}

/* For the event of the task. */
static void
keep_reason(const struct run_trial *t)
{
	struct str feedback = feedback_of(t);
	struct run_rare *r;

	if (t->ask.error.n + feedback.n == 0)
		return;
	r = run_need_rare(t->run, t->task);
	if (r->error.n == 0)
		buf_put(&r->error, t->ask.error);
	if (r->feedback.n == 0)
		buf_put(&r->feedback, feedback);
}

/*
 * The journal is written before the event is sent, so that a reported result
 * is never lost.  A cancelled trial is neither recorded nor reported.
 */
static enum run_trial_state
finish(struct run_trial *t)
{
	struct run_ask *q = &t->ask;
	struct run *run = t->run;
	struct err e = { 0 };
	struct result_record r = { .task = t->task, .trial = t->trial,
		.number = q->req.trial, .status = q->status, .attempts = q->req.attempt,
		.duration_ms = q->duration_ms, .started_ns = q->started_ns,
		.answer = q->job.req != NULL ? &q->job.ans : NULL,
		.verdicts = t->verdicts, .nverdicts = t->nverdicts,
		.checks = t->checks, .nchecks = t->nchecks,
		.error = q->error, .judge_usage = t->judged,
		.earlier = t->earlier,
		.replayed = run->agent->kind->replays };

	if (!t->doubted && !t->cached && run_ask_doubts(q))
		return doubt(t);
	if (t->doubted && q->cancelled)
		q->status = RESULT_CANCELLED;
	run_skills_remove(q);
	run_ask_record(q);
	run_turn_end(t);
	run_mocks_add(q);
	run_patch_drop(t);
	/* the task's prompt, not that of the last turn */
	r.prompt = t->dialog.prompt.n > 0 ? t->dialog.prompt : q->req.prompt;
	describe(t, &r);
	keep_reason(t);
	if (q->status != RESULT_CANCELLED) {
		if (!t->cached && result_add(&run->results, &r, &e) == -1)
			run_abort(run, &e);
		run_budget_charge(run, t->task, &run->results.tasks[t->task].
		    trials[t->trial], loop_clock(run->loop) - t->began);
		run_check_journal(run);
		run_cache_keep(t);
		emit(t, EVENT_TRIAL_COMPLETE);
	}
	run_ask_free(q);
	t->state = RUN_TRIAL_IDLE;
	run_trial_ended(run, t);
	return t->state;	/* the slot may hold another trial now */
}

void
run_trial_start(struct run_trial *t, size_t task, size_t trial)
{
	const struct result_task *r = &t->run->results.tasks[task];

	*t = (struct run_trial){ .run = t->run, .state = RUN_TRIAL_PREPARE,
		.task = task, .trial = trial,
		.began = loop_clock(t->run->loop) };
	run_ask_init(&t->ask, t->run, r->spec, result_number(r, trial), 1);
	emit(t, EVENT_TRIAL_START);
}

void
run_trial_go(struct run_trial *t)
{
	/* a state without a function waits for the loop */
	static enum run_trial_state (*const step[])(struct run_trial *) = {
		[RUN_TRIAL_PREPARE] = prepare,
		[RUN_TRIAL_JUDGED] = judged, [RUN_TRIAL_FETCH] = fetch,
		[RUN_TRIAL_FILL] = fill, [RUN_TRIAL_SCAN] = scan,
		[RUN_TRIAL_ASK] = ask, [RUN_TRIAL_ANSWERED] = answered,
		[RUN_TRIAL_CHECK] = run_check, [RUN_TRIAL_TURN] = turn,
		[RUN_TRIAL_PATCH] = make_patch,
		[RUN_TRIAL_GRADE] = run_grade, [RUN_TRIAL_GRADED] = graded,
		[RUN_TRIAL_FINISH] = finish, [RUN_TRIAL_WAITING] = NULL
	};

	t->going = true;
	while (step[t->state] != NULL)
		t->state = step[t->state](t);
	t->going = false;
}

/* Cancelling can call back while run_trial_go() is on the stack. */
void
run_trial_resume(struct run_trial *t, enum run_trial_state state)
{
	struct run *run = t->run;

	t->state = state;
	if (t->going)
		return;
	run_trial_go(t);
	run_pump(run);
}

void
run_trial_cancel(struct run_trial *t)
{
	if (t->state == RUN_TRIAL_IDLE || t->ask.cancelled)
		return;
	t->ask.cancelled = true;
	if (t->state == RUN_TRIAL_FETCHING)
		run_fetch_cancel(t);
	else if (t->state == RUN_TRIAL_ASKING)
		run_ask_cancel(&t->ask);
	else if (t->state == RUN_TRIAL_GRADING)
		grader_cancel(&t->grading);
	else if (t->state == RUN_TRIAL_WAITING)
		procs_wake(t->run->procs);
	else if (t->state == RUN_TRIAL_PAUSED) {
		timer_stop(t->run->loop, &t->pause);
		run_trial_resume(t, t->retry);
	}
}

void
run_trial_drop(struct run_trial *t)
{
	procs_wait_stop(&t->wait.room);
	timer_stop(t->run->loop, &t->pause);
	run_patch_drop(t);
	if (t->state == RUN_TRIAL_GRADING)
		grader_drop(&t->grading);
	if (t->state == RUN_TRIAL_ASKING)
		run_ask_drop(&t->ask);
	else
		run_ask_free(&t->ask);
	t->state = RUN_TRIAL_IDLE;
}
