/* SPDX-License-Identifier: ISC */
/*
 * The parser's operands: names, strings, displays and comprehensions, and
 * the calls, indices and attributes that follow them.
 *
 * A name is bound when the comprehension around it has been read, because the
 * element of a comprehension precedes its targets.  p->refs lists the names
 * in source order; .up of an unbound name counts the comprehensions that were
 * closed around it, which is the distance to its variable.  The first
 * iterable of a comprehension belongs to the enclosing scope.
 */
#include "lib/py/expr_internal.h"

#include <string.h>

static bool
is_keyword(struct str s)
{
	static const char *const all[] = { "and", "as", "assert", "async",
		"await", "break", "class", "continue", "def", "del", "elif",
		"else", "except", "finally", "for", "from", "global", "if",
		"import", "in", "is", "lambda", "nonlocal", "not", "or",
		"pass", "raise", "return", "try", "while", "with", "yield" };
	size_t i;

	if (s.n < 2 || s.n > 8)
		return false;
	for (i = 0; i < COUNTOF(all); i++)
		if (s.p[0] == all[i][0] && str_is(s, all[i]))
			return true;
	return false;
}

static struct node *
constant(struct parser *p, struct value v)
{
	struct node *n = expr_new(p, EXPR_OP_CONST, p->tok.at);

	n->u.value = v;
	return expr_lex_next(p) == -1 ? NULL : n;
}

static struct node *
text_node(struct parser *p, struct str s, size_t at)
{
	struct node *n = expr_new(p, EXPR_OP_CONST, at);
	struct text *t = NEW(p->arena, struct text);

	*t = (struct text){ .p = s.p, .n = s.n, .len = EXPR_UNKNOWN,
		.constant = true };
	expr_len(t);
	n->u.value.kind = EXPR_STR;
	n->u.value.u.text = t;
	return n;
}

/* Names. */

static struct node *
reference(struct parser *p)
{
	struct node *n = expr_new(p, EXPR_OP_GLOBAL, p->tok.at), **v;

	n->u.var.name = expr_lex_text(p);
	if (n->u.var.name.n > 1 && n->u.var.name.p[0] == '_' &&
	    n->u.var.name.p[1] == '_')
		return expr_fail(p, "name that begins with __");
	if (p->nrefs == p->caprefs) {
		p->caprefs = p->caprefs == 0 ? 16 : p->caprefs * 2;
		v = NEW_N(p->arena, struct node *, p->caprefs);
		if (p->nrefs > 0)
			memcpy(v, p->refs, p->nrefs * sizeof(*v));
		p->refs = v;
	}
	p->refs[p->nrefs++] = n;
	return expr_lex_next(p) == -1 ? NULL : n;
}

static struct node *
name(struct parser *p)
{
	struct str s = expr_lex_text(p);

	if (str_is(s, "True") || str_is(s, "False"))
		return constant(p, expr_bool(s.n == 4));
	if (str_is(s, "None"))
		return constant(p, expr_none());
	if (is_keyword(s))
		return expr_fail(p, "unexpected keyword");
	return reference(p);
}

/* Adjacent strings are joined. */
static struct node *
strings(struct parser *p)
{
	size_t at = p->tok.at, pieces = 0;
	struct buf b = { 0 };
	struct str s = { NULL, 0 };
	int rc = 0;

	while (p->tok.kind == LEX_STRING && rc == 0) {
		rc = expr_lex_string(p, &s);
		if (rc == 0) {
			buf_put(&b, s);
			pieces++;
			rc = expr_lex_next(p);
		}
	}
	if (rc == 0 && pieces > 1)
		s = arena_str(p->arena, buf_str(&b));
	buf_free(&b);
	return rc == -1 ? NULL : text_node(p, s, at);
}

/* Comprehensions. */

struct comp {
	struct node *node, **tail;
	size_t refs;		/* its first name in p->refs */
	size_t first, first_end;	/* names in the first iterable */
	struct str names[32];	/* of its targets */
	size_t nnames;
};

