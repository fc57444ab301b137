/* SPDX-License-Identifier: ISC */
/*
 * Examines a position: the keys that lead there, and whether a key or a value
 * is typed.
 *
 * Lines above are searched for those that are indented less.  A flow collection
 * is followed from its bracket on the same line; one that began on an earlier
 * line is not understood, and then nothing is offered.
 */
#include "editor/lsp_internal.h"

#include <string.h>

/* The steps are found from the inside out. */
struct walk {
	struct lsp_step step[LSP_STEPS_MAX];
	size_t n;
	bool full;
};

static void
push(struct walk *w, struct str key, const struct lsp_line *l)
{
	if (w->n == LSP_STEPS_MAX) {
		w->full = true;
		return;
	}
	w->step[w->n++] = (struct lsp_step){ .key = key, .line = l->from,
		.col = l->col };
}

static const struct str no_key = { NULL, 0 };

/*
 * Whether lines below this one, indented more, are its value: it must not have
 * one, or only an anchor.
 */
static bool
is_open(const struct lsp_line *l)
{
	return l->value.n == 0 || l->value.p[0] == '&';
}

/*
 * From a line up to the root.  item: the position is an item with its marker
 * in the column col, else a key in that column.
 */
static bool
climb(struct walk *w, struct str text, struct lsp_line l, bool item,
    unsigned col)
{
	while (lsp_line_up(text, &l)) {
		if (l.blank || l.first > col)
			continue;
		if (l.nitems == 0 && l.first == col && !(item && l.keyed))
			continue;	/* another key, perhaps incomplete */
		if (l.nitems > 0 && l.first == col)
			continue;	/* another item, or one of a list that
					 * is another key's value */
		if (!item && l.nitems > 0 && l.col == col) {
			push(w, no_key, &l);	/* its first key */
			item = true;
			col = l.item;
			if (l.nitems > 1)
				return false;	/* "- - ": not understood */
			continue;
		}
		if (!l.keyed || !is_open(&l) || (!item && l.col >= col) ||
		    l.col > col)
			return false;
		push(w, l.key, &l);
		col = l.col;
		item = l.nitems > 0;
		if (item) {
			push(w, no_key, &l);
			col = l.item;
			if (l.nitems > 1)
				return false;
		}
	}
	return !w->full && (col == 0 || item);
}

static void
turn_round(struct lsp_at *at, const struct walk *w)
{
	size_t i;

	for (i = 0; i < w->n; i++)
		at->step[i] = w->step[w->n - 1 - i];
	at->n = w->n;
}

/* A bracket that is open at the position. */
struct bracket {
	const char *at;		/* behind it */
	bool map;
	struct str key;		/* a mapping: the key before the position */
	const char *word;	/* where the last word begins */
};

enum { BRACKETS_MAX = 16 };

/*
 * Follows a flow collection from p to the position; the number of brackets
 * that are open there, or 0: text in quotes, too many.
 */
static size_t
follow(const char *p, const char *end, struct bracket *v)
{
	struct bracket *b = NULL;
	size_t n = 0;
	char quote = 0;

	for (; p < end; p++) {
		if (quote != 0) {
			quote = *p == quote ? 0 : quote;
		} else if (*p == '"' || *p == '\'') {
			quote = *p;
			if (b != NULL && b->word == NULL)
				b->word = p;
		} else if (*p == '{' || *p == '[') {
			if (n == BRACKETS_MAX)
				return 0;
			b = &v[n++];
			*b = (struct bracket){ .at = p + 1, .map = *p == '{' };
		} else if (*p == '}' || *p == ']') {
			if (n-- <= 1)
				return 0;
			b = &v[n - 1];
		} else if (*p == ',' && b != NULL) {
			b->key = no_key;
			b->word = NULL;
		} else if (*p == ':' && b != NULL && b->map &&
		    b->word != NULL && b->key.p == NULL) {
			b->key = str_trim((struct str){ b->word,
			    (size_t)(p - b->word) });
			b->word = NULL;
		} else if (*p != ' ' && b != NULL && b->word == NULL)
			b->word = p;
	}
	return quote != 0 && (b == NULL || b->word == NULL) ? 0 : n;
}

