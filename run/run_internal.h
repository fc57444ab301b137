/* SPDX-License-Identifier: ISC */
/*
 * run_internal.h: run_.  The parts of a run.
 *
 *	run:   IDLE -> OPENING (before_run) -> GOING -> CLOSING (after_run)
 *	       -> ENDING (children of the executor exit) -> ENDED
 *	task:  NEW -> HOOKING (before_task) -> OPEN -> CLOSING (after_task)
 *	       -> ENDED
 *	trial: see the table in run_trial.c
 *
 * A trial that need not wait runs to its end in run_trial_go().  Its caller
 * calls run_pump() afterwards, which starts the next one: so the stack does
 * not grow with the suite.
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
#include "run/run_mocks.h"
#include "run/run_wait_internal.h"
#include "suite/spec.h"

struct mask;
struct outcome_trial;
struct run_cache;
struct run_trial;
struct run_triggers;
struct taint;
struct workspace_scan;

enum { RUN_SLICE_MS = 20 };	/* of starting trials, per turn of the loop */

/* run_hook.c: a list of hooks that run one after the other. */
struct run_hooks {
	struct run *run;
	const struct field_list *list;	/* of struct spec_hook */
	struct tmpl_vars vars;
	const struct spec_task *task;	/* NULL: hooks of the run */
	struct str task_id;		/* likewise empty */
	size_t index;			/* of that task; the caller's */
	size_t next;
	const struct spec_hook *cur;
	struct arena arena;		/* of the current hook */
	struct proc proc;
	struct run_wait wait;
	bool cancelled;
	struct err err;			/* of a hook with error_on_fail */
	void (*done)(void *arg);
	void *arg;
};

/*
 * Starts the hooks of a task or, with task NULL, of the run; done(arg) is
 * called once all have ended, possibly before this returns.
 */
void run_hooks_start(struct run_hooks *, struct run *, enum spec_hook_kind,
    const struct spec_task *task, void (*done)(void *), void *arg);
/* Terminates the current hook and skips the others; done() follows. */
void run_hooks_cancel(struct run_hooks *);

/* run_record.c: the messages to and from an agent, written to a file. */
struct run_record {
	struct run *run;
	struct buf messages;		/* lines between the first and last */
	int64_t started;
	bool active;
};

/* Creates the directory for recordings, if wanted; 0, or -1 and *e. */
int run_record_open(struct run *, struct err *);
/* Starts recording a request; no effect if nothing is to be recorded. */
void run_record_start(struct run *, struct run_record *,
    struct agent_request *);
/* Writes the recording with its answer, once; a failure is a warning. */
void run_record_end(struct run_record *, const struct agent_request *,
    const struct answer *, int64_t took_ms, bool late);
/* Discards a recording that was not written. */
void run_record_drop(struct run_record *);
/* The secrets of environment and settings, for mask_text(). */
const struct mask *run_secrets(struct run *);

/* run_ask.c: no trial can run: the others are not started. */
void run_stop(struct run *, struct str why);

/* run_skills.c: the skills of one prompt. */
struct run_skill {
	const struct spec_skill *spec;
	struct str name, dir;		/* in its front matter; of its folder */
	const char *from, *root;	/* its directory in the suite, and where
					 * the agent finds it */
};

struct run_skills {
	bool known;			/* the way is */
	enum agent_skills_way way;
	struct run_skill *v;
	size_t n;
	struct field_strs placed, made;	/* paths in the working directory: what
					 * to remove, and if it is empty */
	bool git;			/* a repository was placed */
	struct agent_foreign *foreign;	/* found outside of the suite */
	size_t nforeign;
	struct str hiding;		/* text of AGENT_HIDE_FILE, if placed */
	struct str note;		/* for the results, or empty */
};

