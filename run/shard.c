/* SPDX-License-Identifier: ISC */
/*
 * shard.c: the division of work among shards.
 *
 * By time, the longest unit goes to the shard with the least work, and so on
 * (LPT).  With many units per shard that is close to the best.  With few, a
 * second method can be better: the smallest capacity, found by bisection, for
 * which each unit in the same order fits into the first shard with room
 * (MULTIFIT).  The better of both is taken.
 */
#include "run/shard.h"

#include <stdlib.h>
#include <string.h>

#include "lib/siphash.h"

enum { BISECTIONS = 16 };
#define FIT_MAX (UINT64_C(1) << 26)	/* units x shards of one first fit */
#define MS_MAX (INT64_C(1) << 40)	/* of a unit: their sum fits */

static int64_t
cost(const struct shard_unit *u)
{
	return u->ms < 1 ? 1 : u->ms > MS_MAX ? MS_MAX : u->ms;
}

static void
by_hash(const struct shard_unit *u, size_t n, uint32_t shards,
    uint32_t *owner)
{
	static const unsigned char key[SIPHASH_KEY] = { 'w', 'a', 'z', 'a' };
	size_t i;

	for (i = 0; i < n; i++)
		owner[i] = (uint32_t)((siphash_sum(key, u[i].name) +
		    u[i].part) % shards);
}

/* Units in descending order of their cost. */
struct item {
	int64_t ms;
	size_t i;
};

static int
by_cost(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->ms != y->ms)
		return x->ms > y->ms ? -1 : 1;
	return x->i < y->i ? -1 : x->i > y->i;
}

/* A heap of shards; the first has the least work, or the least number. */
struct load {
	int64_t ms;
	uint32_t shard;
};

static bool
is_less(const struct load *a, const struct load *b)
{
	return a->ms != b->ms ? a->ms < b->ms : a->shard < b->shard;
}

static void
sink(struct load *h, size_t n, size_t i)
{
	struct load x = h[i];
	size_t k;

	for (; (k = 2 * i + 1) < n; i = k) {
		k += k + 1 < n && is_less(&h[k + 1], &h[k]);
		if (!is_less(&h[k], &x))
			break;
		h[i] = h[k];
	}
	h[i] = x;
}

/* Returns the makespan. */
static int64_t
longest_first(struct arena *a, const struct item *v, size_t n,
    struct load first, uint32_t shards, uint32_t *owner)
{
	struct load *h = NEW_N(a, struct load, shards);
	int64_t most = first.ms;
	size_t i;

	for (i = 0; i < shards; i++)
		h[i].shard = (uint32_t)i;
	h[0].ms = first.ms;
	sink(h, shards, 0);
	for (i = 0; i < n; i++) {
		owner[v[i].i] = h[0].shard;
		h[0].ms += v[i].ms;
		most = h[0].ms > most ? h[0].ms : most;
		sink(h, shards, 0);
	}
	return most;
}

/* Whether all units fit into shards of that capacity. */
static bool
first_fit(int64_t *load, const struct item *v, size_t n, int64_t capacity,
    uint32_t shards, uint32_t *owner)
{
	size_t i;
	uint32_t k;

	for (i = 0; i < n; i++) {
		for (k = 0; k < shards && load[k] + v[i].ms > capacity; k++)
			;
		if (k == shards)
			return false;
		load[k] += v[i].ms;
		owner[v[i].i] = k;
	}
	return true;
}

static void
fit(struct arena *a, const struct item *v, size_t n, int64_t head,
    uint32_t shards, int64_t lo, int64_t hi, uint32_t *owner)
{
	uint32_t *trial = NEW_N(a, uint32_t, n);
	int64_t *load = NEW_N(a, int64_t, shards), mid;
	int i;

	for (i = 0; i < BISECTIONS && lo < hi; i++) {
		mid = lo + (hi - lo) / 2;
		memset(load, 0, shards * sizeof(load[0]));
		load[0] = head;
		if (first_fit(load, v, n, mid, shards, trial)) {
			memcpy(owner, trial, n * sizeof(owner[0]));
			hi = mid;
		} else
			lo = mid + 1;
	}
}

static void
by_time(const struct shard_unit *u, size_t n, uint32_t shards, int64_t head,
    uint32_t *owner)
{
	struct arena a = { 0 };
	struct item *v = NEW_N(&a, struct item, n);
	int64_t most, best = shard_bound(u, n, shards, head);
	size_t i;

	for (i = 0; i < n; i++)
		v[i] = (struct item){ cost(&u[i]), i };
	if (n > 1)
		qsort(v, n, sizeof(v[0]), by_cost);
	most = longest_first(&a, v, n, (struct load){ .ms = head }, shards,
	    owner);
	if (most - best > best / 200 && (uint64_t)n * shards <= FIT_MAX)
		fit(&a, v, n, head, shards, best, most, owner);
	arena_free(&a);
}

void
shard_divide(enum shard_by by, const struct shard_unit *u, size_t n,
    uint32_t shards, int64_t head_ms, uint32_t *owner)
{
	size_t i;

	if (by == SHARD_HASH)
		by_hash(u, n, shards, owner);
	else if (by == SHARD_TIME)
		by_time(u, n, shards, head_ms < 0 ? 0 : head_ms, owner);
	else
		for (i = 0; i < n; i++)
			owner[i] = (uint32_t)(i % shards);
}

int64_t
shard_makespan(const struct shard_unit *u, size_t n, uint32_t shards,
    int64_t head_ms, const uint32_t *owner)
{
	struct arena a = { 0 };
	int64_t *load = NEW_N(&a, int64_t, shards), most = 0;
	size_t i;

	load[0] = head_ms;
	for (i = 0; i < n; i++)
		load[owner[i]] += cost(&u[i]);
	for (i = 0; i < shards; i++)
		most = load[i] > most ? load[i] : most;
	arena_free(&a);
	return most;
}

int64_t
shard_bound(const struct shard_unit *u, size_t n, uint32_t shards,
    int64_t head_ms)
{
	int64_t sum = head_ms, most = head_ms, ms;
	size_t i;

	for (i = 0; i < n; i++) {
		ms = cost(&u[i]);
		sum = add_near(sum, ms);
		most = ms > most ? ms : most;
	}
	ms = sum / shards + (sum % shards > 0);
	return ms > most ? ms : most;
}
