/* SPDX-License-Identifier: ISC */
/*
 * expr.h: expr_.  Evaluates Python expressions over a value tree, without
 * Python.
 *
 * It implements the subset that `code` graders use: operators, comparisons,
 * comprehensions, common methods of str, list and dict, and the module re.
 * The result is the one of Python 3.9 and newer or none: an expression outside
 * the subset, or one whose result could differ between Python versions, is
 * declined, and the caller can pass it to python3.  An exception is a result
 * as well, with Python's text.
 *
 * Texts are UTF-8 and are counted in code points, as in Python.  Size, time and
 * memory are limited.  An expression that exceeds a limit is not declined: it
 * would cost Python at least as much.
 */
#ifndef WAZA_EXPR_H
#define WAZA_EXPR_H

#include "base/base.h"

struct json;

enum {
	EXPR_SOURCE_MAX = 64 << 10,	/* bytes of an expression */
	EXPR_DEPTH_MAX  = 100,		/* nesting */
	EXPR_STEPS_MAX  = 1 << 24,	/* values made or 64 bytes read */
	EXPR_MEMORY_MAX = 64 << 20	/* bytes of values made */
};

struct expr;

enum expr_status {
	EXPR_TRUE,		/* the value is true in Python's sense */
	EXPR_FALSE,
	EXPR_RAISED,		/* an exception; e->msg is its text */
	EXPR_DECLINED,		/* e->msg names the unsupported part */
	EXPR_LIMIT		/* e->msg names the exceeded limit */
};

/*
 * Returns NULL if the source exceeds a limit (ERR_LIMIT), or is declined
 * (ERR_SYNTAX); .col is the byte (from 1).  Python may accept a declined source
 * or not.  The expression is allocated in the arena and refers to the source.
 */
struct expr *expr_compile(struct arena *, struct str source, struct err *);

/* Evaluations also take from this budget; EXPR_LIMIT if it is spent. */
void expr_limit(struct expr *, struct budget *);

/*
 * Evaluates with the members of `names` (an object) as global variables, also
 * inside comprehensions.  The other names are the builtins len any all str
 * int float bool list dict, the module re and the constants; a member of the
 * same name takes precedence.  Numbers are int or float as json.loads() makes
 * them.  Values are allocated in tmp.  Texts in `names` have to be valid
 * UTF-8; otherwise the result is unspecified.
 */
enum expr_status expr_eval(const struct expr *, const struct json *names,
    struct arena *tmp, struct err *);

#endif
