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
 * Out of memory terminates the process, as in base.h.
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
 * The signal pipe is per process, so there is at most one loop at a time.  The
 * clock counts milliseconds and never goes back; NULL is os_now_ms.  While the
 * loop exists, the limit of open descriptors is raised as far as the system
 * allows, and SIGCHLD belongs to the loop.
 */
struct loop *loop_new(int64_t (*now_ms)(void), struct err *);
void loop_free(struct loop *);

/*
 * One poll and its callbacks.  1: call again; 0: no descriptor, timer or child
 * is watched; -1: poll has failed for a second.  Then the loop cannot be used
 * any more: call procs_fini(), free the owners of watches, then the loop.
 */
int loop_turn(struct loop *, struct err *);

int64_t loop_now(const struct loop *);	/* constant within a turn */
int64_t loop_clock(const struct loop *);	/* reads the clock */
uint64_t loop_nofile(const struct loop *);	/* the former soft limit */

/*
 * Makes orphaned descendants our children, where the system supports that:
 * then true.  From then on the loop reaps every child without a watch, so a
 * child must be watched in the callback that started it.
 */
bool loop_adopt(struct loop *);

enum { LOOP_READ = 1, LOOP_WRITE = 2 };

/*
 * ready is a subset of the wanted events, never 0.  Hangups and errors are
 * reported as readiness: read and write return the reason.  Wanting 0 pauses
 * the watch.  The owner closes the descriptor, but only after fd_stop.
 */
struct fd_watch {
	int fd;
	void (*fn)(void *arg, int ready);
	void *arg;
	size_t slot;			/* private */
};

/* Start watching, change the wanted events, stop. */
void fd_start(struct loop *, struct fd_watch *, int want);
void fd_want(struct loop *, struct fd_watch *, int want);
void fd_stop(struct loop *, struct fd_watch *);

/*
 * fn is called once, in this turn, after the callbacks of all descriptors and
 * before those of timers.  To be started by the callback of a descriptor;
 * starting it again has no effect.
 */
struct loop_after {
	void (*fn)(void *arg);
	void *arg;
	struct loop_after *next, **prev;	/* private */
};

void loop_after_start(struct loop *, struct loop_after *);
void loop_after_stop(struct loop_after *);

/*
 * Fires once, at the earliest after_ms from now and in the next turn.  Timers
 * that are due together fire in the order of their times, then of their
 * starts.
 */
struct timer {
	int64_t at;			/* on the loop's clock; read-only */
	void (*fn)(void *arg);
	void *arg;
	uint64_t seq;			/* private */
	size_t slot;			/* private */
};

/* Starting a running timer moves it. */
void timer_start(struct loop *, struct timer *, int64_t after_ms);
void timer_stop(struct loop *, struct timer *);
/* Starts a timer with this callback, unless it is running. */
void timer_once(struct loop *, struct timer *, int64_t after_ms,
    void (*fn)(void *), void *arg);

/* fn gets the wait status once; -1 if someone else reaped the child. */
struct child {
	pid_t pid;
	void (*fn)(void *arg, int wstatus);
	void *arg;
	struct child *next, **prev;	/* private */
};

/* Start and stop watching; whether a child with that pid is watched. */
void child_start(struct loop *, struct child *);
void child_stop(struct loop *, struct child *);
bool child_watched(const struct loop *, pid_t);

/*
 * child_forget: the loop reaps this child without a callback.  child_reap:
 * reaps forgotten children that have ended, and with give_up stops waiting for
 * the others; returns how many had not ended.  loop_free waits up to a second
 * for them, so they should have been killed.
 */
void child_forget(struct loop *, pid_t);
size_t child_reap(struct loop *, bool give_up);

/*
 * fn is called in the turn after the signal, once for all that arrived
 * together.  Signal watches alone do not keep loop_turn from returning 0.
 */
struct sig_watch {
	int signo;			/* 1 to 63, not SIGCHLD */
	void (*fn)(void *arg);
	void *arg;
	struct sig_watch *next, **prev;	/* private */
	struct sigaction old;		/* private */
};

/* One watch per signal; stopping restores the old disposition. */
int sig_start(struct loop *, struct sig_watch *, struct err *);
void sig_stop(struct loop *, struct sig_watch *);

#endif
