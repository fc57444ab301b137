/* SPDX-License-Identifier: ISC */
/*
 * The kind json_schema: the output is JSON and matches a schema.
 *
 * The schema is compiled when settings are checked, to report its problems
 * before the run, and again for each grading, with its templates expanded.
 */
#include "grade/grader_internal.h"

#include "base/os.h"
#include "json.h"
#include "lib/schema/schema.h"
#include "results/answer.h"
#include "suite/spec.h"
#include "yaml_lite.h"

enum {
	FILE_MAX = 16 << 20,	/* bytes of a schema file */
	PARSE_COST = 30,	/* of a byte, in units of a budget */
	PLACE_MAX = 200		/* bytes of a place in the feedback */
};

struct json_schema {
	const struct json *schema;
	struct str schema_file;
	bool extract_json;
};

static const struct field rows[] = {
	GRADER_KEY(json_schema, schema, FIELD_TREE,
	    .help = "JSON Schema of the answer"),
	GRADER_KEY(json_schema, schema_file, FIELD_STR,
	    .values = FIELD_FILES,
	    .help = "file with the schema"),
	GRADER_KEY(json_schema, extract_json, FIELD_BOOL,
	    .help = "take the JSON out of surrounding text"),
};
static const struct field_table fields = FIELD_TABLE(json_schema, rows);

/* Reads JSON if the name ends in .json, else YAML; e has the place. */
static const struct json *
read_file(struct arena *a, const char *path, struct budget *b, struct err *e)
{
	struct json_error je;
	struct json *v;
	struct str text;

	if (os_read_plain(a, path, FILE_MAX, &text, e) == -1)
		return NULL;
	if (!budget_take(b, (uint64_t)text.n * PARSE_COST))
		return NULL;
	if (!str_ends(str_of(path), STR(".json")))
		return yaml_read_one(a, text, e);
	v = arena_json(a, str_after_bom(text), &je);
	if (v == NULL) {
		err_set(e, ERR_SYNTAX, "%s", je.msg);
		err_at(e, je.line, je.col);
	}
	return v;
}

static bool
check_file(struct grader_check *c, const struct json *node, struct str name)
{
	const char *path = spec_path(c->notes->arena,
	    spec_dir_of(c->tmp, c->file), name);
	struct spec_where where = { .file = path };
	struct err e = { 0 };
	const struct json *doc;

	if (!spec_allowed(c->notes, spec_at(c->file, node), path))
		return false;
	doc = read_file(c->tmp, path, NULL, &e);
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

static void
check_inline(struct grader_check *c, const struct json *schema)
{
	struct json at = json_copy(schema);
	struct err e = { 0 };

	if (grader_has_template(schema) ||
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
		grader_check_each(c, c->spec->config, "schema_file",
		    check_file);
	} else {
		check_inline(c, s->schema);
		if (s->schema_file.n > 0)
			grader_note(c, FIELD_WARNING, file, "\"schema_file\" "
			    "has no effect beside \"schema\"");
	}
}

/* Returns NULL after ending the grading with an error. */
static struct schema *
get_schema(struct grading *g, const struct json_schema *s, struct arena *tmp)
{
	const struct json *doc = s->schema;
	const char *path = NULL;
	struct err e = { 0 };
	struct schema_opts opts = { .budget = g->budget };
	struct schema *schema;

	if (doc == NULL && s->schema_file.n == 0) {
		grader_error(g, "\"schema\" or \"schema_file\" is required");
		return NULL;
	}
	if (doc == NULL) {
		path = spec_path(tmp, spec_dir_of(tmp, g->spec->at.file),
		    s->schema_file);
		doc = read_file(tmp, path, g->budget, &e);
	} else
		doc = grader_render_tree(tmp, doc, g->in->vars, &e);
	schema = doc != NULL ? schema_compile(tmp, doc, &opts, &e) : NULL;
	if (schema != NULL)
		return schema;
	if (path != NULL && e.line > 0)
		grader_error(g, "%s:%u:%u: %s", path, e.line, e.col, e.msg);
	else
		grader_error(g, "schema: %s", e.msg);
	return NULL;
}

/* Findings of the schema check. */
struct findings {
	struct buf brief, all;
};

static void
on_finding(void *ctx, const struct schema_finding *f)
{
	struct findings *t = ctx;
	struct arena tmp = { 0 };
	struct str at = f->at.n > 0 ? f->at : STR("/");

	buf_fmt(&t->all, "\n- at '%.*s': %.*s", STRF(f->at), STRF(f->msg));
	buf_puts(&t->brief, t->brief.n > 0 ? "; " : "");
	buf_put(&t->brief, grader_shorten(&tmp, at, PLACE_MAX));
	buf_puts(&t->brief, ": ");
	buf_put(&t->brief, f->msg);
	arena_free(&tmp);
}

/* Fails with a score of 0 and one member of the details. */
static enum grader_status
fail(struct grading *g, const char *key, struct str text, struct str feedback)
{
	struct buf b = { 0 }, plain = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	json_open(&o, '{');
	json_put_member_str(&o, key, text);
	json_close(&o, '}');
	g->out.details = arena_take(g->arena, &b);
	grader_put_printable(&plain, feedback, false);
	g->out.feedback = arena_take(g->arena, &plain);
	g->out.score = 0;
	g->out.passed = false;
	return GRADER_DONE;
}

static enum grader_status
no_json(struct grading *g, struct arena *tmp, const struct json_error *e)
{
	struct str out = str_after_bom(g->in->answer->output), q, msg;
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
	    SIZE_MAX ? "; set \"extract_json: true\" to read code fences" :
	    ""));
}

static enum grader_status
judge(struct grading *g, struct schema *schema, struct arena *tmp,
    const struct json *value)
{
	struct arena scratch = { 0 };
	struct findings t = { .all = { 0 } };
	struct err e = { 0 };
	struct str all, brief;
	int ok;

	buf_puts(&t.all, "jsonschema validation failed");
	ok = schema_check(schema, &scratch, value, on_finding, &t, &e);
	arena_free(&scratch);
	all = arena_take(tmp, &t.all);
	brief = arena_take(tmp, &t.brief);
	if (ok < 0)
		return grader_error(g, "schema: %s", e.msg);
	if (ok == 0)
		return fail(g, "failures", all, brief);
	g->out.score = 1;
	g->out.passed = true;
	g->out.feedback = STR("the output matches the schema");
	return GRADER_DONE;
}

static enum grader_status
start(struct grading *g, const void *settings, struct arena *tmp)
{
	const struct json_schema *s = settings;
	struct str out = g->in->answer->output;
	struct schema *schema = get_schema(g, s, tmp);
	struct json_error je = { .msg = NULL };
	struct err e = { 0 };
	const struct json *v;

	if (schema == NULL ||
	    !budget_take(g->budget, (uint64_t)out.n * PARSE_COST))
		return GRADER_DONE;
	if (s->extract_json) {
		v = grader_extract_json(tmp, out, &e);
		if (v == NULL)
			return fail(g, "error", str_of(e.msg), str_of(e.msg));
	} else {
		out = str_after_bom(out);
		v = out.n > 0 ? arena_json(tmp, out, &je) : NULL;
		if (v == NULL)
			return no_json(g, tmp, &je);
	}
	return judge(g, schema, tmp, v);
}

const struct grader_kind grader_json_schema = {
	.name = "json_schema", .fields = &fields, .check = check,
	.start = start,
};
