/* SPDX-License-Identifier: ISC */
/*
 * waza jsonrpc: serves editors and tools over stdio, TCP and unix sockets.
 * Only options add listeners, because an editor that starts it expects pipes,
 * whatever the settings contain.
 */
#include "waza.h"

#include "cmd/service.h"

static const struct opt rows[] = { CMD_SERVICE_OPTS };

static int
serve_client(struct cmd_service *s)
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
	status = serve_client(s);
	cmd_service_fini(s);
	return status;
}

const struct cmd_command cmd_jsonrpc = {
	.name = "jsonrpc", .group = CMD_SERVERS,
	.usage = "[--tcp HOST:PORT] [--unix PATH] [OPTION ...]",
	.help = "Serve editors and tools over JSON-RPC",
	.opts = CMD_OPTS(rows), .size = sizeof(struct cmd_service_opt),
	.fn = jsonrpc,
};
