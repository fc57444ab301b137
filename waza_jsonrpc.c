/* SPDX-License-Identifier: ISC */
/*
 * waza jsonrpc: the methods for editors and tools, on stdio, TCP and unix
 * sockets.
 *
 * Where it listens is said by its own options only: an editor that starts it
 * wants to talk to it by pipes, whatever the settings have.  stdout belongs
 * to the protocol; what there is to say to people goes to stderr.
 */
#include "waza.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "config.h"
#include "loop.h"
#include "os.h"
#include "proc.h"
#include "server.h"
#include "tool.h"

struct jsonrpc_opt {
	struct opt_list tcp, sockets, roots;
	const char *framing, *token_file, *path, *json;
	bool stdio, remote, hello, quiet;
};

#define ROW(m, t, ...) \
	{ .type = t, .off = offsetof(struct jsonrpc_opt, m), __VA_ARGS__ }
static const struct opt rows[] = {
	ROW(tcp, OPT_LIST, .name = "tcp", .value = "HOST:PORT",
	    .help = "listen there; port 0 is any that is free"),
	ROW(sockets, OPT_LIST, .name = "unix", .value = "PATH",
	    .help = "listen on a unix socket"),
	ROW(stdio, OPT_FLAG, .name = "stdio",
	    .help = "serve stdin and stdout as well"),
	ROW(framing, OPT_STR, .name = "framing", .value = "line|lsp",
	    .help = "how messages are cut; else by the first bytes"),
	ROW(roots, OPT_LIST, .name = "root", .value = "DIR",
	    .help = "serve only files below it"),
	ROW(token_file, OPT_STR, .name = "token-file", .value = "FILE",
	    .help = "what clients on TCP have to show"),
	ROW(remote, OPT_FLAG, .name = "allow-remote",
	    .help = "listen on more than loopback; needs a token"),
	ROW(hello, OPT_FLAG, .name = "require-hello",
	    .help = "answer on sockets only after hello"),
	ROW(path, OPT_STR, .name = "config-path", .value = "FILE",
	    .help = "settings over the user's and the project's"),
	ROW(json, OPT_STR, .name = "config-json", .value = "TEXT",
	    .help = "settings over all others, as JSON"),
	ROW(quiet, OPT_FLAG, .name = "quiet", .letter = 'q',
	    .help = "do not say where it listens"),
};

struct service {
	struct waza_call *call;
	const struct jsonrpc_opt *opt;
	struct config *config;
	struct procs procs;
	struct server server;
	struct sig_watch sig[3];
};

/*
 * Settings.
 */
static size_t
flags(struct service *s, struct config_flag *v)
{
	const struct jsonrpc_opt *o = s->opt;
	size_t i, n = 0;

	if (o->framing != NULL)
		v[n++] = (struct config_flag){ "--framing", "framing",
			o->framing };
	if (o->token_file != NULL)
		v[n++] = (struct config_flag){ "--token-file", "token_file",
			o->token_file };
	if (o->remote)
		v[n++] = (struct config_flag){ "--allow-remote",
			"allow_remote", "true" };
	if (o->hello)
		v[n++] = (struct config_flag){ "--require-hello",
			"require_hello", "true" };
	for (i = 0; i < o->roots.n; i++)
		v[n++] = (struct config_flag){ "--root", "roots",
			o->roots.v[i] };
	return n;
}

static int
load(struct service *s)
{
	struct waza_call *c = s->call;
	struct config_flag *v = NEW_N(c->arena, struct config_flag,
	    s->opt->roots.n + 4);
	struct config_sources from = { .path = s->opt->path,
		.json = s->opt->json, .flags = v, .token = c->token };
	struct spec_notes notes = { .arena = c->arena };
	struct buf b = { 0 };
	const struct spec_note *n;

	from.nflags = flags(s, v);
	s->config = config_load(c->arena, &from, &notes);
	for (n = notes.head; n != NULL; n = n->next)
		spec_note_put(&b, n);
	fprintf(stderr, "%.*s", STRF(buf_str(&b)));
	buf_free(&b);
	return s->config == NULL ? -1 : 0;
}

/* On sockets files are served from here on downwards, if nothing is said. */
static int
set_roots(struct service *s)
{
	const struct field_strs *given = &s->config->roots;
	struct rpc *r = &s->server.rpc;
	const char **v = NEW_N(s->call->arena, const char *, given->n + 1);
	size_t i;

	for (i = 0; i < given->n; i++) {
		v[i] = given->v[i].p;
		if (access(v[i], F_OK) == -1)
			return err_sys(s->call->err, v[i]);
	}
	if (given->n == 0)
		v[0] = ".";
	r->roots = v;
	r->nroots = given->n > 0 ? given->n : 1;
	r->stdio_roots = given->n > 0;
	return 0;
}

