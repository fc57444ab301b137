/* SPDX-License-Identifier: ISC */
/*
 * One child on the loop: its input, output and end.  No test waits for time to
 * pass, since the clock is injected.  t_procs.c tests many children and
 * strays.
 */
#include "io/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "base/os.h"
#include "base/os_spawn.h"
#include "io/loop.h"
#include "test/tool/help.h"
#include "test/tool/tap.h"

#if defined(OS_SHORT)
enum { BIG = 100 * 1000 };		/* one-byte mode */
#else
enum { BIG = 10 * 1000 * 1000 };
#endif

static struct loop *l;
static struct procs ps;
static struct err e;
static const char *self;
static char dir[] = "/tmp/t_proc.XXXXXX";

static void
begin(void)
{
	l = loop_new(fake_clock, &e);
	procs_init(&ps, l, false);
}

/* No child is left when the loop is done. */
static void
finish(void)
{
	while (loop_turn(l, &e) == 1)
		;
	OK(ps.running == 0 && ps.head == NULL);
	OK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
	procs_fini(&ps);
	loop_free(l);
}

static void
count(void *arg)
{
	++*(int *)arg;
}

/* Runs a child until it completes. */
static int
run(struct proc *p, struct proc_opts o)
{
	int done = 0;

	o.done = count;
	o.arg = &done;
	if (proc_start(&ps, p, &o, &e) == -1)
		return -1;
	while (done == 0 && loop_turn(l, &e) == 1)
		;
	return done == 1 ? 0 : -1;
}

#define ARGV(...) (const char *const[]){ __VA_ARGS__, NULL }
#define SH(script) ARGV("sh", "-c", script)

static bool
out_is(const struct proc *p, const char *want)
{
	bool same = str_is(buf_str(&p->out.buf), want);

	if (!same)
		printf("# want %s, got %.*s\n", want, (int)p->out.buf.n,
		    p->out.buf.n > 0 ? p->out.buf.p : "");
	return same;
}

/* --- input and output --- */

static void
output_and_status(void)
{
	struct proc p = { 0 };

	begin();
	OK(run(&p, (struct proc_opts){
	    .argv = SH("printf out; printf err >&2; exit 3") }) == 0);
	OK(out_is(&p, "out"));
	OK(str_is(buf_str(&p.err.buf), "err"));
	OK(p.res.status == 3 && p.res.signo == 0 && WIFEXITED(p.res.wstatus));
	OK(!p.res.timed_out && !p.res.cancelled && !p.res.truncated);
	OK(!p.res.left_open && p.out.total == 3 && p.err.total == 3);

	/* the same struct again, with its old contents */
	OK(run(&p, (struct proc_opts){ .argv = SH("kill -9 $$") }) == 0);
	OK(p.res.status == -1 && p.res.signo == SIGKILL && p.out.buf.n == 0);
	OK(run(&p, (struct proc_opts){ .err_joins = true,
	    .argv = SH("echo a; echo b >&2; echo c") }) == 0);
	OK(out_is(&p, "a\nb\nc\n") && p.err.total == 0);
	OK(run(&p, (struct proc_opts){ .argv = SH("cat; echo end") }) == 0);
	OK(out_is(&p, "end\n"));	/* its stdin is empty */
	proc_fini(&p);
	proc_fini(&p);
	finish();
}

static void
stdin_feed(void)
{
	struct buf b = { 0 };
	struct proc p = { 0 };
	size_t i;

	for (i = 0; i < BIG; i++)
		buf_putc(&b, (char)(i * 7 + i / 251));
	begin();
	OK(run(&p, (struct proc_opts){ .argv = ARGV("cat"),
	    .in = STR("hello") }) == 0);
	OK(out_is(&p, "hello"));
	/* cat: neither side may wait for the other */
	OK(run(&p, (struct proc_opts){ .argv = ARGV("cat"),
	    .in = buf_str(&b) }) == 0);
	OK(p.out.total == BIG && str_eq(buf_str(&p.out.buf), buf_str(&b)));
	/* a child that does not read: EPIPE is not an error */
	OK(run(&p, (struct proc_opts){ .argv = SH("exit 0"),
	    .in = buf_str(&b) }) == 0);
	OK(p.res.status == 0 && p.res.signo == 0);
	OK(run(&p, (struct proc_opts){ .in = buf_str(&b),
	    .argv = SH("exec <&-; echo closed; exit 4") }) == 0);
	OK(p.res.status == 4 && out_is(&p, "closed\n"));
	/* output beyond the limit is counted but not kept */
	OK(run(&p, (struct proc_opts){ .argv = ARGV("cat"),
	    .in = buf_str(&b), .out_max = 1000 }) == 0);
	OK(p.res.truncated && p.out.buf.n == 1000 && p.out.total == BIG);
	OK(memcmp(p.out.buf.p, b.p, 1000) == 0 && p.res.status == 0);
	proc_fini(&p);
	buf_free(&b);
	finish();
}

