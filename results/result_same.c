/* SPDX-License-Identifier: ISC */
/*
 * result_same.c: whether a run can continue stored results, those of a journal
 * or of a results file.
 *
 * Nothing that is stored may get lost: the run has all of the stored trials of
 * its suite, or it is refused.
 */
#include "results/result.h"

#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "results/outcome.h"
#include "results/result_internal.h"
#include "suite/spec.h"

static int
by_id(const void *a, const void *b)
{
	const struct result_task *const *x = a, *const *y = b;

	return str_cmp((*x)->spec->id, (*y)->spec->id);
}

static int
cmp_id(const void *id, const void *task)
{
	const struct result_task *const *t = task;

	return str_cmp(*(const struct str *)id, (*t)->spec->id);
}

struct result_task **
result_sort_tasks(struct result_run *run)
{
	struct result_task **v = NEW_N(&run->scratch, struct result_task *,
	    run->ntasks);
	size_t i;

	for (i = 0; i < run->ntasks; i++)
		v[i] = &run->tasks[i];
	if (run->ntasks > 1)
		qsort(v, run->ntasks, sizeof(v[0]), by_id);
	return v;
}

bool
result_ran_bare(const struct outcome *o)
{
	return result_true(json_getc(o->root, "config"), "no_skills");
}

static int
check_way(const struct result_run *run, const struct json *config,
    const char *path, struct err *e)
{
	bool none = result_true(config, "no_skills");

	if (none == run->no_skills)
		return 0;
	return err_set(e, ERR_SCHEMA, none ? "%s: cannot be resumed: it ran "
	    "without skills; add --no-skills, or start a new run" : "%s: "
	    "cannot be resumed: it ran with skills; remove --no-skills, or "
	    "start a new run", path);
}

/* Trials with skills of one revision do not continue those of another. */
static int
check_ref(const struct result_run *run, const struct json *config,
    const char *path, struct err *e)
{
	struct str was = json_str(json_getc(config, "skills_ref"), "commit");

	if (str_eq(was, run->ref_commit))
		return 0;
	return err_set(e, ERR_SCHEMA, "%s: cannot be resumed: its skills are "
	    "those of %.*s, not of %.*s; start a new run", path,
	    STRF(was.n > 0 ? utf8_cut(was, 12) : STR("the working tree")),
	    STRF(run->ref_commit.n > 0 ? utf8_cut(run->ref_commit, 12) :
	    STR("the working tree")));
}

void
result_take_cell(struct result_run *r, const struct outcome *o)
{
	const struct json *cell = json_getc(json_getc(o->root, "config"),
	    "cell");

	if (cell == NULL || cell->type != JSON_OBJECT)
		return;
	r->cell = result_json(r->arena, cell);
	r->cell_name = json_str(cell, "name");
}

/* Trials with one skill do not continue those with another. */
static int
check_cell(struct result_run *run, const struct json *config,
    const char *path, struct err *e)
{
	struct str was = json_str(json_getc(config, "cell"), "skill");
	const struct json *cell = run->cell.n == 0 ? NULL :
	    arena_json(&run->scratch, run->cell, NULL);
	struct str is = cell == NULL ? STR("") : json_str(cell, "skill");

	if (was.n == 0 || is.n == 0 || str_eq(was, is))
		return 0;
	return err_set(e, ERR_SCHEMA, "%s: cannot be resumed: its skill is "
	    "\"%.*s\", not \"%.*s\"", path, STRF(utf8_cut(was, 40)),
	    STRF(utf8_cut(is, 40)));
}

int
result_check_same(struct result_run *run, const struct result_stored *from,
    struct err *e)
{
	const struct {
		const char *what;
		struct str got, want;
	} same[] = {
		{ "suite", from->suite, run->suite->name },
		{ "executor", from->executor, run->executor },
		{ "model", from->model, run->model },
	};
	const struct json *config = json_getc(from->root, "config");
	struct str print = json_str(config, "fingerprint");
	size_t i;

	for (i = 0; i < COUNTOF(same); i++)
		if (!str_eq(same[i].got, same[i].want))
			return err_set(e, ERR_SCHEMA, "%s: cannot be resumed: "
			    "its %s is \"%.*s\", not \"%.*s\"", from->path,
			    same[i].what, STRF(utf8_cut(same[i].got, 40)),
			    STRF(utf8_cut(same[i].want, 40)));
	run->changed = print.n > 0 && run->fingerprint[0] != '\0' &&
	    !str_is(print, run->fingerprint);
	if (run->changed && run->shard.n > 0)
		return err_set(e, ERR_SCHEMA, "%s: cannot be resumed: the "
		    "suite has changed, and shards must be of one suite: "
		    "start a new run, without --resume", from->path);
	if (config != NULL && !from->baseline &&
	    check_way(run, config, from->path, e) == -1)
		return -1;
	if (config != NULL && (check_ref(run, config, from->path, e) == -1 ||
	    check_cell(run, config, from->path, e) == -1))
		return -1;
	return result_check_shard(run, from->root, from->path, e);
}

static bool
has_task(const struct spec_suite *s, struct str id)
{
	size_t i;

	for (i = 0; i < s->ntasks; i++)
		if (str_eq(s->tasks[i].id, id))
			return true;
	return false;
}

struct result_trial *
result_find_place(const struct result_run *run, struct result_task **sorted,
    struct str id, int64_t number, struct result_task **task)
{
	struct result_task **t = run->ntasks == 0 ? NULL : bsearch(&id,
	    sorted, run->ntasks, sizeof(*sorted), cmp_id);

	*task = t != NULL ? *t : NULL;
	return t != NULL && result_find_trial(*t, &number) ?
	    &(*t)->trials[number] : NULL;
}

int
result_lacks(const struct result_run *run, const struct result_task *task,
    struct str id, const struct result_stored *from, struct err *e)
{
	const char *path = from->path;

	if (task != NULL)
		return err_set(e, ERR_SCHEMA, "%s: cannot be resumed with "
		    "fewer trials: some of task \"%.*s\" would be lost; repeat "
		    "--trials, or start a new run", path,
		    STRF(utf8_cut(id, 100)));
	if (!has_task(run->suite, id) && (from->source == NULL ||
	    run->suite->path == NULL ||
	    strcmp(from->source, run->suite->path) == 0))
		return 0;
	if (!has_task(run->suite, id))
		return err_set(e, ERR_SCHEMA, "%s: cannot be resumed: it is of "
		    "%.200s, another suite of the same name; start a new run, "
		    "or rename a suite", path, from->source);
	return err_set(e, ERR_SCHEMA, "%s: cannot be resumed with fewer "
	    "tasks: the results of \"%.*s\" would be lost; select the same "
	    "tasks, or start a new run", path, STRF(utf8_cut(id, 100)));
}
