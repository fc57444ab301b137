/* SPDX-License-Identifier: ISC */
/*
 * tool.h: tool_.  The methods of seeds/002 and of MCP: hello, ping, tools.
 *
 * A tool is a method under another name (eval_list for eval.list), or a
 * command of the settings that reads its arguments as JSON from stdin.  Both
 * protocols call it by tools/call.  After hello the result is {success,
 * result, structured}; after initialize it is {content, isError,
 * structuredContent}, and a tool that fails returns a result instead of an
 * error.
 */
#ifndef WAZA_TOOL_H
#define WAZA_TOOL_H

#include "base/base.h"
#include "rpc.h"

struct json;
struct rpc_run;

/* The tools of a server.  Set the public part, zero the rest. */
struct tools {
	const struct json *commands;	/* of the settings, by name; or NULL */
	size_t max;		/* commands at the same time; 0: 64 */
	size_t running;		/* private */
};

/* Registers the methods; the tools must live until rpc_fini(). */
void tool_add(struct rpc *, struct tools *);

/* A command of the settings: an entry of `tools`. */
struct tool_command {
	struct str name, description;
	struct field_strs command;
	const struct json *input_schema;	/* or NULL */
	double timeout_seconds;
};

/* Checks the tools of the settings: 0, or -1 and *e. */
int tool_check(struct arena *, const struct json *tools, struct err *);

/* Decodes the command of that name into the arena; false: there is none. */
bool tool_find(struct arena *, const struct json *tools, struct str name,
    struct tool_command *);

/*
 * Starts a command for a call, which is answered later by tool_answer() or
 * tool_fail(); RPC_FAIL: the call's error is set.
 */
enum rpc_status tool_run(struct rpc_call *, const struct tool_command *,
    const struct json *arguments);

/*
 * The result of tools/call, from the text that the tool printed; if that is
 * one JSON value, the result has it as well.  put writes it; answer and fail
 * answer a call that returned RPC_LATER.
 */
void tool_put(struct rpc_call *, struct str text, bool failed);
void tool_answer(struct rpc_call *, struct str text);
void tool_fail(struct rpc_call *, enum rpc_kind, struct str text);

/*
 * Notifies the caller of a run, which must not have begun, of its progress
 * (notifications/progress of MCP): if the token is a string or a number.
 */
void tool_progress(struct rpc_run *, const struct json *token);

#endif
