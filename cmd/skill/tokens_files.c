/* SPDX-License-Identifier: ISC */
/*
 * The files that `waza tokens` looks at.  Directories are hostile: links to
 * directories are not followed, only regular files are read, and numbers and
 * sizes are limited.
 */
#include "cmd/skill/tokens.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/os.h"
#include "base/os_path.h"
#include "cmd/skill/new.h"
#include "cmd/workspace.h"
#include "skill/catalog.h"
#include "suite/config.h"

static const char *const skipped[] = { "node_modules", ".git", "dist",
	"coverage" };

struct walk {
	struct tokens *t;
	struct buf list;	/* of struct tokens_file */
};

/* Whether the path ends with this word, which is in lower case. */
static bool
ends_with(struct str path, const char *word)
{
	size_t i, n = strlen(word);
	const char *p;

	if (path.n < n)
		return false;
	p = path.p + path.n - n;
	for (i = 0; i < n; i++)
		if (p[i] != word[i] && (word[i] < 'a' || word[i] > 'z' ||
		    p[i] != word[i] - 'a' + 'A'))
			return false;
	return true;
}

bool
tokens_is_markdown(struct str path)
{
	return ends_with(path, ".md") || ends_with(path, ".mdx");
}

bool
tokens_is_skill(struct str path)
{
	return ends_with(path, "/skill.md") || (path.n == 8 &&
	    ends_with(path, "skill.md"));
}

int64_t
tokens_lines(struct str s)
{
	int64_t n = 0;
	size_t i;

	for (i = 0; i < s.n; i++)
		n += s.p[i] == '\n';
	return n + (s.n > 0 && s.p[s.n - 1] != '\n');
}

static int
add_file(struct walk *w, const char *name, struct str path)
{
	struct tokens_file f = { .name = name, .path = path };

	if (w->list.n / sizeof(f) >= TOKENS_FILES_MAX)
		return err_set(w->t->call->err, ERR_LIMIT, "more than 100,000 "
		    "files: name fewer directories");
	buf_put(&w->list, (struct str){ (const char *)&f, sizeof(f) });
	return 0;
}

static bool
is_skipped(const char *name)
{
	size_t i;

	for (i = 0; i < COUNTOF(skipped); i++)
		if (strcmp(name, skipped[i]) == 0)
			return true;
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static int walk(struct walk *, const char *dir, struct str path,
    unsigned depth);

static int
walk_entry(struct walk *w, const char *dir, struct str path,
    const char *entry, unsigned depth)
{
	struct arena *a = w->t->arena;
	const char *name = spec_join(a, dir, str_of(entry));
	struct str under = path.n == 0 ? arena_str(a, str_of(entry)) :
	    arena_fmt(a, "%.*s/%s", STRF(path), entry);
	struct stat st;

	if (lstat(name, &st) == -1)
		return 0;	/* it has just been removed */
	if (S_ISDIR(st.st_mode))
		return is_skipped(entry) ? 0 : walk(w, name, under, depth + 1);
	if (!tokens_is_markdown(str_of(entry)) || (S_ISLNK(st.st_mode) &&
	    stat(name, &st) == -1) || !S_ISREG(st.st_mode))
		return 0;
	return add_file(w, name, under);
}

static int
walk(struct walk *w, const char *dir, struct str path, unsigned depth)
{
	struct err *e = w->t->call->err;
	struct dirent *d;
	DIR *open;
	int r = 0;

	if (depth > TOKENS_DEPTH)
		return err_set(e, ERR_LIMIT, "%s: more than 64 directories "
		    "inside each other", dir);
	open = opendir(dir);
	if (open == NULL)
		return err_sys(e, dir);
	while (r == 0 && (d = readdir(open)) != NULL)
		if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0)
			r = walk_entry(w, dir, path, d->d_name, depth);
	closedir(open);
	return r;
}

static int
by_path(const void *x, const void *y)
{
	const struct tokens_file *a = x, *b = y;

	return str_cmp(a->path, b->path);
}

/* Sorts the files and leaves each path once. */
static void
take(struct walk *w, struct tokens_scope *s)
{
	struct tokens_file *v;
	size_t i, n = w->list.n / sizeof(*v);

	s->v = v = NEW_N(w->t->arena, struct tokens_file, n);
	if (n > 0)
		memcpy(v, w->list.p, w->list.n);
	buf_free(&w->list);
	qsort(v, n, sizeof(*v), by_path);
	for (s->n = i = 0; i < n; i++)
		if (i == 0 || !str_eq(v[i].path, v[i - 1].path))
			v[s->n++] = v[i];
}

