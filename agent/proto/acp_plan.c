/* SPDX-License-Identifier: ISC */
/*
 * Settings of a new session: mode, model, reasoning effort.  Without a mode in
 * the settings, the permissions choose one: Claude, Gemini and Qwen get the
 * mode in which they ask for everything, whatever the user's own settings are,
 * and waza answers; codex gets a sandbox.
 *
 * Agents offer modes and models in lists, or, in the newer form, all three as
 * options.  A value matches by its id, by the part of the id after the last /
 * or # (opencode uses provider/model, Copilot URIs), or by its name.
 */
#include "agent/proto/acp.h"

#include <string.h>

#include "agent/agent_internal.h"
#include "json.h"
#include "suite/spec.h"

struct menu {
	const char *what;		/* for people */
	const char *list, *items, *id, *current;	/* in the result */
	const char *option;		/* or the id of a configOption */
	const char *method, *param;	/* that sets it */
};

static const struct menu mode_menu = { .what = "mode", .list = "modes",
	.items = "availableModes", .id = "id", .current = "currentModeId",
	.option = "mode", .method = "session/set_mode", .param = "modeId" };
static const struct menu model_menu = { .what = "model", .list = "models",
	.items = "availableModels", .id = "modelId",
	.current = "currentModelId", .option = "model",
	.method = "session/set_model", .param = "modelId" };

/* What the permissions allow without a question. */
enum level { LEVEL_READ, LEVEL_WORKSPACE, LEVEL_ALL, LEVELS };

/* The first of the modes that the agent offers is taken; ids change. */
static const struct modes {
	const char *agent;
	const char *ids[LEVELS][3];
	bool sandboxes;			/* questions alone do not confine it */
} modes[] = {
	{ "claude", { { "default" }, { "default" }, { "default" } }, false },
	{ "codex", { { "read-only" }, { "workspace-write", "auto", "agent" },
	    { "agent-full-access", "full-access" } }, true },
	{ "gemini", { { "default" }, { "default" }, { "default" } }, false },
	{ "qwen", { { "default" }, { "default" }, { "default" } }, false },
};

bool
acp_has_sandbox(struct str agent)
{
	size_t i;

	for (i = 0; i < COUNTOF(modes); i++)
		if (str_is(agent, modes[i].agent))
			return modes[i].sandboxes;
	return false;
}

/* Only as an option: there is no older form. */
static const struct menu effort_menu = { .what = "reasoning effort",
	.list = "", .items = "", .id = "", .current = "",
	.option = "thought_level" };

static struct str
last_part(struct str s)
{
	size_t i = s.n;

	while (i > 0 && s.p[i - 1] != '/' && s.p[i - 1] != '#')
		i--;
	return (struct str){ s.p + i, s.n - i };
}

/* The id of the wanted item, or empty; exact matches come first. */
static struct str
pick(const struct json *items, const char *id, struct str want)
{
	const struct json *v;
	struct str s;
	int pass;

	for (pass = 0; pass < 3; pass++)
		for (v = json_first(items); v != NULL; v = v->next) {
			s = json_str(v, id);
			if (s.n > 0 && str_eq(want, pass == 0 ? s :
			    pass == 1 ? last_part(s) : json_str(v, "name")))
				return s;
		}
	return STR("");
}

static struct str
offers(struct arena *a, const struct json *items, const char *id)
{
	const struct json *v;
	struct str all = STR("");

	for (v = json_first(items); v != NULL; v = v->next) {
		if (all.n > 100)
			return arena_fmt(a, "%.*s, ...", STRF(all));
		all = arena_fmt(a, "%.*s%s%.*s", STRF(all), all.n > 0 ? ", " :
		    "", STRF(utf8_cut(json_str(v, id), 60)));
	}
	return all;
}

static const struct json *
find_option(const struct json *result, const char *id)
{
	const struct json *v;

	for (v = json_first(json_getc(result, "configOptions")); v != NULL;
	    v = v->next)
		if (str_is(json_str(v, "id"), id) ||
		    str_is(json_str(v, "category"), id))
			return v;
	return NULL;
}

