/* SPDX-License-Identifier: ISC */
/*
 * waza jsonrpc: the methods for editors and tools, on stdio, TCP and unix
 * sockets.
 *
 * Where it listens is said by its own options only: an editor that starts it
 * wants to talk to it by pipes, whatever the settings have.
 */
#include "waza.h"

#include "waza_service.h"

static const struct opt rows[] = { WAZA_SERVICE_OPTS };

static int
serve(struct waza_service *s)
{
	if (waza_service_start(s) == -1 || waza_service_listen(s) == -1)
		return waza_complain(s->call->err);
	if (s->server.nports == 0 && !s->opt->stdio &&
	    waza_service_stdio(s) == -1)
		return waza_complain(s->call->err);
	return waza_service_run(s);
}

static int
jsonrpc(struct waza_call *c)
{
	struct waza_service *s = waza_service_load(c);
	int status;

	if (s == NULL)
		return WAZA_BAD;
	status = serve(s);
	waza_service_fini(s);
	return status;
}

const struct waza_command waza_jsonrpc = {
	.name = "jsonrpc",
	.usage = "[--tcp HOST:PORT] [--unix PATH] [OPTION ...]",
	.help = "serve editors and tools by JSON-RPC",
	.opts = WAZA_OPTS(rows), .size = sizeof(struct waza_service_opt),
	.fn = jsonrpc,
};
