/* SPDX-License-Identifier: ISC */
/*
 * grader_trace.h: grader_.  For graders of an agent's trace (as opposed to its
 * answer): names of called tools and used skills, sequences of names, limits,
 * and calls that settings describe.
 *
 * An agent chooses the length of the trace and the names in it.  Each function
 * takes time linear in the trace, apart from sorting it once.
 */
#ifndef WAZA_GRADER_TRACE_H
#define WAZA_GRADER_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "grade/grader_internal.h"
#include "lib/field.h"

struct answer_call;
struct answer_name;
struct re;
struct schema;

/*
 * A sorted copy of a list of names, in the arena; the names are borrowed.
 * grader_index_new() makes it, _unique() removes duplicates, _count() returns
 * how often a name occurs, and _find() the place of its first copy, or n.
 */
struct field_strs grader_index_new(struct arena *, const struct field_strs *);
void grader_index_unique(struct field_strs *);
size_t grader_index_count(const struct field_strs *, struct str);
size_t grader_index_find(const struct field_strs *, struct str);

/*
 * The calls of a trial, as rules by name see them: in order, without those that
 * were denied.
 */
struct grader_trace {
	const struct grader_input *in;
	struct budget *budget;		/* or NULL */
	struct field_strs names;	/* the agent's */
	const struct answer_call **calls;	/* in the same order */
};

/* Reads the answer's calls into arrays in the arena. */
void grader_trace_read(struct arena *, const struct grader_input *,
    struct budget *, struct grader_trace *);

/*
 * Whether a call is one of a tool that a rule names.  All rules by name use
 * this: case-insensitive; a rule can name a tool as its agent does, by what it
 * does (answer_tool_name()), or as another agent names a tool that does the
 * same.  GRADER_MAYBE: the agent does not report enough of the call.
 */
enum grader_fit { GRADER_NO, GRADER_MAYBE, GRADER_YES };
enum grader_fit grader_call_is(const struct answer_call *,
    const struct answer_name *);
/* The same for a name whose text does not fit: by what its tools do. */
enum grader_fit grader_call_does(const struct answer_call *,
    const struct answer_name *);

/*
 * How many calls fit this name.  *doubt: what the agent would have to report to
 * exclude further ones, or NULL.
 */
size_t grader_trace_count(const struct grader_trace *, struct str name,
    const char **doubt);
/* Takes the work of comparing all calls with names; false: too much. */
bool grader_trace_afford(const struct grader_trace *, size_t names);
/* What the agent does not report of a call that may fit. */
const char *grader_call_doubt(const struct answer_call *);

/* Writes "calls", the first calls of the answer with what they did. */
void grader_put_calls(struct json_out *, const struct answer *);
/*
 * Adds the first calls to the feedback of a verdict that did not pass; nothing
 * if it is an error.
 */
void grader_add_calls(struct arena *, struct verdict *, const struct answer *);

/* The first names in quotes and the number of the others, or "none". */
struct str grader_quote_list(struct arena *, const struct field_strs *);

/* What can be limited; the words for it are in messages. */
enum grader_count { GRADER_CALLS, GRADER_TOKENS, GRADER_TURNS, GRADER_TIME };

/*
 * Counts one check: the answer has at most max.  None if max is negative; if
 * the value is not known, the check is not possible.
 */
void grader_limit(struct grader_tally *, const struct grader_input *,
    enum grader_count, int64_t max);

/* Counts one check for each required and each forbidden tool. */
void grader_expect_tools(struct grader_tally *, struct arena *tmp,
    const struct grader_trace *, const struct field_strs *required,
    const struct field_strs *forbidden);

/* Writes "tool_call_count" and "actual_duration". */
void grader_put_counts(struct json_out *, const struct grader_input *);
/* Writes "tokens_total" if the usage is known. */
void grader_put_tokens(struct json_out *, const struct answer *);

/* How a sequence of names must match the expected one. */
enum grader_order { GRADER_EXACT, GRADER_IN_ORDER, GRADER_ANY_ORDER };

