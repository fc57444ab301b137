/* SPDX-License-Identifier: ISC */
/*
 * Methods of str.
 */
#include "lib/py/expr_internal.h"

#include <string.h>

/* Search. */

enum { FIND, INDEX };

static int
str_find(struct eval *ev, struct value self, const struct args *a,
    struct value *out)
{
	struct text before = { .p = self.u.text->p, .len = EXPR_UNKNOWN };
	struct finder f;
	int rc;

	if (a->v[0].kind != EXPR_STR)
		return expr_decline(ev, "arguments of find()");
	expr_find_init(&f, expr_bytes_of(a->v[0]));
	rc = expr_find(ev, &f, expr_bytes_of(self), 0, &before.n);
	if (rc == -1)
		return -1;
	if (rc == 0 && a->variant == INDEX)
		return expr_raise(ev, "substring not found");
	*out = expr_int(rc == 0 ? -1 : (int64_t)expr_len(&before));
	return 0;
}

static int
str_count(struct eval *ev, struct value self, const struct args *a,
    struct value *out)
{
	struct finder f;
	size_t i = 0, at;
	int64_t n = 0;
	int rc;

	if (a->v[0].kind != EXPR_STR)
		return expr_decline(ev, "arguments of count()");
	if (a->v[0].u.text->n == 0) {
		*out = expr_int((int64_t)expr_len(self.u.text) + 1);
		return 0;
	}
	expr_find_init(&f, expr_bytes_of(a->v[0]));
	while ((rc = expr_find(ev, &f, expr_bytes_of(self), i, &at)) == 1) {
		n++;
		i = at + f.needle.n;
	}
	*out = expr_int(n);
	return rc;
}

enum { PREFIX, SUFFIX };

/* startswith() and endswith() of a text or of one of a tuple. */
static int
str_affix(struct eval *ev, struct value self, const struct args *a,
    struct value *out)
{
	const struct value *v = a->v;
	struct str s = expr_bytes_of(self);
	size_t n = 1, i;
	bool yes = false;

	if (v->kind == EXPR_TUPLE) {
		n = v->u.seq->n;
		v = v->u.seq->v;
	}
	for (i = 0; i < n && !yes; i++) {
		if (v[i].kind != EXPR_STR)
			return expr_decline(ev, "arguments of startswith()");
		if (expr_bytes(ev, v[i].u.text->n) == -1)
			return -1;
		yes = a->variant == SUFFIX ? str_ends(s, expr_bytes_of(v[i])) :
		    str_starts(s, expr_bytes_of(v[i]));
	}
	*out = expr_bool(yes);
	return 0;
}

/* Parts of a text. */

struct parts {
	struct eval *ev;
	const struct text *of;
	struct value *v;
	size_t n, cap;
};

static int
add_part(struct parts *p, size_t from, size_t to)
{
	p->v = expr_grow(p->ev, p->v, p->n, &p->cap, sizeof(*p->v));
	if (p->v == NULL || expr_steps(p->ev, 1) == -1)
		return -1;
	return expr_sub(p->ev, p->of, from, to, &p->v[p->n++]);
}

/* The end of the run of blanks, or of other characters, at byte i. */
static size_t
skip(const struct text *t, size_t i, bool blanks)
{
	size_t n;

	for (; i < t->n; i += n)
		if (expr_is_space(expr_code_at(t, i, &n)) != blanks)
			break;
	return i;
}

static int
split_blanks(struct parts *p, int64_t max)
{
	const struct text *t = p->of;
	size_t i = skip(t, 0, true), end;

	if (expr_bytes(p->ev, 8 * t->n) == -1)
		return -1;
	while (i < t->n) {
		if (max-- == 0)
			return add_part(p, i, t->n);
		end = skip(t, i, false);
		if (add_part(p, i, end) == -1)
			return -1;
		i = skip(t, end, true);
	}
	return 0;
}

static int
split_text(struct parts *p, struct str sep, int64_t max)
{
	struct str s = { p->of->p, p->of->n };
	struct finder f;
	size_t i = 0, at;
	int rc = 0;

	expr_find_init(&f, sep);
	while (max-- != 0 && (rc = expr_find(p->ev, &f, s, i, &at)) == 1) {
		if (add_part(p, i, at) == -1)
			return -1;
		i = at + sep.n;
	}
	return rc == -1 ? -1 : add_part(p, i, s.n);
}

