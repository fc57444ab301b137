/* SPDX-License-Identifier: ISC */
/*
 * The states of a DFA over bytes, which are created on demand.
 *
 * A state is the set of instructions at which threads wait, without those at
 * which a new thread can start at every offset (start[]).  The state of a text
 * that has matched nothing so far is therefore the empty set, and most states
 * have few members, even in a large program.
 *
 * Threads read code points, but the text consists of bytes.  A state within a
 * sequence ("pending") consists of the state before it and the bytes read.  If
 * all sequences that begin so lead to the same state, because no cut lies among
 * their code points, only their colour is kept.  In a malformed sequence, every
 * byte counts as one U+FFFD.
 *
 * Assertions about the previous code point are decided when a state is
 * created.  Those about the next one stay in the set until the next step.
 *
 * Invariants:
 *   1. A state's id is its number times .width, the index of its row in .next;
 *      ids up to RE_STATE_SPECIAL are not states.
 *   2. next[id + column[byte]] is RE_STATE_NEW or the transition for all bytes
 *      of the column: no cut and no kind of UTF-8 byte begins within a column.
 *   3. The members of a state are sorted, so that equal sets have equal keys.
 *   4. A state without members has id start[ctx].id unless it is
 *      RE_STATE_DIRTY; at those ids no thread started earlier.
 *   5. Members do not include those of start[ctx]; .ctx distinguishes only
 *      contexts that the program's assertions distinguish.
 */
#include "lib/re/re_internal.h"

#include <string.h>

#include "lib/unicode.h"

enum {
	NEXT_BYTES  = 1 << 19,	/* limit of .next */
	MEMBERS_MAX = 1 << 17,	/* limit of the members of all states */
	FIRST_ROWS  = 12
};

static bool
add_bit(uint32_t *bits, uint32_t i)
{
	uint32_t m = UINT32_C(1) << i % 32;

	if (bits[i / 32] & m)
		return false;
	bits[i / 32] |= m;
	return true;
}

/*
 * Adds the instructions that pc leads to without reading.  Of the assertions
 * `decided`, those in `holds` are true; the others stay in the set.  If list is
 * not NULL, instructions that read are appended to it.  True at RE_MATCH.
 */
static bool
reach(struct re_dfa *d, uint32_t *bits, uint32_t pc, unsigned decided,
    unsigned holds, uint16_t **list)
{
	const struct re_inst *in;
	uint16_t *top = d->stack;

	*top++ = (uint16_t)pc;
	while (top > d->stack) {
		for (pc = *--top; add_bit(bits, pc);) {
			in = &d->re->prog[pc];
			if (in->op == RE_MATCH)
				return true;
			if (in->op == RE_JMP) {
				pc = in->x;
			} else if (in->op == RE_SPLIT) {
				*top++ = (uint16_t)in->x;
				pc++;
			} else if (in->op == RE_SAVE || (in->op == RE_ASSERT &&
			    in->arg & decided & holds)) {
				pc++;
			} else {
				if (list != NULL && in->op != RE_ASSERT)
					*(*list)++ = (uint16_t)pc;
				break;
			}
		}
	}
	return false;
}

unsigned
re_state_ctx_after(const struct re_dfa *d, uint32_t r)
{
	if (r == '\n' && d->re->asserts & RE_BEGIN_LINE)
		return RE_CTX_LINE;
	if (d->re->asserts & (RE_WORD | RE_NOT_WORD) && re_prog_is_word(r))
		return RE_CTX_WORD;
	return RE_CTX_NONE;
}

unsigned
re_state_ctx(const struct re_dfa *d, struct str text, size_t i)
{
	if (i > 0)
		return re_state_ctx_after(d, (unsigned char)text.p[i - 1]);
	if (d->re->asserts & RE_BEGIN_TEXT)
		return RE_CTX_TEXT;
	return d->re->asserts & RE_BEGIN_LINE ? RE_CTX_LINE : RE_CTX_NONE;
}

static unsigned
holds_in(unsigned ctx)
{
	return ctx == RE_CTX_TEXT ? RE_BEGIN_TEXT | RE_BEGIN_LINE :
	    ctx == RE_CTX_LINE ? RE_BEGIN_LINE : 0;
}

