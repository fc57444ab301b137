/* SPDX-License-Identifier: ISC */
/*
 * The changes of a repository.  A path of a suite may lead through symbolic
 * links and "..", and its file may be deleted: its directory is resolved, and
 * of a link both the link and its target count.
 */
#include "cmd/run/change_set.h"

#include <string.h>
#include <sys/stat.h>

#include "base/os_path.h"

enum { MANY = 20, SMALL = 1 << 20 };	/* changes; bytes of a file */

int
cmd_changes_open(struct cmd_changes *c, struct arena *a, const char *dir,
    const char *ref, struct err *e)
{
	*c = (struct cmd_changes){ .git = { .arena = a, .dir = dir,
		.needed_by = "--changed" }, .ref = ref };
	if (git_open(&c->git, e) == -1)
		return -1;
	if (*ref == '\0' ? git_branch_point(&c->git, &c->ref, &c->commit, e) :
	    git_commit(&c->git, ref, &c->commit, e))
		return -1;
	if (git_changes(&c->git, c->commit, &c->v, &c->n, e) == -1)
		return -1;
	(void)NEW(&c->scratch, double);	/* a restored arena keeps its chunk */
	return 0;
}

void
cmd_changes_close(struct cmd_changes *c)
{
	arena_free(&c->scratch);
}

struct str
cmd_changes_since(const struct cmd_changes *c)
{
	return arena_fmt(c->git.arena, "%.100s (%.12s)", c->ref, c->commit.p);
}

/* The absolute path without "." and "..", links not followed. */
static struct str
clean(struct arena *a, const char *path)
{
	const char *from = os_absolute(a, path);
	struct str s = str_of(from), word;
	struct buf b = { 0 };

	while (s.n > 0) {
		word = git_word(&s, '/');
		if (word.n == 0 || str_is(word, "."))
			continue;
		if (str_is(word, "..")) {
			while (b.n > 0 && b.p[--b.n] != '/')
				;
			continue;
		}
		buf_putc(&b, '/');
		buf_put(&b, word);
	}
	return arena_take(a, &b);
}

/* The directory with its links followed, as far as it exists. */
static const char *
resolve(struct cmd_changes *c, struct str dir)
{
	struct arena *a = c->git.arena;
	struct str clean_dir;
	const char *real;
	size_t i;

	for (i = 0; i < CMD_CHANGE_DIRS; i++)
		if (c->dirs[i].real != NULL && str_eq(c->dirs[i].name, dir))
			return c->dirs[i].real;
	dir = arena_str(a, dir);
	real = os_real(a, dir.p);
	if (real == NULL) {
		clean_dir = clean(a, dir.p);
		real = arena_str(a, clean_dir).p;
	}
	i = c->next_dir++ % CMD_CHANGE_DIRS;
	c->dirs[i].name = dir;
	c->dirs[i].real = real;
	return real;
}

static bool
strip_top(const struct cmd_changes *c, struct str path, struct str *below)
{
	struct str top = str_of(c->git.top);

	if (str_is(top, "/"))
		top.n = 0;
	if (!str_starts(path, top) || (path.n > top.n &&
	    path.p[top.n] != '/'))
		return false;
	*below = (struct str){ path.p + top.n, path.n - top.n };
	if (below->n > 0) {
		below->p++;
		below->n--;
	}
	return true;
}

static bool
locate(struct cmd_changes *c, struct arena *a, const char *path,
    struct str *below)
{
	struct str s = str_of(path), name;
	const char *slash;

	while (s.n > 1 && s.p[s.n - 1] == '/')
		s.n--;
	slash = strrchr(arena_str(a, s).p, '/');
	name = slash != NULL ? str_of(slash + 1) : s;
	if (name.n == 0 || str_is(name, ".") || str_is(name, ".."))
		return strip_top(c, str_of(resolve(c, s)), below);
	s.n -= name.n;
	return strip_top(c, arena_fmt(a, "%s/%.*s", resolve(c, s.n > 0 ? s :
	    STR(".")), STRF(name)), below);
}

bool
cmd_changes_locate(struct cmd_changes *c, const char *path, struct str *below)
{
	return locate(c, c->git.arena, path, below);
}

static int
by_path(const void *key, const void *row)
{
	return str_cmp(*(const struct str *)key,
	    ((const struct git_change *)row)->path);
}

