/* SPDX-License-Identifier: ISC */
/*
 * tmpl.h: tmpl_.  Templates in prompts, hooks and graders: {{.TaskName}},
 * {{.JobID}}, {{.Iteration}}, {{.Attempt}}, {{.Timestamp}}, {{.Vars.name}}
 * and {{index .Vars "any name"}}, blanks inside the braces allowed; and
 * {{"{{"}} for the braces themselves.  Nothing else of Go's templates.
 *
 * What begins in one of these ways and is not known is an error, not left
 * standing.  What begins otherwise, as {{secrets.X}}, is not ours: prompts
 * are about other people's templates too, and keep them as they are.
 */
#ifndef WAZA_TMPL_H
#define WAZA_TMPL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"

struct json;

struct tmpl_vars {
	struct str job_id, task_name, timestamp;
	int64_t iteration, attempt;	/* from 1 */
	const struct json *vars[2];	/* objects or NULL; the first wins */
};

/*
 * The text with its templates replaced, in the arena; the text itself when
 * it has none.  p is NULL on failure: e->line and e->col are within text.
 */
struct str tmpl_render(struct arena *, struct str text,
    const struct tmpl_vars *, struct err *);

/* Whether there is anything to replace. */
bool tmpl_any(struct str text);

#endif
