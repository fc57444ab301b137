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
	ANSWER_UNUSABLE,	/* the same, and no other trial could be: not
				 * installed, not logged in */
	ANSWER_CANCELLED
};

/* What a tool does, whatever its agent calls it. */
enum answer_tool {
	ANSWER_OTHER,
	ANSWER_SHELL,		/* runs a command */
	ANSWER_READ,		/* a file or directory */
	ANSWER_WRITE,		/* a whole file */
	ANSWER_EDIT,		/* a part of a file; or write: some wires
				 * cannot tell them apart */
	ANSWER_SEARCH,		/* in files, or for them */
	ANSWER_FETCH,		/* from the network */
	ANSWER_SKILL,		/* loads a skill */
	ANSWER_TASK,		/* starts another agent */
	ANSWER_TOOL__MAX
};

struct answer_call {		/* of a tool */
	struct answer_call *next;
	struct str name;
	struct str arguments;	/* one JSON value */
	struct str result;	/* one JSON value, or empty */
	bool success;
	bool no_arguments;	/* the agent does not report them */
	bool few_arguments;	/* there may be others than `arguments` */
	bool no_result;		/* the same */
	bool no_name;		/* `name` is not the tool's: a kind, a title */
	bool any_edit;		/* ANSWER_EDIT may mean ANSWER_WRITE here */
	bool more_paths;	/* `path` is only one of its files */
	bool denied;		/* stopped before it ran: by a permission, or
				 * by the agent's sandbox */
	struct str mock;	/* MCP server whose mock answered, or empty */
	enum answer_tool tool;
	uint64_t does;		/* by its name (answer_name()); 0: unknown */
	/* what graders look for in the arguments; empty: absent or unknown */
	struct str command;	/* without a wrapper such as bash -lc */
	struct str path, url, skill;
};

enum answer_count {		/* of a usage, known or unknown together */
	ANSWER_TURNS, ANSWER_TOKENS, ANSWER_CACHED, ANSWER_REASONING,
	ANSWER_COST, ANSWER_COUNTS
};

/* Totals of an answer.  A count that the agent does not report is 0. */
struct answer_usage {
	int64_t answers;	/* of a sum: how many were added */
	bool known;		/* input and output tokens are reported */
	bool turns_known, cached_known, reasoning_known, cost_known;
	int64_t turns;		/* calls of the model */
	int64_t input_tokens;	/* including those from and to the cache */
	int64_t output_tokens;	/* including reasoning */
	int64_t reasoning_tokens;
	int64_t cache_read_tokens, cache_write_tokens;
	double premium_requests, cost;	/* cost in US dollars */
	int64_t missing[ANSWER_COUNTS];	/* of a sum of trials: how many do not
					 * report it; the sum is too low */
};

struct answer_turn {		/* of a conversation */
	struct answer_turn *next;
	struct str prompt, output;
};

struct answer {
	struct str output;
	struct answer_call *calls;	/* in the order of their start */
	size_t ncalls;
	bool no_calls;			/* the agent does not report any */
	struct field_strs skills;	/* used, in order of their first use */
	struct field_strs other_skills;	/* not the suite's: built in or of the
					 * account */
	bool skills_known;		/* an empty list means none was used */
	bool skills_lost;		/* events were lost: others may have
					 * been used */
	struct answer_usage usage;
	struct str transcript;		/* a JSON list, or empty */
	struct answer_turn *turns;	/* NULL: there was only one */
	struct str session_id;
	struct str model;		/* as the agent reports it, or empty */
	enum answer_fault fault;
	struct str error;		/* message; empty: no error */
	int exit_status;		/* -1: none */
	struct str stderr_tail;
	bool truncated;			/* output beyond the limit was lost */
	bool refused;			/* the model declined to answer */
	bool confined, loose;		/* the agent could write only in its
					 * directories; anywhere */
	struct str patch;		/* unified diff of the workspace, or
					 * empty */
	struct str tool_policy;		/* of a custom agent: "unrestricted",
					 * "deny_all" or "allow_list"; else
					 * empty */
	struct field_strs denied;	/* tools that the policy denied */
	struct str command_invocations;	/* of mocked commands: a JSON list, or
					 * empty */
	bool echo;			/* the prompt repeated: no agent ran */
	/* of a recorded answer: */
	int64_t took_ms;		/* when recorded; 0: unknown */
	bool no_took;			/* the recording does not tell it */
	bool few_files;			/* it lacks files of the workspace */
	bool late;			/* it had exceeded its time-out */
	struct str note;		/* warning for the user, or empty */
};

