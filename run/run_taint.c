/* SPDX-License-Identifier: ISC */
/*
 * A trial whose agent has seen what grades it is neither passed nor failed:
 * its status is "tainted", with the evidence as the reason.
 */
#include "run/run_internal.h"

#include "json.h"
#include "run/taint/taint.h"

const struct taint *
run_taint(struct run *run)
{
	if (run->taint == NULL)
		run->taint = taint_open(&run->arena, run->suite,
		    run->opts.context_dir);
	return run->taint;
}

static void
give_all(struct taint_given *g, struct arena *a, const struct field_strs *list,
    const char *base)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		taint_give_path(g, spec_path(a, base, list->v[i]), false);
}

static void
give_inputs(const struct run_trial *t, struct taint_given *g, struct arena *a)
{
	const struct spec_inputs *in = &t->ask.task->def->inputs;
	const struct spec_input_file *f = in->files.v;
	const struct json *fixture = json_getc(in->context, "fixture");
	const char *dirs[RUN_INPUT_DIRS];
	size_t i;

	run_input_dirs(a, t->run, t->ask.task, dirs);
	taint_give_path(g, dirs[0], false);
	for (i = 0; i < in->files.n; i++) {
		taint_give_text(g, f[i].content);
		if (f[i].content.n == 0)
			taint_give_path(g, run_find_input(t, a, f[i].path),
			    true);
	}
	if (fixture != NULL && fixture->type == JSON_STRING)
		taint_give_path(g, run_find_input(t, a, json_text(fixture)),
		    true);
}

/* All that the agent of a trial could know. */
static void
give(void *arg, struct taint_given *g)
{
	const struct run_trial *t = arg;
	const struct run_ask *q = &t->ask;
	const struct spec_suite *s = t->run->suite;
	const struct answer_turn *turn = q->job.ans.turns;
	struct arena a = { 0 };
	size_t i;

	taint_give_text(g, t->dialog.preamble);
	taint_give_text(g, q->req.prompt);
	taint_give_text(g, q->req.system);
	for (; turn != NULL; turn = turn->next)
		taint_give_text(g, turn->prompt);
	give_inputs(t, g, &a);
	for (i = 0; i < q->skills.n; i++)
		taint_give_path(g, q->skills.v[i].from, false);
	give_all(g, &a, &s->config.skill_directories, s->dir);
	give_all(g, &a, &q->task->def->skill_directories, s->dir);
	give_all(g, &a, &s->config.instruction_files, s->dir);
	give_all(g, &a, &q->task->def->instruction_files, s->dir);
	arena_free(&a);
}

bool
run_taint_check(struct run_trial *t)
{
	struct run_ask *q = &t->ask;
	const struct answer *ans = &q->job.ans;
	struct taint_trial trial = { .answer = ans,
		.cwd = q->req.workspace != NULL ? agent_cwd(&q->req) : NULL,
		.whole_repository = q->task->def->inputs.repos.n > 0,
		.give = give, .arg = t };
	struct str why;

	if (ans->echo)
		return false;
	why = taint_find(run_taint(t->run), &q->arena, &trial);
	if (why.n > 0)
		run_ask_fail(q, RESULT_TAINTED, "%.*s", STRF(why));
	return why.n > 0;
}
