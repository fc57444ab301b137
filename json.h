/* SPDX-License-Identifier: ISC */
/*
 * json.h: json_.  A JSON reader, value tree and writer in one header, in C99
 * without other dependencies.  Including it declares the functions; exactly
 * one source file also defines them:
 *
 *	#define JSON_IMPLEMENTATION
 *	#include "json.h"
 *
 * READING.  The reader accepts exactly RFC 8259.  The text must be UTF-8
 * without a byte order mark; lone surrogates, control characters in strings
 * and nesting beyond a limit are errors.  The tree is allocated by a hook of
 * the caller and borrows strings and numbers from the text, so both must
 * outlive it.  Nothing is freed separately: an arena suits best.  Time and
 * memory are linear in the text, and n log n in the members of one object.
 *
 *	struct json_error e;
 *	struct json *v = json_read(&mem, text, 0, &e);
 *	if (v == NULL)
 *		printf("%u:%u: %s\n", e.line, e.col, e.msg);
 *	else if (json_int(json_getc(v, "id"), &id))
 *		...
 *
 * VALUES.  A value is a struct json.  Numbers keep their spelling, so none
 * loses precision until it is converted.  If an object repeats a name, the
 * last value takes the place of the first.  Do not change a tree after
 * reading it.
 *
 * WRITING.  The writer calls a hook with pieces of output and allocates
 * nothing.  It places commas, line breaks and indentation, and always writes
 * valid JSON: ill-formed UTF-8 becomes U+FFFD, and a double that JSON cannot
 * express (infinity, NaN) becomes null.
 *
 *	struct json_out o = { .put = write_bytes, .ctx = file };
 *	json_open(&o, '{');
 *	json_put_member_int(&o, "id", 7);
 *	json_close(&o, '}');
 */
#ifndef JSON_H
#define JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef STRUCT_STR
#define STRUCT_STR
struct str {			/* borrowed bytes, not NUL-terminated */
	const char *p;
	size_t n;
};
#endif

enum {
	JSON_DEPTH = 128,	/* default limit of nesting */
	JSON_COL_MAX = 65535	/* larger columns are stored as this */
};

enum json_type {
	JSON_NULL,
	JSON_BOOL,
	JSON_NUMBER,
	JSON_STRING,
	JSON_ARRAY,
	JSON_OBJECT
};

/*
 * One value.  Read type, lines and columns directly, everything else through
 * the functions below.  Code that builds trees without json_read() fills all
 * fields, links children by next, and calls json_seal() on each complete
 * object.
 *
 * Elements of arrays that json_read() made end before the last three fields,
 * which only members need: json_key() knows that.  So copy such nodes by
 * json_copy(), not by assignment.
 */
struct json {
	struct json *next;	/* the next sibling, or NULL */
	union {
		const char *text;	/* number as spelt, decoded string */
		struct json *child;	/* the first of an array or object */
	} u;
	uint32_t n;		/* bytes of text, number of children, or 0/1 */
	uint32_t line;		/* 1-based; 0: unknown */
	uint16_t col, key_col;	/* 1-based, in bytes */
	uint8_t type;		/* enum json_type */
	uint8_t indexed;	/* private to json_seal() */
	uint8_t sourced;	/* see json_source() */
	uint8_t form;		/* private to json_read(); elsewhere 0 */

	const char *key;	/* this member's name; NULL outside objects */
	uint32_t nkey;		/* bytes of the name */
	uint32_t key_line;	/* as line */
};

/*
 * Allocates n bytes, aligned for a struct json; they need not be zeroed.
 * NULL means out of memory.
 */
struct json_mem {
	void *(*alloc)(void *ctx, size_t n);
	void *ctx;
};

struct json_error {
	const char *msg;	/* a string constant */
	size_t off;		/* offset of the error in the text */
	unsigned line, col;	/* of that offset; 1-based, col in bytes */
};

/*
 * Reads a text that contains one value, at most `depth` levels deep (0 means
 * JSON_DEPTH).  Returns NULL and fills *e on failure; then memory taken from
 * the hook is not used any more.
 */
struct json *json_read(const struct json_mem *, struct str text,
    unsigned depth, struct json_error *e);

/*
 * As json_read(), but the value may be followed by other text: *used is the
 * number of bytes read.
 */
struct json *json_read_prefix(const struct json_mem *, struct str text,
    unsigned depth, size_t *used, struct json_error *e);

/* The line and column of an offset, both 1-based. */
void json_place(struct str text, size_t off, unsigned *line, unsigned *col);

/* The type for messages, with an article: "a string", "null". */
const char *json_type_name(enum json_type);

/* The name of a member; p is NULL outside objects. */
struct str json_key(const struct json *);
/* A copy with all fields.  It shares text and children. */
struct json json_copy(const struct json *);
/* A decoded string, or a number as JSON spells it; else empty. */
struct str json_text(const struct json *);
/* Whether the value is true; false for any other value. */
bool json_bool(const struct json *);
/* The number of children of an array or object; else 0. */
size_t json_count(const struct json *);

/*
 * The original spelling of a number or boolean, for trees that were read from
 * a language with other spellings; else json_text(), "true" or "false".  Code
 * that builds such a tree sets `sourced`, and stores the NUL-terminated
 * spelling in u.text (booleans) or after a NUL behind u.text (numbers).
 */
struct str json_source(const struct json *);

/*
 * The first child, or NULL if there is none, or if the value is NULL or not
 * an array or object: for (v = json_first(a); v != NULL; v = v->next).
 */
struct json *json_first(const struct json *);

/*
 * The member with that name, or NULL if there is none, or if the value is
 * NULL or not an object.  json_str() returns the text of a member that is a
 * string; else it is empty.
 */
struct json *json_get(const struct json *, struct str name);
struct json *json_getc(const struct json *, const char *name);
struct str json_str(const struct json *, const char *name);

/* Whether there is a value other than null. */
bool json_is_set(const struct json *);

/*
 * Each converts a number; false if the value is NULL, not a number or out of
 * range.  json_int() never rounds: 1e2 and 3.0 are integers, 3.5 is not.
 * json_double() rounds to the nearest double.
 */
bool json_int(const struct json *, int64_t *);
bool json_double(const struct json *, double *);

/* Whether two values are equal: numbers by value, members in any order. */
bool json_equal(const struct json *, const struct json *);

/*
 * The same with a hook, which is called for each pair of values of the same
 * type: 1 equal, 0 not equal, -1 compare them as json_equal() does.
 */
bool json_equal_with(const struct json *, const struct json *,
    int (*hook)(void *ctx, const struct json *, const struct json *),
    void *ctx);

/*
 * Completes an object that was built without json_read(): resolves duplicate
 * names and makes lookups fast.  If last_wins, later values replace earlier
 * ones and the result is NULL.  Otherwise returns the first duplicate member,
 * and the object is not usable, or NULL.  If memory runs out, lookups are
 * slower, but correct.
 */
const struct json *json_seal(const struct json_mem *, struct json *obj,
    bool last_wins);

/*
 * A writer.  Set put, ctx and indent, zero the rest.  The caller must balance
 * brackets and alternate names and values in objects.
 */
struct json_out {
	void (*put)(void *ctx, const char *p, size_t n);
	void *ctx;
	unsigned indent;	/* spaces per level; 0: all on one line */
	unsigned depth;		/* private, like all that follow */
	bool more;		/* a value precedes in this container */
	bool named;		/* a key precedes */
};

/*
 * Each writes one token or value; in an object, json_put_key() precedes each
 * value.  Brackets are '{', '[' and '}', ']'.  A double is written with the
 * fewest digits that read back as the same value.  json_put_raw() copies text
 * that must be one JSON value; json_put() writes a tree, or null for NULL.
 */
