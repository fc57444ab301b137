/* SPDX-License-Identifier: ISC */
/*
 * Messages that explain why a value fails: what is expected and what is found.
 *
 * If all alternatives of anyOf or oneOf fail, only the closest is explained:
 * one of the right type first, then one whose const or enum matches, as these
 * often identify an alternative, then the one with the fewest findings.
 */
#include "lib/schema/schema_internal.h"

#include <string.h>

enum { BRIEF = 60, LISTED = 8 };
enum { COST = 50 };		/* steps charged for a message */

static const struct {
	unsigned bit;
	const char *word;
} type_words[] = {
	{ 1 << JSON_STRING, "a string" }, { 1 << JSON_NUMBER, "a number" },
	{ SCHEMA_INTEGER, "an integer" }, { 1 << JSON_BOOL, "a boolean" },
	{ 1 << JSON_ARRAY, "an array" }, { 1 << JSON_OBJECT, "an object" },
	{ 1 << JSON_NULL, "null" },
};

/* Appends "a string or null". */
static void
put_types(struct buf *b, unsigned types)
{
	size_t i, left = 0;

	if ((types & 1 << JSON_NUMBER) != 0)
		types &= ~(unsigned)SCHEMA_INTEGER;
	for (i = 0; i < COUNTOF(type_words); i++)
		left += (types & type_words[i].bit) != 0;
	for (i = 0; i < COUNTOF(type_words); i++) {
		if ((types & type_words[i].bit) == 0)
			continue;
		buf_puts(b, type_words[i].word);
		left--;
		if (left > 0)
			buf_puts(b, left > 1 ? ", " : " or ");
	}
}

static void
put_quoted(struct buf *b, struct str s)
{
	struct json_out o = { .put = buf_sink, .ctx = b };
	struct str h = utf8_cut(s, BRIEF);

	json_put_str(&o, h);
	if (h.n < s.n) {
		b->n--;
		buf_puts(b, "...\"");
	}
}

/* Appends a pattern, without escaping its backslashes if possible. */
static void
put_pattern(struct buf *b, struct str s)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] < ' ' || s.p[i] == 0x7F)
			break;
	if (i < s.n || s.n > 2 * BRIEF) {
		put_quoted(b, s);
		return;
	}
	buf_putc(b, '"');
	buf_put(b, s);
	buf_putc(b, '"');
}

static void
put_count(struct buf *b, uint64_t n, const char *one, const char *many)
{
	schema_put_count(b, n);
	buf_putc(b, ' ');
	buf_puts(b, n == 1 ? one : many);
}

void
schema_put_brief(struct buf *b, const struct json *v)
{
	struct str s;

	switch ((enum json_type)v->type) {
	case JSON_NULL:
		buf_puts(b, "null");
		break;
	case JSON_BOOL:
		buf_puts(b, json_bool(v) ? "true" : "false");
		break;
	case JSON_NUMBER:
		s = utf8_cut(json_text(v), BRIEF);
		buf_put(b, s);
		if (s.n < v->n)
			buf_puts(b, "...");
		break;
	case JSON_STRING:
		put_quoted(b, json_text(v));
		break;
	case JSON_ARRAY:
		buf_puts(b, "an array of ");
		put_count(b, v->n, "item", "items");
		break;
	case JSON_OBJECT:
		buf_puts(b, "an object of ");
		put_count(b, v->n, "property", "properties");
		break;
	}
}

/* Appends an expected value; arrays and objects in full if short. */
static void
put_wanted(struct buf *b, const struct json *v)
{
	struct buf t = { .max = BRIEF };
	struct json_out o = { .put = buf_sink, .ctx = &t };

	if (v->type == JSON_ARRAY || v->type == JSON_OBJECT) {
		json_put(&o, v);
		if (!t.full) {
			buf_put(b, buf_str(&t));
			buf_free(&t);
			return;
		}
		buf_free(&t);
	}
	schema_put_brief(b, v);
}

/* Appends ", is a number (12)". */
static void
put_is(struct buf *b, const struct json *v)
{
	buf_puts(b, ", is ");
	put_types(b, 1u << v->type);
	if (v->type == JSON_NULL)
		return;
	buf_puts(b, " (");
	if (v->type == JSON_ARRAY)
		put_count(b, v->n, "item", "items");
	else if (v->type == JSON_OBJECT)
		put_count(b, v->n, "property", "properties");
	else
		schema_put_brief(b, v);
	buf_putc(b, ')');
}

