/* SPDX-License-Identifier: ISC */
/*
 * Suites: eval.yaml, from its top.
 *
 * A file becomes a tree, the tree is decoded by tables into structs that
 * borrow from it, and both stay in the suite's arena.  Loading goes on after
 * an error wherever it can, so that a person sees everything at once; what
 * has an error keeps its default.
 */
#include "suite/spec.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "json.h"
#include "suite/spec_internal.h"

static void PRINTF(5, 0)
add_note(struct spec_notes *n, enum field_level level, struct spec_where at,
    struct str key, const char *fmt, va_list ap)
{
	struct spec_note *note;
	char msg[sizeof(((struct err *)0)->msg) * 2];

	if (level == FIELD_ERROR)
		n->errors++;
	else
		n->warnings++;
	if (n->errors + n->warnings > SPEC_NOTES_MAX + 1)
		return;
	if (n->errors + n->warnings > SPEC_NOTES_MAX) {
		snprintf(msg, sizeof(msg), "there is more to say than this");
		key = STR("");
	} else
		vsnprintf(msg, sizeof(msg), fmt, ap);
	note = NEW(n->arena, struct spec_note);
	note->level = level;
	note->at = at;
	note->key = arena_str(n->arena, key);
	note->msg = arena_cstr(n->arena, str_of(msg));
	if (n->last == NULL)
		n->head = note;
	else
		n->last->next = note;
	n->last = note;
}

void
spec_note(struct spec_notes *n, enum field_level level, struct spec_where at,
    const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_note(n, level, at, STR(""), fmt, ap);
	va_end(ap);
}

void
spec_note_key(struct spec_notes *n, enum field_level level,
    struct spec_where at, struct str key, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_note(n, level, at, key, fmt, ap);
	va_end(ap);
}

void
spec_note_put(struct buf *b, const struct spec_note *note)
{
	buf_puts(b, note->at.file);
	if (note->at.line > 0)
		buf_fmt(b, ":%u:%u", note->at.line, note->at.col);
	buf_fmt(b, ": %s%s\n", note->level == FIELD_WARNING ? "warning: " : "",
	    note->msg);
}

struct spec_where
spec_at(const char *file, const struct json *v)
{
	struct spec_where at = { file, 0, 0 };

	if (v != NULL) {
		at.line = v->line;
		at.col = v->col;
	}
	return at;
}

void
spec_report(void *source, const struct field_finding *f)
{
	const struct spec_source *s = source;
	struct spec_where at = { s->file, f->line, f->col };
	struct str key = f->path;
	size_t i;

	/* a key that is missing is only in the path */
	for (i = key.n; i > 0 && key.p[i - 1] != '.'; i--)
		;
	if (i > 0)
		key = (struct str){ key.p + i, key.n - i };
	spec_note_key(s->notes, f->level, at, f->key.n > 0 ? f->key : key,
	    "%s", f->msg);
}

size_t
spec_decode(struct spec_loader *l, const char *file,
    const struct field_table *t, const struct json *v, void *out)
{
	struct spec_source src = { l->notes, file };
	struct field_ctx ctx = { .arena = l->arena, .report = spec_report,
		.ctx = &src, .flags = FIELD_LAX |
		(l->notes->strict ? (unsigned)FIELD_STRICT : 0) };

	return field_decode(&ctx, t, v, out);
}

const struct json *
spec_object(struct spec_loader *l, const char *file, const struct json *v)
{
	if (v == NULL || v->type == JSON_NULL)
		return NULL;
	if (v->type == JSON_OBJECT)
		return v;
	spec_note_key(l->notes, FIELD_ERROR, spec_at(file, v), json_key(v),
	    "\"%.*s\" must be a mapping, not %s", STRF(spec_short(json_key(v))),
	    json_type_name((enum json_type)v->type));
	return NULL;
}

struct json *
spec_first(const struct json *v)
{
	return v == NULL ? NULL : json_first(v);
}

struct str
spec_short(struct str s)
{
	size_t n = s.n < 100 ? s.n : 100;

	while (n < s.n && n > 0 && ((unsigned char)s.p[n] & 0xC0) == 0x80)
		n--;
	return (struct str){ s.p, n };
}

struct str
spec_tail(const char *path)
{
	struct str s = str_of(path);
	const char *slash;

	while (s.n > 150) {
		slash = memchr(s.p + 1, '/', s.n - 1);
		if (slash == NULL)
			return spec_short(s);
		s.n -= (size_t)(slash - s.p);
		s.p = slash;
	}
	return s;
}

struct str
spec_trim(struct str s)
{
	while (s.n > 0 && strchr(" \t\r\n", s.p[0]) != NULL && s.p[0] != '\0') {
		s.p++;
		s.n--;
	}
	while (s.n > 0 && strchr(" \t\r\n", s.p[s.n - 1]) != NULL &&
	    s.p[s.n - 1] != '\0')
		s.n--;
	return s;
}

/* eval.yaml as it stands, before its parts are read. */
struct top {
	struct str name, skill, version, description;
	bool baseline;
	const struct json *config, *hooks, *inputs, *graders, *metrics, *judge;
	const struct json *tasks, *tasks_from, *range, *unused;
};

