/* SPDX-License-Identifier: ISC */
/*
 * Skips to where a match can begin, by searching for the bytes that all
 * matches start with.
 */
#include "lib/re/re_internal.h"

#include <string.h>

#include "lib/unicode.h"

enum {
	COST_NONE = 1000,	/* above all costs */
	COST_MAX = 60,		/* of bytes worth searching for... */
	COST_LOW = 24,		/* ...in a long text, where lanes are fast */
	COST_RARE = 12,		/* memchr alone is fast */
	LONG     = 1 << 14,
	BUSY_GAP = 24,		/* bytes per hit below which memchr is slow */
	WAYS_MAX = 64
};

/* A rough frequency of a byte in graded texts, per mille. */
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
 * False for U+FFFD, which also matches malformed bytes, and for surrogates,
 * which have no encoding.
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

/* A byte can be part of a pair if it is fixed or a letter in both cases. */
static unsigned
pair_cost(const struct re_lit *l, size_t i)
{
	unsigned a = l->byte[i], b = l->other[i];

	if (a != b && ((a ^ b) != 0x20 || (a | 0x20) < 'a' || (a | 0x20) > 'z'))
		return COST_NONE;
	return cost_of(l->byte[i]) + (a != b ? cost_of(l->other[i]) : 0);
}

/*
 * Chooses the method: memchr for a rare byte; otherwise a pair of bytes that
 * rarely occur together.
 */
static void
choose(struct re_lit *l)
{
	unsigned cost, best = COST_NONE, second = COST_NONE;
	uint8_t i;

	for (i = 0; i < l->n; i++) {
		cost = pair_cost(l, i);
		if (cost < best) {
			second = best;
			best = cost;
			l->pair[1] = l->pair[0];
			l->pair[0] = i;
		} else if (cost < second) {
			second = cost;
			l->pair[1] = i;
		}
	}
	if (best < COST_NONE && (l->nrare == 0 || best <= l->cost)) {
		l->rare = l->pair[0];
		l->rares[0] = l->byte[l->rare];
		l->rares[1] = l->other[l->rare];
		l->nrare = l->rares[0] == l->rares[1] ? 1 : 2;
		l->cost = best;
	}
	l->pair_cost = best * second / 1000;
	l->paired = second < COST_NONE && l->pair_cost <= COST_LOW;
}

enum re_lit_way
re_lit_way(const struct re_lit *l, size_t text)
{
	if (l->n == 0)
		return RE_LIT_OFF;
	if (l->paired && l->cost > COST_RARE)
		return RE_LIT_PAIR;
	return text < LONG || l->cost <= COST_LOW ? RE_LIT_RARE : RE_LIT_OFF;
}

void
re_lit_find(struct re *re)
{
	struct re_lit *l = &re->lit;
	const struct re_inst *in;

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
	choose(l);
	if (l->n > 0 && l->cost > COST_MAX && !l->paired)
		*l = (struct re_lit){ 0 };
	re->deepened = re_lit_way(l, LONG) != RE_LIT_OFF;
}

/*
 * The deeper analysis follows all ways through the program, byte by byte, as
 * long as they are few.  A way is an instruction and a code point that it
 * accepts, of which some bytes have been read.
 */
struct way {
	uint16_t pc;
	uint8_t read;
	uint32_t rune;
};

struct ways {
	const struct re *re;
	struct way v[WAYS_MAX];
	size_t n;
	bool over;		/* too many ways */
	bool ended;		/* a match can end here */
};

static void
add_way(struct ways *w, uint32_t pc, uint32_t rune, unsigned nread)
{
	if (w->n == WAYS_MAX || rune == RE_RUNE_BAD) {
		w->over = true;
		return;
	}
	w->v[w->n++] = (struct way){ (uint16_t)pc, (uint8_t)nread, rune };
}

static void
add_class(struct ways *w, uint32_t pc, const struct re_class *k)
{
	const struct re_range *v = w->re->ranges + k->first;
	uint32_t i, r;

	for (i = 0; i < k->n && !w->over; i++)
		for (r = v[i].lo; r <= v[i].hi && !w->over; r++)
			add_way(w, pc, r, 0);
}

/* Adds the ways that begin at pc, as if all assertions held. */
static void
add_from(struct ways *w, uint32_t pc)
{
	const struct re_inst *in;
	uint32_t due[WAYS_MAX], r;
	size_t n = 0, steps;

	due[n++] = pc;
	for (steps = 0; n > 0 && !w->over; steps++) {
		pc = due[--n];
		in = &w->re->prog[pc];
		if (steps == 4 * WAYS_MAX || n + 2 > WAYS_MAX) {
			w->over = true;
			return;
		}
		switch ((enum re_op)in->op) {
		case RE_MATCH:
			w->ended = true;
			break;
		case RE_CHAR:
			add_way(w, pc, in->x, 0);
			break;
		case RE_FOLD:
			r = in->x;
			do {
				add_way(w, pc, r, 0);
				r = unicode_fold_next(r);
			} while (r != in->x);
			break;
		case RE_CLASS:
			add_class(w, pc, &w->re->classes[in->x]);
			break;
		case RE_ANY:
		case RE_NOTNL:
			w->over = true;
			break;
		case RE_SPLIT:
			due[n++] = in->x;
			due[n++] = pc + 1;
			break;
		case RE_JMP:
			due[n++] = in->x;
			break;
		case RE_SAVE:
		case RE_ASSERT:
			due[n++] = pc + 1;
			break;
		}
	}
}