enum { BEGINS = RE_BEGIN_LINE | RE_BEGIN_TEXT, ALL = 63 };

unsigned
re_state_holds(unsigned ctx, uint32_t r)
{
	unsigned holds = holds_in(ctx);

	holds |= (ctx == RE_CTX_WORD) == re_prog_is_word(r) ? RE_NOT_WORD :
	    RE_WORD;
	if (r == UINT32_MAX)
		holds |= RE_END_TEXT | RE_END_LINE;
	else if (r == '\n')
		holds |= RE_END_LINE;
	return holds;
}

/*
 * Decides the assertions among v[0..n) first; then all members read r.
 */
bool
re_state_read(struct re_dfa *d, const uint16_t *v, size_t n, unsigned ctx,
    uint32_t r)
{
	const struct re_inst *prog = d->re->prog;
	uint32_t folded = unicode_fold_min(r);
	unsigned after = holds_in(re_state_ctx_after(d, r)), holds = 0;
	uint16_t *end = d->passed;
	bool cleared = false;
	size_t i;

	for (i = 0; i < n; i++) {
		if (prog[v[i]].op != RE_ASSERT) {
			if (re_prog_takes(d->re, &prog[v[i]], r, folded) &&
			    reach(d, d->set, v[i] + 1u, BEGINS, after, NULL))
				return true;
			continue;
		}
		if (!cleared) {
			memset(d->pass, 0, d->nwords * sizeof(*d->pass));
			holds = re_state_holds(ctx, r);
			cleared = true;
		}
		if (prog[v[i]].arg & holds &&
		    reach(d, d->pass, v[i] + 1u, ALL, holds, &end))
			return true;
	}
	n = (size_t)(end - d->passed);
	for (i = 0; i < n; i++)
		if (re_prog_takes(d->re, &prog[d->passed[i]], r, folded) &&
		    reach(d, d->set, d->passed[i] + 1u, BEGINS, after, NULL))
			return true;
	return false;
}

size_t
re_state_members(const struct re_dfa *d, const uint32_t *less, uint16_t *v)
{
	const struct re_inst *prog = d->re->prog;
	uint32_t w, pc;
	size_t i, n = 0;

	for (i = 0; i < d->nwords; i++) {
		w = d->set[i] & ~(less == NULL ? 0 : less[i]);
		for (pc = (uint32_t)i * 32; w != 0; w >>= 1, pc++) {
			if (!(w & 1))
				continue;
			if (RE_READS(prog[pc].op) || (prog[pc].op ==
			    RE_ASSERT && !(prog[pc].arg & BEGINS)))
				v[n++] = (uint16_t)pc;
		}
	}
	return n;
}

void
re_state_clear(struct re_dfa *d)
{
	memset(d->set, 0, d->nwords * sizeof(*d->set));
}

static void
find_start(struct re_dfa *d, unsigned ctx)
{
	struct re_start *s = &d->start[ctx];
	size_t n;

	re_state_clear(d);
	s->match = reach(d, d->set, 0, BEGINS, holds_in(ctx), NULL);
	n = re_state_members(d, NULL, d->list);
	s->n = (uint16_t)n;
	s->v = arena_raw(d->re->arena, n * sizeof(*s->v), ALIGNOF(uint16_t));
	memcpy(s->v, d->list, n * sizeof(*s->v));
	s->bits = NEW_N(d->re->arena, uint32_t, d->nwords);
	for (n = 0; n < s->n; n++)
		add_bit(s->bits, s->v[n]);
}

/* States. */

static void *
grown(struct re_dfa *d, const void *old, size_t n, size_t cap, size_t size)
{
	void *p = arena_raw(d->re->arena, cap * size, ALIGNOF(uint32_t));

	if (old != NULL)
		memcpy(p, old, n * size);
	return p;
}

static uint32_t
hash_of(const struct re_state *s, const uint16_t *v)
{
	uint32_t h = (uint32_t)s->ctx * 31 + s->base * 0x85EBCA6Bu +
	    s->seen * 0xC2B2AE35u + s->have * 7u + s->left * 13u;
	size_t i;

	for (i = 0; i < s->n; i++)
		h = (h ^ v[i]) * 0x9E3779B1u + (h >> 15);
	return h ^ h >> 16;
}

