/* SPDX-License-Identifier: ISC */
#include <string.h>

#include "base/base.h"
#include "lib/gzip/inflate.h"
#include "report/page.h"
#include "test/tool/tap.h"

/* "hello hello hello hello\n": as it is, and with the codes of the format. */
static const unsigned char stored[] = {
	31, 139, 8, 0, 0, 0, 0, 0, 2, 255,
	1, 24, 0, 231, 255, 104, 101, 108, 108, 111, 32, 104, 101, 108, 108,
	111, 32, 104, 101, 108, 108, 111, 32, 104, 101, 108, 108, 111, 10,
	0, 136, 89, 11, 24, 0, 0, 0,
}, fixed[] = {
	31, 139, 8, 0, 0, 0, 0, 0, 2, 255,
	203, 72, 205, 201, 201, 87, 200, 64, 39, 185, 0,
	0, 136, 89, 11, 24, 0, 0, 0,
};
static const char hello[] = "hello hello hello hello\n";

static int
inflate(struct buf *b, const unsigned char *p, size_t n, size_t max)
{
	struct err e = { 0 };
	int rc;

	buf_free(b);
	rc = inflate_gzip(b, (struct str){ (const char *)p, n }, max, &e);
	if (rc != 0 && e.code == ERR_LIMIT)
		return -2;
	return rc;
}

static bool
is_hello(const unsigned char *p, size_t n)
{
	struct buf b = { 0 };
	bool same = inflate(&b, p, n, 100) == 0 && str_is(buf_str(&b), hello);

	buf_free(&b);
	return same;
}

/* How many prefixes of the input are accepted. */
static size_t
cuts(const unsigned char *p, size_t n)
{
	struct buf b = { 0 };
	size_t i, good = 0;

	for (i = 0; i < n; i++)
		good += inflate(&b, p, i, 1 << 20) == 0;
	buf_free(&b);
	return good;
}

/* How many inputs with one bit changed have another content. */
static size_t
flips(const unsigned char *p, size_t n)
{
	unsigned char copy[200];
	struct buf b = { 0 };
	size_t i, bad = 0;

	memcpy(copy, p, n);
	for (i = 0; i < n * 8; i++) {
		copy[i / 8] ^= (unsigned char)(1 << i % 8);
		bad += inflate(&b, copy, n, 1 << 20) == 0 &&
		    !str_is(buf_str(&b), hello);
		copy[i / 8] ^= (unsigned char)(1 << i % 8);
	}
	buf_free(&b);
	return bad;
}

/* A code with more symbols than its lengths allow; a distance too far. */
static void
test_damaged(void)
{
	static const unsigned char codes[] = { 31, 139, 8, 0, 0, 0, 0, 0, 2, 255,
	    5, 0, 36, 73, 146, 36, 73, 146, 36, 73, 0, 0, 0, 0, 0, 0, 0, 0 };
	static const unsigned char far[] = { 31, 139, 8, 0, 0, 0, 0, 0, 2, 255,
	    75, 4, 129, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
	static const unsigned char type[] = { 31, 139, 8, 0, 0, 0, 0, 0, 2, 255,
	    7, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
	struct buf b = { 0 };

	OK(inflate(&b, codes, sizeof(codes), 100) == -1);
	OK(inflate(&b, far, sizeof(far), 100) == -1);
	OK(inflate(&b, type, sizeof(type), 100) == -1);
	OK(inflate(&b, type, 0, 100) == -1);
	buf_free(&b);
}

/* What util/deflate made of the page. */
static void
test_page(void)
{
	struct str gzip = page_gzip(STR("app.js")), text;
	struct arena a = { 0 };
	struct buf b = { 0 };

	text = page_file(&a, STR("app.js"));
	OK(text.n > gzip.n * 2);
	OK(str_starts(text, STR("const m_")));
	OK(inflate(&b, (const unsigned char *)gzip.p, gzip.n, text.n) == 0);
	OK(inflate(&b, (const unsigned char *)gzip.p, gzip.n, text.n - 1) == -2);
	OK(page_file(&a, STR("none")).p == NULL);
	buf_free(&b);
	arena_free(&a);
}

int
main(void)
{
	OK(is_hello(stored, sizeof(stored)));
	OK(is_hello(fixed, sizeof(fixed)));
	OK(cuts(stored, sizeof(stored)) == 0);
	OK(cuts(fixed, sizeof(fixed)) == 0);
	OK(flips(stored, sizeof(stored)) == 0);
	OK(flips(fixed, sizeof(fixed)) == 0);
	test_damaged();
	test_page();
	return tap_done();
}
