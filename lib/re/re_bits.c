/* SPDX-License-Identifier: ISC */
/*
 * Tests whether a text matches with one bit per instruction, for expressions
 * whose automaton has too many states, such as [^x]{900}y.
 *
 * A position is an instruction that reads.  A set of positions is a bitmap:
 * those at which a thread has just read.  A step over a code point r is
 *
 *	now = (first | follow(now)) & mask(r)
 *
 * where follow() leads from each position to those that come next, first are
 * those at which a match can begin, and mask(r) are those that accept r.  In
 * repeated code most positions lead to the same distances, so that follow()
 * is a few shifts of the bitmap.  The other edges are exits: if one of the
 * positions .from is in the set, all of .to follow.  A program that needs too
 * many of both is not suitable.
 *
 * Assertions are decided when the code points on both sides are known.  So
 * there is one struct re_follow for each combination of conditions.
 */
#include "lib/re/re_internal.h"

#include <string.h>

#include "lib/unicode.h"

enum {
	SHIFTS = 8, EXITS = 256,
	SHIFT_MIN = 4,		/* edges that make a distance worth a shift */
	EDGES = 16,		/* per position, on average */
	TABLE_MAX = 1 << 19,	/* bytes of the tables, about */
	SLICE = 256,		/* bytes between two looks at the budget */
	COLOURS = 64,		/* cached masks of code points >= 0x80 */
	NEXT_WORD = 0, NEXT_LINE, NEXT_OTHER, NEXT_END, NEXT__MAX
};

/* A bitmap without its outer words that are 0: word i is v[i - lo]. */
struct re_row {
	uint64_t *v;
	size_t lo, hi;
};

struct re_shift {
	int delta;
	struct re_row from;
};

struct re_exit {
	struct re_row from, to;
};

struct re_follow {
	unsigned holds;		/* the conditions */
	bool match;		/* the empty text matches */
	struct re_row first;
	struct re_row accept;	/* positions after which a match ends */
	struct re_shift shift[SHIFTS];
	struct re_exit *exit;
	size_t nshifts, nexits;
};

struct re_bits {
	struct re_dfa *d;
	size_t limit;			/* of the memory in use */
	uint32_t n;			/* positions */
	size_t words;			/* of a bitmap */
	uint16_t *pc, *position;	/* each is the inverse of the other */
	struct re_follow *by[RE_CTX__MAX][NEXT__MAX];
	struct re_follow *all[RE_CTX__MAX * NEXT__MAX];
	size_t nfollows;
	uint64_t *now, *next;
	size_t top;			/* words of now up to the last not 0 */
	uint64_t *column[128];		/* masks; NULL: not computed yet */
	uint64_t *colours;		/* COLOURS masks, */
	uint32_t colour[COLOURS];	/* of these; 0: free */
	uint32_t *seen, mark;		/* for reach(): seen[pc] == mark */
	uint16_t *stack, *list;		/* list: the positions reached, */
	size_t nlist;			/* and their number */
};

static void
add_bit(uint64_t *bits, size_t i)
{
	bits[i / 64] |= UINT64_C(1) << i % 64;
}

/* Whether the bitmap, of which n words are not 0, has a member of the row. */
static bool
overlap(const uint64_t *bits, size_t n, const struct re_row *row)
{
	size_t i;

	for (i = row->lo; i < row->hi && i < n; i++)
		if (bits[i] & row->v[i - row->lo])
			return true;
	return false;
}

static void
add_row(uint64_t *bits, const struct re_row *row)
{
	size_t i;

	for (i = row->lo; i < row->hi; i++)
		bits[i] |= row->v[i - row->lo];
}

/* Construction. */

struct build {
	struct re_bits *b;
	struct arena tmp;
	unsigned holds;
	uint32_t *count;	/* edges of distance i - b->n */
	uint64_t *to, *first, *accept;
	int delta[SHIFTS];
	uint64_t *shift[SHIFTS];
	uint64_t *exit_from[EXITS], *exit_to[EXITS];
	size_t nshifts, nexits;
};

