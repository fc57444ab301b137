/* SPDX-License-Identifier: ISC */
/* Two scans of a directory: the changes between them, and the limits. */
#include "io/workspace_scan.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"
#include "io/workspace.h"
#include "test/tool/tap.h"

static char dir[] = "/tmp/t_scan.XXXXXX";
static struct field_strs all;

static const char *
at(const char *name)
{
	static char path[4][256];
	static int i;

	i = (i + 1) % 4;
	snprintf(path[i], sizeof(path[i]), "%s/%s", dir, name);
	return path[i];
}

static void
put(const char *name, const char *text)
{
	struct err e;

	(void)os_write_file(at(name), str_of(text), &e);
}

static struct field_strs
list(struct str *v, size_t n)
{
	return (struct field_strs){ v, n };
}

static void
fill(void)
{
	struct err e;

	(void)workspace_remove(dir, &e);
	mkdir(dir, 0700);
	mkdir(at("src"), 0700);
	mkdir(at("target"), 0700);
	mkdir(at(".git"), 0700);
	mkdir(at("src/.git"), 0700);
	put("src/A.java", "one\ntwo\nthree\n");
	put("src/B.java", "b\n");
	put("src/C.bin", "c");
	put("target/out", "x\n");
	put("README", "r\n");
	put(".git/HEAD", "ref\n");
	put("src/.git/HEAD", "ref\n");
}

static struct workspace_scan *
scan(const char *top, const struct field_strs *include,
    const struct field_strs *exclude)
{
	return workspace_scan_new(top, &(struct workspace_scan_opts){
		WORKSPACE_SCAN_LIMITS, .include = include,
		.exclude = exclude });
}

static void
finish(struct workspace_scan *l)
{
	while (!workspace_scan_step(l, 1))
		;
}

static const struct workspace_change *
find(const struct workspace_scan *l, const char *path)
{
	size_t i;

	for (i = 0; i < l->nchanges; i++)
		if (str_is(l->changes[i].path, path))
			return &l->changes[i];
	return NULL;
}

static void
change_all(void)
{
	put("src/A.java", "one\n2\nthree\n");	/* within a tick? */
	unlink(at("src/B.java"));
	put("src/new.java", "n\n");
	put("target/out", "yy\n");
	put("target/more", "z\n");
	put(".git/HEAD", "other\n");
	put("README", "r\n");		/* only touched */
}

static void
test_all(void)
{
	struct workspace_scan *l;
	const struct workspace_change *c;

	fill();
	l = scan(dir, &all, &all);
	finish(l);
	OK(l->nfiles == 5 && l->incomplete == NULL);
	OK(str_is(l->files[0], "README") && str_is(l->files[1], "src/A.java"));
	OK(workspace_scan_step(l, 1));		/* it stays done */
	change_all();
	workspace_scan_again(l);
	finish(l);
	OK(l->nchanges == 5 && l->incomplete == NULL);
	c = find(l, "src/A.java");
	OK(c != NULL && c->kind == WORKSPACE_MODIFIED && !c->excluded);
	OK(c != NULL && str_is(c->diff, "--- a/src/A.java\n+++ b/src/A.java\n"
	    "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"));
	c = find(l, "src/B.java");
	OK(c != NULL && c->kind == WORKSPACE_DELETED);
	OK(c != NULL && str_is(c->diff,
	    "--- a/src/B.java\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n"));
	c = find(l, "src/new.java");
	OK(c != NULL && c->kind == WORKSPACE_ADDED && c->diff.p != NULL);
	OK(find(l, "README") == NULL && find(l, ".git/HEAD") == NULL);
	OK(str_is(l->changes[0].path, "src/A.java"));	/* sorted */
	workspace_scan_free(l);
}

static void
test_patterns(void)
{
	struct str in[2], out[1];
	struct field_strs include = list(in, 2), exclude = list(out, 1);
	struct workspace_scan *l;
	const struct workspace_change *c;

	in[0] = STR("**/*.java");
	in[1] = out[0] = STR("target/**");
	fill();
	l = scan(dir, &include, &exclude);
	finish(l);
	OK(l->nfiles == 2 && str_is(l->files[1], "src/B.java"));
	change_all();
	workspace_scan_again(l);
	finish(l);
	c = find(l, "target/out");
	OK(c != NULL && c->excluded && c->kind == WORKSPACE_MODIFIED);
	OK(c != NULL && c->diff.p == NULL &&
	    strcmp(c->no_diff, "excluded") == 0);
	c = find(l, "target/more");
	OK(c != NULL && c->excluded && c->kind == WORKSPACE_ADDED);
	c = find(l, "src/A.java");
	OK(c != NULL && !c->excluded && c->diff.p != NULL);
	workspace_scan_free(l);
}

static void
test_odd(void)
{
	struct workspace_scan *l;
	const struct workspace_change *c;
	struct buf big = { 0 };
	struct err e;
	int i;

	fill();
	for (i = 0; i < WORKSPACE_SCAN_FILE_MAX / 8 + 1; i++)
		buf_puts(&big, "1234567\n");
	(void)os_write_file(at("big"), buf_str(&big), &e);
	OK(symlink("/etc", at("away")) == 0);
	OK(symlink("A.java", at("src/link")) == 0);
	mkfifo(at("pipe"), 0600);
	l = scan(dir, &all, &all);
	finish(l);
	OK(l->nfiles == 8);		/* the pipe is not a file */
	buf_puts(&big, "8\n");
	(void)os_write_file(at("big"), buf_str(&big), &e);
	buf_free(&big);
	unlink(at("src/link"));
	OK(symlink("B.java", at("src/link")) == 0);
	(void)os_write_file(at("src/C.bin"), (struct str){ "\0\1", 2 }, &e);
	unlink(at("README"));
	mkdir(at("README"), 0700);
	put("README/in", "x\n");
	put("odd\nname", "x\n");
	workspace_scan_again(l);
	finish(l);
	c = find(l, "big");
	OK(c != NULL && c->diff.p == NULL &&
	    strcmp(c->no_diff, "too large") == 0);
	c = find(l, "src/link");
	OK(c != NULL && c->diff.p == NULL && strcmp(c->no_diff, "a link") == 0);
	c = find(l, "src/C.bin");
	OK(c != NULL && c->diff.p == NULL && strcmp(c->no_diff, "binary") == 0);
	c = find(l, "README");
	OK(c != NULL && c->kind == WORKSPACE_DELETED);
	OK(find(l, "README/in") != NULL && find(l, "away") == NULL);
	c = find(l, "odd\nname");
	OK(c != NULL && str_starts(c->diff,
	    STR("--- /dev/null\n+++ b/odd?name\n")));
	workspace_scan_free(l);
}