void json_open(struct json_out *, char bracket);
void json_close(struct json_out *, char bracket);
void json_put_key(struct json_out *, struct str);
void json_put_str(struct json_out *, struct str);
void json_put_cstr(struct json_out *, const char *);
void json_put_int(struct json_out *, int64_t);
void json_put_double(struct json_out *, double);
void json_put_bool(struct json_out *, bool);
void json_put_null(struct json_out *);
void json_put_raw(struct json_out *, struct str json);
void json_put(struct json_out *, const struct json *);

/*
 * Each writes a member of an object: its name, then its value as above.
 * json_open_member() opens a member that is an object or array.  An empty
 * string makes json_put_member_nonempty() write nothing.
 */
void json_put_member(struct json_out *, const char *name, const struct json *);
void json_put_member_str(struct json_out *, const char *name, struct str);
void json_put_member_nonempty(struct json_out *, const char *name, struct str);
void json_put_member_cstr(struct json_out *, const char *name, const char *);
void json_put_member_int(struct json_out *, const char *name, int64_t);
void json_put_member_double(struct json_out *, const char *name, double);
void json_put_member_bool(struct json_out *, const char *name, bool);
void json_put_member_null(struct json_out *, const char *name);
void json_put_member_raw(struct json_out *, const char *name, struct str json);
void json_open_member(struct json_out *, const char *name, char bracket);

/*
 * Formats the shortest decimal that reads back as d, or "null", NUL-terminated,
 * and returns its length.
 */
size_t json_format_double(char out[32], double d);

#endif

#if defined(JSON_IMPLEMENTATION) && !defined(JSON_IMPLEMENTED)
#define JSON_IMPLEMENTED

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether each operation on doubles rounds to double; if unknown, no. */
#ifdef FLT_EVAL_METHOD
#define JSON_EXACT (FLT_EVAL_METHOD == 0)
#else
#define JSON_EXACT 0
#endif

/* For the hot path, which clang would not inline otherwise, and for others. */
#if defined(__GNUC__)
#define JSON_INLINE static inline __attribute__((always_inline))
#define JSON_APART static __attribute__((noinline))
#else
#define JSON_INLINE static inline
#define JSON_APART static
#endif

/*
 * Reader.  It needs neither recursion nor a stack: while a container is open,
 * its next field points to the enclosing container, and `tail` to the place
 * where the next child is linked.  Closing the container restores both.
 */
enum { JSON_SMALL = 16 };	/* objects up to this size need no index */
enum { JSON_BRIEF = 1, JSON_BARE = 2 };	/* bits of json.form */
#define JSON_BARE_SIZE offsetof(struct json, key)

struct json_reader {
	const struct json_mem *mem;
	const char *begin, *end;
	const char *bol;	/* the start of the current line */
	uint32_t line;
	unsigned room;		/* levels that may still be opened */
	char *slab, *slab_end;	/* unused memory for nodes */
	struct json *open;	/* innermost open container */
	struct json **tail;
	const char *msg, *at;	/* the error and its place */
};

static const char *
json_fail(struct json_reader *r, const char *at, const char *msg)
{
	r->msg = msg;
	r->at = at;
	return NULL;
}

static const char *
json_unexpected(struct json_reader *r, const char *p, const char *msg)
{
	return json_fail(r, p, p < r->end ? msg : "unexpected end of input");
}

void
json_place(struct str text, size_t off, unsigned *line, unsigned *col)
{
	size_t i, bol = 0;

	*line = 1;
	for (i = 0; i < off && i < text.n; i++)
		if (text.p[i] == '\n') {
			++*line;
			bol = i + 1;
		}
	*col = (unsigned)(off - bol) + 1;
}

static uint16_t
json_col(const struct json_reader *r, const char *p)
{
	size_t col = (size_t)(p - r->bol) + 1;

	return (uint16_t)(col < JSON_COL_MAX ? col : JSON_COL_MAX);
}

/*
 * Allocates a slab for nodes, sized by the rest of the text: few calls of the
 * hook for a long text, little unused memory for a short one.
 */
static bool
json_stock(struct json_reader *r, const char *p)
{
	size_t n = (size_t)(r->end - p) / 20;

	n = (n < 1 ? 1 : n > 512 ? 512 : n) * sizeof(struct json);
	r->slab = r->mem->alloc(r->mem->ctx, n);
	if (r->slab == NULL) {
		json_fail(r, p, "out of memory");
		return false;
	}
	r->slab_end = r->slab + n;
	return true;
}

/*
 * Eight bytes of text at a time, the first one lowest.  A test sets the top
 * bit of the first byte that matches (and maybe, wrongly, of later ones, as
 * borrows and carries move up); json_before_top() counts the bytes before it.
 */
#define JSON_ONES UINT64_C(0x0101010101010101)
#define JSON_TOPS (JSON_ONES << 7)

JSON_INLINE uint64_t
json_load(const char *p)
{
	const unsigned char *s = (const unsigned char *)p;

	return s[0] | (uint64_t)s[1] << 8 | (uint64_t)s[2] << 16 |
	    (uint64_t)s[3] << 24 | (uint64_t)s[4] << 32 | (uint64_t)s[5] << 40 |
	    (uint64_t)s[6] << 48 | (uint64_t)s[7] << 56;
}

/* The same for n <= 8 bytes; the rest is 0. */
JSON_INLINE uint64_t
json_load_few(const char *p, size_t n)
{
	const unsigned char *s = (const unsigned char *)p, *t;
	uint32_t lo, hi;

	if (n >= 4) {		/* two halves, which may overlap */
		t = s + n - 4;
		lo = s[0] | (uint32_t)s[1] << 8 | (uint32_t)s[2] << 16 |
		    (uint32_t)s[3] << 24;
		hi = t[0] | (uint32_t)t[1] << 8 | (uint32_t)t[2] << 16 |
		    (uint32_t)t[3] << 24;
		return lo | (uint64_t)hi << 8 * (n - 4);
	}
	return n == 0 ? 0 : s[0] | (uint64_t)s[n / 2] << 8 * (n / 2) |
	    (uint64_t)s[n - 1] << 8 * (n - 1);
}

JSON_INLINE size_t
json_before_top(uint64_t x)
{
#if defined(__GNUC__)
	return (size_t)__builtin_ctzll(x) / 8;
#else
	size_t n;

	for (n = 0; (x & 0xFF) == 0; x >>= 8)
		n++;
	return n;
#endif
}

static const char *
json_blank(struct json_reader *r, const char *p)
{
	uint64_t x;

	for (; p < r->end && (unsigned char)*p <= ' '; p++) {
		if (*p == '\n') {
			r->line++;
			r->bol = p + 1;
			for (x = 0; x == 0 && r->end - p > 8; ) {
				x = json_load(p + 1) ^ JSON_ONES * ' ';
				p += x == 0 ? 8 : json_before_top(x);
			}
		} else if (*p != ' ' && *p != '\t' && *p != '\r')
			break;
	}
	return p;
}

JSON_INLINE const char *
json_space(struct json_reader *r, const char *p)
{
	return p < r->end && (unsigned char)*p > ' ' ? p : json_blank(r, p);
}

/*
 * The length of the well-formed sequence at p (RFC 3629 section 4), or 0.
 * The masks select the fixed bits of each byte; t are the bits that tell
 * overlong forms (all zero), surrogates and values above U+10FFFF.
 */
static inline size_t
json_utf8(const char *p, const char *end)
{
	const unsigned char *s = (const unsigned char *)p;
	size_t have = (size_t)(end - p);
	uint32_t x = s[0], t;

	x |= have > 1 ? (uint32_t)s[1] << 8 : 0;
	x |= have > 2 ? (uint32_t)s[2] << 16 : 0;
	if ((x & 0xC0C0F0) == 0x8080E0) {
		t = x & 0x200F;
		return t != 0 && t != 0x200D ? 3 : 0;
	}
	if ((x & 0xC0E0) == 0x80C0)
		return (x & 0x1E) != 0 ? 2 : 0;
	t = x & 0x3007;
	return (x & 0xC0C0F8) == 0x8080F0 && have > 3 &&
	    (s[3] & 0xC0) == 0x80 && t != 0 && ((t & 7) < 4 || t == 4) ? 4 : 0;
}

