/* SPDX-License-Identifier: ISC */
/*
 * A server, set up from options and settings.
 *
 * stdout belongs to the protocol; messages for people go to stderr.
 */
#include "cmd/service.h"

#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"
#include "cmd/server/evalclients.h"
#include "rpc/rpc_view.h"
#include "web/web.h"

/*
 * Settings.
 */
static int
load(struct cmd_service *s)
{
	const struct cmd_service_opt *o = s->opt;
	const struct config_flag fixed[] = {
		{ "--framing", "framing", o->framing },
		{ "--token-file", "token_file", o->token_file },
		{ "--allow-remote", "allow_remote",
		    o->allow_remote ? "true" : NULL },
		{ "--require-hello", "require_hello",
		    o->hello ? "true" : NULL },
	};
	struct config_flag *v = NEW_N(s->call->arena, struct config_flag,
	    COUNTOF(fixed) + o->roots.n);
	struct config_sources from = { .path = o->path, .json = o->json,
		.flags = v, .token = s->call->token, .trust = o->trust };
	size_t i;

	memcpy(v, fixed, sizeof(fixed));
	for (i = 0; i < o->roots.n; i++)
		v[COUNTOF(fixed) + i] = (struct config_flag){ "--root",
			"roots", o->roots.v[i] };
	from.nflags = cmd_given_flags(v, COUNTOF(fixed) + o->roots.n);
	s->config = cmd_load_config(s->call, &from);
	return s->config == NULL ? -1 : 0;
}

/* By default, files below the working directory are served on sockets. */
static int
set_roots(struct cmd_service *s)
{
	const struct field_strs *given = &s->config->roots;
	const char *work = s->config->sessions.working_dir.p;
	struct rpc *r = &s->server.rpc;
	const char **v = NEW_N(s->call->arena, const char *, given->n + 2);
	size_t i, n = 0;

	for (i = 0; i < given->n; i++)
		v[n++] = given->v[i].p;
	if (n == 0) {
		v[n++] = ".";
		if (*work != '\0')
			v[n++] = work;
	}
	for (i = 0; i < n; i++)
		if (access(v[i], F_OK) == -1)
			return err_sys(s->call->err, v[i]);
	r->access.roots = v;
	r->access.nroots = n;
	r->access.stdio_roots = given->n > 0;
	return 0;
}

/* Reads the template of prompts once; later changes have no effect. */
static int
read_template(struct cmd_service *s)
{
	struct str path = s->config->sessions.prompt_template, text;
	struct arena a = { 0 };
	struct err *e = s->call->err, bad = { 0 };
	int r = 0;

	if (path.n == 0)
		return 0;
	if (os_read_file(s->call->arena, path.p, SESSION_TEMPLATE_MAX, &text,
	    e) == -1)
		return -1;
	if (!utf8_valid(text))
		r = err_set(e, ERR_SYNTAX, "%s: is not UTF-8",
		    path.p);
	else if (session_check_template(&a, text, &bad) == -1)
		r = err_set(e, ERR_SCHEMA, "%s:%u:%u: %s", path.p,
		    bad.line, bad.col, bad.msg);
	arena_free(&a);
	s->sessions.template = text;
	return r;
}

/*
 * Drops the line if standard error does not take it at once: a pipe whose
 * reader has stopped must not stop the server.
 */
static void
print_log(const char *msg)
{
	struct pollfd p = { .fd = STDERR_FILENO, .events = POLLOUT };

	if (poll(&p, 1, 0) != 0)
		cmd_say("waza: %s\n", msg);
}

static void
print_message(void *arg, const char *msg)
{
	(void)arg;
	print_log(msg);
}

static const char *
or_null(struct str s)
{
	return s.n > 0 ? s.p : NULL;
}

int
cmd_server_set_up(struct cmd_call *call, struct server *server,
    const struct config *c)
{
	const struct config_limits *l = &c->limits;
	struct rpc *r = &server->rpc;

	if (config_token(call->arena, c, &r->access.token, NULL,
	    call->err) == -1)
		return -1;
	if (c->allow_remote && r->access.token.n == 0)
		return err_set(call->err, ERR_SCHEMA, "--allow-remote needs a "
		    "token: set WAZA_AUTH_TOKEN or give --token-file");
	server->arena = call->arena;
	server->remote = c->allow_remote;
	server->log = print_log;
	r->version = cmd_version_number;
	r->limits.conns = (struct conn_limits){ (size_t)l->message_bytes,
		(size_t)l->queue_bytes, (size_t)l->connections,
		l->idle_seconds * 1000 };
	r->limits.depth = (unsigned)l->depth;
	return 0;
}

