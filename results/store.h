/* SPDX-License-Identifier: ISC */
/*
 * store.h: store_.  The results files below a directory: a summary of each,
 * kept up to date while the loop turns; whole files are read on request.
 *
 * Files of microsoft/waza are read as well as ours.  Files that are not
 * results, incomplete or too large, and symbolic links, are counted and
 * skipped.  Files are found by id only, so that a name from outside never
 * becomes a path.  The scan runs in slices that end after a few milliseconds
 * or one file, and takes a small share of the time.
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
	STORE_DEPTH = 16,		/* nesting of directories */
	STORE_FILES = 200000,		/* files scanned */
	STORE_DIRS = 10000,
	STORE_FILE_MAX = 64 << 20,	/* bytes of a file */
	STORE_TEXT_MAX = 1000		/* bytes of a name in a summary */
};

enum store_state {
	STORE_PENDING, STORE_RUNNING, STORE_COMPLETED, STORE_FAILED,
	STORE_CANCELLED, STORE_STATE__MAX
};
/* "completed" and so on. */
const char *store_state_name(enum store_state);

/* The summary of a run: a running one, or one from a file. */
struct store_run {
	struct str id, name, skill, path, executor, model, judge;
	bool live;		/* started by this server */
	enum store_state state;
	int ok;			/* 1 success, 0 failure, -1 not known yet */
	int64_t started_ns;	/* wall clock */
	int64_t duration_ms;
	size_t tasks, done;	/* progress */
	bool summed;		/* the following numbers are set */
	size_t total, passed, skipped;
	size_t failed, errors;	/* failed includes errors */
	double rate, score;
	int64_t sum_ms;
	int64_t tokens;		/* -1: not known */
	double cost;		/* dollars; below 0: not known */
};

/* Writes the summary as members of an object. */
void store_put(struct json_out *, const struct store_run *);
/* Writes the numbers of its tasks as members, up to "durationMs". */
void store_put_counts(struct json_out *, const struct store_run *);
/* Writes its member "summary"; null: the numbers are not known. */
void store_put_summary(struct json_out *, const struct store_run *);
/* Writes "passThreshold", "metrics" and "triggers", if the file has them. */
void store_put_reasons(struct json_out *, const struct outcome *);
/* Writes the member "tasks", with a summary of each task. */
void store_put_tasks(struct json_out *, const struct outcome *);

/* A filter; empty members match everything. */
struct store_query {
	struct str q;		/* part of a name, id ...; case-insensitive */
	struct str suite;	/* exact name of the suite */
	int state;		/* enum store_state; -1: any */
};
/* Whether the filter selects the run. */
bool store_matches(const struct store_run *, const struct store_query *);

struct stat;
struct store_stamp {		/* of a file, to detect changes */
	int64_t mtime, ctime, size;	/* nanoseconds, bytes */
	uint64_t ino;
};
/* Whether the file has not changed. */
bool store_same(const struct store_stamp *, const struct store_stamp *);
/* The stamp of a file with this status. */
void store_stamp(struct store_stamp *, const struct stat *);

/* A file of the directory; only results files are listed. */
struct store_file {
	struct store_run run;
	struct str long_id;	/* unique, even among copies of a run */
	struct store_stamp stamp;	/* as it was read */
	unsigned turn;		/* free for the caller */
	bool own;		/* free for the caller */
	/* private */
	struct store_file *next;	/* in its directory, by name */
	struct buf text;	/* its strings */
	struct str name, eval_id;
	bool read;		/* it was read once */
	bool results;		/* it is a results file */
	bool large;		/* over STORE_FILE_MAX: not read */
};

/* Set loop, dir and the callbacks, zero the rest. */
struct store {
	struct loop *loop;
	const char *dir;
	/* a file is new or has changed; not during the first scan */
	void (*changed)(void *arg, const struct store_run *);
	/* whether to postpone reading a file; or NULL */
	bool (*later)(void *arg, const char *path);
	void *arg;
	bool eager;		/* nothing else needs the loop: do not pause
				 * during the first scan */
	/* read-only: */
	size_t nresults, nskipped;	/* results files, and others */
	size_t nlarge;		/* of the others: over STORE_FILE_MAX */
	bool scanned;		/* the first scan is complete */
	bool full;		/* a limit was reached: files are missing */
	/* private: */
	struct arena arena, scratch;
	struct store_dir *dirs, **last_dir, *spare_dir;
	struct store_file *spare;
	size_t ndirs, nfiles;
	struct store_dir *at;	/* position of the scan; NULL: none runs */
	struct store_file **file_at;
	struct timer timer;
	int64_t used_ns;	/* by this scan so far */
	int64_t asked;		/* time of the last request */
	bool idle;		/* the last request was long ago */
	struct buf by_time, by_id;	/* struct store_file * */
	bool stale;		/* both lists must be rebuilt */
	const struct store_file *held;	/* file whose outcome is cached */
	struct store_stamp held_stamp;
	struct arena held_arena;
	struct outcome *held_outcome;
	struct timer drop;
};

/* Starts scanning; -1 and *e if dir is not a readable directory. */
int store_init(struct store *, struct err *);
/* Stops scanning and frees everything. */
void store_fini(struct store *);

/* Scans more often for a while; store_list and store_find do it, too. */
void store_wake(struct store *);

/* All results files, the latest run first; valid until the loop turns. */
struct store_file **store_list(struct store *, size_t *n);

/* The file with that id, or NULL; valid until the loop turns. */
struct store_file *store_find(struct store *, struct str id);
/* All files of the run with that id; valid until the loop turns. */
struct store_file **store_group(struct store *, struct str id, size_t *n);

/*
 * Read the file as it is now: into the arena, or into memory that is valid
 * until the next such call or the loop turns.  NULL and *e if the file is gone
 * or no longer a results file.
 */
struct outcome *store_read(struct store *, const struct store_file *,
    struct arena *, struct err *);
struct outcome *store_outcome(struct store *, const struct store_file *,
    struct err *);

/*
 * Opens the file: a descriptor for the caller and its size.  -1 and *e if it is
 * gone or no longer a results file.
 */
int store_open(struct store *, const struct store_file *, int64_t *size,
    struct err *);

#endif