static const char *
or_null(struct str s)
{
	return s.n > 0 ? s.p : NULL;
}

static int
set_up(struct service *s)
{
	static const struct conn_framer *const framers[] = {
		[CONFIG_AUTO] = NULL, [CONFIG_LINE] = &conn_line,
		[CONFIG_LSP] = &conn_lsp,
	};
	const struct config *c = s->config;
	const struct config_limits *l = &c->limits;
	struct rpc *r = &s->server.rpc;
	struct err *e = s->call->err;

	if (config_token(s->call->arena, c, &r->token, NULL, e) == -1 ||
	    tool_check(s->call->arena, c->tools, e) == -1 ||
	    set_roots(s) == -1)
		return -1;
	if (c->allow_remote && r->token.n == 0)
		return err_set(e, ERR_SCHEMA, "--allow-remote needs a token: "
		    "set WAZA_AUTH_TOKEN or give --token-file");
	s->server.arena = s->call->arena;
	s->server.remote = c->allow_remote;
	s->server.framer = framers[c->framing];
	r->version = waza_number;
	r->unix_token = c->unix_token;
	r->require_hello = c->require_hello;
	r->limits = (struct conn_limits){ (size_t)l->message_bytes,
		(size_t)l->queue_bytes, (size_t)l->connections,
		l->idle_seconds * 1000 };
	r->depth = (unsigned)l->depth;
	r->runs_max = (size_t)l->runs;
	r->kept_max = (size_t)l->kept_runs;
	r->executor = or_null(c->executor);
	r->model = or_null(c->model);
	r->tools = c->tools;
	r->settings = c;
	return 0;
}

/*
 * Service.
 */
static void
on_signal(void *arg)
{
	struct service *s = arg;

	server_stop(&s->server);
}

static int
start(struct service *s)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct rpc *r = &s->server.rpc;
	size_t i;

	procs_init(&s->procs, r->loop, true);
	r->procs = &s->procs;
	server_init(&s->server);
	for (i = 0; i < COUNTOF(signals); i++) {
		s->sig[i] = (struct sig_watch){ .signo = signals[i],
			.fn = on_signal, .arg = s };
		if (sig_start(r->loop, &s->sig[i], s->call->err) == -1)
			return -1;
	}
	return 0;
}

static int
listen_all(struct service *s)
{
	const struct jsonrpc_opt *o = s->opt;
	const struct server_port *p;
	struct err *e = s->call->err;
	size_t i;

	for (i = 0; i < o->tcp.n; i++)
		if (server_tcp(&s->server, o->tcp.v[i], e) == -1)
			return -1;
	for (i = 0; i < o->sockets.n; i++)
		if (server_unix(&s->server, o->sockets.v[i], e) == -1)
			return -1;
	for (i = 0; i < s->server.nports && !o->quiet; i++) {
		p = &s->server.ports[i];
		fprintf(stderr, "waza: listening on %s\n",
		    p->path != NULL ? p->path : p->at.name);
	}
	if (o->stdio || s->server.nports == 0)
		return server_stdio(&s->server, e);
	return 0;
}

static int
serve(struct service *s)
{
	struct err *e = s->call->err;
	int status = WAZA_OK;

	if (start(s) == -1 || listen_all(s) == -1 ||
	    server_run(&s->server, e) == -1)
		status = waza_complain(e);
	server_fini(&s->server);
	procs_fini(&s->procs);
	return status;
}

static int
jsonrpc(struct waza_call *c)
{
	struct service *s = NEW(c->arena, struct service);
	int status;

	s->call = c;
	s->opt = c->opt;
	if (load(s) == -1)
		return WAZA_BAD;
	if (set_up(s) == -1)
		return waza_complain(c->err);
	s->server.rpc.loop = loop_new(NULL, c->err);
	if (s->server.rpc.loop == NULL)
		return waza_complain(c->err);
	status = serve(s);
	loop_free(s->server.rpc.loop);
	return status;
}

const struct waza_command waza_jsonrpc = {
	.name = "jsonrpc",
	.usage = "[--tcp HOST:PORT] [--unix PATH] [OPTION ...]",
	.help = "serve editors and tools by JSON-RPC",
	.opts = WAZA_OPTS(rows), .size = sizeof(struct jsonrpc_opt),
	.fn = jsonrpc,
};
