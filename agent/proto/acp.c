/* SPDX-License-Identifier: ISC */
/*
 * Executor `acp`: a session with an agent.
 *
 *   state         event                      next state
 *   INITIALIZING  reply to initialize        LOGIN if a method is set; OPENING
 *   LOGIN         reply to authenticate      OPENING
 *   OPENING       session/new needs a login  LOGIN, if there is one method
 *   OPENING       a session                  SETTING, or PROMPTED
 *   SETTING       replies to mode and model  PROMPTED
 *   PROMPTED      session/update             (added to the turn)
 *   PROMPTED      reply to session/prompt    WAITING in a conversation; ENDING
 *   any           an error, or cancel        ENDING
 *   ENDING        the process ends           GONE; the job is done
 *   WAITING       the next prompt            PROMPTED
 *   WAITING       the conversation ends      GONE
 *
 * A job is done when its process has terminated, so that nothing writes to
 * the workspace while it is graded.  In a conversation, done() is called in the
 * next turn of the loop, since it may end the conversation and its wire.
 */
#include "agent/proto/acp.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent_internal.h"
#include "agent/agent_probe.h"
#include "base/os_path.h"
#include "io/proc.h"
#include "io/workspace.h"
#include "json.h"
#include "lib/http.h"
#include "suite/spec.h"

#define QUOTE_(x) #x
#define QUOTE(x) QUOTE_(x)

enum {
	NOT_FOUND = -32601,		/* JSON-RPC: no such method */
	LOGIN_NEEDED = -32000		/* ACP: authentication required */
};

/* Text of the agent without secrets. */
static struct str
masked(struct acp *x, struct str s)
{
	return mask_text(x->job->arena, &x->secrets, s);
}

/* The agent has nothing more to do. */
static void
end_process(struct acp *x)
{
	x->settled = true;
	x->state = ACP_ENDING;
	if (x->known != NULL && x->known->ignores_eof)
		wire_kill(&x->wire);
	else
		wire_end(&x->wire);
}

/* Makes the job's answer an error and ends the process. */
static void PRINTF(3, 4)
fail(struct acp *x, enum answer_fault fault, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (!x->settled)
		agent_vfail(x->job, fault, fmt, ap);
	va_end(ap);
	end_process(x);
}

/* The message of an error, with its details. */
static struct str
error_text(struct acp *x, const struct json *error)
{
	const struct json *data = json_getc(error, "data");
	struct str msg = json_str(error, "message");
	struct str more = json_str(data, "details");

	if (more.n == 0)
		more = json_str(data, "message");
	if (more.n == 0 && data != NULL && data->type == JSON_STRING)
		more = json_text(data);
	if (more.n == 0 || str_eq(more, msg))
		return msg.n > 0 ? masked(x, msg) :
		    STR("an error without a message");
	return arena_fmt(x->job->arena, "%.*s: %.*s", STRF(masked(x, msg)),
	    STRF(masked(x, more)));
}

static bool
wants_login(const struct json *error)
{
	const struct json *code = json_getc(error, "code");
	int64_t n;

	return json_int(code, &n) && n == LOGIN_NEEDED;
}

static void
fail_no_login(struct acp *x, const struct json *error)
{
	fail(x, ANSWER_UNUSABLE, "the agent needs a login (%.*s): log in "
	    "with its own program, or set auth_method%s%.*s",
	    STRF(error_text(x, error)), x->logins.n > 0 ?
	    " to one of: " : "", STRF(utf8_cut(x->logins, 200)));
}

static void
fail_error(struct acp *x, const char *what, const struct json *error)
{
	if (wants_login(error))
		fail_no_login(x, error);
	else
		fail(x, ANSWER_FAILED, "%s: %.*s", what,
		    STRF(error_text(x, error)));
}

bool
acp_is(const struct acp *x, const char *family)
{
	return str_is(x->family, family);
}

/* The agent's family, by its setting or by the name that it reports. */
static struct str
family_of(const struct acp *x)
{
	static const char *const words[] = { "claude", "codex", "copilot",
		"gemini", "opencode", "qwen", "goose", "cline" };
	size_t i, at, n;

	if (x->known != NULL)
		return str_of(x->known->name);
	for (i = 0; i < COUNTOF(words); i++) {
		n = strlen(words[i]);
		for (at = 0; at + n <= x->name.n; at++)
			if (http_same((struct str){ x->name.p + at, n },
			    words[i]))
				return str_of(words[i]);
	}
	return STR("");
}

