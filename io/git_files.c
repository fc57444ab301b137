/* SPDX-License-Identifier: ISC */
/*
 * The files of a commit, read by git itself: ls-tree lists them, and one
 * cat-file prints their contents.
 */
#include "io/git_internal.h"

#include <stdlib.h>
#include <string.h>

#include "io/proc.h"

/* Digits, as far as they go; at most GIT_BLOBS_MAX. */
static int64_t
number(struct str s)
{
	int64_t n = 0;
	size_t i;

	for (i = 0; i < s.n && s.p[i] >= '0' && s.p[i] <= '9' &&
	    n < GIT_BLOBS_MAX; i++)
		n = n * 10 + (s.p[i] - '0');
	return n;
}

/* An entry of ls-tree -l: "MODE TYPE HASH SIZE\tPATH". */
static int
add_entry(struct git_list *l, struct str entry, const struct git_choice *c,
    struct err *e)
{
	struct str head = git_word(&entry, '\t'), mode, hash;
	struct git_file f = { .path = entry };

	mode = git_word(&head, ' ');
	(void)git_word(&head, ' ');
	hash = git_word(&head, ' ');
	f.link = str_starts(mode, STR("120"));
	f.program = str_is(mode, "100755");
	if ((!f.link && !str_starts(mode, STR("100"))) ||
	    (c != NULL && !c->wants(c->arg, f.path, number(str_trim(head)))))
		return 0;
	if (l->files.n / sizeof(f) >= GIT_FILES_MAX)
		return err_set(e, ERR_LIMIT, "more than %d files",
		    GIT_FILES_MAX);
	buf_put(&l->files, (struct str){ (const char *)&f, sizeof(f) });
	buf_fmt(&l->names, "%.*s\n", STRF(hash));
	return 0;
}

int
git_read_tree(struct git_list *l, struct str s, const struct git_choice *c,
    struct err *e)
{
	int r = 0;

	while (r == 0 && s.n > 0)
		r = add_entry(l, git_word(&s, '\0'), c, e);
	return r;
}

/* Each is "HASH blob SIZE\nTEXT\n". */
int
git_read_batch(struct str batch, struct git_file *v, size_t n, struct err *e)
{
	struct str head;
	size_t i, size;

	for (i = 0; i < n; i++) {
		head = git_word(&batch, '\n');
		(void)git_word(&head, ' ');
		if (!str_is(git_word(&head, ' '), "blob"))
			return err_set(e, ERR_SCHEMA, "git has no content of "
			    "%.*s", STRF(utf8_cut(v[i].path, 200)));
		size = (size_t)number(head);
		if (size >= batch.n)
			return err_set(e, ERR_SCHEMA, "unexpected output of "
			    "git cat-file");
		v[i].text = (struct str){ batch.p, size };
		batch.p += size + 1;
		batch.n -= size + 1;
	}
	return 0;
}

static int
by_path(const void *x, const void *y)
{
	const struct git_file *a = x, *b = y;

	return str_cmp(a->path, b->path);
}

int
git_files(struct git *g, struct str commit, const char *dir,
    const struct git_choice *c, struct git_file **out, size_t *n,
    struct err *e)
{
	const char *ls[] = { "ls-tree", "-r", "-z", "-l", g->top != NULL ?
		"--full-tree" : "-r", arena_str(g->arena, commit).p, dir,
		NULL };
	static const char *const cat[] = { "cat-file", "--batch", NULL };
	struct git_list l = { { 0 }, { 0 } };
	struct str s;
	int r;

	*out = NULL;
	*n = 0;
	if (commit.n == 0)
		return 0;
	r = git_run(g, ls, STR(""), GIT_LIST_MAX, &s, e);
	if (r == 0)
		r = git_read_tree(&l, s, c, e);
	if (r == 0 && l.names.n > 0)
		r = git_run(g, cat, buf_str(&l.names), GIT_BLOBS_MAX, &s, e);
	if (r == 0 && l.names.n > 0) {
		*n = l.files.n / sizeof(**out);
		*out = NEW_N(g->arena, struct git_file, *n);
		memcpy(*out, l.files.p, l.files.n);
		r = git_read_batch(s, *out, *n, e);
		qsort(*out, *n, sizeof(**out), by_path);
	}
	buf_free(&l.files);
	buf_free(&l.names);
	return r == 0 ? 0 : -1;
}

int
git_blob(struct git *g, struct str commit, struct str path, size_t max,
    struct str *text, struct err *e)
{
	const char *show[] = { "cat-file", "blob", arena_fmt(g->arena,
		"%.*s:%.*s", STRF(commit), STRF(path)).p, NULL };
	int r;

	*text = (struct str){ NULL, 0 };
	if (commit.n == 0)
		return 0;
	r = git_run(g, show, STR(""), max, text, e);
	if (r > 0)
		*text = (struct str){ NULL, 0 };
	return r == -1 ? -1 : 0;
}
