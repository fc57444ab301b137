/* SPDX-License-Identifier: ISC */
/*
 * The cells of `waza run`: each executor of a suite with each model and each
 * skill.  Options replace a list of the suite's `matrix`.  Cells are named by
 * the lists that have more than one value.
 */
#include "cmd/run.h"

#include <string.h>

#include "base/os_path.h"
#include "json.h"
#include "suite/spec.h"

/*
 * Options.
 */

/* Adds a name, which must not be there; -1 with the call's err. */
static int
add_name(struct cmd_run *r, const char *option, struct opt_list *list,
    struct str name)
{
	struct err *e = r->job.call->err;
	size_t i;

	if (name.n == 0)
		return err_set(e, ERR_SCHEMA, "%s has an empty value", option);
	for (i = 0; i < list->n; i++)
		if (str_is(name, list->v[i]))
			return err_set(e, ERR_SCHEMA, "%s %.*s is given "
			    "twice: remove one", option,
			    STRF(utf8_cut(name, 100)));
	opt_add(r->job.call->arena, list, arena_str(r->job.call->arena,
	    name).p);
	return 0;
}

/* The names of --executor: separated by commas, or by repeating it. */
static int
read_executors(struct cmd_run *r)
{
	struct opt_list given = r->opt.execution.executors;
	struct opt_list *list = &r->opt.execution.executors;
	struct str left, name;
	const char *comma;
	size_t i;

	*list = (struct opt_list){ 0 };
	for (i = 0; i < given.n; i++)
		for (left = str_of(given.v[i]);; left = str_of(comma + 1)) {
			comma = strchr(left.p, ',');
			name = str_trim(comma == NULL ? left : (struct str){
			    left.p, (size_t)(comma - left.p) });
			if (add_name(r, "--executor", list, name) == -1)
				return -1;
			if (comma == NULL)
				break;
		}
	if (list->n == 1)
		r->opt.execution.executor = list->v[0];
	return 0;
}

static int
check_models(struct cmd_run *r)
{
	struct opt_list seen = { 0 };
	const struct opt_list *m = &r->opt.execution.models;
	size_t i;

	for (i = 0; i < m->n; i++)
		if (add_name(r, "--model", &seen, str_of(m->v[i])) == -1)
			return -1;
	return 0;
}

int
cmd_run_axes(struct cmd_run *r)
{
	const struct cmd_run_opt *o = &r->opt;
	size_t n, m;

	if (read_executors(r) == -1 || check_models(r) == -1)
		return -1;
	n = o->execution.executors.n > 0 ? o->execution.executors.n : 1;
	m = o->execution.models.n > 0 ? o->execution.models.n : 1;
	if (n > SPEC_CELLS_MAX || m > SPEC_CELLS_MAX || n * m > SPEC_CELLS_MAX)
		return err_set(r->job.call->err, ERR_LIMIT, "%zu executor%s "
		    "with %zu model%s: more than %d combinations", n,
		    n == 1 ? "" : "s", m, m == 1 ? "" : "s", SPEC_CELLS_MAX);
	if (n > 1 && (o->server.on_server || o->server.connect != NULL))
		return err_set(r->job.call->err, ERR_SCHEMA, "several "
		    "executors cannot run on a server: run them one by one");
	if (o->reuse.replay != NULL && o->execution.executors.n > 0)
		return err_set(r->job.call->err, ERR_SCHEMA, "--replay uses "
		    "no executor: remove --executor %s",
		    o->execution.executors.v[0]);
	return 0;
}

static void
replace(struct arena *a, struct field_strs *axis, const struct opt_list *by)
{
	size_t i;

	if (by->n == 0)
		return;
	axis->v = NEW_N(a, struct str, by->n);
	axis->n = by->n;
	for (i = 0; i < by->n; i++)
		axis->v[i] = str_of(by->v[i]);
}

