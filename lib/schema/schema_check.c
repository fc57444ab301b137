/* SPDX-License-Identifier: ISC */
/*
 * Checks a value by running the operations of a node in order.
 *
 * The first run only decides whether the value passes, and stops at the first
 * failure.  If the value fails and the caller wants reasons, a second run
 * executes all operations and collects findings.
 *
 * Recursion is at most SCHEMA_DEPTH_MAX deep, with small frames.
 */
#include "lib/schema/schema_internal.h"

#include "lib/re/re.h"

enum {
	WHY_STEPS = 1 << 23,	/* for the second run */
	STEP_COST = 20		/* in units of a budget */
};

static bool
stop(struct schema_run *r, const char *why)
{
	if (!r->stopped)
		err_set(r->e, ERR_LIMIT, "%s", why);
	r->stopped = true;
	r->steps = 0;
	return false;
}

static bool check_node(struct schema_run *, const struct schema_node *,
    const struct json *, struct schema_seen *);

bool
schema_spend(struct schema_run *r, size_t steps)
{
	if (steps >= r->steps || (r->schema != NULL &&
	    !budget_take(r->schema->budget, (uint64_t)steps * STEP_COST)))
		return stop(r,
		    "the check takes too many steps and was stopped");
	r->steps -= steps;
	return true;
}

static bool
fits(unsigned types, const struct json *v)
{
	return (types >> v->type & 1) != 0 || (v->type == JSON_NUMBER &&
	    (types & SCHEMA_INTEGER) != 0 && schema_num_whole(v));
}

static void
seen_begin(struct schema_run *r, struct schema_seen *s, const struct json *v)
{
	s->n = v->type == JSON_ARRAY || v->type == JSON_OBJECT ? v->n : 0;
	s->few = 0;
	s->all = false;
	s->bits = NULL;
	if (s->n > 64 && schema_spend(r, s->n / 64))
		s->bits = NEW_N(r->tmp, uint64_t, s->n / 64 + 1);
	if (s->bits == NULL)
		s->bits = &s->few;
}

static void
seen_add(struct schema_seen *s, size_t i)
{
	if (i < 64 || s->bits != &s->few)
		s->bits[i / 64] |= UINT64_C(1) << i % 64;
}

static bool
seen_has(const struct schema_seen *s, size_t i)
{
	return s->all || ((i < 64 || s->bits != &s->few) &&
	    (s->bits[i / 64] >> i % 64 & 1) != 0);
}

static void
seen_join(struct schema_seen *to, const struct schema_seen *from)
{
	size_t i;

	to->all = to->all || from->all;
	for (i = 0; i <= to->n / 64 && (i == 0 || (to->bits != &to->few &&
	    from->bits != &from->few)); i++)
		to->bits[i] |= from->bits[i];
}

/* Frees scratch memory, unless findings may be in it. */
static void
release(struct schema_run *r, struct arena_mark mark)
{
	if (r->why == NULL)
		arena_restore(r->tmp, mark);
}

/* Checks a value without collecting findings. */
static bool
passes(struct schema_run *r, const struct schema_node *s,
    const struct json *v, struct schema_seen *seen)
{
	struct schema_why *why = r->why;
	bool ok;

	r->why = NULL;
	ok = check_node(r, s, v, seen);
	r->why = why;
	return ok;
}

/* Checks with a separate set of evaluated parts, joined if it passes. */
static bool
branch(struct schema_run *r, const struct schema_node *s,
    const struct json *v, struct schema_seen *seen)
{
	struct arena_mark mark;
	struct schema_seen mine;
	bool ok;

	if (seen == NULL)
		return check_node(r, s, v, NULL);
	mark = arena_save(r->tmp);
	seen_begin(r, &mine, v);
	ok = check_node(r, s, v, &mine);
	if (ok)
		seen_join(seen, &mine);
	release(r, mark);
	return ok;
}

/* Checks the i-th part of the current value. */
static bool
part(struct schema_run *r, const struct schema_node *s, const struct json *v,
    size_t i)
{
	struct schema_trail t;
	bool ok;

	if (s->alias != NULL)
		s = s->alias;
	if (s->nops == 0 && fits(s->types, v))
		return true;
	if (r->why == NULL)
		return check_node(r, s, v, NULL);
	t.up = r->trail;
	t.v = v;
	t.i = i;
	r->trail = &t;
	r->level++;
	ok = check_node(r, s, v, NULL);
	r->level--;
	r->trail = t.up;
	return ok;
}

