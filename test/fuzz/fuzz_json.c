/* SPDX-License-Identifier: ISC */
/*
 * Input: JSON.  A value that is accepted is the same after it is written and
 * read again, and all functions that query it agree.
 */
#include <assert.h>
#include <string.h>

#include "base/base.h"
#include "json.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
put(void *ctx, const char *p, size_t n)
{
	buf_put(ctx, (struct str){ p, n });
}

static void
print(struct buf *b, const struct json *v, unsigned indent)
{
	struct json_out o = { .put = put, .ctx = b, .indent = indent };

	b->n = 0;
	json_put(&o, v);
	assert(o.depth == 0 && !o.named);
}

/* A number's readings agree, and its double survives being written. */
static void
check_number(const struct json_mem *mem, const struct json *v)
{
	struct json_error e;
	struct json *w;
	char text[32];
	double d, back;
	int64_t i;
	size_t n;

	if (json_int(v, &i) && i > -(INT64_C(1) << 53) && i < INT64_C(1) << 53)
		assert(json_double(v, &d) && d == (double)i);
	if (!json_double(v, &d))
		return;
	n = json_format_double(text, d);
	assert(n < sizeof(text) && text[n] == '\0');
	w = json_read(mem, (struct str){ text, n }, 0, &e);
	assert(w != NULL && json_double(w, &back) && back == d);
}

/* Counts, names and places; lookups find each member by its name. */
static void
check_tree(const struct json_mem *mem, const struct json *v)
{
	const struct json *c;
	size_t n = 0;

	assert(v->line > 0 && v->col > 0);
	if (v->type == JSON_NUMBER)
		check_number(mem, v);
	if (v->type == JSON_STRING)
		assert(utf8_valid(json_text(v)));
	for (c = json_first(v); c != NULL; c = c->next, n++) {
		assert((json_key(c).p != NULL) == (v->type == JSON_OBJECT));
		if (v->type == JSON_OBJECT) {
			assert(json_get(v, json_key(c)) == c);
			assert(utf8_valid(json_key(c)));
			assert(c->key_line > 0 && c->key_line <= c->line);
		}
		assert(v->line <= c->line);
		check_tree(mem, c);
	}
	assert(n == json_count(v));
}

static void
check_again(const struct json_mem *mem, const struct json *v, unsigned indent)
{
	struct buf one = { 0 }, two = { 0 }, three = { 0 };
	struct json_error e;
	struct json *w;

	print(&one, v, indent);
	w = json_read(mem, buf_str(&one), 0, &e);
	assert(w != NULL && json_equal(v, w) && json_equal(w, v));
	print(&two, w, indent);
	assert(str_eq(buf_str(&one), buf_str(&two)));
	print(&two, v, 0);
	print(&three, w, 0);
	assert(str_eq(buf_str(&two), buf_str(&three)));
	buf_free(&one);
	buf_free(&two);
	buf_free(&three);
}

/* A prefix is accepted if the whole is, or if only the rest is malformed. */
static void
check_prefix(const struct json_mem *mem, struct str text, const struct json *v,
    const struct json_error *e)
{
	struct json_error pe;
	struct json *w;
	size_t used = 0, i;

	w = json_read_prefix(mem, text, 0, &used, &pe);
	if (v == NULL && w == NULL) {
		assert(e->off == pe.off && strcmp(e->msg, pe.msg) == 0);
		return;
	}
	assert(w != NULL && used > 0 && used <= text.n);
	for (i = used; i < (v == NULL ? e->off : text.n); i++)
		assert(memchr(" \t\r\n", text.p[i], 4) != NULL);
	v = json_read(mem, (struct str){ text.p, used }, 0, &pe);
	assert(v != NULL && json_equal(v, w));
}

/* The bytes as a string to write: valid JSON whatever they are. */
static void
check_string(const struct json_mem *mem, struct str s)
{
	struct buf b = { 0 };
	struct json_out o = { .put = put, .ctx = &b };
	struct json_error e;
	struct json *v;

	json_put_str(&o, s);
	v = json_read(mem, buf_str(&b), 0, &e);
	assert(v != NULL && v->type == JSON_STRING && utf8_valid(json_text(v)));
	assert(utf8_valid(s) == str_eq(json_text(v), s));
	buf_free(&b);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena a = { 0 };
	struct json_mem mem = { arena_hook, &a };
	struct str text = { (const char *)data, size };
	struct json_error e = { 0 };
	unsigned line, col;
	struct json *v;

	v = json_read(&mem, text, 0, &e);
	if (v == NULL) {
		assert(e.msg != NULL && e.off <= size);
		json_place(text, e.off, &line, &col);
		assert(line == e.line && col == e.col);
	} else {
		check_tree(&mem, v);
		check_again(&mem, v, 0);
		check_again(&mem, v, 3);
	}
	check_prefix(&mem, text, v, &e);
	check_string(&mem, text);
	arena_free(&a);
	return 0;
}
