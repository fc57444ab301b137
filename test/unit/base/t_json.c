/* SPDX-License-Identifier: ISC */
/* Unit tests of json.h. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/base.h"
#include "json.h"
#include "test/tool/tap.h"

static struct arena arena;
static const struct json_mem mem = { arena_hook, &arena };
static struct json_error error;

/* Prints a row's name as one printable line, as TAP requires. */
static void
check(bool ok, const char *what, const char *detail)
{
	char name[100];
	size_t n = 0;

	n = (size_t)snprintf(name, sizeof(name) - 5, "%s: ", what);
	for (; *detail != '\0' && n < sizeof(name) - 5; detail++)
		if (*detail > ' ' && *detail < 0x7F && *detail != '#')
			name[n++] = *detail;
		else
			n += (size_t)snprintf(name + n, 5, "%%%02x",
			    (unsigned char)*detail);
	name[n] = '\0';
	tap_ok(ok, name, __FILE__, __LINE__);
}

static void
put(void *ctx, const char *p, size_t n)
{
	buf_put(ctx, (struct str){ p, n });
}

static struct json *
read_str(struct str text)
{
	return json_read(&mem, text, 0, &error);
}

static struct json *
read_text(const char *text)
{
	return read_str(str_of(text));
}

static struct str
print(const struct json *v, unsigned indent)
{
	struct buf b = { 0 };
	struct json_out o = { .put = put, .ctx = &b, .indent = indent };
	struct str s;

	json_put(&o, v);
	s = arena_str(&arena, buf_str(&b));
	buf_free(&b);
	return s;
}

/* The unit n times, then the end; in the arena. */
static struct str
repeat(const char *unit, size_t n, const char *end)
{
	struct buf b = { 0 };
	struct str s;

	while (n-- > 0)
		buf_puts(&b, unit);
	buf_puts(&b, end);
	s = arena_str(&arena, buf_str(&b));
	buf_free(&b);
	return s;
}

static bool
within(clock_t from, double seconds)
{
	return (double)(clock() - from) / CLOCKS_PER_SEC < seconds;
}

/* Texts, and how they are written after reading. */
static void
test_accept(void)
{
	static const struct {
		const char *in, *out;
	} rows[] = {
		{ "null", "null" },            { " true ", "true" },
		{ "\t\r\n false\n", "false" }, { "0", "0" },
		{ "-0", "-0" },                { "-0.0e+0", "-0.0e+0" },
		{ "1E400", "1E400" },          { "10.25e-7", "10.25e-7" },
		{ "\"\"", "\"\"" },            { "[]", "[]" },
		{ "{}", "{}" },                { "[ ]", "[]" },
		{ "{ }", "{}" },               { "[[],{},[[]]]", "[[],{},[[]]]" },
		{ "[1,2 , 3]", "[1,2,3]" },
		{ "{\"a\":1,\"b\":[true]}", "{\"a\":1,\"b\":[true]}" },
		{ "{\"\":{\"\":\"\"}}", "{\"\":{\"\":\"\"}}" },
		{ "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\\"\\\\/\\b\\f\\n\\r\\t\"" },
		{ "\"\\u0041\\u00e9\\u20AC\"", "\"A\xC3\xA9\xE2\x82\xAC\"" },
		{ "\"\\uD83D\\ude00!\"", "\"\xF0\x9F\x98\x80!\"" },
		{ "\"\\uDBFF\\uDFFF\"", "\"\xF4\x8F\xBF\xBF\"" },
		{ "\"\\u0000\\u001f\x7F\"", "\"\\u0000\\u001f\x7F\"" },
		{ "\"1234567\\n9abcdefgh\"", "\"1234567\\n9abcdefgh\"" },
		{ "\"12345678\xC3\xA9 12345678\"", "\"12345678\xC3\xA9 12345678\"" },
		{ "\"\xEF\xBF\xBF\xEE\x80\x80\xED\x9F\xBF\"",
		    "\"\xEF\xBF\xBF\xEE\x80\x80\xED\x9F\xBF\"" },
		{ "\"\\u2028\xE2\x80\xA9\xC2\x85\"", "\"\\u2028\\u2029\\u0085\"" },
		{ "{\"k\\u0065y\":1}", "{\"key\":1}" },
		{ "{\"a\":1,\"b\":2,\"a\":3}", "{\"a\":3,\"b\":2}" },
		{ "{\"a\":1,\"\\u0061\":[]}", "{\"a\":[]}" },
		{ "{\"a\":0,\"a\":1,\"b\":2,\"b\":3,\"a\":4}", "{\"a\":4,\"b\":3}" },
	};
	struct json *v, *w;
	struct str out;
	size_t i;

	for (i = 0; i < COUNTOF(rows); i++) {
		v = read_text(rows[i].in);
		out = v == NULL ? str_of(error.msg) : print(v, 0);
		w = read_str(out);
		check(v != NULL && str_is(out, rows[i].out) && w != NULL &&
		    json_equal(v, w), "accept", rows[i].in);
	}
	arena_free(&arena);
}

#define END "unexpected end of input"
#define END_STR "unexpected end of input in a string"
#define VALUE "expected a value"
#define NAME "expected a name in double quotes"
#define AFTER "unexpected text after the value"
#define COMMA "expected ',' or ']'"
#define COMMA_OBJ "expected ',' or '}'"
#define DIGIT "a digit is missing in a number"
#define ZERO "a number has a leading zero"
#define CONTROL "control character in a string: it must be escaped"
#define ESCAPE "unknown escape in a string"
#define HEX "\\u needs four hexadecimal digits"
#define LONE "lone surrogate"
#define UTF8 "invalid UTF-8"

