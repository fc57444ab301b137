/* SPDX-License-Identifier: ISC */
/*
 * Rebuilds a struct result_run from a results file, for the reporters.
 *
 * The suite supplies what the file lacks: thresholds, metrics, source
 * locations, and the tasks that were not started.  The caller may pass an
 * empty suite.
 */
#include "results/outcome.h"

#include "json.h"
#include "results/result_internal.h"
#include "suite/spec.h"

enum { MISSING_MAX = 1000000 };	/* trials that have not run */

/*
 * Tasks.
 */
struct spec_task *
outcome_task_spec(struct arena *a, const struct outcome_task *from)
{
	struct spec_task *t = NEW(a, struct spec_task);
	struct spec_def *d = NEW(a, struct spec_def);

	t->def = d;
	t->id = from->id;
	t->name = from->name;
	d->group = from->group;
	d->golden = from->golden;
	d->quarantined = from->quarantine.n > 0;
	d->quarantine = from->quarantine;
	d->quarantine_until = from->quarantine_until;
	t->at = (struct spec_where){ from->file, from->line, 0 };
	return t;
}

struct result_used
outcome_used(struct arena *a, const struct outcome_task *t)
{
	struct arena_mark mark = arena_save(a);
	struct result_trial *v = NEW_N(a, struct result_trial, t->ntrials);
	struct result_task task = { .trials = v, .ntrials =
	    (uint32_t)t->ntrials };
	struct result_used u;
	size_t i;

	for (i = 0; i < t->ntrials; i++) {
		v[i].status = t->trials[i].status;
		result_read_used(&v[i], t->trials[i].node);
	}
	u = result_task_used(&task);
	arena_restore(a, mark);
	return u;
}

/* The suite's tasks in its order, then the others of the file. */
static void
take_tasks(struct result_run *r, const struct outcome *o)
{
	const struct spec_suite *s = r->suite;
	bool *known = NEW_N(r->arena, bool, o->ntasks);
	const struct outcome_task *from;
	size_t i, n = 0;

	r->tasks = NEW_N(r->arena, struct result_task, s->ntasks + o->ntasks);
	for (i = 0; i < s->ntasks; i++) {
		r->tasks[n++].spec = &s->tasks[i];
		from = outcome_find(o, s->tasks[i].id);
		if (from != NULL)
			known[from - o->tasks] = true;
	}
	for (i = 0; i < o->ntasks; i++)
		if (!known[i])
			r->tasks[n++].spec = outcome_task_spec(r->arena,
			    &o->tasks[i]);
	r->ntasks = n;
}

/*
 * An unfinished task gets as many trials as the file says were planned; *room
 * limits their total, since the file is not trusted.
 */
static void
fill_task(struct result_run *r, size_t i, const struct outcome_task *from,
    size_t *room)
{
	struct result_task *t = &r->tasks[i];
	size_t k;

	t->ntrials = (uint32_t)from->ntrials;
	if (from->skipped != NULL)
		result_own_more(r->arena, t)->skipped = from->skipped;
	if (!from->finished && from->ntrials < r->trials &&
	    r->trials <= *room) {
		t->ntrials = (uint32_t)r->trials;
		*room -= r->trials;
	}
	t->trials = NEW_N(r->arena, struct result_trial, t->ntrials);
	for (k = 0; k < t->ntrials; k++)
		t->trials[k].off = -1;
	if (from->finished)
		result_import_task(r, i, from);
	else
		for (k = 0; k < from->ntrials; k++)
			result_import_trial(r, i, k, &from->trials[k]);
}

/*
 * Trigger tests: the file has only those that were asked.
 */
void
outcome_read_trigger(struct result_run *r, struct spec_trigger *t,
    struct result_trial *out, struct json *v)
{
	bool did = result_true(v, "did_trigger");
	enum result_status error = result_of_class(json_str(v, "error_class"));
	struct answer_usage usage = answer_read_usage(v);

	t->should = result_true(v, "should_trigger");
	t->task.prompt = json_str(v, "prompt");
	t->expected = json_str(v, "expected_skill");
	t->reason = json_str(v, "reason");
	t->confidence = json_str(v, "confidence");
	t->weight = str_is(t->confidence, "medium") ? 0.5 : 1;
	*out = (struct result_trial){ .imported = v, .attempts = 1,
		.status = did == t->should ? RESULT_PASSED : RESULT_FAILED };
	if (error != RESULT_NONE)
		out->status = error;
	else if (str_is(json_str(v, "status"), "error"))
		out->status = RESULT_AGENT_ERROR;
	else if (str_is(json_str(v, "status"), "skipped"))
		out->status = RESULT_SKIPPED;
	(void)result_int(v, "duration_ms", &out->duration_ms);
	r->triggers.simulated |= result_true(v, "simulated");
	answer_count_usage(&r->usage, &usage, 1);
}