/* Appends the most similar of the first 1000 keys or strings, if any. */
static void
put_nearest(struct buf *b, struct str got, const struct json *among,
    bool keys)
{
	struct str_nearest near = { .word = got };
	const struct json *c;
	struct str s;
	size_t n = 0;

	for (c = json_first(among); c != NULL && n < 1000; c = c->next, n++) {
		s = keys ? json_key(c) : c->type == JSON_STRING ?
		    json_text(c) : STR("");
		if (s.n <= 200 && got.n <= 200 && !str_eq(s, got))
			str_nearest(&near, s);
	}
	if (near.best.p != NULL) {
		buf_puts(b, " (did you mean ");	/* it may need escapes */
		put_quoted(b, near.best);
		buf_puts(b, "?)");
	}
}

static void
put_enum(struct buf *b, const struct json *list, const struct json *v)
{
	const struct json *c = json_first(list);
	size_t i = 0;

	if (json_count(list) == 0) {
		buf_puts(b, "no value is allowed here");
		return;
	}
	buf_puts(b, json_count(list) == 1 ? "must be " : "must be one of ");
	for (; c != NULL && i < LISTED; c = c->next, i++) {
		if (i > 0)
			buf_puts(b, ", ");
		put_wanted(b, c);
	}
	if (c != NULL) {
		buf_puts(b, " and ");
		schema_put_count(b, json_count(list) - i);
		buf_puts(b, " more");
	}
	buf_puts(b, ", is ");
	schema_put_brief(b, v);
	if (v->type == JSON_STRING)
		put_nearest(b, json_text(v), list, false);
}

static void
put_unique(struct buf *b, struct schema_run *r, const struct json *v)
{
	size_t x = 0, y = 0, i;
	const struct json *c = json_first(v);

	buf_puts(b, "must not have the same item twice");
	if (schema_unique(r, v, &x, &y) || r->stopped)
		return;
	for (i = 0; i < x && c != NULL; i++)
		c = c->next;
	buf_puts(b, ": items ");
	schema_put_count(b, x);
	buf_puts(b, " and ");
	schema_put_count(b, y);
	buf_puts(b, " are both ");
	if (c != NULL)
		put_wanted(b, c);
}

/* Bounds: the text before the keyword's value, and the unit after it. */
static const struct {
	uint8_t kind;
	const char *words, *one, *many;
} bounds[] = {
	{ SCHEMA_MIN, "must be at least ", NULL, NULL },
	{ SCHEMA_MIN_X, "must be more than ", NULL, NULL },
	{ SCHEMA_MAX, "must be at most ", NULL, NULL },
	{ SCHEMA_MAX_X, "must be less than ", NULL, NULL },
	{ SCHEMA_MULTIPLE, "must be a multiple of ", NULL, NULL },
	{ SCHEMA_MIN_LEN, "must have at least ", "character", "characters" },
	{ SCHEMA_MAX_LEN, "must have at most ", "character", "characters" },
	{ SCHEMA_MIN_ITEMS, "must have at least ", "item", "items" },
	{ SCHEMA_MAX_ITEMS, "must have at most ", "item", "items" },
	{ SCHEMA_MIN_PROPS, "must have at least ", "property", "properties" },
	{ SCHEMA_MAX_PROPS, "must have at most ", "property", "properties" },
};

static bool
put_bound(struct buf *b, const struct schema_op *op, const struct json *v)
{
	size_t i;

	for (i = 0; i < COUNTOF(bounds); i++)
		if (bounds[i].kind == op->kind)
			break;
	if (i == COUNTOF(bounds))
		return false;
	buf_puts(b, bounds[i].words);
	schema_put_brief(b, op->src);
	if (bounds[i].one == NULL) {
		buf_puts(b, ", is ");
		schema_put_brief(b, v);
		return true;
	}
	buf_putc(b, ' ');
	buf_puts(b, str_is(json_text(op->src), "1") ? bounds[i].one :
	    bounds[i].many);
	buf_puts(b, ", has ");
	schema_put_count(b, v->type == JSON_STRING ? schema_length(v) :
	    json_count(v));
	if (v->type == JSON_STRING && v->n > 0) {
		buf_puts(b, " (");
		schema_put_brief(b, v);
		buf_putc(b, ')');
	}
	return true;
}

static void
put_message(struct buf *b, struct schema_run *r, const struct schema_op *op,
    const struct json *v)
{
	if (put_bound(b, op, v))
		return;
	switch (op->kind) {
	case SCHEMA_CONST:
		buf_puts(b, "must be ");
		put_wanted(b, op->src);
		buf_puts(b, ", is ");
		schema_put_brief(b, v);
		break;
	case SCHEMA_ENUM:
		put_enum(b, op->src, v);
		break;
	case SCHEMA_PATTERN:
		buf_puts(b, "must match the pattern ");
		put_pattern(b, json_text(op->src));
		buf_puts(b, ", is ");
		schema_put_brief(b, v);
		break;
	case SCHEMA_UNIQUE:
		put_unique(b, r, v);
		break;
	case SCHEMA_NOT:
		buf_puts(b, "must not fit the schema of \"not\"");
		put_is(b, v);
		break;
	default:
		buf_puts(b, "does not fit");
		break;
	}
}