static bool
missing(struct schema_run *r, const struct schema_node *s,
    const struct schema_op *op, const struct json *v)
{
	const struct json *name;

	if (r->why == NULL)
		return false;
	for (name = json_first(op->u.members->required); name != NULL;
	    name = name->next)
		if (json_get(v, json_text(name)) == NULL)
			schema_explain_kind(r, SCHEMA_MISSING, s, op, v,
			    json_text(name));
	return false;
}

/* Checks a member by its own schema, by patterns, else by the default. */
static bool
member(struct schema_run *r, const struct schema_members *m,
    const struct schema_node *own, const struct json *c, size_t i,
    struct schema_seen *seen)
{
	bool ok = true, known = own != NULL;
	size_t k;

	if (known)
		ok = part(r, own, c, i);
	for (k = 0; k < m->npatterns && (ok || r->why != NULL); k++) {
		if (!schema_spend(r, 1 + c->nkey / 16))
			return false;
		if (!re_test(m->patterns[k].re, json_key(c)))
			continue;
		known = true;
		if (!part(r, m->patterns[k].node, c, i))
			ok = false;
	}
	if (!known && m->more != NULL) {
		known = true;
		ok = part(r, m->more, c, i);
	}
	if (known && seen != NULL)
		seen_add(seen, i);
	return ok;
}

/* Looks up the few known names of a large object. */
static bool
pick(struct schema_run *r, const struct schema_node *s,
    const struct schema_op *op, const struct json *v)
{
	const struct schema_members *m = op->u.members;
	const struct json *c, *p;
	const struct schema_prop *prop;

	for (p = json_first(m->required); p != NULL; p = p->next)
		if (json_get(v, json_text(p)) == NULL)
			return missing(r, s, op, v);
	for (p = json_first(m->properties); p != NULL; p = p->next) {
		c = json_get(v, json_key(p));
		if (c == NULL)
			continue;
		prop = schema_map_get(&m->props, json_key(p));
		if (!part(r, prop->node, c, 0))
			return false;
	}
	return true;
}

static bool
members(struct schema_run *r, const struct schema_node *s,
    const struct schema_op *op, const struct json *v, struct schema_seen *seen)
{
	const struct schema_members *m = op->u.members;
	const struct schema_prop *p;
	const struct json *c;
	size_t i = 0, need = m->nrequired;
	bool ok = true;

	if (m->picks && seen == NULL && r->why == NULL &&
	    v->n > 16 + 4 * m->props.n)
		return pick(r, s, op, v);
	if (need > v->n && r->why == NULL)
		return false;
	if (!schema_spend(r, v->n * (1 + m->props.longest / 16)))
		return false;
	for (c = json_first(v); c != NULL; c = c->next, i++) {
		p = schema_map_get(&m->props, json_key(c));
		if (p != NULL)
			need -= p->required;
		if (member(r, m, p != NULL ? p->node : NULL, c, i, seen))
			continue;
		if (r->why == NULL)
			return false;
		ok = false;
	}
	return need > 0 ? missing(r, s, op, v) : ok;
}

static bool
names(struct schema_run *r, const struct schema_op *op, const struct json *v)
{
	struct json name = { .type = JSON_STRING };
	bool ok = true, naming = r->naming;
	const struct json *c;
	struct schema_trail t;

	t.up = r->trail;
	for (c = json_first(v); c != NULL; c = c->next) {
		name.u.text = json_key(c).p;
		name.n = c->nkey;
		t.v = c;
		r->trail = &t;
		r->naming = true;
		if (!check_node(r, op->u.node, &name, NULL))
			ok = false;
		r->naming = naming;
		r->trail = t.up;
		if (!ok && r->why == NULL)
			break;
	}
	return ok;
}

static bool
items(struct schema_run *r, const struct schema_op *op, const struct json *v,
    struct schema_seen *seen)
{
	const struct schema_items *it = op->u.items;
	const struct schema_node *s;
	const struct json *c;
	size_t i = 0;
	bool ok = true;

