/* SPDX-License-Identifier: ISC */
/*
 * Stream sockets.  IPv6 sockets are IPv6 only, so that a name with addresses
 * of both families gets a listener for each, on every system alike.
 */
#include "base/os_internal.h"

#include "base/os_net.h"

#include <sys/types.h>
#include <sys/socket.h>

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/base.h"
#include "base/os.h"

enum { PORT_TRIES = 8 };

static int
fail_at(struct err *e, const char *what, const char *where)
{
	int sys = errno;

	err_set(e, ERR_SYS, "%s %s: %s", what, where, strerror(sys));
	e->sys = sys;
	return -1;
}

static void
set(int fd, int level, int name, int value)
{
	setsockopt(fd, level, name, &value, sizeof(value));
}

static int
open_socket(int family)
{
	int fd = socket(family, SOCK_STREAM, 0);

	if (fd == -1)
		return -1;
	if (os_cloexec(fd) == -1 || os_nonblock(fd) == -1) {
		close(fd);
		return -1;
	}
	if (family != AF_UNIX)
		set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
#if defined(SO_NOSIGPIPE)
	set(fd, SOL_SOCKET, SO_NOSIGPIPE, 1);
#endif
	return fd;
}

static struct addrinfo *
lookup(const char *host, const char *port, int flags, struct err *e)
{
	struct addrinfo hint = { .ai_socktype = SOCK_STREAM }, *list = NULL;
	int rc;

	hint.ai_flags = flags;
	host = host != NULL && host[0] == '\0' ? NULL : host;
	rc = getaddrinfo(host, port, &hint, &list);
	if (rc != 0 && host != NULL && strcmp(host, "localhost") == 0) {
		/* without a hosts file, as in minimal images (RFC 6761) */
		hint.ai_flags &= ~AI_PASSIVE;
		rc = getaddrinfo(NULL, port, &hint, &list);
	}
	if (rc == 0)
		return list;
	err_set(e, ERR_SYS, "cannot find %s port %.20s: %s; check the name",
	    host != NULL ? host : "this machine's addresses", port,
	    rc == EAI_SYSTEM ? strerror(errno) : gai_strerror(rc));
	e->sys = 0;		/* not an errno */
	return NULL;
}

bool
os_is_loopback(const struct sockaddr *sa)
{
	struct sockaddr_in in;
	struct sockaddr_in6 in6;

	if (sa->sa_family == AF_INET) {
		memcpy(&in, sa, sizeof(in));
		return ntohl(in.sin_addr.s_addr) >> 24 == 127;
	}
	if (sa->sa_family != AF_INET6)
		return false;
	memcpy(&in6, sa, sizeof(in6));
	return IN6_IS_ADDR_LOOPBACK(&in6.sin6_addr);
}

void
os_print_addr(const struct sockaddr *sa, size_t n, char *out)
{
	char host[OS_ADDR_MAX - 9], port[6];

	if (getnameinfo(sa, (socklen_t)n, host, sizeof(host), port,
	    sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV) != 0)
		snprintf(out, OS_ADDR_MAX, "?");
	else
		snprintf(out, OS_ADDR_MAX, sa->sa_family == AF_INET6 ?
		    "[%s]:%s" : "%s:%s", host, port);
}

static in_port_t *
port_of(struct sockaddr_storage *sa)
{
	return sa->ss_family == AF_INET6 ?
	    &((struct sockaddr_in6 *)(void *)sa)->sin6_port :
	    &((struct sockaddr_in *)(void *)sa)->sin_port;
}

/* Listens on one address; *port replaces port 0 and is set to the result. */
static int
listen_one(const struct addrinfo *ai, in_port_t *port, struct os_listener *l,
    struct err *e)
{
	struct sockaddr_storage sa = { 0 };
	socklen_t n = sizeof(sa);

