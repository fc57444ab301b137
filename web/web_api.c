/* SPDX-License-Identifier: ISC */
/*
 * The API: its table of routes, its setup, and the routes that return what a
 * method returns.
 */
#include "web/web_api_internal.h"

#include <assert.h>
#include <string.h>
#include <sys/stat.h>

#include "base/os.h"
#include "io/loop.h"
#include "json.h"
#include "lib/http.h"

enum {
	STREAM_BYTES = 32 << 20,	/* of events kept for a run */
	BEAT_MS = 15000		/* between signs of life on a stream */
};

/*
 * Errors.
 */
void
web_api_why(struct web_req *r, const struct rpc_why *why)
{
	web_fail(r, web_status(why->kind), rpc_kind_name(why->kind),
	    why->message, why->data);
}

void
web_api_fail(struct web_req *r, enum rpc_kind kind, const char *message,
    const char *key, struct str value)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };
	struct rpc_why why = { .kind = kind, .message = str_of(
	    message != NULL ? message : rpc_kind_text(kind)) };

	if (key != NULL) {
		json_open(&o, '{');
		json_put_member_str(&o, key, value);
		json_close(&o, '}');
	}
	why.data = arena_take(r->arena, &b);
	web_api_why(r, &why);
}

/*
 * Queries.
 */
static bool
refuse(struct web_req *r, struct str name, const char *what)
{
	web_api_fail(r, RPC_INVALID_PARAMS, arena_fmt(r->arena,
	    "Invalid params: \"%.*s\" %s", STRF(utf8_cut(name, 60)), what).p,
	    "field", name);
	return false;
}

static bool
set_arg(struct web_req *r, struct web_arg *v, size_t n, struct str key,
    struct str value)
{
	size_t i;

	if (!web_decode(r->arena, key, true, &key) ||
	    !web_decode(r->arena, value, true, &value))
		return refuse(r, key, "is not encoded correctly");
	for (i = 0; i < n && !str_is(key, v[i].name); i++)
		;
	if (i == n)
		return refuse(r, key, "is unknown");
	if (v[i].given)
		return refuse(r, key, "is given twice");
	if (!utf8_valid(value) || (value.n > 0 &&
	    memchr(value.p, '\0', value.n) != NULL))
		return refuse(r, key, "is not UTF-8 text");
	v[i].given = true;
	v[i].value = value;
	return true;
}

bool
web_api_args(struct web_req *r, struct web_arg *v, size_t n)
{
	const struct web_route *row = r->route;
	struct str left = r->query, key, value;
	size_t i;

	assert(n == row->nquery);
	for (i = 0; i < n; i++)
		v[i] = (struct web_arg){ .name = row->query[i].name };
	while (web_next_pair(&left, &key, &value))
		if (!set_arg(r, v, n, key, value))
			return false;
	return true;
}

bool
web_api_count(struct web_req *r, const struct web_arg *a, size_t otherwise,
    size_t max, size_t *out)
{
	size_t i;

	*out = otherwise;
	if (!a->given)
		return true;
	*out = 0;
	for (i = 0; i < a->value.n && a->value.p[i] >= '0' &&
	    a->value.p[i] <= '9' && *out <= max; i++)
		*out = *out * 10 + (size_t)(a->value.p[i] - '0');
	if (i > 0 && i == a->value.n && *out <= max)
		return true;
	return refuse(r, str_of(a->name), arena_fmt(r->arena,
	    "is not a number from 0 to %zu", max).p);
}

/*
 * Methods.
 */
static struct rpc *
rpc_of(const struct web_req *r)
{
	return r->web->rpc;
}

/* Answers with what the method returns. */
static void
pass_on(struct web_req *r, const char *method,
    const struct json *params, int status)
{
	struct buf *b = web_begin(r);
	struct rpc_why why;

	if (rpc_inside(rpc_of(r), r->arena, method, params, b, &why) ==
	    RPC_DONE)
		web_end_json(r, status);
	else
		web_api_why(r, &why);
}

