/* SPDX-License-Identifier: ISC */
/*
 * The parser: one pass over the pattern, straight into code.
 *
 * An atom is a fragment that a repetition can follow; a group keeps where its
 * code and its current alternative begin.  "x|y" becomes
 *
 *	SPLIT 1f  x  JMP 2f  1: y  2:
 *
 * where the JMPs of one group are chained through x until its end is known.
 * x* is (x+)?, which gets the order of empty matches right, and x{2,4} is
 * xx(x(x)?)?, all of whose ways out lead to one place.
 *
 * No recursion: depth costs a struct group.
 */
#include "re_prog.h"

#include <string.h>

enum { FOLD = 1, LINES = 2, DOT_NL = 4, LAZY = 8 };	/* i m s U */

#define NONE SIZE_MAX

struct group {
	size_t open;		/* in the pattern */
	size_t start, alt;	/* in the code: the group, its alternative */
	size_t jumps;		/* the last JMP to its end, or NONE */
	size_t capture;		/* its number, or 0 */
	unsigned weight;	/* of its heaviest atom */
	unsigned flags;		/* to come back at its end */
};

struct parser {
	struct arena *tmp;
	struct str s;
	size_t i;
	struct err *e;
	unsigned flags;
	struct re_parsed *out;
	struct re_code *code;
	struct group *stack, *top;
	size_t depth, cap;
	size_t atom;		/* where in the code, or NONE */
	unsigned weight;	/* its largest product of nested counts */
	size_t repeat;		/* where the repetition just read is, or NONE */
	size_t capnames;
};

static int refuse(struct parser *, size_t from, size_t to, const char *why);

/* The message is `piece`: why, the piece cut where it is long. */
static int
refuse(struct parser *p, size_t from, size_t to, const char *why)
{
	bool cut = to - from > 40;
	size_t n = cut ? 40 : to - from;

	while (cut && n > 0 && ((unsigned char)p->s.p[from + n] & 0xC0) == 0x80)
		n--;
	err_set(p->e, ERR_SYNTAX, "`%.*s%s`: %s", (int)n, p->s.p + from,
	    cut ? "..." : "", why);
	return err_at(p->e, 0, (unsigned)from + 1);
}

static int
too_big(struct parser *p, size_t at)
{
	err_set(p->e, ERR_LIMIT, "the expression is too large: more than %d "
	    "instructions or %d ranges", RE_PROG_MAX, RE_RANGE_MAX);
	return err_at(p->e, 0, (unsigned)at + 1);
}

static bool
at_end(const struct parser *p)
{
	return p->i >= p->s.n;
}

/* The byte k further on, or -1. */
static int
peek(const struct parser *p, size_t k)
{
	return k < p->s.n - p->i ? (unsigned char)p->s.p[p->i + k] : -1;
}

/* The pattern is known to be well-formed. */
static uint32_t
next_rune(struct parser *p)
{
	uint32_t r = 0;

	p->i += utf8_get(p->s.p + p->i, p->s.p + p->s.n, &r);
	return r;
}

static void
begin_atom(struct parser *p)
{
	if (p->weight > p->top->weight)
		p->top->weight = p->weight;
	p->atom = p->code->n;
	p->weight = 1;
}

static void
put_rune(struct parser *p, uint32_t r)
{
	bool fold = (p->flags & FOLD) && re_fold_next(r) != r;

	begin_atom(p);
	re_code_put(p->code, fold ? RE_FOLD : RE_CHAR, 0,
	    fold ? re_fold_min(r) : r);
}

static void
put_assert(struct parser *p, unsigned kind)
{
	begin_atom(p);
	re_code_put(p->code, RE_ASSERT, kind, 0);
}

static void
put_set(struct parser *p, struct re_set *s, bool negate)
{
	begin_atom(p);
	re_set_clean(s);
	if (negate)
		re_set_negate(s);
	re_code_class(p->code, s);
}

/* Groups and alternatives. */

