/* SPDX-License-Identifier: ISC */
/*
 * Reads Markdown in two passes: blocks and link definitions, then the links of
 * each block, because a definition can follow its use.
 */
#include "lib/markdown/markdown_internal.h"

#include <stdlib.h>
#include <string.h>

#include "lib/http.h"
#include "lib/unicode.h"

/*
 * HTML
 */
static bool
is_name(char c)
{
	return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || (c >= '0' &&
	    c <= '9') || c == '-' || c == '_' || c == ':' || c == '.';
}

static bool
is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static size_t
skip_space(struct str s, size_t i)
{
	while (i < s.n && is_space(s.p[i]))
		i++;
	return i;
}

/* ="value" behind an attribute's name; the offset behind it, or 0. */
static size_t
read_value(struct str s, size_t i, struct str *value)
{
	const char *end;
	size_t from;

	if (i < s.n && (s.p[i] == '"' || s.p[i] == '\'')) {
		from = i + 1;
		end = from < s.n ? memchr(s.p + from, s.p[i], s.n - from) :
		    NULL;
		if (end == NULL)
			return 0;
		*value = (struct str){ s.p + from, (size_t)(end - s.p) - from };
		return (size_t)(end - s.p) + 1;
	}
	for (from = i; i < s.n && !is_space(s.p[i]) &&
	    strchr("\"'=<>`", s.p[i]) == NULL; i++)
		;
	*value = (struct str){ s.p + from, i - from };
	return i > from ? i : 0;
}

/*
 * An attribute at offset i, after white space; the offset behind it, or 0 with
 * an empty name if there is none.
 */
static size_t
read_attribute(struct str s, size_t i, struct str *name, struct str *value)
{
	size_t from = i, eq;

	*name = *value = STR("");
	while (i < s.n && is_name(s.p[i]))
		i++;
	if (i == from)
		return 0;
	*name = (struct str){ s.p + from, i - from };
	eq = skip_space(s, i);
	if (eq >= s.n || s.p[eq] != '=')
		return i;
	return read_value(s, skip_space(s, eq + 1), value);
}

void
markdown_html_ids(struct markdown_reader *r, struct str s)
{
	struct str name, value;
	size_t i = 0, k;

	while (i < s.n) {
		if (i > 0 && is_space(s.p[i - 1]) && (k = read_attribute(s, i,
		    &name, &value)) > 0) {
			if (value.n > 0 && (http_same(name, "id") ||
			    http_same(name, "name"))) {
				value = arena_str(r->arena, value);
				MARKDOWN_PUSH(&r->anchors, value);
			}
			i = k;
		} else
			i++;
	}
}

/* The offset behind the first `end` at or after i; 0 if there is none. */
static size_t
find_end(struct str s, size_t i, struct str end, unsigned bit,
    unsigned *missing)
{
	const char *p;

	if (*missing & bit)
		return 0;
	while (i + end.n <= s.n) {
		p = memchr(s.p + i, end.p[0], s.n - i);
		if (p == NULL)
			break;
		i = (size_t)(p - s.p);
		if (i + end.n <= s.n && memcmp(p, end.p, end.n) == 0)
			return i + end.n;
		i++;
	}
	*missing |= bit;
	return 0;
}

/* <name attribute="value" /> */
static size_t
read_open_tag(struct str s)
{
	size_t i = 1, k;
	struct str name, value;

	while (i < s.n && is_name(s.p[i]) && s.p[i] != ':' && s.p[i] != '.')
		i++;
	for (;;) {
		k = skip_space(s, i);
		if (k < s.n && s.p[k] == '>')
			return k + 1;
		if (k + 1 < s.n && s.p[k] == '/' && s.p[k + 1] == '>')
			return k + 2;
		if (k == i)
			return 0;
		i = read_attribute(s, k, &name, &value);
		if (i == 0)
			return 0;
	}
}

size_t
markdown_tag(struct str s, unsigned *missing)
{
	static const struct {
		const char *begin, *end;
	} kinds[] = {
		{ "<!--", "-->" }, { "<?", "?>" }, { "<![CDATA[", "]]>" },
		{ "<!", ">" },
	};
	size_t i;
	char c;

	if (s.n < 3 || s.p[0] != '<')
		return 0;
	if (str_starts(s, STR("<!-->")))
		return 5;
	for (i = 0; i < COUNTOF(kinds); i++)
		if (str_starts(s, str_of(kinds[i].begin)))
			return find_end(s, strlen(kinds[i].begin),
			    str_of(kinds[i].end), 1U << i, missing);
	c = s.p[1] == '/' ? s.p[2] : s.p[1];
	if ((c | 0x20) < 'a' || (c | 0x20) > 'z')
		return 0;
	if (s.p[1] != '/')
		return read_open_tag(s);
	for (i = 2; i < s.n && is_name(s.p[i]); i++)
		;
	i = skip_space(s, i);
	return i < s.n && s.p[i] == '>' ? i + 1 : 0;
}

