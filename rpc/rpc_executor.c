/* SPDX-License-Identifier: ISC */
/*
 * executor.list: the executors, whether each can be used here, and the models
 * that the settings name.  It starts no program: `waza doctor` asks agents
 * for their version and login, `waza models` for their models.
 */
#include "rpc/rpc_internal.h"

#include "agent/agent.h"
#include "agent/agent_probe.h"
#include "json.h"
#include "suite/config.h"
#include "suite/spec.h"

static const char *const needs[] = {
	[AGENT_NEEDS_NOTHING] = "nothing", [AGENT_NEEDS_COMMAND] = "command",
	[AGENT_NEEDS_PROGRAM] = "program", [AGENT_NEEDS_SERVER] = "server",
};

/* Only of a program is known whether it is there. */
static void
put_program(struct rpc_call *c, const struct agent_kind *k)
{
	struct spec_suite *s = NEW(c->arena, struct spec_suite);
	const struct agent_facts *f;
	struct agent_question q;

	s->path = s->dir = ".";
	s->config.executor = str_of(k->name);
	if (c->rpc->setup.settings != NULL)
		s->executors = c->rpc->setup.settings->executors;
	f = agent_facts_of(c->arena, k, s);
	if (f == NULL)
		return;
	agent_question(c->arena, k, s, f, &q);
	json_put_member_bool(&c->out, "installed", q.path != NULL);
	if (q.path == NULL)
		json_put_member_cstr(&c->out, "install", agent_install(f, &q));
}

static void
put_models(struct rpc_call *c)
{
	const struct config *set = c->rpc->setup.settings;
	size_t i;

	json_open_member(&c->out, "models", '[');
	for (i = 0; set != NULL && i < set->nprices; i++)
		json_put_str(&c->out, set->price[i].model);
	json_close(&c->out, ']');
}

static enum rpc_status
executor_list(struct rpc_call *c, void *params)
{
	const struct rpc_setup *setup = &c->rpc->setup;
	struct json_out *o = &c->out;
	const struct agent_kind *k;
	size_t i;

	(void)params;
	json_open(o, '{');
	json_open_member(o, "executors", '[');
	for (i = 0; (k = agent_nth(i)) != NULL; i++) {
		json_open(o, '{');
		json_put_member_cstr(o, "name", k->name);
		json_put_member_cstr(o, "needs", needs[k->needs]);
		if (k->needs == AGENT_NEEDS_PROGRAM)
			put_program(c, k);
		json_close(o, '}');
	}
	json_close(o, ']');
	put_models(c);
	if (setup->executor != NULL && *setup->executor != '\0')
		json_put_member_cstr(o, "executor", setup->executor);
	if (setup->model != NULL && *setup->model != '\0')
		json_put_member_cstr(o, "model", setup->model);
	json_close(o, '}');
	return RPC_DONE;
}

static const struct rpc_method methods[] = {
	{ .name = "executor.list", .family = RPC_EVAL, .fn = executor_list,
	    .help = "list the executors and whether they are installed" },
};

const struct rpc_module rpc_executor_module = { .methods = methods,
	.nmethods = COUNTOF(methods) };
