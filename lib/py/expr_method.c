/* SPDX-License-Identifier: ISC */
/*
 * Methods of str that look for something, change case, or pad.  What takes
 * texts apart is in expr_split.c.
 */
#include "lib/py/expr_internal.h"

#include <string.h>

static struct str
bytes(struct value v)
{
	return (struct str){ v.u.text->p, v.u.text->n };
}

/* The part of a text that the arguments from i on choose. */
struct range {
	int64_t from, to;	/* in code points; from may be beyond to */
	struct str s;		/* its bytes; empty if there is none */
	size_t at;		/* bytes before it */
};

static int
read_range(struct eval *ev, struct text *t, const struct args *a, size_t i,
    struct range *r)
{
	int64_t n = (int64_t)expr_len(t), v[2];
	size_t k, to;

	v[0] = 0;
	v[1] = n;
	for (k = 0; k < 2 && i + k < a->n; k++) {
		if (EXPR_ISINT(a->v[i + k]))
			v[k] = a->v[i + k].u.i;
		else if (a->v[i + k].kind != EXPR_NONE)
			return expr_decline(ev, "such an index");
		if (v[k] < 0)
			v[k] = v[k] < -n ? 0 : v[k] + n;
	}
	r->from = v[0];
	r->to = v[1] > n ? n : v[1];
	r->at = 0;
	r->s = (struct str){ t->p, 0 };
	if (r->from <= r->to) {
		r->at = expr_offset(t, (size_t)r->from);
		to = expr_offset(t, (size_t)r->to);
		r->s = (struct str){ t->p + r->at, to - r->at };
		if (r->from > 0 && expr_bytes(ev, to) == -1)
			return -1;
	}
	return 0;
}

/* Where the first argument is in self, in code points, or -1. */
static int
locate(struct eval *ev, struct value self, const struct args *a, bool back,
    int64_t *out)
{
	struct text before;
	struct finder f;
	struct range r;
	size_t at;
	int rc;

	*out = -1;
	if (a->nnamed > 0 || a->v[0].kind != EXPR_STR)
		return expr_decline(ev, "such arguments of find()");
	if (read_range(ev, self.u.text, a, 1, &r) == -1)
		return -1;
	if (r.from > r.to)
		return 0;
	expr_find_init(&f, bytes(a->v[0]));
	rc = back ? expr_find_back(ev, &f, r.s, r.s.n, &at) :
	    expr_find(ev, &f, r.s, 0, &at);
	if (rc != 1)
		return rc;
	before = (struct text){ .p = r.s.p, .n = at, .len = EXPR_UNKNOWN };
	*out = r.from + (int64_t)(expr_ascii(self.u.text) ? at :
	    expr_len(&before));
	return 0;
}

static int
find(struct eval *ev, struct value self, const struct args *a, bool back,
    bool must, struct value *out)
{
	int64_t at;

	if (locate(ev, self, a, back, &at) == -1)
		return -1;
	if (at == -1 && must)
		return expr_raise(ev, "substring not found");
	*out = expr_int(at);
	return 0;
}

static int
str_find(struct eval *ev, struct value self, const struct args *a,
    struct value *out)
{
	return find(ev, self, a, false, false, out);
}

static int
str_rfind(struct eval *ev, struct value self, const struct args *a,
    struct value *out)
{
	return find(ev, self, a, true, false, out);
}

static int
str_index(struct eval *ev, struct value self, const struct args *a,
    struct value *out)
{
	return find(ev, self, a, false, true, out);
}

static int
str_rindex(struct eval *ev, struct value self, const struct args *a,
    struct value *out)
{
	return find(ev, self, a, true, true, out);
}

static int
str_count(struct eval *ev, struct value self, const struct args *a,
    struct value *out)
{
	struct finder f;
	struct range r;
	size_t i = 0, at;
	int64_t n = 0;
	int rc;

	if (a->nnamed > 0 || a->v[0].kind != EXPR_STR)
		return expr_decline(ev, "such arguments of count()");
	if (read_range(ev, self.u.text, a, 1, &r) == -1)
		return -1;
	*out = expr_int(0);
	if (r.from > r.to)
		return 0;
	if (a->v[0].u.text->n == 0) {
		*out = expr_int(r.to - r.from + 1);
		return 0;
	}
	expr_find_init(&f, bytes(a->v[0]));
	while ((rc = expr_find(ev, &f, r.s, i, &at)) == 1) {
		n++;
		i = at + f.needle.n;
	}
	*out = expr_int(n);
	return rc;
}

