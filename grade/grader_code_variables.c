/* SPDX-License-Identifier: ISC */
/*
 * The variables that assertions can use.
 *
 * Tool calls have all arguments that the agent gave, and always the five that
 * the original has, as empty strings where the agent gave none: so
 * `t['arguments']['path']` is always a string.
 */
#include "grade/grader_internal.h"

#include <string.h>

#include "json.h"
#include "results/answer.h"

/* An object or array that is being built. */
struct builder {
	struct arena *arena;
	struct json *parent;
	struct json **tail;
};

static struct builder
open_node(struct arena *a, enum json_type type)
{
	struct builder m = { .arena = a, .parent = NEW(a, struct json) };

	m.parent->type = (uint8_t)type;
	m.tail = &m.parent->u.child;
	return m;
}

/* Appends a node, which keeps its key. */
static void
append(struct builder *m, struct json *v)
{
	v->next = NULL;
	*m->tail = v;
	m->tail = &v->next;
	m->parent->n++;
}

static void
add(struct builder *m, const char *key, struct json *v)
{
	v->key = key;
	v->nkey = key != NULL ? (uint32_t)strlen(key) : 0;
	append(m, v);
}

static struct json *
close_node(struct builder *m)
{
	struct json_mem mem = { arena_hook, m->arena };

	if (m->parent->type == JSON_OBJECT)
		json_seal(&mem, m->parent, true);
	return m->parent;
}

/* Replaces invalid UTF-8 by U+FFFD, as the original's JSON does. */
static struct str
valid_utf8(struct arena *a, struct str s)
{
	const char *p = s.p, *end = p + s.n;
	struct buf b = { 0 };
	uint32_t cp;
	size_t n;

	if (s.n == 0 || utf8_valid(s))
		return s;
	for (; p < end; p += n > 0 ? n : 1) {
		n = utf8_get(p, end, &cp);
		buf_put(&b, n > 0 ? (struct str){ p, n } :
		    STR("\xEF\xBF\xBD"));
	}
	return grader_take(a, &b);
}

static struct json *
text_node(struct arena *a, struct str s)
{
	struct json *v = NEW(a, struct json);

	s = valid_utf8(a, s);
	if (s.n > UINT32_MAX)
		s.n = UINT32_MAX;
	v->type = JSON_STRING;
	v->u.text = s.n > 0 ? s.p : "";
	v->n = (uint32_t)s.n;
	return v;
}

static struct json *
int_node(struct arena *a, int64_t i)
{
	struct str s = arena_fmt(a, "%lld", (long long)i);
	struct json *v = NEW(a, struct json);

	v->type = JSON_NUMBER;
	v->u.text = s.p;
	v->n = (uint32_t)s.n;
	return v;
}

static struct json *
bool_node(struct arena *a, bool yes)
{
	struct json *v = NEW(a, struct json);

	v->type = JSON_BOOL;
	v->n = yes;
	return v;
}

/* The value of a JSON text; a string if it is not JSON. */
static struct json *
value_node(struct arena *a, struct str s)
{
	struct json *v = arena_json(a, s, NULL);

	return v != NULL ? v : text_node(a, s);
}

static struct json *
arguments(struct arena *a, struct str s)
{
	static const char *const usual[] = { "path", "file_text", "command",
		"description", "skill" };
	struct builder m = open_node(a, JSON_OBJECT);
	struct json *given = value_node(a, s), *v, *next;
	size_t i;

	if (given->type != JSON_OBJECT)
		return given;
	for (i = 0; i < COUNTOF(usual); i++)
		if (json_getc(given, usual[i]) == NULL)
			add(&m, usual[i], text_node(a, STR("")));
	for (v = json_first(given); v != NULL; v = next) {
		next = v->next;
		append(&m, v);
	}
	return close_node(&m);
}

static struct json *
calls(struct arena *a, const struct grader_input *in)
{
	struct builder list = open_node(a, JSON_ARRAY), one;
	const struct answer_call *c;

	for (c = in->answer->calls; c != NULL; c = c->next) {
		one = open_node(a, JSON_OBJECT);
		add(&one, "name", text_node(a, c->name));
		add(&one, "arguments", arguments(a, c->arguments));
		if (c->result.n > 0)
			add(&one, "result", value_node(a, c->result));
		add(&one, "success", bool_node(a, c->success));
		add(&list, NULL, close_node(&one));
	}
	return close_node(&list);
}

static struct json *
transcript(struct arena *a, const struct grader_input *in)
{
	struct builder none = open_node(a, JSON_ARRAY);
	struct json *v;

	if (in->answer->transcript.n == 0)
		return close_node(&none);
	v = value_node(a, in->answer->transcript);
	return v->type == JSON_ARRAY ? v : close_node(&none);
}

static bool
has_error(struct arena *a, const struct json *event, const char *key)
{
	const struct json *v = json_getc(event, key);

	return v != NULL && v->type == JSON_STRING &&
	    grader_search(a, json_text(v), STR("error")) != SIZE_MAX;
}

/* Copies, because a node can be in one list only. */
static struct json *
errors(struct arena *a, const struct json *events)
{
	struct builder m = open_node(a, JSON_ARRAY);
	const struct json *v;
	struct json *copy;

	for (v = json_first(events); v != NULL; v = v->next) {
		if (!has_error(a, v, "type") && !has_error(a, v, "content"))
			continue;
		copy = NEW(a, struct json);
		*copy = *v;
		add(&m, NULL, copy);
	}
	return close_node(&m);
}

static struct json *
outcome(struct arena *a)
{
	struct builder m = open_node(a, JSON_OBJECT);

	add(&m, "status", text_node(a, STR("completed")));
	return close_node(&m);
}

static bool
mentioned(struct arena *a, const struct code_set *set, struct str name)
{
	size_t i;

	for (i = 0; i < set->n; i++)
		if (grader_search(a, set->v[i].text, name) != SIZE_MAX)
			return true;
	return false;
}

struct json *
code_variables(struct arena *a, const struct grader_input *in,
    const struct code_set *set)
{
	struct builder m = open_node(a, JSON_OBJECT);
	bool errs = mentioned(a, set, STR("errors"));
	struct json *events = NULL;

	if (errs || mentioned(a, set, STR("transcript")))
		events = transcript(a, in);
	add(&m, "output", text_node(a, in->answer->output));
	add(&m, "duration_ms", int_node(a, in->duration_ms));
	if (mentioned(a, set, STR("outcome")))
		add(&m, "outcome", outcome(a));
	if (mentioned(a, set, STR("tool_calls")))
		add(&m, "tool_calls", calls(a, in));
	if (events != NULL)
		add(&m, "transcript", events);
	if (errs)
		add(&m, "errors", errors(a, events));
	return close_node(&m);
}
