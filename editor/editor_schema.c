/* SPDX-License-Identifier: ISC */
/*
 * The schemas: a table of documents, and the definitions that they share.
 *
 * Settings of a grader depend on its type, and are in `config` or beside the
 * type; so each kind has a definition that applies to both places if the type
 * has its name.
 */
#include "editor/editor_schema.h"

#include "agent/agent.h"
#include "grade/judge.h"
#include "grader.h"
#include "json.h"
#include "lib/field_schema.h"
#include "suite/config.h"
#include "suite/spec.h"

#define DRAFT "http://json-schema.org/draft-07/schema#"

struct writer {
	struct json_out *o;
	struct field_schema fields;
};

static void
put_string(struct json_out *o)
{
	json_open(o, '{');
	json_put_member_cstr(o, "type", "string");
	json_close(o, '}');
}

static void
put_ref(struct json_out *o, const char *before, const char *name)
{
	struct buf b = { 0 };

	buf_fmt(&b, "#/definitions/%s%s", before, name);
	json_open(o, '{');
	json_put_member_str(o, "$ref", buf_str(&b));
	json_close(o, '}');
	buf_free(&b);
}

/* The settings of one kind of grader, wherever they are. */
static void
put_kind(struct writer *w, const char *name, const struct field_table *t)
{
	struct json_out *o = w->o;
	struct buf b = { 0 };

	buf_fmt(&b, "grader-%s", name);
	json_put_key(o, buf_str(&b));
	buf_free(&b);
	json_open(o, '{');
	json_open_member(o, "properties", '{');
	field_put_properties(&w->fields, t, NULL);
	json_close(o, '}');
	json_close(o, '}');
}

/* {"required": [KEY]} or, if inside, an object that has it as `config`. */
static void
put_has(struct json_out *o, const char *key, bool inside)
{
	json_open(o, '{');
	json_open_member(o, "required", '[');
	json_put_cstr(o, inside ? "config" : key);
	json_close(o, ']');
	if (inside) {
		json_open_member(o, "properties", '{');
		json_open_member(o, "config", '{');
		json_open_member(o, "required", '[');
		json_put_cstr(o, key);
		json_close(o, ']');
		json_close(o, '}');
		json_close(o, '}');
	}
	json_close(o, '}');
}

/* A required setting, in one of its places and spellings. */
static void
put_required(struct json_out *o, const struct field *f)
{
	const char *const keys[] = { f->key, f->alias };
	size_t i;

	json_open(o, '{');
	json_open_member(o, "anyOf", '[');
	for (i = 0; i < COUNTOF(keys) && keys[i] != NULL; i++) {
		put_has(o, keys[i], false);
		put_has(o, keys[i], true);
	}
	json_close(o, ']');
	json_close(o, '}');
}

/* All keys of an entry with that kind, if no others are allowed. */
static void
put_allowed(struct writer *w, const struct field_table *t)
{
	struct json_out *o = w->o;
	const struct field_table *const tables[] = { &spec_grader_table, t };
	const struct field *f;
	size_t i, k;

	for (k = 0; k < COUNTOF(tables); k++)
		for (i = 0; i < tables[k]->n; i++) {
			f = &tables[k]->rows[i];
			if (str_is(str_of(f->key), "config") || (k > 0 &&
			    field_find(tables[0], str_of(f->key)) != NULL))
				continue;
			json_put_member_bool(o, f->key, true);
			if (f->alias != NULL)
				json_put_member_bool(o, f->alias, true);
		}
}

/* if the type is NAME, then the settings of this kind apply */
static void
put_case(struct writer *w, const char *name, const struct field_table *t)
{
	struct json_out *o = w->o;
	size_t i;

	json_open(o, '{');
	json_open_member(o, "if", '{');
	json_put_member_raw(o, "required", STR("[\"type\"]"));
	json_put_member_raw(o, "not", STR("{\"required\":[\"ref\"]}"));
	json_open_member(o, "properties", '{');
	json_open_member(o, "type", '{');
	json_put_member_cstr(o, "const", name);
	json_close(o, '}');
	json_close(o, '}');
	json_close(o, '}');
	json_open_member(o, "then", '{');
	json_open_member(o, "properties", '{');
	json_put_key(o, STR("config"));
	put_ref(o, "grader-", name);
	if (w->fields.strict)
		put_allowed(w, t);
	json_close(o, '}');
	if (w->fields.strict)
		json_put_member_bool(o, "additionalProperties", false);
	json_open_member(o, "allOf", '[');
	put_ref(o, "grader-", name);
	for (i = 0; i < t->n; i++)
		if (t->rows[i].flags & FIELD_REQUIRED)
			put_required(o, &t->rows[i]);
	json_close(o, ']');
	json_close(o, '}');
	json_close(o, '}');
}

