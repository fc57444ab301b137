/* SPDX-License-Identifier: ISC */
/*
 * The keywords: one row each with the drafts and the vocabulary that have it,
 * what its value must be, and how it becomes an operation.
 */
#include "lib/schema/schema_keyword.h"

#include <string.h>

enum { D7 = 1 << SCHEMA_7, D20 = 1 << SCHEMA_2020_12, BOTH = D7 | D20 };

enum shape {
	SHAPE_ANY, SHAPE_BOOL, SHAPE_STRING, SHAPE_NUMBER, SHAPE_POSITIVE,
	SHAPE_COUNT, SHAPE_LIST, SHAPE_STRINGS, SHAPE_TYPES, SHAPE_SCHEMA,
	SHAPE_SCHEMAS, SHAPE_SCHEMA_MAP, SHAPE_SCHEMA_OR_LIST,
	SHAPE_STRINGS_MAP, SHAPE_DEPENDS
};

struct row {
	const char *name;
	unsigned drafts, vocab;
	enum shape shape;
	void (*build)(struct schema_ops *, const struct json *);
};

static const struct row rows[] = {	/* sorted by name */
	{ "$anchor", D20, SCHEMA_CORE, SHAPE_STRING, NULL },
	{ "$defs", D20, SCHEMA_CORE, SHAPE_SCHEMA_MAP, NULL },
	{ "$dynamicAnchor", D20, SCHEMA_CORE, SHAPE_STRING, NULL },
	{ "$dynamicRef", D20, SCHEMA_CORE, SHAPE_STRING, schema_make_dynref },
	{ "$id", BOTH, SCHEMA_CORE, SHAPE_STRING, NULL },
	{ "$ref", BOTH, SCHEMA_CORE, SHAPE_STRING, schema_make_ref },
	{ "$schema", BOTH, SCHEMA_CORE, SHAPE_STRING, NULL },
	{ "additionalItems", D7, SCHEMA_APPLY, SHAPE_SCHEMA, schema_make_items },
	{ "additionalProperties", BOTH, SCHEMA_APPLY, SHAPE_SCHEMA, schema_make_members },
	{ "allOf", BOTH, SCHEMA_APPLY, SHAPE_SCHEMAS, schema_make_all },
	{ "anyOf", BOTH, SCHEMA_APPLY, SHAPE_SCHEMAS, schema_make_any },
	{ "const", BOTH, SCHEMA_VALID, SHAPE_ANY, schema_make_const },
	{ "contains", BOTH, SCHEMA_APPLY, SHAPE_SCHEMA, schema_make_contains },
	{ "definitions", BOTH, SCHEMA_CORE, SHAPE_SCHEMA_MAP, NULL },
	{ "dependencies", BOTH, SCHEMA_APPLY, SHAPE_DEPENDS, schema_make_depends },
	{ "dependentRequired", D20, SCHEMA_VALID, SHAPE_STRINGS_MAP, schema_make_depends },
	{ "dependentSchemas", D20, SCHEMA_APPLY, SHAPE_SCHEMA_MAP, schema_make_depends },
	{ "else", BOTH, SCHEMA_APPLY, SHAPE_SCHEMA, NULL },
	{ "enum", BOTH, SCHEMA_VALID, SHAPE_LIST, schema_make_enum },
	{ "exclusiveMaximum", BOTH, SCHEMA_VALID, SHAPE_NUMBER, schema_make_max_x },
	{ "exclusiveMinimum", BOTH, SCHEMA_VALID, SHAPE_NUMBER, schema_make_min_x },
	{ "if", BOTH, SCHEMA_APPLY, SHAPE_SCHEMA, schema_make_if },
	{ "items", D7, SCHEMA_APPLY, SHAPE_SCHEMA_OR_LIST, schema_make_items },
	{ "items", D20, SCHEMA_APPLY, SHAPE_SCHEMA, schema_make_items },
	{ "maxContains", D20, SCHEMA_VALID, SHAPE_COUNT, NULL },
	{ "maxItems", BOTH, SCHEMA_VALID, SHAPE_COUNT, schema_make_max_items },
	{ "maxLength", BOTH, SCHEMA_VALID, SHAPE_COUNT, schema_make_max_len },
	{ "maxProperties", BOTH, SCHEMA_VALID, SHAPE_COUNT, schema_make_max_props },
	{ "maximum", BOTH, SCHEMA_VALID, SHAPE_NUMBER, schema_make_max },
	{ "minContains", D20, SCHEMA_VALID, SHAPE_COUNT, NULL },
	{ "minItems", BOTH, SCHEMA_VALID, SHAPE_COUNT, schema_make_min_items },
	{ "minLength", BOTH, SCHEMA_VALID, SHAPE_COUNT, schema_make_min_len },
	{ "minProperties", BOTH, SCHEMA_VALID, SHAPE_COUNT, schema_make_min_props },
	{ "minimum", BOTH, SCHEMA_VALID, SHAPE_NUMBER, schema_make_min },
	{ "multipleOf", BOTH, SCHEMA_VALID, SHAPE_POSITIVE, schema_make_multiple },
	{ "not", BOTH, SCHEMA_APPLY, SHAPE_SCHEMA, schema_make_not },
	{ "oneOf", BOTH, SCHEMA_APPLY, SHAPE_SCHEMAS, schema_make_one },
	{ "pattern", BOTH, SCHEMA_VALID, SHAPE_STRING, schema_make_pattern },
	{ "patternProperties", BOTH, SCHEMA_APPLY, SHAPE_SCHEMA_MAP, schema_make_members },
	{ "prefixItems", D20, SCHEMA_APPLY, SHAPE_SCHEMAS, schema_make_items },
	{ "properties", BOTH, SCHEMA_APPLY, SHAPE_SCHEMA_MAP, schema_make_members },
	{ "propertyNames", BOTH, SCHEMA_APPLY, SHAPE_SCHEMA, schema_make_names },
	{ "required", BOTH, SCHEMA_VALID, SHAPE_STRINGS, schema_make_members },
	{ "then", BOTH, SCHEMA_APPLY, SHAPE_SCHEMA, NULL },
	{ "type", BOTH, SCHEMA_VALID, SHAPE_TYPES, schema_make_type },
	{ "unevaluatedItems", D20, SCHEMA_REST, SHAPE_SCHEMA, schema_make_rest_items },
	{ "unevaluatedProperties", D20, SCHEMA_REST, SHAPE_SCHEMA, schema_make_rest_props },
	{ "uniqueItems", BOTH, SCHEMA_VALID, SHAPE_BOOL, schema_make_unique },
};

