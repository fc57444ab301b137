/* SPDX-License-Identifier: ISC */
/*
 * rpc_stream.h: rpc_stream_.  The events of a run, kept for readers who come
 * late, or come again.
 *
 * Each is formatted once, as a server-sent event whose id is its number, and
 * all of them are one run of bytes, so that a reader gets many at a time.
 * When there are too many bytes the oldest events are dropped: who asks for
 * those gets what there is.  One that is larger than RPC_EVENT_MAX has long
 * texts cut.
 */
#ifndef WAZA_RPC_STREAM_H
#define WAZA_RPC_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "results/event.h"

enum { RPC_EVENT_MAX = 128 << 10 };	/* bytes */

/* Somebody who wants to hear of new events; what they are, it asks then. */
struct rpc_tap {
	void (*fn)(void *arg);
	void (*gone)(void *arg);	/* the stream is about to be freed */
	void *arg;
	struct rpc_tap *next, **prev;	/* private */
};

/* Set max, zero the rest.  With max 0 nothing is kept. */
struct rpc_stream {
	size_t max;		/* bytes */
	const char *id;		/* of the run */
	uint64_t first, next;	/* numbers: of the oldest that is kept, and of
				 * the one to come, from 1 */
	bool over;		/* none will come */
	struct buf text;	/* private from here */
	struct buf ends;	/* size_t: where each ends in the text */
	size_t text_at, end_at;	/* what lies before is dropped */
	struct rpc_tap *taps;
};

void rpc_stream_add(struct rpc_stream *, const struct event *);
void rpc_stream_end(struct rpc_stream *);
void rpc_stream_free(struct rpc_stream *);

/*
 * The events from number *next on, or from the oldest if that is younger: as
 * many as fit into max bytes, but one at least if there is one.  *next is
 * then the number after them.
 */
struct str rpc_stream_get(const struct rpc_stream *, uint64_t *next,
    size_t max);

/* How many bytes those are. */
size_t rpc_stream_bytes(const struct rpc_stream *, uint64_t next);

void rpc_stream_tap(struct rpc_stream *, struct rpc_tap *);
void rpc_stream_untap(struct rpc_tap *);	/* no effect if it is none */

#endif
