/* SPDX-License-Identifier: ISC */
/*
 * A row becomes a property: its type, range, words and default follow from the
 * row and from the initial value of its struct.  An alias is a property of its
 * own.  Null is accepted wherever the decoder ignores it.
 */
#include "lib/field_schema.h"

#include <stdint.h>

#include "json.h"
#include "lib/field.h"

/* The words that set_bool() accepts. */
#define OLD_BOOL "^([yY]|[yY][eE][sS]|[nN]|[nN][oO]|[oO][nN]|[oO][fF][fF])$"

static void
put_types(struct json_out *o, const char *const *types, bool null)
{
	json_open_member(o, "type", '[');
	for (; *types != NULL; types++)
		json_put_cstr(o, *types);
	if (null)
		json_put_cstr(o, "null");
	json_close(o, ']');
}

static void
put_type(struct json_out *o, const char *type, bool null)
{
	const char *const types[] = { type, NULL };

	if (null)
		put_types(o, types, true);
	else
		json_put_member_cstr(o, "type", type);
}

static const char *const scalars[] = { "string", "number", "boolean", NULL };
static const char *const strings[] = { "string", "number", "boolean", "array",
	NULL };
static const char *const booleans[] = { "boolean", "string", NULL };
/* those of files that waza writes */
static const char *const string[] = { "string", NULL };
static const char *const boolean[] = { "boolean", NULL };
static const char *const array[] = { "array", NULL };

static void
put_range(struct json_out *o, const struct field *f, const char *min,
    const char *max)
{
	if (f->min == 0 && f->max == 0)
		return;
	json_put_member_int(o, min, f->min);
	if (f->max != INT64_MAX)
		json_put_member_int(o, max, f->max);
}

static void
put_words(struct json_out *o, const struct field *f, bool null)
{
	size_t i;

	json_open_member(o, "enum", '[');
	for (i = 0; f->words[i] != NULL; i++)
		json_put_cstr(o, f->words[i]);
	if (null)
		json_put_null(o);
	json_close(o, ']');
}

static bool
is_inside(const struct field *f, double x)
{
	if (f->min == 0 && f->max == 0)
		return x > 0 || x < 0;
	return x >= (double)f->min && x <= (double)f->max;
}

/* The initial value of the member, unless it means "not given". */
static void
put_default(struct json_out *o, const struct field *f, const void *init)
{
	const char *member = init != NULL ? (const char *)init + f->off : NULL;
	const void *p = member;

	if (p == NULL || f->flags & FIELD_REQUIRED)
		return;
	switch ((enum field_type)f->type) {
	case FIELD_STR:
		if (((const struct str *)p)->n > 0)
			json_put_member_str(o, "default",
			    *(const struct str *)p);
		break;
	case FIELD_INT:
		if (is_inside(f, (double)*(const int64_t *)p))
			json_put_member_int(o, "default", *(const int64_t *)p);
		break;
	case FIELD_NUM:
		if (is_inside(f, *(const double *)p))
			json_put_member_double(o, "default",
			    *(const double *)p);
		break;
	case FIELD_BOOL:
		json_put_member_bool(o, "default", *(const bool *)p);
		break;
	case FIELD_ENUM:
		if (*(const int *)p >= 0)
			json_put_member_cstr(o, "default",
			    f->words[*(const int *)p]);
		break;
	case FIELD_STRS: case FIELD_INTS: case FIELD_OBJECT:
	case FIELD_OBJECTS: case FIELD_TREE:
		break;
	}
}

static void put_object(const struct field_schema *, const struct field_table *,
    const void *init, bool null);

/* "anyOf" of a scalar and an object, or the object alone. */
static void
put_entry(const struct field_schema *s, const struct field *f)
{
	struct json_out *o = s->out;

	json_open(o, '{');
	if (f->shape & FIELD_OR_SCALAR) {
		json_open_member(o, "anyOf", '[');
		json_open(o, '{');
		put_types(o, scalars, (f->shape & FIELD_AS_LIST) == 0);
		json_close(o, '}');
		json_open(o, '{');
		put_object(s, f->sub, f->sub->init, false);
		json_close(o, '}');
		json_close(o, ']');
	} else
		put_object(s, f->sub, f->sub->init, false);
	json_close(o, '}');
}

