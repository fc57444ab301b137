/* SPDX-License-Identifier: ISC */
/*
 * new_seen.h: new_seen_.  An answer that was seen, as a task whose graders it
 * passes: the author then deletes what other good answers lack.
 */
#ifndef WAZA_NEW_SEEN_H
#define WAZA_NEW_SEEN_H

#include "results/answer.h"

struct new_seen {
	struct str id, prompt;
	struct field_strs tags;
	struct answer answer;		/* with its patch */
};

/* A trial of a task in a results file: the first that passed, else the first
 * with an answer.  task is its id; NULL: the file has only one. */
int new_seen_results(struct arena *, const char *path, const char *task,
    struct new_seen *, struct err *);

/*
 * The events of a session: a file of --transcript-dir, a JSON list, or one
 * event per line as the Copilot CLI writes them.
 */
int new_seen_transcript(struct arena *, const char *path, struct new_seen *,
    struct err *);

/* The task file. */
struct str new_seen_task(struct arena *, const struct new_seen *,
    struct str schemas);

#endif
