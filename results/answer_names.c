/* SPDX-License-Identifier: ISC */
/*
 * answer_names.c: the names that agents give to their tools, and which of them
 * mean the same.
 *
 * The rows of the call's own agent come first.  A name that they do not
 * contain is looked up in all rows: releases add tools, and a shell must not
 * pass as something harmless because its row is missing.
 *
 * Two names mean the same if their tools do the same for the same purpose: a
 * search for names of files is not a search in them.
 */
#include "results/answer.h"

#include <string.h>

#include "lib/http.h"
#include "results/result_internal.h"

/* The purpose of a tool, where an agent has several of a kind. */
enum purpose {
	PLAIN,
	INPUT = 1,		/* shell: to a command that is running */
	LIST = 1,		/* read: a directory */
	NAMES = 1,		/* search: for files, not in them */
	QUERY = 1,		/* fetch: by words, not by address */
	SPECIAL = 2,		/* another kind of file or server */
	PATCH = 3,		/* edit: plain, but it can also create files */
	PURPOSES = 4
};

struct row {
	const char *agent, *name;
	enum answer_tool tool;
	enum purpose purpose;
	const char *mode;	/* only with this argument `command` */
};

#define TOOL(agent, name, tool) { agent, name, ANSWER_##tool, PLAIN, NULL }
#define KIND(agent, name, tool, p) { agent, name, ANSWER_##tool, p, NULL }
#define MODE(agent, name, tool, mode) { agent, name, ANSWER_##tool, PLAIN, \
	mode }

