/* SPDX-License-Identifier: ISC */
/*
 * A task of a run: its hooks and trials, from its begin to its status.
 *
 *	NEW -> HOOKING (before_task) -> OPEN -> CLOSING (after_task) -> ENDED
 *
 * A task whose trials are all known skips the states between; so does one
 * whose before_task hooks failed.
 */
#include "run/run_internal.h"

#include "results/event.h"

/* The message of the first error of a task, wherever it is known. */
static struct str
task_error(const struct run *run, size_t i)
{
	struct str own = run->results.tasks[i].error;
	struct str trial = buf_str(&run->queue.tasks[i].error);

	return own.n > 0 ? own : trial.n > 0 ? trial :
	    run_stored_error(run, i);
}

static void
emit_task(struct run *run, size_t i, enum event_type type)
{
	struct result_task *t = &run->results.tasks[i];
	struct event ev = { .type = type,
		.run_id = str_of(run->results.run_id), .idx = (int64_t)i,
		.total = (int64_t)run->results.ntasks, .task = t->spec->id,
		.name = t->spec->name, .prompt = t->spec->inputs.prompt,
		.trials = (int64_t)run->results.trials };

	if (type == EVENT_TASK_COMPLETE) {
		ev.status = str_of(result_word(t->status));
		ev.error_class = str_of(result_class(t->status));
		if (result_is_error(t->status) || t->status == RESULT_SKIPPED)
			ev.error = task_error(run, i);
		ev.score = t->stats.avg;
		ev.took_ms = t->stats.avg_ms;
		ev.source.task = t;
		ev.source.run = &run->results;
	}
	event_emit(run->bus, &ev);
}

static void
end_task(struct run *run, size_t i)
{
	struct result_task *t = &run->results.tasks[i];

	run->queue.tasks[i].phase = RUN_TASK_ENDED;
	run->dirty = true;
	if ((run->cancelled || run->unusable) && t->done < t->ntrials &&
	    t->error.n == 0)
		return;			/* incomplete: no status */
	result_end_task(&run->results, i);
	emit_task(run, i, EVENT_TASK_COMPLETE);
	buf_free(&run->queue.tasks[i].error);
	if (t->status != RESULT_PASSED && t->status != RESULT_SKIPPED &&
	    run->opts.stored == NULL &&
	    (run->suite->config.fail_fast || run->opts.fail_fast))
		run->queue.stopped = true;
}

static bool start_hooks(struct run *, size_t task, enum spec_hook_kind,
    void (*done)(void *));

static void
after_hooks(void *arg)
{
	struct run_task *t = arg;
	struct run *run = t->run;

	if (t->hooks->err.code != ERR_NONE)
		run_warn(run, "hook_failed", t->hooks->err.msg);
	t->hooks = NULL;
	run->queue.hooking--;
	end_task(run, (size_t)(t - run->queue.tasks));
	run_pump(run);
}

static void
close_task(struct run *run, size_t i)
{
	struct run_task *t = &run->queue.tasks[i];

	t->phase = RUN_TASK_CLOSING;
	if (!start_hooks(run, i, SPEC_AFTER_TASK, after_hooks))
		end_task(run, i);
}

size_t
run_next_trial(struct run *run, size_t i)
{
	struct result_task *r = &run->results.tasks[i];
	struct run_task *t = &run->queue.tasks[i];

	while (t->next < r->ntrials &&
	    r->trials[t->next].status != RESULT_NONE)
		t->next++;		/* resumed, or imported */
	return t->next;
}

void
run_trial_ended(struct run *run, struct run_trial *trial)
{
	struct run_task *t = &run->queue.tasks[trial->task];

	run->queue.busy--;
	run_release_slot(run);
	t->running--;
	run->dirty = true;
	if (t->running == 0 && (run->cancelled || run->unusable ||
	    run_next_trial(run, trial->task) ==
	    run->results.tasks[trial->task].ntrials))
		close_task(run, trial->task);
}

static void
open_task(struct run *run, size_t i)
{
	struct run_queue *q = &run->queue;
	struct run_task *t = &q->tasks[i];

	t->phase = RUN_TASK_OPEN;
	if (q->open == NULL)
		q->open = t;
	else
		q->last_open->next_open = t;
	q->last_open = t;
	emit_task(run, i, EVENT_TASK_START);
}

static void
before_hooks(void *arg)
{
	struct run_task *t = arg;
	struct run *run = t->run;
	size_t i = (size_t)(t - run->queue.tasks);
	struct err e = t->hooks->err;

	t->hooks = NULL;
	run->queue.hooking--;
	if (e.code == ERR_NONE && !run->cancelled) {
		open_task(run, i);
	} else {
		if (e.code != ERR_NONE)
			run->results.tasks[i].error =
			    arena_str(&run->arena, str_of(e.msg));
		end_task(run, i);
	}
	run_pump(run);
}

bool
run_has_hooks(const struct run *run, enum spec_hook_kind kind)
{
	return run->suite->hooks[kind].n > 0 && run->opts.stored == NULL;
}

/* False if there are no hooks; otherwise done() follows. */
static bool
start_hooks(struct run *run, size_t i, enum spec_hook_kind kind,
    void (*done)(void *))
{
	struct run_task *t = &run->queue.tasks[i];

	if (!run_has_hooks(run, kind))
		return false;
	t->hooks = NEW(&run->arena, struct run_hooks);
	run->queue.hooking++;
	run_hooks_start(t->hooks, run, kind, run->results.tasks[i].spec, done,
	    t);
	return true;
}

void
run_begin_task(struct run *run, size_t i)
{
	struct run_task *t = &run->queue.tasks[i];

	if (run->results.tasks[i].imported != NULL) {
		t->phase = RUN_TASK_ENDED;	/* imported: no events */
		return;
	}
	if (run_next_trial(run, i) == run->results.tasks[i].ntrials) {
		end_task(run, i);	/* the journal has all its trials */
		return;
	}
	t->phase = RUN_TASK_HOOKING;
	if (!start_hooks(run, i, SPEC_BEFORE_TASK, before_hooks))
		open_task(run, i);
}
