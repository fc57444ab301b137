/* SPDX-License-Identifier: ISC */
/*
 * The loop: order and time of callbacks with an injected clock, watches that
 * are stopped and freed during dispatch, signals, children.
 */
#include "io/loop.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "base/os.h"
#include "base/os_spawn.h"
#include "test/tool/help.h"
#include "test/tool/tap.h"

static char trace[256];
static struct loop *l;
static struct err e;

static void
note(const char *s)
{
	size_t n = strlen(trace);

	snprintf(trace + n, sizeof(trace) - n, "%s", s);
}

static bool
noted(const char *want)
{
	bool same = strcmp(trace, want) == 0;

	if (!same)
		printf("# want %s, got %s\n", want, trace);
	trace[0] = '\0';
	return same;
}

static void
begin(void)
{
	fake_now = 1000;
	trace[0] = '\0';
	l = loop_new(fake_clock, &e);
}

/* --- timers --- */

static void
on_note(void *arg)
{
	note(arg);
}

#define TIMER(s) { .fn = on_note, .arg = s }

static void
timers_fire_in_order(void)
{
	char a[] = "a", b[] = "b", c[] = "c", d[] = "d";
	struct timer t[] = { TIMER(a), TIMER(b), TIMER(c), TIMER(d) };

	begin();
	timer_start(l, &t[0], 30);
	timer_start(l, &t[1], 10);
	timer_start(l, &t[2], 20);
	timer_start(l, &t[3], 10);
	fake_now += 10;
	OK(loop_turn(l, &e) == 1);
	OK(noted("bd"));
	fake_now += 20;
	OK(loop_turn(l, &e) == 1);
	OK(noted("ca"));
	OK(loop_turn(l, &e) == 0);
	loop_free(l);
}

static void
timers_stop_and_move(void)
{
	char a[] = "a", b[] = "b";
	struct timer t[] = { TIMER(a), TIMER(b) };

	begin();
	timer_stop(l, &t[0]);
	timer_start(l, &t[0], 5);
	timer_start(l, &t[1], 5);
	timer_stop(l, &t[0]);
	timer_stop(l, &t[0]);
	timer_start(l, &t[1], 50);
	OK(t[1].at == fake_now + 50);
	fake_now += 49;
	timer_start(l, &t[0], 0);
	OK(loop_turn(l, &e) == 1);
	OK(noted("a"));
	fake_now += 1;
	OK(loop_turn(l, &e) == 1);
	OK(noted("b"));
	OK(loop_turn(l, &e) == 0);
	timer_start(l, &t[0], INT64_MAX);
	OK(t[0].at == INT64_MAX);
	timer_stop(l, &t[0]);
	loop_free(l);
}

static void
on_again(void *arg)
{
	note("x");
	timer_start(l, arg, 0);
}

/* However short: never in the turn that started it, so that a turn ends. */
static void
timers_wait_for_the_next_turn(void)
{
	char b[] = "b";
	struct timer t = { .fn = on_again, .arg = &t }, u = TIMER(b);

	begin();
	timer_start(l, &t, 0);
	timer_start(l, &u, 0);
	OK(loop_turn(l, &e) == 1);
	OK(noted("xb"));
	OK(loop_turn(l, &e) == 1 && loop_turn(l, &e) == 1);
	OK(noted("xx"));
	timer_stop(l, &t);
	OK(loop_turn(l, &e) == 0);
	loop_free(l);
}

/* Many timers, started and stopped at random: they fire in order. */
static int64_t last_at;
static unsigned fired, disorder;

static void
on_ordered(void *arg)
{
	struct timer *t = arg;

	fired++;
	disorder += t->at < last_at;
	last_at = t->at;
}

static void
timers_by_the_thousand(void)
{
	enum { N = 2000 };
	struct timer *t = calloc(N, sizeof(*t));
	unsigned i, left = 0, r = 12345;

	begin();
	fired = disorder = 0;
	last_at = 0;
	for (i = 0; i < N; i++) {
		t[i].fn = on_ordered;
		t[i].arg = &t[i];
	}
	for (i = 0; i < 5 * N; i++) {
		r = r * 1103515245 + 12345;
		if ((r >> 8) % 3 == 0)
			timer_stop(l, &t[(r >> 10) % N]);
		else
			timer_start(l, &t[(r >> 10) % N], (r >> 5) % 1000);
	}
	for (i = 0; i < N; i++)
		left += t[i].slot != 0;
	for (i = 0; i < 100; i++) {
		fake_now += 10;
		loop_turn(l, &e);
	}
	OK(left > N / 4 && fired == left);
	OK(disorder == 0);
	OK(loop_turn(l, &e) == 0);
	loop_free(l);
	free(t);
}

