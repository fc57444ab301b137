/* SPDX-License-Identifier: ISC */
/*
 * grader_trace.h: grader_.  What graders of the way share, as opposed to those
 * of the answer: the names of tools called and skills used, sequences, limits,
 * and single calls as settings describe them.
 *
 * A trace may be long and its names anything.  All here takes time that is
 * linear in the trace, but for one sorting of it.
 */
#ifndef WAZA_GRADER_TRACE_H
#define WAZA_GRADER_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "grade/grader_internal.h"
#include "lib/field.h"

struct answer;
struct answer_call;
struct json;
struct json_out;
struct re;
struct schema;

/* Strings, sorted, to be looked up. */
struct grader_index {
	struct str *v;
	size_t n;
};

struct grader_index grader_sort(struct arena *, const struct field_strs *);
size_t grader_count(const struct grader_index *, struct str);
void grader_unique(struct grader_index *);	/* each of them once */
size_t grader_place(const struct grader_index *, struct str);	/* or n */

/* The names of the calls, in their order. */
struct field_strs grader_tools(struct arena *, const struct answer *);

/* The first names in quotes, and how many more there are. */
struct str grader_list(struct arena *, const struct field_strs *);

/* A check unless max is below 0; what is not known passes. */
void grader_limit(struct grader_tally *, const char *what, int64_t max,
    int64_t got, bool known);

/* A check for each name: was it called, or was it not? */
void grader_want_tools(struct grader_tally *, struct arena *tmp,
    const struct field_strs *called, const struct field_strs *required,
    const struct field_strs *forbidden);

/* Members: "tool_call_count" and "actual_duration"; of known usage, tokens. */
void grader_put_counts(struct json_out *, const struct grader_input *);
void grader_put_tokens(struct json_out *, const struct answer *);
/* A member: the list, also when it is empty. */
void grader_put_list(struct json_out *, const char *key,
    const struct field_strs *);
void grader_put_number(struct json_out *, const char *key, double);

/* How a sequence has to be like the expected one. */
enum grader_order { GRADER_EXACT, GRADER_IN_ORDER, GRADER_ANY_ORDER };

/* The words for it, which differ between kinds; NULL ends them. */
extern const char *const grader_order_words[];
enum grader_order grader_order_of(int word);

struct grader_match {
	enum grader_order order;
	const char *what;		/* "calls" */
	struct field_strs want, got;
	bool ok;
	double precision, recall, f1;
};

/* Fills ok and the numbers; the rest is given. */
void grader_compare(struct arena *tmp, struct grader_match *);
/* What was expected and found, and where they first differ. */
struct str grader_difference(struct arena *, const struct grader_match *);
/* Members "precision", "recall" and "f1". */
void grader_put_match(struct json_out *, const struct grader_match *);

/* For checks: names are not empty. */
bool grader_check_name(struct grader_check *, const struct json *, struct str);
/* For checks: notes an executor that does not tell calls, or skills. */
void grader_check_calls(struct grader_check *);
void grader_check_skills(struct grader_check *);

/* The tree with the templates in its strings done. */
const struct json *grader_render_tree(struct arena *, const struct json *,
    const struct tmpl_vars *, struct err *);

/* What an argument has to be. */
enum grader_arg_kind {
	GRADER_EQUALS, GRADER_REGEX, GRADER_CONTAINS, GRADER_RANGE,
	GRADER_SCHEMA, GRADER_ARG__MAX
};

struct grader_arg {
	struct str name;		/* of the argument */
	enum grader_arg_kind kind;
	const struct json *value;	/* what the kind has */
	struct re *re;
	struct schema *schema;
};

struct grader_args {
	struct grader_arg *v;
	size_t n;
};

/* A mapping of names and matchers; -1 when one cannot be used. */
int grader_args_read(struct arena *, const struct json *map,
    struct grader_args *, struct err *);
void grader_args_check(struct grader_check *, const struct json *map);
/*
 * 1: all arguments are as they have to be; 0: not, and `why` has it; -1: a
 * schema did not come to an end.
 */
int grader_args_match(const struct grader_args *, struct arena *tmp,
    const struct json *arguments, struct buf *why, struct err *);

/* A call as settings describe it, and what came of it. */
struct grader_call {
	struct str tool;		/* patterns, in any case */
	struct str command_pattern, skill_pattern, path_pattern;
	const struct json *args;
	struct re *re[4];		/* of these patterns; NULL: any */
	struct grader_args want;
	size_t hit;			/* the first call like it; SIZE_MAX */
	const struct answer_call *near;	/* the last that only its name fits */
	struct str why;			/* it is not the one; without a hit */
};

struct grader_calls {
	struct grader_call *v;
	size_t n;
};

/* For checks: the entries of a member, each a mapping or a tool's pattern. */
size_t grader_calls_check(struct grader_check *, const char *key);
/* The same entries for a grading, templates done. */
int grader_calls_read(struct arena *, const struct json *list,
    const struct tmpl_vars *, struct grader_calls *, struct err *);
/* Looks for all of them in the trace; -1 when a schema came to no end. */
int grader_calls_find(struct arena *, const struct answer *,
    struct grader_calls *, struct err *);
/* One of them in words. */
struct str grader_call_label(struct arena *, const struct grader_call *);

#endif
