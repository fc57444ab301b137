/* SPDX-License-Identifier: ISC */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "skill/check_internal.h"
#include "test/tool/help.h"
#include "test/tool/tap.h"

static void
test_rules(void)
{
	size_t i;

	for (i = 0; check_rules[i + 1].name != NULL; i++)
		if (strcmp(check_rules[i].name, check_rules[i + 1].name) >= 0)
			break;
	OK(check_rules[i + 1].name == NULL);	/* sorted */
	OK(i > 30);
}

static bool
cleans(const char *path, const char *want)
{
	struct arena a = { 0 };
	bool same = is_text(str_of(check_clean(&a, path)), want);

	arena_free(&a);
	return same;
}

/* Where a target in the file `source` of the skill /a/b leads. */
static bool
resolves(const char *source, const char *target, const char *want)
{
	struct arena a = { 0 };
	struct str rel;
	bool inside = check_resolve(&a, "/a/b", str_of(source),
	    str_of(target), &rel);
	bool same = want == NULL ? !inside : inside && is_text(rel, want);

	arena_free(&a);
	return same;
}

static void
test_paths(void)
{
	OK(cleans("/", "/"));
	OK(cleans("/..", "/"));
	OK(cleans("/a//b/./c/../d/", "/a/b/d"));
	OK(resolves("SKILL.md", "x.md", "x.md"));
	OK(resolves("SKILL.md", "/x.md", "x.md"));
	OK(resolves("SKILL.md", ".", ""));
	OK(resolves("SKILL.md", "../x", NULL));
	OK(resolves("SKILL.md", "../b/x", "x"));
	OK(resolves("SKILL.md", "../bb/x", NULL));
	OK(resolves("r/s/y.md", "../../x.md", "x.md"));
	OK(resolves("r/s/y.md", "../../../x.md", NULL));
}

static void
test_targets(void)
{
	struct str path, fragment;
	struct arena a = { 0 };

	OK(check_target_of(STR("a.md#b#c"), &path, &fragment) == CHECK_LOCAL &&
	    str_is(path, "a.md") && str_is(fragment, "b#c"));
	OK(check_target_of(STR("#b"), &path, &fragment) == CHECK_LOCAL &&
	    path.n == 0);
	OK(check_target_of(STR("https://a/b#c"), &path, &fragment) ==
	    CHECK_EXTERNAL && str_is(path, "https://a/b"));
	OK(check_target_of(STR("mailto:a@b"), &path, &fragment) == CHECK_SKIP);
	OK(check_target_of(STR("//a/b"), &path, &fragment) == CHECK_SKIP);
	OK(check_target_of(STR(""), &path, &fragment) == CHECK_SKIP);
	OK(check_target_of(STR("c:/x"), &path, &fragment) == CHECK_LOCAL);
	OK(is_text(check_unescape(&a, STR("a%20b%2g%")), "a b%2g%"));
	OK(is_text(check_unescape(&a, STR("%00%41")), "%00A"));
	arena_free(&a);
}

static void
test_words(void)
{
	OK(check_count(STR("aXaXa"), "aX") == 2 &&
	    check_count(STR("aaaa"), "aa") == 2);
	OK(check_find(STR("abc"), "bc") == 1 && check_find(STR("abc"), "d") == 3);
	OK(check_find(STR(""), "a") == 0 && check_count(STR("a"), "ab") == 0);
	OK(check_chars(STR("\xC3\xA4" "b\xFF")) == 3);
}

int
main(void)
{
	RUN(test_rules, test_paths, test_targets, test_words);
	return tap_done();
}