/* Marks those of eight bytes that are not plain text in a string. */
JSON_INLINE uint64_t
json_special(uint64_t x)
{
	return ((x - JSON_ONES * 0x20) | ((x ^ JSON_ONES * '"') - JSON_ONES) |
	    ((x ^ JSON_ONES * '\\') - JSON_ONES) | x) & JSON_TOPS;
}

/* Skips bytes that are plain text in a string. */
JSON_INLINE const char *
json_plain(const char *p, const char *end)
{
	uint64_t x;

	for (; end - p >= 8; p += 8)
		if ((x = json_special(json_load(p))) != 0)
			return p + json_before_top(x);
	while (p < end && (unsigned char)*p >= 0x20 && *p != '"' &&
	    *p != '\\' && (unsigned char)*p < 0x80)
		p++;
	return p;
}

/* Skips plain text and UTF-8 up to a quote or backslash; NULL: error. */
static const char *
json_run(struct json_reader *r, const char *p)
{
	size_t k;

	for (;;) {
		p = json_plain(p, r->end);
		if (p == r->end)
			return json_fail(r, p,
			    "unexpected end of input in a string");
		if (*p == '"' || *p == '\\')
			return p;
		if ((unsigned char)*p < 0x20)
			return json_fail(r, p, "control character in a string: "
			    "it must be escaped");
		do {
			k = json_utf8(p, r->end);
			if (k == 0)
				return json_fail(r, p, "invalid UTF-8");
			p += k;
		} while (p < r->end && (unsigned char)*p >= 0x80);
	}
}

static int
json_hex4(const char *p, const char *end, unsigned *u)
{
	int i, c;

	if (end - p < 4)
		return -1;
	for (*u = 0, i = 0; i < 4; i++) {
		c = (unsigned char)p[i];
		if (c >= '0' && c <= '9')
			c -= '0';
		else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
			c = (c | 0x20) - 'a' + 10;
		else
			return -1;
		*u = *u << 4 | (unsigned)c;
	}
	return 0;
}

static char *
json_encode(char *out, unsigned u)
{
	static const unsigned char lead[] = { 0, 0xC0, 0xE0, 0xF0 };
	int more = u < 0x80 ? 0 : u < 0x800 ? 1 : u < 0x10000 ? 2 : 3;

	*out++ = (char)(lead[more] | u >> 6 * more);
	while (more-- > 0)
		*out++ = (char)(0x80 | (u >> 6 * more & 0x3F));
	return out;
}

/* \uXXXX, or two of them for a surrogate pair; p is after "\u". */
static const char *
json_unicode(struct json_reader *r, const char *p, char **out)
{
	const char *esc = p - 2;
	unsigned u, lo;

	if (json_hex4(p, r->end, &u) == -1)
		return json_fail(r, esc, "\\u needs four hexadecimal digits");
	p += 4;
	if (u >= 0xDC00 && u < 0xE000)
		return json_fail(r, esc, "lone surrogate");
	if (u >= 0xD800 && u < 0xDC00) {
		if (r->end - p < 6 || p[0] != '\\' || p[1] != 'u' ||
		    json_hex4(p + 2, r->end, &lo) == -1 ||
		    lo < 0xDC00 || lo > 0xDFFF)
			return json_fail(r, esc, "lone surrogate");
		p += 6;
		u = 0x10000 + ((u - 0xD800) << 10) + (lo - 0xDC00);
	}
	*out = json_encode(*out, u);
	return p;
}

static const char *
json_escape(struct json_reader *r, const char *p, char **out)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *hit;

	if (r->end - p < 2)
		return json_fail(r, r->end,
		    "unexpected end of input in a string");
	if (p[1] == 'u')
		return json_unicode(r, p + 2, out);
	hit = memchr(from, p[1], sizeof(from) - 1);
	if (hit == NULL)
		return json_fail(r, p, "unknown escape in a string");
	*(*out)++ = to[hit - from];
	return p + 2;
}

/* The first quote after an even number of backslashes, or end. */
static const char *
json_closing(const char *p, const char *end)
{
	const char *q, *b;

	for (; (q = memchr(p, '"', (size_t)(end - p))) != NULL; p = q + 1) {
		for (b = q; b > p && b[-1] == '\\'; )
			b--;
		if ((q - b) % 2 == 0)
			return q;
	}
	return end;
}

/*
 * Decodes a string whose first escape is at p.  No escape decodes to more
 * bytes than it has, so the length of the source is sufficient.
 */
static const char *
json_decode(struct json_reader *r, const char *start, const char *p,
    struct str *text)
{
	const char *run, *q = json_closing(p, r->end);
	char *out, *buf;

	buf = r->mem->alloc(r->mem->ctx, (size_t)(q - start) + 1);
	if (buf == NULL)
		return json_fail(r, p, "out of memory");
	memcpy(buf, start, (size_t)(p - start));
	out = buf + (p - start);
	while (*p == '\\') {
		run = json_escape(r, p, &out);
		if (run == NULL || (p = json_run(r, run)) == NULL)
			return NULL;
		memcpy(out, run, (size_t)(p - run));
		out += p - run;
	}
	*text = (struct str){ buf, (size_t)(out - buf) };
	return p + 1;
}

static const char *
json_string_rest(struct json_reader *r, const char *start, const char *p,
    struct str *text)
{
	p = json_run(r, p);
	if (p == NULL)
		return NULL;
	if (*p == '\\')
		return json_decode(r, start, p, text);
	*text = (struct str){ start, (size_t)(p - start) };
	return p + 1;
}

/* Reads the string whose opening quote is at p; returns its end. */
JSON_INLINE const char *
json_string(struct json_reader *r, const char *p, struct str *text)
{
	const char *start = p + 1;

	p = json_plain(start, r->end);
	if (p == r->end || *p != '"')
		return json_string_rest(r, start, p, text);
	*text = (struct str){ start, (size_t)(p - start) };
	return p + 1;
}

/* Marks those of eight bytes that are not digits. */
JSON_INLINE uint64_t
json_not_digits(uint64_t x)
{
	x ^= JSON_ONES * '0';
	return (x | (x + JSON_ONES * 0x76)) & JSON_TOPS;
}

JSON_INLINE const char *
json_past_digits(const char *p, const char *end)
{
	uint64_t x;

	for (; end - p >= 8; p += 8)
		if ((x = json_not_digits(json_load(p))) != 0)
			return p + json_before_top(x);
	while (p < end && *p >= '0' && *p <= '9')
		p++;
	return p;
}

static const char *
json_digits(struct json_reader *r, const char *p)
{
	const char *q = json_past_digits(p, r->end);

	return q > p ? q :
	    json_unexpected(r, p, "a digit is missing in a number");
}

/*
 * Integers of up to eight digits are common: they are marked as brief, if the
 * text continues for eight bytes, so that one load converts them.
 */
static const char *
json_number(struct json_reader *r, const char *p, struct json *v)
{
	const char *first;

	v->type = JSON_NUMBER;
	v->u.text = p;
	first = p += *p == '-';
	p = json_past_digits(p, r->end);
	if (p == first)
		return json_digits(r, p);	/* fails */
	if (*first == '0' && p > first + 1)
		return json_fail(r, first, "a number has a leading zero");
	if (p < r->end && *p != '.' && (*p | 0x20) != 'e') {
		v->n = (uint32_t)(p - v->u.text);
		v->form |= (p - first <= 8) & (r->end - first >= 8);
		return p;
	}
	if (p < r->end && *p == '.') {
		first = ++p;
		p = json_past_digits(p, r->end);
		if (p == first)
			return json_digits(r, p);
	}
	if (p < r->end && (*p | 0x20) == 'e') {
		p++;
		if (p < r->end && (*p == '+' || *p == '-'))
			p++;
		if ((p = json_digits(r, p)) == NULL)
			return NULL;
	}
	v->n = (uint32_t)(p - v->u.text);
	return p;
}