static void
flood(void)
{
	struct proc p = { 0 };

	begin();
	OK(run(&p, (struct proc_opts){ .out_max = 5000, .stop_at_max = true,
	    .argv = SH("while :; do echo xxxxxxxxxxxxxxx; done") }) == 0);
	OK(p.res.truncated && p.res.signo == SIGTERM);
	OK(p.out.buf.n == 5000 && !p.res.cancelled && !p.res.timed_out);
	proc_fini(&p);
	finish();
}

/* --- where it runs --- */

static void
put_file(const char *path, const char *text, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, mode);

	os_write_all(fd, str_of(text), &e);
	close(fd);
}

static void
places(void)
{
	struct arena a = { 0 };
	struct proc p = { 0 };
	const char *path = arena_fmt(&a, "PATH=/nowhere:%s:/bin", dir).p;
	const char *tool = arena_fmt(&a, "%s/tool", dir).p;
	const char *plain = arena_fmt(&a, "%s/plain", dir).p;
	const char *only = arena_fmt(&a, "PATH=%s", dir).p;

	begin();
	put_file(tool, "echo script $1\n", 0755);	/* no #! line */
	put_file(plain, "text\n", 0644);
	OK(run(&p, (struct proc_opts){ .argv = ARGV("tool", "arg"),
	    .env = ARGV(path) }) == 0);
	OK(out_is(&p, "script arg\n"));
	OK(run(&p, (struct proc_opts){ .argv = ARGV("./tool", "there"),
	    .cwd = dir }) == 0);
	OK(out_is(&p, "script there\n"));
	OK(run(&p, (struct proc_opts){ .env = ARGV("A=1", "B=two words"),
	    .argv = ARGV("/bin/sh", "-c", "echo $A-$B-$HOME") }) == 0);
	OK(out_is(&p, "1-two words-\n"));
	OK(run(&p, (struct proc_opts){ .argv = SH("pwd -P"),
	    .cwd = "/" }) == 0);
	OK(out_is(&p, "/\n"));

	OK(run(&p, (struct proc_opts){ .argv = ARGV("no-such-tool") }) == -1);
	OK(e.sys == ENOENT && p.res.exec_errno == ENOENT);
	OK(strstr(e.msg, "cannot run 'no-such-tool'") != NULL);
	OK(run(&p, (struct proc_opts){ .argv = ARGV("/no/such") }) == -1);
	OK(e.sys == ENOENT);
	OK(run(&p, (struct proc_opts){ .argv = ARGV(plain) }) == -1);
	OK(e.sys == EACCES);
	OK(run(&p, (struct proc_opts){ .argv = ARGV("plain"),
	    .env = ARGV(only) }) == -1);
	OK(e.sys == EACCES);
	OK(run(&p, (struct proc_opts){ .argv = ARGV(dir) }) == -1);
	OK(e.sys == EACCES);
	OK(run(&p, (struct proc_opts){ .argv = ARGV("") }) == -1);
	OK(e.sys == ENOENT);
	OK(run(&p, (struct proc_opts){ .argv = SH("exit 0"),
	    .cwd = "/no/such" }) == -1);
	OK(e.sys == ENOENT);
	OK(strstr(e.msg, "cannot enter directory '/no/such'") != NULL);
	unlink(tool);
	unlink(plain);
	arena_free(&a);
	finish();
}

/* The child inherits no other descriptors. */
static void
inheritance(void)
{
	struct proc p = { 0 };
	struct rlimit was, r;
	sigset_t set, old;
	char want[64] = "3 ";
	FILE *f;
	int fd[2];

	getrlimit(RLIMIT_NOFILE, &was);
	r = was;
	r.rlim_cur = 200;
	setrlimit(RLIMIT_NOFILE, &r);
	f = popen("ulimit -n", "r");	/* 200, but under valgrind */
	OK(f != NULL && fgets(want + 2, sizeof(want) - 2, f) != NULL);
	pclose(f);
	begin();
	OK(os_pipe(fd, 0, &e) == 0);
	OK(loop_nofile(l) == 200);
	OK(run(&p, (struct proc_opts){ .argv = ARGV(self, "inherited") }) == 0);
	OK(out_is(&p, want));
	os_close(&fd[0]);
	os_close(&fd[1]);

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, &old);
	OK(run(&p, (struct proc_opts){
	    .argv = SH("kill -TERM $$; echo blocked") }) == 0);
	sigprocmask(SIG_SETMASK, &old, NULL);
	OK(p.res.signo == SIGTERM && p.out.total == 0);
	OK(run(&p, (struct proc_opts){
	    .argv = SH("kill -PIPE $$; echo ignored") }) == 0);
	OK(p.res.signo == SIGPIPE && p.out.total == 0);
	proc_fini(&p);
	finish();
	getrlimit(RLIMIT_NOFILE, &r);
	OK(r.rlim_cur == 200);
	setrlimit(RLIMIT_NOFILE, &was);
}

