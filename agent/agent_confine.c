/* SPDX-License-Identifier: ISC */
/*
 * What waza knows about the processes of agents: whether they confine
 * themselves, where they keep their state, whether they survive two first
 * starts at once; and the confinement that waza adds.
 *
 * A confined agent reads everything apart from what grades it, and writes in
 * its workspace, its TMPDIR and its state.  Rules name directories: one that
 * allows to create a file in HOME would allow it everywhere below.  So a state
 * directory is created before the start, and a file of state, such as
 * ~/.claude.json, can be overwritten but neither created nor replaced; Claude
 * then overwrites it.
 */
#include "agent/agent_internal.h"

#include <string.h>
#include <unistd.h>

#include "agent/proto/acp.h"
#include "base/os_confine.h"
#include "base/os_path.h"
#include "base/os_spawn.h"
#include "io/workspace.h"
#include "json.h"
#include "suite/spec.h"

enum { STATE_MAX = 5, COMMON = 2 };

/*
 * A path: `below` the directory in the variable `var` if that is set, else
 * `home` below HOME.  One that ends with a slash is created if it is missing.
 */
struct place {
	const char *var, *below, *home;
};

struct traits {
	const char *name;
	bool sandbox;			/* confines its commands itself */
	struct place state[STATE_MAX];
	struct place used;		/* exists after the first start in a
					 * HOME, which must be alone */
};

static const struct traits agents[] = {
	{ .name = "claude", .state = { { "CLAUDE_CONFIG_DIR", "/", ".claude/" },
	    { NULL, NULL, ".claude.json" } } },
	{ .name = "cline", .state = { { NULL, NULL, ".cline/" } } },
	{ .name = "codex", .sandbox = true, .state = { { "CODEX_HOME", "/", ".codex/" } },
	    .used = { "CODEX_HOME", "/state_5.sqlite", ".codex/state_5.sqlite" } },
	{ .name = "copilot", .state = { { "COPILOT_HOME", "/", ".copilot/" } } },
	{ .name = "gemini", .state = { { "GEMINI_CLI_HOME", "/.gemini/", ".gemini/" } } },
	{ .name = "goose", .state = { { "XDG_CONFIG_HOME", "/goose/", ".config/goose/" },
	    { "XDG_DATA_HOME", "/goose/", ".local/share/goose/" },
	    { "XDG_STATE_HOME", "/goose/", ".local/state/goose/" } } },
	{ .name = "opencode", .state = {
	    { "XDG_CONFIG_HOME", "/opencode/", ".config/opencode/" },
	    { "XDG_DATA_HOME", "/opencode/", ".local/share/opencode/" },
	    { "XDG_STATE_HOME", "/opencode/", ".local/state/opencode/" },
	    { NULL, NULL, ".opencode" } },
	    .used = { "XDG_DATA_HOME", "/opencode/opencode.db",
		".local/share/opencode/opencode.db" } },
	{ .name = "qwen", .state = { { "QWEN_HOME", "/", ".qwen/" } } },
};

/* Caches of all agents, and of npm, which starts many MCP servers. */
static const struct place common[COMMON] = {
	{ "XDG_CACHE_HOME", "/", ".cache/" },
	{ "npm_config_cache", "", ".npm" },
};

/* The agent behind an executor: its kind's name, or config.acp.agent. */
static const struct traits *
traits_of(struct arena *a, const struct agent_kind *k,
    const struct spec_suite *s)
{
	struct str name = str_of(k->name);
	const struct json *set;
	size_t i;

	if (k == &agent_copilot || k == &agent_copilot_cli)
		name = STR("copilot");
	if (k == &agent_acp) {
		set = agent_settings(a, s, k->name);
		name = json_is_set(json_getc(set, "command")) ? STR("") :
		    json_str(set, "agent");
	}
	for (i = 0; i < COUNTOF(agents); i++)
		if (str_is(name, agents[i].name))
			return &agents[i];
	return NULL;
}

/* Whether a mode or an argument switches off the sandbox of codex. */
static bool
is_opening(struct arena *a, const struct json *v)
{
	static const char *const words[] = { "full-access", "dangerously",
	    "--yolo" };
	const char *text = v != NULL && v->type == JSON_STRING ?
	    arena_cstr(a, json_text(v)) : NULL;
	size_t i;

	for (i = 0; text != NULL && i < COUNTOF(words); i++)
		if (strstr(text, words[i]) != NULL)
			return true;
	return false;
}

/* Whether the agent confines itself, with the settings of the suite. */
static bool
has_sandbox(struct arena *a, const struct traits *t,
    const struct agent_kind *k, const struct spec_suite *s)
{
	const struct json *set = agent_settings(a, s, k->name), *v;
	bool open = is_opening(a, json_getc(set, "mode"));

	for (v = json_first(json_getc(set, "args")); v != NULL; v = v->next)
		open = open || is_opening(a, v);
	return t->sandbox && !open;
}

