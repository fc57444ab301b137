/* SPDX-License-Identifier: ISC */
/*
 * Input: a pattern, a newline, a text.  All engines must agree on whether the
 * text matches, and those that report offsets on the offsets.  A long text
 * made of many copies must match if one copy does, unless there are assertions.
 */
#include <assert.h>
#include <string.h>

#include "base/base.h"
#include "lib/re/re.h"
#include "lib/re/re_internal.h"

enum {
	SPANS = 8,
	LONG  = 5000,		/* above 4096, where re_lit_deepen() is used */
	LANES = 20000,
	WORK  = 1 << 20,
	LARGE = 2000		/* instructions; more are too slow here */
};

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
check_spans(const struct re_span *v, size_t n, struct str text, size_t from)
{
	size_t i;

	assert(v[0].start != RE_UNSET && v[0].start >= from);
	for (i = 0; i < n; i++) {
		assert((v[i].start == RE_UNSET) == (v[i].end == RE_UNSET));
		if (v[i].start != RE_UNSET)
			assert(v[i].start <= v[i].end && v[i].end <= text.n);
	}
}

static void
check_found(struct re *re, struct str text, size_t from, bool yes)
{
	struct re_span a[SPANS], b[SPANS];
	size_t start = 0;

	assert(re_dfa_search(re, text, from, NULL) == yes);
	assert(re_dfa_search(re, text, from, &start) == yes);
	assert(from > 0 || re_test(re, text) == yes);
	assert(re_match(re, text, from, a, SPANS) == yes);
	if (!yes)
		return;
	check_spans(a, SPANS, text, from);
	assert(a[0].start >= start);
	assert(re_nfa_pike(re, text, from, b, SPANS));
	assert(memcmp(a, b, sizeof(a)) == 0);
	if (re_nfa_fits(re, text.n - from)) {
		assert(re_nfa_back(re, text, from, b, SPANS));
		assert(memcmp(a, b, sizeof(a)) == 0);
	}
}

static void
check(struct re *re, struct str text, size_t from)
{
	bool yes = re_dfa_plain(re, text, from);

	check_found(re, text, from, yes);
	if (re_dfa_use_bits(re))
		check_found(re, text, from, yes);
	re->dfa->bits_left = 0;
}

/*
 * The lanes, the skipping and the full cache need a text of some length,
 * which short inputs become by repetition.
 */
static void
check_long(struct re *re, struct str text)
{
	size_t n = text.n % 4 == 0 && re->nprog <= 200 ? LANES : LONG;
	struct buf b = { 0 };
	bool yes;

	if (re->nprog > LARGE || text.n % 4 == 2)
		return;
	if (text.n == 0)
		text = STR("x");
	while (b.n < n)
		buf_put(&b, text);
	yes = re_dfa_plain(re, buf_str(&b), 0);
	assert(re_dfa_search(re, buf_str(&b), 0, NULL) == yes);
	assert(re_test(re, buf_str(&b)) == yes);
	if (re_dfa_use_bits(re))
		assert(re_dfa_search(re, buf_str(&b), 0, NULL) == yes);
	re->dfa->bits_left = 0;
	if (re->nprog <= 50 && n == LONG)
		check(re, buf_str(&b), 0);
	buf_free(&b);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const char *p = (const char *)data;
	const char *nl = n > 0 ? memchr(p, '\n', n) : NULL;
	struct arena a = { 0 };
	struct err e = { 0 };
	struct str pattern, text;
	struct re *re;

	if (nl == NULL)
		return 0;
	pattern = (struct str){ p, (size_t)(nl - p) };
	text = (struct str){ nl + 1, n - pattern.n - 1 };
	re = re_compile(&a, pattern, &e);
	if (re == NULL) {
		assert(e.code == ERR_SYNTAX || e.code == ERR_LIMIT);
		assert(e.col >= 1 && e.col <= pattern.n + 1 && e.msg[0]);
	} else {
		if (text.n > WORK / re->nprog)
			text.n = WORK / re->nprog;
		check(re, text, 0);
		check(re, text, text.n / 2);
		check_long(re, text);
	}
	arena_free(&a);
	return 0;
}
