/* SPDX-License-Identifier: ISC */
/*
 * Searches a text for known bytes.
 *
 * memchr() finds the byte that is the rarest in usual texts.  If this text has
 * many of it, a sample of the text shows which one is rare here.  If all are
 * frequent, the search is for two bytes at their distance.
 */
#include "lib/re/re_internal.h"

#include <string.h>

enum {
	COST_RARE = 12,		/* of bytes for which memchr alone is fast */
	BUSY_GAP = 24,		/* bytes per hit below which memchr is slow, */
	PAIR_GAP = 72,		/* slower than the search for a pair, */
	TEST_GAP = 500,		/* not fast enough to go without a sample */
	BLOCK = 64,		/* bytes that are compared at once */
	SLICES = 64, SLICE = 32,
	SAMPLE = SLICES * SLICE	/* bytes */
};

struct re_seek
re_seek_begin(const struct re_lit *l, size_t text)
{
	struct re_seek k = { .way = RE_SEEK_OFF, .paired = l->paired,
		.rare = l->rare, .nrare = l->nrare };

	memcpy(k.rares, l->rares, sizeof(k.rares));
	memcpy(k.pair, l->pair, sizeof(k.pair));
	if (l->n == 0)
		return k;
	if (l->paired && l->cost > COST_RARE)
		k.way = RE_SEEK_PAIR;
	else if (text < RE_SEEK_LONG || l->cost <= RE_LIT_LOW)
		k.way = RE_SEEK_RARE;
	return k;
}

/* Counts the bytes of slices that are spread over the text. */
static void
take_sample(struct str text, size_t from, uint16_t count[256])
{
	size_t i, j, step = (text.n - from) / SLICES;

	for (i = 0; i < SLICES; i++)
		for (j = 0; j < SLICE; j++)
			count[(unsigned char)text.p[from + i * step + j]]++;
}

/* Whether all values of byte i are in l->byte and l->other. */
static bool
is_known(const struct re_lit *l, size_t i)
{
	return l->sets == NULL || l->byte[i] != 0 || l->other[i] != 255;
}

/* Chooses the rarest byte and pair of the sample; returns their counts. */
static void
choose(struct re_seek *k, const struct re_lit *l, const uint16_t count[256],
    unsigned best[2])
{
	unsigned n, rare = 0;
	uint8_t i;

	for (i = 0; i < k->nrare; i++)
		rare += count[k->rares[i]];
	best[0] = best[1] = SAMPLE;
	for (i = 0; i < l->n; i++) {
		if (!is_known(l, i))
			continue;
		n = count[l->byte[i]];
		n += l->other[i] != l->byte[i] ? count[l->other[i]] : 0;
		if (n < rare || k->nrare == 0) {
			rare = n;
			k->rare = i;
			k->nrare = l->other[i] != l->byte[i] ? 2 : 1;
			k->rares[0] = l->byte[i];
			k->rares[1] = l->other[i];
		}
		if (!re_lit_pairs(l, i) || n >= best[1])
			continue;
		best[1] = n < best[0] ? best[0] : n;
		k->pair[1] = n < best[0] ? k->pair[0] : i;
		if (n < best[0]) {
			best[0] = n;
			k->pair[0] = i;
		}
	}
	k->paired = best[1] < SAMPLE;
	best[1] = best[0] * best[1] / SAMPLE;
	best[0] = rare;
}

/* Adapts the search to the text. */
static void
adapt(struct re_seek *k, const struct re_lit *l, struct str text, size_t from)
{
	uint16_t count[256] = { 0 };
	unsigned best[2];

	k->sampled = true;
	take_sample(text, from, count);
	choose(k, l, count, best);
	k->paired = k->paired && best[1] * 1000 <= RE_LIT_LOW * SAMPLE;
	if (best[0] * (k->paired ? PAIR_GAP : BUSY_GAP) <= SAMPLE)
		k->way = RE_SEEK_RARE;
	else
		k->way = k->paired ? RE_SEEK_PAIR : RE_SEEK_OFF;
}