/* The members of the schema of a tree that others decode by f->sub. */
static void
put_tree(const struct field_schema *s, const struct field *f, bool null)
{
	struct json_out *o = s->out;
	const char *types[3] = { 0 };
	size_t n = 0;

	if ((f->shape & (FIELD_AS_LIST | FIELD_AS_MAP)) == 0) {
		if (f->shape & FIELD_OR_SCALAR) {
			json_open_member(o, "anyOf", '[');
			put_entry(s, &(struct field){ .sub = f->sub });
			json_open(o, '{');
			put_types(o, scalars, null);
			json_close(o, '}');
			json_close(o, ']');
		} else
			put_object(s, f->sub, f->sub->init, null);
		return;
	}
	if (f->shape & FIELD_AS_LIST)
		types[n++] = "array";
	if (f->shape & FIELD_AS_MAP)
		types[n++] = "object";
	put_types(o, types, null);
	if (f->shape & FIELD_AS_LIST) {
		json_put_key(o, STR("items"));
		put_entry(s, f);
	}
	if (f->shape & FIELD_AS_MAP) {
		json_put_key(o, STR("additionalProperties"));
		put_entry(s, &(struct field){ .sub = f->sub,
		    .shape = f->shape & FIELD_OR_SCALAR });
	}
}

static void
put_items(struct json_out *o, const char *const *types)
{
	json_open_member(o, "items", '{');
	put_types(o, types, false);
	json_close(o, '}');
}

/* What the type of a row implies. */
static void
put_typed(const struct field_schema *s, const struct field *f,
    const void *init)
{
	static const char *const numbers[] = { "number", NULL };
	struct json_out *o = s->out;
	bool null = (f->flags & FIELD_REQUIRED) == 0 &&
	    (!s->exact || f->type == FIELD_TREE);

	switch ((enum field_type)f->type) {
	case FIELD_STR:
		put_types(o, s->exact ? string : scalars, null);
		break;
	case FIELD_INT:
		put_type(o, "integer", null);
		put_range(o, f, "minimum", "maximum");
		break;
	case FIELD_NUM:
		put_types(o, numbers, null);
		put_range(o, f, "minimum", "maximum");
		break;
	case FIELD_BOOL:
		put_types(o, s->exact ? boolean : booleans, null);
		if (!s->exact)
			json_put_member_cstr(o, "pattern", OLD_BOOL);
		break;
	case FIELD_ENUM:
		put_words(o, f, null);
		break;
	case FIELD_STRS:
		put_types(o, s->exact ? array : strings, null);
		put_items(o, s->exact ? string : scalars);
		break;
	case FIELD_INTS:
		put_type(o, "array", null);
		json_put_member_raw(o, "items", STR("{\"type\":\"integer\"}"));
		put_range(o, f, "minItems", "maxItems");
		break;
	case FIELD_OBJECT:
		put_object(s, f->sub, init != NULL ?
		    (const char *)init + f->off : f->sub->init, null);
		break;
	case FIELD_OBJECTS:
		put_type(o, "array", null);
		json_put_key(o, STR("items"));
		put_entry(s, &(struct field){ .sub = f->sub });
		break;
	case FIELD_TREE:
		if (f->sub != NULL)
			put_tree(s, f, null);
		break;
	}
}

const char *
field_values_name(const struct field *f)
{
	static const char *const names[] = { [FIELD_FILES] = "files",
		[FIELD_EXECUTORS] = "executors", [FIELD_SKILLS] = "skills" };

	return names[f->values];
}

