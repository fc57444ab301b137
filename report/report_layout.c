/* SPDX-License-Identifier: ISC */
/*
 * The layout of reports for people.
 *
 * Words flow into lines: on a terminal they are wrapped at its width, at blanks
 * if possible; elsewhere a line is as long as it needs to be.
 *
 * Of a table, columns without a value are left out.  On a terminal, columns are
 * dropped until the names have room, and then names are wrapped; elsewhere
 * everything is printed.
 */
#include "report/report_internal.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/os_term.h"

enum { WIDTH_MIN = 20, WIDTH_MAX = 1000 };	/* columns of a terminal */

/*
 * The terminal.
 */
/* The C locale is in effect, so read the variables that would set it. */
static bool
locale_is_utf8(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
	const char *v = NULL;
	size_t i;

	for (i = 0; i < COUNTOF(names) && (v == NULL || *v == '\0'); i++)
		v = getenv(names[i]);
	if (v == NULL)
		return false;
	return strstr(v, "UTF-8") != NULL || strstr(v, "utf8") != NULL ||
	    strstr(v, "UTF8") != NULL || strstr(v, "utf-8") != NULL;
}

/* A variable that is set and not empty, or NULL. */
static const char *
variable(const char *name)
{
	const char *v = getenv(name);

	return v != NULL && *v != '\0' ? v : NULL;
}

static bool
wants_color(enum report_when when, bool terminal, bool dumb)
{
	const char *force = variable("FORCE_COLOR");

	if (when != REPORT_AUTO)
		return when == REPORT_ALWAYS;
	if (variable("NO_COLOR") != NULL)
		return false;
	if (force != NULL)
		return strcmp(force, "0") != 0 && strcmp(force, "false") != 0;
	return terminal && !dumb;
}

unsigned
report_columns(int fd)
{
	const char *v = variable("COLUMNS");
	long n = (long)os_columns(fd), own = v != NULL ? strtol(v, NULL, 10) :
	    0;

	if (own > 0 && (n == 0 || own < n))
		n = own;
	return n == 0 ? 0 : n < WIDTH_MIN ? WIDTH_MIN : n > WIDTH_MAX ?
	    WIDTH_MAX : (unsigned)n;
}

void
report_env(struct report_opts *o, int fd, enum report_when when)
{
	const char *term = variable("TERM");

	o->ascii = !locale_is_utf8();
	o->dumb = term == NULL || strcmp(term, "dumb") == 0;
	o->wrap = isatty(fd) == 1;
	o->color = wants_color(when, o->wrap, o->dumb);
	o->width = o->wrap ? report_columns(fd) : 0;
}

/*
 * Lines.
 */
enum { TAIL = 10 };	/* columns worth filling with part of a long word */

size_t
report_width(const struct report_opts *o)
{
	return !o->wrap ? SIZE_MAX : o->width == 0 ? 80 : o->width;
}

size_t
report_limit(const struct report_opts *o, size_t cols)
{
	return o->wrap ? cols : 0;
}

void
report_spaces(struct buf *b, size_t n)
{
	for (; n > 0; n--)
		buf_putc(b, ' ');
}

static void
break_line(struct report_flow *f)
{
	buf_putc(f->b, '\n');
	report_spaces(f->b, f->indent);
	f->at = f->indent;
}

static void
put_word(struct report_flow *f, struct str word, size_t gap)
{
	size_t width = report_width(f->o), w = report_cols(word, SIZE_MAX), n;
	size_t room = width > f->indent + 1 ? width - f->indent : 1;

	if (f->at > f->indent && (f->at + gap + w > width) &&
	    (w <= room || f->at + gap + TAIL > width)) {
		break_line(f);
		gap = 0;
	}
	report_spaces(f->b, gap);
	f->at += gap;
	while (f->at + w > width && (f->at > f->indent || w > room)) {
		n = report_fit(word, width > f->at ? width - f->at : 1, false);
		buf_put(f->b, (struct str){ word.p, n });
		word.p += n;
		word.n -= n;
		w = report_cols(word, SIZE_MAX);
		if (word.n > 0)
			break_line(f);
	}
	buf_put(f->b, word);
	f->at += w;
}

void
report_flow(struct report_flow *f, const char *sgr, struct str text)
{
	struct buf line = { 0 };
	struct str left, word;
	const char *blank;
	size_t gap = 0;

	for (; text.n > 0 && *text.p == ' '; gap++, text.n--)
		text.p++;
	report_line(&line, text, 0, f->o->ascii);
	if (sgr != NULL)
		report_color(f->b, sgr, f->o);
	for (left = buf_str(&line); left.n > 0; gap = 1) {
		blank = memchr(left.p, ' ', left.n);
		word = (struct str){ left.p, blank != NULL ?
		    (size_t)(blank - left.p) : left.n };
		put_word(f, word, gap);
		left.p += word.n + (blank != NULL);
		left.n -= word.n + (blank != NULL);
	}
	if (sgr != NULL)
		report_plain(f->b, f->o);
	buf_free(&line);
}