static bool
is_here(const struct re_lit *l, const char *s)
{
	const unsigned char *p = (const unsigned char *)s;
	unsigned i, ok = 1;

	if (l->sets != NULL) {
		for (i = 0; i < l->n && ok; i++)
			ok = l->sets[p[i]] >> i & 1u;
		return ok;
	}
	for (i = 0; i < l->n; i++)
		if (p[i] != l->byte[i] && p[i] != l->other[i])
			return false;
	return true;
}

/*
 * Two bytes at their offsets.  Setting 0x20 in letters makes the comparison
 * case-insensitive.
 */
struct pair {
	size_t at[2];
	unsigned char byte[2], fold[2];
};

static struct pair
pair_of(const struct re_seek *k, const struct re_lit *l)
{
	struct pair p;
	size_t i, j;

	for (i = 0; i < 2; i++) {
		j = p.at[i] = k->pair[i];
		p.fold[i] = l->byte[j] != l->other[j] ? 0x20 : 0;
		p.byte[i] = l->byte[j] | p.fold[i];
	}
	return p;
}

/*
 * Whether the pair can be at one of the BLOCK offsets from s on.  Old i386
 * processors have no registers for it.
 */
#if (defined(__clang__) || (defined(__GNUC__) && __GNUC__ >= 5)) && \
    (!defined(__i386__) || defined(__SSE2__))
typedef unsigned char lane __attribute__((vector_size(16)));

static inline lane
splat(unsigned char c)
{
	return (lane){ 0 } + c;
}

static inline bool
block_has(const struct pair *p, const char *s)
{
	lane byte[2] = { splat(p->byte[0]), splat(p->byte[1]) };
	lane fold[2] = { splat(p->fold[0]), splat(p->fold[1]) };
	lane a, b, hits = { 0 };
	uint64_t any[2];
	size_t i;

	for (i = 0; i < BLOCK; i += sizeof(lane)) {
		memcpy(&a, s + p->at[0] + i, sizeof(a));
		memcpy(&b, s + p->at[1] + i, sizeof(b));
		hits |= (lane)((((a | fold[0]) ^ byte[0]) |
		    ((b | fold[1]) ^ byte[1])) == 0);
	}
	memcpy(any, &hits, sizeof(any));
	return (any[0] | any[1]) != 0;
}
#else
static inline bool
block_has(const struct pair *p, const char *s)
{
	(void)p, (void)s;
	return true;
}
#endif

static uint64_t
load(const char *p)
{
	uint64_t x;

	memcpy(&x, p, sizeof(x));
	return x;
}

/* The same for eight offsets: a byte of x is zero where the pair is. */
static inline bool
word_has(const struct pair *p, const char *s)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	uint64_t x;

	x = ((load(s + p->at[0]) | ones * p->fold[0]) ^ ones * p->byte[0]) |
	    ((load(s + p->at[1]) | ones * p->fold[1]) ^ ones * p->byte[1]);
	return ((x - ones) & ~x & ones * 0x80) != 0;
}

/* The first place of the bytes from s to end, or NULL. */
static const char *
first_here(const struct re_lit *l, const char *s, const char *end)
{
	for (; s < end; s++)
		if (is_here(l, s))
			return s;
	return NULL;
}

static size_t
search_pair(const struct re_seek *k, const struct re_lit *l, struct str text,
    size_t from, bool *busy)
{
	const char *s = text.p + from, *end = text.p + text.n - l->n + 1, *q;
	const struct pair p = pair_of(k, l);
	size_t finds = 0, i;

	for (; end - s >= BLOCK; s += BLOCK) {
		if (!block_has(&p, s))
			continue;
		for (i = 0; i < BLOCK; i += 8) {
			if (!word_has(&p, s + i))
				continue;
			q = first_here(l, s + i, s + i + 8);
			if (q != NULL)
				return (size_t)(q - text.p);
			finds++;
		}
		if (finds > 16 && (size_t)(s - text.p) - from <
		    finds * BUSY_GAP) {
			*busy = true;
			return (size_t)(s + BLOCK - text.p);
		}
	}
	q = first_here(l, s, end);
	return q != NULL ? (size_t)(q - text.p) : RE_UNSET;
}

static const char *
find(const char *p, const char *end, int c)
{
	p = p < end ? memchr(p, c, (size_t)(end - p)) : NULL;
	return p != NULL ? p : end;
}

