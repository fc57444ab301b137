/* SPDX-License-Identifier: ISC */
/*
 * Which facts an agent is certain not to report, known before a run, and the
 * names of agents in messages.  An answer lists the facts that were reported.
 */
#include "agent/agent.h"

#include "agent/agent_internal.h"
#include "agent/proto/acp.h"
#include "json.h"
#include "suite/spec.h"

static const struct {
	const char *executor;
	const char *agent;	/* over ACP; NULL: any */
	unsigned untold;
} rows[] = {
	{ "acp", "claude", AGENT_TURNS },
	{ "acp", "codex", AGENT_TURNS },
	{ "acp", "copilot", AGENT_NAMES | AGENT_TURNS },
	{ "acp", "gemini", AGENT_ARGUMENTS | AGENT_TURNS },
	{ "acp", "opencode", AGENT_TURNS },
	{ "codex", NULL, AGENT_TURNS },
	{ "gemini", NULL, AGENT_TURNS },
};

/* The agent that the suite configures for executor acp, or "". */
static struct str
acp_name(struct arena *a, const struct spec_suite *s)
{
	struct acp_settings set = { .agent = { NULL, 0 } };

	acp_read(a, s, &set);
	return acp_agent(set.agent) != NULL ? set.agent : STR("");
}

unsigned
agent_untold(const struct spec_suite *s)
{
	const struct agent_kind *k = agent_find(s->config.executor);
	struct arena a = { 0 };
	struct str name = STR("");
	unsigned untold = 0;
	size_t i;

	if (k == NULL)
		return 0;
	if (k == &agent_acp)
		name = acp_name(&a, s);
	for (i = 0; i < COUNTOF(rows); i++)
		if (str_is(str_of(k->name), rows[i].executor) &&
		    (rows[i].agent == NULL || str_is(name, rows[i].agent)))
			untold = rows[i].untold;
	if (!agent_reports_calls(s))	/* plain text */
		untold = AGENT_TOKENS | AGENT_TURNS |
		    (json_first(s->mcp_mocks) == NULL ? AGENT_CALLS : 0U);
	arena_free(&a);
	return untold;
}

struct str
agent_label(struct arena *a, struct str executor, const struct spec_suite *s)
{
	struct str name;

	if (agent_find(executor) == &agent_replay)
		return STR("the recorded agent");
	if (agent_find(executor) != &agent_acp)
		return executor;
	name = acp_name(a, s);
	return name.n == 0 ? executor : arena_fmt(a, "%.*s over ACP",
	    STRF(name));
}
