/* SPDX-License-Identifier: ISC */
/*
 * Settings of a suite: `config`, `metrics`, `hooks`, and the project's
 * .waza.yaml.
 *
 * Defaults come from three places in ascending precedence: this file, the
 * project's .waza.yaml, the suite.  Absent keys leave members unchanged, so
 * the three are decoded in this order into the same struct.
 */
#include "suite/spec_internal.h"

#include "lib/tmpl.h"
#include "suite/config.h"
#include "suite/project.h"

/* A key of an executor, which reads it from the tree: agent_settings(). */
#define EXECUTOR_KEY(key, text) \
	SPEC_ROW(spec_config, key, tree, FIELD_TREE, .help = text)
#define EXECUTOR_BLOCK(key, name) \
	SPEC_ROW(spec_config, key, tree, FIELD_TREE, \
	    .schema = FIELD_REF("executor-" name), \
	    .help = "settings of the executor " name)

static const struct spec_config config_init = { .trials_per_task = 1,
	.timeout_seconds = 300, .max_attempts = 1, .pass_threshold = 1,
	.task_pass_threshold = 1, .inject_skill_body = true };
static const char *const skill_ways[] = { "native", "prompt", NULL };

static const struct field budget_rows[] = {
	SPEC_RANGE(spec_budget, usd, FIELD_NUM, 0, SPEC_USD_MAX,
	    .help = "US dollars; 0: no limit"),
	SPEC_RANGE(spec_budget, tokens, FIELD_INT, 0, SPEC_TOKENS_MAX,
	    .help = "tokens read and written; 0: no limit"),
	SPEC_RANGE(spec_budget, seconds, FIELD_NUM, 0, SPEC_SECONDS_MAX,
	    .help = "time from the start, in seconds; 0: no limit"),
};
const struct field_table spec_budget_table =
    FIELD_TABLE(spec_budget, budget_rows);

