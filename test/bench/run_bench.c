/* SPDX-License-Identifier: ISC */
/*
 * The overhead of a run beside the agent: start, a task by mock and by command,
 * and memory.  Compared in the same run: a bare posix_spawn loop, and promptfoo
 * if it is installed.
 *
 *	run_bench WAZA NOTHING		both paths absolute
 */
#define _DEFAULT_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test/tool/clock.h"

extern char **environ;

struct cost {
	double wall, cpu;	/* seconds */
	long kb;		/* largest resident size */
	int status;
};

static double
seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

/* Runs a line of words, output to /dev/null. */
static struct cost
run(const char *line)
{
	struct cost c = { 0 };
	posix_spawn_file_actions_t fa;
	char text[1000], *argv[32], *p;
	struct rusage ru;
	double start = seconds_now();
	int n = 0, st = 0;
	pid_t pid;

	snprintf(text, sizeof(text), "%s", line);
	for (p = strtok(text, " "); p != NULL && n < 31; p = strtok(NULL, " "))
		argv[n++] = p;
	argv[n] = NULL;
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_addopen(&fa, 1, "/dev/null", O_WRONLY, 0);
	if (posix_spawnp(&pid, argv[0], &fa, NULL, argv, environ) == 0 &&
	    wait4(pid, &st, 0, &ru) == pid) {
		c.cpu = seconds(ru.ru_utime) + seconds(ru.ru_stime);
		c.kb = ru.ru_maxrss;
	}
	posix_spawn_file_actions_destroy(&fa);
	c.wall = seconds_now() - start;
	c.status = c.kb > 0 && WIFEXITED(st) ? WEXITSTATUS(st) : -1;
	return c;
}

static struct cost
best(const char *line, int rounds)
{
	struct cost b = run(line), c;

	while (--rounds > 0) {
		c = run(line);
		if (c.cpu < b.cpu)
			b.cpu = c.cpu;
		if (c.wall < b.wall)
			b.wall = c.wall;
	}
	return b;
}

static void
suite(const char *path, const char *config, int n, const char *check)
{
	FILE *f = fopen(path, "w");
	int i;

	if (f == NULL)
		exit(1);
	fprintf(f, "name: bench\nskill: s\nconfig: {%s}\ntasks:\n", config);
	for (i = 0; i < n; i++)
		fprintf(f, "- {id: t%d, prompt: say hi %d, graders: "
		    "[{type: text, config: {%s}}]}\n", i, i, check);
	fclose(f);
}

static void
row(const char *what, struct cost c, const char *more)
{
	printf("%-34s %9.2f ms wall %9.2f ms CPU %7ld kB  %s%s\n", what,
	    c.wall * 1e3, c.cpu * 1e3, c.kb, more,
	    c.status == 0 ? "" : " (it failed)");
}

static void
starts(const char *waza)
{
	char line[600];

	snprintf(line, sizeof(line), "%s --version", waza);
	row("waza --version", best(line, 20), "");
	suite("one.yaml", "executor: mock", 1, "contains: [hi]");
	snprintf(line, sizeof(line), "%s run -q one.yaml -o one.json", waza);
	row("one task, mock", best(line, 20), "");
}

static void
mocks(const char *waza)
{
	static const int sizes[] = { 100, 1000, 10000, 100000 };
	char line[600], name[64], more[64];
	struct cost c, start = { 0 };
	double per, first = 0;
	size_t i;

	snprintf(line, sizeof(line), "%s run -q one.yaml -o one.json", waza);
	start = best(line, 20);
	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		suite("many.yaml", "executor: mock", sizes[i],
		    "regex_match: ['(?i)HI [0-9]+']");
		snprintf(line, sizeof(line),
		    "%s run -q many.yaml -o many.json", waza);
		c = best(line, sizes[i] > 10000 ? 3 : 5);
		per = (c.cpu - start.cpu) / sizes[i];
		first = i == 0 ? per : first;
		snprintf(name, sizeof(name), "%d tasks, mock and regex", sizes[i]);
		snprintf(more, sizeof(more), "%.1f us a task, x%.2f", per * 1e6,
		    per / first);
		row(name, c, more);
	}
}

/* Rows of a table, which may be a million. */
static void
tables(const char *waza)
{
	static const int sizes[] = { 10000, 100000, 1000000 };
	char line[600], name[64], more[64];
	struct cost c;
	size_t i;
	FILE *f;
	int k;

	f = fopen("table.yaml", "w");
	if (f == NULL)
		exit(1);
	fputs("name: bench\nskill: s\nconfig: {executor: mock}\n"
	    "graders: [{type: text, config: {regex_match: ['(?i)HI [0-9]+']}}]\n"
	    "tasks_from: table.csv\n", f);
	fclose(f);
	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		f = fopen("table.csv", "w");
		if (f == NULL)
			exit(1);
		fputs("id,prompt\n", f);
		for (k = 0; k < sizes[i]; k++)
			fprintf(f, "t%d,say hi %d\n", k, k);
		fclose(f);
		snprintf(line, sizeof(line),
		    "%s run -q table.yaml -o many.json", waza);
		c = run(line);
		snprintf(name, sizeof(name), "%d rows of a table", sizes[i]);
		snprintf(more, sizeof(more), "%.1f us and %.0f bytes a task",
		    c.cpu / sizes[i] * 1e6, (double)c.kb * 1024 / sizes[i]);
		row(name, c, more);
	}
}

