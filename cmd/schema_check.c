/* SPDX-License-Identifier: ISC */
/*
 * The command schema-check: whether files fit a JSON Schema, and where not.
 *
 * Findings are data and go to stdout; what keeps us from telling goes to
 * stderr, and the other files are looked at nevertheless.
 */
#include "waza.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"
#include "json.h"
#include "lib/schema/schema.h"
#include "yaml_lite.h"

struct schema_opt {
	const char *format, *draft;
	struct opt_list refs;
	bool quiet;
};
static const struct opt schema_rows[] = {
	{ .name = "draft", .type = OPT_STR, .off = offsetof(struct schema_opt, draft),
	    .value = "7|2020-12",
	    .help = "where the schema does not say which" },
	{ .name = "format", .type = OPT_STR, .off = offsetof(struct schema_opt, format),
	    .value = "text|json", .help = "how findings are printed" },
	{ .name = "quiet", .letter = 'q', .type = OPT_FLAG,
	    .off = offsetof(struct schema_opt, quiet),
	    .help = "say nothing of valid files" },
	{ .name = "ref", .type = OPT_LIST, .off = offsetof(struct schema_opt, refs),
	    .value = "FILE",
	    .help = "another schema, for references to its $id" },
};

/* The files, one after the other. */
struct check {
	struct cmd_call *call;
	const struct schema_opt *opt;
	struct schema *schema;
	struct buf out;
	struct json_out json;
	const char *name;	/* of the file at hand */
	bool as_json;
	size_t findings;	/* in it */
	int status;
};

static bool
is_stdin(const char *name)
{
	return strcmp(name, "-") == 0;
}

static const char *
shown(const char *name)
{
	return is_stdin(name) ? "stdin" : name;
}

static bool
looks_like_json(struct str text)
{
	size_t i = 0;

	while (i < text.n && (text.p[i] == ' ' || (text.p[i] >= '\t' &&
	    text.p[i] <= '\r')))
		i++;
	return i < text.n && (text.p[i] == '{' || text.p[i] == '[');
}

/* All documents of a file; JSON by its name or its looks, else YAML. */
static const struct json *
read_values(struct arena *a, const char *name, struct err *e)
{
	struct json_mem mem = { arena_hook, a };
	struct json_error je;
	struct json *v = NULL;
	struct str text;
	bool json = str_ends(str_of(name), STR(".json"));

	if ((is_stdin(name) ? os_read_fd(a, STDIN_FILENO, "stdin",
	    CMD_INPUT_MAX, &text, e) : os_read_file(a, name, CMD_INPUT_MAX,
	    &text, e)) == -1)
		return NULL;
	if (json || looks_like_json(text))
		v = json_read(&mem, text, 0, &je);
	if (v != NULL)
		return v;
	if (!json) {
		v = yaml_read(a, text, NULL, e);
		return v != NULL && json_count(v) == 0 ?
		    yaml_read_one(a, text, e) : json_first(v);
	}
	err_set(e, ERR_SYNTAX, "%s", je.msg);
	err_at(e, je.line, je.col);
	return NULL;
}

static int
complain(const char *name, const struct err *e)
{
	if (e->line > 0)
		return cmd_complain_at(shown(name), e);
	fprintf(stderr, "%s%s%s\n", e->code == ERR_SYS ? "" : shown(name),
	    e->code == ERR_SYS ? "waza: " : ": ", e->msg);
	return CMD_ERROR;
}

static void
on_finding(void *ctx, const struct schema_finding *f)
{
	struct check *c = ctx;
	const struct json *v = f->value;
	bool key = f->key && v->key_line > 0;
	unsigned line = key ? v->key_line : v->line;
	unsigned col = key ? v->key_col : v->col;

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
	json_put_member_str(&c->json, "keyword", f->keyword);
	json_put_member_str(&c->json, "message", f->msg);
	json_close(&c->json, '}');
}

static void
worse(struct check *c, int status)
{
	if (status > c->status)
		c->status = status;
}

/* What is wrong with the file itself, in the list of its errors. */
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

	c->name = shown(name);
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

/* The one schema in a file; NULL: it has been said why there is none. */
static const struct json *
read_schema(struct cmd_call *c, const char *name)
{
	const struct json *v = read_values(c->arena, name, c->err);

	if (v != NULL && v->next == NULL)
		return v;
	if (v != NULL) {
		err_set(c->err, ERR_SCHEMA, "there are several documents in "
		    "it, not one schema");
		err_at(c->err, v->next->line, v->next->col);
	}
	complain(name, c->err);
	return NULL;
}

/* Schemas to refer to, each by its $id, or else by its name. */
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

/* There is only one standard input. */
static size_t
count_stdin(const struct check *c)
{
	size_t i, n = 0;

	for (i = 0; i < c->call->nargs; i++)
		n += is_stdin(c->call->args[i]);
	for (i = 0; i < c->opt->refs.n; i++)
		n += is_stdin(c->opt->refs.v[i]);
	return n;
}

static int
get_options(struct check *c, struct schema_opts *out)
{
	const struct schema_opt *o = c->opt;
	struct err *e = c->call->err;

	if (count_stdin(c) > 1)
		return err_set(e, ERR_SCHEMA,
		    "standard input (-) can only be read once");
	c->as_json = o->format != NULL && strcmp(o->format, "json") == 0;
	if (o->format != NULL && !c->as_json && strcmp(o->format, "text") != 0)
		return err_set(e, ERR_SCHEMA,
		    "--format is text or json, not \"%s\"", o->format);
	if (o->draft != NULL && strcmp(o->draft, "7") == 0)
		out->draft = SCHEMA_7;
	else if (o->draft != NULL && strcmp(o->draft, "2020-12") != 0)
		return err_set(e, ERR_SCHEMA,
		    "--draft is 7 or 2020-12, not \"%s\"", o->draft);
	return 0;
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
	return cmd_finish(call, &c.out, c.status);
}

const struct cmd_command cmd_schema_check = {
	.name = "schema-check",
	.usage = "[OPTION ...] SCHEMA FILE|- ...",
	.opts = CMD_OPTS(schema_rows), .size = sizeof(struct schema_opt),
	.min = 2, .max = SIZE_MAX, .fn = schema_check_main,
	.help = "check JSON or YAML against a JSON Schema"
};
