/* SPDX-License-Identifier: ISC */
/*
 * Links of a block (CommonMark 0.31, section 6), and link definitions.
 *
 * Brackets are kept on a stack.  A "]" pops one and looks for a target behind
 * it; a link makes all earlier brackets inactive, because links do not contain
 * links.  To stay linear, ends that were searched in vain are remembered, and
 * labels, which cannot contain brackets, are compared only where none was
 * opened in between.
 */
#include "lib/markdown/markdown_internal.h"

#include <stdlib.h>
#include <string.h>

#include "lib/unicode.h"

enum {
	PARENS_MAX = 32,	/* nested in a target */
	LABEL_MAX = 999,	/* bytes */
	TICKS_MAX = 80,		/* longer runs of backticks are text */
	SCHEME_MIN = 2,
	SCHEME_MAX = 32
};

struct bracket {
	size_t at;		/* of "[" or "!" */
	size_t inner;		/* after "[" */
	bool image, active, nested;
};

/* A part of a heading that its anchor leaves out. */
struct range {
	size_t from, to;
};

struct scanner {
	struct markdown_reader *r;
	const struct markdown_block *b;
	struct str s;
	size_t i;
	struct buf stack;	/* of struct bracket */
	struct buf left_out;	/* of struct range */
	unsigned missing;	/* see markdown_tag() */
	bool ticked;		/* last[] is filled */
	size_t last[TICKS_MAX + 1];	/* run of that length */
};

