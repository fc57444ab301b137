/* SPDX-License-Identifier: ISC */
/*
 * Translates patterns of Python's re to the dialect of lib/re.
 *
 * The two agree on alternatives, which are tried from the left, on greedy and
 * lazy repetition, and on the leftmost match.  Differences are written out for
 * the text that the pattern is matched against: in Python, \d \w \s match
 * Unicode, and $ matches before a newline at the end.  A pattern that cannot
 * be written so, or that depends on backtracking (lookaround, references,
 * repetition of an empty match), is declined.
 *
 * "$" at the end of the pattern, if the text ends in a newline, becomes an
 * empty group and an optional newline; the group marks the end of the match.
 */
#include "lib/py/expr_internal.h"

#include <stdio.h>
#include <string.h>

#include "lib/unicode.h"

enum { DEPTH_MAX = 50, COUNT_MAX = 1000, WEIGHT_MAX = 100000 };

struct pat {
	struct eval *ev;
	struct str s;
	size_t i;
	int64_t flags;
	enum expr_match how;
	struct translation *t;
	bool ascii;		/* the subject is ASCII */
	bool newline;		/* the subject ends in a newline */
	size_t inner;		/* groups in the output, with marks */
	unsigned depth;
	struct str names[EXPR_GROUPS_MAX];
	size_t nnames;
};

/* Properties of a piece of the pattern. */
struct piece {
	bool nullable;
	bool anchor;		/* cannot be repeated */
	size_t weight;
};

static int alternatives(struct pat *, struct piece *);
static int braces(struct pat *, int64_t *min, int64_t *max);

static int
unsupported(struct pat *p)
{
	return expr_decline(p->ev, "unsupported regular expression");
}

static int
put(struct pat *p, const char *s)
{
	return expr_put(p->ev, &p->t->out, str_of(s));
}

static int
put_rune(struct pat *p, const char *before, uint32_t c)
{
	char text[24];

	snprintf(text, sizeof(text), "%s\\x{%lx}", before, (unsigned long)c);
	return put(p, text);
}

static int
peek(const struct pat *p, size_t k)
{
	return p->s.n - p->i > k ? (unsigned char)p->s.p[p->i + k] : -1;
}

/*
 * True if Python folds the case of these code points as lib/re does.  It does
 * so for code points without case and, with a few exceptions, for Latin to
 * Cyrillic.
 */
static bool
folds_alike(const struct pat *p, uint32_t lo, uint32_t hi)
{
	static const uint32_t others[] = { 0x130, 0x131, 0x390, 0x3B0, 0x1FD3,
		0x1FE3, 0xFB05, 0xFB06 };
	size_t i;

	if (!(p->flags & EXPR_FLAG_FOLD) || hi < 0x80)
		return true;
	if ((lo >= 0x2E80 && hi < 0xA640) || (lo >= 0xAC00 && hi < 0xD7B0))
		return true;
	for (i = 0; i < COUNTOF(others); i++)
		if (lo == others[i])
			return false;
	return lo == hi && (lo < 0x530 || unicode_fold_next(lo) == lo);
}

static int
put_literal(struct pat *p, uint32_t c)
{
	if (!folds_alike(p, c, c))
		return unsupported(p);
	return put_rune(p, "", c);
}

/* Escapes and classes. */

/* \d \w \s and their opposites within brackets; NULL: not possible. */
static const char *
class_of(const struct pat *p, int letter)
{
	switch (letter) {
	case 'd':
		return p->ascii ? "0-9" : "\\p{Nd}";
	case 'D':
		return p->ascii ? "\\D" : "\\P{Nd}";
	case 'w':
		return p->ascii ? "0-9A-Za-z_" : "\\pL\\pN_";
	case 'W':
		return p->ascii ? "\\W" : NULL;
	case 's':
		return "\\t-\\r\\x1c-\\x20\\x{85}\\x{a0}\\x{1680}"
		    "\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}"
		    "\\x{3000}";
	default:
		return "\\x00-\\x08\\x0e-\\x1b\\x21-\\x{84}\\x{86}-\\x{9f}"
		    "\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}"
		    "\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}"
		    "\\x{3001}-\\x{10ffff}";
	}
}

static bool
is_class(int c)
{
	return c > 0 && strchr("dDwWsS", c) != NULL;
}

