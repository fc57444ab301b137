/* SPDX-License-Identifier: ISC */
/*
 * Input: an expression, a newline, and the text of the variable `output`.  The
 * evaluation ends with a result and a message, and a second one has the same
 * result; so have `not` and bool() of the expression, accordingly.
 */
#include <assert.h>
#include <string.h>

#include "base/base.h"
#include "json.h"
#include "lib/py/expr.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static const struct json *
names_of(struct arena *a, struct str output)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };
	struct json_mem mem = { arena_hook, a };
	struct json_error e;
	const struct json *v;

	buf_puts(&b, "{\"d\":{\"k\":[1,2.5,null,true],\"s\":\"x\"},"
	    "\"l\":[\"a\",\"B\",\"\\u00e9\"],\"x\":7,\"output\":");
	json_put_str(&o, output);
	buf_putc(&b, '}');
	v = json_read(&mem, arena_str(a, buf_str(&b)), 0, &e);
	assert(v != NULL);
	buf_free(&b);
	return v;
}

static enum expr_status
eval(struct str source, const struct json *names, struct err *e)
{
	struct arena a = { 0 };
	enum expr_status st = EXPR_DECLINED;
	struct expr *x = expr_compile(&a, source, e);

	if (x != NULL)
		st = expr_eval(x, names, &a, e);
	else if (e->code == ERR_LIMIT)
		st = EXPR_LIMIT;
	if (x == NULL)
		assert((e->code == ERR_SYNTAX || e->code == ERR_LIMIT) &&
		    e->col >= 1 && e->col <= source.n + 1);
	arena_free(&a);
	return st;
}

/* In parentheses, because it can be a lambda or end in a comment. */
static struct str
within(struct arena *a, const char *before, struct str source)
{
	return arena_fmt(a, "%s(%.*s\n)", before, STRF(source));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const char *p = (const char *)data;
	const char *nl = n > 0 ? memchr(p, '\n', n) : NULL;
	struct arena a = { 0 };
	struct err e = { 0 }, f = { 0 };
	enum expr_status st, again;
	const struct json *names;
	struct str source;

	if (nl == NULL)
		return 0;
	source = (struct str){ p, (size_t)(nl - p) };
	names = names_of(&a, (struct str){ nl + 1, n - source.n - 1 });
	st = eval(source, names, &e);
	assert(st == EXPR_TRUE || st == EXPR_FALSE || st == EXPR_RAISED ||
	    e.msg[0] != '\0');
	if (st >= EXPR_DECLINED || memchr(source.p, '\0', source.n) != NULL) {
		arena_free(&a);
		return 0;
	}
	assert(st != EXPR_RAISED || utf8_valid(str_of(e.msg)));
	assert(eval(source, names, &f) == st && strcmp(e.msg, f.msg) == 0);
	again = eval(within(&a, "not ", source), names, &f);
	assert(again >= EXPR_DECLINED || (st == EXPR_RAISED ?
	    again == EXPR_RAISED && strcmp(e.msg, f.msg) == 0 :
	    again == (st == EXPR_TRUE ? EXPR_FALSE : EXPR_TRUE)));
	again = eval(within(&a, "bool", source), names, &f);
	assert(again >= EXPR_DECLINED || again == st);
	arena_free(&a);
	return 0;
}
