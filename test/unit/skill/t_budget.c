/* SPDX-License-Identifier: ISC */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "json.h"
#include "skill/budget.h"
#include "suite/config.h"
#include "suite/spec.h"
#include "test/tool/tap.h"

static char dir[] = "/tmp/waza-t_budget-XXXXXX";

static void
put(const char *name, const char *text)
{
	char path[sizeof(dir) + 32];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	if (f == NULL || fputs(text, f) == EOF || fclose(f) == EOF)
		exit(1);
}

static void
drop(const char *name)
{
	char path[sizeof(dir) + 32];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	unlink(path);
}

/* The environment without a home, so that nothing is trusted. */
static const char *
no_env(void *ctx, const char *name)
{
	(void)ctx;
	(void)name;
	return NULL;
}

struct world {
	struct arena arena;
	struct spec_notes notes;
	struct token_settings settings;
	struct token_rules rules;
};

/* Reads both files of dir; -1 as token_settings() and token_rules(). */
static int
load(struct world *w)
{
	struct config_sources from = { .dir = dir, .env = no_env };

	memset(w, 0, sizeof(*w));
	w->notes.arena = &w->arena;
	if (token_settings(&w->arena, &from, &w->settings, &w->notes) == -1)
		return -1;
	return token_rules(&w->arena, &w->settings, dir, &w->rules,
	    &w->notes);
}

static int64_t
limit_of(const struct world *w, const char *path, const char *wide)
{
	return token_limit(&w->settings, &w->rules, str_of(path),
	    str_of(wide)).limit;
}

static bool
match(const char *pattern, const char *path)
{
	return token_match(str_of(pattern), str_of(path));
}

static void
test_estimate(void)
{
	OK(token_estimate(0) == 0 && token_estimate(1) == 1 &&
	    token_estimate(4) == 1 && token_estimate(5) == 2);
	OK(token_estimate(SIZE_MAX) > 0);
}

static void
test_match(void)
{
	static char path[TOKEN_PATH_MAX + 2], pattern[TOKEN_PATTERN_MAX + 2];
	size_t i;

	OK(match("SKILL.md", "SKILL.md") && match("SKILL.md", "a/b/SKILL.md"));
	OK(!match("SKILL.md", "a/MYSKILL.md") && !match("SKILL.md", "skill.md"));
	OK(match("*.md", "a.md") && match("*.md", "x/y/a.md") &&
	    !match("*.md", "a.mdx") && !match("*.md", "a.md/b"));
	OK(match("docs/**/*.md", "docs/a.md") &&
	    match("docs/**/*.md", "docs/x/y/a.md") &&
	    match("/docs/**/*.md", "docs/a.md") &&
	    match("docs/**/*.md", "/docs/a.md"));
	OK(!match("docs/**/*.md", "x/docs/a.md") &&
	    !match("docs/**/*.md", "docsx/a.md"));
	OK(match("docs/*.md", "docs/a.md") && !match("docs/*.md", "docs/x/a.md"));
	OK(match("plugin/skills/**/SKILL.md", "plugin/skills/x/SKILL.md"));
	OK(match("**", "a/b.md") && match("a**d", "x/a/b.md") &&
	    !match("a*d", "a/b.md"));
	OK(match("**/x.md", "x.md") && match("**/x.md", "a/b/x.md") &&
	    !match("**/x.md", "ax.md"));
	OK(match("docs/a.md", "docs/a.md") && !match("docs/a.md", "x/docs/a.md"));
	OK(!match("", "") && !match("", "a") && !match("a.md", ""));
	OK(match("a[b]?.md", "a[b]?.md"));
	for (i = 0; i < TOKEN_PATH_MAX + 1; i++)
		path[i] = i % 2 == 0 ? 'a' : '/';
	for (i = 0; i < TOKEN_PATTERN_MAX + 1; i++)
		pattern[i] = i % 2 == 0 ? '*' : 'a';
	OK(!token_match((struct str){ pattern, TOKEN_PATTERN_MAX },
	    (struct str){ path, TOKEN_PATH_MAX }));
	OK(!token_match(STR("**"), (struct str){ path, sizeof(path) - 1 }));
	OK(token_match(STR("**"), (struct str){ path, TOKEN_PATH_MAX }));
	memset(pattern, '*', sizeof(pattern) - 1);
	OK(!token_match((struct str){ pattern, TOKEN_PATTERN_MAX + 1 },
	    STR("a")));
}

static void
test_built_in(void)
{
	struct world w;

	OK(load(&w) == 0 && w.rules.file == NULL && w.notes.warnings == 0);
	OK(limit_of(&w, "SKILL.md", "") == 500);
	OK(limit_of(&w, "references/one.md", "") == 1000 &&
	    limit_of(&w, "references/x/one.md", "") == 1000);
	OK(limit_of(&w, "docs/SKILL.md", "") == 500);
	OK(limit_of(&w, "docs/one.md", "") == 1500);
	OK(limit_of(&w, "one.md", "") == 2000);
	OK(limit_of(&w, "docs/README.md", "") == 3000);
	OK(limit_of(&w, "one.mdx", "") == 2000 && token_limit(&w.settings,
	    &w.rules, STR("one.mdx"), STR("")).pattern.n == 0);
	OK(w.settings.warning == 500 && w.settings.fallback == 2000);
	arena_free(&w.arena);
}

