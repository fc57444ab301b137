/* SPDX-License-Identifier: ISC */
/*
 * Documents, their names, and positions in them.
 *
 * Positions are found by counting lines from the beginning of the text: that
 * takes some microseconds for a long suite, and no index must be updated.
 */
#include "editor/lsp_internal.h"

#include <string.h>

struct lsp_doc *
lsp_find(struct lsp *l, struct str uri)
{
	struct lsp_doc *d;

	for (d = l->docs; d != NULL; d = d->next)
		if (str_eq(d->uri, uri))
			return d;
	return NULL;
}

struct lsp_doc *
lsp_find_path(struct lsp *l, const char *path)
{
	struct lsp_doc *d;

	for (d = l->docs; d != NULL; d = d->next)
		if (strcmp(d->path, path) == 0)
			return d;
	return NULL;
}

struct lsp_doc *
lsp_doc_of(const struct rpc_call *c)
{
	return lsp_find(c->arg, json_str(json_getc(c->params, "textDocument"),
	    "uri"));
}

char *
lsp_path(struct arena *a, struct str uri)
{
	struct str prefix = STR("file://");
	struct buf b = { 0 };
	const char *p = uri.p + prefix.n, *end = uri.p + uri.n;
	struct str path;

	if (!str_starts(uri, prefix) || p == end || *p != '/')
		return NULL;
	for (; p < end; p++)
		if (*p == '%' && end - p > 2 && hex_digit(p[1]) >= 0 &&
		    hex_digit(p[2]) >= 0) {
			buf_putc(&b, (char)(hex_digit(p[1]) * 16 +
			    hex_digit(p[2])));
			p += 2;
		} else
			buf_putc(&b, *p);
	path = arena_take(a, &b);
	return arena_cstr(a, path);
}

