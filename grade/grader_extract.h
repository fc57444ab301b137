/* SPDX-License-Identifier: ISC */
/*
 * grader_extract.h: grader_.  The JSON value that an answer holds, among
 * other words or between fences.
 */
#ifndef WAZA_GRADER_EXTRACT_H
#define WAZA_GRADER_EXTRACT_H

#include "base/base.h"

struct json;

/*
 * The one value there is: the whole text; else what stands between fences
 * (```); else the objects and arrays outside of them, or else anywhere.  The
 * same value several times is one.  What may as well be a footnote ([1]) or
 * such counts only where there is nothing else.  NULL when there is none, or
 * more than one, or it cannot be told in time linear in the text: *e says so.
 */
struct json *grader_extract(struct arena *, struct str text, struct err *);

#endif
