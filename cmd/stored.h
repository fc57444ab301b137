/* SPDX-License-Identifier: ISC */
/*
 * cmd/stored.h: cmd_.  The results files that `waza run` has written: those of
 * --output-dir below the results directory of the workspace, and those in the
 * default place, .waza/results.
 */
#ifndef WAZA_CMD_STORED_H
#define WAZA_CMD_STORED_H

#include <stddef.h>

#include "base/base.h"

struct cmd_call;

/* The directory .waza/results of the project; -1 with the call's err. */
int cmd_stored_dir(struct cmd_call *, const char **dir);

/*
 * The results file that a word names: a path, or NAME for the newest results
 * of a skill or suite, NAME~1 for those before, and so on.  NULL with the
 * call's err.
 */
const char *cmd_find_results(struct cmd_call *, const char *word);

/*
 * The newest results file (age 0) of a suite, or the one before it, and so on;
 * an empty name: of any suite.  NULL with the call's err.
 */
const char *cmd_latest_results(struct cmd_call *, struct str suite,
    size_t age);

/*
 * Fills paths[0] and paths[1] with the last two results files of one suite, if
 * n is 0, or with the given one and the newest of its suite, if n is 1.  -1
 * with the call's err.
 */
int cmd_last_two(struct cmd_call *, const char *paths[2], size_t n);

#endif
