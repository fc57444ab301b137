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

static bool
holds(struct str s, struct str part)
{
	size_t i;

	for (i = 0; part.n > 0 && i + part.n <= s.n; i++)
		if (memcmp(s.p + i, part.p, part.n) == 0)
			return true;
	return false;
}

/* The question: up to three words that are similar or contain the word. */
static size_t
put_question(struct buf *b, struct str word, const struct str *v, size_t n)
{
	struct str_nearest best = { .word = word };
	size_t i, shown = 0;

	for (i = 0; i < n; i++)
		str_nearest(&best, v[i]);
	if (best.best.p != NULL) {
		buf_fmt(b, " (did you mean \"%.*s\"",
		    STRF(utf8_cut(best.best, 70)));
		shown++;
	}
	for (i = 0; i < n && shown < 3; i++)
		if (v[i].p != best.best.p && word.n >= 2 && holds(v[i], word))
			buf_fmt(b, "%s\"%.*s\"", shown++ > 0 ? ", " :
			    " (did you mean ", STRF(utf8_cut(v[i], 70)));
	if (shown > 0)
		buf_putc(b, '?');
	return shown;
}

void
str_put_choices(struct buf *b, struct str word, const char *label,
    const struct str *v, size_t n)
{
	enum { LIST_BYTES = 300 };
	size_t i, start, shown = put_question(b, word, v, n);

	if (n == 0)
		return;
	buf_fmt(b, "%s%s:", shown > 0 ? " " : " (", label);
	for (i = 0, start = b->n; i < n && b->n - start < LIST_BYTES; i++)
		buf_fmt(b, "%s %.*s", i > 0 ? "," : "",
		    STRF(utf8_cut(v[i], 70)));
	if (i < n)
		buf_fmt(b, " and %zu more", n - i);
	buf_putc(b, ')');
}
