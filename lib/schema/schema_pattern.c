/* SPDX-License-Identifier: ISC */
/*
 * Translates patterns of ECMA-262, which JSON Schema uses, to those of re.h.
 *
 * Most syntax is the same in both.  Differences are rewritten: `.` and \s,
 * \cX, \uXXXX, [^], a "[" within a class, long names of properties.  Syntax
 * without an equivalent (lookaround, backreferences) is refused.  Syntax that
 * only re.h has, such as (?i), is passed through, as users of Go expect it.
 */
#include "lib/schema/schema_internal.h"

#include <string.h>

/* White space and line terminators of ECMA-262, and all other characters. */
#define SPACES "\\t-\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}" \
	"\\x{202f}\\x{205f}\\x{3000}\\x{feff}"
#define OTHERS "\\x{0}-\\x{8}\\x{e}-\\x{1f}!-\\x{9f}\\x{a1}-\\x{167f}" \
	"\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}" \
	"\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}"

struct reader {
	const char *p, *end;
	struct buf out;
	bool class;		/* within [...] */
	const char *why;	/* the error, or NULL */
};

static const struct {
	const char *word, *category;
} categories[] = {		/* of Unicode */
	{ "Letter", "L" },
	{ "Uppercase_Letter", "Lu" }, { "Lowercase_Letter", "Ll" },
	{ "Titlecase_Letter", "Lt" }, { "Modifier_Letter", "Lm" },
	{ "Other_Letter", "Lo" }, { "Mark", "M" }, { "Combining_Mark", "M" },
	{ "Nonspacing_Mark", "Mn" }, { "Spacing_Mark", "Mc" },
	{ "Enclosing_Mark", "Me" }, { "Number", "N" },
	{ "Decimal_Number", "Nd" }, { "digit", "Nd" },
	{ "Letter_Number", "Nl" }, { "Other_Number", "No" },
	{ "Punctuation", "P" }, { "punct", "P" },
	{ "Connector_Punctuation", "Pc" }, { "Dash_Punctuation", "Pd" },
	{ "Open_Punctuation", "Ps" }, { "Close_Punctuation", "Pe" },
	{ "Initial_Punctuation", "Pi" }, { "Final_Punctuation", "Pf" },
	{ "Other_Punctuation", "Po" }, { "Symbol", "S" },
	{ "Math_Symbol", "Sm" }, { "Currency_Symbol", "Sc" },
	{ "Modifier_Symbol", "Sk" }, { "Other_Symbol", "So" },
	{ "Separator", "Z" }, { "Space_Separator", "Zs" },
	{ "Line_Separator", "Zl" }, { "Paragraph_Separator", "Zp" },
	{ "Other", "C" }, { "Control", "Cc" }, { "cntrl", "Cc" },
	{ "Format", "Cf" }, { "Surrogate", "Cs" }, { "Private_Use", "Co" },
};

static bool
at(const struct reader *r, const char *text)
{
	size_t n = strlen(text);

	return (size_t)(r->end - r->p) >= n && memcmp(r->p, text, n) == 0;
}

static void
put_point(struct reader *r, uint32_t cp)
{
	buf_fmt(&r->out, "\\x{%lx}", (unsigned long)cp);
}

/* n hexadecimal digits at p, or -1. */
static long
hex(const char *p, const char *end, size_t n)
{
	long v = 0;

	if ((size_t)(end - p) < n)
		return -1;
	for (; n > 0; n--, p++) {
		if (hex_digit(*p) == -1)
			return -1;
		v = v * 16 + hex_digit(*p);
	}
	return v;
}

/* \uXXXX, a surrogate pair of two, or \u{X...}; p is behind the u. */
static void
unicode(struct reader *r)
{
	const char *close;
	long v, low;

	if (r->p < r->end && *r->p == '{') {
		close = memchr(r->p, '}', (size_t)(r->end - r->p));
		v = close == NULL || close - r->p > 9 || close - r->p < 2 ? -1 :
		    hex(r->p + 1, r->end, (size_t)(close - r->p) - 1);
		r->p = close == NULL ? r->end : close + 1;
	} else {
		v = hex(r->p, r->end, 4);
		r->p += v >= 0 ? 4 : 0;
		if (v >= 0xD800 && v < 0xDC00 && at(r, "\\u")) {
			low = hex(r->p + 2, r->end, 4);
			if (low >= 0xDC00 && low < 0xE000) {
				v = 0x10000 + ((v - 0xD800) << 10) +
				    (low - 0xDC00);
				r->p += 6;
			}
		}
	}
	if (v < 0 || v > 0x10FFFF)
		r->why = "\\u is not followed by a code point";
	else if (v >= 0xD800 && v < 0xE000)
		r->why = "half a surrogate pair matches nothing";
	else
		put_point(r, (uint32_t)v);
}

