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

#endif
