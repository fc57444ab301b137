/* SPDX-License-Identifier: ISC */
/*
 * When runs start.
 *
 *	launched -> [queued] -> active -> over
 *
 * A queued run has its suite in memory and nothing else: its journal is opened
 * when its turn comes, which is when fewer runs are active than may be, and
 * descriptors are left.  Invariants: `queued` counts the runs with .queued,
 * `queued_bytes` their memory; a run is counted in `active` from the moment it
 * is not queued any more until it is over.
 */
#include "rpc/rpc_internal.h"

#include "base/os.h"
#include "run/run.h"

enum { QUEUE_BYTES = 64 << 20 };	/* of runs that wait for their turn */

static void on_start(void *);

static void
start_soon(struct rpc *s)
{
	timer_once(s->loop, &s->state->runs.start, 0, on_start, s);
}

/* Starts one run in a turn: starting children takes time, and peers wait. */
static void
on_start(void *arg)
{
	struct rpc *s = arg;
	struct rpc_run *r = s->state->runs.head;
	const struct err *e;

	while (r != NULL && (r->queued || r->state != RPC_STATE_PENDING))
		r = r->next;
	if (r == NULL)
		return;
	start_soon(s);
	r->state = RPC_STATE_RUNNING;
	r->engine.started_ms = loop_now(s->loop);
	e = &r->engine.refused;
	if (!r->engine.open) {
		run_refuse(r->engine.run, e->code != ERR_NONE ? e : NULL,
		    rpc_run_ended, r);
		return;
	}
	run_start(r->engine.run, rpc_run_ended, r);
	if (r->cancelling)
		run_cancel(r->engine.run);
}

enum opened { OPENED, FAILED, NO_ROOM };

/* A run that is being cancelled needs nothing. */
static enum opened
try_open(struct rpc_run *r, struct err *e)
{
	bool others = r->rpc->state->runs.active > 0;
	const struct rpc_run *other;

	if (r->cancelling)
		return OPENED;
	other = r->files[0].path != NULL ? rpc_output_writer(r) : NULL;
	if (other != NULL) {
		err_set(e, ERR_SCHEMA, "%s writes the same output file",
		    other->id);
		return FAILED;
	}
	if (others && os_fds_free(2) == 0) {
		err_set(e, ERR_SYS, "too few descriptors are left");
		return NO_ROOM;
	}
	r->engine.open = run_open(r->engine.run, e) == 0;
	if (r->engine.open)
		return OPENED;
	return others && os_is_shortage(e->sys) ? NO_ROOM : FAILED;
}

void
rpc_queue_activate(struct rpc_run *r)
{
	r->rpc->state->runs.active++;
	start_soon(r->rpc);
}

void
rpc_queue_leave(struct rpc_run *r)
{
	struct rpc_runs *all = &r->rpc->state->runs;

	r->queued = false;
	all->queued--;
	all->queued_bytes -= r->bytes;
	rpc_queue_activate(r);
}

void
rpc_queue_next(struct rpc *s)
{
	struct rpc_runs *all = &s->state->runs;
	struct rpc_run *r;
	struct err e;

	all->active--;
	for (r = all->head; r != NULL && all->active < s->limits.runs;
	    r = r->next) {
		if (!r->queued)
			continue;
		e = (struct err){ 0 };
		switch (try_open(r, &e)) {
		case NO_ROOM:
			return;		/* the next end makes room */
		case FAILED:
			r->engine.refused = e;
			break;
		case OPENED:
			break;
		}
		rpc_queue_leave(r);
	}
}

int
rpc_queue_admit(struct rpc_run *r, struct err *e)
{
	struct rpc_runs *all = &r->rpc->state->runs;

	if (all->active < r->rpc->limits.runs && all->queued == 0)
		switch (try_open(r, e)) {
		case OPENED:
			return 0;
		case FAILED:
			return -1;
		case NO_ROOM:
			break;
		}
	r->bytes = r->engine.arena.used + r->arena.used +
	    run_bytes(r->engine.run);
	if (r->bytes > QUEUE_BYTES - all->queued_bytes)
		return err_set(e, ERR_LIMIT, "the queue is full: %zu runs of "
		    "%zu MiB wait; call again when one has started",
		    all->queued, all->queued_bytes >> 20);
	all->queued++;
	all->queued_bytes += r->bytes;
	r->queued = true;
	return 0;
}
