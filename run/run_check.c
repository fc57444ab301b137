/* SPDX-License-Identifier: ISC */
/*
 * Checkpoints: graders that run after a turn of the conversation, on all that
 * the agent has done so far.
 *
 * Their verdicts are in `checkpoints` of the trial, and count like those of
 * other graders, under the name "turn N: NAME".  A checkpoint that stops ends
 * the conversation if it does not pass; no other grader runs then.
 */
#include "run/run_internal.h"

#include <string.h>

#include "json.h"
#include "results/outcome.h"

static const struct spec_checkpoint *
find(const struct run_trial *t)
{
	const struct spec_checkpoints *list = &t->ask.task->def->checkpoints;
	size_t i;

	for (i = 0; i < list->n; i++)
		if (list->v[i].after_turn == (int64_t)t->dialog.turn)
			return &list->v[i];
	return NULL;
}

static bool
is_done(const struct run_trial *t, const struct spec_checkpoint *c)
{
	size_t i;

	for (i = 0; i < t->nchecks; i++)
		if (t->checks[i].after_turn == c->after_turn)
			return true;
	return false;
}

bool
run_check_begin(struct run_trial *t)
{
	const struct spec_checkpoint *c = find(t);

	if (c == NULL || t->run->opts.skip_graders ||
	    t->run->opts.stored != NULL || is_done(t, c))
		return false;
	t->check = (struct run_check){ .spec = c,
		.began = loop_clock(t->run->loop),
		.verdicts = NEW_N(&t->ask.arena, struct verdict,
		    c->graders.n) };
	run_turn_so_far(t, &t->check.answer);
	/* run_check() looks at the status */
	(void)run_mocks_so_far(&t->ask, &t->check.answer);
	run_grader_input(t, &t->check.answer);
	return true;
}

/* Adds the checkpoint to those of the trial. */
static void
end_check(struct run_trial *t)
{
	const struct spec_checkpoint *c = t->check.spec;
	struct result_checkpoint *all = NEW_N(&t->ask.arena,
	    struct result_checkpoint, t->nchecks + 1), *new;
	size_t i;

	if (t->nchecks > 0)
		memcpy(all, t->checks, t->nchecks * sizeof(*all));
	new = &all[t->nchecks++];
	*new = (struct result_checkpoint){ .after_turn = c->after_turn,
		.verdicts = t->check.verdicts, .nverdicts = t->check.n };
	for (i = 0; i < new->nverdicts; i++) {
		const struct verdict *v = &new->verdicts[i];

		new->error = new->error || v->error.n > 0;
		new->failed = new->failed || (!v->passed && !v->skipped &&
		    !v->advisory);
	}
	new->stopped = c->stop && (new->failed || new->error);
	t->stopped = t->stopped || new->stopped;
	t->checks = all;
	/* the time limit is the agent's */
	t->ask.started += loop_clock(t->run->loop) - t->check.began;
	t->check.spec = NULL;
}

static enum run_trial_state
took(struct run_trial *t)
{
	t->check.verdicts[t->check.n++] = t->grading.out;
	return RUN_TRIAL_CHECK;
}

static void
on_verdict(void *arg)
{
	struct run_trial *t = arg;

	run_trial_resume(t, took(t));
}

enum run_trial_state
run_check(struct run_trial *t)
{
	struct run_check *k = &t->check;
	uint64_t before = t->run->procs->shortages;

	if (t->ask.cancelled) {
		run_ask_fail(&t->ask, RESULT_CANCELLED, "cancelled");
		return RUN_TRIAL_FINISH;
	}
	if (t->ask.status != RESULT_NONE)	/* calls of mocks are unknown */
		return RUN_TRIAL_PATCH;
	if (k->n == k->spec->graders.n) {
		end_check(t);
		return RUN_TRIAL_TURN;
	}
	t->grading = (struct grading){ .in = &t->in, .arena = &t->ask.arena,
		.spec = &k->spec->graders.v[k->n], .done = on_verdict,
		.arg = t };
	if (grader_start(&t->grading) == GRADER_LATER)
		return RUN_TRIAL_GRADING;
	if (t->grading.out.error.n > 0 &&
	    run_wait_again(t, before, RUN_TRIAL_CHECK))
		return RUN_TRIAL_WAITING;
	return took(t);
}

static struct str
name_at(struct run_trial *t, int64_t turn, struct str name)
{
	return arena_fmt(&t->ask.arena, "turn %lld: %.*s", (long long)turn,
	    STRF(name));
}

/* Those of the results file that is graded again. */
static void
take_stored(struct run_trial *t)
{
	const struct spec_checkpoints *list = &t->ask.task->def->checkpoints;
	const struct spec_grader *g;
	struct verdict old;
	size_t i, k;

	for (i = 0; i < list->n; i++)
		for (k = 0; k < list->v[i].graders.n; k++) {
			g = &list->v[i].graders.v[k];
			if (run_stored_take(t, g, name_at(t,
			    list->v[i].after_turn, g->name), &old))
				run_add_verdict(t, &old);
		}
}

void
run_check_verdicts(struct run_trial *t)
{
	struct verdict v;
	size_t i, k;

	if (t->run->opts.stored != NULL)
		take_stored(t);
	for (i = 0; i < t->nchecks; i++)
		for (k = 0; k < t->checks[i].nverdicts; k++) {
			v = t->checks[i].verdicts[k];
			v.name = name_at(t, t->checks[i].after_turn, v.name);
			run_add_verdict(t, &v);
		}
}

bool
run_check_stopped(const struct run_trial *t)
{
	const struct json *v, *b;

	if (t->run->opts.stored == NULL || t->ask.task->def->checkpoints.n == 0)
		return t->stopped;
	v = json_first(json_getc(run_stored_trial(t)->node, "checkpoints"));
	for (; v != NULL; v = v->next) {
		b = json_getc(v, "stopped");
		if (b != NULL && b->type == JSON_BOOL && json_bool(b))
			return true;
	}
	return false;
}