/* The members of f->schema. */
static void
put_more(const struct field_schema *s, const struct field *f)
{
	struct arena_mark mark = arena_save(s->tmp);
	struct str text = arena_fmt(s->tmp, "{%s}", f->schema);
	const struct json *v = arena_json(s->tmp, text, NULL);

	for (v = json_first(v); v != NULL; v = v->next) {
		json_put_key(s->out, json_key(v));
		json_put(s->out, v);
	}
	arena_restore(s->tmp, mark);
}

static void
put_row(const struct field_schema *s, const char *key, const struct field *f,
    const void *init)
{
	struct json_out *o = s->out;

	json_open_member(o, key, '{');
	if (f->help != NULL)
		json_put_member_cstr(o, "description", f->help);
	if (f->schema != NULL)
		put_more(s, f);
	if (!s->loose && (f->schema == NULL || f->type != FIELD_TREE))
		put_typed(s, f, init);
	put_default(o, f, init);
	if (s->values && f->values != FIELD_NO_VALUES)
		json_put_member_cstr(o, "x-values", field_values_name(f));
	json_close(o, '}');
}

static void
put_rows(const struct field_schema *s, const struct field_table *t,
    const void *init, const struct field_table *skip)
{
	const struct field *f, *row;
	const void *from;
	size_t i;

	for (i = 0; i < t->n; i++) {
		f = &t->rows[i];
		row = f;
		from = init;
		if (f->shape & FIELD_AS_ROW) {
			row = field_find(f->sub, str_of(f->key));
			from = f->sub->init;
		}
		if (row == NULL || f->flags & FIELD_RETIRED || (skip != NULL &&
		    field_find(skip, str_of(f->key)) != NULL))
			continue;
		put_row(s, f->key, row, from);
		if (f->alias != NULL)
			put_row(s, f->alias, row, from);
	}
}

void
field_put_properties(const struct field_schema *s,
    const struct field_table *t, const struct field_table *skip)
{
	put_rows(s, t, t->init, skip);
}

static void
put_one_of(struct json_out *o, const struct field *f)
{
	const char *const keys[] = { f->key, f->alias };
	size_t i;

	json_open(o, '{');
	json_open_member(o, "anyOf", '[');
	for (i = 0; i < COUNTOF(keys); i++) {
		json_open(o, '{');
		json_open_member(o, "required", '[');
		json_put_cstr(o, keys[i]);
		json_close(o, ']');
		json_close(o, '}');
	}
	json_close(o, ']');
	json_close(o, '}');
}

void
field_put_required(const struct field_schema *s, const struct field_table *t)
{
	struct json_out *o = s->out;
	size_t i, plain = 0, aliased = 0;

	for (i = 0; i < t->n; i++)
		if (t->rows[i].flags & FIELD_REQUIRED) {
			plain += t->rows[i].alias == NULL;
			aliased += t->rows[i].alias != NULL;
		}
	if (plain > 0) {
		json_open_member(o, "required", '[');
		for (i = 0; i < t->n; i++)
			if (t->rows[i].flags & FIELD_REQUIRED &&
			    t->rows[i].alias == NULL)
				json_put_cstr(o, t->rows[i].key);
		json_close(o, ']');
	}
	if (aliased > 0) {
		json_open_member(o, "allOf", '[');
		for (i = 0; i < t->n; i++)
			if (t->rows[i].flags & FIELD_REQUIRED &&
			    t->rows[i].alias != NULL)
				put_one_of(o, &t->rows[i]);
		json_close(o, ']');
	}
}

/* The members of the schema of an object. */
static void
put_object(const struct field_schema *s, const struct field_table *t,
    const void *init, bool null)
{
	struct json_out *o = s->out;

	if (!s->loose)
		put_type(o, "object", null);
	json_open_member(o, "properties", '{');
	put_rows(s, t, init, NULL);
	json_close(o, '}');
	if (!s->loose)
		field_put_required(s, t);
	if (s->strict)
		json_put_member_bool(o, "additionalProperties", false);
}

void
field_put_schema(const struct field_schema *s, const struct field_table *t,
    bool null)
{
	json_open(s->out, '{');
	put_object(s, t, t->init, null);
	json_close(s->out, '}');
}
