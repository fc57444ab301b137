/* SPDX-License-Identifier: ISC */
/*
 * The walk over the tree, in Python's order of evaluation, which decides what
 * exception is raised if there are several errors.
 *
 * A comprehension is a generator: a stack of iterators, one for each "for",
 * that computes the next element on demand.  A list comprehension runs it to
 * its end.  Names of an outer comprehension are looked up when they are
 * needed, so that a generator sees their current values, as in Python.
 */
#include "lib/py/expr_internal.h"

#include <string.h>

#include "json.h"

static int
global(struct eval *ev, const struct node *n, struct value *out)
{
	struct value *v = &ev->globals[n->u.var.slot];
	struct str name = n->u.var.name;
	const struct json *json;

	if (!ev->known[n->u.var.slot]) {
		json = json_get(ev->names, name);
		v->u.builtin = expr_builtin(name);
		if (json != NULL) {
			if (expr_json(ev, json, v) == -1)
				return -1;
		} else if (v->u.builtin != NULL)
			v->kind = EXPR_BUILTIN;
		else if (str_is(name, "re"))
			v->kind = EXPR_MODULE;
		else
			return expr_raise(ev, "name '%.*s' is not defined",
			    (int)(name.n < 400 ? name.n : 400), name.p);
		ev->known[n->u.var.slot] = true;
	}
	*out = *v;
	return 0;
}

static int
local(struct eval *ev, const struct node *n, struct value *out)
{
	const struct frame *f = ev->frame;
	uint32_t up;

	for (up = n->u.var.up; up > 0; up--)
		f = f->up;
	if (!f->set[n->u.var.slot])
		return expr_decline(ev, "variable before its assignment");
	*out = f->v[n->u.var.slot];
	return 0;
}

/* Displays. */

static int
sequence(struct eval *ev, const struct node *n, enum expr_kind kind,
    struct value *out)
{
	const struct node *kid;
	struct value *v = expr_alloc(ev, n->nkids * sizeof(*v));
	size_t i = 0;

	if (v == NULL)
		return -1;
	for (kid = n->kid; kid != NULL; kid = kid->next)
		if (expr_node(ev, kid, &v[i++]) == -1)
			return -1;
	return expr_seq(ev, kind, v, i, out);
}

/*
 * A dict or set.  Python evaluates a large display in parts and hashes the
 * keys of each before the next; if a key of one cannot be hashed, Python has
 * to decide which error comes first.
 */
static int
mapping(struct eval *ev, const struct node *n, struct value *out)
{
	enum { LARGE = 15 };
	bool dict = n->op == EXPR_OP_DICT;
	struct value list, *v;
	size_t i, step = dict ? 2 : 1;
	int rc = sequence(ev, n, EXPR_LIST, &list);

	if (rc == 0)
		rc = expr_map_new(ev, dict ? EXPR_DICT : EXPR_SET, out);
	for (i = 0; rc == 0 && i < list.u.seq->n; i += step) {
		v = &list.u.seq->v[i];
		rc = expr_map_put(ev, out->u.map, v[0],
		    dict ? v[1] : expr_none());
	}
	if (rc == -1 && n->nkids > LARGE && ev->status == EXPR_RAISED)
		expr_decline(ev, "first error in a large display");
	return rc;
}

/* Truth. */

static int
junction(struct eval *ev, const struct node *n, struct value *out)
{
	const struct node *kid;

	for (kid = n->kid; kid != NULL; kid = kid->next) {
		if (expr_node(ev, kid, out) == -1)
			return -1;
		if (expr_true(*out) == (n->op == EXPR_OP_OR))
			break;
	}
	return 0;
}

/* Identity is known for None, for bools and for objects of two types. */
static int
identical(struct eval *ev, struct value a, struct value b)
{
	if (a.kind == EXPR_BUILTIN || b.kind == EXPR_BUILTIN)
		return expr_decline(ev, "identity of objects");
	if (a.kind != b.kind)
		return 0;
	if (a.kind == EXPR_NONE)
		return 1;
	if (a.kind == EXPR_BOOL)
		return a.u.i == b.u.i;
	return expr_decline(ev, "identity of objects");
}