/* Lists the positions that pc leads to; true if it leads to RE_MATCH. */
static bool
reach(struct re_bits *b, uint32_t pc, unsigned holds)
{
	const struct re_inst *prog = b->d->re->prog, *in;
	uint16_t *top = b->stack;

	b->nlist = 0;
	b->mark++;
	*top++ = (uint16_t)pc;
	while (top > b->stack) {
		for (pc = *--top; b->seen[pc] != b->mark;) {
			b->seen[pc] = b->mark;
			in = &prog[pc];
			if (in->op == RE_MATCH)
				return true;
			if (in->op == RE_JMP) {
				pc = in->x;
			} else if (in->op == RE_SPLIT) {
				*top++ = (uint16_t)in->x;
				pc++;
			} else if (in->op == RE_SAVE ||
			    (in->op == RE_ASSERT && in->arg & holds)) {
				pc++;
			} else {
				if (in->op != RE_ASSERT)
					b->list[b->nlist++] = b->position[pc];
				break;
			}
		}
	}
	return false;
}

static uint64_t *
new_bitmap(struct arena *a, const struct re_bits *b)
{
	return NEW_N(a, uint64_t, b->words);
}

/* Chooses the distances that most edges have; false: too many edges. */
static bool
choose_shifts(struct build *k)
{
	struct re_bits *b = k->b;
	size_t i, j, edges = 0, best, n = 2 * (size_t)b->n;

	k->count = NEW_N(&k->tmp, uint32_t, n);
	for (i = 0; i < b->n; i++) {
		if (reach(b, b->pc[i] + 1u, k->holds))
			continue;
		for (j = 0; j < b->nlist; j++)
			k->count[b->list[j] + b->n - i]++;
		edges += b->nlist;
		if (edges > EDGES * (size_t)b->n)
			return false;
	}
	while (k->nshifts < SHIFTS) {
		best = 0;
		for (i = 1; i < n; i++)
			if (k->count[i] > k->count[best])
				best = i;
		if (k->count[best] < SHIFT_MIN)
			break;
		k->count[best] = 0;
		k->delta[k->nshifts] = (int)best - (int)b->n;
		k->shift[k->nshifts++] = new_bitmap(&k->tmp, b);
	}
	return true;
}

/* Adds the edges from position i to the bitmap k->to; false: too many exits. */
static bool
add_exit(struct build *k, size_t i)
{
	size_t e, bytes = k->b->words * sizeof(*k->to);

	for (e = k->nexits; e > 0; e--)
		if (memcmp(k->exit_to[e - 1], k->to, bytes) == 0)
			break;
	if (e == 0) {
		if (k->nexits == EXITS)
			return false;
		e = ++k->nexits;
		k->exit_from[e - 1] = new_bitmap(&k->tmp, k->b);
		k->exit_to[e - 1] = new_bitmap(&k->tmp, k->b);
		memcpy(k->exit_to[e - 1], k->to, bytes);
	}
	add_bit(k->exit_from[e - 1], i);
	return true;
}

static bool
add_edges(struct build *k, size_t i)
{
	const struct re_bits *b = k->b;
	size_t j, s;
	bool rest = false;

	memset(k->to, 0, b->words * sizeof(*k->to));
	for (j = 0; j < b->nlist; j++) {
		for (s = 0; s < k->nshifts; s++)
			if (k->delta[s] == (int)b->list[j] - (int)i)
				break;
		if (s < k->nshifts) {
			add_bit(k->shift[s], i);
		} else {
			add_bit(k->to, b->list[j]);
			rest = true;
		}
	}
	return !rest || add_exit(k, i);
}