/* An object with one member, or none. */
static const struct json *
object(struct arena *a, const char *key, const struct web_arg *arg)
{
	struct json *o = NEW(a, struct json), *v = NEW(a, struct json);

	o->type = JSON_OBJECT;
	if (!arg->given)
		return o;
	v->type = JSON_STRING;
	v->key = key;
	v->nkey = (uint32_t)strlen(key);
	v->u.text = arg->value.p;
	v->n = (uint32_t)arg->value.n;
	o->u.child = v;
	o->n = 1;
	return o;
}

static void
pass_arg(struct web_req *r, const char *method, const char *key)
{
	struct web_arg arg;

	if (web_api_args(r, &arg, 1))
		pass_on(r, method, object(r->arena, key, &arg), 200);
}

static void
evals(struct web_req *r)
{
	pass_arg(r, "eval.list", "directory");
}

static void
executors(struct web_req *r)
{
	if (web_api_args(r, NULL, 0))
		pass_on(r, "executor.list", NULL, 200);
}

static void
eval(struct web_req *r)
{
	pass_arg(r, "eval.get", "path");
}

static void
tasks(struct web_req *r)
{
	pass_arg(r, "task.list", "path");
}

/* The runId in the result of eval.run. */
static struct str
run_id(struct arena *a, struct str answer)
{
	return json_str(arena_json(a, arena_str(a, answer), NULL), "runId");
}

static void
start(struct web_req *r)
{
	struct json_mem mem = { arena_hook, r->arena };
	const struct json *params;
	struct buf *b;
	struct json_error e;
	struct rpc_why why;
	struct str id;

	if (!web_api_args(r, NULL, 0))
		return;
	params = json_read(&mem, str_after_bom(r->body),
	    rpc_of(r)->limits.depth, &e);
	if (params == NULL) {
		web_api_fail(r, RPC_PARSE_ERROR, NULL, "detail",
		    arena_fmt(r->arena, "%s at byte %zu", e.msg, e.off + 1));
		return;
	}
	if (params->type != JSON_OBJECT) {
		web_api_fail(r, RPC_INVALID_PARAMS,
		    "Invalid params: the body must be an object", NULL,
		    STR(""));
		return;
	}
	b = web_begin(r);
	if (rpc_inside(rpc_of(r), r->arena, "eval.run", params, b, &why) !=
	    RPC_DONE) {
		web_api_why(r, &why);
		return;
	}
	id = run_id(r->arena, buf_str(b));
	if (id.n > 0)		/* of one run */
		web_field(r, "Location", arena_fmt(r->arena,
		    "/api/v1/runs/%.*s", STRF(id)));
	web_end_json(r, 202);
}

static void
cancel(struct web_req *r)
{
	struct web_arg id = { .given = true, .value = r->param[0] };
	struct web_run run;

	if (!web_api_args(r, NULL, 0) || !web_api_find(r, r->param[0], &run))
		return;
	if (run.live == NULL || rpc_view_over(run.live))
		web_api_fail(r, RPC_RUN_OVER, NULL, "runId", r->param[0]);
	else
		pass_on(r, "run.cancel", object(r->arena, "runId", &id), 202);
}

void
web_api_put_clients(struct web_api *api, struct json_out *o)
{
	void *arg = api->clients_arg;

	json_open(o, '{');
	json_put_key(o, STR("clients"));
	if (api->put_clients != NULL)
		api->put_clients(arg, o);
	else
		json_put_raw(o, STR("[]"));
	json_put_member_int(o, "queued",
	    api->queued != NULL ? (int64_t)api->queued(arg) : 0);
	json_close(o, '}');
}

static void
clients(struct web_req *r)
{
	if (!web_api_args(r, NULL, 0))
		return;
	web_api_put_clients(r->arg, web_json(r));
	web_end_json(r, 200);
}

static const char *const states[] = { "pending", "running", "completed",
	"failed", "cancelled", NULL };
