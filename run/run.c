/* SPDX-License-Identifier: ISC */
/*
 * A run: its tasks and trials, when each starts, and how the run ends.
 *
 * Trials start in suite order, task by task, as slots become free.  While a
 * task's before_task hooks run, none of its trials can start, but those of
 * later tasks can.  Only run_pump() starts trials; after RUN_SLICE_MS it
 * returns to the loop, so that signals and timers are handled even if no trial
 * ever waits.
 */
#include "run/run.h"

#include <stdio.h>
#include <time.h>

#include "base/os.h"
#include "results/event.h"
#include "results/outcome.h"
#include "run/control/control_internal.h"
#include "run/run_internal.h"
#include "run/taint/taint.h"

enum {
	REFRESH_MS = 1000,	/* minimum between two writes of the results */
	REFRESH_SHARE = 10	/* writing takes at most this part of time */
};

const char *
run_make_id(struct arena *a)
{
	unsigned char noise[4] = { 0 };
	struct err e;

	os_random(noise, sizeof(noise), &e);
	return arena_fmt(a, "run-%lld-%02x%02x%02x%02x",
	    (long long)(os_wall_ns() / 1000000000), noise[0], noise[1],
	    noise[2], noise[3]).p;
}

/* Sets the timestamp for templates, and the run's id. */
static void
set_identity(struct run *run)
{
	time_t now = (time_t)(run->results.started_ns / 1000000000);
	struct tm tm;

	if (gmtime_r(&now, &tm) != NULL)
		strftime(run->timestamp, sizeof(run->timestamp),
		    "%Y-%m-%dT%H:%M:%SZ", &tm);
	run->results.run_id = run->opts.run_id != NULL ?
	    arena_cstr(&run->arena, str_of(run->opts.run_id)) :
	    run_make_id(&run->arena);
}

static void
init_results(struct run *run)
{
	struct result_run *r = &run->results;
	const struct spec_config *c = &run->suite->config;

	r->arena = &run->arena;
	r->suite = run->suite;
	r->executor = run->opts.executor.n > 0 ? run->opts.executor :
	    c->executor;
	r->model = run->opts.model.n > 0 ? run->opts.model : c->model;
	r->cell = run->opts.cell;
	r->cell_name = run->opts.cell_name;
	if (run->opts.stored != NULL)
		result_take_cell(r, run->opts.stored);
	r->judge_model = run->opts.judge_model;
	r->timeout_seconds = run->opts.timeout_seconds;
	r->started_ns = os_wall_ns();
	r->trials = (size_t)(run->opts.trials > 0 ? run->opts.trials :
	    c->trials_per_task);
	if (run->opts.stop.kind == STOP_DECIDED)
		r->stop = "decided";
	else if (run->opts.stop.kind == STOP_CI)
		r->stop = arena_fmt(&run->arena, "ci=%g",
		    run->opts.stop.width).p;
	r->journal.fd = -1;
	run->command_mocks = run_mocks_any(run->suite);
	r->strict = run->opts.strict || run->opts.by_default;
	r->hasty = run->opts.hasty;
	r->seed = run->opts.seed;
	r->ungraded = run->opts.skip_graders;
	r->no_skills = run->opts.stored != NULL ? result_ran_bare(
	    run->opts.stored) : run->opts.no_skills;
	if (run->opts.ref != NULL) {
		r->ref_name = run->opts.ref->name;
		r->ref_commit = run->opts.ref->commit;
	}
	set_identity(run);
}

static void on_again(void *);
static void on_refresh(void *);

static void
init_slots(struct run *run)
{
	struct run_queue *q = &run->queue;
	size_t i, n = run->results.ntasks, most = n * run->results.trials;

	q->tasks = NEW_N(&run->arena, struct run_task, n);
	if (run->opts.stop.kind != STOP_NEVER)
		q->known = NEW_N(&run->arena, struct stop_known, n);
	q->nslots = run_workers(run);
	if (most < run->results.triggers.n)
		most = run->results.triggers.n;
	if (q->nslots > most && most > 0)
		q->nslots = most;
	q->slots = NEW_N(&run->live, struct run_trial, q->nslots);
	for (i = 0; i < q->nslots; i++)
		q->slots[i].run = run;
	run_triggers_init(run);
	q->again = (struct timer){ .fn = on_again, .arg = run };
	run->refresh = (struct timer){ .fn = on_refresh, .arg = run };
}

