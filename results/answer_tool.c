/* SPDX-License-Identifier: ISC */
/*
 * answer_tool.c: what a tool call does, whatever its agent calls the tool.
 *
 * The rows of the call's own agent come first.  A name that they do not
 * contain is looked up in all rows: releases add tools, and a shell must not
 * pass as something harmless because its row is missing.
 */
#include "results/answer.h"

#include <string.h>

#include "json.h"
#include "lib/http.h"
#include "results/result_internal.h"

enum { WORDS_MAX = 16, WRAPPERS_MAX = 4 };

struct row {
	const char *agent, *name;
	enum answer_tool tool;
	const char *mode;	/* only with this argument `command` */
};

#define OTHER ANSWER_OTHER
#define SHELL ANSWER_SHELL
#define READ ANSWER_READ
#define WRITE ANSWER_WRITE
#define EDIT ANSWER_EDIT
#define SEARCH ANSWER_SEARCH
#define FETCH ANSWER_FETCH
#define SKILL ANSWER_SKILL
#define TASK ANSWER_TASK

static const struct row rows[] = {	/* those of an agent are together */
	{ "copilot", "bash", SHELL, NULL }, { "copilot", "powershell", SHELL, NULL },
	{ "copilot", "write_bash", SHELL, NULL }, { "copilot", "write_powershell", SHELL, NULL },
	{ "copilot", "shell", SHELL, NULL }, { "copilot", "view", READ, NULL },
	{ "copilot", "create", WRITE, NULL }, { "copilot", "edit", EDIT, NULL },
	{ "copilot", "str_replace_editor", READ, "view" },
	{ "copilot", "str_replace_editor", WRITE, "create" },
	{ "copilot", "str_replace_editor", EDIT, NULL },
	{ "copilot", "str_replace", EDIT, NULL }, { "copilot", "apply_patch", EDIT, NULL },
	{ "copilot", "grep", SEARCH, NULL }, { "copilot", "rg", SEARCH, NULL },
	{ "copilot", "glob", SEARCH, NULL }, { "copilot", "web_fetch", FETCH, NULL },
	{ "copilot", "web_search", FETCH, NULL }, { "copilot", "skill", SKILL, NULL },
	{ "copilot", "task", TASK, NULL },
	{ "claude", "Bash", SHELL, NULL }, { "claude", "PowerShell", SHELL, NULL },
	{ "claude", "Read", READ, NULL }, { "claude", "NotebookRead", READ, NULL },
	{ "claude", "LS", READ, NULL }, { "claude", "Write", WRITE, NULL },
	{ "claude", "Edit", EDIT, NULL }, { "claude", "MultiEdit", EDIT, NULL },
	{ "claude", "NotebookEdit", EDIT, NULL }, { "claude", "Glob", SEARCH, NULL },
	{ "claude", "Grep", SEARCH, NULL }, { "claude", "WebFetch", FETCH, NULL },
	{ "claude", "WebSearch", FETCH, NULL }, { "claude", "Skill", SKILL, NULL },
	{ "claude", "Task", TASK, NULL }, { "claude", "Agent", TASK, NULL },
	{ "codex", "shell", SHELL, NULL }, { "codex", "exec_command", SHELL, NULL },
	{ "codex", "local_shell", SHELL, NULL }, { "codex", "command_execution", SHELL, NULL },
	{ "codex", "write_stdin", SHELL, NULL }, { "codex", "apply_patch", EDIT, NULL },
	{ "codex", "file_change", EDIT, NULL }, { "codex", "view_image", READ, NULL },
	{ "codex", "web_search", FETCH, NULL }, { "codex", "spawn_agent", TASK, NULL },
	{ "gemini", "run_shell_command", SHELL, NULL }, { "gemini", "read_file", READ, NULL },
	{ "gemini", "read_many_files", READ, NULL }, { "gemini", "list_directory", READ, NULL },
	{ "gemini", "write_file", WRITE, NULL }, { "gemini", "replace", EDIT, NULL },
	{ "gemini", "glob", SEARCH, NULL }, { "gemini", "search_file_content", SEARCH, NULL },
	{ "gemini", "grep_search", SEARCH, NULL }, { "gemini", "web_fetch", FETCH, NULL },
	{ "gemini", "google_web_search", FETCH, NULL }, { "gemini", "activate_skill", SKILL, NULL },
	{ "gemini", "delegate_to_agent", TASK, NULL },
	{ "gemini", "codebase_investigator", TASK, NULL },
	{ "opencode", "bash", SHELL, NULL }, { "opencode", "read", READ, NULL },
	{ "opencode", "list", READ, NULL }, { "opencode", "write", WRITE, NULL },
	{ "opencode", "edit", EDIT, NULL }, { "opencode", "multiedit", EDIT, NULL },
	{ "opencode", "patch", EDIT, NULL }, { "opencode", "glob", SEARCH, NULL },
	{ "opencode", "grep", SEARCH, NULL }, { "opencode", "codesearch", FETCH, NULL },
	{ "opencode", "webfetch", FETCH, NULL }, { "opencode", "websearch", FETCH, NULL },
	{ "opencode", "skill", SKILL, NULL }, { "opencode", "task", TASK, NULL },
	{ "qwen", "run_shell_command", SHELL, NULL }, { "qwen", "read_file", READ, NULL },
	{ "qwen", "list_directory", READ, NULL }, { "qwen", "write_file", WRITE, NULL },
	{ "qwen", "edit", EDIT, NULL }, { "qwen", "glob", SEARCH, NULL },
	{ "qwen", "grep_search", SEARCH, NULL }, { "qwen", "web_fetch", FETCH, NULL },
	{ "qwen", "web_search", FETCH, NULL }, { "qwen", "skill", SKILL, NULL },
	{ "qwen", "task", TASK, NULL }, { "qwen", "agent", TASK, NULL },
	{ "goose", "shell", SHELL, NULL }, { "goose", "developer__shell", SHELL, NULL },
	{ "goose", "text_editor", READ, "view" }, { "goose", "text_editor", WRITE, "write" },
	{ "goose", "text_editor", EDIT, NULL },
	{ "goose", "developer__text_editor", READ, "view" },
	{ "goose", "developer__text_editor", WRITE, "write" },
	{ "goose", "developer__text_editor", EDIT, NULL },
	{ "goose", "load_skill", SKILL, NULL }, { "goose", "loadSkill", SKILL, NULL },
	{ "goose", "delegate", TASK, NULL },
	{ "cline", "execute_command", SHELL, NULL }, { "cline", "read_file", READ, NULL },
	{ "cline", "list_files", READ, NULL }, { "cline", "write_to_file", WRITE, NULL },
	{ "cline", "replace_in_file", EDIT, NULL }, { "cline", "search_files", SEARCH, NULL },
	{ "cline", "use_skill", SKILL, NULL }, { "cline", "new_task", TASK, NULL },
	/* scripts and evaluation clients may use our own names */
	{ "waza", "search", SEARCH, NULL }, { "waza", "fetch", FETCH, NULL },
};

