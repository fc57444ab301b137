/* SPDX-License-Identifier: ISC */
#include <string.h>

#include "base/base.h"
#include "editor/lsp_internal.h"
#include "test/tool/help.h"
#include "test/tool/tap.h"

static struct arena arena;

/* The text without its "|", whose offset is stored. */
static struct str
cursor(const char *text, size_t *offset)
{
	const char *bar = strchr(text, '|');

	*offset = (size_t)(bar - text);
	return arena_fmt(&arena, "%.*s%s", (int)*offset, text, bar + 1);
}

/* The path of a position: "tasks[].id=" is a value, "tasks[].?" a key. */
static const char *
path_at(const char *text)
{
	struct lsp_at at;
	struct buf b = { 0 };
	size_t offset, i;
	struct str s = cursor(text, &offset);

	if (!lsp_look(s, offset, &at))
		return "none";
	for (i = 0; i < at.n; i++)
		if (at.step[i].key.p == NULL)
			buf_puts(&b, "[]");
		else
			buf_fmt(&b, "%s%.*s", i > 0 ? "." : "",
			    STRF(at.step[i].key));
	buf_fmt(&b, "%s%s<%.*s>", at.key && at.n > 0 ? "." : "",
	    at.key ? "?" : "=", (int)(at.to - at.from), s.p + at.from);
	return arena_take(&arena, &b).p;
}

#define AT(text, want) OK(strcmp(path_at(text), want) == 0 || \
	(printf("# %s\n", path_at(text)), false))

static void
test_blocks(void)
{
	AT("|", "?<>");
	AT("na|me: x\n", "?<name>");
	AT("name: x|\n", "name=<x>");
	AT("name: |\n", "name=<>");
	AT("name:|", "name=<>");
	AT("config:\n  |", "config.?<>");
	AT("config:\n  exec|utor: mock\n", "config.?<executor>");
	AT("config:\n  executor: mo|ck\n", "config.executor=<mock>");
	AT("config:\n  a: 1\n\n  # remark\n  b|\n", "config.?<b>");
	AT("config:\n  a:\n    b: 1\n  |\n", "config.?<>");
	AT("config:\n  a:\n    b: 1\n|\n", "?<>");
	AT("a:\n    b:\n        c: |\n", "a.b.c=<>");
	AT("config: # remark\n  a|\n", "config.?<a>");
	AT("config: &anchor\n  a|\n", "config.?<a>");
	AT("\"config\":\n  a|\n", "config.?<a>");
	AT("name: x # rem|ark\n", "none");
	AT("config:\n  exe\n  model: |\n", "config.model=<>");
	AT("# rem|ark\n", "none");
	AT("  # rem|ark\n", "none");
	AT("name: a\r\nconfig:\r\n  x|\r\n", "config.?<x>");
}

static void
test_lists(void)
{
	AT("tasks:\n- |", "tasks[].?<>");
	AT("tasks:\n- i|d: a\n", "tasks[].?<id>");
	AT("tasks:\n- id: a|\n", "tasks[].id=<a>");
	AT("tasks:\n- id: a\n  |\n", "tasks[].?<>");
	AT("tasks:\n  - id: a\n    pro|\n", "tasks[].?<pro>");
	AT("tasks:\n- id: a\n- id: b\n  x|\n", "tasks[].?<x>");
	AT("tasks:\n- id: a\n  graders:\n  - type: |\n",
	    "tasks[].graders[].type=<>");
	AT("tasks:\n- graders:\n  - type: text\n    config:\n      c|\n",
	    "tasks[].graders[].config.?<c>");
	AT("tasks:\n- a.yaml\n- |", "tasks[].?<>");
	AT("tasks:\n- id: a\n|\n", "?<>");
	AT("tasks:\n- id: a\ngraders:\n- type|\n", "graders[].?<type>");
	AT("a:\n- b\nc: |\n", "c=<>");
	AT("-|", "none");
	AT("- |", "[].?<>");
	AT("- query: |", "[].query=<>");
	AT("- - a: |", "none");
	AT("tasks:\n- id: a\n  con\n  mock: {o|\n", "tasks[].mock.?<o>");
}

