/* SPDX-License-Identifier: ISC */
/*
 * The output formats of Claude Code, Codex, Copilot CLI, Gemini CLI, opencode,
 * and our own.  Unknown events are ignored: every release adds some.
 */
#include "agent/agent_internal.h"

#include "json.h"

static void
add_cost(struct agent_stream *s, const struct json *obj, const char *key)
{
	double d;

	if (json_double(json_getc(obj, key), &d) && d > 0)
		s->job->ans.usage.cost += d;
}

/* Adds token counts by their names in obj; a name may be NULL. */
static void
add_tokens(struct answer_usage *u, const struct json *obj, const char *input,
    const char *output, const char *cache_read, const char *cache_write)
{
	u->known = true;
	agent_stream_add(&u->input_tokens, obj, input);
	agent_stream_add(&u->output_tokens, obj, output);
	if (cache_read != NULL)
		agent_stream_add(&u->cache_read_tokens, obj, cache_read);
	if (cache_write != NULL)
		agent_stream_add(&u->cache_write_tokens, obj, cache_write);
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
	const struct json *v, *input;
	struct str type;

	for (v = json_first(list); v != NULL; v = v->next) {
		type = json_str(v, "type");
		if (str_is(type, "text")) {
			agent_stream_text(s, json_str(v, "text"));
		} else if (str_is(type, "tool_use")) {
			input = json_getc(v, "input");
			s->text.n = 0;	/* the answer follows the last call */
			agent_stream_call(s, json_str(v, "id"),
			    json_str(v, "name"), input);
			if (str_is(json_str(v, "name"), "Skill"))
				agent_stream_skill(s, json_str(input,
				    json_getc(input, "skill") != NULL ?
				    "skill" : "command"));
		} else if (str_is(type, "tool_result")) {
			agent_stream_result(s, agent_stream_find(s,
			    json_str(v, "tool_use_id")), json_getc(v,
			    "content"), !agent_is_true(v, "is_error"));
		}
	}
}

static void
claude_result(struct agent_stream *s, const struct json *v)
{
	const struct json *usage = json_getc(v, "usage");
	struct answer_usage *u = &s->job->ans.usage;

	agent_stream_add(&u->turns, v, "num_turns");
	add_tokens(u, usage, "input_tokens", "output_tokens",
	    "cache_read_input_tokens", "cache_creation_input_tokens");
	add_cost(s, v, "total_cost_usd");
	if (agent_is_true(v, "is_error") ||
	    !str_is(json_str(v, "subtype"), "success"))
		agent_stream_fail(s, json_str(v, "result").n > 0 ?
		    json_str(v, "result") : json_str(v, "subtype"));
	else
		agent_stream_settle(s, json_str(v, "result"));
}

void
agent_read_claude(struct agent_stream *s, const struct json *v)
{
	struct str type = json_str(v, "type");

	set_session(s, v, "session_id");
	if (str_is(type, "assistant") || str_is(type, "user"))
		claude_content(s, json_getc(json_getc(v, "message"),
		    "content"));
	else if (str_is(type, "result"))
		claude_result(s, v);
}

/*
 * Codex: exec --json.
 */
static void
codex_item(struct agent_stream *s, const struct json *item, bool done)
{
	struct str type = json_str(item, "type"), id = json_str(item, "id");
	const struct json *code;
	struct answer_call *c;
	int64_t status = 0;

	if (str_is(type, "agent_message")) {
		s->text.n = 0;
		if (done)
			agent_stream_text(s, json_str(item, "text"));
	} else if (str_is(type, "command_execution")) {
		c = agent_stream_call(s, id, STR("shell"), item);
		code = json_getc(item, "exit_code");
		if (done)
			agent_stream_result(s, c, json_getc(item,
			    "aggregated_output"), code == NULL ||
			    !json_int(code, &status) || status == 0);
	} else if (str_is(type, "mcp_tool_call")) {
		c = agent_stream_call(s, id, json_str(item, "tool"),
		    json_getc(item, "arguments"));
		if (done)
			agent_stream_result(s, c, json_getc(item, "result"),
			    !str_is(json_str(item, "status"), "failed"));
	} else if (str_is(type, "file_change") || str_is(type, "web_search")) {
		c = agent_stream_call(s, id, type, item);
		agent_stream_result(s, c, NULL,
		    !str_is(json_str(item, "status"), "failed"));
	}
}

