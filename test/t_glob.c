/* SPDX-License-Identifier: ISC */
#include <string.h>

#include "base.h"
#include "glob.h"
#include "tap.h"

static const struct {
	const char *pattern, *name;
	bool match;
} rows[] = {
	{ "abc", "abc", true },
	{ "abc", "abcd", false },
	{ "", "", true },
	{ "", "a", false },
	{ "*", "", true },
	{ "*", "abc", true },
	{ "*", "a/b", false },
	{ "**", "abc", true },
	{ "**", "a/b", false },
	{ "*c", "abc", true },
	{ "a*", "a", true },
	{ "a*", "ab/c", false },
	{ "a*/b", "abc/b", true },
	{ "a*/b", "a/c/b", false },
	{ "a*b*c*d*e*/f", "axbxcxdxe/f", true },
	{ "a*b*c*d*e*/f", "axbxcxdxexxx/f", true },
	{ "a*b*c*d*e*/f", "axbxcxdxe/xxx/f", false },
	{ "a*b*c*d*e*/f", "axbxcxdxexxx/fff", false },
	{ "a*b?c*x", "abxbbxdbxebxczzx", true },
	{ "a*b?c*x", "abxbbxdbxebxczzy", false },
	{ "tasks/*.yaml", "tasks/one.yaml", true },
	{ "tasks/*.yaml", "tasks/.yaml", true },
	{ "tasks/*.yaml", "tasks/one.yml", false },
	{ "tasks/*.yaml", "tasks/sub/one.yaml", false },
	{ "?", "/", false },
	{ "a?c", "a\303\251c", true },
	{ "a??c", "a\303\251c", false },
	{ "a?c", "a\377c", true },
	{ "a\377c", "a\377c", true },
	{ "a\377c", "a\376c", false },
	{ "a\377c", "a\357\277\275c", false },
	{ "a[a-c]d", "abd", true },
	{ "a[a-c]d", "add", false },
	{ "a[^a-c]d", "add", true },
	{ "a[^a-c]d", "abd", false },
	{ "a[!b]d", "a!d", true },
	{ "[\\]a]", "]", true },
	{ "[\\-]", "-", true },
	{ "[x\\-]", "-", true },
	{ "[x\\-]", "z", false },
	{ "[a-z\303\251]", "\303\251", true },
	{ "[*]x", "*x", true },
	{ "[*]x", "ax", false },
	{ "\\*", "*", true },
	{ "\\*", "a", false },
	{ "a\\?b", "a?b", true },
	{ "a\\\\b", "a\\b", true },
	{ "{a,b}", "a", false },
	{ "{a,b}", "{a,b}", true },
	{ "*[^x]*c", "a/bc", false },	/* the first place is kept */
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
	test_long();
	return tap_done();
}
