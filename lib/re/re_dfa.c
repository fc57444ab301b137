/* SPDX-License-Identifier: ISC */
/*
 * Tests whether a text matches, with the automaton of re_state.c.
 *
 * While no thread is active and the first bytes of a match are known, the scan
 * skips to them.  Otherwise, long texts are read in four lanes at the same
 * time, because a single lane mostly waits for memory.
 *
 * The cache of states is bounded and emptied when it is full.  If that happens
 * so often that creating states costs more than they save, the rest of the
 * text is read without states: with bitmaps (re_bits.c) or, if the program is
 * not suitable for them, with lists of instructions.
 */
#include "lib/re/re_internal.h"

#include <string.h>

enum {
	FIRST  = RE_STATE_SPECIAL + 1,
	LANES  = 4,
	LANE   = 4096,		/* bytes of a lane */
	TAIL   = 512,		/* bytes a lane can continue into the next */
	CREDIT = 4,		/* failures after which lanes are given up */
	MEMBER_COST = 12,	/* of creating a state, in nanoseconds: for each
				 * member, */
	STATE_COST = 200,	/* and for the rest */
	BITS_REST = 1 << 20,	/* bytes */
	SLICE = 1 << 16		/* bytes between two looks at the budget */
};

/* Reads from i without states, starting with the set d->list[0..n). */
static bool
plain(struct re_dfa *d, struct str text, size_t i, unsigned ctx, size_t n)
{
	const char *end = text.p + text.n;
	const struct re_start *start = &d->start[ctx];
	uint32_t r;

	while (!start->match && i < text.n) {
		if ((n == 0 && start->n == 0 && d->anchored) ||
		    !budget_take(d->re->budget, 20 + (n + start->n) * 8))
			return false;
		i += re_prog_rune(text.p + i, end, &r);
		re_state_clear(d);
		if (re_state_read(d, start->v, start->n, ctx, r) ||
		    re_state_read(d, d->list, n, ctx, r))
			return true;
		ctx = re_state_ctx_after(d, r);
		start = &d->start[ctx];
		n = re_state_members(d, start->bits, d->list);
	}
	return start->match || re_state_ends(d, d->list, n, ctx) ||
	    re_state_ends(d, start->v, start->n, ctx);
}

bool
re_dfa_plain(struct re *re, struct str text, size_t from)
{
	struct re_dfa *d = re_state_dfa(re);

	return plain(d, text, from, re_state_ctx(d, text, from), 0);
}

struct scan {
	struct re_dfa *d;
	struct str text;
	size_t i;		/* the next byte */
	uint32_t id;
	size_t flushed;		/* offset when the cache was last emptied */
	size_t *start;
	struct re_seek lit;	/* how to skip to re->lit when idle */
	int credit;		/* for lanes; 0: do not use them */
};

/* Follows computed transitions until one leads to an id <= floor. */
static void
follow(struct scan *s, uint32_t floor)
{
	const unsigned char *p = (const unsigned char *)s->text.p;
	const uint8_t *column = s->d->column;
	const uint32_t *next = s->d->next;
	size_t i = s->i, n = s->text.n - i < SLICE ? s->text.n : i + SLICE;
	uint32_t id = s->id, to;

	for (; i < n; i++) {
		to = next[id + column[p[i]]];
		if (to <= floor)
			break;
		id = to;
	}
	s->i = i;
	s->id = id;
}

static struct re_bits *
bits_of(struct re_dfa *d)
{
	if (!d->bits_tried)
		d->bits = re_bits_new(d);
	d->bits_tried = true;
	return d->bits;
}

bool
re_dfa_use_bits(struct re *re)
{
	struct re_dfa *d = re_state_dfa(re);

	d->bits_left = bits_of(d) != NULL ? SIZE_MAX : 0;
	return d->bits != NULL;
}

/* Whether the states that were created for n bytes were worth it. */
static bool
states_pay(struct re_dfa *d, size_t n)
{
	struct re_bits *b = bits_of(d);

	if (b == NULL)
		return n > 10 * d->nstates;
	return (uint64_t)n * re_bits_cost(b) > d->nmembers * MEMBER_COST +
	    d->nstates * STATE_COST;
}

/*
 * Empties the full cache but keeps the current state; within a sequence, the
 * scan returns to its beginning.  False if this happens too often; the members
 * of the state are in d->list then.
 */
static bool
renew(struct scan *s, struct re_state *at)
{
	struct re_dfa *d = s->d;
	bool pays;

	*at = d->state[s->id / d->width];
	s->i -= at->have;
	if (at->have > 0)
		*at = d->state[at->base / d->width];
	memcpy(d->list, d->members + at->at, at->n * sizeof(*d->list));
	pays = states_pay(d, s->i - s->flushed);
	s->flushed = s->i;
	at->eof = 0;
	re_state_flush(d);
	s->id = at->n > 0 || at->seen == RE_STATE_DIRTY ?
	    re_state_intern(d, at, d->list) : d->start[at->ctx].id;
	return pays;
}

