/* SPDX-License-Identifier: ISC */
/*
 * Blocks of Markdown, line by line (CommonMark 0.31, section 3 to 5).
 *
 * The open containers are a stack of quotes and list items; the last one holds
 * at most one open leaf.  A line first continues as many containers as it can,
 * then opens new ones, then continues or begins a leaf.  Containers that it
 * did not continue are closed, unless the line only continues a paragraph
 * (a lazy line).
 */
#include "lib/markdown/markdown_internal.h"

#include <string.h>

#include "lib/http.h"

enum { TAB = 4, CODE_INDENT = 4, FENCE_MIN = 3, RULE_MIN = 3, LEVELS = 6,
	NUMBER_MAX = 9 };

enum leaf { LEAF_NONE, LEAF_TEXT, LEAF_CODE, LEAF_FENCE, LEAF_HTML };

/* The rest of a line; tabs are spaces up to the next multiple of TAB. */
struct cursor {
	const char *p, *end;
	size_t col;		/* of p */
	size_t rest;		/* spaces of a tab before p that are left */
};

struct splitter {
	struct markdown_reader *r;
	size_t indent[MARKDOWN_DEPTH];	/* of items; 0: quote */
	size_t depth;
	enum leaf leaf;
	struct buf text, lines;		/* of an open paragraph */
	struct markdown_fence fence;
	char fence_char;
	size_t fence_len;
	const char *html_end;		/* NULL: a blank line */
	const char *bol;
	unsigned number;
};

static size_t
indent_of(const struct cursor *c)
{
	size_t n = c->rest, col = c->col, step;
	const char *p;

	for (p = c->p; p < c->end && (*p == ' ' || *p == '\t'); p++) {
		step = *p == ' ' ? 1 : TAB - col % TAB;
		col += step;
		n += step;
	}
	return n;
}

/* Consumes n columns of white space. */
static void
skip_indent(struct cursor *c, size_t n)
{
	size_t step;

	while (n > 0) {
		if (c->rest == 0) {
			step = *c->p == ' ' ? 1 : TAB - c->col % TAB;
			c->col += step;
			c->rest = step;
			c->p++;
		}
		c->rest--;
		n--;
	}
}

static bool
is_blank(const struct cursor *c)
{
	const char *p = c->p;

	while (p < c->end && (*p == ' ' || *p == '\t'))
		p++;
	return p == c->end;
}

/* The text of the line from its first visible character on. */
static struct str
visible(const struct cursor *c)
{
	struct str s = { c->p, (size_t)(c->end - c->p) };

	return str_trim(s);
}

static size_t
run_of(struct str s, char c)
{
	size_t n = 0;

	while (n < s.n && s.p[n] == c)
		n++;
	return n;
}

/* --- or * * * */
static bool
is_rule(struct str s)
{
	size_t i, n = 0;

	if (s.n == 0 || (s.p[0] != '-' && s.p[0] != '*' && s.p[0] != '_'))
		return false;
	for (i = 0; i < s.n; i++) {
		if (s.p[i] == s.p[0])
			n++;
		else if (s.p[i] != ' ' && s.p[i] != '\t')
			return false;
	}
	return n >= RULE_MIN;
}

/* The level of a heading that begins here, or 0. */
static unsigned
heading_level(struct str s)
{
	size_t n = run_of(s, '#');

	return n >= 1 && n <= LEVELS && (n == s.n || s.p[n] == ' ' ||
	    s.p[n] == '\t') ? (unsigned)n : 0;
}

/* The length of an opening fence, or 0. */
static size_t
fence_length(struct str s)
{
	size_t n;

	if (s.n == 0 || (s.p[0] != '`' && s.p[0] != '~'))
		return 0;
	n = run_of(s, s.p[0]);
	if (n < FENCE_MIN || (s.p[0] == '`' &&
	    memchr(s.p + n, '`', s.n - n) != NULL))
		return 0;
	return n;
}

/*
 * HTML blocks
 */
