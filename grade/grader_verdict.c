/* SPDX-License-Identifier: ISC */
/*
 * Counts checks and writes verdicts.
 *
 * A score is exactly the share of passed checks.  The feedback lists all
 * failures; it becomes a part of the results whole, up to REASON_MAX bytes.
 * Texts that it quotes lose their middle if they are long.
 */
#include "grade/grader_internal.h"

#include <stdarg.h>
#include <string.h>

#include "json.h"
#include "results/answer.h"

enum {
	QUOTE_MAX = 80,		/* bytes of a quoted text, */
	QUOTE_TAIL = 20		/* of which from its end */
};

void
grader_pass(struct grader_tally *t)
{
	t->total++;
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

void
grader_unknown(struct grader_tally *t, const struct grader_input *in,
    const char *what)
{
	size_t i;

	t->agent = grader_agent(in);
	for (i = 0; i < t->nunknown; i++)
		if (strcmp(t->unknown[i], what) == 0)
			return;
	if (t->nunknown < COUNTOF(t->unknown))
		t->unknown[t->nunknown++] = what;
}

/* "claude does not report tokens, turns", after the prefix. */
static void
put_unknown(struct buf *b, const char *prefix, const struct grader_tally *t)
{
	size_t i;

	buf_fmt(b, "%s%.*s does not report ", prefix, STRF(t->agent));
	for (i = 0; i < t->nunknown; i++)
		buf_fmt(b, "%s%s", i > 0 ? ", " : "", t->unknown[i]);
}

static struct str
join_failures(struct arena *a, const struct grader_tally *t)
{
	const struct grader_failure *f;
	struct buf b = { 0 };
	size_t left = 0;

	for (f = t->head; f != NULL; f = f->next) {
		if (b.n > REASON_MAX) {
			left++;
			continue;
		}
		if (b.n > 0)
			buf_puts(&b, "; ");
		buf_put(&b, f->text);
	}
	if (left > 0)
		buf_fmt(&b, "; and %zu more", left);
	if (t->nunknown > 0)
		put_unknown(&b, "; not checked: ", t);
	return arena_take(a, &b);
}

void
grader_conclude(struct arena *a, struct verdict *v,
    const struct grader_tally *t, const char *success)
{
	struct buf why = { 0 };

	if (t->failed == 0 && t->nunknown > 0) {
		put_unknown(&why, "cannot be checked: ", t);
		v->error = v->feedback = arena_take(a, &why);
		v->passed = false;
		v->score = 0;
		return;
	}
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
	g->out.feedback = g->out.error;
	g->out.passed = false;
	g->out.score = 0;
	return GRADER_DONE;
}

enum grader_status
grader_skip(struct grading *g, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	g->out.feedback = arena_vfmt(g->arena, fmt, ap);
	va_end(ap);
	g->out.skipped = true;
	g->out.passed = false;
	g->out.score = 0;
	return GRADER_DONE;
}

struct str
grader_agent(const struct grader_input *in)
{
	return in->agent.n > 0 ? utf8_cut(in->agent, 80) : STR("the agent");
}

struct str
grader_no_skills(struct arena *a, const struct grader_input *in)
{
	struct str agent = grader_agent(in);

	if (in->answer->skills.n > 0 || in->answer->skills_known)
		return (struct str){ NULL, 0 };
	if (in->no_skills)
		return STR("the baseline has no skills");
	if (in->skills_pasted)
		return STR("the skills were pasted into the prompt: no use of "
		    "them shows");
	if (in->answer->skills_lost)
		return (struct str){ NULL, 0 };
	return arena_fmt(a, "%.*s does not report the skills that it used",
	    STRF(agent));
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
	struct grader_excerpt x = grader_excerpt(s, max, max / 3);

	return x.omitted == 0 ? s : arena_fmt(a, "%.*s...%.*s", STRF(x.head),
	    STRF(x.tail));
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