static int
set_up(struct cmd_service *s)
{
	static const struct conn_framer *const framers[] = {
		[CONFIG_AUTO] = NULL, [CONFIG_LINE] = &conn_line,
		[CONFIG_LSP] = &conn_lsp,
	};
	const struct config *c = s->config;
	struct rpc *r = &s->server.rpc;

	if (cmd_server_set_up(s->call, &s->server, c) == -1 ||
	    tool_check(s->call->arena, c->tools, s->call->err) == -1 ||
	    set_roots(s) == -1)
		return -1;
	s->server.framer = framers[c->framing];
	s->server.no_token = s->opt->no_token;
	r->access.unix_token = c->unix_token;
	r->access.require_hello = c->require_hello;
	r->limits.runs = (size_t)c->limits.runs;
	r->limits.kept_runs = (size_t)c->limits.kept_runs;
	s->tools.max = (size_t)c->limits.tools;
	r->setup.executor = or_null(c->executor);
	r->setup.model = or_null(c->model);
	s->tools.commands = c->tools;
	r->setup.settings = c;
	return read_template(s);
}

/*
 * Service.
 */
static void
on_signal(void *arg)
{
	struct cmd_service *s = arg;

	server_stop(&s->server);
}

int
cmd_service_start(struct cmd_service *s)
{
	struct rpc *r = &s->server.rpc;

	r->loop = loop_new(NULL, s->call->err);
	if (r->loop == NULL)
		return -1;
	procs_init(&s->procs, r->loop, true);
	procs_guard(&s->procs);		/* while this process is small */
	r->procs = &s->procs;
	server_init(&s->server);
	if (cmd_signals_start(&s->signals, r->loop, on_signal, s,
	    s->call->err) == -1)
		return -1;
	rpc_add_evals(r);
	tool_add(r, &s->tools);
	s->sessions.log = print_message;
	return session_open(r, &s->sessions, s->call->err);
}

int
cmd_service_listen(struct cmd_service *s)
{
	const struct cmd_service_opt *o = s->opt;
	struct err *e = s->call->err;
	size_t i;

	for (i = 0; i < o->tcp.n; i++)
		if (server_tcp(&s->server, o->tcp.v[i], e) == -1)
			return -1;
	for (i = 0; i < o->sockets.n; i++)
		if (server_unix(&s->server, o->sockets.v[i], e) == -1)
			return -1;
	return o->stdio ? cmd_service_stdio(s) : 0;
}

static int
listen_at(struct cmd_service *s, const struct config_port *p)
{
	struct err *e = s->call->err;

	switch (p->via) {
	case CONFIG_STDIO:
		return cmd_service_stdio(s);
	case CONFIG_TCP:
		return server_tcp(&s->server, p->where, e);
	case CONFIG_UNIX:
		return server_unix(&s->server, p->where, e);
	case CONFIG_HTTP:
		break;
	}
	return server_http(&s->server, p->where, e);
}

int
cmd_service_listen_set(struct cmd_service *s)
{
	const struct config *c = s->config;
	size_t i;

	for (i = 0; i < c->nports; i++)
		if (listen_at(s, &c->ports[i]) == -1)
			return -1;
	return 0;
}

int
cmd_service_stdio(struct cmd_service *s)
{
	return server_stdio(&s->server, s->call->err);
}

static void
print_addresses(const struct cmd_service *s)
{
	const struct server_port *p;
	size_t i;

	for (i = 0; i < s->server.nports && !s->opt->quiet; i++) {
		p = &s->server.ports[i];
		cmd_say("waza: listening on %s%s\n",
		    p->http ? "http://" : "",
		    p->path != NULL ? p->path : p->at.name);
	}
}

int
cmd_service_run(struct cmd_service *s)
{
	print_addresses(s);
	if (server_run(&s->server, s->call->err) == -1)
		return cmd_complain(s->call->err);
	return s->server.rpc.exit_failed ? CMD_FAILED : CMD_OK;
}

void
cmd_service_fini(struct cmd_service *s)
{
	if (s->server.rpc.loop == NULL)
		return;
	if (s->server.rpc.state != NULL && rpc_busy(&s->server.rpc))
		procs_fini(&s->procs);	/* the loop has failed */
	server_fini(&s->server);
	cmd_evalclients_fini(s->clients);
	cmd_signals_stop(&s->signals);
	procs_fini(&s->procs);
	loop_free(s->server.rpc.loop);
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

struct cmd_service *
cmd_service_load(struct cmd_call *c)
{
	struct cmd_service *s = NEW(c->arena, struct cmd_service);

	s->call = c;
	s->opt = c->opt;
	if (load(s) == -1)
		return NULL;
	if (set_up(s) == -1) {
		cmd_complain(c->err);
		return NULL;
	}
	return s;
}
