/* SPDX-License-Identifier: ISC */
/*
 * Events on stdout.  That descriptor is shared with whoever started us, so it
 * is never made non-blocking: at most PIPE_BUF bytes are written when poll
 * says that there is room, which never blocks.
 */
#include "waza_stream.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include "os.h"
#include "run.h"

enum {
	QUEUE_HIGH = 1 << 20,	/* bytes of events before the run waits */
	QUEUE_LOW = 1 << 16,	/* and before it goes on */
	LATE_MS = 1000		/* for the rest, after an interrupt */
};

static void
drop(struct waza_stream *s)
{
	s->queue.n = s->sent = 0;
	if (s->loop != NULL)
		fd_stop(s->loop, &s->out);
}

/* Whether something went, and more may. */
static bool
send_some(struct waza_stream *s)
{
	struct pollfd p = { .fd = STDOUT_FILENO, .events = POLLOUT };
	size_t n = s->queue.n - s->sent;
	ssize_t k;

	if (n == 0 || poll(&p, 1, 0) != 1)
		return false;
	k = os_write(STDOUT_FILENO, s->queue.p + s->sent,
	    n < PIPE_BUF ? n : PIPE_BUF);
	if (k == -1 && errno == EAGAIN)
		return false;
	if (k == -1) {
		s->lost = true;
		drop(s);
		if (s->run != NULL)
			run_cancel(s->run);
		return false;
	}
	s->sent += (size_t)k;
	if (s->sent == s->queue.n)
		s->queue.n = s->sent = 0;
	return true;
}

static void
hold(struct waza_stream *s, bool on)
{
	if (s->held != on && s->run != NULL)
		run_hold(s->run, on);
	s->held = on;
}

static void
on_room(void *arg, int ready)
{
	struct waza_stream *s = arg;

	(void)ready;
	send_some(s);
	if (s->queue.n == 0)
		fd_stop(s->loop, &s->out);
	if (s->held && s->queue.n - s->sent < QUEUE_LOW)
		hold(s, false);
}

static void
on_event(void *arg, const struct event *ev)
{
	struct waza_stream *s = arg;
	bool waiting = s->queue.n > 0 && s->loop != NULL;

	if (s->lost)
		return;
	event_line(&s->queue, ev);
	if (!waiting) {
		while (send_some(s))
			;
		if (s->queue.n > 0 && s->loop != NULL)
			fd_start(s->loop, &s->out, LOOP_WRITE);
	} else if (s->queue.n - s->sent > QUEUE_HIGH)
		hold(s, true);
}

void
waza_stream_start(struct waza_stream *s, struct event_bus *bus)
{
	s->sink = (struct event_sink){ .fn = on_event, .arg = s };
	s->out = (struct fd_watch){ .fd = STDOUT_FILENO, .fn = on_room,
		.arg = s };
	event_listen(bus, &s->sink);
}

static void
on_late(void *arg)
{
	drop(arg);
}

void
waza_stream_flush(struct waza_stream *s, const int *signo)
{
	struct timer late = { .fn = on_late, .arg = s };
	int before = *signo;
	struct err e;

	if (s->loop == NULL && s->queue.n > 0)	/* nothing ever ran */
		os_write_all(STDOUT_FILENO, (struct str){ s->queue.p + s->sent,
		    s->queue.n - s->sent }, &e);
	if (s->loop == NULL)
		return;
	if (before != 0)
		timer_start(s->loop, &late, LATE_MS);
	while (s->queue.n > 0 && *signo == before)
		if (loop_turn(s->loop, &e) != 1)
			break;
	timer_stop(s->loop, &late);
}

void
waza_stream_end(struct waza_stream *s)
{
	if (s->loop != NULL)
		drop(s);
	buf_free(&s->queue);
}