static bool
hex(struct pat *p, size_t digits, uint32_t *out)
{
	for (*out = 0; digits > 0; digits--, p->i++) {
		if (peek(p, 0) == -1 || hex_digit((char)peek(p, 0)) == -1)
			return false;
		*out = *out * 16 + (uint32_t)hex_digit((char)peek(p, 0));
	}
	return *out < 0xD800 || *out > 0xDFFF;
}

/* The code point of an escape, read from behind the backslash. */
static bool
escaped(struct pat *p, uint32_t *out)
{
	static const char from[] = "nrt", to[] = "\n\r\t";
	int c = peek(p, 0);
	const char *hit;

	if (c <= 0 || c >= 0x80)
		return false;
	p->i++;
	hit = strchr(from, c);
	if (hit != NULL) {
		*out = (uint32_t)to[hit - from];
		return true;
	}
	if (c == 'x' || c == 'u')
		return hex(p, c == 'x' ? 2 : 4, out);
	*out = (uint32_t)c;
	return !((c >= '0' && c <= '9') || ((c | 0x20) >= 'a' &&
	    (c | 0x20) <= 'z'));
}

static bool
rune(struct pat *p, uint32_t *out)
{
	size_t n = utf8_get(p->s.p + p->i, p->s.p + p->s.n, out);

	p->i += n;
	return n > 0;
}

/* Reads an end of a range: 0; 1 if it was \d or its like and put; -1. */
static int
class_end(struct pat *p, uint32_t *out)
{
	int c = peek(p, 0);

	if (c == -1)
		return unsupported(p);
	if (c != '\\')
		return rune(p, out) ? 0 : unsupported(p);
	p->i++;
	c = peek(p, 0);
	if (!is_class(c))
		return escaped(p, out) ? 0 : unsupported(p);
	p->i++;
	p->t->taboo |= EXPR_FACT_CHANGED;
	if (class_of(p, c) == NULL)
		return unsupported(p);
	return put(p, class_of(p, c)) == -1 ? -1 : 1;
}

/* A class, read from behind its bracket. */
static int
class(struct pat *p)
{
	uint32_t lo, hi;
	bool first = true;
	int rc;

	if (put(p, "[") == -1)
		return -1;
	if (peek(p, 0) == '^') {
		p->i++;
		if (put(p, "^") == -1)
			return -1;
	}
	for (; peek(p, 0) != ']' || first; first = false) {
		rc = class_end(p, &lo);
		if (rc == -1)
			return -1;
		if (peek(p, 0) == '-' && peek(p, 1) != ']') {
			p->i++;
			if (rc == 1)
				return unsupported(p);
			rc = class_end(p, &hi);
			if (rc == -1)
				return -1;
			if (rc == 1 || hi < lo)
				return unsupported(p);
		} else if (rc == 1)
			continue;
		else
			hi = lo;
		if (!folds_alike(p, lo, hi))
			return unsupported(p);
		if (put_rune(p, "", lo) == -1 ||
		    put_rune(p, "-", hi) == -1)
			return -1;
	}
	p->i++;
	return put(p, "]");
}

/* Anchors. */

static int
dollar(struct pat *p)
{
	bool last = p->depth == 0 && (peek(p, 0) == -1 || peek(p, 0) == '|');
	struct translation *t = p->t;

	if (p->flags & EXPR_FLAG_LINES)
		return put(p, "(?m:$)");
	t->dollar = true;
	if (!p->newline || (last && p->how == EXPR_MATCH_FULL))
		return put(p, "\\z");
	if (!last || t->nmarks == COUNTOF(t->marks))
		return unsupported(p);
	t->marks[t->nmarks++] = ++p->inner;
	return put(p, "()\\n?\\z");
}

static int
backslash(struct pat *p, struct piece *out)
{
	int c = peek(p, 0);
	uint32_t cp;

	if (c == 'A' || c == 'Z') {
		p->i++;
		*out = (struct piece){ true, true, 1 };
		return put(p, c == 'A' ? "\\A" : "\\z");
	}
	if (c == 'b') {
		p->i++;
		*out = (struct piece){ true, true, 1 };
		p->t->taboo |= EXPR_FACT_WORD | EXPR_FACT_CHANGED;
		return put(p, "\\b");
	}
	if (is_class(c)) {
		p->i++;
		p->t->taboo |= EXPR_FACT_CHANGED;
		if (put(p, c == 'W' ? "[^" : "[") == -1 ||
		    put(p, class_of(p, c == 'W' ? 'w' : c)) == -1)
			return -1;
		return put(p, "]");
	}
	if (!escaped(p, &cp))
		return unsupported(p);
	return put_literal(p, cp);
}

