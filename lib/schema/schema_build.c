/* SPDX-License-Identifier: ISC */
/* Makes operations of keywords, whose values have the right shape here. */
#include "lib/schema/schema_internal.h"

#include <stdlib.h>
#include <string.h>

#include "lib/re/re.h"

enum {
	ON_NUMBER = 1 << JSON_NUMBER,
	ON_STRING = 1 << JSON_STRING,
	ON_ARRAY = 1 << JSON_ARRAY,
	ON_OBJECT = 1 << JSON_OBJECT
};

static const struct {
	const char *word;
	unsigned bit;
} types[] = {
	{ "null", 1 << JSON_NULL }, { "boolean", 1 << JSON_BOOL },
	{ "object", ON_OBJECT }, { "array", ON_ARRAY },
	{ "number", ON_NUMBER }, { "integer", SCHEMA_INTEGER },
	{ "string", ON_STRING },
};

unsigned
schema_type_bit(struct str word)
{
	size_t i;

	for (i = 0; i < COUNTOF(types); i++)
		if (str_is(word, types[i].word))
			return types[i].bit;
	return 0;
}

/* The types that an operation applies to; 0: all of them. */
static const uint8_t types_of[] = {
	[SCHEMA_MIN] = ON_NUMBER, [SCHEMA_MIN_X] = ON_NUMBER,
	[SCHEMA_MAX] = ON_NUMBER, [SCHEMA_MAX_X] = ON_NUMBER,
	[SCHEMA_MULTIPLE] = ON_NUMBER, [SCHEMA_MIN_LEN] = ON_STRING,
	[SCHEMA_MAX_LEN] = ON_STRING, [SCHEMA_MIN_ITEMS] = ON_ARRAY,
	[SCHEMA_MAX_ITEMS] = ON_ARRAY, [SCHEMA_MIN_PROPS] = ON_OBJECT,
	[SCHEMA_MAX_PROPS] = ON_OBJECT, [SCHEMA_PATTERN] = ON_STRING,
	[SCHEMA_MEMBERS] = ON_OBJECT, [SCHEMA_NAMES] = ON_OBJECT,
	[SCHEMA_ITEMS] = ON_ARRAY, [SCHEMA_UNIQUE] = ON_ARRAY,
	[SCHEMA_CONTAINS] = ON_ARRAY, [SCHEMA_DEPENDS] = ON_OBJECT,
	[SCHEMA_REST_ITEMS] = ON_ARRAY, [SCHEMA_REST_PROPS] = ON_OBJECT,
	[SCHEMA_TYPE] = 0
};

/* A new operation of that kind, or NULL if the node has one already. */
static struct schema_op *
add(struct schema_ops *o, enum schema_kind kind, const struct json *src)
{
	struct schema_op *op;
	size_t i;

	for (i = 0; i < o->n; i++)
		if (o->v[i].kind == kind)
			return NULL;
	op = &o->v[o->n++];
	memset(op, 0, sizeof(*op));
	op->kind = (uint8_t)kind;
	op->types = types_of[kind] != 0 ? types_of[kind] : SCHEMA_ANY;
	op->src = src;
	return op;
}

void
schema_make_type(struct schema_ops *o, enum schema_kind kind,
    const struct json *v)
{
	const struct json *c;
	unsigned bits = 0;

	(void)kind;
	if (v->type == JSON_STRING)
		bits = schema_type_bit(json_text(v));
	for (c = json_first(v); c != NULL; c = c->next)
		bits |= schema_type_bit(json_text(c));
	o->node->types = (uint8_t)bits;
}

void
schema_make_const(struct schema_ops *o, enum schema_kind kind,
    const struct json *v)
{
	add(o, kind, v);
}

void
schema_make_enum(struct schema_ops *o, enum schema_kind kind,
    const struct json *v)
{
	struct schema_op *op = add(o, kind, v);

	op->u.choice = schema_choice_new(o->b->arena, v);
}

void
schema_make_number(struct schema_ops *o, enum schema_kind kind,
    const struct json *v)
{
	struct schema_op *op = add(o, kind, v);

	op->u.num = NEW(o->b->arena, struct schema_num);
	schema_num_read(op->u.num, json_text(v));
	if (kind == SCHEMA_MULTIPLE &&
	    schema_num_digits(op->u.num) > SCHEMA_DIGITS_MAX)
		schema_fail(o->b, o->node, v, "has more than %d digits",
		    SCHEMA_DIGITS_MAX);
}

/* The value of a count; UINT64_MAX if it is larger than that. */
static uint64_t
count_of(const struct json *v)
{
	struct schema_num n;
	int64_t i;

	schema_num_read(&n, json_text(v));
	if (n.quick)
		return (uint64_t)n.i;
	return json_int(v, &i) ? (uint64_t)i : UINT64_MAX;
}

void
schema_make_count(struct schema_ops *o, enum schema_kind kind,
    const struct json *v)
{
	add(o, kind, v)->u.count = count_of(v);
}

void
schema_make_unique(struct schema_ops *o, enum schema_kind kind,
    const struct json *v)
{
	if (json_bool(v))
		add(o, kind, v);
}

