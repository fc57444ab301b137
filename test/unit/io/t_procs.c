/* SPDX-License-Identifier: ISC */
/*
 * Many children: with T_LARGE a thousand at once and ten thousand in a row, and
 * descendants that left their process group.  No zombie, descriptor or memory may
 * be left.
 *
 * T_PROCS_AT_ONCE and T_PROCS_IN_A_ROW in the environment set other numbers,
 * for slow runs under a checker.
 */
#include "io/proc.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "base/os.h"
#include "io/loop.h"
#include "test/tool/help.h"
#include "test/tool/tap.h"

static struct loop *l;
static struct procs ps;
static struct err e;
static const char *self;

#define ARGV(...) (const char *const[]){ __VA_ARGS__, NULL }

static void
begin(void)
{
	l = loop_new(NULL, &e);
	procs_init(&ps, l, true);
}

/* The real clock: a killed process needs time to end. */
static void
settle(void)
{
	while (loop_turn(l, &e) == 1)
		;
}

static void
finish(void)
{
	settle();
	OK(ps.running == 0 && ps.head == NULL);
	procs_guard_end(&ps);
	OK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
	procs_fini(&ps);
	loop_free(l);
}

struct job {
	struct proc p;
	int done;
};

static void
job_done(void *arg)
{
	struct job *j = arg;

	j->done++;
}

static void
job_start(struct job *j, const char *const *argv, bool in_open)
{
	struct proc_opts o = { .argv = argv, .done = job_done, .arg = j };

	*j = (struct job){ .done = 0 };
	o.in_open = in_open;
	if (proc_start(&ps, &j->p, &o, &e) == -1)
		printf("# %s\n", e.msg);
}

static void
until_done(struct job *j)
{
	while (j->done == 0 && loop_turn(l, &e) == 1)
		;
}

/* --- strays --- */

/* The process whose pid the child has printed. */
static pid_t
named(const struct job *j)
{
	const struct buf *b = &j->p.out.buf;

	if (b->n == 0 || b->p[b->n - 1] != '\n')
		return 0;
	return (pid_t)strtol(b->p, NULL, 10);
}

static pid_t
until_named(struct job *j)
{
	while (named(j) == 0 && loop_turn(l, &e) == 1)
		;
	return named(j);
}

static bool
gone(pid_t pid)
{
	return pid > 0 && kill(pid, 0) == -1 && errno == ESRCH;
}

/* A killed process needs time to end, and the loop a turn to reap it. */
static bool
goes(pid_t pid)
{
	double deadline = seconds_now() + 60;

	while (!gone(pid) && pid > 0 && seconds_now() < deadline) {
		turn_loop(l);
		poll(NULL, 0, 1);
	}
	return gone(pid);
}

/* As a child: starts a stray, which prints its pid, and waits on stdin. */
static int
stray(bool bare)
{
	char c;

	if (fork() == 0) {
		setsid();
		if (fork() != 0)
			_exit(0);
		printf("%ld\n", (long)getpid());
		fflush(stdout);
		close(1);
		close(2);
		if (bare)
			execle("/bin/sh", "sh", "-c", "sleep 1000",
			    (char *)NULL, (char *[]){ NULL });
		pause();
		_exit(0);
	}
	close(1);
	close(2);
	while (read(0, &c, 1) > 0)
		;
	return 0;
}

static void
strays(void)
{
	struct job a, b;
	pid_t pid, other;

	begin();
	if (!ps.adopts) {
		SKIP("no subreaper on this system");
		finish();
		return;
	}
	/* the only child: its stray is killed with it */
	job_start(&a, ARGV(self, "stray"), true);
	pid = until_named(&a);
	OK(pid > 0 && kill(pid, 0) == 0);
	proc_close_in(&a.p);
	until_done(&a);
	OK(a.p.res.status == 0);
	proc_fini(&a.p);
	settle();
	OK(goes(pid));

	/* another child runs, whose stray is not killed */
	job_start(&b, ARGV(self, "stray"), true);
	other = until_named(&b);
	job_start(&a, ARGV(self, "stray"), false);
	until_done(&a);
	pid = named(&a);
	proc_fini(&a.p);
	while (ps.sweep.slot != 0)
		loop_turn(l, &e);
	OK(goes(pid));
	OK(b.done == 0 && other > 0 && kill(other, 0) == 0);
	proc_cancel(&b.p);
	until_done(&b);
	OK(b.p.res.signo == SIGTERM);
	proc_fini(&b.p);
	settle();
	OK(goes(other));

	/* without its mark: when the last child has ended */
	job_start(&a, ARGV(self, "bare"), false);
	until_done(&a);
	pid = named(&a);
	proc_fini(&a.p);
	settle();
	OK(goes(pid));
	finish();
}

