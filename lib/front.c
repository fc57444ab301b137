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
