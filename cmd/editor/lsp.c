/* SPDX-License-Identifier: ISC */
/* waza lsp: a language server on stdin and stdout. */
#include "editor/lsp.h"

#include <unistd.h>

#include "cmd/signals.h"
#include "rpc.h"
#include "waza.h"

struct lsp_opt {
	bool stdio;
};
static const struct opt lsp_rows[] = {
	CMD_OPT(lsp_opt, stdio, OPT_FLAG, .name = "stdio",
	    .help = "serve stdin and stdout; this is the default"),
};

struct server {
	struct rpc rpc;
	struct lsp lsp;
	bool stop;
};

static void
on_stop(void *arg)
{
	struct server *s = arg;

	s->stop = true;
}

static int
serve(struct server *s, struct err *e)
{
	int rc = 1;

	if (rpc_accept(&s->rpc, RPC_STDIO, STDIN_FILENO, STDOUT_FILENO,
	    &conn_lsp, true) == NULL)
		return err_set(e, ERR_LIMIT, "standard input: out of memory");
	while (rc == 1 && !s->stop)
		rc = loop_turn(s->rpc.loop, e);
	return rc == -1 ? -1 : 0;
}

static int
lsp_main(struct cmd_call *c)
{
	struct server s = { .rpc = { .version = cmd_version_number,
		.idle = on_stop } };
	struct cmd_signals signals = { 0 };
	int rc = -1;

	s.rpc.idle_arg = &s;
	s.rpc.loop = loop_new(NULL, c->err);
	if (s.rpc.loop == NULL)
		return cmd_complain(c->err);
	rpc_init(&s.rpc);
	lsp_add(&s.rpc, &s.lsp);
	if (cmd_signals_start(&signals, s.rpc.loop, on_stop, &s,
	    c->err) == 0)
		rc = serve(&s, c->err);
	rpc_cancel(&s.rpc);
	rpc_fini(&s.rpc);
	cmd_signals_stop(&signals);
	loop_free(s.rpc.loop);
	if (rc == -1)
		return cmd_complain(c->err);
	return s.rpc.exit_failed ? CMD_FAILED : CMD_OK;
}

const struct cmd_command cmd_lsp = {
	.name = "lsp", .usage = "[--stdio]",
	.opts = CMD_OPTS(lsp_rows), .size = sizeof(struct lsp_opt),
	.fn = lsp_main, .help = "Serve an editor over the Language Server Protocol"
};
