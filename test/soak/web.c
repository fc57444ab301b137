/* SPDX-License-Identifier: ISC */
/* Scenes of HTTP and WebSocket clients. */
#include "soak.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	SLOW = 500,
	SLOW_S = 40,		/* then a slow one must be away */
	ENDLESS = 10,
	ENDLESS_S = 10,		/* then one of them must be away */
	FRAMES = 100,
	PINGS = 1000000,
	READERS = 1000
};

#define UPGRADE "GET /rpc HTTP/1.1\r\nHost: localhost\r\n" \
	"Upgrade: websocket\r\nConnection: Upgrade\r\n" \
	"Sec-WebSocket-Version: 13\r\n" \
	"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"

/* 1: there is something; 0: not yet; -1: it has ended. */
static int
look(int fd, char *text, size_t n)
{
	ssize_t k = recv(fd, text, n - 1, 0);

	text[k > 0 ? k : 0] = '\0';
	if (k > 0)
		return 1;
	return k == -1 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
}

/* The server soon stops reading and sends an error response. */
static bool
refused(int fd, const char *block, size_t n, const char *what)
{
	double end = now() + ENDLESS_S;
	char text[2000] = "";
	bool told = false;

	while (now() < end && put(fd, block, n, 5)) {
		if (!told && look(fd, text, sizeof(text)) == 1)
			told = strncmp(text, what, strlen(what)) == 0;
		if (told)
			nap(0.01);
	}
	return told && now() < end;
}

/* A line of a head now and then, by hundreds: slowloris. */
void
web_slow(struct soak *s)
{
	static int fd[SLOW];
	double begun = now();
	char text[1000];
	int i, away = 0, told = 0;

	for (i = 0; i < SLOW; i++) {
		fd[i] = dial(s, i % 2 == 1);
		put(fd[i], "GET / HTTP/1.1\r\nHost: localhost\r\n", 33, 5);
	}
	while (away < SLOW && now() < begun + SLOW_S) {
		nap(0.5);
		for (i = 0; i < SLOW; i++) {
			if (fd[i] == -1)
				continue;
			switch (look(fd[i], text, sizeof(text))) {
			case 1:
				told += strncmp(text, "HTTP/1.1 408 ", 13) == 0;
				break;
			case 0:
				put_some(fd[i], "X: y\r\n", 6);
				break;
			default:
				close(fd[i]);
				fd[i] = -1;
				away++;
			}
		}
	}
	if (away < SLOW || told < SLOW)
		complain(s, "of %d slow ones %d are away, %d were told why",
		    SLOW, away, told);
	for (i = 0; i < SLOW; i++)
		if (fd[i] != -1)
			close(fd[i]);
}

/* Heads and bodies without an end, as fast as they go. */
void
web_endless(struct soak *s)
{
	static const struct {
		const char *head, *more, *status;
	} kinds[] = {
		{ "GET / HTTP/1.1\r\nHost: x\r\n", "X: y\r\n", "HTTP/1.1 431 " },
		{ "GET / HTTP/1.1\r\nHost: x\r\nX: ", "xxxxxx", "HTTP/1.1 431 " },
		{ "GET /", "aaaaaa", "HTTP/1.1 414 " },
		{ "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n",
		    "1\r\nx\r\n", "HTTP/1.1 413 " },
		{ "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999999999999\r\n\r\n",
		    "xxxxxx", "HTTP/1.1 413 " },
	};
	struct holds before = watch_holds(s), after;
	char block[6 * 4000];
	int i, fd;
	size_t k, n = sizeof(kinds) / sizeof(kinds[0]);

	for (i = 0; i < ENDLESS; i++) {
		fd = dial(s, i % 2 == 1);
		put(fd, kinds[(size_t)i % n].head,
		    strlen(kinds[(size_t)i % n].head), 5);
		for (k = 0; k < sizeof(block); k += 6)
			memcpy(block + k, kinds[(size_t)i % n].more, 6);
		if (!refused(fd, block, sizeof(block),
		    kinds[(size_t)i % n].status))
			complain(s, "endless %d is not refused", i);
		close(fd);
	}
	after = watch_holds(s);
	if (before.kb > 0 && after.kb - before.kb > 40 * 1024L)
		complain(s, "%ld KB more", after.kb - before.kb);
}

static int
open_socket(struct soak *s, bool tcp)
{
	char text[1000];
	int fd = dial(s, tcp), i;

	put(fd, UPGRADE, sizeof(UPGRADE) - 1, 5);
	for (i = 0; i < 500 && look(fd, text, sizeof(text)) == 0; i++)
		nap(0.01);
	if (strstr(text, " 101 ") == NULL)
		complain(s, "no WebSocket: %s", text);
	return fd;
}

