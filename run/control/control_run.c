/* SPDX-License-Identifier: ISC */
/*
 * Grades made-up answers.
 *
 * It is a run like any other, of a suite whose tasks are the cases, with a
 * journal that has no name.  Nobody listens to its events, and its results are
 * read from the journal when it is done.
 */
#include "run/control/control.h"

#include <string.h>

#include "json.h"
#include "results/result.h"
#include "run/run.h"

/* The suite with a task for each case. */
static void
make_suite(struct control_run *c)
{
	struct arena *a = c->env->arena;
	struct spec_task *t = NEW_N(a, struct spec_task, c->ncases);
	struct spec_def *d = NEW_N(a, struct spec_def, c->ncases);
	size_t i;

	for (i = 0; i < c->ncases; i++) {
		t[i] = *c->cases[i].task;
		d[i] = *t[i].def;
		d[i].mock = c->cases[i].script;
		d[i].inputs.responder = NULL;
		d[i].budget = (struct spec_budget){ 0 };
		t[i].def = &d[i];
	}
	c->suite = *c->env->suite;
	c->suite.tasks = t;
	c->suite.ntasks = c->ncases;
	c->suite.triggers = NULL;
	c->suite.config.trials_per_task = (int64_t)c->trials;
	c->suite.config.max_attempts = 1;
	c->suite.config.fail_fast = false;
	c->suite.config.controls.n = 0;
	c->suite.config.budget = (struct spec_budget){ 0 };
	c->answer.tasks = t;
	c->answer.altered = NEW_N(a, bool, c->ncases);
}

static void
on_later(void *arg)
{
	struct control_run *c = arg;

	c->done(c->arg);
}

/* The run must not be freed while it is on the stack. */
static void
on_done(void *arg)
{
	struct control_run *c = arg;

	timer_start(c->env->loop, &c->later, 0);
}

void
control_run_start(struct control_run *c)
{
	const struct control_env *env = c->env;
	struct run_opts o = { .control = &c->answer,
		.control_mutates = c->mutates, .trials = (int64_t)c->trials,
		.unnamed = true, .no_triggers = true, .no_controls = true,
		.context_dir = env->context_dir,
		.judge_model = env->judge_model,
		.no_hooks = env->no_hooks,
		.no_judges = !env->judges, .no_programs = !env->programs };

	c->later = (struct timer){ .fn = on_later, .arg = c };
	make_suite(c);
	c->run = run_new(env->loop, env->procs, &c->suite, &o, &c->bus,
	    &c->err);
	if (c->run != NULL && run_open(c->run, &c->err) == -1) {
		run_free(c->run);
		c->run = NULL;
	}
	if (c->run != NULL)
		run_start(c->run, on_done, c);
	else
		on_done(c);
}

void
control_run_cancel(struct control_run *c)
{
	if (c->run != NULL)
		run_cancel(c->run);
}

void
control_run_free(struct control_run *c)
{
	if (c->env == NULL)
		return;
	timer_stop(c->env->loop, &c->later);
	run_free(c->run);
	c->run = NULL;
}

static bool
is_true(const struct json *obj, const char *key)
{
	const struct json *v = json_getc(obj, key);

	return v != NULL && v->type == JSON_BOOL && json_bool(v);
}

bool
control_counts(const struct json *v, bool *passed)
{
	*passed = is_true(v, "passed");
	return !is_true(v, "skipped") && !is_true(v, "advisory") &&
	    json_str(v, "error").n == 0;
}

/* The verdict that all of them lead to, and why it is unknown. */
static void
conclude(struct arena *a, struct control_found *f)
{
	const struct json *v;
	bool passed;
	size_t n = 0;

	for (v = json_first(f->verdicts); v != NULL; v = v->next) {
		if (is_true(v, "advisory"))
			continue;
		n++;
		if (!control_counts(v, &passed)) {
			if (f->why.n == 0)
				f->why = arena_fmt(a, "grader \"%.*s\": %.*s",
				    STRF(json_key(v)),
				    STRF(json_str(v, "feedback")));
		} else if (!passed) {
			f->verdict = CONTROL_FAILED;
			return;
		}
	}
	if (n > 0 && f->why.n == 0)
		f->verdict = CONTROL_PASSED;
}

struct control_found
control_read(const struct control_run *c, struct arena *a, size_t i,
    size_t trial)
{
	struct control_found f = { .verdict = CONTROL_UNKNOWN };
	const struct result_run *r;
	const struct result_trial *t;
	const struct json *node;
	struct err e = { 0 };

	if (c->run == NULL) {
		f.why = arena_str(a, str_of(c->err.msg));
		return f;
	}
	r = run_results(c->run);
	t = &r->tasks[i].trials[trial];
	node = t->status != RESULT_NONE ? result_read(a, r, t, &e) : NULL;
	if (node == NULL) {
		f.why = run_error(c->run)->code != ERR_NONE ?
		    arena_str(a, str_of(run_error(c->run)->msg)) :
		    r->tasks[i].more->error.n > 0 ?
		    arena_str(a, r->tasks[i].more->error) :
		    STR("it was not run");
		return f;
	}
	f.verdicts = json_getc(node, "validations");
	/* mocks were not called as expected, or the answer copies the task */
	if (t->status == RESULT_AGENT_ERROR || t->status == RESULT_TAINTED)
		f.verdict = CONTROL_FAILED;
	else
		conclude(a, &f);
	if (f.verdict == CONTROL_UNKNOWN && f.why.n == 0)
		f.why = json_str(node, "error_msg");
	return f;
}
