/* SPDX-License-Identifier: ISC */
/*
 * Text from suites and agents, made safe for its destination.
 *
 * Terminals obey control bytes, and some characters change the direction of
 * writing: both are removed here.  Columns are counted as terminals do, with a
 * table of wide and of combining characters, which is coarse but never counts
 * too few columns for the scripts that suites are written in.
 */
#include "report/report_internal.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "json.h"
#include "lib/unicode.h"

struct range {
	uint32_t lo, hi;
};

static const struct range wide[] = {
	{ 0x1100, 0x115F }, { 0x231A, 0x231B }, { 0x2329, 0x232A }, { 0x23E9, 0x23F3 },
	{ 0x25FD, 0x25FE }, { 0x2614, 0x2615 }, { 0x2630, 0x2637 }, { 0x2648, 0x2653 },
	{ 0x267F, 0x267F }, { 0x268A, 0x268F }, { 0x2693, 0x2693 }, { 0x26A1, 0x26A1 },
	{ 0x26AA, 0x26AB }, { 0x26BD, 0x26BE }, { 0x26C4, 0x26C5 }, { 0x26CE, 0x26CE },
	{ 0x26D4, 0x26D4 }, { 0x26EA, 0x26EA }, { 0x26F2, 0x26F5 }, { 0x26FA, 0x26FD },
	{ 0x2705, 0x2705 }, { 0x270A, 0x270B }, { 0x2728, 0x2728 }, { 0x274C, 0x274E },
	{ 0x2753, 0x2757 }, { 0x2795, 0x2797 }, { 0x27B0, 0x27BF }, { 0x2B1B, 0x2B1C },
	{ 0x2B50, 0x2B55 }, { 0x2E80, 0x303E }, { 0x3041, 0xA4CF }, { 0xA960, 0xA97F },
	{ 0xAC00, 0xD7A3 }, { 0xF900, 0xFAFF }, { 0xFE10, 0xFE19 }, { 0xFE30, 0xFE6F },
	{ 0xFF00, 0xFF60 }, { 0xFFE0, 0xFFE6 }, { 0x16FE0, 0x1B2FF }, { 0x1D300, 0x1D376 },
	{ 0x1F004, 0x1F004 }, { 0x1F0CF, 0x1F0CF }, { 0x1F18E, 0x1F18E }, { 0x1F191, 0x1F19A },
	{ 0x1F200, 0x1F64F }, { 0x1F680, 0x1FAFF }, { 0x20000, 0x3FFFD },
};
static bool
in(const struct range *r, size_t n, uint32_t cp)
{
	size_t i;

	if (cp < r[0].lo)
		return false;
	for (i = 0; i < n; i++)
		if (cp >= r[i].lo && cp <= r[i].hi)
			return true;
	return false;
}

/* Returns the length in bytes of a character; *cp is 0 if it is not shown. */
static size_t
next(const char *p, const char *end, uint32_t *cp)
{
	size_t n = utf8_get(p, end, cp);

	if (n == 0) {
		*cp = 0xFFFD;
		return 1;
	}
	if (*cp == '\n' || *cp == '\t' || *cp == '\r')
		*cp = ' ';
	else if (*cp < ' ' || (*cp >= 0x7F && *cp < 0xA0))
		*cp = 0xFFFD;
	else if (guard_hidden(*cp))
		*cp = 0;
	return n;
}

/* Marks combine with the character before; so do jamo within a syllable. */
static bool
is_combining(uint32_t cp)
{
	const char *c;

	if (cp < 0x300)
		return false;
	c = unicode_category(cp);
	return (c[0] == 'M' && c[1] != 'c') || (cp >= 0x1160 && cp <= 0x11FF);
}

static size_t
columns(uint32_t cp)
{
	if (cp == 0xFE0F)	/* may widen the character before */
		return 1;
	if (cp == 0 || is_combining(cp))
		return 0;
	return in(wide, COUNTOF(wide), cp) ? 2 : 1;
}

static void
put_char(struct buf *b, uint32_t cp, bool ascii)
{
	char s[4];

	if (cp == 0)
		return;
	if (ascii && cp > '~')		/* ~: a combining mark */
		buf_putc(b, columns(cp) > 0 ? '?' : '~');
	else
		buf_put(b, (struct str){ s, utf8_put(s, cp) });
}

/* `fit` is the end of the text that leaves room for the ellipsis. */
size_t
report_line(struct buf *b, struct str s, size_t cols, bool ascii)
{
	const char *p = s.p, *end = s.n > 0 ? s.p + s.n : s.p;
	size_t used = 0, fit = b->n, fit_used = 0, dots = ascii ? 3 : 1;
	bool blank = true;
	uint32_t cp;

	while (p < end) {
		size_t w;

		p += next(p, end, &cp);
		if (cp == ' ' && blank)
			continue;
		w = ascii && cp != 0 ? 1 : columns(cp);
		if (cols > 0 && used + w > cols) {
			b->n = fit;
			buf_puts(b, cols < dots ? "" : ascii ? "..." : "…");
			return fit_used + (cols < dots ? 0 : dots);
		}
		blank = cp == ' ';
		put_char(b, cp, ascii);
		used += w;
		if (used + dots <= cols) {
			fit = b->n;
			fit_used = used;
		}
	}
	if (blank && used > 0) {
		b->n--;
		used--;
	}
	return used;
}

