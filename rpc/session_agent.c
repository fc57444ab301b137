/* SPDX-License-Identifier: ISC */
/*
 * Who fixes: the executor that a provider stands for, its settings, and the
 * agent that is opened for a session.
 *
 * A plan is a suite of one task, as JSON, in which all of that is said.  Two
 * calls with the same plan can be answered by the same agent; another plan is
 * another agent, which knows nothing of what was said to the first.
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
 * Providers of the document, for whom nobody has set an executor.  One with a
 * key of its own has a place of its own, too, that nobody can guess: what is
 * meant for it must not go to another.
 */
static const struct {
	const char *provider, *executor, *api, *key;
} providers[] = {
	{ "anthropic", "openai", "anthropic", NULL },
	{ "databricks", "openai", "chat", "DATABRICKS_TOKEN" },
	{ "openai", "openai", "chat", NULL },
};

static const char *
key_of(struct str provider)
{
	size_t i;

	for (i = 0; i < COUNTOF(providers); i++)
		if (str_is(provider, providers[i].provider))
			return providers[i].key;
	return NULL;
}

static const char *
api_of(struct str provider, const char **executor)
{
	size_t i;

	for (i = 0; i < COUNTOF(providers); i++)
		if (str_is(provider, providers[i].provider)) {
			*executor = providers[i].executor;
			return providers[i].api;
		}
	return NULL;
}

static const struct json *
entry(const struct rpc *r, struct str name)
{
	return r->settings == NULL || r->settings->executors == NULL ? NULL :
	    json_get(r->settings->executors, name);
}

static struct str
text_in(const struct json *obj, const char *key)
{
	const struct json *v = obj == NULL ? NULL : json_getc(obj, key);

	return v != NULL && v->type == JSON_STRING ? json_text(v) : STR("");
}

/* The settings' word; else the provider's own, or what is known of it. */
static struct str
executor_of(const struct rpc *r, struct str provider)
{
	const struct config *set = r->settings;
	const char *known = NULL;
	struct str own = text_in(entry(r, provider), "executor");

	if (set != NULL && set->sessions.executor.n > 0)
		return set->sessions.executor;
	if (r->executor != NULL)
		return str_of(r->executor);
	if (own.n > 0)
		return own;
	if (api_of(provider, &known) != NULL)
		return str_of(known);
	return provider;
}

static bool
is_known(const struct rpc *r, struct str provider)
{
	const char *executor;

	return api_of(provider, &executor) != NULL ||
	    entry(r, provider) != NULL || agent_find(provider) != NULL;
}

