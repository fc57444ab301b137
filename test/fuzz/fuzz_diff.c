/* SPDX-License-Identifier: ISC */
/*
 * Input: two texts; the first bytes are the length of the first one.  Their
 * diff, with any context, turns the first into the second.  A truncated diff
 * is not much longer than its limit.  The search returns equal sequences for
 * any limit of steps.
 */
#include <assert.h>
#include <string.h>

#include "base/base.h"
#include "lib/diff.h"
#include "lib/diff_internal.h"
#include "test/unit/lib/patch.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
check_diff(struct str a, struct str b, size_t context)
{
	struct diff_opts o = { .context = context };
	struct buf d = { 0 }, out = { 0 };
	size_t n = diff_unified(&d, a, b, &o);

	assert((n == 0) == str_eq(a, b) && (d.n == 0) == (n == 0));
	assert(patch_apply(a, buf_str(&d), &out));
	assert(str_eq(buf_str(&out), b));
	d.n = 0;
	o.max = 200;
	assert(diff_unified(&d, a, b, &o) == n);
	assert(d.n < o.max + 200);
	buf_free(&d);
	buf_free(&out);
}

static struct diff_seq
sequence(struct arena *mem, struct str s)
{
	uint32_t *id = NEW_N(mem, uint32_t, s.n);
	size_t i;

	for (i = 0; i < s.n; i++)
		id[i] = (unsigned char)s.p[i];
	return (struct diff_seq){ id, NEW_N(mem, unsigned char, s.n),
		(int)s.n };
}

static void
check_search(struct str s, struct str t, size_t steps)
{
	struct arena mem = { 0 };
	struct diff_seq a = sequence(&mem, s), b = sequence(&mem, t);
	int i, j;

	diff_search(&mem, a, b, steps);
	for (i = j = 0; i < a.n || j < b.n; i++, j++) {
		while (i < a.n && a.changed[i])
			i++;
		while (j < b.n && b.changed[j])
			j++;
		assert((i < a.n) == (j < b.n));
		assert(i == a.n || a.id[i] == b.id[j]);
	}
	arena_free(&mem);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str a, b;
	size_t at;

	if (size < 3)
		return 0;
	a.p = (const char *)data + 3;
	at = size == 3 ? 0 : (data[0] | (size_t)data[1] << 8) % (size - 2);
	a.n = at;
	b = (struct str){ a.p + at, size - 3 - at };
	check_diff(a, b, data[2] % 5);
	check_search(a, b, (size_t)data[2] * data[2]);
	return 0;
}
