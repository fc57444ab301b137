/* SPDX-License-Identifier: ISC */
/*
 * bpe_internal.h: bpe_.  Shared by bpe.c (vocabulary, counting), bpe_split.c
 * (pieces) and bpe_merge.c (merging).
 */
#ifndef WAZA_BPE_INTERNAL_H
#define WAZA_BPE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/bpe/bpe.h"

enum {
	BPE_NONE = INT32_MAX,	/* a rank: the bytes are not a token */
	BPE_CODES = 0x110000,	/* code points */
	BPE_SHORT = 16,		/* bytes of a piece that is cached */
	BPE_CACHE = 1 << 14,	/* entries */
	BPE_SMALL = 256,	/* bytes of a piece that needs no arena */
	BPE_WORDS = 5		/* of memory for each byte of a piece */
};

/* The classes of code points that the rules distinguish. */
enum bpe_class {
	BPE_OTHER,		/* punctuation, symbols, controls, invalid */
	BPE_UPPER,		/* Lu, Lt */
	BPE_LOWER,		/* Ll */
	BPE_LETTER,		/* Lm, Lo: both upper and lower case */
	BPE_MARK,		/* M: as a letter for o200k, else as other */
	BPE_NUMBER,		/* N */
	BPE_SPACE,		/* white space except the next */
	BPE_NEWLINE		/* CR, LF */
};

struct bpe_slot {
	uint32_t tag;		/* upper half of the hash */
	uint32_t token;		/* index + 1; 0: empty */
};

struct bpe_cached {
	uint64_t bytes[2];	/* of the piece, padded with zeros */
	uint32_t n;		/* of these; 0: the entry is empty */
	uint32_t tokens;
};

struct bpe {
	enum bpe_rule rule;
	const unsigned char *classes;	/* by code point */
	const char *bytes;		/* of all tokens */
	const uint32_t *ends;		/* of token i in bytes */
	const uint32_t *ranks;
	const uint32_t *pairs;		/* rank of two bytes, or BPE_NONE */
	size_t n;			/* tokens */
	size_t longest;			/* bytes of a token */
	struct bpe_slot *slots;
	size_t mask;			/* number of slots - 1 */
	struct bpe_cached *cache;
	uint32_t *small;		/* memory for small pieces */
};

/* bpe_split.c */
void bpe_classify(unsigned char *classes);

/*
 * bpe_merge.c: the parts of a piece, in order.  They are valid until the next
 * call, or as long as the arena.
 */
struct bpe_parts {
	const uint32_t *ends;	/* of each part, by its offset in the piece */
	size_t n;		/* number of parts */
};
struct bpe_parts bpe_merge(const struct bpe *, struct arena *scratch,
    struct str piece);

#endif