static const struct row *
find_row(const struct schema_dialect *d, struct str name)
{
	size_t lo = 0, hi = COUNTOF(rows), mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (str_cmp(str_of(rows[mid].name), name) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < COUNTOF(rows) && str_is(name, rows[lo].name); lo++)
		if ((rows[lo].drafts >> d->draft & 1) != 0 &&
		    (rows[lo].vocab & d->vocab) != 0)
			return &rows[lo];
	return NULL;
}

/* Draft 7: a $ref is alone, whatever stands beside it. */
static bool
only_ref(const struct schema_node *n)
{
	return n->res->dialect.draft == SCHEMA_7 &&
	    json_getc(n->src, "$ref") != NULL;
}

const struct json *
schema_word(const struct schema_node *n, const char *name)
{
	const struct json *v = json_getc(n->src, name);

	return v != NULL && find_row(&n->res->dialect, str_of(name)) != NULL ?
	    v : NULL;
}

static void
index_list(struct schema_build *b, struct schema_node *n,
    const struct json *word)
{
	const struct json *v;

	for (v = json_first(word); v != NULL; v = v->next)
		if (v->type == JSON_OBJECT || v->type == JSON_BOOL)
			schema_node_at(b, n, word, v);
}

/* What is no schema is told of when the keyword is built. */
void
schema_index_children(struct schema_build *b, struct schema_node *n)
{
	const struct json *v;
	const struct row *row;
	bool alone;

	if (n->src->type != JSON_OBJECT)
		return;
	alone = only_ref(n);
	for (v = json_first(n->src); v != NULL; v = v->next) {
		row = find_row(&n->res->dialect, json_key(v));
		if (row == NULL || (alone &&
		    strcmp(row->name, "definitions") != 0))
			continue;
		if (row->shape == SHAPE_SCHEMA || (row->shape ==
		    SHAPE_SCHEMA_OR_LIST && v->type != JSON_ARRAY)) {
			if (v->type == JSON_OBJECT || v->type == JSON_BOOL)
				schema_node_at(b, n, v, NULL);
		} else if (row->shape == SHAPE_SCHEMAS ||
		    row->shape == SHAPE_SCHEMA_OR_LIST) {
			if (v->type == JSON_ARRAY)
				index_list(b, n, v);
		} else if (row->shape == SHAPE_SCHEMA_MAP ||
		    row->shape == SHAPE_DEPENDS) {
			if (v->type == JSON_OBJECT)
				index_list(b, n, v);
		}
	}
}

static bool
is_schema(const struct json *v)
{
	return v->type == JSON_OBJECT || v->type == JSON_BOOL;
}

static bool
all(const struct json *list, bool (*fits)(const struct json *))
{
	const struct json *v;

	for (v = json_first(list); v != NULL; v = v->next)
		if (!fits(v))
			return false;
	return true;
}

static bool
is_string(const struct json *v)
{
	return v->type == JSON_STRING;
}

static bool
is_strings(const struct json *v)
{
	return v->type == JSON_ARRAY && all(v, is_string);
}

