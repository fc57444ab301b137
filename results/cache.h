/* SPDX-License-Identifier: ISC */
/*
 * cache.h: cache_.  What is worth keeping from one run to the next: a
 * directory of entries, one JSON file each, named by a key; and the keys,
 * which are SHA-256 (FIPS 180-4).
 *
 * Any number of processes may use a directory at the same time: an entry is
 * there whole or not at all, and of two with the same key one stays.
 */
#ifndef WAZA_CACHE_H
#define WAZA_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

struct json;

enum {
	CACHE_KEY = 65,			/* bytes of a key with its NUL */
	CACHE_ENTRY_MAX = 64 << 20	/* bytes; what is larger is not kept */
};

struct cache_hash {
	uint32_t h[8];
	uint64_t n;			/* bytes so far */
	unsigned char block[64];
};

void cache_hash_init(struct cache_hash *);
void cache_hash_put(struct cache_hash *, struct str);
/* With its length before it, so that parts do not run into each other. */
void cache_hash_part(struct cache_hash *, struct str);
void cache_hash_int(struct cache_hash *, int64_t);
void cache_hash_json(struct cache_hash *, const struct json *);	/* or NULL */
void cache_hash_end(struct cache_hash *, char hex[CACHE_KEY]);

/*
 * What a file has, all of it; false when it is none or cannot be read.  Of a
 * directory: the names in it and below, and what those files have.  Links in
 * it are told apart by where they lead, and not followed; false also where
 * there is more in it than one would want to read each time.
 */
bool cache_hash_file(struct cache_hash *, const char *path);
bool cache_hash_dir(struct cache_hash *, const char *path);

/* An entry, or NULL when there is none, or what is there is not one. */
struct json *cache_get(struct arena *, const char *dir, const char *key);

/* An object that has "waza_cache" and "key" first; the directory is made. */
int cache_put(const char *dir, const char *key, struct str entry,
    struct err *);

struct cache_stats {
	size_t entries, others;		/* others: files that are not ours */
	uint64_t bytes;
	int64_t oldest, newest;		/* seconds since 1970; 0: none */
	char other[64];			/* the name of one, or empty */
};

/* Of a directory that is not there: nothing, and no error. */
int cache_stats(const char *dir, struct cache_stats *, struct err *);

/*
 * Removes the entries, and the directory itself when that is empty then.  -1
 * and nothing is removed where there is anything else in it.
 */
int cache_clear(const char *dir, struct cache_stats *, struct err *);

#endif
