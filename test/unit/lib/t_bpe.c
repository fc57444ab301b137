/* SPDX-License-Identifier: ISC */
/*
 * Byte pair encoding with small vocabularies that are made here.  Whole ones
 * are compared with another implementation in test/interop/tokens.js.
 */
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "lib/bpe/bpe.h"
#include "test/tool/slow_bpe.h"
#include "test/tool/tap.h"

/* Reads a vocabulary of all bytes and these tokens, in order of rank. */
static struct bpe *
make(struct arena *a, enum bpe_rule rule, const char *const *tokens)
{
	struct buf b = { 0 };
	struct bpe *bpe;
	struct err e = { 0 };
	unsigned rank = slow_bpe_bytes(&b);

	for (; *tokens != NULL; tokens++)
		slow_bpe_token(&b, str_of(*tokens), rank++);
	bpe = bpe_read(a, buf_str(&b), rule, &e);
	if (bpe == NULL)
		printf("# %u:%u: %s\n", e.line, e.col, e.msg);
	buf_free(&b);
	return bpe;
}

/* The pieces of a text, with bars between them. */
static const char *
pieces(const struct bpe *b, struct str text)
{
	static struct buf out;
	size_t n;

	out.n = 0;
	for (; (n = bpe_piece(b, text)) > 0; text.p += n, text.n -= n) {
		if (out.n > 0)
			buf_putc(&out, '|');
		buf_put(&out, (struct str){ text.p, n });
	}
	buf_putc(&out, '\0');
	return out.p;
}

struct split {
	struct str text;
	const char *o200k, *cl100k;	/* NULL: the same */
};

#define T(lit) { "" lit, sizeof(lit) - 1 }
static const struct split splits[] = {
	{ T("Hello, world"), "Hello|,| world", NULL },
	{ T("I'm it's WE'LL don'T"), "I'm| it's| WE'LL| don'T",
	    "I|'m| it|'s| WE|'LL| don|'T" },
	{ T("'sam 'Re x'"), "'sam| '|Re| x|'", "'s|am| '|Re| x|'" },
	{ T("it'\xC5\xBF x"), "it'\xC5\xBF| x", "it|'\xC5\xBF| x" },
	{ T("camelCase HTTPServer XMLs"),
	    "camel|Case| HTTPServer| XMLs", "camelCase| HTTPServer| XMLs" },
	{ T("ABC abC aBC"), "ABC| ab|C| a|BC", "ABC| abC| aBC" },
	{ T("12345 6"), "123|45| |6", NULL },
	{ T("a//b\n\n/c"), "a|//|b|\n\n|/c", NULL },
	{ T("a.//\n/\nb"), "a|.//\n/\n|b", "a|.//\n|/\n|b" },
	{ T("(foo) [bar]"), "(foo|)| [|bar|]", NULL },
	{ T("a  b   c"), "a| | b|  | c", NULL },
	{ T("a \n  \n b  "), "a| \n  \n| b|  ", NULL },
	{ T("a\tb\t\tc"), "a|\tb|\t|\tc", NULL },
	{ T("  1"), " | |1", NULL },
	{ T(" \r\n1"), " \r\n|1", NULL },
	{ T("\xE4\xB8\xAD" "A b"), "\xE4\xB8\xAD|A| b", "\xE4\xB8\xAD" "A| b" },
	{ T("A\xE4\xB8\xAD" "b1"), "A\xE4\xB8\xAD" "b|1", NULL },
	/* e and a combining acute accent; the accent at the start */
	{ T("e\xCC\x81" "a"), "e\xCC\x81" "a", "e|\xCC\x81" "a" },
	{ T("\xCC\x81" "AB"), "\xCC\x81|AB", "\xCC\x81" "AB" },
	{ T("\xCC\x81" "Ab"), "\xCC\x81" "Ab", NULL },
	/* no-break space, next line, ideographic space */
	{ T("a\xC2\xA0" "b"), "a|\xC2\xA0" "b", NULL },
	{ T("a\xC2\x85\xE3\x80\x80" "1"), "a|\xC2\x85|\xE3\x80\x80|1", NULL },
	/* Arabic digits are numbers; a byte order mark is not white space */
	{ T("\xD9\xA1\xD9\xA2\xD9\xA3\xD9\xA4"),
	    "\xD9\xA1\xD9\xA2\xD9\xA3|\xD9\xA4", NULL },
	{ T("\xEF\xBB\xBF# x"), "\xEF\xBB\xBF#| x", NULL },
	/* invalid UTF-8, and NUL */
	{ T("a\xFF\xC3 b"), "a|\xFF\xC3| b", NULL },
	{ T("a\xFF" "b"), "a|\xFF" "b", NULL },
	{ T(""), "", NULL },
};

