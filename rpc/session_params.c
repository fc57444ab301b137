/* SPDX-License-Identifier: ISC */
/*
 * The parameters of generate_fix: field tables, checks, defaults from the
 * settings.
 *
 * The spellings of the protocol document and of the original program (Kaiak)
 * are both accepted: a workspace can be just a path, and the model can be in
 * override_base_config.
 */
#include "rpc/session_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/os_path.h"
#include "json.h"
#include "lib/glob.h"

const char *const session_efforts[] = { "trivial", "low", "medium", "high",
	NULL };
const char *const session_severities[] = { "info", "warning", "error",
	"critical", NULL };

#define ROW(T, k, m, t, ...) \
	{ .key = k, .type = t, .off = offsetof(struct T, m), __VA_ARGS__ }

static const struct session_incident no_incident = { .effort = -1,
	.severity = -1 };
static const struct field incident_rows[] = {
	FIELD(session_incident, id, FIELD_STR, .flags = FIELD_REQUIRED,
	    .help = "unique in the call"),
	FIELD(session_incident, rule_id, FIELD_STR, .flags = FIELD_REQUIRED,
	    .help = "rule of the analysis"),
	FIELD(session_incident, message, FIELD_STR, .flags = FIELD_REQUIRED,
	    .help = "what is wrong"),
	FIELD(session_incident, description, FIELD_STR, .help = "details"),
	FIELD(session_incident, effort, FIELD_ENUM, .words = session_efforts,
	    .help = "needed to fix it"),
	FIELD(session_incident, severity, FIELD_ENUM,
	    .words = session_severities, .help = "of the issue"),
	FIELD(session_incident, uri, FIELD_STR, .help = "of the file"),
	FIELD(session_incident, line_number, FIELD_INT,
	    .alias = "lineNumber", .min = 0, .max = INT32_MAX,
	    .help = "in the file"),
	FIELD(session_incident, code_snip, FIELD_STR, .alias = "codeSnip",
	    .help = "the code in question"),
};
static const struct field_table incident_table = { incident_rows,
	COUNTOF(incident_rows), sizeof(struct session_incident),
	&no_incident };

static const struct field workspace_rows[] = {
	FIELD(session_workspace, working_dir, FIELD_STR,
	    .help = "absolute path"),
	FIELD(session_workspace, include_patterns, FIELD_STRS,
	    .help = "globs of files to consider"),
	FIELD(session_workspace, exclude_patterns, FIELD_STRS,
	    .help = "globs of files to leave out"),
};
static const struct field_table workspace_table =
    FIELD_TABLE(session_workspace, workspace_rows);

static const struct field model_rows[] = {
	FIELD(session_model, provider, FIELD_STR,
	    .help = "openai, anthropic, databricks, or from the settings"),
	FIELD(session_model, model_id, FIELD_STR, .alias = "model",
	    .help = "as the provider calls it"),
	FIELD(session_model, temperature, FIELD_NUM, .min = 0, .max = 1,
	    .help = "of the generation"),
	FIELD(session_model, max_tokens, FIELD_INT, .min = 1,
	    .max = INT32_MAX, .help = "of one answer"),
};
static const struct field_table model_table =
    FIELD_TABLE(session_model, model_rows);

struct base_in {
	struct session_model model;
};
static const struct field base_rows[] = {
	FIELD(base_in, model, FIELD_OBJECT, .sub = &model_table),
};
static const struct field_table base_table = FIELD_TABLE(base_in, base_rows);

struct agent_in {
	const struct json *workspace, *model, *base;
};
static const struct field agent_rows[] = {
	FIELD(agent_in, workspace, FIELD_TREE,
	    .help = "working_dir, include_patterns, exclude_patterns"),
	FIELD(agent_in, model, FIELD_TREE,
	    .help = "provider, model_id, temperature, max_tokens"),
	ROW(agent_in, "override_base_config", base, FIELD_TREE,
	    .help = "can contain the model instead"),
};
static const struct field_table agent_table = FIELD_TABLE(agent_in, agent_rows);

struct migration_in {
	struct str source_technology, target_technology;
	struct field_strs migration_hints;
};
static const struct field migration_rows[] = {
	FIELD(migration_in, source_technology, FIELD_STR, .help = "from"),
	FIELD(migration_in, target_technology, FIELD_STR, .help = "to"),
	FIELD(migration_in, migration_hints, FIELD_STRS, .help = "how"),
};
static const struct field_table migration_table =
    FIELD_TABLE(migration_in, migration_rows);

