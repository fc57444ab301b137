/* SPDX-License-Identifier: ISC */
/*
 * From Python's regular expressions to ours.
 *
 * The two agree on much: alternatives are tried from the left, repetitions
 * take as much (or as little) as they can, the leftmost match wins.  What
 * differs is written out here, for the text it is to be matched against:
 * \d \w \s know Unicode in Python, $ stands also before a newline at the end.
 * Where that cannot be written, or where a pattern makes use of how Python's
 * engine walks (lookaround, references, repeating what can be empty), it is
 * declined.
 *
 * "$" before a final newline: at the end of the pattern it becomes an empty
 * group and the newline, if it is there; the group tells where the match
 * ended.
 */
#include "lib/py/expr_internal.h"

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
	bool ascii;		/* the subject is */
	bool newline;		/* the subject ends in one */
	size_t inner;		/* groups in out, with marks */
	unsigned depth;
	struct str names[EXPR_GROUPS_MAX];
	size_t nnames;
};

/* What a piece of the pattern is like. */
struct piece {
	bool nullable;
	bool fixed;		/* an anchor, which cannot be repeated */
	size_t weight;
};

static int alternatives(struct pat *, struct piece *);
static int braces(struct pat *, int64_t *min, int64_t *max);

static int
no(struct pat *p)
{
	return expr_decline(p->ev, "whether this pattern means the same here");
}

static int
put(struct pat *p, const char *s)
{
	return expr_put(p->ev, &p->t->out, str_of(s));
}

static int
put_number(struct pat *p, const char *before, uint32_t n, unsigned base,
    const char *after)
{
	static const char digits[] = "0123456789abcdef";
	char text[12], *q = text + sizeof(text);

	do
		*--q = digits[n % base];
	while ((n /= base) > 0);
	return put(p, before) == -1 || expr_put(p->ev, &p->t->out,
	    (struct str){ q, (size_t)(text + sizeof(text) - q) }) == -1 ||
	    put(p, after) == -1 ? -1 : 0;
}

static int
peek(const struct pat *p, size_t k)
{
	return p->s.n - p->i > k ? (unsigned char)p->s.p[p->i + k] : -1;
}

/* The subject may have none of these. */
static void
need_none(struct pat *p, unsigned mask)
{
	p->t->taboo |= mask;
}

/*
 * Whether case means the same for these code points: for all that have none,
 * and from Latin to Cyrillic also for those that have, but for a few.
 */
static bool
case_is_clear(const struct pat *p, uint32_t lo, uint32_t hi)
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
	if (!case_is_clear(p, c, c))
		return no(p);
	return put_number(p, "\\x{", c, 16, "}");
}

/* Escapes and classes. */

/* What \d \w \s and their opposites are within brackets; NULL: unclear. */
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
	int c;

	*out = 0;
	for (; digits > 0; digits--, p->i++) {
		c = peek(p, 0);
		if (c >= '0' && c <= '9')
			c -= '0';
		else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
			c = (c | 0x20) - 'a' + 10;
		else
			return false;
		*out = *out * 16 + (uint32_t)c;
	}
	return *out <= 0x10FFFF && (*out < 0xD800 || *out > 0xDFFF);
}

