/* SPDX-License-Identifier: ISC */
/*
 * agent.h: agent_.  Executors: whoever answers a prompt.
 *
 * One struct agent serves the trials of a run; one struct agent_job is one
 * answer.  A job is started, reports events, and is done exactly once: either
 * agent_start says AGENT_DONE and done() is not called, or it says
 * AGENT_LATER and done() follows, from the loop.  Cancelling hastens that.
 * Deadlines are the caller's, who cancels.
 *
 * An answer lives in the job's arena.
 */
#ifndef WAZA_AGENT_H
#define WAZA_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base.h"
#include "field.h"

struct json;
struct procs;
struct spec_notes;
struct spec_suite;
struct spec_task;
struct tmpl_vars;

/* Why there is no (whole) answer; only the first is the agent's own doing. */
enum agent_fault {
	AGENT_OK,
	AGENT_FAILED,		/* exit status, crash, refusal, protocol */
	AGENT_INFRA,		/* could not be started; system */
	AGENT_CANCELLED
};

struct agent_call {		/* of a tool */
	struct agent_call *next;
	struct str name;
	struct str arguments;	/* one JSON value */
	struct str result;	/* one JSON value, or empty */
	bool success;
};

struct agent_usage {
	bool known;
	int64_t turns, input_tokens, output_tokens;
	int64_t cache_read_tokens, cache_write_tokens;
	double premium_requests, cost;
};

struct agent_answer {
	struct str output;
	struct agent_call *calls;	/* in the order of their start */
	size_t ncalls;
	struct field_strs skills;	/* invoked, in order */
	struct agent_usage usage;
	struct str transcript;		/* a JSON list, or empty */
	struct str session_id;
	enum agent_fault fault;
	struct str error;		/* in words; empty: none */
	int exit_status;		/* -1: none */
	struct str stderr_tail;
	bool truncated;			/* it wrote more than is kept */
};

struct agent_request {
	const struct spec_task *task;
	struct str prompt;		/* templates done */
	struct str model;
	const char *workspace;		/* or NULL: none was needed */
	const char *scratch;		/* begins names of its own files */
	const char *run_id;
	unsigned trial, attempt;	/* from 1 */
	size_t nfiles;			/* given to it in the workspace */
	const struct tmpl_vars *vars;
	bool no_skills;			/* the baseline pass */
};

enum agent_event { AGENT_STEP, AGENT_TEXT, AGENT_TOOL };

struct agent_job {
	const struct agent_request *req;
	struct arena *arena;
	void (*event)(void *arg, enum agent_event, struct str detail);
	void (*done)(void *arg);
	void *arg;
	struct agent_answer ans;
	struct agent *agent;		/* private */
	void *state;			/* private to the executor */
};

enum agent_status { AGENT_DONE, AGENT_LATER };

/* A row of the table of executors; what a kind has no use for is NULL. */
struct agent_kind {
	const char *name;
	const char *help;
	/* settings of suite and tasks, before anything runs */
	void (*check)(const struct spec_suite *, struct spec_notes *);
	/* whether the task's trials need a directory; NULL: always */
	bool (*roams)(const struct spec_suite *, const struct spec_task *);
	int (*open)(struct agent *, struct err *);
	enum agent_status (*start)(struct agent *, struct agent_job *);
	void (*cancel)(struct agent *, struct agent_job *);
	bool (*close)(struct agent *);	/* false: a->closed() will follow */
};

struct agent {
	const struct agent_kind *kind;
	const struct spec_suite *suite;
	struct procs *procs;
	struct arena *arena;		/* the run's */
	size_t workers;			/* jobs at once, at most */
	void (*closed)(void *arg);	/* after agent_close */
	void *arg;
	void *state;			/* private to the executor */
};

const struct agent_kind *agent_find(struct str name);	/* or NULL */
const struct agent_kind *agent_nth(size_t);	/* of all; NULL at the end */

/* Notes what is wrong with the suite's executor and its settings. */
void agent_check(const struct spec_suite *, struct str name,
    struct spec_notes *);

int agent_open(struct agent *, struct err *);	/* the public fields are set */
enum agent_status agent_start(struct agent *, struct agent_job *);
void agent_cancel(struct agent *, struct agent_job *);

/*
 * No job runs.  True when all is put away; otherwise children are still
 * being ended, and a->closed() is called, once, when they are gone.
 */
bool agent_close(struct agent *);

/* Whether trials of the task need a workspace for this executor. */
bool agent_roams(const struct agent *, const struct spec_task *);

#endif
