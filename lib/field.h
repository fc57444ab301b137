/* SPDX-License-Identifier: ISC */
/*
 * field.h: field_.  Decodes a value tree into a struct by a table with one row
 * per key.  Suites, graders, RPC parameters and settings are decoded here;
 * usage, schemas and documentation use the same rows.
 *
 * The decoder reports all errors, not only the first, each with its place and
 * path.  Decoded strings and subtrees borrow from the tree; lists are in the
 * arena.  A key that is absent or null leaves its member unchanged, so the
 * caller's initial values are the defaults.
 */
#ifndef WAZA_FIELD_H
#define WAZA_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

struct json;

enum field_type {
	FIELD_STR,		/* struct str */
	FIELD_INT,		/* int64_t; an integer, min to max */
	FIELD_NUM,		/* double, min to max */
	FIELD_BOOL,		/* bool */
	FIELD_ENUM,		/* int: the index into words */
	FIELD_STRS,		/* struct field_strs; a list or one string */
	FIELD_INTS,		/* struct field_ints; min to max items */
	FIELD_OBJECT,		/* the struct of sub, embedded */
	FIELD_OBJECTS,		/* struct field_list of the structs of sub */
	FIELD_TREE		/* const struct json *, any value */
};

enum {
	FIELD_REQUIRED = 1,	/* an error when absent or null */
	FIELD_RETIRED = 2,	/* decoded; a warning names the new key */
	FIELD_IGNORED = 4,	/* known but unused; a warning reports it */
	FIELD_PATH = 8		/* a file name; servers check their roots */
};

/* What a FIELD_TREE contains that others decode by sub; 0: an object. */
enum {
	FIELD_AS_LIST = 1,	/* a list of objects */
	FIELD_AS_MAP = 2,	/* a mapping of names to objects */
	FIELD_OR_SCALAR = 4,	/* a scalar instead of an object */
	FIELD_AS_ROW = 8	/* the value of sub's row with that key */
};

/* Where an editor finds values of a key. */
enum field_values {
	FIELD_NO_VALUES, FIELD_FILES, FIELD_EXECUTORS, FIELD_SKILLS
};

struct field_strs {
	struct str *v;
	size_t n;
};
bool field_has(const struct field_strs *, struct str);

struct field_ints {
	int64_t *v;
	size_t n;
};

struct field_list {
	void *v;		/* n structs of the sub table's size */
	size_t n;
};

/* There are more than a thousand rows: small members are together. */
struct field {
	const char *key;
	const char *alias;	/* another spelling of the key, or NULL */
	unsigned char type;	/* enum field_type */
	unsigned char flags;	/* FIELD_REQUIRED, ... */
	unsigned char shape;	/* for schemas: what a FIELD_TREE with sub
				 * contains, FIELD_AS_... */
	unsigned char values;	/* for editors: enum field_values */
	unsigned off;		/* of the member in the struct */
	int64_t min, max;	/* of a number or of items; both 0: any */
	const char *const *words;	/* FIELD_ENUM: ends with NULL */
	const struct field_table *sub;	/* FIELD_OBJECT, FIELD_OBJECTS */
	const char *instead;	/* FIELD_RETIRED: the key to use now */
	const char *help;	/* one line for people */
	const char *schema;	/* more members of its JSON Schema, or NULL;
				 * see lib/field_schema.h */
};

struct field_table {
	const struct field *rows;
	size_t n;
	size_t size;		/* of the struct, for FIELD_OBJECTS */
	const void *init;	/* its initial value there; NULL: zero */
};

/* A value of .schema: the definition of that name, which the schema has. */
#define FIELD_REF(name) "\"$ref\":\"#/definitions/" name "\""

/* FIELD(tag, member, type[, .min = 1, ...]) and the table of such rows. */
#define FIELD(T, m, ...) \
	{ .key = #m, .off = offsetof(struct T, m), .type = __VA_ARGS__ }
#define FIELD_TABLE(T, rows) { rows, COUNTOF(rows), sizeof(struct T), NULL }

enum field_level { FIELD_WARNING, FIELD_ERROR };

struct field_finding {
	enum field_level level;
	unsigned line, col;	/* 0 if the tree has no places */
	struct str path;	/* "tasks[2].id"; valid during the call */
	struct str key;		/* the key in question, or empty */
	const char *msg;	/* valid during the call */
};

enum {
	FIELD_LAX = 1,		/* YAML: "yes" is true; where a string is
				 * expected, a number is taken as spelt */
	FIELD_STRICT = 2,	/* unknown keys are errors, not warnings */
	FIELD_OPEN = 4		/* unknown keys are ignored */
};

struct field_ctx {
	struct arena *arena;
	unsigned flags;
	/* called for each error and warning, unless NULL */
	void (*report)(void *ctx, const struct field_finding *);
	void *ctx;
	const char *path;	/* the path of obj in messages, or NULL */
};

/*
 * Decodes obj into *out and returns the number of errors.  A member with an
 * error keeps its initial value.
 */
size_t field_decode(const struct field_ctx *, const struct field_table *,
    const struct json *obj, void *out);

/* The same for callers that report one error: 0, or -1 with the first in *e. */
int field_decode_one(struct arena *, const struct field_table *,
    const struct json *obj, void *out, struct err *e);

/* The row of that key or alias, or NULL. */
const struct field *field_find(const struct field_table *, struct str key);

/* Writes a member that is the list. */
struct json_out;
void field_put_strs(struct json_out *, const char *key,
    const struct field_strs *);

#endif
