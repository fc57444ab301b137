/* SPDX-License-Identifier: ISC */
/*
 * meet.h: meet_.  The place where shards of a run meet: it receives their
 * journals and results files in pieces, keeps them below a directory, and
 * merges them into one results file, which the store (store.h) lists.
 *
 *	DIR/SUITE-STAMP-RUN.json	the merged run, as results/history.c
 *					names it
 *	DIR/.shards/RUN/meet.json	what the run is
 *	DIR/.shards/RUN/K-HASH.json	results file of shard K, and with
 *	... K-HASH.json.journal		the journal; HASH is of its run's id
 *	DIR/.shards/in-ID		a file whose end has not arrived yet
 *
 * A file belongs to a run by its key (merge.h), so shards of another suite,
 * selection or number never mix.  A later run with the same key is a run of
 * its own, if the one before is complete.  The merged
 * file is replaced while files arrive; once all shards have sent their results
 * files, those are removed.  Everything is in files, so that a server that is
 * started again continues.
 *
 * Files are checked and merged by copies of the process (offload.h).
 */
#ifndef WAZA_MEET_H
#define WAZA_MEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "io/loop.h"
#include "io/offload.h"

struct json_out;
struct meet_run;
struct meet_upload;

enum {
	MEET_RUNS_MAX = 1000,		/* not complete, or remembered */
	MEET_PARTS_MAX = 20000,		/* of a run: shards and repetitions */
	MEET_UPLOADS_MAX = 64,		/* files whose end is missing */
	MEET_PART_MAX = 1 << 30,	/* bytes of a file */
	MEET_NAMED_MAX = 20		/* missing shards that are listed */
};
#define MEET_BYTES_MAX (INT64_C(64) << 30)	/* of all of them */

/* Set the first part, zero the rest. */
struct meet {
	struct loop *loop;
	struct procs *procs;
	const char *dir;
	/* the merged file of a run was replaced */
	void (*changed)(void *arg);
	void *arg;
	/* private */
	struct arena arena;
	const char *place;		/* DIR/.shards */
	int lock;			/* of its lock file */
	struct meet_run *runs;
	size_t nruns;
	struct meet_upload *uploads;
	size_t nuploads;
	int64_t bytes;			/* of all parts */
	struct meet_run *merging;	/* NULL: none */
	struct offload merge;
	struct timer timer;
};

/*
 * init reads the runs that are there, without creating anything; -1 and *e: the
 * directory cannot be used.  fini stops everything; no reply follows.
 */
int meet_init(struct meet *, struct err *);
void meet_fini(struct meet *);

enum meet_status {
	MEET_MORE,		/* send the next piece to `id`, at `offset` */
	MEET_STORED,		/* the file is stored */
	MEET_OVER,		/* the run is complete without this file */
	MEET_INVALID,		/* .why: not a file of a shard, or refused */
	MEET_CONFLICT,		/* .why: send it again from `offset` */
	MEET_UNKNOWN,		/* no such id: begin again */
	MEET_LIMIT,		/* .why */
	MEET_BUSY,		/* .why: send it again later */
	MEET_FAILED		/* .why: the disk, or this machine */
};

struct meet_reply {
	enum meet_status status;
	struct str id;		/* for later pieces */
	int64_t offset;		/* bytes of the file that are stored */
	struct str run_id;	/* of the run that it belongs to, or empty */
	int64_t k, n;		/* its shard, or 0 */
	const char *why;
};

/*
 * Receives a piece.  begin: the first one; size is that of the whole file, or
 * 0 if this piece is all of it, or if it is a journal, which grows.  append: a
 * later one, at that offset; bytes that are stored already must be the same.
 * reply() is called once, at once or from the loop, unless meet_forget() is
 * called before.  Returns a handle for that, or NULL if it was called.
 */
typedef void meet_reply_fn(void *arg, const struct meet_reply *);
struct meet_piece {
	struct str text;
	struct str id;		/* append */
	int64_t offset;		/* append */
	int64_t size;		/* begin */
	meet_reply_fn *reply;
	void *arg;
};
struct meet_upload *meet_begin(struct meet *, const struct meet_piece *);
struct meet_upload *meet_append(struct meet *, const struct meet_piece *);
void meet_forget(struct meet_upload *, void *arg);

/* The id of the next run, the newest first: NULL begins, and ends it. */
const char *meet_next(const struct meet *, const char *id);

/*
 * Writes the member "shards" of a run that has met here and is not complete:
 * how many there are, have begun and have ended, the missing ones, and those
 * that were refused.
 */
void meet_put(const struct meet *, struct json_out *, struct str run_id);

#endif
