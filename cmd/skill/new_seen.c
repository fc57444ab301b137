/* SPDX-License-Identifier: ISC */
/* A seen answer becomes graders: text, tool calls, skills and files. */
#include "cmd/skill/new_seen.h"

#include <string.h>

#include "json.h"
#include "lib/tmpl.h"
#include "lib/yaml/yaml_out.h"
#include "skill/scaffold.h"

enum { LINES_MAX = 5, LINE_BYTES = 120, CALLS_MAX = 20, FILES_LISTED = 20,
	PATTERN_BYTES = 200 };

/*
 * Text.
 */
static bool
is_telling(struct str line)
{
	return line.n >= 3 && !str_starts(line, STR("```")) &&
	    utf8_valid(line);
}

static void
open_grader(struct json_out *o, const char *type, const char *name)
{
	json_open(o, '{');
	json_put_member_cstr(o, "type", type);
	json_put_member_cstr(o, "name", name);
	json_open_member(o, "config", '{');
}

static void
close_grader(struct json_out *o)
{
	json_close(o, '}');
	json_close(o, '}');
}

static void
put_text(struct arena *a, struct json_out *o, struct str text)
{
	struct str line;
	size_t n = 0;

	text = str_trim(text);
	open_grader(o, "text", "check-response");
	json_open_member(o, "contains", '[');
	while (n < LINES_MAX && str_line(&text, &line)) {
		line = utf8_cut(str_trim(line), LINE_BYTES);
		if (!is_telling(line))
			continue;
		json_put_str(o, tmpl_escape(a, str_trim(line)));
		n++;
	}
	json_close(o, ']');
	if (n == 0) {
		json_open_member(o, "regex_match", '[');
		json_put_cstr(o, "\\S");
		json_close(o, ']');
	}
	close_grader(o);
}

/*
 * Tool calls.
 */
/* A pattern that matches this text. */
static struct str
literal(struct arena *a, struct str s)
{
	struct buf b = { 0 };
	size_t i;

	s = utf8_cut(s, PATTERN_BYTES);
	for (i = 0; i < s.n; i++) {
		if (s.p[i] == '\n') {
			buf_puts(&b, "\\n");
			continue;
		}
		if (strchr("\\.+*?()|[]{}^$", s.p[i]) != NULL &&
		    s.p[i] != '\0')
			buf_putc(&b, '\\');
		buf_putc(&b, s.p[i]);
	}
	return tmpl_escape(a, arena_take(a, &b));
}

static struct str
tool_name(const struct answer_call *c)
{
	return c->no_name ? str_of(answer_tool_name(c->tool)) : c->name;
}

static bool
is_listed(const struct answer_call *c)
{
	return !c->denied && c->tool != ANSWER_SKILL && c->name.n > 0 &&
	    !str_is(c->name, "report_intent");
}

static bool
is_repeated(const struct answer *ans, const struct answer_call *c)
{
	const struct answer_call *d;

	for (d = ans->calls; d != c; d = d->next)
		if (is_listed(d) && str_eq(tool_name(d), tool_name(c)) &&
		    str_eq(d->command, c->command) && str_eq(d->path, c->path))
			return true;
	return false;
}

static void
put_call(struct arena *a, struct json_out *o, const struct answer_call *c)
{
	json_open(o, '{');
	json_put_member_str(o, "tool", arena_fmt(a, "^%.*s$",
	    STRF(literal(a, tool_name(c)))));
	if (c->command.n > 0)
		json_put_member_str(o, "command_pattern", literal(a,
		    c->command));
	else if (c->path.n > 0)
		json_put_member_str(o, "path_pattern", literal(a, c->path));
	json_close(o, '}');
}

