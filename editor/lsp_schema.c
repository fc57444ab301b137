/* SPDX-License-Identifier: ISC */
/*
 * The schemas that apply to a position: of all alternatives, because the text
 * is not complete; but settings of a grader only of the type that is written.
 */
#include "editor/lsp_internal.h"

#include "editor/editor_schema.h"

const struct json *
lsp_schema(struct lsp *l, enum lsp_kind kind)
{
	static const char *const names[] = { [LSP_EVAL] = "eval",
		[LSP_TASK] = "task", [LSP_TRIGGER] = "trigger",
		[LSP_CONFIG] = "config", [LSP_SKILL] = NULL };
	struct editor_schema_opts opts = { .values = true };
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	if (names[kind] == NULL)
		return NULL;
	if (l->schemas[kind] == NULL) {
		editor_put_schema(&o, str_of(names[kind]), &opts);
		l->schemas[kind] = arena_json(&l->arena,
		    arena_take(&l->arena, &b), NULL);
	}
	return l->schemas[kind];
}

static void
add(struct lsp_nodes *n, const struct json *v)
{
	size_t i;

	if (v == NULL || v->type != JSON_OBJECT || n->n == LSP_NODES_MAX)
		return;
	for (i = 0; i < n->n; i++)
		if (n->v[i] == v)
			return;
	n->v[n->n++] = v;
}

static void
add_list(struct lsp_nodes *n, const struct json *list)
{
	const struct json *v;

	for (v = json_first(list); v != NULL; v = v->next)
		add(n, v);
}

static const struct json *
referred(const struct json *root, struct str ref)
{
	struct str prefix = STR("#/definitions/");

	if (str_is(ref, "#"))
		return root;
	if (!str_starts(ref, prefix))
		return NULL;
	return json_get(json_getc(root, "definitions"), (struct str){
	    ref.p + prefix.n, ref.n - prefix.n });
}

/* The type that the condition of a schema names. */
static struct str
wanted_type(const struct json *v)
{
	return json_str(json_getc(json_getc(json_getc(v, "if"),
	    "properties"), "type"), "const");
}

static struct str
type_of(const struct lsp_at *at, const struct lsp_step *s)
{
	struct str t = lsp_sibling(at, s, "type");

	if (t.n > 1 && (t.p[0] == '"' || t.p[0] == '\'')) {
		t.p++;
		t.n -= 2;
	}
	return t;
}

/* Adds what the schemas refer to; s is a key of the mapping, or NULL. */
static void
expand(const struct json *root, const struct lsp_at *at,
    const struct lsp_step *s, struct lsp_nodes *n)
{
	const struct json *v;
	struct str values, type = { NULL, 0 };
	size_t i;

	for (i = 0; i < n->n; i++) {
		v = n->v[i];
		values = json_str(v, "x-values");
		if (values.n > 0)
			n->values = values;
		add(n, referred(root, json_str(v, "$ref")));
		add_list(n, json_getc(v, "allOf"));
		add_list(n, json_getc(v, "anyOf"));
		if (s == NULL || json_getc(v, "if") == NULL)
			continue;
		if (type.p == NULL)
			type = type_of(at, s);
		if (str_eq(wanted_type(v), type))
			add(n, json_getc(v, "then"));
	}
}

/* The schemas of a member, or of an item (key.p is NULL). */
static void
descend(struct lsp_nodes *n, struct str key)
{
	struct lsp_nodes to = { .n = 0 };
	const struct json *v;
	size_t i;

	if (key.p == NULL)
		to.values = n->values;
	for (i = 0; i < n->n; i++) {
		if (key.p == NULL) {
			add(&to, json_getc(n->v[i], "items"));
			continue;
		}
		v = json_get(json_getc(n->v[i], "properties"), key);
		add(&to, v != NULL ? v : json_getc(n->v[i],
		    "additionalProperties"));
	}
	*n = to;
}

void
lsp_resolve(const struct json *root, const struct lsp_at *at,
    struct lsp_nodes *out)
{
	const struct lsp_step *s;
	size_t i;

	*out = (struct lsp_nodes){ .n = 0 };
	add(out, root);
	for (i = 0; i < at->n; i++) {
		s = &at->step[i];
		expand(root, at, s->key.p != NULL ? s : NULL, out);
		descend(out, s->key);
	}
	expand(root, at, at->key ? &at->here : NULL, out);
}
