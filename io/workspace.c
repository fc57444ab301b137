/* SPDX-License-Identifier: ISC */
/*
 * The directory of a trial.
 *
 * Every path is walked with openat and O_NOFOLLOW, one name at a time, so that
 * symbolic links left by an agent are never followed.  A walk holds one
 * descriptor per level, at most DEPTH_MAX; directories below that are moved up
 * before they are removed.
 */
#include "io/workspace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"

enum {
	DEPTH_MAX = 64,
	REMOVAL_FDS = 6,	/* descriptors: two for each level */
	PATH_ROOM = 1024,	/* bytes of a spare directory's path */
	FRESH_SEC = 1234567,	/* a modification time that no clock shows */
	FRESH_NSEC = 890123000
};

struct workspace_spare {
	struct workspace_spare *next;
	char *path;
};

/* The next name of a path; false at its end. */
static bool
next_name(struct str *path, struct str *name)
{
	const char *slash;

	while (path->n > 0 && *path->p == '/') {
		path->p++;
		path->n--;
	}
	if (path->n == 0)
		return false;
	slash = memchr(path->p, '/', path->n);
	name->p = path->p;
	name->n = slash != NULL ? (size_t)(slash - path->p) : path->n;
	path->p += name->n;
	path->n -= name->n;
	return true;
}

bool
workspace_inside(struct str path)
{
	struct str name;
	size_t depth = 0;

	if (path.n == 0 || *path.p == '/' ||
	    memchr(path.p, '\0', path.n) != NULL)
		return false;
	while (next_name(&path, &name)) {
		if (str_is(name, ".."))
			return false;
		depth += !str_is(name, ".");
	}
	return depth > 0 && depth <= DEPTH_MAX;
}

