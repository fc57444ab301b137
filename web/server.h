/* SPDX-License-Identifier: ISC */
/*
 * server.h: server_.  Where peers come in: stdio, TCP and unix sockets, any
 * number of them at once, all with the same methods behind them.
 *
 * It is over when it has been told to stop, or when it serves nothing but
 * stdio and that peer has gone; runs are cancelled then, and it ends when
 * their children have.
 */
#ifndef WAZA_SERVER_H
#define WAZA_SERVER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"
#include "base/os_net.h"
#include "rpc.h"

enum { SERVER_LISTEN_MAX = 32 };	/* addresses */

struct server_port {
	struct server *server;
	struct os_listener at;
	const char *path;	/* of a unix socket, or NULL */
	bool http;		/* it was asked for as that */
	struct fd_watch w;
	struct timer rest;	/* no descriptor was free */
};

/* Set the rpc's public part and these, zero the rest. */
struct server {
	struct rpc rpc;
	const struct conn_framer *framer;	/* NULL: by the first bytes */
	struct web *web;	/* HTTP as well, if the first bytes say so;
				 * or NULL */
	bool remote;		/* addresses other than loopback are fine */
	struct arena *arena;	/* lives as long as the server */
	struct server_port ports[SERVER_LISTEN_MAX];	/* private from here */
	size_t nports;
	bool stopping;
};

void server_init(struct server *);

/*
 * "HOST:PORT", "[IPv6]:PORT", ":PORT" and "PORT", which mean loopback.
 * ports[] has what came of it.  -1: refused (then nothing was bound), or the
 * system said no.
 */
int server_tcp(struct server *, const char *where, struct err *);
/* The same, maybe with "http://" before it; needs the server's web. */
int server_http(struct server *, const char *where, struct err *);
int server_unix(struct server *, const char *path, struct err *);
int server_stdio(struct server *, struct err *);

/* Serves until it is over; -1 when the loop fails. */
int server_run(struct server *, struct err *);
void server_stop(struct server *);	/* from within the loop */
void server_fini(struct server *);	/* unix sockets are removed */

#endif
