/* SPDX-License-Identifier: ISC */
/*
 * Finds the code points and bytes that a program distinguishes.
 *
 * A cut is a code point that some instruction treats differently from the one
 * before it; the code points from one cut to the next have the same colour.
 * Bytes that the program cannot distinguish share a column of the automaton's
 * table.
 */
#include "lib/re/re_internal.h"

#include <string.h>

#include "lib/unicode.h"

enum { FEW = 16 };

struct cuts {
	bool begins[257];	/* bytes at which a column begins */
	uint32_t few[FEW], *v;	/* cuts from 0x80 on; few: initial memory */
	size_t n, cap;
	struct arena *tmp;
};

static void
cut(struct cuts *c, uint32_t r)
{
	if (r < 0x80) {
		c->begins[r] = true;
		return;
	}
	c->v = re_prog_grow(c->tmp, c->v, c->n, &c->cap, c->n + 1,
	    sizeof(*c->v));
	if (r <= RE_RUNE_MAX)
		c->v[c->n++] = r;
}

static void
cut_range(struct cuts *c, uint32_t lo, uint32_t hi)
{
	cut(c, lo);
	cut(c, hi + 1);
}

static void
cut_orbit(struct cuts *c, uint32_t r)
{
	uint32_t next = r;

	do {
		cut_range(c, next, next);
		next = unicode_fold_next(next);
	} while (next != r);
}

static void
sort_cuts(struct cuts *c)
{
	uint32_t *v = c->v, x;
	size_t gap, i, j, n = c->n;

	for (gap = n / 2; gap > 0; gap = gap == 2 ? 1 : gap * 5 / 11)
		for (i = gap; i < n; i++) {
			x = v[i];
			for (j = i; j >= gap && v[j - gap] > x; j -= gap)
				v[j] = v[j - gap];
			v[j] = x;
		}
	for (i = j = 0; i < n; i++)
		if (j == 0 || v[i] != v[j - 1])
			v[j++] = v[i];
	c->n = j;
}

static void
find_cuts(struct cuts *c, const struct re *re)
{
	const struct re_inst *in;
	bool seen[128] = { false };
	size_t i;

	cut(c, 0x80);
	for (in = re->prog; in < re->prog + re->nprog; in++) {
		if (in->op == RE_NOTNL)
			cut_range(c, '\n', '\n');
		else if (in->op == RE_CHAR)
			cut_range(c, in->x, in->x);
		else if (in->op == RE_FOLD && in->x < 128 && seen[in->x])
			continue;
		else if (in->op == RE_FOLD)
			cut_orbit(c, in->x);
		if (in->op == RE_FOLD && in->x < 128)
			seen[in->x] = true;
	}
	for (i = 0; i < re->nranges; i++)
		cut_range(c, re->ranges[i].lo, re->ranges[i].hi);
	if (re->asserts & (RE_BEGIN_LINE | RE_END_LINE))
		cut_range(c, '\n', '\n');
	if (re->asserts & (RE_WORD | RE_NOT_WORD)) {
		cut_range(c, '0', '9');
		cut_range(c, 'A', 'Z');
		cut_range(c, '_', '_');
		cut_range(c, 'a', 'z');
	}
	sort_cuts(c);
}

/*
 * A column begins where the kind of UTF-8 byte changes, at the cuts below 0x80,
 * and before and after every byte of an encoded higher cut.
 */
void
re_cuts_find(struct re_dfa *d)
{
	static const uint8_t kinds[] = { 0x80, 0x90, 0xA0, 0xC0, 0xC2, 0xE0,
		0xE1, 0xED, 0xEE, 0xF0, 0xF1, 0xF4, 0xF5 };
	struct arena tmp = { 0 };
	struct cuts c = { .cap = FEW, .tmp = &tmp };
	char u[4];
	size_t i, j, n;

	c.v = c.few;
	find_cuts(&c, d->re);
	for (i = 0; i < COUNTOF(kinds); i++)
		c.begins[kinds[i]] = true;
	for (i = 0; i < c.n; i++) {
		n = utf8_put(u, c.v[i]);
		for (j = 0; j < n; j++) {
			c.begins[(unsigned char)u[j]] = true;
			if (j + 1 < n)
				c.begins[(unsigned char)u[j] + 1] = true;
		}
	}
	for (i = 0; i < 256; i++) {
		d->width += i > 0 && c.begins[i];
		d->column[i] = (uint8_t)d->width;
	}
	d->width++;
	d->ncuts = c.n;
	d->cuts = arena_raw(d->re->arena, c.n * sizeof(*c.v),
	    ALIGNOF(uint32_t));
	memcpy(d->cuts, c.v, c.n * sizeof(*c.v));
	arena_free(&tmp);
}

/* For search_first(): finds the first cut after the rune. */
static int
after_rune(const void *rune, const void *cut)
{
	return *(const uint32_t *)cut <= *(const uint32_t *)rune ? 1 : -1;
}

/* The colour is the last cut at or before r, or else the first cut. */
uint32_t
re_cuts_colour(const struct re_dfa *d, uint32_t r)
{
	size_t i = search_first(&r, d->cuts, d->ncuts, sizeof(r), after_rune);

	return d->cuts[i > 0 ? i - 1 : 0];
}