struct fix_in {
	struct str session_id;
	struct field_list incidents;
	struct migration_in migration_context;
	struct agent_in agent_config;
	bool include_transcript;
};
static const struct field fix_rows[] = {
	FIELD(fix_in, session_id, FIELD_STR, .help = "to continue it"),
	FIELD(fix_in, incidents, FIELD_OBJECTS, .flags = FIELD_REQUIRED,
	    .sub = &incident_table, .help = "1 to 1000"),
	FIELD(fix_in, migration_context, FIELD_OBJECT,
	    .sub = &migration_table, .help = "what is migrated"),
	FIELD(fix_in, agent_config, FIELD_OBJECT, .flags = FIELD_REQUIRED,
	    .sub = &agent_table, .help = "workspace and model"),
	FIELD(fix_in, include_transcript, FIELD_BOOL,
	    .alias = "includeTranscript", .help = "in the result"),
};
const struct field_table session_fix_table = FIELD_TABLE(fix_in, fix_rows);

/* Sets the error of a field; the format must be a literal. */
#define BAD(c, field, ...) (rpc_data(c, "field", field), \
	rpc_fail(c, RPC_INVALID_PARAMS, "Invalid params: " __VA_ARGS__))

/*
 * Incidents.
 */
static enum rpc_status
need_text(struct rpc_call *c, size_t i, const char *key, struct str s)
{
	if (s.n > 0)
		return RPC_DONE;
	return BAD(c, arena_fmt(c->arena, "incidents[%zu].%s", i, key),
	    "\"%s\" is empty", key);
}

static int
by_id(const void *a, const void *b)
{
	const struct session_incident *const *x = a, *const *y = b;
	int c = str_cmp((*x)->id, (*y)->id);

	return c != 0 ? c : (*x > *y) - (*x < *y);
}

static enum rpc_status
check_unique(struct rpc_call *c, const struct session_incident *v, size_t n)
{
	const struct session_incident **p = NEW_N(c->arena,
	    const struct session_incident *, n);
	size_t i;

	for (i = 0; i < n; i++)
		p[i] = &v[i];
	qsort(p, n, sizeof(*p), by_id);
	for (i = 1; i < n; i++)
		if (str_eq(p[i - 1]->id, p[i]->id))
			return BAD(c, arena_fmt(c->arena, "incidents[%zu].id",
			    (size_t)(p[i] - v)), "\"id\" is that of another "
			    "incident: \"%.*s\"", STRF(utf8_cut(p[i]->id, 60)));
	return RPC_DONE;
}

static enum rpc_status
check_incidents(struct rpc_call *c, const struct field_list *list)
{
	const struct session_incident *v = list->v;
	size_t i;

	if (list->n < 1 || list->n > SESSION_INCIDENTS)
		return BAD(c, STR("incidents"), "Must provide 1-%d incidents",
		    SESSION_INCIDENTS);
	for (i = 0; i < list->n; i++)
		if (need_text(c, i, "id", v[i].id) != RPC_DONE ||
		    need_text(c, i, "rule_id", v[i].rule_id) != RPC_DONE ||
		    need_text(c, i, "message", v[i].message) != RPC_DONE)
			return RPC_FAIL;
	return check_unique(c, v, list->n);
}

/*
 * Workspace.
 */
static enum rpc_status
read_workspace(struct rpc_call *c, const struct json *w,
    struct session_workspace *out)
{
	if (w == NULL)
		return RPC_DONE;
	if (w->type != JSON_STRING)
		return rpc_decode_part(c, &workspace_table, w,
		    "agent_config.workspace", out);
	out->working_dir = json_text(w);
	return RPC_DONE;
}

/* "./src" becomes src, "." everything; false: it contains "..". */
static bool
make_relative(struct str *s)
{
	size_t i, n;

	while (s->n > 1 && s->p[0] == '.' && s->p[1] == '/') {
		s->p += 2;
		s->n -= 2;
	}
	if (s->n == 0 || str_is(*s, "."))
		*s = STR("**");
	for (i = 0; i < s->n; i += n + 1) {
		for (n = 0; i + n < s->n && s->p[i + n] != '/'; n++)
			;
		if (str_is((struct str){ s->p + i, n }, ".."))
			return false;
	}
	return true;
}

static enum rpc_status
read_patterns(struct rpc_call *c, const char *key,
    const struct field_strs *in, struct field_strs *out)
{
	size_t i, k, n;
	struct str field;
	struct err e;

	out->v = NEW_N(c->arena, struct str, SESSION_PATTERNS + 1);
	out->n = 0;
	for (i = 0; i < in->n; i++) {
		field = arena_fmt(c->arena, "agent_config.workspace.%s[%zu]",
		    key, i);
		if (in->v[i].n == 0 || in->v[i].n > 1000)
			return BAD(c, field,
			    "a pattern must have 1 to 1000 bytes");
		n = glob_braces(c->arena, in->v[i], out->v + out->n,
		    SESSION_PATTERNS - out->n);
		if (n > SESSION_PATTERNS - out->n)
			return BAD(c, field, "more than %d patterns",
			    SESSION_PATTERNS);
		for (k = 0; k < n; k++) {
			if (glob_check(out->v[out->n + k], &e) == -1)
				return BAD(c, field, "%s", e.msg);
			if (!make_relative(&out->v[out->n + k]))
				return BAD(c, field, "a pattern cannot "
				    "leave the directory");
		}
		out->n += n;
	}
	return RPC_DONE;
}