/* Chooses and opens the executor, and prepares the judges. */
static int
open_agents(struct run *run, struct err *e)
{
	const struct run_opts *o = &run->opts;
	const struct spec_suite *s = run->suite;
	struct result_run *r = &run->results;

	run->agent = o->agent != NULL ? o->agent : &run->own;
	run->own = (struct agent){ .kind = agent_find(r->executor),
		.suite = s, .procs = run->procs, .hub = o->hub,
		.arena = &run->arena, .workers = run->queue.nslots };
	if (o->stored != NULL) {
		run->agent->kind = &agent_stored;
		run->agent->state = &run->opts.stored;
	}
	if (o->control != NULL) {
		run->agent->kind = o->control_mutates ? &agent_mutate :
		    &agent_control;
		run->agent->state = o->control;
	}
	if (run->agent->kind == NULL)
		return err_set(e, ERR_SCHEMA, "unknown executor \"%.*s\"",
		    STRF(r->executor));
	if (o->replay != NULL && o->control == NULL)
		run->agent->state = &run->opts.replay;
	/* stored and replayed answers get the suite's judge */
	run->judges = (struct judges){ .suite = s, .procs = run->procs,
		.executor = o->stored != NULL || o->replay != NULL ?
		    s->config.executor : r->executor,
		.model = o->stored != NULL ? s->config.model : r->model,
		.judge_model = o->judge_model, .arena = &run->arena,
		.run_id = r->run_id, .workers = run->queue.nslots,
		.agent = run->agent };
	if (run_record_open(run, e) == -1 || (o->agent == NULL &&
	    agent_open(run->agent, e) == -1))
		return -1;
	if (agent_is_confined(run->agent))
		run->agent->sealed = taint_files(run_taint(run));
	return run_budget_open(run, e);
}

struct run *
run_new(struct loop *loop, struct procs *procs, const struct spec_suite *s,
    const struct run_opts *o, struct event_bus *bus, struct err *e)
{
	struct arena arena = { 0 };
	struct run *run = NEW(&arena, struct run);

	run->arena = arena;
	run->loop = loop;
	run->procs = procs;
	run->suite = s;
	run->opts = *o;
	run->bus = bus;
	run->pool.arena = &run->arena;
	run->pool.keep = o->keep_workspace;
	run->queue.held = o->held;
	init_results(run);
	if (run_select(run, e) == 0 &&
	    run_check_output(&run->arena, o->output, o->strict ||
	    o->by_default, e) == 0) {
		if (o->fingerprint)
			run_fingerprint(run);
		return run;
	}
	run_free(run);
	return NULL;
}

int
run_open(struct run *run, struct err *e)
{
	struct result_run *r = &run->results;

	if (!run->filled) {
		result_init(r);
		if (run->opts.stored != NULL)
			run_stored_fill(run);
		run_triggers_select(run);
		run->filled = true;
	}
	if (run_open_journal(run, e) == -1)
		return -1;
	if (run->opts.sweep) {
		workspace_sweep();
		if (run->opts.output != NULL)
			result_sweep(run->opts.output);
	}
	run_forget_reruns(run);
	init_slots(run);
	if (open_agents(run, e) == -1 || run_controls_check(run, e) == -1) {
		result_close(r);
		return -1;
	}
	run_cache_open(run);
	return 0;
}

size_t
run_bytes(const struct run *run)
{
	return run->arena.used;
}

/* The loop has failed: what runs will not end any more. */
static void
drop(struct run *run)
{
	struct run_queue *q = &run->queue;
	struct err e;
	size_t i;

	run->phase = RUN_ENDED;
	run->cancelled = true;
	timer_stop(run->loop, &run->refresh);
	timer_stop(run->loop, &q->again);
	for (i = 0; i < q->nslots; i++)
		if (q->slots[i].state != RUN_TRIAL_IDLE)
			run_trial_drop(&q->slots[i]);
	run_triggers_drop(run);
	run_controls_drop(run);
	(void)workspace_close(&run->pool, run->opts.keep_workspace, &e);
}

void
run_free(struct run *run)
{
	struct arena arena;

	if (run == NULL)
		return;
	if (run->phase != RUN_IDLE && run->phase != RUN_ENDED)
		drop(run);
	run_free_tasks(run);
	result_close(&run->results);
	run_leave(run);
	arena_free(&run->live);
	arena = run->arena;	/* it contains the run itself */
	arena_free(&arena);
}

