/* SPDX-License-Identifier: ISC */
/*
 * Listeners.  Each hands an accepted connection on and keeps nothing of it.
 */
#include "web/server_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"
#include "io/loop.h"
#include "web/web.h"

enum {
	ACCEPT_MAX = 64,	/* connections accepted in a turn */
	PORT_MAX = 65535,
	REST_MS = 100,		/* pause when no descriptor is free */
	ALIVE_S = 15		/* a dead peer is noticed after four of these */
};

static void
on_idle(void *arg)
{
	struct server *s = arg;

	if (s->nports == 0)
		server_stop(s);
}

void
server_init(struct server *s)
{
	s->rpc.idle = on_idle;
	s->rpc.idle_arg = s;
	rpc_init(&s->rpc);
}

static void
on_rest(void *arg)
{
	struct server_port *p = arg;

	fd_want(p->server->rpc.loop, &p->w, LOOP_READ);
}

static enum rpc_via
via_of(const struct server_port *p)
{
	return p->path != NULL ? RPC_UNIX : RPC_TCP;
}

static void
adopt(struct server_port *p, struct conn *c, const struct conn_framer *f,
    bool authed)
{
	struct server *s = p->server;

	if (f == &conn_http)
		s->web->adopt(s->web, c, via_of(p), authed);
	else
		rpc_adopt(&s->rpc, via_of(p), c, f, authed);
}

static void
on_chosen(void *arg, struct conn *c, const struct conn_framer *f)
{
	adopt(arg, c, f, false);
}

static void
on_chosen_authed(void *arg, struct conn *c, const struct conn_framer *f)
{
	adopt(arg, c, f, true);
}

/* The protocol is chosen by the first bytes, unless the listener has one. */
static void
hand_on(struct server_port *p, int fd, bool authed)
{
	struct server *s = p->server;
	struct conn_opts o = { .in = fd, .out = fd, .arg = p,
		.chosen = authed ? on_chosen_authed : on_chosen };
	struct conn *c;

	if (!p->http && (s->web == NULL || s->framer != NULL)) {
		rpc_accept(&s->rpc, via_of(p), fd, fd, s->framer, authed);
		return;
	}
	c = conn_new(rpc_conns(&s->rpc), &o);
	if (c != NULL && s->framer != NULL)
		s->web->adopt(s->web, c, RPC_TCP, authed);
}

static void
let_in(struct server_port *p, int fd)
{
	const char *why;
	enum server_entry entry = server_gate(p, fd, &why);

	if (entry == SERVER_REFUSED)
		server_refuse(p, fd, why);
	else
		hand_on(p, fd, entry == SERVER_SERVED);
}

static void
on_connection(void *arg, int ready)
{
	struct server_port *p = arg;
	struct server *s = p->server;
	int i, fd;

	(void)ready;
	for (i = 0; i < ACCEPT_MAX; i++) {
		fd = os_accept(p->at.fd);
		if (fd == -1)
			break;
		if (p->path == NULL)
			os_keepalive(fd, ALIVE_S);
		let_in(p, fd);
	}
	if (i < ACCEPT_MAX && (errno == EMFILE || errno == ENFILE)) {
		fd_want(s->rpc.loop, &p->w, 0);
		timer_start(s->rpc.loop, &p->rest, REST_MS);
	}
}

static void
add_port(struct server *s, const struct os_listener *at, const char *path)
{
	struct server_port *p = &s->ports[s->nports++];

	*p = (struct server_port){ .server = s, .at = *at, .path = path,
		.w = { .fd = at->fd, .fn = on_connection, .arg = p },
		.rest = { .fn = on_rest, .arg = p } };
	fd_start(s->rpc.loop, &p->w, LOOP_READ);
}

static int
no_room(struct err *e)
{
	return err_set(e, ERR_LIMIT, "more than %d addresses to listen on",
	    SERVER_LISTEN_MAX);
}

/* The last colon separates host and port; an IPv6 address is in brackets. */
static int
split(struct arena *a, const char *where, const char **host,
    const char **port, struct err *e)
{
	const char *colon = strrchr(where, ':');
	struct str h;

	*host = "127.0.0.1";
	*port = colon != NULL ? colon + 1 : where;
	if (**port == '\0' || strspn(*port, "0123456789") != strlen(*port) ||
	    strlen(*port) > 5 || strtol(*port, NULL, 10) > PORT_MAX)
		return err_set(e, ERR_SCHEMA,
		    "\"%s\" is not HOST:PORT with "
		    "a port from 0 to 65535", where);
	if (colon == NULL || colon == where)
		return 0;
	h = (struct str){ where, (size_t)(colon - where) };
	if (h.n > 2 && h.p[0] == '[' && h.p[h.n - 1] == ']')
		h = (struct str){ h.p + 1, h.n - 2 };
	else if (memchr(h.p, ':', h.n) != NULL)
		return err_set(e, ERR_SCHEMA, "\"%s\" is not HOST:PORT; "
		    "put an IPv6 address in brackets", where);
	*host = arena_str(a, h).p;
	return 0;
}

