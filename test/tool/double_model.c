/* SPDX-License-Identifier: ISC */
/*
 * double_model LOG FILE...: a server of recorded answers.  Prints its port,
 * answers the first connection with the contents of the first file, and so on;
 * the last file serves all further connections.  Requests are appended to LOG.
 * The suffix of a file's name determines its behaviour:
 *
 *	.hang	waits for the client to disconnect after the contents
 *	.reset	resets the connection after the contents
 *	.early	sends the contents and closes before reading the request
 *	.slow	sends one byte at a time
 *	.never	sends the contents again and again
 *	.gone	closes the connection without sending anything
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "base/os.h"
#include "base/os_net.h"
#include "lib/http.h"

static const char *log_path;
static struct err e;

static bool
ends(const char *name, const char *suffix)
{
	return str_ends(str_of(name), str_of(suffix));
}

/* Reads the whole request and logs it with one write. */
static int
read_request(int fd)
{
	struct buf in = { 0 };
	struct http_head h;
	struct http_body b = { 0 };
	size_t seen = 0, used, at = 0;
	struct str data, rest;
	char chunk[65536];
	int r = 0, headed = 0, out;
	ssize_t n;

	while (r == 0) {
		n = read(fd, chunk, sizeof(chunk));
		if (n <= 0)
			return -1;
		buf_put(&in, (struct str){ chunk, (size_t)n });
		if (!headed) {
			headed = http_head_read(&h, HTTP_REQUEST,
			    buf_str(&in), &seen, &at, &e);
			if (headed == -1)
				return -1;
			if (headed == 1)
				http_body_init(&b, &h, 0);
		}
		while (headed && r == 0 && at < in.n) {
			rest = (struct str){ in.p + at, in.n - at };
			r = http_body_next(&b, rest, false, &used, &data, &e);
			at += used;
		}
		if (headed && (b.length == HTTP_NONE ||
		    (b.length == HTTP_FIXED && h.size == 0)))
			r = 1;
	}
	buf_putc(&in, '\n');
	out = open(log_path, O_WRONLY | O_APPEND | O_CREAT, 0600);
	if (out == -1 || write(out, in.p, in.n) != (ssize_t)in.n)
		return -1;
	close(out);
	buf_free(&in);
	return r;
}

static int
send_all(int fd, struct str s, size_t most)
{
	ssize_t n;

	while (s.n > 0) {
		n = write(fd, s.p, s.n < most ? s.n : most);
		if (n <= 0)
			return -1;
		s.p += n;
		s.n -= (size_t)n;
	}
	return 0;
}

static void
serve(int fd, const char *name)
{
	struct linger now = { 1, 0 };
	struct arena a = { 0 };
	struct str text = STR("");
	char byte;
	int flags = fcntl(fd, F_GETFL);

	fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
	if (!ends(name, ".gone") &&
	    os_read_file(&a, name, 64 << 20, &text, &e) == -1)
		_exit(2);
	if (!ends(name, ".early") && read_request(fd) == -1)
		_exit(1);
	send_all(fd, text, ends(name, ".slow") ? 1 : text.n);
	while (ends(name, ".never") && send_all(fd, text, text.n) == 0)
		;
	if (ends(name, ".hang"))
		while (read(fd, &byte, 1) > 0)
			;
	if (ends(name, ".reset"))
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	close(fd);
	_exit(0);
}

int
main(int argc, char **argv)
{
	struct os_listener l;
	int i = 2, fd;

	if (argc < 3 || os_listen_tcp("127.0.0.1", "0", false, &l, 1, &e) !=
	    1)
		return 2;
	signal(SIGPIPE, SIG_IGN);
	signal(SIGCHLD, SIG_IGN);
	log_path = argv[1];
	fcntl(l.fd, F_SETFL, fcntl(l.fd, F_GETFL) & ~O_NONBLOCK);
	printf("%s\n", strrchr(l.name, ':') + 1);
	fflush(stdout);
	fclose(stdout);
	for (;;) {
		fd = os_accept(l.fd);
		if (fd == -1)
			continue;
		if (fork() == 0)
			serve(fd, argv[i]);
		close(fd);
		i += i + 1 < argc;
	}
}
