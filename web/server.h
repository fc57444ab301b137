/* SPDX-License-Identifier: ISC */
/*
 * server.h: server_.  The listeners of a server: stdio, TCP and unix sockets,
 * any number at once, all with the same methods behind them.
 *
 * A server is over when it is stopped, or when it serves nothing but stdio and
 * that peer has disconnected.  Then runs are cancelled; server_run() returns
 * when their children have ended.
 */
#ifndef WAZA_SERVER_H
#define WAZA_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "base/os_net.h"
#include "rpc.h"

enum { SERVER_LISTEN_MAX = 32 };	/* addresses */

struct server_port {
	struct server *server;
	struct os_listener at;
	const char *path;	/* of a unix socket, or NULL */
	bool http;		/* added by server_http() */
	struct fd_watch w;
	struct timer rest;	/* pause: no descriptor was free */
};

/*
 * Set the public part of rpc and the members before ports, zero the rest.
 *
 * Without a token, TCP peers are served only if their socket belongs to the
 * user of the server or to root (server_gate.c).
 */
struct server {
	struct rpc rpc;
	const struct conn_framer *framer;	/* NULL: chosen by the first
						 * bytes */
	struct web *web;	/* HTTP as well; or NULL */
	bool remote;		/* allow addresses other than loopback */
	bool no_token;		/* serve every user of this machine without a
				 * token; another host still needs it */
	void (*log)(const char *msg);	/* for its owner; or NULL */
	struct arena *arena;	/* lives as long as the server */
	struct server_port ports[SERVER_LISTEN_MAX];	/* private from here */
	size_t nports;
	bool stopping;
	size_t refusing;	/* connections that are being refused */
	int64_t log_since;	/* lines about them since then */
	unsigned logged;
};

void server_init(struct server *);	/* also calls rpc_init() */

/*
 * Listens on "HOST:PORT", "[IPv6]:PORT", or ":PORT" and "PORT", which mean
 * loopback; ports[] gets the addresses.  -1 and *e: nothing was bound.
 * server_http() accepts "http://" in front and needs the server's web.
 */
int server_tcp(struct server *, const char *where, struct err *);
int server_http(struct server *, const char *where, struct err *);
/* Listens on a unix socket; -1 and *e on failure. */
int server_unix(struct server *, const char *path, struct err *);
/* Serves stdin and stdout; -1 and *e: too many connections. */
int server_stdio(struct server *, struct err *);

/*
 * run serves until the server is over; -1 and *e: the loop failed.  stop ends
 * it, from within the loop.  fini closes everything and removes unix sockets.
 */
int server_run(struct server *, struct err *);
void server_stop(struct server *);
void server_fini(struct server *);

#endif
