/* SPDX-License-Identifier: ISC */
/*
 * Markdown files of a git repository, read by git itself (io/git.h).
 */
#include "cmd/skill/tokens.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/os.h"
#include "io/git.h"
#include "io/proc.h"

/* In the working directory, without git_open(): paths are relative to it. */
static struct git
repository(struct tokens *t)
{
	return (struct git){ .arena = t->arena, .needed_by =
	    "tokens compare" };
}

int
tokens_revision(struct tokens *t, const char *ref, bool missing,
    struct str *commit, struct err *e)
{
	const char *inside[] = { "rev-parse", "--is-inside-work-tree", NULL };
	const char *verify[] = { "rev-parse", "--verify", "--quiet",
		arena_fmt(t->arena, "%s^{commit}", ref).p, NULL };
	struct git g = repository(t);
	struct err why = { 0 };
	int r = git_run(&g, inside, STR(""), PROC_OUT_MAX, commit, &why);

	*e = why;
	if (r > 0 || (r == 0 && !str_is(str_trim(*commit), "true")))
		return err_set(e, ERR_SCHEMA, "not a git repository; tokens "
		    "compare needs the working tree of one%s%s%s", r > 0 ?
		    " (" : "", why.msg, r > 0 ? ")" : "");
	if (*ref == '-')	/* an option of git */
		return err_set(e, ERR_SCHEMA, "\"%.100s\" is not a revision",
		    ref);
	if (r == 0)
		r = git_run(&g, verify, STR(""), PROC_OUT_MAX, commit, e);
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
	struct tokens *t;
	struct buf blobs;	/* of struct tokens_blob */
};

static int
add_blob(struct list *l, const struct tokens_blob *b, struct err *e)
{
	if (l->blobs.n / sizeof(*b) >= TOKENS_FILES_MAX)
		return err_set(e, ERR_LIMIT, "more than 100,000 files");
	buf_put(&l->blobs, (struct str){ (const char *)b, sizeof(*b) });
	return 0;
}

/* A file that is too large is listed with its error. */
static bool
wants(void *arg, struct str path, int64_t bytes)
{
	struct list *l = arg;
	struct tokens_blob b = { .path = path };
	struct err e;

	if (!tokens_is_markdown(path))
		return false;
	if (bytes <= TOKENS_FILE_MAX)
		return true;
	b.error = arena_fmt(l->t->arena, "%.*s: larger than 16 MiB",
	    STRF(path)).p;
	(void)add_blob(l, &b, &e);
	return false;
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
	struct list l = { .t = t };
	struct git_choice choice = { wants, &l };
	struct git g = repository(t);
	struct git_file *v;
	struct tokens_blob b = { .error = NULL };
	size_t i, n;
	int r = git_files(&g, commit, NULL, &choice, &v, &n, e);

	for (i = 0; i < n && r == 0; i++) {
		if (v[i].link)
			continue;
		b.path = v[i].path;
		b.text = v[i].text;
		r = add_blob(&l, &b, e);
	}
	take(t, &l, tree);
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
	struct tokens_blob b = { .text = STR("") };

	if (!tokens_is_markdown(path) || lstat(name, &st) == -1 ||
	    !S_ISREG(st.st_mode))
		return 0;
	if (os_read_plain(t->arena, name, TOKENS_FILE_MAX, &b.text, &bad) ==
	    -1)
		b.error = arena_str(t->arena, str_of(bad.msg)).p;
	if (t->arena->used > GIT_BLOBS_MAX)
		return err_set(e, ERR_LIMIT, "the files of the working tree "
		    "have more than 256 MiB");
	b.path = arena_str(t->arena, path);
	return add_blob(l, &b, e);
}

int
tokens_worktree(struct tokens *t, struct tokens_tree *tree, struct err *e)
{
	static const char *const ls[] = { "ls-files", "-z", "--cached",
		"--others", "--exclude-standard", NULL };
	struct list l = { .t = t };
	struct git g = repository(t);
	struct str out;
	size_t i, n;
	int r = git_run(&g, ls, STR(""), GIT_LIST_MAX, &out, e) == 0 ? 0 : -1;

	while (r == 0 && out.n > 0)
		r = add_work_file(t, &l, git_word(&out, '\0'), e);
	take(t, &l, tree);
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
	struct git g = repository(t);

	return git_blob(&g, commit, arena_fmt(t->arena, "./%s", path),
	    TOKENS_FILE_MAX, text, e);
}
