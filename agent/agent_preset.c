/* SPDX-License-Identifier: ISC */
/*
 * Presets of known programs.
 *
 * Each runs in the trial's workspace and, unless `permissions` says otherwise,
 * without asking for permission: there is nobody to ask, so whatever it would
 * ask for is refused.  All of them read the workspace without asking.  A prompt
 * goes to stdin if the program reads it there: all users of the machine can
 * see arguments, and their size is limited.  Otherwise prompt and model are
 * passed so that one that begins with a dash is not taken for an option.
 */
#include "agent/agent_internal.h"

#include <string.h>
#include <unistd.h>

#include "base/os_path.h"
#include "base/os_spawn.h"
#include "io/proc.h"
#include "json.h"
#include "suite/spec.h"

enum { ARGUMENT_MAX = 120 << 10 };	/* bytes; Linux allows 128 KiB */

#define EDIT AGENT_MAY_EDIT
#define EXECUTE AGENT_MAY_EXECUTE
#define FETCH AGENT_MAY_FETCH
#define ALL AGENT_MAY_ALL

static const struct agent_preset presets[] = {
	{ .name = "claude", .program = "claude", .format = "claude",
	    .args = { "-p", "--input-format", "stream-json", "--output-format", "stream-json",
		"--verbose" },
	    .permits = {
		{ ALL, 0, { "--permission-mode", "bypassPermissions" } },
		{ EDIT, 0, { "--permission-mode", "acceptEdits" } },
		{ 0, ALL | EDIT, { "--permission-mode", "default" } },
		{ EXECUTE, 0, { "--allowedTools=Bash" } },
		{ FETCH, 0, { "--allowedTools=WebFetch,WebSearch" } } },
	    .model_flag = "--model=", .effort = { "--effort=" }, .way = AGENT_BY_MESSAGE,
	    .mcp = { "--strict-mcp-config", "--mcp-config=" }, .hide = { "--settings=" },
	    .env = { "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1" },
	    .custom = { ".claude/agents", ".md" }, .custom_flag = "--agent=" },
	{ .name = "codex", .program = "codex", .format = "codex",
	    .args = { "exec", "--json", "--skip-git-repo-check", "--ephemeral" },
	    .permits = {	/* commands run in its own sandbox */
		{ ALL, 0, { "-s", "workspace-write" } },
		{ EDIT, 0, { "-s", "workspace-write" } },
		{ EXECUTE, EDIT, { "-s", "workspace-write" } },
		{ 0, ALL | EDIT | EXECUTE, { "-s", "read-only" } } },
	    .model_flag = "--model=", .prompt_flag = "-", .way = AGENT_BY_STDIN,
	    .effort = { "-c", "model_reasoning_effort=" }, .hide = { "-c", "skills.config=" },
	    .mcp = { "-c", "mcp_servers=" }, .mcp_form = AGENT_MCP_TOML },
	{ .name = "copilot-cli", .program = "copilot", .format = "copilot",
	    .args = { "--output-format", "json", "--no-auto-update", "--no-ask-user",
		"--no-color" },
	    .permits = {
		{ ALL, 0, { "--allow-all" } },
		{ EDIT, 0, { "--allow-tool=write" } },
		{ EXECUTE, 0, { "--allow-tool=shell" } },
		{ FETCH, 0, { "--allow-all-urls" } } },
	    .model_flag = "--model=", .prompt_flag = "--prompt=", .way = AGENT_BY_ARGUMENT,
	    .usage_flag = "--usage-output-file=",
	    .effort = { "--reasoning-effort=" }, .mcp = { "--additional-mcp-config=@" },
	    .custom = { ".github/agents", ".agent.md" }, .custom_flag = "--agent=" },
	{ .name = "gemini", .program = "gemini", .format = "gemini",
	    .args = { "--output-format", "stream-json" },
	    .permits = {
		{ ALL, 0, { "--approval-mode", "yolo" } },
		{ EDIT, 0, { "--approval-mode", "auto_edit" } },
		{ 0, ALL | EDIT, { "--approval-mode", "default" } },
		{ EXECUTE, 0, { "--allowed-tools=run_shell_command" } },
		{ FETCH, 0, { "--allowed-tools=web_fetch,google_web_search" } } },
	    .model_flag = "--model=", .prompt_flag = "--prompt=", .way = AGENT_BY_ARGUMENT,
	    .mcp_form = AGENT_MCP_GEMINI,
	    .env = { "GEMINI_CLI_TRUST_WORKSPACE=true" } },
	{ .name = "opencode", .program = "opencode", .format = "opencode",
	    .args = { "run", "--format", "json" },
	    .permits = { { ALL, 0, { "--auto" } } }, .permit_env = "OPENCODE_PERMISSION",
	    .model_flag = "--model=", .prompt_flag = "--", .way = AGENT_BY_ARGUMENT,
	    .effort = { "--variant=" },
	    .mcp_env = "OPENCODE_CONFIG_CONTENT", .mcp_form = AGENT_MCP_OPENCODE,
	    .env = { "OPENCODE_DISABLE_AUTOUPDATE=1" },
	    .custom = { ".opencode/agent", ".md" }, .custom_flag = "--agent=" },
	{ .name = "qwen", .program = "qwen", .format = "qwen",
	    .args = { "--output-format", "stream-json" },
	    .permits = {
		{ ALL, 0, { "--approval-mode", "yolo" } },
		{ EDIT, 0, { "--approval-mode", "auto-edit" } },
		{ 0, ALL | EDIT, { "--approval-mode", "default" } },
		{ EXECUTE, 0, { "--allowed-tools=run_shell_command" } },
		{ FETCH, 0, { "--allowed-tools=web_fetch" } } },
	    .model_flag = "--model=", .prompt_flag = "--prompt=", .way = AGENT_BY_ARGUMENT,
	    .mcp = { "--mcp-config=" } },
};

