/* SPDX-License-Identifier: ISC */
/* Without evaluation clients, a suite of executor "remote" cannot run. */
#include "agent/agent_internal.h"

#include "suite/spec.h"

static void
check(const struct spec_suite *s, struct spec_notes *notes)
{
	spec_note(notes, FIELD_ERROR, s->config.executor_at, ERR_LEFT_OUT,
	    "executor \"remote\"");
}

static int
refuse(struct agent *a, struct err *e)
{
	(void)a;
	return err_set(e, ERR_SCHEMA, ERR_LEFT_OUT, "executor \"remote\"");
}

/* The next two are never called, because it cannot be opened. */
static enum agent_status
start(struct agent *a, struct agent_job *j)
{
	(void)a;
	(void)j;
	return AGENT_DONE;
}

static void
cancel(struct agent *a, struct agent_job *j)
{
	(void)a;
	agent_done(j);
}

const struct agent_kind agent_remote = {
	.name = "remote", .evaluates = true, .no_files = true,
	.all_turns = true, .own_deadline = true, .cannot_judge = true,
	.check = check, .needs_workspace = agent_no_workspace,
	.skills = agent_no_skills, .open = refuse, .start = start,
	.cancel = cancel
};
