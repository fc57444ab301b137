/* SPDX-License-Identifier: ISC */
/*
 * Patterns over file names.
 *
 * A pattern is a sequence of chunks with stars between them.  As in Go, a
 * chunk behind a star matches at the first possible place and is not tried
 * again elsewhere, so the time is at most the product of both lengths.  The
 * last chunk must match at the end of the name.
 */
#include "lib/glob.h"

#include <string.h>

struct scan {
	const char *p, *end;
	const char *bad;	/* what is wrong with the pattern, or NULL */
};

/* Decodes the character at p; an invalid byte counts as one character. */
static size_t
get_char(const char *p, const char *end, uint32_t *c)
{
	size_t n = utf8_get(p, end, c);

	if (n > 0)
		return n;
	*c = 0xFFFD;
	return 1;
}

/* Reads one end of a range in a set. */
static bool
set_char(struct scan *s, uint32_t *c)
{
	size_t n;

	if (s->p < s->end && *s->p == '\\')
		s->p++;
	else if (s->p < s->end && (*s->p == '-' || *s->p == ']')) {
		s->bad = *s->p == '-' ? "a range lacks its first character" :
		    "a set is empty";
		return false;
	}
	if (s->p == s->end) {
		s->bad = "] is missing";
		return false;
	}
	n = utf8_get(s->p, s->end, c);
	if (n == 0) {
		s->bad = "not UTF-8";
		return false;
	}
	s->p += n;
	return true;
}

/* Whether c is in the set, from behind its bracket on; may set bad. */
static bool
match_set(struct scan *s, uint32_t c)
{
	bool negated = s->p < s->end && *s->p == '^';
	bool in = false, any = false;
	uint32_t lo, hi;

	if (negated)
		s->p++;
	while (!any || s->p == s->end || *s->p != ']') {
		if (!set_char(s, &lo))
			return false;
		hi = lo;
		if (s->p < s->end && *s->p == '-') {
			s->p++;
			if (!set_char(s, &hi))
				return false;
		}
		in |= lo <= c && c <= hi;
		any = true;
	}
	s->p++;
	return in != negated;
}

/* Whether the next item of a chunk matches c; always skips the item. */
static bool
match_item(struct scan *s, uint32_t c)
{
	uint32_t want;

	switch (*s->p) {
	case '[':
		s->p++;
		return match_set(s, c);
	case '?':
		s->p++;
		return c != '/';
	case '\\':
		if (++s->p == s->end) {
			s->bad = "it ends with a backslash";
			return false;
		}
		break;
	}
	s->p += get_char(s->p, s->end, &want);
	return want == c;
}

/* The end of the chunk's match at p, or NULL. */
static const char *
match_chunk(struct str chunk, const char *p, const char *end)
{
	struct scan s = { chunk.p, chunk.p + chunk.n, NULL };
	const char *at;
	uint32_t c;
	size_t n;

	while (s.p < s.end) {
		if (p == end)
			return NULL;
		n = get_char(p, end, &c);
		at = s.p;
		/* invalid bytes match only themselves */
		if (c == 0xFFFD && *at != '[' && *at != '?' && *at != '\\') {
			if (*at != *p)
				return NULL;
			s.p++;
			p++;
			continue;
		}
		if (!match_item(&s, c) || s.bad != NULL)
			return NULL;
		p += n;
	}
	return p;
}

/* Removes leading stars and a chunk from the pattern. */
static struct str
next_chunk(struct str *pattern, bool *star)
{
	const char *p = pattern->p, *end = p + pattern->n, *from;
	bool set = false;

	*star = false;
	for (; p < end && *p == '*'; p++)
		*star = true;
	for (from = p; p < end && (set || *p != '*'); p++) {
		if (*p == '\\' && p + 1 < end)
			p++;
		else if (*p == '[')
			set = true;
		else if (*p == ']')
			set = false;
	}
	*pattern = (struct str){ p, (size_t)(end - p) };
	return (struct str){ from, (size_t)(p - from) };
}

/* The end of the chunk's first match after a star, before any slash. */
static const char *
match_behind(struct str chunk, const char *p, const char *end, bool last)
{
	const char *q;

	for (; p < end && *p != '/'; p++) {
		q = match_chunk(chunk, p + 1, end);
		if (q != NULL && (!last || q == end))
			return q;
	}
	return NULL;
}

bool
glob_match(struct str pattern, struct str name)
{
	const char *p, *end, *q;
	struct err e;
	struct str chunk;
	bool star;

	if (glob_check(pattern, &e) == -1)
		return false;
	p = name.n > 0 ? name.p : "";
	end = p + name.n;
	while (pattern.n > 0) {
		chunk = next_chunk(&pattern, &star);
		if (star && chunk.n == 0)
			return memchr(p, '/', (size_t)(end - p)) == NULL;
		q = match_chunk(chunk, p, end);
		if ((q == NULL || (pattern.n == 0 && q != end)) && star)
			q = match_behind(chunk, p, end, pattern.n == 0);
		if (q == NULL)
			return false;
		p = q;
	}
	return p == end;
}