void
report_part(struct buf *b, const char *before, struct str s, size_t cols,
    bool ascii, const char *after)
{
	if (s.n == 0)
		return;
	buf_puts(b, before);
	report_line(b, s, cols, ascii);
	buf_puts(b, after);
}

void
report_cell(struct buf *b, struct str s, size_t cols, bool ascii)
{
	size_t used = report_line(b, s, cols, ascii);

	for (; used < cols; used++)
		buf_putc(b, ' ');
}

size_t
report_cols(struct str s, size_t max)
{
	const char *p = s.p, *end = s.n > 0 ? s.p + s.n : s.p;
	size_t used = 0;
	uint32_t cp;

	while (p < end && used < max) {
		p += next(p, end, &cp);
		used += columns(cp);
	}
	return used < max ? used : max;
}

void
report_took(struct buf *b, int64_t ms, int cols)
{
	int64_t s = ms / 1000 + (ms % 1000 >= 500);
	char text[40];

	if (ms < 1000)
		snprintf(text, sizeof(text), "%dms", ms < 0 ? 0 : (int)ms);
	else if (ms < 59950)
		snprintf(text, sizeof(text), "%.1fs", (double)ms / 1000);
	else if (s < 3600)
		snprintf(text, sizeof(text), "%dm%ds", (int)(s / 60),
		    (int)(s % 60));
	else
		snprintf(text, sizeof(text), "%lldh%dm", (long long)(s / 3600),
		    (int)(s / 60 % 60));
	buf_fmt(b, "%*s", cols, text);
}

double
report_rate(double share)
{
	if (share > 0 && share < 0.001)
		return 0.1;
	return share < 1 && share > 0.999 ? 99.9 : share * 100;
}

struct str
report_cut(struct str s, size_t max, bool *cut)
{
	*cut = s.n > max;
	return utf8_cut(s, max);
}

/*
 * Appends a line, wrapped on a terminal into at most *lines, which is counted
 * down.  Its indentation stays if it is not deep.  Returns the bytes left.
 */
static size_t
put_wrapped(struct buf *b, struct str line, const char *indent,
    const struct report_opts *o, size_t *lines)
{
	size_t cols = report_cols(str_of(indent), 40), width, n, in;

	width = report_width(o) > cols + 10 ? report_width(o) - cols : 10;
	do {
		for (in = 0; in < line.n && in < width / 2 &&
		    in < 40 && line.p[in] == ' '; in++)
			;
		line = (struct str){ line.p + in, line.n - in };
		n = o->wrap ? report_fit(line, width - in, o->ascii) : line.n;
		buf_puts(b, indent);
		report_spaces(b, in);
		report_line(b, (struct str){ line.p, n }, 0, o->ascii);
		buf_putc(b, '\n');
		line.p += n;
		line.n -= n;
	} while (--*lines > 0 && line.n > 0);
	return line.n;
}

void
report_block(struct buf *b, struct str s, const char *indent, size_t lines,
    const struct report_opts *o)
{
	struct str left, line;
	size_t more;

	while (s.n > 0 && (s.p[s.n - 1] == '\n' || s.p[s.n - 1] == ' '))
		s.n--;
	left = utf8_cut(s, REPORT_REASON);
	more = s.n - left.n;
	while (lines > 0 && str_line(&left, &line))
		more += put_wrapped(b, line, indent, o, &lines);
	if (more + left.n > 0)
		buf_fmt(b, "%s(%zu more bytes)\n", indent, more + left.n);
}

size_t
report_fit(struct str s, size_t cols, bool ascii)
{
	const char *p = s.p, *end = s.p + s.n;
	size_t used = 0, blank = 0, soft = 0, fit;
	uint32_t cp;

	while (p < end) {
		size_t n = next(p, end, &cp);

		used += ascii && cp != 0 ? 1 : columns(cp);
		fit = (size_t)(p - s.p);
		if (used > cols && fit > 0)	/* no short piece of a path */
			return blank > 0 ? blank : soft > fit / 2 ? soft : fit;
		p += n;
		if (cp == ' ')
			blank = (size_t)(p - s.p);
		else if (cp == '-' || cp == '/' || cp == '_')
			soft = (size_t)(p - s.p);
	}
	return s.n;
}

