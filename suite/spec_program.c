/* SPDX-License-Identifier: ISC */
/*
 * Programs and scripts that a suite names: where they are found, and what is
 * missing on this machine.
 *
 * Agents and program graders run in the workspace of a trial.  A script beside
 * the suite is found all the same: a program with a slash, and the script of an
 * interpreter, are looked up beside the suite first.
 */
#include "suite/spec_internal.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os_path.h"
#include "lib/tmpl.h"

static bool
is_one_of(struct str s, const char *const *v, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (str_is(s, v[i]))
			return true;
	return false;
}

static bool
has_slash(struct str s)
{
	return s.n > 0 && memchr(s.p, '/', s.n) != NULL;
}

bool
spec_is_interpreter(struct str program)
{
	static const char *const names[] = { "bash", "bun", "dash", "deno",
		"ksh", "node", "perl", "php", "pwsh", "python", "python3",
		"ruby", "sh", "zsh" };

	return is_one_of(str_base(program), names, COUNTOF(names));
}

char *
spec_script(struct arena *a, const char *const *dirs, size_t n,
    struct str word)
{
	char *plain = arena_cstr(a, word), *path;
	struct stat st;
	size_t i;

	if (plain == NULL || word.n == 0 || word.p[0] == '-' ||
	    word.p[0] == '/')
		return NULL;
	for (i = 0; i < n; i++) {
		path = spec_join(a, dirs[i], word);
		if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
			return path;
	}
	return NULL;
}

bool
spec_before_script(struct str s)
{
	return s.n > 1 && s.p[0] == '-' && (s.p[1] == '-' ||
	    s.p[s.n - 1] != 'c');
}

static const char *
missing_command(struct arena *a, const char *const *dirs, size_t n,
    struct str word)
{
	const char *path = arena_cstr(a, word);
	struct str w = utf8_cut(word, 100);

	if (path == NULL || word.n == 0)
		return NULL;
	if (!has_slash(word)) {
		if (os_find(a, path) != NULL)
			return NULL;
		if (spec_script(a, dirs, n, word) != NULL)
			return arena_fmt(a, "`%.*s` is not installed (not "
			    "found in PATH); write \"./%.*s\" for the file "
			    "beside the suite", STRF(w), STRF(w)).p;
		return arena_fmt(a, "`%.*s` is not installed (not found in "
		    "PATH)", STRF(w)).p;
	}
	if (word.p[0] != '/' && spec_script(a, dirs, n, word) != NULL)
		path = spec_script(a, dirs, n, word);
	if (!spec_exists(path))
		return arena_fmt(a, "\"%.*s\" does not exist%s", STRF(w),
		    word.p[0] == '/' ? "" : " beside the suite").p;
	if (access(path, X_OK) == -1)
		return arena_fmt(a, "\"%.*s\" is not executable: run chmod +x, "
		    "or put its interpreter before it", STRF(w)).p;
	return NULL;
}

const char *
spec_missing_program(struct arena *a, const char *const *dirs, size_t n,
    struct str command)
{
	return tmpl_any(command) ? NULL : missing_command(a, dirs, n, command);
}

/* A word that is hardly anything else, such as code after an option. */
static bool
looks_like_script(struct str s)
{
	static const char *const ends[] = { ".bash", ".cjs", ".js", ".mjs",
		".php", ".pl", ".ps1", ".py", ".rb", ".sh", ".ts" };
	size_t i;

	for (i = 0; i < s.n; i++)
		if (strchr(" \t\n|&;<>()$`\\\"'*?[]#~={}!:,", s.p[i]) != NULL)
			return false;
	for (i = 0; i < COUNTOF(ends); i++)
		if (str_ends(s, str_of(ends[i])))
			return s.p[0] != '-';
	return has_slash(s) && s.p[0] != '-';
}