/* Groups. */

static int
group_name(struct pat *p)
{
	size_t from = p->i, i;
	struct str name;
	int c;

	while ((c = peek(p, 0)) == '_' || (c >= '0' && c <= '9') ||
	    ((c | 0x20) >= 'a' && (c | 0x20) <= 'z'))
		p->i++;
	name = (struct str){ p->s.p + from, p->i - from };
	if (c != '>' || name.n == 0 || (name.p[0] >= '0' && name.p[0] <= '9'))
		return unsupported(p);
	for (i = 0; i < p->nnames; i++)
		if (str_eq(p->names[i], name))
			return unsupported(p);
	if (p->nnames == COUNTOF(p->names))
		return unsupported(p);
	p->names[p->nnames++] = name;
	p->i++;
	return put(p, "(?P<") == -1 || expr_put(p->ev, &p->t->out, name) ==
	    -1 ? -1 : put(p, ">");
}

static int
open_capture(struct pat *p)
{
	struct translation *t = p->t;

	if (t->ngroups == EXPR_GROUPS_MAX)
		return unsupported(p);
	t->group[++t->ngroups] = ++p->inner;
	return 0;
}

/* A group, read from behind its parenthesis. */
static int
group(struct pat *p, struct piece *out)
{
	if (p->depth == DEPTH_MAX)
		return unsupported(p);
	if (peek(p, 0) != '?') {
		if (open_capture(p) == -1 || put(p, "(") == -1)
			return -1;
	} else if (peek(p, 1) == ':') {
		p->i += 2;
		if (put(p, "(?:") == -1)
			return -1;
	} else if (peek(p, 1) == 'P' && peek(p, 2) == '<') {
		p->i += 3;
		if (open_capture(p) == -1 || group_name(p) == -1)
			return -1;
	} else
		return unsupported(p);
	p->depth++;
	if (alternatives(p, out) == -1)
		return -1;
	p->depth--;
	if (peek(p, 0) != ')')
		return unsupported(p);
	p->i++;
	return put(p, ")");
}

static int
atom(struct pat *p, struct piece *out)
{
	int c = peek(p, 0);
	int64_t min, max;
	uint32_t cp;

	*out = (struct piece){ false, false, 1 };
	if (c == '\\') {
		p->i++;
		return backslash(p, out);
	}
	if (c == '^' || c == '$') {
		p->i++;
		*out = (struct piece){ true, true, 1 };
		return c == '$' ? dollar(p) : put(p, p->flags &
		    EXPR_FLAG_LINES ? "(?m:^)" : "\\A");
	}
	if (c == '[') {
		p->i++;
		return class(p);
	}
	if (c == '(') {
		p->i++;
		return group(p, out);
	}
	if (c == '.') {
		p->i++;
		return put(p, p->flags & EXPR_FLAG_DOT_ALL ? "(?s:.)" : ".");
	}
	if (c == '*' || c == '+' || c == '?' || (c == '{' &&
	    braces(p, &min, &max) == 1) || !rune(p, &cp))
		return unsupported(p);
	return put_literal(p, cp);
}

/* Repetition. */

static bool
count(struct pat *p, int64_t *out)
{
	size_t from = p->i;

	while (peek(p, 0) >= '0' && peek(p, 0) <= '9')
		p->i++;
	return p->i > from && expr_read_int((struct str){ p->s.p + from,
	    p->i - from }, out);
}

/* Reads {m,n}: 1, or 0 if these are ordinary characters. */
static int
braces(struct pat *p, int64_t *min, int64_t *max)
{
	size_t from = p->i++;
	bool low, high = false;

	*min = 0;
	low = count(p, min);
	*max = low ? *min : INT64_MAX;
	if (peek(p, 0) == ',') {
		p->i++;
		high = true;
		if (!count(p, max))
			*max = INT64_MAX;
	}
	if (peek(p, 0) != '}' || (!low && !high)) {
		p->i = from;
		return 0;
	}
	p->i++;
	return 1;
}

static int
put_times(struct pat *p, int64_t min, int64_t max)
{
	char text[24];

	if (min == 0 && max == 1)
		return put(p, "?");
	if (max == INT64_MAX && min <= 1)
		return put(p, min == 0 ? "*" : "+");
	if (min > COUNT_MAX || (max != INT64_MAX && max > COUNT_MAX))
		return unsupported(p);
	if (max == INT64_MAX)
		snprintf(text, sizeof(text), "{%d,}", (int)min);
	else
		snprintf(text, sizeof(text), "{%d,%d}", (int)min, (int)max);
	return put(p, text);
}

