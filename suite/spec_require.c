/* SPDX-License-Identifier: ISC */
/*
 * `requirements` of a task: what it demonstrates, and by which graders.  They
 * are for people and never change a verdict; but a check that names a grader
 * which does not exist is reported.
 */
#include "suite/spec_internal.h"

static const char *const scopes[] = { "eval", "task", "checkpoint", NULL };
enum { REQUIREMENTS_MAX = 1000 };	/* of a task */
enum { SCOPE_EVAL, SCOPE_TASK, SCOPE_CHECKPOINT };
static const char *const categories[] = { "outcome", "boundary", "recovery",
	"quality", NULL };

struct evidence {		/* an entry of `checks` */
	int scope;
	struct str grader;
	int64_t after_turn;	/* 0: not given */
};
static const struct field evidence_rows[] = {
	FIELD(evidence, scope, FIELD_ENUM, .flags = FIELD_REQUIRED,
	    .words = scopes, .help = "where the grader is"),
	FIELD(evidence, grader, FIELD_STR, .flags = FIELD_REQUIRED,
	    .help = "name of the grader"),
	FIELD(evidence, after_turn, FIELD_INT, .min = 1, .max = 1000000,
	    .help = "turn of the checkpoint"),
};
static const struct field_table evidence_table =
    FIELD_TABLE(evidence, evidence_rows);

struct requirement {
	struct str id, description;
	int category;
	struct field_list checks;	/* of struct evidence */
};
static const struct field requirement_rows[] = {
	FIELD(requirement, id, FIELD_STR, .flags = FIELD_REQUIRED,
	    .help = "unique id"),
	FIELD(requirement, category, FIELD_ENUM, .flags = FIELD_REQUIRED,
	    .words = categories, .help = "kind of requirement"),
	FIELD(requirement, description, FIELD_STR, .flags = FIELD_REQUIRED,
	    .help = "what is required"),
	FIELD(requirement, checks, FIELD_OBJECTS, .sub = &evidence_table,
	    .help = "graders that check it"),
};
const struct field_table spec_requirement_table =
    FIELD_TABLE(requirement, requirement_rows);

static size_t
count_graders(const struct spec_graders *g, struct str name)
{
	size_t i, n = 0;

	for (i = 0; i < g->n; i++)
		n += str_eq(g->v[i].name.n > 0 ? g->v[i].name : g->v[i].type,
		    name);
	return n;
}

/* The graders that a check can name; NULL: the task has no such checkpoint. */
static const struct spec_graders *
graders_of(const struct spec_loader *l, const struct spec_task *t,
    const struct evidence *e)
{
	size_t i;

	if (e->scope == SCOPE_EVAL)
		return &l->suite->graders;
	if (e->scope == SCOPE_TASK)
		return &t->def->graders;
	for (i = 0; i < t->def->checkpoints.n; i++)
		if (t->def->checkpoints.v[i].after_turn == e->after_turn)
			return &t->def->checkpoints.v[i].graders;
	return NULL;
}

static void
check_evidence(struct spec_loader *l, const char *file, const struct json *v,
    const struct evidence *e, const struct spec_task *t)
{
	static const char *const places[] = { [SCOPE_EVAL] = "suite",
		[SCOPE_TASK] = "task", [SCOPE_CHECKPOINT] = "checkpoint" };
	const struct spec_graders *g = graders_of(l, t, e);
	size_t n = g != NULL ? count_graders(g, e->grader) : 0;

	if ((e->scope == SCOPE_CHECKPOINT) != (e->after_turn > 0))
		spec_error(l, file, v, "after_turn", "\"after_turn\" belongs "
		    "to scope \"checkpoint\", and only to it");
	else if (g == NULL)
		spec_warning(l, file, v, "after_turn", "the task has no "
		    "checkpoint after turn %lld", (long long)e->after_turn);
	else if (n != 1)
		spec_warning(l, file, v, "grader", "\"%.*s\" names %s grader "
		    "of the %s", SPEC_SHORT(e->grader), n == 0 ? "no" :
		    "more than one", places[e->scope]);
}

static void
check_requirement(struct spec_loader *l, const char *file,
    const struct json *v, const struct spec_task *t, const struct json *list)
{
	struct requirement r = { .category = 0 };
	const struct evidence *e;
	const struct json *c, *other;
	size_t i;

	if (spec_decode(l, file, &spec_requirement_table, v, &r) > 0)
		return;
	for (other = json_first(list); other != v; other = other->next)
		if (str_eq(json_str(other, "id"), r.id))
			spec_error(l, file, json_getc(v, "id"), NULL,
			    "duplicate requirement \"%.*s\"",
			    SPEC_SHORT(r.id));
	e = r.checks.v;
	c = json_first(json_getc(v, "checks"));
	for (i = 0; i < r.checks.n && c != NULL; i++, c = c->next)
		check_evidence(l, file, c, &e[i], t);
}

void
spec_check_requirements(struct spec_loader *l, const struct spec_file *f,
    const struct json *task, const struct spec_task *t)
{
	const struct json *list = spec_array(l, f->path, json_getc(task,
	    "requirements")), *v;

	if (list != NULL && json_count(list) > REQUIREMENTS_MAX) {
		spec_error(l, f->path, list, NULL, "more than %d requirements",
		    REQUIREMENTS_MAX);
		return;
	}
	for (v = json_first(list); v != NULL; v = v->next)
		check_requirement(l, f->path, v, t, list);
}