static const char *const block_tags[] = { "address", "article", "aside",
	"base", "basefont", "blockquote", "body", "caption", "center", "col",
	"colgroup", "dd", "details", "dialog", "dir", "div", "dl", "dt",
	"fieldset", "figcaption", "figure", "footer", "form", "frame",
	"frameset", "h1", "h2", "h3", "h4", "h5", "h6", "head", "header", "hr",
	"html", "iframe", "legend", "li", "link", "main", "menu", "menuitem",
	"nav", "noframes", "ol", "optgroup", "option", "p", "param", "search",
	"section", "summary", "table", "tbody", "td", "tfoot", "th", "thead",
	"title", "tr", "track", "ul" };

static struct str
tag_name(struct str s)
{
	size_t i = s.n > 1 && s.p[1] == '/' ? 2 : 1, from = i;

	while (i < s.n && ((s.p[i] | 0x20) >= 'a' ? (s.p[i] | 0x20) <= 'z' :
	    s.p[i] >= '0' && s.p[i] <= '9'))
		i++;
	return (struct str){ s.p + from, i - from };
}

static bool
is_block_tag(struct str s)
{
	struct str name = tag_name(s), rest;
	size_t i;

	if (name.n == 0)
		return false;
	rest = (struct str){ name.p + name.n,
		(size_t)(s.p + s.n - name.p) - name.n };
	if (rest.n > 0 && rest.p[0] != ' ' && rest.p[0] != '\t' &&
	    rest.p[0] != '>' && !str_starts(rest, STR("/>")))
		return false;
	for (i = 0; i < COUNTOF(block_tags); i++)
		if (http_same(name, block_tags[i]))
			return true;
	return false;
}

/* Whether an HTML block begins here; *end is what ends it (NULL: blank). */
static bool
begins_html(struct str s, bool in_text, const char **end)
{
	static const struct {
		const char *begin, *end;
	} kinds[] = {
		{ "<!--", "-->" }, { "<?", "?>" }, { "<![CDATA[", "]]>" },
		{ "<!", ">" },
	};
	static const char *const raw[][2] = {
		{ "script", "</script>" }, { "pre", "</pre>" },
		{ "style", "</style>" }, { "textarea", "</textarea>" },
	};
	unsigned missing = 0;
	size_t i, n;

	if (s.n < 2 || s.p[0] != '<')
		return false;
	for (i = 0; i < COUNTOF(kinds); i++)
		if (str_starts(s, str_of(kinds[i].begin))) {
			*end = kinds[i].end;
			return true;
		}
	for (i = 0; i < COUNTOF(raw); i++)
		if (s.p[1] != '/' && http_same(tag_name(s), raw[i][0])) {
			*end = raw[i][1];
			return true;
		}
	*end = NULL;
	if (is_block_tag(s))
		return true;
	n = in_text ? 0 : markdown_tag(s, &missing);
	return n > 0 && n == s.n;
}

/* Case-insensitive search, ASCII only. */
static bool
contains(struct str s, const char *word)
{
	size_t n = strlen(word), i;

	for (i = 0; i + n <= s.n; i++)
		if (http_same((struct str){ s.p + i, n }, word))
			return true;
	return false;
}

/*
 * Leaves
 */
static void
push_block(struct splitter *b, unsigned level)
{
	struct markdown_block *k = NEW(b->r->arena, struct markdown_block);
	size_t n = b->lines.n / sizeof(struct markdown_line);
	struct markdown_line *v = NEW_N(b->r->arena, struct markdown_line, n);

	memcpy(v, b->lines.p, b->lines.n);
	k->text = arena_str(b->r->arena, buf_str(&b->text));
	k->line = v;
	k->nlines = n;
	k->level = level;
	b->text.n = b->lines.n = 0;
	*b->r->tail = k;
	b->r->tail = &k->next;
}

static void
close_leaf(struct splitter *b)
{
	if (b->leaf == LEAF_TEXT)
		push_block(b, 0);
	else if (b->leaf == LEAF_FENCE)
		MARKDOWN_PUSH(&b->r->fences, b->fence);
	b->leaf = LEAF_NONE;
}

