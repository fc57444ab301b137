/* SPDX-License-Identifier: ISC */
/* Grading a trial: its graders one after the other, and the decision. */
#include "run/run_internal.h"

#include <string.h>

#include "json.h"
#include "results/outcome.h"

enum { PAUSES_MAX = 100 };	/* of a grader, while all turns are long */

/* The trial ends with this status and message. */
#define FAIL(t, ...) \
	(run_ask_fail(&(t)->ask, __VA_ARGS__), RUN_TRIAL_FINISH)

void
run_add_verdict(struct run_trial *t, const struct verdict *v)
{
	struct verdict *all = NEW_N(&t->ask.arena, struct verdict,
	    t->nverdicts + 1);

	if (t->nverdicts > 0)
		memcpy(all, t->verdicts, t->nverdicts * sizeof(*all));
	all[t->nverdicts++] = *v;
	t->verdicts = all;
}

/*
 * The baseline's answer in the same trial, for graders that compare.  A trial
 * with a grader's error has an answer; other errors have none.
 */
static void
find_baseline(struct run_trial *t)
{
	const struct result_run *base = t->run->opts.baseline;
	const struct result_trial *trial;
	const struct json *output;
	struct err e;

	if (base == NULL || t->task >= base->ntasks ||
	    base->tasks[t->task].spec != t->ask.task ||
	    t->trial >= base->tasks[t->task].ntrials)
		return;
	trial = &base->tasks[t->task].trials[t->trial];
	if (trial->status != RESULT_SKIPPED &&
	    trial->status != RESULT_PASSED && trial->status != RESULT_FAILED &&
	    trial->status != RESULT_GRADER_ERROR &&
	    trial->status != RESULT_JUDGE_ERROR &&
	    trial->status != RESULT_TAINTED)
		return;
	output = json_getc(result_read(&t->ask.arena, base, trial, &e),
	    "final_output");
	if (output == NULL || output->type != JSON_STRING)
		return;
	t->in.baseline = json_text(output);
	t->in.has_baseline = true;
}

void
run_grader_input(struct run_trial *t, const struct answer *ans)
{
	struct run_ask *q = &t->ask;
	struct run *run = t->run;

	t->in = (struct grader_input){ .suite = run->suite, .task = q->task,
		.answer = ans,
		.agent = agent_label(&q->arena, run->results.executor,
		    run->suite),
		.workspace = q->req.workspace,
		.vars = &q->vars, .duration_ms = q->duration_ms,
		.no_duration = ans->no_took ||
		    (run->opts.stored != NULL && !json_is_set(json_getc(
		    run_stored_trial(t)->node, "duration_ms"))),
		.update_snapshots = run->opts.update_snapshots,
		.no_judges = run->opts.no_judges,
		.no_programs = run->opts.no_programs,
		.procs = run->procs, .scratch = q->req.scratch,
		.empty_dir = q->dir, .judges = &run->judges,
		.no_skills = run->opts.no_skills,
		.skills_pasted = q->skills.way == AGENT_SKILLS_PROMPT,
		.trial = q->req.trial, .attempt = q->req.attempt,
		.judged = &t->judged };
	find_baseline(t);
}

/* Adds the verdicts of the task's `expected` block. */
static void
add_expected(struct run_trial *t)
{
	const struct grading *g = &t->grading;
	struct verdict *all;

	if (g->nexpected == 0)
		return;
	all = NEW_N(&t->ask.arena, struct verdict,
	    t->nverdicts + g->nexpected);
	if (t->nverdicts > 0)
		memcpy(all, t->verdicts, t->nverdicts * sizeof(*all));
	memcpy(all + t->nverdicts, g->expected, g->nexpected * sizeof(*all));
	t->verdicts = all;
	t->nverdicts += g->nexpected;
}

/* Adds what the grading led to; returns the next state. */
static enum run_trial_state
add_verdict(struct run_trial *t)
{
	if (t->grading.spec != NULL) {
		t->verdicts[t->nverdicts++] = t->grading.out;
		return RUN_TRIAL_GRADE;
	}
	add_expected(t);
	return t->ask.cancelled ? RUN_TRIAL_GRADE : RUN_TRIAL_GRADED;
}

static void
on_verdict(void *arg)
{
	struct run_trial *t = arg;

	run_trial_resume(t, add_verdict(t));
}

