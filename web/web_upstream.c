/* SPDX-License-Identifier: ISC */
/*
 * The API of microsoft/waza's dashboard, so that it works with this server.
 *
 * The dashboard shows the first trial of a task, and only runs that are over.
 * An unknown cost is 0; the original invents one.
 */
#include "web/web_api_internal.h"

#include <stdlib.h>

#include "json.h"
#include "results/outcome.h"
#include "results/result.h"

void
web_upstream_health(struct web_req *r)
{
	struct json_out *o = web_json(r);

	json_open(o, '{');
	json_put_member_str(o, "status", STR("ok"));
	json_put_member_str(o, "version", str_of(r->web->rpc->version));
	json_close(o, '}');
	web_end_json(r, 200);
}

void
web_upstream_storage(struct web_req *r)
{
	web_answer(r, 200, "application/json", STR("{\"configured\":false}\n"));
}

/* All runs that are over. */
static struct store_run *
gather(struct web_req *r, size_t *n)
{
	struct web_runs all;
	struct store_run *v;

	web_runs_begin(&all, r->arg, r->arena);
	v = NEW_N(r->arena, struct store_run, all.nlive + all.nfiles);
	for (*n = 0; web_runs_next(&all); )
		if (all.run->state >= STORE_COMPLETED)
			v[(*n)++] = *all.run;
	return v;
}

static double
share(double part, size_t of)
{
	return of > 0 ? part / (double)of : 0;
}

void
web_upstream_summary(struct web_req *r)
{
	size_t i, n, tasks = 0, passed = 0;
	struct store_run *v = gather(r, &n);
	double tokens = 0, cost = 0, seconds = 0;
	struct json_out *o;

	for (i = 0; i < n; i++) {
		tasks += v[i].total;
		passed += v[i].passed;
		tokens += v[i].tokens > 0 ? (double)v[i].tokens : 0;
		cost += v[i].cost > 0 ? v[i].cost : 0;
		seconds += (double)v[i].duration_ms / 1000;
	}
	o = web_json(r);
	json_open(o, '{');
	json_put_member_int(o, "totalRuns", (int64_t)n);
	json_put_member_int(o, "totalTasks", (int64_t)tasks);
	json_put_member_double(o, "passRate",
	    share((double)passed * 100, tasks));
	json_put_member_double(o, "avgTokens", share(tokens, n));
	json_put_member_double(o, "avgCost", share(cost, n));
	json_put_member_double(o, "avgDuration", share(seconds, n));
	json_close(o, '}');
	web_end_json(r, 200);
}

/* A run and the number by which it is sorted. */
struct sorted {
	double by;
	const struct store_run *run;
};

static int
by_number(const void *x, const void *y)
{
	const struct sorted *a = x, *b = y;

	return a->by < b->by ? -1 : a->by > b->by;
}

static double
sort_number(const struct store_run *run, struct str sort)
{
	if (str_is(sort, "tokens"))
		return (double)run->tokens;
	if (str_is(sort, "cost"))
		return run->cost;
	if (str_is(sort, "duration"))
		return (double)run->duration_ms;
	return (double)run->started_ns;		/* the original's default */
}

static void
put_run(struct json_out *o, const struct store_run *run)
{
	char when[RESULT_TIME_MAX];

	result_time(when, run->started_ns);
	json_put_member_str(o, "id", run->id);
	json_put_member_str(o, "spec", run->name);
	json_put_member_str(o, "model", run->model);
	json_put_member_nonempty(o, "judgeModel", run->judge);
	json_put_member_str(o, "outcome",
	    run->ok > 0 ? STR("passed") : STR("failed"));
	json_put_member_int(o, "passCount", (int64_t)run->passed);
	json_put_member_int(o, "taskCount", (int64_t)run->total);
	json_put_member_int(o, "tokens", run->tokens > 0 ? run->tokens : 0);
	json_put_member_double(o, "cost", run->cost > 0 ? run->cost : 0);
	json_put_member_double(o, "duration", (double)run->duration_ms / 1000);
	json_put_member_str(o, "timestamp", str_of(when));
	json_put_member_str(o, "source", STR("local"));
}

void
web_upstream_list(struct web_req *r)
{
	struct str sort = STR(""), order = STR("");
	size_t i, n;
	struct store_run *v = gather(r, &n);
	struct sorted *s = NEW_N(r->arena, struct sorted, n);
	struct json_out *o;

	(void)web_query(r, "sort", &sort);
	(void)web_query(r, "order", &order);
	for (i = 0; i < n; i++)
		s[i] = (struct sorted){ sort_number(&v[i], sort), &v[i] };
	if (n > 1)
		qsort(s, n, sizeof(*s), by_number);
	o = web_json(r);
	json_open(o, '[');
	for (i = 0; i < n; i++) {
		json_open(o, '{');
		put_run(o, s[str_is(order, "asc") ? i : n - 1 - i].run);
		json_close(o, '}');
	}
	json_close(o, ']');
	web_end_json(r, 200);
}

