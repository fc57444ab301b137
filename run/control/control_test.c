/* SPDX-License-Identifier: ISC */
/*
 * `tests` of tasks: examples of good and bad answers, for the task's graders.
 */
#include "run/control/control.h"

#include "json.h"

enum { REASONS_MAX = 5 };	/* graders whose feedback is shown */

/* The feedback of the graders that rejected the answer, or of all. */
static struct str
feedback(struct arena *a, const struct control_found *f)
{
	const struct json *v;
	struct buf b = { 0 };
	bool passed;
	size_t n = 0;

	for (v = json_first(f->verdicts); v != NULL; v = v->next) {
		if (!control_counts(v, &passed) ||
		    (f->verdict == CONTROL_FAILED && passed) ||
		    n++ >= REASONS_MAX)
			continue;
		buf_fmt(&b, "%s%.*s: %.*s", n > 1 ? "; " : "",
		    STRF(json_key(v)), STRF(json_str(v, "feedback")));
	}
	return arena_take(a, &b);
}

static void
on_done(void *arg)
{
	struct control_tests *t = arg;
	struct control_found f;
	struct arena tmp = { 0 };
	size_t i;

	for (i = 0; i < t->n; i++) {
		f = control_read(&t->run, &tmp, i, 0);
		t->v[i].verdict = f.verdict;
		t->v[i].why = f.verdict == CONTROL_UNKNOWN ?
		    arena_str(t->env.arena, f.why) :
		    feedback(t->env.arena, &f);
	}
	arena_free(&tmp);
	control_run_free(&t->run);
	t->done(t->arg);
}

void
control_tests_start(struct control_tests *t)
{
	size_t i;

	t->run = (struct control_run){ .env = &t->env, .ncases = t->n,
		.trials = 1, .answer = { .kind = SPEC_CONTROL_FILE },
		.done = on_done, .arg = t };
	t->run.cases = NEW_N(t->env.arena, struct control_case, t->n);
	for (i = 0; i < t->n; i++)
		t->run.cases[i] = (struct control_case){ t->v[i].task,
			t->v[i].test->script };
	control_run_start(&t->run);
}
