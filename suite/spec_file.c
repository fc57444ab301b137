/* SPDX-License-Identifier: ISC */
/*
 * Files and directories of a suite: reading and finding them.
 *
 * Directories are sorted by bytes, so that a suite has the same tasks in the
 * same order on every system.  Walks do not follow symbolic links to
 * directories, so they terminate.
 */
#include "suite/spec_internal.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/os.h"
#include "lib/glob.h"
#include "yaml_lite.h"

enum { WALK_DEPTH = 64 };

const char *
spec_dir_of(struct arena *a, const char *path)
{
	const char *slash = path != NULL ? strrchr(path, '/') : NULL;

	if (slash == NULL)
		return ".";
	if (slash == path)
		return "/";
	return arena_cstr(a, (struct str){ path, (size_t)(slash - path) });
}

bool
spec_same_dir(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
	    x.st_ino == y.st_ino;
}

/* By name where possible: "a/b" gives "a", but ".." gives "../..". */
const char *
spec_parent(struct arena *a, const char *dir)
{
	struct str s = str_of(dir), last;
	const char *up;

	while (s.n > 1 && s.p[s.n - 1] == '/')
		s.n--;
	for (last = s; last.n > 0 && last.p[last.n - 1] != '/'; last.n--)
		;
	if (str_is(s, "."))
		up = "..";
	else if (str_ends(s, STR("..")) && (s.n == 2 || s.p[s.n - 3] == '/'))
		up = spec_join(a, dir, STR(".."));
	else if (last.n == 0)
		up = ".";
	else
		up = arena_cstr(a, (struct str){ s.p,
		    last.n > 1 ? last.n - 1 : 1 });
	return spec_same_dir(dir, up) ? NULL : up;
}

/* A NUL would shorten the path; "?" makes it one that does not exist. */
char *
spec_join(struct arena *a, const char *dir, struct str path)
{
	size_t n = strlen(dir), i;
	char *out, *p;

	while (n > 1 && dir[n - 1] == '/')
		n--;
	if ((path.n > 0 && path.p[0] == '/') || strcmp(dir, ".") == 0)
		n = 0;
	p = out = arena_raw(a, n + path.n + 2, 1);
	memcpy(p, dir, n);
	p += n;
	if (n > 0 && p[-1] != '/')
		*p++ = '/';
	for (i = 0; i < path.n; i++)
		*p++ = path.p[i] == '\0' ? '?' : path.p[i];
	*p = '\0';
	return out;
}

bool
spec_exists(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0;
}

char *
spec_path(struct arena *a, const char *dir, struct str path)
{
	char *there = spec_join(a, dir, path), *here;

	if (spec_exists(there))
		return there;
	here = spec_join(a, ".", path);
	return spec_exists(here) ? here : there;
}

const char *
spec_task_dir(struct arena *a, const struct spec_task *t)
{
	return spec_dir_of(a, t->at.file);
}

/* The message of os_read_file without the path that it begins with. */
static const char *
reason(const struct err *e, const char *path)
{
	size_t n = strlen(path);

	if (e->code == ERR_SYS)
		return strerror(e->sys);
	if (strncmp(e->msg, path, n) == 0 &&
	    strncmp(e->msg + n, ": ", 2) == 0)
		return e->msg + n + 2;
	return e->msg;
}

int
spec_read_text(struct spec_loader *l, const char *path,
    struct spec_where named, struct str *out)
{
	struct err e = { 0 };

	if (os_read_file(l->arena, path, SPEC_TEXT_MAX, out, &e) == 0)
		return 0;
	spec_note(l->notes, FIELD_ERROR, named, "%.*s: %s",
	    STRF(spec_tail(path)), reason(&e, path));
	return -1;
}

int
spec_read_yaml(struct spec_loader *l, const char *path, struct spec_file *f)
{
	struct arena_mark mark = arena_save(&l->scratch);
	struct spec_where at = { path, 0, 0 };
	struct err e = { 0 };
	struct str text;

	*f = (struct spec_file){ path, spec_dir_of(l->arena, path), NULL };
	if (os_read_file(&l->scratch, path, YAML_BYTES, &text, &e) == -1)
		spec_note(l->notes, FIELD_ERROR, at, "%s", reason(&e, path));
	else if (text.n > 0 && memchr(text.p, '\0', text.n) != NULL)
		spec_note(l->notes, FIELD_ERROR, at, "binary file, not YAML");
	else if ((f->root = yaml_read_one(l->arena, text, &e)) == NULL) {
		at.line = e.line;
		at.col = e.col;
		spec_note(l->notes, FIELD_ERROR, at, "%s", e.msg);
	}
	arena_restore(&l->scratch, mark);
	return f->root == NULL ? -1 : 0;
}

