/* SPDX-License-Identifier: ISC */
/*
 * Symbols of a document, and "run this task" above each task.  Both come from
 * its lines, so they are there while the text cannot be parsed.
 */
#include "editor/lsp_internal.h"

#include <string.h>

enum { KIND_PROPERTY = 7, KIND_OBJECT = 19 };

/* An entry of a list at the top of the document. */
struct entry {
	size_t from, to;	/* its lines */
	struct str id, name;	/* values of its keys, or empty */
	size_t rank;		/* of the key that is the name */
};

static void
take_name(struct entry *e, struct str key, struct str value)
{
	static const char *const names[] = { "name", "type", "prompt",
		"query" };
	size_t i;

	if (value.n > 1 && (value.p[0] == '"' || value.p[0] == '\'')) {
		value.p++;
		value.n -= 2;
	}
	if (str_is(key, "id"))
		e->id = value;
	for (i = 0; i < COUNTOF(names) && (e->name.n == 0 || i < e->rank); i++)
		if (str_is(key, names[i]) && value.n > 0 &&
		    value.p[0] != '|' && value.p[0] != '>') {
			e->name = value;
			e->rank = i;
		}
}

/* The names in a flow mapping: {id: a, prompt: b}. */
static void
take_flow(struct entry *e, struct str text, const struct lsp_line *l)
{
	static const char *const keys[] = { "id", "name", "type", "prompt" };
	struct str flow = l->value;
	struct lsp_at at = { .text = text };
	struct lsp_step s = { .line = l->from };
	size_t i;

	if (flow.n < 2 || flow.p[0] != '{')
		return;
	s.flow = (struct str){ flow.p + 1, flow.n - 2 };
	for (i = 0; i < COUNTOF(keys); i++)
		take_name(e, str_of(keys[i]), lsp_sibling(&at, &s, keys[i]));
}

/* Reads the entry that begins at *l; leaves *l behind it, false at the end. */
static bool
read_entry(struct str text, struct lsp_line *l, struct entry *e)
{
	unsigned marker = l->item, col = l->col;
	bool more;

	*e = (struct entry){ .from = l->from };
	if (l->keyed)
		take_name(e, l->key, l->value);
	else
		take_flow(e, text, l);
	do {
		if (!l->blank)
			e->to = l->to;
		more = lsp_line_down(text, l);
		if (more && !l->blank && l->keyed && l->col == col &&
		    l->nitems == 0)
			take_name(e, l->key, l->value);
	} while (more && (l->blank || (l->first > marker)));
	return more;
}

static void
put_entry(struct json_out *o, struct lsp_ruler *r, const struct entry *e)
{
	struct str name = e->id.n > 0 ? e->id : e->name;
	struct lsp_range range = lsp_range(r, e->from, e->to);

	if (name.n == 0)
		return;
	json_open(o, '{');
	json_put_member_str(o, "name", utf8_cut(name, 100));
	json_put_member_int(o, "kind", KIND_OBJECT);
	lsp_put_range(o, "range", &range);
	lsp_put_range(o, "selectionRange", &range);
	json_close(o, '}');
}

/* The end of the part that a key at the top begins. */
static size_t
part_end(struct str text, struct lsp_line l)
{
	size_t to = l.to;

	while (lsp_line_down(text, &l)) {
		if (!l.blank && l.keyed && l.first == 0 && l.nitems == 0)
			break;
		if (!l.blank)
			to = l.to;
	}
	return to;
}

/* Symbols of one key at the top and the list below it. */
static bool
put_part(struct json_out *o, struct lsp_ruler *r, struct lsp_line *l,
    size_t *n)
{
	struct str text = r->text;
	size_t to = part_end(text, *l);
	struct lsp_range line = lsp_range(r, l->from, l->to);
	struct lsp_ruler ahead = *r;
	struct lsp_range whole = { line.from, lsp_place(&ahead, to) };
	struct entry e;
	bool more;

	json_open(o, '{');
	json_put_member_str(o, "name", utf8_cut(l->key, 100));
	json_put_member_int(o, "kind", KIND_PROPERTY);
	lsp_put_range(o, "range", &whole);
	lsp_put_range(o, "selectionRange", &line);
	json_open_member(o, "children", '[');
	more = lsp_line_down(text, l);
	while (more && l->to <= to) {
		if (l->nitems == 1) {
			more = read_entry(text, l, &e);
			if (++*n < LSP_SYMBOLS_MAX)
				put_entry(o, r, &e);
		} else
			more = lsp_line_down(text, l);
	}
	json_close(o, ']');
	json_close(o, '}');
	return more;
}