/* All files below a directory, with paths relative to it. */
static int
scan(struct tokens *t, struct str skill, const char *dir,
    struct tokens_scope *s)
{
	struct walk w = { .t = t };
	int r = walk(&w, dir, STR(""), 0);

	*s = (struct tokens_scope){ .skill = skill, .dir = dir };
	take(&w, s);
	return r;
}

static int
scan_operands(struct tokens *t, struct tokens_scope *s)
{
	struct walk w = { .t = t };
	struct stat st;
	struct str path;
	size_t i;
	int r = 0;

	*s = (struct tokens_scope){ .skill = STR(""), .dir = "." };
	for (i = 0; r == 0 && i < t->call->nargs; i++) {
		const char *arg = t->call->args[i];

		if (stat(arg, &st) == -1) {
			r = err_sys(t->call->err, arg);
			break;
		}
		path = new_relative(t->arena, ".", arg);
		if (S_ISDIR(st.st_mode))
			r = walk(&w, arg, str_is(path, ".") ? STR("") : path,
			    0);
		else
			r = add_file(&w, arg, path);
	}
	take(&w, s);
	return r;
}

/* The workspace without operands. */
static int
scan_workspace(struct tokens *t, const struct catalog *c,
    struct tokens_scopes *out)
{
	size_t i;

	if (c->nskills == 0)
		return scan(t, STR(""), ".", out->v);
	if (c->single)
		return scan(t, STR(""), c->v[0].skill_dir, out->v);
	out->v = NEW_N(t->arena, struct tokens_scope, c->nskills);
	out->batch = true;
	out->n = 0;
	for (i = 0; i < c->n; i++)
		if (c->v[i].skill_dir != NULL && scan(t, c->v[i].name,
		    c->v[i].skill_dir, &out->v[out->n++]) == -1)
			return -1;
	return 0;
}

int
tokens_find(struct tokens *t, bool workspace, struct tokens_scopes *out)
{
	struct catalog_opts o = { .config = t->config };
	const struct catalog_entry *skill;
	struct catalog c;
	const char *first = t->call->nargs > 0 ? t->call->args[0] : NULL;

	*out = (struct tokens_scopes){ .v = NEW(t->arena,
		struct tokens_scope), .n = 1 };
	if (first != NULL && catalog_is_path(first))
		return scan_operands(t, out->v);
	if (first == NULL && !workspace)
		return scan(t, STR(""), ".", out->v);
	if (catalog_read(t->arena, &o, &c, t->call->err) == -1)
		return -1;
	if (first == NULL)
		return scan_workspace(t, &c, out);
	skill = catalog_find(&c, str_of(first));
	if (skill == NULL || skill->skill_dir == NULL)
		return catalog_not_found(&c, str_of(first), t->call->err);
	if (t->call->nargs > 1)
		return err_set(t->call->err, ERR_SCHEMA, "unexpected argument: "
		    "%s (only one skill can be named)", t->call->args[1]);
	return scan(t, STR(""), skill->skill_dir, out->v);
}

int
tokens_read(struct tokens *t, struct tokens_file *f, struct arena *scratch,
    struct str *text)
{
	struct err e = { 0 };

	if (os_read_plain(scratch, f->name, TOKENS_FILE_MAX, text, &e) == -1) {
		f->error = arena_str(t->arena, str_of(e.msg)).p;
		cmd_complain(&e);
		return -1;
	}
	f->bytes = text->n;
	f->lines = tokens_lines(*text);
	f->tokens = token_count(&t->counter, scratch, *text);
	return 0;
}

int
tokens_limits(struct tokens *t, struct tokens_scope *s)
{
	const char *root = t->config->project_dir != NULL ?
	    t->config->project_dir : ".";
	struct token_rules rules;
	struct str prefix, wide;
	size_t i;

	if (token_rules(t->arena, &t->settings, s->dir, &rules,
	    &t->notes) == -1)
		return -1;
	prefix = new_relative(t->arena, root, s->dir);
	for (i = 0; i < s->n; i++) {
		wide = str_is(prefix, ".") || str_starts(prefix, STR("..")) ?
		    STR("") : arena_fmt(t->arena, "%.*s/%.*s", STRF(prefix),
		    STRF(s->v[i].path));
		s->v[i].limit = token_limit(&t->settings, &rules,
		    s->v[i].path, wide);
	}
	return 0;
}
