/* SPDX-License-Identifier: ISC */
/*
 * agent_internal.h: agent_.  The executors, and functions that they share:
 * settings, environment, answers, persistent workers.  Only for agent/.
 */
#ifndef WAZA_AGENT_INTERNAL_H
#define WAZA_AGENT_INTERNAL_H

#include <stdarg.h>

#include "agent/agent.h"

struct json;
struct json_out;
struct mask;
struct proc;
struct spec_where;

extern const struct agent_kind agent_acp, agent_claude, agent_codex,
    agent_command, agent_copilot, agent_copilot_cli, agent_gemini,
    agent_mock, agent_openai, agent_opencode, agent_qwen, agent_remote,
    agent_replay;

/*
 * Plays the recording of the request in that directory; *wrote: it has files.
 */
enum agent_status agent_play_recording(struct agent_job *, const char *dir,
    bool *wrote);

/* For kinds without a workspace, and for those that never report skills. */
bool agent_no_workspace(const struct spec_suite *, const struct spec_task *);
enum agent_skills agent_no_skills(const struct spec_suite *,
    const struct spec_task *);

/*
 * The places of an executor's settings; later ones take precedence:
 * `executors.NAME` of the user's settings; the suite's `config`, its
 * `config.executors.NAME` and `config.NAME`; for a judge, its `judge` blocks
 * and the member NAME of each.  v may be NULL.
 */
enum { AGENT_OWN_BLOCKS = 4, AGENT_BLOCKS = 16 };
struct agent_block {
	const struct json *v;
	const char *file;		/* NULL: the user's settings */
	bool open;			/* has settings of others, too */
};
/* Fills `out` in that order and returns the number. */
size_t agent_blocks(const struct spec_suite *, const char *name,
    struct agent_block out[AGENT_BLOCKS]);

/* Notes problems with the settings `home`, `cache_home` and `confine`. */
void agent_home_check(const struct spec_suite *, const struct agent_kind *,
    struct spec_notes *);

/* The setting `confine`, and the confinement that it leads to. */
enum { AGENT_CONFINE_DEFAULT = -1, AGENT_CONFINE_OFF, AGENT_CONFINE_WORKSPACE };
enum agent_confinement agent_confinement(struct arena *,
    const struct agent_kind *, const struct spec_suite *, int setting);

/*
 * What a process with that environment may write and read, as os_spawn.h takes
 * it, in the arena; NULL: it is not confined.  Creates the directories of the
 * agent's state that are missing.
 */
const struct os_bounds *agent_bounds(const struct agent *, struct arena *,
    const struct agent_request *, const char *const *env);

/* Reads these settings into a->home; 0, or -1 with the error. */
int agent_home_read(struct agent *, struct err *);

/*
 * Fills `set` with the changes to the environment, as os_env() takes them,
 * that set TMPDIR and HOME; returns their number, at most AGENT_HOME_MAX.
 */
enum { AGENT_HOME_MAX = 8 };
size_t agent_home_env(struct arena *, const struct agent_request *,
    const char **set);

/*
 * Appends a member {NAME: value} to the n changes in `set`, for os_env().
 * 0, or -1 with the error if its name or value cannot be in an environment.
 */
int agent_env_add(struct arena *, const struct json *member,
    const char **set, size_t *n, struct err *);

/* The environment as far as the settings of the executor change it. */
const char **agent_settings_env(struct arena *, const struct agent *);

/* Codex's list of hidden skills, as a value in TOML. */
struct str agent_hide_words(struct arena *, const struct agent_request *);

/* A scalar as text: true or false, "" for null, else as it was written. */
struct str agent_scalar(const struct json *);

/* An environment with TMPDIR and HOME of a process for all trials. */
const char **agent_home_over(struct agent *, const char *const *env);

/*
 * "--flag=" and its value as one word, so that a value from a suite or a
 * client that begins with a dash is not an option.  NULL: it contains a NUL.
 */
const char *agent_word(struct arena *, const char *flag, struct str value);

/*
 * argv of a `command`: a list is argv, a string is a line for the shell.
 * Templates are expanded; a list's program with a slash, and the script of an
 * interpreter, are relative to the suite.  In the arena; NULL with the error.
 */
const char **agent_argv(struct arena *, const struct spec_suite *,
    const struct json *command, const struct tmpl_vars *, struct err *);

