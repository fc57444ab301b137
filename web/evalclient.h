/* SPDX-License-Identifier: ISC */
/*
 * evalclient.h: evalclient_ evalclients_.  Evaluation clients (seeds/004):
 * connections of programs that do tasks for the server; hub.h has what they
 * are asked.
 *
 *	OPEN -> (register) -> REGISTERED -> (ready) -> evaluations
 *
 * A message is JSON: one with a type is answered with one that has a type,
 * a request of JSON-RPC with an answer of JSON-RPC, and an answer is one to
 * our requests.  Nothing that a client says ends the connection but a wrong
 * secret, too many messages, or silence.
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
	const char *version;	/* ours */
	struct str token;	/* what they must show; empty: nothing */
	int64_t ping_ms;	/* of silence, then we ask; 0: 30 s */
	int64_t idle_ms;	/* of silence, then it is lost; 0: 60 s */
	unsigned depth;		/* nesting of messages; 0: JSON_DEPTH */
	/* private */
	struct arena arena;	/* of the message that is being read */
	char id[24];		/* of this server */
	char tag[16];		/* what ids of its requests begin with */
};

void evalclients_init(struct evalclients *);
/* After all connections of evaluation clients are closed. */
void evalclients_fini(struct evalclients *);

/*
 * Takes over a live connection, with that framing from now on: from within
 * chosen() or message() (conn.h).  authed: it has shown the token already.
 */
struct evalclient *evalclient_adopt(struct evalclients *, struct conn *,
    const struct conn_framer *, bool authed);

/* One message from the client; what conn.h calls with each. */
void evalclient_message(void *peer, struct str);

/* WebSockets at / and /ws. */
void evalclient_routes(struct web *, struct evalclients *);

#endif
