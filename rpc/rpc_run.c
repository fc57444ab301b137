/* SPDX-License-Identifier: ISC */
/*
 * Running suites: eval.run, and what becomes of a run until it is forgotten.
 *
 *	PENDING -> RUNNING -> COMPLETED | FAILED | CANCELLED
 *
 * A run begins in the turn after the one that answered eval.run, so that the
 * answer is on the wire before the first notification.  Of one that is over
 * only its answers are kept: what it needed to run is freed.
 */
#include "rpc/rpc_run.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/os.h"
#include "io/loop.h"
#include "results/result.h"
#include "rpc/rpc_internal.h"
#include "run/run.h"
#include "suite/config.h"
#include "suite/spec.h"

enum {
	PENDING_MAX = 1000,	/* runs that wait */
	NAME_BYTES = 60,	/* of a suite's name, in that of a file */
	RESULTS_MAX = 64 << 20,	/* bytes kept of all results, */
	STREAMS_MAX = 64 << 20,	/* and of all events; but of one run */
	STREAM_MIN = 256 << 10	/* at least this */
};

static const char *const words[] = {
	[RPC_STATE_PENDING] = "pending", [RPC_STATE_RUNNING] = "running",
	[RPC_STATE_COMPLETED] = "completed", [RPC_STATE_FAILED] = "failed",
	[RPC_STATE_CANCELLED] = "cancelled",
};

bool
rpc_run_over(const struct rpc_run *r)
{
	return r->state >= RPC_STATE_COMPLETED;
}

const char *
rpc_run_word(const struct rpc_run *r)
{
	return words[r->cancelling && !rpc_run_over(r) ? RPC_STATE_CANCELLED :
	    r->state];
}

/*
 * The list of all, oldest first.
 */
static void
unlink_run(struct rpc_run *r)
{
	struct rpc *s = r->rpc;

	*r->prev = r->next;
	if (r->next != NULL)
		r->next->prev = r->prev;
	else
		s->last_run = r->prev;
	s->nruns--;
}

static void
forget(struct rpc_run *r)
{
	struct arena arena;

	unlink_run(r);
	rpc_stream_free(&r->stream);
	buf_free(&r->summary);
	buf_free(&r->result);
	buf_free(&r->page);
	arena = r->arena;	/* the run itself is in it */
	arena_free(&arena);
}

/* Of those that are over: what they need to run is freed. */
static void
trim(struct rpc *s)
{
	struct rpc_run *r, *next;
	size_t results = 0, events = 0, ended = s->nruns - s->running;

	for (r = s->runs; r != NULL; r = r->next) {
		results += r->result.n + r->page.n;
		events += r->run == NULL ? r->stream.text.n : 0;
	}
	for (r = s->runs; r != NULL; r = next) {
		next = r->next;
		if (!rpc_run_over(r) || r->run != NULL)
			continue;
		if (results > RESULTS_MAX) {
			results -= r->result.n + r->page.n;
			buf_free(&r->result);
			buf_free(&r->page);
		}
		if (events > STREAMS_MAX) {
			events -= r->stream.text.n;
			rpc_stream_free(&r->stream);
		}
		if (ended > s->kept_max) {
			ended--;
			forget(r);
		}
	}
}

/* Somebody may want to know. */
static void
tell(struct rpc_run *r)
{
	if (r->rpc->changed != NULL)
		r->rpc->changed(r->rpc->changed_arg, r);
}

/*
 * The end of a run.
 */
static void
free_run(struct rpc_run *r)
{
	run_free(r->run);
	r->run = NULL;
	arena_free(&r->suite);
}

static void
disown(struct rpc_run *r)
{
	struct rpc_peer *p = r->owner;

	if (p == NULL)
		return;
	*r->prev_own = r->next_own;
	if (r->next_own != NULL)
		r->next_own->prev_own = r->prev_own;
	p->nruns--;
	r->owner = NULL;
}

