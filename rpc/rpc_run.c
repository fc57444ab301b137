/* SPDX-License-Identifier: ISC */
/*
 * Running suites: eval.run, and the life of a run until it is forgotten.
 *
 *	PENDING -> RUNNING -> COMPLETED | FAILED | CANCELLED
 *
 * A run starts in the turn after the one that answered eval.run, so that the
 * answer is sent before the first notification.  When a run is over, only its
 * record is kept; its suite and engine are freed.
 */
#include "rpc/rpc_internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/os.h"
#include "io/workspace.h"
#include "results/result.h"
#include "run/run.h"
#include "suite/config.h"
#include "suite/spec.h"

enum {
	SWEEP_MS = 60000,	/* between two searches for old files */
	RESULTS_MAX = 64 << 20,	/* bytes kept of all results */
	STREAMS_MAX = 64 << 20,	/* bytes kept of all events; */
	STREAM_MIN = 256 << 10	/* but at least these for each run */
};

/* The protocol has no word for a run that waits: see `queued`. */
static const char *const words[] = {
	[RPC_STATE_PENDING] = "running", [RPC_STATE_RUNNING] = "running",
	[RPC_STATE_COMPLETED] = "completed", [RPC_STATE_FAILED] = "failed",
	[RPC_STATE_CANCELLED] = "cancelled",
};

bool
rpc_view_over(const struct rpc_run *r)
{
	return r->state >= RPC_STATE_COMPLETED;
}

const char *
rpc_run_word(const struct rpc_run *r)
{
	return words[r->cancelling && !rpc_view_over(r) ? RPC_STATE_CANCELLED :
	    r->state];
}

void
rpc_run_put_state(struct json_out *o, const struct rpc_run *r)
{
	json_put_member_cstr(o, "runId", r->id);
	json_put_member_cstr(o, "status", rpc_run_word(r));
	if (r->queued)
		json_put_member_bool(o, "queued", true);
}

static struct rpc_runs *
runs_of(const struct rpc_run *r)
{
	return &r->rpc->state->runs;
}

static void
forget(struct rpc_run *r)
{
	struct rpc_runs *all = runs_of(r);

	if (r->next == NULL)
		all->tail = r->prev;
	LIST_REMOVE(r);
	all->n--;
	rpc_stream_free(&r->stream);
	buf_free(&r->record.summary);
	buf_free(&r->record.result);
	buf_free(&r->record.shown.page);
	arena_free(&r->arena);
}

static size_t
result_bytes(const struct rpc_run *r)
{
	return r->record.result.n + r->record.shown.page.n;
}

/* Forgets results, events and runs that are over, the oldest first. */
static void
enforce_limits(struct rpc *s)
{
	struct rpc_runs *all = &s->state->runs;
	struct rpc_run *r, *next;
	size_t results = 0, events = 0, over = all->n - all->unfinished;

	for (r = all->head; r != NULL; r = r->next) {
		results += result_bytes(r);
		events += r->engine.run == NULL ? r->stream.text.n : 0;
	}
	for (r = all->head; r != NULL; r = next) {
		next = r->next;
		if (!rpc_view_over(r) || r->engine.run != NULL)
			continue;
		if (results > RESULTS_MAX) {
			results -= result_bytes(r);
			buf_free(&r->record.result);
			buf_free(&r->record.shown.page);
		}
		if (events > STREAMS_MAX) {
			events -= r->stream.text.n;
			rpc_stream_free(&r->stream);
		}
		if (over > s->limits.kept_runs) {
			over--;
			forget(r);
		}
	}
}

static void
notify_change(struct rpc_run *r)
{
	const struct rpc_setup *set = &r->rpc->setup;

	if (set->changed != NULL)
		set->changed(set->changed_arg, r);
}

/*
 * The end of a run.
 */
static void
free_engine(struct rpc_run *r)
{
	run_free(r->engine.run);
	r->engine.run = NULL;
	arena_free(&r->engine.arena);
}

static void
disown(struct rpc_run *r)
{
	struct rpc_run_audience *a = &r->audience;

	if (a->owner == NULL)
		return;
	*a->prev = a->next;
	if (a->next != NULL)
		a->next->audience.prev = a->prev;
	a->owner->nruns--;
	a->owner = NULL;
}

