/* SPDX-License-Identifier: ISC */
/*
 * result_write.c: writes the results file.
 *
 * The file is written under a temporary name in the same directory and renamed
 * when it is complete: a reader sees the old file or the new one.  After a
 * failure the temporary file is removed.
 */
#include "results/result.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "results/result_internal.h"

enum { TRIES = 16, PATH_BYTES = 4096 };

static int
cannot_write(struct err *e, const char *path)
{
	return result_fail(e, path, "cannot write the results");
}

/* Writes to a descriptor and closes it. */
static int
write_to(struct result_run *run, int fd, const char *path, bool sync,
    struct err *e)
{
	struct result_sink to = { fd, path, NULL };
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
	    write_to(run, fd, path, false, e);
}

/* Creates a file beside path; its name is in the arena. */
static int
open_beside(struct arena *a, const char *path, const char **name)
{
	int i, fd = -1;

	for (i = 0; i < TRIES && fd == -1; i++) {
		*name = arena_fmt(a, "%s.tmp.%ld.%d", path, (long)getpid(),
		    i).p;
		fd = open(*name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
		    0644);
		if (fd == -1 && errno != EEXIST)
			break;
	}
	return fd;
}

static int
write_beside(struct result_run *run, const char *path, struct err *e)
{
	bool sync = run->complete || run->ended || run->cancelled;
	const char *name;
	int rc, fd = open_beside(&run->scratch, path, &name);

	if (fd == -1)
		return cannot_write(e, path);
	rc = write_to(run, fd, path, sync, e);
	if (rc == 0 && rename(name, path) == -1)
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

	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
		if (!S_ISDIR(st.st_mode))
			return write_directly(run, path, e);
		errno = EISDIR;
		return cannot_write(e, path);
	}
	rc = write_beside(run, follow(&run->scratch, path), e);
	arena_restore(&run->scratch, mark);
	return rc;
}

void
result_write_buf(struct result_run *run, struct buf *out)
{
	struct result_sink to = { -1, "memory", out };
	struct err e;

	if (result_put_file(run, &to, &e) == -1)
		out->full = true;
}
