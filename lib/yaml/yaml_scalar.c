/* SPDX-License-Identifier: ISC */
/*
 * Plain and quoted scalars.
 *
 * Each is read in two steps: scan to its end and check everything while line
 * and column are known; then decode, which cannot fail.  A single line without
 * escapes is used as it is; others are decoded in place, as the result is
 * never longer than the source (except for \L and \P).
 */
#include "lib/yaml/yaml_internal.h"

#include <string.h>

#include "json.h"

enum { KEY_MAX = 1024 };	/* section 7.4.2; characters */

static bool
is_white(char c)
{
	return c == ' ' || c == '\t';
}

/*
 * The end of the plain text that starts at p, in its line (ns-plain-char
 * [130]): before ": ", " #", and in flow context a flow indicator.
 */
static const char *
plain_line(const char *p, bool flow)
{
	const unsigned flows = flow ? YAML_IN_FLOW : 0;
	const char *s = p;

	for (;;) {
		while (!yaml_in_is(*p, YAML_IN_PLAIN | flows))
			p++;
		if (*p == ':') {
			if (yaml_in_is(p[1],
			    YAML_IN_WHITE | YAML_IN_EOL | flows))
				break;
		} else if (*p != '#' || (p > s && is_white(p[-1]))) {
			break;
		}
		p++;
	}
	while (p > s && is_white(p[-1]))
		p--;
	return p;
}

/* Moves to the next line if it continues the plain scalar [133]. */
static bool
plain_next(struct yaml_in *y, int n, bool flow)
{
	const char *p = yaml_in_skip_white(y->p), *bol = NULL, *e;
	unsigned line = y->line;
	int indent = 0;

	while (*p == '\n') {
		bol = ++p;
		line++;
		while (*p == ' ')
			p++;
		indent = (int)(p - bol);
		if (*p == '\t' && indent < n)
			return false;
		p = yaml_in_skip_white(p);
	}
	if (bol == NULL || *p == '#' || *p == '\0' || indent < n ||
	    yaml_in_marker(bol))
		return false;
	e = plain_line(p, flow);
	if (e == p)
		return false;
	y->line = line;
	y->bol = bol;
	y->p = e;
	return true;
}

/*
 * Folds the line break at p (section 6.5): removes white space around it and
 * writes a space, or as many breaks as blank lines follow.
 */
static const char *
fold(const char *p, const char *end, char **out, const char *floor)
{
	char *o = *out;
	size_t breaks = 0;

	while (o > floor && is_white(o[-1]))
		o--;
	for (; p < end && (*p == '\n' || is_white(*p)); p++)
		breaks += *p == '\n';
	if (breaks == 1)
		*o++ = ' ';
	while (breaks-- > 1)
		*o++ = '\n';
	*out = o;
	return p;
}

/* Decodes plain and single-quoted scalars, where '' is one quote. */
static struct str
decode_plain(struct yaml_in *y, const char *p, const char *end, bool single)
{
	char *text = yaml_in_write(y, p), *o = text;

	while (p < end) {
		if (*p == '\n') {
			p = fold(p, end, &o, text);
			continue;
		}
		p += single && *p == '\'';
		*o++ = *p++;
	}
	return (struct str){ text, (size_t)(o - text) };
}

/* The number of characters, or of bytes if the limit on keys is far off. */
static size_t
count(const char *p, const char *end)
{
	size_t n = (size_t)(end - p);

	if (n > KEY_MAX / 4)
		for (n = 0; p < end; p++)
			n += (*p & 0xc0) != 0x80;
	return n;
}

static int
read_plain(struct yaml_in *y, int n, bool flow, struct yaml_scalar *s)
{
	const char *p = y->p;

	y->p = plain_line(p, flow);
	if (yaml_in_printable(y, p, y->p) != 0)
		return -1;
	s->text = (struct str){ p, (size_t)(y->p - p) };
	s->to = y->p;
	s->chars = count(p, y->p);
	while (plain_next(y, n, flow)) {
		s->multi = true;
		if (yaml_in_printable(y, yaml_in_skip_white(y->bol), y->p) != 0)
			return -1;
	}
	if (s->multi)
		s->text = decode_plain(y, p, y->p, false);
	return 0;
}

/* Steps over the break at y->p inside quotes (s-flow-line-prefix [69]). */
static int
quoted_break(struct yaml_in *y, int n, const struct yaml_scalar *s)
{
	const char *p = y->p + 1;
	int indent;

	y->line++;
	y->bol = p;
	while (*p == ' ')
		p++;
	indent = (int)(p - y->bol);
	y->p = p;
	if (yaml_in_marker(y->bol))
		return yaml_in_bad(y, p, "a document marker inside the quoted "
		    "string that starts at line %u", s->line);
	if (indent < n && *p == '\t')
		return yaml_in_bad(y, p,
		    "tab used for indentation; use spaces");
	if (indent < n && !yaml_in_is(*p, YAML_IN_EOL))
		return yaml_in_bad(y, p, "the quoted string that starts at "
		    "line %u is not closed, or this line of it needs %d or "
		    "more spaces", s->line, n);
	return 0;
}

