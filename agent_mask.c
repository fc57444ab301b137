/* SPDX-License-Identifier: ISC */
/*
 * What a program prints may have the keys in it that it was given, and
 * results are shown around.  Which variables are secrets: acp_mask.c.
 */
#include "agent_kind.h"

#include "acp.h"

void
agent_mask(struct agent_job *j, const char *const *env)
{
	struct agent_answer *ans = &j->ans;
	struct acp_secrets s = { 0 };
	struct agent_call *c;
	size_t i;

	acp_secrets(j->arena, env, &s);
	if (s.n == 0)
		return;
	ans->output = acp_mask(j->arena, &s, ans->output);
	ans->error = acp_mask(j->arena, &s, ans->error);
	ans->stderr_tail = acp_mask(j->arena, &s, ans->stderr_tail);
	ans->transcript = acp_mask(j->arena, &s, ans->transcript);
	ans->session_id = acp_mask(j->arena, &s, ans->session_id);
	for (i = 0; i < ans->skills.n; i++)
		ans->skills.v[i] = acp_mask(j->arena, &s, ans->skills.v[i]);
	for (c = ans->calls; c != NULL; c = c->next) {
		c->name = acp_mask(j->arena, &s, c->name);
		c->arguments = acp_mask(j->arena, &s, c->arguments);
		c->result = acp_mask(j->arena, &s, c->result);
	}
}
