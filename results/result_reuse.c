/* SPDX-License-Identifier: ISC */
/*
 * result_reuse.c: resumes a run from its results file.
 *
 * The journal of a complete run is removed, since its results file contains
 * all trials.  They are copied into a new journal here, so that the resumed
 * run reads and writes them like those of an interrupted one.
 */
#include "results/result.h"

#include "json.h"
#include "results/outcome.h"
#include "results/result_internal.h"
#include "suite/spec.h"

int
result_line_copy(struct result_run *run, struct result_trial *t,
    const struct json *node, struct err *e)
{
	struct json_out o = { .put = buf_sink, .ctx = &run->journal.line };

	result_line_numbers(&run->journal.line, t);
	json_put(&o, node);
	return result_line_end(run, t, e);
}

static int
take_trial(struct result_run *run, size_t task, size_t nth,
    const struct outcome_trial *from, struct err *e)
{
	struct result_task *to = &run->tasks[task];
	struct result_trial t = { .off = -1, .status = from->status,
		.attempts = result_attempts(from->node),
		.score = from->score, .weighted = from->weighted,
		.duration_ms = from->duration_ms };
	struct buf *b;
	int64_t n;

	if (!result_int(from->node, "run_number", &n))
		n = (int64_t)nth + 1;
	if (t.status == RESULT_NONE || t.status == RESULT_CANCELLED ||
	    !result_find_trial(to, &n))
		return 0;
	result_read_used(&t, from->node);
	b = result_line_begin(run);
	result_line_name(b, run, task, (size_t)n);
	if (result_line_copy(run, &t, from->node, e) == -1)
		return -1;
	result_replace(run, &to->trials[n], &t, &to->done);
	result_count(run, from->node, 1);
	return 0;
}

static int
take_all(struct result_run *run, const struct outcome *o, struct err *e)
{
	const struct outcome_task *from;
	const struct json *item;
	size_t i, k, next = 0;

	for (i = 0; i < run->ntasks; i++) {
		from = outcome_find(o, run->tasks[i].spec->id);
		for (k = 0; from != NULL && k < from->ntrials; k++)
			if (take_trial(run, i, k, &from->trials[k], e) == -1)
				return -1;
	}
	item = json_first(json_getc(o->root, "trigger_results"));
	for (; item != NULL; item = item->next)
		if (result_reuse_trigger(run, &next, item, e) == -1)
			return -1;
	return 0;
}

/* Whether the run has all trials of the file. */
static int
check_all(struct result_run *run, const struct outcome *o,
    const struct result_stored *stored, struct err *e)
{
	struct result_task **sorted = result_sort_tasks(run), *task;
	const struct outcome_task *from;
	size_t i, k;
	int64_t n;

	for (i = 0; i < o->ntasks; i++) {
		from = &o->tasks[i];
		for (k = 0; k < from->ntrials; k++) {
			if (from->trials[k].status == RESULT_NONE ||
			    from->trials[k].status == RESULT_CANCELLED)
				continue;
			if (!result_int(from->trials[k].node, "run_number",
			    &n))
				n = (int64_t)k + 1;
			if (result_find_place(run, sorted, from->id, n,
			    &task) == NULL && result_lacks(run, task,
			    from->id, stored, e) == -1)
				return -1;
		}
	}
	return 0;
}

const char *
result_arm_key(enum result_arm arm)
{
	static const char *const keys[] = {
		[RESULT_ARM_SKILLS] = NULL,
		[RESULT_ARM_NONE] = "baseline_outcome",
		[RESULT_ARM_REF] = "ref_outcome",
	};

	return keys[arm];
}

static int
check(struct result_run *run, const struct outcome *o,
    const struct result_from *how, struct err *e)
{
	static const char *const options[] = { NULL, "--baseline",
		"--baseline-ref" };
	struct result_stored from = { o->path, o->root, o->name, o->executor,
		o->model, how->arm != RESULT_ARM_SKILLS, o->suite };
	const char *key;
	size_t i;
	struct arena_mark mark = arena_save(&run->scratch);
	int rc;

	if (result_check_same(run, &from, e) == -1)
		return -1;
	for (i = RESULT_ARM_NONE; i < RESULT_ARM__MAX; i++) {
		key = result_arm_key((enum result_arm)i);
		if (how->replaced && !how->joins[i] &&
		    json_getc(o->root, key) != NULL)
			return err_set(e, ERR_SCHEMA, "%s: cannot be resumed "
			    "without its baseline, which would be lost; add "
			    "%s, or start a new run", o->path, options[i]);
	}
	rc = how->replaced ? check_all(run, o, &from, e) : 0;
	arena_restore(&run->scratch, mark);
	return rc;
}

int
result_reuse(struct result_run *run, const struct result_from *how,
    struct err *e)
{
	struct arena a = { 0 };
	struct outcome *o = outcome_read(&a, how->path, e);
	struct json *base;
	int rc = o == NULL ? -1 : 0;

	if (o != NULL && how->arm != RESULT_ARM_SKILLS) {
		base = json_getc(o->root, result_arm_key(how->arm));
		o = base == NULL || base->type != JSON_OBJECT ? NULL :
		    outcome_of(&a, base, how->path, e);
		rc = base != NULL && base->type == JSON_OBJECT && o == NULL ?
		    -1 : 0;
	}
	if (o != NULL) {
		run->kept_grades = json_getc(json_getc(o->root, "metadata"),
		    "regraded") != NULL;
		rc = check(run, o, how, e) == -1 ? -1 : take_all(run, o, e);
	}
	arena_free(&a);
	return rc;
}
