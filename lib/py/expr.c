/* SPDX-License-Identifier: ISC */
/*
 * The interface of expressions, and the limits of an evaluation.
 *
 * expr_parse.c compiles the source to a tree of nodes, expr_eval.c walks the
 * tree.  Time and memory are charged to struct eval.
 */
#include "lib/py/expr.h"

#include <stdio.h>
#include <string.h>

#include "lib/py/expr_internal.h"

enum { STEP_COST = 60 };	/* in units of a budget */

static int
exceed(struct eval *ev, const char *what, int limit, const char *unit)
{
	ev->status = EXPR_LIMIT;
	return err_set(ev->err, ERR_LIMIT, "%s more than %d %s", what, limit,
	    unit);
}

int
expr_exceed_steps(struct eval *ev)
{
	return exceed(ev, "takes", EXPR_STEPS_MAX, "steps");
}

int
expr_exceed_memory(struct eval *ev)
{
	return exceed(ev, "needs", EXPR_MEMORY_MAX >> 20, "MiB of memory");
}

int
expr_decline(struct eval *ev, const char *fmt, ...)
{
	va_list ap;

	ev->status = EXPR_DECLINED;
	*ev->err = (struct err){ .code = ERR_SCHEMA };
	va_start(ap, fmt);
	vsnprintf(ev->err->msg, sizeof(ev->err->msg), fmt, ap);
	va_end(ap);
	return -1;
}

/* A truncated text would differ from Python's, so it is declined. */
int
expr_raise(struct eval *ev, const char *fmt, ...)
{
	va_list ap;
	int n;

	ev->status = EXPR_RAISED;
	*ev->err = (struct err){ .code = ERR_SCHEMA };
	va_start(ap, fmt);
	n = vsnprintf(ev->err->msg, sizeof(ev->err->msg), fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof(ev->err->msg))
		return expr_decline(ev, "long text of an exception");
	return -1;
}

int
expr_steps(struct eval *ev, size_t n)
{
	if (n > ev->steps ||
	    !budget_take(ev->expr->budget, (uint64_t)n * STEP_COST))
		return expr_exceed_steps(ev);
	ev->steps -= n;
	return 0;
}

int
expr_bytes(struct eval *ev, size_t n)
{
	return expr_steps(ev, n / EXPR_STEP_BYTES + 1);
}

void *
expr_alloc(struct eval *ev, size_t n)
{
	if (n > ev->memory) {
		expr_exceed_memory(ev);
		return NULL;
	}
	ev->memory -= n;
	return arena_raw(ev->arena, n, sizeof(int64_t));
}

void *
expr_grow(struct eval *ev, void *old, size_t n, size_t *cap, size_t size)
{
	void *p;

	if (n < *cap)
		return old;
	*cap = *cap == 0 ? 8 : *cap * 2;
	p = expr_alloc(ev, mul_max(*cap, size));
	if (p != NULL && n > 0)
		memcpy(p, old, n * size);
	return p;
}

struct expr *
expr_compile(struct arena *a, struct str source, struct err *e)
{
	struct expr *expr;

	if (source.n > EXPR_SOURCE_MAX) {
		err_set(e, ERR_LIMIT, "is longer than %d bytes",
		    EXPR_SOURCE_MAX);
		e->col = 1;
		return NULL;
	}
	expr = NEW(a, struct expr);
	return expr_parse(a, source, expr, e) == -1 ? NULL : expr;
}

void
expr_limit(struct expr *expr, struct budget *b)
{
	expr->budget = b;
}

enum expr_status
expr_eval(const struct expr *expr, const struct json *names,
    struct arena *tmp, struct err *e)
{
	struct eval ev = { .names = names, .arena = tmp, .err = e,
		.steps = EXPR_STEPS_MAX, .memory = EXPR_MEMORY_MAX,
		.expr = expr };
	struct value v;

	ev.globals = NEW_N(tmp, struct value, expr->nnames);
	ev.known = NEW_N(tmp, bool, expr->nnames);
	if (expr_node(&ev, expr->root, &v) == -1)
		return ev.status;
	return expr_true(v) ? EXPR_TRUE : EXPR_FALSE;
}