static const struct field config_rows[] = {
	SPEC_RANGE(spec_config, trials_per_task, FIELD_INT, 1, SPEC_TRIALS_MAX,
	    .help = "trials of each task"),
	SPEC_RANGE(spec_config, timeout_seconds, FIELD_INT, 1,
	    SPEC_SECONDS_MAX,
	    .help = "time limit of an answer, in seconds"),
	SPEC_RANGE(spec_config, first_event_timeout_seconds, FIELD_INT, 0,
	    SPEC_SECONDS_MAX,
	    .help = "time limit until the agent's first event, in seconds; 0: none"),
	SPEC_RANGE(spec_config, max_attempts, FIELD_INT, 0, 1000,
	    .help = "attempts at a trial until it passes"),
	FIELD(spec_config, workers, FIELD_INT,
	    .alias = "max_workers", .min = 0, .max = 10000,
	    .help = "concurrent trials; 0: the default of the executor"),
	SPEC_KEY(spec_config, parallel, FIELD_BOOL,
	    .help = "run four trials concurrently unless workers is set"),
	SPEC_KEY(spec_config, fail_fast, FIELD_BOOL,
	    .help = "start no further task after one that did not pass"),
	SPEC_KEY(spec_config, executor, FIELD_STR,
	    .values = FIELD_EXECUTORS,
	    .help = "executor that produces the answers"),
	SPEC_KEY(spec_config, model, FIELD_STR,
	    .help = "model of the agent, for executors that have one, and for reports"),
	SPEC_KEY(spec_config, judge_model, FIELD_STR,
	    .help = "model of the judge"),
	SPEC_KEY(spec_config, group_by, FIELD_STR,
	    .help = "key by which results are grouped"),
	SPEC_RANGE(spec_config, pass_threshold, FIELD_NUM, 0, 1,
	    .help = "share of tasks that must pass for the suite to pass"),
	SPEC_RANGE(spec_config, task_pass_threshold, FIELD_NUM, 0, 1,
	    .help = "share of trials that must pass for a task to pass"),
	SPEC_KEY(spec_config, budget, FIELD_OBJECT, .sub = &spec_budget_table,
	    .help = "limits of what all trials of the suite spend"),
	SPEC_KEY(spec_config, skill_directories, FIELD_STRS,
	    .values = FIELD_FILES,
	    .help = "directories that contain SKILL.md, or subdirectories that do"),
	SPEC_KEY(spec_config, required_skills, FIELD_STRS,
	    .values = FIELD_SKILLS,
	    .help = "names of skills that must be in skill_directories"),
	SPEC_KEY(spec_config, disabled_skills, FIELD_STRS,
	    .values = FIELD_SKILLS,
	    .help = "names of skills that the agent does not get; \"*\": all"),
	SPEC_KEY(spec_config, instruction_files, FIELD_STRS,
	    .values = FIELD_FILES,
	    .help = "text files of the fixtures that are placed before each prompt"),
	SPEC_KEY(spec_config, inject_skill_body, FIELD_BOOL,
	    .help = "if skills are given in the prompt, give their whole text"),
	FIELD(spec_config, skills, FIELD_ENUM, .words = skill_ways,
	    .help = "how agents get the skills that can load them by themselves"),
	SPEC_KEY(spec_config, mock, FIELD_TREE,
	    .schema = FIELD_REF("mock"),
	    .help = "answer of the executor mock"),
	SPEC_KEY(spec_config, command, FIELD_TREE,
	    .schema = "\"type\":[\"string\",\"array\",\"null\"]",
	    .help = "program of the executor command, as words or for /bin/sh"),
	SPEC_KEY(spec_config, judge, FIELD_TREE,
	    .schema = FIELD_REF("judge"),
	    .help = "judge for graders that ask a model"),
	SPEC_KEY(spec_config, output_format, FIELD_STR,
	    .help = "format of the command's output"),
	SPEC_KEY(spec_config, persistent, FIELD_BOOL,
	    .help = "start one program per worker instead of one per trial"),
	SPEC_ROW(spec_config, "controls", tree, FIELD_TREE,
	    .schema = "\"type\":[\"string\",\"array\",\"null\"],"
	    "\"items\":{\"type\":[\"string\",\"null\"]}",
	    .values = FIELD_FILES,
	    .help = "answers that must not pass: none, echo, mutate or files"),
	SPEC_KEY(spec_config, executors, FIELD_TREE,
	    .schema = FIELD_REF("executors"),
	    .help = "settings of executors by name"),
	EXECUTOR_BLOCK("acp", "acp"),
	EXECUTOR_KEY("agent",
	    "agent of the executor acp that waza knows by name"),
	EXECUTOR_KEY("api", "API of the model server"),
	EXECUTOR_KEY("api_key_env",
	    "environment variable that contains the key of the model server"),
	EXECUTOR_KEY("auth_method",
	    "login method of the agent, by its own name"),
	EXECUTOR_KEY("base_url", "address of the model server"),
	EXECUTOR_KEY("cache_home",
	    "directory that a private HOME has as .cache; empty: none"),
	EXECUTOR_KEY("confine", "where the agent's processes can write"),
	EXECUTOR_KEY("home",
	    "HOME of the agent's process: the user's, or an empty one per trial"),
	EXECUTOR_KEY("cli_path", "path of the agent's program"),
	EXECUTOR_BLOCK("copilot", "copilot-sdk"),
	EXECUTOR_BLOCK("copilot-sdk", "copilot-sdk"),
	EXECUTOR_KEY("github_token_env",
	    "environment variable that contains the GitHub token"),
	EXECUTOR_KEY("env", "environment variables of the agent"),
	EXECUTOR_KEY("headers",
	    "further headers of requests to the model server"),
	EXECUTOR_KEY("max_cost", "limit of the run's cost in dollars"),
	EXECUTOR_KEY("max_tokens", "tokens of an answer at most"),
	EXECUTOR_KEY("max_tokens_total", "limit of the run's tokens"),
	EXECUTOR_KEY("mode", "mode of the agent's session, by id or name"),
	EXECUTOR_BLOCK("openai", "openai"),
	EXECUTOR_KEY("permissions",
	    "actions that the agent is allowed: approve, deny or a list of kinds"),
	EXECUTOR_KEY("provider",
	    "model server that Copilot uses instead of its own"),
	EXECUTOR_KEY("remote", "work of evaluation clients, for all tasks"),
	EXECUTOR_KEY("replay",
	    "recordings that the executor replay plays: {dir}"),
	EXECUTOR_KEY("retries",
	    "further tries after a failed request to the model server"),
	EXECUTOR_KEY("system", "system message"),
	EXECUTOR_KEY("temperature", "temperature of the model"),
	SPEC_KEY(spec_config, mcp_servers, FIELD_TREE,
	    .schema = FIELD_REF("mcp_servers"),
	    .help = "MCP servers by name whose tools the agent can use"),
	SPEC_KEY(spec_config, reasoning_effort, FIELD_STR,
	    .help = "reasoning effort of the agent's model, in its own words"),
	SPEC_KEY(spec_config, judge_reasoning_effort, FIELD_STR,
	    .help = "reasoning effort of the judge's model"),
	SPEC_ROW(spec_config, "trigger_skill_routing", mcp_servers, FIELD_TREE,
	    .flags = FIELD_IGNORED,
	    .help = "known, without effect"),
};
const struct field_table spec_config_table = { config_rows,
	COUNTOF(config_rows), sizeof(struct spec_config), &config_init };

