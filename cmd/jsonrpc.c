/* SPDX-License-Identifier: ISC */
/*
 * waza jsonrpc: the methods for editors and tools, on stdio, TCP and unix
 * sockets.
 *
 * Where it listens is said by its own options only: an editor that starts it
 * wants to talk to it by pipes, whatever the settings have.
 */
#include "waza.h"

#include "cmd/service.h"

static const struct opt rows[] = { CMD_SERVICE_OPTS };

static int
serve(struct cmd_service *s)
{
	if (cmd_service_start(s) == -1 || cmd_service_listen(s) == -1)
		return cmd_complain(s->call->err);
	if (s->server.nports == 0 && !s->opt->stdio &&
	    cmd_service_stdio(s) == -1)
		return cmd_complain(s->call->err);
	return cmd_service_run(s);
}

static int
jsonrpc(struct cmd_call *c)
{
	struct cmd_service *s = cmd_service_load(c);
	int status;

	if (s == NULL)
		return CMD_ERROR;
	status = serve(s);
	cmd_service_fini(s);
	return status;
}

const struct cmd_command cmd_jsonrpc = {
	.name = "jsonrpc",
	.usage = "[--tcp HOST:PORT] [--unix PATH] [OPTION ...]",
	.help = "serve editors and tools by JSON-RPC",
	.opts = CMD_OPTS(rows), .size = sizeof(struct cmd_service_opt),
	.fn = jsonrpc,
};
