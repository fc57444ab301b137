/* SPDX-License-Identifier: ISC */
/*
 * Shards that run elsewhere and send their journals and results files here.
 *
 *	POST /api/v1/results		the beginning of a file, or all of it
 *	POST /api/v1/results/ID		the next piece, ?offset=N
 *
 * results/meet/ receives and merges them; the store lists the merged file.
 */
#include "web/web_api_internal.h"

#include "json.h"
#include "lib/http.h"
#include "results/history.h"
#include "results/result.h"

enum { MET_MAX = 100 };		/* runs that run.list has */

static const struct {
	int http;
	const char *kind, *why;		/* of an error */
} statuses[] = {
	[MEET_MORE] = { 202, NULL, NULL },
	[MEET_STORED] = { 200, NULL, NULL },
	[MEET_OVER] = { 200, NULL, NULL },
	[MEET_INVALID] = { 422, "validation_failed", NULL },
	[MEET_CONFLICT] = { 409, "conflict", NULL },
	[MEET_UNKNOWN] = { 404, "not_found",
	    "Not found: send the file from its beginning" },
	[MEET_LIMIT] = { 413, "too_large", NULL },
	[MEET_BUSY] = { 503, "resource_exhausted", NULL },
	[MEET_FAILED] = { 500, "io_error", NULL },
};

static void
put_shard(struct json_out *o, const struct meet_reply *m)
{
	if (m->n == 0)
		return;
	json_open_member(o, "shard", '{');
	json_put_member_int(o, "k", m->k);
	json_put_member_int(o, "n", m->n);
	json_close(o, '}');
}

static void
on_reply(void *arg, const struct meet_reply *m)
{
	struct web_req *r = arg;
	struct buf b = { 0 };
	struct json_out data = { .put = buf_sink, .ctx = &b }, *o;
	const char *why = m->why != NULL ? m->why : statuses[m->status].why;

	if (statuses[m->status].kind != NULL) {
		json_open(&data, '{');
		if (m->id.n > 0) {
			json_put_member_str(&data, "id", m->id);
			json_put_member_int(&data, "offset", m->offset);
		}
		json_close(&data, '}');
		web_fail(r, statuses[m->status].http,
		    statuses[m->status].kind, str_of(why), buf_str(&b));
		buf_free(&b);
		return;
	}
	o = web_json(r);
	json_open(o, '{');
	json_put_member_nonempty(o, "id", m->id);
	json_put_member_int(o, "offset", m->offset);
	json_put_member_nonempty(o, "runId", m->run_id);
	put_shard(o, m);
	json_put_member_bool(o, "over", m->status == MEET_OVER);
	json_close(o, '}');
	web_end_json(r, statuses[m->status].http);
}

static void
on_gone(void *arg)
{
	struct web_req *r = arg;
	const struct web_api *api = r->arg;

	if (api->meets)
		meet_forget(r->state, r);
}

/* A file that is checked is answered later. */
static void
wait_for(struct web_req *r, struct meet_upload *u)
{
	if (u == NULL)
		return;
	r->state = u;
	r->body = STR("");
	web_later(r, on_gone, r);
}

/* The merged file of a run was replaced: the store looks for it soon. */
static void
on_changed(void *arg)
{
	struct web_api *api = arg;

	store_wake(&api->store);
}

int
web_meet_init(struct web_api *api, struct err *e)
{
	struct rpc *rpc = api->web->rpc;

	api->meet = (struct meet){ .loop = rpc->loop, .procs = rpc->procs,
		.dir = api->results_dir, .changed = on_changed, .arg = api };
	if (meet_init(&api->meet, e) == -1) {
		meet_fini(&api->meet);
		return -1;
	}
	api->meets = true;
	return 0;
}

/* The first file that arrives creates the directory of results. */
static bool
is_ready(struct web_req *r)
{
	struct web_api *api = r->arg;
	struct err e = { 0 };

	if (api->meets)
		return true;
	if (!api->stored && (api->root == NULL ||
	    history_make(&api->arena, api->root, &e) == -1 ||
	    web_api_store(api, history_dir(&api->arena, api->root),
	    &e) == -1)) {
		web_fail(r, 503, "resource_exhausted", str_of(e.msg[0] != '\0' ?
		    e.msg : "this server keeps no results"), STR(""));
		return false;
	}
	if (web_meet_init(api, &e) == 0)
		return true;
	web_fail(r, 503, "resource_exhausted", str_of(e.msg), STR(""));
	return false;
}

void
web_meet_begin(struct web_req *r)
{
	struct web_arg size;
	struct web_api *api = r->arg;
	size_t n;

	if (!web_api_args(r, &size, 1) ||
	    !web_api_count(r, &size, 0, (size_t)MEET_PART_MAX, &n) ||
	    !is_ready(r))
		return;
	wait_for(r, meet_begin(&api->meet, &(struct meet_piece){
		.text = r->body, .size = (int64_t)n, .reply = on_reply,
		.arg = r }));
}

void
web_meet_append(struct web_req *r)
{
	struct web_arg offset;
	struct web_api *api = r->arg;
	size_t n;

	if (!web_api_args(r, &offset, 1) ||
	    !web_api_count(r, &offset, 0, (size_t)MEET_PART_MAX, &n) ||
	    !is_ready(r))
		return;
	wait_for(r, meet_append(&api->meet, &(struct meet_piece){
		.text = r->body, .id = r->param[0], .offset = (int64_t)n,
		.reply = on_reply, .arg = r }));
}

/*
 * JSON-RPC.
 */
static void
put_result(struct json_out *o, const struct store_run *run)
{
	if (run->state == STORE_RUNNING) {
		json_put_member_null(o, "result");
		json_put_member_null(o, "error");
		return;
	}
	json_open_member(o, "result", '{');
	json_put_member_bool(o, "ok", run->ok > 0);
	store_put_summary(o, run);
	json_close(o, '}');
	json_put_member_null(o, "error");
}

static void
put_run(struct web_api *api, struct json_out *o, const struct store_run *run,
    bool whole)
{
	char when[RESULT_TIME_MAX];

	result_time(when, run->started_ns);
	json_open(o, '{');
	json_put_member_str(o, "runId", run->id);
	json_put_member_cstr(o, "status", store_state_name(run->state));
	if (whole)
		put_result(o, run);
	json_put_member_str(o, "path", run->path);
	json_put_member_str(o, "name", run->name);
	json_put_member_cstr(o, "startedAt", when);
	json_open_member(o, "progress", '{');
	json_put_member_int(o, "totalTasks", (int64_t)run->tasks);
	json_put_member_int(o, "tasksDone", (int64_t)run->done);
	json_close(o, '}');
	if (run->state != STORE_COMPLETED)
		meet_put(&api->meet, o, run->id);
	json_close(o, '}');
}

bool
web_meet_put_met(void *arg, struct json_out *o, struct str id)
{
	struct web_api *api = arg;
	const struct store_file *f;
	const char *at = NULL;
	size_t n = 0;

	while (api->meets && (at = meet_next(&api->meet, at)) != NULL &&
	    n < MET_MAX) {
		if (id.n > 0 && !str_is(id, at))
			continue;
		f = store_find(&api->store, str_of(at));
		if (f == NULL)
			continue;
		put_run(api, o, &f->run, id.n > 0);
		n++;
	}
	return n > 0;
}

void
web_meet_put(struct web_api *api, struct json_out *o,
    const struct store_run *run)
{
	store_put(o, run);
	if (api->meets && !run->live && run->state != STORE_COMPLETED)
		meet_put(&api->meet, o, run->id);
}
