/* SPDX-License-Identifier: ISC */
/*
 * editor_schema.h: editor_.  JSON Schemas (draft 7) of the files that waza
 * reads and writes, made from the tables by which it reads them.
 *
 * A schema accepts every file that waza accepts.  It also accepts files that
 * waza refuses for reasons that tables do not express.
 */
#ifndef WAZA_EDITOR_SCHEMA_H
#define WAZA_EDITOR_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"
#include "lib/field.h"

struct json_out;

/* The names of the schemas, sorted; NULL after the last. */
const char *editor_schema_name(size_t i);

struct editor_schema_opts {
	bool strict;		/* unknown keys are not allowed */
	bool values;		/* with "x-values", for the language server */
};

/* Writes a schema as one value; false if there is none of that name. */
bool editor_put_schema(struct json_out *, struct str name,
    const struct editor_schema_opts *);

/* The keys of a results file, and of the report of `waza check`. */
extern const struct field_table editor_results_table, editor_check_table;

#endif