/*
 * One run with its tasks.
 */
static void
copy(struct json_out *o, const char *to, const struct json *obj,
    const char *key, const char *otherwise)
{
	const struct json *v = json_getc(obj, key);

	json_put_key(o, str_of(to));
	if (json_is_set(v))
		json_put(o, v);
	else
		json_put_raw(o, str_of(otherwise));
}

static void
put_graders(struct json_out *o, const struct json *trial)
{
	const struct json *v;

	json_open_member(o, "graderResults", '[');
	for (v = json_first(json_getc(trial, "validations")); v != NULL;
	    v = v->next) {
		json_open(o, '{');
		json_put_member_str(o, "name",
		    json_str(v, "identifier").n > 0 ||
		    json_key(v).p == NULL ? json_str(v, "identifier") :
		    json_key(v));
		json_put_member_str(o, "type", json_str(v, "type"));
		copy(o, "passed", v, "passed", "false");
		copy(o, "score", v, "score", "0");
		copy(o, "weight", v, "weight", "1");
		json_put_member_str(o, "message", json_str(v, "feedback"));
		json_close(o, '}');
	}
	json_close(o, ']');
}

static int64_t
count_of(const struct json *obj, const char *key)
{
	int64_t n = 0;

	return json_int(json_getc(obj, key), &n) ? n : 0;
}

static void
put_digest(struct json_out *o, const struct json *d)
{
	const struct json *u = json_getc(d, "usage");
	int64_t in = count_of(u, "input_tokens");
	int64_t out = count_of(u, "output_tokens");

	if (d == NULL || d->type != JSON_OBJECT)
		return;
	json_open_member(o, "sessionDigest", '{');
	copy(o, "totalTurns", u, "turns", "0");
	copy(o, "toolCallCount", d, "tool_call_count", "0");
	json_put_member_int(o, "tokensIn", in);
	json_put_member_int(o, "tokensOut", out);
	json_put_member_int(o, "tokensTotal", add_near(in, out));
	copy(o, "toolsUsed", d, "tools_used", "[]");
	copy(o, "errors", d, "errors", "[]");
	json_close(o, '}');
}

static void
put_interval(struct json_out *o, const struct json *stats)
{
	const struct json *ci = json_getc(stats, "bootstrap_ci");

	if (ci == NULL || ci->type != JSON_OBJECT)
		return;
	json_open_member(o, "bootstrapCI", '{');
	copy(o, "lower", ci, "lower", "0");
	copy(o, "upper", ci, "upper", "0");
	copy(o, "mean", ci, "mean", "0");
	copy(o, "confidenceLevel", ci, "confidence_level", "0.95");
	json_close(o, '}');
	if (json_getc(stats, "is_significant") != NULL)
		copy(o, "isSignificant", stats, "is_significant", "false");
}

static void
put_task(struct json_out *o, const struct outcome_task *t)
{
	const struct json *trial = t->ntrials > 0 ? t->trials[0].node : NULL;
	const struct json *list = json_getc(trial, "transcript");

	json_open(o, '{');
	json_put_member_str(o, "name", t->name);
	json_put_member_str(o, "outcome",
	    t->status == RESULT_PASSED ? STR("passed") :
	    t->status == RESULT_SKIPPED ? STR("skipped") : STR("failed"));
	json_put_member_double(o, "score", t->score);
	json_put_member_double(o, "duration", (double)t->duration_ms / 1000);
	put_graders(o, trial);
	if (list != NULL && list->type == JSON_ARRAY)
		json_put_member(o, "transcript", list);
	put_digest(o, json_getc(trial, "session_digest"));
	put_interval(o, json_getc(t->node, "stats"));
	json_close(o, '}');
}

void
web_upstream_get(struct web_req *r)
{
	struct web_api *api = r->arg;
	struct web_run at;
	struct store_run run;
	struct outcome *oc;
	struct json_out *o;
	struct err e;
	size_t i;

	oc = web_api_lookup(api, r->param[0], &at) ?
	    web_api_outcome(api, &at, r->arena, true, &e) : NULL;
	if (oc == NULL) {
		web_answer(r, 404, "application/json",
		    STR("{\"error\":\"run not found\",\"code\":404}\n"));
		return;
	}
	if (at.live != NULL)
		rpc_view_brief(at.live, &run);
	else
		run = at.file->run;
	run.id = r->param[0];
	o = web_json(r);
	json_open(o, '{');
	put_run(o, &run);
	json_open_member(o, "tasks", '[');
	for (i = 0; i < oc->ntasks; i++)
		put_task(o, &oc->tasks[i]);
	json_close(o, ']');
	json_close(o, '}');
	web_end_json(r, 200);
}
