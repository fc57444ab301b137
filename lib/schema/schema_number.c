/* SPDX-License-Identifier: ISC */
/*
 * Exact comparison and division of decimal numbers in their textual form.
 *
 * Numbers are never expanded: 1e999999 costs no more than 1.  Exponents are
 * clamped to 10^15 in either direction.  Zeros at both ends of the digits are
 * dropped, so that equal numbers have equal digits, and most questions about
 * multiples are decided by the exponents.
 */
#include "lib/schema/schema_internal.h"

#include <string.h>

enum { QUICK = 18 };		/* digits that always fit an int64_t */
static const int64_t EXPONENT_MAX = 1000000000000000;

static bool
digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The common case: an integer of few digits. */
static bool
read_quick(struct str s, int64_t *out)
{
	size_t i = s.n > 0 && s.p[0] == '-', n = s.n - i;
	int64_t v = 0;

	if (n == 0 || n > QUICK)
		return false;
	for (; i < s.n; i++) {
		if (!digit(s.p[i]))
			return false;
		v = v * 10 + (s.p[i] - '0');
	}
	*out = s.p[0] == '-' ? -v : v;
	return true;
}

static int64_t
read_exponent(const char *p, const char *end)
{
	bool neg = p < end && *p == '-';
	int64_t e = 0;

	if (p < end && (*p == '-' || *p == '+'))
		p++;
	for (; p < end && digit(*p); p++)
		if (e < EXPONENT_MAX)
			e = e * 10 + (*p - '0');
	if (e > EXPONENT_MAX)
		e = EXPONENT_MAX;
	return neg ? -e : e;
}

void
schema_num_read(struct schema_num *out, struct str s)
{
	const char *p = s.p, *end = p + s.n, *point = NULL;
	const char *first = NULL, *last = NULL, *e;

	memset(out, 0, sizeof(*out));
	out->quick = read_quick(s, &out->i);
	out->digits = STR("");
	out->sign = 1;
	if (p < end && *p == '-') {
		out->sign = -1;
		p++;
	}
	if (p < end && *p == '.') {
		out->nan = end - p > 1 && (p[1] | 0x20) == 'n';
		out->inf = !out->nan;
		return;
	}
	for (e = p; e < end && (digit(*e) || *e == '.'); e++) {
		if (*e == '.')
			point = e;
		else if (*e != '0') {
			last = e;
			if (first == NULL)
				first = e;
		}
	}
	if (first == NULL) {
		out->sign = 0;
		return;
	}
	if (point == NULL)
		point = e;
	out->digits = (struct str){ first, (size_t)(last - first) + 1 };
	out->top = first < point ? point - first : point - first + 1;
	out->low = last < point ? point - last - 1 : point - last;
	if (e < end) {
		int64_t x = read_exponent(e + 1, end);

		out->top += x;
		out->low += x;
	}
}

/* The digits one by one; 0 past the last. */
static int
next_digit(const char **p, const char *end)
{
	if (*p < end && **p == '.')
		++*p;
	return *p < end ? *(*p)++ - '0' : 0;
}

static int
cmp_size(const struct schema_num *a, const struct schema_num *b)
{
	const char *p = a->digits.p, *pe = p + a->digits.n;
	const char *q = b->digits.p, *qe = q + b->digits.n;
	int x, y;

	if (a->inf || b->inf)
		return a->inf - b->inf;
	if (a->top != b->top)
		return a->top < b->top ? -1 : 1;
	while (p < pe || q < qe) {
		x = next_digit(&p, pe);
		y = next_digit(&q, qe);
		if (x != y)
			return x < y ? -1 : 1;
	}
	return 0;
}

int
schema_num_cmp(const struct schema_num *a, const struct schema_num *b)
{
	if (a->quick && b->quick)
		return a->i < b->i ? -1 : a->i > b->i;
	if (a->sign != b->sign)
		return a->sign < b->sign ? -1 : 1;
	if (a->sign == 0)
		return 0;
	return a->sign * cmp_size(a, b);
}

size_t
schema_num_digits(const struct schema_num *a)
{
	return a->sign == 0 ? 0 : (size_t)(a->top - a->low);
}

static uint64_t
unit_digits(const struct schema_num *a)
{
	const char *p = a->digits.p, *end = p + a->digits.n;
	uint64_t v = 0;

	while (p < end)
		v = v * 10 + (uint64_t)next_digit(&p, end);
	return v;
}

/*
 * V and D do not end in zeros, so V x 10^v can be a multiple of D x 10^d only
 * if v >= d; otherwise V would be a multiple of 10.  It is one if D divides
 * V x 10^(v-d).  As D < 10^18 has at most 60 factors of 2 or 5, higher powers
 * of ten do not change the result.
 */
bool
schema_num_multiple(const struct schema_num *of, const struct schema_num *unit)
{
	const char *p = of->digits.p, *end = p + of->digits.n;
	uint64_t d, r = 0;
	int64_t k;

	if (of->nan || of->inf)
		return false;
	if (of->sign == 0)
		return true;
	if (unit->quick && of->quick)
		return of->i % unit->i == 0;
	if (of->low < unit->low)
		return false;
	d = unit_digits(unit);
	while (p < end)
		r = (r * 10 + (uint64_t)next_digit(&p, end)) % d;
	k = of->low - unit->low;
	for (k = k > 64 ? 64 : k; k > 0 && r != 0; k--)
		r = r * 10 % d;
	return r == 0;
}

bool
schema_num_whole(const struct json *v)
{
	struct schema_num n;
	int64_t i;

	if (read_quick(json_text(v), &i))
		return true;
	schema_num_read(&n, json_text(v));
	return !n.nan && !n.inf && (n.sign == 0 || n.low >= 0);
}