static const char *
json_word(struct json_reader *r, const char *p, struct json *v)
{
	size_t have = (size_t)(r->end - p);

	if (have >= 4 && memcmp(p, "null", 4) == 0)
		return p + 4;	/* as *v is 0 */
	v->type = JSON_BOOL;
	v->n = *p == 't';
	if (have >= 4 && memcmp(p, "true", 4) == 0)
		return p + 4;
	if (have >= 5 && memcmp(p, "false", 5) == 0)
		return p + 5;
	if (p == r->begin && have >= 3 && memcmp(p, "\xEF\xBB\xBF", 3) == 0)
		return json_fail(r, p, "byte order mark before the text");
	return json_unexpected(r, p, "expected a value");
}

/* Opens a container; returns the place of its first child or bracket. */
static const char *
json_enter(struct json_reader *r, const char *p, struct json *v)
{
	if (r->room == 0)
		return json_fail(r, p, "nested too deeply");
	r->room--;
	v->type = *p == '{' ? JSON_OBJECT : JSON_ARRAY;
	v->u.child = NULL;
	v->next = r->open;
	r->open = v;
	r->tail = &v->u.child;
	return json_space(r, p + 1);
}

static void
json_leave(struct json_reader *r)
{
	struct json *v = r->open;

	if (v->type == JSON_OBJECT)
		json_seal(r->mem, v, true);
	r->open = v->next;
	v->next = NULL;
	r->tail = &v->next;
	r->room++;
}

JSON_INLINE const char *
json_name(struct json_reader *r, const char *p, struct json *v)
{
	struct str key;

	if (p == r->end || *p != '"')
		return json_unexpected(r, p,
		    "expected a name in double quotes");
	v->key_line = r->line;
	v->key_col = json_col(r, p);
	p = json_string(r, p, &key);
	if (p == NULL)
		return NULL;
	r->open->n++;
	v->key = key.p;
	v->nkey = (uint32_t)key.n;
	p = json_space(r, p);
	if (p == r->end || *p != ':')
		return json_unexpected(r, p, "expected ':' after a name");
	return json_space(r, p + 1);
}

/* Reads a value, with its name in an object; only opens containers. */
JSON_INLINE const char *
json_value(struct json_reader *r, const char *p)
{
	struct json *v;
	struct str text;

	if (r->slab_end - r->slab < (ptrdiff_t)sizeof(*v) && !json_stock(r, p))
		return NULL;
	v = (struct json *)(void *)r->slab;
	if (r->open != NULL && r->open->type == JSON_ARRAY) {
		r->open->n++;
		r->slab += JSON_BARE_SIZE;
		memset(v, 0, JSON_BARE_SIZE);
		v->form = JSON_BARE;
	} else {
		r->slab += sizeof(*v);
		*v = (struct json){ 0 };
		if (r->open != NULL && (p = json_name(r, p, v)) == NULL)
			return NULL;
	}
	if (p == r->end)
		return json_unexpected(r, p, "");
	v->line = r->line;
	v->col = json_col(r, p);
	*r->tail = v;
	r->tail = &v->next;
	if (*p == '"') {
		v->type = JSON_STRING;
		p = json_string(r, p, &text);
		if (p == NULL)
			return NULL;
		v->u.text = text.p;
		v->n = (uint32_t)text.n;
		return p;
	}
	if (*p == '{' || *p == '[')
		return json_enter(r, p, v);
	if (*p >= '-' && *p <= '9' && *p != '.' && *p != '/')
		return json_number(r, p, v);
	return json_word(r, p, v);
}

/* Skips commas and closing brackets up to the next value or the end. */
static const char *
json_after(struct json_reader *r, const char *p)
{
	while (r->open != NULL) {
		p = json_space(r, p);
		if (p < r->end && *p == ',')
			return json_space(r, p + 1);
		if (p == r->end ||
		    *p != (r->open->type == JSON_OBJECT ? '}' : ']'))
			return json_unexpected(r, p,
			    r->open->type == JSON_OBJECT ?
			    "expected ',' or '}'" : "expected ',' or ']'");
		json_leave(r);
		p++;
	}
	return p;
}

static const char *
json_tree(struct json_reader *r, const char *p)
{
	struct json *open;

	do {
		open = r->open;
		p = json_value(r, p);
		if (p == NULL)
			return NULL;
		if (r->open != open && (p == r->end ||
		    *p != (r->open->type == JSON_OBJECT ? '}' : ']')))
			continue;	/* opened, and not empty */
		p = json_after(r, p);
		if (p == NULL)
			return NULL;
	} while (r->open != NULL);
	return p;
}

/* If used is NULL, nothing but white space may follow the value. */
struct json *
json_read_prefix(const struct json_mem *mem, struct str text, unsigned depth,
    size_t *used, struct json_error *e)
{
	struct json_reader r = {
		.mem = mem, .line = 1, .room = depth > 0 ? depth : JSON_DEPTH
	};
	struct json *root = NULL;
	const char *p;

	if (text.n == 0)
		text.p = "";	/* instead of NULL */
	r.begin = r.bol = text.p;
	r.end = text.p + text.n;
	r.tail = &root;
	if (text.n > UINT32_MAX - 1)
		p = json_fail(&r, text.p, "longer than 4 GiB");
	else if (json_stock(&r, text.p))
		p = json_tree(&r, json_space(&r, text.p));
	else
		p = NULL;
	if (p != NULL && used == NULL && (p = json_space(&r, p)) != r.end)
		p = json_fail(&r, p, "unexpected text after the value");
	if (p == NULL) {
		e->msg = r.msg;
		e->off = (size_t)(r.at - r.begin);
		json_place(text, e->off, &e->line, &e->col);
		return NULL;
	}
	if (used != NULL)
		*used = (size_t)(p - r.begin);
	return root;
}

struct json *
json_read(const struct json_mem *mem, struct str text, unsigned depth,
    struct json_error *e)
{
	return json_read_prefix(mem, text, depth, NULL, e);
}

/*
 * Objects.  Up to JSON_SMALL members are searched linearly; a 256-bit set of
 * hashed names detects duplicates, almost always without comparisons.  Larger
 * objects have an array sorted by hash and name, stored in a hidden node
 * before the first member: unlike a hash table it has no worst-case input.
 */
struct json_slot {
	uint64_t hash;
	struct json *v;
};

static uint64_t
json_hash(const char *p, size_t n)
{
	uint64_t h = n + 1, x;

	for (; n >= 8; p += 8, n -= 8) {
		memcpy(&x, p, 8);
		h = (h ^ x) * UINT64_C(0x9E3779B97F4A7C15);
		h ^= h >> 32;
	}
	for (; n > 0; p++, n--)
		h = (h ^ (unsigned char)*p) * UINT64_C(0x100000001B3);
	h *= UINT64_C(0x9E3779B97F4A7C15);
	return h ^ h >> 29;
}

static int
json_slot_cmp(const struct json_slot *a, uint64_t hash, const char *key,
    size_t nkey)
{
	if (a->hash != hash)
		return a->hash < hash ? -1 : 1;
	if (a->v->nkey != nkey)
		return a->v->nkey < nkey ? -1 : 1;
	return nkey == 0 ? 0 : memcmp(a->v->key, key, nkey);
}

