/* SPDX-License-Identifier: ISC */
/*
 * How agents report a call that they did not make: a rule, a permission or
 * their sandbox stopped it.  An error of the tool itself never looks like this.
 */
#include "agent/agent_internal.h"

#include "json.h"

static const struct {
	const char *agent;
	const char *code;	/* of the error; NULL: any */
	const char *begin;	/* of its message; NULL: any */
} rows[] = {
	{ "copilot", "denied", NULL },
	{ "copilot", "rejected", NULL },
	{ "gemini", "path_not_in_workspace", NULL },
	{ "gemini", "policy_violation", NULL },
	{ "gemini", "tool_not_registered", NULL },	/* excluded, unknown */
	{ "gemini", "unhandled_exception", "Tool execution for \"" },
	{ "gemini", NULL, "Tool execution denied by policy" },
	{ "opencode", NULL, "The user has specified a rule which prevents you "
	    "from using this specific tool call" },
	{ "opencode", NULL, "The user rejected permission to use this specific "
	    "tool call" },
};

/* The message of an error: a string, or a member of an object. */
static struct str
message_of(const struct json *error)
{
	static const char *const keys[] = { "message", "error", "output" };
	struct str s = STR("");
	size_t i;

	if (error->type == JSON_STRING)
		return json_text(error);
	for (i = 0; i < COUNTOF(keys) && s.n == 0; i++)
		s = json_str(error, keys[i]);
	return s;
}

bool
agent_is_denial(struct str agent, const struct json *error)
{
	struct str code, message;
	size_t i;

	if (error == NULL)
		return false;
	code = json_str(error, "code");
	if (code.n == 0)
		code = json_str(error, "type");
	message = message_of(error);
	for (i = 0; i < COUNTOF(rows); i++)
		if (str_is(agent, rows[i].agent) &&
		    (rows[i].code == NULL || str_is(code, rows[i].code)) &&
		    (rows[i].begin == NULL ||
		    str_starts(message, str_of(rows[i].begin))))
			return true;
	return false;
}
