/* SPDX-License-Identifier: ISC */
/*
 * cmd/evalclients.h: cmd_.  Evaluation clients of `waza serve` and of
 * `waza run --http`.
 */
#ifndef WAZA_CMD_EVALCLIENTS_H
#define WAZA_CMD_EVALCLIENTS_H

#include "agent/hub.h"
#include "web/evalclient.h"

struct config;
struct json_out;
struct rpc;
struct cmd_job;
struct web;

struct cmd_evalclients {
	struct hub hub;
	struct evalclients peers;
};

/* The list of them, and how many evaluations wait; of a struct hub. */
void cmd_evalclients_put(void *hub, struct json_out *);
size_t cmd_evalclients_queued(void *hub);

/* For runs of that server; by its web they come in. */
void cmd_evalclients_start(struct cmd_evalclients *, struct rpc *, struct web *,
    const struct config *);
/* After the connections have gone, and before the loop. */
void cmd_evalclients_fini(struct cmd_evalclients *);

/* Who may come, as the settings say. */
void cmd_web_gates(struct arena *, struct web *, const struct config *);

/*
 * A server for the length of a run, which gets its clients; stop: after the
 * run, before the loop.
 */
int cmd_evalclients_open(struct cmd_job *);
void cmd_evalclients_close(struct cmd_job *);

#endif
