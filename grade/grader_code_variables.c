/* SPDX-License-Identifier: ISC */
/*
 * The variables that assertions can use.
 *
 * Tool calls have all arguments that the agent gave, and always the five that
 * the original has, as empty strings where the agent gave none: so
 * `t['arguments']['path']` is always a string.  The writer replaces invalid
 * UTF-8 by U+FFFD, as the original's JSON does.
 */
#include "grade/grader_internal.h"

#include "json.h"
#include "results/answer.h"

enum { OUTER_DEPTH = 4 };	/* levels around a value of the agent */

/* The value of a JSON text; a string if it is not JSON. */
static void
put_value(struct json_out *o, struct str text, const struct json *v)
{
	if (v != NULL)
		json_put(o, v);
	else
		json_put_str(o, text);
}

static void
put_arguments(struct json_out *o, struct arena *a, struct str text)
{
	static const char *const usual[] = { "path", "file_text", "command",
		"description", "skill" };
	const struct json *given = arena_json(a, text, NULL), *v;
	size_t i;

	json_put_key(o, STR("arguments"));
	if (given == NULL || given->type != JSON_OBJECT) {
		put_value(o, text, given);
		return;
	}
	json_open(o, '{');
	for (i = 0; i < COUNTOF(usual); i++)
		if (json_getc(given, usual[i]) == NULL)
			json_put_member_cstr(o, usual[i], "");
	for (v = json_first(given); v != NULL; v = v->next) {
		json_put_key(o, json_key(v));
		json_put(o, v);
	}
	json_close(o, '}');
}

/* The same for every agent. */
static void
put_canonical(struct json_out *o, const struct answer_call *c)
{
	json_put_member_cstr(o, "tool", answer_tool_name(c->tool));
	json_put_member_str(o, "command", c->command);
	json_put_member_str(o, "path", c->path);
	json_put_member_str(o, "url", c->url);
}

static void
put_calls(struct json_out *o, struct arena *a, const struct answer *ans)
{
	const struct answer_call *c;

	json_open_member(o, "tool_calls", '[');
	for (c = ans->calls; c != NULL; c = c->next) {
		json_open(o, '{');
		json_put_member_str(o, "name", c->name);
		put_arguments(o, a, c->arguments);
		if (c->result.n > 0) {
			json_put_key(o, STR("result"));
			put_value(o, c->result, arena_json(a, c->result, NULL));
		}
		json_put_member_bool(o, "success", c->success);
		json_put_member_bool(o, "denied", c->denied);
		put_canonical(o, c);
		json_close(o, '}');
	}
	json_close(o, ']');
}

static bool
is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9') || c == '_';
}

/* Whether a string with values in it begins here: f'{x}', or `${x}`. */
static bool
opens_format(struct str code, size_t i)
{
	size_t k;

	if (code.p[i] == '`')
		return true;
	if (code.p[i] != '\'' && code.p[i] != '"')
		return false;
	for (k = i; k > 0 && i - k < 2 && is_word(code.p[k - 1]); k--)
		if (code.p[k - 1] == 'f' || code.p[k - 1] == 'F')
			return true;
	return false;
}

/* Whether the code uses the variable: a word outside of plain strings. */
static bool
uses(struct str code, struct str name)
{
	size_t i, from;
	char quote = 0, format = 0;

	for (i = 0; i < code.n; i++) {
		if (quote != 0) {
			i += code.p[i] == '\\';
			if (i < code.n && code.p[i] == quote)
				quote = 0;
		} else if (format != 0 && code.p[i] == format)
			format = 0;
		else if (format == 0 && opens_format(code, i))
			format = code.p[i];
		else if (code.p[i] == '\'' || code.p[i] == '"')
			quote = code.p[i];
		else if (is_word(code.p[i])) {
			for (from = i; i < code.n && is_word(code.p[i]); i++)
				;
			if (str_eq((struct str){ code.p + from, i - from },
			    name))
				return true;
			i--;
		}
	}
	return false;
}

/* Events contain the calls; errors are some of them. */
static bool
uses_events(struct str code)
{
	return uses(code, STR("transcript")) || uses(code, STR("errors"));
}

bool
code_uses_calls(const struct field_strs *assertions)
{
	size_t i;

	for (i = 0; i < assertions->n; i++)
		if (uses(assertions->v[i], STR("tool_calls")) ||
		    uses_events(assertions->v[i]))
			return true;
	return false;
}

