/* SPDX-License-Identifier: ISC */
/*
 * Executor `copilot-sdk`: the process and its sessions.
 *
 * New sessions go to `c->link`.  A link is retired when its process ends, does
 * not react, or is useless; the process of a retired link is terminated when
 * its last session has left.
 */
#include "agent/proto/copilot.h"

#include <errno.h>

#include "base/os.h"
#include "base/os_path.h"
#include "io/proc.h"
#include "json.h"
#include "suite/spec.h"

enum { METHOD_NOT_FOUND = -32601 };

/* We choose the id, since events may come before the reply to create. */
static void
make_id(struct copilot *c, char id[37])
{
	unsigned char r[16] = { 0 };
	struct err e;
	size_t i;

	c->serial++;
	if (os_random(r, sizeof(r), &e) == -1)
		for (i = 0; i < 4; i++)
			r[15 - i] = (unsigned char)(c->serial >> 8 * i);
	hex_uuid(id, r);
}

void
copilot_retire(struct copilot_link *l)
{
	if (l->c->link == l)
		l->c->link = NULL;
	if (l->running && l->sessions == NULL)
		wire_kill(&l->wire);
}

/* Without sessions, a process that is not ready may never become so. */
void
copilot_check_link(struct copilot_link *l)
{
	if (l->sessions == NULL && (l->c->link != l || !l->ready))
		copilot_retire(l);
}

static struct copilot_session *
find_session(struct copilot_link *l, const struct json *params)
{
	const struct json *id = json_getc(params, "sessionId");
	struct copilot_session *s;

	if (id == NULL || id->type != JSON_STRING)
		return NULL;
	for (s = l->sessions; s != NULL; s = s->next)
		if (str_is(json_text(id), s->id))
			return s;
	return NULL;
}

static void
on_notify(void *arg, struct str method, const struct json *params)
{
	struct copilot_link *l = arg;
	struct copilot_session *s = find_session(l, params);

	if (s == NULL || !str_is(method, "session.event"))
		return;
	copilot_record_reply(s);
	copilot_event(s, json_getc(params, "event"));
}

/* Hooks of a custom agent are the only requests that we expect. */
static void
on_request(void *arg, const struct json *id, struct str method,
    const struct json *params)
{
	struct copilot_link *l = arg;
	struct copilot_session *s = find_session(l, params);

	if (s != NULL && str_is(method, "hooks.invoke") && s->job != NULL &&
	    agent_policy(s->job->req) != NULL)
		copilot_hook(s, id, params);
	else
		wire_refuse(&l->wire, id, METHOD_NOT_FOUND,
		    "Method not found");
}

static void
on_record(void *arg, char way, struct str message)
{
	struct copilot_link *l = arg;
	const struct agent_request *r;
	struct copilot_session *s = l->sender;

	if (way == '<') {
		l->incoming = message;
		return;
	}
	r = s != NULL && s->job != NULL ? s->job->req : NULL;
	if (r != NULL && r->record != NULL)
		r->record(r->record_arg, way, mask_json(s->job->arena,
		    &l->c->set.secrets, message));
}

/* This process cannot serve the run, and another one could not either. */
static void
refuse(struct copilot_link *l, struct str why)
{
	struct copilot *c = l->c;

	c->refused = mask_text(c->agent->arena, &c->set.secrets, why);
	c->link = NULL;
	while (l->sessions != NULL) {
		copilot_fail(l->sessions, ANSWER_UNUSABLE, "%.*s",
		    STRF(c->refused));
		copilot_finish(l->sessions);
	}
	copilot_check_link(l);
}

static struct str
words(struct copilot_link *l, const char *before, const struct json *error)
{
	const struct json *msg = json_getc(error, "message");
	struct str s = msg != NULL && msg->type == JSON_STRING ?
	    mask_text(l->c->agent->arena, &l->c->set.secrets,
	    json_text(msg)) : STR("no reason given");

	return arena_fmt(l->c->agent->arena, "%s: %.*s", before, STRF(s));
}

static void
get_ready(struct copilot_link *l)
{
	struct copilot_session *s, *next;

	l->ready = true;
	for (s = l->sessions; s != NULL; s = next) {
		next = s->next;
		if (s->phase == COPILOT_WAITING)
			copilot_create(s);
	}
}

/* A CLI without this method reports missing logins when it is used. */
static void
on_auth(void *ctx, const struct json *result, const struct json *error)
{
	struct copilot_link *l = ctx;
	const struct json *in = json_getc(result, "isAuthenticated");

	if (result == NULL && error == NULL)
		return;
	if (in == NULL || in->type != JSON_BOOL || json_bool(in))
		get_ready(l);
	else
		refuse(l, STR("not logged in to Copilot: use `copilot login`, "
		    "GH_TOKEN or a provider; see waza-agents(7)"));
}

