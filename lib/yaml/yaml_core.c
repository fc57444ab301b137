/* SPDX-License-Identifier: ISC */
/*
 * The core schema: null, booleans, integers, floats; all else is a string.
 *
 * The tree stores numbers as text in JSON's spelling, with the exact value.
 * The original spelling follows after a NUL, for callers that want a string.
 */
#include "lib/yaml/yaml_internal.h"

#include <stdio.h>
#include <string.h>

#include "json.h"

enum { DIGITS_MAX = 256 };	/* of 0x and 0o: conversion is quadratic */

/*
 * Words with a type.  A number without a JSON spelling gets one, followed by
 * its source as in number().
 */
#define WORD(text, type, n) { "" text, sizeof(text) - 1, type, n, "" text }
#define SPECIAL(text, ours) { "" text, sizeof(text) - 1, JSON_NUMBER, \
	sizeof(ours) - 1, "" ours "\0" text }

static const struct {
	char text[6];
	unsigned len;
	enum json_type type;
	uint32_t n;
	char ours[12];
} words[] = {
	WORD("null", JSON_NULL, 0), WORD("Null", JSON_NULL, 0),
	WORD("NULL", JSON_NULL, 0), WORD("~", JSON_NULL, 0),
	WORD("true", JSON_BOOL, 1), WORD("True", JSON_BOOL, 1),
	WORD("TRUE", JSON_BOOL, 1), WORD("false", JSON_BOOL, 0),
	WORD("False", JSON_BOOL, 0), WORD("FALSE", JSON_BOOL, 0),
	SPECIAL(".inf", ".inf"), SPECIAL(".Inf", ".inf"),
	SPECIAL(".INF", ".inf"), SPECIAL("+.inf", ".inf"),
	SPECIAL("+.Inf", ".inf"), SPECIAL("+.INF", ".inf"),
	SPECIAL("-.inf", "-.inf"), SPECIAL("-.Inf", "-.inf"),
	SPECIAL("-.INF", "-.inf"), SPECIAL(".nan", ".nan"),
	SPECIAL(".NaN", ".nan"), SPECIAL(".NAN", ".nan"),
};

static void
set_text(struct json *v, enum json_type type, struct str s)
{
	v->type = (uint8_t)type;
	v->u.text = s.p;
	v->n = (uint32_t)s.n;
}

static bool
word(struct str s, struct json *v)
{
	size_t i;

	if (s.n > 5 || (s.p[0] >= '0' && s.p[0] <= '9'))
		return false;
	for (i = 0; i < COUNTOF(words); i++)
		if (words[i].len == s.n && words[i].text[0] == s.p[0] &&
		    memcmp(words[i].text, s.p, s.n) == 0) {
			v->type = (uint8_t)words[i].type;
			v->n = words[i].n;
			v->u.text = words[i].ours;
			v->sourced = v->type != JSON_NULL;
			return true;
		}
	return false;
}

bool
yaml_core_null(struct str s)
{
	struct json v;

	return s.n > 0 && s.n < 5 && yaml_in_is(s.p[0], YAML_IN_TYPED) &&
	    word(s, &v) && v.type == JSON_NULL;
}

static size_t
digits(const char *p, const char *end)
{
	const char *s = p;

	while (p < end && *p >= '0' && *p <= '9')
		p++;
	return (size_t)(p - s);
}

