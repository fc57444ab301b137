/* SPDX-License-Identifier: ISC */
/*
 * os_net.h: os_.  Stream sockets: TCP over IPv4 and IPv6, and unix sockets.
 * Every socket made here is close-on-exec and non-blocking; TCP sockets have
 * TCP_NODELAY set.
 */
#ifndef WAZA_OS_NET_H
#define WAZA_OS_NET_H

#include <stdbool.h>
#include <stddef.h>

struct err;

enum {
	OS_ADDR_MAX = 72,	/* "[IPv6 address%scope]:port" and its NUL */
	OS_LISTEN_MAX = 8	/* addresses of one name */
};

struct os_listener {
	int fd;
	char name[OS_ADDR_MAX];	/* numeric, with the port that was bound */
};

/*
 * Listens on every address of the host (at most max of them) and returns
 * their number, 1 or more; -1 on failure.  NULL and "" mean all addresses of
 * this machine; port "0" means any free port, the same for all addresses.
 * Unless remote is set, an address other than loopback is refused with
 * ERR_SCHEMA before anything is bound.  An address in use fails the call; an
 * address family that this machine does not support is skipped.  Name lookup
 * may block.  If nothing else defines "localhost", it is the loopback
 * addresses, here and in os_connect_tcp().
 */
int os_listen_tcp(const char *host, const char *port, bool remote,
    struct os_listener *, size_t max, struct err *);

/*
 * Listens on a path, with mode 0600; the descriptor, or -1.  Replaces the
 * socket of a server that died.  Fails if a server answers there, or if the
 * path is not a socket.  Two servers that find the same dead socket at the
 * same moment may replace each other's: give each its own path.  The caller
 * unlinks the path after closing the socket.
 */
int os_listen_unix(const char *path, struct err *);

/* The next connection, or -1 with errno (EAGAIN: none is waiting). */
int os_accept(int fd);

/*
 * Starts to connect to the nth address of the host, counted from 0.  On
 * failure returns -1; e->sys is ENOENT if the host has no more addresses, and
 * 0 if the host is unknown.  Once the socket is writable, os_connected()
 * returns 0 or the errno of the failure: then try the next address.  Name
 * lookup may block.  EAGAIN for a unix socket: the server is busy, try later.
 */
int os_connect_tcp(const char *host, const char *port, size_t nth,
    struct err *);
int os_connect_unix(const char *path, struct err *);
int os_connected(int fd);

/*
 * Detects a dead TCP peer within about 4 * seconds instead of hours, where
 * the system allows setting the intervals.
 */
void os_keepalive(int fd, int seconds);

#endif
