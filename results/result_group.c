/* SPDX-License-Identifier: ISC */
/*
 * result_group.c: groups of tasks, by config.group_by.
 */
#include "results/result.h"

#include <stdlib.h>

#include "json.h"
#include "lib/stats.h"
#include "results/result_internal.h"
#include "suite/spec.h"

struct str
result_group(struct arena *a, const struct result_run *run,
    const struct spec_task *t)
{
	struct str by = run->suite->config.group_by;

	if (by.n == 0 || str_is(by, "group"))
		return t->def->group;
	if (str_is(by, "model"))
		return run->model;
	if (str_is(by, "tags") || str_is(by, "tag"))
		return t->def->tags.n > 0 ? t->def->tags.v[0] : STR("");
	if (str_is(by, "id"))
		return t->id;
	if (str_is(by, "name"))
		return t->name;
	return spec_cell(a, t, by);
}

/* Groups, in the order of their first task. */
struct group {
	struct str name;
	size_t first;		/* task */
	size_t passed, total;
	double score;		/* mean of its tasks */
};

static int
by_group(const void *a, const void *b)
{
	const struct group *x = a, *y = b;
	int c = str_cmp(x->name, y->name);

	return c != 0 ? c : x->first < y->first ? -1 : x->first > y->first;
}

static int
by_first(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	return x->first < y->first ? -1 : x->first > y->first;
}

/* One group per task, sorted by name, then merged; x is scratch. */
static size_t
gather(struct arena *a, const struct result_run *run, struct group *g,
    double *x)
{
	const struct result_task *t;
	struct group one;
	struct str name;
	size_t i, n = 0, groups = 0;

	for (i = 0; i < run->ntasks; i++) {
		t = result_at(run, i, true);
		name = result_group(a, run, t->spec);
		one = (struct group){ run->source != NULL ? arena_str(a,
		    name) : name, i,
		    t->status == RESULT_PASSED, 1, t->stats->avg };
		if (t->status >= RESULT_PASSED && one.name.n > 0 &&
		    !t->spec->def->quarantined)
			g[n++] = one;
	}
	if (n > 0)
		qsort(g, n, sizeof(g[0]), by_group);
	for (i = 0; i < n; groups++) {
		one = g[i];
		for (x[0] = g[i++].score; i < n &&
		    str_eq(g[i].name, one.name); i++) {
			x[one.total++] = g[i].score;
			one.passed += g[i].passed;
		}
		one.score = stats_mean(x, one.total);
		g[groups] = one;
	}
	if (groups > 0)
		qsort(g, groups, sizeof(g[0]), by_first);
	return groups;
}

/* Most runs have no groups, and need no memory for them. */
static bool
has_groups(struct arena *a, const struct result_run *run)
{
	size_t i;

	if (run->source != NULL)
		return run->source->grouped;
	for (i = 0; i < run->ntasks; i++)
		if (result_group(a, run, run->tasks[i].spec).n > 0)
			return true;
	return false;
}

void
result_put_groups(struct json_out *o, struct arena *a,
    const struct result_run *run)
{
	struct arena_mark mark = arena_save(a);
	struct group *g;
	size_t i, n;

	if (!has_groups(a, run))
		return;
	g = NEW_N(a, struct group, run->ntasks);
	n = gather(a, run, g, NEW_N(a, double, run->ntasks));
	if (n > 0) {
		json_open_member(o, "groups", '[');
		for (i = 0; i < n; i++) {
			json_open(o, '{');
			json_put_member_str(o, "name", g[i].name);
			json_put_member_int(o, "passed", (int64_t)g[i].passed);
			json_put_member_int(o, "total", (int64_t)g[i].total);
			json_put_member_double(o, "avg_score", g[i].score);
			json_close(o, '}');
		}
		json_close(o, ']');
	}
	arena_restore(a, mark);
}
