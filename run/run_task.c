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

struct run_rare *
run_rare(const struct run *run, size_t i)
{
	uint32_t number = run->queue.tasks[i].rare;

	return number == 0 ? NULL :
	    ((struct run_rare **)(void *)run->queue.rares.p)[number - 1];
}

struct run_rare *
run_need_rare(struct run *run, size_t i)
{
	struct run_queue *q = &run->queue;
	struct run_rare *r = run_rare(run, i);

	if (r != NULL)
		return r;
	r = q->spare;
	if (r != NULL) {
		q->spare = r->next;
	} else {
		r = NEW(&run->arena, struct run_rare);
		buf_put(&q->rares, (struct str){ (char *)&r, sizeof(r) });
		r->number = (uint32_t)(q->rares.n / sizeof(r));
	}
	q->tasks[i].rare = r->number;
	return r;
}

/* The message of the first error of a task, wherever it is known. */
static struct str
task_error(const struct run *run, size_t i)
{
	struct str own = run->results.tasks[i].more->error;
	const struct run_rare *rare = run_rare(run, i);
	struct str trial = rare != NULL ? buf_str(&rare->error) : STR("");

	if (run->results.tasks[i].more->skipped != NULL)
		return str_of(run->results.tasks[i].more->skipped);
	return own.n > 0 ? own : trial.n > 0 ? trial :
	    run_stored_error(run, i);
}

/* Frees the reasons that it kept until its end. */
static void
forget(struct run *run, size_t i)
{
	struct run_rare *r = run_rare(run, i);

	if (r == NULL)
		return;
	buf_free(&r->error);
	buf_free(&r->feedback);
	if (r->hooks != NULL || r->budget != NULL)
		return;
	run->queue.tasks[i].rare = 0;
	r->next = run->queue.spare;
	run->queue.spare = r;
}

void
run_free_tasks(struct run *run)
{
	size_t i;

	for (i = 0; run->queue.tasks != NULL && i < run->results.ntasks; i++)
		forget(run, i);
	buf_free(&run->queue.rares);
}