static void
test_sources(void)
{
	struct world w;

	put(".token-limits.json", "{\"defaults\": {\"*.md\": 123},"
	    " \"overrides\": {\"SKILL.md\": 321, \"x/SKILL.md\": 5}}");
	OK(load(&w) == 0 && w.notes.warnings == 1 && strstr(w.notes.head->msg,
	    ".token-limits.json is deprecated") != NULL);
	OK(limit_of(&w, "SKILL.md", "") == 321 &&
	    limit_of(&w, "SKILL.md", "x/SKILL.md") == 5 &&
	    limit_of(&w, "a.md", "") == 123 && limit_of(&w, "a.txt", "") == 2000);
	arena_free(&w.arena);
	put(".waza.yaml", "tokens:\n  warningThreshold: 7\n"
	    "  fallbackLimit: 11\n  limits:\n    defaults:\n"
	    "      'b*.md': 2\n      'a*.md': 3\n      '*a.md': 1\n"
	    "      plugin/**/SKILL.md: 9\n");
	OK(load(&w) == 0 && w.notes.warnings == 0 &&
	    str_ends(str_of(w.rules.file), STR("/.waza.yaml")));
	OK(limit_of(&w, "aa.md", "") == 1 && limit_of(&w, "ba.md", "") == 1 &&
	    limit_of(&w, "ab.md", "") == 3);
	OK(limit_of(&w, "SKILL.md", "plugin/x/SKILL.md") == 9 &&
	    limit_of(&w, "SKILL.md", "") == 11 && w.settings.warning == 7);
	arena_free(&w.arena);
	put(".waza.yaml", "tokens:\n  limits: {overrides: {SKILL.md: 4}}\n");
	OK(load(&w) == 0 && limit_of(&w, "SKILL.md", "") == 4 &&
	    limit_of(&w, "a.md", "") == 2000 && w.notes.warnings == 0);
	arena_free(&w.arena);
	drop(".token-limits.json");
	drop(".waza.yaml");
}

/* Files that are refused: text, and the line of the first error. */
static void
test_bad(void)
{
	static const struct {
		const char *text;
		unsigned line;
	} bad[] = {
		{ "tokens: 5\n", 1 },
		{ "tokens:\n  limits: 5\n", 2 },
		{ "tokens:\n  limits:\n    defaults: [a]\n", 3 },
		{ "tokens:\n  limits:\n    defaults:\n      '*.md': many\n", 4 },
		{ "tokens:\n  limits:\n    defaults:\n      '*.md': -1\n", 4 },
		{ "tokens:\n  limits:\n    overrides:\n      a.md: 1.5\n", 4 },
		{ "tokens:\n  warningThreshold: x\n", 2 },
		{ "tokens: {\n", 2 },
	};
	static const char *const bad_json[] = { "", "[]", "{}",
	    "{\"defaults\": 5}", "{\"defaults\": {\"a\": \"b\"}}", "{\"overrides\": {}}" };
	struct world w;
	size_t i;

	for (i = 0; i < COUNTOF(bad); i++) {
		put(".waza.yaml", bad[i].text);
		OK(load(&w) == -1 && w.notes.errors > 0 &&
		    w.notes.head->at.line == bad[i].line);
		arena_free(&w.arena);
	}
	drop(".waza.yaml");
	for (i = 0; i < COUNTOF(bad_json); i++) {
		put(".token-limits.json", bad_json[i]);
		OK(load(&w) == -1 && w.notes.errors > 0);
		arena_free(&w.arena);
	}
	drop(".token-limits.json");
	put(".waza.yaml", "tokens:\n  limits:\n    overrides: {'*.md': 1}\n");
	OK(load(&w) == 0 && w.notes.warnings == 1 &&
	    w.notes.head->at.line == 3);
	arena_free(&w.arena);
	drop(".waza.yaml");
}

static void
test_vocab(void)
{
	struct world w;

	put(".waza.yaml", "tokens: {vocab: v/o200k_base.tiktoken}\n");
	OK(load(&w) == 0 && str_ends(str_of(w.settings.vocab),
	    STR("/v/o200k_base.tiktoken")));
	arena_free(&w.arena);
	put(".waza.yaml", "tokens: {vocab: /etc/o200k_base.tiktoken}\n");
	OK(load(&w) == 0 && w.settings.vocab == NULL &&
	    w.notes.warnings == 0);
	arena_free(&w.arena);
	put(".waza.yaml", "tokens: {vocab: ../o200k_base.tiktoken}\n");
	OK(load(&w) == 0 && w.settings.vocab == NULL);
	arena_free(&w.arena);
	put(".waza.yaml", "tokens: {vocab: x/../../o200k_base.tiktoken}\n");
	OK(load(&w) == 0 && w.settings.vocab == NULL &&
	    w.notes.warnings == 1 && w.notes.head->at.line == 1);
	arena_free(&w.arena);
	drop(".waza.yaml");
}

int
main(void)
{
	if (mkdtemp(dir) == NULL)
		return 1;
	test_estimate();
	test_match();
	test_built_in();
	test_sources();
	test_bad();
	test_vocab();
	rmdir(dir);
	return tap_done();
}
