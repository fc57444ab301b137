/* SPDX-License-Identifier: ISC */
/*
 * Finds the schemas in a document and their names, and resolves references.
 *
 * Each place that a known keyword defines as a schema gets a node.  Nodes are
 * processed in a queue, without recursion, so that all names are known before
 * the first reference is resolved.  A `$id` in an `enum` or under an unknown
 * keyword is not a name.  But a JSON Pointer may refer to any place, which
 * then becomes a schema.
 */
#include "lib/schema/schema_internal.h"

#include <string.h>

enum { NODE_COST = 500 };	/* in units of a budget */

static struct str
address(const struct json *const *src)
{
	return (struct str){ (const char *)src, sizeof(*src) };
}

static struct schema_node *
find(struct schema_build *b, const struct json *src)
{
	return schema_map_get(&b->nodes, address(&src));
}

struct schema_node *
schema_node_new(struct schema_build *b, const struct json *src,
    struct schema_res *res)
{
	struct schema_node *n = NEW(b->arena, struct schema_node), **list;

	n->src = src;
	n->res = res;
	n->types = SCHEMA_ANY;
	schema_map_put(b->arena, &b->nodes, address(&n->src), n);
	if (b->n == b->cap) {
		b->cap = b->cap == 0 ? 64 : b->cap * 2;
		list = NEW_N(b->arena, struct schema_node *, b->cap);
		if (b->n > 0)
			memcpy(list, b->list, b->n * sizeof(*list));
		b->list = list;
	}
	b->list[b->n++] = n;
	if (b->n > SCHEMA_NODES_MAX || (b->opts != NULL &&
	    !budget_take(b->opts->budget, NODE_COST)))
		schema_fail(b, n, NULL, "more than %d schemas",
		    SCHEMA_NODES_MAX);
	return n;
}

struct schema_node *
schema_node_at(struct schema_build *b, struct schema_node *up,
    const struct json *word, const struct json *item)
{
	const struct json *src = item != NULL ? item : word;
	struct schema_node *n = find(b, src);

	if (n == NULL) {
		n = schema_node_new(b, src, up->res);
		n->up = up;
		n->word = word;
		n->item = item;
	}
	return n;
}

static void
add_name(struct schema_build *b, struct schema_node *n, struct str name,
    const char *word)
{
	struct schema_node *other = schema_map_get(&b->uris, name);

	if (other == NULL)
		schema_map_put(b->arena, &b->uris, name, n);
	else if (other != n)
		schema_fail(b, n, json_getc(n->src, word),
		    "two schemas have this name");
	if (b->uris.longest > SCHEMA_WAY_MAX)
		schema_fail(b, n, json_getc(n->src, word),
		    "too many names have similar hashes");
}

static void
name_anchor(struct schema_build *b, struct schema_node *n, const char *word,
    struct str name)
{
	add_name(b, n, arena_fmt(b->arena, "%.*s#%.*s", STRF(n->res->uri),
	    STRF(name)), word);
}

/* A schema with its own URI: names inside are relative to it. */
static void
begin_resource(struct schema_build *b, struct schema_node *n, struct str uri)
{
	struct schema_res *res = NEW(b->arena, struct schema_res);

	*res = *n->res;
	res->uri = uri;
	res->dynamic = NULL;
	n->res = res;
	add_name(b, n, uri, "$id");
}

static void
take_id(struct schema_build *b, struct schema_node *n)
{
	const struct json *word = json_getc(n->src, "$id");
	bool old = n->res->dialect.draft == SCHEMA_7;
	struct schema_ref r;

	/* draft 7, section 8.3: keywords beside $ref are ignored */
	if (word == NULL || word->type != JSON_STRING ||
	    (old && json_getc(n->src, "$ref") != NULL))
		return;
	r = schema_uri_resolve(b->arena, n->res->uri, json_text(word));
	if (r.fragment.n > 0 && !old)
		schema_fail(b, n, word,
		    "must not have a fragment; use \"$anchor\"");
	else if (word->n > 0 && word->u.text[0] != '#' &&
	    !str_eq(r.uri, n->res->uri))
		begin_resource(b, n, r.uri);
	if (r.fragment.n > 0)
		name_anchor(b, n, "$id", r.fragment);
}

static void
take_anchor(struct schema_build *b, struct schema_node *n, bool dynamic)
{
	const char *word = dynamic ? "$dynamicAnchor" : "$anchor";
	struct str name = json_str(n->src, word);
	struct schema_anchor *a;

	if (name.n == 0)
		return;
	name_anchor(b, n, word, name);
	if (!dynamic)
		return;
	a = NEW(b->arena, struct schema_anchor);
	a->name = name;
	a->node = n;
	a->next = n->res->dynamic;
	n->res->dynamic = a;
}

static void
take_names(struct schema_build *b, struct schema_node *n)
{
	struct str uri;

	if (n->src->type != JSON_OBJECT)
		return;
	uri = json_str(n->src, "$schema");
	if (uri.n > 0 && (n->up == NULL || json_getc(n->src, "$id") != NULL)) {
		struct schema_res *res = NEW(b->arena, struct schema_res);

		*res = *n->res;
		n->res = res;
		res->dialect = schema_dialect_of(b, n, uri);
	}
	take_id(b, n);
	if (n->res->dialect.draft == SCHEMA_2020_12) {
		take_anchor(b, n, false);
		take_anchor(b, n, true);
	}
}