/*
 * Whether so many candidates on so many bytes are too many.  A sample knows
 * more about the text than its next few lines.
 */
static bool
is_busy(const struct re_seek *k, struct str text, size_t finds, size_t bytes)
{
	size_t gap = k->paired ? PAIR_GAP : BUSY_GAP;

	if (k->sampled)
		return finds >= 256 && bytes < finds * gap;
	if (text.n - bytes >= 4 * RE_SEEK_LONG)
		gap = TEST_GAP;
	return finds >= 16 && bytes < finds * gap;
}

/* The index of another byte, to look at first; or the same. */
static size_t
other_than(const struct re_lit *l, size_t rare)
{
	size_t i;

	for (i = l->n; i-- > 0;)
		if (i != rare && is_known(l, i))
			return i;
	return rare;
}

static size_t
search_one(const struct re_seek *k, const struct re_lit *l, struct str text,
    size_t from, bool *busy)
{
	const char *s = text.p + from, *origin = s;
	const char *end = text.p + text.n - l->n + 1;
	const size_t rare = k->rare, other = other_than(l, rare);
	const char a = (char)l->byte[other], b = (char)l->other[other];
	size_t finds;

	for (finds = 1; s < end; finds++, s++) {
		s = memchr(s + rare, k->rares[0], (size_t)(end - s));
		if (s == NULL)
			break;
		s -= rare;
		if ((s[other] == a || s[other] == b) && is_here(l, s))
			return (size_t)(s - text.p);
		if (finds % 16 != 0)
			continue;
		*busy = is_busy(k, text, finds, (size_t)(s - origin));
		if (*busy)
			return (size_t)(s - text.p);
	}
	return RE_UNSET;
}

/* The same for a byte of several values. */
static size_t
search_any(const struct re_seek *k, const struct re_lit *l, struct str text,
    size_t from, bool *busy)
{
	const char *at[COUNTOF(k->rares)] = { NULL }, *end, *origin;
	size_t finds, i, j;

	origin = text.p + from + k->rare;
	end = text.p + text.n - (l->n - 1u - k->rare);
	for (j = 0; j < k->nrare; j++)
		at[j] = find(origin, end, k->rares[j]);
	for (finds = 0;; finds++) {
		for (i = 0, j = 1; j < k->nrare; j++)
			if (at[j] < at[i])
				i = j;
		if (at[i] == end)
			return RE_UNSET;
		*busy = is_busy(k, text, finds, (size_t)(at[i] - origin));
		if (*busy || is_here(l, at[i] - k->rare))
			return (size_t)(at[i] - k->rare - text.p);
		at[i] = find(at[i] + 1, end, k->rares[i]);
	}
}

static size_t
search(const struct re_seek *k, const struct re_lit *l, struct str text,
    size_t from, bool *busy)
{
	*busy = false;
	if (text.n - from < l->n)
		return RE_UNSET;
	if (k->way == RE_SEEK_PAIR)
		return search_pair(k, l, text, from, busy);
	return k->nrare == 1 ? search_one(k, l, text, from, busy) :
	    search_any(k, l, text, from, busy);
}

/* The offset `before` bytes back, but not within a UTF-8 sequence. */
static size_t
back_from(struct str text, size_t at, size_t from, size_t before)
{
	if (at - from <= before)
		return from;
	for (at -= before; at > from && ((unsigned char)text.p[at] & 0xC0) ==
	    0x80; )
		at--;
	return at;
}

size_t
re_seek_next(struct re_seek *k, const struct re_lit *l, struct str text,
    size_t from)
{
	size_t at = from;
	bool busy = true;

	if (k->way == RE_SEEK_PAIR && !k->sampled &&
	    text.n - from >= 4 * RE_SEEK_LONG)
		adapt(k, l, text, from);
	while (busy && k->way != RE_SEEK_OFF) {
		at = search(k, l, text, at, &busy);
		if (busy && !k->sampled && text.n - at >= SAMPLE)
			adapt(k, l, text, at);
		else if (busy)
			k->way = k->way == RE_SEEK_RARE && k->paired ?
			    RE_SEEK_PAIR : RE_SEEK_OFF;
	}
	return at == RE_UNSET || l->before == 0 ? at :
	    back_from(text, at, from, l->before);
}