static struct node *
target(struct parser *p, struct comp *c)
{
	struct str name = expr_lex_text(p);
	struct node *n;
	size_t i;

	if (p->tok.kind != LEX_NAME || is_keyword(name) ||
	    str_is(name, "True") || str_is(name, "None") ||
	    str_is(name, "False") || str_starts(name, STR("__")))
		return expr_fail(p, "unsupported target");
	n = expr_new(p, EXPR_OP_LOCAL, p->tok.at);
	n->u.var.name = name;
	for (i = 0; i < c->nnames; i++)
		if (str_eq(c->names[i], name))
			break;
	if (i == COUNTOF(c->names))
		return expr_fail(p, "too many variables");
	if (i == c->nnames)
		c->names[c->nnames++] = name;
	n->u.var.slot = (uint32_t)i;
	return expr_lex_next(p) == -1 ? NULL : n;
}

/* One name, or several that the elements are unpacked into. */
static struct node *
targets(struct parser *p, struct comp *c)
{
	struct node *name = target(p, c), *n, **tail;

	if (name == NULL || !expr_is_op(p, ','))
		return name;
	n = expr_new(p, EXPR_OP_TUPLE, name->at);
	tail = &n->kid;
	while (expr_add(p, n, &tail, name) != NULL) {
		if (!expr_is_op(p, ','))
			return n;
		if (expr_lex_next(p) == -1)
			return NULL;
		name = target(p, c);
	}
	return NULL;
}

/* for target in iterable if condition ... */
static struct node *
clause(struct parser *p, struct comp *c)
{
	struct node *n = expr_new(p, EXPR_OP_FOR, p->tok.at);
	struct node **tail = &n->kid;
	bool first = c->first == SIZE_MAX;

	if (expr_lex_next(p) == -1 ||
	    expr_add(p, n, &tail, targets(p, c)) == NULL)
		return NULL;
	if (!expr_lex_is(p, "in"))
		return expr_fail(p, "unexpected token");
	if (first)
		c->first = p->nrefs;
	if (expr_lex_next(p) == -1 ||
	    expr_add(p, n, &tail, expr_or(p)) == NULL)
		return NULL;
	if (first)
		c->first_end = p->nrefs;
	while (expr_lex_is(p, "if"))
		if (expr_lex_next(p) == -1 ||
		    expr_add(p, n, &tail, expr_or(p)) == NULL)
			return NULL;
	return n;
}

static void
bind(struct parser *p, const struct comp *c)
{
	struct node *n;
	size_t i, k;

	for (i = c->refs; i < p->nrefs; i++) {
		n = p->refs[i];
		if (n->bound || (i >= c->first && i < c->first_end))
			continue;
		for (k = 0; k < c->nnames; k++)
			if (str_eq(n->u.var.name, c->names[k]))
				break;
		if (k < c->nnames) {
			n->op = EXPR_OP_LOCAL;
			n->u.var.slot = (uint32_t)k;
			n->bound = true;
		} else
			n->u.var.up++;
	}
}

/* Reads from the first "for"; val is the value of a dict, or NULL. */
static struct node *
comprehension(struct parser *p, enum expr_comp kind, size_t refs,
    struct node *element, struct node *val)
{
	struct comp c = { .refs = refs, .first = SIZE_MAX };

	c.node = expr_new(p, EXPR_OP_COMP, element->at);
	c.node->what = (uint8_t)kind;
	c.tail = &c.node->kid;
	if (expr_add(p, c.node, &c.tail, element) == NULL ||
	    (val != NULL && expr_add(p, c.node, &c.tail, val) == NULL))
		return NULL;
	while (expr_lex_is(p, "for"))
		if (expr_add(p, c.node, &c.tail, clause(p, &c)) == NULL)
			return NULL;
	bind(p, &c);
	c.node->nslots = (uint16_t)c.nnames;
	return c.node;
}

/* Displays. */

/* The rest of a list of expressions, with the closing bracket. */
static struct node *
elements(struct parser *p, struct node *n, struct node *first, unsigned close)
{
	struct node **tail = &n->kid;

	if (first != NULL && expr_add(p, n, &tail, first) == NULL)
		return NULL;
	while (expr_is_op(p, ',') && n->nkids > 0) {
		if (expr_lex_next(p) == -1)
			return NULL;
		if (expr_is_op(p, close))
			break;
		if (expr_add(p, n, &tail, expr_any(p)) == NULL)
			return NULL;
	}
	return expr_take_op(p, close) == -1 ? NULL : n;
}

static struct node *
display(struct parser *p, enum expr_op op, enum expr_comp comp, unsigned close,
    struct node *first, size_t refs)
{
	struct node *n;

