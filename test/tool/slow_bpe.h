/* SPDX-License-Identifier: ISC */
/*
 * slow_bpe.h: makes vocabularies, and checks lib/bpe/ against a merge that
 * searches all pairs each time.
 */
#ifndef SLOW_BPE_H
#define SLOW_BPE_H

#include <string.h>

#include "base/base.h"
#include "lib/bpe/bpe.h"

/* Appends the line of a token. */
static inline void
slow_bpe_token(struct buf *b, struct str s, unsigned rank)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "abcdefghijklmnopqrstuvwxyz0123456789+/";
	uint32_t x;
	size_t i, k, n;

	for (i = 0; i < s.n; i += 3) {
		n = s.n - i < 3 ? s.n - i : 3;
		for (x = 0, k = 0; k < 3; k++)
			x = x << 8 | (k < n ? (unsigned char)s.p[i + k] : 0);
		for (k = 0; k < 4; k++)
			buf_putc(b, k <= n ? digits[x >> (18 - 6 * k) & 63] :
			    '=');
	}
	buf_fmt(b, " %u\n", rank);
}

/* Appends the lines of all 256 bytes; returns the next rank. */
static inline unsigned
slow_bpe_bytes(struct buf *b)
{
	unsigned rank;
	char c;

	for (rank = 0; rank < 256; rank++) {
		c = (char)rank;
		slow_bpe_token(b, (struct str){ &c, 1 }, rank);
	}
	return rank;
}

struct slow_bpe {
	const struct bpe *bpe;
	struct arena arena;
	size_t *ends;		/* expected ends of tokens, by offset */
	size_t at, tokens;
	const char *text;
	bool bad;
};

/* Merges the piece that begins at `at` of the text. */
static inline void
slow_bpe_merge(struct slow_bpe *s, size_t at, size_t n)
{
	size_t *v = NEW_N(&s->arena, size_t, n + 1), i, best, parts = n;
	uint32_t rank, lowest;

	for (i = 0; i <= n; i++)
		v[i] = at + i;
	if (bpe_rank(s->bpe, (struct str){ s->text + at, n }, &rank)) {
		v[1] = at + n;
		parts = 1;
	}
	for (;;) {
		best = parts;
		lowest = UINT32_MAX;
		for (i = 0; i + 2 <= parts; i++)
			if (bpe_rank(s->bpe, (struct str){ s->text + v[i],
			    v[i + 2] - v[i] }, &rank) && rank < lowest) {
				lowest = rank;
				best = i;
			}
		if (best == parts)
			break;
		memmove(&v[best + 1], &v[best + 2], (parts - best - 1) *
		    sizeof(*v));
		parts--;
	}
	for (i = 0; i < parts; i++)
		s->ends[v[i]] = v[i + 1];
	s->tokens += parts;
}

static inline void
slow_bpe_put(void *ctx, struct str token, uint32_t rank)
{
	struct slow_bpe *s = ctx;
	uint32_t r;

	s->bad |= token.p != s->text + s->at || token.n == 0 ||
	    s->ends[s->at] != s->at + token.n ||
	    !bpe_rank(s->bpe, token, &r) || r != rank;
	s->at += token.n;
	s->tokens--;
}

/*
 * Whether the tokens of a text are those of the slow merge, together are the
 * text, and are as many as are counted.
 */
static inline bool
slow_bpe_agrees(struct bpe *b, struct str text)
{
	struct slow_bpe s = { .bpe = b, .text = text.p };
	struct arena scratch = { 0 };
	size_t at, n;
	int64_t count;
	bool ok = true;

	s.ends = NEW_N(&s.arena, size_t, text.n + 1);
	for (at = 0; at < text.n; at += n) {
		n = bpe_piece(b, (struct str){ text.p + at, text.n - at });
		if (n == 0 || n > text.n - at) {
			ok = false;
			break;
		}
		slow_bpe_merge(&s, at, n);
	}
	count = (int64_t)s.tokens;
	if (ok)
		bpe_each(b, &scratch, text, slow_bpe_put, &s);
	ok = ok && !s.bad && s.tokens == 0 && s.at == text.n &&
	    bpe_count(b, &scratch, text) == count &&
	    bpe_count(b, &scratch, text) == count;
	arena_free(&scratch);
	arena_free(&s.arena);
	return ok;
}

#endif
