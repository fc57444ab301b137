/* SPDX-License-Identifier: ISC */
/*
 * Notifications of a run to its owner and its subscribers: eval.progress,
 * eval.log and finally eval.complete.  The owner can ask for all events
 * instead, in the format of stream-json: eval.event.
 *
 * A peer that reads too slowly gets no eval.log; everything else is queued,
 * up to the limit of conn.h.
 */
#include "rpc/rpc_internal.h"

#include "results/result.h"

enum { LOG_PENDING_MAX = 256 << 10 };	/* bytes queued: no more eval.log */

/* The i-th peer to notify; NULL after the last. */
static struct rpc_peer *
nth(const struct rpc_run *r, size_t i)
{
	const struct rpc_run_audience *a = &r->audience;

	if (a->owner != NULL && !a->silent) {
		if (i == 0)
			return a->owner;
		i--;
	}
	return i < a->n ? a->listeners[i] : NULL;
}

int
rpc_run_add_listener(struct rpc_run *r, struct rpc_peer *p)
{
	size_t i;

	for (i = 0; nth(r, i) != NULL; i++)
		if (nth(r, i) == p)
			return 0;
	if (r->audience.n == RPC_LISTENERS_MAX)
		return -1;
	r->audience.listeners[r->audience.n++] = p;
	p->nruns++;
	return 0;
}

void
rpc_run_drop_listener(struct rpc_run *r, struct rpc_peer *p)
{
	struct rpc_run_audience *a = &r->audience;
	size_t i;

	for (i = 0; i < a->n; i++)
		if (a->listeners[i] == p) {
			a->listeners[i] = a->listeners[--a->n];
			p->nruns--;
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
	json_put_member_cstr(o, "runId", r->id);
	json_put_member_cstr(o, "event", what);
	if (task) {
		json_put_member_str(o, "taskName", ev->task);
		json_put_member_str(o, "displayName", ev->name);
		json_put_member_int(o, "taskNum", ev->idx + 1);
	}
	json_put_member_int(o, "totalTasks", r->progress.total);
	if (ev->trial > 0)
		json_put_member_int(o, "trial", ev->trial);
	json_put_member_nonempty(o, "status", ev->status);
	if (ev->type == EVENT_TRIAL_COMPLETE ||
	    ev->type == EVENT_TASK_COMPLETE ||
	    ev->type == EVENT_EVAL_COMPLETE) {
		json_put_member_double(o, "score", ev->score);
		json_put_member_int(o, "durationMs",
		    ev->type == EVENT_EVAL_COMPLETE ?
		    (int64_t)(ev->totals.duration_sec * 1000) : ev->took_ms);
	}
	json_put_member_nonempty(o, "errorClass", ev->error_class);
	json_put_member_nonempty(o, "error", ev->error);
	json_close(o, '}');
}

static bool
gets_events(const struct rpc_run *r, const struct rpc_peer *p)
{
	return r->audience.events && p == r->audience.owner;
}

/* The object of stream-json, with the id under the key that JSON-RPC uses. */
static void
send_event(struct rpc_run *r, const struct event *ev)
{
	struct buf line = { 0 }, b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };
	struct rpc_peer *p = r->audience.owner;

	if (p == NULL || r->audience.silent || !r->audience.events)
		return;
	event_line(&line, ev);
	json_open(&o, '{');
	json_put_member_cstr(&o, "runId", r->id);
	buf_putc(&b, ',');
	buf_put(&b, (struct str){ line.p + 1, line.n - 2 });
	json_put_raw(rpc_notify(p, "eval.event"), buf_str(&b));
	rpc_notify_end(p);
	buf_free(&line);
	buf_free(&b);
}

static void
send_progress(struct rpc_run *r, const struct event *ev, const char *what)
{
	struct rpc_peer *p;
	size_t i;

	for (i = 0; (p = nth(r, i)) != NULL; i++) {
		if (gets_events(r, p))
			continue;
		put_progress(rpc_notify(p, "eval.progress"), r, ev, what);
		rpc_notify_end(p);
	}
}

static void
send_log(struct rpc_run *r, const char *level, struct str text)
{
	struct rpc_peer *p;
	struct json_out *o;
	size_t i;

	for (i = 0; (p = nth(r, i)) != NULL; i++) {
		if (gets_events(r, p) || p->conn == NULL ||
		    conn_pending(p->conn) > LOG_PENDING_MAX)
			continue;
		o = rpc_notify(p, "eval.log");
		json_open(o, '{');
		json_put_member_cstr(o, "runId", r->id);
		json_put_member_cstr(o, "level", level);
		json_put_member_str(o, "message", text);
		json_close(o, '}');
		rpc_notify_end(p);
	}
}

