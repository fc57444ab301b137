/* SPDX-License-Identifier: ISC */
/*
 * front.h: front_.  The front matter of a Markdown file: the YAML between a
 * first line "---" and the next such line.
 */
#ifndef WAZA_FRONT_H
#define WAZA_FRONT_H

#include "base/base.h"

/*
 * The lines of the front matter, which begin on line 2 of the text, or an
 * empty string if it has none or its end is missing.  *body is the text after
 * it; without front matter it is the whole text without its byte order mark.
 * Both are parts of the text.
 */
struct str front_split(struct str text, struct str *body);

/* A value: its line, from 1, its column, and its key. */
struct front_place {
	unsigned line, col;
	struct str key;
};

/*
 * Many files have `description: Does this. USE FOR: that`, which is not YAML:
 * the second colon needs quotes.  Returns the front matter with quotes around
 * such values, on the same lines, and the place of the first; or an empty
 * string if there is none.
 */
struct str front_quote(struct arena *, struct str front,
    struct front_place *);

#endif
