/* SPDX-License-Identifier: ISC */
/*
 * Methods of str that take a text apart or put texts together.
 */
#include "lib/py/expr_internal.h"

#include <string.h>

struct parts {
	struct eval *ev;
	const struct text *of;
	struct value *v;
	size_t n, cap;
};

static int
part(struct parts *p, size_t from, size_t to)
{
	p->v = expr_grow(p->ev, p->v, p->n, &p->cap, sizeof(*p->v));
	if (p->v == NULL || expr_steps(p->ev, 1) == -1)
		return -1;
	return expr_sub(p->ev, p->of, from, to, &p->v[p->n++]);
}

static int
finish(struct parts *p, bool reverse, struct value *out)
{
	struct value v;
	size_t i;

	for (i = 0; reverse && i < p->n / 2; i++) {
		v = p->v[i];
		p->v[i] = p->v[p->n - 1 - i];
		p->v[p->n - 1 - i] = v;
	}
	return expr_seq(p->ev, EXPR_LIST, p->v, p->n, out);
}

/* The code point at i, or before it; how many bytes it has. */
static size_t
code_at(const struct text *t, size_t i, uint32_t *c)
{
	size_t n = utf8_get(t->p + i, t->p + t->n, c);

	if (n == 0) {
		*c = 0xFFFD;
		n = 1;
	}
	return n;
}

static size_t
code_before(const struct text *t, size_t i, uint32_t *c)
{
	size_t from = i;

	do
		from--;
	while (from > 0 && ((unsigned char)t->p[from] & 0xC0) == 0x80);
	code_at(t, from, c);
	return i - from;
}

/* Behind the blanks (or others) from i on, but not past `to`. */
static size_t
skip(const struct text *t, size_t i, size_t to, bool blanks)
{
	uint32_t c;
	size_t n;

	while (i < to) {
		n = code_at(t, i, &c);
		if (expr_is_space(c) != blanks)
			break;
		i += n;
	}
	return i;
}

static size_t
skip_back(const struct text *t, size_t i, bool blanks)
{
	uint32_t c;
	size_t n;

	while (i > 0) {
		n = code_before(t, i, &c);
		if (expr_is_space(c) != blanks)
			break;
		i -= n;
	}
	return i;
}

static int
split_blanks(struct parts *p, int64_t max)
{
	const struct text *t = p->of;
	size_t i = skip(t, 0, t->n, true), end;

	while (i < t->n) {
		if (max-- == 0)
			return part(p, i, t->n);
		end = skip(t, i, t->n, false);
		if (part(p, i, end) == -1)
			return -1;
		i = skip(t, end, t->n, true);
	}
	return 0;
}

static int
rsplit_blanks(struct parts *p, int64_t max)
{
	const struct text *t = p->of;
	size_t i = skip_back(t, t->n, true), from;

	while (i > 0) {
		if (max-- == 0)
			return part(p, 0, i);
		from = skip_back(t, i, false);
		if (part(p, from, i) == -1)
			return -1;
		i = skip_back(t, from, true);
	}
	return 0;
}

static int
split_text(struct parts *p, struct str sep, int64_t max, bool back)
{
	struct str s = { p->of->p, p->of->n };
	struct finder f;
	size_t i = back ? s.n : 0, at;
	int rc = 0;

	expr_find_init(&f, sep);
	while (max-- != 0 && (rc = back ?
	    expr_find_back(p->ev, &f, s, i, &at) :
	    expr_find(p->ev, &f, s, i, &at)) == 1) {
		if ((back ? part(p, at + sep.n, i) : part(p, i, at)) == -1)
			return -1;
		i = back ? at : at + sep.n;
	}
	if (rc == -1)
		return -1;
	return back ? part(p, 0, i) : part(p, i, s.n);
}

/* An argument by its place or name; NULL when it is not given. */
static const struct value *
argument(const struct args *a, size_t i, const char *name)
{
	size_t k;

	if (i < a->n)
		return &a->v[i];
	for (k = 0; k < a->nnamed; k++)
		if (str_is(a->names[k], name))
			return &a->v[a->n + k];
	return NULL;
}

/* Whether every name that was given is one of these, and given once. */
static bool
known(const struct args *a, const char *one, const char *two)
{
	size_t k;

	for (k = 0; k < a->nnamed; k++)
		if (str_is(a->names[k], one) ? a->n > 0 :
		    !str_is(a->names[k], two) || a->n > 1)
			return false;
	return true;
}

static int
split(struct eval *ev, struct value self, const struct args *a, bool back,
    struct value *out)
{
	struct parts p = { .ev = ev, .of = self.u.text };
	const struct value *sep = argument(a, 0, "sep");
	const struct value *max = argument(a, 1, "maxsplit");
	int64_t n = -1;
	int rc;