/* --- how it ends --- */

struct job {
	struct proc p;
	int done, calls;
	bool fini_on_out, cancel_on_out, free_on_out, free_on_done;
	struct job *other;
	char text[64];			/* the first reason counts */
};

static void
job_free(struct job *j)
{
	proc_fini(&j->p);
	free(j);
}

static void
job_done(void *arg)
{
	struct job *j = arg;

	j->done++;
	if (j->other != NULL) {
		job_free(j->other);
		j->other = NULL;
	}
	if (j->free_on_done)
		job_free(j);
}

static void
job_out(void *arg, struct str s)
{
	struct job *j = arg;
	size_t have = strlen(j->text), n = sizeof(j->text) - 1 - have;

	j->calls++;
	n = s.n < n ? s.n : n;
	memcpy(j->text + have, s.p, n);
	j->text[have + n] = '\0';
	if (j->cancel_on_out)
		proc_cancel(&j->p);
	if (j->fini_on_out)
		proc_fini(&j->p);
	if (j->free_on_out)
		job_free(j);
}

static struct job *
job_start(struct proc_opts o)
{
	struct job *j = calloc(1, sizeof(*j));

	o.done = job_done;
	o.on_out = job_out;
	o.arg = j;
	if (proc_start(&ps, &j->p, &o, &e) == -1) {
		printf("# %s\n", e.msg);
		abort();
	}
	return j;
}

static void
until_text(struct job *j, const char *end)
{
	size_t n = strlen(end);

	while (strlen(j->text) < n || strcmp(j->text + strlen(j->text) - n,
	    end) != 0)
		if (loop_turn(l, &e) != 1)
			return;
}

static void
until_done(struct job *j)
{
	while (j->done == 0 && loop_turn(l, &e) == 1)
		;
}

static void
deadline(void)
{
	struct job *j;

	begin();
	j = job_start((struct proc_opts){ .in_open = true, .timeout_ms = 700,
	    .argv = SH("echo ready; read x") });
	until_text(j, "ready\n");
	fake_now += 699;
	OK(loop_turn(l, &e) == 1 && j->p.phase == PROC_RUNNING);
	fake_now += 1;
	until_done(j);
	OK(j->done == 1 && j->p.res.timed_out && !j->p.res.cancelled);
	OK(j->p.res.signo == SIGTERM && j->p.res.duration_ms == 700);
	job_free(j);

	/* one that ignores SIGTERM is killed after the grace */
	j = job_start((struct proc_opts){ .in_open = true, .timeout_ms = 700,
	    .argv = SH("trap '' TERM; echo ready; while :; do read x; done") });
	until_text(j, "ready\n");
	fake_now += 700;
	while (j->p.phase == PROC_RUNNING)
		loop_turn(l, &e);
	OK(j->p.phase == PROC_ENDING && j->p.timer.at == fake_now + 2000);
	fake_now += 2000;
	until_done(j);
	OK(j->p.res.timed_out && j->p.res.signo == SIGKILL);
	OK(j->p.res.duration_ms == 2700);
	job_free(j);

	/* one that exits within the grace can still write */
	j = job_start((struct proc_opts){ .in_open = true, .timeout_ms = 1,
	    .grace_ms = 60000, .argv = SH("trap 'echo bye; exit 5' TERM; "
	    "echo ready; while :; do read x; done") });
	until_text(j, "ready\n");
	fake_now += 1;
	until_done(j);
	OK(strcmp(j->text, "ready\nbye\n") == 0 && j->p.res.status == 5);
	OK(j->p.res.timed_out);
	job_free(j);
	finish();
}

static void
cancel(void)
{
	struct job *j, *k;

	begin();
	j = job_start((struct proc_opts){ .in_open = true,
	    .argv = SH("echo ready; read x") });
	j->cancel_on_out = true;
	until_done(j);
	OK(j->p.res.cancelled && j->p.res.signo == SIGTERM);
	proc_cancel(&j->p);		/* completed: no effect */
	OK(j->done == 1);
	job_free(j);

	/* the whole group: the shell's child holds the pipe */
	j = job_start((struct proc_opts){ .argv = SH(
	    "sleep 1000 & echo ready; wait") });
	k = job_start((struct proc_opts){ .argv = SH("sleep 1000") });
	until_text(j, "ready\n");
	procs_cancel(&ps);
	procs_cancel(&ps);
	until_done(j);
	until_done(k);
	OK(j->p.res.cancelled && !j->p.res.left_open && k->p.res.cancelled);
	job_free(j);
	job_free(k);
	finish();
}

