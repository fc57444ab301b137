/* SPDX-License-Identifier: ISC */
/* SHA-256 as in FIPS 180-4; sections of it are cited below. */
#include "lib/sha256.h"

#include <string.h>

/* The first 32 bits of the fractions of cube roots, section 4.2.2. */
static const uint32_t cubes[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
	0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
	0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
	0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
	0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
	0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
	0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
	0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

void
sha256_init(struct sha256 *s)
{
	static const uint32_t roots[8] = {	/* of squares, 5.3.3 */
		0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
		0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
	};

	memcpy(s->h, roots, sizeof(roots));
	s->n = 0;
}

static uint32_t
turn(uint32_t x, unsigned n)
{
	return x >> n | x << (32 - n);
}

/* The message schedule, 6.2.2 step 1. */
static void
expand(const unsigned char *p, uint32_t w[64])
{
	uint32_t x, y;
	int i;

	for (i = 0; i < 16; i++, p += 4)
		w[i] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
		    (uint32_t)p[2] << 8 | p[3];
	for (; i < 64; i++) {
		x = w[i - 15];
		y = w[i - 2];
		w[i] = (turn(y, 17) ^ turn(y, 19) ^ y >> 10) + w[i - 7] +
		    (turn(x, 7) ^ turn(x, 18) ^ x >> 3) + w[i - 16];
	}
}

static void
mix(struct sha256 *s, const unsigned char *block)
{
	uint32_t w[64], v[8], x, y;
	int i;

	expand(block, w);
	memcpy(v, s->h, sizeof(v));
	for (i = 0; i < 64; i++) {
		x = v[7] + (turn(v[4], 6) ^ turn(v[4], 11) ^ turn(v[4], 25)) +
		    ((v[4] & v[5]) ^ (~v[4] & v[6])) + cubes[i] + w[i];
		y = (turn(v[0], 2) ^ turn(v[0], 13) ^ turn(v[0], 22)) +
		    ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
		memmove(v + 1, v, 7 * sizeof(v[0]));
		v[4] += x;
		v[0] = x + y;
	}
	for (i = 0; i < 8; i++)
		s->h[i] += v[i];
}

void
sha256_put(struct sha256 *s, struct str in)
{
	size_t have = (size_t)(s->n % 64), n;

	s->n += in.n;
	while (in.n > 0) {
		n = 64 - have < in.n ? 64 - have : in.n;
		memcpy(s->block + have, in.p, n);
		in.p += n;
		in.n -= n;
		have += n;
		if (have < 64)
			return;
		mix(s, s->block);
		have = 0;
	}
}

/* Pads and mixes the last block: then h is the hash. */
static void
finish(struct sha256 *s)
{
	unsigned char tail[72] = { 0x80 };
	uint64_t bits = s->n * 8;
	size_t n = 64 - (size_t)(s->n + 8) % 64, i;

	for (i = 0; i < 8; i++)
		tail[n + i] = (unsigned char)(bits >> (56 - 8 * i));
	sha256_put(s, (struct str){ (const char *)tail, n + 8 });
}

void
sha256_end(struct sha256 *s, char hex[SHA256_HEX])
{
	static const char digits[] = "0123456789abcdef";
	size_t i;

	finish(s);
	for (i = 0; i < 64; i++)
		hex[i] = digits[s->h[i / 8] >> (28 - i % 8 * 4) & 15];
	hex[64] = '\0';
}

void
sha256_hex(struct str in, char hex[SHA256_HEX])
{
	struct sha256 s;

	sha256_init(&s);
	sha256_put(&s, in);
	sha256_end(&s, hex);
}

void
sha256_raw(struct str in, unsigned char out[SHA256_BYTES])
{
	struct sha256 s;
	size_t i;

	sha256_init(&s);
	sha256_put(&s, in);
	finish(&s);
	for (i = 0; i < SHA256_BYTES; i++)
		out[i] = (unsigned char)(s.h[i / 4] >> (24 - i % 4 * 8));
}
