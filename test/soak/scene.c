/* SPDX-License-Identifier: ISC */
/* Scenes: each is one kind of hostile behaviour of clients. */
#include "soak.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	PEERS = 50,
	MUTE = 20,
	HALVES = 200,
	GARBAGE = 300,
	NOTES = 1000000,
	CROWD = 1100,		/* more than it takes */
	CHURN = 2000,
	STORM = 100
};

static const char run_line[] = "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":"
    "\"eval.run\",\"params\":{\"path\":\"%s/%s.yaml\",\"verbose\":true}}";
static const char ping_line[] =
    "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"ping\"}";

static void
suite(const struct soak *s, const char *name, const char *config, int tasks)
{
	char path[128];
	FILE *f;
	int i;

	snprintf(path, sizeof(path), "%s/%s.yaml", s->dir, name);
	f = fopen(path, "w");
	if (f == NULL)
		die(path);
	fprintf(f, "name: %s\nskill: s\nconfig: {%s}\ntasks:\n", name, config);
	for (i = 0; i < tasks; i++)
		fprintf(f, "  - {id: t%d, prompt: p, expected: "
		    "{output_contains: [fine]}}\n", i);
	fclose(f);
}

/* The agent of the command executor is this program. */
void
scene_suites(const struct soak *s)
{
	char text[400];

	suite(s, "mock", "executor: mock, workers: 2, "
	    "mock: {output: fine, delay_ms: 150}", 4);
	suite(s, "brief", "executor: mock, mock: {output: fine, "
	    "delay_ms: 50}", 1);
	suite(s, "slow", "executor: mock, mock: {output: fine, "
	    "delay_ms: 60000}", 1);
	suite(s, "flood", "executor: mock, trials_per_task: 40, "
	    "mock: {output: fine}", 50);
	suite(s, "chatty", "executor: mock, trials_per_task: 5, "
	    "mock: {output: fine}", 20);
	snprintf(text, sizeof(text), "executor: command, workers: 2, "
	    "command: ['%s', agent, '0.15', '%s']", s->self, s->dir);
	suite(s, "command", text, 2);
	snprintf(text, sizeof(text), "executor: command, "
	    "command: ['%s', agent, '60', '%s']", s->self, s->dir);
	suite(s, "hanging", text, 1);
}

static void
open_peers(const struct soak *s, struct evalclient *v, int n)
{
	int i;

	for (i = 0; i < n; i++)
		v[i] = (struct evalclient){ .fd = dial(s, i % 2 == 1) };
}

static void
close_peers(struct evalclient *v, int n)
{
	int i;

	for (i = 0; i < n; i++)
		hang_up(&v[i], false);
}

static bool
two_over(const struct evalclient *p)
{
	return p->over >= 2 || p->errors > 0;
}

static bool
two_begun(const struct evalclient *p)
{
	return p->notes >= 8 || p->errors > 0;	/* trial_start, both */
}

static bool
one_reply(const struct evalclient *p)
{
	return p->replies >= 1;
}

static bool
storm_begun(const struct evalclient *p)
{
	return p->replies > STORM;
}

/* Each peer starts a run of each of the two suites. */
static void
start_runs(struct soak *s, struct evalclient *v, const char *first,
    const char *second)
{
	int i;

	open_peers(s, v, PEERS);
	for (i = 0; i < PEERS; i++) {
		ask(&v[i], run_line, 1, s->dir, first);
		ask(&v[i], run_line, 2, s->dir, second);
	}
}

/* Fifty peers run a hundred suites at once. */
static void
runs(struct soak *s)
{
	struct evalclient v[PEERS];
	int i;

	start_runs(s, v, "mock", "command");
	if (!hear(v, PEERS, 60, two_over))
		complain(s, "runs do not end");
	for (i = 0; i < PEERS; i++)
		if (v[i].over != 2 || v[i].replies != 2 || v[i].early ||
		    v[i].errors > 0)
			complain(s, "peer %d: %u ended, %u answers, %u errors%s",
			    i, v[i].over, v[i].replies, v[i].errors,
			    v[i].early ? ", told too early" : "");
	close_peers(v, PEERS);
}

/* Peers disconnect while their agents work. */
static void
vanish(struct soak *s)
{
	struct evalclient v[PEERS];
	int i;

	start_runs(s, v, "slow", "hanging");
	if (!hear(v, PEERS, 30, two_begun))
		complain(s, "runs do not begin");
	for (i = 0; i < PEERS; i++)
		hang_up(&v[i], i % 2 == 1);
}

