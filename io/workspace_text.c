/* SPDX-License-Identifier: ISC */
/* workspace_text.c: copies of files, one after the other, and diffs. */
#include "io/workspace_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"
#include "io/workspace.h"
#include "lib/diff.h"

static int
open_copies(struct workspace_copies *c)
{
	struct arena a = { 0 };
	char *path = arena_cstr(&a, arena_fmt(&a, "%s/waza-scan-XXXXXX",
	    workspace_tmp()));

	c->fd = mkstemp(path);
	if (c->fd != -1) {
		unlink(path);
		os_cloexec(c->fd);
	}
	arena_free(&a);
	return c->fd == -1 ? -1 : 0;
}

int64_t
workspace_keep(struct workspace_copies *c, struct str text)
{
	int64_t at = c->used;
	struct err e;

	if ((c->fd == -1 && open_copies(c) == -1) ||
	    lseek(c->fd, (off_t)at, SEEK_SET) == -1 ||
	    os_write_all(c->fd, text, &e) == -1)
		return -1;
	c->used += (int64_t)text.n;
	return at;
}

bool
workspace_kept(const struct workspace_copies *c, struct arena *a, int64_t off,
    size_t n, struct str *out)
{
	char *p = arena_raw(a, n + 1, 1);
	size_t got = 0;
	ssize_t r;

	while (got < n) {
		r = pread(c->fd, p + got, n - got,
		    (off_t)(off + (int64_t)got));
		if (r == -1 && errno == EINTR)
			continue;
		if (r <= 0)
			return false;
		got += (size_t)r;
	}
	*out = (struct str){ p, got };
	return true;
}

static bool
is_text(struct str s)
{
	return (s.n == 0 || memchr(s.p, '\0', s.n) == NULL) && utf8_valid(s);
}

/* The name of one side of a diff, on one line. */
static struct str
diff_name(struct arena *a, const char *side, struct str path)
{
	char *p;
	struct str s = arena_fmt(a, "%s/%.*s", side, STRF(path));

	for (p = arena_cstr(a, s), s = str_of(p); *p != '\0'; p++)
		if (*p == '\n' || *p == '\r' || *p == '\t')
			*p = '?';
	return s;
}

bool
workspace_diff(struct buf *b, struct str path, bool added, bool deleted,
    struct str before, struct str after, size_t max)
{
	struct diff_opts o = { .context = DIFF_CONTEXT, .max = max };
	struct arena a = { 0 };

	if (!is_text(before) || !is_text(after))
		return false;
	o.from = added ? STR("/dev/null") : diff_name(&a, "a", path);
	o.to = deleted ? STR("/dev/null") : diff_name(&a, "b", path);
	diff_unified(b, before, after, &o);
	arena_free(&a);
	return true;
}
