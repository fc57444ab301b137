/* SPDX-License-Identifier: ISC */
/*
 * cmd/service.h: cmd_.  What the commands that serve share: options,
 * settings, token, roots, limits, signals, listeners.
 *
 * A command's options struct begins with a struct cmd_service_opt, and its
 * table with CMD_SERVICE_OPTS.  It then calls, in this order, load, start,
 * listen (and whatever else it has to say to the server), run and fini; each
 * but the last two says itself what is wrong.
 */
#ifndef WAZA_CMD_SERVICE_H
#define WAZA_CMD_SERVICE_H

#include <stdbool.h>

#include "io/loop.h"
#include "io/proc.h"
#include "lib/opt.h"
#include "rpc/session.h"
#include "rpc/tool.h"
#include "suite/config.h"
#include "waza.h"
#include "web/server.h"

struct cmd_evalclients;

struct cmd_service_opt {
	struct opt_list tcp, sockets, roots;
	const char *framing, *token_file, *path, *json;
	bool stdio, remote, hello, quiet;
};

#define CMD_SERVICE_OPT(m, t, ...) \
	{ .type = t, .off = offsetof(struct cmd_service_opt, m), __VA_ARGS__ }
#define CMD_SERVICE_OPTS \
	CMD_SERVICE_OPT(tcp, OPT_LIST, .name = "tcp", .value = "HOST:PORT", \
	    .help = "listen there; port 0 is any that is free"), \
	CMD_SERVICE_OPT(sockets, OPT_LIST, .name = "unix", .value = "PATH", \
	    .help = "listen on a unix socket"), \
	CMD_SERVICE_OPT(sockets, OPT_LIST, .name = "socket", .value = "PATH", \
	    .help = "the same"), \
	CMD_SERVICE_OPT(stdio, OPT_FLAG, .name = "stdio", \
	    .help = "serve stdin and stdout as well"), \
	CMD_SERVICE_OPT(framing, OPT_STR, .name = "framing", \
	    .value = "line|lsp", \
	    .help = "how messages are cut; else by the first bytes"), \
	CMD_SERVICE_OPT(roots, OPT_LIST, .name = "root", .value = "DIR", \
	    .help = "serve only files below it"), \
	CMD_SERVICE_OPT(token_file, OPT_STR, .name = "token-file", \
	    .value = "FILE", .help = "what clients on TCP have to show"), \
	CMD_SERVICE_OPT(remote, OPT_FLAG, .name = "allow-remote", \
	    .help = "listen on more than loopback; needs a token"), \
	CMD_SERVICE_OPT(hello, OPT_FLAG, .name = "require-hello", \
	    .help = "answer on sockets only after hello"), \
	CMD_SERVICE_OPT(path, OPT_STR, .name = "config-path", \
	    .value = "FILE", \
	    .help = "settings over the user's and the project's"), \
	CMD_SERVICE_OPT(json, OPT_STR, .name = "config-json", \
	    .value = "TEXT", .help = "settings over all others, as JSON"), \
	CMD_SERVICE_OPT(quiet, OPT_FLAG, .name = "quiet", .letter = 'q', \
	    .help = "do not say where it listens")

struct cmd_service {
	struct cmd_call *call;
	const struct cmd_service_opt *opt;
	struct config *config;
	struct procs procs;
	struct server server;
	struct tools tools;
	struct session_opts sessions;
	struct cmd_evalclients *clients;	/* or NULL */
	struct sig_watch sig[3];
};

/* Settings into the server; NULL: it has said why not. */
struct cmd_service *cmd_service_load(struct cmd_call *);

/* A loop, and signals that end the service.  Then only run and fini. */
int cmd_service_start(struct cmd_service *);

/* At what the options name; -1: the call's err says why not. */
int cmd_service_listen(struct cmd_service *);
/* At what `listen` in the settings names. */
int cmd_service_listen_set(struct cmd_service *);
int cmd_service_stdio(struct cmd_service *);

/* Says where it listens, and serves until it is over; the exit status. */
int cmd_service_run(struct cmd_service *);
void cmd_service_fini(struct cmd_service *);

#endif
