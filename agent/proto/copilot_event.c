/* SPDX-License-Identifier: ISC */
/*
 * The events of a session, and the answer that they make.
 *
 * The output consists of all messages of the main agent; deltas repeat parts of
 * them.  Events of subagents (with an agentId) count as work, but their text is
 * not part of the answer.  Unknown types are ignored: every release adds some.
 */
#include "agent/proto/copilot.h"

#include <string.h>

#include "io/wire.h"
#include "json.h"

static void
add_num(double *sum, const struct json *obj, const char *key)
{
	double d;

	if (json_double(json_getc(obj, key), &d) && d > 0)
		*sum += d;
}

static void
send_event(struct copilot_session *s, enum agent_event type, struct str detail)
{
	if (s->job->event != NULL)
		s->job->event(s->job->arg, type, mask_text(s->job->arena,
		    &s->c->set.secrets, detail));
}

/* Counts n more bytes; over the limit, the session fails and stops. */
static bool
keep(struct copilot_session *s, size_t n)
{
	if (s->job->ans.truncated)
		return false;
	s->kept += n;
	if (s->kept <= COPILOT_KEEP_MAX)
		return true;
	s->job->ans.truncated = true;
	copilot_fail(s, ANSWER_FAILED, "wrote more than %d MiB",
	    COPILOT_KEEP_MAX >> 20);
	copilot_stop(s);
	return false;
}

/* The value as JSON in the job's arena; empty over the limit. */
static struct str
json_of(struct copilot_session *s, const struct json *v)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	json_put(&o, v);
	if (keep(s, b.n))
		return arena_take(s->job->arena, &b);
	buf_free(&b);
	return STR("");
}

/* Begins an event of the transcript. */
static struct json_out
open_event(struct copilot_session *s, const char *type)
{
	struct json_out o = { .put = buf_sink, .ctx = &s->transcript };

	buf_putc(&s->transcript, s->transcript.n == 0 ? '[' : ',');
	json_open(&o, '{');
	json_put_member_cstr(&o, "type", type);
	return o;
}

static void
put_event(struct copilot_session *s, const char *type, const char *key,
    struct str text)
{
	struct json_out o = open_event(s, type);

	json_put_member_str(&o, key, text);
	json_close(&o, '}');
}

static void
on_message(struct copilot_session *s, const struct json *data)
{
	struct str text = json_str(data, "content");

	if (text.n == 0 || s->subagent || !keep(s, 2 * text.n))
		return;
	buf_put(&s->text, text);
	put_event(s, "assistant.message", "content", text);
	send_event(s, AGENT_TEXT, STR("answering"));
}

static void
on_delta(struct copilot_session *s, const struct json *data)
{
	(void)data;
	if (!s->subagent)
		send_event(s, AGENT_TEXT, STR("answering"));
}

static void
on_turn(struct copilot_session *s, const struct json *data)
{
	(void)data;
	send_event(s, AGENT_STEP, STR("working"));
}

/*
 * Input includes the cache, output includes reasoning.  A count that is missing
 * once is unknown in the sum.
 */
static void
add_tokens(struct answer_usage *u, const struct json *from)
{
	bool first = u->answers++ == 0;

	u->known = (first || u->known) && agent_is_count(from,
	    "inputTokens") && agent_is_count(from, "outputTokens");
	u->cached_known = (first || u->cached_known) &&
	    agent_is_count(from, "cacheReadTokens");
	u->reasoning_known = (first || u->reasoning_known) &&
	    agent_is_count(from, "reasoningTokens");
	agent_stream_add(&u->reasoning_tokens, from, "reasoningTokens");
	agent_stream_add(&u->input_tokens, from, "inputTokens");
	agent_stream_add(&u->output_tokens, from, "outputTokens");
	agent_stream_add(&u->cache_read_tokens, from, "cacheReadTokens");
	agent_stream_add(&u->cache_write_tokens, from, "cacheWriteTokens");
}

static void
on_usage(struct copilot_session *s, const struct json *data)
{
	struct answer_usage *u = &s->job->ans.usage;
	struct str stop = json_str(data, "finishReason");

	if (!s->subagent)
		s->limit = agent_is_limit(stop) ? arena_str(s->job->arena,
		    stop) : STR("");
	add_tokens(u, data);
	u->turns++;
	u->turns_known = true;
	add_num(&u->premium_requests, data, "cost");
	if (s->job->ans.model.n == 0)
		s->job->ans.model = arena_str(s->job->arena,
		    json_str(data, "model"));
}

/* The totals of all prompts: usable only if there was one prompt. */
static void
on_shutdown(struct copilot_session *s, const struct json *data)
{
	const struct json *metrics = json_getc(data, "modelMetrics"), *v;
	struct answer_usage u = { 0 };

	if (s->prompts != 1 || json_first(metrics) == NULL)
		return;
	u.turns = s->job->ans.usage.turns;
	u.turns_known = s->job->ans.usage.turns_known;
	for (v = json_first(metrics); v != NULL; v = v->next)
		add_tokens(&u, json_getc(v, "usage"));
	add_num(&u.premium_requests, data, "totalPremiumRequests");
	s->job->ans.usage = u;
}