void
run_rest(struct run *run)
{
	result_rest(&run->results);
	if (run->phase != RUN_ENDED)
		return;
	arena_free(&run->live);
	run->queue.slots = NULL;
	run->queue.nslots = 0;
	run->triggers = NULL;
}

struct result_run *
run_results(struct run *run)
{
	return &run->results;
}

const struct err *
run_error(const struct run *run)
{
	return &run->err;
}

bool
run_cancelled(const struct run *run)
{
	return run->cancelled;
}

void
run_warn(struct run *run, const char *type, const char *msg)
{
	struct event ev = { .type = EVENT_ERROR,
		.run_id = str_of(run->results.run_id),
		.problem = { .error_type = str_of(type),
		    .message = str_of(msg) } };

	event_emit(run->bus, &ev);
}

void
run_abort(struct run *run, const struct err *e)
{
	if (run->err.code == ERR_NONE)
		run->err = *e;
	run_cancel(run);
}

/*
 * Trials.
 */
static struct run_trial *
free_slot(struct run *run)
{
	size_t i;

	for (i = 0; i < run->queue.nslots; i++)
		if (run->queue.slots[i].state == RUN_TRIAL_IDLE)
			return &run->queue.slots[i];
	return NULL;
}

static void close_run(struct run *);

static void
on_again(void *arg)
{
	run_pump(arg);
}

/* True if it yields to the loop and will continue at once. */
static bool
start_trials(struct run *run)
{
	int64_t until = loop_clock(run->loop) + RUN_SLICE_MS;
	struct run_queue *q = &run->queue;
	struct run_trial *t;
	size_t i;

	while (!run->cancelled && !run->unusable && !q->held &&
	    !run_budget_ended(run) && q->busy < run_slots(run) &&
	    (i = run_find_work(run)) < run->results.ntasks) {
		t = free_slot(run);
		q->busy++;
		run_take_slot(run);
		run_budget_take(run, i, 1);
		q->tasks[i].running++;
		run_trial_start(t, i, q->tasks[i].next++);
		run_trial_go(t);
		if (loop_clock(run->loop) >= until) {
			timer_start(run->loop, &q->again, 0);
			return true;
		}
	}
	if (run->unusable && !run->cancelled)
		run_cancel(run);
	if (run->broke != NULL && !run->cancelled)
		run_skip_rest(run, run->broke);
	if (q->busy == 0 && q->hooking == 0 && (!q->held || run->cancelled) &&
	    !run_lacks_slot(run) && run_triggers_pump(run))
		close_run(run);
	return false;
}

void
run_pump(struct run *run)
{
	bool yields;

	if (run->phase != RUN_GOING || run->queue.pumping)
		return;
	run->queue.pumping = true;
	yields = start_trials(run);
	run->queue.pumping = false;
	if (!yields)
		run_settle_share(run);
}

void
run_check_journal(struct run *run)
{
	const struct result_journal *j = &run->results.journal;
	struct err e;

	if (run->warned_journal || (!j->foreign && j->lost == 0))
		return;
	run->warned_journal = true;
	err_set(&e, ERR_SYS, "%s: another program, perhaps an agent, has "
	    "%s", j->path, j->lost > 0 ? "changed lines of the journal" :
	    "written to the journal: its lines are ignored");
	run_warn(run, "journal_changed", e.msg);
}

/*
 * Writes the results file while the run continues: at most once a second, and
 * less often if writing takes long, so that the total time stays linear.
 */
static void
on_refresh(void *arg)
{
	struct run *run = arg;
	int64_t t = loop_clock(run->loop);
	struct err e;

	if (run->dirty) {
		run->dirty = false;
		run->results.duration_ms = t - run->started;
		result_sum(&run->results);
		if (result_write(&run->results, run->opts.output, &e) == -1) {
			run_abort(run, &e);
			return;
		}
		run_check_journal(run);
		t = (loop_clock(run->loop) - t) * REFRESH_SHARE;
	} else
		t = 0;
	timer_start(run->loop, &run->refresh, t > REFRESH_MS ? t : REFRESH_MS);
}

/*
 * The run as a whole.
 */