const char *
agent_permits(struct arena *a, const struct agent_kind *k,
    const struct spec_suite *s)
{
	const struct agent_preset *p = agent_preset(k->name);
	const struct traits *t = traits_of(a, k, s);
	const struct acp_agent *acp;

	if (p != NULL)
		return p->permit_env != NULL ? "variable" :
		    t != NULL && t->sandbox ? "sandbox" : "options";
	if (k != &agent_acp)
		return k == &agent_copilot ? "asked" : NULL;
	acp = t != NULL ? acp_agent(str_of(t->name)) : NULL;
	return acp != NULL && acp->permit_env != NULL ? "variable" :
	    acp != NULL && acp_has_sandbox(str_of(t->name)) ? "mode" :
	    "asked";
}

/* Whether the permissions allow to leave the workspace. */
static bool
may_leave(struct arena *a, const struct agent_kind *k,
    const struct spec_suite *s)
{
	return agent_lists(json_getc(agent_settings(a, s, k->name),
	    "permissions"), STR("path")) || (k->alias != NULL &&
	    agent_lists(json_getc(agent_settings(a, s, k->alias),
	    "permissions"), STR("path")));
}

enum agent_confinement
agent_confinement(struct arena *a, const struct agent_kind *k,
    const struct spec_suite *s, int setting)
{
	const struct traits *t;
	bool sandbox, leaves;

	if (k->needs != AGENT_NEEDS_PROGRAM && k->needs != AGENT_NEEDS_COMMAND)
		return AGENT_NO_PROCESS;
	t = traits_of(a, k, s);
	leaves = may_leave(a, k, s);
	sandbox = t != NULL && !leaves && has_sandbox(a, t, k, s);
	if (setting == AGENT_CONFINE_DEFAULT)
		setting = t != NULL && !sandbox && !leaves ?
		    AGENT_CONFINE_WORKSPACE : AGENT_CONFINE_OFF;
	if (setting == AGENT_CONFINE_WORKSPACE)
		return os_can_confine() ? AGENT_CONFINED : AGENT_UNABLE;
	return t == NULL ? AGENT_CUSTOM : sandbox ? AGENT_SANDBOX :
	    AGENT_LOOSE;
}

/*
 * The path of a place for a process with that environment, or NULL.  A private
 * HOME is writable as a whole.
 */
static const char *
path_of(struct arena *a, const struct place *p, const char *const *env,
    bool private)
{
	const char *dir = p->var != NULL ? os_env_value(env, p->var) : NULL;

	if (dir != NULL && *dir == '/')
		return arena_fmt(a, "%s%s", dir, p->below).p;
	dir = os_env_value(env, "HOME");
	return p->home == NULL || private || dir == NULL || *dir != '/' ? NULL :
	    arena_fmt(a, "%s/%s", dir, p->home).p;
}

/* Appends the path; the agent reports a directory that cannot be created. */
static void
add_place(struct arena *a, const struct place *p, const char *const *env,
    bool private, const char **list, size_t *n)
{
	const char *path = path_of(a, p, env, private);
	struct err e;

	if (path == NULL)
		return;
	if (str_ends(str_of(path), STR("/")))
		(void)os_make_dirs(path, 0700, true, &e);
	list[(*n)++] = path;
}

/* The directory of all workspaces, for a process that serves all trials. */
static const char *
parent_of(struct arena *a, const char *scratch)
{
	const char *slash = strrchr(scratch, '/');

	return slash == NULL ? "." : arena_fmt(a, "%.*s",
	    (int)(slash - scratch), scratch).p;
}

const struct os_bounds *
agent_bounds(const struct agent *a, struct arena *mem,
    const struct agent_request *r, const char *const *env)
{
	const struct traits *t = traits_of(mem, a->kind, a->suite);
	struct os_bounds *b;
	const char **list;
	size_t i, n = 0;

	if (a->home.confined != AGENT_CONFINED)
		return NULL;
	list = NEW_N(mem, const char *, STATE_MAX + COMMON + 7);
	if (r->workspace != NULL)
		list[n++] = r->workspace;
	if (a->home.shared && r->scratch != NULL)
		list[n++] = parent_of(mem, r->scratch);
	list[n++] = r->tmp != NULL ? r->tmp : workspace_tmp();
	if (r->home != NULL)
		list[n++] = r->home;
	if (r->cache != NULL)
		list[n++] = r->cache;
	if (r->mocks != NULL)
		list[n++] = r->mocks;	/* its calls are recorded there */
	for (i = 0; i < COMMON; i++)
		add_place(mem, &common[i], env, r->home != NULL, list, &n);
	for (i = 0; t != NULL && i < STATE_MAX; i++)
		add_place(mem, &t->state[i], env, r->home != NULL, list, &n);
	b = NEW(mem, struct os_bounds);
	*b = (struct os_bounds){ .writable = list, .hidden = a->sealed };
	return b;
}

bool
agent_is_confined(const struct agent *a)
{
	return a->home.confined == AGENT_CONFINED;
}

bool
agent_is_loose(const struct agent *a)
{
	return a->home.confined == AGENT_UNABLE ||
	    a->home.confined == AGENT_LOOSE;
}

bool
agent_starts_alone(const struct agent *agent)
{
	struct arena a = { 0 };
	const struct traits *t = traits_of(&a, agent->kind, agent->suite);
	const char *path = t == NULL || agent->home.own ? NULL :
	    path_of(&a, &t->used, agent_settings_env(&a, agent), false);
	bool alone = path != NULL && access(path, F_OK) == -1;

	arena_free(&a);
	return alone;
}