static void
on_answered(void *arg)
{
	struct acp *x = arg;
	struct agent_job *j = x->job;

	x->job = NULL;
	agent_mask(j, &x->secrets);
	agent_done(j);
}

static void
keep_session(struct acp *x)
{
	x->state = ACP_WAITING;
	x->conversation->state = x;
	x->timer.fn = on_answered;
	timer_start(x->agent->procs->loop, &x->timer, 0);
}

static void
on_prompted(void *ctx, const struct json *result, const struct json *error)
{
	struct acp *x = ctx;
	struct str why;

	if ((result == NULL && error == NULL) || x->state != ACP_PROMPTED)
		return;			/* on_ended follows */
	timer_stop(x->agent->procs->loop, &x->timer);
	acp_turn_end(x, result);
	why = error == NULL ? acp_turn_fault(x, result) : STR("");
	if (x->cancelled)
		fail(x, ANSWER_CANCELLED, "cancelled");
	else if (error != NULL)
		fail_error(x, "the agent failed", error);
	else if (why.n > 0)
		fail(x, ANSWER_FAILED, "%.*s", STRF(why));
	else if (x->conversation != NULL)
		keep_session(x);
	else
		end_process(x);
	acp_turn_free(&x->turn);
}

/*
 * Requests, in their order.
 */
static void
ask(struct acp *x, const char *method, struct buf *params, wire_answer_fn *fn)
{
	wire_ask(&x->wire, method, buf_str(params), fn, x);
	buf_free(params);
}

/* An object with one member, to be followed by json_close(). */
static struct json_out
open_params(struct buf *b, const char *key, struct str value)
{
	struct json_out o = { .put = buf_sink, .ctx = b };

	json_open(&o, '{');
	json_put_member_str(&o, key, value);
	return o;
}

static void
prompt(struct acp *x)
{
	struct buf b = { 0 };
	struct json_out o = open_params(&b, "sessionId", x->session);

	json_open_member(&o, "prompt", '[');
	json_open(&o, '{');
	json_put_member_str(&o, "type", STR("text"));
	json_put_member_str(&o, "text", x->job->req->prompt);
	json_close(&o, '}');
	json_close(&o, ']');
	json_close(&o, '}');
	acp_turn_init(&x->turn);
	x->settled = false;
	x->state = ACP_PROMPTED;
	ask(x, "session/prompt", &b, on_prompted);
}

static void set_next(struct acp *);

static void
on_set(void *ctx, const struct json *result, const struct json *error)
{
	struct acp *x = ctx;

	if (x->state != ACP_SETTING || (result == NULL && error == NULL))
		return;
	if (error != NULL)
		fail(x, ANSWER_INFRA, "the agent refused the mode or "
		    "model: %.*s", STRF(error_text(x, error)));
	else
		set_next(x);
}

static void
set_next(struct acp *x)
{
	struct acp_ask *q = x->asks;

	x->state = ACP_SETTING;
	if (q == NULL) {
		prompt(x);
		return;
	}
	x->asks = q->next;
	wire_ask(&x->wire, q->method, q->params, on_set, x);
}

static void
on_opened(void *ctx, const struct json *result, const struct json *error);

/* Settings for Claude Code behind its adapter. */
static void
put_meta(struct acp *x, struct json_out *o)
{
	json_open_member(o, "_meta", '{');
	json_open_member(o, "claudeCode", '{');
	json_open_member(o, "options", '{');
	json_put_key(o, STR("settings"));
	json_put_raw(o, agent_hide_json(x->arena, AGENT_HIDE_CLAUDE,
	    x->job->req));
	json_close(o, '}');
	json_close(o, '}');
	json_close(o, '}');
}

static void
open_session(struct acp *x)
{
	struct buf b = { 0 };
	struct json_out o = open_params(&b, "cwd", str_of(x->cwd));

	json_put_key(&o, STR("mcpServers"));
	if (acp_mcp_flag(&x->set) == NULL)
		agent_mcp_put(&o, x->agent->suite, x->job->req,
		    AGENT_MCP_LIST);
	else
		json_put_raw(&o, STR("[]"));
	if (x->known != NULL && x->known->hide_meta &&
	    x->job->req->nhidden > 0)
		put_meta(x, &o);
	json_close(&o, '}');
	x->state = ACP_OPENING;
	ask(x, "session/new", &b, on_opened);
}