static const struct spec_metric metric_init = { .weight = 1, .enabled = true };
static const struct field metric_rows[] = {
	SPEC_KEY(spec_metric, name, FIELD_STR,
	    .help = "name of the metric"),
	SPEC_KEY(spec_metric, description, FIELD_STR,
	    .help = "what it measures, for people"),
	SPEC_RANGE(spec_metric, weight, FIELD_NUM, 0, INT64_MAX,
	    .help = "weight in the mean"),
	SPEC_RANGE(spec_metric, threshold, FIELD_NUM, 0, 1,
	    .help = "smallest value that passes"),
	SPEC_KEY(spec_metric, enabled, FIELD_BOOL,
	    .help = "whether the metric is used"),
};
const struct field_table spec_metric_table = { metric_rows,
	COUNTOF(metric_rows), sizeof(struct spec_metric), &metric_init };

/* metrics: {pass_threshold: 0.8, name: {weight: 1}} */
static void
metric_setting(struct spec_loader *l, const char *file, const struct json *v)
{
	double x;

	if (!str_is(json_key(v), "pass_threshold")) {
		spec_note_key(l->notes, l->notes->strict ? FIELD_ERROR :
		    FIELD_WARNING, (struct spec_where){ file, v->key_line,
		    v->key_col }, json_key(v), "unknown key \"%.*s\"%s",
		    SPEC_SHORT(json_key(v)), str_similar(json_key(v),
		    STR("pass_threshold")) ?
		    " (did you mean \"pass_threshold\"?)" : "");
		return;
	}
	if (!json_double(v, &x) || !(x >= 0 && x <= 1))
		spec_error(l, file, v, NULL,
		    "\"pass_threshold\" must be a number from 0 to 1");
	else if (l->suite->config.pass_threshold < 0)
		l->suite->config.pass_threshold = x;
}

/* `metrics` is a list, or a mapping by name. */
static void
read_metrics(struct spec_loader *l, const char *file, const struct json *m)
{
	struct field_list *out = &l->suite->metrics;
	struct spec_metric *v;
	const struct json *c;

	if (!spec_given(m) || (m->type != JSON_OBJECT &&
	    spec_array(l, file, m) == NULL))
		return;
	out->v = v = NEW_N(l->arena, struct spec_metric, json_count(m));
	for (c = json_first(m); c != NULL; c = c->next) {
		if (m->type == JSON_OBJECT && c->type != JSON_OBJECT) {
			metric_setting(l, file, c);
			continue;
		}
		v[out->n] = metric_init;
		v[out->n].at = spec_at(file, c);
		spec_decode(l, file, &spec_metric_table, c, &v[out->n]);
		if (m->type == JSON_OBJECT)
			v[out->n].name = json_key(c);
		else if (c->type == JSON_OBJECT && v[out->n].name.n == 0)
			spec_error(l, file, c, "name",
			    "Missing required field: name");
		out->n++;
	}
}

