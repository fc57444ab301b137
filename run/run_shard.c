/* SPDX-License-Identifier: ISC */
/*
 * run_shard.c: the tasks that the options select, and those of them, or of
 * their trials, that belong to this shard.  shard.c divides them.
 */
#include "run/run_internal.h"

#include "json.h"
#include "run/shard.h"
#include "results/cache.h"
#include "results/outcome.h"

/* The selected tasks of all shards, and the owner of each unit. */
struct division {
	const struct spec_task **tasks;
	size_t ntasks, parts;		/* parts: units of a task */
	uint32_t *owner;		/* ntasks x parts; NULL: not divided */
};

static size_t
count_trials(const struct spec_suite *s, const struct run_opts *o)
{
	return (size_t)(o->trials > 0 ? o->trials :
	    s->config.trials_per_task);
}

/* The mean of the known durations is expected of other tasks. */
static void
expect_times(const struct division *d, const struct outcome *old,
    size_t trials, struct shard_unit *u)
{
	const struct outcome_task *t;
	int64_t sum = 0, n = 0, ms;
	size_t i, k;

	for (i = 0; i < d->ntasks; i++) {
		t = outcome_find(old, d->tasks[i]->id);
		u[i * d->parts].ms = t != NULL && t->duration_ms > 0 ?
		    t->duration_ms : -1;
		if (t != NULL && t->duration_ms > 0) {
			sum = add_near(sum, t->duration_ms);
			n++;
		}
	}
	for (i = 0; i < d->ntasks; i++) {
		ms = u[i * d->parts].ms;
		if (ms == -1)
			ms = n > 0 ? sum / n : 1;
		if (d->parts == 1 && trials > 1)
			ms = ms > INT64_MAX / (int64_t)trials ? INT64_MAX :
			    ms * (int64_t)trials;
		for (k = 0; k < d->parts; k++)
			u[i * d->parts + k].ms = ms;
	}
}

/* The trigger tests of the earlier run: the first shard does them. */
static int64_t
trigger_time(const struct outcome *old, size_t workers)
{
	const struct json *v = json_getc(old->root, "trigger_results");
	int64_t sum = 0, ms;

	for (v = json_first(v); v != NULL; v = v->next)
		if (json_int(json_getc(v, "duration_ms"), &ms) && ms > 0)
			sum = add_near(sum, ms);
	return sum / (int64_t)workers;
}

static void
divide(struct arena *a, const struct spec_suite *s, const struct run_opts *o,
    struct division *d)
{
	size_t i, k, n = mul_max(d->ntasks, d->parts);
	struct arena_mark mark;
	struct shard_unit *u;
	int64_t head = 0;

	d->owner = NEW_N(a, uint32_t, n);
	mark = arena_save(a);
	u = NEW_N(a, struct shard_unit, n);
	for (i = 0; i < d->ntasks; i++)
		for (k = 0; k < d->parts; k++)
			u[i * d->parts + k] = (struct shard_unit){
				.name = d->tasks[i]->id, .part = (uint32_t)k };
	if (o->shard_by == SHARD_TIME && o->shard_times != NULL) {
		expect_times(d, o->shard_times, count_trials(s, o), u);
		if (s->triggers != NULL && !o->no_triggers)
			head = trigger_time(o->shard_times,
			    run_count_workers(s, o));
	}
	shard_divide(o->shard_by, u, n, (uint32_t)o->shards, head, d->owner);
	arena_restore(a, mark);
}

static void
select_tasks(struct arena *a, const struct spec_suite *s,
    const struct run_opts *o, struct division *d)
{
	size_t i;

	d->parts = o->shards > 0 && o->shard_trials ? count_trials(s, o) : 1;
	d->tasks = NEW_N(a, const struct spec_task *, s->ntasks);
	for (i = 0; i < s->ntasks && (o->limit == 0 ||
	    d->ntasks < (size_t)o->limit); i++)
		if (run_selects(o, &s->tasks[i]))
			d->tasks[d->ntasks++] = &s->tasks[i];
	if (o->shards > 0)
		divide(a, s, o, d);
}