/* The code point of the escape at p->i, behind its backslash; false: none. */
static bool
escaped(struct pat *p, bool in_class, uint32_t *out)
{
	static const char from[] = "abfnrtv", to[] = "\a\b\f\n\r\t\v";
	int c = peek(p, 0);
	const char *hit;

	if (c <= 0 || c >= 0x80)
		return false;
	p->i++;
	hit = strchr(from, c);
	if (hit != NULL && (c != 'b' || in_class)) {
		*out = (uint32_t)to[hit - from];
		return true;
	}
	if (c == 'x' || c == 'u' || c == 'U')
		return hex(p, c == 'x' ? 2 : c == 'u' ? 4 : 8, out);
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

/* One end of a range; -1, or 1 when it was \d or such, which was put. */
static int
class_end(struct pat *p, uint32_t *out)
{
	int c = peek(p, 0);

	if (c == -1)
		return no(p);
	if (c != '\\')
		return rune(p, out) ? 0 : no(p);
	p->i++;
	c = peek(p, 0);
	if (!is_class(c))
		return escaped(p, true, out) ? 0 : no(p);
	p->i++;
	need_none(p, EXPR_FACT_UNSURE);
	if (class_of(p, c) == NULL)
		return no(p);
	return put(p, class_of(p, c)) == -1 ? -1 : 1;
}

/* From behind its bracket. */
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
				return no(p);
			rc = class_end(p, &hi);
			if (rc == -1)
				return -1;
			if (rc == 1 || hi < lo)
				return no(p);
		} else if (rc == 1)
			continue;
		else
			hi = lo;
		if (!case_is_clear(p, lo, hi))
			return no(p);
		if (put_number(p, "\\x{", lo, 16, "}") == -1 ||
		    put_number(p, "-\\x{", hi, 16, "}") == -1)
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
		return no(p);
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
	if (c == 'b' || c == 'B') {
		p->i++;
		*out = (struct piece){ true, true, 1 };
		p->t->not_empty = p->t->not_empty || c == 'B';
		need_none(p, EXPR_FACT_WORD | EXPR_FACT_UNSURE);
		return put(p, c == 'b' ? "\\b" : "\\B");
	}
	if (is_class(c)) {
		p->i++;
		need_none(p, EXPR_FACT_UNSURE);
		if (put(p, c == 'W' ? "[^" : "[") == -1 ||
		    put(p, class_of(p, c == 'W' ? 'w' : c)) == -1)
			return -1;
		return put(p, "]");
	}
	if (!escaped(p, false, &cp))
		return no(p);
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
		return no(p);
	for (i = 0; i < p->nnames; i++)
		if (str_eq(p->names[i], name))
			return no(p);
	if (p->nnames == COUNTOF(p->names))
		return no(p);
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
		return no(p);
	t->group[++t->ngroups] = ++p->inner;
	return 0;
}

/* From behind its parenthesis. */
static int
group(struct pat *p, struct piece *out)
{
	int64_t flags = p->flags;

	if (p->depth == DEPTH_MAX)
		return no(p);
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
	} else if (peek(p, 1) == 'i' && peek(p, 2) == ':') {
		p->i += 3;
		p->flags |= EXPR_FLAG_FOLD;
		need_none(p, EXPR_FACT_FOLD);
		if (put(p, "(?i:") == -1)
			return -1;
	} else
		return no(p);
	p->depth++;
	if (alternatives(p, out) == -1)
		return -1;
	p->depth--;
	p->flags = flags;
	if (peek(p, 0) != ')')
		return no(p);
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
		return no(p);
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

/* {m,n} at p->i: 1, or 0 when these are characters like others. */
static int
braces(struct pat *p, int64_t *min, int64_t *max)
{
	size_t from = p->i++;
	bool low = false;

	*min = 0;
	*max = COUNT_MAX + 1;
	if (peek(p, 0) == '}')
		goto literal;
	low = count(p, min);
	if (peek(p, 0) == ',') {
		p->i++;
		if (!count(p, max))
			*max = INT64_MAX;
	} else if (low)
		*max = *min;
	if (peek(p, 0) != '}' || (!low && p->s.p[p->i - 1] == '{'))
		goto literal;
	p->i++;
	return 1;
literal:
	p->i = from;
	return 0;
}

static int
put_times(struct pat *p, int64_t min, int64_t max)
{
	if (min == 0 && max == 1)
		return put(p, "?");
	if (max == INT64_MAX && min <= 1)
		return put(p, min == 0 ? "*" : "+");
	if (min > COUNT_MAX || (max != INT64_MAX && max > COUNT_MAX))
		return no(p);
	if (put_number(p, "{", (uint32_t)min, 10, "") == -1)
		return -1;
	if (max == min)
		return put(p, "}");
	return max == INT64_MAX ? put(p, ",}") :
	    put_number(p, ",", (uint32_t)max, 10, "}");
}

/* What may follow an atom, in which there were groups since `groups`. */
static int
repetition(struct pat *p, struct piece *a, size_t groups)
{
	int64_t min = 0, max = INT64_MAX;
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
	if (a->nullable || a->fixed || max < min || max == 0)
		return no(p);
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
		return no(p);
	if (c == '{') {
		size_t at = p->i;
		int64_t x, y;

		if (braces(p, &x, &y) == 1)
			return no(p);
		p->i = at;
	}
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
			return no(p);
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

/* (?im) and its like, which have to come first. */
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
		need_none(&p, EXPR_FACT_FOLD);
		if (put(&p, "(?i)") == -1)
			return -1;
	}
	if (how != EXPR_SEARCH && put(&p, "\\A(?:") == -1)
		return -1;
	if (alternatives(&p, &whole) == -1)
		return -1;
	if (p.i < p.s.n)
		return no(&p);
	if (how != EXPR_SEARCH && put(&p, how == EXPR_MATCH_FULL ? ")\\z" :
	    ")") == -1)
		return -1;
	t->nullable = whole.nullable;
	t->weight = whole.weight;
	return 0;
}
