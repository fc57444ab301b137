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

/* The length of a path without its last name; n if that is "..", or none. */
static size_t
without_last(const char *p, size_t n)
{
	size_t k = n;

	while (k > 0 && p[k - 1] != '/')
		k--;
	if (k == n || (n - k == 2 && memcmp(p + k, "..", 2) == 0))
		return n;
	return k > 1 ? k - 1 : k;
}

const char *
spec_shorten(struct arena *a, const char *path)
{
	char *out = arena_raw(a, strlen(path) + 2, 1);
	size_t n = 0, len, up;
	const char *p = path;

	if (*p == '/')
		out[n++] = '/';
	for (; *p != '\0'; p += len + (p[len] == '/')) {
		len = strcspn(p, "/");
		if (len == 0 || (len == 1 && *p == '.'))
			continue;
		if (len == 2 && memcmp(p, "..", 2) == 0 &&
		    (up = without_last(out, n)) < n) {
			n = up;
			continue;
		}
		if (n > 0 && out[n - 1] != '/')
			out[n++] = '/';
		memcpy(out + n, p, len);
		n += len;
	}
	out[n] = '\0';
	return spec_same_dir(path, out) ? out : arena_cstr(a, str_of(path));
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

static bool
is_dir(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
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

const char *
spec_reason(const struct err *e, const char *path)
{
	size_t n = strlen(path);

	if (e->code == ERR_SYS && e->sys == ENOENT)
		return "No such file or directory; check the path";
	if (e->code == ERR_SYS)
		return strerror(e->sys);
	if (strncmp(e->msg, path, n) == 0 &&
	    strncmp(e->msg + n, ": ", 2) == 0)
		return e->msg + n + 2;
	return e->msg;
}

/* Whether an editor has the file open: then its text is used. */
static bool
is_edited(const struct spec_loader *l, const char *path, struct str *text)
{
	return l->notes != NULL && l->notes->edited != NULL &&
	    l->notes->edited(l->notes->editor, path, text);
}

int
spec_read_text(struct spec_loader *l, const char *path,
    struct spec_where named, struct str *out)
{
	struct err e = { 0 };

	if (!spec_allowed(l->notes, named, path))
		return -1;
	if (is_edited(l, path, out)) {
		*out = arena_str(l->arena, *out);
		return 0;
	}
	if (os_read_file(l->arena, path, SPEC_TEXT_MAX, out, &e) == 0)
		return 0;
	spec_note(l->notes, FIELD_ERROR, named, "%.*s: %s",
	    STRF(spec_tail(path)), spec_reason(&e, path));
	return -1;
}

int
spec_parse_yaml(struct spec_loader *l, const char *path, struct str text,
    struct spec_file *f)
{
	struct spec_where at = { path, 0, 0 };
	struct err e = { 0 };

	*f = (struct spec_file){ path, spec_dir_of(l->arena, path), NULL };
	if (text.n > 0 && memchr(text.p, '\0', text.n) != NULL)
		spec_note(l->notes, FIELD_ERROR, at, "binary file, not YAML");
	else if ((f->root = yaml_read_one(l->arena, text, &e)) == NULL ||
	    yaml_check_json(f->root, &e) == -1) {
		at.line = e.line;
		at.col = e.col;
		spec_note(l->notes, FIELD_ERROR, at, "%s", e.msg);
		f->root = NULL;
	}
	return f->root == NULL ? -1 : 0;
}

int
spec_read_yaml(struct spec_loader *l, const char *path, struct spec_file *f)
{
	struct arena_mark mark = arena_save(&l->scratch);
	struct err e = { 0 };
	struct str text;
	int r = -1;

	if (is_edited(l, path, &text))
		r = spec_parse_yaml(l, path, text, f);
	else if (os_read_file(&l->scratch, path, YAML_BYTES, &text, &e) == -1)
		spec_note(l->notes, FIELD_ERROR, (struct spec_where){ path, 0,
		    0 }, "%s", spec_reason(&e, path));
	else
		r = spec_parse_yaml(l, path, text, f);
	arena_restore(&l->scratch, mark);
	return r;
}

void
spec_push(struct buf *list, struct str s)
{
	buf_put(list, (struct str){ (const char *)&s, sizeof(s) });
}

struct field_strs
spec_take(struct arena *a, struct buf *list)
{
	struct field_strs out = { NULL, list->n / sizeof(struct str) };

	out.v = NEW_N(a, struct str, out.n);
	if (out.n > 0)
		memcpy(out.v, list->p, list->n);
	buf_free(list);
	return out;
}

static struct field_strs
take_sorted(struct arena *a, struct buf *list)
{
	struct field_strs out = spec_take(a, list);

	if (out.n > 0)
		qsort(out.v, out.n, sizeof(*out.v), str_order);
	return out;
}

int
spec_list(struct arena *a, const char *dir, struct field_strs *names)
{
	DIR *d = opendir(dir);
	struct buf list = { 0 };
	struct dirent *e;

	*names = (struct field_strs){ 0 };
	if (d == NULL)
		return -1;
	while ((e = readdir(d)) != NULL)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			spec_push(&list, arena_str(a, str_of(e->d_name)));
	closedir(d);
	*names = take_sorted(a, &list);
	return 0;
}

/* The entries of each directory that match one part of the pattern. */
static struct field_strs
glob_part(struct arena *a, struct str part, const struct field_strs *dirs)
{
	struct field_strs names;
	struct buf list = { 0 };
	size_t i, k;
	char *p;

	for (i = 0; i < dirs->n; i++) {
		if (!glob_any(part)) {
			p = spec_join(a, dirs->v[i].p, part);
			if (spec_exists(p))
				spec_push(&list, str_of(p));
			continue;
		}
		if (spec_list(a, dirs->v[i].p, &names) == -1)
			continue;
		for (k = 0; k < names.n; k++)
			if (glob_match(part, names.v[k]))
				spec_push(&list, str_of(spec_join(a,
				    dirs->v[i].p, names.v[k])));
	}
	return spec_take(a, &list);
}

/* Adds a directory and all below it, except hidden ones and links. */
static void
add_below(struct arena *a, const char *dir, unsigned depth, struct buf *list)
{
	struct field_strs names;
	struct stat st;
	size_t i;
	char *path;

	spec_push(list, str_of(dir));
	if (depth == WALK_DEPTH || spec_list(a, dir, &names) == -1)
		return;
	for (i = 0; i < names.n; i++) {
		path = spec_join(a, dir, names.v[i]);
		if (names.v[i].p[0] != '.' && lstat(path, &st) == 0 &&
		    S_ISDIR(st.st_mode))
			add_below(a, path, depth + 1, list);
	}
}

/* "**": the directories and all below them, each once. */
static struct field_strs
glob_below(struct arena *a, const struct field_strs *dirs)
{
	struct buf list = { 0 };
	struct field_strs out;
	size_t i, n = 0;

	for (i = 0; i < dirs->n; i++)
		if (is_dir(dirs->v[i].p))
			add_below(a, dirs->v[i].p, 0, &list);
	out = take_sorted(a, &list);
	for (i = 0; i < out.n; i++)
		if (n == 0 || !str_eq(out.v[n - 1], out.v[i]))
			out.v[n++] = out.v[i];
	out.n = n;
	return out;
}

/* All files in these directories. */
static struct field_strs
files_of(struct arena *a, const struct field_strs *dirs)
{
	struct field_strs out = glob_part(a, STR("*"), dirs);
	size_t i, n = 0;

	for (i = 0; i < out.n; i++)
		if (!is_dir(out.v[i].p))
			out.v[n++] = out.v[i];
	out.n = n;
	return out;
}

struct field_strs
spec_glob(struct arena *a, const char *dir, struct str pattern)
{
	struct field_strs out = { NEW(a, struct str), pattern.n > 0 };
	const char *p = pattern.p, *end = p + pattern.n, *slash;
	bool deep = false;
	struct str part;

	out.v[0] = out.n > 0 && *p == '/' ? STR("/") : str_of(dir);
	while (p < end && out.n > 0) {
		slash = memchr(p, '/', (size_t)(end - p));
		if (slash == NULL)
			slash = end;
		part = (struct str){ p, (size_t)(slash - p) };
		if (str_is(part, "**")) {
			out = glob_below(a, &out);
			deep = true;
			if (slash == end)
				out = files_of(a, &out);
		} else if (part.n > 0 && !str_is(part, "."))
			out = glob_part(a, part, &out);
		p = slash < end ? slash + 1 : end;
	}
	if (deep && out.n > 0)
		qsort(out.v, out.n, sizeof(*out.v), str_order);
	return out;
}

/* Whether spec_find() enters a directory of that name. */
static bool
is_searched(struct str name)
{
	if (name.p[0] == '.')
		return str_is(name, ".github");
	return !str_is(name, "node_modules") && !str_is(name, "vendor");
}

static void
walk(struct arena *a, const char *dir, unsigned depth, struct buf *found)
{
	struct field_strs names;
	struct stat st;
	size_t i;
	char *path;

	if (depth > WALK_DEPTH || spec_list(a, dir, &names) == -1)
		return;
	for (i = 0; i < names.n; i++) {
		path = spec_join(a, dir, names.v[i]);
		if (str_is(names.v[i], "eval.yaml") ||
		    str_is(names.v[i], "eval.yml")) {
			if (stat(path, &st) == 0 && !S_ISDIR(st.st_mode))
				spec_push(found, str_of(path));
		} else if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode) &&
		    is_searched(names.v[i]))
			walk(a, path, depth + 1, found);
	}
}

int
spec_find(struct arena *a, const char *dir, struct field_strs *paths,
    struct err *e)
{
	struct buf list = { 0 };

	if (spec_list(a, dir, paths) == -1)
		return err_sys(e, dir);
	walk(a, dir, 0, &list);
	*paths = take_sorted(a, &list);
	return 0;
}