static void
check_version(struct copilot_link *l, const struct json *result)
{
	int64_t n;

	if (!json_int(json_getc(result, "protocolVersion"), &n))
		refuse(l, STR("the Copilot CLI is too old: update it (npm "
		    "install -g @github/copilot)"));
	else if (n != COPILOT_PROTOCOL)
		refuse(l, arena_fmt(l->c->agent->arena, "the Copilot CLI "
		    "speaks protocol %lld, not %d: update %s", (long long)n,
		    COPILOT_PROTOCOL, n < COPILOT_PROTOCOL ? "the CLI (npm "
		    "install -g @github/copilot)" :
		    "waza, or use an older CLI"));
	else if (l->c->set.provider.n > 0)
		get_ready(l);
	else
		wire_ask(&l->wire, "auth.getStatus", STR("{}"), on_auth, l);
}

static void
on_ping(void *ctx, const struct json *result, const struct json *error)
{
	struct copilot_link *l = ctx;

	if (result != NULL)
		check_version(l, result);
	else if (error != NULL)
		refuse(l, words(l, "the Copilot CLI does not answer ping",
		    error));
}

/* Older versions have no `connect`: `ping` returns their version. */
static void
on_connect(void *ctx, const struct json *result, const struct json *error)
{
	struct copilot_link *l = ctx;
	const struct json *code = json_getc(error, "code");
	const struct json *msg = json_getc(error, "message");
	int64_t n;

	if (result != NULL)
		check_version(l, result);
	else if (error == NULL)
		return;
	else if ((json_int(code, &n) &&
	    n == METHOD_NOT_FOUND) || (msg != NULL &&
	    str_starts(json_text(msg), STR("Unhandled method"))))
		wire_ask(&l->wire, "ping", STR("{}"), on_ping, l);
	else
		refuse(l, words(l, "the Copilot CLI refused to connect",
		    error));
}

static void
blame_end(struct copilot_link *l, struct copilot_session *s)
{
	const struct proc_result *r = &l->wire.proc.res;
	const char *when = l->ready ? "" : " before it was ready";
	enum answer_fault f = l->ready ? ANSWER_FAILED : ANSWER_INFRA;

	if (s->job == NULL)
		return;
	s->job->ans.exit_status = r->status;
	if (l->wire.broken)
		copilot_fail(s, f, "the Copilot CLI sent an invalid message");
	else if (l->wire.closed && r->cancelled)
		copilot_fail(s, f, "the Copilot CLI closed its output and was "
		    "ended");
	else if (r->signo != 0)
		copilot_fail(s, f, "the Copilot CLI was killed by signal "
		    "%d%s", r->signo, when);
	else
		copilot_fail(s, f, "the Copilot CLI exited with status %d%s",
		    r->status, when);
}

static void
on_ended(void *arg)
{
	struct copilot_link *l = arg;
	struct copilot *c = l->c;

	l->running = false;
	if (c->link == l)
		c->link = NULL;
	while (l->sessions != NULL) {
		blame_end(l, l->sessions);
		copilot_finish(l->sessions);
	}
	l->next = c->spare;
	c->spare = l;
	if (--c->links == 0 && c->closing) {
		timer_stop(c->agent->procs->loop, &c->timer);
		c->agent->closed(c->agent->arg);
	}
}

static int
start_link(struct copilot *c, const struct agent_job *j, struct err *e)
{
	struct wire_opts o = { .argv = c->set.argv,
		.env = agent_home_over(c->agent, c->set.env), .blocks = true,
		.notify = on_notify, .request = on_request, .ended = on_ended,
		.record = on_record };
	struct copilot_link *l = c->spare;

	o.env = agent_mocks_env(c->agent, c->agent->arena, NULL, o.env);
	o.bounds = agent_bounds(c->agent, j->arena, j->req, o.env);
	if (l != NULL)
		c->spare = l->next;
	else
		l = NEW(c->agent->arena, struct copilot_link);
	l->next = NULL;
	l->c = c;
	l->ready = false;
	l->sessions = l->sender = NULL;
	l->deleting = 0;
	o.arg = l;
	if (wire_start(c->agent->procs, &l->wire, &o, e) == -1) {
		l->next = c->spare;
		c->spare = l;
		return -1;
	}
	l->running = true;
	c->links++;
	c->link = l;
	wire_ask(&l->wire, "connect", STR("{}"), on_connect, l);
	return 0;
}

/* The next prompt of a conversation. */
static enum agent_status
continue_session(struct copilot_session *s, struct agent_job *j)
{
	s->job = j;
	j->state = s;
	copilot_event_reset(s);
	if (s->link == NULL)
		return agent_fail(j, ANSWER_FAILED,
		    "the Copilot CLI exited between two prompts");
	copilot_send(s);
	return AGENT_LATER;
}

