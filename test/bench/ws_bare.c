/* SPDX-License-Identifier: ISC */
/*
 * ws_bare: as little as a WebSocket echo server can do: poll, read, remove the
 * mask, write.  It knows only what ws_load sends: one key, and whole text
 * frames of 126 to 65535 bytes.  It shows how much of the time of a message
 * belongs to the system.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CONN_MAX = 1000, ROOM = 65536, HEAD = 8 };

static struct pollfd p[1 + CONN_MAX];
static size_t held[1 + CONN_MAX];	/* bytes of input */
static char in[1 + CONN_MAX][ROOM];
static char upgraded[1 + CONN_MAX];

static void
die(const char *what)
{
	perror(what);
	exit(1);
}

/* The answer to the only key that ws_load uses (RFC 6455, section 1.3). */
static void
upgrade(int i)
{
	static const char yes[] = "HTTP/1.1 101 Switching Protocols\r\n"
	    "Upgrade: websocket\r\nConnection: Upgrade\r\n"
	    "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";

	if (held[i] < 4 || memcmp(in[i] + held[i] - 4, "\r\n\r\n", 4) != 0)
		return;
	if (write(p[i].fd, yes, sizeof(yes) - 1) != (ssize_t)sizeof(yes) - 1)
		die("write");
	upgraded[i] = 1;
	held[i] = 0;
}

static void
echo(int i)
{
	static char out[ROOM];
	size_t at = 0, n = 0, len, k;
	const char *f;

	for (; held[i] - at >= HEAD; at += HEAD + len, n += 4 + len) {
		f = in[i] + at;
		len = (size_t)(unsigned char)f[2] << 8 | (unsigned char)f[3];
		if (held[i] - at < HEAD + len)
			break;
		memcpy(out + n, "\x81\x7e", 2);
		memcpy(out + n + 2, f + 2, 2);
		for (k = 0; k < len; k++)
			out[n + 4 + k] = (char)(f[HEAD + k] ^ f[4 + k % 4]);
	}
	memmove(in[i], in[i] + at, held[i] - at);
	held[i] -= at;
	if (n > 0 && write(p[i].fd, out, n) != (ssize_t)n)
		die("write");
}

static int
start(void)
{
	struct sockaddr_in sa = { .sin_family = AF_INET };
	socklen_t len = sizeof(sa);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd == -1 || bind(fd, (struct sockaddr *)&sa, len) == -1 ||
	    listen(fd, 512) == -1 ||
	    getsockname(fd, (struct sockaddr *)&sa, &len) == -1)
		die("listen");
	fprintf(stderr, "listening on :%d\n", ntohs(sa.sin_port));
	return fd;
}

int
main(void)
{
	int i, fd, on = 1, n = 1;
	ssize_t got;

	signal(SIGPIPE, SIG_IGN);
	p[0] = (struct pollfd){ .fd = start(), .events = POLLIN };
	while (poll(p, (nfds_t)n, -1) >= 0) {
		for (i = 1; i < n; i++) {
			if (p[i].revents == 0)
				continue;
			got = read(p[i].fd, in[i] + held[i], ROOM - held[i]);
			if (got > 0) {
				held[i] += (size_t)got;
				if (upgraded[i])
					echo(i);
				else
					upgrade(i);
				continue;
			}
			close(p[i].fd);
			p[i].fd = -1;
		}
		while (n > 1 && p[n - 1].fd == -1)
			n--;
		if (p[0].revents == 0)
			continue;
		fd = accept(p[0].fd, NULL, NULL);
		if (fd == -1 || n == 1 + CONN_MAX)
			die("accept");
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		held[n] = 0;
		upgraded[n] = 0;
		p[n++] = (struct pollfd){ .fd = fd, .events = POLLIN };
	}
	die("poll");
}
