/* SPDX-License-Identifier: ISC */
/*
 * expr_lex.h: expr_.  Internal: the words of an
 * expression, what literals mean, and the parser that puts them together.
 */
#ifndef WAZA_EXPR_LEX_H
#define WAZA_EXPR_LEX_H

#include "base/base.h"
#include "lib/py/expr_internal.h"

enum lex_kind {
	LEX_END,
	LEX_NAME,
	LEX_NUMBER,
	LEX_STRING,
	LEX_OP
};

/* How operators of several characters are written in `op`. */
#define LEX2(a, b) ((a) << 8 | (b))

struct token {
	enum lex_kind kind;
	unsigned op;		/* a character, or two by LEX2 */
	size_t at, end;		/* in the source */
	size_t body, body_end;	/* of a string, between its quotes */
	bool raw, format;	/* r'' and f'' */
};

struct parser {
	struct arena *arena;
	struct err *err;
	struct str s;
	size_t i;		/* behind the token */
	unsigned brackets;	/* open around i: lines do not end in them */
	unsigned depth;
	bool in_format;		/* within the braces of an f'' */
	struct token tok;
	struct node **refs;	/* names in order, to be bound */
	size_t nrefs, caprefs;
};

int expr_lex_fail(struct parser *, size_t at, const char *why);	/* -1 */
int expr_lex_next(struct parser *);	/* the next token into p->tok */
struct str expr_lex_text(const struct parser *);	/* of the token */
bool expr_lex_is(const struct parser *, const char *keyword);

/* The number of the token. */
int expr_literal_number(struct parser *, struct value *);
/*
 * The characters of [from, to) of the source with their escapes, unless raw,
 * up to a brace when it is of an f''.  Where it ended, in *end.
 */
int expr_literal_text(struct parser *, size_t from, size_t to, bool raw,
    bool format, size_t *end, struct str *);

/* Each returns NULL, or -1, after a failure. */
struct node *expr_fail(struct parser *, const char *why);
struct node *expr_new(struct parser *, enum expr_op, size_t at);
/* Appends a kid (NULL: did not become one), *tail being the last next. */
struct node *expr_add(struct parser *, struct node *,
    struct node ***tail, struct node *kid);
struct node *expr_of(struct parser *, enum expr_op, size_t at,
    struct node *, struct node *);
bool expr_is_op(const struct parser *, unsigned op);
int expr_take_op(struct parser *, unsigned op);
struct node *expr_any(struct parser *);	/* an expression */
struct node *expr_or(struct parser *);	/* one without if, else */
struct node *expr_primary(struct parser *);

#endif
