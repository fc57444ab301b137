/* SPDX-License-Identifier: ISC */
/*
 * Evaluation clients (seeds/004) during a run that needs them: some answer,
 * some disconnect at each request and reconnect, some never answer, some send
 * messages without end.  And clients that all disconnect at any moment and return
 * under the same name.
 */
#include "soak.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CLIENTS = 40, TASKS = 200, RUN_S = 60, ROOM = 1 << 16 };

enum kind { ANSWERS, VANISHES, SILENT, FLOODS, KINDS, FLAPS };

struct client {
	int fd;
	enum kind kind;
	int n;
	bool up;		/* the handshake is done */
	bool in;		/* it is registered */
	char *buf;
	size_t have;
};

#define UPGRADE "GET / HTTP/1.1\r\nHost: localhost\r\n" \
	"Upgrade: websocket\r\nConnection: Upgrade\r\n" \
	"Sec-WebSocket-Version: 13\r\n" \
	"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"

/* A text in one frame, under a mask of zeros. */
static void
say(struct client *c, const char *text)
{
	unsigned char head[8] = { 0x81 };
	size_t n = strlen(text), k = 2;
	char frame[1024];

	if (n < 126)
		head[1] = (unsigned char)(0x80 | n);
	else {
		head[1] = 0x80 | 126;
		head[2] = (unsigned char)(n >> 8);
		head[3] = (unsigned char)n;
		k = 4;
	}
	memcpy(frame, head, k);
	memset(frame + k, 0, 4);
	memcpy(frame + k + 4, text, n);
	put_some(c->fd, frame, k + 4 + n);
}

static void
open_client(struct soak *s, struct client *c)
{
	c->fd = dial(s, c->n % 2 == 1);
	c->up = c->in = false;
	c->have = 0;
	put(c->fd, UPGRADE, sizeof(UPGRADE) - 1, 5);
}

static void
enter(struct client *c)
{
	char text[300];

	snprintf(text, sizeof(text), "{\"type\":\"register\",\"clientId\":"
	    "\"soak-%d\",\"capabilities\":{\"tools\":[\"t\"],"
	    "\"maxConcurrency\":2}}", c->n);
	say(c, text);
	say(c, "{\"type\":\"ready\"}");
	c->in = true;
}

static void
on_request(struct soak *s, struct client *c, const char *m)
{
	const char *id = strstr(m, ",\"id\":\"");
	char text[300];
	int how = -1;

	switch (c->kind) {
	case SILENT:
		return;
	case VANISHES:
		close(c->fd);
		open_client(s, c);
		return;
	case FLAPS:
		how = (int)(dice(s) % 4);
		if (how > 0)
			break;
		close(c->fd);
		open_client(s, c);
		return;
	case FLOODS:
	case ANSWERS:
	case KINDS:
		break;
	}
	snprintf(text, sizeof(text), "{\"jsonrpc\":\"2.0\",\"result\":"
	    "{\"status\":\"success\",\"output\":\"fine\"}%.100s",
	    id != NULL ? id : "}");
	say(c, text);
	if (how == 1) {		/* after the answer, which may be lost */
		close(c->fd);
		open_client(s, c);
	}
}

/* Takes complete frames from the input; frames are short here. */
static void
take(struct soak *s, struct client *c)
{
	const char *end;
	size_t n, k;
	char keep;

	if (!c->up) {
		c->buf[c->have] = '\0';
		end = strstr(c->buf, "\r\n\r\n");
		if (end == NULL)
			return;
		if (strstr(c->buf, " 101 ") == NULL)
			complain(s, "no WebSocket: %.100s", c->buf);
		c->up = true;
		n = (size_t)(end + 4 - c->buf);
		c->have -= n;
		memmove(c->buf, c->buf + n, c->have);
	}
	while (c->have >= 4) {
		n = (unsigned char)c->buf[1];
		k = 2;
		if (n == 126) {
			n = (size_t)((unsigned char)c->buf[2] << 8 |
			    (unsigned char)c->buf[3]);
			k = 4;
		}
		if (c->have < k + n)
			return;
		keep = c->buf[k + n];
		c->buf[k + n] = '\0';
		if ((c->buf[0] & 0x0f) == 1) {
			if (strstr(c->buf + k, "\"welcome\"") != NULL)
				enter(c);
			if (strstr(c->buf + k, "\"evaluate\"") != NULL) {
				on_request(s, c, c->buf + k);
				if (!c->up)
					return;	/* another connection */
			}
		}
		c->buf[k + n] = keep;
		c->have -= k + n;
		memmove(c->buf, c->buf + k + n, c->have);
	}
}

