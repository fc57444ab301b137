/* SPDX-License-Identifier: ISC */
/*
 * answer.h: answer_.  An agent's answer: its text, its tool calls, its
 * usage, and why it failed.  Executors produce answers, graders judge
 * them, results store them.  The texts live in the arena of the job that
 * produced the answer.
 */
#ifndef WAZA_ANSWER_H
#define WAZA_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "lib/field.h"

struct json;

/* Why an answer is missing or incomplete. */
enum answer_fault {
	ANSWER_OK,
	ANSWER_FAILED,		/* by the agent: exit status, crash, refusal */
	ANSWER_INFRA,		/* not by the agent: it could not be started */
	ANSWER_CANCELLED
};

struct answer_call {		/* of a tool */
	struct answer_call *next;
	struct str name;
	struct str arguments;	/* one JSON value */
	struct str result;	/* one JSON value, or empty */
	bool success;
};

struct answer_usage {
	bool known;		/* false: the agent did not report it */
	int64_t turns, input_tokens, output_tokens;
	int64_t cache_read_tokens, cache_write_tokens;
	double premium_requests, cost;	/* cost in US dollars */
};

struct answer_turn {		/* of a conversation */
	struct answer_turn *next;
	struct str prompt, output;
};

struct answer {
	struct str output;
	struct answer_call *calls;	/* in the order of their start */
	size_t ncalls;
	struct field_strs skills;	/* invoked, in order */
	bool skills_known;		/* an empty list means none was used */
	struct answer_usage usage;
	struct str transcript;		/* a JSON list, or empty */
	struct answer_turn *turns;	/* NULL: there was only one */
	struct str session_id;
	enum answer_fault fault;
	struct str error;		/* message; empty: no error */
	int exit_status;		/* -1: none */
	struct str stderr_tail;
	bool truncated;			/* output beyond the limit was lost */
	bool echo;			/* the prompt repeated: no agent ran */
	/* of a recorded answer: */
	int64_t took_ms;		/* when recorded; 0: unknown */
	bool late;			/* it had exceeded its time-out */
	struct str note;		/* warning for the user, or empty */
};

/* Adds the usage of another answer; unknown usage changes nothing. */
void answer_add_usage(struct answer_usage *sum, const struct answer_usage *);

/* The usage in the object of a trial; unknown if it has none. */
struct answer_usage answer_read_usage(const struct json *trial);

/* Adds `times` the usage; subtracting it again leaves no rounding error. */
void answer_count_usage(struct answer_usage *sum, const struct answer_usage *,
    int times);

#endif
