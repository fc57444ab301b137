/* SPDX-License-Identifier: ISC */
/* Unit tests of base.c. */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/base.h"
#include "test/tool/tap.h"

static void
test_str(void)
{
	const struct str none = { NULL, 0 }, a = STR("a"), ab = STR("ab");

	OK(str_of("abc").n == 3 && str_of("").n == 0);
	OK(str_eq(none, STR("")) && str_eq(none, none));
	OK(str_eq(STR("a\0b"), STR("a\0b")) && !str_eq(STR("a\0b"), STR("a\0c")));
	OK(str_is(STR("abc"), "abc") && !str_is(STR("abc"), "ab"));
	OK(!str_is(STR("ab"), "abc") && str_is(none, ""));
	OK(str_cmp(none, none) == 0 && str_cmp(none, STR("a")) < 0);
	OK(str_cmp(STR("a"), STR("ab")) < 0 && str_cmp(STR("b"), STR("ab")) > 0);
	OK(str_cmp(STR("\x7F"), STR("\x80")) < 0);	/* as unsigned bytes */
	OK(str_order(&a, &ab) < 0 && str_order(&ab, &a) > 0 &&
	    str_order(&a, &a) == 0);
	OK(str_hash(none) == UINT64_C(0xCBF29CE484222325));
	OK(str_hash(a) == UINT64_C(0xAF63DC4C8601EC8C));	/* as published */
	OK(str_starts(STR("abc"), STR("ab")) && !str_starts(STR("ab"), STR("abc")));
	OK(str_starts(STR("abc"), none) && str_starts(none, none));
	OK(str_ends(STR("abc"), STR("bc")) && !str_ends(STR("bc"), STR("abc")));
	OK(str_ends(STR("abc"), none) && str_ends(none, none));
}

static void
test_distance(void)
{
	static const struct {
		const char *a, *b;
		size_t d;
	} rows[] = {
		{ "", "", 0 },               { "", "abc", 3 },
		{ "abc", "", 3 },            { "same", "same", 0 },
		{ "kitten", "sitting", 3 },  { "ab", "ba", 1 },
		{ "wrokers", "workers", 1 }, { "timeout", "timeouts", 1 },
		{ "abcd", "badc", 2 },
		{ "ca",      "abc",      3 },	/* no edit inside a transposition */
		{ "flaw", "lawn", 2 },
	};
	char a[65], b[65];
	size_t i;

	for (i = 0; i < COUNTOF(rows); i++) {
		tap_ok(str_distance(str_of(rows[i].a), str_of(rows[i].b), 9) ==
		    rows[i].d, rows[i].a, __FILE__, __LINE__);
		tap_ok(str_distance(str_of(rows[i].b), str_of(rows[i].a), 9) ==
		    rows[i].d, rows[i].b, __FILE__, __LINE__);
	}
	OK(str_distance(STR("abcdef"), STR("uvwxyz"), 2) > 2);
	OK(str_distance(STR("abcdef"), STR("abcxyz"), 3) == 3);
	memset(a, 'x', sizeof(a));
	memset(b, 'x', sizeof(b));
	b[60] = 'y';
	OK(str_distance((struct str){ a, 63 }, (struct str){ b, 63 }, 3) == 1);
	OK(str_distance((struct str){ a, 64 }, (struct str){ b, 64 }, 3) > 3);
	OK(str_distance((struct str){ a, 65 }, (struct str){ a, 65 }, 3) == 0);
}

static void
test_similar(void)
{
	static const struct {
		const char *got, *want;
		bool similar;
	} rows[] = {
		{ "nmae", "name", true },               { "naem", "name", true },
		{ "id", "od", false },                  { "foo", "bar", false },
		{ "max_workers", "workers", false },    { "time", "timeout_seconds", true },
		{ "timeout_seconds", "timeout", true }, { "tim", "timeout_seconds", false },
		{ "trials_per_tsak", "trials_per_task", true },
		{ "descripton", "description", true },  { "", "name", false },
	};
	size_t i;

	for (i = 0; i < COUNTOF(rows); i++)
		tap_ok(str_similar(str_of(rows[i].got), str_of(rows[i].want)) ==
		    rows[i].similar, rows[i].got, __FILE__, __LINE__);
}

