/* SPDX-License-Identifier: ISC */
/* Finds the front matter of a Markdown file; front.h describes it. */
#include "lib/front.h"

#include <string.h>

struct str
front_split(struct str s, struct str *body)
{
	const char *p, *end, *from, *eol;
	struct str line;

	s = str_after_bom(s);
	*body = s;
	if (!str_starts(s, STR("---")))
		return STR("");
	end = s.p + s.n;
	from = memchr(s.p, '\n', s.n);
	for (p = from; p != NULL && p + 1 < end; p = eol) {
		eol = memchr(p + 1, '\n', (size_t)(end - p - 1));
		line = (struct str){ p + 1, (size_t)((eol != NULL ? eol : end) -
		    p - 1) };
		if (!str_is(str_trim(line), "---"))
			continue;
		*body = (struct str){ line.p + line.n,
			(size_t)(end - line.p) - line.n };
		return (struct str){ from + 1, (size_t)(p - from) };
	}
	return STR("");
}

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* The offset of a key's value on its line; 0: no key, or no plain text. */
static size_t
plain_value(struct str line)
{
	size_t i = 0;

	while (i < line.n && ((line.p[i] >= 'a' && line.p[i] <= 'z') ||
	    (line.p[i] >= 'A' && line.p[i] <= 'Z') || line.p[i] == '-' ||
	    line.p[i] == '_'))
		i++;
	if (i == 0 || i + 1 >= line.n || line.p[i] != ':' ||
	    !is_blank(line.p[i + 1]))
		return 0;
	for (i++; i < line.n && is_blank(line.p[i]); i++)
		;
	return i == line.n || strchr("'\"|>[{&*!%@`#", line.p[i]) != NULL ?
	    0 : i;
}

/* The text with the lines that continue it: blank or indented ones. */
static struct str
with_continuation(struct str rest)
{
	size_t n = 0, end = 0;
	const char *eol;

	for (; n < rest.n; n = eol != NULL ? (size_t)(eol - rest.p) + 1 :
	    rest.n) {
		if (n > 0 && !is_blank(rest.p[n]))
			break;
		eol = memchr(rest.p + n, '\n', rest.n - n);
		end = eol != NULL ? (size_t)(eol - rest.p) + 1 : rest.n;
	}
	while (end > 0 && is_blank(rest.p[end - 1]))
		end--;
	return (struct str){ rest.p, end };
}

/* Whether a colon in it would begin another mapping. */
static bool
has_colon(struct str s)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		if (s.p[i] == ':' && (i + 1 == s.n || is_blank(s.p[i + 1])))
			return true;
	return false;
}

struct str
front_quote(struct arena *a, struct str front, struct front_place *at)
{
	struct buf b = { 0 };
	struct str line, value, rest = front;
	unsigned n = 0;
	size_t i, from;

	*at = (struct front_place){ 0, 0, STR("") };
	while (rest.n > 0) {
		const char *eol = memchr(rest.p, '\n', rest.n);

		line = (struct str){ rest.p, eol != NULL ?
		    (size_t)(eol - rest.p) + 1 : rest.n };
		n++;
		from = plain_value(line);
		value = from == 0 ? STR("") : with_continuation((struct str){
		    rest.p + from, rest.n - from });
		if (!has_colon(value)) {
			buf_put(&b, line);
			rest.p += line.n;
			rest.n -= line.n;
			continue;
		}
		if (at->line == 0)
			*at = (struct front_place){ n, (unsigned)from + 1,
				{ line.p, (size_t)((const char *)memchr(line.p,
				':', line.n) - line.p) } };
		buf_put(&b, (struct str){ line.p, from });
		buf_putc(&b, '\'');
		for (i = 0; i < value.n; i++) {
			n += value.p[i] == '\n';
			buf_putc(&b, value.p[i]);
			if (value.p[i] == '\'')
				buf_putc(&b, '\'');
		}
		buf_putc(&b, '\'');
		rest.n -= from + value.n;
		rest.p += from + value.n;
		eol = memchr(rest.p, '\n', rest.n);
		line = (struct str){ rest.p, eol != NULL ?
		    (size_t)(eol - rest.p) + 1 : rest.n };
		buf_put(&b, line);
		rest.p += line.n;
		rest.n -= line.n;
	}
	if (at->line == 0) {
		buf_free(&b);
		return STR("");
	}
	return arena_take(a, &b);
}
