/* SPDX-License-Identifier: ISC */
/*
 * openai.h: openai_ agent_.  Executor `openai`: a model's HTTP API without an
 * agent.  For the openai*.c files: settings (openai_setup.c), requests
 * (openai_body.c), replies (openai_read.c), answers (openai_answer.c), and one
 * exchange with its retries (openai.c).
 */
#ifndef WAZA_OPENAI_H
#define WAZA_OPENAI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/agent.h"
#include "base/base.h"
#include "io/fetch.h"
#include "lib/http.h"
#include "lib/mask/mask.h"

struct json;
struct spec_notes;
struct spec_suite;

enum {
	OPENAI_FIELDS_MAX = 32,		/* headers of a request */
	OPENAI_CALLS_MAX = 1000		/* tool calls in an answer */
};

enum openai_api {
	OPENAI_CHAT, OPENAI_RESPONSES, OPENAI_ANTHROPIC, OPENAI_OLLAMA
};

/* The APIs; their message formats are in openai_body.c and openai_read.c. */
struct openai_kind {
	const char *name;
	const char *base;		/* default of base_url */
	const char *base_env;		/* variable with a default, or NULL */
	const char *path;		/* appended to the base */
	const char *version;		/* before it, unless the base has it */
	const char *key_env;		/* variable of the key, or NULL */
	const char *key_field, *key_prefix;
	int64_t max_tokens;		/* default, if the API requires it */
};
extern const struct openai_kind openai_kinds[];	/* by enum openai_api */

struct openai_settings {
	int api;			/* enum openai_api */
	struct str base_url, api_key_env, system, model;
	const struct json *headers;	/* {name: value}; ${NAME} expands */
	const struct json *body;	/* additional members of requests */
	double temperature;		/* negative: not set */
	int64_t max_tokens, max_tokens_total, retries;
	double max_cost;		/* 0: no limit, also for tokens */
	bool stream;
};

/* A model server, for all requests of a run. */
struct openai {
	struct openai_settings set;
	const struct openai_kind *kind;
	struct http_url url;
	struct http_field field[OPENAI_FIELDS_MAX];
	size_t nfields;
	struct mask secrets;
	struct str effort;		/* of reasoning, or empty */
	struct fetch_names names;
	const char *const *env;		/* of curl, without the keys */
	bool vendor;			/* at the vendor's own address */
	struct str key_env;		/* variable of the key, or empty */
	bool keyed;			/* it is set */
};

/* openai_setup.c: notes problems in the settings; reads them, 0 or -1. */
void openai_check(const struct spec_suite *, struct spec_notes *);
int openai_set_up(struct arena *, const struct spec_suite *, struct openai *,
    struct err *);
/* The same with the URL of the server's list of models. */
int openai_set_up_list(struct arena *, const struct spec_suite *,
    struct openai *, struct err *);

/*
 * For a refused request (HTTP 401 or 403): which variable has the key, and
 * whether it is set.  Empty for other statuses.
 */
struct str openai_key_hint(struct arena *, const struct openai *, int status);

/* The turns of a conversation, the oldest first. */
struct openai_turn {
	struct openai_turn *next;
	struct str prompt, answer;
};
struct openai_history {
	struct openai_turn *head, **tail;
};

/* A request, which openai_put() (openai_body.c) writes as JSON. */
struct openai_question {
	const struct openai *to;
	struct str model, system, prompt;
	const struct openai_turn *before;	/* or NULL */
	const struct agent_tool *tools;
	size_t ntools;
};
/* Appends the request to the buffer. */
void openai_put(struct buf *, const struct openai_question *);

/* openai_read.c: a reply, assembled from messages. */
struct openai_call {
	struct openai_call *next;
	int64_t key;			/* index that later parts refer to */
	struct str name;
	struct buf arguments;		/* JSON */
};

struct openai_reply {
	struct arena *arena;
	enum openai_api api;
	struct buf text;
	struct openai_call *calls;
	size_t ncalls;
	struct answer_usage usage;
	struct str id, stop;		/* stop: why it ended */
	struct str error;		/* the server's message */
	struct str error_type;
	bool refused;			/* the text is a refusal */
	bool finished;			/* the answer is complete */
	bool over;			/* ignore further messages */
};

/* Begin an empty reply; its strings are in the arena.  Free its buffers. */
void openai_reply_init(struct openai_reply *, struct arena *, enum openai_api);
void openai_reply_free(struct openai_reply *);
/* Adds one message of a stream, or the whole body. */
void openai_read(struct openai_reply *, const struct json *);
/* Reads {"error": {"message": ...}} and the like; false: no error. */
bool openai_read_error(struct openai_reply *, const struct json *);

/* openai_answer.c: makes the answer, and adds it to the conversation. */
void openai_answer(struct agent_job *, struct openai *,
    const struct openai_question *, const struct openai_reply *);
/* At most max bytes on one line, in the arena; "..." marks the rest. */
struct str openai_clip(struct arena *, struct str, size_t max);
/* Whether the text contains the word, case-insensitively. */
bool openai_mentions(struct str text, const char *word);

#endif
