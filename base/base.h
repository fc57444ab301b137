/* SPDX-License-Identifier: ISC */
/*
 * base.h: str_ buf_ arena_ err_ utf8_ add_ mul_ hex_ search_.  The vocabulary:
 * borrowed strings, owned buffers, arenas, errors as values, checked
 * arithmetic.
 *
 * Out of memory ends the process with a message and status 2; input is
 * limited where it enters, so that this does not hang on it.
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

/* A borrowed run of bytes; not NUL-terminated.  json.h shares the guard. */
#ifndef STRUCT_STR
#define STRUCT_STR
struct str {
	const char *p;
	size_t n;
};
#endif
#define STR(lit) ((struct str){ "" lit, sizeof(lit) - 1 })
#define STRF(s)  (int)(s).n, (s).p	/* for "%.*s"; the caller bounds n */

struct str str_of(const char *cstr);
bool str_eq(struct str, struct str);
bool str_is(struct str, const char *cstr);
int str_cmp(struct str, struct str);	/* bytewise, the shorter first */
bool str_starts(struct str, struct str prefix);
bool str_ends(struct str, struct str suffix);

/* Edit distance with transpositions, cut off: a result > max means "far". */
size_t str_distance(struct str, struct str, size_t max);

/* Whether `got` is close enough to `want` to be offered as a correction. */
bool str_similar(struct str got, struct str want);

/*
 * The best correction of a misspelt word.  Set word, zero the rest, call
 * str_nearest() for each candidate; best.p stays NULL when none is similar.
 */
struct str_nearest {
	struct str word, best;
	size_t distance;	/* private */
};
void str_nearest(struct str_nearest *, struct str candidate);

/* The string without blanks, tabs, CR and LF at both ends. */
struct str str_trim(struct str);

/* The value of a hexadecimal digit, or -1. */
int hex_digit(char);

/*
 * The index of the first of n sorted rows that is not below the key: cmp(key,
 * row) <= 0; n when all are below it.
 */
size_t search_first(const void *key, const void *rows, size_t n, size_t size,
    int (*cmp)(const void *key, const void *row));

/*
 * Owned bytes.  The zero value is empty and valid.  With max set, an append
 * that would pass it is dropped whole and .full stays set, so that a caller
 * tests once, at the end.
 */
struct buf {
	char *p;
	size_t n, cap;
	size_t max;		/* 0: unlimited */
	bool full;
};

void buf_put(struct buf *, struct str);
void buf_putc(struct buf *, char);
void buf_puts(struct buf *, const char *cstr);
void buf_fmt(struct buf *, const char *fmt, ...) PRINTF(2, 3);
char *buf_room(struct buf *, size_t n);	/* room for n more; NULL: full */
void buf_eat(struct buf *, size_t n);		/* drops the first n bytes */
struct str buf_str(const struct buf *);
void buf_sink(void *buf, const char *p, size_t n);	/* buf_put as a hook */
void buf_free(struct buf *);

/* Memory that is freed as a whole.  The zero value is empty and valid. */
struct arena {
	struct chunk *head;
	size_t used;		/* bytes handed out */
};

/* A place in an arena to go back to; everything younger is freed. */
struct arena_mark {
	struct chunk *head;
	size_t n, used;
};

void *arena_alloc(struct arena *, size_t n, size_t align);	/* zeroed */
void *arena_raw(struct arena *, size_t n, size_t align);	/* not */
struct str arena_str(struct arena *, struct str);
struct str arena_fmt(struct arena *, const char *fmt, ...) PRINTF(2, 3);
/* NUL-terminated copy, or NULL when the string holds a NUL. */
char *arena_cstr(struct arena *, struct str);
struct arena_mark arena_save(const struct arena *);
void arena_restore(struct arena *, struct arena_mark);
void arena_free(struct arena *);	/* may itself lie in that memory */
/* An `alloc(ctx, n)` hook over an arena, aligned for any value tree. */
void *arena_hook(void *arena, size_t n);

#define ALIGNOF(T) offsetof(struct { char c; T t; }, t)
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

/* Checked arithmetic: false on overflow; mul_max() saturates. */
bool add_ok(size_t a, size_t b, size_t *sum);
bool mul_ok(size_t a, size_t b, size_t *product);
size_t mul_max(size_t a, size_t b);
int64_t add_near(int64_t a, int64_t b);	/* saturates, too */

/*
 * One code point of [p, end) into *cp; the bytes it took, or 0 where no
 * well-formed sequence starts (RFC 3629: no surrogates, nothing overlong).
 */
size_t utf8_get(const char *p, const char *end, uint32_t *cp);
size_t utf8_put(char out[4], uint32_t cp);
bool utf8_valid(struct str);
/* The longest prefix of at most max bytes that does not split a character. */
struct str utf8_cut(struct str, size_t max);

enum err_code {
	ERR_NONE,
	ERR_SYS,		/* a system call failed: .sys is its errno */
	ERR_SYNTAX,		/* the text is not in its language */
	ERR_SCHEMA,		/* well-formed, but not what is expected here */
	ERR_LIMIT,		/* a limit was reached */
	ERR_NOMETHOD,
	ERR_TIMEOUT,
	ERR__MAX
};

struct err {
	enum err_code code;
	int sys;		/* errno when code is ERR_SYS */
	unsigned line, col;	/* 1-based, col in bytes; 0 when unknown */
	char msg[200];
};

/* Each returns -1, so that `return err_set(...)` is the whole idiom. */
int err_set(struct err *, enum err_code, const char *fmt, ...) PRINTF(3, 4);
int err_sys(struct err *, const char *what);
int err_at(struct err *, unsigned line, unsigned col);
const char *err_name(enum err_code);
int err_rpc(enum err_code);
int err_http(enum err_code);

#endif