static const struct {
	const char *in;
	unsigned line, col;
	const char *msg;
} rejected[] = {
	{ "", 1, 1, END },                           { " \n\n ", 3, 2, END },
	{ "nul", 1, 1, VALUE },                      { "True", 1, 1, VALUE },
	{ "nullx", 1, 5, AFTER },                    { "1 2", 1, 3, AFTER },
	{ "{}\n,", 2, 1, AFTER },                    { "]", 1, 1, VALUE },
	{ "\xEF\xBB\xBF{}", 1, 1, "byte order mark before the text" },
	{ "[\xEF\xBB\xBF]", 1, 2, VALUE },           { "\f1", 1, 1, VALUE },
	{ "[", 1, 2, END },                          { "[1", 1, 3, END },
	{ "[1,", 1, 4, END },                        { "[1,]", 1, 4, VALUE },
	{ "[,1]", 1, 2, VALUE },                     { "[1 2]", 1, 4, COMMA },
	{ "[1\n,\n2}", 3, 2, COMMA },                { "[1:2]", 1, 3, COMMA },
	{ "{", 1, 2, END },                          { "{\"a\"", 1, 5, END },
	{ "{\"a\":", 1, 6, END },                    { "{\"a\":1", 1, 7, END },
	{ "{\"a\":1,", 1, 8, END },                  { "{\"a\":1,}", 1, 8, NAME },
	{ "{a:1}", 1, 2, NAME },                     { "{1:1}", 1, 2, NAME },
	{ "{,}", 1, 2, NAME }, { "{\"a\" 1}", 1, 6, "expected ':' after a name" },
	{ "{\"a\":}", 1, 6, VALUE },                 { "{\"a\":1]", 1, 7, COMMA_OBJ },
	{ "{\"a\":1 \"b\":2}", 1, 8, COMMA_OBJ },    { "+1", 1, 1, VALUE },
	{ ".5", 1, 1, VALUE },                       { "-", 1, 2, END },
	{ "-x", 1, 2, DIGIT },                       { "1.", 1, 3, END },
	{ "[1.]", 1, 4, DIGIT },                     { "[1.e1]", 1, 4, DIGIT },
	{ "1e", 1, 3, END },                         { "[1e+]", 1, 5, DIGIT },
	{ "01", 1, 1, ZERO },                        { "[-012]", 1, 3, ZERO },
	{ "0x1", 1, 2, AFTER },                      { "1e5.5", 1, 4, AFTER },
	{ "NaN", 1, 1, VALUE },                      { "\"", 1, 2, END_STR },
	{ "\"abcdefghij", 1, 12, END_STR },          { "\"\\", 1, 3, END_STR },
	{ "\"\\n", 1, 4, END_STR },                  { "\"a\nb\"", 1, 3, CONTROL },
	{ "\"\\n\x01\"", 1, 4, CONTROL },            { "\"12345678\x1F\"", 1, 10, CONTROL },
	{ "\"\\x41\"", 1, 2, ESCAPE },               { "\"ab\\'\"", 1, 4, ESCAPE },
	{ "\"\\u12\"", 1, 2, HEX },                  { "\"\\u12G4\"", 1, 2, HEX },
	{ "\"\\uD800\"", 1, 2, LONE },               { "\"x\\uDC00\"", 1, 3, LONE },
	{ "\"\\uD800\\n\"", 1, 2, LONE },            { "\"\\uD800\\uD800\"", 1, 2, LONE },
	{ "\"\\uD800\\u0041\"", 1, 2, LONE },        { "\"\\uD83D\\uDE\"", 1, 2, LONE },
	{ "\"\x80\"", 1, 2, UTF8 },                  { "\"\xC0\xAF\"", 1, 2, UTF8 },
	{ "\"12345678\xED\xA0\x80\"", 1, 10, UTF8 }, { "\"\xF4\x90\x80\x80\"", 1, 2, UTF8 },
	{ "\"\xC3", 1, 2, UTF8 },                    { "[\"\\n\xE2\x82\"]", 1, 5, UTF8 },
	{ "{\"\xFF\":1}", 1, 3, UTF8 },              { "'a'", 1, 1, VALUE },
	{ "// x\n1", 1, 1, VALUE },
};

static void
test_reject(void)
{
	size_t i, off;
	unsigned line, col;
	bool ok;

	for (i = 0; i < COUNTOF(rejected); i++) {
		ok = read_text(rejected[i].in) == NULL &&
		    strcmp(error.msg, rejected[i].msg) == 0 &&
		    error.line == rejected[i].line &&
		    error.col == rejected[i].col;
		off = error.off;
		json_place(str_of(rejected[i].in), off, &line, &col);
		check(ok && line == error.line && col == error.col, "reject",
		    rejected[i].in);
		if (!ok)
			printf("# %u:%u: %s\n", error.line, error.col,
			    error.msg);
	}
	OK(read_str((struct str){ NULL, 0 }) == NULL && error.line == 1 &&
	    error.col == 1 && strcmp(error.msg, END) == 0);
	OK(read_str(STR("\"a\0b\"")) == NULL && error.col == 3);
	OK(read_str(STR("1\0")) == NULL && error.col == 2);
	arena_free(&arena);
}

/* Every prefix of a text is either read or refused at or before its end. */
static void
test_cut(void)
{
	static const char text[] = "{\"a\\u00e9\\uD83D\\uDE00\": [1.5e+3, "
	    "true, \"\xE2\x82\xAC\", null, {\"deep\": {}}], \"b\": false}";
	size_t n, bad = 0;
	char *copy;

	for (n = 0; n < sizeof(text) - 1; n++) {
		copy = malloc(n + 1);	/* to detect overruns */
		if (copy == NULL)
			abort();
		memcpy(copy, text, n);
		bad += read_str((struct str){ copy, n }) != NULL;
		bad += error.off > n;
		free(copy);
	}
	OK(bad == 0);
	OK(read_text(text) != NULL);
	arena_free(&arena);
}

/* Every lead byte, followed by bytes at the limits of valid ranges. */
static void
test_utf8(void)
{
	static const unsigned char edge[] = { 0x22, 0x7F, 0x80, 0x8F, 0x90,
	    0x9F, 0xA0, 0xBF, 0xC0, 0xFF };
	const size_t n = sizeof(edge);
	char text[6] = "\"";
	size_t i, bad = 0, k;
	struct str s;

	for (i = 0; i < 128 * n * n * n; i++) {
		text[1] = (char)(0x80 + i / (n * n * n));
		text[2] = (char)edge[i / (n * n) % n];
		text[3] = (char)edge[i / n % n];
		text[4] = (char)edge[i % n];
		for (k = 2; k < 5 && text[k] != '"'; k++)
			;
		text[k] = '"';
		s = (struct str){ text + 1, k - 1 };
		if ((read_str((struct str){ text, k + 1 }) != NULL) !=
		    utf8_valid(s))
			bad++;
		text[k] = 0;
		if (i % 1024 == 0)
			arena_free(&arena);
	}
	OK(bad == 0);
	arena_free(&arena);
}

static void
test_depth(void)
{
	struct str deep;

	deep = arena_fmt(&arena, "%s%s", repeat("[", 128, "").p,
	    repeat("]", 128, "").p);
	OK(read_str(deep) != NULL);
	OK(json_read(&mem, deep, 128, &error) != NULL);
	OK(json_read(&mem, deep, 127, &error) == NULL);
	OK(strcmp(error.msg, "nested too deeply") == 0 && error.col == 128);
	deep = arena_fmt(&arena, "%s1%s", repeat("{\"a\":", 128, "").p,
	    repeat("}", 128, "").p);
	OK(read_str(deep) != NULL);
	OK(read_str(repeat("[", 129, "")) == NULL && error.off == 128);
	OK(json_read(&mem, STR("[]"), 1, &error) != NULL);
	OK(json_read(&mem, STR("[[]]"), 1, &error) == NULL && error.off == 1);
	OK(json_read(&mem, STR("[[],[],{},[]]"), 2, &error) != NULL);
	arena_free(&arena);
}

