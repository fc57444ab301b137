/* SPDX-License-Identifier: ISC */
/*
 * One trial: a workspace, an answer, verdicts, a record.  The states are in
 * run_internal.h; each has its function, which says what comes next.
 */
#include "run/run_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/os.h"
#include "json.h"
#include "results/event.h"

const struct spec_task *
run_trial_spec(const struct run_trial *t)
{
	return t->run->results.tasks[t->task].spec;
}

int64_t
run_trial_timeout_ms(const struct run *run, const struct spec_task *task)
{
	if (run->opts.timeout_seconds > 0)
		return run->opts.timeout_seconds * 1000;
	if (task->timeout_seconds > 0)
		return task->timeout_seconds * 1000;
	return run->suite->config.timeout_seconds * 1000;
}

static int64_t
first_event_ms(const struct run *run, const struct spec_task *task)
{
	if (task->first_event_timeout_seconds > 0)
		return task->first_event_timeout_seconds * 1000;
	return run->suite->config.first_event_timeout_seconds * 1000;
}

/* The trial is decided, by an error. */
static enum run_trial_state PRINTF(3, 4)
fail(struct run_trial *t, enum result_status status, const char *fmt, ...)
{
	struct err e;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(e.msg, sizeof(e.msg), fmt, ap);
	va_end(ap);
	t->status = status;
	t->error = arena_str(&t->arena, str_of(e.msg));
	return RUN_TRIAL_FINISH;
}

static enum run_trial_state
prepare(struct run_trial *t)
{
	const struct spec_task *task = run_trial_spec(t);
	struct run *run = t->run;
	struct err e = { 0 };

	t->timed_out = t->silent = false;
	t->prompt = t->error = t->fetched = STR("");
	t->verdicts = NULL;
	t->nverdicts = t->grader = 0;
	t->started = loop_clock(run->loop);
	t->wall_ns = os_wall_ns();
	t->vars = (struct tmpl_vars){ .job_id = str_of(run->results.run_id),
		.task_name = task->name, .timestamp = str_of(run->timestamp),
		.iteration = (int64_t)t->trial + 1, .attempt = t->req.attempt,
		.vars = { task->vars, run->suite->inputs } };
	t->req.task = task;
	t->req.model = run->results.model;
	t->req.run_id = run->results.run_id;
	t->req.trial = (unsigned)t->trial + 1;
	t->req.vars = &t->vars;
	t->req.no_skills = run->opts.no_skills;
	t->req.workspace = run->opts.shared_workspace;
	t->req.scratch = t->req.cwd = NULL;
	t->req.nfiles = 0;
	t->job.req = NULL;
	t->req.prompt = tmpl_render(&t->arena, task->inputs.prompt, &t->vars,
	    &e);
	if (t->req.prompt.p == NULL) {
		t->req.prompt = STR("");
		return fail(t, RESULT_INFRA, "prompt: %s", e.msg);
	}
	if (run->opts.stored != NULL) {
		run_stored_prepare(t);
		if (grader_flags(run->suite, task) & GRADER_NEEDS_DIR &&
		    run_make_workspace(t, &e) == -1)
			return fail(t, RESULT_INFRA, "%s", e.msg);
		return RUN_TRIAL_ASK;
	}
	if (t->req.attempt == 1 && run_cache_take(t))
		return RUN_TRIAL_FINISH;
	if (run_needs_workspace(t)) {
		if (run_make_workspace(t, &e) == -1)
			return fail(t, RESULT_INFRA, "%s", e.msg);
		if (run->opts.shared_workspace == NULL)
			t->req.workspace = t->dir;
		if (run_fetch(t))
			return RUN_TRIAL_FETCHING;
	}
	return RUN_TRIAL_FILL;
}

