/* SPDX-License-Identifier: ISC */
/*
 * session_internal.h: session_ sessions_.  The parts of sessions: parameters
 * (session_params.c), the prompt (session_prompt.c), the agent
 * (session_agent.c), a fix (session_fix.c), the store (session_store.c,
 * session_file.c).
 */
#ifndef WAZA_SESSION_INTERNAL_H
#define WAZA_SESSION_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/agent.h"
#include "base/base.h"
#include "io/loop.h"
#include "io/workspace.h"
#include "lib/field.h"
#include "results/event.h"
#include "rpc/rpc_internal.h"
#include "rpc/session.h"
#include "suite/config.h"

struct workspace_scan;

enum {
	SESSION_ID = 37,		/* a UUID and its NUL */
	SESSION_KEY = 16,		/* bytes of a UUID */
	SESSION_ENDED_MAX = 10000,	/* remembered ids of ended sessions */
	SESSION_TIME = 24,		/* 2025-12-25T10:35:45Z */
	SESSION_INCIDENTS = 1000,
	SESSION_PATTERNS = 256,		/* after expanding braces */
	SESSION_HISTORY_MAX = 256 << 10,	/* bytes of earlier turns */
	SESSION_ANSWER_MAX = 32 << 10,	/* bytes of one answer in them */
	SESSION_TALK_MAX = 8 << 20,	/* bytes sent to one agent */
	SESSION_AGENTS_MAX = 64		/* agents kept open between fixes */
};

struct session_incident {
	struct str id, rule_id, message, description;
	struct str uri, code_snip;	/* as Kaiak sends them, for prompts */
	int64_t line_number;		/* 0: missing */
	int effort, severity;		/* index of the word; -1: missing */
};
extern const char *const session_efforts[], *const session_severities[];

struct session_model {
	struct str provider, model_id;
	double temperature;		/* below 0: missing */
	int64_t max_tokens;		/* 0: missing */
};

struct session_workspace {
	struct str working_dir;
	struct field_strs include_patterns, exclude_patterns;
};

/* The checked parameters of a call, in its arena. */
struct session_params {
	struct str session_id;		/* p NULL: make a new one */
	struct field_list incidents;	/* of struct session_incident */
	const struct json *incidents_json, *migration;	/* or NULL */
	struct str source, target;	/* technologies, or empty */
	struct field_strs hints;
	struct session_workspace workspace;
	struct session_model model;
	bool transcript;
	const char *dir;		/* the working directory, resolved */
	struct field_strs include, exclude;	/* without braces */
};

/*
 * Reads what session_fix_table has decoded and checks it together with the
 * settings.  RPC_FAIL: the call's error is set.
 */
extern const struct field_table session_fix_table;
enum rpc_status session_read_params(struct rpc_call *, void *decoded,
    struct session_params *);

struct session_turn {		/* one request and its answer */
	struct session_turn *next;
	struct buf asked, answered;
};

/*
 * Renders the prompt into the arena (p NULL: *e has the place in the
 * template).  `history` are the turns that the agent does not remember.
 */
struct str session_prompt(struct arena *, struct str template,
    const struct session_params *, const struct workspace_scan *,
    const struct session_turn *history, struct err *);
/* Appends what a turn remembers of a request: incidents and context. */
void session_put_request(struct buf *, const struct session_params *);

/*
 * An open agent.  Its plan contains everything that it depends on: a suite of
 * one task as JSON.
 */
struct session_agent {
	struct sessions *all;
	struct arena arena;		/* holds the agent itself */
	struct spec_suite *suite;
	struct agent agent;
	struct agent_conversation conversation;
	struct agent_request dirs;	/* where its home and so on are */
	const char *scratch;		/* its own directory, or NULL */
	const char *dir;		/* where it works */
	struct str plan;
	size_t sent;			/* bytes of prompts */
	struct session_agent *next, **prev;	/* of all */
	bool closing;
};

/* Makes the plan for a call.  RPC_FAIL: the call's error is set. */
enum rpc_status session_plan(struct rpc_call *, const struct session_params *,
    struct str *plan, struct str *executor);
/*
 * open: NULL and *e if the agent cannot start.  close takes turns of the loop
 * and then frees the agent (NULL: no effect); free does so at once.
 */
