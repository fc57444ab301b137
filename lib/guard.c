/* SPDX-License-Identifier: ISC */
/*
 * Commands of CI systems in a text.
 *
 * The systems differ in details and change them: whether case matters, whether
 * a comparison ignores characters without a weight (.NET does by default),
 * which characters end a line.  The search here is the union of all of them.
 * It changes a few texts that no system obeys, but only visibly.
 */
#include "lib/guard.h"

#include <string.h>

struct range {
	uint32_t lo, hi;
};

static const struct range hidden[] = {
	{ 0xAD, 0xAD }, { 0x61C, 0x61C }, { 0x180E, 0x180E },
	{ 0x200B, 0x200F }, { 0x2028, 0x202E }, { 0x2060, 0x206F },
	{ 0xFEFF, 0xFEFF }, { 0xFFF9, 0xFFFB }, { 0xE0000, 0xE00FF },
};
/* Visible in some places, but without a weight in comparisons. */
static const struct range weightless[] = {
	{ 0x34F, 0x34F }, { 0x115F, 0x1160 }, { 0x180B, 0x180F },
	{ 0x3164, 0x3164 }, { 0xFE00, 0xFE0F }, { 0xFFA0, 0xFFA0 },
	{ 0xE0100, 0xE01EF },
};
static const struct range breaks[] = {	/* of lines */
	{ 0xA, 0xD }, { 0x85, 0x85 }, { 0x2028, 0x2029 },
};
static const struct range blanks[] = {
	{ ' ', ' ' }, { '\t', '\t' }, { 0xA0, 0xA0 }, { 0x1680, 0x1680 },
	{ 0x2000, 0x200A }, { 0x202F, 0x202F }, { 0x205F, 0x205F },
	{ 0x3000, 0x3000 },
};

static bool
in(const struct range *r, size_t n, uint32_t cp)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (cp >= r[i].lo && cp <= r[i].hi)
			return true;
	return false;
}
#define IN(table, cp) in(table, COUNTOF(table), cp)

bool
guard_hidden(uint32_t cp)
{
	return cp >= hidden[0].lo && IN(hidden, cp);
}

static bool
is_control(uint32_t cp)
{
	return cp < ' ' || (cp >= 0x7F && cp < 0xA0);
}

/* The character at p and its bytes; an invalid byte counts as a control. */
static size_t
get(const char *p, const char *end, uint32_t *cp)
{
	size_t n;

	if ((unsigned char)*p < 0x80) {
		*cp = (unsigned char)*p;
		return 1;
	}
	n = utf8_get(p, end, cp);
	if (n > 0)
		return n;
	*cp = 0;
	return 1;
}

static bool
is_ascii(char c)
{
	return c > ' ' && c <= '~';
}

/* Skips characters that a comparison may ignore. */
static const char *
skip_ignored(const char *p, const char *end)
{
	uint32_t cp;
	size_t n;

	for (; p < end && !is_ascii(*p); p += n) {
		n = get(p, end, &cp);
		if (IN(breaks, cp) || !(is_control(cp) || guard_hidden(cp) ||
		    IN(weightless, cp)))
			break;
	}
	return p;
}

/* Skips an escape sequence that colors the text, such as ESC [ 31 m. */
static const char *
skip_color(const char *p, const char *end)
{
	const char *q = p + 2;

	if (end - p < 3 || p[0] != '\033' || p[1] != '[')
		return p;
	while (q < end && *q >= ' ' && *q < '@')
		q++;
	return q < end ? q + 1 : p;
}

/* Skips what can stand before a command at the start of a line. */
static const char *
skip_margin(const char *p, const char *end)
{
	const char *from;
	uint32_t cp;
	size_t n;

	do {
		from = p;
		p = skip_ignored(skip_color(p, end), end);
		if (p < end && (n = get(p, end, &cp)) > 0 && IN(blanks, cp))
			p += n;
	} while (p != from);
	return p;
}

/* The end of a word at p, in any case; NULL if it is another one. */
static const char *
match(const char *p, const char *end, const char *word)
{
	for (; *word != '\0'; word++) {
		p = skip_ignored(p, end);
		if (p == end || (*p | (*word >= 'a' ? 0x20 : 0)) != *word)
			return NULL;
		p++;
	}
	return p;
}

/* True if a command begins with the "#" at p. */
static bool
is_command(const char *p, const char *end)
{
	return match(p, end, "##[") != NULL ||
	    match(p, end, "##vso[") != NULL ||
	    match(p, end, "##teamcity[") != NULL;
}

static void
put_broken(struct buf *b, char c, enum guard_form form)
{
	if (form == GUARD_JSON)
		buf_fmt(b, "\\u%04x", (unsigned)c);
	else if (form == GUARD_XML)
		buf_fmt(b, "&#%d;", c);
	else
		buf_fmt(b, "%c\\", c);
}

/*
 * The next character from p on that begins a command, or end.  *starts: a line
 * starts at p.
 */
static const char *
find(const char *p, const char *end, bool *starts, enum guard_form form)
{
	const char *q;
	uint32_t cp;
	size_t n;

	for (; p < end; p += n) {
		if (form == GUARD_GITHUB || form == GUARD_JSON) {
			p = memchr(p, '#', (size_t)(end - p));
			if (p == NULL)
				return end;
		} else if (*starts) {
			q = skip_margin(p, end);
			*starts = false;
			if (match(q, end, "::") != NULL)
				return q;
		}
		n = 1;
		if (*p == '#' && is_command(p, end))
			return p;
		if (!is_ascii(*p)) {
			n = get(p, end, &cp);
			*starts = IN(breaks, cp);
		}
	}
	return end;
}

/* Replaces what terminals obey. */
static void
make_plain(struct buf *b, size_t from)
{
	char *p = b->p + from, *to = p;
	const char *end = b->p + b->n;
	uint32_t cp;
	size_t n;

	for (; p < end; p += n) {
		n = get(p, end, &cp);
		if ((is_control(cp) && cp != '\n' && cp != '\t') ||
		    guard_hidden(cp)) {
			*to++ = '?';
			continue;
		}
		memmove(to, p, n);
		to += n;
	}
	b->n = (size_t)(to - b->p);
}

void
guard_output(struct buf *b, size_t from, enum guard_form form)
{
	const char *p, *at, *end;
	struct buf old = { 0 };
	bool starts = true;

	if (b->n <= from)
		return;
	if (form == GUARD_PLAIN)
		make_plain(b, from);
	p = b->p + from;
	end = b->p + b->n;
	at = find(p, end, &starts, form);
	if (at == end)
		return;
	buf_put(&old, (struct str){ p, (size_t)(end - p) });
	at = old.p + (at - p);
	end = old.p + old.n;
	b->n = from;
	for (p = old.p; at < end; at = find(p, end, &starts, form)) {
		buf_put(b, (struct str){ p, (size_t)(at - p) });
		put_broken(b, *at, form);
		p = at + 1;
	}
	buf_put(b, (struct str){ p, (size_t)(end - p) });
	buf_free(&old);
}
