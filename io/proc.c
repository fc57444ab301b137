/* SPDX-License-Identifier: ISC */
/*
 * One child with its three pipes on the loop.
 *
 *   phase      event                        then
 *   IDLE       proc_start                   RUNNING, timer = timeout
 *   RUNNING    timer, cancel, output > max  SIGTERM, ENDING, timer = grace
 *   ENDING     timer                        SIGKILL, KILLED
 *   R, E, K    reaped, pipes open           LINGERING, timer = 500 ms
 *   LINGERING  timer, the pipes are empty   complete; they are closed
 *   LINGERING  timer, they are not          timer = next turn
 *   R, E, K    reaped, pipes closed         complete
 *   LINGERING  last pipe closed             complete
 *   any        proc_fini                    SIGKILL, IDLE; the loop reaps it
 *
 * complete: the process group gets SIGKILL, phase IDLE, done().
 *
 * Invariants:
 *   1. phase != IDLE  <=>  the proc is in its set's list.
 *   2. pid != 0  <=>  the child has not been reaped and is being watched.
 *   3. A pipe is open  <=>  its w.fd != -1  <=>  its watch is started.
 *   4. A function calls the owner's callback last, because the callback may
 *      free the proc.
 *
 * Known limitation: the process group is signalled by number up to 500 ms
 * after its leader was reaped.  If all members have ended and the system has
 * reused the number, another group would get the signal; that takes a cycle
 * through all process ids within that time.
 */
#include "io/proc.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os.h"
#include "base/os_child.h"
#include "base/os_spawn.h"

enum {
	CHUNK = 64 * 1024,		/* the usual capacity of a pipe */
	READS = 4,			/* chunks per turn and pipe */
	PIPE_MAX = 1 << 20,		/* bytes that a pipe can hold */
	SWEEP_MS = 100,			/* between two sweeps, */
	RESWEEP_MS = 5,			/* or this while strays are found */
	RESWEEP_MAX = 200,		/* rounds: some do not die */
	ROOM_MS = 1000			/* until a failed start is retried */
};

/* Signals the group, and the child itself if it has left the group. */
static void
group_kill(const struct proc *p, int signo)
{
	kill(-p->group, signo);
	if (p->pid != 0 && getpgid(p->pid) != p->group)
		kill(p->pid, signo);
}

static void
pipe_close(struct proc *p, struct fd_watch *w)
{
	fd_stop(p->set->loop, w);
	os_close(&w->fd);
}

static void
in_close(struct proc *p)
{
	pipe_close(p, &p->in_w);
	buf_free(&p->inq);
	p->in = STR("");
	p->inq_off = 0;
	p->in_open = false;
}

/* Whether a process has our mark; *running: its child still runs. */
static bool
marked(struct procs *ps, pid_t pid, struct arena *a, bool *running)
{
	char mark[48];
	struct proc *p;
	struct str v;

	if (!os_env_of(a, pid, PROC_MARK, &v))
		return false;
	snprintf(mark, sizeof(mark), "%ld.", (long)getpid());
	if (!str_starts(v, str_of(mark)))
		return false;
	*running = false;
	for (p = ps->head; p != NULL && !*running; p = p->next) {
		snprintf(mark, sizeof(mark), "%ld.%llu", (long)getpid(),
		    (unsigned long long)p->id);
		*running = str_is(v, mark);
	}
	return true;
}

/*
 * Kills children that no proc watches: all if no proc runs, else those whose
 * proc has completed.  With `reap` it also reaps them.  True: there were some.
 */
static bool
kill_strays(struct procs *ps, bool reap)
{
	struct arena a = { 0 };
	pid_t *pid = NULL;
	ssize_t i, n = os_children(&a, &pid);
	bool running, killed, found = false;

	for (i = 0; i < n; i++) {
		if (pid[i] == ps->guard_pid ||
		    child_watched(ps->loop, pid[i]) || (ps->running > 0 &&
		    (!marked(ps, pid[i], &a, &running) || running)))
			continue;
		killed = kill(pid[i], SIGKILL) == 0;
		found |= reap ? waitpid(pid[i], NULL, WNOHANG) != -1 : killed;
	}
	arena_free(&a);
	return found;
}

