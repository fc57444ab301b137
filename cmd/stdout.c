/* SPDX-License-Identifier: ISC */
/*
 * stdout on a loop.  The descriptor is shared with the parent process, so it is
 * never made non-blocking.  Instead, at most PIPE_BUF bytes are written after
 * poll() has reported room, which does not block.
 */
#include "cmd/stdout.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include "base/os.h"

enum {
	QUEUE_HIGH = 1 << 20,	/* bytes at which the producer pauses */
	QUEUE_LOW = 1 << 16,	/* bytes at which it resumes */
	LATE_MS = 1000		/* to flush after a signal */
};

static void
drop(struct cmd_stdout *o)
{
	o->queue.n = o->sent = 0;
	if (o->loop != NULL)
		fd_stop(o->loop, &o->w);
}

static void
hold(struct cmd_stdout *o, bool on)
{
	if (o->held != on && o->hold != NULL)
		o->hold(o->arg, on);
	o->held = on;
}

static void
lose(struct cmd_stdout *o, int sys)
{
	o->lost = true;
	o->sys = sys;
	drop(o);
	hold(o, false);
	if (o->gone != NULL)
		o->gone(o->arg);
}

/* Writes one piece; false if that would block, fail, or nothing is left. */
static bool
send_some(struct cmd_stdout *o)
{
	struct pollfd p = { .fd = STDOUT_FILENO, .events = POLLOUT };
	size_t n = o->queue.n - o->sent;
	ssize_t k;

	if (n == 0 || poll(&p, 1, 0) != 1)
		return false;
	k = os_write(STDOUT_FILENO, o->queue.p + o->sent,
	    n < PIPE_BUF ? n : PIPE_BUF);
	if (k == -1 && errno == EAGAIN)
		return false;
	if (k == -1) {
		lose(o, errno);
		return false;
	}
	o->sent += (size_t)k;
	if (o->sent == o->queue.n)
		o->queue.n = o->sent = 0;
	return true;
}

static void
on_room(void *arg, int ready)
{
	struct cmd_stdout *o = arg;

	(void)ready;
	send_some(o);
	if (o->queue.n == 0)
		fd_stop(o->loop, &o->w);
	if (o->held && o->queue.n - o->sent < QUEUE_LOW)
		hold(o, false);
}

void
cmd_stdout_put(struct cmd_stdout *o, struct str s)
{
	bool waiting = o->queue.n > 0 && o->loop != NULL;

	if (o->lost)
		return;
	buf_put(&o->queue, s);
	if (!waiting) {
		while (send_some(o))
			;
		if (o->queue.n == 0 || o->loop == NULL)
			return;
		o->w = (struct fd_watch){ .fd = STDOUT_FILENO, .fn = on_room,
			.arg = o };
		fd_start(o->loop, &o->w, LOOP_WRITE);
	}
	if (o->queue.n - o->sent > QUEUE_HIGH)
		hold(o, true);
}

static void
on_late(void *arg)
{
	drop(arg);
}

void
cmd_stdout_flush(struct cmd_stdout *o, const int *signo)
{
	struct timer late = { .fn = on_late, .arg = o };
	int before = *signo;
	struct err e;

	if (o->loop == NULL && o->queue.n > 0 &&	/* it failed early */
	    os_write_all(STDOUT_FILENO, (struct str){ o->queue.p + o->sent,
	    o->queue.n - o->sent }, &e) == -1)
		lose(o, e.sys);
	if (o->loop == NULL)
		return;
	if (before != 0)
		timer_start(o->loop, &late, LATE_MS);
	while (o->queue.n > 0 && *signo == before)
		if (loop_turn(o->loop, &e) != 1)
			break;
	timer_stop(o->loop, &late);
}

void
cmd_stdout_end(struct cmd_stdout *o)
{
	if (o->loop != NULL)
		drop(o);
	buf_free(&o->queue);
}
