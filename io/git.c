/* SPDX-License-Identifier: ISC */
/*
 * Asks git about revisions and changes.
 *
 * Comparing the working tree makes git apply filters (filter.NAME.clean) to
 * its files.  Those of the user and of the system stay as they are; those of
 * the repository are programs of a stranger, so git_open() lists and empties
 * them.
 */
#include "io/git_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/os_path.h"
#include "base/os_spawn.h"
#include "io/loop.h"
#include "io/proc.h"

enum { GIT_MS = 60000 };	/* for one command */

const char *const git_vars[GIT_VARS] = { "GIT_DIR", "GIT_WORK_TREE",
	"GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR",
	"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_PREFIX" };

struct call {
	struct proc proc;
	bool done;
};

static void
on_done(void *arg)
{
	((struct call *)arg)->done = true;
}

/* Waits for the child; its output is in c->proc.  -1 and *e. */
static int
spawn(struct call *c, const struct proc_opts *o, const char *needed_by,
    struct err *e)
{
	struct loop *loop = loop_new(NULL, e);
	struct procs procs;
	int r = 1;

	if (loop == NULL)
		return -1;
	procs_init(&procs, loop, false);
	if (proc_start(&procs, &c->proc, o, e) == -1)
		r = e->sys == ENOENT ? err_set(e, ERR_SYS, "git is not "
		    "installed (not found in PATH); %s needs it", needed_by) :
		    -1;
	while (r == 1 && !c->done)
		r = loop_turn(loop, e);
	if (r == 0)
		r = c->done ? 0 : err_set(e, ERR_SYS, "git did not end");
	if (r == -1)
		proc_fini(&c->proc);
	procs_fini(&procs);
	loop_free(loop);
	return r == -1 ? -1 : 0;
}

/* The last line of stderr, for messages. */
static struct str
last_line(struct str s)
{
	size_t i;

	s = str_trim(s);
	if (s.n == 0)
		return STR("");
	for (i = s.n; i > 0 && s.p[i - 1] != '\n'; i--)
		;
	return utf8_cut((struct str){ s.p + i, s.n - i }, 200);
}

/* Our environment without the variables that redirect git. */
static const char **
make_env(struct arena *a)
{
	static const char *const set[] = { "GIT_TERMINAL_PROMPT=0",
		"GIT_NO_LAZY_FETCH=1", "LC_ALL=C" };
	const char *all[GIT_VARS + COUNTOF(set)];

	memcpy(all, git_vars, sizeof(git_vars));
	memcpy(all + GIT_VARS, set, sizeof(set));
	return os_env(a, all, COUNTOF(all));
}

/* The whole command. */
static const char **
make_argv(const struct git *g, const char *const *args)
{
	static const char *const common[] = { "git", "--no-optional-locks",
		"--no-pager", "-c", "core.fsmonitor=", "-c",
		"core.hooksPath=/dev/null", "-c", "protocol.allow=never" };
	const char **argv;
	size_t i, n = 0, nargs = 0;

	while (args[nargs] != NULL)
		nargs++;
	argv = NEW_N(g->arena, const char *, COUNTOF(common) + 2 * g->noff +
	    nargs + 1);
	for (i = 0; i < COUNTOF(common); i++)
		argv[n++] = common[i];
	for (i = 0; i < g->noff; i++) {
		argv[n++] = "-c";
		argv[n++] = g->off[i];
	}
	memcpy(argv + n, args, nargs * sizeof(*args));
	return argv;
}

int
git_run(struct git *g, const char *const *args, struct str in, size_t max,
    struct str *out, struct err *e)
{
	struct call c = { .done = false };
	struct proc_opts o = { .argv = make_argv(g, args), .cwd = g->dir,
		.in = in, .out_max = max, .stop_at_max = true,
		.timeout_ms = GIT_MS, .done = on_done, .arg = &c };
	int status;

	o.env = make_env(g->arena);
	if (spawn(&c, &o, g->needed_by, e) == -1)
		return -1;
	status = c.proc.res.status;
	if (c.proc.res.truncated)
		status = err_set(e, ERR_LIMIT, "git %s printed more than %zu "
		    "MiB", args[0], max >> 20);
	else if (c.proc.res.timed_out)
		status = err_set(e, ERR_TIMEOUT, "git %s took longer than "
		    "60 s", args[0]);
	else if (status == -1)
		err_set(e, ERR_SYS, "git was killed by signal %d",
		    c.proc.res.signo);
	else if (status > 0)
		err_set(e, ERR_SCHEMA, "git: %.*s",
		    STRF(last_line(buf_str(&c.proc.err.buf))));
	*out = arena_str(g->arena, buf_str(&c.proc.out.buf));
	proc_fini(&c.proc);
	return status;
}