static struct copilot_call **
bucket(struct copilot_session *s, struct str id)
{
	uint64_t hash = str_hash(id);

	return &s->calls[(hash ^ hash >> 32) & (COPILOT_BUCKETS - 1)];
}

static struct copilot_call *
find_call(struct copilot_session *s, struct str id)
{
	struct copilot_call *c;

	for (c = *bucket(s, id); c != NULL; c = c->next)
		if (str_eq(c->id, id))
			return c;
	return NULL;
}

static struct copilot_call *
add_call(struct copilot_session *s, const struct json *data)
{
	struct agent_job *j = s->job;
	struct str name = json_str(data, "toolName");
	struct str id = json_str(data, "toolCallId"), args;
	const struct json *v = json_getc(data, "arguments");
	struct copilot_call *c;
	struct json_out o;

	args = v != NULL ? json_of(s, v) : STR("{}");
	if (!keep(s, 2 * (name.n + id.n) + args.n + sizeof(*c)))
		return NULL;
	if (j->ans.ncalls == COPILOT_CALLS_MAX) {
		copilot_fail(s, ANSWER_FAILED, "more than %d tool calls",
		    COPILOT_CALLS_MAX);
		copilot_stop(s);
		return NULL;
	}
	c = NEW(j->arena, struct copilot_call);
	c->id = arena_str(j->arena, id);
	c->call.name = arena_str(j->arena, name);
	c->call.arguments = args;
	c->call.no_arguments = v == NULL;
	c->next = *bucket(s, id);
	*bucket(s, id) = c;
	*s->tail = &c->call;
	s->tail = &c->call.next;
	j->ans.ncalls++;
	o = open_event(s, "tool.execution_start");
	json_put_member_str(&o, "tool_call_id", id);
	json_put_member_str(&o, "tool_name", name);
	json_put_member_raw(&o, "arguments", args);
	json_close(&o, '}');
	return c;
}

/* report_intent tells the user what comes next: not a real call. */
static void
hide_call(struct copilot_session *s, struct str id)
{
	struct copilot_call *c;

	if (!keep(s, id.n + sizeof(*c)))
		return;
	c = NEW(s->job->arena, struct copilot_call);
	c->id = arena_str(s->job->arena, id);
	c->hidden = true;
	c->next = *bucket(s, id);
	*bucket(s, id) = c;
}

static void
on_tool(struct copilot_session *s, const struct json *data)
{
	const struct copilot_call *c;

	if (find_call(s, json_str(data, "toolCallId")) != NULL)
		return;
	if (str_is(json_str(data, "toolName"), "report_intent")) {
		hide_call(s, json_str(data, "toolCallId"));
		return;
	}
	c = add_call(s, data);
	if (c != NULL)
		send_event(s, AGENT_TOOL, c->call.name);
}

static void
on_tool_end(struct copilot_session *s, const struct json *data)
{
	struct copilot_call *c = find_call(s, json_str(data, "toolCallId"));
	const struct json *result = json_getc(data, "result");
	const struct json *v = json_getc(result, "content");
	struct json_out o;

	if (c == NULL)		/* its start was missed */
		s->job->ans.no_calls = true;
	if (c == NULL || c->hidden || c->call.result.n > 0)
		return;
	c->call.success = agent_is_true(data, "success");
	if (!c->call.success && json_getc(data, "error") != NULL) {
		result = json_getc(data, "error");
		if (agent_is_denial(STR("copilot"), result))
			c->call.denied = true;
		v = json_getc(result, "message");
	}
	v = v != NULL ? v : result;
	if (v != NULL)
		c->call.result = json_of(s, v);
	if (!keep(s, c->call.result.n + c->id.n + c->call.name.n))
		return;
	o = open_event(s, "tool.execution_complete");
	json_put_member_str(&o, "tool_call_id", c->id);
	json_put_member_str(&o, "tool_name", c->call.name);
	if (c->call.result.n > 0)
		json_put_member_raw(&o, "tool_result", c->call.result);
	json_put_member_bool(&o, "success", c->call.success);
	json_close(&o, '}');
}

static void
on_skill(struct copilot_session *s, const struct json *data)
{
	struct str name = json_str(data, "name");

	if (name.n == 0 || !keep(s, 2 * name.n + sizeof(name)))
		return;
	agent_add_skill(s->job, name);
	put_event(s, "skill.invoked", "name", name);
	send_event(s, AGENT_STEP, STR("using a skill"));
}

/* Errors of the provider or account, not of the agent. */
static bool
is_infra(struct str type, int64_t status, struct str why)
{
	static const char login[] = "No GitHub OAuth token";
	size_t i, n = sizeof(login) - 1;

	for (i = 0; i + n <= why.n; i++)
		if (memcmp(why.p + i, login, n) == 0)
			return true;
	return str_is(type, "rate_limit") || str_is(type, "authentication") ||
	    str_is(type, "quota") || status == 401 || status == 403 ||
	    status == 429 || status >= 500;
}