/* Sends requests, some with large answers, and never reads. */
static void
mute(struct soak *s)
{
	static const char ask_much[] =
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"rpc.discover\"}\n";
	char block[sizeof(ask_much) * 100];
	struct evalclient v[MUTE];
	struct holds before = watch_holds(s), after;
	double end = now() + 1.5;
	size_t at[MUTE] = { 0 }, i, k;

	for (i = 0; i < 100; i++)
		memcpy(block + i * (sizeof(ask_much) - 1), ask_much,
		    sizeof(ask_much) - 1);
	k = 100 * (sizeof(ask_much) - 1);
	open_peers(s, v, MUTE);
	for (i = 0; i < MUTE / 2; i++)
		ask(&v[i], run_line, 1, s->dir, "chatty");
	while (now() < end) {
		for (i = MUTE / 2; i < MUTE; i++) {
			at[i] += put_some(v[i].fd, block + at[i], k - at[i]);
			at[i] = at[i] == k ? 0 : at[i];
		}
		nap(0.001);
	}
	after = watch_holds(s);
	if (before.kb > 0 && after.kb - before.kb > MUTE * 2048L)
		complain(s, "%ld KB more for those who do not read",
		    after.kb - before.kb);
	close_peers(v, MUTE);
}

/* Half a message, and then silence; every other one finds the rest. */
static void
halves(struct soak *s)
{
	static const char *const first[] = {
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"me",
		"Content-Length: 40\r\n\r\n{\"jsonrpc\":",
		"Content-Len"
	};
	static const char *const rest[] = {
		"thod\":\"ping\"}\n",
		"\"2.0\",\"id\":1,\"method\":\"ping\"}",
		"gth: 40\n\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"
	};
	struct evalclient v[HALVES];
	char text[400];
	ssize_t k;
	int i, j;

	open_peers(s, v, HALVES);
	for (i = 0; i < HALVES; i++)
		put(v[i].fd, first[i % 3], strlen(first[i % 3]), 5);
	nap(1.3);
	for (i = 0; i < HALVES; i += 2) {
		put(v[i].fd, rest[i % 3], strlen(rest[i % 3]), 5);
		for (j = 0; j < 500; j++) {
			k = recv(v[i].fd, text, sizeof(text) - 1, 0);
			if (k >= 0)
				break;
			nap(0.01);
		}
		text[k > 0 ? k : 0] = '\0';
		if (strstr(text, "\"status\":\"ok\"") == NULL)
			complain(s, "half %d: %s", i, text);
	}
	close_peers(v, HALVES);
}

/* Bytes of all kinds, now and then with something that looks right. */
static void
garbage(struct soak *s)
{
	static const char *const heads[] = { "", "", "{", "[{", "Content-Length:",
		"Content-Length: 10\r\n\r\n", "GET / HTTP/1.1\r\n", "\"", "\n",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"eval.run\",\"params\":{" };
	char text[8192];
	struct evalclient p;
	size_t n, k;
	int i;

	for (i = 0; i < GARBAGE; i++) {
		p = (struct evalclient){ .fd = dial(s, i % 2 == 1) };
		n = (size_t)snprintf(text, sizeof(text), "%s",
		    heads[dice(s) % (sizeof(heads) / sizeof(heads[0]))]);
		k = n + (size_t)(dice(s) % (i % 10 == 0 ? 8000 : 200));
		for (; n < k; n++)
			text[n] = (char)(dice(s) >> 20);
		put(p.fd, text, n, 5);
		shutdown(p.fd, SHUT_WR);
		if (i % 3 != 0)
			free(last_words(p.fd, 10));
		hang_up(&p, false);
	}
}

/* Declared lengths beyond any limit. */
static void
lengths(struct soak *s)
{
	static const char *const v[] = { "1099511627776", "18446744073709551617",
		"4294967297", "10485761", "-1", "1e3", "",
		"99999999999999999999999999999999999999999999999" };
	struct holds before = watch_holds(s), after;
	char text[200], *said;
	size_t i, n;
	int fd;

	for (i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		fd = dial(s, i % 2 == 1);
		n = (size_t)snprintf(text, sizeof(text),
		    "Content-Length: %s\r\n\r\n{\"json", v[i]);
		put(fd, text, n, 5);
		said = last_words(fd, 5);
		if (said == NULL || strstr(said, "\"error\":{") == NULL)
			complain(s, "length %s: %s", v[i],
			    said != NULL ? said : "it waits");
		free(said);
		close(fd);
	}
	after = watch_holds(s);
	if (before.kb > 0 && after.kb - before.kb > 1024)
		complain(s, "%ld KB more after lengths",
		    after.kb - before.kb);
}

