/* SPDX-License-Identifier: ISC */
/* The table of executors, and the way to them. */
#include "agent/agent.h"

#include "agent/agent_internal.h"
#include "json.h"
#include "suite/spec.h"

static const struct agent_kind *const kinds[] = {	/* sorted by name */
	&agent_acp, &agent_claude, &agent_codex, &agent_command,
	&agent_copilot_cli, &agent_copilot, &agent_gemini, &agent_mock,
	&agent_openai, &agent_opencode, &agent_remote, &agent_replay,
};

const struct agent_kind *
agent_find(struct str name)
{
	size_t i;

	for (i = 0; i < COUNTOF(kinds); i++)
		if (str_is(name, kinds[i]->name) || (kinds[i]->alias != NULL &&
		    str_is(name, kinds[i]->alias)))
			return kinds[i];
	return NULL;
}

const struct agent_kind *
agent_nth(size_t i)
{
	return i < COUNTOF(kinds) ? kinds[i] : NULL;
}

static const char *
nearest(struct str name)
{
	size_t i;

	for (i = 0; i < COUNTOF(kinds); i++)
		if (str_similar(name, str_of(kinds[i]->name)))
			return kinds[i]->name;
	return NULL;
}

enum agent_skills
agent_skills(const struct agent_kind *k, const struct spec_suite *s)
{
	return k->skills == NULL ? AGENT_TELLS : k->skills(s);
}

static bool
wants_accuracy(const struct spec_suite *s)
{
	const struct spec_metric *m = s->metrics.v;
	size_t i;

	for (i = 0; i < s->metrics.n; i++)
		if (m[i].enabled && m[i].threshold > 0 &&
		    str_is(m[i].name, "trigger_accuracy"))
			return true;
	return false;
}

/* They would cost as much as ever, and say nothing. */
static void
check_triggers(const struct agent_kind *k, const struct spec_suite *s,
    struct spec_notes *notes)
{
	if (s->triggers != NULL && agent_skills(k, s) == AGENT_TELLS_NOT)
		spec_note(notes, FIELD_WARNING,
		    (struct spec_where){ s->triggers->file, 0, 0 },
		    "executor \"%s\" does not tell the skills it used: the "
		    "trigger tests are left out%s", k->name,
		    wants_accuracy(s) ? ", and the threshold of "
		    "trigger_accuracy does not count" : "");
}

/* An evaluation that nobody gets. */
static void
check_tools(const struct agent_kind *k, const struct spec_suite *s,
    struct spec_notes *notes)
{
	size_t i;

	if (k == &agent_remote || k == &agent_replay || notes->stored)
		return;
	for (i = 0; i < s->ntasks; i++)
		if (s->tasks[i].remote != NULL) {
			spec_note(notes, FIELD_WARNING, s->tasks[i].remote->at,
			    "\"tool\" has no effect: it is for executor "
			    "\"remote\", not \"%s\"", k->name);
			return;
		}
}

/* What is accepted is acted on, or else it is said. */
static void
check_taken(const struct agent_kind *k, const struct spec_suite *s,
    struct spec_notes *notes)
{
	const struct spec_config *c = &s->config;

	agent_mcp_check(s, notes);
	if (json_first(c->mcp_servers) != NULL && !k->mcp)
		spec_note(notes, FIELD_WARNING, spec_at(s->path,
		    c->mcp_servers), "\"mcp_servers\" has no effect with "
		    "executor \"%s\"", k->name);
	if (c->reasoning_effort.n > 0 && !k->effort)
		spec_note(notes, FIELD_WARNING, c->executor_at,
		    "\"reasoning_effort\" has no effect with executor "
		    "\"%s\"", k->name);
}

void
agent_check(const struct spec_suite *s, struct str name,
    struct spec_notes *notes)
{
	const struct agent_kind *k = agent_find(name);
	const char *near;

	if (k != NULL) {
		if (k->check != NULL)
			k->check(s, notes);
		agent_home_check(s, k->name, notes);
		check_triggers(k, s, notes);
		check_tools(k, s, notes);
		check_taken(k, s, notes);
		return;
	}
	near = nearest(name);
	if (near != NULL)
		spec_note(notes, FIELD_ERROR, s->config.executor_at,
		    "Invalid executor type: %.*s; did you mean \"%s\"?",
		    STRF(name), near);
	else
		spec_note(notes, FIELD_ERROR, s->config.executor_at,
		    "Invalid executor type: %.*s", STRF(name));
}

int
agent_open(struct agent *a, struct err *e)
{
	if (agent_home_read(a, e) == -1)
		return -1;
	return a->kind->open == NULL ? 0 : a->kind->open(a, e);
}

enum agent_status
agent_start(struct agent *a, struct agent_job *j)
{
	j->agent = a;
	j->ans = (struct answer){ .exit_status = -1 };
	return a->kind->start(a, j);
}

void
agent_cancel(struct agent *a, struct agent_job *j)
{
	if (a->kind->cancel != NULL)
		a->kind->cancel(a, j);
}

bool
agent_close(struct agent *a)
{
	return a->kind->close == NULL || a->kind->close(a);
}

bool
agent_remembers(const struct agent *a)
{
	return a->kind->hang_up != NULL;
}

bool
agent_talks(const struct agent *a, const struct agent_talk *t)
{
	return t->state != NULL && a->kind->hang_up != NULL &&
	    (a->kind->alive == NULL || a->kind->alive(t));
}

void
agent_hang_up(struct agent *a, struct agent_talk *t)
{
	if (a->kind->hang_up != NULL && t->state != NULL)
		a->kind->hang_up(a, t);
	t->state = NULL;
}

const char *
agent_cwd(const struct agent_request *r)
{
	return r->cwd != NULL ? r->cwd : r->workspace;
}

bool
agent_roams(const struct agent *a, const struct spec_task *t)
{
	return a->kind->needs_workspace == NULL ||
	    a->kind->needs_workspace(a->suite, t);
}
