/* SPDX-License-Identifier: ISC */
/* The table of executors, and the way to them. */
#include "agent.h"

#include "agent_kind.h"
#include "spec.h"

static const struct agent_kind *const kinds[] = {	/* sorted by name */
	&agent_command, &agent_mock,
};

const struct agent_kind *
agent_find(struct str name)
{
	size_t i;

	for (i = 0; i < COUNTOF(kinds); i++)
		if (str_is(name, kinds[i]->name))
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

void
agent_check(const struct spec_suite *s, struct str name,
    struct spec_notes *notes)
{
	const struct agent_kind *k = agent_find(name);
	const char *near;

	if (k != NULL) {
		if (k->check != NULL)
			k->check(s, notes);
		return;
	}
	near = nearest(name);
	if (near != NULL)
		spec_note(notes, FIELD_ERROR, s->config.executor_at,
		    "unknown executor \"%.*s\"; did you mean \"%s\"?",
		    STRF(name), near);
	else
		spec_note(notes, FIELD_ERROR, s->config.executor_at,
		    "unknown executor \"%.*s\"", STRF(name));
}

int
agent_open(struct agent *a, struct err *e)
{
	return a->kind->open == NULL ? 0 : a->kind->open(a, e);
}

enum agent_status
agent_start(struct agent *a, struct agent_job *j)
{
	j->agent = a;
	j->ans = (struct agent_answer){ .exit_status = -1 };
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
agent_roams(const struct agent *a, const struct spec_task *t)
{
	return a->kind->roams == NULL || a->kind->roams(a->suite, t);
}