static const struct web_param list_query[] = {
	{ "limit", .help = "Number of runs, at most 1000 (default: 50)", .number = true },
	{ "offset", .help = "Number of runs to leave out", .number = true },
	{ "q", .help = "A text in name, id, skill, model, executor or path" },
	{ "status", .help = "State of the runs", .words = states },
	{ "suite", .help = "Name of their suite" },
};
static const struct web_param token_query[] = {
	{ "access_token", .help = "The token, instead of the header" },
};
static const struct web_param stream_query[] = {
	{ "lastEventId", .help = "Id of the last event that was seen", .number = true },
	{ "access_token", .help = "The token, instead of the header" },
};
static const struct web_param size_query[] = {
	{ "size", .help = "Size of the file in bytes, if it comes in pieces", .number = true },
};
static const struct web_param offset_query[] = {
	{ "offset", .help = "Offset of the piece in bytes", .number = true },
};
static const struct web_param dir_query[] = {
	{ "dir", .help = "Directory of the suites" },
};
static const struct web_param path_query[] = {
	{ "path", .help = "Path of the suite", .required = true },
};
static const char *const sorts[] = { "timestamp", "tokens", "cost", "duration",
	NULL };
static const char *const orders[] = { "asc", "desc", NULL };
static const struct web_param sort_query[] = {
	{ "sort", .help = "Key of the order", .words = sorts },
	{ "order", .help = "Direction of the order", .words = orders },
};

#define EVENTS "text/event-stream"
#define V1(path) "/api/v1" path
static const struct web_route rows[] = {
	{ WEB_GET, V1("/runs"), 0, web_api_list, WEB_QUERY(list_query),
	    .help = "List runs, the newest first" },
	{ WEB_POST, V1("/runs"), WEB_JSON, start, .body = "eval.run", .status = 202,
	    .help = "Run a suite" },
	{ WEB_GET, V1("/runs/:id"), 0, web_api_get, .help = "Describe a run with its tasks" },
	{ WEB_DELETE, V1("/runs/:id"), 0, cancel, .status = 202, .help = "Cancel a run" },
	{ WEB_GET, V1("/runs/:id/result"), 0, web_api_result,
	    .help = "Return the results file of a run" },
	{ WEB_GET, V1("/runs/:id/tasks/:task"), 0, web_api_task,
	    .help = "Return a task with its trials" },
	{ WEB_GET, V1("/runs/:id/stream"), WEB_QUERY_TOKEN, web_sse_stream,
	    .type = EVENTS, WEB_QUERY(stream_query), .help = "Stream the events of a run" },
	{ WEB_GET, V1("/runs/:id/compare/:other"), 0, web_api_compare,
	    .help = "Compare two runs" },
	{ WEB_POST, V1("/results"), WEB_JSON, web_meet_begin, WEB_QUERY(size_query),
	    .body = "", .help = "Receive the journal or results file of a shard" },
	{ WEB_POST, V1("/results/:id"), WEB_JSON, web_meet_append, WEB_QUERY(offset_query),
	    .body = "", .help = "Receive its next piece" },
	{ WEB_GET, V1("/events"), WEB_QUERY_TOKEN, web_feed_stream, WEB_QUERY(token_query),
	    .type = EVENTS, .help = "Stream changes of all runs and clients" },
	{ WEB_GET, V1("/evals"), 0, evals, WEB_QUERY(dir_query), .help = "List suites" },
	{ WEB_GET, V1("/eval"), 0, eval, WEB_QUERY(path_query), .help = "Describe a suite" },
	{ WEB_GET, V1("/executors"), 0, executors, .help = "List executors" },
	{ WEB_GET, V1("/tasks"), 0, tasks, WEB_QUERY(path_query),
	    .help = "List the tasks of a suite" },
	{ WEB_GET, V1("/clients"), 0, clients, .help = "List the evaluation clients" },
	{ WEB_GET, V1("/openapi.json"), 0, web_openapi, .help = "Return this document" },
	{ WEB_GET, "/metrics", 0, web_metrics, .type = "text/plain",
	    .help = "Return metrics for Prometheus" },
	{ WEB_GET, "/api/health", WEB_OPEN, web_upstream_health,
	    .help = "Report the state, as microsoft/waza" },
	{ WEB_GET, "/api/summary", 0, web_upstream_summary,
	    .help = "Summarize the runs, as microsoft/waza" },
	{ WEB_GET, "/api/runs", 0, web_upstream_list, WEB_QUERY(sort_query),
	    .list = true, .help = "List runs, as microsoft/waza" },
	{ WEB_GET, "/api/runs/:id", 0, web_upstream_get,
	    .help = "Describe a run, as microsoft/waza" },
	{ WEB_GET, "/api/storage/status", 0, web_upstream_storage,
	    .help = "Describe the storage, as microsoft/waza" },
};

