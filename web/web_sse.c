/* SPDX-License-Identifier: ISC */
/*
 * The events of a run for its readers, as server-sent events (HTML standard).
 *
 * A reader is little more than the number of its next event.  It gets bytes as
 * rpc_stream.h keeps them, many events at a time.  While too much is queued for
 * it, it gets nothing; when that is sent, it continues with what is still kept
 * by then.  So a slow reader costs at most READER_BYTES, and one that has
 * disconnected can come back and name the last event it has seen.
 *
 * New events are not sent one by one: the readers of a run are served in slices
 * of time.  While runs are active, a slice begins COMBINE_MS after its first
 * event, so that it has many, and is followed by a pause of SHARE times its
 * length, so that many readers do not slow the runs down.  Readers
 * catch up when the run is over; the run only has to wait for them when events
 * are about to be dropped.
 */
#include "web/web_api_internal.h"

#include "base/os.h"
#include "io/loop.h"
#include "lib/http.h"
#include "rpc/rpc_stream.h"

enum {
	READER_BYTES = 64 << 10,	/* queued for a reader at most */
	SLICE_MS = 2,		/* of sending, while runs are active, */
	IDLE_SLICE_MS = 20,	/* and while none are */
	SHARE = 32,		/* pause, in lengths of the slice */
	PAUSE_MS = 1000,	/* at most */
	COMBINE_MS = 20		/* from an event to its slice, at least */
};
#define MS INT64_C(1000000)

struct web_readers {		/* of one run */
	struct arena own;	/* holds this struct itself */
	struct web_api *api;
	struct rpc_run *run;
	struct rpc_stream *stream;
	struct rpc_tap tap;
	struct timer timer;
	bool waiting;		/* the timer is set */
	int64_t pause_until;	/* on the loop's clock */
	uint64_t sent;		/* the first event that a reader lacks, */
	uint64_t least;		/* as far as known in this round */
	bool more;		/* a reader could take more */
	struct web_reader *first;
	struct web_reader *turn;	/* the next to serve; NULL: the first */
	struct web_readers *next, **prev;
};

struct web_reader {
	struct web_req *req;
	struct web_readers *all;	/* NULL: detached */
	uint64_t at;		/* the number of its next event */
	struct web_reader *next, **prev;
};

/* The struct is freed with its last reader. */
static void
free_readers(struct web_readers *h)
{
	rpc_stream_untap(&h->tap);
	timer_stop(h->api->web->rpc->loop, &h->timer);
	LIST_REMOVE(h);
	arena_free(&h->own);
}

static void
detach(struct web_reader *r)
{
	LIST_REMOVE(r);
	if (r->all->turn == r)
		r->all->turn = r->next;
	r->all = NULL;
}

static void
on_reader_gone(void *arg)
{
	struct web_reader *r = arg;
	struct web_readers *h = r->all;

	if (h == NULL)
		return;
	detach(r);
	if (h->first == NULL)
		free_readers(h);
}

static size_t
room(const struct web_req *req)
{
	size_t n = WEB_STREAM_MAX - web_stream_room(req);

	return n < READER_BYTES ? READER_BYTES - n : 0;
}

/* Sends as much as the reader takes; true: its stream has ended. */
static bool
send_events(struct web_reader *r)
{
	const struct rpc_stream *s = r->all->stream;
	struct str text;

	while (r->at < s->next && room(r->req) > 0) {
		text = rpc_stream_get(s, &r->at, room(r->req));
		if (!web_stream_put(r->req, text))
			return false;	/* it is disconnected */
	}
	if (!s->over || r->at < s->next)
		return false;
	detach(r);
	web_stream_end(r->req);
	return true;
}

static size_t
active_runs(const struct web_readers *h)
{
	return rpc_view_counts(h->api->web->rpc).active;
}

/* Serves the readers after the pause, at once if that cannot wait. */
static void
serve_soon(void *arg)
{
	struct web_readers *h = arg;
	struct loop *loop = h->api->web->rpc->loop;
	int64_t pause = h->pause_until - loop_now(loop);

	if (pause < COMBINE_MS)
		pause = COMBINE_MS;
	if (active_runs(h) == 0 || h->stream->over ||
	    rpc_stream_bytes(h->stream, h->sent) > h->stream->max / 4 * 3)
		pause = 0;
	if (h->waiting && (pause > 0 || h->timer.at <= loop_now(loop)))
		return;
	h->waiting = true;
	timer_start(loop, &h->timer, pause);
}