static int
relation(struct eval *ev, enum expr_rel rel, struct value a, struct value b)
{
	int rc;

	if (rel >= EXPR_LT && rel <= EXPR_GE)
		return expr_compare(ev, rel, a, b);
	if (rel == EXPR_IN || rel == EXPR_NOT_IN)
		rc = expr_in(ev, a, b);
	else if (rel == EXPR_IS || rel == EXPR_IS_NOT)
		rc = identical(ev, a, b);
	else
		rc = expr_equal(ev, a, b);
	return rc == -1 ? -1 : rc == (rel == EXPR_IN || rel == EXPR_IS ||
	    rel == EXPR_EQ);
}

static int
comparison(struct eval *ev, const struct node *n, struct value *out)
{
	const struct node *kid = n->kid;
	struct value a, b;
	int rc = 1;

	if (expr_node(ev, kid, &a) == -1)
		return -1;
	while (rc == 1 && (kid = kid->next) != NULL) {
		if (expr_node(ev, kid, &b) == -1)
			return -1;
		rc = relation(ev, (enum expr_rel)kid->rel, a, b);
		a = b;
	}
	if (rc == -1)
		return -1;
	*out = expr_bool(rc == 1);
	return 0;
}

/* Calls. */

struct given {
	struct value v[EXPR_ARGS_MAX];
	struct str names[EXPR_ARGS_MAX];
	struct args args;
};

static int
arguments(struct eval *ev, const struct node *n, struct given *g)
{
	const struct node *kid;
	size_t i = 0;

	g->args = (struct args){ .v = g->v, .names = g->names };
	for (kid = n->kid->next; kid != NULL; kid = kid->next, i++) {
		if (kid->op == EXPR_OP_KEYWORD)
			g->names[g->args.nnamed++] = kid->u.name;
		else
			g->args.n++;
		if (expr_node(ev, kid->op == EXPR_OP_KEYWORD ? kid->kid : kid,
		    &g->v[i]) == -1)
			return -1;
	}
	return 0;
}

static int
call_method(struct eval *ev, const struct node *n, struct value *out)
{
	const struct method *m = NULL;
	struct given g;
	struct value self;

	if (expr_node(ev, n->kid->kid, &self) == -1)
		return -1;
	if (self.kind == EXPR_MODULE) {
		if (expr_re_attr(ev, n->kid->u.name, &self) == -1 ||
		    arguments(ev, n, &g) == -1)
			return -1;
		if (self.kind != EXPR_BUILTIN)
			return expr_decline(ev, "call of a flag");
		return expr_call(ev, self.u.builtin, &g.args, out);
	}
	if (expr_attr(ev, self, n->kid->u.name, &m) == -1 ||
	    arguments(ev, n, &g) == -1)
		return -1;
	return expr_call_method(ev, m, self, &g.args, out);
}

static int
call(struct eval *ev, const struct node *n, struct value *out)
{
	struct given g;
	struct value what;

	if (n->kid->op == EXPR_OP_ATTR)
		return call_method(ev, n, out);
	if (expr_node(ev, n->kid, &what) == -1 ||
	    arguments(ev, n, &g) == -1)
		return -1;
	if (what.kind == EXPR_BUILTIN)
		return expr_call(ev, what.u.builtin, &g.args, out);
	if (what.kind > EXPR_SET)
		return expr_decline(ev, "call of this type");
	return expr_raise(ev, "'%s' object is not callable", expr_type(what));
}

static int
attribute(struct eval *ev, const struct node *n, struct value *out)
{
	const struct method *m = NULL;
	struct value self;

	if (expr_node(ev, n->kid, &self) == -1)
		return -1;
	if (self.kind == EXPR_MODULE)
		return expr_re_attr(ev, n->u.name, out);
	if (expr_attr(ev, self, n->u.name, &m) == -1)
		return -1;
	return expr_decline(ev, "method that is not called");
}

/* Operators. */

static int
binary(struct eval *ev, const struct node *n, struct value *out)
{
	struct value a, b;

	if (expr_node(ev, n->kid, &a) == -1 ||
	    expr_node(ev, n->kid->next, &b) == -1)
		return -1;
	if (n->op == EXPR_OP_INDEX)
		return expr_index(ev, a, b, out);
	return expr_arith(ev, (enum expr_arith)n->what, a, b, out);
}