static void
on_login(void *ctx, const struct json *result, const struct json *error)
{
	struct acp *x = ctx;

	if (x->state != ACP_LOGIN || (result == NULL && error == NULL))
		return;
	if (error != NULL)
		fail(x, ANSWER_UNUSABLE, "the agent's login failed: %.*s "
		    "(methods: %.*s)",
		    STRF(error_text(x, error)),
		    STRF(utf8_cut(x->logins, 200)));
	else
		open_session(x);
}

static void
log_in(struct acp *x, struct str method)
{
	struct buf b = { 0 };
	struct json_out o = open_params(&b, "methodId", method);

	json_close(&o, '}');
	x->logged_in = true;
	x->state = ACP_LOGIN;
	ask(x, "authenticate", &b, on_login);
}

static void
on_opened(void *ctx, const struct json *result, const struct json *error)
{
	struct acp *x = ctx;
	struct str id = json_str(result, "sessionId");
	struct err e;

	if (x->state != ACP_OPENING || (result == NULL && error == NULL))
		return;
	if (error != NULL && wants_login(error) && !x->logged_in &&
	    x->login.n > 0)
		log_in(x, x->login);
	else if (error != NULL)
		fail_error(x, "the agent did not open a session", error);
	else if (id.n == 0)
		fail(x, ANSWER_FAILED, "the agent's session has no id");
	else {
		x->session = arena_str(x->arena, id);
		if (x->job->event != NULL)
			x->job->event(x->job->arg, AGENT_STEP,
			    STR("session ready"));
		if (acp_plan(x, result, &e) == -1)
			fail(x, ANSWER_INFRA, "%s", e.msg);
		else
			set_next(x);
	}
}

/* Lists them as "id (name), id (name)"; keeps the only one, if so. */
static void
take_logins(struct acp *x, const struct json *methods)
{
	const struct json *v;
	struct str id;

	for (v = json_first(methods); v != NULL && x->logins.n < 1000;
	    v = v->next) {
		id = json_str(v, "id");
		x->logins = arena_fmt(x->arena, "%.*s%s%.*s (%.*s)",
		    STRF(x->logins), x->logins.n > 0 ? ", " : "",
		    STRF(utf8_cut(id, 100)),
		    STRF(utf8_cut(json_str(v, "name"), 100)));
		x->login = json_count(methods) == 1 ?
		    arena_str(x->arena, id) : STR("");
	}
}

static void
on_initialized(void *ctx, const struct json *result, const struct json *error)
{
	struct acp *x = ctx;
	const struct json *version = json_getc(result, "protocolVersion");
	int64_t n = -1;

	if (x->state != ACP_INITIALIZING || (result == NULL && error == NULL))
		return;
	if (error != NULL) {
		fail_error(x, "the agent refused to initialize", error);
		return;
	}
	if (!json_int(version, &n) || n != ACP_VERSION) {
		fail(x, ANSWER_UNUSABLE, "the agent uses version %lld of the "
		    "Agent Client Protocol; waza supports %d", (long long)n,
		    ACP_VERSION);
		return;
	}
	x->name = arena_str(x->arena, json_str(json_getc(result, "agentInfo"),
	    "name"));
	x->family = family_of(x);
	take_logins(x, json_getc(result, "authMethods"));
	if (x->set.auth_method.n > 0)
		log_in(x, x->set.auth_method);
	else
		open_session(x);
}

/* We offer no files or terminal: every agent has its own. */
static void
initialize(struct acp *x)
{
	x->state = ACP_INITIALIZING;
	wire_ask(&x->wire, "initialize", STR("{\"protocolVersion\":1,"
	    "\"clientCapabilities\":{\"fs\":{\"readTextFile\":false,"
	    "\"writeTextFile\":false},\"terminal\":false},\"clientInfo\":{"
	    "\"name\":\"waza\",\"title\":\"waza\",\"version\":\""
	    QUOTE(WAZA_VERSION) "\"}}"), on_initialized, x);
}

/*
 * Messages from the agent.
 */