static void
put_kinds(struct json_out *o)
{
	const struct field_table *t;
	const char *name;
	size_t i;

	json_open_member(o, "type", '{');
	json_put_member_cstr(o, "description", "kind of the grader");
	json_open_member(o, "enum", '[');
	for (i = 0; (name = grader_nth(i, &t)) != NULL; i++)
		json_put_cstr(o, name);
	json_close(o, ']');
	json_close(o, '}');
}

static const struct field type_row = { .key = "type" };
static const struct field_table type_table = { &type_row, 1, 0, NULL };

static void
put_grader(struct writer *w)
{
	struct json_out *o = w->o;
	const struct field_table *t;
	const char *name;
	size_t i;

	json_open_member(o, "grader", '{');
	json_put_member_cstr(o, "type", "object");
	json_open_member(o, "properties", '{');
	put_kinds(o);
	field_put_properties(&w->fields, &spec_grader_table, &type_table);
	json_close(o, '}');
	json_put_member_raw(o, "anyOf", STR("[{\"required\":[\"type\"]},"
	    "{\"required\":[\"ref\"]}]"));
	json_open_member(o, "allOf", '[');
	for (i = 0; (name = grader_nth(i, &t)) != NULL; i++)
		put_case(w, name, t);
	json_close(o, ']');
	json_close(o, '}');
	for (i = 0; (name = grader_nth(i, &t)) != NULL; i++)
		put_kind(w, name, t);
}

static void
put_graders(struct writer *w)
{
	json_open_member(w->o, "graders", '{');
	json_put_member_raw(w->o, "type", STR("[\"array\",\"null\"]"));
	json_put_key(w->o, STR("items"));
	put_ref(w->o, "", "grader");
	json_close(w->o, '}');
	put_grader(w);
}

/* Patterns of task files, and tasks. */
static void
put_tasks(struct writer *w)
{
	struct json_out *o = w->o;

	json_open_member(o, "tasks", '{');
	json_put_member_raw(o, "type",
	    STR("[\"array\",\"string\",\"null\"]"));
	json_open_member(o, "items", '{');
	json_open_member(o, "anyOf", '[');
	put_ref(o, "", "task");
	put_string(o);
	json_close(o, ']');
	json_close(o, '}');
	json_close(o, '}');
	json_put_key(o, STR("task"));
	field_put_schema(&w->fields, &spec_task_table, false);
}

/* Definitions whose types depend on the executor, which checks them. */
static void
put_loose(struct writer *w, const char *name, const struct field_table *t)
{
	struct field_schema loose = w->fields;

	loose.loose = true;
	json_put_key(w->o, str_of(name));
	field_put_schema(&loose, t, true);
}

static void
put_mock(struct writer *w)
{
	put_loose(w, "mock", &agent_script_table);
}

/* The settings of each executor, and a mapping of their names to them. */
static void
put_blocks(struct writer *w)
{
	struct field_schema open = w->fields;
	const struct field_table *t;
	const struct agent_kind *k;
	struct buf name = { 0 };
	size_t i;

	open.strict = false;
	for (i = 0; (k = agent_nth(i)) != NULL; i++) {
		if ((t = agent_settings_table(k)) == NULL)
			continue;
		name.n = 0;
		buf_fmt(&name, "executor-%s", k->name);
		json_put_key(w->o, buf_str(&name));
		field_put_schema(&open, t, true);
	}
	buf_free(&name);
	json_open_member(w->o, "executors", '{');
	json_put_member_raw(w->o, "type", STR("[\"object\",\"null\"]"));
	json_open_member(w->o, "properties", '{');
	for (i = 0; (k = agent_nth(i)) != NULL; i++)
		if (agent_settings_table(k) != NULL) {
			json_put_key(w->o, str_of(k->name));
			put_ref(w->o, "executor-", k->name);
		}
	json_close(w->o, '}');
	json_close(w->o, '}');
}