/*
 * Whether it is a mapping of names to strings, numbers or booleans, or absent;
 * notes each problem, at its place in the file, unless notes is NULL.
 */
bool agent_check_map(const struct json *map, const char *what,
    const char *file, struct spec_notes *);

/* Notes what is wrong with such a `command`, at its place or at `at`. */
void agent_check_command(const struct spec_suite *, const struct json *command,
    const struct spec_where *at, struct spec_notes *);

/*
 * The environment of a program: WAZA_ variables, TMPDIR, HOME; `trial` adds
 * those of one trial and writes the prompt's file.  NULL with the error.
 */
const char **agent_env(struct arena *, const struct spec_suite *,
    const struct agent_request *, bool trial, struct err *);

/*
 * The setting `permissions`: absent or "approve", "deny", or a list of kinds.
 * Whether it approves the kind; whether it is a list that contains it.
 */
bool agent_approves(const struct json *permissions, struct str kind);
bool agent_lists(const struct json *permissions, struct str kind);

/* Sets the answer's exit status and stderr, and its fault if it failed. */
void agent_set_exit(struct agent_job *, const struct proc *,
    struct str stderr_tail);

/*
 * MCP servers of the suite and, for a request with mocks, those that replace
 * them.  check: notes problems.  any: whether there are any.  put: writes them
 * in a form.  file: writes {"mcpServers": {...}} to a private file of the
 * trial, since it may contain keys, and returns the path, or NULL with the
 * error.  variable: "NAME={...}" for opencode, with its settings in env.
 */
enum agent_mcp_form {
	AGENT_MCP_MAP,		/* {NAME: {}}, for Claude and Copilot */
	AGENT_MCP_LIST,		/* [{name: NAME}], for ACP */
	AGENT_MCP_GEMINI,	/* as MAP, without the type */
	AGENT_MCP_OPENCODE,	/* {NAME: {command: []}} */
	AGENT_MCP_TOML		/* {NAME={}}, for Codex */
};
void agent_mcp_check(const struct spec_suite *, struct spec_notes *);
bool agent_mcp_any(const struct spec_suite *, const struct agent_request *);
void agent_mcp_put(struct json_out *, const struct spec_suite *,
    const struct agent_request *, enum agent_mcp_form);
struct str agent_mcp_toml(struct arena *, const struct spec_suite *,
    const struct agent_request *);
const char *agent_mcp_variable(struct arena *, const char *name,
    const struct spec_suite *, const struct agent_request *,
    const char *const *env);
const char *agent_mcp_file(struct arena *, const struct spec_suite *,
    const struct agent_request *, struct err *);

/*
 * agent_mocks.c: an environment whose PATH begins with the mocked commands, if
 * the run has any, else env itself; r NULL: of a process that serves all
 * trials.  check: notes mocks that the executor cannot take.
 */
const char *const *agent_mocks_env(const struct agent *, struct arena *,
    const struct agent_request *r, const char *const *env);
void agent_mocks_check(const struct agent_kind *, const struct spec_suite *,
    struct spec_notes *);

/*
 * The pool of persistent workers, for config.persistent: the open, start,
 * cancel and close of a kind.
 */
int agent_pool_open(struct agent *, struct err *);
enum agent_status agent_pool_start(struct agent *, struct agent_job *);
void agent_pool_cancel(struct agent *, struct agent_job *);
bool agent_pool_close(struct agent *);

/*
 * Sets the cost of the answer by the prices of the settings, if they contain
 * the model: they take precedence over the agent's own figure.
 */
void agent_price(const struct agent *, struct agent_job *);

/* Completes a job later: sets the cost and calls its done(). */
void agent_done(struct agent_job *);

/* Whether a model that stops for this reason reached a limit of tokens. */
bool agent_is_limit(struct str reason);
/* Makes an answer that such a limit cut an error. */
void agent_fail_cut(struct agent_job *, struct str reason);

/* Make the answer an error; agent_fail() returns AGENT_DONE. */
enum agent_status agent_fail(struct agent_job *, enum answer_fault,
    const char *fmt, ...) PRINTF(3, 4);
void agent_vfail(struct agent_job *, enum answer_fault, const char *fmt,
    va_list) PRINTF(3, 0);

/* Whether the member is true. */
bool agent_is_true(const struct json *obj, const char *key);

/* A value as JSON text in the arena. */
struct str agent_json_text(struct arena *, const struct json *);

