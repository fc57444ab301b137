/* SPDX-License-Identifier: ISC */
/*
 * Sequences: indices, slices, concatenation and repetition; iteration over
 * all types that allow it.
 */
#include "lib/py/expr_internal.h"

#include <string.h>

/* The code point at an existing index, as a text. */
static int
char_at(struct eval *ev, struct text *t, size_t i, struct value *out)
{
	size_t at = expr_offset(t, i);

	if (!expr_ascii(t) && expr_bytes(ev, at) == -1)
		return -1;
	return expr_sub(ev, t, at, expr_offset(t, i + 1), out);
}

static int
index_map(struct eval *ev, struct map *map, struct value at,
    struct value *out)
{
	int rc = expr_map_get(ev, map, at, out);

	return rc == 1 ? 0 : rc == -1 ? -1 : expr_raise_repr(ev, "", at, "");
}

int
expr_index(struct eval *ev, struct value of, struct value at,
    struct value *out)
{
	bool text = of.kind == EXPR_STR;
	const char *type = text ? "string" : expr_type(of);
	int64_t i, n;

	if (of.kind == EXPR_DICT)
		return index_map(ev, of.u.map, at, out);
	if (of.kind >= EXPR_MATCH)
		return expr_decline(ev, "index of this type");
	if (!text && !EXPR_ISSEQ(of))
		return expr_raise(ev, "'%s' object is not subscriptable", type);
	if (!EXPR_ISINT(at))
		return text || at.kind > EXPR_SET ?
		    expr_decline(ev, "message about an index") :
		    expr_raise(ev, "%s indices must be integers or slices, "
		    "not %s", type, expr_type(at));
	n = (int64_t)(text ? expr_len(of.u.text) : of.u.seq->n);
	i = at.u.i < 0 && at.u.i >= -n ? at.u.i + n : at.u.i;
	if (i < 0 || i >= n)
		return expr_raise(ev, "%s index out of range", type);
	if (text)
		return char_at(ev, of.u.text, (size_t)i, out);
	if (expr_read_seq(ev, of.u.seq) == -1)
		return -1;
	*out = of.u.seq->v[i];
	return 0;
}

/* One bound of a slice, counted from the end if negative, and in range. */
static int
bound(struct eval *ev, struct value v, int64_t absent, int64_t n, int64_t *out)
{
	int64_t i = absent;

	if (EXPR_ISINT(v)) {
		i = v.u.i;
		if (i < 0)
			i = i < -n ? 0 : i + n;
		else if (i > n)
			i = n;
	} else if (v.kind != EXPR_NONE)
		return v.kind > EXPR_SET ?
		    expr_decline(ev, "slice with this type") :
		    expr_raise(ev, "slice indices must be integers or None or "
		    "have an __index__ method");
	*out = i;
	return 0;
}

int
expr_slice(struct eval *ev, struct value of, const struct value bounds[2],
    struct value *out)
{
	int64_t n, from = 0, to = 0;
	struct text *t;

	if (of.kind == EXPR_DICT || of.kind > EXPR_SET)
		return expr_decline(ev, "slice of this type");
	if (of.kind != EXPR_STR && !EXPR_ISSEQ(of))
		return expr_raise(ev, "'%s' object is not subscriptable",
		    expr_type(of));
	n = (int64_t)(of.kind == EXPR_STR ? expr_len(of.u.text) :
	    of.u.seq->n);
	if (bound(ev, bounds[0], 0, n, &from) == -1 ||
	    bound(ev, bounds[1], n, n, &to) == -1)
		return -1;
	to = to < from ? from : to;
	if (of.kind == EXPR_STR) {
		t = of.u.text;
		if (expr_bytes(ev, t->n) == -1)
			return -1;
		return expr_sub(ev, t, expr_offset(t, (size_t)from),
		    expr_offset(t, (size_t)to), out);
	}
	if (expr_read_seq(ev, of.u.seq) == -1)
		return -1;
	return expr_seq(ev, (enum expr_kind)of.kind,
	    from == to ? NULL : of.u.seq->v + from,
	    (size_t)(to - from), out);
}

static int
concat_seqs(struct eval *ev, enum expr_kind kind, struct seq *a,
    struct seq *b, struct value *out)
{
	struct value *v = expr_alloc(ev, (a->n + b->n) * sizeof(*v));

	if (v == NULL || expr_read_seq(ev, a) == -1 ||
	    expr_read_seq(ev, b) == -1 || expr_steps(ev, a->n + b->n) == -1)
		return -1;
	if (a->n > 0)
		memcpy(v, a->v, a->n * sizeof(*v));
	if (b->n > 0)
		memcpy(v + a->n, b->v, b->n * sizeof(*v));
	return expr_seq(ev, kind, v, a->n + b->n, out);
}

