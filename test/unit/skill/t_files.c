/* SPDX-License-Identifier: ISC */
#include "skill/files.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"
#include "suite/spec.h"
#include "test/tool/tap.h"

static char dir[] = "/tmp/waza-t_files-XXXXXX";

static const char *
path(struct arena *a, const char *name)
{
	return arena_fmt(a, "%s/%s", dir, name).p;
}

static bool
has(struct arena *a, const char *name, const char *text)
{
	struct err e;
	struct str s;

	return os_read_plain(a, path(a, name), 100, &s, &e) == 0 &&
	    str_is(s, text);
}

/* The number of names in a directory; -1: it does not exist. */
static int
count(struct arena *a, const char *name)
{
	DIR *d = opendir(path(a, name));
	int n = -2;

	if (d == NULL)
		return -1;
	while (readdir(d) != NULL)
		n++;
	closedir(d);
	return n;
}

static void
test_write(void)
{
	struct arena a = { 0 };
	struct files f = { .arena = &a }, again = { .arena = &a };
	struct err e = { 0 };
	struct stat st;

	OK(os_write_file(path(&a, "kept"), STR("mine"), &e) == 0);
	OK(os_write_file(path(&a, "old"), STR("bad"), &e) == 0);
	files_add(&f, path(&a, "kept"), STR("new"), "x");
	files_add(&f, path(&a, "a/b/c"), STR("deep"), "x");
	files_add(&f, path(&a, "a/empty"), STR(""), "x");
	files_add(&f, path(&a, "d/e"), (struct str){ NULL, 0 }, "x");
	files_replace(&f, path(&a, "old"), STR("good"), "x");
	OK(files_count(&f, FILES_NEW) == 3 && files_count(&f, FILES_KEPT) == 1
	    && files_count(&f, FILES_REPLACED) == 1);
	umask(027);
	OK(files_write(&f, &e) == 0);
	OK(has(&a, "kept", "mine") && has(&a, "a/b/c", "deep") &&
	    has(&a, "a/empty", "") && has(&a, "old", "good"));
	OK(stat(path(&a, "a/b/c"), &st) == 0 && (st.st_mode & 0777) == 0640);
	OK(count(&a, "a/b") == 1 && count(&a, "d/e") == 0 &&
	    count(&a, "") == 4);
	files_add(&again, path(&a, "a/b/c"), STR("other"), "x");
	files_add(&again, path(&a, "d/e"), (struct str){ NULL, 0 }, "x");
	OK(files_count(&again, FILES_KEPT) == 2 &&
	    files_write(&again, &e) == 0 && has(&a, "a/b/c", "deep"));
	arena_free(&a);
}

/* An error in the middle: nothing stays, neither files nor directories. */
static void
test_undo(void)
{
	struct arena a = { 0 };
	struct files f = { .arena = &a }, g = { .arena = &a };
	struct err e = { 0 };
	int i;

	files_add(&f, path(&a, "u/v/w"), STR("text"), "x");
	files_add(&f, path(&a, "kept/x"), STR("below a file"), "x");
	OK(files_write(&f, &e) == -1 && strstr(e.msg, "in the way") != NULL);
	OK(count(&a, "u") == -1 && count(&a, "") == 4);
	files_add(&g, path(&a, "a"), STR("a directory"), "x");
	OK(files_write(&g, &e) == -1 && strstr(e.msg, "a directory is in the "
	    "way of this file") != NULL);
	g = (struct files){ .arena = &a };
	for (i = 0; i <= FILES_MAX; i++)
		files_add(&g, path(&a, "many"), STR(""), "x");
	OK(files_write(&g, &e) == -1 && !spec_exists(path(&a, "many")));
	arena_free(&a);
}

/* Another process creates the file between files_add() and files_write(). */
static void
test_race(void)
{
	struct arena a = { 0 };
	struct files f = { .arena = &a };
	struct err e = { 0 };

	files_add(&f, path(&a, "race"), STR("ours"), "x");
	OK(os_write_file(path(&a, "race"), STR("theirs"), &e) == 0);
	OK(files_write(&f, &e) == 0 && has(&a, "race", "theirs") &&
	    f.v[0].state == FILES_KEPT);
	arena_free(&a);
}

int
main(void)
{
	char cmd[sizeof(dir) + 16];

	if (mkdtemp(dir) == NULL)
		return 1;
	RUN(test_write, test_undo, test_race);
	snprintf(cmd, sizeof(cmd), "rm -rf '%s'", dir);
	OK(system(cmd) == 0);
	return tap_done();
}