static void
add_text(struct splitter *b, struct str s)
{
	struct markdown_line at = { b->text.n + (b->text.n > 0), s.p, b->bol,
		b->number };

	if (b->text.n > 0)
		buf_putc(&b->text, '\n');
	MARKDOWN_PUSH(&b->lines, at);
	buf_put(&b->text, s);
}

static void
put_heading(struct splitter *b, struct str s, unsigned level)
{
	struct str t = { s.p + level, s.n - level };
	size_t n;

	t = str_trim(t);
	for (n = t.n; n > 0 && t.p[n - 1] == '#'; n--)
		;
	if (n == 0 || t.p[n - 1] == ' ' || t.p[n - 1] == '\t')
		t = str_trim((struct str){ t.p, n });
	add_text(b, t);
	push_block(b, level);
}

static void
continue_fence(struct splitter *b, const struct cursor *c)
{
	struct str s = visible(c);
	size_t n = run_of(s, b->fence_char);

	if (n >= b->fence_len && n == s.n && indent_of(c) < CODE_INDENT)
		close_leaf(b);
	else
		b->fence.lines++;
}

static void
continue_html(struct splitter *b, const struct cursor *c)
{
	struct str s = visible(c);

	if (b->html_end == NULL && s.n == 0) {
		b->leaf = LEAF_NONE;
		return;
	}
	markdown_html_ids(b->r, s);
	if (b->html_end != NULL && contains(s, b->html_end))
		b->leaf = LEAF_NONE;
}

static void
open_fence(struct splitter *b, struct str s, size_t n)
{
	close_leaf(b);
	b->leaf = LEAF_FENCE;
	b->fence = (struct markdown_fence){ b->number, 0 };
	b->fence_char = s.p[0];
	b->fence_len = n;
}

/* The level that this line gives the paragraph before it, or 0. */
static unsigned
underline_level(struct str s)
{
	if (s.n == 0 || (s.p[0] != '=' && s.p[0] != '-') ||
	    run_of(s, s.p[0]) != s.n)
		return 0;
	return s.p[0] == '=' ? 1 : 2;
}

/* Whether the line begins a leaf other than a paragraph. */
static bool
begins_leaf(const struct cursor *c, bool in_text)
{
	struct str s = visible(c);
	const char *end;

	return indent_of(c) < CODE_INDENT && (heading_level(s) > 0 ||
	    fence_length(s) > 0 || is_rule(s) || begins_html(s, in_text, &end));
}

static void
read_leaf(struct splitter *b, const struct cursor *c)
{
	struct str s = visible(c);
	bool in_text = b->leaf == LEAF_TEXT;
	unsigned level;
	size_t n;

	if (s.n == 0) {
		if (b->leaf != LEAF_CODE)
			close_leaf(b);
		return;
	}
	if (indent_of(c) >= CODE_INDENT && !in_text) {
		b->leaf = LEAF_CODE;
		return;
	}
	if (b->leaf == LEAF_CODE)
		b->leaf = LEAF_NONE;
	if (indent_of(c) >= CODE_INDENT) {
		add_text(b, s);
		return;
	}
	level = in_text ? underline_level(s) : 0;
	if (level > 0) {
		push_block(b, level);
		b->leaf = LEAF_NONE;
	} else if ((level = heading_level(s)) > 0) {
		close_leaf(b);
		put_heading(b, s, level);
	} else if ((n = fence_length(s)) > 0)
		open_fence(b, s, n);
	else if (is_rule(s))
		close_leaf(b);
	else if (begins_html(s, in_text, &b->html_end)) {
		close_leaf(b);
		b->leaf = LEAF_HTML;
		continue_html(b, c);
	} else {
		b->leaf = LEAF_TEXT;
		add_text(b, s);
	}
}

/*
 * Containers
 */
static size_t
continue_containers(const struct splitter *b, struct cursor *c)
{
	size_t k, n;

	for (k = 0; k < b->depth; k++) {
		n = indent_of(c);
		if (b->indent[k] > 0) {
			if (n >= b->indent[k])
				skip_indent(c, b->indent[k]);
			else if (!is_blank(c))
				break;
			continue;
		}
		if (n >= CODE_INDENT || visible(c).n == 0 ||
		    visible(c).p[0] != '>')
			break;
		skip_indent(c, n);
		c->p++;
		c->col++;
		if (indent_of(c) > 0)
			skip_indent(c, 1);
	}
	return k;
}

