/* SPDX-License-Identifier: ISC */
/*
 * Division of work among shards, and a simulation: durations of agents vary by
 * orders of magnitude (log-normal with the spread that public leaderboards
 * show, a mixture of quick and slow tasks, and equal ones).  With arguments it
 * prints the table of waza-scale(7).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "run/shard.h"
#include "test/tool/tap.h"

enum { UNITS = 20000 };

static struct arena a;
static struct shard_unit units[UNITS];
static uint32_t owner[UNITS], other[UNITS];
static uint64_t state = 1;

static uint64_t
draw(uint64_t n)
{
	state = state * UINT64_C(6364136223846793005) +
	    UINT64_C(1442695040888963407);
	return (state >> 33) % n;
}

/* exp(x / 1000), for x from 0 to 8000: a thousand small steps. */
static double
exponential(int64_t x)
{
	double y = 1;

	for (; x > 0; x--)
		y *= 1.0010005001667084;
	return y;
}

/* Twelve uniform draws are nearly normal, with deviation 1000. */
static int64_t
normal(void)
{
	int64_t sum = -6000, i;

	for (i = 0; i < 12; i++)
		sum += (int64_t)draw(1001);
	return sum;
}

/* Median 60 s, sigma 0.9: one task in a hundred takes eight minutes. */
static int64_t
log_normal(void)
{
	int64_t x = normal() * 9 / 10;

	return x < 0 ? (int64_t)(60000 / exponential(-x)) :
	    (int64_t)(60000 * exponential(x));
}

/* Nine of ten answer in 20 s; the others work for 5 to 15 minutes. */
static int64_t
mixed(void)
{
	return draw(10) > 0 ? 10000 + (int64_t)draw(20000) :
	    300000 + (int64_t)draw(600000);
}

/* An agent that is cut off at its limit of ten minutes. */
static int64_t
capped(void)
{
	int64_t ms = 5 * log_normal();

	return ms > 600000 ? 600000 : ms;
}

static const struct {
	const char *name;
	int64_t (*ms)(void);
} kinds[] = {
	{ "log-normal", log_normal }, { "mixed", mixed }, { "capped", capped },
};

static void
fill(size_t kind, size_t n)
{
	size_t i;

	arena_free(&a);
	state = 1;
	for (i = 0; i < n; i++)
		units[i] = (struct shard_unit){
			.name = arena_fmt(&a, "task-%zu", i),
			.ms = kinds[kind].ms() };
}

static int64_t
span(enum shard_by by, size_t n, uint32_t shards)
{
	shard_divide(by, units, n, shards, 0, owner);
	return shard_makespan(units, n, shards, 0, owner);
}

/* In tenths of a percent of the best possible. */
static int64_t
excess(enum shard_by by, size_t n, uint32_t shards)
{
	int64_t best = shard_bound(units, n, shards, 0);

	return (span(by, n, shards) - best) * 1000 / best;
}

/* The same when the next run takes 30 % more or less for each task. */
static int64_t
excess_later(size_t kind, size_t n, uint32_t shards)
{
	int64_t best, most;
	size_t i;

	shard_divide(SHARD_TIME, units, n, shards, 0, owner);
	for (i = 0; i < n; i++)
		units[i].ms = units[i].ms * (700 + (int64_t)draw(601)) / 1000;
	best = shard_bound(units, n, shards, 0);
	most = shard_makespan(units, n, shards, 0, owner);
	fill(kind, n);
	return (most - best) * 1000 / best;
}

static void
print_table(void)
{
	static const uint32_t shards[] = { 10, 100, 1000 };
	size_t k, s, n = UNITS;

	for (k = 0; k < COUNTOF(kinds); k++) {
		fill(k, n);
		for (s = 0; s < COUNTOF(shards); s++)
			printf("%-10s %4u  best %6lld s  count +%.1f%%  "
			    "hash +%.1f%%  time +%.1f%%  later +%.1f%%\n",
			    kinds[k].name,
			    (unsigned)shards[s], (long long)shard_bound(units,
			    n, shards[s], 0) / 1000,
			    (double)excess(SHARD_COUNT, n, shards[s]) / 10,
			    (double)excess(SHARD_HASH, n, shards[s]) / 10,
			    (double)excess(SHARD_TIME, n, shards[s]) / 10,
			    (double)excess_later(k, n, shards[s]) / 10);
	}
}

static void
test_simulation(void)
{
	static const uint32_t shards[] = { 10, 100, 1000 };
	size_t k, s;

	for (k = 0; k < COUNTOF(kinds); k++) {
		fill(k, UNITS);
		for (s = 0; s < COUNTOF(shards); s++)
			OK(excess(SHARD_TIME, UNITS, shards[s]) <= 50);
	}
	/* few tasks for each shard: the second method */
	fill(0, 3000);
	OK(excess(SHARD_TIME, 3000, 500) <= 50);
}

static void
set_times(const int64_t *ms, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		units[i] = (struct shard_unit){ .ms = ms[i] * 1000 };
}

static void
test_fit(void)
{
	/* 5+4, 5+4, 3+3+3; longest first alone needs 11 */
	static const int64_t ms[] = { 5, 5, 4, 4, 3, 3, 3 };
	static const int64_t more[] = { 36, 30, 30, 12, 12 };

	set_times(ms, COUNTOF(ms));
	OK(span(SHARD_TIME, COUNTOF(ms), 3) == 9000);
	/* the first shard is busy for 60: it gets 30 */
	set_times(more, COUNTOF(more));
	shard_divide(SHARD_TIME, units, COUNTOF(more), 2, 60000, owner);
	OK(shard_makespan(units, COUNTOF(more), 2, 60000, owner) == 90000);
}

static void
test_stable(void)
{
	size_t i, moved = 0;
	uint32_t counts[8] = { 0 };

	fill(0, 2000);
	shard_divide(SHARD_HASH, units, 1000, 8, 0, owner);
	shard_divide(SHARD_HASH, units, 2000, 8, 0, other);
	for (i = 0; i < 1000; i++)
		moved += owner[i] != other[i];
	OK(moved == 0);
	for (i = 0; i < 1000; i++)
		units[i] = (struct shard_unit){ .name = STR("same"),
			.part = (uint32_t)i };
	shard_divide(SHARD_HASH, units, 1000, 8, 0, owner);
	for (i = 0; i < 1000; i++)
		counts[owner[i]]++;
	OK(counts[0] == 125 && counts[7] == 125);
	shard_divide(SHARD_COUNT, units, 10, 4, 0, owner);
	OK(owner[0] == 0 && owner[3] == 3 && owner[4] == 0 && owner[9] == 1);
	for (i = 0; i < 10; i++)
		units[i].ms = 0;
	shard_divide(SHARD_TIME, units, 10, 5, 0, owner);
	memset(counts, 0, sizeof(counts));
	for (i = 0; i < 10; i++)
		counts[owner[i]]++;
	OK(counts[0] == 2 && counts[4] == 2);
}

int
main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1)
		print_table();
	else {
		test_simulation();
		test_fit();
		test_stable();
	}
	arena_free(&a);
	return argc > 1 ? 0 : tap_done();
}