int
glob_check(struct str pattern, struct err *e)
{
	struct scan s = { pattern.p, pattern.p, NULL };
	const char *at;

	if (pattern.n > 0)
		s.end += pattern.n;
	while (s.p < s.end) {
		at = s.p;
		match_item(&s, 0);
		if (s.bad != NULL) {
			err_set(e, ERR_SYNTAX, "bad pattern: %s", s.bad);
			return err_at(e, 1, (unsigned)(at - pattern.p) + 1);
		}
	}
	return 0;
}

bool
glob_any(struct str pattern)
{
	size_t i;

	for (i = 0; i < pattern.n; i++)
		if (strchr("*?[\\", pattern.p[i]) != NULL &&
		    pattern.p[i] != '\0')
			return true;
	return false;
}

static struct str
strip_slashes(struct str s)
{
	for (; s.n > 0 && s.p[0] == '/'; s.n--)
		s.p++;
	while (s.n > 0 && s.p[s.n - 1] == '/')
		s.n--;
	return s;
}

/* Removes and returns the part up to the next slash. */
static struct str
next_part(struct str *s)
{
	const char *slash = memchr(s->p, '/', s->n);
	struct str part = *s;

	if (slash != NULL)
		part.n = (size_t)(slash - s->p);
	s->p += part.n;
	s->n -= part.n;
	*s = strip_slashes(*s);
	return part;
}

static bool
is_plain_at_end(struct str pattern)
{
	struct str last = pattern;

	while (pattern.n > 0)
		last = next_part(&pattern);
	return !glob_any(last);
}

/*
 * Only the last ** is ever retried: the parts before it matched at the
 * earliest place, which leaves the longest rest.
 */
bool
glob_path(struct str pattern, struct str path)
{
	struct str p = strip_slashes(pattern), s = strip_slashes(path);
	struct str retry = { NULL, 0 }, from = { NULL, 0 }, part, word;
	bool below = p.n > 0 && is_plain_at_end(p);

	for (;;) {
		if (p.n == 0 && (s.n == 0 || below))
			return true;
		part = p.n > 0 ? next_part(&p) : STR("");
		if (str_is(part, "**")) {
			if (p.n == 0)
				return s.n > 0;
			retry = p;
			from = s;
			continue;
		}
		word = s.n > 0 ? next_part(&s) : STR("");
		if (part.n > 0 && word.n > 0 && glob_match(part, word))
			continue;
		if (retry.p == NULL || from.n == 0)
			return false;
		next_part(&from);
		p = retry;
		s = from;
	}
}

struct braces {
	struct arena *arena;
	struct str *out;
	size_t n, max;
};

/* Finds the first list in braces: its start, end and number of commas. */
static const char *
find_list(struct str s, const char **open, size_t *commas)
{
	const char *p, *end = s.p + s.n, *from = NULL;
	size_t depth = 0;

	*commas = 0;
	for (p = s.p; p < end; p++) {
		if (*p == '\\' && p + 1 < end)
			p++;
		else if (*p == '{' && depth++ == 0) {
			from = p;
			*commas = 0;
		} else if (*p == ',' && depth == 1)
			(*commas)++;
		else if (*p == '}' && depth > 0 && --depth == 0 &&
		    *commas > 0) {
			*open = from;
			return p;
		}
	}
	return NULL;
}

/* The text up to the next comma that is not in nested braces. */
static struct str
next_word(const char **p, const char *end)
{
	const char *from = *p;
	size_t depth = 0;

	for (; *p < end && (**p != ',' || depth > 0); (*p)++) {
		if (**p == '\\' && *p + 1 < end)
			(*p)++;
		else if (**p == '{')
			depth++;
		else if (**p == '}')
			depth--;
	}
	return (struct str){ from, (size_t)(*p - from) };
}

static void
expand(struct braces *b, struct str s)
{
	const char *open, *close, *p;
	struct str word, head, tail;
	size_t commas;

	if (b->n > b->max)
		return;
	close = find_list(s, &open, &commas);
	if (close == NULL) {
		if (b->n < b->max)
			b->out[b->n] = arena_str(b->arena, s);
		b->n++;
		return;
	}
	head = (struct str){ s.p, (size_t)(open - s.p) };
	tail = (struct str){ close + 1, (size_t)(s.p + s.n - close) - 1 };
	for (p = open + 1; p <= close && b->n <= b->max; p++) {
		word = next_word(&p, close);
		expand(b, arena_fmt(b->arena, "%.*s%.*s%.*s", STRF(head),
		    STRF(word), STRF(tail)));
	}
}

size_t
glob_braces(struct arena *a, struct str pattern, struct str *out, size_t max)
{
	struct braces b = { a, out, 0, max };

	expand(&b, pattern);
	return b.n;
}
