/* SPDX-License-Identifier: ISC */
/*
 * Replies, assembled from the messages of a stream or read from one body.  Each
 * API has a function for both.  Unknown messages are ignored: every release
 * adds some.
 */
#include "agent/proto/openai.h"

#include <string.h>

#include "json.h"

static bool
has_text(const struct json *v, const char *key)
{
	v = json_getc(v, key);
	return v != NULL && v->type == JSON_STRING;
}

static void
keep(struct openai_reply *r, struct str *to, struct str s)
{
	if (s.n > 0)
		*to = arena_str(r->arena, s);
}

/* Takes a plausible count; false: there is none. */
static bool
count(int64_t *to, const struct json *obj, const char *key)
{
	int64_t n;

	if (!json_int(json_getc(obj, key), &n) || n < 0 ||
	    n >= INT64_C(1) << 40)
		return false;
	*to = n;
	return true;
}

static void
read_usage(struct openai_reply *r, const struct json *u)
{
	struct answer_usage *to = &r->usage;
	bool in, out;

	if (u == NULL || u->type != JSON_OBJECT)
		return;
	in = count(&to->input_tokens, u, "prompt_tokens");
	out = count(&to->output_tokens, u, "completion_tokens");
	in = count(&to->input_tokens, u, "input_tokens") || in;
	out = count(&to->output_tokens, u, "output_tokens") || out;
	to->known = to->known || (in && out);
	to->cached_known |= count(&to->cache_read_tokens,
	    json_getc(u, "prompt_tokens_details"), "cached_tokens") ||
	    count(&to->cache_read_tokens,
	    json_getc(u, "input_tokens_details"), "cached_tokens") ||
	    count(&to->cache_read_tokens, u, "cache_read_input_tokens");
	to->reasoning_known |= count(&to->reasoning_tokens,
	    json_getc(u, "completion_tokens_details"), "reasoning_tokens") ||
	    count(&to->reasoning_tokens,
	    json_getc(u, "output_tokens_details"), "reasoning_tokens");
	count(&to->cache_write_tokens, u, "cache_creation_input_tokens");
}

static struct openai_call *
call_of(struct openai_reply *r, int64_t key)
{
	struct openai_call **p;

	for (p = &r->calls; *p != NULL; p = &(*p)->next)
		if ((*p)->key == key)
			return *p;
	if (r->ncalls == OPENAI_CALLS_MAX) {
		r->error = STR("too many tool calls");
		return NULL;
	}
	r->ncalls++;
	*p = NEW(r->arena, struct openai_call);
	(*p)->key = key;
	return *p;
}

/* Adds to a call; arguments are text (a part of it) or a JSON value. */
static void
add_call(struct openai_reply *r, int64_t key, struct str name,
    const struct json *args, bool whole)
{
	struct openai_call *c = call_of(r, key);
	struct json_out o = { .put = buf_sink };

	if (c == NULL)
		return;
	if (c->name.n == 0)
		keep(r, &c->name, name);
	if (!json_is_set(args))
		return;
	if (whole)
		c->arguments.n = 0;
	o.ctx = &c->arguments;
	if (args->type == JSON_STRING)
		buf_put(&c->arguments, json_text(args));
	else
		json_put(&o, args);
}

bool
openai_read_error(struct openai_reply *r, const struct json *v)
{
	const struct json *e = json_getc(v, "error"), *detail;

	if (e != NULL && e->type == JSON_STRING)
		keep(r, &r->error, json_text(e));
	else if (e != NULL && e->type == JSON_OBJECT) {
		keep(r, &r->error, json_str(e, "message"));
		keep(r, &r->error_type, json_str(e, "code"));
		if (r->error_type.n == 0)
			keep(r, &r->error_type, json_str(e, "type"));
		if (r->error.n == 0)
			r->error = r->error_type.n > 0 ? r->error_type :
			    STR("an error without a message");
	}
	if (r->error.n > 0)
		return true;
	detail = json_getc(v, "detail");
	keep(r, &r->error, has_text(v, "detail") ? json_text(detail) :
	    json_str(v, "message"));
	return r->error.n > 0;
}