/* A million that want no answer, and one that does. */
static void
notes(struct soak *s)
{
	static const char note[] = "{\"jsonrpc\":\"2.0\",\"method\":\"ping\"}\n";
	char block[(sizeof(note) - 1) * 1000];
	struct evalclient p = { .fd = dial(s, dice(s) % 2 == 1) };
	size_t i;

	for (i = 0; i < 1000; i++)
		memcpy(block + i * (sizeof(note) - 1), note, sizeof(note) - 1);
	for (i = 0; i < NOTES / 1000; i++)
		if (!put(p.fd, block, sizeof(block), 30)) {
			complain(s, "notifications are not taken");
			break;
		}
	ask(&p, ping_line, 7);
	if (!hear(&p, 1, 30, one_reply) || p.replies != 1 || p.notes != 0)
		complain(s, "%u answers to a million notifications and a ping",
		    p.replies);
	hang_up(&p, false);
}

/* More connections than allowed, then many short ones. */
static void
crowd(struct soak *s)
{
	static struct evalclient v[CROWD];
	struct evalclient one;
	unsigned served = 0;
	int i;

	open_peers(s, v, CROWD);
	for (i = 0; i < CROWD; i++)
		ask(&v[i], ping_line, i);
	hear(v, CROWD, 20, one_reply);
	for (i = 0; i < CROWD; i++)
		served += v[i].replies;
	if (served < 1000 || served > 1024)
		complain(s, "%u of %d are served", served, CROWD);
	close_peers(v, CROWD);
	for (i = 0; i < CHURN; i++) {
		one = (struct evalclient){ .fd = dial(s, i % 2 == 1) };
		if (i % 4 == 0)
			ask(&one, ping_line, i);
		hang_up(&one, i % 8 == 1);
	}
}

/* Messages of the greatest size and of more, and batches. */
static void
large(struct soak *s)
{
	enum { MB = 1 << 20 };
	static const char head[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":"
	    "\"ping\",\"params\":{\"x\":\"";
	static const char tail[] = "\"}}\n";
	char *text = malloc(12 * MB), *said;
	struct evalclient p = { .fd = dial(s, false) };
	size_t n, i;

	if (text == NULL)
		die("malloc");
	memset(text, 'x', 12 * MB);
	memcpy(text, head, sizeof(head) - 1);
	memcpy(text + 9 * MB, tail, sizeof(tail) - 1);
	put(p.fd, text, 9 * MB + sizeof(tail) - 1, 30);
	if (!hear(&p, 1, 30, one_reply) || p.errors > 0)
		complain(s, "9 MiB are not answered");
	put(p.fd, text, 9 * MB - 1, 30);
	put(p.fd, text + 9 * MB + 10, 2 * MB, 5);
	said = last_words(p.fd, 10);
	if (said == NULL || strstr(said, "maximum size") == NULL)
		complain(s, "11 MiB: %s", said != NULL ? said : "it waits");
	free(said);
	hang_up(&p, false);
	p.fd = dial(s, true);
	for (i = 0, n = 0; i < 1000; i++) {
		text[n++] = i == 0 ? '[' : ',';
		n += (size_t)snprintf(text + n, 100, ping_line, (int)i);
	}
	memcpy(text + n, "]\n", 2);
	for (i = 0; i < 100; i++)
		put(p.fd, text, n + 2, 10);
	if (!hear(&p, 1, 30, one_reply) || p.errors > 0)
		complain(s, "batches are not answered");
	hang_up(&p, false);
	free(text);
}

/* Runs that are left as soon as they have begun. */
static void
storm(struct soak *s)
{
	struct evalclient p = { .fd = dial(s, false) };
	int i;

	for (i = 0; i < STORM; i++)
		ask(&p, run_line, i, s->dir, i % 2 == 0 ? "hanging" : "slow");
	ask(&p, "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"run.list\"}");
	if (!hear(&p, 1, 30, storm_begun) || p.errors > 0)
		complain(s, "%u of %d begin", p.replies, STORM + 1);
	hang_up(&p, false);
}

const struct scene scenes[] = {
	{ "a hundred runs by fifty", runs },
	{ "clients vanish", vanish },
	{ "clients that do not read", mute },
	{ "half a message", halves },
	{ "garbage", garbage },
	{ "lengths of 2^40", lengths },
	{ "a million notifications", notes },
	{ "a crowd", crowd },
	{ "large messages", large },
	{ "begun and left", storm },
	{ "runs that wait", queue_runs },
	{ "evaluation clients", client_kinds },
	{ "flapping clients", client_flaps },
	{ "slow requests", web_slow },
	{ "endless requests", web_endless },
	{ "frames of 2^63", web_frames },
	{ "a million pings", web_pings },
	{ "a thousand readers", web_readers },
	{ NULL, NULL }
};