static void
put_calls(struct arena *a, struct json_out *o, const struct answer *ans)
{
	const struct answer_call *c = ans->calls;
	size_t n = 0;

	while (c != NULL && !is_listed(c))
		c = c->next;
	if (c == NULL)
		return;
	open_grader(o, "tool_constraint", "tools-check");
	json_open_member(o, "expect_tools", '[');
	for (; c != NULL && n < CALLS_MAX; c = c->next)
		if (is_listed(c) && !is_repeated(ans, c)) {
			put_call(a, o, c);
			n++;
		}
	json_close(o, ']');
	close_grader(o);
}

static void
put_skills(struct json_out *o, const struct answer *ans)
{
	size_t i;

	if (ans->skills.n == 0)
		return;
	open_grader(o, "skill_invocation", "skills-check");
	json_open_member(o, "required_skills", '[');
	for (i = 0; i < ans->skills.n; i++)
		json_put_str(o, ans->skills.v[i]);
	json_close(o, ']');
	json_put_member_cstr(o, "mode", "any_order");
	close_grader(o);
}

/* The executor mock uses the skills that a task names; others ignore it. */
static void
put_mock(struct json_out *o, const struct answer *ans)
{
	size_t i;

	if (ans->skills.n == 0)
		return;
	json_open_member(o, "mock", '{');
	json_open_member(o, "skills", '[');
	for (i = 0; i < ans->skills.n; i++)
		json_put_str(o, ans->skills.v[i]);
	json_close(o, ']');
	json_close(o, '}');
}

/*
 * Files: "diff --git a/PATH b/PATH" begins one in a patch, and no line of a
 * file's content looks like that, since these are indented.
 */
static struct str
patched_path(struct str line)
{
	struct str head = STR("diff --git a/");
	size_t n;

	if (!str_starts(line, head))
		return STR("");
	line = (struct str){ line.p + head.n, line.n - head.n };
	if (line.n < 5 || (line.n - 3) % 2 != 0)
		return STR("");
	n = (line.n - 3) / 2;
	return memcmp(line.p + n, " b/", 3) == 0 &&
	    memcmp(line.p, line.p + n + 3, n) == 0 ?
	    (struct str){ line.p, n } : STR("");
}

static void
put_files(struct arena *a, struct json_out *o, struct str patch)
{
	struct str line, path = STR("");
	size_t n = 0;

	while (n < FILES_LISTED && str_line(&patch, &line)) {
		if (path.n > 0 && !str_starts(line, STR("deleted file"))) {
			if (n++ == 0) {
				open_grader(o, "file", "files-check");
				json_open_member(o, "must_exist", '[');
			}
			json_put_str(o, tmpl_escape(a, path));
		}
		path = patched_path(line);
	}
	if (n > 0) {
		json_close(o, ']');
		close_grader(o);
	}
}

static void
put_task(struct arena *a, struct json_out *o, const struct new_seen *s)
{
	json_open(o, '{');
	json_put_member_str(o, "id", s->id);
	json_put_member_str(o, "name", scaffold_title(a, s->id));
	if (s->tags.n > 0)
		field_put_strs(o, "tags", &s->tags);
	json_open_member(o, "inputs", '{');
	json_put_member_str(o, "prompt", tmpl_escape(a, s->prompt));
	json_close(o, '}');
	put_mock(o, &s->answer);
	json_open_member(o, "graders", '[');
	put_skills(o, &s->answer);
	put_calls(a, o, &s->answer);
	put_files(a, o, s->answer.patch);
	put_text(a, o, s->answer.output);
	json_close(o, ']');
	json_close(o, '}');
}

struct str
new_seen_task(struct arena *a, const struct new_seen *s, struct str schemas)
{
	struct buf json = { 0 }, out = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &json };

	put_task(a, &o, s);
	scaffold_schema_line(&out, schemas, "task");
	buf_puts(&out, "# Made from one answer.  Keep what every good answer "
	    "has, and delete the rest.\n");
	yaml_put(&out, arena_json(a, buf_str(&json), NULL), 0);
	buf_free(&json);
	return arena_take(a, &out);
}