	if (first == NULL)
		return NULL;
	if (expr_lex_is(p, "for")) {
		n = comprehension(p, comp, refs, first, NULL);
		return n == NULL || expr_take_op(p, close) == -1 ? NULL : n;
	}
	return elements(p, expr_new(p, op, first->at), first, close);
}

static struct node *
list(struct parser *p)
{
	size_t at = p->tok.at, refs = p->nrefs;

	if (expr_lex_next(p) == -1)
		return NULL;
	if (expr_is_op(p, ']'))
		return elements(p, expr_new(p, EXPR_OP_LIST, at), NULL, ']');
	return display(p, EXPR_OP_LIST, EXPR_COMP_LIST, ']', expr_any(p),
	    refs);
}

static struct node *
parens(struct parser *p)
{
	size_t at = p->tok.at, refs = p->nrefs;
	struct node *first;

	if (expr_lex_next(p) == -1)
		return NULL;
	if (expr_is_op(p, ')'))
		return elements(p, expr_new(p, EXPR_OP_TUPLE, at), NULL, ')');
	first = expr_any(p);
	if (first != NULL && expr_is_op(p, ')'))
		return expr_lex_next(p) == -1 ? NULL : first;
	return display(p, EXPR_OP_TUPLE, EXPR_COMP_GEN, ')', first, refs);
}

static struct node *
dict(struct parser *p, struct node *key, size_t refs)
{
	struct node *n = expr_new(p, EXPR_OP_DICT, key->at);
	struct node **tail = &n->kid, *val;

	for (;;) {
		if (expr_take_op(p, ':') == -1 || (val = expr_any(p)) == NULL)
			return NULL;
		if (n->nkids == 0 && expr_lex_is(p, "for")) {
			n = comprehension(p, EXPR_COMP_DICT, refs, key, val);
			return n == NULL || expr_take_op(p, '}') == -1 ? NULL :
			    n;
		}
		if (expr_add(p, n, &tail, key) == NULL ||
		    expr_add(p, n, &tail, val) == NULL)
			return NULL;
		if (!expr_is_op(p, '}') && expr_take_op(p, ',') == -1)
			return NULL;
		if (expr_is_op(p, '}'))
			return expr_lex_next(p) == -1 ? NULL : n;
		key = expr_any(p);
		if (key == NULL)
			return NULL;
	}
}

static struct node *
braces(struct parser *p)
{
	size_t at = p->tok.at, refs = p->nrefs;
	struct node *first;

	if (expr_lex_next(p) == -1)
		return NULL;
	if (expr_is_op(p, '}'))
		return elements(p, expr_new(p, EXPR_OP_DICT, at), NULL, '}');
	first = expr_any(p);
	if (first == NULL)
		return NULL;
	if (expr_is_op(p, ':'))
		return dict(p, first, refs);
	return display(p, EXPR_OP_SET, EXPR_COMP_SET, '}', first, refs);
}

/* Operands. */

static struct node *
atom(struct parser *p)
{
	struct value v;

	if (p->tok.kind == LEX_NAME)
		return name(p);
	if (p->tok.kind == LEX_STRING)
		return strings(p);
	if (p->tok.kind == LEX_NUMBER)
		return expr_lex_number(p, &v) == -1 ? NULL :
		    constant(p, v);
	if (expr_is_op(p, '('))
		return parens(p);
	if (expr_is_op(p, '['))
		return list(p);
	if (expr_is_op(p, '{'))
		return braces(p);
	return expr_fail(p, p->tok.kind == LEX_END ? "unexpected end" :
	    "unexpected token");
}

/* One argument: x, name=x, or a generator as the only one. */
static struct node *
argument(struct parser *p, const struct node *call)
{
	size_t refs = p->nrefs, at = p->tok.at;
	struct node *x = expr_any(p), *n;

	if (x == NULL)
		return NULL;
	if (expr_is_op(p, '=')) {
		if (x->op != EXPR_OP_GLOBAL || x->at != at ||
		    p->nrefs != refs + 1)
			return expr_fail(p, "unexpected token");
		p->nrefs = refs;	/* not a variable */
		n = expr_new(p, EXPR_OP_KEYWORD, x->at);
		n->u.name = x->u.var.name;
		if (expr_lex_next(p) == -1)
			return NULL;
		x = expr_any(p);
		if (x == NULL)
			return NULL;
		n->kid = x;
		n->nkids = 1;
		n->depth = (uint16_t)(x->depth + 1);
		return n;
	}
	if (expr_lex_is(p, "for")) {
		if (call->nkids > 1)
			return expr_fail(p, "generator without parentheses");
		x = comprehension(p, EXPR_COMP_GEN, refs, x, NULL);
		if (x != NULL && !expr_is_op(p, ')'))
			return expr_fail(p, "generator without parentheses");
	}
	return x;
}

