/* SPDX-License-Identifier: ISC */
/*
 * What the peers of a run hear of it: eval.progress, eval.log and, last of
 * all, eval.complete.  Its owner can have all events instead, as stream-json
 * has them: eval.event.
 *
 * One that does not read fast enough loses the log first; the rest waits for
 * it, until conn.h gives it up.
 */
#include "rpc/rpc_run.h"

#include "rpc/rpc_internal.h"

enum { LOG_PENDING_MAX = 256 << 10 };	/* bytes: no log beyond */

/* The nth of those who listen; NULL: there are no more. */
static struct rpc_peer *
nth(const struct rpc_run *r, size_t i)
{
	if (r->owner != NULL && !r->silent) {
		if (i == 0)
			return r->owner;
		i--;
	}
	return i < r->nlisteners ? r->listeners[i] : NULL;
}

int
rpc_run_add_listener(struct rpc_run *r, struct rpc_peer *p)
{
	size_t i;

	for (i = 0; nth(r, i) != NULL; i++)
		if (nth(r, i) == p)
			return 0;
	if (r->nlisteners == RPC_LISTENERS_MAX)
		return -1;
	r->listeners[r->nlisteners++] = p;
	p->nheard++;
	return 0;
}

void
rpc_run_drop_listener(struct rpc_run *r, struct rpc_peer *p)
{
	size_t i;

	for (i = 0; i < r->nlisteners; i++)
		if (r->listeners[i] == p) {
			r->listeners[i] = r->listeners[--r->nlisteners];
			p->nheard--;
			return;
		}
}

static void
put_progress(struct json_out *o, const struct rpc_run *r,
    const struct event *ev, const char *what)
{
	bool task = ev->type != EVENT_EVAL_START &&
	    ev->type != EVENT_EVAL_COMPLETE;

	json_open(o, '{');
	rpc_put_text(o, "runId", str_of(r->id));
	rpc_put_text(o, "event", str_of(what));
	if (task) {
		rpc_put_text(o, "taskName", ev->task);
		rpc_put_text(o, "displayName", ev->name);
		rpc_put_int(o, "taskNum", ev->idx + 1);
	}
	rpc_put_int(o, "totalTasks", r->total);
	if (ev->trial > 0)
		rpc_put_int(o, "trial", ev->trial);
	if (ev->status.n > 0)
		rpc_put_text(o, "status", ev->status);
	if (ev->type == EVENT_TRIAL_COMPLETE ||
	    ev->type == EVENT_TASK_COMPLETE ||
	    ev->type == EVENT_EVAL_COMPLETE) {
		json_put_member_double(o, "score", ev->score);
		rpc_put_int(o, "durationMs", ev->type == EVENT_EVAL_COMPLETE ?
		    (int64_t)(ev->totals.duration_sec * 1000) : ev->took_ms);
	}
	if (ev->error_class.n > 0)
		rpc_put_text(o, "errorClass", ev->error_class);
	if (ev->error.n > 0)
		rpc_put_text(o, "error", ev->error);
	json_close(o, '}');
}

static bool
hears_events(const struct rpc_run *r, const struct rpc_peer *p)
{
	return r->events && p == r->owner;
}

/* The object of stream-json, with the id by the name it has here. */
static void
tell_event(struct rpc_run *r, const struct event *ev)
{
	struct buf line = { 0 }, b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	if (r->owner == NULL || r->silent || !r->events)
		return;
	event_line(&line, ev);
	json_open(&o, '{');
	rpc_put_text(&o, "runId", str_of(r->id));
	buf_putc(&b, ',');
	buf_put(&b, (struct str){ line.p + 1, line.n - 2 });
	json_put_raw(rpc_notify(r->owner, "eval.event"), buf_str(&b));
	rpc_notify_end(r->owner);
	buf_free(&line);
	buf_free(&b);
}

static void
tell_progress(struct rpc_run *r, const struct event *ev, const char *what)
{
	struct rpc_peer *p;
	size_t i;

	for (i = 0; (p = nth(r, i)) != NULL; i++) {
		if (hears_events(r, p))
			continue;
		put_progress(rpc_notify(p, "eval.progress"), r, ev, what);
		rpc_notify_end(p);
	}
}