static void
test_buf(void)
{
	struct buf b = { 0 };
	struct str none = { NULL, 0 };
	char *room;
	int i;

	OK(buf_str(&b).n == 0);
	buf_put(&b, none);
	buf_eat(&b, 0);
	OK(b.n == 0 && b.p == NULL && !b.full);
	buf_puts(&b, "one");
	buf_putc(&b, ' ');
	buf_put(&b, STR("two"));
	buf_fmt(&b, " %d%s", 3, "!");
	OK(str_is(buf_str(&b), "one two 3!"));
	buf_eat(&b, 4);
	OK(str_is(buf_str(&b), "two 3!"));
	buf_eat(&b, b.n);
	OK(b.n == 0);
	for (i = 0; i < 1000; i++)
		buf_fmt(&b, "%03d", i);
	OK(b.n == 3000 && b.cap < 6144 && memcmp(b.p + 2997, "999", 3) == 0);
	room = buf_room(&b, 5000);
	OK(room == b.p + 3000 && b.cap >= 8000 && b.n == 3000);
	buf_free(&b);
	OK(b.p == NULL && b.n == 0 && b.cap == 0);
	buf_free(&b);
}

static void
test_buf_max(void)
{
	struct buf b = { .max = 8 };

	buf_puts(&b, "12345678");
	OK(b.n == 8 && !b.full);
	buf_put(&b, STR(""));
	OK(!b.full);
	buf_putc(&b, '9');
	OK(b.n == 8 && b.full);
	buf_eat(&b, 8);
	buf_putc(&b, 'x');		/* .full stays set */
	OK(b.n == 0 && b.full && buf_room(&b, 1) == NULL);
	buf_free(&b);

	b = (struct buf){ .max = 8 };
	buf_puts(&b, "12345");
	buf_puts(&b, "6789");		/* dropped as a whole */
	OK(b.full && str_is(buf_str(&b), "12345"));
	buf_free(&b);

	b = (struct buf){ .max = 8 };
	buf_fmt(&b, "%s", "12345678");	/* the NUL does not count */
	OK(!b.full && str_is(buf_str(&b), "12345678"));
	buf_fmt(&b, "%s", "");
	OK(!b.full && b.n == 8);
	buf_fmt(&b, "%d", 9);
	OK(b.full && b.n == 8);
	buf_free(&b);

	b = (struct buf){ .max = 8 };
	OK(buf_room(&b, 9) == NULL && b.full);
	buf_free(&b);
}

static void
test_arena(void)
{
	const size_t aligns[] = { 1, 2, 4, ALIGNOF(int64_t) };
	struct arena a = { 0 };
	struct str s;
	char *p;
	size_t i, bad = 0;
	long double *d;

	for (i = 0; i < 3000; i++) {
		arena_raw(&a, i % 7, 1);
		p = arena_alloc(&a, 1 + i % 50, aligns[i % 4]);
		bad += (uintptr_t)p % aligns[i % 4] != 0;
		bad += p[0] != 0 || p[i % 50] != 0;
		memset(p, 0xA5, 1 + i % 50);
		d = NEW(&a, long double);
		bad += (uintptr_t)d % ALIGNOF(long double) != 0 || *d != 0;
		bad += (uintptr_t)arena_hook(&a, 24) % sizeof(void *) != 0;
	}
	OK(bad == 0);
	p = arena_alloc(&a, 5000000, 1);
	OK(p[0] == 0 && p[4999999] == 0);
	s = arena_str(&a, STR("a\0b"));
	OK(str_eq(s, STR("a\0b")) && s.p[3] == '\0');
	s = arena_str(&a, (struct str){ NULL, 0 });
	OK(s.n == 0 && s.p[0] == '\0');
	OK(arena_cstr(&a, STR("a\0b")) == NULL);
	OK(strcmp(arena_cstr(&a, STR("abc")), "abc") == 0);
	OK(strcmp(arena_cstr(&a, (struct str){ NULL, 0 }), "") == 0);
	s = arena_fmt(&a, "%s-%d", "x", 42);
	OK(str_is(s, "x-42") && s.p[4] == '\0');
	OK(arena_fmt(&a, "%s", "").n == 0);
	OK(NEW_N(&a, int64_t, 10)[9] == 0);
	arena_free(&a);
	OK(a.head == NULL && a.used == 0);
	arena_free(&a);
}