/* For "additionalProperties": false and other schemas that are false. */
static void
put_banned(struct buf *b, const struct schema_node *s)
{
	struct str word = s->word != NULL ? json_key(s->word) : STR("");

	buf_puts(b, "is not allowed");
	if (str_is(word, "items") || str_is(word, "additionalItems"))
		buf_puts(b, ": too many items");
}

static void
put_trail(struct buf *b, const struct schema_trail *t)
{
	const struct schema_trail *back = t;
	const struct schema_trail *stack[256];
	size_t n = 0;

	for (; back != NULL && n < COUNTOF(stack); back = back->up)
		stack[n++] = back;
	if (back != NULL)
		buf_puts(b, "...");
	while (n-- > 0) {
		if (json_key(stack[n]->v).p != NULL)
			schema_put_token(b, json_key(stack[n]->v));
		else {
			buf_putc(b, '/');
			schema_put_count(b, stack[n]->i);
		}
	}
}

void
schema_why_init(struct schema_why *w, struct buf *text)
{
	w->head = NULL;
	w->tail = &w->head;
	w->n = 0;
	w->text = text;
}

static void
append(struct schema_why *w, struct schema_item *i)
{
	i->next = NULL;
	*w->tail = i;
	w->tail = &i->next;
	w->n++;
}

void
schema_put_keyword(struct buf *b, const struct schema_finding *f)
{
	if (f->schema != NULL)
		schema_put_pointer(b, f->schema, f->word);
}

/* Adds a finding, whose message is in r->why->text; empties that. */
static struct schema_item *
add_finding(struct schema_run *r, unsigned kind, const struct schema_node *s,
    const struct json *word)
{
	struct schema_item *i = NEW(r->tmp, struct schema_item);
	struct buf *b = r->why->text;

	i->f.msg = arena_str(r->tmp, buf_str(b));
	b->n = 0;
	put_trail(b, r->trail);
	i->f.at = arena_str(r->tmp, buf_str(b));
	b->n = 0;
	i->f.schema = s;
	i->f.word = word;
	i->f.key = r->naming;
	i->kind = (uint8_t)kind;
	i->level = r->level;
	schema_spend(r, (i->f.at.n + i->f.msg.n) / 16);
	append(r->why, i);
	return i;
}

/*
 * Begins a message and returns the buf to append it to; NULL if the run does
 * not collect findings or cannot take another one.
 */
static struct buf *
begin(struct schema_run *r)
{
	if (r->why == NULL || r->stopped ||
	    r->why->n >= SCHEMA_FINDINGS_MAX || !schema_spend(r, COST))
		return NULL;
	if (r->naming)
		buf_puts(r->why->text, "the name ");
	return r->why->text;
}

/* The value to report: for a member's name, the member. */
static const struct json *
reported(const struct schema_run *r, const struct json *v)
{
	return r->naming && r->trail != NULL ? r->trail->v : v;
}

bool
schema_explain(struct schema_run *r, const struct schema_node *s,
    const struct schema_op *op, const struct json *v)
{
	struct buf *b = begin(r);

	if (b == NULL)
		return false;
	put_message(b, r, op, v);
	add_finding(r, op->kind, s, op->src)->f.value = reported(r, v);
	return false;
}

bool
schema_explain_type(struct schema_run *r, const struct schema_node *s,
    const struct json *v)
{
	const struct json *word = NULL;
	struct schema_item *i;
	struct buf *b = begin(r);
	bool extra;

	if (b == NULL)
		return false;
	extra = s->types == 0 && s->word != NULL && s->item == NULL &&
	    str_ends(json_key(s->word), STR("Properties"));
	if (s->types == 0) {
		put_banned(b, s);
		if (extra && r->trail != NULL)
			put_nearest(b, json_key(r->trail->v),
			    json_getc(s->up->src, "properties"), true);
	} else {
		word = json_getc(s->src, "type");
		buf_puts(b, "must be ");
		put_types(b, s->types);
		put_is(b, v);
	}
	i = add_finding(r, s->types == 0 ? SCHEMA_FALSE : SCHEMA_TYPE, s,
	    word);
	i->f.value = reported(r, v);
	i->f.key = i->f.key || extra;
	i->types = s->types;
	return false;
}

