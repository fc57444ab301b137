/* SPDX-License-Identifier: ISC */
/*
 * sha256.h: sha256_.  SHA-256 (FIPS 180-4) of bytes that arrive in pieces.
 */
#ifndef WAZA_SHA256_H
#define WAZA_SHA256_H

#include <stdint.h>

#include "base/base.h"

enum {
	SHA256_BYTES = 32,		/* of a hash */
	SHA256_HEX = 65			/* in hexadecimal, with its NUL */
};

struct sha256 {
	uint32_t h[8];
	uint64_t n;			/* bytes so far */
	unsigned char block[64];
};

/* Start, add bytes, and end with the hash in hexadecimal. */
void sha256_init(struct sha256 *);
void sha256_put(struct sha256 *, struct str);
void sha256_end(struct sha256 *, char hex[SHA256_HEX]);

/* The same for bytes in one piece. */
void sha256_hex(struct str, char hex[SHA256_HEX]);
/* The same as bytes. */
void sha256_raw(struct str, unsigned char out[SHA256_BYTES]);

#endif