/* The kinds of the Agent Client Protocol. */
static const struct {
	const char *kind;
	enum answer_tool tool;
} kinds[] = {
	{ "read", READ }, { "edit", EDIT }, { "delete", EDIT },
	{ "move", EDIT }, { "search", SEARCH }, { "execute", SHELL },
	{ "fetch", FETCH }, { "think", OTHER }, { "switch_mode", OTHER },
	{ "other", OTHER },
};

/* Arguments that hold what graders look for; the first one found counts. */
static const char *const command_keys[] = { "command", "cmd", "script",
	"input", "chars", NULL };
static const char *const path_keys[] = { "path", "file_path", "filePath",
	"absolute_path", "notebook_path", "dir_path", "directory", "file",
	"filename", "fileName", "paths", "changes", NULL };
static const char *const url_keys[] = { "url", "uri", NULL };
static const char *const skill_keys[] = { "skill", "name", "skill_name",
	"command", NULL };

enum answer_tool
answer_tool_by_kind(struct str kind)
{
	size_t i;

	for (i = 0; i < COUNTOF(kinds); i++)
		if (str_is(kind, kinds[i].kind))
			return kinds[i].tool;
	return OTHER;
}

bool
answer_is_kind(struct str word)
{
	size_t i;

	for (i = 0; i < COUNTOF(kinds); i++)
		if (str_is(word, kinds[i].kind))
			return true;
	return false;
}

