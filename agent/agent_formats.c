/* SPDX-License-Identifier: ISC */
/*
 * The output formats of Claude Code, Codex, Copilot CLI, Gemini CLI, opencode,
 * Qwen Code, and our own.  Unknown events are ignored: every release adds some.
 *
 * All counts have one meaning: input tokens include those from and to the
 * cache, output tokens include reasoning, turns are calls of the model.
 */
#include "agent/agent_internal.h"

#include "json.h"

static void
add_cost(struct agent_stream *s, const struct json *obj, const char *key)
{
	struct answer_usage *u = &s->job->ans.usage;
	double d;

	if (!json_double(json_getc(obj, key), &d) || d <= 0)
		return;			/* 0: it does not know the price */
	u->cost += d;
	u->cost_known = true;
}

/* The names of token counts in an object; NULL: it has no such count. */
struct names {
	const char *input, *output, *cache_read, *cache_write, *reasoning;
	bool apart;		/* input does not include the cache */
	bool over;		/* output does not include reasoning */
};

/* False, and nothing is added, if it is not a count. */
static bool
add_count(int64_t *sum, const struct json *obj, const char *key)
{
	if (key == NULL || !agent_is_count(obj, key))
		return false;
	agent_stream_add(sum, obj, key);
	return true;
}

/* A count that is missing in one of the objects is unknown in the sum. */
static void
add_tokens(struct answer_usage *u, const struct json *obj,
    const struct names *names)
{
	struct answer_usage one = { 0 };
	bool in = add_count(&one.input_tokens, obj, names->input);
	bool out = add_count(&one.output_tokens, obj, names->output);
	bool first = u->answers++ == 0;

	u->known = in && out && (first || u->known);
	u->cached_known = add_count(&one.cache_read_tokens, obj,
	    names->cache_read) && (first || u->cached_known);
	u->reasoning_known = add_count(&one.reasoning_tokens, obj,
	    names->reasoning) && (first || u->reasoning_known);
	(void)add_count(&one.cache_write_tokens, obj, names->cache_write);
	if (names->apart)
		one.input_tokens += one.cache_read_tokens +
		    one.cache_write_tokens;
	if (names->over)
		one.output_tokens += one.reasoning_tokens;
	u->input_tokens = add_near(u->input_tokens, one.input_tokens);
	u->output_tokens = add_near(u->output_tokens, one.output_tokens);
	u->reasoning_tokens = add_near(u->reasoning_tokens,
	    one.reasoning_tokens);
	u->cache_read_tokens = add_near(u->cache_read_tokens,
	    one.cache_read_tokens);
	u->cache_write_tokens = add_near(u->cache_write_tokens,
	    one.cache_write_tokens);
}

static void
set_model(struct agent_stream *s, struct str model)
{
	if (model.n > 0 && s->job->ans.model.n == 0)
		s->job->ans.model = arena_str(s->job->arena, model);
}

static void
set_session(struct agent_stream *s, const struct json *obj, const char *key)
{
	struct str id = json_str(obj, key);

	if (id.n > 0 && s->job->ans.session_id.n == 0)
		s->job->ans.session_id = arena_str(s->job->arena, id);
}

/*
 * Claude Code: --output-format stream-json --verbose; json is its last line.
 */
static void
claude_content(struct agent_stream *s, const struct json *list)
{
	const struct json *v;
	struct str type;

	for (v = json_first(list); v != NULL; v = v->next) {
		type = json_str(v, "type");
		if (str_is(type, "text")) {
			agent_stream_text(s, json_str(v, "text"));
		} else if (str_is(type, "tool_use")) {
			agent_stream_restart(s); /* it follows the last call */
			agent_stream_call(s, json_str(v, "id"),
			    json_str(v, "name"), json_getc(v, "input"));
		} else if (str_is(type, "tool_result")) {
			agent_stream_result(s, agent_stream_find(s,
			    json_str(v, "tool_use_id")), json_getc(v,
			    "content"), !agent_is_true(v, "is_error"));
		}
	}
}

/*
 * A call of the model is a message, on one or more lines.  Lines of subagents
 * are mixed with the others: then nobody can count them.
 */
