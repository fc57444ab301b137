/* SPDX-License-Identifier: ISC */
/*
 * os_peer.h: os_.  The user at the other end of a TCP connection.
 *
 * The kernel knows both ends of a connection within one machine, and the user
 * who made each socket.  A program that forwards connections, such as a proxy,
 * is the peer, not its clients.
 */
#ifndef WAZA_OS_PEER_H
#define WAZA_OS_PEER_H

#include <stdbool.h>

#include "base/os_net.h"

enum os_owner {
	OS_SAME_USER,		/* the user of this process */
	OS_ROOT,		/* and this process has another user */
	OS_OTHER_USER,
	OS_NOBODY,		/* the socket is closed: no process has it */
	OS_NOT_KNOWN,		/* the system cannot tell */
	OS_ELSEWHERE,		/* not a socket of this machine */
	OS_OWNER__MAX
};

/*
 * Looks up the peer of a connected TCP socket; *uid is its user, for the first
 * three.  OS_ELSEWHERE: the kernel does not have the socket, and its
 * address is neither loopback nor our own; a socket in another network
 * namespace looks like that, too.  On macOS all but the same user, and on
 * systems other than Linux and FreeBSD everybody, is OS_NOT_KNOWN.
 */
enum os_owner os_peer(int fd, unsigned long *uid);

/* The peer's address; "?" if it has disconnected. */
void os_peer_name(int fd, char name[OS_ADDR_MAX]);

/*
 * Whether the peer of a TCP connection has closed its socket for good.  Only
 * Linux knows, and only for peers on the same machine; else false.
 */
bool os_peer_closed(int fd);

#endif
