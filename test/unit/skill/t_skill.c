/* SPDX-License-Identifier: ISC */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "json.h"
#include "skill/skill.h"
#include "test/tool/tap.h"

static char dir[] = "/tmp/waza-t_skill-XXXXXX";

/* Writes dir/SKILL.md and reads it. */
static int
read_text(struct arena *a, const char *text, struct skill *s, struct err *e)
{
	char path[sizeof(dir) + 16];
	FILE *f;

	snprintf(path, sizeof(path), "%s/SKILL.md", dir);
	f = fopen(path, "w");
	if (f == NULL || fputs(text, f) == EOF || fclose(f) == EOF)
		return -2;
	*e = (struct err){ 0 };
	return skill_read(a, dir, s, e);
}

static void
test_good(void)
{
	struct arena a = { 0 };
	struct skill s;
	struct err e;

	OK(read_text(&a, "---\nname: x\n# why\ndescription: y\n---\n# T\n",
	    &s, &e) == 0);
	OK(str_is(s.name, "x") && str_is(s.description, "y"));
	OK(str_is(s.body, "\n# T\n") && s.body_line == 5);
	OK(json_getc(s.fields, "description")->line == 4);
	OK(strcmp(s.dir, dir) == 0);
	OK(read_text(&a, "# T\n", &s, &e) == 0 && s.fields == NULL &&
	    str_is(s.body, "# T\n") && s.body_line == 1);
	OK(read_text(&a, "---\n---\nb\n", &s, &e) == 0 && s.fields == NULL &&
	    str_is(s.body, "\nb\n"));
	OK(read_text(&a, "---\nname: [1]\n---\n", &s, &e) == 0 &&
	    s.name.n == 0 && s.fields != NULL);
	arena_free(&a);
}

static void
test_bad(void)
{
	struct arena a = { 0 };
	struct skill s;
	struct err e;

	OK(read_text(&a, "---\nname: x\n", &s, &e) == -1 && e.line == 1);
	OK(read_text(&a, "---\nname: x\nd: [a: b\n---\nt\n", &s, &e) == -1 &&
	    e.line == 4 && str_is(s.front, "name: x\nd: [a: b\n"));
	OK(read_text(&a, "---\nname: x\nd: a: b\n---\nt\n", &s, &e) == 0 &&
	    s.warning.line == 3 && s.warning.col == 4);
	OK(read_text(&a, "---\n- x\n---\n", &s, &e) == -1 && e.line == 2);
	OK(skill_read(&a, "/nonexistent/x", &s, &e) == -1 &&
	    e.code == ERR_SYS);
	arena_free(&a);
}

int
main(void)
{
	char path[sizeof(dir) + 16];

	if (mkdtemp(dir) == NULL)
		return 1;
	test_good();
	test_bad();
	snprintf(path, sizeof(path), "%s/SKILL.md", dir);
	unlink(path);
	rmdir(dir);
	return tap_done();
}