static void
test_arena_mark(void)
{
	struct arena a = { 0 };
	struct arena_mark empty = arena_save(&a), m;
	struct str kept;
	size_t used, i;
	char *p, *q;

	kept = arena_str(&a, STR("kept"));
	used = a.used;
	OK(used == 5);
	m = arena_save(&a);
	p = arena_raw(&a, 16, 8);
	arena_restore(&a, m);
	q = arena_raw(&a, 16, 8);
	OK(p == q);			/* freed, then reused */
	arena_restore(&a, m);
	for (i = 0; i < 1000; i++)
		memset(arena_raw(&a, 997, 1), 'x', 997);
	OK(a.used == used + 997000);
	arena_restore(&a, m);
	OK(a.used == used && str_is(kept, "kept"));
	p = arena_alloc(&a, 100, 1);	/* reused memory is zeroed */
	OK(p[0] == 0 && p[99] == 0);
	arena_restore(&a, empty);
	OK(a.head == NULL && a.used == 0);
}

static void
test_checked(void)
{
	const size_t half = SIZE_MAX / 2 + 1;
	size_t n;

	OK(add_ok(1, 2, &n) && n == 3);
	OK(add_ok(SIZE_MAX, 0, &n) && n == SIZE_MAX);
	OK(!add_ok(SIZE_MAX, 1, &n) && !add_ok(1, SIZE_MAX, &n));
	OK(!add_ok(half, half, &n));
	OK(add_near(INT64_MAX, 1) == INT64_MAX && add_near(-1, 3) == 2);
	OK(add_near(INT64_MIN, -1) == INT64_MIN);
	OK(add_near(INT64_MIN, INT64_MAX) == -1);
	OK(mul_ok(0, SIZE_MAX, &n) && n == 0);
	OK(mul_ok(SIZE_MAX, 0, &n) && n == 0);
	OK(mul_ok(SIZE_MAX, 1, &n) && n == SIZE_MAX);
	OK(mul_ok(half - 1, 2, &n) && n == SIZE_MAX - 1);
	OK(!mul_ok(half, 2, &n) && !mul_ok(SIZE_MAX, SIZE_MAX, &n));
	OK(mul_max(3, 4) == 12 && mul_max(half, 2) == SIZE_MAX);
}