static void
claude_message(struct agent_stream *s, const struct json *v)
{
	struct answer_usage *u = &s->job->ans.usage;
	const struct json *m = json_getc(v, "message");
	struct str id = json_str(m, "id"), model = json_str(m, "model");

	if (json_is_set(json_getc(v, "parent_tool_use_id")))
		s->mixed = true;
	if (id.n == 0 || str_is(model, "<synthetic>") ||
	    str_eq(id, s->message))
		return;
	s->message = arena_str(s->job->arena, id);
	set_model(s, model);
	u->turns++;
	u->turns_known = true;
}

static void
claude_result(struct agent_stream *s, const struct json *v,
    const struct names *names)
{
	struct answer_usage *u = &s->job->ans.usage;
	const struct json *d;
	struct answer_call *c;

	for (d = json_first(json_getc(v, "permission_denials")); d != NULL;
	    d = d->next)
		if ((c = agent_stream_find(s, json_str(d, "tool_use_id"))) !=
		    NULL)
			c->denied = true;
	s->summary = s->message.n == 0 && s->job->ans.ncalls == 0;
	s->ended = true;
	if (s->mixed)
		u->turns_known = false;
	if (json_is_set(json_getc(v, "usage")))
		add_tokens(u, json_getc(v, "usage"), names);
	add_cost(s, v, "total_cost_usd");
	s->job->ans.refused = str_is(json_str(v, "stop_reason"), "refusal");
	agent_stream_stop(s, json_str(v, "stop_reason"));
	if (agent_is_true(v, "is_error") ||
	    !str_is(json_str(v, "subtype"), "success"))
		agent_stream_fail(s, json_str(v, "result").n > 0 ?
		    json_str(v, "result") : json_str(v, "subtype"));
	else
		agent_stream_settle(s, json_str(v, "result"));
}

static void
read_claude(struct agent_stream *s, const struct json *v,
    const struct names *names)
{
	struct str type = json_str(v, "type");

	set_session(s, v, "session_id");
	if (str_is(type, "assistant"))
		claude_message(s, v);
	if (str_is(type, "assistant") || str_is(type, "user"))
		claude_content(s, json_getc(json_getc(v, "message"),
		    "content"));
	else if (str_is(type, "result"))
		claude_result(s, v, names);
}

void
agent_read_claude(struct agent_stream *s, const struct json *v)
{
	static const struct names names = { .input = "input_tokens",
		.output = "output_tokens", .apart = true,
		.cache_read = "cache_read_input_tokens",
		.cache_write = "cache_creation_input_tokens" };

	read_claude(s, v, &names);
}

/*
 * Qwen Code: the same events, but its input tokens include the cache.
 */
void
agent_read_qwen(struct agent_stream *s, const struct json *v)
{
	static const struct names names = { .input = "input_tokens",
		.output = "output_tokens",
		.cache_read = "cache_read_input_tokens",
		.cache_write = "cache_creation_input_tokens" };
	const struct json *m = json_getc(v, "message");
	struct str text = json_str(json_first(json_getc(m, "content")),
	    "text");
	int64_t n;

	read_claude(s, v, &names);
	/* an error of the model is the text of a message without tokens */
	if (str_is(json_str(v, "type"), "assistant") &&
	    str_starts(text, STR("[API Error: ")) &&
	    json_int(json_getc(json_getc(m, "usage"), "output_tokens"), &n) &&
	    n == 0)
		agent_stream_fail(s, text);
}

/*
 * Codex: exec --json.
 */
static bool
codex_succeeded(const struct json *item)
{
	struct str status = json_str(item, "status");

	return !str_is(status, "failed") && !str_is(status, "declined");
}

static void
codex_item(struct agent_stream *s, const struct json *item, bool done)
{
	struct str type = json_str(item, "type"), id = json_str(item, "id");
	const struct json *code;
	struct answer_call *c = NULL;
	int64_t status = 0;

	if (str_is(type, "agent_message")) {
		agent_stream_restart(s);
		if (done)
			agent_stream_text(s, json_str(item, "text"));
	} else if (str_is(type, "command_execution")) {
		c = agent_stream_call(s, id, STR("shell"), item);
		code = json_getc(item, "exit_code");
		if (done)
			agent_stream_result(s, c, json_getc(item,
			    "aggregated_output"), codex_succeeded(item) &&
			    (!json_int(code, &status) || status == 0));
	} else if (str_is(type, "mcp_tool_call")) {
		c = agent_stream_call(s, id, json_str(item, "tool"),
		    json_getc(item, "arguments"));
		if (done)
			agent_stream_result(s, c, json_getc(item, "result"),
			    codex_succeeded(item));
	} else if (str_is(type, "file_change") || str_is(type, "web_search")) {
		c = agent_stream_call(s, id, type, item);
		agent_stream_result(s, c, NULL, codex_succeeded(item));
	}
	if (c != NULL && str_is(json_str(item, "status"), "declined"))
		c->denied = true;
}

