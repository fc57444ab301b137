/* SPDX-License-Identifier: ISC */
/*
 * workspace_look.h: workspace_.  What has changed in a directory: a first look
 * at the files in it, and a second one when somebody has worked there.
 *
 * Each is done in steps of a few milliseconds, so that a loop goes on in
 * between.  Directories called .git are passed over, links are not followed.
 * Files are known by size and times; those that are looked into (they match
 * the patterns) are copied, into a file that has no name, so that it can be
 * told what has changed in them.  All is limited, and `cut` says so.
 */
#ifndef WAZA_WORKSPACE_LOOK_H
#define WAZA_WORKSPACE_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "lib/field.h"

enum {
	WORKSPACE_LOOK_FILES = 20000,	/* that are looked into */
	WORKSPACE_LOOK_OTHERS = 50000,	/* that are not */
	WORKSPACE_LOOK_NAMES = 100000,	/* directories included: the end */
	WORKSPACE_LOOK_FILE = 1 << 20,	/* bytes of one that is copied */
	WORKSPACE_LOOK_COPY = 64 << 20,	/* bytes of all copies */
	WORKSPACE_LOOK_DIFF = 256 << 10,	/* bytes of a diff */
	WORKSPACE_LOOK_DIFFS = 4 << 20,	/* bytes of all diffs, about */
	WORKSPACE_LOOK_CHANGES = 2000	/* that are told */
};

enum workspace_how { WORKSPACE_ADDED, WORKSPACE_MODIFIED, WORKSPACE_DELETED };

struct workspace_change {
	struct str path;		/* in the directory */
	enum workspace_how how;
	bool excluded;			/* the patterns leave it out */
	struct str diff;		/* p NULL: there is none, */
	const char *why;		/* and this is why */
};

struct workspace_look {
	struct str *files;		/* those that match, sorted */
	size_t nfiles;
	struct workspace_change *changes;	/* after the second look */
	size_t nchanges;
	const char *cut;		/* what was left out, or NULL */
	struct workspace_look_state *state;	/* private */
};

/*
 * Patterns are those of glob_path; no `include` is all.  What they and the
 * path point to has to live as long.
 */
struct workspace_look *workspace_look_new(const char *dir,
    const struct field_strs *include, const struct field_strs *exclude);

/* Goes on for so long; true: this look is done. */
bool workspace_look_step(struct workspace_look *, int64_t ms);

/* The first is done; the next steps are those of the second. */
void workspace_look_again(struct workspace_look *);

void workspace_look_free(struct workspace_look *);

#endif
