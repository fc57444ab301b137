/* SPDX-License-Identifier: ISC */
/*
 * schema_internal.h: schema_.  The compiled form of a schema.
 *
 * A subschema is a node: a set of types and a list of operations, one for
 * each keyword or group of keywords that work together.  Operations are in
 * the order of enum schema_kind: cheap ones first, and last those that depend
 * on which items and members the others have evaluated.
 */
#ifndef WAZA_SCHEMA_INTERNAL_H
#define WAZA_SCHEMA_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "json.h"
#include "lib/schema/schema.h"

struct re;

/* An exact decimal number: sign x DIGITS x 10^low. */
struct schema_num {
	struct str digits;	/* first to last non-zero; may contain '.' */
	int64_t top;		/* 0.DIGITS x 10^top */
	int64_t low;
	int sign;		/* -1, 0, 1 */
	bool nan, inf;		/* from YAML */
	bool quick;		/* the value is i */
	int64_t i;
};

/* Parses a number as json.h and yaml_lite.h spell it; borrows the text. */
void schema_num_read(struct schema_num *, struct str text);
/* Below, equal to or above 0, as strcmp; neither may be NaN. */
int schema_num_cmp(const struct schema_num *, const struct schema_num *);
/* Whether `of` is a multiple of `unit` (at most SCHEMA_DIGITS_MAX digits). */
bool schema_num_multiple(const struct schema_num *of,
    const struct schema_num *unit);
bool schema_num_whole(const struct json *);	/* true for 1.0 */
size_t schema_num_digits(const struct schema_num *);

/* A hash table from strings to pointers, in an arena. */
struct schema_slot {
	struct str key;
	void *val;		/* NULL: free */
	uint32_t hash;
};
struct schema_map {
	struct schema_slot *v;
	size_t n, mask;
	size_t longest;		/* probe chain of a key */
};
/* Longer probe chains mean crafted keys: callers refuse the schema. */
enum { SCHEMA_WAY_MAX = 500 };

uint32_t schema_hash(struct str);	/* not for crafted input */
/* The value of a key, or NULL. */
void *schema_map_get(const struct schema_map *, struct str key);
/* Adds a key that the map does not contain yet; borrows it. */
void schema_map_put(struct arena *, struct schema_map *, struct str key,
    void *val);

/* A resolved URI reference (RFC 3986), in the arena. */
struct schema_ref {
	struct str uri;		/* without the fragment */
	struct str fragment;	/* percent-decoded */
};
/* Resolves a reference against a base URI (RFC 3986, section 5). */
struct schema_ref schema_uri_resolve(struct arena *, struct str base,
    struct str ref);

/* Translates an ECMA-262 pattern to re.h; if p is NULL, *why is the reason. */
struct str schema_pattern(struct arena *, struct str ecma, const char **why);

/* The text of the built-in schema with that URI, or empty. */
struct str schema_meta_text(struct str uri);

enum schema_vocab {		/* bits */
	SCHEMA_CORE = 1,
	SCHEMA_APPLY = 2,
	SCHEMA_VALID = 4,
	SCHEMA_REST = 8,	/* unevaluated* */
	SCHEMA_ALL = 15
};

struct schema_dialect {
	enum schema_draft draft;
	unsigned vocab;
};

/* A schema resource: a schema with its own URI, and its subschemas. */
struct schema_res {
	struct str uri;
	struct schema_dialect dialect;
	struct schema_anchor *dynamic;	/* its dynamic anchors */
	struct str name;		/* in messages; empty: the main one */
};

struct schema_anchor {
	struct schema_anchor *next;
	struct str name;
	struct schema_node *node;
};

enum schema_kind {
	SCHEMA_CONST, SCHEMA_ENUM, SCHEMA_MIN, SCHEMA_MIN_X, SCHEMA_MAX,
	SCHEMA_MAX_X, SCHEMA_MULTIPLE, SCHEMA_MIN_LEN, SCHEMA_MAX_LEN,
	SCHEMA_MIN_ITEMS, SCHEMA_MAX_ITEMS, SCHEMA_MIN_PROPS,
	SCHEMA_MAX_PROPS, SCHEMA_PATTERN, SCHEMA_MEMBERS, SCHEMA_NAMES,
	SCHEMA_ITEMS, SCHEMA_UNIQUE, SCHEMA_CONTAINS, SCHEMA_DEPENDS,
	SCHEMA_REF, SCHEMA_DYNREF, SCHEMA_ALL_OF, SCHEMA_NOT, SCHEMA_ANY_OF,
	SCHEMA_ONE_OF, SCHEMA_IF, SCHEMA_REST_ITEMS, SCHEMA_REST_PROPS,
	SCHEMA_TYPE, SCHEMA_FALSE, SCHEMA_MISSING,
	SCHEMA_LACKS	/* from SCHEMA_TYPE on: in findings only */
};