/* The words in `permissions`: ours and ACP's, and those of copilot-sdk. */
static const struct {
	const char *word, *alias;
	unsigned may;
} kinds[] = {
	{ "read", "search", 0 }, { "edit", "write", EDIT },
	{ "execute", "shell", EXECUTE }, { "fetch", "url", FETCH },
};

struct settings {
	struct str cli_path;
	struct field_strs args;
	const struct json *env, *permissions;
	unsigned may;			/* the permissions, decoded */
};
static const struct field rows[] = {
	FIELD(settings, cli_path, FIELD_STR, .help = AGENT_CLI_HELP),
	FIELD(settings, args, FIELD_STRS,
	    .help = "further arguments of the program"),
	FIELD(settings, env, FIELD_TREE, .help = AGENT_ENV_HELP),
	FIELD(settings, permissions, FIELD_TREE,
	    .help = AGENT_PERMISSIONS_HELP),
};
static const struct field_table table = FIELD_TABLE(settings, rows);

const struct agent_preset *
agent_preset(const char *name)
{
	size_t i;

	for (i = 0; i < COUNTOF(presets); i++)
		if (strcmp(presets[i].name, name) == 0)
			return &presets[i];
	return NULL;
}

const struct field_table *
agent_settings_table(const struct agent_kind *k)
{
	return k == &agent_acp ? acp_table : k == &agent_copilot ?
	    copilot_table : k == &agent_openai ? openai_table :
	    agent_preset(k->name) != NULL ? &table : NULL;
}

const struct agent_custom_place *
agent_custom_place(const struct agent_kind *k)
{
	const struct agent_preset *p = agent_preset(k->name);

	return p != NULL && p->custom.dir != NULL ? &p->custom : NULL;
}

/* A kind that is unknown to presets permits nothing. */
static int
read_permissions(struct settings *s, struct err *e)
{
	const struct json *p = s->permissions;
	size_t i;

	if (!json_is_set(p) || (p->type == JSON_STRING &&
	    str_is(json_text(p), "approve"))) {
		s->may = ALL;
		return 0;
	}
	if (p->type == JSON_STRING && str_is(json_text(p), "deny"))
		return 0;
	if (p->type != JSON_ARRAY)
		return err_set(e, ERR_SCHEMA, "\"permissions\" must be "
		    "approve, deny, or a list of read, edit, execute and "
		    "fetch");
	for (i = 0; i < COUNTOF(kinds); i++)
		if (agent_lists(p, str_of(kinds[i].word)) ||
		    agent_lists(p, str_of(kinds[i].alias)))
			s->may |= kinds[i].may;
	return 0;
}