static int
open_group(struct parser *p, size_t open, size_t capture, unsigned flags)
{
	struct group *v;

	if (p->depth >= RE_DEPTH_MAX) {
		err_set(p->e, ERR_LIMIT, "groups nest deeper than %d",
		    RE_DEPTH_MAX);
		return err_at(p->e, 0, (unsigned)open + 1);
	}
	if (p->depth == p->cap) {
		p->cap = p->cap == 0 ? 8 : p->cap * 2;
		v = arena_raw(p->tmp, p->cap * sizeof(*v),
		    ALIGNOF(struct group));
		if (p->depth > 0)
			memcpy(v, p->stack, p->depth * sizeof(*v));
		p->stack = v;
	}
	if (p->depth > 0 && p->weight > p->top->weight)
		p->top->weight = p->weight;
	p->top = &p->stack[p->depth++];
	*p->top = (struct group){ .open = open, .start = p->code->n,
		.jumps = NONE, .capture = capture, .weight = 1,
		.flags = p->flags };
	p->flags = flags;
	if (capture > 0 || p->depth == 1)
		re_code_put(p->code, RE_SAVE, 0, (uint32_t)(2 * capture));
	p->top->alt = p->code->n;
	p->atom = NONE;
	p->weight = 1;
	return 0;
}

static void
alternative(struct parser *p)
{
	struct re_code *c = p->code;
	struct group *g = p->top;

	re_code_insert(c, g->alt, RE_SPLIT, 0,
	    (uint32_t)(c->n + 2 - g->alt));
	re_code_put(c, RE_JMP, 0, (uint32_t)g->jumps);
	g->jumps = c->n - 1;
	g->alt = c->n;
	if (p->weight > g->weight)
		g->weight = p->weight;
	p->weight = 1;
	p->atom = NONE;
}

static void
close_group(struct parser *p)
{
	struct re_code *c = p->code;
	struct group *g = p->top;
	size_t i, next;

	if (c->full)
		return;
	for (i = g->jumps; i != NONE; i = next) {
		next = c->v[i].x == (uint32_t)NONE ? NONE : c->v[i].x;
		c->v[i].x = (uint32_t)(c->n - i);
	}
	if (g->capture > 0 || p->depth == 1)
		re_code_put(c, RE_SAVE, 0, (uint32_t)(2 * g->capture + 1));
	p->atom = g->start;
	if (g->weight > p->weight)
		p->weight = g->weight;
	p->flags = g->flags;
	p->depth--;
	p->top = p->depth > 0 ? &p->stack[p->depth - 1] : NULL;
}

static int
name_group(struct parser *p, struct str name)
{
	struct str *v;

	if (p->out->ngroups > p->capnames) {
		p->capnames = p->out->ngroups * 2 + 8;
		v = NEW_N(p->tmp, struct str, p->capnames);
		if (p->out->names != NULL)
			memcpy(v, p->out->names,
			    (p->out->ngroups - 1) * sizeof(*v));
		p->out->names = v;
	}
	if (p->out->names != NULL)
		p->out->names[p->out->ngroups - 1] = name;
	return 0;
}

static int
capture(struct parser *p, size_t open, struct str name)
{
	p->out->ngroups++;
	if (name.n > 0 || p->out->names != NULL)
		name_group(p, name);
	return open_group(p, open, p->out->ngroups - 1, p->flags);
}

/* (?P<name> or (?<name>, of which skip bytes stand before the name. */
static int
named_group(struct parser *p, size_t skip)
{
	size_t open = p->i, from = p->i + skip, i;
	char c;

	for (i = from; i < p->s.n && p->s.p[i] != '>'; i++)
		;
	if (i == p->s.n)
		return refuse(p, open, i, "the group's name has no end `>`");
	if (i == from)
		return refuse(p, open, i + 1, "the group's name is empty");
	p->i = i + 1;
	while (i-- > from) {
		c = p->s.p[i];
		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		    (c >= '0' && c <= '9') || c == '_'))
			return refuse(p, open, p->i, "a group's name is made "
			    "of letters, digits and _");
	}
	return capture(p, open,
	    (struct str){ p->s.p + from, p->i - 1 - from });
}

static const struct {
	const char *piece, *why;
} unsupported[] = {
	{ "(?=",  "lookahead is not supported" },
	{ "(?!",  "negative lookahead is not supported" },
	{ "(?<=", "lookbehind is not supported" },
	{ "(?<!", "negative lookbehind is not supported" },
	{ "(?>",  "atomic groups are not supported" },
	{ "(?#",  "comments are not supported" },
	{ "(?P=", "backreferences are not supported" },
	{ "(?P>", "recursion is not supported" },
	{ "(?R",  "recursion is not supported" },
	{ "(?&",  "recursion is not supported" },
	{ "(?(",  "conditionals are not supported" },
	{ "(?|",  "branch reset is not supported" },
	{ "(?x",  "the flag x is not supported; flags are i, m, s and U" },
	{ "(?'",  "a group's name is written (?P<name>...)" },
};

