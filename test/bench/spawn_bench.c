/* SPDX-License-Identifier: ISC */
/*
 * The cost of a child: a bare posix_spawn loop with one pipe, compared with
 * proc.c with its three pipes, its process group and its loop.
 *
 *   spawn_bench [children per block]     default 40
 *
 * The child is PROG from the environment, else /bin/true; a static program that
 * does nothing shows the difference best.  The two alternate in short blocks,
 * each first equally often, so that both see the same machine; a cell is the
 * median of ROUNDS blocks.  On a busy machine repeat it: single rows vary by
 * 10 %.
 */
#include "io/proc.h"

#include <errno.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "base/os.h"
#include "io/loop.h"

enum { ROUNDS = 40, CONC_MAX = 64, BALLAST_MB = 500 };

extern char **environ;

static const char *prog;
static struct err e;

static void
die(const char *what)
{
	fprintf(stderr, "spawn_bench: %s\n", what);
	exit(2);
}

/* --- bare --- */

static pid_t
bare_start(int *rfd)
{
	posix_spawn_file_actions_t fa;
	char *argv[] = { NULL, NULL };
	char name[256];
	int fd[2];
	pid_t pid;

	snprintf(name, sizeof(name), "%s", prog);
	argv[0] = name;
	if (os_pipe(fd, 0, &e) == -1)
		die(e.msg);
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_adddup2(&fa, fd[1], 1);
	if (posix_spawn(&pid, prog, &fa, NULL, argv, environ) != 0)
		die("posix_spawn failed");
	posix_spawn_file_actions_destroy(&fa);
	close(fd[1]);
	*rfd = fd[0];
	return pid;
}

static void
bare(int n, int conc)
{
	struct pollfd pf[CONC_MAX];
	pid_t pid[CONC_MAX];
	char b[4096];
	int i, live = 0, left = n;

	while (left > 0 || live > 0) {
		for (; live < conc && left > 0; live++, left--) {
			pid[live] = bare_start(&pf[live].fd);
			pf[live].events = POLLIN;
		}
		if (conc > 1)
			poll(pf, (nfds_t)live, -1);
		for (i = live - 1; i >= 0; i--) {
			if (conc > 1 && pf[i].revents == 0)
				continue;
			if (read(pf[i].fd, b, sizeof(b)) > 0)
				continue;
			close(pf[i].fd);
			waitpid(pid[i], NULL, 0);
			pf[i] = pf[--live];
			pid[i] = pid[live];
		}
	}
}

/* --- ours --- */

static struct procs ps;
static int left;

static void next(struct proc *);

static void
on_done(void *arg)
{
	struct proc *p = arg;

	if (p->res.wstatus != 0)
		die("a child failed");
	if (left > 0)
		next(p);
	else
		proc_fini(p);
}

static void
next(struct proc *p)
{
	const char *argv[] = { prog, NULL };
	struct proc_opts o = { .argv = argv, .done = on_done, .arg = p };

	left--;
	o.timeout_ms = 60000;
	if (proc_start(&ps, p, &o, &e) == -1)
		die(e.msg);
}

static void
ours(int n, int conc)
{
	static const struct proc none;
	struct proc p[CONC_MAX];
	struct loop *l = loop_new(NULL, &e);
	int i;

	if (l == NULL)
		die(e.msg);
	procs_init(&ps, l, true);
	left = n;
	for (i = 0; i < conc && left > 0; i++) {
		p[i] = none;
		next(&p[i]);
	}
	while (loop_turn(l, &e) == 1)
		;
	procs_fini(&ps);
	loop_free(l);
}

/* --- the table --- */

static double
us_each(void (*fn)(int, int), int n, int conc)
{
	int64_t t = os_now_ns();

	fn(n, conc);
	return (double)(os_now_ns() - t) / 1000 / n;
}

static int
by_value(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;

	return (a > b) - (a < b);
}

static double
median(double v[ROUNDS])
{
	qsort(v, ROUNDS, sizeof(v[0]), by_value);
	return (v[ROUNDS / 2 - 1] + v[ROUNDS / 2]) / 2;
}

static void
row(int n, int conc, int mb)
{
	double a[ROUNDS], b[ROUNDS], bare_us, ours_us;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		if (i % 2 == 0)
			a[i] = us_each(bare, n, conc);
		b[i] = us_each(ours, n, conc);
		if (i % 2 != 0)
			a[i] = us_each(bare, n, conc);
	}
	bare_us = median(a);
	ours_us = median(b);
	printf("%7d MB %5d %12.1f %12.1f %8.2f\n", mb, conc, bare_us,
	    ours_us, ours_us / bare_us);
	fflush(stdout);
}

int
main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 40;
	int wide = (int)sysconf(_SC_NPROCESSORS_ONLN) * 2;
	size_t size = (size_t)BALLAST_MB << 20;
	char *ballast;

	prog = getenv("PROG");
	if (prog == NULL)
		prog = "/bin/true";
	if (n < 1 || os_init(&e) == -1)
		die("usage: spawn_bench [children]");
	wide = wide > CONC_MAX ? CONC_MAX : wide;
	printf("%10s %5s %12s %12s %8s   (%s, microseconds per child)\n",
	    "ballast", "conc", "posix_spawn", "proc", "ratio", prog);
	row(n, 1, 0);
	row(n, wide, 0);
	ballast = malloc(size);
	if (ballast == NULL)
		die("no memory for the ballast");
	memset(ballast, 1, size);
	row(n, 1, BALLAST_MB);
	row(n, wide, BALLAST_MB);
	free(ballast);
	return 0;
}