static void
on_released(void *arg)
{
	struct rpc_run *r = arg;
	struct rpc *s = r->rpc;
	struct rpc_peer *p = r->audience.owner;

	free_engine(r);
	if (r->waiter.released != NULL)
		r->waiter.released(r->waiter.arg);
	rpc_trim_soon(s);
	disown(r);
	runs_of(r)->unfinished--;
	if (p != NULL)
		rpc_close_if_done(p);
	rpc_queue_next(s);
	enforce_limits(s);
}

static void
answer_waiter(struct rpc_run *r)
{
	struct rpc_call *c = r->waiter.call;

	r->waiter.call = NULL;
	if (c == NULL)
		return;
	if (r->state == RPC_STATE_COMPLETED)
		r->waiter.answer(c, RPC_KIND__MAX, buf_str(&r->record.summary));
	else if (r->state == RPC_STATE_CANCELLED)
		r->waiter.answer(c, RPC_CANCELLED, STR("Run cancelled"));
	else
		r->waiter.answer(c, RPC_RUN_FAILED, r->record.error);
}

/* Sets the run's timer to call that function in the next turn. */
static void
call_soon(struct rpc_run *r, void (*fn)(void *))
{
	timer_stop(r->rpc->loop, &r->engine.timer);
	r->engine.timer = (struct timer){ .fn = fn, .arg = r };
	timer_start(r->rpc->loop, &r->engine.timer, 0);
}

void
rpc_run_ended(void *arg)
{
	struct rpc_run *r = arg;
	const struct err *e = run_error(r->engine.run);

	r->state = e->code != ERR_NONE ? RPC_STATE_FAILED :
	    run_cancelled(r->engine.run) ? RPC_STATE_CANCELLED :
	    RPC_STATE_COMPLETED;
	if (r->state == RPC_STATE_FAILED)
		r->record.error = arena_str(&r->arena, str_of(e->msg));
	rpc_run_keep(r);
	rpc_run_notify_end(r);
	rpc_stream_end(&r->stream);
	notify_change(r);
	answer_waiter(r);
	/* the peer may start another run with the same files now */
	result_close(run_results(r->engine.run));
	memset(r->files, 0, sizeof(r->files));
	call_soon(r, on_released);
}

/*
 * Cancelling.
 */
static void
on_cancel(void *arg)
{
	struct rpc_run *r = arg;

	run_cancel(r->engine.run);
}

/* From the loop: its end must not be sent in the middle of another reply. */
void
rpc_run_cancel(struct rpc_run *r)
{
	if (rpc_view_over(r) || r->cancelling)
		return;
	r->cancelling = true;
	if (r->state == RPC_STATE_RUNNING)
		call_soon(r, on_cancel);
	else if (r->queued)	/* it starts cancelled, to end like others */
		rpc_queue_leave(r);
}

/*
 * eval.run
 */
struct run_params {
	struct str path, executor, model, judge_model, context_dir, output;
	struct field_strs paths, tasks, tags;
	int64_t trials, workers, timeout;
	bool verbose, detach, fail_fast, events;
	bool wait;		/* as a tool */
};

#define ROW(m, t, ...) FIELD(run_params, m, t, __VA_ARGS__)
#define PATH_ROW(more) ROW(path, FIELD_STR, .flags = FIELD_PATH | (more), \
	    .help = "of eval.yaml, or the name of a skill")
#define SHARED_ROWS \
	ROW(executor, FIELD_STR, .help = "instead of the suite's"), \
	ROW(model, FIELD_STR, .help = "instead of the suite's"), \
	ROW(judge_model, FIELD_STR, .help = "for graders that ask a model"), \
	ROW(verbose, FIELD_BOOL, .help = "more eval.log"), \
	ROW(context_dir, FIELD_STR, .alias = "contextDir", \
	    .flags = FIELD_PATH, .help = "where input files are"), \
	ROW(output, FIELD_STR, .flags = FIELD_PATH, \
	    .help = "results file to write"), \
	ROW(tasks, FIELD_STRS, .help = "only these, by id or name; globs"), \
	ROW(tags, FIELD_STRS, .help = "only tasks with these; globs"), \
	ROW(trials, FIELD_INT, .min = 1, .max = 100000, \
	    .help = "of each task"), \
	ROW(workers, FIELD_INT, .min = 1, .max = 1024, \
	    .help = "trials at the same time"), \
	ROW(timeout, FIELD_INT, .alias = "timeout_seconds", .min = 1, \
	    .max = 86400, .help = "seconds for a trial"), \
	ROW(fail_fast, FIELD_BOOL, .alias = "failFast", \
	    .help = "start no task after one that failed"), \
	ROW(detach, FIELD_BOOL, \
	    .help = "continue after the caller disconnects"), \
	ROW(events, FIELD_BOOL, .help = "eval.event instead of eval.progress"),

