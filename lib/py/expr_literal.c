/* SPDX-License-Identifier: ISC */
/*
 * What literals mean: numbers, and the characters of strings.
 */
#include "lib/py/expr_lex.h"

#include <string.h>

/* Reads up to max digits of a base; how many there were. */
static size_t
read_base(struct str s, unsigned base, size_t max, uint32_t *out)
{
	size_t i;
	unsigned d;
	char c;

	*out = 0;
	for (i = 0; i < s.n && i < max; i++) {
		c = s.p[i];
		d = c >= '0' && c <= '9' ? (unsigned)(c - '0') :
		    (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ?
		    (unsigned)((c | 0x20) - 'a') + 10 : 16;
		if (d >= base)
			break;
		*out = *out * base + d;
	}
	return i;
}

/* 0x_ff and its like. */
static bool
prefixed(struct str s, int64_t *out)
{
	unsigned base = (s.p[1] | 0x20) == 'x' ? 16 :
	    (s.p[1] | 0x20) == 'o' ? 8 : 2;
	uint64_t v = 0;
	uint32_t d;
	size_t i;

	for (i = 2; i < s.n; i++) {
		if (s.p[i] == '_' && i + 1 < s.n)
			i++;
		if (read_base((struct str){ s.p + i, 1 }, base, 1, &d) == 0 ||
		    v > (uint64_t)INT64_MAX / base)
			return false;
		v = v * base + d;
		if (v > INT64_MAX)
			return false;
	}
	*out = (int64_t)v;
	return s.n > 2;
}

int
expr_literal_number(struct parser *p, struct value *out)
{
	struct str s = expr_lex_text(p);
	char plain[400];
	size_t i, n = 0;
	bool real = false, zero = s.p[0] == '0';
	int64_t v;
	double d;

	if (zero && s.n > 1 && strchr("xXoObB", s.p[1]) != NULL) {
		if (!prefixed(s, &v))
			return expr_lex_fail(p, p->tok.at,
			    "a number like this");
		*out = expr_int(v);
		return 0;
	}
	for (i = 0; i < s.n && n < sizeof(plain); i++)
		if (s.p[i] != '_') {
			plain[n++] = s.p[i];
			real = real || strchr(".eE", s.p[i]) != NULL;
		}
	s = (struct str){ plain, n };
	if (n == sizeof(plain) || (zero && n > 1 &&
	    plain[1] >= '0' && plain[1] <= '9'))
		return expr_lex_fail(p, p->tok.at, "a number like this");
	if (real && expr_read_float(s, &d))
		*out = expr_float(d);
	else if (!real && expr_read_int(s, &v))
		*out = expr_int(v);
	else
		return expr_lex_fail(p, p->tok.at, "a number of this size");
	return 0;
}

/* A code point by its number; *i is at x, u or U.  What it takes, or 0. */
static size_t
by_number(struct str s, char *out, size_t *n)
{
	size_t want = s.p[0] == 'x' ? 2 : s.p[0] == 'u' ? 4 : 8;
	uint32_t cp;

	s = (struct str){ s.p + 1, s.n - 1 };
	if (read_base(s, 16, want, &cp) != want ||
	    cp > 0x10FFFF || (cp >= 0xD800 && cp <= 0xDFFF))
		return 0;
	*n = utf8_put(out, cp);
	return want + 1;
}

/* The escape whose backslash stands before s: what it takes, or 0. */
static size_t
escape(struct str s, char *out, size_t *n)
{
	static const char from[] = "\\'\"abfnrtv", to[] = "\\'\"\a\b\f\n\r\t\v";
	const char *hit = memchr(from, s.p[0], sizeof(from) - 1);
	uint32_t cp;
	size_t k;

	*n = 0;
	if (s.p[0] == '\n')
		return 1;
	if (hit != NULL) {
		out[(*n)++] = to[hit - from];
		return 1;
	}
	if (s.p[0] == 'x' || s.p[0] == 'u' || s.p[0] == 'U')
		return by_number(s, out, n);
	if (s.p[0] >= '0' && s.p[0] <= '7') {
		k = read_base(s, 8, 3, &cp);
		*n = utf8_put(out, cp);
		return k;
	}
	if (s.p[0] == 'N' || s.p[0] == '{' || s.p[0] == '}')
		return 0;
	out[(*n)++] = '\\';		/* it stays, and what follows too */
	out[(*n)++] = s.p[0];
	return (unsigned char)s.p[0] < 0x80 ? 1 : 0;
}

/* Whether a brace at i ends the text; a double one is a single brace. */
static bool
brace(const struct parser *p, size_t *i, size_t to)
{
	char c = p->s.p[*i];

	if (*i + 1 < to && p->s.p[*i + 1] == c) {
		++*i;
		return false;
	}
	return true;
}

int
expr_literal_text(struct parser *p, size_t from, size_t to, bool raw,
    bool format, size_t *end, struct str *out)
{
	size_t i, k, used, n = 0;
	char *dst = NULL, c;

	if (!format && (raw ||
	    memchr(p->s.p + from, '\\', to - from) == NULL)) {
		*out = (struct str){ p->s.p + from, to - from };
		*end = to;
		return 0;
	}
	dst = arena_raw(p->arena, to - from + 4, 1);
	for (i = from; i < to; i++) {
		c = p->s.p[i];
		if (format && (c == '{' || c == '}') && brace(p, &i, to))
			break;
		if (c != '\\' || raw) {
			if (c == '\\' && format && i + 1 < to &&
			    strchr("{}", p->s.p[i + 1]) != NULL)
				return expr_lex_fail(p, i, "a brace after \\");
			dst[n++] = c;
			continue;
		}
		used = escape((struct str){ p->s.p + i + 1, to - i - 1 },
		    dst + n, &k);
		if (used == 0)
			return expr_lex_fail(p, i, "an escape like this");
		n += k;
		i += used;
	}
	*out = (struct str){ dst, n };
	*end = i;
	return 0;
}
