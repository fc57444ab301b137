/* SPDX-License-Identifier: ISC */
/*
 * Input: a schema and a value, both JSON, one after the other.  Validation
 * terminates, and has the same result with and without reasons.  A value equals
 * itself, and is found in a list that contains it.
 */
#include <assert.h>
#include <string.h>

#include "base/base.h"
#include "json.h"
#include "lib/schema/schema.h"

enum { STEPS = 200000 };

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
on_finding(void *ctx, const struct schema_finding *f)
{
	struct buf keyword = { 0 };
	size_t *n = ctx;

	++*n;
	assert(f->msg.n > 0 && utf8_valid(f->msg) && f->value != NULL);
	schema_put_keyword(&keyword, f);
	assert(utf8_valid(f->at) && utf8_valid(buf_str(&keyword)));
	buf_free(&keyword);
}

/* -1: no schema, or no answer. */
static int
check(struct arena *a, const struct json *doc, const struct json *v,
    enum schema_draft draft)
{
	struct schema_opts o = { .draft = draft, .steps = STEPS };
	struct arena tmp = { 0 };
	struct err e = { 0 };
	struct schema *s = schema_compile(a, doc, &o, &e);
	size_t told = 0;
	int yes;

	if (s == NULL) {
		assert(e.code == ERR_SCHEMA || e.code == ERR_LIMIT);
		assert(e.msg[0] != '\0');
		return -1;
	}
	yes = schema_check(s, &tmp, v, on_finding, &told, &e);
	assert(yes != -1 || e.code == ERR_LIMIT);
	assert((yes == 0) == (told > 0) && told <= SCHEMA_FINDINGS_MAX);
	assert(tmp.used == 0);
	assert(schema_check(s, a, v, NULL, NULL, &e) == yes);
	arena_free(&tmp);
	return yes;
}

/* A schema made of a text with a value in its middle. */
static void
expect(struct arena *a, const char *head, struct str middle, const char *tail,
    const struct json *v, int want)
{
	struct json_mem mem = { arena_hook, a };
	struct json_error je;
	struct buf b = { 0 };
	struct json *doc;
	int got;

	buf_puts(&b, head);
	buf_put(&b, middle);
	buf_puts(&b, tail);
	doc = json_read(&mem, arena_str(a, buf_str(&b)), 0, &je);
	buf_free(&b);
	got = doc != NULL ? check(a, doc, v, SCHEMA_2020_12) : -1;
	assert(got == want || got == -1);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct str text = { (const char *)data, n }, rest;
	struct arena a = { 0 };
	struct json_mem mem = { arena_hook, &a };
	struct json_error je;
	struct json *doc, *v;
	size_t used;

	if (n == 0)
		return 0;
	doc = json_read_prefix(&mem, text, 0, &used, &je);
	rest = (struct str){ text.p + used, doc != NULL ? n - used : 0 };
	v = doc != NULL ? json_read(&mem, rest, 0, &je) : NULL;
	if (v != NULL) {
		check(&a, doc, v, SCHEMA_2020_12);
		check(&a, doc, v, SCHEMA_7);
		expect(&a, "{\"const\":", rest, "}", v, 1);
		expect(&a, "{\"not\":{\"const\":", rest, "}}", v, 0);
		expect(&a, "{\"enum\":[0,1,2,3,4,5,6,7,8,", rest, "]}", v, 1);
		expect(&a, "{\"items\":{\"enum\":", rest, "}}", v,
		    v->type == JSON_ARRAY);
	}
	arena_free(&a);
	return 0;
}
