/* SPDX-License-Identifier: ISC */
/*
 * Answers of no agent, for controls and for tests of graders: nothing at all,
 * the prompt repeated, a fixed text, or a script as `mock` of a task.
 *
 * Everything about such an answer is known: what it does not mention did not
 * happen.  In a conversation the text or the script is the first answer, and
 * the others are empty.
 */
#include "agent/agent_internal.h"

#include "json.h"
#include "suite/spec.h"

/* Whether an earlier turn has answered; marks the conversation. */
static bool
has_answered(struct agent_conversation *c)
{
	bool before = c != NULL && c->state != NULL;

	if (c != NULL)
		c->state = c;
	return before;
}

static enum agent_status
start(struct agent *a, struct agent_job *j)
{
	const struct agent_control *c = a->state;
	const struct json *script = j->req->task->def->mock;
	struct agent_script s = { .output = STR("") };
	bool later = has_answered(j->req->conversation);

	if (c->kind == SPEC_CONTROL_ECHO)
		s.output = j->req->prompt;
	else if (!later && script != NULL &&
	    agent_read_script(j->arena, script, &s) == -1)
		return agent_fail(j, ANSWER_INFRA, "the answer is not a "
		    "script as \"mock\" takes it");
	else if (!later && script == NULL)
		s.output = c->text;
	if (s.output.p == NULL)
		s.output = STR("");
	agent_play(j, &s);
	if (c->kind == SPEC_CONTROL_NULL && script == NULL)
		j->ans.transcript = STR("[]");	/* not even a message */
	j->ans.no_calls = false;
	j->ans.skills_known = true;
	j->ans.usage = answer_no_usage;
	if (s.files != NULL && j->req->workspace != NULL &&
	    j->ans.fault == ANSWER_OK)
		agent_write_files(j, s.files);
	return AGENT_DONE;
}

static void
end(struct agent *a, struct agent_conversation *c)
{
	(void)a;
	c->state = NULL;
}

static bool
needs_workspace(const struct spec_suite *s, const struct spec_task *t)
{
	(void)s;
	return t->def->mock != NULL && json_getc(t->def->mock, "files") != NULL;
}

const struct agent_kind agent_control = {
	.name = "control", .loads_skills = true, .cannot_judge = true,
	.scripted = true,	/* its calls are those that mocks count */
	.needs_workspace = needs_workspace, .start = start,
	.conversation_end = end
};
