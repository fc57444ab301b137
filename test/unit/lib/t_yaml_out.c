/* SPDX-License-Identifier: ISC */
#include "lib/yaml/yaml_out.h"

#include <string.h>

#include "json.h"
#include "test/tool/tap.h"
#include "yaml_lite.h"

/* Whether JSON is written as this YAML, which reads back as the same. */
static bool
writes(const char *json, const char *yaml)
{
	struct arena a = { 0 };
	struct json *v = arena_json(&a, str_of(json), NULL), *w;
	struct buf b = { 0 };
	struct err e = { 0 };
	bool ok;

	yaml_put(&b, v, 0);
	ok = str_is(buf_str(&b), yaml);
	if (!ok)
		printf("# got:\n%.*s", STRF(buf_str(&b)));
	w = yaml_read_one(&a, buf_str(&b), &e);
	if (w == NULL || !json_equal(v, w)) {
		printf("# read: %s\n", e.msg);
		ok = false;
	}
	buf_free(&b);
	arena_free(&a);
	return ok;
}

static void
test_scalars(void)
{
	OK(writes("\"two words\"", "two words\n"));
	OK(writes("\"\"", "\"\"\n"));
	OK(writes("\"Yes\"", "\"Yes\"\n"));
	OK(writes("\"null\"", "\"null\"\n"));
	OK(writes("\"1.0\"", "\"1.0\"\n"));
	OK(writes("1.50", "1.50\n"));
	OK(writes("\"a: b\"", "\"a: b\"\n"));
	OK(writes("\"a #b\"", "\"a #b\"\n"));
	OK(writes("\"- a\"", "\"- a\"\n"));
	OK(writes("\" a\"", "\" a\"\n"));
	OK(writes("\"a \"", "\"a \"\n"));
	OK(writes("\"\\u00e9\"", "\"\303\251\"\n"));
	OK(writes("[true, null]", "- true\n- null\n"));
}

static void
test_blocks(void)
{
	OK(writes("{\"a\": \"x\\n\\ny: z\\n\"}", "a: |\n  x\n\n  y: z\n"));
	OK(writes("[{\"a\": \"x\\ny\"}]", "- a: |-\n    x\n    y\n"));
	OK(writes("{\"a\": \"x\\n  y\\n z\"}", "a: |-\n  x\n    y\n   z\n"));
	OK(writes("\" x\\ny\"", "\" x\\ny\"\n"));
	OK(writes("\"x\\n \\ny\"", "\"x\\n \\ny\"\n"));
	OK(writes("\"x\\ny\\n \"", "\"x\\ny\\n \"\n"));
	OK(writes("\"x\\n\\n\"", "\"x\\n\\n\"\n"));
	OK(writes("\"\\nx\"", "\"\\nx\"\n"));
	OK(writes("\"x\\ty\\nz\"", "\"x\\ty\\nz\"\n"));
	OK(writes("\"x\\r\\nz\"", "\"x\\r\\nz\"\n"));
	OK(writes("\"x\\n---\\nz\"", "|-\n  x\n  ---\n  z\n"));
	OK(writes("{\"a\": \"x\\n---\\n...\"}",
	    "a: |-\n  x\n  ---\n  ...\n"));
}

static void
test_collections(void)
{
	OK(writes("{\"a\": [1, {\"b\": 2, \"c\": []}], \"d e\": {}}",
	    "a:\n  - 1\n  - b: 2\n    c: []\nd e: {}\n"));
	OK(writes("[[1, [2]], {\"<<\": {\"on\": 1}}]",
	    "-\n  - 1\n  -\n    - 2\n- \"<<\":\n    \"on\": 1\n"));
	OK(writes("{}", "{}\n"));
}

/* A key that is too long for a line of its own, and all strings of a byte. */
static void
test_odd(void)
{
	struct arena a = { 0 };
	struct buf b = { 0 }, y = { 0 };
	struct json *v, *w;
	struct err e;
	unsigned c;
	int bad = 0;

	buf_puts(&b, "{\"");
	for (c = 0; c < 2000; c++)
		buf_putc(&b, 'k');
	buf_puts(&b, "\": [1]}");
	v = arena_json(&a, buf_str(&b), NULL);
	yaml_put(&y, v, 0);
	w = yaml_read_one(&a, buf_str(&y), &e);
	OK(w != NULL && json_equal(v, w));
	for (c = 0; c < 128; c++) {
		b.n = y.n = 0;
		buf_fmt(&b, "[\"\\u%04x\", \"x\\u%04xy\\nz\"]", c, c);
		v = arena_json(&a, buf_str(&b), NULL);
		yaml_put(&y, v, 0);
		w = yaml_read_one(&a, buf_str(&y), &e);
		bad += w == NULL || !json_equal(v, w);
	}
	OK(bad == 0);
	buf_free(&b);
	buf_free(&y);
	arena_free(&a);
}

int
main(void)
{
	RUN(test_scalars, test_blocks, test_collections, test_odd);
	return tap_done();
}
