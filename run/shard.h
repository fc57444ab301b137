/* SPDX-License-Identifier: ISC */
/*
 * shard.h: shard_.  Divides units of work (tasks, or trials of tasks) among
 * the shards of a run.  Every shard computes the whole division by itself, so
 * it depends on nothing but its input: integers, and no order of equal units
 * but that of their position.
 */
#ifndef WAZA_SHARD_H
#define WAZA_SHARD_H

#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

enum shard_by {
	SHARD_COUNT,	/* every Nth unit: equal numbers */
	SHARD_HASH,	/* by a hash of the unit's name: other units do not
			 * change the shard of a unit */
	SHARD_TIME	/* longest first, by expected durations */
};

struct shard_unit {
	struct str name;	/* for SHARD_HASH */
	uint32_t part;		/* of the units with that name */
	int64_t ms;		/* expected duration, for SHARD_TIME */
};

/*
 * Sets owner[i], from 0 to shards - 1, for each of the n units.  head_ms is
 * the time of other work of the first shard, for SHARD_TIME.
 */
void shard_divide(enum shard_by, const struct shard_unit *, size_t n,
    uint32_t shards, int64_t head_ms, uint32_t *owner);

/* The time of the slowest shard: the largest sum of durations. */
int64_t shard_makespan(const struct shard_unit *, size_t n, uint32_t shards,
    int64_t head_ms, const uint32_t *owner);

/* No division can be faster: the mean, or the longest unit. */
int64_t shard_bound(const struct shard_unit *, size_t n, uint32_t shards,
    int64_t head_ms);

#endif