static bool
is_depend(const struct json *v)
{
	return is_schema(v) || is_strings(v);
}

static bool
is_number(const struct json *v, bool positive)
{
	struct schema_num n;

	if (v->type != JSON_NUMBER)
		return false;
	schema_num_read(&n, json_text(v));
	return !n.nan && !n.inf && (!positive || n.sign > 0);
}

static bool
is_count(const struct json *v)
{
	struct schema_num n;

	if (v->type != JSON_NUMBER || !schema_num_whole(v))
		return false;
	schema_num_read(&n, json_text(v));
	return n.sign >= 0;
}

static bool
is_type_word(const struct json *v)
{
	return v->type == JSON_STRING && schema_type_bit(json_text(v)) != 0;
}

/* NULL, or what the value must be. */
static const char *
misshapen(enum shape shape, const struct json *v)
{
	bool list = v->type == JSON_ARRAY, map = v->type == JSON_OBJECT;

	switch (shape) {
	case SHAPE_ANY:
		return NULL;
	case SHAPE_BOOL:
		return v->type == JSON_BOOL ? NULL : "true or false";
	case SHAPE_STRING:
		return is_string(v) ? NULL : "a string";
	case SHAPE_NUMBER:
		return is_number(v, false) ? NULL : "a number";
	case SHAPE_POSITIVE:
		return is_number(v, true) ? NULL : "a number above 0";
	case SHAPE_COUNT:
		return is_count(v) ? NULL : "a whole number, 0 or more";
	case SHAPE_LIST:
		return list ? NULL : "a list";
	case SHAPE_STRINGS:
		return is_strings(v) ? NULL : "a list of strings";
	case SHAPE_TYPES:
		return is_type_word(v) || (list && v->n > 0 &&
		    all(v, is_type_word)) ? NULL : "a type or a list of "
		    "types (null, boolean, object, array, number, integer, "
		    "string)";
	case SHAPE_SCHEMA:
		return is_schema(v) ? NULL :
		    "a schema (an object, true or false)";
	case SHAPE_SCHEMAS:
		return list && v->n > 0 && all(v, is_schema) ? NULL :
		    "a list of schemas";
	case SHAPE_SCHEMA_MAP:
		return map && all(v, is_schema) ? NULL :
		    "an object of schemas";
	case SHAPE_SCHEMA_OR_LIST:
		return is_schema(v) || (list && all(v, is_schema)) ? NULL :
		    "a schema or a list of schemas";
	case SHAPE_STRINGS_MAP:
		return map && all(v, is_strings) ? NULL :
		    "an object of lists of strings";
	case SHAPE_DEPENDS:
		return map && all(v, is_depend) ? NULL :
		    "an object of schemas and lists of strings";
	}
	return NULL;
}

/* The part of a list or map that is to blame, or the whole. */
static const struct json *
culprit(enum shape shape, const struct json *v)
{
	enum shape part = shape == SHAPE_TYPES ? SHAPE_TYPES :
	    shape == SHAPE_STRINGS ? SHAPE_STRING :
	    shape == SHAPE_STRINGS_MAP ? SHAPE_STRINGS :
	    shape == SHAPE_DEPENDS ? SHAPE_ANY : SHAPE_SCHEMA;
	const struct json *c;

	if (shape < SHAPE_STRINGS || shape == SHAPE_SCHEMA)
		return v;
	for (c = json_first(v); c != NULL; c = c->next)
		if (misshapen(part, c) != NULL)
			return c;
	return v;
}

static void
refuse(struct schema_ops *o, const struct row *row, const struct json *v,
    const char *want)
{
	const struct json *c = culprit(row->shape, v);
	struct buf is = { 0 };

	if (row->shape == SHAPE_SCHEMA && v->type == JSON_ARRAY &&
	    strcmp(row->name, "items") == 0) {
		schema_fail(o->b, o->node, v, "must be a schema; a list of "
		    "schemas is \"prefixItems\" in draft 2020-12");
		return;
	}
	schema_put_brief(&is, c);
	schema_fail(o->b, o->node, v, "must be %s, %s %.*s", want,
	    c == v ? "is" : "has", STRF(buf_str(&is)));
	if (c->line > 0)
		err_at(o->b->e, c->line, c->col);
	buf_free(&is);
}

void
schema_build_words(struct schema_ops *o)
{
	const struct row *row;
	const struct json *v;
	const char *want;
	bool alone = only_ref(o->node);

	for (v = json_first(o->node->src); v != NULL && !o->b->failed;
	    v = v->next) {
		row = find_row(&o->node->res->dialect, json_key(v));
		if (row == NULL || (alone && strcmp(row->name, "$ref") != 0))
			continue;
		want = misshapen(row->shape, v);
		if (want != NULL)
			refuse(o, row, v, want);
		else if (row->build != NULL)
			row->build(o, v);
	}
}