/* Frames that declare large lengths or are malformed. */
void
web_frames(struct soak *s)
{
	static const char *const bad[] = {
		"\x82\xff\x80\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01",
		"\x82\xff\x7f\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01",
		"\x81\x05hello", "\xc1\x81xxxxy", "\x80\x81xxxxy",
		"\x09\x81xxxxy", "\x88\x81xxxxy", "\x81\x81\x01\x01\x01\x01\xff",
		"GET / HTTP/1.1\r\n\r\n"
	};
	struct holds before = watch_holds(s), after;
	size_t n = sizeof(bad) / sizeof(bad[0]);
	char *text;
	int i, fd;

	for (i = 0; i < FRAMES; i++) {
		fd = open_socket(s, i % 2 == 1);
		put(fd, bad[(size_t)i % n], strlen(bad[(size_t)i % n]), 5);
		text = last_words(fd, 10);
		if (text == NULL || (unsigned char)text[0] != 0x88)
			complain(s, "frame %zu: no close", (size_t)i % n);
		free(text);
		close(fd);
	}
	after = watch_holds(s);
	if (before.kb > 0 && after.kb - before.kb > 4096)
		complain(s, "%ld KB more", after.kb - before.kb);
}

/* A million pings, the pongs of which are read, and once are not. */
void
web_pings(struct soak *s)
{
	struct holds before = watch_holds(s), after;
	char block[6 * 1000], text[65536];
	size_t i, pongs = 0, sent = 0, at = 0;
	double end = now() + 60;
	struct pollfd p;
	ssize_t k;

	for (i = 0; i < sizeof(block); i += 6)
		memcpy(block + i, "\x89\x80wxyz", 6);
	p = (struct pollfd){ .fd = open_socket(s, true),
		.events = POLLIN | POLLOUT };
	while (pongs < 2 * (size_t)PINGS && now() < end) {
		p.events = sent < PINGS / 1000 ? POLLIN | POLLOUT : POLLIN;
		poll(&p, 1, 100);
		if (sent < PINGS / 1000) {
			at += put_some(p.fd, block + at, sizeof(block) - at);
			sent += at == sizeof(block);
			at = at == sizeof(block) ? 0 : at;
		}
		k = recv(p.fd, text, sizeof(text), 0);
		pongs += k > 0 ? (size_t)k : 0;
	}
	if (pongs != 2 * (size_t)PINGS)
		complain(s, "%zu pongs", pongs / 2);
	close(p.fd);
	p.fd = open_socket(s, false);
	for (i = 0; i < 2000; i++) {
		put_some(p.fd, block, sizeof(block));
		nap(0.0005);
	}
	after = watch_holds(s);
	if (before.kb > 0 && after.kb - before.kb > 8192)
		complain(s, "%ld KB more for pongs that nobody reads",
		    after.kb - before.kb);
	close(p.fd);
}

/*
 * Readers of a run's events, of which half stop reading.
 */
static bool
start_run(struct soak *s, char *id, size_t n)
{
	char text[1000], *said_, *at, *end;
	int fd = dial(s, true), k;

	k = snprintf(text, sizeof(text), "{\"path\":\"%s/flood.yaml\"}",
	    s->dir);
	k = snprintf(text, sizeof(text), "POST /api/v1/runs HTTP/1.1\r\n"
	    "Host: localhost\r\nContent-Type: application/json\r\n"
	    "Connection: close\r\nContent-Length: %d\r\n\r\n"
	    "{\"path\":\"%s/flood.yaml\"}", k, s->dir);
	put(fd, text, (size_t)k, 5);
	said_ = last_words(fd, 20);
	close(fd);
	at = said_ != NULL ? strstr(said_, "\"runId\":\"") : NULL;
	end = at != NULL ? strchr(at + 9, '"') : NULL;
	if (end != NULL && (size_t)(end - at - 9) < n) {
		*end = '\0';
		memcpy(id, at + 9, (size_t)(end - at - 8));
	} else
		complain(s, "no run: %s", said_ != NULL ? said_ : "");
	free(said_);
	return end != NULL;
}

void
web_readers(struct soak *s)
{
	static struct pollfd p[READERS];
	static bool over[READERS];
	struct holds before = watch_holds(s), h;
	char id[100], text[65536];
	double end = now() + 60, glance = 0;
	int i, k, left = READERS / 2;
	long most = 0;

	if (!start_run(s, id, sizeof(id)))
		return;
	k = snprintf(text, sizeof(text), "GET /api/v1/runs/%s/stream HTTP/1.1"
	    "\r\nHost: localhost\r\n\r\n", id);
	for (i = 0; i < READERS; i++) {
		p[i] = (struct pollfd){ .fd = dial(s, i % 4 < 2),
			.events = i % 2 == 0 ? POLLIN : 0 };
		over[i] = false;
		put(p[i].fd, text, (size_t)k, 5);
	}
	while (left > 0 && now() < end && poll(p, READERS, 1000) >= 0) {
		if (now() > glance) {
			h = watch_holds(s);
			most = h.kb > most ? h.kb : most;
			glance = now() + 0.5;
		}
		for (i = 0; i < READERS; i += 2) {
			if (p[i].revents == 0 || over[i])
				continue;
			k = look(p[i].fd, text, sizeof(text));
			if (k == -1 || (k == 1 &&
			    strstr(text, "eval_complete") != NULL)) {
				over[i] = true;
				p[i].events = 0;
				left--;
				if (k == -1)
					complain(s, "reader %d is disconnected",
					    i);
			}
		}
	}
	if (left > 0)
		complain(s, "%d of %d readers do not hear the end", left,
		    READERS / 2);
	if (before.kb > 0 && most - before.kb > READERS / 2 * 400L)
		complain(s, "%ld KB more for readers", most - before.kb);
	for (i = 0; i < READERS; i++)
		close(p[i].fd);
}
