/* SPDX-License-Identifier: ISC */
/*
 * Finds bytes that all matches start with, or that all contain.  re_seek.c
 * searches for them.
 */
#include "lib/re/re_internal.h"

#include <string.h>

#include "lib/unicode.h"

enum {
	COST_NONE = 1000,	/* above all costs */
	COST_MAX = 60,		/* of bytes worth searching for */
	HITS_FEW = 5,		/* so few that nothing else is worth a search */
	NEAR = 32,		/* bytes that may precede those searched for */
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

bool
re_lit_pairs(const struct re_lit *l, size_t i)
{
	unsigned a = l->byte[i], b = l->other[i];

	return a == b || ((a ^ b) == 0x20 && (a | 0x20) >= 'a' &&
	    (a | 0x20) <= 'z');
}

static unsigned
pair_cost(const struct re_lit *l, size_t i)
{
	unsigned a = l->byte[i], b = l->other[i];

	if (!re_lit_pairs(l, i))
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
	l->paired = second < COST_NONE && l->pair_cost <= RE_LIT_LOW;
}

/* Appends the bytes of an instruction that reads; false: unknown, or full. */
static bool
put_inst(struct re_lit *l, const struct re_inst *in)
{
	if (in->op == RE_CHAR)
		return put_rune(l, in->x);
	/* beside the letter in both cases, K and S match others in (?i) */
	return in->op == RE_FOLD && in->x < 0x80 && in->x != 'K' &&
	    in->x != 'S' && put(l, in->x, in->x | 0x20);
}

/* Chooses the method; bytes that are not worth a search become unknown. */
static void
settle(struct re_lit *l)
{
	choose(l);
	if (l->n > 0 && l->cost > COST_MAX && !l->paired)
		*l = (struct re_lit){ 0 };
}

/* The expected number of candidates in a thousand bytes. */
static unsigned
hits(const struct re_lit *l)
{
	if (l->n == 0)
		return COST_NONE;
	return l->paired && l->pair_cost < l->cost ? l->pair_cost : l->cost;
}

void
re_lit_find(struct re *re)
{
	struct re_lit *l = &re->lit;
	const struct re_inst *in = re->prog;

	while (in->op == RE_SAVE || put_inst(l, in))
		in++;
	l->whole = in->op == RE_MATCH && l->n > 0;
	settle(l);
	re->deepened = l->whole || hits(l) <= HITS_FEW;
}

/* The most bytes that an instruction reads. */
static size_t
width_of(const struct re_inst *in)
{
	char u[4];

	if (!RE_READS(in->op))
		return 0;
	return in->op == RE_CHAR ? utf8_put(u, in->x) : 4;
}

/* Appends to a run that begins after at most `before` bytes of a match. */
static bool
extend(struct re_lit *l, const struct re_inst *in, size_t before)
{
	if (l->n == 0)
		l->before = before;
	return put_inst(l, in);
}

/* Ends a run; keeps it if it is the rarest so far. */
static void
end_run(struct re *re, struct re_lit *l)
{
	settle(l);
	if (hits(l) < hits(&re->need))
		re->need = *l;
	*l = (struct re_lit){ 0 };
}

/*
 * All ways through the program lead over an instruction if no instruction
 * before it jumps to one behind it, because the only RE_MATCH is the last.
 * Straight runs of such instructions read bytes that every match contains.
 * Without a jump back, all instructions before them read what precedes.
 */
void
re_lit_need(struct re *re)
{
	const struct re_inst *in;
	struct re_lit l = { 0 };
	uint32_t pc, far = 0;
	size_t before = 0;

	re->need_known = true;
	for (pc = 0; pc < re->nprog; pc++) {
		in = &re->prog[pc];
		if (in->op == RE_SAVE || in->op == RE_ASSERT)
			continue;
		if (pc < far || !extend(&l, in, before)) {
			end_run(re, &l);
			if (pc >= far)	/* the run may have been full */
				extend(&l, in, before);
		}
		if (in->op == RE_SPLIT || in->op == RE_JMP) {
			far = in->x > far ? in->x : far;
			before = in->x > pc ? before : SIZE_MAX;
		}
		if (before < SIZE_MAX)
			before += width_of(in);
	}
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

/* Finds sets of bytes that all matches start with. */
static void
find_sets(struct re *re)
{
	struct ways w[2];
	struct re_lit l = { 0 };
	uint8_t bits[256] = { 0 };
	bool set[256];
	unsigned i, c;

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
	if (l.nrare == 0 || hits(&l) >= hits(&re->lit) ||
	    re_seek_begin(&l, RE_SEEK_LONG).way == RE_SEEK_OFF)
		return;
	l.sets = memcpy(arena_raw(re->arena, sizeof(bits), 1), bits,
	    sizeof(bits));
	re->lit = l;
}

void
re_lit_deepen(struct re *re)
{
	re->deepened = true;
	find_sets(re);
	if (!re->need_known)
		re_lit_need(re);
	if (re->need.before <= NEAR && 2 * hits(&re->need) < hits(&re->lit) &&
	    re_seek_begin(&re->need, RE_SEEK_LONG).way != RE_SEEK_OFF)
		re->lit = re->need;
}
