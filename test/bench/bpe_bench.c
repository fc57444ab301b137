/* SPDX-License-Identifier: ISC */
/*
 * Tokens by byte pair encoding: MB/s of processor time on one core, the best
 * of several rounds.  $VOCAB names a vocabulary; without it, one is made of
 * the words of the text.  "prose" is the files named on standard input, one
 * path a line; the other texts are made here.
 *
 *	find ... -name '*.md' | VOCAB=o200k_base.tiktoken bpe_bench [rounds]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/base.h"
#include "base/os.h"
#include "lib/bpe/bpe.h"
#include "test/tool/slow_bpe.h"

enum { PROSE = 8 << 20, OTHER = 1 << 20, FILE_MAX = 1 << 20 };

static void
read_prose(struct buf *b)
{
	struct arena a = { 0 };
	char line[4096], *room;
	struct str s;
	size_t n;
	struct err e;

	while (b->n < PROSE && fgets(line, sizeof(line), stdin) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		if (os_read_plain(&a, line, FILE_MAX, &s, &e) == 0)
			buf_put(b, s);
		arena_free(&a);
	}
	if (b->n == 0)
		buf_puts(b, "No files were named, so this sentence is all. ");
	while (b->n < PROSE) {
		n = b->n < PROSE - b->n ? b->n : PROSE - b->n;
		room = buf_room(b, n);
		memcpy(room, b->p, n);
		b->n += n;
	}
}

/* Each piece of the text with at least two bytes, and its first halves. */
static struct bpe *
make(struct arena *a, struct str text)
{
	struct buf b = { 0 };
	struct bpe *bytes, *all;
	struct err e = { 0 };
	struct str v[20000], s;
	size_t n = 0, i, k, len;
	unsigned rank = slow_bpe_bytes(&b);

	bytes = bpe_read(a, buf_str(&b), BPE_O200K, &e);
	for (k = 2; k < 16; k++)
		for (i = 0; i < text.n / 8 && n < COUNTOF(v); i += len) {
			s = (struct str){ text.p + i, text.n - i };
			len = bpe_piece(bytes, s);
			if (len >= k)
				v[n++] = (struct str){ s.p, k };
		}
	for (k = 2; k < 16; k++) {
		size_t from = n, to = 0;

		for (i = 0; i < n; i++)
			if (v[i].n == k) {
				from = from == n ? i : from;
				to = i + 1;
			}
		if (from < to)
			qsort(v + from, to - from, sizeof(*v), str_order);
		for (i = from; i < to; i++)
			if (i == from || !str_eq(v[i], v[i - 1]))
				slow_bpe_token(&b, v[i], rank++);
	}
	all = bpe_read(a, buf_str(&b), BPE_O200K, &e);
	buf_free(&b);
	return all;
}

static struct bpe *
vocabulary(struct arena *a, struct str text)
{
	const char *path = getenv("VOCAB");
	struct err e = { 0 };
	enum bpe_rule rule;
	struct bpe *b = NULL;
	struct str s;

	if (path == NULL)
		return make(a, text);
	if (bpe_rule_of(str_of(path), &rule, &e) == 0 &&
	    os_read_file(a, path, BPE_FILE_MAX, &s, &e) == 0)
		b = bpe_read(a, s, rule, &e);
	if (b == NULL)
		fprintf(stderr, "%s: %s\n", path, e.msg);
	return b;
}

static void
measure(struct bpe *b, const char *name, struct str text, int rounds)
{
	struct arena scratch = { 0 };
	double best = 0, s;
	int64_t n = 0;
	clock_t t;

	while (rounds-- > 0) {
		t = clock();
		n = bpe_count(b, &scratch, text);
		s = (double)(clock() - t) / CLOCKS_PER_SEC;
		if (s > 0 && (double)text.n / s / 1e6 > best)
			best = (double)text.n / s / 1e6;
	}
	printf("%-22s %8.1f MB/s %10lld tokens\n", name, best, (long long)n);
	arena_free(&scratch);
}

int
main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 5;
	struct buf prose = { 0 }, one = { 0 }, words = { 0 };
	struct arena a = { 0 };
	struct bpe *b;
	uint32_t x = 1;
	size_t i;

	read_prose(&prose);
	b = vocabulary(&a, buf_str(&prose));
	if (b == NULL)
		return 1;
	for (i = 0; i < OTHER; i++) {
		x = x * 1664525 + 1013904223;
		buf_putc(&one, 'a');
		buf_putc(&words, i % 32 == 0 ? ' ' : (char)('a' + (x >> 24) %
		    26));
	}
	measure(b, "prose", buf_str(&prose), rounds);
	measure(b, "words of 31 letters", buf_str(&words), rounds);
	measure(b, "one letter, 1 MiB", buf_str(&one), rounds);
	buf_free(&prose);
	buf_free(&one);
	buf_free(&words);
	arena_free(&a);
	return 0;
}