static enum run_trial_state
fill(struct run_trial *t)
{
	struct run *run = t->run;
	struct err e = { 0 };

	if (t->cancelled)
		return fail(t, RESULT_CANCELLED, "cancelled");
	if (t->error.n > 0)
		return fail(t, RESULT_INFRA, "%.*s", STRF(t->error));
	if (t->dir != NULL && run_fill_workspace(t, &e) == -1)
		return fail(t, RESULT_INFRA, "%s", e.msg);
	if (run_make_home(run, &t->arena, &t->req, &e) == -1 ||
	    run_turn_first(t, &e) == -1)
		return fail(t, RESULT_INFRA, "%s", e.msg);
	t->started = loop_clock(run->loop);
	run_record_start(run, &t->record, &t->req);
	return RUN_TRIAL_ASK;
}

static void
on_answer(void *arg)
{
	struct run_trial *t = arg;
	struct run *run = t->run;

	t->state = RUN_TRIAL_ANSWERED;
	if (t->going)			/* from within agent_cancel */
		return;
	run_trial_go(t);
	run_pump(run);
}

static void
on_event(void *arg, enum agent_event type, struct str detail)
{
	static const char *const steps[] = {
		[AGENT_STEP] = "executing", [AGENT_TEXT] = "answering",
		[AGENT_TOOL] = "tool"
	};
	struct run_trial *t = arg;
	struct event ev = { .type = EVENT_TASK_PROGRESS,
		.run_id = str_of(t->run->results.run_id),
		.idx = (int64_t)t->task, .task = run_trial_spec(t)->id,
		.name = run_trial_spec(t)->name, .trial = (int64_t)t->trial + 1,
		.step = str_of(steps[type]), .detail = detail };

	timer_stop(t->run->loop, &t->first);
	event_emit(t->run->bus, &ev);
}

static void
on_deadline(void *arg)
{
	struct run_trial *t = arg;

	t->timed_out = true;
	if (t->responding)
		judge_cancel(&t->reply);
	else
		agent_cancel(t->run->agent, &t->job);
}

static void
on_silence(void *arg)
{
	struct run_trial *t = arg;

	t->silent = true;
	on_deadline(t);
}

/* Of the trial's, for all its turns together. */
static int64_t
time_left(const struct run_trial *t)
{
	int64_t left = run_trial_timeout_ms(t->run, run_trial_spec(t)) -
	    (loop_clock(t->run->loop) - t->started);

	return left > 0 ? left : 0;
}

static enum run_trial_state
ask(struct run_trial *t)
{
	struct run *run = t->run;
	int64_t first = first_event_ms(run, run_trial_spec(t));

	if (t->cancelled)
		return fail(t, RESULT_CANCELLED, "cancelled");
	t->req.timeout_ms = run_trial_timeout_ms(run, run_trial_spec(t));
	t->job = (struct agent_job){ .req = &t->req, .arena = &t->arena,
		.event = on_event, .done = on_answer, .arg = t };
	t->deadline = (struct timer){ .fn = on_deadline, .arg = t };
	t->first = (struct timer){ .fn = on_silence, .arg = t };
	if (agent_start(run->agent, &t->job) == AGENT_DONE)
		return RUN_TRIAL_ANSWERED;
	if (run->agent->kind->own_deadline)
		return RUN_TRIAL_ASKING;
	timer_start(run->loop, &t->deadline, time_left(t));
	if (first > 0)
		timer_start(run->loop, &t->first, first);
	return RUN_TRIAL_ASKING;
}

/*
 * What the baseline answered in the same trial, for graders that compare.
 * Errors of graders leave the answer; other errors have none.
 */
static void
find_baseline(struct run_trial *t)
{
	const struct result_run *base = t->run->opts.baseline;
	const struct result_trial *trial;
	const struct json *output;
	struct err e;

	if (base == NULL || t->task >= base->ntasks ||
	    base->tasks[t->task].spec != run_trial_spec(t) ||
	    t->trial >= base->tasks[t->task].ntrials)
		return;
	trial = &base->tasks[t->task].trials[t->trial];
	if (trial->status != RESULT_PASSED && trial->status != RESULT_FAILED &&
	    trial->status != RESULT_GRADER_ERROR &&
	    trial->status != RESULT_JUDGE_ERROR)
		return;
	output = json_getc(result_read(&t->arena, base, trial, &e),
	    "final_output");
	if (output == NULL || output->type != JSON_STRING)
		return;
	t->in.baseline = json_text(output);
	t->in.has_baseline = true;
}

