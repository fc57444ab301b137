/* SPDX-License-Identifier: ISC */
/*
 * yaml_lite.h: yaml_.  YAML 1.2.2 text into the value tree of json.h, each
 * value and key with its line and column.
 *
 * THE SUBSET.  Block and flow collections, plain, quoted and block scalars,
 * comments, several documents, anchors and aliases, merge keys (`<<`).  Plain
 * scalars follow the core schema (section 10.3).  Refused, with the place and
 * a sentence that says so: tags, directives, complex keys (`? `, collections,
 * aliases as keys), empty and null keys, anchors on keys.  Refused too is all
 * that is not YAML, and what readers are known to take in different ways.
 * Nothing is guessed.
 *
 * THE TREE.  Keys are strings; a plain key is taken as it is spelt.  A key set
 * twice is an error.  Numbers are spelt as JSON (0x1F gives 31, .5 gives 0.5,
 * exactly), except that infinities and NaN, for which JSON has no word, are
 * numbers spelt ".inf", "-.inf" and ".nan".  An alias is a copy of its node
 * that shares the children: treat the tree as read-only.  Members that come
 * by a merge key precede the others and keep the places of their source.
 * Columns count bytes from 1, without a leading byte order mark; an absent
 * value stands behind its indicator.
 *
 * MEMORY is the arena's.  The tree does not refer to `text`.  Time and memory
 * are linear in the text, and n log n in the keys of one mapping.
 */
#ifndef WAZA_YAML_LITE_H
#define WAZA_YAML_LITE_H

#include <stddef.h>

#include "base/base.h"

struct json;

enum {				/* limits, unless the caller says otherwise */
	YAML_BYTES = 16 << 20,	/* of text */
	YAML_DEPTH = 128,	/* of nesting, also by way of aliases */
	YAML_ALIASED = 1000000,	/* values that aliases stand for, in all */
	YAML_DEPTH_MAX = 1024	/* whatever the caller says: the stack */
};

struct yaml_opt {
	size_t bytes;		/* each 0: the limit above; at most 1 GiB */
	unsigned depth;
	size_t aliased;
};

/*
 * All documents of a text, as the children of an array.  A NULL option is
 * all defaults.  NULL on failure: ERR_SYNTAX or ERR_LIMIT, with line, column
 * and message.
 */
struct json *yaml_read(struct arena *, struct str text,
    const struct yaml_opt *, struct err *);

/* The one document of a text; null at 1:1 when there is none. */
struct json *yaml_read_one(struct arena *, struct str text, struct err *);

#endif
