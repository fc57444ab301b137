/* SPDX-License-Identifier: ISC */
/*
 * Vocabularies, and counting.
 *
 * Tokens are found by a hash table with linear probing, at most half full.
 * The hash has no key, so a crafted vocabulary could make many tokens
 * collide: long runs of slots refuse it.  Tokens of two bytes, the most often
 * sought, also have a table of their own.
 *
 * The cache maps short pieces to their number of tokens; it is small enough
 * to stay in the processor's cache, the vocabulary is not.
 */
#include "lib/bpe/bpe_internal.h"

#include <assert.h>
#include <string.h>

enum {
	PROBES_MAX = 256,	/* slots looked at for one token */
	PAIRS = 1 << 16		/* of bytes */
};

static const char *const names[] = { "o200k_base", "cl100k_base" };

const char *
bpe_name(enum bpe_rule rule)
{
	return names[rule];
}

static bool
contains(struct str s, struct str part)
{
	size_t i;

	for (i = 0; i + part.n <= s.n; i++)
		if (memcmp(s.p + i, part.p, part.n) == 0)
			return true;
	return false;
}

int
bpe_rule_of(struct str path, enum bpe_rule *rule, struct err *e)
{
	size_t i, found = 0;

	path = str_base(path);
	for (i = 0; i < COUNTOF(names); i++)
		if (contains(path, str_of(names[i]))) {
			*rule = (enum bpe_rule)i;
			found++;
		}
	if (found == 1)
		return 0;
	return err_set(e, ERR_SCHEMA, "the name of a vocabulary must contain "
	    "that of its encoding, o200k_base or cl100k_base");
}

/*
 * The table.
 */
static uint64_t
load(const char *p)
{
	uint64_t x;

	memcpy(&x, p, sizeof(x));
	return x;
}

static uint64_t
mix(uint64_t h, uint64_t x)
{
	h = (h ^ x) * UINT64_C(0x9E3779B97F4A7C15);
	return h ^ h >> 29;
}

static uint64_t
hash(struct str s)
{
	uint64_t h = s.n, x = 0;
	size_t i;

	for (i = 0; i + 8 <= s.n; i += 8)
		h = mix(h, load(s.p + i));
	for (; i < s.n; i++)
		x = x << 8 | (unsigned char)s.p[i];
	h = mix(mix(h, x), 0x55);
	return h ^ h >> 32;
}

static struct str
token(const struct bpe *b, size_t i)
{
	uint32_t from = i > 0 ? b->ends[i - 1] : 0;

	return (struct str){ b->bytes + from, b->ends[i] - from };
}

/* The slot that has the token, or an empty one; NULL: too many probes. */
static struct bpe_slot *
find(const struct bpe *b, struct str s, uint64_t h)
{
	struct bpe_slot *slot;
	size_t i;

	for (i = 0; i < PROBES_MAX; i++) {
		slot = &b->slots[(h + i) & b->mask];
		if (slot->token == 0 || (slot->tag == (uint32_t)(h >> 32) &&
		    str_eq(s, token(b, slot->token - 1))))
			return slot;
	}
	return NULL;
}

bool
bpe_rank(const struct bpe *b, struct str s, uint32_t *rank)
{
	const struct bpe_slot *slot;

	if (s.n == 2) {
		*rank = b->pairs[(unsigned char)s.p[0] << 8 |
		    (unsigned char)s.p[1]];
		return *rank != BPE_NONE;
	}
	if (s.n == 0 || s.n > b->longest)
		return false;
	slot = find(b, s, hash(s));
	if (slot == NULL || slot->token == 0)
		return false;
	*rank = b->ranks[slot->token - 1];
	return true;
}

/*
 * Reading.
 */
struct reader {
	struct arena *arena;
	struct bpe *bpe;
	const char *p, *end;
	unsigned line;
	const char *bol;	/* start of the line */
	char *bytes;		/* of all tokens so far */
	uint32_t *ends, *ranks, *pairs;
	struct err *err;
};

static int
fail(const struct reader *r, const char *p, const char *msg)
{
	err_set(r->err, ERR_SYNTAX, "%s", msg);
	err_at(r->err, r->line, (unsigned)(p - r->bol) + 1);
	return -1;
}

