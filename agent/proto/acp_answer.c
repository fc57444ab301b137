/* SPDX-License-Identifier: ISC */
/* Makes the answer from a turn. */
#include "agent/proto/acp.h"

#include <string.h>

#include "agent/agent_internal.h"
#include "json.h"

static struct str
own(struct acp *x, const struct buf *b)
{
	return arena_str(x->job->arena, buf_str(b));
}

/* Gemini sends the tool's name only in the id: tool__tool_123_0. */
static struct str
name_in_id(struct str id)
{
	size_t n;

	for (n = 1; 2 * n + 2 < id.n; n++)
		if (id.p[n] == '_' && id.p[n + 1] == '_' &&
		    id.p[2 * n + 2] == '_' &&
		    memcmp(id.p, id.p + n + 2, n) == 0)
			return (struct str){ id.p, n };
	return STR("");
}

static struct str
call_name(struct acp *x, const struct acp_call *c)
{
	struct str name = name_in_id(c->id);

	if (c->name.n == 0 && name.n > 0)
		return arena_str(x->job->arena, name);
	return c->name.n > 0 ? own(x, &c->name) : c->title.n > 0 ?
	    own(x, &c->title) : c->kind.n > 0 ? own(x, &c->kind) :
	    STR("tool");
}

/* The quoted start of the title: Gemini names a skill so. */
static struct str
quoted_title(const struct acp_call *c)
{
	struct str s = buf_str(&c->title);
	const char *end;

	if (s.n < 2 || s.p[0] != '"' ||
	    (end = memchr(s.p + 1, '"', s.n - 1)) == NULL)
		return STR("");
	return (struct str){ s.p + 1, (size_t)(end - s.p - 1) };
}

/* Some agents send no input, only a path or a title. */
static struct str
call_arguments(struct acp *x, const struct acp_call *c)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };
	bool skill = str_is(name_in_id(c->id), "activate_skill");
	struct str s = skill ? quoted_title(c) : c->path;

	if (c->input.n > 0)
		return own(x, &c->input);
	if (s.n == 0)
		return STR("{}");
	json_open(&o, '{');
	json_put_member_str(&o, skill ? "name" : "path", s);
	json_close(&o, '}');
	return arena_take(x->job->arena, &b);
}

static void
take_calls(struct acp *x)
{
	struct answer *ans = &x->job->ans;
	struct answer_call **tail = &ans->calls, *to;
	const struct acp_call *c;

	for (c = x->turn.calls; c != NULL; c = c->next) {
		to = NEW(x->job->arena, struct answer_call);
		to->name = call_name(x, c);
		to->arguments = call_arguments(x, c);
		to->result = c->output.n > 0 ? own(x, &c->output) : STR("");
		to->success = c->status == ACP_COMPLETED ||
		    c->status == ACP_NO_STATUS;
		*tail = to;
		tail = &to->next;
		ans->ncalls++;
	}
}

/* Whether the call loads a skill, and which. */
static bool
is_skill(struct arena *a, const struct answer_call *c, struct str *name)
{
	const struct json *v, *s;

	if (!str_is(c->name, "skill") && !str_is(c->name, "Skill") &&
	    !str_is(c->name, "activate_skill") &&
	    !str_starts(c->name, STR("Using skill: ")))	/* Copilot's title */
		return false;
	v = arena_json(a, c->arguments, NULL);
	s = json_getc(v, "skill");
	if (s == NULL)
		s = json_getc(v, "name");
	if (s == NULL || s->type != JSON_STRING || json_text(s).n == 0)
		return false;
	*name = json_text(s);
	return true;
}

static void
take_skills(struct agent_job *j)
{
	const struct answer_call *c;
	struct str name;

	for (c = j->ans.calls; c != NULL; c = c->next)
		if (is_skill(j->arena, c, &name))
			agent_add_skill(j, name);
}

static bool
number(const struct json *obj, const char *a, const char *b, int64_t *out)
{
	const struct json *v = json_getc(obj, a);

	if (v == NULL)
		v = json_getc(obj, b);
	return json_int(v, out) && *out >= 0;
}