static void
test_big(void)
{
	const size_t mib = 1 << 20;
	struct json *v;
	clock_t t = clock();

	OK(read_str(repeat("[", mib, "")) == NULL && error.off == 128);
	v = json_read(&mem, repeat("[", mib, ""), (unsigned)mib, &error);
	OK(v == NULL && error.off == mib && strcmp(error.msg, END) == 0);
	v = read_str(arena_fmt(&arena, "[[]%s]", repeat(",[]", mib / 3, "").p));
	OK(v != NULL && json_count(v) == mib / 3 + 1);
	OK(read_str(repeat("[]", mib / 2, "")) == NULL && error.off == 2);
	v = read_str(arena_fmt(&arena, "\"%s\"", repeat("\\u00e9", mib, "").p));
	OK(v != NULL && json_text(v).n == 2 * mib);
	OK(read_str(repeat("\"", mib, "")) == NULL && error.off == 2);
	OK(read_str(repeat(" ", mib, "")) == NULL && error.off == mib);
	OK(read_str(repeat("9", mib, "")) != NULL);
	arena_free(&arena);
	OK(within(t, 20));
}

static void
test_tree(void)
{
	struct json *v, *a, *b, *c;

	v = read_text("{\n  \"a\": [1,\n\t\"x\"], \"b\"\n :\n{}, \"n\": null}");
	OK(v->type == JSON_OBJECT && json_count(v) == 3);
	OK(v->line == 1 && v->col == 1 && v->key_line == 0 && v->key_col == 0);
	OK(v->key == NULL && json_key(v).p == NULL);
	a = json_first(v);
	OK(a->key_line == 2 && a->key_col == 3 && a->line == 2 && a->col == 8);
	OK(str_is(json_key(a), "a") && json_count(a) == 2);
	c = json_first(a)->next;
	OK(c->line == 3 && c->col == 2 && json_key(c).p == NULL && c->next == NULL);
	b = json_getc(v, "b");
	OK(b == a->next && b->key_line == 3 && b->key_col == 8);
	OK(b->line == 5 && b->col == 1 && json_first(b) == NULL);
	OK(json_getc(v, "n")->type == JSON_NULL && json_getc(v, "c") == NULL);
	OK(json_getc(NULL, "a") == NULL && json_getc(a, "a") == NULL);
	OK(json_str(v, "a").n == 0 && json_str(NULL, "a").n == 0 &&
	    str_is(json_str(read_text("{\"s\":\"t\"}"), "s"), "t"));
	OK(json_get(v, (struct str){ NULL, 0 }) == NULL);
	OK(json_first(c) == NULL && json_count(c) == 0);
	OK(json_text(a).n == 0 && !json_bool(a));
	v = read_text("[true, false, 12, \"s\"]");
	OK(json_bool(json_first(v)) && !json_bool(json_first(v)->next));
	OK(str_is(json_text(json_first(v)->next->next), "12"));
	v = read_str(repeat(" ", 70000, "[\n1]"));
	OK(v->col == JSON_COL_MAX && json_first(v)->line == 2);
	v = read_text("{\"a\":1,\n\"a\":2}");
	a = json_first(v);
	OK(a->line == 2 && a->key_line == 1 && a->next == NULL && v->n == 1);
	OK(strcmp(json_type_name(JSON_ARRAY), "a list") == 0);
	OK(strcmp(json_type_name(JSON_NULL), "null") == 0);
	arena_free(&arena);
}

static void
test_prefix(void)
{
	static const struct {
		const char *in;
		size_t used;		/* 0: an error */
	} rows[] = {
		{ "1",            1 }, { "1 2",       1 }, { " {} {}", 3 },
		{ "[1]x",         3 }, { "\"a\"\"b\"", 3 }, { "truefalse", 4 },
		{ "-12e3,",       5 }, { "",          0 }, { "  ",     0 },
		{ "[1",           0 }, { "x",         0 }, { "{}]",    2 },
	};
	struct json *v;
	size_t i, used;

	for (i = 0; i < COUNTOF(rows); i++) {
		used = 99;
		v = json_read_prefix(&mem, str_of(rows[i].in), 0, &used,
		    &error);
		check(rows[i].used == 0 ? v == NULL :
		    v != NULL && used == rows[i].used, "prefix", rows[i].in);
	}
	arena_free(&arena);
}

/* n members "k<i>" with their number, then duplicates of some. */
static struct str
members(size_t n, size_t again)
{
	struct buf b = { 0 };
	struct str s;
	size_t i;

	buf_putc(&b, '{');
	for (i = 0; i < n + again; i++)
		buf_fmt(&b, "%s\"k%zu\":%zu", i > 0 ? "," : "",
		    i < n ? i : (i - n) * 3, i);
	buf_putc(&b, '}');
	s = arena_str(&arena, buf_str(&b));
	buf_free(&b);
	return s;
}

/* Whether v has the members of members(n, again), in order and by name. */
static bool
members_ok(const struct json *v, size_t n, size_t again)
{
	const struct json *c = json_first(v);
	char name[24];
	int64_t got;
	size_t i, want;

	if (json_count(v) != n)
		return false;
	for (i = 0; i < n; i++, c = c->next) {
		want = i % 3 == 0 && i / 3 < again ? n + i / 3 : i;
		snprintf(name, sizeof(name), "k%zu", i);
		if (c == NULL || !str_is(json_key(c), name) ||
		    json_getc(v, name) != c || !json_int(c, &got) ||
		    got != (int64_t)want)
			return false;
	}
	return c == NULL && json_getc(v, "k") == NULL &&
	    json_getc(v, "") == NULL;
}

static void
test_members(void)
{
	static const size_t sizes[] = { 1, 2, 15, 16, 17, 18, 31, 100, 1000 };
	struct json *v;
	clock_t t;
	size_t i;
	char name[40];

	for (i = 0; i < COUNTOF(sizes); i++) {
		snprintf(name, sizeof(name), "%zu", sizes[i]);
		v = read_str(members(sizes[i], 0));
		check(members_ok(v, sizes[i], 0), "members", name);
		v = read_str(members(sizes[i], (sizes[i] + 2) / 3));
		check(members_ok(v, sizes[i], (sizes[i] + 2) / 3),
		    "members, some twice", name);
	}
	arena_free(&arena);
	t = clock();
	v = read_str(members(100000, 10000));
	OK(members_ok(v, 100000, 10000));
	OK(json_equal(v, read_str(members(100000, 10000))));
	OK(within(t, 20));
	arena_free(&arena);
}