/* "shell", "read" and so on; and the tool of that name, or ANSWER_OTHER. */
const char *answer_tool_name(enum answer_tool);
enum answer_tool answer_tool_of(struct str name);

/* The tool of a kind of the Agent Client Protocol: "execute" is a shell. */
enum answer_tool answer_tool_by_kind(struct str kind);
/* Whether it is one of these kinds. */
bool answer_is_kind(struct str word);

/* The names are equal, apart from case. */
bool answer_same_name(struct str, struct str);

/*
 * The name of a tool in a rule.  `does` has a bit for each purpose of its
 * tools, in any agent: names of the same purpose are synonyms.
 */
struct answer_name {
	struct str text;
	uint64_t does;		/* 0: not a name that we know */
	bool own;		/* one of our own names, */
	enum answer_tool tool;	/* of this tool */
};
struct answer_name answer_name(struct str);
/* The bits of all names for which fits() returns true. */
uint64_t answer_names_do(bool (*fits)(void *, struct str), void *);
/* The usual purpose of a tool, and all of them. */
uint64_t answer_plain(enum answer_tool);
uint64_t answer_any(enum answer_tool);
/* The i-th known name if it does one of these, else ""; NULL at the end. */
const char *answer_synonym(uint64_t does, size_t i);

/* Sets tool and `does` of a call by its name, for answer_classify(). */
void answer_name_tool(struct answer_call *, struct str agent, struct str mode);

/*
 * Sets the tool of a call and its canonical arguments, as far as they are not
 * set, from its name and arguments.  `agent` is "claude", "codex" and so on;
 * unknown names, and those of unknown agents, are looked up in the tables of
 * all agents.
 */
void answer_classify(struct arena *, struct answer_call *, struct str agent);

/*
 * Whether the name is that of the call's tool for a mock: agents put the name
 * of the MCP server before that of the tool, in several ways.
 */
bool answer_is_mock(const struct answer_call *, struct str name);

/* The command without a wrapper such as /bin/bash -lc '...'. */
struct str answer_unwrap(struct arena *, struct str command);

/*
 * Adds the usage of another answer to a sum, which begins as zero.  A count
 * that is unknown in one of them is unknown in the sum.
 */
void answer_add_usage(struct answer_usage *sum, const struct answer_usage *);

/* All counts are known, and zero. */
extern const struct answer_usage answer_no_usage;

/* Whether the list "unknown" of an object in results contains the word. */
bool answer_lists_unknown(const struct json *obj, const char *word);

/* Whether anything of it is known. */
bool answer_has_usage(const struct answer_usage *);

/* The usage in the object of a trial; unknown if it has none. */
struct answer_usage answer_read_usage(const struct json *trial);

/* The same, of all attempts at the trial. */
struct answer_usage answer_read_spent(const struct json *trial);
/* The usage in such an object itself, or unknown if it is NULL. */
struct answer_usage answer_read_counts(const struct json *);

/*
 * Adds `times` the usage; subtracting it again leaves no rounding error.  A
 * count is known in the sum if it was known in any; `missing` tells how often
 * it was not.
 */
void answer_count_usage(struct answer_usage *sum, const struct answer_usage *,
    int times);

#endif
