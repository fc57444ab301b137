/* SPDX-License-Identifier: ISC */
/*
 * suggest.h: suggest_.  `waza suggest`: the tasks that a model suggests,
 * checked before anything is written.
 */
#ifndef WAZA_SUGGEST_H
#define WAZA_SUGGEST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"

struct cmd_call;
struct json;
struct spec_suite;

enum { SUGGEST_MAX = 200 };	/* tasks, and fixtures */

struct suggest_file {
	struct str path;		/* relative to the suite */
	struct str content;
	struct str id;			/* of a task */
	struct str rationale;
	double confidence;		/* negative: not given */
};

struct suggest {
	struct cmd_call *call;
	const char *root;		/* of the project */
	struct str skill;		/* its name */
	struct str eval_file;		/* name of the suite's file */
	struct str eval_yaml;		/* a suite for the tasks */
	struct suggest_file *tasks, *fixtures;
	size_t ntasks, nfixtures;
	struct buf problems;		/* of the reply, one per line */
};

/*
 * Reads the object in a model's answer into s and loads its tasks as a suite,
 * in a temporary directory.  Problems are collected; -1 and the call's err if
 * the check itself failed.
 */
int suggest_read(struct suggest *, const struct json *reply);

/* Prints the suggestion as YAML or JSON; the exit status. */
int suggest_show(struct suggest *, bool json);

/*
 * Writes the files into a directory.  A suite that exists is kept; an existing
 * task, id or fixture is an error with a diff, unless force.  The exit status.
 */
int suggest_apply(struct suggest *, const char *dir, bool force, bool json);

#endif
