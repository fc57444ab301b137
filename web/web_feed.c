/* SPDX-License-Identifier: ISC */
/*
 * The stream of all changes: an event for each run that was started, has made
 * progress or has ended, and one when the evaluation clients have changed.
 *
 * The progress of a run is sent at most once a second, a new state at once.
 * An event has the whole state, not the difference, so that a reader that
 * missed some only waits for the next.  A reader that is too slow is
 * disconnected and reconnects.
 */
#include "web/web_api_internal.h"

#include "io/loop.h"
#include "json.h"

enum {
	EACH_MS = 1000,		/* between two events of a run */
	SOON_MS = 20		/* to combine changes */
};

struct web_feed {		/* a reader */
	struct web_req *req;
	struct web_api *api;
	struct web_feed *next, **prev;
};

static void
on_gone(void *arg)
{
	struct web_feed *f = arg;

	if (f->prev == NULL)
		return;
	LIST_REMOVE(f);
	f->prev = NULL;
}

static void
send_all(struct web_api *api, const char *event, struct str data)
{
	struct buf b = { 0 };
	struct web_feed *f, *next;

	buf_fmt(&b, "event: %s\ndata: ", event);
	buf_put(&b, data);
	buf_put(&b, STR("\n\n"));
	for (f = api->feeds; f != NULL; f = next) {
		next = f->next;
		(void)web_stream_put(f->req, buf_str(&b));
	}
	buf_free(&b);
}

static void
send_run(struct web_api *api, const struct store_run *run)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	json_open(&o, '{');
	web_meet_put(api, &o, run);
	json_close(&o, '}');
	send_all(api, "run", buf_str(&b));
	buf_free(&b);
}

static void
send_clients(struct web_api *api)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	web_api_put_clients(api, &o);
	send_all(api, "clients", buf_str(&b));
	buf_free(&b);
}

static void on_time(void *);

/* Sends the changes after that time, or earlier if that is planned. */
static void
send_in(struct web_api *api, int64_t ms)
{
	struct loop *loop = api->web->rpc->loop;

	if (api->feeding && api->feed.at <= loop_now(loop) + ms)
		return;
	api->feeding = true;
	api->feed.fn = on_time;
	api->feed.arg = api;
	timer_start(loop, &api->feed, ms);
}

static void
on_time(void *arg)
{
	struct web_api *api = arg;
	struct rpc *rpc = api->web->rpc;
	int64_t now = loop_now(rpc->loop), wait;
	struct rpc_shown *m;
	struct rpc_run *r;
	struct store_run run;

	api->feeding = false;
	if (api->feeds == NULL)
		return;
	for (r = rpc_view_next(rpc, NULL); r != NULL;
	    r = rpc_view_next(rpc, r)) {
		m = rpc_view(r).shown;
		if (!m->changed)
			continue;
		rpc_view_brief(r, &run);
		wait = m->state == (int)run.state ? m->sent_ms + EACH_MS - now :
		    0;
		if (wait > 0) {
			send_in(api, wait);
			continue;
		}
		m->changed = false;
		m->state = (int)run.state;
		m->sent_ms = now;
		send_run(api, &run);
	}
	if (api->clients_changed) {
		api->clients_changed = false;
		send_clients(api);
	}
}

void
web_feed_run(void *arg, struct rpc_run *r)
{
	struct web_api *api = arg;

	if (api->feeds == NULL)
		return;
	rpc_view(r).shown->changed = true;
	send_in(api, SOON_MS);
}

/* The server itself reports the runs that it remembers. */
void
web_feed_file(void *arg, const struct store_run *run)
{
	struct web_api *api = arg;

	if (api->feeds != NULL && rpc_view_find(api->web->rpc, run->id) == NULL)
		send_run(api, run);
}

void
web_api_clients(void *arg)
{
	struct web_api *api = arg;

	if (api->feeds == NULL)
		return;
	api->clients_changed = true;
	send_in(api, SOON_MS);
}

void
web_feed_stream(struct web_req *r)
{
	struct web_stream st = { .gone = on_gone };
	struct web_arg arg;		/* access_token */
	struct web_api *api = r->arg;
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };
	struct web_feed *f;

	if (!web_api_args(r, &arg, 1))
		return;
	web_field(r, "X-Accel-Buffering", STR("no"));
	web_later(r, NULL, NULL);
	f = NEW(r->arena, struct web_feed);
	st.arg = f;
	if (!web_stream_begin(r, "text/event-stream", &st))
		return;
	f->req = r;
	f->api = api;
	LIST_PUSH(&api->feeds, f);
	buf_put(&b, STR("retry: 1000\n\nevent: clients\ndata: "));
	web_api_put_clients(api, &o);
	buf_put(&b, STR("\n\n"));
	web_stream_put(r, buf_str(&b));
	buf_free(&b);
	if (api->stored)
		store_wake(&api->store);
	web_api_beat(api);
}

void
web_feed_beat(struct web_api *api)
{
	struct web_feed *f, *next;

	if (api->feeds != NULL && api->stored)
		store_wake(&api->store);
	for (f = api->feeds; f != NULL; f = next) {
		next = f->next;
		if (web_stream_room(f->req) == WEB_STREAM_MAX)
			web_stream_put(f->req, STR(":\n\n"));
		web_api_beat(api);
	}
}

void
web_feed_fini(struct web_api *api)
{
	while (api->feeds != NULL)
		on_gone(api->feeds);
	timer_stop(api->web->rpc->loop, &api->feed);
}