static bool
is_ours(const struct division *d, const struct run_opts *o, size_t task,
    size_t part)
{
	return d->owner == NULL || (int64_t)d->owner[task * d->parts +
	    part] == o->shard - 1;
}

/* How many parts of the task are ours. */
static size_t
count_parts(const struct division *d, const struct run_opts *o, size_t task)
{
	size_t k, n = 0;

	for (k = 0; k < d->parts; k++)
		n += is_ours(d, o, task, k);
	return n;
}

size_t
run_count_tasks(const struct spec_suite *s, const struct run_opts *o)
{
	struct arena a = { 0 };
	struct division d = { 0 };
	size_t i, n = 0;

	select_tasks(&a, s, o, &d);
	for (i = 0; i < d.ntasks; i++)
		n += count_parts(&d, o, i) > 0;
	arena_free(&a);
	return n;
}

size_t
run_list_tasks(struct arena *a, const struct spec_suite *s,
    const struct run_opts *o, struct run_planned **out)
{
	struct arena tmp = { 0 };
	struct division d = { 0 };
	size_t i, n = 0, k;

	select_tasks(&tmp, s, o, &d);
	*out = NEW_N(a, struct run_planned, d.ntasks);
	for (i = 0; i < d.ntasks; i++) {
		k = count_parts(&d, o, i);
		if (k > 0)
			(*out)[n++] = (struct run_planned){ d.tasks[i],
			    d.parts > 1 ? k : count_trials(s, o) };
	}
	arena_free(&tmp);
	return n;
}

/* All shards must have divided the same tasks in the same way. */
static void
set_plan(struct result_run *r, const struct division *d)
{
	struct sha256 h;
	size_t i;

	sha256_init(&h);
	cache_hash_int(&h, r->shard.n);
	cache_hash_int(&h, (int64_t)r->trials);
	cache_hash_int(&h, (int64_t)d->parts);
	for (i = 0; i < d->ntasks; i++)
		cache_hash_part(&h, d->tasks[i]->id);
	for (i = 0; i < d->ntasks * d->parts; i++)
		cache_hash_int(&h, d->owner[i]);
	sha256_end(&h, r->shard.plan);
}

static void
set_numbers(struct run *run, const struct division *d, size_t task,
    struct result_task *t)
{
	size_t k, n = 0, parts = count_parts(d, &run->opts, task);
	uint32_t *v = NEW_N(&run->arena, uint32_t, parts);

	for (k = 0; k < d->parts; k++)
		if (is_ours(d, &run->opts, task, k))
			v[n++] = (uint32_t)k + 1;
	result_own_more(&run->arena, t)->numbers = v;
	t->ntrials = (uint32_t)n;
}

size_t
run_shard_select(struct run *run)
{
	const struct run_opts *o = &run->opts;
	struct result_run *r = &run->results;
	struct arena a = { 0 };
	struct division d = { 0 };
	struct result_task *t;
	size_t i;

	select_tasks(&a, run->suite, o, &d);
	r->tasks = NEW_N(&run->arena, struct result_task, d.ntasks);
	for (i = 0; i < d.ntasks; i++) {
		if (count_parts(&d, o, i) == 0)
			continue;
		t = &r->tasks[r->ntasks++];
		/* a queued run is described before result_init() */
		*t = (struct result_task){ .spec = d.tasks[i],
			.stats = &result_no_stats, .more = &result_no_more };
		if (o->only != NULL)
			result_own_more(&run->arena, t)->selected =
			    str_of(run_why(o->only, t->spec->id));
		t->index = (uint32_t)i;
		if (o->shards > 0 && o->shard_trials)
			set_numbers(run, &d, i, t);
	}
	r->shard = (struct result_shard){ .k = o->shard, .n = o->shards,
		.tasks = d.ntasks, .has_baseline = o->has_baseline,
		.is_baseline = o->is_baseline };
	if (o->shards > 0)
		set_plan(r, &d);
	arena_free(&a);
	return d.ntasks;
}
