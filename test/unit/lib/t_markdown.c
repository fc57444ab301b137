/* SPDX-License-Identifier: ISC */
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "lib/markdown/markdown.h"
#include "test/tool/help.h"
#include "test/tool/tap.h"

/* The links of a text: "line:col target", an image with "!". */
static bool
links(const char *text, const char *want)
{
	struct arena a = { 0 };
	struct markdown m;
	struct buf b = { 0 };
	size_t i;
	bool same;

	markdown_read(&a, str_of(text), 1, &m);
	for (i = 0; i < m.nlinks; i++)
		buf_fmt(&b, "%s%u:%u %s%.*s", i > 0 ? " | " : "",
		    m.link[i].line, m.link[i].col, m.link[i].image ? "!" : "",
		    STRF(m.link[i].target));
	same = is_buf(&b, want);
	arena_free(&a);
	return same;
}

static void
test_inline(void)
{
	OK(links("[a](b.md)", "1:1 b.md"));
	OK(links("x [a](b.md \"t\") y ![i](c.png 't')", "1:3 b.md | 1:19 !c.png"));
	OK(links("[a]( <b c.md> )", "1:1 b c.md"));
	OK(links("[a](b c.md)", ""));
	OK(links("[a](b(c)d)", "1:1 b(c)d"));
	OK(links("[a](b(c", ""));
	OK(links("[a](b\\)c)", "1:1 b)c"));
	OK(links("[a](b&amp;c&#x41;&#66;)", "1:1 b&cAB"));
	OK(links("[a]()", "1:1 "));
	OK(links("[a] (b)", ""));
	OK(links("\\[a](b)", ""));
	OK(links("[a\\](b)", ""));
	OK(links("[a [b](c) d](e)", "1:4 c"));
	OK(links("[![i](c.png)](d)", "1:1 d | 1:2 !c.png"));
	OK(links("![a [b](c) d](e)", "1:1 !e | 1:5 c"));
	OK(links("[a\nb](c\n'd')", "1:1 c"));
	OK(links("[a]](b)", ""));
	OK(links("[[a](b)", "1:2 b"));
	OK(links("[a](b \"c)", ""));
	OK(links("[a](b 'c' d)", ""));
	OK(links("[\xC3\xA4](\xC3\xA4.md)", "1:1 \xC3\xA4.md"));
}

static void
test_code(void)
{
	OK(links("`[a](b)` [c](d)", "1:10 d"));
	OK(links("``[a](b)` [c](d)`` [e](f)", "1:20 f"));
	OK(links("`[a](b)", "1:2 b"));
	OK(links("[a`](b)`](c)", "1:1 c"));
	OK(links("```\n[a](b)\n```\n[c](d)\n", "4:1 d"));
	OK(links("~~~ x\n[a](b)\n```\n~~\n~~~~\n[c](d)\n", "6:1 d"));
	OK(links("```\n[a](b)\n", ""));
	OK(links("    [a](b)\n\n[c](d)\n", "3:1 d"));
	OK(links("x\n    [a](b)\n", "2:5 b"));
	OK(links("\t[a](b)\n", ""));
	OK(links("- x\n\n      [a](b)\n\n  [c](d)\n", "5:3 d"));
	OK(links("- x\n  ```\n  [a](b)\n  ```\n  [c](d)\n", "5:3 d"));
	OK(links("> ```\n> [a](b)\n[c](d)\n", "3:1 d"));
	OK(links("1. a\n   ```sh\n   [x](y)\n   ```\n2. [c](d)\n", "5:4 d"));
	OK(links("`` ` `` [a](b)", "1:9 b"));
}

static void
test_html(void)
{
	OK(links("<div>\n[a](b)\n</div>\n\n[c](d)\n", "5:1 d"));
	OK(links("<div>\n\n[a](b)\n", "3:1 b"));
	OK(links("<!-- [a](b)\n\n[c](d) -->\n[e](f)\n", "4:1 f"));
	OK(links("x <!-- [a](b) --> [c](d)", "1:19 d"));
	OK(links("x <b title=\"[a](b)\">[c](d)</b>", "1:21 d"));
	OK(links("<script>\n\n[a](b)\n</script>\n[c](d)\n", "5:1 d"));
	OK(links("x < [a](b) > y", "1:5 b"));
	OK(links("<https://e.org/x> <a@b.c> <x y>", "1:1 https://e.org/x | 1:19 mailto:a@b.c"));
	OK(links("<a> [b](c)", "1:5 c"));
	OK(links("[a](b)\n<div>\n[c](d)", "1:1 b"));
}

static void
test_blocks(void)
{
	OK(links("> [a](b)\nlazy [c](d)\n", "1:3 b | 2:6 d"));
	OK(links("- [a](b)\n  - [c](d)\n10. [e](f)\n", "1:3 b | 2:5 d | 3:5 f"));
	OK(links("* * *\n[a](b)\n***\n", "2:1 b"));
	OK(links("[a](b)\n===\n## [c](d) ##\n", "1:1 b | 3:4 d"));
	OK(links("| a | [b](c) |\n|---|---|\n| [d](e) | `[f](g)` |\n", "1:7 c | 3:3 e"));
	OK(links("[a](b)\r\n\r\n[c](d)\r\n", "1:1 b | 3:1 d"));
	OK(links("> > - [a](b)\n", "1:7 b"));
	OK(links("-\t[a](b)\n", "1:3 b"));
	OK(links("", ""));
	OK(links("---\n[a](b)\n", "2:1 b"));
	OK(links("x\n1) [a](b)\n2) [c](d)\n", "2:4 b | 3:4 d"));
	OK(links("[a\n\nb](c)", ""));
	OK(links("# [a\nb](c)", ""));
}

