/* SPDX-License-Identifier: ISC */
/* Where evaluation clients come in: WebSockets at / and /ws. */
#include "web/evalclient.h"

#include "io/conn.h"
#include "web/web.h"

/* The token is asked for by the protocol itself. */
static void
on_socket(struct web_req *r)
{
	struct evalclients *s = r->arg;
	bool authed = r->authed;

	evalclient_adopt(s, web_upgrade(r), &conn_ws, authed);
}

static const struct web_route routes[] = {
	{ WEB_WS, "/", WEB_OPEN, on_socket },
	{ WEB_WS, "/ws", WEB_OPEN, on_socket },
};

void
evalclient_routes(struct web *w, struct evalclients *s)
{
	web_add(w, routes, COUNTOF(routes), s);
}
