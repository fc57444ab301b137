/* SPDX-License-Identifier: ISC */
/*
 * Snapshots belong to a suite.  Agents can reach them and create links, so
 * links are resolved before a snapshot is written.
 */
#include "grade/grader_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os_path.h"
#include "io/workspace.h"
#include "suite/spec.h"

static bool
is_dir(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Joins two paths; removes "dir/.." if dir is a real directory. */
static const char *
join(struct arena *a, const char *dir, const char *name)
{
	while (strncmp(name, "../", 3) == 0 && strcmp(dir, ".") != 0 &&
	    strcmp(dir, "/") != 0 && !str_ends(str_of(dir), STR("/")) &&
	    !str_ends(str_of(dir), STR("..")) && is_dir(dir)) {
		dir = spec_dir_of(a, dir);
		name += 3;
	}
	if (strcmp(dir, ".") == 0)
		return arena_cstr(a, str_of(name));
	return arena_fmt(a, strcmp(dir, "/") == 0 ? "%s%s" : "%s/%s", dir,
	    name).p;
}

/* Also a dangling link. */
static bool
has_entry(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

/* Searches the directories of the suite; a new snapshot goes into the first. */
static void
search_dirs(struct arena *a, const struct grader_snapshot_origin *h,
    const char *name, struct grader_snapshot *s)
{
	const char *dir[5], *path;
	size_t i, n = 0;

	dir[n++] = spec_dir_of(a, h->file);
	dir[n++] = h->suite->dir;
	if (h->task != NULL && h->task->def->context_dir != NULL)
		dir[n++] = h->task->def->context_dir;
	dir[n++] = join(a, h->suite->dir, "fixtures");
	dir[n++] = ".";
	s->roots[1] = dir[0];
	s->path = join(a, dir[0], name);
	for (i = 0; i < n && !s->exists; i++) {
		path = join(a, dir[i], name);
		if (!has_entry(path))
			continue;
		s->exists = true;
		s->roots[1] = dir[i];
		s->path = path;
	}
}

int
grader_snapshot_find(struct arena *a, const struct grader_snapshot_origin *h,
    struct str name, struct grader_snapshot *s)
{
	const char *plain = arena_cstr(a, name);

	*s = (struct grader_snapshot){ 0 };
	s->roots[0] = s->roots[1] = h->suite->dir;
	if (plain == NULL || name.n == 0)
		return -1;
	if (plain[0] == '/') {
		s->path = plain;
	} else if (h->context_dir.n > 0) {
		s->roots[1] = spec_path(a, spec_dir_of(a, h->file),
		    h->context_dir);
		s->path = join(a, s->roots[1], plain);
	} else {
		search_dirs(a, h, plain, s);
		return 0;
	}
	s->exists = has_entry(s->path);
	return 0;
}

/* The nearest existing directory; *rest is the path from there. */
static const char *
existing_dir(struct arena *a, const char *path, struct str *rest)
{
	char *dir = arena_cstr(a, str_of(path)), *slash;

	while ((slash = strrchr(dir, '/')) != NULL && slash > dir) {
		*slash = '\0';
		if (has_entry(dir)) {
			*rest = str_of(path + (slash - dir));
			return dir;
		}
	}
	*rest = str_of(path);
	return slash != NULL ? "/" : ".";
}

/* Why the snapshot must not be written, or NULL. */
static const char *
refusal(const struct grader_snapshot *s, const char *dir, struct str rest)
{
	struct stat st;

	if (!workspace_inside(rest) || str_ends(rest, STR("/")) ||
	    str_ends(rest, STR("/.")))
		return "its path does not name a file";
	if (!os_inside(s->roots[0], dir) && !os_inside(s->roots[1], dir))
		return "it is not in the suite's directory";
	if (lstat(s->path, &st) == -1)
		return NULL;
	if (S_ISLNK(st.st_mode))
		return "it is a symbolic link";
	return S_ISREG(st.st_mode) ? NULL : "it is not a regular file";
}

int
grader_snapshot_write(struct arena *a, const struct grader_snapshot *s,
    struct str text, struct err *e)
{
	struct str rest, beside;
	const char *dir = existing_dir(a, s->path, &rest), *why, *from;

	while (rest.n > 0 && rest.p[0] == '/') {
		rest.p++;
		rest.n--;
	}
	why = refusal(s, dir, rest);
	if (why != NULL)
		return err_set(e, ERR_SCHEMA, "%s", why);
	beside = arena_fmt(a, "%.*s.tmp.%ld", STRF(rest), (long)getpid());
	dir = arena_fmt(a, "%s/.", dir).p;	/* dir may be a link itself */
	if (workspace_put(a, dir, beside, text, e) == -1)
		return e->sys != 0 ? grader_sys_error(e, e->sys) : -1;
	from = join(a, dir, beside.p);
	if (rename(from, s->path) == 0)
		return 0;
	grader_sys_error(e, errno);
	(void)unlink(from);
	return -1;
}
