/* SPDX-License-Identifier: ISC */
/*
 * waza run --suggest: after a run with failures, the judge is asked what to
 * improve in the skill or the suite.  Its report is printed and kept in the
 * results file; it never changes the exit status.
 */
#include "cmd/run.h"

#include "agent/agent.h"
#include "cmd/skill/ask.h"
#include "grade/judge.h"
#include "json.h"
#include "report/report_suites.h"
#include "results/result.h"
#include "run/run.h"
#include "suite/spec.h"
#include "waza.h"

enum {
	TASKS_MAX = 20,		/* failed tasks in the prompt */
	PART_MAX = 1500,	/* bytes of an answer */
	REASON_PART = 500,	/* of a prompt or a reason */
	SKILL_TEXT_MAX = 32 << 10,
	REPORT_MAX = 64 << 10,	/* bytes of the report */
	TIMEOUT = 300		/* seconds */
};

/* The verdicts of a trial that did not pass. */
static void
put_verdicts(struct buf *b, const struct json *trial)
{
	const struct json *v = json_first(json_getc(trial, "validations"));
	const struct json *passed;

	for (; v != NULL; v = v->next) {
		passed = json_getc(v, "passed");
		if (passed != NULL && passed->type == JSON_BOOL &&
		    json_bool(passed))
			continue;
		buf_fmt(b, "  grader %.*s (%.*s): %.*s\n",
		    STRF(json_str(v, "identifier")), STRF(json_str(v, "type")),
		    STRF(utf8_cut(json_str(v, "feedback"), REASON_PART)));
	}
}

static bool
is_bad(enum result_status s)
{
	return s == RESULT_FAILED || result_is_error(s);
}

/* The first trial of a task that failed. */
static void
put_task(struct buf *b, struct arena *a, const struct result_run *run,
    const struct result_task *t)
{
	const struct json *v = NULL;
	struct str error;
	struct err e;
	size_t i;

	buf_fmt(b, "task %.*s: %.*s\n", STRF(t->spec->id),
	    STRF(utf8_cut(t->spec->prompt, REASON_PART)));
	for (i = 0; i < t->ntrials && v == NULL; i++)
		if (is_bad(t->trials[i].status))
			v = result_read(a, run, &t->trials[i], &e);
	error = json_str(v, "error_msg");
	if (error.n > 0)
		buf_fmt(b, "  error: %.*s\n", STRF(utf8_cut(error,
		    REASON_PART)));
	put_verdicts(b, v);
	buf_fmt(b, "  answer: %.*s\n\n", STRF(utf8_cut(json_str(v,
	    "final_output"), PART_MAX)));
}

/* Appends the failed tasks; returns their number. */
static size_t
put_failures(struct buf *b, struct arena *a, const struct result_run *run)
{
	size_t i, n = 0;

	for (i = 0; i < run->ntasks; i++)
		if (is_bad(run->tasks[i].status) && n++ < TASKS_MAX)
			put_task(b, a, run, &run->tasks[i]);
	if (n > TASKS_MAX)
		buf_fmt(b, "and %zu more tasks\n", n - TASKS_MAX);
	return n;
}

/* The text of the skill or custom agent that is tested; or empty. */
static struct str
skill_text(struct arena *a, const struct spec_suite *s)
{
	struct field_strs dirs = spec_skill_dirs(a, s, NULL);
	struct spec_skills found;
	struct err e;
	size_t i, k;

	if (s->agent != NULL)
		return s->agent->body;
	for (i = 0; i < dirs.n; i++) {
		(void)spec_list_skills(a, dirs.v[i].p, &found, &e);
		for (k = 0; k < found.n; k++)
			if (str_eq(found.v[k].name, s->skill))
				return arena_fmt(a, "%.*s\n\n%.*s",
				    STRF(found.v[k].description),
				    STRF(found.v[k].body));
	}
	return STR("");
}

