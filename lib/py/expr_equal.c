/* SPDX-License-Identifier: ISC */
/*
 * Equality, order and membership.
 *
 * In containers, Python considers an object equal to itself even if it is NaN.
 * Values have no identity here, so that comparison is declined.
 */
#include "lib/py/expr_internal.h"

#include <string.h>

/* Compares exactly, without converting to the less precise type. */
static int
compare_mixed(int64_t i, double d)
{
	int64_t t;
	double rest;

	if (d >= 9223372036854775808.0)
		return -1;
	if (d < -9223372036854775808.0)
		return 1;
	t = (int64_t)d;
	if (i != t)
		return i < t ? -1 : 1;
	rest = d - (double)t;
	return rest > 0 ? -1 : rest < 0 ? 1 : 0;
}

static int
num_compare(struct value a, struct value b, bool *unordered)
{
	*unordered = (a.kind == EXPR_FLOAT && a.u.d != a.u.d) ||
	    (b.kind == EXPR_FLOAT && b.u.d != b.u.d);
	if (*unordered)
		return 1;
	if (a.kind == EXPR_FLOAT && b.kind == EXPR_FLOAT)
		return a.u.d < b.u.d ? -1 : a.u.d > b.u.d ? 1 : 0;
	if (a.kind == EXPR_FLOAT)
		return -compare_mixed(b.u.i, a.u.d);
	if (b.kind == EXPR_FLOAT)
		return compare_mixed(a.u.i, b.u.d);
	return a.u.i < b.u.i ? -1 : a.u.i > b.u.i ? 1 : 0;
}

int
expr_same(struct eval *ev, struct value a, struct value b)
{
	if (a.kind == EXPR_FLOAT && b.kind == EXPR_FLOAT &&
	    (a.u.d != a.u.d || b.u.d != b.u.d))
		return expr_decline(ev, "NaN in a container");
	return expr_equal(ev, a, b);
}

static int
equal_seqs(struct eval *ev, struct seq *a, struct seq *b)
{
	size_t i;
	int rc = a->n == b->n;

	if (rc == 0)
		return 0;
	if (expr_read_seq(ev, a) == -1 || expr_read_seq(ev, b) == -1)
		return -1;
	for (i = 0; i < a->n && rc == 1; i++)
		rc = expr_steps(ev, 1) == -1 ? -1 :
		    expr_same(ev, a->v[i], b->v[i]);
	return rc;
}

static int
equal_dicts(struct eval *ev, struct map *a, struct map *b)
{
	struct value v;
	size_t i;
	int rc = 1;

	if (expr_read_map(ev, a) == -1 || expr_read_map(ev, b) == -1)
		return -1;
	if (a->n != b->n)
		return 0;
	for (i = 0; i < a->n && rc == 1; i++) {
		rc = expr_map_get(ev, b, a->v[i].key, &v);
		if (rc == 1)
			rc = expr_same(ev, a->v[i].val, v);
	}
	return rc;
}

/* Compares two values of the same kind that are not numbers. */
static int
equal_kind(struct eval *ev, struct value a, struct value b)
{
	if (a.kind == EXPR_NONE)
		return 1;
	if (a.kind == EXPR_STR) {
		if (a.u.text->n != b.u.text->n)
			return 0;
		if (expr_bytes(ev, a.u.text->n) == -1)
			return -1;
		return memcmp(a.u.text->p, b.u.text->p, a.u.text->n) == 0;
	}
	if (EXPR_ISSEQ(a))
		return equal_seqs(ev, a.u.seq, b.u.seq);
	if (a.kind == EXPR_DICT)
		return equal_dicts(ev, a.u.map, b.u.map);
	if (a.kind == EXPR_SET)
		return expr_set_compare(ev, EXPR_EQ, a.u.map, b.u.map);
	return expr_decline(ev, "equality of this type");
}

int
expr_equal(struct eval *ev, struct value a, struct value b)
{
	bool unordered;

	if (EXPR_ISNUM(a) && EXPR_ISNUM(b))
		return num_compare(a, b, &unordered) == 0;
	if (a.kind == EXPR_VIEW || b.kind == EXPR_VIEW ||
	    a.kind == EXPR_FLAGS || b.kind == EXPR_FLAGS)
		return expr_decline(ev, "equality of this type");
	return a.kind != b.kind ? 0 : equal_kind(ev, a, b);
}

static bool
decide(enum expr_rel rel, int order)
{
	return rel == EXPR_LT ? order < 0 : rel == EXPR_LE ? order <= 0 :
	    rel == EXPR_GT ? order > 0 : order >= 0;
}

int
expr_compare(struct eval *ev, enum expr_rel rel, struct value a,
    struct value b)
{
	static const char *const names[] = { "==", "!=", "<", "<=", ">", ">=" };
	bool unordered;
	int order;

	if (EXPR_ISNUM(a) && EXPR_ISNUM(b)) {
		order = num_compare(a, b, &unordered);
		return !unordered && decide(rel, order);
	}
	if (a.kind == EXPR_STR && b.kind == EXPR_STR) {
		if (expr_bytes(ev, a.u.text->n) == -1)
			return -1;
		return decide(rel, str_cmp(expr_bytes_of(a),
		    expr_bytes_of(b)));
	}
	if (a.kind == EXPR_SET && b.kind == EXPR_SET)
		return expr_set_compare(ev, rel, a.u.map, b.u.map);
	if (a.kind > EXPR_SET || b.kind > EXPR_SET ||
	    (a.kind == b.kind && EXPR_ISSEQ(a)))
		return expr_decline(ev, "order of this type");
	return expr_raise(ev, "'%s' not supported between instances of '%s' "
	    "and '%s'", names[rel], expr_type(a), expr_type(b));
}

static int
in_text(struct eval *ev, struct value what, const struct text *t)
{
	struct finder f;
	size_t at;

	if (what.kind > EXPR_SET)
		return expr_decline(ev, "this type in a text");
	if (what.kind != EXPR_STR)
		return expr_raise(ev, "'in <string>' requires string as left "
		    "operand, not %s", expr_type(what));
	expr_find_init(&f, expr_bytes_of(what));
	return expr_find(ev, &f, (struct str){ t->p, t->n }, 0, &at);
}

static int
in_iter(struct eval *ev, struct value what, struct value where)
{
	struct iter it;
	struct value v;
	int rc, eq;

	if (expr_iter(ev, where, &it) == -1)
		return -1;
	while ((rc = expr_next(ev, &it, &v)) == 1) {
		eq = expr_steps(ev, 1) == -1 ? -1 : expr_same(ev, v, what);
		if (eq != 0)
			return eq;
	}
	return rc;
}

int
expr_in(struct eval *ev, struct value what, struct value where)
{
	struct value v;

	if (where.kind == EXPR_STR)
		return in_text(ev, what, where.u.text);
	if (EXPR_ISSEQ(where) || where.kind == EXPR_GEN ||
	    (where.kind == EXPR_VIEW && where.sub == EXPR_VALUES))
		return in_iter(ev, what, where);
	if (where.kind == EXPR_SET && what.kind == EXPR_SET)
		return expr_decline(ev, "set in a set");
	if (where.kind == EXPR_DICT || where.kind == EXPR_SET ||
	    (where.kind == EXPR_VIEW && where.sub == EXPR_KEYS))
		return expr_map_get(ev, where.u.map, what, &v);
	if (where.kind > EXPR_SET)
		return expr_decline(ev, "membership in this type");
	return expr_raise(ev, "argument of type '%s' is not iterable",
	    expr_type(where));
}
