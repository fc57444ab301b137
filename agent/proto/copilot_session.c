/* SPDX-License-Identifier: ISC */
/*
 * A session, from session.create to session.delete.
 *
 * Every job ends in copilot_finish(), after session.destroy if a session
 * exists: its session.shutdown contains the totals.  A timer bounds each wait
 * for an abort or an end; a process that misses it is replaced.
 */
#include "agent/proto/copilot.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/os.h"
#include "base/os_spawn.h"
#include "io/proc.h"
#include "json.h"
#include "suite/spec.h"

static struct loop *
loop_of(const struct copilot_session *s)
{
	return s->c->agent->procs->loop;
}

void
copilot_fail(struct copilot_session *s, enum answer_fault fault,
    const char *fmt, ...)
{
	va_list ap;

	if (s->job == NULL || s->job->ans.fault != ANSWER_OK)
		return;
	va_start(ap, fmt);
	agent_vfail(s->job, fault, fmt, ap);
	va_end(ap);
}

void
copilot_ask(struct copilot_session *s, const char *method, struct json_out *o,
    wire_answer_fn *fn)
{
	struct buf *b = o->ctx;

	json_close(o, '}');
	s->link->sender = s;
	wire_ask(&s->link->wire, method, buf_str(b), fn, s);
	s->link->sender = NULL;
	buf_free(b);
}

void
copilot_record_reply(struct copilot_session *s)
{
	const struct agent_request *r = s->job == NULL ? NULL : s->job->req;

	if (r != NULL && r->record != NULL && s->link->incoming.n > 0)
		r->record(r->record_arg, '<', mask_json(s->job->arena,
		    &s->c->set.secrets, s->link->incoming));
}

void
copilot_params(struct copilot_session *s, struct json_out *o, struct buf *b)
{
	*o = (struct json_out){ .put = buf_sink, .ctx = b };
	json_open(o, '{');
	json_put_member_cstr(o, "sessionId", s->id);
}

/* A request with no parameter but the session. */
void
copilot_ask_plain(struct copilot_session *s, const char *method,
    wire_answer_fn *fn)
{
	struct buf b = { 0 };
	struct json_out o;

	copilot_params(s, &o, &b);
	copilot_ask(s, method, &o, fn);
}

/* Without skills of the suite, disable all others, too. */
static void
put_skills(struct json_out *o, const struct copilot_session *s)
{
	const struct copilot_settings *set = &s->c->set;

	if (s->job->req->no_skills || set->no_skills) {
		json_put_member_bool(o, "enableSkills", false);
		return;
	}
	if (s->dirs.n > 0) {
		field_put_strs(o, "skillDirectories", &s->dirs);
		json_put_member_bool(o, "enableSkills", true);
	}
	if (set->disabled.n > 0)
		field_put_strs(o, "disabledSkills", &set->disabled);
}

static void
put_tools(struct json_out *o, const struct agent_request *r)
{
	size_t i;

	json_open_member(o, "tools", '[');
	for (i = 0; i < r->ntools; i++) {
		json_open(o, '{');
		json_put_member_str(o, "name", str_of(r->tools[i].name));
		json_put_member_str(o, "description", str_of(r->tools[i].help));
		json_put_member_raw(o, "parameters",
		    str_of(r->tools[i].schema));
		json_put_member_bool(o, "skipPermission", true);
		json_close(o, '}');
	}
	json_close(o, ']');
}

static void
put_system(struct json_out *o, const struct copilot_session *s)
{
	struct str text = s->job->req->sample > 0 ? s->c->set.judge_system :
	    s->c->set.system;

	text = agent_system(s->job->arena, s->job->req, text);
	if (text.n == 0)
		return;
	json_open_member(o, "systemMessage", '{');
	json_put_member_str(o, "mode", STR("append"));
	json_put_member_str(o, "content", text);
	json_close(o, '}');
}

static void
put_session(struct json_out *o, const struct copilot_session *s)
{
	const struct agent_request *r = s->job->req;
	const struct copilot_settings *set = &s->c->set;
	const struct spec_suite *suite = s->c->agent->suite;
	struct str model = r->model.n > 0 ? r->model : set->model;

	json_put_member_str(o, "clientName", STR("waza"));
	json_put_member_nonempty(o, "model", model);
	if (s->root != NULL)
		json_put_member_str(o, "workingDirectory", str_of(s->cwd));
	json_put_member_bool(o, "streaming", false);
	json_put_member_bool(o, "requestPermission", true);
	json_put_member_str(o, "envValueMode", STR("direct"));
	json_put_member_bool(o, "requestUserInput", false);
	json_put_member_bool(o, "requestElicitation", false);
	json_put_member_bool(o, "hooks", agent_policy(r) != NULL);
	if (agent_policy(r) != NULL)
		field_put_strs(o, "availableTools",
		    &agent_policy(r)->permitted);
	json_put_member_raw(o, "infiniteSessions", STR("{\"enabled\":false}"));
	if (set->provider.n > 0)
		json_put_member_raw(o, "provider", set->provider);
	json_put_member_nonempty(o, "reasoningEffort",
	    suite->config.reasoning_effort);
	if (agent_mcp_any(suite, r)) {
		json_put_key(o, STR("mcpServers"));
		agent_mcp_put(o, suite, r, AGENT_MCP_MAP);
	}
	put_skills(o, s);
	put_system(o, s);
	if (r->ntools > 0)
		put_tools(o, r);
}