/* Advances all ways of w by a byte: collects the bytes and the new ways. */
static void
read_byte(const struct ways *w, struct ways *to, bool set[256])
{
	char u[4];
	size_t i, len;

	*to = (struct ways){ .re = w->re };
	memset(set, 0, 256 * sizeof(set[0]));
	for (i = 0; i < w->n; i++) {
		len = utf8_put(u, w->v[i].rune);
		set[(unsigned char)u[w->v[i].read]] = true;
		if (w->v[i].read + 1u < len)
			add_way(to, w->v[i].pc, w->v[i].rune,
			    w->v[i].read + 1u);
		else
			add_from(to, w->v[i].pc + 1u);
	}
}

/* Records the set of byte i; uses it if it is small and the rarest. */
static void
consider(struct re_lit *l, unsigned i, const bool set[256])
{
	uint8_t v[COUNTOF(l->rares)];
	unsigned c, n = 0, cost = 0;

	l->byte[i] = 0;			/* never a pair */
	l->other[i] = 255;
	for (c = 0; c < 256; c++) {
		if (!set[c])
			continue;
		if (n == COUNTOF(v))
			return;
		v[n++] = (uint8_t)c;
		cost += cost_of((unsigned char)c);
	}
	if (n <= 2) {
		l->byte[i] = v[0];
		l->other[i] = v[n - 1];
	}
	if (l->nrare > 0 && cost >= l->cost)
		return;
	l->cost = cost;
	l->rare = (uint8_t)i;
	l->nrare = (uint8_t)n;
	memcpy(l->rares, v, n);
}

void
re_lit_deepen(struct re *re)
{
	struct ways w[2];
	struct re_lit l = { 0 };
	uint8_t bits[256] = { 0 };
	bool set[256];
	unsigned i, c;

	re->deepened = true;
	w[0] = (struct ways){ .re = re };
	add_from(&w[0], 0);
	for (i = 0; i < 8; i++) {
		if (w[i % 2].over || w[i % 2].ended || w[i % 2].n == 0)
			break;
		read_byte(&w[i % 2], &w[(i + 1) % 2], set);
		consider(&l, i, set);
		for (c = 0; c < 256; c++)
			bits[c] |= (uint8_t)(set[c] ? 1u << i : 0);
		l.n = (uint8_t)(i + 1);
	}
	choose(&l);
	if (l.nrare == 0 || re_lit_way(&l, LONG) == RE_LIT_OFF)
		return;
	l.sets = memcpy(arena_raw(re->arena, sizeof(bits), 1), bits,
	    sizeof(bits));
	re->lit = l;
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

static const char *
find(const char *p, const char *end, int c)
{
	p = p < end ? memchr(p, c, (size_t)(end - p)) : NULL;
	return p != NULL ? p : end;
}

static uint64_t
load(const char *p)
{
	uint64_t x;

	memcpy(&x, p, sizeof(x));
	return x;
}

/*
 * Eight offsets at a time: a byte of x is zero where both bytes of the pair
 * match.  Setting 0x20 in letters makes the comparison case-insensitive.
 */
static size_t
search_pair(const struct re_lit *l, struct str text, size_t from, bool *busy)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	const char *p = text.p + from, *end = text.p + text.n - l->n + 1, *q;
	unsigned a = l->pair[0], b = l->pair[1];
	uint64_t fa = l->byte[a] != l->other[a] ? ones * 0x20 : 0;
	uint64_t fb = l->byte[b] != l->other[b] ? ones * 0x20 : 0;
	uint64_t ca = ones * l->byte[a] | fa, cb = ones * l->byte[b] | fb, x;
	size_t finds = 0;

	for (; end - p >= 8; p += 8) {
		x = ((load(p + a) | fa) ^ ca) | ((load(p + b) | fb) ^ cb);
		if (((x - ones) & ~x & ones * 0x80) == 0)
			continue;
		for (q = p; q < p + 8; q++)
			if (is_here(l, q))
				return (size_t)(q - text.p);
		if (++finds > 16 && (size_t)(p - text.p) - from <
		    finds * BUSY_GAP) {
			*busy = true;
			return (size_t)(p + 8 - text.p);
		}
	}
	for (; p < end; p++)
		if (is_here(l, p))
			return (size_t)(p - text.p);
	return RE_UNSET;
}

static size_t
search_rare(const struct re_lit *l, struct str text, size_t from, bool *busy)
{
	const char *at[COUNTOF(l->rares)] = { NULL }, *end, *origin;
	size_t finds, i, k;

	origin = text.p + from + l->rare;
	end = text.p + text.n - (l->n - 1u - l->rare);
	for (k = 0; k < l->nrare; k++)
		at[k] = find(origin, end, l->rares[k]);
	for (finds = 0;; finds++) {
		for (i = 0, k = 1; k < l->nrare; k++)
			if (at[k] < at[i])
				i = k;
		if (at[i] == end)
			return RE_UNSET;
		if (is_here(l, at[i] - l->rare))
			return (size_t)(at[i] - l->rare - text.p);
		if (finds > 16 && (size_t)(at[i] - origin) < finds *
		    (l->paired ? 3 * BUSY_GAP : BUSY_GAP)) {
			*busy = true;
			return (size_t)(at[i] - l->rare - text.p);
		}
		at[i] = find(at[i] + 1, end, l->rares[i]);
	}
}

size_t
re_lit_search(const struct re_lit *l, struct str text, size_t from,
    enum re_lit_way *way)
{
	bool busy = false;

	if (text.n - from < l->n)
		return RE_UNSET;
	if (*way == RE_LIT_RARE) {
		from = search_rare(l, text, from, &busy);
		if (!busy)
			return from;
		*way = l->paired ? RE_LIT_PAIR : RE_LIT_OFF;
		busy = false;
	}
	if (*way == RE_LIT_PAIR) {
		from = search_pair(l, text, from, &busy);
		if (busy)
			*way = RE_LIT_OFF;
	}
	return from;
}
