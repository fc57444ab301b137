/* SPDX-License-Identifier: ISC */
/*
 * new.h: new_.  `waza new` and `waza init`: what their files share.
 * Everything lives in the arena of the call.
 */
#ifndef WAZA_NEW_H
#define WAZA_NEW_H

#include <stdbool.h>

#include "skill/catalog.h"
#include "skill/files.h"
#include "skill/scaffold.h"
#include "waza.h"

struct config;

#define NEW_SCHEMAS ".waza/schemas"	/* of a project */

struct new_opt {
	const char *template, *dir, *output, *executor, *model, *description;
	const char *eval, *results, *task, *transcript;
	const char *testname, *tags, *timeout, *root;
	bool overwrite, trust, scenario;
};

/* A call of `new` or `init` with the project it works in. */
struct new {
	struct cmd_call *call;
	struct arena *arena;
	struct config *config;
	struct catalog catalog;
	const char *executor, *model;	/* given, or NULL */
	bool agent;			/* the suite is for a custom agent */
	bool schemas;			/* the set has schemas for editors */
	struct files files;
	const char *next;		/* what to do then, or NULL */
};

/*
 * Reads the settings and the skills of the directory; -1: the reason was
 * printed.
 */
int new_open(struct new *, const char *dir, bool trust);

/*
 * The executor for new suites: the one given, else of the settings, else the
 * first agent that is installed and logged in, else mock.  NULL: the given one
 * is unknown, and a message was printed.
 */
const char *new_executor(struct new *);

/* The path from a directory, which need not exist, to another. */
struct str new_relative(struct arena *, const char *from, const char *to);

/*
 * The project's directory of JSON Schemas as a file in `dir` names it; empty if
 * the project has none.
 */
struct str new_schemas(struct new *, const char *dir);

/*
 * Adds the files of a suite to the set: those that are missing.  skill_dir is
 * where the skill is, or NULL.  -1: the reason was printed.
 */
int new_add_suite(struct new *, struct str skill, struct str description,
    const char *skill_dir, const char *eval);

/*
 * The file of a task of that suite: in the directory and with the ending that
 * `files` of the settings names.
 */
const char *new_task_path(struct new *, const char *eval, const char *name);

/* Writes the set, prints what was created and kept; the exit status. */
int new_finish(struct new *, const char *heading);

/* The commands of `new`. */
int new_skill(struct cmd_call *, const char *name);
int new_eval(struct cmd_call *, const char *name);
int new_task(struct cmd_call *, char **args, size_t nargs);

/*
 * On a terminal, asks a question; the answer, or the default for an empty
 * one.  Without a terminal, the default.
 */
struct str new_ask(struct new *, const char *question, struct str other);

#endif
