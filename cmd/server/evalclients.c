/* SPDX-License-Identifier: ISC */
/*
 * Evaluation clients.  The server of `waza run --http` serves nothing else:
 * no methods, no files.
 */
#include "cmd/server/evalclients.h"


#include "cmd/run.h"
#include "cmd/service.h"
#include "suite/config.h"
#include "suite/spec.h"
#include "waza.h"
#include "web/server.h"
#include "web/web.h"

/* The server of `waza run --http`. */
struct cmd_http {
	struct server server;
	struct web web;
	struct cmd_evalclients clients;
};

static size_t
count(void *arg)
{
	const struct cmd_evalclients *c = arg;

	return c->hub.nclients;
}

void
cmd_evalclients_put(void *hub, struct json_out *o)
{
	hub_put_clients(o, hub);
}

size_t
cmd_evalclients_queued(void *arg)
{
	const struct hub *hub = arg;

	return hub->waiting;
}

void
cmd_evalclients_start(struct cmd_evalclients *c, struct rpc *r, struct web *w,
    const struct config *conf)
{
	const struct config_remote *set = &conf->remote;

	c->hub = (struct hub){ .loop = r->loop,
		.grace_ms = set->grace_seconds * 1000,
		.lost_ms = set->lost_seconds * 1000 };
	hub_init(&c->hub);
	c->clients = (struct evalclients){ .loop = r->loop, .hub = &c->hub,
		.version = r->version, .token = r->access.token,
		.ping_ms = set->ping_seconds * 1000,
		.idle_ms = set->idle_seconds * 1000, .depth = r->limits.depth };
	evalclients_init(&c->clients);
	evalclient_routes(w, &c->clients);
	w->clients = count;
	w->clients_arg = c;
	r->setup.hub = &c->hub;
}

void
cmd_evalclients_fini(struct cmd_evalclients *c)
{
	if (c == NULL || c->hub.loop == NULL)
		return;
	evalclients_fini(&c->clients);
	hub_fini(&c->hub);
}

/* Loading the suite has printed the warnings about the settings already. */
static const struct config *
load_settings(struct cmd_run *run)
{
	const struct cmd_run_opt *o = &run->opt;
	struct cmd_call *call = run->job.call;
	struct config_flag flags[] = {
		{ "--token-file", "token_file", o->server.token_file },
		{ "--allow-remote", "allow_remote",
		    o->server.allow_remote ? "true" : NULL },
	};
	struct config_sources from = { .path = o->execution.config_path,
		.json = o->execution.config_json, .dir = run->job.suite->dir,
		.token = call->token, .flags = flags,
		.trust = o->execution.trust,
		.nflags = cmd_given_flags(flags, COUNTOF(flags)) };
	struct spec_notes notes = { .arena = call->arena };
	const struct config *c = config_load(call->arena, &from, &notes);
	const struct spec_note *n = notes.head;

	while (n != NULL && n->level != FIELD_ERROR)
		n = n->next;
	if (c == NULL)
		err_set(call->err, ERR_SCHEMA, "invalid settings for --http: "
		    "%s", n->msg);
	return c;
}

static int
set_up(struct cmd_run *run, struct cmd_http *h, const struct config *c)
{
	struct rpc *r = &h->server.rpc;

	if (cmd_server_set_up(run->job.call, &h->server, c) == -1)
		return -1;
	r->limits.conns.idle_ms = 0;
	r->loop = run->job.loop;
	r->procs = &run->job.procs;
	h->server.no_token = run->opt.server.no_token;
	h->server.framer = &conn_line;	/* only HTTP is detected besides it */
	h->server.web = &h->web;
	h->web.rpc = r;
	h->web.bare = true;
	cmd_web_gates(run->job.call->arena, &h->web, c);
	web_init(&h->web);
	server_init(&h->server);
	cmd_evalclients_start(&h->clients, r, &h->web, c);
	return 0;
}

int
cmd_evalclients_open(struct cmd_run *run)
{
	const struct opt_list *http = &run->opt.server.http;
	struct cmd_call *call = run->job.call;
	struct cmd_http *h;
	const struct config *c;
	size_t i;

	if (http->n == 0)
		return 0;
	h = NEW(call->arena, struct cmd_http);
	c = load_settings(run);
	if (c == NULL || set_up(run, h, c) == -1)
		return -1;
	run->http = h;
	run->run.hub = &h->clients.hub;
	for (i = 0; i < http->n; i++)
		if (server_http(&h->server, http->v[i], call->err) == -1)
			return -1;
	for (i = 0; i < h->server.nports && !run->opt.job.quiet; i++)
		cmd_say("waza: listening for evaluation clients on "
		    "ws://%s\n", h->server.ports[i].at.name);
	return 0;
}

void
cmd_evalclients_close(struct cmd_run *run)
{
	struct cmd_http *h = run->http;

	if (h == NULL)
		return;
	server_fini(&h->server);
	cmd_evalclients_fini(&h->clients);
	web_fini(&h->web);
}