/*
 * Every descendant becomes our child when its ancestors have ended, so
 * repeated rounds kill all of them.
 */
static void
sweep(void *arg)
{
	struct procs *ps = arg;
	bool found = kill_strays(ps, false);

	timer_stop(ps->loop, &ps->sweep);
	ps->swept = loop_now(ps->loop);
	ps->rounds = found ? ps->rounds + 1 : 0;
	if (found && ps->rounds < RESWEEP_MAX)
		timer_start(ps->loop, &ps->sweep, RESWEEP_MS);
}

/*
 * The system's list of children can lack one while others end: as long as
 * procs run, there is a second sweep.
 */
static void
sweep_soon(struct procs *ps)
{
	if (!ps->adopts)
		return;
	if (ps->running == 0 || loop_now(ps->loop) - ps->swept >= SWEEP_MS)
		sweep(ps);
	if (ps->running > 0 && ps->sweep.slot == 0)
		timer_start(ps->loop, &ps->sweep, SWEEP_MS);
}

/* Leaves the set; closes all pipes and stops all watches. */
static void
retire(struct proc *p)
{
	timer_stop(p->set->loop, &p->timer);
	in_close(p);
	pipe_close(p, &p->out.w);
	pipe_close(p, &p->err.w);
	group_kill(p, SIGKILL);
	LIST_REMOVE(p);
	p->set->running--;
	p->phase = PROC_IDLE;
	sweep_soon(p->set);
	procs_wake(p->set);
}

static void
complete(struct proc *p)
{
	retire(p);
	p->done(p->arg);
}

static bool
is_complete(const struct proc *p)
{
	return p->pid == 0 && p->out.w.fd == -1 && p->err.w.fd == -1;
}

static void
terminate(struct proc *p)
{
	if (p->phase != PROC_RUNNING)
		return;
	p->phase = PROC_ENDING;
	group_kill(p, SIGTERM);
	timer_start(p->set->loop, &p->timer, p->grace_ms);
}

/*
 * A busy loop may be late: what the child wrote before it ended must be read,
 * however long that takes.  Its pipe holds at most as much; more is from
 * another process.
 */
static bool
has_unread(const struct proc_pipe *s)
{
	struct pollfd f = { .fd = s->w.fd, .events = POLLIN };

	return s->w.fd != -1 && s->total - s->at_end < PIPE_MAX &&
	    poll(&f, 1, 0) == 1 && (f.revents & POLLIN) != 0;
}

static void
on_timer(void *arg)
{
	struct proc *p = arg;

	switch (p->phase) {
	case PROC_RUNNING:
		p->res.timed_out = true;
		terminate(p);
		break;
	case PROC_ENDING:
		p->phase = PROC_KILLED;
		group_kill(p, SIGKILL);
		break;
	case PROC_LINGERING:
		if (has_unread(&p->out) || has_unread(&p->err)) {
			timer_start(p->set->loop, &p->timer, 0);
			break;
		}
		p->res.left_open = true;
		complete(p);
		break;
	case PROC_IDLE:
	case PROC_KILLED:
		break;
	}
}

static void
on_reaped(void *arg, int wstatus)
{
	struct proc *p = arg;

	p->pid = 0;
	p->res.wstatus = wstatus;
	p->res.status = -1;
	if (wstatus != -1 && WIFEXITED(wstatus))
		p->res.status = WEXITSTATUS(wstatus);
	if (wstatus != -1 && WIFSIGNALED(wstatus))
		p->res.signo = WTERMSIG(wstatus);
	p->res.duration_ms = loop_clock(p->set->loop) - p->started;
	in_close(p);
	p->phase = PROC_LINGERING;
	p->out.at_end = p->out.total;
	p->err.at_end = p->err.total;
	if (is_complete(p))
		complete(p);
	else
		timer_start(p->set->loop, &p->timer, PROC_LINGER_MS);
}

