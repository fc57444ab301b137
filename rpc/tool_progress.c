/* SPDX-License-Identifier: ISC */
/*
 * notifications/progress of MCP, for a tool that waits for a run: the trials
 * that are done.  At most one is sent in INTERVAL_MS, besides the last.
 */
#include "rpc/tool.h"

#include "rpc/rpc_internal.h"

enum {
	INTERVAL_MS = 50,
	PENDING_MAX = 256 << 10	/* bytes queued: no notification */
};

/* Lives as long as the run; the call may have ended before. */
struct progress {
	struct event_sink sink;
	struct rpc_run *run;
	struct str token;	/* JSON text */
	int64_t done, total;	/* trials */
	int64_t sent_ms;	/* time of the last notification */
};

static void
notify(struct progress *x, const struct event *ev)
{
	struct rpc_peer *p = x->run->waiter.call->peer;
	struct json_out *o = rpc_notify(p, "notifications/progress");
	struct buf text = { 0 };

	if (ev->type == EVENT_EVAL_START)
		buf_puts(&text, "the run has started");
	else
		buf_fmt(&text, "%.*s, trial %lld: %.*s", STRF(ev->task),
		    (long long)ev->trial, STRF(ev->status));
	json_open(o, '{');
	json_put_member_raw(o, "progressToken", x->token);
	json_put_member_int(o, "progress", x->done);
	json_put_member_int(o, "total", x->total);
	json_put_member_str(o, "message", buf_str(&text));
	json_close(o, '}');
	rpc_notify_end(p);
	buf_free(&text);
}

/* Whether the request is unanswered and was not cancelled. */
static bool
is_active(const struct rpc_call *c)
{
	return c != NULL && c->id != NULL && c->peer != NULL &&
	    c->peer->conn != NULL && conn_pending(c->peer->conn) <= PENDING_MAX;
}

static void
on_event(void *arg, const struct event *ev)
{
	struct progress *x = arg;
	int64_t now = loop_now(x->run->rpc->loop);

	if (ev->type == EVENT_EVAL_START && x->total == 0)
		x->total = ev->tasks * ev->trials;
	else if (ev->type == EVENT_TRIAL_COMPLETE) {
		x->done++;
		if (x->total < x->done)
			x->total = x->done;
	} else
		return;
	if (!is_active(x->run->waiter.call) || (x->done > 0 &&
	    x->done < x->total && now - x->sent_ms < INTERVAL_MS))
		return;
	x->sent_ms = now;
	notify(x, ev);
}

void
tool_progress(struct rpc_run *r, const struct json *token)
{
	struct progress *x;
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	if (token == NULL || (token->type != JSON_STRING &&
	    token->type != JSON_NUMBER))
		return;
	json_put(&o, token);
	x = NEW(&r->arena, struct progress);
	x->run = r;
	x->token = arena_take(&r->arena, &b);
	x->sink = (struct event_sink){ .fn = on_event, .arg = x };
	event_listen(&r->engine.bus, &x->sink);
}
