/* SPDX-License-Identifier: ISC */
/*
 * Expands templates in the settings of graders: in decoded structs and in
 * trees.
 */
#include "grade/grader_internal.h"

#include "json.h"
#include "lib/tmpl.h"

int
grader_render_strs(struct arena *a, struct field_strs *list,
    const struct tmpl_vars *vars, struct err *e)
{
	size_t i;

	for (i = 0; i < list->n; i++) {
		if (!tmpl_any(list->v[i]))
			continue;
		list->v[i] = tmpl_render(a, list->v[i], vars, e);
		if (list->v[i].p == NULL)
			return -1;
	}
	return 0;
}

int
grader_render(struct arena *a, const struct field_table *t, void *settings,
    const struct tmpl_vars *vars, struct err *e)
{
	struct field_strs one = { .n = 1 };
	const struct field *f;
	struct field_list *list;
	void *at;
	size_t i;
	int rc = 0;

	for (f = t->rows; f < t->rows + t->n && rc == 0; f++) {
		at = (char *)settings + f->off;
		if (f->type == FIELD_STR) {
			one.v = at;
			rc = grader_render_strs(a, &one, vars, e);
		} else if (f->type == FIELD_STRS) {
			rc = grader_render_strs(a, at, vars, e);
		} else if (f->type == FIELD_OBJECTS) {
			list = at;
			for (i = 0; i < list->n && rc == 0; i++)
				rc = grader_render(a, f->sub, (char *)list->v +
				    i * f->sub->size, vars, e);
		}
	}
	return rc;
}

bool
grader_has_template(const struct json *v)
{
	const struct json *child;

	if (v->type == JSON_STRING)
		return tmpl_any(json_text(v));
	if (v->type == JSON_ARRAY || v->type == JSON_OBJECT)
		for (child = json_first(v); child != NULL; child = child->next)
			if (grader_has_template(child))
				return true;
	return false;
}

static struct json *
render(struct arena *a, const struct json *v, const struct tmpl_vars *vars,
    struct err *e)
{
	struct json_mem mem = { arena_hook, a };
	struct json *copy = NEW(a, struct json), **tail;
	const struct json *child;
	struct str s;

	*copy = json_copy(v);
	copy->next = NULL;
	if (v->type == JSON_STRING) {
		s = tmpl_render(a, json_text(v), vars, e);
		if (s.p == NULL || s.n > UINT32_MAX)
			return NULL;
		copy->u.text = s.p;
		copy->n = (uint32_t)s.n;
	} else if (v->type == JSON_ARRAY || v->type == JSON_OBJECT) {
		copy->u.child = NULL;
		copy->indexed = 0;
		tail = &copy->u.child;
		for (child = json_first(v); child != NULL;
		    child = child->next) {
			if ((*tail = render(a, child, vars, e)) == NULL)
				return NULL;
			tail = &(*tail)->next;
		}
		if (v->type == JSON_OBJECT)
			json_seal(&mem, copy, true);
	}
	return copy;
}

const struct json *
grader_render_tree(struct arena *a, const struct json *v,
    const struct tmpl_vars *vars, struct err *e)
{
	return grader_has_template(v) ? render(a, v, vars, e) : v;
}
