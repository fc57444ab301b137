/* SPDX-License-Identifier: ISC */
/*
 * The skills in a workspace, and git.
 *
 * Agents read skills in all directories above a workspace that is not in a
 * repository: it gets an empty one meanwhile, which stays if the agent has used
 * it.
 *
 * An agent that commits everything must not commit the skills.  A file of
 * patterns outside of the workspace hides them, and only git gets it, by the
 * environment of the agent (core.excludesFile): .git/info/exclude would also
 * hide them from agents that do not read ignored files, and .git can be a link
 * to a repository of the user.  The setting replaces that of the user, whose
 * patterns are copied.
 */
#include "run/run_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/os.h"
#include "base/os_path.h"
#include "results/cache.h"

enum { PATTERNS_MAX = 1 << 20 };	/* bytes of the user's patterns */

#define GIT_HEAD "ref: refs/heads/main\n"
#define GIT_CONFIG "[core]\n\trepositoryformatversion = 0\n" \
	"\tfilemode = true\n\tbare = false\n"

/*
 * The repository.
 */
/* Whether the working directory is in a repository of the workspace. */
static bool
is_in_repository(struct run_ask *q)
{
	size_t top = strlen(q->req.workspace);
	struct str dir = str_of(agent_cwd(&q->req));
	struct stat st;

	while (dir.n >= top) {
		if (lstat(arena_fmt(&q->arena, "%.*s/.git", STRF(dir)).p,
		    &st) == 0)
			return true;
		for (dir.n--; dir.n > 0 && dir.p[dir.n] != '/'; dir.n--)
			;
	}
	return false;
}

int
run_repository_place(struct run_ask *q, struct err *e)
{
	const char *top = q->req.workspace;
	struct arena *a = &q->arena;

	if (is_in_repository(q))
		return 0;
	q->skills.git = true;
	return workspace_make_dir(a, top, STR(".git/objects"), e) == -1 ||
	    workspace_make_dir(a, top, STR(".git/refs"), e) == -1 ||
	    workspace_put(a, top, STR(".git/HEAD"), STR(GIT_HEAD), e) == -1 ||
	    workspace_put(a, top, STR(".git/config"), STR(GIT_CONFIG),
	    e) == -1 ? -1 : 0;
}

static bool
is_empty(struct run_ask *q, const char *dir)
{
	size_t n = 0;

	return cache_names(&q->arena, dir, SIZE_MAX, &n) != NULL && n == 0;
}

bool
run_file_is(struct run_ask *q, const char *path, struct str text)
{
	struct str now;
	struct err e;

	return os_read_plain(&q->arena, path, text.n + 1, &now, &e) == 0 &&
	    str_eq(now, text);
}

/* Whether the repository is as we made it. */
static bool
is_unused(struct run_ask *q)
{
	const char *git = arena_fmt(&q->arena, "%s/.git",
	    q->req.workspace).p;
	const char *in[4];
	struct stat st;
	size_t n = 0;

	in[0] = arena_fmt(&q->arena, "%s/objects", git).p;
	in[1] = arena_fmt(&q->arena, "%s/refs", git).p;
	in[2] = arena_fmt(&q->arena, "%s/HEAD", git).p;
	in[3] = arena_fmt(&q->arena, "%s/config", git).p;
	return lstat(git, &st) == 0 && S_ISDIR(st.st_mode) &&
	    cache_names(&q->arena, git, SIZE_MAX, &n) != NULL && n == 4 &&
	    is_empty(q, in[0]) && is_empty(q, in[1]) &&
	    run_file_is(q, in[2], STR(GIT_HEAD)) &&
	    run_file_is(q, in[3], STR(GIT_CONFIG));
}

void
run_repository_remove(struct run_ask *q)
{
	if (q->skills.git && is_unused(q))
		workspace_take_out(&q->arena, q->req.workspace, STR(".git"),
		    false);
	q->skills.git = false;
}

/*
 * The patterns of the user.
 */