/* Whether an answer without skills says that none was used. */
static bool
tells_skills(const struct run *run, const struct spec_task *task)
{
	const struct agent_kind *k = run->agent->kind;

	if (run->opts.no_skills || run->opts.stored != NULL || k->all_turns)
		return false;
	return agent_skills(k, run->suite, task) == AGENT_SKILLS_REPORTED;
}

static enum run_trial_state
answered(struct run_trial *t)
{
	struct run *run = t->run;
	const struct answer *ans = &t->job.ans;

	timer_stop(run->loop, &t->deadline);
	timer_stop(run->loop, &t->first);
	t->duration_ms = run->opts.stored != NULL ? run_stored_ms(t) :
	    loop_clock(run->loop) - t->started;
	run_replayed(run, ans, &t->duration_ms, &t->timed_out);
	if (t->cancelled)
		return fail(t, RESULT_CANCELLED, "cancelled");
	if (t->silent)
		return fail(t, RESULT_TIMEOUT, "no sign of life within %lld s",
		    (long long)first_event_ms(run, run_trial_spec(t)) / 1000);
	if (t->timed_out && run->agent->kind->own_deadline)
		return fail(t, RESULT_TIMEOUT, "%.*s", STRF(ans->error));
	if (t->timed_out)
		return fail(t, RESULT_TIMEOUT, "no answer within %lld s",
		    (long long)run_trial_timeout_ms(run,
		    run_trial_spec(t)) / 1000);
	if (ans->fault != ANSWER_OK)
		return fail(t, ans->fault == ANSWER_INFRA ? RESULT_INFRA :
		    RESULT_AGENT_ERROR, "%.*s", STRF(ans->error));
	switch (run_turn_next(t)) {
	case RUN_TURN_ASK:
		return RUN_TRIAL_ASK;
	case RUN_TURN_WAIT:
		timer_start(run->loop, &t->deadline, time_left(t));
		return RUN_TRIAL_ASKING;
	case RUN_TURN_BAD:
		return fail(t, RESULT_INFRA, "%.*s", STRF(t->error));
	case RUN_TURN_OVER:
		break;
	}
	t->job.ans.skills_known |= tells_skills(run, run_trial_spec(t)) &&
	    !t->told_skills;
	run_record_end(&t->record, &t->req, ans, t->duration_ms, false);
	t->in = (struct grader_input){ .suite = run->suite,
		.task = run_trial_spec(t), .answer = ans,
		.workspace = t->req.workspace, .vars = &t->vars,
		.update_snapshots = run->opts.update_snapshots,
		.duration_ms = t->duration_ms, .procs = run->procs,
		.scratch = t->req.scratch, .empty_dir = t->dir,
		.judges = &run->judges,
		.no_skills = run->opts.no_skills,
		.trial = t->req.trial, .attempt = t->req.attempt };
	find_baseline(t);
	return RUN_TRIAL_GRADE;
}

static size_t
count_graders(const struct run_trial *t)
{
	return t->run->suite->graders.n + run_trial_spec(t)->graders.n;
}

static void
on_verdict(void *arg)
{
	struct run_trial *t = arg;
	struct run *run = t->run;

	t->verdicts[t->nverdicts++] = t->grading.out;
	t->state = RUN_TRIAL_GRADE;
	if (t->going)
		return;
	run_trial_go(t);
	run_pump(run);
}

