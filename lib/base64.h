/* SPDX-License-Identifier: ISC */
/* base64.h: base64_.  Base64 with padding (RFC 4648, section 4). */
#ifndef WAZA_BASE64_H
#define WAZA_BASE64_H

#include <stdbool.h>
#include <stddef.h>

/* The bytes of n bytes in base64, a constant expression. */
#define BASE64_SIZE(n) (((n) + 2) / 3 * 4)

/* Writes BASE64_SIZE(n) characters, without a NUL. */
void base64_put(const unsigned char *, size_t n, char *out);
/* Whether a character is one of the 64, not padding. */
bool base64_has(char);

#endif