/* A stable bottom-up merge sort; the result is one of the two arrays. */
static struct json_slot *
json_sort(struct json_slot *a, struct json_slot *b, size_t n)
{
	size_t width, lo, mid, hi, i, j, k;
	struct json_slot *t;

	for (width = 1; width < n; width *= 2) {
		for (lo = 0; lo < n; lo = hi) {
			mid = n - lo < width ? n : lo + width;
			hi = n - mid < width ? n : mid + width;
			for (i = lo, j = mid, k = lo; k < hi; k++)
				if (j == hi || (i < mid && json_slot_cmp(&a[i],
				    a[j].hash, a[j].v->key, a[j].v->nkey) <= 0))
					b[k] = a[i++];
				else
					b[k] = a[j++];
		}
		t = a;
		a = b;
		b = t;
	}
	return a;
}

static bool
json_same_key(const struct json *a, const struct json *b)
{
	return a->nkey == b->nkey &&
	    (a->nkey == 0 || memcmp(a->key, b->key, a->nkey) == 0);
}

static void
json_replace(struct json *old, const struct json *by)
{
	old->u = by->u;
	old->n = by->n;
	old->line = by->line;
	old->col = by->col;
	old->type = by->type;
	old->indexed = by->indexed;
	old->sourced = by->sourced;
	old->form = by->form;
}

static const struct json *
json_seal_small(struct json *obj, bool last_wins)
{
	struct json *v, *w, *prev = NULL;
	uint64_t seen[4] = { 0 }, bit;
	unsigned h;

	for (v = obj->u.child; v != NULL; v = v->next) {
		h = v->nkey;
		if (v->nkey > 0)
			h += (unsigned char)v->key[0] * 5u +
			    (unsigned char)v->key[v->nkey - 1] * 11u +
			    (unsigned char)v->key[v->nkey / 2] * 23u;
		bit = (uint64_t)1 << (h & 63);
		w = v;
		if (seen[h >> 6 & 3] & bit)
			for (w = obj->u.child; w != v; w = w->next)
				if (json_same_key(w, v))
					break;
		seen[h >> 6 & 3] |= bit;
		if (w == v) {
			prev = v;
			continue;
		}
		if (!last_wins)
			return v;
		json_replace(w, v);
		prev->next = v->next;
		obj->n--;
	}
	return NULL;
}

static bool
json_before(const struct json *a, const struct json *b)
{
	return a->key_line != b->key_line ? a->key_line < b->key_line :
	    a->key_col < b->key_col;
}

/* The member, first in the text, that repeats an earlier name; or NULL. */
static const struct json *
json_duplicate(const struct json_slot *s, size_t n)
{
	const struct json *dup = NULL;
	size_t i;

	for (i = 1; i < n; i++)
		if (s[i - 1].hash == s[i].hash &&
		    json_same_key(s[i - 1].v, s[i].v) &&
		    (dup == NULL || json_before(s[i].v, dup)))
			dup = s[i].v;
	return dup;
}

/*
 * Removes repeated names, which are adjacent in s and in order: keeps one slot
 * of each and unlinks the other nodes.  Returns the number of slots left.
 */
static size_t
json_unique(struct json *obj, struct json_slot *s, size_t n)
{
	struct json **link, *v;
	size_t i, k = 0;

	for (i = 1; i < n; i++) {
		if (s[k].hash != s[i].hash || !json_same_key(s[k].v, s[i].v)) {
			s[++k] = s[i];
			continue;
		}
		json_replace(s[k].v, s[i].v);
		s[i].v->key = NULL;
	}
	for (link = &obj->u.child; (v = *link) != NULL; )
		if (v->key == NULL)
			*link = v->next;
		else
			link = &v->next;
	return k + 1;
}

const struct json *
json_seal(const struct json_mem *mem, struct json *obj, bool last_wins)
{
	const struct json *dup;
	struct json_slot *s;
	struct json *index, *v;
	size_t i = 0, n = obj->n;

	if (n <= JSON_SMALL)
		return n < 2 ? NULL : json_seal_small(obj, last_wins);
	s = mem->alloc(mem->ctx, 2 * n * sizeof(*s));
	index = mem->alloc(mem->ctx, sizeof(*index));
	if (s == NULL || index == NULL)
		return json_seal_small(obj, last_wins);
	for (v = obj->u.child; v != NULL; v = v->next, i++)
		s[i] = (struct json_slot){ json_hash(v->key, v->nkey), v };
	s = json_sort(s, s + n, n);
	dup = json_duplicate(s, n);
	if (dup != NULL && !last_wins)
		return dup;
	if (dup != NULL)
		n = json_unique(obj, s, n);
	*index = (struct json){ .next = obj->u.child };
	index->u.text = (const char *)s;
	index->n = obj->n = (uint32_t)n;
	obj->u.child = index;
	obj->indexed = 1;
	return NULL;
}

