/* SPDX-License-Identifier: ISC */
/* Rows of test/re.tab and of the corpus, errors, limits, hard patterns. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base.h"
#include "re.h"
#include "re_prog.h"
#include "tap.h"

enum { SPANS = 64 };

static int
unhex(char c)
{
	return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
}

/* Undoes \\ \t \n \r \xHH in place. */
static struct str
unescape(char *s)
{
	char *in = s, *out = s;

	for (; *in != '\0'; in++) {
		if (*in != '\\') {
			*out++ = *in;
			continue;
		}
		in++;
		if (*in == 'x') {
			*out++ = (char)(unhex(in[1]) * 16 + unhex(in[2]));
			in += 2;
		} else {
			*out++ = *in == 't' ? '\t' : *in == 'n' ? '\n' :
			    *in == 'r' ? '\r' : *in;
		}
	}
	return (struct str){ s, (size_t)(out - s) };
}

/* "0-3 1-2 -", or "none" and "", as the corpus has it. */
static void
show(struct buf *b, bool matched, const struct re_span *v, size_t n)
{
	size_t i;

	b->n = 0;
	for (i = 0; matched && i < n; i++) {
		if (i > 0)
			buf_putc(b, ' ');
		if (v[i].start == RE_UNSET)
			buf_putc(b, '-');
		else
			buf_fmt(b, "%zu-%zu", v[i].start, v[i].end);
	}
}

/* What is wrong with the row, or NULL.  All engines must agree. */
static const char *
check_row(struct str pattern, struct str text, const char *groups,
    bool matches)
{
	struct arena a = { 0 };
	struct re_span v[SPANS];
	struct buf got = { 0 };
	struct err e;
	struct re *re = re_compile(&a, pattern, &e);
	const char *bad = NULL;
	size_t n;

	if (re == NULL) {
		arena_free(&a);
		return "does not compile";
	}
	n = re_groups(re);
	if (re_test(re, text) != matches)
		bad = "re_test";
	if (re_dfa_search(re, text, 0, NULL) != matches)
		bad = "dfa";
	if (re_dfa_plain(re, text, 0) != matches)
		bad = "plain";
	show(&got, re_match(re, text, 0, v, n), v, n);
	if (!str_is(buf_str(&got), groups))
		bad = "re_match";
	show(&got, re_nfa_pike(re, text, 0, v, n), v, n);
	if (!str_is(buf_str(&got), groups))
		bad = "pike";
	if (re_nfa_fits(re, text.n)) {
		show(&got, re_nfa_back(re, text, 0, v, n), v, n);
		if (!str_is(buf_str(&got), groups))
			bad = "back";
	}
	if (bad != NULL)
		printf("# got %.*s\n", STRF(got));
	buf_free(&got);
	arena_free(&a);
	return bad;
}

/* Splits at tabs; how many fields. */
static size_t
split(char *line, char *field[], size_t max)
{
	size_t n = 0;

	line[strcspn(line, "\n")] = '\0';
	for (; n < max; line++) {
		field[n++] = line;
		line = strchr(line, '\t');
		if (line == NULL)
			break;
		*line = '\0';
	}
	return n;
}

static void
check_line(char *field[], size_t n, int *rows, int *bad)
{
	struct str pattern = unescape(field[0]);
	struct str text = unescape(field[1]);
	const char *why;

	(*rows)++;
	why = n < 4 ? "too few fields" : check_row(pattern, text, field[3],
	    strcmp(field[2], "none") != 0);
	if (why == NULL)
		return;
	(*bad)++;
	printf("# %s: /%.*s/ on %.*s, want %s\n", why, STRF(pattern),
	    STRF(text), n > 3 ? field[3] : "");
}

/* A row is pattern, accept or reject. */
static void
check_accept(char *field[], size_t n, int *rows, int *bad)
{
	struct arena a = { 0 };
	struct str pattern = unescape(field[0]);
	struct err e;
	bool ok = re_compile(&a, pattern, &e) != NULL;

	(*rows)++;
	if (n < 2 || ok != (strcmp(field[1], "accept") == 0)) {
		(*bad)++;
		printf("# /%.*s/: %s\n", STRF(pattern), ok ? "compiled" : e.msg);
	}
	arena_free(&a);
}

static void
check_file(const char *dir, const char *name,
    void check(char *[], size_t, int *, int *))
{
	static char line[1 << 20];
	char path[1024], *field[5];
	int rows = 0, bad = 0;
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "r");
	if (f == NULL) {
		SKIP(path);
		return;
	}
	while (fgets(line, sizeof(line), f) != NULL) {
		if (strchr(line, '\t') == NULL)
			continue;		/* a comment */
		n = split(line, field, COUNTOF(field));
		check(field, n, &rows, &bad);
	}
	fclose(f);
	printf("# %s: %d rows, %d bad\n", path, rows, bad);
	OK(rows > 0 && bad == 0);
}

int
main(void)
{
	const char *corpus = getenv("CORPUS");
	char dir[512];

	snprintf(dir, sizeof(dir), "%s/regex",
	    corpus != NULL ? corpus : "../shared/corpus");
	check_file("test", "re.tab", check_line);
	check_file(dir, "fowler-leftmost-first.tsv", check_line);
	check_file(dir, "re2-search.tsv", check_line);
	check_file(dir, "re2-exhaustive-sample.tsv", check_line);
	check_file(dir, "wild-cases.tsv", check_line);
	check_file(dir, "wild-patterns.tsv", check_accept);
	return tap_done();
}
