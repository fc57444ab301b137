/* SPDX-License-Identifier: ISC */
/*
 * Markdown files of a git repository, read by git itself.
 *
 * The repository may be a stranger's: settings of its .git/config that would
 * start programs or fetch objects are overridden, and names are passed on only
 * after git has resolved them to hashes.
 */
#include "cmd/skill/tokens.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/os.h"
#include "base/os_spawn.h"
#include "io/loop.h"
#include "io/proc.h"

enum {
	ARGS = 24,		/* of a command, with the last NULL */
	LIST_MAX = 64 << 20,	/* bytes of a list of files */
	ALL_MAX = 256 << 20,	/* bytes of all files of a revision */
	GIT_MS = 60000		/* for one command */
};

struct git {
	struct proc proc;
	bool done;
};

static void
on_done(void *arg)
{
	((struct git *)arg)->done = true;
}

/* Waits for the child; its output is in g->proc.  -1 and *e. */
static int
spawn(struct git *g, const struct proc_opts *o, struct err *e)
{
	struct loop *loop = loop_new(NULL, e);
	struct procs procs;
	int r = 1;

	if (loop == NULL)
		return -1;
	procs_init(&procs, loop, false);
	if (proc_start(&procs, &g->proc, o, e) == -1)
		r = e->sys == ENOENT ? err_set(e, ERR_SYS, "git is not "
		    "installed (not found in PATH); tokens compare needs it") :
		    -1;
	while (r == 1 && !g->done)
		r = loop_turn(loop, e);
	if (r == 0)
		r = g->done ? 0 : err_set(e, ERR_SYS, "git did not end");
	if (r == -1)
		proc_fini(&g->proc);
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
	for (i = s.n; i > 0 && s.p[i - 1] != '\n'; i--)
		;
	if (i == 0)
		return utf8_cut(s, 200);
	return utf8_cut((struct str){ s.p + i, s.n - i }, 200);
}

/*
 * Runs git with these arguments, which end with NULL.  *out is its output, in
 * the arena.  Returns its exit status, or -1 and *e.
 */
static int
git(struct tokens *t, const char *const *args, struct str in, size_t max,
    struct str *out, struct err *e)
{
	static const char *const common[] = { "git", "--no-optional-locks",
		"-c", "core.fsmonitor=", "-c", "core.hooksPath=/dev/null",
		"-c", "protocol.allow=never" };
	static const char *const set[] = { "GIT_TERMINAL_PROMPT=0",
		"GIT_NO_LAZY_FETCH=1", "LC_ALL=C" };
	const char *argv[ARGS] = { NULL };
	struct git g = { .done = false };
	struct proc_opts o = { .argv = argv, .in = in, .out_max = max,
		.stop_at_max = true, .timeout_ms = GIT_MS, .done = on_done,
		.arg = &g };
	size_t i;
	int status;

	memcpy(argv, common, sizeof(common));
	for (i = COUNTOF(common); *args != NULL && i + 1 < ARGS; i++)
		argv[i] = *args++;
	o.env = os_env(t->arena, set, COUNTOF(set));
	if (spawn(&g, &o, e) == -1)
		return -1;
	status = g.proc.res.status;
	if (g.proc.res.truncated)
		status = err_set(e, ERR_LIMIT, "git %s printed more than %zu "
		    "MiB", argv[COUNTOF(common)], max >> 20);
	else if (g.proc.res.timed_out)
		status = err_set(e, ERR_TIMEOUT, "git %s took longer than "
		    "60 s", argv[COUNTOF(common)]);
	else if (status == -1)
		err_set(e, ERR_SYS, "git was killed by signal %d",
		    g.proc.res.signo);
	else if (status > 0)
		err_set(e, ERR_SCHEMA, "git: %.*s",
		    STRF(last_line(buf_str(&g.proc.err.buf))));
	*out = arena_str(t->arena, buf_str(&g.proc.out.buf));
	proc_fini(&g.proc);
	return status;
}

/* The same, where a status other than 0 is an error. */
static int
git_ok(struct tokens *t, const char *const *args, struct str in, size_t max,
    struct str *out, struct err *e)
{
	return git(t, args, in, max, out, e) == 0 ? 0 : -1;
}

