/* SPDX-License-Identifier: ISC */
/*
 * Compiling a schema: index all names, build the keywords of each node, then
 * search for circular references.
 */
#include "lib/schema/schema.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/schema/schema_internal.h"

void
schema_put_token(struct buf *b, struct str key)
{
	size_t i, done = 0;

	buf_putc(b, '/');
	for (i = 0; i < key.n; i++) {
		if (key.p[i] != '~' && key.p[i] != '/')
			continue;
		buf_put(b, (struct str){ key.p + done, i - done });
		buf_put(b, key.p[i] == '~' ? STR("~0") : STR("~1"));
		done = i + 1;
	}
	if (key.n > done)
		buf_put(b, (struct str){ key.p + done, key.n - done });
}

void
schema_put_count(struct buf *b, uint64_t n)
{
	char text[20], *p = text + sizeof(text);

	do
		*--p = (char)('0' + n % 10);
	while ((n /= 10) > 0);
	buf_put(b, (struct str){ p, (size_t)(text + sizeof(text) - p) });
}

static void
put_item(struct buf *b, const struct json *list, const struct json *item)
{
	const struct json *v;
	size_t i = 0;

	if (list->type == JSON_OBJECT) {
		schema_put_token(b, json_key(item));
		return;
	}
	for (v = json_first(list); v != NULL && v != item; v = v->next)
		i++;
	buf_putc(b, '/');
	schema_put_count(b, i);
}

enum { SHOWN_LEVELS = 64 };	/* of a pointer, from the inside */

void
schema_put_pointer(struct buf *b, const struct schema_node *n,
    const struct json *word)
{
	const struct schema_node *chain[SHOWN_LEVELS];
	size_t k = 0;

	for (; n->up != NULL && k < SHOWN_LEVELS; n = n->up)
		chain[k++] = n;
	if (n->up != NULL)
		buf_puts(b, "...");
	else if (n->pointer.n > 0)
		buf_put(b, n->pointer);
	else if (n->res->name.n > 0) {
		buf_put(b, n->res->name);
		buf_putc(b, '#');
	}
	while (k-- > 0) {
		schema_put_token(b, json_key(chain[k]->word));
		if (chain[k]->item != NULL)
			put_item(b, chain[k]->word, chain[k]->item);
	}
	if (word != NULL)
		schema_put_token(b, json_key(word));
}

/* The end of a long pointer, which is more useful than its beginning. */
static struct str
last_part(struct str s)
{
	enum { MAX = 80 };

	if (s.n <= MAX)
		return s;
	s.p += s.n - MAX;
	s.n = MAX;
	while (s.n > 0 && ((unsigned char)*s.p & 0xC0) == 0x80) {
		s.p++;
		s.n--;
	}
	return s;
}

void
schema_fail(struct schema_build *b, const struct schema_node *n,
    const struct json *word, const char *fmt, ...)
{
	const struct json *at = word != NULL ? word : n->src;
	struct buf p = { 0 };
	struct str where;
	char msg[200];
	va_list ap;

	if (b->failed)
		return;
	b->failed = true;
	va_start(ap, fmt);
	vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	schema_put_pointer(&p, n, word);
	if (p.n == 0)
		buf_putc(&p, '/');
	where = last_part(buf_str(&p));
	err_set(b->e, ERR_SCHEMA, "%s%.*s: %s", where.n < p.n ? "..." : "",
	    STRF(where), msg);
	if (at->line > 0 && n->res->name.n == 0)
		err_at(b->e, at->line, at->col);
	buf_free(&p);
}

/* Values of $schema. */
static const struct {
	const char *uri;
	enum schema_draft draft;
} drafts[] = {
	{ "http://json-schema.org/draft-06/schema", SCHEMA_7 },
	{ "http://json-schema.org/draft-07/schema", SCHEMA_7 },
	{ "https://json-schema.org/draft-07/schema", SCHEMA_7 },
	{ "https://json-schema.org/draft/2020-12/schema", SCHEMA_2020_12 },
	{ "http://json-schema.org/draft/2020-12/schema", SCHEMA_2020_12 },
};

static const struct {
	const char *name;
	unsigned bit;
} vocabs[] = {
	{ "core", SCHEMA_CORE }, { "applicator", SCHEMA_APPLY },
	{ "validation", SCHEMA_VALID }, { "unevaluated", SCHEMA_REST },
	{ "meta-data", SCHEMA_CORE }, { "content", SCHEMA_CORE },
	{ "format-annotation", SCHEMA_CORE },
};

static unsigned
vocab_bit(struct str uri)
{
	struct str base = STR("https://json-schema.org/draft/2020-12/vocab/");
	size_t i;

	if (!str_starts(uri, base))
		return 0;
	uri.p += base.n;
	uri.n -= base.n;
	for (i = 0; i < COUNTOF(vocabs); i++)
		if (str_is(uri, vocabs[i].name))
			return vocabs[i].bit;
	return 0;
}

static void
read_vocab(struct schema_build *b, const struct schema_node *n,
    const struct json *map, struct schema_dialect *d)
{
	const struct json *v;
	unsigned bit;

	d->vocab = SCHEMA_CORE;
	for (v = json_first(map); v != NULL; v = v->next) {
		bit = vocab_bit(json_key(v));
		d->vocab |= bit;
		if (bit == 0 && v->type == JSON_BOOL && json_bool(v))
			schema_fail(b, n, json_getc(n->src, "$schema"),
			    "requires an unknown vocabulary: \"%.*s\"",
			    STRF(utf8_cut(json_key(v), 80)));
	}
}

