/* SPDX-License-Identifier: ISC */
/*
 * Permissions.  The kind of the tool and the paths that it names decide: paths
 * outside of the trial's directories are refused for every kind, unless the
 * list of permissions contains "path".  Shell commands are not searched for
 * paths; only the agent's own sandbox restricts them.
 */
#include "agent/proto/acp.h"

#include <string.h>

#include "agent/agent_internal.h"
#include "base/os_path.h"
#include "json.h"
#include "suite/spec.h"

const char *const acp_kinds[] = {
	"read", "edit", "delete", "move", "search", "execute", "think",
	"fetch", "switch_mode", "other", "path", NULL
};

/* Members of rawInput that are paths; lower case, without _ and -. */
static const char *const path_keys[] = {
	"path", "paths", "file", "files", "filepath", "filename", "fileuri",
	"absolutepath", "targetfile", "targetpath", "notebookpath", "cwd",
	"dir", "dirpath", "directory", "parentdir", "workdir",
	"workingdirectory", "oldpath", "newpath", "source", "sourcepath",
	"destination", "destinationpath",
};

static bool
is_path_key(struct str key)
{
	char word[24];
	size_t i, n = 0;

	for (i = 0; i < key.n && n < sizeof(word); i++)
		if (key.p[i] != '_' && key.p[i] != '-')
			word[n++] = key.p[i] >= 'A' && key.p[i] <= 'Z' ?
			    (char)(key.p[i] + 'a' - 'A') : key.p[i];
	if (i < key.n)
		return false;
	for (i = 0; i < COUNTOF(path_keys); i++)
		if (str_is((struct str){ word, n }, path_keys[i]))
			return true;
	return false;
}

/* Skills are outside of the trial's directories and may be read. */
static bool
in_skills(struct acp *x, const struct acp_call *c, const char *path,
    struct arena *a)
{
	struct field_strs dirs;
	const char *dir;
	size_t i;

	if (x->job->req->no_skills || (!str_is(buf_str(&c->kind), "read") &&
	    !str_is(buf_str(&c->kind), "search")))
		return false;
	dirs = spec_skill_dirs(a, x->agent->suite, x->job->req->task);
	for (i = 0; i < dirs.n; i++)
		if ((dir = arena_cstr(a, dirs.v[i])) != NULL &&
		    os_inside(dir, path))
			return true;
	return false;
}

static bool
is_allowed_path(struct acp *x, const struct acp_call *c, struct str path)
{
	struct arena a = { 0 };
	const char *p;
	bool ok;

	if (str_starts(path, STR("file://"))) {
		path.p += 7;
		path.n -= 7;
	}
	if (path.n > 0 && path.p[0] == '~')	/* in the private HOME */
		path = arena_fmt(&a, "%s/%.*s", x->home != NULL ? x->home : "",
		    (int)path.n - 1, path.p + 1);
	else if (path.n == 0 || path.p[0] != '/')
		path = arena_fmt(&a, "%s/%.*s", x->cwd, STRF(path));
	p = arena_cstr(&a, path);
	ok = p != NULL &&
	    ((x->workspace != NULL && os_inside(x->workspace, p)) ||
	    (x->home != NULL && os_inside(x->home, p)) ||
	    (x->tmp != NULL && os_inside(x->tmp, p)) || in_skills(x, c, p, &a));
	arena_free(&a);
	return ok;
}

static void
check_path(struct acp *x, struct acp_call *c, const struct json *v)
{
	if (v != NULL && v->type == JSON_OBJECT)
		v = json_getc(v, "path");
	if (v == NULL || v->type != JSON_STRING || json_text(v).n > 4096)
		return;
	if (c->path.n == 0)
		c->path = arena_str(x->arena, json_text(v));
	if (c->outside.n == 0 && !is_allowed_path(x, c, json_text(v)))
		c->outside = arena_str(x->arena, json_text(v));
}

static bool
ends_in(struct str s, struct str end)
{
	return s.n > end.n && s.p[s.n - end.n - 1] == '/' &&
	    memcmp(s.p + s.n - end.n, end.p, end.n) == 0;
}

