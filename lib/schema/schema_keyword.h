/* SPDX-License-Identifier: ISC */
/*
 * schema_keyword.h: schema_.  How keywords become operations.  Those that
 * work together, such as properties and required, share a function, which
 * makes one operation of them whichever comes first.
 */
#ifndef WAZA_SCHEMA_KEYWORD_H
#define WAZA_SCHEMA_KEYWORD_H

#include "lib/schema/schema_internal.h"

enum { SCHEMA_OPS_MAX = SCHEMA_TYPE };	/* one of each kind */

struct schema_ops {
	struct schema_build *b;
	struct schema_node *node;
	struct schema_op v[SCHEMA_OPS_MAX];
	size_t n;
};

/* The keyword of that name, if the schema's dialect has it; or NULL. */
const struct json *schema_word(const struct schema_node *, const char *name);
/* All keywords of the node, checked. */
void schema_build_words(struct schema_ops *);
unsigned schema_type_bit(struct str word);	/* 0: there is none */

typedef void schema_make_fn(struct schema_ops *, const struct json *);
schema_make_fn schema_make_all, schema_make_any, schema_make_const;
schema_make_fn schema_make_contains, schema_make_depends, schema_make_dynref;
schema_make_fn schema_make_enum, schema_make_if, schema_make_items;
schema_make_fn schema_make_max, schema_make_max_items, schema_make_max_len;
schema_make_fn schema_make_max_props, schema_make_max_x, schema_make_members;
schema_make_fn schema_make_min, schema_make_min_items, schema_make_min_len;
schema_make_fn schema_make_min_props, schema_make_min_x, schema_make_multiple;
schema_make_fn schema_make_names, schema_make_not, schema_make_one;
schema_make_fn schema_make_pattern, schema_make_ref, schema_make_rest_items;
schema_make_fn schema_make_rest_props, schema_make_type, schema_make_unique;

#endif
