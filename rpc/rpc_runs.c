/* SPDX-License-Identifier: ISC */
/*
 * Methods about runs: run.status, run.cancel, run.list, run.result,
 * run.subscribe.
 */
#include "rpc/rpc_internal.h"

#include "results/result.h"

static struct rpc_run *
find(struct rpc_call *c, struct str id)
{
	struct rpc_run *r = rpc_view_find(c->rpc, id);

	if (r == NULL) {
		rpc_data(c, "runId", id);
		rpc_fail(c, RPC_RUN_NOT_FOUND, NULL);
	}
	return r;
}

struct id_params {
	struct str id;
};
static const struct field id_rows[] = {
	{ .key = "runId", .alias = "run_id", .type = FIELD_STR,
	    .flags = FIELD_REQUIRED, .off = offsetof(struct id_params, id),
	    .help = "as eval.run returned it" },
};
static const struct field_table id_table = FIELD_TABLE(id_params, id_rows);

static enum rpc_status
answer_state(struct rpc_call *c, const struct rpc_run *r)
{
	json_open(&c->out, '{');
	rpc_run_put_state(&c->out, r);
	json_close(&c->out, '}');
	return RPC_DONE;
}

static enum rpc_status
run_status(struct rpc_call *c, void *params)
{
	const struct rpc_setup *s = &c->rpc->setup;
	const struct id_params *p = params;
	const struct rpc_run *r;
	const struct rpc_run_record *rec;
	struct json_out *o = &c->out;

	if (s->put_met != NULL && p->id.n > 0 &&
	    s->put_met(s->changed_arg, o, p->id))
		return RPC_DONE;
	r = find(c, p->id);
	if (r == NULL)
		return RPC_FAIL;
	rec = &r->record;
	json_open(o, '{');
	rpc_run_put_state(o, r);
	json_put_member_raw(o, "result", rec->summary.n > 0 ?
	    buf_str(&rec->summary) : STR("null"));
	if (rec->error.n > 0)
		json_put_member_str(o, "error", rec->error);
	else
		json_put_member_null(o, "error");
	rpc_run_put_progress(o, r);
	json_close(o, '}');
	return RPC_DONE;
}

static enum rpc_status
cancel_run(struct rpc_call *c, void *params)
{
	const struct id_params *p = params;
	struct rpc_run *r = find(c, p->id);

	if (r == NULL)
		return RPC_FAIL;
	rpc_run_cancel(r);
	return answer_state(c, r);
}

static enum rpc_status
run_list(struct rpc_call *c, void *params)
{
	struct json_out *o = &c->out;
	const struct rpc_run *r;
	char when[RESULT_TIME_MAX];

	(void)params;
	json_open(o, '{');
	json_open_member(o, "runs", '[');
	for (r = c->rpc->state->runs.head; r != NULL; r = r->next) {
		json_open(o, '{');
		rpc_run_put_state(o, r);
		json_put_member_str(o, "path", r->path);
		json_put_member_str(o, "name", r->name);
		result_time(when, r->created_ns);
		json_put_member_cstr(o, "startedAt", when);
		rpc_run_put_progress(o, r);
		json_close(o, '}');
	}
	if (c->rpc->setup.put_met != NULL)
		(void)c->rpc->setup.put_met(c->rpc->setup.changed_arg, o,
		    STR(""));
	json_close(o, ']');
	json_close(o, '}');
	return RPC_DONE;
}

static enum rpc_status
run_result(struct rpc_call *c, void *params)
{
	const struct id_params *p = params;
	const struct rpc_run *r = find(c, p->id);

	if (r == NULL)
		return RPC_FAIL;
	rpc_data(c, "runId", p->id);
	if (!rpc_view_over(r))
		return rpc_fail(c, RPC_RESOURCE, "the run is not over");
	if (r->record.result.n == 0)
		return rpc_fail(c, RPC_RESOURCE, "the results are too large "
		    "to be kept; ask for an output file");
	json_put_raw(&c->out, buf_str(&r->record.result));
	return RPC_DONE;
}

static enum rpc_status
run_subscribe(struct rpc_call *c, void *params)
{
	const struct id_params *p = params;
	struct rpc_run *r = find(c, p->id);

	if (r == NULL)
		return RPC_FAIL;
	if (!rpc_view_over(r) && rpc_run_add_listener(r, c->peer) == -1)
		return rpc_fail(c, RPC_RESOURCE,
		    "too many subscribers to this run");
	return answer_state(c, r);
}

#define ROW(n, table, function, text) { .name = n, .family = RPC_EVAL, \
	.flags = RPC_AS_TOOL, .params = table, .fn = function, .help = text }
static const struct rpc_method methods[] = {
	ROW("run.cancel", &id_table, cancel_run, "cancel a run"),
	ROW("run.list", NULL, run_list,
	    "list the runs that are not over and the last that are"),
	ROW("run.result", &id_table, run_result,
	    "the results file of a run that is over"),
	ROW("run.status", &id_table, run_status, "the state of a run"),
	{ .name = "run.subscribe", .family = RPC_EVAL, .params = &id_table,
	    .fn = run_subscribe,
	    .help = "get the notifications of a run from now on" },
};

const struct rpc_module rpc_runs_module = { .methods = methods,
	.nmethods = COUNTOF(methods) };
