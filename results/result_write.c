/* SPDX-License-Identifier: ISC */
/*
 * result_write.c: writes the results file.
 *
 * The file is written under a temporary name in the same directory and renamed
 * when it is complete: a reader sees the old file or the new one.  After a
 * failure the temporary file is removed.
 */
#include "results/result.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"
#include "results/result_internal.h"

enum { TRIES = 16, PATH_BYTES = 4096 };

static int
cannot_write(struct err *e, const char *path)
{
	return result_fail(e, path, "cannot write the results");
}

/* Writes to a descriptor and closes it; sync: to the disk. */
static int
write_to(struct result_run *run, int fd, const char *path, bool sync,
    bool log, struct err *e)
{
	struct result_sink to = { .fd = fd, .path = path, .log = log };
	int rc = result_put_file(run, &to, e);

	if (rc == 0 && sync && fsync(fd) == -1 && errno != EINVAL)
		rc = cannot_write(e, path);
	if (close(fd) == -1 && rc == 0)
		rc = cannot_write(e, path);
	return rc;
}

/* A pipe or a device, which cannot be replaced by a rename. */
static int
write_directly(struct result_run *run, const char *path, struct err *e)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);

	return fd == -1 ? cannot_write(e, path) :
	    write_to(run, fd, path, false, true, e);
}

static bool
lock(int fd)
{
	struct flock l = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	return fcntl(fd, F_SETLK, &l) == 0;
}

/*
 * Creates a file beside path; its name is in the arena.  It is locked, so that
 * result_sweep() of another process knows that it is in use; if that has
 * removed it before, there is no link to it.
 */
static int
open_beside(struct arena *a, const char *path, const char **name)
{
	struct stat st;
	int i, fd = -1;

	for (i = 0; i < TRIES && fd == -1; i++) {
		*name = arena_fmt(a, "%s.tmp.%ld.%d", path, (long)getpid(),
		    i).p;
		fd = open(*name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
		    0600);
		if (fd == -1 && errno != EEXIST)
			break;
		if (fd == -1)
			continue;
		(void)lock(fd);
		if (fstat(fd, &st) == 0 && st.st_nlink == 0)
			os_close(&fd);
	}
	return fd;
}

/* The mode of the file that is replaced, or that of a new one. */
static mode_t
mode_of(const char *path)
{
	struct stat st;
	mode_t mask;

	if (stat(path, &st) == 0)
		return st.st_mode & 0777;
	mask = umask(0);
	(void)umask(mask);
	return 0644 & ~mask;
}

static int
write_beside(struct result_run *run, const char *path, struct err *e)
{
	bool sync = run->complete || run->ended || run->cancelled;
	const char *name = NULL;
	int rc, fd = open_beside(&run->scratch, path, &name);

	if (fd == -1)
		return cannot_write(e, path);
	rc = write_to(run, fd, path, sync, false, e);
	if (rc == 0 && (chmod(name, mode_of(path)) == -1 ||
	    rename(name, path) == -1))
		rc = result_fail(e, path, "cannot replace the results");
	if (rc == -1)
		(void)unlink(name);
	return rc;
}

/* Resolves symbolic links, so that the target is replaced, not the link. */
static const char *
follow(struct arena *a, const char *path)
{
	char *to = arena_raw(a, PATH_BYTES, 1);
	const char *slash;
	ssize_t n;
	int i, dir;

	for (i = 0; i < TRIES; i++) {
		n = readlink(path, to, PATH_BYTES);
		if (n <= 0 || n == PATH_BYTES)
			break;
		slash = to[0] == '/' ? NULL : strrchr(path, '/');
		dir = slash == NULL ? 0 : (int)(slash + 1 - path);
		path = arena_fmt(a, "%.*s%.*s", dir, path, (int)n, to).p;
	}
	return path;
}

int
result_write(struct result_run *run, const char *path, struct err *e)
{
	struct arena_mark mark = arena_save(&run->scratch);
	struct stat st;
	int rc;

	if ((run->strict ? lstat(path, &st) : stat(path, &st)) == 0 &&
	    !S_ISREG(st.st_mode)) {
		if (!S_ISDIR(st.st_mode) && !run->strict)
			return write_directly(run, path, e);
		errno = S_ISDIR(st.st_mode) ? EISDIR : EEXIST;
		return cannot_write(e, path);
	}
	if (run->strict)	/* somebody may have made another file there */
		rc = result_check_name(path, false, true, e) == -1 ? -1 :
		    write_beside(run, path, e);
	else
		rc = write_beside(run, follow(&run->scratch, path), e);
	arena_restore(&run->scratch, mark);
	return rc;
}

void
result_write_buf(struct result_run *run, struct buf *out)
{
	struct result_sink to = { .fd = -1, .path = "memory", .buf = out };
	struct err e;

	if (result_put_file(run, &to, &e) == -1)
		out->full = true;
}

int
result_write_pieces(struct result_run *run, void (*put)(void *, struct str),
    void *ctx, struct err *e)
{
	struct result_sink to = { .fd = -1, .path = "results", .put = put,
		.ctx = ctx };

	return result_put_file(run, &to, e);
}

/* Whether it is base.tmp.PID.N of another process. */
static bool
is_temporary(const char *name, const char *base)
{
	size_t n = strlen(base), k;
	char own[32];

	if (strncmp(name, base, n) != 0 || strncmp(name + n, ".tmp.", 5) != 0)
		return false;
	name += n + 5;
	snprintf(own, sizeof(own), "%ld.", (long)getpid());
	k = strspn(name, "0123456789");
	return k > 0 && name[k] == '.' && name[k + 1] != '\0' &&
	    name[k + 1 + strspn(name + k + 1, "0123456789")] == '\0' &&
	    strncmp(name, own, strlen(own)) != 0;
}

static void
remove_unlocked(int dir, const char *name)
{
	int fd = openat(dir, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK |
	    O_CLOEXEC);
	struct stat st;

	if (fd != -1 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_uid == geteuid() && st.st_nlink == 1 && lock(fd))
		(void)unlinkat(dir, name, 0);
	os_close(&fd);
}

void
result_sweep(const char *path)
{
	struct arena a = { 0 };
	const char *to = follow(&a, path), *slash = strrchr(to, '/');
	const char *base = slash == NULL ? to : slash + 1;
	const char *dir = slash == NULL ? "." : arena_cstr(&a,
	    (struct str){ to, (size_t)(slash + 1 - to) });
	DIR *list = opendir(dir);
	struct dirent *d;

	while (list != NULL && (d = readdir(list)) != NULL)
		if (is_temporary(d->d_name, base))
			remove_unlocked(dirfd(list), d->d_name);
	if (list != NULL)
		closedir(list);
	arena_free(&a);
}