static struct re *
compile_pattern(struct schema_build *b, const struct schema_node *n,
    const struct json *word, struct str ecma)
{
	struct re *re = schema_map_get(&b->patterns, ecma);
	struct err e = { 0 };
	const char *why;
	struct str s;

	if (re != NULL)
		return re;
	if (b->patterns.n == SCHEMA_PATTERNS_MAX) {
		schema_fail(b, n, word, "more than %d different patterns",
		    SCHEMA_PATTERNS_MAX);
		return NULL;
	}
	s = schema_pattern(b->arena, ecma, &why);
	re = s.p != NULL ? re_compile(b->arena, s, &e) : NULL;
	if (re == NULL)
		schema_fail(b, n, word, "pattern \"%.*s\": %s",
		    STRF(utf8_cut(ecma, 60)), why != NULL ? why : e.msg);
	else
		schema_map_put(b->arena, &b->patterns, ecma, re);
	if (re != NULL)
		re_limit(re, b->opts != NULL ? b->opts->budget : NULL);
	return re;
}

void
schema_make_pattern(struct schema_ops *o, enum schema_kind kind,
    const struct json *v)
{
	struct re *re = compile_pattern(o->b, o->node, v, json_text(v));

	if (re != NULL)
		add(o, kind, v)->u.re = re;
}

/* A keyword whose value is one schema. */
void
schema_make_node(struct schema_ops *o, enum schema_kind kind,
    const struct json *v)
{
	add(o, kind, v)->u.node = schema_node_at(o->b, o->node, v, NULL);
	if (kind == SCHEMA_REST_ITEMS || kind == SCHEMA_REST_PROPS)
		o->node->own = true;
}

static struct schema_node **
nodes_of(struct schema_ops *o, const struct json *list)
{
	struct schema_node **v;
	const struct json *c;
	size_t i = 0;

	v = NEW_N(o->b->arena, struct schema_node *, json_count(list) + 1);
	for (c = json_first(list); c != NULL; c = c->next)
		v[i++] = schema_node_at(o->b, o->node, list, c);
	return v;
}

/* A keyword whose value is a list of schemas. */
void
schema_make_nodes(struct schema_ops *o, enum schema_kind kind,
    const struct json *v)
{
	struct schema_op *op = add(o, kind, v);

	op->u.nodes = nodes_of(o, v);
	op->n = (uint32_t)json_count(v);
}

void
schema_make_if(struct schema_ops *o, enum schema_kind kind,
    const struct json *v)
{
	const struct json *then = schema_word(o->node, "then");
	const struct json *other = schema_word(o->node, "else");
	struct schema_op *op = add(o, kind, v);

	op->n = 3;
	op->u.nodes = NEW_N(o->b->arena, struct schema_node *, 3);
	op->u.nodes[0] = schema_node_at(o->b, o->node, v, NULL);
	if (then != NULL)
		op->u.nodes[1] = schema_node_at(o->b, o->node, then, NULL);
	if (other != NULL)
		op->u.nodes[2] = schema_node_at(o->b, o->node, other, NULL);
}

void
schema_make_contains(struct schema_ops *o, enum schema_kind kind,
    const struct json *v)
{
	const struct json *min = schema_word(o->node, "minContains");
	const struct json *max = schema_word(o->node, "maxContains");
	struct schema_op *op = add(o, kind, v);
	struct schema_contains *c = NEW(o->b->arena, struct schema_contains);

	c->node = schema_node_at(o->b, o->node, v, NULL);
	c->min = min != NULL ? count_of(min) : 1;
	c->max = max != NULL ? count_of(max) : UINT64_MAX;
	op->u.contains = c;
}

/* prefixItems and items or, in draft 7, items and additionalItems. */
void
schema_make_items(struct schema_ops *o, enum schema_kind kind,
    const struct json *v)
{
	bool old = o->node->res->dialect.draft == SCHEMA_7;
	const struct json *items = schema_word(o->node, "items");
	const struct json *first = old ? items :
	    schema_word(o->node, "prefixItems");
	const struct json *rest = items;
	struct schema_op *op;

	if (first != NULL && first->type != JSON_ARRAY)
		first = NULL;
	if (old && first != NULL)
		rest = schema_word(o->node, "additionalItems");
	if (first == NULL && rest == NULL)
		return;
	op = add(o, kind, v);
	if (op == NULL)
		return;
	op->u.items = NEW(o->b->arena, struct schema_items);
	if (first != NULL) {
		op->u.items->first = nodes_of(o, first);
		op->u.items->n = json_count(first);
	}
	if (rest != NULL && rest->type != JSON_ARRAY) {
		op->u.items->rest = schema_node_at(o->b, o->node, rest, NULL);
		op->src = rest;
	}
}

static struct schema_prop *
prop(struct schema_ops *o, struct schema_members *m, struct str name)
{
	struct schema_prop *p = schema_map_get(&m->props, name);

	if (p == NULL) {
		p = NEW(o->b->arena, struct schema_prop);
		schema_map_put(o->b->arena, &m->props, name, p);
		if (m->props.longest > SCHEMA_WAY_MAX)
			schema_fail(o->b, o->node, NULL,
			    "too many property names have similar hashes");
	}
	return p;
}