static void
test_flow(void)
{
	AT("config: {|}", "config.?<>");
	AT("config: {a: 1, b|}", "config.?<b>");
	AT("config: {a: 1, b: |}", "config.b=<>");
	AT("config: {a: 1, b: x|y}", "config.b=<xy>");
	AT("tags: [a, b|]", "tags[]=<b>");
	AT("tasks:\n- {id: a, pro|}\n", "tasks[].?<pro>");
	AT("tasks:\n- {id: a, inputs: {prompt: x, f|\n",
	    "tasks[].inputs.?<f>");
	AT("tasks: [{id: a, graders: [{type: |", "tasks[].graders[].type=<>");
	AT("a: {b: 'x, |'}", "a.b=<'x, '>");
	AT("a: {b: 1}|", "none");
	AT("a: [\n  b|\n", "none");
}

static void
test_texts(void)
{
	AT("prompt: |\n  some te", "prompt=<>");
	OK(strcmp(path_at("a: x\nprompt: >\n  some: t|\n"), "none") == 0);
	OK(strcmp(path_at("tasks:\n- prompt: >-\n    foo:\n      b|\n"),
	    "none") == 0);
	OK(strcmp(path_at("a: some\n  more: t|\n"), "none") == 0);
}

static const char *
sibling(const char *text, const char *key)
{
	struct lsp_at at;
	size_t offset;
	struct str s = cursor(text, &offset);

	if (!lsp_look(s, offset, &at) || !at.key)
		return "none";
	s = lsp_sibling(&at, &at.here, key);
	return arena_str(&arena, s).p;
}

static void
test_siblings(void)
{
	static const char text[] = "tasks:\n- id: a\n  type: wrong\n"
	    "  graders:\n  - name: x\n    |\n    type: code\n"
	    "  - type: text\n";
	struct field_strs keys;
	struct lsp_at at;
	size_t offset;
	struct str s = cursor(text, &offset);

	OK(strcmp(sibling(text, "type"), "code") == 0);
	OK(strcmp(sibling(text, "name"), "x") == 0);
	OK(strcmp(sibling(text, "id"), "") == 0);
	OK(strcmp(sibling("a: {type: x, |}", "type"), "x") == 0);
	OK(strcmp(sibling("a: {b: {type: y}, |, type: z}", "type"), "z") == 0);
	OK(lsp_look(s, offset, &at));
	keys = lsp_keys(&arena, &at, &at.here);
	OK(keys.n == 2 && str_is(keys.v[0], "name") &&
	    str_is(keys.v[1], "type"));
}

/* Positions count UTF-16 code units: é is one, U+1F980 two. */
static void
test_places(void)
{
	struct str text = STR("a\n\xC3\xA9\xF0\x9F\xA6\x80x\r\nend");
	struct lsp_ruler r = { .text = text };
	struct lsp_place p = lsp_place(&r, 8);

	OK(p.line == 1 && p.character == 3);
	p = lsp_place(&r, 0);
	OK(p.line == 0 && p.character == 0);
	p = lsp_place(&r, 1000);
	OK(p.line == 2 && p.character == 3);
	OK(lsp_offset(text, (struct lsp_place){ 1, 1 }) == 4);
	OK(lsp_offset(text, (struct lsp_place){ 1, 2 }) == 4);
	OK(lsp_offset(text, (struct lsp_place){ 1, 3 }) == 8);
	OK(lsp_offset(text, (struct lsp_place){ 1, 99 }) == 9);
	OK(lsp_offset(text, (struct lsp_place){ 99, 0 }) == text.n);
	OK(lsp_byte(&r, 2, 3) == 4);
	OK(lsp_byte(&r, 1, 1) == 0);
	OK(lsp_byte(&r, 99, 1) == 11);
}

static const struct json *
change(const char *text)
{
	return arena_json(&arena, str_of(text), NULL);
}

