/* SPDX-License-Identifier: ISC */
/*
 * Settings of a suite: `config`, `metrics`, `hooks`, and the project's
 * .waza.yaml.
 *
 * Defaults come from three places, each over the one before: this file, the
 * project's .waza.yaml, the suite.  Absent keys leave members as they are, so
 * the three are decoded in this order into the same struct.
 */
#include "suite/spec_internal.h"

#include <string.h>
#include <sys/stat.h>

#include "json.h"

/* A key that is looked at in the tree. */
#define SPEC_OWN(key) SPEC_ROW(spec_config, key, tree, FIELD_TREE, .help = "")

static const struct field config_rows[] = {
	FIELD(spec_config, trials_per_task, FIELD_INT,
	    .min = 1, .max = SPEC_TRIALS_MAX),
	FIELD(spec_config, timeout_seconds, FIELD_INT,
	    .min = 1, .max = SPEC_SECONDS_MAX),
	FIELD(spec_config, first_event_timeout_seconds, FIELD_INT,
	    .min = 0, .max = SPEC_SECONDS_MAX),
	FIELD(spec_config, max_attempts, FIELD_INT, .min = 0, .max = 1000),
	FIELD(spec_config, workers, FIELD_INT,
	    .alias = "max_workers", .min = 0, .max = 10000),
	FIELD(spec_config, parallel, FIELD_BOOL,
	    .help = "tasks at the same time"),
	FIELD(spec_config, fail_fast, FIELD_BOOL,
	    .help = "stop after a task that did not pass"),
	FIELD(spec_config, executor, FIELD_STR, .help = "who answers"),
	FIELD(spec_config, model, FIELD_STR, .help = "which model"),
	FIELD(spec_config, judge_model, FIELD_STR,
	    .help = "which model grades"),
	FIELD(spec_config, group_by, FIELD_STR,
	    .help = "what results are grouped by"),
	FIELD(spec_config, pass_threshold, FIELD_NUM, .min = 0, .max = 1),
	FIELD(spec_config, task_pass_threshold, FIELD_NUM, .min = 0, .max = 1),
	FIELD(spec_config, skill_directories, FIELD_STRS,
	    .help = "each with a SKILL.md"),
	FIELD(spec_config, required_skills, FIELD_STRS,
	    .help = "that must be there"),
	FIELD(spec_config, disabled_skills, FIELD_STRS,
	    .help = "by name; * is all"),
	FIELD(spec_config, instruction_files, FIELD_STRS,
	    .help = "texts for the agent"),
	FIELD(spec_config, inject_skill_body, FIELD_BOOL,
	    .help = "into prompts of agents that do not find skills"),
	FIELD(spec_config, mock, FIELD_TREE, .help = "what the mock answers"),
	FIELD(spec_config, command, FIELD_TREE, .help = "the agent's command"),
	FIELD(spec_config, judge, FIELD_TREE, .help = "who grades"),
	FIELD(spec_config, output_format, FIELD_STR, .help = "of the command"),
	FIELD(spec_config, persistent, FIELD_BOOL,
	    .help = "one command for many trials"),
	FIELD(spec_config, executors, FIELD_TREE,
	    .help = "settings of executors, by name"),
	/* the executors' own, see agent_settings() */
	SPEC_OWN("acp"), SPEC_OWN("agent"), SPEC_OWN("api"),
	SPEC_OWN("api_key_env"), SPEC_OWN("auth_method"),
	SPEC_OWN("base_url"), SPEC_OWN("cache_home"), SPEC_OWN("home"),
	SPEC_OWN("cli_path"), SPEC_OWN("copilot"),
	SPEC_OWN("copilot-sdk"), SPEC_OWN("github_token_env"),
	SPEC_OWN("env"), SPEC_OWN("headers"), SPEC_OWN("max_cost"),
	SPEC_OWN("max_tokens"), SPEC_OWN("max_tokens_total"),
	SPEC_OWN("mode"), SPEC_OWN("openai"), SPEC_OWN("permissions"),
	SPEC_OWN("provider"), SPEC_OWN("remote"), SPEC_OWN("replay"),
	SPEC_OWN("retries"),
	SPEC_OWN("system"),
	SPEC_OWN("temperature"),
	FIELD(spec_config, mcp_servers, FIELD_TREE,
	    .help = "tools of others, by name"),
	FIELD(spec_config, reasoning_effort, FIELD_STR,
	    .help = "how long the model thinks"),
	FIELD(spec_config, judge_reasoning_effort, FIELD_STR,
	    .help = "the same of judges"),
	SPEC_ROW(spec_config, "trigger_skill_routing", mcp_servers, FIELD_TREE,
	    .flags = FIELD_IGNORED),
};
static const struct field_table config_table =
    FIELD_TABLE(spec_config, config_rows);