struct session_agent *session_agent_open(struct sessions *, struct str plan,
    struct err *);
void session_agent_close(struct session_agent *);
void session_agent_free(void *session_agent);

struct session {
	struct arena arena;		/* holds the session itself */
	struct sessions *all;
	char id[SESSION_ID];		/* as its client spells it */
	unsigned char key[SESSION_KEY];	/* the same as bytes */
	char file[SESSION_ID];		/* name in persist_dir; empty: none */
	int64_t created_ns, used_ns;	/* wall clock */
	int64_t used_ms;		/* the loop's clock */
	struct session_turn *turns, **last;
	size_t turn_bytes;
	int64_t fixes;			/* that succeeded */
	struct buf working_dir, executor, model;	/* of the last fix */
	struct session_fix *fix;	/* that is running, or NULL */
	struct session_agent *agent;	/* or NULL */
	struct session *next, **prev;	/* the longest unused first */
	struct session *next_id;	/* in a chain of the hash table */
};

enum { SESSION_CHAINS = 1024 };		/* a power of 2 */

struct sessions {
	struct rpc *rpc;
	struct arena arena;		/* holds the sessions themselves */
	const struct config_sessions *set;
	struct session_opts opts;
	struct session *head, **tail;	/* the longest unused first */
	struct session *chain[SESSION_CHAINS];
	size_t n;
	struct buf ended;		/* a ring of keys: see session_end() */
	size_t ended_at;		/* where the next one goes */
	struct session_agent *agents;
	size_t nagents;
	struct arena pool_arena;	/* of the pool, */
	struct workspace_pool pool;	/* which exists while agents do */
	uint64_t pooled;		/* directories made so far */
	struct session_fix *queue, **queue_tail;	/* fixes to step */
	struct timer step, expiry;
	bool stopping;			/* no more fixes are started */
};

/*
 * session_store.c.  sessions_new makes an empty store and registers it with
 * the server, whose settings it uses.
 */
struct sessions *sessions_new(struct rpc *, const struct session_opts *);
/* False: the id is not a UUID. */
bool session_key(struct str id, unsigned char key[SESSION_KEY]);
struct session *session_find(struct sessions *, struct str id);	/* or NULL */
/*
 * A new session with that id (p NULL: a random one), which must be a UUID and
 * not in use; NULL and *e: too many, or no random numbers.
 */
struct session *session_new(struct sessions *, struct str id, struct err *);
/* Adds a session with that id, as the last used one. */
struct session *session_insert(struct sessions *, struct str id);
/*
 * drop forgets a session without a running fix, its file included.  end does
 * so for good: its id cannot be used again.  has_ended: whether that is so, of
 * the last SESSION_ENDED_MAX ids.
 */
void session_drop(struct session *);
void session_end(struct session *);
bool session_has_ended(const struct sessions *, struct str id);
/* Makes it the last used one. */
void session_touch(struct session *);
/* Appends a turn; drops the oldest while they are too large. */
void session_remember(struct session *, struct str asked, struct str answered);
/* Sets the timer that forgets idle sessions. */
void session_expire_later(struct sessions *);
/* Replaces the list by these n sessions, which are all there are. */
void session_sort(struct sessions *, struct session *const *, size_t n);
/* A random UUID; -1 and *e: no random numbers.  2025-12-25T10:35:45Z. */
int session_make_id(char id[SESSION_ID], struct err *);
void session_time(char out[SESSION_TIME], int64_t wall_ns);
/* Writes a message to the server's log, if there is one. */
void session_log(struct sessions *, const char *message);

/*
 * session_file.c: saves a session, removes its file, reads all files; without
 * persist_dir they do nothing.  -1 and *e: a system call failed.
 */
int session_save(struct session *, struct err *);
void session_remove_file(struct session *);
int session_restore(struct sessions *, struct err *);

/*
 * session_fix.c: starts a fix for the call, which is answered later.  `fresh`:
 * the session was made for it.  stop ends it soon; free does so at once,
 * without a reply; step is the callback of the timer of that name.
 */
enum rpc_status session_fix(struct rpc_call *, const struct session_params *,
    struct session *, bool fresh, struct str plan, struct str executor);
void session_fix_stop(struct session_fix *);
void session_fix_free(struct session_fix *);
void session_step(void *sessions);

extern const struct rpc_module session_module;

#endif