enum rpc_status
lsp_symbols(struct rpc_call *c, void *params)
{
	struct lsp_doc *d = lsp_doc_of(c);
	struct str text = d != NULL ? buf_str(&d->text) : STR("");
	struct lsp_ruler r = { .text = text };
	struct lsp_line l = lsp_line(text, 0);
	size_t n = 0;
	bool more = d != NULL && d->kind != LSP_SKILL;

	(void)params;
	json_open(&c->out, '[');
	while (more && n < LSP_SYMBOLS_MAX) {
		n++;
		if (l.keyed && l.first == 0 && l.nitems == 0 && l.key.n > 0)
			more = put_part(&c->out, &r, &l, &n);
		else
			more = lsp_line_down(text, &l);
	}
	json_close(&c->out, ']');
	return RPC_DONE;
}

static void
put_lens(struct json_out *o, struct lsp_ruler *r, size_t from,
    const char *suite, struct str id)
{
	struct lsp_range range = lsp_range(r, from, from);

	json_open(o, '{');
	lsp_put_range(o, "range", &range);
	json_open_member(o, "command", '{');
	json_put_member_cstr(o, "title", id.n > 0 ? "Run this task" :
	    "Run this suite");
	json_put_member_cstr(o, "command", id.n > 0 ? "waza.runTask" :
	    "waza.runSuite");
	json_open_member(o, "arguments", '[');
	json_put_cstr(o, suite);
	if (id.n > 0)
		json_put_str(o, id);
	json_close(o, ']');
	json_close(o, '}');
	json_close(o, '}');
}

/* One above each entry of `tasks` that has an id or a name. */
static void
put_task_lenses(struct json_out *o, struct lsp_ruler *r, const char *suite)
{
	struct str text = r->text;
	struct lsp_line l = lsp_line(text, 0);
	struct entry e;
	bool more = true, tasks = false;
	size_t n = 0;

	while (more && n < LSP_SYMBOLS_MAX) {
		if (l.keyed && l.first == 0 && l.nitems == 0)
			tasks = str_is(l.key, "tasks");
		if (!tasks || l.nitems != 1) {
			more = lsp_line_down(text, &l);
			continue;
		}
		more = read_entry(text, &l, &e);
		if (e.id.n > 0) {
			put_lens(o, r, e.from, suite, e.id);
			n++;
		}
	}
}

/* The id of a task file, and the line that has it. */
static struct entry
task_of(struct str text)
{
	struct lsp_line l = lsp_line(text, 0);
	struct entry e = { 0 };

	do
		if (l.keyed && l.first == 0 && l.nitems == 0 &&
		    (str_is(l.key, "id") || (e.id.n == 0 &&
		    str_is(l.key, "name")))) {
			take_name(&e, STR("id"), l.value);
			e.from = l.from;
		}
	while (lsp_line_down(text, &l));
	return e;
}

enum rpc_status
lsp_lenses(struct rpc_call *c, void *params)
{
	struct lsp_doc *d = lsp_doc_of(c);
	struct str text = d != NULL ? buf_str(&d->text) : STR("");
	struct lsp_ruler r = { .text = text };
	const char *suite;
	struct entry e;

	(void)params;
	json_open(&c->out, '[');
	if (d != NULL && d->kind == LSP_EVAL && *d->path != '\0') {
		put_lens(&c->out, &r, 0, d->path, STR(""));
		put_task_lenses(&c->out, &r, d->path);
	} else if (d != NULL && d->kind == LSP_TASK) {
		suite = lsp_suite_of(d, c->arena);
		e = task_of(text);
		if (suite != NULL && e.id.n > 0)
			put_lens(&c->out, &r, e.from, suite, e.id);
	}
	json_close(&c->out, ']');
	return RPC_DONE;
}
