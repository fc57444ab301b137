/* SPDX-License-Identifier: ISC */
/*
 * Merges the bytes of a piece to tokens.
 *
 * A part is named by the offset of its first byte.  Pairs of neighbours whose
 * bytes together are a token are in a heap, the lowest rank on top, and the
 * leftmost of equal ranks.  A merge changes the two pairs beside it, so n
 * bytes cost at most 3n lookups and 3n changes of the heap.
 *
 * Invariants: part i ends where part ends[i] begins (or the piece ends);
 * begins[i] is the part before i; ranks[i] is the rank of i and its next part
 * together, or BPE_NONE; heap[at[i]] == i if and only if ranks[i] is a rank.
 */
#include "lib/bpe/bpe_internal.h"

#include <assert.h>

struct merge {
	const struct bpe *bpe;
	struct str piece;
	uint32_t *ends, *begins, *ranks;
	uint32_t *heap, *at;
	size_t n;		/* of the heap */
};

static bool
before(const struct merge *m, uint32_t i, uint32_t j)
{
	return m->ranks[i] != m->ranks[j] ? m->ranks[i] < m->ranks[j] : i < j;
}

static void
place(struct merge *m, size_t k, uint32_t i)
{
	m->heap[k] = i;
	m->at[i] = (uint32_t)k;
}

/* Moves the part at k, whose rank may have changed, to where it belongs. */
static void
settle(struct merge *m, size_t k)
{
	uint32_t i = m->heap[k];
	size_t child;

	for (; k > 0 && before(m, i, m->heap[(k - 1) / 2]); k = (k - 1) / 2)
		place(m, k, m->heap[(k - 1) / 2]);
	for (; (child = 2 * k + 1) < m->n; k = child) {
		if (child + 1 < m->n &&
		    before(m, m->heap[child + 1], m->heap[child]))
			child++;
		if (!before(m, m->heap[child], i))
			break;
		place(m, k, m->heap[child]);
	}
	place(m, k, i);
}

static void
remove_part(struct merge *m, uint32_t i)
{
	size_t k = m->at[i];

	m->ranks[i] = BPE_NONE;
	if (--m->n > k) {
		place(m, k, m->heap[m->n]);
		settle(m, k);
	}
}

/* The rank of part i together with the next one. */
static uint32_t
pair_rank(const struct merge *m, uint32_t i)
{
	uint32_t end = m->ends[i], rank;

	if (end == m->piece.n)
		return BPE_NONE;
	end = m->ends[end];
	return bpe_rank(m->bpe, (struct str){ m->piece.p + i, end - i },
	    &rank) ? rank : BPE_NONE;
}

static void
update(struct merge *m, uint32_t i)
{
	uint32_t rank = pair_rank(m, i), old = m->ranks[i];

	if (rank == BPE_NONE) {
		if (old != BPE_NONE)
			remove_part(m, i);
		return;
	}
	m->ranks[i] = rank;
	if (old == BPE_NONE)
		place(m, m->n++, i);
	settle(m, m->at[i]);
}

/* Merges part i with the next one. */
static void
join(struct merge *m, uint32_t i)
{
	uint32_t j = m->ends[i];

	if (m->ranks[j] != BPE_NONE)
		remove_part(m, j);
	m->ends[i] = m->ends[j];
	if (m->ends[i] < m->piece.n)
		m->begins[m->ends[i]] = i;
	update(m, i);
	if (i > 0)
		update(m, m->begins[i]);
}

struct bpe_parts
bpe_merge(const struct bpe *b, struct arena *scratch, struct str piece)
{
	struct merge m = { .bpe = b, .piece = piece };
	uint32_t *v, i, n = (uint32_t)piece.n;
	struct bpe_parts out = { NULL, piece.n };

	assert(piece.n <= BPE_TEXT_MAX);
	v = piece.n <= BPE_SMALL ? b->small : arena_raw(scratch,
	    mul_max(piece.n, BPE_WORDS * sizeof(*v)), ALIGNOF(uint32_t));
	m.ends = v;
	m.begins = v + piece.n;
	m.ranks = v + 2 * piece.n;
	m.heap = v + 3 * piece.n;
	m.at = v + 4 * piece.n;
	for (i = 0; i < n; i++) {
		m.ends[i] = i + 1;
		m.begins[i] = i - 1;
		m.ranks[i] = BPE_NONE;
	}
	for (i = 0; i < n; i++)
		update(&m, i);
	for (; m.n > 0; out.n--)
		join(&m, m.heap[0]);
	out.ends = m.ends;
	return out;
}
