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

#include "base.h"

enum { WORKSPACE_FILE_MAX = 256 << 20 };	/* bytes of one input file */

/* A new directory, mode 0700, below TMPDIR or /tmp; NULL on failure. */
char *workspace_make(struct arena *, struct err *);

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