/*
 * Anchors
 */
static bool
is_kept(uint32_t cp)
{
	const char *c;

	if (cp == '-' || cp == '_')
		return true;
	c = unicode_category(cp);
	return *c == 'L' || *c == 'N' || *c == 'M' || strcmp(c, "Pc") == 0;
}

void
markdown_slug(struct buf *b, struct str s)
{
	uint32_t cp;
	char out[4];
	size_t i, n, size;

	for (i = 0; i < s.n; i += n) {
		n = utf8_get(s.p + i, s.p + s.n, &cp);
		if (n == 0) {
			n = 1;
			continue;
		}
		if (cp == ' ' || cp == '\n')
			buf_putc(b, '-');
		else if (is_kept(cp)) {
			size = utf8_put(out, unicode_lower(cp));
			buf_put(b, (struct str){ out, size });
		}
	}
}

/* Headings of the same text get -1, -2 ... behind the anchor. */
static void
number_anchors(struct markdown_reader *r)
{
	struct str *v = (struct str *)(void *)r->anchors.p, s;
	size_t n = r->anchors.n / sizeof(*v), i, same = 0;
	struct buf more = { 0 };

	if (n == 0)
		return;
	qsort(v, n, sizeof(*v), str_order);
	for (i = 1; i < n; i++) {
		same = str_eq(v[i], v[i - 1]) ? same + 1 : 0;
		if (same == 0)
			continue;
		s = arena_fmt(r->arena, "%.*s-%zu", STRF(v[i]), same);
		MARKDOWN_PUSH(&more, s);
	}
	buf_put(&r->anchors, buf_str(&more));
	buf_free(&more);
	v = (struct str *)(void *)r->anchors.p;
	qsort(v, r->anchors.n / sizeof(*v), sizeof(*v), str_order);
}

bool
markdown_has_anchor(const struct markdown *m, struct str fragment)
{
	struct buf low = { 0 };
	size_t i;
	bool found;

	if (fragment.n == 0)
		return false;
	unicode_put_lower(&low, fragment);
	for (found = false, i = 0; i < 2 && !found; i++) {
		struct str key = i == 0 ? fragment : buf_str(&low);
		size_t at = search_first(&key, m->anchor, m->nanchors,
		    sizeof(key), str_order);

		found = at < m->nanchors && str_eq(m->anchor[at], key);
	}
	buf_free(&low);
	return found;
}

static int
by_place(const void *a, const void *b)
{
	const struct markdown_link *x = a, *y = b;

	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return x->col < y->col ? -1 : x->col > y->col;
}

static void *
take(struct arena *a, struct buf *list, size_t size, size_t *n)
{
	void *v = arena_raw(a, list->n, sizeof(void *));

	*n = list->n / size;
	if (list->n > 0)
		memcpy(v, list->p, list->n);
	buf_free(list);
	return v;
}

static void
add_heading(struct markdown_reader *r, const struct markdown_block *b)
{
	struct markdown_heading h = { b->text, b->level, b->line[0].number };

	MARKDOWN_PUSH(&r->headings, h);
}

void
markdown_read(struct arena *a, struct str text, unsigned line,
    struct markdown *out)
{
	struct markdown_reader r = { .arena = a };
	struct markdown_block *b;

	r.tail = &r.head;
	markdown_split(&r, text, line);
	for (b = r.head; b != NULL; b = b->next)
		if (b->level == 0)
			markdown_take_defs(&r, b);
	markdown_sort_defs(&r);
	for (b = r.head; b != NULL; b = b->next) {
		if (b->level > 0)
			add_heading(&r, b);
		markdown_inline(&r, b);
	}
	number_anchors(&r);
	buf_free(&r.defs);
	out->link = take(a, &r.links, sizeof(*out->link), &out->nlinks);
	out->heading = take(a, &r.headings, sizeof(*out->heading),
	    &out->nheadings);
	out->fence = take(a, &r.fences, sizeof(*out->fence), &out->nfences);
	out->anchor = take(a, &r.anchors, sizeof(*out->anchor), &out->nanchors);
	if (out->nlinks > 0)
		qsort(out->link, out->nlinks, sizeof(*out->link), by_place);
}