/* Skips in a state without threads; false if no match is possible. */
static bool
idle(struct scan *s)
{
	struct re_dfa *d = s->d;
	size_t at;

	if (s->lit.way != RE_SEEK_OFF) {
		at = re_seek_next(&s->lit, &d->re->lit, s->text, s->i);
		if (at == RE_UNSET)
			return false;
		if (at > s->i) {
			s->i = at;
			s->id = d->start[re_state_ctx(d, s->text, at)].id;
		}
	}
	if (s->id <= RE_STATE_SPECIAL)
		return false;
	if (s->start != NULL) {
		while (s->i < s->text.n && d->next[s->id + d->column[
		    (unsigned char)s->text.p[s->i]]] == s->id)
			s->i++;
		*s->start = s->i;
	}
	return true;
}

/* The transition for a byte, computed if necessary. */
static uint32_t
step(struct re_dfa *d, uint32_t id, unsigned char byte)
{
	uint32_t to = d->next[id + d->column[byte]];

	if (to == RE_STATE_NEW) {
		budget_take(d->re->budget, STATE_COST + MEMBER_COST *
		    (uint64_t)d->state[id / d->width].n);
		to = re_state_after(d, id, byte);
		if (to != RE_STATE_FULL)
			d->next[id + d->column[byte]] = to;
	}
	return to;
}

/*
 * Advances all lanes by n bytes, one byte each in turn.  RE_STATE_NEW when
 * done, or the special state that one of them has reached.
 */
static uint32_t
race(struct re_dfa *d, const unsigned char *const p[LANES], size_t n,
    uint32_t id[LANES])
{
	const uint8_t *column = d->column;
	const uint32_t *next;
	uint32_t a, b, c, e, to[LANES];
	size_t i = 0, k;

	for (;;) {
		next = d->next;
		for (; i < n; i++) {
			a = next[id[0] + column[p[0][i]]];
			b = next[id[1] + column[p[1][i]]];
			c = next[id[2] + column[p[2][i]]];
			e = next[id[3] + column[p[3][i]]];
			if (((a - FIRST) | (b - FIRST) | (c - FIRST) |
			    (e - FIRST)) >> 31)
				break;
			id[0] = a;
			id[1] = b;
			id[2] = c;
			id[3] = e;
		}
		if (i == n)
			return RE_STATE_NEW;
		for (k = 0; k < LANES; k++) {
			to[k] = step(d, id[k], p[k][i]);
			if (to[k] <= RE_STATE_SPECIAL)
				return to[k];
		}
		memcpy(id, to, sizeof(to));
		i++;
	}
}

/*
 * Advances one lane from *i to `to` and on until it has no thread of its own;
 * *apart is set if that takes more than TAIL bytes.
 */
static uint32_t
finish(struct scan *s, size_t *i, size_t to, uint32_t *id, bool *apart)
{
	const struct re_state *st;
	uint32_t next;

	for (;; (*i)++) {
		if (*i >= to) {
			st = &s->d->state[*id / s->d->width];
			*apart = st->n > 0 || st->have > 0;
			if (!*apart || *i == s->text.n || *i - to == TAIL)
				return RE_STATE_NEW;
		}
		next = step(s->d, *id, (unsigned char)s->text.p[*i]);
		if (next <= RE_STATE_SPECIAL)
			return next;
		*id = next;
	}
}

/* The boundaries of LANES pieces of text, none within a sequence. */
static bool
divide(const struct scan *s, size_t at[LANES + 1])
{
	size_t k, tries;

	at[0] = s->i;
	for (k = 1; k <= LANES; k++) {
		at[k] = s->i + k * LANE;
		for (tries = 0; (s->text.p[at[k]] & 0xC0) == 0x80; at[k]++)
			if (++tries == 4)
				return false;
	}
	return true;
}

/*
 * Reads LANES pieces of text at the same time, which hides the latency of each
 * step.  A piece is read as if no thread were active at its start; therefore
 * the piece before continues into it until its own threads have ended.
 * Returns RE_STATE_MATCH, or RE_STATE_NEW after advancing the scan if possible.
 */