/* The suite's graders first, then the task's; then what is expected. */
static enum run_trial_state
grade(struct run_trial *t)
{
	const struct spec_graders *suite = &t->run->suite->graders;
	const struct spec_graders *task = &run_trial_spec(t)->graders;
	struct verdict *more;
	size_t n;

	if (t->verdicts == NULL)
		t->verdicts = NEW_N(&t->arena, struct verdict,
		    count_graders(t) + 1);
	if (t->cancelled)
		return fail(t, RESULT_CANCELLED, "cancelled");
	if (t->grader < count_graders(t)) {
		t->grading = (struct grading){ .in = &t->in,
			.arena = &t->arena, .done = on_verdict, .arg = t };
		t->grading.spec = t->grader < suite->n ?
		    &suite->v[t->grader] : &task->v[t->grader - suite->n];
		t->grader++;
		t->in.grader_failed |= t->nverdicts > 0 &&
		    t->verdicts[t->nverdicts - 1].error.n > 0;
		if (t->run->opts.stored != NULL && run_stored_verdict(t,
		    t->grading.spec, &t->verdicts[t->nverdicts])) {
			t->nverdicts++;
			return RUN_TRIAL_GRADE;
		}
		if (grader_start(&t->grading) == GRADER_LATER)
			return RUN_TRIAL_GRADING;
		t->verdicts[t->nverdicts++] = t->grading.out;
		return RUN_TRIAL_GRADE;
	}
	more = grader_expected(&t->arena, &t->in, &n);
	if (n > 0) {
		struct verdict *all = NEW_N(&t->arena,
		    struct verdict, t->nverdicts + n);

		if (t->nverdicts > 0)
			memcpy(all, t->verdicts, t->nverdicts * sizeof(*all));
		memcpy(all + t->nverdicts, more, n * sizeof(*all));
		t->verdicts = all;
		t->nverdicts += n;
	}
	return RUN_TRIAL_GRADED;
}

static void
clean_up(struct run_trial *t)
{
	struct err e;

	run_remove_home(t->run, &t->req);
	if (t->dir != NULL && !t->run->opts.keep_workspace &&
	    workspace_give(&t->run->pool, t->dir, &e) == -1)
		run_warn(t->run, "workspace_left", e.msg);
	t->dir = NULL;
}

static enum run_trial_state
graded(struct run_trial *t)
{
	struct run *run = t->run;
	const struct verdict *v;
	int64_t most = run->suite->config.max_attempts;
	struct agent_request next = t->req;

	next.attempt++;
	t->status = RESULT_PASSED;
	if (t->nverdicts == 0 && !run->opts.allow_ungraded)
		return fail(t, RESULT_GRADER_ERROR,
		    "nothing graded this trial: the task has no grader and no "
		    "expected block");
	for (v = t->verdicts; v < t->verdicts + t->nverdicts; v++) {
		if (v->error.n > 0)
			return fail(t, v->judge ? RESULT_JUDGE_ERROR :
			    RESULT_GRADER_ERROR, "grader \"%.*s\": %.*s",
			    STRF(v->name), STRF(v->error));
		if (!v->passed && !v->advisory)
			t->status = RESULT_FAILED;
	}
	if (t->status == RESULT_FAILED && t->req.attempt < most &&
	    !t->cancelled && !run->cancelled && run->opts.stored == NULL &&
	    agent_has_answer(run->agent, &next)) {
		run_turn_end(t);
		clean_up(t);
		arena_free(&t->arena);
		t->req.attempt++;
		return RUN_TRIAL_PREPARE;
	}
	return RUN_TRIAL_FINISH;
}

static void
tell(struct run_trial *t, enum event_type type)
{
	struct result_task *task = &t->run->results.tasks[t->task];
	struct result_trial *trial = &task->trials[t->trial];
	struct event ev = { .type = type,
		.run_id = str_of(t->run->results.run_id),
		.idx = (int64_t)t->task,
		.total = (int64_t)t->run->results.ntasks,
		.task = task->spec->id, .name = task->spec->name,
		.trial = (int64_t)t->trial + 1, .attempt = t->req.attempt,
		.trials = (int64_t)t->run->results.trials };

	if (type == EVENT_TRIAL_COMPLETE) {
		ev.status = str_of(result_word(t->status));
		ev.error_class = str_of(result_class(t->status));
		ev.error = t->error;
		ev.score = trial->score;
		ev.took_ms = t->duration_ms;
		ev.cached = t->cached;
		ev.source.trial = trial;
		ev.source.task = task;
		ev.source.run = &t->run->results;
	}
	event_emit(t->run->bus, &ev);
}