/* One prompt to the agent, of a trial or of a trigger test. */
struct run_ask {
	struct run *run;
	const struct spec_task *task;
	struct arena arena;		/* of this attempt */
	char *dir;			/* the workspace, or NULL */
	struct tmpl_vars vars;
	struct agent_request req;
	struct agent_job job;		/* job.req is NULL until it starts */
	void (*progress)(void *arg, enum agent_event, struct str detail);
	void (*done)(void *arg);
	void *arg;
	struct judging *responder;	/* asked instead of the agent */
	struct timer deadline;
	struct timer first_event;	/* until the agent's first event */
	bool timed_out, silent, cancelled;
	int64_t started, duration_ms;	/* loop clock */
	int64_t started_ns;		/* wall clock */
	struct run_record record;
	struct run_skills skills;
	struct run_mocks mocks;
	enum { RUN_AGENT_NONE, RUN_AGENT_PLACED, RUN_AGENT_PROMPT } agent_way;
	struct str agent_text;		/* of the custom agent, or empty */
	enum result_status status;
	struct str error;		/* message, or empty */
};

/* run_ask.c: prepares an attempt; the caller sets req.prompt. */
void run_ask_init(struct run_ask *, struct run *, const struct spec_task *,
    unsigned number, unsigned attempt);
/*
 * Asks the agent.  True if it has answered already; otherwise progress(arg,
 * ...), unless NULL, and done(arg) follow.
 */
bool run_ask_start(struct run_ask *, void (*progress)(void *,
    enum agent_event, struct str), void (*done)(void *), void *arg);
/* Limits the time of q->responder to what is left for the agent. */
void run_ask_arm(struct run_ask *);
/* After an answer: true if it is usable; else status and error are set. */
bool run_ask_ended(struct run_ask *);
/*
 * The engine of a shard ends its job by a signal to all processes, and that to
 * the agent can arrive first.  If this is true, wait RUN_DOUBT_MS for ours
 * before a result that is not a pass is recorded: a requeued job would take
 * over the verdict on an agent that was killed.
 */
enum { RUN_DOUBT_MS = 250 };
bool run_ask_doubts(const struct run_ask *);
/* Interrupts the agent or the responder; done() follows. */
void run_ask_cancel(struct run_ask *);
/* Sets status and error. */
void run_ask_fail(struct run_ask *, enum result_status, const char *fmt, ...)
    PRINTF(3, 4);
/* Writes the recording, if there is one; graders may change the files. */
void run_ask_record(struct run_ask *);
/* Removes the private directories, returns the workspace, frees memory. */
void run_ask_free(struct run_ask *);
/* The same while it is asked, after the agent's children have ended. */
void run_ask_drop(struct run_ask *);

/* Time limit of an answer: from the options, the task or the suite. */
int64_t run_timeout_ms(const struct run *, const struct spec_task *);

enum { RUN_TASK_NEW, RUN_TASK_HOOKING, RUN_TASK_OPEN, RUN_TASK_CLOSING,
	RUN_TASK_ENDED };

/* What few tasks have. */
struct run_rare {
	struct buf error;		/* of its first trial with an error;
					 * until the task has ended */
	struct buf feedback;		/* of its first trial that failed */
	struct run_hooks *hooks;	/* while they run */
	struct run_budget *budget;	/* NULL: none of its own */
	uint32_t number;		/* in queue.rares, from 1 */
	struct run_rare *next;		/* in queue.spare */
};

/* Beside the result_task of the same index; a run may have a million. */
struct run_task {
	uint32_t next;			/* trial to start */
	uint32_t next_open;		/* index + 1 of the next open task */
	uint32_t rare;			/* number of its run_rare; 0: none */
	unsigned phase:3;		/* RUN_TASK_NEW ... */
	unsigned running:29;		/* trials */
};
/* What it has; or NULL.  need: after it was allocated if need be. */
struct run_rare *run_rare(const struct run *, size_t task);
struct run_rare *run_need_rare(struct run *, size_t task);

enum run_trial_state {
	RUN_TRIAL_IDLE, RUN_TRIAL_PREPARE, RUN_TRIAL_JUDGED,
	RUN_TRIAL_FETCH, RUN_TRIAL_FETCHING, RUN_TRIAL_FILL, RUN_TRIAL_SCAN,
	RUN_TRIAL_ASK,
	RUN_TRIAL_ASKING, RUN_TRIAL_ANSWERED, RUN_TRIAL_CHECK, RUN_TRIAL_TURN,
	RUN_TRIAL_PATCH,
	RUN_TRIAL_GRADE, RUN_TRIAL_GRADING,
	RUN_TRIAL_PAUSED, RUN_TRIAL_GRADED, RUN_TRIAL_FINISH,
	RUN_TRIAL_WAITING
};

