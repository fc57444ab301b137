/* SPDX-License-Identifier: ISC */
/* Lines of YAML in block style: markers of items, a key, a value. */
#include "editor/lsp_internal.h"

#include <string.h>

/* The value of a line: without a comment and white space at its ends. */
static struct str
value_of(const char *p, const char *end)
{
	const char *s;
	char quote = 0;

	for (s = p; s < end; s++) {
		if (quote != 0)
			quote = *s == quote ? 0 : quote;
		else if (*s == '"' || *s == '\'')
			quote = s == p || s[-1] == ' ' || s[-1] == '[' ||
			    s[-1] == '{' || s[-1] == ',' ? *s : 0;
		else if (*s == '#' && (s == p || s[-1] == ' '))
			break;
	}
	return str_trim((struct str){ p, (size_t)(s - p) });
}

/* The end of a key that begins at p: its colon, or NULL. */
static const char *
find_colon(const char *p, const char *end)
{
	char quote = p < end && (*p == '"' || *p == '\'') ? *p : 0;
	const char *s = quote != 0 ? p + 1 : p;

	if (p < end && (*p == '{' || *p == '[' || *p == '#' || *p == '|' ||
	    *p == '>' || *p == '&' || *p == '*'))
		return NULL;
	for (; s < end; s++) {
		if (quote != 0) {
			if (*s == quote)
				quote = 0;
		} else if (*s == ':' && (s + 1 == end || s[1] == ' ' ||
		    s[1] == '\t' || s[1] == '\r'))
			return s;
		else if (*s == '#' && s > p && s[-1] == ' ')
			return NULL;
	}
	return NULL;
}

static struct str
unquote(struct str s)
{
	s = str_trim(s);
	if (s.n > 1 && (s.p[0] == '"' || s.p[0] == '\'') &&
	    s.p[s.n - 1] == s.p[0]) {
		s.p++;
		s.n -= 2;
	}
	return s;
}

struct lsp_line
lsp_line(struct str text, size_t from)
{
	const char *begin = text.p + from, *p = begin, *colon;
	const char *nl = from < text.n ? memchr(p, '\n', text.n - from) : NULL;
	const char *end = nl != NULL ? nl : text.p + text.n;
	struct lsp_line l = { .from = from, .to = (size_t)(end - text.p) };

	while (p < end && *p == ' ')
		p++;
	l.first = (unsigned)(p - begin);
	while (p < end && *p == '-' && (p + 1 == end || p[1] == ' ' ||
	    p[1] == '\r')) {
		l.nitems++;
		l.item = (unsigned)(p++ - begin);
		while (p < end && *p == ' ')
			p++;
	}
	l.col = (unsigned)(p - begin);
	l.value = value_of(p, end);
	l.blank = l.nitems == 0 && l.value.n == 0;
	colon = find_colon(p, end);
	if (colon != NULL) {
		l.keyed = true;
		l.key = unquote((struct str){ p, (size_t)(colon - p) });
		l.value = value_of(colon + 1, end);
	}
	return l;
}

bool
lsp_line_up(struct str text, struct lsp_line *l)
{
	size_t i = l->from;

	if (i == 0)
		return false;
	for (i--; i > 0 && text.p[i - 1] != '\n'; i--)
		;
	*l = lsp_line(text, i);
	return true;
}

bool
lsp_line_down(struct str text, struct lsp_line *l)
{
	if (l->to >= text.n)
		return false;
	*l = lsp_line(text, l->to + 1);
	return true;
}

struct lsp_line
lsp_line_at(struct str text, size_t offset)
{
	size_t i = offset < text.n ? offset : text.n;

	while (i > 0 && text.p[i - 1] != '\n')
		i--;
	return lsp_line(text, i);
}
