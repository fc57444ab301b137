/* SPDX-License-Identifier: ISC */
#include <string.h>

#include "base/base.h"
#include "json.h"
#include "lib/tmpl.h"
#include "test/tool/help.h"
#include "test/tool/tap.h"

static struct arena arena;

static const struct json *
tree(const char *text)
{
	return read_json(&arena, str_of(text));
}

/* The text rendered, or "line:col: message". */
static bool
gives(const char *text, const char *want)
{
	struct tmpl_vars vars = { STR("run-1"), STR("Task A"),
		STR("2026-01-02T03:04:05Z"), 2, 3, {
		tree("{\"x\":\"row\",\"my key\":\"k\",\"b\":\"{{.JobID}}\"}"),
		tree("{\"x\":\"suite\",\"y\":1.50,\"t\":true,\"n\":null,"
		    "\"l\":[1]}") } };
	struct err e = { 0 };
	struct str out = tmpl_render(&arena, str_of(text), &vars, &e);
	struct buf b = { 0 };

	if (out.p != NULL)
		buf_put(&b, out);
	else
		buf_fmt(&b, "%u:%u: %s", e.line, e.col, e.msg);
	return is_buf(&b, want);
}

static void
test_good(void)
{
	OK(gives("", ""));
	OK(gives("no braces { } }}", "no braces { } }}"));
	OK(gives("{{.TaskName}}", "Task A"));
	OK(gives("<{{ .TaskName }}|{{\t.JobID}}>", "<Task A|run-1>"));
	OK(gives("{{.Iteration}}/{{.Attempt}}", "2/3"));
	OK(gives("{{.Timestamp}}", "2026-01-02T03:04:05Z"));
	OK(gives("{{.Vars.x}} {{.Vars.y}} {{.Vars.t}}", "row 1.50 true"));
	OK(gives("[{{.Vars.n}}] {{.Vars.l}}", "[] [1]"));
	OK(gives("{{index .Vars \"my key\"}}", "k"));
	OK(gives("{{ index  .Vars `my key` }}", "k"));
	OK(gives("{{.Vars.b}}", "{{.JobID}}"));		/* values are not expanded */
	OK(gives("{{\"{{\"}}.JobID}}", "{{.JobID}}"));
	OK(gives("{{`}}`}}", "}}"));
	OK(gives("{{{.JobID}}}", "{run-1}"));
}

/* Templates of other programs stay unchanged. */
static void
test_foreign(void)
{
	OK(gives("${{ secrets.X }}", "${{ secrets.X }}"));
	OK(gives("{{secrets.X}} {{.JobID}}", "{{secrets.X}} run-1"));
	OK(gives("{{#if a}}b{{/if}}", "{{#if a}}b{{/if}}"));
	OK(gives("{{ indexed }}", "{{ indexed }}"));
	OK(gives("{{ . }}{{", "{{ . }}{{"));
	OK(gives("{{\"key\": 1}} {{\"", "{{\"key\": 1}} {{\""));
	OK(gives("{% x %}{{- y -}}", "{% x %}{{- y -}}"));
	OK(gives("{{#if a}}b{{else}}c{{/if}}", "{{#if a}}b{{else}}c{{/if}}"));
	OK(gives("{{iffy}} {{if|x}} {{ranges x}}",
	    "{{iffy}} {{if|x}} {{ranges x}}"));
	OK(gives("{{end of story}} {{endif}} {{not sure}} {{print name}}",
	    "{{end of story}} {{endif}} {{not sure}} {{print name}}"));
	OK(gives("{{$json.x}} {{ $i == 1 }}", "{{$json.x}} {{ $i == 1 }}"));
	OK(gives("{{template|x}} {{define it}} {{block}} {{-1}}",
	    "{{template|x}} {{define it}} {{block}} {{-1}}"));
	OK(gives("{{(x)}} {{/if}} {{-- x}}", "{{(x)}} {{/if}} {{-- x}}"));
}

