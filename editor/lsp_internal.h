/* SPDX-License-Identifier: ISC */
/*
 * lsp_internal.h: lsp_.  Documents, positions in them, and schemas at a
 * position; shared by lsp*.c.
 */
#ifndef WAZA_LSP_INTERNAL_H
#define WAZA_LSP_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "editor/lsp.h"
#include "json.h"
#include "lib/field.h"
#include "rpc.h"

struct json_out;

/* A document that the client has open. */
struct lsp_doc {
	struct lsp *lsp;
	struct arena arena;	/* holds the struct itself and its names */
	struct str uri;
	const char *path;	/* absolute; of a URI without a file, "" */
	struct buf text;
	enum lsp_kind kind;
	bool stale;		/* changed since the last check */
	struct buf told;	/* of struct str: URIs with diagnostics that
				 * the check of this document published */
	struct lsp_doc *next, **prev;
};

/* lsp_doc.c: documents */
struct lsp_doc *lsp_find(struct lsp *, struct str uri);
struct lsp_doc *lsp_find_path(struct lsp *, const char *path);
/* The document of params.textDocument.uri, or NULL. */
struct lsp_doc *lsp_doc_of(const struct rpc_call *);
struct lsp_doc *lsp_open(struct lsp *, struct str uri, struct str text);
void lsp_close(struct lsp_doc *);
/* Applies an element of contentChanges; false if it is not valid. */
bool lsp_change(struct lsp_doc *, const struct json *);
/* The path of a file URI in the arena, or NULL; and the reverse. */
char *lsp_path(struct arena *, struct str uri);
struct str lsp_uri(struct arena *, const char *path);

/*
 * Positions.  A place is a line from 0 and a column in UTF-16 code units; an
 * offset beyond the text, or a place beyond its line, is moved to the end.
 */
struct lsp_place {
	int64_t line, character;
};
size_t lsp_offset(struct str text, struct lsp_place);
bool lsp_read_place(const struct json *, struct lsp_place *);

/*
 * Finds the places of offsets, in one pass over the text if they ascend.  Set
 * text, zero the rest.
 */
struct lsp_ruler {
	struct str text;
	size_t offset;		/* of a line that was found */
	int64_t line;
};
struct lsp_place lsp_place(struct lsp_ruler *, size_t offset);
/* The offset of a line and a column in bytes, both from 1. */
size_t lsp_byte(struct lsp_ruler *, unsigned line, unsigned col);

struct lsp_range {
	struct lsp_place from, to;
};
struct lsp_range lsp_range(struct lsp_ruler *, size_t from, size_t to);
void lsp_put_range(struct json_out *, const char *key,
    const struct lsp_range *);

/*
 * lsp_line.c: lines of YAML in block style, without a parser: text that is
 * being typed can rarely be parsed.
 */
struct lsp_line {
	size_t from, to;	/* of the line, without its end */
	bool blank;		/* nothing, or a comment */
	unsigned nitems;	/* markers "- " at its beginning */
	unsigned first;		/* column of the first token, in bytes from 0 */
	unsigned item;		/* column of the last marker */
	unsigned col;		/* column of what follows the markers */
	bool keyed;		/* that is a key and a colon */
	struct str key;
	struct str value;	/* trimmed, without a comment */
};
struct lsp_line lsp_line(struct str text, size_t from);
/* The line before or after; false if there is none. */
bool lsp_line_up(struct str text, struct lsp_line *);
bool lsp_line_down(struct str text, struct lsp_line *);
/* The line that contains an offset. */
struct lsp_line lsp_line_at(struct str text, size_t offset);

enum { LSP_STEPS_MAX = 32 };

/* A step of the path from the root to a position. */
struct lsp_step {
	struct str key;		/* of a mapping; p is NULL for an item */
	/* a block mapping: any of its lines and its column */
	size_t line;
	unsigned col;
	struct str flow;	/* a flow mapping: its text; else empty */
};

/* The result of looking at a position. */
struct lsp_at {
	struct str text;
	struct lsp_step step[LSP_STEPS_MAX];	/* outermost first */
	size_t n;
	bool key;		/* a key is typed, the value of `step` has it */
	struct lsp_step here;	/* the mapping of that key */
	size_t from, to;	/* the word at the position */
	size_t cursor;
};

/* lsp_at.c: false if it is in a comment or in text. */
bool lsp_look(struct str text, size_t offset, struct lsp_at *);
/* The value of another key of the step's mapping, or empty. */
struct str lsp_sibling(const struct lsp_at *, const struct lsp_step *,
    const char *key);
/* All keys of the step's mapping, at most LSP_KEYS_MAX. */
enum { LSP_KEYS_MAX = 256 };
struct field_strs lsp_keys(struct arena *, const struct lsp_at *,
    const struct lsp_step *);

enum { LSP_NODES_MAX = 64 };

/* lsp_schema.c: the schemas that apply to a position. */
struct lsp_nodes {
	const struct json *v[LSP_NODES_MAX];
	size_t n;
	struct str values;	/* "x-values", or empty */
};
const struct json *lsp_schema(struct lsp *, enum lsp_kind);
/* Of the value at the end of the steps; deep: and of what it refers to. */
void lsp_resolve(const struct json *root, const struct lsp_at *,
    struct lsp_nodes *);

/* lsp_complete.c, lsp_outline.c, lsp_check.c: the methods. */
enum rpc_status lsp_complete(struct rpc_call *, void *params);
enum rpc_status lsp_hover(struct rpc_call *, void *params);
enum rpc_status lsp_symbols(struct rpc_call *, void *params);
enum rpc_status lsp_lenses(struct rpc_call *, void *params);

/* lsp_check.c: publishes the diagnostics of stale documents. */
void lsp_check(struct lsp *);
/* Withdraws those of a document that is closed. */
void lsp_withdraw(struct lsp_doc *);
/* The suite that a task or trigger test belongs to; NULL: not found. */
const char *lsp_suite_of(struct lsp_doc *, struct arena *);

#endif
