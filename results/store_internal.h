/* SPDX-License-Identifier: ISC */
/*
 * store_internal.h: store_.  What the store_*.c files share.
 */
#ifndef WAZA_STORE_INTERNAL_H
#define WAZA_STORE_INTERNAL_H

#include "results/store.h"

struct stat;

/* A directory; the list of all has each one after its parent. */
struct store_dir {
	struct store_dir *next;
	struct store_dir *subs, *next_sub;	/* subdirectories, by name */
	struct store_dir *in;	/* parent; NULL: the root, or it is gone */
	struct store_file *files;		/* by name */
	struct buf path;	/* with its NUL */
	const char *name;	/* the last part of path */
	unsigned depth;
	struct store_stamp stamp;
	int64_t listed_ns;	/* wall clock; 0: never */
	bool gone;		/* removed from its parent */
};

/* store_scan.c: start scanning, -1 and *e on failure; stop and free. */
int store_scan_start(struct store *, struct err *);
void store_scan_stop(struct store *);

/* store_file.c: reads a file; true if it is a results file: sets f->run. */
bool store_load(struct store *, const char *path, struct store_file *f);
/* Frees the cached outcome if it is that of the file; NULL: of any. */
void store_forget(struct store *, const struct store_file *);
/* Whether a file with this time may still be written to by a run. */
bool store_is_recent(int64_t mtime);

#endif
