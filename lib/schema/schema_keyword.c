/* SPDX-License-Identifier: ISC */
/*
 * The keywords: one row each, with the drafts and the vocabulary that contain
 * it, the shape of its value, and the operation that it makes.
 */
#include "lib/schema/schema_internal.h"

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
	enum schema_kind kind;	/* of its operation */
	schema_make_fn *make;	/* NULL: it makes none */
};

#define WORD(name, drafts, vocab, shape, kind, fn) { name, drafts, \
	SCHEMA_##vocab, SHAPE_##shape, SCHEMA_##kind, schema_make_##fn }
#define NAME(name, drafts, vocab, shape) { name, drafts, SCHEMA_##vocab, \
	SHAPE_##shape, SCHEMA_TYPE, NULL }

static const struct row rows[] = {	/* sorted by name */
	NAME("$anchor", D20, CORE, STRING),
	NAME("$defs", D20, CORE, SCHEMA_MAP),
	NAME("$dynamicAnchor", D20, CORE, STRING),
	WORD("$dynamicRef", D20, CORE, STRING, DYNREF, dynref),
	NAME("$id", BOTH, CORE, STRING),
	WORD("$ref", BOTH, CORE, STRING, REF, ref),
	NAME("$schema", BOTH, CORE, STRING),
	WORD("additionalItems", D7, APPLY, SCHEMA, ITEMS, items),
	WORD("additionalProperties", BOTH, APPLY, SCHEMA, MEMBERS, members),
	WORD("allOf", BOTH, APPLY, SCHEMAS, ALL_OF, nodes),
	WORD("anyOf", BOTH, APPLY, SCHEMAS, ANY_OF, nodes),
	WORD("const", BOTH, VALID, ANY, CONST, const),
	WORD("contains", BOTH, APPLY, SCHEMA, CONTAINS, contains),
	NAME("definitions", BOTH, CORE, SCHEMA_MAP),
	WORD("dependencies", BOTH, APPLY, DEPENDS, DEPENDS, depends),
	WORD("dependentRequired", D20, VALID, STRINGS_MAP, DEPENDS, depends),
	WORD("dependentSchemas", D20, APPLY, SCHEMA_MAP, DEPENDS, depends),
	NAME("else", BOTH, APPLY, SCHEMA),
	WORD("enum", BOTH, VALID, LIST, ENUM, enum),
	WORD("exclusiveMaximum", BOTH, VALID, NUMBER, MAX_X, number),
	WORD("exclusiveMinimum", BOTH, VALID, NUMBER, MIN_X, number),
	WORD("if", BOTH, APPLY, SCHEMA, IF, if),
	WORD("items", D7, APPLY, SCHEMA_OR_LIST, ITEMS, items),
	WORD("items", D20, APPLY, SCHEMA, ITEMS, items),
	NAME("maxContains", D20, VALID, COUNT),
	WORD("maxItems", BOTH, VALID, COUNT, MAX_ITEMS, count),
	WORD("maxLength", BOTH, VALID, COUNT, MAX_LEN, count),
	WORD("maxProperties", BOTH, VALID, COUNT, MAX_PROPS, count),
	WORD("maximum", BOTH, VALID, NUMBER, MAX, number),
	NAME("minContains", D20, VALID, COUNT),
	WORD("minItems", BOTH, VALID, COUNT, MIN_ITEMS, count),
	WORD("minLength", BOTH, VALID, COUNT, MIN_LEN, count),
	WORD("minProperties", BOTH, VALID, COUNT, MIN_PROPS, count),
	WORD("minimum", BOTH, VALID, NUMBER, MIN, number),
	WORD("multipleOf", BOTH, VALID, POSITIVE, MULTIPLE, number),
	WORD("not", BOTH, APPLY, SCHEMA, NOT, node),
	WORD("oneOf", BOTH, APPLY, SCHEMAS, ONE_OF, nodes),
	WORD("pattern", BOTH, VALID, STRING, PATTERN, pattern),
	WORD("patternProperties", BOTH, APPLY, SCHEMA_MAP, MEMBERS, members),
	WORD("prefixItems", D20, APPLY, SCHEMAS, ITEMS, items),
	WORD("properties", BOTH, APPLY, SCHEMA_MAP, MEMBERS, members),
	WORD("propertyNames", BOTH, APPLY, SCHEMA, NAMES, node),
	WORD("required", BOTH, VALID, STRINGS, MEMBERS, members),
	NAME("then", BOTH, APPLY, SCHEMA),
	WORD("type", BOTH, VALID, TYPES, TYPE, type),
	WORD("unevaluatedItems", D20, REST, SCHEMA, REST_ITEMS, node),
	WORD("unevaluatedProperties", D20, REST, SCHEMA, REST_PROPS, node),
	WORD("uniqueItems", BOTH, VALID, BOOL, UNIQUE, unique),
};

static int
cmp_row(const void *key, const void *row)
{
	return str_cmp(*(const struct str *)key,
	    str_of(((const struct row *)row)->name));
}

static const struct row *
find_row(const struct schema_dialect *d, struct str name)
{
	size_t i = search_first(&name, rows, COUNTOF(rows), sizeof(rows[0]),
	    cmp_row);

	for (; i < COUNTOF(rows) && str_is(name, rows[i].name); i++)
		if ((rows[i].drafts >> d->draft & 1) != 0 &&
		    (rows[i].vocab & d->vocab) != 0)
			return &rows[i];
	return NULL;
}

/* In draft 7, keywords beside $ref are ignored. */
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

static bool
is_schema(const struct json *v)
{
	return v->type == JSON_OBJECT || v->type == JSON_BOOL;
}

static void
index_list(struct schema_build *b, struct schema_node *n,
    const struct json *word)
{
	const struct json *v;

	for (v = json_first(word); v != NULL; v = v->next)
		if (is_schema(v))
			schema_node_at(b, n, word, v);
}

/* Values that are not schemas are reported when the keyword is built. */
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
		switch (row->shape) {
		case SHAPE_SCHEMA:
		case SHAPE_SCHEMA_OR_LIST:
			if (is_schema(v))
				schema_node_at(b, n, v, NULL);
			else if (row->shape == SHAPE_SCHEMA_OR_LIST)
				index_list(b, n, v);
			break;
		case SHAPE_SCHEMAS:
			if (v->type == JSON_ARRAY)
				index_list(b, n, v);
			break;
		case SHAPE_SCHEMA_MAP:
		case SHAPE_DEPENDS:
			if (v->type == JSON_OBJECT)
				index_list(b, n, v);
			break;
		default:
			break;
		}
	}
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

/* NULL if the value has the shape, or a description of the shape. */
static const char *
wrong_shape(enum shape shape, const struct json *v)
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

/* The item of a list or map that has the wrong shape, or the whole. */
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
		if (wrong_shape(part, c) != NULL)
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
		want = wrong_shape(row->shape, v);
		if (want != NULL)
			refuse(o, row, v, want);
		else if (row->make != NULL)
			row->make(o, row->kind, v);
	}
}