/* A repository of the suite, at the same commit for all trials. */
struct run_repo {
	struct run_repo *next;
	const char *source;		/* a directory in it */
	struct str wanted, commit;	/* as the suite names it; its hash */
	const char *store;		/* its .git directory, or a bare one */
};

enum run_fetch_step { RUN_FETCH_LOOK, RUN_FETCH_CLONE, RUN_FETCH_CHECKOUT };

/* The repositories of a trial, fetched one after the other. */
struct run_fetch {
	size_t next;			/* index of the current one */
	enum run_fetch_step step;
	const char *source, *dest;
	const struct run_repo *repo;	/* NULL: not looked up yet */
	struct proc proc;
	int64_t started;
	struct str note;		/* the commits, for the results */
};

/* The turns of a trial: prompt, answer, follow-up prompt, and so on. */
struct run_dialog {
	struct agent_conversation conversation;
	struct answer total;		/* of the turns so far */
	struct answer_call **last_call;	/* tails of its lists */
	struct answer_turn **last_turn;
	size_t turn;			/* the current one, from 1 */
	bool open;			/* more turns may follow */
	bool added;			/* this turn's answer is in total */
	struct buf history;		/* all turns as text */
	struct buf text;		/* of a prompt that repeats them */
	struct buf events;		/* of all turns: a list's elements */
	size_t sent;			/* bytes of all prompts */
	struct str question;		/* this turn's prompt alone */
	struct str prompt;		/* the task's, for the results */
	struct str preamble;		/* instructions and skills */
	struct str note;		/* for the results, or empty */
	struct judging reply;		/* of the responder */
};

/* The checkpoint that is being graded. */
struct run_check {
	const struct spec_checkpoint *spec;	/* NULL: none */
	struct answer answer;		/* of all turns so far */
	struct verdict *verdicts;
	size_t n;			/* those that are known */
	int64_t began;			/* loop clock */
};

struct run_trial {
	struct run *run;
	enum run_trial_state state;
	bool going;			/* run_trial_go() is on the stack */
	struct run_wait wait;		/* state WAITING */
	enum run_trial_state retry;	/* the state after it and PAUSED */
	size_t task, trial;		/* indices */
	struct run_ask ask;
	struct run_dialog dialog;
	struct run_fetch fetch;
	struct workspace_scan *scan;	/* for the patch, or NULL */
	bool scanned;			/* it is the second scan */
	struct grader_input in;
	struct grading grading;
	struct verdict *verdicts;
	size_t nverdicts;
	size_t grader;			/* next one to start */
	struct run_check check;
	struct result_checkpoint *checks;	/* those that were graded */
	size_t nchecks;
	bool stopped;			/* one of them ended the trial */
	struct timer pause;
	bool awaits_judges;		/* PAUSED until they are known */
	unsigned pauses;		/* before it */
	bool doubted;			/* PAUSED before FINISH */
	struct answer_usage judged;	/* of judges, in all attempts */
	struct answer_usage earlier;	/* of agents, in earlier attempts */
	bool old_verdicts;		/* some are from the results file */
	int64_t began;			/* loop clock */
	char key[65];			/* in the cache; empty: not cached */
	bool cached;			/* the result is from the cache */
};

/* Puts a trial into the slot; then call run_trial_go(). */
void run_trial_start(struct run_trial *, size_t task, size_t trial);
/* Runs the trial until it waits or is finished. */
void run_trial_go(struct run_trial *);
/* For callbacks: sets the state and continues, unless a caller does. */
void run_trial_resume(struct run_trial *, enum run_trial_state);
/* Interrupts the trial; it ends as cancelled. */
void run_trial_cancel(struct run_trial *);
/* Frees what the trial holds; its children have ended: see run_free(). */
void run_trial_drop(struct run_trial *);

enum run_phase {
	RUN_IDLE, RUN_OPENING, RUN_GOING, RUN_CLOSING, RUN_ENDING, RUN_ENDED
};

