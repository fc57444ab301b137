/* SPDX-License-Identifier: ISC */
/*
 * base.h: str_ buf_ arena_ budget_ err_ utf8_ add_ mul_ hex_ search_.  The
 * vocabulary: borrowed strings, owned buffers, arenas, errors as values,
 * checked arithmetic.
 *
 * If memory runs out, the process prints a message and exits with status 2.
 * Input is limited where it enters the program, so input cannot cause this.
 */
#ifndef WAZA_BASE_H
#define WAZA_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COUNTOF(a) (sizeof(a) / sizeof((a)[0]))
#if defined(__GNUC__)
#define PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define PRINTF(fmt, args)
#endif

/* Borrowed bytes, not NUL-terminated.  json.h shares the guard. */
#ifndef STRUCT_STR
#define STRUCT_STR
struct str {
	const char *p;
	size_t n;
};
#endif
#define STR(lit) ((struct str){ "" lit, sizeof(lit) - 1 })
#define STRF(s)  (int)(s).n, (s).p	/* for "%.*s"; the caller bounds n */

/*
 * Views and comparisons; nothing is copied, cstr is NUL-terminated.
 * str_cmp() orders by bytes, then by length.
 */
struct str str_of(const char *cstr);
bool str_eq(struct str, struct str);
bool str_is(struct str, const char *cstr);
int str_cmp(struct str, struct str);
bool str_starts(struct str, struct str prefix);
bool str_ends(struct str, struct str suffix);
/* str_cmp() of two struct str, for qsort() and bsearch(). */
int str_order(const void *, const void *);
uint64_t str_hash(struct str);		/* FNV-1a */

/*
 * The edit distance: insertions, deletions, substitutions and transpositions.
 * Any result above max means "more than max".  Strings over 63 bytes are
 * either equal or count as more than max.
 */
size_t str_distance(struct str, struct str, size_t max);

/* Whether `want` is close enough to `got` to be suggested as a correction. */
bool str_similar(struct str got, struct str want);

struct str_nearest {
	struct str word, best;
	size_t distance;	/* private */
};

/*
 * Finds the best correction of a misspelt word.  Set word, zero the rest, and
 * call str_nearest() for each candidate; best is then the closest one, the
 * first among equals, or best.p is NULL if no candidate is similar.
 */
void str_nearest(struct str_nearest *, struct str candidate);

enum { STR_HINT = 100 };	/* bytes of a hint */
/*
 * Writes the hint ` (did you mean "WORD"?)` for the end of a message and
 * returns it; it is empty if word.p is NULL.  before is put before the word.
 */
const char *str_hint(char out[STR_HINT], const char *before, struct str word);

struct buf;
/*
 * Appends ` (did you mean "A", "B"? LABEL: A, B, C)` to a message about an
 * unknown word: up to three similar ones of the n known words v, and the list
 * of them, which is cut after about 300 bytes.
 */
void str_put_choices(struct buf *, struct str word, const char *label,
    const struct str *v, size_t n);

/* The string without the white space of JSON (not \v, \f) at both ends. */
struct str str_trim(struct str);

/*
 * Takes the next line from the front of a text; the line is without its
 * newline.  False at the end of the text.
 */
bool str_line(struct str *text, struct str *line);

/* The last part of a path: "b" of "a/b" and of "a/b/", "" of "/". */
struct str str_base(struct str path);

/* The same without its ending: "b" of "a/b.yaml", ".c" of ".c". */
struct str str_stem(struct str path);

/* The text of a file without the byte order mark that some editors write. */
struct str str_after_bom(struct str);

/* The value of a hexadecimal digit, or -1. */
int hex_digit(char);
/* 16 random bytes as a UUID (RFC 9562, version 4). */
void hex_uuid(char out[37], const unsigned char random[16]);

/*
 * The index of the first of n sorted rows of `size` bytes for which cmp(key,
 * row) <= 0, or n if there is none.
 */
size_t search_first(const void *key, const void *rows, size_t n, size_t size,
    int (*cmp)(const void *key, const void *row));

/*
 * Owned bytes.  The zero value is empty and valid.  If max is set, an append
 * that would exceed it is dropped as a whole and .full stays set, so callers
 * test .full once, at the end.
 */
struct buf {
	char *p;
	size_t n, cap;
	size_t max;		/* 0: unlimited */
	bool full;
};

/* Each appends; buf_sink is buf_put() as a hook whose context is the buf. */
void buf_put(struct buf *, struct str);
void buf_putc(struct buf *, char);
void buf_puts(struct buf *, const char *cstr);
void buf_fmt(struct buf *, const char *fmt, ...) PRINTF(2, 3);
void buf_sink(void *buf, const char *p, size_t n);

/*
 * Reserves n bytes behind the content and returns their address, or NULL if
 * max forbids it; the caller writes there and then increases n.
 */
char *buf_room(struct buf *, size_t n);
void buf_eat(struct buf *, size_t n);		/* removes the first n bytes */
struct str buf_str(const struct buf *);		/* valid until it changes */
void buf_free(struct buf *);			/* leaves it empty and valid */

/* Memory that is freed as a whole.  The zero value is empty and valid. */
struct arena {
	struct chunk *head;
	size_t used;		/* bytes handed out */
};

/* A state of an arena that arena_restore() returns to. */
struct arena_mark {
	struct chunk *head;
	size_t n, used;
};

