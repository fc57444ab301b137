/* SPDX-License-Identifier: ISC */
/*
 * result_place.c: where the results file goes.
 *
 * It comes to be beside its place, in the same directory, and is moved there
 * when it is whole; a reader sees the old one or the new one.  When that
 * fails, the file beside is removed.
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

/* What is no file of bytes (a pipe, a terminal) cannot be renamed over. */
static int
write_through(struct result_run *run, const char *path, struct err *e)
{
	int rc, fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);

	if (fd == -1)
		return result_fail(e, path, "cannot write the results");
	rc = result_put_file(run, &(struct result_sink){ fd, path, NULL }, e);
	if (close(fd) == -1 && rc == 0)
		rc = result_fail(e, path, "cannot write the results");
	return rc;
}

/* A new file beside path; its name is in the arena. */
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
	const char *name;
	int rc, fd = open_beside(&run->scratch, path, &name);

	if (fd == -1)
		return result_fail(e, path, "cannot write the results");
	rc = result_put_file(run, &(struct result_sink){ fd, path, NULL }, e);
	if (rc == 0 && (run->complete || run->ended || run->cancelled) &&
	    fsync(fd) == -1 && errno != EINVAL)
		rc = result_fail(e, path, "cannot write the results");
	if (close(fd) == -1 && rc == 0)
		rc = result_fail(e, path, "cannot write the results");
	if (rc == 0 && rename(name, path) == -1)
		rc = result_fail(e, path, "cannot replace the results");
	if (rc == -1)
		(void)unlink(name);
	return rc;
}

/* A link is kept, and what it leads to replaced. */
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
			return write_through(run, path, e);
		errno = EISDIR;
		return result_fail(e, path, "cannot write the results");
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