	if (!schema_spend(r, v->n))
		return false;
	for (c = json_first(v); c != NULL; c = c->next, i++) {
		s = i < it->n ? it->first[i] : it->rest;
		if (s == NULL)
			break;
		if (!part(r, s, c, i)) {
			if (r->why == NULL)
				return false;
			ok = false;
		}
		if (seen != NULL)
			seen_add(seen, i);
	}
	return ok;
}

static bool
contains(struct schema_run *r, const struct schema_node *s,
    const struct schema_op *op, const struct json *v, struct schema_seen *seen)
{
	const struct schema_contains *want = op->u.contains;
	const struct json *c;
	size_t i = 0, n = 0;

	for (c = json_first(v); c != NULL && !r->stopped; c = c->next, i++) {
		if (!passes(r, want->node, c, NULL))
			continue;
		n++;
		if (seen != NULL)
			seen_add(seen, i);
		else if (n > want->max || (n >= want->min &&
		    want->max == UINT64_MAX))
			break;
	}
	return (n >= want->min && n <= want->max && !r->stopped) ||
	    schema_explain_count(r, s, op, v, n);
}

static bool
depends(struct schema_run *r, const struct schema_node *s,
    const struct schema_op *op, const struct json *v, struct schema_seen *seen)
{
	const struct schema_depend *d = op->u.depends;
	const struct json *name;
	bool ok = true;
	uint32_t i;

	for (i = 0; i < op->n && (ok || r->why != NULL); i++, d++) {
		if (!schema_spend(r, 1))
			return false;
		if (json_get(v, d->name) == NULL)
			continue;
		if (d->node != NULL && !check_node(r, d->node, v, seen))
			ok = false;
		for (name = json_first(d->names); name != NULL;
		    name = name->next)
			if (json_get(v, json_text(name)) == NULL) {
				ok = false;
				schema_explain_kind(r, SCHEMA_LACKS, s, op, v,
				    json_text(name));
			}
	}
	return ok;
}

/* The outermost resource in the dynamic scope with that anchor decides. */
static bool
dynref(struct schema_run *r, const struct schema_op *op, const struct json *v,
    struct schema_seen *seen)
{
	const struct schema_anchor *a = op->u.anchor, *d;
	const struct schema_node *to = a->node;
	const struct schema_scope *s;

	for (s = a->name.n > 0 ? r->scope : NULL; s != NULL; s = s->up) {
		if (!schema_spend(r, 1))
			return false;
		for (d = s->res->dynamic; d != NULL; d = d->next)
			if (str_eq(d->name, a->name))
				to = d->node;
	}
	return check_node(r, to, v, seen);
}

static bool
all_of(struct schema_run *r, const struct schema_op *op, const struct json *v,
    struct schema_seen *seen)
{
	bool ok = true;
	uint32_t i;

	for (i = 0; i < op->n && (ok || r->why != NULL); i++)
		if (!check_node(r, op->u.nodes[i], v, seen))
			ok = false;
	return ok;
}

/* The number of branches that pass, up to `enough`; adds others to best. */
static size_t
choose(struct schema_run *r, const struct schema_op *op, const struct json *v,
    struct schema_seen *seen, size_t enough, struct schema_best *best)
{
	struct schema_why *why = r->why, list;
	size_t n = 0;
	uint32_t i;

	for (i = 0; i < op->n && n < enough && !r->stopped; i++) {
		if (why != NULL) {
			schema_why_init(&list, why->text);
			r->why = &list;
		}
		if (branch(r, op->u.nodes[i], v, seen))
			n++;
		else if (why != NULL)
			schema_best_add(r, best, &list);
	}
	r->why = why;
	return n;
}

static bool
any_of(struct schema_run *r, const struct schema_node *s,
    const struct schema_op *op, const struct json *v, struct schema_seen *seen)
{
	struct schema_best best = { .tried = 0 };

	return choose(r, op, v, seen, seen == NULL ? 1 : op->n, &best) > 0 ||
	    schema_best_explain(r, &best, s, op, v);
}

static bool
one_of(struct schema_run *r, const struct schema_node *s,
    const struct schema_op *op, const struct json *v, struct schema_seen *seen)
{
	struct schema_best best = { .tried = 0 };
	size_t n = choose(r, op, v, seen, r->why == NULL ? 2 : op->n, &best);

	if (n == 0)
		return schema_best_explain(r, &best, s, op, v);
	return n == 1 || schema_explain_count(r, s, op, v, n);
}

