/* SPDX-License-Identifier: ISC */
/*
 * taint.h: taint_.  Finds agents that have seen what grades them.
 *
 * The sealed files of a suite are eval.yaml, the files of its tasks, and those
 * that its graders name: scripts, rubrics, schemas, snapshots.  What the suite
 * itself gives to the agent (inputs, fixtures, skills) is not sealed.
 *
 * Evidence is a tool call that opened a sealed file, or text of one in the
 * result of a tool call or in the answer.  Text that the agent can know from
 * elsewhere does not count: see taint_lines.c.
 */
#ifndef WAZA_TAINT_H
#define WAZA_TAINT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/base.h"

struct answer;
struct spec_suite;
struct taint;

enum {
	TAINT_FILES_MAX = 100000,	/* sealed files that are recognized */
	TAINT_BYTES_MAX = 16 << 20,	/* of those whose lines are known */
	TAINT_GIVEN_FILES = 5000,	/* of inputs and skills, that are */
	TAINT_GIVEN_BYTES = 64 << 20	/* searched for a line */
};

/*
 * Finds the sealed files of a suite, whose inputs are below `fixtures` (NULL:
 * its own directory of that name).  Lives in the arena.
 */
struct taint *taint_open(struct arena *, const struct spec_suite *,
    const char *fixtures);

/* The real paths of the sealed files; the list ends with NULL. */
const char *const *taint_files(const struct taint *);

/*
 * What an agent was given, and what it did with it.  give(arg, ...) is called
 * when a sealed line is met: it names all texts, files and directories that
 * the agent could know.
 */
struct taint_given;
struct taint_trial {
	const struct answer *answer;
	const char *cwd;		/* of the agent; NULL: unknown */
	bool whole_repository;		/* it was given: lines do not
					 * count */
	void (*give)(void *arg, struct taint_given *);
	void *arg;
};
void taint_give_text(struct taint_given *, struct str);
/* sealed: with the sealed files in it, which are left out otherwise. */
void taint_give_path(struct taint_given *, const char *path, bool sealed);

/* The reason why the trial is tainted, in the arena; empty: it is not. */
struct str taint_find(const struct taint *, struct arena *,
    const struct taint_trial *);

#endif