static void
put_judge(struct writer *w)
{
	put_mock(w);
	put_loose(w, "judge", &judge_table);
	put_blocks(w);
}

static void
put_executors(struct writer *w)
{
	put_judge(w);
	json_open_member(w->o, "mcp_servers", '{');
	json_put_member_raw(w->o, "type", STR("[\"object\",\"null\"]"));
	json_put_key(w->o, STR("additionalProperties"));
	field_put_schema(&w->fields, &agent_server_table, false);
	json_close(w->o, '}');
}

static void
put_eval(struct writer *w)
{
	put_tasks(w);
	put_graders(w);
	put_executors(w);
}

static void
put_task(struct writer *w)
{
	put_graders(w);
	put_judge(w);
}

/* A list of queries, as other tools write it. */
static void
put_queries(struct writer *w)
{
	json_open_member(w->o, "queries", '{');
	json_put_member_cstr(w->o, "type", "array");
	json_put_member_int(w->o, "minItems", 1);
	json_put_key(w->o, STR("items"));
	field_put_schema(&w->fields, &spec_query_table, false);
	json_close(w->o, '}');
	json_put_key(w->o, STR("tests"));
	field_put_schema(&w->fields, &spec_triggers_table, false);
	put_mock(w);
}

struct document {
	const char *name, *title;
	const struct field_table *table;
	const char *any;	/* instead: members of the root */
	void (*definitions)(struct writer *);
	bool exact;		/* written by waza */
};

static const struct document documents[] = {	/* sorted by name */
	{ .name = "check", .title = "Report of waza check --format json",
	    .table = &editor_check_table, .exact = true },
	{ .name = "config", .title = "Settings of waza (.waza.yaml)",
	    .table = &spec_project_table, .definitions = put_judge },
	{ .name = "eval", .title = "A suite of waza (eval.yaml)",
	    .table = &spec_suite_table, .definitions = put_eval },
	{ .name = "results", .title = "Results of waza run",
	    .table = &editor_results_table, .exact = true },
	{ .name = "task", .title = "A task of a suite of waza",
	    .table = &spec_task_table, .definitions = put_task },
	{ .name = "trigger", .title = "Trigger tests (trigger_tests.yaml)",
	    .any = "[{\"$ref\":\"#/definitions/tests\"},"
		"{\"$ref\":\"#/definitions/queries\"}]",
	    .definitions = put_queries },
};

const char *
editor_schema_name(size_t i)
{
	return i < COUNTOF(documents) ? documents[i].name : NULL;
}

static void
put_root(struct writer *w, const struct document *d)
{
	struct json_out *o = w->o;

	if (d->any != NULL) {
		json_put_member_raw(o, "anyOf", str_of(d->any));
		return;
	}
	json_put_member_cstr(o, "type", "object");
	json_open_member(o, "properties", '{');
	field_put_properties(&w->fields, d->table, NULL);
	json_close(o, '}');
	field_put_required(&w->fields, d->table);
	if (w->fields.strict)
		json_put_member_bool(o, "additionalProperties", false);
}

static void
put_document(struct writer *w, const struct document *d)
{
	struct json_out *o = w->o;

	json_open(o, '{');
	json_put_member_cstr(o, "$schema", DRAFT);
	json_put_member_cstr(o, "title", d->title);
	put_root(w, d);
	if (d->definitions != NULL) {
		json_open_member(o, "definitions", '{');
		d->definitions(w);
		json_close(o, '}');
	}
	json_close(o, '}');
}

bool
editor_put_schema(struct json_out *o, struct str name,
    const struct editor_schema_opts *opts)
{
	struct arena tmp = { 0 };
	struct writer w = { .o = o, .fields = { .out = o, .tmp = &tmp,
		.strict = opts->strict, .values = opts->values } };
	size_t i;

	for (i = 0; i < COUNTOF(documents); i++)
		if (str_is(name, documents[i].name)) {
			w.fields.exact = documents[i].exact;
			put_document(&w, &documents[i]);
			arena_free(&tmp);
			return true;
		}
	return false;
}