	if (!known(a, "sep", "maxsplit") ||
	    (sep != NULL && sep->kind != EXPR_STR &&
	    sep->kind != EXPR_NONE) || (max != NULL && !EXPR_ISINT(*max)))
		return expr_decline(ev, "such arguments of split()");
	if (max != NULL && max->u.i >= 0)
		n = max->u.i;
	expr_len(self.u.text);
	if (sep == NULL || sep->kind == EXPR_NONE)
		rc = expr_bytes(ev, 8 * self.u.text->n) == -1 ? -1 :
		    back ? rsplit_blanks(&p, n) : split_blanks(&p, n);
	else if (sep->u.text->n == 0)
		return expr_raise(ev, "empty separator");
	else
		rc = split_text(&p, (struct str){ sep->u.text->p,
		    sep->u.text->n }, n, back);
	return rc == -1 ? -1 : finish(&p, back, out);
}

static int
str_split(struct eval *ev, struct value self, const struct args *a,
    struct value *out)
{
	return split(ev, self, a, false, out);
}

static int
str_rsplit(struct eval *ev, struct value self, const struct args *a,
    struct value *out)
{
	return split(ev, self, a, true, out);
}

static bool
is_break(uint32_t c)
{
	return (c >= '\n' && c <= '\r') || (c >= 0x1C && c <= 0x1E) ||
	    c == 0x85 || c == 0x2028 || c == 0x2029;
}

static int
str_splitlines(struct eval *ev, struct value self, const struct args *a,
    struct value *out)
{
	struct parts p = { .ev = ev, .of = self.u.text };
	const struct value *keep = argument(a, 0, "keepends");
	const struct text *t = self.u.text;
	size_t i = 0, from = 0, n, end;
	uint32_t c;

	if (!known(a, "keepends", "keepends") ||
	    (keep != NULL && !EXPR_ISINT(*keep)))
		return expr_decline(ev, "such arguments of splitlines()");
	expr_len(self.u.text);
	if (expr_bytes(ev, 8 * t->n) == -1)
		return -1;
	while (i < t->n) {
		n = code_at(t, i, &c);
		if (!is_break(c)) {
			i += n;
			continue;
		}
		end = i;
		i += n;
		if (c == '\r' && i < t->n && t->p[i] == '\n')
			i++;
		if (part(&p, from, keep != NULL && keep->u.i != 0 ? i : end) ==
		    -1)
			return -1;
		from = i;
	}
	if (from < t->n && part(&p, from, t->n) == -1)
		return -1;
	return finish(&p, false, out);
}

static int
partition(struct eval *ev, struct value self, const struct args *a,
    bool back, struct value *out)
{
	struct parts p = { .ev = ev, .of = self.u.text };
	struct str s = { self.u.text->p, self.u.text->n }, sep;
	struct finder f;
	size_t at;
	int rc;

	if (a->nnamed > 0 || a->v[0].kind != EXPR_STR)
		return expr_decline(ev, "such arguments of partition()");
	sep = (struct str){ a->v[0].u.text->p, a->v[0].u.text->n };
	if (sep.n == 0)
		return expr_raise(ev, "empty separator");
	expr_find_init(&f, sep);
	rc = back ? expr_find_back(ev, &f, s, s.n, &at) :
	    expr_find(ev, &f, s, 0, &at);
	if (rc == -1)
		return -1;
	if (rc == 0) {
		at = back ? 0 : s.n;
		sep.n = 0;
	}
	if (rc == 0 && back ?
	    part(&p, 0, 0) == -1 || part(&p, 0, 0) == -1 ||
	    part(&p, 0, s.n) == -1 :
	    part(&p, 0, at) == -1 || part(&p, at, at + sep.n) == -1 ||
	    part(&p, at + sep.n, s.n) == -1)
		return -1;
	return expr_seq(ev, EXPR_TUPLE, p.v, p.n, out);
}

static int
str_partition(struct eval *ev, struct value self, const struct args *a,
    struct value *out)
{
	return partition(ev, self, a, false, out);
}

static int
str_rpartition(struct eval *ev, struct value self, const struct args *a,
    struct value *out)
{
	return partition(ev, self, a, true, out);
}

/* Blanks, or the characters of a text, taken off an end or both. */

static bool
is_among(uint32_t c, const struct text *set)
{
	uint32_t d;
	size_t i, n;

	if (set == NULL)
		return expr_is_space(c);
	for (i = 0; i < set->n; i += n) {
		n = code_at(set, i, &d);
		if (c == d)
			return true;
	}
	return false;
}

static int
strip(struct eval *ev, struct value self, const struct args *a, int sides,
    struct value *out)
{
	const struct text *t = self.u.text, *set = NULL;
	size_t from = 0, to = t->n, n, cost;
	uint32_t c;

	if (a->nnamed > 0 || (a->n > 0 && a->v[0].kind != EXPR_STR &&
	    a->v[0].kind != EXPR_NONE))
		return expr_decline(ev, "such arguments of strip()");
	if (a->n > 0 && a->v[0].kind == EXPR_STR)
		set = a->v[0].u.text;
	cost = set == NULL ? 1 : set->n;
	for (; sides & 1 && from < to; from += n) {
		n = code_at(t, from, &c);
		if (expr_bytes(ev, cost) == -1)
			return -1;
		if (!is_among(c, set))
			break;
	}
	for (; sides & 2 && from < to; to -= n) {
		n = code_before(t, to, &c);
		if (expr_bytes(ev, cost) == -1)
			return -1;
		if (!is_among(c, set))
			break;
	}
	return expr_sub(ev, t, from, to, out);
}

