/* SPDX-License-Identifier: ISC */
/*
 * Sequences: indices and slices, joining and repeating, and iteration over
 * whatever can be iterated over.
 */
#include "lib/py/expr_internal.h"

#include <string.h>

/* The text of the code point at index i, which is there. */
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
	if (of.kind == EXPR_MATCH || of.kind > EXPR_MATCH)
		return expr_decline(ev, "an index of this");
	if (!text && !EXPR_ISSEQ(of))
		return expr_raise(ev, "'%s' object is not subscriptable", type);
	if (!EXPR_ISINT(at))
		return text || at.kind > EXPR_SET ?
		    expr_decline(ev, "how Python says what an index is not") :
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

/* One bound of a slice: absent, or counted from the end, and in range. */
static int
bound(struct eval *ev, struct value v, int64_t absent, int64_t n, bool back,
    int64_t *out)
{
	int64_t i = absent, low = back ? -1 : 0, high = back ? n - 1 : n;

	if (EXPR_ISINT(v)) {
		i = v.u.i;
		if (i < 0)
			i = i < -n ? low : i + n;
		else if (i > high)
			i = high;
	} else if (v.kind != EXPR_NONE)
		return v.kind > EXPR_SET ? expr_decline(ev, "such a slice") :
		    expr_raise(ev, "slice indices must be integers or None or "
		    "have an __index__ method");
	*out = i;
	return 0;
}

static int
slice_text(struct eval *ev, struct text *t, int64_t from, int64_t step,
    size_t count, struct value *out)
{
	struct sink s = { 0 };
	size_t a, b;

	if (expr_bytes(ev, t->n) == -1)
		return -1;
	if (step == 1) {
		a = expr_offset(t, (size_t)from);
		b = expr_offset(t, (size_t)from + count);
		return expr_sub(ev, t, a, b, out);
	}
	if (!expr_ascii(t) && expr_bytes(ev, mul_max(count, t->n)) == -1)
		return -1;
	for (; count > 0; count--, from += step) {
		a = expr_offset(t, (size_t)from);
		b = expr_offset(t, (size_t)from + 1);
		if (expr_put(ev, &s, (struct str){ t->p + a, b - a }) == -1)
			return -1;
	}
	return expr_take(ev, &s, out);
}

static int
slice_seq(struct eval *ev, struct value of, int64_t from, int64_t step,
    size_t count, struct value *out)
{
	struct value *v = expr_alloc(ev, mul_max(count, sizeof(*v)));
	size_t i;

	if (v == NULL || expr_steps(ev, count) == -1 ||
	    expr_read_seq(ev, of.u.seq) == -1)
		return -1;
	for (i = 0; i < count; i++, from += step)
		v[i] = of.u.seq->v[from];
	return expr_seq(ev, (enum expr_kind)of.kind, v, count, out);
}

int
expr_slice(struct eval *ev, struct value of, const struct value v[3],
    struct value *out)
{
	int64_t n, from = 0, to = 0, step = 1;
	size_t count = 0;

	if (of.kind == EXPR_DICT || of.kind > EXPR_SET)
		return expr_decline(ev, "a slice of this");
	if (of.kind != EXPR_STR && !EXPR_ISSEQ(of))
		return expr_raise(ev, "'%s' object is not subscriptable",
		    expr_type(of));
	n = (int64_t)(of.kind == EXPR_STR ? expr_len(of.u.text) :
	    of.u.seq->n);
	if (EXPR_ISINT(v[2]))
		step = v[2].u.i;
	else if (bound(ev, v[2], 0, n, false, &from) == -1)
		return -1;
	if (step == 0)
		return expr_raise(ev, "slice step cannot be zero");
	/* beyond the length all steps are alike, and none overflows */
	step = step > n + 1 ? n + 1 : step < -n - 1 ? -n - 1 : step;
	if (bound(ev, v[0], step < 0 ? n - 1 : 0, n, step < 0, &from) == -1 ||
	    bound(ev, v[1], step < 0 ? -1 : n, n, step < 0, &to) == -1)
		return -1;
	if (step > 0 && from < to)
		count = (size_t)((to - from - 1) / step + 1);
	else if (step < 0 && from > to)
		count = (size_t)((from - to - 1) / -step + 1);
	return of.kind == EXPR_STR ?
	    slice_text(ev, of.u.text, from, step, count, out) :
	    slice_seq(ev, of, from, step, count, out);
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
	size_t n;
	char *p;

	if (a.kind != b.kind)
		return b.kind > EXPR_SET ? expr_decline(ev, "adding this") :
		    expr_raise(ev, "can only concatenate %s (not \"%s\") to %s",
		    expr_type(a), expr_type(b), expr_type(a));
	if (a.kind != EXPR_STR)
		return concat_seqs(ev, (enum expr_kind)a.kind, a.u.seq,
		    b.u.seq, out);
	n = a.u.text->n + b.u.text->n;
	p = expr_alloc(ev, n);
	if (p == NULL || expr_bytes(ev, n) == -1)
		return -1;
	memcpy(p, a.u.text->p, a.u.text->n);
	memcpy(p + a.u.text->n, b.u.text->p, b.u.text->n);
	return expr_str(ev, (struct str){ p, n }, out);
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
	switch ((enum expr_kind)of.kind) {
	case EXPR_LIST:
	case EXPR_TUPLE:
		return expr_read_seq(ev, of.u.seq);
	case EXPR_DICT:
	case EXPR_VIEW:
		return expr_read_map(ev, of.u.map);
	case EXPR_SET:
		return of.u.map->n > 1 ?
		    expr_decline(ev, "the order of a set") : 0;
	case EXPR_STR:
	case EXPR_GEN:
		return 0;
	case EXPR_NONE:
	case EXPR_BOOL:
	case EXPR_INT:
	case EXPR_FLOAT:
		return expr_raise(ev, "'%s' object is not iterable",
		    expr_type(of));
	case EXPR_MATCH:
	case EXPR_FLAGS:
	case EXPR_MODULE:
	case EXPR_BUILTIN:
	case EXPR_KIND__MAX:
		break;
	}
	return expr_decline(ev, "iteration over this");
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
