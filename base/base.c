/* SPDX-License-Identifier: ISC */
/*
 * Strings, buffers, arenas, errors, checked arithmetic.
 *
 * An arena is a list of chunks, the newest first; only the newest has room.
 * Chunks double in size, and quadruple once they are large: the last one is
 * then larger than all others together, which makes glibc's malloc keep the
 * memory for the next arena instead of returning it page by page.  The unused
 * part of a large chunk is never touched and costs no memory.
 */
#include "base/base.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"

enum { CHUNK_MIN = 1024 - 64, CHUNK_BIG = 1 << 16, CHUNK_MAX = 1 << 24 };

struct chunk {
	struct chunk *next;
	size_t n, cap;
	union {			/* the strictest alignment that C99 can name */
		long long i;
		long double d;
		void *p;
	} mem[];
};

static void
oom(void)
{
	fputs("waza: out of memory\n", stderr);
	exit(2);
}

bool
add_ok(size_t a, size_t b, size_t *sum)
{
	*sum = a + b;
	return *sum >= a;
}

int64_t
add_near(int64_t a, int64_t b)
{
	if (b > 0 && a > INT64_MAX - b)
		return INT64_MAX;
	return b < 0 && a < INT64_MIN - b ? INT64_MIN : a + b;
}

bool
mul_ok(size_t a, size_t b, size_t *product)
{
	*product = a * b;
	return b == 0 || a <= SIZE_MAX / b;
}

size_t
mul_max(size_t a, size_t b)
{
	size_t n;

	return mul_ok(a, b, &n) ? n : SIZE_MAX;
}

struct str
str_of(const char *cstr)
{
	return (struct str){ cstr, strlen(cstr) };
}