static void
keep(struct proc *p, struct proc_pipe *s, struct str got)
{
	size_t room = s->max - s->buf.n;

	if (got.n > room) {
		got.n = room;
		p->res.truncated = true;
		if (p->stop_at_max)
			terminate(p);
	}
	buf_put(&s->buf, got);
}

static void
on_readable(void *arg, int ready)
{
	struct proc_pipe *s = arg;
	struct proc *p = s->proc;
	char chunk[CHUNK];
	ssize_t n = 0;
	int i;

	(void)ready;
	for (i = 0; i < READS; i++) {
		n = os_read(s->w.fd, chunk, sizeof(chunk));
		if (n <= 0)
			break;
		s->total += (uint64_t)n;
		if (s->fn != NULL) {
			s->fn(p->arg, (struct str){ chunk, (size_t)n });
			return;
		}
		keep(p, s, (struct str){ chunk, (size_t)n });
	}
	if (n > 0 || (n == -1 && (errno == EAGAIN || errno == EWOULDBLOCK)))
		return;
	pipe_close(p, &s->w);
	if (is_complete(p))
		complete(p);
	else if (s == &p->out && p->pid != 0 && p->out_end != NULL)
		p->out_end(p->arg);
}

static struct str
in_front(const struct proc *p)
{
	if (p->in.n > 0)
		return p->in;
	return (struct str){ p->inq.p + p->inq_off, p->inq.n - p->inq_off };
}

/* Compacts the queue when half of it is written: linear in total. */
static void
in_eat(struct proc *p, size_t n)
{
	if (p->in.n > 0) {
		p->in.p += n;
		p->in.n -= n;
		return;
	}
	p->inq_off += n;
	if (p->inq_off >= p->inq.n - p->inq_off) {
		buf_eat(&p->inq, p->inq_off);
		p->inq_off = 0;
	}
}

static void
on_writable(void *arg, int ready)
{
	struct proc *p = arg;
	struct str s = in_front(p);
	ssize_t n = 0;

	(void)ready;
	if (s.n > 0)
		n = os_write(p->in_w.fd, s.p, s.n < CHUNK ? s.n : CHUNK);
	if (n == -1 && (errno == EAGAIN || errno == EWOULDBLOCK))
		return;
	if (n == -1) {
		in_close(p);
		return;
	}
	in_eat(p, (size_t)n);
	if (p->in.n > 0 || p->inq.n > 0)
		return;
	if (p->in_open)
		fd_want(p->set->loop, &p->in_w, 0);
	else
		in_close(p);
}

/*
 * Our ends are mine[], the child's are its[]; -1: no pipe.  While others of
 * the set run, the last descriptors are left for short uses; each pipe has
 * higher ones than the pipe before.
 */
static int
open_pipes(const struct procs *ps, const struct proc_opts *o, int mine[3],
    int its[3], struct err *e)
{
	int i, fd[2];

	for (i = 0; i < 3; i++) {
		if ((i == 0 && o->in.n == 0 && !o->in_open) ||
		    (i == 2 && o->err_joins))
			continue;
		if (os_pipe(fd, i == 0 ? OS_NONBLOCK_WRITE : OS_NONBLOCK_READ,
		    e) == -1)
			return -1;
		mine[i] = fd[i == 0];
		its[i] = fd[i != 0];
	}
	if (procs_busy(ps) && os_fd_short(fd[1], 1)) {
		errno = EMFILE;
		return err_sys(e, "pipe");
	}
	return 0;
}

/* The environment with our mark; it replaces one that we inherited. */
static const char *const *
marked_env(struct arena *a, const struct proc *p, const char *const *env)
{
	const char *mark = arena_fmt(a, PROC_MARK "=%ld.%llu", (long)getpid(),
	    (unsigned long long)p->id).p;
	const char **v;
	size_t i, k = 0, n = 0;

	if (env == NULL)
		return os_env(a, &mark, 1);
	while (env[n] != NULL)
		n++;
	v = NEW_N(a, const char *, n + 2);
	v[k++] = mark;
	for (i = 0; i < n; i++)
		if (strncmp(env[i], PROC_MARK "=", sizeof(PROC_MARK)) != 0)
			v[k++] = env[i];
	return v;
}