static const struct spec_metric metric_init = { .weight = 1, .enabled = true };
static const struct field metric_rows[] = {
	FIELD(spec_metric, name, FIELD_STR, .help = "of the metric"),
	FIELD(spec_metric, description, FIELD_STR, .help = "what it measures"),
	FIELD(spec_metric, weight, FIELD_NUM, .min = 0, .max = INT64_MAX),
	FIELD(spec_metric, threshold, FIELD_NUM, .min = 0, .max = 1),
	FIELD(spec_metric, enabled, FIELD_BOOL, .help = "whether it counts"),
};
static const struct field_table metric_table = {
	metric_rows, COUNTOF(metric_rows), sizeof(struct spec_metric), NULL
};

/* metrics: {pass_threshold: 0.8, name: {weight: 1}} */
static void
metric_setting(struct spec_loader *l, const char *file, const struct json *v)
{
	double x;

	if (!str_is(json_key(v), "pass_threshold")) {
		spec_note_key(l->notes, l->notes->strict ? FIELD_ERROR :
		    FIELD_WARNING, (struct spec_where){ file, v->key_line,
		    v->key_col }, json_key(v), "unknown key \"%.*s\"%s",
		    STRF(spec_short(json_key(v))), str_similar(json_key(v),
		    STR("pass_threshold")) ?
		    "; did you mean \"pass_threshold\"?" : "");
		return;
	}
	if (!json_double(v, &x) || !(x >= 0 && x <= 1))
		spec_note_key(l->notes, FIELD_ERROR, spec_at(file, v),
		    json_key(v), "\"pass_threshold\" must be a number from "
		    "0 to 1");
	else if (l->suite->config.pass_threshold < 0)
		l->suite->config.pass_threshold = x;
}

/* metrics, as a list or as a mapping. */
static void
read_metrics(struct spec_loader *l, const char *file, const struct json *m)
{
	struct field_list *out = &l->suite->metrics;
	struct spec_metric *v;
	const struct json *c;

	if (m == NULL || m->type == JSON_NULL)
		return;
	if (m->type != JSON_ARRAY && m->type != JSON_OBJECT) {
		spec_note_key(l->notes, FIELD_ERROR, spec_at(file, m),
		    STR("metrics"), "\"metrics\" must be a list, not %s",
		    json_type_name((enum json_type)m->type));
		return;
	}
	out->v = v = NEW_N(l->arena, struct spec_metric, json_count(m));
	for (c = json_first(m); c != NULL; c = c->next) {
		if (m->type == JSON_OBJECT && c->type != JSON_OBJECT) {
			metric_setting(l, file, c);
			continue;
		}
		v[out->n] = metric_init;
		v[out->n].at = spec_at(file, c);
		spec_decode(l, file, &metric_table, c, &v[out->n]);
		if (m->type == JSON_OBJECT)
			v[out->n].name = json_key(c);
		else if (c->type == JSON_OBJECT && v[out->n].name.n == 0)
			spec_note_key(l->notes, FIELD_ERROR, spec_at(file, c),
			    STR("name"), "Missing required field: name");
		out->n++;
	}
}

void
spec_read_config(struct spec_loader *l, const struct spec_file *f,
    const struct json *config, const struct json *metrics)
{
	struct spec_config *c = &l->suite->config;

	c->pass_threshold = -1;
	config = spec_object(l, f->path, config);
	if (config != NULL)
		spec_decode(l, f->path, &config_table, config, c);
	c->executor_at = spec_at(f->path, json_getc(config, "executor"));
	read_metrics(l, f->path, metrics);
	if (c->pass_threshold < 0)
		c->pass_threshold = 1;
	if (c->max_attempts == 0)
		c->max_attempts = 1;
	if (c->executor.n == 0)
		c->executor = STR("mock");
	c->mcp_servers = json_getc(config, "mcp_servers");
	c->tree = config;
	if (config == NULL)
		return;
	spec_check_skill_dirs(l, f, json_getc(config, "skill_directories"),
	    &c->skill_directories);
	spec_check_skills(l, f, config);
	spec_check_instructions(l, f, json_getc(config, "instruction_files"),
	    &c->instruction_files);
}

