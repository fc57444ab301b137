/* SPDX-License-Identifier: ISC */
/*
 * loop.h: loop_ fd_ timer_ child_ sig_.  One poll loop over descriptors,
 * timers, children and signals.
 *
 * A watch lives inside its owner, which fills in the public fields and leaves
 * the private ones zero.  It belongs to the loop from *_start to *_stop (a
 * timer also until it fires, a child until it is reaped); the loop neither
 * allocates nor frees it.  Stopping an idle watch has no effect.
 *
 * A callback may start or stop any watch and free any owner, its own
 * included, but not the loop.  After *_stop the callback is not called again.
 *
 * Out of memory ends the process, as in base.h.
 */
#ifndef WAZA_LOOP_H
#define WAZA_LOOP_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct err;
struct loop;

/*
 * The signal pipe is per process, so there is one loop at a time.  The clock
 * counts milliseconds and never goes back; NULL is os_now_ms.  While the loop
 * exists the limit on descriptors is as high as the system lets it be, and
 * SIGCHLD is the loop's.
 */
struct loop *loop_new(int64_t (*now_ms)(void), struct err *);
void loop_free(struct loop *);

/*
 * One poll and its callbacks.  1: call again; 0: no descriptor, timer or
 * child is being watched; -1: poll failed.
 */
int loop_turn(struct loop *, struct err *);

int64_t loop_now(const struct loop *);	/* the same for a whole turn */
int64_t loop_clock(const struct loop *);	/* read anew */
uint64_t loop_nofile(const struct loop *);	/* the soft limit as it was */

/*
 * Orphaned descendants become our children, where the system can do that:
 * then true.  From then on every child without a watch is the loop's to reap,
 * so children must be watched in the callback that started them.
 */
bool loop_adopt(struct loop *);

enum { LOOP_READ = 1, LOOP_WRITE = 2 };

/*
 * ready is a subset of what is wanted, never 0.  Hangups and errors are
 * reported as that readiness: read and write tell the reason.  Wanting 0
 * pauses the watch.  The descriptor stays the owner's, who closes it only
 * after fd_stop.
 */
struct fd_watch {
	int fd;
	void (*fn)(void *arg, int ready);
	void *arg;
	size_t slot;			/* private */
};

void fd_start(struct loop *, struct fd_watch *, int want);
void fd_want(struct loop *, struct fd_watch *, int want);
void fd_stop(struct loop *, struct fd_watch *);

/*
 * Fires once, at the earliest after_ms from now and in the turn after the
 * one that started it; those due together fire in the order of their times,
 * then of their starts.  Starting a running timer moves it.
 */
struct timer {
	int64_t at;			/* on the loop's clock; read-only */
	void (*fn)(void *arg);
	void *arg;
	uint64_t seq;			/* private */
	size_t slot;			/* private */
};

void timer_start(struct loop *, struct timer *, int64_t after_ms);
void timer_stop(struct loop *, struct timer *);

/* Called once, when the child has been reaped; -1 when someone else did. */
struct child {
	pid_t pid;
	void (*fn)(void *arg, int wstatus);
	void *arg;
	struct child *next, **prev;	/* private */
};

void child_start(struct loop *, struct child *);
void child_stop(struct loop *, struct child *);
bool child_watched(const struct loop *, pid_t);

/*
 * forget: the loop will reap it and tell nobody.  reap: it does so now with
 * those that have ended, or gives the others up too; how many did not end.
 * loop_free waits for them, but no longer than a second: they should have
 * been killed.
 */
void child_forget(struct loop *, pid_t);
size_t child_reap(struct loop *, bool give_up);

/*
 * Called in the turn after the signal came, once for all that came together.
 * One watch per signal; stopping puts the old disposition back.  Signal
 * watches alone do not keep loop_turn from returning 0.
 */
struct sig_watch {
	int signo;			/* 1 to 63, not SIGCHLD */
	void (*fn)(void *arg);
	void *arg;
	struct sig_watch *next, **prev;	/* private */
	struct sigaction old;		/* private */
};

int sig_start(struct loop *, struct sig_watch *, struct err *);
void sig_stop(struct loop *, struct sig_watch *);

#endif
