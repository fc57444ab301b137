/* SPDX-License-Identifier: ISC */
/*
 * The parser's operands: names, strings, displays, comprehensions, and what
 * may follow them.
 *
 * A name is bound when the comprehension around it has been read, for its
 * element comes before its targets.  p->refs has the names in the order of
 * the source; `up` of one that is not yet bound counts the comprehensions
 * that were closed around it, which is how far away its variable will be.
 * The first iterable of a comprehension is not inside of it.
 */
#include "lib/py/expr_lex.h"

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
		.fixed = true };
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
		return expr_fail(p, "a name that begins with __");
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
		return expr_fail(p, "a keyword that is not expected here");
	return reference(p);
}

/* Strings. */

/* What stands in braces; p->tok is behind it afterwards. */
static struct node *
field(struct parser *p, size_t at, size_t to)
{
	struct parser save = *p;
	struct node *n = expr_new(p, EXPR_OP_FIELD, at), **tail = &n->kid, *x;
	size_t end;

	p->s.n = to;
	p->i = at;
	p->brackets = 1;
	p->in_format = true;
	if (expr_lex_next(p) == -1 || (x = expr_any(p)) == NULL ||
	    expr_add(p, n, &tail, x) == NULL)
		return NULL;
	if (expr_is_op(p, '!')) {
		n->what = (uint8_t)(p->i < to ? p->s.p[p->i] : 0);
		p->i++;
		if ((n->what != 'r' && n->what != 's') || p->i >= to ||
		    strchr(":}", p->s.p[p->i]) == NULL)
			return expr_fail(p, "a conversion like this");
		if (expr_lex_next(p) == -1)
			return NULL;
	}
	end = p->tok.at;
	if (expr_is_op(p, ':')) {
		for (end = p->i; end < to && p->s.p[end] != '}'; end++)
			if (strchr("{\\\n", p->s.p[end]) != NULL)
				return expr_fail(p, "a format like this");
		n->u.name = (struct str){ p->s.p + p->i, end - p->i };
	} else if (!expr_is_op(p, '}'))
		return expr_fail(p, "not what is expected in braces");
	if (end >= to)
		return expr_fail(p, "a brace without its end");
	save.refs = p->refs;
	save.nrefs = p->nrefs;
	save.caprefs = p->caprefs;
	*p = save;
	n->at = (uint32_t)end + 1;
	return n;
}

/* The parts of one f'' appended to n. */
static struct node *
format_parts(struct parser *p, struct node *n, struct node ***tail)
{
	struct token t = p->tok;
	size_t i = t.body, end;
	struct node *x;
	struct str s;

	while (i < t.body_end) {
		if (expr_literal_text(p, i, t.body_end, t.raw, t.format,
		    &end, &s) == -1)
			return NULL;
		if (s.n > 0 && expr_add(p, n, tail, text_node(p, s, i)) == NULL)
			return NULL;
		if (end == t.body_end)
			break;
		if (p->s.p[end] == '}')
			return expr_fail(p, "a brace alone");
		if (p->in_format)
			return expr_fail(p, "an f'' in an f''");
		x = field(p, end + 1, t.body_end);
		if (x == NULL || expr_add(p, n, tail, x) == NULL)
			return NULL;
		i = x->at;
	}
	return n;
}

/* Adjacent strings are one. */
static struct node *
strings(struct parser *p)
{
	struct node *n = expr_new(p, EXPR_OP_FORMAT, p->tok.at);
	struct node **tail = &n->kid, *kid;
	bool format = false;
	struct buf b = { 0 };
	struct str s;

	while (p->tok.kind == LEX_STRING) {
		format = format || p->tok.format;
		if (format_parts(p, n, &tail) == NULL ||
		    expr_lex_next(p) == -1)
			return NULL;
	}
	if (format)
		return n;
	if (n->nkids == 1)
		return n->kid;
	for (kid = n->kid; kid != NULL; kid = kid->next)
		buf_put(&b, (struct str){ kid->u.value.u.text->p,
		    kid->u.value.u.text->n });
	s = arena_str(p->arena, buf_str(&b));
	buf_free(&b);
	return text_node(p, s, n->at);
}

/* Comprehensions. */

struct comp {
	struct node *node, **tail;
	size_t refs;		/* where its names begin */
	size_t first, first_end;	/* names of the first iterable */
	struct str names[32];	/* of its targets */
	size_t nnames;
};

static struct node *target_list(struct parser *, struct comp *, bool *many);

