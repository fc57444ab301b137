/* SPDX-License-Identifier: ISC */
/*
 * os_net.h: os_.  Stream sockets: TCP over IPv4 and IPv6, and unix ones.
 * Every socket made here is close-on-exec and does not block; TCP ones send
 * what they are given without delay.
 */
#ifndef WAZA_OS_NET_H
#define WAZA_OS_NET_H

#include <stdbool.h>
#include <stddef.h>

struct err;

enum {
	OS_ADDR_MAX = 72,	/* "[IPv6 address%scope]:port" and its NUL */
	OS_LISTEN_MAX = 8	/* addresses that one name may have */
};

struct os_listener {
	int fd;
	char name[OS_ADDR_MAX];	/* numeric, with the real port */
};

/*
 * Listens on every address of the host (at most max of them) and returns how
 * many those are, 1 or more.  NULL and "" are all addresses of this machine;
 * port "0" is one that the system chooses, the same for all.  Unless remote
 * is set, an address other than loopback is refused with ERR_SCHEMA before
 * anything is bound.  An address that is taken fails the call, one of a
 * family that this machine lacks does not.  Name lookup may block.
 */
int os_listen_tcp(const char *host, const char *port, bool remote,
    struct os_listener *, size_t max, struct err *);

/*
 * Listens on a path, with mode 0600.  A socket left there by a server that
 * died is replaced; one that is answered, and anything that is not a socket,
 * is left alone and fails the call.  Two servers that find the same dead
 * socket at the same moment may replace each other's: give each its own path.
 * The path stays when the socket is closed; unlinking it is the caller's.
 */
int os_listen_unix(const char *path, struct err *);

/* The next connection, or -1 with errno: EAGAIN none, EMFILE no room. */
int os_accept(int fd);

/*
 * Begins to connect to the nth address of the host, from 0; -1 with e->sys
 * ENOENT when it has no more, 0 when there is no such host.  When the socket
 * is writable, os_connected says whether it is connected (0) or why not (the
 * errno; then try the next).  Name lookup may block.  EAGAIN of a unix one:
 * its server is busy, and later it may be less so.
 */
int os_connect_tcp(const char *host, const char *port, size_t nth,
    struct err *);
int os_connect_unix(const char *path, struct err *);
int os_connected(int fd);

/*
 * Has the system find out within about 4 * seconds that a silent peer is
 * gone (TCP; where it lets us say so), instead of after hours.
 */
void os_keepalive(int fd, int seconds);

/*
 * Whether nobody has the other end of a TCP connection any more.  Only known
 * of peers on this machine, and not everywhere; false says nothing.
 */
bool os_peer_closed(int fd);

#endif
