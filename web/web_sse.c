/* SPDX-License-Identifier: ISC */
/*
 * The events of a run to all who read them (server-sent events, as the HTML
 * standard has them).
 *
 * A reader is a number: that of the event it gets next.  What it gets are
 * bytes as rpc_stream.h keeps them, many events at a time.  While much waits
 * to be sent to it, it gets nothing; it goes on when that has left, with what
 * is still kept by then.  So a reader costs no more than READER_BYTES however
 * slow it is, and one that has left can come again and name the last event it
 * has seen.
 *
 * All readers of a run hang on a hub.  New events do not go out one by one:
 * the hub sends to its readers in slices of time, and while runs go on it rests
 * after each, SHARE times as long as it took, so that many readers do not slow
 * the run down.  What they lag behind by then they get when it is over;
 * only when events are about to be dropped the run has to wait.
 */
#include "web/web_api_internal.h"

#include "base/os.h"
#include "io/loop.h"
#include "lib/http.h"
#include "rpc/rpc_stream.h"

enum {
	READER_BYTES = 64 << 10,	/* that wait for one */
	SLICE_MS = 2,		/* of sending, while runs go on, */
	IDLE_SLICE_MS = 20,	/* and while there are none */
	SHARE = 32,		/* of rest to one of work */
	REST_MS = 1000		/* at most */
};
#define MS INT64_C(1000000)

struct web_hub {
	struct arena own;	/* it is in it */
	struct web_api *api;
	struct rpc_run *run;
	struct rpc_stream *stream;
	struct rpc_tap tap;
	struct timer timer;
	bool waiting;		/* the timer runs */
	int64_t rest_until;	/* on the loop's clock */
	uint64_t sent;		/* the first that somebody has not got, */
	uint64_t least;		/* as far as is known now */
	bool more;		/* somebody could take more */
	struct web_reader *readers;
	struct web_reader *turn;	/* whose it is; NULL: the first's */
	struct web_hub *next, **prev;
};

struct web_reader {
	struct web_req *req;
	struct web_hub *hub;
	uint64_t at;		/* the number of the event it gets next */
	struct web_reader *next, **prev;
};

/*
 * Hubs come with the first reader and go with the last.
 */
static void
close_hub(struct web_hub *h)
{
	struct arena own = h->own;

	rpc_stream_untap(&h->tap);
	timer_stop(h->api->web->rpc->loop, &h->timer);
	*h->prev = h->next;
	if (h->next != NULL)
		h->next->prev = h->prev;
	arena_free(&own);
}

static void
unlink_reader(struct web_reader *r)
{
	*r->prev = r->next;
	if (r->next != NULL)
		r->next->prev = r->prev;
	if (r->hub->turn == r)
		r->hub->turn = r->next;
	r->hub = NULL;
}

static void
on_reader_gone(void *arg)
{
	struct web_reader *r = arg;
	struct web_hub *h = r->hub;

	if (h == NULL)
		return;
	unlink_reader(r);
	if (h->readers == NULL)
		close_hub(h);
}

static size_t
room(const struct web_req *req)
{
	size_t n = WEB_STREAM_MAX - web_stream_room(req);

	return n < READER_BYTES ? READER_BYTES - n : 0;
}

/* Sends what there is, as much as it takes; true: it has ended. */
static bool
feed(struct web_reader *r)
{
	const struct rpc_stream *s = r->hub->stream;
	struct str text;

	while (r->at < s->next && room(r->req) > 0) {
		text = rpc_stream_get(s, &r->at, room(r->req));
		if (!web_stream_put(r->req, text))
			return false;	/* it is sent away */
	}
	if (!s->over || r->at < s->next)
		return false;
	unlink_reader(r);
	web_stream_end(r->req);
	return true;
}

