/* SPDX-License-Identifier: ISC */
/*
 * Input: gzip.  The content is at most as large as the limit.  Accepted input is
 * accepted with a limit of its size, too, but not with one byte less.
 */
#include <assert.h>

#include "base/base.h"
#include "lib/gzip/inflate.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

enum { MAX = 1 << 20 };

static int
try(struct str in, size_t max, size_t *n)
{
	struct buf b = { 0 };
	struct err e = { 0 };
	int rc = inflate_gzip(&b, in, max, &e);

	assert(b.n <= max);
	assert(rc == 0 || (e.code != ERR_NONE && e.msg[0] != '\0'));
	*n = b.n;
	buf_free(&b);
	return rc;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str in = { (const char *)data, size };
	size_t n, again;

	if (try(in, MAX, &n) != 0)
		return 0;
	assert(try(in, n, &again) == 0 && again == n);
	assert(n == 0 || try(in, n - 1, &again) != 0);
	return 0;
}
