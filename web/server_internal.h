/* SPDX-License-Identifier: ISC */
/*
 * server_internal.h: server_.  Which peers are served; for server.c,
 * server_gate.c and server_refuse.c.
 */
#ifndef WAZA_SERVER_INTERNAL_H
#define WAZA_SERVER_INTERNAL_H

#include "web/server.h"

enum server_entry {
	SERVER_SERVED,		/* without a token */
	SERVER_TOKEN,		/* with the token */
	SERVER_REFUSED
};

/*
 * Decides about an accepted connection of the port.  If it is refused, that is
 * logged, and *why is a reason for the peer.
 */
enum server_entry server_gate(struct server_port *, int fd, const char **why);

/*
 * Reads the first message of a connection, only to answer it with an error in
 * the protocol that the peer speaks; then closes it.  Such a connection never
 * reaches the methods or the routes.  Takes the descriptor.
 */
void server_refuse(struct server_port *, int fd, const char *why);

#endif
