/* SPDX-License-Identifier: ISC */
/*
 * grader_snapshot.h: grader_snapshot_.  Files that say what another file has
 * to be like: where they are, and how they are written anew.
 */
#ifndef WAZA_GRADER_SNAPSHOT_H
#define WAZA_GRADER_SNAPSHOT_H

#include <stdbool.h>

#include "base/base.h"

struct spec_suite;
struct spec_task;

/* What the path of a snapshot is relative to. */
struct grader_home {
	const struct spec_suite *suite;
	const struct spec_task *task;	/* or NULL */
	const char *file;		/* that names it, or NULL */
	struct str context_dir;		/* of the settings, or empty */
};

struct grader_snapshot {
	const char *path;
	const char *roots[2];	/* it is written only below one of these */
	bool exists;
	struct str text;	/* for the caller */
};

/* Where it is, or would be made.  -1: that is not a path. */
int grader_snapshot_find(struct arena *, const struct grader_home *,
    struct str name, struct grader_snapshot *);

/*
 * Replaces the whole file, or makes it, with the directories it is in.  What
 * links lead out of the suite is refused, as is a snapshot that is a link.
 * The message in *e does not begin with the path.
 */
int grader_snapshot_write(struct arena *, const struct grader_snapshot *,
    struct str text, struct err *);

#endif
