/* SPDX-License-Identifier: ISC */
/*
 * agent.h: agent_.  Executors: the programs and services that answer a prompt.
 *
 * One struct agent serves the trials of a run; one struct agent_job produces
 * one answer.  Each job completes exactly once: either agent_start() returns
 * AGENT_DONE and done() is not called, or it returns AGENT_LATER and done() is
 * called later, from the loop.  agent_cancel() makes done() come sooner.  The
 * caller enforces deadlines by cancelling, unless the kind has own_deadline.
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
struct spec_agent;
struct spec_budget;
struct spec_notes;
struct spec_suite;
struct spec_task;
struct tmpl_vars;

/* A tool that waza offers to the agent; only judges get any. */
struct agent_tool {
	const char *name, *help;
	const char *schema;		/* JSON Schema of the arguments */
};

/*
 * Several prompts to one agent that remembers the earlier ones.  Each job of
 * the conversation leaves its session in `state` for the next one;
 * agent_conversation_end() releases it.
 */
struct agent_conversation {
	void *state;			/* private to the executor */
	struct arena *arena;		/* lives as long as the conversation */
};

/* A skill that the agent finds although it is not the suite's. */
struct agent_foreign {
	struct str name, dir;		/* in its front matter; directory */
	const char *path;		/* of that directory */
};