/*
 * The setup.
 */
static void
on_beat(void *arg)
{
	struct web_api *api = arg;

	web_sse_beat(api);
	web_feed_beat(api);
}

void
web_api_beat(struct web_api *api)
{
	timer_once(api->web->rpc->loop, &api->beat, BEAT_MS, on_beat, api);
}

/* The output file of an unfinished run: the store reads it later. */
static bool
is_growing(void *arg, const char *path)
{
	const struct web_api *api = arg;
	struct rpc *rpc = api->web->rpc;
	struct rpc_run *r;

	for (r = rpc_view_next(rpc, NULL); r != NULL;
	    r = rpc_view_next(rpc, r))
		if (!rpc_view_over(r) && str_is(rpc_view(r).output, path))
			return true;
	return false;
}

int
web_api_store(struct web_api *api, const char *dir, struct err *e)
{
	api->store = (struct store){ .loop = api->web->rpc->loop, .dir = dir,
		.changed = web_feed_file, .later = is_growing, .arg = api };
	if (store_init(&api->store, e) == -1)
		return -1;
	api->results_dir = dir;
	api->stored = true;
	return 0;
}

/* Shards that an earlier server received are merged without a request. */
static bool
has_shards(struct web_api *api)
{
	struct stat st;

	return lstat(arena_fmt(&api->arena, "%s/.shards",
	    api->results_dir).p, &st) == 0 && S_ISDIR(st.st_mode);
}

int
web_api_init(struct web_api *api, struct err *e)
{
	struct rpc *rpc = api->web->rpc;
	struct err ignored;

	api->started_ms = os_wall_ns() / 1000000;
	if (api->results_dir != NULL &&
	    web_api_store(api, api->results_dir, e) == -1)
		return -1;
	if (api->stored && has_shards(api))
		(void)web_meet_init(api, &ignored);	/* when one arrives */
	rpc->setup.results_dir = api->read_only ? NULL : api->results_dir;
	rpc->limits.stream_bytes = STREAM_BYTES;
	rpc->setup.changed = web_feed_run;
	rpc->setup.changed_arg = api;
	rpc->setup.put_met = web_meet_put_met;
	web_add(api->web, rows, COUNTOF(rows), api);
	return 0;
}

void
web_api_fini(struct web_api *api)
{
	struct rpc *rpc;
	size_t i;

	if (api->web == NULL)
		return;
	rpc = api->web->rpc;
	if (rpc->setup.changed_arg == api) {
		rpc->setup.changed = NULL;
		rpc->setup.put_met = NULL;
	}
	if (rpc->loop == NULL)
		return;
	timer_stop(rpc->loop, &api->beat);
	web_feed_fini(api);
	web_sse_fini(api);
	if (api->meets)
		meet_fini(&api->meet);
	if (api->stored)
		store_fini(&api->store);
	api->stored = api->meets = false;
	for (i = 0; i < WEB_API_PAGES; i++)
		buf_free(&api->page[i].body);
	arena_free(&api->arena);
}