static void
on_error(struct copilot_session *s, const struct json *data)
{
	struct str why = mask_text(s->job->arena, &s->c->set.secrets,
	    json_str(data, "message"));
	struct str type = json_str(data, "errorType");
	int64_t status = 0;

	if (s->subagent)
		return;
	agent_stream_add(&status, data, "statusCode");
	why = arena_head(s->job->arena, why, REASON_MAX);
	type = utf8_cut(type, 40);
	if (keep(s, why.n))
		put_event(s, "session.error", "message", why);
	copilot_fail(s, is_infra(type, status, why) ? ANSWER_INFRA :
	    ANSWER_FAILED, "%.*s%s%.*s", STRF(type),
	    type.n > 0 ? ": " : "", STRF(why));
}

static void
on_abort(struct copilot_session *s, const struct json *data)
{
	(void)data;
	s->aborted = s->aborted || !s->subagent;
}

static void
on_idle(struct copilot_session *s, const struct json *data)
{
	if (s->subagent)
		return;
	s->aborted = s->aborted || agent_is_true(data, "aborted");
	if (s->phase == COPILOT_RUNNING || s->phase == COPILOT_STOPPING)
		copilot_idle(s);
}

/* Begins the request that answers an event; the result follows. */
static void
open_reply(struct copilot_session *s, const struct json *data,
    struct json_out *o, struct buf *b)
{
	copilot_params(s, o, b);
	json_put_member_str(o, "requestId", json_str(data, "requestId"));
	json_put_key(o, STR("result"));
}

/*
 * All releases accept "approve-once".  A refusal is "user-not-available", since
 * "reject" would end the turn.
 */
static void
on_permission(struct copilot_session *s, const struct json *data)
{
	struct copilot_call *c;
	struct buf b = { 0 };
	struct json_out o;
	bool allow;

	if (agent_is_true(data, "resolvedByHook"))
		return;
	c = find_call(s, json_str(json_getc(data, "permissionRequest"),
	    "toolCallId"));
	allow = copilot_permits(s, data, c != NULL ? &c->call : NULL);
	if (c != NULL && !allow)
		c->call.denied = true;
	open_reply(s, data, &o, &b);
	json_open(&o, '{');
	json_put_member_cstr(&o, "kind", allow ? "approve-once" :
	    "user-not-available");
	json_close(&o, '}');
	copilot_ask(s, "session.permissions.handlePendingPermissionRequest",
	    &o, NULL);
}

/* A call of a tool that we offer: we only record it. */
static void
on_external(struct copilot_session *s, const struct json *data)
{
	struct copilot_call *c = find_call(s, json_str(data, "toolCallId"));
	struct buf b = { 0 };
	struct json_out o;

	if (c == NULL)
		c = add_call(s, data);
	if (c != NULL)
		c->call.success = true;
	open_reply(s, data, &o, &b);
	json_put_cstr(&o, "recorded");
	copilot_ask(s, "session.tools.handlePendingToolCall", &o, NULL);
}

static const struct {
	const char *type;
	void (*fn)(struct copilot_session *, const struct json *data);
} events[] = {				/* sorted by type */
	{ "abort", on_abort },
	{ "assistant.message", on_message },
	{ "assistant.message_delta", on_delta },
	{ "assistant.turn_start", on_turn },
	{ "assistant.usage", on_usage },
	{ "external_tool.requested", on_external },
	{ "permission.requested", on_permission },
	{ "session.error", on_error },
	{ "session.idle", on_idle },
	{ "session.shutdown", on_shutdown },
	{ "skill.invoked", on_skill },
	{ "tool.execution_complete", on_tool_end },
	{ "tool.execution_start", on_tool },
};

void
copilot_event(struct copilot_session *s, const struct json *event)
{
	struct str type = json_str(event, "type");
	const struct json *agent = json_getc(event, "agentId");
	size_t i;

	for (i = 0; i < COUNTOF(events); i++)
		if (str_is(type, events[i].type))
			break;
	if (i == COUNTOF(events))
		return;
	s->subagent = json_is_set(agent);
	/* between prompts, answer only permission requests: it would wait */
	if (s->job != NULL || events[i].fn == on_permission)
		events[i].fn(s, json_getc(event, "data"));
}

void
copilot_event_reset(struct copilot_session *s)
{
	s->cancelled = s->aborted = s->unresponsive = false;
	s->limit = STR("");
	s->kept = 0;
	memset(s->calls, 0, sizeof(s->calls));
	s->tail = &s->job->ans.calls;
}

void
copilot_event_answer(struct copilot_session *s)
{
	struct arena *a = s->job->arena;
	struct answer *ans = &s->job->ans;
	struct answer_call *c;

	for (c = ans->calls; c != NULL; c = c->next) {
		c->denied = c->denied && !c->success;
		c->no_result = c->result.n == 0;
		answer_classify(a, c, STR("copilot"));
	}
	ans->output = arena_take(a, &s->text);
	if (s->transcript.n > 0) {
		buf_putc(&s->transcript, ']');
		ans->transcript = arena_take(a, &s->transcript);
	}
	ans->session_id = arena_str(a, str_of(s->id));
	agent_mask(s->job, &s->c->set.secrets);
}