bool
str_eq(struct str a, struct str b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

bool
str_is(struct str a, const char *cstr)
{
	return str_eq(a, str_of(cstr));
}

int
str_cmp(struct str a, struct str b)
{
	size_t n = a.n < b.n ? a.n : b.n;
	int c = n == 0 ? 0 : memcmp(a.p, b.p, n);

	return c != 0 ? c : (a.n > b.n) - (a.n < b.n);
}

int
str_order(const void *a, const void *b)
{
	return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

uint64_t
str_hash(struct str s)
{
	uint64_t h = UINT64_C(14695981039346656037);
	size_t i;

	for (i = 0; i < s.n; i++)
		h = (h ^ (unsigned char)s.p[i]) * UINT64_C(1099511628211);
	return h;
}

bool
str_starts(struct str s, struct str prefix)
{
	return s.n >= prefix.n && str_eq((struct str){ s.p, prefix.n }, prefix);
}

bool
str_ends(struct str s, struct str suffix)
{
	if (suffix.n == 0)
		return true;
	return s.n >= suffix.n && str_eq(
	    (struct str){ s.p + (s.n - suffix.n), suffix.n }, suffix);
}

static bool
is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

bool
str_line(struct str *text, struct str *line)
{
	const char *lf;
	size_t used;

	if (text->n == 0)
		return false;
	lf = memchr(text->p, '\n', text->n);
	line->p = text->p;
	line->n = lf != NULL ? (size_t)(lf - text->p) : text->n;
	used = line->n + (lf != NULL);
	text->p += used;
	text->n -= used;
	return true;
}

struct str
str_base(struct str path)
{
	size_t i;

	while (path.n > 1 && path.p[path.n - 1] == '/')
		path.n--;
	for (i = path.n; i > 0 && path.p[i - 1] != '/'; i--)
		;
	return (struct str){ path.p + i, path.n - i };
}

struct str
str_stem(struct str path)
{
	struct str s = str_base(path);
	size_t n = s.n;

	while (n > 1 && s.p[n - 1] != '.')
		n--;
	return (struct str){ s.p, n > 1 ? n - 1 : s.n };
}

struct str
str_after_bom(struct str s)
{
	return str_starts(s, STR("\xEF\xBB\xBF")) ?
	    (struct str){ s.p + 3, s.n - 3 } : s;
}

struct str
str_trim(struct str s)
{
	while (s.n > 0 && is_space(s.p[s.n - 1]))
		s.n--;
	while (s.n > 0 && is_space(*s.p)) {
		s.p++;
		s.n--;
	}
	return s;
}

int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

void
hex_uuid(char out[37], const unsigned char random[16])
{
	static const char hex[] = "0123456789abcdef";
	size_t i, n = 0;

	for (i = 0; i < 16; i++) {
		unsigned char c = random[i];

		if (i == 4 || i == 6 || i == 8 || i == 10)
			out[n++] = '-';
		if (i == 6)
			c = (unsigned char)((c & 0x0f) | 0x40);
		if (i == 8)
			c = (unsigned char)((c & 0x3f) | 0x80);
		out[n++] = hex[c >> 4];
		out[n++] = hex[c & 15];
	}
	out[n] = '\0';
}

size_t
search_first(const void *key, const void *rows, size_t n, size_t size,
    int (*cmp)(const void *key, const void *row))
{
	size_t lo = 0, mid;

	while (lo < n) {
		mid = lo + (n - lo) / 2;
		if (cmp(key, (const char *)rows + mid * size) > 0)
			lo = mid + 1;
		else
			n = mid;
	}
	return lo;
}

/* Whether n more bytes are within max; sets full if not. */
static bool
fits(struct buf *b, size_t n)
{
	if (b->max > 0 && (b->n > b->max || n > b->max - b->n))
		b->full = true;
	return !b->full;
}

static void
enlarge(struct buf *b, size_t n)
{
	size_t cap, need;
	char *p;

	if (!add_ok(b->n, n, &need))
		oom();
	cap = b->cap < 64 ? 64 : b->cap;
	while (cap < need)
		cap = cap > SIZE_MAX / 2 ? need : cap * 2;
	p = realloc(b->p, cap);
	if (p == NULL)
		oom();
	b->p = p;
	b->cap = cap;
}

static inline void
reserve(struct buf *b, size_t n)
{
	if (n > b->cap - b->n)
		enlarge(b, n);
}

static inline bool
grow(struct buf *b, size_t n)
{
	if (!fits(b, n))
		return false;
	reserve(b, n);
	return true;
}

void
buf_put(struct buf *b, struct str s)
{
	if (s.n == 0 || !grow(b, s.n))
		return;
	memcpy(b->p + b->n, s.p, s.n);
	b->n += s.n;
}

void
buf_putc(struct buf *b, char c)
{
	if (grow(b, 1))
		b->p[b->n++] = c;
}

void
buf_puts(struct buf *b, const char *cstr)
{
	buf_put(b, str_of(cstr));
}

void
buf_fmt(struct buf *b, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0 || !fits(b, (size_t)n))
		return;
	reserve(b, (size_t)n + 1);	/* max does not count the NUL */
	va_start(ap, fmt);
	vsnprintf(b->p + b->n, (size_t)n + 1, fmt, ap);
	va_end(ap);
	b->n += (size_t)n;
}

char *
buf_room(struct buf *b, size_t n)
{
	return grow(b, n) ? b->p + b->n : NULL;
}

void
buf_eat(struct buf *b, size_t n)
{
	if (n < b->n)
		memmove(b->p, b->p + n, b->n - n);
	b->n -= n;
}

struct str
buf_str(const struct buf *b)
{
	return (struct str){ b->p, b->n };
}

void
buf_sink(void *buf, const char *p, size_t n)
{
	buf_put(buf, (struct str){ p, n });
}

void
buf_free(struct buf *b)
{
	free(b->p);
	*b = (struct buf){ 0 };
}

static struct chunk *
chunk_new(struct arena *a, size_t n)
{
	size_t cap, size;
	struct chunk *c;

	cap = a->head == NULL ? CHUNK_MIN / 2 : a->head->cap;
	cap = cap > CHUNK_MAX / 4 ? CHUNK_MAX : cap * (cap < CHUNK_BIG ? 2 : 4);
	cap = cap < n ? n : cap;
	if (!add_ok(offsetof(struct chunk, mem), cap, &size))
		oom();
	c = malloc(size);
	if (c == NULL)
		oom();
	c->next = a->head;
	c->n = 0;
	c->cap = cap;
	a->head = c;
	return c;
}

void
arena_reserve(struct arena *a, size_t n)
{
	chunk_new(a, n);
}

void *
arena_raw(struct arena *a, size_t n, size_t align)
{
	struct chunk *c = a->head;
	size_t off = 0;

	if (c != NULL)
		off = (c->n + align - 1) & ~(align - 1);
	if (c == NULL || off > c->cap || n > c->cap - off) {
		c = chunk_new(a, n);
		off = 0;
	}
	c->n = off + n;
	a->used += n;
	return (char *)c->mem + off;
}

void *
arena_alloc(struct arena *a, size_t n, size_t align)
{
	if (n == SIZE_MAX)	/* of mul_max() */
		oom();
	return memset(arena_raw(a, n, align), 0, n);
}

void *
arena_hook(void *arena, size_t n)
{
	return arena_raw(arena, n, sizeof(int64_t));
}

struct str
arena_take(struct arena *a, struct buf *b)
{
	struct str s = arena_str(a, buf_str(b));

	buf_free(b);
	return s;
}

struct json *
arena_json(struct arena *a, struct str text, struct json_error *e)
{
	struct json_mem mem = { arena_hook, a };
	struct json_error ignored;

	return json_read(&mem, text, 0, e != NULL ? e : &ignored);
}

static char *
copy(struct arena *a, struct str s)
{
	char *p = arena_raw(a, s.n + 1, 1);

	if (s.n > 0)
		memcpy(p, s.p, s.n);
	p[s.n] = '\0';
	return p;
}

struct str
arena_str(struct arena *a, struct str s)
{
	return (struct str){ copy(a, s), s.n };
}

char *
arena_cstr(struct arena *a, struct str s)
{
	if (s.n > 0 && memchr(s.p, '\0', s.n) != NULL)
		return NULL;
	return copy(a, s);
}

struct str
arena_vfmt(struct arena *a, const char *fmt, va_list ap)
{
	char text[256];		/* most fit: one pass */
	va_list again;
	char *p;
	int n;

	va_copy(again, ap);
	n = vsnprintf(text, sizeof(text), fmt, again);
	va_end(again);
	if (n < 0)
		return STR("");
	if ((size_t)n < sizeof(text))
		return arena_str(a, (struct str){ text, (size_t)n });
	p = arena_raw(a, (size_t)n + 1, 1);
	vsnprintf(p, (size_t)n + 1, fmt, ap);
	return (struct str){ p, (size_t)n };
}

struct str
arena_head(struct arena *a, struct str s, size_t max)
{
	struct str head = utf8_cut(s, max);

	return head.n == s.n ? s : arena_fmt(a, "%.*s... (%zu more bytes)",
	    STRF(head), s.n - head.n);
}

struct str
arena_fmt(struct arena *a, const char *fmt, ...)
{
	struct str s;
	va_list ap;

	va_start(ap, fmt);
	s = arena_vfmt(a, fmt, ap);
	va_end(ap);
	return s;
}

bool
budget_take(struct budget *b, uint64_t n)
{
	if (b == NULL)
		return true;
	b->spent = b->spent || n > b->left;
	b->left -= b->spent ? 0 : n;
	return !b->spent;
}

struct arena_mark
arena_save(const struct arena *a)
{
	size_t n = a->head == NULL ? 0 : a->head->n;

	return (struct arena_mark){ a->head, n, a->used };
}

void
arena_restore(struct arena *a, struct arena_mark m)
{
	struct chunk *c, *next;

	for (c = a->head; c != m.head; c = next) {
		next = c->next;
		free(c);
	}
	a->head = m.head;
	a->used = m.used;
	if (m.head != NULL)
		m.head->n = m.n;
}

void
arena_free(struct arena *a)
{
	struct arena all = *a;

	*a = (struct arena){ 0 };
	arena_restore(&all, (struct arena_mark){ NULL, 0, 0 });
}

/* The first byte determines the range of the second: RFC 3629 section 4. */
size_t
utf8_get(const char *p, const char *end, uint32_t *cp)
{
	const unsigned char *s = (const unsigned char *)p;
	size_t i, n, have = (size_t)(end - p);
	unsigned lo = 0x80, hi = 0xBF;
	uint32_t c;

	if (have == 0)
		return 0;
	c = s[0];
	if (c < 0x80) {
		*cp = c;
		return 1;
	}
	n = c < 0xC2 ? 0 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : c < 0xF5 ? 4 : 0;
	if (n == 0 || have < n)
		return 0;
	if (c == 0xE0)
		lo = 0xA0;
	else if (c == 0xED)
		hi = 0x9F;
	else if (c == 0xF0)
		lo = 0x90;
	else if (c == 0xF4)
		hi = 0x8F;
	if (s[1] < lo || s[1] > hi)
		return 0;
	c &= 0x7Fu >> n;
	for (i = 1; i < n; i++) {
		if ((s[i] & 0xC0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3F);
	}
	*cp = c;
	return n;
}

size_t
utf8_put(char out[4], uint32_t cp)
{
	static const unsigned char lead[] = { 0, 0, 0xC0, 0xE0, 0xF0 };
	size_t i, n = cp < 0x80 ? 1 : cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;

	for (i = n; i > 1; i--) {
		out[i - 1] = (char)(0x80 | (cp & 0x3F));
		cp >>= 6;
	}
	out[0] = (char)(lead[n] | cp);
	return n;
}

bool
utf8_valid(struct str s)
{
	uint32_t cp;
	size_t i, k;

	for (i = 0; i < s.n; i += k)
		if ((k = utf8_get(s.p + i, s.p + s.n, &cp)) == 0)
			return false;
	return true;
}

struct str
utf8_cut(struct str s, size_t max)
{
	if (s.n <= max)
		return s;
	s.n = max;
	while (s.n > 0 && ((unsigned char)s.p[s.n] & 0xC0) == 0x80)
		s.n--;
	return s;
}

struct str
utf8_cut_head(struct str s, size_t max)
{
	size_t i = s.n > max ? s.n - max : 0;

	while (i > 0 && i < s.n && ((unsigned char)s.p[i] & 0xC0) == 0x80)
		i++;
	return (struct str){ s.p + i, s.n - i };
}

/* A long message names a thing and ends with the reason: keep both ends. */
static void
put_ends(char *msg, size_t size, struct str all)
{
	const char dots[] = "...";
	struct str head = utf8_cut(all, size * 2 / 5);
	struct str tail = utf8_cut_head(all, size - head.n - sizeof(dots));

	memcpy(msg, head.p, head.n);
	memcpy(msg + head.n, dots, sizeof(dots) - 1);
	memcpy(msg + head.n + sizeof(dots) - 1, tail.p, tail.n);
	msg[head.n + sizeof(dots) - 1 + tail.n] = '\0';
}

int
err_set(struct err *e, enum err_code code, const char *fmt, ...)
{
	struct arena a = { 0 };
	va_list ap;
	int n;

	*e = (struct err){ .code = code };
	va_start(ap, fmt);
	n = vsnprintf(e->msg, sizeof(e->msg), fmt, ap);
	va_end(ap);
	if (n < (int)sizeof(e->msg))
		return -1;
	va_start(ap, fmt);
	put_ends(e->msg, sizeof(e->msg), arena_vfmt(&a, fmt, ap));
	va_end(ap);
	arena_free(&a);
	return -1;
}

int
err_sys(struct err *e, const char *what)
{
	int sys = errno;

	err_set(e, ERR_SYS, "%s: %s", what, strerror(sys));
	e->sys = sys;
	return -1;
}

const char *
err_advice(const struct err *e)
{
	if (e->code != ERR_SYS)
		return "";
	switch (e->sys) {
	case ENOENT:
		return "; check the path";
	case EACCES:
	case EPERM:
		return "; check the permissions";
	case ENOTDIR:
		return "; name a directory";
	case EISDIR:
		return "; name a file";
	case ENOSPC:
		return "; make room on the disk";
	}
	return "";
}

int
err_at(struct err *e, unsigned line, unsigned col)
{
	e->line = line;
	e->col = col;
	return -1;
}