static struct json *
json_find(const struct json *obj, struct str name)
{
	const struct json *index = obj->u.child;
	const struct json_slot *s =
	    (const struct json_slot *)(const void *)index->u.text;
	uint64_t hash = json_hash(name.p, name.n);
	size_t lo = 0, hi = index->n, mid;
	int c;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		c = json_slot_cmp(&s[mid], hash, name.p, name.n);
		if (c == 0)
			return s[mid].v;
		if (c < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

struct json *
json_get(const struct json *obj, struct str name)
{
	struct json *v;

	if (obj == NULL || obj->type != JSON_OBJECT)
		return NULL;
	if (obj->indexed)
		return json_find(obj, name);
	for (v = obj->u.child; v != NULL; v = v->next)
		if (v->nkey == name.n && (name.n == 0 ||
		    memcmp(v->key, name.p, name.n) == 0))
			return v;
	return NULL;
}

struct json *
json_getc(const struct json *obj, const char *name)
{
	return json_get(obj, (struct str){ name, strlen(name) });
}

struct str
json_str(const struct json *obj, const char *name)
{
	const struct json *v = json_getc(obj, name);

	return v != NULL && v->type == JSON_STRING ? json_text(v) :
	    (struct str){ "", 0 };
}

struct json *
json_first(const struct json *v)
{
	if (v == NULL || (v->type != JSON_ARRAY && v->type != JSON_OBJECT))
		return NULL;
	return v->indexed ? v->u.child->next : v->u.child;
}

size_t
json_count(const struct json *v)
{
	return v->type == JSON_ARRAY || v->type == JSON_OBJECT ? v->n : 0;
}

struct str
json_key(const struct json *v)
{
	return v->form & JSON_BARE ? (struct str){ NULL, 0 } :
	    (struct str){ v->key, v->nkey };
}

struct json
json_copy(const struct json *v)
{
	struct json copy = { 0 };

	memcpy(&copy, v, v->form & JSON_BARE ? JSON_BARE_SIZE : sizeof(copy));
	copy.form &= JSON_BRIEF;
	return copy;
}

struct str
json_text(const struct json *v)
{
	if (v->type != JSON_STRING && v->type != JSON_NUMBER)
		return (struct str){ "", 0 };
	return (struct str){ v->u.text, v->n };
}

static struct str
json_bool_text(bool b)
{
	return b ? (struct str){ "true", 4 } : (struct str){ "false", 5 };
}

struct str
json_source(const struct json *v)
{
	const char *p = v->u.text;

	if (!v->sourced)
		return v->type == JSON_BOOL ? json_bool_text(v->n != 0) :
		    json_text(v);
	if (v->type == JSON_NUMBER)
		p += v->n + 1;
	return (struct str){ p, strlen(p) };
}

bool
json_bool(const struct json *v)
{
	return v->type == JSON_BOOL && v->n != 0;
}

const char *
json_type_name(enum json_type type)
{
	static const char *const names[] = {
		[JSON_NULL] = "null", [JSON_BOOL] = "true or false",
		[JSON_NUMBER] = "a number", [JSON_STRING] = "a string",
		[JSON_ARRAY] = "a list", [JSON_OBJECT] = "a mapping"
	};

	return names[type];
}

/*
 * Numbers are digits times a power of ten.  768 digits determine how any
 * double is rounded; of further digits it only matters whether one is not
 * zero, which the last digit kept records.
 */
enum { JSON_DIGITS = 800 };

struct json_decimal {
	bool neg;
	size_t n;			/* digits, without leading zeros */
	int64_t exp;			/* value = digits * 10^exp */
	char digits[JSON_DIGITS + 32];	/* room for an exponent */
};

static int64_t
json_exponent(const char *p, const char *end)
{
	int64_t e = 0;
	bool neg = p < end && *p == '-';

	if (p < end && (*p == '-' || *p == '+'))
		p++;
	for (; p < end && e < INT64_C(1000000000000); p++)
		e = e * 10 + (*p - '0');
	return neg ? -e : e;
}

/* Parses a number; trailing zeros move into the exponent. */
static void
json_decimal(struct json_decimal *d, struct str s)
{
	const char *p = s.p, *end = s.p + s.n;
	bool frac = false, sticky = false;

	d->neg = p < end && *p == '-';
	d->n = 0;
	d->exp = 0;
	for (p += d->neg; p < end && (*p | 0x20) != 'e'; p++) {
		if (*p == '.') {
			frac = true;
			continue;
		}
		d->exp -= frac;
		if (d->n == JSON_DIGITS) {
			sticky |= *p != '0';
			d->exp++;
		} else if (d->n > 0 || *p != '0')
			d->digits[d->n++] = *p;
	}
	if (p < end)
		d->exp += json_exponent(p + 1, end);
	if (sticky) {
		d->digits[d->n - 1] = '1';
		return;
	}
	for (; d->n > 0 && d->digits[d->n - 1] == '0'; d->n--)
		d->exp++;
}

static uint64_t
json_digits_value(const struct json_decimal *d)
{
	uint64_t u = 0;
	size_t i;

	for (i = 0; i < d->n; i++)
		u = u * 10 + (uint64_t)(d->digits[i] - '0');
	return u;
}

/* Whether JSON can express the number: YAML's .inf and .nan it cannot. */
static bool
json_is_decimal(const struct json *v)
{
	return v != NULL && v->type == JSON_NUMBER && v->n > 0 &&
	    v->u.text[v->n - 1] >= '0' && v->u.text[v->n - 1] <= '9';
}

bool
json_is_set(const struct json *v)
{
	return v != NULL && v->type != JSON_NULL;
}

/* The value of the first n > 0 of eight digits: pairs, fours, all. */
JSON_INLINE uint64_t
json_eight(uint64_t x, size_t n)
{
	x = (x & JSON_ONES * 0x0F) << 8 * (8 - n);
	x = (x * 10 + (x >> 8)) & UINT64_C(0x00FF00FF00FF00FF);
	x = (x * 100 + (x >> 16)) & UINT64_C(0x0000FFFF0000FFFF);
	return (x * 10000 + (x >> 32)) & UINT32_MAX;
}

/* The value of a brief number, without its sign. */
JSON_INLINE int64_t
json_brief(const struct json *v, bool *neg)
{
	*neg = *v->u.text == '-';
	return (int64_t)json_eight(json_load(v->u.text + *neg), v->n - *neg);
}

bool
json_int(const struct json *v, int64_t *out)
{
	struct json_decimal d;
	uint64_t u, max;
	bool neg;

	if (!json_is_decimal(v))
		return false;
	if (v->form & JSON_BRIEF) {
		*out = json_brief(v, &neg);
		*out = neg ? -*out : *out;
		return true;
	}
	json_decimal(&d, json_text(v));
	*out = 0;
	if (d.n == 0)
		return true;
	if (d.exp < 0 || d.exp > 19 || d.n > 19 || d.n + (size_t)d.exp > 19)
		return false;
	for (u = json_digits_value(&d); d.exp > 0; d.exp--)
		u *= 10;	/* below 10^19, so it cannot wrap */
	max = (uint64_t)INT64_MAX + d.neg;
	if (u > max)
		return false;
	*out = !d.neg ? (int64_t)u : u == max ? INT64_MIN : -(int64_t)u;
	return true;
}

/*
 * The double nearest to w * 10^exp, for w > 0 and exp from -27 to 27: 5^27
 * fits in 64 bits, so product and quotient are exact in 128.  The top 64 bits
 * are kept, with the lowest set if any lower bit was; the conversion to double
 * then rounds once, and scaling by powers of two is exact.
 */
#ifdef __SIZEOF_INT128__
JSON_APART bool
json_scale(uint64_t w, int exp, double *out)
{
	__extension__ typedef unsigned __int128 u128;
	static const uint32_t fives[] = { 1, 5, 25, 125, 625, 3125, 15625,
		78125, 390625, 1953125, 9765625, 48828125, 244140625,
		1220703125 };
	int k = exp < 0 ? -exp : exp, shift = __builtin_clzll(w), bits, i;
	uint64_t five = fives[k % 14], q;
	u128 x;

	if (k >= 14)
		five *= (uint64_t)5 * fives[13];
	bits = 64 - __builtin_clzll(five);
	w <<= shift;
	if (exp < 0) {
		x = (u128)w << (bits - 1);
		q = (uint64_t)(x / five);
		q |= x != (u128)q * five;
		shift = -shift - (bits - 1) - k;
	} else {
		x = (u128)w * five;
		q = (uint64_t)(x >> bits);
		q |= (x & (((u128)1 << bits) - 1)) != 0;
		shift = bits + k - shift;
	}
	*out = (double)q;
	for (; shift < 0; shift += i) {
		i = shift < -32 ? 32 : -shift;
		*out /= (double)((uint64_t)1 << i);
	}
	for (; shift > 0; shift -= i) {
		i = shift > 32 ? 32 : shift;
		*out *= (double)((uint64_t)1 << i);
	}
	return true;
}
#else
static bool
json_scale(uint64_t w, int exp, double *out)
{
	(void)w, (void)exp, (void)out;
	return false;
}
#endif

/*
 * Digits below 2^53 and powers of ten below 10^23 are exact doubles, so one
 * operation rounds once, unless the machine computes in a wider format.
 */
static bool
json_nearest(uint64_t w, int64_t exp, double *out)
{
	static const double ten[] = {
		1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
		1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22
	};

	*out = 0;
	if (w == 0)
		return true;
	if (exp < -27 || exp > 27)
		return false;
	if (!JSON_EXACT || w >> 53 != 0 || exp < -22 || exp > 22)
		return json_scale(w, (int)exp, out);
	*out = exp < 0 ? (double)w / ten[-exp] : (double)w * ten[exp];
	return true;
}

/* A branch on the sign would be mispredicted often. */
static const double json_sign[] = { 1.0, -1.0 };

/*
 * Appends the digits in the first n bytes of x to *w.  There may be a point
 * among them, which sets *exp; `after` more digits follow these bytes.
 */
JSON_INLINE bool
json_take(uint64_t x, size_t n, size_t after, uint64_t *w, int64_t *exp)
{
	static const uint32_t ten[] = { 1, 10, 100, 1000, 10000, 100000,
		1000000, 10000000, 100000000 };
	uint64_t bad = json_not_digits(x), low;
	size_t k = bad != 0 ? json_before_top(bad) : 8;

	if (k < n) {
		if ((x >> 8 * k & 0xFF) != '.')
			return false;
		n--;
		*exp = -(int64_t)(n - k + after);
		low = ((uint64_t)1 << 8 * k) - 1;
		x = (x & low) | (x >> 8 & ~low);
		if (json_before_top(json_not_digits(x)) < n)
			return false;
	}
	*w = *w * ten[n] + (n > 0 ? json_eight(x, n) : 0);
	return true;
}

/* All n > 8 bytes before the exponent, if they are at most 19 digits. */
JSON_INLINE bool
json_take_all(const char *p, size_t n, uint64_t *w, int64_t *exp)
{
	const size_t rest = (n - 1) % 8 + 1;

	if (n > 20 || !json_take(json_load(p), 8, n - 8, w, exp) ||
	    (n > 16 && !json_take(json_load(p + 8), 8, n - 16, w, exp)) ||
	    !json_take(json_load(p + n - 8) >> 8 * (8 - rest), rest, 0, w, exp))
		return false;
	return n < 20 || *exp != 0;
}

/*
 * The common case: up to 19 digits and a small exponent; else false.  Of all
 * bytes in numbers, only the letter e has the bit 0x40.
 */
static bool
json_quick_double(struct str s, double *out)
{
	const bool neg = *s.p == '-';
	const char *p = s.p + neg, *end = s.p + s.n;
	size_t n = s.n - neg, few = n < 8 ? n : 8;
	uint64_t w = 0, e, x = json_load_few(end - few, few);
	int64_t exp = 0, power = 0;

	e = x & JSON_ONES * 0x40;
	if (e != 0) {
		n -= few - json_before_top(e);
		power = json_exponent(p + n + 1, end);
	}
	if (n > 8 ? !json_take_all(p, n, &w, &exp) :
	    !json_take(json_load_few(p, n), n, 0, &w, &exp))
		return false;
	if (!json_nearest(w, exp + power, out))
		return false;
	*out *= json_sign[neg];
	return true;
}

/* Any number, by strtod() without a decimal point, which locales change. */
JSON_APART double
json_slow_double(struct str s)
{
	struct json_decimal d;
	double x;

	json_decimal(&d, s);
	if (d.n == 0)
		return d.neg ? -0.0 : 0.0;
	if (d.exp > 100000 || d.exp < -100000)
		d.exp = d.exp > 0 ? 100000 : -100000;
	snprintf(d.digits + d.n, sizeof(d.digits) - d.n, "e%d", (int)d.exp);
	x = strtod(d.digits, NULL);
	return d.neg ? -x : x;
}

JSON_APART bool
json_long_double(struct str s, double *out)
{
	if (json_quick_double(s, out))
		return true;
	*out = json_slow_double(s);
	return *out <= DBL_MAX && *out >= -DBL_MAX;
}

bool
json_double(const struct json *v, double *out)
{
	bool neg;

	if (v != NULL && v->type == JSON_NUMBER &&
	    (v->form & JSON_BRIEF)) {
		*out = (double)json_brief(v, &neg);
		*out *= json_sign[neg];
		return true;
	}
	return json_is_decimal(v) && json_long_double(json_text(v), out);
}

static bool
json_equal_number(const struct json *a, const struct json *b)
{
	int64_t i, j;
	double x, y;
	bool ok;

	ok = json_int(a, &i);
	if (ok != json_int(b, &j))
		return false;
	if (ok)
		return i == j;
	ok = json_double(a, &x);
	if (ok != json_double(b, &y))
		return false;
	if (ok)
		return x == y;
	return a->n == b->n && memcmp(a->u.text, b->u.text, a->n) == 0;
}

/* Recurses as deep as the tree, whose reader limits its depth. */
bool
json_equal_with(const struct json *a, const struct json *b,
    int (*hook)(void *, const struct json *, const struct json *), void *ctx)
{
	const struct json *v, *w;
	int known;

	if (a->type != b->type)
		return false;
	if (hook != NULL && (known = hook(ctx, a, b)) != -1)
		return known;
	if (a->type == JSON_NUMBER)
		return json_equal_number(a, b);
	if (a->type == JSON_NULL || a->n != b->n)
		return a->type == JSON_NULL;
	if (a->type == JSON_STRING)
		return a->n == 0 || memcmp(a->u.text, b->u.text, a->n) == 0;
	w = json_first(b);
	for (v = json_first(a); v != NULL; v = v->next, w = w->next) {
		if (a->type == JSON_OBJECT)
			w = json_get(b, json_key(v));
		if (w == NULL || !json_equal_with(v, w, hook, ctx))
			return false;
	}
	return true;
}

bool
json_equal(const struct json *a, const struct json *b)
{
	return json_equal_with(a, b, NULL, NULL);
}

/*
 * Formats digits with the decimal point after `point` of them; without an
 * exponent from 1e-6 to below 1e21, as JavaScript and Go do.
 */
static size_t
json_layout(char *out, const char *digits, size_t n, int point)
{
	char *p = out;
	size_t i;
	int e = point - 1;

	if (point > 21 || point < -5) {
		*p++ = digits[0];
		if (n > 1)
			*p++ = '.';
		for (i = 1; i < n; i++)
			*p++ = digits[i];
		p += snprintf(p, 8, "e%c%d", e < 0 ? '-' : '+', e < 0 ? -e : e);
		return (size_t)(p - out);
	}
	if (point <= 0) {
		*p++ = '0';
		*p++ = '.';
		for (; point < 0; point++)
			*p++ = '0';
	}
	for (i = 0; i < n; i++) {
		if (i > 0 && (int)i == point)
			*p++ = '.';
		*p++ = digits[i];
	}
	for (; (int)i < point; i++)
		*p++ = '0';
	return (size_t)(p - out);
}

/*
 * The shortest digits of d > 0 and the place of the point.  15 digits always
 * survive the conversion to double and back, so shorter results are those 15
 * without trailing zeros; only subnormals, which are sparser, need fewer
 * tried.  Below a power of two, doubles are half as far apart as above, so
 * the nearest decimal of 16 digits may be too low and the next one right.
 */
static size_t
json_shortest(double d, char digits[32], int *point)
{
	int prec = d < DBL_MIN ? 0 : 14;
	char text[40], *e, *p;
	size_t n = 0;

	for (; ; prec++) {
		snprintf(text, sizeof(text), "%.*e", prec, d);
		e = strchr(text, 'e');
		if (prec >= 16 || strtod(text, NULL) == d)
			break;
		if (prec == 15 && e[-1] != '9') {
			e[-1]++;
			if (strtod(text, NULL) == d)
				break;
		}
	}
	*point = atoi(e + 1) + 1;
	for (p = text; p < e; p++)
		if (*p >= '0' && *p <= '9')	/* the point is the locale's */
			digits[n++] = *p;
	while (n > 1 && digits[n - 1] == '0')
		n--;
	return n;
}

size_t
json_format_double(char out[32], double d)
{
	char digits[32], *p = out;
	int point, k = 0;
	double m = d < 0 ? -d : d;
	const double zero = 0;
	size_t n;

	if (!(m <= DBL_MAX))
		return (size_t)snprintf(out, 32, "null");
	if (m == 0)			/* 0 and -0 compare equal */
		return (size_t)snprintf(out, 32, "%s",
		    memcmp(&d, &zero, sizeof(d)) == 0 ? "0" : "-0");
	if (d < 0)
		*p++ = '-';
	/* The common case, a few decimals: exact while m * 10^k < 10^15. */
	if (JSON_EXACT && m < 1e9 && m >= 1e-3) {
		k = 6;
		if ((double)(int64_t)(m * 1e6 + 0.5) / 1e6 != m)
			k = 0;
	}
	if (k > 0 || (m < 1e15 && (double)(int64_t)m == m)) {
		n = (size_t)snprintf(digits, sizeof(digits), "%lld",
		    (long long)(k > 0 ? m * 1e6 + 0.5 : m));
		point = (int)n - k;
		while (n > 1 && digits[n - 1] == '0')
			n--;
	} else
		n = json_shortest(m, digits, &point);
	p += json_layout(p, digits, n, point);
	*p = '\0';
	return (size_t)(p - out);
}

/*
 * Writer.  This buffer collects output, so that the hook is called once per
 * token or per few hundred bytes of a tree; every public function empties it
 * before it returns.
 */
struct json_hold {
	struct json_out *o;
	size_t n;
	char p[512];
};

static void
json_flush(struct json_hold *h)
{
	if (h->n > 0)
		h->o->put(h->o->ctx, h->p, h->n);
	h->n = 0;
}

static inline void
json_add(struct json_hold *h, const char *p, size_t n)
{
	if (n > sizeof(h->p) - h->n) {
		json_flush(h);
		if (n > sizeof(h->p)) {
			h->o->put(h->o->ctx, p, n);
			return;
		}
	}
	memcpy(h->p + h->n, p, n);
	h->n += n;
}

static inline void
json_addc(struct json_hold *h, char c)
{
	if (h->n == sizeof(h->p))
		json_flush(h);
	h->p[h->n++] = c;
}

static void
json_break(struct json_hold *h)
{
	size_t n = (size_t)h->o->depth * h->o->indent;

	if (h->o->indent == 0)
		return;
	json_addc(h, '\n');
	for (; n > 0; n--)
		json_addc(h, ' ');
}

/* Writes the separator before a value or key. */
static void
json_lead(struct json_hold *h)
{
	struct json_out *o = h->o;

	if (o->named) {
		o->named = false;
		return;
	}
	if (o->more)
		json_addc(h, ',');
	if (o->depth > 0)
		json_break(h);
	o->more = true;
}

static void
json_add_open(struct json_hold *h, char bracket)
{
	json_lead(h);
	json_addc(h, bracket);
	h->o->depth++;
	h->o->more = false;
}

static void
json_add_close(struct json_hold *h, char bracket)
{
	h->o->depth--;
	if (h->o->more)
		json_break(h);
	json_addc(h, bracket);
	h->o->more = true;
}

/*
 * The length of the UTF-8 sequence at p if it is written unescaped, or 0.
 * U+0085, U+2028 and U+2029 are escaped, although RFC 8259 allows them:
 * readers that split a stream into lines may treat them as line breaks.
 */
static inline size_t
json_verbatim(const char *p, const char *end)
{
	size_t k = json_utf8(p, end);

	if ((k == 2 && memcmp(p, "\xC2\x85", 2) == 0) ||
	    (k == 3 && memcmp(p, "\xE2\x80", 2) == 0 &&
	    (p[2] == '\xA8' || p[2] == '\xA9')))
		return 0;
	return k;
}

/* Writes the character at p escaped; returns its length in the source. */
static size_t
json_add_escape(struct json_hold *h, const char *p, const char *end)
{
	static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
	static const char hex[] = "0123456789abcdef";
	const char *hit = memchr(from, *p, sizeof(from) - 1);
	unsigned char c = (unsigned char)*p;
	size_t k;

	if (hit != NULL) {
		json_addc(h, '\\');
		json_addc(h, to[hit - from]);
		return 1;
	}
	if (c < 0x20) {
		json_add(h, "\\u00", 4);
		json_addc(h, hex[c >> 4]);
		json_addc(h, hex[c & 15]);
		return 1;
	}
	k = json_utf8(p, end);
	if (k == 0)
		json_add(h, "\xEF\xBF\xBD", 3);
	else
		json_add(h, k == 2 ? "\\u0085" : p[2] == '\xA8' ? "\\u2028" :
		    "\\u2029", 6);
	return k == 0 ? 1 : k;
}

static void
json_quote(struct json_hold *h, struct str s)
{
	const char *p = s.n > 0 ? s.p : "", *end = p + s.n, *run = p;
	size_t k;

	json_addc(h, '"');
	while ((p = json_plain(p, end)) < end) {
		k = (unsigned char)*p < 0x80 ? 0 : json_verbatim(p, end);
		if (k > 0) {
			p += k;
			continue;
		}
		json_add(h, run, (size_t)(p - run));
		p += json_add_escape(h, p, end);
		run = p;
	}
	json_add(h, run, (size_t)(end - run));
	json_addc(h, '"');
}

static void
json_add_key(struct json_hold *h, struct str key)
{
	json_lead(h);
	json_quote(h, key);
	json_add(h, ": ", h->o->indent > 0 ? 2 : 1);
	h->o->named = true;
}

static void
json_add_str(struct json_hold *h, struct str s)
{
	json_lead(h);
	json_quote(h, s);
}

static void
json_add_raw(struct json_hold *h, struct str s)
{
	json_lead(h);
	if (s.n > 0)		/* p may be NULL */
		json_add(h, s.p, s.n);
}

/* Recurses as deep as the tree, whose reader limits its depth. */
static void
json_add_tree(struct json_hold *h, const struct json *v)
{
	const bool object = v != NULL && v->type == JSON_OBJECT;
	const struct json *c;

	if (object || (v != NULL && v->type == JSON_ARRAY)) {
		json_add_open(h, object ? '{' : '[');
		for (c = json_first(v); c != NULL; c = c->next) {
			if (object)
				json_add_key(h, json_key(c));
			json_add_tree(h, c);
		}
		json_add_close(h, object ? '}' : ']');
	} else if (v != NULL && v->type == JSON_STRING)
		json_add_str(h, json_text(v));
	else if (v != NULL && v->type == JSON_BOOL)
		json_add_raw(h, json_bool_text(v->n != 0));
	else if (json_is_decimal(v))
		json_add_raw(h, json_text(v));
	else
		json_add_raw(h, (struct str){ "null", 4 });
}

/* A public function that writes through a buffer. */
#define JSON_PUT(function, add, T) \
void \
function(struct json_out *o, T value) \
{ \
	struct json_hold h; \
 \
	h.o = o; \
	h.n = 0; \
	add(&h, value); \
	json_flush(&h); \
}

JSON_PUT(json_open, json_add_open, char)
JSON_PUT(json_close, json_add_close, char)
JSON_PUT(json_put_key, json_add_key, struct str)
JSON_PUT(json_put_str, json_add_str, struct str)
JSON_PUT(json_put_raw, json_add_raw, struct str)
JSON_PUT(json_put, json_add_tree, const struct json *)
#undef JSON_PUT

#define JSON_MEMBER(member, put, T) \
void \
member(struct json_out *o, const char *name, T value) \
{ \
	json_put_key(o, (struct str){ name, strlen(name) }); \
	put(o, value); \
}

JSON_MEMBER(json_put_member, json_put, const struct json *)
JSON_MEMBER(json_put_member_str, json_put_str, struct str)
JSON_MEMBER(json_put_member_cstr, json_put_cstr, const char *)
JSON_MEMBER(json_put_member_int, json_put_int, int64_t)
JSON_MEMBER(json_put_member_double, json_put_double, double)
JSON_MEMBER(json_put_member_bool, json_put_bool, bool)
JSON_MEMBER(json_put_member_raw, json_put_raw, struct str)
JSON_MEMBER(json_open_member, json_open, char)
#undef JSON_MEMBER

void
json_put_member_nonempty(struct json_out *o, const char *name, struct str s)
{
	if (s.n > 0)
		json_put_member_str(o, name, s);
}

void
json_put_member_null(struct json_out *o, const char *name)
{
	json_put_member_raw(o, name, (struct str){ "null", 4 });
}

void
json_put_cstr(struct json_out *o, const char *s)
{
	json_put_str(o, (struct str){ s, strlen(s) });
}

void
json_put_int(struct json_out *o, int64_t i)
{
	char text[24], *p = text + sizeof(text);
	uint64_t u = i < 0 ? 0 - (uint64_t)i : (uint64_t)i;

	do
		*--p = (char)('0' + u % 10);
	while ((u /= 10) > 0);
	if (i < 0)
		*--p = '-';
	json_put_raw(o, (struct str){ p, (size_t)(text + sizeof(text) - p) });
}

void
json_put_double(struct json_out *o, double d)
{
	char text[32];
	size_t n = json_format_double(text, d);

	json_put_raw(o, (struct str){ text, n });
}

void
json_put_bool(struct json_out *o, bool b)
{
	json_put_raw(o, json_bool_text(b));
}

void
json_put_null(struct json_out *o)
{
	json_put_raw(o, (struct str){ "null", 4 });
}

#endif /* JSON_IMPLEMENTATION */
