/* SPDX-License-Identifier: ISC */
/*
 * siphash.h: siphash_.  SipHash-2-4 (Aumasson and Bernstein, 2012): a short
 * keyed hash that is several times as fast as SHA-256.
 */
#ifndef WAZA_SIPHASH_H
#define WAZA_SIPHASH_H

#include <stdint.h>

#include "base/base.h"

enum { SIPHASH_KEY = 16 };	/* bytes of a key */

/* The hash of the bytes under that key. */
uint64_t siphash_sum(const unsigned char key[SIPHASH_KEY], struct str);

#endif