static void
timers_with_the_real_clock(void)
{
	char a[] = "a";
	struct timer t = TIMER(a);
	int64_t start;
	int turns = 0;

	trace[0] = '\0';
	l = loop_new(NULL, &e);
	start = os_now_ms();
	timer_start(l, &t, 20);
	while (loop_turn(l, &e) == 1)
		turns++;
	OK(os_now_ms() - start >= 20);
	OK(turns <= 3);			/* waits in poll, does not spin */
	OK(noted("a"));
	loop_free(l);
}

/* --- descriptors --- */

struct end {
	struct fd_watch w;
	int other;
	const char *name;
	struct end *victim;
	bool dies;
};

static struct end *
end_new(const char *name, int want)
{
	struct end *p = calloc(1, sizeof(*p));
	int fd[2];

	os_pipe(fd, OS_NONBLOCK_READ | OS_NONBLOCK_WRITE, &e);
	p->name = name;
	p->w.fd = want & LOOP_WRITE ? fd[1] : fd[0];
	p->other = want & LOOP_WRITE ? fd[0] : fd[1];
	p->w.arg = p;
	return p;
}

static void
end_free(struct end *p)
{
	fd_stop(l, &p->w);
	os_close(&p->w.fd);
	os_close(&p->other);
	free(p);
}

static void
on_end(void *arg, int ready)
{
	struct end *p = arg;
	char c;

	note(p->name);
	note(ready == LOOP_READ ? "r" : ready == LOOP_WRITE ? "w" : "?");
	if (ready & LOOP_READ)
		note(read(p->w.fd, &c, 1) == 1 ? "1 " : "0 ");
	if (p->victim != NULL)
		end_free(p->victim);
	p->victim = NULL;
	if (p->dies)
		end_free(p);
}

static struct end *
end_open(const char *name, int want)
{
	struct end *p = end_new(name, want);

	p->w.fn = on_end;
	fd_start(l, &p->w, want);
	return p;
}

static void
descriptors_report_readiness(void)
{
	struct end *a, *b;

	begin();
	a = end_open("a", LOOP_READ);
	b = end_open("b", LOOP_WRITE);
	OK(write(a->other, "x", 1) == 1);
	OK(loop_turn(l, &e) == 1);
	OK(noted("ar1 bw"));
	fd_want(l, &b->w, 0);
	os_close(&b->other);		/* a hangup, but no event is wanted */
	os_close(&a->other);
	OK(loop_turn(l, &e) == 1);
	OK(noted("ar0 "));
	end_free(a);
	fd_want(l, &b->w, LOOP_WRITE);
	OK(loop_turn(l, &e) == 1);
	OK(noted("bw"));
	end_free(b);
	OK(loop_turn(l, &e) == 0);
	loop_free(l);
}

/* A paused watch on a hung-up pipe must not make poll return. */
static struct loop_after after;

static void
on_ready_start_after(void *arg, int ready)
{
	(void)ready;
	note(arg);
	loop_after_start(l, &after);
}

static void
after_descriptors_before_timers(void)
{
	char a[] = "a", b[] = "b", t[] = "t", z[] = "z";
	struct fd_watch w[2] = { { .fn = on_ready_start_after, .arg = a },
		{ .fn = on_ready_start_after, .arg = b } };
	struct timer timer = TIMER(t);
	int p[2];

	begin();
	OK(os_pipe(p, 0, &e) == 0);
	after = (struct loop_after){ .fn = on_note, .arg = z };
	timer_start(l, &timer, 0);
	w[0].fd = w[1].fd = p[1];
	fd_start(l, &w[0], LOOP_WRITE);
	fd_start(l, &w[1], LOOP_WRITE);
	OK(loop_turn(l, &e) == 1);
	OK(noted("abzt"));		/* once, for both */
	OK(loop_turn(l, &e) == 1);
	OK(noted("abz"));
	loop_after_stop(&after);	/* idle: no effect */
	fd_stop(l, &w[0]);
	fd_stop(l, &w[1]);
	OK(loop_turn(l, &e) == 0);
	os_close(&p[0]);
	os_close(&p[1]);
	loop_free(l);
}

