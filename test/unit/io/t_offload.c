/* SPDX-License-Identifier: ISC */
/*
 * Computations in copies of the process: results, failures, cancellation, more
 * of them than run at the same time, and what a copy inherits.
 */
#include "io/offload.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os.h"
#include "test/tool/tap.h"

static struct loop *l;
static struct procs ps;
static struct err e;

struct job {
	struct offload o;
	int kind, done;
	bool cancelled;
	char out[64], error[512];
	size_t n;
};

enum { ANSWER, KILLED, EXITS, SPINS, LARGE, DESCRIPTORS };

static void
work(void *arg, struct buf *out)
{
	const struct job *j = arg;
	size_t i;

	switch (j->kind) {
	case ANSWER:
		buf_puts(out, "42");
		break;
	case KILLED:
		kill(getpid(), SIGKILL);
		break;
	case EXITS:
		(void)!write(2, "why\n", 4);
		_exit(3);
	case SPINS:
		for (;;)
			;
	case LARGE:
		for (i = 0; i < 3 << 20; i++)
			buf_putc(out, (char)i);
		break;
	case DESCRIPTORS:
		for (i = 3; i < 200; i++)
			if (fcntl((int)i, F_GETFD) != -1)
				buf_fmt(out, "%zu ", i);
		break;
	}
}

static void
on_done(void *arg)
{
	struct job *j = arg;

	j->done++;
	j->cancelled = j->o.cancelled;
	j->n = j->o.out.n;
	snprintf(j->out, sizeof(j->out), "%.*s", STRF(utf8_cut(j->o.out, 50)));
	memcpy(j->error, j->o.error, sizeof(j->error));
}

static void
start(struct job *j, int kind)
{
	*j = (struct job){ .kind = kind };
	j->o = (struct offload){ .work = work, .done = on_done, .arg = j };
	offload_start(&ps, &j->o);
}

static void
until(const struct job *j)
{
	while (!j->done && loop_turn(l, &e) == 1)
		;
}

static void
results(void)
{
	static struct job j;

	start(&j, ANSWER);
	OK(j.done == 0);
	until(&j);
	OK(strcmp(j.out, "42") == 0 && j.error[0] == '\0' && !j.cancelled);
	start(&j, LARGE);
	until(&j);
	OK(j.n == 3 << 20 && j.error[0] == '\0');
	start(&j, KILLED);
	until(&j);
	OK(strcmp(j.error, "killed by signal 9") == 0);
	start(&j, EXITS);
	until(&j);
	OK(strcmp(j.error, "exit status 3: why") == 0);
	start(&j, DESCRIPTORS);
	until(&j);
	OK(j.done == 1 && strcmp(j.out, "") == 0);
}

/* Buffered output of the parent must not appear a second time. */
static void
buffers(void)
{
	static struct job j;
	char path[] = "/tmp/t_offload.XXXXXX", text[32];
	int fd = mkstemp(path);
	FILE *f = fdopen(fd, "w");
	struct str s = { text, 0 };

	fputs("once", f);
	start(&j, ANSWER);
	until(&j);
	fclose(f);
	fd = open(path, O_RDONLY);
	s.n = (size_t)read(fd, text, sizeof(text));
	OK(str_is(s, "once"));
	close(fd);
	unlink(path);
}

static void
cancels(void)
{
	static struct job j[OFFLOAD_MAX + 3];
	size_t i, n = COUNTOF(j);
	int64_t began = os_now_ms();

	for (i = 0; i < n; i++)
		start(&j[i], SPINS);
	OK(ps.noffloads == OFFLOAD_MAX && ps.running == OFFLOAD_MAX);
	offload_cancel(&j[n - 1].o);
	OK(j[n - 1].done == 1 && j[n - 1].cancelled);
	offload_cancel(&j[0].o);
	until(&j[0]);
	OK(j[0].cancelled && ps.noffloads == OFFLOAD_MAX);
	for (i = n - 1; i-- > 1;)
		offload_cancel(&j[i].o);
	for (i = 0; i < n; i++)
		until(&j[i]);
	for (i = 0; i < n; i++)
		OK(j[i].done == 1 && j[i].cancelled);
	OK(ps.noffloads == 0 && ps.running == 0 && ps.offloads == NULL);
	OK(os_now_ms() - began < 20000);
	for (i = 0; i < n; i++)
		start(&j[i], ANSWER);
	for (i = 0; i < n; i++)
		until(&j[i]);
	for (i = 0; i < n; i++)
		OK(j[i].done == 1 && strcmp(j[i].out, "42") == 0);
}

/* Without descriptors it waits, and starts when there are some. */
static void
shortage(void)
{
	static struct job j;
	struct rlimit old, few;
	int turns;

	getrlimit(RLIMIT_NOFILE, &old);
	few = old;
	few.rlim_cur = 3;
	OK(setrlimit(RLIMIT_NOFILE, &few) == 0);
	start(&j, ANSWER);
	for (turns = 0; turns < 2; turns++)
		loop_turn(l, &e);
	OK(j.done == 0 && ps.running == 0);
	OK(setrlimit(RLIMIT_NOFILE, &old) == 0);
	until(&j);
	OK(j.done == 1 && strcmp(j.out, "42") == 0);
}

/* The loop has failed: nothing is called any more. */
static void
drops(void)
{
	static struct job j[OFFLOAD_MAX + 1];
	size_t i;

	for (i = 0; i < COUNTOF(j); i++)
		start(&j[i], SPINS);
	procs_fini(&ps);
	for (i = 0; i < COUNTOF(j); i++)
		offload_drop(&j[i].o);
	for (i = 0; i < COUNTOF(j); i++)
		OK(j[i].done == 0);
	OK(ps.offloads == NULL);
}

int
main(void)
{
	/* valgrind makes a copy write what is in buffers */
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (os_init(&e) != 0 || (l = loop_new(NULL, &e)) == NULL)
		return 2;
	procs_init(&ps, l, true);
	RUN(results, buffers, cancels, shortage, drops);
	loop_free(l);
	OK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
	return tap_done();
}