static struct re_row
row_of(const struct build *k, const uint64_t *bits)
{
	struct re_row row = { NULL, 0, k->b->words };

	while (row.hi > 0 && bits[row.hi - 1] == 0)
		row.hi--;
	while (row.lo < row.hi && bits[row.lo] == 0)
		row.lo++;
	row.v = NEW_N(k->b->d->re->arena, uint64_t, row.hi - row.lo);
	if (row.hi > row.lo)
		memcpy(row.v, bits + row.lo,
		    (row.hi - row.lo) * sizeof(*bits));
	return row;
}

static struct re_follow *
finish(const struct build *k)
{
	struct arena *a = k->b->d->re->arena;
	struct re_follow *f = NEW(a, struct re_follow);
	size_t i;

	f->holds = k->holds;
	f->first = row_of(k, k->first);
	f->accept = row_of(k, k->accept);
	f->nshifts = k->nshifts;
	for (i = 0; i < k->nshifts; i++)
		f->shift[i] = (struct re_shift){ k->delta[i],
			row_of(k, k->shift[i]) };
	f->nexits = k->nexits;
	f->exit = NEW_N(a, struct re_exit, k->nexits);
	for (i = 0; i < k->nexits && a->used < k->b->limit; i++)
		f->exit[i] = (struct re_exit){ row_of(k, k->exit_from[i]),
			row_of(k, k->exit_to[i]) };
	return a->used < k->b->limit ? f : NULL;
}

/* NULL if the program is not suitable. */
static struct re_follow *
new_follow(struct re_bits *b, unsigned holds)
{
	struct build k = { .b = b, .holds = holds };
	struct re_follow *f;
	size_t i;
	bool ok, match;

	k.to = new_bitmap(&k.tmp, b);
	k.first = new_bitmap(&k.tmp, b);
	k.accept = new_bitmap(&k.tmp, b);
	match = reach(b, 0, holds);
	for (i = 0; i < b->nlist; i++)
		add_bit(k.first, b->list[i]);
	ok = choose_shifts(&k);
	for (i = 0; i < b->n && ok; i++) {
		if (reach(b, b->pc[i] + 1u, holds))
			add_bit(k.accept, i);
		else
			ok = add_edges(&k, i);
	}
	f = ok ? finish(&k) : NULL;
	if (f != NULL)
		f->match = match;
	arena_free(&k.tmp);
	return f;
}

/* The struct re_follow under these conditions, new or not, or NULL. */
static struct re_follow *
follow_of(struct re_bits *b, unsigned holds)
{
	size_t i;

	for (i = 0; i < b->nfollows; i++)
		if (b->all[i]->holds == holds)
			return b->all[i];
	b->all[i] = new_follow(b, holds);
	b->nfollows += b->all[i] != NULL;
	return b->all[i];
}

static bool
build(struct re_bits *b)
{
	static const uint32_t examples[] = { [NEXT_WORD] = 'a',
		[NEXT_LINE] = '\n', [NEXT_OTHER] = '-',
		[NEXT_END] = UINT32_MAX };
	struct re_follow *f;
	unsigned ctx, next;

	for (ctx = 0; ctx < RE_CTX__MAX; ctx++)
		for (next = 0; next < NEXT__MAX; next++) {
			f = follow_of(b, re_state_holds(ctx, examples[next]) &
			    b->d->re->asserts);
			if (f == NULL)
				return false;
			b->by[ctx][next] = f;
		}
	return true;
}

struct re_bits *
re_bits_new(struct re_dfa *d)
{
	const struct re *re = d->re;
	struct arena_mark mark = arena_save(re->arena);
	struct re_bits *b = NEW(re->arena, struct re_bits);
	uint32_t pc;

	b->d = d;
	b->limit = re->arena->used + TABLE_MAX;
	b->pc = NEW_N(re->arena, uint16_t, re->nprog);
	b->position = NEW_N(re->arena, uint16_t, re->nprog);
	for (pc = 0; pc < re->nprog; pc++)
		if (RE_READS(re->prog[pc].op)) {
			b->pc[b->n] = (uint16_t)pc;
			b->position[pc] = (uint16_t)b->n++;
		}
	b->words = b->n / 64 + 1;
	b->seen = NEW_N(re->arena, uint32_t, re->nprog);
	b->stack = NEW_N(re->arena, uint16_t, re->nprog + 1);
	b->list = NEW_N(re->arena, uint16_t, re->nprog);
	if (b->n == 0 || !build(b)) {
		arena_restore(re->arena, mark);
		return NULL;
	}
	b->now = new_bitmap(re->arena, b);
	b->next = new_bitmap(re->arena, b);
	b->colours = NEW_N(re->arena, uint64_t, COLOURS * b->words);
	return b;
}

