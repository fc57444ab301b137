/* SPDX-License-Identifier: ISC */
/*
 * glob.h: glob_.  File name patterns as in Go's filepath.Match: * and ? do not
 * match a slash, [a-z] and [^a-z] are sets, a backslash quotes the next
 * character.  Braces are not special, and ** means *.
 *
 * Path patterns, as in editors, are such patterns separated by slashes, where
 * ** matches any number of directories, including none.
 */
#ifndef WAZA_GLOB_H
#define WAZA_GLOB_H

#include <stdbool.h>

#include "base/base.h"

/* Whether the pattern matches the whole name; a bad pattern matches none. */
bool glob_match(struct str pattern, struct str name);
/* 0, or -1 if the pattern is malformed, with the column. */
int glob_check(struct str pattern, struct err *);
/* Whether the pattern contains special characters. */
bool glob_any(struct str pattern);

/*
 * Whether a path pattern matches the path.  A pattern whose last part has no
 * special characters ("target", "src/gen") also matches everything below the
 * directory that it names.
 */
bool glob_path(struct str pattern, struct str path);

/*
 * Expands {a,b} into patterns without braces, in the arena: stores at most max
 * in out and returns their number, or max + 1 if there are more.
 */
size_t glob_braces(struct arena *, struct str pattern, struct str *out,
    size_t max);

#endif
