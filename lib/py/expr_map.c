/* SPDX-License-Identifier: ISC */
/*
 * Dicts and sets: pairs in order of insertion, with a hash index if there are
 * more than a few.
 */
#include "lib/py/expr_internal.h"

#include <string.h>

#include "json.h"

enum { SMALL = 8 };

/*
 * Equal values have equal hashes, over all types.  Only texts are spread;
 * keys of other types are rare.
 */
static int
hash(struct eval *ev, struct value v, uint64_t *out)
{
	size_t i;

	*out = 0;
	if (v.kind == EXPR_STR) {
		for (i = 0; i < v.u.text->n; i++) {
			*out ^= (unsigned char)v.u.text->p[i];
			*out *= UINT64_C(0x9E3779B97F4A7C15);
			*out ^= *out >> 29;
		}
		return expr_bytes(ev, v.u.text->n);
	}
	if (v.kind == EXPR_FLOAT && v.u.d != v.u.d)
		return expr_decline(ev, "NaN as a key");
	if (v.kind == EXPR_TUPLE) {
		for (i = 0; i < v.u.seq->n; i++)
			if (hash(ev, v.u.seq->v[i], out) == -1)
				return -1;
		*out = 0;
		return expr_steps(ev, v.u.seq->n);
	}
	if (v.kind <= EXPR_FLOAT)
		return 0;
	if (v.kind <= EXPR_SET)
		return expr_raise(ev, "unhashable type: '%s'", expr_type(v));
	return expr_decline(ev, "this type as a key");
}

int
expr_map_new(struct eval *ev, enum expr_kind kind, struct value *out)
{
	struct map *map = expr_alloc(ev, sizeof(*map));

	if (map == NULL)
		return -1;
	*map = (struct map){ 0 };
	*out = (struct value){ .kind = (uint8_t)kind, .u = { .map = map } };
	return 0;
}

/* The index of a key: 1 and its pair, 0 and its free slot, or -1. */
static int
place(struct eval *ev, const struct map *map, struct value key, uint64_t h,
    size_t *at)
{
	size_t i;
	int rc;

	if (map->index == NULL) {
		for (i = 0; i < map->n; i++) {
			rc = expr_steps(ev, 1) == -1 ? -1 :
			    expr_equal(ev, map->v[i].key, key);
			if (rc != 0) {
				*at = i;
				return rc;
			}
		}
		return 0;
	}
	for (i = (size_t)h & (map->nindex - 1); map->index[i] != 0;
	    i = (i + 1) & (map->nindex - 1)) {
		*at = map->index[i] - 1;
		rc = expr_steps(ev, 1) == -1 ? -1 :
		    expr_equal(ev, map->v[*at].key, key);
		if (rc != 0)
			return rc;
	}
	*at = i;
	return 0;
}

static int
reindex(struct eval *ev, struct map *map)
{
	size_t i, k;
	uint64_t h;

	map->nindex = map->nindex == 0 ? SMALL * 8 : map->nindex * 4;
	map->index = expr_alloc(ev, map->nindex * sizeof(*map->index));
	if (map->index == NULL)
		return -1;
	memset(map->index, 0, map->nindex * sizeof(*map->index));
	for (i = 0; i < map->n; i++) {
		if (hash(ev, map->v[i].key, &h) == -1)
			return -1;
		for (k = (size_t)h & (map->nindex - 1); map->index[k] != 0;
		    k = (k + 1) & (map->nindex - 1))
			if (expr_steps(ev, 1) == -1)
				return -1;
		map->index[k] = (uint32_t)i + 1;
	}
	return expr_steps(ev, map->n);
}

int
expr_map_put(struct eval *ev, struct map *map, struct value key,
    struct value val)
{
	size_t at = 0;
	uint64_t h;
	int rc;

	if (hash(ev, key, &h) == -1 ||
	    (map->n == SMALL && map->index == NULL &&
	    reindex(ev, map) == -1) ||
	    (map->index != NULL && map->n * 2 > map->nindex &&
	    reindex(ev, map) == -1))
		return -1;
	rc = place(ev, map, key, h, &at);
	if (rc == -1)
		return -1;
	if (rc == 1) {
		map->v[at].val = val;
		return 0;
	}
	map->v = expr_grow(ev, map->v, map->n, &map->cap, sizeof(*map->v));
	if (map->v == NULL)
		return -1;
	map->v[map->n++] = (struct pair){ key, val };
	if (map->index != NULL)
		map->index[at] = (uint32_t)map->n;
	return 0;
}

int
expr_map_get(struct eval *ev, struct map *map, struct value key,
    struct value *out)
{
	const struct json *json;
	size_t at = 0;
	uint64_t h;
	int rc;

	if (hash(ev, key, &h) == -1)
		return -1;
	if (map->src != NULL && key.kind == EXPR_STR) {
		json = json_get(map->src, expr_bytes_of(key));
		if (json == NULL)
			return 0;
		return expr_json(ev, json, out) == -1 ? -1 : 1;
	}
	if (expr_read_map(ev, map) == -1)
		return -1;
	rc = place(ev, map, key, h, &at);
	if (rc == 1)
		*out = map->v[at].val;
	return rc;
}

/* A predicate: all keys of a are in b. */
static int
is_subset(struct eval *ev, const struct map *a, struct map *b)
{
	struct value v;
	size_t i;
	int rc = 1;

	for (i = 0; i < a->n && rc == 1; i++)
		rc = expr_map_get(ev, b, a->v[i].key, &v);
	return rc;
}

int
expr_set_compare(struct eval *ev, enum expr_rel rel, struct map *a,
    struct map *b)
{
	if (rel == EXPR_EQ)
		return a->n != b->n ? 0 : is_subset(ev, a, b);
	if (rel == EXPR_LT || rel == EXPR_LE)
		return a->n > b->n || (rel == EXPR_LT && a->n == b->n) ? 0 :
		    is_subset(ev, a, b);
	return expr_set_compare(ev, rel == EXPR_GT ? EXPR_LT : EXPR_LE, b, a);
}