size_t
re_bits_cost(const struct re_bits *b)
{
	const struct re_follow *f = b->by[RE_CTX_NONE][NEXT_OTHER];
	size_t i, n = 8 + 2 * b->words + 4 * f->nexits;

	for (i = 0; i < f->nshifts; i++)
		n += f->shift[i].from.hi - f->shift[i].from.lo;
	for (i = 0; i < f->nexits; i++)
		n += f->exit[i].from.hi - f->exit[i].from.lo;
	return n;
}

/* Masks. */

static void
fill_mask(const struct re_bits *b, uint64_t *mask, uint32_t r)
{
	const struct re *re = b->d->re;
	const struct re_inst *in, *last = NULL;
	uint32_t i, folded = unicode_fold_min(r);
	bool takes = false;

	memset(mask, 0, b->words * sizeof(*mask));
	for (i = 0; i < b->n; i++, last = in) {
		in = &re->prog[b->pc[i]];
		if (last == NULL || in->op != last->op || in->x != last->x)
			takes = re_prog_takes(re, in, r, folded);
		if (takes)
			add_bit(mask, i);
	}
}

/* The positions that accept r; valid until the next call. */
static const uint64_t *
mask_of(struct re_bits *b, uint32_t r)
{
	uint64_t **ascii, *mask;
	uint32_t colour;
	size_t i;

	if (r < 0x80) {
		ascii = &b->column[b->d->column[r]];
		if (*ascii == NULL) {
			*ascii = new_bitmap(b->d->re->arena, b);
			fill_mask(b, *ascii, r);
		}
		return *ascii;
	}
	colour = re_cuts_colour(b->d, r);
	i = colour * 0x9E3779B1u >> 16 & (COLOURS - 1);
	mask = b->colours + i * b->words;
	if (b->colour[i] != colour) {
		b->colour[i] = colour;
		fill_mask(b, mask, colour);
	}
	return mask;
}

/* The search. */

/* A shift by less than a word, upwards. */
static void
shift_near(struct re_bits *b, const struct re_shift *s)
{
	size_t i, hi = s->from.hi < b->top ? s->from.hi : b->top;
	const uint64_t *from = s->from.v;
	unsigned by = (unsigned)s->delta;
	uint64_t x, carry = 0;

	for (i = s->from.lo; i < hi; i++) {
		x = b->now[i] & *from++;
		b->next[i] |= x << by | carry;
		carry = by > 0 ? x >> (64 - by) : 0;
	}
	if (carry != 0)
		b->next[i] |= carry;
}

/* Any shift; no edge leads out of the bitmap. */
static void
shift_far(struct re_bits *b, const struct re_shift *s)
{
	size_t down = (size_t)(s->delta < 0 ? -s->delta : 0);
	size_t words = (down + 63) / 64, i;
	size_t up = s->delta < 0 ? words * 64 - down : (size_t)s->delta;
	size_t by = up % 64, at;
	uint64_t x, high;

	for (i = s->from.lo; i < s->from.hi && i < b->top; i++) {
		x = b->now[i] & s->from.v[i - s->from.lo];
		at = i + up / 64;
		high = by > 0 ? x >> (64 - by) : 0;
		if (x << by != 0)
			b->next[at - words] |= x << by;
		if (high != 0)
			b->next[at + 1 - words] |= high;
	}
}

