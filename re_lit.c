/* SPDX-License-Identifier: ISC */
/*
 * Skipping to where a match can begin: the bytes that all matches start with,
 * each in one or two spellings, found by the rarest of them.
 */
#include "re_prog.h"

#include <string.h>

enum {
	COST_MAX = 60,		/* of a byte worth looking for */
	BUSY_GAP = 24		/* bytes per find below which memchr is slow */
};

/* How common a byte is in what gets graded, per mille; a guess will do. */
static unsigned
cost_of(unsigned char c)
{
	static const uint8_t letters[] = { 65, 13, 28, 33, 100, 18, 16, 40,
		60, 2, 7, 35, 22, 58, 62, 18, 2, 50, 52, 75, 25, 9, 15, 3,
		15, 2 };

	if (c >= 'a' && c <= 'z')
		return letters[c - 'a'];
	if (c >= 'A' && c <= 'Z')
		return 2 + letters[c - 'A'] / 16u;
	if (c == ' ')
		return 150;
	if (c == '\n' || (c >= '0' && c <= '9'))
		return 15;
	if (c >= 0xE3 && c <= 0xE9)
		return 50;
	return c == '.' || c == ',' || c == '-' || c >= 0x80 ? 10 : 5;
}

static bool
put(struct re_lit *l, uint32_t a, uint32_t b)
{
	if (l->n == RE_LIT_MAX)
		return false;
	l->byte[l->n] = (uint8_t)a;
	l->other[l->n] = (uint8_t)b;
	l->n++;
	return true;
}

/*
 * U+FFFD stands for malformed bytes as well, so it has no one spelling;
 * surrogates have none.
 */
static bool
put_rune(struct re_lit *l, uint32_t r)
{
	char u[4];
	size_t i, n = utf8_put(u, r);

	if (r == RE_RUNE_BAD || (r >= 0xD800 && r < 0xE000) ||
	    l->n + n > RE_LIT_MAX)
		return false;
	for (i = 0; i < n; i++)
		put(l, (unsigned char)u[i], (unsigned char)u[i]);
	return true;
}

void
re_lit_find(struct re *re)
{
	struct re_lit *l = &re->lit;
	const struct re_inst *in;
	unsigned cost, best = UINT32_MAX;
	uint8_t i;

	for (in = re->prog;; in++) {
		if (in->op == RE_SAVE)
			continue;
		if (in->op == RE_CHAR && put_rune(l, in->x))
			continue;
		if (in->op == RE_FOLD && in->x < 0x80 && in->x != 'K' &&
		    in->x != 'S' && put(l, in->x, in->x | 0x20))
			continue;
		break;
	}
	l->whole = in->op == RE_MATCH && l->n > 0;
	for (i = 0; i < l->n; i++) {
		cost = cost_of(l->byte[i]);
		if (l->byte[i] != l->other[i])
			cost += cost_of(l->other[i]);
		if (cost < best) {
			best = cost;
			l->rare = i;
		}
	}
	if (best > COST_MAX && !l->whole)
		l->n = 0;
}

static bool
is_here(const struct re_lit *l, const char *s)
{
	const unsigned char *p = (const unsigned char *)s;
	size_t i;

	for (i = 0; i < l->n; i++)
		if (p[i] != l->byte[i] && p[i] != l->other[i])
			return false;
	return true;
}

static const char *
find(const char *p, const char *end, int c)
{
	p = p < end ? memchr(p, c, (size_t)(end - p)) : NULL;
	return p != NULL ? p : end;
}

size_t
re_lit_search(const struct re_lit *l, struct str text, size_t from,
    bool *busy)
{
	const char *p, *q, *at, *end, *origin;
	size_t finds;

	if (text.n - from < l->n)
		return RE_UNSET;
	origin = p = text.p + from + l->rare;
	end = text.p + text.n - (l->n - 1u - l->rare);
	p = find(p, end, l->byte[l->rare]);
	q = l->byte[l->rare] == l->other[l->rare] ? end :
	    find(origin, end, l->other[l->rare]);
	for (finds = 8; p < end || q < end; finds++) {
		at = p < q ? p : q;
		if (is_here(l, at - l->rare))
			return (size_t)(at - l->rare - text.p);
		if (!l->whole && (size_t)(at - origin) < (finds - 8) * BUSY_GAP
		    && finds > 16) {
			*busy = true;
			return (size_t)(at - l->rare - text.p);
		}
		if (p < q)
			p = find(p + 1, end, l->byte[l->rare]);
		else
			q = find(q + 1, end, l->other[l->rare]);
	}
	return RE_UNSET;
}
