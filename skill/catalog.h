/* SPDX-License-Identifier: ISC */
/*
 * catalog.h: catalog_.  The skills and suites of a project.
 *
 * The root is the directory of the project's .waza.yaml, else the directory
 * that was asked for.  If that directory or one of the CATALOG_LEVELS above it
 * contains a SKILL.md, the catalog has only this skill; without one, but with
 * custom agents (NAME.agent.md), it has only these.  Otherwise it has the
 * skills below the usual places (catalog.c lists them) and, where these have
 * none, those in the subdirectories of the root; then the suites below the
 * directory of evals and below tests/ that belong to none of the skills.
 *
 * The suite of a skill is, in this order: evals/NAME/FILE of the root, and
 * evals/FILE, FILE and tests/FILE of the skill's directory, where FILE is
 * `files.evalFile`, eval.yaml or eval.yml; else a suite whose key `skill` names
 * the skill, also FILE of the root.
 *
 * A custom agent counts as a skill whose directory it shares with others; of a
 * SKILL.md and agents in one directory, only the SKILL.md counts.
 *
 * Hidden directories are entered only where they are named; node_modules and
 * vendor never.  Symbolic links are followed, each directory once.
 */
#ifndef WAZA_CATALOG_H
#define WAZA_CATALOG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"

struct config;
struct field_strs;

enum {
	CATALOG_LEVELS = 10,		/* directories above, for a SKILL.md */
	CATALOG_DEPTH = 16,		/* of directories below a place */
	CATALOG_DIRS_MAX = 100000,	/* directories that are read */
	CATALOG_MAX = 10000		/* entries */
};

struct catalog_opts {
	const char *dir;		/* NULL: "." */
	const struct config *config;	/* of dir; NULL: the defaults */
	bool walk;			/* all of dir is the place of skills
					 * and suites (--discover) */
};

/* A skill, a suite, or a skill and its suite. */
struct catalog_entry {
	struct str name;		/* unique: in the front matter, else of
					 * the directory */
	const char *skill_dir;		/* NULL: only a suite */
	const char *skill_file;		/* its SKILL.md or NAME.agent.md,
					 * or NULL */
	const char *eval;		/* its suite, or NULL */
	const char *foreign;		/* without one: evals/evals.json in the
					 * skill's directory, or NULL */
};

/* Everything lives in the arena of catalog_read(). */
struct catalog {
	const char *root;
	bool single;			/* the one skill around dir */
	const char *skills, *evals, *results;	/* directories, which need not
						 * exist */
	bool results_set;		/* by paths.results */
	bool places_set;		/* by paths.skills or paths.evals */
	struct str eval_file, task_glob, task_suffix;
	struct catalog_entry *v;	/* skills first, in order of places */
	size_t n, nskills, nevals;	/* all; with a skill; with a suite */
	size_t nforeign;		/* with evals.json instead */
	struct str searched;		/* the places, for messages */
};

/* 0, or -1 and *e: a limit was exceeded, or dir cannot be read. */
int catalog_read(struct arena *, const struct catalog_opts *,
    struct catalog *, struct err *);

/* The entry of that name, which may be that of a skill's directory, or NULL. */
const struct catalog_entry *catalog_find(const struct catalog *,
    struct str name);

/* The suite of an entry, or its evals.json, or NULL. */
const char *catalog_suite(const struct catalog_entry *);

/*
 * The suites of a directory, sorted: those of its catalog, if the directory is
 * the root, and all others below it (spec_find()), unless the project's
 * settings name the places of skills or suites.  -1 and *e: dir cannot be read.
 */
int catalog_list(struct arena *, const struct catalog *, const char *dir,
    struct field_strs *, struct err *);

/* Whether an operand is a path: it has a slash or an ending, or exists. */
bool catalog_is_path(const char *operand);

/*
 * Each sets *e and returns -1.  not_found: nothing has that name; near names
 * are listed.  no_eval: the skill has no suite.
 */
int catalog_not_found(const struct catalog *, struct str name, struct err *);
int catalog_no_eval(const struct catalog *, const struct catalog_entry *,
    struct err *);

#endif
