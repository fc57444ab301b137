/* SPDX-License-Identifier: ISC */
/*
 * Completion and hover.
 *
 * The candidates are those of the schemas at the position; names of executors,
 * files and skills are added where the schema has "x-values".  The client
 * filters them by the word at the cursor, which the edit replaces.
 */
#include "editor/lsp_internal.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/agent.h"
#include "suite/spec.h"

/* Kinds of candidates in the protocol. */
enum { ITEM_FILE = 17, ITEM_FOLDER = 19, ITEM_PROPERTY = 10, ITEM_VALUE = 12,
	ITEM_MODULE = 9 };

enum { ENTRIES_MAX = 10000 };	/* of a directory that are read */

struct list {
	struct json_out *o;
	struct lsp_doc *doc;
	struct lsp_at at;
	struct lsp_nodes nodes;
	struct arena *arena;
	struct buf seen;	/* of struct str: labels */
	struct field_strs keys;	/* of the mapping at the position */
	struct lsp_range range;	/* of the word there */
	size_t n;
};

static bool
is_new(struct list *l, struct str label)
{
	const struct str *v = (const struct str *)(const void *)l->seen.p;
	size_t i, n = l->seen.n / sizeof(*v);

	for (i = 0; i < n; i++)
		if (str_eq(v[i], label))
			return false;
	if (l->n == LSP_ITEMS_MAX)
		return false;
	buf_put(&l->seen, (struct str){ (const char *)&label,
	    sizeof(label) });
	l->n++;
	return true;
}

static void
add(struct list *l, struct str label, struct str insert, int kind,
    struct str help)
{
	struct json_out *o = l->o;

	if (!is_new(l, label))
		return;
	json_open(o, '{');
	json_put_member_str(o, "label", label);
	json_put_member_int(o, "kind", kind);
	json_put_member_nonempty(o, "documentation", help);
	json_open_member(o, "textEdit", '{');
	lsp_put_range(o, "range", &l->range);
	json_put_member_str(o, "newText", insert);
	json_close(o, '}');
	json_close(o, '}');
}

/* Whether the value of a schema is written below its key. */
static bool
is_nested(const struct json *v)
{
	const struct json *items = json_getc(v, "items");

	return json_getc(v, "properties") != NULL ||
	    json_getc(v, "$ref") != NULL ||
	    json_getc(items, "properties") != NULL ||
	    json_getc(items, "anyOf") != NULL;
}

/* Whether another line has this key. */
static bool
is_given(const struct list *l, struct str key)
{
	struct str word = { l->at.text.p + l->at.from,
		l->at.to - l->at.from };
	size_t i;

	for (i = 0; i < l->keys.n; i++)
		if (str_eq(l->keys.v[i], key))
			return !str_eq(key, word);
	return false;
}

static void
add_keys(struct list *l, const struct json *node)
{
	const struct json *v = json_first(json_getc(node, "properties"));
	struct str after = { l->at.text.p + l->at.to,
		l->at.text.n - l->at.to };
	const char *end;

	for (; v != NULL; v = v->next) {
		if (v->type != JSON_OBJECT ||
		    json_getc(v, "description") == NULL ||
		    is_given(l, json_key(v)))
			continue;
		end = after.n > 0 && after.p[0] == ':' ? "" :
		    is_nested(v) && l->at.here.flow.p == NULL ? ":" : ": ";
		add(l, json_key(v), arena_fmt(l->arena, "%.*s%s",
		    STRF(json_key(v)), end), ITEM_PROPERTY,
		    json_str(v, "description"));
	}
}