static void
paused_descriptors_do_not_spin(void)
{
	struct end *a;
	char t[] = "t";
	struct timer tm = TIMER(t);
	int turns = 0;

	trace[0] = '\0';
	l = loop_new(NULL, &e);
	a = end_open("a", LOOP_READ);
	fd_want(l, &a->w, 0);
	os_close(&a->other);
	timer_start(l, &tm, 20);
	while (tm.slot != 0 && turns < 1000) {
		loop_turn(l, &e);
		turns++;
	}
	OK(turns <= 3);
	OK(noted("t"));
	end_free(a);
	loop_free(l);
}

static void
callbacks_free_owners(void)
{
	struct end *a, *b, *c;

	begin();
	a = end_open("a", LOOP_WRITE);
	b = end_open("b", LOOP_WRITE);
	c = end_open("c", LOOP_WRITE);
	a->victim = b;			/* ready too, but stopped by then */
	a->dies = true;
	OK(loop_turn(l, &e) == 1);
	OK(noted("awcw"));
	c->dies = true;
	OK(loop_turn(l, &e) == 1);
	OK(noted("cw"));
	OK(loop_turn(l, &e) == 0);
	loop_free(l);
}

/*
 * A new watch gets the number and slot of a freed descriptor during dispatch:
 * it must not get the old event.
 */
static struct end *heir;

static void
on_succession(void *arg, int ready)
{
	struct end *p = arg;

	(void)ready;
	end_free(p->victim);
	p->victim = NULL;
	heir = end_open("h", LOOP_READ);
	fd_want(l, &p->w, 0);
}

static void
new_watches_wait_for_poll(void)
{
	struct end *a, *b;
	int fd;

	begin();
	a = end_open("a", LOOP_WRITE);
	b = end_open("b", LOOP_READ);
	a->w.fn = on_succession;
	a->victim = b;
	fd = b->w.fd;
	OK(write(b->other, "x", 1) == 1);
	OK(loop_turn(l, &e) == 1);
	OK(noted(""));
	OK(heir->w.fd == fd || heir->other == fd);
	OK(write(heir->other, "x", 1) == 1);
	OK(loop_turn(l, &e) == 1);
	OK(noted("hr1 "));
	end_free(heir);
	end_free(a);
	OK(loop_turn(l, &e) == 0);
	loop_free(l);
}

/* Stopped and started again in its own callback: once per turn. */
static void
on_restart(void *arg, int ready)
{
	struct end *p = arg;

	(void)ready;
	note(p->name);
	fd_stop(l, &p->w);
	fd_start(l, &p->w, LOOP_WRITE);
}

static void
watches_restart(void)
{
	struct end *a;

	begin();
	a = end_open("a", LOOP_WRITE);
	a->w.fn = on_restart;
	OK(loop_turn(l, &e) == 1);
	OK(noted("a"));
	OK(loop_turn(l, &e) == 1);
	OK(noted("a"));
	end_free(a);
	fd_stop(l, &(struct fd_watch){ 0 });
	OK(loop_turn(l, &e) == 0);
	loop_free(l);
}

static void
closed_descriptors_are_reported(void)
{
	struct end *a;

	begin();
	a = end_open("a", LOOP_READ);
	close(a->w.fd);
	OK(loop_turn(l, &e) == 1);	/* POLLNVAL: read fails with EBADF */
	OK(noted("ar0 "));
	a->w.fd = -1;
	end_free(a);
	loop_free(l);
}

/*
 * Hundreds of idle descriptors, which may be in the quiet set: their events
 * arrive at once, and they can be stopped, paused and freed.
 */