static void
on_drained(void *arg)
{
	struct web_reader *r = arg;
	struct web_readers *h = r->all;

	if (h == NULL || (r->at >= h->stream->next && !h->stream->over))
		return;
	if (active_runs(h) > 0 && !h->stream->over) {
		serve_soon(h);
		return;
	}
	send_events(r);
	if (h->first == NULL)
		free_readers(h);
}

static void
serve(struct web_reader *r)
{
	struct web_readers *h = r->all;
	const struct rpc_stream *s = h->stream;

	if ((r->at >= s->next && !s->over) || send_events(r))
		return;
	web_stream_flush(r->req);
	if (r->at >= s->next || room(r->req) == 0)
		return;		/* on_drained() continues */
	h->more = true;
	if (r->at < h->least)
		h->least = r->at;
}

static void
on_time(void *arg)
{
	struct web_readers *h = arg;
	int64_t start = os_now_ns(), took = 0;
	int64_t slice = active_runs(h) > 0 ? SLICE_MS : IDLE_SLICE_MS;
	struct web_reader *r = h->turn;

	h->waiting = false;
	if (r == NULL) {
		r = h->first;
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
	h->pause_until = loop_clock(h->api->web->rpc->loop) +
	    (took < PAUSE_MS ? took : PAUSE_MS);
	if (r == NULL)
		h->sent = h->least;
	if (h->first == NULL)
		free_readers(h);
	else if (r != NULL || h->more)
		serve_soon(h);
}

/* The run is forgotten: its readers have to ask again. */
static void
on_stream_gone(void *arg)
{
	struct web_readers *h = arg;
	struct web_reader *r;

	while ((r = h->first) != NULL) {
		detach(r);
		web_stream_end(r->req);
	}
	free_readers(h);
}

static struct web_readers *
readers_of(struct web_api *api, struct rpc_run *run)
{
	struct arena own = { 0 };
	struct web_readers *h;

	for (h = api->readers; h != NULL; h = h->next)
		if (h->run == run)
			return h;
	h = NEW(&own, struct web_readers);
	*h = (struct web_readers){ .own = own, .api = api, .run = run,
		.stream = rpc_view(run).stream,
		.tap = { .fn = serve_soon, .gone = on_stream_gone, .arg = h },
		.timer = { .fn = on_time, .arg = h } };
	h->sent = h->stream->next;
	rpc_stream_tap(h->stream, &h->tap);
	LIST_PUSH(&api->readers, h);
	return h;
}

/* The number of the last event that the client has seen; false: refused. */
static bool
last_seen(struct web_req *r, uint64_t *seen)
{
	struct web_arg args[2];		/* lastEventId, access_token */
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
	struct web_readers *h;

	web_later(req, NULL, NULL);
	r = NEW(req->arena, struct web_reader);
	st.arg = r;
	if (!web_stream_begin(req, "text/event-stream", &st))
		return;
	put_start(req);
	h = readers_of(api, run);
	r->req = req;
	r->all = h;
	r->at = seen + 1;
	LIST_PUSH(&h->first, r);
	web_api_beat(api);
	send_events(r);
	if (h->first == NULL)
		free_readers(h);
}

/* A run of which only a file is left: one event with its outcome. */
static void
send_outcome(struct web_req *req, const struct store_run *run)
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
web_sse_stream(struct web_req *r)
{
	const struct rpc_stream *s;
	struct web_run run;
	uint64_t seen;

	if (!last_seen(r, &seen) || !web_api_find(r, r->param[0], &run))
		return;
	web_field(r, "X-Accel-Buffering", STR("no"));
	if (run.live == NULL) {
		if (run.file->run.state == STORE_RUNNING)
			web_api_fail(r, RPC_NO_RESULT, "No events: the run "
			    "belongs to another server", "runId", r->param[0]);
		else if (seen > 0)
			web_answer(r, 204, NULL, STR(""));
		else
			send_outcome(r, &run.file->run);
		return;
	}
	s = rpc_view(run.live).stream;
	/* 204: a browser that has seen the end must not ask again */
	if (s->over && seen > 0 && seen + 1 >= s->next)
		web_answer(r, 204, NULL, STR(""));
	else
		join(r, run.live, seen);
}

void
web_sse_beat(struct web_api *api)
{
	struct web_readers *h;
	struct web_reader *r, *next;

	for (h = api->readers; h != NULL; h = h->next)
		for (r = h->first; r != NULL; r = next) {
			next = r->next;
			if (room(r->req) == READER_BYTES)
				web_stream_put(r->req, STR(":\n\n"));
			web_api_beat(api);
		}
}

void
web_sse_fini(struct web_api *api)
{
	struct web_readers *h;

	while ((h = api->readers) != NULL) {
		while (h->first != NULL)
			detach(h->first);
		free_readers(h);
	}
}