void
report_reason(struct buf *b, struct str s, const char *indent,
    const struct report_opts *o)
{
	struct str left = str_trim(utf8_cut(s, REPORT_REASON)), line;
	size_t lines = SIZE_MAX;

	while (str_line(&left, &line))
		put_wrapped(b, line, indent, o, &lines);
	if (s.n > REPORT_REASON)
		buf_fmt(b, "%s(%zu more bytes)\n", indent,
		    s.n - REPORT_REASON);
}

void
report_reason_line(struct buf *b, struct str s, bool ascii)
{
	report_line(b, utf8_cut(s, REPORT_REASON), 0, ascii);
	if (s.n > REPORT_REASON)
		buf_fmt(b, " (%zu more bytes)", s.n - REPORT_REASON);
}

/* Characters that XML 1.0 section 2.2 allows, without the C1 controls. */
static bool
may_be_xml(uint32_t cp)
{
	if (cp < ' ')
		return cp == '\n' || cp == '\t';
	return (cp < 0x7F || cp > 0x9F) && cp != 0xFFFE && cp != 0xFFFF &&
	    !(cp >= 0x202A && cp <= 0x202E) && !(cp >= 0x2066 && cp <= 0x2069);
}

static const char *
entity(char c)
{
	switch (c) {
	case '<': return "&lt;";
	case '>': return "&gt;";
	case '&': return "&amp;";
	case '"': return "&quot;";
	case '\'': return "&#39;";
	}
	return NULL;
}

/* The replacement of the character at p, or NULL.  *n: its bytes. */
static const char *
replacement(const char *p, const char *end, bool escape, size_t *n)
{
	uint32_t cp;

	*n = utf8_get(p, end, &cp);
	if (*n == 0) {
		*n = 1;
		return "\xEF\xBF\xBD";
	}
	if (cp == '\r')
		return p + 1 < end && p[1] == '\n' ? "" : "\n";
	if (!may_be_xml(cp))
		return "\xEF\xBF\xBD";
	return escape && *n == 1 ? entity(*p) : NULL;
}

static void
clean(struct buf *b, struct str s, bool escape)
{
	const char *p = s.p, *end = s.n > 0 ? s.p + s.n : s.p, *with;
	const char *from = p;
	size_t n;

	for (; p < end; p += n) {
		with = replacement(p, end, escape, &n);
		if (with == NULL)
			continue;
		buf_put(b, (struct str){ from, (size_t)(p - from) });
		buf_puts(b, with);
		from = p + n;
	}
	if (from < end)
		buf_put(b, (struct str){ from, (size_t)(end - from) });
}

void
report_clean(struct buf *b, struct str s)
{
	clean(b, s, false);
}

void
report_escape(struct buf *b, struct str s)
{
	clean(b, s, true);
}

void
report_escape_line(struct buf *b, struct str s, size_t cols)
{
	struct buf line = { 0 };

	report_line(&line, s, cols, false);
	report_escape(b, buf_str(&line));
	buf_free(&line);
}

void
report_stamp(struct buf *b, int64_t wall_ns, enum report_stamp how)
{
	time_t t = (time_t)(wall_ns / 1000000000);
	struct tm tm;
	char s[64];
	size_t n;

	if (gmtime_r(&t, &tm) == NULL)
		return;
	n = how == REPORT_ISO ?
	    strftime(s, sizeof(s), "%Y-%m-%dT%H:%M:%S", &tm) :
	    how == REPORT_DASH ?
	    strftime(s, sizeof(s), "%Y%m%d-%H%M%S", &tm) :
	    strftime(s, sizeof(s), "%Y%m%dT%H%M%SZ", &tm);
	buf_put(b, (struct str){ s, n });
}

void
report_color(struct buf *b, const char *sgr, const struct report_opts *o)
{
	if (o->color)
		buf_fmt(b, "\033[%sm", sgr);
}

void
report_plain(struct buf *b, const struct report_opts *o)
{
	if (o->color)
		buf_puts(b, "\033[0m");
}

void
report_colored(struct buf *b, const char *sgr, const char *words,
    const struct report_opts *o)
{
	report_color(b, sgr, o);
	buf_puts(b, words);
	report_plain(b, o);
}

void
report_mark(struct buf *b, enum result_status st, const struct report_opts *o)
{
	static const struct {
		const char *sign, *ascii, *sgr;
	} marks[] = {
		[RESULT_NONE] = { "-", "-", "2" },
		[RESULT_SKIPPED] = { "-", "-", "2" },
		[RESULT_PASSED] = { "✓", "+", "32" },
		[RESULT_FAILED] = { "✗", "x", "31" },
		[RESULT_AGENT_ERROR] = { "!", "!", "33" },	/* any error */
	};
	size_t i = st < RESULT_AGENT_ERROR ? st : RESULT_AGENT_ERROR;

	report_colored(b, marks[i].sgr, o->ascii ? marks[i].ascii :
	    marks[i].sign, o);
	buf_putc(b, ' ');
}

const char *
report_status(enum result_status st)
{
	return result_is_error(st) ? result_class(st) : result_word(st);
}