/* In the copy: computes, and writes the result to its stdout. */
static void
work(void *arg)
{
	const struct proc_opts *o = arg;
	struct buf out = { 0 };
	struct err e;

	o->work(o->arg, &out);
	if (os_write_all(1, buf_str(&out), &e) == -1)
		_exit(1);
	buf_free(&out);
}

static pid_t
spawn(struct proc *p, const struct proc_opts *o, const int its[3],
    struct err *e)
{
	struct arena a = { 0 };
	struct proc_opts copy = *o;
	struct os_spawn s = { .argv = o->argv, .env = o->env, .cwd = o->cwd };
	pid_t pid;

	s.group = true;
	s.memo = &p->set->memo;
	s.bounds = o->bounds;
	s.limits = o->limits;
	s.limits.nofile = loop_nofile(p->set->loop);
	s.fd[0] = its[0] == -1 ? OS_FD_NULL : its[0];
	s.fd[1] = its[1];
	s.fd[2] = o->err_joins ? its[1] : its[2];
	if (o->work != NULL) {
		s.fn = work;
		s.arg = &copy;
	} else if (p->set->adopts) {
		procs_guard(p->set);
		s.env = marked_env(&a, p, o->env);
	}
	pid = os_spawn(&s, e);
	arena_free(&a);
	return pid;
}

static void
pipe_start(struct proc *p, struct proc_pipe *s, int fd, size_t max)
{
	s->proc = p;
	s->max = max != 0 ? max : PROC_OUT_MAX;
	s->w = (struct fd_watch){ .fd = fd, .fn = on_readable, .arg = s };
	if (fd != -1)
		fd_start(p->set->loop, &s->w, LOOP_READ);
}

static void
watch(struct proc *p, const struct proc_opts *o, const int mine[3])
{
	struct loop *l = p->set->loop;

	p->out_end = o->on_out_end;
	p->out.fn = o->on_out;
	p->err.fn = o->on_err;
	pipe_start(p, &p->out, mine[1], o->out_max);
	pipe_start(p, &p->err, mine[2], o->err_max);
	p->in = o->in;
	p->in_open = o->in_open;
	p->in_w = (struct fd_watch){ .fd = mine[0], .fn = on_writable };
	p->in_w.arg = p;
	if (mine[0] != -1) {
		fd_start(l, &p->in_w, o->in.n > 0 ? LOOP_WRITE : 0);
		if (o->in.n > 0)	/* an empty pipe has room */
			on_writable(p, LOOP_WRITE);
	}
	p->child = (struct child){ .pid = p->pid, .fn = on_reaped, .arg = p };
	child_start(l, &p->child);
	p->timer.fn = on_timer;
	p->timer.arg = p;
	if (o->timeout_ms > 0)
		timer_start(l, &p->timer, o->timeout_ms);
}

int
proc_start(struct procs *ps, struct proc *p, const struct proc_opts *o,
    struct err *e)
{
	int i, mine[3] = { -1, -1, -1 }, its[3] = { -1, -1, -1 };

	assert(p->phase == PROC_IDLE);
	proc_fini(p);
	*p = (struct proc){ .set = ps, .id = ++ps->seq };
	p->pid = -1;
	if (open_pipes(ps, o, mine, its, e) == 0)
		p->pid = spawn(p, o, its, e);
	for (i = 0; i < 3; i++)
		os_close(&its[i]);
	if (p->pid == -1) {
		p->pid = 0;
		p->res.exec_errno = e->sys;
		p->res.shortage = procs_shortage(ps, e->sys);
		for (i = 0; i < 3; i++)
			os_close(&mine[i]);
		return -1;
	}
	p->group = p->pid;
	p->phase = PROC_RUNNING;
	p->started = loop_clock(ps->loop);
	p->grace_ms = o->grace_ms > 0 ? o->grace_ms : PROC_GRACE_MS;
	p->stop_at_max = o->stop_at_max;
	p->done = o->done;
	p->arg = o->arg;
	LIST_PUSH(&ps->head, p);
	ps->running++;
	watch(p, o, mine);
	return 0;
}

