/* SPDX-License-Identifier: ISC */
/*
 * yaml_lite.h: yaml_.  Reads YAML 1.2.2 into the value tree of json.h; each
 * value and key has its line and column.
 *
 * THE SUBSET.  Supported are block and flow collections, plain, quoted and
 * block scalars, comments, several documents, anchors and aliases, and merge
 * keys (`<<`).  Plain scalars follow the core schema (section 10.3).  Refused,
 * with place and reason, are tags, directives, complex keys (`? `, collections,
 * aliases as keys), empty and null keys, and anchors on keys.  Also refused is
 * text that is not YAML, and text that YAML readers interpret differently.
 * The reader never guesses.
 *
 * THE TREE.  Keys are strings; a plain key is not interpreted.  A duplicate
 * key is an error.  Numbers are spelt as in JSON, with the exact value (0x1F
 * becomes 31, .5 becomes 0.5); infinities and NaN, which JSON does not have,
 * are numbers spelt ".inf", "-.inf" and ".nan".  An alias is a copy of its
 * node that shares the children: treat the tree as read-only.  Members from a
 * merge key precede the others and keep the places of their source.  Columns
 * count bytes from 1, without a leading byte order mark; the place of a
 * missing value is behind its indicator.
 *
 * MEMORY comes from the arena; the tree does not refer to `text`.  Time and
 * memory are linear in the text, and n log n in the keys of one mapping.
 */
#ifndef WAZA_YAML_LITE_H
#define WAZA_YAML_LITE_H

#include <stddef.h>

#include "base/base.h"

struct json;

enum {				/* default limits */
	YAML_BYTES = 16 << 20,	/* of text */
	YAML_DEPTH = 128,	/* of nesting, including aliases */
	YAML_ALIASED = 1000000,	/* values that all aliases expand to */
	YAML_DEPTH_MAX = 1024	/* the highest depth a caller can set */
};

struct yaml_opt {
	size_t bytes;		/* 0 in any field: the default; at most 1 GiB */
	unsigned depth;
	size_t aliased;
};

/*
 * Reads all documents of a text and returns them as an array.  Options may be
 * NULL.  Returns NULL on failure: ERR_SYNTAX or ERR_LIMIT, with line, column
 * and message.
 */
struct json *yaml_read(struct arena *, struct str text,
    const struct yaml_opt *, struct err *);

/*
 * Reads a text of at most one document; an empty text gives null at 1:1.
 * Returns NULL on failure, as yaml_read().
 */
struct json *yaml_read_one(struct arena *, struct str text, struct err *);

/*
 * Checks that JSON can express all values of a tree.  -1 with the place of the
 * first infinity or NaN: a JSON writer would make them null.
 */
int yaml_check_json(const struct json *, struct err *);

#endif
