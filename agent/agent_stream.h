/* SPDX-License-Identifier: ISC */
/*
 * agent_stream.h: agent_.  What agents of the one-shot kind print: text, or
 * events as one JSON object a line, each program's in its own words.  Only
 * for the agent_*.c files.
 */
#ifndef WAZA_AGENT_STREAM_H
#define WAZA_AGENT_STREAM_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/agent_internal.h"
#include "base/base.h"

struct agent_format;
struct mask;

/* A call that may still get its result, by the agent's name for it. */
struct agent_stream_call {
	struct agent_stream_call *prev;
	struct str id;
	struct answer_call call;
};

/* Everything lives in the job's arena, but for the buffers. */
struct agent_stream {
	struct agent_job *job;
	const struct agent_format *format;
	struct buf line;		/* that is not whole yet */
	struct buf text;		/* of the answer */
	struct buf all;			/* what may be one document */
	struct agent_stream_call *last;
	struct answer_call **tail;
	struct str error;
	size_t events;			/* lines that were understood */
	size_t kept;			/* bytes of calls and skills */
	bool full;			/* those are more than is kept */
	bool final;			/* the text is settled */
	const struct mask *secrets;	/* of the agent */
};

const struct agent_format *agent_format(struct str name);	/* or NULL */
const char *agent_format_names(void);	/* for messages: "text, json, ..." */

void agent_stream_init(struct agent_stream *, struct agent_job *,
    const struct agent_format *, const struct mask *);
void agent_stream_put(struct agent_stream *, struct str);
/* The answer; an error in it is the agent's.  Frees the buffers. */
void agent_stream_end(struct agent_stream *);

/* What the readers of the formats use. */
void agent_stream_say(struct agent_stream *, struct str text);	/* more text */
void agent_stream_settle(struct agent_stream *, struct str);	/* all of it */
void agent_stream_fail(struct agent_stream *, struct str why);
/* One that begins, or NULL: there are too many. */
struct answer_call *agent_stream_call(struct agent_stream *, struct str id,
    struct str name, const struct json *arguments);
/* The call of that id, or NULL. */
struct answer_call *agent_stream_find(struct agent_stream *, struct str id);
void agent_stream_result(struct agent_stream *, struct answer_call *,
    const struct json *result, bool success);
void agent_stream_skill(struct agent_stream *, struct str name);
/* Adds numbers of an object: {our member, its name}. */
void agent_stream_add(int64_t *sum, const struct json *obj, const char *key);

/* Reads a line's object, or the only one there is. */
typedef void agent_read_fn(struct agent_stream *, const struct json *);
agent_read_fn agent_read_claude, agent_read_codex, agent_read_copilot,
    agent_read_gemini, agent_read_opencode, agent_read_json;

struct agent_format {
	const char *name;
	agent_read_fn *read;		/* NULL: it is text */
};

#endif
