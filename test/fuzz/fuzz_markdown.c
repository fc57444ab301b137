/* SPDX-License-Identifier: ISC */
/*
 * Input: a Markdown text.  Each link begins with a bracket or "<" at its place,
 * in the order of the text; its spelling is part of the text.  Blank lines
 * before the text move all places, and nothing else.
 */
#include <assert.h>
#include <string.h>

#include "base/base.h"
#include "lib/markdown/markdown.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

/* The byte at a line and column. */
static char
at(struct str s, unsigned line, unsigned col)
{
	const char *p = s.p, *end = p + s.n;

	for (; line > 1; line--) {
		p = memchr(p, '\n', (size_t)(end - p));
		assert(p != NULL);
		p++;
	}
	assert(col >= 1 && p + col - 1 < end);
	return p[col - 1];
}

static void
check_links(struct str text, const struct markdown *m)
{
	const struct markdown_link *l;
	size_t i;
	char c;

	for (i = 0; i < m->nlinks; i++) {
		l = &m->link[i];
		c = at(text, l->line, l->col);
		assert(l->image ? c == '!' : c == '[' || c == '<');
		assert(l->raw.p >= text.p && l->raw.n <= text.n &&
		    l->raw.p + l->raw.n <= text.p + text.n);
		assert(i == 0 || l[-1].line < l->line ||
		    (l[-1].line == l->line && l[-1].col < l->col));
	}
	for (i = 1; i < m->nanchors; i++)
		assert(str_cmp(m->anchor[i - 1], m->anchor[i]) <= 0);
	for (i = 0; i < m->nanchors; i++)
		assert(m->anchor[i].n == 0 ||
		    markdown_has_anchor(m, m->anchor[i]));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena a = { 0 };
	struct str text = { (const char *)data, size };
	struct buf b = { 0 };
	struct markdown m, n;
	size_t i;

	markdown_read(&a, text, 1, &m);
	check_links(text, &m);
	buf_puts(&b, "\n\n");
	buf_put(&b, text);
	markdown_read(&a, buf_str(&b), 1, &n);
	assert(m.nlinks == n.nlinks && m.nheadings == n.nheadings &&
	    m.nfences == n.nfences && m.nanchors == n.nanchors);
	for (i = 0; i < m.nlinks; i++)
		assert(m.link[i].line + 2 == n.link[i].line &&
		    m.link[i].col == n.link[i].col &&
		    str_eq(m.link[i].target, n.link[i].target));
	buf_free(&b);
	arena_free(&a);
	return 0;
}