static void
emit_run(struct run *run, enum event_type type)
{
	struct result_run *r = &run->results;
	const struct result_totals *sum = &r->sum;
	struct event ev = { .type = type, .run_id = str_of(r->run_id),
		.eval = run->suite->name, .skill = run->suite->skill,
		.executor = r->executor, .model = r->model,
		.tasks = (int64_t)r->ntasks, .trials = (int64_t)r->trials,
		.source.run = r };

	if (type == EVENT_EVAL_COMPLETE) {
		ev.total = (int64_t)r->ntasks;
		ev.score = sum->score;
		ev.totals = (struct event_totals){ .rate = sum->rate,
			.passed = (int64_t)sum->passed,
			.failed = (int64_t)(sum->failed + sum->errors),
			.errors = (int64_t)sum->errors,
			.skipped = (int64_t)sum->skipped,
			.duration_sec = (double)r->duration_ms / 1000 };
		ev.status = str_of(run->err.code != ERR_NONE ? "failed" :
		    run->cancelled && !run->unusable ? "cancelled" :
		    result_only_answers(r) ? "skipped" :
		    result_ok(r) ? "passed" : "failed");
	}
	event_emit(run->bus, &ev);
}

static bool
has_trials(const struct result_run *r)
{
	size_t i;

	for (i = 0; i < r->ntasks; i++)
		if (r->tasks[i].done > 0)
			return true;
	return r->complete || r->triggers.done > 0;
}

/* The journal of a complete run is not needed any more. */
static void
write_results(struct run *run)
{
	struct result_run *r = &run->results;
	struct err e;

	r->unwritten = true;
	if (run->opts.by_default && !has_trials(r))
		return;
	r->unwritten = result_write(r, run->opts.output, &e) == -1;
	if (!r->unwritten)
		r->journal.spent = r->complete && r->journal.lost == 0 &&
		    run_is_file(run->opts.output);
	else if (run->opts.by_default)
		run_warn(run, "results_not_kept", e.msg);
	else if (run->err.code == ERR_NONE)
		run->err = e;
}

static void
end_run(void *arg)
{
	struct run *run = arg;
	struct result_run *r = &run->results;
	struct err e;

	timer_stop(run->loop, &run->refresh);
	if (run->opts.agent == NULL &&
	    agent_remove_shared_dirs(run->agent, &e) == -1)
		run_warn(run, "workspace_left", e.msg);
	if (workspace_close(&run->pool, run->opts.keep_workspace, &e) == -1)
		run_warn(run, "workspace_left", e.msg);
	run->phase = RUN_ENDED;
	r->duration_ms = run->opts.stored != NULL ?
	    run->opts.stored->duration_ms :
	    loop_clock(run->loop) - run->started;
	r->ended = true;
	r->cancelled = run->cancelled && run->err.code == ERR_NONE &&
	    !run->unusable;
	r->aborted = run->err.code != ERR_NONE;
	r->complete = !run->cancelled && run->queue.first_new == r->ntasks &&
	    r->skipped == NULL && r->triggers.done == r->triggers.n;
	result_sum(r);
	if (run->opts.output != NULL)
		write_results(run);
	run_check_journal(run);
	if (run->err.code != ERR_NONE)
		run_warn(run, "run_failed", run->err.msg);
	emit_run(run, EVENT_EVAL_COMPLETE);
	run_leave(run);
	run->done(run->arg);
}

static void
on_closed(void *arg)
{
	struct run *run = arg;

	if (--run->closing == 0)
		end_run(run);
}

static void
after_run(void *arg)
{
	struct run *run = arg;

	if (run->hooks.err.code != ERR_NONE)
		run_warn(run, "hook_failed", run->hooks.err.msg);
	run->phase = RUN_ENDING;
	run->own.closed = run->judges.closed = on_closed;
	run->own.arg = run->judges.arg = run;
	/* an agent from the options stays open */
	run->closing = 2;
	run->closing -= run->opts.agent != NULL || agent_close(run->agent);
	run->closing -= judges_close(&run->judges);
	if (run->closing == 0)
		end_run(run);
}

/* after_run hooks also run after a cancel: they undo before_run. */
static void
close_run(struct run *run)
{
	run->phase = RUN_CLOSING;
	timer_stop(run->loop, &run->queue.again);
	if (run_has_hooks(run, SPEC_AFTER_RUN))
		run_hooks_start(&run->hooks, run, SPEC_AFTER_RUN, NULL,
		    after_run, run);
	else
		after_run(run);
}

/* After the before_run hooks; their failure ends the run. */
static void
begin_tasks(void *arg)
{
	struct run *run = arg;

	run->phase = RUN_GOING;
	run->queue.alone = run->opts.agent == NULL &&
	    agent_starts_alone(run->agent);
	if (run->hooks.err.code != ERR_NONE) {
		run->err = run->hooks.err;
		run->cancelled = true;
	}
	if (run->opts.output != NULL && !run->opts.by_default)
		timer_start(run->loop, &run->refresh, REFRESH_MS);
	run_pump(run);
}

