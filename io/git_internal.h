/* SPDX-License-Identifier: ISC */
/*
 * git_internal.h: git_.  Readers of what git prints.  They return 0, or -1 and
 * *e; texts that they keep point into their input.
 */
#ifndef WAZA_GIT_INTERNAL_H
#define WAZA_GIT_INTERNAL_H

#include "io/git.h"

/* config --show-scope -z: adds to g->off those of the repository. */
int git_read_filters(struct git *g, struct str out, struct err *);

/*
 * diff --name-status -z and ls-files -z: adds each to the list of struct
 * git_change.  git_sort_changes: sorts and joins them; returns their number.
 */
int git_read_diff(struct buf *list, struct str out, struct err *);
int git_read_others(struct buf *list, struct str out, struct err *);
size_t git_sort_changes(struct git_change *, size_t n);

/*
 * git_files.c: ls-tree -z -l, into struct git_file and hashes, one a line;
 * and the output of cat-file --batch for these, which sets their texts.
 */
struct git_list {
	struct buf files, names;
};
int git_read_tree(struct git_list *, struct str out,
    const struct git_choice *, struct err *);
int git_read_batch(struct str out, struct git_file *, size_t n, struct err *);

#endif