void
schema_index(struct schema_build *b)
{
	struct schema_node *n;

	while (b->indexed < b->n && !b->failed) {
		n = b->list[b->indexed++];
		take_names(b, n);
		schema_index_children(b, n);
	}
}

static const struct json *
supplied(struct schema_build *b, struct str uri)
{
	size_t i;

	for (i = 0; b->opts != NULL && i < b->opts->ndocs; i++)
		if (str_eq(b->opts->docs[i].uri, uri))
			return b->opts->docs[i].doc;
	return NULL;
}

const struct json *
schema_find_doc(struct schema_build *b, struct str uri)
{
	struct str text = schema_meta_text(uri);

	return text.n > 0 ? arena_json(b->arena, text, NULL) : supplied(b, uri);
}

/* The schema with that URI; loads built-in and supplied documents. */
static struct schema_node *
load(struct schema_build *b, struct str uri)
{
	struct schema_node *n = schema_map_get(&b->uris, uri);
	const struct json *doc;
	struct schema_res *res;

	if (n != NULL || (doc = schema_find_doc(b, uri)) == NULL)
		return n;
	res = NEW(b->arena, struct schema_res);
	res->uri = res->name = uri;
	res->dialect = b->list[0]->res->dialect;
	n = schema_node_new(b, doc, res);
	schema_map_put(b->arena, &b->uris, uri, n);
	schema_index(b);
	return n;
}

/* A reference token with ~0 and ~1 decoded. */
static struct str
token(struct arena *a, struct str s)
{
	char *out = arena_raw(a, s.n + 1, 1);
	size_t i, n = 0;

	for (i = 0; i < s.n; i++) {
		out[n] = s.p[i];
		if (s.p[i] == '~' && i + 1 < s.n && (s.p[i + 1] == '0' ||
		    s.p[i + 1] == '1'))
			out[n] = s.p[++i] == '0' ? '~' : '/';
		n++;
	}
	return (struct str){ out, n };
}

static const struct json *
element(const struct json *v, struct str t)
{
	size_t i, k = 0;

	if (v->type == JSON_OBJECT)
		return json_get(v, t);
	if (v->type != JSON_ARRAY || t.n == 0 || t.n > 9 ||
	    (t.n > 1 && t.p[0] == '0'))
		return NULL;
	for (i = 0; i < t.n; i++) {
		if (t.p[i] < '0' || t.p[i] > '9')
			return NULL;
		k = k * 10 + (size_t)(t.p[i] - '0');
	}
	for (v = json_first(v); v != NULL && k > 0; k--)
		v = v->next;
	return v;
}

/*
 * Follows a JSON Pointer (RFC 6901).  A value that is not a schema yet becomes
 * one, in the resource of the last schema on the path.
 */
static struct schema_node *
walk(struct schema_build *b, struct schema_node *from, struct str pointer)
{
	struct schema_node *n, *last = from;
	const struct json *v = from->src;
	struct buf full = { 0 };
	size_t i = 0, end;

	while (i < pointer.n && v != NULL) {
		for (end = i + 1; end < pointer.n && pointer.p[end] != '/'; )
			end++;
		v = element(v, token(b->arena, (struct str){ pointer.p + i + 1,
		    end - i - 1 }));
		n = v != NULL ? find(b, v) : NULL;
		if (n != NULL)
			last = n;
		i = end;
	}
	if (v == NULL || last->src == v)
		return v == NULL ? NULL : last;
	n = schema_node_new(b, v, last->res);
	schema_put_pointer(&full, from, NULL);
	buf_put(&full, pointer);
	n->pointer = arena_str(b->arena, buf_str(&full));
	buf_free(&full);
	schema_index(b);
	return n;
}

/* The dynamic anchor of that name in a resource, or NULL. */
static const struct schema_anchor *
dynamic(const struct schema_res *res, struct str name)
{
	const struct schema_anchor *a;

	for (a = res->dynamic; a != NULL; a = a->next)
		if (str_eq(a->name, name))
			return a;
	return NULL;
}

struct schema_node *
schema_follow(struct schema_build *b, const struct schema_node *n,
    const struct json *word, struct str *name)
{
	struct schema_ref r = schema_uri_resolve(b->arena, n->res->uri,
	    json_text(word));
	struct schema_node *to = load(b, r.uri);

	*name = STR("");
	if (b->failed)
		return NULL;
	if (to == NULL) {
		schema_fail(b, n, word, "\"%.*s\" is outside this document; "
		    "remote references are not fetched",
		    STRF(utf8_cut(r.uri, 80)));
		return NULL;
	}
	if (r.fragment.n > 0 && r.fragment.p[0] == '/') {
		to = walk(b, to, r.fragment);
	} else if (r.fragment.n > 0) {
		if (dynamic(to->res, r.fragment) != NULL)
			*name = r.fragment;
		to = schema_map_get(&b->uris, arena_fmt(b->arena,
		    "%.*s#%.*s", STRF(to->res->uri), STRF(r.fragment)));
	}
	if (to == NULL && !b->failed)
		schema_fail(b, n, word, "\"%.*s\" does not exist",
		    STRF(utf8_cut(json_text(word), 80)));
	return to;
}