static uint32_t
lanes(struct scan *s)
{
	const unsigned char *p[LANES];
	size_t at[LANES + 1], k, i = s->i, len = LANE;
	uint32_t id[LANES], got;
	bool apart = false;

	s->credit--;
	if (!divide(s, at))
		return RE_STATE_NEW;
	for (k = 0; k < LANES; k++) {
		p[k] = (const unsigned char *)s->text.p + at[k];
		id[k] = k == 0 ? s->id :
		    s->d->start[re_state_ctx(s->d, s->text, at[k])].id;
		if (id[k] <= RE_STATE_SPECIAL)
			return id[k];
		len = at[k + 1] - at[k] < len ? at[k + 1] - at[k] : len;
	}
	got = race(s->d, p, len, id);
	for (k = 0; k < LANES && got == RE_STATE_NEW && !apart; k++) {
		i = at[k] + len;
		got = finish(s, &i, at[k + 1], &id[k], &apart);
	}
	if (got == RE_STATE_NEW) {
		s->i = i;
		s->id = id[k - 1];
		s->credit += apart ? 0 : s->credit < CREDIT - 1 ? 2 : 1;
	}
	if (got == RE_STATE_FULL)
		s->credit = 0;
	return got == RE_STATE_MATCH ? got : RE_STATE_NEW;
}

/* Searches without states from s->i, with the members d->list[0..n). */
static bool
leave_states(struct scan *s, unsigned ctx, size_t n)
{
	struct re_dfa *d = s->d;
	struct re_bits_scan b = { .text = s->text, .i = s->i, .ctx = ctx,
		.lit = s->lit, .budget = d->re->budget };
	bool found;

	if (d->bits == NULL)
		return plain(d, s->text, s->i, ctx, n);
	if (d->bits_left == 0)
		d->bits_left = BITS_REST;
	found = re_bits_search(d->bits, &b, n);
	if (d->bits_left < SIZE_MAX)
		d->bits_left -= b.i - s->i < d->bits_left ? b.i - s->i :
		    d->bits_left;
	s->i = b.i;
	if (s->start != NULL && b.idle > *s->start)
		*s->start = b.idle;
	return found;
}

/*
 * Raises *s->start, if all matches are short: none ends before s->i, except
 * that s->i can be the last byte of the code point after the match.
 */
static bool
found_match(struct scan *s)
{
	size_t left = s->d->re->longest, i = s->i;

	if (s->start == NULL || left >= i - *s->start)
		return true;
	for (left += 2; i > *s->start && left > 0;) {
		i--;
		left -= ((unsigned char)s->text.p[i] & 0xC0) != 0x80;
	}
	*s->start = i;
	return true;
}

/* The search with states; sets s->i to where the match was found. */
static bool
search(struct scan *s)
{
	struct re_dfa *d = s->d;
	struct re_state at;
	uint32_t to;
	size_t from;

	for (to = s->id; to > RE_STATE_SPECIAL; s->id = to) {
		from = s->i;
		if (s->id <= d->idle && !idle(s))
			return false;
		while (s->credit > 0 && s->lit.way == RE_SEEK_OFF &&
		    s->text.n - s->i > LANES * LANE + 4 &&
		    budget_take(d->re->budget, LANES * LANE)) {
			if (lanes(s) == RE_STATE_MATCH)
				return true;
			from = s->i;
		}
		follow(s, s->lit.way != RE_SEEK_OFF || s->start != NULL ?
		    d->idle : RE_STATE_SPECIAL);
		if (!budget_take(d->re->budget, 2 * (s->i - from)))
			return false;
		if (s->i == s->text.n) {
			to = re_state_end(d, s->id);
		} else {
			to = step(d, s->id, (unsigned char)s->text.p[s->i]);
			s->i += to > RE_STATE_SPECIAL;
		}
		if (to == RE_STATE_FULL) {
			if (!renew(s, &at))
				return leave_states(s, at.ctx, at.n);
			to = s->id;
		}
	}
	return to == RE_STATE_MATCH;
}

/* Whether the text, from there on, lacks bytes that every match contains. */
static bool
lacks_need(struct re *re, struct str text, size_t from)
{
	struct re_seek seek;
	size_t at;

	if (!re->need_known)
		re_lit_need(re);
	seek = re_seek_begin(&re->need, text.n - from);
	if (seek.way == RE_SEEK_OFF)
		return false;
	at = re_seek_next(&seek, &re->need, text, from);
	budget_take(re->budget, ((at < text.n ? at : text.n) - from) / 8);
	return at == RE_UNSET;
}

bool
re_dfa_search(struct re *re, struct str text, size_t from, size_t *start)
{
	struct scan s = { .text = text, .i = from, .flushed = from,
		.start = start, .credit = CREDIT };
	unsigned ctx;

	if (!re->deepened && text.n - from > LANE)
		re_lit_deepen(re);
	s.lit = re_seek_begin(&re->lit, text.n - from);
	if (s.lit.way == RE_SEEK_OFF && lacks_need(re, text, from))
		return false;
	s.d = re_state_dfa(re);
	ctx = re_state_ctx(s.d, text, from);
	if (start != NULL || s.d->anchored)
		s.credit = 0;
	if (start != NULL)
		*start = from;
	s.id = s.d->start[ctx].id;
	return (s.d->bits_left > 0 ? leave_states(&s, ctx, 0) : search(&s)) &&
	    found_match(&s);
}
