/* SPDX-License-Identifier: ISC */
/*
 * One poll(2) loop over descriptors, timers, children and signals.
 *
 * Invariants, whenever a callback can run:
 *   1. w[i] != NULL  =>  w[i]->slot == i + 1, and pfd[i].fd == w[i]->fd when
 *      something is wanted, else -1 (poll reports a hangup even if no event
 *      is wanted).
 *   2. w[i] == NULL  =>  pfd[i].fd == -1.  Such tombstones are counted in
 *      `dead` and removed by sweep(), which runs only before poll: no slot
 *      moves or is reused during dispatch.
 *   3. Slots created during dispatch are beyond the range it walks.
 *   4. For i > 0: heap[(i - 1) / 2] is not later than heap[i], by (at, seq);
 *      heap[t->slot - 1] == t.
 *   5. A timer started in this turn has at >= now and seq > fence; all other
 *      due timers (at <= now) precede it, so the first timer with seq > fence
 *      ends the walk.
 *   6. prev != NULL  <=>  the child, signal watch or loop_after is in its
 *      list.
 *   7. next_sig, the next element of a walk, is in its list or NULL.
 *   8. w->slot == QUIET  <=>  w is in the quiet set, wanting LOOP_READ.
 *      Watches move there only before poll and return only before dispatch or
 *      when their owner changes them, so a tag that the set reports is alive.
 *
 * poll examines every descriptor in every turn, at 20 ns and more each.  A
 * server with a thousand idle connections would spend more time on them than
 * on its work.  Watches without input for QUIET_TURNS turns therefore wait in
 * the quiet set, which is one descriptor for poll.
 */
#include "io/loop.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "base/os.h"
#include "base/os_child.h"
#include "base/os_quiet.h"
#include "io/loop_internal.h"

enum {
	REAP_MS = 5, REAP_MAX = 200,	/* in loop_free: some do not die */
	RETRY_MS = 10, RETRIES = 100,	/* if poll fails */
	QUIET_MIN = 64,			/* watches; fewer are not worth it */
	QUIET_TURNS = 64
};

#define QUIET SIZE_MAX

static volatile sig_atomic_t sig_wr = -1;	/* for the handler */

/*
 * If the pipe is full, the byte is lost.  That is harmless unless the pipe
 * holds only other signals: 64 KiB of them within one turn.
 */
static void
on_signal(int signo)
{
	unsigned char c = (unsigned char)signo;
	int saved = errno;

	(void)!write((int)sig_wr, &c, 1);
	errno = saved;
}

void *
loop_resize(void *p, size_t n, size_t size)
{
	struct buf none = { 0 };
	size_t bytes;

	if (!mul_ok(n, size, &bytes) || (p = realloc(p, bytes)) == NULL)
		buf_room(&none, SIZE_MAX);
	return p;
}

void
loop_release(void *p)
{
	free(p);
}

static size_t
grown(size_t cap)
{
	return cap == 0 ? 16 : cap * 2;
}

static short
events_of(int want)
{
	return (short)((want & LOOP_READ ? POLLIN : 0) |
	    (want & LOOP_WRITE ? POLLOUT : 0));
}

static void
poll_add(struct loop *l, struct fd_watch *w, int want)
{
	if (l->n == l->cap) {
		l->cap = grown(l->cap);
		l->pfd = loop_resize(l->pfd, l->cap, sizeof(l->pfd[0]));
		l->w = loop_resize(l->w, l->cap, sizeof(l->w[0]));
		l->last = loop_resize(l->last, l->cap, sizeof(l->last[0]));
	}
	l->w[l->n] = w;
	l->last[l->n] = l->turn;
	l->pfd[l->n] = (struct pollfd){ .fd = want == 0 ? -1 : w->fd,
		.events = events_of(want) };
	w->slot = ++l->n;
}

static void
poll_del(struct loop *l, struct fd_watch *w)
{
	l->w[w->slot - 1] = NULL;
	l->pfd[w->slot - 1].fd = -1;
	l->dead++;
}

static void
quiet_del(struct loop *l, struct fd_watch *w)
{
	os_quiet_del(l->quiet.fd, w->fd);
	l->nquiet--;
}

