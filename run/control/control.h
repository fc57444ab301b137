/* SPDX-License-Identifier: ISC */
/*
 * control.h: control_.  Controls: made-up answers, on the untouched
 * fixtures, through the real graders.  A task that such an answer passes shows
 * nothing about an agent.
 *
 * A struct control_run grades cases, which are tasks with an answer each.  The
 * others are made of it: struct control_set tries the controls of a suite on
 * its tasks, struct control_tests runs the examples of `tests`.  Set their
 * first part and zero the rest; start calls done(arg) once, from the loop.
 * After a cancel, done() follows.  Everything lives in the caller's arena.
 */
#ifndef WAZA_CONTROL_H
#define WAZA_CONTROL_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/agent.h"
#include "base/base.h"
#include "io/loop.h"
#include "results/event.h"
#include "suite/spec.h"

struct json_out;
struct procs;
struct run;

/* Where and how cases are graded. */
struct control_env {
	struct arena *arena;
	struct loop *loop;
	struct procs *procs;
	const struct spec_suite *suite;
	const char *context_dir;	/* instead of fixtures/, or NULL */
	const char *replay;		/* recordings for `mutate`, or NULL */
	struct str judge_model;		/* or empty */
	size_t trials;			/* recorded of each task; 0: 1 */
	bool programs;			/* run hooks, programs and git, */
	bool no_hooks;			/* but no hooks */
	bool judges;			/* ask them */
};

struct control_case {
	const struct spec_task *task;
	const struct json *script;	/* of its answer, or NULL */
};

struct control_run {
	const struct control_env *env;
	struct control_case *cases;
	size_t ncases, trials;
	struct agent_control answer;
	bool mutates;
	void (*done)(void *arg);
	void *arg;
	/* private */
	struct spec_suite suite;	/* a task for each case */
	struct event_bus bus;		/* without listeners */
	struct run *run;		/* NULL: it could not start */
	struct timer later;
	struct err err;
};

void control_run_start(struct control_run *);
void control_run_cancel(struct control_run *);
void control_run_free(struct control_run *);

enum control_verdict { CONTROL_FAILED, CONTROL_PASSED, CONTROL_UNKNOWN };

/* What the graders found; see control_read(). */
struct control_found {
	enum control_verdict verdict;
	const struct json *verdicts;	/* {name: {...}}, or NULL */
	struct str why;			/* it is unknown, or empty */
};
/*
 * A case and trial of a run that is done, in the arena.  FAILED: a grader
 * rejects the answer, whatever the others would find.  PASSED: all accept it.
 * UNKNOWN: a grader was not run or had an error, or the answer could not be
 * graded.
 */
struct control_found control_read(const struct control_run *, struct arena *,
    size_t i, size_t trial);
/* A verdict that counts: neither skipped nor advisory nor an error. */
bool control_counts(const struct json *verdict, bool *passed);

/* What a control has shown about a task. */
struct control_finding {
	const struct spec_task *task;
	const struct spec_control *control;
	enum control_verdict verdict;
	struct field_strs graders;	/* that passed (PASSED), that were not
					 * run (UNKNOWN), or that accept every
					 * altered answer (MUTATE) */
	struct str note;		/* for people, or empty */
	size_t altered, survived;	/* MUTATE: answers; those that pass */
};

/* The controls of a suite on its tasks. */
struct control_set {
	struct control_env env;
	const struct spec_task *const *tasks;
	size_t ntasks;
	struct spec_controls list;
	void (*done)(void *arg);
	void *arg;
	/* results: list.n for each task, in the order of the list */
	struct control_finding *findings;
	/* private */
	size_t at;
	struct control_run run;
	bool cancelled;
};
void control_start(struct control_set *);
void control_cancel(struct control_set *);
/* After the loop has failed and the children have ended. */
void control_drop(struct control_set *);

/* The findings of a task as JSON, for its results; empty if there are none. */
struct str control_json(struct arena *, const struct control_finding *,
    size_t n);

/* Examples of answers, with what the graders found. */
struct control_test {
	const struct spec_task *task;
	const struct spec_test *test;
	size_t number;			/* in its task, from 1 */
	enum control_verdict verdict;
	struct str why;			/* feedback of the graders */
};
struct control_tests {
	struct control_env env;
	struct control_test *v;		/* task and test of each are set */
	size_t n;
	void (*done)(void *arg);
	void *arg;
	/* private */
	struct control_run run;
};
void control_tests_start(struct control_tests *);

#endif
