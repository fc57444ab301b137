/* SPDX-License-Identifier: ISC */
/*
 * The tools of a custom agent, enforced before they run.  Only executors whose
 * agent asks for permission can do that; the others leave it to the grader
 * agent_tools_implicit.
 *
 * A tool fits a name of the list as in that grader: the names are equal apart
 * from case, or both do the same.
 */
#include "agent/agent_internal.h"

#include "agent/proto/acp.h"
#include "results/answer.h"
#include "suite/spec.h"

const struct spec_agent *
agent_custom(const struct agent_request *r)
{
	return r->sample > 0 || r->no_skills || r->task == NULL ? NULL :
	    r->task->def->agent;
}

const struct spec_agent *
agent_policy(const struct agent_request *r)
{
	const struct spec_agent *a = agent_custom(r);

	return a != NULL && a->has_tools ? a : NULL;
}

bool
agent_enforces_tools(const struct agent_kind *k)
{
	return k == &agent_copilot || k == &agent_acp;
}

void
agent_policy_note(struct agent_job *j)
{
	const struct spec_agent *a = agent_custom(j->req);

	if (a != NULL && agent_enforces_tools(j->agent->kind))
		j->ans.tool_policy = !a->has_tools ? STR("unrestricted") :
		    a->tools.n == 0 ? STR("deny_all") : STR("allow_list");
}

static bool
fits(struct str declared, const struct answer_call *c)
{
	struct answer_name n = answer_name(declared);

	if (!c->no_name && answer_same_name(c->name, declared))
		return true;
	if (n.own && c->tool == n.tool)
		return true;
	return c->does != 0 ? (c->does & n.does) != 0 :
	    c->tool != ANSWER_OTHER && (answer_any(c->tool) & n.does) != 0;
}

bool
agent_policy_permits(struct agent_job *j, const struct answer_call *c)
{
	const struct spec_agent *a = agent_policy(j->req);
	struct field_strs *list = &j->ans.denied;
	struct str *v;
	size_t i;

	for (i = 0; a != NULL && i < a->permitted.n; i++)
		if (fits(a->permitted.v[i], c))
			return true;
	if (a == NULL)
		return true;
	if (field_has(list, c->name))
		return false;
	v = NEW_N(j->arena, struct str, list->n + 1);
	for (i = 0; i < list->n; i++)
		v[i] = list->v[i];
	v[list->n++] = arena_str(j->arena, utf8_cut(c->name, 200));
	list->v = v;
	return false;
}

struct str
agent_system(struct arena *a, const struct agent_request *r, struct str own)
{
	if (r->system.n == 0)
		return own;
	return own.n == 0 ? r->system : arena_fmt(a, "%.*s\n\n%.*s",
	    STRF(own), STRF(r->system));
}