static int
read_settings(struct arena *a, const struct spec_suite *s, const char *name,
    struct settings *out, struct err *e)
{
	struct field_ctx ctx = { .arena = a, .flags = FIELD_LAX | FIELD_OPEN };

	*out = (struct settings){ 0 };
	if (field_decode(&ctx, &table, agent_settings(a, s, name), out) > 0)
		return err_set(e, ERR_SCHEMA, "settings of executor \"%s\": "
		    "cli_path must be a string, args a list of strings", name);
	return read_permissions(out, e);
}

static const char *
program(struct arena *a, const struct spec_suite *s,
    const struct agent_preset *p, const struct settings *set)
{
	char *path;

	if (set->cli_path.n == 0)
		return p->program;
	path = arena_cstr(a, set->cli_path);
	return path == NULL || strchr(path, '/') == NULL ? path :
	    spec_path(a, s->dir, str_of(path));
}

/* The last words of argv, at most two; NULL for a prompt with a NUL. */
static size_t
put_prompt(const struct agent_preset *p, struct arena *a, struct str prompt,
    const char **argv)
{
	const char *text = arena_cstr(a, prompt), *flag = p->prompt_flag;
	size_t n = 0;

	if (flag != NULL && str_ends(str_of(flag), STR("="))) {
		argv[n++] = agent_word(a, flag, prompt);
		return n;
	}
	if (flag != NULL)
		argv[n++] = flag;
	if (p->way == AGENT_BY_ARGUMENT)
		argv[n++] = text;
	return n;
}

/* Copies the words and appends the value to the last one. */
static size_t
put_words(const char *const *word, struct arena *a, const char *value,
    const char **argv)
{
	size_t n = 0;

	for (; n < 2 && word[n] != NULL; n++)
		argv[n] = word[n];
	if (n > 0)
		argv[n - 1] = arena_fmt(a, "%s%s", argv[n - 1], value).p;
	return n;
}

static size_t
put_permits(const struct agent_preset *p, unsigned may, const char **argv)
{
	const struct agent_permit *r;
	size_t i, k, n = 0;

	for (i = 0; i < COUNTOF(p->permits); i++) {
		r = &p->permits[i];
		if ((may & r->when) != r->when || may & r->unless)
			continue;
		for (k = 0; k < COUNTOF(r->words) && r->words[k] != NULL; k++)
			argv[n++] = r->words[k];
	}
	return n;
}

/* Permissions as opencode takes them: the last rule that matches counts. */
static const char *
permit_variable(struct arena *a, const char *name, unsigned may,
    const struct agent_request *r)
{
	static const char *const words[] = { "deny", "allow" };
	struct str skills = agent_hide_json(a, AGENT_HIDE_OPENCODE, r);

	if (may & ALL)
		return r->nhidden == 0 ? NULL : arena_fmt(a,
		    "%s={\"skill\":%.*s}", name, STRF(skills)).p;
	return arena_fmt(a, "%s={\"*\":\"deny\",\"read\":\"allow\","
	    "\"list\":\"allow\",\"glob\":\"allow\",\"grep\":\"allow\","
	    "\"skill\":%.*s,\"edit\":\"%s\",\"bash\":\"%s\","
	    "\"webfetch\":\"%s\",\"websearch\":\"%s\","
	    "\"external_directory\":\"deny\"}", name, STRF(skills),
	    words[(may & EDIT) != 0], words[(may & EXECUTE) != 0],
	    words[(may & FETCH) != 0], words[(may & FETCH) != 0]).p;
}

const char *
agent_permit_variable(struct arena *a, const char *name,
    const struct json *permissions, const struct agent_request *r)
{
	struct settings set = { .permissions = permissions };
	struct err e;

	return read_permissions(&set, &e) == -1 ? NULL :
	    permit_variable(a, name, set.may, r);
}