void
copilot_unlink(struct copilot_session *s)
{
	struct copilot_link *l = s->link;

	timer_stop(loop_of(s), &s->timer);
	if (l == NULL)
		return;
	wire_forget(&l->wire, s);
	LIST_REMOVE(s);
	s->link = NULL;
	copilot_check_link(l);
}

static void
answer(struct copilot_session *s)
{
	struct agent_job *j = s->job;

	copilot_event_answer(s);
	s->job = NULL;
	s->phase = COPILOT_RESTING;
	agent_done(j);
}

void
copilot_finish(struct copilot_session *s)
{
	struct agent_job *j = s->job;

	if (j != NULL && j->ans.fault != ANSWER_OK && s->link != NULL)
		j->ans.stderr_tail = proc_tail_get(j->arena,
		    &s->link->wire.tail);
	copilot_unlink(s);
	if (j != NULL && s->conversation != NULL)
		s->conversation->state = NULL;
	if (j != NULL)
		answer(s);
}

/* It did not stop, or end, in time. */
static void
on_timeout(void *arg)
{
	struct copilot_session *s = arg;

	if (s->phase == COPILOT_STOPPING) {
		s->unresponsive = true;
		copilot_idle(s);
		return;
	}
	copilot_retire(s->link);
	copilot_finish(s);
}

static void
wait_at_most(struct copilot_session *s, int64_t ms)
{
	s->timer.fn = on_timeout;
	s->timer.arg = s;
	timer_start(loop_of(s), &s->timer, ms);
}

/* Whether it is a result; neither result nor error: the process ended. */
static bool
answered(struct copilot_session *s, const struct json *result,
    const struct json *error, const char *what)
{
	const struct json *msg = json_getc(error, "message");
	struct str why;

	if (result == NULL && error == NULL)
		return false;
	copilot_record_reply(s);
	if (error == NULL)
		return true;
	why = msg != NULL && msg->type == JSON_STRING ? mask_text(
	    s->job->arena, &s->c->set.secrets, json_text(msg)) :
	    STR("no reason given");
	copilot_fail(s, ANSWER_FAILED, "%s: %.*s", what, STRF(why));
	return false;
}

static void
on_destroyed(void *ctx, const struct json *result, const struct json *error)
{
	struct copilot_session *s = ctx;

	if (result == NULL && error == NULL)
		return;
	copilot_record_reply(s);
	copilot_delete(s);
	copilot_finish(s);
}

static void
destroy(struct copilot_session *s)
{
	s->phase = COPILOT_ENDING;
	wait_at_most(s, s->unresponsive ? COPILOT_LAST_MS :
	    COPILOT_PATIENCE_MS);
	copilot_ask_plain(s, "session.destroy", on_destroyed);
}

/* A conversation keeps its session for the next prompt. */
void
copilot_idle(struct copilot_session *s)
{
	timer_stop(loop_of(s), &s->timer);
	if (s->aborted)
		copilot_fail(s, ANSWER_FAILED, "the turn was aborted");
	else if (!s->cancelled && s->limit.n > 0 &&
	    s->job->ans.fault == ANSWER_OK)
		agent_fail_cut(s->job, s->limit);
	else if (!s->cancelled && s->text.n == 0 &&
	    s->job->ans.ncalls == 0 && !s->job->ans.usage.known)
		copilot_fail(s, ANSWER_FAILED, "the agent ended its turn "
		    "without an answer, a tool call or token usage");
	if (s->conversation != NULL && s->job->ans.fault == ANSWER_OK) {
		wire_forget(&s->link->wire, s);	/* pending replies */
		answer(s);
	} else
		destroy(s);
}

static void
on_sent(void *ctx, const struct json *result, const struct json *error)
{
	struct copilot_session *s = ctx;

	if (!answered(s, result, error, "session.send") && error != NULL &&
	    s->phase == COPILOT_RUNNING)
		copilot_idle(s);
}

void
copilot_send(struct copilot_session *s)
{
	struct buf b = { 0 };
	struct json_out o;

	s->phase = COPILOT_RUNNING;
	s->prompts++;
	copilot_params(s, &o, &b);
	json_put_member_str(&o, "prompt", s->job->req->prompt);
	copilot_ask(s, "session.send", &o, on_sent);
}

static void
on_created(void *ctx, const struct json *result, const struct json *error)
{
	struct copilot_session *s = ctx;

	if (answered(s, result, error, "session.create")) {
		timer_stop(loop_of(s), &s->timer);
		if (s->cancelled)
			copilot_idle(s);
		else
			copilot_send(s);
	} else if (error != NULL)
		copilot_finish(s);
}

void
copilot_create(struct copilot_session *s)
{
	struct buf b = { 0 };
	struct json_out o;

	s->phase = COPILOT_CREATING;
	copilot_params(s, &o, &b);
	put_session(&o, s);
	copilot_ask(s, "session.create", &o, on_created);
}

void
copilot_stop(struct copilot_session *s)
{
	switch (s->phase) {
	case COPILOT_WAITING:
		copilot_finish(s);
		break;
	case COPILOT_CREATING:
		wait_at_most(s, COPILOT_PATIENCE_MS);
		break;
	case COPILOT_RUNNING:
		s->phase = COPILOT_STOPPING;
		wait_at_most(s, COPILOT_PATIENCE_MS);
		copilot_ask_plain(s, "session.abort", NULL);
		break;
	case COPILOT_STOPPING:
	case COPILOT_ENDING:
	case COPILOT_RESTING:
		break;
	}
}