/*
 * Names crafted against a hash: of equal length, different in one byte,
 * permuted, and made of NULs.  Time must stay n log n.
 */
static void
test_collide(void)
{
	struct buf b = { 0 };
	struct json *v;
	clock_t t = clock();
	size_t i, j, bad = 0;
	char name[33];

	buf_putc(&b, '{');
	for (i = 0; i < 50000; i++) {
		buf_fmt(&b, "%s\"", i > 0 ? "," : "");
		for (j = 0; j < 32; j++)
			buf_puts(&b, i >> j / 2 & 1 ? "ab" : "ba");
		buf_fmt(&b, "\":%zu", i);
	}
	buf_putc(&b, '}');
	v = read_str(buf_str(&b));
	OK(json_count(v) == 50000);
	b.n = 0;
	buf_putc(&b, '{');
	for (i = 0; i < 3000; i++) {
		buf_fmt(&b, "%s\"", i > 0 ? "," : "");
		for (j = 0; j < i; j++)
			buf_puts(&b, "\\u0000");
		buf_fmt(&b, "\":%zu", i);
	}
	buf_putc(&b, '}');
	v = read_str(buf_str(&b));
	OK(json_count(v) == 3000);
	memset(name, 0, sizeof(name));
	for (i = 0; i < sizeof(name); i++)
		bad += json_get(v, (struct str){ name, i }) == NULL;
	OK(bad == 0);
	OK(within(t, 20));
	buf_free(&b);
	arena_free(&arena);
}

/* json_seal() for readers that refuse duplicate names. */
static void
test_seal(void)
{
	static const size_t sizes[] = { 2, 3, 16, 17, 40 };
	const struct json *dup;
	struct json nodes[40], obj;
	char keys[40][4], name[8];
	size_t i, k, n;

	for (k = 0; k < COUNTOF(sizes); k++) {
		n = sizes[k];
		obj = (struct json){ .type = JSON_OBJECT, .n = (uint32_t)n };
		obj.u.child = nodes;
		for (i = 0; i < n; i++) {
			nodes[i] = (struct json){ .key = keys[i], .nkey = 3,
			    .key_line = (uint32_t)i + 1, .key_col = 1 };
			nodes[i].next = i + 1 < n ? &nodes[i + 1] : NULL;
			snprintf(keys[i], sizeof(keys[i]), "k%02u",
			    (unsigned)(i == n - 1 ? 0 : i) % 100);
		}
		snprintf(name, sizeof(name), "%zu", n);
		dup = json_seal(&mem, &obj, false);
		check(dup == &nodes[n - 1] && str_is(json_key(dup), "k00"),
		    "seal finds", name);
	}
	arena_free(&arena);
}

static void
test_int(void)
{
	static const struct {
		const char *text;
		bool ok;
		int64_t value;
	} rows[] = {
		{ "0",                        true,  0 },
		{ "-0",                       true,  0 },
		{ "0e999999999999999999",     true,  0 },
		{ "7",                        true,  7 },
		{ "-42",                      true,  -42 },
		{ "1e2",                      true,  100 },
		{ "3.0",                      true,  3 },
		{ "1.50e1",                   true,  15 },
		{ "120e-1",                   true,  12 },
		{ "0.001E+3",                 true,  1 },
		{ "1e18",                     true,  INT64_C(1000000000000000000) },
		{ "9007199254740993",         true,  INT64_C(9007199254740993) },
		{ "9223372036854775807",      true,  INT64_MAX },
		{ "9223372036854775807.000",  true,  INT64_MAX },
		{ "-9223372036854775808",     true,  INT64_MIN },
		{ "-9.223372036854775808e18", true,  INT64_MIN },
		{ "9223372036854775808",      false, 0 },
		{ "-9223372036854775809",     false, 0 },
		{ "18446744073709551616",     false, 0 },
		{ "99999999999999999999",     false, 0 },
		{ "1e19",                     false, 0 },
		{ "1.5",                      false, 0 },
		{ "15e-1",                    false, 0 },
		{ "1e-1",                     false, 0 },
		{ "1e400",                    false, 0 },
		{ "1e-99999999999999999999",  false, 0 },
		{ "1e99999999999999999999",   false, 0 },
		{ "0.30000000000000000000000000001", false, 0 },
	};
	int64_t got;
	size_t i;
	bool ok;

	for (i = 0; i < COUNTOF(rows); i++) {
		ok = json_int(read_text(rows[i].text), &got);
		check(ok == rows[i].ok && (!ok || got == rows[i].value), "int",
		    rows[i].text);
	}
	OK(!json_int(read_text("\"1\""), &got) && !json_int(read_text("[]"), &got));
	OK(!json_int(NULL, &got) && json_is_set(read_text("false")) &&
	    !json_is_set(read_text("null")) && !json_is_set(NULL));
	OK(json_int(read_str(repeat("0.0", 1, repeat("0", 2000, "").p)), &got) &&
	    got == 0);
	OK(json_int(read_str(repeat("1", 1, repeat("0", 2000, "e-2000").p)),
	    &got) && got == 1);
	arena_free(&arena);
}

static uint64_t
bits_of(double d)
{
	uint64_t u;

	memcpy(&u, &d, sizeof(u));
	return u;
}

static double
from_bits(uint64_t u)
{
	double d;

	memcpy(&d, &u, sizeof(d));
	return d;
}

/* Tests a row, also with the opposite sign. */
static void
check_double(const char *text, uint64_t bits)
{
	double d = 0, neg = 0;
	bool ok;

	ok = json_double(read_text(text), &d) && bits_of(d) == bits;
	if (text[0] != '-') {
		ok = ok && json_double(read_str(arena_fmt(&arena, "-%s", text)),
		    &neg) && bits_of(neg) == (bits | (uint64_t)1 << 63);
	}
	check(ok, "double", text);
}

