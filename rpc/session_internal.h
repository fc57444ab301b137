/* SPDX-License-Identifier: ISC */
/*
 * session_internal.h: session_.  The parts of sessions: the parameters
 * (session_params.c), the prompt (session_prompt.c), the agent
 * (session_agent.c), a fix (session_fix.c), the store (session_store.c,
 * session_file.c).
 *
 *	fix:  LOOKING -> RUNNING -> COMPARING -> answered
 *
 * LOOKING and COMPARING are steps on a queue that all fixes share; RUNNING is
 * the run's.  A fix that is wanted no more goes to its end from each of them.
 */
#ifndef WAZA_SESSION_INTERNAL_H
#define WAZA_SESSION_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/agent.h"
#include "base/base.h"
#include "io/loop.h"
#include "lib/field.h"
#include "results/event.h"
#include "rpc.h"
#include "rpc/session.h"
#include "suite/config.h"

struct rpc_run;
struct workspace_scan;

enum {
	SESSION_ID = 37,		/* a UUID and its NUL */
	SESSION_TIME = 24,		/* 2025-12-25T10:35:45Z */
	SESSION_INCIDENTS = 1000,
	SESSION_PATTERNS = 256,		/* with their braces resolved */
	SESSION_SAID_MAX = 256 << 10,	/* bytes of what was said before */
	SESSION_ANSWER_MAX = 32 << 10,	/* and of one answer in that */
	SESSION_TALK_MAX = 8 << 20,	/* bytes told to one agent's session */
	SESSION_AGENTS_MAX = 64		/* that are kept without a fix */
};

struct session_incident {
	struct str id, rule_id, message, description;
	struct str uri, code_snip;	/* of the original's, in prompts */
	int64_t line_number;		/* 0: not said */
	int effort, severity;		/* index of the word; -1: not said */
};
extern const char *const session_efforts[], *const session_severities[];

struct session_model {
	struct str provider, model_id;
	double temperature;		/* below 0: not said */
	int64_t max_tokens;		/* 0: not said */
};

struct session_workspace {
	struct str working_dir;
	struct field_strs include_patterns, exclude_patterns;
};

/* What a call wants, checked; it lives as long as the call. */
struct session_params {
	struct str session_id;		/* p NULL: a new one */
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

extern const struct field_table session_fix_table;
enum rpc_status session_read_params(struct rpc_call *, void *decoded,
    struct session_params *);

/*
 * The prompt: from the template, or e has the place in it.  `before` is what
 * was said, where the agent does not know it.
 */
struct session_said {		/* one question and its answer */
	struct session_said *next;
	struct buf asked, answered;
};
struct str session_prompt(struct arena *, struct str template,
    const struct session_params *, const struct workspace_scan *,
    const struct session_said *before, struct err *);
/* What is remembered of it: the incidents and their context. */
void session_put_request(struct buf *, const struct session_params *);

/*
 * An agent that is open.  Made from a plan, which says all that it depends
 * on; closing takes its time, and then it is gone.
 */
struct session_agent {
	struct sessions *all;
	struct arena arena;		/* it is in it */
	struct spec_suite *suite;
	struct agent agent;
	struct agent_conversation conversation;
	struct agent_request lodging;
	const char *scratch;		/* its own directory, or NULL */
	const char *place;		/* where it works */
	struct str plan;		/* as it was made from */
	size_t told;			/* bytes */
	struct session_agent *next, **prev;	/* of those that exist */
	bool closing;
};

/* The plan for such a call, or the call has failed: RPC_FAIL. */
enum rpc_status session_plan(struct rpc_call *, const struct session_params *,
    struct str *plan, struct str *executor);
struct session_agent *session_agent_open(struct sessions *, struct str plan,
    struct err *);
void session_agent_close(struct session_agent *);	/* NULL is fine */
void session_agent_free(struct session_agent *);	/* at once */

struct session {
	struct arena arena;		/* it is in it */
	struct sessions *all;
	char id[SESSION_ID];
	char file[SESSION_ID];		/* in persist_dir; empty: none yet */
	int64_t created_ns, used_ns;	/* wall clock */
	int64_t used_ms;		/* the loop's */
	struct session_said *said, **last;
	size_t nsaid;			/* bytes */
	int64_t fixes;			/* that succeeded */
	struct buf working_dir, executor, model;	/* of the last one */
	struct session_fix *fix;	/* that goes on, or NULL */
	struct session_agent *agent;	/* or NULL */
	struct session *next, **prev;	/* in the order of use */
	struct session *next_id;	/* in a chain of the table */
};

enum { SESSION_CHAINS = 1024 };		/* a power of 2 */

struct sessions {
	struct rpc *rpc;
	struct arena arena;		/* it is in it */
	const struct config_sessions *set;
	struct session *head, **tail;	/* the longest unused first */
	struct session *chain[SESSION_CHAINS];
	size_t n;
	struct session_agent *agents;
	size_t nagents;
	struct session_fix *queue, **queue_tail;	/* of steps */
	struct timer step, expiry;
	void (*tell)(void *arg, const char *);	/* the server's log, or NULL */
	void *arg;
	bool stepping, stopping;
};

/* session_store.c */
struct sessions *session_all(struct rpc *);	/* made when first asked for */
struct session *session_find(struct sessions *, struct str id);
/* NULL: there are too many, or no id can be made. */
struct session *session_new(struct sessions *, struct err *);
struct session *session_put_in(struct sessions *, struct str id);
void session_drop(struct session *);		/* no fix goes on in it */
void session_touch(struct session *);		/* it was used just now */
void session_say(struct session *, struct str asked, struct str answered);
void session_expire_later(struct sessions *);
/* The list anew: all there are, the longest unused first. */
void session_sort(struct sessions *, struct session *const *, size_t);
int session_make_id(char id[SESSION_ID], struct err *);
void session_time(char out[SESSION_TIME], int64_t wall_ns);

/* session_file.c: no effect where nothing is kept. */
int session_save(struct session *, struct err *);
void session_unsave(struct session *);

/* session_fix.c */
enum rpc_status session_fix(struct rpc_call *, const struct session_params *,
    struct session *, bool fresh, struct str plan, struct str executor);
void session_fix_stop(struct session_fix *);
void session_fix_free(struct session_fix *);	/* without an answer */
void session_step(void *sessions);		/* the timer's */

#endif
