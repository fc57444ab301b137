/* SPDX-License-Identifier: ISC */
/*
 * Input: a byte, a vocabulary, a NUL, a text.  If bit 1 of the byte is set,
 * the vocabulary is read as it is; errors have a place or concern the whole.
 * Else its lines, as they are, are the tokens beside the 256 bytes.  The
 * tokens of the text are then those that a slow merge finds, for both ways of
 * splitting (bit 0).
 */
#include <assert.h>
#include <string.h>

#include "base/base.h"
#include "lib/bpe/bpe.h"
#include "test/tool/slow_bpe.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

enum { TEXT_MAX = 2000 };	/* the slow merge is cubic */

/* The lines as tokens; duplicates and long ones are left out. */
static struct str
make(struct arena *a, struct str lines)
{
	struct buf b = { 0 };
	unsigned rank = slow_bpe_bytes(&b);
	struct str v[200], s;
	const char *p = lines.p, *end = lines.p + lines.n, *q;
	size_t i, n = 0;

	for (; p < end && n < COUNTOF(v); p = q + 1) {
		q = memchr(p, '\n', (size_t)(end - p));
		q = q != NULL ? q : end;
		s = (struct str){ p, (size_t)(q - p) };
		if (s.n < 2 || s.n > BPE_TOKEN_MAX)
			continue;
		for (i = 0; i < n && !str_eq(v[i], s); i++)
			;
		if (i < n)
			continue;
		v[n++] = s;
		slow_bpe_token(&b, s, rank++);
	}
	return arena_take(a, &b);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena a = { 0 };
	struct str vocab, text;
	const char *nul;
	struct err e = { 0 };
	struct bpe *b;
	unsigned flags;

	if (size == 0)
		return 0;
	flags = *data++;
	size--;
	nul = memchr(data, '\0', size);
	vocab = (struct str){ (const char *)data, nul != NULL ?
		(size_t)(nul - (const char *)data) : size };
	text = nul == NULL ? STR("") : (struct str){ nul + 1,
		size - vocab.n - 1 };
	if ((flags & 2) == 0)
		vocab = make(&a, vocab);
	b = bpe_read(&a, vocab, (flags & 1) != 0 ? BPE_CL100K : BPE_O200K, &e);
	if (b == NULL)
		assert((flags & 2) != 0 && e.code != ERR_NONE &&
		    e.msg[0] != '\0' && (e.line > 0) == (e.col > 0));
	else {
		text.n = text.n < TEXT_MAX ? text.n : TEXT_MAX;
		assert(slow_bpe_agrees(b, text));
	}
	arena_free(&a);
	return 0;
}