static void
add_patterns(struct schema_ops *o, struct schema_members *m,
    const struct json *map)
{
	struct schema_pattern_prop *p;
	const struct json *c;

	m->patterns = NEW_N(o->b->arena, struct schema_pattern_prop,
	    json_count(map));
	for (c = json_first(map); c != NULL && !o->b->failed; c = c->next) {
		p = &m->patterns[m->npatterns++];
		p->node = schema_node_at(o->b, o->node, map, c);
		p->re = compile_pattern(o->b, o->node, map, json_key(c));
	}
}

/* properties, required, patternProperties and additionalProperties. */
void
schema_make_members(struct schema_ops *o, enum schema_kind kind,
    const struct json *v)
{
	const struct json *patterns, *c;
	struct schema_op *op = add(o, kind, v);
	struct schema_members *m;
	struct schema_prop *p;

	if (op == NULL)
		return;
	m = op->u.members = NEW(o->b->arena, struct schema_members);
	m->properties = schema_word(o->node, "properties");
	m->required = schema_word(o->node, "required");
	m->additional = schema_word(o->node, "additionalProperties");
	patterns = schema_word(o->node, "patternProperties");
	for (c = json_first(m->properties); c != NULL && !o->b->failed;
	    c = c->next)
		prop(o, m, json_key(c))->node =
		    schema_node_at(o->b, o->node, m->properties, c);
	for (c = json_first(m->required); c != NULL && !o->b->failed;
	    c = c->next) {
		if (c->type != JSON_STRING)
			continue;
		p = prop(o, m, json_text(c));
		m->nrequired += !p->required;
		p->required = true;
	}
	if (patterns != NULL && patterns->type == JSON_OBJECT)
		add_patterns(o, m, patterns);
	if (m->additional != NULL)
		m->more = schema_node_at(o->b, o->node, m->additional, NULL);
	m->picks = m->npatterns == 0 && m->more == NULL;
}

/* dependencies, dependentRequired and dependentSchemas. */
void
schema_make_depends(struct schema_ops *o, enum schema_kind kind,
    const struct json *v)
{
	static const char *const words[] = { "dependencies",
		"dependentRequired", "dependentSchemas" };
	struct schema_op *op = add(o, kind, v);
	const struct json *map[COUNTOF(words)], *c;
	struct schema_depend *d;
	size_t i, n = 0;

	if (op == NULL)
		return;
	for (i = 0; i < COUNTOF(words); i++) {
		map[i] = schema_word(o->node, words[i]);
		n += map[i] != NULL && map[i]->type == JSON_OBJECT ?
		    json_count(map[i]) : 0;
	}
	d = op->u.depends = NEW_N(o->b->arena, struct schema_depend, n);
	op->n = (uint32_t)n;
	for (i = 0; i < COUNTOF(words); i++)
		for (c = json_first(map[i]); c != NULL &&
		    map[i]->type == JSON_OBJECT; c = c->next, d++) {
			d->name = json_key(c);
			if (c->type == JSON_ARRAY)
				d->names = c;
			else
				d->node = schema_node_at(o->b, o->node, map[i],
				    c);
		}
}

void
schema_make_ref(struct schema_ops *o, enum schema_kind kind,
    const struct json *v)
{
	struct schema_node *to;
	struct str name;

	to = schema_follow(o->b, o->node, v, &name);
	if (to != NULL)
		add(o, kind, v)->u.node = to;
}

/* If it does not name a dynamic anchor, it acts as $ref. */
void
schema_make_dynref(struct schema_ops *o, enum schema_kind kind,
    const struct json *v)
{
	struct schema_anchor *a;
	struct schema_node *to;
	struct str name;

	to = schema_follow(o->b, o->node, v, &name);
	if (to == NULL)
		return;
	a = NEW(o->b->arena, struct schema_anchor);
	a->node = to;
	a->name = name;
	add(o, kind, v)->u.anchor = a;
	if (name.n > 0)
		o->b->dynamic = true;
}

static int
by_kind(const void *a, const void *b)
{
	return ((const struct schema_op *)a)->kind -
	    ((const struct schema_op *)b)->kind;
}

void
schema_build_node(struct schema_build *b, struct schema_node *n)
{
	struct schema_ops o = { .b = b, .node = n };
	struct buf is = { 0 };

	if (n->src->type == JSON_BOOL) {
		if (!json_bool(n->src))
			n->types = 0;
		return;
	}
	if (n->src->type != JSON_OBJECT) {
		schema_put_brief(&is, n->src);
		schema_fail(b, n, NULL, "must be a schema (an object, true or "
		    "false), is %.*s", STRF(buf_str(&is)));
		buf_free(&is);
		return;
	}
	schema_build_words(&o);
	if (o.n == 0)
		return;
	qsort(o.v, o.n, sizeof(o.v[0]), by_kind);
	n->ops = NEW_N(b->arena, struct schema_op, o.n);
	memcpy(n->ops, o.v, o.n * sizeof(o.v[0]));
	n->nops = (uint32_t)o.n;
}