void
agent_read_codex(struct agent_stream *s, const struct json *v)
{
	static const struct names names = { .input = "input_tokens",
		.output = "output_tokens", .cache_read = "cached_input_tokens",
		.cache_write = "cache_write_input_tokens",
		.reasoning = "reasoning_output_tokens" };
	struct str type = json_str(v, "type");

	if (str_is(type, "thread.started")) {
		set_session(s, v, "thread_id");
	} else if (str_is(type, "turn.started")) {
		s->ended = false;
	} else if (str_is(type, "item.started")) {
		codex_item(s, json_getc(v, "item"), false);
	} else if (str_is(type, "item.completed")) {
		codex_item(s, json_getc(v, "item"), true);
	} else if (str_is(type, "turn.completed")) {
		if (!s->full)	/* such as a lost connection, since restored */
			s->error = STR("");
		s->ended = true;
		add_tokens(&s->job->ans.usage, json_getc(v, "usage"), &names);
	} else if (str_is(type, "turn.failed")) {
		agent_stream_fail(s, json_str(json_getc(v, "error"),
		    "message"));
	} else if (str_is(type, "error")) {
		agent_stream_fail(s, json_str(v, "message"));
	}
}

/*
 * Copilot CLI: --output-format json.  Its deltas repeat its messages.
 */
static void
copilot_result(struct agent_stream *s, const struct json *v)
{
	const struct json *usage = json_getc(v, "usage"), *n;
	struct answer_usage *u = &s->job->ans.usage;
	int64_t status = 0;

	s->ended = true;
	n = json_getc(usage, "premiumRequests");
	if (n != NULL)
		json_double(n, &u->premium_requests);
	if (json_int(json_getc(v, "exitCode"), &status) && status != 0)
		agent_stream_fail(s, STR("the agent exited with an error"));
}

void
agent_add_metrics(struct answer_usage *u, const struct json *metrics)
{
	static const struct names names = { .input = "inputTokens",
		.output = "outputTokens", .cache_read = "cacheReadTokens",
		.cache_write = "cacheWriteTokens",
		.reasoning = "reasoningTokens" };
	const struct json *v;

	for (v = json_first(metrics); v != NULL; v = v->next)
		add_tokens(u, json_getc(v, "usage"), &names);
}

static void
copilot_call_end(struct agent_stream *s, const struct json *d)
{
	struct answer_call *c = agent_stream_find(s, json_str(d, "toolCallId"));
	bool ok = agent_is_true(d, "success");
	const struct json *result = json_getc(d, ok ? "result" : "error");

	if (c != NULL && !ok && agent_is_denial(STR("copilot"), result))
		c->denied = true;
	if (json_getc(result, "content") != NULL)
		result = json_getc(result, "content");
	agent_stream_result(s, c, result, ok);
}

void
agent_read_copilot(struct agent_stream *s, const struct json *v)
{
	const struct json *d = json_getc(v, "data");
	struct str type = json_str(v, "type");

	if (str_is(type, "assistant.message")) {
		set_model(s, json_str(d, "model"));
		agent_stream_text(s, json_str(d, "content"));
	} else if (str_is(type, "tool.execution_start")) {
		if (str_is(json_str(d, "toolName"), "report_intent"))
			agent_stream_hide(s, json_str(d, "toolCallId"));
		else
			agent_stream_call(s, json_str(d, "toolCallId"),
			    json_str(d, "toolName"), json_getc(d, "arguments"));
	} else if (str_is(type, "tool.execution_complete")) {
		copilot_call_end(s, d);
	} else if (str_is(type, "assistant.turn_end")) {
		s->job->ans.usage.turns++;
		s->job->ans.usage.turns_known = true;
	} else if (str_is(type, "skill.invoked")) {
		agent_stream_skill(s, json_str(d, "name"));
	} else if (str_is(type, "session.error")) {
		agent_stream_fail(s, json_str(d, "message"));
	} else if (str_is(type, "result")) {
		set_session(s, v, "sessionId");
		copilot_result(s, v);
	}
}

