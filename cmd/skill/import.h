/* SPDX-License-Identifier: ISC */
/*
 * import.h: import_.  `waza import`: tasks of other programs' evals, as far as
 * they mean the same here, and a list of everything that was left out.
 */
#ifndef WAZA_IMPORT_H
#define WAZA_IMPORT_H

#include <stddef.h>

#include "base/base.h"
#include "json.h"

struct import {
	struct arena *arena;
	const char *file;		/* that is imported */
	struct json_out out;		/* the list of tasks */
	struct buf text;		/* of that */
	size_t ntasks;			/* written so far */
	size_t ndisabled;		/* of these, without a check */
	struct buf left;		/* lines about what was left out */
	size_t nleft;
	struct str name;		/* of the suite, or empty */
};

/* Lists something as left out, with its place (NULL: the whole file). */
void import_leave(struct import *, const struct json *at, const char *fmt,
    ...) PRINTF(3, 4);

/*
 * A task: begin, then graders, then end.  A task without any grader is written
 * as disabled and listed.
 */
struct import_task {
	struct str id, name;
	struct str prompt;		/* as it is: not a template */
	const struct json *files;	/* {PATH: CONTENT}, or NULL */
	const struct json *at;		/* its place */
	size_t ngraders;
};
void import_begin(struct import *, struct import_task *);
void import_end(struct import *, struct import_task *);

/*
 * Opens a grader's config and closes it again; the strings of graders are
 * written by import_put_str(), because they are templates here.
 */
void import_open(struct import *, struct import_task *, const char *type,
    const struct json *weight);
void import_close(struct import *);
void import_put_str(struct import *, struct str);
/* A member of a config that is a list of one string. */
void import_put_list(struct import *, const char *key, struct str);

/* A pattern that matches this text literally. */
struct str import_literal(struct arena *, struct str);

/*
 * The formats.  Each reads a file and writes its tasks; -1 and *e, with line
 * and column, if it is not such a file.
 */
int import_promptfoo(struct import *, struct str text, struct err *);
int import_inspect(struct import *, struct str text, struct err *);

#endif