static void
crowd(void)
{
	enum { N = 300 };
	struct end *p[N];
	char t[] = "t";
	struct timer tm = TIMER(t);
	int i, turns;

	begin();
	for (i = 0; i < N; i++)
		p[i] = end_open("p", LOOP_READ);
	for (turns = 0; turns < 200; turns++) {
		timer_start(l, &tm, 0);
		loop_turn(l, &e);
	}
	trace[0] = '\0';
	OK(write(p[7]->other, "x", 1) + write(p[250]->other, "x", 1) == 2);
	OK(loop_turn(l, &e) == 1);
	OK(noted("pr1 pr1 "));
	os_close(&p[8]->other);		/* a hangup is reported too */
	OK(loop_turn(l, &e) == 1);
	OK(noted("pr0 "));
	end_free(p[8]);
	fd_want(l, &p[9]->w, 0);
	OK(write(p[9]->other, "x", 1) + write(p[10]->other, "x", 1) == 2);
	end_free(p[10]);
	timer_start(l, &tm, 0);
	OK(loop_turn(l, &e) == 1);
	OK(noted("t"));
	fd_want(l, &p[9]->w, LOOP_READ);
	OK(write(p[11]->other, "x", 1) == 1);
	p[11]->victim = p[12];
	p[11]->dies = true;
	OK(write(p[12]->other, "x", 1) == 1);
	OK(loop_turn(l, &e) == 1);
	OK(noted("pr1 pr1 "));
	for (i = 0; i < N; i++)
		if (i != 8 && i != 10 && i != 11 && i != 12)
			end_free(p[i]);
	OK(loop_turn(l, &e) == 0);
	loop_free(l);
}

/* --- signals --- */

static struct sig_watch usr1, usr2;

static void
on_usr1(void *arg)
{
	(void)arg;
	note("1");
	sig_stop(l, &usr1);
	sig_stop(l, &usr2);
}

static void
signals_are_watches(void)
{
	struct sigaction sa;
	struct timer t = { .fn = on_note, .arg = trace };
	char two[] = "2";

	begin();
	usr1 = (struct sig_watch){ .signo = SIGUSR1, .fn = on_note };
	usr1.arg = two;
	OK(sig_start(l, &usr1, &e) == 0);
	OK(loop_turn(l, &e) == 0);	/* alone it does not count */
	timer_start(l, &t, 1000);
	raise(SIGUSR1);
	raise(SIGUSR1);
	OK(loop_turn(l, &e) == 1);
	OK(noted("2"));
	sig_stop(l, &usr1);
	sig_stop(l, &usr1);
	OK(sigaction(SIGUSR1, NULL, &sa) == 0 && sa.sa_handler == SIG_DFL);

	/* the first's callback stops the second */
	usr2 = (struct sig_watch){ .signo = SIGUSR2, .fn = on_note };
	usr2.arg = two;
	usr1.fn = on_usr1;
	OK(sig_start(l, &usr2, &e) == 0);
	OK(sig_start(l, &usr1, &e) == 0);
	raise(SIGUSR1);
	raise(SIGUSR2);
	OK(loop_turn(l, &e) == 1);
	OK(noted("1"));
	timer_stop(l, &t);
	OK(sig_start(l, &usr2, &e) == 0);
	loop_free(l);
	OK(sigaction(SIGUSR2, NULL, &sa) == 0 && sa.sa_handler == SIG_DFL);
}

static void
signals_keep_errno(void)
{
	begin();
	usr1 = (struct sig_watch){ .signo = SIGUSR1, .fn = on_note };
	usr1.arg = trace;
	OK(sig_start(l, &usr1, &e) == 0);
	errno = ERANGE;
	raise(SIGUSR1);
	OK(errno == ERANGE);
	loop_free(l);
}

/* --- children --- */

struct kid {
	struct child c;
	struct kid *victim;
	int wstatus;
	bool dies;
};

static unsigned reaped;

static pid_t
run_sh(const char *script)
{
	const char *argv[] = { "/bin/sh", "-c", script, NULL };
	struct os_spawn o = { .argv = argv };

	o.fd[0] = o.fd[1] = o.fd[2] = OS_FD_NULL;
	return os_spawn(&o, &e);
}

static void
on_kid(void *arg, int wstatus)
{
	struct kid *k = arg;

	reaped++;
	k->wstatus = wstatus;
	if (k->victim != NULL) {
		child_stop(l, &k->victim->c);
		child_forget(l, k->victim->c.pid);
		free(k->victim);
		k->victim = NULL;
	}
	if (k->dies)
		free(k);
}

static struct kid *
kid_new(const char *script)
{
	struct kid *k = calloc(1, sizeof(*k));

	k->wstatus = -2;
	k->c = (struct child){ .fn = on_kid, .arg = k, .pid = run_sh(script) };
	child_start(l, &k->c);
	return k;
}

