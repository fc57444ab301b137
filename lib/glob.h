/* SPDX-License-Identifier: ISC */
/*
 * glob.h: glob_.  File name patterns as Go's filepath.Match has them: * and ?
 * stop at a slash, [a-z] and [^a-z] are sets, a backslash takes the next
 * character as it is.  There are no braces, and ** is *.
 *
 * Patterns over paths, as editors have them, are made of such patterns between
 * slashes, where ** alone is any number of directories, none included.
 */
#ifndef WAZA_GLOB_H
#define WAZA_GLOB_H

#include <stdbool.h>

#include "base/base.h"

bool glob_match(struct str pattern, struct str name);	/* of all of name */
int glob_check(struct str pattern, struct err *);	/* -1: bad, .col */
bool glob_any(struct str pattern);	/* whether it has anything special */

/*
 * Whether a pattern over paths is about this one.  One whose last part is
 * plain ("target", "src/gen") is also about all that is below the
 * directory that it matches.
 */
bool glob_path(struct str pattern, struct str path);

/*
 * What a pattern with {a,b} stands for, without braces, into out[max]; how
 * many there are, or max + 1 when there are more.
 */
size_t glob_braces(struct arena *, struct str pattern, struct str *out,
    size_t max);

#endif