static int
affix(struct eval *ev, struct value self, const struct args *a, bool end,
    struct value *out)
{
	const struct value *v = a->v;
	size_t n = 1, i;
	struct range r;

	if (a->nnamed > 0 || (v->kind != EXPR_STR && v->kind != EXPR_TUPLE))
		return expr_decline(ev, "such arguments of startswith()");
	if (read_range(ev, self.u.text, a, 1, &r) == -1)
		return -1;
	if (v->kind == EXPR_TUPLE) {
		n = v->u.seq->n;
		v = v->u.seq->v;
	}
	*out = expr_bool(false);
	for (i = 0; i < n; i++) {
		if (v[i].kind != EXPR_STR)
			return expr_decline(ev, "such a tuple");
		if (expr_bytes(ev, v[i].u.text->n) == -1)
			return -1;
		if (r.from <= r.to && (end ? str_ends(r.s, bytes(v[i])) :
		    str_starts(r.s, bytes(v[i])))) {
			*out = expr_bool(true);
			return 0;
		}
	}
	return 0;
}

static int
str_startswith(struct eval *ev, struct value self, const struct args *a,
    struct value *out)
{
	return affix(ev, self, a, false, out);
}

static int
str_endswith(struct eval *ev, struct value self, const struct args *a,
    struct value *out)
{
	return affix(ev, self, a, true, out);
}

static int
without(struct eval *ev, struct value self, const struct args *a, bool end,
    struct value *out)
{
	struct str s = bytes(self), x;

	if (a->nnamed > 0 || a->v[0].kind != EXPR_STR)
		return expr_decline(ev, "such arguments of removeprefix()");
	x = bytes(a->v[0]);
	if (end && str_ends(s, x))
		return expr_sub(ev, self.u.text, 0, s.n - x.n, out);
	if (!end && str_starts(s, x))
		return expr_sub(ev, self.u.text, x.n, s.n, out);
	*out = self;
	return 0;
}

static int
str_removeprefix(struct eval *ev, struct value self, const struct args *a,
    struct value *out)
{
	return without(ev, self, a, false, out);
}

static int
str_removesuffix(struct eval *ev, struct value self, const struct args *a,
    struct value *out)
{
	return without(ev, self, a, true, out);
}

/* Padding. */

static int
pad(struct eval *ev, struct value self, struct str fill, size_t left,
    size_t right, struct value *out)
{
	struct sink s = { 0 };
	size_t i;

	if (expr_steps(ev, left) == -1 || expr_steps(ev, right) == -1)
		return -1;
	for (i = 0; i < left; i++)
		if (expr_put(ev, &s, fill) == -1)
			return -1;
	if (expr_put(ev, &s, bytes(self)) == -1)
		return -1;
	for (i = 0; i < right; i++)
		if (expr_put(ev, &s, fill) == -1)
			return -1;
	return expr_take(ev, &s, out);
}

/* side: -1 text left, 1 right, 0 in the middle. */
static int
justify(struct eval *ev, struct value self, const struct args *a, int side,
    struct value *out)
{
	int64_t len = (int64_t)expr_len(self.u.text), width, left;
	struct str fill = STR(" ");

	if (a->nnamed > 0 || !EXPR_ISINT(a->v[0]) ||
	    (a->n > 1 && a->v[1].kind != EXPR_STR))
		return expr_decline(ev, "such arguments of center()");
	if (a->n > 1) {
		if (expr_len(a->v[1].u.text) != 1)
			return expr_raise(ev, "The fill character must be "
			    "exactly one character long");
		fill = bytes(a->v[1]);
	}
	width = a->v[0].u.i;
	if (width <= len) {
		*out = self;
		return 0;
	}
	if (width > EXPR_MEMORY_MAX)
		return expr_decline(ev, "a text of this size");
	width -= len;
	left = side < 0 ? 0 : side > 0 ? width :
	    width / 2 + (width & (width + len) & 1);
	return pad(ev, self, fill, (size_t)left, (size_t)(width - left), out);
}

static int
str_ljust(struct eval *ev, struct value self, const struct args *a,
    struct value *out)
{
	return justify(ev, self, a, -1, out);
}

static int
str_rjust(struct eval *ev, struct value self, const struct args *a,
    struct value *out)
{
	return justify(ev, self, a, 1, out);
}

static int
str_center(struct eval *ev, struct value self, const struct args *a,
    struct value *out)
{
	return justify(ev, self, a, 0, out);
}

