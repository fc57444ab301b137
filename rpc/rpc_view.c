/* SPDX-License-Identifier: ISC */
/*
 * The public view of a run: from its results so far until it is over, then
 * from its record.
 */
#include "rpc/rpc_view.h"

#include <sys/stat.h>

#include "results/result.h"
#include "rpc/rpc_internal.h"
#include "run/run.h"
#include "suite/spec.h"

enum { ERROR_BYTES = 1000 };	/* kept of a task's error */

/*
 * Tasks.
 */
void
rpc_run_note(struct rpc_run *r, const struct event *ev)
{
	struct rpc_run_task *t;

	if (ev->idx < 0 || (size_t)ev->idx >= r->progress.ntasks)
		return;
	t = &r->progress.tasks[ev->idx];
	if (ev->type == EVENT_TASK_START)
		t->started = true;
	if (ev->type == EVENT_TASK_COMPLETE && ev->error.n > 0)
		t->error = arena_str(&r->arena,
		    utf8_cut(ev->error, ERROR_BYTES));
}

static const char *
task_word(const struct rpc_run *r, const struct result_task *t, bool started)
{
	if (t->status != RESULT_NONE || rpc_view_over(r))
		return result_word(t->status);
	return started ? "running" : "pending";
}

static void
put_task(struct json_out *o, const struct rpc_run *r,
    const struct result_task *t, const struct rpc_run_task *more)
{
	const struct result_run *res = run_results(r->engine.run);
	int64_t passed = 0;
	size_t i;

	for (i = 0; i < t->ntrials; i++)
		passed += t->trials[i].status == RESULT_PASSED;
	json_open(o, '{');
	json_put_member_str(o, "id", t->spec->id);
	json_put_member_str(o, "name", t->spec->name);
	json_put_member_cstr(o, "status", task_word(r, t, more->started));
	if (result_is_error(t->status))
		json_put_member_cstr(o, "errorClass", result_class(t->status));
	json_put_member_double(o, "score", t->stats->avg);
	json_put_member_int(o, "trials", (int64_t)res->trials);
	json_put_member_int(o, "passed", passed);
	json_put_member_int(o, "durationMs", t->stats->avg_ms);
	json_put_member_nonempty(o, "error", more->error.n == 0 &&
	    t->more->skipped != NULL ? str_of(t->more->skipped) : more->error);
	json_close(o, '}');
}

static void
put_tasks(struct json_out *o, const struct rpc_run *r)
{
	const struct result_run *res = run_results(r->engine.run);
	size_t i;

	json_open(o, '[');
	for (i = 0; i < res->ntasks; i++)
		put_task(o, r, &res->tasks[i], &r->progress.tasks[i]);
	json_close(o, ']');
}

void
rpc_view_tasks(struct json_out *o, const struct rpc_run *r)
{
	json_put_key(o, STR("tasks"));
	if (r->record.tasks.n > 0)
		json_put_raw(o, r->record.tasks);
	else
		put_tasks(o, r);
}

/*
 * Numbers.
 */
static void
put_usage(struct store_run *out, const struct result_run *res)
{
	int64_t tokens = res->usage.input_tokens + res->usage.output_tokens;

	if (tokens > 0)
		out->tokens = tokens;
	if (res->usage.cost > 0)
		out->cost = res->usage.cost;
}

void
rpc_view_brief(const struct rpc_run *r, struct store_run *out)
{
	const struct result_run *res;

	*out = r->record.brief;
	out->state = (enum store_state)(r->cancelling && !rpc_view_over(r) ?
	    RPC_STATE_CANCELLED : r->state);
	out->tasks = (size_t)r->progress.total;
	out->done = (size_t)r->progress.done;
	if (rpc_view_over(r) || r->engine.run == NULL)
		return;
	res = run_results(r->engine.run);
	out->tasks = res->ntasks;
	if (r->state == RPC_STATE_RUNNING)
		out->duration_ms = loop_now(r->rpc->loop) -
		    r->engine.started_ms;
	put_usage(out, res);
}

void
rpc_run_describe(struct rpc_run *r)
{
	const struct result_run *res = run_results(r->engine.run);
	struct store_run *b = &r->record.brief;
	struct arena *a = &r->arena;

	*b = (struct store_run){ .id = str_of(r->id), .name = r->name,
		.path = r->path, .live = true, .ok = -1, .tokens = -1,
		.cost = -1, .started_ns = res->started_ns };
	b->skill = arena_str(a, r->engine.suite->skill);
	b->executor = arena_str(a, res->executor);
	b->model = arena_str(a, res->model);
	b->judge = arena_str(a, res->judge_model.n > 0 ? res->judge_model :
	    r->engine.suite->config.judge_model);
	r->progress.ntasks = res->ntasks;
	r->progress.tasks = NEW_N(a, struct rpc_run_task, res->ntasks);
}

static void
sum(struct rpc_run *r)
{
	const struct result_run *res = run_results(r->engine.run);
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
	put_usage(&b, res);
	r->record.brief = b;
}

/* Makes the record while the engine's results are still there. */
void
rpc_run_keep(struct rpc_run *r)
{
	struct rpc_run_record *rec = &r->record;
	struct json_out o = { .put = buf_sink, .ctx = &rec->summary };
	size_t at, end;
	struct stat st;

	sum(r);
	json_open(&o, '{');
	store_put_counts(&o, &rec->brief);
	json_put_member_bool(&o, "ok", rec->brief.ok > 0);
	rec->counts = arena_fmt(&r->arena, "%.*s}",
	    STRF(buf_str(&rec->summary)));
	json_put_key(&o, STR("tasks"));
	at = rec->summary.n;
	put_tasks(&o, r);
	end = rec->summary.n;
	json_close(&o, '}');
	rec->tasks = (struct str){ rec->summary.p + at, end - at };
	rec->result.max = RPC_RESULT_MAX;
	result_write_buf(run_results(r->engine.run), &rec->result);
	if (rec->result.full)
		buf_free(&rec->result);
	if (r->output.n > 0 && stat(arena_cstr(&r->arena, r->output),
	    &st) == 0)
		store_stamp(&rec->stamp, &st);
}

struct rpc_view_counts
rpc_view_counts(const struct rpc *s)
{
	const struct rpc_runs *all = &s->state->runs;

	return (struct rpc_view_counts){ all->n, all->unfinished,
		all->active };
}

struct rpc_run *
rpc_view_next(struct rpc *s, struct rpc_run *r)
{
	return r == NULL ? s->state->runs.head : r->next;
}

struct rpc_run *
rpc_view_find(struct rpc *s, struct str id)
{
	struct rpc_run *r;

	for (r = s->state->runs.head; r != NULL; r = r->next)
		if (str_is(id, r->id))
			break;
	return r;
}

struct rpc_view
rpc_view(struct rpc_run *r)
{
	return (struct rpc_view){ .error = r->record.error,
		.output = r->output, .results = buf_str(&r->record.result),
		.stamp = &r->record.stamp,
		.stream = &r->stream, .shown = &r->record.shown };
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

	if (r->engine.run == NULL)
		return false;
	res = run_results(r->engine.run);
	for (i = 0; i < res->ntasks && !str_eq(res->tasks[i].spec->id, id); )
		i++;
	if (i == res->ntasks)
		return false;
	t = &res->tasks[i];
	json_open(&o, '{');
	json_put_member_str(&o, "test_id", t->spec->id);
	json_put_member_str(&o, "display_name", t->spec->name);
	json_put_member_cstr(&o, "status", task_word(r, t,
	    r->progress.tasks[i].started));
	put_trials(&o, res, t);
	json_close(&o, '}');
	return true;
}