/* Whether a word is this one in lower case, case-insensitively. */
static bool
is_word(struct str s, const char *lower)
{
	size_t i;

	for (i = 0; i < s.n && lower[i] != '\0'; i++)
		if ((s.p[i] >= 'A' && s.p[i] <= 'Z' ? s.p[i] + 'a' - 'A' :
		    s.p[i]) != lower[i])
			return false;
	return i == s.n && lower[i] == '\0';
}

/* The value of core.excludesFile in the text of a configuration, or "". */
static struct str
excludes_of(struct str text)
{
	static const char key[] = "excludesfile";
	const size_t n = sizeof(key) - 1;
	struct str line, value = STR("");
	bool core = false;

	while (str_line(&text, &line)) {
		line = str_trim(line);
		if (line.n > 0 && *line.p == '[')
			core = is_word(line, "[core]");
		if (!core || line.n <= n ||
		    !is_word((struct str){ line.p, n }, key))
			continue;
		line = str_trim((struct str){ line.p + n, line.n - n });
		if (line.n == 0 || *line.p != '=')
			continue;
		value = str_trim((struct str){ line.p + 1, line.n - 1 });
		if (value.n > 1 && *value.p == '"' &&
		    value.p[value.n - 1] == '"')
			value = (struct str){ value.p + 1, value.n - 2 };
	}
	return value;
}

static struct str
read_text(struct run_ask *q, const char *path)
{
	struct str text;
	struct err e;

	return path != NULL && os_read_plain(&q->arena, path, PATTERNS_MAX,
	    &text, &e) == 0 ? text : STR("");
}

/* Where git looks for its configuration without a repository. */
static struct str
user_patterns(struct run_ask *q)
{
	const char *home = getenv("HOME"), *xdg = getenv("XDG_CONFIG_HOME");
	struct arena *a = &q->arena;
	struct str file;

	if (home == NULL || *home != '/' ||
	    agent_has_own_home(q->run->agent))
		return STR("");
	if (xdg == NULL || *xdg != '/')
		xdg = arena_fmt(a, "%s/.config", home).p;
	file = excludes_of(read_text(q, arena_fmt(a, "%s/.gitconfig",
	    home).p));
	if (file.n == 0)
		file = excludes_of(read_text(q, arena_fmt(a, "%s/git/config",
		    xdg).p));
	if (file.n == 0)
		file = arena_fmt(a, "%s/git/ignore", xdg);
	else if (str_starts(file, STR("~/")))
		file = arena_fmt(a, "%s%.*s", home, (int)file.n - 1,
		    file.p + 1);
	return read_text(q, arena_cstr(a, file));
}

/*
 * Our patterns.
 */
/* A path as git matches it literally. */
static void
put_literal(struct buf *b, struct str path)
{
	size_t i;

	for (i = 0; i < path.n; i++) {
		if (path.p[i] != '\0' && strchr("*?[]\\ ", path.p[i]) != NULL)
			buf_putc(b, '\\');
		buf_putc(b, path.p[i]);
	}
}

/* The repository is in the working directory, or above in the workspace. */
static void
put_patterns(struct buf *b, struct str cwd, size_t top, struct str placed)
{
	size_t n;

	for (n = cwd.n; n >= top; n--)
		if (n == cwd.n || cwd.p[n] == '/') {
			buf_putc(b, '\n');
			put_literal(b, (struct str){ cwd.p + n, cwd.n - n });
			buf_putc(b, '/');
			put_literal(b, placed);
		}
	buf_putc(b, '\n');
}

int
run_hide_from_git(struct run_ask *q, struct err *e)
{
	const struct field_strs *placed = &q->skills.placed;
	struct buf b = { 0 };
	const char *path;
	size_t i;

	if (placed->n == 0 || q->req.scratch == NULL)
		return 0;
	buf_put(&b, user_patterns(q));
	for (i = 0; i < placed->n; i++)
		put_patterns(&b, str_of(agent_cwd(&q->req)),
		    strlen(q->req.workspace), placed->v[i]);
	path = os_absolute(&q->arena, arena_fmt(&q->arena, "%sgit-ignore",
	    q->req.scratch).p);
	if (os_write_file(path, arena_take(&q->arena, &b), e) == -1)
		return -1;
	q->req.git_ignore = path;
	return 0;
}
