/* SPDX-License-Identifier: ISC */
/*
 * The kernel's tables of sockets.
 *
 * This end of a connection cannot distinguish a closed peer from one that has
 * only shut down its writing side, and does not know whose it is.  But the
 * kernel knows the socket of a peer on this machine: its user, and its inode,
 * which is 0 if no process has the socket any more.  The user is then reported
 * as 0, which must not be taken for root.
 *
 * FreeBSD lists all sockets that the caller may see; its table takes time that
 * grows with their number.  macOS shows its table to root only, but anybody may
 * list the sockets of his own processes.  There a peer is of the same user, or
 * not known.
 *
 * Limitation: to a process in a user namespace all users outside of it look
 * like one, 65534 (nobody).  A server that itself runs as that user, in a user
 * namespace but in the network of the host, cannot distinguish them.
 */
#include "base/os_internal.h"

#include "base/os_peer.h"

#include <sys/types.h>
#include <sys/socket.h>

#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__FreeBSD__)
#include <sys/param.h>
#include <sys/queue.h>
#include <sys/socketvar.h>
#include <sys/sysctl.h>
#include <net/route.h>
#include <netinet/in_pcb.h>
#include <netinet/tcp.h>
#include <netinet/tcp_var.h>
#undef LIST_REMOVE		/* of sys/queue.h; base.h has another */
#elif defined(__APPLE__)
#include <libproc.h>
#endif

#include "base/base.h"

/* The two ends of a connection. */
struct ends {
	struct sockaddr_storage own, peer;
	socklen_t peer_size;
};

struct found {
	enum { ABSENT, ORPHAN, OWNED, NO_TABLE } how;
	unsigned long uid;	/* of OWNED */
};

static bool
get_ends(int fd, struct ends *x)
{
	socklen_t n = sizeof(x->own);

	*x = (struct ends){ .peer_size = sizeof(x->peer) };
	return getsockname(fd, (struct sockaddr *)&x->own, &n) == 0 &&
	    getpeername(fd, (struct sockaddr *)&x->peer, &x->peer_size) == 0 &&
	    (x->own.ss_family == AF_INET || x->own.ss_family == AF_INET6);
}

#if defined(__linux__)
/* Address and port in network byte order; the number of 32-bit words. */
static size_t
get_addr(const struct sockaddr_storage *sa, uint16_t *port, uint32_t *addr)
{
	struct sockaddr_in in;
	struct sockaddr_in6 in6;

	if (sa->ss_family == AF_INET) {
		memcpy(&in, sa, sizeof(in));
		*port = in.sin_port;
		memcpy(addr, &in.sin_addr, sizeof(in.sin_addr));
		return 1;
	}
	memcpy(&in6, sa, sizeof(in6));
	*port = in6.sin6_port;
	memcpy(addr, &in6.sin6_addr, sizeof(in6.sin6_addr));
	return 4;
}

/*
 * sock_diag(7): a query for one socket.  Its structures are repeated here
 * because some C libraries come without the kernel's headers.
 */
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

/* Asks for the peer's socket: our destination is its source. */
static struct question
make_question(const struct ends *x)
{
	struct question q = { .protocol = IPPROTO_TCP };

	q.head = (struct head){ sizeof(q), BY_FAMILY, REQUEST, 1, 0 };
	q.family = (uint8_t)x->own.ss_family;
	q.states = UINT32_MAX;
	q.pair.cookie[0] = q.pair.cookie[1] = (uint32_t)NO_COOKIE;
	get_addr(&x->peer, &q.pair.sport, q.pair.src);
	get_addr(&x->own, &q.pair.dport, q.pair.dst);
	return q;
}

/*
 * Without an exact match the kernel answers with a socket that listens on the
 * peer's port; it has no destination.  A negative answer can also mean that
 * the kernel lacks the module for TCP.
 */
static struct found
ask_kernel(const struct ends *x)
{
	struct question q = make_question(x);
	struct answer a = { .inode = 0 };
	ssize_t n = -1;
	int s = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, SOCK_DIAG);

	if (s == -1)
		return (struct found){ .how = NO_TABLE };
	if (send(s, &q, sizeof(q), MSG_DONTWAIT) == (ssize_t)sizeof(q))
		n = recv(s, &a, sizeof(a), MSG_DONTWAIT);
	close(s);
	if (n != (ssize_t)sizeof(a) || a.head.type != BY_FAMILY ||
	    a.pair.sport != q.pair.sport || a.pair.dport != q.pair.dport)
		return (struct found){ .how = NO_TABLE };
	return (struct found){ a.inode == 0 ? ORPHAN : OWNED, a.uid };
}

/* "ADDRESS:PORT" as in /proc/net/tcp; an IPv4 address as IPv6 if mapped. */
static void
put_key(struct buf *b, const struct sockaddr_storage *sa, bool mapped)
{
	static const unsigned char prefix[12] = { [10] = 0xff, [11] = 0xff };
	uint32_t word[4] = { 0 }, v[3];
	uint16_t port;
	size_t i, n = get_addr(sa, &port, word);

	memcpy(v, prefix, sizeof(v));
	for (i = 0; i < 3 && mapped; i++)
		buf_fmt(b, "%08X", (unsigned)v[i]);
	for (i = 0; i < n; i++)
		buf_fmt(b, "%08X", (unsigned)word[i]);
	buf_fmt(b, ":%04X ", (unsigned)ntohs(port));
}

