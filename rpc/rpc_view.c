/* SPDX-License-Identifier: ISC */
/*
 * What is to be seen of a run: while it goes on, from its results so far;
 * when it is over, from what is kept of them.
 */
#include "rpc/rpc_view.h"

#include "results/event.h"
#include "results/result.h"
#include "results/store.h"
#include "rpc/rpc_internal.h"
#include "rpc/rpc_run.h"
#include "run/run.h"
#include "suite/spec.h"

enum { ERROR_BYTES = 1000 };	/* of a task's error that is kept */

/*
 * Tasks, by what is told of them.
 */
void
rpc_run_note(struct rpc_run *r, const struct event *ev)
{
	struct rpc_task *t;
	struct str s = ev->error;

	if (ev->idx < 0 || (size_t)ev->idx >= r->ntasks)
		return;
	t = &r->tasks[ev->idx];
	if (ev->type == EVENT_TASK_START)
		t->begun = true;
	if (ev->type != EVENT_TASK_COMPLETE || s.n == 0)
		return;
	s.n = s.n > ERROR_BYTES ? ERROR_BYTES : s.n;
	t->error = arena_str(&r->arena, s);
}

static const char *
task_word(const struct rpc_run *r, const struct result_task *t, bool begun)
{
	if (t->status != RESULT_NONE || rpc_run_over(r))
		return result_word(t->status);
	return begun ? "running" : "pending";
}

static void
put_task(struct json_out *o, const struct rpc_run *r,
    const struct result_task *t, const struct rpc_task *more)
{
	json_open(o, '{');
	rpc_put_text(o, "id", t->spec->id);
	rpc_put_text(o, "name", t->spec->name);
	rpc_put_text(o, "status", str_of(task_word(r, t, more->begun)));
	if (result_is_error(t->status))
		rpc_put_text(o, "errorClass", str_of(result_class(t->status)));
	json_put_member_double(o, "score", t->stats.avg);
	rpc_put_int(o, "trials", (int64_t)t->ntrials);
	rpc_put_int(o, "durationMs", t->stats.avg_ms);
	if (more->error.n > 0)
		rpc_put_text(o, "error", more->error);
	json_close(o, '}');
}

static void
put_tasks(struct json_out *o, const struct rpc_run *r)
{
	const struct result_run *res = run_results(r->run);
	size_t i;

	json_open(o, '[');
	for (i = 0; i < res->ntasks; i++)
		put_task(o, r, &res->tasks[i], &r->tasks[i]);
	json_close(o, ']');
}

void
rpc_view_tasks(struct json_out *o, const struct rpc_run *r)
{
	json_put_key(o, STR("tasks"));
	if (r->task_list.n > 0)
		json_put_raw(o, r->task_list);
	else
		put_tasks(o, r);
}

/*
 * Numbers.
 */
void
rpc_view_brief(const struct rpc_run *r, struct store_run *out)
{
	const struct result_run *res;

	*out = r->brief;
	out->state = (enum store_state)(r->cancelling && !rpc_run_over(r) ?
	    RPC_STATE_CANCELLED : r->state);
	out->tasks = (size_t)r->total;
	out->done = (size_t)r->done;
	if (rpc_run_over(r) || r->run == NULL)
		return;
	res = run_results(r->run);
	out->tasks = res->ntasks;
	if (r->state == RPC_STATE_RUNNING)
		out->duration_ms = loop_now(r->rpc->loop) - r->began;
	if (res->usage.input_tokens + res->usage.output_tokens > 0)
		out->tokens = res->usage.input_tokens +
		    res->usage.output_tokens;
	if (res->usage.cost > 0)
		out->cost = res->usage.cost;
}

void
rpc_run_describe(struct rpc_run *r)
{
	const struct result_run *res = run_results(r->run);
	struct store_run *b = &r->brief;
	struct arena *a = &r->arena;

	*b = (struct store_run){ .id = str_of(r->id), .name = r->name,
		.path = r->path, .live = true, .ok = -1, .tokens = -1,
		.cost = -1, .started_ns = res->started_ns };
	b->skill = arena_str(a, r->spec->skill);
	b->executor = arena_str(a, res->executor);
	b->model = arena_str(a, res->model);
	b->judge = arena_str(a, res->judge_model.n > 0 ? res->judge_model :
	    r->spec->config.judge_model);
	r->ntasks = res->ntasks;
	r->tasks = NEW_N(a, struct rpc_task, r->ntasks);
}

static void
sum(struct rpc_run *r)
{
	const struct result_run *res = run_results(r->run);
	struct store_run b;

	rpc_view_brief(r, &b);
	b.summed = true;
	b.total = res->ntasks;
	b.passed = res->sum.passed;
	b.failed = res->sum.failed + res->sum.errors;
	b.errors = res->sum.errors;
	b.skipped = res->sum.skipped;
	b.rate = res->sum.rate;
	b.score = res->sum.score;
	b.sum_ms = b.duration_ms = res->duration_ms;
	b.ok = result_ok(res);
	if (res->usage.input_tokens + res->usage.output_tokens > 0)
		b.tokens = res->usage.input_tokens + res->usage.output_tokens;
	if (res->usage.cost > 0)
		b.cost = res->usage.cost;
	r->brief = b;
}

