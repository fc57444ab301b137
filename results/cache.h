/* SPDX-License-Identifier: ISC */
/*
 * cache.h: cache_.  A directory of entries that outlive a run, one JSON file
 * each, named by a key; and the keys, which are SHA-256 (lib/sha256.h).
 *
 * Any number of processes may use a directory at the same time: a reader sees
 * a whole entry or none, and the last of two writers wins.
 */
#ifndef WAZA_CACHE_H
#define WAZA_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "lib/sha256.h"

struct json;

enum {
	CACHE_KEY = SHA256_HEX,		/* bytes of a key with its NUL */
	CACHE_ENTRY_MAX = 64 << 20	/* bytes of an entry */
};

/* Add a value so that adjacent values cannot be confused; json may be NULL. */
void cache_hash_part(struct sha256 *, struct str);
void cache_hash_int(struct sha256 *, int64_t);
void cache_hash_json(struct sha256 *, const struct json *);

/*
 * Adds the contents of a file; false if it is not a regular file or cannot be
 * read.  Of a directory: all names in it and below, and their contents; links
 * are not followed, their targets are added.  False also if it has too many
 * files to read each time.
 */
bool cache_hash_file(struct sha256 *, const char *path);
bool cache_hash_dir(struct sha256 *, const char *path);

/* The names in a directory, sorted; NULL and errno if it cannot be read. */
char **cache_names(struct arena *, const char *dir, size_t max, size_t *n);

/* Writes a file under a temporary name and renames it; 0, or -1 and *e. */
int cache_write_file(const char *path, struct str, struct err *);

/* Returns an entry in the arena; NULL if it is missing or invalid. */
struct json *cache_get(struct arena *, const char *dir, const char *key);

/*
 * Stores an entry, a JSON object that starts with "waza_cache" and "key";
 * creates the directory.  0, or -1 and *e.
 */
int cache_put(const char *dir, const char *key, struct str entry,
    struct err *);

struct cache_stats {
	size_t entries, others;		/* others: files that are not entries */
	uint64_t bytes;
	int64_t oldest, newest;		/* seconds since 1970; 0: none */
	char other[64];			/* name of one of the others, or "" */
};

/* Counts the entries; a missing directory has none.  0, or -1 and *e. */
int cache_stats(const char *dir, struct cache_stats *, struct err *);

/*
 * Removes the entries, and the directory if it is empty then.  -1 and *e, and
 * nothing is removed, if the directory contains other files.
 */
int cache_clear(const char *dir, struct cache_stats *, struct err *);

#endif
