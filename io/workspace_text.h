/* SPDX-License-Identifier: ISC */
/*
 * workspace_text.h: workspace_.  The contents of files in a scan: copies of
 * them in an unnamed file, and their diffs.
 */
#ifndef WAZA_WORKSPACE_TEXT_H
#define WAZA_WORKSPACE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

/* Set fd to -1 and zero the rest; close fd at the end. */
struct workspace_copies {
	int fd;			/* -1: nothing is copied yet */
	int64_t used;		/* bytes */
};

/* Keeps a text; its offset, or -1 when that failed. */
int64_t workspace_keep(struct workspace_copies *, struct str text);
/* Reads n bytes at an offset into the arena; false: that failed. */
bool workspace_kept(const struct workspace_copies *, struct arena *,
    int64_t off, size_t n, struct str *out);

/*
 * Appends the unified diff of a file, of about `max` bytes; `added` or
 * `deleted` if there is no file on one side.  False: it is binary.
 */
bool workspace_diff(struct buf *, struct str path, bool added, bool deleted,
    struct str before, struct str after, size_t max);

#endif
