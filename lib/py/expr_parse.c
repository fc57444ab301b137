/* SPDX-License-Identifier: ISC */
/*
 * The parser's operators: recursive descent into a tree of nodes.
 *
 * Two depths are limited: that of the recursion, and that of the tree, which
 * a chain of operators makes deep without recursion.  Python's limits are
 * much higher.
 */
#include "lib/py/expr_internal.h"

#include <string.h>

struct node *
expr_fail(struct parser *p, const char *why)
{
	expr_lex_fail(p, p->tok.at, why);
	return NULL;
}

struct node *
expr_new(struct parser *p, enum expr_op op, size_t at)
{
	struct node *n = NEW(p->arena, struct node);

	n->op = (uint8_t)op;
	n->at = (uint32_t)at;
	n->depth = 1;
	return n;
}

static struct node *
too_deep(struct parser *p, size_t at)
{
	err_set(p->err, ERR_LIMIT, "nests deeper than %d levels",
	    EXPR_DEPTH_MAX);
	err_at(p->err, 0, (unsigned)at + 1);
	return NULL;
}

struct node *
expr_add(struct parser *p, struct node *n, struct node ***tail,
    struct node *kid)
{
	if (kid == NULL)
		return NULL;
	if (kid->depth >= n->depth)
		n->depth = (uint16_t)(kid->depth + 1);
	if (n->depth > EXPR_DEPTH_MAX)
		return too_deep(p, n->at);
	**tail = kid;
	*tail = &kid->next;
	n->nkids++;
	return n;
}

struct node *
expr_of(struct parser *p, enum expr_op op, size_t at, struct node *a,
    struct node *b)
{
	struct node *n = expr_new(p, op, at), **tail = &n->kid;

	if (expr_add(p, n, &tail, a) == NULL)
		return NULL;
	return b == NULL ? n : expr_add(p, n, &tail, b);
}

bool
expr_is_op(const struct parser *p, unsigned op)
{
	return p->tok.kind == LEX_OP && p->tok.op == op;
}

int
expr_take_op(struct parser *p, unsigned op)
{
	if (!expr_is_op(p, op)) {
		expr_fail(p, "unexpected token");
		return -1;
	}
	return expr_lex_next(p);
}

/* Operators. */

static const struct {
	unsigned op;
	enum expr_arith what;
	unsigned level;
} operators[] = {
	{ '|', EXPR_BITOR, 1 },
	{ '+', EXPR_ADD, 2 },
	{ '-', EXPR_SUB, 2 },
	{ '*', EXPR_MUL, 3 },
	{ '/', EXPR_DIV, 3 },
	{ LEX2('/', '/'), EXPR_FLOOR, 3 },
	{ '%', EXPR_MOD, 3 },
};

static struct node *unary(struct parser *);

/* An operand of a sign or of "**", which itself may have a sign. */
static struct node *
nested_unary(struct parser *p)
{
	struct node *n;

	if (expr_lex_next(p) == -1)
		return NULL;
	if (++p->depth > EXPR_DEPTH_MAX)
		return too_deep(p, p->tok.at);
	n = unary(p);
	p->depth--;
	return n;
}

/* "**" takes precedence over a sign on its left and groups to the right. */
static struct node *
power(struct parser *p)
{
	struct node *n = expr_primary(p), *exponent;

	if (n == NULL || !expr_is_op(p, LEX2('*', '*')))
		return n;
	exponent = nested_unary(p);
	n = exponent == NULL ? NULL :
	    expr_of(p, EXPR_OP_BINARY, n->at, n, exponent);
	if (n != NULL)
		n->what = EXPR_POW;
	return n;
}

static struct node *
unary(struct parser *p)
{
	size_t at = p->tok.at;
	unsigned op = p->tok.op;
	struct node *n;

	if (!expr_is_op(p, '-') && !expr_is_op(p, '+'))
		return power(p);
	n = nested_unary(p);
	n = n == NULL ? NULL : expr_of(p, EXPR_OP_UNARY, at, n, NULL);
	if (n != NULL)
		n->what = (uint8_t)op;
	return n;
}

static struct node *
binary(struct parser *p, unsigned min)
{
	struct node *n = unary(p), *x;
	size_t i;

	while (n != NULL && p->tok.kind == LEX_OP) {
		for (i = 0; i < COUNTOF(operators); i++)
			if (operators[i].op == p->tok.op)
				break;
		if (i == COUNTOF(operators) || operators[i].level < min)
			break;
		if (expr_lex_next(p) == -1)
			return NULL;
		x = binary(p, operators[i].level + 1);
		n = x == NULL ? NULL : expr_of(p, EXPR_OP_BINARY, n->at, n, x);
		if (n != NULL)
			n->what = (uint8_t)operators[i].what;
	}
	return n;
}

/* Reads a comparison operator: 1, 0 if there is none, -1. */
static int
relation(struct parser *p, enum expr_rel *rel)
{
	static const struct {
		unsigned op;
		enum expr_rel rel;
	} all[] = {
		{ '<', EXPR_LT }, { '>', EXPR_GT },
		{ LEX2('=', '='), EXPR_EQ }, { LEX2('!', '='), EXPR_NE },
		{ LEX2('<', '='), EXPR_LE }, { LEX2('>', '='), EXPR_GE },
	};
	size_t i;

	*rel = EXPR_EQ;
	for (i = 0; p->tok.kind == LEX_OP && i < COUNTOF(all); i++)
		if (all[i].op == p->tok.op) {
			*rel = all[i].rel;
			return expr_lex_next(p) == -1 ? -1 : 1;
		}
	if (expr_lex_is(p, "in"))
		*rel = EXPR_IN;
	else if (expr_lex_is(p, "is"))
		*rel = EXPR_IS;
	else if (expr_lex_is(p, "not"))
		*rel = EXPR_NOT_IN;
	else
		return 0;
	if (expr_lex_next(p) == -1)
		return -1;
	if (*rel == EXPR_NOT_IN && !expr_lex_is(p, "in")) {
		expr_fail(p, "unexpected token");
		return -1;
	}
	if (*rel == EXPR_IS && expr_lex_is(p, "not"))
		*rel = EXPR_IS_NOT;
	if (*rel == EXPR_NOT_IN || *rel == EXPR_IS_NOT)
		return expr_lex_next(p) == -1 ? -1 : 1;
	return 1;
}

