/* SPDX-License-Identifier: ISC */
/*
 * Equality of values: numbers by their exact value, members in any order.
 * Long lists are compared by hash instead of each with each.
 */
#include "lib/schema/schema_internal.h"

#include <string.h>

enum { FEW = 8 };		/* up to so many are compared one by one */

static uint64_t
mix(uint64_t h, uint64_t x)
{
	h = (h ^ x) * UINT64_C(0x9E3779B97F4A7C15);
	return h ^ h >> 31;
}

static uint64_t
hash_number(struct str s)
{
	struct schema_num n;
	uint64_t h = 2;
	size_t i;

	schema_num_read(&n, s);
	if (n.sign == 0 || n.nan || n.inf)
		return mix(h, (uint64_t)n.inf);
	h = mix(h, (uint64_t)n.top);
	for (i = 0; i < n.digits.n; i++)
		if (n.digits.p[i] != '.')
			h = mix(h, (uint64_t)n.digits.p[i]);
	return h;
}

/* Recurses as deep as the tree, whose reader limits its depth. */
static uint64_t
hash(const struct json *v)
{
	const struct json *c;
	uint64_t h = v->type, sum = 0;

	switch ((enum json_type)v->type) {
	case JSON_NULL:
		break;
	case JSON_BOOL:
		h = mix(h, json_bool(v));
		break;
	case JSON_NUMBER:
		h = hash_number(json_text(v));
		break;
	case JSON_STRING:
		h = mix(h, schema_hash(json_text(v)));
		break;
	case JSON_ARRAY:
		for (c = json_first(v); c != NULL; c = c->next)
			h = mix(h, hash(c));
		break;
	case JSON_OBJECT:
		for (c = json_first(v); c != NULL; c = c->next)
			sum += mix(schema_hash(json_key(c)), hash(c));
		h = mix(h, sum);
		break;
	}
	return h;
}

/* The number of values in a tree: the cost of a walk over it. */
static size_t
weight(const struct json *v)
{
	const struct json *c;
	size_t n = 1;

	if (v->type == JSON_STRING || v->type == JSON_NUMBER)
		return 1 + v->n / 16;
	for (c = json_first(v); c != NULL; c = c->next)
		n += weight(c);
	return n;
}

static bool
same_number(struct str a, struct str b)
{
	struct schema_num x, y;

	if (a.n == b.n && memcmp(a.p, b.p, a.n) == 0)
		return true;
	schema_num_read(&x, a);
	schema_num_read(&y, b);
	return !x.nan && !y.nan && schema_num_cmp(&x, &y) == 0;
}

/* A hook of json_equal_with(): counts steps, compares numbers exactly. */
static int
same_hook(void *run, const struct json *a, const struct json *b)
{
	if (!schema_spend(run, 1 + a->n / 16))
		return 0;
	return a->type != JSON_NUMBER ? -1 :
	    same_number(json_text(a), json_text(b));
}

bool
schema_same(struct schema_run *r, const struct json *a, const struct json *b)
{
	return json_equal_with(a, b, same_hook, r);
}

static size_t
table_size(size_t n)
{
	size_t cap = 16;

	while (cap < n * 2)
		cap *= 2;
	return cap;
}

struct schema_choice *
schema_choice_new(struct arena *a, const struct json *list)
{
	struct err e;
	struct schema_run r = { .steps = SCHEMA_STEPS_MAX, .e = &e };
	struct schema_choice *c;
	const struct json *v;
	size_t i;

	if (json_count(list) <= FEW)
		return NULL;
	c = NEW(a, struct schema_choice);
	c->mask = table_size(json_count(list)) - 1;
	c->v = NEW_N(a, const struct json *, c->mask + 1);
	for (v = json_first(list); v != NULL && !r.stopped; v = v->next) {
		for (i = (size_t)hash(v) & c->mask; c->v[i] != NULL &&
		    schema_spend(&r, 1) && !schema_same(&r, c->v[i], v); )
			i = (i + 1) & c->mask;
		c->v[i] = v;
	}
	return r.stopped ? NULL : c;
}

bool
schema_chosen(struct schema_run *r, const struct schema_op *op,
    const struct json *value)
{
	const struct schema_choice *c = op->u.choice;
	const struct json *v;
	size_t i;

	if (c == NULL) {
		for (v = json_first(op->src); v != NULL; v = v->next)
			if (schema_same(r, value, v))
				return true;
		return false;
	}
	if (!schema_spend(r, weight(value)))
		return false;
	for (i = (size_t)hash(value) & c->mask; c->v[i] != NULL;
	    i = (i + 1) & c->mask) {
		if (schema_same(r, value, c->v[i]))
			return true;
		if (!schema_spend(r, 1))
			return false;
	}
	return false;
}

static bool
unique_few(struct schema_run *r, const struct json *list, size_t *a, size_t *b)
{
	const struct json *v, *w;

	*b = 0;
	for (v = json_first(list); v != NULL; v = v->next, ++*b) {
		*a = 0;
		for (w = json_first(list); w != v; w = w->next, ++*a)
			if (schema_same(r, v, w))
				return false;
	}
	return true;
}

struct entry {
	const struct json *v;
	uint64_t hash;
	size_t i;
};

bool
schema_unique(struct schema_run *r, const struct json *list, size_t *a,
    size_t *b)
{
	struct arena_mark mark = arena_save(r->tmp);
	size_t k, i = 0, n = json_count(list), mask = table_size(n) - 1;
	struct entry *table, *e;
	const struct json *v;
	uint64_t h;
	bool ok = true;

	if (n <= FEW)
		return unique_few(r, list, a, b);
	if (!schema_spend(r, weight(list)))
		return false;
	table = NEW_N(r->tmp, struct entry, mask + 1);
	for (v = json_first(list); v != NULL && ok; v = v->next, i++) {
		h = hash(v);
		for (k = (size_t)h & mask; table[k].v != NULL && ok;
		    k = (k + 1) & mask) {
			e = &table[k];
			if (e->hash == h && schema_same(r, e->v, v)) {
				*a = e->i;
				*b = i;
				ok = false;
			}
			ok = ok && schema_spend(r, 1);
		}
		table[k] = (struct entry){ v, h, i };
	}
	arena_restore(r->tmp, mark);
	return ok;
}
