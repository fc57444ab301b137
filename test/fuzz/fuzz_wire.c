/* SPDX-License-Identifier: ISC */
/*
 * Input: the output of an agent.  The parsed messages are the same whether the
 * bytes arrive at once or in parts; the first byte selects the size of the
 * parts and whether messages are lines or blocks.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/base.h"
#include "io/wire.h"
#include "json.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
put(struct buf *b, char what, const struct json *v)
{
	struct json_out o = { .put = buf_sink, .ctx = b };

	buf_putc(b, what);
	json_put(&o, v);
}

static void
on_notify(void *arg, struct str method, const struct json *params)
{
	buf_put(arg, method);
	put(arg, 'N', params);
}

static void
on_request(void *arg, const struct json *id, struct str method,
    const struct json *params)
{
	buf_put(arg, method);
	put(arg, 'Q', id);
	put(arg, 'p', params);
}

static void
on_answer(void *ctx, const struct json *result, const struct json *error)
{
	assert((result == NULL) != (error == NULL));
	put(ctx, result != NULL ? 'R' : 'E', result != NULL ? result : error);
}

static void
on_ended(void *arg)
{
	(void)arg;
	abort();			/* there is no child that could */
}

/* Output is discarded, because the wire is ending. */
static bool
hear(struct buf *out, struct str in, size_t step, bool blocks)
{
	struct wire_opts o = { .notify = on_notify, .request = on_request,
		.ended = on_ended, .arg = out, .blocks = blocks };
	static struct wire w;
	size_t n;
	int i;

	w = (struct wire){ .o = o, .ending = true };
	for (i = 0; i < 3; i++)
		wire_ask(&w, "x", STR(""), on_answer, out);
	for (; in.n > 0; in.p += n, in.n -= n) {
		n = in.n < step ? in.n : step;
		wire_feed(&w, (struct str){ in.p, n });
	}
	buf_free(&w.in);
	arena_free(&w.arena);
	return w.broken;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf a = { 0 }, b = { 0 };
	struct str in;
	bool x, y;

	if (size == 0)
		return 0;
	in = (struct str){ (const char *)data + 1, size - 1 };
	x = hear(&a, in, in.n, data[0] & 1);
	y = hear(&b, in, 1 + (data[0] >> 1), data[0] & 1);
	assert(x == y && str_eq(buf_str(&a), buf_str(&b)));
	buf_free(&a);
	buf_free(&b);
	return 0;
}
