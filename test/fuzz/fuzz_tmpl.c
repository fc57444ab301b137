/* SPDX-License-Identifier: ISC */
/*
 * Input: a template.  An error has a place within the text.  A text without
 * templates is unchanged.  Any text is rendered to itself if its double braces
 * are written as templates.
 */
#include <assert.h>
#include <string.h>

#include "base/base.h"
#include "json.h"
#include "lib/tmpl.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
put_escaped(struct buf *b, struct str s)
{
	size_t i;

	for (i = 0; i < s.n; i++) {
		if (s.p[i] == '{' && i + 1 < s.n && s.p[i + 1] == '{') {
			buf_puts(b, "{{\"{{\"}}");
			i++;
		} else
			buf_putc(b, s.p[i]);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char vars[] = "{\"a\":\"1\",\"my key\":[2],\"b\":null}";
	struct arena a = { 0 };
	struct json_mem mem = { arena_hook, &a };
	struct json_error je;
	struct tmpl_vars v = { STR("run"), STR("task"), STR("now"), 1, 2,
		{ json_read(&mem, str_of(vars), 0, &je), NULL } };
	struct str text = { (const char *)data, size }, out;
	struct buf b = { 0 };
	struct err e = { 0 };

	out = tmpl_render(&a, text, &v, &e);
	if (size == 0)
		assert(out.n == 0);
	else if (out.p == NULL)
		assert(e.code != ERR_NONE && e.line > 0 && e.col > 0 &&
		    e.msg[0] != '\0');
	else if (!tmpl_any(text))
		assert(str_eq(out, text));
	put_escaped(&b, text);
	out = tmpl_render(&a, buf_str(&b), &v, &e);
	assert(str_eq(out, text));
	buf_free(&b);
	arena_free(&a);
	return 0;
}
