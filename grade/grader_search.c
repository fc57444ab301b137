/* SPDX-License-Identifier: ISC */
/*
 * Checks of a text: it has a string, it has a match, it has not.
 *
 * The text is an agent's and may be large, may hold NUL bytes and may not be
 * UTF-8; needles and patterns are a suite's.  So every check is linear in the
 * text: a search starts out with memchr and memcmp, and turns to Knuth,
 * Morris and Pratt once these have looked at more bytes than a few times the
 * text.  Lower case is made once per text, and only when it is asked for.
 */
#include "grade/grader_internal.h"

#include <stdint.h>
#include <string.h>

#include "lib/re/re.h"
#include "lib/unicode.h"

enum {
	NEAR = 30,		/* bytes shown around what was found */
	SHOW_MAX = 60		/* bytes of a text that is shown whole */
};

static size_t
same(const char *a, const char *b, size_t n)
{
	size_t i;

	for (i = 0; i < n && a[i] == b[i]; i++)
		;
	return i;
}

/* fail[i]: length of the longest proper border of the first i bytes. */
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
		n = same(p, needle.p, needle.n);
		if (n == needle.n)
			return i;
		work += n;
		i++;
		if (work > text.n && work > 1024)
			return kmp(a, text, i, needle);
	}
	return SIZE_MAX;
}

/* Code points; stray bytes of a sequence do not count. */
static size_t
characters(struct str s)
{
	size_t i, n = 0;

	for (i = 0; i < s.n; i++)
		n += ((unsigned char)s.p[i] & 0xC0) != 0x80;
	return n;
}

/* What a text is like, for those who looked for something in it in vain. */
static struct str
like(const struct grader_subject *s)
{
	struct str q;

	if (s->text.n == 0)
		return arena_fmt(s->tmp, "the %s is empty", s->what);
	if (s->text.n > SHOW_MAX)
		return arena_fmt(s->tmp, "not in %zu characters of %s",
		    characters(s->text), s->what);
	q = grader_quote(s->tmp, s->text);
	return arena_fmt(s->tmp, "the %s is %.*s", s->what, STRF(q));
}

static size_t
forth(struct str s, size_t i)
{
	while (i < s.n && ((unsigned char)s.p[i] & 0xC0) == 0x80)
		i++;
	return i;
}

/* The part of a text where something is, with a little on both sides. */
static struct str
around(struct arena *a, struct str text, size_t start, size_t end)
{
	size_t lo = start > NEAR ? forth(text, start - NEAR) : 0;
	size_t hi = text.n - end > NEAR ? forth(text, end + NEAR) : text.n;

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

/* Where it is in the text, or near that when its case was changed. */
static size_t
find(struct grader_subject *s, struct str needle, bool sensitive)
{
	struct buf low = { 0 };
	size_t at;

	if (sensitive)
		return grader_search(s->tmp, s->text, needle);
	unicode_put_lower(&low, needle);
	at = grader_search(s->tmp, lowered(s), buf_str(&low));
	buf_free(&low);
	return at == SIZE_MAX || at < s->text.n ? at : s->text.n;
}

bool
grader_has(struct grader_subject *s, struct str needle)
{
	return find(s, needle, false) != SIZE_MAX;
}

static void
missing(struct grader_subject *s, const char *how, struct str what)
{
	struct str q = grader_quote(s->tmp, what), l = like(s);

	grader_fail(s->tally, "%s %.*s (%.*s)", how, STRF(q), STRF(l));
}

static void
unwanted(struct grader_subject *s, const char *how, struct str what,
    struct re_span at)
{
	struct str q = grader_quote(s->tmp, what), l;

	l = around(s->tmp, s->text, at.start, at.end);
	grader_fail(s->tally, "%s %.*s (%s has %.*s)", how, STRF(q),
	    s->what, STRF(l));
}

void
grader_want(struct grader_subject *s, struct str needle, bool sensitive)
{
	if (find(s, needle, sensitive) != SIZE_MAX)
		grader_pass(s->tally);
	else
		missing(s, sensitive ? "missing, in this case," : "missing",
		    needle);
}

void
grader_ban(struct grader_subject *s, struct str needle, bool sensitive)
{
	struct re_span at;

	at.start = find(s, needle, sensitive);
	if (at.start == SIZE_MAX) {
		grader_pass(s->tally);
		return;
	}
	at.end = s->text.n - at.start < needle.n ? s->text.n :
	    at.start + needle.n;
	unwanted(s, "unwanted", needle, at);
}

enum found { FOUND_BAD, FOUND_NOT, FOUND };

/* Leaves nothing behind of the pattern, whose automaton can be large. */
static enum found
match(struct grader_subject *s, struct str pattern, struct re_span *at)
{
	struct arena_mark mark = arena_save(s->tmp);
	struct err e = { 0 };
	struct re *re = re_compile(s->tmp, pattern, &e);
	enum found found = FOUND_BAD;
	struct str q;

	if (re != NULL)
		found = re_test(re, s->text) ? FOUND : FOUND_NOT;
	if (found == FOUND && at != NULL)
		re_match(re, s->text, 0, at, 1);
	arena_restore(s->tmp, mark);
	if (found == FOUND_BAD) {
		q = grader_quote(s->tmp, pattern);
		grader_fail(s->tally, "invalid pattern %.*s: %s", STRF(q),
		    e.msg);
	}
	return found;
}

void
grader_want_match(struct grader_subject *s, struct str pattern)
{
	switch (match(s, pattern, NULL)) {
	case FOUND:
		grader_pass(s->tally);
		break;
	case FOUND_NOT:
		missing(s, "no match for", pattern);
		break;
	case FOUND_BAD:
		break;
	}
}

void
grader_ban_match(struct grader_subject *s, struct str pattern)
{
	struct re_span at = { 0, 0 };

	switch (match(s, pattern, &at)) {
	case FOUND:
		unwanted(s, "unwanted match for", pattern, at);
		break;
	case FOUND_NOT:
		grader_pass(s->tally);
		break;
	case FOUND_BAD:
		break;
	}
}

void
grader_subject_fini(struct grader_subject *s)
{
	buf_free(&s->lower);
}