/* One path may be relative and the other absolute. */
static void
compare_path(struct acp_call *c, struct str path)
{
	if (path.n > 0 && !str_eq(path, c->path) && !ends_in(path, c->path) &&
	    !ends_in(c->path, path))
		c->more_paths = true;
}

void
acp_check_paths(struct acp *x, struct acp_call *c, const struct json *call)
{
	const struct json *v, *w;

	for (v = json_first(json_getc(call, "locations")); v != NULL;
	    v = v->next) {
		check_path(x, c, v);
		compare_path(c, json_str(v, "path"));
	}
	for (v = json_first(json_getc(call, "content")); v != NULL;
	    v = v->next) {
		check_path(x, c, v);
		compare_path(c, json_str(v, "path"));
	}
	v = json_getc(call, "rawInput");
	if (v == NULL || v->type != JSON_OBJECT)
		return;
	for (v = json_first(v); v != NULL; v = v->next) {
		if (!is_path_key(json_key(v)))
			continue;
		check_path(x, c, v);
		for (w = v->type == JSON_ARRAY ? json_first(v) : NULL;
		    w != NULL; w = w->next)
			check_path(x, c, w);
	}
}

/* The id of the option of that kind; agents choose their own names. */
static const struct json *
option(const struct json *options, const char *kind)
{
	const struct json *v, *k;

	for (v = json_first(options); v != NULL; v = v->next) {
		k = json_getc(v, "kind");
		if (k != NULL && k->type == JSON_STRING &&
		    str_is(json_text(k), kind))
			return json_getc(v, "optionId");
	}
	return NULL;
}

static const struct json *
choose(const struct json *options, bool allow)
{
	const struct json *v = option(options, allow ? "allow_once" :
	    "reject_once");

	return v != NULL ? v : option(options, allow ? "allow_always" :
	    "reject_always");
}

static void
reply(struct acp *x, const struct json *id, const struct json *chosen)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	json_open(&o, '{');
	json_open_member(&o, "outcome", '{');
	json_put_member_cstr(&o, "outcome",
	    chosen != NULL ? "selected" : "cancelled");
	if (chosen != NULL)
		json_put_member(&o, "optionId", chosen);
	json_close(&o, '}');
	json_close(&o, '}');
	wire_reply(&x->wire, id, buf_str(&b));
	buf_free(&b);
}

/* By the policy of a custom agent; without a name, the kind of tool counts. */
static bool
is_declared(struct acp *x, const struct acp_call *c)
{
	struct answer_call k = { .name = buf_str(&c->name),
		.no_name = c->name.n == 0 };

	if (k.no_name)
		k.name = c->kind.n > 0 ? buf_str(&c->kind) : STR("other");
	else
		answer_name_tool(&k, x->known != NULL ?
		    str_of(x->known->name) : STR(""), STR(""));
	if (k.tool == ANSWER_OTHER)
		k.tool = answer_tool_by_kind(buf_str(&c->kind));
	return agent_policy_permits(x->job, &k);
}

void
acp_permit(struct acp *x, const struct json *id, const struct json *params)
{
	const struct json *call = json_getc(params, "toolCall");
	struct acp_call *c;
	bool allow, out;

	if (x->state != ACP_PROMPTED || x->cancelled || call == NULL ||
	    (c = acp_turn_call(x, call, true)) == NULL) {
		reply(x, id, NULL);
		return;
	}
	out = c->outside.n > 0 && !agent_lists(x->set.permissions, STR("path"));
	allow = !out && agent_approves(x->set.permissions,
	    c->kind.n > 0 ? buf_str(&c->kind) : STR("other")) &&
	    is_declared(x, c);
	if (out && x->turn.refused.n == 0)
		x->turn.refused = arena_fmt(x->job->arena, "%.*s %.*s",
		    STRF(buf_str(&c->kind)), STRF(c->outside));
	c->denied = !allow;
	reply(x, id, choose(json_getc(params, "options"), allow));
}
