/* SPDX-License-Identifier: ISC */
/*
 * Splits a text into pieces, as the regular expressions of the encodings do.
 *
 * The expressions are alternatives, tried in order.  With U for upper case, L
 * for lower case (letters without case and marks are both), P for anything but
 * letters, numbers and newlines, S for white space, N for numbers, and C for
 * 's 't 're 've 'm 'll 'd in any case, o200k_base has
 *
 *	P? U* L+ C? | P? U+ L* C? | N{1,3} | blank? other+ [\r\n/]*
 *	| S* [\r\n]+ | S+ (before S or the end) | S+
 *
 * and cl100k_base
 *
 *	C | P? letter+ | N{1,3} | blank? other+ [\r\n]*
 *	| S* [\r\n]+ | S+ (before S or the end) | S+
 *
 * Each function below returns the end of the match at p, or p if there is
 * none.  Backtracking is replaced by what it would find.
 */
#include "lib/bpe/bpe_internal.h"

#include <string.h>

#include "lib/unicode.h"

#define BIT(class) (1u << (class))

enum {
	U = BIT(BPE_UPPER) | BIT(BPE_LETTER) | BIT(BPE_MARK),
	L = BIT(BPE_LOWER) | BIT(BPE_LETTER) | BIT(BPE_MARK),
	BOTH = U & L,
	ALPHA = BIT(BPE_UPPER) | BIT(BPE_LOWER) | BIT(BPE_LETTER),
	OTHER = BIT(BPE_OTHER) | BIT(BPE_MARK),
	WHITE = BIT(BPE_SPACE) | BIT(BPE_NEWLINE),
	PREFIX = OTHER | BIT(BPE_SPACE)
};

struct fill {
	unsigned char *classes;
	unsigned char class;
};

static void
fill(void *ctx, uint32_t lo, uint32_t hi)
{
	struct fill *f = ctx;

	memset(f->classes + lo, f->class, hi - lo + 1);
}

void
bpe_classify(unsigned char *classes)
{
	static const struct {
		const char *name;
		enum bpe_class class;
	} rows[] = {
		{ "Lu", BPE_UPPER }, { "Lt", BPE_UPPER }, { "Ll", BPE_LOWER },
		{ "Lm", BPE_LETTER }, { "Lo", BPE_LETTER }, { "M", BPE_MARK },
		{ "N", BPE_NUMBER }, { "Z", BPE_SPACE },
	};
	struct fill f = { .classes = classes };
	size_t i;

	for (i = 0; i < COUNTOF(rows); i++) {
		f.class = (unsigned char)rows[i].class;
		unicode_each(unicode_class(str_of(rows[i].name)), fill, &f);
	}
	classes['\t'] = classes['\v'] = classes['\f'] = BPE_SPACE;
	classes[0x85] = BPE_SPACE;	/* next line */
	classes['\n'] = classes['\r'] = BPE_NEWLINE;
}

/* The class of the character at p, as a bit, and its length. */
static inline unsigned
look(const struct bpe *b, const char *p, const char *end, size_t *n)
{
	unsigned char c;
	uint32_t cp;

	*n = 1;
	if (p == end)
		return 0;
	c = (unsigned char)*p;
	if (c < 0x80)
		return BIT(b->classes[c]);
	*n = utf8_get(p, end, &cp);
	if (*n > 0)
		return BIT(b->classes[cp]);
	*n = 1;
	return BIT(BPE_OTHER);
}

/* The end of a run of these classes. */
static const char *
run(const struct bpe *b, const char *p, const char *end, unsigned classes)
{
	size_t n;

	while ((look(b, p, end, &n) & classes) != 0)
		p += n;
	return p;
}

/* The long s is an s in another case. */
static const char *
contraction(const char *p, const char *end)
{
	static const char pairs[] = "RE" "VE" "LL";
	size_t i, n = (size_t)(end - p);
	char c, d;

	if (n < 2 || *p != '\'')
		return p;
	c = (char)(p[1] & ~0x20);
	if (c == 'S' || c == 'T' || c == 'M' || c == 'D')
		return p + 2;
	if (n < 3)
		return p;
	if (p[1] == '\xC5' && p[2] == '\xBF')
		return p + 3;
	d = (char)(p[2] & ~0x20);
	for (i = 0; pairs[i] != '\0'; i += 2)
		if (c == pairs[i] && d == pairs[i + 1])
			return p + 3;
	return p;
}

/*
 * P? U* L+ C? | P? U+ L* C?.  U* takes a whole run; if no lower case follows,
 * it gives back all after the last character that is both, which L+ takes.  If
 * there is none, a mark as P is itself the L+; else all is upper case, and the
 * second alternative takes it.
 */
static const char *
word(const struct bpe *b, const char *p, const char *end)
{
	const char *const from = p, *start = p, *both = NULL;
	unsigned c, first;
	size_t n;

	first = look(b, p, end, &n);
	if ((first & PREFIX) != 0)
		start = p + n;
	else if ((first & ALPHA) == 0)
		return p;
	for (p = start; ((c = look(b, p, end, &n)) & U) != 0; ) {
		p += n;
		if ((c & BOTH) != 0)
			both = p;
	}
	if (c == BIT(BPE_LOWER))
		return contraction(run(b, p, end, L), end);
	if (both == NULL && first == BIT(BPE_MARK))
		both = start;
	if (both != NULL)
		p = both;
	return p > start || both != NULL ? contraction(p, end) : from;
}

static const char *
letters(const struct bpe *b, const char *p, const char *end)
{
	const char *start = p, *q;
	size_t n;

	if ((look(b, p, end, &n) & PREFIX) != 0)
		start += n;
	q = run(b, start, end, ALPHA);
	return q > start ? q : p;
}

static const char *
numbers(const struct bpe *b, const char *p, const char *end)
{
	size_t n;
	int i;

	for (i = 0; i < 3 && look(b, p, end, &n) == BIT(BPE_NUMBER); i++)
		p += n;
	return p;
}

/* blank? other+ and then newlines, for o200k also slashes. */
static const char *
punctuation(const struct bpe *b, const char *p, const char *end)
{
	const char *start = *p == ' ' ? p + 1 : p;
	const char *q = run(b, start, end, OTHER);

	if (q == start)
		return p;
	while (q < end && (*q == '\r' || *q == '\n' ||
	    (*q == '/' && b->rule == BPE_O200K)))
		q++;
	return q;
}

/* Up to the last newline; else all but the last character before others. */
static const char *
white(const struct bpe *b, const char *p, const char *end)
{
	const char *q, *newline = NULL, *last = p;
	unsigned c;
	size_t n;

	for (q = p; ((c = look(b, q, end, &n)) & WHITE) != 0; ) {
		last = q;
		q += n;
		if (c == BIT(BPE_NEWLINE))
			newline = q;
	}
	if (newline != NULL)
		return newline;
	return q == end || last == p ? q : last;
}

static const char *
next(const struct bpe *b, const char *p, const char *end)
{
	const char *q;

	if (b->rule == BPE_O200K)
		q = word(b, p, end);
	else if ((q = contraction(p, end)) == p)
		q = letters(b, p, end);
	if (q == p)
		q = numbers(b, p, end);
	if (q == p)
		q = punctuation(b, p, end);
	return q == p ? white(b, p, end) : q;
}

size_t
bpe_piece(const struct bpe *b, struct str text)
{
	if (text.n == 0)
		return 0;
	return (size_t)(next(b, text.p, text.p + text.n) - text.p);
}