struct agent_request {
	const struct spec_task *task;
	struct str prompt;		/* templates are expanded */
	struct str model;
	const char *workspace;		/* NULL: none was needed */
	const char *cwd;		/* in the workspace; NULL: its root */
	const char *scratch;		/* prefix for names of private files */
	const char *run_id;
	unsigned trial, attempt;	/* from 1 */
	size_t nfiles;			/* input files in the workspace */
	const struct tmpl_vars *vars;
	int64_t timeout_ms;		/* for kinds with own_deadline */
	bool no_skills;			/* the baseline pass */
	bool ref_skills;		/* the pass with skills of a revision */
	struct str system;		/* body of a custom agent, for kinds
					 * with takes_system; or empty */
	const char *custom;		/* its name, if it was placed where the
					 * agent finds it; or NULL */
	const struct agent_tool *tools;	/* their calls are in the answer */
	size_t ntools;
	unsigned sample;		/* of a judge, from 1; 0: not a judge */
	bool responds;			/* plays the user; sample is not 0 */
	struct agent_conversation *conversation;	/* NULL: one prompt */
	const char *home, *tmp;		/* private HOME and TMPDIR, or NULL */
	const char *cache;		/* .cache of that HOME, or NULL */
	const struct agent_foreign *hidden;	/* skills to leave out */
	size_t nhidden;
	const char *git_ignore;		/* excludes file for git, or NULL */
	const char *mocks;		/* directory of the trial's mocks, see
					 * mock/mock.h; or NULL */
	/* gets each protocol message: '>' to the agent, '<' from it */
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

/* What the list of skills in an answer means. */
enum agent_skills {
	AGENT_SKILLS_REPORTED,	/* complete: an empty list means none used */
	AGENT_SKILLS_SOMETIMES,	/* an empty list proves nothing */
	AGENT_SKILLS_NEVER,	/* always empty */
	AGENT_SKILLS_SIMULATED	/* no agent, and no script names skills */
};

/* What an executor needs before it can answer. */
enum agent_needs {
	AGENT_NEEDS_NOTHING,	/* built in */
	AGENT_NEEDS_COMMAND,	/* a command, named by the suite */
	AGENT_NEEDS_PROGRAM,	/* an agent that is known by name */
	AGENT_NEEDS_SERVER	/* a model's HTTP API, usually with a key */
};

/* A row of the table of executors.  Functions may be NULL unless noted. */
struct agent_kind {
	const char *name;
	const char *alias;		/* second name, or NULL */
	enum agent_needs needs;
	bool offers_tools;		/* passes request.tools to the agent */
	bool no_files;			/* does not read the workspace */
	bool loads_skills;		/* gets skill directories: the prompt
					 * does not have to contain skills */
	bool all_turns;			/* one answer covers all turns */
	bool replays;			/* answers of an earlier run */
	bool private_tmp;		/* gets a TMPDIR that is removed */
	bool takes_mcp;			/* config.mcp_servers has an effect */
	bool takes_effort;		/* and config.reasoning_effort */
	bool takes_system;		/* sends request.system */
	bool shared_process;		/* one process serves all trials */
	bool side_by_side;		/* trials run at the same time unless
					 * the suite sets their number */
	bool own_deadline;		/* queues jobs: enforces timeout_ms
					 * itself, from the real start */
	bool scripted;			/* answers come from `mock` scripts */
	bool cannot_judge;		/* never a judge or responder */
	const char *edits_only;		/* value of `permissions`, in JSON, for
					 * reading and editing files only;
					 * NULL: has no such setting */
	bool evaluates;			/* uses `tool` and `input` of tasks */
	/* notes problems in the settings of suite and tasks */
	void (*check)(const struct spec_suite *, struct spec_notes *);
	/* whether trials of the task need a directory; NULL: always */
	bool (*needs_workspace)(const struct spec_suite *,
	    const struct spec_task *);
	/* for a task, or NULL for trigger tests; NULL: always REPORTED */
	enum agent_skills (*skills)(const struct spec_suite *,
	    const struct spec_task *);
	/* whether answers list tool calls; NULL: always */
	bool (*reports_calls)(const struct spec_suite *);
	int (*open)(struct agent *, struct err *);
	/* limits of tokens and cost in its settings, once it is open */
	void (*limits)(const struct agent *, struct spec_budget *);
	enum agent_status (*start)(struct agent *, struct agent_job *);
	void (*cancel)(struct agent *, struct agent_job *);
	/* NULL: no conversations; no job of this one is running */
	void (*conversation_end)(struct agent *, struct agent_conversation *);
	/* NULL: always */
	bool (*conversation_open)(const struct agent_conversation *);
	bool (*close)(struct agent *);	/* false: a->closed() follows */
};

/* Where the processes of an executor can write. */
enum agent_confinement {
	AGENT_NO_PROCESS,	/* it has none on this machine */
	AGENT_CONFINED,		/* by waza, see agent_confine.c */
	AGENT_SANDBOX,		/* the agent confines its commands itself */
	AGENT_UNABLE,		/* anywhere: this system cannot confine it */
	AGENT_LOOSE,		/* anywhere: confinement is off */
	AGENT_CUSTOM		/* the same for a command of the suite */
};

struct agent {
	const struct agent_kind *kind;
	const struct spec_suite *suite;
	struct procs *procs;
	struct hub *hub;		/* of evaluation clients, or NULL */
	struct arena *arena;		/* the run's */
	size_t workers;			/* maximum number of jobs at once */
	const char *mock_bin;		/* directory of mocked commands, which
					 * is first in PATH; or NULL */
	const char *const *sealed;	/* real paths of files that a confined
					 * agent cannot read, ends with NULL;
					 * or NULL */
	void (*closed)(void *arg);	/* after agent_close() */
	void *arg;
	void *state;			/* private to the executor */
	/* private to agent_home.c: */
	struct agent_home {
		bool tmp;		/* gets its own TMPDIR */
		bool own;		/* and its own HOME */
		bool shared;		/* one of each for all trials */
		const char *cache;
		const char *tmp_dir, *home_dir;	/* the shared ones */
		enum agent_confinement confined;
	} home;
};

/*
 * Plays the answers of a results file.  Suites cannot name it: agent_find()
 * does not return it.  The agent's state is a const struct outcome **.
 */
extern const struct agent_kind agent_stored;

/*
 * The same for answers of no agent (agent_control.c) and for altered
 * recordings (agent_mutate.c).  The agent's state is a struct agent_control.
 */
extern const struct agent_kind agent_control, agent_mutate;
enum agent_mutation {
	AGENT_AS_RECORDED, AGENT_HALF_OUTPUT, AGENT_NO_WORDS,
	AGENT_OTHER_NUMBERS, AGENT_NO_OUTPUT, AGENT_NO_CALLS, AGENT_NO_FILES,
	AGENT_NOTHING, AGENT_MUTATIONS
};
struct agent_control {
	int kind;			/* enum spec_control_kind */
	struct str text;		/* the answer, unless the task has a
					 * script in `mock` */
	/* of agent_mutate: */
	const char *replay;		/* directory of the recordings */
	const struct spec_task *tasks;	/* AGENT_MUTATIONS for each task */
	bool *altered;			/* set if the answer of the i-th was */
};
/* Names the alteration, for reports. */
const char *agent_mutation_name(size_t);

/*
 * Recordings: one file per attempt, lines of JSON; the last line contains the
 * answer.  Executor `replay` plays them; its state is a const char **, the
 * directory, if the settings do not name one.  The path is in the arena.
 */
enum { AGENT_RECORD_MAX = 512 << 20 };	/* bytes of such a file */
char *agent_record_path(struct arena *, const char *dir,
    const struct agent_request *);
/* False if the executor is `replay` and the request was not recorded. */
bool agent_has_answer(const struct agent *, const struct agent_request *);
/*
 * SHA-256, in hexadecimal, of the task's prompts with their templates expanded
 * except for values that differ in every run.
 */
void agent_prompt_hash(const struct agent_request *, char hex[65]);

/* The keys of a mock's script, and of an entry of `mcp_servers`. */
extern const struct field_table agent_script_table, agent_server_table;

/* The keys of an executor's settings; NULL: it has none in a block. */
const struct field_table *agent_settings_table(const struct agent_kind *);

/* The executor of that name or alias, or NULL. */
const struct agent_kind *agent_find(struct str name);
/* The i-th executor, sorted by name; NULL at the end. */
const struct agent_kind *agent_nth(size_t i);

/*
 * Call it before a suite is loaded, with the executor of the run (empty: the
 * suite's), so that the loader knows what the tasks are for.
 */
void agent_expect(struct spec_notes *, struct str executor);

/*
 * For the end of a message about an unknown executor: what to use instead of a
 * name that other programs have, similar names, and the list of executors.
 */
struct str agent_advice(struct arena *, struct str name);
/*
 * For commands that only validate: notes input files that do not exist and
 * hooks whose program is missing (spec_check_missing()).
 */
void agent_check_files(const struct spec_suite *, struct spec_notes *);

/* Notes problems with the executor of that name and its settings. */
void agent_check(const struct spec_suite *, struct str name,
    struct spec_notes *);

/*
 * The same for all executors of the suite: those of its matrix, or its own.
 * Messages about one of the matrix name its place there, unless executor_at
 * names an option.
 */
void agent_check_all(const struct spec_suite *, struct spec_notes *);

/* An executor's settings, from all their places, as one object in the arena. */
const struct json *agent_settings(struct arena *, const struct spec_suite *,
    const char *name);

/*
 * Opening needs the public fields of the agent; 0, or -1 with the error.
 * Start fills job->ans (see the top of this file).  Cancel only a job whose
 * start returned AGENT_LATER and that is not done.
 */
int agent_open(struct agent *, struct err *);
enum agent_status agent_start(struct agent *, struct agent_job *);
void agent_cancel(struct agent *, struct agent_job *);
/*
 * Forgets such a job when the loop has failed and the children have ended: its
 * memory can be freed, and done() is not called.
 */
void agent_drop(struct agent *, struct agent_job *);

/* The limits in the settings of an open executor; unchanged: none. */
void agent_limits(const struct agent *, struct spec_budget *);

/*
 * Call when no job is running.  True if everything is released; otherwise
 * children are still terminating, and a->closed() is called once they have.
 */
bool agent_close(struct agent *);

/*
 * agent_skills.c: where an agent looks for skills, and those that it brings
 * along.  Lists end with NULL.
 */
struct agent_skill_home {	/* $env/dir, ~/base/dir, or dir alone */
	const char *env;	/* or NULL */
	const char *base, *dir;	/* base NULL: of the machine, an absolute dir */
};
/* The setting that makes an agent leave out skills: agent_hide.c. */
enum agent_hiding {
	AGENT_HIDE_NEVER,		/* it has no setting for that */
	AGENT_HIDE_CLAUDE, AGENT_HIDE_CODEX, AGENT_HIDE_GEMINI,
	AGENT_HIDE_OPENCODE
};
struct agent_skill_place {
	const char *name, *alias;	/* of the agent; alias may be NULL */
	const char *dir;		/* in the working directory */
	struct agent_skill_home home[7];	/* of the account */
	const char *builtin[18];
	bool unproven;			/* uses may be missing in answers */
	enum agent_hiding hiding;
};
/* The row of an agent by its name; NULL: unknown. */
const struct agent_skill_place *agent_skill_place(struct str agent);
/* The same for the agent that the suite configures for an executor. */
const struct agent_skill_place *agent_skill_place_of(const struct agent_kind *,
    const struct spec_suite *);
/* The path of home[i] in the arena; NULL: there is no HOME. */
const char *agent_skill_home(struct arena *, const struct agent_skill_place *,
    size_t i);

/* How an executor gets the suite's skills. */
enum agent_skills_way {
	AGENT_SKILLS_NONE,		/* not at all */
	AGENT_SKILLS_NATIVE,		/* placed where it looks for them */
	AGENT_SKILLS_PROMPT,		/* pasted into the prompt */
	AGENT_SKILLS_DIRECTORIES	/* their paths */
};
enum agent_skills_way agent_skills_way(const struct agent_kind *,
    const struct spec_suite *);

/* Whether the agent finds skills and brings some along, as in the table. */
bool agent_finds_skills(const struct agent_kind *, const struct spec_suite *);
/* Whether the name is that of a built-in skill. */
bool agent_brings_skill(const struct agent_kind *, const struct spec_suite *,
    struct str name);

/*
 * That setting for the agent of a run; NEVER also if settings of the user are
 * in the way.  Its file, for AGENT_HIDE_GEMINI, is below the
 * working directory; the caller writes agent_hide_json() to it.
 */
enum agent_hiding agent_hiding(const struct agent *);
#define AGENT_HIDE_FILE ".gemini/settings.json"
struct str agent_hide_json(struct arena *, enum agent_hiding,
    const struct agent_request *);

/*
 * agent_policy.c.  The custom agent that a request is for, or NULL; whether an
 * executor denies tools that are not the agent's before they run.
 */
const struct spec_agent *agent_custom(const struct agent_request *);
bool agent_enforces_tools(const struct agent_kind *);
/* Sets the mode of its policy in the answer. */
void agent_policy_note(struct agent_job *);
/* Where the executor's agent looks for custom agents; NULL: nowhere. */
struct agent_custom_place {
	const char *dir;		/* in the working directory */
	const char *ending;		/* of a file's name */
};
const struct agent_custom_place *agent_custom_place(const struct agent_kind *);

/* Whether trials get mocks: the executor runs programs of an agent. */
bool agent_takes_mocks(const struct agent_kind *);
/* The file with a mocked MCP server in request.mocks, in the arena. */
char *agent_mock_file(struct arena *, const char *mocks, size_t i);

/*
 * MCP servers for AGENT_HIDE_FILE, as JSON, for an agent that takes them only
 * from there; else empty.
 */
struct str agent_mcp_settings(struct arena *, const struct agent *,
    const struct agent_request *);

/* Whether it gets a HOME of its own. */
bool agent_has_own_home(const struct agent *);

/* What skills in answers mean, for a task or (NULL) for trigger tests. */
enum agent_skills agent_skills(const struct agent_kind *,
    const struct spec_suite *, const struct spec_task *);

/*
 * Whether answers of the suite's executor can contain skills, for a task or
 * (NULL) for any of its tasks; and whether they list tool calls.  True for an
 * unknown executor, which agent_check() reports.
 */
bool agent_may_report_skills(const struct spec_suite *,
    const struct spec_task *);
bool agent_reports_calls(const struct spec_suite *);

/* What graders need of answers. */
enum {
	AGENT_CALLS = 1, AGENT_NAMES = 2, AGENT_ARGUMENTS = 4,
	AGENT_TOKENS = 8, AGENT_TURNS = 16
};
/* What answers of the suite's executor certainly lack, or'ed. */
unsigned agent_untold(const struct spec_suite *);
/* The agent's name for messages: "gemini over ACP", or the executor's. */
struct str agent_label(struct arena *, struct str executor,
    const struct spec_suite *);

/* Whether the executor supports conversations. */
bool agent_has_conversations(const struct agent *);
/* Whether the next job would continue the conversation. */
bool agent_conversation_open(const struct agent *,
    const struct agent_conversation *);
/* Releases the session; harmless if there is none. */
void agent_conversation_end(struct agent *, struct agent_conversation *);

/* Whether trials of the task need a workspace with this executor. */
bool agent_needs_workspace(const struct agent *, const struct spec_task *);

/* The agent's working directory in its workspace; NULL: any. */
const char *agent_cwd(const struct agent_request *);

/*
 * How `permissions` reach the agent of an executor: "asked" (its requests are
 * answered), "mode", "options", "sandbox" or "variable"; NULL: not at all.
 */
const char *agent_permits(struct arena *, const struct agent_kind *,
    const struct spec_suite *);

/* Whether waza confines it.  Call it after agent_open(). */
bool agent_is_confined(const struct agent *);
/* Whether a known agent can write anywhere.  Call it after agent_open(). */
bool agent_is_loose(const struct agent *);

/*
 * Whether the agent breaks if two of its processes start at once, because none
 * has been started in its HOME before.  Call it after agent_open().
 */
bool agent_starts_alone(const struct agent *);

/*
 * TMPDIR and HOME of the agent's own, if it gets them (agent_has_own_dirs).
 * agent_make_dirs() creates them before a job and sets them in the request;
 * agent_remove_dirs() removes them after the last job.  Those of a process
 * that serves all trials are created once and remain until
 * agent_remove_shared_dirs().  `scratch` is the prefix of their paths,
 * `shared` that of the shared ones.  0, or -1 with the error.
 */
bool agent_has_own_dirs(const struct agent *);
int agent_make_dirs(struct agent *, struct arena *, struct agent_request *,
    const char *scratch, const char *shared, struct err *);
int agent_remove_dirs(struct agent *, struct agent_request *, struct err *);
int agent_remove_shared_dirs(struct agent *, struct err *);

#endif