static void
check_workers(struct spec_loader *l, const char *file,
    const struct json *config)
{
	const struct json *v = json_getc(config, "workers");
	int64_t n;

	if (v == NULL)
		v = json_getc(config, "max_workers");
	if (v != NULL && json_int(v, &n) && n == 0)
		spec_warning(l, file, v, NULL, "\"%.*s: 0\" is the same as no "
		    "value: write the number of concurrent trials, from 1",
		    STRF(json_key(v)));
}

void
spec_read_config(struct spec_loader *l, const struct spec_file *f,
    const struct json *config, const struct json *metrics)
{
	struct spec_config *c = &l->suite->config;

	c->pass_threshold = -1;
	config = spec_object(l, f->path, config);
	if (config != NULL)
		spec_decode(l, f->path, &spec_config_table, config, c);
	if (c->executor_at.file == NULL ||
	    spec_given(json_getc(config, "executor")))
		c->executor_at = spec_at(f->path,
		    json_getc(config, "executor"));
	read_metrics(l, f->path, metrics);
	check_workers(l, f->path, config);
	if (c->pass_threshold < 0)
		c->pass_threshold = 1;
	if (c->max_attempts == 0)
		c->max_attempts = 1;
	if (c->executor.n == 0)
		c->executor = STR("mock");
	c->serial = !c->parallel && spec_given(json_getc(config, "parallel"));
	c->mcp_servers = json_getc(config, "mcp_servers");
	c->tree = config;
	if (config == NULL)
		return;
	spec_read_controls(l, f, config);
	if (spec_check_skill_dirs(l, f, json_getc(config, "skill_directories"),
	    &c->skill_directories))
		spec_check_skills(l, f, config);
	spec_check_instructions(l, f, NULL,
	    json_getc(config, "instruction_files"), &c->instruction_files);
}

static const struct field hook_rows[] = {
	FIELD(spec_hook, command, FIELD_STR, .flags = FIELD_REQUIRED,
	    .help = "command for /bin/sh"),
	SPEC_KEY(spec_hook, working_directory, FIELD_STR,
	    .help = "directory of the command"),
	SPEC_KEY(spec_hook, exit_codes, FIELD_INTS,
	    .help = "exit statuses that mean success"),
	SPEC_KEY(spec_hook, error_on_fail, FIELD_BOOL,
	    .help = "a failing hook ends the run or the task"),
};
static const struct field_table hook_table = FIELD_TABLE(spec_hook, hook_rows);

#define HOOKS(key, kind, ...) \
	SPEC_ROW(spec_suite, key, hooks[kind], FIELD_OBJECTS, \
	    .sub = &hook_table, __VA_ARGS__)
static const struct field hooks_rows[] = {
	HOOKS("before_run", SPEC_BEFORE_RUN,
	    .help = "before the first task"),
	HOOKS("after_run", SPEC_AFTER_RUN,
	    .help = "after the last task"),
	HOOKS("before_task", SPEC_BEFORE_TASK,
	    .help = "before each task"),
	HOOKS("after_task", SPEC_AFTER_TASK,
	    .help = "after each task"),
};
const struct field_table spec_hooks_table =
    FIELD_TABLE(spec_suite, hooks_rows);

static void
check_hook(struct spec_loader *l, const char *file, const struct json *cmd,
    bool rows)
{
	struct err e;

	if (cmd == NULL || cmd->type != JSON_STRING)
		return;
	if (str_trim(json_text(cmd)).n == 0)
		spec_error(l, file, cmd, NULL, "\"command\" is empty: "
		    "write a command for the shell");
	else if (!rows)
		spec_check_text(l, file, cmd, "command", json_text(cmd), NULL);
	else if (tmpl_check(json_text(cmd), &e) == -1)
		spec_error(l, file, cmd, NULL, "line %u of \"command\": %s",
		    e.line, e.msg);
}

