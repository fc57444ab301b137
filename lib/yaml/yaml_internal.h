/* SPDX-License-Identifier: ISC */
/*
 * yaml_internal.h: yaml_in_ yaml_scalar_ yaml_core_ yaml_block_ yaml_flow_
 * yaml_map_ yaml_anchor_.  The parts of the YAML reader; numbers in brackets
 * are productions of YAML 1.2.2.  Functions that return int return 0, or -1
 * with the error in y->err.
 *
 * The text is a copy in which every line break is one '\n' and which ends in
 * a NUL, so looking ahead a byte or two is always safe.  Bytes before the
 * cursor are not read again, so scalars are decoded in place.
 */
#ifndef WAZA_YAML_INTERNAL_H
#define WAZA_YAML_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"

struct json;
struct yaml_anchor;
struct yaml_anchor_slot;

/* The reader: a cursor in the text, the indentation, limits, anchors. */
struct yaml_in {
	const char *p;		/* the cursor: the next byte */
	const char *bol;	/* the start of its line */
	const char *end;	/* the NUL */
	char *text;		/* the start of the copy */
	unsigned line;
	int indent;		/* of a fresh line; -1: the document ends */
	bool tabbed;		/* a tab follows these spaces */
	bool special;		/* has characters allowed only in quotes */
	unsigned depth;		/* collections around the cursor */
	unsigned deepest;	/* greatest depth, also inside aliases */
	unsigned max_depth;
	size_t nodes;		/* values so far, aliases counted in full */
	size_t aliased;		/* of these, from aliases */
	size_t max_aliased;
	struct yaml_anchor_slot *anchors;	/* of this document */
	const struct json *merge;	/* the value of the latest << key */
	struct arena *mem;
	struct err *err;
};

/* Classes of bytes, as bits of yaml_in_class[]. */
enum {
	YAML_IN_WHITE = 1,	/* s-white [33] */
	YAML_IN_EOL = 2,	/* a line break, or the end of the text */
	YAML_IN_FLOW = 4,	/* c-flow-indicator [23] */
	YAML_IN_PLAIN = 8,	/* may end a plain scalar in block context */
	YAML_IN_SINGLE = 16,	/* special inside '...' */
	YAML_IN_DOUBLE = 32,	/* special inside "..." */
	YAML_IN_INDICATOR = 64,	/* c-indicator [22] */
	YAML_IN_TYPED = 128	/* may start a scalar that is not a string */
};

extern const unsigned char yaml_in_class[256];

static inline bool
yaml_in_is(char c, unsigned bits)
{
	return (yaml_in_class[(unsigned char)c] & bits) != 0;
}

static inline const char *
yaml_in_skip_white(const char *p)
{
	while (yaml_in_is(*p, YAML_IN_WHITE))
		p++;
	return p;
}

/* Copies the text and checks that it is UTF-8 and printable. */
int yaml_in_open(struct yaml_in *, struct str text);

/* A writable pointer to the place p of the text. */
static inline char *
yaml_in_write(const struct yaml_in *y, const char *p)
{
	return y->text + (p - y->text);
}

/* Sets an error at p, which is in the current line; always -1. */
int yaml_in_bad(struct yaml_in *, const char *p, const char *fmt, ...)
    PRINTF(3, 4);
/* The column of p in the current line, from 1. */
unsigned yaml_in_col(const struct yaml_in *, const char *p);
/* The end of the line that contains p. */
const char *yaml_in_eol(const struct yaml_in *, const char *p);

/* Moves from the start of a line to the next content; sets indent, tabbed. */
void yaml_in_lines(struct yaml_in *);

/*
 * Requires that the rest of the line is empty or a comment, then moves on as
 * yaml_in_lines(); the error message names what comes before.
 */
int yaml_in_end_line(struct yaml_in *, const char *before);

/* Whether a line that starts at p is "---" or "..." (c-forbidden [206]). */
bool yaml_in_marker(const char *p);