void
cmd_run_set_axes(const struct cmd_run *r, struct cmd_suite *suite)
{
	struct arena *a = r->job.call->arena;
	struct spec_suite *s = suite->spec;

	replace(a, &s->matrix.executor, &r->opt.execution.executors);
	replace(a, &s->matrix.model, &r->opt.execution.models);
	if (r->opt.execution.executors.n > 0)
		s->config.executor_at = (struct spec_where){
			.file = "--executor" };
	if (r->opt.selection.no_skills)
		s->matrix.skill = (struct field_strs){ NULL, 0 };
	if (s->matrix.model.n > 0 && s->config.model.n == 0)
		s->config.model = s->matrix.model.v[0];
}

/*
 * Skills.
 */

/* The skill of that name in the suite's directories; false: none. */
static bool
find_skill(struct arena *a, const struct spec_suite *s, struct str name,
    struct spec_skill *out, struct buf *others)
{
	struct field_strs dirs = spec_skill_dirs(a, s, NULL);
	struct spec_skills found;
	struct err e;
	size_t i, k;

	for (i = 0; i < dirs.n; i++) {
		(void)spec_list_skills(a, dirs.v[i].p, &found, &e);
		for (k = 0; k < found.n; k++) {
			*out = found.v[k];
			if (str_eq(out->name, name))
				return true;
			buf_fmt(others, "%s%.*s", others->n > 0 ? ", " : "",
			    STRF(utf8_cut(out->name, 60)));
		}
	}
	return false;
}

/* The suite with this skill instead of its own; NULL if that was noted. */
static const struct spec_suite *
with_skill(struct arena *a, const struct spec_suite *s, size_t i,
    struct spec_notes *notes)
{
	struct str name = s->matrix.skill.v[i];
	struct spec_suite *new = NEW(a, struct spec_suite);
	const char *dir = spec_path(a, s->dir, name);
	struct buf others = { .max = 200 };
	struct spec_skill skill;
	struct err e;

	*new = *s;
	if (!find_skill(a, s, name, &skill, &others) &&
	    spec_read_skill(a, dir, &skill, &e) == -1) {
		spec_note(notes, FIELD_ERROR, spec_matrix_at(s, "skill", i),
		    "skill \"%.*s\" is not in \"skill_directories\" (found: "
		    "%.*s), and not a directory with a SKILL.md: %s",
		    STRF(utf8_cut(name, 100)), STRF(others.n > 0 ?
		    buf_str(&others) : STR("none")), e.msg);
		new = NULL;
	} else {
		new->config.skill_directories = (struct field_strs){
			NEW(a, struct str), 1 };
		new->config.skill_directories.v[0] = str_of(os_absolute(a,
		    skill.dir));
		new->config.required_skills = (struct field_strs){ NULL, 0 };
		new->config.disabled_skills = (struct field_strs){ NULL, 0 };
		new->skill = skill.name.n > 0 ? skill.name : name;
	}
	buf_free(&others);
	return new;
}

/*
 * Names.
 */

static struct str
label_of(struct arena *a, const struct cmd_cell *c,
    const struct spec_matrix *m)
{
	struct buf b = { 0 };
	const char *comma = "";

	if (m->executor.n > 1) {
		buf_put(&b, c->executor);
		comma = ", ";
	}
	if (m->model.n > 1) {
		buf_fmt(&b, "%s%.*s", comma, STRF(c->model));
		comma = ", ";
	}
	if (m->skill.n > 1 && c->no_skills)
		buf_fmt(&b, "%sno skill", comma);
	else if (m->skill.n > 1)
		buf_fmt(&b, "%sskill %.*s", comma,
		    STRF(cmd_short_path(c->skill)));
	return arena_take(a, &b);
}