/* An answer as a mock's script or a persistent worker writes it. */
struct agent_script {
	struct str output, error;
	const struct json *tool_calls, *usage, *files;
	struct field_strs skills;
	int64_t delay_ms;
};

/*
 * Reads such an object; strings point into the tree.  Skips wrong members;
 * returns -1 if there were any, else 0.
 */
int agent_read_script(struct arena *, const struct json *,
    struct agent_script *);

/* Makes the script the job's answer, with a transcript. */
void agent_play(struct agent_job *, const struct agent_script *);

/* Whether the member is a number that can be a count of tokens or turns. */
bool agent_is_count(const struct json *obj, const char *key);

/* Marks the counts as known that an object in our own format contains. */
void agent_usage_known(struct answer_usage *, const struct json *usage);

/* Appends a skill to the answer's list. */
void agent_add_skill(struct agent_job *, struct str name);

/* Writes [{path, content}] to the workspace; the answer fails on errors. */
void agent_write_files(struct agent_job *, const struct json *files);

/* Begins the event of a call in a transcript; the caller closes it. */
void agent_open_call(struct json_out *, const struct answer_call *);

/* Writes the transcript from the answer's calls and output. */
void agent_put_transcript(struct agent_job *);

/* Replaces secrets by stars everywhere in the answer. */
void agent_mask(struct agent_job *, const struct mask *);

/*
 * Programs with a preset (agent_preset.c): argv, environment and the format of
 * their output.
 */
enum agent_prompt_way {
	AGENT_BY_STDIN,			/* as it is */
	AGENT_BY_MESSAGE,		/* as a line of JSON for Claude */
	AGENT_BY_ARGUMENT		/* the last word, or in "--flag=" */
};

/* What a program may do without asking, besides reading. */
enum {
	AGENT_MAY_EDIT = 1, AGENT_MAY_EXECUTE = 2, AGENT_MAY_FETCH = 4,
	AGENT_MAY_ALL = 8		/* alone: it asks nothing at all */
};

struct agent_permit {
	unsigned when, unless;		/* it may all of, none of these */
	const char *words[2];		/* then these are arguments */
};

/* The help of settings that several executors have. */
#define AGENT_CLI_HELP "path of the agent's program"
#define AGENT_ENV_HELP "environment variables of the agent"
#define AGENT_PERMISSIONS_HELP \
	"actions that the agent is allowed: approve, deny or a list of kinds"
#define AGENT_HOME_HELP \
	"HOME of the agent's process: the user's, or an empty one per trial"
#define AGENT_CACHE_HELP \
	"directory that a private HOME has as .cache; empty: none"
#define AGENT_CONFINE_HELP "where the agent's processes can write"

/* The keys of the settings of these executors. */
extern const struct field_table *const acp_table, *const copilot_table,
    *const openai_table;

struct agent_preset {
	const char *name, *program, *format;
	const char *args[12];		/* before those below */
	struct agent_permit permits[5];
	const char *permit_env;		/* variable with a JSON object of
					 * permissions, or NULL */
	const char *model_flag;		/* "--model=" */
	const char *prompt_flag;
	const char *usage_flag;		/* file for tokens: "--flag=", NULL */
	const char *effort[2], *mcp[2], *hide[2];	/* words; the level,
					 * the name of a file, or a list of
					 * skills is appended to the last */
	enum agent_mcp_form mcp_form;
	const char *mcp_env;		/* variable for MCP servers, or NULL */
	enum agent_prompt_way way;
	const char *env[3];
	struct agent_custom_place custom;	/* dir NULL: nowhere */
	const char *custom_flag;	/* "--agent=" */
};

/*
 * agent_policy.c.  The custom agent whose tools are limited, or NULL; whether
 * a call is permitted, else it is noted in the answer; a system message with
 * the body of the custom agent.
 */
const struct spec_agent *agent_policy(const struct agent_request *);
bool agent_policy_permits(struct agent_job *, const struct answer_call *);
struct str agent_system(struct arena *, const struct agent_request *,
    struct str own);

/* The preset of that executor, or NULL. */
const struct agent_preset *agent_preset(const char *name);

/* Sets argv, environment and stdin for a job; 0, or -1 with the error. */
struct proc_opts;
int agent_preset_set(const struct agent_preset *, struct agent *,
    struct agent_job *, struct proc_opts *, struct err *);

/*
 * "NAME={...}" with the permissions as opencode takes them, which also hide
 * skills; NULL: it may do everything.
 */