	memcpy(&sa, ai->ai_addr, ai->ai_addrlen);
	if (*port_of(&sa) == 0)
		*port_of(&sa) = *port;
	os_print_addr((struct sockaddr *)&sa, ai->ai_addrlen, l->name);
	l->fd = open_socket(ai->ai_family);
	if (l->fd == -1)
		return fail_at(e, "cannot listen on", l->name);
	set(l->fd, SOL_SOCKET, SO_REUSEADDR, 1);
	if (ai->ai_family == AF_INET6)
		set(l->fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
	if (bind(l->fd, (struct sockaddr *)&sa, ai->ai_addrlen) == -1 ||
	    listen(l->fd, SOMAXCONN) == -1 ||
	    getsockname(l->fd, (struct sockaddr *)&sa, &n) == -1) {
		fail_at(e, "cannot listen on", l->name);
		os_close(&l->fd);
		return -1;
	}
	*port = *port_of(&sa);
	os_print_addr((struct sockaddr *)&sa, n, l->name);
	return 0;
}

static bool
address_in_use(const struct err *e)
{
	return e->sys == EADDRINUSE || e->sys == EACCES;
}

/* Whether the list has the same address before: a hosts file may repeat it. */
static bool
repeated(const struct addrinfo *list, const struct addrinfo *ai)
{
	for (; list != ai; list = list->ai_next)
		if (list->ai_addrlen == ai->ai_addrlen &&
		    memcmp(list->ai_addr, ai->ai_addr, ai->ai_addrlen) == 0)
			return true;
	return false;
}

/* The number of listeners, 0 or more; -1 if an address is in use. */
static int
listen_all(const struct addrinfo *list, struct os_listener *v, size_t max,
    struct err *e)
{
	const struct addrinfo *ai;
	in_port_t port = 0;
	size_t n = 0;

	for (ai = list; ai != NULL && n < max; ai = ai->ai_next) {
		if (repeated(list, ai))
			continue;
		if (listen_one(ai, &port, &v[n], e) == 0) {
			n++;
			continue;
		}
		if (!address_in_use(e))
			continue;
		while (n > 0)
			os_close(&v[--n].fd);
		return -1;
	}
	return (int)n;
}

static int
check_local(const struct addrinfo *ai, const char *host, struct err *e)
{
	for (; ai != NULL; ai = ai->ai_next)
		if (!os_is_loopback(ai->ai_addr))
			return err_set(e, ERR_SCHEMA, "%s is not a "
			    "loopback address", host != NULL && host[0] != '\0'
			    ? host : "the wildcard address");
	return 0;
}

/* A free port of one address may be in use on the next: try again. */
int
os_listen_tcp(const char *host, const char *port, bool remote,
    struct os_listener *v, size_t max, struct err *e)
{
	struct addrinfo *list = lookup(host, port, AI_PASSIVE, e);
	int tries = strcmp(port, "0") == 0 ? PORT_TRIES : 1, n = -1;

