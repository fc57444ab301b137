/* SPDX-License-Identifier: ISC */
/*
 * What a program prints may have the keys in it that it was given, and
 * results are shown around.
 */
#include "agent/agent_internal.h"

#include "lib/mask.h"

void
agent_mask(struct agent_job *j, const struct mask *m)
{
	struct answer *ans = &j->ans;
	struct arena *a = j->arena;
	struct answer_call *c;
	size_t i;

	if (m->n == 0)
		return;
	ans->output = mask_text(a, m, ans->output);
	ans->error = mask_text(a, m, ans->error);
	ans->stderr_tail = mask_text(a, m, ans->stderr_tail);
	ans->transcript = mask_json(a, m, ans->transcript);
	ans->session_id = mask_text(a, m, ans->session_id);
	for (i = 0; i < ans->skills.n; i++)
		ans->skills.v[i] = mask_text(a, m, ans->skills.v[i]);
	for (c = ans->calls; c != NULL; c = c->next) {
		c->name = mask_text(a, m, c->name);
		c->arguments = mask_json(a, m, c->arguments);
		c->result = mask_json(a, m, c->result);
	}
}