/* An address that other hosts can reach is refused: name the options. */
static void
explain_remote(const struct server *s, const char *where, struct err *e)
{
	err_set(e, ERR_SCHEMA, "\"%.80s\" is not a loopback address; to listen "
	    "there, use --allow-remote%s", where, s->rpc.access.token.n > 0 ?
	    "" : " and a token (WAZA_AUTH_TOKEN or --token-file)");
}

int
server_tcp(struct server *s, const char *where, struct err *e)
{
	struct os_listener at[OS_LISTEN_MAX];
	const char *host, *port;
	int i, n;

	if (split(s->arena, where, &host, &port, e) == -1)
		return -1;
	if (s->nports + OS_LISTEN_MAX > SERVER_LISTEN_MAX)
		return no_room(e);
	n = os_listen_tcp(host, port, s->remote, at, OS_LISTEN_MAX, e);
	if (n == -1 && e->code == ERR_SCHEMA)
		explain_remote(s, where, e);
	for (i = 0; i < n; i++)
		add_port(s, &at[i], NULL);
	return n > 0 ? 0 : -1;
}

/* A name that the server listens on is allowed as Host. */
static void
add_host(struct server *s, const char *host)
{
	struct web *w = s->web;
	const char **v = NEW_N(s->arena, const char *, w->nhosts + 1);

	if (w->nhosts > 0)
		memcpy(v, w->hosts, w->nhosts * sizeof(*v));
	v[w->nhosts++] = host;
	w->hosts = v;
}

int
server_http(struct server *s, const char *where, struct err *e)
{
	static const char scheme[] = "http://";
	const char *host, *port;
	size_t i = s->nports, n;

	if (s->web == NULL)
		return err_set(e, ERR_SCHEMA, "%s: HTTP is not served",
		    where);
	if (strncmp(where, scheme, sizeof(scheme) - 1) == 0) {
		where += sizeof(scheme) - 1;
		n = strlen(where);
		if (n > 0 && where[n - 1] == '/')
			where = arena_str(s->arena, (struct str){ where,
			    n - 1 }).p;
	}
	if (server_tcp(s, where, e) == -1 ||
	    split(s->arena, where, &host, &port, e) == -1)
		return -1;
	add_host(s, host);
	for (; i < s->nports; i++)
		s->ports[i].http = true;
	return 0;
}

int
server_unix(struct server *s, const char *path, struct err *e)
{
	struct os_listener at = { 0 };

	if (s->nports == SERVER_LISTEN_MAX)
		return no_room(e);
	at.fd = os_listen_unix(path, e);
	if (at.fd == -1)
		return -1;
	add_port(s, &at, path);
	return 0;
}

int
server_stdio(struct server *s, struct err *e)
{
	if (rpc_accept(&s->rpc, RPC_STDIO, STDIN_FILENO, STDOUT_FILENO,
	    s->framer, true) == NULL)
		return err_set(e, ERR_LIMIT, "standard input: out of memory");
	return 0;
}

void
server_stop(struct server *s)
{
	size_t i;

	if (s->stopping)
		return;
	s->stopping = true;
	for (i = 0; i < s->nports; i++) {
		fd_stop(s->rpc.loop, &s->ports[i].w);
		timer_stop(s->rpc.loop, &s->ports[i].rest);
	}
	rpc_cancel(&s->rpc);
}

int
server_run(struct server *s, struct err *e)
{
	int rc = 1;

	while (rc == 1 && !(s->stopping && !rpc_busy(&s->rpc)))
		rc = loop_turn(s->rpc.loop, e);
	return rc == -1 ? -1 : 0;
}

void
server_fini(struct server *s)
{
	size_t i;

	server_stop(s);
	rpc_fini(&s->rpc);
	for (i = 0; i < s->nports; i++) {
		os_close(&s->ports[i].at.fd);
		if (s->ports[i].path != NULL)
			unlink(s->ports[i].path);
	}
}