static struct str
json_of(struct arena *a, const struct cmd_cell *c,
    const struct spec_matrix *m)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	json_open(&o, '{');
	json_put_member_str(&o, "name", c->label);
	if (m->executor.n > 1)
		json_put_member_str(&o, "executor", c->executor);
	if (m->model.n > 1)
		json_put_member_str(&o, "model", c->model);
	if (m->skill.n > 1)
		json_put_member_str(&o, "skill", c->skill);
	json_close(&o, '}');
	return arena_take(a, &b);
}

/* A part of file names that no earlier cell has; "summary" is a file, too. */
static const char *
file_of(struct arena *a, const struct cmd_suite *s, size_t n,
    const struct spec_matrix *m)
{
	const struct cmd_cell *c = &s->cells[n];
	const char *base, *file;
	struct buf b = { 0 };
	size_t i;
	int k;

	if (m->executor.n > 1)
		buf_put(&b, c->executor);
	if (m->model.n > 1)
		buf_fmt(&b, "%s%.*s", b.n > 0 ? "_" : "", STRF(c->model));
	if (m->skill.n > 1)
		buf_fmt(&b, "%s%.*s", b.n > 0 ? "_" : "",
		    STRF(cmd_short_path(c->skill)));
	file = base = cmd_file_name(a, arena_take(a, &b).p);
	for (k = 2;; k++) {
		for (i = 0; i < n && strcmp(s->cells[i].file, file) != 0; i++)
			;
		if (i == n && strcmp(file, "summary") != 0)
			return file;
		file = arena_fmt(a, "%s-%d", base, k).p;
	}
}

static void
name_cells(struct arena *a, struct cmd_suite *s)
{
	const struct spec_matrix *m = &s->spec->matrix;
	struct cmd_cell *c;
	size_t i;

	for (i = 0; i < s->ncells && s->ncells > 1; i++) {
		c = &s->cells[i];
		c->file = file_of(a, s, i, m);
		c->label = label_of(a, c, m);
		c->json = json_of(a, c, m);
	}
}

/*
 * Cells.
 */
static struct str
value(const struct field_strs *axis, size_t i)
{
	return axis->n > 0 ? axis->v[i] : STR("");
}

static size_t
count(const struct field_strs *axis)
{
	return axis->n > 0 ? axis->n : 1;
}

/* specs: the suite with each skill. */
static void
add_cells(struct cmd_suite *s, const struct spec_suite *const *specs)
{
	const struct spec_matrix *m = &s->spec->matrix;
	size_t i, k, x;

	for (i = 0; i < count(&m->executor); i++)
		for (k = 0; k < count(&m->model); k++)
			for (x = 0; x < count(&m->skill); x++)
				s->cells[s->ncells++] = (struct cmd_cell){
					.executor = value(&m->executor, i),
					.model = value(&m->model, k),
					.skill = value(&m->skill, x),
					.spec = specs[x],
					.no_skills = str_is(value(&m->skill,
					    x), "none") };
}

void
cmd_run_cells(const struct cmd_run *r, struct cmd_suite *s,
    struct spec_notes *notes)
{
	const struct spec_suite *specs[SPEC_CELLS_MAX] = { s->spec };
	const struct spec_matrix *m = &s->spec->matrix;
	size_t n = count(&m->executor), k = count(&m->model);
	size_t i, x = count(&m->skill);
	struct arena *a = r->job.call->arena;

	if (n * k * x > SPEC_CELLS_MAX) {
		spec_note(notes, FIELD_ERROR, (struct spec_where){
		    .file = s->spec->path }, "%zu executor%s, %zu model%s and "
		    "%zu skill%s: more than %d combinations", n, n == 1 ? "" :
		    "s", k, k == 1 ? "" : "s", x, x == 1 ? "" : "s",
		    SPEC_CELLS_MAX);
		return;
	}
	for (i = 0; i < m->skill.n; i++)
		specs[i] = str_is(m->skill.v[i], "none") ? s->spec :
		    with_skill(a, s->spec, i, notes);
	s->cells = NEW_N(a, struct cmd_cell, n * k * x);
	add_cells(s, specs);
	name_cells(a, s);
}
