/* SPDX-License-Identifier: ISC */
/*
 * bpe.h: bpe_.  Byte pair encoding: the tokens of a text, as the models count
 * them whose vocabulary is given.
 *
 * A vocabulary is text in tiktoken's format: on each line a token in base64, a
 * blank, and its rank in decimal; ranks ascend.  All 256 bytes are tokens.
 *
 * A text is split into pieces (words, numbers, punctuation, white space) by
 * the rule of the encoding.  A piece that is a token is one token.  Otherwise
 * its bytes are merged: of all neighbours whose bytes together are a token,
 * those with the lowest rank, the leftmost first, become one, until there are
 * none.  Special tokens such as <|endoftext|> are ordinary text.  A byte that
 * is not part of valid UTF-8 counts as punctuation.
 *
 * Time is proportional to the text, times the logarithm of its longest piece.
 */
#ifndef WAZA_BPE_H
#define WAZA_BPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

enum {
	BPE_FILE_MAX = 32 << 20,	/* bytes of a vocabulary */
	BPE_TOKENS_MAX = 1 << 20,	/* of a vocabulary */
	BPE_TOKEN_MAX = 256,		/* bytes of a token */
	BPE_TEXT_MAX = 1 << 30		/* bytes of a text */
};

/* How a text is split into pieces. */
enum bpe_rule { BPE_O200K, BPE_CL100K };

struct bpe;

/* The name of the encoding: "o200k_base", "cl100k_base". */
const char *bpe_name(enum bpe_rule);

/*
 * The rule of a vocabulary, by the name of its file: "o200k_base.tiktoken",
 * "dir/my-cl100k_base.txt".  -1 and *e if it contains the name of no encoding,
 * or of several.
 */
int bpe_rule_of(struct str path, enum bpe_rule *, struct err *);

/*
 * Reads a vocabulary into the arena; text is not needed afterwards.  NULL and
 * *e, with line and column, if it is malformed.
 */
struct bpe *bpe_read(struct arena *, struct str text, enum bpe_rule,
    struct err *);

/*
 * The number of tokens of a text of at most BPE_TEXT_MAX bytes.  Counting
 * needs 20 bytes for each byte of the longest piece, temporarily from the
 * arena, and fills a cache in the struct.
 */
int64_t bpe_count(struct bpe *, struct arena *scratch, struct str text);

/* Reports the tokens of a text in order; their bytes are parts of it. */
typedef void bpe_put(void *ctx, struct str token, uint32_t rank);
void bpe_each(struct bpe *, struct arena *scratch, struct str text, bpe_put *,
    void *ctx);

/* The length of the piece at the start of a text; 0 if it is empty. */
size_t bpe_piece(const struct bpe *, struct str text);

/* The rank of a token; false if the bytes are not a token. */
bool bpe_rank(const struct bpe *, struct str token, uint32_t *rank);

#endif