/* A file that was replaced by something else is reported as deleted. */
static void
test_replaced(void)
{
	struct workspace_scan *l;
	const struct workspace_change *c;

	fill();
	mkdir(at("lib"), 0700);
	put("lib/x", "x\n");
	l = scan(dir, &all, &all);
	finish(l);
	OK(rename(at("lib"), at("moved")) == 0);
	OK(symlink("moved", at("lib")) == 0);
	unlink(at("README"));
	mkfifo(at("README"), 0600);
	workspace_scan_again(l);
	finish(l);
	c = find(l, "lib/x");
	OK(c != NULL && c->kind == WORKSPACE_DELETED && c->diff.p != NULL);
	c = find(l, "moved/x");
	OK(c != NULL && c->kind == WORKSPACE_ADDED);
	c = find(l, "README");
	OK(c != NULL && c->kind == WORKSPACE_DELETED);
	workspace_scan_free(l);
}

static void
test_limits(void)
{
	struct workspace_scan *l;
	char name[64];
	int i, steps = 0;

	fill();
	mkdir(at("many"), 0700);
	for (i = 0; i < WORKSPACE_SCAN_CHANGES_MAX + 10; i++) {
		snprintf(name, sizeof(name), "many/%d", i);
		put(name, "x\n");
	}
	l = scan(dir, &all, &all);
	while (!workspace_scan_step(l, 0))
		steps++;
	OK(steps > 100);		/* a step ends in time */
	OK(l->incomplete == NULL);
	for (i = 0; i < WORKSPACE_SCAN_CHANGES_MAX + 10; i++) {
		snprintf(name, sizeof(name), "many/%d", i);
		put(name, "y\n");
	}
	workspace_scan_again(l);
	finish(l);
	OK(l->nchanges == WORKSPACE_SCAN_CHANGES_MAX);
	OK(l->incomplete != NULL && strstr(l->incomplete, "changes") != NULL);
	workspace_scan_free(l);
}

static void
test_deep(void)
{
	struct workspace_scan *l;
	struct buf path = { 0 };
	int i;

	fill();
	for (i = 0; i < 70; i++) {
		buf_puts(&path, i == 0 ? "d" : "/d");
		buf_putc(&path, '\0');
		path.n--;
		mkdir(at(path.p), 0700);
	}
	buf_free(&path);
	l = scan(dir, &all, &all);
	finish(l);
	OK(l->incomplete != NULL && strstr(l->incomplete, "deep") != NULL);
	put("src/new", "x\n");
	workspace_scan_again(l);
	finish(l);
	OK(l->nchanges == 1 && l->changes[0].kind == WORKSPACE_MODIFIED);
	workspace_scan_free(l);
	l = scan("/nowhere/at/all", &all, &all);
	finish(l);
	OK(l->nfiles == 0);
	workspace_scan_free(l);
}

/* Puts a file into the directory and sets its times back, as a cheat would. */
static void
put_unseen(const char *top, const struct stat *was)
{
	const struct timespec t[] = { { .tv_nsec = UTIME_OMIT },
		was->st_mtim };
	char path[256];
	struct stat st;
	struct err e;

	snprintf(path, sizeof(path), "%s/hidden", top);
	(void)os_write_file(path, STR("x\n"), &e);
	do				/* until its clock has advanced */
		(void)utimensat(AT_FDCWD, top, t, 0);
	while (stat(top, &st) == 0 &&
	    st.st_ctim.tv_sec == was->st_ctim.tv_sec &&
	    st.st_ctim.tv_nsec == was->st_ctim.tv_nsec);
}

static void
test_untouched(void)
{
	struct arena a = { 0 };
	struct workspace_pool pool = { .arena = &a };
	struct workspace_scan *l;
	struct stat st;
	struct err e;
	char *top = workspace_take(&pool, &a, STR("w"), &e);
	int i;

	OK(top != NULL && workspace_is_fresh(top, &st));
	for (i = 0; i < 2; i++) {
		l = scan(top, &all, &all);
		finish(l);
		if (i == 1)
			put_unseen(top, &st);
		OK(workspace_is_fresh(top, &st));
		workspace_scan_again(l);
		finish(l);
		OK(l->nchanges == (size_t)i && l->incomplete == NULL);
		OK(i == 0 || find(l, "hidden") != NULL);
		workspace_scan_free(l);
	}
	OK(workspace_close(&pool, false, &e) == 0);
	arena_free(&a);
}

int
main(void)
{
	struct err e;
	int fds = tap_fd_count();

	if (mkdtemp(dir) == NULL)
		return 1;
	RUN(test_all, test_patterns, test_odd, test_replaced, test_limits,
	    test_deep, test_untouched);
	OK(tap_fd_count() == fds);
	OK(workspace_remove(dir, &e) == 0);
	return tap_done();
}
