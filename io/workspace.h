/* SPDX-License-Identifier: ISC */
/*
 * workspace.h: workspace_.  The directory of a trial: created, filled and
 * removed.
 *
 * Paths inside it come from suites and are not trusted: they must be relative
 * and without "..", and nothing is written through a symbolic link.
 *
 * Functions that take a struct err return -1 (or NULL) with it on failure.
 */
#ifndef WAZA_WORKSPACE_H
#define WAZA_WORKSPACE_H

#include <stdbool.h>

#include "base/base.h"

enum { WORKSPACE_FILE_MAX = 256 << 20 };	/* bytes of one input file */

/*
 * The workspaces of a run, or the directories of the agents of sessions, in a
 * directory of their own below TMPDIR or /tmp.
 * Creating and removing directories is slow on some file systems, so a
 * directory that a trial left empty is renamed and used again.  Set the arena
 * and zero the rest; nothing is created before it is needed.
 */
struct workspace_pool {
	struct arena *arena;	/* lives as long as the pool */
	bool keep;		/* workspaces may be kept: never swept */
	char *dir;		/* NULL: not created yet */
	int owner;		/* workspace_claim() of it */
	struct workspace_spare *spare;	/* private, as is the rest */
	struct workspace_spare *unused;
};

/* Creates an empty directory of that name; its path is in the arena. */
char *workspace_take(struct workspace_pool *, struct arena *, struct str name,
    struct err *);

/* Returns a directory to the pool; its contents are removed. */
int workspace_release(struct workspace_pool *, const char *path, struct err *);

/*
 * Whether a directory of a pool is as workspace_take() made it; *st is its
 * state, if there is a directory.
 */
struct stat;
bool workspace_is_fresh(const char *path, struct stat *st);

/*
 * Removes the pool's directory.  With `keep`, workspaces that were not
 * released stay.
 */
int workspace_close(struct workspace_pool *, bool keep, struct err *);

/* Writes a file at a path inside dir and creates missing directories. */
int workspace_put(struct arena *, const char *dir, struct str path,
    struct str content, struct err *);

/*
 * Copies a file, or a directory with its contents, to a path inside dir.  With
 * an empty path the contents of the directory are copied to the top.  Symbolic
 * links and special files are skipped.
 */
int workspace_copy(struct arena *, const char *dir, const char *from,
    struct str path, struct err *);

/*
 * The same for a part of a directory: skip(arg, name, st), unless NULL, leaves
 * an entry out; -1 with ERR_LIMIT if more than max_files or max_bytes are to be
 * copied.  The other two are counted.
 */
struct workspace_part {
	bool (*skip)(void *arg, const char *name, const struct stat *);
	void *arg;
	size_t max_files, max_bytes, files, bytes;
};
int workspace_copy_part(struct arena *, const char *dir, const char *from,
    struct str path, struct workspace_part *, struct err *);

/*
 * Creates the directory at a path inside dir and those above it.  1: it is
 * new; 0: it exists already; -1: it cannot be created, or is not a directory.
 */
int workspace_make_dir(struct arena *, const char *dir, struct str path,
    struct err *);

/*
 * Removes what is at a path inside dir, with its contents; with `empty` only
 * an empty directory.  Nothing there, or a link on the way: no effect.
 */
void workspace_take_out(struct arena *, const char *dir, struct str path,
    bool empty);

/* Whether a path is relative, without "..", and not nested too deeply. */
bool workspace_inside(struct str path);

/* Removes the directory and its contents; links are not followed. */
int workspace_remove(const char *dir, struct err *);

/*
 * workspace_litter.c.  sweep: removes directories of pools below TMPDIR whose
 * processes have died.  claim: marks a directory as used by this process until
 * the returned descriptor is closed; -1: it will not be swept.
 */
#define WORKSPACE_PREFIX "waza-"	/* of names; process id and - follow */
void workspace_sweep(void);
int workspace_claim(struct arena *, const char *dir);

/* The directory for temporary files: TMPDIR, or /tmp. */
const char *workspace_tmp(void);

#endif