static bool
if_then(struct schema_run *r, const struct schema_op *op,
    const struct json *v, struct schema_seen *seen)
{
	struct schema_why *why = r->why;
	const struct schema_node *next;
	bool yes;

	r->why = NULL;
	yes = branch(r, op->u.nodes[0], v, seen);
	r->why = why;
	next = op->u.nodes[yes ? 1 : 2];
	return next == NULL || check_node(r, next, v, seen);
}

/* Checks the items or members that are not evaluated yet. */
static bool
unevaluated(struct schema_run *r, const struct schema_op *op,
    const struct json *v, struct schema_seen *seen)
{
	const struct json *c;
	bool ok = true;
	size_t i = 0;

	if (!schema_spend(r, v->n))
		return false;
	for (c = json_first(v); c != NULL && (ok || r->why != NULL);
	    c = c->next, i++)
		if (!seen_has(seen, i) && !part(r, op->u.node, c, i))
			ok = false;
	seen->all = true;
	return ok;
}

static bool
number(const struct schema_op *op, const struct json *v)
{
	struct schema_num n;
	int c;

	schema_num_read(&n, json_text(v));
	if (op->kind == SCHEMA_MULTIPLE)
		return schema_num_multiple(&n, op->u.num);
	if (n.nan)
		return false;
	c = schema_num_cmp(&n, op->u.num);
	return op->kind == SCHEMA_MIN ? c >= 0 : op->kind == SCHEMA_MAX ?
	    c <= 0 : op->kind == SCHEMA_MIN_X ? c > 0 : c < 0;
}

/* Code points: each has one byte that is not a continuation byte. */
size_t
schema_length(const struct json *v)
{
	const char *p = v->u.text, *end = p + v->n;
	size_t n = 0;

	for (; p < end; p++)
		n += ((unsigned char)*p & 0xC0) != 0x80;
	return n;
}

static bool
counted(struct schema_run *r, const struct schema_op *op, const struct json *v)
{
	uint64_t want = op->u.count;

	switch (op->kind) {
	case SCHEMA_MIN_LEN:
		return v->n >= want && (v->n / 4 >= want ||
		    (schema_spend(r, v->n / 64) && schema_length(v) >= want));
	case SCHEMA_MAX_LEN:
		return v->n <= want || (v->n / 4 <= want &&
		    schema_spend(r, v->n / 64) && schema_length(v) <= want);
	case SCHEMA_MIN_ITEMS:
	case SCHEMA_MIN_PROPS:
		return v->n >= want;
	default:		/* SCHEMA_MAX_ITEMS, SCHEMA_MAX_PROPS */
		return v->n <= want;
	}
}

static bool
unique(struct schema_run *r, const struct json *v)
{
	size_t a, b;

	return schema_unique(r, v, &a, &b);
}

/* An operation without subschemas. */
static bool
plain(struct schema_run *r, const struct schema_op *op, const struct json *v)
{
	switch (op->kind) {
	case SCHEMA_CONST:
		return schema_same(r, v, op->src);
	case SCHEMA_ENUM:
		return schema_chosen(r, op, v);
	case SCHEMA_MIN:
	case SCHEMA_MIN_X:
	case SCHEMA_MAX:
	case SCHEMA_MAX_X:
	case SCHEMA_MULTIPLE:
		return schema_spend(r, v->n / 16) && number(op, v);
	case SCHEMA_PATTERN:
		return schema_spend(r, v->n / 16) &&
		    re_test(op->u.re, json_text(v));
	case SCHEMA_UNIQUE:
		return unique(r, v);
	default:
		return counted(r, op, v);
	}
}

static bool
operate(struct schema_run *r, const struct schema_node *s,
    const struct schema_op *op, const struct json *v, struct schema_seen *seen)
{
	switch (op->kind) {
	case SCHEMA_MEMBERS:
		return members(r, s, op, v, seen);
	case SCHEMA_NAMES:
		return names(r, op, v);
	case SCHEMA_ITEMS:
		return items(r, op, v, seen);
	case SCHEMA_CONTAINS:
		return contains(r, s, op, v, seen);
	case SCHEMA_DEPENDS:
		return depends(r, s, op, v, seen);
	case SCHEMA_REF:
		return check_node(r, op->u.node, v, seen);
	case SCHEMA_DYNREF:
		return dynref(r, op, v, seen);
	case SCHEMA_ALL_OF:
		return all_of(r, op, v, seen);
	case SCHEMA_NOT:
		return (!passes(r, op->u.node, v, NULL) && !r->stopped) ||
		    schema_explain(r, s, op, v);
	case SCHEMA_ANY_OF:
		return any_of(r, s, op, v, seen);
	case SCHEMA_ONE_OF:
		return one_of(r, s, op, v, seen);
	case SCHEMA_IF:
		return if_then(r, op, v, seen);
	case SCHEMA_REST_ITEMS:
	case SCHEMA_REST_PROPS:
		return unevaluated(r, op, v, seen);
	default:
		return plain(r, op, v) || schema_explain(r, s, op, v);
	}
}