/* The tasks and trials that are to start, and the slots they run in. */
struct run_queue {
	struct run_task *tasks;
	struct stop_known *known;	/* of each task; NULL: no rule */
	struct buf rares;		/* all run_rare *, by number */
	struct run_rare *spare;		/* those that no task has */
	size_t first_new;		/* first task that is NEW */
	uint32_t open, last_open;	/* index + 1: with trials to start */
	size_t hooking;			/* tasks whose hooks run */
	struct run_trial *slots;	/* in run->live */
	size_t nslots, busy;
	size_t started;			/* trials and trigger tests */
	bool starved;			/* it wants a slot of run_share */
	bool stopped;			/* start no new task (fail_fast) */
	size_t failures;		/* tasks that did not pass */
	bool held;			/* start nothing until resumed */
	bool alone;			/* one at a time, until the agent has
					 * answered: agent_starts_alone() */
	bool pumping;			/* run_pump() is on the stack */
	struct timer again;		/* calls run_pump() */
};

struct run {
	struct arena arena;
	struct arena live;		/* until run_rest() */
	struct run *next_shared, *prev_shared;	/* see run_share */
	struct loop *loop;
	struct procs *procs;
	const struct spec_suite *suite;
	struct run_opts opts;
	struct event_bus *bus;
	struct result_run results;
	struct agent own;		/* unless opts.agent is set */
	struct agent *agent;
	struct run_budget budget;	/* unless opts.suite_budget is set */
	bool command_mocks;		/* the suite or a task has some */
	const char *broke;		/* the budget is spent: the reason */
	struct judges judges;
	enum { RUN_JUDGES_NEW, RUN_JUDGES_ASKED, RUN_JUDGES_KNOWN } judged;
	size_t closing;			/* agent and judges not closed yet */
	enum run_phase phase;
	bool filled;			/* its tasks have trials */
	struct run_queue queue;
	bool *regraded;			/* with opts.stored: these tasks */
	struct mask *secrets;		/* see run_secrets(); NULL: not yet */
	struct run_cache *cache;	/* NULL: nothing is cached */
	struct run_known **known;	/* files that run_key.c has hashed */
	struct run_repo *repos;		/* those looked up so far */
	const struct taint *taint;	/* see run_taint(); NULL: not yet */
	bool warned_files;		/* that old verdicts are kept */
	bool warned_journal;		/* that others have changed it */
	bool warned_home;		/* of skills of the account */
	struct workspace_pool pool;
	struct run_triggers *triggers;	/* NULL: no trigger tests */
	struct run_controls *controls;	/* NULL: none is being tried */
	struct run_hooks hooks;		/* of the run */
	bool cancelled;
	bool unusable;			/* the executor cannot answer */
	bool dirty;			/* the results file is out of date */
	struct timer refresh;		/* of the results file */
	struct err err;
	int64_t started;
	char timestamp[32];		/* RFC 3339, for templates */
	void (*done)(void *arg);
	void *arg;
};

/*
 * run_key.c: adds what affects the trials of a suite, of a list of graders, and
 * of a task, with the contents of files; clears ok if one cannot be read.
 */
struct run_key {
	struct run *run;
	const struct spec_task *task;	/* names are looked up for it */
	struct sha256 hash;
	struct arena arena;
	bool portable;		/* leave out what differs between machines */
	bool ok;
	const struct run_naming *naming;	/* gets the paths of files,
				 * which are not read then; or NULL */
	enum run_part part;	/* that names them */
};
void run_key_suite(struct run_key *);
void run_key_graders(struct run_key *, const struct spec_graders *);
void run_key_task(struct run_key *, const struct spec_task *);
/* The same with what also makes a suite another one, for fingerprints. */
void run_key_part(struct run_key *, enum run_part);
void run_key_whole_task(struct run_key *, const struct spec_task *);
/* Sets the fingerprint of the results. */
void run_fingerprint(struct run *);

/*
 * run_cache.c.  open: sets run->cache if the options allow it.  take: true if
 * the trial's result was found and added to the run.  keep: stores the result
 * of a trial after result_add(); a failure is a warning.
 */
void run_cache_open(struct run *);
bool run_cache_take(struct run_trial *);
void run_cache_keep(struct run_trial *);

