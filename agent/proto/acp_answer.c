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

/* Whether it can be the name of a tool: opencode's first title is. */
static bool
is_word(struct str s)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		if (!((s.p[i] >= 'a' && s.p[i] <= 'z') ||
		    (s.p[i] >= 'A' && s.p[i] <= 'Z') ||
		    (s.p[i] >= '0' && s.p[i] <= '9') || s.p[i] == '_' ||
		    s.p[i] == '-' || s.p[i] == '.'))
			return false;
	return s.n > 0;
}

/* Whether the title is the command, not the name of a known shell tool. */
static bool
is_command(const struct acp_call *c)
{
	struct answer_call probe = { .name = buf_str(&c->title) };
	struct arena tmp = { 0 };

	answer_classify(&tmp, &probe, STR(""));
	arena_free(&tmp);
	return str_is(buf_str(&c->kind), "execute") &&
	    probe.tool == ANSWER_OTHER;
}

/* Copilot's titles are prose: only that of a skill names the tool. */
static struct str
call_name(struct acp *x, const struct acp_call *c, bool *no_name)
{
	struct str name = name_in_id(c->id), title = buf_str(&c->title);

	if (c->name.n > 0)
		return own(x, &c->name);
	if (name.n > 0)
		return arena_str(x->job->arena, name);
	if (str_starts(title, STR("Using skill: ")))
		return STR("skill");
	if (is_word(title) && !acp_is(x, "copilot") && !is_command(c))
		return own(x, &c->title);
	*no_name = true;
	return c->kind.n > 0 ? own(x, &c->kind) : c->title.n > 0 ?
	    own(x, &c->title) : STR("tool");
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

/*
 * The last title of a command is the command, except Copilot's, which
 * describes it, and those that only name the tool.
 */
static struct str
titled_command(struct acp *x, const struct acp_call *c, struct str name)
{
	struct str s = buf_str(&c->label);

	if (!str_is(buf_str(&c->kind), "execute") || acp_is(x, "copilot") ||
	    str_eq(s, name) || str_is(s, "Terminal"))
		return STR("");
	return own(x, &c->label);
}

/*
 * The tool's name decides, else its kind.  Codex reports commands that only
 * read a file as reads of that file, without the command.
 */
static void
classify(struct acp *x, const struct acp_call *c, struct answer_call *to)
{
	struct arena *a = x->job->arena;
	enum answer_tool kind = answer_tool_by_kind(buf_str(&c->kind));

	answer_classify(a, to, x->family);
	if (to->tool == ANSWER_OTHER || (to->tool == ANSWER_SHELL &&
	    to->command.n == 0 && kind != ANSWER_OTHER)) {
		to->tool = kind;
		to->any_edit = kind == ANSWER_EDIT;
		answer_classify(a, to, x->family);
	}
	if (to->tool == ANSWER_SHELL && to->command.n == 0)
		to->command = answer_unwrap(a, titled_command(x, c, to->name));
	if (to->tool == ANSWER_SKILL && to->skill.n == 0)
		to->skill = arena_str(a, quoted_title(c));
	if (to->path.n == 0 && (to->tool == ANSWER_READ ||
	    to->tool == ANSWER_WRITE || to->tool == ANSWER_EDIT ||
	    to->tool == ANSWER_SEARCH))
		to->path = arena_str(a, c->path);
}

static struct str
call_result(struct acp *x, const struct acp_call *c)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	if (!c->has_terminal)
		return c->output.n > 0 ? own(x, &c->output) : STR("");
	json_put_str(&o, buf_str(&c->terminal));
	return arena_take(x->job->arena, &b);
}

/* Denied by us or by the agent.  A call that the agent completed was made. */
static bool
was_denied(struct acp *x, const struct acp_call *c,
    const struct answer_call *to)
{
	struct arena tmp = { 0 };
	bool own;

	if (c->status != ACP_FAILED)
		return c->denied && c->status != ACP_COMPLETED;
	own = agent_is_denial(x->family, arena_json(&tmp, to->result, NULL));
	arena_free(&tmp);
	return c->denied || own;
}