/* In hooks of tasks that come from rows, any variable may exist. */
void
spec_read_hooks(struct spec_loader *l, const struct spec_file *f,
    const struct json *v, bool rows)
{
	const struct json *list, *h;
	struct field_list *hooks;
	size_t i, k;

	v = spec_object(l, f->path, v);
	if (v == NULL)
		return;
	spec_decode(l, f->path, &spec_hooks_table, v, l->suite);
	for (i = 0; i < SPEC_HOOK__MAX; i++) {
		hooks = &l->suite->hooks[i];
		list = json_getc(v, hooks_rows[i].key);
		for (k = 0; k < hooks->n; k++)
			((struct spec_hook *)hooks->v)[k].at = spec_at(f->path,
			    json_getc(spec_nth(list, k), "command"));
	}
	for (list = json_first(v); list != NULL; list = list->next)
		for (h = json_first(list); h != NULL; h = h->next)
			check_hook(l, f->path, json_getc(h, "command"),
			    rows && str_ends(json_key(list), STR("_task")));
}

static const struct field default_rows[] = {
	SPEC_ROW(spec_config, "engine", executor, FIELD_STR,
	    .values = FIELD_EXECUTORS,
	    .help = "executor that produces the answers"),
	SPEC_KEY(spec_config, model, FIELD_STR,
	    .help = "model of the agent"),
	SPEC_ROW(spec_config, "judgeModel", judge_model, FIELD_STR,
	    .help = "model of the judge"),
	SPEC_ROW(spec_config, "timeout", timeout_seconds, FIELD_INT,
	    .min = 1, .max = SPEC_SECONDS_MAX,
	    .help = "time limit of an answer, in seconds"),
	SPEC_KEY(spec_config, parallel, FIELD_BOOL,
	    .help = "run four trials concurrently unless workers is set"),
	SPEC_RANGE(spec_config, workers, FIELD_INT, 0, 10000,
	    .help = "concurrent trials"),
	SPEC_KEY(spec_config, verbose, FIELD_BOOL,
	    .help = "print what the agents do"),
	SPEC_ROW(spec_config, "sessionLog", session_log, FIELD_BOOL,
	    .help = "write the events of each run to a file"),
};
static const struct field_table default_table = { default_rows,
	COUNTOF(default_rows), sizeof(struct spec_config), &config_init };

static const struct field cache_rows[] = {
	SPEC_ROW(spec_config, "enabled", cache, FIELD_BOOL,
	    .help = "reuse answers to unchanged tasks"),
	SPEC_ROW(spec_config, "dir", cache_dir, FIELD_STR,
	    .help = "directory of the cache"),
};
static const struct field_table cache_table =
    FIELD_TABLE(spec_config, cache_rows);

static const struct spec_suite limits_init = { .program_timeout = 30,
	.code_timeout = 10, .code_memory_mb = 256 };
static const struct field project_grader_rows[] = {
	SPEC_ROW(spec_suite, "programTimeout", program_timeout, FIELD_INT,
	    .min = 1, .max = SPEC_SECONDS_MAX,
	    .help = "time limit of program graders, in seconds"),
	SPEC_ROW(spec_suite, "codeTimeout", code_timeout, FIELD_INT,
	    .min = 1, .max = SPEC_SECONDS_MAX,
	    .help = "time limit of an interpreter for a code grader, in seconds"),
	SPEC_ROW(spec_suite, "codeMemoryMb", code_memory_mb, FIELD_INT,
	    .min = SPEC_CODE_MB_MIN, .max = SPEC_CODE_MB_MAX,
	    .help = "memory limit of such an interpreter, in MiB"),
};
static const struct field_table project_grader_table = { project_grader_rows,
	COUNTOF(project_grader_rows), sizeof(struct spec_suite), &limits_init };

/* The keys of .waza.yaml; a run reads the first three. */
struct project_in {
	const struct json *defaults, *graders, *cache, *unused;
};
#define OTHER(k, text) \
	SPEC_ROW(project_in, k, unused, FIELD_TREE, .help = text)