/* run_workspace.c: whether the agent, inputs or graders need a directory. */
bool run_needs_workspace(const struct run_trial *);
/*
 * The directories for input files: the task's context_dir (else --context-dir,
 * else fixtures/), that of the task's file, the suite's; RUN_INPUT_DIRS.
 */
enum { RUN_INPUT_DIRS = 3 };
size_t run_input_dirs(struct arena *, const struct run *,
    const struct spec_task *, const char *dirs[RUN_INPUT_DIRS]);
/* Takes a directory of that name and sets req.scratch; 0, or -1 and *e. */
int run_make_workspace(struct run_ask *, struct str name, size_t slot,
    struct err *);
/* Copies the task's files and sets the working directory; 0, or -1 and *e. */
int run_fill_workspace(struct run_trial *, struct err *);
/* The path of an input file, or NULL. */
char *run_find_input(const struct run_trial *, struct arena *, struct str path);
/* Reports a missing input: -1, or 0 and a warning if the agent ignores it. */
int run_missing_input(struct run_trial *, const struct err *);
/* Creates and removes HOME and TMPDIR of the agent, if it gets its own. */
int run_make_home(struct run_ask *, struct err *);
void run_remove_home(struct run_ask *);

/*
 * run_repo.c: clones repositories into the workspace.  True: a child runs, and
 * the trial will continue in RUN_TRIAL_FILL.  False: all done, or ask.error
 * has the reason why not.
 */
bool run_fetch(struct run_trial *);
/* Terminates the running git. */
void run_fetch_cancel(struct run_trial *);

/*
 * run_patch.c: the agent's changes of the workspace.  scan: before the agent is
 * asked; make: sets the answer's patch.  Both are true when done, and false if
 * they are to be called again in the next turn of the loop.  drop: forgets the
 * scan.
 */
bool run_patch_scan(struct run_trial *);
bool run_patch_make(struct run_trial *);
void run_patch_drop(struct run_trial *);

/*
 * run_skills.c.  choose: lists the skills and decides how the agent gets them.
 * place: puts them into the filled workspace, if it finds them there; 0, or -1
 * and *e.  remove: removes them, once the agent has answered; harmless if
 * nothing was placed.  find: after the last answer, corrects its list of used
 * skills by the evidence; false: ask.error has the reason.  word: the way the
 * agent got the skills, or "" if it is unknown.
 */
void run_skills_choose(struct run_ask *);
int run_skills_place(struct run_ask *, struct err *);
void run_skills_remove(struct run_ask *);
bool run_skills_find(struct run_ask *);
const char *run_skills_word(const struct run_ask *);

/*
 * For run_skill*.c: the skill with that name or directory, or NULL; the last
 * name of a directory; appends to a list; makes directories below the working
 * directory, which are removed if they are empty; adds to the note.
 */
const struct run_skill *run_find_skill(const struct run_skills *, struct str);
struct str run_skill_base(struct arena *, const char *dir);
void run_skills_push(struct run_ask *, struct field_strs *, struct str);
int run_skills_make_dirs(struct run_ask *, struct str path, struct err *);
void run_skills_note(struct run_ask *, struct str note);

/*
 * run_skill_home.c: lists the skills of account and machine, and hides them
 * from the agent or reports them; 0, or -1 if one is in the way.
 */
int run_skills_home(struct run_ask *, const struct agent_skill_place *,
    struct err *);

/*
 * run_skill_git.c: an empty repository around a workspace that has none, until
 * it is removed if it is unused; and the patterns that hide placed files from
 * git.  0, or -1 with the error.  file_is: whether the file has this text.
 */
int run_repository_place(struct run_ask *, struct err *);
void run_repository_remove(struct run_ask *);
int run_hide_from_git(struct run_ask *, struct err *);
bool run_file_is(struct run_ask *, const char *path, struct str text);

/* run_skill_read.c: whether a successful call has read the SKILL.md. */
bool run_reads_skill(struct run_ask *, const struct run_skill *,
    const struct answer_call *);

/*
 * run_agent.c: a custom agent.  choose: before the prompt is made.  place: in
 * the filled workspace; 0, or -1 and *e.  preamble: adds its text to a prompt.
 * verdict: adds one to the trial if calls were denied.
 */
