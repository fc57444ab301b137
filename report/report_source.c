/* SPDX-License-Identifier: ISC */
/*
 * The line of a file under a message about it, with a caret:
 *
 *     4 |   executor: claude-code
 *       |             ^
 *
 * Only people need it: it is printed on terminals.  A long line is windowed
 * around the caret, tabs are expanded, wide characters count twice.
 */
#include "report/report_internal.h"

#include "base/os.h"

enum {
	FILE_MAX = 16 << 20,	/* bytes of a file that is read again */
	SHOWN_MAX = 100,	/* lines that one command shows */
	WIDTH_MIN = 20,
	TAB = 8
};

/* A character of the line as it is shown. */
struct glyph {
	struct str text;
	size_t cols, bytes;	/* shown; of the file */
};

static size_t
next_glyph(struct str line, size_t at, size_t col, struct glyph *g)
{
	uint32_t cp;
	size_t n = utf8_get(line.p + at, line.p + line.n, &cp);

	g->bytes = n > 0 ? n : 1;
	g->text = (struct str){ line.p + at, g->bytes };
	if (line.p[at] == '\t') {
		g->cols = TAB - col % TAB;
		g->text = (struct str){ "        ", g->cols };
	} else if (n == 0 || (unsigned char)line.p[at] < ' ' || cp == 0x7F) {
		g->cols = 1;
		g->text = STR("?");
	} else
		g->cols = report_cols(g->text, 2);
	return g->bytes;
}

/* The column on the screen of a byte of the line. */
static size_t
screen_col(struct str line, size_t byte)
{
	struct glyph g;
	size_t at = 0, col = 0;

	while (at < line.n && at < byte) {
		at += next_glyph(line, at, col, &g);
		if (at <= byte)
			col += g.cols;
	}
	return col;
}

/* The columns [from, to) of the line. */
static void
put_window(struct buf *b, struct str line, size_t from, size_t to)
{
	struct glyph g;
	size_t at = 0, col = 0, i;

	while (at < line.n && col < to) {
		at += next_glyph(line, at, col, &g);
		if (col >= from && col + g.cols <= to)
			buf_put(b, g.text);
		else	/* half of a wide character, or of a tab */
			for (i = col; i < col + g.cols; i++)
				if (i >= from && i < to)
					buf_putc(b, ' ');
		col += g.cols;
	}
}

void
report_source_line(struct buf *b, struct str line, struct report_place at,
    size_t width)
{
	size_t margin = (size_t)at.indent + 7, room, caret, all, from = 0;
	size_t start = b->n;

	room = width > margin + WIDTH_MIN ? width - margin : WIDTH_MIN;
	caret = screen_col(line, at.col > 0 ? at.col - 1 : 0);
	all = screen_col(line, line.n);
	if (caret >= room - 4)
		from = caret - room / 2;
	buf_fmt(b, "%*s%4u | ", (int)at.indent, "", at.line);
	if (from > 0)
		buf_puts(b, "...");
	put_window(b, line, from > 0 ? from + 3 : 0,
	    all > from + room ? from + room - 3 : from + room);
	if (all > from + room)
		buf_puts(b, "...");
	while (b->n > start && b->p[b->n - 1] == ' ')
		b->n--;
	buf_fmt(b, "\n%*s     | %*s^\n", (int)at.indent, "",
	    (int)(caret - from), "");
}

static bool
find_line(struct str text, unsigned n, struct str *line)
{
	while (str_line(&text, line))
		if (--n == 0)
			return true;
	return false;
}

void
report_sources_init(struct report_sources *s, int fd)
{
	struct report_opts o = { 0 };

	*s = (struct report_sources){ 0 };
	report_env(&o, fd, REPORT_AUTO);
	if (o.wrap)
		s->width = o.width > 0 ? o.width : 80;
}

void
report_source(struct report_sources *s, struct buf *b, const char *file,
    struct report_place at)
{
	struct str line;
	struct err ignored;

	if (s->width == 0 || file == NULL || at.line == 0 || at.col == 0 ||
	    s->shown >= SHOWN_MAX)
		return;
	if (s->file == NULL || !str_is(str_of(file), s->file)) {
		arena_free(&s->arena);
		s->arena = (struct arena){ 0 };
		s->file = arena_cstr(&s->arena, str_of(file));
		if (os_read_plain(&s->arena, file, FILE_MAX, &s->text,
		    &ignored) == -1)
			s->text = STR("");
	}
	if (!find_line(str_after_bom(s->text), at.line, &line) ||
	    at.col > line.n + 1 || str_trim(line).n == 0)
		return;
	s->shown++;
	report_source_line(b, line, at, s->width);
}

void
report_sources_end(struct report_sources *s)
{
	arena_free(&s->arena);
}
