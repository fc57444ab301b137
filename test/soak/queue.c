/* SPDX-License-Identifier: ISC */
/*
 * Runs that wait for their turn, in a server that may open few descriptors: it
 * must not use a descriptor for each, nor much memory, and the trials of
 * another client must not fail because of them.
 */
#include "soak.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
	NOFILE = 512,
	QUEUED = 1000,		/* of the first client */
	OTHERS = 4,		/* runs of the second one, 2 tasks each */
	RUN_KB = 32,		/* for one that waits or has just ended */
	RUN_S = 300
};

static bool
all_over(const struct evalclient *p)
{
	return p->over >= QUEUED || p->errors > 0;
}

static bool
others_over(const struct evalclient *p)
{
	return p->over >= OTHERS || p->errors > 0;
}

static bool
all_queued(const struct evalclient *p)
{
	return p->replies >= QUEUED;
}

static void
check_ends(struct soak *s, const struct evalclient *p, const char *who,
    unsigned runs, unsigned passed)
{
	if (p->over != runs || p->errors > 0 || p->passed != passed ||
	    p->failed > 0)
		complain(s, "%s: %u of %u runs ended, %u refused, %u of %u "
		    "tasks passed, %u did not", who, p->over, runs, p->errors,
		    p->passed, passed, p->failed);
}

/* Both clients hear the end of their runs; *most: what it took meanwhile. */
static void
follow(struct soak *server, struct evalclient v[2], struct holds *most)
{
	double end = now() + RUN_S;
	struct holds h;

	while (now() < end && !(all_over(&v[0]) && others_over(&v[1]))) {
		hear(&v[0], 1, 0.05, all_over);
		hear(&v[1], 1, 0.05, others_over);
		h = watch_holds(server);
		most->fds = h.fds > most->fds ? h.fds : most->fds;
		most->kb = h.kb > most->kb ? h.kb : most->kb;
	}
}

void
queue_runs(struct soak *s)
{
	static const char line[] = "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":"
	    "\"eval.run\",\"params\":{\"path\":\"%s/%s.yaml\"}}";
	struct soak server = *s;
	struct evalclient v[2] = { { .fd = -1 }, { .fd = -1 } };
	struct holds before, most = { 0 };
	int i;

	snprintf(server.path, sizeof(server.path), "%s/queue", s->dir);
	server.nofile = NOFILE;
	watch_start(&server);
	before = watch_holds(&server);
	v[0].fd = dial(&server, false);
	v[1].fd = dial(&server, true);
	for (i = 0; i < QUEUED; i++)
		ask(&v[0], line, i, s->dir, "brief");
	if (!hear(&v[0], 1, 60, all_queued))
		complain(s, "%u of %d runs are accepted", v[0].replies, QUEUED);
	for (i = 0; i < OTHERS; i++)
		ask(&v[1], line, i, s->dir, "command");
	follow(&server, v, &most);
	check_ends(s, &v[0], "many runs", QUEUED, QUEUED);
	check_ends(s, &v[1], "another client", OTHERS, OTHERS * 2);
	if (most.fds > NOFILE - 64)
		complain(s, "%ld descriptors while runs wait", most.fds);
	if (before.kb > 0 && most.kb - before.kb > QUEUED * (long)RUN_KB)
		complain(s, "%ld KB more while runs wait",
		    most.kb - before.kb);
	hang_up(&v[0], false);
	hang_up(&v[1], false);
	if (watch_stop(&server) != 0)
		complain(s, "the server with a queue does not end well");
	close(server.say);
}
