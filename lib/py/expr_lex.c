/* SPDX-License-Identifier: ISC */
/*
 * Tokens of an expression, and the values of literals.
 *
 * Sources that Python accepts with a warning, or only in some versions, are
 * declined, such as a number followed by a letter.  So are names that are not
 * ASCII, formatted strings, bytes, and numbers that are not decimal.
 */
#include "lib/py/expr_internal.h"

#include <string.h>

int
expr_lex_fail(struct parser *p, size_t at, const char *why)
{
	err_set(p->err, ERR_SYNTAX, "%s", why);
	return err_at(p->err, 0, (unsigned)at + 1);
}

static int
peek(const struct parser *p, size_t k)
{
	return p->s.n - p->i > k ? (unsigned char)p->s.p[p->i + k] : -1;
}

static bool
is_digit(int c)
{
	return c >= '0' && c <= '9';
}

static bool
is_word(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    is_digit(c) || c == '_';
}

/* Only blanks, comments and newlines follow. */
static bool
only_blanks(const struct parser *p)
{
	size_t i;

	for (i = p->i; i < p->s.n; i++)
		if (p->s.p[i] == '#')
			while (i + 1 < p->s.n && p->s.p[i + 1] != '\n')
				i++;
		else if (p->s.p[i] != '\n' && p->s.p[i] != ' ' &&
		    p->s.p[i] != '\t')
			return false;
	return true;
}

static int
blanks(struct parser *p)
{
	int c;

	for (; (c = peek(p, 0)) != -1; p->i++) {
		if (c == '#') {
			while (peek(p, 1) != '\n' && peek(p, 1) != -1)
				p->i++;
		} else if (c == '\n' && p->brackets == 0) {
			if (!only_blanks(p))
				return expr_lex_fail(p, p->i,
				    "more than one line");
			p->i = p->s.n - 1;
		} else if (c != ' ' && c != '\t' && c != '\n')
			break;
	}
	return 0;
}

static int
number(struct parser *p)
{
	int c;

	while (is_digit(peek(p, 0)))
		p->i++;
	if (peek(p, 0) == '.')
		for (p->i++; is_digit(peek(p, 0)); p->i++)
			;
	c = peek(p, 1);
	if ((peek(p, 0) | 0x20) == 'e' && (is_digit(c) ||
	    ((c == '+' || c == '-') && is_digit(peek(p, 2)))))
		for (p->i += 2; is_digit(peek(p, 0)); p->i++)
			;
	if (is_word(peek(p, 0)) || peek(p, 0) == '.')
		return expr_lex_fail(p, p->i, "unsupported number");
	p->tok.kind = LEX_NUMBER;
	return 0;
}

/* Reads a string from its first quote. */
static int
string(struct parser *p, bool raw)
{
	int quote = peek(p, 0), c;
	bool triple = peek(p, 1) == quote && peek(p, 2) == quote;

	p->tok.kind = LEX_STRING;
	p->tok.raw = raw;
	p->i += triple ? 3 : 1;
	p->tok.body = p->i;
	for (; (c = peek(p, 0)) != -1; p->i++) {
		if (c == quote && (!triple || (peek(p, 1) == quote &&
		    peek(p, 2) == quote))) {
			p->tok.body_end = p->i;
			p->i += triple ? 3 : 1;
			return 0;
		}
		if (c == '\n' && !triple)
			break;
		if (c == '\\' && peek(p, 1) != -1)
			p->i++;
	}
	return expr_lex_fail(p, p->tok.at, "unterminated string");
}

static int
word(struct parser *p)
{
	size_t from = p->i;
	struct str s;

	while (is_word(peek(p, 0)))
		p->i++;
	s = (struct str){ p->s.p + from, p->i - from };
	if (peek(p, 0) == '\'' || peek(p, 0) == '"') {
		if (s.n != 1 || strchr("rRuU", s.p[0]) == NULL)
			return expr_lex_fail(p, p->tok.at,
			    "unsupported string prefix");
		return string(p, (s.p[0] | 0x20) == 'r');
	}
	p->tok.kind = LEX_NAME;
	return 0;
}

