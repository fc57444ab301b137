/* SPDX-License-Identifier: ISC */
/*
 * scaffold.h: scaffold_.  The texts of new files: skills, suites, tasks,
 * settings.  Pure: texts in, texts out; all live in the arena.
 *
 * A new suite is valid, and passes with the executor mock, which repeats the
 * prompt: its graders look for words of the prompt in the answer, until its
 * author replaces them.
 */
#ifndef WAZA_SCAFFOLD_H
#define WAZA_SCAFFOLD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"
#include "skill/triggers.h"

/* A suite for a skill. */
struct scaffold_suite {
	struct str skill;		/* its name */
	struct str description;		/* of the skill, or empty */
	struct str skill_dir;		/* as the suite names it, or empty */
	struct str executor, model;	/* model may be empty */
	struct str task_glob;
	struct str schemas;		/* directory of JSON Schemas as the
					 * suite names it, or empty */
	bool triggers;			/* it gets trigger tests, too */
};

enum { SCAFFOLD_TASKS = 3 };	/* of a new suite */
struct scaffold_task {
	const char *file;		/* name without its ending */
	const char *label;
	struct str text;
};

struct str scaffold_suite(struct arena *, const struct scaffold_suite *);
/* Two tasks that the skill is for, one that it is not for. */
void scaffold_tasks(struct arena *, const struct scaffold_suite *,
    struct scaffold_task out[SCAFFOLD_TASKS]);
struct str scaffold_triggers(struct arena *, const struct scaffold_suite *);

/*
 * A SKILL.md.  An empty description is replaced by one to be edited, which is
 * complete in form: `waza check` accepts it.
 */
struct str scaffold_skill(struct arena *, struct str name,
    struct str description);
/* "pdf-reader" as "Pdf Reader". */
struct str scaffold_title(struct arena *, struct str name);

/* Appends the line by which editors find a schema, if there is one. */
void scaffold_schema_line(struct buf *, struct str schemas,
    const char *which);

/*
 * Whether a name can be that of a new skill; -1 and *e, which contains a
 * similar name that can.
 */
int scaffold_check_name(struct str name, struct err *);
/* Whether it can be part of a path: not empty, no "/", "\", ".." or ".". */
int scaffold_check_part(struct str name, struct err *);

/* The project: .waza.yaml, the workflow of GitHub, .gitignore, README.md. */
struct scaffold_project {
	struct str skills, evals, results;	/* directories */
	struct str executor, model, schemas;	/* or empty */
};
struct str scaffold_settings(struct arena *,
    const struct scaffold_project *);
struct str scaffold_workflow(struct arena *, struct str suites,
    struct str results);
struct str scaffold_readme(struct arena *, const struct scaffold_project *);
struct str scaffold_ignore(struct arena *, struct str results);
extern const char scaffold_skill_ignore[];	/* of a skill alone */

#endif
