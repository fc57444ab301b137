/* SPDX-License-Identifier: ISC */
/*
 * Input: YAML.  An error has a place.  A value that is accepted is
 * well-formed, and the same after it is printed as JSON and read as JSON and
 * as YAML, and after it is printed as YAML and read.  JSON is YAML: a text that json_read() accepts has the same value.
 *
 * Where JSON and YAML differ:
 *   - JSON accepts a name that is set twice, YAML refuses it;
 *   - infinities and NaN print as null (no round trip).
 */
#include <assert.h>
#include <string.h>

#include "base/base.h"
#include "json.h"
#include "lib/yaml/yaml_out.h"
#include "yaml_lite.h"

enum { ALIASED = 10000 };	/* so that printing stays quick */

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
put(void *ctx, const char *p, size_t n)
{
	buf_put(ctx, (struct str){ p, n });
}

/* Places, lookups, well-formed text; whether all numbers are JSON's. */
static bool
check_tree(const struct json *v)
{
	const struct json *c;
	bool plain = true;
	size_t n = 0;

	assert(v->line > 0 && v->col > 0);
	if (v->type == JSON_STRING)
		assert(utf8_valid(json_text(v)));
	if (v->type == JSON_NUMBER)
		plain = json_text(v).p[json_text(v).n - 1] <= '9';
	for (c = json_first(v); c != NULL; c = c->next, n++) {
		assert((json_key(c).p != NULL) == (v->type == JSON_OBJECT));
		if (v->type == JSON_OBJECT) {
			assert(json_get(v, json_key(c)) == c);
			assert(utf8_valid(json_key(c)));
			assert(c->key_line > 0 && c->key_col > 0);
		}
		plain = check_tree(c) && plain;
	}
	if (v->type == JSON_ARRAY || v->type == JSON_OBJECT)
		assert(n == json_count(v));
	return plain;
}

/* Printed as JSON, it reads as the same value by either reader. */
static void
check_again(struct arena *a, const struct json *v, unsigned indent)
{
	struct json_mem mem = { arena_hook, a };
	struct buf b = { 0 };
	struct json_out o = { .put = put, .ctx = &b, .indent = indent };
	struct json_error je;
	struct json *w;
	struct err e;

	json_put(&o, v);
	w = json_read(&mem, buf_str(&b), 0, &je);
	assert(w != NULL && json_equal(v, w));
	w = yaml_read_one(a, buf_str(&b), &e);
	assert(w != NULL && json_equal(v, w));
	buf_free(&b);
}

static void
check_yaml(struct arena *a, const struct json *v)
{
	struct buf b = { 0 };
	struct json *w;
	struct err e;

	yaml_put(&b, v, 0);
	w = yaml_read_one(a, buf_str(&b), &e);
	assert(w != NULL && json_equal(v, w));
	buf_free(&b);
}

/* Some object in the text sets a name twice; v was read with "last wins". */
static bool
is_twice(const struct err *e)
{
	return strstr(e->msg, "is set twice") != NULL;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena a = { 0 };
	struct json_mem mem = { arena_hook, &a };
	struct str text = { (const char *)data, size };
	struct yaml_opt opt = { .aliased = ALIASED };
	struct json_error je;
	struct err e = { 0 };
	struct json *v, *j, *d;

	v = yaml_read(&a, text, &opt, &e);
	if (v == NULL)
		assert((e.code == ERR_SYNTAX || e.code == ERR_LIMIT) &&
		    e.line > 0 && e.col > 0 && e.msg[0] != '\0' &&
		    utf8_valid(str_of(e.msg)));
	for (d = v == NULL ? NULL : json_first(v); d != NULL; d = d->next)
		if (check_tree(d)) {
			check_again(&a, d, 0);
			check_again(&a, d, 2);
			check_yaml(&a, d);
		}
	j = json_read(&mem, text, 0, &je);
	if (j != NULL) {
		assert(v != NULL || is_twice(&e));
		assert(v == NULL || (json_count(v) == 1 &&
		    json_equal(json_first(v), j)));
	}
	arena_free(&a);
	return 0;
}
