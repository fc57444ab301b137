/* SPDX-License-Identifier: ISC */
/*
 * Digests of a suite's parts, by the functions that make the keys of the cache
 * (run_key.c).
 */
#include "run/run_internal.h"

void
run_digest(struct arena *a, const struct spec_suite *s,
    const char *context_dir, const struct run_naming *naming,
    struct run_digest *out)
{
	struct run *run = NEW(a, struct run);
	struct run_key k = { .run = run, .ok = true, .naming = naming };
	struct arena_mark mark;
	size_t i;

	run->suite = s;
	run->opts.context_dir = context_dir;
	out->task = (char (*)[SHA256_HEX])arena_alloc(a,
	    mul_max(s->ntasks, SHA256_HEX), 1);
	(void)NEW(&k.arena, double);	/* a restored arena keeps its chunk */
	mark = arena_save(&k.arena);
	k.task = s->ntasks > 0 ? &s->tasks[0] : NULL;
	for (i = 0; i < RUN_PART_TASK && k.task != NULL; i++) {
		sha256_init(&k.hash);
		run_key_part(&k, (enum run_part)i);
		sha256_end(&k.hash, out->part[i]);
		arena_restore(&k.arena, mark);
	}
	k.part = RUN_PART_TASK;
	for (i = 0; i < s->ntasks; i++) {
		k.task = &s->tasks[i];
		sha256_init(&k.hash);
		run_key_whole_task(&k, k.task);
		sha256_end(&k.hash, out->task[i]);
		arena_restore(&k.arena, mark);
	}
	arena_free(&k.arena);
}