static void
on_notify(void *arg, struct str method, const struct json *params)
{
	struct acp *x = arg;

	if (x->state != ACP_PROMPTED || !str_is(method, "session/update") ||
	    !str_eq(json_str(params, "sessionId"), x->session))
		return;
	acp_turn_update(x, json_getc(params, "update"));
	if (!x->turn.full)
		return;
	acp_turn_end(x, NULL);
	acp_turn_free(&x->turn);
	fail(x, ANSWER_FAILED, "the agent sent more than %d MiB, or more than "
	    "%d tool calls, in a turn", ACP_TEXT_MAX >> 20, ACP_CALLS_MAX);
	wire_kill(&x->wire);
}

/* Answer every request, or the agent may wait forever. */
static void
on_request(void *arg, const struct json *id, struct str method,
    const struct json *params)
{
	struct acp *x = arg;
	char msg[128];

	if (str_is(method, "session/request_permission")) {
		acp_permit(x, id, params);
		return;
	}
	snprintf(msg, sizeof(msg), "Method not found: %.*s",
	    STRF(utf8_cut(method, 80)));
	wire_refuse(&x->wire, id, NOT_FOUND, msg);
}

static void
on_record(void *arg, char way, struct str message)
{
	struct acp *x = arg;
	struct arena a = { 0 };
	const struct agent_request *r;

	if (x->job == NULL || x->job->req->record == NULL)
		return;
	r = x->job->req;
	r->record(r->record_arg, way, mask_json(&a, &x->secrets, message));
	arena_free(&a);
}

/* The process ended before the answer. */
static void
judge_end(struct acp *x)
{
	const struct proc_result *res = &x->wire.proc.res;
	const char *when = x->state < ACP_PROMPTED ?
	    "before it was ready" : "during its turn";

	if (x->cancelled)
		fail(x, ANSWER_CANCELLED, "cancelled");
	else if (x->wire.broken)
		fail(x, ANSWER_FAILED, "the agent sent an invalid message, or "
		    "more than %d MiB at once", WIRE_MESSAGE_MAX >> 20);
	else if (x->wire.closed && res->cancelled)
		fail(x, ANSWER_FAILED, "the agent closed its output %s and "
		    "was ended", when);
	else if (res->signo != 0)
		fail(x, ANSWER_FAILED, "the agent was killed by signal %d %s",
		    res->signo, when);
	else
		fail(x, ANSWER_FAILED, "the agent exited %s: exit status %d",
		    when, res->status);
}

static void
on_ended(void *arg)
{
	struct acp *x = arg;
	struct agent_job *j = x->job;

	timer_stop(x->agent->procs->loop, &x->timer);
	if (j != NULL && x->state == ACP_WAITING) {	/* on_answered is due */
		x->state = ACP_GONE;
		timer_start(x->agent->procs->loop, &x->timer, 0);
		return;
	}
	if (j == NULL) {
		x->state = ACP_GONE;
		return;
	}
	if (!x->settled) {
		if (x->state == ACP_PROMPTED)
			acp_turn_end(x, NULL);
		judge_end(x);
	}
	acp_turn_free(&x->turn);
	j->ans.stderr_tail = proc_tail_get(j->arena, &x->wire.tail);
	if (!x->wire.proc.res.cancelled)
		j->ans.exit_status = x->wire.proc.res.status;
	x->state = ACP_GONE;
	x->job = NULL;
	if (x->conversation != NULL)
		x->conversation->state = NULL;
	agent_mask(j, &x->secrets);
	agent_done(j);
}

/*
 * The executor.
 */
static int
acp_open(struct agent *a, struct err *e)
{
	struct acp_settings *set = NEW(a->arena, struct acp_settings);

	(void)e;
	acp_read(a->arena, a->suite, set);
	a->state = set;
	return 0;
}

static struct acp *
make(struct agent *a, struct agent_job *j)
{
	const struct agent_request *r = j->req;
	struct arena *mem = r->conversation != NULL ?
	    r->conversation->arena : j->arena;
	const struct acp_settings *set = a->state;
	struct acp *x = NEW(mem, struct acp);

	*x = (struct acp){ .agent = a, .conversation = r->conversation,
		.arena = mem, .set = *set, .known = acp_agent(set->agent),
		.workspace = r->workspace, .home = r->home, .tmp = r->tmp,
		.cwd = os_absolute(mem, r->workspace != NULL ? agent_cwd(r) :
		    r->home != NULL ? r->home : workspace_tmp()),
		.timer = { .arg = x } };
	acp_turn_init(&x->turn);
	return x;
}