struct str
lsp_uri(struct arena *a, const char *path)
{
	static const char plain[] = "-._~/!$&'()*+,;=:@";
	struct buf b = { 0 };
	const char *p;

	buf_puts(&b, "file://");
	for (p = path; *p != '\0'; p++)
		if ((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
		    (*p >= '0' && *p <= '9') || strchr(plain, *p) != NULL)
			buf_putc(&b, *p);
		else
			buf_fmt(&b, "%%%02X", (unsigned)(unsigned char)*p);
	return arena_take(a, &b);
}

/* Whether a line of the text begins with this key. */
static bool
has_top_key(struct str text, const char *key)
{
	struct lsp_line l = lsp_line(text, 0);

	do
		if (l.keyed && l.first == 0 && l.nitems == 0 &&
		    str_is(l.key, key))
			return true;
	while (lsp_line_down(text, &l));
	return false;
}

/* The kind of a file with another name follows from the keys of its text. */
static enum lsp_kind
kind_of(struct str uri, struct str text)
{
	static const struct {
		const char *name;
		enum lsp_kind kind;
	} names[] = {
		{ "SKILL.md", LSP_SKILL }, { ".waza.yaml", LSP_CONFIG },
		{ ".waza.yml", LSP_CONFIG },
		{ "trigger_tests.yaml", LSP_TRIGGER },
		{ "eval.yaml", LSP_EVAL }, { "eval.yml", LSP_EVAL },
	};
	static const char *const evals[] = { "tasks", "tasks_from", "config" };
	static const char *const tasks[] = { "prompt", "inputs", "expected",
		"graders" };
	struct str name = str_base(uri);
	size_t i;

	for (i = 0; i < COUNTOF(names); i++)
		if (str_is(name, names[i].name))
			return names[i].kind;
	if (!str_ends(name, STR(".yaml")) && !str_ends(name, STR(".yml")))
		return LSP_OTHER;
	for (i = 0; i < COUNTOF(evals); i++)
		if (has_top_key(text, evals[i]))
			return LSP_EVAL;
	for (i = 0; i < COUNTOF(tasks); i++)
		if (has_top_key(text, tasks[i]))
			return LSP_TASK;
	return LSP_OTHER;
}

struct lsp_doc *
lsp_open(struct lsp *l, struct str uri, struct str text)
{
	struct lsp_doc *d = lsp_find(l, uri);
	struct arena arena = { 0 };
	const char *path;

	if (text.n > LSP_TEXT_MAX || uri.n > LSP_URI_MAX || uri.n == 0 ||
	    (d == NULL && l->ndocs == LSP_DOCS_MAX))
		return NULL;
	if (d == NULL) {
		d = NEW(&arena, struct lsp_doc);
		*d = (struct lsp_doc){ .lsp = l, .arena = arena };
		d->uri = arena_str(&d->arena, uri);
		path = lsp_path(&d->arena, uri);
		d->path = path != NULL ? path : "";
		LIST_PUSH(&l->docs, d);
		l->ndocs++;
	}
	d->text.n = 0;
	buf_put(&d->text, text);
	d->kind = kind_of(uri, text);
	d->stale = true;
	return d;
}

void
lsp_close(struct lsp_doc *d)
{
	LIST_REMOVE(d);
	d->lsp->ndocs--;
	buf_free(&d->text);
	buf_free(&d->told);
	arena_free(&d->arena);
}

bool
lsp_change(struct lsp_doc *d, const struct json *change)
{
	const struct json *range = json_getc(change, "range");
	const struct json *text = json_getc(change, "text");
	struct str now = buf_str(&d->text), piece;
	struct lsp_place from, to;
	struct buf b = { 0 };
	size_t i = 0, k = now.n;

	if (text == NULL || text->type != JSON_STRING)
		return false;
	piece = json_text(text);
	if (json_is_set(range)) {
		if (!lsp_read_place(json_getc(range, "start"), &from) ||
		    !lsp_read_place(json_getc(range, "end"), &to))
			return false;
		i = lsp_offset(now, from);
		k = lsp_offset(now, to);
	}
	if (k < i || now.n - (k - i) + piece.n > LSP_TEXT_MAX)
		return false;
	buf_put(&b, (struct str){ now.p + k, now.n - k });
	d->text.n = i;
	buf_put(&d->text, piece);
	buf_put(&d->text, buf_str(&b));
	buf_free(&b);
	d->kind = kind_of(d->uri, buf_str(&d->text));
	d->stale = true;
	return true;
}

/* UTF-16 code units of a character. */
static int64_t
units(uint32_t cp)
{
	return cp > 0xFFFF ? 2 : 1;
}

struct lsp_place
lsp_place(struct lsp_ruler *r, size_t offset)
{
	const char *s, *nl, *end;
	struct lsp_place p;
	uint32_t cp;
	size_t n;

	if (offset > r->text.n)
		offset = r->text.n;
	if (offset < r->offset)
		*r = (struct lsp_ruler){ .text = r->text };
	s = r->text.p + r->offset;
	end = r->text.p + offset;
	while (s < end && (nl = memchr(s, '\n', (size_t)(end - s))) != NULL) {
		r->line++;
		s = nl + 1;
		r->offset = (size_t)(s - r->text.p);
	}
	p = (struct lsp_place){ r->line, 0 };
	while (s < end) {
		n = utf8_get(s, r->text.p + r->text.n, &cp);
		p.character += n == 0 ? 1 : units(cp);
		s += n == 0 ? 1 : n;
	}
	return p;
}

struct lsp_range
lsp_range(struct lsp_ruler *r, size_t from, size_t to)
{
	struct lsp_range range;

	range.from = lsp_place(r, from);
	range.to = lsp_place(r, to);
	return range;
}

size_t
lsp_offset(struct str text, struct lsp_place p)
{
	const char *s = text.p, *end = s + text.n, *nl;
	uint32_t cp;
	size_t n;

	for (; p.line > 0; p.line--) {
		nl = s < end ? memchr(s, '\n', (size_t)(end - s)) : NULL;
		if (nl == NULL)
			return text.n;
		s = nl + 1;
	}
	while (p.character > 0 && s < end && *s != '\n' &&
	    !(*s == '\r' && s + 1 < end && s[1] == '\n')) {
		n = utf8_get(s, end, &cp);
		p.character -= n == 0 ? 1 : units(cp);
		if (p.character < 0)
			break;		/* within a pair of surrogates */
		s += n == 0 ? 1 : n;
	}
	return (size_t)(s - text.p);
}

size_t
lsp_byte(struct lsp_ruler *r, unsigned line, unsigned col)
{
	const char *p, *nl, *end = r->text.p + r->text.n;
	size_t i;

	if ((int64_t)line - 1 < r->line)
		*r = (struct lsp_ruler){ .text = r->text };
	p = r->text.p + r->offset;
	while (r->line < (int64_t)line - 1 && p < end &&
	    (nl = memchr(p, '\n', (size_t)(end - p))) != NULL) {
		p = nl + 1;
		r->line++;
		r->offset = (size_t)(p - r->text.p);
	}
	for (i = r->offset; col > 1 && i < r->text.n &&
	    r->text.p[i] != '\n'; col--)
		i++;
	return i;
}

bool
lsp_read_place(const struct json *v, struct lsp_place *p)
{
	return json_int(json_getc(v, "line"), &p->line) &&
	    json_int(json_getc(v, "character"), &p->character) &&
	    p->line >= 0 && p->character >= 0;
}

static void
put_place(struct json_out *o, const char *key, struct lsp_place p)
{
	json_open_member(o, key, '{');
	json_put_member_int(o, "line", p.line);
	json_put_member_int(o, "character", p.character);
	json_close(o, '}');
}

void
lsp_put_range(struct json_out *o, const char *key, const struct lsp_range *r)
{
	json_open_member(o, key, '{');
	put_place(o, "start", r->from);
	put_place(o, "end", r->to);
	json_close(o, '}');
}
