/* SPDX-License-Identifier: ISC */
/* The sealed files of a suite, and the evidence in an answer. */
#include "run/taint/taint_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/os_path.h"
#include "json.h"
#include "results/answer.h"
#include "suite/spec.h"

enum { SHOWN = 60 };		/* bytes of a name in a reason */

bool
taint_is_one(char c, const char *set)
{
	return c != '\0' && strchr(set, c) != NULL;
}

struct collection {
	struct taint *taint;
	struct arena *arena;
	struct buf files;		/* of struct taint_file */
	const char *fixtures;		/* real path, or NULL */
	const char *last;		/* the file that was added last */
	struct str last_dir;		/* the directory of a file, */
	const char *last_real;		/* and its real path, or NULL */
};

/* Whether a path is below a directory; both are real paths. */
static bool
is_below(const char *root, const char *path)
{
	size_t n = root == NULL ? 0 : strlen(root);

	return n > 1 && strncmp(path, root, n) == 0 && path[n] == '/';
}

/* os_real() of a file; many files have the same directory. */
static const char *
real_path(struct collection *c, const char *path)
{
	const char *slash = strrchr(path, '/');
	struct str dir = slash == NULL ? STR(".") :
	    (struct str){ path, (size_t)(slash - path) + 1 };
	struct stat st;

	if (lstat(path, &st) == -1)
		return NULL;
	if (!S_ISREG(st.st_mode))
		return os_real(c->arena, path);
	if (c->last_real == NULL || !str_eq(dir, c->last_dir)) {
		c->last_dir = arena_str(c->arena, dir);
		c->last_real = os_real(c->arena, c->last_dir.p);
	}
	if (c->last_real == NULL)
		return NULL;
	return arena_fmt(c->arena, "%s/%s", c->last_real[1] == '\0' ? "" :
	    c->last_real, slash == NULL ? path : slash + 1).p;
}

/* Adds a file unless the suite gives it to the agent. */
static void
seal(struct collection *c, const char *path)
{
	struct taint_file f = { 0 };
	struct stat st;

	if (path == NULL || c->files.n >= TAINT_FILES_MAX * sizeof(f) ||
	    (c->last != NULL && strcmp(c->last, path) == 0))
		return;
	c->last = path;
	f.path = real_path(c, path);
	if (f.path == NULL || stat(f.path, &st) == -1 ||
	    !S_ISREG(st.st_mode) || is_below(c->fixtures, f.path))
		return;
	f.base = str_base(str_of(f.path));
	f.name = is_below(c->taint->dir, f.path) ?
	    str_of(f.path + strlen(c->taint->dir) + 1) : str_of(path);
	f.dev = st.st_dev;
	f.ino = st.st_ino;
	buf_put(&c->files, (struct str){ (const char *)&f, sizeof(f) });
}

/* Seals the file with that name beside the suite or the task. */
static void
seal_word(struct collection *c, const struct spec_suite *s,
    const struct spec_task *t, struct str word)
{
	const char *dirs[] = { s->dir,
		t != NULL ? spec_task_dir(c->arena, t) : s->dir };
	size_t i;

	if (word.n == 0 || word.n > 1000 || word.p[0] == '-' ||
	    memchr(word.p, '\0', word.n) != NULL)
		return;
	if (word.p[0] == '/') {
		seal(c, arena_str(c->arena, word).p);
		return;
	}
	for (i = 0; i < COUNTOF(dirs); i++)
		seal(c, spec_join(c->arena, dirs[i], word));
}

/* A string, the words of a command line, or a list of them. */
static void
seal_value(struct collection *c, const struct spec_suite *s,
    const struct spec_task *t, const struct json *v)
{
	struct str text, word;
	size_t i, from = 0;

	if (v != NULL && v->type == JSON_ARRAY)
		for (v = json_first(v); v != NULL; v = v->next)
			if (v->type == JSON_STRING)
				seal_word(c, s, t, json_text(v));
	if (v == NULL || v->type != JSON_STRING)
		return;
	text = json_text(v);
	for (i = 0; text.n > 0 && i <= text.n; i++) {
		if (i < text.n && !taint_is_one(text.p[i], " \t\n'\";|&()"))
			continue;
		word = (struct str){ text.p + from, i - from };
		seal_word(c, s, t, word);
		from = i + 1;
	}
}

/* The settings of graders that name files beside the suite. */
static void
seal_graders(struct collection *c, const struct spec_suite *s,
    const struct spec_task *t, const struct spec_graders *list)
{
	static const char *const keys[] = { "command", "args", "rubric",
		"schema_file", "script", "prompt_file" };
	const struct json *v;
	size_t i, k;

	for (i = 0; i < list->n; i++) {
		seal(c, list->v[i].at.file);
		for (k = 0; k < COUNTOF(keys); k++)
			seal_value(c, s, t, json_getc(list->v[i].config,
			    keys[k]));
		v = json_first(json_getc(list->v[i].config,
		    "expected_files"));
		for (; v != NULL; v = v->next)
			seal_value(c, s, t, json_getc(v, "snapshot"));
	}
}