/* Kept first, told afterwards. */
static enum run_trial_state
finish(struct run_trial *t)
{
	struct result_record r = { .task = t->task, .trial = t->trial,
		.status = t->status, .attempts = t->req.attempt,
		.duration_ms = t->duration_ms, .started_ns = t->wall_ns,
		.answer = &t->job.ans,
		.verdicts = t->verdicts, .nverdicts = t->nverdicts,
		.prompt = t->req.prompt, .error = t->error };
	struct run *run = t->run;
	struct err e = { 0 };

	if (t->job.req == NULL)
		r.answer = NULL;
	else if (t->status != RESULT_CANCELLED)
		run_record_end(&t->record, &t->req, &t->job.ans,
		    t->duration_ms, t->timed_out);
	run_record_drop(&t->record);
	run_turn_end(t);
	r.note = t->note;
	r.prompt = t->prompt.n > 0 ? t->prompt : t->req.prompt;
	if (run->opts.keep_workspace && t->dir != NULL) {
		r.workspace = str_of(t->req.workspace);
		r.note = arena_fmt(&t->arena, "%.*s%sworkspace kept at %s",
		    STRF(r.note), r.note.n > 0 ? "; " : "",
		    t->req.workspace);
	}
	if (run->opts.stored != NULL) {
		r.previous = run_stored_node(t);
		r.note = t->old_verdicts ? STR("verdicts on the agent's files "
		    "are those of the run") : STR("");
	}
	if (result_is_error(t->status) && run->tasks[t->task].error.n == 0)
		run->tasks[t->task].error = arena_str(&run->arena, t->error);
	if (t->status != RESULT_CANCELLED) {
		if (!t->cached && result_add(&run->results, &r, &e) == -1)
			run_abort(run, &e);
		run_cache_keep(t);
		tell(t, EVENT_TRIAL_COMPLETE);
	}
	clean_up(t);
	arena_free(&t->arena);
	t->state = RUN_TRIAL_IDLE;
	run_trial_ended(run, t);
	return RUN_TRIAL_IDLE;
}

void
run_trial_start(struct run_trial *t, size_t task, size_t trial)
{
	struct run *run = t->run;

	*t = (struct run_trial){ .run = run, .state = RUN_TRIAL_PREPARE,
		.task = task, .trial = trial };
	t->req.attempt = 1;
	tell(t, EVENT_TRIAL_START);
}

void
run_trial_go(struct run_trial *t)
{
	t->going = true;
	while (t->state != RUN_TRIAL_IDLE && t->state != RUN_TRIAL_FETCHING &&
	    t->state != RUN_TRIAL_ASKING && t->state != RUN_TRIAL_GRADING) {
		switch (t->state) {
		case RUN_TRIAL_PREPARE:
			t->state = prepare(t);
			break;
		case RUN_TRIAL_FILL:
			t->state = fill(t);
			break;
		case RUN_TRIAL_ASK:
			t->state = ask(t);
			break;
		case RUN_TRIAL_ANSWERED:
			t->state = answered(t);
			break;
		case RUN_TRIAL_GRADE:
			t->state = grade(t);
			break;
		case RUN_TRIAL_GRADED:
			t->state = graded(t);
			break;
		case RUN_TRIAL_FINISH:
			t->state = finish(t);
			break;
		case RUN_TRIAL_IDLE:
		case RUN_TRIAL_FETCHING:
		case RUN_TRIAL_ASKING:
		case RUN_TRIAL_GRADING:
			break;
		}
	}
	t->going = false;
}

void
run_trial_cancel(struct run_trial *t)
{
	if (t->state == RUN_TRIAL_IDLE || t->cancelled)
		return;
	t->cancelled = true;
	if (t->state == RUN_TRIAL_FETCHING)
		run_fetch_cancel(t);
	else if (t->state == RUN_TRIAL_ASKING && t->responding)
		judge_cancel(&t->reply);
	else if (t->state == RUN_TRIAL_ASKING)
		agent_cancel(t->run->agent, &t->job);
	else if (t->state == RUN_TRIAL_GRADING)
		grader_cancel(&t->grading);
}