static int
slice(struct eval *ev, const struct node *n, struct value *out)
{
	const struct node *kid;
	struct value v[3];
	size_t i = 0;

	for (kid = n->kid; kid != NULL; kid = kid->next)
		if (expr_node(ev, kid, &v[i++]) == -1)
			return -1;
	return expr_slice(ev, v[0], v + 1, out);
}

/* Comprehensions. */

static void
assign(struct eval *ev, const struct node *target, struct value v)
{
	ev->frame->v[target->u.var.slot] = v;
	ev->frame->set[target->u.var.slot] = true;
}

/* Assigns an element to a name, or its elements to several. */
static int
unpack(struct eval *ev, const struct node *n, struct value v)
{
	const struct node *kid;
	struct value item;
	struct iter it;
	size_t got = 0;
	int rc;

	if (n->op != EXPR_OP_TUPLE) {
		assign(ev, n, v);
		return 0;
	}
	if (v.kind < EXPR_STR)
		return expr_raise(ev, "cannot unpack non-iterable %s object",
		    expr_type(v));
	if (expr_iter(ev, v, &it) == -1)
		return -1;
	for (kid = n->kid; kid != NULL; kid = kid->next, got++) {
		rc = expr_next(ev, &it, &item);
		if (rc == 0)
			return expr_raise(ev, "not enough values to unpack "
			    "(expected %u, got %zu)", (unsigned)n->nkids, got);
		if (rc == -1)
			return -1;
		assign(ev, kid, item);
	}
	rc = expr_next(ev, &it, &item);
	if (rc == 1)
		return expr_raise(ev, "too many values to unpack (expected %u)",
		    (unsigned)n->nkids);
	return rc;
}

static const struct node *
first_clause(const struct node *n)
{
	const struct node *kid = n->kid->next;

	return n->what == EXPR_COMP_DICT ? kid->next : kid;
}

static int
start(struct eval *ev, const struct node *n, struct value *out)
{
	struct gen *g = expr_alloc(ev, sizeof(*g));
	const struct node *clause = first_clause(n);
	struct value v;
	size_t clauses = n->nkids - (n->what == EXPR_COMP_DICT ? 2 : 1);

	if (g == NULL)
		return -1;
	*g = (struct gen){ .node = n, .frame = { .up = ev->frame } };
	g->frame.v = expr_alloc(ev, (size_t)n->nslots * sizeof(*g->frame.v));
	g->frame.set = expr_alloc(ev, (size_t)n->nslots);
	g->it = expr_alloc(ev, clauses * sizeof(*g->it));
	if (g->frame.v == NULL || g->frame.set == NULL || g->it == NULL)
		return -1;
	memset(g->frame.set, 0, (size_t)n->nslots);
	if (expr_node(ev, clause->kid->next, &v) == -1)
		return -1;
	out->kind = EXPR_GEN;
	out->u.gen = g;
	return expr_iter(ev, v, &g->it[0]);
}

/* A predicate: the conditions of a clause are true. */
static int
holds(struct eval *ev, const struct node *clause)
{
	const struct node *cond;
	struct value v;

	for (cond = clause->kid->next->next; cond != NULL; cond = cond->next) {
		if (expr_node(ev, cond, &v) == -1)
			return -1;
		if (!expr_true(v))
			return 0;
	}
	return 1;
}

/*
 * Sets the variables of the next element; 1, 0 at the end, -1.  `level` is the
 * clause whose iterator is advanced next.  It moves outwards when an iterator
 * ends and inwards when one has returned a value.
 */
static int
advance(struct eval *ev, struct gen *g)
{
	const struct node *clause;
	size_t last = g->node->nkids -
	    (g->node->what == EXPR_COMP_DICT ? 3 : 2);
	size_t level = g->started ? last : 0, i;
	struct value v;
	int rc;

	g->started = true;
	for (;;) {
		rc = expr_next(ev, &g->it[level], &v);
		if (rc == -1)
			return -1;
		if (rc == 0 && level == 0)
			return 0;
		if (rc == 0) {
			level--;
			continue;
		}
		clause = first_clause(g->node);
		for (i = 0; i < level; i++)
			clause = clause->next;
		if (unpack(ev, clause->kid, v) == -1)
			return -1;
		rc = holds(ev, clause);
		if (rc == -1)
			return -1;
		if (rc == 0)
			continue;
		if (level == last)
			return 1;
		level++;
		if (expr_node(ev, clause->next->kid->next, &v) == -1 ||
		    expr_iter(ev, v, &g->it[level]) == -1)
			return -1;
	}
}