static void start_next(struct rpc *);

static void
on_over(void *arg)
{
	struct rpc_run *r = arg;
	struct rpc *s = r->rpc;
	struct rpc_peer *p = r->owner;

	free_run(r);
	if (r->over != NULL)
		r->over(r->arg);
	rpc_tidy(s);
	disown(r);
	s->running--;
	if (p != NULL)
		rpc_settle(p);
	start_next(s);
	trim(s);
}

static void
answer_waiter(struct rpc_run *r)
{
	struct rpc_call *c = r->waiter;

	r->waiter = NULL;
	if (r->state == RPC_STATE_COMPLETED)
		r->answer(c, RPC_KIND__MAX, buf_str(&r->summary));
	else if (r->state == RPC_STATE_CANCELLED)
		r->answer(c, RPC_CANCELLED, STR("Run cancelled"));
	else
		r->answer(c, RPC_RUN_FAILED, r->error);
}

static void
on_done(void *arg)
{
	struct rpc_run *r = arg;
	const struct err *e = run_error(r->run);

	r->state = e->code != ERR_NONE ? RPC_STATE_FAILED :
	    run_cancelled(r->run) ? RPC_STATE_CANCELLED : RPC_STATE_COMPLETED;
	if (r->state == RPC_STATE_FAILED)
		r->error = arena_str(&r->arena, str_of(e->msg));
	rpc_run_keep(r);
	rpc_run_tell_end(r);
	rpc_stream_end(&r->stream);
	tell(r);
	if (r->waiter != NULL)
		answer_waiter(r);
	timer_stop(r->rpc->loop, &r->timer);
	r->timer = (struct timer){ .fn = on_over, .arg = r };
	timer_start(r->rpc->loop, &r->timer, 0);
}

static void on_start(void *);

static void
start_soon(struct rpc *s)
{
	if (s->starting)
		return;
	s->starting = true;
	s->start = (struct timer){ .fn = on_start, .arg = s };
	timer_start(s->loop, &s->start, 0);
}

/* One in a turn: children take their time to start, and others wait. */
static void
on_start(void *arg)
{
	struct rpc *s = arg;
	struct rpc_run *r = s->runs;

	s->starting = false;
	while (r != NULL && !(r->begun && r->state == RPC_STATE_PENDING))
		r = r->next;
	if (r == NULL)
		return;
	start_soon(s);
	r->state = RPC_STATE_RUNNING;
	r->began = loop_now(s->loop);
	run_start(r->run, on_done, r);
	if (r->cancelling)
		run_cancel(r->run);
}

static void
begin(struct rpc_run *r)
{
	r->begun = true;
	r->rpc->active++;
	start_soon(r->rpc);
}

/* In the order in which they were asked for. */
static void
start_next(struct rpc *s)
{
	struct rpc_run *r;

	s->active--;
	for (r = s->runs; r != NULL && s->active < s->runs_max; r = r->next)
		if (!r->begun)
			begin(r);
}

static void
on_cancel(void *arg)
{
	struct rpc_run *r = arg;

	run_cancel(r->run);
}

/* From the loop, for its end must not be told within another answer. */
void
rpc_run_end(struct rpc_run *r)
{
	if (rpc_run_over(r) || r->cancelling)
		return;
	r->cancelling = true;
	if (r->state == RPC_STATE_RUNNING) {
		r->timer = (struct timer){ .fn = on_cancel, .arg = r };
		timer_start(r->rpc->loop, &r->timer, 0);
	} else if (!r->begun)
		begin(r);	/* its end is told as any other's */
}

/*
 * eval.run
 */
struct run_params {
	struct str path, executor, model, judge_model, context_dir, output;
	struct field_strs tasks, tags;
	int64_t trials, workers, timeout;
	bool verbose, detach, fail_fast, events;
};