/* Makes a total the difference to an earlier total, which is updated. */
static void
subtract(int64_t *n, int64_t *before)
{
	int64_t all = *n;

	if (all >= *before)
		*n = all - *before;
	*before = all;
}

/*
 * Not in the protocol, but most agents send it.  Copilot's counts are those of
 * the session, and so is every agent's cost; others' counts are the turn's,
 * opencode's the last model call's.
 */
static void
take_usage(struct acp *x, const struct json *result)
{
	struct answer_usage *u = &x->job->ans.usage;
	const struct json *v = json_getc(result, "usage");

	if (v == NULL || v->type != JSON_OBJECT)
		v = json_getc(json_getc(json_getc(result, "_meta"), "quota"),
		    "token_count");
	u->known = number(v, "inputTokens", "input_tokens", &u->input_tokens);
	u->known &= number(v, "outputTokens", "output_tokens",
	    &u->output_tokens);
	number(v, "cachedReadTokens", "cachedInputTokens",
	    &u->cache_read_tokens);
	number(v, "cachedWriteTokens", "cacheWriteInputTokens",
	    &u->cache_write_tokens);
	if (acp_is_copilot(x) && u->known) {
		subtract(&u->input_tokens, &x->before.input_tokens);
		subtract(&u->output_tokens, &x->before.output_tokens);
		subtract(&u->cache_read_tokens, &x->before.cache_read_tokens);
		subtract(&u->cache_write_tokens, &x->before.cache_write_tokens);
	}
	if (x->turn.has_cost && x->turn.cost >= x->before.cost) {
		u->cost = x->turn.cost - x->before.cost;
		x->before.cost = x->turn.cost;
	}
}

static void
put_text(struct acp *x, struct json_out *o, size_t from, size_t to)
{
	struct str s = buf_str(&x->turn.text);

	if (to == from)
		return;			/* p may be NULL */
	s.p += from;
	s.n = to - from;
	while (s.n > 0 && s.p[s.n - 1] == '\n')
		s.n--;			/* added between messages */
	if (s.n == 0)
		return;
	json_open(o, '{');
	json_put_member_cstr(o, "type", "assistant.message");
	json_put_member_str(o, "content", s);
	json_close(o, '}');
}

static void
put_call(struct json_out *o, const struct acp_call *from,
    const struct answer_call *c)
{
	json_open(o, '{');
	json_put_member_cstr(o, "type", "tool.execution_complete");
	json_put_member_str(o, "tool_call_id", from->id);
	json_put_member_str(o, "tool_name", c->name);
	if (from->title.n > 0)
		json_put_member_str(o, "title", buf_str(&from->title));
	if (from->kind.n > 0)
		json_put_member_str(o, "kind", buf_str(&from->kind));
	json_put_member_raw(o, "arguments", c->arguments);
	if (c->result.n > 0)
		json_put_member_raw(o, "tool_result", c->result);
	json_put_member_bool(o, "success", c->success);
	json_close(o, '}');
}

/*
 * Messages and calls in their order.  No agent reports the number of model
 * turns; we count one, and one for each text that follows calls.
 */
static void
put_transcript(struct acp *x)
{
	struct agent_job *j = x->job;
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };
	const struct acp_call *from = x->turn.calls;
	const struct answer_call *c;
	size_t at = 0;

	j->ans.usage.turns = 1;
	json_open(&o, '[');
	for (c = j->ans.calls; c != NULL; c = c->next, from = from->next) {
		if (from->at > at) {
			put_text(x, &o, at, from->at);
			j->ans.usage.turns += at > 0 || from != x->turn.calls;
		}
		at = from->at;
		put_call(&o, from, c);
	}
	put_text(x, &o, at, x->turn.text.n);
	j->ans.usage.turns += x->turn.text.n > at && x->turn.ncalls > 0;
	json_close(&o, ']');
	j->ans.transcript = arena_take(j->arena, &b);
}

void
acp_turn_end(struct acp *x, const struct json *result)
{
	struct answer *ans = &x->job->ans;

	ans->output = own(x, &x->turn.text);
	ans->session_id = arena_str(x->job->arena, x->session);
	ans->truncated = x->turn.full;
	take_calls(x);
	take_skills(x->job);
	take_usage(x, result);
	put_transcript(x);
}