static void
look(struct soak *s, struct client *c)
{
	ssize_t k = recv(c->fd, c->buf + c->have, ROOM - 2 - c->have,
	    MSG_DONTWAIT);

	if (k > 0) {
		c->have += (size_t)k;
		take(s, c);
	} else if (k == 0 || (errno != EAGAIN && errno != EINTR)) {
		close(c->fd);	/* clients that flood are disconnected */
		if (c->kind == ANSWERS)
			complain(s, "client %d is disconnected", c->n);
		open_client(s, c);
	}
}

static void
flood(struct client *c)
{
	int i;

	for (i = 0; i < 50; i++)
		say(c, i % 2 == 0 ? "{\"type\":\"ping\"}" :
		    "{\"type\":\"status\",\"evaluationId\":\"t1\",\"status\":"
		    "\"running\",\"progress\":0.5,\"message\":\"on and on\"}");
}

void
client_suite(const struct soak *s)
{
	char path[128];
	FILE *f;
	int i;

	snprintf(path, sizeof(path), "%s/remote.yaml", s->dir);
	f = fopen(path, "w");
	if (f == NULL)
		die(path);
	fputs("name: remote\nskill: s\nconfig: {executor: remote, workers: "
	    "16, remote: {tool: t, timeout: 500, metadata: {retries: 5}}}\n"
	    "tasks:\n", f);
	for (i = 0; i < TASKS; i++)
		fprintf(f, "  - {id: t%d, prompt: p, expected: "
		    "{output_contains: [fine]}}\n", i);
	fclose(f);
}

static bool
is_over(const struct evalclient *p)
{
	return p->over > 0 || p->errors > 0;
}

/* A run of all tasks with these clients; *boss: how it ended. */
static void
play(struct soak *s, struct client *v, struct evalclient *boss)
{
	struct pollfd p[CLIENTS + 1];
	double end = now() + RUN_S;
	int i;

	for (i = 0; i < CLIENTS; i++) {
		v[i].n = i;
		v[i].buf = malloc(ROOM);
		if (v[i].buf == NULL)
			die("malloc");
		open_client(s, &v[i]);
	}
	ask(boss, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"eval.run\","
	    "\"params\":{\"path\":\"%s/remote.yaml\"}}", s->dir);
	while (!is_over(boss) && now() < end) {
		for (i = 0; i < CLIENTS; i++)
			p[i] = (struct pollfd){ .fd = v[i].fd,
				.events = POLLIN };
		p[CLIENTS] = (struct pollfd){ .fd = boss->fd,
			.events = POLLIN };
		poll(p, CLIENTS + 1, 20);
		for (i = 0; i < CLIENTS; i++) {
			if (p[i].revents != 0)
				look(s, &v[i]);
			if (v[i].kind == FLOODS && v[i].in)
				flood(&v[i]);
		}
		if (p[CLIENTS].revents != 0)
			hear(boss, 1, 0.001, is_over);
	}
	if (boss->over != 1 || boss->errors > 0)
		complain(s, "the run: %u ended, %u errors", boss->over,
		    boss->errors);
	for (i = 0; i < CLIENTS; i++) {
		close(v[i].fd);
		free(v[i].buf);
	}
}

void
client_kinds(struct soak *s)
{
	static struct client v[CLIENTS];
	struct evalclient boss = { .fd = dial(s, false) };
	int i;

	for (i = 0; i < CLIENTS; i++)
		v[i] = (struct client){ .kind = i % 2 == 0 ? ANSWERS :
			(enum kind)(1 + i / 2 % 3) };
	play(s, v, &boss);
	hang_up(&boss, false);
}

/* Each task has a result, whatever the clients did with its requests. */
void
client_flaps(struct soak *s)
{
	static struct client v[CLIENTS];
	struct evalclient boss = { .fd = dial(s, false) };
	int i;

	for (i = 0; i < CLIENTS; i++)
		v[i] = (struct client){ .kind = FLAPS };
	play(s, v, &boss);
	if (boss.passed + boss.failed != TASKS || boss.passed < TASKS / 2)
		complain(s, "%u tasks passed and %u did not, of %d",
		    boss.passed, boss.failed, TASKS);
	hang_up(&boss, false);
}
