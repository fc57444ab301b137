/* SPDX-License-Identifier: ISC */
/*
 * judge.h: judge_ judges_.  A model's verdict on an answer.
 *
 * A judge is an executor like those that answer tasks, with its own settings:
 * the suite's, with its `judge:` over them, and the grader's own `judge:`
 * over that.  Judges with the same settings are one; each is opened when it
 * is first needed and serves all trials of the run.  A judging is one
 * question to it, and is over once: done() comes from the loop, or judge_ask
 * says JUDGE_DONE and it does not.
 *
 * What it answers is read by judge_read() and judge_read_choice().  An answer
 * without a verdict is an error, never a pass.
 */
#ifndef WAZA_JUDGE_H
#define WAZA_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/agent.h"
#include "base/base.h"
#include "io/loop.h"

struct grader_input;
struct json;
struct judge;
struct spec_notes;
struct spec_suite;
struct spec_where;

/* The judges of a run.  Set the public part, zero the rest. */
struct judges {
	const struct spec_suite *suite;
	struct str executor, model;	/* of the run: what it was asked for */
	struct str judge_model;		/* --judge-model, or empty */
	struct procs *procs;
	struct arena *arena;		/* the run's */
	const char *run_id;
	struct agent_spent *spent;	/* by the run, or NULL */
	size_t workers;			/* questions at once, at most */
	void (*closed)(void *arg);	/* after judges_close */
	void *arg;
	size_t n;			/* judges that were opened */
	struct judge *head;		/* private from here */
	size_t closing;
};

/*
 * No judging goes on.  True when all is put away; otherwise closed() is
 * called, once, when it is.
 */
bool judges_close(struct judges *);

/* Notes what is wrong with the suite's `judge:`, if it has one. */
void judge_check_suite(const struct spec_suite *, struct spec_notes *);

/*
 * Notes what is wrong with a grader's own `judge:` (NULL: it has none), and
 * a judge that cannot give a verdict.  `at` is where the grader stands.
 */
void judge_check(const struct spec_suite *, const struct json *own,
    struct spec_where at, struct spec_notes *);

struct judging {
	struct judges *judges;
	const struct json *own;		/* the grader's `judge:`, or NULL */
	const char *file;		/* that the grader stands in */
	struct str model, effort;	/* the grader's own, or empty */
	const struct grader_input *in;	/* task, workspace, templates */
	struct str prompt;
	const struct agent_tool *tools;	/* that it may call, */
	size_t ntools;			/* where the executor can */
	unsigned sample;		/* from 1 */
	bool responds;			/* it is to play the user instead */
	struct arena *arena;
	void (*done)(void *arg);
	void *arg;
	struct answer ans;	/* the answer; fault, error as there */
	struct str used_executor, used_model;	/* who gave it */
	/* private */
	struct judge *judge;
	struct agent_request req;
	struct agent_job job;
	struct timer deadline;
	bool timed_out;
};

enum judge_status { JUDGE_DONE, JUDGE_LATER };

enum judge_status judge_ask(struct judging *);
void judge_cancel(struct judging *);	/* done() comes, maybe at once */

/* How a rubric counts; all zero: from 0 to 1, by members passed and score. */
struct judge_scale {
	struct str key;			/* the member that has the level */
	const struct json *mapping;	/* level to 0..1, or NULL */
	bool ranged;			/* levels from min to max, linearly */
	double min, max;
};

struct judge_verdict {
	bool passed;
	double score;			/* 0 to 1 */
	struct str passes, failures;	/* in words, joined by "; " */
	bool by_tool;
};

/*
 * The verdict in an answer: calls of set_waza_grade_pass and _fail, else the
 * last JSON object in it that has a verdict's members.  threshold: a score
 * from there on passes; below 0 it was not said, and means 0.5 where the
 * judge gives nothing but a score.
 */
int judge_read(struct arena *, const struct answer *,
    const struct judge_scale *, double threshold, struct judge_verdict *,
    struct err *);

enum judge_side { JUDGE_A, JUDGE_B, JUDGE_TIE };

struct judge_choice {
	enum judge_side winner;
	struct str magnitude;		/* as in judge_magnitudes, or empty */
	struct str reasoning;
};

extern const char *const judge_sides[];		/* by enum judge_side */
extern const char *const judge_magnitudes[];	/* the strongest first */

/* The same for the better of two: set_pairwise_winner, or the object. */
int judge_read_choice(struct arena *, const struct answer *,
    struct judge_choice *, struct err *);

/* The tools by which it may say so. */
extern const struct agent_tool judge_grade_tools[2], judge_choice_tools[1];

/*
 * Where the last JSON object starts that `wanted` takes, or SIZE_MAX; inside
 * of another object or a list none is looked for.  One that cannot be read,
 * with a first name that `wanted` takes, makes those before it count no more.
 * Time is linear in the text.
 */
size_t judge_last_object(struct str text,
    bool (*wanted)(const void *ctx, const struct json *), const void *ctx);

#endif