static struct copilot_session *
new_session(struct copilot *c, struct agent_job *j)
{
	struct agent_conversation *conversation = j->req->conversation;
	struct arena *a = conversation != NULL ? conversation->arena : j->arena;
	struct copilot_session *s = NEW(a, struct copilot_session);

	s->c = c;
	s->conversation = conversation;
	s->job = j;
	s->phase = COPILOT_WAITING;
	if (j->req->workspace != NULL)
		s->root = os_absolute(a, j->req->workspace);
	if (s->root != NULL)
		s->cwd = os_absolute(a, agent_cwd(j->req));
	if (!j->req->no_skills)
		s->dirs = copilot_skills(a, c->agent->suite, j->req->task);
	make_id(c, s->id);
	copilot_event_reset(s);
	if (conversation != NULL)
		conversation->state = s;
	j->state = s;
	return s;
}

static enum agent_status
start(struct agent *a, struct agent_job *j)
{
	struct copilot *c = a->state;
	struct copilot_session *s;
	struct err e = { 0 };

	if (c->refused.n > 0)
		return agent_fail(j, ANSWER_UNUSABLE, "%.*s",
		    STRF(c->refused));
	if (j->req->conversation != NULL && j->req->conversation->state != NULL)
		return continue_session(j->req->conversation->state, j);
	if (c->link == NULL && start_link(c, j, &e) == -1)
		return agent_fail(j, e.sys == ENOENT || e.sys == EACCES ?
		    ANSWER_UNUSABLE : ANSWER_INFRA, "cannot start the Copilot "
		    "CLI: %s; install it (npm install -g @github/copilot), or "
		    "set cli_path or COPILOT_CLI_PATH", e.msg);
	s = new_session(c, j);
	s->link = c->link;
	LIST_PUSH(&c->link->sessions, s);
	if (c->link->ready)
		copilot_create(s);
	return AGENT_LATER;
}

static void
cancel(struct agent *a, struct agent_job *j)
{
	struct copilot_session *s = j->state;

	(void)a;
	copilot_fail(s, ANSWER_CANCELLED, "cancelled");
	s->cancelled = true;
	copilot_stop(s);
}

static void
end_link(void *arg)
{
	struct copilot *c = arg;

	if (c->link != NULL)
		wire_end(&c->link->wire);
}

static void
on_shutdown(void *ctx, const struct json *result, const struct json *error)
{
	struct copilot_link *l = ctx;

	(void)result;
	(void)error;
	wire_end(&l->wire);
}

/* Not before it has deleted its sessions. */
static void
shut_down(struct copilot_link *l)
{
	if (l->deleting == 0)
		wire_ask(&l->wire, "runtime.shutdown", STR("{}"), on_shutdown,
		    l);
}

static void
on_deleted(void *ctx, const struct json *result, const struct json *error)
{
	struct copilot_link *l = ctx;

	l->deleting--;
	if (l->c->closing && l->c->link == l && (result != NULL ||
	    error != NULL))
		shut_down(l);
}

void
copilot_delete(struct copilot_session *s)
{
	struct copilot_link *l = s->link;
	struct buf b = { 0 };
	struct json_out o;

	copilot_params(s, &o, &b);
	json_close(&o, '}');
	l->deleting++;
	l->sender = s;
	wire_ask(&l->wire, "session.delete", buf_str(&b), on_deleted, l);
	l->sender = NULL;
	buf_free(&b);
}

/* A session between prompts has no job that waits for its end. */
static void
end_conversation(struct agent *a, struct agent_conversation *t)
{
	struct copilot_session *s = t->state;

	(void)a;
	if (s->link == NULL)
		return;
	copilot_ask_plain(s, "session.destroy", NULL);
	copilot_delete(s);
	copilot_unlink(s);
}

static bool
is_open(const struct agent_conversation *t)
{
	const struct copilot_session *s = t->state;

	return s->link != NULL;
}

static int
open_copilot(struct agent *a, struct err *e)
{
	struct copilot *c = NEW(a->arena, struct copilot);

	c->agent = a;
	a->state = c;
	return copilot_read_settings(a->arena, a->suite, &c->set, e);
}

static bool
close_copilot(struct agent *a)
{
	struct copilot *c = a->state;

	if (c == NULL || c->links == 0)
		return true;
	c->closing = true;
	if (c->link == NULL)
		return false;
	c->timer = (struct timer){ .fn = end_link, .arg = c };
	timer_start(a->procs->loop, &c->timer, COPILOT_PATIENCE_MS);
	shut_down(c->link);
	return false;
}

const struct agent_kind agent_copilot = {
	.name = "copilot-sdk", .alias = "copilot",
	.needs = AGENT_NEEDS_PROGRAM, .offers_tools = true,
	.loads_skills = true, .private_tmp = true, .takes_system = true, .takes_mcp = true,
	.takes_effort = true, .shared_process = true,
	.edits_only = "[\"read\",\"write\"]", .check = copilot_check,
	.open = open_copilot, .start = start, .cancel = cancel,
	.conversation_end = end_conversation, .conversation_open = is_open,
	.close = close_copilot
};
