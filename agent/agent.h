/* SPDX-License-Identifier: ISC */
/*
 * agent.h: agent_.  Executors: whoever answers a prompt.
 *
 * One struct agent serves the trials of a run; one struct agent_job is one
 * answer.  A job is started, reports events, and is done exactly once: either
 * agent_start says AGENT_DONE and done() is not called, or it says
 * AGENT_LATER and done() follows, from the loop.  Cancelling hastens that.
 * Deadlines are the caller's, who cancels; those of a paced kind its own.
 *
 * An answer lives in the job's arena.
 */
#ifndef WAZA_AGENT_H
#define WAZA_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "results/answer.h"

struct json;
struct procs;
struct hub;
struct spec_notes;
struct spec_suite;
struct spec_task;
struct tmpl_vars;

/* A tool of ours that the agent may call; only judges are given some. */
struct agent_tool {
	const char *name, *help;
	const char *schema;		/* of its arguments: JSON Schema */
};

/*
 * Several questions to one agent that remembers.  A job with a talk leaves in
 * it what the next one goes on with; agent_hang_up() ends that.
 */
struct agent_talk {
	void *state;			/* private to the executor */
	struct arena *arena;		/* lives as long as the talk */
};

struct agent_request {
	const struct spec_task *task;
	struct str prompt;		/* templates done */
	struct str model;
	const char *workspace;		/* or NULL: none was needed */
	const char *cwd;		/* in it; NULL: it is the workspace */
	const char *scratch;		/* begins names of its own files */
	const char *run_id;
	unsigned trial, attempt;	/* from 1 */
	size_t nfiles;			/* given to it in the workspace */
	const struct tmpl_vars *vars;
	int64_t timeout_ms;		/* for those that are paced */
	bool no_skills;			/* the baseline pass */
	const struct agent_tool *tools;	/* calls of them are in the answer */
	size_t ntools;
	unsigned sample;		/* of a judge, from 1; 0: no judge */
	bool responds;			/* it is no judge, but plays the user */
	struct agent_talk *talk;	/* or NULL: one question */
	const char *home, *tmp;		/* its HOME and TMPDIR, or NULL */
	const char *cache;		/* of that HOME, or NULL */
	/* gets each message of an agent's protocol, '>' to and '<' from it */
	void (*record)(void *arg, char way, struct str message);
	void *record_arg;
};

enum agent_event { AGENT_STEP, AGENT_TEXT, AGENT_TOOL };

struct agent_job {
	const struct agent_request *req;
	struct arena *arena;
	void (*event)(void *arg, enum agent_event, struct str detail);
	void (*done)(void *arg);
	void *arg;
	struct answer ans;
	struct agent *agent;		/* private */
	void *state;			/* private to the executor */
};

enum agent_status { AGENT_DONE, AGENT_LATER };

/* What the answers' skills are worth to trigger tests. */
enum agent_skills {
	AGENT_TELLS,		/* they are those that were used */
	AGENT_TELLS_NOT,	/* they are never said */
	AGENT_PRETENDS		/* there is no agent, and no script of them */
};

/* A row of the table of executors; what a kind has no use for is NULL. */
struct agent_kind {
	const char *name;
	const char *alias;		/* another name for it */
	const char *help;
	bool tools;			/* can offer ours to the agent */
	bool no_files;			/* does not look at its files */
	bool skilled;			/* takes skill directories itself */
	bool all_turns;			/* answers for all turns at once */
	bool private_tmp;		/* gets a TMPDIR that goes away */
	bool mcp;			/* is given config.mcp_servers, */
	bool effort;			/* and config.reasoning_effort */
	bool shared;			/* one process for all trials */
	bool own_deadline;		/* its jobs wait for their turn, and
					 * it keeps the time itself */
	/* settings of suite and tasks, before anything runs */
	void (*check)(const struct spec_suite *, struct spec_notes *);
	/* whether the task's trials need a directory; NULL: always */
	bool (*needs_workspace)(const struct spec_suite *,
	    const struct spec_task *);
	/* NULL: AGENT_TELLS */
	enum agent_skills (*skills)(const struct spec_suite *);
	int (*open)(struct agent *, struct err *);
	enum agent_status (*start)(struct agent *, struct agent_job *);
	void (*cancel)(struct agent *, struct agent_job *);
	/* of a kind that remembers; no job of the talk runs */
	void (*hang_up)(struct agent *, struct agent_talk *);
	bool (*alive)(const struct agent_talk *);	/* NULL: always */
	bool (*close)(struct agent *);	/* false: a->closed() will follow */
};

/* What a run has used so far, its judges included. */
struct agent_spent {
	int64_t tokens;
	double cost;			/* dollars */
};

struct agent {
	const struct agent_kind *kind;
	const struct spec_suite *suite;
	struct procs *procs;
	struct hub *remote;		/* clients elsewhere, or NULL */
	struct arena *arena;		/* the run's */
	size_t workers;			/* jobs at once, at most */
	struct agent_spent *spent;	/* of the run; NULL: its own */
	void (*closed)(void *arg);	/* after agent_close */
	void *arg;
	void *state;			/* private to the executor */
	/* private to agent_home.c: */
	struct agent_home {
		bool tmp, own, shared;	/* TMPDIR; HOME; for all trials */
		const char *cache;
		const char *tmp_dir, *home_dir;	/* the shared ones */
	} home;
};

/*
 * Plays the answers of a results file.  No suite can ask for it: it is not
 * found by name.  The agent's state is a const struct outcome **.
 */
extern const struct agent_kind agent_stored;

/*
 * Recordings: a file for each attempt of a trial, lines of JSON, of which the
 * last has the answer.  An agent of kind `replay` plays them; its state is a
 * const char **, the directory, where that is not in the settings.
 */
enum { AGENT_RECORD_MAX = 512 << 20 };	/* bytes of such a file */
char *agent_record_path(struct arena *, const char *dir,
    const struct agent_request *);
/* False of a replay that has no recording of the request. */
bool agent_has_answer(const struct agent *, const struct agent_request *);
/* The task's question but for what differs in every run: SHA-256. */
void agent_question(const struct agent_request *, char hex[65]);

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

enum agent_skills agent_skills(const struct agent_kind *,
    const struct spec_suite *);

bool agent_remembers(const struct agent *);	/* talks work */
/* Whether the next job of the talk would go on with what was said. */
bool agent_talks(const struct agent *, const struct agent_talk *);
void agent_hang_up(struct agent *, struct agent_talk *);

/* Whether trials of the task need a workspace for this executor. */
bool agent_roams(const struct agent *, const struct spec_task *);

/* Where the agent is to start: in its workspace; NULL: anywhere. */
const char *agent_cwd(const struct agent_request *);

/*
 * TMPDIR and HOME of the agent's own, as far as it gets them: made before a
 * job, put into the request, and removed after the last one.  Those of a
 * process that serves all trials stay until agent_leave.  `scratch` is what
 * their names begin with, `shared` the same for the latter.
 */
int agent_move_in(struct agent *, struct arena *, struct agent_request *,
    const char *scratch, const char *shared, struct err *);
int agent_move_out(struct agent *, struct agent_request *, struct err *);
int agent_leave(struct agent *, struct err *);

/* Whether agent_move_in does anything. */
bool agent_moves(const struct agent *);

/* Variables that lead git to another repository than the one it is in. */
enum { AGENT_GIT_VARS = 8 };
extern const char *const agent_git_vars[AGENT_GIT_VARS];

#endif