/* A text, or a list of parts that have one. */
static void
add_content(struct openai_reply *r, const struct json *c)
{
	const struct json *v;

	if (c != NULL && c->type == JSON_STRING)
		buf_put(&r->text, json_text(c));
	else if (c != NULL && c->type == JSON_ARRAY)
		for (v = json_first(c); v != NULL; v = v->next)
			buf_put(&r->text, json_str(v, "text"));
}

static void
read_chat(struct openai_reply *r, const struct json *v)
{
	const struct json *choice = json_first(json_getc(v, "choices"));
	const struct json *part = json_getc(choice, "delta"), *c;
	bool whole = part == NULL;
	int64_t key, n = 0;

	keep(r, &r->id, json_str(v, "id"));
	read_usage(r, json_getc(v, "usage"));
	if (whole)
		part = json_getc(choice, "message");
	add_content(r, json_getc(part, "content"));
	r->refused |= json_str(part, "refusal").n > 0;
	add_content(r, json_getc(part, "refusal"));
	for (c = json_first(json_getc(part, "tool_calls")); c != NULL;
	    c = c->next) {
		key = n++;
		count(&key, c, "index");
		add_call(r, key, json_str(json_getc(c, "function"), "name"),
		    json_getc(json_getc(c, "function"), "arguments"), whole);
	}
	keep(r, &r->stop, json_str(choice, "finish_reason"));
	if (r->stop.n > 0 || (whole && choice != NULL))
		r->finished = true;
}

/* An element of a response's output; `text`: it was not streamed before. */
static void
read_item(struct openai_reply *r, const struct json *item, int64_t key,
    bool text)
{
	const struct json *c;

	if (str_is(json_str(item, "type"), "function_call"))
		add_call(r, key, json_str(item, "name"),
		    json_getc(item, "arguments"), true);
	if (!text || !str_is(json_str(item, "type"), "message"))
		return;
	for (c = json_first(json_getc(item, "content")); c != NULL;
	    c = c->next) {
		r->refused |= json_str(c, "refusal").n > 0;
		buf_put(&r->text, has_text(c, "text") ? json_str(c, "text") :
		    json_str(c, "refusal"));
	}
}

static void
read_response(struct openai_reply *r, const struct json *v)
{
	const struct json *item, *why = json_getc(v, "incomplete_details");
	bool text = r->text.n == 0;
	int64_t key = 0;

	keep(r, &r->id, json_str(v, "id"));
	read_usage(r, json_getc(v, "usage"));
	for (item = json_first(json_getc(v, "output")); item != NULL;
	    item = item->next)
		read_item(r, item, key++, text);
	keep(r, &r->stop, json_str(why, "reason"));
	if (json_is_set(json_getc(v, "error")))
		openai_read_error(r, v);
	else if (str_is(json_str(v, "status"), "failed"))
		r->error = STR("the response failed, without a reason");
	r->finished = r->over = true;
}

static void
read_responses(struct openai_reply *r, const struct json *v)
{
	struct str type = json_str(v, "type");
	const struct json *whole = json_getc(v, "response");
	int64_t key = 0;

	count(&key, v, "output_index");
	if (type.n == 0)
		read_response(r, v);
	else if (str_is(type, "response.output_text.delta") ||
	    str_is(type, "response.refusal.delta")) {
		r->refused |= str_is(type, "response.refusal.delta");
		buf_put(&r->text, json_str(v, "delta"));
	}
	else if (str_is(type, "response.output_item.added") ||
	    str_is(type, "response.output_item.done"))
		read_item(r, json_getc(v, "item"), key, false);
	else if (str_is(type, "response.function_call_arguments.delta"))
		add_call(r, key, STR(""), json_getc(v, "delta"), false);
	else if (str_is(type, "response.function_call_arguments.done"))
		add_call(r, key, STR(""), json_getc(v, "arguments"), true);
	else if (str_is(type, "response.completed") ||
	    str_is(type, "response.incomplete") ||
	    str_is(type, "response.failed"))
		read_response(r, whole);
}