static void
tell_log(struct rpc_run *r, const char *level, struct str text)
{
	struct rpc_peer *p;
	struct json_out *o;
	size_t i;

	for (i = 0; (p = nth(r, i)) != NULL; i++) {
		if (hears_events(r, p) || p->conn == NULL ||
		    conn_pending(p->conn) > LOG_PENDING_MAX)
			continue;
		o = rpc_notify(p, "eval.log");
		json_open(o, '{');
		rpc_put_text(o, "runId", str_of(r->id));
		rpc_put_text(o, "level", str_of(level));
		rpc_put_text(o, "message", text);
		json_close(o, '}');
		rpc_notify_end(p);
	}
}

/* A line of the log; what it is made of is short, or is cut. */
static void
log_event(struct rpc_run *r, const struct event *ev)
{
	struct buf b = { 0 };
	const char *level = "info";

	if (ev->type == EVENT_ERROR) {
		level = "error";
		buf_put(&b, ev->problem.message);
	} else if (!r->verbose) {
		return;
	} else if (ev->type == EVENT_TASK_START) {
		buf_puts(&b, "Running task: ");
		buf_put(&b, ev->task);
	} else if (ev->type == EVENT_TASK_COMPLETE) {
		buf_puts(&b, "Task ");
		buf_put(&b, ev->task);
		buf_puts(&b, ": ");
		buf_put(&b, ev->status);
	} else if (ev->type == EVENT_TASK_PROGRESS) {
		level = "debug";
		buf_put(&b, ev->task);
		buf_puts(&b, ": ");
		buf_put(&b, ev->step);
		if (ev->detail.n > 0)
			buf_putc(&b, ' ');
		buf_put(&b, ev->detail);
	}
	if (b.n > 0)
		tell_log(r, level, buf_str(&b));
	buf_free(&b);
}

static void
on_event(void *arg, const struct event *ev)
{
	static const char *const names[EVENT__MAX] = {
		[EVENT_EVAL_START] = "run_start",
		[EVENT_TASK_START] = "task_start",
		[EVENT_TRIAL_START] = "trial_start",
		[EVENT_TRIAL_COMPLETE] = "trial_complete",
		[EVENT_TASK_COMPLETE] = "task_complete",
		[EVENT_EVAL_COMPLETE] = "run_complete",
	};
	struct rpc_run *r = arg;

	if (ev->type == EVENT_EVAL_START)
		r->total = ev->tasks;
	if (ev->type == EVENT_TASK_COMPLETE)
		r->done++;
	rpc_run_note(r, ev);
	rpc_stream_add(&r->stream, ev);
	tell_event(r, ev);
	if (names[ev->type] != NULL)
		tell_progress(r, ev, names[ev->type]);
	log_event(r, ev);
	if (r->rpc->changed != NULL && (ev->type == EVENT_EVAL_START ||
	    ev->type == EVENT_TASK_COMPLETE))
		r->rpc->changed(r->rpc->changed_arg, r);
}

void
rpc_run_listen(struct rpc_run *r)
{
	r->sink = (struct event_sink){ .fn = on_event, .arg = r };
	event_listen(&r->bus, &r->sink);
}

/* There is nothing more to hear. */
static void
dismiss(struct rpc_run *r)
{
	struct rpc_peer *p;

	while (r->nlisteners > 0) {
		p = r->listeners[r->nlisteners - 1];
		rpc_run_drop_listener(r, p);
		rpc_settle(p);
	}
}

void
rpc_run_tell_end(struct rpc_run *r)
{
	struct rpc_peer *p;
	struct json_out *o;
	size_t i;

	for (i = 0; (p = nth(r, i)) != NULL; i++) {
		o = rpc_notify(p, "eval.complete");
		json_open(o, '{');
		rpc_put_text(o, "runId", str_of(r->id));
		if (r->state == RPC_STATE_COMPLETED) {
			json_put_member_raw(o, "summary", r->counts);
		} else
			rpc_put_text(o, "error", r->error.n > 0 ? r->error :
			    STR("Run cancelled"));
		rpc_put_text(o, "status", str_of(rpc_run_word(r)));
		if (r->output.n > 0)
			rpc_put_text(o, "output", r->output);
		json_close(o, '}');
		rpc_notify_end(p);
	}
	dismiss(r);
}

void
rpc_run_put_progress(struct json_out *o, const struct rpc_run *r)
{
	json_open_member(o, "progress", '{');
	rpc_put_int(o, "totalTasks", r->total);
	rpc_put_int(o, "tasksDone", r->done);
	json_close(o, '}');
}
