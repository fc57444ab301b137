/* SPDX-License-Identifier: ISC */
/*
 * soak WAZA [SECONDS]: runs every scene, then repeats them until the time is
 * over.
 *
 * The first round warms up: the server keeps the results of the last runs, and
 * the C library keeps freed memory.  After it the server must not use more
 * memory than after that round.  After each scene its descriptors, children
 * and files must be those of the start.  During a scene another client must
 * get its answers in time: the 99th percentile may be SOAK_P99_MS (50) or
 * STRETCH times that of a process that only answers, whichever is more,
 * because agents and the clients here may use all cores.
 */
#include "soak.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	SETTLE_S = 20,
	TRIM_S = 3,		/* then memory should be given back, */
	LARGE_KB = 16 << 10,	/* if there is much of it */
	STRETCH = 20,
	SETS = 2,		/* descriptors for those that sleep, once */
	LONG_S = 60		/* then scenes are longer, for percentiles */
};


static unsigned passed, failed;

static void
check(bool ok, const char *what, long got, long limit)
{
	if (ok)
		passed++;
	else {
		failed++;
		printf("not ok: %s: %ld, not %ld\n", what, got, limit);
	}
}

static int
agent(const char *seconds)
{
	nap(atof(seconds));
	puts("fine");
	return 0;
}

/* The resources once the server is idle, or after a time-out. */
static struct holds
settle(const struct soak *s, const struct holds *start)
{
	struct holds h = watch_holds(s);
	double begun = now();

	while (now() < begun + SETTLE_S && (h.fds > start->fds ||
	    h.children > start->children || h.files > start->files ||
	    (h.kb > start->kb + LARGE_KB && now() < begun + TRIM_S))) {
		nap(0.1);
		h = watch_holds(s);
	}
	return h;
}

/* Memory below a limit once the server has given back what it can. */
static struct holds
settle_memory(const struct soak *s, long limit)
{
	struct holds h = watch_holds(s);
	double begun = now();

	while (h.kb > limit && now() < begun + TRIM_S) {
		nap(0.1);
		h = watch_holds(s);
	}
	return h;
}

static struct holds
play(struct soak *s, const struct scene *c, const struct holds *start,
    double p99_max)
{
	struct probe b;
	struct probed r;
	struct holds h;
	double begun = now(), took;

	s->faults = 0;
	probe_start(&b, s);
	c->play(s);
	took = now() - begun;
	if (took < s->scene)
		nap(s->scene - took);
	r = probe_stop(&b);
	h = settle(s, start);
	p99_max = p99_max > STRETCH * r.other ? p99_max : STRETCH * r.other;
	printf("%-24s %4.1f s  p50 %6.3f  p99 %7.3f (other %6.3f)  max %7.3f ms"
	    "  %2ld fds %ld children %ld files %5ld KB\n", c->name, took,
	    r.p50, r.p99, r.other, r.max, h.fds, h.children, h.files, h.kb);
	check(s->faults == 0, "faults", (long)s->faults, 0);
	check(r.lost == 0, "pings lost", (long)r.lost, 0);
	check(r.p99 <= p99_max, "p99 in us", (long)(r.p99 * 1e3),
	    (long)(p99_max * 1e3));
	check(h.fds <= start->fds, "descriptors", h.fds, start->fds);
	check(h.children <= start->children, "children", h.children,
	    start->children);
	check(h.files <= start->files, "files left", h.files, start->files);
	fflush(stdout);
	return h;
}

static struct probed
baseline(const struct soak *s)
{
	struct probe b;
	struct probed r;

	probe_start(&b, s);
	nap(2);
	r = probe_stop(&b);
	printf("%-24s         p50 %6.3f  p99 %7.3f (other %6.3f)  max %7.3f ms\n",
	    "nobody else", r.p50, r.p99, r.other, r.max);
	return r;
}

static void
prepare(struct soak *s)
{
	struct rlimit l;
	char path[128];

	if (getrlimit(RLIMIT_NOFILE, &l) == 0) {
		l.rlim_cur = l.rlim_max;
		setrlimit(RLIMIT_NOFILE, &l);
	}
	snprintf(s->dir, sizeof(s->dir), "%s/soak.XXXXXX",
	    getenv("TMPDIR") != NULL && strlen(getenv("TMPDIR")) < 40 ?
	    getenv("TMPDIR") : "/tmp");
	if (mkdtemp(s->dir) == NULL)
		die("mkdtemp");
	snprintf(s->path, sizeof(s->path), "%s/socket", s->dir);
	snprintf(path, sizeof(path), "%s/tmp", s->dir);
	if (mkdir(path, 0700) == -1)
		die(path);
	scene_suites(s);
	client_suite(s);
}

static void
tidy(const struct soak *s)
{
	static const char *const names[] = { "brief.yaml", "mock.yaml", "slow.yaml",
		"chatty.yaml", "command.yaml", "flood.yaml", "hanging.yaml",
		"remote.yaml", "socket", "queue" };
	char path[128];
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", s->dir, names[i]);
		unlink(path);
	}
	snprintf(path, sizeof(path), "%s/tmp", s->dir);
	rmdir(path);
	rmdir(s->dir);
}

int
main(int argc, char **argv)
{
	struct soak s = { .noise = 88172645463325252U };
	const char *limit = getenv("SOAK_P99_MS"), *only = getenv("SOAK_ONLY");
	double p99_max = limit != NULL ? atof(limit) : 50;
	double begun = now(), end;
	struct holds start, warm = { 0 }, h = { 0 };
	const struct scene *c;
	long kb_max;
	int round;

	if (argc == 4 && strcmp(argv[1], "agent") == 0)
		return agent(argv[2]);
	if (argc < 2 || argv[1][0] != '/' || argv[0][0] != '/') {
		fprintf(stderr, "usage: %s /path/to/waza [seconds]\n", argv[0]);
		return 2;
	}
	s.waza = argv[1];
	s.self = argv[0];
	end = begun + (argc > 2 ? atof(argv[2]) : 120);
	s.scene = end - begun < LONG_S ? 0.7 : 3;
	prepare(&s);
	watch_start(&s);
	baseline(&s);
	start = watch_holds(&s);
	if (start.fds == -1)
		puts("# no /proc here: what it holds is not looked at");
	printf("%-24s %72ld fds %ld children %ld files %5ld KB\n", "at first",
	    start.fds, start.children, start.files, start.kb);
	start.fds += SETS;
	for (round = 0; round < 2 || now() < end; round++) {
		printf("## round %d\n", round);
		for (c = scenes; c->name != NULL && watch_alive(&s); c++)
			if (only == NULL || strstr(c->name, only) != NULL)
				h = play(&s, c, &start, p99_max);
		if (!watch_alive(&s))
			break;
		kb_max = warm.kb + warm.kb / 4 + 1024;
		if (round == 0)
			warm = h;
		else {
			h = settle_memory(&s, kb_max);
			check(h.kb <= kb_max, "KB", h.kb, warm.kb);
		}
	}
	check(watch_alive(&s), "the server is alive", 0, 1);
	check(watch_stop(&s) == 0, "it ends when told", 1, 0);
	tidy(&s);
	printf("%ld KB at first, %ld after a round, %ld after %d rounds\n",
	    start.kb, warm.kb, h.kb, round);
	printf("%u passed, %u failed\n", passed, failed);
	return failed > 0;
}
