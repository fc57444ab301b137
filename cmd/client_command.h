/* SPDX-License-Identifier: ISC */
/*
 * cmd/client_command.h: cmd_.  Shared by the commands that ask a server: their
 * options, the choice of server, and one request with its answer.
 */
#ifndef WAZA_CMD_CLIENT_COMMAND_H
#define WAZA_CMD_CLIENT_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cmd/client.h"
#include "cmd/stdout.h"
#include "io/loop.h"
#include "lib/opt.h"
#include "waza.h"

/* The zero value says nothing. */
struct cmd_client_opt {
	const char *connect, *token_file, *framing, *timeout;
	const char *config_path, *config_json;
};

/* Rows for a struct whose first member is one of these. */
#define CMD_CLIENT_OPT(m, t, ...) \
	{ .type = t, .off = offsetof(struct cmd_client_opt, m), __VA_ARGS__ }
#define CMD_CLIENT_OPTS \
	CMD_CLIENT_OPT(framing, OPT_STR, .name = "framing", \
	    .value = "line|lsp", .help = "how messages are cut"), \
	CMD_CLIENT_OPT(token_file, OPT_STR, .name = "token-file", \
	    .value = "FILE", .help = "what to show to the server"), \
	CMD_CLIENT_OPT(timeout, OPT_STR, .name = "timeout", \
	    .value = "SECONDS", .help = "of silence, then give up; 0: never"), \
	CMD_CLIENT_OPT(config_path, OPT_STR, .name = "config-path", \
	    .value = "FILE", \
	    .help = "settings over the user's and the project's"), \
	CMD_CLIENT_OPT(config_json, OPT_STR, .name = "config-json", \
	    .value = "TEXT", .help = "settings over all others, as JSON")
#define CMD_CONNECT_OPT \
	CMD_CLIENT_OPT(connect, OPT_STR, .name = "connect", \
	    .value = "TARGET", .help = "ask this server, not the connected")

/*
 * Which server it is: the one of --connect, of WAZA_HOST and WAZA_PORT, the
 * one that is connected, the settings'.  Fills in all but the loop and the
 * functions.  -1: it has said what is wrong.
 */
int cmd_client_find(struct cmd_call *, const struct cmd_client_opt *,
    struct client_opts *);

/* One question.  Set the first part, zero the rest. */
struct cmd_ask {
	struct cmd_call *call;
	struct client_opts opts;	/* of cmd_client_find */
	const char *method;
	struct str params;
	/* these may be NULL; what is told or answered lives for the call.
	 * answer: false when there is something else to wait for */
	void (*notify)(struct cmd_ask *, const struct json *message,
	    struct str method, const struct json *params);
	bool (*answer)(struct cmd_ask *, const struct client_answer *);
	void *arg;
	/* what came of it */
	bool over;		/* set it to end the waiting */
	int signo;		/* a signal ended it, or 0 */
	struct str server;	/* "waza 1.2.3", as it says */
	struct cmd_stdout out;	/* stdout, until it ends */
	struct client client;	/* private from here */
	bool lost;		/* it has gone before it was over */
	int64_t id;
	struct loop *loop;
	struct cmd_ask_signal {
		struct sig_watch w;
		struct cmd_ask *ask;
	} sig[3];
};

/*
 * Asks and waits.  CMD_OK when all has come that was to come, whatever it
 * was; 128 + the signal after one; else CMD_ERROR, and it has said why.
 */
int cmd_ask(struct cmd_ask *);

#endif
