/* SPDX-License-Identifier: ISC */
#include <string.h>

#include "base/base.h"
#include "skill/triggers.h"
#include "test/tool/tap.h"

/* Whether the phrases are those of want, which '|' separates. */
static bool
are(const struct field_strs *got, const char *want)
{
	struct buf b = { 0 };
	size_t i;
	bool ok;

	for (i = 0; i < got->n; i++)
		buf_fmt(&b, "%s%.*s", i > 0 ? "|" : "", STRF(got->v[i]));
	ok = str_is(buf_str(&b), want);
	if (!ok)
		printf("# got: %.*s\n", STRF(buf_str(&b)));
	buf_free(&b);
	return ok;
}

/* Whether the description has these phrases. */
static bool
reads(const char *text, const char *use, const char *avoid)
{
	struct arena a = { 0 };
	struct triggers t;
	bool ok;

	triggers_read(&a, str_of(text), &t);
	ok = are(&t.use, use);
	ok = are(&t.avoid, avoid) && ok;
	arena_free(&a);
	return ok;
}

static void
test_lists(void)
{
	OK(reads("Does it. USE FOR: run evals, check my skill, and ship. "
	    "DO NOT USE FOR: general coding, content (use other).",
	    "run evals|check my skill|ship", "general coding|content"));
	OK(reads("USE FOR: \"release SDK\", \342\200\234ship it\342\200\235, "
	    "or so. INVOKES: a, b", "release SDK|ship it", ""));
	OK(reads("DO NOT USE FOR: x", "", "x"));
	OK(reads("use for: a\n  b,\nc\nWHEN: d. NOT FOR: e", "a b|c|d", "e"));
	OK(reads("Use for: choosing (a, b); wiring it; all, of it. More here.",
	    "choosing|wiring it|all, of it", ""));
	OK(reads("USE FOR: one. FOR SINGLE OPERATIONS: use two, three",
	    "one", ""));
	OK(reads("USE FOR: a, a, , b", "a|b", ""));
	OK(reads("USE FOR: a, b\n\nThis is data, too.", "a|b", ""));
	OK(reads("USE FOR:", "", ""));
	OK(reads("", "", ""));
	OK(reads("Reuse for: x", "", ""));
}

static void
test_sentences(void)
{
	OK(reads("Reads PDF files. Use when the user has a PDF, e.g. a form. "
	    "Do not use for images or slides.",
	    "the user has a PDF, e.g. a form", "images or slides"));
	OK(reads("Use when user says \"grill me\" or 'ask me' today.",
	    "grill me|ask me", ""));
	OK(reads("Use when it's the user's turn.", "it's the user's turn",
	    ""));
	OK(reads("Use this skill to do a. USE FOR: b", "b", ""));
	OK(reads("\343\200\214\351\233\206\347\264\204\343\200\215 Use when "
	    "\343\200\214\345\242\203\347\225\214\343\200\215.",
	    "\345\242\203\347\225\214", ""));
	OK(reads("Nothing is said about it when it matters.", "", ""));
}

static void
test_count(void)
{
	struct str s = STR("USE FOR: a, b. more, \"c\". WHEN: d, .\n\ne, f\n"
	    "DO NOT USE FOR: g, h\nTRIGGERS: i");

	OK(triggers_count(s, TRIGGERS_USE_FOR) == 3);
	OK(triggers_count(s, TRIGGERS_WHEN) == 1);
	OK(triggers_count(s, TRIGGERS_DO_NOT) == 2);
	OK(triggers_count(STR("DO NOT USE FOR: a"), TRIGGERS_USE_FOR) == 0);
	OK(triggers_count(STR("USE FOR: a, use when b, c"),
	    TRIGGERS_USE_FOR) == 3);
	OK(triggers_count(STR(""), TRIGGERS_WHEN) == 0);
}

static void
test_keywords(void)
{
	struct arena a = { 0 };
	struct field_strs out;
	struct triggers t;

	triggers_read(&a, STR("USE FOR: run my Evals, check the skill, "
	    "compare"), &t);
	triggers_keywords(&a, &t, STR("x-y"), &out);
	OK(are(&out, "check|evals|run|skill"));
	triggers_read(&a, STR(""), &t);
	triggers_keywords(&a, &t, STR("pdf-the-reader"), &out);
	OK(are(&out, "pdf|reader"));
	triggers_keywords(&a, &t, STR("ab"), &out);
	OK(are(&out, "ab"));
	arena_free(&a);
}

/* Every prefix of a text, so that no end is read past. */
static void
test_prefixes(void)
{
	struct str s = STR("Use when 'a' b. USE FOR: \"x\" (y, z), "
	    "\343\200\214w\343\200\215\343\200\202 DO NOT USE FOR: q; r\n\n");
	struct arena a = { 0 };
	struct triggers t;
	size_t i;
	char *copy;

	for (i = 0; i <= s.n; i++) {
		copy = malloc(i + (i == 0));
		memcpy(copy, s.p, i);
		triggers_read(&a, (struct str){ copy, i }, &t);
		(void)triggers_count((struct str){ copy, i }, TRIGGERS_DO_NOT);
		free(copy);
	}
	OK(are(&t.use, "x|w") && are(&t.avoid, "q|r"));
	arena_free(&a);
}

int
main(void)
{
	RUN(test_lists, test_sentences, test_count, test_keywords,
	    test_prefixes);
	return tap_done();
}
