/* SPDX-License-Identifier: ISC */
/*
 * waza models: the models that executors offer, where they can be asked
 * without a call of a model.
 */
#include "waza.h"

#include <stdlib.h>
#include <string.h>

#include "agent/agent.h"
#include "agent/agent_models.h"
#include "base/os_path.h"
#include "io/loop.h"
#include "json.h"
#include "suite/config.h"
#include "suite/spec.h"

enum { ASKED_MAX = 32 };

struct models_opt {
	const char *config, *config_json;
	bool json, trust;
};
static const struct opt models_rows[] = {
	CMD_OPT(models_opt, json, OPT_FLAG, .name = "json",
	    .help = "print the models as JSON"),
	CMD_CONFIG_OPTS(models_opt, config, config_json, trust),
};

/* An executor that is asked. */
struct asked {
	struct str name;		/* "openai", "acp:gemini" */
	struct agent_models models;
	size_t *waiting;
	struct err err;
	bool started;
};

struct models {
	struct cmd_call *call;
	struct config *config;
	struct procs procs;
	struct asked v[ASKED_MAX];
	size_t n, waiting;
};

static void
on_done(void *arg)
{
	struct asked *a = arg;

	--*a->waiting;
}

/* The suite that configures the executor, or an agent of acp, by its name. */
static const struct spec_suite *
suite_of(struct models *m, struct str name)
{
	struct arena *a = m->call->arena;
	struct spec_suite *s = NEW(a, struct spec_suite);
	const char *colon = memchr(name.p, ':', name.n);
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	s->path = s->dir = ".";
	s->config.executor = colon != NULL ? (struct str){ name.p,
		(size_t)(colon - name.p) } : name;
	s->executors = m->config->executors;
	if (colon == NULL)
		return s;
	json_open(&o, '{');
	json_put_key(&o, s->config.executor);
	json_open(&o, '{');
	json_put_member_str(&o, "agent", (struct str){ colon + 1,
	    name.n - s->config.executor.n - 1 });
	json_close(&o, '}');
	json_close(&o, '}');
	s->executors = arena_json(a, arena_take(a, &b), NULL);
	return s;
}

static void
ask(struct models *m, struct str name, const char *cwd)
{
	struct asked *a = &m->v[m->n++];

	*a = (struct asked){ .name = name, .waiting = &m->waiting };
	a->models.done = on_done;
	a->models.arg = a;
	m->waiting++;
	if (agent_models_start(&a->models, &m->procs, m->call->arena,
	    suite_of(m, name), cwd, &a->err) == 0)
		a->started = true;
	else {
		a->models.error = arena_str(m->call->arena,
		    str_of(a->err.msg));
		m->waiting--;
	}
}

/* Without operands: those that are configured, and Copilot. */
static void
ask_all(struct models *m, const char *cwd)
{
	static const char *const names[] = { "acp", "copilot-sdk", "openai" };
	size_t i;

	for (i = 0; i < COUNTOF(names); i++)
		if (i == 1 || json_getc(m->config->executors, names[i]) != NULL)
			ask(m, str_of(names[i]), cwd);
}

static int
run(struct models *m)
{
	struct err *e = m->call->err;
	struct loop *loop = loop_new(NULL, e);
	const char *cwd = os_absolute(m->call->arena, ".");
	size_t i;
	int r = 1;

	if (loop == NULL)
		return -1;
	procs_init(&m->procs, loop, false);
	for (i = 0; i < m->call->nargs; i++)
		ask(m, str_of(m->call->args[i]), cwd);
	if (m->call->nargs == 0)
		ask_all(m, cwd);
	while (m->waiting > 0 && r == 1)
		r = loop_turn(loop, e);
	procs_fini(&m->procs);
	loop_free(loop);
	return r == -1 ? -1 : 0;
}

/*
 * Output.
 */
