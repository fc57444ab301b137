/* SPDX-License-Identifier: ISC */
/*
 * deflate: compress standard input to gzip (RFC 1951, RFC 1952) and print the
 * bytes as numbers with commas, for an array of C.  The page is embedded so.
 *
 * One block with its own codes.  Matches are searched among earlier places with
 * the same three bytes; a match is delayed if the next place has a longer one.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	IN_MAX = 1 << 20,
	WINDOW = 32768,
	MATCH_MIN = 3, MATCH_MAX = 258,
	TRIES = 1000,		/* places that are compared */
	HASHES = 1 << 15,
	LITERALS = 286, DISTANCES = 30, LENGTHS = 19,
	END = 256,
	BITS_MAX = 15		/* of a code; 7 of those of lengths */
};

static unsigned char in[IN_MAX + 1];
static size_t nin;

/* A literal byte if distance is 0, else a match. */
static struct item {
	uint16_t length, distance;
} items[IN_MAX];
static size_t nitems;

struct code {
	size_t n;		/* symbols */
	uint32_t count[LITERALS];
	unsigned char bits[LITERALS];
	uint16_t code[LITERALS];
};

static uint32_t hold;
static unsigned nhold, column;

static void
byte(unsigned c)
{
	printf("%s%u,", column % 16 == 0 ? "\n\t" : "", c & 255);
	column++;
}

static void
put(unsigned v, unsigned n)
{
	hold |= (uint32_t)v << nhold;
	for (nhold += n; nhold >= 8; nhold -= 8) {
		byte(hold);
		hold >>= 8;
	}
}

/* Codes begin with their highest bit. */
static void
put_symbol(const struct code *c, size_t s)
{
	unsigned v = 0, i;

	for (i = 0; i < c->bits[s]; i++)
		v |= (c->code[s] >> i & 1u) << (c->bits[s] - 1 - i);
	put(v, c->bits[s]);
}

/* The symbol of a length or distance, its first value and its extra bits. */
static size_t
length_symbol(unsigned n, unsigned *first, unsigned *extra)
{
	unsigned s, next = MATCH_MIN;

	for (s = 0; s < 28; s++) {
		*first = next;
		*extra = s < 8 ? 0 : s / 4 - 1;
		next += 1u << *extra;
		if (n < next && n != MATCH_MAX)
			return s + END + 1;
	}
	*first = MATCH_MAX;
	*extra = 0;
	return 28 + END + 1;
}

static size_t
distance_symbol(unsigned n, unsigned *first, unsigned *extra)
{
	unsigned s, next = 1;

	for (s = 0; ; s++) {
		*first = next;
		*extra = s < 4 ? 0 : s / 2 - 1;
		next += 1u << *extra;
		if (n < next)
			return s;
	}
}

static unsigned
hash(const unsigned char *p)
{
	return (p[0] * 506832829u ^ p[1] * 65599u ^ p[2] * 31u) % HASHES;
}

/* Places with the same hash: the last one, and for each the one before it. */
static size_t last[HASHES], before[IN_MAX];

static unsigned
longest(size_t at, size_t *distance)
{
	size_t place, max = nin - at < MATCH_MAX ? nin - at : MATCH_MAX, n;
	size_t best = 0;
	int tries = TRIES;

	if (max < MATCH_MIN)
		return 0;
	for (place = last[hash(in + at)]; place > 0 && tries-- > 0 &&
	    at - (place - 1) <= WINDOW; place = before[place - 1]) {
		for (n = 0; n < max && in[place - 1 + n] == in[at + n]; n++)
			;
		if (n > best) {
			best = n;
			*distance = at - (place - 1);
		}
	}
	return best < MATCH_MIN ? 0 : (unsigned)best;
}

/* Records a place; places are counted from 1. */
static void
remember(size_t at)
{
	unsigned h;

	if (nin - at < MATCH_MIN)
		return;
	h = hash(in + at);
	before[at] = last[h];
	last[h] = at + 1;
}

static void
find_items(void)
{
	size_t at = 0, end, distance = 0, other;
	unsigned n;

	while (at < nin) {
		n = longest(at, &distance);
		remember(at);
		if (n == 0 || (at + 1 < nin && longest(at + 1, &other) > n)) {
			items[nitems++] = (struct item){ in[at++], 0 };
			continue;
		}
		items[nitems++] = (struct item){ (uint16_t)n,
		    (uint16_t)distance };
		for (end = at + n, at++; at < end; at++)
			remember(at);
	}
}

/* The used node of least weight among n. */
static size_t
least(uint32_t *weight, size_t n)
{
	size_t i, min = n;

	for (i = 0; i < n; i++)
		if (weight[i] > 0 && (min == n || weight[i] < weight[min]))
			min = i;
	return min;
}

