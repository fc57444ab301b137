/* SPDX-License-Identifier: ISC */
/*
 * run_internal.h: run_.  The parts of a run: the run with its tasks
 * (run.c), a trial (run_trial.c), hooks (run_hook.c).
 *
 *	run:   IDLE -> OPENING (before_run) -> GOING -> CLOSING (after_run)
 *	       -> ENDING (the executor's children) -> ENDED
 *	task:  NEW -> HOOKING (before_task) -> OPEN -> CLOSING (after_task)
 *	       -> ENDED
 *	trial: IDLE -> PREPARE -> [FETCHING] -> FILL -> ASK -> [ASKING]
 *	       -> ANSWERED -> GRADE -> [GRADING] -> GRADED -> FINISH -> IDLE,
 *	       from ANSWERED back to ASK for another turn, and from GRADED
 *	       back to PREPARE for another attempt
 *
 * States in brackets wait for the loop.  A trial is driven by run_trial_go(),
 * which returns when it waits or is finished; whoever called that calls
 * run_pump() afterwards, so that the stack does not grow with the suite.
 */
#ifndef WAZA_RUN_INTERNAL_H
#define WAZA_RUN_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/agent.h"
#include "base/base.h"
#include "grade/judge.h"
#include "grader.h"
#include "io/loop.h"
#include "io/proc.h"
#include "io/workspace.h"
#include "lib/tmpl.h"
#include "results/result.h"
#include "run/run.h"
#include "suite/spec.h"

struct mask;

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

/* run_record.c: what an agent and we say to each other, kept in a file. */
struct run_record {
	struct run *run;
	struct buf wire;		/* its lines, but the first and last */
	int64_t started;
	bool going, cut;
};

/* Before anything is recorded: makes the directory. */
int run_record_open(struct run *, struct err *);
/* Sets the request's hooks; no effect where nothing is recorded. */
void run_record_start(struct run *, struct run_record *,
    struct agent_request *);
/* Writes it; no effect where that is done, or nothing was started. */
void run_record_end(struct run_record *, const struct agent_request *,
    const struct answer *, int64_t took_ms, bool late);
void run_record_drop(struct run_record *);
/* What an answer that was recorded says of itself. */
void run_replayed(struct run *, const struct answer *, int64_t *took_ms,
    bool *late);

/*
 * run_cache.c: trials that were run before.  take: true when the trial's
 * result is there, and is the run's now.  keep: after result_add.
 */
struct run_cache;
void run_cache_open(struct run *);
struct run_trial;
bool run_cache_take(struct run_trial *);
void run_cache_keep(struct run_trial *);

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
	RUN_TRIAL_IDLE, RUN_TRIAL_PREPARE, RUN_TRIAL_FETCHING, RUN_TRIAL_FILL,
	RUN_TRIAL_ASK, RUN_TRIAL_ASKING, RUN_TRIAL_ANSWERED, RUN_TRIAL_GRADE,
	RUN_TRIAL_GRADING, RUN_TRIAL_GRADED, RUN_TRIAL_FINISH
};

/* A repository of the suite as it is for all trials of a run. */
struct run_repo {
	struct run_repo *next;
	const char *source;		/* a directory in it */
	struct str wanted, commit;	/* as it is named, and its hash */
	const char *store;		/* the directory .git, or a bare one */
};

enum run_fetch_step { RUN_FETCH_LOOK, RUN_FETCH_CLONE, RUN_FETCH_CHECKOUT };