static struct node *
comparison(struct parser *p)
{
	struct node *n = binary(p, 1), *all = NULL, **tail = NULL;
	enum expr_rel rel;
	int rc;

	while (n != NULL && (rc = relation(p, &rel)) != 0) {
		if (rc == -1)
			return NULL;
		if (all == NULL) {
			all = expr_new(p, EXPR_OP_COMPARE, n->at);
			tail = &all->kid;
			if (expr_add(p, all, &tail, n) == NULL)
				return NULL;
		}
		n = binary(p, 1);
		if (n == NULL || expr_add(p, all, &tail, n) == NULL)
			return NULL;
		n->rel = (uint8_t)rel;
	}
	return n == NULL ? NULL : all != NULL ? all : n;
}

static struct node *
inversion(struct parser *p)
{
	size_t at = p->tok.at;
	struct node *n;

	if (!expr_lex_is(p, "not"))
		return comparison(p);
	if (expr_lex_next(p) == -1)
		return NULL;
	if (++p->depth > EXPR_DEPTH_MAX)
		return too_deep(p, at);
	n = inversion(p);
	p->depth--;
	return n == NULL ? NULL : expr_of(p, EXPR_OP_NOT, at, n, NULL);
}

/* A chain of "and" or "or", whose operands are kids of one node. */
static struct node *
junction(struct parser *p, enum expr_op op)
{
	const char *word = op == EXPR_OP_AND ? "and" : "or";
	struct node *n, *all = NULL, **tail = NULL;

	for (;;) {
		n = op == EXPR_OP_AND ? inversion(p) :
		    junction(p, EXPR_OP_AND);
		if (n == NULL || (all == NULL && !expr_lex_is(p, word)))
			return n;
		if (all == NULL) {
			all = expr_new(p, op, n->at);
			tail = &all->kid;
		}
		if (expr_add(p, all, &tail, n) == NULL)
			return NULL;
		if (!expr_lex_is(p, word))
			return all;
		if (expr_lex_next(p) == -1)
			return NULL;
	}
}

struct node *
expr_or(struct parser *p)
{
	return junction(p, EXPR_OP_OR);
}

static struct node *
conditional(struct parser *p)
{
	struct node *then = expr_or(p), *n, **tail, *cond;

	if (then == NULL || !expr_lex_is(p, "if"))
		return then;
	n = expr_new(p, EXPR_OP_IF, then->at);
	tail = &n->kid;
	if (expr_lex_next(p) == -1 || (cond = expr_or(p)) == NULL ||
	    expr_add(p, n, &tail, cond) == NULL ||
	    expr_add(p, n, &tail, then) == NULL)
		return NULL;
	if (!expr_lex_is(p, "else"))
		return expr_fail(p, "missing else");
	if (expr_lex_next(p) == -1)
		return NULL;
	return expr_add(p, n, &tail, expr_any(p));
}

struct node *
expr_any(struct parser *p)
{
	struct node *n;

	if (++p->depth > EXPR_DEPTH_MAX)
		return too_deep(p, p->tok.at);
	n = conditional(p);
	p->depth--;
	return n;
}

/* Assigns slots to the global variables. */
static int
number_names(struct parser *p, struct expr *expr)
{
	struct node *n;
	size_t i, k, cap = p->nrefs < EXPR_NAMES_MAX ? p->nrefs :
	    EXPR_NAMES_MAX;

	expr->names = NEW_N(p->arena, struct str, cap);
	for (i = 0; i < p->nrefs; i++) {
		n = p->refs[i];
		if (n->bound)
			continue;
		for (k = 0; k < expr->nnames; k++)
			if (str_eq(expr->names[k], n->u.var.name))
				break;
		if (k == cap) {
			err_set(p->err, ERR_LIMIT, "more than %d names",
			    EXPR_NAMES_MAX);
			return err_at(p->err, 0, n->at + 1);
		}
		if (k == expr->nnames)
			expr->names[expr->nnames++] = n->u.var.name;
		n->u.var.slot = (uint32_t)k;
	}
	return 0;
}

int
expr_parse(struct arena *a, struct str source, struct expr *expr,
    struct err *e)
{
	struct parser p = { .arena = a, .err = e, .s = source };

	if (!utf8_valid(source))
		return expr_lex_fail(&p, 0, "not UTF-8");
	if (source.n > 0 && (memchr(source.p, '\0', source.n) != NULL ||
	    memchr(source.p, '\r', source.n) != NULL ||
	    memchr(source.p, '\f', source.n) != NULL))
		return expr_lex_fail(&p, 0, "control character");
	if (expr_lex_next(&p) == -1)
		return -1;
	expr->root = expr_any(&p);
	if (expr->root == NULL)
		return -1;
	if (p.tok.kind != LEX_END)
		return expr_lex_fail(&p, p.tok.at, "unexpected token");
	return number_names(&p, expr);
}