/* Reads a code point: b->next already has the positions that may read it. */
static void
read_rune(struct re_bits *b, uint32_t r)
{
	const uint64_t *mask = mask_of(b, r);
	uint64_t *old = b->now;
	size_t i;

	b->top = 0;
	for (i = 0; i < b->words; i++) {
		b->next[i] &= mask[i];
		if (b->next[i] != 0)
			b->top = i + 1;
	}
	b->now = b->next;
	b->next = old;
}

/* Sets b->next to the positions that follow those of b->now. */
static void
advance(struct re_bits *b, const struct re_follow *f)
{
	size_t i;

	memset(b->next, 0, b->words * sizeof(*b->next));
	add_row(b->next, &f->first);
	for (i = 0; i < f->nshifts; i++)
		if (f->shift[i].delta >= 0 && f->shift[i].delta < 64)
			shift_near(b, &f->shift[i]);
		else
			shift_far(b, &f->shift[i]);
	for (i = 0; i < f->nexits; i++)
		if (overlap(b->now, b->top, &f->exit[i].from))
			add_row(b->next, &f->exit[i].to);
}

/*
 * The same for the members d->list[0..n) of a state, which wait for the next
 * code point.  True if one of them matches before it.
 */
static bool
enter(struct re_bits *b, const struct re_follow *f, size_t n)
{
	const struct re_inst *prog = b->d->re->prog;
	size_t i, j;
	uint32_t pc;

	memset(b->next, 0, b->words * sizeof(*b->next));
	add_row(b->next, &f->first);
	for (i = 0; i < n; i++) {
		pc = b->d->list[i];
		if (prog[pc].op != RE_ASSERT) {
			add_bit(b->next, b->position[pc]);
			continue;
		}
		if (reach(b, pc, f->holds))
			return true;
		for (j = 0; j < b->nlist; j++)
			add_bit(b->next, b->list[j]);
	}
	return f->match;
}

static bool
accepts(const struct re_bits *b, const struct re_follow *f)
{
	return f->match || overlap(b->now, b->top, &f->accept);
}

static unsigned
kind_of(uint32_t r)
{
	return r == UINT32_MAX ? NEXT_END : r == '\n' ? NEXT_LINE :
	    re_prog_is_word(r) ? NEXT_WORD : NEXT_OTHER;
}

/* Skips to where a match can begin, if no thread is active. */
static bool
skip(struct re_bits *b, struct re_bits_scan *s)
{
	size_t at;

	if (b->d->anchored)
		return s->i == 0;
	if (s->lit.way == RE_SEEK_OFF)
		return true;
	at = re_seek_next(&s->lit, &b->d->re->lit, s->text, s->i);
	if (at == RE_UNSET)
		return false;
	if (at > s->i)
		s->ctx = re_state_ctx(b->d, s->text, at);
	s->i = at;
	return true;
}

bool
re_bits_search(struct re_bits *b, struct re_bits_scan *s, size_t n)
{
	const char *end = s->text.p + s->text.n;
	const struct re_follow *f;
	bool entered = false;
	uint32_t r;
	size_t w, until = s->i;

	b->top = 0;
	for (;; s->i += w) {
		if (s->i >= until) {
			if (!budget_take(s->budget, SLICE * re_bits_cost(b)))
				return false;
			until = s->i + SLICE;
		}
		if (b->top == 0 && (entered || n == 0)) {
			if (!skip(b, s))
				return false;
			/* at first, old threads can wait where new ones do */
			if (entered)
				s->idle = s->i;
		}
		r = UINT32_MAX;
		w = 0;
		if (s->i < s->text.n)
			w = re_prog_rune(s->text.p + s->i, end, &r);
		f = b->by[s->ctx][b->nfollows > 1 ? kind_of(r) : NEXT_OTHER];
		if (entered ? accepts(b, f) : enter(b, f, n))
			return true;
		if (w == 0)
			return false;
		if (entered)
			advance(b, f);
		entered = true;
		read_rune(b, r);
		if (b->nfollows > 1)
			s->ctx = re_state_ctx_after(b->d, r);
	}
}
