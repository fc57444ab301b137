/* SPDX-License-Identifier: ISC */
/*
 * The agent of a session: the executor that a provider maps to, its settings,
 * and the agent itself.
 *
 * A plan is a suite of one task, as JSON, with all of these settings.  Calls
 * with the same plan can share an agent; another plan needs another agent,
 * which does not know the conversation with the first.
 */
#include "rpc/session_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/proc.h"
#include "io/workspace.h"
#include "json.h"
#include "suite/spec.h"

/*
 * The providers of the protocol document, unless the settings replace them.  A
 * provider with a key of its own also needs its own base_url from the settings:
 * requests for it must not go to another server.
 */
static const struct provider {
	const char *name, *executor, *api, *key;
} providers[] = {
	{ "anthropic", "openai", "anthropic", NULL },
	{ "databricks", "openai", "chat", "DATABRICKS_TOKEN" },
	{ "openai", "openai", "chat", NULL },
};

static const struct provider *
find_provider(struct str name)
{
	size_t i;

	for (i = 0; i < COUNTOF(providers); i++)
		if (str_is(name, providers[i].name))
			return &providers[i];
	return NULL;
}

static const struct config *
settings(const struct rpc *r)
{
	return r->setup.settings != NULL ? r->setup.settings :
	    &config_defaults;
}

/* The entry of that name in "executors" of the settings, or NULL. */
static const struct json *
entry(const struct rpc *r, struct str name)
{
	const struct config *set = settings(r);

	return set->executors == NULL ? NULL : json_get(set->executors, name);
}

/* The executor of all fixes, if the user's own settings name one. */
static struct str
common_executor(const struct config *set)
{
	return set->sessions.executor.n > 0 ? set->sessions.executor :
	    set->own_executor;
}

/* From the settings; else the provider's own, or the one in the table. */
static struct str
executor_of(const struct rpc *r, struct str provider)
{
	const struct provider *known = find_provider(provider);
	struct str common = common_executor(settings(r));
	struct str own = json_str(entry(r, provider), "executor");

	if (common.n > 0)
		return common;
	if (own.n > 0)
		return own;
	return known != NULL ? str_of(known->executor) : provider;
}

/*
 * Whether the user's own settings name what the provider leads to: a client
 * chooses among the executors of the user, it does not add any.
 */
static bool
is_named(const struct config *set, struct str provider)
{
	struct str common = common_executor(set), def = set->sessions.provider;
	const struct provider *known = find_provider(provider);

	if (config_has_executor(set, provider) || str_eq(provider, common) ||
	    str_eq(provider, def))
		return true;
	return known != NULL && (common.n > 0 || find_provider(def) != NULL ||
	    config_has_executor(set, str_of(known->executor)));
}

static enum rpc_status
refuse_provider(struct rpc_call *c, struct str provider)
{
	rpc_data(c, "field", STR("agent_config.model.provider"));
	return rpc_fail(c, RPC_INVALID_PARAMS, "Invalid params: \"provider\" "
	    "cannot be \"%.*s\": the settings of this server do not name it "
	    "(model.provider, executor, sessions.executor or executors)",
	    STRF(utf8_cut(provider, 60)));
}

static void
put_members(struct json_out *o, const struct json *obj)
{
	const struct json *v;

	if (obj == NULL || obj->type != JSON_OBJECT)
		return;
	for (v = json_first(obj); v != NULL; v = v->next) {
		if (str_is(json_key(v), "executor"))
			continue;
		json_put_key(o, json_key(v));
		json_put(o, v);
	}
}

/*
 * The settings of executor and provider.  A provider's entry is for the
 * executor that it maps to; an executor's entry is not used for the API of
 * another provider.
 */
static void
put_settings(struct json_out *o, const struct rpc *r, struct str executor,
    struct str provider)
{
	const struct json *own = entry(r, provider);
	const struct provider *known = find_provider(provider);
	const struct agent_kind *kind = agent_find(executor);
	bool mapped = known != NULL && str_is(executor, known->executor);