static void
freed_in_callbacks(void)
{
	struct job *j, *k;
	struct proc_opts o = { .argv = SH("echo ready; read x"),
		.in_open = true };

	begin();
	j = job_start(o);
	j->fini_on_out = true;
	while (loop_turn(l, &e) == 1)
		;
	OK(j->calls == 1 && j->done == 0 && j->p.phase == PROC_IDLE);
	free(j);
	j = job_start(o);
	j->free_on_out = true;
	while (loop_turn(l, &e) == 1)
		;
	OK(ps.running == 0);

	/* done() frees itself and another that still runs */
	j = job_start((struct proc_opts){ .argv = SH("exit 0") });
	k = job_start(o);
	j->other = k;
	j->free_on_done = true;
	while (loop_turn(l, &e) == 1)
		;
	OK(ps.running == 0);
	job_start(o);
	j = ps.head->arg;
	procs_fini(&ps);
	OK(ps.running == 0 && j->done == 0);
	free(j);
	finish();
}

static void
streaming(void)
{
	struct job *j;
	char line[32];
	int i, good = 0;

	begin();
	j = job_start((struct proc_opts){ .argv = ARGV("cat"),
	    .in_open = true, .in = STR("first\n") });
	until_text(j, "first\n");
	for (i = 0; i < 100; i++) {
		j->text[0] = '\0';
		snprintf(line, sizeof(line), "line %d\n", i);
		good += proc_write(&j->p, str_of(line)) == 0;
		until_text(j, line);
	}
	OK(good == 100 && j->calls >= 101);
	j->text[0] = '\0';
	OK(proc_write(&j->p, STR("last")) == 0);
	proc_close_in(&j->p);		/* after the queue is written */
	OK(proc_write(&j->p, STR("too late")) == -1);
	until_done(j);
	OK(strcmp(j->text, "last") == 0 && j->p.res.status == 0);
	proc_close_in(&j->p);
	job_free(j);

	j = job_start((struct proc_opts){ .argv = ARGV("cat"),
	    .in_open = true });
	proc_close_in(&j->p);
	until_done(j);
	OK(j->p.res.status == 0 && j->calls == 0);
	job_free(j);
	finish();
}

/* --- descendants --- */

/* The child ends, its own child keeps stdout open. */
static void
open_pipe(void)
{
	struct job *j;

	begin();
	j = job_start((struct proc_opts){ .argv = SH(
	    "echo ready; sleep 1000 & exit 6") });
	while (j->p.phase != PROC_LINGERING && loop_turn(l, &e) == 1)
		;
	OK(j->done == 0 && j->p.pid == 0 && j->p.timer.at == fake_now + 500);
	fake_now += 500;
	until_done(j);
	OK(j->done == 1 && j->p.res.left_open && j->p.res.status == 6);
	OK(!j->p.res.timed_out && j->p.res.signo == 0);
	job_free(j);

	/* what is in the pipe is read, however late the loop is */
	j = job_start((struct proc_opts){ .in_open = true, .argv = SH(
	    "exec 3<&0; (read x; echo there; exec sleep 1000) <&3 & exit 6") });
	while (j->p.phase != PROC_LINGERING && loop_turn(l, &e) == 1)
		;
	OK(poll(&(struct pollfd){ j->p.out.w.fd, POLLIN, 0 }, 1, -1) == 1);
	fake_now += 500;
	until_done(j);
	OK(strcmp(j->text, "there\n") == 0 && j->p.res.left_open);
	job_free(j);

	/* output within the time is still read */
	j = job_start((struct proc_opts){ .in_open = true, .argv = SH(
	    "exec 3<&0; (read x; echo late) <&3 & exit 6") });
	until_done(j);
	OK(strcmp(j->text, "late\n") == 0 && !j->p.res.left_open);
	OK(j->p.res.status == 6);
	job_free(j);
	finish();
}

/* --- this program as a child --- */

static int
inherited(void)
{
	struct rlimit r;
	int i, n = 0;

	for (i = 0; i < 150; i++)
		n += fcntl(i, F_GETFD) != -1;
	getrlimit(RLIMIT_NOFILE, &r);
	printf("%d %llu\n", n, (unsigned long long)r.rlim_cur);
	return 0;
}

int
main(int argc, char **argv)
{
	int fds;

	if (argc > 1)
		return inherited();
	self = argv[0];
	OK(os_init(&e) == 0);
	OK(mkdtemp(dir) != NULL);
	fds = tap_fd_count();
	RUN(output_and_status, stdin_feed, flood, places, inheritance, deadline,
	    cancel, freed_in_callbacks, streaming, open_pipe);
	OK(tap_fd_count() == fds);
	OK(rmdir(dir) == 0);
	return tap_done();
}