static bool
same(const struct re_dfa *d, const struct re_state *a, const struct re_state *b,
    const uint16_t *v)
{
	return a->n == b->n && a->ctx == b->ctx && a->base == b->base &&
	    a->seen == b->seen && a->have == b->have && a->need == b->need &&
	    a->left == b->left &&
	    (b->n == 0 || memcmp(d->members + a->at, v,
	    b->n * sizeof(*v)) == 0);
}

static void
rehash(struct re_dfa *d)
{
	const struct re_state *s;
	size_t i, h;

	d->caphash = d->caphash == 0 ? 32 : d->caphash * 4;
	d->hash = arena_alloc(d->re->arena, d->caphash * sizeof(*d->hash),
	    ALIGNOF(uint32_t));
	for (i = 1; i < d->nstates; i++) {
		s = &d->state[i];
		for (h = hash_of(s, d->members + s->at); d->hash[h &
		    (d->caphash - 1)] != 0; h++)
			;
		d->hash[h & (d->caphash - 1)] = (uint32_t)i;
	}
}

static bool
room(struct re_dfa *d, size_t n)
{
	if (d->nstates >= d->maxstates || d->nmembers + n > MEMBERS_MAX)
		return false;
	if (d->nstates >= d->capstates) {
		d->capstates = d->capstates == 0 ? FIRST_ROWS :
		    d->capstates * 4;
		if (d->capstates > d->maxstates)
			d->capstates = d->maxstates;
		d->next = grown(d, d->next, d->nstates * d->width,
		    d->capstates * d->width, sizeof(*d->next));
		d->state = grown(d, d->state, d->nstates, d->capstates,
		    sizeof(*d->state));
	}
	if (d->nmembers + n > d->capmembers || d->capmembers == 0) {
		d->capmembers = d->capmembers == 0 ? 64 : d->capmembers * 4;
		while (d->nmembers + n > d->capmembers)
			d->capmembers *= 4;
		if (d->capmembers > MEMBERS_MAX)
			d->capmembers = MEMBERS_MAX;
		d->members = grown(d, d->members, d->nmembers, d->capmembers,
		    sizeof(*d->members));
	}
	if (d->nstates * 2 >= d->caphash)
		rehash(d);
	return true;
}

uint32_t
re_state_intern(struct re_dfa *d, const struct re_state *key, const uint16_t *v)
{
	struct re_state *s;
	size_t h, at;

	if (!room(d, key->n))
		return RE_STATE_FULL;
	for (h = hash_of(key, v);; h++) {
		at = h & (d->caphash - 1);
		if (d->hash[at] == 0)
			break;
		if (same(d, &d->state[d->hash[at]], key, v))
			return d->hash[at] * d->width;
	}
	d->hash[at] = (uint32_t)d->nstates;
	s = &d->state[d->nstates];
	*s = *key;
	s->at = (uint32_t)d->nmembers;
	if (key->n > 0)
		memcpy(d->members + s->at, v, key->n * sizeof(*v));
	d->nmembers += key->n;
	memset(d->next + d->nstates * d->width, 0,
	    d->width * sizeof(*d->next));
	return (uint32_t)d->nstates++ * d->width;
}

static bool
overlap(const uint32_t *a, const uint32_t *b, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (a[i] & b[i])
			return true;
	return false;
}

/* The id of the state whose members are in d->set. */
static uint32_t
state_of_set(struct re_dfa *d, unsigned ctx, bool dirty)
{
	const struct re_start *start = &d->start[ctx];
	struct re_state key = { .ctx = (uint8_t)ctx };

	key.n = (uint16_t)re_state_members(d, start->bits, d->list);
	if (key.n == 0) {
		if (!dirty && !overlap(d->set, start->bits, d->nwords))
			return start->id;
		key.seen = RE_STATE_DIRTY;
	}
	return re_state_intern(d, &key, d->list);
}

