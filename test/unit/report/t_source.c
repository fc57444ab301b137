/* SPDX-License-Identifier: ISC */
/* Lines of files with a caret under a column. */
#include <stdint.h>
#include <string.h>

#include "base/base.h"
#include "report/report.h"
#include "report/report_internal.h"
#include "test/tool/tap.h"

static struct buf out;

/* The two lines for a caret at that byte of the line. */
static const char *
shown(const char *line, unsigned col, size_t width)
{
	struct report_place at = { 12, col, 0 };

	out.n = 0;
	report_source_line(&out, str_of(line), at, width);
	buf_putc(&out, '\0');
	return out.p;
}

/* The column of the caret on the screen, without the margin. */
static size_t
caret(const char *line, unsigned col, size_t width)
{
	const char *p = strchr(shown(line, col, width), '\n');

	return strlen(p + 1) - strlen("     | ") - strlen("^\n");
}

static void
test_short(void)
{
	OK(strcmp(shown("a: bcd", 4, 80), "  12 | a: bcd\n     |    ^\n") == 0);
	OK(strcmp(shown("a", 1, 80), "  12 | a\n     | ^\n") == 0);
	OK(strcmp(shown("a", 2, 80), "  12 | a\n     |  ^\n") == 0);
	OK(strcmp(shown("a  ", 1, 80), "  12 | a\n     | ^\n") == 0);
}

static void
test_cells(void)
{
	/* two columns each; a combining mark has none */
	OK(caret("\xe6\x97\xa5\xe6\x9c\xac x", 8, 80) == 5);
	OK(caret("e\xcc\x81x", 4, 80) == 1);
	OK(caret("\xc3\xa4x", 3, 80) == 1);
	/* a tab ends at a multiple of eight */
	OK(caret("\tx", 2, 80) == 8);
	OK(caret("ab\tx", 4, 80) == 8);
	OK(strcmp(shown("ab\tx", 4, 80),
	    "  12 | ab      x\n     |         ^\n") == 0);
	/* control characters and bytes that are not UTF-8 */
	OK(strcmp(shown("\033[1m\xffx", 6, 80),
	    "  12 | ?[1m?x\n     |      ^\n") == 0);
}

/* Nothing is wider than the terminal, and the caret stays under its byte. */
static void
test_window(void)
{
	char line[3000], *p;
	size_t i, width, wide = 0, off = 0;
	struct str all, s;

	for (i = 0; i < sizeof(line) - 1; i++)
		line[i] = (char)('a' + i % 26);
	line[i] = '\0';
	for (width = 27; width < 120; width += 13)
		for (i = 0; i < sizeof(line) - 1; i += 7) {
			p = NULL;
			all = str_of(shown(line, (unsigned)i + 1, width));
			while (str_line(&all, &s)) {
				wide += s.n > width;
				if (memchr(s.p, '^', s.n) == NULL)
					p = (char *)(uintptr_t)s.p;
				else
					off += p == NULL || p[s.n - 1] != line[i];
			}
		}
	OK(wide == 0);
	OK(off == 0);
	OK(strstr(shown(line, 1, 60), "...\n") != NULL);
	OK(strstr(shown(line, 1500, 60), "| ...") != NULL);
}

int
main(void)
{
	RUN(test_short, test_cells, test_window);
	buf_free(&out);
	return tap_done();
}