struct schema_dialect
schema_dialect_of(struct schema_build *b, const struct schema_node *n,
    struct str uri)
{
	struct schema_dialect d = { SCHEMA_2020_12, SCHEMA_ALL };
	const struct json *doc = NULL, *v, *map = NULL;
	size_t i, hops;

	for (hops = 0; hops < 8; hops++) {
		if (uri.n > 0 && uri.p[uri.n - 1] == '#')
			uri.n--;
		for (i = 0; i < COUNTOF(drafts); i++)
			if (str_is(uri, drafts[i].uri)) {
				d.draft = drafts[i].draft;
				if (map != NULL)
					read_vocab(b, n, map, &d);
				return d;
			}
		doc = schema_find_doc(b, uri);
		v = doc != NULL ? json_getc(doc, "$schema") : NULL;
		if (v == NULL || v->type != JSON_STRING)
			break;
		uri = json_text(v);
		if (map == NULL)
			map = json_getc(doc, "$vocabulary");
	}
	v = json_getc(n->src, "$schema");
	schema_fail(b, n, v, "\"%.*s\" is not supported; use draft 7 or "
	    "2020-12", STRF(utf8_cut(json_text(v), 80)));
	return d;
}

/*
 * A schema that applies itself to the same value, such as {"$ref": "#"}, never
 * terminates.  This depth-first search, without recursion, follows all
 * operations that apply a schema to the same value.  If the root leads to such
 * a cycle, the schema is refused.  Other cycles are harmless until a value
 * reaches them: then the limit of nested schemas ends the check.
 */
struct visit {
	struct schema_node *node;
	uint32_t op, child;	/* to visit next */
};

/* The next schema that a node applies to its own value, or NULL. */
static struct schema_node *
next_applied(struct visit *v)
{
	const struct schema_op *op;

	for (; v->op < v->node->nops; v->op++, v->child = 0) {
		op = &v->node->ops[v->op];
		switch (op->kind) {
		case SCHEMA_REF:
		case SCHEMA_NOT:
			if (v->child++ == 0)
				return op->u.node;
			break;
		case SCHEMA_ALL_OF:
		case SCHEMA_ANY_OF:
		case SCHEMA_ONE_OF:
			if (v->child < op->n)
				return op->u.nodes[v->child++];
			break;
		case SCHEMA_IF:
			if (v->child++ == 0)
				return op->u.nodes[0];
			break;
		default:	/* applies to parts of the value, or nothing */
			break;
		}
	}
	return NULL;
}

/* The first node of the list is the root, which reaches its cycles first. */
static void
search_cycle(struct schema_build *b, struct visit *stack,
    struct schema_node *from)
{
	struct schema_node *n;
	size_t k = 0;

	stack[k++] = (struct visit){ from, 0, 0 };
	from->in_cycle = true;
	while (k > 0 && !b->failed) {
		n = next_applied(&stack[k - 1]);
		if (n == NULL) {
			k--;
			stack[k].node->in_cycle = false;
			stack[k].node->done = true;
		} else if (n->in_cycle) {
			n = stack[k - 1].node;
			n->closes_cycle = true;
			if (from == b->list[0])
				schema_fail(b, n, n->ops[stack[k - 1].op].src,
				    "refers to itself without end");
		} else if (!n->done) {
			n->in_cycle = true;
			stack[k++] = (struct visit){ n, 0, 0 };
		}
	}
}

static void
find_cycle(struct schema_build *b)
{
	struct visit *stack = NEW_N(b->arena, struct visit, b->n);
	size_t i;

	for (i = 0; i < b->n && !b->failed; i++)
		if (!b->list[i]->done)
			search_cycle(b, stack, b->list[i]);
}

/* Lets a node that is only a $ref be replaced by its target. */
static void
set_aliases(struct schema_build *b)
{
	struct schema_node *n;
	size_t i;

	for (i = 0; i < b->n; i++) {
		for (n = b->list[i]; !n->closes_cycle && n->nops == 1 &&
		    n->types == SCHEMA_ANY && n->ops[0].kind == SCHEMA_REF &&
		    (!b->dynamic || n->res == n->ops[0].u.node->res); )
			n = n->ops[0].u.node;
		if (n != b->list[i])
			b->list[i]->alias = n;
	}
}

static struct schema *
build_all(struct schema_build *b)
{
	struct schema *s;

	while (!b->failed && b->built < b->n) {
		schema_index(b);
		if (!b->failed)
			schema_build_node(b, b->list[b->built++]);
	}
	if (!b->failed)
		find_cycle(b);
	if (b->failed)
		return NULL;
	set_aliases(b);
	s = NEW(b->arena, struct schema);
	s->root = b->list[0];
	s->arena = b->arena;
	s->dynamic = b->dynamic;
	s->budget = b->opts != NULL ? b->opts->budget : NULL;
	s->steps = b->opts != NULL && b->opts->steps > 0 ? b->opts->steps :
	    SCHEMA_STEPS_MAX;
	return s;
}

struct schema *
schema_compile(struct arena *a, const struct json *doc,
    const struct schema_opts *opts, struct err *e)
{
	struct schema_build b = { .arena = a, .opts = opts, .e = e };
	struct schema_res *res = NEW(a, struct schema_res);
	struct schema_node *root;

	res->dialect.draft = opts != NULL ? opts->draft : SCHEMA_2020_12;
	res->dialect.vocab = SCHEMA_ALL;
	res->uri = res->name = STR("");
	root = schema_node_new(&b, doc, res);
	schema_map_put(a, &b.uris, res->uri, root);
	return build_all(&b);
}