static void
test_double(void)
{
	static const struct {
		const char *text;
		uint64_t bits;
	} rows[] = {
		{ "0",                           UINT64_C(0x0000000000000000) },
		{ "-0",                          UINT64_C(0x8000000000000000) },
		{ "-0.0e5",                      UINT64_C(0x8000000000000000) },
		{ "1",                           UINT64_C(0x3FF0000000000000) },
		{ "-1.5",                        UINT64_C(0xBFF8000000000000) },
		{ "0.1",                         UINT64_C(0x3FB999999999999A) },
		{ "0.3",                         UINT64_C(0x3FD3333333333333) },
		{ "2.5e-5",                      UINT64_C(0x3EFA36E2EB1C432D) },
		{ "123456.789e-3",               UINT64_C(0x405EDD3C07EE0B0B) },
		{ "9007199254740991",            UINT64_C(0x433FFFFFFFFFFFFF) },
		{ "9007199254740992",            UINT64_C(0x4340000000000000) },
		{ "9007199254740993",            UINT64_C(0x4340000000000000) },
		{ "9007199254740994",            UINT64_C(0x4340000000000001) },
		{ "9007199254740995",            UINT64_C(0x4340000000000002) },
		{ "9007199254740993.0000000001", UINT64_C(0x4340000000000001) },
		{ "4503599627370497.5",          UINT64_C(0x4330000000000002) },
		{ "4503599627370498.5",          UINT64_C(0x4330000000000002) },
		{ "45035996273704985",           UINT64_C(0x4364000000000003) },
		{ "18014398509481990",           UINT64_C(0x4350000000000002) },
		{ "123456789012345678",          UINT64_C(0x437B69B4BA630F35) },
		{ "12345678901234567890123",     UINT64_C(0x4484EA15B273B38A) },
		{ "3.14159265358979323846",      UINT64_C(0x400921FB54442D18) },
		{ "0.000001234567890123456",     UINT64_C(0x3EB4B66DC01EC6F8) },
		{ "6.02214076e23",               UINT64_C(0x44DFE185CA57C517) },
		{ "1e22",                        UINT64_C(0x4480F0CF064DD592) },
		{ "1e23",                        UINT64_C(0x44B52D02C7E14AF6) },
		{ "8.5e22",                      UINT64_C(0x44B1FFDBF6B2B2EB) },
		{ "1.7976931348623157e308",      UINT64_C(0x7FEFFFFFFFFFFFFF) },
		{ "1.7976931348623158e308",      UINT64_C(0x7FEFFFFFFFFFFFFF) },
		{ "2.2250738585072011e-308",     UINT64_C(0x000FFFFFFFFFFFFF) },
		{ "2.2250738585072012e-308",     UINT64_C(0x0010000000000000) },
		{ "2.2250738585072014e-308",     UINT64_C(0x0010000000000000) },
		{ "5e-324",                      UINT64_C(0x0000000000000001) },
		{ "2.4703282292062327e-324",     UINT64_C(0x0000000000000000) },
		{ "2.4703282292062328e-324",     UINT64_C(0x0000000000000001) },
		{ "7.4109846876186982e-324",     UINT64_C(0x0000000000000002) },
		{ "1e-400",                      UINT64_C(0x0000000000000000) },
		{ "1e-99999999999999999999",     UINT64_C(0x0000000000000000) },
		{ "0e99999999999999999999",      UINT64_C(0x0000000000000000) },
		{ "10000000000000000000000000000000000000000e-40",
		    UINT64_C(0x3FF0000000000000) },
		{ "1.00000000000000011102230246251565404236316680908203125",
		    UINT64_C(0x3FF0000000000000) },
		{ "1.00000000000000011102230246251565404236316680908203124",
		    UINT64_C(0x3FF0000000000000) },
		{ "1.00000000000000011102230246251565404236316680908203126",
		    UINT64_C(0x3FF0000000000001) },
	};
	size_t i;
	double d;

	for (i = 0; i < COUNTOF(rows); i++)
		check_double(rows[i].text, rows[i].bits);
	OK(!json_double(read_text("1e400"), &d));
	OK(!json_double(read_text("-1e309"), &d));
	OK(!json_double(read_text("1.7976931348623159e308"), &d));
	OK(!json_double(read_text("\"1\""), &d));
	arena_free(&arena);
}

/*
 * Halfway between two doubles, except for one digit after a thousand zeros:
 * it decides the rounding.
 */
static void
test_sticky(void)
{
	static const char half[] =
	    "1.00000000000000011102230246251565404236316680908203125";
	const char *zeros = repeat("0", 1000, "").p;
	double d = 0;

	OK(json_double(read_str(arena_fmt(&arena, "%s%s", half, zeros)), &d) &&
	    d == 1);
	OK(json_double(read_str(arena_fmt(&arena, "%s%s1", half, zeros)), &d) &&
	    bits_of(d) == UINT64_C(0x3FF0000000000001));
	OK(json_double(read_str(arena_fmt(&arena, "%s%s1e-300", half, zeros)),
	    &d) && d > 1e-300 && d < 1.000000000000001e-300);
	OK(json_double(read_str(arena_fmt(&arena, "9007199254740993%s1e-1001",
	    zeros)), &d) && d == 9007199254740994.0);
	OK(json_double(read_str(arena_fmt(&arena, "9007199254740993%s0e-1001",
	    zeros)), &d) && d == 9007199254740992.0);
	OK(json_double(read_str(arena_fmt(&arena, "0.%s1e1001", zeros)), &d) &&
	    d == 1);
	OK(json_double(read_str(arena_fmt(&arena, "1%se-1000", zeros)), &d) &&
	    d == 1);
	OK(!json_double(read_str(arena_fmt(&arena, "1%s", zeros)), &d));
	arena_free(&arena);
}

