/* SPDX-License-Identifier: ISC */
/*
 * expr.h: expr_.  Python expressions over a value tree, without Python.
 *
 * The subset that `code` graders use.  Its answer is Python 3's or none: what
 * is outside the subset, or where we are not sure to the last bit of what
 * Python would say, is declined, and somebody else may ask Python.  A raised
 * exception is an answer too, with Python's text for it.
 *
 * Texts are UTF-8 and count in code points, as Python's do.  An expression
 * takes time and memory in bounds: what passes them is declined as well.
 */
#ifndef WAZA_EXPR_H
#define WAZA_EXPR_H

#include "base/base.h"

struct json;

enum {
	EXPR_SOURCE_MAX = 64 << 10,	/* bytes of an expression */
	EXPR_DEPTH_MAX  = 100,		/* nesting */
	EXPR_STEPS_MAX  = 1 << 24,	/* values made, 64 bytes looked at */
	EXPR_MEMORY_MAX = 64 << 20	/* bytes of values made */
};

struct expr;

enum expr_status {
	EXPR_TRUE,		/* the value is true in Python's sense */
	EXPR_FALSE,
	EXPR_RAISED,		/* an exception: e->msg is its text */
	EXPR_DECLINED		/* e->msg says of what it is not sure */
};

/*
 * NULL when the source is declined: ERR_LIMIT or ERR_SYNTAX with .col the
 * byte (from 1).  Whether Python would take it is not said by that.  The
 * source has to outlive the expression.
 */
struct expr *expr_compile(struct arena *, struct str source, struct err *);

/*
 * Evaluates with the members of `names` (an object) as global variables, seen
 * from within comprehensions too; builtins, unless a member has their name,
 * are len any all str int float bool list dict re True False None.  Numbers
 * are int where json.loads() makes them so.  Values are made in tmp.  Texts
 * in `names` are valid UTF-8; of others the answer is any.
 */
enum expr_status expr_eval(const struct expr *, const struct json *names,
    struct arena *tmp, struct err *);

#endif
