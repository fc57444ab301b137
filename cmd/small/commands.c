/* SPDX-License-Identifier: ISC */
/* The commands of a program that was built with SMALL=1. */
#include "waza.h"

static const struct cmd_command *const commands[] = {	/* sorted by name */
	&cmd_cache,
	&cmd_command_record,
	&cmd_compare,
	&cmd_config,
	&cmd_doctor,
	&cmd_gate,
	&cmd_grade,
	&cmd_help,
	&cmd_jsonrpc,
	&cmd_list,
	&cmd_match,
	&cmd_mcp_mock,
	&cmd_mcp_record,
	&cmd_merge,
	&cmd_parse,
	&cmd_results,
	&cmd_run,
	&cmd_schema_check,
	&cmd_validate,
	&cmd_version,
};

static const char *const left_out[] = {		/* sorted by name */
	"call", "check", "completion", "connect", "coverage",
	"delete-session", "disconnect", "generate-fix", "import", "init",
	"lsp", "models", "new", "ping", "quality", "schema", "serve",
	"session", "suggest", "tokens", "view", "worker",
};

const struct cmd_table cmd_commands = {
	.v = commands, .n = COUNTOF(commands),
	.left_out = left_out, .nleft = COUNTOF(left_out)
};