static int
by_base(const void *a, const void *b)
{
	const struct taint_file *x = a, *y = b;
	int r = str_cmp(x->base, y->base);

	return r != 0 ? r : strcmp(x->path, y->path);
}

/* Sorts the files and removes those that were found twice. */
static void
keep_files(struct collection *c)
{
	struct taint *t = c->taint;
	struct taint_file *f;
	size_t i, n = c->files.n / sizeof(*f);

	t->files = NEW_N(c->arena, struct taint_file, n + 1);
	t->paths = NEW_N(c->arena, const char *, n + 1);
	if (n > 0)
		memcpy(t->files, c->files.p, n * sizeof(*f));
	qsort(t->files, n, sizeof(*f), by_base);
	for (i = 0; i < n; i++) {
		f = &t->files[i];
		if (i > 0 && strcmp(f->path, t->paths[t->nfiles - 1]) == 0)
			continue;
		t->paths[t->nfiles] = f->path;
		t->files[t->nfiles++] = *f;
	}
}

struct taint *
taint_open(struct arena *a, const struct spec_suite *s, const char *fixtures)
{
	struct taint *t = NEW(a, struct taint);
	struct collection c = { .taint = t, .arena = a };
	size_t i;

	t->dir = os_real(a, s->dir);
	c.fixtures = os_real(a, fixtures != NULL ? fixtures :
	    arena_fmt(a, "%s/fixtures", s->dir).p);
	/* a suite whose fixtures are its own directory hides nothing */
	if (t->dir != NULL && (is_below(c.fixtures, t->dir) ||
	    (c.fixtures != NULL && strcmp(c.fixtures, t->dir) == 0)))
		c.fixtures = NULL;
	seal(&c, s->path);
	seal_graders(&c, s, NULL, &s->graders);
	for (i = 0; i < s->ntasks; i++) {
		seal(&c, s->tasks[i].at.file);
		seal_graders(&c, s, &s->tasks[i], &s->tasks[i].def->graders);
	}
	if (s->triggers != NULL)
		seal(&c, s->triggers->file);
	keep_files(&c);
	buf_free(&c.files);
	taint_index(t, a);
	return t;
}

const char *const *
taint_files(const struct taint *t)
{
	return t->paths;
}

static struct str
describe_call(struct arena *a, const struct answer_call *c, size_t number)
{
	return arena_fmt(a, "tool call %zu, %.*s", number,
	    STRF(utf8_cut(c->name, SHOWN)));
}

/* Whether a line of a text, in JSON, contains the name and then the word. */
static bool
line_has(struct str json, struct str name, struct str word)
{
	bool named = false;
	struct str rest;
	size_t i;

	for (i = 0; i < json.n; i++) {
		rest = (struct str){ json.p + i, json.n - i };
		if (str_starts(rest, STR("\\n")))
			named = false;
		else if (str_starts(rest, name))
			named = true;
		else if (named && str_starts(rest, word))
			return true;
	}
	return false;
}

/*
 * Whether the call reports that the file could not be opened.  Agents count a
 * command as successful whatever its status is, and a confined one gets this.
 */
static bool
was_refused(const struct answer_call *c, const struct taint_file *f)
{
	return !c->no_result && (line_has(c->result, f->base,
	    STR("ermission denied")) || line_has(c->result, f->base,
	    STR("peration not permitted")));
}

/* The evidence in one tool call. */
static struct str
find_in_call(const struct taint *t, struct arena *a,
    const struct taint_trial *trial, const struct answer_call *c,
    struct str call)
{
	const struct taint_file *f = NULL;
	struct taint_match m;

	if (c->denied)
		return STR("");
	/* a call that failed has not opened it, or its result shows the text */
	if (c->success)
		f = taint_named(t, c, trial->cwd);
	if (f != NULL && !was_refused(c, f))
		return arena_fmt(a, "the agent %s %.*s, which grades it "
		    "(%.*s)", c->command.n > 0 ? "may have read" : "opened",
		    STRF(utf8_cut(f->name, 200)), STRF(call));
	if (c->no_result || !taint_match_json(t, c->result, trial, &m))
		return STR("");
	return arena_fmt(a, "the agent read %.*s, which grades it: line %u is "
	    "in the result of %.*s", STRF(utf8_cut(m.file->name, 200)),
	    (unsigned)m.number, STRF(call));
}

struct str
taint_find(const struct taint *t, struct arena *a,
    const struct taint_trial *trial)
{
	const struct answer_call *c;
	struct arena_mark mark;
	struct taint_match m;
	struct str why;
	size_t n = 0;

	for (c = trial->answer->calls; c != NULL; c = c->next) {
		mark = arena_save(a);
		why = find_in_call(t, a, trial, c, describe_call(a, c, ++n));
		if (why.n > 0)
			return why;
		arena_restore(a, mark);
	}
	if (!taint_match(t, trial->answer->output, trial, &m))
		return STR("");
	return arena_fmt(a, "the answer contains line %u of %.*s, which grades "
	    "it", (unsigned)m.number, STRF(utf8_cut(m.file->name, 200)));
}
