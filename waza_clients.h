/* SPDX-License-Identifier: ISC */
/*
 * waza_clients.h: waza_.  Evaluation clients of `waza serve` and of
 * `waza run --http`.
 */
#ifndef WAZA_WAZA_CLIENTS_H
#define WAZA_WAZA_CLIENTS_H

#include "peer.h"
#include "remote.h"

struct config;
struct json_out;
struct rpc;
struct waza_job;
struct web;

struct waza_clients {
	struct remote remote;
	struct peers peers;
};

/* The list of them, and how many evaluations wait; of a struct remote. */
void waza_clients_put(void *remote, struct json_out *);
size_t waza_clients_queued(void *remote);

/* For runs of that server; by its web they come in. */
void waza_clients_start(struct waza_clients *, struct rpc *, struct web *,
    const struct config *);
/* After the connections have gone, and before the loop. */
void waza_clients_fini(struct waza_clients *);

/* Who may come, as the settings say. */
void waza_web_gates(struct arena *, struct web *, const struct config *);

/*
 * A server for the length of a run, which gets its clients; stop: after the
 * run, before the loop.
 */
int waza_clients_open(struct waza_job *);
void waza_clients_close(struct waza_job *);

#endif