/* The text of a flow mapping, to its end or that of the line. */
static struct str
flow_text(const char *p, const char *end)
{
	const char *s;
	int depth = 0;

	for (s = p; s < end; s++) {
		if (*s == '{' || *s == '[')
			depth++;
		if ((*s == '}' || *s == ']') && depth-- == 0)
			break;
	}
	return (struct str){ p, (size_t)(s - p) };
}

static bool
add_step(struct lsp_at *at, struct lsp_step s)
{
	if (at->n == LSP_STEPS_MAX)
		return false;
	at->step[at->n++] = s;
	return true;
}

/* The part of the path inside of brackets on the line of the position. */
static bool
look_flow(struct lsp_at *at, const char *p, const char *end)
{
	struct bracket v[BRACKETS_MAX];
	const char *cursor = at->text.p + at->cursor, *word;
	size_t i, n = follow(p, cursor, v);
	struct str flow;

	for (i = 0; i < n; i++) {
		flow = flow_text(v[i].at, end);
		if (!v[i].map) {
			if (!add_step(at, (struct lsp_step){ .key = no_key }))
				return false;
		} else if (v[i].key.p != NULL) {
			if (!add_step(at, (struct lsp_step){ .key = v[i].key,
			    .flow = flow }))
				return false;
		} else if (i + 1 == n) {
			at->key = true;
			at->here = (struct lsp_step){ .flow = flow };
		} else
			return false;
	}
	word = n > 0 && v[n - 1].word != NULL ? v[n - 1].word : cursor;
	at->from = (size_t)(word - at->text.p);
	return n > 0;
}

/* The word ends before a colon, a comma, a bracket or a comment. */
static void
find_end(struct lsp_at *at, size_t end)
{
	size_t i = at->cursor;

	while (i < end && at->text.p[i] != ':' && at->text.p[i] != ',' &&
	    at->text.p[i] != '}' && at->text.p[i] != ']' &&
	    at->text.p[i] != '#' && at->text.p[i] != '\r')
		i++;
	while (i > at->cursor && at->text.p[i - 1] == ' ')
		i--;
	at->to = i;
}

/* Whether the position is in the comment behind a value. */
static bool
in_comment(const struct lsp_at *at, const struct lsp_line *l, const char *p)
{
	const char *cursor = at->text.p + at->cursor;
	const char *end = l->value.n > 0 ? l->value.p + l->value.n : p;

	return cursor > end && memchr(end, '#', (size_t)(cursor - end)) != NULL;
}

/* The value behind a key, or an item without one. */
static bool
look_value(struct lsp_at *at, const struct lsp_line *l, const char *p)
{
	const char *end = at->text.p + l->to;

	if (in_comment(at, l, p))
		return false;
	while (p < end && *p == ' ')
		p++;
	at->from = (size_t)(p - at->text.p);
	if (at->from > at->cursor)
		at->from = at->cursor;
	if (p < end && (*p == '{' || *p == '[') &&
	    p < at->text.p + at->cursor && !look_flow(at, p, end))
		return false;
	find_end(at, l->to);
	return p >= end || (*p != '|' && *p != '>' && *p != '#');
}

/* The steps to the mapping or list that a line belongs to. */
static bool
find_steps(struct lsp_at *at, const struct lsp_line *l, bool value)
{
	struct walk w = { .n = 0 };
	bool item = l->nitems > 0;

	if (value)
		push(&w, l->key, l);
	if (item)
		push(&w, no_key, l);
	if (l->nitems > 1 || !climb(&w, at->text, *l, item,
	    item ? l->item : l->col))
		return false;
	turn_round(at, &w);
	return true;
}

/* White space, where a key can be typed in the column of the cursor. */
static bool
look_blank(struct lsp_line *l, const char *start, size_t column)
{
	const char *hash = memchr(start, '#', l->to - l->from);

	if ((hash != NULL && (size_t)(hash - start) < column) ||
	    (!l->blank && (l->nitems > 0 || column < l->first)))
		return false;
	l->col = l->first = (unsigned)column;
	l->blank = l->keyed = false;
	return true;
}