/* Bits of types beside those of enum json_type. */
enum { SCHEMA_INTEGER = 1 << 6, SCHEMA_ANY = 0x3f };

struct schema_op {
	uint8_t kind;
	uint8_t types;		/* that it applies to */
	uint32_t n;		/* length of the array in u */
	const struct json *src;	/* the keyword's value */
	union {
		struct schema_num *num;
		uint64_t count;
		struct re *re;
		struct schema_node *node;
		struct schema_node **nodes;
		struct schema_members *members;
		struct schema_items *items;
		struct schema_contains *contains;
		struct schema_depend *depends;
		struct schema_choice *choice;
		struct schema_anchor *anchor;
	} u;
};

struct schema_prop {
	struct schema_node *node;	/* NULL: only required */
	bool required;
};
struct schema_pattern_prop {
	struct re *re;
	struct schema_node *node;
};
struct schema_members {
	struct schema_map props;	/* of struct schema_prop */
	size_t nrequired;
	struct schema_pattern_prop *patterns;
	size_t npatterns;
	struct schema_node *more;	/* for all others, or NULL */
	const struct json *properties, *required, *additional;
	bool picks;	/* other members do not matter: look names up */
};
struct schema_items {
	struct schema_node **first;	/* by position */
	size_t n;
	struct schema_node *rest;	/* NULL: anything */
};
struct schema_contains {
	struct schema_node *node;
	uint64_t min, max;
};
struct schema_depend {
	struct str name;
	struct schema_node *node;	/* NULL: names are required */
	const struct json *names;
};
struct schema_choice {		/* an enum with many values, by their hash */
	const struct json **v;
	size_t mask;
};

struct schema_node {
	struct schema_op *ops;
	uint32_t nops;
	uint8_t types;
	bool own;		/* records what is evaluated, for itself */
	bool in_cycle, done;	/* private to the search for cycles */
	bool closes_cycle;	/* it applies a schema that applies it */
	struct schema_node *alias;	/* target, if it is only a $ref */
	struct schema_res *res;
	const struct json *src;
	struct schema_node *up;	/* enclosing schema; NULL: see pointer */
	const struct json *word, *item;	/* of up; item may be NULL */
	struct str pointer;
};

struct schema {
	struct schema_node *root;
	struct arena *arena;
	bool dynamic;		/* it contains a $dynamicRef */
	size_t steps;
	struct budget *budget;
};

/* Appends the JSON Pointer to a node, or to one of its keywords. */
void schema_put_pointer(struct buf *, const struct schema_node *,
    const struct json *word);
/* Appends a reference token of a JSON Pointer, with its slash. */
void schema_put_token(struct buf *, struct str key);
void schema_put_count(struct buf *, uint64_t);	/* appends a number */
/* Appends a scalar, truncated, or the size of an array or object. */
void schema_put_brief(struct buf *, const struct json *);

/* Compiling.  The first error is kept in e; after it, calls do no harm. */
struct schema_build {
	struct arena *arena;
	const struct schema_opts *opts;
	struct err *e;
	bool failed, dynamic;
	struct schema_map nodes;	/* by the address of their source */
	struct schema_map uris;		/* "uri" and "uri#anchor" to nodes */
	struct schema_map res;		/* URIs to struct schema_res */
	struct schema_map patterns;	/* to struct re */
	struct schema_node **list;
	size_t n, cap;
	size_t indexed, built;	/* nodes of list done so far */
};

/* Sets the error, at a keyword of a node or, if NULL, at the node. */
void schema_fail(struct schema_build *, const struct schema_node *,
    const struct json *word, const char *fmt, ...) PRINTF(4, 5);
/* The node of a keyword's value, or of an item of it; new if needed. */
struct schema_node *schema_node_at(struct schema_build *,
    struct schema_node *up, const struct json *word, const struct json *item);
struct schema_node *schema_node_new(struct schema_build *,
    const struct json *src, struct schema_res *);
/* Records the names and subschemas of all nodes that are not indexed yet. */
void schema_index(struct schema_build *);
/* Makes nodes for the subschemas of a node. */
void schema_index_children(struct schema_build *, struct schema_node *);
/* The dialect that a $schema URI names; fails if it is unknown. */
struct schema_dialect schema_dialect_of(struct schema_build *,
    const struct schema_node *, struct str uri);
/* The target of a reference, or NULL; *name is its dynamic anchor, if any. */
struct schema_node *schema_follow(struct schema_build *,
    const struct schema_node *, const struct json *word, struct str *name);
/* The built-in or supplied document with that URI, or NULL. */
const struct json *schema_find_doc(struct schema_build *, struct str uri);
/* Makes the operations of a node from its keywords. */
void schema_build_node(struct schema_build *, struct schema_node *);