	/* a client named the directory: no commands unless the user says so */
	if (kind != NULL && kind->edits_only != NULL)
		json_put_member_raw(o, "permissions",
		    str_of(kind->edits_only));
	if (mapped)
		json_put_member_cstr(o, "api", known->api);
	if (mapped && known->key != NULL)
		json_put_member_cstr(o, "api_key_env", known->key);
	if (!mapped || str_eq(executor, provider))
		put_members(o, entry(r, executor));
	if (!str_eq(executor, provider) &&
	    (mapped || str_eq(json_str(own, "executor"), executor)))
		put_members(o, own);
}

/* The last of several members with the same name takes precedence. */
static void
put_config(struct json_out *o, const struct rpc *r, struct str executor,
    const struct session_params *p)
{
	const struct session_model *m = &p->model;
	const struct config *set = settings(r);

	put_settings(o, r, executor, m->provider);
	if (m->temperature >= 0)
		json_put_member_double(o, "temperature", m->temperature);
	if (m->max_tokens > 0)
		json_put_member_int(o, "max_tokens", m->max_tokens);
	json_put_member_str(o, "executor", executor);
	json_put_member_str(o, "model", m->model_id);
	json_put_member_int(o, "timeout_seconds",
	    set->sessions.timeout_seconds);
	json_put_member_int(o, "trials_per_task", 1);
	json_put_member_int(o, "max_attempts", 1);
	json_put_member_int(o, "workers", 1);
}

static struct str
make_plan(struct arena *a, const struct rpc *r, struct str executor,
    const struct session_params *p)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };
	struct str plan;

	json_open(&o, '{');
	json_put_member_str(&o, "name", STR("generate_fix"));
	json_put_member_str(&o, "skill", STR("generate_fix"));
	json_put_member_str(&o, "description", str_of(p->dir));
	json_open_member(&o, "config", '{');
	put_config(&o, r, executor, p);
	json_close(&o, '}');
	json_put_member_raw(&o, "tasks",
	    STR("[{\"id\":\"fix\",\"prompt\":\"fix\"}]"));
	json_close(&o, '}');
	plan = arena_take(a, &b);
	return plan;
}

/* The suite of a plan; NULL: the notes have the errors. */
static struct spec_suite *
read_plan(struct arena *a, const struct rpc *r, struct str plan,
    struct spec_notes *notes)
{
	struct json_mem mem = { arena_hook, a };
	struct json_error e;
	const struct json *v = json_read(&mem, arena_str(a, plan),
	    r->limits.depth + JSON_DEPTH, &e);
	struct spec_suite *s;

	if (v == NULL) {
		spec_note(notes, FIELD_ERROR, (struct spec_where){ "settings",
		    0, 0 }, "%s", e.msg);
		return NULL;
	}
	s = spec_load_tree(a, "generate_fix", v, notes);
	if (s == NULL)
		return NULL;
	config_apply(settings(r), s);
	s->executors = NULL;		/* the plan has what applies */
	agent_check(s, s->config.executor, notes);
	return notes->errors > 0 ? NULL : s;
}

static const char *
first_error(const struct spec_notes *notes)
{
	const struct spec_note *n;

	for (n = notes->head; n != NULL; n = n->next)
		if (n->level == FIELD_ERROR)
			return n->msg;
	return "invalid settings";
}

static bool
needs_base_url(const struct rpc *r, struct str provider, struct str executor)
{
	const struct provider *known = find_provider(provider);
	const struct agent_kind *kind = agent_find(executor);

	return kind != NULL && kind->needs == AGENT_NEEDS_SERVER &&
	    known != NULL && known->key != NULL &&
	    json_str(entry(r, provider), "base_url").n == 0;
}

enum rpc_status
session_plan(struct rpc_call *c, const struct session_params *p,
    struct str *plan, struct str *executor)
{
	struct spec_notes notes = { .arena = c->arena };
	struct arena a = { 0 };
	bool ok;