static const struct field top_rows[] = {
	FIELD(top, name, FIELD_STR,
	    .flags = FIELD_REQUIRED, .help = "the suite's name"),
	FIELD(top, description, FIELD_STR, .help = "what it is for"),
	FIELD(top, skill, FIELD_STR, .help = "the skill under test"),
	FIELD(top, version, FIELD_STR, .help = "of the suite"),
	FIELD(top, config, FIELD_TREE, .help = "how it is run"),
	FIELD(top, hooks, FIELD_TREE, .help = "commands around runs and tasks"),
	FIELD(top, inputs, FIELD_TREE, .help = "variables for templates"),
	FIELD(top, graders, FIELD_TREE, .help = "for every task"),
	FIELD(top, metrics, FIELD_TREE, .help = "thresholds"),
	FIELD(top, judge, FIELD_TREE, .help = "the same as config.judge"),
	FIELD(top, tasks, FIELD_TREE,
	    .help = "patterns of task files, and tasks"),
	FIELD(top, tasks_from, FIELD_TREE,
	    .help = "a CSV file, a task each row"),
	FIELD(top, range, FIELD_TREE, .help = "its first and last row"),
	FIELD(top, baseline, FIELD_BOOL, .help = "once more without skills"),
	SPEC_ROW(top, "schemaVersion", unused, FIELD_TREE,
	    .alias = "schema_version"),
	SPEC_ROW(top, "scenario", unused, FIELD_TREE, .flags = FIELD_IGNORED),
	SPEC_ROW(top, "mcp_mocks", unused, FIELD_TREE, .flags = FIELD_IGNORED),
	SPEC_ROW(top, "command_mocks", unused, FIELD_TREE,
	    .flags = FIELD_IGNORED),
};
static const struct field_table top_table = FIELD_TABLE(top, top_rows);

/* Template variables are texts, or can be written as such. */
static void
check_inputs(struct spec_loader *l, const char *file, const struct json *inputs)
{
	const struct json *v;

	for (v = spec_first(inputs); v != NULL; v = v->next)
		if (v->type == JSON_OBJECT || v->type == JSON_ARRAY)
			spec_note_key(l->notes, FIELD_ERROR, spec_at(file, v),
			    json_key(v), "the variable \"%.*s\" must be a "
			    "text, not %s", STRF(spec_short(json_key(v))),
			    json_type_name((enum json_type)v->type));
}

static bool
has_other_type(const struct json *obj, const char *key)
{
	const struct json *v = json_getc(obj, key);

	return v != NULL && v->type != JSON_NULL && v->type != JSON_STRING;
}

static void
read_suite(struct spec_loader *l, const struct spec_file *f)
{
	struct spec_suite *s = l->suite;
	struct top top = { 0 };
	struct spec_task_list list;
	size_t i;

	spec_decode(l, f->path, &top_table, f->root, &top);
	s->name = spec_trim(top.name);
	s->skill = spec_trim(top.skill);
	s->version = top.version;
	s->description = top.description;
	s->baseline = top.baseline;
	if (top.name.p != NULL && s->name.n == 0)
		spec_note_key(l->notes, FIELD_ERROR, spec_at(f->path,
		    json_getc(f->root, "name")), STR("name"),
		    "\"name\" is empty");
	if (s->skill.n == 0 && !has_other_type(f->root, "skill"))
		spec_note_key(l->notes, FIELD_WARNING, spec_at(f->path,
		    f->root), STR("skill"), "\"skill\" is not given");
	s->inputs = spec_object(l, f->path, top.inputs);
	check_inputs(l, f->path, s->inputs);
	spec_read_project(l);
	spec_read_config(l, f, top.config, top.metrics);
	if (s->config.judge == NULL)
		s->config.judge = top.judge;
	else if (top.judge != NULL)
		spec_note_key(l->notes, FIELD_WARNING, spec_at(f->path,
		    top.judge), STR("judge"), "\"judge\" has no effect: "
		    "\"config\" has one, too");
	spec_read_hooks(l, f, top.hooks, top.tasks_from != NULL);
	spec_read_graders(l, f->path, top.graders, &s->graders);
	spec_name_graders(l, &s->graders);
	list = (struct spec_task_list){ top.tasks, top.tasks_from, top.range };
	spec_read_tasks(l, f, &list);
	for (i = 0; i < s->ntasks; i++)
		spec_name_graders(l, &s->tasks[i].graders);
	if (!l->alone)
		spec_read_triggers(l);
}

struct spec_suite *
spec_load_tree(struct arena *a, const char *name, const struct json *root,
    struct spec_notes *notes)
{
	struct spec_loader l = { .arena = a, .notes = notes, .alone = true };
	struct spec_file f = { .path = arena_cstr(a, str_of(name)),
		.dir = ".", .root = root };
	size_t errors = notes->errors;

	l.suite = NEW(a, struct spec_suite);
	l.suite->path = f.path;
	l.suite->dir = f.dir;
	read_suite(&l, &f);
	arena_free(&l.scratch);
	return notes->errors == errors ? l.suite : NULL;
}

struct spec_suite *
spec_load_part(struct arena *a, const char *path, struct spec_notes *notes)
{
	struct spec_loader l = { .arena = a, .notes = notes };
	struct spec_file f;

	path = arena_cstr(a, str_of(path));
	if (spec_read_yaml(&l, path, &f) == -1)
		goto out;
	if (f.root->type != JSON_OBJECT) {
		spec_note(notes, FIELD_ERROR, spec_at(path, f.root),
		    "this is not a suite: expected a mapping, not %s",
		    json_type_name((enum json_type)f.root->type));
		goto out;
	}
	l.suite = NEW(a, struct spec_suite);
	l.suite->path = path;
	l.suite->dir = f.dir;
	read_suite(&l, &f);
out:
	arena_free(&l.scratch);
	return l.suite;
}

struct spec_suite *
spec_load(struct arena *a, const char *path, struct spec_notes *notes)
{
	size_t errors = notes->errors;
	struct spec_suite *s = spec_load_part(a, path, notes);

	return notes->errors == errors ? s : NULL;
}
