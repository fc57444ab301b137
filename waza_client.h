/* SPDX-License-Identifier: ISC */
/*
 * waza_client.h: waza_.  What the commands share that ask a server: their
 * options, which server that is, and one question with its answer.
 */
#ifndef WAZA_WAZA_CLIENT_H
#define WAZA_WAZA_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client.h"
#include "loop.h"
#include "opt.h"
#include "waza.h"
#include "waza_out.h"

/* The zero value says nothing. */
struct waza_client_opt {
	const char *connect, *token_file, *framing, *timeout;
	const char *config_path, *config_json;
};

/* Rows for a struct whose first member is one of these. */
#define WAZA_CLIENT_OPT(m, t, ...) \
	{ .type = t, .off = offsetof(struct waza_client_opt, m), __VA_ARGS__ }
#define WAZA_CLIENT_OPTS \
	WAZA_CLIENT_OPT(framing, OPT_STR, .name = "framing", \
	    .value = "line|lsp", .help = "how messages are cut"), \
	WAZA_CLIENT_OPT(token_file, OPT_STR, .name = "token-file", \
	    .value = "FILE", .help = "what to show to the server"), \
	WAZA_CLIENT_OPT(timeout, OPT_STR, .name = "timeout", \
	    .value = "SECONDS", .help = "of silence, then give up; 0: never"), \
	WAZA_CLIENT_OPT(config_path, OPT_STR, .name = "config-path", \
	    .value = "FILE", \
	    .help = "settings over the user's and the project's"), \
	WAZA_CLIENT_OPT(config_json, OPT_STR, .name = "config-json", \
	    .value = "TEXT", .help = "settings over all others, as JSON")
#define WAZA_CONNECT_OPT \
	WAZA_CLIENT_OPT(connect, OPT_STR, .name = "connect", \
	    .value = "TARGET", .help = "ask this server, not the connected")

/*
 * Which server it is: the one of --connect, of WAZA_HOST and WAZA_PORT, the
 * one that is connected, the settings'.  Fills in all but the loop and the
 * functions.  -1: it has said what is wrong.
 */
int waza_client_find(struct waza_call *, const struct waza_client_opt *,
    struct client_opts *);

/* One question.  Set the first part, zero the rest. */
struct waza_ask {
	struct waza_call *call;
	struct client_opts opts;	/* of waza_client_find */
	const char *method;
	struct str params;
	/* these may be NULL; what is told or answered lives for the call.
	 * answer: false when there is something else to wait for */
	void (*notify)(struct waza_ask *, const struct json *message,
	    struct str method, const struct json *params);
	bool (*answer)(struct waza_ask *, const struct client_answer *);
	void *arg;
	/* what came of it */
	bool over;		/* set it to end the waiting */
	int signo;		/* a signal ended it, or 0 */
	struct str server;	/* "waza 1.2.3", as it says */
	struct waza_out out;	/* stdout, until it ends */
	struct client client;	/* private from here */
	bool lost;		/* it has gone before it was over */
	int64_t id;
	struct loop *loop;
	struct waza_ask_signal {
		struct sig_watch w;
		struct waza_ask *ask;
	} sig[3];
};

/*
 * Asks and waits.  WAZA_OK when all has come that was to come, whatever it
 * was; 128 + the signal after one; else WAZA_BAD, and it has said why.
 */
int waza_ask(struct waza_ask *);

#endif
