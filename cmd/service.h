/* SPDX-License-Identifier: ISC */
/*
 * cmd/service.h: cmd_.  Shared by `waza serve` and `waza jsonrpc`: options,
 * settings, token, roots, limits, signals and listeners.
 *
 * A command's options struct begins with a struct cmd_service_opt, and its
 * table contains CMD_SERVICE_OPTS.  It calls load, start, listen, run and
 * fini, in this order.
 */
#ifndef WAZA_CMD_SERVICE_H
#define WAZA_CMD_SERVICE_H

#include <stdbool.h>

#include "cmd/signals.h"
#include "io/proc.h"
#include "lib/opt.h"
#include "rpc/session.h"
#include "rpc/tool.h"
#include "suite/config.h"
#include "waza.h"
#include "web/server.h"

struct cmd_evalclients;
struct web;

struct cmd_service_opt {
	struct opt_list tcp, sockets, roots;
	const char *framing, *token_file, *path, *json;
	bool stdio, allow_remote, no_token, hello, trust, quiet;
};

#define CMD_SERVICE_OPT(m, t, ...) CMD_OPT(cmd_service_opt, m, t, __VA_ARGS__)
#define CMD_SERVICE_OPTS \
	CMD_SERVICE_OPT(tcp, OPT_LIST, .name = "tcp", .value = "HOST:PORT", \
	    .group = "Listeners", \
	    .help = "listen on TCP (port 0: any free port; repeatable)"), \
	CMD_SERVICE_OPT(sockets, OPT_LIST, .name = "unix", .value = "PATH", \
	    .help = "listen on a unix socket (repeatable)"), \
	CMD_SERVICE_OPT(sockets, OPT_LIST, .name = "socket", .value = "PATH", \
	    .help = "the same as --unix"), \
	CMD_SERVICE_OPT(stdio, OPT_FLAG, .name = "stdio", \
	    .help = "serve stdin and stdout as well"), \
	CMD_SERVICE_OPT(framing, OPT_STR, .name = "framing", \
	    .value = "line|lsp", \
	    .help = "framing of messages (default: detected)"), \
	CMD_SERVICE_OPT(roots, OPT_LIST, .name = "root", .value = "DIR", \
	    .group = "Access", \
	    .help = "serve only files below DIR (repeatable)"), \
	CMD_SERVICE_OPT(token_file, OPT_STR, .name = "token-file", \
	    .value = "FILE", .help = "file with the token for TCP clients"), \
	CMD_SERVICE_OPT(allow_remote, OPT_FLAG, .name = "allow-remote", \
	    .help = "listen on more than loopback; needs a token"), \
	CMD_SERVICE_OPT(no_token, OPT_FLAG, .name = "no-token", \
	    .help = "serve all users of this machine without a token"), \
	CMD_SERVICE_OPT(hello, OPT_FLAG, .name = "require-hello", \
	    .help = "require hello before other requests on sockets"), \
	CMD_CONFIG_OPTS(cmd_service_opt, path, json, trust), \
	CMD_SERVICE_OPT(quiet, OPT_FLAG, .name = "quiet", .letter = 'q', \
	    .help = "do not print the addresses")

struct cmd_service {
	struct cmd_call *call;
	const struct cmd_service_opt *opt;
	struct config *config;
	struct procs procs;
	struct server server;
	struct tools tools;
	struct session_opts sessions;
	struct cmd_evalclients *clients;	/* or NULL */
	struct cmd_signals signals;
};

/*
 * Sets token, version, limits and access of a server from the settings.  -1
 * with the call's err.
 */
int cmd_server_set_up(struct cmd_call *, struct server *,
    const struct config *);

/* Sets the hosts and origins that the settings allow; copies to the arena. */
void cmd_web_gates(struct arena *, struct web *, const struct config *);

/* Loads the settings and sets the server up.  NULL: the reason was printed. */
struct cmd_service *cmd_service_load(struct cmd_call *);

/*
 * Creates the loop, and lets signals stop the service.  -1 with the call's
 * err; then call fini.
 */
int cmd_service_start(struct cmd_service *);

/*
 * Each starts listeners, and returns -1 with the call's err: those that the
 * options name; those of `listen` in the settings; stdin and stdout.
 */
int cmd_service_listen(struct cmd_service *);
int cmd_service_listen_set(struct cmd_service *);
int cmd_service_stdio(struct cmd_service *);

/* Prints the addresses and serves until it is stopped; the exit status. */
int cmd_service_run(struct cmd_service *);
/* Closes all connections and frees the loop, if there is one. */
void cmd_service_fini(struct cmd_service *);

#endif