/* The list of a directory with many results files. */
static void
stored(const char *waza)
{
	static const int sizes[] = { 10000, 100000 };
	char line[600], name[64], more[64];
	struct cost c;
	size_t i;
	FILE *f;
	int k = 0;

	if (run("mkdir stored").status != 0)
		exit(1);
	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		for (; k < sizes[i]; k++) {
			snprintf(name, sizeof(name), "stored/%d.json", k);
			f = fopen(name, "w");
			if (f == NULL)
				exit(1);
			fprintf(f, "{\"eval_id\":\"run-%d\",\"skill\":\"s\","
			    "\"eval_name\":\"bench\",\"timestamp\":"
			    "\"2026-01-01T00:00:00Z\",\"tasks\":[{\"test_id\":"
			    "\"a\",\"status\":\"passed\",\"runs\":[{\"status\":"
			    "\"passed\",\"duration_ms\":7}]}]}\n", k);
			fclose(f);
		}
		snprintf(line, sizeof(line),
		    "%s results list --dir stored", waza);
		c = run(line);
		snprintf(name, sizeof(name), "list of %d results files",
		    sizes[i]);
		snprintf(more, sizeof(more), "%.1f us and %.0f bytes a file",
		    c.cpu / sizes[i] * 1e6, (double)c.kb * 1024 / sizes[i]);
		row(name, c, more);
	}
}

/* As few system calls as a child with one pipe can have. */
static double
bare(const char *prog, int n, int at_once)
{
	char *argv[2];
	double start = seconds_now();
	int left = n, live = 0, fd[64], p[2], i;
	pid_t pid[64];
	char buf[512];

	argv[0] = strdup(prog);
	argv[1] = NULL;
	while (left > 0 || live > 0) {
		while (left > 0 && live < at_once) {
			posix_spawn_file_actions_t fa;

			if (pipe(p) != 0)
				exit(1);
			fcntl(p[0], F_SETFD, FD_CLOEXEC);
			fcntl(p[1], F_SETFD, FD_CLOEXEC);
			posix_spawn_file_actions_init(&fa);
			posix_spawn_file_actions_adddup2(&fa, p[1], 1);
			if (posix_spawn(&pid[live], prog, &fa, NULL, argv,
			    environ) != 0)
				exit(1);
			posix_spawn_file_actions_destroy(&fa);
			close(p[1]);
			fd[live++] = p[0];
			left--;
		}
		while (read(fd[0], buf, sizeof(buf)) > 0)
			;
		close(fd[0]);
		waitpid(pid[0], NULL, 0);
		live--;
		for (i = 0; i < live; i++) {
			fd[i] = fd[i + 1];
			pid[i] = pid[i + 1];
		}
	}
	free(argv[0]);
	return seconds_now() - start;
}

static void
commands(const char *waza, const char *nothing)
{
	enum { N = 400, ROUNDS = 7 };
	int at_once[2], i, k;
	char line[600], config[400];
	double b, w, ratio[ROUNDS], t;
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	at_once[0] = 1;
	at_once[1] = (int)(cores > 0 ? 2 * cores : 2);
	snprintf(config, sizeof(config), "executor: command, command: [%s]",
	    nothing);
	suite("cmd.yaml", config, N, "not_contains: [x]");
	for (i = 0; i < 2; i++) {
		snprintf(line, sizeof(line), "%s run -q cmd.yaml --workers %d "
		    "-o cmd.json", waza, at_once[i]);
		for (k = 0, b = w = 0; k < ROUNDS; k++) {
			double b1 = bare(nothing, N, at_once[i]);
			double w1 = run(line).wall;
			int j;

			b += b1;
			w += w1;
			for (j = k; j > 0 && ratio[j - 1] > b1 / w1; j--)
				ratio[j] = ratio[j - 1];
			ratio[j] = b1 / w1;
		}
		t = ratio[ROUNDS / 2];
		printf("command, %d at once                 %9.0f /s  bare "
		    "posix_spawn %9.0f /s  median %.2f of it\n", at_once[i],
		    N * ROUNDS / w, N * ROUNDS / b, t);
	}
}

static void
promptfoo(const char *waza)
{
	enum { N = 1000 };
	struct cost p, w;
	FILE *f;
	char line[600];
	int i;

	setenv("PROMPTFOO_DISABLE_TELEMETRY", "1", 1);
	setenv("PROMPTFOO_DISABLE_UPDATE", "1", 1);
	if (run("promptfoo --version").status != 0) {
		puts("promptfoo is not installed");
		return;
	}
	f = fopen("promptfoo.yaml", "w");
	if (f == NULL)
		exit(1);
	fputs("prompts: ['say {{x}}']\nproviders: [echo]\ntests:\n", f);
	for (i = 0; i < N; i++)
		fprintf(f, "- {vars: {x: hi %d}, assert: [{type: contains, "
		    "value: hi}]}\n", i);
	fclose(f);
	suite("echo.yaml", "executor: mock", N, "contains: [hi]");
	p = run("promptfoo eval -c promptfoo.yaml --no-cache --no-table -o p.json");
	snprintf(line, sizeof(line), "%s run -q echo.yaml -o w.json", waza);
	w = best(line, 5);
	row("1000 echoes, promptfoo", p, "");
	snprintf(line, sizeof(line), "x%.0f faster, x%.0f smaller",
	    p.wall / w.wall, (double)p.kb / (double)w.kb);
	row("1000 echoes, waza", w, line);
}

int
main(int argc, char **argv)
{
	char dir[] = "/tmp/waza-bench-XXXXXX";
	char clean[64];

	if (argc < 3 || mkdtemp(dir) == NULL || chdir(dir) != 0)
		return 1;
	starts(argv[1]);
	mocks(argv[1]);
	tables(argv[1]);
	stored(argv[1]);
	commands(argv[1], argv[2]);
	promptfoo(argv[1]);
	snprintf(clean, sizeof(clean), "rm -rf %s", dir);
	return run(clean).status;
}