static const struct row rows[] = {	/* those of an agent are together */
	TOOL("copilot", "bash", SHELL), TOOL("copilot", "powershell", SHELL),
	KIND("copilot", "write_bash", SHELL, INPUT),
	KIND("copilot", "write_powershell", SHELL, INPUT),
	TOOL("copilot", "shell", SHELL), TOOL("copilot", "view", READ),
	TOOL("copilot", "create", WRITE), TOOL("copilot", "edit", EDIT),
	MODE("copilot", "str_replace_editor", READ, "view"),
	MODE("copilot", "str_replace_editor", WRITE, "create"),
	TOOL("copilot", "str_replace_editor", EDIT),
	TOOL("copilot", "str_replace", EDIT),
	KIND("copilot", "apply_patch", EDIT, PATCH),
	TOOL("copilot", "grep", SEARCH), TOOL("copilot", "rg", SEARCH),
	KIND("copilot", "glob", SEARCH, NAMES),
	TOOL("copilot", "web_fetch", FETCH),
	KIND("copilot", "web_search", FETCH, QUERY),
	TOOL("copilot", "skill", SKILL), TOOL("copilot", "task", TASK),
	TOOL("claude", "Bash", SHELL), TOOL("claude", "PowerShell", SHELL),
	TOOL("claude", "Read", READ),
	KIND("claude", "NotebookRead", READ, SPECIAL),
	KIND("claude", "LS", READ, LIST), TOOL("claude", "Write", WRITE),
	TOOL("claude", "Edit", EDIT), TOOL("claude", "MultiEdit", EDIT),
	KIND("claude", "NotebookEdit", EDIT, SPECIAL),
	KIND("claude", "Glob", SEARCH, NAMES), TOOL("claude", "Grep", SEARCH),
	TOOL("claude", "WebFetch", FETCH),
	KIND("claude", "WebSearch", FETCH, QUERY),
	TOOL("claude", "Skill", SKILL), TOOL("claude", "Task", TASK),
	TOOL("claude", "Agent", TASK),
	TOOL("codex", "shell", SHELL), TOOL("codex", "exec_command", SHELL),
	TOOL("codex", "local_shell", SHELL),
	TOOL("codex", "command_execution", SHELL),
	KIND("codex", "write_stdin", SHELL, INPUT),
	KIND("codex", "apply_patch", EDIT, PATCH),
	KIND("codex", "file_change", EDIT, PATCH),
	KIND("codex", "view_image", READ, SPECIAL),
	KIND("codex", "web_search", FETCH, QUERY),
	TOOL("codex", "spawn_agent", TASK),
	TOOL("gemini", "run_shell_command", SHELL),
	TOOL("gemini", "read_file", READ),
	TOOL("gemini", "read_many_files", READ),
	KIND("gemini", "list_directory", READ, LIST),
	TOOL("gemini", "write_file", WRITE), TOOL("gemini", "replace", EDIT),
	KIND("gemini", "glob", SEARCH, NAMES),
	TOOL("gemini", "search_file_content", SEARCH),
	TOOL("gemini", "grep_search", SEARCH),
	TOOL("gemini", "web_fetch", FETCH),
	KIND("gemini", "google_web_search", FETCH, QUERY),
	TOOL("gemini", "activate_skill", SKILL),
	TOOL("gemini", "delegate_to_agent", TASK),
	TOOL("gemini", "codebase_investigator", TASK),
	TOOL("opencode", "bash", SHELL), TOOL("opencode", "read", READ),
	KIND("opencode", "list", READ, LIST), TOOL("opencode", "write", WRITE),
	TOOL("opencode", "edit", EDIT), TOOL("opencode", "multiedit", EDIT),
	KIND("opencode", "patch", EDIT, PATCH),
	KIND("opencode", "glob", SEARCH, NAMES),
	TOOL("opencode", "grep", SEARCH),
	KIND("opencode", "codesearch", FETCH, SPECIAL),
	TOOL("opencode", "webfetch", FETCH),
	KIND("opencode", "websearch", FETCH, QUERY),
	TOOL("opencode", "skill", SKILL), TOOL("opencode", "task", TASK),
	TOOL("qwen", "run_shell_command", SHELL),
	TOOL("qwen", "read_file", READ),
	KIND("qwen", "list_directory", READ, LIST),
	TOOL("qwen", "write_file", WRITE), TOOL("qwen", "edit", EDIT),
	KIND("qwen", "glob", SEARCH, NAMES),
	TOOL("qwen", "grep_search", SEARCH), TOOL("qwen", "web_fetch", FETCH),
	KIND("qwen", "web_search", FETCH, QUERY), TOOL("qwen", "skill", SKILL),
	TOOL("qwen", "task", TASK), TOOL("qwen", "agent", TASK),
	TOOL("goose", "shell", SHELL), TOOL("goose", "developer__shell", SHELL),
	MODE("goose", "text_editor", READ, "view"),
	MODE("goose", "text_editor", WRITE, "write"),
	TOOL("goose", "text_editor", EDIT),
	MODE("goose", "developer__text_editor", READ, "view"),
	MODE("goose", "developer__text_editor", WRITE, "write"),
	TOOL("goose", "developer__text_editor", EDIT),
	TOOL("goose", "load_skill", SKILL), TOOL("goose", "loadSkill", SKILL),
	TOOL("goose", "delegate", TASK),
	TOOL("cline", "execute_command", SHELL),
	TOOL("cline", "read_file", READ),
	KIND("cline", "list_files", READ, LIST),
	TOOL("cline", "write_to_file", WRITE),
	TOOL("cline", "replace_in_file", EDIT),
	TOOL("cline", "search_files", SEARCH),
	TOOL("cline", "use_skill", SKILL), TOOL("cline", "new_task", TASK),
	/* scripts and evaluation clients may use our own names */
	TOOL("waza", "search", SEARCH), TOOL("waza", "fetch", FETCH),
	/* usual elsewhere */
	TOOL("any", "sh", SHELL), TOOL("any", "zsh", SHELL),
	TOOL("any", "terminal", SHELL), TOOL("any", "run_command", SHELL),
	TOOL("any", "execute_bash", SHELL),
	TOOL("any", "run_terminal_cmd", SHELL),
	TOOL("any", "run_in_terminal", SHELL), TOOL("any", "edit_file", EDIT),
	TOOL("any", "create_file", WRITE),
};

/* Only in rules: agents use these words for other things, too. */
static const struct row rule_rows[] = {
	TOOL("any", "execute", SHELL), TOOL("any", "cmd", SHELL),
	TOOL("any", "cat", READ), KIND("any", "ls", READ, LIST),
};

/* The kinds of the Agent Client Protocol. */
static const struct {
	const char *kind;
	enum answer_tool tool;
} kinds[] = {
	{ "read", ANSWER_READ }, { "edit", ANSWER_EDIT },
	{ "delete", ANSWER_EDIT }, { "move", ANSWER_EDIT },
	{ "search", ANSWER_SEARCH }, { "execute", ANSWER_SHELL },
	{ "fetch", ANSWER_FETCH }, { "think", ANSWER_OTHER },
	{ "switch_mode", ANSWER_OTHER }, { "other", ANSWER_OTHER },
};