static uint32_t
after_rune(struct re_dfa *d, uint32_t id, uint32_t r)
{
	struct re_state s = d->state[id / d->width];
	const struct re_start *start = &d->start[s.ctx];
	unsigned ctx = re_state_ctx_after(d, r);
	const struct re_state *t;
	uint32_t to = RE_STATE_NEW;
	bool dirty = false;
	size_t i;

	if (d->start[ctx].match)
		return RE_STATE_MATCH;
	if (r < 128 && s.n > 0 && start->id > RE_STATE_SPECIAL)
		to = d->next[start->id + d->column[r]];
	if (to == RE_STATE_MATCH)
		return RE_STATE_MATCH;
	re_state_clear(d);
	if (to > RE_STATE_SPECIAL) {
		t = &d->state[to / d->width];
		dirty = t->seen == RE_STATE_DIRTY;
		for (i = 0; i < t->n; i++)
			add_bit(d->set, d->members[t->at + i]);
	} else if (to == RE_STATE_NEW &&
	    re_state_read(d, start->v, start->n, s.ctx, r)) {
		return RE_STATE_MATCH;
	}
	if (re_state_read(d, d->members + s.at, s.n, s.ctx, r))
		return RE_STATE_MATCH;
	return state_of_set(d, ctx, dirty);
}

/* UTF-8 sequences. */

static unsigned
length_of(uint32_t lead)
{
	return lead < 0xC2 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 :
	    lead < 0xF5 ? 4 : 1;
}

/* True if b can follow this first byte (RFC 3629 section 4). */
static bool
second_ok(uint32_t lead, uint32_t b)
{
	return b >= (lead == 0xE0 ? 0xA0u : lead == 0xF0 ? 0x90u : 0x80u) &&
	    b <= (lead == 0xED ? 0x9Fu : lead == 0xF4 ? 0x8Fu : 0xBFu);
}

static uint32_t
decode(uint32_t seen, unsigned n)
{
	uint32_t r = seen >> 8 * (n - 1) & (0x7Fu >> n);

	while (--n > 0)
		r = r << 6 | (seen >> 8 * (n - 1) & 0x3F);
	return r;
}

/*
 * The state after `have` bytes of a sequence.  If any continuation is valid and
 * leads to the same colour, only the colour is kept.
 */
static uint32_t
pending(struct re_dfa *d, uint32_t base, uint32_t seen, unsigned have,
    unsigned need)
{
	struct re_state key = { .base = base, .seen = seen,
		.have = (uint8_t)have, .need = (uint8_t)need };
	unsigned left = need - have, i;
	uint32_t lo = seen, hi = seen;
	bool any = have > 1 || (seen != 0xE0 && seen != 0xED &&
	    seen != 0xF0 && seen != 0xF4);

	for (i = 0; i < left; i++) {
		lo = lo << 8 | 0x80;
		hi = hi << 8 | 0xBF;
	}
	lo = re_cuts_colour(d, decode(lo, need));
	hi = re_cuts_colour(d, decode(hi, need));
	if (any && lo == hi) {
		key.seen = lo;
		key.need = 0;
		key.left = (uint8_t)left;
	}
	return re_state_intern(d, &key, NULL);
}

static uint32_t
malformed(struct re_dfa *d, uint32_t id, unsigned n)
{
	while (n-- > 0 && id > RE_STATE_SPECIAL)
		id = after_rune(d, id, RE_RUNE_BAD);
	return id;
}

uint32_t
re_state_after(struct re_dfa *d, uint32_t id, uint32_t b)
{
	struct re_state s = d->state[id / d->width];
	uint32_t seen;

	if (s.have == 0) {
		if (b < 0x80)
			return after_rune(d, id, b);
		if (length_of(b) == 1)
			return after_rune(d, id, RE_RUNE_BAD);
		return pending(d, id, b, 1, length_of(b));
	}
	if (s.need == 0 && b >= 0x80 && b < 0xC0) {
		if (s.left == 1)
			return after_rune(d, s.base, s.seen);
		s.left--;
		s.have++;
		return re_state_intern(d, &s, NULL);
	}
	if (s.need > 0 && b >= 0x80 && b < 0xC0 &&
	    (s.have > 1 || second_ok(s.seen, b))) {
		seen = s.seen << 8 | b;
		if (s.have + 1 == s.need)
			return after_rune(d, s.base, decode(seen, s.need));
		return pending(d, s.base, seen, s.have + 1u, s.need);
	}
	id = malformed(d, s.base, s.have);
	return id > RE_STATE_SPECIAL ? re_state_after(d, id, b) : id;
}