/* Of the journal that is resumed. */
static void
warn_of_lines(struct run *run)
{
	const struct result_journal *j = &run->results.journal;
	struct err e;

	if (j->bad == 0)
		return;
	err_set(&e, ERR_SYNTAX, "%s:%u: waza did not write this line%s: "
	    "ignored, trials without a line run again", j->path, j->first_bad,
	    j->bad > 1 ? " and others" : "");
	run_warn(run, "journal_changed", e.msg);
}

/* Counts the trials that the journal has. */
static void
count_resumed(struct run *run)
{
	const struct run_opts *o = &run->opts;
	struct result_run *r = &run->results;
	size_t i, k;

	r->reuse = (struct result_reuse){ .resumes = o->resume ||
		o->retry_errors || o->rerun_failed,
		.caches = o->cache != NULL };
	for (i = 0; i < r->ntasks; i++) {
		r->reuse.trials += r->tasks[i].ntrials;
		for (k = 0; k < r->tasks[i].ntrials; k++)
			r->reuse.resumed += o->stored == NULL &&
			    r->tasks[i].trials[k].status != RESULT_NONE;
	}
}

/* After the controls. */
static void
begin_run(struct run *run)
{
	if (!run->cancelled && run_has_hooks(run, SPEC_BEFORE_RUN))
		run_hooks_start(&run->hooks, run, SPEC_BEFORE_RUN, NULL,
		    begin_tasks, run);
	else
		begin_tasks(run);
}

void
run_start(struct run *run, void (*done)(void *arg), void *arg)
{
	run->done = done;
	run->arg = arg;
	run->started = loop_clock(run->loop);
	run->phase = RUN_OPENING;
	run_join(run);
	count_resumed(run);
	run_budget_start(run);
	emit_run(run, EVENT_EVAL_START);
	if (run->results.regraded)
		run_warn(run, "regraded", "the results file was graded again "
		    "after its run: resumed trials keep the verdicts of the "
		    "run");
	if (run->results.kept_grades)
		run_warn(run, "regraded", "the results file was graded again "
		    "after its run: resumed trials keep the new verdicts");
	if (run->results.changed && run->results.reuse.resumed > 0)
		run_warn(run, "suite_changed", "the suite has changed since "
		    "the resumed trials ran: they keep their prompts and "
		    "verdicts; start a new run to judge the new suite");
	warn_of_lines(run);
	if (!run_controls_start(run, begin_run))
		begin_run(run);
}

void
run_refuse(struct run *run, const struct err *why, void (*done)(void *arg),
    void *arg)
{
	run->done = done;
	run->arg = arg;
	run->started = loop_clock(run->loop);
	emit_run(run, EVENT_EVAL_START);
	run->phase = RUN_ENDED;
	run->results.ended = run->cancelled = true;
	run->results.cancelled = why == NULL;
	if (why != NULL) {
		run->err = *why;
		run->results.aborted = true;
		run_warn(run, "run_failed", run->err.msg);
	}
	result_sum(&run->results);
	emit_run(run, EVENT_EVAL_COMPLETE);
	done(arg);
}

void
run_hold(struct run *run, bool hold)
{
	run->queue.held = hold;
	if (!hold)
		timer_start(run->loop, &run->queue.again, 0);
}

void
run_cancel(struct run *run)
{
	size_t i;

	if (run->phase == RUN_CLOSING && run->cancelled)
		run_hooks_cancel(&run->hooks);	/* the second request */
	if (run->phase == RUN_OPENING && run->hooks.list != NULL)
		run_hooks_cancel(&run->hooks);
	run_controls_cancel(run);
	run->cancelled = true;
	if (run->phase != RUN_GOING)
		return;
	for (i = 0; i < run->results.ntasks; i++)
		if (run_rare(run, i) != NULL && run_rare(run, i)->hooks != NULL)
			run_hooks_cancel(run_rare(run, i)->hooks);
	for (i = 0; i < run->queue.nslots; i++)
		run_trial_cancel(&run->queue.slots[i]);
	run_triggers_cancel(run);
	if (run->phase == RUN_GOING)	/* the callbacks may have ended it */
		timer_start(run->loop, &run->queue.again, 0);
}