void run_agent_choose(struct run_ask *);
int run_agent_place(struct run_ask *, struct err *);
void run_agent_preamble(const struct run_ask *, struct buf *);
void run_agent_verdict(struct run_trial *);

/*
 * run_grade.c.  grade: starts the next grader and returns the next state.
 * decide: sets the status from the verdicts; false: it is an error.
 */
enum run_trial_state run_grade(struct run_trial *);
bool run_decide(struct run_trial *);

/* run_taint.c: what agents of the suite must not see. */
const struct taint *run_taint(struct run *);
/* Whether the agent has seen it: then the trial is tainted. */
bool run_taint_check(struct run_trial *);
void run_add_verdict(struct run_trial *, const struct verdict *);

/* Sets t->in for graders of this answer. */
void run_grader_input(struct run_trial *, const struct answer *);

/*
 * run_check.c: checkpoints.  begin: after an answer; false: this turn has none.
 * check: starts the next grader and returns the next state.  stopped: whether
 * one of them has ended the conversation.  verdicts: adds those of all
 * checkpoints to the trial.
 */
bool run_check_begin(struct run_trial *);
enum run_trial_state run_check(struct run_trial *);
bool run_check_stopped(const struct run_trial *);
void run_check_verdicts(struct run_trial *);

/*
 * run_trial.c, for it: continues in that state in the next turn of the loop;
 * whether to try again later, in that state.
 */
enum run_trial_state run_pause_until(struct run_trial *,
    enum run_trial_state next);
bool run_wait_again(struct run_trial *, uint64_t shortages,
    enum run_trial_state);

/* run_preamble.c: sets the text before the prompt; 0, or -1 and *e. */
int run_make_preamble(struct run_trial *, struct err *);
/* Whether the list contains the name, which is not empty. */
bool run_has_skill(const struct field_strs *, struct str name);

/*
 * run_turn.c.  first: prepares the first turn; 0, or -1 and *e.  next: after
 * an answer.  RUN_TURN_ASK: ask.req.prompt is the next prompt; RUN_TURN_WAIT:
 * the responder is asked, the trial will be ANSWERED again; RUN_TURN_LAST:
 * ask.job.ans holds all turns; RUN_TURN_BAD: ask.error has the reason.  end:
 * frees the dialog and, if it was interrupted, completes the answer.
 */
enum run_turn { RUN_TURN_ASK, RUN_TURN_WAIT, RUN_TURN_LAST, RUN_TURN_BAD };
int run_turn_first(struct run_trial *, struct err *);
enum run_turn run_turn_next(struct run_trial *);
/* The answer of all turns so far; no more turns follow. */
void run_turn_so_far(struct run_trial *, struct answer *);
void run_turn_stop(struct run_trial *);
void run_turn_end(struct run_trial *);

/*
 * run_shard.c: sets the tasks of the results, and of a shard their trials and
 * its plan.  Returns how many tasks are selected in all shards.
 */
size_t run_shard_select(struct run *);

/* run_plan.c, in this order before anything starts; 0, or -1 and *e. */
int run_select(struct run *, struct err *);	/* the tasks */
/* -1, and the message that no task matches --task or --tags. */
int run_no_match(struct run *, struct err *);
int run_open_journal(struct run *, struct err *);
/* Whether there is a regular file that is not empty. */
bool run_is_file(const char *path);
/* Resets trials of the journal that the options want to run again. */
void run_forget_reruns(struct run *);
/* The number of trials that run at the same time. */
size_t run_workers(const struct run *);

/*
 * run_stored.c: grading the answers of a results file again.  select: the
 * file's tasks; 0, or -1 and *e.  fill: after result_init(), imports what is
 * not graded again.  prepare: restores the request of a trial.
 */
int run_stored_select(struct run *, struct err *);
void run_stored_fill(struct run *);
void run_stored_prepare(struct run_trial *);
/* The same trial in the file. */
const struct outcome_trial *run_stored_trial(const struct run_trial *);
/* The message of the task's first imported error; empty: none. */
struct str run_stored_error(const struct run *, size_t task);
/* The old verdict of that name and the grader's type; false: none. */
bool run_stored_take(struct run_trial *, const struct spec_grader *,
    struct str name, struct verdict *out);