static int
operator(struct parser *p)
{
	static const char twos[] = "== != <= >= << >> // ** := -> ";
	int c = peek(p, 0), d = peek(p, 1);
	const char *t;

	p->tok.kind = LEX_OP;
	p->tok.op = (unsigned)c;
	p->i++;
	for (t = twos; *t != '\0'; t += 3)
		if (t[0] == c && t[1] == d) {
			p->tok.op = LEX2((unsigned)c, (unsigned)d);
			p->i++;
			break;
		}
	if (c == '(' || c == '[' || c == '{')
		p->brackets++;
	else if ((c == ')' || c == ']' || c == '}') && p->brackets > 0)
		p->brackets--;
	else if (c < ' ' || c >= 0x7F)
		return expr_lex_fail(p, p->i - 1,
		    "unexpected character");
	return 0;
}

int
expr_lex_next(struct parser *p)
{
	int c, rc;

	if (blanks(p) == -1)
		return -1;
	p->tok = (struct token){ .at = p->i };
	c = peek(p, 0);
	if (c == -1)
		rc = 0;
	else if (is_digit(c) || (c == '.' && is_digit(peek(p, 1))))
		rc = number(p);
	else if (c == '\'' || c == '"')
		rc = string(p, false);
	else if (is_word(c))
		rc = word(p);
	else
		rc = operator(p);
	p->tok.end = p->i;
	return rc;
}

struct str
expr_lex_text(const struct parser *p)
{
	return (struct str){ p->s.p + p->tok.at, p->tok.end - p->tok.at };
}

bool
expr_lex_is(const struct parser *p, const char *keyword)
{
	return p->tok.kind == LEX_NAME && str_is(expr_lex_text(p), keyword);
}

/* Literals. */

int
expr_lex_number(struct parser *p, struct value *out)
{
	struct str s = expr_lex_text(p);
	bool real = false;
	int64_t v;
	double d;
	size_t i;

	for (i = 0; i < s.n; i++)
		real = real || !is_digit(s.p[i]);
	if (s.n > 1 && s.p[0] == '0' && is_digit(s.p[1]))
		return expr_lex_fail(p, p->tok.at, "unsupported number");
	if (real && expr_read_float(s, &d))
		*out = expr_float(d);
	else if (!real && expr_read_int(s, &v))
		*out = expr_int(v);
	else
		return expr_lex_fail(p, p->tok.at, "number out of range");
	return 0;
}

/*
 * Decodes \xhh or \uhhhh, s being at the x or u; returns the bytes it takes,
 * or 0.
 */
static size_t
hex_escape(struct str s, char *out, size_t *n)
{
	size_t want = s.p[0] == 'x' ? 2 : 4, i;
	uint32_t cp = 0;

	for (i = 1; i <= want; i++) {
		if (i >= s.n || hex_digit(s.p[i]) == -1)
			return 0;
		cp = cp * 16 + (uint32_t)hex_digit(s.p[i]);
	}
	if (cp >= 0xD800 && cp <= 0xDFFF)
		return 0;
	*n = utf8_put(out, cp);
	return want + 1;
}

/* Decodes the escape behind a backslash; the bytes it takes, or 0. */
static size_t
escape(struct str s, char *out, size_t *n)
{
	static const char from[] = "\\'\"nrt", to[] = "\\'\"\n\r\t";
	const char *hit = memchr(from, s.p[0], sizeof(from) - 1);

	*n = 0;
	if (hit != NULL) {
		out[(*n)++] = to[hit - from];
		return 1;
	}
	if (s.p[0] == 'x' || s.p[0] == 'u')
		return hex_escape(s, out, n);
	if (strchr("abfvNU\n", s.p[0]) != NULL || is_digit(s.p[0]) ||
	    (unsigned char)s.p[0] >= 0x80)
		return 0;
	out[(*n)++] = '\\';		/* unknown escapes stay as they are */
	out[(*n)++] = s.p[0];
	return 1;
}

int
expr_lex_string(struct parser *p, struct str *out)
{
	size_t i = p->tok.body, to = p->tok.body_end, k, used, n = 0;
	char *dst;

	*out = (struct str){ p->s.p + i, to - i };
	if (p->tok.raw || memchr(p->s.p + i, '\\', to - i) == NULL)
		return 0;
	dst = arena_raw(p->arena, to - i + 4, 1);
	while (i < to) {
		if (p->s.p[i] != '\\') {
			dst[n++] = p->s.p[i++];
			continue;
		}
		used = escape((struct str){ p->s.p + i + 1, to - i - 1 },
		    dst + n, &k);
		if (used == 0)
			return expr_lex_fail(p, i, "unsupported escape");
		n += k;
		i += used + 1;
	}
	*out = (struct str){ dst, n };
	return 0;
}