static void
take_calls(struct acp *x)
{
	struct answer *ans = &x->job->ans;
	struct answer_call **tail = &ans->calls, *to;
	const struct acp_call *c;

	for (c = x->turn.calls; c != NULL; c = c->next) {
		to = NEW(x->job->arena, struct answer_call);
		to->name = call_name(x, c, &to->no_name);
		to->more_paths = c->more_paths;
		to->no_arguments = c->input.n == 0;
		to->arguments = c->input.n > 0 ? own(x, &c->input) :
		    STR("{}");
		to->result = call_result(x, c);
		to->no_result = to->result.n == 0;
		to->success = c->status == ACP_COMPLETED ||
		    c->status == ACP_NO_STATUS;
		to->denied = was_denied(x, c, to);
		classify(x, c, to);
		*tail = to;
		tail = &to->next;
		ans->ncalls++;
	}
}

static void
take_skills(struct agent_job *j)
{
	const struct answer_call *c;

	for (c = j->ans.calls; c != NULL; c = c->next)
		if (c->tool == ANSWER_SKILL && c->success && c->skill.n > 0)
			agent_add_skill(j, c->skill);
}

static bool
number(const struct json *obj, const char *a, const char *b, int64_t *out)
{
	const struct json *v = json_getc(obj, a);

	if (v == NULL)
		v = json_getc(obj, b);
	if (json_int(v, out) && *out >= 0)
		return true;
	*out = 0;
	return false;
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

/* What an agent's counts mean; those of others are taken as the turn's. */
static const struct counting {
	const char *family;
	bool apart;		/* input does not include the cache */
	bool session;		/* counts since the session began */
	bool last;		/* counts of the last call of the model */
} countings[] = {
	{ .family = "claude", .apart = true },
	{ .family = "codex", .apart = true },
	{ .family = "copilot", .session = true },
	{ .family = "gemini" },
	{ .family = "opencode", .apart = true, .last = true },
};

static struct counting
counting_of(struct acp *x, const struct answer_usage *u, int64_t total)
{
	size_t i;

	for (i = 0; i < COUNTOF(countings); i++)
		if (acp_is(x, countings[i].family))
			return countings[i];
	/* the total shows whether the cache is a part of the input */
	return (struct counting){ .apart = total > add_near(u->input_tokens,
	    u->output_tokens) };
}

static void
take_counts(struct acp *x, const struct json *v)
{
	struct answer_usage *u = &x->job->ans.usage;
	struct counting how;
	int64_t total = 0;

	u->known = number(v, "inputTokens", "input_tokens", &u->input_tokens);
	u->known &= number(v, "outputTokens", "output_tokens",
	    &u->output_tokens);
	u->cached_known = number(v, "cachedReadTokens", "cachedInputTokens",
	    &u->cache_read_tokens);
	u->reasoning_known = number(v, "thoughtTokens",
	    "reasoningOutputTokens", &u->reasoning_tokens);
	number(v, "cachedWriteTokens", "cacheWriteInputTokens",
	    &u->cache_write_tokens);
	number(v, "totalTokens", "total_tokens", &total);
	how = counting_of(x, u, total);
	if (how.apart)
		u->input_tokens = add_near(u->input_tokens, add_near(
		    u->cache_read_tokens, u->cache_write_tokens));
	if (how.session && u->known) {
		subtract(&u->input_tokens, &x->before.input_tokens);
		subtract(&u->output_tokens, &x->before.output_tokens);
		subtract(&u->cache_read_tokens, &x->before.cache_read_tokens);
		subtract(&u->cache_write_tokens, &x->before.cache_write_tokens);
	}
	if (how.last && x->turn.ncalls > 0)	/* more than one call */
		*u = (struct answer_usage){ 0 };
}

/*
 * Not in the protocol, but most agents send it.  The cost is the session's,
 * with every agent.
 */
static void
take_usage(struct acp *x, const struct json *result)
{
	struct answer_usage *u = &x->job->ans.usage;
	const struct json *v = json_getc(result, "usage");

	if (v == NULL || v->type != JSON_OBJECT)
		v = json_getc(json_getc(json_getc(result, "_meta"), "quota"),
		    "token_count");
	if (v != NULL)
		take_counts(x, v);
	else if (x->turn.calls_usage.answers > 0)
		*u = x->turn.calls_usage;
	/* 0: it does not know the price */
	if (x->turn.has_cost && x->turn.cost > 0 &&
	    x->turn.cost >= x->before.cost) {
		u->cost = x->turn.cost - x->before.cost;
		u->cost_known = true;
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

/* Messages and calls in their order. */
static void
put_transcript(struct acp *x)
{
	struct agent_job *j = x->job;
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };
	const struct acp_call *from = x->turn.calls;
	const struct answer_call *c;
	size_t at = 0;

	json_open(&o, '[');
	for (c = j->ans.calls; c != NULL; c = c->next, from = from->next) {
		put_text(x, &o, at, from->at);
		at = from->at;
		put_call(&o, from, c);
	}
	put_text(x, &o, at, x->turn.text.n);
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

/*
 * Copilot reports errors of the model as text, without usage; Codex as text,
 * and sets the state of the thread.
 */
static bool
is_hidden_error(const struct acp *x, const struct json *result,
    struct str *error)
{
	const struct buf *b = &x->turn.text;

	*error = STR("");
	if (b->n > 0)
		*error = (struct str){ b->p + x->turn.last,
			b->n - x->turn.last };
	if (x->turn.failed && error->n == 0)
		*error = STR("system error, without a message");
	return x->turn.failed || (acp_is(x, "copilot") &&
	    !json_is_set(json_getc(result, "usage")) &&
	    str_starts(*error, STR("Error: ")));
}

/* No text, no call and no tokens: the model was not asked, or failed. */
static bool
is_empty(const struct answer *ans)
{
	return str_trim(ans->output).n == 0 && ans->ncalls == 0 &&
	    !ans->usage.known;
}

/* Words for the reasons of the protocol; others are quoted. */
static struct str
stop_words(struct acp *x, struct str reason)
{
	static const struct {
		const char *reason, *words;
	} stops[] = {
		{ "cancelled", "the agent cancelled its turn" },
		{ "max_tokens", "the agent stopped: it reached its "
		    "limit of tokens (max_tokens)" },
		{ "max_turn_requests", "the agent stopped: it reached "
		    "its limit of model requests in a turn" },
	};
	size_t i;

	for (i = 0; i < COUNTOF(stops); i++)
		if (str_is(reason, stops[i].reason))
			return str_of(stops[i].words);
	return arena_fmt(x->job->arena, "the agent stopped: %.*s",
	    STRF(reason.n > 0 ? mask_text(x->job->arena, &x->secrets, reason) :
	    STR("no reason given")));
}

/* A refusal is an answer, which graders judge. */
struct str
acp_turn_fault(struct acp *x, const struct json *result)
{
	struct arena *a = x->job->arena;
	struct str stop = json_str(result, "stopReason"), error;

	x->job->ans.refused = str_is(stop, "refusal");
	x->job->ans.truncated |= agent_is_limit(stop);
	if (x->turn.refused.n > 0)
		return arena_fmt(a, "the agent tried to leave the "
		    "workspace: %.*s", STRF(mask_text(a, &x->secrets,
		    x->turn.refused)));
	if (is_hidden_error(x, result, &error))
		return arena_fmt(a, "the agent failed: %.*s",
		    STRF(mask_text(a, &x->secrets, error)));
	if (x->job->ans.refused)
		return STR("");
	if (!str_is(stop, "end_turn"))
		return stop_words(x, stop);
	return is_empty(&x->job->ans) ? STR("the agent ended its turn without "
	    "an answer, a tool call or token usage") : STR("");
}
