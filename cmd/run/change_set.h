/* SPDX-License-Identifier: ISC */
/*
 * cmd/run/change_set.h: cmd_change_.  The files of a git repository that
 * differ from a commit, found by the paths that suites use for them.
 * Everything lives in the arena.
 */
#ifndef WAZA_CMD_CHANGE_SET_H
#define WAZA_CMD_CHANGE_SET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"
#include "io/git.h"

enum { CMD_CHANGE_DIRS = 16 };	/* resolved directories that are remembered */

struct cmd_changes {
	struct git git;
	const char *ref;	/* to compare with, as people name it */
	struct str commit;
	struct git_change *v;	/* by path */
	size_t n;
	struct str *old;	/* their texts, once they were read; or NULL */
	struct {
		struct str name;
		const char *real;
	} dirs[CMD_CHANGE_DIRS];	/* private */
	size_t next_dir;
	struct arena scratch;
};

/*
 * Compares the repository around dir with a revision; "" is the branch point
 * (git_branch_point).  0, or -1 and *e.
 */
int cmd_changes_open(struct cmd_changes *, struct arena *, const char *dir,
    const char *ref, struct err *);

/* Frees scratch memory; the changes stay valid. */
void cmd_changes_close(struct cmd_changes *);

/* "main (1a2b3c4d5e6f)", for messages. */
struct str cmd_changes_since(const struct cmd_changes *);

/*
 * The path below the top of the repository, its directory resolved; "" is the
 * top itself.  False: it is elsewhere.
 */
bool cmd_changes_locate(struct cmd_changes *, const char *path,
    struct str *below);

/*
 * The first change at the path or of a submodule around it, with `tree` also
 * below it; NULL: there is none.  *all is the number of changes there, which
 * follow it.
 */
const struct git_change *cmd_changes_at(const struct cmd_changes *,
    struct str below, bool tree, size_t *all);

/* The same for a path as a suite uses it; links are followed as well. */
const struct git_change *cmd_changes_find(struct cmd_changes *,
    const char *path, bool tree, size_t *all);

/*
 * The text of a changed file in the commit, at most CMD_CHANGE_OLD bytes;
 * text.p is NULL if it has none.  -1 and *e.
 */
enum { CMD_CHANGE_OLD = 16 << 20 };
int cmd_changes_old(struct cmd_changes *, const struct git_change *,
    struct str *text, struct err *);

/* "a/b.txt changed", "... is new", "... was deleted". */
const char *cmd_change_words(struct arena *, const struct git_change *);

#endif