/* Requires that [p, end) of the current line may appear outside quotes. */
int yaml_in_check_special(struct yaml_in *, const char *p, const char *end);
static inline int
yaml_in_printable(struct yaml_in *y, const char *p, const char *end)
{
	return y->special ? yaml_in_check_special(y, p, end) : 0;
}

/* Enters a collection; -1 at the depth limit.  Leave it with y->depth--. */
int yaml_in_enter(struct yaml_in *);

/* A new null value, placed at p of the current line. */
struct json *yaml_in_node(struct yaml_in *, const char *p);
void yaml_in_place(const struct yaml_in *, struct json *, const char *p);

/* Text for a message: truncated, control characters replaced by '?'. */
enum { YAML_IN_NAME = 64 };
const char *yaml_in_show(char out[YAML_IN_NAME], struct str);
#define YAML_IN_SHOW(...) \
	yaml_in_show((char[YAML_IN_NAME]){ 0 }, __VA_ARGS__)

/* A plain or quoted scalar (section 7.3) that may turn out to be a key. */
struct yaml_scalar {
	struct str text;	/* decoded */
	const char *to;		/* behind its last byte or closing quote */
	size_t chars;		/* characters in the source; bytes if few */
	unsigned line, col;	/* where it starts */
	bool plain;
	bool multi;		/* it spans lines */
};

/*
 * Reads the scalar at the cursor and leaves the cursor behind it; lines after
 * the first need n spaces.
 */
int yaml_scalar_read(struct yaml_in *, int n, bool flow, struct yaml_scalar *);

/* Sets the error for an indicator at the cursor where a scalar must start. */
int yaml_scalar_bad_start(struct yaml_in *);

/* Sets v to the scalar's value: a string, or a type of the core schema. */
int yaml_scalar_value(struct yaml_in *, const struct yaml_scalar *,
    struct json *v);

/* Requires a valid key before the ':' at colon: one line, 1024 characters. */
int yaml_scalar_key(struct yaml_in *, const struct yaml_scalar *,
    const char *colon);

/* Refuses a key that starts with c, one of & * [ and {; else 0. */
int yaml_scalar_bad_key(struct yaml_in *, const char *p, char c);

/*
 * Sets v to the value of a plain scalar by the core schema (section 10.3); -1
 * for a hexadecimal or octal number with too many digits.
 */
int yaml_core_value(struct yaml_in *, const struct yaml_scalar *,
    struct json *v);

/* Whether the plain scalar is null. */
bool yaml_core_null(struct str);

/*
 * Reads the block scalar (| or >, section 8.1) at the cursor, whose parent is
 * indented by n; leaves the cursor on a fresh line.
 */
int yaml_block_read(struct yaml_in *, int n, struct json *v);

/*
 * Reads the flow collection ([a, b] or {a: b}, section 7.4) at the cursor and
 * leaves the cursor behind it.  Lines after the first need n spaces, or one
 * less before a closing bracket.
 */
int yaml_flow_read(struct yaml_in *, int n, struct json *v);

/* A mapping under construction. */
struct yaml_map {
	struct json *obj;
	struct json **tail;	/* where the next member is linked */
	struct json *merge;	/* the value of the key << */
};

/* Makes v an object without members. */
void yaml_map_init(struct yaml_map *, struct json *v);

/* Adds a member with a null value placed at the cursor; NULL: invalid key. */
struct json *yaml_map_add(struct yaml_in *, struct yaml_map *,
    const struct yaml_scalar *key);

/* Completes the mapping: reports duplicate keys, applies the merge key. */
int yaml_map_done(struct yaml_in *, struct yaml_map *);

/* Reads the anchor (section 6.9.2) at the cursor; NULL on error. */
struct yaml_anchor *yaml_anchor_open(struct yaml_in *);

/* Binds the anchor to its complete node, so that aliases can refer to it. */
void yaml_anchor_close(struct yaml_in *, struct yaml_anchor *, struct json *);

/* Reads the alias (section 7.1) at the cursor; v becomes a copy of the node. */
int yaml_anchor_alias(struct yaml_in *, struct json *v);

#endif
