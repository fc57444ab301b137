/* SPDX-License-Identifier: ISC */
/*
 * meet_internal.h: meet_.  What the meet_*.c files share.
 */
#ifndef WAZA_MEET_INTERNAL_H
#define WAZA_MEET_INTERNAL_H

#include "lib/sha256.h"
#include "results/merge/merge.h"
#include "results/meet/meet.h"

enum { MEET_HASH = 17 };	/* hexadecimal digits of a part, and NUL */

/* The files of one run of a shard. */
struct meet_part {
	int64_t k;
	char hash[MEET_HASH];	/* of the run's id */
	int64_t journal;	/* bytes; -1: none */
	int64_t results;	/* bytes; -1: none */
	int64_t started_ns;	/* of the journal; 0: unknown */
	bool refused;		/* the files cannot be merged: removed */
};

struct meet_run {
	struct meet *meet;
	struct meet_run *next, **prev;	/* the newest first */
	struct arena arena;		/* holds the struct, too */
	const char *id, *dir, *file;	/* file: the merged one */
	struct str suite;
	char key[SHA256_HEX];
	int64_t n;			/* shards */
	struct buf parts;		/* struct meet_part */
	struct buf why;			/* lines about refused parts */
	bool complete;			/* all trials are there */
	bool closed;			/* ... and the parts were removed */
	int64_t ended_ns;		/* of the last trial, once complete */
	bool dirty;			/* a part has changed since the merge */
	int64_t due;			/* time of the next merge */
	int64_t fresh;			/* time of the merged file */
};

/* A file that arrives, until it is checked. */
struct meet_upload {
	struct meet *meet;
	struct meet_upload *next, **prev;
	struct arena arena;		/* holds the struct, too */
	char id[33];
	const char *path;
	int64_t size, got;
	int64_t touched;		/* by the loop */
	bool journal;
	bool checking;
	struct offload check;
	meet_reply_fn *reply;		/* or NULL */
	void *arg;
};

/* meet.c */
struct meet_part *meet_parts(const struct meet_run *, size_t *n);
struct meet_part *meet_find_part(const struct meet_run *, int64_t k,
    const char *hash);
/* The newest run with that key, or with that id; or NULL. */
struct meet_run *meet_find_key(const struct meet *, const char *key);
struct meet_run *meet_find_run(const struct meet *, struct str id);
/* Begins a run; NULL and *e. */
struct meet_run *meet_open(struct meet *, const struct merge_shard *,
    struct err *);
/* The path of a part's results file, or journal, in the arena. */
const char *meet_path(struct arena *, const struct meet_run *,
    const struct meet_part *, bool journal);
/* Writes meet.json; -1 and *e. */
int meet_save(const struct meet_run *, struct err *);

/* meet_merge.c */
/* A part has changed: the run is merged soon. */
void meet_touch(struct meet_run *);
/* Removes the parts of a run that is complete. */
void meet_close(struct meet_run *);
void meet_remove_part(struct meet_run *, struct meet_part *);

/* meet_receive.c: removes an upload with its file. */
void meet_drop(struct meet_upload *);

#endif