	if (!is_named(settings(c->rpc), p->model.provider))
		return refuse_provider(c, p->model.provider);
	*executor = executor_of(c->rpc, p->model.provider);
	if (needs_base_url(c->rpc, p->model.provider, *executor)) {
		rpc_data(c, "executor", *executor);
		return rpc_fail(c, RPC_CONFIG, "Configuration error: provider "
		    "\"%.*s\" needs its base_url: executors.%.*s.base_url",
		    STRF(p->model.provider), STRF(p->model.provider));
	}
	*plan = make_plan(c->arena, c->rpc, *executor, p);
	ok = read_plan(&a, c->rpc, *plan, &notes) != NULL;
	arena_free(&a);
	if (ok)
		return RPC_DONE;
	rpc_data(c, "executor", *executor);
	return rpc_fail(c, RPC_CONFIG, "Configuration error: %s",
	    first_error(&notes));
}

/*
 * Agents.
 */
static int
make_dirs(struct session_agent *x, struct err *e)
{
	struct sessions *all = x->all;
	struct str dir;

	if (!agent_has_own_dirs(&x->agent))
		return 0;
	if (all->pooled++ == 0)
		workspace_sweep();	/* of servers that were killed */
	all->pool.arena = &all->pool_arena;
	x->scratch = workspace_take(&all->pool, &x->arena, arena_fmt(&x->arena,
	    "session-%llu", (unsigned long long)all->pooled), e);
	if (x->scratch == NULL)
		return -1;
	dir = arena_fmt(&x->arena, "%s/", x->scratch);
	return agent_make_dirs(&x->agent, &x->arena, &x->dirs, dir.p, dir.p, e);
}

static void
remove_dirs(struct session_agent *x)
{
	struct err e;

	(void)agent_remove_dirs(&x->agent, &x->dirs, &e);
	(void)agent_remove_shared_dirs(&x->agent, &e);
	if (x->scratch != NULL)
		(void)workspace_remove(x->scratch, &e);
	x->scratch = NULL;
}

static void
close_pool(struct sessions *all)
{
	struct err e;

	(void)workspace_close(&all->pool, false, &e);
	arena_free(&all->pool_arena);
	all->pool = (struct workspace_pool){ 0 };
}

void
session_agent_free(void *arg)
{
	struct session_agent *x = arg;

	remove_dirs(x);
	LIST_REMOVE(x);
	if (--x->all->nagents == 0)
		close_pool(x->all);
	arena_free(&x->arena);
}

void
session_agent_close(struct session_agent *x)
{
	if (x == NULL || x->closing)
		return;
	x->closing = true;
	agent_conversation_end(&x->agent, &x->conversation);
	x->agent.closed = session_agent_free;
	x->agent.arg = x;
	if (agent_close(&x->agent))
		session_agent_free(x);
}

struct session_agent *
session_agent_open(struct sessions *all, struct str plan, struct err *e)
{
	struct arena arena = { 0 };
	struct session_agent *x = NEW(&arena, struct session_agent);
	struct spec_notes notes = { .arena = NULL };

	x->arena = arena;
	x->all = all;
	x->conversation.arena = &x->arena;
	LIST_PUSH(&all->agents, x);
	all->nagents++;
	notes.arena = &x->arena;
	x->plan = arena_str(&x->arena, plan);
	x->suite = read_plan(&x->arena, all->rpc, plan, &notes);
	if (x->suite == NULL) {
		err_set(e, ERR_SCHEMA, "%s", first_error(&notes));
		session_agent_free(x);
		return NULL;
	}
	x->dir = arena_cstr(&x->arena, x->suite->description);
	x->agent = (struct agent){ .suite = x->suite,
		.kind = agent_find(x->suite->config.executor),
		.procs = all->rpc->procs, .hub = all->rpc->setup.hub,
		.arena = &x->arena, .workers = 1 };
	if (agent_open(&x->agent, e) == -1) {
		session_agent_free(x);
		return NULL;
	}
	if (make_dirs(x, e) == -1) {
		session_agent_close(x);
		return NULL;
	}
	return x;
}