/* Converts 0o17 and 0x1F to decimal. */
static void
radix(struct yaml_in *y, struct str s, struct json *v)
{
	uint32_t big[DIGITS_MAX / 7 + 2] = { 0 };	/* base 10^9 */
	const unsigned base = s.p[1] == 'o' ? 8 : 16;
	size_t i, k, n = 1;
	uint64_t carry;
	char *text, *o;

	for (i = 2; i < s.n; i++) {
		carry = (uint64_t)hex_digit(s.p[i]);
		for (k = 0; k < n; k++) {
			carry += (uint64_t)big[k] * base;
			big[k] = (uint32_t)(carry % 1000000000);
			carry /= 1000000000;
		}
		if (carry > 0)
			big[n++] = (uint32_t)carry;
	}
	text = arena_raw(y->mem, n * 9 + 1 + s.n + 1, 1);
	snprintf(text + n * 9, s.n + 2, "%c%.*s", '\0', STRF(s));
	for (o = text + n * 9, k = 0; k < n; k++)
		for (i = 0; i < 9; i++, big[k] /= 10)
			*--o = (char)('0' + big[k] % 10);
	for (n *= 9; n > 1 && *o == '0'; n--)
		o++;
	set_text(v, JSON_NUMBER, (struct str){ o, n });
	v->sourced = true;
}

/* Whether s is 0o[0-7]+ or 0x[0-9a-fA-F]+. */
static bool
is_radix(struct str s)
{
	size_t i;
	int d;

	if (s.n < 3 || s.p[0] != '0' || (s.p[1] != 'o' && s.p[1] != 'x'))
		return false;
	for (i = 2; i < s.n; i++) {
		d = hex_digit(s.p[i]);
		if (d < 0 || (d > 7 && s.p[1] == 'o'))
			return false;
	}
	return true;
}

/* The parts of a decimal number as spelt in the source. */
struct parts {
	struct str whole, frac, exp;
	bool minus, plus, point;
};

/* [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)? */
static bool
split(struct str s, struct parts *d)
{
	const char *p = s.p, *end = s.p + s.n;

	*d = (struct parts){ .minus = *p == '-', .plus = *p == '+',
	    .frac = STR(""), .exp = STR("") };
	p += d->minus || d->plus;
	d->whole = (struct str){ p, digits(p, end) };
	p += d->whole.n;
	if (p < end && *p == '.') {
		d->point = true;
		p++;
		d->frac = (struct str){ p, digits(p, end) };
		p += d->frac.n;
	}
	if (d->whole.n + d->frac.n == 0)
		return false;
	if (p < end && (*p == 'e' || *p == 'E')) {
		d->exp.p = p++;
		p += p < end && (*p == '-' || *p == '+');
		if (digits(p, end) == 0)
			return false;
		p += digits(p, end);
		d->exp.n = (size_t)(p - d->exp.p);
	}
	return p == end;
}

static bool
number(struct yaml_in *y, struct str s, struct json *v)
{
	struct str zero = STR("0");
	struct parts d;

	if (!split(s, &d))
		return false;
	if (d.plus || (d.point && d.frac.n == 0) || d.whole.n == 0 ||
	    (d.whole.n > 1 && d.whole.p[0] == '0')) {
		while (d.whole.n > 1 && d.whole.p[0] == '0') {
			d.whole.p++;
			d.whole.n--;
		}
		if (d.whole.n == 0)
			d.whole = zero;
		if (d.point && d.frac.n == 0)
			d.frac = zero;
		s = arena_fmt(y->mem, "%s%.*s%s%.*s%.*s%c%.*s",
		    d.minus ? "-" : "", STRF(d.whole), d.point ? "." : "",
		    STRF(d.frac), STRF(d.exp), '\0', STRF(s));
		s.n = strlen(s.p);
		v->sourced = true;
	}
	set_text(v, JSON_NUMBER, s);
	return true;
}

int
yaml_core_value(struct yaml_in *y, const struct yaml_scalar *s, struct json *v)
{
	if (word(s->text, v))
		return 0;
	if (is_radix(s->text)) {
		if (s->text.n > DIGITS_MAX) {
			yaml_in_bad(y, y->p, "a number in base 8 or 16 can "
			    "have up to %d digits", DIGITS_MAX);
			return err_at(y->err, s->line, s->col);
		}
		radix(y, s->text, v);
	} else if (!number(y, s->text, v)) {
		set_text(v, JSON_STRING, s->text);
	}
	return 0;
}