	if (list == NULL)
		return -1;
	if (remote || check_local(list, host, e) == 0)
		while (n == -1 && tries-- > 0)
			n = listen_all(list, v, max, e);
	freeaddrinfo(list);
	return n > 0 ? n : -1;
}

static int
unix_addr(struct sockaddr_un *sa, const char *path, struct err *e)
{
	size_t n = strlen(path);

	*sa = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (n == 0 || n >= sizeof(sa->sun_path))
		return err_set(e, ERR_LIMIT, "the path of a unix socket must "
		    "be 1 to %zu bytes long, not %zu",
		    sizeof(sa->sun_path) - 1, n);
	memcpy(sa->sun_path, path, n);
	return 0;
}

static int
bind_unix(int fd, const struct sockaddr_un *sa)
{
	mode_t old = umask(0177);
	int rc = bind(fd, (const struct sockaddr *)sa, sizeof(*sa));
	int sys = errno;

	umask(old);
	errno = sys;
	return rc;
}

/* 0 if the path is free now; a socket that refuses connections is dead. */
static int
remove_dead(const struct sockaddr_un *sa)
{
	struct stat st;
	int fd, rc, sys;

	if (lstat(sa->sun_path, &st) == -1)
		return errno == ENOENT ? 0 : -1;
	if (!S_ISSOCK(st.st_mode)) {
		errno = ENOTSOCK;
		return -1;
	}
	fd = open_socket(AF_UNIX);
	if (fd == -1)
		return -1;
	rc = connect(fd, (const struct sockaddr *)sa, sizeof(*sa));
	sys = rc == 0 ? EADDRINUSE : errno;
	close(fd);
	if (sys == ECONNREFUSED)
		return unlink(sa->sun_path);
	errno = sys == EAGAIN || sys == EINPROGRESS ? EADDRINUSE : sys;
	return -1;
}

int
os_listen_unix(const char *path, struct err *e)
{
	struct sockaddr_un sa;
	int fd, rc;

	if (unix_addr(&sa, path, e) == -1)
		return -1;
	fd = open_socket(AF_UNIX);
	if (fd == -1)
		return fail_at(e, "cannot listen on", path);
	rc = bind_unix(fd, &sa);
	if (rc == -1 && errno == EADDRINUSE && remove_dead(&sa) == 0)
		rc = bind_unix(fd, &sa);
	if (rc == -1 || listen(fd, SOMAXCONN) == -1) {
		fail_at(e, "cannot listen on", path);
		os_close(&fd);
	}
	return fd;
}

int
os_accept(int lfd)
{
	int fd, sys;

	do
		fd = accept(lfd, NULL, NULL);
	while (fd == -1 && (errno == EINTR || errno == ECONNABORTED));
	if (fd == -1)
		return -1;
	if (os_cloexec(fd) == -1 || os_nonblock(fd) == -1) {
		sys = errno;
		close(fd);
		errno = sys;
		return -1;
	}
	set(fd, IPPROTO_TCP, TCP_NODELAY, 1);	/* fails on unix sockets */
#if defined(SO_NOSIGPIPE)
	set(fd, SOL_SOCKET, SO_NOSIGPIPE, 1);
#endif
	return fd;
}

static int
begin_connect(int family, const struct sockaddr *sa, socklen_t n)
{
	int sys, fd = open_socket(family);

	if (fd == -1)
		return -1;
	if (connect(fd, sa, n) == 0 || errno == EINPROGRESS || errno == EINTR)
		return fd;
	sys = errno;
	close(fd);
	errno = sys;
	return -1;
}

int
os_connect_tcp(const char *host, const char *port, size_t nth, struct err *e)
{
	struct addrinfo *ai, *list = lookup(host, port, 0, e);
	int fd = -1;

	if (list == NULL)
		return -1;
	for (ai = list; ai != NULL && nth > 0; ai = ai->ai_next)
		nth--;
	if (ai == NULL)
		errno = ENOENT;
	else
		fd = begin_connect(ai->ai_family, ai->ai_addr, ai->ai_addrlen);
	if (fd == -1)
		fail_at(e, "cannot connect to", host != NULL ? host : "");
	freeaddrinfo(list);
	return fd;
}

int
os_connect_unix(const char *path, struct err *e)
{
	struct sockaddr_un sa;
	int fd;

	if (unix_addr(&sa, path, e) == -1)
		return -1;
	fd = begin_connect(AF_UNIX, (struct sockaddr *)&sa, sizeof(sa));
	return fd != -1 ? fd : fail_at(e, "cannot connect to", path);
}

int
os_connected(int fd)
{
	int sys = 0;
	socklen_t n = sizeof(sys);

	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &sys, &n) == -1)
		return errno;
	return sys;
}

void
os_keepalive(int fd, int seconds)
{
	set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
#if defined(TCP_KEEPIDLE)
	set(fd, IPPROTO_TCP, TCP_KEEPIDLE, seconds);
#elif defined(TCP_KEEPALIVE)
	set(fd, IPPROTO_TCP, TCP_KEEPALIVE, seconds);
#endif
#if defined(TCP_KEEPINTVL) && defined(TCP_KEEPCNT)
	set(fd, IPPROTO_TCP, TCP_KEEPINTVL, seconds);
	set(fd, IPPROTO_TCP, TCP_KEEPCNT, 3);
#endif
	(void)seconds;
}