static void
add(struct acp *x, const char *method, const char *key, struct str value,
    struct str option)
{
	struct acp_ask *q = NEW(x->arena, struct acp_ask), **at = &x->asks;
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	json_open(&o, '{');
	json_put_member_str(&o, "sessionId", x->session);
	json_put_member_nonempty(&o, "configId", option);
	json_put_member_str(&o, key, value);
	json_close(&o, '}');
	q->method = method;
	q->params = arena_take(x->arena, &b);
	while (*at != NULL)
		at = &(*at)->next;
	*at = q;
}

static int
plan(struct acp *x, const struct json *result, const struct menu *m,
    struct str want, struct err *e)
{
	const struct json *list = json_getc(result, m->list);
	const struct json *items = json_getc(list, m->items);
	const struct json *option = find_option(result, m->option);
	const char *key = m->id;
	struct str id;

	if (str_eq(want, json_str(list, m->current)) ||
	    str_eq(want, json_str(option, "currentValue")))
		return 0;
	if (items == NULL && option != NULL) {
		items = json_getc(option, "options");
		key = "value";
	}
	id = pick(items, key, want);
	if (items != NULL && id.n == 0)
		return err_set(e, ERR_SCHEMA, "the agent has no %s \"%.*s\"; "
		    "it offers: %.*s", m->what, STRF(utf8_cut(want, 40)),
		    STRF(offers(x->job->arena, items, key)));
	if (strcmp(key, "value") == 0)
		add(x, "session/set_config_option", "value", id,
		    json_str(option, "id"));
	else if (items != NULL)
		add(x, m->method, m->param, id, STR(""));
	else if (m == &mode_menu)	/* not offered, but may exist */
		add(x, m->method, m->param, want, STR(""));
	else if (m == &effort_menu)
		return err_set(e, ERR_SCHEMA, "the agent has no setting for "
		    "reasoning effort");
	return 0;
}

static enum level
level_of(const struct json *permissions)
{
	bool edit = agent_approves(permissions, STR("edit"));
	bool execute = agent_approves(permissions, STR("execute"));

	if (!edit && !execute)
		return LEVEL_READ;
	return edit && execute && agent_lists(permissions, STR("path")) ?
	    LEVEL_ALL : LEVEL_WORKSPACE;
}

/* The mode for the permissions; empty: the agent needs none. */
static int
choose_mode(struct acp *x, const struct json *result, struct str *mode,
    struct err *e)
{
	const struct json *items = json_getc(json_getc(result,
	    mode_menu.list), mode_menu.items);
	enum level level = level_of(x->set.permissions);
	const struct modes *m = modes;
	const char *key = mode_menu.id;
	size_t i;

	while (m < modes + COUNTOF(modes) &&
	    (x->known == NULL || strcmp(m->agent, x->known->name) != 0))
		m++;
	if (m == modes + COUNTOF(modes))
		return 0;
	if (items == NULL) {
		items = json_getc(find_option(result, mode_menu.option),
		    "options");
		key = "value";
	}
	for (i = 0; i < COUNTOF(m->ids[level]) && m->ids[level][i] != NULL;
	    i++) {
		*mode = pick(items, key, str_of(m->ids[level][i]));
		if (mode->n > 0)
			return 0;
	}
	if (!m->sandboxes || (items == NULL && level == LEVEL_WORKSPACE))
		return 0;
	return err_set(e, ERR_SCHEMA, "the agent has no mode \"%s\", which "
	    "the permissions need; it offers: %.*s", m->ids[level][0],
	    STRF(items == NULL ? STR("none") :
	    offers(x->job->arena, items, key)));
}

int
acp_plan(struct acp *x, const struct json *result, struct err *e)
{
	struct str model = x->job->req->model;
	struct str effort = x->agent->suite->config.reasoning_effort;
	struct str mode = x->set.mode;

	if (mode.n == 0 && choose_mode(x, result, &mode, e) == -1)
		return -1;
	if (mode.n > 0 && plan(x, result, &mode_menu, mode, e) == -1)
		return -1;
	if (model.n > 0 && !acp_names_model(&x->set) &&
	    plan(x, result, &model_menu, model, e) == -1)
		return -1;
	if (effort.n > 0 && acp_effort_flag(&x->set) == NULL &&
	    plan(x, result, &effort_menu, effort, e) == -1)
		return -1;
	return 0;
}
