/* SPDX-License-Identifier: ISC */
/*
 * merge.h: merge_.  Joins the results of shards into those of one run.
 *
 * Inputs are results files and journals of shards, also of shards that still
 * run or have died.  They describe themselves (results/result_shard.c), so the
 * suite is not needed.  Each trial is copied once to temporary files without a
 * name; in memory a trial is one bit, and nothing grows with answers.
 *
 *	merge_new, merge_add for each operand, merge_finish,
 *	then for each group: result_write(merge_results()), merge_report(),
 *	merge_free.
 *
 * A collector (a server, a scheduler) can add each file when it arrives and
 * call merge_finish() once.
 */
#ifndef WAZA_MERGE_H
#define WAZA_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "lib/sha256.h"

struct merge;
struct merge_group;
struct result_run;

enum {
	MERGE_FILES_MAX = 1000000,	/* of all operands */
	MERGE_DEPTH_MAX = 16,		/* of directories */
	MERGE_TRIALS_MAX = 1 << 27,	/* of a run: tasks x trials */
	MERGE_NAMED_MAX = 20		/* missing parts that are named */
};

struct merge_opts {
	bool allow_missing;
	bool prefer_first;	/* of a trial that two shards did, the one that
				 * ended first; else the one that ended last */
};

struct merge *merge_new(struct arena *, const struct merge_opts *);

/*
 * Adds a results file with the journals beside it, a journal, or all of them
 * below a directory.  Hidden directories, links, other files and results of
 * whole runs are skipped there; as operands they are errors.  0, or -1 and *e:
 * then everything that was added is void.
 */
int merge_add(struct merge *, const char *path, struct err *);

/*
 * After the last operand: computes all statistics.  Without allow_missing, -1
 * if something is missing: merge_missing() lists it, one part a line.
 */
int merge_finish(struct merge *, struct err *);
struct str merge_missing(const struct merge *);

/*
 * The merged runs: one for each suite and cell, in order of their first file.
 * The results are for result_write() only: their tasks are not in memory.
 */
size_t merge_count(const struct merge *);
struct merge_group *merge_at(struct merge *, size_t i);
struct result_run *merge_results(struct merge_group *);

/*
 * The same run for reports, in memory.  Unless `all`, tasks that passed are
 * left out if there are many, and only counted (result_run.left_out).
 */
struct result_run *merge_report(struct merge_group *, bool all);

/*
 * What a results file or journal describes, and its key: shards belong to the
 * same run if their keys are equal.
 */
struct merge_shard {
	char key[SHA256_HEX];
	int64_t k, n;
	struct str run_id, suite;
	int64_t started_ns, ended_ns;	/* ended: its last trial, or 0 */
	bool journal;
};
/* Reads the whole file, in a merge of its own.  -1 and *e: not of a shard. */
int merge_describe(struct arena *, const char *path, struct merge_shard *,
    struct err *);

/* Lines of journals that waza did not write. */
size_t merge_bad_lines(const struct merge *);

/* Removes the temporary files; the runs can no longer be used. */
void merge_free(struct merge *);

#endif