static int
bad_flags(struct parser *p, size_t open)
{
	size_t i, to = p->i;
	struct str rest = { p->s.p + open, p->s.n - open };

	for (i = 0; i < COUNTOF(unsupported); i++)
		if (str_starts(rest, str_of(unsupported[i].piece)))
			return refuse(p, open, open +
			    strlen(unsupported[i].piece), unsupported[i].why);
	return refuse(p, open, to, at_end(p) && to == p->s.n ?
	    "the group or its flags have no end" :
	    "no such kind of group; flags are i, m, s and U");
}

/* (?i), (?i-s:...), (?:...) and named groups. */
static int
group_flags(struct parser *p)
{
	static const char letters[] = "imsU";
	size_t open = p->i;
	unsigned set = p->flags;
	bool minus = false, seen = false;
	const char *at;
	uint32_t r;

	if (peek(p, 2) == 'P' && peek(p, 3) == '<')
		return named_group(p, 4);
	if (peek(p, 2) == '<' && peek(p, 3) != '=' && peek(p, 3) != '!')
		return named_group(p, 3);
	for (p->i += 2; !at_end(p);) {
		r = next_rune(p);
		at = r > 0 && r < 128 ? strchr(letters, (int)r) : NULL;
		if (at != NULL) {
			if (minus)
				set &= ~(1u << (at - letters));
			else
				set |= 1u << (at - letters);
			seen = true;
		} else if (r == '-' && !minus) {
			minus = true;
			seen = false;
		} else if ((r == ':' || r == ')') && (!minus || seen)) {
			if (r == ':')
				return open_group(p, open, 0, set);
			p->flags = set;
			return 0;
		} else {
			break;
		}
	}
	return bad_flags(p, open);
}

/* Repetition. */

static void
repeat_code(struct parser *p, size_t min, size_t max, bool lazy)
{
	struct re_code *c = p->code;
	size_t a = p->atom, len = c->n - a, i, end;

	if (len == 0 || c->full)
		return;
	if (max == 0) {
		c->n = a;
		return;
	}
	if (min > 1)
		re_code_repeat(c, a, a + len, min - 1);
	if (max == NONE) {
		re_code_put(c, RE_SPLIT, !lazy, 0u - (uint32_t)len);
		if (min == 0)
			re_code_insert(c, a, RE_SPLIT, lazy,
			    (uint32_t)len + 2);
		return;
	}
	if (max == min)
		return;
	if (min == 0) {
		re_code_insert(c, a, RE_SPLIT, lazy, 0);
		re_code_repeat(c, a, a + len + 1, max - 1);
	} else {
		i = c->n;
		re_code_put(c, RE_SPLIT, lazy, 0);
		re_code_repeat(c, a, a + len, 1);
		re_code_repeat(c, i, i + len + 1, max - min - 1);
		a = i;
	}
	end = c->n;
	if (!c->full)
		for (i = a; i < end; i += len + 1)
			c->v[i].x = (uint32_t)(end - i);
}

/* Follows the operator at [from, p->i). */
static int
repeat(struct parser *p, size_t from, size_t min, size_t max)
{
	bool lazy = (p->flags & LAZY) != 0;
	size_t count = max == NONE ? min : max;

	if (peek(p, 0) == '?') {
		p->i++;
		lazy = !lazy;
	}
	if (p->repeat != NONE)
		return refuse(p, p->repeat, p->i, p->s.p[from] == '+' ?
		    "possessive repetition is not supported" :
		    "a repetition cannot follow another; use (?:...)");
	if (p->atom == NONE)
		return refuse(p, from, p->i, "there is nothing to repeat");
	if (max == 0)
		p->weight = 1;
	else if (count > 0)
		p->weight *= (unsigned)count;
	if (count > 1 && p->weight > RE_REPEAT_MAX) {
		err_set(p->e, ERR_LIMIT, "nested counts multiply to %u, which "
		    "is more than %d", p->weight, RE_REPEAT_MAX);
		return err_at(p->e, 0, (unsigned)from + 1);
	}
	repeat_code(p, min, max, lazy);
	p->repeat = from;
	return 0;
}