/* The value of a base64 digit (RFC 4648 section 4), or -1. */
static int
digit(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Decodes the token at the start of a line into out; its length, or -1. */
static int
read_token(struct reader *r, char *out)
{
	uint32_t bits = 0;
	int n = 0, have = 0, d, digits = 0;
	const char *from = r->p;

	for (; r->p < r->end && (d = digit(*r->p)) >= 0; r->p++, digits++) {
		bits = (bits << 6 | (uint32_t)d) & 0xFFFF;
		have += 6;
		if (have < 8)
			continue;
		have -= 8;
		if (n == BPE_TOKEN_MAX)
			return fail(r, from, "a token is longer than 256 "
			    "bytes");
		out[n++] = (char)(bits >> have & 0xFF);
	}
	for (; r->p < r->end && *r->p == '='; r->p++, digits++)
		have -= 2;
	if (n == 0 || digits % 4 != 0 || have != 0)
		return fail(r, from, "expected a token in base64, a blank and "
		    "its rank");
	return n;
}

static int
read_rank(struct reader *r, uint32_t *rank)
{
	const char *from;
	uint32_t x = 0;

	if (r->p == r->end || *r->p != ' ')
		return fail(r, r->p, "expected a blank and a rank after the "
		    "token");
	from = ++r->p;
	for (; r->p < r->end && *r->p >= '0' && *r->p <= '9' &&
	    x < BPE_NONE / 16; r->p++)
		x = x * 10 + (uint32_t)(*r->p - '0');
	if (r->p == from || x >= BPE_NONE / 16)
		return fail(r, from, "the rank is not a number below 2^27");
	*rank = x;
	if (r->p < r->end && *r->p == '\r')
		r->p++;
	if (r->p < r->end && *r->p != '\n')
		return fail(r, r->p, "unexpected text after the rank");
	return 0;
}

static int
add_token(struct reader *r, struct str s, uint32_t rank)
{
	struct bpe *b = r->bpe;
	uint64_t h = hash(s);
	struct bpe_slot *slot;

	if (b->n == BPE_TOKENS_MAX)
		return fail(r, r->bol, "more than 1,048,576 tokens");
	if (b->n > 0 && rank <= r->ranks[b->n - 1])
		return fail(r, r->bol, "the rank is not above that of the "
		    "token before");
	slot = find(b, s, h);
	if (slot == NULL)
		return fail(r, r->bol, "too many tokens have the same hash");
	if (slot->token != 0)
		return fail(r, r->bol, "the token was already given");
	if (s.n == 2)
		r->pairs[(unsigned char)s.p[0] << 8 | (unsigned char)s.p[1]] =
		    rank;
	r->ranks[b->n] = rank;
	r->ends[b->n] = (uint32_t)(s.p + s.n - r->bytes);
	slot->tag = (uint32_t)(h >> 32);
	slot->token = (uint32_t)++b->n;
	b->longest = s.n > b->longest ? s.n : b->longest;
	return 0;
}

static int
read_lines(struct reader *r)
{
	char *out = r->bytes;
	uint32_t rank = 0;
	int n;

	for (; r->p < r->end; r->p++, r->line++) {
		r->bol = r->p;
		if (*r->p == '\n')
			continue;
		n = read_token(r, out);
		if (n == -1 || read_rank(r, &rank) == -1 || add_token(r,
		    (struct str){ out, (size_t)n }, rank) == -1)
			return -1;
		out += n;
	}
	return 0;
}

static int
check_bytes(const struct bpe *b, struct err *e)
{
	uint32_t rank;
	int i;
	char c;

	for (i = 0; i < 256; i++) {
		c = (char)i;
		if (!bpe_rank(b, (struct str){ &c, 1 }, &rank))
			return err_set(e, ERR_SCHEMA, "not a vocabulary: the "
			    "byte 0x%02X is not a token", (unsigned)i);
	}
	return 0;
}

static size_t
count_lines(struct str text)
{
	const char *p = text.p, *end = text.p + text.n;
	size_t n = 1;

	while (p < end && (p = memchr(p, '\n', (size_t)(end - p))) != NULL) {
		n++;
		p++;
	}
	return n < BPE_TOKENS_MAX ? n : BPE_TOKENS_MAX;
}

struct bpe *
bpe_read(struct arena *a, struct str text, enum bpe_rule rule, struct err *e)
{
	struct bpe *b = NEW(a, struct bpe);
	struct reader r = { .arena = a, .bpe = b, .p = text.p,
		.end = text.p + text.n, .line = 1, .err = e };
	size_t i, n = count_lines(text), slots;
	unsigned char *classes;

	if (text.n > BPE_FILE_MAX) {
		err_set(e, ERR_LIMIT, "a vocabulary can be up to 32 MiB");
		return NULL;
	}
	for (slots = 1024; slots < 2 * n; slots *= 2)
		;
	b->rule = rule;
	b->slots = NEW_N(a, struct bpe_slot, slots);
	b->mask = slots - 1;
	/* three bytes of four digits, and room for a token that is too long */
	b->bytes = r.bytes = NEW_N(a, char, text.n / 4 * 3 + BPE_TOKEN_MAX);
	b->ends = r.ends = NEW_N(a, uint32_t, n);
	b->ranks = r.ranks = NEW_N(a, uint32_t, n);
	b->pairs = r.pairs = NEW_N(a, uint32_t, PAIRS);
	for (i = 0; i < PAIRS; i++)
		r.pairs[i] = BPE_NONE;
	if (read_lines(&r) == -1 || check_bytes(b, e) == -1)
		return NULL;
	b->classes = classes = NEW_N(a, unsigned char, BPE_CODES);
	bpe_classify(classes);
	b->cache = NEW_N(a, struct bpe_cached, BPE_CACHE);
	b->small = NEW_N(a, uint32_t, BPE_SMALL * BPE_WORDS);
	return b;
}

/*
 * Counting.
 */
static uint32_t
count_piece(const struct bpe *b, struct arena *scratch, struct str piece)
{
	struct arena_mark mark;
	uint32_t n;

	if (bpe_rank(b, piece, &n))
		return 1;
	mark = arena_save(scratch);
	n = (uint32_t)bpe_merge(b, scratch, piece).n;
	arena_restore(scratch, mark);
	return n;
}

static uint32_t
count_cached(struct bpe *b, struct arena *scratch, struct str piece)
{
	struct bpe_cached key = { { 0, 0 }, (uint32_t)piece.n, 0 }, *c;
	uint64_t h;

	memcpy(key.bytes, piece.p, piece.n);
	h = mix(mix(key.n, key.bytes[0]), key.bytes[1]);
	c = &b->cache[(h ^ h >> 32) % BPE_CACHE];
	if (c->n != key.n || c->bytes[0] != key.bytes[0] ||
	    c->bytes[1] != key.bytes[1]) {
		key.tokens = count_piece(b, scratch, piece);
		*c = key;
	}
	return c->tokens;
}

int64_t
bpe_count(struct bpe *b, struct arena *scratch, struct str text)
{
	struct str piece;
	int64_t n = 0;

	assert(text.n <= BPE_TEXT_MAX);
	while ((piece.n = bpe_piece(b, text)) > 0) {
		piece.p = text.p;
		n += piece.n <= BPE_SHORT ? count_cached(b, scratch, piece) :
		    count_piece(b, scratch, piece);
		text.p += piece.n;
		text.n -= piece.n;
	}
	return n;
}

static void
each_part(const struct bpe *b, struct arena *scratch, struct str piece,
    bpe_put *put, void *ctx)
{
	struct bpe_parts parts = bpe_merge(b, scratch, piece);
	struct str s;
	uint32_t i, rank;

	for (i = 0; i < piece.n; i = parts.ends[i]) {
		s = (struct str){ piece.p + i, parts.ends[i] - i };
		if (bpe_rank(b, s, &rank))
			put(ctx, s, rank);
	}
}

void
bpe_each(struct bpe *b, struct arena *scratch, struct str text, bpe_put *put,
    void *ctx)
{
	struct arena_mark mark = arena_save(scratch);
	struct str piece;
	uint32_t rank;

	assert(text.n <= BPE_TEXT_MAX);
	while ((piece.n = bpe_piece(b, text)) > 0) {
		piece.p = text.p;
		if (bpe_rank(b, piece, &rank))
			put(ctx, piece, rank);
		else
			each_part(b, scratch, piece, put, ctx);
		arena_restore(scratch, mark);
		text.p += piece.n;
		text.n -= piece.n;
	}
}