void
fd_start(struct loop *l, struct fd_watch *w, int want)
{
	assert(w->slot == 0);
	poll_add(l, w, want);
}

void
fd_want(struct loop *l, struct fd_watch *w, int want)
{
	struct pollfd *p;

	assert(w->slot != 0);
	if (w->slot == QUIET) {
		if (want == LOOP_READ)
			return;
		quiet_del(l, w);
		poll_add(l, w, want);
		return;
	}
	p = &l->pfd[w->slot - 1];
	p->fd = want == 0 ? -1 : w->fd;
	p->events = events_of(want);
}

void
fd_stop(struct loop *l, struct fd_watch *w)
{
	if (w->slot == 0)
		return;
	if (w->slot == QUIET)
		quiet_del(l, w);
	else
		poll_del(l, w);
	w->slot = 0;
}

void
loop_after_start(struct loop *l, struct loop_after *x)
{
	if (x->prev == NULL)
		LIST_PUSH(&l->after, x);
}

void
loop_after_stop(struct loop_after *x)
{
	if (x->prev == NULL)
		return;
	LIST_REMOVE(x);
	x->prev = NULL;
}

static void
run_after(struct loop *l)
{
	struct loop_after *x;

	while ((x = l->after) != NULL) {
		loop_after_stop(x);
		x->fn(x->arg);
	}
}

/* Moves idle watches to the quiet set.  Slot 0 is the signal pipe. */
static void
move_to_quiet(struct loop *l)
{
	size_t i;

	if (l->n < QUIET_MIN || l->turn % QUIET_TURNS != 0)
		return;
	if (l->quiet.fd == -1) {
		l->quiet.fd = os_quiet_new();
		if (l->quiet.fd == -1)
			return;
		poll_add(l, &l->quiet, LOOP_READ);
	}
	for (i = 1; i < l->n; i++) {
		if (l->w[i] == NULL || l->w[i] == &l->quiet ||
		    l->pfd[i].fd == -1 || l->pfd[i].events != POLLIN ||
		    l->turn - l->last[i] < QUIET_TURNS ||
		    os_quiet_add(l->quiet.fd, l->pfd[i].fd, l->w[i]) == -1)
			continue;
		l->w[i]->slot = QUIET;
		l->w[i] = NULL;
		l->pfd[i].fd = -1;
		l->dead++;
		l->nquiet++;
	}
}

/* Moves ready watches back; returns how many more are ready than poll found. */
static int
move_from_quiet(struct loop *l)
{
	void *tag[OS_QUIET_MAX];
	struct fd_watch *w;
	size_t i, n;

	if (l->quiet.slot == 0 || l->pfd[l->quiet.slot - 1].revents == 0)
		return 0;
	l->pfd[l->quiet.slot - 1].revents = 0;
	n = os_quiet_ready(l->quiet.fd, tag);
	for (i = 0; i < n; i++) {
		w = tag[i];
		quiet_del(l, w);
		poll_add(l, w, LOOP_READ);
		l->pfd[w->slot - 1].revents = POLLIN;
	}
	return (int)n - 1;
}

/* Removes tombstones. */
static void
sweep(struct loop *l)
{
	size_t i, k = 0;

	if (l->dead == 0)
		return;
	for (i = 0; i < l->n; i++) {
		if (l->w[i] == NULL)
			continue;
		l->w[k] = l->w[i];
		l->pfd[k] = l->pfd[i];
		l->last[k] = l->last[i];
		l->w[k]->slot = k + 1;
		k++;
	}
	l->n = k;
	l->dead = 0;
}

static bool
later(const struct timer *a, const struct timer *b)
{
	return a->at != b->at ? a->at > b->at : a->seq > b->seq;
}

static void
heap_put(struct loop *l, size_t i, struct timer *t)
{
	l->heap[i] = t;
	t->slot = i + 1;
}

static void
heap_up(struct loop *l, size_t i, struct timer *t)
{
	size_t up;

	for (; i > 0 && later(l->heap[up = (i - 1) / 2], t); i = up)
		heap_put(l, i, l->heap[up]);
	heap_put(l, i, t);
}

