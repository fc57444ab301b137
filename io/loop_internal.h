/* SPDX-License-Identifier: ISC */
/*
 * loop_internal.h: loop_ child_.  What loop.c and loop_child.c share.
 */
#ifndef WAZA_LOOP_INTERNAL_H
#define WAZA_LOOP_INTERNAL_H

#include <poll.h>

#include "io/loop.h"

enum { LOOP_CHILDREN = 256 };	/* hash buckets */

struct loop {
	int64_t (*clock)(void);
	int64_t now;			/* read after poll */
	struct pollfd *pfd;
	struct fd_watch **w;		/* parallel to pfd */
	uint64_t *last;			/* parallel: turn of its last event */
	size_t n, cap, dead;
	uint64_t turn;
	struct fd_watch quiet;		/* .fd -1: none, or not yet */
	size_t nquiet;
	struct loop_after *after;
	struct timer **heap;
	size_t nheap, heapcap;
	uint64_t seq, fence;		/* timers started; before this turn */
	struct child *children[LOOP_CHILDREN];
	struct child *next_child;
	size_t nchildren;
	bool adopts;
	struct sig_watch *sigs, *next_sig;
	struct fd_watch sigpipe;
	int sigpipe_wr;
	struct sigaction old_chld;
	uint64_t nofile;
	unsigned failures;		/* of poll, one after the other */
};

/*
 * As realloc, for n elements.  On failure buf_room terminates the process with
 * base.c's message.
 */
void *loop_resize(void *, size_t n, size_t size);
void loop_release(void *);		/* as free */

/* After SIGCHLD: reaps the children that have ended and calls their owners. */
void child_reap_all(struct loop *);

#endif
