/* SPDX-License-Identifier: ISC */
/*
 * waza_stream.h: waza_.  Events on stdout, one JSON object a line.
 *
 * They go out at once.  When the reader is slow they wait in a queue, and
 * when many wait, so does the run; but the loop goes on and hears signals.
 * A reader that has gone cancels the run.
 */
#ifndef WAZA_WAZA_STREAM_H
#define WAZA_WAZA_STREAM_H

#include <stdbool.h>
#include <stddef.h>

#include "base.h"
#include "event.h"
#include "loop.h"

struct run;

struct waza_stream {
	struct loop *loop;	/* NULL until there is one */
	struct run *run;	/* the one that goes on, or NULL */
	bool lost;		/* nobody reads any more */
	struct event_sink sink;	/* private, as is the rest */
	struct fd_watch out;
	struct buf queue;
	size_t sent;		/* of it */
	bool held;		/* the run waits for the reader */
};

void waza_stream_start(struct waza_stream *, struct event_bus *);

/*
 * Waits until all is written; not at all after a new signal, and a second
 * at most when there was one already.
 */
void waza_stream_flush(struct waza_stream *, const int *signo);
void waza_stream_end(struct waza_stream *);

#endif