/* A count without leading zero; one too large becomes RE_REPEAT_MAX + 1. */
static bool
number(struct parser *p, size_t *n)
{
	if (peek(p, 0) < '0' || peek(p, 0) > '9')
		return false;
	if (peek(p, 0) == '0' && peek(p, 1) >= '0' && peek(p, 1) <= '9')
		return false;
	for (*n = 0; peek(p, 0) >= '0' && peek(p, 0) <= '9'; p->i++) {
		*n = *n * 10 + (size_t)(peek(p, 0) - '0');
		if (*n > RE_REPEAT_MAX)
			*n = RE_REPEAT_MAX + 1;
	}
	return true;
}

static bool
counts(struct parser *p, size_t *min, size_t *max)
{
	p->i++;
	if (!number(p, min))
		return false;
	*max = *min;
	if (peek(p, 0) == ',') {
		p->i++;
		*max = NONE;
		if (peek(p, 0) != '}' && !number(p, max))
			return false;
	}
	return peek(p, 0) == '}' && p->i++ < p->s.n;
}

/* {n}, {n,} or {n,m}; anything else is text. */
static int
counted(struct parser *p)
{
	size_t from = p->i, min, max;

	if (!counts(p, &min, &max)) {
		p->i = from + 1;
		put_rune(p, '{');
		return 0;
	}
	if (min > RE_REPEAT_MAX || (max != NONE && max > RE_REPEAT_MAX)) {
		refuse(p, from, p->i, "counts go up to 1000");
		p->e->code = ERR_LIMIT;
		return -1;
	}
	if (min > max)
		return refuse(p, from, p->i, "the counts are reversed");
	return repeat(p, from, min, max);
}

static int
operator(struct parser *p)
{
	size_t from = p->i++;

	switch (p->s.p[from]) {
	case '*':
		return repeat(p, from, 0, NONE);
	case '+':
		return repeat(p, from, 1, NONE);
	default:
		return repeat(p, from, 0, 1);
	}
}

/* Escapes. */

static int
unhex(uint32_t r)
{
	if (r >= '0' && r <= '9')
		return (int)(r - '0');
	r |= 0x20;
	return r >= 'a' && r <= 'f' ? (int)(r - 'a' + 10) : -1;
}

/* After \x: two digits, or any number in braces. */
static int
hex_escape(struct parser *p, uint32_t *r)
{
	bool brace = peek(p, 0) == '{';
	size_t n = 0;
	int d;

	p->i += brace;
	for (*r = 0; (brace || n < 2) && !at_end(p); n++, p->i++) {
		d = unhex((unsigned char)p->s.p[p->i]);
		if (d < 0)
			break;
		*r = *r * 16 + (uint32_t)d;
		if (*r > RE_RUNE_MAX)
			return -1;
	}
	if (brace && peek(p, 0) == '}')
		return p->i++, n > 0 ? 0 : -1;
	return !brace && n == 2 ? 0 : -1;
}

static const struct {
	char letter;
	const char *why;
} escapes[] = {
	{ 'C', "single bytes cannot be matched" },
	{ 'E', "there is no \\Q to end" },
	{ 'G', "this assertion is not supported" },
	{ 'K', "resetting the match is not supported" },
	{ 'N', "use [^\\n] or \\p{...}" },
	{ 'R', "use (?:\\r\\n|[\\n-\\r])" },
	{ 'X', "grapheme clusters are not supported" },
	{ 'Z', "use \\z or \\n?\\z" },
	{ 'c', "control characters are written \\x01" },
	{ 'e', "escape is written \\x1b" },
	{ 'g', "backreferences are not supported" },
	{ 'h', "use [\\t ]" },
	{ 'k', "backreferences are not supported" },
	{ 'u', "code points are written \\x{20AC}" },
	{ 'x', "\\x takes two hexadecimal digits, or some in braces, "
	    "up to 10FFFF" },
};

static int
bad_escape(struct parser *p, size_t from)
{
	char c = p->s.p[from + 1];
	size_t i;

	if (c >= '1' && c <= '9')
		return refuse(p, from, from + 2,
		    "backreferences are not supported");
	for (i = 0; i < COUNTOF(escapes); i++)
		if (escapes[i].letter == c)
			return refuse(p, from, p->i, escapes[i].why);
	return refuse(p, from, p->i, "no such escape");
}

