/* SPDX-License-Identifier: ISC */
/*
 * Collects the messages of a turn.
 *
 * Calls are identified by their id: agents may send an update first, report a
 * call twice as new, or begin with an empty one.  The first title is kept:
 * later ones are paths and results.  The tool's own name takes precedence.
 * Chunks of text are joined; a new message, after a call or with another
 * messageId, begins a new line.
 */
#include "agent/proto/acp.h"

#include <string.h>

#include "agent/agent_internal.h"
#include "json.h"

void
acp_turn_init(struct acp_turn *t)
{
	*t = (struct acp_turn){ .cost = 0 };
	t->text.max = ACP_TEXT_MAX;
	t->tail = &t->calls;
}

void
acp_turn_free(struct acp_turn *t)
{
	struct acp_call *c;

	for (c = t->calls; c != NULL; c = c->next) {
		buf_free(&c->name);
		buf_free(&c->title);
		buf_free(&c->kind);
		buf_free(&c->label);
		buf_free(&c->terminal);
		buf_free(&c->input);
		buf_free(&c->output);
	}
	buf_free(&t->text);
	buf_free(&t->message_id);
	acp_turn_init(t);
}

static void
send_event(struct acp *x, enum agent_event event, struct str detail)
{
	struct agent_job *j = x->job;

	if (j->event != NULL)
		j->event(j->arg, event, mask_text(j->arena, &x->secrets,
		    detail));
}

static void
take_text(struct acp *x, const struct json *update)
{
	struct acp_turn *t = &x->turn;
	const struct json *content = json_getc(update, "content");
	struct str text = json_str(content, "text");
	struct str id = json_str(update, "messageId");
	bool begins = t->text.n == 0;

	if (text.n == 0)
		return;
	if (t->text.n > 0 && (id.n > 0 && t->message_id.n > 0 ?
	    !str_eq(id, buf_str(&t->message_id)) : t->parted)) {
		if (t->text.p[t->text.n - 1] != '\n')
			buf_putc(&t->text, '\n');
		begins = true;
	}
	if (begins) {
		t->last = t->text.n;
		send_event(x, AGENT_TEXT, STR("answering"));
	}
	t->parted = false;
	t->message_id.n = 0;
	buf_put(&t->message_id, id.n <= 256 ? id : STR(""));
	buf_put(&t->text, text);
	t->full |= t->text.full;
}

/* Replaces the text, unless the turn would exceed its limit. */
static void
replace(struct acp_turn *t, struct buf *b, struct str s)
{
	t->bytes -= b->n;
	b->n = 0;
	if (s.n > ACP_TEXT_MAX - t->bytes) {
		t->full = true;
		return;
	}
	buf_put(b, s);
	t->bytes += s.n;
}

static void
replace_json(struct acp_turn *t, struct buf *b, const struct json *v)
{
	struct buf text = { .max = ACP_TEXT_MAX };
	struct json_out o = { .put = buf_sink, .ctx = &text };

	json_put(&o, v);
	t->full |= text.full;
	if (!text.full)
		replace(t, b, buf_str(&text));
	buf_free(&text);
}

static void
set_once(struct acp_turn *t, struct buf *b, struct str s)
{
	if (b->n == 0)
		replace(t, b, s);
}

/* {"toolName": "skill"}, or {"claudeCode": {"toolName": "Write"}} */
static struct str
meta_name(const struct json *call)
{
	const struct json *v = json_getc(call, "_meta");

	if (json_str(v, "toolName").n > 0)
		return json_str(v, "toolName");
	for (v = json_first(v); v != NULL; v = v->next)
		if (json_str(v, "toolName").n > 0)
			return json_str(v, "toolName");
	return STR("");
}

/* The input in a permission request may differ from the real input. */
static void
take_input(struct acp_turn *t, struct acp_call *c, const struct json *v,
    bool asking)
{
	bool has = c->input.n > 0 && !str_is(buf_str(&c->input), "{}");

	if (!json_is_set(v) || (has && (asking ||
	    (v->type == JSON_OBJECT && json_count(v) == 0))))
		return;
	replace_json(t, &c->input, v);
}

static void
take_output(struct acp_turn *t, struct acp_call *c, const struct json *call)
{
	const struct json *raw = json_getc(call, "rawOutput"), *v;
	struct buf text = { .max = ACP_TEXT_MAX }, b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	if (json_is_set(raw)) {
		c->raw = true;
		replace_json(t, &c->output, raw);
	}
	if (c->raw)
		return;
	for (v = json_first(json_getc(call, "content")); v != NULL;
	    v = v->next)
		buf_put(&text, json_str(json_getc(v, "content"), "text"));
	if (text.n > 0) {
		json_put_str(&o, buf_str(&text));
		replace(t, &c->output, buf_str(&b));
	}
	buf_free(&b);
	buf_free(&text);
}

/* Codex sends the output of commands as that of a terminal, in parts. */
static void
take_terminal(struct acp_turn *t, struct acp_call *c, const struct json *meta)
{
	struct str data = json_str(json_getc(meta, "terminal_output_delta"),
	    "data");

	if (json_getc(meta, "terminal_output_delta") != NULL ||
	    json_getc(meta, "terminal_exit") != NULL)
		c->has_terminal = true;
	if (data.n > ACP_TEXT_MAX - t->bytes) {
		t->full = true;
		return;
	}
	buf_put(&c->terminal, data);
	t->bytes += data.n;
}