static void
test_shortest(void)
{
	static const struct {
		uint64_t bits;
		const char *text;
	} rows[] = {
		{ UINT64_C(0x0000000000000000), "0" },
		{ UINT64_C(0x8000000000000000), "-0" },
		{ UINT64_C(0x3FF0000000000000), "1" },
		{ UINT64_C(0xBFF0000000000000), "-1" },
		{ UINT64_C(0x4059000000000000), "100" },
		{ UINT64_C(0x3FE0000000000000), "0.5" },
		{ UINT64_C(0x3FB999999999999A), "0.1" },
		{ UINT64_C(0x4011666666666666), "4.35" },
		{ UINT64_C(0x3FD3333333333334), "0.30000000000000004" },
		{ UINT64_C(0x3FD5555555555555), "0.3333333333333333" },
		{ UINT64_C(0x3FE5555555555555), "0.6666666666666666" },
		{ UINT64_C(0x40FE240C9FBE76C9), "123456.789" },
		{ UINT64_C(0x4132D68740000000), "1234567.25" },
		{ UINT64_C(0x41CDCD64FFFFFFF8), "999999999.999999" },
		{ UINT64_C(0x41CDCD65000CCCCD), "1000000000.1" },
		{ UINT64_C(0x419D6F34547E6B40), "123456789.123456" },
		{ UINT64_C(0x430C6BF526340000), "1000000000000000" },
		{ UINT64_C(0x4340000000000000), "9007199254740992" },
		{ UINT64_C(0x437B69B4BA630F35), "123456789012345680" },
		{ UINT64_C(0x43E0000000000000), "9223372036854776000" },
		{ UINT64_C(0x4415AF1D78B58C40), "100000000000000000000" },
		{ UINT64_C(0x444B1AE4D6E2EF50), "1e+21" },
		{ UINT64_C(0x44B52D02C7E14AF6), "1e+23" },
		{ UINT64_C(0x3F50624DD2F1A9FC), "0.001" },
		{ UINT64_C(0x3F202E7EF70994DD), "0.000123456" },
		{ UINT64_C(0x3EB0C6F7A0B5ED8D), "0.000001" },
		{ UINT64_C(0x3EB92A737110E454), "0.0000015" },
		{ UINT64_C(0x3EB0000000000000), "9.5367431640625e-7" },
		{ UINT64_C(0x3E7AD7F29ABCAF48), "1e-7" },
		{ UINT64_C(0x3E70000000000000), "5.960464477539063e-8" },
		{ UINT64_C(0x3D30000000000000), "5.684341886080802e-14" },
		{ UINT64_C(0xBD30000000000000), "-5.684341886080802e-14" },
		{ UINT64_C(0x4580000000000000), "6.189700196426902e+26" },
		{ UINT64_C(0x7E70000000000000), "1.0715086071862673e+301" },
		{ UINT64_C(0x0020000000000000), "4.450147717014403e-308" },
		{ UINT64_C(0x0010000000000000), "2.2250738585072014e-308" },
		{ UINT64_C(0x000FFFFFFFFFFFFF), "2.225073858507201e-308" },
		{ UINT64_C(0x0000000000000003), "1.5e-323" },
		{ UINT64_C(0x0000000000000001), "5e-324" },
		{ UINT64_C(0x7FEFFFFFFFFFFFFF), "1.7976931348623157e+308" },
		{ UINT64_C(0x7FF0000000000000), "null" },
		{ UINT64_C(0xFFF8000000000000), "null" },
	};
	char out[32];
	size_t i, n;

	for (i = 0; i < COUNTOF(rows); i++) {
		n = json_format_double(out, from_bits(rows[i].bits));
		check(n == strlen(out) && strcmp(out, rows[i].text) == 0,
		    "shortest", rows[i].text);
	}
}

/* Random doubles, and those with few decimals, survive a round trip. */
static void
test_round_trip(void)
{
	uint64_t x = 88172645463325252u;
	char out[32];
	double d, back;
	int i, bad = 0;

	for (i = 0; i < 20000; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		d = i % 2 ? from_bits(x) : (double)(int64_t)(x >> 40) / 1000;
		json_format_double(out, d);
		if (strcmp(out, "null") == 0)
			continue;
		if (!json_double(read_text(out), &back) ||
		    bits_of(back) != bits_of(d)) {
			printf("# %s\n", out);
			bad++;
		}
		if (i % 1000 == 0)
			arena_free(&arena);
	}
	OK(bad == 0);
	arena_free(&arena);
}

static struct str
quoted(struct str s)
{
	struct json v = { .type = JSON_STRING, .n = (uint32_t)s.n };

	v.u.text = s.p;
	return print(&v, 0);
}

static void
test_escape(void)
{
	static const struct {
		struct str in;
		const char *out;
	} rows[] = {
		{ { "", 0 },                    "" },
		{ { NULL, 0 },                  "" },
		{ { "a\"b\\c/d", 7 },           "a\\\"b\\\\c/d" },
		{ { "\b\f\n\r\t", 5 },          "\\b\\f\\n\\r\\t" },
		{ { "\0\x01\x1F\x7F", 4 },      "\\u0000\\u0001\\u001f\x7F" },
		{ { "\xC3\xA9\xE2\x82\xAC", 5 }, "\xC3\xA9\xE2\x82\xAC" },
		{ { "\xC2\x84\xC2\x85\xC2\x86", 6 }, "\xC2\x84\\u0085\xC2\x86" },
		{ { "\xE2\x80\xA7\xE2\x80\xA8", 6 }, "\xE2\x80\xA7\\u2028" },
		{ { "\xE2\x80\xA9\xE2\x80\xAA", 6 }, "\\u2029\xE2\x80\xAA" },
		{ { "a\x80z", 3 },              "a\xEF\xBF\xBDz" },
		{ { "\xED\xA0\x80", 3 },
		    "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD" },
		{ { "\xE2\x82", 2 },            "\xEF\xBF\xBD\xEF\xBF\xBD" },
		{ { "\xF0\x9F\x98\x80\xFF", 5 }, "\xF0\x9F\x98\x80\xEF\xBF\xBD" },
		{ { "12345678\n12345678\"", 18 }, "12345678\\n12345678\\\"" },
	};
	struct str got;
	size_t i;

	for (i = 0; i < COUNTOF(rows); i++) {
		got = quoted(rows[i].in);
		check(str_eq(got, arena_fmt(&arena, "\"%s\"", rows[i].out)) &&
		    read_str(got) != NULL, "escape", rows[i].out);
	}
	arena_free(&arena);
}

/* Strings that end, and escapes, around the size of the writer's buffer. */
static void
test_gather(void)
{
	struct json *v;
	struct str s, out;
	size_t i, bad = 0;

	for (i = 480; i < 1060; i++) {
		s = arena_fmt(&arena, "%s\n\xC3\xA9\x01\xE2\x80\xA8%s",
		    repeat("a", i, "").p, repeat("b", i % 600, "").p);
		out = quoted(s);
		v = read_str(out);
		bad += v == NULL || !str_eq(json_text(v), s) ||
		    out.n != s.n + 2 + 1 + 5 + 3;
		if (i % 50 == 0)
			arena_free(&arena);
	}
	OK(bad == 0);
	arena_free(&arena);
}

static void
test_write(void)
{
	struct buf b = { 0 };
	struct json_out o = { .put = put, .ctx = &b };
	struct json inf = { .type = JSON_NUMBER, .n = 4 };

	json_open(&o, '{');
	OK(str_is(buf_str(&b), "{"));	/* nothing stays in the buffer */
	json_put_member_int(&o, "i", INT64_MIN);
	json_put_member_double(&o, "d", 0.5);
	json_open_member(&o, "list", '[');
	json_put_bool(&o, true);
	json_put_null(&o);
	json_put_cstr(&o, "x");
	json_put_raw(&o, STR("{\"raw\":1}"));
	json_open(&o, '[');
	json_close(&o, ']');
	json_put(&o, NULL);
	json_close(&o, ']');
	json_put_member_nonempty(&o, "none", STR(""));
	json_put_member_nonempty(&o, "last", STR("y"));
	json_close(&o, '}');
	OK(str_is(buf_str(&b), "{\"i\":-9223372036854775808,\"d\":0.5,"
	    "\"list\":[true,null,\"x\",{\"raw\":1},[],null],\"last\":\"y\"}"));
	buf_free(&b);
	inf.u.text = ".inf";
	OK(str_is(print(&inf, 0), "null"));
	OK(str_is(print(read_text("{\"a\":[1,{}],\"b\":{\"c\":[]}}"), 2),
	    "{\n  \"a\": [\n    1,\n    {}\n  ],\n"
	    "  \"b\": {\n    \"c\": []\n  }\n}"));
	OK(str_is(print(read_text("[[1]]"), 40), arena_fmt(&arena,
	    "[\n%40s[\n%80s1\n%40s]\n]", "", "", "").p));
	OK(str_is(print(read_text("1"), 2), "1"));
	arena_free(&arena);
}

