/* SPDX-License-Identifier: ISC */
/*
 * agent_internal.h: agent_.  The executors, and what they share.  Only for the
 * agent_*.c files.
 */
#ifndef WAZA_AGENT_INTERNAL_H
#define WAZA_AGENT_INTERNAL_H

#include "agent/agent.h"

struct json;
struct json_out;

extern const struct agent_kind agent_acp, agent_claude, agent_codex,
    agent_command, agent_copilot, agent_copilot_cli, agent_gemini,
    agent_mock, agent_openai, agent_opencode, agent_remote, agent_replay;

/* An answer that is none: why, and in words. */
void agent_fail(struct agent_job *, enum answer_fault, const char *fmt, ...)
    PRINTF(3, 4);

/*
 * Reads what a script or a persistent worker says of an answer: output,
 * tool_calls, usage, skills, error; its strings are the tree's.
 */
struct agent_script {
	struct str output, error;
	const struct json *tool_calls, *usage, *files;
	struct field_strs skills;
	int64_t delay_ms;
};
extern const struct field_table agent_script_table;

/*
 * The settings of an executor, as one object: `executors.NAME` of the
 * settings, over that the suite's `config` itself, over that its
 * `config.executors.NAME` and `config.NAME`; and over all of it, for a judge,
 * what is in its `judge`, and there in a member NAME.
 */
const struct json *agent_settings(struct arena *, const struct spec_suite *,
    const char *name);

/* Notes what is wrong with the settings home and cache_home. */
void agent_home_check(const struct spec_suite *, const char *name,
    struct spec_notes *);

/* Their meaning, into a->home. */
int agent_home_read(struct agent *, struct err *);

/*
 * The settings of an environment, for os_env, that lead to TMPDIR and HOME;
 * their number, at most AGENT_HOME_MAX.
 */
enum { AGENT_HOME_MAX = 8 };
size_t agent_home_env(struct arena *, const struct agent_request *,
    const char **set);

/* An environment with those of a process that serves all trials. */
const char *const *agent_home_over(struct agent *, const char *const *env);

/*
 * For programs: argv of config.command, and the environment, with or without
 * what belongs to the one trial.
 */
const char **agent_argv(struct arena *, const struct spec_suite *,
    const struct tmpl_vars *, struct err *);
const char **agent_env(struct arena *, const struct spec_suite *,
    const struct agent_request *, bool trial, struct err *);

/* What a proc's end means for the answer: its status, signal, limits. */
struct proc;
void agent_judge_exit(struct agent_job *, const struct proc *,
    struct str stderr_tail);

/* Stars for the secrets, all over the answer. */
struct mask;
void agent_mask(struct agent_job *, const struct mask *);

/*
 * MCP servers of the suite: {name: {...}}, as Copilot and Claude have them; a
 * list, as in ACP; or as {"mcpServers": {...}} in a file of the trial's, since
 * there may be keys in it.
 */
void agent_mcp_check(const struct spec_suite *, struct spec_notes *);
void agent_mcp_put(struct json_out *, const struct spec_suite *);
void agent_mcp_put_list(struct json_out *, const struct spec_suite *);
const char *agent_mcp_file(struct arena *, const struct spec_suite *,
    const struct agent_request *, struct err *);

/* Persistent workers, when config.persistent is set. */
int agent_pool_open(struct agent *, struct err *);
enum agent_status agent_pool_start(struct agent *, struct agent_job *);
void agent_pool_cancel(struct agent *, struct agent_job *);
bool agent_pool_close(struct agent *);

/* What is wrong with it is passed over; -1 when there was something. */
int agent_read_script(struct arena *, const struct json *,
    struct agent_script *);

/* Its files, into the workspace; the answer fails where that does. */
void agent_write_files(struct agent_job *, const struct json *files);

/* The transcript, from the answer's calls and output. */
void agent_put_transcript(struct agent_job *);

/* The script as an answer, with a transcript of it. */
void agent_play(struct agent_job *, const struct agent_script *);

#endif
