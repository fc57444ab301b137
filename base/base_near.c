/* SPDX-License-Identifier: ISC */
/* Suggests corrections of misspelt words, by their edit distance. */
#include "base/base.h"

#include <stdio.h>
#include <string.h>

static size_t
min3(size_t a, size_t b, size_t c)
{
	size_t m = a < b ? a : b;

	return m < c ? m : c;
}

/* Optimal string alignment, with three rows of the matrix at a time. */
size_t
str_distance(struct str a, struct str b, size_t max)
{
	enum { LONGEST = 63 };
	size_t row[3][LONGEST + 1];
	size_t *old = row[0], *cur = row[1], *next = row[2];
	size_t i, j, best, *t;

	if (a.n > LONGEST || b.n > LONGEST)
		return str_eq(a, b) ? 0 : max + 1;
	for (j = 0; j <= b.n; j++)
		cur[j] = j;
	for (i = 1; i <= a.n; i++) {
		next[0] = best = i;
		for (j = 1; j <= b.n; j++) {
			next[j] = min3(cur[j] + 1, next[j - 1] + 1,
			    cur[j - 1] + (a.p[i - 1] != b.p[j - 1]));
			if (i > 1 && j > 1 && a.p[i - 1] == b.p[j - 2] &&
			    a.p[i - 2] == b.p[j - 1] &&
			    old[j - 2] + 1 < next[j])
				next[j] = old[j - 2] + 1;
			best = next[j] < best ? next[j] : best;
		}
		if (best > max)
			return max + 1;
		t = old;
		old = cur;
		cur = next;
		next = t;
	}
	return cur[b.n];
}

/* Allow one edit in a short word and up to three in a long one. */
bool
str_similar(struct str got, struct str want)
{
	size_t n = got.n < want.n ? got.n : want.n;
	size_t max = n < 3 ? 0 : n < 6 ? 1 : n < 12 ? 2 : 3;

	if (got.n >= 4 && (str_starts(want, got) || str_starts(got, want)))
		return true;
	return max > 0 && str_distance(got, want, max) <= max;
}

void
str_nearest(struct str_nearest *s, struct str candidate)
{
	size_t d;

	if (!str_similar(s->word, candidate))
		return;
	d = str_distance(s->word, candidate, 60);
	if (s->best.p != NULL && d >= s->distance)
		return;
	s->best = candidate;
	s->distance = d;
}

const char *
str_hint(char out[STR_HINT], const char *before, struct str word)
{
	out[0] = '\0';
	if (word.p != NULL)
		snprintf(out, STR_HINT, " (did you mean \"%s%.*s\"?)", before,
		    STRF(utf8_cut(word, 70)));
	return out;
}