/* The nth word of a text, counted from 0, as a number. */
static unsigned long
number_at(const char *p, int nth)
{
	for (p += strspn(p, " "); nth > 0; nth--) {
		p += strcspn(p, " ");
		p += strspn(p, " ");
	}
	return strtoul(p, NULL, 10);
}

/* The rest of a line: state, queues, timer, retries, uid, timeout, inode. */
static struct found
read_line(const char *p)
{
	return (struct found){ number_at(p, 6) == 0 ? ORPHAN : OWNED,
		number_at(p, 4) };
}

static struct found
search_table(const char *path, const struct ends *x, bool mapped)
{
	struct found f = { .how = NO_TABLE };
	struct buf key = { 0 };
	char line[512], *at;
	FILE *fp = fopen(path, "re");

	if (fp == NULL)
		return f;
	f.how = ABSENT;
	put_key(&key, &x->peer, mapped);
	put_key(&key, &x->own, mapped);
	buf_putc(&key, '\0');
	while (f.how == ABSENT && fgets(line, sizeof(line), fp) != NULL) {
		at = strstr(line, key.p);
		if (at != NULL)
			f = read_line(at + key.n - 1);
	}
	fclose(fp);
	buf_free(&key);
	return f;
}

/* A socket of IPv6 can connect to an address of IPv4, too. */
static struct found
find(const struct ends *x)
{
	struct found f = ask_kernel(x);
	bool v4 = x->own.ss_family == AF_INET;

	if (f.how == NO_TABLE && v4)
		f = search_table("/proc/net/tcp", x, false);
	if (f.how == NO_TABLE || (f.how == ABSENT && v4))
		f = search_table("/proc/net/tcp6", x, v4);
	return f;
}

bool
os_peer_closed(int fd)
{
	struct ends x;

	return get_ends(fd, &x) && ask_kernel(&x).how == ORPHAN;
}
#elif defined(__FreeBSD__) || defined(__APPLE__)
/* One end of a socket in a table; the port is in network byte order. */
struct end {
	bool v4;		/* also a socket of IPv6 that uses IPv4 */
	uint16_t port;
	struct in_addr addr4;
	struct in6_addr addr6;
};

static bool
is_end(const struct sockaddr_storage *sa, const struct end *y)
{
	struct sockaddr_in in;
	struct sockaddr_in6 in6;

	if (sa->ss_family == AF_INET) {
		memcpy(&in, sa, sizeof(in));
		return y->v4 && y->port == in.sin_port &&
		    y->addr4.s_addr == in.sin_addr.s_addr;
	}
	memcpy(&in6, sa, sizeof(in6));
	return !y->v4 && y->port == in6.sin6_port &&
	    memcmp(&y->addr6, &in6.sin6_addr, sizeof(y->addr6)) == 0;
}
#if defined(__FreeBSD__)
static bool
is_peer(const struct ends *x, const struct xinpcb *p)
{
	const struct in_conninfo *c = &p->inp_inc;
	bool v4 = (p->inp_vflag & INP_IPV4) != 0;
	struct end local = { .v4 = v4, .port = c->inc_lport };
	struct end foreign = { .v4 = v4, .port = c->inc_fport };

	local.addr4 = c->inc_laddr;
	local.addr6 = c->inc6_laddr;
	foreign.addr4 = c->inc_faddr;
	foreign.addr6 = c->inc6_faddr;
	return is_end(&x->peer, &local) && is_end(&x->own, &foreign);
}

/* A header, the sockets, and a header again, which is shorter than a socket. */
static struct found
search_list(const struct ends *x, const char *list, size_t n)
{
	struct xinpgen head;
	struct xtcpcb t;
	size_t at;

	if (n < sizeof(head))
		return (struct found){ .how = NO_TABLE };
	memcpy(&head, list, sizeof(head));
	for (at = (size_t)head.xig_len; at < n && n - at >= sizeof(t);
	    at += sizeof(t)) {
		memcpy(&t, list + at, sizeof(t));
		if (t.xt_len != sizeof(t))
			return (struct found){ .how = NO_TABLE };
		if (is_peer(x, &t.xt_inp))
			return (struct found){
			    t.xt_inp.xi_socket.xso_so == 0 ? ORPHAN : OWNED,
			    t.xt_inp.xi_socket.so_uid };
	}
	return (struct found){ .how = ABSENT };
}

