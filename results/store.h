/* SPDX-License-Identifier: ISC */
/*
 * store.h: store_.  The results files below a directory, each in a few
 * numbers, kept up to date while the loop turns; whole files are read when
 * they are asked for.
 *
 * Files of ours and of microsoft/waza alike.  What is no results file, is not
 * whole, or is too large, is passed over and counted; symbolic links as well.
 * A file is found by its id only, so that no name from outside ever becomes a
 * path.  Looking goes on in slices, of which each ends after a few
 * milliseconds or one file, and takes a small share of all time.
 */
#ifndef WAZA_STORE_H
#define WAZA_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "io/loop.h"

struct json_out;
struct outcome;
struct store_dir;

enum {
	STORE_DEPTH = 16,		/* directories within directories */
	STORE_FILES = 50000,		/* files looked at */
	STORE_DIRS = 10000,
	STORE_FILE_MAX = 64 << 20	/* bytes of one */
};

enum store_state {
	STORE_PENDING, STORE_RUNNING, STORE_COMPLETED, STORE_FAILED,
	STORE_CANCELLED, STORE_STATE__MAX
};
const char *store_state_name(enum store_state);	/* "completed" */

/* A run in a few numbers: one that goes on, or one that a file tells of. */
struct store_run {
	struct str id, name, skill, path, executor, model, judge;
	bool live;		/* of this server, not from a file */
	enum store_state state;
	int ok;			/* whether all is well; -1: not known yet */
	int64_t started_ns;	/* wall clock */
	int64_t duration_ms;
	size_t tasks, done;	/* how far it is */
	bool summed;		/* the rest of the numbers are there */
	size_t total, passed, failed, errors, skipped;	/* failed has errors */
	double rate, score;
	int64_t sum_ms;
	int64_t tokens;		/* -1: not known */
	double cost;		/* dollars; below 0: not known */
};

/* Members of an object: what lists say of a run. */
void store_put(struct json_out *, const struct store_run *);
/* One more: "tasks", each in a few numbers. */
void store_put_tasks(struct json_out *, const struct outcome *);

/* What a list is to have; empty members: all. */
struct store_query {
	struct str q;		/* in a name, an id ..., in any case */
	struct str suite;	/* its name */
	int state;		/* enum store_state; -1: any */
};
bool store_matches(const struct store_run *, const struct store_query *);

struct store_stamp {		/* of a file, to see that it changed */
	int64_t mtime, ctime, size;	/* nanoseconds, bytes */
	uint64_t ino;
};
bool store_same(const struct store_stamp *, const struct store_stamp *);

/* A file that is known; only those that are results are listed. */
struct store_file {
	struct store_run run;
	struct str long_id;	/* by which only it is found */
	struct store_stamp stamp;	/* as it was read */
	unsigned turn;		/* for who uses it, */
	bool own;		/* as well */
	/* private */
	struct store_file *next;	/* in its directory, by name */
	struct buf text;	/* its strings */
	struct str name, eval_id;
	bool read;		/* it has been looked into */
	bool results;		/* it is a results file */
};

/* Set loop, dir and the hooks, zero the rest. */
struct store {
	struct loop *loop;
	const char *dir;
	/* one that is new or has changed; not while the first look is taken */
	void (*changed)(void *arg, const struct store_run *);
	/* whether a file is not worth reading yet; or NULL */
	bool (*later)(void *arg, const char *path);
	void *arg;
	/* read-only: */
	size_t nresults, nskipped;	/* results files, and others */
	bool scanned;		/* all of it has been seen once */
	bool full;		/* there is more than is looked at */
	/* private: */
	struct arena arena, scratch;
	struct store_dir *dirs, **last_dir, *spare_dir;
	struct store_file *spare;
	size_t ndirs, nfiles;
	struct store_dir *at;	/* where the look is; NULL: it is over */
	struct store_file **file_at;
	struct timer timer;
	int64_t used_ns;	/* by this look so far */
	int64_t asked;		/* when somebody last did */
	bool idle;		/* that was long ago */
	struct buf by_time, by_id;	/* struct store_file * */
	bool stale;		/* these two are to be made anew */
	const struct store_file *held;	/* whose outcome is kept */
	struct store_stamp held_stamp;
	struct arena held_arena;
	struct outcome *held_outcome;
	struct timer drop;
};

/* -1 when it is no directory that can be read. */
int store_init(struct store *, struct err *);
void store_fini(struct store *);

/*
 * Somebody wants to know: it is looked more often then.  The next two do it
 * themselves.
 */
void store_wake(struct store *);

/*
 * All of them, the youngest first; they and what they point to are good until
 * the loop turns.
 */
struct store_file **store_list(struct store *, size_t *n);

/* By the id of its run, or NULL. */
struct store_file *store_find(struct store *, struct str id);
/* All those of a run. */
struct store_file **store_group(struct store *, struct str id, size_t *n);

/*
 * The file as it is now.  NULL and *e: it is gone, or no results file any
 * more.  It is in the arena, or good until the next such call, or the loop
 * turns.
 */
struct outcome *store_read(struct store *, const struct store_file *,
    struct arena *, struct err *);
struct outcome *store_outcome(struct store *, const struct store_file *,
    struct err *);

/* The same as bytes: a descriptor, and how many there are; -1. */
int store_open(struct store *, const struct store_file *, int64_t *size,
    struct err *);

#endif