/* Reads a repetition of the atom, which contains the groups after `groups`. */
static int
repetition(struct pat *p, struct piece *a, size_t groups)
{
	int64_t min = 0, max = INT64_MAX, again[2];
	int c = peek(p, 0);
	bool lazy;

	if (c == '{') {
		if (braces(p, &min, &max) == 0)
			return 0;
	} else if (c == '*' || c == '+' || c == '?') {
		p->i++;
		min = c == '+';
		max = c == '?' ? 1 : INT64_MAX;
	} else
		return 0;
	if (a->nullable || a->anchor || max < min || max == 0)
		return unsupported(p);
	if (put_times(p, min, max) == -1)
		return -1;
	lazy = peek(p, 0) == '?';
	if (lazy) {
		p->i++;
		if (put(p, "?") == -1)
			return -1;
	}
	c = peek(p, 0);
	if (c == '*' || c == '+' || c == '?')
		return unsupported(p);
	if (c == '{' && braces(p, &again[0], &again[1]) == 1)
		return unsupported(p);
	if (p->t->ngroups > groups && (max > 1 || lazy))
		p->t->looped = true;
	a->nullable = min == 0;
	a->weight *= (size_t)(max != INT64_MAX ? max : min + 1);
	return 0;
}

static int
sequence(struct pat *p, struct piece *out)
{
	struct piece a;
	size_t groups;

	*out = (struct piece){ true, false, 1 };
	while (peek(p, 0) != -1 && peek(p, 0) != '|' && peek(p, 0) != ')') {
		groups = p->t->ngroups;
		if (atom(p, &a) == -1 || repetition(p, &a, groups) == -1)
			return -1;
		out->nullable = out->nullable && a.nullable;
		out->weight += a.weight;
		if (out->weight > WEIGHT_MAX)
			return unsupported(p);
	}
	return 0;
}

static int
alternatives(struct pat *p, struct piece *out)
{
	struct piece a;

	if (sequence(p, out) == -1)
		return -1;
	while (peek(p, 0) == '|') {
		p->i++;
		if (put(p, "|") == -1 || sequence(p, &a) == -1)
			return -1;
		out->nullable = out->nullable || a.nullable;
		out->weight += a.weight;
	}
	return 0;
}

/* Reads (?im) and its like at the start of the pattern. */
static void
leading_flags(struct pat *p)
{
	size_t i;

	if (peek(p, 0) != '(' || peek(p, 1) != '?')
		return;
	for (i = 2; peek(p, i) > 0 && strchr("imsu", peek(p, i)) != NULL; i++)
		;
	if (i == 2 || peek(p, i) != ')')
		return;
	for (i = 2; peek(p, i) != ')'; i++)
		p->flags |= peek(p, i) == 'i' ? EXPR_FLAG_FOLD :
		    peek(p, i) == 'm' ? EXPR_FLAG_LINES :
		    peek(p, i) == 's' ? EXPR_FLAG_DOT_ALL : 0;
	p->i += i + 1;
}

int
expr_translate(struct eval *ev, struct text *pattern, int64_t flags,
    enum expr_match how, struct text *subject, struct translation *t)
{
	struct pat p = { .ev = ev, .s = { pattern->p, pattern->n },
		.flags = flags, .how = how, .t = t };
	struct piece whole;

	*t = (struct translation){ 0 };
	p.ascii = expr_ascii(subject);
	p.newline = subject->n > 0 && subject->p[subject->n - 1] == '\n';
	leading_flags(&p);
	if (p.flags & EXPR_FLAG_FOLD) {
		p.t->taboo |= EXPR_FACT_FOLD;
		if (put(&p, "(?i)") == -1)
			return -1;
	}
	if (how != EXPR_SEARCH && put(&p, "\\A(?:") == -1)
		return -1;
	if (alternatives(&p, &whole) == -1)
		return -1;
	if (p.i < p.s.n)
		return unsupported(&p);
	if (how != EXPR_SEARCH && put(&p, how == EXPR_MATCH_FULL ? ")\\z" :
	    ")") == -1)
		return -1;
	t->nullable = whole.nullable;
	t->weight = whole.weight;
	return 0;
}