/* The length of a list marker, or 0. */
static size_t
marker_length(struct str s, bool in_text)
{
	size_t n = 0;

	if (s.n > 0 && (s.p[0] == '-' || s.p[0] == '+' || s.p[0] == '*'))
		n = 1;
	else {
		while (n < s.n && s.p[n] >= '0' && s.p[n] <= '9')
			n++;
		if (n == 0 || n > NUMBER_MAX || n == s.n ||
		    (s.p[n] != '.' && s.p[n] != ')') ||
		    (in_text && !(n == 1 && s.p[0] == '1')))
			return 0;
		n++;
	}
	if (n == s.n)
		return in_text ? 0 : n;
	return s.p[n] == ' ' || s.p[n] == '\t' ? n : 0;
}

/* Opens a container; those from depth on are closed. */
static void
open_container(struct splitter *b, size_t depth, size_t indent)
{
	close_leaf(b);
	b->depth = depth;
	b->indent[b->depth++] = indent;
}

static bool
open_item(struct splitter *b, struct cursor *c, size_t depth, bool in_text)
{
	struct str s = visible(c);
	size_t n = indent_of(c), len = marker_length(s, in_text), gap;

	if (len == 0 || is_rule(s))
		return false;
	skip_indent(c, n);
	c->p += len;
	c->col += len;
	gap = indent_of(c);
	if (is_blank(c) || gap > CODE_INDENT)
		gap = 1;
	if (!is_blank(c))
		skip_indent(c, gap);
	open_container(b, depth, n + len + gap);
	return true;
}

/* Opens the containers that begin in this line; false if there are none. */
static bool
open_containers(struct splitter *b, struct cursor *c, size_t depth)
{
	bool opened = false, in_text;
	struct str s;

	for (;;) {
		in_text = !opened && depth == b->depth && b->leaf == LEAF_TEXT;
		s = visible(c);
		if (indent_of(c) >= CODE_INDENT || s.n == 0 ||
		    depth >= MARKDOWN_DEPTH)
			return opened;
		if (s.p[0] == '>') {
			skip_indent(c, indent_of(c));
			c->p++;
			c->col++;
			if (indent_of(c) > 0)
				skip_indent(c, 1);
			open_container(b, depth, 0);
		} else if ((in_text && underline_level(s) > 0) ||
		    !open_item(b, c, depth, in_text))
			return opened;
		opened = true;
		depth = b->depth;
	}
}

static void
read_line(struct splitter *b, struct str line)
{
	struct cursor c = { line.p, line.p + line.n, 0, 0 };
	size_t depth = continue_containers(b, &c);
	bool all = depth == b->depth;

	if (all && b->leaf == LEAF_FENCE)
		continue_fence(b, &c);
	else if (all && b->leaf == LEAF_HTML)
		continue_html(b, &c);
	else if (open_containers(b, &c, depth))
		read_leaf(b, &c);
	else if (!all && b->leaf == LEAF_TEXT && !is_blank(&c) &&
	    !begins_leaf(&c, true))
		add_text(b, visible(&c));
	else {
		if (!all) {
			close_leaf(b);
			b->depth = depth;
		}
		read_leaf(b, &c);
	}
}

void
markdown_split(struct markdown_reader *r, struct str text, unsigned line)
{
	struct splitter b = { .r = r, .number = line };
	const char *p = text.p, *end = p + text.n, *eol;
	struct str s;

	for (; p < end; p = eol + 1, b.number++) {
		eol = memchr(p, '\n', (size_t)(end - p));
		if (eol == NULL)
			eol = end;
		b.bol = p;
		s = (struct str){ p, (size_t)(eol - p) };
		if (s.n > 0 && s.p[s.n - 1] == '\r')
			s.n--;
		read_line(&b, s);
	}
	close_leaf(&b);
	buf_free(&b.text);
	buf_free(&b.lines);
}