static void
read_block(struct openai_reply *r, const struct json *b, int64_t key,
    bool whole)
{
	struct str type = json_str(b, "type");

	if (str_is(type, "text"))
		buf_put(&r->text, json_str(b, "text"));
	else if (str_is(type, "tool_use"))	/* a stream begins with {} */
		add_call(r, key, json_str(b, "name"),
		    whole ? json_getc(b, "input") : NULL, whole);
}

static void
read_message(struct openai_reply *r, const struct json *v)
{
	const struct json *b;
	int64_t key = 0;

	keep(r, &r->id, json_str(v, "id"));
	read_usage(r, json_getc(v, "usage"));
	for (b = json_first(json_getc(v, "content")); b != NULL; b = b->next)
		read_block(r, b, key++, true);
	keep(r, &r->stop, json_str(v, "stop_reason"));
}

static void
read_anthropic(struct openai_reply *r, const struct json *v)
{
	struct str type = json_str(v, "type");
	const struct json *delta = json_getc(v, "delta");
	int64_t key = 0;

	count(&key, v, "index");
	if (str_is(type, "message")) {
		read_message(r, v);
		r->finished = r->over = true;
	} else if (str_is(type, "message_start"))
		read_message(r, json_getc(v, "message"));
	else if (str_is(type, "content_block_start"))
		read_block(r, json_getc(v, "content_block"), key, false);
	else if (str_is(type, "content_block_delta")) {
		buf_put(&r->text, json_str(delta, "text"));
		if (has_text(delta, "partial_json"))
			add_call(r, key, STR(""), json_getc(delta,
			    "partial_json"), false);
	} else if (str_is(type, "message_delta")) {
		keep(r, &r->stop, json_str(delta, "stop_reason"));
		read_usage(r, json_getc(v, "usage"));
	} else if (str_is(type, "message_stop"))
		r->finished = r->over = true;
}

static void
read_ollama(struct openai_reply *r, const struct json *v)
{
	const struct json *m = json_getc(v, "message"), *c, *f;
	const struct json *done = json_getc(v, "done");

	add_content(r, json_getc(m, "content"));
	for (c = json_first(json_getc(m, "tool_calls")); c != NULL;
	    c = c->next) {
		f = json_getc(c, "function");
		add_call(r, (int64_t)r->ncalls, json_str(f, "name"),
		    json_getc(f, "arguments"), true);
	}
	if (done == NULL || done->type != JSON_BOOL || !json_bool(done))
		return;
	r->usage.known = count(&r->usage.input_tokens, v,
	    "prompt_eval_count") &&
	    count(&r->usage.output_tokens, v, "eval_count");
	keep(r, &r->stop, json_str(v, "done_reason"));
	r->finished = r->over = true;
}

void
openai_read(struct openai_reply *r, const struct json *v)
{
	static void (*const read[])(struct openai_reply *,
	    const struct json *) = {
		[OPENAI_CHAT] = read_chat,
		[OPENAI_RESPONSES] = read_responses,
		[OPENAI_ANTHROPIC] = read_anthropic,
		[OPENAI_OLLAMA] = read_ollama,
	};

	if (json_is_set(json_getc(v, "error")) ||
	    str_is(json_str(v, "type"), "error")) {
		if (!openai_read_error(r, v))
			r->error = STR("an error without a message");
		r->over = true;
	} else
		read[r->api](r, v);
}

void
openai_reply_init(struct openai_reply *r, struct arena *a, enum openai_api api)
{
	*r = (struct openai_reply){ .arena = a, .api = api };
	r->id = r->stop = r->error = r->error_type = STR("");
}

void
openai_reply_free(struct openai_reply *r)
{
	struct openai_call *c;

	for (c = r->calls; c != NULL; c = c->next)
		buf_free(&c->arguments);
	buf_free(&r->text);
}
