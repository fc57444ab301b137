/* SPDX-License-Identifier: ISC */
/*
 * One prompt to the agent: the request, its time limits, the classification of
 * a missing answer, the clean-up.
 *
 * Two timers limit an answer: the deadline of all its turns together, and the
 * time until the agent's first event.  Both cancel the agent, and the answer
 * then ends as a time-out.  An executor with own_deadline queues its jobs and
 * measures from their real start: it gets the limit and no timers.
 */
#include "run/run_internal.h"

#include <stdio.h>
#include <sys/stat.h>

#include "base/os.h"

int64_t
run_timeout_ms(const struct run *run, const struct spec_task *task)
{
	if (run->opts.timeout_seconds > 0)
		return run->opts.timeout_seconds * 1000;
	if (task->def->timeout_seconds > 0)
		return task->def->timeout_seconds * 1000;
	return run->suite->config.timeout_seconds * 1000;
}

bool
run_must_wait(struct run *run, struct run_wait *w, uint64_t shortages,
    const struct spec_task *task, void (*fn)(void *), void *arg)
{
	int64_t now = loop_clock(run->loop);
	int64_t most = task != NULL ? run_timeout_ms(run, task) :
	    run->suite->config.timeout_seconds * 1000;

	if (run->procs->shortages == shortages) {
		w->since = 0;
		return false;
	}
	w->since = w->since == 0 ? now : w->since;
	if (run->cancelled || now - w->since > most)
		return false;
	w->began = now;
	w->room = (struct procs_wait){ .fn = fn, .arg = arg };
	procs_wait(run->procs, &w->room);
	return true;
}

int64_t
run_waited(const struct run *run, const struct run_wait *w)
{
	return loop_clock(run->loop) - w->began;
}

static int64_t
first_event_ms(const struct run_ask *q)
{
	if (q->task->def->first_event_timeout_seconds > 0)
		return q->task->def->first_event_timeout_seconds * 1000;
	return q->run->suite->config.first_event_timeout_seconds * 1000;
}

void
run_ask_init(struct run_ask *q, struct run *run, const struct spec_task *task,
    unsigned number, unsigned attempt)
{
	*q = (struct run_ask){ .run = run, .task = task,
		.started = loop_clock(run->loop), .started_ns = os_wall_ns() };
	q->vars = (struct tmpl_vars){ .job_id = str_of(run->results.run_id),
		.task_name = task->name, .timestamp = str_of(run->timestamp),
		.iteration = number, .attempt = attempt,
		.vars = { spec_vars(&q->arena, task), run->suite->inputs } };
	q->req = (struct agent_request){ .task = task, .prompt = STR(""),
		.model = run->results.model, .run_id = run->results.run_id,
		.trial = number, .attempt = attempt,
		.vars = &q->vars, .no_skills = run->opts.no_skills,
		.ref_skills = run->opts.ref != NULL };
}

void
run_ask_fail(struct run_ask *q, enum result_status status, const char *fmt,
    ...)
{
	va_list ap;

	va_start(ap, fmt);
	q->error = arena_head(&q->arena, arena_vfmt(&q->arena, fmt, ap),
	    REASON_MAX);
	va_end(ap);
	q->status = status;
}

static void
interrupt(struct run_ask *q)
{
	if (q->responder != NULL)
		judge_cancel(q->responder);
	else
		agent_cancel(q->run->agent, &q->job);
}

void
run_ask_cancel(struct run_ask *q)
{
	q->cancelled = true;
	interrupt(q);
}

static void
on_deadline(void *arg)
{
	struct run_ask *q = arg;

	q->timed_out = true;
	interrupt(q);
}

static void
on_silence(void *arg)
{
	struct run_ask *q = arg;

	q->silent = true;
	on_deadline(q);
}

static void
on_event(void *arg, enum agent_event type, struct str detail)
{
	struct run_ask *q = arg;

	timer_stop(q->run->loop, &q->first_event);
	if (q->progress != NULL)
		q->progress(q->arg, type, detail);
}

static void
on_done(void *arg)
{
	struct run_ask *q = arg;

	q->done(q->arg);
}

void
run_ask_arm(struct run_ask *q)
{
	int64_t left = run_timeout_ms(q->run, q->task) -
	    (loop_clock(q->run->loop) - q->started);

	timer_start(q->run->loop, &q->deadline, left > 0 ? left : 0);
}

bool
run_ask_start(struct run_ask *q, void (*progress)(void *, enum agent_event,
    struct str), void (*done)(void *), void *arg)
{
	struct run *run = q->run;
	int64_t first = first_event_ms(q);

