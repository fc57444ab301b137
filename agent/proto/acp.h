/* SPDX-License-Identifier: ISC */
/*
 * acp.h: acp_ agent_.  Executor `acp`: agents that support the Agent Client
 * Protocol, version 1.  One process per trial or conversation.  For the acp*.c
 * files: settings and known agents (acp_setup.c), the session (acp.c), its mode
 * and model (acp_plan.c), a turn (acp_turn.c) and its answer (acp_answer.c),
 * permissions (acp_permit.c).
 */
#ifndef WAZA_ACP_H
#define WAZA_ACP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/agent.h"
#include "base/base.h"
#include "io/loop.h"
#include "io/wire.h"
#include "lib/mask/mask.h"

struct json;

enum {
	ACP_VERSION = 1,
	ACP_CANCEL_MS = 5000,		/* for a cancelled turn to end */
	ACP_TEXT_MAX = 10 << 20,	/* bytes of text in a turn, and of
					 * calls */
	ACP_CALLS_MAX = 10000		/* calls in a turn */
};

/* A known agent, by its name in the settings. */
struct acp_agent {
	const char *name;
	const char *argv[4];
	const char *instead;		/* alternative program, or NULL */
	const char *model_flag;		/* "--model=", or NULL */
	const char *model_env;		/* variable for the model, or NULL */
	const char *effort_flag;	/* reasoning effort: "--flag=", NULL */
	const char *mcp_flag;		/* file of MCP servers: the same */
	const char *env[3];		/* "K=V" */
	const char *hide_env;		/* variable for hidden skills, NULL */
	bool hide_meta;			/* in `_meta` of session/new */
	const char *permit_env;		/* variable for the permissions of an
					 * agent that asks nothing, or NULL */
	bool ignores_eof;		/* does not exit at end of stdin */
};

struct acp_settings {
	struct str agent, auth_method, mode;
	const struct json *command, *permissions, *env, *home;
};

/* The known agent of that name, or NULL. */
const struct acp_agent *acp_agent(struct str name);

/* The i-th known agent, sorted by name; NULL at the end. */
const struct acp_agent *acp_agent_nth(size_t i);

/* Reads the settings (ignores wrong ones); notes what is wrong. */
void acp_read(struct arena *, const struct spec_suite *, struct acp_settings *);
void acp_check(const struct spec_suite *, struct spec_notes *);

/* argv and environment of the agent, in the arena; NULL with the error. */
const char **acp_argv(struct arena *, const struct spec_suite *,
    const struct acp_settings *, const struct agent_request *, struct err *);
const char **acp_env(struct arena *, const struct spec_suite *,
    const struct acp_settings *, const struct agent_request *, struct err *);

/* Whether argv or the environment contains the model. */
bool acp_names_model(const struct acp_settings *);

/* The flag that argv uses; NULL: use the protocol. */
const char *acp_effort_flag(const struct acp_settings *);
const char *acp_mcp_flag(const struct acp_settings *);

enum acp_status { ACP_NO_STATUS, ACP_UNDERWAY, ACP_COMPLETED, ACP_FAILED };

/* A tool call; input and output are JSON. */
struct acp_call {
	struct acp_call *next;
	struct str id;
	struct buf name, title, kind;	/* title: the first one */
	struct buf label;		/* the last title */
	struct buf input, output;
	struct buf terminal;		/* text, in the order it came */
	bool has_terminal;
	struct str path;		/* the first path it names, or empty */
	bool more_paths;		/* it names several */
	struct str outside;		/* a path outside of the trial's */
	size_t at;			/* bytes of text before it */
	bool raw;			/* output is rawOutput */
	bool denied;			/* we refused it */
	enum acp_status status;
};

/* The agent's messages from a prompt to its reply. */
struct acp_turn {
	struct buf text;
	struct buf message_id;		/* of the last chunk of text */
	size_t last;			/* start of the last message */
	struct acp_call *calls, **tail;
	size_t ncalls, bytes;		/* bytes: of the calls */
	bool parted;			/* a call followed the last text */
	bool full;			/* over a limit */
	double cost;			/* of the session so far */
	bool has_cost;
	struct answer_usage calls_usage;	/* sum over calls of the
						 * model, if reported */
	bool failed;			/* Codex: the last text is an error */
	struct str refused;		/* kind and path, or empty */
};

/* A request to be sent before the prompt. */
struct acp_ask {
	struct acp_ask *next;
	const char *method;
	struct str params;
};

enum acp_state {
	ACP_INITIALIZING,			/* initialize */
	ACP_LOGIN,			/* authenticate */
	ACP_OPENING,			/* session/new */
	ACP_SETTING,			/* mode, model */
	ACP_PROMPTED,			/* session/prompt */
	ACP_WAITING,			/* between prompts */
	ACP_ENDING,			/* waiting for the process to exit */
	ACP_GONE
};

struct acp {
	struct agent *agent;
	struct agent_job *job;		/* NULL: between prompts */
	struct agent_conversation *conversation;	/* or NULL */
	struct arena *arena;		/* the conversation's, or the job's */
	struct acp_settings set;
	const struct acp_agent *known;	/* or NULL */
	struct wire wire;
	enum acp_state state;
	const char *cwd;		/* of the session, absolute */
	const char *workspace, *home, *tmp;	/* it may use; or NULL */
	struct str session, name;	/* name: as the agent reports it */
	struct str family;		/* "claude", "codex" ...; or empty */
	struct str logins;		/* its login methods, for messages */
	struct str login;		/* the only method, or empty */
	bool logged_in;
	bool settled;			/* the answer is final */
	bool cancelled;
	struct acp_ask *asks;		/* before the first prompt */
	struct mask secrets;		/* of its environment */
	struct acp_turn turn;
	struct answer_usage before;	/* of the session before this turn */
	struct timer timer;
};

/* Whether the agent is of that family: each has habits of its own. */
bool acp_is(const struct acp *, const char *family);

/* Whether the agent of that name has a mode that confines its commands. */
bool acp_has_sandbox(struct str agent);

/* Adds the requests that set mode, model and effort; 0, or -1. */
int acp_plan(struct acp *, const struct json *session, struct err *);

/*
 * A turn: begin; add a session/update, or the call of a permission request
 * (`asking`; NULL: over a limit).
 */
void acp_turn_init(struct acp_turn *);
void acp_turn_update(struct acp *, const struct json *update);
struct acp_call *acp_turn_call(struct acp *, const struct json *call,
    bool asking);
/* Makes the answer: text, calls, skills, usage and transcript. */
void acp_turn_end(struct acp *, const struct json *result);
/* Why the turn failed; empty: it did not.  After acp_turn_end(). */
struct str acp_turn_fault(struct acp *, const struct json *result);
/* Frees its buffers. */
void acp_turn_free(struct acp_turn *);

/* Sets path and outside of the call from the paths that it names. */
void acp_check_paths(struct acp *, struct acp_call *, const struct json *call);
/* Answers session/request_permission. */
void acp_permit(struct acp *, const struct json *id, const struct json *params);
/* The kinds of tools in `permissions`; ends with NULL. */
extern const char *const acp_kinds[];

#endif