static enum rpc_status
refuse_provider(struct rpc_call *c, struct str provider)
{
	rpc_data(c, "field", STR("agent_config.model.provider"));
	return rpc_fail(c, RPC_INVALID_PARAMS, "Invalid params: \"provider\" "
	    "cannot be \"%.*s\"; it is openai, anthropic, databricks, or one "
	    "of \"executors\" in the settings",
	    (int)(provider.n < 60 ? provider.n : 60), provider.p);
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
 * What the settings have for the two.  A provider's own is for the executor
 * that it stands for, and an executor's not for another provider's API.
 */
static void
put_settings(struct json_out *o, const struct rpc *r, struct str executor,
    struct str provider)
{
	const struct json *own = entry(r, provider);
	const char *known = NULL, *api = api_of(provider, &known);
	bool table = api != NULL && str_is(executor, known);

	if (table)
		json_put_member_str(o, "api", str_of(api));
	if (table && key_of(provider) != NULL)
		json_put_member_str(o, "api_key_env", str_of(key_of(provider)));
	if (!table || str_eq(executor, provider))
		put_members(o, entry(r, executor));
	if (!str_eq(executor, provider) &&
	    (table || str_eq(text_in(own, "executor"), executor)))
		put_members(o, own);
}

/* Of members with the same name the last one counts. */
static void
put_config(struct json_out *o, const struct rpc *r, struct str executor,
    const struct session_params *p)
{
	const struct session_model *m = &p->model;
	int64_t seconds = r->settings != NULL ?
	    r->settings->sessions.timeout_seconds :
	    config_defaults.sessions.timeout_seconds;

	put_settings(o, r, executor, m->provider);
	if (m->temperature >= 0) {
		json_put_member_double(o, "temperature", m->temperature);
	}
	if (m->max_tokens > 0)
		json_put_member_int(o, "max_tokens", m->max_tokens);
	json_put_member_str(o, "executor", executor);
	json_put_member_str(o, "model", m->model_id);
	json_put_member_int(o, "timeout_seconds", seconds);
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
	plan = arena_str(a, buf_str(&b));
	buf_free(&b);
	return plan;
}

/* The suite of a plan; NULL and noted when there is something wrong. */
static struct spec_suite *
read_plan(struct arena *a, const struct rpc *r, struct str plan,
    struct spec_notes *notes)
{
	struct json_mem mem = { arena_hook, a };
	struct json_error e;
	const struct json *v = json_read(&mem, arena_str(a, plan),
	    r->depth + JSON_DEPTH, &e);
	struct spec_suite *s;

	if (v == NULL) {
		spec_note(notes, FIELD_ERROR, (struct spec_where){ "settings",
		    0, 0 }, "%s", e.msg);
		return NULL;
	}
	s = spec_load_tree(a, "generate_fix", v, notes);
	if (s == NULL)
		return NULL;
	if (r->settings != NULL)
		config_apply(r->settings, s);
	s->executors = NULL;		/* what counts of them is in it */
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
	return "the settings make no sense";
}

static bool
needs_place(const struct rpc *r, struct str provider, struct str executor)
{
	return str_is(executor, "openai") && key_of(provider) != NULL &&
	    text_in(entry(r, provider), "base_url").n == 0;
}

enum rpc_status
session_plan(struct rpc_call *c, const struct session_params *p,
    struct str *plan, struct str *executor)
{
	struct spec_notes notes = { .arena = c->arena };
	struct arena a = { 0 };
	bool ok;

	if (!is_known(c->rpc, p->model.provider))
		return refuse_provider(c, p->model.provider);
	*executor = executor_of(c->rpc, p->model.provider);
	if (needs_place(c->rpc, p->model.provider, *executor)) {
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
move_in(struct session_agent *x, struct err *e)
{
	const char *tmp = getenv("TMPDIR");
	struct str dir;
	char *path;

	if (!agent_has_own_dirs(&x->agent))
		return 0;
	dir = arena_fmt(&x->arena, "%s/waza-session-XXXXXX",
	    tmp != NULL && *tmp != '\0' ? tmp : "/tmp");
	path = arena_cstr(&x->arena, dir);
	if (mkdtemp(path) == NULL)
		return err_sys(e, path);
	x->scratch = path;
	dir = arena_fmt(&x->arena, "%s/", path);
	return agent_make_dirs(&x->agent, &x->arena, &x->lodging, dir.p, dir.p,
	    e);
}

static void
move_out(struct session_agent *x)
{
	struct err e;

	(void)agent_remove_dirs(&x->agent, &x->lodging, &e);
	(void)agent_remove_shared_dirs(&x->agent, &e);
	if (x->scratch != NULL)
		(void)workspace_remove(x->scratch, &e);
	x->scratch = NULL;
}

void
session_agent_free(struct session_agent *x)
{
	struct arena arena;

	move_out(x);
	*x->prev = x->next;
	if (x->next != NULL)
		x->next->prev = x->prev;
	x->all->nagents--;
	arena = x->arena;
	arena_free(&arena);
}

static void
on_closed(void *arg)
{
	session_agent_free(arg);
}

void
session_agent_close(struct session_agent *x)
{
	if (x == NULL || x->closing)
		return;
	x->closing = true;
	agent_conversation_end(&x->agent, &x->conversation);
	x->agent.closed = on_closed;
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
	x->next = all->agents;
	x->prev = &all->agents;
	if (x->next != NULL)
		x->next->prev = &x->next;
	all->agents = x;
	all->nagents++;
	notes.arena = &x->arena;
	x->plan = arena_str(&x->arena, plan);
	x->suite = read_plan(&x->arena, all->rpc, plan, &notes);
	if (x->suite == NULL) {
		err_set(e, ERR_SCHEMA, "%s", first_error(&notes));
		session_agent_free(x);
		return NULL;
	}
	x->place = arena_cstr(&x->arena, x->suite->description);
	x->agent = (struct agent){ .suite = x->suite,
		.kind = agent_find(x->suite->config.executor),
		.procs = all->rpc->procs, .hub = all->rpc->hub,
		.arena = &x->arena, .workers = 1 };
	if (agent_open(&x->agent, e) == -1) {
		session_agent_free(x);
		return NULL;
	}
	if (move_in(x, e) == -1) {
		session_agent_close(x);
		return NULL;
	}
	return x;
}
