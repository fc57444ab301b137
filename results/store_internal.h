/* SPDX-License-Identifier: ISC */
/*
 * store_internal.h: store_.  What the store_*.c files share.
 */
#ifndef WAZA_STORE_INTERNAL_H
#define WAZA_STORE_INTERNAL_H

#include "results/store.h"

struct stat;

/* A directory; all of them are in one list, each after the one it is in. */
struct store_dir {
	struct store_dir *next;
	struct store_dir *subs, *next_sub;	/* in it, by name */
	struct store_dir *in;	/* NULL: it is the first, or gone */
	struct store_file *files;		/* by name */
	struct buf path;	/* with its NUL */
	const char *name;	/* the end of it */
	unsigned depth;
	struct store_stamp stamp;
	int64_t listed_ns;	/* wall clock; 0: never */
	bool gone;		/* it is in no directory any more */
};

int store_scan_start(struct store *, struct err *);
void store_scan_stop(struct store *);

/* Reads the file anew; true: it is a results file, and run is set. */
bool store_load(struct store *, const char *path, struct store_file *);
void store_forget(struct store *, const struct store_file *);	/* its tree */
void store_stamp(struct store_stamp *, const struct stat *);
bool store_still(int64_t mtime);	/* it may still be written to */

#endif
