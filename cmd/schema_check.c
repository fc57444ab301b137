/* SPDX-License-Identifier: ISC */
/*
 * waza schema-check: checks files against a JSON Schema.
 *
 * Findings are data and go to stdout.  If a file cannot be checked, the reason
 * goes to stderr, and the other files are still checked.
 */
#include "waza.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "json.h"
#include "lib/schema/schema.h"
#include "yaml_lite.h"

struct schema_opt {
	const char *format, *draft;
	struct opt_list refs;
	bool quiet;
};
#define OPT(m, t, ...) CMD_OPT(schema_opt, m, t, __VA_ARGS__)
static const struct opt schema_rows[] = {
	OPT(draft, OPT_STR, .name = "draft", .value = "7|2020-12",
	    .help = "if the schema has no $schema (default: 2020-12)"),
	OPT(refs, OPT_LIST, .name = "ref", .value = "FILE",
	    .help = "schema for references to its $id (repeatable)"),
	OPT(format, OPT_STR, .name = "format", .value = "text|json",
	    .help = "output format (default: text)"),
	OPT(quiet, OPT_FLAG, .name = "quiet", .letter = 'q',
	    .help = "do not mention valid files"),
};

/* One call: checks file after file. */
struct check {
	struct cmd_call *call;
	const struct schema_opt *opt;
	struct schema *schema;
	struct buf out;
	struct json_out json;
	const char *name;	/* of the current file */
	bool as_json;
	size_t findings;	/* in it */
	int status;
};

/* All documents of a file: JSON by its name or its first byte, else YAML. */
static const struct json *
read_values(struct arena *a, const char *name, struct err *e)
{
	struct json *v = NULL;
	struct err bad = { 0 };
	struct str text, start;
	bool json = str_ends(str_of(name), STR(".json"));

	if (cmd_read_input(a, name, &text, e) == -1)
		return NULL;
	start = str_trim(str_after_bom(text));
	if (json || (start.n > 0 && (*start.p == '{' || *start.p == '[')))
		v = cmd_read_json(a, text, json ? e : &bad);
	if (v != NULL || json)
		return v;
	v = yaml_read(a, text, NULL, e);	/* JSON errors may be YAML */
	return v != NULL && json_count(v) == 0 ?
	    yaml_read_one(a, text, e) : json_first(v);
}

static int
complain(const char *name, const struct err *e)
{
	if (e->line > 0)
		return cmd_complain_at(cmd_input_name(name), e);
	cmd_say("%s%s%s\n",
	    e->code == ERR_SYS ? "" : cmd_input_name(name),
	    e->code == ERR_SYS ? "waza: " : ": ", e->msg);
	return CMD_ERROR;
}

static void
on_finding(void *ctx, const struct schema_finding *f)
{
	struct check *c = ctx;
	const struct json *v = f->value;
	bool key = f->key && v->key_col > 0;
	unsigned line = key ? v->key_line : v->line;
	unsigned col = key ? v->key_col : v->col;
	struct buf keyword = { 0 };

	c->findings++;
	if (!c->as_json) {
		buf_fmt(&c->out, "%s:%u:%u: ", c->name, line, col);
		buf_put(&c->out, f->at.n > 0 ? f->at : STR("/"));
		buf_puts(&c->out, ": ");
		buf_put(&c->out, f->msg);
		buf_putc(&c->out, '\n');
		return;
	}
	json_open(&c->json, '{');
	json_put_member_int(&c->json, "line", line);
	json_put_member_int(&c->json, "col", col);
	json_put_member_str(&c->json, "at", f->at);
	schema_put_keyword(&keyword, f);
	json_put_member_str(&c->json, "keyword", buf_str(&keyword));
	json_put_member_str(&c->json, "message", f->msg);
	json_close(&c->json, '}');
	buf_free(&keyword);
}

static void
worse(struct check *c, int status)
{
	if (status > c->status)
		c->status = status;
}

/* A file that cannot be read has this as its only error. */
static void
put_unread(struct check *c, const struct err *e)
{
	json_open(&c->json, '{');
	json_put_member_int(&c->json, "line", e->line);
	json_put_member_int(&c->json, "col", e->col);
	json_put_member_cstr(&c->json, "message", e->msg);
	json_close(&c->json, '}');
}

static void
check_values(struct check *c, const char *name)
{
	struct arena mem = { 0 }, tmp = { 0 };
	struct err e = { 0 };
	const struct json *v = read_values(&mem, name, &e);
	int ok = v == NULL ? -1 : 1;

	for (; v != NULL && ok >= 0; v = v->next)
		ok = schema_check(c->schema, &tmp, v, on_finding, c, &e);
	if (ok < 0) {
		worse(c, complain(name, &e));
		if (c->as_json)
			put_unread(c, &e);
	} else if (c->findings > 0) {
		worse(c, CMD_FAILED);
	} else if (!c->as_json && !c->opt->quiet)
		buf_fmt(&c->out, "%s: valid\n", c->name);
	arena_free(&tmp);
	arena_free(&mem);
}