int
tokens_revision(struct tokens *t, const char *ref, bool missing,
    struct str *commit, struct err *e)
{
	const char *inside[] = { "rev-parse", "--is-inside-work-tree", NULL };
	const char *verify[] = { "rev-parse", "--verify", "--quiet",
		arena_fmt(t->arena, "%s^{commit}", ref).p, NULL };
	struct err why = { 0 };
	int r = git(t, inside, STR(""), PROC_OUT_MAX, commit, &why);

	*e = why;
	if (r > 0 || (r == 0 && !str_is(str_trim(*commit), "true")))
		return err_set(e, ERR_SCHEMA, "not a git repository; tokens "
		    "compare needs the working tree of one%s%s%s", r > 0 ?
		    " (" : "", why.msg, r > 0 ? ")" : "");
	if (*ref == '-')	/* an option of git */
		return err_set(e, ERR_SCHEMA, "\"%.100s\" is not a revision",
		    ref);
	if (r == 0)
		r = git(t, verify, STR(""), PROC_OUT_MAX, commit, e);
	if (r == 0) {
		*commit = str_trim(*commit);
		return 0;
	}
	*commit = STR("");
	if (r == -1 || strcmp(ref, "HEAD") == 0)
		return r == -1 ? -1 : 0;	/* no commit yet */
	return missing ? 1 : err_set(e, ERR_SCHEMA, "git knows no commit "
	    "\"%.100s\"", ref);
}

/*
 * Lists.
 */
struct list {
	struct buf blobs;	/* of struct tokens_blob */
	struct buf names;	/* hashes, one a line, in the same order */
};

static struct str
next_word(struct str *s, char end)
{
	const char *p = s->n > 0 ? memchr(s->p, end, s->n) : NULL;
	struct str word = { s->p, p != NULL ? (size_t)(p - s->p) : s->n };

	s->p += word.n + (p != NULL);
	s->n -= word.n + (p != NULL);
	return word;
}

static int
add_blob(struct list *l, struct str path, struct str hash, const char *error,
    struct err *e)
{
	struct tokens_blob b = { .path = path, .error = error };

	if (l->blobs.n / sizeof(b) >= TOKENS_FILES_MAX)
		return err_set(e, ERR_LIMIT, "more than 100,000 files");
	buf_put(&l->blobs, (struct str){ (const char *)&b, sizeof(b) });
	if (error == NULL)
		buf_fmt(&l->names, "%.*s\n", STRF(hash));
	return 0;
}

/* An entry of ls-tree -l: "MODE TYPE HASH SIZE\tPATH". */
static int
add_entry(struct tokens *t, struct list *l, struct str entry, struct err *e)
{
	struct str head = next_word(&entry, '\t'), mode, hash, size;
	struct buf b = { 0 };
	long long bytes;

	mode = next_word(&head, ' ');
	next_word(&head, ' ');
	hash = next_word(&head, ' ');
	size = str_trim(head);
	if (!str_starts(mode, STR("100")) || !tokens_is_markdown(entry))
		return 0;
	buf_put(&b, size);
	buf_putc(&b, '\0');
	bytes = strtoll(b.p, NULL, 10);
	buf_free(&b);
	return add_blob(l, entry, hash, bytes <= TOKENS_FILE_MAX ? NULL :
	    arena_fmt(t->arena, "%.*s: larger than 16 MiB", STRF(entry)).p,
	    e);
}

/* Gives the blobs their texts: "HASH blob SIZE\nTEXT\n" of each. */
static int
read_batch(struct str batch, struct tokens_tree *tree, struct err *e)
{
	struct str head;
	size_t i, size, k;

	for (i = 0; i < tree->n; i++) {
		if (tree->v[i].error != NULL)
			continue;
		head = next_word(&batch, '\n');
		next_word(&head, ' ');
		if (!str_is(next_word(&head, ' '), "blob"))
			return err_set(e, ERR_SCHEMA, "git has no content of "
			    "%.*s", STRF(utf8_cut(tree->v[i].path, 200)));
		for (size = k = 0; k < head.n && size < ALL_MAX; k++)
			size = size * 10 + (size_t)(head.p[k] - '0');
		if (size >= batch.n)
			return err_set(e, ERR_SCHEMA, "unexpected output of "
			    "git cat-file");
		tree->v[i].text = (struct str){ batch.p, size };
		batch = (struct str){ batch.p + size + 1, batch.n - size - 1 };
	}
	return 0;
}