/* The words for it in settings, ended by NULL; several mean the same. */
extern const char *const grader_order_words[];
/* The order that the word at this index means. */
enum grader_order grader_order_of(int word);

struct grader_match {
	enum grader_order order;
	const char *what;		/* "calls" */
	struct field_strs want, got;
	bool ok;
	double precision, recall, f1;
};

/* Compares want with got: sets ok, precision, recall and f1. */
void grader_match_names(struct arena *tmp, struct grader_match *);
/* Describes a mismatch: the first difference, expected and found names. */
struct str grader_match_difference(struct arena *, const struct grader_match *);
/* Writes "precision", "recall" and "f1". */
void grader_put_match(struct json_out *, const struct grader_match *);

/* Argument matchers (grader_trace_args.c): what an argument must be. */
enum grader_arg_kind {
	GRADER_EQUALS, GRADER_REGEX, GRADER_CONTAINS, GRADER_RANGE,
	GRADER_SCHEMA, GRADER_ARG__MAX
};

struct grader_arg {
	struct str name;		/* of the argument, or a.b.0 */
	enum grader_arg_kind kind;
	const struct json *value;	/* of the matcher */
	struct re *re;
	struct schema *schema;
};

struct grader_args {
	struct grader_arg *v;
	size_t n;
};

/* A value as patterns see it: a string itself, null as "", else its JSON. */
struct str grader_arg_text(struct arena *, const struct json *);
/*
 * Reads a mapping of argument names to matchers; NULL and null mean none.  -1
 * and *e if a matcher is invalid.
 */
int grader_args_read(struct arena *, const struct json *map,
    struct grader_args *, struct budget *, struct err *);
/* Notes all problems in such a mapping. */
void grader_args_check(struct grader_check *, const struct json *map);
/*
 * 1: all arguments match, as the agent gave them or in our own form, which is
 * an object; 0: some do not, and `why` says which; -1 and *e: a schema check
 * reached its limit.
 */
int grader_args_match(const struct grader_args *, struct arena *tmp,
    const struct json *arguments, const struct json *own, struct buf *why,
    struct err *);

/* A call that settings describe (grader_trace_calls.c), and its match. */
struct grader_call {
	struct str tool;		/* patterns, case-insensitive */
	struct str command_pattern, skill_pattern, path_pattern;
	const struct json *args;
	struct re *re[4];		/* of these patterns; NULL: any */
	uint64_t does;			/* of the known names that `tool` fits
					 * as a whole */
	struct grader_args want;
	size_t hit;			/* index of the first match, or
					 * SIZE_MAX */
	const struct answer_call *near;	/* the last call where only the name
					 * matched, or NULL */
	const char *doubt;		/* what a call that may match does not
					 * report, or NULL */
	struct str why;			/* without a hit: why not */
};

struct grader_calls {
	struct grader_call *v;
	size_t n;
	struct budget *budget;		/* of grader_calls_find(), or NULL */
};

/*
 * Notes all problems in a member that is a list of calls, each a mapping or a
 * pattern for the tool's name.  Returns the number of entries.
 */
size_t grader_calls_check(struct grader_check *, const char *key);
/*
 * Reads such a list, which is used with g->budget, and expands its templates;
 * -1 and *e if it is invalid.
 */
int grader_calls_read(struct arena *, const struct json *list,
    const struct grading *g, struct grader_calls *, struct err *);
/*
 * Searches the trace for each described call and sets hit or why (in the
 * arena).  -1 and *e: a schema check reached its limit.
 */
int grader_calls_find(struct arena *, const struct answer *,
    struct grader_calls *, struct err *);
/* Counts one check for each: it was called, or (not expected) it was not. */
void grader_calls_grade(struct grader_tally *, struct arena *tmp,
    const struct grader_input *, const struct grader_calls *, bool expected);
/* A label for messages: the tool and the patterns of its arguments. */
struct str grader_call_label(struct arena *, const struct grader_call *);

#endif
