/* SPDX-License-Identifier: ISC */
/*
 * yaml_internal.h: yaml_in_.  The text under the YAML reader: a cursor that
 * knows its line, the rules of white space, comments and indentation, and
 * errors with their place.  Private to the yaml_*.c files.
 *
 * The text is a copy in which every line break is one '\n' and which ends in
 * a NUL, so that looking a byte or two ahead is always safe.  What has been
 * read is not looked at again, so scalars are decoded where they stand.
 */
#ifndef WAZA_YAML_INTERNAL_H
#define WAZA_YAML_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"

struct json;
struct yaml_anchor_slot;

struct yaml_in {
	const char *p;		/* the next byte */
	const char *bol;	/* the start of its line */
	const char *end;	/* where the NUL stands */
	char *text;		/* the copy, all of it */
	unsigned line;
	int indent;		/* of a fresh line; -1: the document ends */
	bool tabbed;		/* a tab follows these spaces */
	bool odd;		/* holds characters that only quotes may hold */
	unsigned depth;		/* collections around the cursor */
	unsigned deepest;	/* depth reached, also inside aliases */
	unsigned max_depth;
	size_t nodes;		/* values so far, aliases counted in full */
	size_t aliased;		/* of these, by aliases */
	size_t max_aliased;
	struct yaml_anchor_slot *anchors;	/* of this document */
	const struct json *merge;	/* the value of the latest << key */
	struct arena *mem;
	struct err *err;
};

/* What a byte is, as bits of yaml_in_class[]. */
enum {
	YAML_IN_WHITE = 1,	/* s-white [33] */
	YAML_IN_EOL = 2,	/* a line break, or the end of the text */
	YAML_IN_FLOW = 4,	/* c-flow-indicator [23] */
	YAML_IN_PLAIN = 8,	/* may end a plain scalar in block context */
	YAML_IN_SINGLE = 16,	/* matters inside '...' */
	YAML_IN_DOUBLE = 32,	/* matters inside "..." */
	YAML_IN_INDICATOR = 64,	/* c-indicator [22] */
	YAML_IN_TYPED = 128	/* may start a scalar that is no string */
};

extern const unsigned char yaml_in_class[256];

static inline bool
yaml_in_is(char c, unsigned bits)
{
	return (yaml_in_class[(unsigned char)c] & bits) != 0;
}

/* Takes the text over; -1 where it is not UTF-8 or not printable. */
int yaml_in_open(struct yaml_in *, struct str text);

/* The place p of the text, to be written to. */
static inline char *
yaml_in_write(const struct yaml_in *y, const char *p)
{
	return y->text + (p - y->text);
}

/* An error at p, which lies in the current line; always -1. */
int yaml_in_bad(struct yaml_in *, const char *p, const char *fmt, ...)
    PRINTF(3, 4);
unsigned yaml_in_col(const struct yaml_in *, const char *p);

/* From the start of a line to the next content; sets indent and tabbed. */
void yaml_in_lines(struct yaml_in *);

/*
 * To the end of a line that may hold nothing but a comment, then as
 * yaml_in_lines(); `what` names the thing that stands before.
 */
int yaml_in_rest(struct yaml_in *, const char *what);

/* A line that starts at p is "---" or "..." (c-forbidden [206]). */
bool yaml_in_marker(const char *p);

/* Whether [p, end) of the current line may stand outside quotes: 0 or -1. */
int yaml_in_odd(struct yaml_in *, const char *p, const char *end);
static inline int
yaml_in_printable(struct yaml_in *y, const char *p, const char *end)
{
	return y->odd ? yaml_in_odd(y, p, end) : 0;
}

/* One level down; -1 at the limit.  Up again is --depth. */
int yaml_in_enter(struct yaml_in *);

/* A new value at p of the current line, without type: it is null. */
struct json *yaml_in_node(struct yaml_in *, const char *p);
void yaml_in_place(const struct yaml_in *, struct json *, const char *p);

/* Text for a message: cut to fit, without control characters. */
enum { YAML_IN_NAME = 64 };
const char *yaml_in_show(char out[YAML_IN_NAME], struct str);
#define YAML_IN_SHOW(...) \
	yaml_in_show((char[YAML_IN_NAME]){ 0 }, __VA_ARGS__)

#endif
