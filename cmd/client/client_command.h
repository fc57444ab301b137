/* SPDX-License-Identifier: ISC */
/*
 * cmd/client_command.h: cmd_.  Shared by the commands that ask a server: their
 * options, the choice of server, and one request with its answer.
 */
#ifndef WAZA_CMD_CLIENT_COMMAND_H
#define WAZA_CMD_CLIENT_COMMAND_H

#include <stdbool.h>
#include <stdint.h>

#include "cmd/client/client.h"
#include "cmd/stdout.h"
#include "cmd/signals.h"
#include "io/loop.h"
#include "lib/opt.h"
#include "waza.h"

/* NULL members were not given. */
struct cmd_client_opt {
	const char *connect, *token_file, *framing, *timeout;
	const char *config_path, *config_json;
	bool trust;
};

/* Rows for a struct that begins with a struct cmd_client_opt. */
#define CMD_CLIENT_OPT(m, t, ...) CMD_OPT(cmd_client_opt, m, t, __VA_ARGS__)
#define CMD_CLIENT_OPTS \
	CMD_CLIENT_OPT(framing, OPT_STR, .name = "framing", \
	    .value = "line|lsp", .help = "framing of messages (default: " \
	    "lsp on unix sockets, else line)"), \
	CMD_CLIENT_OPT(token_file, OPT_STR, .name = "token-file", \
	    .value = "FILE", .help = "file with the token for the server"), \
	CMD_CLIENT_OPT(timeout, OPT_STR, .name = "timeout", \
	    .value = "SECONDS", \
	    .help = "give up after this much silence (0: never)"), \
	CMD_CONFIG_OPTS(cmd_client_opt, config_path, config_json, trust)
#define CMD_CONNECT_OPT \
	CMD_CLIENT_OPT(connect, OPT_STR, .name = "connect", \
	    .value = "TARGET", .group = "Connection", \
	    .help = "ask this server instead of the connected one")

/*
 * Chooses the server: that of --connect, else of WAZA_HOST and WAZA_PORT,
 * else the connected one, else that of the settings.  Fills in everything but
 * the loop and the functions.  -1: the reason was printed.
 */
int cmd_client_find(struct cmd_call *, const struct cmd_client_opt *,
    struct client_opts *);

/* One request.  Set the first part and zero the rest. */
struct cmd_ask {
	struct cmd_call *call;
	struct client_opts opts;	/* from cmd_client_find */
	const char *method;
	struct str params;
	/*
	 * Both may be NULL; their JSON is valid during the call only.  answer
	 * returns false if there is something else to wait for.
	 */
	void (*notify)(struct cmd_ask *, const struct json *message,
	    struct str method, const struct json *params);
	bool (*answer)(struct cmd_ask *, const struct client_answer *);
	void *arg;
	/* the outcome: */
	bool over;		/* set it to end the waiting */
	struct str server;	/* "waza 1.2.3", from the server */
	struct cmd_stdout out;	/* stdout, until cmd_ask returns */
	struct client client;	/* private from here */
	bool lost;		/* disconnected before it was over */
	int64_t id;
	struct loop *loop;
	struct cmd_signals signals;
};

/*
 * Sends the request and waits.  CMD_OK after a result or an error of the
 * server; 128 + the signal after one; else CMD_ERROR, and the reason was
 * printed.
 */
int cmd_ask(struct cmd_ask *);

#endif