static bool
run_ops(struct schema_run *r, const struct schema_node *s,
    const struct json *v, struct schema_seen *seen)
{
	const struct schema_op *op = s->ops, *end = op + s->nops;
	bool ok = true;

	for (; op < end; op++) {
		if ((op->types >> v->type & 1) == 0 ||
		    operate(r, s, op, v, seen))
			continue;
		if (r->why == NULL || r->stopped)
			return false;
		ok = false;
	}
	return ok;
}

/* Runs a node with its own set of evaluated parts and its dynamic scope. */
static bool
run_scoped(struct schema_run *r, const struct schema_node *s,
    const struct json *v, struct schema_seen *seen)
{
	struct schema_scope scope = { r->scope, s->res };
	struct arena_mark mark;
	struct schema_seen mine;
	bool ok;

	if (r->schema->dynamic && (r->scope == NULL ||
	    r->scope->res != s->res))
		r->scope = &scope;
	if (s->own) {
		mark = arena_save(r->tmp);
		seen_begin(r, &mine, v);
		ok = run_ops(r, s, v, &mine);
		if (ok && seen != NULL)
			seen_join(seen, &mine);
		release(r, mark);
	} else
		ok = run_ops(r, s, v, seen);
	r->scope = scope.up;
	return ok;
}

static bool
check_node(struct schema_run *r, const struct schema_node *s,
    const struct json *v, struct schema_seen *seen)
{
	bool ok;

	if (s->alias != NULL)
		s = s->alias;
	if (!fits(s->types, v))
		return schema_explain_type(r, s, v);
	if (s->nops == 0)
		return true;
	if (!schema_spend(r, s->nops))
		return false;
	if (r->depth == SCHEMA_DEPTH_MAX)
		return stop(r, "schemas are nested too deeply; "
		    "a reference may lead back to itself");
	r->depth++;
	ok = s->own || r->schema->dynamic ? run_scoped(r, s, v, seen) :
	    run_ops(r, s, v, seen);
	r->depth--;
	return ok;
}

/* Runs the check again and reports the findings. */
static void
explain(const struct schema *s, struct arena *tmp, const struct json *v,
    schema_report_fn *report, void *ctx)
{
	struct err e;
	struct schema_why why;
	struct schema_run r = { .schema = s, .tmp = tmp, .e = &e,
		.steps = WHY_STEPS, .why = &why };
	const struct schema_item *i;
	size_t n = 0;
	struct schema_finding f = { .value = v };
	struct buf text = { 0 };

	buf_room(&text, 256);	/* for most messages */
	schema_why_init(&why, &text);
	check_node(&r, s->root, v, NULL);
	for (i = why.head; i != NULL && n < SCHEMA_FINDINGS_MAX;
	    i = i->next, n++)
		report(ctx, &i->f);
	if (n == 0) {
		f.at = STR("");
		f.msg = STR("does not fit the schema");
		report(ctx, &f);
	}
	buf_free(&text);
}

int
schema_check(struct schema *s, struct arena *tmp, const struct json *v,
    schema_report_fn *report, void *ctx, struct err *e)
{
	/* matching allocates in the schema's arena: do not restore that */
	struct arena mine = { 0 }, *a = tmp != s->arena ? tmp : &mine;
	struct arena_mark mark = arena_save(a);
	struct schema_run r = { .schema = s, .tmp = a, .e = e,
		.steps = s->steps };
	bool ok = check_node(&r, s->root, v, NULL);

	if (!ok && !r.stopped && report != NULL)
		explain(s, a, v, report, ctx);
	arena_restore(a, mark);
	return r.stopped ? -1 : ok;
}