static const struct field hook_rows[] = {
	FIELD(spec_hook, command, FIELD_STR, .flags = FIELD_REQUIRED),
	FIELD(spec_hook, working_directory, FIELD_STR, .help = "where it runs"),
	FIELD(spec_hook, exit_codes, FIELD_INTS, .help = "that mean success"),
	FIELD(spec_hook, error_on_fail, FIELD_BOOL, .help = "or only warn"),
};
static const struct field_table hook_table = FIELD_TABLE(spec_hook, hook_rows);

struct hooks {
	struct field_list kind[SPEC_HOOK__MAX];
};
static const struct field hooks_rows[] = {
	SPEC_ROW(hooks, "before_run", kind[SPEC_BEFORE_RUN], FIELD_OBJECTS,
	    .sub = &hook_table),
	SPEC_ROW(hooks, "after_run", kind[SPEC_AFTER_RUN], FIELD_OBJECTS,
	    .sub = &hook_table),
	SPEC_ROW(hooks, "before_task", kind[SPEC_BEFORE_TASK], FIELD_OBJECTS,
	    .sub = &hook_table),
	SPEC_ROW(hooks, "after_task", kind[SPEC_AFTER_TASK], FIELD_OBJECTS,
	    .sub = &hook_table),
};
static const struct field_table hooks_table = FIELD_TABLE(hooks, hooks_rows);

static void
check_hook(struct spec_loader *l, const char *file, const struct json *cmd,
    bool rows)
{
	if (cmd == NULL || cmd->type != JSON_STRING)
		return;
	if (spec_trim(json_text(cmd)).n == 0)
		spec_note_key(l->notes, FIELD_ERROR, spec_at(file, cmd),
		    STR("command"), "\"command\" is empty");
	else if (!rows)
		spec_check_text(l, spec_at(file, cmd), "command",
		    json_text(cmd), NULL);
}

/* Which variables a task's row has is not known to the hooks of tasks. */
void
spec_read_hooks(struct spec_loader *l, const struct spec_file *f,
    const struct json *v, bool rows)
{
	struct hooks hooks = { 0 };
	const struct json *list, *h;

	v = spec_object(l, f->path, v);
	if (v == NULL)
		return;
	spec_decode(l, f->path, &hooks_table, v, &hooks);
	memcpy(l->suite->hooks, hooks.kind, sizeof(hooks.kind));
	for (list = json_first(v); list != NULL; list = list->next)
		for (h = json_first(list); h != NULL; h = h->next)
			check_hook(l, f->path, json_getc(h, "command"),
			    rows && str_ends(json_key(list), STR("_task")));
}

/* .waza.yaml: what a run needs of it; the rest is other commands'. */
struct project {
	const struct json *defaults, *graders, *cache, *unused;
};
/* One of the settings of config.c, which checks them. */
#define SETTING(k) \
	SPEC_ROW(project, k, unused, FIELD_TREE, .help = "waza-config(5)")
static const struct field project_rows[] = {
	FIELD(project, defaults, FIELD_TREE, .help = "under the suite's own"),
	FIELD(project, graders, FIELD_TREE, .help = "for all suites"),
	SPEC_ROW(project, "paths", unused, FIELD_TREE,
	    .help = "where things are"),
	SPEC_ROW(project, "files", unused, FIELD_TREE,
	    .help = "what they are called"),
	FIELD(project, cache, FIELD_TREE, .help = "of trials"),
	SPEC_ROW(project, "server", unused, FIELD_TREE,
	    .help = "of the dashboard"),
	SPEC_ROW(project, "dev", unused, FIELD_TREE, .help = "of skills"),
	SPEC_ROW(project, "tokens", unused, FIELD_TREE,
	    .help = "limits of skills"),
	SPEC_ROW(project, "storage", unused, FIELD_TREE, .help = "of results"),
	SETTING("listen"), SETTING("framing"), SETTING("require_hello"),
	SETTING("unix_token"), SETTING("roots"), SETTING("port"),
	SETTING("timeout_seconds"), SETTING("executor"), SETTING("model"),
	SETTING("judge"), SETTING("executors"), SETTING("tools"),
	SETTING("limits"), SETTING("sessions"), SETTING("remote"),
	SETTING("prices"), SETTING("log_level"),
};
static const struct field_table project_table =
    FIELD_TABLE(project, project_rows);

