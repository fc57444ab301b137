/* SPDX-License-Identifier: ISC */
/*
 * The overhead of a trial beside its agent, with 64 agents at once: CPU time of
 * waza without its children, and its memory.  The agents are the doubles in C.
 * Linux only: reads /proc.
 *
 *	agent_bench WAZA DOUBLES	both paths absolute
 */
#define _DEFAULT_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test/tool/clock.h"

extern char **environ;

enum { AT_ONCE = 64, TRIALS = 640, ROUNDS = 3 };

struct cost {
	double cpu, wall;	/* seconds */
	long kb;		/* most of it that was resident */
	int status;
};

static int
slurp(pid_t pid, const char *name, char *text, size_t max)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%ld/%s", (long)pid, name);
	fd = open(path, O_RDONLY);
	if (fd == -1)
		return -1;
	n = read(fd, text, max - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0 ? 0 : -1;
}

/* Of the process alone: it may be dead, but not waited for yet. */
static double
own_cpu(pid_t pid)
{
	unsigned long user = 0, sys = 0;
	char text[1024], *p;

	if (slurp(pid, "stat", text, sizeof(text)) == -1 ||
	    (p = strrchr(text, ')')) == NULL)
		return 0;
	sscanf(p + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
	    &user, &sys);
	return (double)(user + sys) / (double)sysconf(_SC_CLK_TCK);
}

static long
high_water(pid_t pid)
{
	char text[4096], *p;

	if (slurp(pid, "status", text, sizeof(text)) == -1 ||
	    (p = strstr(text, "VmHWM:")) == NULL)
		return 0;
	return strtol(p + 6, NULL, 10);
}

static struct cost
run(const char *waza, const char *suite)
{
	const struct timespec nap = { 0, 2000000 };
	char *argv[] = { strdup(waza), strdup("run"), strdup("-q"),
		strdup(suite), strdup("-o"), strdup("r.json"), NULL };
	struct cost c = { .status = -1 };
	posix_spawn_file_actions_t fa;
	double start = seconds_now();
	siginfo_t si;
	pid_t pid;
	long kb;
	int st = 0, i;

	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_addopen(&fa, 1, "/dev/null", O_WRONLY, 0);
	if (posix_spawn(&pid, waza, &fa, NULL, argv, environ) != 0)
		exit(1);
	posix_spawn_file_actions_destroy(&fa);
	for (;;) {
		si.si_pid = 0;
		if (waitid(P_PID, (id_t)pid, &si,
		    WEXITED | WNOHANG | WNOWAIT) == -1 || si.si_pid != 0)
			break;
		kb = high_water(pid);
		c.kb = kb > c.kb ? kb : c.kb;
		nanosleep(&nap, NULL);
	}
	c.wall = seconds_now() - start;
	c.cpu = own_cpu(pid);
	if (waitpid(pid, &st, 0) == pid && WIFEXITED(st))
		c.status = WEXITSTATUS(st);
	for (i = 0; argv[i] != NULL; i++)
		free(argv[i]);
	return c;
}

static struct cost
best(const char *waza, const char *config, int trials, int workers)
{
	FILE *f = fopen("suite.yaml", "w");
	struct cost b = { 0 }, c;
	int i;

	if (f == NULL)
		exit(1);
	fprintf(f, "name: bench\nskill: s\nconfig: {%s, parallel: true, "
	    "workers: %d, trials_per_task: %d}\ntasks:\n"
	    "- {id: a, prompt: '[[say:hi]]', graders: [{type: text, "
	    "config: {contains: [hi]}}]}\n", config, workers, trials);
	fclose(f);
	for (i = 0; i < ROUNDS; i++) {
		c = run(waza, "suite.yaml");
		if (i == 0 || c.cpu < b.cpu)
			b.cpu = c.cpu;
		if (i == 0 || c.kb > b.kb)
			b.kb = c.kb;
		if (i == 0 || c.wall < b.wall)
			b.wall = c.wall;
		b.status = c.status != 0 ? c.status : b.status;
	}
	return b;
}

/* Both configs have a place for a program; that of the second is slow. */
static void
row(const char *waza, const char *name, const char *config, const char *prog)
{
	char quick[400], slow[400];
	struct cost one, all, many;
	FILE *f = fopen("slow", "w");

	if (f == NULL)
		exit(1);
	fprintf(f, "#!/bin/sh\nsleep 1\nexec '%s' \"$@\"\n", prog);
	fclose(f);
	chmod("slow", 0700);
	snprintf(quick, sizeof(quick), config, prog);
	snprintf(slow, sizeof(slow), config, "./slow");
	one = best(waza, quick, 1, 1);
	all = best(waza, quick, TRIALS, AT_ONCE);
	many = best(waza, slow, AT_ONCE, AT_ONCE);

	printf("%-12s %6.3f ms CPU a trial, %5.0f kB a running trial "
	    "(%ld kB in all; %.0f trials/s)%s\n", name,
	    (all.cpu - one.cpu) * 1e3 / TRIALS,
	    (double)(many.kb - one.kb) / AT_ONCE, many.kb,
	    TRIALS / all.wall, one.status != 0 || all.status != 0 ||
	    many.status != 0 ? " (it failed)" : "");
}

int
main(int argc, char **argv)
{
	char dir[] = "/tmp/waza-bench-XXXXXX", prog[300], rm[64];

	if (argc != 3 || mkdtemp(dir) == NULL || chdir(dir) != 0)
		return 1;
	if (access("/proc/self/status", R_OK) != 0) {
		printf("no /proc here\n");
		return 0;
	}
	row(argv[1], "command", "executor: command, command: ['%s', hi]",
	    "/bin/echo");
	snprintf(prog, sizeof(prog), "%s/double_acp", argv[2]);
	row(argv[1], "acp", "executor: acp, acp: {command: ['%s']}", prog);
	snprintf(prog, sizeof(prog), "%s/double_copilot", argv[2]);
	row(argv[1], "copilot-sdk", "executor: copilot-sdk, copilot: "
	    "{cli_path: '%s'}", prog);
	if (chdir("/") != 0)
		return 1;
	snprintf(rm, sizeof(rm), "rm -rf %s", dir);
	return system(rm) != 0;
}