/* After its rest, if that can be. */
static void
soon(struct web_hub *h)
{
	struct rpc *rpc = h->api->web->rpc;
	int64_t rest = h->rest_until - loop_now(rpc->loop);

	if (rpc->active == 0 || rest < 0 || h->stream->over ||
	    rpc_stream_bytes(h->stream, h->sent) > h->stream->max / 4 * 3)
		rest = 0;
	if (h->waiting && (rest > 0 || h->timer.at <= loop_now(rpc->loop)))
		return;
	h->waiting = true;
	timer_start(rpc->loop, &h->timer, rest);
}

static void
on_drained(void *arg)
{
	struct web_reader *r = arg;
	struct web_hub *h = r->hub;

	if (h == NULL || (r->at >= h->stream->next && !h->stream->over))
		return;
	if (h->api->web->rpc->active > 0 && !h->stream->over) {
		soon(h);
		return;
	}
	feed(r);
	if (h->readers == NULL)
		close_hub(h);
}

/*
 * To all of them, a slice of time after the other.
 */
static void
serve(struct web_reader *r)
{
	struct web_hub *h = r->hub;
	const struct rpc_stream *s = h->stream;

	if ((r->at >= s->next && !s->over) || feed(r))
		return;
	web_stream_flush(r->req);
	if (r->at >= s->next || room(r->req) == 0)
		return;		/* else: it goes on when all has left */
	h->more = true;
	if (r->at < h->least)
		h->least = r->at;
}

static void
on_time(void *arg)
{
	struct web_hub *h = arg;
	struct rpc *rpc = h->api->web->rpc;
	int64_t start = os_now_ns(), took = 0;
	int64_t slice = rpc->active > 0 ? SLICE_MS : IDLE_SLICE_MS;
	struct web_reader *r = h->turn;

	h->waiting = false;
	if (r == NULL) {
		r = h->readers;
		h->least = h->stream->next;
		h->more = false;
	}
	while (r != NULL && took < slice * MS) {
		h->turn = r->next;
		serve(r);
		r = h->turn;
		took = os_now_ns() - start;
	}
	took = took * SHARE / MS;
	h->rest_until = loop_clock(rpc->loop) +
	    (took < REST_MS ? took : REST_MS);
	if (r == NULL)
		h->sent = h->least;
	if (h->readers == NULL)
		close_hub(h);
	else if (r != NULL || h->more)
		soon(h);
}

static void
on_event(void *arg)
{
	soon(arg);
}

/* The run is forgotten; who reads of it has to ask again. */
static void
on_stream_gone(void *arg)
{
	struct web_hub *h = arg;
	struct web_reader *r;

	while ((r = h->readers) != NULL) {
		unlink_reader(r);
		web_stream_end(r->req);
	}
	close_hub(h);
}

static struct web_hub *
hub_of(struct web_api *api, struct rpc_run *run)
{
	struct arena own = { 0 };
	struct web_hub *h;

	for (h = api->hubs; h != NULL; h = h->next)
		if (h->run == run)
			return h;
	h = NEW(&own, struct web_hub);
	h->own = own;
	h->api = api;
	h->run = run;
	h->stream = rpc_view_stream(run);
	h->sent = h->stream->next;
	h->tap = (struct rpc_tap){ .fn = on_event, .gone = on_stream_gone,
		.arg = h };
	h->timer = (struct timer){ .fn = on_time, .arg = h };
	rpc_stream_tap(h->stream, &h->tap);
	h->next = api->hubs;
	h->prev = &api->hubs;
	if (h->next != NULL)
		h->next->prev = &h->next;
	api->hubs = h;
	return h;
}

/*
 * A reader.  One that has seen the end is told that there is no more: a
 * browser would ask again and again.
 */
static bool
last_seen(struct web_req *r, uint64_t *seen)
{
	struct web_arg args[] = { { .name = "lastEventId" },
		{ .name = "access_token" } };
	struct str head = http_get(r->head, "last-event-id");
	size_t n;

	if (!web_api_args(r, args, COUNTOF(args)))
		return false;
	if (head.n > 0) {
		args[0].given = true;
		args[0].value = head;
	}
	args[0].given = args[0].given && args[0].value.n > 0;
	if (!web_api_count(r, &args[0], 0, (size_t)1 << 31, &n))
		return false;
	*seen = n;
	return true;
}