static struct found
find(const struct ends *x)
{
	static const char name[] = "net.inet.tcp.pcblist";
	struct found f = { .how = NO_TABLE };
	struct buf b = { 0 };
	size_t n = 0;
	char *list;

	if (sysctlbyname(name, NULL, &n, NULL, 0) == -1)
		return f;
	list = buf_room(&b, n);
	if (sysctlbyname(name, list, &n, NULL, 0) == 0)
		f = search_list(x, list, n);
	buf_free(&b);
	return f;
}
#else
static bool
is_peer(const struct ends *x, const struct socket_info *s)
{
	const struct in_sockinfo *c = &s->soi_proto.pri_tcp.tcpsi_ini;
	bool v4 = (c->insi_vflag & INI_IPV4) != 0;
	struct end local = { .v4 = v4, .port = (uint16_t)c->insi_lport };
	struct end foreign = { .v4 = v4, .port = (uint16_t)c->insi_fport };

	if (s->soi_kind != SOCKINFO_TCP)
		return false;
	local.addr4 = c->insi_laddr.ina_46.i46a_addr4;
	local.addr6 = c->insi_laddr.ina_6;
	foreign.addr4 = c->insi_faddr.ina_46.i46a_addr4;
	foreign.addr6 = c->insi_faddr.ina_6;
	return is_end(&x->peer, &local) && is_end(&x->own, &foreign);
}

/* Whether a process has the peer's socket. */
static bool
has_peer(const struct ends *x, int pid)
{
	int i, n = proc_pidinfo(pid, PROC_PIDLISTFDS, 0, NULL, 0);
	struct buf b = { 0 };
	struct proc_fdinfo d;
	struct socket_fdinfo s;
	char *list;
	bool found = false;

	if (n <= 0)
		return false;
	list = buf_room(&b, (size_t)n);
	n = proc_pidinfo(pid, PROC_PIDLISTFDS, 0, list, n);
	for (i = 0; i < n / (int)sizeof(d) && !found; i++) {
		memcpy(&d, list + (size_t)i * sizeof(d), sizeof(d));
		found = d.proc_fdtype == PROX_FDTYPE_SOCKET &&
		    proc_pidfdinfo(pid, d.proc_fd, PROC_PIDFDSOCKETINFO, &s,
		    sizeof(s)) == (int)sizeof(s) && is_peer(x, &s.psi);
	}
	buf_free(&b);
	return found;
}

static struct found
find(const struct ends *x)
{
	struct found f = { .how = NO_TABLE };
	uint32_t uid = (uint32_t)geteuid();
	int i, pid, n = proc_listpids(PROC_UID_ONLY, uid, NULL, 0);
	struct buf b = { 0 };
	char *list;

	if (n <= 0)
		return f;
	list = buf_room(&b, (size_t)n);
	n = proc_listpids(PROC_UID_ONLY, uid, list, n);
	for (i = 0; i < n / (int)sizeof(pid) && f.how != OWNED; i++) {
		memcpy(&pid, list + (size_t)i * sizeof(pid), sizeof(pid));
		if (pid > 0 && has_peer(x, pid))
			f = (struct found){ OWNED, uid };
	}
	buf_free(&b);
	return f;
}
#endif

bool
os_peer_closed(int fd)
{
	(void)fd;
	return false;
}
#else
static struct found
find(const struct ends *x)
{
	(void)x;
	return (struct found){ .how = NO_TABLE };
}

bool
os_peer_closed(int fd)
{
	(void)fd;
	return false;
}
#endif

/* Whether the peer's address is loopback or the one that it connected to. */
static bool
is_own_address(const struct ends *x)
{
	struct sockaddr_in a, b;
	struct sockaddr_in6 c, d;

	if (os_is_loopback((const struct sockaddr *)&x->peer))
		return true;
	if (x->own.ss_family != x->peer.ss_family)
		return false;
	if (x->own.ss_family == AF_INET) {
		memcpy(&a, &x->own, sizeof(a));
		memcpy(&b, &x->peer, sizeof(b));
		return a.sin_addr.s_addr == b.sin_addr.s_addr;
	}
	memcpy(&c, &x->own, sizeof(c));
	memcpy(&d, &x->peer, sizeof(d));
	return memcmp(&c.sin6_addr, &d.sin6_addr, sizeof(c.sin6_addr)) == 0;
}

enum os_owner
os_peer(int fd, unsigned long *uid)
{
	struct ends x;
	struct found f;

	*uid = 0;
	if (!get_ends(fd, &x))
		return OS_NOBODY;
	f = find(&x);
	if (f.how == OWNED) {
		*uid = f.uid;
		return f.uid == (unsigned long)geteuid() ? OS_SAME_USER :
		    f.uid == 0 ? OS_ROOT : OS_OTHER_USER;
	}
	if (f.how == ORPHAN)
		return OS_NOBODY;
	if (!is_own_address(&x))
		return OS_ELSEWHERE;
	return f.how == NO_TABLE ? OS_NOT_KNOWN : OS_NOBODY;
}

void
os_peer_name(int fd, char name[OS_ADDR_MAX])
{
	struct ends x;

	if (get_ends(fd, &x))
		os_print_addr((const struct sockaddr *)&x.peer, x.peer_size,
		    name);
	else
		snprintf(name, OS_ADDR_MAX, "?");
}