static int
str_split(struct eval *ev, struct value self, const struct args *a,
    struct value *out)
{
	struct parts p = { .ev = ev, .of = self.u.text };
	struct value sep = a->n > 0 ? a->v[0] : expr_none();
	int64_t max = -1;
	int rc;

	if ((sep.kind != EXPR_STR && sep.kind != EXPR_NONE) ||
	    (a->n > 1 && !EXPR_ISINT(a->v[1])))
		return expr_decline(ev, "arguments of split()");
	if (a->n > 1 && a->v[1].u.i >= 0)
		max = a->v[1].u.i;
	if (sep.kind == EXPR_STR && sep.u.text->n == 0)
		return expr_raise(ev, "empty separator");
	expr_len(self.u.text);
	rc = sep.kind == EXPR_NONE ? split_blanks(&p, max) :
	    split_text(&p, expr_bytes_of(sep), max);
	return rc == -1 ? -1 : expr_seq(ev, EXPR_LIST, p.v, p.n, out);
}

static bool
is_line_break(uint32_t c)
{
	return (c >= '\n' && c <= '\r') || (c >= 0x1C && c <= 0x1E) ||
	    c == 0x85 || c == 0x2028 || c == 0x2029;
}

static int
str_splitlines(struct eval *ev, struct value self, const struct args *a,
    struct value *out)
{
	struct parts p = { .ev = ev, .of = self.u.text };
	const struct text *t = self.u.text;
	size_t i = 0, from = 0, n;
	uint32_t c;

	(void)a;
	expr_len(self.u.text);
	if (expr_bytes(ev, 8 * t->n) == -1)
		return -1;
	while (i < t->n) {
		c = expr_code_at(t, i, &n);
		if (is_line_break(c) && add_part(&p, from, i) == -1)
			return -1;
		i += n;
		if (!is_line_break(c))
			continue;
		if (c == '\r' && i < t->n && t->p[i] == '\n')
			i++;
		from = i;
	}
	if (from < t->n && add_part(&p, from, t->n) == -1)
		return -1;
	return expr_seq(ev, EXPR_LIST, p.v, p.n, out);
}

/* A blank, or one of the characters of a text. */
static bool
is_among(uint32_t c, const struct text *set)
{
	size_t i, n;

	if (set == NULL)
		return expr_is_space(c);
	for (i = 0; i < set->n; i += n)
		if (expr_code_at(set, i, &n) == c)
			return true;
	return false;
}

enum { LEFT = 1, RIGHT = 2 };

static int
str_strip(struct eval *ev, struct value self, const struct args *a,
    struct value *out)
{
	const struct text *t = self.u.text, *set = NULL;
	size_t from = 0, to = t->n, n, last;

	if (a->n > 0 && a->v[0].kind == EXPR_STR)
		set = a->v[0].u.text;
	else if (a->n > 0 && a->v[0].kind != EXPR_NONE)
		return expr_decline(ev, "arguments of strip()");
	for (; a->variant & LEFT && from < to; from += n)
		if (expr_bytes(ev, set == NULL ? 1 : set->n) == -1)
			return -1;
		else if (!is_among(expr_code_at(t, from, &n), set))
			break;
	for (; a->variant & RIGHT && from < to; to = last) {
		last = expr_code_before(t, to);
		if (expr_bytes(ev, set == NULL ? 1 : set->n) == -1)
			return -1;
		if (!is_among(expr_code_at(t, last, &n), set))
			break;
	}
	return expr_sub(ev, t, from, to, out);
}

/* Composition. */

static int
str_join(struct eval *ev, struct value self, const struct args *a,
    struct value *out)
{
	struct sink s = { 0 };
	struct value v, *item;
	size_t i;

	if (a->v[0].kind > EXPR_GEN)
		return expr_decline(ev, "arguments of join()");
	if (a->v[0].kind < EXPR_STR)
		return expr_raise(ev, "can only join an iterable");
	if (expr_as_list(ev, a->v[0], &v) == -1)
		return -1;
	for (i = 0; i < v.u.seq->n; i++) {
		item = &v.u.seq->v[i];
		if (item->kind > EXPR_SET)
			return expr_decline(ev, "join() of this type");
		if (item->kind != EXPR_STR)
			return expr_raise(ev, "sequence item %zu: expected str "
			    "instance, %s found", i, expr_type(*item));
		if ((i > 0 && expr_put_str(ev, &s, self) == -1) ||
		    expr_put_str(ev, &s, *item) == -1)
			return -1;
	}
	return expr_take(ev, &s, out);
}