static void
test_utf8_rows(void)
{
	static const struct {
		const char *text;
		size_t n, used;		/* used 0: ill-formed */
		uint32_t cp;
	} rows[] = {
		{ "", 0, 0, 0 },                  { "\0", 1, 1, 0 },
		{ "\x7F", 1, 1, 0x7F },           { "\x80", 1, 0, 0 },
		{ "\xBF", 1, 0, 0 },
		{ "\xC0\x80",         2, 0, 0 },	/* overlong */
		{ "\xC1\xBF", 2, 0, 0 },          { "\xC2\x80", 2, 2, 0x80 },
		{ "\xC2",             1, 0, 0 },	/* truncated */
		{ "\xC2\x7F", 2, 0, 0 },          { "\xC2\xC0", 2, 0, 0 },
		{ "\xDF\xBF", 2, 2, 0x7FF },      { "\xE0\x9F\xBF", 3, 0, 0 },
		{ "\xE0\xA0\x80", 3, 3, 0x800 },  { "\xE0\xA0", 2, 0, 0 },
		{ "\xE2\x82\xAC", 3, 3, 0x20AC }, { "\xED\x9F\xBF", 3, 3, 0xD7FF },
		{ "\xED\xA0\x80",     3, 0, 0 },	/* surrogates */
		{ "\xED\xBF\xBF", 3, 0, 0 },      { "\xEE\x80\x80", 3, 3, 0xE000 },
		{ "\xEF\xBF\xBF", 3, 3, 0xFFFF }, { "\xEF\xBF\x7F", 3, 0, 0 },
		{ "\xF0\x8F\xBF\xBF", 4, 0, 0 },  { "\xF0\x90\x80\x80", 4, 4, 0x10000 },
		{ "\xF0\x90\x80", 3, 0, 0 },      { "\xF0\x90\x80\xC0", 4, 0, 0 },
		{ "\xF4\x8F\xBF\xBF", 4, 4, 0x10FFFF },
		{ "\xF4\x90\x80\x80", 4, 0, 0 },	/* beyond U+10FFFF */
		{ "\xF5\x80\x80\x80", 4, 0, 0 },  { "\xFF", 1, 0, 0 },
		{ "a\x80", 2, 1, 'a' },
	};
	char out[4], name[32];
	uint32_t cp;
	size_t i, n, used;
	bool ok;

	for (i = 0; i < COUNTOF(rows); i++) {
		cp = 0;
		n = rows[i].n;
		used = utf8_get(rows[i].text, rows[i].text + n, &cp);
		ok = used == rows[i].used && cp == rows[i].cp &&
		    utf8_valid((struct str){ rows[i].text, n }) == (used == n);
		if (used > 0)
			ok = ok && utf8_put(out, cp) == used &&
			    memcmp(out, rows[i].text, used) == 0;
		snprintf(name, sizeof(name), "utf8 row %zu", i);
		tap_ok(ok, name, __FILE__, __LINE__);
	}
}

/* Encodes and decodes every code point; surrogates are refused. */
static void
test_utf8_all(void)
{
	uint32_t cp, got, bad = 0;
	size_t n, k;
	char out[4];

	for (cp = 0; cp < 0x110000; cp++) {
		n = utf8_put(out, cp);
		k = utf8_get(out, out + n, &got);
		if (cp >= 0xD800 && cp < 0xE000)
			bad += k != 0;
		else
			bad += k != n || got != cp;
	}
	OK(bad == 0);
	OK(utf8_valid((struct str){ NULL, 0 }));
	OK(utf8_valid(STR("na\xC3\xAFve \xE2\x80\x94 \xF0\x9F\x98\x80")));
	OK(!utf8_valid(STR("abc\xC3")));
}

static void
test_err(void)
{
	struct err e = { 0 };
	char longer[1000];
	int c, i;

	OK(err_set(&e, ERR_SCHEMA, "%s: %d", "key", 7) == -1);
	OK(e.code == ERR_SCHEMA && strcmp(e.msg, "key: 7") == 0);
	OK(e.line == 0 && e.col == 0 && e.sys == 0);
	OK(err_at(&e, 3, 9) == -1 && e.line == 3 && e.col == 9);
	OK(strcmp(e.msg, "key: 7") == 0);
	errno = ENOENT;
	OK(err_sys(&e, "a.yaml") == -1);
	OK(e.code == ERR_SYS && e.sys == ENOENT && e.line == 0);
	OK(strncmp(e.msg, "a.yaml: ", 8) == 0 && strlen(e.msg) > 8);
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	err_set(&e, ERR_LIMIT, "%s", longer);
	OK(strlen(e.msg) == sizeof(e.msg) - 1);
	err_set(&e, ERR_SYS, "cannot open '%s': No such file", longer);
	OK(str_starts(str_of(e.msg), STR("cannot open 'xxx")));
	OK(str_ends(str_of(e.msg), STR("xxx': No such file")));
	OK(strstr(e.msg, "x...x") != NULL && strlen(e.msg) < sizeof(e.msg));
	for (c = 0; c < 8; c++) {	/* cut at any byte */
		for (i = 0; i < 150; i++)
			memcpy(longer + c + 4 * i, "\xF0\x9F\x98\x80", 4);
		longer[c + 600] = '\0';
		err_set(&e, ERR_LIMIT, "%.*s%s", c % 4, "abc", longer + c);
		OK(utf8_valid(str_of(e.msg)) &&
		    strlen(e.msg) >= sizeof(e.msg) - 8);
	}
}