/*
 * Gemini CLI: --output-format stream-json, or json: one object.
 */

/* The output lacks reasoning; only the total contains it. */
static void
gemini_stats(struct agent_stream *s, const struct json *stats)
{
	static const struct names names = { .input = "input_tokens",
		.output = "output_tokens", .cache_read = "cached" };
	struct answer_usage *u = &s->job->ans.usage;
	int64_t total = 0;

	add_tokens(u, stats, &names);
	if (!add_count(&total, stats, "total_tokens") ||
	    total < add_near(u->input_tokens, u->output_tokens)) {
		u->known = false;
		return;
	}
	u->reasoning_tokens = total - u->input_tokens - u->output_tokens;
	u->output_tokens += u->reasoning_tokens;
	u->reasoning_known = true;
}

static void
gemini_document(struct agent_stream *s, const struct json *v)
{
	static const struct names names = { .input = "prompt",
		.output = "candidates", .cache_read = "cached",
		.reasoning = "thoughts", .over = true };
	struct answer_usage *u = &s->job->ans.usage;
	const struct json *m;

	s->summary = s->ended = true;
	agent_stream_settle(s, json_str(v, "response"));
	if (json_is_set(json_getc(v, "error")))
		agent_stream_fail(s, json_str(json_getc(v, "error"),
		    "message"));
	for (m = json_first(json_getc(json_getc(v, "stats"), "models"));
	    m != NULL; m = m->next) {
		add_tokens(u, json_getc(m, "tokens"), &names);
		u->turns_known = add_count(&u->turns, json_getc(m, "api"),
		    "totalRequests");
		set_model(s, json_key(m));
	}
}

void
agent_read_gemini(struct agent_stream *s, const struct json *v)
{
	struct str type = json_str(v, "type"), id = json_str(v, "tool_id");
	const struct json *error = json_getc(v, "error");
	struct answer_call *c;

	set_session(s, v, "session_id");
	if (str_is(type, "init")) {
		set_model(s, json_str(v, "model"));
	} else if (str_is(type, "message")) {
		if (str_is(json_str(v, "role"), "assistant"))
			agent_stream_text(s, json_str(v, "content"));
	} else if (str_is(type, "tool_use")) {
		agent_stream_restart(s);
		agent_stream_call(s, id, json_str(v, "tool_name"),
		    json_getc(v, "parameters"));
	} else if (str_is(type, "tool_result")) {
		c = agent_stream_find(s, id);
		if (c != NULL && agent_is_denial(STR("gemini"), error))
			c->denied = true;
		agent_stream_result(s, c, error != NULL ? error :
		    json_getc(v, "output"), error == NULL &&
		    str_is(json_str(v, "status"), "success"));
	} else if (str_is(type, "error")) {
		if (!str_is(json_str(v, "severity"), "warning"))
			agent_stream_fail(s, json_str(v, "message"));
	} else if (str_is(type, "result")) {
		s->ended = true;
		if (json_is_set(json_getc(v, "stats")))
			gemini_stats(s, json_getc(v, "stats"));
		if (!str_is(json_str(v, "status"), "success"))
			agent_stream_fail(s, json_str(error, "message"));
	} else if (json_getc(v, "response") != NULL) {
		gemini_document(s, v);
	} else if (type.n == 0 && error != NULL) {
		agent_stream_fail(s, json_str(error, "message"));
	}
}

/*
 * opencode: run --format json.  Each step has a text; the last one counts.
 */
static void
opencode_tool(struct agent_stream *s, const struct json *part)
{
	const struct json *state = json_getc(part, "state");
	bool failed = str_is(json_str(state, "status"), "error");
	struct answer_call *c;

	c = agent_stream_call(s, json_str(part, "callID"),
	    json_str(part, "tool"), json_getc(state, "input"));
	if (c != NULL && failed && agent_is_denial(STR("opencode"),
	    json_getc(state, "error")))
		c->denied = s->stopped = true;
	agent_stream_result(s, c, json_getc(state, failed ? "error" :
	    "output"), !failed);
}

