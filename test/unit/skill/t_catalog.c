/* SPDX-License-Identifier: ISC */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "base/os_path.h"
#include "skill/catalog.h"
#include "suite/config.h"
#include "suite/spec.h"
#include "test/tool/tap.h"

static char dir[] = "/tmp/waza-t_catalog-XXXXXX";

static const char *
no_env(void *ctx, const char *name)
{
	(void)ctx;
	(void)name;
	return NULL;
}

/* Writes a file below the current directory, with its directories. */
static void
put(const char *path, const char *text)
{
	struct err e;
	FILE *f;

	if (os_make_dirs(path, 0777, false, &e) == -1 ||
	    (f = fopen(path, "w")) == NULL)
		abort();
	if (fputs(text, f) == EOF || fclose(f) == EOF)
		abort();
}

static void
skill(const char *path, const char *name)
{
	char text[200];

	snprintf(text, sizeof(text), "---\nname: %s\ndescription: d\n---\n",
	    name);
	put(path, text);
}

/* An empty directory for a test; it becomes the working directory. */
static void
enter(const char *name)
{
	char path[200];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (mkdir(path, 0755) == -1 || chdir(path) == -1)
		abort();
}

static int
scan(struct arena *a, const char *from, bool walk, struct catalog *c,
    struct err *e)
{
	struct config_sources src = { .dir = from, .env = no_env };
	struct spec_notes notes = { .arena = a };
	struct catalog_opts o = { .dir = from, .walk = walk };

	o.config = config_load(a, &src, &notes);
	if (o.config == NULL)
		return -2;
	*e = (struct err){ 0 };
	return catalog_read(a, &o, c, e);
}

/* "name=eval name=- ..." */
static const char *
show(struct arena *a, const struct catalog *c)
{
	struct buf b = { 0 };
	size_t i;

	for (i = 0; i < c->n; i++)
		buf_fmt(&b, "%s%.*s%s%s", i > 0 ? " " : "",
		    STRF(c->v[i].name), c->v[i].skill_dir != NULL ? "=" : ":",
		    c->v[i].eval != NULL ? c->v[i].eval : "-");
	return arena_take(a, &b).p;
}

static bool
finds(const char *from, bool walk, const char *want)
{
	struct arena a = { 0 };
	struct catalog c;
	struct err e;
	const char *got = "";
	bool ok;

	if (scan(&a, from, walk, &c, &e) == 0)
		got = show(&a, &c);
	ok = strcmp(got, want) == 0;
	if (!ok)
		printf("# got \"%s\" (%s)\n", got, e.msg);
	arena_free(&a);
	return ok;
}

static void
test_places(void)
{
	enter("places");
	skill("skills/b/SKILL.md", "b");
	skill("skills/deep/er/a/SKILL.md", "a");
	skill("skills/b/inner/SKILL.md", "inner");	/* inside a skill */
	skill(".github/skills/g/SKILL.md", "g");
	skill(".agents/skills/x/SKILL.md", "x");
	skill(".claude/skills/c/SKILL.md", "c");
	skill(".claude/skills/b/SKILL.md", "b");	/* the first one wins */
	skill(".hidden/skills/h/SKILL.md", "h");
	skill("skills/.secret/SKILL.md", "s");
	skill("skills/node_modules/SKILL.md", "n");
	put("skills/odd/SKILL.md", "---\nname: [\n---\n");
	put("evals/a/eval.yaml", "name: a\n");
	put("skills/b/tests/eval.yaml", "name: b\n");
	put(".claude/skills/c/eval.yml", "name: c\n");
	put("evals/other/eval.yaml", "name: o\nskill: g\n");
	put("evals/more/eval.yaml", "name: m\nskill: g\n");
	put("tests/e2e/eval.yaml", "name: e\n");
	put("elsewhere/eval.yaml", "name: w\n");
	OK(finds(".", false, "b=skills/b/tests/eval.yaml "
	    "a=evals/a/eval.yaml odd=- g=evals/more/eval.yaml x=- "
	    "c=.claude/skills/c/eval.yml other:evals/other/eval.yaml "
	    "e2e:tests/e2e/eval.yaml"));
	put("eval.yaml", "name: r\nskill: x\n");
	OK(finds(".", false, "b=skills/b/tests/eval.yaml "
	    "a=evals/a/eval.yaml odd=- g=evals/more/eval.yaml x=eval.yaml "
	    "c=.claude/skills/c/eval.yml other:evals/other/eval.yaml "
	    "e2e:tests/e2e/eval.yaml"));
	put("eval.yaml", "name: r\nskill: b\n");	/* it has its own */
	OK(finds(".", false, "b=skills/b/tests/eval.yaml "
	    "a=evals/a/eval.yaml odd=- g=evals/more/eval.yaml x=- "
	    "c=.claude/skills/c/eval.yml other:evals/other/eval.yaml "
	    "e2e:tests/e2e/eval.yaml"));
	OK(unlink("eval.yaml") == 0);
	OK(finds("skills/b/tests", false, "b=skills/b/tests/eval.yaml"));
	OK(finds("skills/deep/er/a", false, "a=evals/a/eval.yaml"));
	OK(finds(".", true, "b=skills/b/tests/eval.yaml "
	    "a=evals/a/eval.yaml odd=- g=evals/more/eval.yaml x=- "
	    "c=.claude/skills/c/eval.yml elsewhere:elsewhere/eval.yaml "
	    "evals/other:evals/other/eval.yaml "
	    "tests/e2e:tests/e2e/eval.yaml"));
}