/* The next element, or key and value of a dict: 1, 0 at the end, -1. */
static int
step(struct eval *ev, struct gen *g, struct value *out, struct value *val)
{
	struct frame *up = ev->frame;
	int rc;

	if (g->done)
		return 0;
	if (g->busy || ev->depth >= EXPR_GENS_MAX)
		return expr_decline(ev, "generators that consume each other");
	g->busy = true;
	ev->depth++;
	ev->frame = &g->frame;
	rc = advance(ev, g);
	g->done = rc == 0;
	if (rc == 1 && expr_node(ev, g->node->kid, out) == -1)
		rc = -1;
	if (rc == 1 && val != NULL &&
	    expr_node(ev, g->node->kid->next, val) == -1)
		rc = -1;
	ev->frame = up;
	ev->depth--;
	g->busy = false;
	return rc;
}

int
expr_gen_next(struct eval *ev, struct gen *g, struct value *out)
{
	return step(ev, g, out, NULL);
}

static int
comprehension(struct eval *ev, const struct node *n, struct value *out)
{
	bool dict = n->what == EXPR_COMP_DICT;
	struct value gen, v, val = expr_none();
	int rc;

	if (start(ev, n, &gen) == -1)
		return -1;
	if (n->what == EXPR_COMP_GEN) {
		*out = gen;
		return 0;
	}
	if (n->what == EXPR_COMP_LIST)
		return expr_as_list(ev, gen, out);
	if (expr_map_new(ev, dict ? EXPR_DICT : EXPR_SET, out) == -1)
		return -1;
	while ((rc = step(ev, gen.u.gen, &v, dict ? &val : NULL)) == 1)
		if (expr_map_put(ev, out->u.map, v, val) == -1)
			return -1;
	return rc;
}

static int
condition(struct eval *ev, const struct node *n, struct value *out)
{
	const struct node *kid = n->kid;
	struct value v;

	if (expr_node(ev, kid, &v) == -1)
		return -1;
	return expr_node(ev, expr_true(v) ? kid->next : kid->next->next, out);
}

static int
operand(struct eval *ev, const struct node *n, struct value *out)
{
	struct value v;

	if (expr_node(ev, n->kid, &v) == -1)
		return -1;
	if (n->op == EXPR_OP_UNARY)
		return expr_sign(ev, n->what, v, out);
	*out = expr_bool(!expr_true(v));
	return 0;
}

int
expr_node(struct eval *ev, const struct node *n, struct value *out)
{
	if (expr_steps(ev, 1) == -1)
		return -1;
	switch ((enum expr_op)n->op) {
	case EXPR_OP_CONST:
		*out = n->u.value;
		return 0;
	case EXPR_OP_GLOBAL:
		return global(ev, n, out);
	case EXPR_OP_LOCAL:
		return local(ev, n, out);
	case EXPR_OP_LIST:
		return sequence(ev, n, EXPR_LIST, out);
	case EXPR_OP_TUPLE:
		return sequence(ev, n, EXPR_TUPLE, out);
	case EXPR_OP_SET:
	case EXPR_OP_DICT:
		return mapping(ev, n, out);
	case EXPR_OP_AND:
	case EXPR_OP_OR:
		return junction(ev, n, out);
	case EXPR_OP_NOT:
	case EXPR_OP_UNARY:
		return operand(ev, n, out);
	case EXPR_OP_IF:
		return condition(ev, n, out);
	case EXPR_OP_COMPARE:
		return comparison(ev, n, out);
	case EXPR_OP_BINARY:
	case EXPR_OP_INDEX:
		return binary(ev, n, out);
	case EXPR_OP_ATTR:
		return attribute(ev, n, out);
	case EXPR_OP_CALL:
		return call(ev, n, out);
	case EXPR_OP_SLICE:
		return slice(ev, n, out);
	case EXPR_OP_COMP:
		return comprehension(ev, n, out);
	case EXPR_OP_KEYWORD:
	case EXPR_OP_FOR:
		break;
	}
	return expr_decline(ev, "node that is not an expression");
}
