/* SPDX-License-Identifier: ISC */
/*
 * verdict.h: verdict_.  The decision of a grader about an answer.  A
 * verdict with an error is neither a pass nor a failure.
 */
#ifndef WAZA_VERDICT_H
#define WAZA_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"

struct spec_grader;

struct verdict {
	struct str name, type;
	double score;			/* 0 to 1 */
	double weight;
	bool passed;
	struct str feedback;		/* what was expected, what was found */
	struct str details;		/* a JSON object, or empty */
	struct str error;		/* not empty: there is no verdict */
	bool judge;			/* the error is the judge's */
	bool advisory;			/* told, but counts for nothing */
	const struct spec_grader *spec;	/* NULL: one of `expected:` */
	int64_t duration_ms;
};

#endif
