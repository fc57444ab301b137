/* SPDX-License-Identifier: ISC */
/* Base64 (RFC 4648); base64.h describes it. */
#include "lib/base64.h"

#include <stdint.h>
#include <string.h>

static const char letters[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void
base64_put(const unsigned char *p, size_t n, char *out)
{
	uint32_t v;
	size_t i, k;

	for (i = 0; i < n; i += 3) {
		for (v = 0, k = i; k < i + 3; k++)
			v = v << 8 | (k < n ? p[k] : 0u);
		for (k = 0; k < 4; k++)
			*out++ = i + k > n ? '=' :
			    letters[v >> (18 - 6 * k) & 63];
	}
}

bool
base64_has(char c)
{
	return c != '\0' && strchr(letters, c) != NULL;
}