void
report_flow_part(struct report_flow *f, const char *sgr, const char *before,
    struct str text)
{
	struct buf b = { 0 };

	if (text.n > 0) {
		buf_puts(&b, before);
		buf_put(&b, text);
		report_flow(f, sgr, buf_str(&b));
	}
	buf_free(&b);
}

void
report_flow_reason(struct report_flow *f, const char *before, struct str s)
{
	report_flow_part(f, NULL, before, utf8_cut(s, REPORT_REASON));
	if (s.n > REPORT_REASON)
		report_flow_fmt(f, NULL, " (%zu more bytes)",
		    s.n - REPORT_REASON);
}

void
report_flow_fmt(struct report_flow *f, const char *sgr, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	report_flow(f, sgr, str_of(text));
}

void
report_flow_path(struct report_flow *f, const char *what, struct str path)
{
	size_t label = 1 + report_cols(str_of(what), SIZE_MAX), w;
	size_t width = report_width(f->o);
	struct buf line = { 0 };

	report_line(&line, path, 0, f->o->ascii);
	w = report_cols(buf_str(&line), SIZE_MAX);
	if (f->at + 2 + label + 1 + w > width &&
	    f->indent + label + 1 + w <= width)
		break_line(f);
	report_flow_fmt(f, NULL, "%s%s:", f->at > f->indent ? "  " : "", what);
	if (f->at + 1 + w > width)
		break_line(f);
	else {
		buf_putc(f->b, ' ');
		f->at++;
	}
	buf_put(f->b, buf_str(&line));
	f->at += w;
	buf_free(&line);
}

void
report_flow_end(struct report_flow *f)
{
	buf_putc(f->b, '\n');
	f->at = 0;
}

/* Whether the word stays whole even if it is wider than the terminal. */
static bool
is_path(struct str word)
{
	return memchr(word.p, '/', word.n) != NULL;
}

static void
wrap_line(struct report_flow *f, struct str line)
{
	size_t gap, w;
	struct str word;

	while (line.n > 0) {
		for (gap = 0; gap < line.n && line.p[gap] == ' '; gap++)
			;
		line = (struct str){ line.p + gap, line.n - gap };
		for (w = 0; w < line.n && line.p[w] != ' '; w++)
			;
		word = (struct str){ line.p, w };
		line = (struct str){ line.p + w, line.n - w };
		w = report_cols(word, SIZE_MAX);
		if (f->at > 0 && f->at + gap + w > report_width(f->o)) {
			break_line(f);
			gap = 0;
		}
		report_spaces(f->b, gap);
		f->at += gap;
		if (!is_path(word)) {
			put_word(f, word, 0);
			continue;
		}
		buf_put(f->b, word);
		f->at += w;
	}
}

void
report_wrap(struct buf *b, size_t hang, const struct report_opts *o)
{
	struct buf out = { 0 };
	struct report_flow f = { .b = &out, .o = o };
	struct str left = buf_str(b), line;

	if (!o->wrap)
		return;
	hang = hang <= report_width(o) / 2 ? hang : 8;
	while (str_line(&left, &line)) {
		f.indent = line.n > 0 && *line.p == ' ' ? hang : 4;
		wrap_line(&f, line);
		report_flow_end(&f);
	}
	buf_free(b);
	*b = out;
}

/*
 * Tables.
 */
enum {
	GAP = 2,		/* columns between two cells */
	NAME_MIN = 24,		/* room for names, before columns are dropped */
	NAME_GOOD = 40,		/* room for names, before notes get some */
	NAME_PAD = 80		/* longer names do not widen the others */
};

struct layout {
	struct buf *b;
	const struct report_table *t;
	const struct report_opts *o;
	size_t lead;		/* columns before the name */
	size_t cols[REPORT_COLUMNS];	/* of each column; 0: left out */
};

static void
measure(struct layout *l)
{
	const struct report_table *t = l->t;
	size_t c, i, w;

	for (c = 0; c < t->ncols; c++) {
		for (i = 0; i < t->n; i++) {
			w = report_cols(t->rows[i].cell[c], SIZE_MAX);
			l->cols[c] = w > l->cols[c] ? w : l->cols[c];
		}
		w = report_cols(str_of(t->cols[c].head), SIZE_MAX);
		if (l->cols[c] > 0 && w > l->cols[c])
			l->cols[c] = w;
	}
}

/* The columns that all cells but the name need. */
static size_t
used(const struct layout *l)
{
	size_t c, n = l->lead;

	for (c = 1; c < l->t->ncols; c++)
		n += l->cols[c] > 0 ? l->cols[c] + GAP : 0;
	return n;
}

