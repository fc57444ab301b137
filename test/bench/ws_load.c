/* SPDX-License-Identifier: ISC */
/*
 * ws_load PORT CONNECTIONS WINDOW SECONDS: connects CONNECTIONS clients to a
 * WebSocket echo server, each with WINDOW messages of 150 bytes in flight, and
 * prints how many messages return per second.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "test/tool/clock.h"

enum {
	BYTES = 150,
	SENT = 2 + 2 + 4 + BYTES,	/* of a frame with a mask */
	BACK = 2 + 2 + BYTES,
	CONN_MAX = 1000,
	WINDOW_MAX = 64
};

static void
die(const char *what)
{
	perror(what);
	exit(1);
}

static int
dial(int port)
{
	static const char ask[] = "GET / HTTP/1.1\r\nHost: localhost\r\n"
	    "Upgrade: websocket\r\nConnection: Upgrade\r\n"
	    "Sec-WebSocket-Version: 13\r\n"
	    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
	struct sockaddr_in in = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
	char c[4] = "";

	in.sin_port = htons((unsigned short)port);
	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd == -1 || connect(fd, (struct sockaddr *)&in, sizeof(in)) == -1)
		die("connect");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (write(fd, ask, sizeof(ask) - 1) != (ssize_t)sizeof(ask) - 1)
		die("write");
	while (memcmp(c, "\r\n\r\n", 4) != 0) {
		memmove(c, c + 1, 3);
		if (read(fd, c + 3, 1) != 1)
			die("handshake");
	}
	return fd;
}

int
main(int argc, char **argv)
{
	static char frames[WINDOW_MAX * SENT], block[65536];
	static struct pollfd p[CONN_MAX];
	static size_t left[CONN_MAX];	/* bytes of the window to come */
	int i, n, port, window, k;
	double start, end, seconds;
	size_t back = 0;
	ssize_t got;

	if (argc != 5)
		return 2;
	port = atoi(argv[1]);
	n = atoi(argv[2]);
	window = atoi(argv[3]);
	seconds = atof(argv[4]);
	if (n < 1 || n > CONN_MAX || window < 1 || window > WINDOW_MAX)
		return 2;
	for (i = 0; i < window; i++) {
		char *f = frames + i * SENT;

		memcpy(f, "\x81\xfe\x00\x96\x01\x02\x03\x04", 8);
		for (k = 0; k < BYTES; k++)
			f[8 + k] = (char)(('a' + k % 26) ^ (k % 4 + 1));
	}
	for (i = 0; i < n; i++) {
		p[i] = (struct pollfd){ .fd = dial(port), .events = POLLIN };
		left[i] = (size_t)window * BACK;
	}
	start = seconds_now();
	end = start + seconds;
	for (i = 0; i < n; i++)
		if (write(p[i].fd, frames, (size_t)window * SENT) == -1)
			die("write");
	while (seconds_now() < end && poll(p, (nfds_t)n, 1000) >= 0)
		for (i = 0; i < n; i++) {
			if (p[i].revents == 0)
				continue;
			got = read(p[i].fd, block, sizeof(block));
			if (got <= 0)
				die("read");
			back += (size_t)got;
			left[i] -= (size_t)got;
			if (left[i] > 0)
				continue;
			left[i] = (size_t)window * BACK;
			if (write(p[i].fd, frames, (size_t)window * SENT) == -1)
				die("write");
		}
	printf("%.0f\n", (double)back / BACK / (seconds_now() - start));
	return 0;
}