void
agent_read_codex(struct agent_stream *s, const struct json *v)
{
	const struct json *usage = json_getc(v, "usage");
	struct answer_usage *u = &s->job->ans.usage;
	struct str type = json_str(v, "type");

	if (str_is(type, "thread.started")) {
		set_session(s, v, "thread_id");
	} else if (str_is(type, "item.started")) {
		codex_item(s, json_getc(v, "item"), false);
	} else if (str_is(type, "item.completed")) {
		codex_item(s, json_getc(v, "item"), true);
	} else if (str_is(type, "turn.completed")) {
		u->turns++;
		add_tokens(u, usage, "input_tokens", "output_tokens",
		    "cached_input_tokens", "cache_write_input_tokens");
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

	n = json_getc(usage, "premiumRequests");
	u->known = u->known || usage != NULL;
	if (n != NULL)
		json_double(n, &u->premium_requests);
	if (json_int(json_getc(v, "exitCode"), &status) && status != 0)
		agent_stream_fail(s, STR("the agent exited with an error"));
}

/* Newer versions report a skill twice: as a call and as skill.invoked. */
static void
copilot_skill(struct agent_stream *s, struct str name)
{
	const struct field_strs *all = &s->job->ans.skills;
	size_t i;

	for (i = 0; i < all->n; i++)
		if (str_eq(all->v[i], name))
			return;
	agent_stream_skill(s, name);
}

static void
copilot_call_end(struct agent_stream *s, const struct json *d)
{
	struct answer_call *c = agent_stream_find(s, json_str(d, "toolCallId"));
	bool ok = agent_is_true(d, "success");
	const struct json *result = json_getc(d, ok ? "result" : "error");

	if (json_getc(result, "content") != NULL)
		result = json_getc(result, "content");
	agent_stream_result(s, c, result, ok);
	if (c != NULL && ok && str_is(c->name, "skill"))
		copilot_skill(s, json_str(arena_json(s->job->arena,
		    c->arguments, NULL), "skill"));
}

void
agent_read_copilot(struct agent_stream *s, const struct json *v)
{
	const struct json *d = json_getc(v, "data");
	struct str type = json_str(v, "type");

	if (str_is(type, "assistant.message")) {
		agent_stream_text(s, json_str(d, "content"));
	} else if (str_is(type, "tool.execution_start")) {
		if (!str_is(json_str(d, "toolName"), "report_intent"))
			agent_stream_call(s, json_str(d, "toolCallId"),
			    json_str(d, "toolName"), json_getc(d, "arguments"));
	} else if (str_is(type, "tool.execution_complete")) {
		copilot_call_end(s, d);
	} else if (str_is(type, "assistant.turn_end")) {
		s->job->ans.usage.turns++;
	} else if (str_is(type, "skill.invoked")) {
		copilot_skill(s, json_str(d, "name"));
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
void
agent_read_gemini(struct agent_stream *s, const struct json *v)
{
	struct str type = json_str(v, "type"), id = json_str(v, "tool_id");
	const struct json *stats = json_getc(v, "stats"), *m;
	struct answer_call *c;

	set_session(s, v, "session_id");
	if (str_is(type, "message")) {
		if (str_is(json_str(v, "role"), "assistant"))
			agent_stream_text(s, json_str(v, "content"));
	} else if (str_is(type, "tool_use")) {
		s->text.n = 0;
		agent_stream_call(s, id, json_str(v, "tool_name"),
		    json_getc(v, "parameters"));
		if (str_is(json_str(v, "tool_name"), "activate_skill"))
			agent_stream_skill(s, json_str(json_getc(v,
			    "parameters"), "name"));
	} else if (str_is(type, "tool_result")) {
		c = agent_stream_find(s, id);
		agent_stream_result(s, c, json_getc(v, json_getc(v, "error")
		    != NULL ? "error" : "output"),
		    str_is(json_str(v, "status"), "success"));
	} else if (str_is(type, "result")) {
		if (stats != NULL)
			add_tokens(&s->job->ans.usage, stats, "input_tokens",
			    "output_tokens", "cached", NULL);
		if (!str_is(json_str(v, "status"), "success"))
			agent_stream_fail(s, json_str(json_getc(v, "error"),
			    "message"));
	} else if (json_getc(v, "response") != NULL) {
		agent_stream_settle(s, json_str(v, "response"));
		for (m = json_first(json_getc(stats, "models")); m != NULL;
		    m = m->next)
			add_tokens(&s->job->ans.usage, json_getc(m, "tokens"),
			    "prompt", "candidates", "cached", NULL);
	} else if (type.n == 0 && json_getc(v, "error") != NULL) {
		agent_stream_fail(s, json_str(json_getc(v, "error"),
		    "message"));
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
	agent_stream_result(s, c, json_getc(state, failed ? "error" :
	    "output"), !failed);
	if (str_is(json_str(part, "tool"), "skill"))
		agent_stream_skill(s, json_str(json_getc(state, "input"),
		    "name"));
}

void
agent_read_opencode(struct agent_stream *s, const struct json *v)
{
	const struct json *part = json_getc(v, "part"), *tokens, *cache;
	struct answer_usage *u = &s->job->ans.usage;
	struct str type = json_str(v, "type");

	set_session(s, v, "sessionID");
	if (str_is(type, "tool_use")) {
		s->text.n = 0;
		opencode_tool(s, part);
	} else if (str_is(type, "text")) {
		agent_stream_text(s, json_str(part, "text"));
	} else if (str_is(type, "step_finish")) {
		tokens = json_getc(part, "tokens");
		cache = json_getc(tokens, "cache");
		u->turns++;
		add_tokens(u, tokens, "input", "output", NULL, NULL);
		agent_stream_add(&u->cache_read_tokens, cache, "read");
		agent_stream_add(&u->cache_write_tokens, cache, "write");
		add_cost(s, part, "cost");
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
	const struct json *calls = json_getc(v, "tool_calls"), *c, *ok;
	const struct json *skills = json_getc(v, "skills"), *usage;
	struct answer_usage *u = &s->job->ans.usage;

	agent_stream_settle(s, json_str(v, "output"));
	for (c = json_first(calls); c != NULL; c = c->next) {
		ok = json_getc(c, "success");
		agent_stream_result(s, agent_stream_call(s, STR(""),
		    json_str(c, "name"), json_getc(c, "arguments")),
		    json_getc(c, "result"), ok == NULL ||
		    ok->type != JSON_BOOL || json_bool(ok));
	}
	for (c = json_first(skills); c != NULL; c = c->next)
		if (c->type == JSON_STRING)
			agent_stream_skill(s, json_text(c));
	usage = json_getc(v, "usage");
	agent_stream_add(&u->turns, usage, "turns");
	add_tokens(u, usage, "input_tokens", "output_tokens",
	    "cache_read_tokens", "cache_write_tokens");
	u->known = usage != NULL;
	add_cost(s, usage, "cost");
	if (json_str(v, "error").n > 0)
		agent_stream_fail(s, json_str(v, "error"));
}
