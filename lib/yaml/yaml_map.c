/* SPDX-License-Identifier: ISC */
/*
 * A mapping under construction.
 *
 * Merge keys (https://yaml.org/type/merge.html): members of the merged
 * mappings are added unless the mapping has that key itself; an earlier source
 * takes precedence over a later one.  json_seal() lets the last member of a
 * name win, so the list is built in reverse: last source first, own members
 * at the end.
 */
#include "lib/yaml/yaml_internal.h"

#include <string.h>

#include "json.h"

void
yaml_map_init(struct yaml_map *m, struct json *v)
{
	v->type = JSON_OBJECT;
	*m = (struct yaml_map){ .obj = v, .tail = &v->u.child };
}

struct json *
yaml_map_add(struct yaml_in *y, struct yaml_map *m,
    const struct yaml_scalar *key)
{
	struct json *v;

	if (key->plain && yaml_core_null(key->text)) {
		err_set(y->err, ERR_SYNTAX, "null as a key is not supported; "
		    "quote \"%s\" if it is meant as text",
		    YAML_IN_SHOW(key->text));
		err_at(y->err, key->line, key->col);
		return NULL;
	}
	v = yaml_in_node(y, y->p);
	v->key = key->text.p;
	v->nkey = (uint32_t)key->text.n;
	v->key_line = key->line;
	v->key_col = (uint16_t)(key->col < JSON_COL_MAX ?
	    key->col : JSON_COL_MAX);
	if (key->plain && key->text.n == 2 && m->merge == NULL &&
	    memcmp(key->text.p, "<<", 2) == 0) {
		m->merge = v;
		y->merge = v;
		return v;
	}
	*m->tail = v;
	m->tail = &v->next;
	m->obj->n++;
	return v;
}

static int
set_twice(struct yaml_in *y, const struct json *obj, const struct json *dup)
{
	const struct json *v = json_first(obj);

	while (v != dup && !str_eq(json_key(v), json_key(dup)))
		v = v->next;
	err_set(y->err, ERR_SYNTAX, "key \"%s\" is set twice (first at line "
	    "%u)", YAML_IN_SHOW(json_key(dup)), (unsigned)v->key_line);
	return err_at(y->err, dup->key_line, dup->key_col);
}

/* Copies the members of src to the front of a list. */
static void
prepend(struct yaml_in *y, struct json **list, const struct json *src)
{
	struct json *head = NULL, **tail = &head, *v, *w;

	for (v = json_first(src); v != NULL; v = v->next) {
		w = NEW(y->mem, struct json);
		*w = json_copy(v);
		*tail = w;
		tail = &w->next;
	}
	*tail = *list;
	*list = head;
}

static int
merge(struct yaml_in *y, struct yaml_map *m)
{
	struct json *src = m->merge, *v, *all = NULL;
	const struct json_mem mem = { arena_hook, y->mem };

	prepend(y, &all, m->obj);
	if (src->type == JSON_OBJECT)
		prepend(y, &all, src);
	v = src->type == JSON_ARRAY ? json_first(src) : NULL;
	for (; v != NULL && v->type == JSON_OBJECT; v = v->next)
		prepend(y, &all, v);
	if ((src->type != JSON_ARRAY && src->type != JSON_OBJECT) ||
	    v != NULL) {
		err_set(y->err, ERR_SYNTAX, "the value of << must be a "
		    "mapping or a list of mappings; quote \"<<\" if it is an "
		    "ordinary key");
		return err_at(y->err, v != NULL ? v->line : src->line,
		    v != NULL ? v->col : src->col);
	}
	m->obj->indexed = 0;
	m->obj->u.child = all;
	for (m->obj->n = 0; all != NULL; all = all->next)
		m->obj->n++;
	json_seal(&mem, m->obj, true);
	return 0;
}

int
yaml_map_done(struct yaml_in *y, struct yaml_map *m)
{
	const struct json_mem mem = { arena_hook, y->mem };
	const struct json *dup = json_seal(&mem, m->obj, false);

	if (dup != NULL)
		return set_twice(y, m->obj, dup);
	if (m->merge == NULL)
		return 0;
	for (dup = json_first(m->obj); dup != NULL; dup = dup->next)
		if (str_eq(json_key(dup), STR("<<")))
			return set_twice(y, m->obj, dup);
	return merge(y, m);
}
