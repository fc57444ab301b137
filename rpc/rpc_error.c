/* SPDX-License-Identifier: ISC */
/*
 * The kinds of errors, and their numbers.
 *
 * The documents that we serve have given some numbers twice.  A reader knows
 * which family it called, so each family keeps its own; where a document says
 * nothing, a kind has a number that no document uses.
 */
#include "rpc.h"

#define SAME(n) { n, n, n }

static const struct kind {
	const char *name, *text;
	int number[RPC_FAMILY__MAX];
} kinds[] = {
	[RPC_PARSE_ERROR] = { "parse_error", "Parse error", SAME(-32700) },
	[RPC_INVALID_REQUEST] = { "invalid_request", "Invalid request", SAME(-32600) },
	[RPC_METHOD_NOT_FOUND] = { "method_not_found", "Method not found", SAME(-32601) },
	[RPC_INVALID_PARAMS] = { "invalid_params", "Invalid params", SAME(-32602) },
	[RPC_INTERNAL] = { "internal", "Internal error", SAME(-32603) },
	[RPC_EVAL_NOT_FOUND] = { "eval_not_found", "Eval not found", { -32000, -32020, -32020 } },
	[RPC_VALIDATION_FAILED] = { "validation_failed", "Validation failed",
	    { -32001, -32021, -32602 } },
	[RPC_RUN_FAILED] = { "run_failed", "Run failed", { -32002, -32000, -32010 } },
	[RPC_TOOL_FAILED] = { "tool_failed", "Tool failed", { -32002, -32000, -32010 } },
	[RPC_AUTH_FAILED] = { "auth_failed", "Authentication failed: invalid or missing token",
	    { -32024, -32001, -32024 } },
	[RPC_PATH_DENIED] = { "path_denied", "Path access denied", { -32025, -32002, -32011 } },
	[RPC_TIMEOUT] = { "timeout", "Timeout", { -32002, -32000, -32010 } },
	[RPC_RATE_LIMITED] = { "rate_limited", "Rate limit exceeded", { -32027, -32027, -32015 } },
	[RPC_TOOL_UNKNOWN] = { "tool_unknown", "Unknown tool", { -32028, -32602, -32028 } },
	[RPC_RESOURCE] = { "resource", "Resource error", { -32029, -32029, -32015 } },
	[RPC_SESSION_NOT_FOUND] = { "session_not_found", "Session not found", SAME(-32003) },
	[RPC_AGENT_INIT] = { "agent_init", "Agent initialization failed", SAME(-32012) },
	[RPC_SESSION_BUSY] = { "session_busy", "Session in use", SAME(-32013) },
	[RPC_CONFIG] = { "config", "Configuration error", SAME(-32014) },
	[RPC_IO] = { "io", "I/O error", SAME(-32016) },
	[RPC_SERIALIZATION] = { "serialization", "Serialization error", SAME(-32017) },
	[RPC_TRANSPORT] = { "transport", "Transport error", { -32030, -32030, -32001 } },
	[RPC_CANCELLED] = { "cancelled", "Cancelled", SAME(-32031) },
	[RPC_RUN_NOT_FOUND] = { "run_not_found", "Run not found", SAME(-32602) },
	[RPC_WORKSPACE] = { "workspace", "Workspace error", SAME(-32011) },
	[RPC_NO_RESULT] = { "no_result", "No results", SAME(-32032) },
	[RPC_RUN_OVER] = { "run_over", "The run is over", SAME(-32033) },
	[RPC_TASK_NOT_FOUND] = { "task_not_found", "Task not found", SAME(-32602) },
};

/* Fails to compile when a kind has no row. */
typedef char rows_are_complete[COUNTOF(kinds) == RPC_KIND__MAX ? 1 : -1];

int
rpc_number(enum rpc_kind kind, enum rpc_family family)
{
	return kinds[kind].number[family];
}

const char *
rpc_kind_name(enum rpc_kind kind)
{
	return kinds[kind].name;
}

const char *
rpc_kind_text(enum rpc_kind kind)
{
	return kinds[kind].text;
}
