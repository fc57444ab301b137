/* SPDX-License-Identifier: ISC */
/*
 * schema_internal.h: schema_.  The compiled form, for the files of schema.
 *
 * A subschema is a node: a set of types and a list of operations, one for
 * each keyword or group of keywords that work together.  Operations stand in
 * the order of enum schema_kind, cheap ones first, those last that need to
 * know what the others have looked at.
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

/* Decimal numbers, exactly: sign x DIGITS x 10^low. */
struct schema_num {
	struct str digits;	/* first to last that is not 0; maybe a '.' */
	int64_t top;		/* 0.DIGITS x 10^top */
	int64_t low;
	int sign;		/* -1, 0, 1 */
	bool nan, inf;		/* YAML has these */
	bool quick;		/* i is all there is to it */
	int64_t i;
};

void schema_num_read(struct schema_num *, struct str text);
int schema_num_cmp(const struct schema_num *, const struct schema_num *);
/* Whether `of` is a multiple of `unit`, which has SCHEMA_DIGITS_MAX. */
bool schema_num_multiple(const struct schema_num *of,
    const struct schema_num *unit);
bool schema_num_whole(const struct json *);	/* 1.0 is */
size_t schema_num_digits(const struct schema_num *);

/* From strings to anything; grows in its arena. */
struct schema_slot {
	struct str key;
	void *val;		/* NULL: free */
	uint32_t hash;
};
struct schema_map {
	struct schema_slot *v;
	size_t n, mask;
	size_t longest;		/* way to a key */
};
enum { SCHEMA_WAY_MAX = 500 };	/* beyond, somebody has made it so */

uint32_t schema_hash(struct str);
void *schema_map_get(const struct schema_map *, struct str key);
void schema_map_put(struct arena *, struct schema_map *, struct str key,
    void *val);			/* a key that is not there yet */

/* URI references, RFC 3986.  The parts without the fragment, and it. */
struct schema_ref {
	struct str uri, fragment;	/* the fragment decoded */
};
struct schema_ref schema_uri_resolve(struct arena *, struct str base,
    struct str ref);

/* The pattern of ECMA-262 in the words of re.h; p is NULL: *why not. */
struct str schema_pattern(struct arena *, struct str ecma, const char **why);

/* The text of the built-in schema of that URI; empty: there is none. */
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

/* A schema that has a URI of its own, with those within it. */
struct schema_res {
	struct str uri;
	struct schema_dialect dialect;
	struct schema_anchor *dynamic;	/* those of this resource */
	struct str name;		/* what messages call it; empty: ours */
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
	SCHEMA_LACKS	/* from SCHEMA_TYPE on: only told, never in a list */
};

/* Bits of types beside those of enum json_type. */
enum { SCHEMA_INTEGER = 1 << 6, SCHEMA_ANY = 0x3f };

struct schema_op {
	uint8_t kind;
	uint8_t types;		/* that it says something about */
	uint32_t n;		/* of what u points to */
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
	struct schema_node *more;	/* for all others; or NULL */
	const struct json *properties, *required, *additional;
	bool picks;	/* only some names matter: look for them */
};
struct schema_items {
	struct schema_node **first;	/* one by one */
	size_t n;
	struct schema_node *rest;	/* NULL: anything */
};
struct schema_contains {
	struct schema_node *node;
	uint64_t min, max;
};
struct schema_depend {
	struct str name;
	struct schema_node *node;	/* or else */
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
	bool own;		/* collects what has been evaluated itself */
	bool in_cycle;		/* private to the search for cycles */
	bool done;
	struct schema_node *alias;	/* what it only refers to, or NULL */
	struct schema_res *res;
	const struct json *src;
	struct schema_node *up;	/* the schema around it; NULL: see pointer */
	const struct json *word, *item;	/* of up; item may be NULL */
	struct str pointer;
};

struct schema {
	struct schema_node *root;
	struct arena *arena;
	bool dynamic;		/* there is a $dynamicRef */
	size_t steps;
};

/* Appends the pointer to a node, or to a keyword of it when that is given. */
void schema_put_pointer(struct buf *, const struct schema_node *,
    const struct json *word);
/* A part of a pointer, with its slash. */
void schema_put_token(struct buf *, struct str key);
/* Within one line: a value, or what kind of thing it is when it is long. */
void schema_put_brief(struct buf *, const struct json *);
/* "a string or null" */
void schema_put_types(struct buf *, unsigned types);

