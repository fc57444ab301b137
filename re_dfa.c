/* SPDX-License-Identifier: ISC */
/*
 * Whether a text matches: runs the automaton of re_state.c over it.
 *
 * The cache of states is bounded.  When full it is emptied; when that comes
 * so often that making states costs more than they save, the rest of the
 * text is done without.
 */
#include "re_state.h"

#include <string.h>

/* Without states: the set itself, at first d->list[0..n), goes on from i. */
static bool
plain(struct re_dfa *d, struct str text, size_t i, unsigned ctx, size_t n)
{
	const char *end = text.p + text.n;
	const struct re_start *start = &d->start[ctx];
	uint32_t r;

	while (!start->match && i < text.n) {
		if (n == 0 && start->n == 0 && d->anchored)
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
	size_t flushed;		/* where the cache was last emptied */
	size_t *start;
	bool lit;		/* skip to re->lit when idle */
};

/* Follows known transitions, up to one that leads to floor or below. */
static void
follow(struct scan *s, uint32_t floor)
{
	const unsigned char *p = (const unsigned char *)s->text.p;
	const uint8_t *column = s->d->column;
	const uint32_t *next = s->d->next;
	size_t i = s->i, n = s->text.n;
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

/*
 * Empties the full cache, keeping the state; a pending one goes back to the
 * begin of its sequence.  False when that comes too often to pay, with the
 * members in d->list.
 */
static bool
renew(struct scan *s, struct re_state *at)
{
	struct re_dfa *d = s->d;
	size_t made = d->nstates;
	bool pays;

	*at = d->state[s->id / d->width];
	s->i -= at->have;
	if (at->have > 0)
		*at = d->state[at->base / d->width];
	memcpy(d->list, d->members + at->at, at->n * sizeof(*d->list));
	pays = s->i - s->flushed > 10 * made;
	s->flushed = s->i;
	at->eof = 0;
	re_state_flush(d);
	s->id = at->n == 0 && at->seen != RE_STATE_DIRTY ? d->start[at->ctx].id :
	    re_state_intern(d, at, d->list);
	return pays;
}

/* In a state without threads; false when no match can come any more. */
static bool
idle(struct scan *s)
{
	struct re_dfa *d = s->d;
	bool busy = false;
	size_t at;

	if (s->lit) {
		at = re_lit_search(&d->re->lit, s->text, s->i, &busy);
		if (at == RE_UNSET)
			return false;
		s->lit = !busy;
		if (at > s->i) {
			s->i = at;
			s->id = d->start[re_state_ctx(d, s->text, at)].id;
		}
	}
	if (s->start != NULL)
		*s->start = s->i;
	return true;
}

bool
re_dfa_search(struct re *re, struct str text, size_t from, size_t *start)
{
	struct re_dfa *d = re_state_dfa(re);
	struct scan s = { .d = d, .text = text, .i = from, .flushed = from,
		.start = start, .lit = re->lit.n > 0 };
	struct re_state at;
	uint32_t to, col;

	if (start != NULL)
		*start = from;
	s.id = d->start[re_state_ctx(d, text, from)].id;
	for (to = s.id; to > RE_STATE_SPECIAL; s.id = to) {
		if (s.id <= d->idle && !idle(&s))
			return false;
		follow(&s, s.lit || start != NULL ? d->idle : RE_STATE_SPECIAL);
		if (s.i == text.n) {
			to = re_state_end(d, s.id);
		} else {
			col = d->column[(unsigned char)text.p[s.i]];
			to = d->next[s.id + col];
			if (to == RE_STATE_NEW)
				to = re_state_after(d, s.id,
				    (unsigned char)text.p[s.i]);
			if (to != RE_STATE_FULL)
				d->next[s.id + col] = to;
			s.i += to > RE_STATE_SPECIAL;
		}
		if (to == RE_STATE_FULL) {
			if (!renew(&s, &at))
				return plain(d, text, s.i, at.ctx, at.n);
			to = s.id;
		}
	}
	return to == RE_STATE_MATCH;
}
