/* SPDX-License-Identifier: ISC */
/*
 * answer.h: answer_.  An agent's answer: its text, the tools it called, what
 * that cost, and why it failed.  Executors produce answers, graders judge
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

/* Why there is no (whole) answer; only the first is the agent's own doing. */
enum answer_fault {
	ANSWER_OK,
	ANSWER_FAILED,		/* exit status, crash, refusal, protocol */
	ANSWER_INFRA,		/* could not be started; system */
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
	bool known;
	int64_t turns, input_tokens, output_tokens;
	int64_t cache_read_tokens, cache_write_tokens;
	double premium_requests, cost;
};

struct answer_turn {		/* of a talk */
	struct answer_turn *next;
	struct str prompt, output;
};

struct answer {
	struct str output;
	struct answer_call *calls;	/* in the order of their start */
	size_t ncalls;
	struct field_strs skills;	/* invoked, in order */
	bool skills_known;		/* where there are none, none was */
	struct answer_usage usage;
	struct str transcript;		/* a JSON list, or empty */
	struct answer_turn *turns;	/* where there was more than one */
	struct str session_id;
	enum answer_fault fault;
	struct str error;		/* in words; empty: none */
	int exit_status;		/* -1: none */
	struct str stderr_tail;
	bool truncated;			/* it wrote more than is kept */
	bool echo;			/* only the prompt: nobody answered */
	/* of one that was recorded: */
	int64_t took_ms;		/* then; 0: not recorded */
	bool late;			/* it did not come in time */
	struct str note;		/* what is to be said about it */
};

#endif