static void
put_window(struct buf *b, int64_t n)
{
	if (n <= 0)
		buf_puts(b, "-");
	else if (n >= 1000000)
		buf_fmt(b, "%lldM", (long long)(n / 1000000));
	else if (n >= 1000)
		buf_fmt(b, "%lldk", (long long)(n / 1000));
	else
		buf_fmt(b, "%lld", (long long)n);
}

static void
put_table(struct models *m, struct buf *b)
{
	static const char *const vision[] = { "-", "no", "yes" };
	const struct agent_model *v;
	size_t i, k, n = 0;

	for (i = 0; i < m->n; i++)
		for (k = 0; k < m->v[i].models.n; k++, n++) {
			v = &m->v[i].models.v[k];
			if (n == 0)
				buf_fmt(b, "%-14s  %-32s  %-28s  %-6s  %s\n",
				    "EXECUTOR", "MODEL ID", "NAME", "VISION",
				    "CONTEXT WINDOW");
			buf_fmt(b, "%-14.*s  %-32.*s  %-28.*s  %-6s  ",
			    STRF(m->v[i].name), STRF(v->id), STRF(v->name),
			    vision[v->vision + 1]);
			put_window(b, v->context);
			buf_putc(b, '\n');
		}
	if (n > 0)
		buf_fmt(b, "\n%zu models\n", n);
	else
		buf_puts(b, "No models found.\n");
}

/* What the executor reported, with its name and the id. */
static void
put_json(struct models *m, struct buf *b)
{
	struct json_out o = { .put = buf_sink, .ctx = b, .indent = 2 };
	const struct agent_model *v;
	const struct json *member;
	size_t i, k;

	json_open(&o, '[');
	for (i = 0; i < m->n; i++)
		for (k = 0; k < m->v[i].models.n; k++) {
			v = &m->v[i].models.v[k];
			json_open(&o, '{');
			json_put_member_str(&o, "executor", m->v[i].name);
			json_put_member_str(&o, "id", v->id);
			for (member = json_first(v->node); member != NULL;
			    member = member->next)
				if (!str_is(json_key(member), "id") &&
				    !str_is(json_key(member), "executor")) {
					json_put_key(&o, json_key(member));
					json_put(&o, member);
				}
			json_close(&o, '}');
		}
	json_close(&o, ']');
	buf_putc(b, '\n');
}

/* Prints what failed; an executor that was named must answer. */
static int
judge(struct models *m)
{
	size_t i, good = 0;
	const struct asked *a;

	for (i = 0; i < m->n; i++) {
		a = &m->v[i];
		if (a->models.error.n == 0)
			good++;
		else
			cmd_say("waza: %.*s: %.*s\n", STRF(utf8_cut(a->name,
			    60)), STRF(a->models.error));
	}
	return good == m->n || (good > 0 && m->call->nargs == 0) ? CMD_OK :
	    CMD_ERROR;
}

static int
models_main(struct cmd_call *c)
{
	const struct models_opt *opt = c->opt;
	struct config_sources from = { .path = opt->config,
		.json = opt->config_json, .token = c->token,
		.trust = opt->trust };
	struct models *m = NEW(c->arena, struct models);
	struct buf out = { 0 };
	int status;

	m->call = c;
	m->config = cmd_load_config(c, &from);
	if (m->config == NULL)
		return CMD_ERROR;
	if (run(m) == -1)
		return cmd_complain(c->err);
	status = judge(m);
	if (opt->json)
		put_json(m, &out);
	else if (status == CMD_OK)
		put_table(m, &out);
	c->form = opt->json ? GUARD_JSON : GUARD_PLAIN;
	return cmd_finish(c, &out, status);
}

const struct cmd_command cmd_models = {
	.name = "models", .group = CMD_RUNS,
	.usage = "[--json] [OPTION ...] [EXECUTOR | acp:AGENT ...]",
	.opts = CMD_OPTS(models_rows), .size = sizeof(struct models_opt),
	.max = ASKED_MAX, .fn = models_main,
	.help = "List the models that executors offer"
};
