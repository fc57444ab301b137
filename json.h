/* SPDX-License-Identifier: ISC */
/*
 * json.h: json_.  A JSON reader, value tree and writer in one header that
 * needs nothing but C99.  Include it to declare; in exactly one file, first
 *
 *	#define JSON_IMPLEMENTATION
 *
 * READING is strict RFC 8259.  Text must be UTF-8 without a byte order mark;
 * lone surrogates, control characters in strings and nesting beyond a limit
 * are errors.  The tree lives in memory that the caller's hook hands out, and
 * borrows from the text whatever it can: both must outlive it.  Nothing is
 * freed by parts.  Reading takes time and memory linear in the text
 * (n log n in the members of one object).
 *
 * A VALUE is a struct json.  Numbers keep their spelling.  Of members with
 * the same name the last wins and takes the place of the first.
 *
 * WRITING streams through a hook, allocates nothing, and always gives valid
 * JSON: ill-formed UTF-8 becomes U+FFFD, a double that JSON cannot express
 * becomes null.
 */
#ifndef JSON_H
#define JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef STRUCT_STR
#define STRUCT_STR
struct str {			/* a borrowed run of bytes */
	const char *p;
	size_t n;
};
#endif

enum {
	JSON_DEPTH = 128,	/* nesting, unless the caller says otherwise */
	JSON_COL_MAX = 65535	/* columns beyond this read as this */
};

enum json_type {
	JSON_NULL,
	JSON_BOOL,
	JSON_NUMBER,
	JSON_STRING,
	JSON_ARRAY,
	JSON_OBJECT
};

/*
 * One value.  Read type and places directly, everything else through the
 * functions below.  A builder of trees other than json_read() fills all
 * fields, links children by next, and calls json_seal() on each finished
 * object.
 */
struct json {
	struct json *next;	/* the sibling after this one, or NULL */
	const char *key;	/* this member's name; NULL outside objects */
	union {
		const char *text;	/* number as spelt; string decoded */
		struct json *child;	/* first of an array or object */
	} u;
	uint32_t nkey;		/* bytes of the name */
	uint32_t n;		/* bytes of text, children, or truth */
	uint32_t line, key_line;	/* 1-based; 0 where unknown */
	uint16_t col, key_col;	/* 1-based, in bytes */
	uint8_t type;		/* enum json_type */
	uint8_t indexed;	/* private to json_seal() */
};

/* Where memory comes from: aligned for any struct json; NULL = none left. */
struct json_mem {
	void *(*alloc)(void *ctx, size_t n);
	void *ctx;
};

struct json_error {
	const char *msg;	/* a constant */
	size_t off;		/* bytes before the place */
	unsigned line, col;	/* of off; 1-based, col in bytes */
};

/*
 * Reads the one value that text holds; depth 0 means JSON_DEPTH.  NULL on
 * failure, with *e filled.
 */
struct json *json_read(const struct json_mem *, struct str text,
    unsigned depth, struct json_error *e);

/* As json_read(), but stops after the value; *used bytes of text were read. */
struct json *json_read_prefix(const struct json_mem *, struct str text,
    unsigned depth, size_t *used, struct json_error *e);

/* Line and column of an offset into text. */
void json_place(struct str text, size_t off, unsigned *line, unsigned *col);

/* The type in words, with its article: "a string", "null". */
const char *json_type_name(enum json_type);

struct str json_key(const struct json *);	/* p is NULL for no key */
struct str json_text(const struct json *);	/* of a string or number */
bool json_bool(const struct json *);		/* of a JSON_BOOL */
size_t json_count(const struct json *);	/* children of array, object */

/* Iterate: for (v = json_first(a); v != NULL; v = v->next). */
struct json *json_first(const struct json *);

/* The member of that name; NULL if there is none, or no object (or NULL). */
struct json *json_get(const struct json *, struct str name);
struct json *json_getc(const struct json *, const char *name);

/* A number that is exactly an int64_t (1e2 and 3.0 are); never rounds. */
bool json_int(const struct json *, int64_t *);
/* A number, correctly rounded; false for another type, or out of range. */
bool json_double(const struct json *, double *);

/* Same value: numbers by what they mean, objects in any order. */
bool json_equal(const struct json *, const struct json *);

/*
 * Ends the building of an object: settles duplicate names and makes lookups
 * fast.  With last_wins the later value replaces the earlier one; otherwise
 * the first duplicate found is returned (and the object is not usable).
 * NULL is success.  Out of memory is not an error, only slower lookups.
 */
const struct json *json_seal(const struct json_mem *, struct json *obj,
    bool last_wins);

/*
 * A writer.  Set put and ctx, zero the rest; indent > 0 writes over several
 * lines.  Commas and line breaks are its business; balance is the caller's.
 */
struct json_out {
	void (*put)(void *ctx, const char *p, size_t n);
	void *ctx;
	unsigned indent;	/* columns per level; 0: on one line */
	unsigned depth;		/* private from here */
	bool more;		/* a value stands before this one */
	bool named;		/* a key stands before this one */
};

void json_open(struct json_out *, char bracket);	/* '{' or '[' */
void json_close(struct json_out *, char bracket);	/* '}' or ']' */
void json_put_key(struct json_out *, struct str);
void json_put_str(struct json_out *, struct str);
void json_put_cstr(struct json_out *, const char *);
void json_put_int(struct json_out *, int64_t);
void json_put_double(struct json_out *, double);	/* shortest that reads back */
void json_put_bool(struct json_out *, bool);
void json_put_null(struct json_out *);
void json_put_raw(struct json_out *, struct str json);	/* one value as it is */
void json_put(struct json_out *, const struct json *);	/* a tree; NULL: null */

/* Shortest decimal that reads back as d, NUL-terminated; its length. */
size_t json_format_double(char out[32], double d);

#endif
