/* SPDX-License-Identifier: ISC */
/*
 * cmd/server/evalclients.h: cmd_.  Evaluation clients of `waza serve` and of
 * `waza run --http`: the hub that gives them work, and their connections.
 */
#ifndef WAZA_CMD_EVALCLIENTS_H
#define WAZA_CMD_EVALCLIENTS_H

#include "agent/hub.h"
#include "web/evalclient.h"

struct config;
struct json_out;
struct rpc;
struct cmd_run;
struct web;

struct cmd_evalclients {
	struct hub hub;
	struct evalclients clients;
};

/* Writes the list of clients, or counts waiting evaluations, of a hub. */
void cmd_evalclients_put(void *hub, struct json_out *);
size_t cmd_evalclients_queued(void *hub);

/* Starts the hub for runs of this server and adds its routes to the web. */
void cmd_evalclients_start(struct cmd_evalclients *, struct rpc *,
    struct web *, const struct config *);
/* Call it after connections are closed and before the loop is freed. */
void cmd_evalclients_fini(struct cmd_evalclients *);

/*
 * `waza run --http`: a server for the duration of the run, for evaluation
 * clients only.  open does nothing without --http, and returns -1 with the
 * call's err.  close follows the end of the runs; without open it is harmless.
 */
int cmd_evalclients_open(struct cmd_run *);
void cmd_evalclients_close(struct cmd_run *);

#endif
