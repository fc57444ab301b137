/* SPDX-License-Identifier: ISC */
#include <string.h>

#include "base/base.h"
#include "lib/glob.h"
#include "test/tool/tap.h"

static const struct {
	const char *pattern, *path;
	bool match;
} paths[] = {
	{ "**/*.java", "A.java", true },
	{ "**/*.java", "src/main/A.java", true },
	{ "**/*.java", "src/main/A.javax", false },
	{ "*.java", "A.java", true },
	{ "*.java", "src/A.java", false },
	{ "target/**", "target/a", true },
	{ "target/**", "target/a/b/c", true },
	{ "target/**", "target", false },
	{ "target/**", "src/target/a", false },
	{ "target", "target/a/b", true },
	{ "target/", "target/a/b", true },
	{ "target", "targets/a", false },
	{ "**/node_modules", "a/b/node_modules/c/d.js", true },
	{ "**/node_modules", "node_modules/c", true },
	{ "src/*", "src/a", true },
	{ "src/*", "src/a/b", false },
	{ "src/**/test/*.c", "src/test/a.c", true },
	{ "src/**/test/*.c", "src/x/y/test/a.c", true },
	{ "src/**/test/*.c", "src/test/x/a.c", false },
	{ "src/**/test/*.c", "src/test/test/a.c", true },
	{ "a/**/b/**/c", "a/b/x/b/c", true },
	{ "a/**/b/**/c", "a/x/c", false },
	{ "**", "a/b", true },
	{ "**/**", "a", true },
	{ "/src/a.c", "src/a.c", true },
	{ "", "a", false },
	{ "", "", true },
	{ "[", "[", false },
	{ "**/[a-c]?.t", "x/b1.t", true },
};

static void
test_paths(void)
{
	struct arena a = { 0 };
	struct str out[4];
	struct buf long_one = { 0 };
	size_t i;

	for (i = 0; i < COUNTOF(paths); i++) {
		bool got = glob_path(str_of(paths[i].pattern),
		    str_of(paths[i].path));

		OK(got == paths[i].match);
		if (got != paths[i].match)
			printf("# %s %s\n", paths[i].pattern, paths[i].path);
	}
	OK(glob_braces(&a, STR("a"), out, 4) == 1 && str_is(out[0], "a"));
	OK(glob_braces(&a, STR("*.{c,h}"), out, 4) == 2);
	OK(str_is(out[0], "*.c") && str_is(out[1], "*.h"));
	OK(glob_braces(&a, STR("{a,b{1,2}}/{x}"), out, 4) == 3);
	OK(str_is(out[0], "a/{x}") && str_is(out[2], "b2/{x}"));
	OK(glob_braces(&a, STR("{a,}b"), out, 4) == 2 && str_is(out[1], "b"));
	OK(glob_braces(&a, STR("\\{a,b}"), out, 4) == 1);
	OK(glob_braces(&a, STR("{a,b}{a,b}{a,b}"), out, 4) == 5);
	OK(glob_braces(&a, STR("{a,b"), out, 4) == 1);
	OK(glob_braces(&a, STR("}{"), out, 4) == 1);
	for (i = 0; i < 2000; i++)
		buf_puts(&long_one, "**/a/");
	OK(!glob_path((struct str){ long_one.p, long_one.n - 1 },
	    STR("a/a/a/a/a/a/a/a/a/a/a/a/b")));
	buf_free(&long_one);
	for (i = 0; i < 200; i++)
		buf_puts(&long_one, "{a,b}");
	OK(glob_braces(&a, buf_str(&long_one), out, 4) == 5);
	buf_free(&long_one);
	arena_free(&a);
}