static void
test_changes(void)
{
	struct lsp l = { 0 };
	struct lsp_doc *d = lsp_open(&l, STR("file:///x/eval.yaml"),
	    STR("a\nb\xC3\xA9" "c\n"));

	OK(d->kind == LSP_EVAL && strcmp(d->path, "/x/eval.yaml") == 0);
	OK(lsp_change(d, change("{\"range\":{\"start\":{\"line\":1,"
	    "\"character\":2},\"end\":{\"line\":1,\"character\":3}},"
	    "\"text\":\"XY\"}")));
	OK(str_is(buf_str(&d->text), "a\nb\xC3\xA9XY\n"));
	OK(lsp_change(d, change("{\"text\":\"new\"}")));
	OK(str_is(buf_str(&d->text), "new"));
	OK(!lsp_change(d, change("{\"text\":1}")));
	OK(!lsp_change(d, change("{}")));
	OK(!lsp_change(d, change("{\"range\":{\"start\":{\"line\":0,"
	    "\"character\":2},\"end\":{\"line\":0,\"character\":1}},"
	    "\"text\":\"\"}")));
	OK(!lsp_change(d, change("{\"range\":{\"start\":{\"line\":-1,"
	    "\"character\":2},\"end\":{\"line\":0,\"character\":1}},"
	    "\"text\":\"\"}")));
	OK(lsp_find_path(&l, "/x/eval.yaml") == d);
	lsp_close(d);
	OK(l.docs == NULL && l.ndocs == 0);
}

static void
test_names(void)
{
	OK(strcmp(lsp_path(&arena, STR("file:///a%20b/c%C3%A9.yaml")),
	    "/a b/c\xC3\xA9.yaml") == 0);
	OK(lsp_path(&arena, STR("untitled:Untitled-1")) == NULL);
	OK(lsp_path(&arena, STR("file://")) == NULL);
	OK(lsp_path(&arena, STR("file:///a%00b")) == NULL);
	OK(str_is(lsp_uri(&arena, "/a b/\xC3\xA9.yaml"),
	    "file:///a%20b/%C3%A9.yaml"));
}

static void
test_kinds(void)
{
	static const struct {
		const char *uri, *text;
		enum lsp_kind kind;
	} cases[] = {
		{ "file:///SKILL.md", "", LSP_SKILL },
		{ "file:///a/.waza.yaml", "", LSP_CONFIG },
		{ "file:///a/trigger_tests.yaml", "", LSP_TRIGGER },
		{ "file:///a/my.yaml", "name: a\ntasks: x\n", LSP_EVAL },
		{ "file:///a/my.yml", "id: a\nprompt: x\n", LSP_TASK },
		{ "file:///a/my.yml", "x:\n  prompt: x\n", LSP_OTHER },
		{ "file:///a/my.txt", "tasks: x\n", LSP_OTHER },
	};
	struct lsp l = { 0 };
	struct lsp_doc *d;
	size_t i;

	for (i = 0; i < COUNTOF(cases); i++) {
		d = lsp_open(&l, str_of(cases[i].uri), str_of(cases[i].text));
		OK(d->kind == cases[i].kind);
		lsp_close(d);
	}
}

/* No position in any text is read beyond its end. */
static void
test_every_offset(void)
{
	static const char *const texts[] = { "", "a", "a:", "- ", "-", "{", "[",
		"a: {b: [c, {d: 'e", "a: \"x", "- - - a: b", ":", "a:\n\t- b",
		"\"a", "a: b: c", "a:\n- {b: c}\n- [d\n- e", "#", "a: #",
		"? a\n: b", "a: |\n b", "---\na: 1\n---\nb" };
	struct lsp_at at;
	struct str s;
	size_t i, k, n = 0;

	for (i = 0; i < COUNTOF(texts); i++) {
		/* in memory of its exact size, for sanitizers */
		s.n = strlen(texts[i]);
		s.p = memcpy(arena_raw(&arena, s.n + 1, 1), texts[i], s.n);
		for (k = 0; k <= s.n; k++) {
			n += lsp_look(s, k, &at);
			if (at.from > at.to || at.to > s.n)
				n = SIZE_MAX / 2;
		}
	}
	OK(n > 0 && n < 1000);
}

int
main(void)
{
	RUN(test_blocks, test_lists, test_flow, test_texts, test_siblings,
	    test_places, test_changes, test_names, test_kinds,
	    test_every_offset);
	arena_free(&arena);
	return tap_done();
}
