/* SPDX-License-Identifier: ISC */
/*
 * openai.h: openai_ agent_.  Executor `openai`: a model behind HTTP, asked
 * without an agent around it.  Its parts, for the openai*.c files: settings
 * (openai_setup.c), questions (openai_body.c), what comes back
 * (openai_read.c) and what it means (openai_answer.c), and the course of a
 * question with its retries (openai.c).
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
#include "lib/mask.h"

struct json;
struct spec_notes;
struct spec_suite;

enum {
	OPENAI_FIELDS_MAX = 32,		/* headers of a request */
	OPENAI_CALLS_MAX = 1000		/* of tools, in an answer */
};

enum openai_api {
	OPENAI_CHAT, OPENAI_RESPONSES, OPENAI_ANTHROPIC, OPENAI_OLLAMA
};

/* What differs between the interfaces, beside the shapes of messages. */
struct openai_kind {
	const char *name;
	const char *base;		/* where it is, if nobody says */
	const char *base_env;		/* who may say so, or NULL */
	const char *path;		/* after that */
	const char *version;		/* a base may have it at its end */
	const char *key_env;		/* or NULL: there is no key */
	const char *key_field, *key_prefix;
	int64_t max_tokens;		/* where it has to be said */
};
extern const struct openai_kind openai_kinds[];	/* by enum openai_api */

struct openai_settings {
	int api;			/* enum openai_api */
	struct str base_url, api_key_env, system, model;
	const struct json *headers;	/* {name: value}; ${NAME} in it */
	const struct json *body;	/* more members of each request */
	double temperature;		/* below 0: not said */
	int64_t max_tokens, max_tokens_total, retries;
	double max_cost;		/* 0: no limit, as for tokens */
	bool stream;
};

/* A model server, for all questions of a run. */
struct openai {
	struct openai_settings set;
	const struct openai_kind *kind;
	struct http_url url;
	struct http_field field[OPENAI_FIELDS_MAX];
	size_t nfields;
	struct mask secrets;
	const struct json *prices;	/* of models, or NULL */
	struct str effort;		/* of reasoning, or empty */
	struct fetch_names names;
	const char *const *env;		/* of curl: without the keys */
	struct agent_spent *spent, own;	/* own: where the run has none */
	bool vendor;			/* at the maker's own address */
};

/* openai_setup.c */
void openai_check(const struct spec_suite *, struct spec_notes *);
int openai_set_up(struct arena *, const struct spec_suite *, struct openai *,
    struct err *);
/* What the tokens cost, in dollars; false: the price is not known. */
bool openai_cost(const struct openai *, struct str model,
    const struct answer_usage *, double *dollars);

/* What has been said in a conversation, the oldest first. */
struct openai_turn {
	struct openai_turn *next;
	struct str asked, answered;
};
struct openai_talk {
	struct openai_turn *head, **tail;
};

/* openai_body.c: a request, as JSON. */
struct openai_question {
	const struct openai *to;
	struct str model, system, prompt;
	const struct openai_turn *before;	/* or NULL */
	const struct agent_tool *tools;
	size_t ntools;
};
void openai_put(struct buf *, const struct openai_question *);

/* openai_read.c: an answer, put together from messages. */
struct openai_call {
	struct openai_call *next;
	int64_t key;			/* by which later parts refer to it */
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
	struct str id, model, stop;	/* why it ended */
	struct str error;		/* in the server's words */
	struct str error_type;
	bool finished;			/* the answer is whole */
	bool over;			/* nothing more will come */
};

void openai_reply_init(struct openai_reply *, struct arena *,
    enum openai_api);
/* One message of a stream, or the whole answer. */
void openai_read(struct openai_reply *, const struct json *);
void openai_reply_free(struct openai_reply *);
/* The server's words in an error: {"error": {"message": ...}} and such. */
bool openai_read_error(struct openai_reply *, const struct json *);

/* openai_answer.c: the reply, as an answer and as a message to repeat. */
void openai_answer(struct agent_job *, struct openai *,
    const struct openai_question *, const struct openai_reply *);
/* In one line, whole characters, and not too long. */
struct str openai_clip(struct arena *, struct str, size_t max);
bool openai_mentions(struct str text, const char *word);

#endif