/*
 * A step is a call of the model.  Releases differ in whether the output
 * includes reasoning; the total does.
 */
static void
opencode_step(struct agent_stream *s, const struct json *part)
{
	const struct json *tokens = json_getc(part, "tokens");
	const struct json *cache = json_getc(tokens, "cache");
	struct answer_usage one = { .turns = 1, .turns_known = true };
	int64_t total = 0;

	one.known = add_count(&one.input_tokens, tokens, "input") &&
	    add_count(&one.output_tokens, tokens, "output");
	one.reasoning_known = add_count(&one.reasoning_tokens, tokens,
	    "reasoning");
	one.cached_known = add_count(&one.cache_read_tokens, cache, "read");
	(void)add_count(&one.cache_write_tokens, cache, "write");
	one.input_tokens = add_near(one.input_tokens,
	    add_near(one.cache_read_tokens, one.cache_write_tokens));
	if (add_count(&total, tokens, "total") && total > one.input_tokens)
		one.output_tokens = total - one.input_tokens;
	one.cost_known = json_double(json_getc(part, "cost"), &one.cost) &&
	    one.cost > 0;
	answer_add_usage(&s->steps, &one);
	s->job->ans.usage = s->steps;
}

void
agent_read_opencode(struct agent_stream *s, const struct json *v)
{
	const struct json *part = json_getc(v, "part");
	struct str type = json_str(v, "type");

	set_session(s, v, "sessionID");
	if (str_is(type, "tool_use")) {
		agent_stream_restart(s);
		opencode_tool(s, part);
	} else if (str_is(type, "text")) {
		agent_stream_text(s, json_str(part, "text"));
	} else if (str_is(type, "step_start")) {
		s->ended = s->stopped = false;
	} else if (str_is(type, "step_finish")) {
		/* another step follows calls, unless it may not make them */
		s->ended = s->stopped || !str_is(json_str(part, "reason"),
		    "tool-calls");
		agent_stream_stop(s, json_str(part, "reason"));
		opencode_step(s, part);
	} else if (str_is(type, "error")) {
		const struct json *e = json_getc(v, "error");
		struct str why = json_str(json_getc(e, "data"), "message");

		agent_stream_fail(s, why.n > 0 ? why : json_str(e, "name"));
	}
}

/*
 * json: our own format, that of persistent workers.
 */
void
agent_read_json(struct agent_stream *s, const struct json *v)
{
	static const struct names names = { .input = "input_tokens",
		.output = "output_tokens", .cache_read = "cache_read_tokens",
		.cache_write = "cache_write_tokens",
		.reasoning = "reasoning_tokens" };
	const struct json *calls = json_getc(v, "tool_calls"), *c, *ok;
	const struct json *skills = json_getc(v, "skills"), *usage;
	const struct json *output = json_getc(v, "output");
	struct answer_usage *u = &s->job->ans.usage;

	if (output != NULL && output->type == JSON_STRING) {
		agent_stream_settle(s, json_text(output));
		s->answered = true;
	}
	s->listed |= calls != NULL && calls->type == JSON_ARRAY;
	for (c = json_first(calls); c != NULL; c = c->next) {
		ok = json_getc(c, "success");
		agent_stream_result(s, agent_stream_call(s, STR(""),
		    json_str(c, "name"), json_getc(c, "arguments")),
		    json_getc(c, "result"), ok == NULL ||
		    ok->type != JSON_BOOL || json_bool(ok));
	}
	s->job->ans.skills_known |= skills != NULL &&
	    skills->type == JSON_ARRAY;
	for (c = json_first(skills); c != NULL; c = c->next)
		if (c->type == JSON_STRING)
			agent_stream_skill(s, json_text(c));
	usage = json_getc(v, "usage");
	if (json_is_set(usage)) {
		(void)add_count(&u->turns, usage, "turns");
		add_tokens(u, usage, &names);
		if (!u->cached_known)
			(void)add_count(&u->cache_read_tokens, usage,
			    "cached_input_tokens");
		add_cost(s, usage, "cost");
		agent_usage_known(u, usage);
	}
	if (json_str(v, "error").n > 0)
		agent_stream_fail(s, json_str(v, "error"));
}
