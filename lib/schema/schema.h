/* SPDX-License-Identifier: ISC */
/*
 * schema.h: schema_.  JSON Schema, drafts 7 and 2020-12, over value trees.
 *
 * A schema is compiled once, which validates it, and then checks any number of
 * values.  `$ref`, `$dynamicRef`, `$id` and anchors are resolved within the
 * document, the built-in meta-schemas of the two drafts, and documents that
 * the caller supplies; nothing is ever fetched.  `format` and `content*` are
 * annotations, the default of both drafts.  Patterns are translated from
 * ECMA-262 to re.h; backreferences and lookaround are refused.
 *
 * A compiled schema lives in its arena and borrows from the document.  The
 * limits bound the time of a check for any schema and value.
 */
#ifndef WAZA_SCHEMA_H
#define WAZA_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"

struct json;
struct schema;
struct schema_node;

enum {
	SCHEMA_NODES_MAX = 1 << 20,	/* subschemas */
	SCHEMA_DEPTH_MAX = 1000,	/* schemas within schemas, at a check */
	SCHEMA_STEPS_MAX = 1 << 26,	/* keywords evaluated in a check */
	SCHEMA_PATTERNS_MAX = 2000,	/* different ones */
	SCHEMA_DIGITS_MAX = 18,		/* of multipleOf, without outer zeros */
	SCHEMA_FINDINGS_MAX = 100	/* reported for one value */
};

enum schema_draft { SCHEMA_2020_12, SCHEMA_7 };

/* A schema that references may name; must outlive the compiled schema. */
struct schema_doc {
	struct str uri;		/* its address in references */
	const struct json *doc;
};

struct schema_opts {
	enum schema_draft draft;	/* if "$schema" is missing */
	const struct schema_doc *docs;
	size_t ndocs;
	size_t steps;		/* of a check; 0: SCHEMA_STEPS_MAX */
	struct budget *budget;	/* NULL: none; if it is spent, a limit is
				 * reached */
};

/*
 * Compiles a schema; opts may be NULL.  Returns NULL if the schema is not
 * usable: ERR_SCHEMA (a keyword has a value of the wrong type, a pattern does
 * not compile, a reference cannot be resolved) or ERR_LIMIT, with line and
 * column if the tree has them.  The message begins with the JSON Pointer of
 * the place.
 */
struct schema *schema_compile(struct arena *, const struct json *doc,
    const struct schema_opts *, struct err *);

struct schema_finding {
	struct str at;		/* JSON Pointer into the value */
	const struct schema_node *schema;	/* see schema_put_keyword() */
	const struct json *word;
	const struct json *value;	/* the value at that place */
	struct str msg;		/* "must be a string, is a number" */
	struct str missing;	/* the property that it must have, or empty */
	bool key;		/* the member's name is wrong */
};

/* Appends the JSON Pointer to the keyword that failed. */
void schema_put_keyword(struct buf *, const struct schema_finding *);

/* Receives one reason why a value fails; valid during the call only. */
typedef void schema_report_fn(void *ctx, const struct schema_finding *);

/*
 * Checks a value.  Returns 1 if it passes; 0 if it fails, after calling
 * report, unless NULL, for each reason; -1 with *e if a limit was reached and
 * the result is unknown.  Scratch memory comes from tmp and is freed; tmp
 * should not be the arena of the schema.
 */
int schema_check(struct schema *, struct arena *tmp,
    const struct json *value, schema_report_fn *report, void *ctx,
    struct err *e);

#endif
