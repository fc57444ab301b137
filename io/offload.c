/* SPDX-License-Identifier: ISC */
/*
 * Computations in copies of this process.
 *
 * An offload waits in procs->offloads, in the order of arrival, until it is
 * started; then it is a proc.  If the system cannot start the first one, that
 * one waits with procs_wait().
 */
#include "io/offload.h"

#include <signal.h>
#include <stdio.h>

#include "base/os.h"

static void pump(struct procs *);

static void
finish(struct offload *o)
{
	struct proc *p = &o->proc;
	struct buf out = p->out.buf;

	o->out = buf_str(&out);
	p->out.buf = (struct buf){ 0 };
	proc_fini(p);
	o->done(o->arg);		/* may free o */
	buf_free(&out);
}

/* Why a copy that ended has no result. */
static void
explain(struct offload *o)
{
	const struct proc_result *r = &o->proc.res;
	struct str err = buf_str(&o->proc.err.buf);
	char how[64];

	if (r->signo == SIGXCPU)
		snprintf(how, sizeof(how), "takes more than %d s of processor "
		    "time", OFFLOAD_SECONDS);
	else if (r->truncated)
		snprintf(how, sizeof(how), "result of more than %d MiB",
		    OFFLOAD_OUT_MAX >> 20);
	else if (r->signo != 0)
		snprintf(how, sizeof(how), "killed by signal %d", r->signo);
	else if (r->status != 0)
		snprintf(how, sizeof(how), "exit status %d", r->status);
	else
		return;
	err = utf8_cut(str_trim(err), 160);
	snprintf(o->error, sizeof(o->error), "%s%s%.*s", how,
	    err.n > 0 ? ": " : "", STRF(err));
}

static void
on_end(void *arg)
{
	struct offload *o = arg;
	struct procs *ps = o->procs;

	ps->noffloads--;
	o->duration_ms = o->proc.res.duration_ms;
	o->cancelled = o->proc.res.cancelled;
	explain(o);
	pump(ps);
	finish(o);
}

/* Runs in the copy. */
static void
work(void *arg, struct buf *out)
{
	const struct offload *o = arg;

	o->work(o->arg, out);
}

static void
leave_queue(struct offload *o)
{
	procs_wait_stop(&o->room);
	LIST_REMOVE(o);
	o->prev = NULL;
}

static void
on_room(void *arg)
{
	struct offload *o = arg;

	pump(o->procs);
}

static void
on_failed(void *arg)
{
	finish(arg);
}

/* False if it has to wait. */
static bool
begin(struct offload *o)
{
	struct procs *ps = o->procs;
	struct proc_opts opts = { .work = work, .done = on_end, .arg = o,
		.limits = { .cpu_seconds = OFFLOAD_SECONDS },
		.out_max = OFFLOAD_OUT_MAX, .stop_at_max = true };
	struct err e = { 0 };

	if (proc_start(ps, &o->proc, &opts, &e) == 0) {
		leave_queue(o);
		ps->noffloads++;
		return true;
	}
	if (os_is_shortage(e.sys) && loop_clock(ps->loop) - o->since <
	    OFFLOAD_WAIT_MS) {
		if (o->room.prev == NULL)
			procs_wait(ps, &o->room);
		return false;
	}
	leave_queue(o);
	snprintf(o->error, sizeof(o->error), "%s", e.msg);
	timer_once(ps->loop, &o->failed, 0, on_failed, o);
	return true;
}

static void
pump(struct procs *ps)
{
	while (ps->offloads != NULL && ps->noffloads < OFFLOAD_MAX &&
	    begin(ps->offloads))
		;
}

void
offload_start(struct procs *ps, struct offload *o)
{
	struct offload **last = &ps->offloads;

	while (*last != NULL)
		last = &(*last)->next;
	o->procs = ps;
	o->since = loop_clock(ps->loop);
	o->room = (struct procs_wait){ .fn = on_room, .arg = o };
	LIST_PUSH(last, o);
	pump(ps);
}

void
offload_cancel(struct offload *o)
{
	if (o->proc.phase != PROC_IDLE) {
		proc_cancel(&o->proc);
		return;
	}
	if (o->cancelled)
		return;
	o->cancelled = true;
	if (o->prev != NULL)
		leave_queue(o);
	timer_stop(o->procs->loop, &o->failed);
	pump(o->procs);			/* the next ones relied on it */
	finish(o);
}

void
offload_drop(struct offload *o)
{
	if (o->prev != NULL)
		leave_queue(o);
	timer_stop(o->procs->loop, &o->failed);
	proc_fini(&o->proc);
}
