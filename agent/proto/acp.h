/* SPDX-License-Identifier: ISC */
/*
 * acp.h: acp_ agent_.  Executor `acp`: agents that speak the Agent Client
 * Protocol, version 1.  A process a trial, or a conversation; its parts for the
 * acp*.c files:
 * the settings with what is known of each agent (acp_setup.c), the session
 * (acp.c) and its mode and model (acp_plan.c), what is said in a turn
 * (acp_turn.c, acp_answer.c) and permissions (acp_permit.c).
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
#include "lib/mask.h"

struct json;

enum {
	ACP_VERSION = 1,
	ACP_CANCEL_MS = 5000,		/* for the end of a cancelled turn */
	ACP_TEXT_MAX = 10 << 20,	/* bytes kept of what it says, and of
					 * its calls */
	ACP_CALLS_MAX = 10000
};

/* What is known of an agent, by its name in the settings. */
struct acp_agent {
	const char *name;
	const char *argv[4];
	const char *instead;		/* a program that does as well */
	const char *model_flag;		/* takes the model, or NULL */
	const char *model_env;		/* the same, by the environment */
	const char *effort_flag;	/* of reasoning, "--flag="; or NULL */
	const char *mcp_flag;		/* the same, of a file with servers */
	const char *env[3];		/* "K=V" */
	bool deaf;			/* does not end with its stdin */
	bool tells;			/* its skills are a tool of their own */
};

struct acp_settings {
	struct str agent, auth_method, mode;
	const struct json *command, *permissions, *env, *home;
};

/* One of the table, or NULL. */
const struct acp_agent *acp_agent(struct str name);

/* The settings of a suite, over each other; checked by acp_check. */
void acp_read(struct arena *, const struct spec_suite *,
    struct acp_settings *);
void acp_check(const struct spec_suite *, struct spec_notes *);

const char **acp_argv(struct arena *, const struct spec_suite *,
    const struct acp_settings *, const struct agent_request *, struct err *);
const char **acp_env(struct arena *, const struct spec_suite *,
    const struct acp_settings *, const struct agent_request *, struct err *);

/* Whether the model is in argv or the environment already. */
bool acp_names_model(const struct acp_settings *);

/* The flag that argv has one of; NULL: it goes by the protocol. */
const char *acp_effort_flag(const struct acp_settings *);
const char *acp_mcp_flag(const struct acp_settings *);

enum acp_status { ACP_SILENT, ACP_UNDERWAY, ACP_COMPLETED, ACP_FAILED };

/* A call of a tool; its texts are JSON but for the name. */
struct acp_call {
	struct acp_call *next;
	struct str id;
	struct buf name, title, kind;
	struct buf input, output;
	struct str path;		/* the first it names, or empty */
	struct str outside;		/* one that is not the trial's */
	size_t at;			/* bytes of text that came before */
	bool raw;			/* output is its rawOutput */
	enum acp_status status;
};

/* What an agent says from a prompt to its end. */
struct acp_turn {
	struct buf text;
	struct buf message_id;		/* of the last piece of text */
	size_t last;			/* where the last message begins */
	struct acp_call *calls, **tail;
	size_t ncalls, bytes;		/* bytes: of the calls */
	bool parted;			/* a call came after the last text */
	bool full;			/* it says more than is kept */
	double cost;			/* of the session, as it says */
	bool has_cost;
	struct str refused;		/* what it may not touch, or empty */
};

/* A question that is still to be asked. */
struct acp_ask {
	struct acp_ask *next;
	const char *method;
	struct str params;
};

enum acp_state {
	ACP_GREETING,			/* initialize */
	ACP_LOGIN,			/* authenticate */
	ACP_OPENING,			/* session/new */
	ACP_SETTING,			/* mode, model */
	ACP_PROMPTED,			/* session/prompt */
	ACP_RESTING,			/* between prompts */
	ACP_ENDING,			/* its answer is there, or was given
					 * up; the process goes */
	ACP_GONE
};

struct acp {
	struct agent *agent;
	struct agent_job *job;		/* NULL: resting */
	struct agent_conversation *conversation;	/* or NULL */
	struct arena *arena;		/* the conversation's, or the job's */
	struct acp_settings set;
	const struct acp_agent *known;	/* or NULL */
	struct wire wire;
	enum acp_state state;
	const char *cwd;		/* of the session, absolute */
	const char *room, *home, *tmp;	/* what is its own; each may be NULL */
	struct str session, name;	/* name: of the agent, as it says */
	struct str logins;		/* its ways to log in, in words */
	struct str login;		/* the only one there is, or empty */
	bool logged_in;
	bool settled;			/* the job's answer is made */
	bool cancelled;
	struct acp_ask *asks;		/* what is to be set before a prompt */
	struct mask secrets;		/* of its environment */
	struct acp_turn turn;
	struct answer_usage before;	/* of the session, until this turn */
	struct timer timer;
};

bool acp_is_copilot(const struct acp *);

/* Adds to asks what makes a new session the one that is wanted. */
int acp_plan(struct acp *, const struct json *session, struct err *);

/* Takes a session/update, or the call that a permission is asked for. */
void acp_turn_init(struct acp_turn *);
void acp_turn_update(struct acp *, const struct json *update);
struct acp_call *acp_turn_call(struct acp *, const struct json *call,
    bool asking);
/* The answer's text, calls, skills, usage and transcript. */
void acp_turn_end(struct acp *, const struct json *result);
void acp_turn_free(struct acp_turn *);

/* Notes in the call what it touches that is not the trial's. */
void acp_look(struct acp *, struct acp_call *, const struct json *call);
/* The answer to session/request_permission. */
void acp_permit(struct acp *, const struct json *id,
    const struct json *params);
/* The words for `permissions`; NULL at the end. */
extern const char *const acp_kinds[];

#endif