/*
 * Compiling.  What is wrong is set in e, and sticks: whoever goes on does no
 * harm.
 */
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
	size_t indexed, built;
};

void schema_fail(struct schema_build *, const struct schema_node *,
    const struct json *word, const char *fmt, ...) PRINTF(4, 5);
/* The node of a value in a schema, made if need be. */
struct schema_node *schema_node_at(struct schema_build *,
    struct schema_node *up, const struct json *word, const struct json *item);
struct schema_node *schema_node_new(struct schema_build *,
    const struct json *src, struct schema_res *);
void schema_index(struct schema_build *);	/* all that is not yet */
void schema_index_children(struct schema_build *, struct schema_node *);
void schema_index_ids(struct schema_build *, struct schema_node *);
struct schema_dialect schema_dialect_of(struct schema_build *,
    const struct schema_node *, struct str uri);
/* Where a reference leads, or NULL; *name is of a dynamic anchor. */
struct schema_node *schema_follow(struct schema_build *,
    const struct schema_node *, const struct json *word, struct str *name);
const struct json *schema_find_doc(struct schema_build *, struct str uri);
/* Operations of a node from its keywords. */
void schema_build_node(struct schema_build *, struct schema_node *);
struct re *schema_build_pattern(struct schema_build *,
    const struct schema_node *, const struct json *word, struct str pattern);
/* A list of schemas that never gets anywhere, if there is one. */
void schema_find_cycle(struct schema_build *);

/* Checking. */
struct schema_trail {		/* where in the value we are */
	const struct schema_trail *up;
	const struct json *v;
	size_t i;
};
struct schema_scope {		/* resources that we came through */
	const struct schema_scope *up;
	const struct schema_res *res;
};

/* What of an array or object has been evaluated, by position. */
struct schema_seen {
	uint64_t *bits;
	uint64_t few;		/* bits, where they are enough */
	size_t n;
	bool all;
};

struct schema_run {
	const struct schema *schema;
	struct arena *tmp;
	struct err *e;
	size_t steps;		/* left */
	unsigned depth, level;
	bool stopped;		/* a limit was reached */
	bool naming;		/* it is a member's name that is looked at */
	struct schema_why *why;	/* NULL: only yes or no is wanted */
	const struct schema_trail *trail;
	const struct schema_scope *scope;
};

bool schema_run(struct schema_run *, const struct schema_node *,
    const struct json *, struct schema_seen *);
bool schema_spend(struct schema_run *, size_t steps);
bool schema_stop(struct schema_run *, const char *why);	/* false */
bool schema_same(struct schema_run *, const struct json *,
    const struct json *);
bool schema_chosen(struct schema_run *, const struct schema_op *,
    const struct json *);
/* Whether no two items are the same; else *a and *b are the places. */
bool schema_unique(struct schema_run *, const struct json *, size_t *a,
    size_t *b);
/* The values of an enum by hash, where they are many; else NULL. */
struct schema_choice *schema_choice_new(struct arena *, const struct json *);

/* What was found, in order. */
struct schema_item {
	struct schema_item *next;
	struct schema_finding f;
	uint8_t kind, types;
	unsigned level;		/* how deep in the value */
	bool closest;		/* the message says that already */
};
struct schema_why {
	struct schema_item *head, **tail;
	size_t n;
};

void schema_why_init(struct schema_why *);
/* Each notes what is missed, when that is wanted; false. */
bool schema_tell(struct schema_run *, const struct schema_node *,
    const struct schema_op *, const struct json *);
bool schema_tell_type(struct schema_run *, const struct schema_node *,
    const struct json *);
bool schema_tell_kind(struct schema_run *, enum schema_kind,
    const struct schema_node *, const struct schema_op *,
    const struct json *, struct str name);
bool schema_tell_count(struct schema_run *, const struct schema_node *,
    const struct schema_op *, const struct json *, size_t count);

/* The branches of anyOf and oneOf that failed, and the best of them. */
struct schema_best {
	struct schema_why why;
	unsigned rank;
	size_t tried;
	uint8_t types;		/* of all, where only types were wrong */
	bool typed;
};
void schema_best_add(struct schema_run *, struct schema_best *,
    const struct schema_why *);
bool schema_best_tell(struct schema_run *, struct schema_best *,
    const struct schema_node *, const struct schema_op *,
    const struct json *);

#endif