bool
lsp_look(struct str text, size_t offset, struct lsp_at *at)
{
	struct lsp_line l = lsp_line_at(text, offset);
	const char *start = text.p + l.from, *end = text.p + l.to, *colon;
	size_t column = offset - l.from;

	*at = (struct lsp_at){ .text = text, .cursor = offset,
		.from = offset, .to = offset };
	if ((l.nitems > 0 && column < (size_t)l.item + 2) || ((column < l.col ||
	    l.blank) && !look_blank(&l, start, column)))
		return false;
	colon = !l.keyed ? NULL : memchr(l.key.p + l.key.n, ':',
	    (size_t)(end - (l.key.p + l.key.n)));
	if (colon != NULL && text.p + offset > colon)
		return find_steps(at, &l, true) &&
		    look_value(at, &l, colon + 1);
	if (!find_steps(at, &l, false))
		return false;
	at->from = l.from + l.col;
	if (at->from < offset && (text.p[at->from] == '{' ||
	    text.p[at->from] == '['))
		return look_value(at, &l, text.p + at->from);
	at->key = true;
	at->here = (struct lsp_step){ .line = l.from, .col = l.col };
	find_end(at, l.to);
	return true;
}

/*
 * The members of a mapping are visited one by one; the visitor returns false to
 * stop.
 */
typedef bool visit_fn(void *arg, struct str key, struct str value);

/* Those of a flow mapping at its own level. */
static void
visit_flow(struct str flow, visit_fn *visit, void *arg)
{
	const char *p = flow.p, *end = p + flow.n, *word = NULL;
	struct str name = no_key;
	int depth = 0;

	for (; p <= end; p++) {
		if (p == end || (*p == ',' && depth == 0)) {
			if (name.p != NULL && !visit(arg, name,
			    str_trim((struct str){ word,
			    (size_t)(p - word) })))
				return;
			name = no_key;
			word = NULL;
		} else if (*p == '{' || *p == '[') {
			depth++;
		} else if (*p == '}' || *p == ']') {
			depth--;
		} else if (*p == ':' && depth == 0 && word != NULL &&
		    name.p == NULL) {
			name = str_trim((struct str){ word,
			    (size_t)(p - word) });
			word = p + 1;
		} else if (*p != ' ' && word == NULL)
			word = p;
	}
}

static bool
visit_line(const struct lsp_line *l, unsigned col, visit_fn *visit, void *arg)
{
	return !l->keyed || l->col != col || visit(arg, l->key, l->value);
}

static void
visit_block(struct str text, const struct lsp_step *s, visit_fn *visit,
    void *arg)
{
	struct lsp_line up = lsp_line(text, s->line), down = up;

	for (;;) {
		if (!visit_line(&up, s->col, visit, arg))
			return;
		if ((up.nitems > 0 && up.col == s->col) ||
		    !lsp_line_up(text, &up) ||
		    (!up.blank && up.first < s->col && up.col < s->col))
			break;
	}
	while (lsp_line_down(text, &down)) {
		if (!down.blank && down.first < s->col)
			break;
		if (!visit_line(&down, s->col, visit, arg))
			return;
	}
}

static void
visit_members(const struct lsp_at *at, const struct lsp_step *s,
    visit_fn *visit, void *arg)
{
	if (s->flow.p != NULL)
		visit_flow(s->flow, visit, arg);
	else
		visit_block(at->text, s, visit, arg);
}

struct wanted {
	struct str key, value;
};

static bool
take_value(void *arg, struct str key, struct str value)
{
	struct wanted *w = arg;

	if (!str_eq(key, w->key))
		return true;
	w->value = value;
	return false;
}

struct str
lsp_sibling(const struct lsp_at *at, const struct lsp_step *s,
    const char *key)
{
	struct wanted w = { str_of(key), STR("") };

	visit_members(at, s, take_value, &w);
	return w.value;
}

static bool
take_key(void *arg, struct str key, struct str value)
{
	struct field_strs *list = arg;

	(void)value;
	list->v[list->n++] = key;
	return list->n < LSP_KEYS_MAX;
}

struct field_strs
lsp_keys(struct arena *a, const struct lsp_at *at, const struct lsp_step *s)
{
	struct field_strs list = { NEW_N(a, struct str, LSP_KEYS_MAX), 0 };

	visit_members(at, s, take_key, &list);
	return list;
}
