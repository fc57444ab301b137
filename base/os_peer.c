/* SPDX-License-Identifier: ISC */
/*
 * Whether the other end of a TCP connection has closed it for good.
 *
 * This end cannot distinguish a closed peer from one that has only shut down
 * its writing side, until it sends something.  But the kernel knows the
 * socket of a peer on this machine, and a socket that no process owns has no
 * inode.  Linux answers queries for it (sock_diag(7)).  Its structures are
 * repeated here because some C libraries come without the kernel's headers.
 */
#include "base/os_net.h"

#include <sys/types.h>
#include <sys/socket.h>

#if defined(__linux__)

#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

enum {
	SOCK_DIAG = 4,		/* NETLINK_SOCK_DIAG */
	BY_FAMILY = 20,		/* SOCK_DIAG_BY_FAMILY */
	REQUEST = 1,		/* NLM_F_REQUEST */
	NO_COOKIE = -1
};

struct head {
	uint32_t len;
	uint16_t type, flags;
	uint32_t seq, pid;
};

struct pair {			/* source and destination address */
	uint16_t sport, dport;	/* in network byte order */
	uint32_t src[4], dst[4];
	uint32_t interface, cookie[2];
};

struct question {
	struct head head;
	uint8_t family, protocol, ext, pad;
	uint32_t states;
	struct pair pair;
};

struct answer {
	struct head head;
	uint8_t family, state, timer, retrans;
	struct pair pair;
	uint32_t expires, rqueue, wqueue, uid, inode;
};

static void
put_addr(const struct sockaddr_storage *sa, uint16_t *port, uint32_t *addr)
{
	struct sockaddr_in in;
	struct sockaddr_in6 in6;

	if (sa->ss_family == AF_INET) {
		memcpy(&in, sa, sizeof(in));
		*port = in.sin_port;
		memcpy(addr, &in.sin_addr, sizeof(in.sin_addr));
	} else {
		memcpy(&in6, sa, sizeof(in6));
		*port = in6.sin6_port;
		memcpy(addr, &in6.sin6_addr, sizeof(in6.sin6_addr));
	}
}

/* Asks for the peer's socket: our destination is its source. */
static int
make_question(int fd, struct question *q)
{
	struct sockaddr_storage own, peer;
	socklen_t n = sizeof(own), m = sizeof(peer);

	*q = (struct question){ .protocol = IPPROTO_TCP };
	if (getsockname(fd, (struct sockaddr *)&own, &n) == -1 ||
	    getpeername(fd, (struct sockaddr *)&peer, &m) == -1 ||
	    (own.ss_family != AF_INET && own.ss_family != AF_INET6))
		return -1;
	q->head = (struct head){ sizeof(*q), BY_FAMILY, REQUEST, 1, 0 };
	q->family = (uint8_t)own.ss_family;
	q->states = UINT32_MAX;
	q->pair.cookie[0] = q->pair.cookie[1] = (uint32_t)NO_COOKIE;
	put_addr(&peer, &q->pair.sport, q->pair.src);
	put_addr(&own, &q->pair.dport, q->pair.dst);
	return 0;
}

bool
os_peer_closed(int fd)
{
	struct question q;
	struct answer a;
	ssize_t n = -1;
	int s;

	if (make_question(fd, &q) == -1)
		return false;
	s = socket(AF_NETLINK, SOCK_RAW, SOCK_DIAG);
	if (s == -1)
		return false;
	if (send(s, &q, sizeof(q), MSG_DONTWAIT) == (ssize_t)sizeof(q))
		n = recv(s, &a, sizeof(a), MSG_DONTWAIT);
	close(s);
	return n == (ssize_t)sizeof(a) && a.head.type == BY_FAMILY &&
	    a.inode == 0;
}

#else

bool
os_peer_closed(int fd)
{
	(void)fd;
	return false;
}

#endif
