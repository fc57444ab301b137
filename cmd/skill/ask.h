/* SPDX-License-Identifier: ISC */
/*
 * ask.h: ask_.  One question to a model, by the executor that judges: for
 * commands without a run.
 */
#ifndef WAZA_ASK_H
#define WAZA_ASK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"

struct cmd_call;
struct cmd_job;
struct config;
struct spec_suite;

struct ask {
	struct cmd_call *call;
	const struct config *config;
	const char *executor, *model;	/* given, or NULL */
	int64_t timeout_seconds;
	bool trust;
	/* whose judge is asked, with executor and model of its run; NULL: the
	 * settings decide */
	const struct spec_suite *suite;
	struct str suite_executor, suite_model;
	struct cmd_job *job;		/* whose loop is used, or NULL */
	/* results */
	struct str answer;		/* in the arena of the call */
	struct str used_executor, used_model;
};

/*
 * Asks the model and waits for its answer.  The executor is the one given,
 * else that of `judge` in the settings, else the project's, else the first
 * agent found.  An exit status; the reason of an error was printed.
 */
int ask_model(struct ask *, struct str prompt);

/*
 * Reads the skill that the first operand names: a path, or a name in the
 * workspace.  *name is the name there, else in the front matter, else of the
 * directory; it may be NULL.  An exit status; errors were printed.
 */
struct skill;
int ask_find_skill(struct cmd_call *, bool trust, struct str *name,
    struct skill *);

/*
 * Appends a text between lines that contain a random token, which the text
 * cannot know, so that nothing in it is taken for an instruction.
 */
int ask_put_material(struct buf *, const char *what, struct str text,
    struct err *);

/* The last JSON object in an answer that has this member; NULL: none. */
struct json;
const struct json *ask_object(struct arena *, struct str answer,
    const char *member);

#endif