static int
quoted_eof(struct yaml_in *y, const struct yaml_scalar *s, const char *kind)
{
	return yaml_in_bad(y, y->p, "found the end of the file inside a "
	    "%s-quoted string that starts at line %u", kind, s->line);
}

static int
read_single(struct yaml_in *y, int n, struct yaml_scalar *s)
{
	const char *from = ++y->p;
	bool twice = false;

	for (;;) {
		while (!yaml_in_is(*y->p, YAML_IN_SINGLE))
			y->p++;
		if (*y->p == '\'') {
			if (y->p[1] != '\'')
				break;
			twice = true;
			y->p += 2;
		} else if (*y->p == '\0') {
			return quoted_eof(y, s, "single");
		} else {
			s->multi = true;
			if (quoted_break(y, n, s) != 0)
				return -1;
		}
	}
	s->text = (struct str){ from, (size_t)(y->p - from) };
	s->to = y->p + 1;
	s->chars = count(from, y->p) + 2;
	if (twice || s->multi)
		s->text = decode_plain(y, from, y->p, true);
	y->p++;
	return 0;
}

/* c-ns-esc-char [62]: the letter, and its code point or hex digits. */
static const struct { char letter; unsigned char digits; uint16_t cp; }
escapes[] = {
	{ '"', 0, '"' }, { '/', 0, '/' }, { '\\', 0, '\\' }, { 'n', 0, '\n' },
	{ 't', 0, '\t' }, { '\t', 0, '\t' }, { 'r', 0, '\r' }, { ' ', 0, ' ' },
	{ '0', 0, 0 }, { 'a', 0, 7 }, { 'b', 0, 8 }, { 'v', 0, 11 },
	{ 'f', 0, 12 }, { 'e', 0, 27 }, { 'N', 0, 0x85 }, { '_', 0, 0xa0 },
	{ 'L', 0, 0x2028 }, { 'P', 0, 0x2029 },
	{ 'x', 2, 0 }, { 'u', 4, 0 }, { 'U', 8, 0 },
};

/* The length of the escape at p, or 0 if it is not a valid one. */
static size_t
escape_get(const char *p, uint32_t *cp)
{
	size_t i, k;

	for (i = 0; i < COUNTOF(escapes); i++)
		if (escapes[i].letter == p[1])
			break;
	if (i == COUNTOF(escapes))
		return 0;
	*cp = escapes[i].cp;
	for (k = 0; k < escapes[i].digits; k++) {
		if (hex_digit(p[2 + k]) < 0)
			return 0;
		*cp = *cp << 4 | (uint32_t)hex_digit(p[2 + k]);
	}
	return 2 + k;
}

/* As escape_get(), but also decodes a surrogate pair of two \u, as JSON. */
static size_t
escape_char(const char *p, uint32_t *cp)
{
	size_t n = escape_get(p, cp), m;
	uint32_t low;

	if (n == 0 || *cp < 0xd800 || *cp > 0xdfff)
		return *cp > 0x10ffff ? 0 : n;
	m = *cp < 0xdc00 && p[n] == '\\' ? escape_get(p + n, &low) : 0;
	if (n != 6 || m != 6 || low < 0xdc00 || low > 0xdfff)
		return 0;
	*cp = 0x10000 + ((*cp - 0xd800) << 10) + (low - 0xdc00);
	return n + m;
}

/* Skips the escape at y->p; adds to *grow the bytes that decoding adds. */
static int
check_escape(struct yaml_in *y, size_t *grow)
{
	uint32_t cp = 0;
	size_t n = escape_char(y->p, &cp);
	char c = y->p[1];

	if (n == 0 && escape_get(y->p, &cp) != 0 && cp < 0x10000)
		return yaml_in_bad(y, y->p, "lone surrogate: this \\%c is half "
		    "of a character", c);
	if (n == 0 && (c == 'x' || c == 'u' || c == 'U'))
		return yaml_in_bad(y, y->p, "\\%c must be followed by the hex "
		    "digits of a character", c);
	if (n == 0)
		return yaml_in_bad(y, y->p, "unknown escape \\%s in a "
		    "double-quoted string: write \\\\ for a backslash, or use "
		    "single quotes",
		    YAML_IN_SHOW((struct str){ y->p + 1, c != '\0' }));
	*grow += c == 'L' || c == 'P';
	y->p += n;
	return 0;
}

