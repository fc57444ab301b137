/* SPDX-License-Identifier: ISC */
/*
 * glob.h: glob_.  File name patterns as Go's filepath.Match has them: * and ?
 * stop at a slash, [a-z] and [^a-z] are sets, a backslash takes the next
 * character as it is.  There are no braces, and ** is *.
 */
#ifndef WAZA_GLOB_H
#define WAZA_GLOB_H

#include <stdbool.h>

#include "base.h"

bool glob_match(struct str pattern, struct str name);	/* of all of name */
int glob_check(struct str pattern, struct err *);	/* -1: bad, .col */
bool glob_any(struct str pattern);	/* whether it has anything special */

#endif
