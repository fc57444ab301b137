/* SPDX-License-Identifier: ISC */
/*
 * history.h: history_.  The default place for results: files below
 * .waza/results of the project or the working directory.
 *
 *	SUITE-2026-11-17T141500.123-run-1795000500-0a1b2c3d.json
 *
 * The name has the suite, the time of the run's start in UTC, and its id.  The
 * directory may come with a foreign repository: links are neither followed nor
 * removed, and only files that waza wrote there are touched.
 */
#ifndef WAZA_HISTORY_H
#define WAZA_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

struct history_file {
	const char *path;
	struct str suite, stamp, run_id;	/* parts of its name */
};

/* The directory below root, which need not exist. */
const char *history_dir(struct arena *, const char *root);

/* Whether it exists, and neither it nor .waza is a link. */
bool history_exists(struct arena *, const char *root);

/*
 * Creates the directory, and in .waza a .gitignore.  -1 and *e when a part of
 * the path is a link or not a directory, or when it cannot be written.
 */
int history_make(struct arena *, const char *root, struct err *);
/* The same for another directory in .waza; NULL and *e. */
const char *history_make_dir(struct arena *, const char *root,
    struct str name, struct err *);

/* A suite's name as part of a file name. */
struct str history_suite(struct arena *, struct str name);

/* Whether it is a time as in the names: 2026-11-17T141500.123. */
bool history_is_stamp(struct str);

/* The path of a new file. */
const char *history_name(struct arena *, const char *dir, struct str suite,
    int64_t started_ns, const char *run_id);

/*
 * The files of the directory, newest first: regular files with such a name.
 * A directory that is missing or a link has none.
 */
struct history_file *history_list(struct arena *, const char *dir, size_t *n);

/* What the first and last bytes of a results file name; empty: not there. */
struct history_head {
	struct str run_id, skill, suite, executor, model;
	struct str source;		/* the path of the suite */
	bool no_skills;
};
/* Reads them; false if there is no regular file. */
bool history_head(struct arena *, const char *path, struct history_head *);

/* The id in the first line of a journal; NULL: none that waza would write. */
const char *history_journal_id(struct arena *, const char *journal);

/*
 * Removes the oldest files of a suite beyond `keep`, with the pages of `waza
 * view` beside them; those of runs that are not finished, that have another
 * link, or that waza did not write stay.
 */
void history_prune(const char *dir, struct str suite, size_t keep);
/* Removes files of that run, except path, in the same way. */
void history_replace(const char *dir, struct str run_id, const char *path);

#endif