bool
markdown_is_punct(char c)
{
	return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') ||
	    (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

static bool
is_letter(char c)
{
	return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool
is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' ||
	    c == '\v';
}

static size_t
skip_space(struct str s, size_t i)
{
	while (i < s.n && is_space(s.p[i]))
		i++;
	return i;
}

const struct markdown_line *
markdown_place(const struct markdown_block *b, size_t at)
{
	size_t lo = 0, hi = b->nlines, mid;

	while (hi - lo > 1) {
		mid = lo + (hi - lo) / 2;
		if (b->line[mid].at <= at)
			lo = mid;
		else
			hi = mid;
	}
	return &b->line[lo];
}

/*
 * Targets and titles
 */
struct target {
	size_t from, to;	/* in the text of the block */
};

/* <target>; the offset behind it, or 0. */
static size_t
read_angled(struct str s, size_t i, struct target *t)
{
	t->from = ++i;
	for (; i < s.n && s.p[i] != '\n' && s.p[i] != '<'; i++) {
		if (s.p[i] == '>') {
			t->to = i;
			return i + 1;
		}
		if (s.p[i] == '\\' && i + 1 < s.n && s.p[i + 1] != '\n')
			i++;
	}
	return 0;
}

static size_t
read_target(struct str s, size_t i, struct target *t)
{
	size_t depth = 0;

	if (i < s.n && s.p[i] == '<')
		return read_angled(s, i, t);
	t->from = i;
	for (; i < s.n && (unsigned char)s.p[i] > ' ' && s.p[i] != 0x7F; i++) {
		if (s.p[i] == '\\' && i + 1 < s.n &&
		    markdown_is_punct(s.p[i + 1]))
			i++;
		else if (s.p[i] == '(' && ++depth > PARENS_MAX)
			return 0;
		else if (s.p[i] == ')' && depth-- == 0)
			break;
	}
	if (depth != 0 && !(i < s.n && s.p[i] == ')'))
		return 0;
	t->to = i;
	return i;
}

/* "title", 'title' or (title); the offset behind it, or 0. */
static size_t
read_title(struct str s, size_t i)
{
	char open = s.p[i], end = open == '(' ? ')' : open;

	if (open != '"' && open != '\'' && open != '(')
		return 0;
	for (i++; i < s.n; i++) {
		if (s.p[i] == end)
			return i + 1;
		if (s.p[i] == '\\' && i + 1 < s.n)
			i++;
		else if (open == '(' && s.p[i] == '(')
			return 0;
	}
	return 0;
}

/* (target "title") behind a link's text; the offset behind it, or 0. */
static size_t
read_tail(struct str s, size_t i, struct target *t)
{
	size_t k, after;

	if (i >= s.n || s.p[i] != '(')
		return 0;
	i = skip_space(s, i + 1);
	if (i < s.n && s.p[i] == ')') {
		t->from = t->to = i;
		return i + 1;
	}
	i = read_target(s, i, t);
	if (i == 0)
		return 0;
	k = skip_space(s, i);
	if (k > i && k < s.n && s.p[k] != ')') {
		after = read_title(s, k);
		if (after == 0)
			return 0;
		k = skip_space(s, after);
	}
	return k < s.n && s.p[k] == ')' ? k + 1 : 0;
}

static size_t
put_entity(struct buf *b, struct str s, size_t i)
{
	static const struct {
		const char *name, *text;
	} names[] = {
		{ "&amp;", "&" }, { "&lt;", "<" }, { "&gt;", ">" },
		{ "&quot;", "\"" }, { "&apos;", "'" }, { "&nbsp;", "\xC2\xA0" },
	};
	struct str rest = { s.p + i, s.n - i };
	uint32_t cp = 0;
	char out[4];
	size_t k, from;
	bool hex;

	for (k = 0; k < COUNTOF(names); k++)
		if (str_starts(rest, str_of(names[k].name))) {
			buf_puts(b, names[k].text);
			return strlen(names[k].name);
		}
	if (!str_starts(rest, STR("&#")))
		return 0;
	hex = rest.n > 2 && (rest.p[2] | 0x20) == 'x';
	from = k = hex ? 3 : 2;
	for (; k < rest.n && k < from + 7 && (hex ? hex_digit(rest.p[k]) >= 0 :
	    is_digit(rest.p[k])); k++)
		cp = cp * (hex ? 16 : 10) + (uint32_t)hex_digit(rest.p[k]);
	if (k == from || k == rest.n || rest.p[k] != ';')
		return 0;
	if (cp == 0 || cp > 0x10FFFF || (cp >= 0xD800 && cp < 0xE000))
		cp = 0xFFFD;
	from = utf8_put(out, cp);
	buf_put(b, (struct str){ out, from });
	return k + 1;
}

/* A target without backslashes and entities. */
static struct str
decode(struct arena *a, struct str s)
{
	struct buf b = { 0 };
	size_t i, n;

	if (s.n == 0 || (memchr(s.p, '\\', s.n) == NULL &&
	    memchr(s.p, '&', s.n) == NULL))
		return arena_str(a, s);
	for (i = 0; i < s.n; i++) {
		if (s.p[i] == '&' && (n = put_entity(&b, s, i)) > 0) {
			i += n - 1;
			continue;
		}
		if (s.p[i] == '\\' && i + 1 < s.n &&
		    markdown_is_punct(s.p[i + 1]))
			i++;
		buf_putc(&b, s.p[i]);
	}
	return arena_take(a, &b);
}

/* The target as it is in the file, where a line holds all of it. */
static struct str
raw_of(const struct markdown_block *b, const struct target *t)
{
	const struct markdown_line *l = markdown_place(b, t->from);

	return (struct str){ l->from + (t->from - l->at), t->to - t->from };
}

/*
 * Definitions
 */
/* A label in lower case, with single spaces. */
static struct str
normalize(struct arena *a, struct str s)
{
	struct buf b = { 0 }, low = { 0 };
	size_t i;

	s = str_trim(s);
	for (i = 0; i < s.n; i++) {
		if (!is_space(s.p[i]))
			buf_putc(&b, s.p[i]);
		else if (i + 1 < s.n && !is_space(s.p[i + 1]))
			buf_putc(&b, ' ');
	}
	if (b.n > 0)
		unicode_put_lower(&low, buf_str(&b));
	buf_free(&b);
	return arena_take(a, &low);
}

/* [label]; the offset behind it, or 0. */
static size_t
read_label(struct str s, size_t i, struct str *label)
{
	size_t from = i + 1;

	if (i >= s.n || s.p[i] != '[')
		return 0;
	for (i++; i < s.n && i - from <= LABEL_MAX && s.p[i] != '['; i++) {
		if (s.p[i] == ']') {
			*label = (struct str){ s.p + from, i - from };
			return i + 1;
		}
		if (s.p[i] == '\\' && i + 1 < s.n)
			i++;
	}
	return 0;
}

/* The offset behind the rest of the line if it is blank, else 0. */
static size_t
line_end(struct str s, size_t i)
{
	while (i < s.n && (s.p[i] == ' ' || s.p[i] == '\t'))
		i++;
	if (i == s.n)
		return i;
	return s.p[i] == '\n' ? i + 1 : 0;
}

/* One definition at offset i; the offset behind it, or 0. */
static size_t
read_def(struct markdown_reader *r, const struct markdown_block *b, size_t i)
{
	struct markdown_def d = { .order = r->defs.n };
	struct str s = b->text, label;
	struct target t;
	size_t k = read_label(s, i, &label), end, titled;

	if (k == 0 || k >= s.n || s.p[k] != ':' || str_trim(label).n == 0)
		return 0;
	k = skip_space(s, k + 1);
	i = k < s.n ? read_target(s, k, &t) : 0;
	if (i == 0 || (t.from == t.to && s.p[k] != '<'))
		return 0;
	end = line_end(s, i);
	k = skip_space(s, i);
	if (k > i && k < s.n && (titled = read_title(s, k)) > 0 &&
	    (titled = line_end(s, titled)) > 0)
		end = titled;
	if (end == 0)
		return 0;
	d.label = normalize(r->arena, label);
	d.target = decode(r->arena, (struct str){ s.p + t.from,
	    t.to - t.from });
	d.raw = raw_of(b, &t);
	MARKDOWN_PUSH(&r->defs, d);
	return end;
}

void
markdown_take_defs(struct markdown_reader *r, struct markdown_block *b)
{
	size_t k;

	while (b->from < b->text.n && (k = read_def(r, b, b->from)) > 0)
		b->from = k;
}

static int
by_label(const void *a, const void *b)
{
	const struct markdown_def *x = a, *y = b;
	int c = str_cmp(x->label, y->label);

	return c != 0 ? c : x->order < y->order ? -1 : x->order > y->order;
}

void
markdown_sort_defs(struct markdown_reader *r)
{
	struct markdown_def *v = (struct markdown_def *)(void *)r->defs.p;

	r->ndefs = r->defs.n / sizeof(*v);
	if (r->ndefs > 0)
		qsort(v, r->ndefs, sizeof(*v), by_label);
	r->def = v;
}

static const struct markdown_def *
find_def(const struct markdown_reader *r, struct str label)
{
	struct markdown_def key = { .order = 0 };
	size_t i;

	if (r->ndefs == 0 || label.n > LABEL_MAX || str_trim(label).n == 0)
		return NULL;
	key.label = normalize(r->arena, label);
	i = search_first(&key, r->def, r->ndefs, sizeof(key), by_label);
	return i < r->ndefs && str_eq(r->def[i].label, key.label) ? &r->def[i] :
	    NULL;
}

/*
 * Inlines
 */
static void
put_link(struct scanner *k, size_t at, bool image, struct str target,
    struct str raw)
{
	const struct markdown_line *l = markdown_place(k->b, at);
	struct markdown_link x = { target, raw, l->number,
		(unsigned)(l->from - l->bol + 1) + (unsigned)(at - l->at),
		image };

	MARKDOWN_PUSH(&k->r->links, x);
}

static void
leave_out(struct scanner *k, size_t from, size_t to)
{
	struct range x = { from, to };

	if (k->b->level > 0)
		MARKDOWN_PUSH(&k->left_out, x);
}

/* Where the last run of each length begins, so that searches can end early. */
static void
count_ticks(struct scanner *k)
{
	size_t i = 0, n;

	k->ticked = true;
	while (i < k->s.n) {
		for (n = 0; i + n < k->s.n && k->s.p[i + n] == '`'; n++)
			;
		if (n > 0 && n <= TICKS_MAX)
			k->last[n] = i;
		i += n > 0 ? n : 1;
	}
}

static void
skip_code(struct scanner *k)
{
	struct str s = k->s;
	size_t i = k->i, n = 0, m;

	while (i + n < s.n && s.p[i + n] == '`')
		n++;
	if (!k->ticked)
		count_ticks(k);
	k->i = i += n;
	if (n > TICKS_MAX || k->last[n] < i)
		return;
	for (; i < s.n; i += m > 0 ? m : 1) {
		for (m = 0; i + m < s.n && s.p[i + m] == '`'; m++)
			;
		if (m == n) {
			k->i = i + m;
			return;
		}
	}
}

/* <scheme:...> or <name@host>: the offset behind it, or 0. */
static size_t
read_autolink(struct str s, size_t i, bool *mail)
{
	size_t from = ++i, at = 0, colon = 0;

	for (; i < s.n && s.p[i] != '>'; i++) {
		if (is_space(s.p[i]) || s.p[i] == '<')
			return 0;
		if (s.p[i] == ':' && colon == 0)
			colon = i;
		if (s.p[i] == '@' && at == 0)
			at = i;
	}
	if (i == s.n)
		return 0;
	*mail = colon == 0;
	if (*mail)
		return at > from && at + 1 < i &&
		    memchr(s.p + from, '\\', i - from) == NULL &&
		    s.p[from] != '/' ? i + 1 : 0;
	if (colon - from < SCHEME_MIN || colon - from > SCHEME_MAX ||
	    !is_letter(s.p[from]))
		return 0;
	for (at = from; at < colon; at++)
		if (!is_letter(s.p[at]) && !is_digit(s.p[at]) &&
		    s.p[at] != '+' && s.p[at] != '.' && s.p[at] != '-')
			return 0;
	return i + 1;
}

static void
read_angle(struct scanner *k)
{
	struct str rest = { k->s.p + k->i, k->s.n - k->i }, uri;
	struct target t = { k->i + 1, 0 };
	bool mail;
	size_t end = read_autolink(k->s, k->i, &mail), n;

	if (end > 0) {
		t.to = end - 1;
		uri = (struct str){ k->s.p + t.from, t.to - t.from };
		put_link(k, k->i, false, mail ? arena_fmt(k->r->arena,
		    "mailto:%.*s", STRF(uri)) : arena_str(k->r->arena, uri),
		    raw_of(k->b, &t));
		k->i = end;
		return;
	}
	n = markdown_tag(rest, &k->missing);
	if (n == 0) {
		k->i++;
		return;
	}
	markdown_html_ids(k->r, (struct str){ rest.p, n });
	leave_out(k, k->i, k->i + n);
	k->i += n;
}

static void
push_bracket(struct scanner *k, bool image)
{
	struct bracket b = { k->i, k->i + 1 + image, image, true, false };
	struct bracket *v = (struct bracket *)(void *)k->stack.p;

	if (k->stack.n > 0)
		v[k->stack.n / sizeof(b) - 1].nested = true;
	MARKDOWN_PUSH(&k->stack, b);
	k->i = b.inner;
}

/* Links do not contain links. */
static void
deactivate(struct scanner *k)
{
	struct bracket *v = (struct bracket *)(void *)k->stack.p;
	size_t n;

	for (n = k->stack.n / sizeof(*v); n > 0; n--) {
		if (v[n - 1].image)
			continue;
		if (!v[n - 1].active)
			return;
		v[n - 1].active = false;
	}
}

/* The definition of [text][label], [text][] or [text]; *end is behind it. */
static const struct markdown_def *
find_reference(struct scanner *k, const struct bracket *b, size_t close,
    size_t *end)
{
	struct str label, text = { k->s.p + b->inner, close - b->inner };
	size_t after = read_label(k->s, close + 1, &label);

	*end = after > 0 ? after : close + 1;
	if (after > 0 && str_trim(label).n > 0)
		return find_def(k->r, label);
	return b->nested ? NULL : find_def(k->r, text);
}

static void
close_bracket(struct scanner *k)
{
	struct bracket *v = (struct bracket *)(void *)k->stack.p, b;
	const struct markdown_def *d = NULL;
	size_t close = k->i++, end;
	struct target t;

	if (k->stack.n == 0)
		return;
	k->stack.n -= sizeof(b);
	b = v[k->stack.n / sizeof(b)];
	if (!b.active)
		return;
	end = read_tail(k->s, close + 1, &t);
	if (end > 0)
		put_link(k, b.at, b.image, decode(k->r->arena, (struct str){
		    k->s.p + t.from, t.to - t.from }), raw_of(k->b, &t));
	else if ((d = find_reference(k, &b, close, &end)) != NULL)
		put_link(k, b.at, b.image, d->target, d->raw);
	else
		return;
	leave_out(k, close, end);
	k->i = end;
	if (!b.image)
		deactivate(k);
}

/* The heading's text without targets and tags. */
static struct str
heading_text(struct scanner *k)
{
	const struct range *v = (const struct range *)(void *)k->left_out.p;
	size_t n = k->left_out.n / sizeof(*v), i, from = 0;
	struct buf b = { 0 };

	for (i = 0; i < n; i++) {
		if (v[i].from < from)
			continue;
		buf_put(&b, (struct str){ k->s.p + from, v[i].from - from });
		from = v[i].to;
	}
	buf_put(&b, (struct str){ k->s.p + from, k->s.n - from });
	return arena_take(k->r->arena, &b);
}

/* Emphasis is not read: "_" at the edge of a word is in one of two anchors. */
static void
add_anchors(struct scanner *k)
{
	struct str text = heading_text(k), anchor, other;
	struct buf b = { 0 }, plain = { 0 };
	size_t i;

	markdown_slug(&b, text);
	anchor = arena_take(k->r->arena, &b);
	MARKDOWN_PUSH(&k->r->anchors, anchor);
	if (text.n == 0 || memchr(text.p, '_', text.n) == NULL)
		return;
	for (i = 0; i < text.n; i++)
		if (text.p[i] != '_' || (i > 0 && i + 1 < text.n &&
		    !markdown_is_punct(text.p[i - 1]) &&
		    !markdown_is_punct(text.p[i + 1]) &&
		    !is_space(text.p[i - 1]) && !is_space(text.p[i + 1])))
			buf_putc(&plain, text.p[i]);
	markdown_slug(&b, buf_str(&plain));
	buf_free(&plain);
	other = arena_take(k->r->arena, &b);
	if (!str_eq(other, anchor))
		MARKDOWN_PUSH(&k->r->anchors, other);
}

static void
scan(struct scanner *k)
{
	struct str s = k->s;

	while (k->i < s.n) {
		switch (s.p[k->i]) {
		case '\\':
			k->i += k->i + 1 < s.n &&
			    markdown_is_punct(s.p[k->i + 1]) ? 2 : 1;
			break;
		case '`':
			skip_code(k);
			break;
		case '<':
			read_angle(k);
			break;
		case '!':
			if (k->i + 1 < s.n && s.p[k->i + 1] == '[')
				push_bracket(k, true);
			else
				k->i++;
			break;
		case '[':
			push_bracket(k, false);
			break;
		case ']':
			close_bracket(k);
			break;
		default:
			k->i++;
		}
	}
}

void
markdown_inline(struct markdown_reader *r, const struct markdown_block *b)
{
	struct scanner k = { .r = r, .b = b, .s = b->text,
		.i = b->from };

	scan(&k);
	if (b->level > 0)
		add_anchors(&k);
	buf_free(&k.stack);
	buf_free(&k.left_out);
}
