/* SPDX-License-Identifier: ISC */
/*
 * The kind json_schema: the output is JSON, and fits a schema.
 *
 * The schema is compiled for the check of the settings, so that what is wrong
 * with it is told before anything runs, and again for each grading, with the
 * templates in it replaced.
 */
#include "grade/grader_internal.h"

#include <stdio.h>
#include <string.h>

#include "agent/agent.h"
#include "base/os.h"
#include "grade/grader_extract.h"
#include "json.h"
#include "lib/schema/schema.h"
#include "lib/tmpl.h"
#include "suite/spec.h"
#include "yaml_lite.h"

enum {
	FILE_MAX = 16 << 20,	/* bytes of a schema file */
	TOLD = 3,		/* findings in the feedback; details have all */
	TOLD_MAX = 200		/* bytes of each */
};

struct json_schema {
	const struct json *schema;
	struct str schema_file;
	bool extract_json;
};

static const struct field rows[] = {
	FIELD(json_schema, schema, FIELD_TREE, .help = "the schema itself"),
	FIELD(json_schema, schema_file, FIELD_STR,
	    .help = "a file with the schema, JSON or YAML"),
	FIELD(json_schema, extract_json, FIELD_BOOL,
	    .help = "look for the JSON among other words"),
};
static const struct field_table fields = FIELD_TABLE(json_schema, rows);

static const char *
dir_of(struct arena *a, const char *file)
{
	const char *slash = file != NULL ? strrchr(file, '/') : NULL;

	if (slash == NULL)
		return ".";
	return arena_cstr(a, (struct str){ file,
	    slash == file ? 1 : (size_t)(slash - file) });
}

/* JSON by its name, YAML otherwise; e has the place where there is one. */
static const struct json *
read_file(struct arena *a, const char *path, struct err *e)
{
	struct json_mem mem = { arena_hook, a };
	struct json_error je;
	struct json *v;
	struct str text;

	if (os_read_plain(a, path, FILE_MAX, &text, e) == -1)
		return NULL;
	if (!str_ends(str_of(path), STR(".json")))
		return yaml_read_one(a, text, e);
	v = json_read(&mem, text, 0, &je);
	if (v == NULL) {
		err_set(e, ERR_SYNTAX, "%s", je.msg);
		err_at(e, je.line, je.col);
	}
	return v;
}

static bool
check_file(struct grader_check *c, const struct json *node, struct str name)
{
	const char *path = spec_path(c->notes->arena, dir_of(c->tmp, c->file),
	    name);
	struct spec_where where = { .file = path };
	struct err e = { 0 };
	const struct json *doc = read_file(c->tmp, path, &e);

	if (doc == NULL && e.line == 0) {
		grader_note(c, FIELD_ERROR, node, "%s", e.msg);
		return false;
	}
	if (doc != NULL && schema_compile(c->tmp, doc, NULL, &e) != NULL)
		return true;
	where.line = e.line;
	where.col = e.col;
	spec_note(c->notes, FIELD_ERROR, where, "%s", e.msg);
	return false;
}

static bool
has_template(const struct json *v)
{
	const struct json *c;

	if (v->type == JSON_STRING)
		return tmpl_any(json_text(v));
	for (c = json_first(v); c != NULL; c = c->next)
		if (has_template(c))
			return true;
	return false;
}

static void
check_inline(struct grader_check *c, const struct json *schema)
{
	struct json at = *schema;
	struct err e = { 0 };

	if (has_template(schema) ||
	    schema_compile(c->tmp, schema, NULL, &e) != NULL)
		return;
	if (e.line > 0) {
		at.line = e.line;
		at.col = (uint16_t)e.col;
	}
	grader_note(c, FIELD_ERROR, &at, "schema: %s", e.msg);
}

static void
check(struct grader_check *c, const void *settings)
{
	const struct json_schema *s = settings;
	const struct json *file = json_getc(c->spec->config, "schema_file");

	if (s->schema == NULL && s->schema_file.n == 0) {
		grader_note(c, FIELD_ERROR, NULL,
		    "\"schema\" or \"schema_file\" is required");
	} else if (s->schema == NULL) {
		grader_each(c, c->spec->config, "schema_file", check_file);
	} else {
		check_inline(c, s->schema);
		if (s->schema_file.n > 0)
			grader_note(c, FIELD_WARNING, file, "\"schema_file\" "
			    "has no effect beside \"schema\"");
	}
}

/* The tree with its templates replaced, in names of members not; or NULL. */
static struct json *
render(struct arena *a, const struct json *v, const struct tmpl_vars *vars,
    struct err *e)
{
	struct json_mem mem = { arena_hook, a };
	struct json *copy = NEW(a, struct json), **tail = &copy->u.child;
	const struct json *c;
	struct str s;

	*copy = *v;
	copy->indexed = 0;
	copy->next = NULL;
	if (v->type == JSON_STRING) {
		s = tmpl_render(a, json_text(v), vars, e);
		copy->u.text = s.p;
		copy->n = (uint32_t)s.n;
		return s.p != NULL ? copy : NULL;
	}
	if (v->type != JSON_ARRAY && v->type != JSON_OBJECT)
		return copy;
	*tail = NULL;
	for (c = json_first(v); c != NULL; c = c->next) {
		*tail = render(a, c, vars, e);
		if (*tail == NULL)
			return NULL;
		tail = &(*tail)->next;
	}
	if (v->type == JSON_OBJECT)
		json_seal(&mem, copy, true);
	return copy;
}

