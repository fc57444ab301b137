/* SPDX-License-Identifier: ISC */
/*
 * Texts: lengths and offsets in code points, and search.
 *
 * A search jumps to the needle's rarest byte and compares around it.  Its time
 * is linear even for texts made to mislead it: after too many comparisons
 * without a match, it continues with the algorithm of Knuth, Morris and Pratt.
 */
#include "lib/py/expr_internal.h"

#include <string.h>

static const uint64_t ones = UINT64_MAX / 0xFF;

/* Counts the bytes 10xxxxxx, which continue a code point. */
static size_t
continued(const char *p, size_t n)
{
	uint64_t w;
	size_t i, count = 0;

	for (i = 0; n - i >= sizeof(w); i += sizeof(w)) {
		memcpy(&w, p + i, sizeof(w));
		if ((w & ones * 0x80) == 0)
			continue;
		w = w >> 7 & ~w >> 6 & ones;
		count += (size_t)(w * ones >> 56);
	}
	for (; i < n; i++)
		count += ((unsigned char)p[i] & 0xC0) == 0x80;
	return count;
}

size_t
expr_len(struct text *t)
{
	if (t->len == EXPR_UNKNOWN)
		t->len = t->n - continued(t->p, t->n);
	return t->len;
}

bool
expr_ascii(struct text *t)
{
	return expr_len(t) == t->n;
}

size_t
expr_offset(struct text *t, size_t cp)
{
	size_t i;

	if (expr_ascii(t) || cp == 0)
		return cp < t->n ? cp : t->n;
	if (cp >= t->len)
		return t->n;
	for (i = 0; cp > 0; cp--)
		for (i++; i < t->n &&
		    ((unsigned char)t->p[i] & 0xC0) == 0x80; i++)
			;
	return i;
}

int
expr_sub(struct eval *ev, const struct text *t, size_t from, size_t to,
    struct value *out)
{
	if (expr_str(ev, (struct str){ t->p + from, to - from }, out) == -1)
		return -1;
	if (t->len == t->n)
		out->u.text->len = to - from;
	return 0;
}

bool
expr_is_space(uint32_t c)
{
	return c == ' ' || (c >= '\t' && c <= '\r') ||
	    (c >= 0x1C && c <= 0x1F) || c == 0x85 || c == 0xA0 ||
	    c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
	    c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

uint32_t
expr_code_at(const struct text *t, size_t i, size_t *width)
{
	uint32_t c;

	*width = utf8_get(t->p + i, t->p + t->n, &c);
	if (*width > 0)
		return c;
	*width = 1;
	return 0xFFFD;
}

size_t
expr_code_before(const struct text *t, size_t i)
{
	do
		i--;
	while (i > 0 && ((unsigned char)t->p[i] & 0xC0) == 0x80);
	return i;
}

/* Search. */

/* An estimate of how common a byte is in texts. */
static unsigned
commonness(unsigned char c)
{
	static const char common[] = " etaoinsrhldcumfpgwybv,.k-\n";
	const char *hit = c == 0 ? NULL : strchr(common, c);

	if (hit == NULL)
		return c >= 0x80;
	return (unsigned)(sizeof(common) - (size_t)(hit - common)) + 1;
}

void
expr_find_init(struct finder *f, struct str needle)
{
	unsigned rank, best = UINT32_MAX;
	size_t i;

	*f = (struct finder){ .needle = needle };
	for (i = 0; i < needle.n && i < 32; i++) {
		rank = commonness((unsigned char)needle.p[i]);
		if (rank < best) {
			best = rank;
			f->rare = i;
		}
	}
}

/* fail[i]: length of the needle's longest prefix that ends at byte i - 1. */
static int
make_table(struct eval *ev, struct finder *f)
{
	struct str s = f->needle;
	uint32_t k = 0;
	size_t i;

	if (s.n >= UINT32_MAX / 4)
		return expr_decline(ev, "search for a text of this size");
	f->fail = expr_alloc(ev, (s.n + 1) * sizeof(*f->fail));
	if (f->fail == NULL || expr_bytes(ev, s.n) == -1)
		return -1;
	f->fail[0] = f->fail[1] = 0;
	for (i = 1; i < s.n; i++) {
		while (k > 0 && s.p[i] != s.p[k])
			k = f->fail[k];
		if (s.p[i] == s.p[k])
			k++;
		f->fail[i + 1] = k;
	}
	return 0;
}

static int
find_by_table(struct eval *ev, struct finder *f, struct str hay, size_t *at)
{
	struct str s = f->needle;
	size_t i, k = 0;

	if (f->fail == NULL && make_table(ev, f) == -1)
		return -1;
	for (i = 0; i < hay.n; i++) {
		while (k > 0 && hay.p[i] != s.p[k])
			k = f->fail[k];
		if (hay.p[i] == s.p[k])
			k++;
		if (k == s.n) {
			*at = i + 1 - s.n;
			return 1;
		}
	}
	return 0;
}

/* True once more has been compared without a match than a search may. */
static bool
exhausted(struct finder *f, size_t n)
{
	f->work += f->needle.n;
	return f->work > 1024 && f->work / 4 > n;
}

int
expr_find(struct eval *ev, struct finder *f, struct str hay, size_t from,
    size_t *at)
{
	struct str s = f->needle;
	const char *p = hay.p + from, *end = hay.p + hay.n;
	int rc;

	*at = from;
	if (s.n > hay.n - from || s.n == 0)
		return s.n == 0;
	while (f->fail == NULL && !exhausted(f, hay.n)) {
		p = (size_t)(end - p) < s.n ? NULL : memchr(p + f->rare,
		    s.p[f->rare], (size_t)(end - p) - s.n + 1);
		if (p == NULL)
			return expr_bytes(ev, hay.n - from);
		p -= f->rare;
		*at = (size_t)(p - hay.p);
		if (memcmp(p, s.p, s.n) == 0)
			return expr_bytes(ev, *at - from) == -1 ? -1 : 1;
		p++;
	}
	rc = find_by_table(ev, f, (struct str){ p, (size_t)(end - p) }, at);
	*at = rc == 1 ? *at + (size_t)(p - hay.p) : hay.n;
	return expr_bytes(ev, 8 * (*at - from)) == -1 ? -1 : rc;
}
