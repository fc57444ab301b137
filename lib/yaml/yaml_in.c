/* SPDX-License-Identifier: ISC */
/*
 * The text under the YAML reader.
 *
 * Invariants: bol <= p <= end; *end is the only NUL; [bol, p) contains no
 * '\n'; line is 1 plus the number of breaks before bol.  A line is fresh when
 * the cursor is on its first content: then indent is the number of spaces
 * before it, or -1 at a document marker and at the end of the text, so that
 * these end every block.
 */
#include "lib/yaml/yaml_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "json.h"

#define W YAML_IN_WHITE
#define E (YAML_IN_EOL | YAML_IN_PLAIN | YAML_IN_SINGLE | YAML_IN_DOUBLE)
#define F (YAML_IN_FLOW | YAML_IN_INDICATOR)
#define I YAML_IN_INDICATOR
#define P (YAML_IN_PLAIN | YAML_IN_INDICATOR)
#define S (YAML_IN_SINGLE | YAML_IN_INDICATOR)
#define D (YAML_IN_DOUBLE | YAML_IN_INDICATOR)
#define T YAML_IN_TYPED

const unsigned char yaml_in_class[256] = {
	['\0'] = E, ['\n'] = E, ['\t'] = W, [' '] = W,
	[','] = F, ['['] = F, [']'] = F, ['{'] = F, ['}'] = F,
	[':'] = P, ['#'] = P, ['\''] = S, ['"'] = D,
	['\\'] = YAML_IN_DOUBLE,
	['?'] = I, ['&'] = I, ['*'] = I, ['!'] = I, ['|'] = I, ['>'] = I,
	['%'] = I, ['@'] = I, ['`'] = I, ['-'] = I | T,
	['+'] = T, ['.'] = T, ['~'] = T,
	['0'] = T, ['1'] = T, ['2'] = T, ['3'] = T, ['4'] = T,
	['5'] = T, ['6'] = T, ['7'] = T, ['8'] = T, ['9'] = T,
	['n'] = T, ['N'] = T, ['t'] = T, ['T'] = T, ['f'] = T, ['F'] = T,
};

unsigned
yaml_in_col(const struct yaml_in *y, const char *p)
{
	return (unsigned)(p - y->bol) + 1;
}

