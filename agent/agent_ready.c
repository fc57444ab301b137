/* SPDX-License-Identifier: ISC */
/*
 * Whether a known agent can be used, without a job: its program is installed
 * and, if it can be asked, logged in.  For `doctor` and for judges, which are
 * first needed after an agent has answered.
 */
#include "agent/agent_probe.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent_internal.h"
#include "agent/proto/acp.h"
#include "base/os_path.h"
#include "json.h"
#include "suite/spec.h"

const struct agent_facts *
agent_facts_of(struct arena *a, const struct agent_kind *k,
    const struct spec_suite *s)
{
	struct acp_settings set = { .agent = { NULL, 0 } };

	if (k != &agent_acp)
		return agent_facts(str_of(k->name));
	acp_read(a, s, &set);
	return set.command != NULL || acp_agent(set.agent) == NULL ? NULL :
	    agent_facts(set.agent);
}

/* A path must be executable; a name is looked up in PATH. */
static const char *
look_up(struct arena *a, const char *name)
{
	if (name == NULL || strchr(name, '/') == NULL)
		return name == NULL ? NULL : os_find(a, name);
	return access(name, X_OK) == 0 ? name : NULL;
}

static void
find_program(struct arena *a, const struct agent_kind *k,
    const struct spec_suite *s, const struct agent_facts *f,
    struct agent_question *q)
{
	struct str set = json_str(agent_settings(a, s, k->name), "cli_path");
	const char *path = f->path_env != NULL ? getenv(f->path_env) : NULL;

	if (set.n > 0)
		q->path = look_up(a, arena_cstr(a, set));
	else if (k->shared_process && path != NULL && *path != '\0') {
		q->path_from = f->path_env;
		q->path = look_up(a, path);
	} else
		q->path = look_up(a, q->argv[0]);
}

void
agent_question(struct arena *a, const struct agent_kind *k,
    const struct spec_suite *s, const struct agent_facts *f,
    struct agent_question *q)
{
	const struct acp_agent *acp = k == &agent_acp ?
	    acp_agent(str_of(f->name)) : NULL;
	size_t i;

	*q = (struct agent_question){ .ask = f->ask, .argv = { f->program } };
	for (i = 0; i < COUNTOF(f->words); i++)
		q->argv[i + 1] = f->words[i];
	if (acp != NULL && f->adapter != NULL) {
		/* Claude's adapter opens a session without a login */
		q->argv[0] = f->adapter;
		q->argv[1] = NULL;
		q->ask = f->ask == AGENT_ASK_ACCOUNT ? AGENT_ASK_SESSION :
		    AGENT_ASK_NOBODY;
		if (acp->instead != NULL && os_find(a, f->adapter) == NULL &&
		    os_find(a, acp->instead) != NULL)
			q->argv[0] = acp->instead;
	}
	find_program(a, k, s, f, q);
}

/* A key or a provider replaces the login; a private HOME has none. */
static bool
needs_login(struct arena *a, const struct agent *agent,
    const struct agent_facts *f, const char *const *env)
{
	const struct json *set = agent_settings(a, agent->suite,
	    agent->kind->name);

	return !agent->home.own && !json_is_set(json_getc(set, "provider")) &&
	    agent_first_set(f->keys, COUNTOF(f->keys), env) == NULL;
}

static void
on_reply(void *arg)
{
	struct agent_ready *r = arg;

	if (r->probe.login == AGENT_LOGIN_NO)
		r->missing = agent_login_missing(r->arena, r->facts,
		    r->probe.why);
	r->done(r->arg);
}

bool
agent_ready_start(struct agent_ready *r, const struct agent *agent)
{
	struct arena *a = r->arena = agent->arena;
	const struct agent_kind *k = agent->kind;
	const struct agent_facts *f = r->facts =
	    k->needs != AGENT_NEEDS_PROGRAM ? NULL :
	    agent_facts_of(a, k, agent->suite);
	struct agent_question q;
	const char *const *env;

	r->missing = STR("");
	if (f == NULL)
		return false;
	agent_question(a, k, agent->suite, f, &q);
	if (q.path == NULL) {
		r->missing = arena_fmt(a, "%s is not installed (`%s` is not "
		    "%s): %s", f->name, q.path_from != NULL ?
		    getenv(q.path_from) : q.argv[0], q.path_from != NULL ?
		    "a program" : "found in PATH",
		    agent_install(f, &q));
		return false;
	}
	env = agent_settings_env(a, agent);
	q.argv[0] = q.path;
	r->probe.done = on_reply;
	r->probe.arg = r;
	return needs_login(a, agent, f, env) && agent_probe_start(&r->probe,
	    agent->procs, a, q.ask, q.argv, env, "/");
}

void
agent_ready_cancel(struct agent_ready *r)
{
	agent_probe_cancel(&r->probe);
}

const char *
agent_install(const struct agent_facts *f, const struct agent_question *q)
{
	return f->adapter != NULL && q->argv[0] == f->adapter ?
	    f->install_adapter : f->install;
}
