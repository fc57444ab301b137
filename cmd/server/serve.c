/* SPDX-License-Identifier: ISC */
/*
 * waza serve: a long-lived server for several clients.
 *
 * It listens on the addresses of its options, else on those of the settings,
 * else for HTTP on port 3000 of loopback.  If an option names an address, those
 * of the settings are ignored.  All sockets serve HTTP, too.
 */
#include "waza.h"

#include "cmd/server/evalclients.h"
#include "cmd/service.h"
#include "results/history.h"
#include "web/web.h"
#include "web/web_api.h"
#include "web/web_page.h"

#define DEFAULT_HTTP "127.0.0.1:3000"

struct serve_opt {
	struct cmd_service_opt service;	/* first */
	struct opt_list http;
	const char *results_dir, *port;
	bool no_browser;
};

static const struct opt rows[] = {
	CMD_OPT(serve_opt, http, OPT_LIST, .name = "http",
	    .value = "HOST:PORT", .group = "Listeners",
	    .help = "listen for HTTP (default: " DEFAULT_HTTP ")"),
	CMD_OPT(serve_opt, port, OPT_STR, .name = "port", .value = "N",
	    .help = "the same as --http 127.0.0.1:N"),
	CMD_SERVICE_OPTS,
	/* of other versions */
	CMD_OPT(serve_opt, no_browser, OPT_FLAG, .name = "no-browser"),
	{ .name = "tcp-allow-remote", .instead = "use --allow-remote" },
	CMD_OPT(serve_opt, results_dir, OPT_STR, .name = "results-dir",
	    .value = "DIR", .group = "Results",
	    .help = "show results below DIR, and store those of runs there"),
};

/* By default the page shows the results that `waza run` keeps here. */
static void
show_kept(const struct cmd_service *s, struct web_api *api)
{
	struct arena *a = s->call->arena;
	const char *root = s->config->project_dir != NULL ?
	    s->config->project_dir : ".";

	api->root = root;
	if (!history_exists(a, root))
		return;
	api->results_dir = history_dir(a, root);
	api->read_only = true;
}

static int
start(struct cmd_service *s, struct web_api *api)
{
	const struct serve_opt *o = s->call->opt;

	if (cmd_service_start(s) == -1)
		return -1;
	s->clients = NEW(s->call->arena, struct cmd_evalclients);
	cmd_evalclients_start(s->clients, &s->server.rpc, s->server.web,
	    s->config);
	s->clients->hub.changed = web_api_clients;
	s->clients->hub.arg = api;
	api->put_clients = cmd_evalclients_put;
	api->queued = cmd_evalclients_queued;
	api->clients_arg = &s->clients->hub;
	api->web = s->server.web;
	api->results_dir = o->results_dir;
	if (o->results_dir == NULL)
		show_kept(s, api);
	return web_api_init(api, s->call->err);
}

static int
listen_all(struct cmd_service *s)
{
	const struct serve_opt *o = s->call->opt;
	bool named = o->http.n > 0 || o->port != NULL || o->service.tcp.n > 0 ||
	    o->service.sockets.n > 0 || o->service.stdio;
	size_t i;

	if (!named && s->config->nports > 0)
		return cmd_service_listen_set(s);
	if (!named)
		return server_http(&s->server, DEFAULT_HTTP, s->call->err);
	if (o->port != NULL && server_http(&s->server, arena_fmt(
	    s->call->arena, "127.0.0.1:%s", o->port).p, s->call->err) == -1)
		return -1;
	for (i = 0; i < o->http.n; i++)
		if (server_http(&s->server, o->http.v[i], s->call->err) == -1)
			return -1;
	return cmd_service_listen(s);
}

static int
serve(struct cmd_call *c)
{
	struct cmd_service *s = cmd_service_load(c);
	struct web *w = NEW(c->arena, struct web);
	struct web_api *api = NEW(c->arena, struct web_api);
	int status;

	if (s == NULL)
		return CMD_ERROR;
	w->rpc = &s->server.rpc;
	cmd_web_gates(c->arena, w, s->config);
	web_init(w);
	web_page_add(w);
	s->server.web = w;
	if (start(s, api) == -1 || listen_all(s) == -1)
		status = cmd_complain(c->err);
	else
		status = cmd_service_run(s);
	if (s->clients != NULL)
		s->clients->hub.changed = NULL;
	web_api_fini(api);
	cmd_service_fini(s);
	web_fini(w);
	return status;
}

const struct cmd_command cmd_serve = {
	.name = "serve", .group = CMD_SERVERS,
	.usage = "[--http HOST:PORT] [--results-dir DIR] [OPTION ...]",
	.help = "Serve the page, the HTTP API and JSON-RPC to many clients",
	.opts = CMD_OPTS(rows), .size = sizeof(struct serve_opt),
	.fn = serve,
};
