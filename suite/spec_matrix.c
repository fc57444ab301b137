/* SPDX-License-Identifier: ISC */
/*
 * `matrix` of a suite: executors, models and skills, each of which runs with
 * each of the others.
 */
#include "suite/spec_internal.h"

#define AXIS(m, ...) FIELD(spec_matrix, m, FIELD_STRS, __VA_ARGS__)
static const struct field matrix_rows[] = {
	AXIS(executor, .values = FIELD_EXECUTORS,
	    .help = "executors; --executor replaces them"),
	AXIS(model, .help = "models; --model replaces them"),
	AXIS(skill, .values = FIELD_SKILLS,
	    .help = "names or directories of skills, or none; --no-skills "
	    "replaces them"),
};
const struct field_table spec_matrix_table =
    FIELD_TABLE(spec_matrix, matrix_rows);

static size_t
count(const struct field_strs *axis)
{
	return axis->n > 0 ? axis->n : 1;
}

static void
check_axis(struct spec_loader *l, const char *file, const struct json *list,
    const struct field_strs *axis)
{
	size_t i, k;

	if (spec_given(list) && axis->n == 0 && list->type == JSON_ARRAY)
		spec_error(l, file, list, NULL, "\"%.*s\" is empty: give at "
		    "least one value, or remove it", STRF(json_key(list)));
	for (i = 0; i < axis->n; i++) {
		if (axis->v[i].n == 0)
			spec_error(l, file, spec_nth(list, i), NULL,
			    "\"%.*s\" has an empty value", STRF(json_key(
			    list)));
		for (k = 0; k < i; k++)
			if (str_eq(axis->v[i], axis->v[k]))
				spec_error(l, file, spec_nth(list, i), NULL,
				    "\"%.*s\" is given twice: remove one",
				    SPEC_SHORT(axis->v[i]));
	}
}

void
spec_read_matrix(struct spec_loader *l, const struct spec_file *f,
    const struct json *v)
{
	struct spec_matrix *m = &l->suite->matrix;
	const struct field_strs *axes[] = { &m->executor, &m->model,
		&m->skill };
	size_t i, cells = 1;

	m->tree = v = spec_object(l, f->path, v);
	if (v == NULL || spec_decode(l, f->path, &spec_matrix_table, v, m) > 0)
		return;
	for (i = 0; i < COUNTOF(axes); i++) {
		check_axis(l, f->path, json_getc(v, matrix_rows[i].key),
		    axes[i]);
		if (cells <= SPEC_CELLS_MAX)
			cells *= count(axes[i]);
	}
	if (cells > SPEC_CELLS_MAX)
		spec_error(l, f->path, v, "matrix", "\"matrix\" has more than "
		    "%d combinations: remove values", SPEC_CELLS_MAX);
}

/* The suite's executor and model, if it names none. */
void
spec_use_matrix(struct spec_loader *l, const struct spec_file *f,
    const struct json *config)
{
	const struct spec_matrix *m = &l->suite->matrix;
	struct spec_config *c = &l->suite->config;

	if (m->executor.n > 0 && !spec_given(json_getc(config, "executor"))) {
		c->executor = m->executor.v[0];
		c->executor_at = spec_at(f->path, spec_nth(json_getc(m->tree,
		    "executor"), 0));
	}
	if (m->model.n > 0 && !spec_given(json_getc(config, "model")))
		c->model = m->model.v[0];
}

struct spec_where
spec_matrix_at(const struct spec_suite *s, const char *axis, size_t i)
{
	return spec_at(s->path, spec_nth(json_getc(s->matrix.tree, axis), i));
}