static int
by_path(const void *x, const void *y)
{
	const struct tokens_blob *a = x, *b = y;

	return str_cmp(a->path, b->path);
}

static void
take(struct tokens *t, struct list *l, struct tokens_tree *tree)
{
	tree->n = l->blobs.n / sizeof(*tree->v);
	tree->v = NEW_N(t->arena, struct tokens_blob, tree->n);
	if (tree->n > 0)
		memcpy(tree->v, l->blobs.p, l->blobs.n);
	buf_free(&l->blobs);
}

int
tokens_tree(struct tokens *t, struct str commit, struct tokens_tree *tree,
    struct err *e)
{
	const char *ls[] = { "ls-tree", "-r", "-z", "-l",
		arena_str(t->arena, commit).p, NULL };
	static const char *const cat[] = { "cat-file", "--batch", NULL };
	struct list l = { { 0 }, { 0 } };
	struct str out;
	int r;

	*tree = (struct tokens_tree){ NULL, 0 };
	if (commit.n == 0)
		return 0;
	r = git_ok(t, ls, STR(""), LIST_MAX, &out, e);
	while (r == 0 && out.n > 0)
		r = add_entry(t, &l, next_word(&out, '\0'), e);
	take(t, &l, tree);
	if (r == 0 && l.names.n > 0)
		r = git_ok(t, cat, buf_str(&l.names), ALL_MAX, &out, e);
	if (r == 0 && l.names.n > 0)
		r = read_batch(out, tree, e);
	buf_free(&l.names);
	qsort(tree->v, tree->n, sizeof(*tree->v), by_path);
	return r;
}

static int
add_work_file(struct tokens *t, struct list *l, struct str path,
    struct err *e)
{
	const char *name = arena_cstr(t->arena, path);
	struct err bad = { 0 };
	struct stat st;
	struct str text = STR("");
	const char *error = NULL;
	struct tokens_blob *b;

	if (!tokens_is_markdown(path) || lstat(name, &st) == -1 ||
	    !S_ISREG(st.st_mode))
		return 0;
	if (os_read_plain(t->arena, name, TOKENS_FILE_MAX, &text, &bad) == -1)
		error = arena_str(t->arena, str_of(bad.msg)).p;
	if (t->arena->used > ALL_MAX)
		return err_set(e, ERR_LIMIT, "the files of the working tree "
		    "have more than 256 MiB");
	if (add_blob(l, arena_str(t->arena, path), STR(""), error, e) == -1)
		return -1;
	b = (struct tokens_blob *)(void *)(l->blobs.p + l->blobs.n -
	    sizeof(*b));
	b->text = text;
	return 0;
}

int
tokens_worktree(struct tokens *t, struct tokens_tree *tree, struct err *e)
{
	static const char *const ls[] = { "ls-files", "-z", "--cached",
		"--others", "--exclude-standard", NULL };
	struct list l = { { 0 }, { 0 } };
	struct str out;
	size_t i, n;
	int r = git_ok(t, ls, STR(""), LIST_MAX, &out, e);

	while (r == 0 && out.n > 0)
		r = add_work_file(t, &l, next_word(&out, '\0'), e);
	take(t, &l, tree);
	buf_free(&l.names);
	qsort(tree->v, tree->n, sizeof(*tree->v), by_path);
	/* a file in conflict is listed once for each version */
	for (i = n = 0; i < tree->n; i++)
		if (i == 0 || !str_eq(tree->v[i].path, tree->v[i - 1].path))
			tree->v[n++] = tree->v[i];
	tree->n = n;
	return r;
}

int
tokens_blob(struct tokens *t, struct str commit, const char *path,
    struct str *text, struct err *e)
{
	const char *show[] = { "cat-file", "blob", arena_fmt(t->arena,
		"%.*s:./%s", STRF(commit), path).p, NULL };
	int r;

	*text = (struct str){ NULL, 0 };
	if (commit.n == 0)
		return 0;
	r = git(t, show, STR(""), TOKENS_FILE_MAX, text, e);
	if (r > 0)
		*text = (struct str){ NULL, 0 };
	return r == -1 ? -1 : 0;
}