/* NULL: the grading has ended with an error. */
static struct schema *
get_schema(struct grading *g, const struct json_schema *s, struct arena *tmp)
{
	const struct json *doc = s->schema;
	const char *path = NULL;
	struct err e = { 0 };
	struct schema *schema;

	if (doc == NULL && s->schema_file.n == 0) {
		grader_error(g, "\"schema\" or \"schema_file\" is required");
		return NULL;
	}
	if (doc == NULL) {
		path = spec_path(tmp, dir_of(tmp, g->spec->at.file),
		    s->schema_file);
		doc = read_file(tmp, path, &e);
	} else if (has_template(doc))
		doc = render(tmp, doc, g->in->vars, &e);
	schema = doc != NULL ? schema_compile(tmp, doc, NULL, &e) : NULL;
	if (schema != NULL)
		return schema;
	if (path != NULL && e.line > 0)
		grader_error(g, "%s:%u:%u: %s", path, e.line, e.col, e.msg);
	else
		grader_error(g, "schema: %s", e.msg);
	return NULL;
}

struct told {
	struct buf brief, all;
	size_t n;
};

/* As much of a text as fits, and dots where some is left out. */
static void
put_short(struct buf *b, struct str s)
{
	size_t n = TOLD_MAX;

	if (s.n <= TOLD_MAX) {
		buf_put(b, s);
		return;
	}
	while (n > 0 && ((unsigned char)s.p[n] & 0xC0) == 0x80)
		n--;
	buf_put(b, (struct str){ s.p, n });
	buf_puts(b, "...");
}

static void
on_finding(void *ctx, const struct schema_finding *f)
{
	struct told *t = ctx;
	struct str at = f->at.n > 0 ? f->at : STR("/");

	buf_fmt(&t->all, "\n- at '%.*s': %.*s", STRF(f->at), STRF(f->msg));
	if (t->n++ >= TOLD)
		return;
	if (t->n > 1)
		buf_puts(&t->brief, "; ");
	put_short(&t->brief, at);
	buf_puts(&t->brief, ": ");
	put_short(&t->brief, f->msg);
}

/* One member, which says what was wrong; and a score of 0. */
static enum grader_status
fail(struct grading *g, const char *key, struct str text, struct str feedback)
{
	struct buf b = { 0 }, plain = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	json_open(&o, '{');
	grader_put_text(&o, key, text);
	json_close(&o, '}');
	g->out.details = grader_take(g->arena, &b);
	grader_put_plain(&plain, feedback, false);
	g->out.feedback = grader_take(g->arena, &plain);
	g->out.score = 0;
	g->out.passed = false;
	return GRADER_DONE;
}

static enum grader_status
no_json(struct grading *g, struct arena *tmp, const struct json_error *e)
{
	struct str out = g->in->answer->output, q, msg;
	size_t from = e->off > 20 ? e->off - 20 : 0;
	size_t n = out.n - from < 60 ? out.n - from : 60;

	if (e->msg == NULL || out.n == 0)
		return fail(g, "error", STR("the output is empty"),
		    STR("the output is not JSON: it is empty"));
	q = grader_quote(tmp, (struct str){ out.p + from, n });
	msg = arena_fmt(tmp, "the output is not JSON: %s at line %u, column "
	    "%u", e->msg, e->line, e->col);
	return fail(g, "error", msg, arena_fmt(tmp, "%.*s, near %.*s%s",
	    STRF(msg), STRF(q), grader_search(tmp, out, STR("```")) !=
	    SIZE_MAX ? "; \"extract_json: true\" looks between fences" : ""));
}

static enum grader_status
judge(struct grading *g, struct schema *schema, struct arena *tmp,
    const struct json *value)
{
	struct arena scratch = { 0 };
	struct told t = { .n = 0 };
	struct err e = { 0 };
	struct str all, brief;
	int ok;

	buf_puts(&t.all, "jsonschema validation failed");
	ok = schema_check(schema, &scratch, value, on_finding, &t, &e);
	arena_free(&scratch);
	if (t.n > TOLD)
		buf_fmt(&t.brief, "; and %zu more", t.n - TOLD);
	all = grader_take(tmp, &t.all);
	brief = grader_take(tmp, &t.brief);
	if (ok < 0)
		return grader_error(g, "schema: %s", e.msg);
	if (ok == 0)
		return fail(g, "failures", all, brief);
	g->out.score = 1;
	g->out.passed = true;
	g->out.feedback = STR("the output fits the schema");
	return GRADER_DONE;
}

static enum grader_status
start(struct grading *g, const void *settings, struct arena *tmp)
{
	const struct json_schema *s = settings;
	struct json_mem mem = { arena_hook, tmp };
	struct str out = g->in->answer->output;
	struct schema *schema = get_schema(g, s, tmp);
	struct json_error je = { .msg = NULL };
	struct err e = { 0 };
	const struct json *v;

	if (schema == NULL)
		return GRADER_DONE;
	if (s->extract_json) {
		v = grader_extract(tmp, out, &e);
		if (v == NULL)
			return fail(g, "error", str_of(e.msg), str_of(e.msg));
	} else {
		v = out.n > 0 ? json_read(&mem, out, 0, &je) : NULL;
		if (v == NULL)
			return no_json(g, tmp, &je);
	}
	return judge(g, schema, tmp, v);
}

const struct grader_kind grader_json_schema = {
	.name = "json_schema",
	.fields = &fields,
	.check = check,
	.start = start,
};
