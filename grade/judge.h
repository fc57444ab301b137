/* SPDX-License-Identifier: ISC */
/*
 * judge.h: judge_ judges_.  A model's verdict on an answer.
 *
 * A judge is an executor with its own settings: the suite's, overridden by the
 * suite's `judge:`, overridden by the grader's `judge:`.  Graders with equal
 * settings share one judge, which is opened when it is first needed and serves
 * all trials of the run.  A struct judging is one question to a judge; it
 * completes once: judge_ask() returns JUDGE_DONE, or it returns JUDGE_LATER
 * and done() follows from the loop.
 *
 * judge_read() and judge_read_choice() read the judge's answer.  An answer
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
#include "io/proc.h"

struct field_table;
struct grader_input;
struct json;
struct judge;
struct judging;
struct spec_budget;
struct spec_notes;
struct spec_suite;
struct spec_where;

extern const struct field_table judge_table;	/* the keys of `judge` */

/* The judges of a run.  Set the public part, zero the rest. */
struct judges {
	const struct spec_suite *suite;
	struct str executor, model;	/* of the run */
	struct str judge_model;		/* --judge-model, or empty */
	struct procs *procs;
	struct arena *arena;		/* the run's */
	const char *run_id;
	size_t workers;			/* maximum of concurrent questions */
	void (*closed)(void *arg);	/* after judges_close */
	void *arg;
	size_t n;			/* judges opened so far */
	struct str missing;		/* why one cannot be used, or empty */
	const struct agent *agent;	/* of the run: its trials show whether
					 * it can be used; or NULL */
	struct judge *head;		/* private from here */
	size_t asking, closing;
	void (*known)(void *arg);
};

/*
 * Before the first trial: judges_expect() opens the judge of a question, of
 * which it uses own, file, model and effort.  judges_examine() then finds out
 * whether the programs of all judges are installed and logged in.  True: it is
 * known, see `missing`; false: known(arg) follows.
 */
void judges_expect(struct judges *, const struct judging *);
bool judges_examine(struct judges *, void (*known)(void *arg), void *arg);

/* The lowest limits of tokens and cost in the settings of open judges. */
void judges_limits(const struct judges *, struct spec_budget *);

/*
 * Closes all judges; no question may be pending.  True if they are closed;
 * otherwise closed() is called, once, when they are.
 */
bool judges_close(struct judges *);

/* Notes problems in the suite's `judge:` and in who plays the user. */
void judge_check_suite(const struct spec_suite *, struct spec_notes *);

/*
 * Notes problems in a grader's own `judge:` (or NULL), and a judge that cannot
 * give a verdict.  `at` is the place of the grader.
 */
void judge_check(const struct spec_suite *, const struct json *own,
    struct spec_where at, struct spec_notes *);

/* One question to a judge.  Set the public part, zero the rest. */
struct judging {
	struct judges *judges;
	const struct json *own;		/* the grader's `judge:`, or NULL */
	const char *file;		/* that contains the grader */
	struct str model, effort;	/* the grader's own, or empty */
	const struct grader_input *in;	/* task, workspace, templates */
	struct str prompt;
	const struct agent_tool *tools;	/* offered to the judge, if the */
	size_t ntools;			/* executor supports that */
	unsigned sample;		/* from 1 */
	bool responds;			/* plays the user instead */
	struct arena *arena;
	void (*done)(void *arg);
	void *arg;
	struct answer ans;		/* result; see fault and error */
	struct str used_executor, used_model;	/* that gave it */
	/* private */
	struct judge *judge;
	struct agent_request req;
	struct agent_job job;
	struct timer deadline;
	struct procs_wait room;		/* before the start, see proc.h */
	int64_t since;			/* of that wait; or 0 */
	bool timed_out;
};

enum judge_status { JUDGE_DONE, JUDGE_LATER };

/*
 * Asks; JUDGE_DONE: ans is set and done() is not called.  If descriptors or
 * processes have run out, the question waits until others release some.
 */
enum judge_status judge_ask(struct judging *);
/* Cancels a question that is JUDGE_LATER; done() may be called at once. */
void judge_cancel(struct judging *);
/* Forgets such a question when the loop has failed, see agent_drop(). */
void judge_drop(struct judging *);

/* The scale of a rubric; all zero: members passed and score, 0 to 1. */
struct judge_scale {
	struct str key;			/* the member with the level */
	const struct json *mapping;	/* level to score, or NULL */
	bool ranged;			/* levels min to max, linear */
	double min, max;
};

struct judge_verdict {
	bool passed;
	double score;			/* 0 to 1 */
	struct str passes, failures;	/* reasons, joined by "; " */
	bool by_tool;			/* given by calls of tools */
};

/*
 * Reads the verdict in an answer: calls of set_waza_grade_pass and _fail, else
 * the last JSON object with the members of a verdict.  A score of at least
 * `threshold` passes; if it is negative (not set), a judge that gives only a
 * score passes from 0.5.  Reasons are in the arena.  -1 and *e without a
 * verdict.
 */
int judge_read(struct arena *, const struct answer *,
    const struct judge_scale *, double threshold, struct judge_verdict *,
    struct err *);

enum judge_side { JUDGE_A, JUDGE_B, JUDGE_TIE };

struct judge_choice {
	enum judge_side winner;
	struct str magnitude;		/* of judge_magnitudes, or empty */
	struct str reasoning;
};

extern const char *const judge_sides[];		/* by enum judge_side */
extern const char *const judge_magnitudes[];	/* the strongest first */

/* Reads a comparison: a call of set_pairwise_winner, or a JSON object. */
int judge_read_choice(struct arena *, const struct answer *,
    struct judge_choice *, struct err *);

/* The tools offered to a judge: for a verdict and for a comparison. */
extern const struct agent_tool judge_grade_tools[2], judge_choice_tools[1];

/*
 * The offset of the last JSON object that `wanted` accepts, or SIZE_MAX.
 * Objects inside other objects or lists are skipped.  A malformed object whose
 * first member `wanted` accepts invalidates all objects before it.  Linear in
 * the text.
 */
size_t judge_last_object(struct str text,
    bool (*wanted)(const void *ctx, const struct json *), const void *ctx);

#endif