static int
make_prompt(struct buf *b, struct arena *a, const struct result_run *run,
    struct err *e)
{
	struct str skill = skill_text(a, run->suite);
	struct buf failures = { 0 };
	int r = -1;

	buf_fmt(b, "An evaluation suite, \"%.*s\", ran an AI agent%s%.*s%s. "
	    "Some of its tasks failed. Explain the causes you can see, and "
	    "suggest what to change, most useful first: the instructions of "
	    "the skill, the prompts of tasks, or graders that are wrong. Name "
	    "the tasks. Answer in Markdown, in at most 60 lines.\n\n",
	    STRF(run->suite->name), run->suite->skill.n > 0 ?
	    " with the skill \"" : "", STRF(run->suite->skill),
	    run->suite->skill.n > 0 ? "\"" : "");
	(void)put_failures(&failures, a, run);
	if (ask_put_material(b, "FAILED TASKS", buf_str(&failures), e) == 0)
		r = skill.n == 0 ? 0 : ask_put_material(b, "SKILL",
		    utf8_cut(skill, SKILL_TEXT_MAX), e);
	buf_free(&failures);
	return r;
}

/* Asks the judge of one run; an empty text if it gave no report. */
static struct str
ask_judge(struct cmd_run *r, struct result_run *run)
{
	struct cmd_call *c = r->job.call;
	struct ask ask = { .call = c, .suite = run->suite,
		.suite_executor = run->executor, .suite_model = run->model,
		.timeout_seconds = TIMEOUT, .job = &r->job };
	struct buf b = { 0 };
	struct str prompt;

	if (run->judge_model.n > 0)
		ask.model = arena_cstr(c->arena, run->judge_model);
	if (make_prompt(&b, c->arena, run, c->err) == -1) {
		buf_free(&b);
		(void)cmd_complain(c->err);
		return STR("");
	}
	prompt = arena_take(c->arena, &b);
	return ask_model(&ask, prompt) == CMD_OK ? str_trim(utf8_cut(
	    ask.answer, REPORT_MAX)) : STR("");
}

static bool
has_failures(const struct result_run *run)
{
	size_t i;

	for (i = 0; i < run->ntasks; i++)
		if (is_bad(run->tasks[i].status))
			return true;
	return false;
}

/* Whether the suite has a model to ask. */
static bool
has_judge(const struct result_run *run)
{
	const struct agent_kind *k = agent_find(run->executor);

	if (json_is_set(run->suite->config.judge))
		return true;
	return k != NULL && !k->scripted && !k->cannot_judge && !k->replays;
}

int
cmd_run_suggest(struct cmd_run *r, const struct report_suites *all)
{
	struct cmd_job *j = &r->job;
	struct buf b = { 0 };
	struct result_run *run;
	size_t i, k;
	int rc = 0;

	for (i = 0; i < all->n; i++)
		for (k = 0; k < all->v[i].n; k++) {
			run = all->v[i].runs[k];
			if (!has_failures(run) || cmd_run_interrupted(r))
				continue;
			if (!has_judge(run)) {
				cmd_say("waza: --suggest: executor %.*s cannot "
				    "be asked; add \"judge: {executor: NAME}\" "
				    "to the config of the suite\n",
				    STRF(run->executor));
				continue;
			}
			run->suggestion = ask_judge(r, run);
			if (run->suggestion.n == 0)
				continue;
			buf_fmt(&b, "\nSuggestions for %.*s:\n\n%.*s\n",
			    STRF(run->suite->name), STRF(run->suggestion));
			if (all->v[i].files[k] != NULL && result_write(run,
			    all->v[i].files[k], j->call->err) == -1)
				rc = -1;
		}
	if (b.n > 0 && j->owns_stdout == NULL) {
		j->call->form = GUARD_TEXT;
		if (cmd_finish(j->call, &b, CMD_OK) != CMD_OK)
			rc = -1;
	}
	buf_free(&b);
	return rc;
}