static const struct {
	const char *pattern, *name;
	bool match;
} rows[] = {
	{ "abc", "abc", true },                          { "abc", "abcd", false },
	{ "", "", true },                                { "", "a", false },
	{ "*", "", true },                               { "*", "abc", true },
	{ "*", "a/b", false },                           { "**", "abc", true },
	{ "**", "a/b", false },                          { "*c", "abc", true },
	{ "a*", "a", true },                             { "a*", "ab/c", false },
	{ "a*/b", "abc/b", true },                       { "a*/b", "a/c/b", false },
	{ "a*b*c*d*e*/f", "axbxcxdxe/f", true },         { "a*b*c*d*e*/f", "axbxcxdxexxx/f", true },
	{ "a*b*c*d*e*/f", "axbxcxdxe/xxx/f", false },
	{ "a*b*c*d*e*/f", "axbxcxdxexxx/fff", false },   { "a*b?c*x", "abxbbxdbxebxczzx", true },
	{ "a*b?c*x", "abxbbxdbxebxczzy", false },        { "tasks/*.yaml", "tasks/one.yaml", true },
	{ "tasks/*.yaml", "tasks/.yaml", true },         { "tasks/*.yaml", "tasks/one.yml", false },
	{ "tasks/*.yaml", "tasks/sub/one.yaml", false }, { "?", "/", false },
	{ "a?c", "a\303\251c", true },                   { "a??c", "a\303\251c", false },
	{ "a?c", "a\377c", true },                       { "a\377c", "a\377c", true },
	{ "a\377c", "a\376c", false },                   { "a\377c", "a\357\277\275c", false },
	{ "a[a-c]d", "abd", true },                      { "a[a-c]d", "add", false },
	{ "a[^a-c]d", "add", true },                     { "a[^a-c]d", "abd", false },
	{ "a[!b]d", "a!d", true },                       { "[\\]a]", "]", true },
	{ "[\\-]", "-", true },                          { "[x\\-]", "-", true },
	{ "[x\\-]", "z", false },                        { "[a-z\303\251]", "\303\251", true },
	{ "[*]x", "*x", true },                          { "[*]x", "ax", false },
	{ "\\*", "*", true },                            { "\\*", "a", false },
	{ "a\\?b", "a?b", true },                        { "a\\\\b", "a\\b", true },
	{ "{a,b}", "a", false },                         { "{a,b}", "{a,b}", true },
	{ "*[^x]*c", "a/bc", false },	/* the first match is not retried */
	{ "a]b", "a]b", true },
};

static const struct {
	const char *pattern;
	unsigned col;
} bad[] = {
	{ "[]a]", 1 }, { "x[-]", 2 }, { "[x-]", 1 }, { "[-x]", 1 },
	{ "[a-b-c]", 1 }, { "[", 1 }, { "ab[^", 3 }, { "[^bc", 1 },
	{ "a[", 2 }, { "a\\", 2 }, { "*[a", 2 }, { "[a-", 1 },
	{ "[\377]", 1 },
};

static void
test_long(void)
{
	char name[3001], pattern[601];
	size_t i;

	memset(name, 'a', 3000);
	name[3000] = '\0';
	for (i = 0; i < 600; i += 2)
		memcpy(pattern + i, "*a", 2);
	pattern[599] = 'b';
	pattern[600] = '\0';
	OK(!glob_match(str_of(pattern), str_of(name)));
	name[2999] = 'b';
	OK(glob_match(str_of(pattern), str_of(name)));
}

int
main(void)
{
	struct err e;
	size_t i;
	bool ok;

	for (i = 0; i < COUNTOF(rows); i++) {
		ok = glob_match(str_of(rows[i].pattern),
		    str_of(rows[i].name)) == rows[i].match;
		tap_ok(ok, rows[i].pattern, __FILE__, __LINE__);
		OK(glob_check(str_of(rows[i].pattern), &e) == 0);
	}
	for (i = 0; i < COUNTOF(bad); i++) {
		e = (struct err){ 0 };
		ok = glob_check(str_of(bad[i].pattern), &e) == -1 &&
		    e.code == ERR_SYNTAX && e.col == bad[i].col;
		tap_ok(ok, bad[i].pattern, __FILE__, __LINE__);
		OK(!glob_match(str_of(bad[i].pattern), STR("a")));
	}
	OK(glob_any(STR("a*b")) && glob_any(STR("a[b]")));
	OK(glob_any(STR("a\\b")) && glob_any(STR("?")));
	OK(!glob_any(STR("tasks/a{b}.yaml")) && !glob_any(STR("")));
	test_paths();
	test_long();
	return tap_done();
}