/* An escape that stands for one code point, in a class or out of it. */
static int
escape(struct parser *p, uint32_t *r)
{
	static const char names[] = "afnrtv", values[] = "\a\f\n\r\t\v";
	size_t from = p->i++, n;
	const char *at;

	if (at_end(p))
		return refuse(p, from, from + 1, "the pattern ends in \\");
	*r = next_rune(p);
	if (*r >= '0' && *r <= '7') {
		if (*r != '0' && (peek(p, 0) < '0' || peek(p, 0) > '7'))
			return bad_escape(p, from);
		*r -= '0';
		for (n = 1; n < 3 && peek(p, 0) >= '0' && peek(p, 0) <= '7'; n++)
			*r = *r * 8 + (uint32_t)(p->s.p[p->i++] - '0');
		return 0;
	}
	if (*r == 'x')
		return hex_escape(p, r) == 0 ? 0 : bad_escape(p, from);
	if (*r >= 0x80)
		return bad_escape(p, from);
	if ((*r >= '0' && *r <= '9') || (*r >= 'A' && *r <= 'Z') ||
	    (*r >= 'a' && *r <= 'z')) {
		at = strchr(names, (int)*r);
		if (at == NULL)
			return bad_escape(p, from);
		*r = (unsigned char)values[at - names];
	}
	return 0;
}

/* \pL, \p{Greek}, \P{^Lu}, at the backslash. */
static int
property(struct parser *p, struct re_set *s)
{
	size_t from = p->i, a, b;
	bool negate = p->s.p[p->i + 1] == 'P';
	struct str name;

	a = p->i += 2;
	if (at_end(p))
		return refuse(p, from, p->i, "the property has no name");
	next_rune(p);
	b = p->i;
	if (p->s.p[a] == '{') {
		for (b = ++a; b < p->s.n && p->s.p[b] != '}'; b++)
			;
		if (b == p->s.n)
			return refuse(p, from, b,
			    "the property's name has no end `}`");
		p->i = b + 1;
	}
	if (a < b && p->s.p[a] == '^') {
		negate = !negate;
		a++;
	}
	name = (struct str){ p->s.p + a, b - a };
	if (!re_set_unicode(s, name, negate, (p->flags & FOLD) != 0))
		return refuse(p, from, p->i, "no Unicode category or script "
		    "has this name");
	return 0;
}

/* Takes \pL or \d into the set: 1 if it was one, 0 if not. */
static int
class_escape(struct parser *p, struct re_set *s)
{
	int c = peek(p, 1);

	if (peek(p, 0) != '\\' || c < 0)
		return 0;
	if (c == 'p' || c == 'P')
		return property(p, s) == 0 ? 1 : -1;
	if (!re_set_perl(s, (char)c, (p->flags & FOLD) != 0))
		return 0;
	p->i += 2;
	return 1;
}

static void
quoted(struct parser *p)
{
	p->i += 2;
	while (!at_end(p) && !(peek(p, 0) == '\\' && peek(p, 1) == 'E'))
		put_rune(p, next_rune(p));
	if (!at_end(p))
		p->i += 2;
}

static int
backslash(struct parser *p)
{
	static const char kinds[] = "AbBz";
	static const unsigned asserts[] = { RE_BEGIN_TEXT, RE_WORD,
		RE_NOT_WORD, RE_END_TEXT };
	struct re_set s = { .arena = p->tmp };
	int c = peek(p, 1), got;
	const char *at = c > 0 ? strchr(kinds, c) : NULL;
	uint32_t r;

	if (at != NULL) {
		put_assert(p, asserts[at - kinds]);
		p->i += 2;
		return 0;
	}
	if (c == 'Q') {
		quoted(p);
		return 0;
	}
	got = class_escape(p, &s);
	if (got != 0) {
		if (got > 0)
			put_set(p, &s, false);
		return got > 0 ? 0 : -1;
	}
	if (escape(p, &r) == -1)
		return -1;
	put_rune(p, r);
	return 0;
}

/* Classes. */

/* [:alpha:] within a class: 1, 0 if there is none, -1. */
static int
posix_class(struct parser *p, struct re_set *s)
{
	size_t from = p->i, a = from + 2, b;
	bool negate;

	if (peek(p, 0) != '[' || peek(p, 1) != ':')
		return 0;
	for (b = a; b + 1 < p->s.n; b++)
		if (p->s.p[b] == ':' && p->s.p[b + 1] == ']')
			break;
	if (b + 1 >= p->s.n)
		return 0;
	negate = p->s.p[a] == '^';
	a += negate;
	p->i = b + 2;
	if (!re_set_posix(s, (struct str){ p->s.p + a, b - a }, negate,
	    (p->flags & FOLD) != 0))
		return refuse(p, from, p->i, "no class has this name");
	return 1;
}

