/* SPDX-License-Identifier: ISC */
/* agent_stored.c: the answers of a results file, played again. */
#include "agent/agent.h"

#include <assert.h>

#include "results/outcome.h"
#include "suite/spec.h"

static bool
roams(const struct spec_suite *s, const struct spec_task *t)
{
	(void)s;
	(void)t;
	return false;
}

static enum agent_status
start(struct agent *a, struct agent_job *j)
{
	const struct outcome *const *o = a->state;
	const struct outcome_task *t = outcome_find(*o, j->req->task->id);

	assert(t != NULL && j->req->trial <= t->ntrials);
	outcome_answer(j->arena, &t->trials[j->req->trial - 1], &j->ans);
	return AGENT_DONE;
}

const struct agent_kind agent_stored = {
	.name = "stored", .help = "plays the answers of a results file",
	.needs_workspace = roams, .start = start
};
