/* SPDX-License-Identifier: ISC */
/* What every server has: how it is, and its methods over a WebSocket. */
#include "web/web.h"

static void
health(struct web_req *r)
{
	struct web *w = r->web;
	struct json_out *o = web_json(r);

	json_open(o, '{');
	json_put_member_cstr(o, "status", "ok");
	json_put_member_cstr(o, "version", w->rpc->version);
	json_put_member_int(o, "runs", (int64_t)w->rpc->running);
	json_put_member_int(o, "clients",
	    w->clients != NULL ? (int64_t)w->clients(w->clients_arg) : 0);
	json_close(o, '}');
	web_end_json(r, 200);
}

/* JSON-RPC, each message a frame. */
static void
rpc(struct web_req *r)
{
	struct rpc *server = r->web->rpc;
	bool authed = r->authed;

	rpc_adopt(server, RPC_WS, web_upgrade(r), &conn_ws)->authed = authed;
}

static const struct web_route rows[] = {
	{ WEB_GET, "/health", WEB_OPEN, health },
	{ WEB_GET, "/api/v1/health", WEB_OPEN, health },
};
static const struct web_route rpc_row = { WEB_WS, "/rpc", WEB_OPEN, rpc };


void
web_init(struct web *w)
{
	w->date_at = -1;
	web_add(w, rows, COUNTOF(rows), NULL);
	if (!w->bare)
		web_add(w, &rpc_row, 1, NULL);
}