enum { SCHEMA_OPS_MAX = SCHEMA_TYPE };	/* one of each kind */

/* The operations of a node while they are made. */
struct schema_ops {
	struct schema_build *b;
	struct schema_node *node;
	struct schema_op v[SCHEMA_OPS_MAX];
	size_t n;
};

/* The value of a keyword, if the schema's dialect has it; or NULL. */
const struct json *schema_word(const struct schema_node *, const char *name);
/* Checks all keywords of the node and makes their operations. */
void schema_build_words(struct schema_ops *);
unsigned schema_type_bit(struct str word);	/* 0: not a type */

/*
 * Each makes the operation of a keyword.  Keywords that work together, such
 * as properties and required, make one operation, whichever comes first.
 */
typedef void schema_make_fn(struct schema_ops *, enum schema_kind,
    const struct json *value);
schema_make_fn schema_make_const, schema_make_contains, schema_make_count;
schema_make_fn schema_make_depends, schema_make_dynref, schema_make_enum;
schema_make_fn schema_make_if, schema_make_items, schema_make_members;
schema_make_fn schema_make_node, schema_make_nodes, schema_make_number;
schema_make_fn schema_make_pattern, schema_make_ref, schema_make_type;
schema_make_fn schema_make_unique;

/* Checking. */
struct schema_trail {		/* the path to the current value */
	const struct schema_trail *up;
	const struct json *v;
	size_t i;
};
struct schema_scope {		/* the dynamic scope: resources entered */
	const struct schema_scope *up;
	const struct schema_res *res;
};

/* The evaluated items or members of a value, by position. */
struct schema_seen {
	uint64_t *bits;
	uint64_t few;		/* bits points here if 64 are enough */
	size_t n;
	bool all;
};

struct schema_run {
	const struct schema *schema;
	struct arena *tmp;
	struct err *e;
	size_t steps;		/* left */
	unsigned depth;		/* of nested schemas */
	unsigned level;		/* in the value */
	bool stopped;		/* a limit was reached */
	bool naming;		/* the value is a member's name */
	struct schema_why *why;	/* NULL: collect no findings */
	const struct schema_trail *trail;
	const struct schema_scope *scope;
};

/* Counts steps; false, with an error, when the limit is reached. */
bool schema_spend(struct schema_run *, size_t steps);
/* The number of characters of a string. */
size_t schema_length(const struct json *);
/* Whether two values are equal: numbers by value, members in any order. */
bool schema_same(struct schema_run *, const struct json *,
    const struct json *);
/* Whether the value is one of an enum's. */
bool schema_chosen(struct schema_run *, const struct schema_op *,
    const struct json *);
/* Whether all items differ; if not, *a and *b are the indices of two equal. */
bool schema_unique(struct schema_run *, const struct json *, size_t *a,
    size_t *b);
/* A hash table of an enum's values, or NULL if there are only a few. */
struct schema_choice *schema_choice_new(struct arena *, const struct json *);

/* The findings, in order. */
struct schema_item {
	struct schema_item *next;
	struct schema_finding f;
	uint8_t kind, types;
	unsigned level;		/* depth in the value */
	bool closest;		/* the message names the alternatives */
};
struct schema_why {
	struct schema_item *head, **tail;
	size_t n;
	struct buf *text;	/* to make texts in; empty between findings */
};

/* Makes the list empty. */
void schema_why_init(struct schema_why *, struct buf *text);
/*
 * Each adds a finding if the run collects them, and returns false: a failed
 * operation, a wrong type, a missing property, a wrong number of matches.
 */
bool schema_explain(struct schema_run *, const struct schema_node *,
    const struct schema_op *, const struct json *);
bool schema_explain_type(struct schema_run *, const struct schema_node *,
    const struct json *);
bool schema_explain_kind(struct schema_run *, enum schema_kind,
    const struct schema_node *, const struct schema_op *,
    const struct json *, struct str name);
bool schema_explain_count(struct schema_run *, const struct schema_node *,
    const struct schema_op *, const struct json *, size_t count);

/* The failed branches of anyOf and oneOf, and the closest of them. */
struct schema_best {
	struct schema_why why;	/* of the closest branch */
	unsigned rank;		/* of that branch; lower is closer */
	size_t tried;
	uint8_t types;		/* of all branches that failed by type */
	bool typed;		/* all failed by type */
};
/* Adds a failed branch. */
void schema_best_add(struct schema_run *, struct schema_best *,
    const struct schema_why *);
/* Adds the findings of the closest branch; always false. */
bool schema_best_explain(struct schema_run *, struct schema_best *,
    const struct schema_node *, const struct schema_op *,
    const struct json *);

#endif
