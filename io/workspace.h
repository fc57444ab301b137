/* SPDX-License-Identifier: ISC */
/*
 * workspace.h: workspace_.  A trial's own directory: made, filled, removed.
 *
 * Paths inside it come from suites and are not trusted: they are relative,
 * without "..", and nothing is written through a symbolic link.
 */
#ifndef WAZA_WORKSPACE_H
#define WAZA_WORKSPACE_H

#include <stdbool.h>

#include "base/base.h"

enum { WORKSPACE_FILE_MAX = 256 << 20 };	/* bytes of one input file */

/*
 * The workspaces of a run, in a directory of their own below TMPDIR or /tmp.
 * Making and removing directories is slow on some filesystems, so one that a
 * trial left empty serves again, under another name.  The zero value but for
 * the arena is valid, and makes nothing before it is needed.
 */
struct workspace_pool {
	struct arena *arena;	/* lives as long as the pool */
	char *dir;		/* NULL: not made yet */
	struct workspace_spare *spare;	/* private, as is the rest */
	struct workspace_spare *unused;
};

/* An empty directory of that name in the pool's; its path, or NULL. */
char *workspace_take(struct workspace_pool *, struct arena *, struct str name,
    struct err *);

/* Takes it back, with whatever is in it. */
int workspace_give(struct workspace_pool *, const char *path, struct err *);

/* Removes all there is, but for what was kept from workspace_give. */
int workspace_close(struct workspace_pool *, bool keep, struct err *);

/* Writes a file at a path inside, with the directories that leads through. */
int workspace_put(struct arena *, const char *dir, struct str path,
    struct str content, struct err *);

/*
 * Copies a file, or a directory with all that is in it, to a path inside
 * (empty: what is in the directory goes to the top).  Symbolic links and
 * special files are left out.
 */
int workspace_copy(struct arena *, const char *dir, const char *from,
    struct str path, struct err *);

/* Whether the path stays inside, by its letters. */
bool workspace_inside(struct str path);

/* Removes the directory and everything in it, following no link. */
int workspace_remove(const char *dir, struct err *);

#endif