static void
children_are_reaped(void)
{
	struct kid *a, *b, *c;

	begin();
	reaped = 0;
	a = kid_new("exit 3");
	b = kid_new("kill -9 $$");
	OK(child_watched(l, a->c.pid) && !child_watched(l, getpid()));
	while (reaped < 2 && loop_turn(l, &e) == 1)
		;
	OK(WIFEXITED(a->wstatus) && WEXITSTATUS(a->wstatus) == 3);
	OK(WIFSIGNALED(b->wstatus) && WTERMSIG(b->wstatus) == 9);
	free(b);
	free(a);
	/* one stops the other's watch and itself; no zombie is left */
	reaped = 0;
	a = kid_new("exit 0");
	b = kid_new("exit 0");
	a->victim = b;
	a->dies = true;
	b->dies = true;
	b->victim = a;
	while (loop_turn(l, &e) == 1)
		;
	OK(reaped == 1);
	OK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
	/* reaped by somebody else: reported once */
	reaped = 0;
	c = kid_new("exit 0");
	waitpid(c->c.pid, NULL, 0);
	while (loop_turn(l, &e) == 1 && reaped == 0)
		raise(SIGCHLD);
	OK(reaped == 1 && c->wstatus == -1);
	free(c);
	OK(loop_turn(l, &e) == 0);
	loop_free(l);
}

/*
 * Runs a watched child after one without a watch has ended; returns the pid of
 * the latter.
 */
static pid_t
run_beside_other(void)
{
	pid_t other = run_sh("exit 7");
	struct kid *a;
	siginfo_t si;

	reaped = 0;
	waitid(P_PID, (id_t)other, &si, WEXITED | WNOWAIT);
	a = kid_new("exit 0");
	while (loop_turn(l, &e) == 1)
		;
	OK(reaped == 1 && a->wstatus == 0);
	free(a);
	return other;
}

/* An ended child without a watch must not hide the others. */
static void
foreign_children_are_left_alone(void)
{
	pid_t other;

	begin();
	other = run_beside_other();
	OK(waitpid(other, NULL, WNOHANG) == other);
	loop_free(l);
}

static void
adopted_children_are_reaped(void)
{
	pid_t other;

	begin();
	if (!loop_adopt(l)) {
		SKIP("no subreaper on this system");
		loop_free(l);
		return;
	}
	other = run_beside_other();
	OK(waitpid(other, NULL, WNOHANG) == -1 && errno == ECHILD);
	loop_free(l);
}

/* poll refuses more descriptors than the limit allows, where it checks that */
static void
poll_may_fail_for_a_while(void)
{
	char name[] = "a";
	struct timer t = TIMER(name);
	struct pollfd p = { .fd = 0 };
	struct rlimit was, r;
	int i, rc = 1;

	begin();
	timer_start(l, &t, 5);
	getrlimit(RLIMIT_NOFILE, &was);
	r = was;
	r.rlim_cur = 0;
	setrlimit(RLIMIT_NOFILE, &r);
	if (poll(&p, 1, 0) != -1) {	/* not under valgrind */
		SKIP("poll does not fail on this system");
		setrlimit(RLIMIT_NOFILE, &was);
		timer_stop(l, &t);
		loop_free(l);
		return;
	}
	fake_now += 5;
	for (i = 0; i < 10 && rc == 1; i++)
		rc = loop_turn(l, &e);
	OK(rc == 1 && noted(""));	/* timers wait */
	setrlimit(RLIMIT_NOFILE, &was);
	OK(loop_turn(l, &e) == 1 && noted("a"));
	setrlimit(RLIMIT_NOFILE, &r);
	timer_start(l, &t, 100);
	for (i = 0; i < 1000 && rc == 1; i++)
		rc = loop_turn(l, &e);
	setrlimit(RLIMIT_NOFILE, &was);
	OK(rc == -1 && i > 10 && e.sys == EINVAL);
	fake_now += 100;
	OK(loop_turn(l, &e) == 1 && noted("a"));
	loop_free(l);
}

int
main(void)
{
	int fds;

	OK(os_init(&e) == 0);
	fds = tap_fd_count();
	RUN(timers_fire_in_order, timers_stop_and_move,
	    timers_wait_for_the_next_turn, timers_by_the_thousand,
	    timers_with_the_real_clock, descriptors_report_readiness,
	    after_descriptors_before_timers, paused_descriptors_do_not_spin,
	    callbacks_free_owners,
	    new_watches_wait_for_poll, watches_restart,
	    closed_descriptors_are_reported, crowd, signals_are_watches,
	    signals_keep_errno, children_are_reaped,
	    foreign_children_are_left_alone, adopted_children_are_reaped,
	    poll_may_fail_for_a_while);
	OK(tap_fd_count() == fds);
	return tap_done();
}
