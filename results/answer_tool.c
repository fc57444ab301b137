/* SPDX-License-Identifier: ISC */
/*
 * answer_tool.c: what a tool call does, whatever its agent calls the tool.
 */
#include "results/answer.h"

#include <string.h>

#include "json.h"
#include "lib/http.h"
#include "results/result_internal.h"

enum { WORDS_MAX = 16, WRAPPERS_MAX = 4 };

/* Arguments that hold what graders look for; the first one found counts. */
static const char *const command_keys[] = { "command", "cmd", "script",
	"input", "chars", NULL };
static const char *const path_keys[] = { "path", "file_path", "filePath",
	"absolute_path", "notebook_path", "dir_path", "directory", "file",
	"filename", "fileName", "paths", "changes", NULL };
static const char *const url_keys[] = { "url", "uri", NULL };
static const char *const skill_keys[] = { "skill", "name", "skill_name",
	"command", NULL };

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

/* Whether it lists changes, and none of them creates a file. */
static bool
adds_nothing(const struct json *changes)
{
	const struct json *v;

	for (v = json_first(changes); v != NULL; v = v->next)
		if (json_str(v, "kind").n == 0 ||
		    str_is(json_str(v, "kind"), "add"))
			return false;
	return json_first(changes) != NULL;
}

void
answer_classify(struct arena *a, struct answer_call *c, struct str agent)
{
	struct arena tmp = { 0 };
	const struct json *args = arena_json(&tmp, c->arguments, NULL);
	struct str mode = json_str(args, "command");

	if (c->name.n == 0)
		c->no_name = true;
	/* malformed: a rule about them must not pass for want of a match */
	if (args == NULL && c->arguments.n > 0)
		c->no_arguments = true;
	answer_name_tool(c, agent, mode);
	if (c->any_edit && adds_nothing(json_getc(args, "changes")))
		c->any_edit = false;
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

/* mcp__SERVER__TOOL, SERVER-TOOL and the like: TOOL. */
static struct str
without_server(struct str name, struct str server)
{
	static const struct str mcp[] = { { "mcp__", 5 }, { "mcp_", 4 } };
	size_t i, n = server.n;

	for (i = 0; i < COUNTOF(mcp); i++)
		if (str_starts(name, mcp[i])) {
			name.p += mcp[i].n;
			name.n -= mcp[i].n;
			break;
		}
	if (name.n < n + 2 || !answer_same_name((struct str){ name.p, n },
	    server) || strchr("_-./:", name.p[n]) == NULL)
		return name;
	n += name.p[n] == '_' && name.p[n + 1] == '_' && name.n > n + 2 ? 2 : 1;
	return (struct str){ name.p + n, name.n - n };
}

bool
answer_is_mock(const struct answer_call *c, struct str name)
{
	return c->mock.n > 0 && answer_same_name(
	    without_server(c->name, c->mock), without_server(name, c->mock));
}