static int
open_dir(int at, const char *name)
{
	return openat(at, name,
	    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* A stream over an open directory, which stays open; NULL on failure. */
static DIR *
open_list(int dir)
{
	int fd = dup(dir);
	DIR *list = fd == -1 ? NULL : fdopendir(fd);

	if (list == NULL)
		os_close(&fd);
	else
		rewinddir(list);
	return list;
}

static bool
is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/*
 * Opens the directory of the path's last name and creates missing ones; *last
 * is that name.  -1 on failure.
 */
static int
open_parent(struct arena *a, int top, struct str path, char **last)
{
	int fd = dup(top), next;
	struct str name, rest = path;
	char *dir = NULL;

	*last = NULL;
	while (fd != -1 && next_name(&rest, &name)) {
		if (str_is(name, "."))
			continue;
		if (*last != NULL) {
			dir = *last;
			if (mkdirat(fd, dir, 0755) == -1 && errno != EEXIST)
				next = -1;
			else
				next = open_dir(fd, dir);
			close(fd);
			fd = next;
		}
		*last = arena_cstr(a, name);
	}
	return fd;
}

static int
put_file(struct arena *a, const char *dir, struct str path,
    struct str content, mode_t mode, struct err *e)
{
	int top, parent, fd, r = -1;
	char *name;

	if (dir == NULL || !workspace_inside(path))
		return err_set(e, ERR_SCHEMA,
		    "\"%.*s\" is not a path inside the workspace",
		    (int)(path.n < 100 ? path.n : 100), path.p);
	top = open_dir(AT_FDCWD, dir);
	if (top == -1)
		return err_sys(e, dir);
	parent = open_parent(a, top, path, &name);
	fd = parent == -1 ? -1 : openat(parent, name, O_WRONLY | O_CREAT |
	    O_TRUNC | O_NOFOLLOW | O_CLOEXEC, mode);
	if (fd == -1)
		err_sys(e, arena_fmt(a, "%s/%.*s", dir, STRF(path)).p);
	else
		r = os_write_all(fd, content, e);
	os_close(&fd);
	os_close(&parent);
	os_close(&top);
	return r;
}

int
workspace_put(struct arena *a, const char *dir, struct str path,
    struct str content, struct err *e)
{
	return put_file(a, dir, path, content, 0644, e);
}

/* The constant arguments while a tree is copied. */
struct copier {
	struct arena *arena;
	const char *dir;
	struct workspace_part *part;	/* NULL: everything */
	struct err *err;
};

static int copy_entries(struct copier *, int from, struct str path,
    unsigned depth);

/* Counts a file of a part; -1: it is over a limit. */
static int
count_file(struct copier *c, const struct stat *st)
{
	struct workspace_part *p = c->part;
	uint64_t left;

	if (p == NULL)
		return 0;
	left = p->max_bytes - p->bytes;
	if (p->files == p->max_files || (uint64_t)st->st_size > left)
		return err_set(c->err, ERR_LIMIT, "more than %zu files or "
		    "%zu MiB", p->max_files, p->max_bytes >> 20);
	p->files++;
	p->bytes += (size_t)st->st_size;
	return 0;
}

/* Copies an open file or directory; skips anything else. */
static int
copy_fd(struct copier *c, int fd, const char *name, struct str path,
    unsigned depth)
{
	struct str text;
	struct stat st;

	if (fstat(fd, &st) == -1)
		return err_sys(c->err, name);
	if (c->part != NULL && c->part->skip != NULL &&
	    c->part->skip(c->part->arg, name, &st))
		return 0;
	if (S_ISDIR(st.st_mode))
		return depth > 0 ? copy_entries(c, fd, path, depth - 1) :
		    err_set(c->err, ERR_LIMIT, "%s: nested too deeply", name);
	if (!S_ISREG(st.st_mode))
		return 0;
	if (count_file(c, &st) == -1)
		return -1;
	if (os_read_fd(c->arena, fd, name, WORKSPACE_FILE_MAX, &text,
	    c->err) == -1)
		return -1;
	return put_file(c->arena, c->dir, path, text,
	    st.st_mode & S_IXUSR ? 0755 : 0644, c->err);
}

static int
copy_entry(struct copier *c, int at, const char *name, struct str path,
    unsigned depth)
{
	struct arena_mark m = arena_save(c->arena);
	int fd, r;

	fd = openat(at, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	if (fd == -1)
		return errno == ELOOP ? 0 : err_sys(c->err, name);
	r = copy_fd(c, fd, name, path, depth);
	os_close(&fd);
	arena_restore(c->arena, m);
	return r;
}

static int
copy_entries(struct copier *c, int from, struct str path, unsigned depth)
{
	struct dirent *d;
	struct str to;
	int r = 0;
	DIR *list = open_list(from);

	if (list == NULL)
		return err_sys(c->err, "fdopendir");
	while (r == 0 && (d = readdir(list)) != NULL) {
		if (is_dots(d->d_name))
			continue;
		to = path.n == 0 ? str_of(d->d_name) : arena_fmt(c->arena,
		    "%.*s/%s", STRF(path), d->d_name);
		r = copy_entry(c, from, d->d_name, to, depth);
	}
	closedir(list);
	return r;
}

int
workspace_copy_part(struct arena *a, const char *dir, const char *from,
    struct str path, struct workspace_part *part, struct err *e)
{
	struct copier c = { a, dir, part, e };
	int fd, r;

	if (path.n > 0 && !workspace_inside(path))
		return workspace_put(a, dir, path, STR(""), e); /* fails */
	fd = open(from, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd == -1)
		return err_sys(e, from);
	r = copy_fd(&c, fd, from, path, DEPTH_MAX);
	os_close(&fd);
	return r;
}

int
workspace_copy(struct arena *a, const char *dir, const char *from,
    struct str path, struct err *e)
{
	return workspace_copy_part(a, dir, from, path, NULL, e);
}

int
workspace_make_dir(struct arena *a, const char *dir, struct str path,
    struct err *e)
{
	int top = open_dir(AT_FDCWD, dir), parent = -1, fd = -1, r = -1;
	char *name;

	if (top != -1 && workspace_inside(path))
		parent = open_parent(a, top, path, &name);
	if (parent != -1) {
		r = mkdirat(parent, name, 0755) == 0 ? 1 :
		    errno == EEXIST ? 0 : -1;
		fd = open_dir(parent, name);
	}
	if (fd == -1)
		r = err_sys(e, arena_fmt(a, "%s/%.*s", dir, STRF(path)).p);
	os_close(&fd);
	os_close(&parent);
	os_close(&top);
	return r;
}

struct removal {
	int top;		/* where deep directories are moved to */
	unsigned names;		/* used for them */
	bool moved;		/* more directories must be removed */
};

static void
move_up(struct removal *r, int dir, const char *name)
{
	char up[40];
	int rc;

	do {
		snprintf(up, sizeof(up), "moved.%u", r->names++);
		rc = renameat(dir, name, r->top, up);
	} while (rc == -1 && (errno == EEXIST || errno == ENOTEMPTY ||
	    errno == ENOTDIR));
	r->moved |= rc == 0;
}

static void remove_entries(struct removal *, int dir, unsigned depth);

/*
 * Makes the directory writable first: an agent may have changed its mode.  An
 * empty one needs no descriptor.
 */
static void
remove_dir(struct removal *r, int dir, const char *name, unsigned depth)
{
	int sub;

	if (unlinkat(dir, name, AT_REMOVEDIR) == 0)
		return;
	sub = open_dir(dir, name);
	if (sub == -1 && errno == EACCES &&
	    fchmodat(dir, name, 0700, 0) == 0)
		sub = open_dir(dir, name);
	if (sub == -1)
		return;
	fchmod(sub, 0700);
	if (depth > 0)
		remove_entries(r, sub, depth - 1);
	close(sub);
	if (unlinkat(dir, name, AT_REMOVEDIR) == -1 && depth == 0)
		move_up(r, dir, name);
}

static void
remove_entries(struct removal *r, int dir, unsigned depth)
{
	struct dirent *d;
	DIR *list = open_list(dir);

	if (list == NULL)
		return;
	while ((d = readdir(list)) != NULL)
		if (!is_dots(d->d_name) && unlinkat(dir, d->d_name, 0) == -1)
			remove_dir(r, dir, d->d_name, depth);
	closedir(list);
}

/* Removes the contents of an open directory. */
static void
empty_dir(int fd)
{
	struct removal r = { .top = fd };

	fchmod(fd, 0700);
	do {
		r.moved = false;
		remove_entries(&r, fd, DEPTH_MAX);
	} while (r.moved);
}

int
workspace_remove(const char *dir, struct err *e)
{
	int fd = open_dir(AT_FDCWD, dir);

	if (fd == -1)
		return errno == ENOENT ? 0 : err_sys(e, dir);
	empty_dir(fd);
	close(fd);
	return rmdir(dir) == -1 && errno != ENOENT ? err_sys(e, dir) : 0;
}

/* Removes a file, a tree or, if `empty`, only an empty directory. */
static void
take_entry(int dir, const char *name, bool empty)
{
	int fd;

	if (!empty && unlinkat(dir, name, 0) == 0)
		return;
	if (!empty && fchmodat(dir, name, 0700, 0) == 0 &&
	    (fd = open_dir(dir, name)) != -1) {
		empty_dir(fd);
		close(fd);
	}
	(void)unlinkat(dir, name, AT_REMOVEDIR);
}

/* Directories that the agent has made read-only are writable meanwhile. */
static void
take_path(struct arena *a, int dir, struct str path, bool empty)
{
	struct str name, rest = path, more;
	struct stat st, sub;
	char *entry;
	int fd;

	if (!next_name(&rest, &name) || fstat(dir, &st) == -1)
		return;
	if ((st.st_mode & S_IRWXU) != S_IRWXU)
		(void)fchmod(dir, (st.st_mode & 07777) | S_IRWXU);
	entry = arena_cstr(a, name);
	more = rest;
	if (!next_name(&more, &name))
		take_entry(dir, entry, empty);
	else if (fstatat(dir, entry, &sub, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISDIR(sub.st_mode)) {
		fd = open_dir(dir, entry);
		if (fd == -1 && errno == EACCES &&
		    fchmodat(dir, entry, 0700, 0) == 0)
			fd = open_dir(dir, entry);
		if (fd != -1) {
			take_path(a, fd, rest, empty);
			(void)fchmod(fd, sub.st_mode & 07777);
			close(fd);
		}
	}
	if ((st.st_mode & S_IRWXU) != S_IRWXU)
		(void)fchmod(dir, st.st_mode & 07777);
}

void
workspace_take_out(struct arena *a, const char *dir, struct str path,
    bool empty)
{
	int fd = open_dir(AT_FDCWD, dir);

	if (fd != -1 && workspace_inside(path))
		take_path(a, fd, path, empty);
	os_close(&fd);
}

const char *
workspace_tmp(void)
{
	const char *dir = getenv("TMPDIR");

	return dir != NULL && *dir != '\0' ? dir : "/tmp";
}

static int
make_dir(struct workspace_pool *pool, struct err *e)
{
	const char *tmp = workspace_tmp();
	char cwd[PATH_ROOM];

	if (pool->dir != NULL)
		return 0;
	/* make nothing that could not be removed */
	errno = EMFILE;
	if (os_fds_free(0) < REMOVAL_FDS)
		return err_sys(e, tmp);
	if (*tmp == '/')
		cwd[0] = '\0';
	else if (getcwd(cwd, sizeof(cwd)) == NULL)
		return err_sys(e, "getcwd");
	pool->dir = arena_cstr(pool->arena, arena_fmt(pool->arena,
	    "%s%s%s/" WORKSPACE_PREFIX "%ld-XXXXXX", cwd,
	    cwd[0] != '\0' ? "/" : "", tmp, (long)getpid()));
	if (mkdtemp(pool->dir) != NULL) {
		pool->owner = pool->keep ? -1 :
		    workspace_claim(pool->arena, pool->dir);
		return 0;
	}
	err_sys(e, pool->dir);
	pool->dir = NULL;
	return -1;
}

/*
 * Whether a directory is untouched.  It is created with a modification time
 * that no clock shows; adding the first entry changes that time.
 */
bool
workspace_is_fresh(const char *path, struct stat *st)
{
	return lstat(path, st) == 0 && S_ISDIR(st->st_mode) &&
	    (st->st_mode & 07777) == 0755 && st->st_uid == geteuid() &&
	    st->st_mtim.tv_sec == FRESH_SEC &&
	    st->st_mtim.tv_nsec == FRESH_NSEC;
}

static int
make_fresh(const char *path)
{
	const struct timespec t[] = { { .tv_nsec = UTIME_OMIT },
		{ .tv_sec = FRESH_SEC, .tv_nsec = FRESH_NSEC } };

	if (mkdir(path, 0755) == -1 || chmod(path, 0755) == -1)
		return -1;
	return utimensat(AT_FDCWD, path, t, 0);
}

static char *
take(struct workspace_pool *pool, struct arena *a, struct str name, bool retry,
    struct err *e)
{
	struct workspace_spare *s = pool->spare;
	char *path;

	if (make_dir(pool, e) == -1)
		return NULL;
	path = arena_cstr(a, arena_fmt(a, "%s/%.*s", pool->dir, STRF(name)));
	if (s != NULL) {
		pool->spare = s->next;
		s->next = pool->unused;
		pool->unused = s;
		if (rename(s->path, path) == 0)
			return path;
	}
	if (make_fresh(path) == 0)
		return path;
	if (errno == ENOENT && retry) {	/* somebody removed the pool */
		os_close(&pool->owner);
		pool->dir = NULL;
		pool->spare = NULL;
		return take(pool, a, name, false, e);
	}
	err_sys(e, path);
	return NULL;
}

char *
workspace_take(struct workspace_pool *pool, struct arena *a, struct str name,
    struct err *e)
{
	return take(pool, a, name, true, e);
}

/* Whoever copies a directory and back sets its times again: cp -a, rsync. */
static bool
is_empty(const char *path)
{
	DIR *d = opendir(path);
	const struct dirent *e;

	if (d == NULL)
		return false;
	while ((e = readdir(d)) != NULL)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			break;
	closedir(d);
	return e == NULL;
}

int
workspace_release(struct workspace_pool *pool, const char *path, struct err *e)
{
	struct workspace_spare *s;
	struct stat st;

	if (!workspace_is_fresh(path, &st) || strlen(path) >= PATH_ROOM ||
	    !is_empty(path))
		return workspace_remove(path, e);
	s = pool->unused;
	if (s != NULL)
		pool->unused = s->next;
	else {
		s = NEW(pool->arena, struct workspace_spare);
		s->path = arena_raw(pool->arena, PATH_ROOM, 1);
	}
	memcpy(s->path, path, strlen(path) + 1);
	s->next = pool->spare;
	pool->spare = s;
	return 0;
}

int
workspace_close(struct workspace_pool *pool, bool keep, struct err *e)
{
	struct workspace_spare *s;
	int r;

	if (pool->dir == NULL)
		return 0;
	if (!keep) {
		r = workspace_remove(pool->dir, e);
		os_close(&pool->owner);
		if (r == -1)	/* its descriptor may have been missing */
			r = workspace_remove(pool->dir, e);
		return r;
	}
	os_close(&pool->owner);
	for (s = pool->spare; s != NULL; s = s->next)
		rmdir(s->path);
	rmdir(pool->dir);	/* succeeds if nothing was kept */
	return 0;
}
