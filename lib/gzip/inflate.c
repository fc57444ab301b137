/* SPDX-License-Identifier: ISC */
/*
 * A code is decoded bit by bit from the number of codes of each length: codes
 * of the same length are consecutive numbers, in the order of their symbols
 * (RFC 1951, section 3.2.2).  Simple rather than fast: the page is small.
 *
 * Behind the end of the input are zero bits; .over tells that they were used.
 */
#include "lib/gzip/inflate.h"

#include <string.h>

enum {
	BITS_MAX = 15,		/* of a code */
	LITERALS = 288,
	DISTANCES = 30,
	END = 256,		/* symbol: end of the block */
	HEAD = 10, TAIL = 8	/* bytes of a gzip member */
};

struct code {
	uint16_t count[BITS_MAX + 1];	/* of symbols, by their length */
	uint16_t symbol[LITERALS];	/* in the order of their codes */
};

struct reader {
	const unsigned char *p, *end;
	unsigned hold, nhold;	/* bits that were read, not yet used */
	bool over;
	struct buf *out;
	size_t max;
	struct err *err;
};

static int
fail(struct reader *r, const char *msg)
{
	return err_set(r->err, ERR_SYNTAX, "gzip: %s", msg);
}

static unsigned
bits(struct reader *r, unsigned n)
{
	unsigned v;

	while (r->nhold < n) {
		if (r->p < r->end)
			r->hold |= (unsigned)*r->p++ << r->nhold;
		else
			r->over = true;
		r->nhold += 8;
	}
	v = r->hold & ((1u << n) - 1);
	r->hold >>= n;
	r->nhold -= n;
	return v;
}

/*
 * Makes the code of n lengths.  An incomplete code is accepted only if it has
 * a single symbol, as for distances (section 3.2.7).
 */
static bool
make_code(struct code *c, const unsigned char *lengths, size_t n)
{
	uint16_t at[BITS_MAX + 2] = { 0 };
	int left = 1;
	size_t i;

	memset(c->count, 0, sizeof(c->count));
	for (i = 0; i < n; i++)
		c->count[lengths[i]]++;
	for (i = 1; i <= BITS_MAX; i++) {
		left = left * 2 - c->count[i];
		if (left < 0)
			return false;
		at[i + 1] = (uint16_t)(at[i] + c->count[i]);
	}
	for (i = 0; i < n; i++)
		if (lengths[i] > 0)
			c->symbol[at[lengths[i]]++] = (uint16_t)i;
	return left == 0 || n - c->count[0] <= 1;
}

/* The next symbol, or -1 if no symbol has this code. */
static int
symbol(struct reader *r, const struct code *c)
{
	int code = 0, first = 0, at = 0;
	size_t n;

	for (n = 1; n <= BITS_MAX; n++) {
		int count = c->count[n];

		code |= (int)bits(r, 1);
		if (code - count < first)
			return c->symbol[at + code - first];
		at += count;
		first = (first + count) * 2;
		code *= 2;
	}
	return -1;
}

static int
put(struct reader *r, const char *p, size_t n)
{
	if (n > r->max - r->out->n)
		return err_set(r->err, ERR_LIMIT,
		    "gzip: the content is larger than %zu bytes", r->max);
	buf_put(r->out, (struct str){ p, n });
	return 0;
}

/* Section 3.2.4. */
static int
stored(struct reader *r)
{
	size_t n, check;

	bits(r, r->nhold % 8);
	n = bits(r, 16);
	check = bits(r, 16);
	if (n != (check ^ 0xFFFF) || n > (size_t)(r->end - r->p))
		return fail(r, "a stored block has a wrong length");
	if (put(r, (const char *)r->p, n) != 0)
		return -1;
	r->p += n;
	return 0;
}

/* Copies bytes of the content, which may overlap with the copy. */
static int
copy(struct reader *r, size_t n, size_t distance)
{
	char c;

	if (distance > r->out->n)
		return fail(r, "a distance is too large");
	while (n-- > 0) {
		c = r->out->p[r->out->n - distance];
		if (put(r, &c, 1) != 0)
			return -1;
	}
	return 0;
}

/* The lengths and distances of section 3.2.5: first value and extra bits. */
static const struct range {
	uint16_t first;
	unsigned char extra;
} length_rows[] = {
	{ 3, 0 }, { 4, 0 }, { 5, 0 }, { 6, 0 }, { 7, 0 }, { 8, 0 }, { 9, 0 }, { 10, 0 },
	{ 11, 1 }, { 13, 1 }, { 15, 1 }, { 17, 1 }, { 19, 2 }, { 23, 2 }, { 27, 2 }, { 31, 2 },
	{ 35, 3 }, { 43, 3 }, { 51, 3 }, { 59, 3 }, { 67, 4 }, { 83, 4 }, { 99, 4 }, { 115, 4 },
	{ 131, 5 }, { 163, 5 }, { 195, 5 }, { 227, 5 }, { 258, 0 },
}, distance_rows[DISTANCES] = {
	{ 1, 0 }, { 2, 0 }, { 3, 0 }, { 4, 0 }, { 5, 1 }, { 7, 1 }, { 9, 2 }, { 13, 2 },
	{ 17, 3 }, { 25, 3 }, { 33, 4 }, { 49, 4 }, { 65, 5 }, { 97, 5 }, { 129, 6 }, { 193, 6 },
	{ 257, 7 }, { 385, 7 }, { 513, 8 }, { 769, 8 }, { 1025, 9 }, { 1537, 9 }, { 2049, 10 },
	{ 3073, 10 }, { 4097, 11 }, { 6145, 11 }, { 8193, 12 }, { 12289, 12 }, { 16385, 13 },
	{ 24577, 13 },
};

