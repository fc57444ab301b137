/* SPDX-License-Identifier: ISC */
/*
 * tmpl.h: tmpl_.  Templates in prompts, hooks and graders: {{.TaskName}},
 * {{.JobID}}, {{.Iteration}}, {{.Attempt}}, {{.Timestamp}}, {{.Vars.name}}
 * and {{index .Vars "any name"}}, with optional white space inside the
 * braces, and {{"{{"}} for literal braces.
 *
 * The rest of Go's templates is not supported: braces that begin like one of
 * these, but are not one, and Go's actions ({{if}}, {{range}}, {{end}},
 * {{printf "x"}}, {{- .X}}) are errors.  Other braces, such as {{secrets.X}},
 * are copied unchanged, because prompts may quote templates of other programs.
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
	const struct json *vars[2];	/* objects or NULL, the first takes
					 * precedence */
};

/*
 * Returns the text with its templates expanded, in the arena, or the text
 * itself if it contains none.  On failure p is NULL; e->line and e->col are
 * the place in the text.
 */
struct str tmpl_render(struct arena *, struct str text,
    const struct tmpl_vars *, struct err *);

/*
 * Checks the templates of a text whose variables are not known yet.  -1 with
 * the place in the text.
 */
int tmpl_check(struct str text, struct err *);

/* The text as a template that renders to it; itself if it contains none. */
struct str tmpl_escape(struct arena *, struct str text);

/* Whether the text contains a template. */
bool tmpl_any(struct str text);

#endif
