/* SPDX-License-Identifier: ISC */
/*
 * run_part.h: run_.  The parts of a run, for the run_*.c files: the run with
 * its tasks (run.c), a trial (run_trial.c), hooks (run_hook.c).
 *
 *	run:   IDLE -> OPENING (before_run) -> GOING -> CLOSING (after_run)
 *	       -> ENDING (the executor's children) -> ENDED
 *	task:  NEW -> HOOKING (before_task) -> OPEN -> CLOSING (after_task)
 *	       -> ENDED
 *	trial: IDLE -> PREPARE -> ASK -> [ASKING] -> ANSWERED -> GRADE
 *	       -> [GRADING] -> GRADED -> FINISH -> IDLE, and from GRADED back
 *	       to PREPARE for another attempt
 *
 * States in brackets wait for the loop.  A trial is driven by run_trial_go(),
 * which returns when it waits or is finished; whoever called that calls
 * run_pump() afterwards, so that the stack does not grow with the suite.
 */
#ifndef WAZA_RUN_PART_H
#define WAZA_RUN_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent.h"
#include "base.h"
#include "grader.h"
#include "loop.h"
#include "proc.h"
#include "result.h"
#include "run.h"
#include "spec.h"
#include "tmpl.h"
#include "workspace.h"

/* A list of hooks, run one after the other. */
struct run_hooks {
	struct run *run;
	const struct field_list *list;	/* of struct spec_hook */
	struct tmpl_vars vars;
	struct str task_id;		/* empty: a run's */
	size_t next;
	const struct spec_hook *cur;
	struct arena arena;		/* of the one that runs */
	struct proc proc;
	struct err err;			/* of an error_on_fail hook */
	void (*done)(void *arg);
	void *arg;
};

/* True when there is nothing to wait for; else done() follows. */
bool run_hooks_start(struct run_hooks *);
void run_hooks_cancel(struct run_hooks *);

enum run_task_phase {
	RUN_TASK_NEW, RUN_TASK_HOOKING, RUN_TASK_OPEN, RUN_TASK_CLOSING,
	RUN_TASK_ENDED
};

/* Beside the result_task of the same index. */
struct run_task {
	struct run *run;
	enum run_task_phase phase;
	size_t next;			/* trial to start */
	size_t running;
	int64_t started;
	struct str error;		/* of its first trial that had one */
	struct run_hooks *hooks;	/* while they run */
	struct run_task *next_open;
};

enum run_trial_state {
	RUN_TRIAL_IDLE, RUN_TRIAL_PREPARE, RUN_TRIAL_ASK, RUN_TRIAL_ASKING,
	RUN_TRIAL_ANSWERED, RUN_TRIAL_GRADE, RUN_TRIAL_GRADING,
	RUN_TRIAL_GRADED, RUN_TRIAL_FINISH
};

struct run_trial {
	struct run *run;
	enum run_trial_state state;
	bool going;			/* run_trial_go() is on the stack */
	size_t task, trial;		/* indices */
	struct arena arena;		/* of this attempt */
	char *dir;			/* the workspace, or NULL */
	struct tmpl_vars vars;
	struct agent_request req;
	struct agent_job job;
	struct timer deadline, first;	/* total, and until the first event */
	bool timed_out, silent, cancelled;
	int64_t started, duration_ms;
	int64_t wall_ns;		/* when it started */
	struct grader_input in;
	struct grading grading;
	struct grader_verdict *verdicts;
	size_t nverdicts, grader;
	enum result_status status;
	struct str error;
};

/* Sets out on a trial; then run_trial_go(). */
void run_trial_start(struct run_trial *, size_t task, size_t trial);
void run_trial_go(struct run_trial *);
void run_trial_cancel(struct run_trial *);

enum run_phase {
	RUN_IDLE, RUN_OPENING, RUN_GOING, RUN_CLOSING, RUN_ENDING, RUN_ENDED
};

struct run {
	struct arena arena;
	struct loop *loop;
	struct procs *procs;
	const struct spec_suite *suite;
	struct run_opts opts;
	struct event_bus *bus;
	struct result_run results;
	struct agent agent;
	enum run_phase phase;
	struct run_task *tasks;
	size_t fresh;			/* first task that is NEW */
	struct run_task *open, *last;	/* with trials to start, in order */
	size_t hooking;			/* tasks whose hooks run */
	struct workspace_pool pool;
	struct run_trial *slots;
	size_t nslots, busy;
	struct run_hooks hooks;		/* of the run */
	bool cancelled, stopped;	/* stopped: no new task (fail_fast) */
	bool held;			/* nothing new for the moment */
	bool pumping, dirty;
	struct timer again;		/* goes on with run_pump */
	struct timer refresh;		/* of the results file */
	struct err err;
	int64_t started;
	char timestamp[32];		/* RFC 3339, for templates */
	void (*done)(void *arg);
	void *arg;
};

/* run_plan.c: in this order, before anything starts. */
int run_select(struct run *, struct err *);
int run_check_output(const struct run *, struct err *);
int run_journal(struct run *, struct err *);
void run_forget(struct run *);		/* what is to be run again */
size_t run_workers(const struct run *);

/* Starts what can be started. */
void run_pump(struct run *);

/* A trial is finished and recorded. */
void run_trial_over(struct run *, struct run_trial *);

/* Ends the run early: nothing new is started, what runs is cancelled. */
void run_abort(struct run *, const struct err *);

/* Something went wrong that is not fatal; told as an error event. */
void run_warn(struct run *, const char *type, const char *msg);

int64_t run_trial_timeout_ms(const struct run *, const struct spec_task *);

#endif