/* Compares "DIR/" with a path. */
static int
by_dir(const void *key, const void *row)
{
	struct str dir = *(const struct str *)key;
	struct str path = ((const struct git_change *)row)->path;
	size_t n = dir.n < path.n ? dir.n : path.n;
	int c = n > 0 ? memcmp(dir.p, path.p, n) : 0;

	if (c != 0 || dir.n == 0)
		return c;
	return path.n <= dir.n ? 1 : '/' - (unsigned char)path.p[dir.n];
}


static bool
is_below(struct str path, struct str dir)
{
	return dir.n == 0 || (path.n > dir.n && path.p[dir.n] == '/' &&
	    memcmp(path.p, dir.p, dir.n) == 0);
}

const struct git_change *
cmd_changes_at(const struct cmd_changes *c, struct str below, bool tree,
    size_t *all)
{
	struct str key;
	size_t i, n, k;

	i = search_first(&below, c->v, c->n, sizeof(*c->v), by_path);
	*all = 1;
	if (below.n > 0 && i < c->n && str_eq(c->v[i].path, below))
		return &c->v[i];
	i = search_first(&below, c->v, c->n, sizeof(*c->v), by_dir);
	for (n = 0; tree && i + n < c->n && is_below(c->v[i + n].path, below);
	    n++)
		*all = n + 1;
	if (n > 0)
		return &c->v[i];
	for (k = below.n; k > 0; k--) {	/* a submodule */
		if (below.p[k - 1] != '/')
			continue;
		key = (struct str){ below.p, k - 1 };
		i = search_first(&key, c->v, c->n, sizeof(*c->v), by_path);
		if (i < c->n && str_eq(c->v[i].path, key))
			return &c->v[i];
	}
	return NULL;
}

const struct git_change *
cmd_changes_find(struct cmd_changes *c, const char *path, bool tree,
    size_t *all)
{
	struct arena_mark mark;
	const struct git_change *found = NULL;
	struct str below;
	struct stat st;
	const char *real;

	mark = arena_save(&c->scratch);
	if (locate(c, &c->scratch, path, &below))
		found = cmd_changes_at(c, below, tree, all);
	if (found == NULL && lstat(path, &st) == 0 && S_ISLNK(st.st_mode) &&
	    (real = os_real(&c->scratch, path)) != NULL &&
	    strip_top(c, str_of(real), &below))
		found = cmd_changes_at(c, below, tree, all);
	arena_restore(&c->scratch, mark);
	return found;
}

/* One file of many is small, and a suite or one that it names. */
static bool
wants_old(void *arg, struct str path, int64_t bytes)
{
	const struct cmd_changes *c = arg;
	size_t i = search_first(&path, c->v, c->n, sizeof(*c->v), by_path);

	return bytes <= SMALL && i < c->n && str_eq(c->v[i].path, path);
}

/* Reads the old texts of many changes at once; a failure has no effect. */
static void
read_all(struct cmd_changes *c)
{
	struct git_choice choice = { wants_old, c };
	struct git_file *v;
	struct err e;
	size_t i, k, n;

	c->old = NEW_N(c->git.arena, struct str, c->n);
	if (git_files(&c->git, c->commit, NULL, &choice, &v, &n, &e) == -1)
		return;
	for (i = 0; i < n; i++) {
		k = search_first(&v[i].path, c->v, c->n, sizeof(*c->v),
		    by_path);
		if (!v[i].link)
			c->old[k] = v[i].text;
	}
}

int
cmd_changes_old(struct cmd_changes *c, const struct git_change *g,
    struct str *text, struct err *e)
{
	if (c->old == NULL && c->n > MANY)
		read_all(c);
	if (c->old != NULL && c->old[g - c->v].p != NULL) {
		*text = c->old[g - c->v];
		return 0;
	}
	return git_blob(&c->git, c->commit, g->path, CMD_CHANGE_OLD, text, e);
}

const char *
cmd_change_words(struct arena *a, const struct git_change *c)
{
	return arena_fmt(a, "%.*s %s", STRF(utf8_cut(c->path, 200)),
	    c->how == 'A' || c->how == '?' ? "is new" :
	    c->how == 'D' ? "was deleted" : "changed").p;
}
