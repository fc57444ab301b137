/* SPDX-License-Identifier: ISC */
/*
 * Checks of a text: it contains a string or matches a pattern, or does not.
 *
 * The text is an agent's: it may be large, contain NUL bytes and not be UTF-8.
 * Strings and patterns are a suite's.  Every check is linear in the text: a
 * search starts with memchr() and memcmp() and changes to Knuth-Morris-Pratt
 * once these have read more bytes than the text has.  The lower-case copy of a
 * text is made once, when it is first needed.
 */
#include "grade/grader_internal.h"

#include <string.h>

#include "lib/re/re.h"
#include "lib/unicode.h"

enum {
	NEAR = 30,		/* bytes shown on each side of a match */
	SHOW_MAX = 60,		/* bytes of a text that is shown whole */
	FIND_COST = 200,	/* in units of a budget: of a search, */
	COMPILE_COST = 300	/* of each byte of a pattern */
};

static size_t
common_prefix(const char *a, const char *b, size_t n)
{
	size_t i;

	for (i = 0; i < n && a[i] == b[i]; i++)
		;
	return i;
}

/* fail[i] is the length of the longest border of the first i bytes. */
static size_t
kmp(struct arena *a, struct str text, size_t from, struct str needle)
{
	struct arena_mark mark = arena_save(a);
	uint32_t *fail = NEW_N(a, uint32_t, needle.n + 1);
	size_t i, k = 0;

	for (i = 1; i < needle.n; i++) {
		while (k > 0 && needle.p[i] != needle.p[k])
			k = fail[k];
		k += needle.p[i] == needle.p[k];
		fail[i + 1] = (uint32_t)k;
	}
	for (i = from, k = 0; i < text.n && k < needle.n; i++) {
		while (k > 0 && text.p[i] != needle.p[k])
			k = fail[k];
		k += text.p[i] == needle.p[k];
	}
	arena_restore(a, mark);
	return k == needle.n ? i - k : SIZE_MAX;
}

size_t
grader_search(struct arena *a, struct str text, struct str needle)
{
	size_t i = 0, n, work = 0;
	const char *p;

	if (needle.n == 0)
		return 0;
	if (needle.n > text.n || needle.n > UINT32_MAX)
		return SIZE_MAX;
	while (text.n - i >= needle.n) {
		p = memchr(text.p + i, needle.p[0], text.n - i - needle.n + 1);
		if (p == NULL)
			return SIZE_MAX;
		i = (size_t)(p - text.p);
		n = common_prefix(p, needle.p, needle.n);
		if (n == needle.n)
			return i;
		work += n;
		i++;
		if (work > text.n && work > 1024)
			return kmp(a, text, i, needle);
	}
	return SIZE_MAX;
}

/* Counts code points; continuation bytes do not count. */
static size_t
characters(struct str s)
{
	size_t i, n = 0;

	for (i = 0; i < s.n; i++)
		n += ((unsigned char)s.p[i] & 0xC0) != 0x80;
	return n;
}

/* Describes the text in which something was not found. */
static struct str
describe(const struct grader_subject *s)
{
	struct str q;

	if (s->text.n == 0)
		return arena_fmt(s->tmp, "the %s is empty", s->what);
	if (s->text.n > SHOW_MAX)
		return arena_fmt(s->tmp, "%zu characters of %s searched",
		    characters(s->text), s->what);
	q = grader_quote(s->tmp, s->text);
	return arena_fmt(s->tmp, "the %s is %.*s", s->what, STRF(q));
}

/* The first offset from i on that starts a character. */
static size_t
next_start(struct str s, size_t i)
{
	while (i < s.n && ((unsigned char)s.p[i] & 0xC0) == 0x80)
		i++;
	return i;
}

/* Quotes a part of the text with its surroundings. */
static struct str
around(struct arena *a, struct str text, size_t start, size_t end)
{
	size_t lo = start > NEAR ? next_start(text, start - NEAR) : 0;
	size_t hi = text.n - end > NEAR ? next_start(text, end + NEAR) :
	    text.n;

	return grader_quote(a, (struct str){ text.p + lo, hi - lo });
}

static struct str
lowered(struct grader_subject *s)
{
	if (!s->lowered)
		unicode_put_lower(&s->lower, s->text);
	s->lowered = true;
	return buf_str(&s->lower);
}

/*
 * The offset of the needle or SIZE_MAX.  Without case_sensitive the offset is
 * approximate, since lower-case letters may have other lengths.
 */
static size_t
find(struct grader_subject *s, struct str needle, bool case_sensitive)
{
	struct buf low = { 0 };
	size_t at;

	if (!budget_take(s->budget, FIND_COST + s->text.n / 2 +
	    (case_sensitive || s->lowered ? 0 : s->text.n * 8)))
		return SIZE_MAX;
	if (case_sensitive)
		return grader_search(s->tmp, s->text, needle);
	unicode_put_lower(&low, needle);
	at = grader_search(s->tmp, lowered(s), buf_str(&low));
	buf_free(&low);
	return at == SIZE_MAX || at < s->text.n ? at : s->text.n;
}

bool
grader_contains(struct grader_subject *s, struct str needle)
{
	return find(s, needle, false) != SIZE_MAX;
}

static void
fail_missing(struct grader_subject *s, const char *how, struct str what)
{
	struct str q = grader_quote(s->tmp, what), l = describe(s);

	grader_fail(s->tally, "%s %.*s (%.*s)", how, STRF(q), STRF(l));
}

static void
fail_found(struct grader_subject *s, const char *how, struct str what,
    struct re_span at)
{
	struct str q = grader_quote(s->tmp, what), l;

	l = around(s->tmp, s->text, at.start, at.end);
	grader_fail(s->tally, "%s %.*s (%s contains %.*s)", how, STRF(q),
	    s->what, STRF(l));
}

void
grader_check_text(struct grader_subject *s, struct str needle,
    bool case_sensitive, bool forbid)
{
	struct re_span at;

	at.start = find(s, needle, case_sensitive);
	if (forbid == (at.start == SIZE_MAX)) {
		grader_pass(s->tally);
	} else if (forbid) {
		at.end = s->text.n - at.start < needle.n ? s->text.n :
		    at.start + needle.n;
		fail_found(s, "unwanted", needle, at);
	} else {
		fail_missing(s, case_sensitive ?
		    "missing (case-sensitive)" : "missing", needle);
	}
}

/*
 * The compiled pattern can be large, so it is freed before the message is
 * written.
 */
void
grader_check_match(struct grader_subject *s, struct str pattern, bool forbid)
{
	struct arena_mark mark = arena_save(s->tmp);
	struct err e = { 0 };
	struct re *re = NULL;
	struct re_span at = { 0, 0 };
	bool valid, found;
	struct str q;

	if (budget_take(s->budget, (uint64_t)pattern.n * COMPILE_COST))
		re = re_compile(s->tmp, pattern, &e);
	valid = re != NULL;
	if (valid)
		re_limit(re, s->budget);
	found = valid && re_test(re, s->text);
	if (found && forbid)
		re_match(re, s->text, 0, &at, 1);
	arena_restore(s->tmp, mark);
	if (!valid) {
		q = grader_quote(s->tmp, pattern);
		grader_fail(s->tally, "invalid pattern %.*s: %s", STRF(q),
		    e.msg);
	} else if (found != forbid) {
		grader_pass(s->tally);
	} else if (forbid) {
		fail_found(s, "unwanted match for", pattern, at);
	} else {
		fail_missing(s, "no match for", pattern);
	}
}

void
grader_subject_fini(struct grader_subject *s)
{
	buf_free(&s->lower);
}