/* The location of a test in the suite, whose order is the same. */
static struct spec_where
find_location(const struct spec_triggers *all, size_t *next, struct str prompt)
{
	size_t i;

	for (i = *next; all != NULL && i < all->n; i++)
		if (str_eq(all->v[i].task.prompt, prompt)) {
			*next = i + 1;
			return all->v[i].task.at;
		}
	return (struct spec_where){ 0 };
}

static void
take_triggers(struct result_run *r, struct spec_suite *s,
    const struct json *root)
{
	const struct json *list = json_getc(root, "trigger_results");
	const struct spec_triggers *all = s->triggers;
	struct spec_triggers *t;
	struct json *v;
	size_t next = 0;

	s->triggers = NULL;
	if (list == NULL || list->type != JSON_ARRAY || json_count(list) == 0)
		return;
	t = NEW(r->arena, struct spec_triggers);
	t->skill = s->skill;
	t->v = NEW_N(r->arena, struct spec_trigger, json_count(list));
	r->triggers.v = NEW_N(r->arena, struct result_trial, json_count(list));
	for (v = json_first(list); v != NULL; v = v->next) {
		outcome_read_trigger(r, &t->v[t->n], &r->triggers.v[t->n], v);
		t->v[t->n].task.at = find_location(all, &next,
		    t->v[t->n].task.prompt);
		t->n++;
	}
	r->triggers.n = t->n;
	r->triggers.done = (uint32_t)t->n;
	s->triggers = t;
	r->triggers.used = NEW_N(r->arena, struct str, t->n);
	for (v = json_first(list), next = 0; v != NULL; v = v->next)
		result_take_used(r, next++, v);
}

/*
 * The whole.
 */
static void
take_head(struct result_run *r, const struct outcome *o)
{
	const struct json *config = json_getc(o->root, "config");
	int64_t n;
	size_t i;

	r->run_id = arena_cstr(r->arena, o->run_id);
	r->executor = o->executor;
	r->model = o->model;
	result_take_cell(r, o);
	r->judge_model = json_str(config, "judge_model");
	(void)result_int(config, "timeout_sec", &r->timeout_seconds);
	(void)result_int(config, "seed", &r->seed);
	r->no_skills = result_true(config, "no_skills");
	r->stop = o->stop;
	r->started_ns = result_parse_time(o->timestamp);
	r->duration_ms = o->duration_ms;
	r->trials = 1;
	for (i = 0; i < o->ntasks; i++)
		if (o->tasks[i].ntrials > r->trials)
			r->trials = o->tasks[i].ntrials;
	if (result_int(config, "runs_per_test", &n) && n > 0 && n <= 100000)
		r->trials = (size_t)n;
}

/* A run that fail_fast stopped is neither complete nor cancelled. */
static void
take_end(struct result_run *r, const struct outcome *o)
{
	struct str status = json_str(o->root, "status");

	r->ended = true;
	r->cancelled = str_is(status, "cancelled");
	r->skipped = o->skipped;
	r->complete = r->sum.not_run == 0 && !r->cancelled &&
	    r->skipped == NULL &&
	    !str_is(status, "running");
}

struct result_run *
outcome_run(struct arena *a, const struct outcome *o,
    const struct spec_suite *suite)
{
	struct spec_suite *s = NEW(a, struct spec_suite);
	struct result_run *r = NEW(a, struct result_run);
	const struct outcome_task *from;
	size_t i, room = MISSING_MAX;

	*s = *suite;
	if (s->name.n == 0)
		s->name = o->name;
	if (s->skill.n == 0)
		s->skill = o->skill;
	r->arena = a;
	r->suite = s;
	take_head(r, o);
	i = r->trials;
	r->trials = 0;			/* fill_task() allocates them */
	take_tasks(r, o);
	result_init(r);
	r->trials = i;
	for (i = 0; i < r->ntasks; i++) {
		from = outcome_find(o, r->tasks[i].spec->id);
		if (from != NULL)
			fill_task(r, i, from, &room);
	}
	take_triggers(r, s, o->root);
	result_sum(r);
	take_end(r, o);
	r->whole = o->root;
	return r;
}