static int
class_rune(struct parser *p, size_t open, uint32_t *r)
{
	if (at_end(p))
		return refuse(p, open, p->s.n, "the class has no end `]`");
	if (peek(p, 0) == '\\')
		return escape(p, r);
	*r = next_rune(p);
	return 0;
}

static int
class_range(struct parser *p, struct re_set *s, size_t open)
{
	size_t from = p->i;
	uint32_t lo, hi;

	if (class_rune(p, open, &lo) == -1)
		return -1;
	hi = lo;
	if (peek(p, 0) == '-' && peek(p, 1) >= 0 && peek(p, 1) != ']') {
		p->i++;
		if (class_rune(p, open, &hi) == -1)
			return -1;
		if (hi < lo)
			return refuse(p, from, p->i, "the range is reversed");
	}
	re_set_add(s, lo, hi, (p->flags & FOLD) != 0);
	return 0;
}

static int
class(struct parser *p)
{
	struct re_set s = { .arena = p->tmp };
	size_t open = p->i++;
	bool negate = peek(p, 0) == '^', first = true;
	int got;

	for (p->i += negate; first || peek(p, 0) != ']'; first = false) {
		got = posix_class(p, &s);
		if (got == 0)
			got = class_escape(p, &s);
		if (got == 0)
			got = class_range(p, &s, open);
		if (got == -1)
			return -1;
	}
	p->i++;
	put_set(p, &s, negate);
	return 0;
}

/* The whole. */

static int
right_paren(struct parser *p)
{
	if (p->depth == 1)
		return refuse(p, p->i, p->i + 1, "there is no ( to close");
	close_group(p);
	p->i++;
	return 0;
}

static int
left_paren(struct parser *p)
{
	if (peek(p, 1) == '?')
		return group_flags(p);
	p->i++;
	return capture(p, p->i - 1, STR(""));
}

static int
item(struct parser *p)
{
	switch (p->s.p[p->i]) {
	case '(':
		return left_paren(p);
	case ')':
		return right_paren(p);
	case '|':
		alternative(p);
		break;
	case '^':
		put_assert(p, p->flags & LINES ? RE_BEGIN_LINE : RE_BEGIN_TEXT);
		break;
	case '$':
		put_assert(p, p->flags & LINES ? RE_END_LINE : RE_END_TEXT);
		break;
	case '.':
		begin_atom(p);
		re_code_put(p->code, p->flags & DOT_NL ? RE_ANY : RE_NOTNL,
		    0, 0);
		break;
	case '[':
		return class(p);
	case '*':
	case '+':
	case '?':
		return operator(p);
	case '{':
		return counted(p);
	case '\\':
		return backslash(p);
	default:
		put_rune(p, next_rune(p));
		return 0;
	}
	p->i++;
	return 0;
}

static int
check_utf8(struct parser *p)
{
	const char *s = p->s.p, *end = s + p->s.n;
	uint32_t r;
	size_t k;

	for (; s < end; s += k)
		if ((k = utf8_get(s, end, &r)) == 0) {
			err_set(p->e, ERR_SYNTAX,
			    "the pattern is not valid UTF-8");
			return err_at(p->e, 0, (unsigned)(s - p->s.p) + 1);
		}
	return 0;
}

int
re_parse(struct arena *tmp, struct str pattern, struct re_parsed *out,
    struct err *e)
{
	struct parser p = { .tmp = tmp, .s = pattern, .e = e, .out = out,
		.code = &out->code, .atom = NONE, .repeat = NONE };
	size_t before, from;

	*out = (struct re_parsed){ .code = { .arena = tmp }, .ngroups = 1 };
	if (check_utf8(&p) == -1 || open_group(&p, 0, 0, 0) == -1)
		return -1;
	while (!at_end(&p)) {
		before = p.repeat;
		from = p.i;
		if (item(&p) == -1)
			return -1;
		if (p.repeat == before)
			p.repeat = NONE;
		if (p.code->full)
			return too_big(&p, from);
	}
	if (p.depth > 1)
		return refuse(&p, p.top->open, p.top->open + 1,
		    "this group has no end )");
	close_group(&p);
	re_code_put(p.code, RE_MATCH, 0, 0);
	return p.code->full ? too_big(&p, p.s.n) : 0;
}
