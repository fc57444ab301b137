/* SPDX-License-Identifier: ISC */
/* The commands of the whole program. */
#include "waza.h"

static const struct cmd_command *const commands[] = {	/* sorted by name */
	&cmd_complete,
	&cmd_cache,
	&cmd_call_server,
	&cmd_check,
	&cmd_command_record,
	&cmd_compare,
	&cmd_completion,
	&cmd_config,
	&cmd_connect,
	&cmd_coverage,
	&cmd_delete_session,
	&cmd_disconnect,
	&cmd_doctor,
	&cmd_gate,
	&cmd_generate_fix,
	&cmd_grade,
	&cmd_help,
	&cmd_import,
	&cmd_init,
	&cmd_jsonrpc,
	&cmd_list,
	&cmd_lsp,
	&cmd_match,
	&cmd_mcp_mock,
	&cmd_mcp_record,
	&cmd_merge,
	&cmd_models,
	&cmd_new,
	&cmd_parse,
	&cmd_ping,
	&cmd_quality,
	&cmd_results,
	&cmd_run,
	&cmd_schema,
	&cmd_schema_check,
	&cmd_serve,
	&cmd_session,
	&cmd_suggest,
	&cmd_tokens,
	&cmd_validate,
	&cmd_version,
	&cmd_view,
	&cmd_worker,
};

const struct cmd_table cmd_commands = {
	.v = commands, .n = COUNTOF(commands)
};
