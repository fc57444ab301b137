/* SPDX-License-Identifier: ISC */
/*
 * Whether a call reads the SKILL.md of a skill: a tool that reads files, or a
 * command of the shell.  Commands are not parsed but searched for the path, in
 * the directory of the last `cd`; a command that only lists, tests or writes
 * the file does not count.
 */
#include "run/run_internal.h"

#include <string.h>
#include <sys/stat.h>

#include "base/os_path.h"

/* The path of a word of a command; NULL: unknown. */
static char *
resolve_word(struct run_ask *q, const char *base, struct str word)
{
	struct str pwd = STR("$PWD/");

	if (str_starts(word, pwd)) {
		word.p += pwd.n;
		word.n -= pwd.n;
	}
	if (word.n == 0 || word.p[0] == '~' || word.p[0] == '$')
		return NULL;
	if (word.p[0] == '/')
		return arena_cstr(&q->arena, word);
	return base == NULL ? NULL : arena_cstr(&q->arena,
	    arena_fmt(&q->arena, "%s/%.*s", base, STRF(word)));
}

/* Whether the path names the SKILL.md, which the agent may have removed. */
static bool
is_skill_file(struct run_ask *q, const struct run_skill *s, const char *base,
    struct str path)
{
	const char *top = agent_cwd(&q->req);
	size_t n = top == NULL ? 0 : strlen(top);
	struct stat st;
	char *p;

	if (!str_is(path, "SKILL.md") && !str_ends(path, STR("/SKILL.md")))
		return false;
	p = resolve_word(q, base, path);
	if (p == NULL || os_inside(s->root, p))
		return p != NULL;
	return n > 0 && lstat(s->root, &st) == -1 &&
	    strncmp(s->root, top, n) == 0 && str_ends(path,
	    arena_fmt(&q->arena, "%s/SKILL.md", s->root + n + 1)) &&
	    os_inside(top, p);
}

/* The same for a word of a command; *named: one before it was the directory. */
static bool
word_reads(struct run_ask *q, const struct run_skill *s, const char *base,
    struct str word, bool *named)
{
	const char *p = resolve_word(q, base, word);

	if (p != NULL && os_inside(s->root, p))
		*named = true;
	return is_skill_file(q, s, base, word) || (p == NULL && *named &&
	    str_starts(word, STR("$")) && str_ends(word, STR("/SKILL.md")));
}

static bool
is_word(struct str s, const char *const *list)
{
	for (; *list != NULL; list++)
		if (str_is(s, *list))
			return true;
	return false;
}

/*
 * Whether a command reads the SKILL.md: names it after words that change the
 * directory, but neither lists nor writes it.
 */
static bool
command_reads(struct run_ask *q, const struct run_skill *s,
    struct str command)
{
	static const char ends[] = " \t\r\n'\"`;|&()<>={}";
	static const char *const others[] = { "[", "[[", "chmod", "cp", "echo",
		"file", "find", "git", "ls", "mkdir", "mv", "printf", "rm",
		"stat", "tee", "test", "touch", "wc", NULL };
	static const char *const keywords[] = { "!", "do", "elif", "else",
		"if", "then", "until", "while", NULL };
	struct str word = { command.p, 0 }, head = { NULL, 0 };
	const char *base = agent_cwd(&q->req);
	bool writes = false, named = false;
	size_t i;
	char c;

	for (i = 0; i <= command.n; i++) {
		c = i < command.n ? command.p[i] : '\n';
		if (c == '\0' || strchr(ends, c) == NULL)
			continue;
		word.n = (size_t)(command.p + i - word.p);
		if (word.n > 0 && head.n == 0 && !is_word(word, keywords))
			head = word;
		if (word.n > 0 && str_is(head, "cd") && word.p != head.p &&
		    *word.p != '-')
			base = resolve_word(q, base, word);
		else if (!writes && !is_word(head, others) &&
		    word_reads(q, s, base, word, &named))
			return true;
		writes = c == '>' || (writes && word.n == 0);
		if (strchr("\n;|&()`", c) != NULL)
			head.n = 0;
		word.p = command.p + i + 1;
	}
	return false;
}

bool
run_reads_skill(struct run_ask *q, const struct run_skill *s,
    const struct answer_call *c)
{
	if (c->tool == ANSWER_SHELL || c->command.n > 0)
		return command_reads(q, s, c->command);
	return c->tool == ANSWER_READ &&
	    is_skill_file(q, s, agent_cwd(&q->req), c->path);
}
