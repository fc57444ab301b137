/* SPDX-License-Identifier: ISC */
#include <string.h>

#include "base/base.h"
#include "json.h"
#include "lib/csv.h"
#include "test/tool/help.h"
#include "test/tool/tap.h"

static struct arena arena;

/* The table as JSON, or "line:col: message". */
static bool
reads(const char *text, const char *want)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };
	struct err e = { 0 };
	struct json *v = csv_read(&arena, str_of(text), &e);

	if (v != NULL)
		json_put(&o, v);
	else
		buf_fmt(&b, "%u:%u: %s", e.line, e.col, e.msg);
	return is_buf(&b, want);
}

static void
test_good(void)
{
	OK(reads("a,b\n1,2\n", "[{\"a\":\"1\",\"b\":\"2\"}]"));
	OK(reads("a,b\n1,2", "[{\"a\":\"1\",\"b\":\"2\"}]"));
	OK(reads("a,b\r\n1,2\r\n", "[{\"a\":\"1\",\"b\":\"2\"}]"));
	OK(reads("a,b\n1,2\r", "[{\"a\":\"1\",\"b\":\"2\"}]"));
	OK(reads("\xEF\xBB\xBF" "a\nx\n", "[{\"a\":\"x\"}]"));
	OK(reads("\n\r\na\n\nx\n\n\ny\n", "[{\"a\":\"x\"},{\"a\":\"y\"}]"));
	OK(reads("a\n", "[]"));
	OK(reads("a,b\n,\n", "[{\"a\":\"\",\"b\":\"\"}]"));
	OK(reads("a\n\"\"\n", "[{\"a\":\"\"}]"));
	OK(reads("a,b\n\"x,y\",\"z\"\"q\"\n",
	    "[{\"a\":\"x,y\",\"b\":\"z\\\"q\"}]"));
	OK(reads("a,b\n\"1\r\n2\",3\n", "[{\"a\":\"1\\n2\",\"b\":\"3\"}]"));
	OK(reads("a,b\n\"1\r2\",3\r4\n",
	    "[{\"a\":\"1\\r2\",\"b\":\"3\\r4\"}]"));
	OK(reads("a, b\n x ,y\n", "[{\"a\":\" x \",\" b\":\"y\"}]"));
	OK(reads("a\n   \n", "[{\"a\":\"   \"}]"));
	OK(reads("\"a b\",c\n\303\251,2\n",
	    "[{\"a b\":\"\303\251\",\"c\":\"2\"}]"));
	OK(reads("a\n\"\"\"\"\n", "[{\"a\":\"\\\"\"}]"));
}

static void
test_bad(void)
{
	struct str nul = STR("a\nb\0c\n");
	struct err e = { 0 };

	OK(reads("", "1:1: the header is missing: the file is empty"));
	OK(reads("\n\n", "3:1: the header is missing: the file is empty"));
	OK(reads("a,b\n1\n", "2:1: fewer fields than the header, which has 2"));
	OK(reads("a,b\n1,2,3\n",
	    "2:5: more fields than the header, which has 2"));
	OK(reads("a,b,a\n", "1:5: duplicate column \"a\""));
	OK(reads("a\nx\"y\n", "2:2: quote inside an unquoted field; "
	    "quote the whole field"));
	OK(reads("a,b\n1,\"x\ny\n", "2:3: a quote is not closed"));
	OK(reads("a,b\n1,\"x\"y\n", "2:6: text after a closing quote; "
	    "write a quote inside a quoted field twice"));
	OK(reads("a\n\"x\ny\" z\n", "3:3: text after a closing quote; "
	    "write a quote inside a quoted field twice"));
	OK(reads("a\nb\n\377\n", "3:1: the text is not valid UTF-8"));
	OK(csv_read(&arena, nul, &e) == NULL && e.line == 2 && e.col == 2);
}

static void
test_places(void)
{
	struct err e;
	struct json *v = csv_read(&arena,
	    STR("id,p\n1,\"a\nb\"\n\n2,c\n"), &e);
	struct json *row = json_first(v);

	OK(row->line == 2 && row->col == 1);
	OK(json_getc(row, "p")->line == 2 && json_getc(row, "p")->col == 3);
	OK(json_getc(row, "p")->key_line == 1);
	OK(json_getc(row, "p")->key_col == 4);
	OK(row->next->line == 5);
}

/* Many columns are found by name; time is linear in the rows. */
static void
test_many(void)
{
	struct arena a = { 0 };
	struct buf b = { 0 };
	struct err e;
	struct json *v;
	size_t i;

	for (i = 0; i < 300; i++)
		buf_fmt(&b, "%sc%zu", i > 0 ? "," : "", i);
	buf_putc(&b, '\n');
	for (i = 0; i < 300; i++)
		buf_fmt(&b, "%s%zu", i > 0 ? "," : "", i);
	v = csv_read(&a, buf_str(&b), &e);
	OK(v != NULL && str_is(json_text(json_getc(json_first(v), "c299")),
	    "299"));
	buf_free(&b);
	arena_free(&a);
	b = (struct buf){ 0 };
	buf_puts(&b, "id,prompt\n");
	for (i = 0; i < 100000; i++)
		buf_fmt(&b, "t%zu,say something\n", i);
	v = csv_read(&a, buf_str(&b), &e);
	OK(v != NULL && json_count(v) == 100000);
	OK(a.used < 100000 * 200);
	buf_free(&b);
	arena_free(&a);
}

int
main(void)
{
	RUN(test_good, test_bad, test_places, test_many);
	arena_free(&arena);
	return tap_done();
}
