/* SPDX-License-Identifier: ISC */
/*
 * The words of an expression.
 *
 * What Python would take after a warning, or only in some versions, is
 * refused: a number with a letter behind it, names beyond ASCII.
 */
#include "lib/py/expr_lex.h"

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

/* Nothing but blanks, comments and ends of lines from here on. */
static bool
is_over(const struct parser *p)
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
		if (c == '\\' && peek(p, 1) == '\n') {
			if (p->in_format)
				break;
			p->i++;
		} else if (c == '#') {
			if (p->in_format)
				return expr_lex_fail(p, p->i,
				    "a comment in braces");
			while (peek(p, 1) != '\n' && peek(p, 1) != -1)
				p->i++;
		} else if (c == '\n' && p->brackets == 0) {
			if (!is_over(p))
				return expr_lex_fail(p, p->i,
				    "more than one line");
			p->i = p->s.n - 1;
		} else if (c != ' ' && c != '\t' && c != '\n')
			break;
	}
	return 0;
}

static void
digits(struct parser *p)
{
	while (is_digit(peek(p, 0)) ||
	    (peek(p, 0) == '_' && is_digit(peek(p, 1))))
		p->i++;
}

static int
number(struct parser *p)
{
	int c = peek(p, 1) | 0x20;

	if (peek(p, 0) == '0' && (c == 'x' || c == 'o' || c == 'b')) {
		for (p->i += 2; is_word(peek(p, 0)); p->i++)
			;
	} else {
		digits(p);
		if (peek(p, 0) == '.') {
			p->i++;
			if (is_digit(peek(p, 0)))
				digits(p);
		}
		c = peek(p, 1);
		if ((peek(p, 0) | 0x20) == 'e' && (is_digit(c) ||
		    ((c == '+' || c == '-') && is_digit(peek(p, 2))))) {
			p->i += 2;
			digits(p);
		}
	}
	if (is_word(peek(p, 0)) || peek(p, 0) == '.')
		return expr_lex_fail(p, p->i, "unclear behind a number");
	p->tok.kind = LEX_NUMBER;
	return 0;
}

/* From its first quote; prefix is what stands before it. */
static int
string(struct parser *p, struct str prefix)
{
	int quote = peek(p, 0), c;
	bool triple = peek(p, 1) == quote && peek(p, 2) == quote;
	size_t k;

	p->tok.kind = LEX_STRING;
	p->tok.raw = p->tok.format = false;
	for (k = 0; k < prefix.n; k++) {
		c = prefix.p[k] | 0x20;
		if (c == 'b')
			return expr_lex_fail(p, p->tok.at, "bytes");
		p->tok.raw = p->tok.raw || c == 'r';
		p->tok.format = p->tok.format || c == 'f';
	}
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
	return expr_lex_fail(p, p->tok.at, "a string without an end");
}

static bool
is_prefix(struct str s)
{
	static const char *const all[] = { "", "r", "u", "f", "b", "rf", "fr",
		"rb", "br" };
	char low[2];
	size_t i;

	if (s.n > 2)
		return false;
	for (i = 0; i < s.n; i++)
		low[i] = (char)(s.p[i] | 0x20);
	for (i = 0; i < COUNTOF(all); i++)
		if (str_is((struct str){ low, s.n }, all[i]))
			return true;
	return false;
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
		if (!is_prefix(s))
			return expr_lex_fail(p, p->i, "a string here");
		return string(p, s);
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
		    "a character that is not expected");
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
		rc = string(p, STR(""));
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