/* agent.n == 0: the rows of all agents. */
static enum answer_tool
find_tool(struct str agent, struct str name, struct str mode)
{
	const struct row *r;

	for (r = rows; r < rows + COUNTOF(rows); r++)
		if ((agent.n == 0 || str_is(agent, r->agent)) &&
		    str_is(name, r->name) &&
		    (r->mode == NULL || str_is(mode, r->mode)))
			return r->tool;
	return OTHER;
}

static bool
has_byte(const char *set, char c)
{
	return c != '\0' && strchr(set, c) != NULL;
}

/*
 * Words of a shell command.  Fails on anything that is more than one simple
 * command of literal words: that is not a wrapper.
 */
static int
split_words(struct arena *a, struct str s, struct str word[WORDS_MAX])
{
	struct buf b = { 0 };
	size_t i = 0, n = 0;
	char quote = 0;
	bool in = false;

	for (; i <= s.n; i++) {
		char c = i < s.n ? s.p[i] : ' ';

		if (quote == 0 && (c == ' ' || c == '\t')) {
			if (in && n < WORDS_MAX)
				word[n++] = arena_str(a, buf_str(&b));
			else if (in)
				break;
			in = false;
			b.n = 0;
			continue;
		}
		if (quote == 0 && has_byte(";&|<>()`$\n", c))
			break;
		in = true;
		if (quote == 0 && (c == '\'' || c == '"'))
			quote = c;
		else if (c == quote)
			quote = 0;
		else if (c == '\\' && quote != '\'' && i + 1 < s.n &&
		    (quote == 0 || has_byte("$`\"\\\n", s.p[i + 1])))
			buf_putc(&b, s.p[++i]);
		else
			buf_putc(&b, c);
	}
	buf_free(&b);
	return i > s.n && quote == 0 ? (int)n : -1;
}

/* The name of a program without its directory. */
static struct str
base_name(struct str path)
{
	size_t i = path.n;

	while (i > 0 && path.p[i - 1] != '/' && path.p[i - 1] != '\\')
		i--;
	return (struct str){ path.p + i, path.n - i };
}

static bool
is_option_c(struct str word)
{
	return word.n > 1 && word.p[0] == '-' && word.p[1] != '-' &&
	    word.p[word.n - 1] == 'c';
}

/* Whether the word only sets the environment of what follows: env, A=1. */
static bool
is_environment(struct str word)
{
	size_t i;

	for (i = 0; i < word.n && (word.p[i] == '_' ||
	    (word.p[i] >= '0' && word.p[i] <= '9') ||
	    (word.p[i] >= 'A' && word.p[i] <= 'Z') ||
	    (word.p[i] >= 'a' && word.p[i] <= 'z')); i++)
		;
	return (i > 0 && i < word.n && word.p[i] == '=') ||
	    str_is(base_name(word), "env");
}