static enum rpc_status
no_workspace(struct rpc_call *c, struct str dir, const char *why)
{
	rpc_data(c, "field", STR("agent_config.workspace.working_dir"));
	rpc_data(c, "path", dir);
	return rpc_fail(c, RPC_WORKSPACE, "Workspace error: %s", why);
}

static enum rpc_status
find_dir(struct rpc_call *c, struct session_params *p)
{
	static const char field[] = "agent_config.workspace.working_dir";
	struct str dir = p->workspace.working_dir;
	struct stat st;
	char *path;

	if (dir.n == 0 && c->rpc->setup.settings != NULL) {
		dir = c->rpc->setup.settings->sessions.working_dir;
		path = dir.n > 0 ? os_real(c->arena, dir.p) : NULL;
		if (path != NULL)
			dir = str_of(path);
	}
	if (dir.n == 0)
		return BAD(c, str_of(field),
		    "Missing required field: working_dir");
	path = arena_cstr(c->arena, dir);
	if (path == NULL)
		return BAD(c, str_of(field),
		    "\"working_dir\" contains a NUL byte");
	if (*path != '/')
		return BAD(c, str_of(field),
		    "\"working_dir\" must be an absolute path");
	if (!rpc_allows(c->peer, path)) {
		rpc_data(c, "field", str_of(field));
		rpc_data(c, "path", dir);
		return rpc_fail(c, RPC_PATH_DENIED, NULL);
	}
	if (stat(path, &st) == -1)
		return no_workspace(c, dir, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return no_workspace(c, dir, "not a directory");
	p->dir = os_real(c->arena, path);
	if (p->dir == NULL || access(p->dir, R_OK | X_OK) == -1)
		return no_workspace(c, dir, strerror(errno));
	if (!utf8_valid(str_of(p->dir)))	/* as plans and prompts */
		return no_workspace(c, dir, "its path is not UTF-8");
	return RPC_DONE;
}

/*
 * Model.
 */
static enum rpc_status
check_text(struct rpc_call *c, const char *key, struct str s)
{
	struct str field = arena_fmt(c->arena, "agent_config.model.%s", key);

	if (s.n == 0)
		return BAD(c, field, "Missing required field: %s", key);
	if (s.n > 200 || memchr(s.p, '\0', s.n) != NULL)
		return BAD(c, field,
		    "\"%s\" is too long or contains a NUL byte", key);
	return RPC_DONE;
}

/* The call takes precedence over override_base_config, then the settings. */
static enum rpc_status
read_model(struct rpc_call *c, const struct agent_in *in,
    struct session_model *m)
{
	const struct config *set = c->rpc->setup.settings;
	struct base_in base = { .model = { .temperature = -1 } };

	if (set != NULL) {
		base.model.provider = set->sessions.provider;
		base.model.model_id = set->model;
		base.model.temperature = set->sessions.temperature;
		base.model.max_tokens = set->sessions.max_tokens;
	}
	if (in->base != NULL && rpc_decode_part(c, &base_table, in->base,
	    "agent_config.override_base_config", &base) != RPC_DONE)
		return RPC_FAIL;
	*m = base.model;
	if (in->model != NULL && rpc_decode_part(c, &model_table, in->model,
	    "agent_config.model", m) != RPC_DONE)
		return RPC_FAIL;
	if (check_text(c, "provider", m->provider) != RPC_DONE)
		return RPC_FAIL;
	return check_text(c, "model_id", m->model_id);
}

enum rpc_status
session_read_params(struct rpc_call *c, void *decoded, struct session_params *p)
{
	const struct fix_in *in = decoded;
	const struct session_workspace *w = &p->workspace;

	*p = (struct session_params){ .session_id = in->session_id,
		.incidents = in->incidents,
		.incidents_json = json_getc(c->params, "incidents"),
		.migration = json_getc(c->params, "migration_context"),
		.source = in->migration_context.source_technology,
		.target = in->migration_context.target_technology,
		.hints = in->migration_context.migration_hints,
		.transcript = in->include_transcript };
	if (check_incidents(c, &in->incidents) != RPC_DONE ||
	    read_workspace(c, in->agent_config.workspace, &p->workspace) !=
	    RPC_DONE ||
	    read_patterns(c, "include_patterns", &w->include_patterns,
	    &p->include) != RPC_DONE ||
	    read_patterns(c, "exclude_patterns", &w->exclude_patterns,
	    &p->exclude) != RPC_DONE ||
	    read_model(c, &in->agent_config, &p->model) != RPC_DONE)
		return RPC_FAIL;
	return find_dir(c, p);
}