/* True if the grader cannot run without the agent's files: old verdict. */
bool run_stored_verdict(struct run_trial *, const struct spec_grader *,
    struct verdict *out);

/*
 * run_trigger.c: the trigger tests, which run after the tasks.  select: before
 * the journal is opened, decides whether they run.  init: once there are
 * slots.  pump: starts tests; true if none is left or running.
 */
void run_triggers_select(struct run *);
void run_triggers_init(struct run *);
bool run_triggers_pump(struct run *);
/* The number of tests that are running. */
size_t run_triggers_busy(const struct run *);
/* Interrupts the running tests; no more start. */
void run_triggers_cancel(struct run *);
/* As run_trial_drop(), for all of them. */
void run_triggers_drop(struct run *);

/*
 * run_task.c.  next_trial: the next trial of a task that has to run; ntrials:
 * none.  begin: leaves RUN_TASK_NEW.  has_hooks: whether hooks of that kind
 * run; answers that are stored need none.
 */
size_t run_next_trial(struct run *, size_t task);
void run_begin_task(struct run *, size_t task);
void run_free_tasks(struct run *);
/*
 * The task whose next trial can start now, or ntasks.  If no open task is
 * left, new ones are begun, as long as their hooks leave a slot free.
 */
size_t run_find_work(struct run *);
/* Whether no new task starts because of those that did not pass. */
bool run_is_stopped(const struct run *);
bool run_has_hooks(const struct run *, enum spec_hook_kind);
/* No more trials of the task start; it ends with those that run. */
void run_skip_task(struct run *, size_t task, const char *why);
/* The same for all tasks that have trials to start. */
void run_skip_rest(struct run *, const char *why);
/* A trial is finished and recorded; its slot is free. */
void run_trial_ended(struct run *, struct run_trial *);

/*
 * run_budget.c.  open: sets the limits of the run; -1 and *e if the executor
 * cannot keep them.  start: counts what resumed trials have spent.  room: the
 * number of trials that may start now.  ended: whether no more may, ever; then
 * run->broke is the reason.  charge: after a trial or a trigger test, what it
 * spent, and its milliseconds; task: ntasks for a test.
 */
int run_budget_open(struct run *, struct err *);
void run_budget_start(struct run *);
size_t run_budget_room(const struct run *);
bool run_budget_ended(struct run *);
void run_budget_judges(struct run *);	/* they have limits, too */
/* One trial, or trigger test, more (1) or less (-1) is running. */
void run_budget_take(struct run *, size_t task, int running);
void run_budget_charge(struct run *, size_t task, const struct result_trial *,
    int64_t took_ms);
/* Whether the next trial of a task may start, must wait, or never starts. */
enum run_may { RUN_MAY_START, RUN_MUST_WAIT, RUN_MUST_SKIP };
enum run_may run_budget_allows(struct run *, size_t task, const char **why);

/*
 * run_stop.c.  count: the result of a trial is known.  task: whether the rule
 * wants no more trials; if none runs, the task then has no others.  suite: why
 * no more tasks are needed, or NULL.
 */
void run_stop_count(struct run *, size_t task, size_t trial);
bool run_stop_task(struct run *, size_t task);
const char *run_stop_suite(const struct run *);

/*
 * run_share.c.  slots: the number of trials, or of trigger tests, that may run
 * now.  lacks: tasks may be left that wait for a slot which another run has.
 * take, release: one more of them, or one less.  join, leave: when the
 * run starts and ends.  settle: after run_pump(), gives free slots to others.
 */
size_t run_slots(const struct run *);
bool run_lacks_slot(const struct run *);
void run_take_slot(struct run *);
void run_release_slot(struct run *);
void run_join(struct run *);
void run_leave(struct run *);
void run_settle_share(struct run *);

/* run.c: */
/* Starts trials while slots are free. */
void run_pump(struct run *);
/* Ends the run with an error: cancels what is running. */
void run_abort(struct run *, const struct err *);
/* Warns, once, if another program has changed the journal. */
void run_check_journal(struct run *);
/* Emits an error event of that type; the run continues. */
void run_warn(struct run *, const char *type, const char *msg);

#endif
