/* SPDX-License-Identifier: ISC */
/*
 * Executor `mock`: no agent.  It echoes the prompt, in the exact words of
 * microsoft/waza's mock, since suites assert on them; or it plays a script: the
 * task's `mock`, merged over the suite's config.mock.
 */
#include "agent/agent_internal.h"

#include "io/loop.h"
#include "io/proc.h"
#include "json.h"
#include "lib/field.h"
#include "suite/spec.h"

struct mock {
	struct agent_job *job;
	struct agent_script script;
	struct timer delay;
	struct loop *loop;
};

/* Merges both scripts; mock_check() has reported wrong members. */
static void
read_script(struct arena *a, const struct spec_suite *s,
    const struct spec_task *t, struct agent_script *out)
{
	if (s->config.mock != NULL)
		agent_read_script(a, s->config.mock, out);
	if (t->def->mock != NULL)
		agent_read_script(a, t->def->mock, out);
}

static bool
has_files(const struct json *mock)
{
	return mock != NULL && json_getc(mock, "files") != NULL;
}

static bool
mock_needs_workspace(const struct spec_suite *s, const struct spec_task *t)
{
	return has_files(s->config.mock) || has_files(t->def->mock);
}

static void
check_items(const struct json *list, const char *key, const char *what,
    const char *file, struct spec_notes *notes)
{
	const struct json *v;

	for (v = json_first(list); v != NULL; v = v->next)
		if (json_getc(v, key) == NULL)
			spec_note(notes, FIELD_ERROR, spec_at(file, v),
			    "%s needs a \"%s\"", what, key);
}

static void
check_script(const struct json *mock, const char *file,
    struct spec_notes *notes)
{
	struct spec_source src = { notes, file };
	struct field_ctx ctx = { .arena = notes->arena, .flags = FIELD_LAX |
		(notes->strict ? (unsigned)FIELD_STRICT : 0),
		.report = spec_report, .ctx = &src, .path = "mock" };
	struct agent_script s = { 0 };

	if (mock == NULL)
		return;
	field_decode(&ctx, &agent_script_table, mock, &s);
	check_items(s.tool_calls, "name", "a tool call", file, notes);
	check_items(s.files, "path", "a file", file, notes);
}

static void
mock_check(const struct spec_suite *s, struct spec_notes *notes)
{
	size_t i;

	check_script(s->config.mock, s->path, notes);
	for (i = 0; i < s->ntasks; i++)
		check_script(s->tasks[i].def->mock, s->tasks[i].at.file, notes);
	for (i = 0; s->triggers != NULL && i < s->triggers->n; i++)
		check_script(s->triggers->v[i].task.def->mock,
		    s->triggers->file, notes);
}

/*
 * For a task: whether it has a script, which uses no skills but those that it
 * names; without one no agent runs.  Trigger tests count as reported
 * if the suite's script names skills, or if any prompt has a script.
 */
static enum agent_skills
mock_skills(const struct spec_suite *s, const struct spec_task *t)
{
	const struct json *script = t != NULL && t->def->mock != NULL ?
	    t->def->mock : s->config.mock;
	size_t i;

	if (t != NULL)
		return script == NULL ? AGENT_SKILLS_NEVER :
		    AGENT_SKILLS_REPORTED;
	if (s->config.mock != NULL &&
	    json_getc(s->config.mock, "skills") != NULL)
		return AGENT_SKILLS_REPORTED;
	for (i = 0; s->triggers != NULL && i < s->triggers->n; i++)
		if (s->triggers->v[i].task.def->mock != NULL)
			return AGENT_SKILLS_REPORTED;
	return AGENT_SKILLS_SIMULATED;
}

/* A judge's answer is empty: an echo would contain what it judges. */
static void
echo(struct agent_job *j)
{
	const struct agent_request *r = j->req;

	j->ans.output = STR("");
	if (r->sample > 0)
		return;
	if (r->nfiles > 0)
		j->ans.output = arena_fmt(j->arena,
		    "Mock response for: %.*s\nAnalyzed %zu file(s)",
		    STRF(r->prompt), r->nfiles);
	else
		j->ans.output = arena_fmt(j->arena, "Mock response for: %.*s",
		    STRF(r->prompt));
}

static void
play(struct mock *m)
{
	if (m->script.output.p == NULL && m->script.error.n == 0) {
		echo(m->job);
		m->script.output = m->job->ans.output;
	}
	m->job->ans.usage = answer_no_usage;
	agent_play(m->job, &m->script);
	m->job->ans.skills_known = true;
	/* what a script does not mention did not happen */
	m->job->ans.no_calls = false;
	m->job->ans.usage.known = m->job->ans.usage.turns_known = true;
	m->job->ans.usage.cached_known = true;
	m->job->ans.usage.reasoning_known = true;
	m->job->ans.usage.cost_known = true;
	if (m->script.files != NULL && m->job->ans.fault == ANSWER_OK)
		agent_write_files(m->job, m->script.files);
}

static void
on_delay(void *arg)
{
	struct mock *m = arg;

	play(m);
	agent_done(m->job);
}

static enum agent_status
mock_start(struct agent *a, struct agent_job *j)
{
	struct mock *m;

	if (a->suite->config.mock == NULL && j->req->task->def->mock == NULL) {
		echo(j);
		j->ans.usage = answer_no_usage;
		j->ans.echo = true;
		return AGENT_DONE;
	}
	m = NEW(j->arena, struct mock);
	j->state = m;
	m->job = j;
	read_script(j->arena, a->suite, j->req->task, &m->script);
	if (m->script.delay_ms == 0) {
		play(m);
		return AGENT_DONE;
	}
	m->loop = a->procs->loop;
	m->delay.fn = on_delay;
	m->delay.arg = m;
	timer_start(m->loop, &m->delay, m->script.delay_ms);
	return AGENT_LATER;
}

static void
mock_cancel(struct agent *a, struct agent_job *j)
{
	struct mock *m = j->state;

	(void)a;
	m->script = (struct agent_script){ 0 };
	agent_fail(j, ANSWER_CANCELLED, "cancelled");
	timer_stop(m->loop, &m->delay);
	agent_done(j);
}

const struct agent_kind agent_mock = {
	.name = "mock", .no_files = true, .scripted = true,
	.check = mock_check, .needs_workspace = mock_needs_workspace,
	.skills = mock_skills, .start = mock_start, .cancel = mock_cancel
};
