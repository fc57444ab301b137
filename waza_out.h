/* SPDX-License-Identifier: ISC */
/*
 * waza_out.h: waza_.  stdout, while a loop goes on.
 *
 * What is put there goes out at once.  When the reader is slow it waits in a
 * queue, and when much waits, so should whoever puts it there; but the loop
 * goes on and hears signals.
 */
#ifndef WAZA_WAZA_OUT_H
#define WAZA_WAZA_OUT_H

#include <stdbool.h>
#include <stddef.h>

#include "base.h"
#include "loop.h"

struct waza_out {
	struct loop *loop;	/* NULL until there is one */
	void (*hold)(void *arg, bool on);	/* much waits; or NULL */
	void (*gone)(void *arg);	/* nobody reads any more; or NULL */
	void *arg;
	bool lost;		/* the same */
	int sys;		/* errno of why it is lost */
	struct fd_watch w;	/* private, as is the rest */
	struct buf queue;
	size_t sent;		/* of it */
	bool held;
};

void waza_out_put(struct waza_out *, struct str);

/*
 * Waits until all is written; not at all after a new signal, and a second
 * at most when there was one already.
 */
void waza_out_flush(struct waza_out *, const int *signo);
void waza_out_end(struct waza_out *);

#endif