static void
test_equal(void)
{
	static const struct {
		const char *a, *b;
		bool same;
	} rows[] = {
		{ "1", "1.0", true },                { "100", "1e2", true },
		{ "0", "-0", true },                 { "0.1", "1e-1", true },
		{ "1", "1.5", false },               { "1e400", "1e400", true },
		{ "1e400", "1e401", false }, { "9007199254740993", "9007199254740992", false },
		{ "1", "\"1\"", false },             { "true", "false", false },
		{ "null", "null", true },            { "null", "false", false },
		{ "\"a\"", "\"\\u0061\"", true },    { "\"a\"", "\"b\"", false },
		{ "\"a\"", "\"aa\"", false },        { "\"\"", "\"\"", true },
		{ "[1,2]", "[1,2]", true },          { "[1,2]", "[2,1]", false },
		{ "[1,2]", "[1]", false },           { "[]", "{}", false },
		{ "{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":1.0}", true },
		{ "{\"a\":1}", "{\"b\":1}", false }, { "{\"a\":1}", "{\"a\":2}", false },
		{ "{\"a\":1}", "{\"a\":1,\"b\":1}", false },
		{ "{\"a\":1,\"a\":2}", "{\"a\":2}", true },
	};
	size_t i;

	for (i = 0; i < COUNTOF(rows); i++)
		check(json_equal(read_text(rows[i].a), read_text(rows[i].b)) ==
		    rows[i].same && json_equal(read_text(rows[i].b),
		    read_text(rows[i].a)) == rows[i].same, "equal", rows[i].a);
	arena_free(&arena);
}

static void
test_memory(void)
{
	static const char *const rows[] = {
		"{\"jsonrpc\":\"2.0\",\"id\":17,\"method\":\"eval.run\",\"params\":"
		    "{\"path\":\"suites/azure/eval.yaml\",\"workers\":4,"
		    "\"model\":\"gpt-4o-mini\"}}",
		"{\"jsonrpc\":\"2.0\",\"id\":17,\"result\":{\"success\":true,"
		    "\"runId\":\"run-000123\",\"status\":\"running\","
		    "\"tasks\":12,\"started\":\"2025-01-01T10:20:30Z\"}}",
		"{\"jsonrpc\":\"2.0\",\"method\":\"eval.progress\",\"params\":"
		    "{\"runId\":\"run-000123\",\"taskName\":\"deploy-web-app\","
		    "\"taskNum\":3,\"totalTasks\":12,\"status\":\"passed\"}}",
		"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32602,"
		    "\"message\":\"path: expected a string, got a number\","
		    "\"data\":{\"kind\":\"schema\"}}}",
		"{\"type\": \"evaluate\", \"id\": \"6f1c\", \"tool\": \"search\", "
		    "\"input\": {\"query\": \"caf\\u00e9 \\\"near\\\" me\", "
		    "\"limit\": 10, \"exact\": false}}",
	};
	size_t i, n;
	char name[60];

	for (i = 0; i < COUNTOF(rows); i++) {
		n = strlen(rows[i]);
		OK(read_text(rows[i]) != NULL);
		snprintf(name, sizeof(name), "%zu bytes of text take %zu",
		    n, arena.used);
		check(arena.used <= 4 * n, "memory", name);
		arena_free(&arena);
	}
}

/* An allocator that fails after n blocks. */
struct miser {
	struct arena *arena;
	size_t left;
};

static void *
miser_alloc(void *ctx, size_t n)
{
	struct miser *m = ctx;

	if (m->left == 0)
		return NULL;
	m->left--;
	return arena_hook(m->arena, n);
}

static void
test_no_memory(void)
{
	struct str text = members(300, 30);
	struct miser miser = { &arena, 0 };
	struct json_mem poor = { miser_alloc, &miser };
	struct json *v = NULL;
	size_t n, failed = 0;

	OK(json_read(&poor, STR("1"), 0, &error) == NULL &&
	    strcmp(error.msg, "out of memory") == 0);
	for (n = 1; v == NULL && n < 1000; n++) {
		miser.left = n;
		v = json_read(&poor, text, 0, &error);
		failed += v == NULL;
	}
	/* The first success may lack the index, but is correct. */
	OK(failed > 0 && members_ok(v, 300, 30));
	miser.left = 1;
	OK(json_read(&poor, STR("\"\\n\""), 0, &error) == NULL);
	arena_free(&arena);
}

static bool
slurp(const char *path, struct buf *b)
{
	FILE *f = fopen(path, "rb");
	size_t k;

	if (f == NULL)
		return false;
	b->n = 0;
	do {
		k = fread(buf_room(b, 65536), 1, 65536, f);
		b->n += k;
	} while (k > 0);
	fclose(f);
	return true;
}

static const char *
corpus_path(const char *dir, const char *file)
{
	const char *root = getenv("CORPUS");

	return arena_fmt(&arena, "%s/json/%s%s",
	    root != NULL ? root : "../shared/corpus", dir, file).p;
}

/* Read, written in both forms and read again: equal. */
static bool
stable(const struct json *v)
{
	struct json *w = read_str(print(v, 0)), *x = read_str(print(v, 2));

	return w != NULL && x != NULL && json_equal(v, w) && json_equal(w, x) &&
	    str_eq(print(v, 0), print(x, 0)) &&
	    str_eq(print(v, 2), print(w, 2));
}

static void
test_corpus(void)
{
	DIR *dir = opendir(corpus_path("parsing/", ""));
	struct dirent *d;
	struct buf b = { 0 };
	struct json *v;
	int count[128] = { 0 };

	if (dir == NULL) {
		SKIP("no JSONTestSuite");
		return;
	}
	while ((d = readdir(dir)) != NULL) {
		if (strlen(d->d_name) < 3 || d->d_name[1] != '_' ||
		    strchr("yni", d->d_name[0]) == NULL)
			continue;
		count[(int)d->d_name[0]]++;
		if (!slurp(corpus_path("parsing/", d->d_name), &b)) {
			check(false, "unreadable", d->d_name);
			continue;
		}
		v = read_str(buf_str(&b));
		check(d->d_name[0] == 'i' ? v == NULL || stable(v) :
		    d->d_name[0] == 'n' ? v == NULL : v != NULL && stable(v),
		    "corpus", d->d_name);
	}
	closedir(dir);
	printf("# JSONTestSuite: %d y, %d n, %d i\n", count['y'], count['n'],
	    count['i']);
	OK(count['y'] > 0 && count['n'] > 0);
	buf_free(&b);
	arena_free(&arena);
}