static void
drop_column(struct layout *l)
{
	size_t c, least = 0;

	for (c = 1; c < l->t->ncols; c++)
		if (l->cols[c] > 0 && (least == 0 ||
		    l->t->cols[c].keep < l->t->cols[least].keep))
			least = c;
	if (least > 0)
		l->cols[least] = 0;
}

/* The columns of the longest note. */
static size_t
notes(const struct layout *l)
{
	size_t i, w, most = 0;

	for (i = 0; i < l->t->n; i++) {
		w = report_cols(l->t->rows[i].note, SIZE_MAX);
		most = w > most ? w : most;
	}
	return most > 0 ? most + GAP : 0;
}

static void
fit(struct layout *l)
{
	size_t width = report_width(l->o), want = l->cols[0];

	if (!l->o->wrap) {
		l->cols[0] = want < NAME_PAD ? want : NAME_PAD;
		return;
	}
	want = want < NAME_MIN ? want : NAME_MIN;
	want = width >= 2 * NAME_MIN || want < width / 2 ? want : width / 2;
	while (used(l) + want > width && used(l) > l->lead)
		drop_column(l);
	width = width > used(l) + 1 ? width - used(l) : 1;
	if (width >= notes(l) + NAME_GOOD)
		width -= notes(l);
	l->cols[0] = l->cols[0] < width ? l->cols[0] : width;
}

static void
put_right(struct buf *b, struct str s, size_t cols, bool ascii)
{
	size_t w = report_cols(s, SIZE_MAX);

	report_spaces(b, GAP + (cols > w ? cols - w : 0));
	report_line(b, s, 0, ascii);
}

static void
end_line(struct buf *b)
{
	while (b->n > 0 && b->p[b->n - 1] == ' ')
		b->n--;
	buf_putc(b, '\n');
}

static void
put_heads(struct layout *l)
{
	size_t c;

	report_color(l->b, "2", l->o);
	report_spaces(l->b, l->lead);
	report_cell(l->b, str_of(l->t->cols[0].head), l->cols[0], true);
	for (c = 1; c < l->t->ncols; c++)
		if (l->cols[c] > 0)
			put_right(l->b, str_of(l->t->cols[c].head),
			    l->cols[c], true);
	report_plain(l->b, l->o);
	end_line(l->b);
}

/* Puts the part of the name that fits, and returns the rest. */
static struct str
put_name(struct layout *l, struct str name)
{
	size_t n = l->o->wrap ? report_fit(name, l->cols[0], l->o->ascii) :
	    name.n, w;

	w = report_line(l->b, (struct str){ name.p, n }, 0, l->o->ascii);
	report_spaces(l->b, l->cols[0] > w ? l->cols[0] - w : 0);
	return (struct str){ name.p + n, name.n - n };
}

/* Whether the row has no value but its name. */
static bool
is_bare(const struct layout *l, const struct report_row *r)
{
	size_t c;

	for (c = 1; c < l->t->ncols; c++)
		if (l->cols[c] > 0 && r->cell[c].n > 0)
			return false;
	return true;
}

static void
put_row(struct layout *l, const struct report_row *r)
{
	bool bare = is_bare(l, r);
	size_t c, at = bare ? l->lead + l->cols[0] : used(l) + l->cols[0];
	bool beside = at + GAP + report_cols(r->note, SIZE_MAX) <=
	    report_width(l->o);
	struct report_flow f = { .b = l->b, .o = l->o, .indent = l->lead,
		.at = l->lead };
	struct str left;

	report_spaces(l->b, 2);
	if (l->t->marks)
		report_mark(l->b, r->mark, l->o);
	left = put_name(l, r->cell[0]);
	for (c = 1; c < l->t->ncols && !bare; c++)
		if (l->cols[c] > 0)
			put_right(l->b, r->cell[c], l->cols[c], l->o->ascii);
	if (r->note.n > 0 && beside) {
		report_spaces(l->b, GAP);
		f.at = at + GAP;
		report_flow(&f, r->sgr, r->note);
	}
	end_line(l->b);
	while (left.n > 0) {
		report_spaces(l->b, l->lead);
		left = put_name(l, left);
		end_line(l->b);
	}
	if (r->note.n > 0 && !beside) {
		report_spaces(l->b, l->lead);
		f.at = l->lead;
		report_flow(&f, r->sgr, r->note);
		end_line(l->b);
	}
}

void
report_table(struct buf *b, const struct report_table *t,
    const struct report_opts *o)
{
	struct layout l = { .b = b, .t = t, .o = o,
		.lead = t->marks ? 4 : 2 };
	size_t i;

	if (t->n == 0)
		return;
	measure(&l);
	fit(&l);
	put_heads(&l);
	for (i = 0; i < t->n; i++)
		put_row(&l, &t->rows[i]);
}