#define ROW(m, t, ...) FIELD(run_params, m, t, __VA_ARGS__)
static const struct field run_rows[] = {
	ROW(path, FIELD_STR, .flags = FIELD_REQUIRED | FIELD_PATH,
	    .help = "of eval.yaml"),
	ROW(executor, FIELD_STR, .help = "instead of the suite's"),
	ROW(model, FIELD_STR, .help = "instead of the suite's"),
	ROW(judge_model, FIELD_STR, .help = "for graders that ask a model"),
	ROW(verbose, FIELD_BOOL, .help = "more eval.log"),
	ROW(context_dir, FIELD_STR, .alias = "contextDir",
	    .flags = FIELD_PATH, .help = "where input files are"),
	ROW(output, FIELD_STR, .flags = FIELD_PATH,
	    .help = "results file to write"),
	ROW(tasks, FIELD_STRS, .help = "only these, by id or name; globs"),
	ROW(tags, FIELD_STRS, .help = "only tasks with these; globs"),
	ROW(trials, FIELD_INT, .min = 1, .max = 100000,
	    .help = "of each task"),
	ROW(workers, FIELD_INT, .min = 1, .max = 1024,
	    .help = "trials at the same time"),
	ROW(timeout, FIELD_INT, .alias = "timeout_seconds", .min = 1,
	    .max = 86400, .help = "seconds for a trial"),
	ROW(fail_fast, FIELD_BOOL, .alias = "failFast",
	    .help = "start no task after one that did not pass"),
	ROW(detach, FIELD_BOOL, .help = "goes on when the caller has gone"),
	ROW(events, FIELD_BOOL, .help = "eval.event instead of eval.progress"),
};
static const struct field_table run_table = FIELD_TABLE(run_params, run_rows);