static struct node *
call(struct parser *p, struct node *what)
{
	struct node *n = expr_new(p, EXPR_OP_CALL, p->tok.at);
	struct node **tail = &n->kid, *x, *y;
	bool named = false;

	if (expr_add(p, n, &tail, what) == NULL || expr_lex_next(p) == -1)
		return NULL;
	while (!expr_is_op(p, ')')) {
		x = argument(p, n);
		if (x == NULL)
			return NULL;
		if (named && x->op != EXPR_OP_KEYWORD)
			return expr_fail(p, "unnamed after named argument");
		named = named || x->op == EXPR_OP_KEYWORD;
		for (y = n->kid->next; named && y != NULL; y = y->next)
			if (y->op == EXPR_OP_KEYWORD &&
			    str_eq(y->u.name, x->u.name))
				return expr_fail(p, "repeated argument name");
		if (expr_add(p, n, &tail, x) == NULL)
			return NULL;
		if (expr_is_op(p, ',') ? expr_lex_next(p) == -1 :
		    !expr_is_op(p, ')'))
			return expr_fail(p, "unexpected token");
	}
	if (n->nkids > EXPR_ARGS_MAX + 1)
		return expr_fail(p, "too many arguments");
	return expr_lex_next(p) == -1 ? NULL : n;
}

/* A bound of a slice; None if it is absent. */
static struct node *
bound(struct parser *p)
{
	if (expr_is_op(p, ':') || expr_is_op(p, ']'))
		return expr_new(p, EXPR_OP_CONST, p->tok.at);
	return expr_any(p);
}

static struct node *
slice(struct parser *p, struct node *of, struct node *from)
{
	struct node *n = expr_of(p, EXPR_OP_SLICE, of->at, of, from);
	struct node **tail = &from->next;

	if (n == NULL || expr_take_op(p, ':') == -1 ||
	    expr_add(p, n, &tail, bound(p)) == NULL ||
	    expr_take_op(p, ']') == -1)
		return NULL;
	return n;
}

static struct node *
subscript(struct parser *p, struct node *of)
{
	struct node *x, *n;

	if (expr_lex_next(p) == -1)
		return NULL;
	if (expr_is_op(p, ']'))
		return expr_fail(p, "unexpected token");
	x = bound(p);
	if (x == NULL)
		return NULL;
	if (expr_is_op(p, ':'))
		return slice(p, of, x);
	if (expr_is_op(p, ','))
		return expr_fail(p, "several indices");
	n = expr_of(p, EXPR_OP_INDEX, of->at, of, x);
	return n == NULL || expr_take_op(p, ']') == -1 ? NULL : n;
}

static struct node *
attribute(struct parser *p, struct node *of)
{
	struct node *n;

	if (expr_lex_next(p) == -1)
		return NULL;
	if (p->tok.kind != LEX_NAME || is_keyword(expr_lex_text(p)))
		return expr_fail(p, "unexpected token");
	/* decline now, so that a missing python3 is found before the run */
	if (expr_attr_unsupported(expr_lex_text(p)))
		return expr_fail(p, "unsupported method");
	n = expr_of(p, EXPR_OP_ATTR, p->tok.at, of, NULL);
	if (n == NULL)
		return NULL;
	n->u.name = expr_lex_text(p);
	return expr_lex_next(p) == -1 ? NULL : n;
}

struct node *
expr_primary(struct parser *p)
{
	struct node *n = atom(p);

	while (n != NULL)
		if (expr_is_op(p, '.'))
			n = attribute(p, n);
		else if (expr_is_op(p, '('))
			n = call(p, n);
		else if (expr_is_op(p, '['))
			n = subscript(p, n);
		else
			break;
	return n;
}