static int
by_bytes(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void
spec_push_path(struct buf *list, char *path)
{
	buf_put(list, (struct str){ (const char *)&path, sizeof(path) });
}

void
spec_take_paths(struct arena *a, struct buf *list, struct spec_paths *out)
{
	out->n = list->n / sizeof(char *);
	out->v = NEW_N(a, char *, out->n + 1);
	if (list->n > 0)
		memcpy(out->v, list->p, list->n);
	buf_free(list);
}

static void
sort(struct spec_paths *paths)
{
	if (paths->n > 0)
		qsort(paths->v, paths->n, sizeof(*paths->v), by_bytes);
}

int
spec_list(struct arena *a, const char *dir, struct spec_paths *names)
{
	DIR *d = opendir(dir);
	struct buf list = { 0 };
	struct dirent *e;

	*names = (struct spec_paths){ 0 };
	if (d == NULL)
		return -1;
	while ((e = readdir(d)) != NULL)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			spec_push_path(&list, spec_join(a, ".",
			    str_of(e->d_name)));
	closedir(d);
	spec_take_paths(a, &list, names);
	sort(names);
	return 0;
}

/* The entries of each directory that match one part of the pattern. */
static void
glob_part(struct arena *a, struct str part, const struct spec_paths *dirs,
    struct spec_paths *out)
{
	struct spec_paths names;
	struct buf list = { 0 };
	size_t i, k;
	char *p;

	for (i = 0; i < dirs->n; i++) {
		if (!glob_any(part)) {
			p = spec_join(a, dirs->v[i], part);
			if (spec_exists(p))
				spec_push_path(&list, p);
			continue;
		}
		if (spec_list(a, dirs->v[i], &names) == -1)
			continue;
		for (k = 0; k < names.n; k++)
			if (glob_match(part, str_of(names.v[k])))
				spec_push_path(&list, spec_join(a, dirs->v[i],
				    str_of(names.v[k])));
	}
	spec_take_paths(a, &list, out);
}

void
spec_glob(struct arena *a, const char *dir, struct str pattern,
    struct spec_paths *out)
{
	struct str root = str_of(dir), part;
	const char *p = pattern.p, *end = p + pattern.n, *slash;

	if (pattern.n > 0 && *p == '/')
		root = STR("/");
	out->v = NEW_N(a, char *, 1);
	out->v[0] = arena_cstr(a, root);
	out->n = 1;
	while (p < end && out->n > 0) {
		slash = memchr(p, '/', (size_t)(end - p));
		if (slash == NULL)
			slash = end;
		part = (struct str){ p, (size_t)(slash - p) };
		if (part.n > 0 && !str_is(part, "."))
			glob_part(a, part, out, out);
		p = slash < end ? slash + 1 : end;
	}
	if (pattern.n == 0)
		out->n = 0;
}

static bool
is_searched(const char *name)
{
	if (name[0] == '.')
		return strcmp(name, ".github") == 0;
	return strcmp(name, "node_modules") != 0 && strcmp(name, "vendor") != 0;
}

static void
walk(struct arena *a, const char *dir, unsigned depth, struct buf *found)
{
	struct spec_paths names;
	struct stat st;
	size_t i;
	char *path;

	if (depth > WALK_DEPTH || spec_list(a, dir, &names) == -1)
		return;
	for (i = 0; i < names.n; i++) {
		path = spec_join(a, dir, str_of(names.v[i]));
		if (strcmp(names.v[i], "eval.yaml") == 0 ||
		    strcmp(names.v[i], "eval.yml") == 0) {
			if (stat(path, &st) == 0 && !S_ISDIR(st.st_mode))
				spec_push_path(found, path);
		} else if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode) &&
		    is_searched(names.v[i]))
			walk(a, path, depth + 1, found);
	}
}

int
spec_find(struct arena *a, const char *dir, struct field_strs *paths,
    struct err *e)
{
	struct spec_paths names;
	struct buf list = { 0 };
	size_t i;

	if (spec_list(a, dir, &names) == -1)
		return err_sys(e, dir);
	walk(a, dir, 0, &list);
	spec_take_paths(a, &list, &names);
	sort(&names);
	paths->n = names.n;
	paths->v = NEW_N(a, struct str, names.n);
	for (i = 0; i < names.n; i++)
		paths->v[i] = str_of(names.v[i]);
	return 0;
}