static int
str_replace(struct eval *ev, struct value self, const struct args *a,
    struct value *out)
{
	struct str hay = expr_bytes_of(self);
	int64_t max = -1;
	struct sink s = { 0 };
	struct finder f;
	size_t i = 0, at;
	int rc = 0;

	if (a->v[0].kind != EXPR_STR || a->v[0].u.text->n == 0 ||
	    a->v[1].kind != EXPR_STR || (a->n > 2 && !EXPR_ISINT(a->v[2])))
		return expr_decline(ev, "arguments of replace()");
	if (a->n > 2 && a->v[2].u.i >= 0)
		max = a->v[2].u.i;
	expr_find_init(&f, expr_bytes_of(a->v[0]));
	for (; max != 0; max--) {
		rc = expr_find(ev, &f, hay, i, &at);
		if (rc != 1)
			break;
		if (expr_steps(ev, 1) == -1 ||
		    expr_put(ev, &s, (struct str){ hay.p + i, at - i }) == -1 ||
		    expr_put_str(ev, &s, a->v[1]) == -1)
			return -1;
		i = at + f.needle.n;
	}
	if (rc == -1 || expr_put(ev, &s, (struct str){ hay.p + i,
	    hay.n - i }) == -1)
		return -1;
	return expr_take(ev, &s, out);
}

/* Case and classes. */

static int
str_case(struct eval *ev, struct value self, const struct args *a,
    struct value *out)
{
	(void)a;
	return expr_case(ev, self.u.text, (enum expr_case)a->variant, out);
}

static int
str_test(struct eval *ev, struct value self, const struct args *a,
    struct value *out)
{
	(void)a;
	return expr_test(ev, self.u.text, (enum expr_test)a->variant, out);
}

const struct method expr_str_methods[] = {
	{ "lower",      EXPR_STR, str_case,       EXPR_LOWER,      0, 0 },
	{ "upper",      EXPR_STR, str_case,       EXPR_UPPER,      0, 0 },
	{ "casefold",   EXPR_STR, str_case,       EXPR_FOLD,       0, 0 },
	{ "title",      EXPR_STR, str_case,       EXPR_TITLE,      0, 0 },
	{ "capitalize", EXPR_STR, str_case,       EXPR_CAPITALIZE, 0, 0 },
	{ "find",       EXPR_STR, str_find,       FIND,            1, 1 },
	{ "index",      EXPR_STR, str_find,       INDEX,           1, 1 },
	{ "count",      EXPR_STR, str_count,      0,               1, 1 },
	{ "startswith", EXPR_STR, str_affix,      PREFIX,          1, 1 },
	{ "endswith",   EXPR_STR, str_affix,      SUFFIX,          1, 1 },
	{ "split",      EXPR_STR, str_split,      0,               0, 2 },
	{ "splitlines", EXPR_STR, str_splitlines, 0,               0, 0 },
	{ "strip",      EXPR_STR, str_strip,      LEFT | RIGHT,    0, 1 },
	{ "lstrip",     EXPR_STR, str_strip,      LEFT,            0, 1 },
	{ "rstrip",     EXPR_STR, str_strip,      RIGHT,           0, 1 },
	{ "join",       EXPR_STR, str_join,       0,               1, 1 },
	{ "replace",    EXPR_STR, str_replace,    0,               2, 3 },
	{ "isalnum",    EXPR_STR, str_test,       EXPR_ALNUM,      0, 0 },
	{ "isalpha",    EXPR_STR, str_test,       EXPR_ALPHA,      0, 0 },
	{ "isdigit",    EXPR_STR, str_test,       EXPR_DIGIT,      0, 0 },
	{ "islower",    EXPR_STR, str_test,       EXPR_IS_LOWER,   0, 0 },
	{ "isupper",    EXPR_STR, str_test,       EXPR_IS_UPPER,   0, 0 },
	{ "isspace",    EXPR_STR, str_test,       EXPR_SPACE,      0, 0 },
	{ NULL,         EXPR_STR, NULL,           0,               0, 0 },
};
