/* SPDX-License-Identifier: ISC */
/*
 * Permissions of a session.  The CLI asks for each file that it writes, each
 * command, and each path outside of the workspace; for such a path it sends two
 * requests, and either may contain the path.
 *
 * We do not search commands for paths: the CLI asks for those that it finds.
 * This keeps a well-meaning agent in its workspace; it is not a sandbox.
 */
#include "agent/proto/copilot.h"

#include "base/os_path.h"
#include "json.h"

/* Skills are outside of the workspace and may be read. */
static bool
is_inside(const struct copilot_session *s, const struct json *path, bool read)
{
	const struct field_strs *skills = &s->dirs;
	struct arena a = { 0 };
	const char *p;
	bool ok = false;
	size_t i;

	if (path->type != JSON_STRING || s->root == NULL)
		return false;
	p = arena_cstr(&a, json_text(path));
	if (p != NULL && *p != '/')
		p = arena_fmt(&a, "%s/%s", s->cwd, p).p;
	if (p != NULL)
		ok = os_inside(s->root, p);
	for (i = 0; p != NULL && read && !ok && i < skills->n; i++)
		ok = os_inside(skills->v[i].p, p);
	arena_free(&a);
	return ok;
}

static bool
all_inside(const struct copilot_session *s, const struct json *list, bool read)
{
	const struct json *v;

	for (v = json_first(list); v != NULL; v = v->next)
		if (!is_inside(s, v, read))
			return false;
	return true;
}

/* Of {"after": {"path": ...}, "before": {...}}. */
static bool
edits_inside(const struct copilot_session *s, const struct json *edits)
{
	const struct json *v, *side, *path;

	for (v = json_first(edits); v != NULL; v = v->next)
		for (side = json_first(v); side != NULL; side = side->next) {
			path = json_getc(side, "path");
			if (path != NULL && !is_inside(s, path, false))
				return false;
		}
	return true;
}

static bool
stays_inside(const struct copilot_session *s, const struct json *ask,
    const struct json *prompt, bool read)
{
	static const char *const keys[] = { "fileName", "path" };
	const struct json *v;
	size_t i;

	for (i = 0; i < COUNTOF(keys); i++) {
		v = json_getc(ask, keys[i]);
		if (json_is_set(v) && !is_inside(s, v, read))
			return false;
	}
	return edits_inside(s, json_getc(ask, "fileEdits")) &&
	    all_inside(s, json_getc(prompt, "paths"), read);
}

/* The path of the request, if it names one. */
static struct str
path_of(const struct json *ask, const struct json *prompt)
{
	const struct json *v = json_getc(ask, "fileName");

	if (v == NULL)
		v = json_getc(ask, "path");
	if (v == NULL)
		v = json_first(json_getc(prompt, "paths"));
	return v != NULL && v->type == JSON_STRING ? json_text(v) :
	    STR("a path outside");
}

/* Leaving the workspace fails the trial. */
static bool
refuse(struct copilot_session *s, struct str kind, struct str path)
{
	copilot_fail(s, ANSWER_FAILED, "tried to leave the workspace: "
	    "%.*s %.*s", STRF(utf8_cut(kind, 50)), STRF(utf8_cut(path, 300)));
	return false;
}

/* The tool of a request, if its call is unknown. */
static void
guess_call(const struct json *ask, struct answer_call *c)
{
	static const struct { const char *kind, *tool; } kinds[] = {
		{ "read", "view" }, { "shell", "bash" },
		{ "url", "web_fetch" }, { "write", "edit" },
	};
	struct str kind = json_str(ask, "kind");
	size_t i;

	c->name = json_str(ask, "toolName");
	for (i = 0; i < COUNTOF(kinds) && c->name.n == 0; i++)
		if (str_is(kind, kinds[i].kind))
			c->name = str_of(kinds[i].tool);
	if (c->name.n == 0)
		c->name = kind;
	answer_name_tool(c, STR("copilot"), STR(""));
}

/* By the policy of a custom agent. */
static bool
is_declared(struct copilot_session *s, const struct json *ask,
    const struct answer_call *call)
{
	struct answer_call c = { .name = STR("") };

	if (agent_policy(s->job->req) == NULL)
		return true;
	if (call == NULL || call->name.n == 0) {
		guess_call(ask, &c);
		call = &c;
	}
	return agent_policy_permits(s->job, call);
}

/*
 * The CLI asks before each call.  report_intent is not a real tool: it tells
 * the user what comes next.
 */
void
copilot_hook(struct copilot_session *s, const struct json *id,
    const struct json *params)
{
	struct answer_call c = { .name = json_str(json_getc(params, "input"),
		"toolName") };
	bool deny = str_is(json_str(params, "hookType"), "preToolUse") &&
	    s->job != NULL && !str_is(c.name, "report_intent");

	if (deny) {
		answer_name_tool(&c, STR("copilot"), STR(""));
		deny = !agent_policy_permits(s->job, &c);
	}
	wire_reply(&s->link->wire, id, deny ? STR("{\"output\":{"
	    "\"permissionDecision\":\"deny\",\"permissionDecisionReason\":"
	    "\"not one of the agent's tools\"}}") : STR("{}"));
}

bool
copilot_permits(struct copilot_session *s, const struct json *data,
    const struct answer_call *call)
{
	const struct copilot_settings *set = &s->c->set;
	const struct json *ask = json_getc(data, "permissionRequest");
	const struct json *prompt = json_getc(data, "promptRequest");
	struct str kind = json_str(ask, "kind");
	bool read = str_is(kind, "read");

	if (s->job == NULL || !agent_approves(set->permissions, kind))
		return false;
	if (s->job->req->sample > 0 && !read)
		return false;		/* judges may only read */
	if (!is_declared(s, ask, call))
		return false;
	return agent_lists(set->permissions, STR("path")) ||
	    stays_inside(s, ask, prompt, read) ||
	    refuse(s, kind, path_of(ask, prompt));
}