#define SETTING(k) SPEC_ROW(project_in, k, unused, FIELD_TREE, \
	.sub = &config_table, .shape = FIELD_AS_ROW)
static const struct field project_rows[] = {
	SPEC_KEY(project_in, defaults, FIELD_TREE,
	    .sub = &default_table,
	    .help = "defaults for the suites of the project"),
	SPEC_KEY(project_in, graders, FIELD_TREE,
	    .sub = &project_grader_table,
	    .help = "limits of graders"),
	SPEC_KEY(project_in, cache, FIELD_TREE,
	    .sub = &cache_table,
	    .help = "cache of answers"),
	/* read by other commands */
	SETTING("paths"), SETTING("files"), SETTING("tokens"),
	SETTING("keep_results"),
	OTHER("server", "known, without effect"),
	OTHER("dev", "known, without effect"),
	OTHER("storage", "known, without effect"),
	OTHER("registries", "known, without effect"),
	/* settings, which config.c reads and checks */
	SETTING("listen"), SETTING("framing"), SETTING("allow_remote"),
	SETTING("require_hello"), SETTING("unix_token"),
	SETTING("token_file"), SETTING("roots"), SETTING("hosts"),
	SETTING("origins"), SETTING("host"), SETTING("port"),
	SETTING("timeout_seconds"), SETTING("executor"), SETTING("model"),
	SETTING("judge"), SETTING("executors"), SETTING("tools"),
	SETTING("limits"), SETTING("sessions"), SETTING("remote"),
	SETTING("prices"), SETTING("log_level"),
};
const struct field_table spec_project_table =
    FIELD_TABLE(project_in, project_rows);

/*
 * Reads the nearest .waza.yaml; false: there is none, or it is not used.  All
 * that a suite reads of it are names and numbers, so trust is not needed.
 */
static bool
read_file(struct spec_loader *l, struct spec_file *f)
{
	struct config_sources from = { .dir = l->suite->dir,
		.trust = l->notes != NULL && l->notes->trust };
	struct project p;
	struct err e = { 0 };

	if (project_find(l->arena, &from, &p, &e) == -1) {
		spec_note(l->notes, FIELD_ERROR, (struct spec_where){ p.path,
		    0, 0 }, "%s", spec_reason(&e, p.path));
		return false;
	}
	project_warn(l->arena, &p, STR(""), l->notes);
	return p.state != PROJECT_NONE && p.state != PROJECT_FOREIGN &&
	    spec_parse_yaml(l, p.path, p.text, f) == 0 &&
	    f->root->type != JSON_NULL;
}

/* Decodes a mapping of .waza.yaml, if it is given. */
static void
read_part(struct spec_loader *l, const char *path,
    const struct field_table *t, const struct json *v, void *out)
{
	v = spec_object(l, path, v);
	if (v != NULL)
		spec_decode(l, path, t, v, out);
}

void
spec_read_project(struct spec_loader *l)
{
	struct spec_suite *s = l->suite;
	struct project_in p = { 0 };
	struct spec_file f;

	s->config = config_init;
	s->program_timeout = limits_init.program_timeout;
	s->code_timeout = limits_init.code_timeout;
	s->code_memory_mb = limits_init.code_memory_mb;
	if (l->alone || !read_file(l, &f))
		return;
	spec_decode(l, f.path, &spec_project_table, f.root, &p);
	read_part(l, f.path, &default_table, p.defaults, &s->config);
	if (s->config.executor.n > 0)
		s->config.executor_at = spec_at(f.path,
		    json_getc(p.defaults, "engine"));
	read_part(l, f.path, &cache_table, p.cache, &s->config);
	if (s->config.cache_dir.n > 0 && s->config.cache_dir.p[0] != '/')
		s->config.cache_dir = str_of(spec_join(l->arena, f.dir,
		    s->config.cache_dir));
	read_part(l, f.path, &project_grader_table, p.graders, s);
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