static const struct field run_rows[] = {
	PATH_ROW(0),
	ROW(paths, FIELD_STRS,
	    .help = "instead of path: several suites, each a run of its own"),
	SHARED_ROWS
};
static const struct field tool_rows[] = {
	PATH_ROW(FIELD_REQUIRED),
	SHARED_ROWS
	ROW(wait, FIELD_BOOL, .help = "answer with the results when the run "
	    "is over (default), or at once"),
};
static const struct run_params tool_init = { .wait = true };
static const struct field_table run_table = FIELD_TABLE(run_params, run_rows);
static const struct field_table tool_table = { tool_rows, COUNTOF(tool_rows),
	sizeof(struct run_params), &tool_init };

static struct str
pick(struct arena *a, struct str given, const char *otherwise)
{
	return arena_str(a, given.n > 0 || otherwise == NULL ? given :
	    str_of(otherwise));
}

static const char *
keep_path(struct arena *a, struct str s)
{
	return s.n > 0 ? arena_cstr(a, s) : NULL;
}

static const char *const *
keep_list(struct arena *a, const struct field_strs *list, size_t *n)
{
	const char **v = NEW_N(a, const char *, list->n + 1);
	size_t i;

	*n = 0;
	for (i = 0; i < list->n; i++) {
		v[*n] = arena_cstr(a, list->v[i]);
		*n += v[*n] != NULL;
	}
	return v;
}

static void
set_opts(struct rpc_run *r, const struct run_params *p, struct run_opts *o)
{
	const struct rpc_setup *set = &r->rpc->setup;
	struct arena *a = &r->engine.arena;

	*o = (struct run_opts){ .executor = pick(a, p->executor, set->executor),
		.model = pick(a, p->model, set->model),
		.judge_model = arena_str(a, p->judge_model),
		.trials = p->trials, .workers = p->workers,
		.timeout_seconds = p->timeout, .fail_fast = p->fail_fast,
		.context_dir = keep_path(a, p->context_dir),
		.output = keep_path(a, p->output), .hub = set->hub,
		.verbose = p->verbose };
	o->tasks = keep_list(a, &p->tasks, &o->ntasks);
	o->tags = keep_list(a, &p->tags, &o->ntags);
}

/* Loads the suite and checks it, its executor included. */
static enum rpc_status
load(struct rpc_run *r, struct rpc_call *c, const struct run_params *p,
    const char *path, const struct run_opts *o)
{
	struct spec_notes notes = rpc_notes(c, &r->engine.arena);
	struct spec_suite *s;

	agent_expect(&notes, o->executor);
	notes.context_dir = o->context_dir;
	s = spec_load_part(&r->engine.arena, path, &notes);
	r->engine.suite = s;
	if (s != NULL) {
		if (c->rpc->setup.settings != NULL)
			config_apply(c->rpc->setup.settings, s);
		if (s->config.model.n == 0)
			s->config.model = o->model;
		if (o->executor.n > 0)
			s->config.executor_at = (struct spec_where){
				.file = "executor" };
		rpc_check_suite(s, o->executor.n > 0 ? o->executor :
		    s->config.executor, &notes);
	}
	if (s == NULL || notes.errors > 0)
		return rpc_refuse_suite(c, p->path, &notes);
	return RPC_DONE;
}

static void
link_run(struct rpc_run *r, struct rpc_peer *p)
{
	struct rpc_runs *all = runs_of(r);
	struct rpc_run_audience *a = &r->audience;

	r->prev = all->tail;
	*all->tail = r;
	all->tail = &r->next;
	all->n++;
	all->unfinished++;
	if (p->inside)
		return;
	a->owner = p;
	a->next = p->runs;
	a->prev = &p->runs;
	if (a->next != NULL)
		a->next->audience.prev = &a->next;
	p->runs = r;
	p->nruns++;
}

/* The more runs are unfinished, the fewer events are kept of each. */
static size_t
stream_share(const struct rpc *s)
{
	size_t n = STREAMS_MAX / (s->state->runs.unfinished + 1);

	if (n < STREAM_MIN)
		n = STREAM_MIN;
	return n < s->limits.stream_bytes ? n : s->limits.stream_bytes;
}

struct rpc_run *
rpc_run_new(struct rpc_call *c, struct str path)
{
	struct arena arena = { 0 };
	struct rpc_run *r;

	r = NEW(&arena, struct rpc_run);
	*r = (struct rpc_run){ .arena = arena, .rpc = c->rpc,
		.created_ns = os_wall_ns() };
	r->path = arena_str(&r->arena, path);
	return r;
}

