/* SPDX-License-Identifier: ISC */
/*
 * SipHash-2-4: two rounds for each eight bytes, four at the end.
 */
#include "lib/siphash.h"

#include <stddef.h>

static uint64_t
load(const unsigned char *p, size_t n)
{
	uint64_t x = 0;

	while (n-- > 0)
		x = x << 8 | p[n];
	return x;
}

static uint64_t
turn(uint64_t x, unsigned bits)
{
	return x << bits | x >> (64 - bits);
}

static void
rounds(uint64_t v[4], unsigned n)
{
	while (n-- > 0) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = turn(v[1], 13) ^ v[0];
		v[3] = turn(v[3], 16) ^ v[2];
		v[0] = turn(v[0], 32);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = turn(v[1], 17) ^ v[2];
		v[3] = turn(v[3], 21) ^ v[0];
		v[2] = turn(v[2], 32);
	}
}

uint64_t
siphash_sum(const unsigned char key[SIPHASH_KEY], struct str s)
{
	const unsigned char *p = (const unsigned char *)s.p;
	uint64_t k0 = load(key, 8), k1 = load(key + 8, 8), m;
	uint64_t v[4] = { k0 ^ UINT64_C(0x736f6d6570736575),
		k1 ^ UINT64_C(0x646f72616e646f6d),
		k0 ^ UINT64_C(0x6c7967656e657261),
		k1 ^ UINT64_C(0x7465646279746573) };
	size_t n = s.n;

	for (; n >= 8; n -= 8, p += 8) {
		m = (uint64_t)p[0] | (uint64_t)p[1] << 8 |
		    (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24 |
		    (uint64_t)p[4] << 32 | (uint64_t)p[5] << 40 |
		    (uint64_t)p[6] << 48 | (uint64_t)p[7] << 56;
		v[3] ^= m;
		rounds(v, 2);
		v[0] ^= m;
	}
	m = (uint64_t)s.n << 56 | load(p, n);
	v[3] ^= m;
	rounds(v, 2);
	v[0] ^= m;
	v[2] ^= 0xff;
	rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}
