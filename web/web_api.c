/* SPDX-License-Identifier: ISC */
/*
 * The API: its table of routes, its setup, and the routes that return what a
 * method returns.
 */
#include "web/web_api_internal.h"

#include <string.h>

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
	struct str left = r->query, key, value;

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
pass_arg(struct web_req *r, const char *method, const char *name,
    const char *key)
{
	struct web_arg arg = { .name = name };

	if (web_api_args(r, &arg, 1))
		pass_on(r, method, object(r->arena, key, &arg), 200);
}

static void
evals(struct web_req *r)
{
	pass_arg(r, "eval.list", "dir", "directory");
}

static void
eval(struct web_req *r)
{
	pass_arg(r, "eval.get", "path", "path");
}

static void
tasks(struct web_req *r)
{
	pass_arg(r, "task.list", "path", "path");
}

/* The runId in the result of eval.run. */
static struct str
run_id(struct arena *a, struct str answer)
{
	return json_text(json_getc(arena_json(a, arena_str(a, answer), NULL),
	    "runId"));
}

static void
start(struct web_req *r)
{
	struct json_mem mem = { arena_hook, r->arena };
	const struct json *params;
	struct buf *b;
	struct json_error e;
	struct rpc_why why;

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
	web_field(r, "Location", arena_fmt(r->arena, "/api/v1/runs/%.*s",
	    STRF(run_id(r->arena, buf_str(b)))));
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

#define V1(path) "/api/v1" path
static const struct web_route rows[] = {
	{ WEB_GET, V1("/runs"), 0, web_api_list },
	{ WEB_POST, V1("/runs"), WEB_JSON, start },
	{ WEB_GET, V1("/runs/:id"), 0, web_api_get },
	{ WEB_DELETE, V1("/runs/:id"), 0, cancel },
	{ WEB_GET, V1("/runs/:id/result"), 0, web_api_result },
	{ WEB_GET, V1("/runs/:id/tasks/:task"), 0, web_api_task },
	{ WEB_GET, V1("/runs/:id/stream"), WEB_QUERY_TOKEN, web_sse_stream },
	{ WEB_GET, V1("/runs/:id/compare/:other"), 0, web_api_compare },
	{ WEB_GET, V1("/events"), WEB_QUERY_TOKEN, web_feed_stream },
	{ WEB_GET, V1("/evals"), 0, evals },
	{ WEB_GET, V1("/eval"), 0, eval },
	{ WEB_GET, V1("/tasks"), 0, tasks },
	{ WEB_GET, V1("/clients"), 0, clients },
	{ WEB_GET, "/api/health", WEB_OPEN, web_upstream_health },
	{ WEB_GET, "/api/summary", 0, web_upstream_summary },
	{ WEB_GET, "/api/runs", 0, web_upstream_list },
	{ WEB_GET, "/api/runs/:id", 0, web_upstream_get },
	{ WEB_GET, "/api/storage/status", 0, web_upstream_storage },
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
web_api_init(struct web_api *api, struct err *e)
{
	struct rpc *rpc = api->web->rpc;

	if (api->results_dir != NULL) {
		api->store = (struct store){ .loop = rpc->loop,
			.dir = api->results_dir, .changed = web_feed_file,
			.later = is_growing, .arg = api };
		if (store_init(&api->store, e) == -1)
			return -1;
		api->stored = true;
	}
	rpc->setup.results_dir = api->results_dir;
	rpc->limits.stream_bytes = STREAM_BYTES;
	rpc->setup.changed = web_feed_run;
	rpc->setup.changed_arg = api;
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
	if (rpc->setup.changed_arg == api)
		rpc->setup.changed = NULL;
	if (rpc->loop == NULL)
		return;
	timer_stop(rpc->loop, &api->beat);
	web_feed_fini(api);
	web_sse_fini(api);
	if (api->stored)
		store_fini(&api->store);
	api->stored = false;
	for (i = 0; i < WEB_API_PAGES; i++)
		buf_free(&api->page[i].body);
}
