/* SPDX-License-Identifier: ISC */
/*
 * Files that tasks and hooks need and that do not exist.  Only commands that
 * validate look for them: a run reports them for the trials that need them.
 *
 * A missing input is an error, since no run can succeed.  It is a warning if a
 * hook may create it, if the executor reads no files, or if the directory of
 * fixtures is missing as a whole: --context-dir can name another one.
 */
#include "suite/spec_internal.h"

#include "io/workspace.h"
#include "lib/tmpl.h"

struct search {
	const struct spec_suite *suite;
	struct spec_notes *notes;
	struct arena tmp;
	enum field_level level;
};

static void
check_file(struct search *s, const struct spec_task *t, const char *what,
    struct str path, struct spec_where at)
{
	const char *own = t->def->context_dir;
	const char *dirs[] = { own != NULL ? own :
		s->notes->context_dir != NULL ? s->notes->context_dir :
		spec_join(&s->tmp, s->suite->dir, STR("fixtures")),
		spec_task_dir(&s->tmp, t), s->suite->dir };
	const char *p;
	size_t i;

	if (path.n == 0 || tmpl_any(path))
		return;
	for (i = 0; i < COUNTOF(dirs); i++) {
		p = arena_cstr(&s->tmp, arena_fmt(&s->tmp, "%s/%.*s", dirs[i],
		    STRF(path)));
		if (p == NULL || spec_exists(p))
			return;
	}
	spec_note(s->notes, spec_exists(dirs[0]) ? s->level : FIELD_WARNING,
	    at, "%s \"%.*s\" does not exist (searched %.*s, and beside the "
	    "suite)", what, SPEC_SHORT(path), STRF(spec_tail(dirs[0])));
}

static void
check_task(struct search *s, const struct spec_task *t)
{
	const struct spec_input_file *f = t->def->inputs.files.v;
	const struct json *fixture = json_getc(t->def->inputs.context,
	    "fixture");
	struct arena_mark mark = arena_save(&s->tmp);
	size_t i;

	for (i = 0; i < t->def->inputs.files.n; i++) {
		if (f[i].path.n > 0 && !tmpl_any(f[i].path) &&
		    !workspace_inside(f[i].path))
			spec_note(s->notes, FIELD_ERROR, f[i].at, "input file "
			    "\"%.*s\" is not a path inside the workspace",
			    SPEC_SHORT(f[i].path));
		else if (f[i].content.n == 0)
			check_file(s, t, "input file", f[i].path, f[i].at);
	}
	if (fixture != NULL && fixture->type == JSON_STRING)
		check_file(s, t, "fixture", json_text(fixture),
		    spec_at(t->at.file, fixture));
	arena_restore(&s->tmp, mark);
}

static void
check_hooks(struct search *s, const struct field_list *hooks)
{
	const struct spec_hook *h = hooks->v;
	const char *dir, *why;
	size_t i;

	for (i = 0; i < hooks->n; i++) {
		dir = h[i].working_directory.n == 0 ? "." : spec_path(&s->tmp,
		    s->suite->dir, h[i].working_directory);
		if (!spec_exists(dir))
			continue;	/* an earlier hook may create it */
		why = spec_missing_line(&s->tmp, dir, h[i].command, false);
		if (why != NULL)
			spec_note(s->notes, FIELD_WARNING, h[i].at, "%s", why);
	}
}

void
spec_check_missing(const struct spec_suite *suite, bool needed,
    struct spec_notes *notes)
{
	struct search s = { .suite = suite, .notes = notes };
	size_t i;

	s.level = needed && suite->hooks[SPEC_BEFORE_RUN].n == 0 &&
	    suite->hooks[SPEC_BEFORE_TASK].n == 0 ? FIELD_ERROR :
	    FIELD_WARNING;
	for (i = 0; i < suite->ntasks; i++)
		if (i == 0 || suite->tasks[i].def->inputs.files.v == NULL ||
		    suite->tasks[i].def->inputs.files.v !=
		    suite->tasks[i - 1].def->inputs.files.v)
			check_task(&s, &suite->tasks[i]);
	for (i = 0; i < SPEC_HOOK__MAX; i++)
		check_hooks(&s, &suite->hooks[i]);
	arena_free(&s.tmp);
}