/* Whether the code makes text of whole calls: str(tool_calls). */
static bool
uses_text(struct str code)
{
	static const char *const words[] = { "str", "repr", "ascii", "dumps",
		"format", "stringify", "String", "toString", "join", "values",
		"items" };
	size_t i;

	for (i = 0; i < COUNTOF(words); i++)
		if (uses(code, str_of(words[i])))
			return true;
	for (i = 0; i < code.n; i++)
		if (opens_format(code, i))
			return true;
	return false;
}

/* A part of a call that the code names, and some call does not have. */
static const char *
missing_part(struct arena *a, struct str code, const struct answer_call *c)
{
	const struct { struct str word; bool unknown; const char *what; }
	parts[] = {
		{ STR("arguments"), c->no_arguments, "arguments" },
		{ STR("command"), c->no_arguments && c->command.n == 0,
		    "arguments" },
		{ STR("path"), c->no_arguments && c->path.n == 0,
		    "arguments" },
		{ STR("url"), c->no_arguments && c->url.n == 0, "arguments" },
		{ STR("path"), c->more_paths, "which files a call changes" },
		{ STR("result"), c->no_result, "the results of tools" },
		{ STR("name"), c->no_name, "the names of tools" },
		{ STR("write"), c->any_edit,
		    "whether a file is written or edited" },
	};
	bool text = uses_text(code);
	size_t i;

	if (text && c->no_arguments && c->command.n == 0 && c->path.n == 0 &&
	    c->url.n == 0)
		return "arguments";
	if (text && c->no_result)
		return "the results of tools";
	for (i = 0; i < COUNTOF(parts); i++)
		if (parts[i].unknown &&
		    grader_search(a, code, parts[i].word) != SIZE_MAX)
			return parts[i].what;
	return NULL;
}

/* The arguments are not what the agent gave where asterisks replace a part. */
static bool
uses_masked(struct arena *a, struct str calls, struct str code)
{
	return uses(code, STR("command_invocations")) &&
	    grader_search(a, calls, STR("***")) != SIZE_MAX &&
	    (uses_text(code) ||
	    grader_search(a, code, STR("args")) != SIZE_MAX);
}

const char *
code_unknown(struct arena *a, const struct grader_input *in, struct str code)
{
	const struct answer *ans = in->answer;
	const struct answer_call *c;
	const char *what = NULL;
	bool events = uses_events(code);

	if (in->no_duration && uses(code, STR("duration_ms")))
		return "how long it took";
	if (uses_masked(a, ans->command_invocations, code))
		return "secrets in arguments of mocked commands";
	if (!events && !uses(code, STR("tool_calls")))
		return NULL;
	if (ans->no_calls)
		return "tool calls";
	if (events && !ans->echo && (ans->transcript.n == 0 ||
	    ans->truncated))
		return "its events";
	for (c = ans->calls; c != NULL && what == NULL; c = c->next)
		if (c->no_arguments || c->no_result || c->no_name ||
		    c->more_paths || c->any_edit)
			what = missing_part(a, code, c);
	return what;
}

static bool
has_error(struct arena *a, const struct json *event, const char *key)
{
	return grader_search(a, json_str(event, key), STR("error")) != SIZE_MAX;
}

static void
put_errors(struct json_out *o, struct arena *a, const struct json *events)
{
	const struct json *v;

	json_open_member(o, "errors", '[');
	for (v = json_first(events); v != NULL; v = v->next)
		if (has_error(a, v, "type") || has_error(a, v, "content"))
			json_put(o, v);
	json_close(o, ']');
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
	bool errors = mentioned(a, set, STR("errors"));
	const struct json *events = NULL;
	struct json_mem mem = { arena_hook, a };
	struct json_error e;
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	json_open(&o, '{');
	json_put_member_str(&o, "output", in->answer->output);
	json_put_member_int(&o, "duration_ms", in->duration_ms);
	if (mentioned(a, set, STR("outcome")))
		json_put_member_raw(&o, "outcome",
		    STR("{\"status\":\"completed\"}"));
	if (mentioned(a, set, STR("tool_calls")))
		put_calls(&o, a, in->answer);
	if (mentioned(a, set, STR("command_invocations")))
		json_put_member_raw(&o, "command_invocations",
		    in->answer->command_invocations.n > 0 ?
		    in->answer->command_invocations : STR("[]"));
	if (errors || mentioned(a, set, STR("transcript"))) {
		events = arena_json(a, in->answer->transcript, NULL);
		if (events == NULL || events->type != JSON_ARRAY)
			events = arena_json(a, STR("[]"), NULL);
		json_put_member(&o, "transcript", events);
	}
	if (errors)
		put_errors(&o, a, events);
	json_close(&o, '}');
	return json_read(&mem, arena_take(a, &b), JSON_DEPTH + OUTER_DEPTH, &e);
}
