/* SPDX-License-Identifier: ISC */
/*
 * patch(1) for tests: applies a unified diff without a header, and requires
 * exact positions, counts and context lines.  The result is in the buffer.
 */
#ifndef PATCH_H
#define PATCH_H

#include <string.h>

#include "base/base.h"

struct patch {
	struct str diff, from;	/* the rest of both */
	size_t line[2];		/* lines read from a, written to b */
	struct buf *out;
};

/* Removes the next line, with its newline. */
static inline bool
patch_line(struct str *s, struct str *line)
{
	const char *nl;

	if (s->n == 0)
		return false;
	nl = memchr(s->p, '\n', s->n);
	line->p = s->p;
	line->n = nl != NULL ? (size_t)(nl + 1 - s->p) : s->n;
	s->p += line->n;
	s->n -= line->n;
	return true;
}

static inline bool
patch_number(struct str *s, size_t *n)
{
	size_t digits = 0;

	for (*n = 0; s->n > 0 && *s->p >= '0' && *s->p <= '9'; digits++) {
		*n = *n * 10 + (size_t)(*s->p - '0');
		s->p++;
		s->n--;
	}
	return digits > 0;
}

static inline bool
patch_word(struct str *s, const char *word)
{
	struct str w = str_of(word);

	if (!str_starts(*s, w))
		return false;
	s->p += w.n;
	s->n -= w.n;
	return true;
}

static inline bool
patch_range(struct str *s, size_t *line, size_t *n)
{
	*n = 1;
	if (!patch_number(s, line))
		return false;
	if (patch_word(s, ",") && (!patch_number(s, n) || *n == 1))
		return false;		/* a count of 1 is omitted */
	if (*n > 0 && (*line)-- == 0)
		return false;
	return true;
}

/* A line of a hunk after its sign; a note may follow if it has no newline. */
static inline struct str
patch_text(struct patch *p, struct str line)
{
	line.p++;
	line.n--;
	if (patch_word(&p->diff, "\\ No newline at end of file\n"))
		line.n--;
	return line;
}

static inline bool
patch_hunk(struct patch *p, struct str head)
{
	size_t line[2], n[2];
	struct str text, old;
	char sign;

	if (!patch_word(&head, "@@ -") || !patch_range(&head, &line[0], &n[0]) ||
	    !patch_word(&head, " +") || !patch_range(&head, &line[1], &n[1]) ||
	    !str_is(head, " @@\n"))
		return false;
	for (; p->line[0] < line[0]; p->line[0]++, p->line[1]++) {
		if (!patch_line(&p->from, &old))
			return false;
		buf_put(p->out, old);
	}
	if (p->line[0] != line[0] || p->line[1] != line[1])
		return false;
	while (n[0] + n[1] > 0) {
		if (!patch_line(&p->diff, &text) ||
		    text.p[text.n - 1] != '\n')
			return false;
		sign = *text.p;
		text = patch_text(p, text);
		if (sign != '+') {
			if (n[0]-- == 0 || !patch_line(&p->from, &old) ||
			    !str_eq(old, text))
				return false;
			p->line[0]++;
		}
		if (sign != '-') {
			if (n[1]-- == 0)
				return false;
			buf_put(p->out, text);
			p->line[1]++;
		}
		if (sign != ' ' && sign != '+' && sign != '-')
			return false;
	}
	return true;
}

static inline bool
patch_apply(struct str from, struct str diff, struct buf *out)
{
	struct patch p = { .diff = diff, .from = from, .out = out };
	struct str line;

	while (patch_line(&p.diff, &line))
		if (!patch_hunk(&p, line))
			return false;
	buf_put(out, p.from);
	return true;
}

#endif
