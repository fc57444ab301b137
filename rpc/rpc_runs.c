/* SPDX-License-Identifier: ISC */
/*
 * Methods about runs that were started: run.status, run.cancel, run.list,
 * run.result, run.subscribe.
 */
#include "rpc/rpc_run.h"

#include "results/result.h"
#include "rpc/rpc_internal.h"

static struct rpc_run *
find(struct rpc *s, struct str id)
{
	struct rpc_run *r;

	for (r = s->runs; r != NULL; r = r->next)
		if (str_is(id, r->id))
			return r;
	return NULL;
}

static struct rpc_run *
find_or_fail(struct rpc_call *c, struct str id)
{
	struct rpc_run *r = find(c->rpc, id);

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
	    .help = "as eval.run gave it" },
};
static const struct field_table id_table = FIELD_TABLE(id_params, id_rows);

static void
put_state(struct json_out *o, const struct rpc_run *r)
{
	rpc_put_text(o, "runId", str_of(r->id));
	rpc_put_text(o, "status", str_of(rpc_run_word(r)));
}

static enum rpc_status
run_status(struct rpc_call *c, void *params)
{
	const struct id_params *p = params;
	const struct rpc_run *r = find_or_fail(c, p->id);
	struct json_out *o = &c->out;

	if (r == NULL)
		return RPC_FAIL;
	json_open(o, '{');
	put_state(o, r);
	json_put_key(o, STR("result"));
	if (r->summary.n > 0)
		json_put_raw(o, buf_str(&r->summary));
	else
		json_put_null(o);
	json_put_key(o, STR("error"));
	if (r->error.n > 0)
		json_put_str(o, r->error);
	else
		json_put_null(o);
	rpc_run_put_progress(o, r);
	json_close(o, '}');
	return RPC_DONE;
}

const struct rpc_method rpc_run_status = {
	.name = "run.status", .family = RPC_EVAL, .params = &id_table,
	.fn = run_status, .help = "how a run stands",
};

static enum rpc_status
run_stop(struct rpc_call *c, void *params)
{
	const struct id_params *p = params;
	struct rpc_run *r = find_or_fail(c, p->id);

	if (r == NULL)
		return RPC_FAIL;
	rpc_run_end(r);
	json_open(&c->out, '{');
	put_state(&c->out, r);
	json_close(&c->out, '}');
	return RPC_DONE;
}

const struct rpc_method rpc_run_cancel = {
	.name = "run.cancel", .family = RPC_EVAL, .params = &id_table,
	.fn = run_stop, .help = "ends a run",
};

static enum rpc_status
run_list(struct rpc_call *c, void *params)
{
	struct json_out *o = &c->out;
	const struct rpc_run *r;
	char when[RESULT_TIME_MAX];

	(void)params;
	json_open(o, '{');
	json_open_member(o, "runs", '[');
	for (r = c->rpc->runs; r != NULL; r = r->next) {
		json_open(o, '{');
		put_state(o, r);
		rpc_put_text(o, "path", r->path);
		rpc_put_text(o, "name", r->name);
		result_time(when, r->started_ns);
		rpc_put_text(o, "startedAt", str_of(when));
		rpc_run_put_progress(o, r);
		json_close(o, '}');
	}
	json_close(o, ']');
	json_close(o, '}');
	return RPC_DONE;
}

const struct rpc_method rpc_run_list = {
	.name = "run.list", .family = RPC_EVAL, .fn = run_list,
	.help = "runs that go on, and the last that are over",
};

static enum rpc_status
run_result(struct rpc_call *c, void *params)
{
	const struct id_params *p = params;
	const struct rpc_run *r = find_or_fail(c, p->id);

	if (r == NULL)
		return RPC_FAIL;
	rpc_data(c, "runId", p->id);
	if (!rpc_run_over(r))
		return rpc_fail(c, RPC_RESOURCE, "the run is not over");
	if (r->result.n == 0)
		return rpc_fail(c, RPC_RESOURCE, "the results are too large "
		    "to be kept; ask for an output file");
	json_put_raw(&c->out, buf_str(&r->result));
	return RPC_DONE;
}

const struct rpc_method rpc_run_result = {
	.name = "run.result", .family = RPC_EVAL, .params = &id_table,
	.fn = run_result, .help = "the results file of a run that is over",
};

static enum rpc_status
run_subscribe(struct rpc_call *c, void *params)
{
	const struct id_params *p = params;
	struct rpc_run *r = find_or_fail(c, p->id);

	if (r == NULL)
		return RPC_FAIL;
	if (!rpc_run_over(r) && rpc_run_add_listener(r, c->peer) == -1)
		return rpc_fail(c, RPC_RESOURCE,
		    "too many listeners to this run");
	json_open(&c->out, '{');
	put_state(&c->out, r);
	json_close(&c->out, '}');
	return RPC_DONE;
}

const struct rpc_method rpc_run_subscribe = {
	.name = "run.subscribe", .family = RPC_EVAL, .params = &id_table,
	.fn = run_subscribe, .help = "the notifications of a run, from now on",
};