enum answer_tool
answer_tool_by_kind(struct str kind)
{
	size_t i;

	for (i = 0; i < COUNTOF(kinds); i++)
		if (str_is(kind, kinds[i].kind))
			return kinds[i].tool;
	return ANSWER_OTHER;
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

static char
lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool
answer_same_name(struct str x, struct str y)
{
	size_t i;

	if (x.n != y.n)
		return false;
	for (i = 0; i < x.n && lower(x.p[i]) == lower(y.p[i]); i++)
		;
	return i == x.n;
}

/* As answer_same_name(); also ignores "_" and "-": web_search, WebSearch. */
static bool
is_spelt(struct str name, const char *known)
{
	size_t i;

	for (i = 0; i < name.n; i++) {
		if (name.p[i] == '_' || name.p[i] == '-')
			continue;
		while (*known == '_')
			known++;
		if (*known == '\0' || lower(name.p[i]) != lower(*known++))
			return false;
	}
	return *known == '\0' && name.n > 0;
}

/* agent.n == 0: the rows of all agents. */
static const struct row *
find_row(struct str agent, struct str name, struct str mode)
{
	const struct row *r;

	for (r = rows; r < rows + COUNTOF(rows); r++)
		if ((agent.n == 0 || str_is(agent, r->agent)) &&
		    str_is(name, r->name) &&
		    (r->mode == NULL || str_is(mode, r->mode)))
			return r;
	return NULL;
}

static uint64_t
bit(enum answer_tool tool, enum purpose p)
{
	return (uint64_t)1 << ((int)tool * PURPOSES + (p == PATCH ? PLAIN :
	    (int)p));
}

uint64_t
answer_plain(enum answer_tool tool)
{
	return tool == ANSWER_OTHER ? 0 : bit(tool, PLAIN);
}

uint64_t
answer_any(enum answer_tool tool)
{
	return tool == ANSWER_OTHER ? 0 : bit(tool, PLAIN) * 15;
}

void
answer_name_tool(struct answer_call *c, struct str agent, struct str mode)
{
	const struct row *r = NULL;

	if (agent.n > 0)
		r = find_row(agent, c->name, mode);
	if (r == NULL)
		r = find_row(STR(""), c->name, mode);
	if (r == NULL)
		return;
	if (c->tool == ANSWER_OTHER)
		c->tool = r->tool;
	if (c->tool == ANSWER_EDIT && r->purpose == PATCH)
		c->any_edit = true;
	if (!c->no_name)
		c->does = bit(r->tool, r->purpose) | (r->tool == c->tool ? 0 :
		    answer_plain(c->tool));
}

/* A tool with modes is known for what it changes, not for what it reads. */
static uint64_t
row_does(const struct row *r)
{
	return r->mode != NULL && r->tool == ANSWER_READ ? 0 :
	    bit(r->tool, r->purpose);
}

uint64_t
answer_names_do(bool (*fits)(void *, struct str), void *ctx)
{
	const struct row *r;
	uint64_t does = 0;

	for (r = rows; r < rows + COUNTOF(rows); r++)
		if (fits(ctx, str_of(r->name)))
			does |= row_does(r);
	for (r = rule_rows; r < rule_rows + COUNTOF(rule_rows); r++)
		if (fits(ctx, str_of(r->name)))
			does |= row_does(r);
	return does;
}

struct answer_name
answer_name(struct str text)
{
	struct answer_name n = { .text = text };
	const struct row *r;
	bool exact = false;
	size_t i;

	for (r = rows; r < rows + COUNTOF(rows); r++) {
		n.does |= is_spelt(text, r->name) ? row_does(r) : 0;
		exact = exact || str_is(text, r->name);
	}
	for (r = rule_rows; r < rule_rows + COUNTOF(rule_rows); r++)
		n.does |= is_spelt(text, r->name) ? row_does(r) : 0;
	for (i = 0; i < ANSWER_TOOL__MAX; i++) {
		struct str own = str_of(answer_tool_name((enum answer_tool)i));

		if (str_eq(text, own) || (!exact && answer_same_name(text,
		    own))) {
			n.own = true;
			n.tool = (enum answer_tool)i;
			n.does |= answer_any(n.tool);
		}
	}
	return n;
}

const char *
answer_synonym(uint64_t does, size_t i)
{
	return i >= COUNTOF(rows) ? NULL : (row_does(&rows[i]) & does) == 0 ?
	    "" : rows[i].name;
}
