/* SPDX-License-Identifier: ISC */
/*
 * rpc_stream.h: rpc_stream_.  The events of a run, kept for readers that come
 * late or come back.
 *
 * Each event is formatted once, as a server-sent event whose id is its number.
 * All of them are one piece of text, so that a reader gets many at a time.  If
 * there are too many bytes, the oldest events are dropped: a reader that asks
 * for them gets the oldest ones left.  Long strings are cut in an event that is
 * larger than RPC_EVENT_MAX.
 */
#ifndef WAZA_RPC_STREAM_H
#define WAZA_RPC_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "results/event.h"

enum { RPC_EVENT_MAX = 128 << 10 };	/* bytes */

/* A listener: it is called for new events and gets them itself. */
struct rpc_tap {
	void (*fn)(void *arg);
	void (*gone)(void *arg);	/* the stream is being freed */
	void *arg;
	struct rpc_tap *next, **prev;	/* private */
};

/* Set max and id, zero the rest.  With max 0 nothing is kept. */
struct rpc_stream {
	size_t max;		/* bytes */
	const char *id;		/* of the run */
	uint64_t first, next;	/* numbers of the oldest event that is kept and
				 * of the next one, from 1 */
	bool over;		/* no more events */
	struct buf text;	/* private from here */
	struct buf ends;	/* size_t: the end of each in the text */
	size_t text_at, end_at;	/* everything before is dropped */
	struct rpc_tap *taps;
};

/*
 * add appends the next event; end marks the stream as over; both call the
 * listeners.  free drops all events and detaches the listeners with gone().
 */
void rpc_stream_add(struct rpc_stream *, const struct event *);
void rpc_stream_end(struct rpc_stream *);
void rpc_stream_free(struct rpc_stream *);

/*
 * get: the events from number *next on (or from the oldest, if that is later),
 * as many as fit into max bytes, but at least one if there is one; *next
 * becomes the number after them.  bytes: the size of all of them.
 */
struct str rpc_stream_get(const struct rpc_stream *, uint64_t *next,
    size_t max);
size_t rpc_stream_bytes(const struct rpc_stream *, uint64_t next);

/* Attaches and detaches a listener; detaching twice has no effect. */
void rpc_stream_tap(struct rpc_stream *, struct rpc_tap *);
void rpc_stream_untap(struct rpc_tap *);

#endif