/* Words that hide skills of the account from Claude or Codex. */
static size_t
put_hidden(const struct agent_preset *p, struct agent_job *j,
    const char **argv)
{
	struct str text;

	if (p->hide[0] == NULL || j->req->nhidden == 0)
		return 0;
	text = p->hide[1] == NULL ? agent_hide_json(j->arena,
	    AGENT_HIDE_CLAUDE, j->req) : agent_hide_words(j->arena, j->req);
	return put_words(p->hide, j->arena, text.p, argv);
}

static int
put_effort_and_mcp(const struct agent_preset *p, const struct spec_suite *s,
    struct agent_job *j, const char **argv, size_t *n, struct err *e)
{
	const struct spec_config *c = &s->config;
	const char *value;

	if (c->reasoning_effort.n > 0) {
		value = arena_cstr(j->arena, c->reasoning_effort);
		*n += put_words(p->effort, j->arena, value != NULL ? value :
		    "", argv + *n);
	}
	if (p->mcp[0] == NULL || !agent_mcp_any(s, j->req))
		return 0;
	value = p->mcp_form == AGENT_MCP_TOML ?
	    agent_mcp_toml(j->arena, s, j->req).p :
	    agent_mcp_file(j->arena, s, j->req, e);
	if (value == NULL)
		return -1;
	*n += put_words(p->mcp, j->arena, value, argv + *n);
	return 0;
}

const char *
agent_usage_file(struct arena *a, const struct agent_request *r)
{
	return r->tmp == NULL ? NULL :
	    arena_fmt(a, "%s/waza-usage.json", r->tmp).p;
}

static const char **
make_argv(const struct agent_preset *p, struct agent *a, struct agent_job *j,
    const struct settings *set, struct err *e)
{
	struct arena *ar = j->arena;
	const char **argv = NEW_N(ar, const char *, COUNTOF(p->args) +
	    2 * COUNTOF(p->permits) + set->args.n + 14), *usage;
	size_t i, n = 0;

	argv[n++] = program(ar, a->suite, p, set);
	for (i = 0; i < COUNTOF(p->args) && p->args[i] != NULL; i++)
		argv[n++] = p->args[i];
	n += put_permits(p, set->may, argv + n);
	if (j->req->model.n > 0)
		argv[n++] = agent_word(ar, p->model_flag, j->req->model);
	if (p->usage_flag != NULL &&
	    (usage = agent_usage_file(ar, j->req)) != NULL) {
		(void)unlink(usage);	/* of the turn before */
		argv[n++] = arena_fmt(ar, "%s%s", p->usage_flag, usage).p;
	}
	if (put_effort_and_mcp(p, a->suite, j, argv, &n, e) == -1)
		return NULL;
	n += put_hidden(p, j, argv + n);
	if (p->custom_flag != NULL && j->req->custom != NULL)
		argv[n++] = agent_word(ar, p->custom_flag,
		    str_of(j->req->custom));
	for (i = 0; i < set->args.n; i++)
		argv[n++] = arena_cstr(ar, set->args.v[i]);
	n += put_prompt(p, ar, j->req->prompt, argv + n);
	for (i = 0; i < n; i++)
		if (argv[i] == NULL) {
			err_set(e, ERR_SCHEMA, "an argument of %s "
			    "contains a NUL", p->program);
			return NULL;
		}
	return argv;
}

/* MCP servers for a program that has no option for them. */
static const char **
with_mcp(const struct agent_preset *p, struct agent *a, struct agent_job *j,
    const char **env)
{
	const char *change;

	if (p->mcp_env == NULL || !agent_mcp_any(a->suite, j->req))
		return env;
	change = agent_mcp_variable(j->arena, p->mcp_env, a->suite, j->req,
	    env);
	return os_env_change(j->arena, env, &change, 1);
}