struct str
git_word(struct str *s, char end)
{
	const char *p = s->n > 0 ? memchr(s->p, end, s->n) : NULL;
	struct str word = { s->p, p != NULL ? (size_t)(p - s->p) : s->n };

	s->p += word.n + (p != NULL);
	s->n -= word.n + (p != NULL);
	return word;
}

/*
 * An entry is "SCOPE NUL KEY LF VALUE NUL".  "required" must be false, or git
 * would complain about the absence of the filter.
 */
int
git_read_filters(struct git *g, struct str out, struct err *e)
{
	struct str scope, key;

	g->off = NEW_N(g->arena, const char *, GIT_FILTERS_MAX);
	while (out.n > 0) {
		scope = git_word(&out, '\0');
		key = git_word(&out, '\0');
		key = git_word(&key, '\n');
		if (!str_is(scope, "local") && !str_is(scope, "worktree"))
			continue;
		if (g->noff == GIT_FILTERS_MAX)
			return err_set(e, ERR_LIMIT, "the repository has more "
			    "than %d settings of filters", GIT_FILTERS_MAX);
		g->off[g->noff++] = arena_fmt(g->arena, "%.*s=%s", STRF(key),
		    str_ends(key, STR(".required")) ? "false" : "").p;
	}
	return 0;
}

/* Empties the filters of the repository. */
static int
disable_filters(struct git *g, struct err *e)
{
	static const char *const list[] = { "config", "--show-scope", "-z",
		"--get-regexp", "^filter\\.", NULL };
	struct str out;
	int r = git_run(g, list, STR(""), PROC_OUT_MAX, &out, e);

	if (r == 1)
		return 0;	/* none */
	return r != 0 ? -1 : git_read_filters(g, out, e);
}

int
git_open(struct git *g, struct err *e)
{
	static const char *const top[] = { "rev-parse", "--show-toplevel",
		NULL };
	struct err why = { 0 };
	struct str out;
	int r = git_run(g, top, STR(""), PROC_OUT_MAX, &out, &why);

	*e = why;
	if (r == -1)
		return -1;
	if (r == 0 && out.n > 0)
		out.n--;	/* the newline */
	if (r != 0 || out.n == 0)
		return err_set(e, ERR_SCHEMA, "%s is not in the working tree "
		    "of a git repository, which %s needs%s%s%s", g->dir !=
		    NULL ? g->dir : "this directory", g->needed_by,
		    r > 0 ? " (" : "", why.msg, r > 0 ? ")" : "");
	g->top = os_real(g->arena, arena_str(g->arena, out).p);
	if (g->top == NULL)
		return err_sys(e, arena_str(g->arena, out).p);
	g->dir = g->top;
	return disable_filters(g, e);
}

/* 0 and the hash; 1: there is no such commit; -1 and *e. */
static int
resolve(struct git *g, const char *ref, struct str *commit, struct err *e)
{
	const char *args[] = { "rev-parse", "--verify", "--quiet",
		arena_fmt(g->arena, "%s^{commit}", ref).p, NULL };
	int r = git_run(g, args, STR(""), PROC_OUT_MAX, commit, e);

	*commit = str_trim(*commit);
	return r > 0 ? 1 : r;
}

static int
merge_base(struct git *g, const char *ref, struct str with,
    struct str *commit, struct err *e)
{
	const char *args[] = { "merge-base", arena_str(g->arena, with).p,
		"HEAD", NULL };
	int r = git_run(g, args, STR(""), PROC_OUT_MAX, commit, e);

	*commit = str_trim(*commit);
	if (r > 0)
		return err_set(e, ERR_SCHEMA, "%.100s and HEAD have no common "
		    "commit here: fetch more history (git fetch --unshallow)",
		    ref);
	return r;
}

int
git_commit(struct git *g, const char *ref, struct str *commit, struct err *e)
{
	struct str s = str_of(ref);
	bool base = str_ends(s, STR("..."));
	const char *name;
	int r;

	if (base)
		s.n -= 3;
	name = arena_str(g->arena, s).p;
	if (*name == '-' || s.n == 0)
		return err_set(e, ERR_SCHEMA, "\"%.100s\" is not a revision",
		    ref);
	r = resolve(g, name, commit, e);
	if (r == 1)
		return err_set(e, ERR_SCHEMA, "git knows no commit \"%.100s\" "
		    "here", name);
	return r == 0 && base ? merge_base(g, name, *commit, commit, e) : r;
}