static void
heap_down(struct loop *l, size_t i, struct timer *t)
{
	size_t k;

	for (; (k = 2 * i + 1) < l->nheap; i = k) {
		if (k + 1 < l->nheap && later(l->heap[k], l->heap[k + 1]))
			k++;
		if (!later(t, l->heap[k]))
			break;
		heap_put(l, i, l->heap[k]);
	}
	heap_put(l, i, t);
}

/*
 * Reads the clock again: the time that a callback has spent must not shorten
 * the timers it starts.
 */
void
timer_start(struct loop *l, struct timer *t, int64_t after_ms)
{
	int64_t now = l->clock();

	timer_stop(l, t);
	now = now < l->now ? l->now : now;
	after_ms = after_ms < 0 ? 0 : after_ms;
	t->at = after_ms > INT64_MAX - now ? INT64_MAX : now + after_ms;
	t->seq = ++l->seq;
	if (l->nheap == l->heapcap) {
		l->heapcap = grown(l->heapcap);
		l->heap = loop_resize(l->heap, l->heapcap,
		    sizeof(l->heap[0]));
	}
	heap_up(l, l->nheap++, t);
}

void
timer_once(struct loop *l, struct timer *t, int64_t after_ms,
    void (*fn)(void *), void *arg)
{
	if (t->slot != 0)
		return;
	*t = (struct timer){ .fn = fn, .arg = arg };
	timer_start(l, t, after_ms);
}

void
timer_stop(struct loop *l, struct timer *t)
{
	struct timer *last;
	size_t i = t->slot;

	if (i-- == 0)
		return;
	t->slot = 0;
	last = l->heap[--l->nheap];
	if (last == t)
		return;
	heap_down(l, i, last);
	heap_up(l, last->slot - 1, last);
}

static void
fire_timers(struct loop *l)
{
	struct timer *t;

	while (l->nheap > 0 && (t = l->heap[0])->at <= l->now &&
	    t->seq <= l->fence) {
		assert(t->slot == 1);	/* else its owner zeroed it */
		timer_stop(l, t);
		t->fn(t->arg);
	}
}

static int
set_handler(int signo, int flags, struct sigaction *old, struct err *e)
{
	struct sigaction sa = { .sa_handler = on_signal };

	sa.sa_flags = SA_RESTART | flags;
	sigfillset(&sa.sa_mask);
	if (sigaction(signo, &sa, old) == -1)
		return err_sys(e, "sigaction");
	return 0;
}

int
sig_start(struct loop *l, struct sig_watch *s, struct err *e)
{
	struct sig_watch *o;

	assert(s->prev == NULL && s->signo > 0 && s->signo < 64);
	for (o = l->sigs; o != NULL; o = o->next)
		assert(o->signo != s->signo);
	assert(s->signo != SIGCHLD);
	if (set_handler(s->signo, 0, &s->old, e) == -1)
		return -1;
	LIST_PUSH(&l->sigs, s);
	return 0;
}

void
sig_stop(struct loop *l, struct sig_watch *s)
{
	if (s->prev == NULL)
		return;
	sigaction(s->signo, &s->old, NULL);
	if (l->next_sig == s)
		l->next_sig = s->next;
	LIST_REMOVE(s);
	s->prev = NULL;
}

static void
on_sigpipe(void *arg, int ready)
{
	struct loop *l = arg;
	struct sig_watch *s;
	unsigned char c[256];
	uint64_t seen = 0;
	ssize_t i, n;

	(void)ready;
	while ((n = read(l->sigpipe.fd, c, sizeof(c))) > 0)
		for (i = 0; i < n; i++)
			seen |= UINT64_C(1) << (c[i] & 63);
	for (s = l->sigs; s != NULL; s = l->next_sig) {
		l->next_sig = s->next;
		if (seen >> s->signo & 1)
			s->fn(s->arg);
	}
	if (seen >> SIGCHLD & 1)
		child_reap_all(l);
}