/* The repositories of a trial, one after the other. */
struct run_fetch {
	size_t next;			/* which one */
	enum run_fetch_step step;
	const char *source, *dest;
	const struct run_repo *repo;	/* NULL: not looked at */
	struct proc proc;
	int64_t started;
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
	/* run_turn.c: */
	struct agent_conversation conversation;
	struct answer sum;	/* of the turns so far */
	struct answer_call **last_call;	/* its tails */
	struct answer_turn **last_turn;
	size_t turn;			/* that is asked, from 1 */
	bool talks;			/* there may be more turns */
	bool taken;			/* this turn is in the sum */
	struct buf said;		/* so far */
	struct buf words;		/* of a prompt with what was said */
	struct buf events;		/* of all turns */
	size_t told;			/* bytes of all prompts */
	struct str asked;		/* the prompt of this turn, plain */
	struct str prompt;		/* the task's, as it is kept */
	struct str given;		/* what stands before it */
	bool told_skills;		/* they are in that */
	struct str note;		/* about the answer, or empty */
	struct judging reply;		/* what the responder says */
	bool responding;
	struct run_fetch fetch;		/* run_repo.c */
	struct str fetched;		/* what was, in words, or empty */
	struct timer deadline, first;	/* total, and until the first event */
	bool timed_out, silent, cancelled;
	int64_t started, duration_ms;
	int64_t wall_ns;		/* when it started */
	struct grader_input in;
	struct grading grading;
	struct verdict *verdicts;
	size_t nverdicts, grader;
	bool old_verdicts;		/* some are those of the file */
	struct run_record record;
	char key[65];			/* in the cache; empty: not cached */
	bool cached;			/* that is where it is from */
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
	struct agent own;		/* unless one was lent */
	struct agent *agent;
	struct agent_spent spent;
	struct judges judges;
	size_t closing;			/* of these two, what is not closed */
	enum run_phase phase;
	struct run_task *tasks;
	size_t fresh;			/* first task that is NEW */
	struct run_task *open, *last;	/* with trials to start, in order */
	size_t hooking;			/* tasks whose hooks run */
	bool *regraded;			/* of stored answers: these tasks */
	struct mask *secrets;	/* not to be recorded */
	struct run_cache *cache;	/* NULL: nothing is cached */
	struct run_repo *repos;		/* those that were looked at */
	bool told;			/* that old verdicts stay */
	struct workspace_pool pool;
	struct run_trial *slots;
	size_t nslots, busy;
	struct run_triggers *triggers;	/* NULL: none is to be asked */
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

const struct spec_task *run_trial_spec(const struct run_trial *);

/*
 * run_input.c: the trial's directory; and what is in it, and where in it the
 * agent starts, once the repositories are there.
 */
bool run_needs_workspace(const struct run_trial *);
int run_make_workspace(struct run_trial *, struct err *);
int run_fill_workspace(struct run_trial *, struct err *);

/* The directories of the agent's own process, where it gets some. */
int run_make_home(struct run *, struct arena *, struct agent_request *,
    struct err *);
void run_remove_home(struct run *, struct agent_request *);

/*
 * An input that is not there.  -1, unless the agent would not look at it:
 * then it is a warning.
 */
int run_missing_input(struct run_trial *, const struct err *);

/*
 * run_repo.c: repositories for the workspace.  True: they are fetched, and
 * the trial will be in RUN_TRIAL_FILL.  False: there is nothing to wait for;
 * t->error says what is wrong, if anything is.
 */
bool run_fetch(struct run_trial *);
void run_fetch_cancel(struct run_trial *);

/* run_skill.c: what stands before the prompt; -1 when it cannot be given. */
int run_make_preamble(struct run_trial *, struct err *);

/*
 * run_turn.c: the questions of a trial.  first: before any is asked.  next:
 * after an answer; ASK: req.prompt is the next one; WAIT: the trial will be
 * ANSWERED again; OVER: job.ans has all answers; BAD: t->error says why.
 * end: the conversation is over, whatever came of it.
 */
enum run_turn { RUN_TURN_ASK, RUN_TURN_WAIT, RUN_TURN_OVER, RUN_TURN_BAD };
int run_turn_first(struct run_trial *, struct err *);
enum run_turn run_turn_next(struct run_trial *);
void run_turn_end(struct run_trial *);

/* run_plan.c: in this order, before anything starts. */
int run_select(struct run *, struct err *);
int run_open_journal(struct run *, struct err *);
void run_forget_reruns(struct run *);		/* what is to be run again */
size_t run_workers(const struct run *);
bool run_selects(const struct run_opts *, const struct spec_task *);

/*
 * run_stored.c: where the answers are those of a results file.  Selects its
 * tasks; after result_init, says what of it stays; of a trial that is graded
 * again, says what it was.
 */
int run_stored_select(struct run *, struct err *);
void run_stored_fill(struct run *);
void run_stored_prepare(struct run_trial *);
int64_t run_stored_ms(const struct run_trial *);
const struct json *run_stored_node(const struct run_trial *);
/* The words of the task's first error that stays; empty: none. */
struct str run_stored_error(const struct run *, size_t task);
/*
 * True where a grader cannot be asked, as the agent's files are gone: *out is
 * what it has said then.
 */
bool run_stored_verdict(struct run_trial *, const struct spec_grader *,
    struct verdict *out);

/*
 * run_trigger.c: the trigger tests, after the tasks.  Wanted before the
 * journal is opened, made ready once there are slots.  pump starts what can
 * be started; true: there is nothing to wait for.
 */
void run_select_triggers(struct run *);
void run_triggers_init(struct run *);
bool run_triggers_pump(struct run *);
void run_triggers_cancel(struct run *);

/* Starts what can be started. */
void run_pump(struct run *);

/* A trial is finished and recorded. */
void run_trial_ended(struct run *, struct run_trial *);

/* Ends the run early: nothing new is started, what runs is cancelled. */
void run_abort(struct run *, const struct err *);

/* Something went wrong that is not fatal; told as an error event. */
void run_warn(struct run *, const char *type, const char *msg);

int64_t run_trial_timeout_ms(const struct run *, const struct spec_task *);

#endif