static void
check_file(struct check *c, const char *name)
{
	int before = c->status;

	c->name = cmd_input_name(name);
	c->findings = 0;
	if (!c->as_json) {
		check_values(c, name);
		return;
	}
	c->status = CMD_OK;
	json_open(&c->json, '{');
	json_put_member_cstr(&c->json, "path", c->name);
	json_open_member(&c->json, "errors", '[');
	check_values(c, name);
	json_close(&c->json, ']');
	json_put_member_bool(&c->json, "valid", c->status == CMD_OK);
	json_close(&c->json, '}');
	worse(c, before);
}

static void
check_files(struct check *c)
{
	size_t i;

	if (c->as_json) {
		json_open(&c->json, '{');
		json_open_member(&c->json, "files", '[');
	}
	for (i = 1; i < c->call->nargs; i++)
		check_file(c, c->call->args[i]);
	if (c->as_json) {
		json_close(&c->json, ']');
		json_put_member_bool(&c->json, "valid", c->status == CMD_OK);
		json_close(&c->json, '}');
		buf_putc(&c->out, '\n');
	}
}

/* The schema in a file; NULL: the reason was printed. */
static const struct json *
read_schema(struct cmd_call *c, const char *name)
{
	const struct json *v = read_values(c->arena, name, c->err);

	if (v != NULL && v->next == NULL)
		return v;
	if (v != NULL) {
		err_set(c->err, ERR_SCHEMA, "more than one document: a "
		    "schema file must contain one");
		err_at(c->err, v->next->line, v->next->col);
	}
	complain(name, c->err);
	return NULL;
}

/* Schemas that others refer to by $id, or by file name if there is none. */
static int
read_refs(struct cmd_call *c, const struct schema_opt *o,
    struct schema_opts *out)
{
	struct schema_doc *docs = NEW_N(c->arena, struct schema_doc,
	    o->refs.n + 1);
	const struct json *id;
	size_t i;

	for (i = 0; i < o->refs.n; i++) {
		docs[i].doc = read_schema(c, o->refs.v[i]);
		if (docs[i].doc == NULL)
			return -1;
		id = json_getc(docs[i].doc, "$id");
		docs[i].uri = id != NULL && id->type == JSON_STRING ?
		    json_text(id) : str_of(o->refs.v[i]);
		if (str_ends(docs[i].uri, STR("#")))
			docs[i].uri.n--;
	}
	out->docs = docs;
	out->ndocs = o->refs.n;
	return 0;
}

static size_t
count_stdin(const struct check *c)
{
	size_t i, n = 0;

	for (i = 0; i < c->call->nargs; i++)
		n += strcmp(c->call->args[i], "-") == 0;
	for (i = 0; i < c->opt->refs.n; i++)
		n += strcmp(c->opt->refs.v[i], "-") == 0;
	return n;
}

static int
get_options(struct check *c, struct schema_opts *out)
{
	static const char *const drafts[] = { "2020-12", "7" };
	const struct schema_opt *o = c->opt;
	struct err *e = c->call->err;
	int json, draft;

	if (count_stdin(c) > 1)
		return err_set(e, ERR_SCHEMA,
		    "standard input (-) can only be read once");
	json = cmd_choose_json(o->format, e);
	draft = cmd_choose("draft", o->draft, drafts, COUNTOF(drafts), e);
	c->as_json = json == 1;
	if (draft == 1)
		out->draft = SCHEMA_7;
	return json == -1 || draft == -1 ? -1 : 0;
}

static int
schema_check_main(struct cmd_call *call)
{
	struct check c = { .call = call, .opt = call->opt };
	struct schema_opts o = { .draft = SCHEMA_2020_12 };
	const struct json *doc;

	c.json = (struct json_out){ .put = buf_sink, .ctx = &c.out };
	if (get_options(&c, &o) == -1)
		return cmd_complain(call->err);
	if (read_refs(call, call->opt, &o) == -1)
		return CMD_ERROR;
	doc = read_schema(call, call->args[0]);
	if (doc == NULL)
		return CMD_ERROR;
	c.schema = schema_compile(call->arena, doc, &o, call->err);
	if (c.schema == NULL)
		return complain(call->args[0], call->err);
	check_files(&c);
	call->form = c.as_json ? GUARD_JSON : GUARD_PLAIN;
	return cmd_finish(call, &c.out, c.status);
}

const struct cmd_command cmd_schema_check = {
	.name = "schema-check",
	.usage = "[OPTION ...] SCHEMA FILE|- ...",
	.opts = CMD_OPTS(schema_rows), .size = sizeof(struct schema_opt),
	.required = { "SCHEMA", "FILE" }, .max = SIZE_MAX,
	.fn = schema_check_main,
	.help = "Check JSON or YAML against a JSON Schema"
};