/* Zeros between the sign and the rest. */
static int
str_zfill(struct eval *ev, struct value self, const struct args *a,
    struct value *out)
{
	int64_t len = (int64_t)expr_len(self.u.text);
	struct str s = bytes(self);
	bool sign = s.n > 0 && (s.p[0] == '-' || s.p[0] == '+');
	struct value rest, first;

	if (a->nnamed > 0 || !EXPR_ISINT(a->v[0]) ||
	    a->v[0].u.i > EXPR_MEMORY_MAX)
		return expr_decline(ev, "such arguments of zfill()");
	if (a->v[0].u.i <= len) {
		*out = self;
		return 0;
	}
	if (expr_sub(ev, self.u.text, 0, sign, &first) == -1 ||
	    expr_sub(ev, self.u.text, sign, s.n, &rest) == -1 ||
	    pad(ev, rest, STR("0"), (size_t)(a->v[0].u.i - len), 0,
	    &rest) == -1)
		return -1;
	return expr_concat(ev, first, rest, out);
}

/* Case and kinds of characters. */

#define CASE(name, call) \
	static int \
	str_##name(struct eval *ev, struct value self, const struct args *a, \
	    struct value *out) \
	{ \
		if (a->nnamed > 0) \
			return expr_decline(ev, "such arguments"); \
		return call; \
	}
#define TEST(name) CASE(name, expr_test(ev, self.u.text, #name, out))

CASE(lower, expr_case(ev, self.u.text, EXPR_LOWER, out))
CASE(upper, expr_case(ev, self.u.text, EXPR_UPPER, out))
CASE(casefold, expr_case(ev, self.u.text, EXPR_FOLD, out))
CASE(title, expr_title(ev, self.u.text, out))
CASE(capitalize, expr_capitalize(ev, self.u.text, out))
CASE(swapcase, expr_swapcase(ev, self.u.text, out))
TEST(isalnum)
TEST(isalpha)
TEST(isdecimal)
TEST(isdigit)
TEST(isnumeric)
TEST(isprintable)
TEST(islower)
TEST(isupper)
TEST(istitle)
TEST(isspace)
CASE(isascii, (*out = expr_bool(expr_ascii(self.u.text)), 0))

const struct method expr_str_methods[] = {
	{ "lower",        EXPR_STR, str_lower,        0, 0 },
	{ "upper",        EXPR_STR, str_upper,        0, 0 },
	{ "find",         EXPR_STR, str_find,         1, 3 },
	{ "rfind",        EXPR_STR, str_rfind,        1, 3 },
	{ "index",        EXPR_STR, str_index,        1, 3 },
	{ "rindex",       EXPR_STR, str_rindex,       1, 3 },
	{ "count",        EXPR_STR, str_count,        1, 3 },
	{ "startswith",   EXPR_STR, str_startswith,   1, 3 },
	{ "endswith",     EXPR_STR, str_endswith,     1, 3 },
	{ "removeprefix", EXPR_STR, str_removeprefix, 1, 1 },
	{ "removesuffix", EXPR_STR, str_removesuffix, 1, 1 },
	{ "ljust",        EXPR_STR, str_ljust,        1, 2 },
	{ "rjust",        EXPR_STR, str_rjust,        1, 2 },
	{ "center",       EXPR_STR, str_center,       1, 2 },
	{ "zfill",        EXPR_STR, str_zfill,        1, 1 },
	{ "casefold",     EXPR_STR, str_casefold,     0, 0 },
	{ "title",        EXPR_STR, str_title,        0, 0 },
	{ "capitalize",   EXPR_STR, str_capitalize,   0, 0 },
	{ "swapcase",     EXPR_STR, str_swapcase,     0, 0 },
	{ "isalnum",      EXPR_STR, str_isalnum,      0, 0 },
	{ "isalpha",      EXPR_STR, str_isalpha,      0, 0 },
	{ "isascii",      EXPR_STR, str_isascii,      0, 0 },
	{ "isdecimal",    EXPR_STR, str_isdecimal,    0, 0 },
	{ "isdigit",      EXPR_STR, str_isdigit,      0, 0 },
	{ "isnumeric",    EXPR_STR, str_isnumeric,    0, 0 },
	{ "isprintable",  EXPR_STR, str_isprintable,  0, 0 },
	{ "islower",      EXPR_STR, str_islower,      0, 0 },
	{ "isupper",      EXPR_STR, str_isupper,      0, 0 },
	{ "istitle",      EXPR_STR, str_istitle,      0, 0 },
	{ "isspace",      EXPR_STR, str_isspace,      0, 0 },
	{ NULL,           EXPR_STR, NULL,             0, 0 },
};
