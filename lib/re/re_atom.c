/* SPDX-License-Identifier: ISC */
/*
 * The parser's atoms: characters, escapes and classes.
 */
#include "lib/re/re_internal.h"

#include <string.h>

#include "lib/unicode.h"

int
re_refuse(struct re_parser *p, size_t from, size_t to, const char *why)
{
	struct str piece = { p->s.p + from, to - from };
	struct str shown = utf8_cut(piece, 40);

	err_set(p->e, ERR_SYNTAX, "`%.*s%s`: %s", STRF(shown),
	    shown.n < piece.n ? "..." : "", why);
	return err_at(p->e, 0, (unsigned)from + 1);
}

bool
re_lex_end(const struct re_parser *p)
{
	return p->i >= p->s.n;
}

int
re_lex_peek(const struct re_parser *p, size_t k)
{
	return k < p->s.n - p->i ? (unsigned char)p->s.p[p->i + k] : -1;
}

/* The pattern is valid UTF-8, so that decoding cannot fail. */
uint32_t
re_lex_rune(struct re_parser *p)
{
	uint32_t r = 0;

	p->i += utf8_get(p->s.p + p->i, p->s.p + p->s.n, &r);
	return r;
}

void
re_atom_settle(struct re_parser *p)
{
	if (p->atom == RE_NONE)
		return;
	if (p->weight > p->top->weight)
		p->top->weight = p->weight;
	if (!p->nullable)
		p->top->nullable = false;
	p->atom = RE_NONE;
}

void
re_atom_begin(struct re_parser *p)
{
	re_atom_settle(p);
	p->atom = p->code->n;
	p->weight = 1;
	p->nullable = false;
}

void
re_atom_rune(struct re_parser *p, uint32_t r)
{
	bool fold = (p->flags & RE_FLAG_FOLD) && unicode_fold_next(r) != r;

	re_atom_begin(p);
	re_code_put(p->code, fold ? RE_FOLD : RE_CHAR, 0,
	    fold ? unicode_fold_min(r) : r);
}

void
re_atom_assert(struct re_parser *p, unsigned kind)
{
	re_atom_begin(p);
	p->nullable = true;
	re_code_put(p->code, RE_ASSERT, kind, 0);
}

static struct re_set
begin_set(struct re_parser *p)
{
	return (struct re_set){ .arena = &p->sets, .names = &p->names };
}

static void
put_set(struct re_parser *p, struct re_set *s, bool negate)
{
	re_atom_begin(p);
	re_set_clean(s);
	if (negate)
		re_set_negate(s);
	re_code_class(p->code, s);
	arena_free(&p->sets);
	re_names_next(&p->names);
}

/* Escapes. */

static bool
is_octal(int c)
{
	return c >= '0' && c <= '7';
}

/* Reads behind \x: two digits, or any number of them in braces. */
static int
hex_escape(struct re_parser *p, uint32_t *r)
{
	bool brace = re_lex_peek(p, 0) == '{';
	size_t n = 0;
	int d;

	p->i += brace;
	for (*r = 0; (brace || n < 2) && !re_lex_end(p); n++, p->i++) {
		d = hex_digit(p->s.p[p->i]);
		if (d < 0)
			break;
		*r = *r * 16 + (uint32_t)d;
		if (*r > RE_RUNE_MAX)
			return -1;
	}
	if (brace && re_lex_peek(p, 0) == '}')
		return p->i++, n > 0 ? 0 : -1;
	return !brace && n == 2 ? 0 : -1;
}

