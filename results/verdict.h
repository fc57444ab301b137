/* SPDX-License-Identifier: ISC */
/*
 * verdict.h: verdict_.  The decision of a grader about an answer.  A
 * verdict with an error or one that was skipped is neither a pass nor a
 * failure.
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
	struct str feedback;		/* what was expected and found */
	struct str details;		/* a JSON object, or empty */
	struct str error;		/* not empty: there is no verdict */
	bool judge;			/* the judge caused the error */
	bool skipped;			/* the agent gives no evidence for it;
					 * feedback says why */
	bool advisory;			/* reported, but ignored in scores */
	const struct spec_grader *spec;	/* NULL: from an `expected:` block */
	int64_t duration_ms;
};

#endif
