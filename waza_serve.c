/* SPDX-License-Identifier: ISC */
/*
 * waza serve: a server that stays, for several clients.
 *
 * It listens where its options say, else where the settings do.  The options
 * leave nothing of the settings: who names a socket wants no other open.
 */
#include "waza.h"

#include "waza_service.h"

struct serve_opt {
	struct waza_service_opt service;	/* first */
};

static const struct opt rows[] = { WAZA_SERVICE_OPTS };

static bool
is_told(const struct serve_opt *o)
{
	return o->service.tcp.n > 0 || o->service.sockets.n > 0 ||
	    o->service.stdio;
}

static int
listen_all(struct waza_service *s)
{
	const struct serve_opt *o = s->call->opt;

	if (is_told(o))
		return waza_service_listen(s);
	if (s->config->nports > 0)
		return waza_service_listen_set(s);
	return err_set(s->call->err, ERR_SCHEMA, "nowhere to listen: give "
	    "--tcp, --socket or --stdio, or set \"listen\"");
}

static int
serve(struct waza_call *c)
{
	struct waza_service *s = waza_service_load(c);
	int status;

	if (s == NULL)
		return WAZA_BAD;
	if (waza_service_start(s) == -1 || listen_all(s) == -1)
		status = waza_complain(c->err);
	else
		status = waza_service_run(s);
	waza_service_fini(s);
	return status;
}

const struct waza_command waza_serve = {
	.name = "serve",
	.usage = "[--tcp HOST:PORT] [--socket PATH] [OPTION ...]",
	.help = "serve several clients at once",
	.opts = WAZA_OPTS(rows), .size = sizeof(struct serve_opt),
	.fn = serve,
};