const char *agent_permit_variable(struct arena *, const char *name,
    const struct json *permissions, const struct agent_request *);

/* The file that a preset with usage_flag writes, or NULL. */
const char *agent_usage_file(struct arena *, const struct agent_request *);

/* Notes problems with the settings of the suite's preset. */
void agent_preset_check(const struct spec_suite *, struct spec_notes *);

/*
 * The output of a program (agent_stream.c): text, or events as one JSON object
 * per line, in one of the formats of agent_formats.c.  Everything but the
 * buffers lives in the job's arena.
 */
struct agent_stream_call {
	struct agent_stream_call *prev;
	struct str id;			/* the agent's, to find the result */
	struct answer_call call;
};

struct agent_stream {
	struct agent_job *job;
	const struct agent_format *format;
	struct buf line;		/* incomplete */
	struct buf text;		/* of the answer */
	struct buf all;			/* may be one document */
	struct agent_stream_call *last;
	struct answer_call **tail;
	struct str error;
	struct str limit;		/* of tokens, that cut the answer */
	size_t events;			/* objects that were read */
	bool lost;			/* an event could not be read */
	size_t gap;			/* line of one that may have been a part
					 * of the answer, or 0 */
	bool orphan;			/* a result had no call */
	size_t lines, bad_line;		/* number; first that was not one */
	bool answered;			/* an object had an answer */
	bool ended;			/* the last event was read */
	bool stopped;			/* a call of this step was denied */
	bool listed;			/* an object had tool calls */
	bool mixed;			/* subagents have lines, too */
	bool summary;			/* only the result, without calls */
	struct str message;		/* id of the last message */
	struct answer_usage steps;	/* sum over calls of the model */
	size_t kept;			/* bytes of calls and skills */
	bool full;			/* kept is over its limit */
	bool final;			/* the text is complete */
	const struct mask *secrets;	/* of the agent */
};

/* The model stopped for this reason; the last one counts. */
void agent_stream_stop(struct agent_stream *, struct str reason);

/* Reads the object of a line, or of the whole output. */
typedef void agent_read_fn(struct agent_stream *, const struct json *);
agent_read_fn agent_read_claude, agent_read_codex, agent_read_copilot,
    agent_read_gemini, agent_read_opencode, agent_read_json, agent_read_qwen;

struct agent_format {
	const char *name;
	agent_read_fn *read;		/* NULL: plain text */
	bool strict;			/* nothing but JSON with an answer */
	const char *last;		/* event that ends it, or NULL */
};

/* Whether the error of a call means that the agent did not make it. */
bool agent_is_denial(struct str agent, const struct json *error);

/* The format of that name, or NULL; all names, for messages. */
const struct agent_format *agent_format(struct str name);
const char *agent_format_names(void);

/*
 * Begin a stream; add output; end it, which makes the answer and frees the
 * buffers.  An error in the stream is the agent's.
 */
void agent_stream_init(struct agent_stream *, struct agent_job *,
    const struct agent_format *, const struct mask *);
void agent_stream_put(struct agent_stream *, struct str);
void agent_stream_end(struct agent_stream *);

/*
 * For the formats: add text to the answer, begin it again, set all of it, set
 * the error (the first one stays), add a skill.
 */
void agent_stream_text(struct agent_stream *, struct str text);
void agent_stream_restart(struct agent_stream *);
void agent_stream_settle(struct agent_stream *, struct str text);
void agent_stream_fail(struct agent_stream *, struct str why);
void agent_stream_skill(struct agent_stream *, struct str name);
/* Adds a call, or updates the one of that id; NULL: too many. */
struct answer_call *agent_stream_call(struct agent_stream *, struct str id,
    struct str name, const struct json *arguments);
/* The call of that id, or NULL; and its result (the call may be NULL). */
struct answer_call *agent_stream_find(struct agent_stream *, struct str id);
void agent_stream_result(struct agent_stream *, struct answer_call *,
    const struct json *result, bool success);
/* Notes a call that is not a use of a tool; it may get a result. */
void agent_stream_hide(struct agent_stream *, struct str id);
/* Copilot's modelMetrics: tokens and calls of each model. */
void agent_add_metrics(struct answer_usage *, const struct json *metrics);
/* Adds a non-negative member of an object to a sum. */
void agent_stream_add(int64_t *sum, const struct json *obj, const char *key);

#endif