static void
add_values(struct list *l, const struct json *node)
{
	const struct json *v, *type = json_getc(node, "type");
	struct str help = json_str(node, "description");

	for (v = json_first(json_getc(node, "enum")); v != NULL; v = v->next)
		if (v->type == JSON_STRING)
			add(l, json_text(v), json_text(v), ITEM_VALUE, help);
	v = json_getc(node, "const");
	if (v != NULL && v->type == JSON_STRING)
		add(l, json_text(v), json_text(v), ITEM_VALUE, help);
	v = json_first(type);
	if (v != NULL && str_is(json_text(v), "boolean")) {
		add(l, STR("true"), STR("true"), ITEM_VALUE, help);
		add(l, STR("false"), STR("false"), ITEM_VALUE, help);
	}
	v = json_getc(node, "default");
	if (v != NULL && (v->type == JSON_NUMBER || v->type == JSON_STRING))
		add(l, json_text(v), json_text(v), ITEM_VALUE,
		    STR("the default"));
}

static void
add_executors(struct list *l)
{
	const struct agent_kind *k;
	size_t i;

	for (i = 0; (k = agent_nth(i)) != NULL; i++)
		add(l, str_of(k->name), str_of(k->name), ITEM_MODULE,
		    STR("executor"));
}

/* The entries of a directory; each gets the text before it. */
static void
add_entries(struct list *l, const char *dir, struct str before)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	struct stat st;
	struct str name;
	size_t n = 0;

	if (d == NULL)
		return;
	while ((e = readdir(d)) != NULL && n++ < ENTRIES_MAX) {
		if (e->d_name[0] == '.' || stat(arena_fmt(l->arena, "%s/%s",
		    dir, e->d_name).p, &st) == -1)
			continue;
		name = arena_fmt(l->arena, "%.*s%s%s", STRF(before),
		    e->d_name, S_ISDIR(st.st_mode) ? "/" : "");
		add(l, name, name, S_ISDIR(st.st_mode) ? ITEM_FOLDER :
		    ITEM_FILE, STR(""));
	}
	closedir(d);
}

/* Files relative to the document, in the directory that is typed. */
static void
add_files(struct list *l)
{
	struct str word = { l->at.text.p + l->at.from,
		l->at.cursor - l->at.from };
	const char *dir = spec_dir_of(l->arena, l->doc->path);

	if (*l->doc->path == '\0')
		return;
	if (word.n > 0 && (*word.p == '"' || *word.p == '\'')) {
		word.p++;
		word.n--;
		l->range.from.character++;
	}
	while (word.n > 0 && word.p[word.n - 1] != '/')
		word.n--;
	add_entries(l, spec_join(l->arena, dir, word), word);
}

/* The skills in the usual places around the document. */
static void
add_skills(struct list *l)
{
	static const char *const places[] = { "..", "../..", "skills",
		"../skills", "../../skills", "../../.github/skills",
		"../../.claude/skills", "../../.agents/skills" };
	const char *dir = spec_dir_of(l->arena, l->doc->path), *place;
	struct dirent *e;
	size_t i, n;
	DIR *d;

	for (i = 0; i < COUNTOF(places) && *l->doc->path != '\0'; i++) {
		place = arena_fmt(l->arena, "%s/%s", dir, places[i]).p;
		d = opendir(place);
		for (n = 0; d != NULL && n < ENTRIES_MAX &&
		    (e = readdir(d)) != NULL; n++)
			if (e->d_name[0] != '.' && spec_exists(arena_fmt(
			    l->arena, "%s/%s/SKILL.md", place, e->d_name).p))
				add(l, arena_str(l->arena,
				    str_of(e->d_name)), arena_str(l->arena,
				    str_of(e->d_name)), ITEM_MODULE,
				    STR("skill"));
		if (d != NULL)
			closedir(d);
	}
}

static void
add_all(struct list *l)
{
	size_t i;

	if (l->at.key)
		l->keys = lsp_keys(l->arena, &l->at, &l->at.here);
	for (i = 0; i < l->nodes.n && l->at.key; i++)
		add_keys(l, l->nodes.v[i]);
	/* an item can be a value as well as the first key of a mapping */
	if (l->at.key && (l->at.n == 0 ||
	    l->at.step[l->at.n - 1].key.p != NULL))
		return;
	for (i = 0; i < l->nodes.n; i++)
		add_values(l, l->nodes.v[i]);
	if (str_is(l->nodes.values, "executors"))
		add_executors(l);
	else if (str_is(l->nodes.values, "files"))
		add_files(l);
	else if (str_is(l->nodes.values, "skills"))
		add_skills(l);
}

