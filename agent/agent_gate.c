/* SPDX-License-Identifier: ISC */
/*
 * Before the first trial of a program that runs once per trial: is it logged
 * in?  Otherwise each trial would fail for the same reason.  Agents with a
 * protocol report it when their session opens.
 */
#include "agent/agent_probe.h"

#include "agent/agent.h"

struct gate {
	struct agent *agent;
	const struct agent_facts *facts;
	struct agent_probe probe;
	struct agent_waiter *waiting, **tail;
	struct str missing;
	bool asking, closing;
};

static void
on_reply(void *arg)
{
	struct gate *g = arg;
	struct agent_waiter *w, *next;

	g->asking = false;
	if (g->probe.login == AGENT_LOGIN_NO)
		g->missing = agent_login_missing(g->agent->arena, g->facts,
		    g->probe.why);
	w = g->waiting;
	g->waiting = NULL;
	g->tail = &g->waiting;
	for (; w != NULL; w = next) {
		next = w->next;
		w->missing = g->missing;
		w->fn(w->arg);
	}
	if (g->closing)
		g->agent->closed(g->agent->arg);
}

bool
agent_gate_pass(struct agent *a, struct agent_waiter *w,
    const struct agent_facts *f, const struct proc_opts *o, const char *cwd)
{
	const char *argv[] = { o->argv[0], f->words[0], f->words[1], NULL };
	struct gate *g = a->state;

	if (g == NULL) {
		g = NEW(a->arena, struct gate);
		a->state = g;
		g->agent = a;
		g->facts = f;
		g->tail = &g->waiting;
		g->probe.done = on_reply;
		g->probe.arg = g;
		g->probe.bounds = o->bounds;
		g->asking = agent_first_set(f->keys, COUNTOF(f->keys),
		    o->env) == NULL && agent_probe_start(&g->probe, a->procs,
		    a->arena, f->ask, argv, o->env,
		    arena_str(a->arena, str_of(cwd)).p);
	}
	w->missing = g->missing;
	if (!g->asking)
		return true;
	w->next = NULL;
	*g->tail = w;
	g->tail = &w->next;
	return false;
}

bool
agent_gate_leave(struct agent *a, struct agent_waiter *w)
{
	struct gate *g = a->state;
	struct agent_waiter **p;

	if (g == NULL)
		return false;
	for (p = &g->waiting; *p != NULL && *p != w; p = &(*p)->next)
		;
	if (*p == NULL)
		return false;
	*p = w->next;
	if (*p == NULL)
		g->tail = p;
	return true;
}

bool
agent_gate_close(struct agent *a)
{
	struct gate *g = a->state;

	if (g == NULL || !g->asking)
		return true;
	g->closing = true;
	agent_probe_cancel(&g->probe);
	return false;
}