int
rpc_run_launch(struct rpc_run *r, struct rpc_peer *owner, struct run_opts *o,
    struct err *e)
{
	struct rpc *s = r->rpc;
	struct rpc_runs *all = runs_of(r);
	struct rpc_run_engine *x = &r->engine;

	if (o->output == NULL)
		o->unnamed = true;
	o->sweep = all->swept == 0 ||
	    loop_now(s->loop) - all->swept >= SWEEP_MS;
	if (o->sweep)
		all->swept = loop_now(s->loop);
	rpc_run_listen(r);
	x->run = run_new(s->loop, s->procs, x->suite, o, &x->bus, e);
	if (x->run == NULL)
		return -1;
	r->id = arena_cstr(&r->arena, str_of(run_results(x->run)->run_id));
	r->name = arena_str(&r->arena, x->suite->name);
	if (o->output != NULL)
		r->output = arena_str(&r->arena, str_of(o->output));
	r->stream.max = stream_share(s);
	r->stream.id = r->id;
	rpc_run_describe(r);
	if (rpc_queue_admit(r, e) == -1)
		return -1;
	link_run(r, owner);
	if (!r->queued)
		rpc_queue_activate(r);
	notify_change(r);
	return 0;
}

void
rpc_run_discard(struct rpc_run *r)
{
	run_free(r->engine.run);
	arena_free(&r->engine.arena);
	arena_free(&r->arena);
}

enum { PATHS_MAX = 1000 };	/* suites of a call */

/* A run that is to be launched. */
struct ready {
	struct rpc_run *run;
	struct run_opts opts;
	struct str path;
};

/* Loads a suite; RPC_FAIL: the call's error is set. */
static enum rpc_status
prepare(struct rpc_call *c, const struct run_params *p, bool silent,
    struct ready *out)
{
	struct run_params one = *p;
	const char *path;

	one.path = out->path;
	if (rpc_find_suite(c, one.path, &path) != RPC_DONE)
		return RPC_FAIL;
	out->run = rpc_run_new(c, one.path);
	out->run->audience = (struct rpc_run_audience){ .verbose = p->verbose,
		.detach = p->detach, .events = p->events, .silent = silent };
	set_opts(out->run, &one, &out->opts);
	if (load(out->run, c, &one, path, &out->opts) == RPC_DONE &&
	    rpc_output_claim(c, out->run, &out->opts) == RPC_DONE)
		return RPC_DONE;
	rpc_run_discard(out->run);
	out->run = NULL;
	return RPC_FAIL;
}

static enum rpc_status
launch(struct rpc_call *c, struct ready *x)
{
	struct err e = { 0 };

	if (rpc_run_launch(x->run, c->peer, &x->opts, &e) == 0)
		return RPC_DONE;
	rpc_run_discard(x->run);
	x->run = NULL;
	rpc_data(c, "path", x->path);
	if (e.code == ERR_LIMIT)
		return rpc_fail(c, RPC_RATE_LIMITED, "Rate limit exceeded: %s",
		    e.msg);
	return rpc_fail(c, RPC_RUN_FAILED, "Run failed: %s", e.msg);
}

/* Makes and launches a run; NULL: the call's error is set. */
static struct rpc_run *
make_run(struct rpc_call *c, const struct run_params *p, bool silent)
{
	struct ready x = { .path = p->path };

	return prepare(c, p, silent, &x) == RPC_DONE &&
	    launch(c, &x) == RPC_DONE ? x.run : NULL;
}

/* All of them or none: what has been launched is cancelled. */
static enum rpc_status
make_runs(struct rpc_call *c, const struct run_params *p, struct ready *v)
{
	enum rpc_status status = RPC_DONE;
	size_t i, n = p->paths.n, ready, going = 0;

	for (ready = 0; ready < n && status == RPC_DONE; ready++) {
		v[ready].path = p->paths.v[ready];
		status = prepare(c, p, false, &v[ready]);
	}
	for (i = 0; i < n && status == RPC_DONE; i++, going++)
		status = launch(c, &v[i]);
	if (status == RPC_DONE)
		return status;
	for (i = 0; i < n; i++)
		if (i < going && v[i].run != NULL)
			rpc_run_cancel(v[i].run);
		else if (v[i].run != NULL)
			rpc_run_discard(v[i].run);
	return status;
}