/* Sets the lengths of a Huffman code; returns the longest. */
static unsigned
set_bits(struct code *c)
{
	uint32_t weight[2 * LITERALS];
	size_t parent[2 * LITERALS] = { 0 }, used = 0, node = c->n, i, up, k;
	unsigned max = 0;

	for (i = 0; i < c->n; i++) {
		weight[i] = c->count[i];
		used += weight[i] > 0;
	}
	for (; used > 1; used--, node++) {
		uint32_t sum = 0;

		for (k = 0; k < 2; k++) {
			i = least(weight, node);
			parent[i] = node;
			sum += weight[i];
			weight[i] = 0;
		}
		weight[node] = sum;
	}
	memset(c->bits, 0, sizeof(c->bits));
	for (i = 0; i < c->n; i++) {
		for (up = c->count[i] > 0 ? parent[i] : 0; up > 0;
		    up = parent[up])
			c->bits[i]++;
		max = c->bits[i] > max ? c->bits[i] : max;
	}
	return max;
}

/*
 * Makes a code of at most `limit` bits: rare symbols count for more until it
 * is.  A code has two symbols at least, as some readers want.
 */
static void
make_code(struct code *c, unsigned limit)
{
	unsigned code = 0, n;
	size_t i;

	for (i = 0; i < 2; i++)
		if (c->count[i] == 0)
			c->count[i] = 1;
	while (set_bits(c) > limit)
		for (i = 0; i < c->n; i++)
			if (c->count[i] > 0)
				c->count[i] = c->count[i] / 2 + 1;
	for (n = 1; n <= limit; n++, code <<= 1)
		for (i = 0; i < c->n; i++)
			if (c->bits[i] == n)
				c->code[i] = (uint16_t)code++;
}

static struct code literals = { .n = LITERALS }, distances = { .n = DISTANCES },
    lengths = { .n = LENGTHS };

static void
count_items(void)
{
	unsigned first, extra;
	size_t i;

	for (i = 0; i < nitems; i++) {
		if (items[i].distance == 0) {
			literals.count[items[i].length]++;
			continue;
		}
		literals.count[length_symbol(items[i].length, &first, &extra)]++;
		distances.count[distance_symbol(items[i].distance, &first,
		    &extra)]++;
	}
	literals.count[END] = 1;
}

/* The lengths of the codes, each as itself (RFC 1951, section 3.2.7). */
static void
put_codes(void)
{
	static const unsigned char order[LENGTHS] = { 16, 17, 18, 0, 8, 7, 9, 6,
	    10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15 };
	size_t i;

	for (i = 0; i < LITERALS; i++)
		lengths.count[literals.bits[i]]++;
	for (i = 0; i < DISTANCES; i++)
		lengths.count[distances.bits[i]]++;
	make_code(&lengths, 7);
	put(LITERALS - 257, 5);
	put(DISTANCES - 1, 5);
	put(LENGTHS - 4, 4);
	for (i = 0; i < LENGTHS; i++)
		put(lengths.bits[order[i]], 3);
	for (i = 0; i < LITERALS; i++)
		put_symbol(&lengths, literals.bits[i]);
	for (i = 0; i < DISTANCES; i++)
		put_symbol(&lengths, distances.bits[i]);
}

static void
put_items(void)
{
	unsigned first, extra;
	size_t i;

	for (i = 0; i < nitems; i++) {
		if (items[i].distance == 0) {
			put_symbol(&literals, items[i].length);
			continue;
		}
		put_symbol(&literals, length_symbol(items[i].length, &first,
		    &extra));
		put(items[i].length - first, extra);
		put_symbol(&distances, distance_symbol(items[i].distance,
		    &first, &extra));
		put(items[i].distance - first, extra);
	}
	put_symbol(&literals, END);
}

static uint32_t
crc32(void)
{
	uint32_t crc = 0xFFFFFFFF;
	size_t i;
	int k;

	for (i = 0; i < nin; i++) {
		crc ^= in[i];
		for (k = 0; k < 8; k++)
			crc = crc >> 1 ^ (0xEDB88320 & (0 - (crc & 1)));
	}
	return ~crc;
}

static void
put_number(uint32_t n)
{
	int i;

	for (i = 0; i < 32; i += 8)
		byte(n >> i);
}

int
main(void)
{
	static const unsigned char head[] = { 31, 139, 8, 0, 0, 0, 0, 0, 2, 255 };
	size_t i;

	nin = fread(in, 1, sizeof(in), stdin);
	if (ferror(stdin) || nin > IN_MAX) {
		fprintf(stderr, "deflate: cannot read, or over %d bytes\n",
		    IN_MAX);
		return 1;
	}
	for (i = 0; i < sizeof(head); i++)
		byte(head[i]);
	find_items();
	count_items();
	make_code(&literals, BITS_MAX);
	make_code(&distances, BITS_MAX);
	put(1, 1);		/* the last block */
	put(2, 2);		/* with its own codes */
	put_codes();
	put_items();
	put(0, (8 - nhold) % 8);
	put_number(crc32());
	put_number((uint32_t)nin);
	putchar('\n');
	return fflush(stdout) != 0;
}
