/* SPDX-License-Identifier: ISC */
/* The suite of a skill: what our own loader finds in it and its task files. */
#include "skill/check_internal.h"

#include <string.h>

#include "suite/spec.h"

/* Counts the errors of task files, and the files that have any. */
static void
count_errors(struct check *c)
{
	const struct spec_note *n, *m;

	for (n = c->notes->head; n != NULL; n = n->next) {
		if (n->level != FIELD_ERROR)
			continue;
		if (strcmp(n->at.file, c->eval) == 0) {
			c->suite_errors++;
			continue;
		}
		c->task_errors++;
		for (m = c->notes->head; m != n; m = m->next)
			if (m->level == FIELD_ERROR &&
			    strcmp(m->at.file, n->at.file) == 0)
				break;
		c->task_error_files += m == n;
	}
}

/* What controls show is a finding of its own, not a problem of the schema. */
static void
try_controls(struct check *c, const struct check_env *env,
    const struct spec_suite *s)
{
	struct spec_notes notes = { .arena = c->arena };
	size_t unknown = env->try_controls(env->arg, s, &notes);
	const struct spec_note *n;

	if (unknown > 0)
		check_add(c, "eval-vacuous", CHECK_NOTE, (struct check_at){
		    c->eval, 1, 1 }, "not known of %zu of %zu task%s: graders "
		    "that ask a judge or start a program are not run; waza "
		    "validate --controls lists them", unknown, s->ntasks,
		    s->ntasks == 1 ? "" : "s");
	for (n = notes.head; n != NULL; n = n->next)
		check_add(c, "eval-vacuous", CHECK_WARNING, (struct check_at){
		    arena_cstr(c->arena, str_of(n->at.file != NULL ?
		    n->at.file : c->eval)), n->at.line, n->at.col }, "%s",
		    n->msg);
}

void
check_run_suite(struct check *c, const struct check_env *env)
{
	struct spec_notes *notes = NEW(c->arena, struct spec_notes);
	struct arena scratch = { 0 };
	struct spec_note *n;
	struct spec_suite *s;

	if (c->eval == NULL) {
		check_add(c, "eval-missing", CHECK_NOTE, (struct check_at){
		    c->skill.file, 1, 1 }, "the skill has no suite: waza new "
		    "eval %.*s makes one", STRF(utf8_cut(c->skill.name.n > 0 ?
		    c->skill.name : c->dir_name, CHECK_NAME_MAX)));
		return;
	}
	*notes = (struct spec_notes){ .arena = c->arena, .strict = env->strict,
		.trust = env->trust, .allows = env->allows,
		.peer = env->peer };
	c->notes = notes;
	s = spec_load_part(&scratch, c->eval, notes);
	if (s != NULL && env->check_suite != NULL)
		env->check_suite(s, notes);
	c->ntasks = s != NULL ? s->ntasks : 0;
	/* file names may be of the suite's arena, which is freed */
	for (n = notes->head; n != NULL; n = n->next) {
		n->at.file = arena_cstr(c->arena, str_of(n->at.file != NULL ?
		    n->at.file : c->eval));
		n->key = STR("");
		if (spec_same_dir(n->at.file, c->skill.file))
			continue;	/* a finding of the skill */
		check_add(c, "eval-schema", n->level == FIELD_ERROR ?
		    CHECK_ERROR : CHECK_WARNING, (struct check_at){ n->at.file,
		    n->at.line, n->at.col }, "%s", n->msg);
	}
	count_errors(c);
	if (s != NULL && env->try_controls != NULL && notes->errors == 0)
		try_controls(c, env, s);
	arena_free(&scratch);
}
