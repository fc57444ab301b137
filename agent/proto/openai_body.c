/* SPDX-License-Identifier: ISC */
/*
 * Requests, one format per API:
 *
 *	chat		{model, messages, stream, stream_options, max_tokens,
 *			temperature, tools, tool_choice}
 *	responses	{model, instructions, input, max_output_tokens, store,
 *			...}
 *	anthropic	{model, system, messages, max_tokens, ...}
 *	ollama		{model, messages, options: {temperature, num_predict},
 *			tools}
 *
 * The model has to call one of the tools: only judges get tools, to report
 * their verdict.
 */
#include "agent/proto/openai.h"

#include "json.h"

static void
put_message(struct json_out *o, const char *role, struct str content)
{
	json_open(o, '{');
	json_put_member_str(o, "role", str_of(role));
	json_put_member_str(o, "content", content);
	json_close(o, '}');
}

static void
put_messages(struct json_out *o, const struct openai_question *q,
    const char *key, bool system)
{
	const struct openai_turn *t;

	json_open_member(o, key, '[');
	if (system && q->system.n > 0)
		put_message(o, "system", q->system);
	for (t = q->before; t != NULL; t = t->next) {
		put_message(o, "user", t->prompt);
		put_message(o, "assistant", t->answer);
	}
	put_message(o, "user", q->prompt);
	json_close(o, ']');
}

/* chat and ollama put a tool into "function"; anthropic names differ. */
static void
put_tool(struct json_out *o, const struct agent_tool *t, enum openai_api api)
{
	bool wrapped = api == OPENAI_CHAT || api == OPENAI_OLLAMA;

	json_open(o, '{');
	if (api != OPENAI_ANTHROPIC)
		json_put_member_str(o, "type", STR("function"));
	if (wrapped)
		json_open_member(o, "function", '{');
	json_put_member_str(o, "name", str_of(t->name));
	json_put_member_str(o, "description", str_of(t->help));
	json_put_member_raw(o, api == OPENAI_ANTHROPIC ? "input_schema" :
	    "parameters", str_of(t->schema));
	if (wrapped)
		json_close(o, '}');
	json_close(o, '}');
}

/* One tool by its name, several as "any of them". */
static void
put_choice(struct json_out *o, const struct openai_question *q,
    enum openai_api api)
{
	const char *type = api == OPENAI_ANTHROPIC ? "tool" : "function";

	json_put_key(o, STR("tool_choice"));
	if (q->ntools > 1 && api != OPENAI_ANTHROPIC) {
		json_put_cstr(o, "required");
		return;
	}
	json_open(o, '{');
	json_put_member_str(o, "type", str_of(q->ntools > 1 ? "any" : type));
	if (q->ntools == 1 && api == OPENAI_CHAT)
		json_open_member(o, "function", '{');
	if (q->ntools == 1)
		json_put_member_str(o, "name", str_of(q->tools[0].name));
	if (q->ntools == 1 && api == OPENAI_CHAT)
		json_close(o, '}');
	json_close(o, '}');
}

static void
put_tools(struct json_out *o, const struct openai_question *q,
    enum openai_api api)
{
	size_t i;

	if (q->ntools == 0)
		return;
	json_open_member(o, "tools", '[');
	for (i = 0; i < q->ntools; i++)
		put_tool(o, &q->tools[i], api);
	json_close(o, ']');
	if (api != OPENAI_OLLAMA)
		put_choice(o, q, api);
}

static void
put_int(struct json_out *o, const char *key, int64_t v)
{
	if (v > 0)
		json_put_member_int(o, key, v);
}

static void
put_temperature(struct json_out *o, double t)
{
	if (t >= 0)
		json_put_member_double(o, "temperature", t);
}

/* OpenAI renamed the limit; other servers use the old name. */
static void
put_chat(struct json_out *o, const struct openai_question *q)
{
	const struct openai_settings *s = &q->to->set;

	put_messages(o, q, "messages", true);
	json_put_member_nonempty(o, "reasoning_effort", q->to->effort);
	put_int(o, q->to->vendor ? "max_completion_tokens" : "max_tokens",
	    s->max_tokens);
	put_temperature(o, s->temperature);
	json_put_member_bool(o, "stream", s->stream);
	if (!s->stream)
		return;
	json_open_member(o, "stream_options", '{');
	json_put_member_bool(o, "include_usage", true);
	json_close(o, '}');
}

static void
put_responses(struct json_out *o, const struct openai_question *q)
{
	const struct openai_settings *s = &q->to->set;

	json_put_member_nonempty(o, "instructions", q->system);
	put_messages(o, q, "input", false);
	if (q->to->effort.n > 0) {
		json_open_member(o, "reasoning", '{');
		json_put_member_str(o, "effort", q->to->effort);
		json_close(o, '}');
	}
	put_int(o, "max_output_tokens", s->max_tokens);
	put_temperature(o, s->temperature);
	json_put_member_bool(o, "store", false);
	json_put_member_bool(o, "stream", s->stream);
}

static void
put_anthropic(struct json_out *o, const struct openai_question *q)
{
	const struct openai_settings *s = &q->to->set;

	json_put_member_nonempty(o, "system", q->system);
	put_messages(o, q, "messages", false);
	put_int(o, "max_tokens", s->max_tokens > 0 ? s->max_tokens :
	    q->to->kind->max_tokens);
	put_temperature(o, s->temperature);
	json_put_member_bool(o, "stream", s->stream);
}

static void
put_ollama(struct json_out *o, const struct openai_question *q)
{
	const struct openai_settings *s = &q->to->set;

	put_messages(o, q, "messages", true);
	json_put_member_bool(o, "stream", s->stream);
	if (s->temperature < 0 && s->max_tokens <= 0)
		return;
	json_open_member(o, "options", '{');
	put_temperature(o, s->temperature);
	put_int(o, "num_predict", s->max_tokens);
	json_close(o, '}');
}

void
openai_put(struct buf *b, const struct openai_question *q)
{
	static void (*const put[])(struct json_out *,
	    const struct openai_question *) = {
		[OPENAI_CHAT] = put_chat,
		[OPENAI_RESPONSES] = put_responses,
		[OPENAI_ANTHROPIC] = put_anthropic,
		[OPENAI_OLLAMA] = put_ollama,
	};
	struct json_out o = { .put = buf_sink, .ctx = b };
	const struct json *v;

	json_open(&o, '{');
	json_put_member_str(&o, "model", q->model);
	put[q->to->set.api](&o, q);
	put_tools(&o, q, (enum openai_api)q->to->set.api);
	for (v = json_first(q->to->set.body); v != NULL; v = v->next) {
		json_put_key(&o, json_key(v));
		json_put(&o, v);
	}
	json_close(&o, '}');
}