/* The grader of a custom agent's tools has nothing to check without it. */
static struct verdict
no_agent(const struct spec_grader *g)
{
	return (struct verdict){ .name = g->name, .type = g->type,
		.weight = g->weight, .skipped = true,
		.feedback = STR("the baseline runs without the custom agent"),
		.details = STR("") };
}

/*
 * One grader per call: the suite's, then the task's, then `expected`.  Pauses
 * after a slice of time, as graders that compute do not wait for the loop.
 */
enum run_trial_state
run_grade(struct run_trial *t)
{
	const struct spec_graders *suite = &t->run->suite->graders;
	const struct spec_graders *task = &t->ask.task->def->graders;
	uint64_t before = t->run->procs->shortages;

	if (t->ask.cancelled)
		return FAIL(t, RESULT_CANCELLED, "cancelled");
	if (t->run->opts.skip_graders)
		return FAIL(t, RESULT_SKIPPED, "not graded (--skip-graders)");
	if (run_check_stopped(t))
		return RUN_TRIAL_GRADED;
	if (t->verdicts == NULL)
		t->verdicts = NEW_N(&t->ask.arena, struct verdict,
		    suite->n + task->n + 1);
	if (loop_clock(t->run->loop) - loop_now(t->run->loop) > RUN_SLICE_MS &&
	    t->pauses++ < PAUSES_MAX)
		return run_pause_until(t, RUN_TRIAL_GRADE);
	t->pauses = 0;
	t->grading = (struct grading){ .in = &t->in, .arena = &t->ask.arena,
		.done = on_verdict, .arg = t };
	if (t->grader < suite->n + task->n)
		t->grading.spec = t->grader < suite->n ?
		    &suite->v[t->grader] : &task->v[t->grader - suite->n];
	t->grader++;
	t->in.grader_failed |= t->nverdicts > 0 &&
	    t->verdicts[t->nverdicts - 1].error.n > 0;
	if (t->grading.spec != NULL && t->grading.spec->implicit &&
	    t->run->opts.no_skills) {
		t->grading.out = no_agent(t->grading.spec);
		return add_verdict(t);
	}
	if (t->grading.spec != NULL && t->run->opts.stored != NULL &&
	    run_stored_verdict(t, t->grading.spec, &t->grading.out))
		return add_verdict(t);
	if (grader_start(&t->grading) == GRADER_LATER)
		return RUN_TRIAL_GRADING;
	if (t->grading.out.error.n > 0 &&
	    run_wait_again(t, before, RUN_TRIAL_GRADE)) {
		t->grader--;
		return RUN_TRIAL_WAITING;
	}
	return add_verdict(t);
}

/* The reason of the first grader that was skipped. */
static struct str
why_skipped(struct run_trial *t)
{
	const struct verdict *v = t->verdicts;

	while (!v->skipped)
		v++;
	return arena_head(&t->ask.arena, arena_fmt(&t->ask.arena,
	    "grader \"%.*s\": %.*s", STRF(v->name), STRF(v->feedback)),
	    REASON_MAX);
}

/*
 * An error of one grader is an error of the trial: with a verdict missing, the
 * trial has neither passed nor failed.  A trial whose graders were all skipped
 * is skipped.
 */
bool
run_decide(struct run_trial *t)
{
	struct run_ask *q = &t->ask;
	const struct verdict *v;

	run_agent_verdict(t);
	run_check_verdicts(t);
	if (t->nverdicts == 0 && !t->run->opts.allow_ungraded) {
		run_ask_fail(q, RESULT_GRADER_ERROR, "nothing graded this "
		    "trial: the task has no grader and no expected block");
		return false;
	}
	q->status = t->nverdicts == 0 ? RESULT_PASSED : RESULT_SKIPPED;
	for (v = t->verdicts; v < t->verdicts + t->nverdicts; v++) {
		if (v->error.n > 0) {
			run_ask_fail(q, v->judge ? RESULT_JUDGE_ERROR :
			    RESULT_GRADER_ERROR, "grader \"%.*s\": %.*s",
			    STRF(v->name), STRF(v->error));
			return false;
		}
		if (v->advisory || v->skipped)
			continue;
		if (!v->passed)
			q->status = RESULT_FAILED;
		else if (q->status == RESULT_SKIPPED)
			q->status = RESULT_PASSED;
	}
	if (q->status == RESULT_SKIPPED)
		q->error = why_skipped(t);
	return !run_taint_check(t);
}