static struct str
decode_double(struct yaml_in *y, const char *p, const char *end, size_t grow)
{
	char *text = grow == 0 ? yaml_in_write(y, p) :
	    arena_raw(y->mem, (size_t)(end - p) + grow, 1);
	char *o = text, *floor = text;
	uint32_t cp;

	while (p < end) {
		if (*p == '\n') {
			p = fold(p, end, &o, floor);
		} else if (*p != '\\') {
			*o++ = *p++;
		} else if (p[1] != '\n') {
			p += escape_char(p, &cp);
			o += utf8_put(o, cp);
			floor = o;
		} else {	/* s-double-escaped [112] */
			p = yaml_in_skip_white(p + 2);
			for (; *p == '\n'; p = yaml_in_skip_white(p + 1))
				*o++ = '\n';
			floor = o;
		}
	}
	return (struct str){ text, (size_t)(o - text) };
}

static int
read_double(struct yaml_in *y, int n, struct yaml_scalar *s)
{
	const char *from = ++y->p;
	size_t grow = 0;
	bool escaped = false;

	for (;;) {
		while (!yaml_in_is(*y->p, YAML_IN_DOUBLE))
			y->p++;
		if (*y->p == '"')
			break;
		if (*y->p == '\0')
			return quoted_eof(y, s, "double");
		if (*y->p == '\\' && y->p[1] != '\n') {
			escaped = true;
			if (check_escape(y, &grow) != 0)
				return -1;
			continue;
		}
		s->multi = true;
		y->p += *y->p == '\\';
		if (quoted_break(y, n, s) != 0)
			return -1;
	}
	s->text = (struct str){ from, (size_t)(y->p - from) };
	s->to = y->p + 1;
	s->chars = count(from, y->p) + 2;
	if (escaped || s->multi)
		s->text = decode_double(y, from, y->p, grow);
	y->p++;
	return 0;
}

int
yaml_scalar_read(struct yaml_in *y, int n, bool flow, struct yaml_scalar *s)
{
	s->line = y->line;
	s->col = yaml_in_col(y, y->p);
	s->multi = false;
	s->plain = false;
	if (*y->p == '"')
		return read_double(y, n, s);
	if (*y->p == '\'')
		return read_single(y, n, s);
	s->plain = true;
	return read_plain(y, n, flow, s);
}

int
yaml_scalar_bad_start(struct yaml_in *y)
{
	const char *p = y->p, *e = p;

	if (*p == '?')
		return yaml_in_bad(y, p,
		    "complex key (\"? \") is not supported");
	if (*p == ':')
		return yaml_in_bad(y, p, "an empty key is not supported: the "
		    "key before \":\" is missing");
	if (*p != '!')
		return yaml_in_bad(y, p, "text cannot start with %c: quote it",
		    *p);
	while (!yaml_in_is(*e, YAML_IN_WHITE | YAML_IN_EOL | YAML_IN_FLOW))
		e++;
	return yaml_in_bad(y, p, "tags (%s) are not supported; quote it if it "
	    "is text", YAML_IN_SHOW((struct str){ p, (size_t)(e - p) }));
}

int
yaml_scalar_bad_key(struct yaml_in *y, const char *p, char c)
{
	if (c != '&' && c != '*' && c != '[' && c != '{')
		return 0;
	return yaml_in_bad(y, p, "%s a key is not supported; quote it if it is "
	    "text", c == '&' ? "an anchor on" : c == '*' ? "an alias as" :
	    "a collection as");
}

int
yaml_scalar_value(struct yaml_in *y, const struct yaml_scalar *s,
    struct json *v)
{
	if (s->plain && yaml_in_is(s->text.p[0], YAML_IN_TYPED))
		return yaml_core_value(y, s, v);
	v->type = JSON_STRING;
	v->u.text = s->text.p;
	v->n = (uint32_t)s->text.n;
	return 0;
}

int
yaml_scalar_key(struct yaml_in *y, const struct yaml_scalar *s,
    const char *colon)
{
	size_t n;

	if (s->multi && s->plain)
		return yaml_in_bad(y, colon, "mapping values are not allowed "
		    "here: check the indentation of this line, or quote the "
		    "text that contains \": \"");
	if (s->multi)
		return yaml_in_bad(y, colon, "a key must be on one line; this "
		    "one starts at line %u", s->line);
	n = s->chars + (size_t)(colon - s->to);
	if (n > KEY_MAX)
		return yaml_in_bad(y, colon, "a key can be up to %d "
		    "characters long; this one has %zu", KEY_MAX, n);
	return 0;
}
