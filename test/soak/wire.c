/* SPDX-License-Identifier: ISC */
/* A minimal client. */
#include "soak.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

void
die(const char *what)
{
	fprintf(stderr, "soak: %s: %s\n", what, strerror(errno));
	exit(2);
}

double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void
nap(double seconds)
{
	struct timespec t = { (time_t)seconds, 0 };

	t.tv_nsec = (long)((seconds - (double)t.tv_sec) * 1e9);
	nanosleep(&t, NULL);
}

uint64_t
dice(struct soak *s)
{
	s->noise ^= s->noise << 13;
	s->noise ^= s->noise >> 7;
	s->noise ^= s->noise << 17;
	return s->noise;
}

void
complain(struct soak *s, const char *fmt, ...)
{
	va_list ap;

	if (s->faults++ >= 10)
		return;
	printf("# ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

int
dial(const struct soak *s, bool tcp)
{
	struct sockaddr_un u = { .sun_family = AF_UNIX };
	struct sockaddr_in i = { .sin_family = AF_INET };
	int fd = socket(tcp ? AF_INET : AF_UNIX, SOCK_STREAM, 0), rc;

	if (fd == -1)
		die("socket");
	snprintf(u.sun_path, sizeof(u.sun_path), "%s", s->path);
	i.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	i.sin_port = htons((uint16_t)s->port);
	rc = tcp ? connect(fd, (struct sockaddr *)&i, sizeof(i)) :
	    connect(fd, (struct sockaddr *)&u, sizeof(u));
	if (rc == -1)
		die("connect");
	fcntl(fd, F_SETFL, O_NONBLOCK);
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	return fd;
}

/* reset: as when a machine fails, not as when a program ends */
void
hang_up(struct evalclient *p, bool reset)
{
	struct linger l = { 1, 0 };

	if (p->fd != -1) {
		if (reset)
			setsockopt(p->fd, SOL_SOCKET, SO_LINGER, &l,
			    sizeof(l));
		close(p->fd);
	}
	free(p->in);
	*p = (struct evalclient){ .fd = -1 };
}

bool
put(int fd, const char *s, size_t n, double seconds)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	double end = now() + seconds;
	ssize_t k;

	while (n > 0) {
		k = send(fd, s, n, MSG_NOSIGNAL);
		if (k > 0) {
			s += k;
			n -= (size_t)k;
		} else if (errno != EAGAIN && errno != EINTR)
			return false;
		else if (now() > end)
			return false;
		else
			poll(&p, 1, 100);
	}
	return true;
}

size_t
put_some(int fd, const char *s, size_t n)
{
	ssize_t k = send(fd, s, n, MSG_NOSIGNAL);

	return k > 0 ? (size_t)k : 0;
}

bool
ask(struct evalclient *p, const char *fmt, ...)
{
	char line[2000];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line) - 1, fmt, ap);
	va_end(ap);
	line[n++] = '\n';
	return put(p->fd, line, (size_t)n, 10);
}

/* The number of a member in a line; 0 if it is missing. */
static unsigned
number(const char *line, const char *member)
{
	const char *at = strstr(line, member);

	return at != NULL ? (unsigned)atoi(at + strlen(member)) : 0;
}

/* Classifies a line as far as the scenes need it. */
static void
take_line(struct evalclient *p, char *line)
{
	static const char method[] = "{\"jsonrpc\":\"2.0\",\"method\":";

	if (strncmp(line, method, sizeof(method) - 1) == 0) {
		p->notes++;
		p->early |= p->replies == 0;
		if (strncmp(line + sizeof(method) - 1, "\"eval.complete\"",
		    15) == 0) {
			p->over++;
			p->passed += number(line, "\"passed\":");
			p->failed += number(line, "\"failed\":") +
			    number(line, "\"errors\":");
		}
	} else {
		p->replies++;
		p->errors += strstr(line, "\"error\":{") != NULL;
	}
}

static void
take(struct evalclient *p)
{
	char *line = p->in, *eol;
	ssize_t k;

	if (p->n == p->cap) {
		p->cap = p->cap == 0 ? 4096 : 2 * p->cap;
		p->in = realloc(p->in, p->cap);
		if (p->in == NULL)
			die("realloc");
		line = p->in;
	}
	k = recv(p->fd, p->in + p->n, p->cap - p->n, 0);
	if (k == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (k <= 0) {
		close(p->fd);
		p->fd = -1;
		return;
	}
	p->n += (size_t)k;
	while ((eol = memchr(line, '\n', p->n - (size_t)(line - p->in))) !=
	    NULL) {
		*eol = '\0';
		take_line(p, line);
		line = eol + 1;
	}
	p->n -= (size_t)(line - p->in);
	memmove(p->in, line, p->n);
}

bool
hear(struct evalclient *v, size_t n, double seconds,
    bool (*enough)(const struct evalclient *))
{
	struct pollfd *p = calloc(n, sizeof(*p));
	double end = now() + seconds;
	size_t i, waiting = 1;

	if (p == NULL)
		die("calloc");
	while (waiting > 0 && now() < end) {
		waiting = 0;
		for (i = 0; i < n; i++) {
			p[i].fd = v[i].fd != -1 && !enough(&v[i]) ?
			    v[i].fd : -1;
			p[i].events = POLLIN;
			waiting += p[i].fd != -1;
		}
		if (waiting == 0 || poll(p, (nfds_t)n, 200) <= 0)
			continue;
		for (i = 0; i < n; i++)
			if (p[i].fd != -1 && p[i].revents != 0)
				take(&v[i]);
	}
	free(p);
	return waiting == 0;
}

char *
last_words(int fd, double seconds)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	double end = now() + seconds;
	char *s = malloc(65536);
	size_t n = 0;
	ssize_t k = 1;

	if (s == NULL)
		die("malloc");
	while (now() < end && k != 0 && n < 65535) {
		poll(&p, 1, 100);
		k = recv(fd, s + n, 65535 - n, 0);
		if (k == -1 && errno == ECONNRESET)
			k = 0;
		n += k > 0 ? (size_t)k : 0;
	}
	s[n] = '\0';
	if (k == 0)
		return s;
	free(s);
	return NULL;
}
