/* SPDX-License-Identifier: ISC */
/*
 * offload.h: offload_.  Long computations, done by a copy of this process while
 * the loop continues.
 *
 * The copy sees the memory as it was when it started; only the bytes that it
 * returns come back.  Few copies run at the same time, because each takes
 * memory and a processor; the others wait.  They also wait while the system is
 * short of processes, memory or descriptors.
 *
 * A struct offload lives inside its owner and must not move until done().
 */
#ifndef WAZA_OFFLOAD_H
#define WAZA_OFFLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "io/loop.h"
#include "io/proc.h"

enum {
	OFFLOAD_MAX = 4,		/* copies at the same time */
	OFFLOAD_SECONDS = 300,		/* of processor time */
	OFFLOAD_WAIT_MS = 30000,	/* for what the system is short of */
	OFFLOAD_OUT_MAX = 256 << 20	/* bytes of a result */
};

/* Set the first three members; the others must be zero. */
struct offload {
	/* Runs in the copy; must not use the loop or its descriptors. */
	void (*work)(void *arg, struct buf *out);
	/* Called once, from the loop or from offload_cancel(). */
	void (*done)(void *arg);
	void *arg;
	struct str out;			/* in done(): the result, and */
	char error[512];		/* why there is none, or "" */
	int64_t duration_ms;		/* of the computation */
	bool cancelled;
	struct procs *procs;		/* the rest is private */
	struct proc proc;
	struct offload *next, **prev;
	struct procs_wait room;
	struct timer failed;
	int64_t since;
};

/* Starts the computation, or lets it wait; done() follows. */
void offload_start(struct procs *, struct offload *);

/* Ends it at once; done() is called with .cancelled, soon or immediately. */
void offload_cancel(struct offload *);

/* Forgets it; done() is not called.  For a loop that has failed. */
void offload_drop(struct offload *);

#endif
