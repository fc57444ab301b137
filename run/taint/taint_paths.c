/* SPDX-License-Identifier: ISC */
/*
 * Sealed files that the arguments of a tool call name: as a path, as a word of
 * a command, by a pattern of the shell, or below the directory after `cd`.
 */
#include "run/taint/taint_internal.h"

#include <fnmatch.h>
#include <string.h>
#include <sys/stat.h>

#include "json.h"
#include "results/answer.h"

enum { DEPTH = 40, WORD_MAX = 2000 };

struct search {
	const struct taint *taint;
	struct arena tmp;
	const char *cwd;
	const char *cd;			/* of the command so far, or NULL */
	bool after_cd;			/* the last word was `cd` */
	const struct taint_file *found;
};

static int
by_base(const void *key, const void *row)
{
	return str_cmp(*(const struct str *)key,
	    ((const struct taint_file *)row)->base);
}

/* The absolute path of a word, or NULL if that depends on what is unknown. */
static const char *
locate(struct search *s, struct str word)
{
	const char *dir = s->cd != NULL ? s->cd : s->cwd;

	if (word.p[0] == '/')
		return arena_str(&s->tmp, word).p;
	return dir == NULL ? NULL : arena_fmt(&s->tmp, "%s/%.*s", dir,
	    STRF(word)).p;
}

/* A file with the word's last part: is it the same file? */
static void
try_name(struct search *s, struct str word)
{
	const struct taint *t = s->taint;
	struct str base = str_base(word);
	const char *path;
	struct stat st;
	size_t i;

	i = search_first(&base, t->files, t->nfiles, sizeof(*t->files),
	    by_base);
	if (i == t->nfiles || !str_eq(t->files[i].base, base))
		return;
	path = locate(s, word);
	if (path == NULL || stat(path, &st) == -1)
		return;
	for (; i < t->nfiles && str_eq(t->files[i].base, base); i++)
		if (t->files[i].dev == st.st_dev && t->files[i].ino ==
		    st.st_ino)
			s->found = &t->files[i];
}

static void
try_pattern(struct search *s, struct str word)
{
	const char *pattern = locate(s, word);
	size_t i;

	for (i = 0; pattern != NULL && i < s->taint->nfiles; i++)
		if (fnmatch(pattern, s->taint->files[i].path,
		    FNM_PATHNAME) == 0) {
			s->found = &s->taint->files[i];
			return;
		}
}

static void
try_word(struct search *s, struct str word)
{
	bool cd = s->after_cd;

	if (word.n == 0 || s->found != NULL)
		return;
	s->after_cd = str_is(word, "cd");
	if (word.n > WORD_MAX || memchr(word.p, '\0', word.n) != NULL)
		return;
	if (cd)
		s->cd = locate(s, word);
	else if (memchr(word.p, '*', word.n) != NULL ||
	    memchr(word.p, '?', word.n) != NULL)
		try_pattern(s, word);
	else
		try_name(s, word);
}

/*
 * Whether all programs of a command look at names only.  Anything that could
 * start another program or open a file (variables, substitutions, functions,
 * redirections, escapes, assignments) is no.
 */
static bool
lists_names(struct str text)
{
	static const char *const programs[] = { "[", "basename", "cd",
		"dirname", "echo", "ls", "mkdir", "pwd", "rmdir", "stat",
		"test", "true" };
	bool first = true;
	struct str word;
	size_t i, k, from = 0;

	for (i = 0; i < text.n; i++)
		if (taint_is_one(text.p[i], "`$()<>{}\\\"'=!#~"))
			return false;
	for (i = 0; text.n > 0 && i <= text.n; i++) {
		if (i < text.n && !taint_is_one(text.p[i], " \t\n;|&"))
			continue;
		word = (struct str){ text.p + from, i - from };
		from = i + 1;
		for (k = 0; k < COUNTOF(programs); k++)
			if (str_is(word, programs[k]))
				break;
		if (word.n > 0 && first && k == COUNTOF(programs))
			return false;
		first = (first && word.n == 0) || (i < text.n &&
		    taint_is_one(text.p[i], "\n;|&"));
	}
	return text.n > 0;
}

static void
try_command(struct search *s, struct str text)
{
	size_t i, from = 0;

	if (lists_names(text))
		return;
	for (i = 0; text.n > 0 && i <= text.n; i++) {
		if (i < text.n && !taint_is_one(text.p[i],
		    " \t\n'\"`;|&()<>=,"))
			continue;
		try_word(s, (struct str){ text.p + from, i - from });
		from = i + 1;
	}
	s->cd = NULL;
	s->after_cd = false;
}

/* A string is a path as a whole: texts that mention one open nothing. */
static void
try_value(struct search *s, const struct json *v, int depth)
{
	const struct json *c;

	if (v == NULL || depth > DEPTH || s->found != NULL)
		return;
	if (v->type == JSON_STRING)
		try_word(s, json_text(v));
	for (c = json_first(v); c != NULL; c = c->next)
		try_value(s, c, depth + 1);
}

const struct taint_file *
taint_named(const struct taint *t, const struct answer_call *c,
    const char *cwd)
{
	struct search s = { .taint = t, .cwd = cwd };
	struct json_mem mem = { arena_hook, &s.tmp };
	struct json_error e;

	if (t->nfiles == 0)
		return NULL;
	try_command(&s, c->command);
	try_word(&s, c->path);
	if (!c->no_arguments && c->arguments.n > 0)
		try_value(&s, json_read(&mem, c->arguments, 0, &e), 0);
	arena_free(&s.tmp);
	return s.found;
}
