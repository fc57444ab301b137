/* SPDX-License-Identifier: ISC */
/*
 * waza_service.h: waza_.  What the commands that serve share: options,
 * settings, token, roots, limits, signals, listeners.
 *
 * A command's options struct begins with a struct waza_service_opt, and its
 * table with WAZA_SERVICE_OPTS.  It then calls, in this order, load, start,
 * listen (and whatever else it has to say to the server), run and fini; each
 * but the last two says itself what is wrong.
 */
#ifndef WAZA_WAZA_SERVICE_H
#define WAZA_WAZA_SERVICE_H

#include <stdbool.h>

#include "config.h"
#include "loop.h"
#include "opt.h"
#include "proc.h"
#include "server.h"
#include "waza.h"

struct waza_clients;

struct waza_service_opt {
	struct opt_list tcp, sockets, roots;
	const char *framing, *token_file, *path, *json;
	bool stdio, remote, hello, quiet;
};

#define WAZA_SERVICE_OPT(m, t, ...) \
	{ .type = t, .off = offsetof(struct waza_service_opt, m), __VA_ARGS__ }
#define WAZA_SERVICE_OPTS \
	WAZA_SERVICE_OPT(tcp, OPT_LIST, .name = "tcp", .value = "HOST:PORT", \
	    .help = "listen there; port 0 is any that is free"), \
	WAZA_SERVICE_OPT(sockets, OPT_LIST, .name = "unix", .value = "PATH", \
	    .help = "listen on a unix socket"), \
	WAZA_SERVICE_OPT(sockets, OPT_LIST, .name = "socket", .value = "PATH", \
	    .help = "the same"), \
	WAZA_SERVICE_OPT(stdio, OPT_FLAG, .name = "stdio", \
	    .help = "serve stdin and stdout as well"), \
	WAZA_SERVICE_OPT(framing, OPT_STR, .name = "framing", \
	    .value = "line|lsp", \
	    .help = "how messages are cut; else by the first bytes"), \
	WAZA_SERVICE_OPT(roots, OPT_LIST, .name = "root", .value = "DIR", \
	    .help = "serve only files below it"), \
	WAZA_SERVICE_OPT(token_file, OPT_STR, .name = "token-file", \
	    .value = "FILE", .help = "what clients on TCP have to show"), \
	WAZA_SERVICE_OPT(remote, OPT_FLAG, .name = "allow-remote", \
	    .help = "listen on more than loopback; needs a token"), \
	WAZA_SERVICE_OPT(hello, OPT_FLAG, .name = "require-hello", \
	    .help = "answer on sockets only after hello"), \
	WAZA_SERVICE_OPT(path, OPT_STR, .name = "config-path", \
	    .value = "FILE", \
	    .help = "settings over the user's and the project's"), \
	WAZA_SERVICE_OPT(json, OPT_STR, .name = "config-json", \
	    .value = "TEXT", .help = "settings over all others, as JSON"), \
	WAZA_SERVICE_OPT(quiet, OPT_FLAG, .name = "quiet", .letter = 'q', \
	    .help = "do not say where it listens")

struct waza_service {
	struct waza_call *call;
	const struct waza_service_opt *opt;
	struct config *config;
	struct procs procs;
	struct server server;
	struct waza_clients *clients;	/* or NULL */
	struct sig_watch sig[3];
};

/* Settings into the server; NULL: it has said why not. */
struct waza_service *waza_service_load(struct waza_call *);

/* A loop, and signals that end the service.  Then only run and fini. */
int waza_service_start(struct waza_service *);

/* At what the options name; -1: the call's err says why not. */
int waza_service_listen(struct waza_service *);
/* At what `listen` in the settings names. */
int waza_service_listen_set(struct waza_service *);
int waza_service_stdio(struct waza_service *);

/* Says where it listens, and serves until it is over; the exit status. */
int waza_service_run(struct waza_service *);
void waza_service_fini(struct waza_service *);

#endif