/* As a child: joins our process group, reports that, and waits. */
static int
moved(void)
{
	setpgid(0, getpgid(getppid()));
	printf("%ld\n", (long)getpid());
	fflush(stdout);
	return pause();
}

/* All procs are finished, and the loop does not turn again. */
static void
end_at_once(bool adopt, const char *mode)
{
	struct job j;
	pid_t pid, child;

	l = loop_new(NULL, &e);
	procs_init(&ps, l, adopt);
	job_start(&j, ARGV(self, mode), true);
	child = j.p.pid;
	pid = until_named(&j);
	OK(pid > 0 && kill(pid, 0) == 0);
	proc_fini(&j.p);
	OK(j.p.pid == 0);
	procs_fini(&ps);
	loop_free(l);
	OK(gone(child) && gone(pid) && j.done == 0);
	OK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
}

/* --- many children --- */

enum { SMALL = 1000 };			/* bytes through each */

static void
at_once(int n)
{
	struct job *j = calloc((size_t)n, sizeof(*j));
	char bytes[SMALL];
	int i, good = 0, fds = tap_fd_count();

	begin();
	memset(bytes, 'x', sizeof(bytes));
	for (i = 0; i < n; i++)
		job_start(&j[i], ARGV("cat"), true);
	OK(ps.running == (size_t)n);
	for (i = 0; i < n; i++) {
		proc_write(&j[i].p, (struct str){ bytes, sizeof(bytes) });
		proc_close_in(&j[i].p);
	}
	while (ps.running > 0 && loop_turn(l, &e) == 1)
		;
	for (i = 0; i < n; i++) {
		good += j[i].done == 1 && j[i].p.res.wstatus == 0 &&
		    str_eq(buf_str(&j[i].p.out.buf),
		    (struct str){ bytes, sizeof(bytes) });
		proc_fini(&j[i].p);
	}
	OK(good == n);
	free(j);
	finish();
	OK(tap_fd_count() == fds);
}

static int to_start, completed;

static void row_next(struct proc *);

static void
row_done(void *arg)
{
	struct proc *p = arg;

	completed += p->res.wstatus == 0 &&
	    str_is(buf_str(&p->out.buf), "hi\n");
	if (to_start > 0)
		row_next(p);
	else
		proc_fini(p);
}

static void
row_next(struct proc *p)
{
	struct proc_opts o = { .argv = ARGV("echo", "hi"), .arg = p };

	to_start--;
	o.done = row_done;
	if (proc_start(&ps, p, &o, &e) == -1)
		printf("# %s\n", e.msg);
}

static void
in_a_row(int n)
{
	struct proc p[4];
	int i, fds = tap_fd_count();

	begin();
	memset(p, 0, sizeof(p));
	to_start = n;
	for (i = 0; i < 4; i++)
		row_next(&p[i]);
	while (ps.running > 0 && loop_turn(l, &e) == 1)
		;
	OK(completed == n);
	finish();
	OK(tap_fd_count() == fds);
}

static int
number(const char *name, int n)
{
	const char *s = getenv(name);

	return s != NULL ? atoi(s) : n;
}

int
main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "moved") == 0)
		return moved();
	if (argc > 1)
		return stray(strcmp(argv[1], "bare") == 0);
	self = argv[0];
	OK(os_init(&e) == 0);
	strays();
	end_at_once(false, "moved");
	end_at_once(true, "moved");
	if (ps.adopts)
		end_at_once(true, "stray");
	at_once(number("T_PROCS_AT_ONCE", tap_some(1000)));
	in_a_row(number("T_PROCS_IN_A_ROW", tap_some(10000)));
	return tap_done();
}