/* Whether a task may have the file in its workspace. */
static bool
may_get(struct arena *a, const struct spec_task *t, struct str path)
{
	const struct spec_input_file *f = t->def->inputs.files.v;
	const char *dirs[] = { spec_task_dir(a, t), t->def->context_dir };
	size_t i;

	for (i = 0; i < t->def->inputs.files.n; i++)
		if (tmpl_any(f[i].path) || str_ends(path, f[i].path))
			return true;
	return t->def->inputs.repos.n > 0 || spec_script(a, dirs,
	    t->def->context_dir != NULL ? 2 : 1, path) != NULL;
}

const char *
spec_missing_script(struct arena *a, const struct spec_suite *s,
    const char *context_dir, const struct json *command,
    const struct json **word)
{
	const struct json *v = json_first(command);
	const char *dirs[] = { s->dir, context_dir != NULL ? context_dir :
		spec_join(a, s->dir, STR("fixtures")) };
	struct str name;
	size_t i;

	if (v == NULL || !spec_is_interpreter(json_text(v)))
		return NULL;
	for (v = v->next; v != NULL && spec_before_script(json_text(v)); )
		v = v->next;
	if (v == NULL || v->type != JSON_STRING ||
	    !looks_like_script(name = json_text(v)))
		return NULL;
	*word = v;
	if (name.p[0] == '/')
		return spec_exists(arena_cstr(a, name)) ? NULL : arena_fmt(a,
		    "script \"%.*s\" does not exist", SPEC_SHORT(name)).p;
	if (spec_script(a, dirs, COUNTOF(dirs), name) != NULL ||
	    s->hooks[SPEC_BEFORE_RUN].n + s->hooks[SPEC_BEFORE_TASK].n > 0)
		return NULL;
	for (i = 0; i < s->ntasks; i++)
		if (may_get(a, &s->tasks[i], name))
			return NULL;
	return arena_fmt(a, "script \"%.*s\" was not found (searched beside "
	    "the suite and in %.*s; the command runs in the workspace of the "
	    "trial): check the path", SPEC_SHORT(name),
	    STRF(spec_tail(dirs[1]))).p;
}

/* The next word of a shell command; empty if the shell may change it. */
static struct str
shell_word(struct str *line)
{
	struct str s = str_trim(*line), word = { s.p, 0 };

	while (word.n < s.n && strchr(" \t\n", s.p[word.n]) == NULL) {
		if (strchr("|&;<>()$`\\\"'*?[]#~={}!", s.p[word.n]) != NULL)
			return STR("");
		word.n++;
	}
	*line = (struct str){ s.p + word.n, s.n - word.n };
	return word;
}

static bool
is_shell_word(struct str s)
{
	static const char *const words[] = { ".", ":", "alias", "bg", "break",
		"case", "cd", "command", "continue", "eval", "exec", "exit",
		"export", "false", "fg", "for", "function", "getopts", "hash",
		"if", "jobs", "kill", "local", "printf", "pwd", "read",
		"readonly", "return", "set", "shift", "source", "test", "time",
		"times", "trap", "true", "type", "ulimit", "umask", "unalias",
		"unset", "until", "wait", "while" };

	return is_one_of(s, words, COUNTOF(words));
}

const char *
spec_missing_line(struct arena *a, const char *dir, struct str line,
    bool elsewhere)
{
	struct str word = shell_word(&line), script;

	if (word.n == 0 || tmpl_any(word) || is_shell_word(word))
		return NULL;
	script = spec_is_interpreter(word) ? shell_word(&line) : word;
	if (elsewhere && (has_slash(word) || script.p != word.p) &&
	    spec_script(a, &dir, 1, script) != NULL)
		return arena_fmt(a, "the shell runs in the workspace of the "
		    "trial, not beside the suite: write the command as a "
		    "list, [%.*s%s%.*s]", STRF(word), script.p != word.p ?
		    ", " : "", STRF(script.p != word.p ? script :
		    STR(""))).p;
	if (elsewhere && has_slash(word))
		return NULL;		/* may be a file of the workspace */
	return missing_command(a, &dir, 1, word);
}
