/* SPDX-License-Identifier: ISC */
/*
 * Where evaluation clients come in.  `waza run --http` has a small server for
 * nothing else: no methods, no files.
 */
#include "cmd/evalclients.h"

#include <stdio.h>

#include "cmd/run.h"
#include "suite/config.h"
#include "suite/spec.h"
#include "waza.h"
#include "web/server.h"
#include "web/web.h"

static size_t
count(void *arg)
{
	const struct cmd_evalclients *c = arg;

	return c->hub.nclients;
}

void
cmd_evalclients_put(void *arg, struct json_out *o)
{
	hub_put_clients(o, arg);
}

size_t
cmd_evalclients_queued(void *arg)
{
	const struct hub *r = arg;

	return r->waiting;
}

void
cmd_evalclients_start(struct cmd_evalclients *c, struct rpc *r, struct web *w,
    const struct config *conf)
{
	const struct config_remote *set = &conf->remote;

	c->hub.loop = c->peers.loop = r->loop;
	c->hub.grace_ms = set->grace_seconds * 1000;
	c->hub.lost_ms = set->lost_seconds * 1000;
	hub_init(&c->hub);
	c->peers.hub = &c->hub;
	c->peers.version = r->version;
	c->peers.token = r->access.token;
	c->peers.ping_ms = set->ping_seconds * 1000;
	c->peers.idle_ms = set->idle_seconds * 1000;
	c->peers.depth = r->limits.depth;
	evalclients_init(&c->peers);
	evalclient_routes(w, &c->peers);
	w->clients = count;
	w->clients_arg = c;
	r->setup.hub = &c->hub;
}

void
cmd_evalclients_fini(struct cmd_evalclients *c)
{
	if (c == NULL || c->hub.loop == NULL)
		return;
	evalclients_fini(&c->peers);
	hub_fini(&c->hub);
}

static const char **
names(struct arena *a, const struct field_strs *given)
{
	const char **v = NEW_N(a, const char *, given->n + 1);
	size_t i;

	for (i = 0; i < given->n; i++)
		v[i] = given->v[i].p;
	return v;
}

void
cmd_web_gates(struct arena *a, struct web *w, const struct config *c)
{
	w->remote = c->allow_remote;
	w->hosts = names(a, &c->hosts);
	w->nhosts = c->hosts.n;
	w->origins = names(a, &c->origins);
	w->norigins = c->origins.n;
}

/*
 * Of a run.
 */
struct cmd_http {
	struct server server;
	struct web web;
	struct cmd_evalclients clients;
};

static struct config *
load(struct cmd_job *j)
{
	const struct cmd_run_opt *o = &j->opt;
	struct config_flag flags[2];
	struct config_sources from = { .path = o->config_path,
		.json = o->config_json, .dir = j->suite->dir,
		.token = j->call->token, .flags = flags };
	struct spec_notes notes = { .arena = j->call->arena };
	struct config *c;

	if (o->token_file != NULL)
		flags[from.nflags++] = (struct config_flag){ "--token-file",
			"token_file", o->token_file };
	if (o->allow_remote)
		flags[from.nflags++] = (struct config_flag){ "--allow-remote",
			"allow_remote", "true" };
	c = config_load(j->call->arena, &from, &notes);
	if (c == NULL)			/* load() has said what else it is */
		err_set(j->call->err, ERR_SCHEMA, "the settings for --http "
		    "are wrong: %.150s", notes.head->msg);
	return c;
}

static int
set_up(struct cmd_job *j, struct cmd_http *h, const struct config *c)
{
	const struct config_limits *l = &c->limits;
	struct rpc *r = &h->server.rpc;
	struct err *e = j->call->err;

	if (config_token(j->call->arena, c, &r->access.token, NULL, e) == -1)
		return -1;
	if (c->allow_remote && r->access.token.n == 0)
		return err_set(e, ERR_SCHEMA, "--allow-remote needs a token: "
		    "set WAZA_AUTH_TOKEN or give --token-file");
	r->loop = j->loop;
	r->procs = &j->procs;
	r->version = cmd_version_number;
	r->limits.conns = (struct conn_limits){ (size_t)l->message_bytes,
		(size_t)l->queue_bytes, (size_t)l->connections, 0 };
	r->limits.depth = (unsigned)l->depth;
	h->server.arena = j->call->arena;
	h->server.remote = c->allow_remote;
	h->server.framer = &conn_line;	/* that is, HTTP and no other */
	h->server.web = &h->web;
	h->web.rpc = r;
	h->web.bare = true;
	cmd_web_gates(j->call->arena, &h->web, c);
	web_init(&h->web);
	server_init(&h->server);
	cmd_evalclients_start(&h->clients, r, &h->web, c);
	return 0;
}

int
cmd_evalclients_open(struct cmd_job *j)
{
	struct cmd_http *h;
	const struct config *c;
	size_t i;

	if (j->opt.http.n == 0)
		return 0;
	if (j->suite == NULL)
		return err_set(j->call->err, ERR_SCHEMA, "--http is for runs "
		    "here: clients of a server that runs it come to that");
	h = NEW(j->call->arena, struct cmd_http);
	c = load(j);
	if (c == NULL || set_up(j, h, c) == -1)
		return -1;
	j->http = h;
	j->run.hub = &h->clients.hub;
	for (i = 0; i < j->opt.http.n; i++)
		if (server_http(&h->server, j->opt.http.v[i],
		    j->call->err) == -1)
			return -1;
	for (i = 0; i < h->server.nports && !j->opt.quiet; i++)
		fprintf(stderr, "waza: evaluation clients come to ws://%s\n",
		    h->server.ports[i].at.name);
	return 0;
}

void
cmd_evalclients_close(struct cmd_job *j)
{
	struct cmd_http *h = j->http;

	if (h == NULL)
		return;
	server_fini(&h->server);
	cmd_evalclients_fini(&h->clients);
	web_fini(&h->web);
}
