/* SPDX-License-Identifier: ISC */
/*
 * tool.h: tool_.  The methods of seeds/002 and of MCP: hello, ping, tools.
 *
 * A tool is a method under another name (eval_list for eval.list, also
 * cmd_eval_list), or a command of the settings that gets its arguments as
 * JSON on stdin.  Both worlds call them by tools/call.  One that said hello
 * gets {success, result}; one that said initialize gets `content` as well,
 * and a tool that fails is no error to it but a result with isError.
 */
#ifndef WAZA_TOOL_H
#define WAZA_TOOL_H

#include "base/base.h"
#include "rpc.h"

struct json;

/* A command of the settings: an entry of `tools`. */
struct tool_command {
	struct str name, description;
	struct field_strs command;
	const struct json *input_schema;	/* or NULL */
	double timeout_seconds;
};

/* What is wrong with the settings' tools is said in *e. */
int tool_check(struct arena *, const struct json *tools, struct err *);

/* The entry of that name; false: there is none. */
bool tool_find(struct arena *, const struct json *tools, struct str name,
    struct tool_command *);

/* Runs it for the call, which is answered by tool_answer() or tool_fail(). */
enum rpc_status tool_run(struct rpc_call *, const struct tool_command *,
    const struct json *arguments);

/*
 * Answers of tools/call.  The text is what the tool printed; when it is one
 * JSON value, that goes along as it is.
 */
void tool_put(struct rpc_call *, struct str text, bool failed);
void tool_answer(struct rpc_call *, struct str text);	/* of a LATER one */
void tool_fail(struct rpc_call *, enum rpc_kind, struct str text);

#endif
