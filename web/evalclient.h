/* SPDX-License-Identifier: ISC */
/*
 * evalclient.h: evalclient_ evalclients_.  Evaluation clients (seeds/004):
 * connections of programs that do tasks for the server.  The hub (hub.h)
 * decides what they are asked.
 *
 *	OPEN -> (register) -> REGISTERED -> (ready) -> evaluations
 *
 * Messages are JSON.  A message with a type is answered by a message with a
 * type, a JSON-RPC request by a JSON-RPC response; a response answers one of
 * our requests.  Only a wrong secret, too many messages or silence ends the
 * connection.
 */
#ifndef WAZA_EVALCLIENT_H
#define WAZA_EVALCLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "io/loop.h"

struct conn;
struct conn_framer;
struct evalclient;
struct hub;
struct web;

/* Set the public part, zero the rest. */
struct evalclients {
	struct loop *loop;
	struct hub *hub;
	const char *version;	/* of this program */
	struct str token;	/* that they must show; empty: none */
	int64_t ping_ms;	/* silence before a ping; 0: 30 s */
	int64_t idle_ms;	/* silence before disconnecting; 0: 60 s */
	unsigned depth;		/* nesting of messages; 0: JSON_DEPTH */
	/* private */
	struct arena arena;	/* of the message being read */
	char id[24];		/* of this server */
	char tag[16];		/* prefix of the ids of its requests */
};

/* fini: after the connections of all evaluation clients are closed. */
void evalclients_init(struct evalclients *);
void evalclients_fini(struct evalclients *);

/*
 * Takes over a live connection with that framing, from within chosen() or
 * message() (conn.h).  authed: it has shown the token.
 */
struct evalclient *evalclient_adopt(struct evalclients *, struct conn *,
    const struct conn_framer *, bool authed);

/* Handles one message from the client: the message() of conn.h. */
void evalclient_message(void *client, struct str);

/* Adds WebSocket routes at / and /ws. */
void evalclient_routes(struct web *, struct evalclients *);

#endif
