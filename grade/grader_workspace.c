/* SPDX-License-Identifier: ISC */
/*
 * Files of the workspace, for the kinds that read them.
 *
 * Neither the suite's settings nor the agent's links may lead out of the
 * workspace.  A path must be relative and, once "." and ".." are resolved,
 * name something below the workspace; links in it are followed and checked
 * too.  Only regular files are read, so that a pipe cannot block waza.
 */
#include "grade/grader_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"
#include "base/os_path.h"

/*
 * The path without ".", ".." and double slashes, in the arena.  p is NULL, and
 * *why is set, if it does not name something below its start.
 */
static struct str
normalize(struct arena *a, struct str path, const char **why)
{
	const struct str none = { NULL, 0 };
	char *out = arena_raw(a, path.n + 1, 1);
	size_t i, end, n = 0;
	struct str part;

	*why = "is not a path";
	if (path.n == 0 || memchr(path.p, '\0', path.n) != NULL)
		return none;
	*why = "is not relative to the workspace";
	if (path.p[0] == '/')
		return none;
	*why = "leads out of the workspace; name a file in it";
	for (i = 0; i < path.n; i = end + 1) {
		for (end = i; end < path.n && path.p[end] != '/'; end++)
			;
		part = (struct str){ path.p + i, end - i };
		if (part.n == 0 || str_is(part, "."))
			continue;
		if (str_is(part, "..")) {
			if (n == 0)
				return none;
			while (n > 0 && out[--n] != '/')
				;
			continue;
		}
		if (n > 0)
			out[n++] = '/';
		memcpy(out + n, part.p, part.n);
		n += part.n;
	}
	*why = "is the workspace itself";
	return (struct str){ n > 0 ? out : NULL, n };
}

bool
grader_check_path(struct grader_check *c, const struct json *node,
    struct str path)
{
	struct str q = grader_quote(c->tmp, path);
	const char *why;

	if (normalize(c->tmp, path, &why).p != NULL)
		return true;
	grader_note(c, FIELD_ERROR, node, "path %.*s %s", STRF(q), why);
	return false;
}

struct str
grader_left_out(struct arena *a, struct str path)
{
	struct str q = grader_quote(a, path);

	return arena_fmt(a, "cannot be checked: file %.*s is not recorded, and "
	    "neither are all other files", STRF(q));
}

const char *
grader_workspace_problem(const char *workspace)
{
	struct stat st;

	if (lstat(workspace, &st) != 0)
		return errno == ENOENT || errno == ENOTDIR ?
		    "the workspace was removed" :
		    "the workspace cannot be read";
	if (S_ISLNK(st.st_mode))
		return "the workspace was replaced by a symbolic link";
	return S_ISDIR(st.st_mode) ? NULL :
	    "the workspace is no longer a directory";
}

const char *
grader_workspace_path(struct arena *a, const char *root, struct str path,
    struct str *why)
{
	struct str q = grader_quote(a, path), rel;
	const char *reason;
	char *full = NULL;

	rel = normalize(a, path, &reason);
	if (rel.p != NULL) {
		full = arena_cstr(a, arena_fmt(a, "%s/%.*s", root, STRF(rel)));
		reason = "leads out of the workspace through a symbolic link";
		if (full != NULL && !os_inside(root, full))
			full = NULL;
	}
	if (full == NULL)
		*why = arena_fmt(a, "path %.*s %s", STRF(q), reason);
	return full;
}

int
grader_sys_error(struct err *e, int sys)
{
	err_set(e, ERR_SYS, "%s", strerror(sys));
	e->sys = sys;
	return -1;
}

int
grader_workspace_read(struct arena *a, const char *path, struct str *text,
    struct budget *b, struct err *e)
{
	struct stat st;
	int fd, rc;

	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return grader_sys_error(e, errno);
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		rc = err_set(e, ERR_SYS, "not a regular file");
	else if (st.st_size > GRADER_FILE_MAX ||
	    !budget_take(b, (uint64_t)st.st_size * GRADER_BYTE_COST))
		rc = err_set(e, ERR_LIMIT, "too large");
	else
		rc = os_read_fd(a, fd, "file", GRADER_FILE_MAX, text, e);
	if (rc == -1 && e->code == ERR_LIMIT)
		err_set(e, ERR_LIMIT, "larger than %d MiB",
		    GRADER_FILE_MAX >> 20);
	os_close(&fd);
	return rc;
}