static int
launch(struct acp *x, struct err *e)
{
	const struct agent_request *r = x->job->req;
	struct wire_opts o = { .cwd = x->cwd, .notify = on_notify,
		.request = on_request, .ended = on_ended, .arg = x };
	struct arena *mem = x->job->arena;

	o.argv = acp_argv(mem, x->agent->suite, &x->set, r, e);
	o.env = o.argv == NULL ? NULL :
	    acp_env(mem, x->agent->suite, &x->set, r, e);
	if (o.env == NULL)
		return -1;
	o.env = agent_mocks_env(x->agent, mem, r, o.env);
	o.bounds = agent_bounds(x->agent, mem, r, o.env);
	mask_add_env(x->arena, &x->secrets, o.env);
	if (r->record != NULL)
		o.record = on_record;
	return wire_start(x->agent->procs, &x->wire, &o, e);
}

/* Another trial could start only a command that differs between trials. */
static enum agent_status
fail_launch(struct acp *x, const struct err *e)
{
	const struct agent_facts *f = agent_facts(x->set.agent);
	int sys = x->wire.proc.res.exec_errno;

	if ((sys != ENOENT && sys != EACCES) || x->set.command != NULL ||
	    f == NULL || access(x->cwd, X_OK) == -1)
		return agent_fail(x->job, ANSWER_INFRA, "%s", e->msg);
	return agent_fail(x->job, ANSWER_UNUSABLE, "%s is not installed "
	    "(%s): %s", f->name, e->msg, f->adapter != NULL ?
	    f->install_adapter : f->install);
}

static enum agent_status
acp_start(struct agent *a, struct agent_job *j)
{
	struct acp *x = j->req->conversation != NULL ?
	    j->req->conversation->state : NULL;
	struct err e = { 0 };

	if (x != NULL && x->state == ACP_GONE)
		return agent_fail(j, ANSWER_FAILED, "the agent exited between "
		    "two prompts: exit status %d", x->wire.proc.res.status);
	if (x != NULL) {
		x->job = j;
		j->state = x;
		prompt(x);
		return AGENT_LATER;
	}
	x = make(a, j);
	x->job = j;
	j->state = x;
	if (launch(x, &e) == -1)
		return fail_launch(x, &e);
	initialize(x);
	return AGENT_LATER;
}

static void
on_cancel_timeout(void *arg)
{
	struct acp *x = arg;

	wire_kill(&x->wire);
}

/* Ask it to stop first, so that its own children end with the turn. */
static void
acp_cancel(struct agent *a, struct agent_job *j)
{
	struct acp *x = j->state;
	struct buf b = { 0 };
	struct json_out o;

	if (x->state != ACP_PROMPTED || x->cancelled) {
		x->cancelled = true;
		if (x->state != ACP_WAITING && x->state != ACP_GONE)
			wire_kill(&x->wire);
		return;			/* on_answered is due */
	}
	x->cancelled = true;
	o = open_params(&b, "sessionId", x->session);
	json_close(&o, '}');
	wire_notify(&x->wire, "session/cancel", buf_str(&b));
	buf_free(&b);
	x->timer.fn = on_cancel_timeout;
	timer_start(a->procs->loop, &x->timer, ACP_CANCEL_MS);
}

static void
acp_conversation_end(struct agent *a, struct agent_conversation *t)
{
	struct acp *x = t->state;

	timer_stop(a->procs->loop, &x->timer);
	wire_fini(&x->wire);
	acp_turn_free(&x->turn);
	x->state = ACP_GONE;
}

static bool
acp_conversation_open(const struct agent_conversation *t)
{
	const struct acp *x = t->state;

	return x->state == ACP_WAITING;
}

/* An unknown agent may load skills without calling a tool. */
static enum agent_skills
acp_skills(const struct spec_suite *s, const struct spec_task *t)
{
	(void)s;
	(void)t;
	return AGENT_SKILLS_SOMETIMES;
}

const struct agent_kind agent_acp = {
	.name = "acp", .needs = AGENT_NEEDS_PROGRAM,
	.private_tmp = true, .takes_mcp = true, .takes_effort = true,
	.edits_only = "[\"read\",\"search\",\"think\",\"edit\",\"delete\","
	    "\"move\"]",
	.check = acp_check, .skills = acp_skills,
	.open = acp_open, .start = acp_start, .cancel = acp_cancel,
	.conversation_end = acp_conversation_end,
	.conversation_open = acp_conversation_open
};