bool
re_state_ends(struct re_dfa *d, const uint16_t *v, size_t n, unsigned ctx)
{
	const struct re_inst *prog = d->re->prog;
	unsigned holds = re_state_holds(ctx, UINT32_MAX);
	uint16_t *end = d->passed;
	size_t i;

	memset(d->pass, 0, d->nwords * sizeof(*d->pass));
	for (i = 0; i < n; i++)
		if (prog[v[i]].op == RE_ASSERT && prog[v[i]].arg & holds &&
		    reach(d, d->pass, v[i] + 1u, ALL, holds, &end))
			return true;
	return false;
}

uint32_t
re_state_end(struct re_dfa *d, uint32_t id)
{
	struct re_state *s = &d->state[id / d->width];
	const struct re_start *start;

	if (s->have > 0) {
		id = malformed(d, s->base, s->have);
		return id <= RE_STATE_SPECIAL ? id : re_state_end(d, id);
	}
	if (s->eof == 0) {
		start = &d->start[s->ctx];
		s->eof = re_state_ends(d, d->members + s->at, s->n, s->ctx) ||
		    re_state_ends(d, start->v, start->n, s->ctx) ? 2 : 1;
	}
	return s->eof == 2 ? RE_STATE_MATCH : RE_STATE_DEAD;
}

static bool
occurs(const struct re_dfa *d, unsigned ctx)
{
	static const unsigned asserts[] = { [RE_CTX_NONE] = 0,
		[RE_CTX_WORD] = RE_WORD | RE_NOT_WORD,
		[RE_CTX_LINE] = RE_BEGIN_LINE, [RE_CTX_TEXT] = RE_BEGIN_TEXT };

	return ctx == RE_CTX_NONE || (d->re->asserts & asserts[ctx]) != 0;
}

void
re_state_flush(struct re_dfa *d)
{
	struct re_state key = { 0 };
	struct re_start *s;
	unsigned ctx;

	d->nstates = 1;			/* 0 is not a state */
	d->nmembers = 0;
	if (d->caphash > 0)
		memset(d->hash, 0, d->caphash * sizeof(*d->hash));
	for (ctx = 0; ctx < RE_CTX__MAX; ctx++) {
		s = &d->start[ctx];
		if (!occurs(d, ctx))
			continue;
		key.ctx = (uint8_t)ctx;
		if (s->match)
			s->id = RE_STATE_MATCH;
		else if (d->anchored && s->n == 0)
			s->id = RE_STATE_DEAD;
		else
			s->id = d->idle = re_state_intern(d, &key, NULL);
	}
}

struct re_dfa *
re_state_dfa(struct re *re)
{
	struct re_dfa *d = re->dfa;
	unsigned ctx;

	if (d != NULL)
		return d;
	d = NEW(re->arena, struct re_dfa);
	d->re = re;
	re_cuts_find(d);
	d->maxstates = NEXT_BYTES / (d->width * sizeof(*d->next));
	d->nwords = re->nprog / 32 + 1;
	d->set = NEW_N(re->arena, uint32_t, d->nwords);
	d->pass = NEW_N(re->arena, uint32_t, d->nwords);
	d->stack = NEW_N(re->arena, uint16_t, re->nprog + 1);
	d->passed = NEW_N(re->arena, uint16_t, re->nprog);
	d->list = NEW_N(re->arena, uint16_t, re->nprog);
	d->anchored = (re->asserts & RE_BEGIN_TEXT) != 0;
	for (ctx = 0; ctx < RE_CTX__MAX; ctx++) {
		if (!occurs(d, ctx))
			continue;
		find_start(d, ctx);
		if (ctx != RE_CTX_TEXT && (d->start[ctx].n > 0 ||
		    d->start[ctx].match))
			d->anchored = false;
	}
	re_state_flush(d);
	re->dfa = d;
	return d;
}