struct loop *
loop_new(int64_t (*now_ms)(void), struct err *e)
{
	struct loop *l;
	int p[2];

	assert(sig_wr == -1);
	if (os_pipe(p, OS_NONBLOCK_READ | OS_NONBLOCK_WRITE, e) == -1)
		return NULL;
	l = loop_resize(NULL, 1, sizeof(*l));
	*l = (struct loop){ .clock = now_ms != NULL ? now_ms : os_now_ms };
	l->quiet.fd = -1;
	sig_wr = p[1];
	l->sigpipe_wr = p[1];
	l->sigpipe.fd = p[0];
	if (set_handler(SIGCHLD, SA_NOCLDSTOP, &l->old_chld, e) == -1) {
		sig_wr = -1;
		os_close(&p[0]);
		os_close(&p[1]);
		free(l);
		return NULL;
	}
	l->now = l->clock();
	l->nofile = os_nofile_raise();
	l->sigpipe.fn = on_sigpipe;
	l->sigpipe.arg = l;
	fd_start(l, &l->sigpipe, LOOP_READ);
	return l;
}

void
loop_free(struct loop *l)
{
	int i;

	if (l == NULL)
		return;
	while (l->sigs != NULL)
		sig_stop(l, l->sigs);
	for (i = 0; child_reap(l, i == REAP_MAX) > 0 && i < REAP_MAX; i++)
		poll(NULL, 0, REAP_MS);
	sigaction(SIGCHLD, &l->old_chld, NULL);
	if (l->adopts)
		os_subreaper(false);
	os_nofile_set(l->nofile);
	sig_wr = -1;
	os_close(&l->sigpipe.fd);
	os_close(&l->sigpipe_wr);
	os_close(&l->quiet.fd);
	free(l->pfd);
	free(l->w);
	free(l->last);
	free(l->heap);
	free(l);
}

int64_t
loop_now(const struct loop *l)
{
	return l->now;
}

int64_t
loop_clock(const struct loop *l)
{
	return l->clock();
}

uint64_t
loop_nofile(const struct loop *l)
{
	return l->nofile;
}

static int
ready_of(const struct pollfd *p)
{
	short r = p->revents;

	if (r & (POLLERR | POLLHUP | POLLNVAL))
		r = p->events;
	r &= p->events;
	return (r & POLLIN ? LOOP_READ : 0) | (r & POLLOUT ? LOOP_WRITE : 0);
}

static void
dispatch(struct loop *l, int found)
{
	size_t i, n = l->n;
	int ready;

	for (i = 0; i < n && found > 0; i++) {
		if (l->pfd[i].revents == 0)
			continue;
		found--;
		if (l->w[i] == NULL)
			continue;
		ready = ready_of(&l->pfd[i]);
		l->last[i] = l->turn;
		if (ready != 0)
			l->w[i]->fn(l->w[i]->arg, ready);
	}
}

static int
poll_timeout(struct loop *l)
{
	int64_t wait;

	if (l->nheap == 0)
		return -1;
	wait = l->heap[0]->at - l->clock();
	return wait < 0 ? 0 : wait > INT_MAX ? INT_MAX : (int)wait;
}

static bool
is_idle(const struct loop *l)
{
	size_t own = 1 + (l->quiet.slot != 0);	/* 1: the signal pipe */

	return l->n == own && l->nquiet == 0 && l->nheap == 0 &&
	    l->nchildren == 0;
}

/*
 * poll can fail for want of memory, or because the limit of descriptors was
 * lowered.  That may pass.  Timers wait meanwhile: one that ends a time limit
 * would not know of the output that has come but was not read.  1, or -1.
 */
static int
wait_and_retry(struct loop *l, struct err *e)
{
	const struct timespec nap = { .tv_nsec = RETRY_MS * 1000000L };

	if (++l->failures > RETRIES)
		return err_sys(e, "poll");
	(void)nanosleep(&nap, NULL);
	return 1;
}

int
loop_turn(struct loop *l, struct err *e)
{
	int found;

	l->turn++;
	move_to_quiet(l);
	sweep(l);
	if (is_idle(l))
		return 0;
	l->fence = l->seq;
	found = poll(l->pfd, (nfds_t)l->n, poll_timeout(l));
	if (found == -1 && errno != EINTR && errno != EAGAIN)
		return wait_and_retry(l, e);
	l->failures = 0;
	l->now = l->clock();
	if (found > 0)			/* after EINTR: in the next turn */
		dispatch(l, found + move_from_quiet(l));
	run_after(l);
	fire_timers(l);
	return 1;
}