static void
log_event(struct rpc_run *r, const struct event *ev)
{
	struct buf b = { 0 };
	const char *level = "info";

	if (ev->type == EVENT_ERROR) {
		level = "error";
		buf_put(&b, ev->problem.message);
	} else if (!r->audience.verbose) {
		return;
	} else if (ev->type == EVENT_TASK_START) {
		buf_fmt(&b, "Running task: %.*s", STRF(ev->task));
	} else if (ev->type == EVENT_TASK_COMPLETE) {
		buf_fmt(&b, "Task %.*s: %.*s", STRF(ev->task),
		    STRF(ev->status));
	} else if (ev->type == EVENT_TASK_PROGRESS) {
		level = "debug";
		buf_fmt(&b, "%.*s: %.*s%s", STRF(ev->task), STRF(ev->step),
		    ev->detail.n > 0 ? " " : "");
		buf_put(&b, ev->detail);
	}
	if (b.n > 0)
		send_log(r, level, buf_str(&b));
	buf_free(&b);
}

static enum rpc_tally_status
tally_status(struct str word)
{
	return str_is(word, "passed") ? RPC_PASSED :
	    str_is(word, "failed") ? RPC_FAILED :
	    str_is(word, "error") ? RPC_ERROR : RPC_SKIPPED;
}

static void
tally_use(struct rpc_tally *t, const struct result_used *u)
{
	if (u->free)
		return;
	if (u->tokens_known && u->input_tokens > 0)
		t->input_tokens += (uint64_t)u->input_tokens;
	if (u->tokens_known && u->output_tokens > 0)
		t->output_tokens += (uint64_t)u->output_tokens;
	if (u->cost_known && u->cost > 0)
		t->cost += u->cost;
}

static void
tally(struct rpc_tally *t, const struct event *ev)
{
	enum rpc_tally_status i = tally_status(ev->status);

	if (ev->type == EVENT_TRIAL_COMPLETE) {
		t->trials[i]++;
		if (ev->source.trial != NULL)
			tally_use(t, &ev->source.trial->used);
	} else if (ev->type == EVENT_TASK_COMPLETE)
		t->tasks[i]++;
	else if (ev->type == EVENT_EVAL_COMPLETE)
		t->runs[i]++;
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
	const struct rpc_setup *set = &r->rpc->setup;

	if (ev->type == EVENT_EVAL_START)
		r->progress.total = ev->tasks;
	if (ev->type == EVENT_TASK_COMPLETE)
		r->progress.done++;
	tally(&r->rpc->tally, ev);
	rpc_run_note(r, ev);
	rpc_stream_add(&r->stream, ev);
	send_event(r, ev);
	if (names[ev->type] != NULL)
		send_progress(r, ev, names[ev->type]);
	log_event(r, ev);
	if (set->changed != NULL && (ev->type == EVENT_EVAL_START ||
	    ev->type == EVENT_TASK_COMPLETE))
		set->changed(set->changed_arg, r);
}

void
rpc_run_listen(struct rpc_run *r)
{
	r->engine.sink = (struct event_sink){ .fn = on_event, .arg = r };
	event_listen(&r->engine.bus, &r->engine.sink);
}

static void
drop_listeners(struct rpc_run *r)
{
	struct rpc_peer *p;

	while (r->audience.n > 0) {
		p = r->audience.listeners[r->audience.n - 1];
		rpc_run_drop_listener(r, p);
		rpc_close_if_done(p);
	}
}

void
rpc_run_notify_end(struct rpc_run *r)
{
	struct rpc_peer *p;
	struct json_out *o;
	size_t i;

	for (i = 0; (p = nth(r, i)) != NULL; i++) {
		o = rpc_notify(p, "eval.complete");
		json_open(o, '{');
		json_put_member_cstr(o, "runId", r->id);
		if (r->state == RPC_STATE_COMPLETED)
			json_put_member_raw(o, "summary", r->record.counts);
		else
			json_put_member_str(o, "error", r->record.error.n > 0 ?
			    r->record.error : STR("Run cancelled"));
		json_put_member_cstr(o, "status", rpc_run_word(r));
		json_put_member_nonempty(o, "output", r->output);
		json_close(o, '}');
		rpc_notify_end(p);
	}
	drop_listeners(r);
}

void
rpc_run_put_progress(struct json_out *o, const struct rpc_run *r)
{
	json_open_member(o, "progress", '{');
	json_put_member_int(o, "totalTasks", r->progress.total);
	json_put_member_int(o, "tasksDone", r->progress.done);
	json_close(o, '}');
}
