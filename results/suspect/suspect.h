/* SPDX-License-Identifier: ISC */
/*
 * suspect.h: suspect_.  Why a trial may have failed, other than because of the
 * agent's work: the first rule of a table that the results of the trial fit,
 * with the evidence and a place to look at.
 *
 * A suspect is a hint, not a verdict: it never changes a status or a score.
 */
#ifndef WAZA_SUSPECT_H
#define WAZA_SUSPECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

struct json;
struct result_record;
struct spec_suite;
struct spec_task;
struct spec_where;

enum suspect_kind {
	SUSPECT_NONE,
	SUSPECT_INFRASTRUCTURE,	/* not the agent: workspace, hook, judge ... */
	SUSPECT_TESTS,		/* the graders contradict the task's tests */
	SUSPECT_JUDGE,		/* samples of one judge contradict each other */
	SUSPECT_DENIED,		/* a tool call was denied */
	SUSPECT_NO_SKILL,	/* the agent did not find the skill */
	SUSPECT_UNUSED,		/* it had the skill and did not use it */
	SUSPECT__MAX
};

struct suspect {
	enum suspect_kind kind;
	struct str evidence;	/* one line, at most SUSPECT_TEXT bytes */
	struct str at;		/* "FILE:LINE" or "FILE"; empty: unknown */
	struct str grader;	/* its name; empty: none */
	int64_t call;		/* the tool call, from 1; 0: none */
};
enum { SUSPECT_TEXT = 300 };

/* The run and task that a record belongs to. */
struct suspect_about {
	const struct spec_suite *suite;
	const struct spec_task *task;
	struct str executor;
	struct str wrong_test;	/* that the graders contradict, or empty; */
	const struct spec_where *wrong_at;	/* its place */
	bool no_skills;		/* the run leaves them out */
};

/*
 * The suspect of a trial that did not pass; false: none.  The strings are in
 * the arena or borrowed from the arguments.
 */
bool suspect_find(struct arena *, const struct result_record *,
    const struct suspect_about *, struct suspect *);

/* "tool_denied" and so on, in results; "a tool was denied", for people. */
const char *suspect_name(enum suspect_kind);
const char *suspect_words(enum suspect_kind);

/* Appends it as an object of JSON. */
void suspect_put(struct buf *, const struct suspect *);
/* Reads that from the object of a trial; false: it has none. */
bool suspect_read(const struct json *trial, struct suspect *);

#endif