/* \p{...} and \P{...}; p is behind the letter. */
static void
property(struct reader *r, char letter)
{
	static const char *const prefixes[] = { "General_Category=", "gc=",
		"Script=", "sc=" };
	const char *close;
	struct str name;
	size_t i;

	if (r->p == r->end || *r->p != '{') {
		buf_fmt(&r->out, "\\%c", letter);
		return;
	}
	close = memchr(r->p, '}', (size_t)(r->end - r->p));
	if (close == NULL) {
		r->why = "\\p{ without its }";
		return;
	}
	name = (struct str){ r->p + 1, (size_t)(close - r->p) - 1 };
	r->p = close + 1;
	for (i = 0; i < COUNTOF(prefixes); i++)
		if (str_starts(name, str_of(prefixes[i]))) {
			name.p += strlen(prefixes[i]);
			name.n -= strlen(prefixes[i]);
			break;
		}
	for (i = 0; i < COUNTOF(categories); i++)
		if (str_is(name, categories[i].word))
			name = str_of(categories[i].category);
	buf_fmt(&r->out, "\\%c{", letter);
	buf_put(&r->out, name);
	buf_putc(&r->out, '}');
}

/* \s and \S, within a class and alone. */
static void
space(struct reader *r, bool is)
{
	if (!r->class)
		buf_puts(&r->out, is ? "[" : "[^");
	buf_puts(&r->out, r->class && !is ? OTHERS : SPACES);
	if (!r->class)
		buf_putc(&r->out, ']');
}

/* p is behind the backslash. */
static void
escape(struct reader *r)
{
	char c;

	if (r->p == r->end) {
		r->why = "it ends with a backslash";
		return;
	}
	c = *r->p++;
	if (c == 'u')
		unicode(r);
	else if (c == 'p' || c == 'P')
		property(r, c);
	else if (c == 's' || c == 'S')
		space(r, c == 's');
	else if (c == 'c' && r->p < r->end && (*r->p | 0x20) >= 'a' &&
	    (*r->p | 0x20) <= 'z')
		put_point(r, (uint32_t)*r->p++ & 31);
	else if (c == '0' && (r->p == r->end || *r->p < '0' || *r->p > '9'))
		put_point(r, 0);
	else if (c == 'b' && r->class)
		put_point(r, 8);
	else if ((c >= '0' && c <= '9') || c == 'k')
		r->why = "backreferences are not supported";
	else if (c == 'a' || c == 'C' || c == 'Q' || c == 'E' || c == 'c')
		r->why = "this escape is not part of ECMA-262";
	else {
		buf_putc(&r->out, '\\');
		buf_putc(&r->out, c);
	}
}

/* p is behind the "[" that begins a class. */
static void
begin_class(struct reader *r)
{
	bool negated = r->p < r->end && *r->p == '^';

	r->p += negated;
	if (r->p < r->end && *r->p == ']') {	/* [] or [^] */
		r->p++;
		buf_puts(&r->out, negated ? "[\\x{0}-\\x{10ffff}]" :
		    "[^\\x{0}-\\x{10ffff}]");
		return;
	}
	buf_puts(&r->out, negated ? "[^" : "[");
	r->class = true;
}

static void
group(struct reader *r)
{
	if (at(r, "?=") || at(r, "?!") || at(r, "?<=") || at(r, "?<!"))
		r->why = "lookahead and lookbehind are not supported";
	buf_putc(&r->out, '(');
}

static void
step(struct reader *r)
{
	char c = *r->p++;

	if (c == '\\')
		escape(r);
	else if (r->class && c == '[')
		buf_puts(&r->out, "\\[");
	else if (c == '[')
		begin_class(r);
	else if (!r->class && c == '.')
		buf_puts(&r->out, "[^\\n\\r\\x{2028}\\x{2029}]");
	else if (!r->class && c == '(')
		group(r);
	else {
		r->class = r->class && c != ']';
		buf_putc(&r->out, c);
	}
}

struct str
schema_pattern(struct arena *a, struct str ecma, const char **why)
{
	struct reader r = { .p = ecma.p, .end = ecma.p + ecma.n };
	struct str s = { NULL, 0 };

	while (r.p < r.end && r.why == NULL)
		step(&r);
	*why = r.why;
	if (r.why == NULL)
		s = arena_str(a, buf_str(&r.out));
	buf_free(&r.out);
	return s;
}
