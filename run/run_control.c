/* SPDX-License-Identifier: ISC */
/*
 * The controls of a run: they are tried before its first hook, so that tasks
 * that show nothing are known before an agent is paid for.  Then come the
 * `tests` of tasks, as far as they need neither programs nor judges: a failure
 * of a task whose graders contradict them is suspect.
 */
#include "run/run_internal.h"

#include "run/control/control_internal.h"

enum { TESTS_MAX = 1000 };	/* that a run tries: about a second */

struct run_controls {
	struct run *run;
	struct control_set set;
	size_t *index;			/* of the set's tasks in the results */
	struct control_tests tests;
	size_t *test_index;		/* the same for the tests */
	void (*done)(struct run *);
};

/* Notes the first test of a task that its graders contradict. */
static void
on_tests(void *arg)
{
	struct run_controls *c = arg;
	struct run *run = c->run;
	struct result_task *task;
	struct result_more *more;
	const struct control_test *t;
	size_t i;

	run->controls = NULL;
	for (i = 0; i < c->tests.n; i++) {
		t = &c->tests.v[i];
		task = &run->results.tasks[c->test_index[i]];
		if (t->verdict == CONTROL_UNKNOWN ||
		    task->more->wrong_test.n > 0 ||
		    (t->verdict == CONTROL_PASSED) == t->test->passes)
			continue;
		more = result_own_more(&run->arena, task);
		more->wrong_test = arena_fmt(&run->arena, "test %zu of the "
		    "task must %s, but the graders %s it%s%.*s", t->number,
		    t->test->passes ? "pass" : "fail",
		    t->test->passes ? "fail" : "pass",
		    t->why.n > 0 ? ": " : "", STRF(utf8_cut(t->why, 150)));
		more->wrong_at = &t->test->at;
	}
	c->done(run);
}

static size_t
count_tests(const struct result_run *r)
{
	size_t i, n = 0;

	for (i = 0; i < r->ntasks; i++)
		n += r->tasks[i].spec->def->tests.n;
	return n < TESTS_MAX ? n : TESTS_MAX;
}

/* Tries the tests of the tasks that are graded now; false: none has any. */
static bool
start_tests(struct run_controls *c)
{
	struct run *run = c->run;
	const struct result_run *r = &run->results;
	struct control_tests *all = &c->tests;
	const struct spec_task *task;
	size_t i, k, n = count_tests(r);

	all->v = NEW_N(&run->live, struct control_test, n);
	c->test_index = NEW_N(&run->live, size_t, n);
	for (i = 0; i < r->ntasks; i++) {
		task = r->tasks[i].spec;
		for (k = 0; k < task->def->tests.n && all->n < n &&
		    (run->regraded == NULL || run->regraded[i]); k++) {
			c->test_index[all->n] = i;
			all->v[all->n++] = (struct control_test){
				.task = task, .test = &task->def->tests.v[k],
				.number = k + 1 };
		}
	}
	if (all->n == 0 || run->cancelled)
		return false;
	all->env = (struct control_env){ .arena = &run->live,
		.loop = run->loop, .procs = run->procs, .suite = run->suite,
		.context_dir = run->opts.context_dir, .no_hooks = true };
	all->done = on_tests;
	all->arg = c;
	run->controls = c;
	control_tests_start(all);
	return true;
}

static void
on_done(void *arg)
{
	struct run_controls *c = arg;
	struct run *run = c->run;
	const struct control_set *s = &c->set;
	size_t i;

	run->controls = NULL;
	for (i = 0; i < s->ntasks && !s->cancelled; i++)
		result_own_more(&run->arena,
		    &run->results.tasks[c->index[i]])->controls =
		    control_json(&run->arena, s->findings + i * s->list.n,
		    s->list.n);
	if (run->opts.strict_controls)
		run->results.vacuous = result_control_passes(&run->results);
	if (!start_tests(c))
		c->done(run);
}

/* Those of an executor `replay`, or of --replay. */
static const char *
recordings(const struct run *run)
{
	const char *const *dir = run->agent->state;

	return run->opts.stored == NULL && run->agent->kind->replays &&
	    dir != NULL ? *dir : NULL;
}

int
run_controls_check(const struct run *run, struct err *e)
{
	const struct spec_controls *list = &run->suite->config.controls;
	size_t i;

	if (run->opts.no_controls || recordings(run) != NULL)
		return 0;
	for (i = 0; i < list->n; i++)
		if (list->v[i].kind == SPEC_CONTROL_MUTATE)
			return err_set(e, ERR_SCHEMA, "control \"mutate\" "
			    "alters recorded answers: record them with "
			    "--record DIR, then use --replay DIR");
	return 0;
}

/* The tasks that are graded now. */
static void
choose_tasks(struct run *run, struct run_controls *c)
{
	const struct result_run *r = &run->results;
	const struct spec_task **v = NEW_N(&run->live,
	    const struct spec_task *, r->ntasks);
	size_t i;

	c->index = NEW_N(&run->live, size_t, r->ntasks);
	for (i = 0; i < r->ntasks; i++)
		if (run->regraded == NULL || run->regraded[i]) {
			c->index[c->set.ntasks] = i;
			v[c->set.ntasks++] = r->tasks[i].spec;
		}
	c->set.tasks = v;
}

bool
run_controls_start(struct run *run, void (*done)(struct run *))
{
	const struct spec_controls *list = &run->suite->config.controls;
	struct run_controls *c;

	if (run->opts.no_controls || run->opts.is_baseline ||
	    run->opts.ref != NULL || run->opts.skip_graders ||
	    run->cancelled ||
	    (list->n == 0 && count_tests(&run->results) == 0))
		return false;
	c = NEW(&run->live, struct run_controls);
	c->run = run;
	c->done = done;
	if (list->n == 0)
		return start_tests(c);
	c->set = (struct control_set){ .list = *list, .done = on_done,
		.arg = c, .env = { .arena = &run->live, .loop = run->loop,
		    .procs = run->procs, .suite = run->suite,
		    .context_dir = run->opts.context_dir,
		    .replay = recordings(run),
		    .trials = run->results.trials, .programs = true,
		    .no_hooks = run->opts.stored != NULL } };
	choose_tasks(run, c);
	run->controls = c;
	control_start(&c->set);
	return true;
}

void
run_controls_cancel(struct run *run)
{
	if (run->controls == NULL)
		return;
	control_cancel(&run->controls->set);
	control_run_cancel(&run->controls->tests.run);
}

void
run_controls_drop(struct run *run)
{
	if (run->controls == NULL)
		return;
	control_drop(&run->controls->set);
	control_run_free(&run->controls->tests.run);
}