static void
test_split(void)
{
	static const char *const none[] = { NULL };
	struct arena a = { 0 };
	struct bpe *o = make(&a, BPE_O200K, none);
	struct bpe *c = make(&a, BPE_CL100K, none);
	const struct split *s;
	char name[40];
	size_t i;

	for (i = 0; i < COUNTOF(splits); i++) {
		s = &splits[i];
		snprintf(name, sizeof(name), "text %zu", i);
		tap_ok(strcmp(pieces(o, s->text), s->o200k) == 0, name,
		    __FILE__, __LINE__);
		tap_ok(strcmp(pieces(c, s->text), s->cl100k != NULL ?
		    s->cl100k : s->o200k) == 0, name, __FILE__, __LINE__);
	}
	OK(bpe_piece(o, STR("\0\0a")) == 2);
	arena_free(&a);
}

static void
test_merge(void)
{
	static const char *const tokens[] = { "ab", "bc", "abc", "aa", "aaaa",
		"xyz", "he", "ll", "hell", "llo", "hello", NULL };
	struct arena a = { 0 }, scratch = { 0 };
	struct bpe *b = make(&a, BPE_O200K, tokens);
	static const struct {
		const char *text;
		int64_t n;
	} rows[] = {
		{ "", 0 }, { "a", 1 }, { "ab", 1 }, { "abc", 1 },
		{ "abcd", 2 },		/* ab before bc, then abc */
		{ "bbc", 2 }, { "abab", 2 },
		{ "aaa", 2 },		/* the leftmost pair */
		{ "aaaaa", 2 }, { "aaaaaaa", 3 },
		{ "xyz", 1 },		/* no pair of it is a token */
		{ "xyzx", 4 },
		{ "hello", 1 }, { "hellol", 2 },
		{ "ab ab", 3 }, { "hello hello", 3 },
	};
	size_t i;

	for (i = 0; i < COUNTOF(rows); i++)
		tap_ok(bpe_count(b, &scratch, str_of(rows[i].text)) ==
		    rows[i].n, rows[i].text, __FILE__, __LINE__);
	/* again, from the cache */
	for (i = 0; i < COUNTOF(rows); i++)
		tap_ok(bpe_count(b, &scratch, str_of(rows[i].text)) ==
		    rows[i].n, rows[i].text, __FILE__, __LINE__);
	arena_free(&scratch);
	arena_free(&a);
}

/* Pieces that differ only in their length, as the cache stores them. */
static void
test_cache(void)
{
	static const char *const tokens[] = { NULL };
	struct arena a = { 0 }, scratch = { 0 };
	struct bpe *b = make(&a, BPE_O200K, tokens);
	int64_t i, bad = 0;

	for (i = 1; i <= 20; i++)
		bad += bpe_count(b, &scratch, (struct str){
		    "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", (size_t)i }) != i;
	OK(bad == 0);
	arena_free(&scratch);
	arena_free(&a);
}

