/* SPDX-License-Identifier: ISC */
/*
 * field_schema.h: field_.  JSON Schema (draft 7) of field tables, with the
 * types that field_decode() accepts with FIELD_LAX.
 */
#ifndef WAZA_FIELD_SCHEMA_H
#define WAZA_FIELD_SCHEMA_H

#include <stdbool.h>

#include "base/base.h"

struct field;
struct field_table;
struct json_out;

struct field_schema {
	struct json_out *out;
	struct arena *tmp;	/* for the time of a call */
	bool strict;		/* unknown keys are not allowed */
	bool values;		/* with "x-values", for completion */
	bool exact;		/* a file that waza writes: exact types */
	bool loose;		/* without types: the reader checks them later,
				 * or not at all */
};

/* The schema of an object, as one value; null: null is accepted, too. */
void field_put_schema(const struct field_schema *,
    const struct field_table *, bool null);

/*
 * Members of such a schema: "properties" without those that `skip` (NULL:
 * none) has, too; "required"; the properties alone, in an open object.
 */
void field_put_required(const struct field_schema *,
    const struct field_table *);
void field_put_properties(const struct field_schema *,
    const struct field_table *, const struct field_table *skip);

/* The name of a row's values for "x-values", or NULL. */
const char *field_values_name(const struct field *);

#endif
