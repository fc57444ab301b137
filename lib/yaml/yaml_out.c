/* SPDX-License-Identifier: ISC */
/*
 * YAML for people: blocks, few quotes.  A string is plain only if it is a
 * series of words of letters, digits and a few marks that mean nothing in
 * YAML 1.1 and 1.2; anything doubtful is a JSON string, which is also YAML.
 */
#include "lib/yaml/yaml_out.h"

#include <string.h>

#include "json.h"

enum {
	PLAIN_MAX = 200,	/* bytes; longer strings are quoted */
	KEY_MAX = 500		/* YAML's limit is 1024 characters */
};

static bool
is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The words that some reader takes for a boolean or null. */
static bool
is_reserved(struct str s)
{
	static const char *const words[] = { "null", "true", "false", "yes",
		"no", "on", "off", "y", "n" };
	char low[8];
	size_t i;

	if (s.n >= sizeof(low))
		return false;
	for (i = 0; i < s.n; i++)
		low[i] = (char)(s.p[i] | 0x20);
	for (i = 0; i < COUNTOF(words); i++)
		if (str_eq((struct str){ low, s.n }, str_of(words[i])))
			return true;
	return false;
}

static bool
is_plain(struct str s)
{
	size_t i;

	if (s.n == 0 || s.n > PLAIN_MAX || !is_letter(s.p[0]) ||
	    s.p[s.n - 1] == ' ' || is_reserved(s))
		return false;
	for (i = 0; i < s.n; i++)
		if (!is_letter(s.p[i]) && !is_digit(s.p[i]) &&
		    strchr(" -_./()'+;", s.p[i]) == NULL)
			return false;
	return memchr(s.p, '\0', s.n) == NULL;
}

/*
 * Whether a text of several lines can be a block: its first line does not begin
 * with a blank, which would set the indentation, no line consists of blanks,
 * all characters are printable, and it ends with at most one newline.
 */
static bool
is_block(struct str s)
{
	const char *p = s.p, *end = s.p + s.n;
	bool blanks = false, empty = true;	/* the line so far */
	uint32_t c;
	size_t n;

	if (memchr(s.p, '\n', s.n) == NULL || s.p[0] == '\n' ||
	    s.p[0] == ' ' || s.n < 3 || str_ends(s, STR("\n\n")))
		return false;
	for (; p < end; p += n) {
		n = utf8_get(p, end, &c);
		if (n == 0 || (c < 0x20 && c != '\n') || (c >= 0x7F && c < 0xA0)
		    || c == 0x2028 || c == 0x2029 || c == 0xFEFF ||
		    c >= 0xFFFE || (c == '\n' && blanks))
			return false;
		blanks = c == ' ' && (empty || blanks);
		empty = c == '\n';
	}
	return !blanks;
}

static void
put_block(struct buf *b, struct str s, unsigned indent)
{
	bool closed = s.p[s.n - 1] == '\n';
	const char *end;

	buf_puts(b, closed ? "|" : "|-");
	if (closed)
		s.n--;
	for (;;) {
		end = s.n > 0 ? memchr(s.p, '\n', s.n) : NULL;
		if (end == NULL)
			end = s.p + s.n;
		buf_putc(b, '\n');
		if (end > s.p)
			buf_fmt(b, "%*s%.*s", (int)indent, "",
			    (int)(end - s.p), s.p);
		if (end == s.p + s.n)
			return;
		s.n -= (size_t)(end + 1 - s.p);
		s.p = end + 1;
	}
}

void
yaml_put_word(struct buf *b, struct str s)
{
	struct json_out o = { .put = buf_sink, .ctx = b };

	if (is_plain(s))
		buf_put(b, s);
	else
		json_put_str(&o, s);
}

void
yaml_put_str(struct buf *b, struct str s, unsigned indent)
{
	if (s.n > 0 && is_block(s))
		put_block(b, s, indent);
	else
		yaml_put_word(b, s);
}

/* Whether it is written one entry per line: not with keys that are too long. */
static bool
is_collection(const struct json *v)
{
	const struct json *c = json_first(v);

	for (; c != NULL; c = c->next)
		if (json_key(c).n > KEY_MAX)
			return false;
	return json_first(v) != NULL;
}

static void
put_scalar(struct buf *b, const struct json *v, unsigned indent)
{
	struct json_out o = { .put = buf_sink, .ctx = b };

	if (v->type == JSON_STRING)
		yaml_put_str(b, json_text(v), indent);
	else if (v->type == JSON_NUMBER)
		buf_put(b, json_text(v));
	else
		json_put(&o, v);
	buf_putc(b, '\n');
}

/* A list in a mapping is deeper than its key; so are mappings. */
static void
put_entry(struct buf *b, const struct json *v, unsigned indent)
{
	bool item = json_key(v).p == NULL;

	if (item) {
		buf_putc(b, '-');
	} else {
		yaml_put_word(b, json_key(v));
		buf_putc(b, ':');
	}
	if (item && v->type == JSON_OBJECT && is_collection(v)) {
		buf_putc(b, ' ');	/* its first key is on this line */
		yaml_put(b, v, indent + 2);
	} else if (is_collection(v)) {
		buf_fmt(b, "\n%*s", (int)indent + 2, "");
		yaml_put(b, v, indent + 2);
	} else {
		buf_putc(b, ' ');
		put_scalar(b, v, indent + 2);
	}
}

void
yaml_put(struct buf *b, const struct json *v, unsigned indent)
{
	const struct json *c;

	if (!is_collection(v)) {
		put_scalar(b, v, indent + 2);
		return;
	}
	for (c = json_first(v); c != NULL; c = c->next) {
		if (c != json_first(v))
			buf_fmt(b, "%*s", (int)indent, "");
		put_entry(b, c, indent);
	}
}