static const struct field default_rows[] = {
	SPEC_ROW(spec_config, "engine", executor, FIELD_STR,
	    .help = "config.executor"),
	SPEC_ROW(spec_config, "model", model, FIELD_STR,
	    .help = "config.model"),
	SPEC_ROW(spec_config, "judgeModel", judge_model, FIELD_STR,
	    .help = "config.judge_model"),
	SPEC_ROW(spec_config, "timeout", timeout_seconds, FIELD_INT,
	    .min = 1, .max = SPEC_SECONDS_MAX),
	SPEC_ROW(spec_config, "parallel", parallel, FIELD_BOOL,
	    .help = "config.parallel"),
	SPEC_ROW(spec_config, "workers", workers, FIELD_INT,
	    .min = 0, .max = 10000),
	SPEC_ROW(spec_config, "verbose", verbose, FIELD_BOOL,
	    .help = "say more"),
	SPEC_ROW(spec_config, "sessionLog", session_log, FIELD_BOOL,
	    .help = "keep a log"),
};
static const struct field_table default_table =
    FIELD_TABLE(spec_config, default_rows);

static const struct field cache_rows[] = {
	SPEC_ROW(spec_config, "enabled", cache, FIELD_BOOL,
	    .help = "as waza run --cache"),
	SPEC_ROW(spec_config, "dir", cache_dir, FIELD_STR,
	    .help = "as waza run --cache-dir"),
};
static const struct field_table cache_table =
    FIELD_TABLE(spec_config, cache_rows);

static const struct field project_grader_rows[] = {
	SPEC_ROW(spec_suite, "programTimeout", program_timeout, FIELD_INT,
	    .min = 1,
	    .max = SPEC_SECONDS_MAX),
};
static const struct field_table project_grader_table =
    FIELD_TABLE(spec_suite, project_grader_rows);

/* The directory above, by its name alone. */
static const char *
parent(struct arena *a, const char *dir)
{
	struct str s = str_of(dir);
	struct str last;

	if (str_is(s, "."))
		return "..";
	if (str_is(s, "/"))
		return NULL;
	while (s.n > 1 && s.p[s.n - 1] == '/')
		s.n--;
	for (last = s; last.n > 0 && last.p[last.n - 1] != '/'; last.n--)
		;
	if (str_ends(s, STR("..")) && (s.n == 2 || s.p[s.n - 3] == '/'))
		return spec_join(a, dir, STR(".."));
	if (last.n == 0)
		return ".";
	return arena_cstr(a, (struct str){ s.p, last.n > 1 ? last.n - 1 : 1 });
}

static bool
same_dir(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
	    x.st_ino == y.st_ino;
}

/* The nearest .waza.yaml, at most ten levels up; NULL: none. */
static const char *
find_project(struct spec_loader *l)
{
	const char *dir = l->suite->dir, *path, *up;
	int i;

	for (i = 0; i < 10 && dir != NULL; i++) {
		path = spec_join(l->arena, dir, STR(".waza.yaml"));
		if (spec_exists(path))
			return path;
		up = parent(l->arena, dir);
		if (up == NULL || same_dir(dir, up))
			break;
		dir = up;
	}
	return NULL;
}

void
spec_read_project(struct spec_loader *l)
{
	struct spec_suite *s = l->suite;
	const char *path = l->alone ? NULL : find_project(l);
	struct project p = { 0 };
	struct spec_file f;

	s->config = (struct spec_config){ .trials_per_task = 1,
		.timeout_seconds = 300, .max_attempts = 1,
		.pass_threshold = 1, .task_pass_threshold = 1,
		.inject_skill_body = true };
	s->program_timeout = 30;
	if (path == NULL || spec_read_yaml(l, path, &f) == -1 ||
	    f.root->type == JSON_NULL)
		return;
	spec_decode(l, path, &project_table, f.root, &p);
	p.defaults = spec_object(l, path, p.defaults);
	if (p.defaults != NULL)
		spec_decode(l, path, &default_table, p.defaults, &s->config);
	p.cache = spec_object(l, path, p.cache);
	if (p.cache != NULL)
		spec_decode(l, path, &cache_table, p.cache, &s->config);
	if (s->config.cache_dir.n > 0 && s->config.cache_dir.p[0] != '/')
		s->config.cache_dir = str_of(spec_join(l->arena,
		    parent(l->arena, path), s->config.cache_dir));
	p.graders = spec_object(l, path, p.graders);
	if (p.graders != NULL)
		spec_decode(l, path, &project_grader_table, p.graders, s);
}

struct str
spec_cache_dir(struct arena *a, const char *dir, struct spec_notes *notes)
{
	struct spec_suite s = { .dir = dir };
	struct spec_loader l = { .arena = a, .notes = notes, .suite = &s };

	spec_read_project(&l);
	arena_free(&l.scratch);
	return s.config.cache_dir;
}
