/* SPDX-License-Identifier: ISC */
/*
 * cmd/workspace.h: cmd_.  The suites that the operands of a command name:
 * files, directories, and names of skills in the workspace (skill/catalog.h).
 */
#ifndef WAZA_CMD_WORKSPACE_H
#define WAZA_CMD_WORKSPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/base.h"

struct catalog;
struct cmd_call;

/* How to search; the zero value is right for commands without settings. */
struct cmd_find {
	const char *config_path, *config_json;	/* options, or NULL */
	bool trust;
	const char *discover;	/* search all of this directory; NULL: no */
	bool strict;		/* every skill found there needs a suite */
};

struct cmd_found {
	struct str name;	/* in the catalog; empty: named by its path */
	const char *path;	/* of the suite */
	dev_t dev;		/* of the file; private */
	ino_t ino;
};

/*
 * The suites of all operands, each once, in order; without operands, the suite
 * in the working directory, else all of the workspace.  An operand that is not
 * a name and does not exist is a path, for the loader to complain about.
 * *skipped is the number of skills without a suite.  -1 with the call's err.
 */
int cmd_find_suites(struct cmd_call *, const struct cmd_find *,
    struct cmd_found **, size_t *n, size_t *skipped);

/*
 * The suite of the call's first operand, as above (default eval.yaml); -1 with
 * the call's err if it names none or several.
 */
int cmd_find_suite(struct cmd_call *, const struct cmd_find *,
    const char **path);

/*
 * The suites of a directory (catalog_list), sorted; an operand that is a file
 * or a name instead is one suite.  -1 with the call's err.
 */
struct field_strs;
int cmd_list_suites(struct cmd_call *, const struct cmd_find *,
    const char *operand, struct field_strs *);

/* Reads the catalog of a directory (NULL: "."); -1 with the call's err. */
int cmd_catalog(struct cmd_call *, const struct cmd_find *, const char *dir,
    struct catalog *);

#endif