/* Go's actions; nothing of them may reach an agent. */
static void
test_unsupported(void)
{
	static const char *const rows[] = {
		"{{if}}", "{{if .Vars.x}}", "{{ if eq .Vars.x 1 }}",
		"{{if(eq 1 1)}}", "{{range}}", "{{range $i, $x := .Vars.l}}",
		"{{with .Vars}}", "{{end}}", "{{ end }}", "{{- end -}}",
		"{{else}}", "{{else if .Vars.x}}", "{{define \"a\"}}",
		"{{template \"a\" .}}", "{{block `a` .}}", "{{/* a */}}",
		"{{- /* a */ -}}", "{{$x := .Vars.x}}", "{{$x = 1}}",
		"{{printf \"%s\" .Vars.x}}", "{{len .Vars.x}}",
		"{{html (index .Vars \"x\")}}", "{{not $x}}",
		"{{(index .Vars \"x\")}}", "{{( .Vars.x )}}",
		"{{- .TaskName}}", "{{- .TaskName -}}", "{{- if .Vars.x }}",
	};
	struct arena a = { 0 };
	size_t i;

	for (i = 0; i < COUNTOF(rows); i++)
		tap_ok(gives(arena_fmt(&a, "a\n {{.JobID}} %s b {{else}}",
		    rows[i]).p, arena_fmt(&a, "2:13: \"%s\" is not supported "
		    "in templates (write {{\"{{\"}} for literal braces)",
		    rows[i]).p), rows[i], __FILE__, __LINE__);
	OK(gives("x {{if .Vars.x", "1:3: {{ is not closed"));
	OK(gives("{{\"{{\"}}if .Vars.x}}{{`{{`}}end}}",
	    "{{if .Vars.x}}{{end}}"));
	arena_free(&a);
}

static void
test_bad(void)
{
	OK(gives("a\n {{.Vars.zz}}", "2:2: unknown variable \"zz\""));
	OK(gives("{{index .Vars \"my kei\"}}", "1:1: unknown variable "
	    "\"my kei\" (did you mean \"my key\"?)"));
	OK(gives("{{.Task}}", "1:1: \"{{.Task}}\" is unknown; use "
	    ".TaskName .JobID .Iteration .Attempt .Timestamp or .Vars.name"));
	OK(gives("x {{.JobID", "1:3: {{ is not closed"));
	OK(gives("{{.Vars.a-b}}", "1:1: \"{{.Vars.a-b}}\": use "
	    "{{index .Vars \"name\"}} for such a name"));
	OK(gives("{{.Vars.}}", "1:1: \"{{.Vars.}}\": use "
	    "{{index .Vars \"name\"}} for such a name"));
	OK(gives("{{.JobID | upper}}",
	    "1:1: \"{{.JobID | upper}}\" has unexpected text after the name"));
	OK(gives("{{.Vars.x.y}}",
	    "1:1: \"{{.Vars.x.y}}\" has unexpected text after the name"));
	OK(gives("{{index .Vars 1}}", "1:1: \"{{index .Vars 1}}\" must be "
	    "{{index .Vars \"name\"}}"));
	OK(gives("{{index .Vars}}", "1:1: \"{{index .Vars}}\" must be "
	    "{{index .Vars \"name\"}}"));
	OK(gives("{{\"{{\" 1}}",
	    "1:1: \"{{\"{{\" 1}}\" has unexpected text after the name"));
}

static void
test_check(void)
{
	struct err e = { 0 };

	OK(tmpl_check(STR(""), &e) == 0 && tmpl_check(STR("{{x}}"), &e) == 0);
	OK(tmpl_check(STR("{{.TaskName}} {{.Vars.any}} "
	    "{{index .Vars \"any\"}}"), &e) == 0);
	OK(tmpl_check(STR("{{.Vars.any}}\n{{end}}"), &e) == -1 &&
	    e.line == 2 && e.col == 1);
	OK(tmpl_check(STR("{{.Task}}"), &e) == -1);
}

static void
test_any(void)
{
	OK(!tmpl_any(STR("")) && !tmpl_any(STR("{x}")));
	OK(!tmpl_any(STR("${{ secrets.X }}")) && tmpl_any(STR("{{.X}}")));
}

/* Many foreign braces take linear time. */
static void
test_many(void)
{
	struct tmpl_vars vars = { 0 };
	struct buf b = { 0 };
	struct str out;
	struct err e;
	size_t i;

	for (i = 0; i < 100000; i++)
		buf_puts(&b, "{{{ ");
	buf_puts(&b, "{{.JobID}}");
	out = tmpl_render(&arena, buf_str(&b), &vars, &e);
	OK(out.n == 400000);
	buf_free(&b);
}

int
main(void)
{
	RUN(test_good, test_foreign, test_unsupported, test_bad, test_check,
	    test_any, test_many);
	arena_free(&arena);
	return tap_done();
}