/*
 * Each allocates, for as long as the arena lives.  arena_alloc() zeroes the
 * memory, arena_raw() does not.  The copies of arena_str() and arena_fmt()
 * are followed by a NUL that is not counted.  arena_cstr() returns NULL if
 * the string contains a NUL.
 */
void *arena_alloc(struct arena *, size_t n, size_t align);
void *arena_raw(struct arena *, size_t n, size_t align);
struct str arena_str(struct arena *, struct str);
struct str arena_fmt(struct arena *, const char *fmt, ...) PRINTF(2, 3);
/* At most max bytes of a text; of a longer one, with the number left out. */
struct str arena_head(struct arena *, struct str, size_t max);
struct str arena_vfmt(struct arena *, const char *fmt, va_list) PRINTF(2, 0);
char *arena_cstr(struct arena *, struct str);
void *arena_hook(void *arena, size_t n);	/* alloc(ctx, n) of json.h */

/* Copies the content to the arena, as arena_str() does, and frees the buf. */
struct str arena_take(struct arena *, struct buf *);

/*
 * Reads JSON into the arena, up to JSON_DEPTH deep; NULL on failure, with *e
 * filled unless e is NULL.  The tree may borrow from the text.
 */
struct json_error;
struct json *arena_json(struct arena *, struct str text, struct json_error *e);

/*
 * An empty arena gets memory for n bytes, which arena_restore() does not free:
 * for arenas that are emptied often.
 */
void arena_reserve(struct arena *, size_t n);
/* arena_restore() frees all memory allocated since arena_save(). */
struct arena_mark arena_save(const struct arena *);
void arena_restore(struct arena *, struct arena_mark);
/* Leaves the arena empty and valid; the struct may lie in its own memory. */
void arena_free(struct arena *);

/*
 * The work that a computation may do, in units of about a nanosecond.  A
 * computation whose budget is spent ends early; its result means nothing.
 */
struct budget {
	uint64_t left;
	bool spent;
};

/* Takes n units; false once they exceed the budget.  NULL: no limit. */
bool budget_take(struct budget *, uint64_t n);

#define ALIGNOF(T) (sizeof(struct { char c; T t; }) - sizeof(T))
#define NEW(a, T) ((T *)arena_alloc((a), sizeof(T), ALIGNOF(T)))
#define NEW_N(a, T, n) \
	((T *)arena_alloc((a), mul_max((n), sizeof(T)), ALIGNOF(T)))

/*
 * Doubly linked lists of structs with the members `next` and `**prev`.
 * LIST_PUSH() makes x the first of the list at *head; LIST_REMOVE() takes x
 * out of its list.
 */
#define LIST_PUSH(head, x) do { \
	(x)->next = *(head); \
	(x)->prev = (head); \
	if ((x)->next != NULL) \
		(x)->next->prev = &(x)->next; \
	*(head) = (x); \
} while (0)
#define LIST_REMOVE(x) do { \
	*(x)->prev = (x)->next; \
	if ((x)->next != NULL) \
		(x)->next->prev = (x)->prev; \
} while (0)

/* Checked arithmetic: _ok returns false on overflow, the others saturate. */
bool add_ok(size_t a, size_t b, size_t *sum);
bool mul_ok(size_t a, size_t b, size_t *product);
size_t mul_max(size_t a, size_t b);
int64_t add_near(int64_t a, int64_t b);

/*
 * Decodes the character at p and returns its length in bytes, or 0 if [p, end)
 * does not start with a well-formed UTF-8 sequence (RFC 3629: no surrogates,
 * no overlong forms).
 */
size_t utf8_get(const char *p, const char *end, uint32_t *cp);
size_t utf8_put(char out[4], uint32_t cp);	/* returns the length */
bool utf8_valid(struct str);
/* The longest prefix of at most max bytes that does not split a character. */
struct str utf8_cut(struct str, size_t max);
/* The longest such suffix. */
struct str utf8_cut_head(struct str, size_t max);

enum { REASON_MAX = 64 << 10 };	/* bytes of a reason that are stored */

enum err_code {
	ERR_NONE,
	ERR_SYS,		/* a system call failed: .sys is its errno */
	ERR_SYNTAX,		/* the text is not well-formed */
	ERR_SCHEMA,		/* well-formed, but not a valid value here */
	ERR_LIMIT,		/* a limit was exceeded */
	ERR_TIMEOUT
};

struct err {
	enum err_code code;
	int sys;		/* errno when code is ERR_SYS */
	unsigned line, col;	/* 1-based, col in bytes; 0 when unknown */
	char msg[500];		/* a longer one lacks its middle */
};

/*
 * Each returns -1, so that `return err_set(...)` is the whole idiom.  err_set
 * and err_sys ("what: strerror(errno)") replace the error; err_at adds a place.
 */
int err_set(struct err *, enum err_code, const char *fmt, ...) PRINTF(3, 4);
int err_sys(struct err *, const char *what);
/*
 * Advice for the end of a message about a system error, such as "; check the
 * path", or "".
 */
const char *err_advice(const struct err *);
int err_at(struct err *, unsigned line, unsigned col);
/* The format of the message about a part that `make SMALL=1` leaves out. */
#define ERR_LEFT_OUT "%s: this waza was built without it (make SMALL=1); " \
	"build it with \"make\""

#endif
