/* SPDX-License-Identifier: ISC */
/*
 * A child process that grades, for the kinds code and program: its time limit,
 * its end, its cancellation.
 */
#include "grade/grader_internal.h"

double
grader_child_seconds(double own, double max, int64_t usual)
{
	return own <= 0 ? (double)usual : own < max ? own : max;
}

static void
on_end(void *arg)
{
	struct grader_child *c = arg;
	struct grading *g = c->g;

	g->out.duration_ms = c->proc.res.duration_ms;
	if (c->proc.res.cancelled)
		grader_error(g, "cancelled");
	else
		c->judge(c->arg);
	proc_fini(&c->proc);
	g->state = NULL;
	g->done(g->arg);
}

int
grader_child_start(struct grader_child *c, struct proc_opts *o, struct err *e)
{
	o->timeout_ms = (int64_t)(c->seconds * 1000) + 1;
	o->done = on_end;
	o->arg = c;
	if (proc_start(c->g->in->procs, &c->proc, o, e) != 0)
		return -1;
	c->g->state = c;
	return 0;
}

void
grader_child_cancel(struct grading *g)
{
	struct grader_child *c = g->state;

	if (c != NULL)
		proc_cancel(&c->proc);
}

struct str
grader_child_failure(const struct grader_child *c)
{
	const struct proc_result *r = &c->proc.res;

	if (r->timed_out)
		return arena_fmt(c->g->arena, "timed out after %g s; "
		    "\"timeout\" sets the limit", c->seconds);
	if (r->signo != 0)
		return arena_fmt(c->g->arena, "killed by signal %d", r->signo);
	return arena_fmt(c->g->arena, "exit status %d", r->status);
}