/* A random text and the same merges, done slowly. */
static void
test_oracle(void)
{
	static const char *const tokens[] = { "ab", "ba", "aab", "bb", "abab",
		"cab", "bca", "abba", "caab", "aabb", "ccc", "bcab", NULL };
	struct arena a = { 0 };
	struct bpe *b = make(&a, BPE_O200K, tokens);
	static char text[1000];
	uint32_t x = 1;
	size_t i, n, bad = 0;

	for (n = 1; n < sizeof(text); n += n / 4 + 1) {
		for (i = 0; i < n; i++) {
			x = x * 1664525 + 1013904223;
			text[i] = "abc"[x >> 30 == 3 ? 0 : x >> 30];
		}
		bad += !slow_bpe_agrees(b, (struct str){ text, n });
	}
	OK(bad == 0);
	arena_free(&a);
}

static void
test_long(void)
{
	static const char *const tokens[] = { "aa", "aaaa", "aaaaaaaa", "ab",
		NULL };
	struct arena a = { 0 }, scratch = { 0 };
	struct bpe *b = make(&a, BPE_O200K, tokens);
	size_t n = 1 << 19, i;
	char *text = arena_raw(&a, n, 1);

	memset(text, 'a', n);
	OK(bpe_count(b, &scratch, (struct str){ text, n }) == (int64_t)n / 8);
	for (i = 1; i < n; i += 2)
		text[i] = 'b';
	OK(bpe_count(b, &scratch, (struct str){ text, n }) == (int64_t)n / 2);
	memset(text, ' ', n);
	OK(bpe_count(b, &scratch, (struct str){ text, n }) == (int64_t)n);
	OK(scratch.used == 0);
	arena_free(&scratch);
	arena_free(&a);
}

static void
test_bad(void)
{
	static const struct {
		const char *text;
		unsigned line, col;
	} rows[] = {
		{ "YQ==", 1, 5 }, { "YQ== ", 1, 6 }, { "YQ== x", 1, 6 },
		{ "YQ== 1 2", 1, 7 }, { "YQ= 1", 1, 1 }, { "Y 1", 1, 1 },
		{ "=== 1", 1, 1 }, { " 1", 1, 1 }, { "Y!== 1", 1, 1 },
		{ "YQ== 1\nYg== 1\n", 2, 1 }, { "YQ== 1\nYQ== 2\n", 2, 1 },
		{ "YQ== 99999999999999999999", 1, 6 },
		{ "YQ== 1\n\n\nx", 4, 1 }, { "{\"a\": 1}", 1, 1 },
		{ "", 0, 0 }, { "YQ== 1\r\n", 0, 0 },
	};
	struct arena a = { 0 };
	struct err e;
	char line[512];
	size_t i;

	for (i = 0; i < COUNTOF(rows); i++) {
		e = (struct err){ 0 };
		tap_ok(bpe_read(&a, str_of(rows[i].text), BPE_O200K, &e) ==
		    NULL && e.msg[0] != '\0' && e.line == rows[i].line &&
		    e.col == rows[i].col, e.msg, __FILE__, __LINE__);
	}
	memset(line, 'A', 400);
	strcpy(line + 400, " 1\n");
	OK(bpe_read(&a, str_of(line), BPE_O200K, &e) == NULL && e.line == 1);
	arena_free(&a);
}

static void
test_names(void)
{
	enum bpe_rule r;
	struct err e;

	OK(bpe_rule_of(STR("o200k_base.tiktoken"), &r, &e) == 0 &&
	    r == BPE_O200K);
	OK(bpe_rule_of(STR("o200k_base/my-cl100k_base.txt"), &r, &e) == 0 &&
	    r == BPE_CL100K);
	OK(bpe_rule_of(STR("vocab.tiktoken"), &r, &e) == -1);
	OK(bpe_rule_of(STR("o200k_base-cl100k_base"), &r, &e) == -1);
	OK(strcmp(bpe_name(BPE_O200K), "o200k_base") == 0);
}

int
main(void)
{
	RUN(test_split, test_merge, test_cache, test_oracle, test_bad,
	    test_names);
	RUN_LARGE(test_long);
	return tap_done();
}
