/* SPDX-License-Identifier: ISC */
/*
 * Files that are created together.  All texts are written to temporary files
 * beside their destinations first; if that succeeds, the disk has room for
 * them, and each gets its name by link(2), which never replaces a file.  After
 * an error everything that was made is removed, in reverse order.  Nothing is
 * synced: the files can be made again.
 */
#include "skill/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"
#include "base/os_path.h"
#include "suite/spec.h"

static void
add(struct files *f, const char *path, struct str text, const char *label,
    bool replace)
{
	struct files_entry *e;
	struct stat st;

	if (f->v == NULL)
		f->v = NEW_N(f->arena, struct files_entry, FILES_MAX);
	f->full = f->full || f->n == FILES_MAX;
	if (f->full)
		return;
	e = &f->v[f->n++];
	e->path = path;
	e->label = label;
	e->text = text;
	e->state = lstat(path, &st) == -1 ? FILES_NEW : replace ?
	    FILES_REPLACED : FILES_KEPT;
}

void
files_add(struct files *f, const char *path, struct str text,
    const char *label)
{
	add(f, path, text, label, false);
}

void
files_replace(struct files *f, const char *path, struct str text,
    const char *label)
{
	add(f, path, text, label, true);
}

size_t
files_count(const struct files *f, enum files_state state)
{
	size_t i, n = 0;

	for (i = 0; i < f->n; i++)
		n += f->v[i].state == state;
	return n;
}

/* Makes a directory and those above it; remembers which were missing. */
static int
make_dir(struct files *f, const char *path, struct err *e)
{
	const char *up = spec_dir_of(f->arena, path);
	struct stat st;

	if (stat(path, &st) == 0)
		return S_ISDIR(st.st_mode) ? 0 : err_set(e, ERR_SYS,
		    "%s: a file is in the way of this directory", path);
	if (strcmp(up, path) != 0 && make_dir(f, up, e) == -1)
		return -1;
	if (mkdir(path, 0777) == -1)
		return errno == EEXIST ? 0 : err_sys(e, path);
	f->dirs[f->ndirs++] = path;
	return 0;
}

/* The number of directories that could be missing. */
static size_t
count_dirs(const struct files *f)
{
	const char *p;
	size_t i, n = 0;

	for (i = 0; i < f->n; i++)
		for (n++, p = f->v[i].path; *p != '\0'; p++)
			n += *p == '/';
	return n;
}

/* Whatever is at the path must be of the kind that is expected there. */
static int
check_kept(const struct files_entry *e, struct err *err)
{
	struct stat st;
	bool dir = e->text.p == NULL;

	if (stat(e->path, &st) == 0 && S_ISDIR(st.st_mode) != dir)
		return err_set(err, ERR_SYS, "%s: a %s is in the way of this "
		    "%s", e->path, dir ? "file" : "directory", dir ?
		    "directory" : "file");
	return 0;
}

static int
write_temp(struct files *f, struct files_entry *e, struct err *err)
{
	const char *dir = spec_dir_of(f->arena, e->path);
	unsigned char random[16];
	char name[37];
	int fd, sys = 0;

	if (make_dir(f, dir, err) == -1 ||
	    os_random(random, sizeof(random), err) == -1)
		return -1;
	hex_uuid(name, random);
	e->temp = spec_join(f->arena, dir, arena_fmt(f->arena, ".waza-%s",
	    name));
	fd = open(e->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd == -1) {
		e->temp = NULL;
		return err_sys(err, e->path);
	}
	if (os_write_all(fd, e->text, err) == -1)
		sys = err->sys;
	if (close(fd) == -1 && sys == 0)
		sys = errno;
	errno = sys;
	return sys == 0 ? 0 : err_sys(err, e->path);
}

/* Gives the file its name; where link() is impossible, by rename(). */
static int
publish(struct files_entry *e, struct err *err)
{
	struct stat st;

	if (e->state == FILES_NEW && link(e->temp, e->path) == 0) {
		e->made = true;
		return 0;
	}
	if (e->state == FILES_NEW && (errno == EEXIST ||
	    lstat(e->path, &st) == 0)) {
		e->state = FILES_KEPT;
		return 0;
	}
	if (rename(e->temp, e->path) == -1)
		return err_sys(err, e->path);
	e->temp = NULL;
	e->made = e->state == FILES_NEW;
	return 0;
}

int
files_check_dir(struct arena *a, const char *root, const char *dir,
    struct err *err)
{
	const char *at = dir, *up;
	struct stat st;

	for (; strcmp(up = spec_dir_of(a, at), at) != 0; at = up)
		if (lstat(at, &st) == 0 && S_ISLNK(st.st_mode) &&
		    os_inside(root, up) && !os_inside(root, at))
			return err_set(err, ERR_SCHEMA, "%s is a symbolic "
			    "link out of the project: name the directory that "
			    "it leads to", at);
	return 0;
}

static int
check_place(struct files *f, const struct files_entry *e, struct err *err)
{
	return files_check_dir(f->arena, f->root != NULL ? f->root : ".",
	    e->text.p == NULL ? e->path : spec_dir_of(f->arena, e->path), err);
}

static int
prepare(struct files *f, struct err *err)
{
	struct files_entry *e;

	for (e = f->v; e < f->v + f->n; e++)
		if (e->state != FILES_KEPT && check_place(f, e, err) == -1)
			return -1;
	for (e = f->v; e < f->v + f->n; e++)
		if ((e->state != FILES_NEW ? check_kept(e, err) :
		    e->text.p == NULL ? make_dir(f, e->path, err) : 0) == -1 ||
		    (e->state != FILES_KEPT && e->text.p != NULL &&
		    write_temp(f, e, err) == -1))
			return -1;
	return 0;
}

/* Replacements are last: they cannot be undone. */
static int
publish_all(struct files *f, struct err *err)
{
	static const enum files_state order[] = { FILES_NEW, FILES_REPLACED };
	struct files_entry *e;
	size_t i;

	for (i = 0; i < COUNTOF(order); i++)
		for (e = f->v; e < f->v + f->n; e++)
			if (e->state == order[i] && e->temp != NULL &&
			    !e->made && publish(e, err) == -1)
				return -1;
	return 0;
}

static void
undo(struct files *f)
{
	size_t i;

	for (i = f->n; i > 0; i--)
		if (f->v[i - 1].made)
			(void)unlink(f->v[i - 1].path);
	for (i = f->ndirs; i > 0; i--)
		(void)rmdir(f->dirs[i - 1]);
}

int
files_write(struct files *f, struct err *err)
{
	size_t i;
	int r;

	if (f->full)
		return err_set(err, ERR_LIMIT, "more than %d files at once",
		    FILES_MAX);
	f->dirs = NEW_N(f->arena, const char *, count_dirs(f) + 1);
	r = prepare(f, err);
	if (r == 0)
		r = publish_all(f, err);
	for (i = 0; i < f->n; i++)
		if (f->v[i].temp != NULL)
			(void)unlink(f->v[i].temp);
	if (r == -1)
		undo(f);
	return r;
}