static void
test_references(void)
{
	OK(links("[a][x] [X] [x][] [y]\n\n[x]: b.md\n", "1:1 b.md | 1:8 b.md | 1:12 b.md"));
	OK(links("[x]: <b c> 't'\n[x]: d\n[x]\n", "3:1 b c"));
	OK(links("[x]:\n  b\n  \"t\"\n\n![i][x]\n", "5:1 !b"));
	OK(links("[x]: b c\n[x]\n", ""));
	OK(links("a\n[x]: b\n\n[x]\n", ""));
	OK(links("[a  B]: c\n\n[A\nb]\n", "3:1 c"));
	OK(links("[x]: b\n'unfinished\n\n[x]\n", "4:1 b"));
	OK(links("[a](b)[x]\n\n[x]: c\n", "1:1 b | 1:7 c"));
	OK(links("```\n[x]: b\n```\n[x]\n", ""));
	OK(links("> [x]: b\n\n[x]\n", "3:1 b"));
	OK(links("- [ ] [a](b)\n- [x] c\n", "1:7 b"));
}

static void
test_raw(void)
{
	struct arena a = { 0 };
	struct markdown m;
	struct str text = STR("> [a](<b c.md>)\n> [d][e]\n\n[e]: f%20g.md 't'\n");

	markdown_read(&a, text, 5, &m);
	OK(m.nlinks == 2 && m.link[0].line == 5 && m.link[1].line == 6);
	OK(is_text(m.link[0].raw, "b c.md") && m.link[0].raw.p == text.p + 7);
	OK(is_text(m.link[1].raw, "f%20g.md"));
	OK(m.link[1].raw.p > text.p && m.link[1].raw.p < text.p + text.n);
	arena_free(&a);
}

static bool
anchored(const char *text, const char *fragment)
{
	struct arena a = { 0 };
	struct markdown m;
	bool has;

	markdown_read(&a, str_of(text), 1, &m);
	has = markdown_has_anchor(&m, str_of(fragment));
	arena_free(&a);
	return has;
}

static void
test_anchors(void)
{
	OK(anchored("# Hello, World!\n", "hello-world"));
	OK(anchored("# Hello, World!\n", "Hello-World"));
	OK(!anchored("# Hello, World!\n", "hello"));
	OK(!anchored("```\n# Hello\n```\n", "hello"));
	OK(anchored("A  B\n---\n", "a--b"));
	OK(anchored("## `code_x` & [text](target.md) #\n", "code_x--text"));
	OK(anchored("# A\n# A\n# A\n", "a") && anchored("# A\n# A\n# A\n", "a-2"));
	OK(!anchored("# A\n# A\n", "a-2"));
	OK(anchored("# _Emphasis_ of it\n", "emphasis-of-it"));
	OK(anchored("# \xC3\x84rger \xE2\x86\x92 x\n", "\xC3\xA4rger--x"));
	OK(anchored("x <a name=\"here\"></a>\n", "here"));
	OK(anchored("<div class=\"x\" id='there'>\n", "there"));
	OK(anchored("# 1. First step\n", "1-first-step"));
	OK(!anchored("x `<a id=\"code\">`\n", "code"));
	OK(!anchored("", ""));
}

static void
test_parts(void)
{
	struct arena a = { 0 };
	struct markdown m;

	markdown_read(&a, STR("# A\ntext\n\nB\n==\n```\n1\n2\n```\n~~~\nopen\n"),
	    10, &m);
	OK(m.nheadings == 2 && is_text(m.heading[1].text, "B") &&
	    m.heading[1].level == 1 && m.heading[1].line == 13);
	OK(m.nfences == 2 && m.fence[0].line == 15 && m.fence[0].lines == 2);
	OK(m.fence[1].line == 19 && m.fence[1].lines == 1);
	arena_free(&a);
}

/* Inputs that make careless readers quadratic; n bytes of each. */
static void
test_hostile(void)
{
	static const char *const pieces[] = { "[", "]", "[a](", "[a](b", "<!--",
		"<a b=\"", "`", "`a``", "> ", "- ", "[a][", "![", "[a](<b",
		"\\", "[x]: y\n", "<?", "<![CDATA[", "&", "[a](b \"", "#\n",
		"[[a](b)", "* a\n", "<a ", "(", "[]", "~~~\n", " " };
	enum { SIZE = 1 << 20 };
	struct arena a = { 0 };
	struct markdown m;
	struct buf b = { 0 };
	double cpu = tap_cpu();
	size_t i;

	for (i = 0; i < COUNTOF(pieces); i++) {
		b.n = 0;
		while (b.n < SIZE)
			buf_puts(&b, pieces[i]);
		markdown_read(&a, buf_str(&b), 1, &m);
		arena_free(&a);
	}
	buf_free(&b);
	OK(tap_cpu() - cpu < 60);
}

int
main(void)
{
	RUN(test_inline, test_code, test_html, test_blocks, test_references,
	    test_raw, test_anchors, test_parts);
	RUN_LARGE(test_hostile);
	return tap_done();
}