static struct node *
target(struct parser *p, struct comp *c)
{
	unsigned close = expr_is_op(p, '(') ? ')' :
	    expr_is_op(p, '[') ? ']' : 0;
	struct node *n;
	size_t i;
	bool many;

	if (close != 0) {
		if (++p->depth > EXPR_DEPTH_MAX || expr_lex_next(p) == -1)
			return expr_fail(p, "a target like this");
		n = target_list(p, c, &many);
		p->depth--;
		if (n == NULL || expr_take_op(p, close) == -1)
			return NULL;
		return many || close == ')' ? n :
		    expr_of(p, EXPR_OP_TUPLE, n->at, n, NULL);
	}
	if (p->tok.kind != LEX_NAME || is_keyword(expr_lex_text(p)))
		return expr_fail(p, "a target like this");
	n = expr_new(p, EXPR_OP_LOCAL, p->tok.at);
	n->u.var.name = expr_lex_text(p);
	if (str_is(n->u.var.name, "True") || str_is(n->u.var.name, "None") ||
	    str_is(n->u.var.name, "False") || str_starts(n->u.var.name,
	    STR("__")))
		return expr_fail(p, "a target like this");
	for (i = 0; i < c->nnames; i++)
		if (str_eq(c->names[i], n->u.var.name))
			break;
	if (i == COUNTOF(c->names))
		return expr_fail(p, "so many variables");
	if (i == c->nnames)
		c->names[c->nnames++] = n->u.var.name;
	n->u.var.slot = (uint32_t)i;
	return expr_lex_next(p) == -1 ? NULL : n;
}

static struct node *
target_list(struct parser *p, struct comp *c, bool *many)
{
	struct node *first = target(p, c), *n, **tail;

	*many = false;
	if (first == NULL || !expr_is_op(p, ','))
		return first;
	*many = true;
	n = expr_new(p, EXPR_OP_TUPLE, first->at);
	tail = &n->kid;
	for (;;) {
		if (expr_add(p, n, &tail, first) == NULL)
			return NULL;
		if (!expr_is_op(p, ','))
			return n;
		if (expr_lex_next(p) == -1)
			return NULL;
		if (expr_is_op(p, ')') || expr_is_op(p, ']') ||
		    expr_lex_is(p, "in"))
			return n;
		first = target(p, c);
	}
}

/* for target in iterable if condition ... */
static struct node *
clause(struct parser *p, struct comp *c)
{
	struct node *n = expr_new(p, EXPR_OP_FOR, p->tok.at);
	struct node **tail = &n->kid;
	bool first = c->first == SIZE_MAX, many;

	if (expr_lex_next(p) == -1 ||
	    expr_add(p, n, &tail, target_list(p, c, &many)) == NULL)
		return NULL;
	if (!expr_lex_is(p, "in"))
		return expr_fail(p, "not what is expected here");
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

/* From its first "for"; element and, of a dict, val are read already. */
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

/* The rest of a list of expressions, up to close, which is taken too. */
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
		return expr_literal_number(p, &v) == -1 ? NULL :
		    constant(p, v);
	if (expr_is_op(p, '('))
		return parens(p);
	if (expr_is_op(p, '['))
		return list(p);
	if (expr_is_op(p, '{'))
		return braces(p);
	return expr_fail(p, p->tok.kind == LEX_END ? "it ends too early" :
	    "not what is expected here");
}

/* One argument: x, name=x, or all there is: x for ... */
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
			return expr_fail(p, "not what is expected here");
		p->nrefs = refs;	/* a name, but not of a variable */
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
			return expr_fail(p, "a generator without parentheses");
		x = comprehension(p, EXPR_COMP_GEN, refs, x, NULL);
		if (x != NULL && !expr_is_op(p, ')'))
			return expr_fail(p, "a generator without parentheses");
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
			return expr_fail(p, "an argument without a name here");
		named = named || x->op == EXPR_OP_KEYWORD;
		for (y = n->kid->next; named && y != NULL; y = y->next)
			if (y->op == EXPR_OP_KEYWORD &&
			    str_eq(y->u.name, x->u.name))
				return expr_fail(p, "a name given twice");
		if (expr_add(p, n, &tail, x) == NULL)
			return NULL;
		if (expr_is_op(p, ',') ? expr_lex_next(p) == -1 :
		    !expr_is_op(p, ')'))
			return expr_fail(p, "not what is expected here");
	}
	if (n->nkids > EXPR_ARGS_MAX + 1)
		return expr_fail(p, "so many arguments");
	return expr_lex_next(p) == -1 ? NULL : n;
}

/* A bound of a slice, or None where there is none. */
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
	struct node *n = expr_new(p, EXPR_OP_SLICE, of->at);
	struct node **tail = &n->kid;

	if (expr_add(p, n, &tail, of) == NULL ||
	    expr_add(p, n, &tail, from) == NULL ||
	    expr_take_op(p, ':') == -1 ||
	    expr_add(p, n, &tail, bound(p)) == NULL)
		return NULL;
	if (!expr_is_op(p, ']') && expr_take_op(p, ':') == -1)
		return NULL;
	if (expr_add(p, n, &tail, bound(p)) == NULL ||
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
		return expr_fail(p, "not what is expected here");
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
		return expr_fail(p, "not what is expected after a dot");
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