int
yaml_in_bad(struct yaml_in *y, const char *p, const char *fmt, ...)
{
	char msg[sizeof(y->err->msg)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	err_set(y->err, ERR_SYNTAX, "%s", msg);
	return err_at(y->err, y->line, yaml_in_col(y, p));
}

const char *
yaml_in_show(char out[YAML_IN_NAME], struct str s)
{
	size_t i = 0, n;
	uint32_t cp;

	while (i < s.n) {
		n = utf8_get(s.p + i, s.p + s.n, &cp);
		if (n == 0 || i + n > YAML_IN_NAME - 4)
			break;
		memcpy(out + i, s.p + i, n);
		if (cp < ' ' || cp == 0x7f)
			out[i] = '?';
		i += n;
	}
	memcpy(out + i, i < s.n ? "..." : "", i < s.n ? 4 : 1);
	return out;
}

/* Copies text with every line break as '\n' (b-break [28]); returns the end. */
static char *
copy_lines(char *out, struct str text)
{
	const char *p = text.p, *end = text.p + text.n, *cr;

	while (p < end) {
		cr = memchr(p, '\r', (size_t)(end - p));
		if (cr == NULL)
			cr = end;
		memcpy(out, p, (size_t)(cr - p));
		out += cr - p;
		p = cr;
		if (p < end) {
			*out++ = '\n';
			p += p + 1 < end && p[1] == '\n' ? 2 : 1;
		}
	}
	return out;
}

/* Characters of nb-json [2] that are not in c-printable [1]. */
static bool
is_special(uint32_t cp)
{
	return (cp >= 0x7f && cp < 0xa0 && cp != 0x85) || cp == 0xfeff ||
	    cp == 0xfffe || cp == 0xffff;
}

/* The length of the character at p, which is not printable ASCII; 0: error. */
static size_t
check_char(struct yaml_in *y, const char *p)
{
	unsigned char c = (unsigned char)*p;
	uint32_t cp;
	size_t n;

	if (c == '\n' || c == '\t')
		return 1;
	n = utf8_get(p, y->end, &cp);
	if (n > 0 && cp >= ' ') {
		y->special = y->special || is_special(cp);
		return n;
	}
	for (; y->p < p; y->p++)
		if (*y->p == '\n') {
			y->line++;
			y->bol = y->p + 1;
		}
	if (n == 0)
		yaml_in_bad(y, p, "byte 0x%02x is not valid UTF-8 here", c);
	else
		yaml_in_bad(y, p, "control character 0x%02x: write it as "
		    "\"\\x%02x\" in double quotes", c, c);
	return 0;
}

/* Whether eight bytes are all printable ASCII or line breaks. */
static bool
is_ascii8(const char *p)
{
	const uint64_t one = UINT64_C(0x0101010101010101), top = one * 0x80;
	uint64_t w, low, nl;

	memcpy(&w, p, sizeof(w));
	low = ~((w | top) - one * ' ') & top;
	nl = ~(((w ^ one * '\n') | top) - one) & top;
	return (((w | (w + one)) & top) | (low ^ nl)) == 0;
}

static int
check_text(struct yaml_in *y)
{
	const char *p = y->p, *stop;
	size_t n;

	while (p < y->end) {
		if (y->end - p >= 8 && is_ascii8(p)) {
			p += 8;
			continue;
		}
		stop = y->end - p > 8 ? p + 8 : y->end;
		while (p < stop) {
			n = (unsigned char)(*p - ' ') < '~' - ' ' + 1 ?
			    1 : check_char(y, p);
			if (n == 0)
				return -1;
			p += n;
		}
	}
	return 0;
}

int
yaml_in_open(struct yaml_in *y, struct str text)
{
	char *copy, *end;

	if (str_starts(text, STR("\xef\xbb\xbf"))) {
		text.p += 3;
		text.n -= 3;
	}
	copy = arena_raw(y->mem, text.n + 1, 1);
	end = copy_lines(copy, text);
	*end = '\0';
	y->p = y->bol = y->text = copy;
	y->end = end;
	y->line = 1;
	if (str_starts(text, STR("\xff\xfe")) ||
	    str_starts(text, STR("\xfe\xff")))
		return yaml_in_bad(y, copy,
		    "the text is UTF-16; save it as UTF-8");
	return check_text(y);
}

int
yaml_in_check_special(struct yaml_in *y, const char *p, const char *end)
{
	uint32_t cp;

	while (p < end) {
		size_t n = utf8_get(p, end, &cp);

		if (is_special(cp))
			return yaml_in_bad(y, p, "character U+%04X is only "
			    "allowed in a quoted string", (unsigned)cp);
		p += n;
	}
	return 0;
}

bool
yaml_in_marker(const char *p)
{
	return (*p == '-' || *p == '.') && p[1] == *p && p[2] == *p &&
	    yaml_in_is(p[3], YAML_IN_WHITE | YAML_IN_EOL);
}

const char *
yaml_in_eol(const struct yaml_in *y, const char *p)
{
	p = memchr(p, '\n', (size_t)(y->end - p));
	return p == NULL ? y->end : p;
}

void
yaml_in_lines(struct yaml_in *y)
{
	const char *p = y->p;

	for (;;) {
		y->bol = p;
		while (*p == ' ')
			p++;
		y->indent = (int)(p - y->bol);
		y->tabbed = *p == '\t';
		p = yaml_in_skip_white(p);
		if (*p == '#')
			p = yaml_in_eol(y, p);
		if (*p != '\n')
			break;
		p++;
		y->line++;
	}
	y->p = p;
	if (*p == '\0' || (p == y->bol && yaml_in_marker(p)))
		y->indent = -1;
}

int
yaml_in_end_line(struct yaml_in *y, const char *before)
{
	const char *p = yaml_in_skip_white(y->p);

	if (*p == '#' && p > y->p)
		p = yaml_in_eol(y, p);
	if (*p == '#')
		return yaml_in_bad(y, p, "a comment needs a space before #");
	if (*p != '\n' && *p != '\0')
		return yaml_in_bad(y, p, "unexpected text after %s", before);
	y->p = p;
	y->indent = -1;
	if (*p == '\n') {
		y->p++;
		y->line++;
		yaml_in_lines(y);
	}
	return 0;
}

int
yaml_in_enter(struct yaml_in *y)
{
	if (y->depth >= y->max_depth) {
		yaml_in_bad(y, y->p, "nesting is deeper than %u levels",
		    y->max_depth);
		y->err->code = ERR_LIMIT;
		return -1;
	}
	if (++y->depth > y->deepest)
		y->deepest = y->depth;
	return 0;
}

void
yaml_in_place(const struct yaml_in *y, struct json *v, const char *p)
{
	unsigned col = yaml_in_col(y, p);

	v->line = y->line;
	v->col = (uint16_t)(col < JSON_COL_MAX ? col : JSON_COL_MAX);
}

struct json *
yaml_in_node(struct yaml_in *y, const char *p)
{
	struct json *v = NEW(y->mem, struct json);

	y->nodes++;
	yaml_in_place(y, v, p);
	return v;
}