static struct str
pick(struct arena *a, struct str given, const char *usual)
{
	return given.n > 0 || usual == NULL ? arena_str(a, given) :
	    arena_str(a, str_of(usual));
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

/* A journal that nobody else sees: it is removed as soon as it is open. */
static const char *
journal_name(struct arena *a)
{
	const char *dir = getenv("TMPDIR");
	unsigned char noise[8] = { 0 };
	struct err e;

	os_random(noise, sizeof(noise), &e);
	return arena_fmt(a, "%s/waza-%ld-%02x%02x%02x%02x%02x%02x.journal",
	    dir != NULL && dir[0] != '\0' ? dir : "/tmp", (long)getpid(),
	    noise[0], noise[1], noise[2], noise[3], noise[4], noise[5]).p;
}

static void
set_opts(struct rpc_run *r, const struct run_params *p, struct run_opts *o)
{
	struct arena *a = &r->suite;

	o->executor = pick(a, p->executor, r->rpc->executor);
	o->model = pick(a, p->model, r->rpc->model);
	o->judge_model = arena_str(a, p->judge_model);
	o->trials = p->trials;
	o->workers = p->workers;
	o->timeout_seconds = p->timeout;
	o->tasks = keep_list(a, &p->tasks, &o->ntasks);
	o->tags = keep_list(a, &p->tags, &o->ntags);
	o->context_dir = keep_path(a, p->context_dir);
	o->output = keep_path(a, p->output);
	o->fail_fast = p->fail_fast;
	o->hub = r->rpc->hub;
	o->verbose = p->verbose;
}

/* A results file of its own, where the server keeps them. */
static void
set_output(struct rpc_run *r, struct run_opts *o)
{
	struct arena *a = &r->suite;
	struct str name = arena_str(a, r->spec->name);
	struct buf b = { 0 };
	size_t i;

	if (r->rpc->results_dir == NULL || o->output != NULL)
		return;
	for (i = 0; i < name.n && i < NAME_BYTES; i++)
		buf_putc(&b, strchr(" /\\:*?\"<>|", name.p[i]) != NULL ||
		    (unsigned char)name.p[i] < ' ' ||
		    (unsigned char)name.p[i] >= 0x7f ||
		    (i == 0 && name.p[i] == '.') ? '_' : name.p[i]);
	o->journal = journal_name(a);
	o->run_id = run_make_id(a);
	o->output = arena_fmt(a, "%s/%.*s%s.json", r->rpc->results_dir,
	    STRF(buf_str(&b)), o->run_id + strlen("run")).p;
	buf_free(&b);
}

/* The suite with its executor, as far as it can be known to work. */
static enum rpc_status
load(struct rpc_run *r, struct rpc_call *c, const struct run_params *p,
    const char *path, const struct run_opts *o)
{
	struct spec_notes notes = { .arena = &r->suite };

	r->spec = spec_load_part(&r->suite, path, &notes);
	if (r->spec != NULL && c->rpc->settings != NULL)
		config_apply(c->rpc->settings, r->spec);
	if (r->spec != NULL && r->spec->config.model.n == 0)
		r->spec->config.model = o->model;
	if (r->spec != NULL)
		rpc_check_suite(r->spec, o->executor.n > 0 ? o->executor :
		    r->spec->config.executor, &notes);
	if (r->spec == NULL || notes.errors > 0)
		return rpc_refuse_suite(c, p->path, &notes);
	return RPC_DONE;
}

static void
link_run(struct rpc_run *r, struct rpc_peer *p)
{
	struct rpc *s = r->rpc;

	if (s->last_run == NULL)
		s->last_run = &s->runs;
	r->prev = s->last_run;
	*s->last_run = r;
	s->last_run = &r->next;
	s->nruns++;
	s->running++;
	if (p->house)
		return;
	r->owner = p;
	r->next_own = p->runs;
	r->prev_own = &p->runs;
	if (r->next_own != NULL)
		r->next_own->prev_own = &r->next_own;
	p->runs = r;
	p->nruns++;
}

/* The more runs go on, the less is kept of each. */
static size_t
stream_share(const struct rpc *s)
{
	size_t n = STREAMS_MAX / (s->running + 1);

	if (n < STREAM_MIN)
		n = STREAM_MIN;
	return n < s->stream_max ? n : s->stream_max;
}

struct rpc_run *
rpc_run_new(struct rpc_call *c, struct str path)
{
	struct arena arena = { 0 };
	struct rpc_run *r;

	if (c->rpc->running >= c->rpc->runs_max + PENDING_MAX) {
		rpc_fail(c, RPC_RATE_LIMITED, NULL);
		return NULL;
	}
	r = NEW(&arena, struct rpc_run);
	r->arena = arena;
	r->rpc = c->rpc;
	r->path = arena_str(&r->arena, path);
	r->started_ns = os_wall_ns();
	return r;
}

int
rpc_run_launch(struct rpc_run *r, struct rpc_peer *owner, struct run_opts *o,
    struct err *e)
{
	struct rpc *s = r->rpc;

	if (o->output == NULL)
		o->journal = journal_name(&r->suite);
	rpc_run_listen(r);
	r->run = run_new(s->loop, s->procs, r->spec, o, &r->bus, e);
	if (r->run == NULL)
		return -1;
	if (o->journal != NULL)
		unlink(o->journal);
	r->id = arena_cstr(&r->arena, str_of(run_results(r->run)->run_id));
	r->name = arena_str(&r->arena, r->spec->name);
	if (o->output != NULL)
		r->output = arena_str(&r->arena, str_of(o->output));
	r->stream.max = stream_share(s);
	r->stream.id = r->id;
	rpc_run_describe(r);
	link_run(r, owner);
	if (s->active < s->runs_max)
		begin(r);
	tell(r);
	return 0;
}

void
rpc_run_discard(struct rpc_run *r)
{
	struct arena arena = r->arena;

	arena_free(&r->suite);
	arena_free(&arena);
}

/* A run that can begin; NULL: the call has failed. */
static struct rpc_run *
make_run(struct rpc_call *c, const struct run_params *p)
{
	struct run_opts o = { 0 };
	struct err e = { 0 };
	struct rpc_run *r;
	const char *path;

	if (rpc_find_suite(c, p->path, &path) != RPC_DONE)
		return NULL;
	r = rpc_run_new(c, p->path);
	if (r == NULL)
		return NULL;
	r->verbose = p->verbose;
	r->detach = p->detach;
	r->events = p->events;
	set_opts(r, p, &o);
	if (load(r, c, p, path, &o) != RPC_DONE) {
		rpc_run_discard(r);
		return NULL;
	}
	set_output(r, &o);
	if (rpc_run_launch(r, c->peer, &o, &e) == -1) {
		rpc_run_discard(r);
		rpc_data(c, "path", p->path);
		rpc_fail(c, RPC_RUN_FAILED, "Run failed: %s", e.msg);
		return NULL;
	}
	return r;
}

static void
put_begun(struct json_out *o, const struct rpc_run *r)
{
	json_open(o, '{');
	rpc_put_text(o, "runId", str_of(r->id));
	rpc_put_text(o, "status", r->begun ? STR("running") : STR("pending"));
	json_close(o, '}');
}

static enum rpc_status
eval_run(struct rpc_call *c, void *params)
{
	struct rpc_run *r = make_run(c, params);

	if (r == NULL)
		return RPC_FAIL;
	put_begun(&c->out, r);
	return RPC_DONE;
}

const struct rpc_method rpc_eval_run = {
	.name = "eval.run", .family = RPC_EVAL, .params = &run_table,
	.fn = eval_run, .help = "runs a suite",
};

/* The call is wanted no more; it is answered when the run has ended. */
static void
stop_waiting(struct rpc_call *c)
{
	rpc_run_end(c->state);
}

static struct rpc_run *
make_silent(struct rpc_call *c, const struct json *params)
{
	struct rpc_run *r = NULL;
	void *decoded;

	if (rpc_decode(c, &rpc_eval_run, params, &decoded) == RPC_DONE)
		r = make_run(c, decoded);
	if (r != NULL)
		r->silent = true;
	return r;
}

enum rpc_status
rpc_run_begin(struct rpc_call *c, const struct json *params, struct buf *value)
{
	struct json_out o = { .put = buf_sink, .ctx = value };
	struct rpc_run *r = make_silent(c, params);

	if (r == NULL)
		return RPC_FAIL;
	put_begun(&o, r);
	return RPC_DONE;
}

enum rpc_status
rpc_run_wait(struct rpc_call *c, const struct json *params,
    void (*answer)(struct rpc_call *, enum rpc_kind, struct str text))
{
	struct rpc_run *r = make_silent(c, params);

	if (r == NULL)
		return RPC_FAIL;
	r->waiter = c;
	r->answer = answer;
	c->state = r;
	c->stop = stop_waiting;
	return RPC_LATER;
}

void
rpc_runs_orphan(struct rpc_peer *p)
{
	struct rpc_run *r;

	for (r = p->rpc->runs; r != NULL; r = r->next)
		rpc_run_drop_listener(r, p);
	while ((r = p->runs) != NULL) {
		disown(r);
		if (!r->detach)
			rpc_run_end(r);
	}
}

void
rpc_runs_cancel(struct rpc *s)
{
	struct rpc_run *r;

	for (r = s->runs; r != NULL; r = r->next)
		rpc_run_end(r);
}

void
rpc_runs_fini(struct rpc *s)
{
	struct rpc_run *r;

	timer_stop(s->loop, &s->start);
	while ((r = s->runs) != NULL) {
		timer_stop(s->loop, &r->timer);
		if (r->waiter != NULL)
			rpc_drop(r->waiter);
		disown(r);
		if (r->run != NULL)
			free_run(r);
		forget(r);
	}
}
