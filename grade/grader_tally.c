/* SPDX-License-Identifier: ISC */
/*
 * How checks are counted and how a verdict speaks.
 *
 * A score is passed checks by all checks, exactly.  Feedback is for people
 * and short: long texts lose their middle, and of many failures the first
 * ones are told.  The whole list is in the details.
 */
#include "grade/grader_internal.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include "json.h"

enum {
	QUOTE_MAX = 80,		/* bytes shown of a text */
	QUOTE_TAIL = 20,	/* of these from its end */
	FEEDBACK_MAX = 2000	/* bytes; then the rest is counted */
};

void
grader_pass(struct grader_tally *t)
{
	t->total++;
}

void
grader_also(struct grader_tally *t, size_t n)
{
	t->total += n;
	t->failed += n;
}

static struct str PRINTF(2, 0)
vfmt(struct arena *a, const char *fmt, va_list ap)
{
	char *p;
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (n < 0)
		return STR("");
	p = arena_raw(a, (size_t)n + 1, 1);
	vsnprintf(p, (size_t)n + 1, fmt, ap);
	return (struct str){ p, (size_t)n };
}

void
grader_fail(struct grader_tally *t, const char *fmt, ...)
{
	struct grader_failure *f = NEW(t->arena, struct grader_failure);
	va_list ap;

	va_start(ap, fmt);
	f->text = vfmt(t->arena, fmt, ap);
	va_end(ap);
	if (t->head == NULL)
		t->tail = &t->head;
	*t->tail = f;
	t->tail = &f->next;
	t->total++;
	t->failed++;
}

static struct str
say(struct arena *a, const struct grader_tally *t)
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
	return grader_take(a, &b);
}

void
grader_conclude(struct arena *a, struct verdict *v,
    const struct grader_tally *t, const char *well)
{
	v->passed = t->failed == 0;
	v->score = t->total == 0 ? 1 :
	    (double)(t->total - t->failed) / (double)t->total;
	v->feedback = v->passed ? str_of(well) : say(a, t);
}

enum grader_status
grader_error(struct grading *g, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	g->out.error = vfmt(g->arena, fmt, ap);
	va_end(ap);
	g->out.passed = false;
	g->out.score = 0;
	return GRADER_DONE;
}

struct str
grader_take(struct arena *a, struct buf *b)
{
	struct str s = arena_str(a, buf_str(b));

	buf_free(b);
	return s;
}

void
grader_put_failures(struct json_out *o, const struct grader_tally *t)
{
	const struct grader_failure *f;

	json_put_key(o, STR("failures"));
	if (t->head == NULL) {
		json_put_null(o);
		return;
	}
	json_open(o, '[');
	for (f = t->head; f != NULL; f = f->next)
		json_put_str(o, f->text);
	json_close(o, ']');
}

void
grader_put_strs(struct json_out *o, const char *key,
    const struct field_strs *list)
{
	size_t i;

	json_put_key(o, str_of(key));
	if (list->n == 0) {
		json_put_null(o);
		return;
	}
	json_open(o, '[');
	for (i = 0; i < list->n; i++)
		json_put_str(o, list->v[i]);
	json_close(o, ']');
}

void
grader_put_text(struct json_out *o, const char *key, struct str s)
{
	json_put_member_str(o, key, s);
}

/* The nearest place at or before n where no sequence is cut in two. */
static size_t
boundary(struct str s, size_t n)
{
	size_t i;

	for (i = 0; i < 3 && n > i && n < s.n; i++)
		if (((unsigned char)s.p[n - i] & 0xC0) != 0x80)
			return n - i;
	return n;
}

void
grader_put_plain(struct buf *b, struct str s, bool lines)
{
	const char *p = s.n > 0 ? s.p : "", *end = p + s.n;
	uint32_t c;
	size_t n;

	for (; p < end; p += n > 0 ? n : 1) {
		n = utf8_get(p, end, &c);
		if (n == 0)
			buf_fmt(b, "\\x%02X", (unsigned)(unsigned char)*p);
		else if (lines && (c == '\n' || c == '\t'))
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
	struct buf b = { 0 };
	size_t head, tail;

	buf_putc(&b, '"');
	if (s.n <= QUOTE_MAX) {
		grader_put_plain(&b, s, false);
	} else {
		head = boundary(s, QUOTE_MAX - QUOTE_TAIL);
		tail = boundary(s, s.n - QUOTE_TAIL);
		grader_put_plain(&b, (struct str){ s.p, head }, false);
		buf_puts(&b, "...");
		grader_put_plain(&b, (struct str){ s.p + tail, s.n - tail },
		    false);
	}
	buf_putc(&b, '"');
	return grader_take(a, &b);
}