	q->progress = progress;
	q->done = done;
	q->arg = arg;
	q->req.timeout_ms = run_timeout_ms(run, q->task);
	q->job = (struct agent_job){ .req = &q->req, .arena = &q->arena,
		.event = on_event, .done = on_done, .arg = q };
	q->deadline = (struct timer){ .fn = on_deadline, .arg = q };
	q->first_event = (struct timer){ .fn = on_silence, .arg = q };
	if (agent_start(run->agent, &q->job) == AGENT_DONE)
		return true;
	if (run->agent->kind->own_deadline)
		return false;
	run_ask_arm(q);
	if (first > 0)
		timer_start(run->loop, &q->first_event, first);
	return false;
}

/* A recorded answer brings its duration, and maybe a warning. */
static void
apply_recording(struct run_ask *q)
{
	const struct answer *ans = &q->job.ans;

	if (ans->took_ms > 0)
		q->duration_ms = ans->took_ms;
	q->timed_out = q->timed_out || ans->late;
	if (ans->note.n > 0)
		run_warn(q->run, "recording_differs",
		    arena_str(&q->arena, ans->note).p);
}

/* The other trials would only repeat the reason. */
void
run_stop(struct run *run, struct str why)
{
	const struct result_run *r = &run->results;
	struct err e;

	if (run->unusable)
		return;
	run->unusable = true;
	err_set(&e, ERR_SYS, "%.*s; the other trials are not started",
	    STRF(why));
	if (r->ntasks * r->trials + r->triggers.n > 1)
		run_warn(run, "executor_unusable", e.msg);
}

/* Whether graders, and the next turn, would miss the directory. */
static bool
lost_workspace(const struct run_ask *q)
{
	struct stat st;

	return q->req.workspace != NULL && (lstat(q->req.workspace, &st) != 0 ||
	    !S_ISDIR(st.st_mode));
}

bool
run_ask_doubts(const struct run_ask *q)
{
	const struct agent_kind *k = q->run->agent->kind;

	return q->run->opts.shards > 0 && !q->cancelled &&
	    q->status > RESULT_PASSED && q->status != RESULT_CANCELLED &&
	    q->job.req != NULL && !k->scripted && !k->replays;
}

bool
run_ask_ended(struct run_ask *q)
{
	const struct answer *ans = &q->job.ans;
	struct run *run = q->run;

	run->queue.alone = false;
	timer_stop(run->loop, &q->deadline);
	timer_stop(run->loop, &q->first_event);
	q->duration_ms = loop_clock(run->loop) - q->started;
	apply_recording(q);
	/* a cancelled agent reports an error, too: the cause comes first */
	if (q->cancelled)
		run_ask_fail(q, RESULT_CANCELLED, "cancelled");
	else if (q->silent)
		run_ask_fail(q, RESULT_TIMEOUT, "no sign of life within "
		    "%lld s", (long long)first_event_ms(q) / 1000);
	else if (q->timed_out && run->agent->kind->own_deadline)
		run_ask_fail(q, RESULT_TIMEOUT, "%.*s", STRF(ans->error));
	else if (q->timed_out)
		run_ask_fail(q, RESULT_TIMEOUT, "no answer within %lld s",
		    (long long)run_timeout_ms(run, q->task) / 1000);
	else if (ans->fault != ANSWER_OK) {
		q->status = ans->fault == ANSWER_INFRA ||
		    ans->fault == ANSWER_UNUSABLE ? RESULT_INFRA :
		    RESULT_AGENT_ERROR;
		q->error = ans->error;
		if (ans->fault == ANSWER_UNUSABLE)
			run_stop(run, q->error);
	} else if (lost_workspace(q))
		run_ask_fail(q, RESULT_AGENT_ERROR, "the agent removed its "
		    "workspace");
	else
		return true;
	return false;
}

void
run_ask_record(struct run_ask *q)
{
	if (q->job.req != NULL && q->status != RESULT_CANCELLED)
		run_record_end(&q->record, &q->req, &q->job.ans,
		    q->duration_ms, q->timed_out);
}

void
run_ask_free(struct run_ask *q)
{
	struct run *run = q->run;
	struct err e;

	run_record_drop(&q->record);
	run_mocks_remove(q);
	run_remove_home(q);
	if (q->dir != NULL && !run->opts.keep_workspace &&
	    workspace_release(&run->pool, q->dir, &e) == -1)
		run_warn(run, "workspace_left", e.msg);
	q->dir = NULL;
	arena_free(&q->arena);
}

void
run_ask_drop(struct run_ask *q)
{
	timer_stop(q->run->loop, &q->deadline);
	timer_stop(q->run->loop, &q->first_event);
	if (q->responder != NULL)
		judge_drop(q->responder);
	else
		agent_drop(q->run->agent, &q->job);
	run_ask_free(q);
}