struct str
agent_mcp_settings(struct arena *mem, const struct agent *a,
    const struct agent_request *r)
{
	const struct agent_preset *p = agent_preset(a->kind->name);
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	if (p == NULL || p->mcp_form != AGENT_MCP_GEMINI ||
	    !agent_mcp_any(a->suite, r))
		return STR("");
	json_open(&o, '{');
	json_put_key(&o, STR("mcpServers"));
	agent_mcp_put(&o, a->suite, r, AGENT_MCP_GEMINI);
	json_close(&o, '}');
	return arena_take(mem, &b);
}

static const char *const *
make_env(const struct agent_preset *p, struct agent *a, struct agent_job *j,
    const struct settings *set, struct err *e)
{
	const char **env = agent_env(j->arena, a->suite, j->req, true, e);
	const char **change;
	const struct json *m;
	size_t n = 0;

	if (env == NULL)
		return NULL;
	change = NEW_N(j->arena, const char *, COUNTOF(p->env) + 2 +
	    (set->env != NULL ? json_count(set->env) : 0));
	for (; n < COUNTOF(p->env) && p->env[n] != NULL; n++)
		change[n] = p->env[n];
	if (geteuid() == 0 && p->way == AGENT_BY_MESSAGE && set->may & ALL)
		change[n++] = "IS_SANDBOX=1";	/* else Claude refuses root */
	if (p->permit_env != NULL && (change[n] = permit_variable(j->arena,
	    p->permit_env, set->may, j->req)) != NULL)
		n++;
	for (m = json_first(set->env); m != NULL; m = m->next)
		if (m->type != JSON_OBJECT && m->type != JSON_ARRAY &&
		    m->type != JSON_NULL &&
		    agent_env_add(j->arena, m, change, &n, e) == -1)
			return NULL;
	env = with_mcp(p, a, j, os_env_change(j->arena, env, change, n));
	return agent_mocks_env(a, j->arena, j->req, env);
}

/* {"type":"user","message":{"role":"user","content":[{...}]}} */
static struct str
message(struct arena *a, struct str prompt)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	buf_puts(&b, "{\"type\":\"user\",\"message\":{\"role\":\"user\","
	    "\"content\":[{\"type\":\"text\",\"text\":");
	json_put_str(&o, prompt);
	buf_puts(&b, "}]}}\n");
	return arena_take(a, &b);
}

int
agent_preset_set(const struct agent_preset *p, struct agent *a,
    struct agent_job *j, struct proc_opts *o, struct err *e)
{
	struct settings set;

	if (read_settings(j->arena, a->suite, p->name, &set, e) == -1)
		return -1;
	if (p->way == AGENT_BY_ARGUMENT && j->req->prompt.n > ARGUMENT_MAX)
		return err_set(e, ERR_LIMIT, "the prompt is too long: %s takes "
		    "it as an argument, at most %d KiB", p->program,
		    ARGUMENT_MAX >> 10);
	o->argv = make_argv(p, a, j, &set, e);
	if (o->argv != NULL)
		o->env = make_env(p, a, j, &set, e);
	if (p->way == AGENT_BY_ARGUMENT)
		o->in = STR("");
	else if (p->way == AGENT_BY_MESSAGE)
		o->in = message(j->arena, j->req->prompt);
	return o->env == NULL ? -1 : 0;
}

void
agent_preset_check(const struct spec_suite *s, struct spec_notes *notes)
{
	struct arena tmp = { 0 };
	char *name = arena_cstr(&tmp, s->config.executor);
	const struct agent_preset *p = agent_preset(name);
	struct settings set;
	const char *path;
	struct err e;

	if (p != NULL && read_settings(&tmp, s, p->name, &set, &e) == -1)
		spec_note(notes, FIELD_ERROR, s->config.executor_at, "%s",
		    e.msg);
	else if (p != NULL) {
		path = program(&tmp, s, p, &set);
		if (path != NULL && strchr(path, '/') == NULL &&
		    os_find(&tmp, path) == NULL)
			spec_note(notes, FIELD_WARNING, s->config.executor_at,
			    "executor \"%s\" needs `%s`, which is not "
			    "installed (not found in PATH)", p->name, path);
	}
	arena_free(&tmp);
}
