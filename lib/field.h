/* SPDX-License-Identifier: ISC */
/*
 * field.h: field_.  Decodes a value tree into a struct by a table, one row a
 * key: suites, graders, RPC parameters and settings all come through here,
 * and usage, schemas and documentation read the same rows.
 *
 * Everything wrong is reported, not only the first thing, each with its place
 * and path.  Decoded strings and subtrees borrow from the tree; lists are in
 * the arena.  A key that is absent, or null, leaves its member as it was, so
 * the caller's initial values are the defaults.
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
	FIELD_INT,		/* int64_t; a whole number, min to max */
	FIELD_NUM,		/* double, min to max */
	FIELD_BOOL,		/* bool */
	FIELD_ENUM,		/* int: the index in words */
	FIELD_STRS,		/* struct field_strs; one string is one too */
	FIELD_INTS,		/* struct field_ints; min to max of them */
	FIELD_OBJECT,		/* the struct of sub, embedded */
	FIELD_OBJECTS,		/* struct field_list of the structs of sub */
	FIELD_TREE		/* const struct json *, whatever it is */
};

enum {
	FIELD_REQUIRED = 1,	/* an error when absent or null */
	FIELD_RETIRED = 2,	/* decoded, with a warning that names instead */
	FIELD_IGNORED = 4,	/* known, but not acted on: a warning says so */
	FIELD_PATH = 8		/* names a file: who has roots checks it */
};

struct field_strs {
	struct str *v;
	size_t n;
};

struct field_ints {
	int64_t *v;
	size_t n;
};

struct field_list {
	void *v;		/* n structs of the sub table's size */
	size_t n;
};

struct field {
	const char *key;
	const char *alias;	/* another spelling of the key, or NULL */
	enum field_type type;
	unsigned flags;
	size_t off;		/* of the member in the struct */
	int64_t min, max;	/* of a number or a count; both 0: any */
	const char *const *words;	/* FIELD_ENUM: ends with NULL */
	const struct field_table *sub;	/* FIELD_OBJECT, FIELD_OBJECTS */
	const char *instead;	/* FIELD_RETIRED: the key to use now */
	const char *help;	/* one line for people */
};

struct field_table {
	const struct field *rows;
	size_t n;
	size_t size;		/* of the struct, for FIELD_OBJECTS */
	const void *init;	/* its initial value there; NULL: zero */
};

/* FIELD(tag, member, type, .help = "...", ...) and the table of such rows. */
#define FIELD(T, m, t, ...) \
	{ .key = #m, .type = t, .off = offsetof(struct T, m), __VA_ARGS__ }
#define FIELD_TABLE(T, rows) { rows, COUNTOF(rows), sizeof(struct T), NULL }

enum field_level { FIELD_WARNING, FIELD_ERROR };

struct field_finding {
	enum field_level level;
	unsigned line, col;	/* 0 where the tree does not say */
	struct str path;	/* "tasks[2].id"; only for the call */
	struct str key;		/* the key in question, or empty */
	const char *msg;	/* only for the call */
};

enum {
	FIELD_LAX = 1,		/* YAML: yes is true, and a number is a string
				 * too, as it was spelt */
	FIELD_STRICT = 2,	/* unknown keys are errors, not warnings */
	FIELD_OPEN = 4		/* unknown keys are nobody's business */
};

struct field_ctx {
	struct arena *arena;
	unsigned flags;
	/* NULL: nobody wants to know */
	void (*report)(void *ctx, const struct field_finding *);
	void *ctx;
	const char *path;	/* what obj is called in paths, or NULL */
};

/*
 * Decodes obj into *out; the number of errors, each reported.  What had an
 * error keeps its initial value.
 */
size_t field_decode(const struct field_ctx *, const struct field_table *,
    const struct json *obj, void *out);

/* The same where one error is enough: 0, or -1 with the first in *e. */
int field_decode_one(struct arena *, const struct field_table *,
    const struct json *obj, void *out, struct err *e);

/* The row of that key or alias, or NULL. */
const struct field *field_find(const struct field_table *, struct str key);

/* The row whose key is most like the misspelt one, or NULL. */
const struct field *field_nearest(const struct field_table *, struct str key);

#endif
