/* SPDX-License-Identifier: ISC */
/*
 * copilot.h: copilot_ agent_.  Executor `copilot-sdk`: the Copilot CLI over
 * the wire of its SDK, protocol version 3.  Only for the copilot*.c files.
 *
 * One process serves the run, started when it is first needed; each trial is
 * a session in it, and sessions run in parallel.  When the process ends, the
 * sessions it had end with it, and the next trial starts another.
 *
 *	copilot		of a run: settings, and the process that is in use
 *	link		a process: starting -> ready -> gone
 *	session		waiting -> creating -> running -> ending -> gone
 *			                   \-> stopping -/
 *			(running -> resting -> running in a conversation)
 */
#ifndef WAZA_COPILOT_H
#define WAZA_COPILOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/agent_internal.h"
#include "base/base.h"
#include "io/loop.h"
#include "io/wire.h"
#include "lib/field.h"
#include "lib/mask.h"

struct json;
struct json_out;
struct spec_notes;
struct spec_suite;
struct spec_task;

enum {
	COPILOT_PROTOCOL = 3,
	COPILOT_PATIENCE_MS = 5000,	/* for an abort, or an end, each */
	COPILOT_LAST_MS = 1000,		/* for an end after a vain abort */
	COPILOT_KEEP_MAX = 32 << 20,	/* bytes of an answer, all in all */
	COPILOT_CALLS_MAX = 10000,	/* of tools in an answer */
	COPILOT_BUCKETS = 64		/* a power of 2 */
};

enum copilot_policy { COPILOT_APPROVE, COPILOT_DENY, COPILOT_LISTED };

/* Settings as they are used; all of it lives in the run's arena. */
struct copilot_settings {
	const char **argv, **env;
	struct str model;		/* of the provider, or empty */
	struct str provider;		/* as session.create has it, or empty */
	struct str system;		/* to be appended, or empty */
	struct str judge_system;	/* the same for a judge */
	enum copilot_policy policy;
	struct field_strs kinds;	/* COPILOT_LISTED: that are approved */
	struct field_strs disabled;	/* names of skills */
	bool no_skills;			/* all are disabled */
	struct mask secrets;		/* keys, tokens, of the environment */
};

struct copilot {
	struct agent *agent;
	struct copilot_settings set;
	struct copilot_link *link;	/* for new sessions, or NULL */
	struct copilot_link *spare;	/* to be used again */
	size_t links;			/* processes there are */
	unsigned serial;		/* of the last session */
	struct str refused;		/* why there will be no answers */
	bool closing;
	struct timer patience;		/* with a process that is to end */
};

struct copilot_link {
	struct copilot_link *next;	/* spare */
	struct copilot *c;
	struct wire wire;
	struct copilot_session *sessions;
	struct copilot_session *speaker;	/* whose message is written */
	struct str heard;		/* the message that is being read */
	size_t deleting;		/* sessions, not yet answered */
	bool ready;
	bool running;
};

struct copilot_call {
	struct copilot_call *next;	/* of those with such an id */
	struct str id;
	struct answer_call call;
};

enum copilot_phase {
	COPILOT_WAITING,		/* for the process to be ready */
	COPILOT_CREATING,
	COPILOT_RUNNING,		/* asked; session.idle is the end */
	COPILOT_STOPPING,		/* had session.abort */
	COPILOT_ENDING,			/* had session.destroy */
	COPILOT_RESTING			/* between prompts */
};

struct copilot_session {
	struct copilot_session *next, **prev;	/* of the link */
	struct copilot_link *link;	/* NULL: it is gone */
	struct copilot *c;
	struct agent_conversation *conversation;	/* or NULL */
	struct agent_job *job;		/* NULL: resting */
	char id[40];			/* a UUID of our making */
	const char *root;		/* the workspace, absolute, or NULL */
	const char *cwd;		/* in it */
	struct field_strs dirs;		/* of skills, absolute */
	enum copilot_phase phase;
	struct timer patience;
	size_t asked;			/* questions so far */
	/* the answer in the making */
	bool cancelled, aborted;
	bool unheard;			/* it did not stop when told to */
	size_t kept;			/* bytes of it */
	struct buf text, script;	/* output, transcript */
	struct copilot_call *calls[COPILOT_BUCKETS];	/* by id */
	struct answer_call **tail;
	struct copilot_skill *skills, **skills_tail;
};

struct copilot_skill {
	struct copilot_skill *next;
	struct str name;
};

/* copilot_settings.c: what is said about it in the suite and elsewhere. */
void copilot_check(const struct spec_suite *, struct spec_notes *);
int copilot_read_settings(struct arena *, const struct spec_suite *,
    struct copilot_settings *, struct err *);
/* The directories of suite and task, absolute. */
struct field_strs copilot_skills(struct arena *, const struct spec_suite *,
    const struct spec_task *);

/* copilot_session.c: from the first message to the answer. */
void copilot_create(struct copilot_session *);	/* its link is ready */
void copilot_send(struct copilot_session *);	/* the job's prompt */
void copilot_stop(struct copilot_session *);	/* answer soon */
void copilot_idle(struct copilot_session *);	/* the turn is over */
/* A message about it.  fn may be NULL. */
void copilot_say(struct copilot_session *, const char *method, struct str,
    wire_answer_fn *);
void copilot_heard(struct copilot_session *);	/* a message of it was read */
/* Begins {"sessionId": ... of a message in b. */
void copilot_params(struct copilot_session *, struct json_out *, struct buf *);
/* Takes it from its link and answers the job, in this order. */
void copilot_finish(struct copilot_session *);
void copilot_leave(struct copilot_session *);	/* its link, for good */
/* Why it went wrong; the first reason stays. */
void copilot_fail(struct copilot_session *, enum answer_fault,
    const char *fmt, ...) PRINTF(3, 4);

/* copilot_event.c: what a session tells. */
void copilot_event(struct copilot_session *, const struct json *event);
void copilot_event_reset(struct copilot_session *);	/* a new answer */
void copilot_event_answer(struct copilot_session *);	/* into the job */

/* copilot_permit.c: whether it may. */
bool copilot_permits(struct copilot_session *, const struct json *data);

/* copilot.c: has what is kept of it removed; it has been destroyed. */
void copilot_delete(struct copilot_session *);
/* After a session has left its link. */
void copilot_let_go(struct copilot_link *);
void copilot_retire(struct copilot_link *);	/* no new sessions */

#endif