static void
test_settings(void)
{
	struct arena a = { 0 };
	struct catalog c;
	struct err e;

	enter("settings");
	put(".waza.yaml", "paths: {skills: kit/s, evals: kit/e, results: out}\n"
	    "files: {evalFile: my.yaml, taskGlob: 't/*.yml', "
	    "taskFileSuffix: .yml}\n");
	skill("kit/s/one/SKILL.md", "one");
	skill("kit/s/two/SKILL.md", "two");
	put("kit/e/one/my.yaml", "name: x\n");
	put("kit/e/two/eval.yaml", "name: x\n");
	put("sub/keep", "");
	OK(finds(".", false, "one=kit/e/one/my.yaml "
	    "two=kit/e/two/eval.yaml"));
	OK(scan(&a, "sub", false, &c, &e) == 0 && c.n == 2 && c.nevals == 2);
	OK(str_is(c.eval_file, "my.yaml") && str_is(c.task_glob, "t/*.yml") &&
	    str_is(c.task_suffix, ".yml"));
	OK(scan(&a, ".", false, &c, &e) == 0 &&
	    strcmp(c.results, "out") == 0 && strcmp(c.root, ".") == 0);
	/* an untrusted file names no place outside */
	put(".waza.yaml", "paths: {skills: ../places/skills, evals: /etc, "
	    "results: a/../../b}\n");
	OK(scan(&a, ".", false, &c, &e) == 0 && strcmp(c.skills, "skills") == 0
	    && strcmp(c.evals, "evals") == 0 &&
	    strcmp(c.results, "results") == 0);
	arena_free(&a);
}

static void
test_children(void)
{
	enter("children");
	skill("one/SKILL.md", "first");
	put("one/eval.yaml", "name: x\n");
	skill(".two/SKILL.md", "two");
	put("evals/suite/eval.yaml", "name: y\n");
	OK(finds(".", false, "first=one/eval.yaml "
	    "suite:evals/suite/eval.yaml"));
}

/* A directory is read once, however many links lead to it. */
static void
test_links(void)
{
	enter("links");
	skill("store/a/SKILL.md", "a");
	put("store/a/eval.yaml", "name: x\n");
	if (mkdir("skills", 0755) == -1 || symlink("../store/a",
	    "skills/a") == -1 || symlink("..", "skills/up") == -1 ||
	    symlink("../skills", "skills/self") == -1 ||
	    symlink("nowhere", "skills/broken") == -1)
		abort();
	OK(finds(".", false, "a=skills/a/eval.yaml"));
}

static void
test_find(void)
{
	struct arena a = { 0 };
	struct catalog c;
	struct err e;

	enter("find");
	skill("skills/code-review/SKILL.md", "code-review");
	skill("skills/dir/SKILL.md", "name");
	OK(scan(&a, ".", false, &c, &e) == 0 && c.n == 2 && c.nevals == 0);
	OK(catalog_find(&c, STR("name")) == &c.v[1]);
	OK(catalog_find(&c, STR("dir")) == &c.v[1]);
	OK(catalog_find(&c, STR("code-revew")) == NULL);
	OK(catalog_not_found(&c, STR("code-revew"), &e) == -1);
	OK(strstr(e.msg, "finding skill \"code-revew\"") != NULL);
	OK(strstr(e.msg, "not found in workspace") != NULL);
	OK(strstr(e.msg, "did you mean \"code-review\"?") != NULL);
	OK(strstr(e.msg, ".claude/skills") != NULL);
	OK(catalog_no_eval(&c, &c.v[0], &e) == -1 &&
	    strstr(e.msg, "evals/code-review/eval.yaml") != NULL);
	OK(!catalog_is_path("code-review") && catalog_is_path("a.yaml") &&
	    catalog_is_path("./x") && catalog_is_path("skills"));
	OK(scan(&a, "missing", false, &c, &e) == -1 && e.sys == ENOENT);
	arena_free(&a);
}

static void
test_depth(void)
{
	char path[400] = "skills";
	size_t i, n = strlen(path);

	enter("depth");
	for (i = 0; i < CATALOG_DEPTH; i++)
		n += (size_t)snprintf(path + n, sizeof(path) - n, "/d%zu", i);
	snprintf(path + n, sizeof(path) - n, "/SKILL.md");
	skill(path, "last");
	snprintf(path + n, sizeof(path) - n, "/more/SKILL.md");
	skill(path, "lost");
	skill("skills/y/SKILL.md", "y");
	OK(finds(".", false, "last=- y=-"));
}

int
main(void)
{
	char remove[sizeof(dir) + 16];

	if (mkdtemp(dir) == NULL)
		return 2;
	RUN(test_places, test_settings, test_children, test_links, test_find,
	    test_depth);
	snprintf(remove, sizeof(remove), "rm -rf %s", dir);
	if (chdir("/") == -1 || system(remove) != 0)
		return 2;
	return tap_done();
}