static int
str_strip(struct eval *ev, struct value self, const struct args *a,
    struct value *out)
{
	return strip(ev, self, a, 3, out);
}

static int
str_lstrip(struct eval *ev, struct value self, const struct args *a,
    struct value *out)
{
	return strip(ev, self, a, 1, out);
}

static int
str_rstrip(struct eval *ev, struct value self, const struct args *a,
    struct value *out)
{
	return strip(ev, self, a, 2, out);
}

/* Putting together. */

static int
str_join(struct eval *ev, struct value self, const struct args *a,
    struct value *out)
{
	struct sink s = { 0 };
	struct value v, *item;
	size_t i;

	if (a->nnamed > 0 || a->v[0].kind > EXPR_GEN)
		return expr_decline(ev, "such arguments of join()");
	if (a->v[0].kind < EXPR_STR)
		return expr_raise(ev, "can only join an iterable");
	if (expr_as_list(ev, a->v[0], &v) == -1)
		return -1;
	for (i = 0; i < v.u.seq->n; i++) {
		item = &v.u.seq->v[i];
		if (item->kind > EXPR_SET)
			return expr_decline(ev, "joining this");
		if (item->kind != EXPR_STR)
			return expr_raise(ev, "sequence item %zu: expected str "
			    "instance, %s found", i, expr_type(*item));
		if ((i > 0 && expr_put_str(ev, &s, self) == -1) ||
		    expr_put_str(ev, &s, *item) == -1)
			return -1;
	}
	return expr_take(ev, &s, out);
}

/* replace() of the empty text: before each character and at the end. */
static int
replace_nothing(struct eval *ev, const struct text *t, struct value with,
    int64_t max, struct sink *s)
{
	size_t i = 0, n;
	uint32_t c;

	for (; max != 0; max--) {
		if (expr_put_str(ev, s, with) == -1 || expr_steps(ev, 1) == -1)
			return -1;
		if (i == t->n)
			break;
		n = code_at(t, i, &c);
		if (expr_put(ev, s, (struct str){ t->p + i, n }) == -1)
			return -1;
		i += n;
	}
	return expr_put(ev, s, (struct str){ t->p + i, t->n - i });
}

static int
str_replace(struct eval *ev, struct value self, const struct args *a,
    struct value *out)
{
	const struct text *t = self.u.text;
	struct str hay = { t->p, t->n }, old;
	int64_t max = -1;
	struct sink s = { 0 };
	struct finder f;
	size_t i = 0, at;
	int rc = 0;

	if (a->nnamed > 0 || a->v[0].kind != EXPR_STR ||
	    a->v[1].kind != EXPR_STR || (a->n > 2 && !EXPR_ISINT(a->v[2])))
		return expr_decline(ev, "such arguments of replace()");
	if (a->n > 2 && a->v[2].u.i >= 0)
		max = a->v[2].u.i;
	old = (struct str){ a->v[0].u.text->p, a->v[0].u.text->n };
	if (old.n == 0)
		return replace_nothing(ev, t, a->v[1], max, &s) == -1 ? -1 :
		    expr_take(ev, &s, out);
	expr_find_init(&f, old);
	for (; max != 0; max--) {
		rc = expr_find(ev, &f, hay, i, &at);
		if (rc != 1)
			break;
		if (expr_steps(ev, 1) == -1 ||
		    expr_put(ev, &s, (struct str){ hay.p + i, at - i }) == -1 ||
		    expr_put_str(ev, &s, a->v[1]) == -1)
			return -1;
		i = at + old.n;
	}
	if (rc == -1 || expr_put(ev, &s, (struct str){ hay.p + i,
	    hay.n - i }) == -1)
		return -1;
	return expr_take(ev, &s, out);
}

const struct method expr_split_methods[] = {
	{ "split",      EXPR_STR, str_split,      0, 2 },
	{ "rsplit",     EXPR_STR, str_rsplit,     0, 2 },
	{ "splitlines", EXPR_STR, str_splitlines, 0, 1 },
	{ "partition",  EXPR_STR, str_partition,  1, 1 },
	{ "rpartition", EXPR_STR, str_rpartition, 1, 1 },
	{ "strip",      EXPR_STR, str_strip,      0, 1 },
	{ "lstrip",     EXPR_STR, str_lstrip,     0, 1 },
	{ "rstrip",     EXPR_STR, str_rstrip,     0, 1 },
	{ "join",       EXPR_STR, str_join,       1, 1 },
	{ "replace",    EXPR_STR, str_replace,    2, 3 },
	{ "format",     EXPR_STR, expr_str_format, 0, EXPR_ARGS_MAX },
	{ NULL,         EXPR_STR, NULL,           0, 0 },
};