static void
take_status(struct acp_call *c, struct str s)
{
	static const struct {
		const char *word;
		enum acp_status status;
	} words[] = {
		{ "pending", ACP_UNDERWAY }, { "in_progress", ACP_UNDERWAY },
		{ "completed", ACP_COMPLETED }, { "failed", ACP_FAILED },
	};
	size_t i;

	for (i = 0; i < COUNTOF(words); i++)
		if (str_is(s, words[i].word))
			c->status = words[i].status;
}

static struct acp_call *
find(struct acp *x, struct str id)
{
	struct acp_turn *t = &x->turn;
	struct acp_call *c;

	for (c = t->calls; c != NULL; c = c->next)
		if (str_eq(c->id, id))
			return c;
	if (t->ncalls >= ACP_CALLS_MAX || id.n > 4096) {
		t->full = true;
		return NULL;
	}
	c = NEW(x->job->arena, struct acp_call);
	c->id = arena_str(x->job->arena, id);
	c->at = t->text.n;
	*t->tail = c;
	t->tail = &c->next;
	t->ncalls++;
	t->parted = true;
	return c;
}

/* Codex reviews commands itself and reports that as a call. */
static bool
is_review(struct str id)
{
	return str_starts(id, STR("guardian_assessment:"));
}

struct acp_call *
acp_turn_call(struct acp *x, const struct json *call, bool asking)
{
	struct acp_turn *t = &x->turn;
	struct str id = json_str(call, "toolCallId");
	size_t was = t->ncalls;
	struct acp_call *c = id.n > 0 && !is_review(id) ? find(x, id) : NULL;

	if (c == NULL)
		return NULL;
	set_once(t, &c->name, json_str(call, "name"));
	set_once(t, &c->name, meta_name(call));
	set_once(t, &c->title, json_str(call, "title"));
	if (json_str(call, "title").n > 0 && (!asking || c->label.n == 0))
		replace(t, &c->label, json_str(call, "title"));
	if (json_str(call, "kind").n > 0)
		replace(t, &c->kind, json_str(call, "kind"));
	take_input(t, c, json_getc(call, "rawInput"), asking);
	if (!asking) {
		take_output(t, c, call);
		take_terminal(t, c, json_getc(call, "_meta"));
	}
	take_status(c, json_str(call, "status"));
	acp_check_paths(x, c, call);
	if (t->ncalls > was)
		send_event(x, AGENT_TOOL, c->name.n > 0 ? buf_str(&c->name) :
		    c->title.n > 0 ? buf_str(&c->title) : STR("tool"));
	return c;
}

/* Its tokens are those in the context, not those that were billed. */
static void
take_usage(struct acp_turn *t, const struct json *update)
{
	const struct json *cost = json_getc(update, "cost");
	const struct json *amount = json_getc(cost, "amount");

	if (amount != NULL && str_is(json_str(cost, "currency"), "USD") &&
	    json_double(amount, &t->cost))
		t->has_cost = true;
}

/* Qwen sends the tokens of each call of the model with an empty text. */
static void
take_call_usage(struct acp_turn *t, const struct json *v)
{
	struct answer_usage one = { .turns = 1, .turns_known = true };

	if (v == NULL)
		return;
	one.known = agent_is_count(v, "inputTokens") &&
	    agent_is_count(v, "outputTokens");
	one.cached_known = agent_is_count(v, "cachedReadTokens");
	one.reasoning_known = agent_is_count(v, "thoughtTokens");
	agent_stream_add(&one.input_tokens, v, "inputTokens");
	agent_stream_add(&one.output_tokens, v, "outputTokens");
	agent_stream_add(&one.cache_read_tokens, v, "cachedReadTokens");
	agent_stream_add(&one.reasoning_tokens, v, "thoughtTokens");
	answer_add_usage(&t->calls_usage, &one);
}

/* Codex reports a model's error as text, and this state. */
static void
take_state(struct acp_turn *t, const struct json *update)
{
	const struct json *v = json_getc(json_getc(json_getc(update, "_meta"),
	    "codex"), "threadStatus");

	if (!str_is(json_str(v, "type"), "systemError"))
		return;
	t->failed = true;
	t->parted = true;		/* the error is a text of its own */
	t->message_id.n = 0;
}

void
acp_turn_update(struct acp *x, const struct json *update)
{
	struct str kind = json_str(update, "sessionUpdate");

	if (str_is(kind, "agent_message_chunk")) {
		take_text(x, update);
		take_call_usage(&x->turn, json_getc(json_getc(update, "_meta"),
		    "usage"));
	} else if (str_is(kind, "session_info_update"))
		take_state(&x->turn, update);
	else if (str_is(kind, "tool_call") || str_is(kind, "tool_call_update"))
		acp_turn_call(x, update, false);
	else if (str_is(kind, "usage_update"))
		take_usage(&x->turn, update);
}