static void
emit_task(struct run *run, size_t i, enum event_type type)
{
	struct result_task *t = &run->results.tasks[i];
	const struct run_rare *rare = run_rare(run, i);
	struct event ev = { .type = type,
		.run_id = str_of(run->results.run_id), .idx = (int64_t)i,
		.total = (int64_t)run->results.ntasks, .task = t->spec->id,
		.name = t->spec->name, .prompt = t->spec->prompt,
		.trials = (int64_t)run->results.trials };

	if (type == EVENT_TASK_COMPLETE) {
		ev.status = str_of(result_word(t->status));
		ev.error_class = str_of(result_class(t->status));
		if (result_is_error(t->status) || t->status == RESULT_SKIPPED)
			ev.error = task_error(run, i);
		if (t->status == RESULT_FAILED && rare != NULL)
			ev.feedback = buf_str(&rare->feedback);
		ev.score = t->stats->avg;
		ev.took_ms = t->stats->avg_ms;
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
	if ((run->cancelled || run->unusable || t->more->skipped != NULL) &&
	    t->done < t->ntrials && t->more->error.n == 0)
		return;			/* incomplete: no status */
	result_end_task(&run->results, i);
	emit_task(run, i, EVENT_TASK_COMPLETE);
	forget(run, i);
	if (t->status == RESULT_PASSED || t->status == RESULT_SKIPPED ||
	    t->spec->def->quarantined || run->opts.stored != NULL)
		return;
	++*(run->opts.failures != NULL ? run->opts.failures :
	    &run->queue.failures);
	if (run->suite->config.fail_fast || run->opts.fail_fast)
		run->queue.stopped = true;
}

bool
run_is_stopped(const struct run *run)
{
	size_t n = run->opts.failures != NULL ? *run->opts.failures :
	    run->queue.failures;

	return run->queue.stopped || (run->opts.max_failures > 0 &&
	    n >= (size_t)run->opts.max_failures);
}

static bool start_hooks(struct run *, size_t task, enum spec_hook_kind,
    void (*done)(void *));

static void
after_hooks(void *arg)
{
	struct run_hooks *h = arg;
	struct run *run = h->run;

	if (h->err.code != ERR_NONE)
		run_warn(run, "hook_failed", h->err.msg);
	run_need_rare(run, h->index)->hooks = NULL;
	run->queue.hooking--;
	end_task(run, h->index);
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
run_skip_task(struct run *run, size_t i, const char *why)
{
	struct result_run *r = &run->results;
	struct run_task *t = &run->queue.tasks[i];

	if (run_next_trial(run, i) < r->tasks[i].ntrials &&
	    !run_stop_task(run, i)) {
		result_own_more(&run->arena, &r->tasks[i])->skipped = why;
		r->skipped = r->skipped == NULL ? why : r->skipped;
		t->next = r->tasks[i].ntrials;
	}
	if (t->phase == RUN_TASK_OPEN && t->running == 0)
		close_task(run, i);
}

/* Tasks of which all trials are known end as usual. */
void
run_skip_rest(struct run *run, const char *why)
{
	struct run_queue *q = &run->queue;
	size_t i, n = run->results.ntasks;

	for (i = 0; i < q->first_new; i++)
		if (q->tasks[i].phase == RUN_TASK_OPEN)
			run_skip_task(run, i, why);
	for (; q->first_new < n && !run_is_stopped(run); q->first_new++) {
		i = q->first_new;
		if (run->results.tasks[i].more->imported != NULL ||
		    run_next_trial(run, i) == run->results.tasks[i].ntrials)
			run_begin_task(run, i);
		else {
			run_skip_task(run, i, why);
			q->tasks[i].phase = RUN_TASK_ENDED;
		}
	}
}

void
run_trial_ended(struct run *run, struct run_trial *trial)
{
	struct run_task *t = &run->queue.tasks[trial->task];

	run->queue.busy--;
	run_release_slot(run);
	run_budget_take(run, trial->task, -1);
	t->running--;
	run->dirty = true;
	run_stop_count(run, trial->task, trial->trial);
	(void)run_stop_task(run, trial->task);
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
	if (q->open == 0)
		q->open = (uint32_t)i + 1;
	else
		q->tasks[q->last_open - 1].next_open = (uint32_t)i + 1;
	q->last_open = (uint32_t)i + 1;
	emit_task(run, i, EVENT_TASK_START);
}

static void
set_error(struct run *run, size_t i, struct str msg)
{
	result_own_more(&run->arena, &run->results.tasks[i])->error =
	    arena_str(&run->arena, msg);
}

static void
before_hooks(void *arg)
{
	struct run_hooks *h = arg;
	struct run *run = h->run;
	size_t i = h->index;
	struct err e = h->err;

	run_need_rare(run, i)->hooks = NULL;
	run->queue.hooking--;
	if (e.code == ERR_NONE && !run->cancelled) {
		open_task(run, i);
	} else {
		if (e.code != ERR_NONE)
			set_error(run, i, str_of(e.msg));
		end_task(run, i);
	}
	run_pump(run);
}

bool
run_has_hooks(const struct run *run, enum spec_hook_kind kind)
{
	return run->suite->hooks[kind].n > 0 && run->opts.stored == NULL &&
	    !run->opts.no_programs && !run->opts.no_hooks;
}

/* False if there are no hooks; otherwise done() follows. */
static bool
start_hooks(struct run *run, size_t i, enum spec_hook_kind kind,
    void (*done)(void *))
{
	struct run_hooks *h;

	if (!run_has_hooks(run, kind))
		return false;
	h = NEW(&run->arena, struct run_hooks);
	run_need_rare(run, i)->hooks = h;
	h->index = i;
	run->queue.hooking++;
	run_hooks_start(h, run, kind, run->results.tasks[i].spec, done, h);
	return true;
}

void
run_begin_task(struct run *run, size_t i)
{
	struct run_task *t = &run->queue.tasks[i];
	size_t k;

	if (run->results.tasks[i].more->imported != NULL) {
		t->phase = RUN_TASK_ENDED;	/* imported: no events */
		return;
	}
	for (k = 0; k < run->results.tasks[i].ntrials; k++)
		run_stop_count(run, i, k);
	(void)run_stop_task(run, i);
	if (run_next_trial(run, i) == run->results.tasks[i].ntrials) {
		end_task(run, i);	/* the journal has all its trials */
		return;
	}
	t->phase = RUN_TASK_HOOKING;
	if (!start_hooks(run, i, SPEC_BEFORE_TASK, before_hooks))
		open_task(run, i);
}

/* The first open task whose next trial may start, or ntasks. */
static size_t
find_open(struct run *run)
{
	struct run_queue *q = &run->queue;
	const char *why;
	uint32_t at;
	size_t i;

	for (at = q->open; at != 0; at = q->tasks[i].next_open) {
		i = at - 1;
		if (run_next_trial(run, i) == run->results.tasks[i].ntrials) {
			if (at == q->open)
				q->open = q->tasks[i].next_open;
			continue;
		}
		if (run_stop_task(run, i))
			continue;	/* unless a trial changes that */
		switch (run_budget_allows(run, i, &why)) {
		case RUN_MAY_START:
			return i;
		case RUN_MUST_SKIP:
			run_skip_task(run, i, why);
			break;
		case RUN_MUST_WAIT:
			break;
		}
	}
	return run->results.ntasks;
}

/* Whether the other tasks are not needed: they are skipped. */
static bool
skip_decided(struct run *run)
{
	struct result_run *r = &run->results;
	const char *why = run_stop_suite(run);
	size_t i;

	for (; why != NULL && run->queue.first_new < r->ntasks;
	    run->queue.first_new++) {
		i = run->queue.first_new;
		if (run_next_trial(run, i) == r->tasks[i].ntrials) {
			run_begin_task(run, i);
			continue;
		}
		result_own_more(&run->arena, &r->tasks[i])->skipped = why;
		r->tasks[i].status = RESULT_SKIPPED;
		run->queue.tasks[i].phase = RUN_TASK_ENDED;
		emit_task(run, i, EVENT_TASK_COMPLETE);
	}
	return why != NULL;
}

size_t
run_find_work(struct run *run)
{
	struct run_queue *q = &run->queue;
	size_t i, n = run->results.ntasks;

	for (;;) {
		i = find_open(run);
		if (i < n)
			return i;
		if (q->first_new == n || run_is_stopped(run) ||
		    q->hooking >= q->nslots - q->busy || skip_decided(run))
			return n;
		run_begin_task(run, q->first_new++);
	}
}