static int
matched(struct reader *r, size_t length_symbol, const struct code *distances)
{
	const struct range *row;
	size_t n;
	int s;

	if (length_symbol >= COUNTOF(length_rows))
		return fail(r, "a length has no meaning");
	row = &length_rows[length_symbol];
	n = row->first + bits(r, row->extra);
	s = symbol(r, distances);
	if (s < 0 || s >= DISTANCES)
		return fail(r, "a distance has no meaning");
	row = &distance_rows[s];
	return copy(r, n, row->first + bits(r, row->extra));
}

static int
compressed(struct reader *r, const struct code *literals,
    const struct code *distances)
{
	for (;;) {
		int s = symbol(r, literals);
		char c = (char)s;

		if (s < 0 || r->over)
			return fail(r, "the data is cut or damaged");
		if (s == END)
			return 0;
		if (s < END ? put(r, &c, 1) != 0 :
		    matched(r, (size_t)s - END - 1, distances) != 0)
			return -1;
	}
}

/* Section 3.2.6. */
static int
fixed(struct reader *r)
{
	unsigned char lengths[LITERALS];
	struct code literals, distances;

	memset(lengths, 8, 144);
	memset(lengths + 144, 9, 256 - 144);
	memset(lengths + 256, 7, 280 - 256);
	memset(lengths + 280, 8, LITERALS - 280);
	make_code(&literals, lengths, LITERALS);
	memset(lengths, 5, 32);
	make_code(&distances, lengths, 32);
	return compressed(r, &literals, &distances);
}

/* Reads n code lengths, which are themselves compressed (section 3.2.7). */
static int
read_lengths(struct reader *r, const struct code *c, unsigned char *lengths,
    size_t n)
{
	size_t i = 0, times;
	unsigned char value;
	int s;

	while (i < n) {
		s = symbol(r, c);
		if (s < 0 || r->over || (s == 16 && i == 0))
			return fail(r, "the lengths of codes are damaged");
		value = s < 16 ? (unsigned char)s : s > 16 ? 0 : lengths[i - 1];
		times = s < 16 ? 1 : s == 16 ? 3 + bits(r, 2) :
		    s == 17 ? 3 + bits(r, 3) : 11 + bits(r, 7);
		if (times > n - i)
			return fail(r, "there are too many lengths of codes");
		memset(lengths + i, value, times);
		i += times;
	}
	return 0;
}

static int
dynamic(struct reader *r)
{
	static const unsigned char order[] = { 16, 17, 18, 0, 8, 7, 9, 6, 10,
	    5, 11, 4, 12, 3, 13, 2, 14, 1, 15 };
	unsigned char lengths[LITERALS + 32] = { 0 };
	struct code literals, distances;
	size_t nliterals = 257 + bits(r, 5), ndistances = 1 + bits(r, 5);
	size_t i, n = 4 + bits(r, 4);

	for (i = 0; i < n; i++)
		lengths[order[i]] = (unsigned char)bits(r, 3);
	if (nliterals > 286 || ndistances > DISTANCES ||
	    !make_code(&literals, lengths, COUNTOF(order)))
		return fail(r, "the codes are damaged");
	if (read_lengths(r, &literals, lengths, nliterals + ndistances) != 0)
		return -1;
	if (lengths[END] == 0 || !make_code(&literals, lengths, nliterals) ||
	    !make_code(&distances, lengths + nliterals, ndistances))
		return fail(r, "the codes are damaged");
	return compressed(r, &literals, &distances);
}

static int
blocks(struct reader *r)
{
	bool last;
	int rc;

	do {
		last = bits(r, 1) != 0;
		switch (bits(r, 2)) {
		case 0: rc = stored(r); break;
		case 1: rc = fixed(r); break;
		case 2: rc = dynamic(r); break;
		default: rc = fail(r, "a block has an unknown type");
		}
		if (rc == 0 && r->over)
			rc = fail(r, "the data is cut");
	} while (rc == 0 && !last);
	return rc;
}

static uint32_t
crc32(struct str s)
{
	uint32_t crc = 0xFFFFFFFF;
	size_t i;
	int k;

	for (i = 0; i < s.n; i++) {
		crc ^= (unsigned char)s.p[i];
		for (k = 0; k < 8; k++)
			crc = crc >> 1 ^ (0xEDB88320 & (0 - (crc & 1)));
	}
	return ~crc;
}

static uint32_t
little(const unsigned char *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
	    (uint32_t)p[3] << 24;
}

int
inflate_gzip(struct buf *out, struct str in, size_t max, struct err *e)
{
	static const unsigned char magic[4] = { 0x1F, 0x8B, 8, 0 };
	const unsigned char *p = (const unsigned char *)in.p;
	struct reader r = { .out = out, .max = max, .err = e };

	/* names and comments in the head are not needed here */
	if (in.n < HEAD + TAIL || memcmp(p, magic, sizeof(magic)) != 0)
		return fail(&r, "the head is damaged or has optional fields");
	r.p = p + HEAD;
	r.end = p + in.n - TAIL;
	if (blocks(&r) != 0)
		return -1;
	if (r.p != r.end || little(r.end) != crc32(buf_str(out)) ||
	    little(r.end + 4) != (uint32_t)out->n)
		return fail(&r, "checksum or length do not match");
	return 0;
}
