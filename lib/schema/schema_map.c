/* SPDX-License-Identifier: ISC */
/*
 * Hash tables from strings to pointers, at most half full.  Keys crafted to
 * collide would make them slow, so callers that add keys check .longest, the
 * longest probe chain.
 */
#include "lib/schema/schema_internal.h"

#include <string.h>

static uint64_t
load(const char *p, size_t n)
{
	uint64_t x = 0;

	memcpy(&x, p, n);
	return x;
}

uint32_t
schema_hash(struct str s)
{
	const uint64_t odd = UINT64_C(0x9E3779B97F4A7C15);
	uint64_t h = s.n * odd;
	const char *p = s.p;
	size_t n = s.n;

	for (; n >= 8; p += 8, n -= 8) {
		h = (h ^ load(p, 8)) * odd;
		h ^= h >> 29;
	}
	if (n > 0)
		h = (h ^ load(p, n)) * odd;
	h ^= h >> 32;
	return (uint32_t)(h ^ h >> 15);
}

static struct schema_slot *
slot(const struct schema_map *m, struct str key, uint32_t hash)
{
	size_t i = hash & m->mask;
	struct schema_slot *s;

	for (; ; i = (i + 1) & m->mask) {
		s = &m->v[i];
		if (s->val == NULL || (s->hash == hash && s->key.n == key.n &&
		    (key.n == 0 || memcmp(s->key.p, key.p, key.n) == 0)))
			return s;
	}
}

void *
schema_map_get(const struct schema_map *m, struct str key)
{
	return m->n == 0 ? NULL : slot(m, key, schema_hash(key))->val;
}

static void
put(struct schema_map *m, struct schema_slot s)
{
	struct schema_slot *to = slot(m, s.key, s.hash);
	size_t way = ((size_t)(to - m->v) - s.hash) & m->mask;

	*to = s;
	if (way > m->longest)
		m->longest = way;
}

static void
grow(struct arena *a, struct schema_map *m)
{
	struct schema_map old = *m;
	size_t i, cap = old.v == NULL ? 8 : (old.mask + 1) * 2;

	m->v = NEW_N(a, struct schema_slot, cap);
	m->mask = cap - 1;
	m->longest = 0;
	for (i = 0; old.v != NULL && i <= old.mask; i++)
		if (old.v[i].val != NULL)
			put(m, old.v[i]);
}

void
schema_map_put(struct arena *a, struct schema_map *m, struct str key,
    void *val)
{
	struct schema_slot s = { key, val, schema_hash(key) };

	if (m->v == NULL || (m->n + 1) * 2 > m->mask + 1)
		grow(a, m);
	put(m, s);
	m->n++;
}