static const struct {
	char letter;
	const char *why;
} escapes[] = {
	{ 'C', "single bytes cannot be matched" },
	{ 'E', "missing \\Q" },
	{ 'G', "the assertion is not supported" },
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
bad_escape(struct re_parser *p, size_t from)
{
	char c = p->s.p[from + 1];
	size_t i;

	if (c >= '1' && c <= '9')
		return re_refuse(p, from, from + 2,
		    "backreferences are not supported");
	for (i = 0; i < COUNTOF(escapes); i++)
		if (escapes[i].letter == c)
			return re_refuse(p, from, p->i, escapes[i].why);
	return re_refuse(p, from, p->i, "unknown escape");
}

/* Reads an escape that denotes one code point. */
static int
escape(struct re_parser *p, uint32_t *r)
{
	static const char names[] = "afnrtv", values[] = "\a\f\n\r\t\v";
	size_t from = p->i++, n;
	const char *at;

	if (re_lex_end(p))
		return re_refuse(p, from, from + 1, "pattern ends in \\");
	*r = re_lex_rune(p);
	if (*r >= '0' && *r <= '7') {
		if (*r != '0' && !is_octal(re_lex_peek(p, 0)))
			return bad_escape(p, from);
		*r -= '0';
		for (n = 1; n < 3 && is_octal(re_lex_peek(p, 0)); n++)
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

/* Reads \pL, \p{Greek} or \P{^Lu} into the set. */
static int
property(struct re_parser *p, struct re_set *s)
{
	size_t from = p->i, a, b;
	bool negate = p->s.p[p->i + 1] == 'P';
	struct str name;

	a = p->i += 2;
	if (re_lex_end(p))
		return re_refuse(p, from, p->i, "missing property name");
	re_lex_rune(p);
	b = p->i;
	if (p->s.p[a] == '{') {
		for (b = ++a; b < p->s.n && p->s.p[b] != '}'; b++)
			;
		if (b == p->s.n)
			return re_refuse(p, from, b,
			    "missing `}` after the property name");
		p->i = b + 1;
	}
	if (a < b && p->s.p[a] == '^') {
		negate = !negate;
		a++;
	}
	name = (struct str){ p->s.p + a, b - a };
	if (!re_set_unicode(s, name, negate, (p->flags & RE_FLAG_FOLD) != 0))
		return re_refuse(p, from, p->i,
		    "unknown Unicode category or script");
	return 0;
}

/* Reads \pL or \d into the set: 1, 0 if there is none, -1. */
static int
class_escape(struct re_parser *p, struct re_set *s)
{
	int c = re_lex_peek(p, 1);

	if (re_lex_peek(p, 0) != '\\' || c < 0)
		return 0;
	if (c == 'p' || c == 'P')
		return property(p, s) == 0 ? 1 : -1;
	if (!re_set_perl(s, (char)c, (p->flags & RE_FLAG_FOLD) != 0))
		return 0;
	p->i += 2;
	return 1;
}

static void
quoted(struct re_parser *p)
{
	p->i += 2;
	while (!re_lex_end(p) &&
	    !(re_lex_peek(p, 0) == '\\' && re_lex_peek(p, 1) == 'E'))
		re_atom_rune(p, re_lex_rune(p));
	if (!re_lex_end(p))
		p->i += 2;
}

int
re_atom_escape(struct re_parser *p)
{
	static const char kinds[] = "AbBz";
	static const unsigned asserts[] = { RE_BEGIN_TEXT, RE_WORD,
		RE_NOT_WORD, RE_END_TEXT };
	struct re_set s = begin_set(p);
	int c = re_lex_peek(p, 1), got;
	const char *at = c > 0 ? strchr(kinds, c) : NULL;
	uint32_t r;

	if (at != NULL) {
		re_atom_assert(p, asserts[at - kinds]);
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
	re_atom_rune(p, r);
	return 0;
}

/* Classes. */

/* Reads [:alpha:] into the set: 1, 0 if there is none, -1. */
static int
posix_class(struct re_parser *p, struct re_set *s)
{
	size_t from = p->i, a = from + 2, b;
	bool negate;

	if (re_lex_peek(p, 0) != '[' || re_lex_peek(p, 1) != ':' || p->no_posix)
		return 0;
	for (b = a; b + 1 < p->s.n; b++)
		if (p->s.p[b] == ':' && p->s.p[b + 1] == ']')
			break;
	p->no_posix = b + 1 >= p->s.n;
	if (p->no_posix)
		return 0;
	negate = p->s.p[a] == '^';
	a += negate;
	p->i = b + 2;
	if (!re_set_posix(s, (struct str){ p->s.p + a, b - a }, negate,
	    (p->flags & RE_FLAG_FOLD) != 0))
		return re_refuse(p, from, p->i, "unknown class name");
	return 1;
}

static int
class_rune(struct re_parser *p, size_t open, uint32_t *r)
{
	if (re_lex_end(p))
		return re_refuse(p, open, p->s.n, "missing `]` for this class");
	if (re_lex_peek(p, 0) == '\\')
		return escape(p, r);
	*r = re_lex_rune(p);
	return 0;
}

static int
class_range(struct re_parser *p, struct re_set *s, size_t open)
{
	size_t from = p->i;
	uint32_t lo, hi;

	if (class_rune(p, open, &lo) == -1)
		return -1;
	hi = lo;
	if (re_lex_peek(p, 0) == '-' && re_lex_peek(p, 1) >= 0 &&
	    re_lex_peek(p, 1) != ']') {
		p->i++;
		if (class_rune(p, open, &hi) == -1)
			return -1;
		if (hi < lo)
			return re_refuse(p, from, p->i,
			    "reversed range");
	}
	re_set_add(s, lo, hi, (p->flags & RE_FLAG_FOLD) != 0);
	return 0;
}

int
re_atom_class(struct re_parser *p)
{
	struct re_set s = begin_set(p);
	size_t open = p->i++;
	bool negate = re_lex_peek(p, 0) == '^', first = true;
	int got;

	for (p->i += negate; first || re_lex_peek(p, 0) != ']'; first = false) {
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