int
git_branch_point(struct git *g, const char **ref, struct str *commit,
    struct err *e)
{
	static const char *const vars[] = { "GITHUB_BASE_REF",
		"CI_MERGE_REQUEST_TARGET_BRANCH_NAME" };
	static const char *const names[] = { "origin/HEAD", "origin/main",
		"origin/master", "main", "master" };
	const char *v;
	size_t i;
	int r = 1;

	for (i = 0; i < COUNTOF(vars) && r == 1; i++)
		if ((v = getenv(vars[i])) != NULL && *v != '\0') {
			*ref = arena_fmt(g->arena, "origin/%.200s", v).p;
			r = resolve(g, *ref, commit, e);
			if (r == 1)
				return err_set(e, ERR_SCHEMA, "git knows no "
				    "branch %s, the target of this job (%s): "
				    "fetch it with its history", *ref,
				    vars[i]);
		}
	for (i = 0; i < COUNTOF(names) && r == 1; i++) {
		*ref = names[i];
		r = resolve(g, *ref, commit, e);
	}
	if (r == 1)
		return err_set(e, ERR_SCHEMA, "the repository has no branch "
		    "origin/HEAD, main or master to compare with: name a "
		    "commit, as in --changed=HEAD~1");
	return r == 0 ? merge_base(g, *ref, *commit, commit, e) : -1;
}

/*
 * Changes.
 */
static int
by_path(const void *x, const void *y)
{
	const struct git_change *a = x, *b = y;

	return str_cmp(a->path, b->path);
}

static int
add_change(struct buf *list, struct str path, char how, struct err *e)
{
	struct git_change c = { path, how };

	if (list->n / sizeof(c) >= GIT_FILES_MAX)
		return err_set(e, ERR_LIMIT, "more than %d files have changed",
		    GIT_FILES_MAX);
	if (path.n > 0)
		buf_put(list, (struct str){ (const char *)&c, sizeof(c) });
	return 0;
}

/* A file that left the index, but not the directory, has changed. */
static size_t
join_twins(struct git_change *v, size_t n)
{
	size_t i, k = 0;

	for (i = 0; i < n; i++)
		if (k > 0 && str_eq(v[k - 1].path, v[i].path))
			v[k - 1].how = 'M';
		else
			v[k++] = v[i];
	return k;
}

int
git_read_diff(struct buf *list, struct str s, struct err *e)
{
	struct str how;
	int r = 0;

	while (r == 0 && s.n > 0) {
		how = git_word(&s, '\0');
		r = add_change(list, git_word(&s, '\0'),
		    how.n > 0 ? how.p[0] : 'M', e);
	}
	return r;
}

int
git_read_others(struct buf *list, struct str s, struct err *e)
{
	int r = 0;

	while (r == 0 && s.n > 0)
		r = add_change(list, git_word(&s, '\0'), '?', e);
	return r;
}

size_t
git_sort_changes(struct git_change *v, size_t n)
{
	if (n == 0)
		return 0;
	qsort(v, n, sizeof(*v), by_path);
	return join_twins(v, n);
}

int
git_changes(struct git *g, struct str commit, struct git_change **out,
    size_t *n, struct err *e)
{
	const char *diff[] = { "diff", "--name-status", "-z", "--no-renames",
		"--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty",
		arena_str(g->arena, commit).p, "--", NULL };
	static const char *const others[] = { "ls-files", "-z", "--others",
		"--exclude-standard", NULL };
	struct buf list = { 0 };
	struct str s;
	int r = git_run(g, diff, STR(""), GIT_LIST_MAX, &s, e);

	if (r == 0)
		r = git_read_diff(&list, s, e);
	if (r == 0)
		r = git_run(g, others, STR(""), GIT_LIST_MAX, &s, e);
	if (r == 0)
		r = git_read_others(&list, s, e);
	*n = list.n / sizeof(**out);
	*out = NEW_N(g->arena, struct git_change, *n);
	if (*n > 0)
		memcpy(*out, list.p, list.n);
	*n = git_sort_changes(*out, *n);
	buf_free(&list);
	return r == 0 ? 0 : -1;
}
