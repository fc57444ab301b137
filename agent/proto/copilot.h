/* SPDX-License-Identifier: ISC */
/*
 * copilot.h: copilot_ agent_.  Executor `copilot-sdk`: the Copilot CLI over the
 * protocol of its SDK, version 3.  Only for the copilot*.c files.
 *
 * One process serves the run; the first trial starts it.  Each trial is a
 * session in it, and sessions run in parallel.  When the process ends, its
 * sessions end with it, and the next trial starts another process.
 *
 *	copilot		of a run: settings, and the process in use
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
#include "lib/mask/mask.h"

struct json;
struct json_out;
struct spec_notes;
struct spec_suite;
struct spec_task;

enum {
	COPILOT_PROTOCOL = 3,
	COPILOT_PATIENCE_MS = 5000,	/* for an abort, and for an end */
	COPILOT_LAST_MS = 1000,		/* for an end after a failed abort */
	COPILOT_KEEP_MAX = 32 << 20,	/* bytes of an answer in total */
	COPILOT_CALLS_MAX = 10000,	/* tool calls in an answer */
	COPILOT_BUCKETS = 64		/* a power of 2 */
};

/* Settings; all of it lives in the run's arena. */
struct copilot_settings {
	const char **argv, **env;
	struct str model;		/* of the provider, or empty */
	struct str provider;		/* JSON for session.create, or empty */
	struct str system;		/* appended, or empty */
	struct str judge_system;	/* the same for a judge */
	const struct json *permissions;	/* or NULL */
	struct field_strs disabled;	/* skills */
	bool no_skills;			/* all skills are disabled */
	struct mask secrets;		/* keys, tokens, the environment */
};

struct copilot {
	struct agent *agent;
	struct copilot_settings set;
	struct copilot_link *link;	/* for new sessions, or NULL */
	struct copilot_link *spare;	/* for reuse */
	size_t links;			/* running processes */
	unsigned serial;		/* of the last session */
	struct str refused;		/* why no process can serve the run */
	bool closing;
	struct timer timer;		/* for the end of the process */
};

struct copilot_link {
	struct copilot_link *next;	/* spare */
	struct copilot *c;
	struct wire wire;
	struct copilot_session *sessions;
	struct copilot_session *sender;	/* of the message being sent */
	struct str incoming;		/* the message being read */
	size_t deleting;		/* pending session.delete */
	bool ready;
	bool running;
};

struct copilot_call {
	struct copilot_call *next;	/* in the bucket */
	struct str id;
	bool hidden;			/* not one of the answer */
	struct answer_call call;
};

enum copilot_phase {
	COPILOT_WAITING,		/* for the process to be ready */
	COPILOT_CREATING,
	COPILOT_RUNNING,		/* prompted; session.idle ends it */
	COPILOT_STOPPING,		/* session.abort was sent */
	COPILOT_ENDING,			/* session.destroy was sent */
	COPILOT_RESTING			/* between prompts */
};

struct copilot_session {
	struct copilot_session *next, **prev;	/* of the link */
	struct copilot_link *link;	/* NULL: it has ended */
	struct copilot *c;
	struct agent_conversation *conversation;	/* or NULL */
	struct agent_job *job;		/* NULL: between prompts */
	char id[37];			/* a UUID that we choose */
	const char *root;		/* the workspace, absolute, or NULL */
	const char *cwd;		/* in it */
	struct field_strs dirs;		/* of skills, absolute */
	enum copilot_phase phase;
	struct timer timer;		/* for its abort or end */
	size_t prompts;			/* number of prompts so far */
	/* the answer so far */
	bool cancelled, aborted;
	struct str limit;		/* of tokens, that cut it */
	bool subagent;			/* sent the current event */
	bool unresponsive;		/* it did not abort in time */
	size_t kept;			/* bytes of the answer */
	struct buf text, transcript;
	struct copilot_call *calls[COPILOT_BUCKETS];	/* by id */
	struct answer_call **tail;
};

/* copilot_settings.c: notes problems; reads the settings, 0 or -1. */
void copilot_check(const struct spec_suite *, struct spec_notes *);
int copilot_read_settings(struct arena *, const struct spec_suite *,
    struct copilot_settings *, struct err *);
/* Skill directories of suite and task, absolute paths. */
struct field_strs copilot_skills(struct arena *, const struct spec_suite *,
    const struct spec_task *);

/*
 * copilot_session.c: creates the session (the link is ready), sends the job's
 * prompt, aborts the turn, ends the turn.
 */
void copilot_create(struct copilot_session *);
void copilot_send(struct copilot_session *);
void copilot_stop(struct copilot_session *);
void copilot_idle(struct copilot_session *);
/*
 * Closes the parameters that copilot_params() began, sends the request and
 * frees them; fn may be NULL.  Plain: no other parameters.
 */
void copilot_ask(struct copilot_session *, const char *method,
    struct json_out *, wire_answer_fn *);
void copilot_ask_plain(struct copilot_session *, const char *method,
    wire_answer_fn *);
/* Records the message that is being read, if the run records. */
void copilot_record_reply(struct copilot_session *);
/* Begins the object {"sessionId": ...} in b. */
void copilot_params(struct copilot_session *, struct json_out *, struct buf *);
/* Removes it from its link, then completes the job. */
void copilot_finish(struct copilot_session *);
/* Only removes it from its link. */
void copilot_unlink(struct copilot_session *);
/* Makes the answer an error; the first reason stays. */
void copilot_fail(struct copilot_session *, enum answer_fault,
    const char *fmt, ...) PRINTF(3, 4);

/* copilot_event.c: handles an event; begins an answer; completes it. */
void copilot_event(struct copilot_session *, const struct json *event);
void copilot_event_reset(struct copilot_session *);
void copilot_event_answer(struct copilot_session *);

/*
 * copilot_permit.c: whether the session may do what it asks for, in this call
 * (NULL: unknown); answers a request of the CLI.
 */
bool copilot_permits(struct copilot_session *, const struct json *data,
    const struct answer_call *);
void copilot_hook(struct copilot_session *, const struct json *id,
    const struct json *params);

/* copilot.c: deletes the CLI's files of a destroyed session. */
void copilot_delete(struct copilot_session *);
/* Retires the link if it has become useless. */
void copilot_check_link(struct copilot_link *);
/* Sends no new sessions to it; terminates it when it has none. */
void copilot_retire(struct copilot_link *);

#endif