static void
test_transform(void)
{
	static const struct {
		const char *file, *out;		/* NULL: refused */
	} rows[] = {
		{ "number_-9223372036854775809.json",   "[-9223372036854775809]" },
		{ "number_1.0.json",                    "[1.0]" },
		{ "number_1e-999.json",                 "[1E-999]" },
		{ "number_9223372036854775807.json",    "[9223372036854775807]" },
		{ "number_9223372036854775808.json",    "[9223372036854775808]" },
		{ "object_same_key_different_values.json", "{\"a\":2}" },
		{ "object_same_key_same_value.json",    "{\"a\":1}" },
		{ "object_same_key_unclear_values.json", "{\"a\":-0}" },
		{ "string_1_escaped_invalid_codepoint.json", NULL },
		{ "string_2_invalid_codepoints.json",   NULL },
		{ "string_3_escaped_invalid_codepoints.json", NULL },
		{ "string_3_invalid_codepoints.json",   NULL },
	};
	struct buf b = { 0 };
	struct json *v;
	size_t i;

	for (i = 0; i < COUNTOF(rows); i++) {
		if (!slurp(corpus_path("transform/", rows[i].file), &b)) {
			SKIP("no JSONTestSuite");
			continue;
		}
		v = read_str(buf_str(&b));
		check(rows[i].out == NULL ? v == NULL :
		    v != NULL && str_is(print(v, 0), rows[i].out),
		    "transform", rows[i].file);
	}
	buf_free(&b);
	arena_free(&arena);
}

static uint32_t
next_random(uint32_t *seed, uint32_t below)
{
	*seed = *seed * 1664525u + 1013904223u;
	return (*seed >> 8) % below;
}

static void
put_digits(struct buf *b, uint32_t *seed, uint32_t n)
{
	buf_putc(b, (char)('1' + next_random(seed, 9)));
	for (; n > 1; n--)
		buf_putc(b, (char)('0' + next_random(seed, 10)));
}

/* Numbers of all lengths, as strtod() reads them, and not a byte more. */
static void
test_nearest(void)
{
	struct json v = { .type = JSON_NUMBER };
	uint32_t seed = 7;
	int i, bad = 0;
	struct buf b;
	double d, want;
	char *p;

	for (i = 0; i < 50000; i++) {
		b = (struct buf){ 0 };
		if (next_random(&seed, 3) == 0)
			buf_putc(&b, '-');
		put_digits(&b, &seed, 1 + next_random(&seed, i % 2 ? 20 : 4));
		if (next_random(&seed, 2) == 0) {
			buf_puts(&b, next_random(&seed, 3) ? "." : ".00");
			put_digits(&b, &seed, 1 + next_random(&seed, 20));
		}
		if (next_random(&seed, 3) == 0)
			buf_fmt(&b, "e%d", (int)next_random(&seed, 70) - 35);
		p = malloc(b.n);
		memcpy(p, b.p, b.n);
		v.u.text = p;
		v.n = (uint32_t)b.n;
		buf_putc(&b, '\0');
		want = strtod(b.p, NULL);
		if (!json_double(&v, &d) || memcmp(&d, &want, sizeof(d)) != 0) {
			printf("# %s: %.17g\n", b.p, d);
			bad++;
		}
		free(p);
		buf_free(&b);
	}
	OK(bad == 0);
}

/* Short integers with 0 to 10 bytes of text behind them, and no more. */
static void
test_brief(void)
{
	static const char digits[] = "-1029384756";
	struct json *v;
	size_t n, tail, from, bad = 0;
	char want[16], *p;
	int64_t i;
	double d;

	for (from = 0; from < 2; from++)
		for (n = 2; n < sizeof(digits); n++)
			for (tail = 0; tail < 11; tail++) {
				snprintf(want, sizeof(want), "%.*s",
				    (int)(n - from), digits + from);
				p = malloc(n - from + tail);
				memset(p, ' ', n - from + tail);
				memcpy(p, want, n - from);
				v = read_str((struct str){ p, n - from + tail });
				bad += !json_int(v, &i) || i != atoll(want) ||
				    !json_double(v, &d) ||
				    d != (double)atoll(want);
				free(p);
			}
	OK(bad == 0);
	v = read_text("{\"a\":1,\"b\":2.5,\"a\":2.5,\"b\":12        }");
	OK(json_double(json_getc(v, "a"), &d) && d == 2.5);
	OK(!json_int(json_getc(v, "a"), &i));
	OK(json_int(json_getc(v, "b"), &i) && i == 12);
	v = read_text("[-0, 0          ]");
	OK(json_double(json_first(v), &d) && d == 0 && bits_of(d) != 0);
	OK(json_double(json_first(v)->next, &d) && bits_of(d) == 0);
}

/* Elements of arrays have no fields for a name; copies have them. */
static void
test_copy(void)
{
	struct json *v = read_text("[7, {\"a\": 12}, \"s\"]        "), copy;
	int64_t i;

	copy = json_copy(json_first(v));
	OK(copy.key == NULL && copy.nkey == 0 && copy.key_line == 0);
	OK(copy.next == json_first(v)->next && copy.line == 1 && copy.col == 2);
	OK(json_int(&copy, &i) && i == 7);
	copy.key = "seven";
	copy.nkey = 5;
	OK(str_is(json_key(&copy), "seven"));
	copy = json_copy(json_first(json_first(v)->next));
	OK(str_is(json_key(&copy), "a") && json_int(&copy, &i) && i == 12);
	OK(copy.key_line == 1 && copy.key_col == 6);
	copy = json_copy(&copy);
	OK(str_is(json_key(&copy), "a"));
	copy = json_copy(v);
	OK(copy.key == NULL && json_count(&copy) == 3);
	arena_free(&arena);
}

int
main(void)
{
	RUN(test_nearest, test_brief, test_copy, test_accept, test_reject,
	    test_cut,
	    test_utf8, test_depth, test_tree, test_prefix, test_members, test_collide, test_seal,
	    test_int, test_double, test_sticky, test_shortest, test_round_trip,
	    test_escape, test_gather, test_write, test_equal, test_memory,
	    test_no_memory, test_corpus, test_transform);
	RUN_LARGE(test_big);
	return tap_done();
}
