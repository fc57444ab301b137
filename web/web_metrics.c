/* SPDX-License-Identifier: ISC */
/*
 * /metrics: numbers of the server in the text format of Prometheus.  Counters
 * are since the start of the server; they name no suite, run or task.
 */
#include "web/web_api_internal.h"

#include <inttypes.h>

#include "io/conn.h"

static void
put_head(struct buf *b, const char *name, const char *type, const char *help)
{
	buf_fmt(b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void
put_gauge(struct buf *b, const char *name, const char *help, size_t n)
{
	put_head(b, name, "gauge", help);
	buf_fmt(b, "%s %zu\n", name, n);
}

static void
put_counter(struct buf *b, const char *name, const char *help, uint64_t n)
{
	put_head(b, name, "counter", help);
	buf_fmt(b, "%s %" PRIu64 "\n", name, n);
}

static void
put_tally(struct buf *b, const char *name, const char *help,
    const uint64_t v[RPC_TALLIES])
{
	static const char *const words[] = {
		[RPC_PASSED] = "passed", [RPC_FAILED] = "failed",
		[RPC_ERROR] = "error", [RPC_SKIPPED] = "skipped"
	};
	int i;

	put_head(b, name, "counter", help);
	for (i = 0; i < RPC_TALLIES; i++)
		buf_fmt(b, "%s{status=\"%s\"} %" PRIu64 "\n", name, words[i],
		    v[i]);
}

static void
put_work(struct buf *b, const struct rpc_tally *t)
{
	put_tally(b, "waza_runs_total", "Finished runs; skipped: cancelled "
	    "or not graded.", t->runs);
	put_tally(b, "waza_tasks_total", "Finished tasks.", t->tasks);
	put_tally(b, "waza_trials_total", "Finished trials.", t->trials);
	put_counter(b, "waza_input_tokens_total", "Input tokens of agents, as "
	    "far as reported.", t->input_tokens);
	put_counter(b, "waza_output_tokens_total", "Output tokens of agents, "
	    "as far as reported.", t->output_tokens);
	put_head(b, "waza_cost_usd_total", "counter", "Cost of agents in US "
	    "dollars, as far as reported.");
	buf_fmt(b, "waza_cost_usd_total %.9g\n", t->cost);
}

void
web_metrics(struct web_req *r)
{
	struct web_api *api = r->arg;
	struct web *w = r->web;
	struct rpc_view_counts n = rpc_view_counts(w->rpc);
	struct buf *b;

	if (!web_api_args(r, NULL, 0))
		return;
	b = web_begin(r);
	put_head(b, "waza_info", "gauge", "The version of the server.");
	buf_fmt(b, "waza_info{version=\"%s\"} 1\n", w->rpc->version);
	put_head(b, "process_start_time_seconds", "gauge",
	    "Start of the server in seconds since 1970.");
	buf_fmt(b, "process_start_time_seconds %" PRId64 ".%03d\n",
	    api->started_ms / 1000, (int)(api->started_ms % 1000));
	put_gauge(b, "waza_runs_active", "Runs that execute.", n.active);
	put_gauge(b, "waza_runs_waiting", "Runs that wait for their turn.",
	    n.unfinished - n.active);
	put_gauge(b, "waza_evaluation_clients", "Evaluation clients that are "
	    "connected.", w->clients != NULL ? w->clients(w->clients_arg) : 0);
	put_gauge(b, "waza_evaluations_waiting", "Evaluations that wait for "
	    "such a client.", api->queued != NULL ?
	    api->queued(api->clients_arg) : 0);
	put_gauge(b, "waza_connections", "Open connections.",
	    rpc_conns(w->rpc)->n);
	put_work(b, &w->rpc->tally);
	web_end(r, 200, "text/plain; version=0.0.4; charset=utf-8");
}