/* Looks at the position of a call; false: nothing is known there. */
static bool
look(const struct rpc_call *c, struct list *l)
{
	const struct json *root;
	struct lsp_place p;
	struct str text;

	l->doc = lsp_doc_of(c);
	if (l->doc == NULL ||
	    !lsp_read_place(json_getc(c->params, "position"), &p))
		return false;
	root = lsp_schema(l->doc->lsp, l->doc->kind);
	text = buf_str(&l->doc->text);
	if (root == NULL || !lsp_look(text, lsp_offset(text, p), &l->at))
		return false;
	lsp_resolve(root, &l->at, &l->nodes);
	l->range = lsp_range(&(struct lsp_ruler){ .text = text }, l->at.from,
	    l->at.to);
	return true;
}

enum rpc_status
lsp_complete(struct rpc_call *c, void *params)
{
	struct list l = { .o = &c->out, .arena = c->arena };

	(void)params;
	json_open(&c->out, '{');
	json_put_member_bool(&c->out, "isIncomplete", false);
	json_open_member(&c->out, "items", '[');
	if (look(c, &l))
		add_all(&l);
	json_close(&c->out, ']');
	json_close(&c->out, '}');
	buf_free(&l.seen);
	return RPC_DONE;
}

/* A line about numbers or words of a schema. */
static void
put_facts(struct buf *b, const struct json *v)
{
	static const char *const names[] = { "default", "minimum", "maximum" };
	const struct json *m;
	struct json_out o = { .put = buf_sink, .ctx = b };
	size_t i;

	for (i = 0; i < COUNTOF(names); i++) {
		m = json_getc(v, names[i]);
		if (m == NULL)
			continue;
		buf_fmt(b, "\n\n%s: `", names[i]);
		o.more = false;
		json_put(&o, m);
		buf_putc(b, '`');
	}
	m = json_first(json_getc(v, "enum"));
	for (i = 0; m != NULL; m = m->next)
		if (m->type == JSON_STRING)
			buf_fmt(b, "%s`%.*s`", i++ == 0 ? "\n\nvalues: " :
			    ", ", STRF(json_text(m)));
}

enum rpc_status
lsp_hover(struct rpc_call *c, void *params)
{
	struct list l = { .arena = c->arena };
	struct json_out *o = &c->out;
	const struct json *node = NULL;
	struct buf b = { 0 };
	struct str key;
	size_t i;

	(void)params;
	if (look(c, &l)) {
		key = (struct str){ l.at.text.p + l.at.from,
			l.at.to - l.at.from };
		for (i = 0; i < l.nodes.n && node == NULL; i++)
			node = l.at.key ? json_get(json_getc(l.nodes.v[i],
			    "properties"), key) : l.nodes.v[i];
		for (i = 0; i < l.nodes.n && json_str(node,
		    "description").n == 0; i++)
			node = l.at.key ? json_get(json_getc(l.nodes.v[i],
			    "properties"), key) : l.nodes.v[i];
	}
	if (json_str(node, "description").n == 0) {
		json_put_null(o);
		return RPC_DONE;
	}
	buf_put(&b, json_str(node, "description"));
	put_facts(&b, node);
	json_open(o, '{');
	json_open_member(o, "contents", '{');
	json_put_member_cstr(o, "kind", "markdown");
	json_put_member_str(o, "value", buf_str(&b));
	json_close(o, '}');
	lsp_put_range(o, "range", &l.range);
	json_close(o, '}');
	buf_free(&b);
	return RPC_DONE;
}