int
expr_concat(struct eval *ev, struct value a, struct value b,
    struct value *out)
{
	struct sink s = { 0 };

	if (a.kind != b.kind)
		return b.kind > EXPR_SET ?
		    expr_decline(ev, "concatenation with this type") :
		    expr_raise(ev, "can only concatenate %s (not \"%s\") to %s",
		    expr_type(a), expr_type(b), expr_type(a));
	if (a.kind != EXPR_STR)
		return concat_seqs(ev, (enum expr_kind)a.kind, a.u.seq,
		    b.u.seq, out);
	if (expr_put_str(ev, &s, a) == -1 || expr_put_str(ev, &s, b) == -1)
		return -1;
	return expr_take(ev, &s, out);
}

int
expr_repeat(struct eval *ev, struct value of, int64_t times,
    struct value *out)
{
	bool text = of.kind == EXPR_STR;
	size_t size = text ? of.u.text->n : mul_max(of.u.seq->n,
	    sizeof(struct value));
	size_t n = times <= 0 ? 0 : (uint64_t)times > SIZE_MAX ? SIZE_MAX :
	    (size_t)times, i;
	const void *from;
	char *p;

	n = size == 0 ? 0 : n;
	p = expr_alloc(ev, mul_max(n, size));
	if (p == NULL || expr_steps(ev, n) == -1 ||
	    expr_bytes(ev, n * size) == -1)
		return -1;
	if (!text && expr_read_seq(ev, of.u.seq) == -1)
		return -1;
	from = text ? (const void *)of.u.text->p : of.u.seq->v;
	for (i = 0; i < n; i++)
		memcpy(p + i * size, from, size);
	if (text)
		return expr_str(ev, (struct str){ p, n * size }, out);
	return expr_seq(ev, (enum expr_kind)of.kind, (void *)p,
	    n * of.u.seq->n, out);
}

/* Iteration. */

int
expr_iter(struct eval *ev, struct value of, struct iter *it)
{
	*it = (struct iter){ of, 0 };
	if (EXPR_ISSEQ(of))
		return expr_read_seq(ev, of.u.seq);
	if (of.kind == EXPR_DICT || of.kind == EXPR_VIEW)
		return expr_read_map(ev, of.u.map);
	if (of.kind == EXPR_STR || of.kind == EXPR_GEN ||
	    (of.kind == EXPR_SET && of.u.map->n <= 1))
		return 0;
	if (of.kind < EXPR_STR)
		return expr_raise(ev, "'%s' object is not iterable",
		    expr_type(of));
	return expr_decline(ev, "iteration over this type");
}

static int
next_pair(struct eval *ev, const struct pair *pair, struct value of,
    struct value *out)
{
	struct value *v;

	if (of.kind != EXPR_VIEW || of.sub == EXPR_KEYS)
		*out = pair->key;
	else if (of.sub == EXPR_VALUES)
		*out = pair->val;
	else {
		v = expr_alloc(ev, 2 * sizeof(*v));
		if (v == NULL)
			return -1;
		v[0] = pair->key;
		v[1] = pair->val;
		return expr_seq(ev, EXPR_TUPLE, v, 2, out) == -1 ? -1 : 1;
	}
	return 1;
}

static int
next_char(struct eval *ev, struct iter *it, struct value *out)
{
	const struct text *t = it->of.u.text;
	size_t from = it->at;

	do
		it->at++;
	while (it->at < t->n && ((unsigned char)t->p[it->at] & 0xC0) == 0x80);
	return expr_sub(ev, t, from, it->at, out) == -1 ? -1 : 1;
}

int
expr_next(struct eval *ev, struct iter *it, struct value *out)
{
	if (expr_steps(ev, 1) == -1)
		return -1;
	if (it->of.kind == EXPR_GEN)
		return expr_gen_next(ev, it->of.u.gen, out);
	if (it->of.kind == EXPR_STR)
		return it->at == it->of.u.text->n ? 0 : next_char(ev, it, out);
	if (EXPR_ISSEQ(it->of)) {
		if (it->at == it->of.u.seq->n)
			return 0;
		*out = it->of.u.seq->v[it->at++];
		return 1;
	}
	if (it->at == it->of.u.map->n)
		return 0;
	return next_pair(ev, &it->of.u.map->v[it->at++], it->of, out);
}

int
expr_as_list(struct eval *ev, struct value of, struct value *out)
{
	struct value *v = NULL, item;
	size_t n = 0, cap = 0;
	struct iter it;
	int rc;

	if (expr_iter(ev, of, &it) == -1)
		return -1;
	while ((rc = expr_next(ev, &it, &item)) == 1) {
		v = expr_grow(ev, v, n, &cap, sizeof(*v));
		if (v == NULL)
			return -1;
		v[n++] = item;
	}
	return rc == -1 ? -1 : expr_seq(ev, EXPR_LIST, v, n, out);
}
