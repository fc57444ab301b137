/* SPDX-License-Identifier: ISC */
/*
 * Counts checks and writes verdicts.
 *
 * A score is exactly the share of passed checks.  The feedback is short: long
 * texts lose their middle, and of many failures only the first are listed.
 * The details of a verdict list all of them.
 */
#include "grade/grader_internal.h"

#include <stdarg.h>

#include "json.h"

enum {
	QUOTE_MAX = 80,		/* bytes of a quoted text, */
	QUOTE_TAIL = 20,	/* of which from its end */
	FEEDBACK_MAX = 2000	/* bytes; further failures are counted */
};

void
grader_pass(struct grader_tally *t)
{
	t->total++;
}

void
grader_fail_more(struct grader_tally *t, size_t n)
{
	t->total += n;
	t->failed += n;
}

void
grader_fail(struct grader_tally *t, const char *fmt, ...)
{
	struct grader_failure *f = NEW(t->arena, struct grader_failure);
	va_list ap;

	va_start(ap, fmt);
	f->text = arena_vfmt(t->arena, fmt, ap);
	va_end(ap);
	if (t->head == NULL)
		t->tail = &t->head;
	*t->tail = f;
	t->tail = &f->next;
	t->total++;
	t->failed++;
}

static struct str
join_failures(struct arena *a, const struct grader_tally *t)
{
	const struct grader_failure *f;
	struct buf b = { 0 };
	size_t left = 0;

	for (f = t->head; f != NULL; f = f->next) {
		if (b.n > FEEDBACK_MAX) {
			left++;
			continue;
		}
		if (b.n > 0)
			buf_puts(&b, "; ");
		buf_put(&b, f->text);
	}
	if (left > 0)
		buf_fmt(&b, "; and %zu more", left);
	return arena_take(a, &b);
}

void
grader_conclude(struct arena *a, struct verdict *v,
    const struct grader_tally *t, const char *success)
{
	v->passed = t->failed == 0;
	v->score = t->total == 0 ? 1 :
	    (double)(t->total - t->failed) / (double)t->total;
	v->feedback = v->passed ? str_of(success) :
	    join_failures(a, t);
}

enum grader_status
grader_error(struct grading *g, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	g->out.error = arena_vfmt(g->arena, fmt, ap);
	va_end(ap);
	g->out.passed = false;
	g->out.score = 0;
	return GRADER_DONE;
}

void
grader_put_failures(struct json_out *o, const struct grader_tally *t)
{
	const struct grader_failure *f;

	if (t->head == NULL) {
		json_put_member_null(o, "failures");
		return;
	}
	json_open_member(o, "failures", '[');
	for (f = t->head; f != NULL; f = f->next)
		json_put_str(o, f->text);
	json_close(o, ']');
}

void
grader_put_strs(struct json_out *o, const char *key,
    const struct field_strs *list)
{
	if (list->n == 0)
		json_put_member_null(o, key);
	else
		field_put_strs(o, key, list);
}

/*
 * The start of the UTF-8 sequence around offset n; n itself if there is none
 * within three bytes, so that invalid text is not lost.
 */
static size_t
boundary(struct str s, size_t n)
{
	size_t i;

	for (i = 0; i < 3 && n > i && n < s.n; i++)
		if (((unsigned char)s.p[n - i] & 0xC0) != 0x80)
			return n - i;
	return n;
}

struct grader_excerpt
grader_excerpt(struct str s, size_t max, size_t tail)
{
	size_t head, from;

	if (s.n <= max)
		return (struct grader_excerpt){ .head = s };
	head = boundary(s, max - tail);
	from = boundary(s, s.n - tail);
	return (struct grader_excerpt){ { s.p, head },
		{ s.p + from, s.n - from }, from - head };
}

struct str
grader_shorten(struct arena *a, struct str s, size_t max)
{
	struct grader_excerpt x = grader_excerpt(s, max, 0);

	return x.omitted > 0 ? arena_fmt(a, "%.*s...", STRF(x.head)) : s;
}

void
grader_put_printable(struct buf *b, struct str s, bool keep_lines)
{
	const char *p = s.n > 0 ? s.p : "", *end = p + s.n;
	uint32_t c;
	size_t n;

	for (; p < end; p += n > 0 ? n : 1) {
		n = utf8_get(p, end, &c);
		if (n == 0)
			buf_fmt(b, "\\x%02X", (unsigned)(unsigned char)*p);
		else if (keep_lines && (c == '\n' || c == '\t'))
			buf_putc(b, (char)c);
		else if (c == '\n')
			buf_puts(b, "\\n");
		else if (c == '\t')
			buf_puts(b, "\\t");
		else if (c < 0x20 || (c >= 0x7F && c < 0xA0))
			buf_fmt(b, "\\x%02X", (unsigned)c);
		else
			buf_put(b, (struct str){ p, n });
	}
}

struct str
grader_quote(struct arena *a, struct str s)
{
	struct grader_excerpt x = grader_excerpt(s, QUOTE_MAX, QUOTE_TAIL);
	struct buf b = { 0 };

	buf_putc(&b, '"');
	grader_put_printable(&b, x.head, false);
	buf_puts(&b, x.omitted > 0 ? "..." : "");
	grader_put_printable(&b, x.tail, false);
	buf_putc(&b, '"');
	return arena_take(a, &b);
}