static void
test_head(void)
{
	struct arena a = { 0 };

	OK(str_is(arena_head(&a, STR("abc"), 3), "abc"));
	OK(str_is(arena_head(&a, STR("abcd"), 3), "abc... (1 more bytes)"));
	OK(str_is(arena_head(&a, STR("a\xC3\xA9z"), 2), "a... (3 more bytes)"));
	OK(str_is(utf8_cut_head(STR("a\xC3\xA9z"), 2), "z"));
	OK(str_is(utf8_cut_head(STR("abc"), 9), "abc"));
	arena_free(&a);
}

static void
test_nearest(void)
{
	struct str_nearest n = { .word = STR("keywrod") };

	str_nearest(&n, STR("behavior"));
	OK(n.best.p == NULL);
	str_nearest(&n, STR("keywords"));
	str_nearest(&n, STR("keyword"));
	str_nearest(&n, STR("keywork"));
	OK(str_is(n.best, "keyword"));
}

static void
test_lines(void)
{
	struct str text = STR("a\n\nb"), line;

	OK(str_line(&text, &line) && str_is(line, "a"));
	OK(str_line(&text, &line) && line.n == 0);
	OK(str_line(&text, &line) && str_is(line, "b") && text.n == 0);
	OK(!str_line(&text, &line));
	text = STR("a\n");
	OK(str_line(&text, &line) && str_is(line, "a"));
	OK(!str_line(&text, &line));
	text = (struct str){ NULL, 0 };
	OK(!str_line(&text, &line));
}

static void
test_paths(void)
{
	static const char *const rows[][3] = {
		{ "a/b.yaml", "b.yaml", "b" }, { "a/b.c//", "b.c", "b" },
		{ "b.c.d", "b.c.d", "b.c" }, { "a.b/c", "c", "c" },
		{ "/.c", ".c", ".c" }, { "/", "", "" }, { "", "", "" },
	};
	size_t i;

	for (i = 0; i < COUNTOF(rows); i++) {
		OK(str_is(str_base(str_of(rows[i][0])), rows[i][1]));
		OK(str_is(str_stem(str_of(rows[i][0])), rows[i][2]));
	}
}

static void
test_trim(void)
{
	OK(str_is(str_trim(STR(" \t\r\n a b \n")), "a b"));
	OK(str_is(str_trim(STR("a")), "a"));
	OK(str_trim(STR(" \t ")).n == 0);
	OK(str_trim(STR("")).n == 0);
	test_lines();
	test_paths();
}

static void
test_cut(void)
{
	struct str s = STR("a\xC3\xA9z");

	OK(utf8_cut(s, 4).n == 4 && utf8_cut(s, 9).n == 4);
	OK(utf8_cut(s, 3).n == 3);
	OK(utf8_cut(s, 2).n == 1);
	OK(utf8_cut(s, 0).n == 0);
}

static void
test_hex(void)
{
	OK(hex_digit('0') == 0 && hex_digit('9') == 9);
	OK(hex_digit('a') == 10 && hex_digit('F') == 15);
	OK(hex_digit('g') == -1 && hex_digit('/') == -1 && hex_digit(0) == -1);
}

static int
compare_int(const void *key, const void *row)
{
	int a = *(const int *)key, b = *(const int *)row;

	return (a > b) - (a < b);
}

static void
test_search(void)
{
	static const int rows[] = { 1, 3, 3, 3, 7 };
	int key;
	size_t want[] = { 0, 0, 1, 1, 4, 4, 4, 4, 5 };

	for (key = 0; key < 9; key++)
		OK(search_first(&key, rows, COUNTOF(rows), sizeof(rows[0]),
		    compare_int) == want[key]);
	OK(search_first(&want, rows, 0, sizeof(rows[0]), compare_int) == 0);
}

int
main(void)
{
	RUN(test_str, test_distance, test_similar, test_buf, test_buf_max,
	    test_arena, test_arena_mark, test_checked, test_utf8_rows,
	    test_utf8_all, test_err, test_head, test_nearest, test_trim, test_cut,
	    test_hex, test_search);
	return tap_done();
}