int
proc_write(struct proc *p, struct str s)
{
	if (!p->in_open || s.n > PROC_IN_MAX - (p->inq.n - p->inq_off))
		return -1;
	buf_put(&p->inq, s);
	if (s.n > 0)
		fd_want(p->set->loop, &p->in_w, LOOP_WRITE);
	return 0;
}

void
proc_close_in(struct proc *p)
{
	if (!p->in_open)
		return;
	p->in_open = false;
	if (p->in.n == 0 && p->inq.n == 0)
		in_close(p);
}

void
proc_cancel(struct proc *p)
{
	if (p->phase != PROC_RUNNING)
		return;
	p->res.cancelled = true;
	terminate(p);
}

void
proc_fini(struct proc *p)
{
	struct loop *l;
	pid_t pid = p->pid;

	if (p->phase != PROC_IDLE) {
		l = p->set->loop;
		child_stop(l, &p->child);
		if (pid != 0)
			child_forget(l, pid);
		retire(p);
		p->pid = 0;
	}
	buf_free(&p->out.buf);
	buf_free(&p->err.buf);
}

/* An owner that waits again must not be called again. */
static void
on_room(void *arg)
{
	struct procs *ps = arg;
	struct procs_wait *all = ps->waiting, *w;

	if (all != NULL)
		all->prev = &all;
	ps->waiting = NULL;
	while ((w = all) != NULL) {
		procs_wait_stop(w);
		w->fn(w->arg);
	}
}

void
procs_wait(struct procs *ps, struct procs_wait *w)
{
	struct procs_wait **end = &ps->waiting;

	assert(w->prev == NULL);
	while (*end != NULL)
		end = &(*end)->next;
	LIST_PUSH(end, w);
	timer_once(ps->loop, &ps->room, ROOM_MS, on_room, ps);
}

void
procs_wait_stop(struct procs_wait *w)
{
	if (w->prev == NULL)
		return;
	LIST_REMOVE(w);
	w->prev = NULL;
}

bool
procs_busy(const struct procs *ps)
{
	return ps->running > 0 || ps->sockets > 0;
}

bool
procs_shortage(struct procs *ps, int sys)
{
	bool passes = procs_busy(ps) && os_is_shortage(sys);

	ps->shortages += passes;
	return passes;
}

void
procs_wake(struct procs *ps)
{
	if (ps->waiting == NULL)
		return;
	timer_stop(ps->loop, &ps->room);
	timer_once(ps->loop, &ps->room, 0, on_room, ps);
}

void
procs_init(struct procs *ps, struct loop *l, bool adopt)
{
	*ps = (struct procs){ .loop = l };
	ps->sweep.fn = sweep;
	ps->sweep.arg = ps;
	ps->adopts = adopt && loop_adopt(l);
}

void
procs_cancel(struct procs *ps)
{
	struct proc *p;

	for (p = ps->head; p != NULL; p = p->next)
		proc_cancel(p);
}

/*
 * Reaps strays before we exit, since the init process of a container may not
 * do it.  A child must end before its descendants become ours, hence rounds.
 */
void
procs_fini(struct procs *ps)
{
	unsigned round;
	size_t left;

	while (ps->head != NULL)
		proc_fini(ps->head);
	timer_stop(ps->loop, &ps->sweep);
	timer_stop(ps->loop, &ps->room);
	for (round = 0; ps->adopts && round < RESWEEP_MAX; round++) {
		left = child_reap(ps->loop, false);
		if (!kill_strays(ps, true) && left == 0)
			break;
		poll(NULL, 0, RESWEEP_MS);
	}
	procs_guard_end(ps);
}