static void
put_counts(struct json_out *o, const struct store_run *b)
{
	rpc_put_int(o, "total", (int64_t)b->total);
	rpc_put_int(o, "passed", (int64_t)b->passed);
	rpc_put_int(o, "failed", (int64_t)b->failed);
	rpc_put_int(o, "errors", (int64_t)b->errors);
	rpc_put_int(o, "skipped", (int64_t)b->skipped);
	json_put_member_double(o, "passRate", b->rate);
	json_put_member_double(o, "score", b->score);
	rpc_put_int(o, "durationMs", b->sum_ms);
	json_put_member_bool(o, "ok", b->ok > 0);
}

/* What run.status and eval.complete say, while all of it is still there. */
void
rpc_run_keep(struct rpc_run *r)
{
	struct json_out o = { .put = buf_sink, .ctx = &r->summary };
	size_t at, end;

	sum(r);
	json_open(&o, '{');
	put_counts(&o, &r->brief);
	r->counts = arena_fmt(&r->arena, "%.*s}", STRF(buf_str(&r->summary)));
	json_put_key(&o, STR("tasks"));
	at = r->summary.n;
	put_tasks(&o, r);
	end = r->summary.n;
	json_close(&o, '}');
	r->task_list = (struct str){ r->summary.p + at, end - at };
	r->result.max = RPC_RESULT_MAX;
	result_write_buf(run_results(r->run), &r->result);
	if (r->result.full)
		buf_free(&r->result);
}

/*
 * The rest is asked for.
 */
struct rpc_run *
rpc_view_find(struct rpc *s, struct str id)
{
	struct rpc_run *r;

	for (r = s->runs; r != NULL; r = r->next)
		if (str_is(id, r->id))
			return r;
	return NULL;
}

struct rpc_run *
rpc_view_next(struct rpc *s, struct rpc_run *r)
{
	return r == NULL ? s->runs : r->next;
}

bool
rpc_view_over(const struct rpc_run *r)
{
	return rpc_run_over(r);
}

struct str
rpc_view_error(const struct rpc_run *r)
{
	return r->error;
}

struct str
rpc_view_output(const struct rpc_run *r)
{
	return r->output;
}

struct rpc_stream *
rpc_view_stream(struct rpc_run *r)
{
	return &r->stream;
}

struct str
rpc_view_results(const struct rpc_run *r)
{
	return buf_str(&r->result);
}

struct rpc_mark *
rpc_view_mark(struct rpc_run *r)
{
	return &r->mark;
}

struct buf *
rpc_view_page(struct rpc_run *r)
{
	return &r->page;
}

static void
put_trials(struct json_out *o, const struct result_run *res,
    const struct result_task *t)
{
	struct arena a = { 0 };
	const struct json *v;
	struct err e;
	size_t i;

	json_open_member(o, "runs", '[');
	for (i = 0; i < t->ntrials; i++) {
		if (t->trials[i].status == RESULT_NONE)
			continue;
		v = result_read(&a, res, &t->trials[i], &e);
		if (v != NULL)
			json_put(o, v);
	}
	json_close(o, ']');
	arena_free(&a);
}

bool
rpc_view_task(const struct rpc_run *r, struct str id, struct buf *b)
{
	struct json_out o = { .put = buf_sink, .ctx = b };
	const struct result_run *res;
	const struct result_task *t;
	size_t i;

	if (r->run == NULL)
		return false;
	res = run_results(r->run);
	for (i = 0; i < res->ntasks && !str_eq(res->tasks[i].spec->id, id); )
		i++;
	if (i == res->ntasks)
		return false;
	t = &res->tasks[i];
	json_open(&o, '{');
	rpc_put_text(&o, "test_id", t->spec->id);
	rpc_put_text(&o, "display_name", t->spec->name);
	rpc_put_text(&o, "status", str_of(task_word(r, t,
	    r->tasks[i].begun)));
	put_trials(&o, res, t);
	json_close(&o, '}');
	return true;
}

/*
 * Methods from within.
 */
enum rpc_status
rpc_inside(struct rpc *s, struct arena *a, const struct rpc_method *m,
    const struct json *params, struct buf *value, struct rpc_why *why)
{
	struct rpc_call c = { .peer = &s->house, .rpc = s, .method = m,
		.arena = a };
	size_t from = value->n;
	struct buf data = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &data };
	enum rpc_status status;

	s->house.rpc = s;
	s->house.via = RPC_TCP;
	s->house.house = true;
	status = rpc_ask(&c, m, params, value);
	if (status != RPC_FAIL)
		return status;
	value->n = from;
	json_open(&o, '{');
	rpc_put_data(&o, &c);
	json_close(&o, '}');
	*why = (struct rpc_why){ c.kind, arena_str(a, c.message),
		arena_str(a, buf_str(&data)) };
	buf_free(&data);
	return RPC_FAIL;
}