static void
put_launched(struct json_out *o, const struct rpc_run *r)
{
	json_open(o, '{');
	rpc_run_put_state(o, r);
	json_close(o, '}');
}

/* Several suites: a run for each. */
static enum rpc_status
run_all(struct rpc_call *c, const struct run_params *p)
{
	struct ready *v = NEW_N(c->arena, struct ready, p->paths.n);
	struct json_out *o = &c->out;
	size_t i;

	if (p->path.n > 0 || p->output.n > 0 || p->paths.n > PATHS_MAX) {
		rpc_data(c, "field", STR("paths"));
		return rpc_fail(c, RPC_INVALID_PARAMS, "Invalid params: "
		    "\"paths\" excludes \"path\" and \"output\", and has at "
		    "most %d entries", PATHS_MAX);
	}
	if (make_runs(c, p, v) != RPC_DONE)
		return RPC_FAIL;
	json_open(o, '{');
	json_open_member(o, "runs", '[');
	for (i = 0; i < p->paths.n; i++) {
		json_open(o, '{');
		rpc_run_put_state(o, v[i].run);
		json_put_member_str(o, "path", v[i].path);
		json_close(o, '}');
	}
	json_close(o, ']');
	json_close(o, '}');
	return RPC_DONE;
}

static enum rpc_status
eval_run(struct rpc_call *c, void *params)
{
	const struct run_params *p = params;
	struct rpc_run *r;

	if (p->paths.n > 0)
		return run_all(c, p);
	if (p->path.p == NULL) {
		rpc_data(c, "field", STR("path"));
		return rpc_fail(c, RPC_INVALID_PARAMS,
		    "Invalid params: Missing required field: path");
	}
	r = make_run(c, p, false);
	if (r == NULL)
		return RPC_FAIL;
	put_launched(&c->out, r);
	return RPC_DONE;
}

/* The call was cancelled; it is answered when the run has ended. */
static void
stop_waiting(struct rpc_call *c)
{
	rpc_run_cancel(c->state);
}

enum rpc_status
rpc_run_tool(struct rpc_call *c, const struct json *arguments,
    struct buf *value,
    void (*answer)(struct rpc_call *, enum rpc_kind, struct str text))
{
	struct json_out o = { .put = buf_sink, .ctx = value };
	struct rpc_run *r;
	void *decoded;

	if (rpc_decode(c, &tool_table, arguments, &decoded) != RPC_DONE)
		return RPC_FAIL;
	r = make_run(c, decoded, true);
	if (r == NULL)
		return RPC_FAIL;
	if (!((struct run_params *)decoded)->wait) {
		put_launched(&o, r);
		return RPC_DONE;
	}
	r->waiter.call = c;
	r->waiter.answer = answer;
	c->state = r;
	c->stop = stop_waiting;
	return RPC_LATER;
}

/*
 * The module.
 */
static void
on_peer_gone(void *arg, struct rpc_peer *p)
{
	struct rpc *s = arg;
	struct rpc_run *r;

	for (r = s->state->runs.head; r != NULL; r = r->next)
		rpc_run_drop_listener(r, p);
	while ((r = p->runs) != NULL) {
		disown(r);
		if (!r->audience.detach)
			rpc_run_cancel(r);
	}
}

static void
cancel_all(void *arg)
{
	struct rpc *s = arg;
	struct rpc_run *r;

	for (r = s->state->runs.head; r != NULL; r = r->next)
		rpc_run_cancel(r);
}

static bool
is_busy(const void *arg)
{
	const struct rpc *s = arg;

	return s->state->runs.unfinished > 0;
}

static void
close_all(void *arg)
{
	struct rpc *s = arg;
	struct rpc_run *r;

	timer_stop(s->loop, &s->state->runs.start);
	while ((r = s->state->runs.head) != NULL) {
		timer_stop(s->loop, &r->engine.timer);
		if (r->waiter.call != NULL)
			rpc_drop(r->waiter.call);
		disown(r);
		if (r->engine.run != NULL)
			free_engine(r);
		forget(r);
	}
}

static const struct rpc_method methods[] = {
	{ .name = "eval.run", .family = RPC_EVAL, .flags = RPC_AS_TOOL,
	    .params = &run_table, .tool_params = &tool_table, .fn = eval_run,
	    .help = "run a suite" },
};

const struct rpc_module rpc_run_module = {
	.methods = methods, .nmethods = COUNTOF(methods),
	.gone = on_peer_gone, .cancel = cancel_all, .busy = is_busy,
	.close = close_all,
};