/* The script of `bash -lc SCRIPT` and the like; NULL: not a wrapper. */
static const struct str *
script_of(const struct str *word, size_t n)
{
	static const struct {
		const char *shell, *option;	/* NULL: -c, -lc, ... */
	} wrappers[] = {
		{ "sh", NULL }, { "bash", NULL }, { "zsh", NULL },
		{ "dash", NULL }, { "ksh", NULL }, { "cmd", "/c" },
		{ "cmd.exe", "/c" }, { "powershell", "-command" },
		{ "powershell.exe", "-command" }, { "pwsh", "-command" },
		{ "pwsh.exe", "-command" },
	};
	size_t i;

	for (; n > 3 && is_environment(word[0]); n--)
		word++;
	if (n < 3)
		return NULL;
	for (i = 0; i < COUNTOF(wrappers); i++)
		if (http_same(base_name(word[0]), wrappers[i].shell))
			break;
	if (i == COUNTOF(wrappers))
		return NULL;
	return is_option_c(word[n - 2]) || (wrappers[i].option != NULL &&
	    http_same(word[n - 2], wrappers[i].option)) ? &word[n - 1] : NULL;
}

struct str
answer_unwrap(struct arena *a, struct str command)
{
	struct str word[WORDS_MAX];
	const struct str *script;
	int n, times;

	for (times = 0; times < WRAPPERS_MAX; times++) {
		n = split_words(a, command, word);
		script = n > 0 ? script_of(word, (size_t)n) : NULL;
		if (script == NULL)
			break;
		command = *script;
	}
	return command;
}

/* A string, or the first of a list; {"path": ...} counts as its path. */
static struct str
first_text(const struct json *v)
{
	if (v != NULL && v->type == JSON_ARRAY)
		v = json_first(v);
	if (v != NULL && v->type == JSON_OBJECT)
		v = json_getc(v, "path");
	return v != NULL && v->type == JSON_STRING ? json_text(v) : STR("");
}

/* A command as a list of words: the script of a wrapper, or all words. */
static struct str
join_words(struct arena *a, const struct json *list)
{
	struct str word[WORDS_MAX];
	const struct str *script;
	const struct json *v;
	struct buf b = { 0 };
	size_t n = 0;

	for (v = json_first(list); v != NULL; v = v->next, n++) {
		if (n < WORDS_MAX)
			word[n] = first_text(v);
		if (n > 0)
			buf_putc(&b, ' ');
		buf_put(&b, first_text(v));
	}
	script = n <= WORDS_MAX ? script_of(word, n) : NULL;
	if (script == NULL)
		return arena_take(a, &b);
	buf_free(&b);
	return *script;
}

static void
set_argument(struct arena *a, struct str *to, const struct json *args,
    const char *const *keys)
{
	const struct json *v;
	bool command = keys == command_keys;
	struct str s;

	for (; to->n == 0 && *keys != NULL; keys++) {
		v = json_getc(args, *keys);
		s = command && v != NULL && v->type == JSON_ARRAY ?
		    join_words(a, v) : first_text(v);
		if (s.n > 0)
			*to = arena_str(a, s);
	}
}

void
answer_classify(struct arena *a, struct answer_call *c, struct str agent)
{
	struct arena tmp = { 0 };
	const struct json *args = arena_json(&tmp, c->arguments, NULL);
	struct str mode = json_str(args, "command");

	if (c->tool == OTHER && agent.n > 0)
		c->tool = find_tool(agent, c->name, mode);
	if (c->tool == OTHER)
		c->tool = find_tool(STR(""), c->name, mode);
	switch (c->tool) {
	case ANSWER_SHELL:
		set_argument(a, &c->command, args, command_keys);
		c->command = answer_unwrap(a, c->command);
		break;
	case ANSWER_READ:
	case ANSWER_WRITE:
	case ANSWER_EDIT:
	case ANSWER_SEARCH:
		set_argument(a, &c->path, args, path_keys);
		break;
	case ANSWER_FETCH:
		set_argument(a, &c->url, args, url_keys);
		break;
	case ANSWER_SKILL:
		set_argument(a, &c->skill, args, skill_keys);
		break;
	case ANSWER_OTHER:
	case ANSWER_TASK:
	case ANSWER_TOOL__MAX:
		break;
	}
	arena_free(&tmp);
}
