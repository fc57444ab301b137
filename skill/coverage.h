/* SPDX-License-Identifier: ISC */
/*
 * coverage.h: coverage_.  Which skills of a project have suites, with how many
 * tasks, trigger tests and kinds of graders.
 *
 * Skills are the SKILL.md and NAME.agent.md files below the usual places; of
 * those with the same name the first counts.  A suite belongs to the skill
 * that its key `skill` names, else to the one with the name of its directory
 * (or of the directory above, if that is "evals" or "tests").
 */
#ifndef WAZA_COVERAGE_H
#define WAZA_COVERAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"
#include "lib/field.h"

struct json_out;

enum {
	COVERAGE_DEPTH = 16,	/* of directories below a place */
	COVERAGE_MAX = 10000,	/* skills; suites */
	COVERAGE_KINDS = 2	/* kinds of graders of a covered skill */
};

enum coverage_level { COVERAGE_NONE, COVERAGE_PARTIAL, COVERAGE_FULL };

struct coverage_skill {
	struct str name;
	const char *file;
	size_t evals;		/* suites */
	size_t patterns;	/* entries of `tasks`, as the original counts */
	size_t tasks, triggers;
	struct field_strs kinds;	/* of suites and tasks, sorted */
	enum coverage_level level;
};

/* Everything lives in the arena. */
struct coverage {
	struct coverage_skill *v;	/* sorted by name */
	size_t n;
	size_t count[COVERAGE_FULL + 1];	/* skills of each level */
	struct field_strs warnings;	/* suites that cannot be read */
};

struct coverage_opts {
	const char *root;
	const char *const *paths;	/* more places of skills and suites, */
	size_t npaths;			/* relative to the root */
	const char *skills, *evals;	/* of the settings, or NULL */
};

/* 0, or -1 and *e: the root is not a directory, or a limit was exceeded. */
int coverage_read(struct arena *, const struct coverage_opts *,
    struct coverage *, struct err *);

double coverage_percent(const struct coverage *);

/* The report as JSON: the original's keys, and more for each skill. */
void coverage_put(struct json_out *, const struct coverage *);
/* As a table of Markdown. */
void coverage_markdown(struct buf *, const struct coverage *);
/* As a picture: an SVG with the percentage. */
void coverage_badge(struct buf *, const struct coverage *);

#endif