static void
put_start(struct web_req *r)
{
	web_stream_put(r, STR("retry: 1000\n\n"));
}

static void
join(struct web_req *req, struct rpc_run *run, uint64_t seen)
{
	struct web_stream st = { .gone = on_reader_gone,
		.drained = on_drained };
	struct web_api *api = req->arg;
	struct web_reader *r;
	struct web_hub *h;

	web_later(req, NULL, NULL);
	r = NEW(req->arena, struct web_reader);
	st.arg = r;
	if (!web_stream_begin(req, "text/event-stream", &st))
		return;
	put_start(req);
	h = hub_of(api, run);
	r->req = req;
	r->hub = h;
	r->at = seen + 1;
	r->next = h->readers;
	r->prev = &h->readers;
	if (r->next != NULL)
		r->next->prev = &r->next;
	h->readers = r;
	web_api_beat(api);
	feed(r);
	if (h->readers == NULL)
		close_hub(h);
}

/* Of a run of which there is only a file: that it is over, and how. */
static void
tell_end(struct web_req *req, const struct store_run *run)
{
	struct web_stream st = { 0 };
	struct event ev = { .type = EVENT_EVAL_COMPLETE, .seq = 1,
		.time_ms = run->started_ns / 1000000 + run->duration_ms,
		.run_id = run->id, .eval = run->name, .skill = run->skill,
		.executor = run->executor, .model = run->model,
		.total = (int64_t)run->total, .score = run->score,
		.totals = { .passed = (int64_t)run->passed,
		    .failed = (int64_t)run->failed,
		    .errors = (int64_t)run->errors,
		    .skipped = (int64_t)run->skipped, .rate = run->rate,
		    .duration_sec = (double)run->duration_ms / 1000,
		    .results = run->path },
		.status = run->state == STORE_CANCELLED ? STR("cancelled") :
		    run->ok > 0 ? STR("passed") : STR("failed") };
	struct rpc_stream s = { .max = 1 << 20,
		.id = arena_cstr(req->arena, run->id) };
	uint64_t next = 0;

	rpc_stream_add(&s, &ev);
	if (web_stream_begin(req, "text/event-stream", &st)) {
		put_start(req);
		web_stream_put(req, rpc_stream_get(&s, &next, READER_BYTES));
		web_stream_end(req);
	}
	rpc_stream_free(&s);
}

void
web_hub_stream(struct web_req *r)
{
	const struct rpc_stream *s;
	struct web_run run;
	uint64_t seen;

	if (!last_seen(r, &seen) || !web_api_find(r, r->param[0], &run))
		return;
	web_field(r, "X-Accel-Buffering", STR("no"));
	if (run.live == NULL) {
		if (run.file->run.state == STORE_RUNNING)
			web_api_fail(r, RPC_NO_RESULT, "No events: the run is "
			    "another server's", "runId", r->param[0]);
		else if (seen > 0)
			web_answer(r, 204, NULL, STR(""));
		else
			tell_end(r, &run.file->run);
		return;
	}
	s = rpc_view_stream(run.live);
	if (s->over && seen > 0 && seen + 1 >= s->next)
		web_answer(r, 204, NULL, STR(""));
	else
		join(r, run.live, seen);
}

void
web_hub_beat(struct web_api *api)
{
	struct web_hub *h;
	struct web_reader *r, *next;

	for (h = api->hubs; h != NULL; h = h->next)
		for (r = h->readers; r != NULL; r = next) {
			next = r->next;
			if (room(r->req) == READER_BYTES)
				web_stream_put(r->req, STR(":\n\n"));
			web_api_beat(api);
		}
}

/* Readers find out by their connections. */
void
web_hub_fini(struct web_api *api)
{
	struct web_hub *h;

	while ((h = api->hubs) != NULL) {
		while (h->readers != NULL)
			unlink_reader(h->readers);
		close_hub(h);
	}
}
