/* SPDX-License-Identifier: ISC */
/*
 * schema.h: schema_.  JSON Schema, drafts 7 and 2020-12, over value trees.
 *
 * A schema is compiled once, which finds everything that is wrong with it,
 * and then checks any number of values.  `$ref`, `$dynamicRef`, `$id` and
 * anchors are followed within the document, into the two drafts' own
 * meta-schemas, which are built in, and into documents that the caller hands
 * over; nothing is ever fetched.  `format` and `content*` are annotations, as
 * both drafts have it by default.  Patterns are ECMA-262's as far as they can
 * be said in the language of re.h; those that cannot (backreferences,
 * lookaround) are refused.
 *
 * A compiled schema lives in its arena and borrows from the document.  A
 * check takes time in bounds whatever schema and value say: see the limits.
 */
#ifndef WAZA_SCHEMA_H
#define WAZA_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"

struct json;
struct schema;

enum {
	SCHEMA_NODES_MAX = 1 << 20,	/* subschemas */
	SCHEMA_DEPTH_MAX = 1000,	/* schemas within schemas, at a check */
	SCHEMA_STEPS_MAX = 1 << 26,	/* keywords looked at in a check */
	SCHEMA_PATTERNS_MAX = 2000,	/* different ones */
	SCHEMA_DIGITS_MAX = 18,		/* of multipleOf, zeros aside */
	SCHEMA_FINDINGS_MAX = 100	/* told of one value */
};

enum schema_draft { SCHEMA_2020_12, SCHEMA_7 };

/* Another schema that references may lead to; it lives as long. */
struct schema_doc {
	struct str uri;		/* where it would be fetched from */
	const struct json *doc;
};

struct schema_opts {
	enum schema_draft draft;	/* where "$schema" does not say */
	const struct schema_doc *docs;
	size_t ndocs;
	size_t steps;		/* of a check; 0: SCHEMA_STEPS_MAX */
};

/*
 * NULL when it is no schema that can be used: ERR_SCHEMA (a keyword has the
 * wrong kind of value, a pattern does not compile, a reference leads out of
 * the document), ERR_LIMIT; .line and .col where the tree has them, and the
 * message begins with the pointer to the place.  opts may be NULL.
 */
struct schema *schema_compile(struct arena *, const struct json *doc,
    const struct schema_opts *, struct err *);

struct schema_finding {
	struct str at;		/* pointer into the value; empty: the whole */
	struct str keyword;	/* pointer into the schema: what was missed */
	const struct json *value;	/* the part of it that is meant */
	struct str msg;		/* "must be a string, is a number" */
	bool key;		/* it is the member's name that is wrong */
};

/* Why a value does not pass.  What it is given lives for the call. */
typedef void schema_report_fn(void *ctx, const struct schema_finding *);

/*
 * 1: it passes.  0: it does not, and report, unless it is NULL, has heard of
 * each leaf of the trouble.  -1: a limit was reached, *e says which; that is
 * no answer.  Scratch memory comes from tmp and is given back; tmp is best
 * not the arena that the schema is in, which keeps what it is asked for.
 */
int schema_check(struct schema *, struct arena *tmp,
    const struct json *value, schema_report_fn *report, void *ctx,
    struct err *e);

#endif