bool
schema_explain_kind(struct schema_run *r, enum schema_kind kind,
    const struct schema_node *s, const struct schema_op *op,
    const struct json *v, struct str name)
{
	const struct json *word = kind == SCHEMA_MISSING ?
	    op->u.members->required : op->src;
	struct buf *b = begin(r);
	const struct schema_depend *d;
	struct schema_item *found;
	uint32_t i;

	if (b == NULL)
		return false;
	buf_puts(b, "must have the property ");
	put_quoted(b, name);
	for (i = 0; kind == SCHEMA_LACKS && i < op->n; i++) {
		const struct json *c;

		d = &op->u.depends[i];
		if (json_get(v, d->name) == NULL)
			continue;
		for (c = json_first(d->names); c != NULL; c = c->next)
			if (str_eq(json_text(c), name))
				break;
		if (c == NULL)
			continue;
		buf_puts(b, " because it has ");
		put_quoted(b, d->name);
		break;
	}
	found = add_finding(r, kind, s, word);
	found->f.value = v;
	found->f.missing = name;
	return false;
}

bool
schema_explain_count(struct schema_run *r, const struct schema_node *s,
    const struct schema_op *op, const struct json *v, size_t n)
{
	struct buf *b = begin(r);
	uint64_t limit;

	if (b == NULL)
		return false;
	if (op->kind == SCHEMA_ONE_OF) {
		buf_puts(b, "must fit exactly one of ");
		schema_put_count(b, op->n);
		buf_puts(b, " schemas, fits ");
	} else {
		limit = n < op->u.contains->min ? op->u.contains->min :
		    op->u.contains->max;
		buf_puts(b, n < op->u.contains->min ? "must have at least " :
		    "must have at most ");
		put_count(b, limit, "item", "items");
		buf_puts(b, " that match \"contains\", has ");
	}
	schema_put_count(b, n);
	add_finding(r, op->kind, s, op->src)->f.value = v;
	return false;
}

/* The distance of a branch from a match; lower is closer. */
static unsigned
rank(const struct schema_run *r, const struct schema_why *w)
{
	const struct schema_item *i;
	unsigned worst = 0, n;

	for (i = w->head; i != NULL; i = i->next) {
		n = 0;
		if (i->level == r->level && (i->kind == SCHEMA_TYPE ||
		    i->kind == SCHEMA_FALSE))
			n = 3;
		else if (i->level <= r->level + 1 &&
		    (i->kind == SCHEMA_CONST || i->kind == SCHEMA_ENUM))
			n = 2;
		else if (i->level == r->level + 1 && i->kind == SCHEMA_TYPE)
			n = 1;
		if (n > worst)
			worst = n;
	}
	return worst * 2 * SCHEMA_FINDINGS_MAX + (unsigned)w->n;
}

void
schema_best_add(struct schema_run *r, struct schema_best *best,
    const struct schema_why *w)
{
	unsigned n = rank(r, w);
	bool typed = w->n == 1 && w->head->kind == SCHEMA_TYPE &&
	    w->head->level == r->level;

	if (best->tried == 0)
		best->typed = typed;
	best->typed = best->typed && typed;
	if (typed)
		best->types |= w->head->types;
	if (w->n > 0 && (best->why.head == NULL || n < best->rank)) {
		best->rank = n;
		best->why = *w;
	}
	best->tried++;
}

static void
mark_closest(struct schema_run *r, struct schema_item *i, size_t of)
{
	struct buf *b = r->why->text;

	if (i->closest || of < 2)
		return;
	i->closest = true;
	buf_put(b, i->f.msg);
	buf_puts(b, " (the closest of ");
	schema_put_count(b, of);
	buf_puts(b, " alternatives)");
	i->f.msg = arena_str(r->tmp, buf_str(b));
	b->n = 0;
}

bool
schema_best_explain(struct schema_run *r, struct schema_best *best,
    const struct schema_node *s, const struct schema_op *op,
    const struct json *v)
{
	struct schema_item *i, *next;
	struct buf *b = begin(r);

	if (b == NULL)
		return false;
	if (best->typed || best->why.head == NULL) {
		if (best->typed) {
			buf_puts(b, "must be ");
			put_types(b, best->types);
			put_is(b, v);
		} else
			buf_puts(b, "fits none of the alternatives");
		i = add_finding(r, best->typed ? SCHEMA_TYPE : op->kind, s,
		    op->src);
		i->f.value = reported(r, v);
		i->types = best->types;
		return false;
	}
	b->n = 0;
	for (i = best->why.head; i != NULL; i = next) {
		next = i->next;
		mark_closest(r, i, best->tried);
		append(r->why, i);
	}
	return false;
}
